//! Vertex cache manager (VCM), for the timing model: which vertices are shaded again.
//!
//! The VCM collects the vertices of a primitive list into batches of 16. Vertices that it still has are not collected again; that these are the last 16 is a
//! guess. It begins anew with each list.

use super::vcd::nv_format;
use super::{VertexShader, VertexStage};
use crate::state::{GlShader, NvShader};
use crate::timing::costs::{LINE_BYTES, VCM_VERTICES};
use std::collections::VecDeque;
use v3d_hw::qpu::LANES;

/// A batch of vertices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VertexBatch {
    /// Index of the first primitive that needs it.
    pub first_primitive: usize,
    /// Vertices in it.
    pub vertices: u32,
    /// Lines of memory that they lie in, those of each vertex counted separately.
    pub lines: u32,
}

/// The batches for a list of primitives, each given as the indices of its vertices.
pub fn batches<'p>(
    shader: VertexShader<'_>,
    stage: VertexStage,
    primitives: impl Iterator<Item = &'p [u32]>,
) -> Vec<VertexBatch> {
    let mut held: VecDeque<u32> = VecDeque::with_capacity(VCM_VERTICES);
    let mut batches: Vec<VertexBatch> = Vec::new();
    for (primitive, vertices) in primitives.enumerate() {
        for &index in vertices {
            if held.contains(&index) {
                continue;
            }
            if held.len() >= VCM_VERTICES {
                held.pop_front();
            }
            held.push_back(index);
            if batches.last().is_none_or(|batch| batch.vertices as usize >= LANES) {
                batches.push(VertexBatch { first_primitive: primitive, ..VertexBatch::default() });
            }
            if let Some(batch) = batches.last_mut() {
                batch.vertices += 1;
                batch.lines += lines(shader, stage, index);
            }
        }
    }
    batches
}

/// Lines of memory that the VCD fetches for a vertex.
pub fn lines(shader: VertexShader<'_>, stage: VertexStage, index: u32) -> u32 {
    match shader {
        VertexShader::Nv(shader) => shaded_lines(shader, stage, index),
        VertexShader::Gl(shader) => attribute_lines(shader, stage, index),
    }
}

/// First and last line of some bytes.
fn span(from: u32, bytes: u32) -> (u32, u32) {
    (from / LINE_BYTES, from.wrapping_add(bytes.saturating_sub(1)) / LINE_BYTES)
}

fn shaded_lines(shader: &NvShader, stage: VertexStage, index: u32) -> u32 {
    let record = &shader.record;
    let (_, first, words) = nv_format(shader, stage);
    let from = record.vertices + index.wrapping_mul(u32::from(record.stride)) + 4 * first;
    let (first, last) = span(from.0, 4 * words);
    last.wrapping_sub(first) + 1
}

/// Lines that several arrays share, as those of interleaved attributes do, count once.
fn attribute_lines(shader: &GlShader, stage: VertexStage, index: u32) -> u32 {
    let program = stage.program(shader);
    let selected = (0..).zip(&shader.attributes).filter(|(array, _)| program.attribute_select >> array & 1 == 1);
    let mut seen: Vec<u32> = Vec::with_capacity(8);
    for (_, attribute) in selected {
        let from = attribute.address + index.wrapping_mul(attribute.stride);
        let (first, last) = span(from.0, attribute.bytes);
        for line in first..=last {
            if !seen.contains(&line) {
                seen.push(line);
            }
        }
    }
    seen.len() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Attribute;
    use v3d_hw::BusAddr;
    use v3d_hw::shader_record::{GlFragment, GlVertex, NvShaderRecord};

    fn nv(stride: u8, clip_header: bool) -> NvShader {
        let record = NvShaderRecord {
            vertices: BusAddr(0x4000_1000),
            varyings: 3,
            stride,
            clip_header,
            ..NvShaderRecord::default()
        };
        NvShader { address: BusAddr(0), record }
    }

    /// Lines of the first eight vertices.
    fn check(shader: VertexShader<'_>, stage: VertexStage, expected: [u32; 8]) {
        let found: [u32; 8] = std::array::from_fn(|index| lines(shader, stage, index as u32));
        assert_eq!(found, expected, "{stage:?}");
    }

    /// 24 bytes a vertex from a line's start on, of which binning needs 12: those at 48 and 56 of a line, or only those at 56, continue in the next.
    #[test]
    fn a_shaded_vertex_lies_in_one_line_or_two() {
        check(VertexShader::Nv(&nv(24, false)), VertexStage::Vertex, [1, 1, 2, 1, 1, 2, 1, 1]);
        check(VertexShader::Nv(&nv(24, false)), VertexStage::Coordinate, [1, 1, 1, 1, 1, 2, 1, 1]);
        check(VertexShader::Nv(&nv(40, true)), VertexStage::Vertex, [1, 2, 1, 1, 2, 1, 1, 1]);
        check(VertexShader::Nv(&nv(40, true)), VertexStage::Coordinate, [1, 2, 1, 2, 1, 1, 2, 1]);
    }

    /// A position of 12 bytes and a colour of 4 behind it in the same 16; a third array elsewhere, which only the vertex shader reads.
    #[test]
    fn interleaved_attributes_share_their_line() {
        let attribute = |address, bytes, stride| Attribute {
            address: BusAddr(address),
            bytes,
            stride,
            vertex_vpm_offset: 0,
            coordinate_vpm_offset: 0,
        };
        let program = |attribute_select| GlVertex { attribute_select, ..GlVertex::default() };
        let shader = GlShader {
            address: BusAddr(0),
            fragment: GlFragment::default(),
            vertex: program(0b111),
            coordinate: program(0b001),
            attributes: vec![attribute(0x1000, 12, 16), attribute(0x100c, 4, 16), attribute(0x2000, 4, 4)],
        };
        check(VertexShader::Gl(&shader), VertexStage::Coordinate, [1; 8]);
        check(VertexShader::Gl(&shader), VertexStage::Vertex, [2; 8]);
    }

    /// Triangles of a strip share two of three vertices; 17 vertices are one too many for a batch.
    #[test]
    fn vertices_are_collected_once_while_they_are_held() {
        let shader = nv(64, false);
        let found = |primitives: &[[u32; 3]]| {
            let batches =
                batches(VertexShader::Nv(&shader), VertexStage::Vertex, primitives.iter().map(|p| p.as_slice()));
            batches.iter().map(|batch| (batch.first_primitive, batch.vertices, batch.lines)).collect::<Vec<_>>()
        };
        let strip: Vec<[u32; 3]> = (0..15).map(|i| [i, i + 1, i + 2]).collect();
        assert_eq!(found(&strip), [(0, 16, 16), (14, 1, 1)]);
        // The first is not held any more.
        assert_eq!(found(&[strip.clone(), vec![[0, 16, 15]]].concat()), [(0, 16, 16), (14, 2, 2)]);
        assert_eq!(found(&[strip, vec![[16, 15, 2]]].concat()), [(0, 16, 16), (14, 1, 1)]);
        assert_eq!(found(&[]), []);
    }
}
