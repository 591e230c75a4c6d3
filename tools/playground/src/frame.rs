//! A frame: what a kernel would do to draw it, on the model.

use crate::assets::{Assets, Cube, Image, TO_SUN};
use crate::costs::{self, Costs};
use crate::mesh::{Corner, Shape};
use crate::source::Drawable;
use qpu::interface::{Interface, Output, StreamItem, TextureKind};
use renderer::glam::camera::rh::{proj::opengl::perspective, view::look_at_mat4};
use renderer::glam::{Vec2, Vec3};
use renderer::pipeline::state::State;
use renderer::texture::{CubeDescriptor, Face};
use renderer::untyped::{Slot, UntypedUniforms, UntypedVertex};
use renderer::wgsl::{Shader, Values};
use renderer::{
    CubeTexture, Depth, Device, Format, Indices, Mesh, Pass, PassDescriptor, Pipeline, PipelineDescriptor, Primitive,
    Sampler, Shading, Target, TargetDescriptor, Texture, TextureDescriptor, rows, unorm,
};
use serde::Deserialize;
use shader_compiler::interface::{Field, Number};
use shader_interface::{Ending, Fragment};
use std::borrow::Cow;
use std::collections::BTreeMap;
use v3d_host::{Config, Model, Picture};
use v3d_hw::Layout;
use v3d_hw::control_list::Threading;
use v3d_hw::shaded_vertex::ScreenXy;
use v3d_hw::texture::TextureType;
use v3d_hw::tiling::Tiling;
use v3d_sim::render::pixel_trace::PixelTrace;

/// Memory of the machine, without a model's.
const MEMORY_BYTES: u32 = 24 << 20;
/// Memory for each corner of a model: its attributes, and what is kept of it while tiles are drawn.
const CORNER_BYTES: usize = 256;
/// Instructions after which a frame counts as endless: some seconds.
const INSTRUCTION_BUDGET: u64 = 100_000_000;
const BACKGROUND: [u8; 4] = [4, 5, 12, 255];
/// Most sides of a picture.
pub const MOST_PX: u32 = 1024;

/// What a frame is drawn of, beside the source.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Width of the picture in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Seconds.
    pub time: f32,
    /// Place of the mouse in pixels, from the upper left, as the places of pixels are counted in WGSL.
    pub mouse: [f32; 2],
    /// Name of the shape.
    pub shape: String,
    /// Values of uniforms.
    pub values: BTreeMap<String, Vec<f32>>,
}

impl Default for Settings {
    fn default() -> Self {
        let (shape, values) = ("quad".to_owned(), BTreeMap::new());
        Self { width: 320, height: 180, time: 0.0, mouse: [0.0; 2], shape, values }
    }
}

/// What is wanted of a frame beside its picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Cycles and stalls, and the lists in words.
    pub costs: bool,
    /// The history of a pixel, by column and row.
    pub pixel: Option<(u32, u32)>,
    /// The files of a job folder.
    pub job: bool,
}

/// A frame that was drawn.
#[derive(Debug)]
pub struct Drawn {
    /// The picture.
    pub picture: Picture,
    /// What the model reports.
    pub faults: Vec<String>,
    /// What it costs.
    pub costs: Option<Costs>,
    /// What happened at the pixel.
    pub trace: PixelTrace,
    /// Files of a job folder.
    pub job: Vec<(String, Vec<u8>)>,
}

/// Draws a frame.
///
/// # Errors
/// Why it could not be drawn, in a sentence.
pub fn draw(drawable: &Drawable, settings: &Settings, assets: &Assets, wanted: Wanted) -> Result<Drawn, String> {
    let Settings { width, height, .. } = *settings;
    if width == 0 || height == 0 || width > MOST_PX || height > MOST_PX {
        return Err(format!("a picture has 1 to {MOST_PX} pixels in width and height"));
    }
    let config = Config {
        parallel: false,
        estimate: wanted.costs,
        estimate_instructions: wanted.costs,
        watched_pixel: wanted.pixel,
        instruction_budget: INSTRUCTION_BUDGET,
        ..Config::default()
    };
    let parts = parts(&settings.shape, assets)?;
    let corners: usize = parts.iter().map(|part| part.corners.len()).sum();
    let model = Model::new(MEMORY_BYTES + (CORNER_BYTES * corners) as u32, config);
    if wanted.job {
        model.record();
    }
    let device = model.device().map_err(text)?;
    let descriptor = TargetDescriptor {
        label: "picture",
        width_px: width,
        height_px: height,
        format: Format::Rgba8888,
        tiling: Tiling::Raster,
    };
    let target = Target::new(&device, &descriptor).map_err(text)?;
    let mut frame = device.frame().map_err(text)?;
    let mut pass = frame.pass(&PassDescriptor::to(&target).clear(unorm(BACKGROUND))).map_err(text)?;
    match drawable {
        Drawable::Shader(shader) => with_shader(&device, &mut pass, shader, &parts, settings, assets)?,
        Drawable::Fragment { interface, code } => {
            with_fragment(&device, &mut pass, interface, code, settings, assets)?;
        }
    }
    let fence = frame.submit().map_err(text)?;
    let done = device.wait(fence).map_err(text);
    let faults: Vec<String> = model.take_faults().iter().map(ToString::to_string).collect();
    done.map_err(|error| faults.first().map_or(error.clone(), |fault| format!("{error}: {fault}")))?;
    let picture = Picture::of_target(&device, &target).map_err(text)?;
    let costs = wanted.costs.then(|| costs::of_frame(&model));
    let job = if wanted.job { model.captured("playground").map_err(text)? } else { Vec::new() };
    Ok(Drawn { picture, faults, costs, trace: model.take_pixel_trace(), job })
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// A part of what is drawn: triangles of one colour and one picture.
struct Part<'a> {
    corners: Cow<'a, [Corner]>,
    triangles: Cow<'a, [u16]>,
    /// None if the colour goes with the place.
    color: Option<Vec3>,
    image: Cow<'a, Image>,
}

/// The parts of a shape.
fn parts<'a>(shape: &str, assets: &'a Assets) -> Result<Vec<Part<'a>>, String> {
    let given = assets.image.as_ref().map(Cow::Borrowed);
    if shape == "model" {
        let model = assets.model.as_ref().ok_or("no model has been dropped onto the page")?;
        let part = |part: &'a crate::model::Part| Part {
            corners: Cow::Borrowed(part.corners.as_slice()),
            triangles: Cow::Borrowed(part.triangles.as_slice()),
            color: Some(part.color),
            image: given
                .clone()
                .unwrap_or_else(|| part.image.as_ref().map_or_else(|| Cow::Owned(Image::white()), Cow::Borrowed)),
        };
        return Ok(model.parts.iter().map(part).collect());
    }
    let shape = Shape::named(shape).ok_or_else(|| format!("there is no shape {shape:?}"))?;
    Ok(vec![of_shape(shape, given)])
}

fn of_shape(shape: Shape, image: Option<Cow<'_, Image>>) -> Part<'_> {
    let (corners, triangles) = shape.mesh();
    let image = image.unwrap_or_else(|| Cow::Owned(Image::default()));
    Part { corners: Cow::Owned(corners), triangles: Cow::Owned(triangles), color: None, image }
}

/// Where the camera is: it circles around shapes.
fn eye(time: f32) -> Vec3 {
    let round = Vec2::from_angle(0.4 * time + 1.0);
    3.3 * Vec3::new(0.92 * round.x, 0.38, 0.92 * round.y)
}

/// The numbers of a uniform: those that a person has set, or what the frame gives by this name.
pub(crate) fn value(name: &str, numbers: usize, settings: &Settings) -> Vec<f32> {
    let Settings { width, height, time, mouse, values, .. } = settings;
    let aspect = *width as f32 / *height as f32;
    let given = || match name {
        "time" => vec![*time],
        "resolution" => vec![*width as f32, *height as f32],
        "mouse" => mouse.to_vec(),
        "eye" => eye(*time).to_array().to_vec(),
        "matrix" => {
            let view = look_at_mat4(eye(*time), Vec3::ZERO, Vec3::Y);
            rows(&(perspective(core::f32::consts::FRAC_PI_4, aspect, 0.1, 100.0) * view)).to_vec()
        }
        "to_sun" => TO_SUN.to_array().to_vec(),
        _ => Vec::new(),
    };
    let mut numbers_given = values.get(name).cloned().unwrap_or_else(given);
    numbers_given.resize(numbers, 0.5);
    numbers_given
}

/// The words of a field of the uniforms, one for each number.
pub(crate) fn field_words(field: &Field, settings: &Settings) -> Vec<u32> {
    let numbers = value(&field.name, (field.components * field.count.unwrap_or(1)) as usize, settings);
    let word = |number: f32| match field.number {
        Number::Float => number.to_bits(),
        Number::Int => number as i32 as u32,
        Number::Uint | Number::Half => number as u32,
    };
    numbers.into_iter().map(word).collect()
}

fn texture(device: &Device<'_, Model>, image: &Image) -> Result<Texture, String> {
    let [width, height] = image.size_px;
    let descriptor = TextureDescriptor::new("image", TextureType::Rgba8888, width, height);
    Texture::from_pixels(device, &descriptor, &image.rgba).map_err(text)
}

fn cube_map(device: &Device<'_, Model>, cube: &Cube) -> Result<CubeTexture, String> {
    let descriptor =
        CubeDescriptor { label: "cube", texture_type: TextureType::Rgba8888, size_px: cube.side_px, levels: 1 };
    let texture = CubeTexture::new(device, &descriptor).map_err(text)?;
    for (face, texels) in Face::ALL.into_iter().zip(&cube.faces) {
        texture.write(device, face, 0, None, texels).map_err(text)?;
    }
    Ok(texture)
}

fn with_shader(
    device: &Device<'_, Model>,
    pass: &mut Pass<'_, '_, Model>,
    shader: &Shader,
    parts: &[Part<'_>],
    settings: &Settings,
    assets: &Assets,
) -> Result<(), String> {
    let pipeline =
        shader.pipeline(device, "playground", &State { depth: Depth::LESS, ..State::PLAIN }).map_err(text)?;
    let is_flat = shader.attributes().iter().any(|attribute| attribute.name == "place" && attribute.components == 2);
    let flat = [of_shape(Shape::Quad, assets.image.as_ref().map(Cow::Borrowed))];
    let parts = if is_flat { &flat } else { parts };
    let mut uniforms = shader.uniforms();
    for field in shader.fields() {
        let words = field_words(field, settings);
        let set = match field.number {
            Number::Float => {
                let floats: Vec<f32> = words.into_iter().map(f32::from_bits).collect();
                uniforms.set_values(&field.name, (&floats).into())
            }
            Number::Int => {
                let ints: Vec<i32> = words.into_iter().map(u32::cast_signed).collect();
                uniforms.set_values(&field.name, (&ints).into())
            }
            Number::Uint | Number::Half => uniforms.set_values(&field.name, (&words).into()),
        };
        set.map_err(text)?;
    }
    for declared in shader.textures().iter().filter(|texture| texture.cube) {
        let bound = cube_map(device, &assets.cube)?.bind(&Sampler::LINEAR).map_err(text)?;
        uniforms.set_cube(&declared.name, bound).map_err(text)?;
    }
    // Parts of the same picture share a texture.
    let mut textures: Vec<(&Image, Texture)> = Vec::new();
    for part in parts {
        let mesh = mesh(device, shader, part)?;
        for declared in shader.textures().iter().filter(|texture| !texture.cube) {
            let known = textures.iter().find(|(image, _)| **image == *part.image);
            let of_part = match known {
                Some((_, texture)) => texture.clone(),
                None => {
                    let new = texture(device, &part.image)?;
                    textures.push((&part.image, new.clone()));
                    new
                }
            };
            let bound = of_part.bind(&Sampler::LINEAR).map_err(text)?;
            uniforms.set_texture(&declared.name, bound).map_err(text)?;
        }
        pipeline.draw(pass, &mesh, &uniforms).map_err(text)?;
    }
    Ok(())
}

/// The corners of a part, with the attributes that a shader reads.
fn mesh(device: &Device<'_, Model>, shader: &Shader, part: &Part<'_>) -> Result<Mesh<UntypedVertex>, String> {
    let mut given: Vec<(&str, Vec<f32>)> = Vec::new();
    for attribute in shader.attributes().iter().filter(|attribute| !attribute.is_vertex_index) {
        let of_corner: &dyn Fn(&Corner) -> [f32; 4] = match attribute.name.as_str() {
            "place" | "position" => &|corner| corner.place.extend(1.0).to_array(),
            "normal" => &|corner| corner.normal.extend(0.0).to_array(),
            "uv" => &|corner| [corner.uv.x, corner.uv.y, 0.0, 1.0],
            "color" => &|corner| part.color.unwrap_or(0.5 + 0.5 * corner.place).extend(1.0).to_array(),
            name => return Err(format!("no attribute `{name}` is given; there are place, normal, uv and color")),
        };
        let components = attribute.components as usize;
        let values = part.corners.iter().flat_map(|corner| of_corner(corner).into_iter().take(components)).collect();
        given.push((&attribute.name, values));
    }
    let given: Vec<(&str, Values<'_>)> = given.iter().map(|(name, values)| (*name, values.into())).collect();
    let indices = Some(Indices::U16(&part.triangles));
    shader.mesh(device, "playground", Primitive::Triangles, &given, indices).map_err(text)
}

/// Draws vertices that are shaded, in the corners of the picture, with a program in assembly. Its varyings go from 0 to 1: the first to the right, the second
/// upwards, the third to the left; all further ones are 1.
fn with_fragment(
    device: &Device<'_, Model>,
    pass: &mut Pass<'_, '_, Model>,
    interface: &Interface,
    code: &'static [u64],
    settings: &Settings,
    assets: &Assets,
) -> Result<(), String> {
    let varyings: u32 = interface.varyings.iter().map(|varying| varying.components).sum();
    let threading = if interface.threads == Some(2) { Threading::Dual } else { Threading::Single };
    let ending = match interface.output {
        Output::Color => Ending::Color,
        Output::HalfColor => return Err("the playground's pictures have bytes, not half floats".to_owned()),
        Output::Own => Ending::Own,
    };
    let fragment: Fragment<UntypedUniforms<'_>, 0> = Fragment::new(code, threading, ending);
    let shading: Shading<'_, UntypedVertex, UntypedUniforms<'_>, 0> = Shading::PreShaded;
    let descriptor = PipelineDescriptor::new("playground", shading, &fragment);
    let pipeline =
        Pipeline::untyped(device, &descriptor, 4 * (3 + varyings as usize), varyings as usize).map_err(text)?;
    let (half_width, half_height) = (8.0 * settings.width as f32, 8.0 * settings.height as f32);
    let mut bytes = Vec::new();
    let (corners, triangles) = Shape::Quad.mesh();
    for Corner { place, uv, .. } in corners {
        let place = ScreenXy { x: (place.x * half_width) as i16, y: (-place.y * half_height) as i16 };
        let mut words = vec![place.to_word().map_err(text)?, 0.5f32.to_bits(), 1f32.to_bits()];
        let of_varying = |n: u32| match n {
            0 => uv.x,
            1 => 1.0 - uv.y,
            2 => 1.0 - uv.x,
            _ => 1.0,
        };
        words.extend((0..varyings).map(|n| of_varying(n).to_bits()));
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }
    let stride = 4 * (3 + varyings as usize);
    let mesh =
        Mesh::of_stride(device, "playground", Primitive::Triangles, &bytes, stride, Some(Indices::U16(&triangles)))
            .map_err(text)?;
    let (mut words, mut slots, mut textures) = (Vec::new(), Vec::new(), Vec::new());
    for item in interface.stream() {
        match item {
            StreamItem::Uniform(uniform) if uniform.ty.name() == "texture" => {
                return Err(format!("`{}`: declare textures by `.texture`, with their lookups", uniform.name));
            }
            StreamItem::Uniform(uniform) => {
                let is_float = matches!(uniform.ty.name(), "float" | "vec2" | "vec3" | "vec4" | "mat3" | "mat4");
                for number in value(&uniform.name, uniform.words() as usize, settings) {
                    slots.push(Slot::Word(words.len() as u32));
                    words.push(if is_float { number.to_bits() } else { number as i32 as u32 });
                }
            }
            StreamItem::Texture(declared, of_texture) => {
                let number = textures.len() as u32;
                textures.push(match of_texture.kind {
                    TextureKind::TwoDimensional => {
                        let image = assets.image.as_ref().map_or_else(|| Cow::Owned(Image::default()), Cow::Borrowed);
                        texture(device, &image)?.bind(&Sampler::LINEAR).map_err(text)?.of_any_kind()
                    }
                    TextureKind::Cube => {
                        cube_map(device, &assets.cube)?.bind(&Sampler::LINEAR).map_err(text)?.of_any_kind()
                    }
                    TextureKind::TwoDimensional64 | TextureKind::Child => {
                        let (name, kind) = (&declared.name, of_texture.kind.name());
                        return Err(format!("`{name}` is a texture of the kind {kind}; the page has 2d and cube"));
                    }
                });
                let of_lookup =
                    (0..of_texture.lookup_words()).map(|parameter| Slot::Texture { texture: number, parameter });
                (0..of_texture.lookups).for_each(|_| slots.extend(of_lookup.clone()));
            }
        }
    }
    let none = UntypedUniforms { slots: &[], coordinate_slots: &[], words: &[], textures: &[] };
    let uniforms = UntypedUniforms { slots: &slots, coordinate_slots: &[], words: &words, textures: &textures };
    pass.draw(&pipeline, &mesh, &none, &uniforms).map_err(text)
}
