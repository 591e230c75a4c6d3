//! Blending, logic operations and the alpha test.

use super::depth::Compare;

/// A factor of a colour, channel by channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    /// 0.
    Zero,
    /// 1.
    One,
    /// The fragment's colour.
    SourceColor,
    /// 1 minus the fragment's colour.
    OneMinusSourceColor,
    /// The target's colour.
    TargetColor,
    /// 1 minus the target's colour.
    OneMinusTargetColor,
    /// The fragment's alpha.
    SourceAlpha,
    /// 1 minus the fragment's alpha.
    OneMinusSourceAlpha,
    /// The target's alpha.
    TargetAlpha,
    /// 1 minus the target's alpha.
    OneMinusTargetAlpha,
    /// The constant colour.
    Constant,
    /// 1 minus the constant colour.
    OneMinusConstant,
    /// The constant colour's alpha.
    ConstantAlpha,
    /// 1 minus the constant colour's alpha.
    OneMinusConstantAlpha,
    /// The lesser of the fragment's alpha and 1 minus the target's alpha; 1 for alpha.
    SourceAlphaSaturate,
}

impl Factor {
    /// All of them.
    pub const ALL: [Self; 15] = [
        Self::Zero,
        Self::One,
        Self::SourceColor,
        Self::OneMinusSourceColor,
        Self::TargetColor,
        Self::OneMinusTargetColor,
        Self::SourceAlpha,
        Self::OneMinusSourceAlpha,
        Self::TargetAlpha,
        Self::OneMinusTargetAlpha,
        Self::Constant,
        Self::OneMinusConstant,
        Self::ConstantAlpha,
        Self::OneMinusConstantAlpha,
        Self::SourceAlphaSaturate,
    ];

    /// The equivalent factor for the alpha channel, which does not use colours.
    pub(super) const fn of_alpha(self) -> Self {
        match self {
            Self::SourceColor => Self::SourceAlpha,
            Self::OneMinusSourceColor => Self::OneMinusSourceAlpha,
            Self::TargetColor => Self::TargetAlpha,
            Self::OneMinusTargetColor => Self::OneMinusTargetAlpha,
            Self::Constant => Self::ConstantAlpha,
            Self::OneMinusConstant => Self::OneMinusConstantAlpha,
            Self::SourceAlphaSaturate => Self::One,
            other => other,
        }
    }
}

/// How the two products are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Equation {
    /// Their sum, clamped to 1.
    Add,
    /// The fragment's minus the target's, clamped to 0.
    Subtract,
    /// The target's minus the fragment's, clamped to 0.
    ReverseSubtract,
    /// The minimum of both colours, without factors.
    Min,
    /// The maximum of both colours, without factors.
    Max,
}

impl Equation {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Add, Self::Subtract, Self::ReverseSubtract, Self::Min, Self::Max];
}

/// Equation and factors of colour or alpha.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlendPart {
    /// How the products are combined.
    pub equation: Equation,
    /// Factor of the fragment's colour.
    pub source: Factor,
    /// Factor of the target's colour.
    pub target: Factor,
}

impl BlendPart {
    /// The sum of two products.
    pub const fn sum(source: Factor, target: Factor) -> Self {
        Self { equation: Equation::Add, source, target }
    }
}

/// How a fragment's colour is combined with the target's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blend {
    /// For red, green and blue.
    pub color: BlendPart,
    /// For alpha.
    pub alpha: BlendPart,
    /// The constant colour: red, green, blue, alpha.
    pub constant: [u8; 4],
}

impl Blend {
    /// The fragment's colour replaces the target's.
    pub const NONE: Self = Self::both(BlendPart::sum(Factor::One, Factor::Zero));
    /// Transparency by the fragment's alpha.
    pub const ALPHA: Self = Self {
        color: BlendPart::sum(Factor::SourceAlpha, Factor::OneMinusSourceAlpha),
        alpha: BlendPart::sum(Factor::One, Factor::OneMinusSourceAlpha),
        constant: [0; 4],
    };
    /// Transparency by the fragment's alpha, for premultiplied colours.
    pub const PREMULTIPLIED: Self = Self::both(BlendPart::sum(Factor::One, Factor::OneMinusSourceAlpha));
    /// Additive blending.
    pub const ADD: Self = Self::both(BlendPart::sum(Factor::One, Factor::One));
    /// Multiplication with the target's colour.
    pub const MULTIPLY: Self = Self::both(BlendPart::sum(Factor::TargetColor, Factor::Zero));

    /// The same for colour and alpha.
    pub const fn both(part: BlendPart) -> Self {
        Self { color: part, alpha: part, constant: [0; 4] }
    }
}

/// A bitwise operation on the fragment's colour (s) and the target's (d).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logic {
    /// 0.
    Clear,
    /// s & d.
    And,
    /// s & !d.
    AndReverse,
    /// s.
    Copy,
    /// !s & d.
    AndInverted,
    /// d.
    Noop,
    /// s ^ d.
    Xor,
    /// s | d.
    Or,
    /// !(s | d).
    Nor,
    /// !(s ^ d).
    Equivalent,
    /// !d.
    Invert,
    /// s | !d.
    OrReverse,
    /// !s.
    CopyInverted,
    /// !s | d.
    OrInverted,
    /// !(s & d).
    Nand,
    /// All bits.
    Set,
}

impl Logic {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::Clear,
        Self::And,
        Self::AndReverse,
        Self::Copy,
        Self::AndInverted,
        Self::Noop,
        Self::Xor,
        Self::Or,
        Self::Nor,
        Self::Equivalent,
        Self::Invert,
        Self::OrReverse,
        Self::CopyInverted,
        Self::OrInverted,
        Self::Nand,
        Self::Set,
    ];
}

/// A test of the fragment's alpha; fragments that fail are discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlphaTest {
    /// The comparison that alpha has to pass.
    pub test: Compare,
    /// The value that alpha is compared with.
    pub reference: u8,
}

impl AlphaTest {
    /// All fragments pass.
    pub const NONE: Self = Self { test: Compare::Always, reference: 0 };
}
