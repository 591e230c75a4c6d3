//! Images in memory that tiles are stored to and loaded from [AG section 11].
//!
//! A tile is a rectangle of the image. It is moved in runs of pixels that are adjacent in memory: whole rows of the tile in a raster image,
//! micro-tiles in T- and LT-format. Pixels beyond the image's width or height are left out.
//!
//! From row to row of a raster image it is a whole number of micro-tiles, so that rows of 858 pixels of 32 bits are 860 pixels apart. The lists have no
//! word for it. Mesa's driver lays its raster images out so, for windows of any width on kernels that know no tiled ones, and Linux measures them so [mesa
//! vc4_resource.c, linux vc4_validate.c].

use super::pse::PixelRect;
use v3d_hw::BusAddr;
use v3d_hw::control_list::MemoryFormat;
use v3d_hw::tiling::{self, Tiling};

/// An image in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surface {
    /// Address of its first byte.
    pub address: BusAddr,
    /// Arrangement of its pixels.
    pub tiling: Tiling,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Bits of a pixel, a multiple of 8.
    pub bits: u32,
}

/// The arrangement of a record's code; `None` for the reserved code.
pub const fn tiling_of(format: MemoryFormat) -> Option<Tiling> {
    match format {
        MemoryFormat::Raster => Some(Tiling::Raster),
        MemoryFormat::TFormat => Some(Tiling::TFormat),
        MemoryFormat::LtFormat => Some(Tiling::LtFormat),
        MemoryFormat::Reserved(_) => None,
    }
}

/// Pixels that are adjacent in memory: a rectangle, row after row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Column of the first, in the image.
    pub x: u32,
    /// Row.
    pub y: u32,
    /// How many in a row.
    pub pixels: u32,
    /// How many rows.
    pub rows: u32,
    /// Address of the first.
    pub address: BusAddr,
}

impl Surface {
    /// Calls `visit` for every run of the pixels of `rect` that are inside of the image.
    pub fn runs(&self, rect: PixelRect, mut visit: impl FnMut(Run)) {
        let inside = |value: i32, limit: u32| u32::try_from(value).unwrap_or(0).min(limit);
        let (x0, x1) = (inside(rect.x0, self.width), inside(rect.x1, self.width));
        let (y0, y1) = (inside(rect.y0, self.height), inside(rect.y1, self.height));
        let micro_tile = match self.tiling {
            Tiling::Raster => None,
            Tiling::TFormat | Tiling::LtFormat => tiling::micro_tile_log2_px(self.bits),
        };
        let Some((log2_width, log2_height)) = micro_tile else {
            let pixels = x1.saturating_sub(x0);
            for y in y0..y1 {
                if let (Some(address), 1..) = (self.address_of(x0, y), pixels) {
                    visit(Run { x: x0, y, pixels, rows: 1, address });
                }
            }
            return;
        };
        let next = |value: u32, log2: u32| ((value >> log2) + 1) << log2;
        let (micro_width, row_bytes) = (1 << log2_width, (self.bits / 8) << log2_width);
        let mut unit_y = y0;
        while unit_y < y1 {
            let end_y = next(unit_y, log2_height).min(y1);
            let mut unit_x = x0;
            let mut before = None;
            while unit_x < x1 {
                let end_x = next(unit_x, log2_width).min(x1);
                let (width, rows) = (end_x - unit_x, end_y - unit_y);
                let start_x = unit_x & !(micro_width - 1);
                // Each group of four micro-tiles that begins at a multiple of four is contiguous: in T-format it is a row of a sub-tile, in LT-format a part
                // of a row.
                let start = match before {
                    Some(before) if unit_x >> log2_width & 3 != 0 => before + tiling::MICRO_TILE_BYTES,
                    _ => match self.address_of(start_x, unit_y) {
                        Some(start) => start,
                        None => return,
                    },
                };
                before = Some(start);
                let address = start + (unit_x - start_x) * (self.bits / 8);
                let run = Run { x: unit_x, y: unit_y, pixels: width, rows, address };
                if width == micro_width {
                    visit(run);
                } else {
                    // Parts of rows are not adjacent.
                    for row in 0..rows {
                        visit(Run { y: run.y + row, rows: 1, address: run.address + row * row_bytes, ..run });
                    }
                }
                unit_x = end_x;
            }
            unit_y = end_y;
        }
    }

    /// Pixels from row to row in memory, without the padding that a tiling adds by itself.
    const fn pitch(&self) -> u32 {
        match (self.tiling, tiling::micro_tile_px(self.bits)) {
            (Tiling::Raster, Some((micro_tile, _))) => self.width.next_multiple_of(micro_tile),
            _ => self.width,
        }
    }

    /// Address of a pixel; `None` for pixel widths that have no tiling.
    #[inline]
    fn address_of(&self, x: u32, y: u32) -> Option<BusAddr> {
        let offset = tiling::pixel_offset_bits(self.tiling, self.pitch(), self.bits, x, y)?;
        Some(self.address + (offset / 8) as u32)
    }

    /// First byte and byte after the last, as offsets in memory.
    pub fn extent(&self) -> (u64, u64) {
        let start = u64::from(self.address.offset());
        let bytes = tiling::image_bytes(self.tiling, self.pitch(), self.height, self.bits).unwrap_or(0);
        (start, start + bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window of piglit's tests, in a buffer as Mesa's driver allocates it.
    #[test]
    fn rows_of_a_raster_image_are_whole_micro_tiles() {
        let mut surface = Surface { address: BusAddr(0), tiling: Tiling::Raster, width: 858, height: 2, bits: 32 };
        assert_eq!(surface.extent(), (0, 2 * 860 * 4));
        let mut rows = Vec::new();
        surface.runs(PixelRect { x0: 856, y0: 0, x1: 900, y1: 9 }, |run| rows.push((run.address, run.pixels)));
        assert_eq!(rows, [(BusAddr(856 * 4), 2), (BusAddr((860 + 856) * 4), 2)]);
        surface.bits = 16;
        assert_eq!(surface.extent(), (0, 2 * 864 * 2));
    }

    /// Runs visit each pixel of the rectangle once, at its address by the tiling.
    #[test]
    fn runs_are_where_the_pixels_are() {
        let cases = [
            (Tiling::Raster, 32),
            (Tiling::TFormat, 32),
            (Tiling::LtFormat, 32),
            (Tiling::TFormat, 16),
            (Tiling::LtFormat, 64),
            (Tiling::TFormat, 8),
        ];
        for (tiling, bits) in cases {
            let surface = Surface { address: BusAddr(0x1000), tiling, width: 75, height: 69, bits };
            let mut seen = std::collections::HashMap::new();
            surface.runs(PixelRect { x0: 13, y0: 7, x1: 128, y1: 96 }, |run| {
                for (row, i) in (0..run.rows).flat_map(|row| (0..run.pixels).map(move |i| (row, i))) {
                    let address = run.address + (row * run.pixels + i) * bits / 8;
                    assert_eq!(seen.insert((run.x + i, run.y + row), address), None);
                }
            });
            assert_eq!(seen.len(), (75 - 13) * (69 - 7), "{tiling:?}");
            for ((x, y), address) in seen {
                // Rows of 75 pixels of a raster image are 19 micro-tiles of 4 pixels.
                let pitch = if tiling == Tiling::Raster { 76 } else { 75 };
                let offset = tiling::pixel_offset_bits(tiling, pitch, bits, x, y).unwrap() / 8;
                assert_eq!(address, BusAddr(0x1000 + offset as u32), "{tiling:?} ({x}, {y})");
            }
        }
    }
}
