//! The registers and units that an operation reads and writes, derived from the words of its macro,
//!
//! and the instructions that must not directly precede or follow it.

use crate::machine;
use qpu::check::facts::Facts;
use std::fmt::Write;
use v3d_hw::qpu::accesses::{accumulators, register_bit};
use v3d_hw::qpu::address_map::TmuCoordinate;
use v3d_hw::qpu::{Condition, File, ReadSource, SmallImmediate, WriteTarget};

/// The scratch registers by their names in `scratch.qinc`: sa0 to sa7, sb0 to sb7.
const SCRATCH: [u8; 8] = [28, 29, 30, 31, 24, 25, 26, 27];

/// Registers: bits 0 to 31 file A, 32 to 63 file B; accumulators r0 to r5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Registers {
    files: u64,
    accumulators: u8,
}

/// The derived properties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effects {
    /// Registers whose initial values matter.
    takes: Registers,
    takes_flags: bool,
    /// Registers that may have other values afterwards.
    overwrites: Registers,
    overwrites_flags: bool,
    uniforms: u32,
    varyings: u32,
    units: u16,
    /// Registers of the files that the first instruction reads.
    first_reads: u64,
    /// Accumulators that the first instruction rotates.
    first_rotates: u8,
    /// r4 is written, or the SFU started, in the first two instructions.
    first_claims_r4: bool,
    /// Registers of the files that the last instruction writes.
    last_writes: u64,
}

/// Units, by the bits of [`Effects::units`].
const UNITS: [(Unit, &str); 8] = [
    (Unit::Tmu, "TMU 0"),
    (Unit::Sfu, "SFU"),
    (Unit::Vpm, "VPM"),
    (Unit::Dma, "DMA"),
    (Unit::Mutex, "mutex"),
    (Unit::Semaphore, "semaphores"),
    (Unit::Interrupt, "interrupts the host"),
    (Unit::End, "ends the program"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Tmu,
    Sfu,
    Vpm,
    Dma,
    Mutex,
    Semaphore,
    Interrupt,
    End,
}

impl Unit {
    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

impl Effects {
    /// The effects of macro calls in some lines, after definitions and includes.
    ///
    /// # Errors
    /// The diagnostics of the assembler.
    pub(crate) fn of(name: &str, definitions: &str, lines: &str) -> Result<Self, String> {
        // Branches in the macros go to labels behind them.
        let text = format!("{definitions}\n{lines}\n:2\n:3\n:900\n");
        let words = machine::assemble(name, &text)?.words;
        let facts: Vec<Facts> = words.iter().map(|&word| Facts::of(word)).collect();
        Ok(Self::of_facts(&facts))
    }

    fn of_facts(facts: &[Facts]) -> Self {
        let mut effects = Self::default();
        let mut replaced = Replaced::default();
        let mut parameters = false;
        for facts in facts {
            let accesses = &facts.accesses;
            let needed = Registers { files: facts.registers_needed, accumulators: facts.accumulators_needed };
            effects.takes = effects.takes.union(replaced.missing(needed, used_in(facts)));
            effects.takes_flags |= accesses.reads_flags() && !effects.overwrites_flags;
            let written = accesses.accumulators_written();
            effects.overwrites.files |= accesses.registers_written();
            effects.overwrites.accumulators |= written & accumulators::R0_TO_R5;
            effects.overwrites_flags |= facts.sets_flags();
            replaced.write(facts);
            effects.uniforms += u32::from(accesses.reads(ReadSource::Uniform));
            effects.varyings += u32::from(accesses.reads(ReadSource::Varying));
            for write in accesses.written() {
                // s alone takes no uniform.
                if let WriteTarget::Tmu { coordinate, .. } = write.target {
                    let starts = coordinate == TmuCoordinate::S;
                    effects.uniforms += u32::from(!starts || parameters);
                    parameters = !starts;
                }
            }
            effects.units |= units(facts);
        }
        effects.edges(facts);
        effects
    }

    /// The effects of the first and last instructions.
    fn edges(&mut self, facts: &[Facts]) {
        if let Some(first) = facts.first() {
            self.first_reads = first.accesses.registers_read();
            let rotates = first.accesses.rotation == Some(SmallImmediate::RotateByR5);
            self.first_rotates = first.accesses.rotated | if rotates { accumulators::R5 } else { 0 };
        }
        let claims = |facts: &Facts| facts.writes_sfu() || facts.signal().loads_r4();
        self.first_claims_r4 = facts.iter().take(2).any(claims);
        if let Some(last) = facts.last() {
            self.last_writes = last.accesses.registers_written();
        }
    }

    /// The union of the effects of operations with the same name.
    pub(crate) fn union(self, other: Self) -> Self {
        Self {
            takes: self.takes.union(other.takes),
            takes_flags: self.takes_flags || other.takes_flags,
            overwrites: self.overwrites.union(other.overwrites),
            overwrites_flags: self.overwrites_flags || other.overwrites_flags,
            uniforms: self.uniforms.max(other.uniforms),
            varyings: self.varyings.max(other.varyings),
            units: self.units | other.units,
            first_reads: self.first_reads | other.first_reads,
            first_rotates: self.first_rotates | other.first_rotates,
            first_claims_r4: self.first_claims_r4 || other.first_claims_r4,
            last_writes: self.last_writes | other.last_writes,
        }
    }

    /// The inputs: registers, uniforms, varyings. `scratch`: registers have the names of `scratch.qinc`.
    pub(crate) fn taken(&self, scratch: bool) -> String {
        let mut parts = self.takes.names(scratch);
        let count = |number: u32, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
        parts.extend(self.takes_flags.then(|| "flags".to_owned()));
        parts.extend((self.uniforms > 0).then(|| count(self.uniforms, "uniform")));
        parts.extend((self.varyings > 0).then(|| count(self.varyings, "varying")));
        parts.join(", ")
    }

    /// The registers that are overwritten, results included.
    pub(crate) fn overwritten(&self, scratch: bool) -> String {
        let mut parts = self.overwrites.names(scratch);
        parts.extend(self.overwrites_flags.then(|| "flags".to_owned()));
        parts.join(", ")
    }

    /// The units that are used, and what must not directly precede or follow.
    pub(crate) fn hazards(&self, scratch: bool) -> String {
        let used = UNITS.iter().filter(|(unit, _)| self.units & unit.bit() != 0);
        let mut text = used.map(|(_, name)| *name).collect::<Vec<_>>().join(", ");
        let mut add = |what: &str, registers: Registers| {
            let names = registers.names(scratch).join(", ");
            if !names.is_empty() {
                let _ = write!(text, "{}{what} {names}", if text.is_empty() { "" } else { "; " });
            }
        };
        let first = Registers { files: self.first_reads, accumulators: self.first_rotates };
        add("not right behind a write of", first);
        add("not right before a read of", Registers { files: self.last_writes, accumulators: 0 });
        if self.first_claims_r4 {
            let _ =
                write!(text, "{}not within two instructions of an SFU write", if text.is_empty() { "" } else { "; " });
        }
        text
    }
}

impl Registers {
    fn union(self, other: Self) -> Self {
        Self { files: self.files | other.files, accumulators: self.accumulators | other.accumulators }
    }

    /// Names, ranges of three and more as "r0 to r3".
    fn names(self, scratch: bool) -> Vec<String> {
        let mut names = Vec::new();
        ranges(&mut names, "r", (0..6).map(|number| self.accumulators >> number & 1 != 0));
        for (file, letter) in [(File::A, 'a'), (File::B, 'b')] {
            let has = |number: u8| self.files & register_bit(file, number) != 0;
            if scratch {
                ranges(&mut names, &format!("s{letter}"), SCRATCH.iter().map(|&number| has(number)));
            }
            let others = (0..32).map(|number| has(number) && !(scratch && SCRATCH.contains(&number)));
            ranges(&mut names, &format!("r{letter}"), others);
        }
        names
    }
}

fn ranges(names: &mut Vec<String>, prefix: &str, present: impl Iterator<Item = bool>) {
    let numbers: Vec<usize> = present.enumerate().filter_map(|(number, present)| present.then_some(number)).collect();
    for run in numbers.chunk_by(|a, b| a + 1 == *b) {
        match run {
            [first, .., last] if run.len() > 2 => names.push(format!("{prefix}{first} to {prefix}{last}")),
            _ => names.extend(run.iter().map(|number| format!("{prefix}{number}"))),
        }
    }
}

/// The elements in which the operations of an instruction are effective.
fn used_in(facts: &Facts) -> Condition {
    let writes = &facts.accesses.writes;
    writes.iter().filter(|write| write.acts).fold(Condition::Never, |all, write| all.union(write.condition))
}

/// The units that an instruction uses.
fn units(facts: &Facts) -> u16 {
    let accesses = &facts.accesses;
    let mut units = if facts.writes_tmu() { Unit::Tmu.bit() } else { 0 };
    units |= if facts.writes_sfu() { Unit::Sfu.bit() } else { 0 };
    units |= if accesses.semaphore.is_some() { Unit::Semaphore.bit() } else { 0 };
    units |= if facts.signal().ends_program() { Unit::End.bit() } else { 0 };
    for read in accesses.read() {
        units |= match read.source {
            ReadSource::VpmRead => Unit::Vpm.bit(),
            ReadSource::MutexAcquire => Unit::Mutex.bit(),
            _ => 0,
        };
    }
    for write in accesses.written() {
        units |= match write.target {
            WriteTarget::VpmWrite => Unit::Vpm.bit(),
            WriteTarget::VpmLdAddr | WriteTarget::VpmStAddr => Unit::Dma.bit(),
            WriteTarget::MutexRelease => Unit::Mutex.bit(),
            WriteTarget::HostInterrupt => Unit::Interrupt.bit(),
            _ => 0,
        };
    }
    units
}

/// Registers whose initial contents are completely overwritten.
#[derive(Default)]
struct Replaced {
    whole: Registers,
    /// Registers that are overwritten in some elements, with the condition; it is valid until flags are set.
    partly: Vec<(Registers, Condition)>,
}

impl Replaced {
    /// Of registers that are read in some elements, those whose initial values matter.
    fn missing(&self, needed: Registers, used: Condition) -> Registers {
        let here = self.partly.iter().filter(|(_, condition)| condition.code() == used.code());
        here.fold(needed.without(self.whole), |missing, (registers, _)| missing.without(*registers))
    }

    fn write(&mut self, facts: &Facts) {
        let accesses = &facts.accesses;
        for write in accesses.written().filter(|write| write.bytes == v3d_hw::qpu::accesses::Write::WHOLE) {
            let mut registers = Registers { files: 0, accumulators: write.accumulator() & accumulators::R0_TO_R5 };
            if let WriteTarget::Register(number) = write.target {
                registers.files = register_bit(write.file, number);
            }
            let opposite = |(other, condition): &(Registers, Condition)| {
                *other == registers && condition.code() >= 2 && condition.code() ^ 1 == write.condition.code()
            };
            if write.condition == Condition::Always || self.partly.iter().any(opposite) {
                self.whole = self.whole.union(registers);
            } else {
                self.partly.push((registers, write.condition));
            }
        }
        self.whole.accumulators |= accesses.accumulators_replaced() & accumulators::R0_TO_R5;
        if facts.sets_flags() {
            self.partly.clear();
        }
    }
}

impl Registers {
    fn without(self, other: Self) -> Self {
        Self { files: self.files & !other.files, accumulators: self.accumulators & !other.accumulators }
    }
}
