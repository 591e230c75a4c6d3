//! The expected picture of the triangle, computed from its vertices.
//!
//! There are three coloured vertices in normalized device coordinates (HD7350 document, "A Triangle", update 1: the equilateral one), and a viewport of 1280 x
//! 720 with y up. A colour inside is the mean of the three colours, weighted by the barycentric coordinates of the pixel's centre; all vertices have the same
//! depth, so there is no perspective. Nothing is taken from the driver, the shaders or the model.

use crate::picture::Picture;
use anyhow::{Result, ensure};

const WIDTH: usize = 1280;
const HEIGHT: usize = 720;

/// Position in normalized device coordinates, and colour: red bottom right, blue bottom left, green on top.
const VERTICES: [([f64; 2], [f64; 3]); 3] =
    [([0.5846, -0.9], [1.0, 0.0, 0.0]), ([-0.5846, -0.9], [0.0, 0.0, 1.0]), ([0.0, 0.9], [0.0, 1.0, 0.0])];

/// Greatest difference of a channel, of 255.
const TOLERANCE: f64 = 2.0;

/// Vertices are rounded to sixteenths of a pixel: a pixel that is nearer than this to an edge may be on either side.
const EDGE_PX: f64 = 0.25;

/// Interior points: the 105 points whose barycentric coordinates are i/16, j/16, k/16 with i, j, k of at least 1.
const GRID: usize = 16;

/// Compares a picture of the whole screen with the triangle. Returns how many interior points and pixels were compared.
pub(super) fn check(picture: &Picture, clear: [u8; 3]) -> Result<(usize, usize)> {
    ensure!(
        (picture.width, picture.height) == (WIDTH, HEIGHT),
        "the screen has {} x {} pixels instead of {WIDTH} x {HEIGHT}",
        picture.width,
        picture.height
    );
    let points = check_interior(picture)?;
    let mut outside = 0;
    for y in 0..HEIGHT {
        for x in 0..WIDTH {
            let Some(pixel) = picture.pixel(x, y) else { continue };
            let distance = distance_inside(x, y);
            if distance < -EDGE_PX {
                outside += 1;
                ensure!(pixel == clear, "pixel ({x}, {y}) lies outside and is {pixel:?} instead of clear {clear:?}");
            } else if distance > EDGE_PX {
                let expected = colour(x, y);
                let close = pixel.iter().zip(expected).all(|(&got, want)| (f64::from(got) - want).abs() <= TOLERANCE);
                ensure!(close, "pixel ({x}, {y}) lies inside and is {pixel:?} instead of {expected:.1?}");
            }
        }
    }
    Ok((points, outside))
}

/// Checks the grid of interior points separately, so that a wrong colour is reported as such.
fn check_interior(picture: &Picture) -> Result<usize> {
    let mut points = 0;
    for i in 1..GRID {
        for j in 1..GRID - i {
            let weights = [i, j, GRID - i - j].map(|weight| weight as f64 / GRID as f64);
            let corners = corners();
            let at = |axis: usize| (0..3).map(|n| weights[n] * corners[n][axis]).sum::<f64>();
            let (x, y) = (at(0) as usize, at(1) as usize);
            let expected = colour(x, y);
            let Some(pixel) = picture.pixel(x, y) else { continue };
            for (channel, want) in expected.into_iter().enumerate() {
                let got = f64::from(pixel[channel]);
                ensure!(
                    (got - want).abs() <= TOLERANCE,
                    "interior pixel ({x}, {y}) is {pixel:?} instead of {expected:.1?}"
                );
            }
            points += 1;
        }
    }
    Ok(points)
}

/// The vertices in pixels, y down.
fn corners() -> [[f64; 2]; 3] {
    VERTICES.map(|([x, y], _)| [(1.0 + x) * WIDTH as f64 / 2.0, (1.0 - y) * HEIGHT as f64 / 2.0])
}

/// Twice the area of the triangle a, b, c; its sign is the winding.
fn area(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// The colour at a pixel's centre, each channel 0 to 255.
fn colour(x: usize, y: usize) -> [f64; 3] {
    let centre = [x as f64 + 0.5, y as f64 + 0.5];
    let [a, b, c] = corners();
    let weights = [area(centre, b, c), area(a, centre, c), area(a, b, centre)].map(|part| part / area(a, b, c));
    std::array::from_fn(|channel| 255.0 * (0..3).map(|n| weights[n] * VERTICES[n].1[channel]).sum::<f64>())
}

/// Distance of a pixel's centre from the nearest edge, in pixels; negative outside.
fn distance_inside(x: usize, y: usize) -> f64 {
    let centre = [x as f64 + 0.5, y as f64 + 0.5];
    let corners = corners();
    let direction = area(corners[0], corners[1], corners[2]).signum();
    (0..3)
        .map(|n| {
            let (a, b) = (corners[n], corners[(n + 1) % 3]);
            direction * area(a, b, centre) / (b[0] - a[0]).hypot(b[1] - a[1])
        })
        .fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLEAR: [u8; 3] = [0; 3];

    fn ideal() -> Picture {
        let pixel = |n: usize| {
            let (x, y) = (n % WIDTH, n / WIDTH);
            if distance_inside(x, y) > 0.0 { colour(x, y).map(|channel| channel.round() as u8) } else { CLEAR }
        };
        Picture { width: WIDTH, height: HEIGHT, pixels: (0..WIDTH * HEIGHT).map(pixel).collect() }
    }

    #[test]
    fn the_ideal_picture_passes_and_a_wrong_pixel_does_not() {
        let mut picture = ideal();
        let (points, outside) = check(&picture, CLEAR).unwrap();
        assert_eq!(points, 105);
        // Base 748.3 px, height 648 px: the triangle covers 242,446 pixels; all others are outside.
        assert!((678_000..680_000).contains(&outside), "{outside}");
        picture.pixels[5 * WIDTH + 5] = [1, 0, 0];
        assert!(check(&picture, CLEAR).unwrap_err().to_string().contains("(5, 5) lies outside"));
    }

    #[test]
    fn an_upside_down_or_swapped_picture_does_not_pass() {
        let ideal = ideal();
        let upside_down = Picture { pixels: ideal.pixels.chunks(WIDTH).rev().flatten().copied().collect(), ..ideal };
        assert!(check(&upside_down, CLEAR).is_err());
        let mut swapped = super::tests::ideal();
        swapped.pixels.iter_mut().for_each(|pixel| pixel.swap(0, 2));
        assert!(check(&swapped, CLEAR).is_err());
    }

    #[test]
    fn the_corners_are_where_the_document_has_them() {
        // An equilateral triangle of height 648 px has sides of 748.2 px.
        let [right, left, top] = corners();
        assert!((right[0] - left[0] - 748.3).abs() < 0.1 && (left[1] - top[1] - 648.0).abs() < 1e-9);
        assert!((left[0] - top[0]).hypot(left[1] - top[1]) - (right[0] - left[0]) < 0.1);
        assert_eq!(top[0], 640.0);
    }
}
