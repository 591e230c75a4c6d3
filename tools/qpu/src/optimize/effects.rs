//! Dependences and effects of an instruction.

use v3d_hw::qpu::access::Peripheral;
use v3d_hw::qpu::accesses::{Write, register_bit};
use v3d_hw::qpu::{Hazard, ReadSource, Signal, SmallImmediate, WriteTarget};

use crate::check::facts::Facts;

/// Registers as bits: file A, file B (32 each), then r0 to r5 and the flags.
pub(super) type Set = u128;

/// Bit of r0.
const ACCUMULATORS: u32 = 64;

const fn accumulator(number: u8) -> Set {
    1 << (ACCUMULATORS + number as u32)
}

/// Units whose accesses keep their order, as a bit set.
const UNIFORMS: u8 = 1;
const VARYINGS: u8 = 2;
/// VPM, its DMA and the TMUs, all of which access memory.
const MEMORY: u8 = 4;
const TILE: u8 = 8;
const SFU: u8 = 16;
/// A barrier: other QPUs or the host may observe the order.
const EVERYTHING: u8 = 255;

/// The units with which accesses to a peripheral keep their order.
const fn order(unit: Peripheral) -> u8 {
    match unit {
        Peripheral::Uniforms => UNIFORMS,
        Peripheral::Varyings => VARYINGS,
        Peripheral::Pixels | Peripheral::TileBuffer => TILE,
        Peripheral::Sfu => SFU,
        Peripheral::TmuSwap | Peripheral::Tmu(_) | Peripheral::Vpm | Peripheral::VpmDma => MEMORY,
        Peripheral::Mutex | Peripheral::Semaphores | Peripheral::Host => EVERYTHING,
    }
}

/// What an instruction reads, writes and triggers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effects {
    reads: Set,
    writes: Set,
    units: u8,
    facts: Facts,
}

impl Effects {
    pub(super) fn of(word: u64) -> Self {
        let facts = Facts::of(word);
        let accesses = &facts.accesses;
        let signal = facts.signal();
        let read = accesses.read().map(|read| read.source.row().peripheral);
        let written = accesses.written().map(|write| write.target.row().access.peripheral);
        let mut units = read.chain(written).chain([signal.row().peripheral]).flatten().map(order).fold(0, |a, b| a | b);
        if facts.writes_tmu() {
            // Texture lookups read their parameters from the uniforms.
            units |= UNIFORMS;
        }
        if signal == Signal::Breakpoint || accesses.semaphore.is_some() {
            units = EVERYTHING;
        }
        let accumulators = |bits: u8| Set::from(bits) << ACCUMULATORS;
        Self {
            reads: Set::from(accesses.registers_read()) | accumulators(accesses.accumulators_read()),
            writes: Set::from(accesses.registers_written()) | accumulators(accesses.accumulators_written()),
            units,
            facts,
        }
    }

    /// Registers and flags that it writes, perhaps.
    pub(super) const fn writes(&self) -> Set {
        self.writes
    }

    /// Whether it does nothing besides reading and writing registers and flags.
    pub(super) fn touches_registers_only(&self) -> bool {
        self.units == 0 && !self.signals()
    }

    /// Registers and flags whose values are needed before it (live), if those of `after` are needed after it.
    pub(super) fn needed_before(&self, after: Set) -> Set {
        let bit = |write: &Write| match write.target {
            WriteTarget::Register(number) if write.replaces() => Set::from(register_bit(write.file, number)),
            _ => 0,
        };
        let accesses = &self.facts.accesses;
        let replaced = accesses.written().fold(0, |bits, write| bits | bit(write));
        self.reads | after & !(replaced | Set::from(accesses.accumulators_replaced()) << ACCUMULATORS)
    }

    /// Whether it has no effect at all.
    pub(super) fn is_nothing(&self) -> bool {
        self.writes == 0 && self.touches_registers_only()
    }

    /// Whether its signal does something besides saying what the instruction's fields are.
    fn signals(&self) -> bool {
        !matches!(self.facts.signal(), Signal::None | Signal::SmallImmediate | Signal::LoadImmediate)
    }

    /// Minimum number of instructions from `self` to a later one; `None` if their order does not matter, 0 if they can be merged into one.
    pub(super) fn distance_to(&self, later: &Self) -> Option<usize> {
        let mut distance = None;
        let mut at_least = |steps: u32| distance = distance.max(Some(steps as usize));
        let produced = self.writes & later.reads;
        if produced != 0 {
            let files: Set = (1 << 64) - 1;
            at_least(1);
            if produced & files != 0 {
                // A rotated result arrives one instruction later than other results [pyvc].
                let rotates = self.facts.accesses.rotation.is_some();
                let hazard = if rotates { Hazard::ReadAfterRotatedWrite } else { Hazard::ReadAfterWrite };
                at_least(hazard.distance());
            }
            let rotated = (0..4).any(|n| later.facts.accesses.rotated & 1 << n != 0 && produced & accumulator(n) != 0);
            if rotated {
                at_least(Hazard::RotationAfterWrite.distance());
            }
            let by_r5 = later.facts.accesses.rotation == Some(SmallImmediate::RotateByR5);
            if by_r5 && produced & accumulator(5) != 0 {
                at_least(Hazard::RotationByR5AfterWrite.distance());
            }
            if self.facts.writes_sfu() && produced & accumulator(4) != 0 {
                at_least(Hazard::SfuResult.distance());
            }
        }
        if self.writes & later.writes != 0 {
            at_least(1);
            if self.facts.writes_sfu() && later.writes & accumulator(4) != 0 {
                at_least(Hazard::SfuBusy.distance());
            }
        }
        if self.reads & later.writes != 0 {
            at_least(0);
        }
        if self.units & later.units != 0 {
            at_least(1);
            let changes = |target| self.facts.writes_to(target);
            if changes(WriteTarget::UniformsAddress) && later.units & UNIFORMS != 0 {
                at_least(Hazard::UniformAfterAddress.distance());
            }
            if changes(WriteTarget::TmuNoSwap) && later.facts.writes_tmu() {
                at_least(Hazard::TmuAfterNoSwap.distance());
            }
            if changes(WriteTarget::TlbZ) && later.facts.reads(ReadSource::MsFlags) {
                at_least(Hazard::MsFlagsAfterTlbZ.distance());
            }
            if changes(WriteTarget::VpmVcdRdSetup) && later.facts.reads(ReadSource::VpmRead) {
                at_least(Hazard::VpmReadAfterSetup.distance());
            }
        }
        if self.facts.branch.is_some() && later.facts.branch.is_some() {
            at_least(Hazard::BranchAfterBranch.distance());
        }
        // r4 must not be accessed while the SFU computes, even to read its old value.
        if self.facts.writes_sfu() && (later.facts.reads_accumulator(4) || later.writes & accumulator(4) != 0) {
            at_least(Hazard::SfuResult.distance());
        }
        distance
    }

    /// Whether it waits for the scoreboard, which the first two instructions of a program must not do.
    pub(super) fn waits_for_scoreboard(&self) -> bool {
        self.facts.signal() == Signal::ScoreboardWait || self.facts.accesses.accesses_tile_buffer()
    }
}

/// Whether an instruction before a branch, end or switch can be executed after it, in a delay slot.
pub(super) fn may_follow(word: u64, control: u64) -> bool {
    let (moved, control) = (Effects::of(word), Effects::of(control));
    let clash = moved.writes & (control.reads | control.writes) | moved.reads & control.writes;
    clash == 0
        && moved.units & control.units == 0
        && moved.facts.branch.is_none()
        && !moved.facts.signal().switches_threads()
}
