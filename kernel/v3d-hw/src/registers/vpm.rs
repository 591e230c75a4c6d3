//! VPM allocation registers [AG p.92].

use crate::layout;

layout! {
    /// VPM memory reserved for user programs [AG p.92].
    ///
    /// Writable only while nothing has been shaded since reset.
    pub struct Vpmbase: 32 bits "V3D_VPMBASE" {
        /// Reserved memory in units of 256 bytes (4 rows of 16 words).
        4:0 vpmursv: u8,
    }
}

layout! {
    /// VPM allocator control [AG p.92].
    ///
    /// Never write 0: it raises VPAERGL in ERRSTAT [aros].
    pub struct Vpacntl: 32 bits "V3D_VPACNTL" {
        /// Enable the allocation time-outs.
        13:13 vpatoen: bool,
        /// Enable the allocation limits.
        12:12 vpalimen: bool,
        /// Binning time-out code.
        11:9 vpabato: u8,
        /// Rendering time-out code: `n < 5 ? 2n + 2 : 8n - 24` allocation cycles.
        8:6 vparato: u8,
        /// Binning limit code.
        5:3 vpabalim: u8,
        /// Rendering limit code: (n + 1) * 6 * 256 bytes.
        2:0 vparalim: u8,
    }
}
