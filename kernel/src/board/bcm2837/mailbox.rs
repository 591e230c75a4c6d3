//! The mailbox's registers on this board, and memory for its messages

use bcm283x::{mailbox::Line, memory::SharedMemory};
use tock_registers::{
    interfaces::{Readable, Writeable},
    register_bitfields, register_structs,
    registers::{ReadOnly, WriteOnly},
};
use v3d::hw::{ArmPhys, BusAddr};

use crate::{
    arch::{clock, cpu},
    mm::shared::SharedWords,
    mmio::Mmio,
};

impl SharedMemory for SharedWords {
    fn bus_address(&self) -> BusAddr {
        ArmPhys(self.address() as u32).to_bus()
    }

    fn words(&self) -> usize {
        self.len()
    }

    fn load(&self, index: usize) -> u32 {
        self.get(index).unwrap_or(0)
    }

    fn store(&self, index: usize, word: u32) {
        self.set(index, word);
    }
}

register_bitfields! { u32,
    STATUS [
        /// The mailbox is full.
        FULL OFFSET(31) NUMBITS(1) [],
        /// The mailbox is empty.
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

/// The registers, with the core's clock and barriers.
#[derive(Debug)]
pub struct HardwareLine {
    registers: Mmio<Registers>,
}

impl HardwareLine {
    /// The line with these registers.
    #[must_use]
    pub fn new(registers: Mmio<Registers>) -> Self {
        Self { registers }
    }
}

impl Line for HardwareLine {
    fn now_us(&self) -> u64 {
        clock::now_us()
    }

    fn is_full(&self) -> bool {
        self.registers.mailbox1_status.is_set(STATUS::FULL)
    }

    fn send(&mut self, word: u32) {
        self.registers.mailbox1_write.set(word);
    }

    fn is_empty(&self) -> bool {
        self.registers.mailbox0_status.is_set(STATUS::EMPTY)
    }

    fn receive(&mut self) -> u32 {
        self.registers.mailbox0_read.get()
    }

    fn complete_memory_accesses(&self) {
        cpu::complete_memory_accesses();
    }
}
