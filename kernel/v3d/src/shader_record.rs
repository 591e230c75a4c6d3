//! Shader state records: which programs, uniforms and vertices a draw uses.
//!
//! In GL mode a record names three programs: the coordinate shader makes positions for the binner, the vertex shader positions and varyings for the
//! renderer, the fragment shader pixels. Each attribute array says where its values lie, how far apart, and at which byte of the vertex's column in
//! the VPM the two vertex-shading programs find them. In NV mode vertices lie in memory as a vertex shader would have written them.
//!
//! # Surprises
//! - A count of 8 attribute arrays is written as 0, and a record without any is impossible: a GL draw with no attributes still fetches one, a
//!   dummy [mesa vc4_draw.c].
//!
//! # Sources
//! [AG p.78-81]

use crate::error::Error;
use alloc::vec::Vec;
use v3d_hw::control_list::{GlShaderState, NvShaderState, Threading};
use v3d_hw::shader_record::{ALIGNMENT, AttributeArray, GlFragment, GlVertex, NvShaderRecord, gl};
use v3d_hw::{BusAddr, Layout};

/// A program and its uniforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program {
    /// The first instruction, 8-byte aligned.
    pub code: BusAddr,
    /// The first uniform, 4-byte aligned; any address if the program reads none.
    pub uniforms: BusAddr,
}

/// The fragment shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FragmentProgram {
    /// Program and uniforms.
    pub program: Program,
    /// Varyings it reads.
    pub varyings: u8,
    /// Threads it is written for.
    pub threading: Threading,
}

/// One attribute array of a GL record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// The first vertex's value.
    pub address: BusAddr,
    /// Bytes of a value, 1 to 256.
    pub bytes: u16,
    /// Bytes from one vertex to the next; 0 gives all vertices the same value.
    pub stride: u8,
    /// Where the vertex shader finds it in a vertex's column, if it reads it.
    pub vertex_offset: Option<u8>,
    /// Where the coordinate shader finds it in a vertex's column, if it reads it.
    pub coordinate_offset: Option<u8>,
}

/// A GL shader record.
#[derive(Clone, Copy, Debug)]
pub struct GlRecord<'a> {
    /// Fragment shader.
    pub fragment: FragmentProgram,
    /// Vertex shader.
    pub vertex: Program,
    /// Coordinate shader.
    pub coordinate: Program,
    /// One to eight attribute arrays.
    pub attributes: &'a [Attribute],
    /// Whether vertices carry a point size.
    pub point_size: bool,
}

impl GlRecord<'_> {
    /// The record's bytes, to be placed at a multiple of [`ALIGNMENT`].
    pub fn encode(&self) -> Result<Vec<u8>, Error> {
        if self.attributes.is_empty() || self.attributes.len() > gl::MAX_ATTRIBUTES as usize {
            return Err(Error::ShaderRecord("a GL record has one to eight attribute arrays"));
        }
        let mut bytes = Vec::new();
        append(
            &mut bytes,
            &GlFragment {
                uniforms: self.fragment.program.uniforms,
                code: self.fragment.program.code,
                varyings: self.fragment.varyings,
                uniform_count: 0,
                clipping: true,
                point_size: self.point_size,
                threading: self.fragment.threading,
            },
        )?;
        append(&mut bytes, &self.vertex_part(&self.vertex, |attribute| attribute.vertex_offset)?)?;
        append(&mut bytes, &self.vertex_part(&self.coordinate, |attribute| attribute.coordinate_offset)?)?;
        for attribute in self.attributes {
            let Some(bytes_minus_1) = attribute.bytes.checked_sub(1).and_then(|bytes| u8::try_from(bytes).ok()) else {
                return Err(Error::ShaderRecord("an attribute has 1 to 256 bytes"));
            };
            append(
                &mut bytes,
                &AttributeArray {
                    coordinate_vpm_offset: attribute.coordinate_offset.unwrap_or(0),
                    vertex_vpm_offset: attribute.vertex_offset.unwrap_or(0),
                    stride: attribute.stride,
                    bytes_minus_1,
                    address: attribute.address,
                },
            )?;
        }
        Ok(bytes)
    }

    /// The part of the vertex or the coordinate shader: which attributes it reads, and how long a vertex's column is with them.
    fn vertex_part(&self, program: &Program, offset: impl Fn(&Attribute) -> Option<u8>) -> Result<GlVertex, Error> {
        let mut attribute_select = 0;
        let mut end = 0;
        for (index, attribute) in self.attributes.iter().enumerate() {
            if let Some(offset) = offset(attribute) {
                attribute_select |= 1 << index;
                end = end.max(u16::from(offset) + attribute.bytes.next_multiple_of(4));
            }
        }
        let attributes_bytes = u8::try_from(end)
            .map_err(|_| Error::ShaderRecord("the attributes of a vertex have more than 255 bytes in the VPM"))?;
        Ok(GlVertex {
            uniforms: program.uniforms,
            code: program.code,
            attributes_bytes,
            attribute_select,
            uniform_count: 0,
        })
    }

    /// The record that selects this one, placed at `address`.
    pub fn state(&self, address: BusAddr) -> GlShaderState {
        GlShaderState {
            address: address.into(),
            extended: false,
            attribute_arrays: (self.attributes.len() % gl::MAX_ATTRIBUTES as usize) as u8,
        }
    }
}

/// An NV shader record: vertices that are shaded already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NvRecord {
    /// Fragment shader.
    pub fragment: FragmentProgram,
    /// The first vertex.
    pub vertices: BusAddr,
    /// Bytes from one vertex to the next.
    pub stride: u8,
    /// Whether clip coordinates precede each vertex; they make clipping possible, and vertices 16-byte aligned.
    pub clip_header: bool,
}

impl NvRecord {
    /// The record's bytes, to be placed at a multiple of [`ALIGNMENT`].
    pub fn encode(&self) -> Result<Vec<u8>, Error> {
        if self.clip_header && !self.vertices.is_aligned(16) {
            return Err(Error::ShaderRecord("NV vertices with clip coordinates are 16-byte aligned"));
        }
        let mut bytes = Vec::new();
        append(
            &mut bytes,
            &NvShaderRecord {
                vertices: self.vertices,
                uniforms: self.fragment.program.uniforms,
                code: self.fragment.program.code,
                varyings: self.fragment.varyings,
                uniform_count: 0,
                stride: self.stride,
                clip_header: self.clip_header,
                clipping: self.clip_header,
                point_size: false,
                threading: self.fragment.threading,
            },
        )?;
        Ok(bytes)
    }

    /// The record that selects this one, placed at `address`.
    pub const fn state(address: BusAddr) -> NvShaderState {
        NvShaderState { address }
    }
}

/// Alignment of both kinds of records in bytes.
pub const RECORD_ALIGNMENT: u32 = ALIGNMENT;

/// Appends one part of a record.
fn append<L: Layout>(bytes: &mut Vec<u8>, part: &L) -> Result<(), Error> {
    let bits = part.to_bits()?.to_le_bytes();
    bytes.extend_from_slice(&bits[..L::BYTES]);
    Ok(())
}
