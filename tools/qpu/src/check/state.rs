//! The abstract state before an instruction, over all paths that lead to it.

use v3d_hw::qpu::accesses::accumulators;
use v3d_hw::qpu::{ReadSource, Signal, WriteTarget, address_sets};
use v3d_hw::vpm::ReadSetupWord;

use super::count::{Count, UNBOUNDED};
use super::facts::Facts;
use super::queue::Queue;
use crate::interface::Interface;

/// A set of the possible states of a unit.
pub(super) type States = u8;

/// Bits of [`State::mutex`] and [`State::scoreboard`].
pub(super) const FREE: States = 1;
pub(super) const HELD: States = 2;
/// A bit of [`State::mutex`]: unknown, as after a call.
pub(super) const UNKNOWN: States = 4;
/// Bits of [`State::switched`].
pub(super) const NOT_YET: States = 1;
pub(super) const NOT_LAST: States = 2;
pub(super) const LAST: States = 4;

/// The abstract state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    /// Registers that are written on some path: bits 0 to 31 file A, 32 to 63 file B.
    pub(super) registers: u64,
    /// Accumulators r0 to r5.
    pub(super) accumulators: u8,
    pub(super) flags: bool,
    /// Accumulators whose value was lost at a thread switch on some path, and that were not written since.
    pub(super) lost: u8,
    pub(super) lost_flags: bool,
    /// Number of instructions until a thread switch takes effect, plus one; 0 if none is pending.
    pub(super) switch_in: u8,
    /// Outstanding TMU requests; their size is the number of slots that they occupy in the request FIFO.
    pub(super) requests: [Queue; 2],
    /// Outstanding requests that were made before the last thread switch.
    pub(super) requests_before_switch: [Count; 2],
    /// Where the last parameter other than `s` was written, if it is the same place on all paths.
    pub(super) parameter_at: [Option<usize>; 2],
    /// Parameters written for the next request, `s` not among them.
    pub(super) coordinates: [Count; 2],
    /// Whether parameters other than s have been written for the next request: no (1), yes (2).
    pub(super) parameters: [States; 2],
    pub(super) uniforms: Count,
    pub(super) varyings: Count,
    pub(super) vpm_reads: Count,
    /// Blocks of VPM reads that are set up; their size is the number of vectors that remain to be read.
    pub(super) vpm_blocks: Queue,
    /// Number of vectors that are set up and not yet read.
    pub(super) vpm_vectors: Count,
    pub(super) mutex: States,
    /// The scoreboard: not yet unlocked (1) or unlocked (2).
    pub(super) scoreboard: States,
    pub(super) switched: States,
    /// A VPM read was set up on some path.
    pub(super) vpm_setup: bool,
    /// A VPM write was set up on some path.
    pub(super) vpm_write_setup: bool,
    /// The tile buffer was accessed on every path.
    pub(super) tile_accessed: bool,
    /// A TMU was used on some path.
    pub(super) tmu_used: bool,
}

impl State {
    /// At the start of a program: W and Z are in ra15 and rb15 of a fragment shader.
    pub(super) fn start() -> Self {
        Self {
            registers: 1 << 15 | 1 << (32 + 15),
            accumulators: 0,
            flags: false,
            lost: 0,
            lost_flags: false,
            switch_in: 0,
            requests: [Queue::EMPTY; 2],
            requests_before_switch: [Count::ZERO; 2],
            parameter_at: [None; 2],
            coordinates: [Count::ZERO; 2],
            parameters: [FREE; 2],
            uniforms: Count::ZERO,
            varyings: Count::ZERO,
            vpm_reads: Count::ZERO,
            vpm_blocks: Queue::EMPTY,
            vpm_vectors: Count::ZERO,
            mutex: FREE,
            scoreboard: FREE,
            switched: NOT_YET,
            vpm_setup: false,
            vpm_write_setup: false,
            tile_accessed: false,
            tmu_used: false,
        }
    }

    /// After a call nothing is known: every field has its most general value.
    pub(super) fn unknown() -> Self {
        Self {
            registers: u64::MAX,
            accumulators: u8::MAX,
            flags: true,
            lost: 0,
            lost_flags: false,
            switch_in: 0,
            requests: [Queue::ANY; 2],
            requests_before_switch: [Count::ANY; 2],
            parameter_at: [None; 2],
            coordinates: [Count::ANY; 2],
            parameters: [FREE | HELD; 2],
            uniforms: Count::ANY,
            varyings: Count::ANY,
            vpm_reads: Count::ANY,
            vpm_blocks: Queue::ANY,
            vpm_vectors: Count::ANY,
            mutex: FREE | HELD | UNKNOWN,
            scoreboard: FREE | HELD,
            switched: NOT_YET | NOT_LAST | LAST,
            vpm_setup: true,
            vpm_write_setup: true,
            tile_accessed: false,
            tmu_used: false,
        }
    }

    /// The join of two paths; `widen` makes counts in loops unbounded, so that the analysis reaches a fixed point.
    pub(super) fn join(&self, other: &Self, widen: bool) -> Self {
        let count = |a: Count, b: Count| a.join(b, widen);
        let accumulators = self.accumulators | other.accumulators;
        let flags = self.flags || other.flags;
        Self {
            registers: self.registers | other.registers,
            accumulators,
            flags,
            lost: (self.lost | other.lost) & !accumulators,
            lost_flags: (self.lost_flags || other.lost_flags) && !flags,
            switch_in: if self.switch_in == other.switch_in { self.switch_in } else { 0 },
            requests: [0, 1].map(|unit| self.requests[unit].join(other.requests[unit], widen)),
            requests_before_switch: [0, 1]
                .map(|unit| count(self.requests_before_switch[unit], other.requests_before_switch[unit])),
            parameter_at: [0, 1]
                .map(|unit| self.parameter_at[unit].filter(|_| self.parameter_at[unit] == other.parameter_at[unit])),
            coordinates: [0, 1].map(|unit| count(self.coordinates[unit], other.coordinates[unit])),
            parameters: [self.parameters[0] | other.parameters[0], self.parameters[1] | other.parameters[1]],
            uniforms: count(self.uniforms, other.uniforms),
            varyings: count(self.varyings, other.varyings),
            vpm_reads: count(self.vpm_reads, other.vpm_reads),
            vpm_blocks: self.vpm_blocks.join(other.vpm_blocks, widen),
            vpm_vectors: count(self.vpm_vectors, other.vpm_vectors),
            mutex: self.mutex | other.mutex,
            scoreboard: self.scoreboard | other.scoreboard,
            switched: self.switched | other.switched,
            vpm_setup: self.vpm_setup || other.vpm_setup,
            vpm_write_setup: self.vpm_write_setup || other.vpm_write_setup,
            tile_accessed: self.tile_accessed && other.tile_accessed,
            tmu_used: self.tmu_used || other.tmu_used,
        }
    }

    /// Whether the other thread continues after the next instruction.
    pub(super) fn switches_behind(&self) -> bool {
        self.switch_in == 2
    }

    /// The state after an instruction of a program with this interface.
    pub(super) fn after(&self, at: usize, facts: &Facts, interface: &Interface) -> Self {
        let mut state = self.before_switch(at, facts, interface);
        if state.switch_in > 0 {
            state.switch_in -= 1;
            // The signalling instruction and the two after it still belong to the current thread.
            if state.switch_in == 1 {
                state.switch_threads();
            }
        }
        state.lost &= !state.accumulators;
        state.lost_flags &= !state.flags;
        state
    }

    fn switch_threads(&mut self) {
        self.lost |= self.accumulators;
        self.lost_flags |= self.flags;
        self.accumulators = 0;
        self.flags = false;
        self.switch_in = 0;
        self.requests_before_switch =
            self.requests.map(|requests| Count { min: u16::from(requests.min()), max: requests.max() });
    }

    /// The state after an instruction, before the thread switch that may follow it.
    pub(super) fn before_switch(&self, at: usize, facts: &Facts, interface: &Interface) -> Self {
        let accesses = &facts.accesses;
        let mut state = *self;
        if accesses.reads_any(address_sets::UNITS_READ) {
            state.read_units(facts);
        }
        state.registers |= accesses.registers_written();
        if accesses.writes_any(address_sets::UNITS_WRITTEN) {
            state.write_units(at, facts, interface);
        }
        match facts.signal() {
            Signal::LoadTmu0 => state.load(0),
            Signal::LoadTmu1 => state.load(1),
            Signal::ScoreboardUnlock => state.scoreboard = HELD,
            Signal::ThreadSwitch => {
                // After `lthrsw`, no other switch may be pending.
                state.switched =
                    state.switched & LAST | if state.switched & (NOT_YET | NOT_LAST) == 0 { 0 } else { NOT_LAST };
                state.switch_in = 4;
            }
            Signal::LastThreadSwitch => {
                state.switched = LAST;
                state.switch_in = 4;
            }
            _ => {}
        }
        state.accumulators |= accesses.accumulators_written() & !accumulators::FLAGS;
        state.tile_accessed |= facts.locks_scoreboard();
        if facts.sets_flags() {
            state.flags = true;
        }
        state
    }

    /// Whether an instruction consumes a uniform on every path: it reads one, or writes a TMU parameter that is not a lone s.
    pub(super) fn takes_uniform(&self, facts: &Facts) -> bool {
        let lookup = |unit: u8| facts.starts_lookup(unit) && self.parameters[usize::from(unit)] == HELD;
        facts.accesses.takes_uniform() || lookup(0) || lookup(1)
    }

    /// Loads the oldest result of a TMU.
    fn load(&mut self, unit: usize) {
        self.requests[unit] = self.requests[unit].pop();
        self.requests_before_switch[unit] = self.requests_before_switch[unit].minus_one();
    }

    fn read_units(&mut self, facts: &Facts) {
        // If both files read a stream, they get the same element.
        if facts.reads(ReadSource::Uniform) {
            self.uniforms = self.uniforms.add(1, 1);
        }
        if facts.reads(ReadSource::Varying) {
            self.varyings = self.varyings.add(1, 1);
        }
        if facts.reads(ReadSource::VpmRead) {
            self.vpm_reads = self.vpm_reads.add(1, 1);
            self.vpm_blocks = self.vpm_blocks.shrink();
            self.vpm_vectors = self.vpm_vectors.minus_one();
        }
        if facts.reads(ReadSource::MutexAcquire) {
            self.mutex = HELD;
        }
    }

    fn write_units(&mut self, at: usize, facts: &Facts, interface: &Interface) {
        for write in facts.accesses.written() {
            match write.target {
                WriteTarget::UniformsAddress => self.uniforms = Count::ANY,
                WriteTarget::VpmVcdRdSetup => self.set_up_vpm_read(facts.immediate),
                WriteTarget::VpmVcdWrSetup => self.vpm_write_setup = true,
                WriteTarget::MutexRelease => self.mutex = FREE,
                WriteTarget::Tmu { unit, .. } => {
                    let unit = usize::from(unit);
                    self.tmu_used = true;
                    if write.target.starts_lookup() {
                        // A lone s is a direct lookup, which consumes no uniform.
                        let min = u16::from(self.parameters[unit] == HELD);
                        let max = u16::from(self.parameters[unit] != FREE);
                        self.uniforms = self.uniforms.add(min, max);
                        self.parameters[unit] = FREE;
                        self.requests[unit] = self.requests[unit].push(self.request_slots(unit));
                        if interface.has_two_results(unit) {
                            self.requests[unit] = self.requests[unit].push(1);
                        }
                        self.coordinates[unit] = Count::ZERO;
                    } else {
                        self.parameters[unit] = HELD;
                        self.parameter_at[unit] = Some(at);
                        self.coordinates[unit] = self.coordinates[unit].add(1, 1);
                        self.uniforms = self.uniforms.add(1, 1);
                    }
                }
                _ => {}
            }
        }
    }

    /// Number of slots of the request FIFO that the request takes which the next write of `s` starts [AG p.39].
    pub(super) fn request_slots(&self, unit: usize) -> u32 {
        u32::from(self.coordinates[unit].min.min(3)) + 1
    }

    /// A write to the register that sets up VPM reads and DMA loads.
    fn set_up_vpm_read(&mut self, word: Option<u32>) {
        match word.map(ReadSetupWord::decode) {
            // A third read set-up is ignored [AG p.56].
            Some(ReadSetupWord::Read(_)) if self.vpm_blocks.min() >= 2 => {}
            Some(ReadSetupWord::Read(setup)) => {
                let vectors = if setup.count == 0 { 16 } else { u16::from(setup.count) };
                self.vpm_setup = true;
                self.vpm_blocks = self.vpm_blocks.push(u32::from(vectors));
                self.vpm_vectors = self.vpm_vectors.add(vectors, vectors);
            }
            Some(_) => {}
            None => {
                self.vpm_setup = true;
                self.vpm_blocks = self.vpm_blocks.maybe_push();
                self.vpm_vectors = self.vpm_vectors.add(0, UNBOUNDED);
            }
        }
    }
}
