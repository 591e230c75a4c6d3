//! Dumps: all lists, records, shaders, uniform streams and tile lists of a job in words, field by field.
//!
//! The text starts with the lists of both threads and continues with what they refer to: sub-lists in the order of their calls, then shader records, then
//! programs, each with the uniforms that it reads. Everything has its address, so that pointers can be followed. Tile lists exist only in memory to which the
//! binner has written.

mod list;
mod program;
mod shader;

use crate::job::Job;
use crate::job::names::Names;
use crate::memory::Memory;
use crate::state::PipelineState;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::{self, Write};
use v3d_hw::control_list::{PrimitiveListFormat, TileRenderingMode};
use v3d_hw::registers::Thread;
use v3d_hw::{BusAddr, Field};

/// Maximum number of records in a dump; endless lists are cut off there.
const RECORD_BUDGET: u64 = 1_000_000;

/// Dumps the lists of a job, and all that they lead to.
pub fn job<'a>(job: &'a Job, memory: Memory<'a>) -> String {
    let mut dump = Dump::new(memory, Names::new(&job.names));
    dump.buffers(job);
    if job.has_bin {
        dump.main_list(Thread::Binning, job.bin_ct0ca, job.bin_ct0ea);
    }
    if job.render_ct1ca != job.render_ct1ea {
        dump.main_list(Thread::Rendering, job.render_ct1ca, job.render_ct1ea);
    }
    for user in &job.user_programs {
        dump.programs.entry(user.pc).or_default().add("user program", user.uniforms);
    }
    dump.sub_lists();
    dump.shader_records();
    dump.programs();
    dump.out
}

/// A survey of a job's lists.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Survey {
    /// Draw records: of thread 0, or of thread 1 if nothing is binned.
    pub draws: u64,
    /// Vertices or indices of those.
    pub vertices: u64,
    /// Bytes of all lists, each counted once.
    pub list_bytes: u64,
    /// Bytes of each tile's list, with the blocks that it continues in, by column and row.
    pub tile_list_bytes: BTreeMap<(u8, u8), u64>,
    /// The kinds of the programs, by address.
    pub program_kinds: BTreeMap<u32, BTreeSet<&'static str>>,
    /// Rendering mode of thread 1.
    pub rendering_mode: Option<TileRenderingMode>,
}

/// Surveys the lists of a job, in the memory after the job.
pub fn survey(job: &Job, memory: Memory<'_>) -> Survey {
    let mut dump = Dump::new(memory, Names::default());
    if job.has_bin {
        dump.main_list(Thread::Binning, job.bin_ct0ca, job.bin_ct0ea);
        dump.sub_lists();
    }
    // Thread 1 repeats thread 0's draws in each tile.
    let binned = (dump.survey.draws, dump.survey.vertices);
    if job.render_ct1ca != job.render_ct1ea {
        dump.main_list(Thread::Rendering, job.render_ct1ca, job.render_ct1ea);
    }
    for user in &job.user_programs {
        dump.programs.entry(user.pc).or_default().add("user program", user.uniforms);
    }
    dump.sub_lists();
    dump.shader_records();
    let kinds = |uses: ProgramUses| uses.uses.into_iter().map(|(kind, _)| kind).collect();
    let program_kinds = std::mem::take(&mut dump.programs).into_iter().map(|(at, uses)| (at, kinds(uses))).collect();
    let (draws, vertices) = if job.has_bin { binned } else { (dump.survey.draws, dump.survey.vertices) };
    Survey { draws, vertices, program_kinds, ..dump.survey }
}

/// A name behind what it is of, if there is one.
fn named(name: Option<&str>) -> String {
    name.map_or_else(String::new, |name| format!(", {name:?}"))
}

/// A sub-list that is not yet in the dump.
#[derive(Debug)]
struct SubList {
    at: u32,
    /// Column and row of the tile that calls it.
    tile: Option<(u8, u8)>,
    /// Format of compressed lists at the call.
    format: PrimitiveListFormat,
}

/// A program of a shader record.
#[derive(Debug, Default)]
struct ProgramUses {
    /// Kind of shader, and address of its uniforms.
    uses: BTreeSet<(&'static str, u32)>,
}

impl ProgramUses {
    fn add(&mut self, kind: &'static str, uniforms: u32) {
        self.uses.insert((kind, uniforms));
    }
}

/// A dump in progress.
#[derive(Debug)]
struct Dump<'a> {
    memory: Memory<'a>,
    names: Names<'a>,
    out: String,
    budget: u64,
    sub_lists: VecDeque<SubList>,
    seen_lists: BTreeSet<u32>,
    shader_records: BTreeMap<u32, shader::Mode>,
    /// Maximum number of vertices that the draws with each GL shader record read, by its address.
    vertices: BTreeMap<u32, u32>,
    programs: BTreeMap<u32, ProgramUses>,
    survey: Survey,
}

impl<'a> Dump<'a> {
    fn new(memory: Memory<'a>, names: Names<'a>) -> Self {
        Self {
            memory,
            names,
            out: String::new(),
            budget: RECORD_BUDGET,
            sub_lists: VecDeque::new(),
            seen_lists: BTreeSet::new(),
            shader_records: BTreeMap::new(),
            vertices: BTreeMap::new(),
            programs: BTreeMap::new(),
            survey: Survey::default(),
        }
    }

    /// Adds a line.
    fn line(&mut self, text: fmt::Arguments<'_>) {
        // Writing to a string never fails.
        let _ = writeln!(self.out, "{text}");
    }

    fn title(&mut self, text: fmt::Arguments<'_>) {
        self.line(format_args!("\n== {text} =="));
    }

    /// Adds a line for each field of a table: bits (bit 0 is the lowest behind a record's code), name, value, meaning.
    fn fields(&mut self, fields: &[Field], bits: u128) {
        for field in fields {
            let value = field.meaning(bits).to_string();
            let place = match field.width() {
                1 => field.lo.to_string(),
                _ => format!("{}:{}", field.hi, field.lo),
            };
            self.line(format_args!("        {place:>7} {:22} {value:26} {}", field.name, field.doc.trim()));
        }
    }

    fn buffers(&mut self, job: &Job) {
        if job.buffers.is_empty() {
            return;
        }
        self.title(format_args!("memory of the job"));
        let mut buffers = job.buffers.clone();
        buffers.sort_by_key(|buffer| buffer.address);
        for buffer in buffers {
            let end = BusAddr(buffer.address) + buffer.size;
            self.line(format_args!("{} .. {end}  {}", BusAddr(buffer.address), buffer.kind));
        }
    }

    fn main_list(&mut self, thread: Thread, start: u32, end: u32) {
        let (number, kind) = match thread {
            Thread::Binning => (0, "binning"),
            Thread::Rendering => (1, "rendering"),
        };
        let name = named(self.names.pass(BusAddr(start)));
        self.title(format_args!("thread {number}: {kind} list, {} .. {}{name}", BusAddr(start), BusAddr(end)));
        self.survey.list_bytes += self.list(BusAddr(start), Some(BusAddr(end)), PipelineState::default());
    }

    fn sub_lists(&mut self) {
        while let Some(SubList { at, tile, format }) = self.sub_lists.pop_front() {
            let at = BusAddr(at);
            match tile {
                Some((column, row)) => {
                    self.title(format_args!("sub-list at {at} (tile column {column}, row {row})"));
                }
                None => self.title(format_args!("sub-list at {at}")),
            }
            let bytes = self.list(at, None, PipelineState { list_format: format, ..PipelineState::default() });
            self.survey.list_bytes += bytes;
            if let Some(tile) = tile {
                *self.survey.tile_list_bytes.entry(tile).or_default() += bytes;
            }
        }
    }

    fn shader_records(&mut self) {
        for (at, record) in std::mem::take(&mut self.shader_records) {
            self.shader_record(BusAddr(at), &record);
        }
    }

    fn programs(&mut self) {
        for (at, uses) in std::mem::take(&mut self.programs) {
            self.program(BusAddr(at), &uses);
        }
    }
}
