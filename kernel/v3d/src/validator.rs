//! Lists that come from elsewhere: may they be executed?
//!
//! There is no IOMMU between the V3D and memory. A list that somebody else wrote can name any address for code, uniforms, vertices, indices, textures,
//! tile lists and pictures; so before it is executed, everything that it can make the V3D read or write is held against what it may read and write. What cannot
//! be proved is refused, with the place of the record in its list.
//!
//! What is read must not change after it was checked. Therefore what the job may write and what it may read are disjoint, and the caller keeps the
//! CPU away from both until the job is done.
//!
//! # What is not proved
//! That the job ends. A job that hangs is the business of the driver's recovery.
//!
//! # Sources
//! [AG p.65-81] for what records mean, [linux vc4_validate.c, vc4_validate_shaders.c] for which dangers there are.

mod binning;
mod rendering;
mod shader;
mod texture;

use crate::driver::Job;
use crate::platform::GpuMemory;
use crate::record_list::ControlList;
use crate::tile_grid::TileGrid;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use v3d_hw::BusAddr;
use v3d_hw::control_list::{DecodeError, Record};
use v3d_hw::registers::Thread;

/// A stretch of memory, by the GPU's addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub address: BusAddr,
    /// Length in bytes.
    pub bytes: u32,
}

impl Span {
    /// Whether no byte belongs to both.
    fn is_apart_from(&self, other: &Self) -> bool {
        let range = |span: &Self| (u64::from(span.address.offset()), u64::from(span.bytes));
        let ((one, one_bytes), (two, two_bytes)) = (range(self), range(other));
        one + one_bytes <= two || two + two_bytes <= one
    }
}

/// What a job may read and what it may write.
#[derive(Clone, Debug, Default)]
pub struct Rights {
    readable: Vec<Span>,
    writable: Vec<Span>,
}

impl Rights {
    /// `None` if something may be both read and written, or is not inside the 1 GiB of memory.
    pub fn new(readable: &[Span], writable: &[Span]) -> Option<Self> {
        let fits = |span: &Span| u64::from(span.address.offset()) + u64::from(span.bytes) <= 1 << 30;
        let sound = readable.iter().chain(writable).all(fits)
            && readable.iter().all(|one| writable.iter().all(|other| one.is_apart_from(other)));
        sound.then(|| Self { readable: readable.to_vec(), writable: writable.to_vec() })
    }

    fn may_read(&self, address: BusAddr, bytes: u64) -> Result<(), Reason> {
        if contains(&self.readable, address, bytes) { Ok(()) } else { Err(Reason::Reads { address, bytes }) }
    }

    fn may_write(&self, address: BusAddr, bytes: u64) -> Result<(), Reason> {
        if contains(&self.writable, address, bytes) { Ok(()) } else { Err(Reason::Writes { address, bytes }) }
    }
}

/// Whether one of the spans holds all of it. Aliases of one address are one address.
fn contains(spans: &[Span], address: BusAddr, bytes: u64) -> bool {
    let start = u64::from(address.offset());
    spans.iter().any(|span| {
        let first = u64::from(span.address.offset());
        first <= start && start + bytes <= first + u64::from(span.bytes)
    })
}

/// Why a job was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Whose list it is.
    pub thread: Thread,
    /// Where the record is, in bytes from the start of its list.
    pub offset: u32,
    /// The record's name.
    pub record: &'static str,
    /// What is wrong with it.
    pub reason: Reason,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = match self.thread {
            Thread::Binning => "binning",
            Thread::Rendering => "rendering",
        };
        write!(f, "{list} list, offset {:#x}, {}: {}", self.offset, self.record, self.reason)
    }
}

impl core::error::Error for Refusal {}

/// What is wrong with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// It can read what the job may not read.
    Reads {
        /// First byte.
        address: BusAddr,
        /// Bytes.
        bytes: u64,
    },
    /// It can write what the job may not write.
    Writes {
        /// First byte.
        address: BusAddr,
        /// Bytes.
        bytes: u64,
    },
    /// The bytes are no record.
    NotARecord(DecodeError),
    /// It cannot be allowed in this kind of list.
    NotAllowed,
    /// It stands in the wrong place.
    Order(&'static str),
    /// A value cannot be allowed.
    Value(&'static str),
    /// An instruction of a program cannot be allowed.
    Instruction {
        /// Where it is.
        address: BusAddr,
        /// Why.
        why: &'static str,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reads { address, bytes } => {
                write!(f, "it can read {bytes} bytes at {address}, which the job may not read")
            }
            Self::Writes { address, bytes } => {
                write!(f, "it can write {bytes} bytes at {address}, which the job may not write")
            }
            Self::NotARecord(error) => error.fmt(f),
            Self::NotAllowed => f.write_str("it is not allowed here"),
            Self::Order(what) | Self::Value(what) => f.write_str(what),
            Self::Instruction { address, why } => write!(f, "the instruction at {address} {why}"),
        }
    }
}

/// What the rendering list has to agree with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Binned {
    grid: TileGrid,
    lists: BusAddr,
    /// Tile state, and the memory of tile lists.
    memory: [Span; 2],
}

/// Memory that may be looked at, with the rights of the job.
struct Checker<'a, M> {
    memory: &'a M,
    rights: &'a Rights,
}

impl<M: GpuMemory> Checker<'_, M> {
    /// The bytes of a stretch that the job may read.
    fn bytes(&self, address: BusAddr, count: u32) -> Result<Vec<u8>, Reason> {
        self.rights.may_read(address, u64::from(count))?;
        let offset = address.offset().wrapping_sub(self.memory.base().offset());
        if u64::from(offset) + u64::from(count) > u64::from(self.memory.bytes()) {
            return Err(Reason::Reads { address, bytes: u64::from(count) });
        }
        let mut bytes = vec![0; count as usize];
        self.memory.load(offset, &mut bytes);
        Ok(bytes)
    }

    fn word(&self, address: BusAddr) -> Result<u32, Reason> {
        let bytes = self.bytes(address, 4)?;
        Ok(bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte)))
    }

    /// Calls `each` with every record of a list and its offset; what that refuses gets its place here.
    fn records(
        &self,
        thread: Thread,
        list: ControlList,
        mut each: impl FnMut(u32, Record) -> Result<(), Reason>,
    ) -> Result<(), Refusal> {
        let at_start = |reason| Refusal { thread, offset: 0, record: "start of the list", reason };
        let bytes = self.bytes(list.start, list.end_exclusive - list.start).map_err(at_start)?;
        let mut offset = 0;
        while offset < bytes.len() {
            let place = |record, reason| Refusal { thread, offset: offset as u32, record, reason };
            let record =
                Record::decode(&bytes[offset..]).map_err(|error| place("unknown record", Reason::NotARecord(error)))?;
            each(offset as u32, record).map_err(|reason| place(record.info().name, reason))?;
            offset += record.bytes();
        }
        Ok(())
    }
}

/// Whether a job can only read and write what it may.
pub fn check(memory: &impl GpuMemory, rights: &Rights, job: &Job) -> Result<(), Refusal> {
    let checker = Checker { memory, rights };
    let binned = job.binning.map(|list| binning::check(&checker, list)).transpose()?;
    rendering::check(&checker, job.rendering, binned)
}
