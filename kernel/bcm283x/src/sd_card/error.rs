//! Why a card cannot be used

use core::fmt;

/// Why a card cannot be used, or a transfer has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CardError {
    /// Nothing answers in the slot.
    NoCard,
    /// What answers is not an SD card: an MMC.
    NotSd,
    /// The card does not work at 3.3 V.
    Voltage,
    /// The card does not become ready.
    NotReady,
    /// The card's CSD register has this layout, which is not known.
    UnknownCsd(u32),
    /// The controller does not do what it should.
    Controller(&'static str),
    /// The card did not answer a command: it was removed, or does not know it.
    NoAnswer {
        /// The number of the command.
        command: u8,
    },
    /// Data did not come or were not taken in time.
    Unfinished {
        /// The number of the command.
        command: u8,
    },
    /// A checksum was wrong, or a bit was not where it has to be.
    Damaged {
        /// The number of the command.
        command: u8,
        /// Bits 31 to 16 of INTERRUPT.
        errors: u16,
    },
    /// The card has refused a command.
    Refused {
        /// The number of the command.
        command: u8,
        /// The card's status.
        status: u32,
    },
    /// The card must not be written.
    WriteProtected,
    /// The card has no such blocks.
    OutOfRange {
        /// Number of the first one.
        first: u32,
        /// How many.
        count: u64,
        /// The blocks that there are.
        blocks: u32,
    },
}

impl fmt::Display for CardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCard => f.write_str("there is no SD card, or it does not answer"),
            Self::NotSd => f.write_str("the card is no SD card"),
            Self::Voltage => f.write_str("the SD card does not work at 3.3 V"),
            Self::NotReady => f.write_str("the SD card does not become ready"),
            Self::UnknownCsd(structure) => {
                write!(f, "the SD card's CSD register has the layout {structure}, which is not known")
            }
            Self::Controller(what) => write!(f, "the controller of the SD card {what}"),
            Self::NoAnswer { command } => write!(f, "the SD card does not answer CMD{command}; was it removed?"),
            Self::Unfinished { command } => write!(f, "the SD card did not finish CMD{command} in time"),
            Self::Damaged { command, errors } => {
                write!(f, "what the SD card sent was damaged on the way (CMD{command}, error bits {errors:#06x})")
            }
            Self::Refused { command, status } => {
                write!(f, "the SD card has refused CMD{command} (its status is {status:#010x})")
            }
            Self::WriteProtected => f.write_str("the SD card is write protected"),
            Self::OutOfRange { first, count, blocks } => {
                write!(f, "the SD card has {blocks} blocks, not {count} from number {first} on")
            }
        }
    }
}

impl core::error::Error for CardError {}
