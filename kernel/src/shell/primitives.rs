//! The command `primitives`: primitives of embedded-graphics by CPU and GPU, a workload for `cargo xtask bench`
//!
//! Reads of IDENT0 separate the measurements in the trace. For each kind of primitive these are: a thousand drawn into embedded-graphics' own framebuffer; a
//! thousand drawn into a target that ignores them, which measures embedded-graphics' decomposition alone; a thousand recorded in a draw list for the GPU; and
//! the submission of a frame that draws the list.

use alloc::{boxed::Box, string::ToString};
use core::{convert::Infallible, hint::black_box};

use embedded_graphics::{
    framebuffer::{Framebuffer, buffer_size},
    image::{Image, ImageRaw},
    mono_font::{MonoTextStyle, ascii::FONT_6X10},
    pixelcolor::{Rgb888, raw::LittleEndian},
    prelude::*,
    primitives::{Arc, Circle, Line, PrimitiveStyle, PrimitiveStyleBuilder, Rectangle, RoundedRectangle, Triangle},
    text::Text,
};
use renderer::{DrawList, Error, Format, PassDescriptor, Target, TargetDescriptor};
use v3d::hw::tiling::Tiling;

use super::{
    draws::mark,
    session::{CommandResult, Session},
};
use crate::{gpu::GpuDevice, println};

/// Primitives of each kind.
const COUNT: u32 = 1000;
/// Width and height of the picture in pixels.
const WIDTH: usize = 320;
const HEIGHT: usize = 240;
/// The shortest side of a primitive, in pixels.
const MIN_SIDE: u32 = 16;
/// Range of the lengths of sides, in pixels.
const SIDE_RANGE: u32 = 48;
/// Width and height of images, in pixels.
const IMAGE_SIDE: u32 = 24;

type Software = Framebuffer<
    Rgb888,
    <Rgb888 as PixelColor>::Raw,
    LittleEndian,
    WIDTH,
    HEIGHT,
    { buffer_size::<Rgb888>(WIDTH, HEIGHT) },
>;

/// A kind of primitive.
#[derive(Clone, Copy, Debug)]
enum ShapeKind {
    Rectangle,
    RectangleOutline,
    RoundedRectangle,
    Circle,
    CircleOutline,
    Triangle,
    Line,
    Arc,
    Text,
    Image,
}

/// All kinds, with their names.
const KINDS: [(ShapeKind, &str); 10] = [
    (ShapeKind::Rectangle, "filled rectangles"),
    (ShapeKind::RectangleOutline, "outlined rectangles"),
    (ShapeKind::RoundedRectangle, "rounded rectangles with an outline"),
    (ShapeKind::Circle, "filled circles"),
    (ShapeKind::CircleOutline, "outlined circles"),
    (ShapeKind::Triangle, "filled triangles"),
    (ShapeKind::Line, "lines"),
    (ShapeKind::Arc, "arcs"),
    (ShapeKind::Text, "words of text"),
    (ShapeKind::Image, "images"),
];

pub(super) fn primitives(session: &Session) -> CommandResult {
    all(session.device()?).map_err(|error| error.to_string())
}

fn all(device: &GpuDevice) -> Result<(), Error> {
    let mut software = Box::new(Software::new());
    let (width_px, height_px) = (WIDTH as u32, HEIGHT as u32);
    let (format, tiling) = (Format::Rgba8888, Tiling::Raster);
    let target = Target::new(device, &TargetDescriptor { label: "primitives", width_px, height_px, format, tiling })?;
    let mut list = DrawList::new(device, "primitives", width_px, height_px)?;
    for (kind, name) in KINDS {
        // The first pass allocates the memory that later ones reuse.
        draw_all(kind, &mut list)?;
        submit(device, &target, &mut list)?;
        list.reset();
        mark(device)?;
        let Ok(()) = draw_all(kind, software.as_mut());
        mark(device)?;
        let Ok(()) = draw_all(kind, &mut Nowhere);
        mark(device)?;
        draw_all(kind, &mut list)?;
        mark(device)?;
        submit(device, &target, &mut list)?;
        println!("{COUNT} {name}: {} bytes of vertices, {} draws", list.vertex_bytes(), list.draws());
        list.reset();
    }
    Ok(())
}

/// Draws a list; marks the trace when the GPU has received it.
fn submit(device: &GpuDevice, target: &Target, list: &mut DrawList<Rgb888>) -> Result<(), Error> {
    let mut frame = device.frame()?;
    let mut pass = frame.pass(&PassDescriptor::to(target).clear([0.0; 4]))?;
    list.draw_to(&mut pass)?;
    let fence = frame.submit()?;
    mark(device)?;
    device.wait(fence)
}

/// Random positions and sizes: the high bits of a linear congruential generator. Seed 1 for each kind.
struct Chance(u32);

impl Chance {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 16) % limit
    }

    /// A point for which even the largest primitive is inside of the picture.
    fn point(&mut self) -> Point {
        let [x, y] = [WIDTH, HEIGHT].map(|side| self.below(side as u32 - MIN_SIDE - SIDE_RANGE) as i32);
        Point::new(x, y)
    }

    fn side(&mut self) -> u32 {
        MIN_SIDE + self.below(SIDE_RANGE)
    }

    fn size(&mut self) -> Size {
        Size::new(self.side(), self.side())
    }

    fn color(&mut self) -> Rgb888 {
        let [red, green, blue] = [0; 3].map(|_: u8| self.below(256) as u8);
        Rgb888::new(red, green, blue)
    }
}

fn draw_all<D: DrawTarget<Color = Rgb888>>(kind: ShapeKind, target: &mut D) -> Result<(), D::Error> {
    let mut chance = Chance(1);
    let texels: [u8; (3 * IMAGE_SIDE * IMAGE_SIDE) as usize] = core::array::from_fn(|n| (n * n / 5) as u8);
    let image = ImageRaw::<Rgb888>::new(&texels, IMAGE_SIDE);
    for _ in 0..COUNT {
        let (at, size, color) = (chance.point(), chance.size(), chance.color());
        let (fill, stroke) = (PrimitiveStyle::with_fill(color), PrimitiveStyle::with_stroke(color, 1));
        match kind {
            ShapeKind::Rectangle => Rectangle::new(at, size).into_styled(fill).draw(target)?,
            ShapeKind::RectangleOutline => Rectangle::new(at, size).into_styled(stroke).draw(target)?,
            ShapeKind::RoundedRectangle => {
                let both = PrimitiveStyleBuilder::from(&stroke).fill_color(chance.color()).build();
                let rectangle = Rectangle::new(at, size);
                RoundedRectangle::with_equal_corners(rectangle, Size::new_equal(6)).into_styled(both).draw(target)?;
            }
            ShapeKind::Circle => Circle::new(at, size.width).into_styled(fill).draw(target)?,
            ShapeKind::CircleOutline => Circle::new(at, size.width).into_styled(stroke).draw(target)?,
            ShapeKind::Triangle => {
                let (right, below) = (at + size.x_axis(), at + size.y_axis());
                Triangle::new(at, right, below).into_styled(fill).draw(target)?;
            }
            ShapeKind::Line => Line::new(at, at + size).into_styled(stroke).draw(target)?,
            ShapeKind::Arc => Arc::new(at, size.width, 30.0.deg(), 200.0.deg()).into_styled(stroke).draw(target)?,
            ShapeKind::Text => {
                Text::new("Graphics", at, MonoTextStyle::new(&FONT_6X10, color)).draw(target)?;
            }
            ShapeKind::Image => Image::new(&image, at).draw(target)?,
        }
    }
    Ok(())
}

/// A target that ignores everything.
struct Nowhere;

impl OriginDimensions for Nowhere {
    fn size(&self) -> Size {
        Size::new(WIDTH as u32, HEIGHT as u32)
    }
}

impl DrawTarget for Nowhere {
    type Color = Rgb888;
    type Error = Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<Rgb888>>>(&mut self, pixels: I) -> Result<(), Infallible> {
        pixels.into_iter().for_each(|pixel| _ = black_box(pixel));
        Ok(())
    }

    fn fill_contiguous<I: IntoIterator<Item = Rgb888>>(
        &mut self,
        area: &Rectangle,
        colors: I,
    ) -> Result<(), Infallible> {
        let pixels = (area.size.width * area.size.height) as usize;
        colors.into_iter().take(pixels).for_each(|color| _ = black_box(color));
        Ok(())
    }

    fn fill_solid(&mut self, area: &Rectangle, color: Rgb888) -> Result<(), Infallible> {
        black_box((area, color));
        Ok(())
    }
}
