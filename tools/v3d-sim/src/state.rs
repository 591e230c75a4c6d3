//! Pipeline state: what state records set up for one control list thread.
//!
//! Each thread of the CLE has a set of pipeline state of its own. Most records carry their values; shader state records point at a record in memory,
//! which is read when the control record is executed. A primitive list format takes effect with the next shader state [AG p.65].
//!
//! The guide gives no values after reset. Here nothing is culled or tested, the clip window is open, Z is limited to 0 to 1, and lists are of
//! triangles by 16-bit indices.
//!
//! # Sources
//! [AG p.65], [AG p.69-70], [AG p.78-80].

pub use crate::fault::list::StateFault;

use crate::memory::{Memory, OutOfMemory};
use std::collections::HashMap;
use std::sync::Arc;
use v3d_hw::control_list::{
    ClipWindow, ClipperXyScaling, ClipperZScaleOffset, ConfigurationBits, DepthOffset, GlShaderState,
    PrimitiveListFormat, StateRecord, Threading, VgInlineShader, ViewportOffset, ZClippingPlanes,
};
use v3d_hw::primitive_list::{ListDataType, ListPrimitive};
use v3d_hw::shaded_vertex::Format;
use v3d_hw::shader_record::{
    self, AttributeArray, ExtendedStride, GlFragment, GlVertex, NvShaderRecord, VgShaderRecord, gl,
};
use v3d_hw::{BusAddr, Layout};

/// The state of a control list thread.
#[derive(Clone, Debug)]
pub struct PipelineState {
    /// Depth test, culling, oversampling, coverage (96).
    pub configuration: ConfigurationBits,
    /// One bit per varying that is not interpolated (97).
    pub flat_shade: u32,
    /// Size of points in pixels, unless vertices carry it (98).
    pub point_size: f32,
    /// Width of lines in pixels (99).
    pub line_width: f32,
    /// X boundary of RHTs (100).
    pub rht_x_boundary: i16,
    /// Depth offset (101).
    pub depth_offset: DepthOffset,
    /// Clip window (102).
    pub clip_window: ClipWindow,
    /// Viewport centre (103).
    pub viewport_offset: ViewportOffset,
    /// Limits of Z (104).
    pub z_clipping: ZClippingPlanes,
    /// Scaling of the clipper (105), binning only.
    pub clipper_xy: ClipperXyScaling,
    /// Z scale and offset of the clipper (106), binning only.
    pub clipper_z: ClipperZScaleOffset,
    /// Format of compressed lists (56), as of the last shader state.
    pub list_format: PrimitiveListFormat,
    /// Format that the next shader state will bring into effect.
    pub next_list_format: PrimitiveListFormat,
    /// Shaders; `None` before the first shader state.
    pub shader: Option<Shader>,
}

/// Maximum size of points: the greatest that drivers promise; a test that draws one of 528 pixels passes on boards [deqp].
const MAX_POINT_PX: f32 = 512.0;

/// The size in pixels at which a point of a given size is drawn.
pub fn point_size_px(given: f32) -> f32 {
    // NaN stays NaN.
    if given > MAX_POINT_PX { MAX_POINT_PX } else { given }
}

impl Default for PipelineState {
    fn default() -> Self {
        let list_format = PrimitiveListFormat { data_type: ListDataType::Index16, primitive: ListPrimitive::Triangles };
        Self {
            configuration: ConfigurationBits { forward_facing: true, reverse_facing: true, ..Default::default() },
            flat_shade: 0,
            point_size: 1.0,
            line_width: 1.0,
            rht_x_boundary: 0,
            depth_offset: DepthOffset::default(),
            clip_window: ClipWindow { left: 0, bottom: 0, width: u16::MAX, height: u16::MAX },
            viewport_offset: ViewportOffset::default(),
            z_clipping: ZClippingPlanes { minimum: 0.0, maximum: 1.0 },
            clipper_xy: ClipperXyScaling::default(),
            clipper_z: ClipperZScaleOffset { scale: 1.0, offset: 0.0 },
            list_format,
            next_list_format: list_format,
            shader: None,
        }
    }
}

impl PipelineState {
    /// Applies a state record.
    pub fn apply(
        &mut self,
        record: StateRecord,
        memory: Memory<'_>,
        records: &mut ShaderRecords,
    ) -> Result<(), StateFault> {
        match record {
            StateRecord::PrimitiveListFormat(format) => self.next_list_format = format,
            StateRecord::GlShaderState(data) => self.set_shader(Shader::Gl(records.gl(memory, data)?)),
            StateRecord::NvShaderState(data) => {
                self.set_shader(Shader::Nv(Arc::new(NvShader::read(memory, data.address)?)))
            }
            StateRecord::VgShaderState(data) => self.set_shader(Shader::Vg(VgShader::read(memory, data.address)?)),
            StateRecord::VgInlineShader(data) => self.set_shader(Shader::Vg(VgShader::inline(data))),
            StateRecord::ConfigurationBits(data) => self.configuration = data,
            StateRecord::FlatShadeFlags(data) => self.flat_shade = data.flags,
            StateRecord::PointSize(data) => self.point_size = data.size,
            StateRecord::LineWidth(data) => self.line_width = data.width,
            StateRecord::RhtXBoundary(data) => self.rht_x_boundary = data.x,
            StateRecord::DepthOffset(data) => self.depth_offset = data,
            StateRecord::ClipWindow(data) => self.clip_window = data,
            StateRecord::ViewportOffset(data) => self.viewport_offset = data,
            StateRecord::ZClippingPlanes(data) => self.z_clipping = data,
            StateRecord::ClipperXyScaling(data) => self.clipper_xy = data,
            StateRecord::ClipperZScaleOffset(data) => self.clipper_z = data,
        }
        Ok(())
    }

    fn set_shader(&mut self, shader: Shader) {
        self.shader = Some(shader);
        self.list_format = self.next_list_format;
    }
}

/// The shaders in use.
#[derive(Clone, Debug)]
pub enum Shader {
    /// GL mode: vertices are shaded.
    Gl(Arc<GlShader>),
    /// NV mode: shaded vertices are in memory.
    Nv(Arc<NvShader>),
    /// VG mode: vertices are screen coordinates.
    Vg(VgShader),
}

/// The fragment shader, as every kind of shader record describes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fragment {
    /// Address of the first instruction.
    pub code: BusAddr,
    /// Address of the uniforms.
    pub uniforms: BusAddr,
    /// Number of varyings.
    pub varyings: u8,
    /// Number of threads that it is written for.
    pub threading: Threading,
}

impl Shader {
    /// The fragment shader.
    pub fn fragment(&self) -> Fragment {
        match self {
            Self::Gl(shader) => {
                let GlFragment { code, uniforms, varyings, threading, .. } = shader.fragment;
                Fragment { code, uniforms, varyings, threading }
            }
            Self::Nv(shader) => {
                let NvShaderRecord { code, uniforms, varyings, threading, .. } = shader.record;
                Fragment { code, uniforms, varyings, threading }
            }
            Self::Vg(shader) => shader.fragment,
        }
    }

    /// Whether clipping is enabled.
    pub fn clipping(&self) -> bool {
        match self {
            Self::Gl(shader) => shader.fragment.clipping,
            Self::Nv(shader) => shader.record.clipping,
            Self::Vg(_) => false,
        }
    }

    /// Whether vertices carry a point size.
    pub fn point_size(&self) -> bool {
        match self {
            Self::Gl(shader) => shader.fragment.point_size,
            Self::Nv(shader) => shader.record.point_size,
            Self::Vg(_) => false,
        }
    }

    /// Address of the shader record; 0 for an inline one.
    pub fn address(&self) -> BusAddr {
        match self {
            Self::Gl(shader) => shader.address,
            Self::Nv(shader) => shader.address,
            Self::Vg(shader) => shader.address,
        }
    }
}

/// A decoded GL shader record.
#[derive(Clone, Debug, PartialEq)]
pub struct GlShader {
    /// Its address.
    pub address: BusAddr,
    /// The fragment shader and its flags.
    pub fragment: GlFragment,
    /// The vertex shader.
    pub vertex: GlVertex,
    /// The coordinate shader.
    pub coordinate: GlVertex,
    /// The attribute arrays.
    pub attributes: Vec<Attribute>,
}

/// One attribute array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Address of vertex 0's attribute.
    pub address: BusAddr,
    /// Bytes per vertex, 1 to 256.
    pub bytes: u32,
    /// Distance from vertex to vertex in bytes; 0 gives all vertices the same value.
    pub stride: u32,
    /// Byte offset in the vertex shader's column.
    pub vertex_vpm_offset: u8,
    /// Byte offset in the coordinate shader's column.
    pub coordinate_vpm_offset: u8,
}

/// Reads a structure of at most 16 bytes.
fn read<T: Layout>(memory: Memory<'_>, at: BusAddr) -> Result<T, OutOfMemory> {
    let mut bytes = [0; 16];
    memory.read(at, &mut bytes[..T::BYTES])?;
    Ok(T::from_bits(u128::from_le_bytes(bytes)))
}

impl GlShader {
    /// Reads the record that a GL Shader State record points at. 0 attribute arrays mean 8; an extended record always has 8, followed by their
    /// strides.
    pub fn read(memory: Memory<'_>, state: GlShaderState) -> Result<Self, StateFault> {
        let address = state.address.0;
        let (count, _) = gl_attributes(state);
        let attribute = |i: u32| -> Result<Attribute, OutOfMemory> {
            let array: AttributeArray = read(memory, address + (gl::ATTRIBUTES + i * gl::ATTRIBUTE_BYTES))?;
            let stride = if state.extended {
                read::<ExtendedStride>(memory, address + (gl::EXTENDED_STRIDES + i * 4))?.stride
            } else {
                u32::from(array.stride)
            };
            Ok(Attribute {
                address: array.address,
                bytes: u32::from(array.bytes_minus_1) + 1,
                stride,
                vertex_vpm_offset: array.vertex_vpm_offset,
                coordinate_vpm_offset: array.coordinate_vpm_offset,
            })
        };
        Ok(Self {
            address,
            fragment: read(memory, address + gl::FRAGMENT)?,
            vertex: read(memory, address + gl::VERTEX)?,
            coordinate: read(memory, address + gl::COORDINATE)?,
            attributes: (0..count).map(attribute).collect::<Result<_, _>>()?,
        })
    }
}

/// Maximum number of shader records that are kept.
const KEPT_RECORDS: usize = 256;
/// Bytes of the longest GL shader record.
const MAX_GL_BYTES: usize = gl::EXTENDED_STRIDES as usize + 4 * gl::MAX_ATTRIBUTES as usize;

/// Decoded shader records. Each tile's list refers to the same ones; they are decoded anew only where memory has changed.
#[derive(Debug, Default)]
pub struct ShaderRecords {
    /// By the word that refers to the record: its address, and what determines its length.
    gl: HashMap<u32, ([u8; MAX_GL_BYTES], Arc<GlShader>)>,
}

impl ShaderRecords {
    /// The record that a GL Shader State record points at, as [`GlShader::read`] reads it.
    fn gl(&mut self, memory: Memory<'_>, state: GlShaderState) -> Result<Arc<GlShader>, StateFault> {
        let (attributes, strides) = gl_attributes(state);
        let length = if strides { MAX_GL_BYTES } else { (gl::ATTRIBUTES + attributes * gl::ATTRIBUTE_BYTES) as usize };
        let mut bytes = [0; MAX_GL_BYTES];
        // Bytes outside of memory are reported with their field.
        if memory.read(state.address.0, &mut bytes[..length]).is_err() {
            return Ok(Arc::new(GlShader::read(memory, state)?));
        }
        let key = state.address.0.0 | u32::from(state.extended) << 3 | u32::from(state.attribute_arrays);
        if let Some((known, shader)) = self.gl.get(&key)
            && *known == bytes
        {
            return Ok(Arc::clone(shader));
        }
        let shader = Arc::new(GlShader::read(memory, state)?);
        if self.gl.len() >= KEPT_RECORDS {
            self.gl.clear();
        }
        self.gl.insert(key, (bytes, Arc::clone(&shader)));
        Ok(shader)
    }
}

/// Number of attribute arrays of a GL shader record, and whether their strides are behind them.
fn gl_attributes(state: GlShaderState) -> (u32, bool) {
    match (state.extended, state.attribute_arrays) {
        (true, _) => (gl::MAX_ATTRIBUTES, true),
        (false, 0) => (gl::MAX_ATTRIBUTES, false),
        (false, count) => (u32::from(count), false),
    }
}

/// A decoded NV shader record.
#[derive(Clone, Debug, PartialEq)]
pub struct NvShader {
    /// Its address.
    pub address: BusAddr,
    /// Its contents.
    pub record: NvShaderRecord,
}

impl NvShader {
    /// Reads the record.
    pub fn read(memory: Memory<'_>, address: BusAddr) -> Result<Self, StateFault> {
        check_alignment(address)?;
        Ok(Self { address, record: read(memory, address)? })
    }

    /// Format of the vertices in memory.
    pub fn format(&self) -> Format {
        Format { clip_header: self.record.clip_header, point_size: self.record.point_size }
    }
}

/// A VG shader record, from memory or given inline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VgShader {
    /// Where it stands; 0 for an inline one.
    pub address: BusAddr,
    /// The fragment shader.
    pub fragment: Fragment,
}

impl VgShader {
    /// Reads the record.
    pub fn read(memory: Memory<'_>, address: BusAddr) -> Result<Self, StateFault> {
        check_alignment(address)?;
        let VgShaderRecord { code, uniforms, varyings, threading, .. } = read(memory, address)?;
        Ok(Self { address, fragment: Fragment { code, uniforms, varyings, threading } })
    }

    /// The shader of a VG Inline Shader Record; it has no varyings.
    pub fn inline(data: VgInlineShader) -> Self {
        let fragment = Fragment { code: data.code.0, uniforms: data.uniforms, varyings: 0, threading: data.threading };
        Self { address: BusAddr(0), fragment }
    }
}

fn check_alignment(address: BusAddr) -> Result<(), StateFault> {
    if address.is_aligned(shader_record::ALIGNMENT) { Ok(()) } else { Err(StateFault::Unaligned(address)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::OwnedMemory;
    use v3d_hw::control_list::ClipWindow;

    fn word(memory: Memory<'_>, at: u32, value: u32) {
        memory.set_word(BusAddr(at), value).unwrap();
    }

    #[test]
    fn zero_attribute_arrays_are_eight() {
        let owned = OwnedMemory::new(0x200);
        let memory = owned.view();
        word(memory, 0x100, 0x0304_0006);
        word(memory, 0x100 + 12, 0x0c01_0000);
        // Array 7: 12 bytes, stride 20, vertex offset 4, coordinate offset 8.
        word(memory, 0x100 + 36 + 56, 0x1234);
        word(memory, 0x100 + 36 + 60, 0x0804_140b);
        let state = |count| GlShaderState { address: BusAddr(0x100).into(), extended: false, attribute_arrays: count };
        let shader = GlShader::read(memory, state(0)).unwrap();
        assert_eq!(shader.attributes.len(), 8);
        assert_eq!(
            shader.attributes[7],
            Attribute {
                address: BusAddr(0x1234),
                bytes: 12,
                stride: 20,
                vertex_vpm_offset: 4,
                coordinate_vpm_offset: 8
            }
        );
        assert_eq!((shader.fragment.varyings, shader.fragment.clipping, shader.fragment.point_size), (3, true, true));
        assert_eq!((shader.vertex.attributes_bytes, shader.vertex.attribute_select), (12, 1));
        assert_eq!(GlShader::read(memory, state(3)).unwrap().attributes.len(), 3);
    }

    #[test]
    fn a_record_is_decoded_anew_where_memory_has_changed() {
        let owned = OwnedMemory::new(0x200);
        let mut records = ShaderRecords::default();
        let mut read = |attribute_arrays, extended| {
            let address = BusAddr(0x100).into();
            records.gl(owned.view(), GlShaderState { address, extended, attribute_arrays }).unwrap()
        };
        let first = read(1, false);
        assert!(Arc::ptr_eq(&first, &read(1, false)));
        assert_eq!((read(2, false).attributes.len(), read(1, true).attributes.len()), (2, 8));
        // The stride of array 0, and behind one array the address of the next.
        word(owned.view(), 0x100 + 36 + 8, 0x1234);
        assert!(Arc::ptr_eq(&first, &read(1, false)));
        word(owned.view(), 0x100 + 36 + 4, 0x500);
        assert_eq!((first.attributes[0].stride, read(1, false).attributes[0].stride), (0, 5));
    }

    #[test]
    fn an_extended_record_has_26_bit_strides() {
        let owned = OwnedMemory::new(0x200);
        let memory = owned.view();
        word(memory, 0x100 + 100 + 4, 0xff01_0000);
        let state = GlShaderState { address: BusAddr(0x100).into(), extended: true, attribute_arrays: 2 };
        let shader = GlShader::read(memory, state).unwrap();
        assert_eq!(shader.attributes.len(), 8);
        assert_eq!(shader.attributes[1].stride, 0x0301_0000);
    }

    #[test]
    fn a_list_format_waits_for_the_next_shader_state() {
        let owned = OwnedMemory::new(0x100);
        let mut state = PipelineState::default();
        let format = PrimitiveListFormat { data_type: ListDataType::Index16, primitive: ListPrimitive::Lines };
        assert_eq!(
            state.apply(StateRecord::PrimitiveListFormat(format), owned.view(), &mut ShaderRecords::default()),
            Ok(())
        );
        assert_eq!(state.list_format.primitive, ListPrimitive::Triangles);
        assert_eq!(
            state.apply(
                StateRecord::VgInlineShader(VgInlineShader::default()),
                owned.view(),
                &mut ShaderRecords::default()
            ),
            Ok(())
        );
        assert_eq!(state.list_format.primitive, ListPrimitive::Lines);
        assert_eq!(
            state.apply(StateRecord::ClipWindow(ClipWindow::default()), owned.view(), &mut ShaderRecords::default()),
            Ok(())
        );
    }

    #[test]
    fn a_shader_record_outside_of_memory_is_a_fault() {
        let owned = OwnedMemory::new(0x100);
        let state = GlShaderState { address: BusAddr(0xf0).into(), extended: false, attribute_arrays: 1 };
        assert!(GlShader::read(owned.view(), state).is_err());
        assert_eq!(NvShader::read(owned.view(), BusAddr(8)), Err(StateFault::Unaligned(BusAddr(8))));
    }
}
