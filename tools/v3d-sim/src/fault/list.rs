//! Faults of control lists: of the executor, of state records and of primitives.

use super::vpm::AllocationError;
use crate::memory::OutOfMemory;
use v3d_hw::control_list::DecodeError;
use v3d_hw::primitive_list::{ItemError, ListDataType, ListPrimitive};
use v3d_hw::registers::Thread;
use v3d_hw::{BusAddr, FieldError};

/// A fault of a control list, with the record that causes it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("control list thread {}, record at {at}: {error}", *thread as u8)]
pub struct CleFault {
    /// The thread.
    pub thread: Thread,
    /// Address of the record.
    pub at: BusAddr,
    /// The error.
    pub error: CleError,
}

/// The error of a control list.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CleError {
    /// The list leaves memory.
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    /// There is no such record.
    #[error("{0}")]
    Decode(DecodeError),
    /// The record is allowed in lists of the other thread only.
    #[error("\"{0}\" is not allowed in this thread's lists")]
    WrongList(&'static str),
    /// Sub-lists are nested too deep.
    #[error("sub-lists are nested deeper than 2 levels")]
    Nesting,
    /// The index data of a primitive list begins at the list's end address [rpi-hal src/v3d.rs].
    #[error(
        "its index data begins at the list's end address: the thread stops there, without an error bit, before the first index; leave bytes between them"
    )]
    EndAtIndexData,
    /// The end address lies within the index data of a primitive list.
    #[error("the list's end address lies within its index data: whether the thread stops there is not known")]
    EndInIndexData,
    /// A sub-list has come to the end address.
    #[error("this place in a sub-list is the list's end address: the thread stops here, without an error bit")]
    EndInSubList,
    /// A semaphore is incremented beyond its maximum.
    #[error("the other thread's semaphore is incremented beyond 7")]
    Semaphore,
    /// A shader record.
    #[error(transparent)]
    State(#[from] StateFault),
    /// A compressed list.
    #[error(transparent)]
    List(#[from] ListFault),
    /// A primitive record.
    #[error(transparent)]
    Assembly(#[from] AssemblyFault),
    /// A batch of vertices that the VPM has no room for.
    #[error(transparent)]
    Allocation(#[from] AllocationError),
    /// The list does not end.
    #[error(
        "the list is not at its end after as many records or instructions as one may have; the thread counts as hung"
    )]
    Endless,
    /// A program of an earlier list has not ended, and CTRSTA does not end it.
    #[error(
        "a program of an earlier list still holds its QPU: CTRSTA resets the thread, and only a reset of the whole V3D ends the program"
    )]
    Stuck,
}

/// The error of a state record.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StateFault {
    /// The shader record is not in memory.
    #[error("shader record: {0}")]
    Memory(#[from] OutOfMemory),
    /// Shader records are 16-byte aligned.
    #[error("the shader record at {0} is not 16-byte aligned")]
    Unaligned(BusAddr),
}

/// The error of a primitive record.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum AssemblyFault {
    /// The indices leave memory.
    #[error("indices: {0}")]
    Memory(#[from] OutOfMemory),
    /// The primitive mode is reserved.
    #[error("primitive mode {0} is reserved")]
    Mode(u8),
    /// The index type is reserved.
    #[error("index type {0} is reserved")]
    IndexType(u8),
    /// An index is greater than the record's maximum; its primitive is not drawn.
    #[error("index {index} is greater than the maximum of {maximum} that the record gives")]
    MaximumIndex {
        /// The index.
        index: u32,
        /// The maximum.
        maximum: u32,
    },
    /// A list continues a fan, and there is none.
    #[error("there is no triangle fan that could be continued")]
    NoFan,
}

/// The error of a compressed primitive list.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ListFault {
    /// It leaves memory.
    #[error("{0}")]
    Memory(#[from] OutOfMemory),
    /// Its bytes are reserved codes.
    #[error("item at {at}: {error}")]
    Item {
        /// Address of the item.
        at: BusAddr,
        /// The error.
        error: ItemError,
    },
    /// Its first primitive is relative to a primitive before it.
    #[error("item at {at}: the first primitive of a list is relative to one before it")]
    Relative {
        /// Address of the item.
        at: BusAddr,
    },
    /// It has more items than the budget allows.
    #[error("the list is still not at its end at {at}, after as many items as a list may have")]
    Endless {
        /// Where reading has stopped.
        at: BusAddr,
    },
}

/// The error of encoding a primitive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// An index has more bits than the list's.
    #[error("{0}")]
    Field(FieldError),
    /// There is no such list.
    #[error("there are no compressed lists of {primitive} by {data_type}")]
    Format {
        /// The format's data type.
        data_type: ListDataType,
        /// Its primitives.
        primitive: ListPrimitive,
    },
}
