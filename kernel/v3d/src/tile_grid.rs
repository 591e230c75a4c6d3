//! The tiles of a picture.
//!
//! The hardware renders tile by tile: 64x64 pixels, or 32x32 with 4x multisampling [AG p.46]. Both lists give the picture's size: the binning list in
//! tiles, 8 bits each way, the rendering list in pixels.

use crate::error::Error;
use v3d_hw::tile_buffer::tile_size_px;

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
}

impl TileGrid {
    /// The tiles of a picture of this size; both sides from 1 to 2048 pixels, which is what the 12.4 coordinates of vertices can reach.
    pub fn new(width_px: u32, height_px: u32, multisample: bool) -> Result<Self, Error> {
        const LARGEST: u32 = 2048;
        let error = Error::PictureSize { width_px, height_px };
        if !(1..=LARGEST).contains(&width_px) || !(1..=LARGEST).contains(&height_px) {
            return Err(error);
        }
        let (tile_width, tile_height) = tile_size_px(multisample, false, false);
        Ok(Self {
            width_px: width_px as u16,
            height_px: height_px as u16,
            columns: width_px.div_ceil(tile_width) as u8,
            rows: height_px.div_ceil(tile_height) as u8,
            multisample,
        })
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
        assert!(TileGrid::new(0, 1, false).is_err() && TileGrid::new(2049, 1, false).is_err());
    }
}
