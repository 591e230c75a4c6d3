//! Tile allocation memory: the source of the blocks of tile lists.
//!
//! The Tile Binning Mode Configuration gives the PTB its first pool, in which the first block of every tile has a fixed position. The rest is
//! allocated in order. When the pool is empty the PTB takes the overspill block that software has offered in BPOA and BPOS, once; without one it
//! halts until software offers one [AG p.88-89].

use v3d_hw::BusAddr;
use v3d_hw::primitive_list::BRANCH_UNIT_BYTES;

/// Alignment of allocations, in bytes: that of the targets of relative branches.
const ALIGNMENT: u32 = BRANCH_UNIT_BYTES as u32;

/// Memory that software offers for when the pool is empty: the registers BPOA and BPOS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overspill {
    /// BPOA.
    pub address: u32,
    /// BPOS, bytes; 0 once the PTB has taken it.
    pub bytes: u32,
}

/// The pool that blocks are taken from: BPCA and BPCS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pool {
    /// The next address to be allocated.
    pub current: u32,
    /// Bytes that remain.
    pub remaining: u32,
    /// Whether overspill memory has been taken since this was last cleared.
    pub spill_used: bool,
}

/// Neither the pool nor the overspill memory has any memory left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted;

impl Pool {
    /// The pool that begins at an address, and ends `bytes` bytes behind it.
    pub fn new(address: u32, bytes: u32) -> Self {
        let skipped = address.wrapping_neg() % ALIGNMENT;
        Self { current: address.wrapping_add(skipped), remaining: bytes.saturating_sub(skipped), spill_used: false }
    }

    /// Takes `bytes` bytes, a multiple of 32, from the pool or else from the overspill memory.
    pub fn take(&mut self, bytes: u32, overspill: &mut Overspill) -> Result<BusAddr, Exhausted> {
        if self.remaining < bytes {
            if overspill.bytes == 0 {
                return Err(Exhausted);
            }
            let taken = std::mem::take(&mut overspill.bytes);
            *self = Self { spill_used: true, ..Self::new(overspill.address, taken) };
            if self.remaining < bytes {
                return Err(Exhausted);
            }
        }
        let address = BusAddr(self.current);
        self.current = self.current.wrapping_add(bytes);
        self.remaining -= bytes;
        Ok(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overspill_memory_is_taken_once() {
        let mut pool = Pool::new(0x1004, 100);
        let mut overspill = Overspill { address: 0x8000, bytes: 64 };
        assert_eq!(pool.current, 0x1020);
        assert_eq!(pool.take(64, &mut overspill), Ok(BusAddr(0x1020)));
        assert!(!pool.spill_used);
        assert_eq!(pool.take(64, &mut overspill), Ok(BusAddr(0x8000)));
        assert!(pool.spill_used);
        assert_eq!(overspill.bytes, 0);
        assert_eq!(pool.take(32, &mut overspill), Err(Exhausted));
        overspill = Overspill { address: 0x9000, bytes: 16 };
        assert_eq!(pool.take(32, &mut overspill), Err(Exhausted));
    }
}
