//! The `log` crate's back end: lines with timestamps, to the console and the log ring
//!
//! A line is `[seconds.micros] LEVEL target: text`. Before the console is initialised, lines only go to the ring.

use alloc::{format, string::String};
use core::fmt::{self, Write};

use log::{LevelFilter, Log, Metadata, Record};

use crate::{arch::clock, irq_lock::IrqLock, logging::log_ring::LogRing, mm::shared::SharedWords, print};

struct Logger;

static LOGGER: Logger = Logger;
static RING: IrqLock<Option<LogRing>> = IrqLock::new(None);
static PREVIOUS_RUN: IrqLock<Option<String>> = IrqLock::new(None);

impl Log for Logger {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        let now_us = clock::now_us();
        let line = format!(
            "[{}.{:06}] {:5} {}: {}\n",
            now_us / 1_000_000,
            now_us % 1_000_000,
            record.level(),
            record.target(),
            record.args()
        );
        if let Some(ring) = RING.lock().as_mut() {
            ring.append(&line);
        }
        print!("{line}");
    }

    fn flush(&self) {}
}

/// Keeps the previous run's log, and starts logging. Needs the heap.
pub fn init() {
    let mut ring = LogRing::new(SharedWords::persistent());
    *PREVIOUS_RUN.lock() = ring.text();
    ring.clear();
    *RING.lock() = Some(ring);
    if log::set_logger(&LOGGER).is_ok() {
        log::set_max_level(LevelFilter::Info);
    }
}

/// Stores the final line of a panic in the log ring, where the run after a warm reset finds it. Allocates no memory, and does not wait for the ring's lock.
pub fn keep_last_words(line: fmt::Arguments<'_>) {
    if let Some(mut guard) = RING.try_lock()
        && let Some(ring) = guard.as_mut()
    {
        // Writing to the ring never fails.
        let _ = writeln!(ring, "{line}");
    }
}

/// The log of this run, as far as the ring holds it.
#[must_use]
pub fn text() -> String {
    RING.lock().as_ref().and_then(LogRing::text).unwrap_or_default()
}

/// The log of the run before the last warm reset, if there was one.
#[must_use]
pub fn text_of_previous_run() -> Option<String> {
    PREVIOUS_RUN.lock().clone()
}
