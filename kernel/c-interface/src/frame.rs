//! Frames, passes and draws.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ptr::null_mut;

use renderer::untyped::UntypedUniforms;
use renderer::{Frame, PassDescriptor, Samples};
use shader_interface::{AnyKind, TextureBinding};

use crate::board::CBus;
use crate::device::v3d_device;
use crate::failure::{note, noted};
use crate::pipeline::{kept, v3d_pipeline};
use crate::resource::{missing, sampler, v3d_mesh, v3d_target, v3d_texture, values};

/// A frame that is being recorded.
#[derive(Debug)]
pub struct v3d_frame {
    frame: Frame<'static, bcm283x::Chip<CBus>>,
    device: *const v3d_device,
}

/// A texture of a draw, and how it is sampled.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct v3d_binding {
    /// The texture.
    pub texture: *const v3d_texture,
    /// Between its texels: a `v3d_filter`.
    pub filter: u32,
    /// Beyond its sides: a `v3d_wrap`.
    pub wrap: u32,
}

/// What a draw passes to its pipeline's programs: words for the slots of the kind `Word`, and textures.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct v3d_uniforms {
    /// Words of the vertex shader.
    pub vertex: *const u32,
    /// How many.
    pub vertex_count: usize,
    /// Words of the fragment shader.
    pub fragment: *const u32,
    /// How many.
    pub fragment_count: usize,
    /// Textures of the fragment shader.
    pub textures: *const v3d_binding,
    /// How many.
    pub texture_count: usize,
}

/// Begins a frame, after waiting until at most one other is being drawn; NULL if there is no memory. It ends with [`v3d_submit`] or [`v3d_frame_free`].
///
/// # Safety
/// `device` is valid, and stays so until the frame ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn v3d_frame_new(device: *const v3d_device) -> *mut v3d_frame {
    // SAFETY: the caller's promise.
    let begun = unsafe { &*device }.device.frame();
    noted(begun).map_or(null_mut(), |frame| Box::into_raw(Box::new(v3d_frame { frame, device })))
}

/// Begins a pass to a target, after those that the frame already has; returns 1 if it did. `clear` has red, green, blue and alpha from 0 to 1, or is NULL
/// to draw over the target's contents. `samples` is 4 for four samples a pixel, and otherwise one.
///
/// # Safety
/// Pointers are valid, `clear` for four numbers; `clear` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn v3d_pass(
    frame: *mut v3d_frame,
    target: *const v3d_target,
    clear: *const f32,
    samples: u32,
) -> i32 {
    // SAFETY: the caller's promise.
    let (frame, target, clear) = unsafe { (&mut *frame, target.as_ref(), values(clear, 4)) };
    let Some(target) = target else {
        missing("target");
        return 0;
    };
    let descriptor = PassDescriptor {
        samples: if samples == 4 { Samples::Four } else { Samples::One },
        clear: clear.try_into().ok(),
        ..PassDescriptor::to(&target.0)
    };
    i32::from(noted(frame.frame.pass(&descriptor).map(drop)).is_some())
}

/// Draws a mesh in the frame's last pass; returns 1 if it was recorded. Everything may be freed afterwards: the frame keeps what it uses.
///
/// # Safety
/// Pointers are valid, those in `uniforms` for as many values as it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn v3d_draw(
    frame: *mut v3d_frame,
    pipeline: *const v3d_pipeline,
    mesh: *const v3d_mesh,
    uniforms: *const v3d_uniforms,
) -> i32 {
    // SAFETY: the caller's promise.
    let (frame, pipeline, mesh, uniforms) =
        unsafe { (&mut *frame, pipeline.as_ref(), mesh.as_ref(), uniforms.as_ref()) };
    let (Some(pipeline), Some(mesh), Some(uniforms)) = (pipeline, mesh, uniforms) else {
        missing("pipeline, no mesh or no uniforms");
        return 0;
    };
    // SAFETY: the caller's promise; uniforms are read during this call only.
    let (vertex, fragment, bindings): (&'static [u32], &'static [u32], &[v3d_binding]) = unsafe {
        (
            values(uniforms.vertex, uniforms.vertex_count),
            values(uniforms.fragment, uniforms.fragment_count),
            values(uniforms.textures, uniforms.texture_count),
        )
    };
    let mut textures: Vec<TextureBinding<AnyKind>> = Vec::with_capacity(bindings.len());
    for binding in bindings {
        // SAFETY: the caller's promise.
        let Some(texture) = (unsafe { binding.texture.as_ref() }) else {
            missing("texture");
            return 0;
        };
        let Some(sampler) = sampler(binding.filter, binding.wrap) else { return 0 };
        match noted(texture.0.bind(&sampler)) {
            Some(bound) => textures.push(bound.of_any_kind()),
            None => return 0,
        }
    }
    let slots = &pipeline.slots;
    // SAFETY: as for slots, see `kept`: the vector outlives the draw, which reads it before this function returns.
    let textures: &'static [TextureBinding<AnyKind>] = unsafe { values(textures.as_ptr(), textures.len()) };
    let of_vertex = UntypedUniforms {
        slots: kept(&slots.vertex),
        coordinate_slots: kept(&slots.coordinate),
        words: vertex,
        textures,
    };
    let of_fragment =
        UntypedUniforms { slots: kept(&slots.fragment), coordinate_slots: &[], words: fragment, textures };
    if let Some(slot) = of_vertex.missing().or(of_fragment.missing()) {
        note(format_args!("the draw has nothing for the slot {slot:?}"));
        return 0;
    }
    let Some(mut pass) = frame.frame.last_pass() else {
        missing("pass to draw in");
        return 0;
    };
    i32::from(noted(pass.draw(&pipeline.pipeline, &mesh.0, &of_vertex, &of_fragment)).is_some())
}

/// Has the GPU draw a frame, which is freed; returns 1 if it was submitted. [`v3d_wait`](crate::device::v3d_wait) waits for it.
///
/// # Safety
/// `frame` is of [`v3d_frame_new`], and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn v3d_submit(frame: *mut v3d_frame) -> i32 {
    // SAFETY: the caller's promise, here and for the device of `v3d_frame_new`.
    let (frame, device) = unsafe {
        let frame = Box::from_raw(frame);
        let device = &*frame.device;
        (frame, device)
    };
    noted(frame.frame.submit()).map_or(0, |fence| {
        device.last.set(fence);
        1
    })
}

/// Frees a frame without drawing it.
///
/// # Safety
/// `frame` is NULL, or of [`v3d_frame_new`] and not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn v3d_frame_free(frame: *mut v3d_frame) {
    if !frame.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(frame) });
    }
}
