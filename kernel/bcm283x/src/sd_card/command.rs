//! The commands of a card, as far as they are used, and its status
//!
//! # Sources
//! SD Physical Layer Simplified Specification 6.00, 4.7.4 for commands, 4.9 for answers, 4.10.1 for the status.

use super::error::CardError;

/// The answer to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Response {
    /// None.
    None,
    /// The status of the card (R1).
    Short,
    /// The same, and the card may be busy afterwards (R1b).
    ShortBusy,
    /// Other bits, with a checksum and the number of the command: the relative address, the voltage (R6, R7).
    Other,
    /// The operating conditions, without a checksum (R3).
    Unchecked,
    /// A register of 128 bits (R2).
    Long,
}

/// A command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Command {
    /// Its number.
    pub(super) index: u8,
    pub(super) response: Response,
    pub(super) has_data: bool,
}

impl Command {
    /// CMD0: resets the card.
    pub(super) const GO_IDLE_STATE: Self = Self::new(0, Response::None);
    /// CMD2: the card's identification.
    pub(super) const ALL_SEND_CID: Self = Self::new(2, Response::Long);
    /// CMD3: the card chooses an address.
    pub(super) const SEND_RELATIVE_ADDR: Self = Self::new(3, Response::Other);
    /// ACMD6: data lines.
    pub(super) const SET_BUS_WIDTH: Self = Self::new(6, Response::Short);
    /// CMD7: selects a card for transfers.
    pub(super) const SELECT_CARD: Self = Self::new(7, Response::ShortBusy);
    /// CMD8: the voltage.
    pub(super) const SEND_IF_COND: Self = Self::new(8, Response::Other);
    /// CMD9: the card's properties.
    pub(super) const SEND_CSD: Self = Self::new(9, Response::Long);
    /// CMD12: ends a transfer.
    pub(super) const STOP_TRANSMISSION: Self = Self::new(12, Response::ShortBusy);
    /// CMD13: the status.
    pub(super) const SEND_STATUS: Self = Self::new(13, Response::Short);
    /// CMD16: bytes of a block.
    pub(super) const SET_BLOCKLEN: Self = Self::new(16, Response::Short);
    /// CMD17.
    pub(super) const READ_SINGLE_BLOCK: Self = Self::with_data(17);
    /// CMD18.
    pub(super) const READ_MULTIPLE_BLOCK: Self = Self::with_data(18);
    /// CMD24.
    pub(super) const WRITE_BLOCK: Self = Self::with_data(24);
    /// CMD25.
    pub(super) const WRITE_MULTIPLE_BLOCK: Self = Self::with_data(25);
    /// ACMD41: the operating conditions; the card powers up.
    pub(super) const SD_SEND_OP_COND: Self = Self::new(41, Response::Unchecked);
    /// CMD55: the next command is an application command.
    pub(super) const APP_CMD: Self = Self::new(55, Response::Short);

    const fn new(index: u8, response: Response) -> Self {
        Self { index, response, has_data: false }
    }

    const fn with_data(index: u8) -> Self {
        Self { index, response: Response::Short, has_data: true }
    }

    /// The command's half of CMDTM [BCM2835 ARM Peripherals, chapter 5].
    pub(super) const fn word(self, has_data: bool) -> u32 {
        const INDEX_CHECK: u32 = 1 << 20;
        const CRC_CHECK: u32 = 1 << 19;
        let response = match self.response {
            Response::None => 0,
            Response::Long => 0b01 << 16 | CRC_CHECK,
            Response::Unchecked => 0b10 << 16,
            Response::Short | Response::Other => 0b10 << 16 | CRC_CHECK | INDEX_CHECK,
            Response::ShortBusy => 0b11 << 16 | CRC_CHECK | INDEX_CHECK,
        };
        (self.index as u32) << 24 | response | (has_data as u32) << 21
    }

    /// Whether the card has taken the command.
    pub(super) const fn check_status(self, word: u32) -> Result<(), CardError> {
        if word & status::WRITE_PROTECT_VIOLATION != 0 {
            return Err(CardError::WriteProtected);
        }
        if word & status::ERRORS != 0 {
            return Err(CardError::Refused { command: self.index, status: word });
        }
        Ok(())
    }
}

/// The status of a card.
pub(crate) mod status {
    /// The command tried to write a protected block.
    pub(crate) const WRITE_PROTECT_VIOLATION: u32 = 1 << 26;
    /// The errors of this command. Two are left out: a wrong checksum and an illegal command are those of the command before, whose answer was missing.
    pub(crate) const ERRORS: u32 = 0xfd39_8008;
    /// The card takes data.
    const READY_FOR_DATA: u32 = 1 << 8;
    /// In the state `tran`, between transfers.
    const TRANSFER: u32 = 4;

    /// Whether the card waits for a transfer.
    pub(crate) const fn is_ready(word: u32) -> bool {
        word & READY_FOR_DATA != 0 && word >> 9 & 0xf == TRANSFER
    }
}
