//! A part of a report on the screen: as a QR code, and as text beside it
//!
//! A phone reads the code, a photo shows the text: whoever has no serial cable can send a report. The text is drawn with the largest font with which it fits.

use alloc::vec;

use embedded_graphics::{
    Drawable,
    draw_target::DrawTarget,
    geometry::{OriginDimensions, Point, Size},
    mono_font::{
        MonoFont, MonoTextStyle,
        ascii::{FONT_5X8, FONT_6X10, FONT_7X13, FONT_8X13, FONT_9X15, FONT_10X20},
    },
    pixelcolor::{Rgb888, RgbColor},
    primitives::Rectangle,
    text::{Baseline, Text},
};
use qrcodegen_no_heap::{QrCode, QrCodeEcc, Version};

use crate::terminal::screen::{FAINT_INK, INK, PAPER, Page};

/// The largest version of a code, which holds [`PART_BYTES`](crate::report::PART_BYTES).
const MAX_VERSION: Version = Version::new(25);

/// Width of the light border around a code, in modules [ISO/IEC 18004, section 5.3.8].
const BORDER_MODULES: u32 = 4;

/// Pixels between the code and the text, and between the text and the edges of the screen.
const MARGIN_PX: u32 = 8;

/// The fonts, largest first.
const FONTS: [&MonoFont<'static>; 6] = [&FONT_10X20, &FONT_9X15, &FONT_8X13, &FONT_7X13, &FONT_6X10, &FONT_5X8];

/// What a viewer is told below the text.
pub const HINT: &str = "The QR code holds this text. Please send all parts; boot/README.md says where.";

/// A text that does not fit into a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    /// Its length in bytes.
    pub bytes: usize,
}

impl core::fmt::Display for TooLong {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} bytes do not fit into a QR code of version {}", self.bytes, MAX_VERSION.value())
    }
}

impl core::error::Error for TooLong {}

/// Draws a part, and a remark in its last lines, on all of a page.
///
/// # Errors
/// If the part has more bytes than a code; the page is then unchanged.
pub fn draw(page: &mut Page, part: &str, remark: &str) -> Result<(), TooLong> {
    let too_long = TooLong { bytes: part.len() };
    let length = MAX_VERSION.buffer_len();
    // The encoder takes the text from one buffer, and uses both.
    let (mut text, mut code) = (vec![0; length], vec![0; length]);
    text.get_mut(..part.len()).ok_or(too_long)?.copy_from_slice(part.as_bytes());
    let smallest = Version::new(1);
    let code =
        QrCode::encode_binary(&mut text, part.len(), &mut code, QrCodeEcc::Low, smallest, MAX_VERSION, None, true)
            .map_err(|_| too_long)?;

    let Ok(()) = page.fill_solid(&Rectangle::new(Point::zero(), page.size()), PAPER);
    let Size { width, height } = page.size();
    // The code takes at most five eighths of the width, so that there is room for the text.
    let modules = code.size() as u32 + 2 * BORDER_MODULES;
    let module_px = (height.min(width / 8 * 5) / modules).max(1);
    draw_code(page, &code, module_px);
    let left = modules * module_px + MARGIN_PX;
    let room = Size::new(width.saturating_sub(left + MARGIN_PX), height.saturating_sub(2 * MARGIN_PX));
    draw_text(page, Rectangle::new(Point::new(left as i32, MARGIN_PX as i32), room), part, remark);
    Ok(())
}

/// Draws a code in the upper left corner.
fn draw_code(page: &mut Page, code: &QrCode<'_>, module_px: u32) {
    let side = (code.size() as u32 + 2 * BORDER_MODULES) * module_px;
    let Ok(()) = page.fill_solid(&Rectangle::new(Point::zero(), Size::new_equal(side)), Rgb888::WHITE);
    for y in 0..code.size() {
        for x in (0..code.size()).filter(|&x| code.get_module(x, y)) {
            let place = Point::new(x + BORDER_MODULES as i32, y + BORDER_MODULES as i32) * module_px as i32;
            let Ok(()) = page.fill_solid(&Rectangle::new(place, Size::new_equal(module_px)), Rgb888::BLACK);
        }
    }
}

/// Draws a part and a remark into an area.
fn draw_text(page: &mut Page, area: Rectangle, part: &str, remark: &str) {
    let rows_of = |font: &MonoFont<'_>| {
        let columns = columns(font, area.size);
        let rows = rows(part, columns).count() + rows(HINT, columns).count() + rows(remark, columns).count();
        // Two rows stay empty: one before the hint, one before the remark.
        rows + 2
    };
    let fits = |font: &&MonoFont<'_>| rows_of(font) as u32 * font.character_size.height <= area.size.height;
    let font = FONTS.into_iter().find(fits).unwrap_or(&FONT_5X8);
    let (columns, height) = (columns(font, area.size), font.character_size.height as i32);
    let mut place = area.top_left;
    for (text, ink) in [(part, INK), (HINT, FAINT_INK), (remark, FAINT_INK)] {
        for row in rows(text, columns) {
            let text = Text::with_baseline(row, place, MonoTextStyle::new(font, ink), Baseline::Top);
            let Ok(_) = text.draw(page);
            place.y += height;
        }
        place.y += height;
    }
}

/// Characters of a row, at least one.
fn columns(font: &MonoFont<'_>, room: Size) -> usize {
    let cell = font.character_size.width + font.character_spacing;
    ((room.width / cell.max(1)) as usize).max(1)
}

/// The rows of a text of ASCII characters: its lines, cut at the last blank that fits, if there is one.
fn rows(text: &str, columns: usize) -> impl Iterator<Item = &str> {
    text.lines().flat_map(move |line| {
        let mut rest = Some(line);
        core::iter::from_fn(move || {
            let line = rest?;
            if line.len() <= columns {
                rest = None;
                return Some(line);
            }
            let cut = line[..=columns].rfind(' ').filter(|&blank| blank > 0).unwrap_or(columns);
            let (row, tail) = line.split_at(cut);
            rest = Some(tail.trim_start());
            Some(row)
        })
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;
    use crate::{
        mm::shared::SharedWords,
        report::{PART_BYTES, Report},
    };

    fn page(width: u32, height: u32) -> (Page, SharedWords) {
        let words: Vec<AtomicU32> = (0..width * height).map(|_| AtomicU32::new(0)).collect();
        let memory = SharedWords::from_words(words.leak());
        (Page::new(memory, 0, width as usize, width, height), memory)
    }

    /// The texts of all codes on a page, read by an independent decoder.
    fn read(memory: SharedWords, width: u32, height: u32) -> Vec<String> {
        let grey = |x: usize, y: usize| memory.get(y * width as usize + x).unwrap() as u8;
        let mut picture = rqrr::PreparedImage::prepare_from_greyscale(width as usize, height as usize, grey);
        picture.detect_grids().iter().map(|grid| grid.decode().unwrap().1).collect()
    }

    /// A part of the greatest length, and a report's.
    fn parts() -> [String; 2] {
        let mut report = Report::new();
        (0..17).for_each(|n| report.line(&format!("step {n:2}: passed, {n} ms: 16384 of 16384 pixels are right")));
        let mut full: String = (0..PART_BYTES).map(|n| char::from(b' ' + (n * 7 % 95) as u8)).collect();
        full.replace_range(60..61, "\n");
        [full, report.parts().remove(0)]
    }

    #[test]
    fn the_code_holds_the_text_on_every_size_of_screen() {
        for (width, height) in [(640, 480), (800, 480), (1024, 600), (1280, 720), (1920, 1080), (720, 576)] {
            for part in parts() {
                let (mut page, memory) = page(width, height);
                draw(&mut page, &part, "The next part follows.").unwrap();
                assert_eq!(read(memory, width, height), [part], "{width}x{height}");
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_and_nothing_is_drawn() {
        let (mut page, memory) = page(640, 480);
        for bytes in [PART_BYTES + 1, 10 * PART_BYTES] {
            assert_eq!(draw(&mut page, &"x".repeat(bytes), ""), Err(TooLong { bytes }));
        }
        assert!((0..640 * 480).all(|index| memory.get(index) == Some(0)));
    }

    /// A page too small for anything is drawn on without a panic.
    #[test]
    fn a_tiny_page_does_no_harm() {
        let (mut page, _) = page(8, 8);
        assert_eq!(draw(&mut page, "text", "remark"), Ok(()));
    }

    #[test]
    fn rows_are_cut_at_blanks() {
        let rows = |text, columns| rows(text, columns).collect::<Vec<_>>();
        assert_eq!(rows("one two three\n\nfour", 8), ["one two", "three", "", "four"]);
        assert_eq!(rows("one two", 7), ["one two"]);
        assert_eq!(rows("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(rows(" indented by one", 9), [" indented", "by one"]);
    }

    /// All of a part's characters are on the screen: the text ends above the edge, and has the ink of its rows.
    #[test]
    fn the_text_fits_beside_the_code() {
        for (width, height) in [(640, 480), (800, 480), (1280, 720), (1920, 1080)] {
            let [_, part] = parts();
            let (mut page, memory) = page(width, height);
            draw(&mut page, &part, "remark").unwrap();
            let is_ink =
                |x: u32, y: u32| memory.get((y * width + x) as usize) == Some(crate::terminal::screen::word(FAINT_INK));
            let last = (0..height).rev().find(|&y| (0..width).any(|x| is_ink(x, y))).unwrap();
            assert!(last < height - MARGIN_PX / 2, "{width}x{height}: the last row of text is at line {last}");
        }
    }
}
