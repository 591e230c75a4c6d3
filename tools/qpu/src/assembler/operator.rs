//! Evaluation of operators.

use alloc::format;
use core::cmp::Ordering;

use super::{Assembler, Res};
use crate::code::Code;
use crate::language::{Binary, Unary};
use crate::lexer::Token;
use crate::value::{Distance, PerElement, Rotation, Sign, Value};

/// Two operands converted to one numeric type.
enum Numbers {
    Int(i64, i64),
    Float(f64, f64),
}

fn numbers(left: Value, right: Value) -> Option<Numbers> {
    Some(match (left, right) {
        (Value::Int(a), Value::Int(b)) => Numbers::Int(a, b),
        (Value::Int(a), Value::Float(b)) => Numbers::Float(a as f64, b),
        (Value::Float(a), Value::Int(b)) => Numbers::Float(a, b as f64),
        (Value::Float(a), Value::Float(b)) => Numbers::Float(a, b),
        _ => return None,
    })
}

impl Assembler<'_> {
    pub(super) fn apply_unary(&mut self, operator: Unary, operand: Value, token: Token) -> Res<Value> {
        let operand = match (operator, operand) {
            (Unary::Plus, Value::Distance(_)) => operand,
            (Unary::Negate, Value::Distance(distance)) => return Ok(Value::Distance(distance.reversed())),
            _ => self.as_number(operand, token),
        };
        let wrong = |assembler: &Self| {
            let message = format!("`{}` cannot be applied to {}", assembler.text(token), operand.kind());
            assembler.error(Code::WrongOperandType, token, message)
        };
        Ok(match (operator, operand) {
            (Unary::Plus, _) => operand,
            (Unary::Negate, Value::Int(value)) => Value::Int(value.wrapping_neg()),
            (Unary::Negate, Value::Float(value)) => Value::Float(-value),
            (Unary::Negate, Value::PerElement(constant)) => match negated(constant) {
                Some(constant) => Value::PerElement(constant),
                None => {
                    return self.error(Code::BadPerElement, token, "an element has no negative within its two bits");
                }
            },
            (Unary::Not, Value::Int(value)) => Value::Int(!value),
            (Unary::Not, Value::PerElement(constant)) => {
                Value::PerElement(PerElement { bits: !constant.bits, ..constant })
            }
            (Unary::LogicalNot, Value::Int(value)) => Value::Int(i64::from(value == 0)),
            (Unary::Abs, Value::Int(value)) => Value::Int(value.wrapping_abs()),
            (Unary::Abs, Value::Float(value)) => Value::Float(value.abs()),
            (Unary::Ceil, Value::Float(value)) => Value::Int(libm::ceil(value) as i64),
            (Unary::Floor, Value::Float(value)) => Value::Int(libm::floor(value) as i64),
            (Unary::Ceil | Unary::Floor, Value::Int(_)) => operand,
            (Unary::Negate | Unary::Not | Unary::LogicalNot | Unary::Abs | Unary::Ceil | Unary::Floor, _) => {
                return wrong(self);
            }
            (function, Value::Int(value)) => Value::Float(math(function, value as f64)),
            (function, Value::Float(value)) => Value::Float(math(function, value)),
            _ => return wrong(self),
        })
    }

    pub(super) fn apply(&mut self, operator: Binary, left: Value, right: Value, token: Token) -> Res<Value> {
        use Binary::*;
        // Sums of a distance and a number keep the labels; all other arithmetic needs the number.
        match (operator, left, right) {
            (Subtract, Value::Label { id: to, addend: end }, Value::Label { id: from, addend: start }) => {
                let bytes = self.label_value(left, token).wrapping_sub(self.label_value(right, token));
                return Ok(Value::Distance(Distance { to, from, addend: end.wrapping_sub(start), bytes }));
            }
            (Add, Value::Distance(distance), Value::Int(by)) | (Add, Value::Int(by), Value::Distance(distance)) => {
                return Ok(Value::Distance(distance.plus(by)));
            }
            (Subtract, Value::Distance(distance), Value::Int(by)) => {
                return Ok(Value::Distance(distance.plus(by.wrapping_neg())));
            }
            (Subtract, Value::Int(by), Value::Distance(distance)) => {
                return Ok(Value::Distance(distance.reversed().plus(by)));
            }
            _ => {}
        }
        let (left, right) = (self.as_number(left, token), self.as_number(right, token));
        match operator {
            Equal | NotEqual | Identical | NotIdentical | Less | LessEqual | Greater | GreaterEqual | Compare => {
                return Ok(Value::Int(self.compare(operator, left, right, token)));
            }
            _ => {}
        }
        let result = match (left, right) {
            (Value::Register(register), Value::Int(by)) => match operator {
                Add => register.offset(by).map(Value::Register),
                Subtract => register.offset(by.wrapping_neg()).map(Value::Register),
                ShiftLeft | RotateLeft32 => register
                    .rotation
                    .plus(by)
                    .map(|rotation| Value::Register(crate::value::Register { rotation, ..register })),
                ShiftRight | RotateRight32 => register
                    .rotation
                    .plus(by.wrapping_neg())
                    .map(|rotation| Value::Register(crate::value::Register { rotation, ..register })),
                _ => Err(Code::WrongOperandType),
            },
            (Value::Int(by), Value::Register(register)) if operator == Add => register.offset(by).map(Value::Register),
            (Value::Register(register), Value::Register(by)) => match operator {
                ShiftLeft | ShiftRight if by.is_r5() && register.rotation == Rotation::None => {
                    let rotation = if operator == ShiftLeft { Rotation::UpByR5 } else { Rotation::DownByR5 };
                    Ok(Value::Register(crate::value::Register { rotation, ..register }))
                }
                And => Ok(Value::Register(register.common(by))),
                _ => Err(Code::WrongOperandType),
            },
            (Value::Label { id, addend }, Value::Int(by)) if operator == Add => {
                Ok(Value::Label { id, addend: addend.wrapping_add(by) })
            }
            (Value::Int(by), Value::Label { id, addend }) if operator == Add => {
                Ok(Value::Label { id, addend: addend.wrapping_add(by) })
            }
            (Value::Label { id, addend }, Value::Int(by)) if operator == Subtract => {
                Ok(Value::Label { id, addend: addend.wrapping_sub(by) })
            }
            _ => arithmetic(operator, left, right),
        };
        match result {
            Ok(value) => Ok(value),
            Err(Code::WrongOperandType) => {
                let sign = self.text(token);
                let message = format!("`{sign}` cannot be applied to {} and {}", left.kind(), right.kind());
                self.error(Code::WrongOperandType, token, message)
            }
            Err(code) => self.error(code, token, code.title()),
        }
    }

    /// A value where only the number counts: a distance between labels forgets these, and the program is noted to depend on its layout.
    pub(super) fn as_number(&mut self, value: Value, token: Token) -> Value {
        let Value::Distance(distance) = value else { return value };
        self.labels.note_use_of_address(token.span(self.cursor.file));
        Value::Int(distance.bytes)
    }

    /// The address of a label where a number is needed immediately.
    pub(super) fn label_value(&mut self, value: Value, token: Token) -> i64 {
        match value {
            Value::Label { id, addend } => {
                let span = token.span(self.cursor.file);
                self.labels.address_now(id, span).wrapping_add(addend)
            }
            _ => 0,
        }
    }

    fn compare(&mut self, operator: Binary, left: Value, right: Value, token: Token) -> i64 {
        let ordering = match (left, right) {
            (Value::Label { .. }, Value::Label { .. }) => {
                self.labels.note_use_of_address(token.span(self.cursor.file));
                Some(self.label_value(left, token).cmp(&self.label_value(right, token)))
            }
            _ => match numbers(left, right) {
                Some(Numbers::Int(a, b)) => Some(a.cmp(&b)),
                Some(Numbers::Float(a, b)) => a.partial_cmp(&b),
                None => Some(rank(left).cmp(&rank(right))),
            },
        };
        let identical = core::mem::discriminant(&left) == core::mem::discriminant(&right)
            && match (left, right) {
                (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits() || a == b,
                _ => left == right,
            };
        let is = |wanted: &[Ordering]| ordering.is_some_and(|ordering| wanted.contains(&ordering));
        let answer = match operator {
            Binary::Equal => is(&[Ordering::Equal]),
            Binary::NotEqual => !is(&[Ordering::Equal]),
            Binary::Identical => identical,
            Binary::NotIdentical => !identical,
            Binary::Less => is(&[Ordering::Less]),
            Binary::LessEqual => is(&[Ordering::Less, Ordering::Equal]),
            Binary::Greater => is(&[Ordering::Greater]),
            Binary::GreaterEqual => is(&[Ordering::Greater, Ordering::Equal]),
            // The result distinguishes unordered operands (NaN) from less, equal and greater.
            _ => return ordering.map_or(-0x8000_0000, |ordering| ordering as i64),
        };
        i64::from(answer)
    }
}

/// A sort key that orders values of different types, and registers.
fn rank(value: Value) -> (u8, i64, i64, i64, i64) {
    match value {
        Value::Int(_) | Value::Float(_) | Value::Distance(_) => (0, 0, 0, 0, 0),
        Value::PerElement(constant) => (1, constant.sign as i64, i64::from(constant.bits), 0, 0),
        Value::Register(register) => {
            let rotation = i64::from(register.rotation.number());
            let pack = register.pack;
            let suffix = i64::from(pack.mode) << 8 | (pack.number as i64) << 4 | pack.direction as i64;
            (2, i64::from(register.access.0), rotation, i64::from(register.address), suffix)
        }
        Value::Label { .. } => (3, 0, 0, 0, 0),
    }
}

fn negated(constant: PerElement) -> Option<PerElement> {
    let (high, low) = (constant.bits >> 16, constant.bits & 0xffff);
    // -2, 2 and 3 cannot be negated within their range.
    let signed_minimum = high & !low;
    let impossible = match constant.sign {
        Sign::Signed | Sign::Either => signed_minimum,
        Sign::Unsigned => high,
    };
    (impossible == 0).then_some(PerElement { bits: (high ^ low) << 16 | low, sign: Sign::Signed })
}

fn arithmetic(operator: Binary, left: Value, right: Value) -> Result<Value, Code> {
    use Binary::*;
    match numbers(left, right).ok_or(Code::WrongOperandType)? {
        Numbers::Int(a, b) => integer(operator, a, b).map(Value::Int),
        Numbers::Float(a, b) => Ok(Value::Float(match operator {
            Power => libm::pow(a, b),
            Multiply => a * b,
            Divide => a / b,
            Modulus => a % b,
            Add => a + b,
            Subtract => a - b,
            ShiftLeft | ShiftRight if matches!((left, right), (Value::Float(_), Value::Int(_))) => {
                let by = b.clamp(-5000.0, 5000.0);
                a * libm::exp2(if operator == ShiftLeft { by } else { -by })
            }
            _ => return Err(Code::WrongOperandType),
        })),
    }
}

fn integer(operator: Binary, a: i64, b: i64) -> Result<i64, Code> {
    use Binary::*;
    let boolean = |value: bool| i64::from(value);
    let shift_right = |by: i64| if by > 63 { a >> 63 } else { a >> by };
    let shift_left = |by: i64| if by > 63 { 0 } else { a << by };
    Ok(match operator {
        Power => match u32::try_from(b) {
            Ok(exponent) => a.wrapping_pow(exponent),
            Err(_) => libm::floor(libm::pow(a as f64, b as f64) + 0.5) as i64,
        },
        Multiply => a.wrapping_mul(b),
        Divide | Modulus if b == 0 => return Err(Code::DivisionByZero),
        Divide => a.wrapping_div(b),
        Modulus => a.wrapping_rem(b),
        Add => a.wrapping_add(b),
        Subtract => a.wrapping_sub(b),
        ShiftLeft if b < 0 => shift_right(b.saturating_neg()),
        ShiftLeft => shift_left(b),
        ShiftRight if b < 0 => shift_left(b.saturating_neg()),
        ShiftRight => shift_right(b),
        LogicalShiftLeft | LogicalShiftRight => {
            let left = (operator == LogicalShiftLeft) == (b >= 0);
            match b.unsigned_abs() {
                64.. => 0,
                by if left => a << by,
                by => (a as u64 >> by) as i64,
            }
        }
        RotateLeft32 => i64::from((a as u32).rotate_left(b as u32 & 31)),
        RotateRight32 => i64::from((a as u32).rotate_right(b as u32 & 31)),
        RotateLeft64 => a.rotate_left(b as u32 & 63),
        RotateRight64 => a.rotate_right(b as u32 & 63),
        And => a & b,
        Xor => a ^ b,
        Xnor => !(a ^ b),
        Or => a | b,
        LogicalAnd => boolean(a != 0 && b != 0),
        LogicalXor => boolean((a != 0) != (b != 0)),
        LogicalXnor => boolean((a != 0) == (b != 0)),
        LogicalOr => boolean(a != 0 || b != 0),
        Equal | NotEqual | Identical | NotIdentical | Less | LessEqual | Greater | GreaterEqual | Compare => {
            return Err(Code::WrongOperandType);
        }
    })
}

fn math(function: Unary, x: f64) -> f64 {
    match function {
        Unary::Sqrt => libm::sqrt(x),
        Unary::Exp => libm::exp(x),
        Unary::Exp2 => libm::exp2(x),
        Unary::Exp10 => libm::exp10(x),
        Unary::Log => libm::log(x),
        Unary::Log2 => libm::log2(x),
        Unary::Log10 => libm::log10(x),
        Unary::Cos => libm::cos(x),
        Unary::Sin => libm::sin(x),
        Unary::Tan => libm::tan(x),
        Unary::Acos => libm::acos(x),
        Unary::Asin => libm::asin(x),
        Unary::Atan => libm::atan(x),
        Unary::Cosh => libm::cosh(x),
        Unary::Sinh => libm::sinh(x),
        Unary::Tanh => libm::tanh(x),
        Unary::Acosh => libm::acosh(x),
        Unary::Asinh => libm::asinh(x),
        Unary::Atanh => libm::atanh(x),
        Unary::Erf => 1.0 - erfc(x),
        Unary::Erfc => erfc(x),
        _ => x,
    }
}

/// The complementary error function: a power series near zero, a continued fraction for large arguments.
fn erfc(x: f64) -> f64 {
    if x < 0.0 {
        return 2.0 - erfc(-x);
    }
    if x > 27.0 {
        return 0.0;
    }
    let root_pi = libm::sqrt(core::f64::consts::PI);
    if x < 2.5 {
        let mut term = x;
        let mut sum = x;
        let mut n = 0.0;
        while term.abs() > 1e-17 * sum.abs() {
            n += 1.0;
            term *= -x * x / n;
            sum += term / (2.0 * n + 1.0);
        }
        return 1.0 - 2.0 / root_pi * sum;
    }
    // Evaluated from the inside; 60 steps are exact to the last bits for x of at least 2.5.
    let fraction = (1..=60).rev().fold(0.0, |tail, n| 0.5 * f64::from(n) / (x + tail));
    libm::exp(-x * x) / root_pi / (x + fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the error function from Abramowitz and Stegun, table 7.1.
    #[test]
    fn erf_has_the_values_of_the_tables() {
        for (x, erf) in [(0.5, 0.520_499_877_8), (1.0, 0.842_700_792_9), (2.0, 0.995_322_265_0)] {
            assert!((math(Unary::Erf, x) - erf).abs() < 1e-9, "erf({x})");
            assert!((math(Unary::Erf, -x) + erf).abs() < 1e-9, "erf(-{x})");
        }
        assert!((erfc(3.0) / 2.209_049_699_858_544e-5 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn shifts_by_any_amount_have_a_result() {
        for by in [i64::MIN, -65, -64, -1, 0, 1, 63, 64, 65, i64::MAX] {
            for operator in [Binary::ShiftLeft, Binary::ShiftRight, Binary::LogicalShiftLeft, Binary::RotateLeft64] {
                assert!(integer(operator, -1, by).is_ok());
            }
        }
    }
}
