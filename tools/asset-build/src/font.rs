//! Fonts: glyphs rasterised into one atlas, as coverage or as distances.

use crate::Error;
use crate::distance_field::{Bitmap, distance_field};
use crate::file::Budget;
use crate::module::Module;
use crate::picture::MAX_SIDE_PX;
use std::fmt::Write as _;
use std::path::Path;

/// Factor by which a glyph is rasterised larger for its distance field.
const FIELD_SCALE: usize = 8;

/// Bytes of a font's file: the largest fonts of Chinese, Japanese and Korean have some 20 MiB.
const MAX_FILE_BYTES: usize = 64 << 20;
/// Pixels of a glyph that becomes a distance field: it is drawn with 64 times as many.
const MAX_FIELD_AREA_PX: usize = 1 << 20;
/// Characters of an atlas: for each two of them the font is asked how they stand beside each other.
const MAX_CHARACTERS: usize = 8192;

/// Characters, size and kind of a font's atlas.
#[derive(Clone, Debug, PartialEq)]
pub struct FontOptions {
    size_px: f32,
    spread_px: Option<usize>,
    characters: Option<Vec<char>>,
}

impl FontOptions {
    /// Coverage, for text at exactly this size.
    pub fn coverage(size_px: f32) -> Self {
        Self { size_px, spread_px: None, characters: None }
    }

    /// Distances up to `spread_px` pixels of the atlas, for text at any size.
    pub fn distance(size_px: f32, spread_px: usize) -> Self {
        Self { size_px, spread_px: Some(spread_px), characters: None }
    }

    /// Restricts the atlas to these characters instead of all that the font has.
    pub fn characters(mut self, characters: impl IntoIterator<Item = char>) -> Self {
        self.characters = Some(characters.into_iter().collect());
        self
    }
}

/// A font in the form in which it is written.
#[derive(Debug)]
pub(crate) struct Font {
    options: FontOptions,
    ascent_px: f32,
    line_height_px: f32,
    glyphs: Vec<Glyph>,
    kerning: Vec<(char, char, f32)>,
    width_px: usize,
    height_px: usize,
    atlas: Vec<u8>,
}

#[derive(Debug)]
struct Glyph {
    character: char,
    width: usize,
    height: usize,
    bytes: Vec<u8>,
    bearing: [f32; 2],
    advance: f32,
    place: [usize; 2],
}

/// Reads a file.
pub(crate) fn load(path: &Path, options: &FontOptions) -> Result<Font, Error> {
    let bytes = Budget::new(MAX_FILE_BYTES).read(path)?;
    let size = options.size_px;
    if !(4.0..=256.0).contains(&size) || options.spread_px.is_some_and(|spread| spread == 0 || spread > 32) {
        return Err(Error::content(
            path,
            format!(
                "a font is made at 4 to 256 pixels with a spread of 1 to 32, not {size} and {:?}",
                options.spread_px
            ),
        ));
    }
    let settings = fontdue::FontSettings { scale: size, ..fontdue::FontSettings::default() };
    let font = fontdue::Font::from_bytes(bytes, settings).map_err(|reason| Error::content(path, reason))?;
    let lines =
        font.horizontal_line_metrics(size).ok_or_else(|| Error::content(path, "the font has no horizontal metrics"))?;
    let mut characters: Vec<char> = match &options.characters {
        Some(characters) => characters.clone(),
        None => font.chars().keys().copied().collect(),
    };
    characters.sort_unstable();
    characters.dedup();
    if let Some(missing) = characters.iter().find(|&&character| font.lookup_glyph_index(character) == 0) {
        return Err(Error::content(
            path,
            format!("the font has no glyph for {missing:?} (U+{:04X})", u32::from(*missing)),
        ));
    }
    if characters.len() > MAX_CHARACTERS {
        let count = characters.len();
        return Err(Error::content(
            path,
            format!("{count} characters, at most {MAX_CHARACTERS}: say which are needed"),
        ));
    }
    check_areas(&font, &characters, options).map_err(|reason| Error::content(path, reason))?;
    let mut glyphs: Vec<Glyph> = characters.iter().map(|&character| glyph(&font, character, options)).collect();
    let (width_px, height_px) = pack(&mut glyphs).map_err(|reason| Error::content(path, reason))?;
    let mut atlas = vec![0; width_px * height_px];
    for Glyph { width, bytes, place: [left, top], .. } in &glyphs {
        for (row, line) in bytes.chunks_exact((*width).max(1)).enumerate() {
            let start = (top + row) * width_px + left;
            atlas[start..start + width].copy_from_slice(line);
        }
    }
    let pairs = characters.iter().flat_map(|&left| characters.iter().map(move |&right| (left, right)));
    let kerning = pairs
        .filter_map(|(left, right)| font.horizontal_kern(left, right, size).map(|offset| (left, right, offset)))
        .filter(|&(_, _, offset)| offset != 0.0)
        .collect();
    Ok(Font {
        options: options.clone(),
        ascent_px: lines.ascent,
        line_height_px: lines.new_line_size,
        glyphs,
        kerning,
        width_px,
        height_px,
        atlas,
    })
}

/// Refuses glyphs that no atlas can hold, before they are drawn.
fn check_areas(font: &fontdue::Font, characters: &[char], options: &FontOptions) -> Result<(), String> {
    let mut sum = 0usize;
    for &character in characters {
        let metrics = font.metrics(character, options.size_px);
        let area = metrics.width.saturating_mul(metrics.height);
        if options.spread_px.is_some() && area > MAX_FIELD_AREA_PX {
            return Err(format!(
                "the glyph of {character:?} has {} x {} pixels, too many for a distance field",
                metrics.width, metrics.height
            ));
        }
        sum = sum.saturating_add(area);
    }
    let most = (MAX_SIDE_PX * MAX_SIDE_PX) as usize;
    if sum > most { Err(format!("the glyphs have {sum} pixels, and a texture has at most {most}")) } else { Ok(()) }
}

fn glyph(font: &fontdue::Font, character: char, options: &FontOptions) -> Glyph {
    let size = options.size_px;
    let Some(spread) = options.spread_px else {
        let (metrics, bytes) = font.rasterize(character, size);
        let fontdue::Metrics { xmin, ymin, width, height, advance_width, .. } = metrics;
        let bearing = [xmin as f32, (ymin + height as i32) as f32];
        return Glyph { character, width, height, bytes, bearing, advance: advance_width, place: [0; 2] };
    };
    let (large, coverage) = font.rasterize(character, size * FIELD_SCALE as f32);
    let advance = large.advance_width / FIELD_SCALE as f32;
    if coverage.is_empty() {
        return Glyph { character, width: 0, height: 0, bytes: Vec::new(), bearing: [0.0; 2], advance, place: [0; 2] };
    }
    let inside = coverage.iter().map(|&covered| covered >= 128).collect();
    let bitmap = Bitmap { width: large.width, height: large.height, inside };
    let (width, height, bytes) = distance_field(&bitmap, FIELD_SCALE, spread);
    let scaled = |large: i32| large as f32 / FIELD_SCALE as f32;
    let bearing = [scaled(large.xmin) - spread as f32, scaled(large.ymin + large.height as i32) + spread as f32];
    Glyph { character, width, height, bytes, bearing, advance, place: [0; 2] }
}

/// Places each glyph in an atlas whose sides are powers of two, with a free pixel around each, and returns the atlas's
/// size.
fn pack(glyphs: &mut [Glyph]) -> Result<(usize, usize), String> {
    let mut order: Vec<usize> = (0..glyphs.len()).collect();
    order.sort_by_key(|&index| std::cmp::Reverse(glyphs[index].height));
    let area: usize = glyphs.iter().map(|glyph| (glyph.width + 1) * (glyph.height + 1)).sum();
    let mut width = 64;
    while width * width < area {
        width *= 2;
    }
    let widest = glyphs.iter().map(|glyph| glyph.width + 2).max().unwrap_or(0);
    width = width.max(widest.next_power_of_two());
    let (mut left, mut top, mut row_height) = (1, 1, 0);
    for index in order {
        let Glyph { width: glyph_width, height: glyph_height, place, .. } = &mut glyphs[index];
        if left + *glyph_width + 1 > width {
            (left, top, row_height) = (1, top + row_height + 1, 0);
        }
        *place = [left, top];
        left += *glyph_width + 1;
        row_height = row_height.max(*glyph_height);
    }
    let height = (top + row_height + 1).next_power_of_two();
    if width.max(height) > MAX_SIDE_PX as usize {
        return Err(format!(
            "the glyphs need an atlas of {width} x {height} pixels, and a texture has at most {MAX_SIDE_PX} on each side"
        ));
    }
    Ok((width, height))
}

impl Font {
    pub(crate) fn write(self, module: &mut Module, name: &str) {
        let size = self.options.size_px;
        let kind = match self.options.spread_px {
            None => "renderer::asset::GlyphKind::Coverage".to_owned(),
            Some(spread) => format!("renderer::asset::GlyphKind::Distance {{ spread_px: {:?} }}", spread as f32),
        };
        let (mut glyphs, mut kerning) = (String::new(), String::new());
        // Writing to a string cannot fail.
        for Glyph { character, width, height, bearing, advance, place, .. } in &self.glyphs {
            let _ = write!(
                glyphs,
                "renderer::asset::Glyph {{ character: {character:?}, atlas_px: {place:?}, extent_px: [{width}, {height}], bearing_px: {bearing:?}, \
                 advance_px: {advance:?} }}, "
            );
        }
        for (left, right, offset) in &self.kerning {
            let _ = write!(
                kerning,
                "renderer::asset::KerningPair {{ left: {left:?}, right: {right:?}, offset_px: {offset:?} }}, "
            );
        }
        let documentation = format!("A font of {} glyphs, {size} pixels an em.", self.glyphs.len());
        let Self { ascent_px, line_height_px, width_px, height_px, .. } = self;
        let atlas = module.bytes(name, self.atlas);
        let value = format!(
            "renderer::asset::Font {{ kind: {kind}, size_px: {size:?}, ascent_px: {ascent_px:?}, line_height_px: {line_height_px:?}, \
             atlas_width_px: {width_px}, atlas_height_px: {height_px}, atlas: {atlas}, glyphs: &[{glyphs}], kerning: &[{kerning}] }}"
        );
        module.constant(&documentation, name, "Font", &value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxes(sizes: &[(usize, usize)]) -> Vec<Glyph> {
        let glyph = |&(width, height): &(usize, usize)| Glyph {
            character: 'x',
            width,
            height,
            bytes: Vec::new(),
            bearing: [0.0; 2],
            advance: 0.0,
            place: [0; 2],
        };
        sizes.iter().map(glyph).collect()
    }

    /// Linear filtering reads one pixel beyond a glyph, so glyphs need that distance.
    #[test]
    fn glyphs_stand_apart() {
        let sizes: Vec<(usize, usize)> = (0..300).map(|n| (n * 7 % 23, n * 5 % 31)).collect();
        let mut glyphs = boxes(&sizes);
        let (width, height) = pack(&mut glyphs).unwrap();
        let mut taken = vec![false; width * height];
        for Glyph { width: across, height: down, place: [left, top], .. } in &glyphs {
            assert!(left + across < width && top + down < height, "{left}+{across} {top}+{down} in {width}x{height}");
            // The glyph, and the free pixels to the right of it and below it.
            for y in *top..top + down + 1 {
                for x in *left..left + across + 1 {
                    assert!(
                        *across == 0 || *down == 0 || !std::mem::replace(&mut taken[y * width + x], true),
                        "{x}, {y} is taken twice"
                    );
                }
            }
        }
    }

    #[test]
    fn an_atlas_that_no_texture_can_hold_is_refused() {
        assert!(pack(&mut boxes(&[(2000, 2000), (2000, 2000)])).unwrap_err().contains("at most 2048"));
    }
}
