//! Draws `walker.glb`: a hiker with a skeleton, and a step of each leg as an animation.
//!
//! `cargo run -p asset-build --example draw_figure -- kernel/assets` writes the file anew, byte for byte. The body is a distance field: round cones and
//! ellipsoids around the bones, blended where they meet. A mesh is drawn over its surface, each of whose vertices follows the bones whose bodies are near. The
//! angles of hips, knees, ankles and toes are those of a walking human; the height of the hips follows from the feet, of which one is always on the ground, and
//! so does the way that the hips travel.

use std::collections::HashMap;
use std::error::Error;
use std::f32::consts::TAU;
use std::path::PathBuf;

type Vector = [f32; 3];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("usage: draw_figure FOLDER")?);
    std::fs::write(folder.join("walker.glb"), glb()?)?;
    Ok(())
}

fn plus(a: Vector, times: f32, b: Vector) -> Vector {
    std::array::from_fn(|axis| a[axis] + times * b[axis])
}

fn dot(a: Vector, b: Vector) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn length(a: Vector) -> f32 {
    dot(a, a).sqrt()
}

/// A bone: its name, its parent, and where it begins when the arms are spread. The figure looks towards +z; x grows to its left.
struct Bone {
    name: &'static str,
    parent: usize,
    place: Vector,
}

const BONES: [Bone; 21] = [
    bone("hips", 0, [0.0, 0.96, 0.0]),
    bone("spine", 0, [0.0, 1.08, 0.0]),
    bone("chest", 1, [0.0, 1.26, -0.01]),
    bone("neck", 2, [0.0, 1.47, -0.02]),
    bone("head", 3, [0.0, 1.57, 0.0]),
    bone("left shoulder", 2, [0.04, 1.43, -0.01]),
    bone("left arm", 5, [0.18, 1.42, -0.02]),
    bone("left forearm", 6, [0.37, 1.21, -0.03]),
    bone("left hand", 7, [0.53, 1.02, 0.0]),
    bone("right shoulder", 2, [-0.04, 1.43, -0.01]),
    bone("right arm", 9, [-0.18, 1.42, -0.02]),
    bone("right forearm", 10, [-0.37, 1.21, -0.03]),
    bone("right hand", 11, [-0.53, 1.02, 0.0]),
    bone("left thigh", 0, [0.10, 0.92, 0.0]),
    bone("left shin", 13, [0.125, 0.51, 0.01]),
    bone("left foot", 14, [0.145, 0.09, -0.03]),
    bone("left toes", 15, [0.155, 0.03, 0.10]),
    bone("right thigh", 0, [-0.10, 0.92, 0.0]),
    bone("right shin", 17, [-0.125, 0.51, 0.01]),
    bone("right foot", 18, [-0.145, 0.09, -0.03]),
    bone("right toes", 19, [-0.155, 0.03, 0.10]),
];
const HEAD: usize = 4;
const CHEST: usize = 2;
/// The first bones of arms and legs, left and right.
const ARMS: [usize; 2] = [6, 10];
const LEGS: [usize; 2] = [13, 17];

const fn bone(name: &'static str, parent: usize, place: Vector) -> Bone {
    Bone { name, parent, place }
}

/// A body around a bone.
enum Body {
    /// From a point to another one, with a radius at each.
    Cone(Vector, Vector, f32, f32),
    /// A middle, and radii along the axes.
    Ellipsoid(Vector, Vector),
    /// A middle, half sides, and the radius of the edges.
    Box(Vector, Vector, f32),
}

impl Body {
    /// About the distance from its surface; negative inside.
    fn distance(&self, at: Vector) -> f32 {
        match *self {
            Self::Cone(from, to, wide, narrow) => {
                let (axis, away) = (plus(to, -1.0, from), plus(at, -1.0, from));
                let along = (dot(away, axis) / dot(axis, axis)).clamp(0.0, 1.0);
                length(plus(away, -along, axis)) - (wide + (narrow - wide) * along)
            }
            Self::Ellipsoid(middle, radii) => {
                let away = plus(at, -1.0, middle);
                let scaled = |power: i32| length(std::array::from_fn(|axis| away[axis] / radii[axis].powi(power)));
                let (once, twice) = (scaled(1), scaled(2));
                if twice > 0.0 { once * (once - 1.0) / twice } else { -radii.into_iter().fold(f32::MAX, f32::min) }
            }
            Self::Box(middle, half, edge) => {
                let beyond: Vector = std::array::from_fn(|axis| (at[axis] - middle[axis]).abs() - half[axis] + edge);
                let outside = length(beyond.map(|side| side.max(0.0)));
                outside + beyond[0].max(beyond[1]).max(beyond[2]).min(0.0) - edge
            }
        }
    }
}

/// All bodies with their bones.
fn bodies() -> Vec<(usize, Body)> {
    use Body::{Box, Cone, Ellipsoid};
    let mut bodies = vec![
        (0, Ellipsoid([0.0, 0.955, -0.005], [0.150, 0.115, 0.110])),
        (1, Ellipsoid([0.0, 1.09, 0.005], [0.128, 0.150, 0.098])),
        (CHEST, Ellipsoid([0.0, 1.29, 0.0], [0.160, 0.190, 0.115])),
        (CHEST, Cone([0.13, 1.42, -0.02], [-0.13, 1.42, -0.02], 0.062, 0.062)),
        (CHEST, Box([0.0, 1.27, -0.165], [0.125, 0.175, 0.075], 0.05)),
        (3, Cone([0.0, 1.45, -0.02], [0.0, 1.58, 0.0], 0.056, 0.052)),
        (HEAD, Ellipsoid([0.0, 1.685, 0.012], [0.080, 0.112, 0.096])),
        (HEAD, Ellipsoid([0.0, 1.625, 0.045], [0.052, 0.050, 0.055])),
        (HEAD, Ellipsoid([0.0, 1.665, 0.108], [0.014, 0.022, 0.018])),
        (HEAD, Ellipsoid([0.0, 1.735, 0.004], [0.091, 0.082, 0.104])),
    ];
    for (side, arm, leg) in [(1.0, ARMS[0], LEGS[0]), (-1.0, ARMS[1], LEGS[1])] {
        let at = |x: f32, y: f32, z: f32| [side * x, y, z];
        bodies.extend([
            (arm - 1, Ellipsoid(at(0.14, 1.405, -0.02), [0.075, 0.068, 0.066])),
            (arm, Cone(at(0.18, 1.41, -0.02), at(0.37, 1.21, -0.03), 0.062, 0.046)),
            (arm + 1, Cone(at(0.37, 1.21, -0.03), at(0.53, 1.02, 0.0), 0.045, 0.031)),
            (arm + 2, Cone(at(0.53, 1.02, 0.0), at(0.585, 0.95, 0.012), 0.030, 0.034)),
            (arm + 2, Cone(at(0.585, 0.95, 0.012), at(0.63, 0.885, 0.03), 0.032, 0.018)),
            (arm + 2, Cone(at(0.545, 0.985, 0.02), at(0.56, 0.93, 0.06), 0.016, 0.011)),
            (leg, Cone(at(0.10, 0.90, 0.0), at(0.125, 0.51, 0.01), 0.092, 0.062)),
            (leg + 1, Cone(at(0.125, 0.51, 0.01), at(0.145, 0.10, -0.025), 0.060, 0.043)),
            (leg + 1, Ellipsoid(at(0.130, 0.37, -0.025), [0.050, 0.13, 0.052])),
            (leg + 2, Cone(at(0.145, 0.09, -0.03), at(0.155, 0.038, 0.09), 0.050, 0.046)),
            (leg + 2, Ellipsoid(at(0.146, 0.045, -0.055), [0.044, 0.052, 0.050])),
            (leg + 3, Cone(at(0.155, 0.036, 0.10), at(0.160, 0.028, 0.165), 0.047, 0.036)),
        ]);
    }
    bodies
}

/// The figure as a whole: bodies that melt into each other, and flat soles.
struct Figure {
    bodies: Vec<(usize, Body)>,
}

impl Figure {
    fn distance(&self, at: Vector) -> f32 {
        const MELT: f32 = 0.028;
        let mut least = f32::MAX;
        for (_, body) in &self.bodies {
            let other = body.distance(at);
            let near = (MELT - (least - other).abs()).max(0.0) / MELT;
            least = least.min(other) - 0.25 * MELT * near * near;
        }
        least.max(-at[1])
    }

    fn normal(&self, at: Vector) -> Vector {
        let step = 0.004;
        let slope = std::array::from_fn(|axis| {
            let (mut before, mut after) = (at, at);
            (before[axis], after[axis]) = (at[axis] - step, at[axis] + step);
            self.distance(after) - self.distance(before)
        });
        plus([0.0; 3], 1.0 / length(slope).max(1e-9), slope)
    }

    /// Up to four bones and their weights, which add up to 255: those whose bodies are near.
    fn weights(&self, at: Vector) -> [(u8, u8); 4] {
        let mut near = vec![f32::MAX; BONES.len()];
        for (bone, body) in &self.bodies {
            near[*bone] = near[*bone].min(body.distance(at));
        }
        let mut all: Vec<(usize, f32)> = near.iter().map(|away| (-away.max(0.0) / 0.016).exp()).enumerate().collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        all.truncate(4);
        let sum: f32 = all.iter().map(|(_, weight)| weight).sum();
        let mut bytes: Vec<(u8, u8)> =
            all.iter().map(|(bone, weight)| (*bone as u8, (255.0 * weight / sum).round() as u8)).collect();
        let rest: u8 = bytes[1..].iter().map(|(_, weight)| weight).sum();
        bytes[0].1 = 255 - rest;
        [bytes[0], bytes[1], bytes[2], bytes[3]]
    }

    /// Triangles over the surface: a vertex in each cell of a grid that the surface passes through, and a quad around each edge of the grid that it cuts.
    fn surface(&self) -> (Vec<Vector>, Vec<[usize; 3]>) {
        const CELL: f32 = 0.022;
        const LOW: Vector = [-0.703, -0.05, -0.285];
        const CELLS: [usize; 3] = [65, 87, 27];
        let place = |at: [usize; 3]| std::array::from_fn(|axis| LOW[axis] + CELL * at[axis] as f32);
        let number = |[x, y, z]: [usize; 3]| (z * CELLS[1] + y) * CELLS[0] + x;
        let corners =
            |count: usize| (0..count).map(|n| [n % CELLS[0], n / CELLS[0] % CELLS[1], n / (CELLS[0] * CELLS[1])]);
        let all = CELLS.iter().product();
        let distances: Vec<f32> = corners(all).map(|at| self.distance(place(at))).collect();
        let step =
            |at: [usize; 3], axis: usize| -> [usize; 3] { std::array::from_fn(|k| at[k] + usize::from(k == axis)) };
        let (mut vertices, mut in_cell) = (Vec::new(), HashMap::new());
        for at in corners(all).filter(|at| (0..3).all(|axis| at[axis] + 1 < CELLS[axis])) {
            let (mut sum, mut count) = ([0.0; 3], 0.0);
            for (edge, axis) in (0..4).flat_map(|edge| (0..3).map(move |axis| (edge, axis))) {
                let mut from = at;
                for (bit, other) in [(1, (axis + 1) % 3), (2, (axis + 2) % 3)] {
                    from[other] += usize::from(edge & bit != 0);
                }
                let (a, b) = (distances[number(from)], distances[number(step(from, axis))]);
                if (a < 0.0) != (b < 0.0) {
                    let mut cut = place(from);
                    cut[axis] += CELL * a / (a - b);
                    (sum, count) = (plus(sum, 1.0, cut), count + 1.0);
                }
            }
            if count > 0.0 {
                let mut vertex = plus([0.0; 3], 1.0 / count, sum);
                for _ in 0..2 {
                    vertex = plus(vertex, -self.distance(vertex), self.normal(vertex));
                }
                in_cell.insert(at, vertices.len());
                vertices.push(vertex);
            }
        }
        let mut triangles = Vec::new();
        for at in corners(all) {
            for axis in 0..3 {
                let (one, two) = ((axis + 1) % 3, (axis + 2) % 3);
                if at[axis] + 1 >= CELLS[axis] || at[one] == 0 || at[two] == 0 {
                    continue;
                }
                let (a, b) = (distances[number(at)], distances[number(step(at, axis))]);
                if (a < 0.0) == (b < 0.0) {
                    continue;
                }
                let cell = |back_one: usize, back_two: usize| {
                    let mut cell = at;
                    (cell[one], cell[two]) = (at[one] - back_one, at[two] - back_two);
                    in_cell.get(&cell).copied()
                };
                let (Some(p), Some(q), Some(r), Some(s)) = (cell(1, 1), cell(0, 1), cell(0, 0), cell(1, 0)) else {
                    continue;
                };
                triangles.extend(if a < 0.0 { [[p, q, r], [p, r, s]] } else { [[p, r, q], [p, s, r]] });
            }
        }
        (vertices, triangles)
    }
}

/// Colours of the clothes at a place of the front or of the back, in metres: sRGB, and 0 if it is dyed cloth, which may be tinted, or 255.
fn clothes(is_front: bool, x: f32, y: f32) -> [u8; 4] {
    const AS_IT_IS: f32 = 255.0;
    const DYED: f32 = 0.0;
    let aside = x.abs();
    let weave = 6.0 * ((x * 900.0).sin() * (y * 900.0).sin());
    let is_spot = |middle: [f32; 2], radii: [f32; 2]| {
        ((aside - middle[0]) / radii[0]).powi(2) + ((y - middle[1]) / radii[1]).powi(2) < 1.0
    };
    let skin = [214.0, 164.0, 130.0, AS_IT_IS];
    let shirt = [222.0 + weave, 176.0 + weave, 82.0, DYED];
    let color = if y > 1.50 && aside < 0.13 {
        match (is_front, y) {
            (_, y) if y > 1.735 => [188.0, 62.0, 44.0, DYED],
            (_, y) if y > 1.705 => [150.0, 44.0, 34.0, DYED],
            // The hair reaches around to the front, so that the seam is within it.
            (is_front, y) if y > 1.60 && (!is_front || aside > 0.064) => [70.0, 46.0, 32.0, AS_IT_IS],
            _ if is_front && is_spot([0.031, 1.683], [0.009, 0.010]) => [34.0, 26.0, 24.0, AS_IT_IS],
            _ if is_front && is_spot([0.0, 1.628], [0.022, 0.005]) => [160.0, 90.0, 78.0, AS_IT_IS],
            _ if is_front && is_spot([0.045, 1.65], [0.018, 0.014]) => [224.0, 156.0, 126.0, AS_IT_IS],
            _ => skin,
        }
    } else if aside > 0.235 && y > 0.85 && y < 1.45 {
        // The sleeves are rolled up.
        match aside {
            aside if aside > 0.45 => skin,
            aside if aside > 0.425 => [236.0, 226.0, 204.0, AS_IT_IS],
            _ => shirt,
        }
    } else if y > 1.005 {
        let is_pack = !is_front && aside < 0.15 && y < 1.455;
        let is_pocket = aside < 0.09 && (1.12..1.27).contains(&y);
        let is_strap = is_front && (0.085..0.118).contains(&aside) && y > 1.12;
        match is_front {
            _ if is_pack && is_pocket => [62.0, 84.0, 74.0, AS_IT_IS],
            _ if is_pack => [46.0 + weave, 66.0 + weave, 58.0, AS_IT_IS],
            _ if is_strap => [50.0, 60.0, 54.0, AS_IT_IS],
            true if aside < 0.05 && y > 1.44 => skin,
            _ => shirt,
        }
    } else if y > 0.975 {
        let is_buckle = is_front && aside < 0.02;
        if is_buckle { [196.0, 170.0, 96.0, AS_IT_IS] } else { [74.0, 50.0, 36.0, AS_IT_IS] }
    } else if y > 0.135 {
        [62.0 + weave, 76.0 + weave, 108.0 + weave, AS_IT_IS]
    } else if y > 0.10 {
        [172.0, 168.0, 156.0, AS_IT_IS]
    } else if y > 0.022 {
        [128.0, 84.0, 52.0, AS_IT_IS]
    } else {
        [52.0, 46.0, 42.0, AS_IT_IS]
    };
    color.map(|channel: f32| channel.clamp(0.0, 255.0) as u8)
}

/// Size of the picture of the clothes: the front is in its left half, the back in the right one.
const CLOTHES_PX: [u32; 2] = [512, 256];
/// Width and height of a half in metres.
const CLOTHES: [f32; 2] = [1.4, 1.9];

fn texture_coordinates(is_front: bool, [x, y, _]: Vector) -> [f32; 2] {
    let half = if is_front { 0.25 } else { 0.75 };
    [half + 0.5 * x / CLOTHES[0], 1.0 - (y + 0.02) / CLOTHES[1]]
}

fn picture() -> Result<Vec<u8>, png::EncodingError> {
    let [width, height] = CLOTHES_PX;
    let texel = |n: u32| {
        let (column, row) = (n % width, n / width);
        let x = ((column % (width / 2)) as f32 + 0.5) / (width / 2) as f32 - 0.5;
        let y = 1.0 - (row as f32 + 0.5) / height as f32;
        clothes(column < width / 2, CLOTHES[0] * x, CLOTHES[1] * y - 0.02)
    };
    let texels: Vec<u8> = (0..width * height).flat_map(texel).collect();
    let mut file = Vec::new();
    let mut picture = png::Encoder::new(&mut file, width, height);
    picture.set_color(png::ColorType::Rgba);
    picture.set_compression(png::Compression::High);
    let mut writer = picture.write_header()?;
    writer.write_image_data(&texels)?;
    writer.finish()?;
    Ok(file)
}

/// Key frames of the animation, of which the last is the first again; it lasts as long as two steps.
const KEYS: usize = 33;
const SECONDS: f32 = 1.1;

/// A closed curve through these points of time, from 0 to 1, and angles in degrees.
fn curve(points: &[(f32, f32)], time: f32) -> f32 {
    let time = time.rem_euclid(1.0);
    let count = points.len() as isize;
    let point = |at: isize| {
        let (when, angle) = points[at.rem_euclid(count) as usize];
        (when + at.div_euclid(count) as f32, angle)
    };
    let after = points.iter().position(|(when, _)| *when > time).map_or(count, |at| at as isize);
    let [a, b, c, d] = [after - 2, after - 1, after, after + 1].map(point);
    let share = (time - b.0) / (c.0 - b.0);
    // A cubic curve whose slopes are those of the neighbours.
    let slope = |from: (f32, f32), to: (f32, f32)| (to.1 - from.1) / (to.0 - from.0) * (c.0 - b.0);
    let (first, last) = (slope(a, c), slope(b, d));
    let [square, cube] = [share * share, share * share * share];
    let mixed = b.1 * (2.0 * cube - 3.0 * square + 1.0) + c.1 * (3.0 * square - 2.0 * cube);
    mixed + first * (cube - 2.0 * square + share) + last * (cube - square)
}

/// Angles of a leg in degrees, at a time since its heel touched the ground: of the hip forwards, of the knee backwards, of the foot and of the toes upwards.
/// About those of C. Kirtley, "Clinical Gait Analysis".
fn leg(time: f32) -> [f32; 4] {
    let hip = [(0.0, 27.0), (0.12, 22.0), (0.3, 5.0), (0.5, -11.0), (0.6, -6.0), (0.75, 17.0), (0.88, 28.0)];
    let knee =
        [(0.0, 3.0), (0.13, 16.0), (0.28, 8.0), (0.4, 5.0), (0.5, 13.0), (0.62, 40.0), (0.73, 60.0), (0.87, 26.0)];
    let foot =
        [(0.0, 1.0), (0.07, -5.0), (0.2, 3.0), (0.42, 10.0), (0.52, 2.0), (0.62, -16.0), (0.73, -4.0), (0.87, 2.0)];
    let toes = [(0.0, 4.0), (0.1, 0.0), (0.4, 2.0), (0.55, 26.0), (0.64, 14.0), (0.75, 2.0)];
    [curve(&hip, time), curve(&knee, time), curve(&foot, time), curve(&toes, time)]
}

/// A rotation as a quaternion: about x, then z, then y, in degrees.
fn rotation([x, y, z]: Vector) -> [f32; 4] {
    let about = |axis: usize, degrees: f32| {
        let (sine, cosine) = (degrees.to_radians() / 2.0).sin_cos();
        let mut quaternion = [0.0, 0.0, 0.0, cosine];
        quaternion[axis] = sine;
        quaternion
    };
    after(about(1, y), after(about(2, z), about(0, x)))
}

/// One rotation after another.
fn after([ax, ay, az, aw]: [f32; 4], [bx, by, bz, bw]: [f32; 4]) -> [f32; 4] {
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

fn turned(by: [f32; 4], [x, y, z]: Vector) -> Vector {
    let [i, j, k, _] = after(after(by, [x, y, z, 0.0]), [-by[0], -by[1], -by[2], by[3]]);
    [i, j, k]
}

/// Rotations of all bones at a time from 0 to 1.
fn pose(time: f32) -> Vec<[f32; 4]> {
    let mut angles = vec![[0.0; 3]; BONES.len()];
    let wave = |offset: f32| (TAU * (time + offset)).cos();
    // The hips turn with the forward leg, the chest against them; the head stays.
    angles[0] = [3.0, -6.0 * wave(0.0), 2.5 * wave(0.22)];
    angles[1] = [2.0, 5.0 * wave(0.0), -2.5 * wave(0.22)];
    angles[CHEST] = [1.0, 6.0 * wave(0.0), -wave(0.22)];
    angles[HEAD] = [-5.0 + 1.0 * (2.0 * TAU * time).cos(), -5.0 * wave(0.0), 0.8 * wave(0.22)];
    for (side, arm, leg_bone, offset) in [(1.0, ARMS[0], LEGS[0], 0.0), (-1.0, ARMS[1], LEGS[1], 0.5)] {
        let [hip, knee, foot, toes] = leg(time + offset);
        angles[leg_bone] = [-hip, 0.0, -side * 2.5];
        angles[leg_bone + 1] = [knee, 0.0, 0.0];
        angles[leg_bone + 2] = [-foot, 0.0, side * 1.5];
        angles[leg_bone + 3] = [-toes, 0.0, 0.0];
        // Arms hang down, and swing with the other leg; elbows bend more when they swing forwards.
        let swing = -wave(offset + 0.02);
        angles[arm - 1] = [0.0, 0.0, -side * 4.0];
        angles[arm] = [-22.0 * swing - 2.0, 0.0, -side * 33.0];
        angles[arm + 1] = [-20.0 - 13.0 * swing, -side * 8.0, 0.0];
        angles[arm + 2] = [-6.0, 0.0, 0.0];
    }
    angles.into_iter().map(rotation).collect()
}

/// Where points of the bones are when the hips are in the origin.
fn places(rotations: &[[f32; 4]], points: &[(usize, Vector)]) -> Vec<Vector> {
    let mut bones: Vec<(Vector, [f32; 4])> = Vec::new();
    for (number, bone) in BONES.iter().enumerate() {
        bones.push(if number == 0 {
            ([0.0; 3], rotations[0])
        } else {
            let (place, turn) = bones[bone.parent];
            let offset = plus(bone.place, -1.0, BONES[bone.parent].place);
            (plus(place, 1.0, turned(turn, offset)), after(turn, rotations[number]))
        });
    }
    points
        .iter()
        .map(|(bone, at)| plus(bones[*bone].0, 1.0, turned(bones[*bone].1, plus(*at, -1.0, BONES[*bone].place))))
        .collect()
}

/// Rotations of all bones and places of the hips at each key; and the way of a whole walk cycle.
fn walk() -> (Vec<Vec<[f32; 4]>>, Vec<Vector>, f32) {
    // Heel, ball and tip of both soles.
    let soles: Vec<(usize, Vector)> = [(1.0, LEGS[0]), (-1.0, LEGS[1])]
        .into_iter()
        .flat_map(|(side, leg)| {
            [
                (leg + 2, [side * 0.146, 0.0, -0.09]),
                (leg + 2, [side * 0.155, 0.0, 0.09]),
                (leg + 3, [side * 0.16, 0.0, 0.18]),
            ]
        })
        .collect();
    let rotations: Vec<Vec<[f32; 4]>> = (0..KEYS).map(|key| pose(key as f32 / (KEYS - 1) as f32)).collect();
    let at: Vec<Vec<Vector>> = rotations.iter().map(|rotations| places(rotations, &soles)).collect();
    let lowest = |key: usize| at[key].iter().map(|place| place[1]).fold(f32::MAX, f32::min);
    // What is on the ground stays where it is, so the hips go forwards as far as it goes back: the mean of the soles' points, of which the lower ones count.
    let mut way = vec![0.0];
    for key in 1..KEYS {
        let (mut sum, mut weights) = (0.0, 0.0);
        for (before, after) in at[key - 1].iter().zip(&at[key]) {
            let height = 0.5 * (before[1] + after[1]) - 0.5 * (lowest(key - 1) + lowest(key));
            let weight = (-height / 0.004).exp();
            (sum, weights) = (sum + weight * (before[2] - after[2]), weights + weight);
        }
        way.push(way[key - 1] + sum / weights);
    }
    let stride = way[KEYS - 1];
    let hips = (0..KEYS)
        .map(|key| {
            let time = key as f32 / (KEYS - 1) as f32;
            // The weight is over the leg that stands.
            [0.018 * (TAU * (time - 0.3)).cos(), -lowest(key), way[key] - stride * time]
        })
        .collect();
    (rotations, hips, stride)
}

/// Parts of the file's binary chunk, and their description.
#[derive(Default)]
struct Chunk {
    bytes: Vec<u8>,
    views: Vec<String>,
    accessors: Vec<String>,
}

impl Chunk {
    fn view(&mut self, bytes: &[u8]) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let (offset, length) = (self.bytes.len(), bytes.len());
        self.views.push(format!(r#"{{"buffer":0,"byteOffset":{offset},"byteLength":{length}}}"#));
        self.bytes.extend(bytes);
        self.views.len() - 1
    }

    /// An accessor of `count` elements, with a component type of glTF.
    fn accessor(&mut self, bytes: &[u8], component: u32, kind: &str, count: usize, more: &str) -> usize {
        let view = self.view(bytes);
        self.accessors.push(format!(
            r#"{{"bufferView":{view},"componentType":{component},"count":{count},"type":"{kind}"{more}}}"#
        ));
        self.accessors.len() - 1
    }

    fn floats<const N: usize>(&mut self, values: &[[f32; N]], kind: &str, bounded: bool) -> usize {
        let bound = |start: f32, pick: fn(f32, f32) -> f32| {
            let of = |axis: usize| values.iter().map(|value| value[axis]).fold(start, pick).to_string();
            (0..N).map(of).collect::<Vec<_>>().join(",")
        };
        let more = if bounded {
            format!(r#","min":[{}],"max":[{}]"#, bound(f32::MAX, f32::min), bound(f32::MIN, f32::max))
        } else {
            String::new()
        };
        let bytes: Vec<u8> = values.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
        self.accessor(&bytes, 5126, kind, values.len(), &more)
    }
}

/// The whole file.
fn glb() -> Result<Vec<u8>, Box<dyn Error>> {
    let figure = Figure { bodies: bodies() };
    let (places, triangles) = figure.surface();
    // A vertex on the seam between front and back is there twice, with different texture coordinates.
    let (mut known, mut vertices, mut indices) = (HashMap::new(), Vec::new(), Vec::new());
    for triangle in triangles {
        let middle = triangle.iter().fold([0.0; 3], |sum, &corner| plus(sum, 1.0 / 3.0, places[corner]));
        let is_front = middle[2] > if middle[1] > 1.5 { 0.0 } else { -0.02 };
        for corner in triangle {
            let next = vertices.len();
            let index = *known.entry((corner, is_front)).or_insert(next);
            if index == next {
                vertices.push((places[corner], is_front));
            }
            indices.push(u16::try_from(index)?);
        }
    }
    let mut chunk = Chunk::default();
    let positions: Vec<Vector> = vertices.iter().map(|(at, _)| *at).collect();
    let normals: Vec<Vector> = positions.iter().map(|at| figure.normal(*at)).collect();
    let coordinates: Vec<[f32; 2]> =
        vertices.iter().map(|(at, is_front)| texture_coordinates(*is_front, *at)).collect();
    let weights: Vec<[(u8, u8); 4]> = positions.iter().map(|at| figure.weights(*at)).collect();
    let of = |pick: fn(&(u8, u8)) -> u8| weights.iter().flatten().map(pick).collect::<Vec<u8>>();
    let position = chunk.floats(&positions, "VEC3", true);
    let normal = chunk.floats(&normals, "VEC3", false);
    let coordinate = chunk.floats(&coordinates, "VEC2", false);
    let joints = chunk.accessor(&of(|pair| pair.0), 5121, "VEC4", weights.len(), "");
    let weight = chunk.accessor(&of(|pair| pair.1), 5121, "VEC4", weights.len(), r#","normalized":true"#);
    let index_bytes: Vec<u8> = indices.iter().flat_map(|index: &u16| index.to_le_bytes()).collect();
    let index = chunk.accessor(&index_bytes, 5123, "SCALAR", indices.len(), "");
    let inverse: Vec<[f32; 16]> = BONES
        .iter()
        .map(|bone| {
            let [x, y, z] = bone.place.map(|at| -at);
            [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, x, y, z, 1.0]
        })
        .collect();
    let inverse = chunk.floats(&inverse, "MAT4", false);

    let (rotations, hips, stride) = walk();
    let times: Vec<[f32; 1]> = (0..KEYS).map(|key| [SECONDS * key as f32 / (KEYS - 1) as f32]).collect();
    let time = chunk.floats(&times, "SCALAR", true);
    let (mut samplers, mut channels) = (Vec::new(), Vec::new());
    let mut channel = |chunk_output: usize, bone: usize, path: &str| {
        channels.push(format!(r#"{{"sampler":{},"target":{{"node":{bone},"path":"{path}"}}}}"#, samplers.len()));
        samplers.push(format!(r#"{{"input":{time},"output":{chunk_output},"interpolation":"LINEAR"}}"#));
    };
    let output = chunk.floats(&hips, "VEC3", false);
    channel(output, 0, "translation");
    for bone in 0..BONES.len() {
        let turns: Vec<[f32; 4]> = rotations.iter().map(|rotations| rotations[bone]).collect();
        let output = chunk.floats(&turns, "VEC4", false);
        channel(output, bone, "rotation");
    }
    let image = chunk.view(&picture()?);

    let list = |items: &[String]| format!("[{}]", items.join(","));
    let nodes: Vec<String> = BONES
        .iter()
        .enumerate()
        .map(|(number, bone)| {
            let origin = if number == 0 { [0.0; 3] } else { BONES[bone.parent].place };
            let [x, y, z] = plus(bone.place, -1.0, origin);
            let children: Vec<String> = (1..BONES.len())
                .filter(|&child| BONES[child].parent == number)
                .map(|child| child.to_string())
                .collect();
            let children =
                if children.is_empty() { String::new() } else { format!(r#","children":{}"#, list(&children)) };
            format!(r#"{{"name":"{}","translation":[{x},{y},{z}]{children}}}"#, bone.name)
        })
        .chain([format!(r#"{{"name":"walker","mesh":0,"skin":0,"extras":{{"stride_m":{stride}}}}}"#)])
        .collect();
    let all: Vec<String> = (0..BONES.len()).map(|bone| bone.to_string()).collect();
    let attributes = format!(
        r#"{{"POSITION":{position},"NORMAL":{normal},"TEXCOORD_0":{coordinate},"JOINTS_0":{joints},"WEIGHTS_0":{weight}}}"#
    );
    let json = [
        r#"{"asset":{"version":"2.0"},"scene":0"#.to_owned(),
        format!(r#""scenes":[{{"nodes":[0,{}]}}],"nodes":{}"#, BONES.len(), list(&nodes)),
        format!(r#""meshes":[{{"primitives":[{{"attributes":{attributes},"indices":{index},"material":0}}]}}]"#),
        format!(r#""skins":[{{"inverseBindMatrices":{inverse},"joints":{}}}]"#, list(&all)),
        format!(r#""animations":[{{"name":"walk","samplers":{},"channels":{}}}]"#, list(&samplers), list(&channels)),
        r#""materials":[{"name":"clothes","pbrMetallicRoughness":{"baseColorTexture":{"index":0},"metallicFactor":0,"roughnessFactor":0.9}}]"#.to_owned(),
        format!(r#""textures":[{{"source":0}}],"images":[{{"bufferView":{image},"mimeType":"image/png"}}]"#),
        format!(r#""accessors":{},"bufferViews":{}"#, list(&chunk.accessors), list(&chunk.views)),
        format!(r#""buffers":[{{"byteLength":{}}}]}}"#, chunk.bytes.len().next_multiple_of(4)),
    ];
    let mut json = json.join(",").into_bytes();
    json.resize(json.len().next_multiple_of(4), b' ');
    chunk.bytes.resize(chunk.bytes.len().next_multiple_of(4), 0);
    let total = 12 + 8 + json.len() + 8 + chunk.bytes.len();
    let mut file = Vec::new();
    for word in [0x4654_6c67, 2, total as u32, json.len() as u32, 0x4e4f_534a] {
        file.extend(u32::to_le_bytes(word));
    }
    file.extend(json);
    for word in [chunk.bytes.len() as u32, 0x004e_4942] {
        file.extend(u32::to_le_bytes(word));
    }
    file.extend(chunk.bytes);
    println!("{} vertices, {} triangles, a stride of {stride} m", vertices.len(), indices.len() / 3);
    Ok(file)
}
