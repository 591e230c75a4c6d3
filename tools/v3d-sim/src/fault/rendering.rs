//! Faults of rendering: of records, of stores and loads, of the tile buffer.

use crate::memory::OutOfMemory;
use v3d_hw::BusAddr;

/// A fault of rendering, with the record that causes it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("record at {at}: {error}")]
pub struct RenderFault {
    /// Address of the control record.
    pub at: BusAddr,
    /// The error.
    pub error: RenderError,
}

/// The error of a rendering record, or of what it draws.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// Rendering begins without a configuration.
    #[error("there was no Tile Rendering Mode Configuration before it")]
    NoMode,
    /// A tile is drawn to or stored that has not begun.
    #[error("there were no Tile Coordinates before it")]
    NoTile,
    /// Primitives without a shader.
    #[error("primitives are drawn before any shader state")]
    NoShader,
    /// Two loads before one tile; the later one counts here.
    #[error("a load was still pending")]
    LoadPending,
    /// The content of the tile buffer was never set.
    #[error("the tile buffer is drawn to or stored before it was ever cleared or loaded")]
    NeverCleared,
    /// A store or load is not possible.
    #[error(transparent)]
    Move(#[from] MoveError),
    /// Coverage needs all of Z and stencil of a pixel's only sample [AG p.15, p.48].
    #[error("primitives go to the coverage pipe in multisample mode")]
    CoverageInMultisample,
    /// The interpolators still expect varyings when coverage is selected [AG p.109].
    #[error(
        "primitives go to the coverage pipe right after some with varyings: silicon may lock up unless a quad without varyings is shaded in between (HW-2885)"
    )]
    CoverageAfterVaryings,
    /// Early Z has not seen the loaded values [AG p.109].
    #[error(
        "early Z is on in a multisampled tile whose Z was loaded in full resolution: silicon tests wrongly (HW-2905)"
    )]
    EarlyZAfterLoad,
    /// Early Z has not seen a change of Z, and rejects what the Z test would draw [bm docs/DRIVERS.md].
    #[error(
        "early Z rejects pixels that the Z test would draw: primitives before it have changed Z without early-Z updates, so silicon compares with an old depth"
    )]
    EarlyZOutOfDate,
    /// The rasteriser's oversampling does not fit the tile buffer's.
    #[error("the rasteriser's oversample mode is reserved or does not fit the rendering mode")]
    Oversample,
    /// Vertices cannot be fetched or shaded.
    #[error(transparent)]
    Vertices(#[from] VertexError),
    /// An RHT whose edge has points on both sides of the X boundary.
    #[error(
        "the edge of an RHT crosses the RHT X boundary: what silicon draws is not known, and nothing is drawn here"
    )]
    RhtBoundary,
    /// A clip window without an area; see [`PtbError::EmptyClipWindow`](super::binning::PtbError::EmptyClipWindow).
    #[error(
        "primitives are drawn in an empty clip window, which does not keep them away on boards: leave the draw out"
    )]
    EmptyClipWindow,
    /// A store with dithering, whose pattern is not known. A board moved components by up to two steps, and red 0 became 2 of 31 [piegpu]; here the pattern
    /// adds less than a step.
    #[error(
        "colours are dithered to 565 by a pattern that is not known: boards move components by up to 2 of 31 or 63 steps, the model by less than one"
    )]
    Dithered,
    /// One program of the frame switches threads and another never does, though both are declared two-threaded. Boards run the latter when they are alone;
    /// a job with both hung [bm docs/DRIVERS.md].
    #[error(
        "the programs at {never} and {switches} are both declared two-threaded, but the former ends without a thread switch: boards hang if one frame has \
         both kinds; declare it single-threaded"
    )]
    MixedThreading {
        /// The program that never switches.
        never: BusAddr,
        /// The one that does.
        switches: BusAddr,
    },
    /// The list and the shader are of different kinds.
    #[error("a list of coordinates needs a VG shader, and a list of indices a GL or NV shader")]
    ListKind,
    /// The fragment shader stalls for ever.
    #[error("the fragment shader waits for something that never happens")]
    Deadlock,
    /// The budget of instructions is used up.
    #[error("the fragment shader does not end within the budget of instructions")]
    OutOfBudget,
    /// The thread was stopped while the shader ran.
    #[error("the fragment shader had not ended when software stopped its thread")]
    Stopped,
}

/// The error of storing or loading a tile.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MoveError {
    /// A coded field has a reserved value.
    #[error("the {0} has a reserved code")]
    Reserved(&'static str),
    /// 16 samples need multisampling.
    #[error("decimation by 16 needs multisampling")]
    Decimate16,
    /// The alpha mask buffer does not exist.
    #[error("the rendering mode does not enable the alpha mask buffer")]
    NoMask,
    /// Outside of memory.
    #[error("{0}")]
    Memory(#[from] OutOfMemory),
}

/// The error of fetching the vertices of a primitive.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum VertexError {
    /// The data of a clipped primitive is not in memory.
    #[error("clipped primitive: {0}")]
    Clipped(#[from] OutOfMemory),
}

/// An undefined use of the tile buffer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TileBufferError {
    /// More samples are read or written than a pixel has.
    #[error("colour of sample {0} is accessed, but a pixel has only {1}")]
    SampleBeyondLast(usize, usize),
    /// Coverage has no meaning with multisampling.
    #[error("coverage is read in multisample mode")]
    CoverageInMultisample,
    /// A quad is moved outside of the tile; it stays where it is.
    #[error("a quad is moved to column {x}, row {y}, outside of the tile")]
    QuadOutside {
        /// Column on the screen.
        x: u32,
        /// Row on the screen.
        y: u32,
    },
    /// Both facings in a batch whose two stencil set-ups differ.
    #[error(
        "front and back facing quads of one batch are tested by different stencil set-ups: silicon applies one of them to the whole batch (HW-2924)"
    )]
    MixedStencil,
    /// The rendering mode has no alpha mask buffer.
    #[error("the alpha mask is accessed, but the rendering mode does not enable it")]
    MaskDisabled,
}
