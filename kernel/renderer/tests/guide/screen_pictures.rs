//! Steps with flat drawings: each pixel is computed from its position alone.

use ::own_kernel::{COLORS, FRAMES, SHRINK, SIZE_PX, SQUARES, TURN, kernel_main};
use renderer::glam::{DVec2, DVec3};
use v3d::platform::Power;

use crate::reference::{Texels, agreed, assert_near, bytes, middle, pixels, share};
use crate::steps::{self, blend, depth, frame, own_kernel, texture, triangle};

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
