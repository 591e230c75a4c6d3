//! Why an operation was not carried out, with the numbers in it.

use core::fmt;

/// Why an operation was not carried out. Nothing was changed then, unless the driver's error says otherwise.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The driver refuses, or the programs did not end.
    Driver(v3d::Error),
    /// Two things that belong together differ in length.
    Lengths {
        /// The operation.
        operation: &'static str,
        /// What is given.
        given: usize,
        /// What is needed.
        needed: usize,
    },
    /// A size that the operation does not have.
    Size {
        /// The operation.
        operation: &'static str,
        /// What is given.
        given: usize,
        /// The sizes that there are.
        allowed: &'static str,
    },
    /// More elements than an array can have.
    TooLong(usize),
    /// The array belongs to another driver.
    ForeignArray,
    /// A storage buffer has fewer bytes than the program takes for granted.
    TooShort {
        /// Bytes that are given.
        given: u32,
        /// Bytes that are needed.
        needed: u32,
    },
    /// More workgroups than a program can count.
    TooManyWorkgroups([u32; 3]),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Driver(error) => error.fmt(f),
            Self::Lengths { operation, given, needed } => {
                write!(f, "{operation}: {given} elements are given where {needed} are needed")
            }
            Self::Size { operation, given, allowed } => write!(f, "{operation}: {given} is not {allowed}"),
            Self::TooLong(elements) => write!(f, "an array of {elements} elements is longer than 1 GiB"),
            Self::ForeignArray => f.write_str("the array belongs to another driver"),
            Self::TooShort { given, needed } => {
                write!(f, "a storage buffer of {given} bytes is given where at least {needed} are needed")
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
