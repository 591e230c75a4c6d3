//! The last error as a sentence.

use core::cell::UnsafeCell;
use core::ffi::c_char;
use core::fmt::{self, Write};

/// Longest sentence in bytes, with its terminating zero.
const BYTES: usize = 240;

/// Text of the last error, terminated by a zero.
struct LastError(UnsafeCell<[u8; BYTES]>);

// SAFETY: one core calls all functions, and they are not reentrant (rules of the crate), so that no two accesses overlap.
unsafe impl Sync for LastError {}

static LAST: LastError = LastError(UnsafeCell::new([0; BYTES]));

/// Writes as much as there is room for.
struct Sentence<'t> {
    text: &'t mut [u8; BYTES],
    used: usize,
}

impl Write for Sentence<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for &byte in text.as_bytes().iter().take(BYTES - 1 - self.used) {
            self.text[self.used] = byte;
            self.used += 1;
        }
        Ok(())
    }
}

/// Notes an error.
pub(crate) fn note(error: impl fmt::Display) {
    // SAFETY: see `Sync`.
    let text = unsafe { &mut *LAST.0.get() };
    *text = [0; BYTES];
    // A sentence is cut off where there is no more room.
    let _ = write!(Sentence { text, used: 0 }, "{error}");
}

/// The value, or `None` with its error noted.
pub(crate) fn noted<T, E: fmt::Display>(result: Result<T, E>) -> Option<T> {
    result.map_err(note).ok()
}

/// Why the last function that failed did so: a sentence without a full stop, terminated by a zero. It is valid until the next function fails.
#[unsafe(no_mangle)]
pub extern "C" fn v3d_error() -> *const c_char {
    LAST.0.get().cast()
}
