//! Vertex cache DMA (VCD): attributes of a batch from memory to rows of the VPM.
//!
//! # Sources
//! [AG p.60-61], [AG p.79-81]. That attributes of stride 0 are the same for all vertices: [linux vc4_validate.c].

use super::{MAX_ROWS, VcdFault, VertexStage};
use crate::memory::{Memory, OutOfMemory};
use crate::qpu::lanes::Lanes;
use crate::random::Random;
use crate::state::{GlShader, NvShader};
use std::sync::atomic::Ordering::Relaxed;
use v3d_hw::BusAddr;
use v3d_hw::qpu::LANES;
use v3d_hw::shaded_vertex::Format;

/// What the VCD leaves in elements without a vertex.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UndefinedElements {
    /// Noise, the same in each run: on hardware they contain anything. Loops that they keep from ending and addresses that lead out of memory are reported.
    #[default]
    Noise,
    /// 0, and nothing is reported.
    Zero,
}

/// Fills the elements of a batch behind its last vertex with noise, which depends on the first vertex only.
pub(super) fn fill_with_noise(rows: &mut [Lanes], indices: &[u32]) {
    let mut random = Random::new(NOISE, indices.first().copied().unwrap_or(0).into());
    for row in rows {
        for element in row.0.iter_mut().skip(indices.len()) {
            // Any bits, or what programs compute with.
            *element = if random.one_in(2) { random.next_u64() as u32 } else { random.value() };
        }
    }
}

/// The suite of random numbers that noise is taken from.
const NOISE: u64 = 0x6e6f_6973;

/// Number of rows of the attributes of a batch.
pub(super) fn attribute_rows(shader: &GlShader, stage: VertexStage) -> u32 {
    u32::from(stage.program(shader).attributes_bytes).div_ceil(4).min(MAX_ROWS as u32)
}

/// Fetches the attributes of up to 16 vertices for one of the vertex programs to rows of zeros, vertex n to element n.
///
/// Arrays may be longer than the total size of the attributes leaves room for; the excess is not stored. Drivers rely on that: they count only the
/// components that a shader reads [mesa vc4_program.c].
pub(super) fn fetch(
    memory: Memory<'_>,
    shader: &GlShader,
    stage: VertexStage,
    indices: &[u32],
    rows: &mut [Lanes],
    mut report: impl FnMut(VcdFault),
) {
    let program = stage.program(shader);
    for (array, attribute) in (0u32..).zip(&shader.attributes) {
        if program.attribute_select >> array & 1 == 0 {
            continue;
        }
        let offset = u32::from(match stage {
            VertexStage::Coordinate => attribute.coordinate_vpm_offset,
            VertexStage::Vertex => attribute.vertex_vpm_offset,
        });
        for (lane, &index) in indices.iter().enumerate().take(LANES) {
            let from = attribute.address + index.wrapping_mul(attribute.stride);
            if let Err(error) = fetch_column(memory, from, attribute.bytes, offset, lane, rows) {
                report(VcdFault::Attribute { array, index, error });
            }
        }
    }
}

/// Copies bytes of memory down a column, from byte `offset` on; bytes beyond the last row are dropped.
fn fetch_column(
    memory: Memory<'_>,
    from: BusAddr,
    bytes: u32,
    offset: u32,
    lane: usize,
    rows: &mut [Lanes],
) -> Result<(), OutOfMemory> {
    if offset.is_multiple_of(4) && bytes.is_multiple_of(4) && from.is_aligned(4) {
        let rows = rows.get_mut(offset as usize / 4..).unwrap_or_default();
        let words = rows.len().min(bytes as usize / 4);
        return fetch_words(memory, from, lane, rows.get_mut(..words).unwrap_or_default());
    }
    for byte in 0..bytes {
        let to = offset + byte;
        let Some(row) = rows.get_mut(to as usize / 4) else { break };
        let shift = 8 * (to % 4);
        row.0[lane] = row.0[lane] & !(0xff << shift) | u32::from(memory.byte(from + byte)?) << shift;
    }
    Ok(())
}

/// Copies words of memory, which are aligned, down a column, as far as they exist.
fn fetch_words(memory: Memory<'_>, from: BusAddr, lane: usize, rows: &mut [Lanes]) -> Result<(), OutOfMemory> {
    let first = from.offset() as usize / 4;
    if let Some(cells) = memory.words().get(first..).and_then(|cells| cells.get(..rows.len())) {
        for (row, cell) in rows.iter_mut().zip(cells) {
            row.0[lane] = cell.load(Relaxed);
        }
        return Ok(());
    }
    for (row, word) in rows.iter_mut().zip(0u32..) {
        row.0[lane] = memory.word(from + 4 * word)?;
    }
    Ok(())
}

/// Format of the shaded vertices of NV mode, their first word in memory, and their number of words: for rendering without the clip header.
pub(super) fn nv_format(shader: &NvShader, stage: VertexStage) -> (Format, u32, u32) {
    let stored = shader.format();
    match stage {
        VertexStage::Coordinate => (stored, 0, stored.varyings()),
        VertexStage::Vertex => {
            let format = Format { clip_header: false, ..stored };
            (format, stored.screen_xy(), format.varyings() + u32::from(shader.record.varyings))
        }
    }
}

/// Fetches up to 16 shaded vertices of NV mode in the stage's format to rows of zeros.
pub(super) fn fetch_shaded(
    memory: Memory<'_>,
    shader: &NvShader,
    stage: VertexStage,
    indices: &[u32],
    rows: &mut [Lanes],
    mut report: impl FnMut(VcdFault),
) {
    let record = &shader.record;
    if record.clip_header && !record.vertices.is_aligned(16) {
        report(VcdFault::Unaligned(record.vertices));
    }
    let (_, first, _) = nv_format(shader, stage);
    for (lane, &index) in indices.iter().enumerate().take(LANES) {
        let from = record.vertices + index.wrapping_mul(u32::from(record.stride)) + 4 * first;
        let fetched = if from.is_aligned(4) {
            fetch_words(memory, from, lane, rows)
        } else {
            rows.iter_mut().zip(0u32..).try_for_each(|(row, word)| {
                let mut bytes = [0; 4];
                memory.read(from + 4 * word, &mut bytes)?;
                row.0[lane] = u32::from_le_bytes(bytes);
                Ok(())
            })
        };
        if let Err(error) = fetched {
            report(VcdFault::Shaded { index, error });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::OwnedMemory;
    use crate::state::Attribute;
    use v3d_hw::shader_record::{GlFragment, GlVertex, NvShaderRecord};

    fn shader(total: u8, select: u8, attributes: Vec<Attribute>) -> GlShader {
        let program = GlVertex { attributes_bytes: total, attribute_select: select, ..Default::default() };
        GlShader {
            address: BusAddr(0),
            fragment: GlFragment::default(),
            vertex: program,
            coordinate: program,
            attributes,
        }
    }

    fn attribute(address: u32, bytes: u32, stride: u32, offset: u8) -> Attribute {
        Attribute {
            address: BusAddr(address),
            bytes,
            stride,
            vertex_vpm_offset: offset,
            coordinate_vpm_offset: offset + 4,
        }
    }

    /// Memory in which each byte is the low byte of its address plus 1.
    fn counting(bytes: usize) -> OwnedMemory {
        let owned = OwnedMemory::new(bytes);
        for i in 0..bytes as u32 {
            owned.view().set_byte(BusAddr(i), (i + 1) as u8).unwrap();
        }
        owned
    }

    /// The rows of attributes.
    fn fetched(
        owned: &OwnedMemory,
        shader: &GlShader,
        stage: VertexStage,
        indices: &[u32],
        report: impl FnMut(VcdFault),
    ) -> Vec<Lanes> {
        let mut rows = vec![Lanes::default(); attribute_rows(shader, stage) as usize];
        fetch(owned.view(), shader, stage, indices, &mut rows, report);
        rows
    }

    /// Every size from 1 to 64 bytes at every alignment, strides 0 and others, compared with a byte-by-byte copy.
    #[test]
    fn columns_hold_the_bytes_of_their_vertex() {
        let owned = counting(0x1000);
        for bytes in 1..=64u32 {
            for (address, stride, offset) in [(0x100, 0, 0), (0x101, 20, 4), (0x7f, 64, 8), (0x200, 12, 3)] {
                let shader = shader(100, 1, vec![attribute(address, bytes, stride, offset)]);
                let indices = [5, 0, 9];
                let rows = fetched(&owned, &shader, VertexStage::Vertex, &indices, |fault| panic!("{fault}"));
                assert_eq!(rows.len(), 25);
                for lane in 0..16 {
                    let column: Vec<u8> = rows.iter().flat_map(|row| row.0[lane].to_le_bytes()).collect();
                    let mut expected = vec![0u8; 100];
                    if let Some(index) = indices.get(lane) {
                        for byte in 0..bytes {
                            expected[(u32::from(offset) + byte) as usize] = (address + index * stride + byte + 1) as u8;
                        }
                    }
                    assert_eq!(column, expected, "{bytes} bytes, stride {stride}, lane {lane}");
                }
            }
        }
    }

    #[test]
    fn eight_arrays_and_the_stage_decides_which_and_where() {
        let owned = counting(0x1000);
        let arrays = (0..8).map(|i| attribute(0x100 * (i + 1), 4, 4, 4 * i as u8)).collect();
        let mut shader = shader(36, 0xff, arrays);
        shader.coordinate.attribute_select = 0b1000_0001;
        let first_column = |stage| -> Vec<u8> {
            let rows = fetched(&owned, &shader, stage, &[2], |fault| panic!("{fault}"));
            rows.iter().map(|row| row.0[0] as u8).collect()
        };
        // Byte 8 of each page holds 9.
        assert_eq!(first_column(VertexStage::Vertex), [9, 9, 9, 9, 9, 9, 9, 9, 0]);
        assert_eq!(first_column(VertexStage::Coordinate), [0, 9, 0, 0, 0, 0, 0, 0, 9]);
    }

    #[test]
    fn attributes_that_are_not_there_are_faults_and_those_that_do_not_fit_are_cut() {
        let owned = counting(0x100);
        let shader = shader(8, 1, vec![attribute(0xf8, 12, 4, 0)]);
        let mut faults = Vec::new();
        let rows = fetched(&owned, &shader, VertexStage::Vertex, &[0, 2], |fault| faults.push(fault));
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[1].0[0], 0x00ff_fefd);
        assert!(matches!(faults[0], VcdFault::Attribute { array: 0, index: 2, .. }));
        assert_eq!(faults.len(), 1);
    }

    #[test]
    fn nv_vertices_lose_their_clip_header_for_rendering() {
        let owned = OwnedMemory::new(0x200);
        for i in 0..0x80 {
            owned.view().set_word(BusAddr(4 * i), i).unwrap();
        }
        let record = NvShaderRecord {
            vertices: BusAddr(0x40),
            varyings: 2,
            stride: 40,
            clip_header: true,
            point_size: true,
            ..Default::default()
        };
        let shader = NvShader { address: BusAddr(0), record };
        let fetched = |stage, indices: &[u32], report: &mut dyn FnMut(VcdFault)| {
            let mut rows = vec![Lanes::default(); nv_format(&shader, stage).2 as usize];
            fetch_shaded(owned.view(), &shader, stage, indices, &mut rows, report);
            rows
        };
        let coordinates = fetched(VertexStage::Coordinate, &[0, 3], &mut |fault| panic!("{fault}"));
        assert_eq!(coordinates.len(), 8);
        assert_eq!([coordinates[0].0[0], coordinates[0].0[1], coordinates[7].0[1]], [16, 46, 53]);
        let vertices = fetched(VertexStage::Vertex, &[0, 3], &mut |fault| panic!("{fault}"));
        assert_eq!(vertices.len(), 6);
        assert_eq!([vertices[0].0[0], vertices[5].0[1]], [20, 55]);
        let mut faults = 0;
        fetched(VertexStage::Vertex, &[1000], &mut |_| faults += 1);
        assert_eq!(faults, 1);
    }
}
