//! A draw target for embedded-graphics that records what is drawn and replays it on the V3D.
//!
//! A [`DrawList`] is an [`embedded_graphics::draw_target::DrawTarget`]: shapes, text and images of that crate draw to it as to any display. It records
//! single-coloured rectangles, pixels and images in the order of the calls, and batches them into a few draws of a pass:
//! ```text
//! let mut list = DrawList::<Rgb565>::new(&device, "panel", 320, 240)?;
//! Circle::new(Point::new(20, 20), 80).into_styled(PrimitiveStyle::with_fill(Rgb565::CSS_TEAL)).draw(&mut list)?;
//! Text::new("Hello", Point::new(20, 120), style).draw(&mut list)?;
//!
//! let mut pass = frame.pass(&PassDescriptor::to(&target).clear([0.0, 0.0, 0.0, 1.0]))?;
//! list.draw_to(&mut pass)?;                      // the list keeps its contents and can be drawn again
//! ```
//! Every pixel has the value that it would have in a framebuffer filled by the CPU; colours are converted to [`Rgb888`] by embedded-graphics, opaque.
//!
//! # Implementation
//! embedded-graphics decomposes its shapes into single-coloured rows and into pixels. Adjacent ones of one colour are merged into a rectangle if they are
//! consecutive, or nearly so. A rectangle is two triangles of shaded vertices whose edges are on pixel borders, so that they cover exactly the centres of the
//! pixels inside; its colour is one flat varying of 24 bits. Single pixels of lines and letters are points, which take a quarter of a rectangle's memory.
//! Images are collected in atlases, called sheets, which are uploaded as textures; they are drawn at one texel per pixel.
//! # Cost
//! Memory: 12 bytes of the heap per rectangle and 8 per point; in each frame 64 and 16 bytes of the pool. A styled line wider than a pixel arrives as single
//! pixels, a few of them twice.
//!
//! Time: what embedded-graphics itself needs to compute rows and pixels is the same for every draw target. Where it draws pixel by pixel (lines, arcs, text
//! without background) that is most of the time; the cost of a filled area here is proportional to its number of rows.

mod pieces;
mod rectangles;
mod sheets;

use core::marker::PhantomData;

use embedded_graphics::Pixel;
use embedded_graphics::draw_target::DrawTarget;
use embedded_graphics::geometry::{Dimensions, OriginDimensions, Point, Size};
use embedded_graphics::pixelcolor::{PixelColor, Rgb888, RgbColor};
use embedded_graphics::primitives::Rectangle;
use shader_interface::NoUniforms;
use v3d::Platform;
use v3d::draw_state::Viewport;
use v3d::pool::Buffer;

use crate::device::Device;
use crate::error::Error;
use crate::mesh::layout::ALIGNMENT;
use crate::pass::Pass;
use crate::pipeline::{Pipeline, PipelineDescriptor, Shading};
use crate::programs::{flat, flat_points, textured};
use crate::segments::{Batched, Segments};
use crate::shaded_vertex::ShadedVertex;
use crate::texture::{Sampler, Wrap};
use pieces::Pieces;
use rectangles::{Area, Dot, FLAT_WORDS, Flat, IMAGE_WORDS, POINT_WORDS, Placed};
use sheets::{Place, Sheets};

/// Minimum number of rectangles that the index buffer is made for.
const MIN_INDEXED: usize = 256;
/// Alpha of a texel.
const OPAQUE: u32 = 0xff00_0000;
/// Number of earlier rectangles that may be merged with the next one: a row of a shape consists of its outline, its inside, and its outline again.
const LOOK_BACK: usize = 3;
/// Longest run of pixels that is appended as points to a segment of points: that many cost more than a rectangle, but less than another draw.
const LONGEST_RUN_OF_POINTS: u16 = 16;
/// Number of segments after which pixels no longer begin a segment of points. Each segment is a draw, and pixels that alternate with rows would make too
/// many.
const MAX_SEGMENTS_FOR_POINTS: usize = 1000;

/// The type of the elements of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SegmentKind {
    /// Single-coloured rectangles.
    Flat,
    /// Pixels.
    Points,
    /// Images on one sheet.
    Images(usize),
}

impl Batched for SegmentKind {
    const BATCHES: usize = 3;

    fn batch(self) -> usize {
        match self {
            Self::Flat => 0,
            Self::Points => 1,
            Self::Images(_) => 2,
        }
    }
}

/// A retained list of what was drawn, in the order of the calls.
#[derive(Debug)]
pub struct DrawList<C> {
    label: &'static str,
    size: Size,
    viewport: Viewport,
    flat: Pipeline<ShadedVertex<1>, NoUniforms, NoUniforms>,
    textured: Pipeline<ShadedVertex<2>, NoUniforms, textured::FragmentUniforms>,
    points_pipeline: Pipeline<ShadedVertex<1>, NoUniforms, NoUniforms>,
    segments: Segments<SegmentKind>,
    rectangles: Pieces<Flat>,
    /// Index of the first rectangle that the next one may be merged with.
    joinable_from: usize,
    points: Pieces<Dot>,
    images: Pieces<Placed>,
    sheets: Sheets,
    /// The index buffer, and the number of rectangles for which it has indices.
    indices: Option<(usize, Buffer)>,
    color: PhantomData<fn(C)>,
}

impl<C> DrawList<C> {
    /// Creates an empty list for pictures of this size.
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
        let (width_px, height_px) = (width_px.min(2048), height_px.min(2048));
        let mut flat = Pipeline::new(device, &PipelineDescriptor::new(label, Shading::PreShaded, &flat::FRAGMENT))?;
        flat.built.state = flat.built.state.with_flat_varyings(1)?;
        Ok(Self {
            label,
            size: Size::new(width_px, height_px),
            viewport: Viewport::display(width_px as u16, height_px as u16),
            flat,
            textured: Pipeline::new(device, &PipelineDescriptor::new(label, Shading::PreShaded, &textured::FRAGMENT))?,
            points_pipeline: Pipeline::new(
                device,
                &PipelineDescriptor::new(label, Shading::PreShaded, &flat_points::FRAGMENT),
            )?,
            segments: Segments::new(),
            rectangles: Pieces::new(),
            joinable_from: 0,
            points: Pieces::new(),
            images: Pieces::new(),
            sheets: Sheets::new(label),
            indices: None,
            color: PhantomData,
        })
    }

    /// Removes everything, but keeps the heap memory for later calls.
    pub fn reset(&mut self) {
        self.segments.clear();
        self.rectangles.clear();
        self.points.clear();
        self.images.clear();
        self.sheets.clear();
    }

    /// Number of single-coloured rectangles, after merging.
    pub fn rectangles(&self) -> usize {
        self.rectangles.len()
    }

    /// Number of single pixels.
    pub fn points(&self) -> usize {
        self.points.len()
    }

    /// Number of images.
    pub fn images(&self) -> usize {
        self.images.len()
    }

    /// Number of draws that [`DrawList::draw_to`] records: one per segment of rectangles, of points, or of images on one sheet, and one more for each 16,000
    /// elements of a segment.
    pub fn draws(&self) -> usize {
        let pieces = |(kind, range)| match kind {
            SegmentKind::Flat => self.rectangles.part(range).count(),
            SegmentKind::Points => self.points.part(range).count(),
            SegmentKind::Images(_) => self.images.part(range).count(),
        };
        self.segments.ranges(self.lengths()).map(pieces).sum()
    }

    /// Number of triangles.
    pub fn triangles(&self) -> usize {
        2 * (self.rectangles.len() + self.images.len())
    }

    /// Bytes of vertices that each frame needs.
    pub fn vertex_bytes(&self) -> usize {
        let Self { rectangles, points, images, .. } = self;
        4 * (FLAT_WORDS * rectangles.len() + POINT_WORDS * points.len() + IMAGE_WORDS * images.len())
    }

    /// Draws the contents over what the pass has drawn so far. The list keeps its contents, even on an error.
    ///
    /// # Errors
    /// When the target's size differs from the list's, the device is another one, or memory runs out. Some of the draws may then have been recorded.
    pub fn draw_to<P: Platform>(&mut self, pass: &mut Pass<'_, '_, P>) -> Result<(), Error> {
        let (size_px, target) = ([self.size.width, self.size.height], pass.target());
        let target_px = [target.width_px(), target.height_px()];
        if size_px != target_px {
            return Err(Error::OtherSize { label: self.label, size_px, target_px });
        }
        if self.segments.len() == 0 {
            return Ok(());
        }
        let device = pass.device();
        self.sheets.upload(device)?;
        let indexed = self.segments.ranges(self.lengths()).filter(|&(kind, _)| kind != SegmentKind::Points);
        let longest = indexed.map(|(_, range)| range.len()).max().unwrap_or(0);
        let indices = self.indices(device, longest.min(pieces::MAX_LENGTH))?;
        let viewport = self.viewport;
        for (kind, range) in self.segments.ranges(self.lengths()) {
            match kind {
                SegmentKind::Flat => {
                    for piece in self.rectangles.part(range) {
                        let vertices = |flat: &Flat| flat.vertices(&viewport);
                        pass.draw_each(&self.flat, piece, vertices, Some(&indices), &NoUniforms)?;
                    }
                }
                SegmentKind::Points => {
                    for piece in self.points.part(range) {
                        let vertex = |dot: &Dot| dot.vertex(&viewport);
                        pass.draw_each(&self.points_pipeline, piece, vertex, None, &NoUniforms)?;
                    }
                }
                SegmentKind::Images(sheet) => {
                    let Some((texture, extent)) = self.sheets.texture(sheet) else { continue };
                    let image = texture.bind(&Sampler::NEAREST.wrapped(Wrap::Clamp))?;
                    let uniforms = textured::FragmentUniforms { image };
                    for piece in self.images.part(range) {
                        let vertices = |image: &Placed| image.vertices(&viewport, extent);
                        pass.draw_each(&self.textured, piece, vertices, Some(&indices), &uniforms)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// An index buffer for at least `rectangles` rectangles.
    fn indices<P: Platform>(&mut self, device: &Device<'_, P>, rectangles: usize) -> Result<Buffer, Error> {
        if let Some((enough, indices)) = &self.indices
            && *enough >= rectangles
        {
            return Ok(indices.clone());
        }
        let count = rectangles.next_power_of_two().clamp(MIN_INDEXED, pieces::MAX_LENGTH);
        let indices = device.driver()?.upload(&rectangles::indices(count), ALIGNMENT)?;
        self.indices = Some((count, indices.clone()));
        Ok(indices)
    }

    /// The part of an area that is inside the picture.
    #[inline]
    fn visible(&self, area: &Rectangle) -> Option<Area> {
        let (left, top) = (area.top_left.x, area.top_left.y);
        let Size { width, height } = area.size;
        // As unsigned numbers, negative ones are large and fail the comparison. A picture is at most 2048 wide and high.
        let fits = |room: Option<u32>, length| room.is_some_and(|room| (1..=room).contains(&length));
        if fits(self.size.width.checked_sub(left as u32), width)
            && fits(self.size.height.checked_sub(top as u32), height)
        {
            let (left, top) = (left as u16, top as u16);
            return Some(Area { left, top, right: left + width as u16, bottom: top + height as u16 });
        }
        self.visible_part(area)
    }

    /// The general case of [`visible`](Self::visible).
    #[inline(never)]
    fn visible_part(&self, area: &Rectangle) -> Option<Area> {
        let along = |start: i32, length: u32, end: u32| {
            let (start, stop) = (i64::from(start), i64::from(start) + i64::from(length));
            let (first, last) = (start.max(0), stop.min(i64::from(end)));
            // Both are in 0 to 2048.
            (first < last).then_some((first as u16, last as u16))
        };
        let (left, right) = along(area.top_left.x, area.size.width, self.size.width)?;
        let (top, bottom) = along(area.top_left.y, area.size.height, self.size.height)?;
        Some(Area { left, top, right, bottom })
    }

    /// Number of elements of each batch.
    fn lengths(&self) -> [usize; 3] {
        [self.rectangles.len(), self.points.len(), self.images.len()]
    }

    /// Begins a segment, unless the last one has this type.
    fn begin(&mut self, kind: SegmentKind) -> Result<(), Error> {
        if self.segments.last() == Some(kind) {
            return Ok(());
        }
        self.segments.reserve(self.label)?;
        self.segments.begin(kind, self.lengths()[kind.batch()]);
        self.joinable_from = self.rectangles.len();
        Ok(())
    }

    /// Draws a single-coloured rectangle, which is inside the picture.
    fn fill(&mut self, area: Area, color: u32) -> Result<(), Error> {
        if !matches!(self.segments.last(), Some(SegmentKind::Flat)) {
            return self.fill_after_others(area, color);
        }
        let next = Flat { area, color };
        let in_segment = self.rectangles.len() - self.joinable_from;
        for last in self.rectangles.last_mut(in_segment.min(LOOK_BACK)).iter_mut().rev() {
            if last.join(&next) {
                return Ok(());
            }
            // A later rectangle of another colour covers a part of `last`, so merging would draw over it.
            if last.hides(&next) {
                break;
            }
        }
        self.rectangles.push(self.label, next)
    }

    /// Draws a rectangle that does not continue the last segment.
    #[inline(never)]
    fn fill_after_others(&mut self, area: Area, color: u32) -> Result<(), Error> {
        if self.segments.last() == Some(SegmentKind::Points) && area.pixels() <= 4 {
            return self.dots(area, color);
        }
        self.begin(SegmentKind::Flat)?;
        self.rectangles.push(self.label, Flat { area, color })
    }

    /// Draws a run of pixels of one colour that were drawn one by one: a row or a column. Nearly always it is a single pixel that follows other points.
    #[inline(always)]
    fn run(&mut self, area: Area, color: u32) -> Result<(), Error> {
        let dot = Dot { x: area.left, y: area.top, color };
        if matches!(self.segments.last(), Some(SegmentKind::Points))
            && area.is_pixel()
            && self.points.push_where_room_is(dot)
        {
            return Ok(());
        }
        self.longer_run(area, color)
    }

    #[inline(never)]
    fn longer_run(&mut self, area: Area, color: u32) -> Result<(), Error> {
        let pixels = area.width().max(area.height());
        match self.segments.last() {
            Some(SegmentKind::Points) if pixels <= LONGEST_RUN_OF_POINTS => self.dots(area, color),
            _ if pixels == 1 && self.segments.len() < MAX_SEGMENTS_FOR_POINTS => {
                self.begin(SegmentKind::Points)?;
                self.dots(area, color)
            }
            _ => self.fill(area, color),
        }
    }

    /// Draws an area as points.
    fn dots(&mut self, area: Area, color: u32) -> Result<(), Error> {
        for y in area.top..area.bottom {
            for x in area.left..area.right {
                self.points.push(self.label, Dot { x, y, color })?;
            }
        }
        Ok(())
    }

    /// Draws the first `pixels` pixels of an image on a sheet.
    fn draw_image(&mut self, area: Area, place: Place, pixels: usize) -> Result<(), Error> {
        let width = usize::from(area.width());
        let (rows, rest) = ((pixels / width) as u16, (pixels % width) as u16);
        let below = Area { top: area.top + rows, ..area };
        let whole = Area { bottom: below.top, ..area };
        let partial = Area { right: area.left + rest, bottom: below.top + u16::from(rest > 0), ..below };
        for (area, first_row) in [(whole, 0), (partial, rows)] {
            if !area.is_empty() {
                self.begin(SegmentKind::Images(place.sheet))?;
                self.images.push(self.label, Placed { area, texel: [place.left, place.top + first_row] })?;
            }
        }
        Ok(())
    }
}

/// A colour as a word with red in the lowest byte.
fn to_word(color: impl Into<Rgb888>) -> u32 {
    let color = color.into();
    u32::from_le_bytes([color.r(), color.g(), color.b(), 0])
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
        let Size { width, height } = self.size;
        let mut run: Option<(Area, C)> = None;
        for Pixel(Point { x, y }, color) in pixels {
            // As unsigned numbers, negative ones are large.
            if x as u32 >= width || y as u32 >= height {
                continue;
            }
            let (x, y) = (x as u16, y as u16);
            if let Some((area, same)) = &mut run {
                if *same == color && area.extend(x, y) {
                    continue;
                }
                let (area, color) = (*area, *same);
                self.run(area, to_word(color))?;
            }
            run = Some((Area { left: x, top: y, right: x + 1, bottom: y + 1 }, color));
        }
        run.map_or(Ok(()), |(area, color)| self.run(area, to_word(color)))
    }

    fn fill_contiguous<I: IntoIterator<Item = C>>(&mut self, area: &Rectangle, colors: I) -> Result<(), Error> {
        let Some(visible) = self.visible(area) else { return Ok(()) };
        let place = self.sheets.place(visible.width(), visible.height())?;
        let mut colors = colors.into_iter();
        let right = area.top_left.x.saturating_add_unsigned(area.size.width);
        let before = i32::from(visible.left).abs_diff(area.top_left.x) as usize;
        let behind = i32::from(visible.right).abs_diff(right) as usize;
        let above = i32::from(visible.top).abs_diff(area.top_left.y) as usize;
        // How many pixels precede the next visible one, and how many were drawn.
        let (mut skipped, mut drawn) = (above * area.size.width as usize + before, 0);
        'rows: for row in 0..visible.height() {
            if skipped > 0 && colors.nth(skipped - 1).is_none() {
                break;
            }
            for texel in self.sheets.row_mut(&place, row) {
                let Some(color) = colors.next() else { break 'rows };
                *texel = (to_word(color) | OPAQUE).to_le();
                drawn += 1;
            }
            skipped = before + behind;
        }
        if drawn < visible.pixels() {
            return match drawn {
                0 => {
                    self.sheets.take_back(&place);
                    Ok(())
                }
                _ => self.draw_image(visible, place, drawn),
            };
        }
        match self.sheets.only_texel(&place) {
            Some(texel) => {
                self.sheets.take_back(&place);
                self.fill(visible, u32::from_le(texel) & !OPAQUE)
            }
            None => self.draw_image(visible, place, drawn),
        }
    }

    fn fill_solid(&mut self, area: &Rectangle, color: C) -> Result<(), Error> {
        self.visible(area).map_or(Ok(()), |area| self.fill(area, to_word(color)))
    }

    fn clear(&mut self, color: C) -> Result<(), Error> {
        // It covers everything that was drawn before.
        self.reset();
        self.fill_solid(&self.bounding_box(), color)
    }
}
