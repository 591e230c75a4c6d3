//! VPM allocator: divides the VPM among batches of vertices.
//!
//! A batch needs rows for its attributes and for its shaded vertices. The allocator takes them from what VPMBASE does not reserve for user programs;
//! VPACNTL can limit the shares of binning and rendering. A request that can never be met is an error that ERRSTAT shows. In the model batches are
//! shaded one after the other, so a request that could be met later is met at once, and time-outs never happen.
//!
//! # Sources
//! [AG p.53], [AG p.63], [AG p.92-93], [AG p.100].

pub use crate::fault::vpm::AllocationError;

use v3d_hw::registers::Thread;
use v3d_hw::registers::vpm::Vpacntl;
use v3d_hw::vpm::ROW_WORDS;

/// Bytes in a unit of VPMBASE [AG p.92].
const RESERVATION_UNIT_BYTES: u32 = 256;
/// Bytes in a unit of the limits in VPACNTL [AG p.93].
const LIMIT_UNIT_BYTES: u32 = 6 * 256;

/// The set-up that limits allocations.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Allocator {
    /// Size of the VPM in KiB.
    pub kib: u8,
    /// VPMBASE.
    pub reserved_units: u8,
    /// VPACNTL.
    pub control: Vpacntl,
}

impl Allocator {
    /// Whether a batch of a thread can have `rows` rows.
    pub fn check(&self, thread: Thread, rows: u32) -> Result<(), AllocationError> {
        let needed = rows * ROW_WORDS * 4;
        let reserved = u32::from(self.reserved_units) * RESERVATION_UNIT_BYTES;
        let available = (u32::from(self.kib) * 1024).saturating_sub(reserved);
        if needed > available {
            return Err(AllocationError::TooBig { needed, available });
        }
        if !self.control.vpalimen {
            return Ok(());
        }
        let limit = |code: u8| (u32::from(code) + 1) * LIMIT_UNIT_BYTES;
        match thread {
            Thread::Binning if needed > limit(self.control.vpabalim) => {
                Err(AllocationError::BinningLimit { needed, limit: limit(self.control.vpabalim) })
            }
            Thread::Rendering if needed > limit(self.control.vparalim) => {
                Err(AllocationError::RenderingLimit { needed, limit: limit(self.control.vparalim) })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_met_within_what_is_left_and_allowed() {
        let mut allocator = Allocator { kib: 12, reserved_units: 16, control: Vpacntl::default() };
        assert_eq!(allocator.check(Thread::Binning, 128), Ok(()));
        let too_big = AllocationError::TooBig { needed: 129 * 64, available: 8192 };
        assert_eq!(allocator.check(Thread::Binning, 129), Err(too_big));
        allocator.control = Vpacntl { vpalimen: true, vpabalim: 0, vparalim: 1, ..Vpacntl::default() };
        assert_eq!(allocator.check(Thread::Binning, 24), Ok(()));
        let binning = AllocationError::BinningLimit { needed: 25 * 64, limit: 1536 };
        assert_eq!(allocator.check(Thread::Binning, 25), Err(binning));
        assert_eq!(allocator.check(Thread::Rendering, 48), Ok(()));
        let rendering = AllocationError::RenderingLimit { needed: 49 * 64, limit: 3072 };
        assert_eq!(allocator.check(Thread::Rendering, 49), Err(rendering));
    }
}
