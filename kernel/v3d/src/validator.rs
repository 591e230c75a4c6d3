//! Validation of foreign lists before they are executed.
//!
//! There is no IOMMU between the V3D and memory: a list can contain any address for code, uniforms, vertices, indices, textures, tile lists and pictures.
//! Before a list is executed, the validator therefore compares all memory that the list can make the V3D read or write with the rights of the job. A list for
//! which it cannot prove that they suffice is rejected, with the position of the record.
//!
//! # Assumptions
//! Memory does not change from the start of validation to the end of the job: what the job may write and what it may read are disjoint, and the caller does not
//! access either by the CPU. All lists, records, programs and uniforms are assumed to stay unchanged; some are read more than once.
//!
//! # Cost
//! Each program, each pair of program and uniforms and each shader record is checked once, however many states refer to it. The rest of the work is
//! proportional to the lists. All work is counted: a job that needs more than [`MAX_WORK`] units is rejected. So is memory: lists are read piece by piece, and
//! a job of which more than [`MAX_HEAP_BYTES`] have to be remembered is rejected, as is one for which the heap has no room.
//!
//! # What is not proved
//! - That the job ends. The driver's recovery stops a job that hangs.
//! - That its picture makes sense: vertices, indices, texels and uniforms may have any value.
//! - That programs read only registers that they have written: data of other programs can be read from a QPU's registers and from the VPM's rows of a batch.
//!
//! # Faults, and the rules that prevent them
//! The model of the V3D (`v3d-sim`) reports violations of rules by software. Every fault that it can report of a list or program is either prevented here or
//! cannot be prevented:
//!
//! | fault of the model | answer |
//! |---|---|
//! | access outside of memory, by whatever unit | rights: lists, records, programs, uniforms, textures, vertices, indices, tile memory, pictures |
//! | record: reserved, cut short, of the other thread, out of order | `Checker::records`; the stages of `binning`, the order in `rendering` |
//! | sub-lists nested | branches lead to tile lists only, which the binner wrote |
//! | index data or a sub-list at the list's end address, or around it | `binning`, `rendering` |
//! | semaphore incremented too often | once in a binning list, and the rendering list waits once, whatever else it does |
//! | list or program without end | none: recovery |
//! | shader record unaligned | `records`; its alignment is in the GL record's field |
//! | compressed lists: bad items | none from outside: the binner writes them into memory that nothing else of the job writes to |
//! | primitive mode, index type reserved | `binning` |
//! | index beyond the maximum | none: nothing is fetched for it and its primitive is not drawn |
//! | a fan that continues nothing, VG shaders, lists of coordinates | their records are not allowed |
//! | VPM too small for a batch | `records` |
//! | NV vertices unaligned, or to be clipped without clip coordinates | `records` |
//! | binning not configured, configured twice, without tiles, with too little tile memory, with tile state that is not initialised | `binning` |
//! | tile list format | `binning` |
//! | too many changes of state (HW-2116) | `binning` |
//! | clip coordinates without clipping | `records` |
//! | two-threaded programs of which only some switch threads | `binning` |
//! | elements without a vertex that decide a branch | none: recovery; their addresses are within the limits of `path` as all others |
//! | empty clip window, shaded vertices far outside, dithering | none: which of its own pixels the job draws |
//! | point too small (HW-2726) | `binning` for the record; none for sizes in vertices, which are values |
//! | no rendering mode, no tile, no shader | `rendering`; primitives follow a shader in the binning list |
//! | two loads, a tile buffer that was never cleared, reserved formats and modes, decimation by 16, alpha mask | `rendering` |
//! | coverage pipe (HW-2885), oversampling that does not fit | `binning` |
//! | early Z after a load in full resolution (HW-2905) | `rendering` |
//! | early Z with a depth that is out of date | `binning`: it is not on after a draw that moves Z away without early-Z updates; Mesa's driver never draws so |
//! | varyings unread or exhausted | `Shading::draw`: the count on every path is that of the record and of the kind of primitive |
//! | samples beyond the last, coverage in multisample mode | `Shading::draw` |
//! | quads moved, alpha mask accessed | `rules` |
//! | mixed stencil set-ups (HW-2924) | none: which of the job's own set-ups applies to its own pixels |
//! | deadlock | semaphores and the mutex are refused; nothing else waits for anything |
//! | VPM read or written outside of the window, without or with a bad set-up | `vpm`, with `records` for the number of rows |
//! | VPM DMA | refused |
//! | a unit that this kind of program cannot access | `rules` |
//! | reserved operation, pack mode, immediate, condition; unmapped address; unpacking and packing of peripherals | `rules` |
//! | double write, several peripherals, semaphore with peripheral, breakpoint | `rules` |
//! | stale register, SFU too early or clobbered, rotation too early, mask too early | `rules`, also over branches |
//! | uniform too early, uniform with a TMU write | `path` |
//! | TMU swapping disabled too late | `path`: before any write to a TMU, and three instructions before the first |
//! | conditional write to SFU, VPM or TMU | `rules`: conditional writes are refused, whether they hold or not |
//! | scoreboard too early; registers, accesses and Z at the end | `path` |
//! | accumulators lost, switch after the last, switch unthreaded, the other thread's registers | `path`, `rules` |
//! | branch by an odd register, branches too close | branches by registers are refused; `walk` |
//! | TMU: result that was not asked for, FIFO overflow, coordinate twice | `lookups` |
//! | TMU: reserved type or filter, cube stride missing, border of a cube, child image incomplete or too large | `texture` |
//! | TMU: S16 blended, border unknown, raster width (HW-2898), narrow YUYV422R | `texture` |
//! | TMU: cube direction not normalised, HW-2619, HW-2645 | none: the values of coordinates and texels |
//! | uniforms exhausted, QPU scheduler, registers | none: jobs have no user programs and write no registers |
//!
//! Beyond that, what the model gives a meaning to is refused where silicon's is not known: two parameters of one kind for a texture, thread switches next to
//! branches and ends, a lookup that has begun when the program ends.
//!
//! # How that is tested
//! `tests/validator` breaks each rule once, and asks the model whether it finds the same. `tests/accepted_jobs.rs` changes captured jobs and makes up
//! shaders: what is accepted runs in a model that has no memory but the job's own, and must not have any fault but the values named above. It takes
//! `--suite NAME`, `--range LO..HI` and `--seconds N`. The same cases are a fuzz target, which needs `cargo install cargo-fuzz` and a nightly compiler:
//! `cd kernel/v3d && cargo +nightly fuzz run accepted_jobs`.
//!
//! What jobs leave behind, whether or not they would be accepted, is tested by sequences of jobs on one V3D: `tests/job_sequences`.
//!
//! # Sources
//! [AG p.65-81] for what records mean, [linux vc4_validate.c, vc4_validate_shaders.c] for which dangers there are.

mod binning;
mod records;
mod rendering;
mod rights;
mod shader;
mod span;
mod survey;
mod texture;

pub use rights::Rights;
pub use span::{MEMORY_BYTES, Span, merged};
pub use survey::{Pointer, Survey, survey};

use crate::image::tile_grid::TileGrid;
use crate::jobs::job::Job;
use crate::lists::record_list::ControlList;
use crate::platform::GpuMemory;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};
use core::fmt;
use v3d_hw::BusAddr;
use v3d_hw::control_list::{DecodeError, MAX_RECORD_BYTES, Record};
use v3d_hw::registers::Thread;

/// Most units of work of a validation: records of lists, instructions that are followed, uniforms that are read.
pub const MAX_WORK: u32 = 1 << 22;

/// Most bytes of heap that a validation, or a survey, takes for what it has to remember: basic blocks of programs, their uses of uniforms, records, addresses.
/// As many again are allocated for a moment, to find out whether the heap has them.
pub const MAX_HEAP_BYTES: usize = 8 << 20;

/// Bytes of a list that are read at once.
const WINDOW_BYTES: usize = 256;
/// Least bytes between two checks that the heap has room.
const HEAP_STEP_BYTES: usize = 64 << 10;

/// Why a job was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The thread of the list.
    pub thread: Thread,
    /// Offset of the record in its list in bytes.
    pub offset: u32,
    /// The record's name.
    pub record: &'static str,
    /// The reason.
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

/// Why a record was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// It can read memory that the job may not read.
    Reads {
        /// First byte.
        address: BusAddr,
        /// Bytes.
        bytes: u64,
    },
    /// It can write memory that the job may not write.
    Writes {
        /// First byte.
        address: BusAddr,
        /// Bytes.
        bytes: u64,
    },
    /// The bytes are not a record.
    NotARecord(DecodeError),
    /// The record is not allowed in this kind of list.
    NotAllowed,
    /// The order of records is wrong.
    Order(&'static str),
    /// The value is not allowed.
    Value(&'static str),
    /// An instruction of a program is not allowed.
    Instruction {
        /// Its address.
        address: BusAddr,
        /// The reason.
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
            Self::Instruction { address, why } => write!(f, "the instruction at {address}: {why}"),
        }
    }
}

/// Properties of the binning list to which the rendering list must correspond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Binned {
    grid: TileGrid,
    lists: BusAddr,
    /// Tile state, and the memory of tile lists.
    memory: [Span; 2],
}

/// Memory, with the rights of the job.
struct Checker<'a, M> {
    memory: &'a M,
    rights: &'a Rights,
    /// Remaining units of work.
    work: Cell<u32>,
    /// Bytes of heap in use, and the number up to which the heap has room.
    heap: Cell<(usize, usize)>,
    /// The survey in which accesses are recorded, if one is requested.
    survey: Option<&'a RefCell<Survey>>,
}

impl<M: GpuMemory> Checker<'_, M> {
    /// Counts work before it is done.
    fn spend(&self, units: u32) -> Result<(), Reason> {
        let left = self.work.get().checked_sub(units);
        self.work.set(left.ok_or(Reason::Value("the job takes more work to check than a job may"))?);
        self.has_room(self.heap.get().0)
    }

    /// Counts heap before it is used: so many elements of a collection, with its own nodes and the room that it grows into.
    fn keep<T>(&self, count: usize) -> Result<(), Reason> {
        let (used, room) = self.heap.get();
        let used = used.saturating_add(count.saturating_mul(2 * size_of::<T>()));
        self.heap.set((used, room));
        self.has_room(used)
    }

    /// The number of bytes in use, to which [`Self::release`] returns.
    fn kept(&self) -> usize {
        self.heap.get().0
    }

    /// Counts heap as free that was used since [`Self::kept`].
    fn release(&self, kept: usize) {
        self.heap.set((kept, self.heap.get().1));
    }

    /// Checks that a validation may use so many bytes besides its survey, and that the heap has them in one piece, as the growth of a collection needs them.
    fn has_room(&self, used: usize) -> Result<(), Reason> {
        let survey = self.survey.map_or(0, |survey| survey.borrow().heap_bytes());
        let used = used.saturating_add(survey);
        let (_, room) = self.heap.get();
        if used <= room {
            return Ok(());
        }
        if used > MAX_HEAP_BYTES {
            return Err(Reason::Value("the job takes more memory to check than a job may"));
        }
        let room = used.next_multiple_of(HEAP_STEP_BYTES);
        if Vec::<u8>::new().try_reserve_exact(room).is_err() {
            return Err(Reason::Value("there is no memory left to check the job"));
        }
        self.heap.set((self.heap.get().0, room));
        Ok(())
    }

    /// Checks that a range may be read, and records it.
    fn may_read(&self, address: BusAddr, bytes: u64) -> Result<(), Reason> {
        self.rights.may_read(address, bytes)?;
        self.note(|survey| survey.note_read(address, bytes));
        Ok(())
    }

    /// Checks that a picture may be loaded. It is data, never a program, so it may also be one that the job writes.
    fn may_load(&self, address: BusAddr, bytes: u64) -> Result<(), Reason> {
        self.may_read(address, bytes).or(self.rights.may_write(address, bytes))
    }

    /// Records something in the survey, if there is one.
    fn note(&self, note: impl FnOnce(&mut Survey)) {
        if let Some(survey) = self.survey {
            note(&mut survey.borrow_mut());
        }
    }

    /// Fills `bytes` from a span that the job may read.
    fn load(&self, address: BusAddr, bytes: &mut [u8]) -> Result<(), Reason> {
        let count = bytes.len() as u64;
        self.may_read(address, count)?;
        self.memory.load(self.place(address, count)?, bytes);
        Ok(())
    }

    /// Offset of a span in memory, if it lies in it.
    fn place(&self, address: BusAddr, bytes: u64) -> Result<u32, Reason> {
        let offset = address.offset().wrapping_sub(self.memory.base().offset());
        let fits = u64::from(offset) + bytes <= u64::from(self.memory.bytes());
        if fits { Ok(offset) } else { Err(Reason::Reads { address, bytes }) }
    }

    fn word(&self, address: BusAddr) -> Result<u32, Reason> {
        let mut bytes = [0; 4];
        self.load(address, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Calls `each` for every record of a list with its offset; adds the offset to errors.
    fn records(
        &self,
        thread: Thread,
        list: ControlList,
        mut each: impl FnMut(u32, Record) -> Result<(), Reason>,
    ) -> Result<(), Refusal> {
        let at_start = |reason| Refusal { thread, offset: 0, record: "start of the list", reason };
        let length = list.end_exclusive.0.checked_sub(list.start.0);
        let length = length.ok_or_else(|| at_start(Reason::Value("the list ends before it begins")))?;
        self.may_read(list.start, u64::from(length)).map_err(at_start)?;
        let first = self.place(list.start, u64::from(length)).map_err(at_start)?;
        // A list may be as long as memory: it is read piece by piece.
        let (mut window, mut filled) = ([0; WINDOW_BYTES], 0..0);
        let mut offset = 0;
        while offset < length {
            let place = |record, reason| Refusal { thread, offset, record, reason };
            if filled.end < length.min(offset + MAX_RECORD_BYTES as u32) {
                filled = offset..length.min(offset + WINDOW_BYTES as u32);
                self.memory.load(first + offset, &mut window[..filled.len()]);
            }
            let bytes = &window[(offset - filled.start) as usize..filled.len()];
            let record = Record::decode(bytes).map_err(|error| place("unknown record", Reason::NotARecord(error)))?;
            let checked = self.spend(1).and_then(|()| each(offset, record));
            checked.map_err(|reason| place(record.info().name, reason))?;
            self.note(|survey| survey.note_record(list.start + offset, &record, bytes));
            offset += record.bytes() as u32;
        }
        Ok(())
    }
}

/// Checks that a job can only access memory to which it has a right.
pub fn check(memory: &impl GpuMemory, rights: &Rights, job: &Job) -> Result<(), Refusal> {
    check_with(memory, rights, job, MAX_WORK).map(|_work| ())
}

/// The same with another limit of work; returns the number of units used.
pub fn check_with(memory: &impl GpuMemory, rights: &Rights, job: &Job, max_work: u32) -> Result<u32, Refusal> {
    let checker = Checker { memory, rights, work: Cell::new(max_work), heap: Cell::new((0, 0)), survey: None };
    check_job(&checker, job)?;
    Ok(max_work - checker.work.get())
}

fn check_job<M: GpuMemory>(checker: &Checker<'_, M>, job: &Job) -> Result<(), Refusal> {
    let binned = job.binning.map(|list| binning::check(checker, list)).transpose()?;
    rendering::check(checker, job.rendering, binned)
}
