//! The operations of both ALUs: a row for each, with all that is told of them without computing.
//!
//! # Sources
//! [AG p.31] for operands as floats, [AG p.35-36] for the list. How C is made was recorded on boards [silicon]; for the mul ALU's own operations it was not
//! recorded, and the two that both ALUs have leave it clear.

/// What an operand or a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Number {
    /// A 32-bit float. Register file A unpacks to floats for it, and packs it as one [AG p.31].
    Float,
    /// A 32-bit integer, or bits.
    Integer,
    /// Four bytes.
    Bytes,
}

/// How an operation makes the flag C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Carry {
    /// It is clear.
    Clear,
    /// The result is greater than 0.
    Positive,
    /// The first operand is greater than the second; of absolute values, if the operation is about these.
    FirstGreater,
    /// The carry out of bit 31.
    Carry,
    /// The borrow into bit 31: the first operand is smaller, both unsigned.
    Borrow,
    /// The last bit that was shifted out; clear if none was.
    LastBit,
}

/// What an operation makes of one value in both operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OfEqual {
    /// That value: the operation is a move.
    Copy,
    /// 0, whatever the value is.
    Zero,
    /// Something else, or it has one operand.
    Other,
}

/// A row: what is told of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Operands that it reads: with one, the second is ignored.
    pub operands: u8,
    /// What they are.
    pub takes: Number,
    /// What its result is.
    pub gives: Number,
    /// How it makes C. Z and N are those of the result, whatever the operation.
    pub carry: Carry,
    /// What it makes of one value in both operands.
    pub of_equal: OfEqual,
}

impl Operation {
    /// A code without an operation.
    pub const RESERVED: Self = Self {
        operands: 0,
        takes: Number::Integer,
        gives: Number::Integer,
        carry: Carry::Clear,
        of_equal: OfEqual::Other,
    };
}

/// Makes the operations of an ALU, as `codes!` does, and the look-up of their rows.
macro_rules! operations {
    (
        $(#[$meta:meta])*
        pub enum $name:ident: $width:literal bits {
            $( $(#[doc = $doc:literal])+ $code:literal => $variant:ident $text:literal:
                $operands:literal $takes:ident -> $gives:ident, C $carry:ident, of equal $of_equal:ident; )*
            $( _ => $reserved:ident )?
        }
    ) => {
        $crate::codes! {
            $(#[$meta])*
            pub enum $name: $width bits {
                $( $(#[doc = $doc])+ $code => $variant $text, )*
                $( _ => $reserved, )?
            }
        }

        impl $name {
            /// The row of the operation.
            pub const fn row(self) -> Operation {
                match self {
                    $( Self::$variant => Operation {
                        operands: $operands,
                        takes: Number::$takes,
                        gives: Number::$gives,
                        carry: Carry::$carry,
                        of_equal: OfEqual::$of_equal,
                    }, )*
                    $( Self::$reserved(_) => Operation::RESERVED, )?
                }
            }

            /// Whether it does anything. One that does not writes nothing either.
            pub const fn acts(self) -> bool {
                !matches!(self, Self::Nop)
            }

            /// Whether it takes floats, so that file A unpacks to floats for it [AG p.31].
            pub const fn takes_floats(self) -> bool {
                matches!(self.row().takes, Number::Float)
            }

            /// Whether its result is a float, which decides how file A packs it [AG p.31].
            pub const fn gives_floats(self) -> bool {
                matches!(self.row().gives, Number::Float)
            }

            /// Whether of equal operands it makes that operand.
            pub const fn copies_equal(self) -> bool {
                matches!(self.row().of_equal, OfEqual::Copy)
            }

            /// Whether of equal operands it makes 0.
            pub const fn cancels_equal(self) -> bool {
                matches!(self.row().of_equal, OfEqual::Zero)
            }
        }
    };
}

operations! {
    /// Operations of the add ALU [AG p.35].
    pub enum AddOp: 5 bits {
        /// No operation.
        0 => Nop "nop": 0 Integer -> Integer, C Clear, of equal Other;
        /// Floating point add.
        1 => Fadd "fadd": 2 Float -> Float, C Positive, of equal Other;
        /// Floating point subtract.
        2 => Fsub "fsub": 2 Float -> Float, C Positive, of equal Other;
        /// Floating point minimum.
        3 => Fmin "fmin": 2 Float -> Float, C FirstGreater, of equal Copy;
        /// Floating point maximum.
        4 => Fmax "fmax": 2 Float -> Float, C FirstGreater, of equal Copy;
        /// Floating point minimum of absolute values.
        5 => Fminabs "fminabs": 2 Float -> Float, C FirstGreater, of equal Other;
        /// Floating point maximum of absolute values.
        6 => Fmaxabs "fmaxabs": 2 Float -> Float, C FirstGreater, of equal Other;
        /// Floating point to signed integer.
        7 => Ftoi "ftoi": 1 Float -> Integer, C Clear, of equal Other;
        /// Signed integer to floating point.
        8 => Itof "itof": 1 Integer -> Float, C Positive, of equal Other;
        /// Integer add.
        12 => Add "add": 2 Integer -> Integer, C Carry, of equal Other;
        /// Integer subtract.
        13 => Sub "sub": 2 Integer -> Integer, C Borrow, of equal Zero;
        /// Shift right.
        14 => Shr "shr": 2 Integer -> Integer, C LastBit, of equal Other;
        /// Arithmetic shift right.
        15 => Asr "asr": 2 Integer -> Integer, C LastBit, of equal Other;
        /// Rotate right.
        16 => Ror "ror": 2 Integer -> Integer, C Clear, of equal Other;
        /// Shift left.
        17 => Shl "shl": 2 Integer -> Integer, C LastBit, of equal Other;
        /// Signed minimum.
        18 => Min "min": 2 Integer -> Integer, C FirstGreater, of equal Copy;
        /// Signed maximum.
        19 => Max "max": 2 Integer -> Integer, C FirstGreater, of equal Copy;
        /// Bitwise and.
        20 => And "and": 2 Integer -> Integer, C Clear, of equal Copy;
        /// Bitwise or.
        21 => Or "or": 2 Integer -> Integer, C Clear, of equal Copy;
        /// Bitwise exclusive or.
        22 => Xor "xor": 2 Integer -> Integer, C Clear, of equal Zero;
        /// Bitwise not.
        23 => Not "not": 1 Integer -> Integer, C Clear, of equal Other;
        /// Count leading zeros.
        24 => Clz "clz": 1 Integer -> Integer, C Clear, of equal Other;
        /// Add with saturation, per byte.
        30 => V8adds "v8adds": 2 Bytes -> Bytes, C Clear, of equal Other;
        /// Subtract with saturation, per byte.
        31 => V8subs "v8subs": 2 Bytes -> Bytes, C Clear, of equal Zero;
        _ => Reserved
    }
}

impl AddOp {
    /// Whether it has one source: the second is ignored [AG p.35].
    pub const fn is_unary(self) -> bool {
        self.row().operands == 1
    }
}

operations! {
    /// Operations of the mul ALU [AG p.36].
    pub enum MulOp: 3 bits {
        /// No operation.
        0 => Nop "nop": 0 Integer -> Integer, C Clear, of equal Other;
        /// Floating point multiply.
        1 => Fmul "fmul": 2 Float -> Float, C Clear, of equal Other;
        /// 24-bit multiply.
        2 => Mul24 "mul24": 2 Integer -> Integer, C Clear, of equal Other;
        /// Multiply bytes in the range [0, 1.0].
        3 => V8muld "v8muld": 2 Bytes -> Bytes, C Clear, of equal Other;
        /// Minimum per byte.
        4 => V8min "v8min": 2 Bytes -> Bytes, C Clear, of equal Copy;
        /// Maximum per byte.
        5 => V8max "v8max": 2 Bytes -> Bytes, C Clear, of equal Copy;
        /// Add with saturation, per byte.
        6 => V8adds "v8adds": 2 Bytes -> Bytes, C Clear, of equal Other;
        /// Subtract with saturation, per byte.
        7 => V8subs "v8subs": 2 Bytes -> Bytes, C Clear, of equal Zero;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_with_one_source_and_with_floats() {
        let names = |has: fn(AddOp) -> bool| {
            (0..32).map(AddOp::from_code).filter(move |op| has(*op)).map(|op| op.code()).collect::<Vec<_>>()
        };
        // ftoi, itof, not, clz; fadd to ftoi; fadd to fmaxabs and itof [AG p.31, p.35]
        assert_eq!(names(AddOp::is_unary), [7, 8, 23, 24]);
        assert_eq!(names(AddOp::takes_floats), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(names(AddOp::gives_floats), [1, 2, 3, 4, 5, 6, 8]);
    }
}
