//! The mailbox between the ARM and the firmware, for property messages
//!
//! Mailbox 0 carries words to the ARM, mailbox 1 to the VideoCore. A word is an address of a 16-byte aligned message with the
//! channel in its low four bits; channel 8 is the property channel. The firmware answers with the same word when it has
//! written its answers into the message.
//!
//! # Sources
//! raspberrypi/firmware wiki, "Accessing mailboxes"; [linux drivers/mailbox/bcm2835-mailbox.c].

use tock_registers::{
    interfaces::{Readable, Writeable},
    register_bitfields, register_structs,
    registers::{ReadOnly, WriteOnly},
};

use super::property::{Message, PropertyError};
use crate::{
    arch::{cache, clock},
    mmio::Mmio,
};

register_bitfields! { u32,
    STATUS [
        /// No room for a word.
        FULL OFFSET(31) NUMBITS(1) [],
        /// No word there.
        EMPTY OFFSET(30) NUMBITS(1) [],
    ],
}

register_structs! {
    /// Both mailboxes.
    #[allow(missing_docs, reason = "field names are those of the firmware's wiki")]
    pub Registers {
        (0x00 => pub mailbox0_read: ReadOnly<u32>),
        (0x04 => _mailbox0),
        (0x18 => pub mailbox0_status: ReadOnly<u32, STATUS::Register>),
        (0x1c => _mailbox0_config),
        (0x20 => pub mailbox1_write: WriteOnly<u32>),
        (0x24 => _mailbox1),
        (0x38 => pub mailbox1_status: ReadOnly<u32, STATUS::Register>),
        (0x3c => @END),
    }
}

/// The property channel.
const CHANNEL: u32 = 8;
/// Where the VideoCore sees the ARM's memory without its own cache in between.
const UNCACHED_ALIAS: u32 = 0xc000_0000;
/// The firmware answers within a millisecond, except when it sets clocks or a display mode up.
const TIMEOUT_US: u64 = 1_000_000;

/// The way to the firmware.
#[derive(Debug)]
pub struct Mailbox {
    registers: Mmio<Registers>,
}

impl Mailbox {
    /// The mailbox.
    #[must_use]
    pub fn new(registers: Mmio<Registers>) -> Self {
        Self { registers }
    }

    /// Carries `message` to the firmware and back.
    ///
    /// # Errors
    /// [`PropertyError::Timeout`], [`PropertyError::Refused`]. Whether each property was answered, its slot tells.
    pub fn exchange(&mut self, message: &mut Message) -> Result<(), PropertyError> {
        let words = message.words_mut();
        // All of RAM is below 1 GiB, so that an address has room for the alias.
        let word = (words.as_ptr() as usize as u32) | UNCACHED_ALIAS | CHANNEL;
        cache::clean_and_invalidate(words);

        let end = clock::now_us() + TIMEOUT_US;
        while self.registers.mailbox1_status.is_set(STATUS::FULL) {
            if clock::now_us() > end {
                return Err(PropertyError::Timeout);
            }
        }
        self.registers.mailbox1_write.set(word);
        loop {
            while self.registers.mailbox0_status.is_set(STATUS::EMPTY) {
                if clock::now_us() > end {
                    return Err(PropertyError::Timeout);
                }
            }
            // Words that are not ours are answers to messages whose time ran out, or of other channels.
            if self.registers.mailbox0_read.get() == word {
                break;
            }
        }
        cache::clean_and_invalidate(message.words_mut());
        message.check()
    }
}
