//! Jobs that leave something behind.

use super::scene::{NOP, word};
use super::world::Machine;
use v3d::hw::BusAddr;
use v3d::hw::control_list::{
    BranchToSubList, ClearColors, ClipWindow, ConfigurationBits, FlatShadeFlags, LineWidth, PointSize,
    PrimitiveListFormat, Record, StoreGeneral, TileCoordinates, TileRenderingMode, ViewportOffset,
};
use v3d::hw::primitive_list::{ListDataType, ListPrimitive};
use v3d::hw::qpu::{AddOp, Alu, Condition, Mux, Signal};
use v3d::platform::GpuMemory;
use v3d::record_list::ControlList;
use v3d::user_program::UserProgram;
use v3d::{Driver, Job};
use v3d_host::Model;

/// A kind of hostile jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hostile {
    /// The rendering list never waits.
    NeverWaits,
    /// It waits twice.
    WaitsTwice,
    /// The binning list increments the semaphore six times.
    ManyIncrements,
    /// It never does.
    NoIncrement,
    /// The binning list has no Flush.
    NoFlush,
    /// The rendering list increments the binner's semaphore.
    IncrementsBinner,
    /// The rendering list ends within a sub-list.
    EndsInSubList,
    /// It waits behind the end of its frame.
    WaitsBehindItsFrame,
    /// A list has a byte that is no record.
    BadRecord,
    /// The binning list sets state and draws nothing.
    State,
    /// The rendering list sets state of the pipeline, as a tile list does.
    RenderingState,
    /// Clear values, and tiles of another configuration that are never stored or cleared.
    TileContents,
    /// A user program that keeps the mutex and leaves semaphores and registers.
    Program,
    /// One that does not end.
    EndlessProgram,
}

impl Hostile {
    pub(crate) const ALL: [Self; 14] = [
        Self::NeverWaits,
        Self::WaitsTwice,
        Self::ManyIncrements,
        Self::NoIncrement,
        Self::NoFlush,
        Self::IncrementsBinner,
        Self::EndsInSubList,
        Self::WaitsBehindItsFrame,
        Self::BadRecord,
        Self::State,
        Self::RenderingState,
        Self::TileContents,
        Self::Program,
        Self::EndlessProgram,
    ];

    /// Whether it concerns the control list threads.
    pub(crate) fn breaks_threads(self) -> bool {
        !matches!(self, Self::State | Self::RenderingState | Self::TileContents | Self::Program | Self::EndlessProgram)
    }

    /// Whether the V3D has to be reset.
    pub(crate) fn hangs(self) -> bool {
        matches!(
            self,
            Self::WaitsTwice
                | Self::ManyIncrements
                | Self::NoIncrement
                | Self::NoFlush
                | Self::WaitsBehindItsFrame
                | Self::BadRecord
                | Self::EndlessProgram
        )
    }
}

/// Writes records to the scratch memory.
fn list(machine: &Machine, offset: u32, records: &[Record]) -> ControlList {
    let mut bytes = Vec::new();
    for record in records {
        bytes.extend(&record.encode().expect("the fields fit")[..record.bytes()]);
    }
    let start = machine.scratch.address + offset;
    machine.model.store(start - machine.model.base(), &bytes);
    ControlList { start, end_exclusive: start + bytes.len() as u32 }
}

/// The records of a list in memory.
fn records(machine: &Machine, list: ControlList) -> Vec<Record> {
    let mut bytes = vec![0; (list.end_exclusive - list.start) as usize];
    machine.model.load(list.start - machine.model.base(), &mut bytes);
    let (mut records, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let record = Record::decode(&bytes[at..]).expect("a captured list");
        at += record.bytes();
        records.push(record);
    }
    records
}

/// Puts a hostile job into the queue, or runs a hostile program.
pub(crate) fn run(kind: Hostile, machine: &Machine, driver: &mut Driver<'_, Model>) {
    // Jobs in flight keep the scratch memory until they are done.
    driver.wait_until_idle();
    let attacker = machine.attacker;
    let binning = records(machine, attacker.binning.expect("it is binned"));
    let mode = records(machine, attacker.rendering).into_iter().find_map(|record| match record {
        Record::TileRenderingMode(mode) => Some(mode),
        _ => None,
    });
    let mode = mode.expect("a rendering list has a mode");
    let binning_with = |replace: &dyn Fn(Record) -> Vec<Record>| {
        let changed: Vec<Record> = binning.iter().flat_map(|record| replace(*record)).collect();
        list(machine, 0, &changed)
    };
    let increments = |count: usize| {
        binning_with(&move |record| match record {
            Record::IncrementSemaphore => vec![record; count],
            _ => vec![record],
        })
    };
    // A frame of one tile that stores nothing.
    let frame = |between: &[Record], after: &[Record]| {
        let begin = [mode.into(), ClearColors::default().into(), TileCoordinates { row: 0, column: 0 }.into()];
        let end = [StoreGeneral { last_tile: true, ..StoreGeneral::default() }.into()];
        list(machine, 0x2000, &[&begin, between, &end, after].concat())
    };
    let wait = Record::WaitOnSemaphore;
    let job = match kind {
        Hostile::NeverWaits => Job { rendering: frame(&[], &[]), ..attacker },
        Hostile::WaitsTwice => Job { rendering: frame(&[wait, wait], &[]), ..attacker },
        Hostile::ManyIncrements => Job { binning: Some(increments(6)), rendering: frame(&[wait], &[]) },
        Hostile::NoIncrement => Job { binning: Some(increments(0)), rendering: frame(&[wait], &[]) },
        Hostile::NoFlush => {
            let without = |record| if record == Record::Flush { Vec::new() } else { vec![record] };
            Job { binning: Some(binning_with(&without)), rendering: frame(&[wait], &[]) }
        }
        Hostile::IncrementsBinner => Job { rendering: frame(&[wait, Record::IncrementSemaphore], &[]), ..attacker },
        Hostile::EndsInSubList => {
            let end = StoreGeneral { last_tile: true, ..StoreGeneral::default() };
            let sub_list = list(machine, 0x3000, &[end.into()]);
            let branch = BranchToSubList { address: sub_list.start };
            let begin = [mode.into(), TileCoordinates { row: 0, column: 0 }.into(), wait, branch.into()];
            let start = list(machine, 0x2000, &begin).start;
            Job { rendering: ControlList { start, end_exclusive: sub_list.end_exclusive }, ..attacker }
        }
        Hostile::WaitsBehindItsFrame => Job { rendering: frame(&[wait], &[wait]), ..attacker },
        Hostile::BadRecord => {
            let bad = frame(&[wait], &[]);
            machine.model.store(bad.start + 1 - machine.model.base(), &[0xff; 16]);
            Job { rendering: bad, ..attacker }
        }
        Hostile::State => {
            let with_state = |record| match record {
                Record::IndexedPrimitiveList(_) | Record::VertexArrayPrimitives(_) => Vec::new(),
                Record::IncrementSemaphore => [&state()[..], &[record]].concat(),
                _ => vec![record],
            };
            Job { binning: Some(binning_with(&with_state)), rendering: frame(&[wait], &[]) }
        }
        Hostile::RenderingState => {
            let records = [&[wait], &state()[..]].concat();
            Job { rendering: frame(&records, &[]), ..attacker }
        }
        Hostile::TileContents => {
            let other = TileRenderingMode { multisample: !mode.multisample, ..mode };
            let colours = ClearColors { color: 0x1234_5678_9abc_def0, z: 0x12_3456, vg_mask: 0x55, stencil: 0xaa };
            let keep = StoreGeneral {
                disable_color_clear: true,
                disable_zs_clear: true,
                disable_vg_mask_clear: true,
                last_tile: true,
                ..StoreGeneral::default()
            };
            let mut records: Vec<Record> = vec![other.into(), colours.into()];
            for column in 0..3 {
                records.push(TileCoordinates { row: 0, column }.into());
                records.push(if column < 2 { StoreGeneral::default().into() } else { keep.into() });
            }
            Job { binning: None, rendering: list(machine, 0x2000, &records) }
        }
        Hostile::Program | Hostile::EndlessProgram => return program(kind, machine, driver),
    };
    driver.submit(job);
}

/// Pipeline state as no good job wants it.
fn state() -> [Record; 7] {
    [
        PrimitiveListFormat { data_type: ListDataType::Index24, primitive: ListPrimitive::Lines }.into(),
        ConfigurationBits { early_z: true, early_z_updates: true, ..ConfigurationBits::default() }.into(),
        FlatShadeFlags { flags: u32::MAX }.into(),
        PointSize { size: 100.0 }.into(),
        LineWidth { width: 50.0 }.into(),
        ClipWindow { left: 5, bottom: 5, width: 3, height: 3 }.into(),
        ViewportOffset { x: -777, y: 1234 }.into(),
    ]
}

/// Runs a program that takes the mutex, raises semaphores, fills registers and r5, and ends or does not.
fn program(kind: Hostile, machine: &Machine, driver: &mut Driver<'_, Model>) {
    let mutex = Alu { raddr_a: 51, waddr_add: 39, add_a: Mux::A, add_b: Mux::A, ..or() };
    let mut words = vec![word(mutex)];
    // `srel n`.
    words.extend((0..16u64).map(|semaphore| 0xe800_09e7_0000_0000 | semaphore));
    // `ldi raN, 0xdead_beef`, and the accumulators.
    words.extend((0..36u64).map(|register| 0xe002_0000_dead_beef | register << 38 | 39 << 32));
    if kind == Hostile::EndlessProgram {
        words.push(0xf0f8_09e7_ffff_ffe0);
        words.extend([NOP; 3]);
    }
    words.push(word(Alu { sig: Signal::ProgramEnd, ..Alu::NOP }));
    words.extend([NOP; 2]);
    let code = machine.scratch.address;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    machine.model.store(code - machine.model.base(), &bytes);
    let program = UserProgram { code, uniforms: BusAddr(code.0), uniform_count: 0 };
    // Whether it ends is its own affair.
    let _ = driver.run_programs(&[program], 100_000);
}

fn or() -> Alu {
    Alu { op_add: AddOp::Or, cond_add: Condition::Always, ..Alu::NOP }
}
