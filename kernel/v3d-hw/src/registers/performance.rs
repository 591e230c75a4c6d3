//! Performance counter registers [AG p.97-99].

use crate::{codes, layout};

codes! {
    /// What a performance counter counts [AG p.97].
    pub enum CounterSource: 5 bits {
        /// FEP primitives that gave no pixels, all tiles.
        0 => FepPrimitivesWithoutPixels "FEP primitives that gave no pixels, all tiles",
        /// FEP primitives, all tiles.
        1 => FepPrimitives "FEP primitives, all tiles",
        /// FEP quads clipped by early Z, near or far plane.
        2 => FepQuadsClipped "FEP quads clipped by early Z, near or far plane",
        /// FEP quads.
        3 => FepQuads "FEP quads",
        /// TLB quads with no pixel passing the stencil test.
        4 => TlbQuadsStencilFailed "TLB quads with no pixel passing the stencil test",
        /// TLB quads with no pixel passing Z and stencil tests.
        5 => TlbQuadsFailed "TLB quads with no pixel passing Z and stencil tests",
        /// TLB quads with a pixel passing Z and stencil tests.
        6 => TlbQuadsPassed "TLB quads with a pixel passing Z and stencil tests",
        /// TLB quads with no coverage.
        7 => TlbQuadsNoCoverage "TLB quads with no coverage",
        /// TLB quads with coverage.
        8 => TlbQuadsCovered "TLB quads with coverage",
        /// TLB quads written to the colour buffer.
        9 => TlbQuadsWritten "TLB quads written to the colour buffer",
        /// PTB primitives outside the viewport.
        10 => PtbPrimitivesOutside "PTB primitives outside the viewport",
        /// PTB primitives that need clipping.
        11 => PtbPrimitivesClipped "PTB primitives that need clipping",
        /// PSE primitives discarded as reversed.
        12 => PsePrimitivesReversed "PSE primitives discarded as reversed",
        /// QPU idle clock cycles.
        13 => QpuIdleCycles "QPU idle clock cycles",
        /// QPU clock cycles of vertex and coordinate shading.
        14 => QpuVertexCycles "QPU clock cycles of vertex and coordinate shading",
        /// QPU clock cycles of fragment shading.
        15 => QpuFragmentCycles "QPU clock cycles of fragment shading",
        /// QPU clock cycles executing instructions.
        16 => QpuInstructionCycles "QPU clock cycles executing instructions",
        /// QPU clock cycles stalled by TMUs.
        17 => QpuTmuStallCycles "QPU clock cycles stalled by TMUs",
        /// QPU clock cycles stalled by the scoreboard.
        18 => QpuScoreboardStallCycles "QPU clock cycles stalled by the scoreboard",
        /// QPU clock cycles stalled by varyings.
        19 => QpuVaryingsStallCycles "QPU clock cycles stalled by varyings",
        /// QPU instruction cache hits.
        20 => InstructionCacheHits "QPU instruction cache hits",
        /// QPU instruction cache misses.
        21 => InstructionCacheMisses "QPU instruction cache misses",
        /// QPU uniforms cache hits.
        22 => UniformsCacheHits "QPU uniforms cache hits",
        /// QPU uniforms cache misses.
        23 => UniformsCacheMisses "QPU uniforms cache misses",
        /// TMU texture quads.
        24 => TmuQuads "TMU texture quads",
        /// TMU cache misses.
        25 => TmuCacheMisses "TMU cache misses",
        /// VPM clock cycles VDW is stalled.
        26 => VdwStallCycles "VPM clock cycles VDW is stalled",
        /// VPM clock cycles VCD is stalled.
        27 => VcdStallCycles "VPM clock cycles VCD is stalled",
        /// L2C hits.
        28 => L2CacheHits "L2C hits",
        /// L2C misses.
        29 => L2CacheMisses "L2C misses",
        _ => Reserved,
    }
}

layout! {
    /// Performance counter clear; write 1 to clear [AG p.98].
    pub struct Pctrc: 32 bits "V3D_PCTRC" {
        /// One bit per counter.
        15:0 ctclr: u16,
    }
}

layout! {
    /// Performance counter enables [AG p.99].
    ///
    /// The guide leaves bit 31 out; without it nothing counts [linux vc4_perfmon.c].
    pub struct Pctre: 32 bits "V3D_PCTRE" {
        /// Global enable.
        31:31 enable: bool,
        /// One bit per counter.
        15:0 cten: u16,
    }
}

layout! {
    /// Performance count [AG p.99].
    pub struct Pctrn: 32 bits "V3D_PCTRn" {
        /// The count.
        31:0 pctr: u32,
    }
}

layout! {
    /// Performance counter source [AG p.99].
    pub struct Pctrsn: 32 bits "V3D_PCTRSn" {
        /// What is counted.
        4:0 pctrs: CounterSource,
    }
}
