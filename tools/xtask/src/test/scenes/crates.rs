//! Crates on a tiled floor, and in front of a mirror, computed by ray tracing.
//!
//! A ray through the centre of a pixel ends at the first surface; the mirror reflects it. A pixel is compared only if the rays through its neighbours end on
//! the same tile or the same side of a crate, so that neither edges nor filters matter.

use super::vector::{Vector, cross, direction, dot, sum, turned};
use super::{HEIGHT, WIDTH, is_near};
use crate::picture::Picture;
use crate::workspace::Workspace;
use anyhow::{Result, ensure};

const SKY: Vector = [150.0, 178.0, 205.0];
const DARKER_SKY: Vector = [118.0, 142.0, 166.0];
const TO_LIGHT: Vector = [0.3, 0.55, 0.4];
const AMBIENT: f64 = 0.42;
/// Centres of the crates, and their rotations. Sides have length 1.
const CRATES: [(Vector, f64); 4] =
    [([-0.6, 0.5, 0.0], 0.15), ([0.65, 0.5, 0.25], -0.3), ([0.05, 1.5, 0.1], 0.6), ([-0.2, 0.5, -1.6], 0.9)];
/// Half the length of the floor.
const FLOOR: f64 = 40.0;
/// Width of a tile.
const TILE: f64 = 1.0;
/// Width of the joints, as a fraction of a tile.
const JOINT: f64 = 2.0 / 64.0;
/// The mirror: its plane, its glass from left to right and from bottom to top, the frame's width, how far the frame is behind, and its colour.
const PLANE: f64 = -2.4;
const GLASS: [f64; 4] = [-2.9, 0.14, 2.9, 3.1];
const FRAME: f64 = 0.14;
const FRAME_BEHIND: f64 = 0.02;
const FRAME_COLOR: Vector = [61.0, 38.0, 20.0];

/// Distance in pixels between compared pixels.
const STEP: usize = 6;
/// Distance in pixels within which rays must end on the same surface.
const AROUND_PX: f64 = 2.5;
/// Greatest difference, of 255, where the colour is uniform.
const EVEN: f64 = 3.0;
/// Mean difference on the sides of crates, whose texture is filtered.
const MEAN_ON_CRATES: f64 = 9.0;

/// A surface on which a ray ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Thing {
    Sky,
    Frame,
    /// A tile, by its position in the grid.
    Tile(i64, i64),
    Joint,
    /// A side of a crate.
    Crate(usize, usize),
}

/// The end of a ray.
#[derive(Clone, Copy, Debug)]
struct Hit {
    thing: Thing,
    is_mirrored: bool,
    color: Vector,
    /// The point on the floor in units of tiles, if the ray ends there.
    on_floor: [f64; 2],
}

/// The scene, with or without the mirror, and the eye.
struct World {
    crate_side: Picture,
    has_mirror: bool,
    eye: Vector,
    /// Right, up, forward; right and up are scaled to the edges of the picture.
    axes: [Vector; 3],
}

impl World {
    fn new(workspace: &Workspace, has_mirror: bool, eye: Vector, looked_at: Vector) -> Result<Self> {
        let crate_side = Picture::read_png(&workspace.root.join("kernel/assets/crate.png"))?;
        let forward = direction(sum(looked_at, -1.0, eye));
        let right = direction(cross(forward, [0.0, 1.0, 0.0]));
        let up = cross(right, forward);
        // The vertical field of view is 45 degrees.
        let half = (std::f64::consts::FRAC_PI_4 / 2.0).tan();
        let wide = half * WIDTH as f64 / HEIGHT as f64;
        let axes = [sum([0.0; 3], wide, right), sum([0.0; 3], half, up), forward];
        Ok(Self { crate_side, has_mirror, eye, axes })
    }

    /// The end of the ray through a point of the picture, in pixels from its top left corner.
    fn look(&self, x: f64, y: f64) -> Hit {
        let [right, up, forward] = self.axes;
        let ray = sum(sum(forward, 2.0 * x / WIDTH as f64 - 1.0, right), 1.0 - 2.0 * y / HEIGHT as f64, up);
        let (distance, hit) = self.first(self.eye, ray, false);
        if !self.has_mirror {
            return hit;
        }
        let to_plane = |z: f64| (z - self.eye[2]) / ray[2];
        let within = |at: Vector, margin: f64| {
            let [left, bottom, right, top] = GLASS;
            (left - margin..right + margin).contains(&at[0]) && (bottom - margin..top + margin).contains(&at[1])
        };
        let glass = to_plane(PLANE);
        let place = sum(self.eye, glass, ray);
        if glass > 0.0 && glass < distance && within(place, 0.0) {
            return self.first(place, [ray[0], ray[1], -ray[2]], true).1;
        }
        let frame = to_plane(PLANE - FRAME_BEHIND);
        if frame > 0.0 && frame < distance && within(sum(self.eye, frame, ray), FRAME) {
            return Hit { thing: Thing::Frame, is_mirrored: false, color: FRAME_COLOR, on_floor: [0.0; 2] };
        }
        hit
    }

    /// The nearest surface on a ray, and its distance.
    fn first(&self, from: Vector, ray: Vector, is_mirrored: bool) -> (f64, Hit) {
        let sky = if is_mirrored { DARKER_SKY } else { SKY };
        let mut nearest = (f64::INFINITY, Hit { thing: Thing::Sky, is_mirrored, color: sky, on_floor: [0.0; 2] });
        let down = -from[1] / ray[1];
        let on_floor = sum(from, down, ray);
        if down > 1e-9 && on_floor[0].abs() < FLOOR && on_floor[2].abs() < FLOOR {
            let on_floor = [on_floor[0], on_floor[2]].map(|place| (place + FLOOR) / TILE);
            let (thing, color) = floor(on_floor);
            nearest = (down, Hit { thing, is_mirrored, color: lit(color, [0.0, 1.0, 0.0]), on_floor });
        }
        for (number, (middle, angle)) in CRATES.into_iter().enumerate() {
            let origin = turned(sum(from, -1.0, middle), -angle);
            let local = turned(ray, -angle);
            if let Some((distance, side)) = box_side(origin, local)
                && distance < nearest.0
            {
                let color = self.side_color(side, sum(origin, distance, local));
                let normal = turned(normal(side), angle);
                let thing = Thing::Crate(number, side);
                nearest = (distance, Hit { thing, is_mirrored, color: lit(color, normal), on_floor: [0.0; 2] });
            }
        }
        nearest
    }

    /// The texture's colour at a point of a crate's side.
    fn side_color(&self, side: usize, place: Vector) -> Vector {
        let normal = normal(side);
        let up = if normal[1] == 0.0 { [0.0, 1.0, 0.0] } else { [0.0, 0.0, -normal[1]] };
        let right = cross(up, normal);
        let texel = |coordinate: f64, size: usize| ((coordinate * size as f64) as usize).min(size - 1);
        let x = texel(0.5 + dot(place, right), self.crate_side.width);
        let y = texel(0.5 - dot(place, up), self.crate_side.height);
        self.crate_side.pixel(x, y).unwrap_or_default().map(f64::from)
    }
}

/// The normal of a box's side: two for each axis.
fn normal(side: usize) -> Vector {
    let mut normal = [0.0; 3];
    normal[side / 2] = if side.is_multiple_of(2) { 1.0 } else { -1.0 };
    normal
}

/// The point where a ray enters a box of side 1 around the origin, and through which side.
fn box_side(origin: Vector, ray: Vector) -> Option<(f64, usize)> {
    let (mut enter, mut leave, mut side) = (f64::NEG_INFINITY, f64::INFINITY, 0);
    for axis in 0..3 {
        let [low, high] = [-0.5, 0.5].map(|plane: f64| (plane - origin[axis]) / ray[axis]);
        if low.min(high) > enter {
            (enter, side) = (low.min(high), 2 * axis + usize::from(low < high));
        }
        leave = leave.min(low.max(high));
    }
    (enter < leave && enter > 0.0).then_some((enter, side))
}

/// The tile and the colour at a point of the floor, in units of tiles.
fn floor([across, along]: [f64; 2]) -> (Thing, Vector) {
    if across.fract() < JOINT || along.fract() < JOINT {
        return (Thing::Joint, [60.0, 62.0, 66.0]);
    }
    let is_dark = (across as i64 % 2) != (along as i64 % 2);
    let color = if is_dark { [96.0, 104.0, 116.0] } else { [205.0, 204.0, 196.0] };
    (Thing::Tile(across as i64, along as i64), color)
}

/// Whether a pixel of the floor is far from other tiles: filters extend in all directions by the length of a pixel's footprint.
fn is_far_from_joints(hit: &Hit, beside: &[Hit]) -> bool {
    let apart = |other: &Hit| (0..2).map(|n| (other.on_floor[n] - hit.on_floor[n]).abs()).fold(0.0, f64::max);
    let long = beside.iter().map(apart).fold(0.0, f64::max);
    let margin = hit.on_floor.map(|place| (place.fract() - JOINT).min(1.0 - place.fract()));
    margin[0].min(margin[1]) > long
}

/// A lit colour.
fn lit(color: Vector, normal: Vector) -> Vector {
    let light = (AMBIENT + dot(normal, TO_LIGHT).max(0.0)).min(1.0);
    color.map(|channel| channel * light)
}

/// Number of compared pixels.
#[derive(Debug, Default)]
struct Compared {
    even: usize,
    mirrored: usize,
    on_crates: usize,
    difference: f64,
}

fn compare(world: &World, picture: &Picture) -> Result<Compared> {
    let mut compared = Compared::default();
    for y in (STEP..HEIGHT - STEP).step_by(STEP) {
        for x in (STEP..WIDTH - STEP).step_by(STEP) {
            let (at_x, at_y) = (x as f64 + 0.5, y as f64 + 0.5);
            let hit = world.look(at_x, at_y);
            let beside: [Hit; 9] = std::array::from_fn(|n| {
                let (right, down) = ((n % 3) as f64 - 1.0, (n / 3) as f64 - 1.0);
                world.look(at_x + AROUND_PX * right, at_y + AROUND_PX * down)
            });
            let alike = beside.iter().all(|other| (other.thing, other.is_mirrored) == (hit.thing, hit.is_mirrored))
                && (!matches!(hit.thing, Thing::Tile(..)) || is_far_from_joints(&hit, &beside));
            let Some(pixel) = picture.pixel(x, y).filter(|_| alike && hit.thing != Thing::Joint) else { continue };
            compared.mirrored += usize::from(hit.is_mirrored);
            if matches!(hit.thing, Thing::Crate(..)) {
                compared.on_crates += 1;
                compared.difference +=
                    pixel.iter().zip(hit.color).map(|(&is, color)| (f64::from(is) - color).abs()).sum::<f64>() / 3.0;
            } else {
                compared.even += 1;
                ensure!(is_near(pixel, hit.color, EVEN), "pixel ({x}, {y}) is {pixel:?}, and a ray meets {hit:.1?}");
            }
        }
    }
    let mean = compared.difference / compared.on_crates.max(1) as f64;
    ensure!(mean <= MEAN_ON_CRATES, "crates differ by {mean:.1} of 255 from their texture in the light");
    compared.difference = mean;
    Ok(compared)
}

/// The scene `textured-cube`.
pub(super) fn check_crates(workspace: &Workspace, picture: &Picture) -> Result<String> {
    let world = World::new(workspace, false, [1.2, 2.1, 4.3], [0.0, 0.8, 0.0])?;
    let Compared { even, on_crates, difference, .. } = compare(&world, picture)?;
    ensure!(
        even > 9000 && on_crates > 2000,
        "only {even} pixels of sky and tiles and {on_crates} of crates were compared"
    );
    Ok(format!("{even} rays end on tiles and sky as drawn, {on_crates} on crates, which differ by {difference:.1}/255"))
}

/// The scene `mirror`.
pub(super) fn check_mirror(workspace: &Workspace, picture: &Picture) -> Result<String> {
    let eye = turned([0.0, 2.4, 5.6], 0.75 * 0.9_f64.sin());
    let world = World::new(workspace, true, eye, [0.0, 1.05, -1.2])?;
    let Compared { even, mirrored, on_crates, difference } = compare(&world, picture)?;
    ensure!(
        even > 7000 && mirrored > 2000 && on_crates > 1500,
        "only {even} pixels of even colour, {on_crates} of crates and {mirrored} mirrored ones were compared"
    );
    Ok(format!(
        "{even} rays end on even colours as drawn, {on_crates} on crates ({difference:.1}/255); {mirrored} by the mirror"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rays_meet_boxes_where_they_should() {
        assert_eq!(box_side([0.0, 0.0, 3.0], [0.0, 0.0, -1.0]), Some((2.5, 4)));
        assert_eq!(box_side([-3.0, 0.2, 0.0], [1.0, 0.0, 0.0]), Some((2.5, 1)));
        assert_eq!(box_side([0.0, 0.6, 3.0], [0.0, 0.0, -1.0]), None);
        assert_eq!(box_side([0.0, 0.0, 3.0], [0.0, 0.0, 1.0]), None);
    }
}
