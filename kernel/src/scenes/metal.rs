//! Vessels of copper, gold, steel and clay: a glTF model whose materials reflect a room
//!
//! A glTF material has a metalness and a roughness. `metal.wgsl` looks up the environment in a cube map: a smooth surface uses level 0, a rough one a smaller
//! level, each of whose texels is a mean of many, and the diffuse light comes from the last level. The room is a formula: windows, lamps, a floor. All levels
//! are computed at the start.

use alloc::{boxed::Box, vec::Vec};
use core::f32::consts::{FRAC_PI_4, SQRT_2, TAU};

use qpu_shaders::{
    NoUniforms, cube_mapped,
    metal::{FRAGMENT, FragmentUniforms, SHADING, Uniforms, Vertex},
};
use renderer::{
    CubeTexture, Cull, Depth, Indices, Mesh, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Sampler, Samples,
    Shading,
    asset::ModelMaterial,
    glam::{
        Mat4, Vec2, Vec3,
        camera::rh::{proj::opengl::perspective, view::look_at_mat4},
    },
    rows,
    shaded_vertex::ShadedVertex,
    texture::{CubeDescriptor, Face, TextureType, Wrap},
};
use v3d::Fence;

use super::{Scene, SceneContext, SceneEntry, SceneError, flight::whole};
use crate::{
    gpu::GpuDevice,
    scene_parts::{assets::VESSELS, moment::Moment},
};

/// The entry in the table of scenes.
pub(super) const ENTRY: SceneEntry = SceneEntry {
    name: "metal",
    description: "vessels of metals and clay that reflect a room: a glTF model with physically based shading in WGSL",
    start: |context| Ok(Box::new(Metal::new(context.device)?)),
};

/// Frames in which the eye circles once.
const TURN: u64 = 1200;
/// Half of the picture's height at distance 1.
const HALF: f32 = SQRT_2 - 1.0;
/// Texels across a face of the cube map, and its number of levels.
const ROOM_PX: u32 = 64;
const LEVELS: u32 = 5;
/// Texels across a face of the environment from which blurred levels are computed.
const SOURCE_PX: u32 = 16;

/// Spheres about as large as pot, vase, bowl and balls, which darken what is near them: their middles and radii.
const SPHERES: [(Vec3, f32); 5] = [
    (Vec3::new(-0.15, 0.66, -0.55), 0.68),
    (Vec3::new(-1.25, 0.5, 0.0), 0.48),
    (Vec3::new(1.05, 0.42, 0.15), 0.42),
    (Vec3::new(0.3, 0.34, 0.85), 0.34),
    (Vec3::new(-0.45, 0.24, 0.95), 0.24),
];

/// Where pot, vase, bowl and balls touch the slab: x and z, and the radius.
const FEET: [[f32; 3]; 5] =
    [[-0.15, -0.55, 0.45], [-1.25, 0.0, 0.29], [1.05, 0.15, 0.27], [0.3, 0.85, 0.06], [-0.45, 0.95, 0.05]];

#[derive(Debug)]
struct Metal {
    parts: Vec<(Mesh<Vertex>, ModelMaterial)>,
    model: Pipeline<Vertex, Uniforms, FragmentUniforms>,
    backdrop: Pipeline<ShadedVertex<3>, NoUniforms, cube_mapped::FragmentUniforms>,
    room: CubeTexture,
}

impl Metal {
    fn new(device: &GpuDevice) -> Result<Self, SceneError> {
        let samples = Samples::Four;
        let model =
            PipelineDescriptor { depth: Depth::LESS, samples, ..PipelineDescriptor::new("model", &SHADING, &FRAGMENT) };
        let backdrop = PipelineDescriptor::new("backdrop", Shading::PreShaded, &cube_mapped::FRAGMENT);
        let part = |part: &renderer::asset::ModelPart| {
            let material = VESSELS.materials[part.material];
            let indices = Some(Indices::Bytes16(part.indices));
            Ok((Mesh::from_bytes(device, material.name, Primitive::Triangles, part.vertices, indices)?, material))
        };
        Ok(Self {
            parts: VESSELS.parts.iter().map(part).collect::<Result<_, SceneError>>()?,
            model: Pipeline::new(device, &PipelineDescriptor { cull: Cull::Back, ..model })?,
            backdrop: Pipeline::new(device, &PipelineDescriptor { samples, ..backdrop })?,
            room: room(device)?,
        })
    }
}

/// The light from a direction, linear.
fn light_from(direction: Vec3) -> Vec3 {
    let Vec3 { x, y, z } = direction.normalize();
    let within = |low: f32, value: f32, high: f32| low < value && value < high;
    if y < -0.2 {
        return Vec3::new(0.13, 0.085, 0.05) * (1.3 + y);
    }
    // Two rows of window panes, a strip lamp above, a warm lamp, walls.
    let (across, up) = (x / z.abs().max(1e-3), y / z.abs().max(1e-3));
    let pane = (Vec2::new(across, up) * Vec2::new(2.4, 2.0)).fract_gl();
    if within(-1.3, across, 1.3) && within(-0.1, up, 1.25) && pane.min_element() > 0.1 {
        return Vec3::new(0.72, 0.86, 1.0);
    }
    if y > 0.75 && within(-0.25, x, 0.25) {
        return Vec3::new(1.0, 0.97, 0.9);
    }
    if x > 0.55 && within(0.25, y, 0.6) && within(-0.5, z, 0.35) {
        return Vec3::new(1.0, 0.62, 0.3);
    }
    Vec3::new(0.10, 0.09, 0.11) + Vec3::new(0.12, 0.11, 0.09) * y.max(0.0) + Vec3::new(0.05, 0.02, 0.0) * (x + 1.0)
}

/// The light in a texel of a face with `side` texels across: the mean of four by four directions.
fn texel(face: Face, side: u32, n: u32) -> Vec3 {
    let place = |at: u32, step: u32| (2.0 * (at as f32 + 0.25 * (step as f32 + 0.5))) / side as f32 - 1.0;
    let within = |step: u32| face.direction(place(n % side, step % 4), place(n / side, step / 4));
    (0..16).map(|step| light_from(within(step))).sum::<Vec3>() / 16.0
}

/// The cube map with all its levels. The last two are the light around each direction, weighted by the 16th power of the cosine in the second to last, and by
/// the cosine in the last.
fn room(device: &GpuDevice) -> Result<CubeTexture, SceneError> {
    let (texture_type, size_px) = (TextureType::Rgba8888, ROOM_PX);
    let room = CubeTexture::new(device, &CubeDescriptor { label: "room", texture_type, size_px, levels: LEVELS })?;
    let middle = |face: Face, side: u32, n: u32| {
        let place = |at: u32| (2 * at + 1) as f32 / side as f32 - 1.0;
        face.direction(place(n % side), place(n / side))
    };
    // Directions with their light and their solid angle.
    let source = |face: Face| {
        (0..SOURCE_PX * SOURCE_PX).map(move |n| {
            let (to, side) = (middle(face, SOURCE_PX, n), SOURCE_PX);
            (to.normalize(), texel(face, side, n), 1.0 / (to.length() * to.length_squared()))
        })
    };
    let sources: Vec<(Vec3, Vec3, f32)> = Face::ALL.into_iter().flat_map(source).collect();
    let around = |to: Vec3, matte: bool| {
        let mut sum = (Vec3::ZERO, 0.0);
        for &(from, light, share) in &sources {
            let cosine = to.dot(from).max(0.0);
            let fourth = cosine * cosine * cosine * cosine;
            let share = share * if matte { cosine } else { fourth * fourth * fourth * fourth };
            sum = (sum.0 + share * light, sum.1 + share);
        }
        sum.0 / sum.1
    };
    for (face, level) in Face::ALL.into_iter().flat_map(|face| (0..LEVELS).map(move |level| (face, level))) {
        let side = ROOM_PX >> level;
        let texel = |n: u32| {
            let light = match LEVELS - 1 - level {
                last @ (0 | 1) => around(middle(face, side, n).normalize(), last == 0),
                _ => texel(face, side, n),
            };
            let [red, green, blue] = (255.0 * light.powf(0.5)).to_array().map(|root| root as u8);
            [red, green, blue, 255]
        };
        let texels: Vec<u8> = (0..side * side).flat_map(texel).collect();
        room.write(device, face, level, None, &texels)?;
    }
    Ok(room)
}

impl Scene for Metal {
    fn frame(&mut self, context: &mut SceneContext<'_>, moment: &Moment) -> Result<Fence, SceneError> {
        let aspect = context.target.aspect();
        let turn = Mat4::from_rotation_y(moment.ticks(TURN) / TURN as f32 * TAU + 0.35);
        let eye = turn.transform_point3(Vec3::new(0.0, 1.75, 4.9));
        let view = look_at_mat4(eye, Vec3::new(0.0, 0.8, 0.0), Vec3::Y);
        let camera = perspective(FRAC_PI_4, aspect, 0.5, 20.0) * view;
        let sampler = Sampler::TRILINEAR.wrapped(Wrap::Clamp);
        let mut frame = context.device.frame()?;
        let mut pass = frame
            .pass(&PassDescriptor { samples: Samples::Four, ..PassDescriptor::to(&context.target).clear([0.0; 4]) })?;
        let (turned, half) = (view.inverse(), HALF);
        let rays = whole(&context.target, |x, y| {
            turned.transform_vector3(Vec3::new(half * aspect * x, half * y, -1.0)).to_array()
        });
        let surroundings = cube_mapped::FragmentUniforms { surroundings: self.room.bind(&sampler)? };
        pass.draw_vertices(&self.backdrop, Primitive::TriangleStrip, &rays, &NoUniforms, &surroundings)?;
        for (mesh, material) in &self.parts {
            let [red, green, blue, _] = material.base_color;
            let fragment = FragmentUniforms {
                eye: eye.to_array(),
                base_color: [red, green, blue],
                metallic: material.metallic,
                roughness: material.roughness,
                vessels: SPHERES.map(|(middle, radius)| middle.extend(radius * radius).to_array()),
                feet: FEET,
                surroundings: self.room.bind(&sampler)?,
            };
            pass.draw(&self.model, mesh, &Uniforms { matrix: rows(&camera) }, &fragment)?;
        }
        Ok(frame.submit()?)
    }
}
