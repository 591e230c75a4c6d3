//! The grid of tiles of a picture.
//!
//! The hardware renders tile by tile; the size of a tile follows from the tile buffer's contents [AG p.46]. Both lists contain the picture's size: the binning
//! list in tiles, 8 bits each way, the rendering list in pixels.

use crate::error::Error;
use crate::lists::tile_area::TileArea;
use v3d_hw::tile_buffer::tile_size_px;

/// Configuration of the tile buffer, which is fixed for a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TileBuffer {
    /// One sample per pixel, colours of 32 bits: tiles of 64x64 pixels.
    #[default]
    Single,
    /// Four samples per pixel: tiles of 32x32 pixels.
    Multisample,
    /// Two alternating buffers, one drawn to while the other is stored: tiles of 64x32 pixels.
    Double,
    /// Colours of 64 bits, four half floats: tiles of 64x32 pixels.
    HalfFloat,
}

impl TileBuffer {
    /// Whether there are four samples per pixel.
    pub const fn is_multisample(self) -> bool {
        matches!(self, Self::Multisample)
    }

    /// Whether there are two alternating buffers.
    pub const fn is_double(self) -> bool {
        matches!(self, Self::Double)
    }

    /// Whether colours have 64 bits.
    pub const fn is_64_bit(self) -> bool {
        matches!(self, Self::HalfFloat)
    }

    /// The configuration in these fields of a mode configuration record; `None` for a combination that the driver does not use.
    pub const fn of_mode(multisample: bool, color_64_bit: bool, double_buffer: bool) -> Option<Self> {
        match (multisample, color_64_bit, double_buffer) {
            (false, false, false) => Some(Self::Single),
            (true, false, false) => Some(Self::Multisample),
            (false, false, true) => Some(Self::Double),
            (false, true, false) => Some(Self::HalfFloat),
            _ => None,
        }
    }

    /// Width and height of a tile in pixels.
    pub const fn tile_size_px(self) -> (u32, u32) {
        tile_size_px(self.is_multisample(), self.is_64_bit(), self.is_double())
    }
}

/// A picture divided into tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileGrid {
    /// Width in pixels.
    pub width_px: u16,
    /// Height in pixels.
    pub height_px: u16,
    /// Number of tile columns.
    pub columns: u8,
    /// Number of tile rows.
    pub rows: u8,
    /// Configuration of the tile buffer.
    pub buffer: TileBuffer,
}

impl TileGrid {
    /// The tiles of a picture of this size; both sides are 1 to 2048 pixels, which the 12.4 coordinates of vertices can reach.
    pub fn new(width_px: u32, height_px: u32, buffer: TileBuffer) -> Result<Self, Error> {
        const MAX_SIDE_PX: u32 = 2048;
        let error = Error::PictureSize { width_px, height_px };
        if !(1..=MAX_SIDE_PX).contains(&width_px) || !(1..=MAX_SIDE_PX).contains(&height_px) {
            return Err(error);
        }
        let (tile_width, tile_height) = buffer.tile_size_px();
        Ok(Self {
            width_px: width_px as u16,
            height_px: height_px as u16,
            columns: width_px.div_ceil(tile_width) as u8,
            rows: height_px.div_ceil(tile_height) as u8,
            buffer,
        })
    }

    /// All tiles.
    pub const fn whole(&self) -> TileArea {
        TileArea { column: 0, row: 0, columns: self.columns, rows: self.rows }
    }

    /// The tiles that contain pixels of a rectangle; `None` if no tile does.
    pub fn touched(&self, x_px: u16, y_px: u16, width_px: u16, height_px: u16) -> Option<TileArea> {
        let (tile_width, tile_height) = self.buffer.tile_size_px();
        let along = |start: u16, length: u16, tile: u32, tiles: u8| {
            let end = (u32::from(start) + u32::from(length)).div_ceil(tile).min(u32::from(tiles));
            let first = u32::from(start) / tile;
            (length > 0 && first < end).then(|| (first as u8, (end - first) as u8))
        };
        let (column, columns) = along(x_px, width_px, tile_width, self.columns)?;
        let (row, rows) = along(y_px, height_px, tile_height, self.rows)?;
        Some(TileArea { column, row, columns, rows })
    }

    /// Whether each tile is entirely inside or outside of a rectangle.
    pub fn is_whole(&self, x_px: u16, y_px: u16, width_px: u16, height_px: u16) -> bool {
        let (tile_width, tile_height) = self.buffer.tile_size_px();
        let between = |at: u16, tile: u32, all: u16| u32::from(at).is_multiple_of(tile) || at >= all;
        let (right, top) = (x_px.saturating_add(width_px), y_px.saturating_add(height_px));
        let across = between(x_px, tile_width, self.width_px) && between(right, tile_width, self.width_px);
        across && between(y_px, tile_height, self.height_px) && between(top, tile_height, self.height_px)
    }

    /// Number of tiles.
    pub const fn tiles(&self) -> u32 {
        self.columns as u32 * self.rows as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_tiles_count_as_tiles() {
        let grid = TileGrid::new(1280, 720, TileBuffer::Single).unwrap();
        assert_eq!((grid.columns, grid.rows, grid.tiles()), (20, 12, 240));
        let grid = TileGrid::new(200, 123, TileBuffer::Single).unwrap();
        assert_eq!((grid.columns, grid.rows), (4, 2));
        let grid = TileGrid::new(256, 256, TileBuffer::Multisample).unwrap();
        assert_eq!((grid.columns, grid.rows), (8, 8));
        let area = |column, row, columns, rows| Some(TileArea { column, row, columns, rows });
        let grid = TileGrid::new(200, 123, TileBuffer::Single).unwrap();
        assert_eq!(grid.touched(0, 0, 200, 123), Some(grid.whole()));
        assert_eq!(grid.touched(63, 64, 1, 1), area(0, 1, 1, 1));
        assert_eq!(grid.touched(63, 63, 2, 1), area(0, 0, 2, 1));
        assert_eq!(grid.touched(64, 0, u16::MAX, 200), area(1, 0, 3, 2));
        assert!(grid.is_whole(64, 64, 136, 59) && grid.is_whole(64, 0, 64, 64) && !grid.is_whole(64, 0, 64, 63));
        assert_eq!((grid.touched(256, 0, 9, 9), grid.touched(0, 0, 0, 9)), (None, None));
        let grid = TileGrid::new(200, 123, TileBuffer::Double).unwrap();
        assert_eq!((grid.columns, grid.rows), (4, 4));
        assert_eq!(grid.touched(63, 63, 2, 1), area(0, 1, 2, 1));
        assert!(grid.is_whole(64, 32, 64, 32) && !grid.is_whole(64, 16, 64, 32));
        assert_eq!(TileGrid::new(64, 65, TileBuffer::HalfFloat).map(|grid| (grid.columns, grid.rows)), Ok((1, 3)));
        let refused = |width, height| TileGrid::new(width, height, TileBuffer::Single).is_err();
        assert!(refused(0, 1) && refused(2049, 1));
    }
}
