//! Data between the code.

use alloc::format;

use super::{Assembler, Res};
use crate::code::Code;
use crate::language::directive::Datum;
use crate::language::suffix::Places;
use crate::lexer::TokenKind;
use crate::source::Span;
use crate::value::Value;

/// The instruction that fills gaps between instructions: both operations nop, all conditions never.
const NOP_WORD: u64 = 0x1000_09e7_009e_7000;

impl Assembler<'_> {
    /// `.int 1, 2, 3` and the other data directives.
    pub(super) fn data(&mut self, datum: Datum) -> Res {
        let mut warned = false;
        loop {
            let first = self.peek();
            let value = self.expression(Places::EXPRESSION)?;
            let value = self.as_number(value, first);
            let (bits, width) = match (datum, value) {
                (Datum::Int(width), Value::Int(value)) => {
                    let (low, high) = (-(1i128 << (width - 1)), (1i128 << width) - 1);
                    if width < 64 && !(low..=high).contains(&i128::from(value)) {
                        let message = format!("{value} does not fit {width} bits");
                        self.warn(Code::NumberOutOfRange, first, message);
                    }
                    (value as u64 & (high as u64), width)
                }
                (Datum::Int(width @ (32 | 64)), Value::Float(value)) => {
                    (if width == 32 { u64::from((value as f32).to_bits()) } else { value.to_bits() }, width)
                }
                (Datum::Float(width), Value::Int(value)) => (self.float_bits(value as f64, width, first), width),
                (Datum::Float(width), Value::Float(value)) => (self.float_bits(value, width, first), width),
                (_, other) => {
                    let message = format!("data are numbers of this kind, not {}", other.kind());
                    return self.error(Code::WrongOperandType, first, message);
                }
            };
            if self.code.is_full() {
                self.given_up = true;
                return self.error(Code::TooMuchCode, first, Code::TooMuchCode.title());
            }
            if !warned && !self.code.bit_offset().is_multiple_of(width) {
                warned = true;
                self.warn(Code::Unaligned, first, format!("a value of {width} bits is not aligned to its size"));
            }
            let span = self.span_from(first);
            self.code.push_bits(bits, width, span);
            if !self.take(TokenKind::Comma) {
                return self.expect_end();
            }
        }
    }

    fn float_bits(&mut self, value: f64, width: u32, first: crate::lexer::Token) -> u64 {
        let largest = match width {
            16 => 65504.0,
            32 => f64::from(f32::MAX),
            _ => f64::MAX,
        };
        if value.abs() > largest && value.is_finite() {
            self.warn(Code::NumberOutOfRange, first, format!("{value} does not fit a float of {width} bits"));
        }
        match width {
            16 => u64::from(half(value as f32)),
            32 => u64::from((value as f32).to_bits()),
            _ => value.to_bits(),
        }
    }

    pub(super) fn align_directive(&mut self) -> Res {
        let first = self.peek();
        let bytes = self.integer("the alignment")?;
        if !matches!(bytes, 0 | 1 | 2 | 4 | 8 | 16 | 32 | 64) {
            return self.error(Code::NumberOutOfRange, first, "an alignment is a power of two up to 64");
        }
        let mut base = 0;
        if self.take(TokenKind::Comma) {
            let first = self.peek();
            let value = self.expression(Places::EXPRESSION)?;
            base = match self.as_number(value, first) {
                Value::Int(value) => value,
                value @ Value::Label { .. } => {
                    self.labels.note_use_of_address(first.span(self.cursor.file));
                    self.label_value(value, first)
                }
                other => {
                    let message = format!("the base of an alignment is an integer or a label, not {}", other.kind());
                    return self.error(Code::WrongOperandType, first, message);
                }
            };
        }
        self.expect_end()?;
        let span = self.span_from(first);
        self.align(bytes as u32, (base.wrapping_neg() & 63) as u32, span);
        Ok(())
    }

    /// Pads until the address plus `offset` is a multiple of `bytes`.
    pub(super) fn align(&mut self, bytes: u32, offset: u32, span: Span) {
        if bytes == 0 {
            return;
        }
        let misaligned = (self.code.bit_offset() + offset * 8) & 63 & (bytes * 8 - 1);
        if misaligned != 0 {
            self.code.skip_bits((bytes * 8).min(64) - misaligned);
        }
        while bytes > 8 && !(self.code.position() as u32 * 8 + offset).is_multiple_of(bytes) && !self.code.is_full() {
            self.code.pad(NOP_WORD, span);
        }
    }
}

/// Conversion to a half float: denormals become zero, as the QPU has none; overflow becomes infinity; the mantissa is truncated.
fn half(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let magnitude = value.abs();
    if magnitude < 1.0 / 16384.0 {
        return sign;
    }
    if value.is_nan() {
        return sign | 0x7e00;
    }
    if magnitude > 65504.0 {
        return sign | 0x7c00;
    }
    let exponent = (bits >> 23 & 0xff) - 112;
    sign | ((exponent << 10) | (bits >> 13 & 0x3ff)) as u16
}

#[cfg(test)]
mod tests {
    use super::half;

    #[test]
    fn halves_have_their_standard_bits() {
        for (value, bits) in
            [(1.0, 0x3c00), (-2.0, 0xc000), (65504.0, 0x7bff), (0.5, 0x3800), (0.0, 0), (f32::INFINITY, 0x7c00)]
        {
            assert_eq!(half(value), bits, "{value}");
        }
    }
}
