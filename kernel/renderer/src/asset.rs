//! Models, pictures and fonts as constants: what a build script has made of glTF, PNG, JPEG and TrueType files
//!
//! Nothing is parsed on the Pi: the package `asset-build` does that on the developer's machine and writes a module with constants of these
//! types. All bytes are laid out as the GPU reads them, so making a mesh, a texture or a glyph atlas of them is a copy.

/// A picture: 8 bits each of red, green, blue and alpha, not premultiplied, rows from the top without gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    /// Pixels across.
    pub width_px: u32,
    /// Pixels down.
    pub height_px: u32,
    /// `4 * width_px * height_px` bytes.
    pub rgba: &'static [u8],
}

/// Bytes of a [`ModelPart`]'s vertex: position, normal, texture coordinate.
pub const MODEL_VERTEX_BYTES: u32 = 28;

/// A model of triangles, its nodes' places already applied: parts of one material each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// The parts, each with one material and at most 65,536 vertices.
    pub parts: &'static [ModelPart],
    /// What the parts are made of.
    pub materials: &'static [ModelMaterial],
    /// What the materials show.
    pub images: &'static [Image],
    /// The least x, y and z of all vertices.
    pub low: [f32; 3],
    /// The greatest x, y and z of all vertices.
    pub high: [f32; 3],
}

/// Triangles of one material.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelPart {
    /// Index into [`Model::materials`].
    pub material: usize,
    /// Vertices of [`MODEL_VERTEX_BYTES`] bytes: x, y, z as `f32`; the normal's x, y, z and a 0 as half floats, which the QPU unpacks for nothing when it reads
    /// them [AG p.31]; s, t as `f32`, t growing downwards in the picture. Little-endian.
    pub vertices: &'static [u8],
    /// Three indices of 16 bits a triangle, counter-clockwise seen from the front. Little-endian.
    pub indices: &'static [u8],
}

/// What a part is made of: glTF's metallic-roughness material, factors to be multiplied with the images' values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelMaterial {
    /// The name in the file, or the empty string.
    pub name: &'static str,
    /// Linear red, green, blue and alpha.
    pub base_color: [f32; 4],
    /// Index into [`Model::images`].
    pub base_color_image: Option<usize>,
    /// 0 for dielectrics, 1 for metals.
    pub metallic: f32,
    /// 0 for mirrors, 1 for matte surfaces.
    pub roughness: f32,
    /// Light that it gives by itself: linear red, green, blue.
    pub emissive: [f32; 3],
    /// Whether back faces are to be seen.
    pub double_sided: bool,
}

/// What a font's atlas holds for each pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GlyphKind {
    /// How much of the pixel the glyph covers: 0 none, 255 all. To be drawn at the size that it was made for.
    Coverage,
    /// The distance to the glyph's outline: 128 on it, 255 at `spread_px` inside, 0 at as much outside. Stays sharp at any size.
    Distance {
        /// Pixels of the atlas.
        spread_px: f32,
    },
}

/// A font's glyphs in one picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Font {
    /// What the atlas holds.
    pub kind: GlyphKind,
    /// Pixels an em has in the atlas.
    pub size_px: f32,
    /// From the baseline up to the top of a line, in pixels of the atlas.
    pub ascent_px: f32,
    /// From one baseline to the next, in pixels of the atlas.
    pub line_height_px: f32,
    /// Pixels across of the atlas.
    pub atlas_width_px: u32,
    /// Pixels down of the atlas.
    pub atlas_height_px: u32,
    /// The atlas, one byte a pixel, rows from the top.
    pub atlas: &'static [u8],
    /// The glyphs, sorted by character.
    pub glyphs: &'static [Glyph],
    /// Pairs that stand closer or wider than their advances say, sorted.
    pub kerning: &'static [KerningPair],
}

/// One glyph of an atlas. Lengths are in pixels of the atlas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Glyph {
    /// The character.
    pub character: char,
    /// First column and first row in the atlas.
    pub atlas_px: [u16; 2],
    /// Columns and rows in the atlas.
    pub extent_px: [u16; 2],
    /// From the pen to the left edge, and from the baseline up to the top edge.
    pub bearing_px: [f32; 2],
    /// From this glyph's pen to the next one's.
    pub advance_px: f32,
}

/// How much closer (negative) or wider two characters stand when they follow each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KerningPair {
    /// The first character.
    pub left: char,
    /// The second character.
    pub right: char,
    /// Added to the first one's advance, in pixels of the atlas.
    pub offset_px: f32,
}

impl Font {
    /// The glyph of a character.
    pub fn glyph(&self, character: char) -> Option<&'static Glyph> {
        let index = self.glyphs.binary_search_by_key(&character, |glyph| glyph.character).ok()?;
        self.glyphs.get(index)
    }

    /// What is added to the advance of `left` when `right` follows, in pixels of the atlas.
    pub fn kerning_px(&self, left: char, right: char) -> f32 {
        let found = self.kerning.binary_search_by_key(&(left, right), |pair| (pair.left, pair.right));
        found.ok().and_then(|index| self.kerning.get(index)).map_or(0.0, |pair| pair.offset_px)
    }

    /// How wide a line of text is, in pixels of the atlas. Characters without a glyph take no room.
    pub fn width_px(&self, text: &str) -> f32 {
        let mut width = 0.0;
        let mut previous = None;
        for character in text.chars() {
            let Some(glyph) = self.glyph(character) else { continue };
            width += previous.map_or(0.0, |left| self.kerning_px(left, character)) + glyph.advance_px;
            previous = Some(character);
        }
        width
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn glyph(character: char, advance_px: f32) -> Glyph {
        Glyph { character, atlas_px: [0, 0], extent_px: [1, 1], bearing_px: [0.0, 0.0], advance_px }
    }

    const FONT: Font = Font {
        kind: GlyphKind::Coverage,
        size_px: 10.0,
        ascent_px: 8.0,
        line_height_px: 12.0,
        atlas_width_px: 1,
        atlas_height_px: 1,
        atlas: &[0],
        glyphs: &[glyph('A', 6.0), glyph('B', 5.0), glyph('V', 6.5)],
        kerning: &[
            KerningPair { left: 'A', right: 'V', offset_px: -1.5 },
            KerningPair { left: 'V', right: 'A', offset_px: -1.0 },
        ],
    };

    #[test]
    fn widths_take_kerning_and_skip_what_has_no_glyph() {
        let check = |text, width: f32| assert_eq!(FONT.width_px(text), width, "{text}");
        check("", 0.0);
        check("AB", 11.0);
        check("AV", 11.0);
        check("A\u{3042}V", 11.0);
        check("VAB", 16.5);
    }
}
