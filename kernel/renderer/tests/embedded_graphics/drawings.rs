//! Drawings of everything that embedded-graphics can draw, on any target.

use std::f32::consts::TAU;

use embedded_graphics::framebuffer::{Framebuffer, buffer_size};
use embedded_graphics::geometry::AnchorPoint;
use embedded_graphics::image::{Image, ImageDrawableExt, ImageRaw};
use embedded_graphics::mono_font::ascii::{FONT_4X6, FONT_6X10, FONT_10X20};
use embedded_graphics::mono_font::{MonoTextStyle, MonoTextStyleBuilder};
use embedded_graphics::pixelcolor::raw::LittleEndian;
use embedded_graphics::pixelcolor::{BinaryColor, Gray8, Rgb888};
use embedded_graphics::prelude::*;
use embedded_graphics::primitives::{
    Arc, Circle, CornerRadii, Ellipse, Line, Polyline, PrimitiveStyle, PrimitiveStyleBuilder, Rectangle,
    RoundedRectangle, Sector, StrokeAlignment, Triangle,
};
use embedded_graphics::text::{Alignment, Baseline, Text, TextStyleBuilder};

/// Width and height of the pictures.
pub(crate) const WIDTH: u32 = 160;
pub(crate) const HEIGHT: u32 = 120;

/// A name and a drawing function.
pub(crate) type Drawing<D> = (&'static str, fn(&mut D) -> Result<(), <D as DrawTarget>::Error>);

fn color<C: From<Rgb888>>(red: u8, green: u8, blue: u8) -> C {
    Rgb888::new(red, green, blue).into()
}

fn fill<C: PixelColor + From<Rgb888>>(red: u8, green: u8, blue: u8) -> PrimitiveStyle<C> {
    PrimitiveStyle::with_fill(color(red, green, blue))
}

fn stroke<C: PixelColor + From<Rgb888>>(width: u32) -> PrimitiveStyle<C> {
    PrimitiveStyle::with_stroke(color(250, 200, 80), width)
}

fn both<C: PixelColor + From<Rgb888>>(width: u32, alignment: StrokeAlignment) -> PrimitiveStyle<C> {
    PrimitiveStyleBuilder::new()
        .fill_color(color(20, 90, 160))
        .stroke_color(color(240, 120, 30))
        .stroke_width(width)
        .stroke_alignment(alignment)
        .build()
}

/// A shape in three sizes, with strokes inside, in the middle and outside.
fn three<D, S, C>(target: &mut D, shape: impl Fn(i32) -> S) -> Result<(), D::Error>
where
    C: PixelColor + From<Rgb888>,
    D: DrawTarget<Color = C>,
    S: Primitive,
    embedded_graphics::primitives::Styled<S, PrimitiveStyle<C>>: Drawable<Color = C, Output = ()>,
{
    shape(0).into_styled(both(5, StrokeAlignment::Inside)).draw(target)?;
    shape(1).into_styled(both(4, StrokeAlignment::Center)).draw(target)?;
    shape(2).into_styled(both(3, StrokeAlignment::Outside)).draw(target)
}

/// Text as embedded-graphics sets it, with and without a background.
fn lines_of_text<D, C>(target: &mut D) -> Result<(), D::Error>
where
    C: PixelColor + From<Rgb888>,
    D: DrawTarget<Color = C>,
{
    let small = MonoTextStyle::new(&FONT_4X6, color(255, 255, 255));
    Text::new("no paper,\nbut two lines", Point::new(3, 10), small).draw(target)?;
    let paper = MonoTextStyleBuilder::new()
        .font(&FONT_6X10)
        .text_color(color(10, 10, 60))
        .background_color(color(230, 220, 120))
        .underline()
        .strikethrough_with_color(color(255, 0, 0))
        .build();
    let centered = TextStyleBuilder::new().alignment(Alignment::Center).baseline(Baseline::Middle).build();
    Text::with_text_style("ink on paper", Point::new(80, 50), paper, centered).draw(target)?;
    let only_paper = MonoTextStyleBuilder::new().font(&FONT_6X10).background_color(color(0, 80, 0)).build();
    Text::new("paper only", Point::new(5, 75), only_paper).draw(target)?;
    let large = MonoTextStyle::new(&FONT_10X20, color(90, 200, 255));
    Text::with_alignment("cut off at the edge", Point::new(150, 100), large, Alignment::Center).draw(target)?;
    Ok(())
}

/// Images of single bits and of whole colours, and parts of them.
fn images<D, C>(target: &mut D) -> Result<(), D::Error>
where
    C: PixelColor + From<Rgb888> + From<Gray8> + From<BinaryColor>,
    D: DrawTarget<Color = C>,
{
    let bits: Vec<u8> = (0..48u8).map(|n| n.wrapping_mul(37) ^ 0x5a).collect();
    let bits = ImageRaw::<BinaryColor>::new(&bits, 24);
    Image::new(&bits, Point::new(4, 4)).draw(&mut target.color_converted())?;
    let grays: Vec<u8> = (0..60 * 50u32).map(|n| (n * n / 7) as u8).collect();
    let grays = ImageRaw::<Gray8>::new(&grays, 60);
    Image::new(&grays, Point::new(40, 4)).draw(&mut target.color_converted())?;
    Image::new(&grays, Point::new(130, 90)).draw(&mut target.color_converted())?;
    Image::new(&grays, Point::new(-40, -30)).draw(&mut target.color_converted())?;
    let part = grays.sub_image(&Rectangle::new(Point::new(10, 20), Size::new(30, 20)));
    Image::with_center(&part, Point::new(60, 80)).draw(&mut target.color_converted())
}

/// A framebuffer that was drawn to, as an image.
fn framebuffer_as_image<D, C>(target: &mut D) -> Result<(), D::Error>
where
    C: PixelColor + From<Rgb888>,
    D: DrawTarget<Color = C>,
{
    let mut buffer = Framebuffer::<Rgb888, _, LittleEndian, 70, 60, { buffer_size::<Rgb888>(70, 60) }>::new();
    let Ok(()) = Ellipse::new(Point::new(3, 8), Size::new(60, 44))
        .into_styled(both(3, StrokeAlignment::Center))
        .draw(&mut buffer);
    let Ok(()) = lines_of_text(&mut buffer);
    Image::new(&buffer.as_image(), Point::new(50, 40)).draw(&mut target.color_converted())
}

/// All drawings.
pub(crate) fn all<D, C>() -> Vec<Drawing<D>>
where
    C: PixelColor + From<Rgb888> + From<Gray8> + From<BinaryColor>,
    D: DrawTarget<Color = C>,
{
    vec![
        ("nothing", |_| Ok(())),
        ("clear", |target| target.clear(color(12, 34, 56))),
        ("clear over something", |target| {
            Circle::new(Point::new(10, 10), 50).into_styled(fill(255, 0, 0)).draw(target)?;
            target.clear(color(1, 2, 3))?;
            Circle::new(Point::new(30, 30), 50).into_styled(fill(0, 255, 0)).draw(target)
        }),
        ("pixels", |target| {
            let pixel = |n: i32| {
                let angle = n as f32 / 400.0 * TAU;
                let at = Point::new(80 + (angle.sin() * n as f32 / 4.0) as i32, 60 + (angle.cos() * 70.0) as i32);
                Pixel(at, color(n as u8, (n / 2) as u8, 200))
            };
            target.draw_iter((0..400).map(pixel))
        }),
        ("pixels over each other", |target| {
            let pixel = |n: i32| Pixel(Point::new(20 + n * 7 % 31, 20 + n * 5 % 17), color(n as u8, 0, 255 - n as u8));
            target.draw_iter((0..600).map(pixel))
        }),
        ("all eight-bit values", |target| {
            let pixel = |n: i32| {
                let (x, y) = (n % 160, n / 160);
                let value = (n % 256) as u8;
                let channel = |which: i32| if n / 256 % 4 == which || n / 256 % 4 == 3 { value } else { 0 };
                Pixel(Point::new(x, y), color(channel(0), channel(1), channel(2)))
            };
            target.draw_iter((0..1024).map(pixel))?;
            let area = Rectangle::new(Point::new(0, 20), Size::new(128, 8));
            target.fill_contiguous(&area, (0..1024).map(|n| color(n as u8, (n / 4) as u8, 255 - n as u8)))
        }),
        ("fills", |target| {
            for n in 0..40 {
                let area = Rectangle::new(Point::new(n * 5 - 20, n * 3 - 10), Size::new(30, 1 + n as u32 / 2));
                target.fill_solid(&area, color(n as u8 * 6, 255 - n as u8 * 6, 128))?;
            }
            let beyond = Rectangle::new(Point::new(-1_000_000, -5), Size::new(2_000_000, 7));
            target.fill_solid(&beyond, color(9, 200, 9))?;
            target.fill_solid(&Rectangle::new(Point::new(500, 5), Size::new(5, 5)), color(255, 0, 0))
        }),
        ("contiguous", |target| {
            let colors = |first: u32| (first..).map(|n| color((n * 3) as u8, (n / 7) as u8, (n / 31) as u8));
            for (n, (x, y, width, height)) in
                [(2, 2, 40, 30), (-15, 50, 33, 20), (140, -9, 40, 25), (100, 100, 90, 40), (50, 60, 1, 30)]
                    .into_iter()
                    .enumerate()
            {
                let area = Rectangle::new(Point::new(x, y), Size::new(width, height));
                target.fill_contiguous(&area, colors(n as u32 * 1000).take((width * height) as usize))?;
            }
            Ok(())
        }),
        ("contiguous, colours that run out", |target| {
            for (n, count) in [0, 1, 7, 20, 41, 199, 200].into_iter().enumerate() {
                let area = Rectangle::new(Point::new(22 * n as i32 - 5, 15 * n as i32 - 4), Size::new(20, 10));
                target.fill_contiguous(&area, (0..count).map(|n: u32| color(255 - n as u8, n as u8, 77)))?;
            }
            Ok(())
        }),
        ("contiguous of one colour", |target| {
            let area = Rectangle::new(Point::new(-5, 10), Size::new(50, 10));
            target.fill_contiguous(&area, (0..500).map(|_| color(200, 100, 50)))?;
            let area = Rectangle::new(Point::new(60, 10), Size::new(50, 10));
            target.fill_contiguous(&area, (0..333).map(|_| color(200, 100, 50)))
        }),
        ("lines of one pixel", |target| {
            for n in 0..24 {
                let angle = n as f32 / 24.0 * TAU;
                let end = Point::new(80 + (angle.cos() * 90.0) as i32, 60 + (angle.sin() * 70.0) as i32);
                Line::new(Point::new(80, 60), end).into_styled(stroke(1)).draw(target)?;
            }
            Ok(())
        }),
        ("lines of widths", |target| {
            for n in 0..12 {
                let x = 6 + n * 13;
                let line = Line::new(Point::new(x, 8), Point::new(x + n * 4 - 20, 110));
                line.into_styled(stroke(n as u32)).draw(target)?;
            }
            Line::new(Point::new(-30, 100), Point::new(200, 20)).into_styled(stroke(9)).draw(target)
        }),
        ("rectangles", |target| {
            three(target, |n| Rectangle::new(Point::new(5 + 52 * n, 10 + 30 * n), Size::new(44, 40)))
        }),
        ("rectangles without anything", |target| {
            Rectangle::new(Point::new(5, 5), Size::new(0, 10)).into_styled(fill(255, 0, 0)).draw(target)?;
            Rectangle::new(Point::new(20, 5), Size::new(10, 0))
                .into_styled(both(1, StrokeAlignment::Center))
                .draw(target)?;
            Rectangle::new(Point::new(40, 5), Size::new(1, 1))
                .into_styled(both(4, StrokeAlignment::Outside))
                .draw(target)
        }),
        ("rounded rectangles", |target| {
            three(target, |n| {
                let rectangle = Rectangle::new(Point::new(5 + 52 * n, 10 + 30 * n), Size::new(44, 40));
                RoundedRectangle::with_equal_corners(rectangle, Size::new(12, 8))
            })?;
            let radii =
                CornerRadii { top_left: Size::new(20, 20), bottom_right: Size::new(5, 15), ..CornerRadii::default() };
            RoundedRectangle::new(Rectangle::new(Point::new(90, 5), Size::new(60, 40)), radii)
                .into_styled(fill(80, 160, 80))
                .draw(target)
        }),
        ("circles", |target| three(target, |n| Circle::new(Point::new(5 + 52 * n, 8 + 30 * n), 40 + 3 * n as u32))),
        ("small circles", |target| {
            for n in 0..16 {
                Circle::new(Point::new(4 + n * 9, 4 + n * 6), n as u32).into_styled(fill(255, 90, 90)).draw(target)?;
                Circle::new(Point::new(4 + n * 9, 30 + n * 5), n as u32).into_styled(stroke(1)).draw(target)?;
            }
            Ok(())
        }),
        ("ellipses", |target| {
            three(target, |n| Ellipse::new(Point::new(5 + 52 * n, 8 + 20 * n), Size::new(48, 30 + 20 * n as u32)))
        }),
        ("arcs", |target| {
            for n in 0..6 {
                let (start, sweep) = ((n as f32 * 40.0).deg(), (n as f32 * 61.0 - 100.0).deg());
                Arc::new(Point::new(3 + n * 26, 5 + n * 12), 44, start, sweep)
                    .into_styled(stroke(1 + n as u32))
                    .draw(target)?;
            }
            Ok(())
        }),
        ("sectors", |target| {
            for n in 0..6 {
                let (start, sweep) = ((n as f32 * 40.0).deg(), (n as f32 * 61.0 - 100.0).deg());
                Sector::new(Point::new(3 + n * 26, 5 + n * 12), 44, start, sweep)
                    .into_styled(both(n as u32, StrokeAlignment::Center))
                    .draw(target)?;
            }
            Ok(())
        }),
        ("triangles", |target| {
            three(target, |n| {
                let at = |x: i32, y: i32| Point::new(x + 50 * n, y + 25 * n);
                Triangle::new(at(8, 50), at(50, 44), at(30, 6))
            })?;
            Triangle::new(Point::new(-30, 119), Point::new(60, 170), Point::new(20, 80))
                .into_styled(fill(0, 99, 99))
                .draw(target)
        }),
        ("polylines", |target| {
            let zigzag: Vec<Point> = (0..14).map(|n| Point::new(4 + n * 12, 20 + n % 2 * 25 + n * n / 3)).collect();
            Polyline::new(&zigzag).into_styled(stroke(1)).draw(target)?;
            Polyline::new(&zigzag).translate(Point::new(-3, 40)).into_styled(stroke(6)).draw(target)
        }),
        ("text", |target| lines_of_text(target)),
        ("images", |target| images(target)),
        ("a framebuffer as an image", |target| framebuffer_as_image(target)),
        ("clipped", |target| {
            let area = Rectangle::new(Point::new(30, 25), Size::new(90, 60));
            let mut clipped = target.clipped(&area);
            clipped.clear(color(40, 0, 60))?;
            lines_of_text(&mut clipped)?;
            images(&mut clipped)?;
            three(&mut clipped, |n| Circle::new(Point::new(5 + 52 * n, 8 + 30 * n), 40 + 3 * n as u32))
        }),
        ("cropped", |target| {
            let area = Rectangle::new(Point::new(50, 35), Size::new(90, 60));
            let mut cropped = target.cropped(&area);
            let size = cropped.bounding_box().resized(Size::new(70, 30), AnchorPoint::Center);
            size.into_styled(both(2, StrokeAlignment::Center)).draw(&mut cropped)?;
            images(&mut cropped)?;
            lines_of_text(&mut cropped)
        }),
        ("translated", |target| {
            let mut translated = target.translated(Point::new(-33, 21));
            lines_of_text(&mut translated)?;
            framebuffer_as_image(&mut translated)
        }),
        ("everything at once", |target| {
            target.clear(color(240, 240, 240))?;
            images(target)?;
            three(target, |n| Ellipse::new(Point::new(5 + 52 * n, 8 + 20 * n), Size::new(48, 30 + 20 * n as u32)))?;
            lines_of_text(target)?;
            framebuffer_as_image(&mut target.translated(Point::new(-40, -20)))?;
            Line::new(Point::new(0, 0), Point::new(160, 120)).into_styled(stroke(3)).draw(target)
        }),
    ]
}
