//! A scene: a model, a shader and a camera that circles around them.
//!
//! `cargo run` shows it in a window, drawn by the model of the GPU; the left and right arrow keys turn it. Without a display, or with `--save FILE`, it saves a
//! film. [`Scene`] does not know about the host: the same type draws on a Raspberry Pi.

#![forbid(unsafe_code)]

use std::f32::consts::{FRAC_PI_4, TAU};

use glam::{
    Mat4, Vec3,
    camera::rh::{proj::opengl::perspective, view::look_at_mat4},
};
use renderer::{
    Cull, Depth, Device, Error, Indices, Mesh, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Samples,
    Target, rows, unorm,
};
use v3d::{Fence, Platform};
use v3d_host::{Config, Key, Model, Moment};

/// Programs and types, generated from `shaders/` by the build script.
#[allow(unreachable_pub, reason = "generated for libraries, too")]
mod shaders {
    include!(concat!(env!("OUT_DIR"), "/shaders.rs"));
}

/// Models, generated from `assets/` by the build script.
#[allow(unreachable_pub, reason = "generated for libraries, too")]
mod assets {
    include!(concat!(env!("OUT_DIR"), "/assets.rs"));
}

use assets::PAWNS;
use shaders::scene::{FRAGMENT, FragmentUniforms, SHADING, Uniforms, Vertex};

/// Width and height of the picture.
const SIZE_PX: [u32; 2] = [640, 360];
/// What is behind everything.
const BACKGROUND: [u8; 4] = [46, 58, 82, 255];
/// Seconds in which the camera circles once.
const TURN_S: f32 = 12.0;

/// What is kept from frame to frame.
struct Scene {
    pipeline: Pipeline<Vertex, Uniforms, FragmentUniforms>,
    /// The model's parts, each with the colour of its material.
    parts: Vec<(Mesh<Vertex>, [f32; 3])>,
    /// The camera's angle, in radians.
    angle: f32,
}

impl Scene {
    /// Uploads the model and the programs.
    fn new<P: Platform>(device: &Device<'_, P>) -> Result<Self, Error> {
        let descriptor = PipelineDescriptor {
            depth: Depth::LESS,
            cull: Cull::Back,
            samples: Samples::Four,
            ..PipelineDescriptor::new("scene", &SHADING, &FRAGMENT)
        };
        let part = |part: &renderer::asset::ModelPart| {
            let material = &PAWNS.materials[part.material];
            let [red, green, blue, _] = material.base_color;
            let indices = Some(Indices::Bytes16(part.indices));
            let mesh = Mesh::from_bytes(device, material.name, Primitive::Triangles, part.vertices, indices)?;
            Ok((mesh, [red, green, blue]))
        };
        Ok(Self {
            pipeline: Pipeline::new(device, &descriptor)?,
            parts: PAWNS.parts.iter().map(part).collect::<Result<_, Error>>()?,
            angle: 0.6,
        })
    }

    /// Turns the camera: by itself, or as the arrow keys say.
    fn advance(&mut self, moment: &Moment) {
        let direction = match (moment.is_down(Key::Left), moment.is_down(Key::Right)) {
            (true, false) => -3.0,
            (false, true) => 3.0,
            _ => 1.0,
        };
        self.angle = (self.angle + direction * moment.step_s * TAU / TURN_S) % TAU;
    }

    /// Draws a frame.
    fn frame<P: Platform>(&self, device: &Device<'_, P>, screen: &Target) -> Result<Fence, Error> {
        let eye = Mat4::from_rotation_y(self.angle).transform_point3(Vec3::new(0.0, 2.1, 4.6));
        let camera =
            perspective(FRAC_PI_4, screen.aspect(), 0.1, 100.0) * look_at_mat4(eye, Vec3::new(0.0, 0.25, 0.0), Vec3::Y);
        let uniforms = Uniforms { matrix: rows(&camera) };

        let mut frame = device.frame()?;
        let descriptor = PassDescriptor::to(screen).clear(unorm(BACKGROUND));
        let mut pass = frame.pass(&PassDescriptor { samples: Samples::Four, ..descriptor })?;
        for (mesh, color) in &self.parts {
            let surface = FragmentUniforms {
                color: *color,
                to_sun: Vec3::new(0.5, 0.7, 0.45).normalize().to_array(),
                eye: eye.to_array(),
                gloss: 0.35,
            };
            pass.draw(&self.pipeline, mesh, &uniforms, &surface)?;
        }
        frame.submit()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let machine = Model::new(16 << 20, Config::default());
    let device = machine.device()?;
    let mut scene = Scene::new(&device)?;
    v3d_host::animate(&machine, &device, env!("CARGO_PKG_NAME"), SIZE_PX, |screen, moment| {
        scene.advance(moment);
        scene.frame(&device, screen)
    })?;
    Ok(())
}
