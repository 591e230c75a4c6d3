//! The machine that the commands act on, and the loop that reads them

use crate::{
    bcm2837::{framebuffer::Framebuffer, watchdog::Watchdog},
    console, print, println,
    start::Handover,
};

/// What the boot found and brought up.
#[derive(Debug)]
pub struct Machine {
    /// What the boot code handed over.
    pub handover: Handover,
    /// The picture, if there is a display.
    pub framebuffer: Option<Framebuffer>,
    /// The watchdog.
    pub watchdog: Watchdog,
}

/// Reads and runs commands for ever.
pub fn run(mut machine: Machine) -> ! {
    print!("v3d> ");
    loop {
        match console::read() {
            b'\r' | b'\n' => print!("\nv3d> "),
            byte => println!("{}", char::from(byte)),
        }
        machine.watchdog.disarm();
    }
}
