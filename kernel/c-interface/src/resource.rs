//! What lies in GPU memory: buffers, meshes, textures, targets.

use alloc::boxed::Box;
use core::ptr::null_mut;
use core::slice;

use renderer::texture::{TextureType, Wrap};
use renderer::untyped::UntypedVertex;
use renderer::{
    Buffer, Error, Format, Indices, Mesh, Primitive, Sampler, Target, TargetDescriptor, Texture, TextureDescriptor,
};
use v3d::hw::layout::FieldType;
use v3d::hw::tiling::Tiling;

use crate::device::v3d_device;
use crate::failure::{note, noted};

/// Bytes in GPU memory.
#[derive(Debug)]
pub struct v3d_buffer(pub(crate) Buffer);

/// Vertices, and the order in which they are drawn.
#[derive(Debug)]
pub struct v3d_mesh(pub(crate) Mesh<UntypedVertex>);

/// A two-dimensional texture.
#[derive(Debug)]
pub struct v3d_texture(pub(crate) Texture);

/// A picture that passes draw to.
#[derive(Debug)]
pub struct v3d_target(pub(crate) Target);

/// How vertices form primitives.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum v3d_primitive {
    /// Each vertex is a point.
    Points,
    /// Each two vertices are a line.
    Lines,
    /// A line through all vertices.
    LineStrip,
    /// A line through all vertices and back to the first.
    LineLoop,
    /// Each three vertices are a triangle.
    Triangles,
    /// Each vertex forms a triangle with the two before it.
    TriangleStrip,
    /// Each vertex forms a triangle with the one before it and the first.
    TriangleFan,
}

/// How a texture is sampled between its texels.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum v3d_filter {
    /// The nearest texel.
    Nearest,
    /// Between four texels.
    Linear,
    /// Between four texels of two mip levels each.
    Trilinear,
}

/// How a texture goes on beyond its sides.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum v3d_wrap {
    /// It is repeated.
    Repeat,
    /// The texels of its sides go on.
    Clamp,
    /// It is repeated, every second time mirrored.
    Mirror,
}

fn boxed<T, E: core::fmt::Display>(result: Result<T, E>) -> *mut T {
    noted(result).map_or(null_mut(), |value| Box::into_raw(Box::new(value)))
}

/// Frees a value of a `Box`.
///
/// # Safety
/// `value` is NULL, or of `boxed` and not used any more.
unsafe fn free<T>(value: *mut T) {
    if !value.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(value) });
    }
}

/// So many bytes of C; none if the pointer is NULL.
///
/// # Safety
/// `values` is NULL, or so many values are valid there.
pub(crate) unsafe fn values<'a, T>(values: *const T, count: usize) -> &'a [T] {
    if values.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts(values, count) }
}

/// Copies bytes into GPU memory, at an address that is a multiple of `alignment`; NULL if there is not enough memory.
///
/// # Safety
/// Pointers are valid, `bytes` for so many of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn v3d_buffer_new(
    device: *const v3d_device,
    bytes: *const u8,
    count: usize,
    alignment: u32,
) -> *mut v3d_buffer {
    // SAFETY: the caller's promise.
    let (device, bytes) = unsafe { (&*device, values(bytes, count)) };
    boxed(Buffer::with_bytes(&device.device, "buffer", bytes, alignment).map(v3d_buffer))
}

/// Address of a buffer as programs see it: a word of uniforms. The buffer must not be freed before the frames that use it are drawn.
///
/// # Safety
/// `buffer` is valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn v3d_buffer_address(buffer: *const v3d_buffer) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { &*buffer }.0.address().0
}

/// Frees a buffer.
///
/// # Safety
/// `buffer` is NULL, or of [`v3d_buffer_new`] and not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn v3d_buffer_free(buffer: *mut v3d_buffer) {
    // SAFETY: the caller's promise.
    unsafe { free(buffer) }
}

/// Copies vertices of `stride` bytes each into GPU memory, and 16-bit indices, if there are any. `primitive` is a `v3d_primitive`. NULL if an index is
/// too large, or there is not enough memory.
///
/// # Safety
/// Pointers are valid, `vertices` for so many bytes and `indices` for so many indices; `indices` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn v3d_mesh_new(
    device: *const v3d_device,
    primitive: u32,
    vertices: *const u8,
    vertices_bytes: usize,
    stride: usize,
    indices: *const u16,
    index_count: usize,
) -> *mut v3d_mesh {
    // SAFETY: the caller's promise.
    let (device, vertices, indices) =
        unsafe { (&*device, values(vertices, vertices_bytes), values(indices, index_count)) };
    let Some(&primitive) = Primitive::ALL.get(primitive as usize) else {
        note(format_args!("{primitive} is no kind of primitive"));
        return null_mut();
    };
    let indices = (!indices.is_empty()).then_some(Indices::U16(indices));
    boxed(Mesh::of_stride(&device.device, "mesh", primitive, vertices, stride, indices).map(v3d_mesh))
}

/// Frees a mesh.
///
/// # Safety
/// `mesh` is NULL, or of [`v3d_mesh_new`] and not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn v3d_mesh_free(mesh: *mut v3d_mesh) {
    // SAFETY: the caller's promise.
    unsafe { free(mesh) }
}

/// A texture of the hardware's type `texture_type` (0 is RGBA8888, 16 is RGBA8888 in rows; the guide's table 18 has all), with so many mip levels, 0 for all of
/// them. `texels` are written to its first level, in rows from the top; NULL leaves it black. NULL if the hardware has no such texture, the number of bytes is
/// not that of the level, or there is not enough memory.
///
/// # Safety
/// Pointers are valid, `texels` for so many bytes; `texels` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn v3d_texture_new(
    device: *const v3d_device,
    texture_type: u32,
    width: u32,
    height: u32,
    levels: u32,
    texels: *const u8,
    texels_bytes: usize,
) -> *mut v3d_texture {
    // SAFETY: the caller's promise.
    let (device, texels) = unsafe { (&*device, values(texels, texels_bytes)) };
    let texture_type = TextureType::from_field(texture_type.into(), 5);
    let plain = TextureDescriptor::new("texture", texture_type, width, height);
    let descriptor = if levels == 0 { plain.mipmapped() } else { TextureDescriptor { levels, ..plain } };
    boxed(match texels {
        [] => Texture::new(&device.device, &descriptor).map(v3d_texture),
        texels => Texture::from_pixels(&device.device, &descriptor, texels).map(v3d_texture),
    })
}

/// Has the GPU draw all smaller levels of a texture from its first one; returns 1 if they were submitted.
///
/// # Safety
/// Pointers are valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn v3d_texture_generate_mipmaps(device: *const v3d_device, texture: *const v3d_texture) -> i32 {
    // SAFETY: the caller's promise.
    let (device, texture) = unsafe { (&*device, &*texture) };
    let generate = || -> Result<_, Error> {
        let mut frame = device.device.frame()?;
        texture.0.generate_mipmaps(&mut frame)?;
        frame.submit()
    };
    noted(generate()).map_or(0, |fence| {
        device.last.set(fence);
        1
    })
}

/// Frees a texture.
///
/// # Safety
/// `texture` is NULL, or of a function of this library and not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn v3d_texture_free(texture: *mut v3d_texture) {
    // SAFETY: the caller's promise.
    unsafe { free(texture) }
}

/// A target in GPU memory of 32 bits a pixel, in the arrangement that textures have; NULL if a side is not 1 to 2048, or there is not enough memory.
///
/// # Safety
/// `device` is valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn v3d_target_new(device: *const v3d_device, width: u32, height: u32) -> *mut v3d_target {
    // SAFETY: the caller's promise.
    let device = unsafe { &*device };
    // The TMUs expect LT-format of pictures that are at most four microtiles wide or high.
    let tiling = if width <= 16 || height <= 16 { Tiling::LtFormat } else { Tiling::TFormat };
    let descriptor =
        TargetDescriptor { label: "target", width_px: width, height_px: height, format: Format::Rgba8888, tiling };
    boxed(Target::new(&device.device, &descriptor).map(v3d_target))
}

/// The texture that shares a target's memory; NULL for a page of the display.
///
/// # Safety
/// `target` is valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn v3d_target_texture(target: *const v3d_target) -> *mut v3d_texture {
    // SAFETY: the caller's promise.
    boxed(Texture::of_target(&unsafe { &*target }.0).map(v3d_texture))
}

/// Frees a target.
///
/// # Safety
/// `target` is NULL, or of a function of this library and not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn v3d_target_free(target: *mut v3d_target) {
    // SAFETY: the caller's promise.
    unsafe { free(target) }
}

/// The sampler of a `v3d_filter` and a `v3d_wrap`; `None`, with a note, if there is no such one.
pub(crate) fn sampler(filter: u32, wrap: u32) -> Option<Sampler> {
    let sampler = match filter {
        filter if filter == v3d_filter::Nearest as u32 => Sampler::NEAREST,
        filter if filter == v3d_filter::Linear as u32 => Sampler::LINEAR,
        filter if filter == v3d_filter::Trilinear as u32 => Sampler::TRILINEAR,
        other => {
            note(format_args!("{other} is no filter"));
            return None;
        }
    };
    let wrap = match wrap {
        wrap if wrap == v3d_wrap::Repeat as u32 => Wrap::Repeat,
        wrap if wrap == v3d_wrap::Clamp as u32 => Wrap::Clamp,
        wrap if wrap == v3d_wrap::Mirror as u32 => Wrap::Mirror,
        other => {
            note(format_args!("{other} is no kind of repetition"));
            return None;
        }
    };
    Some(sampler.wrapped(wrap))
}

/// Notes that a pointer is missing.
pub(crate) fn missing(what: &str) {
    note(format_args!("there is no {what}"));
}
