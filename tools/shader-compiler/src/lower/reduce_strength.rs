//! Strength reduction for constant operands: products and quotients become shifts, powers become products.

use v3d_hw::qpu::AddOp;

use super::Lowering;
use crate::ssa::Value;

/// Maximum exponent of a power that is computed by products: at most 8 of them, or 2 with fast math.
const MAX_EXPONENT: u32 = 32;
const MAX_FAST_EXPONENT: u32 = 4;

impl Lowering<'_> {
    /// The low 32 bits of a product of integers, if both are constants or one is a power of two.
    pub(super) fn multiplied_by_shift(&mut self, a: Value, b: Value) -> Option<Value> {
        let program = &mut self.program;
        let (x, y) = (program.constant(a), program.constant(b));
        let (factor, other) = match (x, y) {
            (Some(x), Some(y)) => return Some(program.bits(x.wrapping_mul(y))),
            (Some(0), _) | (_, Some(0)) => return Some(program.bits(0)),
            (Some(x), None) if x.is_power_of_two() => (x, b),
            (None, Some(y)) if y.is_power_of_two() => (y, a),
            _ => return None,
        };
        let by = program.bits(factor.trailing_zeros());
        Some(program.alu(AddOp::Shl, other, by))
    }

    /// The product with a constant that has two bits set, as the sum of two shifts.
    pub(super) fn multiplied_by_shifts(&mut self, number: Value, factor: u32) -> Option<Value> {
        let program = &mut self.program;
        if factor.count_ones() != 2 || program.constant(number).is_some() {
            return None;
        }
        let (low, high) = (program.bits(factor.trailing_zeros()), program.bits(31 - factor.leading_zeros()));
        let (low, high) = (program.alu(AddOp::Shl, number, low), program.alu(AddOp::Shl, number, high));
        Some(program.alu(AddOp::Add, low, high))
    }

    /// Quotient and remainder of integers, if both are constants, or the divisor is an unsigned power of two. For a division by 0 the quotient is the
    /// dividend and the remainder 0, as WGSL specifies.
    pub(super) fn divided_by_shift(&mut self, a: Value, b: Value, signed: bool) -> Option<(Value, Value)> {
        let program = &mut self.program;
        let divisor = program.constant(b)?;
        if let Some(x) = program.constant(a) {
            let (quotient, remainder) = match (signed, divisor) {
                (_, 0) => (x, 0),
                (true, y) => ((x as i32).wrapping_div(y as i32) as u32, (x as i32).wrapping_rem(y as i32) as u32),
                (false, y) => (x / y, x % y),
            };
            return Some((program.bits(quotient), program.bits(remainder)));
        }
        if signed || !divisor.is_power_of_two() {
            return None;
        }
        let (by, mask) = (program.bits(divisor.trailing_zeros()), program.bits(divisor - 1));
        Some((program.alu(AddOp::Shr, a, by), program.and(a, mask)))
    }

    /// A power whose exponent is a small integer or a half.
    pub(super) fn power_by_products(&mut self, a: Value, exponent: f32) -> Option<Value> {
        if exponent == 0.5 {
            return Some(self.root(a));
        }
        let mut left = exponent as u32;
        let most = if self.fast_math { MAX_FAST_EXPONENT } else { MAX_EXPONENT };
        if left as f32 != exponent || left == 0 || left > most {
            return None;
        }
        let (mut square, mut product) = (a, self.program.float(1.0));
        while left != 0 {
            if left & 1 == 1 {
                product = self.program.fmul(product, square);
            }
            left >>= 1;
            if left != 0 {
                square = self.program.fmul(square, square);
            }
        }
        Some(product)
    }
}
