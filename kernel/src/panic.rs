//! Panics: the place, the message, the backtrace, one line for machines

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
    let explain = || {
        println!();
        println!("The kernel has stopped because of a mistake in itself.");
        println!("backtrace, innermost first:");
        for address in backtrace::here() {
            println!("  {address:#x}");
        }
    };
    match info.location() {
        Some(place) => die_with(format_args!("panic: {}:{}: {}", place.file(), place.line(), info.message()), explain),
        None => die_with(format_args!("panic: {}", info.message()), explain),
    }
}

/// Keeps the line that machines look for, for the next run; then takes the console, explains, says it, and stops.
///
/// Keeping comes first, because nothing on the way to the console is needed for it.
pub(crate) fn die_with(line: fmt::Arguments<'_>, explain: impl FnOnce()) -> ! {
    logger::keep_last_words(line);
    console::take_over_for_last_words();
    explain();
    println!("{line}");
    cpu::halt();
}
