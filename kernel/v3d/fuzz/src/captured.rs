//! Captured jobs with their rights.
//!
//! A job may write the memory that its lists store to, and read all of its other memory.

use std::path::{Path, PathBuf};
use v3d::Job;
use v3d::hw::BusAddr;
use v3d::hw::control_list::{Record, TileBufferSelect};
use v3d::platform::GpuMemory;
use v3d::record_list::ControlList;
use v3d::validator::{self, Refusal, Rights, Span};
use v3d_sim::job::{JobFolder, Region};
use v3d_sim::memory::{Limits, OwnedMemory};
use v3d_sim::{Config, Fault, Memory, Register, V3d};

/// Captures of small frames with programs of all kinds.
const CAPTURES: [&str; 14] = [
    "tri_rgb_lt",
    "tex_cube",
    "uniform_array_vs_indirect",
    "loop_mandelbrot",
    "math_exp",
    "tex_mip_trilinear",
    "tex_etc1",
    "tex_npot_clamp",
    "lit_textured",
    "points_size",
    "lines_width",
    "stencil_mask",
    "discard_alpha",
    "msaa_tri",
];

/// Memory for generated data, after everything that a capture contains: a program, its uniforms, and what they look up.
const OWN: u32 = 0x100_0000;
/// Its size in bytes.
const OWN_BYTES: u32 = 0x6_0000;

/// The use of a buffer, which determines how it is mutated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Programs.
    Code,
    /// Binning list, shader records and uniforms.
    Binning,
    /// Rendering list.
    Rendering,
    /// Vertices, indices and textures.
    Data,
    /// Pictures and tile memory.
    Written,
    /// Generated data.
    Own,
}

/// A part of the job's memory.
#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    pub(crate) span: Span,
    pub(crate) what: Use,
    /// The captured contents, up to the last byte that is not 0.
    pub(crate) contents: Vec<u8>,
}

/// A captured job.
#[derive(Debug)]
pub(crate) struct Captured {
    pub(crate) name: String,
    memory: OwnedMemory,
    job: Job,
    overflow: Option<Region>,
    pub(crate) buffers: Vec<Buffer>,
    rights: Rights,
    limits: [Vec<std::ops::Range<u64>>; 2],
    /// Address of the fragment shader's part of the first shader record.
    pub(crate) record: BusAddr,
}

fn folder(name: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let captures = "tools/v3d-sim/tests/captures";
    let root = here.ancestors().find(|root| root.join(captures).is_dir()).expect("the captures are in the repository");
    root.join(captures).join(name)
}

/// Loads the captures.
pub(crate) fn load() -> Vec<Captured> {
    CAPTURES.iter().map(|name| Captured::load(name)).collect()
}

/// The records of a list.
fn records(memory: Memory<'_>, list: ControlList) -> Vec<Record> {
    let mut bytes = vec![0; (list.end_exclusive - list.start) as usize];
    memory.read(list.start, &mut bytes).expect("a capture's list is in its memory");
    let (mut records, mut at) = (Vec::new(), 0);
    while let Some(record) = bytes.get(at..).and_then(|rest| Record::decode(rest).ok()) {
        at += record.bytes();
        records.push(record);
    }
    records
}

impl Captured {
    fn load(name: &str) -> Self {
        let folder = JobFolder::open(&folder(name)).expect("a capture");
        let captured = folder.jobs().first().expect("a capture has a job");
        let memory = folder.image(captured).expect("a capture has memory");
        let list = |start, end| ControlList { start: BusAddr(start), end_exclusive: BusAddr(end) };
        let job = Job {
            binning: captured.has_bin.then(|| list(captured.bin_ct0ca, captured.bin_ct0ea)),
            rendering: list(captured.render_ct1ca, captured.render_ct1ea),
        };
        let binning = job.binning.map_or_else(Vec::new, |list| records(memory.view(), list));
        let mut written: Vec<BusAddr> = records(memory.view(), job.rendering)
            .iter()
            .filter_map(|record| match record {
                Record::TileRenderingMode(mode) => Some(mode.address),
                Record::StoreGeneral(store) if store.buffer != TileBufferSelect::None => Some(store.address.0),
                Record::StoreFullResolution(store) => Some(store.address.0),
                _ => None,
            })
            .collect();
        written.extend(binning.iter().filter_map(|record| match record {
            Record::TileBinningMode(mode) => Some(mode.tile_state),
            _ => None,
        }));
        let record = binning
            .iter()
            .find_map(|record| match record {
                Record::GlShaderState(state) => Some(state.address.0),
                _ => None,
            })
            .unwrap_or_default();
        let mut buffers: Vec<Buffer> = captured
            .buffers
            .iter()
            .map(|buffer| {
                let span = Span { address: BusAddr(buffer.address), bytes: buffer.size };
                let is_written = written.iter().any(|address| (*address - span.address) < span.bytes);
                let holds = |list: ControlList| (list.start - span.address) < span.bytes;
                let what = match buffer.kind.as_str() {
                    _ if is_written => Use::Written,
                    "shader" => Use::Code,
                    _ if job.binning.is_some_and(holds) => Use::Binning,
                    _ if holds(job.rendering) => Use::Rendering,
                    _ => Use::Data,
                };
                let mut contents = vec![0; span.bytes as usize];
                memory.view().read(span.address, &mut contents).expect("a capture's buffers are in its memory");
                let used = contents.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
                contents.truncate(used);
                Buffer { span, what, contents }
            })
            .collect();
        let own = Span { address: BusAddr(OWN), bytes: OWN_BYTES };
        buffers.push(Buffer { span: own, what: Use::Own, contents: Vec::new() });
        let spans = |is_written: bool| -> Vec<Span> {
            let chosen = buffers.iter().filter(|buffer| (buffer.what == Use::Written) == is_written);
            chosen.map(|buffer| buffer.span).collect()
        };
        let (readable, mut writable) = (spans(false), spans(true));
        let rights = Rights::new(&readable, &writable).expect("a capture's buffers are apart");
        // The driver gives this memory to the binner.
        writable.extend(
            captured.overflow_memory.map(|region| Span { address: BusAddr(region.address), bytes: region.size }),
        );
        let range = |span: &Span| u64::from(span.address.offset())..u64::from(span.address.offset() + span.bytes);
        let limits = [readable, writable].map(|spans| spans.iter().map(range).collect());
        let overflow = captured.overflow_memory;
        Self { name: name.to_owned(), memory, job, overflow, buffers, rights, limits, record }
    }

    /// Changes bytes of the job's memory.
    pub(crate) fn store(&mut self, address: BusAddr, bytes: &[u8]) {
        self.memory.view().write(address, bytes).expect("what is changed belongs to the job");
    }

    /// Changes a word.
    pub(crate) fn store_word(&mut self, address: BusAddr, word: u32) {
        self.store(address, &word.to_le_bytes());
    }

    /// A word of the job's memory.
    pub(crate) fn word(&self, address: BusAddr) -> u32 {
        self.memory.view().word(address).unwrap_or(0)
    }

    /// Memory for what is generated.
    pub(crate) fn own(&self) -> Span {
        Span { address: BusAddr(OWN), bytes: OWN_BYTES }
    }

    /// Restores the captured contents.
    pub(crate) fn restore(&mut self) {
        let zeros = [0; 4096];
        for buffer in &self.buffers {
            let Buffer { span, contents, .. } = buffer;
            let memory = self.memory.view();
            let put = |at: u32, bytes: &[u8]| {
                memory.write(span.address + at, bytes).expect("a capture's buffers are in its memory");
            };
            put(0, contents);
            let mut at = contents.len() as u32;
            while at < span.bytes {
                let part = (span.bytes - at).min(zeros.len() as u32);
                put(at, &zeros[..part as usize]);
                at += part;
            }
        }
    }

    /// The validator's verdict.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        validator::check(self, &self.rights, &self.job)
    }

    /// Runs the job in a memory that contains only its own parts.
    pub(crate) fn run(&self) -> Vec<Fault> {
        let [readable, writable] = &self.limits;
        let limits = Limits::new(self.memory.view(), readable, writable);
        let memory = Memory::limited(&limits);
        let config =
            Config { instruction_budget: 3_000_000, record_budget: 100_000, parallel: false, ..Config::default() };
        let mut device = V3d::new(config);
        let mut write = |register: Register, value: u32| device.write(&memory, register.offset(), value);
        write(Register::VPMBASE, 16);
        if let Some(binning) = self.job.binning {
            write(Register::CT0CA, binning.start.0);
            write(Register::CT0EA, binning.end_exclusive.0);
        }
        write(Register::CT1CA, self.job.rendering.start.0);
        write(Register::CT1EA, self.job.rendering.end_exclusive.0);
        // Used if the binner runs out of memory; otherwise ignored.
        if let Some(overflow) = self.overflow {
            write(Register::BPOA, overflow.address);
            write(Register::BPOS, overflow.size);
        }
        device.take_faults()
    }
}

impl GpuMemory for Captured {
    fn base(&self) -> BusAddr {
        BusAddr(0)
    }

    fn bytes(&self) -> u32 {
        self.memory.view().bytes() as u32
    }

    fn store(&self, _offset: u32, _bytes: &[u8]) {
        panic!("the validator writes to memory");
    }

    fn load(&self, offset: u32, bytes: &mut [u8]) {
        self.memory.view().read(BusAddr(offset), bytes).expect("the validator asks for what is there");
    }
}
