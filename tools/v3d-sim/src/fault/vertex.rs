//! Faults of vertex fetch and shading.

use crate::memory::OutOfMemory;
use v3d_hw::BusAddr;

/// The error of fetching or shading vertices.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum VcdFault {
    /// An attribute is not in memory.
    #[error("attribute array {array}, vertex {index}: {error}")]
    Attribute {
        /// Number of the attribute array.
        array: u32,
        /// Index of the vertex.
        index: u32,
        /// The error.
        error: OutOfMemory,
    },
    /// A shaded vertex is not in memory.
    #[error("NV vertex {index}: {error}")]
    Shaded {
        /// Index of the vertex.
        index: u32,
        /// The error.
        error: OutOfMemory,
    },
    /// Vertices with a clip header must be 16-byte aligned.
    #[error("the vertices at {0} have clip coordinates and are not 16-byte aligned")]
    Unaligned(BusAddr),
    /// A shader does not end.
    #[error("the coordinate or vertex shader at {code} does not end")]
    Endless {
        /// Address of its first instruction.
        code: BusAddr,
    },
    /// The thread was stopped while a shader ran.
    #[error("the coordinate or vertex shader at {code} had not ended when software stopped its thread")]
    Stopped {
        /// Address of its first instruction.
        code: BusAddr,
    },
    /// The state has no shaders, or VG shaders, which have no vertices.
    #[error("vertices are drawn without a GL or NV shader state")]
    NoShader,
}
