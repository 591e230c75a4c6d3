//! Dumps of shader records.

use super::{Dump, named};
use crate::state::{Attribute, GlShader, NvShader, VgShader};
use v3d_hw::control_list::GlShaderState;
use v3d_hw::shader_record::{GlFragment, GlVertex, NvShaderRecord, VgShaderRecord, gl};
use v3d_hw::{BusAddr, Layout};

/// Maximum number of vertices of an attribute array that are shown.
const SHOWN_VERTICES: u32 = 4;

/// Shading mode of the record at an address.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mode {
    /// GL mode, as its state record describes it.
    Gl(GlShaderState),
    /// NV mode.
    Nv,
    /// VG mode.
    Vg,
}

impl Dump<'_> {
    /// One part of a record.
    fn part<T: Layout>(&mut self, at: BusAddr) {
        let mut bytes = [0; 16];
        match self.memory.read(at, &mut bytes[..T::BYTES]) {
            Ok(()) => {
                self.line(format_args!("{at}  {}", T::TITLE));
                self.fields(T::FIELDS, u128::from_le_bytes(bytes));
            }
            Err(error) => self.line(format_args!("{at}  {}: {error}", T::TITLE)),
        }
    }

    pub(super) fn shader_record(&mut self, at: BusAddr, mode: &Mode) {
        let name = named(self.names.draw(at));
        match mode {
            Mode::Gl(state) => {
                self.title(format_args!("GL shader record at {at}{name}"));
                self.part::<GlFragment>(at + gl::FRAGMENT);
                self.part::<GlVertex>(at + gl::VERTEX);
                self.part::<GlVertex>(at + gl::COORDINATE);
                match GlShader::read(self.memory, *state) {
                    Ok(shader) => self.gl_parts(&shader),
                    Err(fault) => self.line(format_args!("{at}  {fault}")),
                }
            }
            Mode::Nv => {
                self.title(format_args!("NV shader record at {at}{name}"));
                self.part::<NvShaderRecord>(at);
                if let Ok(shader) = NvShader::read(self.memory, at) {
                    let uses = self.programs.entry(shader.record.code.0).or_default();
                    uses.add("fragment shader", shader.record.uniforms.0);
                }
            }
            Mode::Vg => {
                self.title(format_args!("VG shader record at {at}{name}"));
                self.part::<VgShaderRecord>(at);
                if let Ok(shader) = VgShader::read(self.memory, at) {
                    let uses = self.programs.entry(shader.fragment.code.0).or_default();
                    uses.add("fragment shader", shader.fragment.uniforms.0);
                }
            }
        }
    }

    fn gl_parts(&mut self, shader: &GlShader) {
        for (number, attribute) in shader.attributes.iter().enumerate() {
            let at = shader.address + (gl::ATTRIBUTES + gl::ATTRIBUTE_BYTES * number as u32);
            let read_by = |select: u8| if select >> number & 1 == 1 { "read" } else { "not read" };
            self.line(format_args!(
                "{at}  attribute array {number}: {} bytes from {}, stride {}; vertex shader: {} at byte {}, coordinate shader: {} at byte {}",
                attribute.bytes,
                attribute.address,
                attribute.stride,
                read_by(shader.vertex.attribute_select),
                attribute.vertex_vpm_offset,
                read_by(shader.coordinate.attribute_select),
                attribute.coordinate_vpm_offset,
            ));
            let vertices = self.vertices.get(&shader.address.0).copied().unwrap_or(0);
            self.vertices_of(attribute, vertices);
        }
        let parts = [
            ("fragment shader", shader.fragment.code, shader.fragment.uniforms),
            ("vertex shader", shader.vertex.code, shader.vertex.uniforms),
            ("coordinate shader", shader.coordinate.code, shader.coordinate.uniforms),
        ];
        for (kind, code, uniforms) in parts {
            self.programs.entry(code.0).or_default().add(kind, uniforms.0);
        }
    }

    /// The first vertices of an attribute array, in words and as floats; whole words only.
    fn vertices_of(&mut self, attribute: &Attribute, vertices: u32) {
        for vertex in 0..vertices.min(SHOWN_VERTICES) {
            let at = attribute.address + attribute.stride.wrapping_mul(vertex);
            let words = (0..attribute.bytes / 4).map_while(|word| self.memory.word(at + 4 * word).ok());
            let words: Vec<String> = words.map(|word| format!("{word:#010x} = {:?}", f32::from_bits(word))).collect();
            self.line(format_args!("  {at}      vertex {vertex}: {}", words.join(", ")));
        }
        if vertices > SHOWN_VERTICES {
            self.line(format_args!("                ... and {} more", vertices - SHOWN_VERTICES));
        }
    }
}
