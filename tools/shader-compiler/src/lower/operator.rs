//! Operators and conversions.

use alloc::vec;
use alloc::vec::Vec;

use naga::{
    BinaryOperator, DerivativeAxis, Expression, Handle, RelationalFunction, ScalarKind, Span, TypeInner, UnaryOperator,
};
use v3d_hw::qpu::{AddOp, MulOp};

use super::{Frame, Lowered, Lowering, State};
use crate::diagnostic::{Result, fault};
use crate::ssa::{Given, Op, Relation, Value};

impl<'m> Lowering<'m> {
    pub(super) fn unary(&mut self, op: UnaryOperator, kind: ScalarKind, a: Value) -> Value {
        let zero = self.program.bits(0);
        match (op, kind) {
            (UnaryOperator::Negate, ScalarKind::Float) => self.program.freely(|program| program.fsub(zero, a)),
            (UnaryOperator::Negate, _) => self.program.alu(AddOp::Sub, zero, a),
            (UnaryOperator::LogicalNot | UnaryOperator::BitwiseNot, _) => self.program.not(a),
        }
    }

    pub(super) fn binary_expression(
        &mut self,
        frame: &mut Frame<'m>,
        op: BinaryOperator,
        left: Handle<Expression>,
        right: Handle<Expression>,
        state: &mut State,
        span: Span,
    ) -> Result<Lowered> {
        let kind = self.kind_of(frame, left);
        let (a, b) = (self.scalars_at(frame, left, state)?, self.scalars_at(frame, right, state)?);
        if op == BinaryOperator::Multiply {
            let shape = |inner: &TypeInner| match inner {
                TypeInner::Matrix { columns, rows, .. } => Some((*columns as usize, *rows as usize)),
                _ => None,
            };
            let shapes = (shape(self.type_of(frame, left)), shape(self.type_of(frame, right)));
            match shapes {
                (Some((columns, rows)), Some((right_columns, _))) => {
                    let mut product = Vec::new();
                    for column in 0..right_columns {
                        product.extend(self.transformed(&a, rows, &b[column * columns..(column + 1) * columns]));
                    }
                    return Ok(Lowered::Scalars(product));
                }
                (Some((_, rows)), None) if b.len() > 1 => return Ok(Lowered::Scalars(self.transformed(&a, rows, &b))),
                (None, Some((columns, rows))) if a.len() > 1 => {
                    let rows_of = (0..columns).map(|column| self.dot(&a, &b[column * rows..(column + 1) * rows]));
                    return Ok(Lowered::Scalars(rows_of.collect()));
                }
                _ => {}
            }
        }
        let length = a.len().max(b.len());
        if a.is_empty() || b.is_empty() {
            return fault(span, "an operation without an operand");
        }
        let mut results = Vec::new();
        for at in 0..length {
            // A scalar operand is broadcast to all components of a vector.
            let (a, b) = (a[at % a.len()], b[at % b.len()]);
            results.push(self.binary(op, kind, a, b));
        }
        Ok(Lowered::Scalars(results))
    }

    /// The product of a matrix in column-major order and a vector.
    fn transformed(&mut self, matrix: &[Value], rows: usize, vector: &[Value]) -> Vec<Value> {
        (0..rows)
            .map(|row| {
                let parts: Vec<Value> = (0..vector.len()).map(|column| matrix[column * rows + row]).collect();
                self.dot(vector, &parts)
            })
            .collect()
    }

    pub(super) fn dot(&mut self, a: &[Value], b: &[Value]) -> Value {
        let mut sum = self.program.bits(0);
        for (&a, &b) in a.iter().zip(b) {
            sum = self.program.freely(|program| {
                let product = program.fmul(a, b);
                program.fadd(sum, product)
            });
        }
        sum
    }

    pub(super) fn binary(&mut self, op: BinaryOperator, kind: ScalarKind, a: Value, b: Value) -> Value {
        use BinaryOperator as Operator;
        let program = &mut self.program;
        let (float, signed) = (kind == ScalarKind::Float, kind == ScalarKind::Sint);
        let less = match kind {
            ScalarKind::Float => Relation::FloatLess,
            ScalarKind::Sint => Relation::SignedLess,
            _ => Relation::UnsignedLess,
        };
        let equal = if float { Relation::FloatEqual } else { Relation::Equal };
        match op {
            Operator::Add if float => program.freely(|program| program.fadd(a, b)),
            Operator::Add => program.alu(AddOp::Add, a, b),
            Operator::Subtract if float => match self.remainder_of_whole(a, b) {
                Some(remainder) => remainder,
                None => self.program.freely(|program| program.fsub(a, b)),
            },
            Operator::Subtract => program.alu(AddOp::Sub, a, b),
            Operator::Multiply if float => program.freely(|program| program.fmul(a, b)),
            Operator::Multiply => self.multiplied(a, b),
            Operator::Divide if float && !self.fast_math => program.quotient(a, b),
            Operator::Divide if float => {
                let inverse = program.recip(b);
                program.fmul(a, inverse)
            }
            Operator::Divide => self.divided(a, b, signed).0,
            Operator::Modulo if float => {
                let quotient = self.binary(Operator::Divide, kind, a, b);
                let whole = self.whole_part(quotient);
                let product = self.program.fmul(whole, b);
                self.program.fsub(a, product)
            }
            Operator::Modulo => self.divided(a, b, signed).1,
            Operator::Equal => program.compare(equal, a, b),
            Operator::NotEqual => program.compare(equal.inverse(), a, b),
            Operator::Less => program.compare(less, a, b),
            Operator::GreaterEqual => program.compare(less.inverse(), a, b),
            Operator::Greater => program.compare(less, b, a),
            Operator::LessEqual => program.compare(less.inverse(), b, a),
            Operator::And | Operator::LogicalAnd => program.and(a, b),
            Operator::InclusiveOr | Operator::LogicalOr => program.or(a, b),
            Operator::ExclusiveOr => program.alu(AddOp::Xor, a, b),
            Operator::ShiftLeft => program.alu(AddOp::Shl, a, b),
            Operator::ShiftRight => program.alu(if signed { AddOp::Asr } else { AddOp::Shr }, a, b),
        }
    }

    /// The low 32 bits of a product, from 24-bit products.
    pub(super) fn multiplied(&mut self, a: Value, b: Value) -> Value {
        if let Some(product) = self.multiplied_by_shift(a, b) {
            return product;
        }
        let program = &mut self.program;
        let by = program.bits(24);
        let (high_a, high_b) = (program.alu(AddOp::Shr, a, by), program.alu(AddOp::Shr, b, by));
        let low = program.value(Op::Mul(MulOp::Mul24, a, b));
        let (one, other) =
            (program.value(Op::Mul(MulOp::Mul24, high_a, b)), program.value(Op::Mul(MulOp::Mul24, a, high_b)));
        let middle = program.alu(AddOp::Add, one, other);
        let high = program.alu(AddOp::Shl, middle, by);
        program.alu(AddOp::Add, low, high)
    }

    /// Converts a signed integer to a float.
    pub(super) fn float_of(&mut self, a: Value) -> Value {
        self.program.alu(AddOp::Itof, a, a)
    }

    /// Converts an unsigned integer to the nearest float, or close to it.
    pub(super) fn float_of_unsigned(&mut self, a: Value) -> Value {
        let program = &mut self.program;
        // The conversion expects signed integers: large ones are halved before.
        let (zero, one, two) = (program.bits(0), program.bits(1), program.float(2.0));
        let plain = program.alu(AddOp::Itof, a, a);
        if program.is_below_sign(a) {
            return plain;
        }
        let half = program.alu(AddOp::Shr, a, one);
        let half = program.alu(AddOp::Itof, half, half);
        let large = program.fmul(half, two);
        let is_large = program.compare(Relation::SignedLess, a, zero);
        program.select(is_large, large, plain)
    }

    /// Converts a float that is not negative to an unsigned integer; its fraction is dropped.
    pub(super) fn unsigned_of_float(&mut self, a: Value) -> Value {
        let program = &mut self.program;
        let (limit, sign) = (program.float(2_147_483_648.0), program.bits(0x8000_0000));
        let is_large = program.compare(Relation::FloatNotLess, a, limit);
        let less = program.fsub(a, limit);
        let low = program.alu(AddOp::Ftoi, a, a);
        let high = program.alu(AddOp::Ftoi, less, less);
        let high = program.alu(AddOp::Xor, high, sign);
        program.select(is_large, high, low)
    }

    /// Quotient and remainder of integers. For a division by 0 the quotient is the dividend and the remainder 0, as WGSL specifies.
    pub(super) fn divided(&mut self, a: Value, b: Value, signed: bool) -> (Value, Value) {
        if let Some(results) = self.divided_by_shift(a, b, signed) {
            return results;
        }
        let zero = self.program.bits(0);
        let by = self.program.bits(31);
        let (mut x, mut y) = (a, b);
        if signed {
            let sign_x = self.program.alu(AddOp::Asr, a, by);
            let sign_y = self.program.alu(AddOp::Asr, b, by);
            x = self.program.alu(AddOp::Xor, a, sign_x);
            x = self.program.alu(AddOp::Sub, x, sign_x);
            y = self.program.alu(AddOp::Xor, b, sign_y);
            y = self.program.alu(AddOp::Sub, y, sign_y);
        }
        let (quotient, remainder) = self.divided_unsigned(x, y);
        let (mut quotient, mut remainder) = (quotient, remainder);
        if signed {
            let sign_x = self.program.alu(AddOp::Asr, a, by);
            let signs = self.program.alu(AddOp::Xor, a, b);
            let sign = self.program.alu(AddOp::Asr, signs, by);
            quotient = self.program.alu(AddOp::Xor, quotient, sign);
            quotient = self.program.alu(AddOp::Sub, quotient, sign);
            remainder = self.program.alu(AddOp::Xor, remainder, sign_x);
            remainder = self.program.alu(AddOp::Sub, remainder, sign_x);
        }
        let nothing = self.program.compare(Relation::Equal, b, zero);
        (self.program.select(nothing, a, quotient), self.program.select(nothing, zero, remainder))
    }

    /// Division by two float estimates, the second for the remainder of the first, and a correction by one.
    ///
    /// The reciprocal is too small, by at most 2^-19 of it even if the special function unit has only 10 accurate bits; so no estimate is too large. For a
    /// quotient below 2^32 the remaining quotient after the first estimate is at most 2^13 + 1, and after the second at most 1.
    fn divided_unsigned(&mut self, a: Value, b: Value) -> (Value, Value) {
        let divisor = self.float_of_unsigned(b);
        let inverse = self.program.recip(divisor);
        let less = self.program.float(1.0 - 1.0 / 1_048_576.0);
        let inverse = self.program.fmul(inverse, less);

        let dividend = self.float_of_unsigned(a);
        let estimate = self.program.fmul(dividend, inverse);
        let first = self.unsigned_of_float(estimate);
        let product = self.multiplied(first, b);
        let rest = self.program.alu(AddOp::Sub, a, product);

        let dividend = self.float_of_unsigned(rest);
        let estimate = self.program.fmul(dividend, inverse);
        let second = self.program.alu(AddOp::Ftoi, estimate, estimate);
        // The second estimate has at most 24 bits.
        let by = self.program.bits(24);
        let high = self.program.alu(AddOp::Shr, b, by);
        let (low, high) = (
            self.program.value(Op::Mul(MulOp::Mul24, second, b)),
            self.program.value(Op::Mul(MulOp::Mul24, second, high)),
        );
        let high = self.program.alu(AddOp::Shl, high, by);
        let product = self.program.alu(AddOp::Add, low, high);
        let rest = self.program.alu(AddOp::Sub, rest, product);
        let quotient = self.program.alu(AddOp::Add, first, second);

        let (one, zero) = (self.program.bits(1), self.program.bits(0));
        let missing = self.program.compare(Relation::UnsignedNotLess, rest, b);
        let more = self.program.select(missing, one, zero);
        let less = self.program.select(missing, b, zero);
        (self.program.alu(AddOp::Add, quotient, more), self.program.alu(AddOp::Sub, rest, less))
    }

    pub(super) fn relational(&mut self, function: RelationalFunction, scalars: &[Value]) -> Vec<Value> {
        let program = &mut self.program;
        match function {
            RelationalFunction::All | RelationalFunction::Any => {
                let mut result = scalars[0];
                for &scalar in &scalars[1..] {
                    let op = if function == RelationalFunction::All { AddOp::And } else { AddOp::Or };
                    result = program.alu(op, result, scalar);
                }
                vec![result]
            }
            RelationalFunction::IsNan | RelationalFunction::IsInf => {
                let (magnitude, infinity) = (program.bits(0x7fff_ffff), program.bits(0x7f80_0000));
                let test = |scalar: &Value| {
                    let bits = program.and(*scalar, magnitude);
                    if function == RelationalFunction::IsInf {
                        program.compare(Relation::Equal, bits, infinity)
                    } else {
                        program.compare(Relation::SignedLess, infinity, bits)
                    }
                };
                scalars.iter().map(test).collect()
            }
        }
    }

    pub(super) fn convert(&mut self, from: ScalarKind, to: ScalarKind, a: Value) -> Value {
        use ScalarKind::{Bool, Float, Sint, Uint};
        let zero = self.program.bits(0);
        match (from, to) {
            (Bool, Float) => {
                let one = self.program.float(1.0);
                self.program.and(a, one)
            }
            (Bool, Sint | Uint) => {
                let one = self.program.bits(1);
                self.program.and(a, one)
            }
            (Float, Bool) => self.program.compare(Relation::FloatNotEqual, a, zero),
            (Sint | Uint, Bool) => self.program.compare(Relation::NotEqual, a, zero),
            // Values beyond the range of integers become the largest integer that is a float.
            (Float, Sint) => {
                let (least, most) = (self.program.float(-2_147_483_648.0), self.program.float(2_147_483_520.0));
                let a = self.program.alu(AddOp::Fmax, a, least);
                let a = self.program.alu(AddOp::Fmin, a, most);
                self.program.alu(AddOp::Ftoi, a, a)
            }
            (Float, Uint) => {
                let most = self.program.float(4_294_967_040.0);
                let a = self.program.alu(AddOp::Fmax, a, zero);
                let a = self.program.alu(AddOp::Fmin, a, most);
                self.unsigned_of_float(a)
            }
            (Sint, Float) => self.float_of(a),
            (Uint, Float) => self.float_of_unsigned(a),
            _ => a,
        }
    }

    /// The difference of a value between the pixels of a quad: elements 0 to 3 of each quad are left and right, upper pair first.
    pub(super) fn derivative(&mut self, axis: DerivativeAxis, a: Value) -> Value {
        let (bit, places) = match axis {
            DerivativeAxis::X => (1, 1),
            DerivativeAxis::Y => (2, 2),
            DerivativeAxis::Width => {
                let (x, y) = (self.derivative(DerivativeAxis::X, a), self.derivative(DerivativeAxis::Y, a));
                let (x, y) = (self.magnitude(x), self.magnitude(y));
                return self.program.fadd(x, y);
            }
        };
        let program = &mut self.program;
        // Element i of the first is element i + places of the value, of the second element i - places.
        let behind = program.value(Op::Rotate(16 - places, a));
        let before = program.value(Op::Rotate(places, a));
        let (ahead, back) = (program.fsub(behind, a), program.fsub(a, before));
        let (element, bit, zero) = (program.value(Op::Given(Given::Element)), program.bits(bit), program.bits(0));
        let second = program.and(element, bit);
        let second = program.compare(Relation::NotEqual, second, zero);
        program.select(second, back, ahead)
    }

    pub(super) fn magnitude(&mut self, a: Value) -> Value {
        self.program.alu(AddOp::Fmaxabs, a, a)
    }
}
