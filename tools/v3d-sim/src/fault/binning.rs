//! Faults of the primitive tile binner.

use super::list::AssemblyFault;
use super::vertex::VcdFault;
use crate::memory::OutOfMemory;
use v3d_hw::primitive_list::ListPrimitive;
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

/// A vertex of NV mode that may be too far outside.
///
/// Triangles with x from -960 to 1280 were drawn in a picture of 320 pixels, 7 half widths from its middle, and lost from -1120 to 1440, 8 half widths
/// [piegpu]; in one of 640 they were drawn from -1000 to 1640 [bm docs/progress/graphics.md]. The exact limit is not known, nor whether the viewport counts or
/// the clip window, nor whether it is the same along y. The viewport is the better guess: in GL mode boards draw large triangles in small clip windows, as the
/// scissor tests of dEQP do.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "vertex {vertex} is {distance:.1} half {of} from the middle of the {relative_to}: boards may lose its triangles, as they do from 8 on; 7 are safe"
)]
pub struct FarVertex {
    /// Its index.
    pub vertex: u32,
    /// Its distance in half widths or half heights.
    pub distance: f32,
    /// "widths" or "heights".
    pub of: &'static str,
    /// "viewport", or "clip window" where the list sets no viewport.
    pub relative_to: &'static str,
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
    /// The size of tile allocation memory is 0. Memory that is merely too small for the initial blocks is none: demos that run on boards have that
    /// [PeterLemon Multi_Sample].
    #[error("there is no tile allocation memory: silicon does not find the lists afterwards")]
    NoTileAllocation,
    /// Neither the hardware nor software has initialised the tile state.
    #[error("the tile state data array is not initialised")]
    TileState,
    /// Indices are drawn, but the lists' format is of coordinates. Nothing is drawn.
    #[error("{0} are drawn by indices while the primitive list format is of coordinates")]
    ListFormat(ListPrimitive),
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
    /// A clip window without an area. Boards do not keep everything away then, so that drivers must not draw at all [piegpu]; what they draw is not known.
    /// Here it keeps everything away.
    #[error(
        "primitives are drawn in an empty clip window, which does not keep them away on boards: leave the draw out"
    )]
    EmptyClipWindow,
    /// The coordinate shader writes clip coordinates, for which a record without clipping has no room. Boards draw nothing [bm docs/DRIVERS.md].
    #[error(
        "the coordinate shader writes clip coordinates, but the shader record has clipping off, so that the VPM has no rows for them: nothing is drawn, and \
         ERRSTAT shows VPMEWR"
    )]
    ClippingOff,
    /// Shaded vertices so far outside that boards were seen to lose their triangles. They are drawn here.
    #[error(transparent)]
    FarVertex(#[from] FarVertex),
    /// Primitives.
    #[error(transparent)]
    Assembly(#[from] AssemblyFault),
    /// Vertices.
    #[error(transparent)]
    Vcd(#[from] VcdFault),
    /// A vertex that does not fit its list.
    #[error("{0}")]
    Encode(crate::binning::primitive_list::EncodeError),
    /// Tile lists outside of memory.
    #[error("tile lists: {0}")]
    Memory(#[from] OutOfMemory),
}
