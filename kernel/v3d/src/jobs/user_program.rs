//! User programs: QPU code outside of frames.
//!
//! A request consists of three registers: SRQUL, SRQUA and finally SRQPC, whose write puts it into a queue of 16. SRQCS counts requests and completed programs,
//! modulo 256.
//!
//! # Errata
//! - HW-2959: user programs and 3D at once are not safe; the driver waits for the end of one before it starts the other.
//! - User programs may use the VPM that VPMBASE reserves; this register must be written directly after a reset (HW-2791), so the driver always reserves it.
//!
//! # Sources
//! [AG p.90-91], [brcm], [asurati]

use v3d_hw::BusAddr;

/// Places in the request queue [AG p.90].
pub const QUEUE_DEPTH: usize = 16;

/// VPM that is reserved for user programs, in units of 256 bytes: 4 KiB, a window of 64 rows.
pub const VPM_RESERVATION: u8 = 16;

/// One program to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserProgram {
    /// The first instruction, 8-byte aligned.
    pub code: BusAddr,
    /// Its uniforms.
    pub uniforms: BusAddr,
    /// Number of uniforms; 0 if it reads none, 1024 or more for no limit.
    pub uniform_count: u16,
}
