//! The `log` crate's back end: lines with a time, to the console and the ring
//!
//! A line is `[seconds.micros] LEVEL target: text`. Until the console exists, lines only reach the ring.

use alloc::{format, string::String};
use core::fmt::{self, Write};

use log::{LevelFilter, Log, Metadata, Record};

use crate::{arch::clock, irq_lock::IrqLock, log_ring::LogRing, mm::shared::SharedWords, print};

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

/// Keeps what the run before has logged, and starts logging. Needs the heap.
pub fn init() {
    let mut ring = LogRing::new(SharedWords::persistent());
    *PREVIOUS_RUN.lock() = ring.text();
    ring.clear();
    *RING.lock() = Some(ring);
    if log::set_logger(&LOGGER).is_ok() {
        log::set_max_level(LevelFilter::Info);
    }
}

/// Puts the line with which the kernel dies into the ring, where the run after a warm reset finds it. Takes no memory, and
/// does not wait for whoever holds the ring.
pub fn keep_last_words(line: fmt::Arguments<'_>) {
    if let Some(mut guard) = RING.try_lock()
        && let Some(ring) = guard.as_mut()
    {
        // The ring takes everything: there is no error to look at.
        let _ = writeln!(ring, "{line}");
    }
}

/// What this run has logged, as far as the ring reaches back.
#[must_use]
pub fn text() -> String {
    RING.lock().as_ref().and_then(LogRing::text).unwrap_or_default()
}

/// What the run before the last warm reset has logged, if there was one.
#[must_use]
pub fn text_of_previous_run() -> Option<String> {
    PREVIOUS_RUN.lock().clone()
}
