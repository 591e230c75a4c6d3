//! Errors of operations, with the values that caused them.

use core::fmt;

/// The reason that an operation failed. Nothing was changed, unless the driver's error says otherwise.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// An error of the driver, or the programs did not end.
    Driver(v3d::Error),
    /// The length of an argument does not match another argument's.
    Lengths {
        /// The operation.
        operation: &'static str,
        /// The argument's length.
        given: usize,
        /// The length that is needed.
        needed: usize,
    },
    /// A size that the operation does not support.
    Size {
        /// The operation.
        operation: &'static str,
        /// The size.
        given: usize,
        /// The supported sizes.
        allowed: &'static str,
    },
    /// More elements than an array can have.
    TooLong(usize),
    /// The array belongs to another driver.
    ForeignArray,
    /// A storage buffer has fewer bytes than the program requires.
    TooShort {
        /// Length of the buffer in bytes.
        given: u32,
        /// Length that is needed in bytes.
        needed: u32,
    },
    /// More workgroups than a program can count to.
    TooManyWorkgroups([u32; 3]),
}

impl Error {
    /// Checks the length of an operation's argument, or one side of it.
    pub(crate) const fn expect_length(operation: &'static str, given: usize, needed: usize) -> Result<(), Self> {
        if given == needed { Ok(()) } else { Err(Self::Lengths { operation, given, needed }) }
    }

    /// Checks both sides of an operation's argument, in pixels.
    pub(crate) fn expect_sides(operation: &'static str, given: [usize; 2], needed: [usize; 2]) -> Result<(), Self> {
        given.into_iter().zip(needed).try_for_each(|(given, needed)| Self::expect_length(operation, given, needed))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Driver(error) => error.fmt(f),
            Self::Lengths { operation, given, needed } => {
                write!(f, "{operation}: {given} elements instead of {needed}")
            }
            Self::Size { operation, given, allowed } => write!(f, "{operation}: {given} is not {allowed}"),
            Self::TooLong(elements) => write!(f, "an array of {elements} elements is longer than 1 GiB"),
            Self::ForeignArray => f.write_str("the array belongs to another driver"),
            Self::TooShort { given, needed } => {
                write!(f, "a storage buffer has {given} bytes, and at least {needed} are needed")
            }
            Self::TooManyWorkgroups([x, y, z]) => write!(f, "{x} x {y} x {z} workgroups are too many"),
        }
    }
}

impl core::error::Error for Error {}

impl From<v3d::Error> for Error {
    fn from(error: v3d::Error) -> Self {
        Self::Driver(error)
    }
}
