//! A shader that is written while it is drawn
//!
//! `cargo xtask live FILE.wgsl` sends a file whenever it changes, and `shader edit` takes one that is typed. The kernel compiles it, and this scene makes a
//! pipeline of it. As long as a source is wrong, the last good picture goes on, with the compiler's message below it.
//!
//! What the scene gives by name, if the source declares it: the uniforms `time` (seconds), `frame`, `resolution` (pixels), `keys` (1 while an arrow is down:
//! left, right, up, down), `matrix` (to clip coordinates) and `eye`; two-dimensional textures of any name, which show a crate, or what
//! `cargo xtask live --texture` has sent; the attributes `place`, `normal`, `uv` and `color`, of a sphere if places have three components, otherwise of the
//! whole screen. Other uniforms are 0.

use alloc::{
    boxed::Box,
    format,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};
use core::f32::consts::{FRAC_PI_4, PI, TAU};

use renderer::{
    Canvas, Depth, Mesh, PassDescriptor, Primitive, Sampler, Texture,
    canvas::{FontAtlas, Shape, TextStyle},
    glam::{
        Mat4, Vec2, Vec3,
        camera::rh::{proj::opengl::perspective, view::look_at_mat4},
    },
    pipeline::state::State,
    rows, unorm,
    untyped::UntypedVertex,
    wgsl::{self, Shader, ShaderPipeline, Uniforms, Values, shader_compiler::interface::Number},
};
use v3d::Fence;

use super::{Keys, Scene, SceneContext, SceneEntry, SceneError, textured_cube::mipmapped};
use crate::{
    live,
    scene_parts::{
        assets::{BODY_FONT, WOODEN_CRATE},
        moment::Moment,
    },
    terminal::keyboard::Key,
};

/// The entry in the table of scenes.
pub(super) const ENTRY: SceneEntry = SceneEntry {
    name: "live",
    description: "a shader that is written while it is drawn: cargo xtask live FILE.wgsl, or shader edit",
    start: |context| Ok(Box::new(Live::new(context)?)),
};

/// Behind what the shader draws.
const BACKGROUND: [u8; 4] = [12, 14, 20, 255];
const PAPER: [u8; 4] = [60, 8, 12, 225];
const INK: [u8; 4] = [255, 225, 215, 255];
const SIZE: f32 = 18.0;
const LINE: f32 = 25.0;
const MARGIN: f32 = 24.0;
/// Where the camera is, in radii of the sphere.
const DISTANCE: f32 = 3.2;
/// Frames of one turn of the camera.
const TURN: u64 = 600;

impl From<wgsl::Error> for SceneError {
    fn from(error: wgsl::Error) -> Self {
        Self(error.to_string())
    }
}

/// What a shader draws with.
#[derive(Debug)]
struct Drawing {
    pipeline: ShaderPipeline,
    mesh: Mesh<UntypedVertex>,
    uniforms: Uniforms,
    /// The uniforms that the scene knows, and the shader declares.
    known: Vec<(&'static str, Number)>,
}

#[derive(Debug)]
struct Live {
    /// The version of what is drawn and shown.
    version: Option<u64>,
    drawing: Option<Drawing>,
    message: Vec<String>,
    picture: Texture,
    /// What the texture shows, if it was sent.
    sent: Option<Arc<live::Picture>>,
    font: FontAtlas,
    canvas: Canvas,
}

impl Live {
    fn new(context: &mut SceneContext<'_>) -> Result<Self, SceneError> {
        let SceneContext { device, target, .. } = context;
        let wood = WOODEN_CRATE;
        Ok(Self {
            version: None,
            drawing: None,
            message: Vec::new(),
            picture: mipmapped(device, "wood", [wood.width_px, wood.height_px], wood.rgba)?,
            sent: None,
            font: FontAtlas::new(device, "body font", &BODY_FONT)?,
            canvas: Canvas::new(device, "message", target.width_px(), target.height_px())?,
        })
    }

    /// Takes what was sent since the last frame. What cannot be drawn leaves the last drawing as it is.
    fn renew(&mut self, context: &SceneContext<'_>) -> Result<(), SceneError> {
        let version = live::version();
        if self.version == Some(version) {
            return Ok(());
        }
        self.version = Some(version);
        let (program, diagnostic) = live::current().map_err(|error| SceneError(error.to_string()))?;
        if let Some(lines) = diagnostic {
            self.message = lines;
            if self.drawing.is_some() {
                return Ok(());
            }
        } else {
            self.message.clear();
        }
        let sent = live::picture();
        if let Some(picture) =
            sent.as_ref().filter(|sent| !self.sent.as_ref().is_some_and(|known| Arc::ptr_eq(known, sent)))
        {
            self.picture = mipmapped(context.device, "sent", picture.size_px, &picture.rgba)?;
        }
        self.sent = sent;
        match drawing(context, &self.picture, &program) {
            Ok(drawing) => self.drawing = Some(drawing),
            Err(SceneError(why)) => self.message = Vec::from([why]),
        }
        Ok(())
    }

    /// Draws the message into the canvas.
    fn write(&mut self) -> Result<(), SceneError> {
        let Self { message, font, canvas, .. } = self;
        let [width, height] = canvas.size_px().map(|side| side as f32);
        canvas.reset();
        let top = height - MARGIN - LINE * message.len() as f32;
        canvas.shape(&Shape::rectangle(0.0, top - MARGIN, width, height - top + MARGIN), PAPER)?;
        for (number, line) in message.iter().enumerate() {
            let baseline = top + LINE * (number as f32 + 0.75);
            canvas.text(font, MARGIN, baseline, &TextStyle::new(SIZE, INK), line)?;
        }
        Ok(())
    }
}

/// Makes a pipeline, a mesh and uniforms for programs.
fn drawing(context: &SceneContext<'_>, picture: &Texture, program: &live::Program) -> Result<Drawing, SceneError> {
    let device = context.device;
    let shader = program.drawable()?;
    let pipeline = shader.pipeline(device, "live", &State { depth: Depth::LESS, ..State::PLAIN })?;
    let mesh = mesh(context, &shader)?;
    let mut uniforms = shader.uniforms();
    for texture in shader.textures().iter().filter(|texture| !texture.cube) {
        uniforms.set_texture(&texture.name, picture.bind(&Sampler::TRILINEAR)?)?;
    }
    let known = ["time", "frame", "resolution", "keys", "matrix", "eye"].into_iter().filter_map(|name| {
        let field = shader.fields().iter().find(|field| field.name == name)?;
        Some((name, field.number))
    });
    let known = known.collect();
    let mut drawing = Drawing { pipeline, mesh, uniforms, known };
    // Uniforms of these names and of other types are refused here, not in the middle of a frame.
    drawing.set(context, &Moment::fixed(0))?;
    Ok(drawing)
}

impl Drawing {
    /// Sets the uniforms of a frame.
    fn set(&mut self, context: &SceneContext<'_>, moment: &Moment) -> Result<(), wgsl::Error> {
        let (target, keyboard) = (&context.target, &context.keyboard);
        let angle = moment.ticks(TURN) / TURN as f32 * TAU;
        let eye = DISTANCE * Vec3::new(0.9 * Vec2::from_angle(angle).x, 0.4, 0.9 * Vec2::from_angle(angle).y);
        for &(name, number) in &self.known {
            let uniforms = &mut self.uniforms;
            match (name, number) {
                ("time", _) => uniforms.set(name, moment.seconds())?,
                ("frame", Number::Uint) => uniforms.set(name, moment.tick() as u32)?,
                ("frame", Number::Int) => uniforms.set(name, moment.tick() as i32)?,
                ("frame", _) => uniforms.set(name, moment.tick() as f32)?,
                ("resolution", _) => uniforms.set(name, [target.width_px() as f32, target.height_px() as f32])?,
                ("keys", _) => {
                    let keys = [Key::Left, Key::Right, Key::Up, Key::Down];
                    uniforms.set(name, keys.map(|key| if keyboard.is_down(key) { 1.0 } else { 0.0 }))?;
                }
                ("eye", _) => uniforms.set(name, eye.to_array())?,
                _ => {
                    let view = look_at_mat4(eye, Vec3::ZERO, Vec3::Y);
                    let matrix: Mat4 = perspective(FRAC_PI_4, target.aspect(), 0.1, 100.0) * view;
                    uniforms.set(name, rows(&matrix))?;
                }
            }
        }
        Ok(())
    }
}

/// Around and from pole to pole.
const SPHERE: [u16; 2] = [48, 24];

/// The places, normals and texture coordinates of a sphere of radius 1, triangle by triangle, or of the screen.
fn corners(is_flat: bool) -> Vec<(Vec3, Vec2)> {
    if is_flat {
        let corners = [Vec2::new(-1.0, -1.0), Vec2::new(1.0, -1.0), Vec2::new(-1.0, 1.0), Vec2::new(1.0, 1.0)];
        return [0, 1, 2, 2, 1, 3].map(|n| (corners[n].extend(0.0), 0.5 + 0.5 * corners[n])).to_vec();
    }
    let [around, down] = SPHERE;
    let corner = |x: u16, y: u16| {
        let Vec2 { x: height, y: radius } = Vec2::from_angle(PI * f32::from(y) / f32::from(down));
        let round = radius * Vec2::from_angle(TAU * f32::from(x) / f32::from(around));
        (
            Vec3::new(round.x, height, -round.y),
            Vec2::new(f32::from(x) / f32::from(around), 1.0 - f32::from(y) / f32::from(down)),
        )
    };
    let quads = (0..down).flat_map(|y| (0..around).map(move |x| (x, y)));
    let corners = quads.flat_map(|(x, y)| [(x, y), (x, y + 1), (x + 1, y + 1), (x, y), (x + 1, y + 1), (x + 1, y)]);
    corners.map(|(x, y)| corner(x, y)).collect()
}

fn mesh(context: &SceneContext<'_>, shader: &Shader) -> Result<Mesh<UntypedVertex>, SceneError> {
    let attributes = shader.attributes();
    let is_flat = attributes.iter().any(|attribute| attribute.name == "place" && attribute.components == 2);
    let corners = corners(is_flat);
    let mut given: Vec<(&str, Vec<f32>)> = Vec::new();
    for attribute in attributes.iter().filter(|attribute| !attribute.is_vertex_index) {
        let (name, components) = (attribute.name.as_str(), attribute.components as usize);
        let of_corner: fn(&(Vec3, Vec2)) -> [f32; 4] = match name {
            "place" => |(place, _)| place.extend(1.0).to_array(),
            "normal" => |(place, _)| place.extend(0.0).to_array(),
            "uv" => |(_, uv)| [uv.x, uv.y, 0.0, 1.0],
            "color" => |(place, _)| (0.5 + 0.5 * *place).extend(1.0).to_array(),
            _ => return Err(SceneError(format!("no attribute `{name}` is given; there are place, normal, uv, color"))),
        };
        given.push((name, corners.iter().flat_map(|corner| of_corner(corner).into_iter().take(components)).collect()));
    }
    let given: Vec<(&str, Values<'_>)> = given.iter().map(|(name, values)| (*name, values.into())).collect();
    Ok(shader.mesh(context.device, "live", Primitive::Triangles, &given, None)?)
}

impl Scene for Live {
    fn keys(&self) -> Keys {
        Keys::Commands
    }

    fn frame(&mut self, context: &mut SceneContext<'_>, moment: &Moment) -> Result<Fence, SceneError> {
        self.renew(context)?;
        if !self.message.is_empty() {
            self.write()?;
        }
        let mut frame = context.device.frame()?;
        let mut pass = frame.pass(&PassDescriptor::to(&context.target).clear(unorm(BACKGROUND)))?;
        if let Some(drawing) = &mut self.drawing {
            drawing.set(context, moment)?;
            drawing.pipeline.draw(&mut pass, &drawing.mesh, &drawing.uniforms)?;
        }
        if !self.message.is_empty() {
            self.canvas.draw_to(&mut pass)?;
        }
        Ok(frame.submit()?)
    }
}
