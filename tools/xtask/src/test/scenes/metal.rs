//! Vessels that reflect a room: two balls and the background, by the room's formula, in double precision.

use super::rays::Eye;
use super::vector::{Vector, direction, dot, sum, turned};
use super::{HEIGHT, WIDTH, is_near};
use crate::picture::Picture;
use anyhow::{Result, ensure};

/// A ball on the slab.
struct Ball {
    middle: Vector,
    radius: f64,
    color: Vector,
    metallic: f64,
    roughness: f64,
}

const GOLD: Ball =
    Ball { middle: [0.3, 0.34, 0.85], radius: 0.34, color: [1.0, 0.74, 0.30], metallic: 1.0, roughness: 0.02 };
const TERRACOTTA: Ball =
    Ball { middle: [-0.45, 0.24, 0.95], radius: 0.24, color: [0.55, 0.20, 0.10], metallic: 0.0, roughness: 0.9 };
/// Pot, vase, bowl and both balls as spheres, which keep light from what is near them: their middles and radii.
const SPHERES: [(Vector, f64); 5] = [
    ([-0.15, 0.66, -0.55], 0.68),
    ([-1.25, 0.5, 0.0], 0.48),
    ([1.05, 0.42, 0.15], 0.42),
    (GOLD.middle, GOLD.radius),
    (TERRACOTTA.middle, TERRACOTTA.radius),
];
/// Where they touch the slab: x and z, and the radius.
const FEET: [Vector; 5] =
    [[-0.15, -0.55, 0.45], [-1.25, 0.0, 0.29], [1.05, 0.15, 0.27], [0.3, 0.85, 0.06], [-0.45, 0.95, 0.05]];
/// Greatest difference, of 255: the balls are polygons, and the cube map has texels.
const TOLERANCE: f64 = 9.0;
/// Radius within which directions must have the same light, as a fraction of a face of the cube map.
const AROUND: f64 = 0.09;
/// Texels across a face in the sum over all directions.
const FACE: i32 = 24;
/// Scale of the room's light, and the tone mapping's constant.
const BRIGHT: f64 = 2.5;
const HALF_POWER: f64 = 0.7;

/// The light from a direction.
fn room(to: Vector) -> Vector {
    let [x, y, z] = direction(to);
    if y < -0.2 {
        return [0.13, 0.085, 0.05].map(|channel| channel * (1.3 + y));
    }
    let (across, up) = (x / z.abs().max(1e-3), y / z.abs().max(1e-3));
    let pane = |at: f64| at - at.floor() > 0.1;
    if across.abs() < 1.3 && -0.1 < up && up < 1.25 && pane(2.4 * across) && pane(2.0 * up) {
        return [0.72, 0.86, 1.0];
    }
    if y > 0.75 && x.abs() < 0.25 {
        return [1.0, 0.97, 0.9];
    }
    if x > 0.55 && 0.25 < y && y < 0.6 && -0.5 < z && z < 0.35 {
        return [1.0, 0.62, 0.3];
    }
    let wall = sum([0.10, 0.09, 0.11], y.max(0.0), [0.12, 0.11, 0.09]);
    sum(wall, x + 1.0, [0.05, 0.02, 0.0])
}

/// The light from a direction, if it is uniform around it.
fn even(to: Vector) -> Option<Vector> {
    let here = room(to);
    let step = |n: u32| AROUND * (f64::from(n % 7) / 3.0 - 1.0);
    let around = (0..343).map(|n| [step(n), step(n / 7), step(n / 49)]);
    let near = |light: Vector| [0, 1, 2].iter().all(|&n| (light[n] - here[n]).abs() < 0.03);
    around.map(|step| room(sum(direction(to), 1.0, step))).all(near).then_some(here)
}

/// The mean of all light, weighted by a power of the cosine of its angle to a direction.
fn mean(to: Vector, power: i32) -> Vector {
    let (mut light, mut shares) = ([0.0; 3], 0.0);
    for (face, i, j) in (0..6).flat_map(|face| (0..FACE).flat_map(move |i| (0..FACE).map(move |j| (face, i, j)))) {
        let [s, t] = [i, j].map(|at| f64::from(2 * at + 1) / f64::from(FACE) - 1.0);
        let side = if face % 2 == 0 { 1.0 } else { -1.0 };
        let mut from = [s, t, side];
        from.rotate_right(face / 2);
        let share = dot(direction(from), to).max(0.0).powi(power) / dot(from, from).powf(1.5);
        light = sum(light, share, room(from));
        shares += share;
    }
    light.map(|channel| channel / shares)
}

/// The part of the light from around that reaches a place: a sphere hides the square of its radius over that of its distance, times the cosine of its
/// direction.
fn reached(place: Vector, normal: Vector) -> f64 {
    let hidden = |(middle, radius): (Vector, f64)| {
        let to = sum(middle, -1.0, place);
        (dot(normal, direction(to)) * radius * radius / dot(to, to)).clamp(0.0, 1.0)
    };
    SPHERES.into_iter().map(|sphere| 1.0 - hidden(sphere)).product()
}

/// The part of it that is left beside the feet of vessels.
fn beside_feet([x, y, z]: Vector) -> f64 {
    let left = |[middle_x, middle_z, radius]: Vector| {
        let away = ((x - middle_x).hypot(z - middle_z) - radius).max(0.0) + y.max(0.0);
        1.0 - 0.7 * (-11.0 * away).exp2()
    };
    FEET.into_iter().map(left).product()
}

impl Ball {
    /// The colour in a direction from an eye, 0 to 1; `None` beside the ball, at its rim, and where the room is not uniform.
    fn color(&self, eye: Vector, ray: Vector) -> Option<Vector> {
        let to_middle = sum(self.middle, -1.0, eye);
        let along = dot(to_middle, ray);
        let beside = dot(to_middle, to_middle) - along * along;
        let depth = self.radius * self.radius - beside;
        if depth < 0.35 * self.radius * self.radius {
            return None;
        }
        let place = sum(eye, along - depth.sqrt(), ray);
        let normal = direction(sum(place, -1.0, self.middle));
        let facing = -dot(normal, ray);
        let back = sum(ray, 2.0 * facing, normal);
        // A rough surface's level of detail is between the last two.
        let mirrored = if self.roughness < 0.1 {
            even(back)?
        } else {
            let (sharp, blurred) = (mean(back, 16), mean(back, 1));
            let share = 4.0 * self.roughness - 3.0;
            sum(sharp, share, sum(blurred, -1.0, sharp))
        };
        let straight = self.color.map(|channel| 0.04 + (channel - 0.04) * self.metallic);
        let [a, b, c, d] = [(-1.0, 1.0), (-0.0275, 0.0425), (-0.572, 1.04), (0.022, -0.04)]
            .map(|(rough, smooth)| self.roughness * rough + smooth);
        let rim = (a * a).min((-9.28 * facing).exp2()) * a + b;
        let scattered = mean(normal, 1);
        let reached = reached(place, normal) * beside_feet(place);
        Some([0, 1, 2].map(|n| {
            let share = straight[n] * (-1.04 * rim + c) + 1.04 * rim + d;
            let matte = (1.0 - self.metallic) * self.color[n] * scattered[n];
            let light = BRIGHT * reached * (share * mirrored[n] + matte);
            (light / (HALF_POWER + light)).sqrt()
        }))
    }
}

/// Compares the wall in the background and both balls.
pub(super) fn check(picture: &Picture) -> Result<String> {
    let place = turned([0.0, 1.75, 4.9], 0.35);
    let eye = Eye::new(place, [0.0, 0.8, 0.0]);
    let (mut counts, mut wrong) = ([0; 3], Vec::new());
    for (y, x) in (0..HEIGHT).step_by(4).flat_map(|y| (0..WIDTH).step_by(4).map(move |x| (y, x))) {
        let ray = eye.ray(x as f64 + 0.5, y as f64 + 0.5);
        let is_beside = y < HEIGHT * 3 / 5 && !(WIDTH / 6..WIDTH * 5 / 6).contains(&x);
        let wall = || is_beside.then(|| even(ray)).flatten().map(|light| light.map(f64::sqrt));
        let gold = GOLD.color(place, ray).map(|color| (0, color));
        let terracotta = || TERRACOTTA.color(place, ray).map(|color| (1, color));
        let Some((which, color)) = gold.or_else(terracotta).or_else(|| wall().map(|color| (2, color))) else {
            continue;
        };
        counts[which] += 1;
        let expected = color.map(|channel| 255.0 * channel.clamp(0.0, 1.0));
        let found = picture.pixel(x, y).unwrap_or_default();
        if !is_near(found, expected, TOLERANCE) {
            wrong.push((x, y, found, expected));
        }
    }
    let compared: usize = counts.iter().sum();
    ensure!(counts.iter().all(|&count| count > 60), "only {counts:?} pixels can be compared");
    ensure!(
        50 * wrong.len() <= compared,
        "{} of {counts:?} pixels differ, among them {:?}",
        wrong.len(),
        &wrong[..wrong.len().min(4)]
    );
    Ok(format!("{counts:?} pixels of gold, clay and the room, but for {}", wrong.len()))
}
