//! The tail of a fragment program: code for what other GPUs do with fixed-function units after a shader.
//!
//! A fragment program leaves its colour in r0, red in the lowest byte, and the fragment's depth in rb15, and does not end itself. When a pipeline is created,
//! its tail is appended: alpha to coverage, alpha test, stencil set-up, the write of Z that performs the tests, blending with the target's colour, logic
//! operation and colour mask. Then the program is ended (`join.rs`). Tails may use r0 to r3, ra0 and ra1. Their uniforms follow the program's own. Programs
//! that leave half floats have a different tail (`half_color.rs`), which may use ra0 to ra5.
//!
//! # Cost of state
//! Instructions that are added to a program whose last ones leave room for the end: the third from the end has no signal and writes no register of a file, and
//! the last three access neither uniforms, varyings, TMUs nor register 14. Otherwise there are up to four more.
//!
//! | state | instructions |
//! |---|---|
//! | opaque | 1 |
//! | depth test | 2 |
//! | alpha test | 5 |
//! | stencil, both sides alike | 7 |
//! | blend by alpha | 6 |
//! | blend premultiplied | 5 |
//! | blend by alpha, four samples | 15 |
//! | exclusive or | 2 |
//! | red only | 6 |
//! | alpha to coverage | 8 |
//! | half floats, opaque | 2 |
//! | half floats, blend by alpha | 20 |
//!
//! # Sources
//! [AG p.47-50] for accesses to the tile buffer, [mesa vc4_program.c] for their order, [brcm glsl_allocator_4.c] for the end;
//! the OpenGL ES 2.0 specification, section 4.1, for the results.

use alloc::vec::Vec;
use v3d_hw::qpu::{AddOp, Condition, MulOp, WriteTarget};

pub mod blend;
mod depth;
mod emit;
mod half_color;
mod join;
pub mod stencil;
#[cfg(test)]
mod tests;

use blend::{AlphaTest, Blend, BlendPart, Equation, Factor, Logic};
pub use depth::{Compare, Depth};
use emit::{Emitter, From, MOVE, Op, To, Work};
pub use join::Joined;
use stencil::Stencil;

/// Register of a fragment's depth at the program's start, and of the program's own depth at its end.
const DEPTH: From = From::B(DEPTH_REGISTER);
/// Its number in file B.
const DEPTH_REGISTER: u8 = 15;
/// The bits of red, green and blue.
const COLOR: u32 = 0x00ff_ffff;
/// The bits of alpha.
const ALPHA: u32 = 0xff00_0000;
/// Register of file A with the fragment's colour, where its alpha can be replicated to all bytes.
const SOURCE_COPY: u8 = 0;
/// Register of file A that holds red, green and blue while alpha is computed.
const COLOR_KEPT: u8 = 1;

/// The part of a pipeline's state that is implemented by code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TailState {
    /// Whether the fragment's and the target's colours are four half floats.
    pub is_half: bool,
    /// Samples per pixel: 1 or 4.
    pub samples: u8,
    /// Depth test.
    pub depth: Depth,
    /// Stencil test, if there is one.
    pub stencil: Option<Stencil>,
    /// A test of the fragment's alpha; fragments that fail are discarded.
    pub alpha_test: AlphaTest,
    /// Whether alpha determines how many of four samples are written.
    pub alpha_to_coverage: bool,
    /// How the fragment's colour is combined with the target's.
    pub blend: Blend,
    /// A bitwise operation on both colours, instead of blending.
    pub logic: Logic,
    /// The bits of the colour that are written, red in the lowest byte.
    pub color_mask: u32,
}

/// Instructions and uniforms of a tail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tail {
    /// Instructions, without the end.
    words: Vec<u64>,
    /// Uniforms, which follow those of the program.
    pub uniforms: Vec<u32>,
}

impl TailState {
    /// The fragment's colour replaces the target's.
    pub const PLAIN: Self = Self {
        is_half: false,
        samples: 1,
        depth: Depth::NONE,
        stencil: None,
        alpha_test: AlphaTest::NONE,
        alpha_to_coverage: false,
        blend: Blend::NONE,
        logic: Logic::Copy,
        color_mask: u32::MAX,
    };

    /// Generates the tail. `None` if an instruction or a stencil word cannot be encoded, which is not the case for any state in the tests.
    pub fn build(&self) -> Option<Tail> {
        let mut builder = Builder { emitter: Emitter::default(), uniforms: Vec::new() };
        if self.alpha_to_coverage {
            builder.alpha_to_coverage();
        }
        let when = builder.alpha_test(self.alpha_test);
        if let Some(stencil) = &self.stencil {
            for word in stencil.words()? {
                let from = builder.uniform(word);
                builder.emitter.compute(MOVE, To::Io(WriteTarget::TlbStencilSetup), [from, from]);
            }
        }
        if self.depth != Depth::NONE || self.stencil.is_some() {
            let (to, from) = (To::Io(WriteTarget::TlbZ), [DEPTH, DEPTH]);
            builder.emitter.op(Op { work: MOVE, to, from, when, set_flags: false });
        }
        match self.is_half {
            true => self.half_color(&mut builder),
            false => self.color(&mut builder, when),
        }
        let Builder { emitter, uniforms } = builder;
        Some(Tail { words: emitter.finish()?, uniforms })
    }

    fn half_color(&self, builder: &mut Builder) {
        let blend = self.blend.simplified();
        match self.color_mask {
            0 => {}
            _ if blend == Blend::NONE.simplified() => builder.write_half_color(),
            _ => builder.blend_half_color(&blend),
        }
    }

    /// Whether the result depends on the target's colour.
    fn reads_target(&self) -> bool {
        let blends = self.blend.simplified() != Blend::NONE.simplified();
        let logic = !matches!(self.logic, Logic::Copy | Logic::CopyInverted | Logic::Clear | Logic::Set);
        blends || logic || self.color_mask != u32::MAX
    }

    fn color(&self, builder: &mut Builder, when: Condition) {
        if self.color_mask == 0 || self.logic == Logic::Noop {
            return;
        }
        let (times, unit) = match (self.reads_target(), self.samples) {
            (true, samples @ 2..) => (samples, WriteTarget::TlbColorMs),
            _ => (1, WriteTarget::TlbColorAll),
        };
        let blend = self.blend.simplified();
        if blend.uses_source_alpha() {
            let from = From::R(0);
            builder.emitter.compute(MOVE, To::A(SOURCE_COPY), [from, from]);
        }
        for _ in 0..times {
            if self.reads_target() {
                builder.emitter.load_color();
            }
            let result = match self.logic {
                Logic::Copy => builder.blend(&blend),
                logic => builder.logic(logic),
            };
            let result = builder.masked(result, self.color_mask);
            let result = builder.operand(result);
            builder.emitter.send(result, unit, when);
        }
    }
}

impl Blend {
    /// An equivalent blending in a canonical form, without factors that have no effect.
    fn simplified(&self) -> Self {
        let part = |part: BlendPart| match part.equation {
            Equation::Min | Equation::Max => BlendPart { source: Factor::One, target: Factor::One, ..part },
            _ => part,
        };
        let alpha = part(self.alpha);
        let alpha = BlendPart { source: alpha.source.of_alpha(), target: alpha.target.of_alpha(), ..alpha };
        Self { color: part(self.color), alpha, constant: self.constant }
    }

    fn uses_source_alpha(&self) -> bool {
        let uses =
            |factor| matches!(factor, Factor::SourceAlpha | Factor::OneMinusSourceAlpha | Factor::SourceAlphaSaturate);
        [self.color.source, self.color.target, self.alpha.source, self.alpha.target].into_iter().any(uses)
    }
}

/// A value of four bytes when the tail is generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    /// A constant.
    Known(u32),
    /// A value that the program computes.
    At(From),
}

impl Value {
    const ZERO: Self = Self::Known(0);
    const ONE: Self = Self::Known(u32::MAX);
}

/// A tail under construction.
struct Builder {
    emitter: Emitter,
    uniforms: Vec<u32>,
}

impl Builder {
    /// A uniform with this value, to be read by the next operation.
    fn uniform(&mut self, word: u32) -> From {
        self.uniforms.push(word);
        From::Uniform
    }

    /// A value as an operand of the next operation.
    fn operand(&mut self, value: Value) -> From {
        match value {
            Value::Known(word) => self.uniform(word),
            Value::At(from) => from,
        }
    }

    /// Writes a number of the four samples that is proportional to alpha, rounded.
    fn alpha_to_coverage(&mut self) {
        let r1 = From::R(1);
        let add = |op| Work::Add(op);
        // Alpha is in bits 31:24: shifting right by 29 leaves eighths; half of the next even number is the number of quarters, rounded.
        self.emitter.compute(add(AddOp::Shr), To::R(1), [From::R(0), From::Small(29 - 32)]);
        self.emitter.compute(add(AddOp::Add), To::R(1), [r1, From::Small(1)]);
        self.emitter.compute(add(AddOp::Shr), To::R(1), [r1, From::Small(1)]);
        self.emitter.compute(add(AddOp::Shl), To::R(1), [From::Small(1), r1]);
        self.emitter.compute(add(AddOp::Sub), To::R(1), [r1, From::Small(1)]);
        self.emitter.compute(add(AddOp::And), To::Io(WriteTarget::MsFlags), [r1, From::MsFlags]);
    }

    /// Sets the flags by the alpha test, and returns the condition under which a fragment passes.
    fn alpha_test(&mut self, test: AlphaTest) -> Condition {
        let alpha = From::R(1);
        let (reference_first, when) = match test.test {
            Compare::Always => return Condition::Always,
            Compare::Never => {
                let (work, from) = (Work::Add(AddOp::Sub), [From::R(0); 2]);
                let when = Condition::Always;
                self.emitter.op(Op { work, to: To::Nowhere, from, when, set_flags: true });
                return Condition::ZClear;
            }
            Compare::Less => (false, Condition::NSet),
            Compare::GreaterOrEqual => (false, Condition::NClear),
            Compare::Equal => (false, Condition::ZSet),
            Compare::NotEqual => (false, Condition::ZClear),
            Compare::Greater => (true, Condition::NSet),
            Compare::LessOrEqual => (true, Condition::NClear),
        };
        self.emitter.compute(Work::Add(AddOp::Shr), To::R(1), [From::R(0), From::Small(24 - 32)]);
        let reference = self.uniform(u32::from(test.reference));
        let from = if reference_first { [reference, alpha] } else { [alpha, reference] };
        let (work, always) = (Work::Add(AddOp::Sub), Condition::Always);
        self.emitter.op(Op { work, to: To::Nowhere, from, when: always, set_flags: true });
        when
    }

    /// Blends r0 with r4.
    fn blend(&mut self, blend: &Blend) -> Value {
        let Blend { color, alpha, constant } = *blend;
        let constant = u32::from_le_bytes(constant);
        if color.equation == alpha.equation {
            return self.equation(
                color.equation,
                [(color.source, alpha.source), (color.target, alpha.target)],
                constant,
            );
        }
        let parts = |part: BlendPart| [(part.source, part.source.of_alpha()), (part.target, part.target.of_alpha())];
        let of_color = self.equation(color.equation, parts(color), constant);
        let of_color = self.operand(of_color);
        self.emitter.compute(MOVE, To::A(COLOR_KEPT), [of_color; 2]);
        let of_alpha = self.equation(alpha.equation, parts(alpha), constant);
        self.merge(Value::At(From::A(COLOR_KEPT)), of_alpha, 1, 2)
    }

    /// The result of one equation, with factors of source and target.
    fn equation(&mut self, equation: Equation, factors: [(Factor, Factor); 2], constant: u32) -> Value {
        let (source, target) = (From::R(0), From::R4);
        let work = match equation {
            Equation::Min => return self.result(Work::Mul(MulOp::V8min), [source, target]),
            Equation::Max => return self.result(Work::Mul(MulOp::V8max), [source, target]),
            Equation::Add => Work::Either(AddOp::V8adds, MulOp::V8adds),
            Equation::Subtract | Equation::ReverseSubtract => Work::Either(AddOp::V8subs, MulOp::V8subs),
        };
        let product_of_source = self.product(source, factors[0], constant, 1);
        let product_of_target = self.product(target, factors[1], constant, 2);
        let (first, second) = match equation {
            Equation::ReverseSubtract => (product_of_target, product_of_source),
            _ => (product_of_source, product_of_target),
        };
        match (equation, first, second) {
            (_, first, Value::ZERO) => first,
            (Equation::Add, Value::ZERO, second) => second,
            (_, Value::ZERO, _) => Value::ZERO,
            _ => {
                let from = [self.operand(first), self.operand(second)];
                self.result(work, from)
            }
        }
    }

    fn result(&mut self, work: Work, from: [From; 2]) -> Value {
        self.emitter.compute(work, To::R(1), from);
        Value::At(From::R(1))
    }

    /// A colour multiplied by its factor, in register `n` if it is computed.
    fn product(&mut self, color: From, (of_color, of_alpha): (Factor, Factor), constant: u32, n: u8) -> Value {
        let factor = if of_color.of_alpha() == of_alpha {
            self.factor(of_color, constant, n)
        } else {
            let of_color = self.factor(of_color, constant, n);
            let of_alpha = self.factor(of_alpha, constant, 3);
            self.merge(of_color, of_alpha, n, 3)
        };
        match factor {
            Value::ZERO => Value::ZERO,
            Value::ONE => Value::At(color),
            factor => {
                let mut factor = self.operand(factor);
                if (color, factor) == (From::R4, From::R4Alpha) {
                    // An instruction can unpack r4 only one way.
                    self.emitter.compute(MOVE, To::R(n), [factor, factor]);
                    factor = From::R(n);
                }
                self.emitter.compute(Work::Mul(MulOp::V8muld), To::R(n), [color, factor]);
                Value::At(From::R(n))
            }
        }
    }

    /// The value of a factor, in register `n` if it is computed.
    fn factor(&mut self, factor: Factor, constant: u32, n: u8) -> Value {
        let alpha_of_source = From::AAlpha(SOURCE_COPY);
        let constant_alpha = (constant >> 24) * 0x0101_0101;
        match factor {
            Factor::Zero => Value::ZERO,
            Factor::One => Value::ONE,
            Factor::SourceColor => Value::At(From::R(0)),
            Factor::OneMinusSourceColor => self.not(From::R(0), n),
            Factor::TargetColor => Value::At(From::R4),
            Factor::OneMinusTargetColor => self.not(From::R4, n),
            Factor::SourceAlpha => Value::At(alpha_of_source),
            Factor::OneMinusSourceAlpha => self.not(alpha_of_source, n),
            Factor::TargetAlpha => Value::At(From::R4Alpha),
            Factor::OneMinusTargetAlpha => self.not(From::R4Alpha, n),
            Factor::Constant => Value::Known(constant),
            Factor::OneMinusConstant => Value::Known(!constant),
            Factor::ConstantAlpha => Value::Known(constant_alpha),
            Factor::OneMinusConstantAlpha => Value::Known(!constant_alpha),
            Factor::SourceAlphaSaturate => {
                let room = self.not(From::R4Alpha, n);
                let room = self.operand(room);
                self.emitter.compute(Work::Mul(MulOp::V8min), To::R(n), [room, alpha_of_source]);
                let alpha = self.uniform(ALPHA);
                self.emitter.compute(Work::Add(AddOp::Or), To::R(n), [From::R(n), alpha]);
                Value::At(From::R(n))
            }
        }
    }

    /// 1 minus a value, in register `n`.
    fn not(&mut self, from: From, n: u8) -> Value {
        self.emitter.compute(Work::Add(AddOp::Not), To::R(n), [from, from]);
        Value::At(From::R(n))
    }

    /// Red, green and blue of one value with the alpha of another, in register `n` if it is computed; `other` is a
    /// temporary register.
    fn merge(&mut self, color: Value, alpha: Value, n: u8, other: u8) -> Value {
        match (color, alpha) {
            (Value::Known(color), Value::Known(alpha)) => Value::Known(color & COLOR | alpha & ALPHA),
            (Value::Known(color), Value::At(alpha)) => self.with_known(alpha, ALPHA, color, n),
            (Value::At(color), Value::Known(alpha)) => self.with_known(color, COLOR, alpha, n),
            (Value::At(color), Value::At(alpha)) => {
                let bits = self.uniform(ALPHA);
                self.emitter.compute(Work::Add(AddOp::And), To::R(other), [alpha, bits]);
                let bits = self.uniform(COLOR);
                self.emitter.compute(Work::Add(AddOp::And), To::R(n), [color, bits]);
                self.emitter.compute(Work::Add(AddOp::Or), To::R(n), [From::R(n), From::R(other)]);
                Value::At(From::R(n))
            }
        }
    }

    /// The bits `kept` of a value combined with the other bits of `known`, in register `n`.
    fn with_known(&mut self, from: From, kept: u32, known: u32, n: u8) -> Value {
        let known = known & !kept;
        if known == !kept {
            let bits = self.uniform(known);
            self.emitter.compute(Work::Add(AddOp::Or), To::R(n), [from, bits]);
            return Value::At(From::R(n));
        }
        let bits = self.uniform(kept);
        self.emitter.compute(Work::Add(AddOp::And), To::R(n), [from, bits]);
        if known != 0 {
            let bits = self.uniform(known);
            self.emitter.compute(Work::Add(AddOp::Or), To::R(n), [From::R(n), bits]);
        }
        Value::At(From::R(n))
    }

    /// A logic operation of r0 and r4.
    fn logic(&mut self, logic: Logic) -> Value {
        let (s, d) = (From::R(0), From::R4);
        let inverted = |of: From| (of, true);
        let plain = |of: From| (of, false);
        let (operation, [first, second], invert) = match logic {
            Logic::Clear => return Value::ZERO,
            Logic::Set => return Value::ONE,
            Logic::Copy => return Value::At(s),
            Logic::Noop => return Value::At(d),
            Logic::CopyInverted => return self.not(s, 1),
            Logic::Invert => return self.not(d, 1),
            Logic::And => (AddOp::And, [plain(s), plain(d)], false),
            Logic::AndReverse => (AddOp::And, [plain(s), inverted(d)], false),
            Logic::AndInverted => (AddOp::And, [inverted(s), plain(d)], false),
            Logic::Nand => (AddOp::And, [plain(s), plain(d)], true),
            Logic::Or => (AddOp::Or, [plain(s), plain(d)], false),
            Logic::OrReverse => (AddOp::Or, [plain(s), inverted(d)], false),
            Logic::OrInverted => (AddOp::Or, [inverted(s), plain(d)], false),
            Logic::Nor => (AddOp::Or, [plain(s), plain(d)], true),
            Logic::Xor => (AddOp::Xor, [plain(s), plain(d)], false),
            Logic::Equivalent => (AddOp::Xor, [plain(s), plain(d)], true),
        };
        let mut operand = |(of, inverted): (From, bool)| if inverted { self.not(of, 1) } else { Value::At(of) };
        let (first, second) = (operand(first), operand(second));
        let from = [self.operand(first), self.operand(second)];
        self.emitter.compute(Work::Add(operation), To::R(1), from);
        if invert { self.not(From::R(1), 1) } else { Value::At(From::R(1)) }
    }

    /// The new colour where the mask's bits are set, the target's elsewhere.
    fn masked(&mut self, value: Value, mask: u32) -> Value {
        if mask == u32::MAX {
            return value;
        }
        let bits = self.uniform(!mask);
        self.emitter.compute(Work::Add(AddOp::And), To::R(2), [From::R4, bits]);
        match value {
            Value::Known(known) => {
                let bits = self.uniform(known & mask);
                self.emitter.compute(Work::Add(AddOp::Or), To::R(1), [From::R(2), bits]);
            }
            Value::At(from) => {
                let bits = self.uniform(mask);
                self.emitter.compute(Work::Add(AddOp::And), To::R(1), [from, bits]);
                self.emitter.compute(Work::Add(AddOp::Or), To::R(1), [From::R(1), From::R(2)]);
            }
        }
        Value::At(From::R(1))
    }
}
