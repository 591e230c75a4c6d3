//! What becomes of a fragment's colour and the one that is there: blending, logic operations, colour mask, alpha test.

use super::depth::Compare;

/// What a colour is multiplied with, channel by channel.
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
    /// The colour that is there.
    TargetColor,
    /// 1 minus the colour that is there.
    OneMinusTargetColor,
    /// The fragment's alpha.
    SourceAlpha,
    /// 1 minus the fragment's alpha.
    OneMinusSourceAlpha,
    /// The alpha that is there.
    TargetAlpha,
    /// 1 minus the alpha that is there.
    OneMinusTargetAlpha,
    /// The constant.
    Constant,
    /// 1 minus the constant.
    OneMinusConstant,
    /// The constant's alpha.
    ConstantAlpha,
    /// 1 minus the constant's alpha.
    OneMinusConstantAlpha,
    /// The lesser of the fragment's alpha and 1 minus the alpha that is there; 1 for alpha.
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

    /// The factor that is the same for alpha and does not mention colours.
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

/// How the two products become a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Equation {
    /// Their sum, at most 1.
    Add,
    /// The fragment's minus the one that is there, at least 0.
    Subtract,
    /// The one that is there minus the fragment's, at least 0.
    ReverseSubtract,
    /// The lesser of both colours; factors do not count.
    Min,
    /// The greater of both colours; factors do not count.
    Max,
}

impl Equation {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Add, Self::Subtract, Self::ReverseSubtract, Self::Min, Self::Max];
}

/// Equation and factors of colour or alpha.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlendPart {
    /// How the products become one.
    pub equation: Equation,
    /// What the fragment's colour is multiplied with.
    pub source: Factor,
    /// What the colour that is there is multiplied with.
    pub target: Factor,
}

impl BlendPart {
    /// The sum of two products.
    pub const fn sum(source: Factor, target: Factor) -> Self {
        Self { equation: Equation::Add, source, target }
    }
}

/// How a fragment's colour is mixed with the one that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blend {
    /// For red, green and blue.
    pub color: BlendPart,
    /// For alpha.
    pub alpha: BlendPart,
    /// The constant of the factors: red, green, blue, alpha.
    pub constant: [u8; 4],
}

impl Blend {
    /// The fragment's colour replaces the one that is there.
    pub const NONE: Self = Self::both(BlendPart::sum(Factor::One, Factor::Zero));
    /// As alpha says how opaque the fragment is.
    pub const ALPHA: Self = Self {
        color: BlendPart::sum(Factor::SourceAlpha, Factor::OneMinusSourceAlpha),
        alpha: BlendPart::sum(Factor::One, Factor::OneMinusSourceAlpha),
        constant: [0; 4],
    };
    /// As alpha says, with a colour that is multiplied with it already.
    pub const PREMULTIPLIED: Self = Self::both(BlendPart::sum(Factor::One, Factor::OneMinusSourceAlpha));
    /// Light on light.
    pub const ADD: Self = Self::both(BlendPart::sum(Factor::One, Factor::One));
    /// A colour filter.
    pub const MULTIPLY: Self = Self::both(BlendPart::sum(Factor::TargetColor, Factor::Zero));

    /// The same for colour and alpha.
    pub const fn both(part: BlendPart) -> Self {
        Self { color: part, alpha: part, constant: [0; 4] }
    }
}

/// An operation on the bits of the fragment's colour (s) and the one that is there (d).
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

/// Fragments whose alpha does not pass are not drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlphaTest {
    /// When the fragment's alpha passes.
    pub test: Compare,
    /// What it is compared with.
    pub reference: u8,
}

impl AlphaTest {
    /// All pass.
    pub const NONE: Self = Self { test: Compare::Always, reference: 0 };
}
