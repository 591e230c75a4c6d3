//! Proportional text from an atlas of coverage, or of signed distances, which stays sharp at any size.

use glam::Vec2;
use v3d::Platform;

use super::shape::premultiplied;
use super::{Canvas, GLYPH, SegmentKind};
use crate::asset::{Font, Glyph, GlyphKind};
use crate::device::Device;
use crate::error::Error;
use crate::texture::{Texture, TextureDescriptor, TextureType};

/// A font whose atlas is in GPU memory.
#[derive(Clone, Debug)]
pub struct FontAtlas {
    font: Font,
    texture: Texture,
}

impl FontAtlas {
    /// Uploads a font's atlas as a texture.
    ///
    /// # Errors
    /// When the atlas is larger than a texture can be, or the pool has not enough memory.
    pub fn new<P: Platform>(device: &Device<'_, P>, label: &'static str, font: &Font) -> Result<Self, Error> {
        let descriptor = TextureDescriptor::new(label, TextureType::Alpha, font.atlas_width_px, font.atlas_height_px);
        Ok(Self { font: *font, texture: Texture::from_pixels(device, &descriptor, font.atlas)? })
    }

    /// The font.
    pub const fn font(&self) -> &Font {
        &self.font
    }

    pub(crate) const fn texture(&self) -> &Texture {
        &self.texture
    }

    /// Calls a function for each visible glyph of a text: with the position of its top left corner, and its scale. `x` and `y` are the position of the
    /// baseline's start on the first line.
    pub(crate) fn place_glyphs(
        &self,
        [x, y]: [f32; 2],
        style: &TextStyle,
        text: &str,
        mut placed: impl FnMut(&Glyph, [f32; 2], f32) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let font = &self.font;
        let scale = style.size_px / font.size_px;
        let whole = font.kind == GlyphKind::Coverage && scale == 1.0;
        for (number, line) in text.split('\n').enumerate() {
            let width = if style.anchor == 0.0 { 0.0 } else { font.width_px(line) * scale };
            let (mut pen, baseline) = (x - width * style.anchor, y + number as f32 * font.line_height_px * scale);
            let mut previous = None;
            for character in line.chars() {
                let Some(glyph) = font.glyph(character) else { continue };
                pen += previous.map_or(0.0, |left| font.kerning_px(left, character)) * scale;
                previous = Some(character);
                let place = place(glyph, Vec2::new(pen, baseline), scale, whole);
                pen += glyph.advance_px * scale;
                if !glyph.extent_px.contains(&0) {
                    placed(glyph, place.to_array(), scale)?;
                }
            }
        }
        Ok(())
    }

    /// Width of a line of text at a size, in pixels.
    pub fn width_px(&self, text: &str, size_px: f32) -> f32 {
        self.font.width_px(text) * size_px / self.font.size_px
    }
}

/// Size, colour and alignment of text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextStyle {
    /// Size of an em in pixels. A coverage font looks best at the size it was rasterised at.
    pub size_px: f32,
    /// Red, green, blue, alpha.
    pub color: [u8; 4],
    /// Which point of a line is placed at x: 0 its left end, 0.5 its middle, 1 its right end.
    pub anchor: f32,
}

impl TextStyle {
    /// Left-aligned text.
    pub const fn new(size_px: f32, color: [u8; 4]) -> Self {
        Self { size_px, color, anchor: 0.0 }
    }

    /// Centred text.
    #[must_use]
    pub const fn centered(self) -> Self {
        Self { anchor: 0.5, ..self }
    }

    /// Right-aligned text.
    #[must_use]
    pub const fn to_the_left(self) -> Self {
        Self { anchor: 1.0, ..self }
    }
}

/// Slope and offset that turn an atlas's value (0 to 1) into coverage when the atlas is scaled by `scale`.
fn ramp(kind: GlyphKind, scale: f32) -> [f32; 2] {
    match kind {
        GlyphKind::Coverage => [1.0, 0.0],
        // A value of 128 of 255 is on the outline, and 127 steps correspond to the spread. Coverage goes from 0 half a pixel outside the outline to 1 half a
        // pixel inside.
        GlyphKind::Distance { spread_px } => {
            let spread = spread_px * scale;
            [255.0 / 127.0 * spread, 0.5 - 128.0 / 127.0 * spread]
        }
    }
}

impl Canvas {
    /// Draws text. `x` and `y` are the position of the baseline's start on the first line; a line feed begins a new line. Characters without a glyph are
    /// skipped.
    ///
    /// Glyphs of a coverage font drawn at its own size are snapped to whole pixels, so that texels coincide with pixels.
    ///
    /// # Errors
    /// When a coordinate is NaN or infinite, or the heap is full; then none of the text is drawn.
    pub fn text(&mut self, atlas: &FontAtlas, x: f32, y: f32, style: &TextStyle, text: &str) -> Result<(), Error> {
        self.as_a_whole(|canvas| canvas.glyphs_of(atlas, x, y, style, text))
    }

    /// Draws text glyph by glyph; on an error, the glyphs before it remain drawn.
    fn glyphs_of(&mut self, atlas: &FontAtlas, x: f32, y: f32, style: &TextStyle, text: &str) -> Result<(), Error> {
        let font = &atlas.font;
        let at = Vec2::new(x, y) + self.origin;
        let color = premultiplied(style.color);
        let size = Vec2::new(font.atlas_width_px as f32, font.atlas_height_px as f32);
        self.segments.reserve(self.label)?;
        let kind = SegmentKind::Glyphs(self.texture(&atlas.texture)?);
        atlas.place_glyphs(at.to_array(), style, text, |glyph, place, scale| {
            let place = Vec2::from(place);
            let [slope, offset] = ramp(font.kind, scale);
            let extent = Vec2::new(f32::from(glyph.extent_px[0]), f32::from(glyph.extent_px[1]));
            let end = place + extent * scale;
            let corners = [place, Vec2::new(end.x, place.y), end, Vec2::new(place.x, end.y)];
            let first = Vec2::new(f32::from(glyph.atlas_px[0]), f32::from(glyph.atlas_px[1]));
            let varyings = |at: Vec2| -> [f32; GLYPH] {
                let uv = (first + (at - place) / scale) / size;
                [uv.x, uv.y, slope, offset, color[0], color[1], color[2], color[3]]
            };
            let polygon = self.window.shade(self.label, &corners, varyings)?;
            let count = self.glyphs.append(self.label, polygon.vertices())?;
            self.note(kind, count);
            Ok(())
        })
    }
}

/// The top left corner of a glyph.
fn place(glyph: &Glyph, pen: Vec2, scale: f32, whole: bool) -> Vec2 {
    let [bearing_x, bearing_y] = glyph.bearing_px;
    let place = pen + Vec2::new(bearing_x, -bearing_y) * scale;
    if whole { (place + 0.5).floor() } else { place }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_pixel_inside_the_outline_all_is_covered() {
        let covered = |kind, scale, value: f32| {
            let [slope, offset] = ramp(kind, scale);
            slope * value / 255.0 + offset
        };
        assert_eq!(covered(GlyphKind::Coverage, 1.0, 51.0), 0.2);
        let distance = GlyphKind::Distance { spread_px: 5.0 };
        // At four times the size, half a pixel is an eighth of an atlas pixel, which is a 40th of the spread.
        for (scale, value, expected) in
            [(1.0, 128.0, 0.5), (4.0, 128.0, 0.5), (4.0, 128.0 + 127.0 / 40.0, 1.0), (4.0, 128.0 - 127.0 / 40.0, 0.0)]
        {
            let found = covered(distance, scale, value);
            assert!((found - expected).abs() < 1e-4, "{value} at scale {scale} covers {found}");
        }
    }
}
