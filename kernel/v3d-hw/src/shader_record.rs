//! Shader state records: all that belongs to a set of shaders [AG p.78-80].
//!
//! The records stand in memory, 16-byte aligned, and are pointed at by the shader state items of control lists. The GL record is 36 bytes of
//! programs followed by 8 bytes for each attribute array; an extended record has 32-bit strides behind a full set of 8 arrays.

use crate::control_list::Threading;
use crate::{BusAddr, layout};

layout! {
    /// GL shader state record, bytes 0 to 11: the fragment shader [AG p.78].
    pub struct GlFragment: 96 bits "GL shader record: fragment shader" {
        /// Uniforms address.
        95:64 uniforms: BusAddr,
        /// Code address.
        63:32 code: BusAddr,
        /// Number of varyings.
        31:24 varyings: u8,
        /// Number of uniforms (not used by the hardware).
        23:16 uniform_count: u8,
        /// Enable clipping.
        2:2 clipping: bool,
        /// Point size is included in shaded vertex data.
        1:1 point_size: bool,
        /// Threads of the fragment shader.
        0:0 threading: Threading,
    }
}

layout! {
    /// GL shader state record, bytes 12 to 23 (vertex shader) or 24 to 35 (coordinate shader) [AG p.79].
    pub struct GlVertex: 96 bits "GL shader record: vertex or coordinate shader" {
        /// Uniforms address.
        95:64 uniforms: BusAddr,
        /// Code address.
        63:32 code: BusAddr,
        /// Total size of the attributes in the VPM, in bytes per vertex.
        31:24 attributes_bytes: u8,
        /// One bit per attribute array: the shader reads it.
        23:16 attribute_select: u8,
        /// Number of uniforms (not used by the hardware).
        15:0 uniform_count: u16,
    }
}

layout! {
    /// One attribute array of a GL shader state record: 8 bytes from byte 36 [AG p.79].
    pub struct AttributeArray: 64 bits "attribute array" {
        /// Offset of the attribute in the coordinate shader's VPM block, in bytes.
        63:56 coordinate_vpm_offset: u8,
        /// Offset of the attribute in the vertex shader's VPM block, in bytes.
        55:48 vertex_vpm_offset: u8,
        /// Distance from vertex to vertex in bytes; 0 gives all vertices the same value.
        47:40 stride: u8,
        /// Number of bytes minus 1.
        39:32 bytes_minus_1: u8,
        /// Base address.
        31:0 address: BusAddr,
    }
}

layout! {
    /// Stride of one attribute array in an extended record: 4 bytes from byte 100; 26 bits count [AG p.69, p.79].
    pub struct ExtendedStride: 32 bits "extended attribute stride" {
        /// Distance from vertex to vertex in bytes.
        25:0 stride: u32,
    }
}

/// Byte offsets of the parts of a GL shader state record [AG p.79].
pub mod gl {
    /// The fragment shader.
    pub const FRAGMENT: u32 = 0;
    /// The vertex shader.
    pub const VERTEX: u32 = 12;
    /// The coordinate shader.
    pub const COORDINATE: u32 = 24;
    /// The first attribute array.
    pub const ATTRIBUTES: u32 = 36;
    /// Distance from one attribute array to the next.
    pub const ATTRIBUTE_BYTES: u32 = 8;
    /// The first stride of an extended record.
    pub const EXTENDED_STRIDES: u32 = 100;
    /// Most attribute arrays of a record.
    pub const MAX_ATTRIBUTES: u32 = 8;
}

/// Alignment of shader records in bytes [AG p.69].
pub const ALIGNMENT: u32 = 16;

layout! {
    /// NV shader state record: pre-shaded vertices in memory [AG p.80].
    pub struct NvShaderRecord: 128 bits "NV shader record" {
        /// Address of the shaded vertices; 16-byte aligned if they have clip coordinates.
        127:96 vertices: BusAddr,
        /// Fragment shader uniforms address.
        95:64 uniforms: BusAddr,
        /// Fragment shader code address.
        63:32 code: BusAddr,
        /// Number of varyings.
        31:24 varyings: u8,
        /// Number of uniforms (not used by the hardware).
        23:16 uniform_count: u8,
        /// Distance from vertex to vertex in bytes.
        15:8 stride: u8,
        /// Clip coordinates precede the shaded vertex.
        3:3 clip_header: bool,
        /// Enable clipping.
        2:2 clipping: bool,
        /// Point size is included in shaded vertex data.
        1:1 point_size: bool,
        /// Threads of the fragment shader.
        0:0 threading: Threading,
    }
}

layout! {
    /// VG shader state record [AG p.80].
    pub struct VgShaderRecord: 96 bits "VG shader record" {
        /// Fragment shader uniforms address.
        95:64 uniforms: BusAddr,
        /// Fragment shader code address.
        63:32 code: BusAddr,
        /// Number of varyings.
        31:24 varyings: u8,
        /// Number of uniforms (not used by the hardware).
        23:16 uniform_count: u8,
        /// Threads of the fragment shader.
        0:0 threading: Threading,
    }
}
