//! Three hikers on their way: a glTF figure with a skeleton, bent by the vertex shader
//!
//! The figure's skin follows 21 joints. Its animation is a list of poses, each with a matrix for each joint, which the build script has computed from the glTF
//! file's skeleton. The CPU interpolates between two poses, and writes the matrices to GPU memory. Each vertex has up to four joints with weights: the vertex
//! shader, `figure.wgsl`, looks their matrices up there, and sums them up.
//!
//! A figure's shadow is the same figure, flattened to the ground along the sun's rays, in transparent black. The stencil lets only the first fragment of each
//! pixel through; otherwise an arm in front of the body would make its shadow darker.

use alloc::{boxed::Box, vec::Vec};
use core::f32::consts::{FRAC_PI_4, LN_2, SQRT_2, TAU};

use qpu_shaders::{
    NoUniforms,
    figure::{FRAGMENT, FragmentUniforms, SHADING, Uniforms, Vertex},
    gradient, plaza,
};
use renderer::{
    Blend, Buffer, Compare, Cull, Depth, Indices, Mesh, PassDescriptor, Pipeline, PipelineDescriptor, Primitive,
    Sampler, Samples, Shading, Stencil, StencilChange, StencilSide, Target, Texture,
    asset::{Figure, JointMatrix, MAX_JOINTS, ModelPart},
    glam::{
        Mat4, Vec2, Vec3, Vec4,
        camera::rh::{proj::opengl::perspective, view::look_at_mat4},
    },
    rows,
    shaded_vertex::ShadedVertex,
    texture::Wrap,
};
use v3d::Fence;

use super::{Scene, SceneContext, SceneEntry, SceneError, backdrop::bands, textured_cube::mipmapped};
use crate::{
    gpu::GpuDevice,
    scene_parts::{assets::WALKER, moment::Moment, noise::random},
};

/// The entry in the table of scenes.
pub(super) const ENTRY: SceneEntry = SceneEntry {
    name: "walker",
    description: "hikers on their way: a glTF figure with a skeleton, bent by a vertex shader in WGSL",
    start: |context| Ok(Box::new(Walker::new(context.device)?)),
};

const FIGURE: &Figure = &WALKER;
/// Metres that the figure travels in each repetition of its animation: see `extras` in the glTF file.
const STRIDE: f32 = 1.434;
/// Where the hikers are, across and along, when in their steps they are, and how tall in comparison.
const HIKERS: [([f32; 2], f32, f32); 3] =
    [([0.0, 0.25], 0.0, 1.0), ([1.15, -0.75], 0.45, 0.94), ([-1.05, -1.0], 0.8, 1.05)];
/// Colours that shirts and caps are multiplied by.
const TINTS: [[f32; 3]; 3] = [[1.0, 1.0, 1.0], [0.42, 0.80, 1.60], [1.0, 0.52, 0.62]];
/// Frames in which the eye circles once.
const TURN: u64 = 1800;
/// Half of the picture's height at distance 1.
const HALF: f32 = SQRT_2 - 1.0;
const TO_SUN: Vec3 = Vec3::new(0.72, 0.42, 0.40);
/// Linear light: of the sky at the horizon and above, of the ground.
const HORIZON: Vec3 = Vec3::new(1.20, 0.68, 0.42);
const ZENITH: Vec3 = Vec3::new(0.12, 0.24, 0.56);
const GROUND_LIGHT: Vec3 = Vec3::new(1.05, 0.88, 0.78);
/// How dark shadows are.
const SHADOW: f32 = 0.45;
/// Repetitions of the paving's texture in a metre, as in `plaza.wgsl`; texels across it; slabs across it.
const PAVING: f32 = 0.4;
const PAVING_PX: u32 = 256;
const SLABS: u32 = 4;

#[derive(Debug)]
struct Walker {
    parts: Vec<Mesh<Vertex>>,
    clothes: Texture,
    paving: Texture,
    plain: Mesh<plaza::Vertex>,
    figure: Pipeline<Vertex, Uniforms, FragmentUniforms>,
    shadow: Pipeline<Vertex, Uniforms, FragmentUniforms>,
    plaza: Pipeline<plaza::Vertex, plaza::Uniforms, plaza::FragmentUniforms>,
    backdrop: Pipeline<ShadedVertex<3>, NoUniforms, gradient::FragmentUniforms>,
}

impl Walker {
    fn new(device: &GpuDevice) -> Result<Self, SceneError> {
        let samples = Samples::Four;
        let figure = PipelineDescriptor::new("figure", &SHADING, &FRAGMENT);
        let figure = PipelineDescriptor { samples, depth: Depth::LESS, cull: Cull::Back, ..figure };
        let bent = Pipeline::new(device, &figure)?;
        let once = StencilSide { test: Compare::Equal, pass: StencilChange::Increment, ..StencilSide::KEEP };
        let shadow = PipelineDescriptor { blend: Blend::ALPHA, stencil: Some(Stencil::both(once)), ..figure };
        // A flattened figure has no depth, and no sides.
        let shadow = PipelineDescriptor { depth: Depth::NONE, cull: Cull::None, ..shadow };
        let plaza = PipelineDescriptor::new("plaza", &plaza::SHADING, &plaza::FRAGMENT);
        let backdrop = PipelineDescriptor::new("backdrop", Shading::PreShaded, &gradient::FRAGMENT);
        let part = |part: &ModelPart| {
            let indices = Some(Indices::Bytes16(part.indices));
            Mesh::from_bytes(device, "hiker", Primitive::Triangles, part.vertices, indices)
        };
        let clothes = FIGURE.images.first().ok_or_else(|| SceneError("the figure has no clothes".into()))?;
        let corners = [[-90.0, 90.0], [90.0, 90.0], [-90.0, -90.0], [90.0, -90.0]];
        let corners = corners.map(|place| plaza::Vertex { place });
        Ok(Self {
            parts: FIGURE.parts.iter().map(part).collect::<Result<_, _>>()?,
            clothes: mipmapped(device, "clothes", [clothes.width_px, clothes.height_px], clothes.rgba)?,
            paving: mipmapped(device, "paving", [PAVING_PX; 2], &paving())?,
            plain: Mesh::new(device, "plain", Primitive::TriangleStrip, &corners)?,
            figure: bent,
            shadow: Pipeline::new(device, &shadow)?,
            plaza: Pipeline::new(device, &PipelineDescriptor { samples, ..plaza })?,
            backdrop: Pipeline::new(device, &PipelineDescriptor { samples, ..backdrop })?,
        })
    }
}

/// Slabs of stone in slightly different colours, with joints between them; each second row is shifted by half a slab.
fn paving() -> Vec<u8> {
    let side = PAVING_PX / SLABS;
    let texel = |n: u32| {
        let (x, y) = (n % PAVING_PX, n / PAVING_PX);
        let row = y / side;
        let x = (x + row % 2 * side / 2) % PAVING_PX;
        let slab = row * SLABS + x / side;
        let tone = 166.0 + 26.0 * random(slab) + 6.0 * random(1000 + n);
        let warm = 8.0 * random(500 + slab);
        let edge = (x % side).min(y % side);
        let shade = if edge < 2 { 0.66 } else { 1.0 };
        let [red, green, blue] = [tone + warm, tone - 4.0, tone - 18.0 - warm].map(|channel| (shade * channel) as u8);
        [red, green, blue, 255]
    };
    (0..PAVING_PX * PAVING_PX).flat_map(texel).collect()
}

/// The sky from the horizon, at a height on the screen, upwards.
fn sky(target: &Target, horizon: f32) -> Vec<ShadedVertex<3>> {
    let film = |light: Vec3| (Vec3::ONE - (-1.3 * LN_2 * light).exp()).powf(0.5).to_array();
    let rows = [(horizon - 0.05, 0.0), (horizon + 0.55, 0.62), (horizon + 1.9, 1.0)];
    bands(target, rows.map(|(y, share)| (y, film(HORIZON.lerp(ZENITH, share)))))
}

impl Scene for Walker {
    fn frame(&mut self, context: &mut SceneContext<'_>, moment: &Moment) -> Result<Fence, SceneError> {
        let (device, target) = (context.device, &context.target);
        let turn = moment.ticks(TURN) / TURN as f32 * TAU + 0.62;
        let eye = Mat4::from_rotation_y(turn).transform_point3(Vec3::new(0.0, 1.40, 4.1));
        let view = look_at_mat4(eye, Vec3::new(0.0, 0.90, -0.25), Vec3::Y);
        let camera = perspective(FRAC_PI_4, target.aspect(), 0.3, 150.0) * view;
        let to_sun = TO_SUN.normalize();
        // Along the sun's rays to the ground.
        let flat = Vec4::new(-to_sun.x / to_sun.y, 0.0, -to_sun.z / to_sun.y, 0.0);
        let flatten = Mat4::from_cols(Vec4::X, flat, Vec4::Z, Vec4::W);

        let walk = FIGURE.animations.first().ok_or_else(|| SceneError("the figure has no animation".into()))?;
        let time = moment.seconds();
        let mut hikers = Vec::with_capacity(HIKERS.len());
        for (([x, z], begin, tall), tint) in HIKERS.into_iter().zip(TINTS) {
            let pose = walk.pose(time + begin * walk.duration_s);
            let mut bytes: Vec<u8> = pose.iter().flatten().flatten().flat_map(|number| number.to_le_bytes()).collect();
            // The shader has an array of the most joints that a figure may have.
            bytes.resize(MAX_JOINTS * size_of::<JointMatrix>(), 0);
            let joints = Buffer::with_bytes(device, "pose", &bytes, 16)?;
            let world = Mat4::from_translation(Vec3::new(x, 0.0, z)) * Mat4::from_scale(Vec3::splat(tall));
            hikers.push((joints, world, tint));
        }

        let mut frame = device.frame()?;
        let samples = Samples::Four;
        let mut pass = frame.pass(&PassDescriptor { samples, ..PassDescriptor::to(target).clear([0.0; 4]) })?;
        let sky = sky(target, view.transform_vector3(Vec3::Y).z / HALF);
        pass.draw_vertices(&self.backdrop, Primitive::TriangleStrip, &sky, &NoUniforms, &gradient::FragmentUniforms)?;
        // The hikers stay where they are, and the ground moves backwards.
        let gone = time * STRIDE / walk.duration_s * PAVING;
        let ground = plaza::FragmentUniforms {
            eye: eye.to_array(),
            moved: [0.0, Vec2::splat(gone).fract().x],
            light: GROUND_LIGHT.to_array(),
            horizon: HORIZON.to_array(),
            paving: self.paving.bind(&Sampler::TRILINEAR)?,
        };
        pass.draw(&self.plaza, &self.plain, &plaza::Uniforms { matrix: rows(&camera) }, &ground)?;
        let clothes = self.clothes.bind(&Sampler::TRILINEAR.wrapped(Wrap::Clamp))?;
        for is_shadow in [true, false] {
            let pipeline = if is_shadow { &self.shadow } else { &self.figure };
            let (brightness, alpha) = if is_shadow { (0.0, SHADOW) } else { (1.0, 1.0) };
            for (joints, world, tint) in &hikers {
                let world = if is_shadow { flatten * *world } else { *world };
                let uniforms = Uniforms { camera: rows(&camera), world: rows(&world), joints: joints.storage() };
                let (eye, to_sun, clothes) = (eye.to_array(), to_sun.to_array(), clothes.clone());
                let material = FragmentUniforms { eye, to_sun, tint: *tint, brightness, alpha, clothes };
                for part in &self.parts {
                    pass.draw(pipeline, part, &uniforms, &material)?;
                }
            }
        }
        Ok(frame.submit()?)
    }
}
