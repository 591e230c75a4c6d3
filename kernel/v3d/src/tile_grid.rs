//! The tiles of a picture.
//!
//! The hardware renders tile by tile: 64x64 pixels, 32x32 with 4x multisampling, or 64x32 when the tile buffer is used as two that take
//! turns [AG p.46]. Both lists give the picture's size: the binning list in
//! tiles, 8 bits each way, the rendering list in pixels.

use crate::error::Error;
use v3d_hw::tile_buffer::tile_size_px;

/// Tiles next to each other: a rectangle of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileArea {
    /// The first column.
    pub column: u8,
    /// The first row.
    pub row: u8,
    /// Columns, at least one.
    pub columns: u8,
    /// Rows, at least one.
    pub rows: u8,
}

/// A picture divided into tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileGrid {
    /// Width in pixels.
    pub width_px: u16,
    /// Height in pixels.
    pub height_px: u16,
    /// Tiles in a row.
    pub columns: u8,
    /// Rows of tiles.
    pub rows: u8,
    /// Whether there are four samples a pixel.
    pub multisample: bool,
    /// Whether the tile buffer is two: one is drawn to while the other is stored.
    pub double_buffer: bool,
}

impl TileGrid {
    /// The tiles of a picture of this size; both sides from 1 to 2048 pixels, which is what the 12.4 coordinates of vertices can reach.
    pub fn new(width_px: u32, height_px: u32, multisample: bool) -> Result<Self, Error> {
        Self::with_tiles(width_px, height_px, multisample, false)
    }

    /// The same with two tile buffers, each of which holds half as many rows. There is no such mode for four samples a pixel.
    pub fn double_buffered(width_px: u32, height_px: u32) -> Result<Self, Error> {
        Self::with_tiles(width_px, height_px, false, true)
    }

    fn with_tiles(width_px: u32, height_px: u32, multisample: bool, double_buffer: bool) -> Result<Self, Error> {
        const LARGEST: u32 = 2048;
        let error = Error::PictureSize { width_px, height_px };
        if !(1..=LARGEST).contains(&width_px) || !(1..=LARGEST).contains(&height_px) {
            return Err(error);
        }
        let (tile_width, tile_height) = tile_size_px(multisample, false, double_buffer);
        Ok(Self {
            width_px: width_px as u16,
            height_px: height_px as u16,
            columns: width_px.div_ceil(tile_width) as u8,
            rows: height_px.div_ceil(tile_height) as u8,
            multisample,
            double_buffer,
        })
    }

    const fn tile_size_px(&self) -> (u32, u32) {
        tile_size_px(self.multisample, false, self.double_buffer)
    }

    /// All tiles.
    pub const fn whole(&self) -> TileArea {
        TileArea { column: 0, row: 0, columns: self.columns, rows: self.rows }
    }

    /// The tiles that have pixels of a rectangle; `None` if no tile has.
    pub fn touched(&self, x_px: u16, y_px: u16, width_px: u16, height_px: u16) -> Option<TileArea> {
        let (tile_width, tile_height) = self.tile_size_px();
        let along = |start: u16, length: u16, tile: u32, tiles: u8| {
            let end = (u32::from(start) + u32::from(length)).div_ceil(tile).min(u32::from(tiles));
            let first = u32::from(start) / tile;
            (length > 0 && first < end).then(|| (first as u8, (end - first) as u8))
        };
        let (column, columns) = along(x_px, width_px, tile_width, self.columns)?;
        let (row, rows) = along(y_px, height_px, tile_height, self.rows)?;
        Some(TileArea { column, row, columns, rows })
    }

    /// Whether tiles have all of their pixels in a rectangle or none.
    pub fn is_whole(&self, x_px: u16, y_px: u16, width_px: u16, height_px: u16) -> bool {
        let (tile_width, tile_height) = self.tile_size_px();
        let between = |at: u16, tile: u32, all: u16| u32::from(at).is_multiple_of(tile) || at >= all;
        let (right, top) = (x_px.saturating_add(width_px), y_px.saturating_add(height_px));
        let across = between(x_px, tile_width, self.width_px) && between(right, tile_width, self.width_px);
        across && between(y_px, tile_height, self.height_px) && between(top, tile_height, self.height_px)
    }

    /// How many tiles there are.
    pub const fn tiles(&self) -> u32 {
        self.columns as u32 * self.rows as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_tiles_count_as_tiles() {
        let grid = TileGrid::new(1280, 720, false).unwrap();
        assert_eq!((grid.columns, grid.rows, grid.tiles()), (20, 12, 240));
        let grid = TileGrid::new(200, 123, false).unwrap();
        assert_eq!((grid.columns, grid.rows), (4, 2));
        let grid = TileGrid::new(256, 256, true).unwrap();
        assert_eq!((grid.columns, grid.rows), (8, 8));
        let area = |column, row, columns, rows| Some(TileArea { column, row, columns, rows });
        let grid = TileGrid::new(200, 123, false).unwrap();
        assert_eq!(grid.touched(0, 0, 200, 123), Some(grid.whole()));
        assert_eq!(grid.touched(63, 64, 1, 1), area(0, 1, 1, 1));
        assert_eq!(grid.touched(63, 63, 2, 1), area(0, 0, 2, 1));
        assert_eq!(grid.touched(64, 0, u16::MAX, 200), area(1, 0, 3, 2));
        assert!(grid.is_whole(64, 64, 136, 59) && grid.is_whole(64, 0, 64, 64) && !grid.is_whole(64, 0, 64, 63));
        assert_eq!((grid.touched(256, 0, 9, 9), grid.touched(0, 0, 0, 9)), (None, None));
        let grid = TileGrid::double_buffered(200, 123).unwrap();
        assert_eq!((grid.columns, grid.rows), (4, 4));
        assert_eq!(grid.touched(63, 63, 2, 1), area(0, 1, 2, 1));
        assert!(grid.is_whole(64, 32, 64, 32) && !grid.is_whole(64, 16, 64, 32));
        assert!(TileGrid::new(0, 1, false).is_err() && TileGrid::new(2049, 1, false).is_err());
    }
}
