//! A scene: a glTF model, a shader, a camera that circles around it, and a line of text.
//!
//! `cargo run` shows it in a window, drawn by the simulated GPU; the left and right arrow keys turn the camera. Without a display, or with `--save FILE`, it
//! saves a film. What [`Scene`] draws with is the same on a Raspberry Pi.

#![forbid(unsafe_code)]

use std::f32::consts::{FRAC_PI_4, TAU};

use glam::{
    Mat4, Vec3,
    camera::rh::{proj::opengl::perspective, view::look_at_mat4},
};
use renderer::{
    Canvas, Cull, Depth, Device, Error, Indices, Mesh, PassDescriptor, Pipeline, PipelineDescriptor, Primitive,
    Samples, Target,
    canvas::{FontAtlas, TextStyle},
    rows, unorm,
};
use v3d::{Fence, Platform};
use v3d_host::{Config, Key, Model, Moment};

/// Programs and types, generated from `shaders/` by the build script.
#[allow(unreachable_pub, reason = "generated for libraries, too")]
mod shaders {
    include!(concat!(env!("OUT_DIR"), "/shaders.rs"));
}

/// The model and the font, generated from `assets/` by the build script.
#[allow(unreachable_pub, reason = "generated for libraries, too")]
mod assets {
    include!(concat!(env!("OUT_DIR"), "/assets.rs"));
}

use assets::{LABELS, PAWNS};
use shaders::scene::{FRAGMENT, FragmentUniforms, SHADING, Uniforms, Vertex};

/// Width and height of the picture.
const SIZE_PX: [u32; 2] = [640, 360];
/// What is behind everything.
const BACKGROUND: [u8; 4] = [46, 58, 82, 255];
/// The colour of text, and its size in pixels, for which the build script has made the font.
const INK: [u8; 4] = [226, 232, 242, 255];
const TEXT_PX: f32 = 16.0;
/// Seconds in which the camera circles once.
const TURN_S: f32 = 12.0;

/// What is kept from frame to frame.
struct Scene {
    pipeline: Pipeline<Vertex, Uniforms, FragmentUniforms>,
    /// The model's parts, each with the colour of its material.
    parts: Vec<(Mesh<Vertex>, [f32; 3])>,
    /// The camera's angle, in radians.
    angle: f32,
    canvas: Canvas,
    font: FontAtlas,
}

impl Scene {
    /// Uploads the model, the programs and the font.
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
            canvas: Canvas::new(device, "text", SIZE_PX[0], SIZE_PX[1])?,
            font: FontAtlas::new(device, "labels", &LABELS)?,
        })
    }

    /// Turns the camera: by itself, or as the arrow keys say.
    fn advance(&mut self, moment: &Moment) {
        let direction = match (moment.is_down(Key::Left), moment.is_down(Key::Right)) {
            (true, false) => -3.0,
            (false, true) => 3.0,
            _ => 1.0,
        };
        self.angle = (self.angle + direction * moment.step_s * TAU / TURN_S).rem_euclid(TAU);
    }

    /// The place of the eye, and the matrix from the world to the screen.
    fn camera(&self, aspect: f32) -> (Vec3, Mat4) {
        let eye = Mat4::from_rotation_y(self.angle).transform_point3(Vec3::new(0.0, 2.1, 4.6));
        let view = look_at_mat4(eye, Vec3::new(0.0, 0.25, 0.0), Vec3::Y);
        (eye, perspective(FRAC_PI_4, aspect, 0.1, 100.0) * view)
    }

    /// Draws a frame.
    fn frame<P: Platform>(&mut self, device: &Device<'_, P>, screen: &Target) -> Result<Fence, Error> {
        let (eye, camera) = self.camera(screen.aspect());
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

        let text = format!("{:.0} degrees; left and right turn", self.angle.to_degrees());
        self.canvas.reset();
        let style = TextStyle::new(TEXT_PX, INK);
        self.canvas.text(&self.font, 16.0, SIZE_PX[1] as f32 - 16.0, &style, &text)?;
        let mut pass = frame.pass(&PassDescriptor::to(screen))?;
        self.canvas.draw_to(&mut pass)?;
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
