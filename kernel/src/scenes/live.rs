//! A shader that is written while it is drawn
//!
//! `cargo xtask live FILE.wgsl` sends a file whenever it changes, `shader load` takes one from the SD card, and `shader edit` one that is typed. The kernel
//! compiles it, and this scene makes a pipeline of it. As long as a source is wrong, the last good picture goes on, with the compiler's message below it.
//!
//! What the scene gives by name, if the source declares it: the uniforms `time` (seconds), `frame`, `resolution` (pixels), `keys` (1 while an arrow is down:
//! left, right, up, down), `matrix` (to clip coordinates) and `eye`; two-dimensional textures of any name, which show a crate, or the picture that was given
//! (`cargo xtask live --texture`, `shader texture`), or the model's; cube maps of any name, if six pictures were given (`--cube`, `shader cube`); the
//! attributes `place`, `normal`, `uv` and `color`, of a sphere, or of the model that was given (`--model`, `shader model`), if places have three components,
//! otherwise of the whole screen. Other uniforms are 0.

use alloc::{
    borrow::Cow,
    boxed::Box,
    format,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};
use core::f32::consts::{FRAC_PI_4, PI, TAU};

use renderer::{
    Canvas, CubeTexture, Depth, Mesh, PassDescriptor, Primitive, Sampler, Texture,
    canvas::{FontAtlas, Shape, TextStyle},
    glam::{
        Mat4, Vec2, Vec3,
        camera::rh::{proj::opengl::perspective, view::look_at_mat4},
    },
    pipeline::state::State,
    rows,
    texture::{CubeDescriptor, Face, TextureType},
    unorm,
    untyped::UntypedVertex,
    wgsl::{self, Shader, ShaderPipeline, Uniforms, Values, shader_compiler::interface::Number},
};
use v3d::Fence;

use super::{Keys, Scene, SceneContext, SceneEntry, SceneError, textured_cube::mipmapped};
use crate::{
    live::{
        self,
        model::{Corner, Model},
        picture::{Cube, Picture},
    },
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
    meshes: Vec<Mesh<UntypedVertex>>,
    uniforms: Uniforms,
    /// The uniforms that the scene knows, and the shader declares.
    known: Vec<(&'static str, Number)>,
}

/// What was given, with what is made of it.
#[derive(Debug, Default)]
struct Given {
    picture: Option<(Arc<Picture>, Texture)>,
    cube: Option<(Arc<Cube>, CubeTexture)>,
    model: Option<Arc<Model>>,
    /// The model's own picture, which textures show unless another was given.
    of_model: Option<Texture>,
}

#[derive(Debug)]
struct Live {
    /// The version of what is drawn and shown.
    version: Option<u64>,
    drawing: Option<Drawing>,
    message: Vec<String>,
    /// What textures show before anything is given.
    wood: Texture,
    given: Given,
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
            wood: mipmapped(device, "wood", [wood.width_px, wood.height_px], wood.rgba)?,
            given: Given::default(),
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
        self.given.renew(context)?;
        match drawing(context, &self.wood, &self.given, &program) {
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

/// Whether both are the same thing, or nothing.
fn is_same<T>(known: Option<&Arc<T>>, now: Option<&Arc<T>>) -> bool {
    match (known, now) {
        (Some(known), Some(now)) => Arc::ptr_eq(known, now),
        (None, None) => true,
        _ => false,
    }
}

impl Given {
    /// Makes textures of what was given since the last time.
    fn renew(&mut self, context: &SceneContext<'_>) -> Result<(), SceneError> {
        let live::Things { picture, cube, model } = live::things();
        let texture = |picture: &Picture| mipmapped(context.device, "given", picture.size_px, &picture.rgba);
        if !is_same(self.picture.as_ref().map(|(known, _)| known), picture.as_ref()) {
            // The memory of the one before is there for the next.
            self.picture = None;
            self.picture =
                picture.map(|picture| Ok::<_, SceneError>((picture.clone(), texture(&picture)?))).transpose()?;
        }
        if !is_same(self.cube.as_ref().map(|(known, _)| known), cube.as_ref()) {
            self.cube = None;
            self.cube =
                cube.map(|cube| Ok::<_, SceneError>((cube.clone(), cube_texture(context, &cube)?))).transpose()?;
        }
        if !is_same(self.model.as_ref(), model.as_ref()) {
            self.of_model = None;
            self.of_model = model.as_ref().and_then(|model| model.picture.as_ref()).map(texture).transpose()?;
            self.model = model;
        }
        Ok(())
    }
}

/// A cube map without smaller levels.
fn cube_texture(context: &SceneContext<'_>, cube: &Cube) -> Result<CubeTexture, SceneError> {
    let (device, texture_type, size_px) = (context.device, TextureType::Rgba8888, cube.side_px);
    let texture = CubeTexture::new(device, &CubeDescriptor { label: "given", texture_type, size_px, levels: 1 })?;
    for (face, rgba) in Face::ALL.into_iter().zip(&cube.faces) {
        texture.write(device, face, 0, None, rgba)?;
    }
    Ok(texture)
}

/// Makes a pipeline, meshes and uniforms for programs.
fn drawing(
    context: &SceneContext<'_>,
    wood: &Texture,
    given: &Given,
    program: &live::Program,
) -> Result<Drawing, SceneError> {
    let device = context.device;
    let shader = program.drawable()?;
    let pipeline = shader.pipeline(device, "live", &State { depth: Depth::LESS, ..State::PLAIN })?;
    let meshes = meshes(context, &shader, given.model.as_deref())?;
    let mut uniforms = shader.uniforms();
    let picture = given.picture.as_ref().map(|(_, texture)| texture).or(given.of_model.as_ref()).unwrap_or(wood);
    for texture in shader.textures() {
        if !texture.cube {
            uniforms.set_texture(&texture.name, picture.bind(&Sampler::TRILINEAR)?)?;
            continue;
        }
        let Some((_, cube)) = &given.cube else {
            let message = format!("the cube map `{}` needs six pictures: --cube, or `shader cube`", texture.name);
            return Err(SceneError(message));
        };
        uniforms.set_cube(&texture.name, cube.bind(&Sampler::LINEAR)?)?;
    }
    let known = ["time", "frame", "resolution", "keys", "matrix", "eye"].into_iter().filter_map(|name| {
        let field = shader.fields().iter().find(|field| field.name == name)?;
        Some((name, field.number))
    });
    let known = known.collect();
    let mut drawing = Drawing { pipeline, meshes, uniforms, known };
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

/// The corners of the screen, of a sphere of radius 1, or of a model, triangle by triangle.
fn corners(is_flat: bool, model: Option<&Model>) -> Cow<'_, [Corner]> {
    let corner = |place: Vec3, uv: Vec2| Corner { place, normal: place, uv, color: (0.5 + 0.5 * place).extend(1.0) };
    if is_flat {
        let corners = [Vec2::new(-1.0, -1.0), Vec2::new(1.0, -1.0), Vec2::new(-1.0, 1.0), Vec2::new(1.0, 1.0)];
        return [0, 1, 2, 2, 1, 3].map(|n| corner(corners[n].extend(0.0), 0.5 + 0.5 * corners[n])).to_vec().into();
    }
    if let Some(model) = model {
        return Cow::Borrowed(&model.corners);
    }
    let [around, down] = SPHERE;
    let on_sphere = |x: u16, y: u16| {
        let Vec2 { x: height, y: radius } = Vec2::from_angle(PI * f32::from(y) / f32::from(down));
        let round = radius * Vec2::from_angle(TAU * f32::from(x) / f32::from(around));
        let uv = Vec2::new(f32::from(x) / f32::from(around), 1.0 - f32::from(y) / f32::from(down));
        corner(Vec3::new(round.x, height, -round.y), uv)
    };
    let quads = (0..down).flat_map(|y| (0..around).map(move |x| (x, y)));
    let corners = quads.flat_map(|(x, y)| [(x, y), (x, y + 1), (x + 1, y + 1), (x, y), (x + 1, y + 1), (x + 1, y)]);
    corners.map(|(x, y)| on_sphere(x, y)).collect()
}

/// Corners of a mesh: whole triangles, whose number has 16 bits.
const MESH_CORNERS: usize = 65_535;

fn meshes(
    context: &SceneContext<'_>,
    shader: &Shader,
    model: Option<&Model>,
) -> Result<Vec<Mesh<UntypedVertex>>, SceneError> {
    let is_flat = shader.attributes().iter().any(|attribute| attribute.name == "place" && attribute.components == 2);
    corners(is_flat, model).chunks(MESH_CORNERS).map(|corners| mesh(context, shader, corners)).collect()
}

fn mesh(context: &SceneContext<'_>, shader: &Shader, corners: &[Corner]) -> Result<Mesh<UntypedVertex>, SceneError> {
    let mut given: Vec<(&str, Vec<f32>)> = Vec::new();
    for attribute in shader.attributes().iter().filter(|attribute| !attribute.is_vertex_index) {
        let (name, components) = (attribute.name.as_str(), attribute.components as usize);
        let of_corner: fn(&Corner) -> [f32; 4] = match name {
            "place" => |corner| corner.place.extend(1.0).to_array(),
            "normal" => |corner| corner.normal.extend(0.0).to_array(),
            "uv" => |corner| [corner.uv.x, corner.uv.y, 0.0, 1.0],
            "color" => |corner| corner.color.to_array(),
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
            for mesh in &drawing.meshes {
                drawing.pipeline.draw(&mut pass, mesh, &drawing.uniforms)?;
            }
        }
        if !self.message.is_empty() {
            self.canvas.draw_to(&mut pass)?;
        }
        Ok(frame.submit()?)
    }
}
