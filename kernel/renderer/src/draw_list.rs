//! What embedded-graphics draws, remembered and then drawn by the V3D.
//!
//! A [`DrawList`] is an [`embedded_graphics::draw_target::DrawTarget`]: shapes, text and images of that crate draw to it as to any display. It remembers
//! rectangles of one colour and images, in the order in which they came, and draws them all into a pass with a few draws:
//! ```text
//! let mut list = DrawList::<Rgb565>::new(&device, "panel", 320, 240)?;
//! Circle::new(Point::new(20, 20), 80).into_styled(PrimitiveStyle::with_fill(Rgb565::CSS_TEAL)).draw(&mut list)?;
//! Text::new("Hello", Point::new(20, 120), style).draw(&mut list)?;
//!
//! let mut pass = frame.pass(&PassDescriptor::to(&target).clear([0, 0, 0, 255]))?;
//! list.draw_to(&mut pass)?;                      // as often as wanted: it stays as it is
//! ```
//! Every pixel comes out as in a framebuffer that the CPU fills; colours become [`Rgb888`] as embedded-graphics converts them, opaque.
//!
//! # How
//! embedded-graphics takes its shapes apart into rows of one colour and into pixels. Neighbours of one colour that follow each other become one rectangle.
//! A rectangle is two triangles of shaded vertices whose edges lie between pixels, so that exactly the pixels in between have their centres inside;
//! its colour is one flat varying of 24 bits. Vertices are written once, when something is drawn to the list, and copied when the list is drawn. Images
//! are collected on sheets, which become textures, and are drawn texel by pixel.

mod rectangles;
mod sheets;

use alloc::vec::Vec;
use core::marker::PhantomData;

use embedded_graphics::Pixel;
use embedded_graphics::draw_target::DrawTarget;
use embedded_graphics::geometry::{Dimensions, OriginDimensions, Size};
use embedded_graphics::pixelcolor::{PixelColor, Rgb888, RgbColor};
use embedded_graphics::primitives::Rectangle;
use qpu_shaders::{NoUniforms, flat, textured};
use v3d::Platform;
use v3d::draw_state::Viewport;
use v3d::pool::Buffer;

use crate::device::Device;
use crate::error::Error;
use crate::heap::reserve;
use crate::mesh::layout::ALIGNMENT;
use crate::pass::Pass;
use crate::pipeline::{Pipeline, PipelineDescriptor, Shading};
use crate::shaded_vertex::ShadedVertex;
use crate::texture::{Sampler, Wrap};
use rectangles::{Area, FLAT_WORDS, Flat, IMAGE_WORDS, Placed};
use sheets::{Place, Sheets};

/// Most rectangles of one draw: their corners are named by 16 bits.
const MOST_RECTANGLES: usize = 16_000;
/// Fewest rectangles that there are indices for.
const FEWEST_INDEXED: usize = 256;

/// A segment of what was drawn, all of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Rectangles of one colour.
    Flat,
    /// Images on one sheet.
    Images(usize),
}

/// A picture in the making, in the order in which it is drawn.
#[derive(Debug)]
pub struct DrawList<C> {
    label: &'static str,
    size: Size,
    viewport: Viewport,
    flat: Pipeline<ShadedVertex<1>, NoUniforms, NoUniforms>,
    textured: Pipeline<ShadedVertex<2>, NoUniforms, textured::FragmentUniforms>,
    /// Kind and end of each segment, in its kind's rectangles.
    segments: Vec<(Kind, usize)>,
    /// Vertices of rectangles, and the last of them.
    rectangles: Vec<[u32; FLAT_WORDS]>,
    last: Flat,
    images: Vec<Placed>,
    sheets: Sheets,
    /// For how many rectangles there are indices, and where.
    indices: Option<(usize, Buffer)>,
    color: PhantomData<fn(C)>,
}

impl<C> DrawList<C> {
    /// An empty list for pictures of a size.
    ///
    /// # Errors
    /// When the pool has no memory for two small programs.
    pub fn new<P: Platform>(
        device: &Device<'_, P>,
        label: &'static str,
        width_px: u32,
        height_px: u32,
    ) -> Result<Self, Error> {
        // No target is larger.
        let (width_px, height_px) = (width_px.min(2048), height_px.min(2048));
        let mut flat = Pipeline::new(device, &PipelineDescriptor::new(label, Shading::Done, &flat::FRAGMENT))?;
        flat.state.flat_varyings = 1;
        Ok(Self {
            label,
            size: Size::new(width_px, height_px),
            viewport: Viewport::display(width_px as u16, height_px as u16),
            flat,
            textured: Pipeline::new(device, &PipelineDescriptor::new(label, Shading::Done, &textured::FRAGMENT))?,
            segments: Vec::new(),
            rectangles: Vec::new(),
            last: Flat { area: Area { left: 0, top: 0, right: 0, bottom: 0 }, color: 0 },
            images: Vec::new(),
            sheets: Sheets::new(label),
            indices: None,
            color: PhantomData,
        })
    }

    /// Forgets all that was drawn; room on the heap is kept.
    pub fn reset(&mut self) {
        self.segments.clear();
        self.rectangles.clear();
        self.images.clear();
        self.sheets.clear();
    }

    /// How many rectangles of one colour there are to draw: neighbours of one colour that came after each other are one.
    pub const fn rectangles(&self) -> usize {
        self.rectangles.len()
    }

    /// How many images there are to draw.
    pub const fn images(&self) -> usize {
        self.images.len()
    }

    /// How many draws a pass gets: one for rectangles that follow each other, or images on one sheet, and one more for each 16,000.
    pub fn draws(&self) -> usize {
        self.segments_from_start().map(|(_, range)| range.len().div_ceil(MOST_RECTANGLES)).sum()
    }

    /// How many triangles there are.
    pub const fn triangles(&self) -> usize {
        2 * (self.rectangles.len() + self.images.len())
    }

    /// How many bytes of vertices a frame has of it.
    pub const fn vertex_bytes(&self) -> usize {
        4 * (FLAT_WORDS * self.rectangles.len() + IMAGE_WORDS * self.images.len())
    }

    /// Draws all of it over what a pass has drawn so far. The list stays as it is, also when this fails: nothing of it is lost.
    ///
    /// # Errors
    /// When the target has another size than the list, the device is another one, or memory runs out. Then the pass may have drawn a
    /// part of it.
    pub fn draw_to<P: Platform>(&mut self, pass: &mut Pass<'_, '_, P>) -> Result<(), Error> {
        let (size_px, target) = ([self.size.width, self.size.height], pass.target());
        let target_px = [target.width_px(), target.height_px()];
        if size_px != target_px {
            return Err(Error::OtherSize { label: self.label, size_px, target_px });
        }
        if self.segments.is_empty() {
            return Ok(());
        }
        let device = pass.device();
        self.sheets.upload(device)?;
        let longest = self.segments_from_start().map(|(_, range)| range.len()).max().unwrap_or(0);
        let indices = self.indices(device, longest.min(MOST_RECTANGLES))?;
        for (kind, range) in self.segments_from_start() {
            match kind {
                Kind::Flat => {
                    for chunk in self.rectangles[range].chunks(MOST_RECTANGLES) {
                        pass.draw_rectangles(&self.flat, chunk.as_flattened(), &indices, &NoUniforms)?;
                    }
                }
                Kind::Images(sheet) => {
                    let Some((texture, extent)) = self.sheets.texture(sheet) else { continue };
                    let image = texture.bind(&Sampler::NEAREST.wrapped(Wrap::Clamp))?;
                    let uniforms = textured::FragmentUniforms { image };
                    for chunk in self.images[range].chunks(MOST_RECTANGLES) {
                        let vertices: Vec<_> =
                            chunk.iter().map(|image| image.vertices(&self.viewport, extent)).collect();
                        pass.draw_rectangles(&self.textured, vertices.as_flattened(), &indices, &uniforms)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Indices for so many rectangles: those that there are, or more.
    fn indices<P: Platform>(&mut self, device: &Device<'_, P>, rectangles: usize) -> Result<Buffer, Error> {
        if let Some((enough, indices)) = &self.indices
            && *enough >= rectangles
        {
            return Ok(indices.clone());
        }
        let count = rectangles.next_power_of_two().clamp(FEWEST_INDEXED, MOST_RECTANGLES);
        let indices = device.driver()?.upload(&rectangles::indices(count), ALIGNMENT)?;
        self.indices = Some((count, indices.clone()));
        Ok(indices)
    }

    /// The segments with their places among their kind's rectangles.
    fn segments_from_start(&self) -> impl Iterator<Item = (Kind, core::ops::Range<usize>)> {
        let (mut flat, mut images) = (0, 0);
        self.segments.iter().map(move |&(kind, end)| {
            let start = match kind {
                Kind::Flat => core::mem::replace(&mut flat, end),
                Kind::Images(_) => core::mem::replace(&mut images, end),
            };
            (kind, start..end)
        })
    }

    /// The part of an area that is on the picture.
    fn visible(&self, area: &Rectangle) -> Option<Area> {
        let along = |start: i32, length: u32, end: u32| {
            let (start, stop) = (i64::from(start), i64::from(start) + i64::from(length));
            let (first, last) = (start.max(0), stop.min(i64::from(end)));
            // Both are 0 to 2048.
            (first < last).then_some((first as u16, last as u16))
        };
        let (left, right) = along(area.top_left.x, area.size.width, self.size.width)?;
        let (top, bottom) = along(area.top_left.y, area.size.height, self.size.height)?;
        Some(Area { left, top, right, bottom })
    }

    /// Notes that a kind's rectangles now end here.
    fn extend(&mut self, kind: Kind, end: usize) -> Result<(), Error> {
        match self.segments.last_mut() {
            Some((last, last_end)) if *last == kind => *last_end = end,
            _ => {
                reserve(self.label, &mut self.segments, 1)?;
                self.segments.push((kind, end));
            }
        }
        Ok(())
    }

    /// Draws a rectangle of one colour, which is on the picture.
    fn fill(&mut self, area: Area, color: Rgb888) -> Result<(), Error> {
        let next = Flat { area, color: u32::from_le_bytes([color.r(), color.g(), color.b(), 0]) };
        if let (Some((Kind::Flat, _)), Some(last)) = (self.segments.last(), self.rectangles.last_mut())
            && self.last.join(&next)
        {
            *last = self.last.vertices(&self.viewport);
            return Ok(());
        }
        reserve(self.label, &mut self.rectangles, 1)?;
        self.extend(Kind::Flat, self.rectangles.len() + 1)?;
        self.rectangles.push(next.vertices(&self.viewport));
        self.last = next;
        Ok(())
    }

    /// Draws the first `pixels` pixels of an image that stands on a sheet.
    fn draw_image(&mut self, area: Area, place: Place, pixels: usize) -> Result<(), Error> {
        let width = usize::from(area.width());
        let (rows, rest) = ((pixels / width) as u16, (pixels % width) as u16);
        let below = Area { top: area.top + rows, ..area };
        let whole = Area { bottom: below.top, ..area };
        let partial = Area { right: area.left + rest, bottom: below.top + u16::from(rest > 0), ..below };
        for (area, first_row) in [(whole, 0), (partial, rows)] {
            if !area.is_empty() {
                reserve(self.label, &mut self.images, 1)?;
                self.extend(Kind::Images(place.sheet), self.images.len() + 1)?;
                self.images.push(Placed { area, texel: [place.left, place.top + first_row] });
            }
        }
        Ok(())
    }
}

impl<C> OriginDimensions for DrawList<C> {
    fn size(&self) -> Size {
        self.size
    }
}

impl<C: PixelColor + Into<Rgb888>> DrawTarget for DrawList<C> {
    type Color = C;
    type Error = Error;

    fn draw_iter<I: IntoIterator<Item = Pixel<C>>>(&mut self, pixels: I) -> Result<(), Error> {
        let mut run: Option<(Area, C)> = None;
        for Pixel(point, color) in pixels {
            // Negative numbers become large ones.
            if point.x as u32 >= self.size.width || point.y as u32 >= self.size.height {
                continue;
            }
            let (left, top) = (point.x as u16, point.y as u16);
            let pixel = Area { left, top, right: left + 1, bottom: top + 1 };
            match &mut run {
                Some((area, same)) if area.right == pixel.left && area.top == pixel.top && *same == color => {
                    area.right = pixel.right;
                }
                _ => {
                    if let Some((area, color)) = run.replace((pixel, color)) {
                        self.fill(area, color.into())?;
                    }
                }
            }
        }
        run.map_or(Ok(()), |(area, color)| self.fill(area, color.into()))
    }

    fn fill_contiguous<I: IntoIterator<Item = C>>(&mut self, area: &Rectangle, colors: I) -> Result<(), Error> {
        let Some(visible) = self.visible(area) else { return Ok(()) };
        let place = self.sheets.place(visible.width(), visible.height())?;
        let mut colors = colors.into_iter();
        // Pixels in front of the next visible one, pixels that are there, and their colour if it is one.
        let (mut skipped, mut drawn, mut only) = (0, 0, None);
        let mut is_plain = true;
        let right = area.top_left.x.saturating_add_unsigned(area.size.width);
        let before = i32::from(visible.left).abs_diff(area.top_left.x) as usize;
        let behind = i32::from(visible.right).abs_diff(right) as usize;
        let above = i32::from(visible.top).abs_diff(area.top_left.y) as usize;
        skipped += above * area.size.width as usize;
        'rows: for row in 0..visible.height() {
            skipped += before;
            for column in 0..visible.width() {
                let next = if skipped == 0 { colors.next() } else { colors.nth(skipped) };
                skipped = 0;
                let Some(color) = next else { break 'rows };
                is_plain &= only.is_none_or(|only| only == color);
                only = Some(color);
                self.sheets.set(&place, column, row, color.into());
                drawn += 1;
            }
            skipped += behind;
        }
        match only {
            None => {
                self.sheets.take_back(&place);
                Ok(())
            }
            Some(color) if is_plain && drawn == visible.pixels() => {
                self.sheets.take_back(&place);
                self.fill(visible, color.into())
            }
            _ => self.draw_image(visible, place, drawn),
        }
    }

    fn fill_solid(&mut self, area: &Rectangle, color: C) -> Result<(), Error> {
        self.visible(area).map_or(Ok(()), |area| self.fill(area, color.into()))
    }

    fn clear(&mut self, color: C) -> Result<(), Error> {
        // Nothing of what was drawn before is to be seen.
        self.reset();
        self.fill_solid(&self.bounding_box(), color)
    }
}
