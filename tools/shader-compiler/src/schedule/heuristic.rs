//! The parameters of the list scheduler's heuristics.
//!
//! Several combinations are tried, and the shortest schedule is kept.

/// The priority of ready operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rank {
    /// The longest critical path to the block's end: minimises stalls.
    CriticalPath,
    /// Source order: needs fewer registers.
    Source,
    /// Depth-first order (Sethi-Ullman), operands right before their use: often needs the fewest registers.
    Pressure,
    /// Bottom-up order that minimises live values.
    Live,
}

/// A heuristic: one combination of parameters.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Heuristic {
    pub(super) rank: Rank,
    /// A value is put in an accumulator if its last use is expected within this number of cycles.
    pub(super) accumulator_cycles: usize,
    /// A value with more uses than this is put in a register file.
    pub(super) accumulator_uses: u32,
    /// The colour is assembled in an accumulator, so that it need not be copied to r0.
    pub(super) colors_in_accumulator: bool,
    /// Threads are switched as soon as a switch costs no instruction, rather than when nothing else can be issued.
    pub(super) switches_early: bool,
    /// Values are copied to a bank with free registers if theirs is full, or rematerialised: this costs instructions, and needs fewer registers.
    pub(super) evicts: bool,
    /// A read of uniforms is as critical as the reads that must follow it in the block's order of uniforms, if it has one.
    pub(super) urgent_uniforms: bool,
    /// If fewer registers than this are free, orders that save registers issue only their first operation and those that free a register.
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
            urgent_uniforms: false,
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

    const fn with_urgent_uniforms(self) -> Self {
        Self { urgent_uniforms: true, ..self }
    }

    const fn careful_below(self, registers: usize) -> Self {
        Self { careful_below: registers, ..self }
    }

    /// Whether two heuristics issue the same operations as long as they choose the same banks.
    pub(super) fn differs_in_banks_only(self, other: Self) -> bool {
        let Self { accumulator_cycles, accumulator_uses, .. } = other;
        Self { accumulator_cycles, accumulator_uses, ..self } == other
    }
}

/// For one thread. Long programs use the first four; all ten leave 0.12 % above the shortest of all.
/// [measured: 220 programs of the repository's sources, also with fast arithmetic; `accumulator_cycles` of 1, 2, 3, 4, 6, 8 and 16 with 2, 3 and any number of
/// uses, colours in files, and the source's order were compared.]
pub(super) const SINGLE: [Heuristic; 10] = [
    Heuristic::new(Rank::CriticalPath, 8, 3),
    Heuristic::new(Rank::CriticalPath, 4, ANY_USES).with_colors_in_files(),
    Heuristic::new(Rank::Source, 8, ANY_USES),
    Heuristic::new(Rank::CriticalPath, 8, ANY_USES),
    Heuristic::new(Rank::CriticalPath, 16, 2),
    Heuristic::new(Rank::CriticalPath, 16, ANY_USES),
    Heuristic::new(Rank::CriticalPath, 4, 2),
    Heuristic::new(Rank::CriticalPath, 3, 3),
    Heuristic::new(Rank::Source, 6, 3),
    Heuristic::new(Rank::Source, 16, ANY_USES).with_colors_in_files(),
];

/// For a vertex shader whose uniforms begin with those of the coordinate shader: of 96 programs, these leave 0.21 % [measured, as [`SINGLE`]].
pub(super) const SHARED: [Heuristic; 9] = [
    Heuristic::new(Rank::CriticalPath, 16, ANY_USES),
    Heuristic::new(Rank::CriticalPath, 16, ANY_USES).with_urgent_uniforms(),
    Heuristic::new(Rank::CriticalPath, 8, ANY_USES),
    Heuristic::new(Rank::CriticalPath, 4, ANY_USES).with_urgent_uniforms(),
    Heuristic::new(Rank::Source, 8, ANY_USES),
    Heuristic::new(Rank::CriticalPath, 16, 2).with_urgent_uniforms(),
    Heuristic::new(Rank::CriticalPath, 8, 2),
    Heuristic::new(Rank::Source, 2, 2),
    Heuristic::new(Rank::CriticalPath, 8, ANY_USES).with_urgent_uniforms(),
];

/// For two threads, each with half of the register files: of 42 programs, these leave 0.26 % [measured, as [`SINGLE`]].
pub(super) const DUAL: [Heuristic; 8] = [
    Heuristic::new(Rank::CriticalPath, 8, ANY_USES).switching_early(),
    Heuristic::new(Rank::Source, 8, ANY_USES).switching_early(),
    Heuristic::new(Rank::CriticalPath, 8, 3),
    Heuristic::new(Rank::CriticalPath, 8, ANY_USES),
    Heuristic::new(Rank::CriticalPath, 4, ANY_USES),
    Heuristic::new(Rank::CriticalPath, 16, ANY_USES),
    Heuristic::new(Rank::CriticalPath, 2, 3),
    Heuristic::new(Rank::CriticalPath, 3, 2).switching_early(),
];

/// For one thread, if all others need more registers than there are.
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

/// Programs with more operations than this are scheduled by the first [`FEW`] heuristics only: each schedule takes time in proportion to the length, and users
/// of a kernel that compiles on the chip wait for it.
/// [measured: one program of the repository's sources is longer for that, `sea.wgsl` with fast arithmetic, by one instruction; with 220, another would be,
/// `lit_textured.wgsl`, by six.]
pub(super) const LONG: usize = 250;
/// Number of heuristics for long programs.
pub(super) const FEW: usize = 4;

/// Default of [`Heuristic::careful_below`].
/// [measured: of the 360 random programs of the test `compute`, 17 need more registers than there are with 44, 38 with 12, 20 with 32 and 19 with 80.]
const CAREFUL_BELOW: usize = 44;

/// Maximum number of cycles between the load of a constant or uniform to a register and its first use: before that, it would only occupy the register.
pub(super) const OPERAND_LEAD_CYCLES: usize = 3;

/// If a block needs more instructions per operation than this, the scheduler is assumed to copy values back and forth for want of registers, and gives up.
pub(super) const MAX_INSTRUCTIONS_PER_OPERATION: usize = 16;

/// If no instruction can be issued for this number of cycles, there are too few registers; the longest latency is that of a lookup, 9.
pub(super) const MAX_IDLE_CYCLES: usize = 64;
