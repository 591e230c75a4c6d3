//! The board: all hardware outside of the CPU, under one name
//!
//! The rest of the kernel names what it needs `board::…`. Behind that name stand two floors:
//! - [`raspberry_pi_3`]: what is the board's own. Where the blocks of its chip are and which interrupt lines they have, how memory is divided
//!   (`linker.ld` at the top of the repository), which UART the pins of the serial port belong to, where the LED is, what the revision code means.
//! - [`bcm2837`]: the blocks of the chip, a file each, which know registers and no addresses; and the firmware of its VideoCore.
//!
//! The board is chosen here. Another one is a folder beside `raspberry_pi_3`, with the same names in it.

pub mod bcm2837;
pub mod raspberry_pi_3;

pub use bcm2837::{boot_requests, firmware, framebuffer, gpio, property, system_timer, uart, watchdog};
#[cfg(target_os = "none")]
pub use bcm2837::{interrupt_controller, power, v3d_registers};
pub use raspberry_pi_3::{act_led, addresses, interrupt_lines, revision};
#[cfg(target_os = "none")]
pub use raspberry_pi_3::{peripherals, serial_port};
