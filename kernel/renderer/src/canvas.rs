//! A canvas: shapes with smooth edges, images at any angle and text in proportional letters, all with alpha.
//!
//! ```text
//! let font = FontAtlas::new(&device, &BODY_FONT)?;
//! let mut canvas = Canvas::new(&device, "panel", 640, 480)?;
//! canvas.shape(&Shape::rectangle(20.0, 20.0, 200.0, 80.0).rounded(12.0), Fill::vertical([60, 70, 90, 255], [30, 35, 50, 255]))?;
//! canvas.shape(&Shape::circle(60.0, 60.0, 24.0).outlined(4.0), [255, 200, 60, 255])?;
//! canvas.image(&logo, &Placement::at(300.0, 40.0, 64.0, 64.0).turned(0.3), [255; 4])?;
//! canvas.text(&font, 100.0, 66.0, &TextStyle::new(18.0, [255; 4]), "Proportional")?;
//!
//! let mut pass = frame.pass(&PassDescriptor::to(&target).clear([16, 18, 24, 255]))?;
//! canvas.draw_to(&mut pass)?;                    // as often as wanted: it stays as it is
//! ```
//! Coordinates are pixels from the picture's top left corner; pixel (0, 0) has its centre at (0.5, 0.5). Angles are radians, clockwise as they are
//! seen. Colours are red, green, blue and alpha, not premultiplied; things are drawn in the order in which they come. What fails draws nothing of itself: a
//! text or a nine-patch is on the canvas as a whole or not at all.
//!
//! # How
//! All things are polygons of shaded vertices. What a fragment shader needs to know is linear in the place, so it is computed at the corners. There are three
//! pipelines: for shapes by distance, for images, and for glyphs. Things of one kind that follow each other, with one texture, are one draw.

mod batch;
mod image;
mod polygon;
mod shape;
mod text;

pub use image::{Patch, Placement};
pub use shape::{Fill, Shape};
pub use text::{FontAtlas, TextStyle};

use alloc::vec::Vec;

use glam::Vec2;
use qpu_shaders::{NoUniforms, glyph, shape as shape_program, tinted};
use v3d::Platform;

use crate::device::Device;
use crate::error::Error;
use crate::heap::reserve;
use crate::pass::Pass;
use crate::pipeline::blend::Blend;
use crate::pipeline::{Pipeline, PipelineDescriptor, Shading};
use crate::shaded_vertex::ShadedVertex;
use crate::texture::{Sampler, Texture, Wrap};
use batch::Batch;
use polygon::Window;

/// Varyings of the shader of shapes, of images, of glyphs.
const SHAPE: usize = 10;
const IMAGE: usize = 6;
const GLYPH: usize = 8;

/// A segment of what was drawn, all of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Shapes,
    /// Images in one of the textures.
    Images(usize),
    /// Glyphs in one of the textures.
    Glyphs(usize),
}

/// A picture in the making, in the order in which it is drawn.
#[derive(Debug)]
pub struct Canvas {
    label: &'static str,
    size_px: [u32; 2],
    window: Window,
    origin: Vec2,
    shape_pipeline: Pipeline<ShadedVertex<SHAPE>, NoUniforms, NoUniforms>,
    image_pipeline: Pipeline<ShadedVertex<IMAGE>, NoUniforms, tinted::FragmentUniforms>,
    glyph_pipeline: Pipeline<ShadedVertex<GLYPH>, NoUniforms, glyph::FragmentUniforms>,
    /// Kind and how many vertices of each segment.
    segments: Vec<(Kind, usize)>,
    shapes: Batch<SHAPE>,
    images: Batch<IMAGE>,
    glyphs: Batch<GLYPH>,
    textures: Vec<Texture>,
}

impl Canvas {
    /// An empty canvas of a size, at most 2048 pixels on each side.
    ///
    /// # Errors
    /// When the pool has no memory for three small programs.
    pub fn new<P: Platform>(
        device: &Device<'_, P>,
        label: &'static str,
        width_px: u32,
        height_px: u32,
    ) -> Result<Self, Error> {
        // No target is larger.
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
                    ..PipelineDescriptor::new(label, Shading::Done, &shape_program::FRAGMENT)
                },
            )?,
            image_pipeline: Pipeline::new(
                device,
                &PipelineDescriptor {
                    blend: Blend::ALPHA,
                    ..PipelineDescriptor::new(label, Shading::Done, &tinted::FRAGMENT)
                },
            )?,
            glyph_pipeline: Pipeline::new(
                device,
                &PipelineDescriptor {
                    blend: Blend::PREMULTIPLIED,
                    ..PipelineDescriptor::new(label, Shading::Done, &glyph::FRAGMENT)
                },
            )?,
            segments: Vec::new(),
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

    /// From now on coordinates are counted from here, in pixels from the picture's top left corner.
    pub const fn set_origin(&mut self, x: f32, y: f32) {
        self.origin = Vec2::new(x, y);
    }

    /// Forgets all that was drawn; room on the heap is kept.
    pub fn reset(&mut self) {
        self.segments.clear();
        self.shapes.clear();
        self.images.clear();
        self.glyphs.clear();
        self.textures.clear();
    }

    /// How many draws a pass gets.
    pub fn draws(&self) -> usize {
        self.segments.iter().map(|&(_, vertices)| vertices.div_ceil(batch::MAX_VERTICES)).sum()
    }

    /// How many triangles there are.
    pub fn triangles(&self) -> usize {
        self.segments.iter().map(|&(_, vertices)| vertices / 3).sum()
    }

    /// How many bytes of vertices a frame has of it.
    pub const fn vertex_bytes(&self) -> usize {
        self.shapes.bytes() + self.images.bytes() + self.glyphs.bytes()
    }

    /// Draws all of it over what a pass has drawn so far. The canvas stays as it is, also when this fails.
    ///
    /// # Errors
    /// When the target is smaller than the canvas, a texture cannot be looked up or is another device's, or memory runs out. Then the pass may have
    /// drawn a part of it.
    pub fn draw_to<P: Platform>(&self, pass: &mut Pass<'_, '_, P>) -> Result<(), Error> {
        let target = pass.target();
        let target_px = [target.width_px(), target.height_px()];
        if self.size_px[0] > target_px[0] || self.size_px[1] > target_px[1] {
            return Err(Error::OtherSize { label: self.label, size_px: self.size_px, target_px });
        }
        let shift = self.window.shift_to(&target.viewport());
        let bind = |texture: usize| self.textures[texture].bind(&Sampler::LINEAR.wrapped(Wrap::Clamp));
        let (mut shapes, mut images, mut glyphs) = (0, 0, 0);
        for &(kind, vertices) in &self.segments {
            let from = |start: &mut usize| {
                let first = *start;
                *start += vertices;
                first..*start
            };
            match kind {
                Kind::Shapes => {
                    self.shapes.draw(pass, &self.shape_pipeline, from(&mut shapes), shift, &NoUniforms)?;
                }
                Kind::Images(texture) => {
                    let uniforms = tinted::FragmentUniforms { image: bind(texture)? };
                    self.images.draw(pass, &self.image_pipeline, from(&mut images), shift, &uniforms)?;
                }
                Kind::Glyphs(texture) => {
                    let uniforms = glyph::FragmentUniforms { atlas: bind(texture)? };
                    self.glyphs.draw(pass, &self.glyph_pipeline, from(&mut glyphs), shift, &uniforms)?;
                }
            }
        }
        Ok(())
    }

    /// The texture's number among those that are drawn with.
    fn texture(&mut self, texture: &Texture) -> Result<usize, Error> {
        // The last one is nearly always it.
        if let Some(known) = self.textures.iter().rposition(|known| known.is_same(texture)) {
            return Ok(known);
        }
        reserve(self.label, &mut self.textures, 1)?;
        self.textures.push(texture.clone());
        Ok(self.textures.len() - 1)
    }

    /// Does something that draws in several steps; if one fails, the canvas becomes what it was before the first.
    fn as_a_whole(&mut self, draw: impl FnOnce(&mut Self) -> Result<(), Error>) -> Result<(), Error> {
        let (segments, last) = (self.segments.len(), self.segments.last().copied());
        let (shapes, images, glyphs) = (self.shapes.len(), self.images.len(), self.glyphs.len());
        let textures = self.textures.len();
        draw(self).inspect_err(|_| {
            self.segments.truncate(segments);
            if let (Some(segment), Some(last)) = (self.segments.last_mut(), last) {
                *segment = last;
            }
            self.shapes.truncate(shapes);
            self.images.truncate(images);
            self.glyphs.truncate(glyphs);
            self.textures.truncate(textures);
        })
    }

    /// Room to note one more segment.
    fn reserve_segment(&mut self) -> Result<(), Error> {
        reserve(self.label, &mut self.segments, 1)
    }

    /// Notes vertices that were appended to a kind's batch.
    fn note(&mut self, kind: Kind, vertices: usize) {
        match self.segments.last_mut() {
            Some((last, count)) if *last == kind => *count += vertices,
            _ if vertices > 0 => self.segments.push((kind, vertices)),
            _ => {}
        }
    }
}
