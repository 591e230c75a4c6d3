//! Pipelines: programs in GPU memory, with the fixed state of their draws.
//!
//! A pipeline is immutable, and determines everything about a draw except its mesh, its uniforms and its target. An invalid combination of features is an
//! error when the pipeline is created.
//!
//! # When early Z is off
//! Early Z rejects blocks of hidden pixels before they are shaded, so opaque objects cost least when they are drawn from near to far. It never changes the
//! picture. A pipeline uses it for the depth tests `Less` and `LessOrEqual`, unless
//! - the fragment shader writes a depth, because the early test uses the triangle's;
//! - fragments are discarded: by the shader, an alpha test or alpha to coverage;
//! - the stencil is modified when the stencil test or the depth test fails, because a fragment that is rejected early reaches neither.
//!
//! The early test compares with a depth buffer of its own, which only draws with early Z keep up to date. A draw that stores depths with `Always`, `Greater`,
//! `GreaterOrEqual` or `NotEqual` may increase the depth without updating it: a board then rejected visible fragments [bm docs/DRIVERS.md]. Therefore early Z
//! is off in all later draws of the pass ([`v3d::binning_list`]). To keep it, draw a background without storing depths, or at the farthest depth with
//! `LessOrEqual`.

use alloc::vec::Vec;
use core::marker::PhantomData;
use shader_interface::tail::{Tail, TailState};
use shader_interface::{Ending, Fragment, PrimitiveKind, UniformData, UniformStream, VertexData, VertexShading};
use v3d::Platform;
use v3d::draw_state::FixedState;
use v3d::hw::BusAddr;
use v3d::pool::Buffer;
use v3d::shader_record::{Attribute, FragmentProgram, GlRecord, NvRecord, Program, RecordTemplate};

use crate::buffer::CODE_ALIGNMENT;
use crate::device::Device;
use crate::error::Error;

pub(crate) mod programs;
pub mod state;

pub use shader_interface::tail::{blend, stencil};

use blend::{AlphaTest, Blend, Logic};
use programs::{FragmentCode, Programs, VertexCode};
use state::{Cull, Depth, FrontFace, PolygonOffset, Samples, State};
use stencil::Stencil;

/// Maximum number of varyings that the hardware interpolates [AG p.69: Flat Shade Flags].
const MAX_VARYINGS: usize = 32;
/// Maximum number of attribute arrays of a vertex.
const MAX_ARRAYS: usize = shader_interface::Attribute::MAX_ARRAYS;
/// Maximum size of a vertex in bytes: the stride has 8 bits.
const MAX_VERTEX_BYTES: usize = 255;

/// The source of a pipeline's shaded vertices.
#[derive(Clone, Copy, Debug)]
pub enum Shading<'a, V, U, const VARYINGS: usize> {
    /// From a vertex shader: the GL pipeline.
    Programs(&'a VertexShading<V, U, VARYINGS>),
    /// From memory, in the format of a vertex shader's output: the NV pipeline.
    PreShaded,
}

impl<'a, V, U, const N: usize> From<&'a VertexShading<V, U, N>> for Shading<'a, V, U, N> {
    fn from(programs: &'a VertexShading<V, U, N>) -> Self {
        Self::Programs(programs)
    }
}

/// Programs and state of a pipeline.
#[derive(Clone, Copy, Debug)]
pub struct PipelineDescriptor<'a, V, U, F, const VARYINGS: usize> {
    /// The name in error messages.
    pub label: &'static str,
    /// Where shaded vertices come from.
    pub shading: Shading<'a, V, U, VARYINGS>,
    /// The fragment shader.
    pub fragment: &'a Fragment<F, VARYINGS>,
    /// Whether it draws to targets of half floats, [`Format::Rgba16Float`](crate::Format::Rgba16Float): then its colours are not clamped to 0 to 1. A fragment
    /// shader in WGSL draws to targets of either kind, one in assembly only to those that it is written for.
    pub half_color: bool,
    /// Depth test.
    pub depth: Depth,
    /// Stencil test, if there is one.
    pub stencil: Option<Stencil>,
    /// How the fragment shader's colour is combined with the pixel's.
    pub blend: Blend,
    /// A bitwise operation on colours, instead of blending.
    pub logic: Logic,
    /// The bits of each channel that are written: red, green, blue, alpha.
    pub color_mask: [u8; 4],
    /// A test of the fragment's alpha; fragments that fail are discarded.
    pub alpha_test: AlphaTest,
    /// Samples per pixel, which must be those of the pass.
    pub samples: Samples,
    /// Whether alpha determines how many of four samples are written.
    pub alpha_to_coverage: bool,
    /// Which faces are culled.
    pub cull: Cull,
    /// The winding of front faces.
    pub front: FrontFace,
    /// An offset added to depths.
    pub polygon_offset: PolygonOffset,
    /// Width of lines in pixels. Only a fragment shader that is declared for lines draws them.
    pub line_width_px: f32,
    /// Width and height of points in pixels, unless vertices carry a size. Only a fragment shader that is declared for
    /// points draws them.
    pub point_size_px: f32,
}

impl<'a, V, U, F, const N: usize> PipelineDescriptor<'a, V, U, F, N> {
    /// A descriptor without depth test, blending or culling: each draw replaces what it covers. Its targets have bytes, unless the fragment shader is only for
    /// half floats.
    pub fn new(label: &'static str, shading: impl Into<Shading<'a, V, U, N>>, fragment: &'a Fragment<F, N>) -> Self {
        let plain = State::PLAIN;
        Self {
            label,
            shading: shading.into(),
            fragment,
            half_color: matches!(fragment.ending(), Ending::HalfColor),
            depth: plain.depth,
            stencil: plain.stencil,
            blend: plain.blend,
            logic: plain.logic,
            color_mask: plain.color_mask,
            alpha_test: plain.alpha_test,
            samples: plain.samples,
            alpha_to_coverage: plain.alpha_to_coverage,
            cull: plain.cull,
            front: plain.front,
            polygon_offset: plain.polygon_offset,
            line_width_px: plain.line_width_px,
            point_size_px: plain.point_size_px,
        }
    }
}

impl<V, U, F, const N: usize> PipelineDescriptor<'_, V, U, F, N> {
    /// The state without the programs.
    pub const fn state(&self) -> State {
        State {
            half_color: self.half_color,
            depth: self.depth,
            stencil: self.stencil,
            blend: self.blend,
            logic: self.logic,
            color_mask: self.color_mask,
            alpha_test: self.alpha_test,
            samples: self.samples,
            alpha_to_coverage: self.alpha_to_coverage,
            cull: self.cull,
            front: self.front,
            polygon_offset: self.polygon_offset,
            line_width_px: self.line_width_px,
            point_size_px: self.point_size_px,
        }
    }
}

/// Programs in GPU memory and the state that they draw with. `V` is the type of vertices, `U` of the vertex shader's
/// uniforms, `F` of the fragment shader's.
#[derive(Clone, Debug)]
pub struct Pipeline<V, U, F> {
    pub(crate) built: BuiltPipeline,
    feeds: PhantomData<fn(V, U, F)>,
}

/// A pipeline without the types of what it is fed with. Code for it is compiled once, and not for each combination of types.
#[derive(Clone, Debug)]
pub(crate) struct BuiltPipeline {
    pub(crate) label: &'static str,
    pub(crate) memory: Buffer,
    /// The shader record without the addresses of uniforms and vertices.
    pub(crate) record: RecordTemplate,
    /// Whether a vertex shader runs; otherwise vertices are already shaded.
    pub(crate) is_vertex_shaded: bool,
    fragment: BusAddr,
    pub(crate) primitive: PrimitiveKind,
    pub(crate) samples: Samples,
    /// Whether it writes 64-bit colours; `None` if the fragment shader accesses the tile buffer itself.
    pub(crate) is_64_bit: Option<bool>,
    /// Uniforms of the tail, the code that is appended to the fragment shader.
    pub(crate) tail_uniforms: Vec<u32>,
    /// The order of the fragment program's uniforms, if it replaces the one that was built.
    #[cfg(feature = "wgsl")]
    order: Option<crate::wgsl::replacement::Order>,
    /// The state that is the same in every pass.
    pub(crate) state: FixedState,
}

impl<V: VertexData, U, F> Pipeline<V, U, F> {
    /// Copies the programs to GPU memory and encodes the state.
    ///
    /// # Errors
    /// When the programs or the state exceed the hardware's limits or cannot be combined, or the pool has not enough memory.
    pub fn new<P: Platform, const N: usize>(
        device: &Device<'_, P>,
        descriptor: &PipelineDescriptor<'_, V, U, F, N>,
    ) -> Result<Self, Error> {
        Self::of_sizes(device, descriptor, V::BYTES, N)
    }
}

impl<V, U, F> Pipeline<V, U, F> {
    /// The same for vertices of `vertex_bytes` bytes, and a given number of varyings.
    pub(crate) fn of_sizes<P: Platform, const N: usize>(
        device: &Device<'_, P>,
        descriptor: &PipelineDescriptor<'_, V, U, F, N>,
        vertex_bytes: usize,
        varyings: usize,
    ) -> Result<Self, Error> {
        let PipelineDescriptor { label, ref shading, fragment, .. } = *descriptor;
        let vertex = match shading {
            Shading::Programs(programs) => Some(VertexCode::of(programs)),
            Shading::PreShaded => None,
        };
        let programs = Programs { vertex, fragment: FragmentCode::of(fragment), vertex_bytes, varyings };
        Ok(Self::of(BuiltPipeline::of_built_programs(device, label, programs, &descriptor.state())?))
    }
}

impl BuiltPipeline {
    /// Builds it from programs of a build script.
    #[cfg(not(feature = "wgsl"))]
    fn of_built_programs<P: Platform>(
        device: &Device<'_, P>,
        label: &'static str,
        programs: Programs<'_>,
        state: &State,
    ) -> Result<Self, Error> {
        Self::of_programs(device, label, &programs, state)
    }

    /// Builds it from programs of a build script, or from what replaces them.
    #[cfg(feature = "wgsl")]
    fn of_built_programs<P: Platform>(
        device: &Device<'_, P>,
        label: &'static str,
        programs: Programs<'_>,
        state: &State,
    ) -> Result<Self, Error> {
        use crate::wgsl::replacement::{Replaced, Uniforms};
        let replaced = Replaced::find(device, label, &programs)?;
        let mut programs = programs;
        let Uniforms { order, constants } = replaced.put_into(&mut programs, state.half_color)?;
        let pipeline = Self::of_programs(device, label, &programs, state)?;
        let tail_uniforms = [constants, pipeline.tail_uniforms].concat();
        Ok(Self { order, tail_uniforms, ..pipeline })
    }

    /// The same for programs without types.
    pub(crate) fn of_programs<P: Platform>(
        device: &Device<'_, P>,
        label: &'static str,
        programs: &Programs<'_>,
        state: &State,
    ) -> Result<Self, Error> {
        let Programs { ref vertex, ref fragment, vertex_bytes, varyings } = *programs;
        if varyings > MAX_VARYINGS {
            return Err(Error::Varyings { label, varyings, most: MAX_VARYINGS });
        }
        if vertex_bytes > MAX_VERTEX_BYTES {
            return Err(Error::VertexSize { label, bytes: vertex_bytes, most: MAX_VERTEX_BYTES });
        }
        state::check(label, state)?;
        let tail = tail(label, state, fragment.ending)?;
        let mut code = Code::default();
        let (fragment_code, threading) = fragment.for_colors(label, state.half_color)?;
        let joined = tail.as_ref().map(|tail| tail.append_to(fragment_code));
        let fragment_code = joined.as_ref().map_or(fragment_code, |joined| &joined.words);
        let fragment_offset = code.append(fragment_code);
        let shading = match vertex {
            Some(programs) => {
                let mut arrays = programs.attributes.to_vec();
                let count = shader_interface::Attribute::share_arrays(&mut arrays);
                arrays.truncate(count);
                if !(1..=MAX_ARRAYS).contains(&arrays.len()) {
                    let attributes = programs.attributes.len();
                    return Err(Error::Attributes { label, attributes, arrays: arrays.len(), most: MAX_ARRAYS });
                }
                Some((programs, arrays, code.append(programs.vertex), code.append(programs.coordinate)))
            }
            None => None,
        };
        let memory = device.driver()?.upload(&code.0, CODE_ALIGNMENT)?;
        let start = memory.address();
        let bytes = 8 * fragment_code.len() as u32;
        let origin = if state.half_color { fragment.half_origin } else { fragment.origin };
        let origin = origin.or(fragment.origin);
        let joined = joined.as_ref();
        device.name_program(label, "fragment shader", start + fragment_offset, bytes, origin, joined)?;
        if let Some((programs, _, vertex, coordinate)) = &shading {
            let bytes = 8 * programs.vertex.len() as u32;
            device.name_program(label, "vertex shader", start + *vertex, bytes, programs.vertex_origin, None)?;
            let bytes = 8 * programs.coordinate.len() as u32;
            let origin = programs.coordinate_origin;
            device.name_program(label, "coordinate shader", start + *coordinate, bytes, origin, None)?;
        }
        // The addresses of uniforms and vertices are filled in for each draw.
        let program = |offset| Program { code: start + offset, uniforms: BusAddr(0) };
        let fragment_program =
            FragmentProgram { program: program(fragment_offset), varyings: varyings as u8, threading };
        let stride = vertex_bytes as u8;
        let record = match shading {
            Some((programs, ref arrays, vertex, coordinate)) => {
                let attribute = |attribute: &shader_interface::Attribute| Attribute {
                    address: BusAddr(attribute.memory_offset),
                    bytes: attribute.bytes,
                    stride,
                    vertex_offset: Some(attribute.vertex_offset),
                    coordinate_offset: attribute.coordinate_offset,
                };
                let attributes: Vec<Attribute> = arrays.iter().map(attribute).collect();
                RecordTemplate::gl(&GlRecord {
                    fragment: fragment_program,
                    vertex: program(vertex),
                    coordinate: program(coordinate),
                    attributes: &attributes,
                    point_size: programs.point_size,
                })?
            }
            None => RecordTemplate::nv(&NvRecord {
                fragment: fragment_program,
                vertices: BusAddr(0),
                stride,
                clip_header: false,
            })?,
        };
        Ok(Self {
            label,
            memory,
            record,
            is_vertex_shaded: vertex.is_some(),
            fragment: start + fragment_offset,
            primitive: fragment.primitive,
            samples: state.samples,
            is_64_bit: match fragment.ending {
                Ending::Color | Ending::HalfColor => Some(state.half_color),
                Ending::Own => None,
            },
            tail_uniforms: tail.map(|tail| tail.uniforms).unwrap_or_default(),
            #[cfg(feature = "wgsl")]
            order: None,
            state: state::draw_state(state, fragment).fixed()?,
        })
    }
}

impl<V, U, F> Pipeline<V, U, F> {
    /// A built pipeline, whose programs take these types.
    pub(crate) const fn of(built: BuiltPipeline) -> Self {
        Self { built, feeds: PhantomData }
    }

    /// The label that it was created with.
    pub const fn label(&self) -> &'static str {
        self.built.label
    }

    /// Address of the fragment shader's first instruction.
    pub const fn fragment_code(&self) -> BusAddr {
        self.built.fragment
    }
}

impl<V, U, F: UniformData> Pipeline<V, U, F> {
    /// Appends the fragment shader's uniforms, and those of the code behind it.
    pub(crate) fn push_fragment_uniforms(&self, uniforms: &F, stream: &mut UniformStream<'_>) {
        let push = |stream: &mut UniformStream<'_>| match self.built.is_64_bit {
            Some(true) => uniforms.push_half(stream),
            _ => uniforms.push(stream),
        };
        #[cfg(feature = "wgsl")]
        match &self.built.order {
            Some(order) => order.push(push, stream),
            None => push(stream),
        }
        #[cfg(not(feature = "wgsl"))]
        push(stream);
        self.built.tail_uniforms.iter().for_each(|&word| stream.word(word));
    }
}

/// The code that is appended to the fragment shader for blending and tests; none if the shader has its own.
fn tail(label: &'static str, pipeline: &State, ending: Ending) -> Result<Option<Tail>, Error> {
    let impossible = |why| Err(Error::Impossible { label, why });
    let state = TailState {
        is_half: pipeline.half_color,
        samples: pipeline.samples.count(),
        depth: pipeline.depth,
        stencil: pipeline.stencil,
        alpha_test: pipeline.alpha_test,
        alpha_to_coverage: pipeline.alpha_to_coverage,
        blend: pipeline.blend,
        logic: pipeline.logic,
        color_mask: u32::from_le_bytes(pipeline.color_mask),
    };
    if pipeline.logic != Logic::Copy && pipeline.blend != Blend::NONE {
        return impossible("a logic operation and blending exclude each other");
    }
    if pipeline.alpha_to_coverage && pipeline.samples == Samples::One {
        return impossible("alpha to coverage needs four samples per pixel");
    }
    let build = || {
        state.build().map(Some).ok_or(Error::Driver(v3d::Error::ShaderRecord(
            "the instructions after a fragment shader cannot be encoded",
        )))
    };
    match ending {
        Ending::Color | Ending::HalfColor => match state.refusal_of_half_color().filter(|_| state.is_half) {
            Some(why) => impossible(why),
            None => build(),
        },
        Ending::Own => {
            // The depth test and the number of samples are state records; everything else is code in the tail.
            let plain = TailState {
                stencil: None,
                alpha_test: AlphaTest::NONE,
                alpha_to_coverage: false,
                blend: Blend::NONE,
                logic: Logic::Copy,
                color_mask: u32::MAX,
                ..state
            };
            if state == plain {
                return Ok(None);
            }
            impossible(
                "the fragment shader accesses the tile buffer itself, so tests, blending, logic and colour mask are not available",
            )
        }
    }
}

/// Concatenated programs, each aligned to a line of the instruction cache.
#[derive(Default)]
struct Code(Vec<u8>);

impl Code {
    /// Appends a program and returns its offset.
    fn append(&mut self, words: &[u64]) -> u32 {
        self.0.resize(self.0.len().next_multiple_of(CODE_ALIGNMENT as usize), 0);
        let start = self.0.len() as u32;
        self.0.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        start
    }
}
