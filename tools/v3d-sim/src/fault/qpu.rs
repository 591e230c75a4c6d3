//! Faults of QPU programs and of their scheduler.

use super::rendering::TileBufferError;
use super::rule::Rule;
use super::tmu::TmuFault;
use super::vpm::VpmError;
use crate::memory::OutOfMemory;
use v3d_hw::BusAddr;

/// A fault of a QPU program, with the instruction that causes it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("instruction at {pc}: {error}")]
pub struct QpuFault {
    /// Address of the instruction.
    pub pc: BusAddr,
    /// The error.
    pub error: QpuError,
}

/// The error of an instruction.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum QpuError {
    /// A broken rule.
    #[error(transparent)]
    Rule(#[from] Rule),
    /// An illegal or undefined access to a unit.
    #[error(transparent)]
    Io(#[from] IoError),
    /// An illegal or undefined access to a TMU.
    #[error(transparent)]
    Tmu(#[from] TmuFault),
    /// It, or a uniform, is outside of memory.
    #[error("{0}")]
    Memory(#[from] OutOfMemory),
    /// So many branches of a vertex or coordinate shader were decided by elements without a vertex alone, which take part and contain anything. From here
    /// on branches follow the elements that have a vertex.
    #[error(
        "elements of the batch that have no vertex have decided {0} branches: they contain anything, so that a loop that waits for them may never end on \
         boards; give it an end that is the same for all vertices"
    )]
    UndefinedBranch(u32),
    /// Elements without a vertex, which contain anything, make a TMU read at an address that is not in memory.
    #[error("elements of the batch that have no vertex make a TMU read wherever they say: {0}; limit the address")]
    UndefinedAddress(OutOfMemory),
    /// A uniform is read, but the program has no uniforms or has used them up; the value is 0.
    #[error("a uniform is read beyond the end of the stream")]
    UniformsExhausted,
}

/// An illegal or undefined access to a unit.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum IoError {
    /// This kind of program has no access to the unit.
    #[error("{0} cannot be accessed by this kind of program")]
    NotAccessible(&'static str),
    /// More varyings are read than the shader record announces.
    #[error("a varying is read beyond the {0} that the shader record announces")]
    VaryingsExhausted(u32),
    /// An illegal use of the tile buffer.
    #[error("tile buffer: {0}")]
    TileBuffer(TileBufferError),
    /// An illegal use of the VPM or its DMA.
    #[error("VPM: {0}")]
    Vpm(#[from] VpmError),
    /// The mutex is released by a QPU that does not hold it.
    #[error("the mutex is released by a QPU that does not hold it")]
    MutexNotHeld,
    /// A QPU waits for the mutex that it holds itself; it stalls for ever.
    #[error("the mutex is taken by the QPU that holds it")]
    MutexHeld,
}

/// Why user programs make no progress.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QpsFault {
    /// Software waits for programs that wait for each other.
    #[error("user programs are stalled for good: {0}")]
    Deadlock(String),
    /// A program is still running after all instructions that it may execute.
    #[error("the user program on QPU {qpu} is still running at {pc}: taken for an endless loop")]
    Endless {
        /// The QPU.
        qpu: u8,
        /// Address of its next instruction.
        pc: BusAddr,
    },
    /// Programs are queued, and all QPUs are reserved for something else.
    #[error("user programs are queued, but every QPU is reserved against them")]
    AllReserved,
}
