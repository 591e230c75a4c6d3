//! The Arasan controller of SD cards on this board: its registers, its pins and its clock

use bcm283x::sd_card::{
    SdSlot,
    registers::{Register, SdRegisters},
};
use tock_registers::{
    interfaces::{Readable, Writeable},
    register_structs,
    registers::ReadWrite,
};

use super::{boot_requests, firmware::BehindMailbox, gpio};
use crate::{arch::clock, mmio::Mmio};

register_structs! {
    /// The controller's registers, by [`Register::offset`].
    pub Registers {
        (0x000 => words: [ReadWrite<u32>; 64]),
        (0x100 => @END),
    }
}

/// The slot of this board.
pub type CardSlot = SdSlot<Hardware>;

/// Registers and pins.
#[derive(Debug)]
pub struct Hardware {
    /// The controller.
    pub controller: Mmio<Registers>,
    /// The pins of the card.
    pub pins: Mmio<gpio::Registers>,
}

impl SdRegisters for Hardware {
    fn connect(&self) -> u32 {
        gpio::connect_card(&self.pins, || clock::spin_for_us(2));
        boot_requests::emmc_clock_hz(&BehindMailbox)
    }

    fn now_us(&self) -> u64 {
        clock::now_us()
    }

    fn read(&self, register: Register) -> u32 {
        self.controller.words.get(register.offset() as usize / 4).map_or(0, |word| word.get())
    }

    fn write(&self, register: Register, value: u32) {
        if let Some(word) = self.controller.words.get(register.offset() as usize / 4) {
            word.set(value);
        }
    }
}
