//! Programs in the model, with streams from a test.

use shader_compiler::interface::Stage;
use shader_compiler::ssa::{StreamWord, Viewport};
use shader_compiler::{Compiled, Options, compile};
use v3d_hw::BusAddr;

use v3d_sim::memory::OwnedMemory;
use v3d_sim::qpu::io::{Io, IoError, Varying};
use v3d_sim::qpu::lanes::{Lanes, Mask};
use v3d_sim::qpu::{CodeCache, Exit, Launch, Qpu, Threading};

use crate::image::Image;

const CODE: u32 = 0x1000;
const UNIFORMS: u32 = 0x8000;
const BUFFERS: u32 = 0x1_8000;
const BUFFER_BYTES: u32 = 0x1000;
/// Maximum number of instructions until a program must have ended.
const MOST: u64 = 1 << 16;

/// The inputs of a program.
#[derive(Clone, Debug)]
pub(crate) struct Inputs {
    /// Components of varyings, with W = 1 and C = 0; or words of the vertex.
    pub(crate) streams: Vec<Lanes>,
    /// Fields of the uniforms, all numbers in sequence.
    pub(crate) fields: Vec<Vec<u32>>,
    /// Coordinates of the pixels.
    pub(crate) pixels: (Lanes, Lanes),
    /// Depth of the fragments.
    pub(crate) depth: Lanes,
    /// Elements whose primitive is back-facing.
    pub(crate) back: Lanes,
    /// Words of the buffers.
    pub(crate) buffers: Vec<Vec<u32>>,
    /// The texture, if there is one; all textures are the same.
    pub(crate) image: Option<Image>,
}

impl Inputs {
    pub(crate) fn new(streams: Vec<Lanes>, fields: Vec<Vec<u32>>) -> Self {
        let pixels =
            (Lanes(std::array::from_fn(|i| 10 + i as u32)), Lanes(std::array::from_fn(|i| 300 + 3 * i as u32)));
        let back = Lanes(std::array::from_fn(|i| (i % 3 == 0).into()));
        let depth = Lanes(std::array::from_fn(|i| 0x10_0000 * i as u32));
        Self { streams, fields, pixels, depth, back, buffers: Vec::new(), image: None }
    }

    /// The word at an address.
    pub(crate) fn fetch(&self, address: u32) -> u32 {
        let (buffer, offset) = ((address - BUFFERS) / BUFFER_BYTES, (address - BUFFERS) % BUFFER_BYTES);
        self.buffers[buffer as usize][offset as usize / 4]
    }

    /// A word of the uniforms.
    pub(crate) fn word(&self, word: StreamWord) -> u32 {
        match word {
            StreamWord::Field { field, index } => self.fields[field as usize][index as usize],
            StreamWord::Viewport(Viewport::HalfWidth) => 1600f32.to_bits(),
            StreamWord::Viewport(Viewport::HalfHeight) => (-1200f32).to_bits(),
            StreamWord::Viewport(_) => 0.5f32.to_bits(),
            StreamWord::Instance => 3,
            StreamWord::Constant(bits) => bits,
            StreamWord::Buffer { buffer, offset } => BUFFERS + BUFFER_BYTES * buffer + offset,
            // Tests use arrays of single words only.
            StreamWord::Length(buffer) => self.buffers[buffer as usize].len() as u32,
            StreamWord::OwnAddress(number) => UNIFORMS + 4 * number,
            StreamWord::WorkgroupMemory(_) | StreamWord::VpmMemory(_) | StreamWord::Share(_) => {
                panic!("a word of compute programs")
            }
            texture => self.image.as_ref().expect("the test has a texture").word(texture),
        }
    }
}

/// The outputs of a program.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outputs {
    /// Words for the VPM.
    pub(crate) words: Vec<Lanes>,
    /// r0 at the end of a fragment program.
    pub(crate) color: Lanes,
    /// r1 at the end of a fragment program whose colour is half floats.
    pub(crate) blue_alpha: Lanes,
    /// Samples of the pixels; a discarded pixel has none.
    pub(crate) samples: Lanes,
    /// rb15 at the end of a fragment program.
    pub(crate) depth: Lanes,
}

impl Outputs {
    /// The state before a program starts.
    pub(crate) fn new(inputs: &Inputs) -> Self {
        let none = Lanes::default();
        Self { words: Vec::new(), color: none, blue_alpha: none, samples: Lanes::splat(15), depth: inputs.depth }
    }
}

struct Units {
    inputs: Inputs,
    flat_varyings: u32,
    next: usize,
    outputs: Outputs,
}

impl Units {
    fn take(&mut self) -> Lanes {
        self.next += 1;
        self.inputs.streams[self.next - 1]
    }
}

impl Io for Units {
    fn varying(&mut self) -> Result<Varying, IoError> {
        let flat = self.flat_varyings >> self.next & 1 == 1;
        let (value, none) = (self.take(), Lanes::default());
        Ok(if flat { Varying { value: none, coefficients: value } } else { Varying { value, coefficients: none } })
    }

    fn pixel_x(&mut self) -> Result<Lanes, IoError> {
        Ok(self.inputs.pixels.0)
    }

    fn pixel_y(&mut self) -> Result<Lanes, IoError> {
        Ok(self.inputs.pixels.1)
    }

    fn rev_flag(&mut self) -> Result<Lanes, IoError> {
        Ok(self.inputs.back)
    }

    fn ms_flags(&mut self) -> Result<Lanes, IoError> {
        Ok(self.outputs.samples)
    }

    fn set_ms_flags(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        self.outputs.samples = self.outputs.samples.select(*value, mask);
        Ok(())
    }

    fn vpm_read(&mut self) -> Result<Lanes, IoError> {
        Ok(self.take())
    }

    fn vpm_read_setup(&mut self, _word: u32) -> Result<(), IoError> {
        Ok(())
    }

    fn vpm_write_setup(&mut self, _word: u32) -> Result<(), IoError> {
        Ok(())
    }

    fn vpm_write(&mut self, value: &Lanes, _mask: Mask) -> Result<(), IoError> {
        self.outputs.words.push(*value);
        Ok(())
    }
}

/// Executes a program.
pub(crate) fn run(program: &Compiled, inputs: &Inputs) -> Outputs {
    let memory = OwnedMemory::new(0x2_0000);
    let view = memory.view();
    if let Some(image) = &inputs.image {
        image.put(view);
    }
    for (number, buffer) in (0..).zip(&inputs.buffers) {
        let start = BUFFERS + BUFFER_BYTES * number;
        (0..).zip(buffer).for_each(|(at, &word)| view.set_word(BusAddr(start + 4 * at), word).unwrap());
    }
    let mut words = program.words.clone();
    if program.stage == Stage::Fragment {
        // The end that a pipeline would append.
        words.extend([0x3000_09e7_009e_7000, 0x1000_09e7_009e_7000, 0x1000_09e7_009e_7000]);
    }
    for (at, word) in (0..).zip(words.iter().flat_map(|&word| [word as u32, (word >> 32) as u32])) {
        view.set_word(BusAddr(CODE + 4 * at), word).unwrap();
    }
    for (at, &word) in (0..).zip(&program.interface.stream) {
        view.set_word(BusAddr(UNIFORMS + 4 * at), inputs.word(word)).unwrap();
    }
    let mut qpu = Qpu::new();
    qpu.start(&Launch {
        pc: BusAddr(CODE),
        uniforms: BusAddr(UNIFORMS),
        uniforms_limit: Some(program.interface.stream.len() as u32),
        ra15: Lanes::splat(1f32.to_bits()),
        rb15: inputs.depth,
        threading: threading(program),
        qpu: 0,
        undefined_elements: 0,
        record: None,
    });
    let outputs = Outputs::new(inputs);
    let flat_varyings = program.interface.flat_varyings;
    let mut units = Units { inputs: inputs.clone(), flat_varyings, next: 0, outputs };
    let mut budget = MOST;
    let exit = qpu.run_reference(&mut units, view, &CodeCache::new(), &mut budget);
    assert_eq!(exit, Exit::Ended, "{}", text(program));
    let faults = qpu.take_faults();
    assert!(faults == Default::default(), "{faults:?}\n{}", text(program));
    assert_eq!(units.next, inputs.streams.len(), "all that is given is read");
    if program.stage == Stage::Fragment {
        units.outputs.color = qpu.registers().visible()[64];
        if program.interface.half_color {
            units.outputs.blue_alpha = qpu.registers().visible()[65];
        }
        units.outputs.depth = qpu.registers().visible()[32 + 15];
    }
    units.outputs
}

/// The threading mode of a program.
fn threading(program: &Compiled) -> Threading {
    if program.interface.threads() == 2 { Threading::Threaded } else { Threading::Single }
}

/// A program as text.
pub(crate) fn text(program: &Compiled) -> String {
    format!("{}\n{}", program.ssa, qpu::disassemble(&program.words, qpu::disassembler::Style::default()))
}

/// The program of one stage of a source.
pub(crate) fn stage(source: &str, stage: Stage) -> Compiled {
    stage_with(source, stage, &Options::default())
}

/// The same with options.
pub(crate) fn stage_with(source: &str, stage: Stage, options: &Options) -> Compiled {
    let programs = compile(source, "test.wgsl", options).unwrap_or_else(|error| panic!("{error}"));
    programs.into_iter().find(|program| program.stage == stage).unwrap()
}
