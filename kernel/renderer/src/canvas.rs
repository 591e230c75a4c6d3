//! A canvas: antialiased shapes, rotated images and proportional text, all with alpha.
//!
//! ```text
//! let font = FontAtlas::new(&device, &BODY_FONT)?;
//! let mut canvas = Canvas::new(&device, "panel", 640, 480)?;
//! canvas.shape(&Shape::rectangle(20.0, 20.0, 200.0, 80.0).rounded(12.0), Fill::vertical([60, 70, 90, 255], [30, 35, 50, 255]))?;
//! canvas.shape(&Shape::circle(60.0, 60.0, 24.0).outlined(4.0), [255, 200, 60, 255])?;
//! canvas.image(&logo, &Placement::at(300.0, 40.0, 64.0, 64.0).turned(0.3), [255; 4])?;
//! canvas.text(&font, 100.0, 66.0, &TextStyle::new(18.0, [255; 4]), "Proportional")?;
//!
//! let mut pass = frame.pass(&PassDescriptor::to(&target).clear(unorm([16, 18, 24, 255])))?;
//! canvas.draw_to(&mut pass)?;                    // the canvas keeps its contents and can be drawn again
//! ```
//! Coordinates are pixels from the picture's top left corner; pixel (0, 0) has its centre at (0.5, 0.5). Angles are radians, clockwise on the screen. Colours
//! are red, green, blue and alpha, not premultiplied. Calls draw in their order. A call that fails draws nothing: a text or a nine-patch is drawn completely
//! or not at all.
//!
//! # Implementation
//! Everything is a convex polygon of shaded vertices. The inputs of the fragment shaders vary linearly over a polygon, so they are computed at its corners
//! and interpolated as varyings. There are three pipelines: for shapes (by distance to the edge), for images and for glyphs. Consecutive polygons with the
//! same pipeline and texture are batched into one draw.

mod batch;
mod image;
mod polygon;
mod shape;
mod text;

pub(crate) use image::stops;
pub use image::{Patch, Placement};
pub use shape::{Fill, Shape};
pub use text::{FontAtlas, TextStyle};

use alloc::vec::Vec;

use glam::Vec2;
use shader_interface::NoUniforms;
use v3d::Platform;

use crate::device::Device;
use crate::error::Error;
use crate::heap::reserve;
use crate::pass::Pass;
use crate::pipeline::blend::Blend;
use crate::pipeline::{Pipeline, PipelineDescriptor, Shading};
use crate::programs::{glyph, shape as shape_program, tinted};
use crate::segments::{Batched, Segments};
use crate::shaded_vertex::ShadedVertex;
use crate::texture::{Sampler, Texture, Wrap};
use batch::Batch;
use polygon::Window;

/// Varyings of the fragment shaders of shapes, images and glyphs.
const SHAPE: usize = 10;
const IMAGE: usize = 6;
const GLYPH: usize = 8;

/// The pipeline and texture of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SegmentKind {
    Shapes,
    /// Images of the texture with this index.
    Images(usize),
    /// Glyphs of the texture with this index.
    Glyphs(usize),
}

impl Batched for SegmentKind {
    const BATCHES: usize = 3;

    fn batch(self) -> usize {
        match self {
            Self::Shapes => 0,
            Self::Images(_) => 1,
            Self::Glyphs(_) => 2,
        }
    }
}

/// A retained list of shapes, images and text, drawn in the order of the calls.
#[derive(Debug)]
pub struct Canvas {
    label: &'static str,
    size_px: [u32; 2],
    window: Window,
    origin: Vec2,
    shape_pipeline: Pipeline<ShadedVertex<SHAPE>, NoUniforms, NoUniforms>,
    image_pipeline: Pipeline<ShadedVertex<IMAGE>, NoUniforms, tinted::FragmentUniforms>,
    glyph_pipeline: Pipeline<ShadedVertex<GLYPH>, NoUniforms, glyph::FragmentUniforms>,
    segments: Segments<SegmentKind>,
    shapes: Batch<SHAPE>,
    images: Batch<IMAGE>,
    glyphs: Batch<GLYPH>,
    textures: Vec<Texture>,
}

impl Canvas {
    /// Creates an empty canvas, at most 2048 pixels on each side.
    ///
    /// # Errors
    /// When the pool has no memory for three small programs.
    pub fn new<P: Platform>(
        device: &Device<'_, P>,
        label: &'static str,
        width_px: u32,
        height_px: u32,
    ) -> Result<Self, Error> {
        // The size of targets is limited to this.
        let size_px = [width_px.min(2048), height_px.min(2048)];
        Ok(Self {
            label,
            size_px,
            window: Window::new(size_px),
            origin: Vec2::ZERO,
            shape_pipeline: Pipeline::new(
                device,
                &PipelineDescriptor {
                    blend: Blend::PREMULTIPLIED,
                    ..PipelineDescriptor::new(label, Shading::PreShaded, &shape_program::FRAGMENT)
                },
            )?,
            image_pipeline: Pipeline::new(
                device,
                &PipelineDescriptor {
                    blend: Blend::ALPHA,
                    ..PipelineDescriptor::new(label, Shading::PreShaded, &tinted::FRAGMENT)
                },
            )?,
            glyph_pipeline: Pipeline::new(
                device,
                &PipelineDescriptor {
                    blend: Blend::PREMULTIPLIED,
                    ..PipelineDescriptor::new(label, Shading::PreShaded, &glyph::FRAGMENT)
                },
            )?,
            segments: Segments::new(),
            shapes: Batch::default(),
            images: Batch::default(),
            glyphs: Batch::default(),
            textures: Vec::new(),
        })
    }

    /// Width and height in pixels.
    pub const fn size_px(&self) -> [u32; 2] {
        self.size_px
    }

    /// Sets the origin of the coordinates that follow, in pixels from the picture's top left corner.
    pub const fn set_origin(&mut self, x: f32, y: f32) {
        self.origin = Vec2::new(x, y);
    }

    /// Removes everything, but keeps the heap memory for later calls.
    pub fn reset(&mut self) {
        self.segments.clear();
        self.shapes.clear();
        self.images.clear();
        self.glyphs.clear();
        self.textures.clear();
    }

    /// Number of draws that [`Canvas::draw_to`] records.
    pub fn draws(&self) -> usize {
        self.segments.ranges(self.lengths()).map(|(_, range)| range.len().div_ceil(batch::MAX_VERTICES)).sum()
    }

    /// Number of triangles.
    pub fn triangles(&self) -> usize {
        self.lengths().iter().sum::<usize>() / 3
    }

    /// Bytes of vertices that each frame needs.
    pub const fn vertex_bytes(&self) -> usize {
        self.shapes.bytes() + self.images.bytes() + self.glyphs.bytes()
    }

    /// Draws the contents over what the pass has drawn so far. The canvas keeps its contents, even on an error.
    ///
    /// # Errors
    /// When the target is smaller than the canvas, a texture cannot be sampled or belongs to another device, or memory runs out. Some of the draws may then
    /// have been recorded.
    pub fn draw_to<P: Platform>(&self, pass: &mut Pass<'_, '_, P>) -> Result<(), Error> {
        let target = pass.target();
        let target_px = [target.width_px(), target.height_px()];
        if self.size_px[0] > target_px[0] || self.size_px[1] > target_px[1] {
            return Err(Error::OtherSize { label: self.label, size_px: self.size_px, target_px });
        }
        let shift = self.window.shift_to(&target.viewport());
        let bind = |texture: usize| self.textures[texture].bind(&Sampler::LINEAR.wrapped(Wrap::Clamp));
        for (kind, range) in self.segments.ranges(self.lengths()) {
            match kind {
                SegmentKind::Shapes => {
                    self.shapes.draw(pass, &self.shape_pipeline, range, shift, &NoUniforms)?;
                }
                SegmentKind::Images(texture) => {
                    let uniforms = tinted::FragmentUniforms { image: bind(texture)? };
                    self.images.draw(pass, &self.image_pipeline, range, shift, &uniforms)?;
                }
                SegmentKind::Glyphs(texture) => {
                    let uniforms = glyph::FragmentUniforms { atlas: bind(texture)? };
                    self.glyphs.draw(pass, &self.glyph_pipeline, range, shift, &uniforms)?;
                }
            }
        }
        Ok(())
    }

    /// Index of the texture in the list of textures; a new one is appended.
    fn texture(&mut self, texture: &Texture) -> Result<usize, Error> {
        // Consecutive images mostly share a texture, so the search starts at the end of the list.
        if let Some(known) = self.textures.iter().rposition(|known| known.is_same(texture)) {
            return Ok(known);
        }
        reserve(self.label, &mut self.textures, 1)?;
        self.textures.push(texture.clone());
        Ok(self.textures.len() - 1)
    }

    /// Calls a function that draws in several steps. If a step fails, the canvas is restored to its state before the first one.
    fn as_a_whole(&mut self, draw: impl FnOnce(&mut Self) -> Result<(), Error>) -> Result<(), Error> {
        let (segments, [shapes, images, glyphs]) = (self.segments.len(), self.lengths());
        let textures = self.textures.len();
        draw(self).inspect_err(|_| {
            self.segments.truncate(segments);
            self.shapes.truncate(shapes);
            self.images.truncate(images);
            self.glyphs.truncate(glyphs);
            self.textures.truncate(textures);
        })
    }

    /// Number of vertices of each batch.
    const fn lengths(&self) -> [usize; 3] {
        [self.shapes.len(), self.images.len(), self.glyphs.len()]
    }

    /// Assigns the last `vertices` vertices of a kind's batch to the last segment, or to a new one, for which space is reserved.
    fn note(&mut self, kind: SegmentKind, vertices: usize) {
        if vertices > 0 {
            self.segments.begin(kind, self.lengths()[kind.batch()] - vertices);
        }
    }
}
