//! A ruined temple around an armillary sphere, under a sun that circles it: a shadow map with filtered edges
//!
//! The first pass draws the scene as the sun sees it, and keeps nothing but its depths: for each direction of sunlight, the distance at which it is stopped.
//! The second pass draws the scene as the eye sees it. The fragment shader, `shadows.wgsl`, computes where the sun sees the same point, and looks up whether
//! something nearer to the sun is there. A depth cannot be interpolated, but the results of comparisons can: the mean of those around is the share of sunlight
//! in a shadow's border.
//!
//! A lit surface must not shade itself because its own depth has been rounded. So the sun's pass draws back faces only: what it compares with is the far side
//! of each body, which is in its own shadow anyway. Bodies that stand on others are hollow from below: without that far side, light would leak in along their
//! feet.

use alloc::{boxed::Box, vec::Vec};
use core::f32::consts::{FRAC_PI_4, LN_2, SQRT_2, TAU};

use qpu_shaders::{
    NoUniforms, caster, gradient,
    shadows::{FRAGMENT, FragmentUniforms, SHADING, Uniforms, Vertex},
};
use renderer::{
    Cull, Depth, DepthTarget, Format, LoadOp, Mesh, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Sampler,
    Samples, Shading, StoreOp, Target, TargetDescriptor, Texture,
    glam::{
        Mat4, Vec2, Vec3,
        camera::rh::{
            proj::opengl::{orthographic, perspective},
            view::look_at_mat4,
        },
    },
    rows,
    shaded_vertex::ShadedVertex,
    texture::Wrap,
};
use v3d::{Fence, hw::tiling::Tiling};

use super::{Scene, SceneContext, SceneEntry, SceneError, backdrop::bands};
use crate::{
    gpu::GpuDevice,
    scene_parts::{moment::Moment, shapes::Shape},
};

/// The entry in the table of scenes.
pub(super) const ENTRY: SceneEntry = SceneEntry {
    name: "shadows",
    description: "a temple under a circling sun: a shadow map with filtered edges, shaders in WGSL",
    start: |context| Ok(Box::new(Shadows::new(context.device)?)),
};

/// Frames in which the sun circles the temple, and in which the eye swings from side to side and back.
const DAY: u64 = 1440;
const SWING: u64 = 1800;
/// Half of the picture's height at distance 1.
const HALF: f32 = SQRT_2 - 1.0;
/// Texels across the depth texture, and the radius around the temple's middle that it contains.
const DEPTHS_PX: u32 = 1024;
const REACH: f32 = 8.2;
/// The middle of what casts shadows.
const MIDDLE: Vec3 = Vec3::new(0.0, 1.8, 0.0);

/// Linear colours and lights.
const STONE: [f32; 3] = [0.68, 0.59, 0.46];
const SAND: [f32; 3] = [0.42, 0.32, 0.20];
const BRONZE: [f32; 3] = [0.86, 0.56, 0.24];
const SUN: [f32; 3] = [3.4, 2.75, 1.9];
const SKY: [f32; 3] = [0.20, 0.31, 0.56];
const ZENITH: [f32; 3] = [0.10, 0.26, 0.72];
const HORIZON: [f32; 3] = [0.62, 0.66, 0.72];
const GROUND: [f32; 3] = [0.26, 0.19, 0.12];

/// Columns of the ring, at this distance from the middle, on the uppermost step; the last three have lost their beams, and one of them is broken.
const COLUMNS: u16 = 9;
/// Where the first column is, as a part of a turn from x to z.
const FIRST: f32 = 0.472;
const RING: f32 = 4.0;
const STEP_HEIGHT: f32 = 0.2;
const FLOOR: f32 = 3.0 * STEP_HEIGHT;
const COLUMN_HEIGHT: f32 = 3.5;
const BROKEN: u16 = 7;
/// Height of the hollows below what stands on something.
const HOLLOW: f32 = 0.07;
/// The middle of the armillary sphere, and the radii of its rings.
const ARMILLARY: Vec3 = Vec3::new(0.0, FLOOR + 2.15, 0.0);
const RINGS: [f32; 3] = [1.15, 0.95, 0.75];

/// A body as the eye and as the sun see it.
#[derive(Debug)]
struct Solid {
    lit: Mesh<Vertex>,
    caster: Mesh<caster::Vertex>,
}

#[derive(Debug)]
struct Shadows {
    temple: Solid,
    /// The rings and the ball of the armillary sphere.
    rings: Vec<Solid>,
    ball: Solid,
    ground: Solid,
    lit: Pipeline<Vertex, Uniforms, FragmentUniforms>,
    caster: Pipeline<caster::Vertex, caster::Uniforms, NoUniforms>,
    backdrop: Pipeline<ShadedVertex<3>, NoUniforms, gradient::FragmentUniforms>,
    depths: DepthTarget,
    /// Colours of the sun's pass, which nobody looks at.
    unused: Target,
}

impl Solid {
    fn new(device: &GpuDevice, label: &'static str, shape: &Shape) -> Result<Self, SceneError> {
        let lit: Vec<Vertex> =
            shape.corners.iter().map(|at| Vertex { corner: at.position, normal: at.normal }).collect();
        let caster: Vec<_> = shape.corners.iter().map(|at| caster::Vertex { corner: at.position }).collect();
        Ok(Self {
            lit: Mesh::indexed(device, label, Primitive::Triangles, &lit, &shape.indices)?,
            caster: Mesh::indexed(device, label, Primitive::Triangles, &caster, &shape.indices)?,
        })
    }
}

impl Shadows {
    fn new(device: &GpuDevice) -> Result<Self, SceneError> {
        let (depth, samples) = (Depth::LESS, Samples::Four);
        let lit = PipelineDescriptor::new("lit", &SHADING, &FRAGMENT);
        let caster = PipelineDescriptor::new("caster", &caster::SHADING, &caster::FRAGMENT);
        let backdrop = PipelineDescriptor::new("backdrop", Shading::PreShaded, &gradient::FRAGMENT);
        let (format, tiling) = (Format::Rgb565, Tiling::TFormat);
        let unused = TargetDescriptor { label: "unused", width_px: DEPTHS_PX, height_px: DEPTHS_PX, format, tiling };
        let ring = |radius: &f32| Solid::new(device, "ring", &torus(*radius, 0.065));
        Ok(Self {
            temple: Solid::new(device, "temple", &temple())?,
            rings: RINGS.iter().map(ring).collect::<Result<_, _>>()?,
            ball: Solid::new(device, "ball", &ball(0.3))?,
            ground: Solid::new(device, "ground", &Shape::revolved(&[[120.0, 0.0], [30.0, 0.0], [0.0, 0.0]], 48, 1.0))?,
            lit: Pipeline::new(device, &PipelineDescriptor { depth, samples, cull: Cull::Back, ..lit })?,
            caster: Pipeline::new(device, &PipelineDescriptor { depth, cull: Cull::Front, ..caster })?,
            backdrop: Pipeline::new(device, &PipelineDescriptor { samples, ..backdrop })?,
            depths: DepthTarget::new(device, "depths", DEPTHS_PX, DEPTHS_PX)?,
            unused: Target::new(device, &unused)?,
        })
    }
}

/// The point of a circle.
fn around(radius: f32, turn: f32) -> Vec3 {
    let at = radius * Vec2::from_angle(turn * TAU);
    Vec3::new(at.x, 0.0, at.y)
}

fn circle(points: u16, from: f32, to: f32) -> impl Iterator<Item = Vec2> {
    (0..=points).map(move |n| Vec2::from_angle((from + (to - from) * f32::from(n) / f32::from(points)) * TAU))
}

fn torus(radius: f32, thickness: f32) -> Shape {
    let outline: Vec<_> = circle(12, 0.0, 1.0).map(|at| (Vec2::X * radius + thickness * at).to_array()).collect();
    Shape::revolved(&outline, 64, 1.0)
}

fn ball(radius: f32) -> Shape {
    let outline: Vec<_> =
        circle(16, -0.25, 0.25).map(|at| (radius * at).max(Vec2::new(0.0, -radius)).to_array()).collect();
    Shape::revolved(&outline, 32, 1.0)
}

/// A column without its capital, which a break at some height may end.
fn shaft(height: f32) -> Vec<[f32; 2]> {
    let mut outline = Vec::from([
        [0.0, HOLLOW],
        [0.42, HOLLOW],
        [0.47, 0.0],
        [0.47, 0.1],
        [0.44, 0.16],
        [0.40, 0.2],
        [0.36, 0.22],
        [0.36, 0.22],
    ]);
    // The shaft tapers, more towards its end.
    outline.extend([0.25, 0.5, 0.75, 1.0].map(|share: f32| {
        let up = 0.22 + share * (height - 0.22);
        [0.36 - 0.07 * (up / COLUMN_HEIGHT) * (up / COLUMN_HEIGHT), up]
    }));
    outline
}

/// Steps, columns, the ring of beams, what has fallen down, and the pedestal.
fn temple() -> Shape {
    let mut temple = Shape::default();
    let upright = |at: Vec3| Mat4::from_translation(at);
    let steps = [
        [0.0, HOLLOW],
        [5.54, HOLLOW],
        [5.6, 0.0],
        [5.6, 0.2],
        [5.2, 0.2],
        [5.2, 0.4],
        [4.8, 0.4],
        [4.8, FLOOR],
        [0.0, FLOOR],
    ];
    temple.append(&Shape::revolved(&steps, 144, 1.0), &Mat4::IDENTITY);

    let mut column = shaft(COLUMN_HEIGHT - 0.36);
    let top = COLUMN_HEIGHT;
    column.extend([[0.29, top - 0.32], [0.34, top - 0.26], [0.42, top - 0.17], [0.44, top - 0.14]]);
    let column = Shape::revolved(&column, 24, 1.0);
    let abacus = Shape::cuboid(Vec3::new(0.96, 0.14, 0.96));
    let mut stump = shaft(1.35);
    stump.extend([[0.2, 1.42], [0.0, 1.3]]);
    let stump = Shape::revolved(&stump, 24, 1.0);
    for number in 0..COLUMNS {
        let turn = FIRST + f32::from(number) / f32::from(COLUMNS);
        let place = upright(around(RING, turn) + Vec3::Y * FLOOR) * Mat4::from_rotation_y(-turn * TAU);
        if number == BROKEN {
            temple.append(&stump, &place);
        } else {
            temple.append(&column, &place);
            temple.append(&abacus, &(place * upright(Vec3::Y * (top - 0.07))));
        }
    }
    // Beams reach from the first column over the sixth, in two layers.
    let beams = 5.0 / f32::from(COLUMNS);
    let margin = 0.018;
    for [inner, outer, low, high] in [[3.62, 4.38, top, top + 0.42], [3.52, 4.5, top + 0.42, top + 0.62]] {
        let outline = [[inner, low], [outer, low], [outer, high], [inner, high], [inner, low]];
        let beam = Shape::revolved(&outline, 96, beams + 2.0 * margin);
        temple.append(&beam, &(upright(Vec3::Y * FLOOR) * Mat4::from_rotation_y((margin - FIRST) * TAU)));
    }
    // Drums of the broken column, and a piece of the beams.
    let drum = Shape::revolved(&[[0.0, -0.45], [0.34, -0.45], [0.33, 0.45], [0.0, 0.45]], 24, 1.0);
    let lying = |x: f32, z: f32, angle: f32| {
        upright(Vec3::new(x, 0.335, z)) * Mat4::from_rotation_y(angle) * Mat4::from_rotation_x(0.25 * TAU)
    };
    temple.append(&drum, &lying(3.4, 6.3, 0.5));
    temple.append(&drum, &lying(5.1, 5.1, -0.9));
    let block = upright(Vec3::new(-5.3, 0.24, 4.9)) * Mat4::from_rotation_y(0.5) * Mat4::from_rotation_z(0.06);
    temple.append(&Shape::cuboid(Vec3::new(1.7, 0.5, 0.76)), &block);

    let pedestal = [
        [0.0, HOLLOW],
        [0.8, HOLLOW],
        [0.85, 0.0],
        [0.85, 0.14],
        [0.7, 0.14],
        [0.62, 0.22],
        [0.5, 0.26],
        [0.42, 0.7],
        [0.5, 0.76],
        [0.5, 0.82],
        [0.0, 0.82],
    ];
    temple.append(&Shape::revolved(&pedestal, 32, 1.0), &upright(Vec3::Y * FLOOR));
    temple
}

/// A gradient from the horizon upwards, behind everything.
fn sky(target: &Target, view: &Mat4) -> Vec<ShadedVertex<3>> {
    // Where a distant point at a height, relative to its distance, is on the screen.
    let row = |height: f32| {
        let ahead = view.inverse().transform_vector3(Vec3::NEG_Z) * Vec3::new(1.0, 0.0, 1.0);
        let seen = view.transform_vector3(ahead.normalize() + Vec3::Y * height);
        (seen.y / -seen.z / HALF).clamp(-1.0, 1.0)
    };
    let film = |light: Vec3| (Vec3::ONE - (-LN_2 * light).exp()).powf(0.5).to_array();
    let between = |share: f32| Vec3::from_array(HORIZON).lerp(Vec3::from_array(ZENITH), share);
    let rows = [(-1.0, 0.0), (row(0.0), 0.0), (row(0.18), 0.55), (1.0, 1.0)];
    bands(target, rows.map(|(y, share)| (y, film(between(share)))))
}

impl Scene for Shadows {
    fn frame(&mut self, context: &mut SceneContext<'_>, moment: &Moment) -> Result<Fence, SceneError> {
        let target = &context.target;
        let wave = |period: u64, phase: f32| Vec2::from_angle(moment.ticks(period) / period as f32 * TAU + phase);
        let swing = 0.3 * wave(SWING, 0.0).y;
        let eye = Mat4::from_rotation_y(swing).transform_point3(Vec3::new(0.0, 5.2, 14.5));
        let view = look_at_mat4(eye, Vec3::new(0.0, 1.75, 0.0), Vec3::Y);
        let camera = perspective(FRAC_PI_4, target.aspect(), 1.0, 200.0) * view;

        let day = wave(DAY, 0.9);
        let to_sun = Vec3::new(day.x, 0.62 + 0.14 * day.y, day.y).normalize();
        let sees = look_at_mat4(MIDDLE + 20.0 * to_sun, MIDDLE, Vec3::Y);
        let from_sun = orthographic(-REACH, REACH, -REACH, REACH, 20.0 - REACH, 20.0 + REACH) * sees;
        // From clip coordinates to texture coordinates, whose t runs downwards, and to depths from 0 to 1.
        let texels = Mat4::from_translation(Vec3::splat(0.5)) * Mat4::from_scale(Vec3::new(0.5, -0.5, 0.5));
        let shadow = texels * from_sun;

        // The rings turn about different axes, one within the other.
        let turn = moment.ticks(DAY) / DAY as f32 * TAU;
        let mut tilt = Mat4::from_translation(ARMILLARY) * Mat4::from_rotation_z(0.41);
        let mut bronze: Vec<(&Solid, Mat4)> = Vec::from([(&self.ball, tilt)]);
        for (ring, speed) in self.rings.iter().zip([2.0, 3.0, 5.0]) {
            tilt *= Mat4::from_rotation_y(speed * turn) * Mat4::from_rotation_x(0.25 * TAU);
            bronze.push((ring, tilt));
        }
        let temple = (&self.temple, Mat4::IDENTITY);

        let mut frame = context.device.frame()?;
        let seen = PassDescriptor::to(&self.unused).clear([0.0; 4]);
        let mut pass = frame.pass(&seen.with_depth(&self.depths, LoadOp::Clear, StoreOp::Store))?;
        for (solid, world) in bronze.iter().chain([&temple]) {
            let uniforms = caster::Uniforms { matrix: rows(&(from_sun * *world)) };
            pass.draw(&self.caster, &solid.caster, &uniforms, &NoUniforms)?;
        }

        let samples = Samples::Four;
        let mut pass = frame.pass(&PassDescriptor { samples, ..PassDescriptor::to(target).clear([0.0; 4]) })?;
        pass.draw_vertices(
            &self.backdrop,
            Primitive::TriangleStrip,
            &sky(target, &view),
            &NoUniforms,
            &gradient::FragmentUniforms,
        )?;
        let depths = Texture::of_depth(&self.depths)?.bind(&Sampler::NEAREST.wrapped(Wrap::Clamp))?;
        let material = |base_color: [f32; 3], metallic: f32| FragmentUniforms {
            eye: eye.to_array(),
            to_sun: to_sun.to_array(),
            sun: SUN,
            sky: SKY,
            horizon: HORIZON,
            ground: GROUND,
            base_color,
            metallic,
            depths: depths.clone(),
        };
        let places = |world: &Mat4| Uniforms { camera: rows(&camera), world: rows(world), shadow: rows(&shadow) };
        for (solid, world) in &bronze {
            pass.draw(&self.lit, &solid.lit, &places(world), &material(BRONZE, 0.8))?;
        }
        pass.draw(&self.lit, &self.temple.lit, &places(&temple.1), &material(STONE, 0.0))?;
        pass.draw(&self.lit, &self.ground.lit, &places(&Mat4::IDENTITY), &material(SAND, 0.0))?;
        Ok(frame.submit()?)
    }
}
