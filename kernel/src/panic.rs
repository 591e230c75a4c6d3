//! Panics: the place, the message, the backtrace, one line for machines, and the end

use core::{
    fmt,
    panic::PanicInfo,
    sync::atomic::{AtomicBool, Ordering},
};

use crate::{
    arch::{backtrace, cpu},
    console, logger, println,
};

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    /// Set once a panic is being told: a panic inside it has nothing to add.
    static PANICKING: AtomicBool = AtomicBool::new(false);
    if PANICKING.swap(true, Ordering::Relaxed) {
        cpu::halt();
    }
    console::take_over_for_last_words();
    println!();
    println!("The kernel has stopped because of a mistake in itself.");
    println!("backtrace, innermost first:");
    for address in backtrace::here() {
        println!("  {address:#x}");
    }
    match info.location() {
        Some(place) => die_with(format_args!("panic: {}:{}: {}", place.file(), place.line(), info.message())),
        None => die_with(format_args!("panic: {}", info.message())),
    }
}

/// Says the line that machines look for, keeps it for the next run, and stops.
pub(crate) fn die_with(line: fmt::Arguments<'_>) -> ! {
    logger::keep_last_words(line);
    println!("{line}");
    cpu::halt();
}
