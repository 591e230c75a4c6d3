//! The board: all hardware other than the CPU
//!
//! The rest of the kernel imports hardware from this module, which re-exports two others:
//! - [`raspberry_pi_3`]: what is specific to the board: addresses and interrupt lines of the chip's blocks, the memory split (`linker.ld` at the top of the
//!   repository), the UART on the serial port's pins, the LED, the revision code.
//! - [`bcm2837`]: the blocks of the chip, a file each, which know registers but no addresses; and the firmware of its VideoCore.
//!
//! The board is selected here. Support for another board is a folder beside `raspberry_pi_3` that defines the same names.

pub mod bcm2837;
pub mod raspberry_pi_3;

pub use bcm2837::{boot_requests, firmware, framebuffer, gpio, property, system_timer, uart, watchdog};
#[cfg(target_os = "none")]
pub use bcm2837::{core_interrupts, emmc, hvs, interrupt_controller, power, v3d_registers};
pub use raspberry_pi_3::{act_led, addresses, interrupt_lines, revision};
#[cfg(target_os = "none")]
pub use raspberry_pi_3::{peripherals, serial_port};
