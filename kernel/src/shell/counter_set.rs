//! Sets of sources for the performance counters: there are 16 counters and 30 sources

use v3d::{
    hw::registers::performance::CounterSource::{self, *},
    performance::COUNTERS,
};

/// A selection of sources, at most as many as there are counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CounterSet {
    /// Counts of work: primitives, quads, instructions, texture lookups.
    #[default]
    Work,
    /// Time: clock cycles, stalls, cache accesses, and instructions, which alone tell the time of user programs. On silicon this costs nothing; the model has
    /// to estimate it and is several times slower.
    Cycles,
}

impl CounterSet {
    /// Its sources.
    #[must_use]
    pub const fn sources(self) -> &'static [CounterSource] {
        const WORK: &[CounterSource] = &[
            PtbPrimitivesOutside,
            PtbPrimitivesClipped,
            PsePrimitivesReversed,
            FepPrimitives,
            FepPrimitivesWithoutPixels,
            FepQuads,
            FepQuadsClipped,
            TlbQuadsStencilFailed,
            TlbQuadsFailed,
            TlbQuadsPassed,
            TlbQuadsNoCoverage,
            TlbQuadsCovered,
            TlbQuadsWritten,
            TmuQuads,
            QpuInstructionCycles,
        ];
        const CYCLES: &[CounterSource] = &[
            QpuIdleCycles,
            QpuVertexCycles,
            QpuFragmentCycles,
            QpuTmuStallCycles,
            QpuScoreboardStallCycles,
            QpuVaryingsStallCycles,
            VcdStallCycles,
            VdwStallCycles,
            InstructionCacheHits,
            InstructionCacheMisses,
            UniformsCacheHits,
            UniformsCacheMisses,
            TmuCacheMisses,
            L2CacheHits,
            L2CacheMisses,
            QpuInstructionCycles,
        ];
        const { assert!(WORK.len() <= COUNTERS && CYCLES.len() <= COUNTERS) };
        match self {
            Self::Work => WORK,
            Self::Cycles => CYCLES,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_sets_have_every_source() {
        let mut codes: Vec<u8> = [CounterSet::Work, CounterSet::Cycles]
            .iter()
            .flat_map(|set| set.sources())
            .map(|source| source.code())
            .collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes, (0..30).collect::<Vec<u8>>());
    }
}
