//! Pipelines: programs in GPU memory, and all the state that they draw with.
//!
//! A pipeline is made once and says everything about how something is drawn, but for what is drawn, with which uniforms, and where to. What is not possible
//! together is an error when it is made.

use alloc::vec::Vec;
use core::marker::PhantomData;
use shader_interface::tail::{Tail, TailState};
use shader_interface::{Ending, Fragment, PrimitiveKind, VertexData, VertexShading};
use v3d::Platform;
use v3d::draw_state::FixedState;
use v3d::hw::BusAddr;
use v3d::pool::Buffer;
use v3d::shader_record::{Attribute, FragmentProgram, GlRecord, NvRecord, Program, RecordTemplate};

use crate::buffer::CODE_ALIGNMENT;
use crate::device::Device;
use crate::error::Error;

pub mod state;

pub use shader_interface::tail::{blend, stencil};

use blend::{AlphaTest, Blend, Logic};
use state::{Cull, Depth, FrontFace, PolygonOffset, Samples};
use stencil::Stencil;

/// Most varyings that the hardware interpolates [AG p.69: Flat Shade Flags].
const MAX_VARYINGS: usize = 32;
/// Most attributes of a vertex.
const MAX_ATTRIBUTES: usize = 8;
/// Most bytes of a vertex: the stride has 8 bits.
const MAX_VERTEX_BYTES: usize = 255;

/// Where a pipeline's shaded vertices come from.
#[derive(Clone, Copy, Debug)]
pub enum Shading<'a, V, U, const VARYINGS: usize> {
    /// From programs: the GL pipeline.
    Programs(&'a VertexShading<V, U, VARYINGS>),
    /// From memory, where they lie as a vertex shader would have written them: the NV pipeline.
    Done,
}

impl<'a, V, U, const N: usize> From<&'a VertexShading<V, U, N>> for Shading<'a, V, U, N> {
    fn from(programs: &'a VertexShading<V, U, N>) -> Self {
        Self::Programs(programs)
    }
}

/// All that a pipeline is made of.
#[derive(Clone, Copy, Debug)]
pub struct PipelineDescriptor<'a, V, U, F, const VARYINGS: usize> {
    /// What errors call it.
    pub label: &'static str,
    /// Where shaded vertices come from.
    pub shading: Shading<'a, V, U, VARYINGS>,
    /// The fragment shader.
    pub fragment: &'a Fragment<F, VARYINGS>,
    /// Depth test.
    pub depth: Depth,
    /// Stencil test, if there is one.
    pub stencil: Option<Stencil>,
    /// How colours are mixed with those that are there.
    pub blend: Blend,
    /// What is done with the bits of colours instead of blending.
    pub logic: Logic,
    /// The bits of each channel that are changed: red, green, blue, alpha.
    pub color_mask: [u8; 4],
    /// Which fragments are drawn by their alpha.
    pub alpha_test: AlphaTest,
    /// Samples a pixel: those of the passes that it draws in.
    pub samples: Samples,
    /// As many of four samples are drawn as alpha says.
    pub alpha_to_coverage: bool,
    /// Which faces are left out.
    pub cull: Cull,
    /// Which faces are in front.
    pub front: FrontFace,
    /// What is added to depths.
    pub polygon_offset: PolygonOffset,
    /// Width of lines in pixels. What draws lines is a fragment shader that says so.
    pub line_width_px: f32,
    /// Width and height of points in pixels, if vertices do not carry it. What draws points is a fragment shader that says so.
    pub point_size_px: f32,
}

impl<'a, V, U, F, const N: usize> PipelineDescriptor<'a, V, U, F, N> {
    /// Everything is drawn in the order in which it comes, over whatever is there.
    pub fn new(label: &'static str, shading: impl Into<Shading<'a, V, U, N>>, fragment: &'a Fragment<F, N>) -> Self {
        Self {
            label,
            shading: shading.into(),
            fragment,
            depth: Depth::NONE,
            stencil: None,
            blend: Blend::NONE,
            logic: Logic::Copy,
            color_mask: [0xff; 4],
            alpha_test: AlphaTest::NONE,
            samples: Samples::One,
            alpha_to_coverage: false,
            cull: Cull::None,
            front: FrontFace::CounterClockwise,
            polygon_offset: PolygonOffset::NONE,
            line_width_px: 1.0,
            point_size_px: 1.0,
        }
    }
}

/// Programs in GPU memory and the state that they draw with: for vertices `V`, with uniforms `U` of the vertex and `F` of the fragment shader.
#[derive(Clone, Debug)]
pub struct Pipeline<V, U, F> {
    pub(crate) label: &'static str,
    pub(crate) memory: Buffer,
    /// The shader record of each draw, but for uniforms and vertices.
    pub(crate) record: RecordTemplate,
    /// Whether programs make vertices; if not, they are shaded already.
    pub(crate) is_vertex_shaded: bool,
    fragment: BusAddr,
    pub(crate) primitive: PrimitiveKind,
    pub(crate) samples: Samples,
    /// Whether it draws colours of 64 bits; `None` if the fragment shader writes to the tile buffer by itself.
    pub(crate) is_64_bit: Option<bool>,
    /// Uniforms of what follows the fragment shader.
    pub(crate) tail_uniforms: Vec<u32>,
    /// All state that does not depend on where it draws.
    pub(crate) state: FixedState,
    feeds: PhantomData<fn(V, U, F)>,
}

impl<V: VertexData, U, F> Pipeline<V, U, F> {
    /// Puts programs that belong together into memory.
    ///
    /// # Errors
    /// When they ask for more than the hardware has, or the pool has not enough memory.
    pub fn new<P: Platform, const N: usize>(
        device: &Device<'_, P>,
        descriptor: &PipelineDescriptor<'_, V, U, F, N>,
    ) -> Result<Self, Error> {
        let PipelineDescriptor { label, ref shading, fragment, .. } = *descriptor;
        if N > MAX_VARYINGS {
            return Err(Error::Varyings { label, varyings: N, most: MAX_VARYINGS });
        }
        if V::BYTES > MAX_VERTEX_BYTES {
            return Err(Error::VertexSize { label, bytes: V::BYTES, most: MAX_VERTEX_BYTES });
        }
        state::check(descriptor)?;
        let Tail { words, uniforms: tail_uniforms } = tail(descriptor)?;
        let mut code = Code::default();
        let fragment_offset = code.append(&[fragment.code(), &words].concat());
        let programs = match shading {
            Shading::Programs(programs) => {
                let attributes = programs.attributes().len();
                if !(1..=MAX_ATTRIBUTES).contains(&attributes) {
                    return Err(Error::Attributes { label, attributes, most: MAX_ATTRIBUTES });
                }
                Some((*programs, code.append(programs.vertex()), code.append(programs.coordinate())))
            }
            Shading::Done => None,
        };
        let memory = device.driver()?.upload(&code.0, CODE_ALIGNMENT)?;
        let start = memory.address();
        // Each draw has its own uniforms and vertices.
        let program = |offset| Program { code: start + offset, uniforms: BusAddr(0) };
        let fragment_program =
            FragmentProgram { program: program(fragment_offset), varyings: N as u8, threading: fragment.threading() };
        let stride = V::BYTES as u8;
        let record = match programs {
            Some((programs, vertex, coordinate)) => {
                let attribute = |attribute: &shader_interface::Attribute| Attribute {
                    address: BusAddr(attribute.memory_offset),
                    bytes: attribute.bytes,
                    stride,
                    vertex_offset: Some(attribute.vertex_offset),
                    coordinate_offset: attribute.coordinate_offset,
                };
                let attributes: Vec<Attribute> = programs.attributes().iter().map(attribute).collect();
                RecordTemplate::gl(&GlRecord {
                    fragment: fragment_program,
                    vertex: program(vertex),
                    coordinate: program(coordinate),
                    attributes: &attributes,
                    point_size: programs.point_size(),
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
            is_vertex_shaded: programs.is_some(),
            fragment: start + fragment_offset,
            primitive: fragment.primitive(),
            samples: descriptor.samples,
            is_64_bit: match fragment.ending() {
                Ending::Color => Some(false),
                Ending::HalfColor => Some(true),
                Ending::Own => None,
            },
            tail_uniforms,
            state: state::draw_state(descriptor).fixed()?,
            feeds: PhantomData,
        })
    }

    /// The name that it was made with.
    pub const fn label(&self) -> &'static str {
        self.label
    }

    /// Where the fragment shader's first instruction is.
    pub const fn fragment_code(&self) -> BusAddr {
        self.fragment
    }
}

/// What follows the fragment shader; nothing if it ends by itself.
fn tail<V, U, F, const N: usize>(descriptor: &PipelineDescriptor<'_, V, U, F, N>) -> Result<Tail, Error> {
    let label = descriptor.label;
    let impossible = |why| Err(Error::Impossible { label, why });
    let state = TailState {
        is_half: descriptor.fragment.ending() == Ending::HalfColor,
        samples: descriptor.samples.count(),
        depth: descriptor.depth,
        stencil: descriptor.stencil,
        alpha_test: descriptor.alpha_test,
        alpha_to_coverage: descriptor.alpha_to_coverage,
        blend: descriptor.blend,
        logic: descriptor.logic,
        color_mask: u32::from_le_bytes(descriptor.color_mask),
    };
    if descriptor.logic != Logic::Copy && descriptor.blend != Blend::NONE {
        return impossible("a logic operation takes the place of blending");
    }
    if descriptor.alpha_to_coverage && descriptor.samples == Samples::One {
        return impossible("alpha becomes coverage only where a pixel has four samples");
    }
    let build = || state.build().ok_or(Error::Driver(v3d::Error::ShaderRecord("a tail has no encoding")));
    match descriptor.fragment.ending() {
        Ending::Color => build(),
        Ending::HalfColor => match state.refusal_of_half_color() {
            Some(why) => impossible(why),
            None => build(),
        },
        Ending::Own => {
            // Depth test and samples are records; all else is code.
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
                return Ok(Tail { words: Vec::new(), uniforms: Vec::new() });
            }
            impossible("the fragment shader ends by itself, and what was asked for comes behind it")
        }
    }
}

/// Programs behind each other, each at the start of a line of the instruction cache.
#[derive(Default)]
struct Code(Vec<u8>);

impl Code {
    /// Appends a program; where it begins.
    fn append(&mut self, words: &[u64]) -> u32 {
        self.0.resize(self.0.len().next_multiple_of(CODE_ALIGNMENT as usize), 0);
        let start = self.0.len() as u32;
        self.0.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        start
    }
}
