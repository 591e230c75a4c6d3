//! Steps with flat drawings: each pixel is computed from its position alone.

use ::own_kernel::{COLORS, FRAMES, SHRINK, SIZE_PX, SQUARES, TURN, kernel_main};
use embedded_graphics::mono_font::{MonoTextStyle, ascii::FONT_10X20};
use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::prelude::*;
use embedded_graphics::text::Text;
use renderer::glam::{DVec2, DVec3};
use v3d::platform::Power;

use crate::reference::{Texels, agreed, assert_near, bytes, difference, middle, pixels, share};
use crate::steps::{self, blend, depth, frame, own_kernel, sprites, texture, triangle};

/// A position in a picture from -1 to 1, y upwards.
fn normalised(at: DVec2, [width, height]: [u32; 2]) -> DVec2 {
    let half = 0.5 * DVec2::new(width.into(), height.into());
    (at - half) / half * DVec2::new(1.0, -1.0)
}

#[test]
fn step_1_has_the_clear_colour_everywhere() {
    let picture = steps::picture(1);
    assert_eq!((picture.width_px, picture.height_px), (320, 240));
    assert!(picture.pixels.iter().all(|&pixel| pixel == frame::EVENING));
}

#[test]
fn step_2_interpolates_between_the_corners() {
    let corners = triangle::CORNERS.map(|corner| {
        let [x, y, _] = corner.position.map(f64::from);
        (DVec2::new(x, y), share(corner.color))
    });
    let weights = |at: DVec2| {
        let at = normalised(at, triangle::SIZE_PX);
        let area = |a: DVec2, b: DVec2, c: DVec2| (b - a).perp_dot(c - a);
        let [a, b, c] = corners.map(|(place, _)| place);
        DVec3::new(area(at, b, c), area(a, at, c), area(a, b, at)) / area(a, b, c)
    };
    let (mut inside, mut outside) = (0, 0);
    for (x, y, pixel) in pixels(steps::picture(2)) {
        match agreed(x, y, 1.0, |at| weights(at).min_element() > 0.0) {
            Some(true) => {
                let weights = weights(middle(x, y));
                let expected = weights.x * corners[0].1 + weights.y * corners[1].1 + weights.z * corners[2].1;
                assert_near(x, y, pixel, expected, 2.0);
                inside += 1;
            }
            Some(false) => {
                assert_eq!(pixel, triangle::NIGHT, "({x}, {y})");
                outside += 1;
            }
            None => {}
        }
    }
    // The triangle's area is 1.6 * 1.65 / 2 of the picture's 4.
    assert!(inside > 24_000 && outside > 48_000, "{inside} inside, {outside} outside");
}

#[test]
fn step_3_shows_texels_and_blends_of_them() {
    let rocket = Texels { side: 16, texel: Box::new(|x, y| texture::texel(texture::ROCKET[y as usize][x as usize])) };
    for (x, y, pixel) in pixels(steps::picture(3)) {
        // Squares of 208 pixels, 16 from the edges.
        let (column, row) = ((x % 240).wrapping_sub(16), y.wrapping_sub(16));
        if column >= 208 || row >= 208 {
            assert_eq!(pixel, texture::WALL, "({x}, {y})");
        } else if x < 240 {
            assert_eq!(pixel, rocket.nearest(middle(column, row) / 208.0), "({x}, {y})");
        } else {
            assert_near(x, y, pixel, rocket.linear(middle(column, row) / 208.0), 3.0);
        }
    }
}

/// Whether a position is on a band: its number, and the position along it, in half distances between bands.
fn band(across: f64, along: f64) -> Option<(u16, f64)> {
    let bands = f64::from(depth::BANDS);
    let number = ((across + 1.0) / 2.0 * bands).floor();
    let off_middle = across + 1.0 - (2.0 * number + 1.0) / bands;
    let exists = (0.0..bands).contains(&number) && off_middle.abs() < f64::from(depth::HALF);
    exists.then_some((number as u16, (along + 1.0) * bands))
}

#[test]
fn step_5_weaves_the_bands() {
    let (mut upright_on_top, mut level_on_top) = (0, 0);
    let places = |at: DVec2| {
        let DVec2 { x, y } = normalised(at, depth::SIZE_PX);
        (band(x, y), band(y, x))
    };
    let names = |at: DVec2| (places(at).0.map(|band| band.0), places(at).1.map(|band| band.0));
    for (x, y, pixel) in pixels(steps::picture(5)) {
        let Some((upright, level)) = agreed(x, y, 0.7, names) else { continue };
        let is_upright = match (upright, level) {
            (None, None) => {
                assert_eq!(pixel, depth::TABLE, "({x}, {y})");
                continue;
            }
            // Crossings alternate like a chessboard: the vertical band is on top where column and row differ in parity.
            (Some(column), Some(row)) if (column + row) % 2 == 1 => {
                upright_on_top += 1;
                true
            }
            (Some(_), Some(_)) => {
                level_on_top += 1;
                false
            }
            (column, _) => column.is_some(),
        };
        let (number, along) = if is_upright { places(middle(x, y)).0 } else { places(middle(x, y)).1 }.unwrap();
        // The depth along a band is a triangle wave: 0 at even positions, and its extremes at odd ones.
        let crossing = (along / 2.0).floor() as u16;
        let over = ((crossing + number) % 2 == 1) == is_upright;
        let height = (1.0 - (along.rem_euclid(2.0) - 1.0).abs()) * if over { 1.0 } else { -1.0 };
        let hue = f64::from(number) / f64::from(depth::BANDS - 1);
        let color = if is_upright {
            DVec3::new(0.93, 0.55 + 0.25 * hue, 0.25)
        } else {
            DVec3::new(0.16, 0.45 + 0.2 * hue, 0.55)
        };
        assert_near(x, y, pixel, 255.0 * color * (0.8 + 0.2 * height), 2.5);
    }
    // 36 crossings of 36 by 36 pixels, half of them each way.
    assert!(upright_on_top > 20_000 && level_on_top > 20_000, "{upright_on_top} and {level_on_top}");
}

#[test]
fn step_7_mixes_as_the_formulas_say() {
    let picture = steps::picture(7);
    let mut most_covered = 0;
    for (x, y, pixel) in pixels(picture) {
        let covers = |at: DVec2, n: usize| {
            let (right, up) = (if x < 200 { -1.0 } else { 1.0 }, if y < 200 { 1.0 } else { -1.0 });
            let at = DVec2::new(at.x - 200.0, 200.0 - at.y);
            at.distance(blend::middle(n, right, up).as_dvec2()) < f64::from(blend::RADIUS_PX)
        };
        let Some(covered) = agreed(x, y, 1.0, |at| [0, 1, 2].map(|n| covers(at, n))) else { continue };
        let mut expected = bytes(blend::WALL);
        let order = if x < 200 { [0, 1, 2] } else { [2, 1, 0] };
        for n in order.into_iter().filter(|&n| covered[n]) {
            let [red, green, blue, alpha] = blend::DISCS[n];
            let (alpha, disc) = (f64::from(alpha), share([red, green, blue]));
            expected = if y < 200 { alpha * disc + (1.0 - alpha) * expected } else { alpha * disc + expected };
            expected = expected.min(DVec3::splat(255.0));
        }
        let layers = covered.iter().filter(|&&covered| covered).count();
        most_covered = most_covered.max(layers);
        assert_near(x, y, pixel, expected, 1.5 * layers as f64);
    }
    assert_eq!(most_covered, 3);
    // The order matters for alpha blending, and not for additive blending.
    assert_ne!(picture.pixel(100, 100), picture.pixel(300, 100));
    assert_eq!(picture.pixel(100, 300), picture.pixel(300, 300));
}

#[test]
fn step_10_draws_squares_in_squares() {
    let [width_px, height_px] = SIZE_PX;
    let square = |at: DVec2| {
        let place = normalised(at, [width_px, height_px]) * DVec2::new(f64::from(width_px) / f64::from(height_px), 1.0);
        (0..SQUARES).rev().find(|&n| {
            let angle = 0.02 * f64::from(FRAMES - 1) + f64::from(n) * f64::from(TURN);
            let half = 1.2 * f64::from(SHRINK).powi(n.into());
            DVec2::from_angle(-angle).rotate(place).abs().max_element() < half
        })
    };
    let mut seen = [0; 2];
    for (x, y, pixel) in pixels(steps::picture(10)) {
        match agreed(x, y, 1.0, square) {
            Some(Some(n)) => {
                assert_near(x, y, pixel, share(COLORS[usize::from(n % 2)]), 1.0);
                seen[usize::from(n % 2)] += 1;
            }
            Some(None) => assert_eq!(pixel, [24, 16, 32, 255], "({x}, {y})"),
            None => {}
        }
    }
    assert!(seen.iter().all(|&pixels| pixels > 20_000), "{seen:?}");
}

/// After a reset in the middle of a job the GPU draws correctly.
#[test]
fn the_chip_of_step_10_can_be_reset() {
    let chip = own_kernel::host_chip();
    assert_eq!(own_kernel::shown(&chip).pixels[0], [0; 4]);
    for _ in 0..2 {
        chip.reset().unwrap();
        assert_eq!(kernel_main(&chip, &own_kernel::DISPLAY, 1, |_| {}).unwrap(), 0);
    }
    assert_ne!(own_kernel::shown(&chip).pixels[0], [0; 4]);
    assert_eq!(chip.bus().model.take_faults(), []);
}

/// A picture that layers are blended into, and how many have changed each pixel.
struct Layers {
    width: u32,
    pixels: Vec<(DVec3, u32)>,
}

impl Layers {
    fn blend(&mut self, x: u32, y: u32, [red, green, blue, alpha]: [f64; 4]) {
        if alpha > 0.0 {
            let (color, layers) = &mut self.pixels[(y * self.width + x) as usize];
            *color = color.lerp(DVec3::new(red, green, blue), alpha / 255.0);
            *layers += 1;
        }
    }
}

/// The atlas of step 13, blended linearly between the middles of its texels.
struct Atlas(Vec<[f64; 4]>);

impl Atlas {
    fn at(&self, place: DVec2) -> [f64; 4] {
        let (first, share) = ((place - 0.5).floor(), (place - 0.5) - (place - 0.5).floor());
        let texel = |right: f64, down: f64| {
            let [x, y] =
                (first + DVec2::new(right, down)).to_array().map(|at| (at.max(0.0) as u32).min(sprites::ATLAS_PX - 1));
            self.0[(y * sprites::ATLAS_PX + x) as usize]
        };
        let [a, b, c, d] = [texel(0.0, 0.0), texel(1.0, 0.0), texel(0.0, 1.0), texel(1.0, 1.0)];
        std::array::from_fn(|n| {
            let mix = |a: f64, b: f64, share: f64| a + (b - a) * share;
            mix(mix(a[n], b[n], share.x), mix(c[n], d[n], share.x), share.y)
        })
    }
}

/// The pixels that embedded-graphics draws of a text.
struct Ink(Vec<Point>);

impl OriginDimensions for Ink {
    fn size(&self) -> Size {
        Size::new(sprites::SIZE_PX[0], sprites::SIZE_PX[1])
    }
}

impl DrawTarget for Ink {
    type Color = BinaryColor;
    type Error = core::convert::Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<BinaryColor>>>(&mut self, pixels: I) -> Result<(), Self::Error> {
        self.0.extend(pixels.into_iter().filter(|pixel| pixel.1.is_on()).map(|pixel| pixel.0));
        Ok(())
    }
}

#[test]
fn step_13_lays_sprites_over_each_other() {
    let [width, height] = sprites::SIZE_PX;
    let mut layers = Layers { width, pixels: vec![(bytes(sprites::WATER), 0); (width * height) as usize] };
    let side = sprites::ATLAS_PX;
    let atlas = Atlas((0..side * side).map(|n| sprites::texel(n % side, n / side).map(f64::from)).collect());
    let tinted = |color: [f64; 4], tint: [u8; 4]| std::array::from_fn(|n| color[n] * f64::from(tint[n]) / 255.0);
    let pond = sprites::pond();
    assert!(sprites::WORDS.contains(&format!("{} sprites", pond.len())));
    for sprite in &pond {
        let [left, top, across, down] = sprite.part.map(f64::from);
        let (corner, extent) = (DVec2::new(left, top), DVec2::new(across, down));
        let [center, scale] = [sprite.center, sprite.scale].map(|[x, y]| DVec2::new(x.into(), y.into()));
        let reach = (extent * scale).length() / 2.0;
        let (first, last) = ((center - reach).floor().max(DVec2::ZERO), center + reach);
        for y in first.y as u32..(last.y as u32 + 1).min(height) {
            for x in first.x as u32..(last.x as u32 + 1).min(width) {
                let turned = DVec2::from_angle(-f64::from(sprite.rotation)).rotate(middle(x, y) - center);
                let place = turned / scale + extent / 2.0;
                // Edges do not matter: parts have a margin that is transparent.
                if place.cmpgt(DVec2::ZERO).all() && place.cmplt(extent).all() {
                    layers.blend(x, y, tinted(atlas.at(corner + place), sprite.tint));
                }
            }
        }
    }
    // The sign: its frame has one texel for each pixel, and what is between is stretched.
    let [left, top, across, down] = sprites::SIGN_AT.map(|edge| edge as u32);
    let stretched = |at: u32, length: u32, texels: u16, before: u16, behind: u16| {
        let at = f64::from(at) + 0.5;
        let [length, before, behind] = [f64::from(length), f64::from(before), f64::from(behind)];
        let texels = f64::from(texels);
        if at < before {
            at
        } else if at > length - behind {
            texels - (length - at)
        } else {
            before + (at - before) * (texels - before - behind) / (length - before - behind)
        }
    };
    for (x, y) in (0..down).flat_map(|y| (0..across).map(move |x| (x, y))) {
        let [part_left, part_top, columns, rows] = sprites::SIGN;
        let [before, above, behind, below] = sprites::FRAME;
        let place = DVec2::new(
            stretched(x, across, columns, before, behind) + f64::from(part_left),
            stretched(y, down, rows, above, below) + f64::from(part_top),
        );
        layers.blend(left + x, top + y, tinted(atlas.at(place), sprites::SIGN_TINT));
    }
    let mut ink = Ink(Vec::new());
    let [x, y] = sprites::WORDS_AT.map(|at| at as i32);
    let style = MonoTextStyle::new(&FONT_10X20, BinaryColor::On);
    Text::new(sprites::WORDS, Point::new(x, y), style).draw(&mut ink).unwrap();
    for &Point { x, y } in &ink.0 {
        layers.blend(x as u32, y as u32, sprites::INK.map(f64::from));
    }
    assert!(ink.0.len() > 800, "{} pixels of text", ink.0.len());

    let (mut worst, mut covered) = (0.0f64, 0);
    for (x, y, pixel) in pixels(steps::picture(13)) {
        let (expected, count) = layers.pixels[(y * width + x) as usize];
        assert_near(x, y, pixel, expected, 2.5);
        worst = worst.max(difference(pixel, expected));
        covered += u32::from(count > 0);
    }
    println!("sprites differ by at most {worst:.2} of 255 on {covered} pixels");
    assert!(covered > 60_000, "{covered} pixels are covered");
}
