//! A device of blocks of 512 bytes

use bcm283x::sd_card::{CardError, SdSlot, registers::SdRegisters};

pub use bcm283x::sd_card::BLOCK_BYTES;

/// A device.
pub trait Blocks {
    /// Looks for the device; returns its number of blocks.
    ///
    /// # Errors
    /// When there is none, or it cannot be used.
    fn count(&mut self) -> Result<u32, CardError>;

    /// Whether nothing can be written.
    ///
    /// # Errors
    /// As [`Self::count`].
    fn is_write_protected(&mut self) -> Result<bool, CardError>;

    /// Reads whole blocks from number `first` on.
    ///
    /// # Errors
    /// When the transfer fails.
    fn read(&mut self, first: u32, bytes: &mut [u8]) -> Result<(), CardError>;

    /// Writes whole blocks from number `first` on.
    ///
    /// # Errors
    /// When the transfer fails.
    fn write(&mut self, first: u32, bytes: &[u8]) -> Result<(), CardError>;
}

impl<R: SdRegisters> Blocks for SdSlot<R> {
    fn count(&mut self) -> Result<u32, CardError> {
        self.card().map(|card| card.blocks)
    }

    fn is_write_protected(&mut self) -> Result<bool, CardError> {
        self.card().map(|card| card.is_write_protected)
    }

    fn read(&mut self, first: u32, bytes: &mut [u8]) -> Result<(), CardError> {
        SdSlot::read(self, first, bytes)
    }

    fn write(&mut self, first: u32, bytes: &[u8]) -> Result<(), CardError> {
        SdSlot::write(self, first, bytes)
    }
}
