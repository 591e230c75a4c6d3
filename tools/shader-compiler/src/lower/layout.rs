//! The layout of numbers in memory by WGSL's rules: scalars of 4 bytes, and half floats of 2.
//!
//! Half floats exist in memory only: they are converted to floats of 32 bits when they are read, and computations have that accuracy.

use alloc::vec::Vec;

use naga::{ArraySize, Scalar, ScalarKind, Span, TypeInner, VectorSize};

use super::Lowering;
use crate::diagnostic::{Result, refuse};
use crate::limit::Limit;

/// A number in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    /// Offset of its first byte.
    pub(super) offset: u32,
    /// It is a 16-bit float.
    pub(super) is_half: bool,
}

/// Whether a scalar is a 16-bit float.
pub(super) const fn is_half(scalar: Scalar) -> bool {
    matches!(scalar, Scalar { kind: ScalarKind::Float, width: 2 })
}

/// Bytes from a column of a matrix to the next.
const fn column_bytes(rows: VectorSize, scalar: Scalar) -> u32 {
    match rows {
        VectorSize::Bi => 2 * scalar.width as u32,
        VectorSize::Tri | VectorSize::Quad => 4 * scalar.width as u32,
    }
}

/// The number of elements of a type, if it is known, and their stride in bytes; `None` if it has no elements.
pub(super) fn elements(inner: &TypeInner) -> Option<(Option<u32>, u32)> {
    Some(match inner {
        TypeInner::Array { size: ArraySize::Constant(count), stride, .. } => (Some(count.get()), *stride),
        TypeInner::Array { size: ArraySize::Dynamic, stride, .. } => (None, *stride),
        TypeInner::Vector { size, scalar } => (Some(*size as u32), u32::from(scalar.width)),
        TypeInner::Matrix { columns, rows, scalar } => (Some(*columns as u32), column_bytes(*rows, *scalar)),
        _ => return None,
    })
}

impl Lowering<'_> {
    /// Appends the numbers of a type, with their offsets.
    pub(super) fn slots(&self, inner: &TypeInner, first: u32, slots: &mut Vec<Slot>, span: Span) -> Result<()> {
        let types = &self.module.types;
        let vector = |first: u32, count: u32, scalar: Scalar| {
            let width = u32::from(scalar.width);
            (0..count).map(move |at| Slot { offset: first + width * at, is_half: is_half(scalar) })
        };
        match inner {
            TypeInner::Scalar(scalar) | TypeInner::Vector { scalar, .. } | TypeInner::Matrix { scalar, .. }
                if scalar.kind == ScalarKind::Bool =>
            {
                return refuse(span, &Limit::BOOL_IN_MEMORY);
            }
            TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => slots.extend(vector(first, 1, *scalar)),
            TypeInner::Vector { size, scalar } => slots.extend(vector(first, *size as u32, *scalar)),
            TypeInner::Matrix { columns, rows, scalar } => {
                for column in 0..*columns as u32 {
                    slots.extend(vector(first + column * column_bytes(*rows, *scalar), *rows as u32, *scalar));
                }
            }
            TypeInner::Array { base, size: ArraySize::Constant(count), stride } => {
                for at in 0..count.get() {
                    self.slots(&types[*base].inner, first + at * stride, slots, span)?;
                }
            }
            TypeInner::Struct { members, .. } => {
                for member in members {
                    self.slots(&types[member.ty].inner, first + member.offset, slots, span)?;
                }
            }
            _ => return refuse(span, &Limit::TYPE_IN_MEMORY),
        }
        Ok(())
    }
}
