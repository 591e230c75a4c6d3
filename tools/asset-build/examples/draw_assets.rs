//! Draws the assets of this repository: `lighthouse.glb`, `vessels.glb`, `pawns.glb` and `crate.png`.
//!
//! `cargo run -p asset-build --example draw_assets -- kernel/assets crate.png lighthouse.glb vessels.glb` writes those of the kernel anew, byte for byte, and
//! `... -- tools/scene-template/assets pawns.glb` that of the template: models consist of surfaces of revolution and boxes, and the picture is a formula.

use std::error::Error;
use std::f32::consts::TAU;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("usage: draw_assets FOLDER NAME...")?);
    for name in arguments {
        let path = folder.join(&name);
        match name.as_str() {
            "crate.png" => {
                let side = 256;
                let mut picture = png::Encoder::new(std::fs::File::create(path)?, side, side);
                picture.set_color(png::ColorType::Rgb);
                picture.write_header()?.write_image_data(&wooden_crate(side))?;
            }
            "lighthouse.glb" => std::fs::write(path, lighthouse().glb())?,
            "vessels.glb" => std::fs::write(path, vessels().glb())?,
            "pawns.glb" => std::fs::write(path, pawns().glb())?,
            _ => return Err(format!("there is no asset {name}").into()),
        }
    }
    Ok(())
}

/// A pseudorandom number between 0 and 1 for each point of a lattice.
fn lattice(x: i32, y: i32) -> f32 {
    let mut hash = (x as u32).wrapping_mul(0x9e37_79b1) ^ (y as u32).wrapping_mul(0x85eb_ca77);
    hash = (hash ^ hash >> 15).wrapping_mul(0x2c1b_3c6d);
    hash = (hash ^ hash >> 12).wrapping_mul(0x297a_2d39);
    (hash >> 8 ^ hash << 8 & 0xff_0000) as f32 / 16_777_215.0
}

/// Value noise between 0 and 1.
fn noise(x: f32, y: f32) -> f32 {
    let (column, row) = (x.floor(), y.floor());
    let smooth = |t: f32| t * t * (3.0 - 2.0 * t);
    let (s, t) = (smooth(x - column), smooth(y - row));
    let at = |dx, dy| lattice(column as i32 + dx, row as i32 + dy);
    let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
    mix(mix(at(0, 0), at(1, 0), s), mix(at(0, 1), at(1, 1), s), t)
}

/// The side of a wooden crate: planks, a frame around them, a brace across, nails.
fn wooden_crate(side: u32) -> Vec<u8> {
    let mut rgb = Vec::new();
    for row in 0..side {
        for column in 0..side {
            let (x, y) = ((column as f32 + 0.5) / side as f32, (row as f32 + 0.5) / side as f32);
            rgb.extend(crate_texel(x, y).map(|linear| (linear.clamp(0.0, 1.0) * 255.0).round() as u8));
        }
    }
    rgb
}

fn crate_texel(x: f32, y: f32) -> [f32; 3] {
    const FRAME: f32 = 0.13;
    const BRACE: f32 = 0.075;
    let edge = x.min(y).min(1.0 - x).min(1.0 - y);
    // Distance from the diagonal, and position along it.
    let (across, along) = ((x - y).abs() * 0.5f32.sqrt(), (x + y) * 0.5f32.sqrt());
    // The board: its number, its position along and across the grain, its level, and the distance to its edge.
    let (board, grain, level, inset) = if edge < FRAME {
        let upright = x.min(1.0 - x) < y.min(1.0 - y);
        let (u, v) = if upright { (y, x) } else { (x, y) };
        let seam = (x.min(1.0 - x) - y.min(1.0 - y)).abs() * 0.7;
        (
            if upright { 11.0 + (x + 0.5).floor() } else { 21.0 + (y + 0.5).floor() },
            (u, v),
            1.0,
            edge.min(FRAME - edge).min(seam),
        )
    } else if across < BRACE {
        (31.0, (along, across), 0.94, BRACE - across)
    } else {
        let plank = (x * 6.0).floor();
        let within = x * 6.0 - plank;
        (plank, (y, x), 0.72, within.min(1.0 - within) / 6.0)
    };
    let (u, v) = grain;
    let warp = noise(u * 3.0 + board * 17.0, v * 9.0) * 0.05;
    let rings = (noise(u * 2.5 + board * 31.0, (v + warp) * 46.0) - 0.5) * 0.34
        + (noise(u * 14.0, (v + warp) * 190.0 + board) - 0.5) * 0.2;
    let tone = 0.86 + 0.2 * lattice(board as i32, 7);
    // Boards are dark at their seams, and higher ones cast a shadow.
    let seam = (inset / 0.012).min(1.0) * 0.65 + 0.35;
    let lower = edge >= FRAME && across >= BRACE;
    let shadow =
        if lower { 0.55 + 0.45 * ((edge - FRAME).min((across - BRACE) * 1.2) / 0.035).clamp(0.0, 1.0) } else { 1.0 };
    let nails = [FRAME / 2.0, 1.0 - FRAME / 2.0];
    let nail = nails.iter().flat_map(|&a| nails.map(|b| (x - a).hypot(y - b))).fold(f32::MAX, f32::min);
    if nail < 0.022 {
        let shine = 0.35 + 0.45 * (1.0 - nail / 0.022) + (FRAME / 2.0 - y.min(1.0 - y)) * 4.0;
        return [0.55, 0.57, 0.62].map(|channel| channel * shine);
    }
    let light = level * tone * seam * shadow * (1.0 + rings);
    [0.80 * light, 0.55 * light, 0.30 * light]
}

/// A model under construction: triangles by material.
struct Sculpture {
    materials: Vec<Finish>,
    /// Positions and normals by material, three per triangle.
    corners: Vec<Vec<([f32; 3], [f32; 3])>>,
}

/// A material of glTF.
struct Finish {
    name: &'static str,
    color: [f32; 3],
    metallic: f32,
    roughness: f32,
    emissive: [f32; 3],
}

const fn matte(name: &'static str, color: [f32; 3], roughness: f32) -> Finish {
    Finish { name, color, metallic: 0.0, roughness, emissive: [0.0; 3] }
}

/// A profile to rotate about the y axis: radius and height of its points, from the lowest to the highest.
struct Lathe<'a> {
    center: [f32; 3],
    sides: usize,
    profile: &'a [[f32; 2]],
}

fn lighthouse() -> Sculpture {
    let materials = vec![
        matte("rock", [0.27, 0.25, 0.24], 0.95),
        matte("white paint", [0.86, 0.85, 0.80], 0.6),
        matte("red paint", [0.62, 0.06, 0.05], 0.5),
        Finish { name: "iron", color: [0.09, 0.10, 0.12], metallic: 1.0, roughness: 0.45, emissive: [0.0; 3] },
        Finish { name: "lamp", color: [1.0, 0.85, 0.45], metallic: 0.0, roughness: 0.2, emissive: [1.0, 0.72, 0.25] },
        matte("wood", [0.23, 0.12, 0.06], 0.8),
        Finish { name: "brass", color: [0.83, 0.62, 0.25], metallic: 1.0, roughness: 0.3, emissive: [0.0; 3] },
        matte("grass", [0.12, 0.24, 0.07], 0.95),
    ];
    let corners = materials.iter().map(|_| Vec::new()).collect();
    let mut model = Sculpture { materials, corners };
    let [rock, white, red, iron, lamp, wood, brass, grass] = [0, 1, 2, 3, 4, 5, 6, 7];
    model.rock(rock, grass);
    // The tower: bands of paint, its radius falling in a gentle curve.
    let radius = |height: f32| 0.62 - 0.24 * (height / 4.2).powf(0.8);
    for band in 0..7 {
        let low = band as f32 * 0.6;
        let profile: Vec<[f32; 2]> =
            (0..=4).map(|step| low + step as f32 * 0.15).map(|height| [radius(height), height]).collect();
        model.lathe(
            if band % 2 == 0 { white } else { red },
            &Lathe { center: [0.0, 0.7, 0.0], sides: 40, profile: &profile },
        );
    }
    let turned = |model: &mut Sculpture, material, y: f32, sides, profile: &[[f32; 2]]| {
        model.lathe(material, &Lathe { center: [0.0, y, 0.0], sides, profile });
    };
    turned(&mut model, white, 0.62, 40, &[[0.0, 0.0], [0.78, 0.0], [0.78, 0.1], [0.7, 0.16], [0.6, 0.16]]);
    // The gallery: bracket, floor, rail.
    turned(&mut model, iron, 4.75, 40, &[[0.37, 0.0], [0.62, 0.16], [0.66, 0.16], [0.66, 0.22], [0.0, 0.22]]);
    turned(&mut model, iron, 5.28, 40, &[[0.61, 0.0], [0.64, 0.0], [0.64, 0.03], [0.61, 0.03], [0.61, 0.0]]);
    turned(&mut model, iron, 5.14, 40, &[[0.62, 0.0], [0.63, 0.0], [0.63, 0.02], [0.62, 0.02], [0.62, 0.0]]);
    for post in 0..16 {
        let (sine, cosine) = (post as f32 / 16.0 * TAU).sin_cos();
        model.cuboid(iron, [0.625 * cosine - 0.012, 4.96, 0.625 * sine - 0.012], [0.024, 0.33, 0.024]);
    }
    // The lantern: base, lamp behind bars, roof, ball.
    turned(&mut model, white, 4.97, 32, &[[0.36, 0.0], [0.36, 0.2], [0.3, 0.22], [0.0, 0.22]]);
    turned(&mut model, lamp, 5.19, 24, &[[0.0, 0.0], [0.2, 0.04], [0.26, 0.14], [0.26, 0.36], [0.2, 0.46], [0.0, 0.5]]);
    for bar in 0..10 {
        let (sine, cosine) = ((bar as f32 + 0.5) / 10.0 * TAU).sin_cos();
        model.cuboid(iron, [0.31 * cosine - 0.014, 5.17, 0.31 * sine - 0.014], [0.028, 0.53, 0.028]);
    }
    turned(
        &mut model,
        red,
        5.69,
        32,
        &[[0.0, 0.0], [0.44, 0.0], [0.44, 0.05], [0.36, 0.16], [0.22, 0.3], [0.08, 0.38], [0.05, 0.44], [0.0, 0.44]],
    );
    turned(
        &mut model,
        brass,
        6.1,
        20,
        &[[0.0, 0.0], [0.05, 0.02], [0.075, 0.075], [0.05, 0.13], [0.015, 0.15], [0.0, 0.4]],
    );
    // The door with its steps, and windows up the tower.
    model.cuboid(wood, [-0.15, 0.78, 0.5], [0.3, 0.52, 0.14]);
    model.cuboid(white, [-0.19, 0.78, 0.48], [0.04, 0.58, 0.17]);
    model.cuboid(white, [0.15, 0.78, 0.48], [0.04, 0.58, 0.17]);
    model.cuboid(white, [-0.19, 1.3, 0.48], [0.38, 0.06, 0.17]);
    model.cuboid(brass, [0.08, 1.02, 0.63], [0.035, 0.035, 0.03]);
    for (height, turn) in [(2.2, 0.0f32), (3.1, 2.1), (3.9, 0.4), (2.7, 4.2)] {
        let (sine, cosine) = turn.sin_cos();
        let away = radius(height - 0.7) - 0.03;
        let center = [sine * away, height, cosine * away];
        model.cuboid(iron, [center[0] - 0.08, center[1] - 0.13, center[2] - 0.08], [0.16, 0.26, 0.16]);
        let out = [sine * (away + 0.055), height, cosine * (away + 0.055)];
        model.cuboid(lamp, [out[0] - 0.055, out[1] - 0.1, out[2] - 0.055], [0.11, 0.2, 0.11]);
    }
    model.cottage(white, red, wood, lamp);
    model
}

/// Vessels of metals and other materials on a slab of slate.
fn vessels() -> Sculpture {
    let metal = |name, color, roughness| Finish { name, color, metallic: 1.0, roughness, emissive: [0.0; 3] };
    let materials = vec![
        matte("slate", [0.07, 0.08, 0.09], 0.45),
        metal("copper", [0.95, 0.60, 0.46], 0.18),
        metal("gold", [1.0, 0.74, 0.30], 0.02),
        metal("steel", [0.72, 0.74, 0.76], 0.42),
        matte("glaze", [0.03, 0.13, 0.40], 0.02),
        matte("terracotta", [0.55, 0.20, 0.10], 0.9),
    ];
    let corners = materials.iter().map(|_| Vec::new()).collect();
    let mut model = Sculpture { materials, corners };
    let [slate, copper, gold, steel, glaze, terracotta] = [0, 1, 2, 3, 4, 5];
    model.vessel(slate, [0.0, -0.12, 0.0], 72, &[[0.0, 0.0], [2.25, 0.0], [2.3, 0.05], [2.25, 0.12], [2.2, 0.12]]);
    model.vessel(slate, [0.0, 0.0, 0.0], 72, &[[2.2, 0.0], [1.1, 0.0], [0.0, 0.0]]);
    // A pot with a wide belly, up the outside, over the lip and down the inside.
    let pot =
        [[0.0, 0.0], [0.45, 0.02], [0.78, 0.42], [0.72, 0.9], [0.42, 1.22], [0.4, 1.42], [0.56, 1.56], [0.5, 1.58]];
    model.vessel(copper, [-0.15, 0.0, -0.55], 36, &pot);
    model.vessel(copper, [-0.15, 0.0, -0.55], 36, &[[0.5, 1.58], [0.34, 1.42], [0.36, 1.2], [0.6, 0.8], [0.0, 0.3]]);
    // A vase with a slender neck.
    let vase = [
        [0.0, 0.0],
        [0.3, 0.02],
        [0.26, 0.1],
        [0.5, 0.6],
        [0.4, 1.0],
        [0.15, 1.35],
        [0.14, 1.75],
        [0.3, 1.98],
        [0.26, 2.0],
    ];
    model.vessel(glaze, [-1.25, 0.0, 0.0], 36, &vase);
    model.vessel(glaze, [-1.25, 0.0, 0.0], 36, &[[0.26, 2.0], [0.1, 1.72], [0.1, 1.4], [0.0, 1.2]]);
    // A bowl on a foot.
    let bowl = [[0.0, 0.0], [0.28, 0.02], [0.2, 0.1], [0.22, 0.16], [0.52, 0.34], [0.68, 0.68], [0.66, 0.71]];
    model.vessel(steel, [1.05, 0.0, 0.15], 36, &bowl);
    model.vessel(steel, [1.05, 0.0, 0.15], 36, &[[0.66, 0.71], [0.6, 0.66], [0.45, 0.38], [0.0, 0.26]]);
    for (material, place, radius) in [(gold, [0.3, 0.0, 0.85], 0.34f32), (terracotta, [-0.45, 0.0, 0.95], 0.24)] {
        let ball: Vec<[f32; 2]> = (0..=6)
            .map(|step| step as f32 / 6.0 * std::f32::consts::PI)
            .map(|angle| [radius * angle.sin().max(0.0), radius * (1.0 - angle.cos())])
            .collect();
        model.vessel(material, place, 32, &ball);
    }
    model
}

/// Four pawns on a board of three by three squares.
fn pawns() -> Sculpture {
    let materials = vec![
        matte("ivory", [0.86, 0.78, 0.62], 0.5),
        matte("walnut", [0.26, 0.12, 0.06], 0.5),
        matte("light squares", [0.72, 0.60, 0.42], 0.6),
        matte("dark squares", [0.16, 0.20, 0.17], 0.6),
        matte("frame", [0.10, 0.06, 0.04], 0.6),
    ];
    let corners = materials.iter().map(|_| Vec::new()).collect();
    let mut model = Sculpture { materials, corners };
    let [ivory, walnut, light, dark, frame] = [0, 1, 2, 3, 4];
    model.cuboid(frame, [-1.7, -0.3, -1.7], [3.4, 0.2, 3.4]);
    for square in 0..9 {
        let corner = [(square % 3) as f32 - 1.5, -0.1, (square / 3) as f32 - 1.5];
        model.cuboid(if square % 2 == 0 { light } else { dark }, corner, [1.0, 0.1, 1.0]);
    }
    let body = [
        [0.0, 0.0],
        [0.36, 0.01],
        [0.38, 0.1],
        [0.3, 0.16],
        [0.3, 0.2],
        [0.14, 0.5],
        [0.12, 0.66],
        [0.22, 0.7],
        [0.2, 0.75],
        [0.1, 0.77],
    ];
    let head: Vec<[f32; 2]> = (1..=6)
        .map(|step| step as f32 / 6.0 * std::f32::consts::PI)
        .map(|angle| [0.2 * angle.sin().max(0.0), 0.92 - 0.2 * angle.cos()])
        .collect();
    for (material, place) in
        [(ivory, [-1.0, 0.0, 1.0]), (ivory, [1.0, 0.0, 0.0]), (walnut, [0.0, 0.0, -1.0]), (walnut, [0.0, 0.0, 1.0])]
    {
        model.vessel(material, place, 20, &body);
        model.vessel(material, place, 20, &head);
    }
    model
}

impl Sculpture {
    /// A curve through these radii and heights, turned about an upright axis; it is smooth everywhere.
    fn vessel(&mut self, material: usize, center: [f32; 3], sides: usize, curve: &[[f32; 2]]) {
        const STEPS: usize = 3;
        let knot = |at: isize| curve[at.clamp(0, curve.len() as isize - 1) as usize];
        // A cubic curve between two knots, whose slope at each is that of its neighbours (Catmull and Rom), and how it changes there.
        let point = |step: usize| {
            let (piece, share) = ((step / STEPS) as isize, (step % STEPS) as f32 / STEPS as f32);
            let knots = [knot(piece - 1), knot(piece), knot(piece + 1), knot(piece + 2)];
            let axis = |axis: usize| {
                let [a, b, c, d] = knots.map(|knot| knot[axis]);
                let terms = [b, 0.5 * (c - a), a - 2.5 * b + 2.0 * c - 0.5 * d, 0.5 * (d - a) + 1.5 * (b - c)];
                let value = terms[0] + share * (terms[1] + share * (terms[2] + share * terms[3]));
                (value, terms[1] + share * (2.0 * terms[2] + share * 3.0 * terms[3]))
            };
            let ((radius, along_radius), (height, along_height)) = (axis(0), axis(1));
            let length = along_radius.hypot(along_height).max(1e-9);
            ([radius.max(0.0), height], [along_height / length, -along_radius / length])
        };
        let corner = |step: usize, side: usize| {
            let ([radius, height], [outward, upward]) = point(step);
            let (sine, cosine) = ((side % sides) as f32 / sides as f32 * TAU).sin_cos();
            let position = [center[0] + radius * cosine, center[1] + height, center[2] + radius * sine];
            (position, [outward * cosine, upward, outward * sine])
        };
        for step in 0..(curve.len() - 1) * STEPS {
            for side in 0..sides {
                let [a, b] = [corner(step, side), corner(step + 1, side)];
                let [c, d] = [corner(step + 1, side + 1), corner(step, side + 1)];
                if point(step + 1).0[0] > 0.0 {
                    self.triangle(material, [a.0, b.0, c.0], [a.1, b.1, c.1]);
                }
                if point(step).0[0] > 0.0 {
                    self.triangle(material, [a.0, c.0, d.0], [a.1, c.1, d.1]);
                }
            }
        }
    }

    fn triangle(&mut self, material: usize, positions: [[f32; 3]; 3], normals: [[f32; 3]; 3]) {
        self.corners[material].extend(positions.into_iter().zip(normals));
    }

    /// A flat polygon, counter-clockwise seen from its front.
    fn polygon(&mut self, material: usize, points: &[[f32; 3]]) {
        let normal = unit(cross(minus(points[1], points[0]), minus(points[2], points[0])));
        for pair in points[1..].windows(2) {
            self.triangle(material, [points[0], pair[0], pair[1]], [normal; 3]);
        }
    }

    /// A box, by its lowest corner and its extent.
    fn cuboid(&mut self, material: usize, low: [f32; 3], extent: [f32; 3]) {
        for axis in 0..3 {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            for high in [false, true] {
                let corner = |at_u: bool, at_v: bool| {
                    let mut point = low;
                    point[axis] += if high { extent[axis] } else { 0.0 };
                    point[u] += if at_u { extent[u] } else { 0.0 };
                    point[v] += if at_v { extent[v] } else { 0.0 };
                    point
                };
                let around = [(false, false), (true, false), (true, true), (false, true)].map(|(u, v)| corner(u, v));
                let points = if high { around } else { [around[0], around[3], around[2], around[1]] };
                self.polygon(material, &points);
            }
        }
    }

    /// A surface of revolution about an upright axis. Each segment of the profile has normals of its own, so its
    /// corners stay sharp.
    fn lathe(&mut self, material: usize, lathe: &Lathe<'_>) {
        let Lathe { center, sides, profile } = lathe;
        let smooth = profile.len() == 5 && profile.windows(2).all(|two| two[1][1] > two[0][1]);
        let slope = |from: [f32; 2], to: [f32; 2]| {
            let (outward, upward) = (to[1] - from[1], from[0] - to[0]);
            let length = outward.hypot(upward).max(1e-9);
            [outward / length, upward / length]
        };
        for (index, two) in profile.windows(2).enumerate() {
            let here = slope(two[0], two[1]);
            let ends = if smooth {
                [
                    slope(profile[index.saturating_sub(1)], two[1]),
                    slope(two[0], profile[(index + 2).min(profile.len() - 1)]),
                ]
            } else {
                [here; 2]
            };
            for side in 0..*sides {
                let at = |step: usize, end: usize| {
                    let (sine, cosine) = ((step % sides) as f32 / *sides as f32 * TAU).sin_cos();
                    let [radius, height] = two[end];
                    let position = [center[0] + radius * cosine, center[1] + height, center[2] + radius * sine];
                    (position, [ends[end][0] * cosine, ends[end][1], ends[end][0] * sine])
                };
                let [a, b, c, d] = [at(side, 0), at(side, 1), at(side + 1, 1), at(side + 1, 0)];
                if two[1][0] > 0.0 {
                    self.triangle(material, [a.0, b.0, c.0], [a.1, b.1, c.1]);
                }
                if two[0][0] > 0.0 {
                    self.triangle(material, [a.0, c.0, d.0], [a.1, c.1, d.1]);
                }
            }
        }
    }

    /// The rock below: a rough flat dome, with grass on top where it is level.
    fn rock(&mut self, rock: usize, grass: usize) {
        const RINGS: usize = 18;
        const SIDES: usize = 44;
        let point = |ring: usize, side: usize| {
            let out = ring as f32 / RINGS as f32;
            let (sine, cosine) = ((side % SIDES) as f32 / SIDES as f32 * TAU).sin_cos();
            let rough = noise(cosine * 2.7 * out + 9.0, sine * 2.7 * out + 5.0)
                + 0.5 * noise(cosine * 7.0 * out + 3.0, sine * 7.0 * out + 8.0);
            let radius = out * (2.3 + 0.5 * noise(cosine * 1.5 + 4.0, sine * 1.5 + 7.0));
            let fall = (out * 1.25 - 0.35).max(0.0).powf(1.5);
            [radius * cosine, 0.68 - 1.5 * fall + (rough - 0.75) * 0.42 * out.powf(1.4), radius * sine]
        };
        for ring in 0..RINGS {
            for side in 0..SIDES {
                let [a, b, c, d] =
                    [point(ring, side), point(ring, side + 1), point(ring + 1, side + 1), point(ring + 1, side)];
                for corners in [[a, b, c], [a, c, d]] {
                    let normal = cross(minus(corners[1], corners[0]), minus(corners[2], corners[0]));
                    if normal.iter().any(|component| component.abs() > 1e-9) {
                        let material = if unit(normal)[1] > 0.93 && corners[0][1] > 0.35 { grass } else { rock };
                        self.polygon(material, &corners);
                    }
                }
            }
        }
    }

    /// The keeper's cottage.
    fn cottage(&mut self, wall: usize, roof: usize, wood: usize, lamp: usize) {
        let (left, right, back, front, floor, eaves, ridge) = (0.75f32, 1.55, -0.45, 0.45, 0.45, 1.05, 1.42);
        let middle = (back + front) / 2.0;
        // The walls reach into the rock.
        self.cuboid(wall, [left, floor - 0.4, back], [right - left, eaves - floor + 0.4, front - back]);
        self.polygon(wall, &[[right, eaves, front], [right, eaves, back], [right, ridge, middle]]);
        self.polygon(wall, &[[left, eaves, back], [left, eaves, front], [left, ridge, middle]]);
        let (out, down) = (0.1, 0.08);
        for (side, turned) in [(front + out, false), (back - out, true)] {
            let mut slope = [
                [left - out, eaves - down, side],
                [right + out, eaves - down, side],
                [right + out, ridge + 0.03, middle],
                [left - out, ridge + 0.03, middle],
            ];
            if turned {
                slope.reverse();
            }
            self.polygon(roof, &slope);
            let under = slope.map(|[x, y, z]| [x, y - 0.05, z]);
            self.polygon(wood, &[under[3], under[2], under[1], under[0]]);
        }
        self.cuboid(wood, [1.02, floor, front], [0.2, 0.42, 0.03]);
        self.cuboid(wall, [0.97, floor - 0.4, front], [0.3, 0.4, 0.12]);
        self.cuboid(lamp, [1.32, 0.72, front], [0.14, 0.16, 0.02]);
        self.cuboid(lamp, [0.83, 0.72, front], [0.12, 0.16, 0.02]);
        self.cuboid(wall, [1.32, 1.2, -0.25], [0.14, 0.42, 0.14]);
    }

    /// The whole model as a binary glTF file.
    fn glb(&self) -> Vec<u8> {
        let mut binary: Vec<u8> = Vec::new();
        let (mut accessors, mut views, mut primitives, mut materials) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (index, (finish, corners)) in self.materials.iter().zip(&self.corners).enumerate() {
            let [red, green, blue] = finish.color;
            let Finish { name, metallic, roughness, emissive: [glow_red, glow_green, glow_blue], .. } = finish;
            let color = format!(r#""baseColorFactor":[{red},{green},{blue},1]"#);
            let surface = format!(r#"{{{color},"metallicFactor":{metallic},"roughnessFactor":{roughness}}}"#);
            let glow = format!("[{glow_red},{glow_green},{glow_blue}]");
            materials.push(format!(r#"{{"name":"{name}","pbrMetallicRoughness":{surface},"emissiveFactor":{glow}}}"#));
            let mut attribute = |values: Vec<[f32; 3]>, bounds: bool| {
                let offset = binary.len();
                binary.extend(values.iter().flatten().flat_map(|value| value.to_le_bytes()));
                views.push(format!(r#"{{"buffer":0,"byteOffset":{offset},"byteLength":{}}}"#, binary.len() - offset));
                let fold = |start: f32, pick: fn(f32, f32) -> f32| {
                    let axis = |axis: usize| values.iter().map(|value| value[axis]).fold(start, pick);
                    format!("[{},{},{}]", axis(0), axis(1), axis(2))
                };
                let limits = if bounds {
                    format!(r#","min":{},"max":{}"#, fold(f32::MAX, f32::min), fold(f32::MIN, f32::max))
                } else {
                    String::new()
                };
                let (view, count) = (views.len() - 1, values.len());
                accessors.push(format!(
                    r#"{{"bufferView":{view},"componentType":5126,"count":{count},"type":"VEC3"{limits}}}"#
                ));
                accessors.len() - 1
            };
            let position = attribute(corners.iter().map(|corner| corner.0).collect(), true);
            let normal = attribute(corners.iter().map(|corner| corner.1).collect(), false);
            primitives
                .push(format!(r#"{{"attributes":{{"POSITION":{position},"NORMAL":{normal}}},"material":{index}}}"#));
        }
        let list = |items: &[String]| format!("[{}]", items.join(","));
        let scene = r#""scene":0,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0,"name":"lighthouse"}]"#;
        let mesh = format!(r#""meshes":[{{"primitives":{}}}],"materials":{}"#, list(&primitives), list(&materials));
        let data = format!(r#""accessors":{},"bufferViews":{}"#, list(&accessors), list(&views));
        let buffer = format!(r#""buffers":[{{"byteLength":{}}}]"#, binary.len());
        let mut json = format!(r#"{{"asset":{{"version":"2.0"}},{scene},{mesh},{data},{buffer}}}"#).into_bytes();
        json.resize(json.len().next_multiple_of(4), b' ');
        let mut file = Vec::new();
        let total = 12 + 8 + json.len() + 8 + binary.len();
        for word in [0x4654_6c67, 2, total as u32, json.len() as u32, 0x4e4f_534a] {
            file.extend(u32::to_le_bytes(word));
        }
        file.extend(json);
        for word in [binary.len() as u32, 0x004e_4942] {
            file.extend(u32::to_le_bytes(word));
        }
        file.extend(binary);
        file
    }
}

fn minus(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    std::array::from_fn(|axis| a[axis] - b[axis])
}

fn cross(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn unit(v: [f32; 3]) -> [f32; 3] {
    let length = v.iter().map(|component| component * component).sum::<f32>().sqrt();
    v.map(|component| component / length)
}
