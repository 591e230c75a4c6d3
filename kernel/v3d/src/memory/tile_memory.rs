//! Binner memory: tile state, and the memory of tile lists.
//!
//! The PTB keeps 48 bytes of state for each tile and writes each tile's list into blocks. The first block of every tile lies at a fixed place,
//! `tile allocation + 32 * (row * columns + column)`, so the rendering list can branch to it before anything is binned; further blocks are taken from
//! what is left of the allocation, and when that is used up, from overflow memory.
//!
//! # Surprises
//! - An allocation of size 0 makes the frame fail with CT1CS.CTERR even if the out-of-memory interrupt is served [asurati].
//! - The first 8 KiB behind the first blocks are used without regard to the size in the configuration, as demos on boards suggest
//!   ([`FIRST_PIECES`]): an allocation is never smaller.
//! - Tile state, tile allocation and overflow memory must agree in their top four address bits [linux vc4_bo.c].
//!
//! # Sources
//! [AG p.71], [linux vc4_validate.c] for sizes and alignment.

use crate::driver::Driver;
use crate::error::Error;
use crate::image::tile_grid::TileGrid;
use crate::memory::pool::Buffer;
use crate::platform::Platform;
use v3d_hw::BusAddr;
use v3d_hw::control_list::{TileBinningMode, TileBlockSize};
use v3d_hw::tile_buffer::{FIRST_PIECES, TILE_ALLOCATION_PIECE_BYTES};

/// Bytes of state for a tile.
pub const STATE_BYTES: u32 = 48;
/// Size of the first block of a tile's list.
const INITIAL_BLOCK: TileBlockSize = TileBlockSize::Bytes32;
/// Size of further blocks.
const BLOCK: TileBlockSize = TileBlockSize::Bytes128;
/// Alignment of tile state and tile allocation; what Linux uses.
const ALIGNMENT: u32 = 4096;
/// Least memory for further blocks: the PTB takes, and writes to, as much whatever the configuration says.
pub const MIN_GROWTH_BYTES: u32 = FIRST_PIECES * TILE_ALLOCATION_PIECE_BYTES;

/// Binner memory of a frame.
#[derive(Debug)]
pub struct TileMemory {
    grid: TileGrid,
    buffer: Buffer,
    state_bytes: u32,
}

impl TileMemory {
    /// Allocates binner memory for a picture from the driver's pool, with `growth_bytes` for lists longer than one block.
    pub fn allocate<P: Platform>(driver: &mut Driver<'_, P>, grid: TileGrid, growth_bytes: u32) -> Result<Self, Error> {
        let state_bytes = (grid.tiles() * STATE_BYTES).next_multiple_of(ALIGNMENT);
        let first_blocks = (grid.tiles() * INITIAL_BLOCK.bytes()).next_multiple_of(256);
        let growth = growth_bytes.clamp(MIN_GROWTH_BYTES, 1 << 28).next_multiple_of(256);
        let buffer = driver.allocate(state_bytes + first_blocks + growth, ALIGNMENT)?;
        Ok(Self { grid, buffer, state_bytes })
    }

    /// The picture it is for.
    pub const fn grid(&self) -> TileGrid {
        self.grid
    }

    /// Address of the tile state array.
    pub fn state(&self) -> BusAddr {
        self.buffer.address()
    }

    /// Address of the first tile's first block.
    pub fn lists(&self) -> BusAddr {
        self.buffer.address() + self.state_bytes
    }

    /// The record at the start of a binning list.
    pub fn binning_mode(&self) -> TileBinningMode {
        binning_mode(&self.grid, self.state(), self.lists(), self.buffer.region().bytes() - self.state_bytes)
    }

    /// The memory.
    pub const fn buffer(&self) -> &Buffer {
        &self.buffer
    }
}

/// The record at the start of a binning list, for binner memory at these addresses.
pub fn binning_mode(grid: &TileGrid, state: BusAddr, lists: BusAddr, list_bytes: u32) -> TileBinningMode {
    TileBinningMode {
        double_buffer: grid.buffer.is_double(),
        block_size: BLOCK,
        initial_block_size: INITIAL_BLOCK,
        auto_initialise: true,
        color_64_bit: grid.buffer.is_64_bit(),
        multisample: grid.buffer.is_multisample(),
        height_tiles: grid.rows,
        width_tiles: grid.columns,
        tile_state: state,
        tile_allocation_bytes: list_bytes,
        tile_allocation: lists,
    }
}

/// Address of a tile's list, if the first blocks start at `lists`.
pub fn tile_list(lists: BusAddr, grid: &TileGrid, row: u8, column: u8) -> BusAddr {
    lists + INITIAL_BLOCK.bytes() * (u32::from(row) * u32::from(grid.columns) + u32::from(column))
}
