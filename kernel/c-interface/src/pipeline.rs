//! Pipelines: programs as words, and the state that they draw with.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ptr::null_mut;
use core::slice;

use renderer::untyped::{MAX_SLOTS, Slot, UntypedUniforms, UntypedVertex};
use renderer::{Blend, Compare, Cull, Depth, Pipeline, PipelineDescriptor, Samples};
use shader_interface::{Attribute, Ending, Fragment, VertexShading};
use v3d::hw::control_list::Threading;

use crate::device::v3d_device;
use crate::failure::{note, noted};
use crate::resource::{missing, values};

/// What a program reads as the next word of its uniforms.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum v3d_slot_kind {
    /// The value of the slot.
    Constant,
    /// The draw's word with the number `value`.
    Word,
    /// Half of the viewport's width.
    ViewportHalfWidth,
    /// Half of the viewport's height.
    ViewportHalfHeight,
    /// The scale of depths.
    ViewportZScale,
    /// The offset of depths.
    ViewportZOffset,
    /// A parameter of a texture of the draw: `value` is four times the texture's number, plus the parameter's.
    Texture,
}

/// A word of a program's uniforms.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct v3d_slot {
    /// A `v3d_slot_kind`.
    pub kind: u32,
    /// Its meaning depends on the kind.
    pub value: u32,
}

/// An attribute of a vertex. Offsets are in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct v3d_attribute {
    /// Its size in bytes.
    pub bytes: u32,
    /// Its place in a vertex in memory.
    pub memory_offset: u32,
    /// Its place in what the vertex shader reads.
    pub vertex_offset: u32,
    /// Its place in what the coordinate shader reads; 0xffffffff if it does not read it.
    pub coordinate_offset: u32,
}

/// Value of `coordinate_offset` of an attribute that the coordinate shader does not read.
pub const V3D_NOT_READ: u32 = u32::MAX;

/// The programs of a pipeline, and what they read and write. `shader-build` writes such structures from WGSL and assembly.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct v3d_programs {
    /// Instructions of the vertex shader.
    pub vertex: *const u64,
    /// How many.
    pub vertex_count: usize,
    /// Instructions of the coordinate shader.
    pub coordinate: *const u64,
    /// How many.
    pub coordinate_count: usize,
    /// Instructions of the fragment shader, which leaves its end to the pipeline.
    pub fragment: *const u64,
    /// How many.
    pub fragment_count: usize,
    /// Uniforms of the vertex shader.
    pub vertex_slots: *const v3d_slot,
    /// How many.
    pub vertex_slot_count: usize,
    /// Uniforms of the coordinate shader.
    pub coordinate_slots: *const v3d_slot,
    /// How many.
    pub coordinate_slot_count: usize,
    /// Uniforms of the fragment shader.
    pub fragment_slots: *const v3d_slot,
    /// How many.
    pub fragment_slot_count: usize,
    /// Attributes of a vertex.
    pub attributes: *const v3d_attribute,
    /// How many.
    pub attribute_count: usize,
    /// Bytes of a vertex in memory.
    pub vertex_bytes: u32,
    /// Varyings that the vertex shader writes and the fragment shader reads.
    pub varyings: u32,
    /// A bit for each varying that is not interpolated.
    pub flat_varyings: u32,
    /// Threads of the fragment shader, 1 or 2.
    pub threads: u32,
    /// 1 if the fragment shader leaves a depth of its own.
    pub writes_depth: u32,
    /// 1 if the fragment shader discards fragments.
    pub discards: u32,
}

/// When a test passes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum v3d_compare {
    /// Never.
    Never,
    /// When the fragment's is less.
    Less,
    /// When it is equal.
    Equal,
    /// When it is less or equal.
    LessOrEqual,
    /// When it is greater.
    Greater,
    /// When it is not equal.
    NotEqual,
    /// When it is greater or equal.
    GreaterOrEqual,
    /// Always.
    Always,
}

/// Which faces are left out.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum v3d_cull {
    /// None.
    None,
    /// Those whose corners are counterclockwise on the screen.
    Front,
    /// Those whose corners are clockwise.
    Back,
}

/// How a fragment's colour is combined with the pixel's.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum v3d_blend {
    /// It replaces it.
    None,
    /// By its alpha.
    Alpha,
    /// By its alpha, with which its colour is already multiplied.
    Premultiplied,
    /// It is added.
    Add,
    /// They are multiplied.
    Multiply,
}

/// The state of a pipeline. All zeros but `depth_test` (7, always) draw over what is there.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct v3d_state {
    /// A `v3d_compare` for depths.
    pub depth_test: u32,
    /// 1 if depths are stored.
    pub depth_write: u32,
    /// A `v3d_cull`.
    pub cull: u32,
    /// A `v3d_blend`.
    pub blend: u32,
    /// 4 for four samples a pixel, otherwise one. It must be the pass's.
    pub samples: u32,
}

/// The slots of a pipeline's programs.
#[derive(Debug)]
pub(crate) struct Slots {
    pub(crate) vertex: Vec<Slot>,
    pub(crate) coordinate: Vec<Slot>,
    pub(crate) fragment: Vec<Slot>,
}

/// The renderer's pipeline for uniforms that are known at run time.
pub(crate) type BoardPipeline = Pipeline<UntypedVertex, UntypedUniforms<'static>, UntypedUniforms<'static>>;

/// Programs in GPU memory, and their state.
#[derive(Debug)]
pub struct v3d_pipeline {
    pub(crate) pipeline: BoardPipeline,
    pub(crate) slots: Slots,
}

/// The slots of C; `None`, with a note, if one is of no kind or there are too many.
fn slots(from: &[v3d_slot]) -> Option<Vec<Slot>> {
    if from.len() > MAX_SLOTS {
        note(format_args!("a program reads {} words of uniforms, and at most {MAX_SLOTS} are possible", from.len()));
        return None;
    }
    let slot = |&v3d_slot { kind, value }: &v3d_slot| {
        Some(match kind {
            kind if kind == v3d_slot_kind::Constant as u32 => Slot::Constant(value),
            kind if kind == v3d_slot_kind::Word as u32 => Slot::Word(value),
            kind if kind == v3d_slot_kind::ViewportHalfWidth as u32 => Slot::ViewportHalfWidth,
            kind if kind == v3d_slot_kind::ViewportHalfHeight as u32 => Slot::ViewportHalfHeight,
            kind if kind == v3d_slot_kind::ViewportZScale as u32 => Slot::ViewportZScale,
            kind if kind == v3d_slot_kind::ViewportZOffset as u32 => Slot::ViewportZOffset,
            kind if kind == v3d_slot_kind::Texture as u32 => Slot::Texture { texture: value / 4, parameter: value % 4 },
            kind => {
                note(format_args!("{kind} is no kind of slot"));
                return None;
            }
        })
    };
    from.iter().map(slot).collect()
}

/// Copies programs to GPU memory and encodes the state; NULL if they cannot be combined, or there is not enough memory.
///
/// # Safety
/// Pointers are valid, those in `programs` for as many values as it says, and these stay as they are while the pipeline exists.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn v3d_pipeline_new(
    device: *const v3d_device,
    programs: *const v3d_programs,
    state: *const v3d_state,
) -> *mut v3d_pipeline {
    // SAFETY: the caller's promise.
    let (device, programs, state) = unsafe { (device.as_ref(), programs.as_ref(), state.as_ref()) };
    let (Some(device), Some(programs), Some(state)) = (device, programs, state) else {
        missing("device, no programs or no state");
        return null_mut();
    };
    // SAFETY: the caller's promise.
    match unsafe { pipeline(device, programs, state) } {
        Some(pipeline) => Box::into_raw(Box::new(pipeline)),
        None => null_mut(),
    }
}

/// # Safety
/// As [`v3d_pipeline_new`].
unsafe fn pipeline(device: &v3d_device, programs: &v3d_programs, state: &v3d_state) -> Option<v3d_pipeline> {
    let v3d_programs { varyings, vertex_bytes, flat_varyings, threads, writes_depth, discards, .. } = *programs;
    // SAFETY: the caller's promise: the values are there, and stay as they are.
    let ([vertex, coordinate, fragment], [of_vertex, of_coordinate, of_fragment], attributes) = unsafe {
        let words = |start, count| -> &'static [u64] { values(start, count) };
        let lists = |start, count| -> &'static [v3d_slot] { values(start, count) };
        (
            [
                words(programs.vertex, programs.vertex_count),
                words(programs.coordinate, programs.coordinate_count),
                words(programs.fragment, programs.fragment_count),
            ],
            [
                lists(programs.vertex_slots, programs.vertex_slot_count),
                lists(programs.coordinate_slots, programs.coordinate_slot_count),
                lists(programs.fragment_slots, programs.fragment_slot_count),
            ],
            values(programs.attributes, programs.attribute_count),
        )
    };
    let attribute = |attribute: &v3d_attribute| Attribute {
        name: "",
        bytes: attribute.bytes as u16,
        memory_offset: attribute.memory_offset,
        vertex_offset: attribute.vertex_offset as u8,
        coordinate_offset: (attribute.coordinate_offset != V3D_NOT_READ).then_some(attribute.coordinate_offset as u8),
    };
    // Shadings keep their attributes by reference: these few bytes live as long as the kernel.
    let attributes: &'static [Attribute] = attributes.iter().map(attribute).collect::<Vec<_>>().leak();
    let slots = Slots { vertex: slots(of_vertex)?, coordinate: slots(of_coordinate)?, fragment: slots(of_fragment)? };
    let shading = VertexShading::new(vertex, coordinate, attributes);
    let threading = if threads == 2 { Threading::Dual } else { Threading::Single };
    let mut program = Fragment::new(fragment, threading, Ending::Color).with_flat_varyings(flat_varyings);
    if writes_depth != 0 {
        program = program.writing_depth();
    }
    if discards != 0 {
        program = program.discarding();
    }
    let Some(&test) = Compare::ALL.get(state.depth_test as usize) else {
        note(format_args!("{} is no test of depths", state.depth_test));
        return None;
    };
    let cull = match state.cull {
        0 => Cull::None,
        1 => Cull::Front,
        2 => Cull::Back,
        other => {
            note(format_args!("{other} is no kind of culling"));
            return None;
        }
    };
    let blends = [Blend::NONE, Blend::ALPHA, Blend::PREMULTIPLIED, Blend::ADD, Blend::MULTIPLY];
    let Some(&blend) = blends.get(state.blend as usize) else {
        note(format_args!("{} is no kind of blending", state.blend));
        return None;
    };
    let descriptor = PipelineDescriptor {
        depth: Depth { test, write: state.depth_write != 0 },
        cull,
        blend,
        samples: if state.samples == 4 { Samples::Four } else { Samples::One },
        ..PipelineDescriptor::new("pipeline", &shading, &program)
    };
    let pipeline = Pipeline::untyped(&device.device, &descriptor, vertex_bytes as usize, varyings as usize);
    noted(pipeline).map(|pipeline| v3d_pipeline { pipeline, slots })
}

/// Frees a pipeline.
///
/// # Safety
/// `pipeline` is NULL, or of [`v3d_pipeline_new`] and not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn v3d_pipeline_free(pipeline: *mut v3d_pipeline) {
    if !pipeline.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(pipeline) });
    }
}

/// The slots of a pipeline, for uniforms whose lifetime the type of pipelines does not name.
pub(crate) fn kept(slots: &[Slot]) -> &'static [Slot] {
    // SAFETY: they are in a pipeline that the caller of a draw keeps during the call, and uniforms are read during the call only.
    unsafe { slice::from_raw_parts(slots.as_ptr(), slots.len()) }
}
