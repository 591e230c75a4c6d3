//! Text on the framebuffer, through embedded-graphics
//!
//! [`Page`] implements embedded-graphics' `DrawTarget` for a page. Page memory is not cached, so reads are slow. The console's text is therefore kept in a
//! [`TextGrid`]: a write changes characters in cached memory, and changes are taken from it as [`Strip`]s and drawn later. The page is never read. A full
//! screen scrolls by a quarter of its height at once, so that most lines of output draw only one line.

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
    /// A page of `width` by `height` pixels that starts at `first_word` of `memory`, with a pitch of `pitch_words`.
    #[must_use]
    pub fn new(memory: SharedWords, first_word: usize, pitch_words: usize, width: u32, height: u32) -> Self {
        Self { memory, first_word, pitch_words, width, height }
    }

    fn line(&self, y: u32) -> usize {
        self.first_word + y as usize * self.pitch_words
    }
}

/// The pixel's word in memory: red in the lowest byte.
pub(crate) fn word(color: Rgb888) -> u32 {
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
        // The intersection is inside of the page, so no coordinate is negative.
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
/// Background of text.
pub const PAPER: Rgb888 = Rgb888::new(0x10, 0x14, 0x1c);
/// Colour of text.
pub const INK: Rgb888 = Rgb888::new(0xe0, 0xe4, 0xe8);
/// Colour of explanations beside a text.
pub const FAINT_INK: Rgb888 = Rgb888::new(0x98, 0xa4, 0xb4);

/// Columns and lines of the largest page: 1920x1080.
const MAX_COLUMNS: usize = 192;
const MAX_ROWS: usize = 54;
/// A character that no cell shows: marks a cell that must be drawn.
const UNKNOWN: u8 = 0;

/// Clears a page for text.
pub fn clear(page: &mut Page) {
    let all = Rectangle::new(Point::zero(), page.size());
    let Ok(()) = page.fill_solid(&all, PAPER);
}

/// The console's text, and what of it has been drawn.
#[derive(Clone, Debug)]
pub struct TextGrid {
    columns: usize,
    rows: usize,
    column: usize,
    row: usize,
    cells: [[u8; MAX_COLUMNS]; MAX_ROWS],
    drawn: [[u8; MAX_COLUMNS]; MAX_ROWS],
    /// Bit n: row n may have cells that have not been drawn.
    changed: u64,
}

impl Default for TextGrid {
    fn default() -> Self {
        Self::new()
    }
}

impl TextGrid {
    /// A grid without cells.
    #[must_use]
    pub const fn new() -> Self {
        let cells = [[UNKNOWN; MAX_COLUMNS]; MAX_ROWS];
        Self { columns: 0, rows: 0, column: 0, row: 0, cells, drawn: cells, changed: 0 }
    }

    /// Empties the grid, resizes it to the page, and marks all cells as not drawn.
    pub fn fit(&mut self, page: &Page) {
        let (size, cell) = (page.size(), FONT.character_size);
        self.columns = ((size.width / cell.width) as usize).min(MAX_COLUMNS);
        self.rows = ((size.height / cell.height) as usize).min(MAX_ROWS);
        (self.column, self.row) = (0, 0);
        self.cells = [[b' '; MAX_COLUMNS]; MAX_ROWS];
        self.draw_again();
    }

    /// Columns and lines.
    #[must_use]
    pub fn size_in_characters(&self) -> (usize, usize) {
        (self.columns, self.rows)
    }

    /// Marks all cells except blanks as not drawn, because the page was cleared.
    pub fn draw_again(&mut self) {
        self.drawn = [[b' '; MAX_COLUMNS]; MAX_ROWS];
        self.changed = u64::MAX;
    }

    /// Writes text: line feeds end lines, long lines wrap, a backspace moves back by a character. Characters other than ASCII become question marks.
    pub fn write(&mut self, text: &str) {
        if self.columns == 0 || self.rows == 0 {
            return;
        }
        for character in text.chars() {
            match character {
                '\n' => self.next_line(),
                '\r' => self.column = 0,
                '\u{8}' => self.column = self.column.saturating_sub(1),
                _ => {
                    if self.column >= self.columns {
                        self.next_line();
                    }
                    let byte = if (' '..='~').contains(&character) { character as u8 } else { b'?' };
                    self.cells[self.row][self.column] = byte;
                    self.changed |= 1 << self.row;
                    self.column += 1;
                }
            }
        }
    }

    fn next_line(&mut self) {
        self.column = 0;
        self.row += 1;
        if self.row >= self.rows {
            let up = (self.rows / 4).max(1);
            self.cells.copy_within(up..self.rows, 0);
            self.cells[self.rows - up..self.rows].fill([b' '; MAX_COLUMNS]);
            self.row = self.rows - up;
            self.changed = u64::MAX;
        }
    }

    /// The next strip to be drawn, which is marked as drawn.
    pub fn take_strip(&mut self) -> Option<Strip> {
        while self.changed != 0 {
            let row = self.changed.trailing_zeros() as usize;
            self.changed &= self.changed - 1;
            if row >= self.rows {
                continue;
            }
            let differs = |column: &usize| self.cells[row][*column] != self.drawn[row][*column];
            let mut columns = (0..self.columns).filter(differs);
            if let Some(first) = columns.next() {
                let end = columns.next_back().unwrap_or(first) + 1;
                self.drawn[row][first..end].copy_from_slice(&self.cells[row][first..end]);
                return Some(Strip { row, first, end, characters: self.cells[row] });
            }
        }
        None
    }
}

/// A part of a line that has to be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strip {
    row: usize,
    /// Columns.
    first: usize,
    end: usize,
    characters: [u8; MAX_COLUMNS],
}

impl Strip {
    /// Draws it.
    pub fn draw(&self, page: &mut Page) {
        let Size { width, height } = FONT.character_size;
        let place = Point::new((self.first as u32 * width) as i32, (self.row as u32 * height) as i32);
        let paper = Size::new((self.end - self.first) as u32 * width, height);
        // The background is drawn in whole lines, then the letters: single pixels cost several times as much.
        let Ok(()) = page.fill_solid(&Rectangle::new(place, paper), PAPER);
        // The text contains only ASCII.
        let text = str::from_utf8(&self.characters[self.first..self.end]).unwrap_or_default();
        let text = Text::with_baseline(text, place, MonoTextStyle::new(FONT, INK), Baseline::Top);
        let Ok(_) = embedded_graphics::Drawable::draw(&text, page);
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

    /// Draws all changes; returns the number of strips.
    fn draw(grid: &mut TextGrid, page: &mut Page) -> usize {
        core::iter::from_fn(|| grid.take_strip()).inspect(|strip| strip.draw(page)).count()
    }

    #[test]
    fn text_wraps_scrolls_and_goes_back() {
        let mut page = page(30, 80);
        let mut grid = TextGrid::new();
        grid.write("lost: there is no page");
        clear(&mut page);
        grid.fit(&page);
        assert_eq!(grid.size_in_characters(), (3, 4));
        let cell = |column: i32, row: i32| Rectangle::new(Point::new(column * 10, row * 20), Size::new(10, 20));
        grid.write("###\u{8} \n#");
        assert_eq!(draw(&mut grid, &mut page), 2);
        assert!(ink(&page, cell(0, 0)) > 0 && ink(&page, cell(1, 0)) > 0);
        assert_eq!(ink(&page, cell(2, 0)), 0, "a blank over the third character");
        assert!(ink(&page, cell(0, 1)) > 0);
        assert_eq!(draw(&mut grid, &mut page), 0, "nothing has changed");
        grid.write("\n\n\n@\u{e9}");
        draw(&mut grid, &mut page);
        assert!(ink(&page, cell(0, 0)) > 0, "the second line has come up");
        assert_eq!(ink(&page, cell(1, 0)), 0);
        assert!(ink(&page, cell(0, 3)) > 0 && ink(&page, cell(1, 3)) > 0);
    }

    /// Drawing in strips gives the same picture as drawing once at the end, for random text (seed 3).
    #[test]
    fn pieces_add_up_to_the_whole() {
        let mut random = oorandom::Rand32::new(3);
        let mut next = |below: u32| random.rand_range(0..below);
        let mut piecemeal = page(120, 100);
        let (mut grid, mut all) = (TextGrid::new(), TextGrid::new());
        clear(&mut piecemeal);
        grid.fit(&piecemeal);
        all.fit(&piecemeal);
        for _ in 0..500 {
            let characters = ["a", "W", " ", "\n", "\r", "\u{8}", "#"];
            let text = characters[next(7) as usize].repeat(next(4) as usize);
            grid.write(&text);
            all.write(&text);
            if next(3) == 0 {
                draw(&mut grid, &mut piecemeal);
            }
        }
        draw(&mut grid, &mut piecemeal);
        let mut whole = page(120, 100);
        clear(&mut whole);
        draw(&mut all, &mut whole);
        let words = 0..(123 * 100);
        assert!(piecemeal.memory.iter(words.clone()).eq(whole.memory.iter(words)));
        assert!(ink(&whole, Rectangle::new(Point::zero(), Size::new(120, 100))) > 100);
    }
}
