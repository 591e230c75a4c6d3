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
use crate::lists::record_list::EncodedRecord;
use alloc::vec::Vec;
use v3d_hw::control_list::{GlShaderState, NvShaderState, Record, Threading};
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
    /// Threads it is written for. A program that never switches threads must not be declared two-threaded if another of the job switches them: boards hang then
    /// [bm docs/DRIVERS.md].
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
    /// Offset in a vertex's column for the vertex shader, if it reads the attribute.
    pub vertex_offset: Option<u8>,
    /// Offset in a vertex's column for the coordinate shader, if it reads the attribute.
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

    /// The part of the vertex or the coordinate shader: the attributes that it reads, and the length of a vertex's column.
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

    /// The control record that selects this shader record at `address`.
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

    /// The control record that selects this shader record at `address`.
    pub const fn state(address: BusAddr) -> NvShaderState {
        NvShaderState { address }
    }
}

/// The control record that selects a shader record, without its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShaderState {
    /// Its code, and the lower bits of the address word.
    bits: u64,
}

impl ShaderState {
    /// Bytes of the record.
    const BYTES: u8 = 5;

    /// The record. The address is a multiple of [`ALIGNMENT`]; its lower bits are ignored.
    #[inline]
    pub const fn record(self, address: BusAddr) -> EncodedRecord {
        EncodedRecord::from_bits(self.bits | Self::address_bits(address), Self::BYTES)
    }

    /// The bits of the record that are the address; its lower bits are ignored.
    #[inline]
    pub(crate) const fn address_bits(address: BusAddr) -> u64 {
        ((address.0 & !(ALIGNMENT - 1)) as u64) << 8
    }

    /// Created from the record with address 0.
    pub(crate) fn new(record: Record) -> Result<Self, Error> {
        let [code, bits, ..] = record.encode()?;
        Ok(Self { bits: u64::from_le_bytes([code, bits, 0, 0, 0, 0, 0, 0]) })
    }
}

/// A template of records that differ in uniforms and vertices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordTemplate {
    words: Vec<u32>,
    /// Index of the first word with an address of vertices, and the distance to the next.
    vertices: (usize, usize),
    state: ShaderState,
}

impl RecordTemplate {
    /// Index of the word with the address of the fragment shader's uniforms, in both kinds of records.
    pub const FRAGMENT_UNIFORMS: usize = gl::FRAGMENT as usize / 4 + 2;
    /// Index of the word with the address of the vertex shader's uniforms in a GL record.
    pub const VERTEX_UNIFORMS: usize = gl::VERTEX as usize / 4 + 2;
    /// Index of the word with the address of the coordinate shader's uniforms in a GL record.
    pub const COORDINATE_UNIFORMS: usize = gl::COORDINATE as usize / 4 + 2;

    /// A template from a GL record whose attributes' addresses are relative to the first vertex.
    pub fn gl(record: &GlRecord<'_>) -> Result<Self, Error> {
        let vertices = (gl::ATTRIBUTES as usize / 4, gl::ATTRIBUTE_BYTES as usize / 4);
        let state = ShaderState::new(record.state(BusAddr(0)).into())?;
        Ok(Self { words: words(&record.encode()?), vertices, state })
    }

    /// A template from an NV record whose vertices' address is 0.
    pub fn nv(record: &NvRecord) -> Result<Self, Error> {
        let state = ShaderState::new(NvRecord::state(BusAddr(0)).into())?;
        Ok(Self { words: words(&record.encode()?), vertices: (3, 1), state })
    }

    /// The control record that selects it.
    pub const fn state(&self) -> ShaderState {
        self.state
    }

    /// Appends the record with this address of vertices. The caller sets the uniforms' addresses in the words named above.
    pub fn write(&self, vertices: BusAddr, to: &mut Vec<u32>) {
        let (first, step) = self.vertices;
        let start = to.len();
        to.extend_from_slice(&self.words);
        for address in to.iter_mut().skip(start + first).step_by(step) {
            *address = address.wrapping_add(vertices.0);
        }
    }
}

/// Bytes as little-endian words.
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

    /// Sets the addresses of uniforms.
    fn fill_in<const N: usize>(record: &mut [u32], at: [usize; N], uniforms: [u32; N]) {
        for (at, address) in at.into_iter().zip(uniforms) {
            record[at] = address;
        }
    }

    /// A record that is encoded with these addresses is equal to the template after they are filled in.
    #[test]
    fn templates_are_records_without_addresses() {
        const UNIFORMS: [usize; 3] =
            [RecordTemplate::FRAGMENT_UNIFORMS, RecordTemplate::VERTEX_UNIFORMS, RecordTemplate::COORDINATE_UNIFORMS];
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
            let state = EncodedRecord::new(record.state(BusAddr(0x1234_5670))).unwrap();
            (RecordTemplate::gl(&record).unwrap(), words(&record.encode().unwrap()), state)
        };
        let (template, ..) = record(0, [0; 3], [12, 16]);
        let (_, expected, state) = record(0x1234_5600, [0x100, 0x200, 0x300], [12, 16]);
        let mut written = Vec::from([7]);
        template.write(BusAddr(0x1234_5600), &mut written);
        fill_in(&mut written[1..], UNIFORMS, [0x100, 0x200, 0x300]);
        assert_eq!(written[1..], expected[..]);
        assert_eq!(template.state().record(BusAddr(0x1234_5670)), state);

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
        let template = RecordTemplate::nv(&nv(0, 0)).unwrap();
        template.write(BusAddr(0x900), &mut written);
        fill_in(&mut written, [RecordTemplate::FRAGMENT_UNIFORMS], [0x700]);
        assert_eq!(written, words(&nv(0x900, 0x700).encode().unwrap()));
        let state = EncodedRecord::new(NvRecord::state(BusAddr(0x1234_5670))).unwrap();
        assert_eq!(template.state().record(BusAddr(0x1234_5670)), state);
    }
}
