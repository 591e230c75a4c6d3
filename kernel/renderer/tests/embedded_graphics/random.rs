//! Pseudorandom drawings: shapes, text and images, inside the picture and beyond its edges.

use embedded_graphics::image::{Image, ImageRaw};
use embedded_graphics::mono_font::MonoTextStyleBuilder;
use embedded_graphics::mono_font::ascii::{FONT_5X8, FONT_9X15};
use embedded_graphics::pixelcolor::{Gray8, Rgb888};
use embedded_graphics::prelude::*;
use embedded_graphics::primitives::{
    Arc, Circle, Ellipse, Line, PrimitiveStyle, PrimitiveStyleBuilder, Rectangle, RoundedRectangle, Sector,
    StrokeAlignment, Triangle,
};
use embedded_graphics::text::Text;
use v3d_sim::random::Random;

/// Random numbers, points, sizes, colours and styles.
pub(crate) struct Chance(Random);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Random::new(0, seed))
    }

    /// A number below a limit.
    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        self.0.below(limit)
    }

    fn point(&mut self, size: Size) -> Point {
        Point::new(self.below(size.width + 60) as i32 - 30, self.below(size.height + 60) as i32 - 30)
    }

    fn size(&mut self, most: u32) -> Size {
        Size::new(self.below(most), self.below(most))
    }

    fn color<C: From<Rgb888>>(&mut self) -> C {
        let [red, green, blue, _] = self.below(1 << 30).wrapping_mul(7).to_le_bytes();
        Rgb888::new(red, green, blue).into()
    }

    fn style<C: PixelColor + From<Rgb888>>(&mut self) -> PrimitiveStyle<C> {
        let alignment = [StrokeAlignment::Inside, StrokeAlignment::Center, StrokeAlignment::Outside];
        let style = PrimitiveStyleBuilder::new()
            .stroke_alignment(alignment[self.below(3) as usize])
            .stroke_color(self.color())
            .stroke_width(self.below(8));
        if self.below(4) == 0 { style.build() } else { style.fill_color(self.color()).build() }
    }
}

/// Draws one random element, of at most about `most` pixels in size.
pub(crate) fn one<D, C>(target: &mut D, chance: &mut Chance, most: u32) -> Result<(), D::Error>
where
    C: PixelColor + From<Rgb888> + From<Gray8>,
    D: DrawTarget<Color = C>,
{
    let style = chance.style();
    let at = chance.point(target.bounding_box().size);
    let (start, sweep) = ((chance.below(360) as f32).deg(), (chance.below(720) as f32 - 360.0).deg());
    match chance.below(11) {
        0 => Rectangle::new(at, chance.size(most)).into_styled(style).draw(target),
        1 => {
            let rectangle = Rectangle::new(at, chance.size(most));
            RoundedRectangle::with_equal_corners(rectangle, chance.size(most / 3)).into_styled(style).draw(target)
        }
        2 => Circle::new(at, chance.below(most)).into_styled(style).draw(target),
        3 => Ellipse::new(at, chance.size(most)).into_styled(style).draw(target),
        4 => Arc::new(at, chance.below(most), start, sweep).into_styled(style).draw(target),
        5 => Sector::new(at, chance.below(most), start, sweep).into_styled(style).draw(target),
        6 => {
            let corner = |chance: &mut Chance| at + chance.size(most);
            Triangle::new(at, corner(chance), corner(chance)).into_styled(style).draw(target)
        }
        7 => Line::new(at, at + chance.size(most) - chance.size(most)).into_styled(style).draw(target),
        8 => {
            let font = if chance.below(2) == 0 { &FONT_5X8 } else { &FONT_9X15 };
            let ink = MonoTextStyleBuilder::new().font(font).text_color(chance.color());
            let ink = if chance.below(2) == 0 { ink.build() } else { ink.background_color(chance.color()).build() };
            Text::new("Q7 pu", at, ink).draw(target).map(|_| ())
        }
        9 => {
            let width = 1 + chance.below(most);
            let grays: Vec<u8> = (0..width * (1 + chance.below(most))).map(|_| chance.below(256) as u8).collect();
            Image::new(&ImageRaw::<Gray8>::new(&grays, width), at).draw(&mut target.color_converted())
        }
        _ => {
            let pixels: Vec<Pixel<C>> = (0..chance.below(most))
                .map(|n| Pixel(at + Point::new(n as i32 % 7, n as i32 / 7), chance.color()))
                .collect();
            target.draw_iter(pixels)
        }
    }
}
