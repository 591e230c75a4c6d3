//! Panics: location, message, backtrace, and a final line for tools

use core::{
    fmt,
    panic::PanicInfo,
    sync::atomic::{AtomicBool, Ordering},
};

use crate::{
    arch::{backtrace, cpu},
    logging::logger,
    println,
    terminal::console,
};

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    /// Set once a panic is being reported: a panic during the report is not reported.
    static PANICKING: AtomicBool = AtomicBool::new(false);
    if PANICKING.swap(true, Ordering::Relaxed) {
        cpu::halt();
    }
    let explain = || {
        println!();
        println!("The kernel has stopped because of a bug in the kernel.");
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

/// Saves the line that tools search for, for the next run; then takes the console over, prints the explanation and the line, and stops.
///
/// The line is saved first, because that needs nothing of the console.
pub(crate) fn die_with(line: fmt::Arguments<'_>, explain: impl FnOnce()) -> ! {
    logger::keep_last_words(line);
    console::take_over_for_last_words();
    explain();
    println!("{line}");
    cpu::halt();
}
