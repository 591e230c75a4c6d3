//! The contact sheet: all pictures with their names.

use super::Exhibit;
use crate::picture::Picture;
use anyhow::{Result, anyhow};

/// Pictures per row.
const COLUMNS: usize = 4;
/// Width of a picture in pixels.
const WIDTH: usize = 300;
/// Space between and around pictures in pixels.
const GAP: usize = 12;
/// Height of a name in pixels.
const NAME: usize = 24;
/// Size of the letters in pixels.
const LETTERS_PX: f32 = 15.0;
/// Background colour.
const GROUND: [u8; 3] = [20, 23, 28];
/// Colour of letters.
const INK: [u8; 3] = [216, 221, 228];
/// The scenes' own font.
const FONT: &[u8] = include_bytes!("../../../../kernel/assets/roboto-medium.ttf");

/// Arranges the pictures on one sheet.
pub(super) fn contact_sheet(exhibits: &[Exhibit]) -> Result<Picture> {
    let font = fontdue::Font::from_bytes(FONT, fontdue::FontSettings::default())
        .map_err(|reason| anyhow!("the font of the contact sheet: {reason}"))?;
    let small: Vec<Picture> = exhibits.iter().map(|exhibit| exhibit.picture.scaled_to_width(WIDTH)).collect();
    let height = small.iter().map(|picture| picture.height).max().unwrap_or(0);
    let columns = COLUMNS.min(small.len()).max(1);
    let rows = small.len().div_ceil(columns);
    let (width, row_height) = (GAP + columns * (WIDTH + GAP), height + NAME + GAP);
    let mut sheet = Picture::filled(width, GAP + rows * row_height, GROUND);
    for (number, (picture, exhibit)) in small.iter().zip(exhibits).enumerate() {
        let (x, y) = (GAP + number % columns * (WIDTH + GAP), GAP + number / columns * row_height);
        sheet.paste(picture, x, y);
        write(&mut sheet, &font, &exhibit.scene.name, x, y + height + NAME * 3 / 4);
    }
    Ok(sheet)
}

/// Draws a line of text that starts at `x`, with its baseline at row `y`.
fn write(sheet: &mut Picture, font: &fontdue::Font, text: &str, x: usize, y: usize) {
    let mut pen = x as f32;
    for character in text.chars() {
        let (metrics, coverage) = font.rasterize(character, LETTERS_PX);
        let (left, top) = (pen as i32 + metrics.xmin, y as i32 - metrics.ymin - metrics.height as i32);
        for (at, &covered) in coverage.iter().enumerate() {
            let (column, row) = ((at % metrics.width) as i32, (at / metrics.width) as i32);
            if let (Ok(x), Ok(y)) = (usize::try_from(left + column), usize::try_from(top + row)) {
                sheet.blend(x, y, INK, covered);
            }
        }
        pen += metrics.advance_width;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::SceneLine;

    #[test]
    fn five_pictures_are_two_rows() {
        let exhibits: Vec<Exhibit> = (0..5)
            .map(|n| Exhibit {
                scene: SceneLine { name: "name".to_owned(), description: String::new() },
                picture: Picture::filled(600, 400, [n * 50, 0, 0]),
                has_film: false,
            })
            .collect();
        let sheet = contact_sheet(&exhibits).unwrap();
        assert_eq!((sheet.width, sheet.height), (12 + 4 * 312, 12 + 2 * (200 + 24 + 12)));
        assert_eq!(sheet.pixel(12, 12), Some([0, 0, 0]));
        assert_eq!(sheet.pixel(12 + 3 * 312 + 299, 12 + 199), Some([150, 0, 0]));
        assert_eq!(sheet.pixel(12, 12 + 236), Some([200, 0, 0]));
        assert_eq!(sheet.pixel(11, 12), Some(GROUND));
        let below = (0..24).flat_map(|y| (12..60).map(move |x| (x, 212 + y)));
        assert!(below.into_iter().any(|(x, y)| sheet.pixel(x, y) == Some(INK)), "the name is there");
    }
}
