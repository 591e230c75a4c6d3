//! Built-in functions on numbers.

use alloc::vec;
use alloc::vec::Vec;

use naga::{BinaryOperator, MathFunction, ScalarKind, Span};
use v3d_hw::qpu::{AddOp, MulOp};

use super::Lowering;
use crate::diagnostic::Result;
use crate::ssa::{Op, PackedComponent, Relation, Value};

/// sin(2 pi y) / y in powers of y^2, for y from -0.5 to 0.5; maximum error 6e-6 (minimax fit).
const SINE: [f32; 5] = [6.283_056, -41.331_215, 81.366_82, -74.478_01, 32.781_42];
/// atan(x) / x in powers of x^2, for x from -1 to 1; maximum error 1.7e-6 (minimax fit).
const ARC_TANGENT: [f32; 6] = [0.999_977_23, -0.332_622_83, 0.193_540_38, -0.116_426_47, 0.052_647_34, -0.011_719_13];

/// Floats of this magnitude and above are integers.
const WITHOUT_FRACTION: f32 = 8_388_608.0;
/// 1.5 * 2^23. A float of a magnitude up to [`ROUNDED`], added to it, loses its fraction: the sum is rounded toward zero, and so the float downward.
const ROUNDING: f32 = 12_582_912.0;
/// 2^22.
const ROUNDED: f32 = 4_194_304.0;
/// Divisors whose remainders are the low bits of an integer, with a mask that an instruction can contain.
const REMAINDERS: [f32; 4] = [2.0, 4.0, 8.0, 16.0];
/// Depth to which the terms of a sum are looked at.
const MOST_DEPTH: u32 = 6;
/// Floats below this magnitude can be converted to an integer.
const CONVERTED: f32 = 2_147_483_648.0;

impl Lowering<'_> {
    pub(super) fn math(
        &mut self,
        function: MathFunction,
        kind: ScalarKind,
        rows: Option<usize>,
        arguments: &[Vec<Value>],
        span: Span,
    ) -> Result<Vec<Value>> {
        use MathFunction as F;
        let a = &arguments[0];
        let second = arguments.get(1);
        Ok(match (function, second) {
            (F::Dot, Some(b)) if kind == ScalarKind::Float => vec![self.dot(a, b)],
            (F::Dot, Some(b)) => {
                let mut sum = self.program.bits(0);
                for (&a, &b) in a.iter().zip(b) {
                    let product = self.multiplied(a, b);
                    sum = self.program.alu(AddOp::Add, sum, product);
                }
                vec![sum]
            }
            (F::Cross, Some(b)) => (0..3)
                .map(|at| {
                    let (i, j) = ((at + 1) % 3, (at + 2) % 3);
                    self.program.freely(|program| {
                        let one = program.fmul(a[i], b[j]);
                        let other = program.fmul(a[j], b[i]);
                        program.fsub(one, other)
                    })
                })
                .collect(),
            (F::Length, _) if a.len() == 1 => vec![self.magnitude(a[0])],
            (F::Length, _) => vec![self.length(a)],
            (F::Distance, Some(b)) => {
                let difference: Vec<Value> =
                    a.iter().zip(b).map(|(&a, &b)| self.program.freely(|program| program.fsub(a, b))).collect();
                if let [one] = difference.as_slice() {
                    vec![self.magnitude(*one)]
                } else {
                    vec![self.length(&difference)]
                }
            }
            (F::Normalize, _) => {
                let square = self.dot(a, a);
                let inverse = self.program.recip_sqrt(square);
                a.iter().map(|&a| self.program.freely(|program| program.fmul(a, inverse))).collect()
            }
            (F::FaceForward, Some(b)) => {
                let dot = self.dot(b, &arguments[2]);
                let zero = self.program.bits(0);
                let same = self.program.compare(Relation::FloatLess, dot, zero);
                let turned = a.iter().map(|&a| {
                    let negative = self.program.fsub(zero, a);
                    self.program.select(same, a, negative)
                });
                turned.collect()
            }
            (F::Reflect, Some(n)) => {
                let dot = self.dot(n, a);
                let twice = self.program.fadd(dot, dot);
                let pairs = a.iter().zip(n);
                pairs
                    .map(|(&a, &n)| {
                        self.program.freely(|program| {
                            let along = program.fmul(n, twice);
                            program.fsub(a, along)
                        })
                    })
                    .collect()
            }
            (F::Refract, Some(n)) => self.refract(a, n, arguments[2][0]),
            (F::Transpose, _) => {
                let rows = rows.unwrap_or(1);
                let columns = a.len() / rows;
                (0..rows).flat_map(|row| (0..columns).map(move |column| a[column * rows + row])).collect()
            }
            (F::Determinant, _) => vec![self.determinant(a, rows.unwrap_or(1))],
            (F::Outer, Some(b)) => {
                let columns: Vec<Vec<Value>> =
                    b.iter().map(|&b| a.iter().map(|&a| self.program.fmul(a, b)).collect()).collect();
                columns.concat()
            }
            (F::Modf, _) => {
                let whole: Vec<Value> = a.iter().map(|&a| self.whole_part(a)).collect();
                let parts: Vec<Value> = a.iter().zip(&whole).map(|(&a, &whole)| self.program.fsub(a, whole)).collect();
                [parts, whole].concat()
            }
            (F::Pack4x8unorm | F::Pack4x8snorm | F::Pack2x16unorm | F::Pack2x16snorm | F::Pack2x16float, _) => {
                vec![self.packed(function, a)]
            }
            (F::Pack4xI8 | F::Pack4xU8, _) => vec![self.packed_bytes(a)],
            (
                F::Unpack4x8unorm
                | F::Unpack4x8snorm
                | F::Unpack2x16unorm
                | F::Unpack2x16snorm
                | F::Unpack2x16float
                | F::Unpack4xI8
                | F::Unpack4xU8,
                _,
            ) => self.unpacked(function, a[0]),
            (F::Pack4xI8Clamp | F::Pack4xU8Clamp, _) => {
                let kind = if function == F::Pack4xI8Clamp { ScalarKind::Sint } else { ScalarKind::Uint };
                let (low, high) = if kind == ScalarKind::Sint { (-128, 127) } else { (0, 255) };
                let (low, high) = (self.program.bits(low as u32), self.program.bits(high as u32));
                let within: Vec<Value> = a
                    .iter()
                    .map(|&a| {
                        let a = self.least(kind, a, low, true);
                        self.least(kind, a, high, false)
                    })
                    .collect();
                vec![self.packed_bytes(&within)]
            }
            (F::Dot4I8Packed | F::Dot4U8Packed, Some(b)) => {
                vec![self.dot_of_bytes(a[0], b[0], function == F::Dot4I8Packed)]
            }
            (F::Frexp, _) => {
                let parts: Vec<(Value, Value)> = a.iter().map(|&a| self.fraction_and_exponent(a)).collect();
                parts.iter().map(|part| part.0).chain(parts.iter().map(|part| part.1)).collect()
            }
            _ => {
                let mut results = Vec::new();
                for at in 0..a.len() {
                    let scalars: Vec<Value> = arguments.iter().map(|values| values[at.min(values.len() - 1)]).collect();
                    results.push(self.scalar_math(function, kind, &scalars, span)?);
                }
                results
            }
        })
    }

    fn scalar_math(
        &mut self,
        function: MathFunction,
        kind: ScalarKind,
        scalars: &[Value],
        span: Span,
    ) -> Result<Value> {
        use MathFunction as F;
        let a = scalars[0];
        let (b, c) = (scalars.get(1).copied().unwrap_or(a), scalars.get(2).copied().unwrap_or(a));
        let float = kind == ScalarKind::Float;
        let (zero, one) = (self.program.bits(0), self.program.float(1.0));
        Ok(match function {
            F::Abs if float => self.magnitude(a),
            F::Abs if kind == ScalarKind::Uint => a,
            F::Abs => {
                let negative = self.program.alu(AddOp::Sub, zero, a);
                self.program.alu(AddOp::Max, a, negative)
            }
            F::Min => self.least(kind, a, b, false),
            F::Max => self.least(kind, a, b, true),
            F::Clamp => {
                let low = self.least(kind, a, b, true);
                self.least(kind, low, c, false)
            }
            F::Saturate => self.clamped(a, 0.0, 1.0),
            F::Sin => self.sine(a, 0.0),
            F::Cos => self.sine(a, 0.25),
            F::Tan => {
                let (sine, cosine) = (self.sine(a, 0.0), self.sine(a, 0.25));
                self.quotient(sine, cosine)
            }
            F::Asin | F::Acos => {
                let square = self.program.fmul(a, a);
                let rest = self.program.fsub(one, square);
                let rest = self.program.alu(AddOp::Fmax, rest, zero);
                let cosine = self.root(rest);
                if function == F::Asin { self.arc_tangent(a, cosine) } else { self.arc_tangent(cosine, a) }
            }
            F::Atan => self.arc_tangent(a, one),
            F::Atan2 => self.arc_tangent(a, b),
            F::Radians => self.scaled(a, core::f32::consts::PI / 180.0),
            F::Degrees => self.scaled(a, 180.0 / core::f32::consts::PI),
            F::Floor => {
                let floor = self.floor(a);
                let floor = self.whole_or(a, floor);
                self.floors.insert(floor, a);
                floor
            }
            F::Ceil => {
                let negative = self.program.fsub(zero, a);
                let floor = self.floor(negative);
                let ceiling = self.program.fsub(zero, floor);
                self.whole_or(a, ceiling)
            }
            F::Fract => {
                let fraction = self.fraction(a);
                self.where_whole(a, zero, fraction)
            }
            F::Trunc => self.whole_part(a),
            F::Round => {
                let rounded = self.rounded(a);
                self.whole_or(a, rounded)
            }
            F::Ldexp => {
                // Two powers of two in the range of floats, whose product covers the range from the smallest to the largest float.
                let one = self.program.bits(1);
                let half = self.program.alu(AddOp::Asr, b, one);
                let rest = self.program.alu(AddOp::Sub, b, half);
                let (first, second) = (self.two_to_the(half), self.two_to_the(rest));
                let product = self.program.fmul(a, first);
                self.program.fmul(product, second)
            }
            F::Sign if float => {
                let negative = self.program.float(-1.0);
                let is_negative = self.program.compare(Relation::FloatLess, a, zero);
                let is_positive = self.program.compare(Relation::FloatLess, zero, a);
                let sign = self.program.select(is_negative, negative, zero);
                self.program.select(is_positive, one, sign)
            }
            F::Sign => {
                let (one, all) = (self.program.bits(1), self.program.bits(u32::MAX));
                let low = self.program.alu(AddOp::Max, a, all);
                self.program.alu(AddOp::Min, low, one)
            }
            F::Fma => {
                let product = self.program.fmul(a, b);
                self.program.fadd(product, c)
            }
            F::Mix => self.mixed(a, b, c),
            F::Step => {
                let before = self.program.compare(Relation::FloatLess, b, a);
                self.program.select(before, zero, one)
            }
            F::SmoothStep => {
                let (width, distance) = (self.program.fsub(b, a), self.program.fsub(c, a));
                let place = self.quotient(distance, width);
                let place = self.clamped(place, 0.0, 1.0);
                let (two, three) = (self.program.float(2.0), self.program.float(3.0));
                let slope = self.program.fmul(place, two);
                let slope = self.program.fsub(three, slope);
                let square = self.program.fmul(place, place);
                self.program.fmul(square, slope)
            }
            F::Sqrt => self.root(a),
            F::InverseSqrt if !self.fast_math => self.program.exact_recip_sqrt(a),
            F::InverseSqrt => self.program.recip_sqrt(a),
            F::QuantizeToF16 => self.as_half(a),
            _ => match self.exponential(function, a, b) {
                Some(result) => result,
                None => return self.bit_function(function, kind, scalars, span),
            },
        })
    }

    /// The nearest 16-bit float.
    pub(super) fn as_half(&mut self, a: Value) -> Value {
        let word = self.program.value(Op::PackHalf(0, None, a));
        self.program.value(Op::Unpack(PackedComponent::Half(0), word))
    }

    /// Linear interpolation from `a` to `b`.
    pub(super) fn mixed(&mut self, a: Value, b: Value, share: Value) -> Value {
        self.program.freely(|program| {
            let difference = program.fsub(b, a);
            let part = program.fmul(difference, share);
            program.fadd(a, part)
        })
    }

    /// The minimum or maximum of two numbers.
    fn least(&mut self, kind: ScalarKind, a: Value, b: Value, larger: bool) -> Value {
        let op = match (kind, larger) {
            (ScalarKind::Float, false) => AddOp::Fmin,
            (ScalarKind::Float, true) => AddOp::Fmax,
            (ScalarKind::Sint, false) => AddOp::Min,
            (ScalarKind::Sint, true) => AddOp::Max,
            _ => {
                let less = self.program.compare(Relation::UnsignedLess, a, b);
                return if larger { self.program.select(less, b, a) } else { self.program.select(less, a, b) };
            }
        };
        self.program.alu(op, a, b)
    }

    pub(super) fn clamped(&mut self, a: Value, low: f32, high: f32) -> Value {
        let (low, high) = (self.program.float(low), self.program.float(high));
        let a = self.program.alu(AddOp::Fmax, a, low);
        self.program.alu(AddOp::Fmin, a, high)
    }

    /// 2 to the power of an integer, which is clamped to -126 to 127.
    fn two_to_the(&mut self, exponent: Value) -> Value {
        let (least, most) = (self.program.bits(-126i32 as u32), self.program.bits(127));
        let (bias, by) = (self.program.bits(127), self.program.bits(23));
        let exponent = self.program.alu(AddOp::Max, exponent, least);
        let exponent = self.program.alu(AddOp::Min, exponent, most);
        let exponent = self.program.alu(AddOp::Add, exponent, bias);
        self.program.alu(AddOp::Shl, exponent, by)
    }

    pub(super) fn scaled(&mut self, a: Value, by: f32) -> Value {
        let by = self.program.float(by);
        self.program.fmul(a, by)
    }

    /// A quotient that need not be exact if the result is representable.
    pub(super) fn quotient(&mut self, a: Value, b: Value) -> Value {
        if self.fast_math {
            return self.binary(BinaryOperator::Divide, ScalarKind::Float, a, b);
        }
        self.program.near_quotient(a, b)
    }

    fn length(&mut self, a: &[Value]) -> Value {
        let square = self.dot(a, a);
        self.root(square)
    }

    pub(super) fn root(&mut self, a: Value) -> Value {
        if self.fast_math { self.program.fast_sqrt(a) } else { self.program.sqrt(a) }
    }

    /// The integer part, for magnitudes below 2^31, which can be converted to integers.
    pub(super) fn truncated(&mut self, a: Value) -> Value {
        let whole = self.program.alu(AddOp::Ftoi, a, a);
        self.program.alu(AddOp::Itof, whole, whole)
    }

    /// The integer part, for all magnitudes.
    pub(super) fn whole_part(&mut self, a: Value) -> Value {
        let whole = self.truncated(a);
        self.whole_or(a, whole)
    }

    /// The number itself if it is too large to have a fraction, or else `made`.
    fn whole_or(&mut self, a: Value, made: Value) -> Value {
        self.where_whole(a, a, made)
    }

    /// One value where a number is too large to have a fraction, and another elsewhere. With fast math, numbers are assumed not to be that large.
    fn where_whole(&mut self, a: Value, whole: Value, other: Value) -> Value {
        if self.fast_math || self.program.is_within(a, CONVERTED) {
            return other;
        }
        let limit = self.program.float(WITHOUT_FRACTION);
        let is_whole = self.program.compare(Relation::MagnitudeGreater, a, limit);
        self.program.select(is_whole, whole, other)
    }

    /// The greatest integer that is not greater, for magnitudes up to [`ROUNDED`].
    fn rounded_down(&mut self, a: Value) -> Value {
        let rounding = self.program.float(ROUNDING);
        let sum = self.program.fadd(a, rounding);
        self.program.fsub(sum, rounding)
    }

    /// Whether [`Self::rounded_down`] is the floor. With fast math, numbers are assumed not to be larger.
    fn is_rounded_down(&self, a: Value) -> bool {
        self.fast_math || self.program.is_within(a, ROUNDED)
    }

    fn fraction(&mut self, a: Value) -> Value {
        if self.is_rounded_down(a) {
            let whole = self.rounded_down(a);
            return self.program.fsub(a, whole);
        }
        let whole = self.truncated(a);
        let rest = self.program.fsub(a, whole);
        let (zero, one) = (self.program.bits(0), self.program.float(1.0));
        let is_negative = self.program.compare(Relation::FloatLess, rest, zero);
        let more = self.program.fadd(rest, one);
        self.program.select(is_negative, more, rest)
    }

    pub(super) fn floor(&mut self, a: Value) -> Value {
        if self.is_rounded_down(a) {
            return self.rounded_down(a);
        }
        let whole = self.truncated(a);
        let above = self.program.compare(Relation::FloatLess, a, whole);
        let one = self.program.float(1.0);
        let less = self.program.fsub(whole, one);
        self.program.select(above, less, whole)
    }

    /// `a - n * floor(a / n)`, of which this gets `a` and the product, for an integer `a` and a power of two `n`: the low bits of the integer. They are right
    /// after a conversion of any float, however large [silicon].
    pub(super) fn remainder_of_whole(&mut self, a: Value, product: Value) -> Option<Value> {
        let (floor, divisor) = self.with_constant(product)?;
        let (quotient, inverse) = self.with_constant(*self.floors.get(&floor)?)?;
        let is_divisor = REMAINDERS.contains(&divisor) && inverse * divisor == 1.0;
        if !is_divisor || quotient != a || !self.is_whole(a, MOST_DEPTH) {
            return None;
        }
        let integer = self.program.alu(AddOp::Ftoi, a, a);
        let mask = self.program.bits(divisor as u32 - 1);
        let low = self.program.and(integer, mask);
        Some(self.program.alu(AddOp::Itof, low, low))
    }

    /// The factors of a product with a constant.
    fn with_constant(&self, product: Value) -> Option<(Value, f32)> {
        let Op::Mul(MulOp::Fmul, a, b) = self.program.op(product) else { return None };
        let constant = |value| self.program.constant(value).map(f32::from_bits);
        constant(b).map(|number| (a, number)).or_else(|| constant(a).map(|number| (b, number)))
    }

    /// Whether a float is known to be an integer: sums and products of integers are, also when they are rounded.
    fn is_whole(&self, value: Value, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        self.floors.contains_key(&value)
            || match self.program.op(value) {
                Op::Const(bits) => f32::from_bits(bits) % 1.0 == 0.0,
                Op::Add(AddOp::Itof, ..) => true,
                Op::Add(AddOp::Fadd | AddOp::Fsub, a, b) | Op::Mul(MulOp::Fmul, a, b) => {
                    self.is_whole(a, depth) && self.is_whole(b, depth)
                }
                _ => false,
            }
    }

    /// Rounds to the nearest integer, ties to even.
    fn rounded(&mut self, a: Value) -> Value {
        let (half, one) = (self.program.float(0.5), self.program.float(1.0));
        let (bit, zero) = (self.program.bits(1), self.program.bits(0));
        let above = self.program.fadd(a, half);
        let near = self.floor(above);
        let distance = self.program.fsub(near, a);
        let tie = self.program.compare(Relation::FloatEqual, distance, half);
        let whole = self.program.alu(AddOp::Ftoi, near, near);
        let odd = self.program.and(whole, bit);
        let odd = self.program.compare(Relation::NotEqual, odd, zero);
        let both = self.program.and(tie, odd);
        let less = self.program.fsub(near, one);
        self.program.select(both, less, near)
    }

    pub(super) fn polynomial(&mut self, terms: &[f32], x: Value) -> Value {
        let mut sum = self.program.float(terms.last().copied().unwrap_or(0.0));
        for &term in terms.iter().rev().skip(1) {
            let product = self.program.fmul(sum, x);
            let term = self.program.float(term);
            sum = self.program.fadd(product, term);
        }
        sum
    }

    /// sin(a + 2 pi turns): the argument in turns is reduced to -0.5 to 0.5, then a polynomial is evaluated.
    fn sine(&mut self, a: Value, turns: f32) -> Value {
        let turn = self.program.float(core::f32::consts::FRAC_1_PI / 2.0);
        let in_turns = self.program.freely(|program| program.fmul(a, turn));
        let (turns, half) = (self.program.float(turns), self.program.float(0.5));
        let in_turns = self.program.fadd(in_turns, turns);
        let above = self.program.fadd(in_turns, half);
        // Beyond the range of this, the distance between two floats is at least half a turn.
        let nearest = self.rounded_down(above);
        let place = self.program.fsub(in_turns, nearest);
        let square = self.program.fmul(place, place);
        let sum = self.polynomial(&SINE, square);
        self.program.fmul(place, sum)
    }

    /// The angle of a point: the smaller of |y| and |x| divided by the larger is between 0 and 1; the octant determines the rest.
    fn arc_tangent(&mut self, y: Value, x: Value) -> Value {
        let zero = self.program.bits(0);
        let low = self.program.alu(AddOp::Fminabs, x, y);
        let high = self.program.alu(AddOp::Fmaxabs, x, y);
        let ratio = self.quotient(low, high);
        let square = self.program.fmul(ratio, ratio);
        let sum = self.polynomial(&ARC_TANGENT, square);
        let angle = self.program.fmul(ratio, sum);
        let (along_x, along_y) = (self.magnitude(x), self.magnitude(y));
        let steep = self.program.compare(Relation::FloatLess, along_x, along_y);
        let quarter = self.program.float(core::f32::consts::FRAC_PI_2);
        let other = self.program.fsub(quarter, angle);
        let angle = self.program.select(steep, other, angle);
        let left = self.program.compare(Relation::FloatLess, x, zero);
        let half = self.program.float(core::f32::consts::PI);
        let other = self.program.fsub(half, angle);
        let angle = self.program.select(left, other, angle);
        let below = self.program.compare(Relation::FloatLess, y, zero);
        let other = self.program.fsub(zero, angle);
        self.program.select(below, other, angle)
    }

    /// 0 for total reflection: where 1 - eta^2 * (1 - cos^2) is negative.
    fn refract(&mut self, a: &[Value], normal: &[Value], eta: Value) -> Vec<Value> {
        let (zero, one) = (self.program.bits(0), self.program.float(1.0));
        let cosine = self.dot(normal, a);
        let square = self.program.fmul(cosine, cosine);
        let sine = self.program.fsub(one, square);
        let eta_square = self.program.fmul(eta, eta);
        let bent = self.program.fmul(eta_square, sine);
        let rest = self.program.fsub(one, bent);
        let inside = self.program.compare(Relation::FloatLess, rest, zero);
        let root = self.root(rest);
        let along = self.program.fmul(eta, cosine);
        let along = self.program.fadd(along, root);
        let pairs = a.iter().zip(normal);
        pairs
            .map(|(&a, &normal)| {
                let (kept, turned) = (self.program.fmul(a, eta), self.program.fmul(normal, along));
                let direction = self.program.fsub(kept, turned);
                self.program.select(inside, zero, direction)
            })
            .collect()
    }
}
