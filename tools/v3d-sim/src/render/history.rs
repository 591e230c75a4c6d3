//! The history of one pixel: everything that changes it, down to the instructions that shade it.
//!
//! A renderer that is told to watch a pixel executes the programs that shade it one instruction at a time, and notes what each reads and changes in the
//! pixel's element. All other pixels are rendered as ever, and the result is the same.

use super::WaveJob;
use super::tlb::Tlb;
use crate::qpu::registers::{self, Place, Registers};
use crate::qpu::{Exit, Io, Qpu};
use std::fmt;
use v3d_hw::BusAddr;
use v3d_hw::qpu::address_map::{File, ReadSource};
use v3d_hw::qpu::{AddOp, Instruction, MulOp, Mux, Signal};

/// Most events that are kept of one part of a frame.
const KEPT: usize = 100_000;

/// What a sample of the pixel contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Colour: RGBA8888, or the lower word of a 64-bit colour.
    pub color: u32,
    /// Depth in 31:8, stencil in 7:0.
    pub zs: u32,
}

/// A value in the pixel's element, with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Register or peripheral.
    pub name: String,
    /// 32 bits.
    pub bits: u32,
}

/// Something that happened to the pixel.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Its tile begins.
    TileBegins {
        /// Column.
        column: u8,
        /// Row.
        row: u8,
    },
    /// The tile buffer was loaded.
    Loaded(Vec<Sample>),
    /// A primitive covers it.
    Covered {
        /// Number of the primitive in its list.
        primitive: usize,
        /// Covered samples.
        mask: u16,
        /// Whether the primitive is back facing.
        reverse: bool,
        /// Depth, 24 bits.
        z: u32,
        /// W.
        w: f32,
    },
    /// It is in front of the near or behind the far limit.
    OutsideZLimits,
    /// Early Z finds it hidden.
    Hidden,
    /// A program begins to shade it.
    Program {
        /// Address of its first instruction.
        code: BusAddr,
        /// The pixel's element of 16.
        element: usize,
    },
    /// An instruction has been executed.
    Instruction {
        /// Its address.
        pc: BusAddr,
        /// What it is.
        instruction: Instruction,
        /// What it read.
        read: Vec<Value>,
        /// What it changed.
        changed: Vec<Value>,
    },
    /// The coverage pipe has added a primitive to its coverage, which takes the place of depth and stencil.
    CoverageAccumulated(Vec<Sample>),
    /// The program has ended; what the pixel contains now.
    Shaded(Vec<Sample>),
    /// The tile is stored.
    Stored(Vec<Sample>),
    /// The tile buffer was cleared.
    Cleared(Vec<Sample>),
}

/// An event, and the address of the control record that it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Address of the record.
    pub at: BusAddr,
    /// What happened.
    pub event: Event,
}

/// Events of one part of a frame, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History(Vec<Entry>);

impl History {
    /// Adds an event; the first 100,000 are kept.
    pub fn note(&mut self, at: BusAddr, event: Event) {
        if self.0.len() < KEPT {
            self.0.push(Entry { at, event });
        }
    }

    /// Takes over another part's events.
    pub fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    /// The events.
    pub fn entries(&self) -> &[Entry] {
        &self.0
    }

    /// Runs a program instruction by instruction, and notes what each does in one element.
    pub fn run<I: Io>(
        &mut self,
        at: BusAddr,
        element: usize,
        qpu: &mut Qpu,
        io: &mut I,
        job: &WaveJob<'_>,
        budget: &mut u64,
    ) -> Exit {
        let WaveJob { memory, code, .. } = *job;
        loop {
            if *budget == 0 {
                return Exit::OutOfBudget;
            }
            let pc = qpu.pc();
            let before = qpu.registers().clone();
            let (exit, is_executed) = qpu.run_one(io, memory, code);
            if is_executed {
                *budget -= 1;
                let word = memory.word(pc).and_then(|low| Ok(u64::from(memory.word(pc + 4)?) << 32 | u64::from(low)));
                if let Ok(word) = word {
                    let instruction = Instruction::decode(word);
                    let read = operands(&instruction, &before, qpu.registers(), element);
                    let changed = changes(&before, qpu.registers(), element);
                    self.note(at, Event::Instruction { pc, instruction, read, changed });
                }
            }
            if exit != Exit::OutOfBudget {
                return exit;
            }
        }
    }
}

/// What the samples of a pixel contain.
pub fn samples(tlb: &Tlb, pixel: usize) -> Vec<Sample> {
    let sample = |number| {
        let color = tlb.color.get(tlb.color_index(pixel, number, 0)).copied().unwrap_or(0);
        let zs = tlb.zs.get(tlb.zs_index(pixel, number)).copied().unwrap_or(0);
        Sample { color, zs }
    };
    (0..tlb.shape().samples()).map(sample).collect()
}

fn value(registers: &Registers, place: Place, element: usize) -> u32 {
    registers.at(place).0.get(element).copied().unwrap_or(0)
}

/// Name of a register that software can see.
fn name(place: Place) -> String {
    if place < registers::FILE_B {
        format!("ra{}", place - registers::FILE_A)
    } else if place < registers::ACCUMULATORS {
        format!("rb{}", place - registers::FILE_B)
    } else {
        format!("r{}", place - registers::ACCUMULATORS)
    }
}

/// What an instruction reads: its operands, with the values that they have before it, or that it takes from a peripheral.
fn operands(instruction: &Instruction, before: &Registers, after: &Registers, element: usize) -> Vec<Value> {
    let Instruction::Alu(alu) = instruction else { return Vec::new() };
    let mut muxes = Vec::new();
    if alu.op_add != AddOp::Nop {
        muxes.extend([alu.add_a, alu.add_b]);
    }
    if alu.op_mul != MulOp::Nop {
        muxes.extend([alu.mul_a, alu.mul_b]);
    }
    let mut values: Vec<Value> = Vec::new();
    for mux in muxes {
        let of_file = |file: File, address: u8, first: Place, port: Place| match ReadSource::of(file, address) {
            ReadSource::Register(number) => Some((name(first + number), value(before, first + number, element))),
            ReadSource::Nop => None,
            source => Some((format!("{source:?}").to_lowercase(), value(after, port, element))),
        };
        let operand = match mux {
            Mux::A => of_file(File::A, alu.raddr_a, registers::FILE_A, registers::PORT_A),
            Mux::B if alu.sig == Signal::SmallImmediate => None,
            Mux::B => of_file(File::B, alu.raddr_b, registers::FILE_B, registers::PORT_B),
            accumulator => {
                let place = registers::ACCUMULATORS + accumulator.code();
                Some((name(place), value(before, place, element)))
            }
        };
        if let Some((name, bits)) = operand
            && !values.iter().any(|value| value.name == name)
        {
            values.push(Value { name, bits });
        }
    }
    values
}

/// Registers whose value in an element differs.
fn changes(before: &Registers, after: &Registers, element: usize) -> Vec<Value> {
    let pairs =
        (0..registers::ELEMENTS).map(|place| (place, value(before, place, element), value(after, place, element)));
    pairs.filter(|(_, old, new)| old != new).map(|(place, _, bits)| Value { name: name(place), bits }).collect()
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {:#010x}", self.name, self.bits)?;
        let float = f32::from_bits(self.bits);
        // Bits that make a float of ordinary size are most likely one.
        if (1e-6..1e9).contains(&float.abs()) { write!(f, " ({float})") } else { Ok(()) }
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "colour {:#010x}, depth {:#08x}, stencil {:#04x}", self.color, self.zs >> 8, self.zs & 0xff)
    }
}

/// Values one after the other.
struct Listed<'a, T>(&'a [T], &'static str);

impl<T: fmt::Display> fmt::Display for Listed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, item) in self.0.iter().enumerate() {
            write!(f, "{}{item}", if i == 0 { "" } else { self.1 })?;
        }
        Ok(())
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TileBegins { column, row } => write!(f, "tile column {column}, row {row} begins"),
            Self::Loaded(samples) => write!(f, "loaded: {}", Listed(samples, "; ")),
            Self::Covered { primitive, mask, reverse, z, w } => {
                let face = if *reverse { "back" } else { "front" };
                write!(
                    f,
                    "primitive {primitive} of the list covers it: {face} facing, samples {mask:#06b}, depth {z:#08x}, W {w}"
                )
            }
            Self::OutsideZLimits => f.write_str("outside of the limits of Z: not drawn"),
            Self::Hidden => f.write_str("hidden, as early Z finds: not drawn"),
            Self::Program { code, element } => write!(f, "shaded by the program at {code}, in element {element}"),
            Self::Instruction { pc, instruction, read, changed } => {
                let arrow = if changed.is_empty() { "" } else { " -> " };
                let text = instruction.to_string();
                write!(f, "    {pc}  {text:44} {}{arrow}{}", Listed(read, ", "), Listed(changed, ", "))
            }
            Self::CoverageAccumulated(samples) => {
                let coverage = samples.first().map_or(0, |sample| sample.zs);
                write!(f, "coverage is now {coverage:#010x}, two bits a sample")
            }
            Self::Shaded(samples) => write!(f, "now: {}", Listed(samples, "; ")),
            Self::Stored(samples) => write!(f, "stored: {}", Listed(samples, "; ")),
            Self::Cleared(samples) => write!(f, "cleared to: {}", Listed(samples, "; ")),
        }
    }
}
