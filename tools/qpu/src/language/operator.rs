//! Operators of expressions.

/// Unary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the functions")]
pub enum Unary {
    Plus,
    Negate,
    Not,
    LogicalNot,
    Abs,
    Ceil,
    Floor,
    Sqrt,
    Exp,
    Exp2,
    Exp10,
    Log,
    Log2,
    Log10,
    Cos,
    Sin,
    Tan,
    Acos,
    Asin,
    Atan,
    Cosh,
    Sinh,
    Tanh,
    Acosh,
    Asinh,
    Atanh,
    Erf,
    Erfc,
}

impl Unary {
    /// Operators that are words.
    pub const NAMED: &'static [(&'static str, Self)] = &[
        ("abs", Self::Abs),
        ("ceil", Self::Ceil),
        ("floor", Self::Floor),
        ("sqrt", Self::Sqrt),
        ("exp", Self::Exp),
        ("exp2", Self::Exp2),
        ("exp10", Self::Exp10),
        ("log", Self::Log),
        ("log2", Self::Log2),
        ("log10", Self::Log10),
        ("cos", Self::Cos),
        ("sin", Self::Sin),
        ("tan", Self::Tan),
        ("acos", Self::Acos),
        ("asin", Self::Asin),
        ("atan", Self::Atan),
        ("cosh", Self::Cosh),
        ("sinh", Self::Sinh),
        ("tanh", Self::Tanh),
        ("acosh", Self::Acosh),
        ("asinh", Self::Asinh),
        ("atanh", Self::Atanh),
        ("erf", Self::Erf),
        ("erfc", Self::Erfc),
    ];
}

/// Binary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say what they do")]
pub enum Binary {
    Power,
    Multiply,
    Divide,
    Modulus,
    Add,
    Subtract,
    ShiftLeft,
    ShiftRight,
    LogicalShiftLeft,
    LogicalShiftRight,
    RotateLeft32,
    RotateRight32,
    RotateLeft64,
    RotateRight64,
    Greater,
    GreaterEqual,
    Less,
    LessEqual,
    Compare,
    Equal,
    NotEqual,
    Identical,
    NotIdentical,
    And,
    Xor,
    Xnor,
    Or,
    LogicalAnd,
    LogicalXor,
    LogicalXnor,
    LogicalOr,
}

impl Binary {
    /// Precedence: operators with a higher one bind tighter; all are left-associative.
    pub const fn precedence(self) -> u8 {
        match self {
            Self::Power => 12,
            Self::Multiply | Self::Divide | Self::Modulus => 11,
            Self::Add | Self::Subtract => 10,
            Self::ShiftLeft
            | Self::ShiftRight
            | Self::LogicalShiftLeft
            | Self::LogicalShiftRight
            | Self::RotateLeft32
            | Self::RotateRight32
            | Self::RotateLeft64
            | Self::RotateRight64 => 9,
            Self::Greater | Self::GreaterEqual | Self::Less | Self::LessEqual | Self::Compare => 8,
            Self::Equal | Self::NotEqual | Self::Identical | Self::NotIdentical => 7,
            Self::And => 6,
            Self::Xor | Self::Xnor => 5,
            Self::Or => 4,
            Self::LogicalAnd => 3,
            Self::LogicalXor | Self::LogicalXnor => 2,
            Self::LogicalOr => 1,
        }
    }

    /// The operator that a sign denotes, if there is one.
    pub fn from_sign(sign: &str) -> Option<Self> {
        Some(match sign {
            "**" => Self::Power,
            "*" => Self::Multiply,
            "/" => Self::Divide,
            "%" => Self::Modulus,
            "+" => Self::Add,
            "-" => Self::Subtract,
            "<<" => Self::ShiftLeft,
            ">>" => Self::ShiftRight,
            "<<<" => Self::LogicalShiftLeft,
            ">>>" => Self::LogicalShiftRight,
            "><<" => Self::RotateLeft32,
            ">><" => Self::RotateRight32,
            "><<<" => Self::RotateLeft64,
            ">>><" => Self::RotateRight64,
            ">" => Self::Greater,
            ">=" => Self::GreaterEqual,
            "<" => Self::Less,
            "<=" => Self::LessEqual,
            "<=>" => Self::Compare,
            "==" => Self::Equal,
            "!=" => Self::NotEqual,
            "===" => Self::Identical,
            "!==" => Self::NotIdentical,
            "&" => Self::And,
            "^" => Self::Xor,
            "!^" => Self::Xnor,
            "|" => Self::Or,
            "&&" => Self::LogicalAnd,
            "^^" => Self::LogicalXor,
            "!^^" => Self::LogicalXnor,
            "||" => Self::LogicalOr,
            _ => return None,
        })
    }
}
