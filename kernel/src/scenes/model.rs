//! A lighthouse on its rock in the sea: a glTF model with several materials, lit by a circling sun
//!
//! The build script has converted the glTF file to vertices and indices in the GPU's format, with normals as half floats; here they are copied. Each part of
//! the model has one material and is one draw. The vertex shader transforms the normals and computes the light from one direction; the fragment shader
//! multiplies it by the material's colour, or by its texture if there is one. The sea is a disc around the model, so that its horizon is level in every
//! direction; `sea.wgsl` computes its waves for each pixel. Four samples per pixel smooth the edges.

use alloc::{boxed::Box, vec::Vec};
use core::{
    f32::consts::{FRAC_PI_4, TAU},
    iter,
};

use qpu_shaders::{
    model::{SHADING, Uniforms, Vertex},
    model_colored, model_textured, sea,
};
use renderer::{
    Cull, Depth, Indices, Mesh, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Sampler, Samples, Texture,
    TextureDescriptor,
    asset::{Image, ModelMaterial},
    glam::{
        Mat3, Mat4, Vec2, Vec3,
        camera::rh::{proj::opengl::perspective, view::look_at_mat4},
    },
    rows,
    texture::TextureType,
    unorm,
};
use v3d::Fence;

use super::{Scene, SceneContext, SceneEntry, SceneError};
use crate::{
    gpu::GpuDevice,
    scene_parts::{assets::LIGHTHOUSE, moment::Moment},
};

/// The entry in the table of scenes.
pub(super) const ENTRY: SceneEntry = SceneEntry {
    name: "model",
    description: "a lighthouse: a glTF model with several materials, lit by a circling sun",
    start: |context| Ok(Box::new(Model::new(context.device)?)),
};

/// Frames in which the sun circles once.
const DAY: u64 = 600;
/// Frames in which the eye circles once.
const TURN: u64 = 2400;
const SKY: [u8; 4] = [176, 204, 226, 255];
/// The sea's level as a fraction of the model's height.
const TIDE: f32 = 0.07;
/// The sea's radius in heights of the model, and the number of its corners.
const SEA_RADIUS: f32 = 75.0;
const SEA_CORNERS: u16 = 96;
/// Direction to the sun at the start.
const TO_SUN: Vec3 = Vec3::new(0.55, 0.4, 0.5);
/// Ambient light.
const AMBIENT: f32 = 0.35;
/// The exponent that converts linear light to the display's values.
const GAMMA: f32 = 1.0 / 2.2;

/// Triangles of one material.
#[derive(Debug)]
struct MaterialMesh {
    mesh: Mesh<Vertex>,
    color: [f32; 4],
    image: Option<Texture>,
}

#[derive(Debug)]
struct Model {
    parts: Vec<MaterialMesh>,
    plain: Pipeline<Vertex, Uniforms, model_colored::FragmentUniforms>,
    textured: Pipeline<Vertex, Uniforms, model_textured::FragmentUniforms>,
    disc: Mesh<sea::Vertex>,
    water: Pipeline<sea::Vertex, sea::Uniforms, sea::FragmentUniforms>,
}

impl Model {
    fn new(device: &GpuDevice) -> Result<Self, SceneError> {
        let (depth, samples) = (Depth::LESS, Samples::Four);
        let plain = PipelineDescriptor::new("plain", &SHADING, &model_colored::FRAGMENT);
        let plain = PipelineDescriptor { depth, samples, ..plain };
        let textured = PipelineDescriptor::new("textured", &SHADING, &model_textured::FRAGMENT);
        let textured = PipelineDescriptor { depth, samples, cull: Cull::None, ..textured };
        let part = |part: &renderer::asset::ModelPart| {
            let ModelMaterial { name, base_color, base_color_image, emissive, .. } =
                LIGHTHOUSE.materials[part.material];
            let color = (Vec3::from_slice(&base_color) + Vec3::from_array(emissive)).powf(GAMMA).min(Vec3::ONE);
            let image = base_color_image.map(|image| texture(device, &LIGHTHOUSE.images[image])).transpose()?;
            let indices = Some(Indices::Bytes16(part.indices));
            let mesh = Mesh::from_bytes(device, name, Primitive::Triangles, part.vertices, indices)?;
            Ok(MaterialMesh { mesh, color: color.extend(base_color[3]).to_array(), image })
        };
        let water = PipelineDescriptor::new("sea", &sea::SHADING, &sea::FRAGMENT);
        Ok(Self {
            parts: LIGHTHOUSE.parts.iter().map(part).collect::<Result<_, SceneError>>()?,
            plain: Pipeline::new(device, &plain)?,
            textured: Pipeline::new(device, &textured)?,
            disc: disc(device)?,
            water: Pipeline::new(device, &PipelineDescriptor { depth, samples, ..water })?,
        })
    }
}

/// The model's height.
fn height() -> f32 {
    LIGHTHOUSE.high[1] - LIGHTHOUSE.low[1]
}

/// The sea's surface. From everywhere near its middle, its edge is equally far below the horizon.
fn disc(device: &GpuDevice) -> Result<Mesh<sea::Vertex>, SceneError> {
    let radius = SEA_RADIUS * height();
    let corner = |n: u16| radius * Vec2::from_angle(f32::from(n) / f32::from(SEA_CORNERS) * TAU);
    let corners: Vec<_> = iter::once(Vec2::ZERO)
        .chain((0..=SEA_CORNERS).map(corner))
        .map(|at| sea::Vertex { place: at.to_array() })
        .collect();
    Ok(Mesh::new(device, "sea", Primitive::TriangleFan, &corners)?)
}

fn texture(device: &GpuDevice, image: &Image) -> Result<Texture, SceneError> {
    let descriptor = TextureDescriptor::new("image", TextureType::Rgba8888, image.width_px, image.height_px);
    Ok(Texture::from_pixels(device, &descriptor, image.rgba)?)
}

impl Scene for Model {
    fn frame(&mut self, context: &mut SceneContext<'_>, moment: &Moment) -> Result<Fence, SceneError> {
        let turned = |period: u64| Mat4::from_rotation_y(moment.ticks(period) / period as f32 * TAU);
        let (low, high) = (Vec3::from_array(LIGHTHOUSE.low), Vec3::from_array(LIGHTHOUSE.high));
        let (middle, size) = (0.5 * (low + high), (high - low).max_element());
        let eye = middle + turned(TURN).transform_vector3(size * Vec3::new(0.75, 0.09, 1.2));
        let camera = perspective(FRAC_PI_4, context.target.aspect(), 0.1 * size, 120.0 * size)
            * look_at_mat4(eye, middle, Vec3::Y);
        let to_sun = turned(DAY).transform_vector3(TO_SUN);
        let uniforms = Uniforms {
            matrix: rows(&camera),
            normal_matrix: Mat3::IDENTITY.to_cols_array(),
            to_light: to_sun.to_array(),
            ambient: AMBIENT,
        };
        let level = low.y + TIDE * height();
        let [red, green, blue, _] = unorm(SKY);
        let light = sea::FragmentUniforms {
            eye: (eye - Vec3::Y * level).to_array(),
            time: moment.seconds(),
            to_sun: to_sun.normalize().to_array(),
            horizon: [red, green, blue],
        };
        let mut frame = context.device.frame()?;
        let descriptor = PassDescriptor::to(&context.target).clear(unorm(SKY));
        let mut pass = frame.pass(&PassDescriptor { samples: Samples::Four, ..descriptor })?;
        for MaterialMesh { mesh, color, image } in &self.parts {
            let base_color = *color;
            match image {
                Some(image) => {
                    let image = image.bind(&Sampler::LINEAR)?;
                    pass.draw(
                        &self.textured,
                        mesh,
                        &uniforms,
                        &model_textured::FragmentUniforms { image, base_color },
                    )?;
                }
                None => pass.draw(&self.plain, mesh, &uniforms, &model_colored::FragmentUniforms { base_color })?,
            }
        }
        pass.draw(&self.water, &self.disc, &sea::Uniforms { matrix: rows(&camera), level }, &light)?;
        Ok(frame.submit()?)
    }
}
