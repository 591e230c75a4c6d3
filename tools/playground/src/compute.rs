//! Compute shaders, run by the driver on the model.
//!
//! A grid of workgroups is divided into shares, each a program for a QPU; the stepper follows one of them.

use crate::costs::{self, Costs};
use crate::frame::{Settings, field_words};
use serde::{Deserialize, Serialize};
use shader_compiler::Compiled;
use shader_compiler::interface::{Buffer, Interface, Number, WORDS_BEFORE_ITERATION};
use shader_compiler::ssa::{self, StreamWord};
use shader_interface::{Share, Workgroups};
use std::collections::BTreeMap;
use v3d::user_program::UserProgram;
use v3d::{Driver, Limits};
use v3d_host::{Config, Model};
use v3d_hw::BusAddr;

/// QPUs of the chip [AG p.17].
const QPUS: u32 = 12;
/// Memory of the machine.
const MEMORY_BYTES: u32 = 24 << 20;
/// Most words of a buffer.
pub const MOST_WORDS: usize = 1 << 16;
/// Most bytes of the memory that a stepper shows: each of its steps compares all of it.
const MOST_STEPPED_BYTES: u32 = 1 << 20;
/// Instructions of a program after which it counts as endless: some seconds.
const INSTRUCTION_BUDGET: u64 = 10_000_000;
/// Time limit of the run in microseconds of the model's clock.
const LIMIT_US: u64 = 10_000_000;
/// Longer lengths of uniforms mean that there is no limit [AG p.91].
const NO_LIMIT: u16 = 1024;
/// Alignment of programs, uniforms and buffers in bytes: a cache line.
const LINE_BYTES: u32 = 64;

/// A compute shader that can be run.
#[derive(Clone, Debug)]
pub struct ComputeShader {
    words: Vec<u64>,
    interface: Interface,
    workgroups: Workgroups,
}

/// What the page shows of a compute shader.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Described {
    /// Invocations of a workgroup along three axes.
    pub size: [u32; 3],
    /// Invocations of a workgroup meet at barriers, so that all of it runs at the same time.
    pub together: bool,
    /// Its storage buffers.
    pub buffers: Vec<DescribedBuffer>,
}

/// A storage buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DescribedBuffer {
    /// Its name.
    pub name: String,
    /// The shader may write to it.
    pub writable: bool,
    /// `f32`, `i32` or `u32`; empty if it has several types.
    pub number: &'static str,
    /// Words before the array without a length at its end; all words if there is none.
    pub fixed_words: u32,
    /// Words of an element of that array; 0 if there is none.
    pub element_words: u32,
}

/// What a run is given beside the shader.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Given {
    /// Workgroups along three axes.
    pub count: [u32; 3],
    /// The words of each buffer.
    pub buffers: BTreeMap<String, Vec<u32>>,
}

/// A run.
#[derive(Debug)]
pub struct Ran {
    /// The words of each buffer after it, in the order of their declarations.
    pub buffers: Vec<(String, Vec<u32>)>,
    /// Programs that were started, each on a QPU.
    pub programs: usize,
    /// What the model reports.
    pub faults: Vec<String>,
    /// What it costs.
    pub costs: Option<Costs>,
    /// Files of a job folder.
    pub job: Vec<(String, Vec<u8>)>,
}

/// A run in the memory of a stepper.
#[derive(Debug)]
pub struct Layout {
    /// Memory from address 0 on: the code, then the uniforms of each program, the buffers, and what workgroups share.
    pub image: Vec<u8>,
    /// Addresses of each program's uniforms.
    pub streams: Vec<u32>,
    /// Name, address and words of each buffer.
    pub buffers: Vec<(String, u32, u32)>,
}

/// Where the parts of a run are.
struct Places {
    streams: u32,
    buffers: Vec<u32>,
    memory: u32,
}

impl ComputeShader {
    /// A compute shader of the compiler.
    pub fn new(compiled: &Compiled) -> Self {
        let shader_compiler::interface::Workgroups { size, parts, together, memory_bytes, vpm_rows } =
            compiled.interface.workgroups;
        let workgroups = Workgroups { size, parts, together, memory_bytes, vpm_rows };
        Self { words: compiled.words.clone(), interface: compiled.interface.clone(), workgroups }
    }

    /// What the page shows of it.
    pub fn described(&self) -> Described {
        let buffer = |buffer: &Buffer| DescribedBuffer {
            name: buffer.name.clone(),
            writable: buffer.writable,
            number: match buffer.number {
                Some(Number::Float) => "f32",
                Some(Number::Int) => "i32",
                Some(Number::Uint) => "u32",
                Some(Number::Half) | None => "",
            },
            fixed_words: buffer.fixed_bytes / 4,
            element_words: buffer.stride_bytes / 4,
        };
        let Workgroups { size, together, .. } = self.workgroups;
        Described { size, together, buffers: self.interface.buffers.iter().map(buffer).collect() }
    }

    /// Runs it on the model, by the driver.
    ///
    /// # Errors
    /// Why it could not be run, in a sentence.
    pub fn run(&self, given: &Given, settings: &Settings, with_costs: bool, with_job: bool) -> Result<Ran, String> {
        let buffers = self.buffers(given)?;
        let mut shares = self.shares(given)?;
        let config = Config {
            parallel: false,
            estimate: with_costs,
            estimate_instructions: with_costs,
            instruction_budget: INSTRUCTION_BUDGET,
            ..Config::default()
        };
        let model = Model::new(MEMORY_BYTES, config);
        if with_job {
            model.record();
        }
        let mut driver = Driver::bring_up(&model, &model.interrupts, Limits::default()).map_err(text)?;
        let mut of_words = |words: &[u32]| {
            let buffer = driver.allocate(4 * words.len().max(1) as u32, LINE_BYTES).map_err(text)?;
            buffer.region().store_words(&model, words).map_err(text)?;
            Ok::<_, String>(buffer)
        };
        let code = of_words(&halves(&self.words))?;
        let memories = of_words(&vec![0; self.memory_words(shares.len())])?;
        let streams = of_words(&vec![0; shares.len() * self.stream_words()])?;
        let kept = buffers.iter().map(|words| of_words(words)).collect::<Result<Vec<_>, _>>()?;
        let places = Places {
            streams: streams.address().0,
            buffers: kept.iter().map(|buffer| buffer.address().0).collect(),
            memory: memories.address().0,
        };
        let lengths: Vec<usize> = buffers.iter().map(Vec::len).collect();
        let words = self.streams(&mut shares, settings, &places, &lengths)?;
        streams.region().store_words(&model, &words).map_err(text)?;
        let program =
            |share: &Share| UserProgram { code: code.address(), uniforms: share.stream, uniform_count: NO_LIMIT };
        let programs: Vec<UserProgram> = shares.iter().map(program).collect();
        let done = driver.run_programs(&programs, LIMIT_US).map_err(text);
        let faults: Vec<String> = model.take_faults().iter().map(ToString::to_string).collect();
        done.map_err(|error| faults.first().map_or(error.clone(), |fault| format!("{error}: {fault}")))?;
        let mut after = Vec::new();
        for ((buffer, words), declared) in kept.iter().zip(&buffers).zip(&self.interface.buffers) {
            let mut bytes = vec![0; 4 * words.len()];
            buffer.region().load(&model, 0, &mut bytes).map_err(text)?;
            let words = bytes.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
            after.push((declared.name.clone(), words));
        }
        let costs = with_costs.then(|| costs::of_compute(&model));
        let job = if with_job { model.captured("playground").map_err(text)? } else { Vec::new() };
        Ok(Ran { buffers: after, programs: programs.len(), faults, costs, job })
    }

    /// Lays the run out in the memory of a stepper.
    ///
    /// # Errors
    /// As [`ComputeShader::run`], and when it is more memory than can be compared with each step.
    pub fn laid_out(&self, given: &Given, settings: &Settings) -> Result<Layout, String> {
        let buffers = self.buffers(given)?;
        let mut shares = self.shares(given)?;
        let mut next = 0u32;
        let mut place = |words: usize| {
            let at = next;
            next = (next + 4 * words as u32).next_multiple_of(LINE_BYTES);
            at
        };
        place(2 * self.words.len());
        let streams = place(shares.len() * self.stream_words());
        let at: Vec<u32> = buffers.iter().map(|words| place(words.len())).collect();
        let memory = place(self.memory_words(shares.len()));
        if next > MOST_STEPPED_BYTES {
            return Err(format!("the run has {next} bytes of memory, and the stepper shows {MOST_STEPPED_BYTES}"));
        }
        let lengths: Vec<usize> = buffers.iter().map(Vec::len).collect();
        let places = Places { streams, buffers: at.clone(), memory };
        let words = self.streams(&mut shares, settings, &places, &lengths)?;
        let mut image = vec![0; next as usize];
        let mut store = |at: u32, words: &[u32]| {
            let places = image.iter_mut().skip(at as usize);
            places.zip(words.iter().flat_map(|word| word.to_le_bytes())).for_each(|(place, byte)| *place = byte);
        };
        store(0, &halves(&self.words));
        store(streams, &words);
        at.iter().zip(&buffers).for_each(|(&at, words)| store(at, words));
        let named = self.interface.buffers.iter().zip(at).zip(&buffers);
        Ok(Layout {
            image,
            streams: shares.iter().map(|share| share.stream.0).collect(),
            buffers: named.map(|((buffer, at), words)| (buffer.name.clone(), at, words.len() as u32)).collect(),
        })
    }

    /// Whether the programs of a run wait for each other.
    pub fn is_together(&self) -> bool {
        self.workgroups.together
    }

    /// The words of each buffer.
    fn buffers(&self, given: &Given) -> Result<Vec<Vec<u32>>, String> {
        let words = |buffer: &Buffer| {
            let Buffer { name, fixed_bytes, stride_bytes, .. } = buffer;
            let words = given.buffers.get(name).ok_or_else(|| format!("the buffer `{name}` is not given"))?;
            let least = (fixed_bytes + stride_bytes) as usize / 4;
            if words.len() > MOST_WORDS {
                return Err(format!("the buffer `{name}` has more than {MOST_WORDS} words"));
            }
            if words.len() < least {
                return Err(format!("the buffer `{name}` has {} words, and the shader needs {least}", words.len()));
            }
            Ok(words.clone())
        };
        self.interface.buffers.iter().map(words).collect()
    }

    fn shares(&self, given: &Given) -> Result<Vec<Share>, String> {
        let [x, y, z] = given.count;
        let shares = self.workgroups.shares(given.count, QPUS).filter(|shares| !shares.is_empty());
        shares.ok_or_else(|| format!("{x} x {y} x {z} workgroups cannot be run: from 1 to 4,294,967,295 can"))
    }

    /// Words between the streams of two programs.
    fn stream_words(&self) -> usize {
        self.interface.stream.len().next_multiple_of(LINE_BYTES as usize / 4)
    }

    /// Words of main memory that workgroups share.
    fn memory_words(&self, programs: usize) -> usize {
        let memories = if self.workgroups.together { 1 } else { programs };
        memories * self.workgroups.memory_bytes as usize / 4
    }

    /// The uniforms of all programs; fills in where they are.
    fn streams(
        &self,
        shares: &mut [Share],
        settings: &Settings,
        places: &Places,
        lengths: &[usize],
    ) -> Result<Vec<u32>, String> {
        let fields: Vec<Vec<u32>> = self.interface.fields.iter().map(|field| field_words(field, settings)).collect();
        let mut words = Vec::new();
        for (number, share) in shares.iter_mut().enumerate() {
            share.stream = BusAddr(places.streams + 4 * (number * self.stream_words()) as u32);
            let own_memory = if self.workgroups.together { 0 } else { number as u32 };
            share.workgroup_memory = BusAddr(places.memory + own_memory * self.workgroups.memory_bytes);
            for &word in &self.interface.stream {
                words.push(self.word(word, share, &fields, places, lengths)?);
            }
            words.resize(self.stream_words() * (number + 1), 0);
        }
        Ok(words)
    }

    fn word(
        &self,
        word: StreamWord,
        share: &Share,
        fields: &[Vec<u32>],
        places: &Places,
        lengths: &[usize],
    ) -> Result<u32, String> {
        let buffer = |number: u32| places.buffers.get(number as usize).copied().unwrap_or(0);
        Ok(match word {
            StreamWord::Field { field, index } => {
                fields.get(field as usize).and_then(|words| words.get(index as usize)).copied().unwrap_or(0)
            }
            StreamWord::Constant(bits) => bits,
            StreamWord::Buffer { buffer: number, offset } => buffer(number) + offset,
            StreamWord::Length(number) => {
                let declared = self.interface.buffers.get(number as usize);
                let bytes = 4 * lengths.get(number as usize).copied().unwrap_or(0) as u32;
                declared.map_or(0, |it| bytes.saturating_sub(it.fixed_bytes) / it.stride_bytes.max(1))
            }
            StreamWord::WorkgroupMemory(offset) => share.workgroup_memory.0 + offset,
            StreamWord::VpmMemory(offset) => share.vpm_memory + offset,
            StreamWord::OwnAddress(number) => share.stream.0 + 4 * number,
            StreamWord::Share(part) => match part {
                ssa::Share::First(axis) => share.first[usize::from(axis.min(2))],
                ssa::Share::Part => share.part,
                ssa::Share::Iterations => share.iterations,
                ssa::Share::Row => share.row,
                ssa::Share::Count(axis) => share.count[usize::from(axis.min(2))],
                ssa::Share::Stream => share.stream.0 + 4 * WORDS_BEFORE_ITERATION,
            },
            StreamWord::Texture { .. } | StreamWord::TextureSize { .. } | StreamWord::TextureLevels { .. } => {
                return Err("the page gives no textures to compute shaders".to_owned());
            }
            StreamWord::Viewport(_) | StreamWord::Instance => 0,
        })
    }
}

/// The words of a program in memory.
fn halves(words: &[u64]) -> Vec<u32> {
    words.iter().flat_map(|&word| [word as u32, (word >> 32) as u32]).collect()
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
