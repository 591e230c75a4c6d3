//! Pictures of trees, painted leaf by leaf

use alloc::{vec, vec::Vec};
use core::f32::consts::TAU;

use renderer::glam::{Vec2, Vec3};

use super::noise::random;

/// Width and height of a picture.
pub const SIZE: u32 = 128;

/// Leaves or twigs of a tree.
const LEAVES: u32 = 900;

/// A kind of tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A broad crown.
    Oak,
    /// A cone of branches that hang down.
    Spruce,
}

/// A picture of a tree as RGBA texels: the trunk stands in the middle of the lower edge. Where alpha is 0, the colour is that of leaves, so that filters do not
/// mix another one in.
#[must_use]
pub fn tree(kind: Kind) -> Vec<u8> {
    let (shade, bright) = match kind {
        Kind::Oak => (Vec3::new(62.0, 78.0, 30.0), Vec3::new(150.0, 158.0, 66.0)),
        Kind::Spruce => (Vec3::new(38.0, 62.0, 44.0), Vec3::new(96.0, 126.0, 78.0)),
    };
    let bark = Vec3::new(92.0, 74.0, 58.0);
    let background = shade.lerp(bright, 0.3);
    let mut picture = vec![(background, 0.0); (SIZE * SIZE) as usize];
    // Coordinates are 0 to 1, upwards.
    let trunk = if kind == Kind::Oak { 0.5 } else { 0.9 };
    for step in 0..64u8 {
        let up = trunk * f32::from(step) / 64.0;
        let wide = 0.032 * (1.0 - 0.8 * up / trunk);
        disc(&mut picture, Vec2::new(0.5 + 0.008 * Vec2::from_angle(9.0 * up).y, up), Vec2::splat(wide), bark);
    }
    for leaf in 0..LEAVES {
        let [a, b, c, d] = [0, 1, 2, 3].map(|n| random(4 * leaf + n + 77_777 * (kind as u32)));
        // Later leaves are nearer, and catch more light.
        let depth = leaf as f32 / LEAVES as f32;
        let (place, size) = match kind {
            Kind::Oak => {
                // Clumps of leaves around a crown of three balls.
                let (middle, radius) = [
                    (Vec2::new(0.5, 0.66), Vec2::new(0.36, 0.29)),
                    (Vec2::new(0.30, 0.52), Vec2::new(0.24, 0.19)),
                    (Vec2::new(0.70, 0.54), Vec2::new(0.24, 0.20)),
                ][(d * 3.0) as usize % 3];
                (middle + radius * a.max(b) * Vec2::from_angle(c * TAU), Vec2::splat(0.013 + 0.017 * b))
            }
            Kind::Spruce => {
                // Branches in whorls, whose ends hang down.
                let up = 0.10 + 0.85 * (1.0 - (a * 0.5 + 0.5 * a * a));
                let whorl = Vec2::splat(up * 9.0 + 0.3 * d).fract().x;
                let reach = 0.36 * (1.02 - up) * (0.62 + 0.38 * whorl);
                let aside = reach * (2.0 * b - 1.0);
                (Vec2::new(0.5 + aside, up - 0.35 * aside.abs()), Vec2::new(0.012 + 0.02 * c, 0.009 + 0.012 * c))
            }
        };
        let light = 0.25 + 0.45 * depth + 0.35 * (place.y - 0.5) + 0.3 * (c - 0.5);
        disc(&mut picture, place, size, shade.lerp(bright, light.clamp(0.0, 1.0)));
    }
    let texel = |(color, alpha): &(Vec3, f32)| color.extend(255.0 * alpha).to_array().map(|channel| channel as u8);
    picture.iter().flat_map(texel).collect()
}

/// Paints an ellipse over the picture, with smooth edges.
fn disc(picture: &mut [(Vec3, f32)], middle: Vec2, radius: Vec2, color: Vec3) {
    let side = SIZE as f32;
    let (low, high) = (side * (middle - radius) - 1.0, side * (middle + radius) + 1.0);
    let range = |low: f32, high: f32| low.clamp(0.0, side) as u32..high.clamp(0.0, side) as u32;
    for y in range(low.y, high.y) {
        for x in range(low.x, high.x) {
            let from = ((Vec2::new(x as f32, y as f32) + 0.5) / side - middle) / radius;
            let cover = ((1.0 - from.length()) * side * radius.min_element() + 0.5).clamp(0.0, 1.0);
            let row = SIZE - 1 - y;
            if let Some((below, alpha)) = picture.get_mut((row * SIZE + x) as usize) {
                *below = below.lerp(color, cover);
                *alpha += (1.0 - *alpha) * cover;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_stands_in_the_middle_and_is_clear_around() {
        for kind in [Kind::Oak, Kind::Spruce] {
            let picture = tree(kind);
            assert_eq!(picture.len(), (4 * SIZE * SIZE) as usize);
            let alpha = |x: u32, y: u32| picture[(4 * (y * SIZE + x) + 3) as usize];
            let edge = (0..SIZE).flat_map(|n| [alpha(0, n), alpha(SIZE - 1, n), alpha(n, 0)]);
            assert_eq!(edge.max(), Some(0), "{kind:?}");
            assert_eq!((alpha(SIZE / 2, SIZE - 1), alpha(SIZE / 2, SIZE / 2)), (255, 255), "{kind:?}");
            let all = (0..SIZE * SIZE).map(|n| u32::from(alpha(n % SIZE, n / SIZE))).sum::<u32>();
            let share = all as f32 / 255.0 / (SIZE * SIZE) as f32;
            assert!((0.15..0.6).contains(&share), "{kind:?} covers {share}");
        }
    }
}
