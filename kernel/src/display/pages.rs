//! Pages: pictures of the same size, one above the other in memory
//!
//! The framebuffer consists of such pages, of which the display shows one. Without a display, scenes draw into pages in GPU memory.

use core::ops::Range;

use crate::{crc32::Crc32, mm::shared::SharedWords, terminal::screen::Page};

/// Bytes of a pixel.
pub const PIXEL_BYTES: usize = 4;

/// Pictures of one size.
#[derive(Clone, Copy, Debug)]
pub struct Pages {
    /// Memory that contains the pages.
    pub memory: SharedWords,
    /// Index of the first page's first word in `memory`.
    pub first_word: usize,
    /// Number of pages, at least one.
    pub count: usize,
    /// Width in pixels.
    pub width: u32,
    /// Height of one page in pixels.
    pub height: u32,
    /// Bytes from one line to the next, a multiple of 16.
    pub pitch_bytes: u32,
}

impl Pages {
    /// Words of a line, including those beyond its last pixel.
    fn pitch_words(&self) -> usize {
        self.pitch_bytes as usize / 4
    }

    /// The words of page `page`, line by line; of the last page if there is no such page.
    #[must_use]
    pub fn words(&self, page: usize) -> Range<usize> {
        let words = self.pitch_words() * self.height as usize;
        let start = self.first_word + page.min(self.count.saturating_sub(1)) * words;
        start..start + words
    }

    /// The CRC-32 of the visible pixels of a page, as read by the CPU, without the gaps between lines.
    #[must_use]
    pub fn crc(&self, page: usize) -> u32 {
        let mut crc = Crc32::new();
        self.visible_words(page).for_each(|word| crc.word(word));
        crc.value()
    }

    /// The visible pixels of a page, row by row: red, green, blue and an unused byte.
    pub fn pixels(&self, page: usize) -> impl Iterator<Item = [u8; 4]> {
        self.visible_words(page).map(u32::to_le_bytes)
    }

    /// The words of a page's pixels, without the gaps between lines.
    fn visible_words(&self, page: usize) -> impl Iterator<Item = u32> {
        let (memory, width) = (self.memory, self.width as usize);
        let lines = self.words(page).step_by(self.pitch_words().max(1));
        lines.flat_map(move |line| memory.iter(line..line + width))
    }

    /// ARM physical address of a page's first pixel.
    #[must_use]
    pub fn address(&self, page: usize) -> usize {
        self.memory.address() + self.words(page).start * 4
    }

    /// A page for drawing by the CPU.
    #[must_use]
    pub fn page(&self, page: usize) -> Page {
        Page::new(self.memory, self.words(page).start, self.pitch_words(), self.width, self.height)
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
        let reds: Vec<u8> = pages.pixels(1).map(|[red, ..]| red).collect();
        assert_eq!(reds, [18, 19, 20, 22, 23, 24]);
    }
}
