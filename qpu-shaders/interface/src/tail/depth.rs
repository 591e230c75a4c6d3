//! Comparisons, and the depth test.

use v3d_hw::control_list::CompareFunction;

/// A comparison of a new value with the stored one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// Never.
    Never,
    /// When it is less.
    Less,
    /// When it is equal.
    Equal,
    /// When it is less or equal.
    LessOrEqual,
    /// When it is greater.
    Greater,
    /// When it is not equal.
    NotEqual,
    /// When it is greater or equal.
    GreaterOrEqual,
    /// Always.
    Always,
}

impl Compare {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Never,
        Self::Less,
        Self::Equal,
        Self::LessOrEqual,
        Self::Greater,
        Self::NotEqual,
        Self::GreaterOrEqual,
        Self::Always,
    ];

    /// The comparison in control records.
    pub const fn function(self) -> CompareFunction {
        match self {
            Self::Never => CompareFunction::Never,
            Self::Less => CompareFunction::Less,
            Self::Equal => CompareFunction::Equal,
            Self::LessOrEqual => CompareFunction::LessOrEqual,
            Self::Greater => CompareFunction::Greater,
            Self::NotEqual => CompareFunction::NotEqual,
            Self::GreaterOrEqual => CompareFunction::GreaterOrEqual,
            Self::Always => CompareFunction::Always,
        }
    }
}

/// A depth test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Depth {
    /// The comparison that a depth has to pass.
    pub test: Compare,
    /// Whether a depth that passes is stored.
    pub write: bool,
}

impl Depth {
    /// All fragments pass, and depths are not stored.
    pub const NONE: Self = Self { test: Compare::Always, write: false };
    /// Nearer fragments hide farther ones.
    pub const LESS: Self = Self { test: Compare::Less, write: true };
}
