//! What is known when an instruction is reached, over all paths that lead to it.

use v3d_hw::qpu::accesses::accumulators;
use v3d_hw::qpu::{File, ReadSource, Signal, WriteTarget};
use v3d_hw::vpm::ReadSetupWord;

use super::count::{Count, MANY};
use super::facts::Facts;
use super::queue::Queue;
use crate::interface::Interface;

/// A set of the states that something can be in.
pub(super) type States = u8;

/// Bits of [`State::mutex`] and [`State::scoreboard`].
pub(super) const FREE: States = 1;
pub(super) const HELD: States = 2;
/// A bit of [`State::mutex`]: whoever called may have taken it or not.
pub(super) const UNKNOWN: States = 4;
/// Bits of [`State::switched`].
pub(super) const NOT_YET: States = 1;
pub(super) const NOT_LAST: States = 2;
pub(super) const LAST: States = 4;

/// What is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    /// Registers of file A that are written on some path.
    pub(super) file_a: u32,
    /// Registers of file B.
    pub(super) file_b: u32,
    /// Accumulators r0 to r5.
    pub(super) accumulators: u8,
    pub(super) flags: bool,
    /// Accumulators that were lost over a thread switch on some path, and not written since.
    pub(super) lost: u8,
    pub(super) lost_flags: bool,
    /// Instructions until a thread switch takes effect, plus one; 0 for none.
    pub(super) switch_in: u8,
    /// TMU requests under way; their size is the slots that they take in the request FIFO.
    pub(super) requests: [Queue; 2],
    /// Parameters written for the next request, `s` not among them.
    pub(super) coordinates: [Count; 2],
    /// Whether parameters other than s were written for the next request: no (1), yes (2).
    pub(super) parameters: [States; 2],
    pub(super) uniforms: Count,
    pub(super) varyings: Count,
    pub(super) vpm_reads: Count,
    /// Blocks of VPM reads that are set up; their size is the vectors still to be read.
    pub(super) vpm_blocks: Queue,
    /// Vectors set up and not yet read.
    pub(super) vpm_vectors: Count,
    pub(super) mutex: States,
    /// Scoreboard: before (1) or after (2) its unlocking.
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
            file_a: 1 << 15,
            file_b: 1 << 15,
            accumulators: 0,
            flags: false,
            lost: 0,
            lost_flags: false,
            switch_in: 0,
            requests: [Queue::EMPTY; 2],
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

    /// After a call: nothing is known, so everything may be.
    pub(super) fn unknown() -> Self {
        Self {
            file_a: u32::MAX,
            file_b: u32::MAX,
            accumulators: u8::MAX,
            flags: true,
            lost: 0,
            lost_flags: false,
            switch_in: 0,
            requests: [Queue::ANY; 2],
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

    /// What is known where two paths meet; `widen` ends counting in loops.
    pub(super) fn join(&self, other: &Self, widen: bool) -> Self {
        let count = |a: Count, b: Count| a.join(b, widen);
        let accumulators = self.accumulators | other.accumulators;
        let flags = self.flags || other.flags;
        Self {
            file_a: self.file_a | other.file_a,
            file_b: self.file_b | other.file_b,
            accumulators,
            flags,
            lost: (self.lost | other.lost) & !accumulators,
            lost_flags: (self.lost_flags || other.lost_flags) && !flags,
            switch_in: if self.switch_in == other.switch_in { self.switch_in } else { 0 },
            requests: [0, 1].map(|unit| self.requests[unit].join(other.requests[unit], widen)),
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

    /// After an instruction of a program with this interface.
    pub(super) fn after(&self, facts: &Facts, interface: &Interface) -> Self {
        let mut state = *self;
        // Both files give the same element of a stream if both read it.
        let reads = |source: ReadSource| u16::from(facts.reads(source));
        let uniform = reads(ReadSource::Uniform);
        state.uniforms = state.uniforms.add(uniform, uniform);
        let varying = reads(ReadSource::Varying);
        state.varyings = state.varyings.add(varying, varying);
        let vector = reads(ReadSource::VpmRead);
        state.vpm_reads = state.vpm_reads.add(vector, vector);
        if vector > 0 {
            state.vpm_blocks = state.vpm_blocks.shrink();
            state.vpm_vectors = state.vpm_vectors.minus_one();
        }
        if facts.reads(ReadSource::MutexAcquire) {
            state.mutex = HELD;
        }
        for write in facts.accesses.written() {
            match write.target {
                WriteTarget::Register(number) => match write.file {
                    File::A => state.file_a |= 1 << number,
                    File::B => state.file_b |= 1 << number,
                },
                WriteTarget::UniformsAddress => state.uniforms = Count::ANY,
                WriteTarget::VpmVcdRdSetup => state.set_up_vpm_read(facts.immediate),
                WriteTarget::VpmVcdWrSetup => state.vpm_write_setup = true,
                WriteTarget::MutexRelease => state.mutex = FREE,
                WriteTarget::Tmu { unit, .. } => {
                    let unit = usize::from(unit);
                    state.tmu_used = true;
                    if write.target.starts_lookup() {
                        // s alone is a direct lookup, which reads no uniform.
                        let least = u16::from(state.parameters[unit] == HELD);
                        let most = u16::from(state.parameters[unit] != FREE);
                        state.uniforms = state.uniforms.add(least, most);
                        state.parameters[unit] = FREE;
                        state.requests[unit] = state.requests[unit].push(state.request_slots(unit));
                        if interface.has_two_results(unit) {
                            state.requests[unit] = state.requests[unit].push(1);
                        }
                        state.coordinates[unit] = Count::ZERO;
                    } else {
                        state.parameters[unit] = HELD;
                        state.coordinates[unit] = state.coordinates[unit].add(1, 1);
                        state.uniforms = state.uniforms.add(1, 1);
                    }
                }
                _ => {}
            }
        }
        match facts.signal() {
            Signal::LoadTmu0 => state.requests[0] = state.requests[0].pop(),
            Signal::LoadTmu1 => state.requests[1] = state.requests[1].pop(),
            Signal::ScoreboardUnlock => state.scoreboard = HELD,
            Signal::ThreadSwitch => {
                // None is the last any more after the last.
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
        state.accumulators |= facts.accesses.accumulators_written() & !accumulators::FLAGS;
        state.tile_accessed |= facts.locks_scoreboard();
        if facts.sets_flags() {
            state.flags = true;
        }
        if state.switch_in > 0 {
            state.switch_in -= 1;
            // The signalling instruction and two more belong to the old thread.
            if state.switch_in == 1 {
                state.lost |= state.accumulators;
                state.lost_flags |= state.flags;
                state.accumulators = 0;
                state.flags = false;
                state.switch_in = 0;
            }
        }
        state.lost &= !state.accumulators;
        state.lost_flags &= !state.flags;
        state
    }

    /// Slots of the request FIFO that the request takes whose `s` comes next [AG p.39].
    pub(super) fn request_slots(&self, unit: usize) -> u32 {
        u32::from(self.coordinates[unit].least.min(3)) + 1
    }

    /// A word is written to the register that sets up VPM reads and DMA loads.
    fn set_up_vpm_read(&mut self, word: Option<u32>) {
        match word.map(ReadSetupWord::decode) {
            // A third one is ignored [AG p.56].
            Some(ReadSetupWord::Read(_)) if self.vpm_blocks.least() >= 2 => {}
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
                self.vpm_vectors = self.vpm_vectors.add(0, MANY);
            }
        }
    }
}
