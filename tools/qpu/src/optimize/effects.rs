//! What an instruction depends on and changes.

use v3d_hw::qpu::Signal;

use crate::check::facts::Facts;

/// Registers as bits: file A, file B (32 each), then r0 to r5 and the flags.
type Set = u128;

const fn file_a(address: u8) -> Set {
    1 << address
}

const fn file_b(address: u8) -> Set {
    1 << (32 + address)
}

const fn accumulator(number: u8) -> Set {
    1 << (64 + number)
}

const FLAGS: Set = 1 << 70;

/// Peripherals whose accesses keep their order, as bits.
const UNIFORMS: u8 = 1;
const VARYINGS: u8 = 2;
/// VPM, its DMA and the TMUs: all of them touch memory.
const MEMORY: u8 = 4;
const TILE: u8 = 8;
const SFU: u8 = 16;
/// Other QPUs and the host can see what was done before.
const EVERYTHING: u8 = 255;

/// What an instruction reads, writes and triggers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effects {
    reads: Set,
    writes: Set,
    peripherals: u8,
    facts: Facts,
}

impl Effects {
    pub(super) fn of(word: u64) -> Self {
        let facts = Facts::of(word);
        let (mut reads, mut writes, mut peripherals) = (0, 0, 0);
        let mut touch = |address: u8, write: bool| {
            peripherals |= match address {
                32 if !write => UNIFORMS,
                35 if !write => VARYINGS,
                36 => MEMORY,
                38 if write => EVERYTHING,
                40 if write => UNIFORMS,
                41 | 42 if write => TILE,
                42 => TILE,
                43..=47 => TILE,
                48..=50 => MEMORY,
                51 => EVERYTHING,
                52..=55 => SFU,
                // Texture lookups read their parameters from the uniforms.
                56.. => MEMORY | UNIFORMS,
                _ => 0,
            };
        };
        for (address, bit) in [(facts.read_a, file_a as fn(u8) -> Set), (facts.read_b, file_b)] {
            match address {
                Some(address @ 0..32) => reads |= bit(address),
                Some(address) => touch(address, false),
                None => {}
            }
        }
        for (write, bit) in [(facts.write_a, file_a as fn(u8) -> Set), (facts.write_b, file_b)] {
            let Some(write) = write else { continue };
            match write.address {
                address @ 0..32 => writes |= bit(address),
                address @ 32..=35 => writes |= accumulator(address - 32),
                37 => writes |= accumulator(5),
                address => touch(address, true),
            }
        }
        if facts.reads(35) {
            writes |= accumulator(5);
        }
        if facts.loads_r4() || facts.writes_sfu() {
            writes |= accumulator(4);
        }
        for number in 0..6 {
            if facts.accumulators_read & 1 << number != 0 {
                reads |= accumulator(number);
            }
        }
        if facts.reads_flags {
            reads |= FLAGS;
        }
        if facts.sets_flags {
            writes |= FLAGS;
        }
        peripherals |= match facts.sig {
            Signal::LoadTmu0 | Signal::LoadTmu1 => MEMORY,
            Signal::LoadCoverage
            | Signal::LoadColor
            | Signal::LoadColorEnd
            | Signal::LoadAlpha
            | Signal::ScoreboardWait
            | Signal::ScoreboardUnlock => TILE,
            Signal::Breakpoint => EVERYTHING,
            _ if facts.semaphore.is_some() => EVERYTHING,
            _ => 0,
        };
        Self { reads, writes, peripherals, facts }
    }

    /// Whether it does nothing at all.
    pub(super) fn is_nothing(&self) -> bool {
        let signal = !matches!(self.facts.sig, Signal::None | Signal::SmallImmediate | Signal::LoadImmediate);
        self.writes == 0 && self.peripherals == 0 && !signal
    }

    /// Instructions that must lie between `self` and a later one, at least: `None` if they can change places, 0 if they can be one.
    pub(super) fn distance_to(&self, later: &Self) -> Option<usize> {
        let mut distance = None;
        let mut at_least = |steps: usize| distance = distance.max(Some(steps));
        let produced = self.writes & later.reads;
        if produced != 0 {
            let files: Set = (1 << 64) - 1;
            at_least(1);
            if produced & files != 0 {
                // A rotated result arrives one instruction later than others [pyvc].
                at_least(if self.facts.rotation.is_some() { 3 } else { 2 });
            }
            let rotated = (0..4).any(|n| later.facts.rotated & 1 << n != 0 && produced & accumulator(n) != 0)
                || later.facts.rotation == Some(0) && produced & accumulator(5) != 0;
            if rotated {
                at_least(2);
            }
            if self.facts.writes_sfu() && produced & accumulator(4) != 0 {
                at_least(3);
            }
        }
        if self.writes & later.writes != 0 {
            at_least(1);
            if self.facts.writes_sfu() && later.writes & accumulator(4) != 0 {
                at_least(3);
            }
        }
        if self.reads & later.writes != 0 {
            at_least(0);
        }
        if self.peripherals & later.peripherals != 0 {
            at_least(1);
            let changes = |address: u8| self.facts.writes_to(address);
            if changes(40) && later.peripherals & UNIFORMS != 0
                || changes(36) && later.facts.writes_tmu()
                || changes(44) && later.facts.reads(42)
                || changes(49) && later.facts.reads(48)
            {
                at_least(3);
            }
        }
        // r4 must not be touched while the SFU computes, even if its old value is meant.
        if self.facts.writes_sfu() && (later.facts.reads_r4() || later.writes & accumulator(4) != 0) {
            at_least(3);
        }
        distance
    }

    /// Whether it waits for the scoreboard, as the first two instructions of a program must not.
    pub(super) fn waits_for_scoreboard(&self) -> bool {
        self.facts.sig == Signal::ScoreboardWait || self.facts.accesses_tlb()
    }
}

/// Whether an instruction from before a branch, end or switch can be executed after it, in a delay slot.
pub(super) fn may_follow(word: u64, control: u64) -> bool {
    let (moved, control) = (Effects::of(word), Effects::of(control));
    let clash = moved.writes & (control.reads | control.writes) | moved.reads & control.writes;
    clash == 0
        && moved.peripherals & control.peripherals == 0
        && moved.facts.branch.is_none()
        && !matches!(moved.facts.sig, Signal::ThreadSwitch | Signal::LastThreadSwitch)
}
