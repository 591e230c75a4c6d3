//! Faults of the primitive tile binner.

use super::list::AssemblyFault;
use super::vertex::VcdFault;
use crate::memory::OutOfMemory;
use v3d_hw::primitive_list::{ListDataType, ListPrimitive};
use v3d_hw::{BusAddr, FieldError};

/// A fault of binning, with the record that causes it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("record at {at}: {error}")]
pub struct PtbFault {
    /// Address of the control record.
    pub at: BusAddr,
    /// The error.
    pub error: PtbError,
}

/// The error of binning.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PtbError {
    /// Primitives or a flush without a configuration, or after the flush.
    #[error("there is no Tile Binning Mode Configuration since the last flush")]
    NotConfigured,
    /// The configuration has no tiles.
    #[error("the binning mode has no tiles")]
    NoTiles,
    /// A second configuration before the flush.
    #[error("binning is configured anew while tile lists are not flushed")]
    NotFlushed,
    /// The initial blocks do not fit. They are used beyond the end: published demos with multisampling have 8,192 bytes for 20x15 tiles, and run on
    /// boards [PeterLemon].
    #[error("{bytes} bytes of tile allocation memory do not hold {tiles} initial blocks of {block_bytes} bytes")]
    TileAllocation {
        /// Size of tile allocation memory.
        bytes: u32,
        /// Number of tiles.
        tiles: u32,
        /// Size of an initial block.
        block_bytes: u32,
    },
    /// Neither the hardware nor software has initialised the tile state.
    #[error("the tile state data array is not initialised")]
    TileState,
    /// Indices are drawn, but the lists' format is of coordinates. Nothing is drawn.
    #[error("{0} are drawn by indices while the primitive list format is of coordinates")]
    ListFormat(ListPrimitive),
    /// Coordinates are drawn without a list format of coordinates, most likely without any. Their lists are of coordinates all the same: published
    /// demos draw so on boards [PeterLemon], while Broadcom's driver sends record 56.
    #[error(
        "{drawn} are drawn by coordinates while the primitive list format is of {data_type}: is record 56 missing?"
    )]
    CoordinateFormat {
        /// What is drawn.
        drawn: ListPrimitive,
        /// The format's data type.
        data_type: ListDataType,
    },
    /// A list format that cannot be written.
    #[error("{0}")]
    Field(FieldError),
    /// More state changes than silicon can count.
    #[error("more than {limit} state changes without a flush: the state counter of silicon wraps around (HW-2116)")]
    StateCounter {
        /// Maximum number of state changes.
        limit: u32,
    },
    /// A point of size 0 (HW-2726, HW-2903).
    #[error("a point is smaller than 1/8 pixel: the binner of silicon cannot handle that (HW-2726)")]
    PointSize,
    /// Clipping is enabled but the vertices have no clip coordinates.
    #[error("clipping is enabled, but the vertices have no clip coordinates")]
    NoClipCoordinates,
    /// Primitives.
    #[error(transparent)]
    Assembly(#[from] AssemblyFault),
    /// Vertices.
    #[error(transparent)]
    Vcd(#[from] VcdFault),
    /// A vertex that does not fit its list.
    #[error("{0}")]
    Encode(crate::primitive_list::EncodeError),
    /// Tile lists outside of memory.
    #[error("tile lists: {0}")]
    Memory(#[from] OutOfMemory),
}
