//! Frames are the same in whichever way a driver starts their lists and supplies memory.
//!
//! The reference is the memory after the usual way, whose pictures `captures.rs` compares with another renderer's.

use std::cell::Cell;
use std::path::Path;
use v3d_hw::control_list::{MAX_RECORD_BYTES, Record};
use v3d_hw::registers::Register;
use v3d_hw::registers::interrupt::Intctl;
use v3d_hw::registers::pipeline::{Bfc, Rfc};
use v3d_hw::{BusAddr, Layout};
use v3d_sim::job::run::{End, run_job};
use v3d_sim::job::{Job, JobFolder};
use v3d_sim::memory::OwnedMemory;
use v3d_sim::{Config, V3d};

/// Frames with depth, stencil, clipping, lines, and with tile lists that exceed their memory.
const SCENES: [&str; 6] = ["gears", "stencil_mask", "clip_near", "lines_width", "overflow_bin_mem", "strip_fan"];

/// A device that runs a capture's first job.
struct Machine {
    device: V3d,
    memory: OwnedMemory,
    /// Binner memory that has not been supplied yet: address and bytes.
    spare: (u32, u32),
    /// The number of bytes supplied at once.
    chunk: u32,
    chunks: u32,
}

impl Machine {
    fn new(folder: &JobFolder, job: &Job) -> Self {
        let spare = job.overflow_memory.map_or((0, 0), |region| (region.address, region.size));
        let memory = folder.image(job).unwrap();
        Self { device: V3d::new(Config::default()), memory, spare, chunk: spare.1, chunks: 0 }
    }

    fn read<T: Layout>(&mut self, register: Register) -> T {
        T::from_word(self.device.read(&self.memory.view(), register.offset()))
    }

    /// Writes a register, and supplies memory to the binner as long as it requests more.
    fn write(&mut self, register: Register, value: u32) {
        self.device.write(&self.memory.view(), register.offset(), value);
        while self.read::<Intctl>(Register::INTCTL).int_outomem {
            let (address, left) = self.spare;
            assert!(left >= self.chunk, "the binner wants more than there is");
            self.spare = (address + self.chunk, left - self.chunk);
            self.chunks += 1;
            for (register, value) in [(Register::BPOA, address), (Register::BPOS, self.chunk), (Register::INTCTL, 4)] {
                self.device.write(&self.memory.view(), register.offset(), value);
            }
        }
    }

    /// The addresses behind the records of a list.
    fn ends(&self, start: u32, end: u32) -> Vec<u32> {
        let mut ends = Vec::new();
        let mut at = start;
        while at < end {
            let mut bytes = [0; MAX_RECORD_BYTES];
            self.memory.view().read(BusAddr(at), &mut bytes).unwrap();
            at += Record::decode(&bytes).unwrap().bytes() as u32;
            ends.push(at);
        }
        ends
    }

    fn assert_done(&mut self) {
        assert_eq!((self.read::<Bfc>(Register::BFC).bmfct, self.read::<Rfc>(Register::RFC).rmfct), (1, 1));
        assert_eq!(self.device.take_faults(), []);
    }
}

/// Runs each scene in a different way, and compares `part` of the memory with the result of the usual way.
fn check(way: impl Fn(&mut Machine, &Job), part: impl Fn(&JobFolder, &OwnedMemory) -> Vec<u8>) {
    for scene in SCENES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures").join(scene);
        let folder = JobFolder::open(&path).unwrap();
        let job = &folder.jobs()[0];
        let usual = folder.image(job).unwrap();
        assert_eq!(run_job(&mut V3d::new(Config::default()), usual.view(), job), End::Done);
        let mut machine = Machine::new(&folder, job);
        way(&mut machine, job);
        machine.assert_done();
        let (expected, found) = (part(&folder, &usual), part(&folder, &machine.memory));
        assert_ne!(expected, part(&folder, &folder.image(job).unwrap()), "{scene} draws nothing");
        let first = expected.iter().zip(&found).position(|(a, b)| a != b);
        assert_eq!(first, None, "{scene}: first byte that differs");
    }
}

fn everything(_: &JobFolder, memory: &OwnedMemory) -> Vec<u8> {
    memory.to_bytes()
}

fn picture(folder: &JobFolder, memory: &OwnedMemory) -> Vec<u8> {
    folder.picture(memory.view()).unwrap().rgba
}

#[test]
fn rendering_may_be_started_before_binning() {
    let way = |machine: &mut Machine, job: &Job| {
        machine.write(Register::CT1CA, job.render_ct1ca);
        machine.write(Register::CT1EA, job.render_ct1ea);
        assert_eq!(machine.read::<Rfc>(Register::RFC).rmfct, 0);
        machine.write(Register::CT0CA, job.bin_ct0ca);
        machine.write(Register::CT0EA, job.bin_ct0ea);
    };
    check(way, everything);
}

/// A driver may extend a list by writing CTnEA; here it does so after every record, alternately in both threads [AG p.85].
#[test]
fn lists_may_be_extended_record_by_record() {
    let way = |machine: &mut Machine, job: &Job| {
        machine.write(Register::CT0CA, job.bin_ct0ca);
        machine.write(Register::CT1CA, job.render_ct1ca);
        let binning = machine.ends(job.bin_ct0ca, job.bin_ct0ea);
        let rendering = machine.ends(job.render_ct1ca, job.render_ct1ea);
        assert!(binning.len() > 10 && rendering.len() > 10);
        for record in 0..binning.len().max(rendering.len()) {
            for (register, ends) in [(Register::CT0EA, &binning), (Register::CT1EA, &rendering)] {
                if let Some(end) = ends.get(record) {
                    machine.write(register, *end);
                }
            }
        }
    };
    check(way, everything);
}

/// The binner has room for the initial blocks of the tiles only, and behind the 8 KiB that it uses in any case it repeatedly receives one more block.
#[test]
fn tile_memory_may_come_in_the_smallest_portions() {
    let received = Cell::new(0);
    let way = |machine: &mut Machine, job: &Job| {
        let view = machine.memory.view();
        let size = BusAddr(job.bin_ct0ca + 5);
        let mut mode = [0; 16];
        view.read(BusAddr(job.bin_ct0ca), &mut mode).unwrap();
        let (width, height) = (u32::from(mode[13]), u32::from(mode[14]));
        // In these captures, initial blocks have 32 bytes and further blocks 128.
        view.write(size, &(32 * width * height).to_le_bytes()).unwrap();
        machine.chunk = 128;
        machine.write(Register::CT0CA, job.bin_ct0ca);
        machine.write(Register::CT0EA, job.bin_ct0ea);
        machine.write(Register::CT1CA, job.render_ct1ca);
        machine.write(Register::CT1EA, job.render_ct1ea);
        received.set(received.get() + machine.chunks);
    };
    check(way, picture);
    assert!(received.get() >= 16, "{} blocks", received.get());
}
