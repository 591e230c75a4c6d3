//! Pages: pictures of one size, one above the other in memory
//!
//! The firmware's framebuffer is made of such pages, of which the display shows one. Where there is no display, scenes draw into pages in
//! the GPU's own memory.
//!
//! [`Turns`] deals them out: the next frame is drawn into a page that is neither on show nor still being drawn into.

use alloc::collections::VecDeque;
use core::ops::Range;

use crate::{crc32::Crc32, mm::shared::SharedWords, screen::Page};

/// Bytes of a pixel.
pub const PIXEL_BYTES: usize = 4;

/// Pictures of one size.
#[derive(Clone, Copy, Debug)]
pub struct Pages {
    /// Where they are.
    pub memory: SharedWords,
    /// The first word of the first page, counted from the start of `memory`.
    pub first_word: usize,
    /// How many pages there are, at least one.
    pub count: usize,
    /// Pixels across.
    pub width: u32,
    /// Pixels down, of one page.
    pub height: u32,
    /// Bytes from one line to the next, a multiple of 4.
    pub pitch_bytes: u32,
}

impl Pages {
    /// Words of a line, those beyond its last pixel included.
    fn pitch_words(&self) -> usize {
        self.pitch_bytes as usize / 4
    }

    /// The words of page `page`, line by line; of the last page for any number beyond it.
    #[must_use]
    pub fn words(&self, page: usize) -> Range<usize> {
        let words = self.pitch_words() * self.height as usize;
        let start = self.first_word + page.min(self.count.saturating_sub(1)) * words;
        start..start + words
    }

    /// The CRC-32 of what a page shows, as the CPU reads it: its lines from the first to the last pixel, without the gaps.
    #[must_use]
    pub fn crc(&self, page: usize) -> u32 {
        let mut crc = Crc32::new();
        for line in self.words(page).step_by(self.pitch_words().max(1)) {
            self.memory.iter(line..line + self.width as usize).for_each(|word| crc.word(word));
        }
        crc.value()
    }

    /// The ARM physical address of the first pixel of a page.
    #[must_use]
    pub fn address(&self, page: usize) -> usize {
        self.memory.address() + self.words(page).start * 4
    }

    /// A page to draw on with the CPU.
    #[must_use]
    pub fn page(&self, page: usize) -> Page {
        Page::new(self.memory, self.words(page).start, self.pitch_words(), self.width, self.height)
    }
}

/// Who draws where, and what is under way: frames `F`, oldest first.
#[derive(Debug)]
pub struct Turns<F> {
    pages: usize,
    next: usize,
    shown: usize,
    /// The display shows the same page for good.
    is_stuck: bool,
    under_way: VecDeque<(usize, F)>,
}

impl<F> Turns<F> {
    /// Turns over so many pages, of which `shown` is on show.
    #[must_use]
    pub fn starting_at(shown: usize, pages: usize) -> Self {
        Self { pages: pages.max(1), next: shown + 1, shown, is_stuck: false, under_way: VecDeque::new() }
    }

    /// The page that the next frame may be drawn into now; none before a frame that is under way has been taken out.
    #[must_use]
    pub fn free_page(&self) -> Option<usize> {
        if self.is_stuck || self.pages == 1 {
            return self.under_way.is_empty().then_some(self.shown);
        }
        // A frame that failed is not shown, so that the turn after the youngest frame may be that of the page on show.
        let mut in_turn = (self.next..self.next + self.pages).map(|turn| turn % self.pages);
        let in_use = |page| page == self.shown || self.under_way.iter().any(|&(other, _)| other == page);
        in_turn.find(|&page| !in_use(page))
    }

    /// Notes that a frame is being drawn into the free page.
    pub fn begin(&mut self, page: usize, frame: F) {
        self.next = page + 1;
        self.under_way.push_back((page, frame));
    }

    /// Takes the oldest frame out.
    pub fn take_oldest(&mut self) -> Option<(usize, F)> {
        self.under_way.pop_front()
    }

    /// Notes that the display shows this page now.
    pub fn show(&mut self, page: usize) {
        self.shown = page;
    }

    /// Notes that the display goes on showing what it shows: from now on all is drawn there.
    pub fn stay(&mut self) {
        self.is_stuck = true;
    }

    /// The page on show.
    #[must_use]
    pub fn shown(&self) -> usize {
        self.shown
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    #[test]
    fn pages_lie_one_above_the_other() {
        let words: Vec<AtomicU32> = (0..100).map(AtomicU32::new).collect();
        let memory = SharedWords::from_words(words.leak());
        let pages = Pages { memory, first_word: 10, count: 3, width: 3, height: 2, pitch_bytes: 16 };
        assert_eq!((pages.words(0), pages.words(1), pages.words(2)), (10..18, 18..26, 26..34));
        assert_eq!(pages.words(9), 26..34);
        assert_eq!(pages.address(1) - memory.address(), 4 * 18);
        let mut crc = Crc32::new();
        [18, 19, 20, 22, 23, 24].into_iter().for_each(|word| crc.word(word));
        assert_eq!(pages.crc(1), crc.value());
    }

    /// All ways to draw and fail with 1 to 4 pages (seed 7): no frame is drawn into a page that is on show or in use, unless there is no other.
    #[test]
    fn no_frame_disturbs_another_or_the_display() {
        let mut random = 7u32;
        let mut next = || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            random >> 16
        };
        for pages in 1..=4 {
            let mut turns = Turns::starting_at(0, pages);
            let mut in_use: Vec<usize> = Vec::new();
            let mut most = 0;
            for frame in 0..2000u32 {
                if let Some(page) = turns.free_page() {
                    assert!(page < pages);
                    assert!(pages == 1 || page != turns.shown(), "{pages} pages: drawn on show");
                    assert!(!in_use.contains(&page), "{pages} pages: drawn twice at once");
                    turns.begin(page, frame);
                    in_use.push(page);
                    most = most.max(in_use.len());
                }
                if turns.free_page().is_none() || next() % 3 == 0 {
                    let (page, _) = turns.take_oldest().unwrap();
                    in_use.remove(0);
                    // One frame in eight fails, and is not shown.
                    if next() % 8 != 0 {
                        turns.show(page);
                    }
                }
            }
            assert_eq!(most, (pages - 1).max(1), "{pages} pages");
        }
    }

    #[test]
    fn a_display_that_stays_is_drawn_on() {
        let mut turns = Turns::starting_at(0, 3);
        turns.begin(1, ());
        turns.take_oldest();
        turns.show(1);
        turns.begin(2, ());
        turns.stay();
        assert_eq!(turns.free_page(), None, "a frame is under way");
        turns.take_oldest();
        assert_eq!(turns.free_page(), Some(1));
        turns.begin(1, ());
        assert_eq!(turns.free_page(), None);
    }
}
