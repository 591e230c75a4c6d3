//! The rendering list: what thread 1 executes, tile by tile.
//!
//! For every tile it names the tile's coordinates, branches to the list that the binner wrote for it, and stores the tile buffer. The tile buffer is
//! cleared when it is *stored*, so the first tile needs a dummy: coordinates and a store of nothing, after the clear colours. Loads happen at the
//! next Tile Coordinates, one at a time, and each Tile Coordinates needs a store before the next; so colour and depth are loaded with a store of
//! nothing in between, that clears nothing.
//!
//! The list waits for the binner just before the first branch, so it can be started together with the binning list.
//!
//! # Surprises
//! - Without the dummy store the first tile shows garbage on silicon [linux vc4_render_cl.c] [asurati].
//! - A store of depth clears colour too, unless told not to; the colour store that follows would store the clear colour.
//! - With two tile buffers every store makes them change places, unless told not to: only a tile's last one may, and each buffer needs a dummy.
//! - An empty tile's list is still a list: it holds a Return, so all tiles are branched to.
//!
//! # Sources
//! [AG p.65-71], [linux vc4_render_cl.c] for the order.

use crate::errata::Erratum;
use crate::error::Error;
use crate::image::surface::{DepthSurface, Surface};
use crate::image::tile_grid::TileGrid;
use crate::lists::record_list::RecordList;
use crate::lists::tile_area::TileArea;
use crate::memory::tile_memory::tile_list;
use v3d_hw::control_list::{
    BranchToSubList, ClearColors, DecimateMode, EarlyZDirection, LoadGeneral, MemoryFormat, PixelFormat, Record,
    StoreGeneral, StoreMode, TileBufferSelect, TileCoordinates, TileRenderingMode,
};
use v3d_hw::{Aligned, BusAddr};

/// Contents of a tile before drawing, if it is not loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClearValues {
    /// Red, green, blue, alpha in the tile buffer's format: [`ClearValues::rgba8888`] or [`ClearValues::halves`].
    pub color: u64,
    /// Depth, 24 bits.
    pub depth: u32,
    /// Stencil.
    pub stencil: u8,
}

impl ClearValues {
    /// The greatest depth.
    pub const FARTHEST: u32 = 0xff_ffff;

    /// A clear colour, with the greatest depth.
    pub const fn color(color: [u8; 4]) -> Self {
        Self { color: Self::rgba8888(color), depth: Self::FARTHEST, stencil: 0 }
    }

    /// A colour of 32 bits: twice, for even and odd columns.
    pub const fn rgba8888(color: [u8; 4]) -> u64 {
        let color = u32::from_le_bytes(color) as u64;
        color << 32 | color
    }

    /// A colour of 64 bits: the bits of four half floats.
    pub const fn halves([red, green, blue, alpha]: [u16; 4]) -> u64 {
        red as u64 | (green as u64) << 16 | (blue as u64) << 32 | (alpha as u64) << 48
    }

    fn record(&self) -> ClearColors {
        ClearColors { stencil: self.stencil, vg_mask: 0, z: self.depth, color: self.color }
    }
}

/// A depth buffer that is kept beyond the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthBuffer {
    /// Where it is.
    pub surface: DepthSurface,
    /// Load it before drawing.
    pub load: bool,
    /// Store it after drawing.
    pub store: bool,
}

/// One frame's rendering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenderingPass {
    /// The tiles.
    pub grid: TileGrid,
    /// The tiles that are rendered; the pixels of others stay unchanged in memory.
    pub area: TileArea,
    /// Target of the colour.
    pub color: Surface,
    /// Clear values of tiles. Without them, a tile starts with the previous tile's contents, unless it is loaded.
    pub clear: Option<ClearValues>,
    /// Load colour from its target before drawing.
    pub load_color: bool,
    /// Depth in memory, if it is needed beyond this frame.
    pub depth: Option<DepthBuffer>,
    /// Address of the binner's tile lists. The list waits for the binner before the first of them. Without tile lists nothing is drawn.
    pub tile_lists: Option<BusAddr>,
    /// Turn early Z off: needed after a multisampled depth buffer is loaded (HW-2905).
    pub disable_early_z: bool,
}

/// An empty store that clears the parts that the next tile needs cleared.
const CLEARING_STORE: StoreGeneral = StoreGeneral {
    address: Aligned(BusAddr(0)),
    last_tile: false,
    disable_vg_mask_dump: false,
    disable_zs_dump: false,
    disable_color_dump: false,
    disable_vg_mask_clear: false,
    disable_zs_clear: false,
    disable_color_clear: false,
    disable_swap: false,
    pixel_format: PixelFormat::Rgba8888,
    mode: StoreMode::Sample0,
    format: MemoryFormat::Raster,
    buffer: TileBufferSelect::None,
};

/// An empty store that does not change the tile buffer.
const IDLE_STORE: StoreGeneral =
    StoreGeneral { disable_vg_mask_clear: true, disable_zs_clear: true, disable_color_clear: true, ..CLEARING_STORE };

impl RenderingPass {
    /// The list's records.
    pub fn list(&self) -> Result<RecordList, Error> {
        self.check()?;
        let mut list = RecordList::new();
        list.push(self.mode());
        if let Some(clear) = &self.clear {
            list.push(clear.record());
            // Each store applies to one tile buffer, and the next one to the other, if there are two.
            for _ in 0..1 + u8::from(self.grid.buffer.is_double()) {
                list.push(TileCoordinates { row: 0, column: 0 });
                list.push(CLEARING_STORE);
            }
        }
        let TileArea { column: first_column, row: first_row, columns, rows } = self.area;
        // `check` has ensured that these are tiles of the grid.
        let last = (first_row + rows - 1, first_column + columns - 1);
        for row in first_row..=last.0 {
            for column in first_column..=last.1 {
                self.tile(&mut list, row, column, (row, column) == last);
            }
        }
        Ok(list)
    }

    fn check(&self) -> Result<(), Error> {
        let Surface { width_px, height_px, address, .. } = self.color;
        // The picture's width is only its pitch: it may be wider than the drawn part.
        let drawn = (u32::from(self.grid.width_px), u32::from(self.grid.height_px));
        if width_px < drawn.0 || width_px > u32::from(u16::MAX) || height_px != drawn.1 {
            return Err(Error::PictureSize { width_px, height_px });
        }
        if self.grid.rows == 0 || self.grid.columns == 0 {
            return Err(Error::PictureSize { width_px, height_px });
        }
        let TileArea { column, row, columns, rows } = self.area;
        let within = |first: u8, count: u8, all: u8| count > 0 && u16::from(first) + u16::from(count) <= u16::from(all);
        if !within(column, columns, self.grid.columns) || !within(row, rows, self.grid.rows) {
            return Err(Error::TileArea { area: self.area, columns: self.grid.columns, rows: self.grid.rows });
        }
        if self.grid.buffer.is_64_bit() != (self.color.format.bits() == 64) {
            return Err(Error::ColorBits { picture: self.color.format.bits() });
        }
        if !address.is_aligned(16) {
            return Err(Error::Alignment(16));
        }
        if self.grid.buffer.is_multisample() && self.depth.is_some_and(|depth| depth.load) && !self.disable_early_z {
            return Err(Error::Erratum(Erratum::Hw2905));
        }
        Ok(())
    }

    fn mode(&self) -> TileRenderingMode {
        TileRenderingMode {
            double_buffer: self.grid.buffer.is_double(),
            disable_early_z: self.disable_early_z,
            early_z_direction: EarlyZDirection::Less,
            coverage_mode: false,
            vg_mask: false,
            memory_format: self.color.arrangement,
            decimate: if self.grid.buffer.is_multisample() { DecimateMode::X4 } else { DecimateMode::X1 },
            color_format: self.color.format.frame_buffer(),
            color_64_bit: self.grid.buffer.is_64_bit(),
            multisample: self.grid.buffer.is_multisample(),
            height: self.grid.height_px,
            // `check` has ensured that it fits.
            width: self.color.width_px as u16,
            address: self.color.address,
        }
    }

    /// Appends all records of a tile.
    fn tile(&self, list: &mut RecordList, row: u8, column: u8, last: bool) {
        let coordinates = TileCoordinates { row, column };
        self.loads(list, coordinates);
        list.push(coordinates);
        if let Some(lists) = self.tile_lists {
            if (row, column) == (self.area.row, self.area.column) {
                list.push(Record::WaitOnSemaphore);
            }
            list.push(BranchToSubList { address: tile_list(lists, &self.grid, row, column) });
        }
        if let Some(depth) = self.depth.filter(|depth| depth.store) {
            list.push(StoreGeneral {
                address: depth.surface.address.into(),
                disable_color_clear: true,
                disable_swap: self.grid.buffer.is_double(),
                format: depth.surface.arrangement,
                buffer: TileBufferSelect::ZStencil,
                ..CLEARING_STORE
            });
            list.push(coordinates);
        }
        list.push(if last { Record::StoreResolvedEndOfFrame } else { Record::StoreResolved });
    }

    /// Appends the loads of a tile; all but the last are followed by coordinates and an idle store.
    fn loads(&self, list: &mut RecordList, coordinates: TileCoordinates) {
        let color = self.load_color.then(|| LoadGeneral {
            address: self.color.address.into(),
            pixel_format: self.color.format.pixel_format(),
            format: self.color.arrangement,
            buffer: TileBufferSelect::Color,
            ..LoadGeneral::default()
        });
        let depth = self.depth.filter(|depth| depth.load).map(|depth| LoadGeneral {
            address: depth.surface.address.into(),
            format: depth.surface.arrangement,
            buffer: TileBufferSelect::ZStencil,
            ..LoadGeneral::default()
        });
        let both = color.is_some() && depth.is_some();
        if let Some(color) = color {
            list.push(color);
        }
        if both {
            list.push(coordinates);
            list.push(StoreGeneral { disable_swap: self.grid.buffer.is_double(), ..IDLE_STORE });
        }
        if let Some(depth) = depth {
            list.push(depth);
        }
    }
}
