//! Images: textures, render targets, their tiled layouts, and the grid of tiles over them.

pub mod surface;
pub mod texture;
pub mod tile_grid;
pub mod tiler;
