//! Addresses: the ARM's view and the GPU's view are two types.
//!
//! The VideoCore sees memory through four aliases of 1 GiB that differ in caching. What the ARM gives to the GPU is
//! named in the alias at 0xC000_0000, which bypasses the VideoCore's own cache; the ARM's caches are not seen by
//! the V3D at all [AG p.13].

use crate::layout::FieldType;
use core::fmt;
use core::ops::{Add, Sub};

/// A physical address as the ARM sees it, below 1 GiB on the Pi 3 family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArmPhys(pub u32);

/// An address as the GPU sees it on the VideoCore's bus, alias bits included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BusAddr(pub u32);

impl ArmPhys {
    /// The address by which the GPU reaches this memory, in the alias that no VideoCore cache holds.
    pub const fn to_bus(self) -> BusAddr {
        BusAddr(self.0 & BusAddr::OFFSET_MASK | BusAddr::UNCACHED)
    }
}

impl BusAddr {
    /// The alias that no VideoCore cache holds.
    pub const UNCACHED: u32 = 0xc000_0000;
    /// What is left of a bus address without its alias.
    pub const OFFSET_MASK: u32 = 0x3fff_ffff;

    /// The address by which the ARM reaches this memory.
    pub const fn to_arm(self) -> ArmPhys {
        ArmPhys(self.offset())
    }

    /// The address without its alias: the offset in the 1 GiB of memory.
    #[inline]
    pub const fn offset(self) -> u32 {
        self.0 & Self::OFFSET_MASK
    }

    /// Whether the address is a multiple of `alignment`, a power of two.
    pub const fn is_aligned(self, alignment: u32) -> bool {
        self.0 & (alignment - 1) == 0
    }
}

impl Add<u32> for BusAddr {
    type Output = Self;

    /// Wraps at 4 GiB, as the hardware's adders do.
    fn add(self, bytes: u32) -> Self {
        Self(self.0.wrapping_add(bytes))
    }
}

impl Sub for BusAddr {
    type Output = u32;

    /// The distance in bytes, modulo 4 GiB.
    fn sub(self, other: Self) -> u32 {
        self.0.wrapping_sub(other.0)
    }
}

impl Add<u32> for ArmPhys {
    type Output = Self;

    fn add(self, bytes: u32) -> Self {
        Self(self.0.wrapping_add(bytes))
    }
}

impl fmt::Display for ArmPhys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}", self.0)
    }
}

impl fmt::Display for BusAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}", self.0)
    }
}

impl FieldType for BusAddr {
    const IS_ADDRESS: bool = true;

    fn to_field(self) -> u64 {
        u64::from(self.0)
    }

    fn from_field(bits: u64, _width: u32) -> Self {
        Self(bits as u32)
    }

    fn describe(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// A bus address that a field stores in multiples of `N` bytes (a power of two); one that is not a multiple does not fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Aligned<const N: u32>(pub BusAddr);

impl<const N: u32> FieldType for Aligned<N> {
    const IS_ADDRESS: bool = true;

    fn to_field(self) -> u64 {
        u64::from(self.0.0) / u64::from(N)
    }

    fn from_field(bits: u64, _width: u32) -> Self {
        Self(BusAddr((bits as u32).wrapping_mul(N)))
    }

    fn named(self) -> i64 {
        i64::from(self.0.0)
    }

    fn describe(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl<const N: u32> From<BusAddr> for Aligned<N> {
    fn from(address: BusAddr) -> Self {
        Self(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arm_and_the_gpu_name_the_same_memory() {
        assert_eq!(ArmPhys(0x0012_3450).to_bus(), BusAddr(0xc012_3450));
        assert_eq!(BusAddr(0xc012_3450).to_arm(), ArmPhys(0x0012_3450));
        assert_eq!(BusAddr(0x4000_1000).offset(), 0x1000);
    }

    #[test]
    fn an_unaligned_address_does_not_fit() {
        assert!(Aligned::<16>(BusAddr(0xc000_0010)).fits(28));
        assert!(!Aligned::<16>(BusAddr(0xc000_0018)).fits(28));
        assert_eq!(Aligned::<16>::from_field(0x0c00_0001, 28), Aligned(BusAddr(0xc000_0010)));
    }
}
