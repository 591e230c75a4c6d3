//! Cache control registers [AG p.93-94].

use crate::layout;

layout! {
    /// L2 cache control [AG p.93].
    pub struct L2cactl: 32 bits "V3D_L2CACTL" {
        /// Write 1: clear the cache.
        2:2 l2cclr: bool,
        /// Write 1: disable the cache.
        1:1 l2cdis: bool,
        /// Reads whether the cache is enabled; write 1: enable it.
        0:0 l2cena: bool,
    }
}

layout! {
    /// Slices cache control; one bit per slice, write 1 to clear [AG p.93].
    pub struct Slcactl: 32 bits "V3D_SLCACTL" {
        /// TMU1 caches.
        27:24 t1ccs: u8,
        /// TMU0 caches.
        19:16 t0ccs: u8,
        /// Uniforms caches.
        11:8 uccs: u8,
        /// Instruction caches.
        3:0 iccs: u8,
    }
}
