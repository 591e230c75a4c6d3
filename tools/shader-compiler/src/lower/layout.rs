//! Where numbers stand in memory, by WGSL's rules: scalars of 4 bytes, and halves of 2.
//!
//! A half is only stored so: it is read into a float of 32 bits, and what is computed with it has that accuracy.

use alloc::vec::Vec;

use naga::{ArraySize, Scalar, ScalarKind, Span, TypeInner, VectorSize};

use super::Lowering;
use crate::diagnostic::{Result, refuse};
use crate::limit::Limit;

/// A number in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    /// Its first byte.
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

/// How many elements something has, if that is known, and the bytes from one to the next; `None` if it has no elements.
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
    /// Appends a type's numbers.
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
