//! Levels of detail that are computed by the program, and the sizes of mip levels.
//!
//! Each element has its own level of detail here. No source says whether the TMU supports more than one per quad, so programs should use the same level of
//! detail for the four elements of a quad.

use alloc::vec;
use alloc::vec::Vec;

use naga::DerivativeAxis;
use v3d_hw::qpu::AddOp;

use super::Lowering;
use super::lookup::{Detail, Image};
use crate::ssa::{Axis, Op, Relation, SizeForm, Special, StreamWord, Value};

/// A mip level with its size.
pub(super) struct Extent {
    /// Its number, clamped to the existing levels.
    pub(super) level: Value,
    /// Width and height as floats.
    pub(super) size: [Value; 2],
    /// The reciprocals of width and height.
    pub(super) inverse: [Value; 2],
}

impl Lowering<'_> {
    /// The number of levels.
    pub(super) fn levels(&mut self, texture: Image) -> Value {
        self.program.uniform(StreamWord::TextureLevels { texture: texture.number })
    }

    /// The level with this number, clamped to the existing levels.
    pub(super) fn level_within(&mut self, texture: Image, level: Value) -> Value {
        let (zero, one, levels) = (self.program.bits(0), self.program.bits(1), self.levels(texture));
        let last = self.program.alu(AddOp::Sub, levels, one);
        let level = self.program.alu(AddOp::Max, level, zero);
        self.program.alu(AddOp::Min, level, last)
    }

    /// The size of a level.
    pub(super) fn extent(&mut self, texture: Image, level: Value) -> Extent {
        let word = |lowering: &mut Self, axis, level, form| {
            lowering.program.uniform(StreamWord::TextureSize { texture: texture.number, axis, level, form })
        };
        let axes = [Axis::Width, Axis::Height];
        if let Some(number) = self.program.constant(level) {
            let number = number.min(u32::from(u8::MAX)) as u8;
            return Extent {
                level,
                size: axes.map(|axis| word(self, axis, number, SizeForm::Float)),
                inverse: axes.map(|axis| word(self, axis, number, SizeForm::Inverse)),
            };
        }
        let level = self.level_within(texture, level);
        let one = self.program.bits(1);
        let size = axes.map(|axis| {
            let whole = word(self, axis, 0, SizeForm::Integer);
            let smaller = self.program.alu(AddOp::Shr, whole, level);
            let smaller = self.program.alu(AddOp::Max, smaller, one);
            self.float_of(smaller)
        });
        Extent { level, size, inverse: size.map(|size| self.program.recip(size)) }
    }

    /// The level of detail for derivatives of the coordinates along x and y: by the greater one, in texels.
    pub(super) fn detail_of_gradients(&mut self, texture: Image, place: &[Value], x: &[Value], y: &[Value]) -> Value {
        let zero = self.program.bits(0);
        let [width, height] = self.extent(texture, zero).size;
        let (changes, sizes) = if let ([s, t, r], true) = (place, texture.cube) {
            let half = self.program.float(0.5);
            // A face has a width of 2, in directions divided by their largest component.
            let texels = self.program.fmul(width, half);
            (self.changes_on_face([*s, *t, *r], [x, y]), vec![texels; 3])
        } else {
            ([x.to_vec(), y.to_vec()], vec![width, height])
        };
        let squares = changes.map(|change| {
            let texels: Vec<Value> =
                change.iter().zip(&sizes).map(|(&change, &size)| self.program.fmul(change, size)).collect();
            self.dot(&texels, &texels)
        });
        // The logarithm of 0 is avoided.
        let least = self.program.float(1e-9);
        let greater = self.program.alu(AddOp::Fmax, squares[0], squares[1]);
        let greater = self.program.alu(AddOp::Fmax, greater, least);
        let logarithm = self.program.value(Op::Special(Special::Log, greater));
        let half = self.program.float(0.5);
        self.program.fmul(logarithm, half)
    }

    /// Derivatives of directions, converted to derivatives of the directions divided by their largest component.
    fn changes_on_face(&mut self, place: [Value; 3], changes: [&[Value]; 2]) -> [Vec<Value>; 2] {
        let largest = self.largest(&place);
        let inverse = self.program.recip(largest);
        let on_face = place.map(|value| self.program.fmul(value, inverse));
        changes.map(|change| {
            // The derivative of the largest component's magnitude.
            let (mut most, mut grows) = (place[0], self.program.fmul(on_face[0], change[0]));
            for axis in 1..3 {
                let (before, here) = (self.magnitude(most), self.magnitude(place[axis]));
                let larger = self.program.compare(Relation::FloatLess, before, here);
                let own = self.program.fmul(on_face[axis], change[axis]);
                most = self.program.select(larger, place[axis], most);
                grows = self.program.select(larger, own, grows);
            }
            (0..3)
                .map(|axis| {
                    let along = self.program.fmul(on_face[axis], grows);
                    let rest = self.program.fsub(change[axis], along);
                    self.program.fmul(rest, inverse)
                })
                .collect()
        })
    }

    /// A position with an offset in texels of the level that is nearest to the level of detail, and that level.
    pub(super) fn moved(
        &mut self,
        texture: Image,
        place: &[Value],
        offset: [Value; 2],
        detail: Detail,
    ) -> (Vec<Value>, Detail) {
        let by_quad = |lowering: &mut Self| {
            let x: Vec<Value> = place.iter().map(|&at| lowering.derivative(DerivativeAxis::X, at)).collect();
            let y: Vec<Value> = place.iter().map(|&at| lowering.derivative(DerivativeAxis::Y, at)).collect();
            lowering.detail_of_gradients(texture, place, &x, &y)
        };
        let detail = match detail {
            Detail::Automatic => by_quad(self),
            Detail::Biased(bias) => {
                let detail = by_quad(self);
                self.program.fadd(detail, bias)
            }
            Detail::Exactly(level) => level,
        };
        let (zero, half) = (self.program.bits(0), self.program.float(0.5));
        let nearest = self.program.alu(AddOp::Fmax, detail, zero);
        let nearest = self.program.fadd(nearest, half);
        let nearest = self.program.alu(AddOp::Ftoi, nearest, nearest);
        let Extent { level, inverse, .. } = self.extent(texture, nearest);
        let mut moved = Vec::new();
        for axis in 0..2 {
            let by = self.program.fmul(offset[axis], inverse[axis]);
            moved.push(self.program.fadd(place[axis], by));
        }
        (moved, Detail::Exactly(self.float_of(level)))
    }
}
