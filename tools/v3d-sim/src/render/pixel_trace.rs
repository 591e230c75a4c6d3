//! Pixel trace: everything that changes one pixel, down to the instructions that shade it.
//!
//! A renderer with a watched pixel executes the programs that shade it one instruction at a time, and records what each reads and writes in the
//! pixel's element: registers, flags and peripherals. All other pixels are rendered as usual; the picture is the same.

use super::WaveJob;
use super::tlb::{Outcome, Tlb};
use crate::qpu::block;
use crate::qpu::datapath::reference::Reference;
use crate::qpu::datapath::{Datapath, Results};
use crate::qpu::isa::instruction::{DecodedInstruction, Destination, FlagSource, Kind};
use crate::qpu::isa::registers::{self, Flags, RegisterIndex, Registers};
use crate::qpu::lanes::{Lanes, Mask};
use crate::qpu::steps::{self, State};
use crate::qpu::{Exit, Io, Qpu};
use qpu_text::Text;
use std::fmt;
use v3d_hw::BusAddr;
use v3d_hw::qpu::address_map::ReadSource;
use v3d_hw::qpu::{Instruction, Mux};

/// Maximum number of instructions that are kept of one part of a frame.
const MAX_ENTRIES: usize = 100_000;

/// The content of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Colour: RGBA8888, or the lower word of a 64-bit colour.
    pub color: u32,
    /// The upper word of a 64-bit colour.
    pub upper_color: Option<u32>,
    /// Depth in 31:8, stencil in 7:0.
    pub zs: u32,
    /// The alpha mask, in a mode that has one.
    pub vg_mask: Option<u8>,
}

/// The flags of the pixel's element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementFlags {
    /// Z.
    pub zero: bool,
    /// N.
    pub negative: bool,
    /// C.
    pub carry: bool,
}

/// A named value of the pixel's element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Register or peripheral.
    pub name: String,
    /// 32 bits.
    pub bits: u32,
}

/// Planes that primitives are clipped at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClipPlanes {
    /// Z = -W.
    pub near: bool,
    /// Z = W.
    pub far: bool,
}

/// An event of the pixel.
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
        /// Address of the draw's shader record; none if it is inline.
        shader: Option<BusAddr>,
    },
    /// The binner clips a primitive away here.
    Clipped {
        /// Number of the primitive in its draw.
        primitive: usize,
        /// The planes that it crosses, or is behind.
        planes: ClipPlanes,
        /// As of [`Event::Covered`].
        shader: Option<BusAddr>,
    },
    /// A primitive would cover the pixel, which is outside of the clip window.
    OutsideWindow {
        /// Number of the primitive in its draw.
        primitive: usize,
        /// As of [`Event::Covered`].
        shader: Option<BusAddr>,
    },
    /// A primitive would cover the pixel's centre, but faces the wrong way.
    Culled {
        /// Number of the primitive in its list.
        primitive: usize,
        /// Whether the primitive is back facing.
        reverse: bool,
        /// As of [`Event::Covered`].
        shader: Option<BusAddr>,
    },
    /// The depth limits exclude it.
    OutsideZLimits,
    /// Early Z rejects it.
    Hidden,
    /// Early Z rejects it, though the Z test would not: the depth that early Z compares with is out of date.
    WronglyHidden,
    /// A program starts shading it.
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
        /// The instruction.
        word: u64,
        /// What it read.
        read: Vec<Value>,
        /// What it wrote, changed or not: registers with their new values, and peripherals.
        written: Vec<Value>,
        /// The flags, if it set them.
        flags: Option<ElementFlags>,
    },
    /// This many more instructions have been executed.
    LeftOut(u64),
    /// The coverage pipe has added a primitive to its coverage, which replaces depth and stencil.
    CoverageAccumulated(Vec<Sample>),
    /// The program has made the tests of a sample.
    Tested {
        /// Number of the sample.
        sample: usize,
        /// The depth that is tested, 24 bits.
        z: u32,
        /// Depth in 31:8 and stencil in 7:0 that it is tested against.
        zs: u32,
        /// The outcome.
        outcome: Outcome,
    },
    /// The program has left the pixel out: it has neither tested nor written it, while it did so with others or could have.
    Discarded,
    /// The program has ended; the pixel's new content.
    Shaded(Vec<Sample>),
    /// The tile is stored.
    Stored(Vec<Sample>),
    /// A store has cleared the tile buffer.
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

/// The events of one part of a frame, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PixelTrace {
    entries: Vec<Entry>,
    /// Instructions among them.
    instructions: usize,
    /// The runs of programs that have shaded the pixel, in the order of [`Event::Program`].
    runs: Vec<steps::Run>,
}

impl PixelTrace {
    /// Adds an event. Of instructions the first 100,000 are kept, the others counted.
    pub fn record(&mut self, at: BusAddr, event: Event) {
        let Event::Instruction { .. } = event else {
            self.entries.push(Entry { at, event });
            return;
        };
        if self.is_full() {
            self.leave_out(at);
        } else {
            self.instructions += 1;
            self.entries.push(Entry { at, event });
        }
    }

    /// Whether further instructions are only counted.
    fn is_full(&self) -> bool {
        self.instructions >= MAX_ENTRIES
    }

    /// Counts an instruction that is not kept.
    fn leave_out(&mut self, at: BusAddr) {
        match self.entries.last_mut() {
            Some(Entry { event: Event::LeftOut(count), .. }) => *count += 1,
            _ => self.entries.push(Entry { at, event: Event::LeftOut(1) }),
        }
    }

    /// Appends another part's events.
    pub fn append(&mut self, mut other: Self) {
        self.entries.append(&mut other.entries);
        self.runs.append(&mut other.runs);
    }

    /// The runs of programs that have shaded the pixel, in the order of [`Event::Program`].
    pub fn runs(&self) -> &[steps::Run] {
        &self.runs
    }

    /// The events.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Executes a program instruction by instruction, and records what each does in one element.
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
        let mut state = State::of(qpu, &[], None);
        self.runs.push(steps::Run::new(state.clone()));
        loop {
            if *budget == 0 {
                return Exit::OutOfBudget;
            }
            let pc = qpu.pc();
            let before = (!self.is_full()).then(|| (qpu.registers().clone(), *qpu.flags()));
            let is_kept = before.is_some();
            let step = steps::Before::new(&state, qpu, memory);
            let (exit, is_executed) = qpu.run_one(io, memory, code);
            if is_executed {
                *budget -= 1;
                if let (Ok(word), Some((before, flags))) = (block::fetch(memory, pc), before) {
                    let instruction = Instruction::decode(word);
                    let read = operands(&instruction, &before, qpu.registers(), element);
                    let (written, flags) = effects(&DecodedInstruction::decode(word), &before, flags, qpu, element);
                    self.record(at, Event::Instruction { pc, word, read, written, flags });
                } else {
                    self.leave_out(at);
                }
            }
            let step = step.step(qpu, &[], None);
            state.advance(&step);
            if let Some(run) = self.runs.last_mut().filter(|_| is_executed) {
                if is_kept { run.steps.push(step) } else { run.left_out += 1 }
            }
            if exit != Exit::OutOfBudget {
                return exit;
            }
        }
    }
}

/// The content of the samples of a pixel. The rendering mode says whether that includes an alpha mask.
pub fn samples(tlb: &Tlb, pixel: usize, vg_mask: bool) -> Vec<Sample> {
    let sample = |number| {
        let color = |word| tlb.color.get(tlb.color_index(pixel, number, word)).copied().unwrap_or(0);
        let index = tlb.zs_index(pixel, number);
        Sample {
            color: color(0),
            upper_color: tlb.shape().color_64_bit.then(|| color(1)),
            zs: tlb.zs.get(index).copied().unwrap_or(0),
            vg_mask: vg_mask.then(|| tlb.vg_mask.get(index).copied().unwrap_or(0)),
        }
    };
    (0..tlb.shape().samples()).map(sample).collect()
}

fn value(registers: &Registers, register: RegisterIndex, element: usize) -> u32 {
    registers.at(register).0.get(element).copied().unwrap_or(0)
}

/// Name of a register that software can see.
fn name(register: RegisterIndex) -> String {
    if register < registers::FILE_B {
        format!("ra{}", register - registers::FILE_A)
    } else if register < registers::ACCUMULATORS {
        format!("rb{}", register - registers::FILE_B)
    } else {
        format!("r{}", register - registers::ACCUMULATORS)
    }
}

/// The operands of an instruction, with the values that they have before it, or that it takes from a peripheral.
fn operands(instruction: &Instruction, before: &Registers, after: &Registers, element: usize) -> Vec<Value> {
    let Instruction::Alu(alu) = instruction else { return Vec::new() };
    let [port_a, port_b] = alu.sources();
    let mut values: Vec<Value> = Vec::new();
    for mux in alu.operands().into_iter().flatten() {
        let through = |source: Option<ReadSource>, first: RegisterIndex, port: RegisterIndex| match source {
            Some(ReadSource::Register(number)) => Some((name(first + number), value(before, first + number, element))),
            Some(ReadSource::Nop) | None => None,
            Some(source) => Some((format!("{source:?}").to_lowercase(), value(after, port, element))),
        };
        let operand = match mux {
            Mux::A => through(port_a, registers::FILE_A, registers::PORT_A),
            Mux::B => through(port_b, registers::FILE_B, registers::PORT_B),
            accumulator => {
                let register = registers::ACCUMULATORS + accumulator.code();
                Some((name(register), value(before, register, element)))
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

/// What an instruction has written in an element, and the flags that it has set there.
///
/// Values for peripherals are computed again, from the old registers and what the instruction has read from peripherals. Of a register that is read
/// too early, the new value counts.
fn effects(
    instruction: &DecodedInstruction,
    before: &Registers,
    flags: Flags,
    qpu: &Qpu,
    element: usize,
) -> (Vec<Value>, Option<ElementFlags>) {
    let after = qpu.registers();
    let mut results = Results::default();
    // A branch writes only its link address, and that only if it is taken.
    if !matches!(instruction.kind, Kind::Branch { .. }) {
        let (mut again, mut flags) = (before.clone(), flags);
        for port in [registers::PORT_A, registers::PORT_B] {
            *again.at_mut(port) = *after.at(port);
        }
        if let Some(constant) = instruction.kind.constant(0) {
            *again.at_mut(registers::IMMEDIATE) = constant;
        }
        Reference::execute(&mut again, &mut flags, instruction, &mut results);
    }
    let mut written: Vec<Value> = Vec::new();
    for (to, result) in [(instruction.add.to, &results.add), (instruction.mul.to, &results.mul)] {
        written.extend(write(to, result, after, element));
    }
    // r4 and r5 also get what was requested earlier.
    for register in 0..registers::ELEMENTS {
        let (old, bits, name) = (value(before, register, element), value(after, register, element), name(register));
        if old != bits && !written.iter().any(|value| value.name == name) {
            written.push(Value { name, bits });
        }
    }
    let set = match instruction.flags {
        FlagSource::None => 0,
        FlagSource::Add => results.add.1,
        FlagSource::Mul => results.mul.1,
    };
    let holds = |mask: Mask| mask >> element & 1 == 1;
    let Flags { zero, negative, carry } = *qpu.flags();
    let flags = ElementFlags { zero: holds(zero), negative: holds(negative), carry: holds(carry) };
    (written, holds(set).then_some(flags))
}

/// What one ALU has written in an element.
fn write(to: Destination, (result, mask): &(Lanes, Mask), after: &Registers, element: usize) -> Option<Value> {
    // r5 gets one value for each quad, or for all.
    let from = match to {
        Destination::R5 { replicated: true } => 0,
        Destination::R5 { replicated: false } => element & !3,
        _ => element,
    };
    if mask >> from & 1 == 0 {
        return None;
    }
    let written = |register| (name(register), value(after, register, element));
    let sent = |name: String| (name.to_lowercase(), result.0.get(element).copied().unwrap_or(0));
    let (name, bits) = match to {
        Destination::Nowhere => return None,
        Destination::Register(register) => written(register),
        Destination::R5 { .. } => written(registers::R5),
        Destination::Sfu(function) => sent(format!("{function:?}")),
        Destination::Tmu(unit, coordinate) => sent(format!("tmu{unit}{coordinate:?}")),
        Destination::Peripheral(target) => sent(format!("{target:?}")),
    };
    Some(Value { name, bits })
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {:#010x}", self.name, self.bits)?;
        let float = f32::from_bits(self.bits);
        // Bits of a float of ordinary size are most likely a float.
        if (1e-6..1e9).contains(&float.abs()) { write!(f, " ({float})") } else { Ok(()) }
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "colour {:#010x}", self.color)?;
        if let Some(upper) = self.upper_color {
            write!(f, " {upper:#010x}")?;
        }
        write!(f, ", depth {:#08x}, stencil {:#04x}", self.zs >> 8, self.zs & 0xff)?;
        if let Some(mask) = self.vg_mask {
            write!(f, ", alpha mask {mask:#04x}")?;
        }
        Ok(())
    }
}

impl fmt::Display for ElementFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [(self.zero, 'Z'), (self.negative, 'N'), (self.carry, 'C')];
        let set: String = names.into_iter().filter(|(set, _)| *set).map(|(_, name)| name).collect();
        write!(f, "flags = {}", if set.is_empty() { "none" } else { &set })
    }
}

/// Values as a list.
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
            Self::Covered { primitive, mask, reverse, z, w, .. } => {
                let face = if *reverse { "back" } else { "front" };
                write!(
                    f,
                    "primitive {primitive} of the list covers it: {face} facing, samples {mask:#06b}, depth {z:#08x}, W {w}"
                )
            }
            Self::Clipped { primitive, planes, .. } => {
                let at = match (planes.near, planes.far) {
                    (true, true) => "the near and the far plane",
                    (true, false) => "the near plane",
                    (false, true) => "the far plane",
                    (false, false) => "the guard band",
                };
                write!(f, "primitive {primitive} of the draw is clipped here, at {at}: not drawn")
            }
            Self::OutsideWindow { primitive, .. } => {
                write!(
                    f,
                    "primitive {primitive} of the draw covers it, outside of the clip window (scissor): not drawn"
                )
            }
            Self::Culled { primitive, reverse, .. } => {
                let face = if *reverse { "back" } else { "front" };
                write!(f, "primitive {primitive} of the list covers it, and is culled, being {face} facing: not drawn")
            }
            Self::Tested { sample, z, zs, outcome } => {
                let (depth, stencil) = (zs >> 8, zs & 0xff);
                let against = format!("depth {z:#08x} against {depth:#08x}, stencil {stencil:#04x}");
                match outcome {
                    Outcome::Passed => write!(f, "sample {sample} passes the tests: {against}"),
                    Outcome::ZFailed => write!(f, "sample {sample} fails the depth test: {against}: not drawn"),
                    Outcome::StencilFailed => write!(f, "sample {sample} fails the stencil test: {against}: not drawn"),
                }
            }
            Self::Discarded => f.write_str("its program leaves it out, by discard or an alpha test: not drawn"),
            Self::OutsideZLimits => f.write_str("outside of the limits of Z: not drawn"),
            Self::Hidden => f.write_str("hidden, as early Z finds: not drawn"),
            Self::WronglyHidden => {
                f.write_str("not hidden, but rejected by early Z, whose depth is out of date: not drawn")
            }
            Self::Program { code, element } => write!(f, "shaded by the program at {code}, in element {element}"),
            Self::Instruction { pc, word, read, written, flags } => {
                let text = Text(*word);
                write!(f, "    {pc}  {text:44} {}", Listed(read, ", "))?;
                if !written.is_empty() || flags.is_some() {
                    write!(f, " -> {}", Listed(written, ", "))?;
                }
                match flags {
                    Some(flags) if written.is_empty() => write!(f, "{flags}"),
                    Some(flags) => write!(f, ", {flags}"),
                    None => Ok(()),
                }
            }
            Self::LeftOut(count) => write!(f, "    {count} more instructions are left out"),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_left_out_and_nothing_else() {
        let mut pixel_trace = PixelTrace::default();
        let instruction =
            || Event::Instruction { pc: BusAddr(0), word: 0, read: Vec::new(), written: Vec::new(), flags: None };
        for _ in 0..MAX_ENTRIES + 7 {
            pixel_trace.record(BusAddr(1), instruction());
        }
        pixel_trace.record(BusAddr(2), Event::Stored(Vec::new()));
        pixel_trace.record(BusAddr(3), instruction());
        let rest: Vec<_> =
            pixel_trace.entries()[MAX_ENTRIES..].iter().map(|entry| (entry.at.0, &entry.event)).collect();
        let expected = [(1, &Event::LeftOut(7)), (2, &Event::Stored(Vec::new())), (3, &Event::LeftOut(1))];
        assert_eq!(rest, expected);
    }
}
