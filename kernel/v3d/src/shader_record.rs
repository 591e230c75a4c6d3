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

/// A record that is written again and again with other uniforms and vertices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordTemplate {
    words: Vec<u32>,
    /// The words with the addresses of the uniforms: fragment, vertex, coordinate shader.
    uniforms: &'static [usize],
    /// The first word with an address of vertices, and the distance to the next.
    vertices: (usize, usize),
}

impl RecordTemplate {
    /// From a GL record whose attributes' addresses count from the first vertex.
    pub fn gl(record: &GlRecord<'_>) -> Result<Self, Error> {
        const UNIFORMS: [usize; 3] =
            [gl::FRAGMENT as usize / 4 + 2, gl::VERTEX as usize / 4 + 2, gl::COORDINATE as usize / 4 + 2];
        let vertices = (gl::ATTRIBUTES as usize / 4, gl::ATTRIBUTE_BYTES as usize / 4);
        Ok(Self { words: words(&record.encode()?), uniforms: &UNIFORMS, vertices })
    }

    /// From an NV record whose vertices' address is 0.
    pub fn nv(record: &NvRecord) -> Result<Self, Error> {
        Ok(Self { words: words(&record.encode()?), uniforms: &[2], vertices: (3, 1) })
    }

    /// Words of the record.
    pub const fn length(&self) -> usize {
        self.words.len()
    }

    /// Appends the record with these addresses of uniforms, in the order fragment, vertex, coordinate shader, and of vertices.
    pub fn write(&self, uniforms: &[BusAddr], vertices: BusAddr, to: &mut Vec<u32>) {
        let start = to.len();
        to.extend_from_slice(&self.words);
        let Some(record) = to.get_mut(start..) else { return };
        for (&at, address) in self.uniforms.iter().zip(uniforms) {
            if let Some(word) = record.get_mut(at) {
                *word = address.0;
            }
        }
        let (first, step) = self.vertices;
        for array in record.get_mut(first..).unwrap_or_default().chunks_mut(step) {
            if let Some(address) = array.first_mut() {
                *address = address.wrapping_add(vertices.0);
            }
        }
    }
}

/// Bytes as the words that they are in memory.
fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// Alignment of both kinds of records in bytes.
pub const RECORD_ALIGNMENT: u32 = ALIGNMENT;

/// Appends one part of a record.
fn append<L: Layout>(bytes: &mut Vec<u8>, part: &L) -> Result<(), Error> {
    let bits = part.to_bits()?.to_le_bytes();
    bytes.extend_from_slice(&bits[..L::BYTES]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAGMENT: FragmentProgram = FragmentProgram {
        program: Program { code: BusAddr(0x4000), uniforms: BusAddr(0) },
        varyings: 5,
        threading: Threading::Single,
    };

    /// The record of these addresses, encoded at once, is the template with them filled in.
    #[test]
    fn templates_are_records_without_addresses() {
        let record = |first: u32, uniforms: [u32; 3], bytes: [u16; 2]| {
            let program = |code: u32, uniforms: u32| Program { code: BusAddr(code), uniforms: BusAddr(uniforms) };
            let attribute = |at: u32, bytes: u16| Attribute {
                address: BusAddr(first + at),
                bytes,
                stride: 28,
                vertex_offset: Some(at as u8),
                coordinate_offset: (at == 0).then_some(0),
            };
            let attributes = [attribute(0, bytes[0]), attribute(12, bytes[1])];
            let program_of_fragment = program(0x4000, uniforms[0]);
            let record = GlRecord {
                fragment: FragmentProgram { program: program_of_fragment, ..FRAGMENT },
                vertex: program(0x5000, uniforms[1]),
                coordinate: program(0x6000, uniforms[2]),
                attributes: &attributes,
                point_size: true,
            };
            (RecordTemplate::gl(&record).unwrap(), words(&record.encode().unwrap()))
        };
        let (template, _) = record(0, [0; 3], [12, 16]);
        let (_, expected) = record(0x1234_5600, [0x100, 0x200, 0x300], [12, 16]);
        let mut written = Vec::from([7]);
        template.write(&[BusAddr(0x100), BusAddr(0x200), BusAddr(0x300)], BusAddr(0x1234_5600), &mut written);
        assert_eq!((&written[1..], written.len() - 1), (&expected[..], template.length()));

        let nv = |vertices: u32, uniforms: u32| NvRecord {
            fragment: FragmentProgram {
                program: Program { uniforms: BusAddr(uniforms), ..FRAGMENT.program },
                ..FRAGMENT
            },
            vertices: BusAddr(vertices),
            stride: 24,
            clip_header: false,
        };
        let mut written = Vec::new();
        RecordTemplate::nv(&nv(0, 0)).unwrap().write(&[BusAddr(0x700)], BusAddr(0x900), &mut written);
        assert_eq!(written, words(&nv(0x900, 0x700).encode().unwrap()));
    }
}
