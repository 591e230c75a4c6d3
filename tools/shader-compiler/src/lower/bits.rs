//! Built-in functions on bits, and packing of numbers into words.

use alloc::vec::Vec;

use naga::{MathFunction, ScalarKind, Span};
use v3d_hw::qpu::{AddOp, MulOp};

use super::Lowering;
use crate::diagnostic::{Result, refuse};
use crate::limit::Limit;
use crate::ssa::{Op, PackedComponent, Relation, Value};

impl Lowering<'_> {
    pub(super) fn bit_function(
        &mut self,
        function: MathFunction,
        kind: ScalarKind,
        scalars: &[Value],
        span: Span,
    ) -> Result<Value> {
        use MathFunction as F;
        let a = scalars[0];
        let zero = self.program.bits(0);
        let highest = self.program.bits(31);
        let signed = kind == ScalarKind::Sint;
        Ok(match function {
            F::CountLeadingZeros => self.program.alu(AddOp::Clz, a, a),
            F::FirstLeadingBit => {
                let mut bits = a;
                if signed {
                    let sign = self.program.alu(AddOp::Asr, a, highest);
                    bits = self.program.alu(AddOp::Xor, a, sign);
                }
                let zeros = self.program.alu(AddOp::Clz, bits, bits);
                self.program.alu(AddOp::Sub, highest, zeros)
            }
            F::FirstTrailingBit | F::CountTrailingZeros => {
                let negative = self.program.alu(AddOp::Sub, zero, a);
                let lowest = self.program.and(a, negative);
                let zeros = self.program.alu(AddOp::Clz, lowest, lowest);
                let place = self.program.alu(AddOp::Sub, highest, zeros);
                if function == F::FirstTrailingBit {
                    return Ok(place);
                }
                let none = self.program.compare(Relation::Equal, a, zero);
                let all = self.program.bits(32);
                self.program.select(none, all, place)
            }
            F::CountOneBits => {
                // Population count: sums of bits in pairs, in groups of four, in bytes, then of all bytes.
                let pairs = self.masked_shift(a, 1, 0x5555_5555);
                let sum = self.program.alu(AddOp::Sub, a, pairs);
                let (low, high) = (self.masked(sum, 0x3333_3333), self.masked_shift(sum, 2, 0x3333_3333));
                let sum = self.program.alu(AddOp::Add, low, high);
                let by = self.program.bits(4);
                let high = self.program.alu(AddOp::Shr, sum, by);
                let sum = self.program.alu(AddOp::Add, sum, high);
                let sum = self.masked(sum, 0x0f0f_0f0f);
                let by = self.program.bits(8);
                let high = self.program.alu(AddOp::Shr, sum, by);
                let sum = self.program.alu(AddOp::Add, sum, high);
                let by = self.program.bits(16);
                let high = self.program.alu(AddOp::Shr, sum, by);
                let sum = self.program.alu(AddOp::Add, sum, high);
                self.masked(sum, 0x3f)
            }
            F::ReverseBits => {
                let mut word = a;
                for (by, mask) in [(1, 0x5555_5555), (2, 0x3333_3333), (4, 0x0f0f_0f0f), (8, 0x00ff_00ff)] {
                    let high = self.masked_shift(word, by, mask);
                    let low = self.masked(word, mask);
                    let shift = self.program.bits(by);
                    let low = self.program.alu(AddOp::Shl, low, shift);
                    word = self.program.or(high, low);
                }
                let by = self.program.bits(16);
                self.program.alu(AddOp::Ror, word, by)
            }
            F::ExtractBits => {
                let (offset, count) = self.field_of_bits(scalars[1], scalars[2]);
                // A field without bits is 0; the hardware has no shift by 32.
                let width = self.program.bits(32);
                let end = self.program.alu(AddOp::Add, offset, count);
                let above = self.program.alu(AddOp::Sub, width, end);
                let up = self.program.alu(AddOp::Shl, a, above);
                let down = self.program.alu(AddOp::Sub, width, count);
                let field = self.program.alu(if signed { AddOp::Asr } else { AddOp::Shr }, up, down);
                let none = self.program.compare(Relation::Equal, count, zero);
                self.program.select(none, zero, field)
            }
            F::InsertBits => {
                let (offset, count) = self.field_of_bits(scalars[2], scalars[3]);
                let (width, all) = (self.program.bits(32), self.program.bits(u32::MAX));
                let down = self.program.alu(AddOp::Sub, width, count);
                let mask = self.program.alu(AddOp::Shr, all, down);
                let mask = self.program.alu(AddOp::Shl, mask, offset);
                let none = self.program.compare(Relation::Equal, count, zero);
                let mask = self.program.select(none, zero, mask);
                let new = self.program.alu(AddOp::Shl, scalars[1], offset);
                let difference = self.program.alu(AddOp::Xor, a, new);
                let difference = self.program.and(difference, mask);
                self.program.alu(AddOp::Xor, a, difference)
            }
            _ => return refuse(span, &Limit::BUILT_IN_FUNCTION),
        })
    }

    /// Offset and count of a bit field, clamped to the word as WGSL specifies.
    fn field_of_bits(&mut self, offset: Value, count: Value) -> (Value, Value) {
        let width = self.program.bits(32);
        let least = |lowering: &mut Self, a, b| {
            let less = lowering.program.compare(Relation::UnsignedLess, a, b);
            lowering.program.select(less, a, b)
        };
        let offset = least(self, offset, width);
        let rest = self.program.alu(AddOp::Sub, width, offset);
        (offset, least(self, count, rest))
    }

    fn masked(&mut self, a: Value, mask: u32) -> Value {
        let mask = self.program.bits(mask);
        self.program.and(a, mask)
    }

    fn masked_shift(&mut self, a: Value, by: u32, mask: u32) -> Value {
        let by = self.program.bits(by);
        let shifted = self.program.alu(AddOp::Shr, a, by);
        self.masked(shifted, mask)
    }

    /// Packs the lowest bytes of four integers, the first in the lowest byte.
    pub(super) fn packed_bytes(&mut self, a: &[Value]) -> Value {
        let mut word = self.program.bits(0);
        for (at, &a) in a.iter().enumerate() {
            let byte = self.masked(a, 0xff);
            let by = self.program.bits(8 * at as u32);
            let byte = self.program.alu(AddOp::Shl, byte, by);
            word = self.program.or(word, byte);
        }
        word
    }

    /// The dot product of four bytes each.
    pub(super) fn dot_of_bytes(&mut self, a: Value, b: Value, signed: bool) -> Value {
        let mut sum = self.program.bits(0);
        for at in 0..4 {
            let [a, b] = [a, b].map(|word| self.byte(word, at, signed));
            let product = self.program.value(Op::Mul(MulOp::Mul24, a, b));
            sum = self.program.alu(AddOp::Add, sum, product);
        }
        if signed {
            // The lower 24 bits of products of negative numbers are correct.
            let by = self.program.bits(8);
            let up = self.program.alu(AddOp::Shl, sum, by);
            sum = self.program.alu(AddOp::Asr, up, by);
        }
        sum
    }

    /// A byte of a word as an integer.
    fn byte(&mut self, word: Value, at: u32, signed: bool) -> Value {
        if !signed {
            let by = self.program.bits(8 * at);
            let shifted = self.program.alu(AddOp::Shr, word, by);
            return self.masked(shifted, 0xff);
        }
        let (up, down) = (self.program.bits(24 - 8 * at), self.program.bits(24));
        let word = self.program.alu(AddOp::Shl, word, up);
        self.program.alu(AddOp::Asr, word, down)
    }

    /// `frexp`: a fraction from 0.5 to 1 and a power of two. Both are 0 for 0; denormals yield unspecified results.
    pub(super) fn fraction_and_exponent(&mut self, a: Value) -> (Value, Value) {
        let (zero, by, bias, half) =
            (self.program.bits(0), self.program.bits(23), self.program.bits(126), self.program.float(0.5));
        let exponent = self.program.alu(AddOp::Shr, a, by);
        let exponent = self.masked(exponent, 0xff);
        let exponent = self.program.alu(AddOp::Sub, exponent, bias);
        let fraction = self.masked(a, 0x807f_ffff);
        let fraction = self.program.or(fraction, half);
        let nothing = self.program.compare(Relation::FloatEqual, a, zero);
        (self.program.select(nothing, a, fraction), self.program.select(nothing, zero, exponent))
    }

    /// Packs floats as bytes or halves.
    pub(super) fn packed(&mut self, function: MathFunction, a: &[Value]) -> Value {
        use MathFunction as F;
        match function {
            F::Pack4x8unorm => self.packed_color(a),
            F::Pack2x16float => {
                let low = self.program.value(Op::PackHalf(0, None, a[0]));
                self.program.value(Op::PackHalf(1, Some(low), a[1]))
            }
            _ => {
                let (low, scale, width) = match function {
                    F::Pack4x8snorm => (-1.0, 127.0, 8),
                    F::Pack2x16unorm => (0.0, 65535.0, 16),
                    _ => (-1.0, 32767.0, 16),
                };
                let mut word = self.program.bits(0);
                for (at, &a) in a.iter().enumerate() {
                    let (low, high) = (self.program.float(low), self.program.float(1.0));
                    let within = self.program.alu(AddOp::Fmax, a, low);
                    let within = self.program.alu(AddOp::Fmin, within, high);
                    let scale = self.program.float(scale);
                    let scaled = self.program.fmul(within, scale);
                    // To the nearest integer: a half is added, with the sign of the number, and the sum is truncated.
                    let (half, zero) = (self.program.float(0.5), self.program.bits(0));
                    let minus = self.program.float(-0.5);
                    let negative = self.program.compare(Relation::FloatLess, scaled, zero);
                    let half = self.program.select(negative, minus, half);
                    let scaled = self.program.fadd(scaled, half);
                    let whole = self.program.alu(AddOp::Ftoi, scaled, scaled);
                    let part = self.masked(whole, (1u64 << width) as u32 - 1);
                    let by = self.program.bits(width * at as u32);
                    let part = self.program.alu(AddOp::Shl, part, by);
                    word = self.program.or(word, part);
                }
                word
            }
        }
    }

    /// Packs four floats between 0 and 1 as bytes, the first in the lowest byte.
    pub(super) fn packed_color(&mut self, a: &[Value]) -> Value {
        // Fast path: an unchanged texture colour, or one with another alpha.
        let from = |program: &crate::ssa::Program, at: usize| match program.op(a[at]) {
            Op::Unpack(PackedComponent::Byte(byte), word) if usize::from(byte) == at => Some(word),
            _ => None,
        };
        let words: Vec<Option<Value>> = (0..4).map(|at| from(&self.program, at)).collect();
        if let Some(word) = words[0]
            && words[..3].iter().all(|other| *other == Some(word))
        {
            if words[3] == Some(word) {
                return word;
            }
            if self.program.constant(a[3]) == Some(1.0f32.to_bits()) {
                let alpha = self.program.bits(0xff00_0000);
                return self.program.or(word, alpha);
            }
        }
        // Constants are combined first to one word, into which the others are packed.
        let known: Vec<usize> = (0..4).filter(|&at| self.program.constant(a[at]).is_some()).collect();
        let (mut word, mut rest) = match known.as_slice() {
            [] => {
                // The most frequent byte is replicated to all bytes first.
                let count = |at: usize| (0..4).filter(|&other| a[other] == a[at]).count();
                let most = (0..4).max_by_key(|&at| (count(at), 4 - at)).unwrap_or(0);
                let word = self.program.value(Op::PackAll(a[most]));
                (word, (0..4).filter(|&at| a[at] != a[most]).collect::<Vec<_>>())
            }
            known => {
                let mut word = self.program.value(Op::PackAll(a[known[0]]));
                for &at in &known[1..] {
                    word = self.program.value(Op::PackByte(at as u8, word, a[at]));
                }
                (word, (0..4).filter(|at| !known.contains(at)).collect())
            }
        };
        for at in rest.drain(..) {
            word = self.program.value(Op::PackByte(at as u8, word, a[at]));
        }
        word
    }

    pub(super) fn unpacked(&mut self, function: MathFunction, a: Value) -> Vec<Value> {
        use MathFunction as F;
        match function {
            F::Unpack4x8unorm => {
                (0..4).map(|byte| self.program.value(Op::Unpack(PackedComponent::Byte(byte), a))).collect()
            }
            F::Unpack2x16float => {
                (0..2).map(|half| self.program.value(Op::Unpack(PackedComponent::Half(half), a))).collect()
            }
            F::Unpack4xU8 => (0..4).map(|byte| self.masked_shift(a, 8 * byte, 0xff)).collect(),
            F::Unpack2x16unorm => (0..2)
                .map(|half| {
                    let part = self.masked_shift(a, 16 * half, 0xffff);
                    let number = self.program.alu(AddOp::Itof, part, part);
                    let scale = self.program.float(1.0 / 65535.0);
                    self.program.fmul(number, scale)
                })
                .collect(),
            _ => {
                let (width, scale) = match function {
                    F::Unpack4x8snorm => (8, Some(1.0 / 127.0)),
                    F::Unpack4xI8 => (8, None),
                    _ => (16, Some(1.0 / 32767.0)),
                };
                (0..32 / width)
                    .map(|at| {
                        let (up, down) = (self.program.bits(32 - width * (at + 1)), self.program.bits(32 - width));
                        let part = self.program.alu(AddOp::Shl, a, up);
                        let part = self.program.alu(AddOp::Asr, part, down);
                        let Some(scale) = scale else { return part };
                        let number = self.program.alu(AddOp::Itof, part, part);
                        let scale = self.program.float(scale);
                        let number = self.program.fmul(number, scale);
                        let least = self.program.float(-1.0);
                        self.program.alu(AddOp::Fmax, number, least)
                    })
                    .collect()
            }
        }
    }
}
