//! Which block is where, and who may have it
//!
//! Each block is handed out once, by [`Peripherals::take`]; only the UARTs exist a second time, for last words.

use core::sync::atomic::{AtomicBool, Ordering};

use super::{gpio, interrupt_controller, mailbox, mini_uart, pl011, power, system_timer, watchdog};
use crate::{mm::layout::PERIPHERALS, mmio::Mmio, v3d_platform};

const SYSTEM_TIMER: usize = PERIPHERALS.start + 0x0000_3000;
const ASYNC_BRIDGE: usize = PERIPHERALS.start + 0x0000_a000;
const INTERRUPT_CONTROLLER: usize = PERIPHERALS.start + 0x0000_b200;
const MAILBOX: usize = PERIPHERALS.start + 0x0000_b880;
const POWER: usize = PERIPHERALS.start + 0x0010_0000;
const GPIO: usize = PERIPHERALS.start + 0x0020_0000;
const PL011: usize = PERIPHERALS.start + 0x0020_1000;
const AUXILIARY: usize = PERIPHERALS.start + 0x0021_5000;
const V3D: usize = PERIPHERALS.start + 0x00c0_0000;

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
    pub v3d: Mmio<v3d_platform::RegisterWindow>,
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
                gpio: Mmio::new(GPIO),
                pl011: Mmio::new(PL011),
                mini_uart: Mmio::new(AUXILIARY),
                system_timer: Mmio::new(SYSTEM_TIMER),
                mailbox: Mmio::new(MAILBOX),
                interrupt_controller: Mmio::new(INTERRUPT_CONTROLLER),
                watchdog: Mmio::new(POWER),
                graphics_power: Mmio::new(POWER),
                async_bridge: Mmio::new(ASYNC_BRIDGE),
                v3d: Mmio::new(V3D),
            }
        })
    }
}

/// The UART's registers once more, for a dying kernel that cannot get at its console.
#[must_use]
pub fn pl011_for_last_words() -> Mmio<pl011::Registers> {
    // SAFETY: as in `Peripherals::take`.
    unsafe { Mmio::new(PL011) }
}

/// The same for the mini UART.
#[must_use]
pub fn mini_uart_for_last_words() -> Mmio<mini_uart::Registers> {
    // SAFETY: as in `Peripherals::take`.
    unsafe { Mmio::new(AUXILIARY) }
}
