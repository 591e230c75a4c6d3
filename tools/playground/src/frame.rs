//! A frame: what a kernel would do to draw it, on the model.

use crate::mesh::{Corner, Shape};
use crate::source::Drawable;
use qpu::Assembly;
use qpu::interface::{Output, StreamItem};
use renderer::glam::camera::rh::{proj::opengl::perspective, view::look_at_mat4};
use renderer::glam::{Vec2, Vec3};
use renderer::pipeline::state::State;
use renderer::untyped::{Slot, UntypedUniforms, UntypedVertex};
use renderer::wgsl::{Shader, Values};
use renderer::{
    Depth, Device, Format, Indices, Mesh, Pass, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Sampler,
    Shading, Target, TargetDescriptor, Texture, TextureDescriptor, rows, unorm,
};
use serde::{Deserialize, Serialize};
use shader_compiler::interface::Number;
use shader_interface::{Ending, Fragment};
use std::collections::BTreeMap;
use v3d_host::{Config, Model, Picture};
use v3d_hw::Layout;
use v3d_hw::control_list::Threading;
use v3d_hw::qpu::INSTRUCTION_BYTES;
use v3d_hw::shaded_vertex::ScreenXy;
use v3d_hw::texture::TextureType;
use v3d_hw::tile_buffer::tile_size_px;
use v3d_hw::tiling::Tiling;
use v3d_sim::counters::{BusyCycles, Counters};
use v3d_sim::render::pixel_trace::PixelTrace;
use v3d_sim::timing::{Stall, Stalls};

/// Memory of the machine.
const MEMORY_BYTES: u32 = 24 << 20;
/// Instructions after which a frame counts as endless: some seconds.
const INSTRUCTION_BUDGET: u64 = 100_000_000;
const BACKGROUND: [u8; 4] = [4, 5, 12, 255];
/// The clock that the firmware names, and the one that boards were measured at [bm].
const CLOCKS_MHZ: [u32; 2] = [250, 300];
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
    /// Place of the mouse in pixels, from the lower left.
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

/// A picture for textures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Width and height.
    pub size_px: [u32; 2],
    /// Red, green, blue, alpha, from the top left corner.
    pub rgba: Vec<u8>,
}

impl Default for Image {
    /// Squares of two colours with a joint between.
    fn default() -> Self {
        const SIDE: u32 = 64;
        let texel = |n: u32| {
            let (x, y) = (n % SIDE, n / SIDE);
            let is_joint = x % 16 == 0 || y % 16 == 0;
            let is_light = (x / 16 + y / 16) % 2 == 0;
            if is_joint {
                [40, 44, 58, 255]
            } else if is_light {
                [236, 222, 186, 255]
            } else {
                [196, 92, 60, 255]
            }
        };
        Self { size_px: [SIDE; 2], rgba: (0..SIDE * SIDE).flat_map(texel).collect() }
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

/// Counts of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProgramCost {
    /// Its kind.
    pub kind: String,
    /// Its address.
    pub address: u32,
    /// Invocations, each for 16 elements.
    pub starts: u64,
    /// Instructions executed.
    pub instructions: u64,
    /// Estimated cycles in which it occupied QPUs.
    pub cycles: u64,
    /// Cycles of waiting, by what was waited for.
    pub stalls: Vec<(&'static str, u64)>,
    /// The same for each instruction that was executed.
    pub code: Vec<InstructionCost>,
}

/// Counts of an instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InstructionCost {
    /// Its number in the program.
    pub number: u32,
    /// How often it was executed.
    pub executed: u64,
    /// Cycles of waiting, by what was waited for.
    pub stalls: Vec<(&'static str, u64)>,
}

/// What a frame costs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Costs {
    /// Its programs.
    pub programs: Vec<ProgramCost>,
    /// Estimated cycles from the start to the end.
    pub cycles: u64,
    /// Milliseconds at 250 and at 300 MHz.
    pub milliseconds: [f64; 2],
    /// Busy cycles of units, the busiest first.
    pub units: Vec<(&'static str, u64)>,
    /// Tiles: column, row, primitives, pixels shaded, instructions.
    pub tiles: Vec<[u64; 5]>,
    /// Width and height of a tile in pixels.
    pub tile_px: [u32; 2],
    /// The lists and what they refer to, in words.
    pub lists: String,
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
pub fn draw(drawable: &Drawable, settings: &Settings, image: &Image, wanted: Wanted) -> Result<Drawn, String> {
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
    let model = Model::new(MEMORY_BYTES, config);
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
    let shape = Shape::named(&settings.shape).ok_or_else(|| format!("there is no shape {:?}", settings.shape))?;
    let mut frame = device.frame().map_err(text)?;
    let mut pass = frame.pass(&PassDescriptor::to(&target).clear(unorm(BACKGROUND))).map_err(text)?;
    match drawable {
        Drawable::Shader(shader) => with_shader(&device, &mut pass, shader, shape, settings, image)?,
        Drawable::Fragment(assembly) => with_fragment(&device, &mut pass, assembly, settings, image)?,
    }
    let fence = frame.submit().map_err(text)?;
    let done = device.wait(fence).map_err(text);
    let faults: Vec<String> = model.take_faults().iter().map(ToString::to_string).collect();
    done.map_err(|error| faults.first().map_or(error.clone(), |fault| format!("{error}: {fault}")))?;
    let picture = Picture::of_target(&device, &target).map_err(text)?;
    let costs = wanted.costs.then(|| costs(&model));
    let job = if wanted.job { model.captured("playground").map_err(text)? } else { Vec::new() };
    Ok(Drawn { picture, faults, costs, trace: model.take_pixel_trace(), job })
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Where the camera is: it circles around shapes.
fn eye(time: f32) -> Vec3 {
    let round = Vec2::from_angle(0.4 * time + 1.0);
    3.3 * Vec3::new(0.92 * round.x, 0.38, 0.92 * round.y)
}

/// The numbers of a uniform: those that a person has set, or what the frame gives by this name.
fn value(name: &str, numbers: usize, settings: &Settings) -> Vec<f32> {
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
        "to_sun" => vec![-0.75, 0.35, 0.561_249],
        _ => Vec::new(),
    };
    let mut numbers_given = values.get(name).cloned().unwrap_or_else(given);
    numbers_given.resize(numbers, 0.5);
    numbers_given
}

fn texture(device: &Device<'_, Model>, image: &Image) -> Result<Texture, String> {
    let [width, height] = image.size_px;
    let descriptor = TextureDescriptor::new("image", TextureType::Rgba8888, width, height);
    Texture::from_pixels(device, &descriptor, &image.rgba).map_err(text)
}

fn with_shader(
    device: &Device<'_, Model>,
    pass: &mut Pass<'_, '_, Model>,
    shader: &Shader,
    shape: Shape,
    settings: &Settings,
    image: &Image,
) -> Result<(), String> {
    let pipeline =
        shader.pipeline(device, "playground", &State { depth: Depth::LESS, ..State::PLAIN }).map_err(text)?;
    let is_flat = shader.attributes().iter().any(|attribute| attribute.name == "place" && attribute.components == 2);
    let (corners, triangles) = if is_flat { Shape::Quad.mesh() } else { shape.mesh() };
    let mut given: Vec<(&str, Vec<f32>)> = Vec::new();
    for attribute in shader.attributes().iter().filter(|attribute| !attribute.is_vertex_index) {
        let of_corner: fn(&Corner) -> [f32; 4] = match attribute.name.as_str() {
            "place" | "position" => |corner| corner.place.extend(1.0).to_array(),
            "normal" => |corner| corner.normal.extend(0.0).to_array(),
            "uv" => |corner| [corner.uv.x, corner.uv.y, 0.0, 1.0],
            "color" => |corner| (0.5 + 0.5 * corner.place).extend(1.0).to_array(),
            name => return Err(format!("no attribute `{name}` is given; there are place, normal, uv and color")),
        };
        let components = attribute.components as usize;
        let values = corners.iter().flat_map(|corner| of_corner(corner).into_iter().take(components)).collect();
        given.push((&attribute.name, values));
    }
    let given: Vec<(&str, Values<'_>)> = given.iter().map(|(name, values)| (*name, values.into())).collect();
    let indices = Some(Indices::U16(&triangles));
    let mesh = shader.mesh(device, "playground", Primitive::Triangles, &given, indices).map_err(text)?;
    let mut uniforms = shader.uniforms();
    for field in shader.fields() {
        let floats = value(&field.name, (field.components * field.count.unwrap_or(1)) as usize, settings);
        let set = match field.number {
            Number::Float => uniforms.set_values(&field.name, (&floats).into()),
            Number::Int => {
                let ints: Vec<i32> = floats.iter().map(|&float| float as i32).collect();
                uniforms.set_values(&field.name, (&ints).into())
            }
            Number::Uint | Number::Half => {
                let uints: Vec<u32> = floats.iter().map(|&float| float as u32).collect();
                uniforms.set_values(&field.name, (&uints).into())
            }
        };
        set.map_err(text)?;
    }
    if let Some(cube) = shader.textures().iter().find(|texture| texture.cube) {
        return Err(format!("`{}` is a cube map, and the playground's textures have two dimensions", cube.name));
    }
    for declared in shader.textures() {
        let bound = texture(device, image)?.bind(&Sampler::LINEAR).map_err(text)?;
        uniforms.set_texture(&declared.name, bound).map_err(text)?;
    }
    pipeline.draw(pass, &mesh, &uniforms).map_err(text)
}

/// Draws vertices that are shaded, in the corners of the picture, with a program in assembly. Its varyings go from 0 to 1: the first to the right, the second
/// upwards, the third to the left; all further ones are 1.
fn with_fragment(
    device: &Device<'_, Model>,
    pass: &mut Pass<'_, '_, Model>,
    assembly: &Assembly,
    settings: &Settings,
    image: &Image,
) -> Result<(), String> {
    let interface = &assembly.interface;
    let varyings: u32 = interface.varyings.iter().map(|varying| varying.components).sum();
    let threading = if interface.threads == Some(2) { Threading::Dual } else { Threading::Single };
    let ending = match interface.output {
        Output::Color => Ending::Color,
        Output::HalfColor => return Err("the playground's pictures have bytes, not half floats".to_owned()),
        Output::Own => Ending::Own,
    };
    // A program's words live as long as the page: a fragment shader keeps them by reference, and each has some hundred bytes.
    let code: &'static [u64] = assembly.words.clone().leak();
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
            1 => uv.y,
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
            StreamItem::Texture(_, of_texture) => {
                let number = textures.len() as u32;
                textures.push(texture(device, image)?.bind(&Sampler::LINEAR).map_err(text)?);
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

/// Stalls by what was waited for, those that there were.
fn named(stalls: &Stalls) -> Vec<(&'static str, u64)> {
    let all = Stall::ALL.into_iter().map(|stall| (stall.name(), stalls.get(stall)));
    all.filter(|(_, cycles)| *cycles > 0).collect()
}

/// What the frame has cost.
fn costs(model: &Model) -> Costs {
    let survey = model.survey();
    model.counted(|counters: &Counters| {
        let program = |(address, events): (v3d_hw::BusAddr, &v3d_sim::counters::ProgramEvents)| {
            let kinds = survey.program_kinds.get(&address.0);
            let kinds = kinds.map(|kinds| kinds.iter().copied().collect::<Vec<_>>().join(", ")).unwrap_or_default();
            // Its instructions are those before the next program.
            let next = counters.programs().map(|(start, _)| start.0).find(|&start| start > address.0);
            let own = address.0..next.unwrap_or(u32::MAX);
            let code = counters
                .instructions()
                .filter(|(at, _)| own.contains(&at.0))
                .map(|(at, cost)| InstructionCost {
                    number: (at.0 - address.0) / INSTRUCTION_BYTES,
                    executed: cost.executed,
                    stalls: named(&cost.stalls),
                })
                .collect();
            ProgramCost {
                kind: kinds,
                address: address.0,
                starts: events.starts,
                instructions: events.instructions,
                cycles: events.cycles,
                stalls: named(&events.stalls),
                code,
            }
        };
        let cycles = counters.elapsed_cycles();
        let BusyCycles { qpus, ptb, pse, fep, tlb, tmus, vpm, loads, stores, memory } = counters.busy_cycles();
        let mut units = vec![
            ("QPUs", qpus),
            ("TMUs", tmus),
            ("VPM", vpm),
            ("VCD", loads),
            ("VDW", stores),
            ("PTB", ptb),
            ("PSE", pse),
            ("FEP", fep),
            ("TLB", tlb),
            ("memory", memory),
        ];
        units.sort_by_key(|&(_, cycles)| std::cmp::Reverse(cycles));
        let tile_px = survey
            .rendering_mode
            .map_or([64; 2], |mode| tile_size_px(mode.multisample, mode.color_64_bit, mode.double_buffer).into());
        let tiles = counters.tiles().map(|((column, row), events)| {
            [u64::from(column), u64::from(row), events.primitives, events.pixels, events.instructions]
        });
        Costs {
            programs: counters.programs().map(program).collect(),
            cycles,
            milliseconds: CLOCKS_MHZ.map(|mhz| cycles as f64 / f64::from(mhz) / 1000.0),
            units,
            tiles: tiles.collect(),
            tile_px,
            lists: model.dump(),
        }
    })
}
