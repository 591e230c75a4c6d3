//! The chip's blocks, each with a single owner
//!
//! [`Peripherals::take`] returns the blocks once. Only the UARTs can be obtained a second time, for output during early boot and panics.

use core::sync::atomic::{AtomicBool, Ordering};

use super::addresses;
use crate::{
    board::bcm2837::{
        core_interrupts, emmc, gpio, hvs, interrupt_controller, mailbox, mini_uart, pl011, power, system_timer,
        v3d_registers, watchdog,
    },
    mmio::Mmio,
};

/// All blocks that the kernel uses.
#[derive(Debug)]
pub struct Peripherals {
    /// Pins.
    pub gpio: Mmio<gpio::Registers>,
    /// UART0.
    pub pl011: Mmio<pl011::Registers>,
    /// UART1.
    pub mini_uart: Mmio<mini_uart::Registers>,
    /// The 1 MHz timer.
    pub system_timer: Mmio<system_timer::Registers>,
    /// The mailbox to the firmware.
    pub mailbox: Mmio<mailbox::Registers>,
    /// Interrupts of peripherals.
    pub interrupt_controller: Mmio<interrupt_controller::Registers>,
    /// Interrupts of the ARM cores' own block.
    pub core_interrupts: Mmio<core_interrupts::Registers>,
    /// The watchdog, which is part of the power block.
    pub watchdog: Mmio<watchdog::Registers>,
    /// The power domain of the graphics.
    pub graphics_power: Mmio<power::Registers>,
    /// Bridges between the V3D and the bus.
    pub async_bridge: Mmio<power::BridgeRegisters>,
    /// The V3D's clock.
    pub graphics_clock: Mmio<power::ClockRegisters>,
    /// The controller of SD cards.
    pub emmc: Mmio<emmc::Registers>,
    /// The GPIO block again, for the pins of the SD card.
    pub card_pins: Mmio<gpio::Registers>,
    /// The hardware video scaler.
    pub hvs: Mmio<hvs::Registers>,
    /// The V3D.
    pub v3d: Mmio<v3d_registers::RegisterWindow>,
}

impl Peripherals {
    /// All blocks at the first call; `None` afterwards.
    #[must_use]
    pub fn take() -> Option<Self> {
        static TAKEN: AtomicBool = AtomicBool::new(false);
        if TAKEN.swap(true, Ordering::Relaxed) {
            return None;
        }
        // SAFETY: the addresses are the chip's [BCM2835 ARM Peripherals, chapters 2, 5 to 7, 12 to 14; AG section 10 for V3D; QA7; Linux's device trees],
        // which the final map permanently maps as device memory; the types describe these blocks.
        Some(unsafe {
            Self {
                gpio: Mmio::new(addresses::GPIO),
                pl011: Mmio::new(addresses::PL011),
                mini_uart: Mmio::new(addresses::AUXILIARY),
                system_timer: Mmio::new(addresses::SYSTEM_TIMER),
                mailbox: Mmio::new(addresses::MAILBOX),
                interrupt_controller: Mmio::new(addresses::INTERRUPT_CONTROLLER),
                core_interrupts: Mmio::new(addresses::CORE_PERIPHERALS.start),
                watchdog: Mmio::new(addresses::POWER),
                graphics_power: Mmio::new(addresses::POWER),
                async_bridge: Mmio::new(addresses::ASYNC_BRIDGE),
                graphics_clock: Mmio::new(addresses::CLOCK_MANAGER),
                emmc: Mmio::new(addresses::EMMC),
                card_pins: Mmio::new(addresses::GPIO),
                hvs: Mmio::new(addresses::HVS),
                v3d: Mmio::new(addresses::V3D),
            }
        })
    }

    /// The registers of UART0 once more, for early boot and panics.
    #[must_use]
    pub fn another_pl011() -> Mmio<pl011::Registers> {
        // SAFETY: as in `Peripherals::take`.
        unsafe { Mmio::new(addresses::PL011) }
    }

    /// The registers of UART1 once more, likewise.
    #[must_use]
    pub fn another_mini_uart() -> Mmio<mini_uart::Registers> {
        // SAFETY: as in `Peripherals::take`.
        unsafe { Mmio::new(addresses::AUXILIARY) }
    }
}
