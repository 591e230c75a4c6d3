//! 64-bit colours: four half floats, computed one channel at a time.
//!
//! The fragment's red and green are in r0, its blue and alpha in r1. The tile buffer is read and written word by word, red and green first [AG p.48]. Half
//! floats are unpacked where register file A is read, and packed where the add ALU writes to it; nothing is clamped.
//!
//! | registers | contents |
//! |---|---|
//! | ra0, ra1 | the fragment's colour |
//! | ra2, ra3 | the target's colour |
//! | ra4, ra5 | the result |

use v3d_hw::qpu::{AddOp, MulOp, WriteTarget};

use super::emit::{From, Half, MOVE, To, Work};
use super::{AlphaTest, Blend, BlendPart, Builder, Equation, Factor, Logic, TailState};

const ADD: AddOp = AddOp::Fadd;
const SUBTRACT: AddOp = AddOp::Fsub;
const PRODUCT: Work = Work::Mul(MulOp::Fmul);
/// First register of file A with the fragment's colour.
const SOURCE: u8 = 0;
/// First register of file A with the target's colour.
const TARGET: u8 = 2;
/// First register of file A with the result.
const RESULT: u8 = 4;

/// A channel of a colour: its word, and its half of it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Channel {
    word: u8,
    half: Half,
}

impl Channel {
    const ALPHA: Self = Self { word: 1, half: Half::High };
    const ALL: [Self; 4] = [
        Self { word: 0, half: Half::Low },
        Self { word: 0, half: Half::High },
        Self { word: 1, half: Half::Low },
        Self::ALPHA,
    ];

    const fn of(self, first: u8) -> From {
        From::AHalf(first + self.word, self.half)
    }
}

/// The factor of a channel.
enum Scale {
    Zero,
    One,
    By(From),
    ByOneMinus(From),
    /// The lesser of the fragment's alpha and 1 minus the target's alpha.
    Saturate,
}

impl Builder {
    /// Writes the fragment's colour.
    pub(super) fn write_half_color(&mut self) {
        for n in 0..2 {
            self.move_to(To::Io(WriteTarget::TlbColorAll), From::R(n));
        }
    }

    /// Blends the fragment's colour with the target's, and writes it.
    pub(super) fn blend_half_color(&mut self, blend: &Blend) {
        for n in 0..2 {
            self.move_to(To::A(SOURCE + n), From::R(n));
        }
        for n in 0..2 {
            self.emitter.load_color();
            self.move_to(To::A(TARGET + n), From::R4);
        }
        for (channel, constant) in Channel::ALL.into_iter().zip(blend.constant) {
            let part = if channel == Channel::ALPHA { blend.alpha } else { blend.color };
            self.blend_channel(channel, part, [constant, blend.constant[3]]);
        }
        for n in 0..2 {
            self.move_to(To::Io(WriteTarget::TlbColorAll), From::A(RESULT + n));
        }
    }

    fn move_to(&mut self, to: To, from: From) {
        self.emitter.compute(MOVE, to, [from, from]);
    }

    fn blend_channel(&mut self, channel: Channel, part: BlendPart, constants: [u8; 2]) {
        let (source, target) = (channel.of(SOURCE), channel.of(TARGET));
        let result = To::AHalf(RESULT + channel.word, channel.half);
        let [r1, r2] = [From::R(1), From::R(2)];
        let of_extremes = match part.equation {
            Equation::Min => Some(AddOp::Fmin),
            Equation::Max => Some(AddOp::Fmax),
            _ => None,
        };
        if let Some(op) = of_extremes {
            // An instruction reads one register of file A.
            self.emitter.compute(PRODUCT, To::R(1), [source, From::One]);
            self.emitter.compute(Work::Add(op), result, [r1, target]);
            return;
        }
        let products = [(source, part.source, 1), (target, part.target, 2)].map(|(value, factor, n)| {
            let scale = self.scale(channel, factor, constants);
            self.scaled(value, scale, n)
        });
        let (op, first, second) = match (part.equation, products) {
            (Equation::Subtract, [source, target]) => (SUBTRACT, source.then_some(r1), target.then_some(r2)),
            (Equation::ReverseSubtract, [source, target]) => (SUBTRACT, target.then_some(r2), source.then_some(r1)),
            (_, [source, target]) => (ADD, source.then_some(r1), target.then_some(r2)),
        };
        // The integer 0 has the bits of the float 0.
        let from = [first, second].map(|from| from.unwrap_or(From::Small(0)));
        self.emitter.compute(Work::Add(op), result, from);
    }

    fn scale(&mut self, channel: Channel, factor: Factor, [constant, constant_alpha]: [u8; 2]) -> Scale {
        let factor = if channel == Channel::ALPHA { factor.of_alpha() } else { factor };
        let mut fraction = |value: u8| self.uniform((f32::from(value) / 255.0).to_bits());
        match factor {
            Factor::Zero => Scale::Zero,
            Factor::One => Scale::One,
            Factor::SourceColor => Scale::By(channel.of(SOURCE)),
            Factor::OneMinusSourceColor => Scale::ByOneMinus(channel.of(SOURCE)),
            Factor::TargetColor => Scale::By(channel.of(TARGET)),
            Factor::OneMinusTargetColor => Scale::ByOneMinus(channel.of(TARGET)),
            Factor::SourceAlpha => Scale::By(Channel::ALPHA.of(SOURCE)),
            Factor::OneMinusSourceAlpha => Scale::ByOneMinus(Channel::ALPHA.of(SOURCE)),
            Factor::TargetAlpha => Scale::By(Channel::ALPHA.of(TARGET)),
            Factor::OneMinusTargetAlpha => Scale::ByOneMinus(Channel::ALPHA.of(TARGET)),
            Factor::Constant => Scale::By(fraction(constant)),
            Factor::OneMinusConstant => Scale::By(fraction(!constant)),
            Factor::ConstantAlpha => Scale::By(fraction(constant_alpha)),
            Factor::OneMinusConstantAlpha => Scale::By(fraction(!constant_alpha)),
            Factor::SourceAlphaSaturate => Scale::Saturate,
        }
    }

    /// Computes a product in accumulator `n`; returns whether it may be nonzero.
    fn scaled(&mut self, value: From, scale: Scale, n: u8) -> bool {
        let (to, product) = (To::R(n), From::R(n));
        match scale {
            Scale::Zero => return false,
            Scale::One => self.emitter.compute(PRODUCT, to, [value, From::One]),
            Scale::By(factor) => {
                self.emitter.compute(PRODUCT, to, [value, From::One]);
                self.emitter.compute(PRODUCT, to, [product, factor]);
            }
            Scale::ByOneMinus(factor) => {
                self.emitter.compute(Work::Add(SUBTRACT), to, [From::One, factor]);
                self.emitter.compute(PRODUCT, to, [product, value]);
            }
            Scale::Saturate => {
                let room = [From::One, Channel::ALPHA.of(TARGET)];
                self.emitter.compute(Work::Add(SUBTRACT), to, room);
                self.emitter.compute(Work::Add(AddOp::Fmin), to, [product, Channel::ALPHA.of(SOURCE)]);
                self.emitter.compute(PRODUCT, to, [product, value]);
            }
        }
        true
    }
}

impl TailState {
    /// A sentence about state that is not supported for half floats, if there is any.
    pub fn refusal_of_half_color(&self) -> Option<&'static str> {
        match *self {
            Self { samples: 2.., .. } => Some("64-bit colours are for one sample a pixel"),
            Self { logic, .. } if logic != Logic::Copy => {
                Some("logic operations are for 8-bit channels, and the fragment shader leaves half floats")
            }
            Self { alpha_test, .. } if alpha_test != AlphaTest::NONE => {
                Some("the alpha test is for 8-bit channels, and the fragment shader leaves half floats")
            }
            Self { color_mask: 1..=0xffff_fffe, .. } => {
                Some("a mask of some channels is for 8-bit channels, and the fragment shader leaves half floats")
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{PLAIN, check, parts};
    use super::{Blend, TailState};
    use crate::tail::Depth;

    #[test]
    fn all_blending_breaks_no_rule() {
        let half = TailState { is_half: true, ..PLAIN };
        check(&half);
        check(&TailState { color_mask: 0, depth: Depth::LESS, ..half });
        for part in parts() {
            check(&TailState { blend: Blend::both(part), depth: Depth::LESS, ..half });
        }
    }
}
