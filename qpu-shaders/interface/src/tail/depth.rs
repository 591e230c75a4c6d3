//! Comparisons, and the depth test.

use v3d_hw::control_list::CompareFunction;

/// When a new value passes: compared with the one that is there.
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
    /// When it is another.
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

    /// As control records have it.
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

/// Depth test: where a fragment's depth passes it is drawn, and its depth perhaps kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Depth {
    /// When a depth passes.
    pub test: Compare,
    /// Whether a depth that passes is kept.
    pub write: bool,
}

impl Depth {
    /// All is drawn.
    pub const NONE: Self = Self { test: Compare::Always, write: false };
    /// Nearer things hide farther ones.
    pub const LESS: Self = Self { test: Compare::Less, write: true };
}
