//! Faults of texture and memory lookups.

use crate::memory::OutOfMemory;
use v3d_hw::qpu::address_map::TmuCoordinate;

/// An illegal or undefined use of a TMU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TmuFault {
    /// A texel or word that is not in memory; it reads as 0.
    #[error("a TMU reads outside of memory: {0}")]
    Memory(#[from] OutOfMemory),
    /// A load signal without a lookup; the hardware waits for ever.
    #[error("a TMU result is loaded, but no lookup is under way")]
    ReceiveFifoEmpty,
    /// More lookups in flight than the FIFOs have slots for.
    #[error("{used} TMU FIFO slots are in use, there are {slots}")]
    FifoOverflow {
        /// Slots that would be in use.
        used: u32,
        /// Slots that there are.
        slots: u32,
    },
    /// A coordinate is written twice for the same lookup; the last value counts here.
    #[error("{0:?} is written twice for one lookup")]
    CoordinateTwice(TmuCoordinate),
    /// A texture type that does not exist.
    #[error("texture type {0} is reserved")]
    ReservedType(u8),
    /// A minification filter that does not exist.
    #[error("minification filter {0} is reserved")]
    ReservedMinFilter(u8),
    /// A cube map without the distance of its faces.
    #[error("cube map mode without a cube map stride")]
    NoCubeMapStride,
    /// A cube map with a border [AG p.41].
    #[error("wrap mode border has no meaning for cube maps")]
    CubeMapBorder,
    /// A cube map direction whose largest component is not 1 [AG p.44].
    #[error("cube map direction whose largest component is not 1")]
    CubeMapDirection,
    /// A child image with size but no offset, or the other way round [AG p.40].
    #[error("child image dimensions and offsets are not both given")]
    ChildIncomplete,
    /// A child image of 2048 texels [AG p.108 HW-2753].
    #[error("child images of width or height 2048 fail (HW-2753)")]
    ChildTooLarge,
    /// S16 with a filter that blends [AG p.43].
    #[error("texture type S16 cannot be blended")]
    NotBlendable,
    /// A texture type whose border colour is unknown: it has no 8-bit channels.
    #[error("the border colour of texture type {0} is unknown")]
    BorderUnknown(&'static str),
    /// A negative power of two in a blended 16-bit float texture [AG p.108 HW-2619].
    #[error("blended 16-bit float textures lose the sign of negative powers of two (HW-2619)")]
    NegativePowerOfTwo,
    /// Infinity and a negative number in a trilinear blend [AG p.108 HW-2645].
    #[error("trilinear blend of infinity and a negative number (HW-2645)")]
    InfinityAndNegative,
    /// A raster texture whose width is not a power of two [AG p.109 HW-2898]. It is read with the padding of the next power of two.
    #[error("raster texture of width {0}, which is not a power of two (HW-2898)")]
    RasterWidth(u32),
    /// Rows of YUYV422R whose distance is not known: rows of RGBA32R have at least 4 texels, which are 16 bytes [piegpu]. Here they have 4 texels.
    #[error("a texture of type YUYV422R of width {0}: how far apart its rows are is known from 8 texels on")]
    YuyvRow(u32),
}
