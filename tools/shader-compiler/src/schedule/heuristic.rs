//! The heuristic decisions of the list scheduler.
//!
//! Several combinations are tried, and the shortest schedule is taken.

/// Which operation goes first of those that may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rank {
    /// The one with the longest critical path to the block's end: fewest stalls.
    CriticalPath,
    /// Source order, which needs fewer registers.
    Source,
    /// Depth-first order (Sethi-Ullman), operands right before their use: often needs the fewest registers.
    Pressure,
    /// Bottom-up order that minimizes live values.
    Live,
}

/// One combination.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Heuristic {
    pub(super) rank: Rank,
    /// A value goes to an accumulator if its last use comes within so many cycles.
    pub(super) accumulator_cycles: usize,
    /// A value with more uses than this goes to a register file.
    pub(super) accumulator_uses: u32,
    /// The colour is put together in an accumulator, so that it need not be copied to r0.
    pub(super) colors_in_accumulator: bool,
    /// Threads are switched as soon as that costs no instruction, instead of when nothing else can be issued.
    pub(super) switches_early: bool,
    /// Values are copied to a bank with free registers where another is full, or computed again: takes instructions, and needs fewer registers.
    pub(super) evicts: bool,
    /// With fewer free registers than this, an order that saves registers issues only its first operation and those that free a register.
    pub(super) careful_below: usize,
}

const ANY_USES: u32 = u32::MAX;

impl Heuristic {
    const fn new(rank: Rank, accumulator_cycles: usize, accumulator_uses: u32) -> Self {
        Self {
            rank,
            accumulator_cycles,
            accumulator_uses,
            colors_in_accumulator: true,
            switches_early: false,
            evicts: false,
            careful_below: CAREFUL_BELOW,
        }
    }

    const fn with_colors_in_files(self) -> Self {
        Self { colors_in_accumulator: false, ..self }
    }

    const fn switching_early(self) -> Self {
        Self { switches_early: true, ..self }
    }

    const fn evicting(self) -> Self {
        Self { evicts: true, ..self }
    }

    const fn careful_below(self, registers: usize) -> Self {
        Self { careful_below: registers, ..self }
    }

    /// Whether two heuristics issue the same operations as long as they choose the same banks.
    pub(super) fn differs_in_banks_only(self, other: Self) -> bool {
        let same = |one: Self| (one.rank, one.colors_in_accumulator, one.switches_early, one.evicts, one.careful_below);
        same(self) == same(other)
    }
}

/// For one thread.
pub(super) const SINGLE: [Heuristic; 11] = [
    Heuristic::new(Rank::CriticalPath, 8, ANY_USES),
    Heuristic::new(Rank::CriticalPath, 8, 2),
    Heuristic::new(Rank::CriticalPath, 8, 3),
    Heuristic::new(Rank::CriticalPath, 4, ANY_USES),
    Heuristic::new(Rank::CriticalPath, 4, 2),
    Heuristic::new(Rank::CriticalPath, 16, ANY_USES),
    Heuristic::new(Rank::CriticalPath, 16, 2),
    Heuristic::new(Rank::Source, 8, ANY_USES),
    Heuristic::new(Rank::CriticalPath, 8, ANY_USES).with_colors_in_files(),
    Heuristic::new(Rank::CriticalPath, 8, 2).with_colors_in_files(),
    Heuristic::new(Rank::CriticalPath, 4, ANY_USES).with_colors_in_files(),
];

/// For two threads, of which each has half of the register files.
pub(super) const DUAL: [Heuristic; 8] = [
    Heuristic::new(Rank::CriticalPath, 8, ANY_USES),
    Heuristic::new(Rank::CriticalPath, 8, ANY_USES).switching_early(),
    Heuristic::new(Rank::CriticalPath, 8, 3),
    Heuristic::new(Rank::CriticalPath, 4, ANY_USES),
    Heuristic::new(Rank::CriticalPath, 16, ANY_USES),
    Heuristic::new(Rank::Source, 8, ANY_USES).switching_early(),
    Heuristic::new(Rank::CriticalPath, 8, ANY_USES).with_colors_in_files(),
    Heuristic::new(Rank::CriticalPath, 8, ANY_USES).with_colors_in_files().switching_early(),
];

/// For one thread if all others need more registers than there are.
pub(super) const FRUGAL: [Heuristic; 12] = [
    Heuristic::new(Rank::Source, 8, ANY_USES).evicting(),
    Heuristic::new(Rank::Pressure, 8, ANY_USES).evicting(),
    Heuristic::new(Rank::Live, 8, ANY_USES).evicting(),
    Heuristic::new(Rank::Source, 4, 2).evicting(),
    Heuristic::new(Rank::Pressure, 4, 2).evicting(),
    Heuristic::new(Rank::Live, 4, 2).evicting(),
    Heuristic::new(Rank::Live, 8, ANY_USES).evicting().careful_below(80),
    Heuristic::new(Rank::Live, 8, ANY_USES).evicting().careful_below(20),
    Heuristic::new(Rank::Source, 8, ANY_USES).evicting().careful_below(80),
    Heuristic::new(Rank::Source, 8, ANY_USES).evicting().careful_below(20),
    Heuristic::new(Rank::CriticalPath, 8, ANY_USES).evicting(),
    Heuristic::new(Rank::CriticalPath, 4, 2).evicting(),
];

/// What [`Heuristic::careful_below`] is if nothing else is tried.
/// [measured: of the 360 random programs of the test `compute`, 17 need more registers than there are with 44, 38 with 12, 20 with 32 and 19 with 80.]
const CAREFUL_BELOW: usize = 44;

/// A constant or uniform is brought to a register so many cycles before its first use at most: it would only take a register before.
pub(super) const OPERAND_LEAD_CYCLES: usize = 3;

/// Instructions per operation after which a block is taken to have too few registers: values only change places.
pub(super) const MAX_INSTRUCTIONS_PER_OPERATION: usize = 16;

/// Cycles without an instruction after which a block is taken to have too few registers; the longest latency is that of a lookup, 9.
pub(super) const MAX_IDLE_CYCLES: usize = 64;
