//! Vectors of 16 elements of 32 bits: the contents of a QPU register.

use v3d_hw::qpu::LANES;

/// A vector of 16 elements. Elements 4n to 4n + 3 are quad n.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(64))]
pub struct Lanes(pub [u32; LANES]);

/// A mask with one bit per element.
pub type Mask = u16;

/// All elements.
pub const ALL: Mask = 0xffff;

impl Lanes {
    /// The same value in all elements.
    #[inline]
    pub const fn splat(value: u32) -> Self {
        Self([value; LANES])
    }

    /// Element number `i` in element i.
    pub const ELEMENT_NUMBERS: Self = Self([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);

    /// A vector of floats, as their bits.
    #[inline]
    pub fn from_f32(values: [f32; LANES]) -> Self {
        Self(values.map(f32::to_bits))
    }

    /// The elements as floats.
    #[inline]
    pub fn to_f32(self) -> [f32; LANES] {
        self.0.map(f32::from_bits)
    }

    /// `f` of each element.
    #[inline(always)]
    pub fn map(mut self, f: impl Fn(u32) -> u32) -> Self {
        for element in &mut self.0 {
            *element = f(*element);
        }
        self
    }

    /// `f` of each pair of elements.
    #[inline(always)]
    pub fn zip(mut self, other: Self, f: impl Fn(u32, u32) -> u32) -> Self {
        for (element, other) in self.0.iter_mut().zip(other.0) {
            *element = f(*element, other);
        }
        self
    }

    /// `other` in the elements of `mask`, `self` in the rest.
    #[inline]
    pub fn select(self, other: Self, mask: Mask) -> Self {
        Self(std::array::from_fn(|i| if mask >> i & 1 == 1 { other.0[i] } else { self.0[i] }))
    }
}
