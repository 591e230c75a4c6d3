//! The chip's blocks, each for one owner
//!
//! Each block is handed out once, by [`Peripherals::take`]; only the UARTs exist a second time, for first and last words.

use core::sync::atomic::{AtomicBool, Ordering};

use super::addresses;
use crate::{
    board::bcm2837::{
        gpio, interrupt_controller, mailbox, mini_uart, pl011, power, system_timer, v3d_registers, watchdog,
    },
    mmio::Mmio,
};

/// Every block that the kernel uses.
#[derive(Debug)]
pub struct Peripherals {
    /// Function of the header's pins.
    pub gpio: Mmio<gpio::Registers>,
    /// UART0.
    pub pl011: Mmio<pl011::Registers>,
    /// UART1.
    pub mini_uart: Mmio<mini_uart::Registers>,
    /// The 1 MHz timer.
    pub system_timer: Mmio<system_timer::Registers>,
    /// The way to the firmware.
    pub mailbox: Mmio<mailbox::Registers>,
    /// Interrupts of peripherals.
    pub interrupt_controller: Mmio<interrupt_controller::Registers>,
    /// The watchdog, which is part of the power block.
    pub watchdog: Mmio<watchdog::Registers>,
    /// Power domain of the graphics.
    pub graphics_power: Mmio<power::Registers>,
    /// Bridges between V3D and the bus.
    pub async_bridge: Mmio<power::BridgeRegisters>,
    /// The 3D engine.
    pub v3d: Mmio<v3d_registers::RegisterWindow>,
}

impl Peripherals {
    /// All blocks, the first time; nothing ever after.
    #[must_use]
    pub fn take() -> Option<Self> {
        static TAKEN: AtomicBool = AtomicBool::new(false);
        if TAKEN.swap(true, Ordering::Relaxed) {
            return None;
        }
        // SAFETY: the addresses are the chip's [BCM2835 ARM Peripherals, chapters 2, 5 to 7, 12 to 14; AG section 10 for V3D],
        // which the final map has as device memory for ever; the types describe these blocks.
        Some(unsafe {
            Self {
                gpio: Mmio::new(addresses::GPIO),
                pl011: Mmio::new(addresses::PL011),
                mini_uart: Mmio::new(addresses::AUXILIARY),
                system_timer: Mmio::new(addresses::SYSTEM_TIMER),
                mailbox: Mmio::new(addresses::MAILBOX),
                interrupt_controller: Mmio::new(addresses::INTERRUPT_CONTROLLER),
                watchdog: Mmio::new(addresses::POWER),
                graphics_power: Mmio::new(addresses::POWER),
                async_bridge: Mmio::new(addresses::ASYNC_BRIDGE),
                v3d: Mmio::new(addresses::V3D),
            }
        })
    }

    /// The registers of UART0 once more, for first and last words.
    #[must_use]
    pub fn another_pl011() -> Mmio<pl011::Registers> {
        // SAFETY: as in `Peripherals::take`.
        unsafe { Mmio::new(addresses::PL011) }
    }

    /// The registers of UART1 once more, for the same.
    #[must_use]
    pub fn another_mini_uart() -> Mmio<mini_uart::Registers> {
        // SAFETY: as in `Peripherals::take`.
        unsafe { Mmio::new(addresses::AUXILIARY) }
    }
}
