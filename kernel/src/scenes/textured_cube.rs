//! Crates on a tiled floor: textures with mipmaps
//!
//! The floor repeats a small texture into the distance, where hundreds of texels fall on one pixel. Sampling only the nearest four of them would make the floor
//! flicker while the camera moves, as it does here. The textures therefore have mipmaps: smaller levels, each half as wide as the one before, down to a single
//! texel that is the mean of all. The GPU draws them once, at the start. The TMU compares the texture coordinates of neighbouring pixels, selects the two
//! levels whose texels are about as large as a pixel, and interpolates between them (trilinear filtering), so that there is no visible edge between levels.

use alloc::{boxed::Box, vec::Vec};
use core::f32::consts::{FRAC_PI_4, TAU};

use qpu_shaders::textured_lit::{FRAGMENT, FragmentUniforms, SHADING, Uniforms, Vertex};
use renderer::{
    Cull, Depth, Mesh, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Sampler, Texture, TextureDescriptor,
    glam::{
        Mat4, Vec3,
        camera::rh::{proj::opengl::perspective, view::look_at_mat4},
    },
    rows,
    texture::TextureType,
    unorm,
};
use v3d::Fence;

use super::{Scene, SceneContext, SceneEntry, SceneError};
use crate::{
    gpu::{GpuDevice, GpuPass},
    scene_parts::{assets::WOODEN_CRATE, moment::Moment, shapes::Shape},
};

/// The entry in the table of scenes.
pub(super) const ENTRY: SceneEntry = SceneEntry {
    name: "textured-cube",
    description: "crates on a tiled floor: textures with mipmaps, filtered trilinearly",
    start: |context| {
        Ok(Box::new(TexturedCube { crates: Crates::new(context.device)?, pipeline: pipeline(context.device)? }))
    },
};

/// Frames in which the eye circles once.
const TURN: u64 = 480;
/// The background colour.
pub(super) const SKY: [u8; 4] = [150, 178, 205, 255];
/// Direction to the light; its length is the light's intensity.
const TO_LIGHT: Vec3 = Vec3::new(0.3, 0.55, 0.4);
/// Ambient light.
const AMBIENT: f32 = 0.42;
/// Positions of the crates, and their rotations.
const CRATES: [(Vec3, f32); 4] = [
    (Vec3::new(-0.6, 0.5, 0.0), 0.15),
    (Vec3::new(0.65, 0.5, 0.25), -0.3),
    (Vec3::new(0.05, 1.5, 0.1), 0.6),
    (Vec3::new(-0.2, 0.5, -1.6), 0.9),
];
/// Texels across and down of the floor's texture, which has two tiles each way.
const FLOOR_PX: u32 = 128;

/// The crates and the floor.
#[derive(Debug)]
pub(super) struct Crates {
    wood: Texture,
    tiles: Texture,
    cube: Mesh<Vertex>,
    floor: Mesh<Vertex>,
}

/// The pipeline that draws them.
pub(super) type LitPipeline = Pipeline<Vertex, Uniforms, FragmentUniforms>;

#[derive(Debug)]
struct TexturedCube {
    crates: Crates,
    pipeline: LitPipeline,
}

fn pipeline(device: &GpuDevice) -> Result<LitPipeline, SceneError> {
    let plain = PipelineDescriptor::new("lit", &SHADING, &FRAGMENT);
    Ok(Pipeline::new(device, &PipelineDescriptor { depth: Depth::LESS, cull: Cull::Back, ..plain })?)
}

impl Crates {
    /// Creates their meshes and textures.
    pub(super) fn new(device: &GpuDevice) -> Result<Self, SceneError> {
        let wood = WOODEN_CRATE;
        Ok(Self {
            wood: mipmapped(device, "wood", [wood.width_px, wood.height_px], wood.rgba)?,
            tiles: mipmapped(device, "tiles", [FLOOR_PX; 2], &tiles())?,
            cube: mesh(device, "crate", &Shape::cuboid(Vec3::ONE))?,
            floor: mesh(device, "floor", &Shape::floor(80.0, 40.0))?,
        })
    }

    /// Draws them with a matrix that transforms world coordinates to clip coordinates.
    pub(super) fn draw(&self, pass: &mut GpuPass<'_>, pipeline: &LitPipeline, camera: &Mat4) -> Result<(), SceneError> {
        // The light is rotated the opposite way instead of the crate's normals.
        let turned = |by: f32| Mat4::from_rotation_y(by);
        let placed = |place: Vec3, by: f32| Uniforms {
            matrix: rows(&(*camera * Mat4::from_translation(place) * turned(by))),
            to_light: turned(-by).transform_vector3(TO_LIGHT).to_array(),
            ambient: AMBIENT,
        };
        let wood = FragmentUniforms { image: self.wood.bind(&Sampler::TRILINEAR)? };
        let tiles = FragmentUniforms { image: self.tiles.bind(&Sampler::TRILINEAR)? };
        for (place, by) in CRATES {
            pass.draw(pipeline, &self.cube, &placed(place, by), &wood)?;
        }
        Ok(pass.draw(pipeline, &self.floor, &placed(Vec3::ZERO, 0.0), &tiles)?)
    }
}

/// A texture with mipmaps, which the GPU draws.
pub(super) fn mipmapped(
    device: &GpuDevice,
    label: &'static str,
    [width, height]: [u32; 2],
    rgba: &[u8],
) -> Result<Texture, SceneError> {
    let descriptor = TextureDescriptor::new(label, TextureType::Rgba8888, width, height).mipmapped();
    let texture = Texture::from_pixels(device, &descriptor, rgba)?;
    let mut frame = device.frame()?;
    texture.generate_mipmaps(&mut frame)?;
    frame.submit()?;
    Ok(texture)
}

/// Light and dark tiles, separated by joints.
fn tiles() -> Vec<u8> {
    let half = FLOOR_PX / 2;
    let texel = |x: u32, y: u32| {
        let joint = x % half < 2 || y % half < 2;
        let dark = (x < half) != (y < half);
        if joint {
            [60, 62, 66, 255]
        } else if dark {
            [96, 104, 116, 255]
        } else {
            [205, 204, 196, 255]
        }
    };
    (0..FLOOR_PX * FLOOR_PX).flat_map(|n| texel(n % FLOOR_PX, n / FLOOR_PX)).collect()
}

fn mesh(device: &GpuDevice, label: &'static str, shape: &Shape) -> Result<Mesh<Vertex>, SceneError> {
    let vertices: Vec<Vertex> = shape
        .corners
        .iter()
        .map(|corner| Vertex { position: corner.position, normal: corner.normal, uv: corner.uv })
        .collect();
    Ok(Mesh::indexed(device, label, Primitive::Triangles, &vertices, &shape.indices)?)
}

impl Scene for TexturedCube {
    fn frame(&mut self, context: &mut SceneContext<'_>, moment: &Moment) -> Result<Fence, SceneError> {
        let angle = moment.ticks(TURN) / TURN as f32 * TAU;
        let eye = Mat4::from_rotation_y(angle).transform_point3(Vec3::new(1.2, 2.1, 4.3));
        let camera = perspective(FRAC_PI_4, context.target.aspect(), 0.1, 60.0)
            * look_at_mat4(eye, Vec3::new(0.0, 0.8, 0.0), Vec3::Y);
        let mut frame = context.device.frame()?;
        let mut pass = frame.pass(&PassDescriptor::to(&context.target).clear(unorm(SKY)))?;
        self.crates.draw(&mut pass, &self.pipeline, &camera)?;
        Ok(frame.submit()?)
    }
}
