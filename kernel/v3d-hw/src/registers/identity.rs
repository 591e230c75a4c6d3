//! Identity and scratch registers [AG p.96-97].

use crate::layout;

layout! {
    /// V3D block identity; a powered V3D of the Pi reads 0x0244_3356 [AG p.96].
    pub struct Ident0: 32 bits "V3D_IDENT0" {
        /// Technology version: 2.
        31:24 tver: u8,
        /// Id string "V3D", `V` in the lowest byte.
        23:0 idstr: u32,
    }
}

layout! {
    /// V3D configuration A [AG p.97].
    pub struct Ident1: 32 bits "V3D_IDENT1" {
        /// VPM size in KiB, 0 means 16.
        31:28 vpmsz: u8,
        /// HDR support: 0 no, 1 yes.
        27:24 hdrt: u8,
        /// Number of semaphores.
        23:16 nsem: u8,
        /// Number of TMUs per slice.
        15:12 tups: u8,
        /// Number of QPUs per slice.
        11:8 qups: u8,
        /// Number of slices.
        7:4 nslc: u8,
        /// V3D revision.
        3:0 rev: u8,
    }
}

layout! {
    /// V3D configuration B [AG p.97].
    pub struct Ident2: 32 bits "V3D_IDENT2" {
        /// Tile buffer double-buffer mode: 0 not supported, 1 supported.
        11:8 tlbdb: u8,
        /// Tile buffer size: 0 quarter, 1 half, 2 full (32x32 multisampled pixels).
        7:4 tlbsz: u8,
        /// VRI memory size: 0 half, 1 full.
        3:0 vrisz: u8,
    }
}

layout! {
    /// Read and written for any purpose, no effect [AG p.96].
    pub struct Scratch: 32 bits "V3D_SCRATCH" {
        /// The value last written.
        31:0 scratch: u32,
    }
}
