//! Models, pictures and fonts as constants that a build script generates from glTF, PNG, JPEG and TrueType files
//!
//! Nothing is parsed on the Pi: the package `asset-build` does that on the developer's machine and writes a module with constants of these types. All bytes are
//! already in the layout that the GPU reads, so creating a mesh, a texture or a glyph atlas is a copy.

use alloc::vec::Vec;

/// A picture: 8 bits each of red, green, blue and alpha, not premultiplied, rows from the top without padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    /// Width in pixels.
    pub width_px: u32,
    /// Height in pixels.
    pub height_px: u32,
    /// `4 * width_px * height_px` bytes.
    pub rgba: &'static [u8],
}

/// Bytes of a [`ModelPart`]'s vertex: position, normal, texture coordinates.
pub const MODEL_VERTEX_BYTES: u32 = 28;

/// A model of triangles, one part per material. The nodes' transformations are already applied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// The parts, each with one material and at most 65,536 vertices.
    pub parts: &'static [ModelPart],
    /// The materials of the parts.
    pub materials: &'static [ModelMaterial],
    /// The images of the materials.
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
    /// Vertices of [`MODEL_VERTEX_BYTES`] bytes: x, y, z as `f32`; the normal's x, y, z and a 0 as half floats, which
    /// the QPU unpacks at no cost when it reads them [AG p.31]; s, t as `f32`, t growing downwards in the picture. Little-endian.
    pub vertices: &'static [u8],
    /// Three 16-bit indices per triangle, counter-clockwise seen from the front. Little-endian.
    pub indices: &'static [u8],
}

/// A material in glTF's metallic-roughness model; its factors are multiplied by the images' values.
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
    /// Emitted light: linear red, green, blue.
    pub emissive: [f32; 3],
    /// Whether back faces are visible.
    pub double_sided: bool,
}

/// Bytes of a [`Figure`]'s vertex: those of a [`ModelPart`], then four joints and four weights of a byte each.
pub const FIGURE_VERTEX_BYTES: u32 = MODEL_VERTEX_BYTES + 8;
/// Most joints of a figure.
pub const MAX_JOINTS: usize = 32;
/// A joint's matrix: three rows of four numbers, which multiply a position and 1.
pub type JointMatrix = [[f32; 4]; 3];

/// A model that bends at joints: a skin of glTF, and its animations.
///
/// A vertex in a pose is the sum of the positions that its four joints' matrices take it to, each multiplied by its weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// Number of joints, at most [`MAX_JOINTS`].
    pub joints: usize,
    /// The parts, each with one material and at most 65,536 vertices of [`FIGURE_VERTEX_BYTES`] bytes. Joints are 0 or more, and less than their number;
    /// weights add up to 255.
    pub parts: &'static [ModelPart],
    /// The materials of the parts.
    pub materials: &'static [ModelMaterial],
    /// The images of the materials.
    pub images: &'static [Image],
    /// The animations.
    pub animations: &'static [Animation],
}

/// Poses of a figure at equal distances of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Animation {
    /// The name in the file, or the empty string.
    pub name: &'static str,
    /// From the first pose to the last one, in seconds.
    pub duration_s: f32,
    /// Number of joints.
    pub joints: usize,
    /// The matrices of all joints for each pose. Little-endian.
    pub poses: &'static [u8],
}

impl Animation {
    /// Bytes of a joint's matrix.
    const MATRIX_BYTES: usize = 48;

    /// The matrices of all joints at a time in seconds, by linear interpolation between the two poses next to it. The animation is repeated.
    pub fn pose(&self, time_s: f32) -> Vec<JointMatrix> {
        let bytes = (self.joints * Self::MATRIX_BYTES).max(1);
        let last = (self.poses.len() / bytes).saturating_sub(1);
        let turns = if self.duration_s > 0.0 { time_s / self.duration_s } else { 0.0 };
        // Rounded down, for negative numbers, too.
        let whole = turns as i64 as f32;
        let within = if turns < whole { turns - whole + 1.0 } else { turns - whole };
        let at = (within * last as f32).clamp(0.0, last as f32);
        let before = (at as usize).min(last.saturating_sub(1));
        let share = at - before as f32;
        let number = |pose: usize, word: usize| {
            let word = self.poses.get(pose * bytes + 4 * word..).and_then(|rest| rest.first_chunk());
            f32::from_le_bytes(word.copied().unwrap_or_default())
        };
        let between = |word: usize| {
            let (from, to) = (number(before, word), number((before + 1).min(last), word));
            from + (to - from) * share
        };
        let matrix =
            |joint: usize| core::array::from_fn(|row| core::array::from_fn(|at| between(12 * joint + 4 * row + at)));
        (0..self.joints).map(matrix).collect()
    }
}

/// The meaning of a texel of a font's atlas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GlyphKind {
    /// How much of the pixel the glyph covers, from 0 (nothing) to 255 (all of it). Meant to be drawn at the size it
    /// was rasterised at.
    Coverage,
    /// Signed distance to the glyph's outline: 128 on it, 255 at `spread_px` inside, 0 at `spread_px` outside. Stays
    /// sharp at any size.
    Distance {
        /// The greatest distance that is stored, in pixels of the atlas.
        spread_px: f32,
    },
}

/// A font: its glyphs in one atlas, and their metrics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Font {
    /// The meaning of the atlas's texels.
    pub kind: GlyphKind,
    /// Size of an em in pixels of the atlas.
    pub size_px: f32,
    /// From the baseline up to the top of a line, in pixels of the atlas.
    pub ascent_px: f32,
    /// From one baseline to the next, in pixels of the atlas.
    pub line_height_px: f32,
    /// Width of the atlas in pixels.
    pub atlas_width_px: u32,
    /// Height of the atlas in pixels.
    pub atlas_height_px: u32,
    /// The atlas, one byte per pixel, rows from the top.
    pub atlas: &'static [u8],
    /// The glyphs, sorted by character.
    pub glyphs: &'static [Glyph],
    /// Kerning pairs, sorted.
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

/// A correction of the distance between two characters that follow each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KerningPair {
    /// The first character.
    pub left: char,
    /// The second character.
    pub right: char,
    /// Added to the advance of the first one, in pixels of the atlas; negative moves them closer together.
    pub offset_px: f32,
}

impl Font {
    /// The glyph of a character, if the font has one.
    pub fn glyph(&self, character: char) -> Option<&'static Glyph> {
        let index = self.glyphs.binary_search_by_key(&character, |glyph| glyph.character).ok()?;
        self.glyphs.get(index)
    }

    /// Added to the advance of `left` when `right` follows, in pixels of the atlas.
    pub fn kerning_px(&self, left: char, right: char) -> f32 {
        let found = self.kerning.binary_search_by_key(&(left, right), |pair| (pair.left, pair.right));
        found.ok().and_then(|index| self.kerning.get(index)).map_or(0.0, |pair| pair.offset_px)
    }

    /// Width of a line of text in pixels of the atlas. Characters without a glyph have no width.
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

    /// Two joints and three poses: the first joint moves along x, the second one along y.
    #[test]
    fn poses_are_interpolated_and_repeated() {
        let mut poses = Vec::new();
        for (x, y) in [(0.0f32, 0.0f32), (2.0, 10.0), (0.0, 40.0)] {
            for [x, y] in [[x, 0.0], [0.0, y]] {
                let rows = [[1.0, 0.0, 0.0, x], [0.0, 1.0, 0.0, y], [0.0, 0.0, 1.0, 0.0]];
                poses.extend(rows.into_iter().flatten().flat_map(f32::to_le_bytes));
            }
        }
        let animation = Animation { name: "", duration_s: 4.0, joints: 2, poses: poses.leak() };
        for (time, x, y) in
            [(0.0, 0.0, 0.0), (1.0, 1.0, 5.0), (2.0, 2.0, 10.0), (3.5, 0.5, 32.5), (-0.5, 0.5, 32.5), (9.0, 1.0, 5.0)]
        {
            let [first, second] = animation.pose(time).try_into().unwrap();
            assert_eq!(first, [[1.0, 0.0, 0.0, x], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]], "{time} s");
            assert_eq!(second, [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, y], [0.0, 0.0, 1.0, 0.0]], "{time} s");
        }
        let still = Animation { name: "", duration_s: 0.0, joints: 1, poses: &[0; 48] };
        assert_eq!(still.pose(3.0), [[[0.0; 4]; 3]]);
    }

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
