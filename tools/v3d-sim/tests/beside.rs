//! Jobs beside software: registers answer while a job runs.
//!
//! The results are the same as without it, and a stop ends a program that has no end.

#[path = "machine/put_list.rs"]
mod list;

use list::put_list;
use std::thread;
use std::time::Duration;
use v3d_hw::control_list::{
    ClearColors, FrameBufferFormat, MemoryFormat, NvShaderState, PrimitiveMode, Record, StoreGeneral, TileBufferSelect,
    TileCoordinates, TileRenderingMode, VertexArrayPrimitives,
};
use v3d_hw::shader_record::NvShaderRecord;
use v3d_hw::{BusAddr, Layout};
use v3d_sim::device::beside::Work;
use v3d_sim::memory::OwnedMemory;
use v3d_sim::{Config, Register, V3d};

const LIST: u32 = 0x1000;
const FRAME: u32 = 0x8000;
const PROGRAM: u32 = 0x3000;
/// Of CTnCS: the thread runs; reset it. Of INTCTL: a frame is done.
const CTRUN: u32 = 1 << 5;
const CTRSTA: u32 = 1 << 15;
const FRDONE: u32 = 1;

struct Machine {
    memory: OwnedMemory,
    device: V3d,
    list_end: u32,
}

impl Machine {
    /// A list that clears a tile, draws a triangle over it with a program, and stores it.
    fn new(source: &str) -> Self {
        let memory = OwnedMemory::new(0x2_0000);
        let view = memory.view();
        let program = qpu::assemble(&[qpu::Source::new("test", source)], &qpu::Options::default()).unwrap();
        for (half, n) in program.halves().zip(0..) {
            view.set_word(BusAddr(PROGRAM + 4 * n), half).unwrap();
        }
        let record = NvShaderRecord {
            code: BusAddr(PROGRAM),
            vertices: BusAddr(0x2000),
            stride: 12,
            ..NvShaderRecord::default()
        };
        view.write(BusAddr(0x2800), &record.to_bits().unwrap().to_le_bytes()[..NvShaderRecord::BYTES]).unwrap();
        for (n, (x, y)) in (0..).zip([(0u32, 0u32), (512, 0), (0, 512)]) {
            for (word, value) in (0..).zip([y << 16 | x, 0, 1f32.to_bits()]) {
                view.set_word(BusAddr(0x2000 + 12 * n + 4 * word), value).unwrap();
            }
        }
        let mode = TileRenderingMode {
            address: BusAddr(FRAME),
            width: 32,
            height: 32,
            memory_format: MemoryFormat::Raster,
            color_format: FrameBufferFormat::Rgba8888,
            ..TileRenderingMode::from_bits(0)
        };
        let color = 0xff00_00ff_ff00_00ff;
        let records: [Record; 7] = [
            ClearColors { color, ..ClearColors::default() }.into(),
            mode.into(),
            TileCoordinates { row: 0, column: 0 }.into(),
            StoreGeneral { buffer: TileBufferSelect::None, ..StoreGeneral::from_bits(0) }.into(),
            TileCoordinates { row: 0, column: 0 }.into(),
            NvShaderState { address: BusAddr(0x2800) }.into(),
            VertexArrayPrimitives { mode: PrimitiveMode::Triangles, length: 3, first_vertex: 0 }.into(),
        ];
        let records: Vec<Record> = records.into_iter().chain([Record::StoreResolvedEndOfFrame]).collect();
        let list_end = put_list(view, LIST, &records);
        Self { memory, device: V3d::new(Config::default()), list_end }
    }

    fn post(&mut self, register: Register, value: u32) -> Option<Work> {
        self.device.post(&self.memory.view(), register.offset(), value)
    }

    fn read(&mut self, register: Register) -> u32 {
        self.device.read(&self.memory.view(), register.offset())
    }

    fn start(&mut self) -> Work {
        assert!(self.post(Register::CT1CA, LIST).is_none());
        self.post(Register::CT1EA, self.list_end).expect("the list is handed out")
    }

    fn finish(&mut self, work: Work) -> Option<Work> {
        self.device.finish(&self.memory.view(), work)
    }
}

const RED: &str = "nop\nmov tlb_color_all, 0xff\nthrend\nnop\nnop";
const ENDLESS: &str = ":again\nbrr -, :again\nnop\nnop\nnop\nthrend\nnop\nnop";

#[test]
fn registers_answer_while_work_is_out() {
    let mut machine = Machine::new(RED);
    let mut work = machine.start();
    assert_eq!(machine.read(Register::CT1CS) & CTRUN, CTRUN);
    assert_eq!((machine.read(Register::RFC), machine.read(Register::INTCTL) & FRDONE), (0, 0));
    assert!(machine.post(Register::INTENA, FRDONE).is_none());
    assert!(machine.post(Register::BPOA, 0x1_8000).is_none());
    assert_eq!((machine.read(Register::INTENA), machine.read(Register::BPOA)), (FRDONE, 0x1_8000));
    assert!(!machine.device.interrupt());
    work.run(&machine.memory.view());
    assert!(machine.finish(work).is_none() && machine.device.interrupt());
    assert_eq!((machine.read(Register::RFC), machine.read(Register::CT1CS) & CTRUN), (1, 0));
    assert_eq!(machine.read(Register::BPOA), 0x1_8000);
    assert_eq!(machine.device.take_faults(), []);
}

/// An acknowledgement while a job runs concerns the jobs before it.
#[test]
fn an_acknowledgement_does_not_take_the_interrupt_of_the_job_that_runs() {
    let mut machine = Machine::new(RED);
    let mut work = machine.start();
    work.run(&machine.memory.view());
    assert!(machine.finish(work).is_none());
    let mut work = machine.start();
    assert_eq!(machine.read(Register::INTCTL) & FRDONE, FRDONE);
    assert!(machine.post(Register::INTCTL, FRDONE).is_none());
    assert_eq!(machine.read(Register::INTCTL) & FRDONE, 0);
    work.run(&machine.memory.view());
    assert!(machine.finish(work).is_none());
    assert_eq!((machine.read(Register::INTCTL) & FRDONE, machine.read(Register::RFC)), (FRDONE, 2));
}

/// The same frame, twice: with each write after the work before it, and with all writes at once.
#[test]
fn writes_that_wait_compute_the_same() {
    let mut one = Machine::new(RED);
    for (register, value) in [(Register::CT1CA, LIST), (Register::CT1EA, one.list_end)].repeat(2) {
        one.device.write(&one.memory.view(), register.offset(), value);
    }
    let mut other = Machine::new(RED);
    let mut work = Some(other.start());
    for (register, value) in [(Register::CT1CA, LIST), (Register::CT1EA, other.list_end)] {
        assert!(other.post(register, value).is_none());
    }
    while let Some(mut out) = work.take() {
        out.run(&other.memory.view());
        work = other.finish(out);
    }
    assert_eq!((one.read(Register::RFC), other.read(Register::RFC)), (2, 2));
    assert_eq!(one.memory.to_bytes(), other.memory.to_bytes());
    assert_eq!(one.device.take_faults(), other.device.take_faults());
}

/// Runs work on another thread; stops it by `stop` after a moment.
fn stop(machine: &mut Machine, mut work: Work, stop: impl FnOnce(&mut Machine)) -> Work {
    let memory = OwnedMemory::new(0x2_0000);
    memory.view().write(BusAddr(0), &machine.memory.to_bytes()).unwrap();
    let running = thread::spawn(move || {
        work.run(&memory.view());
        work
    });
    thread::sleep(Duration::from_millis(50));
    let first = machine.read(Register::CT1CA);
    assert_eq!([0; 4].map(|_| machine.read(Register::CT1CA)), [first; 4], "an endless program stands still");
    stop(machine);
    running.join().unwrap()
}

#[test]
fn resetting_the_thread_stops_an_endless_program_but_does_not_free_its_qpu() {
    let mut machine = Machine::new(ENDLESS);
    let work = machine.start();
    let work = stop(&mut machine, work, |machine| assert!(machine.post(Register::CT1CS, CTRSTA).is_none()));
    assert!(machine.finish(work).is_none());
    assert_eq!((machine.read(Register::CT1CS), machine.read(Register::RFC)), (0, 0));
    assert_eq!(machine.memory.view().word(BusAddr(FRAME)), Ok(0), "nothing is stored");
    let told: Vec<String> = machine.device.take_faults().iter().map(ToString::to_string).collect();
    assert!(told.iter().any(|fault| fault.contains("had not ended when software stopped its thread")), "{told:?}");
    let mut work = machine.start();
    work.run(&machine.memory.view());
    assert!(machine.finish(work).is_none());
    assert_eq!(machine.read(Register::CT1CS) & CTRUN, CTRUN);
    let told: Vec<String> = machine.device.take_faults().iter().map(ToString::to_string).collect();
    assert!(told.iter().any(|fault| fault.contains("still holds its QPU")), "{told:?}");
}

#[test]
fn a_reset_of_the_whole_v3d_ends_a_hang() {
    let mut machine = Machine::new(ENDLESS);
    let work = machine.start();
    let work = stop(&mut machine, work, |machine| machine.device.stop());
    machine.device.reset();
    assert!(machine.finish(work).is_none(), "work from before the reset is dropped");
    let replacement = Machine::new(RED);
    machine.memory.view().write(BusAddr(0), &replacement.memory.to_bytes()).unwrap();
    let mut work = machine.start();
    work.run(&machine.memory.view());
    assert!(machine.finish(work).is_none());
    assert_eq!((machine.read(Register::RFC), machine.read(Register::CT1CS)), (1, 0));
    assert_eq!(machine.memory.view().word(BusAddr(FRAME)), Ok(0xff));
}

#[test]
fn vpmbase_may_be_written_again_with_its_value() {
    let mut machine = Machine::new(RED);
    let mut work = machine.start();
    work.run(&machine.memory.view());
    machine.finish(work);
    assert!(machine.post(Register::VPMBASE, 0).is_none());
    assert_eq!(machine.device.take_faults(), []);
}
