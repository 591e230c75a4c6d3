//! Typed numbers for uniforms and attributes.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use shader_compiler::interface::{Field, Number};
use shader_interface::f16;

/// Numbers of one type: the values of a uniform, or of an attribute for all vertices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Values<'a> {
    /// `f32`: vectors one after the other, matrices in row-major order.
    Floats(&'a [f32]),
    /// `i32`.
    Ints(&'a [i32]),
    /// `u32`.
    Uints(&'a [u32]),
    /// `f16`, for attributes only.
    Halves(&'a [f16]),
}

impl Values<'_> {
    pub(super) const fn number(&self) -> Number {
        match self {
            Self::Floats(_) => Number::Float,
            Self::Ints(_) => Number::Int,
            Self::Uints(_) => Number::Uint,
            Self::Halves(_) => Number::Half,
        }
    }

    pub(super) const fn len(&self) -> usize {
        match self {
            Self::Floats(values) => values.len(),
            Self::Ints(values) => values.len(),
            Self::Uints(values) => values.len(),
            Self::Halves(values) => values.len(),
        }
    }

    /// The bits of each number.
    pub(super) fn bits(&self) -> Vec<u32> {
        match self {
            Self::Floats(values) => values.iter().map(|value| value.to_bits()).collect(),
            Self::Ints(values) => values.iter().map(|&value| value as u32).collect(),
            Self::Uints(values) => values.to_vec(),
            Self::Halves(values) => values.iter().map(|value| u32::from(value.to_bits())).collect(),
        }
    }

    pub(super) fn described(&self) -> String {
        described_as(self.len(), self.number())
    }
}

/// Description of values: their number and type.
pub(super) fn described_as(count: usize, number: Number) -> String {
    format!("{count} of {}", kind(number))
}

/// WGSL's name of a type.
pub(super) const fn kind(number: Number) -> &'static str {
    match number {
        Number::Float => "f32",
        Number::Int => "i32",
        Number::Uint => "u32",
        Number::Half => "f16",
    }
}

/// Description of a uniform: its number of elements, and their type.
pub(super) fn described(field: &Field) -> String {
    let Field { number, components, count, .. } = field;
    let kind = kind(*number);
    let one = match components {
        1 => format!("1 of {kind}"),
        components => format!("{components} of {kind}"),
    };
    match count {
        None => one,
        Some(count) => format!("{count} times {one}"),
    }
}

macro_rules! from {
    ($($number:ty as $kind:ident),*) => {$(
        impl<'a> From<&'a [$number]> for Values<'a> {
            fn from(values: &'a [$number]) -> Self {
                Self::$kind(values)
            }
        }

        impl<'a, const N: usize> From<&'a [$number; N]> for Values<'a> {
            fn from(values: &'a [$number; N]) -> Self {
                Self::$kind(values)
            }
        }

        impl<'a> From<&'a $number> for Values<'a> {
            fn from(value: &'a $number) -> Self {
                Self::$kind(core::slice::from_ref(value))
            }
        }

        impl<'a> From<&'a Vec<$number>> for Values<'a> {
            fn from(values: &'a Vec<$number>) -> Self {
                Self::$kind(values)
            }
        }
    )*};
}

from!(f32 as Floats, i32 as Ints, u32 as Uints, f16 as Halves);
