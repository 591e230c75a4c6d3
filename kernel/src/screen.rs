//! Text on the framebuffer, through embedded-graphics
//!
//! [`Page`] is one page as a `DrawTarget`: anything that embedded-graphics can draw, draws there. [`TextScreen`] writes the
//! console's lines on it. The memory is not cached, reading it back is slow: instead of moving the text up line by line, a
//! full screen goes up by a quarter of its height at once.

use embedded_graphics::{
    Pixel,
    draw_target::DrawTarget,
    geometry::{OriginDimensions, Point, Size},
    mono_font::{MonoFont, MonoTextStyle, ascii::FONT_10X20},
    pixelcolor::{Rgb888, RgbColor},
    primitives::{PointsIter, Rectangle},
    text::{Baseline, Text},
};

use crate::mm::shared::SharedWords;

/// One page of pixels.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    memory: SharedWords,
    first_word: usize,
    pitch_words: usize,
    width: u32,
    height: u32,
}

impl Page {
    /// A page of `width` by `height` pixels at `first_word` of `memory`, lines `pitch_words` apart.
    #[must_use]
    pub fn new(memory: SharedWords, first_word: usize, pitch_words: usize, width: u32, height: u32) -> Self {
        Self { memory, first_word, pitch_words, width, height }
    }

    /// Moves the picture up by `lines` and fills what comes free below.
    pub fn scroll_up(&mut self, lines: u32, color: Rgb888) {
        let end = self.first_word + self.pitch_words * self.height as usize;
        let distance = self.pitch_words * lines.min(self.height) as usize;
        for word in self.first_word..end - distance {
            if let Some(value) = self.memory.get(word + distance) {
                self.memory.set(word, value);
            }
        }
        self.memory.fill(end - distance..end, word(color));
    }

    fn line(&self, y: u32) -> usize {
        self.first_word + y as usize * self.pitch_words
    }
}

/// A pixel as it lies in memory: red in the lowest byte.
fn word(color: Rgb888) -> u32 {
    u32::from_le_bytes([color.r(), color.g(), color.b(), 0xff])
}

impl OriginDimensions for Page {
    fn size(&self) -> Size {
        Size::new(self.width, self.height)
    }
}

impl DrawTarget for Page {
    type Color = Rgb888;
    type Error = core::convert::Infallible;

    fn draw_iter<I>(&mut self, pixels: I) -> Result<(), Self::Error>
    where
        I: IntoIterator<Item = Pixel<Self::Color>>,
    {
        for Pixel(point, color) in pixels {
            let (Ok(x), Ok(y)) = (u32::try_from(point.x), u32::try_from(point.y)) else { continue };
            if x < self.width && y < self.height {
                self.memory.set(self.line(y) + x as usize, word(color));
            }
        }
        Ok(())
    }

    fn fill_contiguous<I>(&mut self, area: &Rectangle, colors: I) -> Result<(), Self::Error>
    where
        I: IntoIterator<Item = Self::Color>,
    {
        self.draw_iter(area.points().zip(colors).map(|(point, color)| Pixel(point, color)))
    }

    fn fill_solid(&mut self, area: &Rectangle, color: Self::Color) -> Result<(), Self::Error> {
        let area = area.intersection(&Rectangle::new(Point::zero(), self.size()));
        // The intersection is inside the page: no coordinate is negative.
        let x = area.top_left.x.max(0) as usize;
        let y = area.top_left.y.max(0) as u32;
        for line in y..y + area.size.height {
            let start = self.line(line) + x;
            self.memory.fill(start..start + area.size.width as usize, word(color));
        }
        Ok(())
    }
}

const FONT: &MonoFont<'static> = &FONT_10X20;
const PAPER: Rgb888 = Rgb888::new(0x10, 0x14, 0x1c);
const INK: Rgb888 = Rgb888::new(0xe0, 0xe4, 0xe8);

/// The console's text on a page.
#[derive(Clone, Copy, Debug)]
pub struct TextScreen {
    page: Page,
    column: u32,
    row: u32,
}

impl TextScreen {
    /// An empty screen.
    #[must_use]
    pub fn new(mut page: Page) -> Self {
        let all = Rectangle::new(Point::zero(), page.size());
        let Ok(()) = page.fill_solid(&all, PAPER);
        Self { page, column: 0, row: 0 }
    }

    /// Characters across, and lines.
    #[must_use]
    pub fn size_in_characters(&self) -> (u32, u32) {
        let size = self.page.size();
        (size.width / FONT.character_size.width, size.height / FONT.character_size.height)
    }

    /// Writes text: line feeds end lines, long lines go on below, a backspace goes one character back.
    pub fn write(&mut self, text: &str) {
        let (columns, _) = self.size_in_characters();
        for character in text.chars() {
            match character {
                '\n' => self.next_line(),
                '\r' => self.column = 0,
                '\u{8}' => self.column = self.column.saturating_sub(1),
                _ => {
                    if self.column >= columns {
                        self.next_line();
                    }
                    self.put(character);
                    self.column += 1;
                }
            }
        }
    }

    fn next_line(&mut self) {
        let (_, rows) = self.size_in_characters();
        self.column = 0;
        self.row += 1;
        if self.row >= rows {
            let up = (rows / 4).max(1);
            self.page.scroll_up(up * FONT.character_size.height, PAPER);
            self.row = rows.saturating_sub(up);
        }
    }

    fn put(&mut self, character: char) {
        let size = FONT.character_size;
        let place = Point::new((self.column * size.width) as i32, (self.row * size.height) as i32);
        let Ok(()) = self.page.fill_solid(&Rectangle::new(place, size), PAPER);
        let mut bytes = [0; 4];
        let text =
            Text::with_baseline(character.encode_utf8(&mut bytes), place, MonoTextStyle::new(FONT, INK), Baseline::Top);
        let Ok(_) = embedded_graphics::Drawable::draw(&text, &mut self.page);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    fn page(width: u32, height: u32) -> Page {
        let words: Vec<AtomicU32> = (0..(width + 3) * height).map(|_| AtomicU32::new(0)).collect();
        Page::new(SharedWords::from_words(words.leak()), 0, width as usize + 3, width, height)
    }

    fn ink(page: &Page, area: Rectangle) -> usize {
        let lit = |p: &Point| page.memory.get(page.line(p.y as u32) + p.x as usize) == Some(word(INK));
        area.points().filter(lit).count()
    }

    #[test]
    fn pixels_lie_red_first_and_stay_inside() {
        let mut page = page(4, 2);
        let pixels =
            [(0, 0), (3, 1), (4, 0), (-1, 0), (0, 2)].map(|(x, y)| Pixel(Point::new(x, y), Rgb888::new(1, 2, 3)));
        page.draw_iter(pixels).unwrap();
        let set: Vec<usize> = (0..14).filter(|&n| page.memory.get(n) == Some(0xff03_0201)).collect();
        assert_eq!(set, [0, 7 + 3]);
    }

    #[test]
    fn a_solid_area_is_cut_at_the_edges() {
        let mut page = page(4, 3);
        page.fill_solid(&Rectangle::new(Point::new(-1, 1), Size::new(3, 9)), Rgb888::WHITE).unwrap();
        let set: Vec<usize> = (0..21).filter(|&n| page.memory.get(n) != Some(0)).collect();
        assert_eq!(set, [7, 8, 14, 15]);
    }

    #[test]
    fn text_wraps_scrolls_and_goes_back() {
        let mut screen = TextScreen::new(page(30, 80));
        assert_eq!(screen.size_in_characters(), (3, 4));
        let cell = |column: i32, row: i32| Rectangle::new(Point::new(column * 10, row * 20), Size::new(10, 20));
        screen.write("###\u{8} \n#");
        assert!(ink(&screen.page, cell(0, 0)) > 0 && ink(&screen.page, cell(1, 0)) > 0);
        assert_eq!(ink(&screen.page, cell(2, 0)), 0, "a blank over the third character");
        assert!(ink(&screen.page, cell(0, 1)) > 0);
        screen.write("\n\n\n@");
        assert!(ink(&screen.page, cell(0, 0)) > 0, "the second line has come up");
        assert_eq!(ink(&screen.page, cell(1, 0)), 0);
        assert!(ink(&screen.page, cell(0, 3)) > 0);
    }
}
