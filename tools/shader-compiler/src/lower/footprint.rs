//! The four texels around a position: gathers, and depth comparisons that are interpolated between them.
//!
//! The TMU looks up the texels one by one. In a cube map the four are those around the direction's position on the face of its largest component. Beyond an
//! edge of the face, the direction of the texel's position leads to a texel of the adjacent face; at a corner, where three faces meet, to one of two.
//! # Sources
//! [AG p.44] and OpenGL 2.0, table 3.21, for the faces of cube maps.

use naga::Span;
use v3d_hw::qpu::AddOp;

use super::Lowering;
use super::level_of_detail::Extent;
use super::lookup::{Detail, Image, Request};
use crate::diagnostic::{Result, fault};
use crate::ssa::{Relation, Value};

/// Column and row of the corners, counterclockwise from the lower left.
const CORNERS: [(usize, usize); 4] = [(0, 1), (1, 1), (1, 0), (0, 0)];

/// The four texels around a position, counterclockwise from the lower left, and the weights of the second column and row.
pub(super) struct Footprint {
    pub(super) texels: [Value; 4],
    shares: [Value; 2],
}

/// The cube map face that a direction points to.
struct Face {
    /// The largest component is x.
    is_x: Value,
    /// The largest component is y.
    is_y: Value,
    /// The sign of the largest component, 1 or -1.
    sign: Value,
    /// The position on the face, from -1 to 1.
    place: [Value; 2],
}

impl Lowering<'_> {
    /// The texels around a position in level 0.
    pub(super) fn footprint(
        &mut self,
        texture: Image,
        place: &[Value],
        offset: Option<[Value; 2]>,
        span: Span,
    ) -> Result<Footprint> {
        let zero = self.program.bits(0);
        let Extent { size, inverse, .. } = self.extent(texture, zero);
        let half = self.program.float(0.5);
        let face = match (texture.cube, place) {
            (false, _) => None,
            (true, [x, y, z]) => Some(self.face([*x, *y, *z])),
            _ => return fault(span, "a direction of another number of components"),
        };
        let (mut centres, mut shares) = ([[zero; 2]; 2], [zero; 2]);
        for axis in 0..2 {
            let along = match &face {
                // A face has coordinates from -1 to 1.
                Some(face) => {
                    let along = self.program.fmul(face.place[axis], half);
                    self.program.fadd(along, half)
                }
                None => place[axis],
            };
            let at = self.program.fmul(along, size[axis]);
            let mut at = self.program.fsub(at, half);
            if let Some(offset) = offset {
                at = self.program.fadd(at, offset[axis]);
            }
            let whole = self.floor(at);
            shares[axis] = self.program.fsub(at, whole);
            let centre = self.program.fadd(whole, half);
            let first = self.program.fmul(centre, inverse[axis]);
            centres[axis] = [first, self.program.fadd(first, inverse[axis])];
        }
        let mut texels = [zero; 4];
        for (texel, (column, row)) in texels.iter_mut().zip(CORNERS) {
            let centre = [centres[0][column], centres[1][row]];
            let place = match &face {
                Some(face) => self.direction(face, centre).to_vec(),
                None => centre.to_vec(),
            };
            let request = Request { texture, place: &place, detail: Detail::Exactly(zero), one_texel: true };
            *texel = self.look_up(request, span)?;
        }
        Ok(Footprint { texels, shares })
    }

    /// The face that a direction points to.
    fn face(&mut self, direction: [Value; 3]) -> Face {
        let [x, y, z] = self.on_cube(direction);
        let (zero, one, minus_one) = (self.program.bits(0), self.program.float(1.0), self.program.float(-1.0));
        let (along_x, along_y, along_z) = (self.magnitude(x), self.magnitude(y), self.magnitude(z));
        let others = self.program.alu(AddOp::Fmaxabs, y, z);
        let is_x = self.program.compare(Relation::FloatNotLess, along_x, others);
        let y_or_z = self.program.compare(Relation::FloatNotLess, along_y, along_z);
        let not_x = self.program.not(is_x);
        let is_y = self.program.and(not_x, y_or_z);
        let largest = self.program.select(y_or_z, y, z);
        let largest = self.program.select(is_x, x, largest);
        let is_negative = self.program.compare(Relation::FloatLess, largest, zero);
        let sign = self.program.select(is_negative, minus_one, one);
        // Horizontally: -z, x and x; vertically: -y, z and -y; some change with the sign of the largest component.
        let (signed_x, signed_z) = (self.program.fmul(x, sign), self.program.fmul(z, sign));
        let (against_z, against_y) = (self.program.fsub(zero, signed_z), self.program.fsub(zero, y));
        let across = self.program.select(is_y, x, signed_x);
        let across = self.program.select(is_x, against_z, across);
        let up = self.program.select(is_y, signed_z, against_y);
        Face { is_x, is_y, sign, place: [across, up] }
    }

    /// The direction of a position on a face, from 0 to 1 or beyond its edges.
    fn direction(&mut self, face: &Face, place: [Value; 2]) -> [Value; 3] {
        let (zero, one) = (self.program.bits(0), self.program.float(1.0));
        let [across, up] = place.map(|at| {
            let twice = self.program.fadd(at, at);
            self.program.fsub(twice, one)
        });
        let Face { is_x, is_y, sign, .. } = *face;
        let (signed_across, signed_up) = (self.program.fmul(across, sign), self.program.fmul(up, sign));
        let (against_across, against_up) = (self.program.fsub(zero, signed_across), self.program.fsub(zero, up));
        let x = self.program.select(is_y, across, signed_across);
        let x = self.program.select(is_x, sign, x);
        let y = self.program.select(is_y, sign, against_up);
        let z = self.program.select(is_y, signed_up, sign);
        let z = self.program.select(is_x, against_across, z);
        [x, y, z]
    }

    /// The result of a depth comparison, interpolated between the texels around a position.
    pub(super) fn comparing_sample(&mut self, footprint: &Footprint, reference: Value) -> Value {
        let [x, y] = footprint.shares;
        let [low_left, low_right, high_right, high_left] = footprint.texels.map(|word| self.compared(word, reference));
        let low = self.mixed(low_left, low_right, x);
        let high = self.mixed(high_left, high_right, x);
        self.mixed(high, low, y)
    }

    /// 1 where a reference depth is not greater than the depth in a texel, else 0.
    pub(super) fn compared(&mut self, word: Value, reference: Value) -> Value {
        let depth = self.depth_of(word);
        let (one, zero) = (self.program.float(1.0), self.program.bits(0));
        let passes = self.program.compare(Relation::FloatNotLess, depth, reference);
        self.program.select(passes, one, zero)
    }

    /// The depth in a texel: bits 31:8, all ones being 1.
    pub(super) fn depth_of(&mut self, word: Value) -> Value {
        let (by, scale) = (self.program.bits(8), self.program.float(1.0 / 16_777_215.0));
        let depth = self.program.alu(AddOp::Shr, word, by);
        let depth = self.float_of(depth);
        self.program.fmul(depth, scale)
    }
}
