//! The kernel on a board: clock and power of the V3D, a display, and a message on the serial port.

use alloc::boxed::Box;
use bcm283x::{
    Bus, Chip, Peripherals, Pool,
    framebuffer::{self, Allocation},
    mailbox,
};
use core::{error::Error, fmt::Write};
use own_kernel::{FRAMES, SIZE_PX, kernel_main};

use crate::machine::{MESSAGES, POOL, PhysicalBus, SerialPort, sleep};

const PERIPHERALS: Peripherals = if cfg!(armv6) { Peripherals::BCM2835 } else { Peripherals::BCM2836 };

/// Draws, and returns a CRC-32 of the pixels that the display shows.
fn draw() -> Result<u32, Box<dyn Error>> {
    let firmware = mailbox::of_bus(&PhysicalBus, PERIPHERALS, MESSAGES);
    let chip = Chip::new(PhysicalBus, PERIPHERALS, Pool { address: POOL.start, bytes: POOL.end - POOL.start });
    chip.power_on(&firmware)?;
    let [width, height] = SIZE_PX;
    let display = Allocation::request(&firmware, width, height, PERIPHERALS.base)?;
    let show = |page| {
        // Without a display the picture is still drawn, and its CRC reported.
        let _ = framebuffer::show(&firmware, page, display.height);
    };
    let page = kernel_main(&chip, &display, FRAMES, show)?;
    let row = |y: u32| display.page_address(page) + y * display.pitch_bytes;
    let words = (0..height).flat_map(|y| (0..width).map(move |x| row(y) + 4 * x));
    Ok(crc_32(words.map(|address| PhysicalBus.load(address))))
}

/// Called by the first instructions, with the memory mapped.
pub(crate) fn start() -> ! {
    let mut serial = SerialPort(PERIPHERALS.uart0());
    // Errors of the serial port cannot be reported.
    let _ = match draw() {
        Ok(crc) => writeln!(serial, "own kernel: picture {crc:08X}"),
        Err(error) => writeln!(serial, "own kernel: {error}"),
    };
    sleep()
}

/// The CRC-32 of IEEE 802.3, over the words' bytes in memory.
fn crc_32(words: impl Iterator<Item = u32>) -> u32 {
    let bit = |crc: u32, _| if crc & 1 == 0 { crc >> 1 } else { crc >> 1 ^ 0xedb8_8320 };
    !words.fold(u32::MAX, |crc, word| (0..32).fold(crc ^ word, bit))
}
