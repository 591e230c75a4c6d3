//! The stepper: of the program that shades a pixel, or of a user program.

use crate::compute::{Given, Layout};
use crate::frame::Settings;
use crate::source::{Listed, Looked, Program};
use qpu_text::Text;
use serde::Serialize;
use std::collections::BTreeMap;
use v3d_hw::BusAddr;
use v3d_sim::qpu::Launch;
use v3d_sim::qpu::lanes::Lanes;
use v3d_sim::qpu::steps::{Run, TmuQueues};
use v3d_sim::stepper::place::register_name;
use v3d_sim::stepper::session::{Line, Session};
use v3d_sim::stepper::{Stepper, UserProgram};

/// Memory of a user program.
const MEMORY_BYTES: usize = 0x1_0000;
/// Where its uniforms are: behind them are addresses that the uniforms' default values name.
const UNIFORMS: u32 = 0x8000;
const INSTRUCTION: u32 = 8;
/// Words of memory on a line, and most lines that are shown.
const WORDS_OF_LINE: usize = 8;
const MOST_LINES: usize = 256;

/// A register or a row of the VPM, with its 16 elements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Vector {
    /// Its name.
    pub name: String,
    /// Its elements.
    pub values: [u32; 16],
    /// The last instruction has changed it.
    pub changed: bool,
}

/// Words of memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryLine {
    /// Address of the first one.
    pub address: u32,
    /// What it is: `x[8]` for word 8 of the buffer x; empty if nothing is known of it.
    pub name: String,
    /// The words.
    pub words: Vec<u32>,
    /// Bits of those that the last instruction has changed.
    pub changed: u8,
}

/// What the page shows of a position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct View {
    /// Instructions before it.
    pub position: usize,
    /// Number of the next instruction in the program; none at the end.
    pub next: Option<usize>,
    /// Its text.
    pub text: String,
    /// How the program ended, at its end.
    pub end: Option<String>,
    /// Why the last movement stopped, in words.
    pub answer: String,
    /// Registers that are not 0.
    pub registers: Vec<Vector>,
    /// Z, N and C, one bit an element.
    pub flags: [u16; 3],
    /// Address of the next uniform.
    pub uniforms: u32,
    /// Results that TMU 0 and 1 have, to be loaded.
    pub results: [Vec<Vector>; 2],
    /// Coordinates of the lookups that are being written.
    pub coordinates: Vec<Vector>,
    /// In how many instructions r4 has the result of the special function unit.
    pub sfu: Option<usize>,
    /// Rows of the VPM that are not 0.
    pub vpm: Vec<Vector>,
    /// Lines of up to 8 words of memory: all of a compute shader's buffers, and others that are not 0.
    pub memory: Vec<MemoryLine>,
    /// Breakpoints, as numbers of instructions.
    pub breakpoints: Vec<usize>,
    /// Watched elements.
    pub watches: Vec<String>,
    /// Rules that the last instruction broke.
    pub faults: Vec<String>,
}

/// A stepper for a program.
#[derive(Debug)]
pub struct Steps {
    session: Session,
    /// Name, address and words of each buffer of a compute shader.
    buffers: Vec<(String, u32, u32)>,
}

impl Steps {
    /// Through a run of the program that shaded a pixel.
    pub fn of_run(run: &Run, program: Option<&Program>) -> Self {
        let line = |at: u32, word: u64| {
            let number = (at.wrapping_sub(run.program.0) / INSTRUCTION) as usize;
            let line = program.and_then(|program| program.code.get(number)).and_then(|listed| listed.line);
            Line { word, number: line.unwrap_or(0), file: "line".to_owned(), text: String::new() }
        };
        let listing = run.steps.iter().map(|step| (step.pc.0, line(step.pc.0, step.word))).collect();
        Self { session: Session::new(Stepper::of_run(run.clone()), listing), buffers: Vec::new() }
    }

    /// Through a user program, with these uniforms.
    ///
    /// # Errors
    /// When the source has none, or too long a one.
    pub fn of_program(looked: &Looked, uniforms: &[u32]) -> Result<Self, String> {
        let assembly = looked.user_program.as_deref().ok_or("this source is no user program")?;
        let mut image = vec![0; MEMORY_BYTES];
        let words: Vec<u8> = assembly.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let room = image.get_mut(..words.len()).filter(|room| room.len() <= UNIFORMS as usize);
        room.ok_or("the program is longer than 4096 instructions")?.copy_from_slice(&words);
        let bytes: Vec<u8> = uniforms.iter().flat_map(|word| word.to_le_bytes()).collect();
        let room = image.get_mut(UNIFORMS as usize..UNIFORMS as usize + bytes.len());
        room.ok_or("there are too many uniforms")?.copy_from_slice(&bytes);
        let launch =
            Launch { uniforms: BusAddr(UNIFORMS), uniforms_limit: Some(uniforms.len() as u32), ..Launch::default() };
        let listing = listing_of(looked.programs.first());
        let stepper = Stepper::of_program(UserProgram::new(launch, image));
        Ok(Self { session: Session::new(stepper, listing), buffers: Vec::new() })
    }

    /// Through one of the programs of a compute shader's run. Those that it waits for run beside it.
    ///
    /// # Errors
    /// When the source has no compute shader, there is no program of this number, or the run cannot be laid out.
    pub fn of_compute(looked: &Looked, given: &Given, settings: &Settings, number: usize) -> Result<Self, String> {
        let shader = looked.compute.as_ref().ok_or("this source is no compute shader")?;
        let Layout { image, streams, buffers } = shader.laid_out(given, settings)?;
        // The first program runs on the QPU with the highest number, as the scheduler has it.
        let qpu = |number: usize| (streams.len() - 1 - number) as u8;
        let launch = |(number, &stream): (usize, &u32)| Launch {
            uniforms: BusAddr(stream),
            qpu: qpu(number),
            ..Launch::default()
        };
        let mut launches: Vec<Launch> = streams.iter().enumerate().map(launch).collect();
        if number >= launches.len() {
            return Err(format!("the run has {} programs", launches.len()));
        }
        let own = launches.remove(number);
        let others = if shader.is_together() { launches.as_slice() } else { &[] };
        let program = looked.programs.iter().find(|program| program.stage == "compute");
        let stepper = Stepper::of_program(UserProgram::with_others(own, others, image));
        Ok(Self { session: Session::new(stepper, listing_of(program)), buffers })
    }

    /// Carries out a command of [`Session::command`], and shows where the program is.
    pub fn command(&mut self, command: &str) -> View {
        let answer = self.session.command(command);
        let mut view = self.view();
        view.answer = answer.text;
        view
    }

    /// What is at this position.
    pub fn view(&mut self) -> View {
        // The program itself is shown as code.
        let behind_code = self.session.listing().keys().next_back().map_or(0, |&last| last + INSTRUCTION);
        let stepper = &mut self.session.stepper;
        let program = stepper.program().0;
        let next_word = stepper.next_word();
        let state = stepper.state();
        let number = |pc: u32| (pc.wrapping_sub(program) / INSTRUCTION) as usize;
        let last = stepper.last();
        let changed = |at: u32| last.is_some_and(|step| step.registers.iter().any(|change| change.at == at));
        let changed_row = |at: u32| last.is_some_and(|step| step.vpm.iter().any(|change| change.at == at));
        let vector = |name: String, value: &Lanes, changed: bool| Vector { name, values: value.0, changed };
        let is_shown = |value: &Lanes, changed: bool| changed || *value != Lanes::default();
        let registers = (0u8..).zip(&state.registers).filter_map(|(register, value)| {
            let changed = changed(u32::from(register));
            is_shown(value, changed).then(|| vector(register_name(register), value, changed))
        });
        let vpm = (0u32..).zip(&state.vpm).filter_map(|(row, value)| {
            let changed = changed_row(row);
            is_shown(value, changed).then(|| vector(format!("vpm{row}"), value, changed))
        });
        let results = |TmuQueues { results, .. }: &TmuQueues| {
            (1..).zip(results).map(|(n, value): (usize, _)| vector(format!("{n}."), value, false)).collect()
        };
        let coordinates = (0usize..).zip(&state.tmus).flat_map(|(unit, queues)| {
            ["s", "t", "r", "b"].into_iter().zip(&queues.coordinates).filter_map(move |(name, value)| {
                value.map(|Lanes(values)| Vector { name: format!("t{unit}{name}"), values, changed: false })
            })
        });
        let changed_word = |at: u32| last.is_some_and(|step| step.memory.iter().any(|change| change.at == at));
        let line = |address: u32, name: String, words: &[u32]| {
            let changed = (0..).zip(words).filter(|(n, _)| changed_word(address / 4 + n));
            let changed = changed.fold(0, |bits, (n, _)| bits | 1 << n);
            MemoryLine { address, name, words: words.to_vec(), changed }
        };
        let mut memory = Vec::new();
        for (name, address, words) in &self.buffers {
            let own = state.memory.iter().skip(*address as usize / 4).take(*words as usize).copied();
            let own: Vec<u32> = own.collect();
            let lines = (0u32..).step_by(WORDS_OF_LINE).zip(own.chunks(WORDS_OF_LINE));
            memory.extend(lines.map(|(word, words)| line(address + 4 * word, format!("{name}[{word}]"), words)));
        }
        if self.buffers.is_empty() {
            let lines = (0u32..).step_by(4 * WORDS_OF_LINE).zip(state.memory.chunks(WORDS_OF_LINE));
            let lines = lines.filter(|(at, words)| *at >= behind_code && words.iter().any(|&word| word != 0));
            memory.extend(lines.map(|(at, words)| line(at, String::new(), words)));
        }
        memory.truncate(MOST_LINES);
        View {
            position: stepper.position(),
            next: next_word.map(|_| number(state.pc.0)),
            text: next_word.map(|word| Text(word).to_string()).unwrap_or_default(),
            end: stepper.end().map(ToString::to_string),
            answer: String::new(),
            registers: registers.collect(),
            flags: [state.flags.zero, state.flags.negative, state.flags.carry],
            uniforms: state.uniforms.0,
            results: [results(&state.tmus[0]), results(&state.tmus[1])],
            coordinates: coordinates.collect(),
            sfu: stepper.sfu_pending(),
            vpm: vpm.collect(),
            memory,
            breakpoints: stepper.breakpoints.iter().map(|&at| number(at)).collect(),
            watches: stepper.watches.iter().map(ToString::to_string).collect(),
            faults: last.map(|step| step.faults.iter().map(ToString::to_string).collect()).unwrap_or_default(),
        }
    }
}

/// The instructions of a program that begins at address 0.
fn listing_of(program: Option<&Program>) -> BTreeMap<u32, Line> {
    let code = program.map(|program| program.code.as_slice()).unwrap_or_default();
    let line = |listed: &Listed| {
        let word = u64::from_str_radix(&listed.word, 16).unwrap_or(0);
        Line { word, number: listed.line.unwrap_or(0), file: "line".to_owned(), text: String::new() }
    };
    (0..).step_by(INSTRUCTION as usize).zip(code.iter().map(line)).collect()
}
