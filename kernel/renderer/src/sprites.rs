//! Sprites: thousands of textured quads in one draw.
//!
//! Each has a position, a rotation, a scale, a tint and a part of an atlas.
//! ```text
//! let sprites = Sprites::new(&device, "sprites", 10_000, Blend::ALPHA)?;
//! let atlas = SpriteAtlas::of_texture(&texture)?;
//!
//! let fish = Sprite { part: [0, 0, 32, 16], ..Sprite::new() };
//! let shoal: Vec<_> = places.iter().map(|&(center, rotation)| Sprite { center, rotation, ..fish }).collect();
//! sprites.draw_to(&mut pass, &atlas, &shoal)?;
//! ```
//! Coordinates are pixels from the picture's top left corner, angles radians, clockwise on the screen, as in a [`Canvas`](crate::Canvas). A canvas computes
//! and clips its polygons on the CPU, and cuts what is drawn into draws by kind and texture; here the GPU computes the corners, and a draw has one atlas.
//! Text ([`Sprites::append_text`]) and nine-patches ([`nine_patch`]) are sprites as well.
//!
//! # Implementation
//! Eight words of each sprite are copied into the frame's memory. The vertex shader has the index of a vertex as its only attribute, selects sprite and
//! corner with it, and loads the words through a TMU. Vertices and indices are the same for all draws, and are written once.

use alloc::vec::Vec;

use shader_interface::{Storage, Texture2d};
use v3d::Platform;
use v3d::pool::Buffer;

use crate::asset::GlyphKind;
use crate::canvas::{FontAtlas, Patch, TextStyle, stops};
use crate::device::Device;
use crate::error::Error;
use crate::heap::reserve;
use crate::mesh::layout::{ALIGNMENT, PlacedPart};
use crate::pass::Pass;
use crate::pipeline::blend::Blend;
use crate::pipeline::{Pipeline, PipelineDescriptor};
use crate::programs::sprite;
use crate::texture::{Sampler, Texture, Wrap};

/// Most sprites of one record: six indices each, and at most 65,535 [GFXH-515: mesa vc4_draw.c].
const MOST_OF_A_DRAW: usize = 10_922;
/// Words of a sprite in memory.
pub(crate) const WORDS: usize = 8;

/// A textured quad.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sprite {
    /// The centre in pixels.
    pub center: [f32; 2],
    /// Pixels per texel along the part's two axes. A negative scale mirrors.
    pub scale: [f32; 2],
    /// An angle around the centre.
    pub rotation: f32,
    /// The part of the atlas, in texels: first column, first row, width and height.
    pub part: [u16; 4],
    /// Multiplied by the texel: red, green, blue, alpha, not premultiplied.
    pub tint: [u8; 4],
}

impl Default for Sprite {
    fn default() -> Self {
        Self::new()
    }
}

impl Sprite {
    /// An empty part at the picture's corner: upright, of the atlas's size, untinted.
    pub const fn new() -> Self {
        Self { center: [0.0; 2], scale: [1.0; 2], rotation: 0.0, part: [0; 4], tint: [255; 4] }
    }

    /// A part of an atlas whose left top corner is at `x` and `y`, `width` and `height` pixels large.
    pub fn at(part: [u16; 4], [x, y, width, height]: [f32; 4]) -> Self {
        let over = |length: f32, texels: u16| length / f32::from(texels.max(1));
        Self {
            center: [x + width / 2.0, y + height / 2.0],
            scale: [over(width, part[2]), over(height, part[3])],
            part,
            ..Self::new()
        }
    }

    /// The words that the vertex shader reads.
    #[inline(always)]
    fn words(&self) -> [u32; WORDS] {
        let Self { center: [x, y], scale: [across, down], rotation, part: [left, top, width, height], tint } = *self;
        let halves = |low: u16, high: u16| u32::from(low) | u32::from(high) << 16;
        [
            x.to_bits(),
            y.to_bits(),
            across.to_bits(),
            down.to_bits(),
            rotation.to_bits(),
            halves(left, top),
            halves(width, height),
            u32::from_le_bytes(tint),
        ]
    }

    /// The first of its numbers that is NaN or infinite.
    fn not_finite(&self) -> Option<f32> {
        let Self { center: [x, y], scale: [across, down], rotation, .. } = *self;
        [x, y, across, down, rotation].into_iter().find(|value| !value.is_finite())
    }
}

/// An atlas that sprites are parts of, filtered bilinearly.
#[derive(Clone, Debug)]
pub struct SpriteAtlas {
    texture: Texture2d,
    texel: [f32; 2],
    slope: [f32; 2],
    offset: [f32; 2],
    white: f32,
}

impl SpriteAtlas {
    /// A texture of colours.
    ///
    /// # Errors
    /// When the texture's type cannot be sampled in this way.
    pub fn of_texture(texture: &Texture) -> Result<Self, Error> {
        let Patch { width, height, .. } = Patch::whole(texture);
        Ok(Self {
            texture: texture.bind(&Sampler::LINEAR.wrapped(Wrap::Clamp))?,
            texel: [1.0 / width, 1.0 / height],
            slope: [1.0, 0.0],
            offset: [0.0, 0.0],
            white: 0.0,
        })
    }

    /// A font, whose glyphs are drawn in the colours of the tints.
    ///
    /// # Errors
    /// When its texture cannot be sampled.
    pub fn of_font(atlas: &FontAtlas) -> Result<Self, Error> {
        let colors = Self::of_texture(atlas.texture())?;
        let (slope, offset) = match atlas.font().kind {
            GlyphKind::Coverage => (colors.slope, colors.offset),
            // A value of 128 of 255 is on the outline, and 127 steps are the spread: coverage goes from 0 half a pixel outside to 1 half a pixel inside.
            GlyphKind::Distance { spread_px } => ([0.0, 255.0 / 127.0 * spread_px], [0.5, -128.0 / 127.0 * spread_px]),
        };
        Ok(Self { slope, offset, white: 1.0, ..colors })
    }
}

/// The programs that draw sprites, and the vertices of up to a given number of them.
#[derive(Debug)]
pub struct Sprites {
    pipeline: Pipeline<sprite::Vertex, sprite::Uniforms, sprite::FragmentUniforms>,
    /// The indices of vertices as their only attribute, then the indices of triangles.
    memory: Buffer,
    most: usize,
}

impl Sprites {
    /// Copies programs and vertices to GPU memory: 28 bytes for each of the `most` sprites that one record draws, at most 10,922.
    ///
    /// # Errors
    /// When the pool has not enough memory, or the blending is not possible.
    pub fn new<P: Platform>(
        device: &Device<'_, P>,
        label: &'static str,
        most: usize,
        blend: Blend,
    ) -> Result<Self, Error> {
        let most = most.clamp(1, MOST_OF_A_DRAW);
        let descriptor = PipelineDescriptor::new(label, &sprite::SHADING, &sprite::FRAGMENT);
        let pipeline = Pipeline::new(device, &PipelineDescriptor { blend, ..descriptor })?;
        let corner = |sprite: usize| [0, 1, 2, 2, 1, 3].map(|corner| (4 * sprite as u16 + corner).to_le_bytes());
        let mut bytes: Vec<u8> = (0..4 * most as u32).flat_map(u32::to_le_bytes).collect();
        bytes.extend((0..most).flat_map(corner).flatten());
        let memory = device.driver()?.upload(&bytes, ALIGNMENT)?;
        device.name(&memory, label, "corners of sprites")?;
        Ok(Self { pipeline, memory, most })
    }

    /// Draws sprites in their order over what the pass has drawn so far: in one draw if they are not more than this was made for.
    ///
    /// # Errors
    /// When a number is NaN or infinite, the atlas belongs to another device, the pipeline does not suit the pass, or memory runs out. Some of several draws
    /// may then have been recorded.
    pub fn draw_to<P: Platform>(
        &self,
        pass: &mut Pass<'_, '_, P>,
        atlas: &SpriteAtlas,
        sprites: &[Sprite],
    ) -> Result<(), Error> {
        let target = pass.target();
        let pixel = [2.0 / target.width_px() as f32, -2.0 / target.height_px() as f32];
        for sprites in sprites.chunks(self.most) {
            let count = 4 * sprites.len() as u32;
            let (vertices, indices) = (self.memory.address(), self.memory.address() + 16 * self.most as u32);
            let part = PlacedPart::rectangles(vertices, indices, count)?;
            // Numbers that are not finite make the sum NaN or infinite; the sum of others may be infinite as well.
            let mut sums = [0.0; 5];
            for Sprite { center: [x, y], scale: [across, down], rotation, .. } in sprites {
                for (sum, value) in sums.iter_mut().zip([x, y, across, down, rotation]) {
                    *sum += value;
                }
            }
            if !sums.iter().sum::<f32>().is_finite()
                && let Some(value) = sprites.iter().find_map(Sprite::not_finite)
            {
                return Err(Error::NotFinite { label: self.pipeline.label(), value });
            }
            let words = pass.place_each(sprites, Sprite::words)?;
            let SpriteAtlas { ref texture, texel, slope, offset, white } = *atlas;
            let uniforms = sprite::Uniforms {
                pixel,
                texel,
                slope,
                offset,
                sprites: Storage::new(words.address(), words.bytes() / 4, self.memory.owner()),
            };
            let fragment_uniforms = sprite::FragmentUniforms { white, atlas: texture.clone() };
            pass.draw_part(&self.pipeline, &self.memory, part, &uniforms, &fragment_uniforms)?;
        }
        Ok(())
    }

    /// Appends the glyphs of a text, for the [`SpriteAtlas::of_font`] of the same font; otherwise as [`Canvas::text`](crate::Canvas::text).
    ///
    /// # Errors
    /// When the heap is full; then nothing is appended.
    pub fn append_text(
        &self,
        sprites: &mut Vec<Sprite>,
        atlas: &FontAtlas,
        [x, y]: [f32; 2],
        style: &TextStyle,
        text: &str,
    ) -> Result<(), Error> {
        reserve(self.pipeline.label(), sprites, text.len())?;
        atlas.place_glyphs([x, y], style, text, |glyph, [left, top], scale| {
            let ([x, y], [width, height]) = (glyph.atlas_px, glyph.extent_px);
            let size = [width, height].map(|texels| scale * f32::from(texels));
            let sprite = Sprite::at([x, y, width, height], [left, top, size[0], size[1]]);
            sprites.push(Sprite { tint: style.color, ..sprite });
            Ok(())
        })
    }
}

/// A part of an atlas as a nine-patch at `x`, `y`, `width` and `height`.
///
/// The borders (left, top, right, bottom), in texels, are drawn as as many pixels, and the middle, at least one texel, is stretched. In an area smaller than
/// the borders they are scaled down. The tint can be set afterwards.
pub fn nine_patch(
    [left, top, width, height]: [u16; 4],
    borders: [u16; 4],
    [x, y, across, down]: [f32; 4],
) -> [Sprite; 9] {
    let [before, above, behind, below] = borders.map(f32::from);
    let columns = stops(f32::from(width), before, behind, x, across);
    let rows = stops(f32::from(height), above, below, y, down);
    core::array::from_fn(|n| {
        let [(from_x, at_x), (to_x, end_x)] = [columns[n % 3], columns[n % 3 + 1]];
        let [(from_y, at_y), (to_y, end_y)] = [rows[n / 3], rows[n / 3 + 1]];
        // All are whole numbers of texels.
        let part = [left + from_x as u16, top + from_y as u16, (to_x - from_x) as u16, (to_y - from_y) as u16];
        Sprite::at(part, [at_x, at_y, end_x - at_x, end_y - at_y])
    })
}
