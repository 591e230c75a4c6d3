//! Range analysis of floats.

use v3d_hw::qpu::{AddOp, MulOp};

use crate::ssa::{Given, Op, PackedComponent, Program, Value};

/// Recursion depth of the analysis.
const DEPTH: u32 = 6;
/// The largest half float.
const MOST_HALF: f64 = 65_504.0;
/// One more than the greatest signed integer.
const MOST_INTEGER: f64 = 2_147_483_648.0;

/// More than the width and height of any image: coordinates have 16 bits at most.
const MOST_PIXELS: f64 = 65_536.0;

/// Bounds of a value that is not NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Range {
    least: f64,
    most: f64,
}

impl Range {
    const ALL: Self = Self { least: f64::NEG_INFINITY, most: f64::INFINITY };
    const INTEGERS: Self = Self { least: -MOST_INTEGER, most: MOST_INTEGER };

    fn of(bounds: &[f64]) -> Self {
        if bounds.iter().any(|bound| bound.is_nan()) {
            return Self::ALL;
        }
        let least = bounds.iter().copied().fold(f64::INFINITY, f64::min);
        Self { least, most: bounds.iter().copied().fold(f64::NEG_INFINITY, f64::max) }
    }

    fn magnitude(self) -> f64 {
        self.least.abs().max(self.most.abs())
    }
}

impl Program {
    /// Whether a float's magnitude is known to be below a limit.
    pub(crate) fn is_within(&self, value: Value, limit: f32) -> bool {
        self.range(value, DEPTH).magnitude() < f64::from(limit)
    }

    fn range(&self, value: Value, depth: u32) -> Range {
        let Some(depth) = depth.checked_sub(1) else { return Range::ALL };
        let pair = |a, b| (self.range(a, depth), self.range(b, depth));
        match self.op(value) {
            Op::Const(bits) => Range::of(&[f64::from(f32::from_bits(bits))]),
            Op::Add(AddOp::Itof, a, _) => self.range_of_integer(a, depth),
            Op::Add(AddOp::Fadd, a, b) => {
                let (a, b) = pair(a, b);
                Range::of(&[a.least + b.least, a.most + b.most])
            }
            Op::Add(AddOp::Fsub, a, b) => {
                let (a, b) = pair(a, b);
                Range::of(&[a.least - b.most, a.most - b.least])
            }
            Op::Add(AddOp::Fmin, a, b) => {
                let (a, b) = pair(a, b);
                Range { least: a.least.min(b.least), most: a.most.min(b.most) }
            }
            Op::Add(AddOp::Fmax, a, b) => {
                let (a, b) = pair(a, b);
                Range { least: a.least.max(b.least), most: a.most.max(b.most) }
            }
            Op::Add(AddOp::Fminabs, a, b) => {
                let (a, b) = pair(a, b);
                Range { least: 0.0, most: a.magnitude().min(b.magnitude()) }
            }
            Op::Add(AddOp::Fmaxabs, a, b) => {
                let (a, b) = pair(a, b);
                Range { least: 0.0, most: a.magnitude().max(b.magnitude()) }
            }
            Op::Mul(MulOp::Fmul, a, b) => {
                let (a, b) = pair(a, b);
                Range::of(&[a.least * b.least, a.least * b.most, a.most * b.least, a.most * b.most])
            }
            Op::Unpack(PackedComponent::Byte(_), _) | Op::PointCoordinate(_) => Range { least: 0.0, most: 1.0 },
            Op::Unpack(PackedComponent::Half(_), _) => Range { least: -MOST_HALF, most: MOST_HALF },
            Op::Select(_, a, b) => {
                let (a, b) = pair(a, b);
                Range { least: a.least.min(b.least), most: a.most.max(b.most) }
            }
            _ => Range::ALL,
        }
    }

    /// The range of a signed integer, as a float.
    fn range_of_integer(&self, value: Value, depth: u32) -> Range {
        match self.op(value) {
            Op::Given(Given::PixelX | Given::PixelY) => Range { least: 0.0, most: MOST_PIXELS },
            Op::Add(AddOp::Ftoi, float, _) => {
                let Range { least, most } = self.range(float, depth);
                if least > -MOST_INTEGER && most < MOST_INTEGER {
                    Range { least: least.min(0.0), most: most.max(0.0) }
                } else {
                    Range::INTEGERS
                }
            }
            _ => Range::INTEGERS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ssa::Given;

    #[test]
    fn bounds_follow_from_computations() {
        let mut program = Program::default();
        let given = program.value(Op::Given(Given::Samples));
        let whole = program.alu(AddOp::Itof, given, given);
        let column = program.value(Op::Given(Given::PixelX));
        let column = program.alu(AddOp::Itof, column, column);
        let any = program.value(Op::Varying(0));
        let (low, high, half) = (program.float(-3.0), program.float(5.0), program.float(0.5));
        let above = program.alu(AddOp::Fmax, any, low);
        let clamped = program.alu(AddOp::Fmin, above, high);
        let product = program.fmul(clamped, low);
        let difference = program.fsub(half, clamped);
        let byte = program.value(Op::Unpack(PackedComponent::Byte(1), given));
        let near = program.alu(AddOp::Fminabs, any, high);
        let condition = program.compare(crate::ssa::Relation::FloatLess, any, half);
        let selected = program.select(condition, clamped, half);
        let sum = program.fadd(any, half);
        let halved = program.fmul(whole, half);
        let truncated = program.alu(AddOp::Ftoi, product, product);
        let truncated = program.alu(AddOp::Itof, truncated, truncated);
        for (value, least, most) in [
            (any, f64::NEG_INFINITY, f64::INFINITY),
            (above, -3.0, f64::INFINITY),
            (clamped, -3.0, 5.0),
            (product, -15.0, 9.0),
            (difference, -4.5, 3.5),
            (byte, 0.0, 1.0),
            (near, 0.0, 5.0),
            (selected, -3.0, 5.0),
            (sum, f64::NEG_INFINITY, f64::INFINITY),
            (whole, -2_147_483_648.0, 2_147_483_648.0),
            (halved, -1_073_741_824.0, 1_073_741_824.0),
            (column, 0.0, 65_536.0),
            (truncated, -15.0, 9.0),
        ] {
            assert_eq!(program.range(value, DEPTH), Range { least, most }, "{:?}", program.op(value));
        }
        assert!(program.is_within(clamped, 6.0) && !program.is_within(clamped, 5.0) && !program.is_within(any, 1e30));
    }
}
