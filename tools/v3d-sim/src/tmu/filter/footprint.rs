//! The footprint of a lookup: the cache lines of its texels.

use super::{BORDER, Lookup, Neighbourhood, Point, Selection, neighbourhood};
use crate::memory::Memory;
use crate::qpu::lanes::Lanes;
use crate::timing::costs::LINE_BYTES;
use crate::tmu::texture::{Level, Texture, layout_bits};
use v3d_hw::texture::TextureType;
use v3d_hw::tiling;

/// The addresses of the lines, each once, in the order of their first use.
pub(in crate::tmu) fn lines(texture: &Texture, memory: Memory<'_>, coordinates: [&Lanes; 4]) -> Vec<u32> {
    let mut lookup = Lookup { texture, memory, border: 0, fault: None };
    let mut lines = Vec::new();
    for quad in 0..4 {
        let (points, selections) = lookup.quad(quad, coordinates);
        for (point, selection) in points.iter().zip(&selections) {
            lookup.lines_of_level(selection.level, selection, point, &mut lines);
            if selection.next_share != 0 {
                lookup.lines_of_level(selection.level + 1, selection, point, &mut lines);
            }
        }
    }
    lines
}

/// Adds the line of a bus address, unless it is there.
pub(in crate::tmu) fn add_line(lines: &mut Vec<u32>, address: u32) {
    let line = address / LINE_BYTES * LINE_BYTES;
    if !lines.contains(&line) {
        lines.push(line);
    }
}

impl Lookup<'_> {
    fn lines_of_level(&self, level: usize, selection: &Selection, point: &Point, lines: &mut Vec<u32>) {
        let Some(level) = self.texture.levels.get(level) else { return };
        let (x, y) = (level.x.position(point.s), level.y.position(point.t));
        if selection.linear {
            let Neighbourhood { x, y, .. } = neighbourhood(level, x, y);
            for (x, y) in [(x[0], y[0]), (x[1], y[0]), (x[0], y[1]), (x[1], y[1])] {
                self.line_of_texel(level, point.face, x, y, lines);
            }
        } else {
            self.line_of_texel(level, point.face, level.x.texel(x >> 8), level.y.texel(y >> 8), lines);
        }
    }

    fn line_of_texel(&self, level: &Level, face: u32, x: u32, y: u32, lines: &mut Vec<u32>) {
        if x == BORDER || y == BORDER {
            return;
        }
        let texture_type = self.texture.texture_type;
        let block = if texture_type == TextureType::Etc1 { 2 } else { 0 };
        let bits = layout_bits(texture_type);
        let offset = tiling::pixel_offset_bits(level.tiling, level.layout_width, bits, x >> block, y >> block);
        add_line(lines, level.base.wrapping_add(face).wrapping_add((offset.unwrap_or(0) / 8) as u32));
    }
}
