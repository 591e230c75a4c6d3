//! Waiting for the display's vertical blanking
//!
//! The HVS counts frames, where it can be read; otherwise the firmware is asked to wait. Either may not work: the count stands still if another channel shows
//! the picture, and the firmware may not know the request, or answer after a second. Then frames are no longer synchronised with the display.

use core::fmt;

use crate::board::property::PropertyError;

/// How long to wait: longer than a frame of any usual display mode, from 24 Hz (42 ms) to 100 Hz (10 ms) and beyond.
pub const LIMIT_US: u64 = 100_000;

/// The display, as far as waiting for it is concerned.
pub trait Display {
    /// A time in microseconds.
    fn now_us(&self) -> u64;

    /// Number of frames shown, modulo some number; `None` where it cannot be read.
    fn frame_count(&self) -> Option<u32>;

    /// Waits for the firmware to tell of the vertical blanking, for at most `limit_us` microseconds.
    ///
    /// # Errors
    /// When it does not, or not in time.
    fn wait_by_firmware(&self, limit_us: u64) -> Result<(), PropertyError>;
}

/// Why frames are not synchronised, or no longer in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The HVS' count of frames has not changed; the firmware is asked from now on.
    CountStandsStill,
    /// The firmware cannot wait, or takes too long.
    Firmware(PropertyError),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CountStandsStill => write!(
                f,
                "the count of displayed frames has not changed for {} ms; the firmware is asked instead",
                LIMIT_US / 1000
            ),
            Self::Firmware(PropertyError::Timeout) => write!(
                f,
                "frames are not synchronised with the display: the firmware's answer takes more than {} ms",
                LIMIT_US / 1000
            ),
            Self::Firmware(error) => write!(f, "frames are not synchronised with the display: {error}"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Count,
    Firmware,
    Unsynchronised,
}

/// The way in which the vertical blanking is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vsync {
    way: Way,
}

impl Vsync {
    /// The best way that has not been found to fail yet.
    #[must_use]
    pub fn new() -> Self {
        Self { way: Way::Count }
    }

    /// No way: [`Self::wait`] returns at once.
    #[must_use]
    pub fn off() -> Self {
        Self { way: Way::Unsynchronised }
    }

    /// Waits for the next vertical blanking. Calls `tell` for each way that turns out not to work; it is not tried again.
    pub fn wait(&mut self, display: &impl Display, mut tell: impl FnMut(Trouble)) {
        if self.way == Way::Count {
            match display.frame_count() {
                Some(first) if count_changes(display, first) => return,
                Some(_) => tell(Trouble::CountStandsStill),
                None => {}
            }
            self.way = Way::Firmware;
        }
        if self.way == Way::Firmware
            && let Err(error) = display.wait_by_firmware(LIMIT_US)
        {
            tell(Trouble::Firmware(error));
            self.way = Way::Unsynchronised;
        }
    }
}

impl Default for Vsync {
    fn default() -> Self {
        Self::new()
    }
}

/// Waits until the display has shown another number of frames than `first`; `false` if that takes too long.
fn count_changes(display: &impl Display, first: u32) -> bool {
    let end_us = display.now_us() + LIMIT_US;
    while display.frame_count() == Some(first) {
        if display.now_us() > end_us {
            return false;
        }
    }
    true
}

#[cfg(target_os = "none")]
pub use board::BoardDisplay;

/// The display of this board.
#[cfg(target_os = "none")]
mod board {
    use super::Display;
    use crate::{
        arch::clock,
        board::{firmware::BehindMailbox, framebuffer, hvs, property::PropertyError},
    };

    /// The display of this board.
    #[derive(Clone, Copy, Debug)]
    pub struct BoardDisplay;

    impl Display for BoardDisplay {
        fn now_us(&self) -> u64 {
            clock::now_us()
        }

        fn frame_count(&self) -> Option<u32> {
            hvs::frame_count()
        }

        fn wait_by_firmware(&self, limit_us: u64) -> Result<(), PropertyError> {
            framebuffer::wait_for_vsync(&BehindMailbox, limit_us)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A display with frames of `frame_us` microseconds. Each look at the time or the count takes 10 of them.
    struct Double {
        now_us: Cell<u64>,
        frame_us: u64,
        counts: Option<bool>,
        firmware: Result<u64, PropertyError>,
        asked: Cell<u32>,
    }

    impl Double {
        fn new(frame_us: u64, counts: Option<bool>, firmware: Result<u64, PropertyError>) -> Self {
            Self { now_us: Cell::new(5), frame_us, counts, firmware, asked: Cell::new(0) }
        }

        fn pass(&self, us: u64) -> u64 {
            self.now_us.set(self.now_us.get() + us);
            self.now_us.get()
        }
    }

    impl Display for Double {
        fn now_us(&self) -> u64 {
            self.pass(10)
        }

        fn frame_count(&self) -> Option<u32> {
            self.counts.map(|counts| if counts { (self.pass(10) / self.frame_us % 64) as u32 } else { 7 })
        }

        fn wait_by_firmware(&self, limit_us: u64) -> Result<(), PropertyError> {
            self.asked.set(self.asked.get() + 1);
            let takes_us = self.firmware?;
            self.pass(takes_us.min(limit_us));
            if takes_us > limit_us { Err(PropertyError::Timeout) } else { Ok(()) }
        }
    }

    /// Waits a hundred times; returns the time that it took, and what was told.
    fn wait(display: &Double) -> (u64, Vec<Trouble>) {
        let (mut vsync, mut told) = (Vsync::new(), Vec::new());
        let start_us = display.now_us.get();
        for _ in 0..100 {
            vsync.wait(display, |trouble| told.push(trouble));
        }
        (display.now_us.get() - start_us, told)
    }

    /// 100, 60 and 24 frames a second.
    #[test]
    fn no_usual_display_mode_meets_the_limit() {
        for frame_us in [10_000, 16_667, 41_667] {
            let counting = Double::new(frame_us, Some(true), Ok(frame_us));
            let (us, told) = wait(&counting);
            assert_eq!((us.div_ceil(frame_us), told, counting.asked.get()), (100, Vec::new(), 0), "{frame_us}");
            let asking = Double::new(frame_us, None, Ok(frame_us));
            assert_eq!(wait(&asking), (100 * frame_us, Vec::new()), "{frame_us}");
        }
    }

    #[test]
    fn a_count_that_stands_still_is_replaced_by_the_firmware() {
        let display = Double::new(16_667, Some(false), Ok(16_667));
        let (us, told) = wait(&display);
        assert_eq!((told, display.asked.get()), (vec![Trouble::CountStandsStill], 100));
        assert!(us < LIMIT_US + 100 + 100 * 16_667, "the count was waited for more than once: {us} us");
    }

    /// Of a hundred frames, one waits to the limit.
    #[test]
    fn a_firmware_that_waits_for_a_second_is_asked_once() {
        let display = Double::new(16_667, None, Ok(1_000_000));
        assert_eq!(wait(&display), (LIMIT_US, vec![Trouble::Firmware(PropertyError::Timeout)]));
        let unknown = PropertyError::NotAnswered("WaitForVsync");
        let display = Double::new(16_667, None, Err(unknown));
        assert_eq!(wait(&display), (0, vec![Trouble::Firmware(unknown)]));
        assert_eq!(display.asked.get(), 1);
    }

    #[test]
    fn nothing_is_waited_for_when_it_is_off() {
        let display = Double::new(16_667, Some(true), Ok(16_667));
        Vsync::off().wait(&display, |trouble| panic!("{trouble}"));
        assert_eq!(display.now_us.get(), 5);
    }
}
