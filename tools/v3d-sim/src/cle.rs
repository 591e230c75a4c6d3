//! Control list executor: two threads that read control lists.
//!
//! Thread 0 executes binning lists and feeds the PTB, thread 1 rendering lists and feeds the renderer. A thread runs from its current address to its
//! end address, through branches and sub-lists; it stops at a Halt and at an error. Moving the end address lets a thread that has reached it
//! continue. The threads synchronise by counting semaphores: an increment reaches the other thread once the tile lists are flushed, or the frame is
//! complete.
//!
//! Here a thread runs as soon and as far as it can, thread 0 first: to its end, to a semaphore, or until the PTB needs memory.
//!
//! # The end address
//! A thread runs until its current address "exactly matches" its end address [AG p.62]. That holds wherever it is: a board's thread entered the index data of
//! an Indexed Primitive List like a sub-list, and where the data began at the end address, it stopped there for good, without any error bit, and with a
//! return address and one level of nesting in its registers [rpi-hal src/v3d.rs]. Here it stops the same way, and where a sub-list or what follows in it
//! begins at the end address; both are reported. Whether it stops at an end address *within* index data is not known: that is reported, and the thread goes
//! on.
//!
//! # What the guide leaves open
//! - The return stack: the control record allows two levels, the register shows one address [AG p.66, p.86]. Here there are two levels, and the
//!   register shows the last.
//! - After an error a thread is "stopped at end" with CTERR set, so that a new end address starts it.
//!
//! A list that never ends would keep a real thread running for ever. Here it is reported after a budget of records or instructions, and the thread
//! remains "running" without doing anything, until it is reset.
//!
//! # Sources
//! [AG p.62-66], [AG p.85-87].

mod index_data;
mod registers;

pub use crate::fault::list::{CleError, CleFault};

use crate::binning::primitive_assembly::{Assembly, Fan};
use crate::binning::primitive_list::{self, ListFault, Primitive};
use crate::binning::ptb::{self, Progress, Ptb};
use crate::binning::vcm::{self, VertexShader, VertexStage};
use crate::counters::Counters;
use crate::device::supervision::Supervision;
use crate::fault::FaultLog;
use crate::memory::{Memory, OutOfMemory};
use crate::qpu::{CodeCache, CodeSize};
use crate::render::pixel_trace::PixelTrace;
use crate::render::{self, Renderer};
use crate::state::{PipelineState, ShaderRecords};
use crate::vpm::allocator::{AllocationError, Allocator};
use index_data::IndexData;
use std::sync::Arc;
use v3d_hw::BusAddr;
use v3d_hw::control_list::{
    ClippedPrimitive, ControlRecord, DrawRecord, Lists, MAX_RECORD_BYTES, PrimitiveListFormat, Record, RecordGroup,
    StateRecord, TileRecord,
};
use v3d_hw::primitive_list::ListDataType;
use v3d_hw::registers::Thread;

/// Maximum depth of sub-lists.
const MAX_NESTING: usize = 2;
/// Maximum of a semaphore, which has 3 bits in CTnCS.
const MAX_SEMAPHORE: u8 = 7;
/// Number of vertices of its own list's primitives that thread 1 passes to the renderer at a time.
const CHUNK_VERTICES: u64 = 12_288;

/// Whether a thread runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Run {
    StoppedAtEnd,
    StoppedAtHalt,
    Running,
    /// Waiting at a semaphore.
    Waiting,
    /// Running, but out of budget.
    Hung,
}

/// Result of one step of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// On to the next record.
    Next,
    /// The thread waits or has stopped.
    Blocked,
}

/// One thread of the executor.
#[derive(Debug)]
struct ListThread {
    current: BusAddr,
    end: BusAddr,
    returns: Vec<BusAddr>,
    /// The index data that it has entered, like a sub-list.
    indices: Option<IndexData>,
    run: Run,
    error: bool,
    /// A program that has not ended keeps its QPU, until the V3D is reset as a whole.
    is_stuck: bool,
    semaphore: u8,
    /// Increments of the other thread's semaphore that are delayed to the end of the frame.
    increments: u8,
    flushes: u16,
    sub_lists: u16,
    state: Arc<PipelineState>,
    records: ShaderRecords,
    fan: Fan,
    records_left: u64,
    instructions_left: u64,
}

impl ListThread {
    fn new() -> Self {
        Self {
            current: BusAddr(0),
            end: BusAddr(0),
            returns: Vec::with_capacity(MAX_NESTING),
            indices: None,
            run: Run::StoppedAtEnd,
            error: false,
            is_stuck: false,
            semaphore: 0,
            increments: 0,
            flushes: 0,
            sub_lists: 0,
            state: Arc::default(),
            records: ShaderRecords::default(),
            fan: Fan::default(),
            records_left: 0,
            instructions_left: 0,
        }
    }

    fn is_running(&self) -> bool {
        matches!(self.run, Run::Running | Run::Waiting | Run::Hung)
    }
}

/// Memory, counters and faults for the executor.
#[derive(Debug)]
pub struct Context<'a> {
    /// Guest memory.
    pub memory: Memory<'a>,
    /// Events are added here.
    pub counters: &'a mut Counters,
    /// Faults are reported here.
    pub faults: &'a mut FaultLog,
    /// How far the lists are, and whether one is to stop.
    pub supervision: &'a Supervision,
}

/// The budget of one start of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Control records, and items of compressed lists.
    pub records: u64,
    /// QPU instructions.
    pub instructions: u64,
}

/// Events since the last [`Cle::take_events`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Events {
    /// Binning flushes done.
    pub flushes: u32,
    /// Frames rendered.
    pub frames: u32,
    /// The binner has taken overspill memory.
    pub spill_used: bool,
    /// The last request that the VPM allocator has refused.
    pub refused: Option<AllocationError>,
}

/// The control list executor, with the units that it drives.
#[derive(Debug)]
pub struct Cle {
    threads: [ListThread; 2],
    /// The binner.
    pub ptb: Ptb,
    /// Accounts for the rows of the VPM.
    pub allocator: Allocator,
    renderer: Renderer,
    /// Trace of the watched pixel.
    pub pixel_trace: PixelTrace,
    code: CodeCache,
    budget: Budget,
    render: render::Config,
    out_of_memory: bool,
    in_frame: bool,
    events: Events,
    /// Room for the primitives of a compressed list.
    primitives: Vec<Primitive>,
}

impl Cle {
    /// An executor just after reset.
    pub fn new(budget: Budget, render: render::Config) -> Self {
        Self {
            threads: [ListThread::new(), ListThread::new()],
            ptb: Ptb::default(),
            allocator: Allocator::default(),
            renderer: Renderer::new(render),
            pixel_trace: PixelTrace::default(),
            code: CodeCache::for_engine(render.engine),
            budget,
            render,
            out_of_memory: false,
            in_frame: false,
            events: Events::default(),
            primitives: Vec::new(),
        }
    }

    const fn thread(&self, thread: Thread) -> &ListThread {
        &self.threads[thread as usize]
    }

    const fn thread_mut(&mut self, thread: Thread) -> &mut ListThread {
        &mut self.threads[thread as usize]
    }

    /// Takes the events since the last call.
    pub fn take_events(&mut self) -> Events {
        std::mem::take(&mut self.events)
    }

    /// Whether the binner waits for memory: BMOOM, and the level behind OUTOMEM.
    pub const fn is_out_of_memory(&self) -> bool {
        self.out_of_memory
    }

    /// Whether the pipeline of a thread is in use, and whether it makes progress.
    pub fn activity(&self, thread: Thread) -> (bool, bool) {
        let list = self.thread(thread);
        let in_use = match thread {
            Thread::Binning => self.ptb.is_binning(),
            Thread::Rendering => self.in_frame,
        };
        let stalled = list.run == Run::Waiting || (thread == Thread::Binning && self.out_of_memory);
        let active = list.is_running() || in_use;
        (active, list.is_running() && !stalled)
    }

    /// Why a thread makes no progress, in words; `None` if it has finished.
    pub fn stall(&self, thread: Thread) -> Option<String> {
        let list = self.thread(thread);
        let (number, at) = (thread as u8, list.current);
        let in_use = match thread {
            Thread::Binning => self.ptb.is_binning(),
            Thread::Rendering => self.in_frame,
        };
        if let Some(IndexData { record, .. }) = self.stopped_at_indices(thread) {
            let why = "where the index data of the record at";
            return Some(format!("thread {number} has stopped at its end address, {at}, {why} {record} begins"));
        }
        Some(match list.run {
            Run::Waiting => {
                let other = 1 - number;
                let coming = match self.threads.get(usize::from(other)) {
                    Some(other) if other.increments > 0 => ", which it does at the end of its frame",
                    _ => "",
                };
                format!("thread {number} at {at} waits for thread {other} to raise its semaphore{coming}")
            }
            Run::Running if thread == Thread::Binning && self.out_of_memory => {
                format!("thread {number} at {at} waits for memory for tile lists")
            }
            Run::Running | Run::Hung => format!("thread {number} at {at} does not get on"),
            Run::StoppedAtHalt => format!("thread {number} has come to the Halt before {at}"),
            Run::StoppedAtEnd if list.error => format!("thread {number} has been stopped by the record at {at}"),
            Run::StoppedAtEnd if in_use => match thread {
                Thread::Binning => format!("thread {number} is at its end, but has not flushed its tile lists"),
                Thread::Rendering => format!("thread {number} is at its end, but its frame has not ended"),
            },
            Run::StoppedAtEnd => return None,
        })
    }

    /// How much host code the programs of both threads have been translated to.
    pub fn code_size(&self) -> CodeSize {
        self.code.code_size() + self.renderer.code_size()
    }

    /// Invalidates decoded programs.
    pub fn clear_code(&mut self) {
        self.code.clear();
        self.renderer.clear_code();
    }

    /// Offers overspill memory: BPOS was written.
    pub const fn memory_offered(&mut self) {
        self.out_of_memory = false;
    }

    /// Whether a thread has something to execute, at this moment.
    pub fn is_runnable(&self) -> bool {
        [Thread::Binning, Thread::Rendering].into_iter().any(|thread| match self.thread(thread).run {
            Run::Running => thread == Thread::Rendering || !self.out_of_memory,
            Run::Waiting => self.thread(thread).semaphore > 0,
            Run::StoppedAtEnd | Run::StoppedAtHalt | Run::Hung => false,
        })
    }

    /// Runs both threads as far as they can.
    pub fn run(&mut self, context: &mut Context<'_>) {
        loop {
            let binning = self.run_thread(Thread::Binning, context);
            let rendering = self.run_thread(Thread::Rendering, context);
            if !binning && !rendering {
                return;
            }
        }
    }

    /// Runs one thread as far as it can; whether it has made progress.
    fn run_thread(&mut self, thread: Thread, context: &mut Context<'_>) -> bool {
        let mut moved = false;
        while matches!(self.thread(thread).run, Run::Running | Run::Waiting) && self.step(thread, context) == Step::Next
        {
            moved = true;
        }
        moved
    }

    fn step(&mut self, thread: Thread, context: &mut Context<'_>) -> Step {
        context.supervision.reach(thread, self.thread(thread).current);
        if context.supervision.is_stopped(thread) {
            self.thread_mut(thread).run = Run::Hung;
            return Step::Blocked;
        }
        if thread == Thread::Binning && self.ptb.is_working() && !self.advance_ptb(context) {
            return Step::Blocked;
        }
        let list = self.thread_mut(thread);
        let at = list.current;
        if at == list.end {
            if !list.returns.is_empty() {
                context.faults.report(CleFault { thread, at, error: CleError::EndInSubList });
            }
            self.stop(thread, Run::StoppedAtEnd, context);
            return Step::Blocked;
        }
        if list.records_left == 0 || list.instructions_left == 0 {
            list.run = Run::Hung;
            let error = if list.is_stuck { CleError::Stuck } else { CleError::Endless };
            list.is_stuck |= list.instructions_left == 0;
            context.faults.report(CleFault { thread, at, error });
            return Step::Blocked;
        }
        list.records_left -= 1;
        match self.execute(thread, at, context) {
            Ok(step) => step,
            Err(error) => {
                context.faults.report(CleFault { thread, at, error });
                let list = self.thread_mut(thread);
                list.error = true;
                // CTnCA shows the record with the error.
                list.current = at;
                self.stop(thread, Run::StoppedAtEnd, context);
                Step::Blocked
            }
        }
    }

    /// Stops a thread; primitives that thread 1 has collected are rendered first.
    fn stop(&mut self, thread: Thread, run: Run, context: &mut Context<'_>) {
        if thread == Thread::Rendering {
            self.render(context, |renderer, context| renderer.finish(context));
        }
        let list = self.thread_mut(thread);
        if list.run != Run::Hung {
            list.run = run;
        }
    }

    /// Lets the PTB continue; `false` if it still waits for memory.
    fn advance_ptb(&mut self, context: &mut Context<'_>) -> bool {
        let was_binning = self.ptb.is_binning();
        let list = &mut self.threads[Thread::Binning as usize];
        let mut ptb_context = ptb::Context {
            memory: context.memory,
            code: &self.code,
            counters: context.counters,
            faults: context.faults,
            instructions: &mut list.instructions_left,
            vertices: &mut list.records_left,
            supervision: context.supervision,
            parallel: self.render.parallel,
            undefined: self.render.undefined,
            watched: self.render.watched,
            pixel_trace: &mut self.pixel_trace,
        };
        let progress = self.ptb.advance(&mut ptb_context);
        self.events.spill_used |= self.ptb.take_spill_used();
        if progress == Progress::OutOfMemory {
            self.out_of_memory = true;
            return false;
        }
        if was_binning && !self.ptb.is_binning() {
            self.events.flushes += 1;
            self.deliver_increments(Thread::Binning, context.faults);
        }
        true
    }

    /// Runs a function of the renderer, and counts the frames that it completes.
    fn render<R>(
        &mut self,
        context: &mut Context<'_>,
        f: impl FnOnce(&mut Renderer, &mut render::Context<'_>) -> R,
    ) -> R {
        let list = &mut self.threads[Thread::Rendering as usize];
        let mut render_context = render::Context {
            memory: context.memory,
            counters: context.counters,
            faults: context.faults,
            budget: &mut list.instructions_left,
            supervision: context.supervision,
        };
        let result = f(&mut self.renderer, &mut render_context);
        self.pixel_trace.append(self.renderer.take_pixel_trace());
        let frames = self.renderer.take_frames();
        if list.instructions_left == 0 {
            // A QPU that does not end keeps its tile, so the frame does not end.
            list.run = Run::Hung;
            list.is_stuck = true;
            return result;
        }
        if frames > 0 {
            self.events.frames += frames;
            self.in_frame = false;
            self.deliver_increments(Thread::Rendering, context.faults);
        }
        result
    }

    /// Delivers the increments that were delayed to the end of a thread's frame.
    fn deliver_increments(&mut self, thread: Thread, faults: &mut FaultLog) {
        let list = self.thread_mut(thread);
        let at = list.current;
        let increments = std::mem::take(&mut list.increments);
        let other = match thread {
            Thread::Binning => Thread::Rendering,
            Thread::Rendering => Thread::Binning,
        };
        let sum = self.thread(other).semaphore.saturating_add(increments);
        if sum > MAX_SEMAPHORE {
            faults.report(CleFault { thread, at, error: CleError::Semaphore });
        }
        self.thread_mut(other).semaphore = sum.min(MAX_SEMAPHORE);
    }

    fn execute(&mut self, thread: Thread, at: BusAddr, context: &mut Context<'_>) -> Result<Step, CleError> {
        let (bytes, record) = read_record(context.memory, at)?;
        let info = record.info();
        match (info.lists, thread) {
            (Lists::Both, _) | (Lists::Binning, Thread::Binning) | (Lists::Rendering, Thread::Rendering) => {}
            _ => return Err(CleError::WrongList(info.name)),
        }
        let next = at + info.bytes as u32;
        let list = self.thread_mut(thread);
        // Done first, so that the thread shows the next record if it stops here.
        list.current = next;
        list.indices = None;
        match record.group() {
            RecordGroup::Control(control) => self.execute_control(thread, at, next, control, context),
            RecordGroup::State(state) => self.set_state(thread, at, state, bytes, context).map(|()| Step::Next),
            RecordGroup::Draw(draw) => self.draw(thread, at, next, draw, context),
            RecordGroup::Tile(tile) => {
                self.in_frame |= matches!(tile, TileRecord::TileCoordinates(_));
                self.render(context, |renderer, context| renderer.record(at, tile, context));
                Ok(Step::Next)
            }
        }
    }

    /// A record that the executor itself executes, or that controls the PTB. `next` is the address behind the record.
    fn execute_control(
        &mut self,
        thread: Thread,
        at: BusAddr,
        next: BusAddr,
        record: ControlRecord,
        context: &mut Context<'_>,
    ) -> Result<Step, CleError> {
        match record {
            ControlRecord::Nop => {}
            ControlRecord::Halt => {
                self.stop(thread, Run::StoppedAtHalt, context);
                return Ok(Step::Blocked);
            }
            ControlRecord::Branch(branch) => self.thread_mut(thread).current = branch.address,
            ControlRecord::BranchToSubList(branch) => {
                let list = self.thread_mut(thread);
                if list.returns.len() >= MAX_NESTING {
                    return Err(CleError::Nesting);
                }
                list.returns.push(next);
                list.current = branch.address;
            }
            ControlRecord::ReturnFromSubList => {
                let list = self.thread_mut(thread);
                list.sub_lists = list.sub_lists.wrapping_add(1);
                if let Some(address) = list.returns.pop() {
                    list.current = address;
                }
            }
            ControlRecord::IncrementSemaphore => {
                let list = self.thread_mut(thread);
                list.increments = list.increments.saturating_add(1);
                let in_frame = match thread {
                    Thread::Binning => self.ptb.is_binning(),
                    Thread::Rendering => self.in_frame,
                };
                if !in_frame {
                    if thread == Thread::Rendering {
                        self.render(context, |renderer, context| renderer.finish(context));
                    }
                    self.deliver_increments(thread, context.faults);
                }
            }
            ControlRecord::WaitOnSemaphore => return Ok(self.wait(thread, at, context)),
            ControlRecord::Flush | ControlRecord::FlushAllState => {
                let list = self.thread_mut(thread);
                list.flushes = list.flushes.wrapping_add(1);
                self.ptb.flush(at, record == ControlRecord::FlushAllState, context.faults);
            }
            ControlRecord::StartTileBinning => self.ptb.start(),
            ControlRecord::TileBinningMode(ref mode) => {
                // Each tile counts, so that a list that configures binning in an endless loop exhausts its budget.
                let tiles = u64::from(mode.width_tiles) * u64::from(mode.height_tiles);
                let list = self.thread_mut(thread);
                list.records_left = list.records_left.saturating_sub(tiles);
                self.ptb.configure(at, mode, context.memory, context.faults);
            }
        }
        Ok(Step::Next)
    }

    /// A record that draws. `next` is the address behind its fixed part.
    fn draw(
        &mut self,
        thread: Thread,
        at: BusAddr,
        next: BusAddr,
        record: DrawRecord,
        context: &mut Context<'_>,
    ) -> Result<Step, CleError> {
        match record {
            DrawRecord::IndexedPrimitiveList(ref data) => return self.draw_indexed(thread, at, next, data, context),
            DrawRecord::VertexArrayPrimitives(ref data) => {
                self.assemble(thread, at, Assembly::array(data)?, context)?;
            }
            DrawRecord::VgCoordinateArray(ref data) => {
                let assembly = Assembly::coordinates(data, self.thread(thread).fan)?;
                self.assemble(thread, at, assembly, context)?;
            }
            DrawRecord::VgInline(ref data) => {
                let mut assembly = Assembly::inline(data, next, self.thread(thread).fan)?;
                let records = self.thread(thread).records_left;
                let end = assembly.measure_inline(context.memory, records)?.ok_or(ListFault::Endless { at })?;
                self.thread_mut(thread).current = end;
                self.assemble(thread, at, assembly, context)?;
            }
            DrawRecord::CompressedPrimitiveList => self.draw_compressed(at, next, None, context)?,
            DrawRecord::ClippedPrimitive(clipped) => self.draw_compressed(at, next, Some(clipped), context)?,
        }
        Ok(Step::Next)
    }

    /// Wait on Semaphore: decrements it, or stays at the record.
    fn wait(&mut self, thread: Thread, at: BusAddr, context: &mut Context<'_>) -> Step {
        if self.thread(thread).run == Run::Running && thread == Thread::Rendering {
            self.render(context, |renderer, context| renderer.finish(context));
        }
        let list = self.thread_mut(thread);
        if let Some(left) = list.semaphore.checked_sub(1) {
            list.semaphore = left;
            list.run = Run::Running;
            return Step::Next;
        }
        // Another attempt is not another record.
        list.records_left += 1;
        list.current = at;
        list.run = Run::Waiting;
        Step::Blocked
    }

    /// State belongs to the thread that sets it; in binning it is also written to tile lists.
    fn set_state(
        &mut self,
        thread: Thread,
        at: BusAddr,
        record: StateRecord,
        bytes: [u8; MAX_RECORD_BYTES],
        context: &mut Context<'_>,
    ) -> Result<(), CleError> {
        let list = &mut self.threads[thread as usize];
        Arc::make_mut(&mut list.state).apply(record, context.memory, &mut list.records)?;
        if thread == Thread::Binning {
            self.ptb.set_state(at, record, bytes, context.faults);
        }
        Ok(())
    }

    /// Passes assembled primitives to the PTB, or straight to the renderer.
    fn assemble(
        &mut self,
        thread: Thread,
        at: BusAddr,
        assembly: Assembly,
        context: &mut Context<'_>,
    ) -> Result<(), CleError> {
        let state = Arc::clone(&self.thread(thread).state);
        self.allocate(thread, at, &state, context.faults);
        match thread {
            Thread::Binning => {
                let limit = self.thread(thread).records_left;
                self.thread_mut(thread).fan = assembly.fan_at_end(context.memory, limit)?.ok_or(CleError::Endless)?;
                self.ptb.draw(at, assembly, state, context.faults);
                Ok(())
            }
            Thread::Rendering => self.draw_directly(at, assembly, &state, context),
        }
    }

    /// Checks that the VPM has room for the batches of a draw. Without it the hardware would be stuck; here the draw continues.
    fn allocate(&mut self, thread: Thread, at: BusAddr, state: &PipelineState, faults: &mut FaultLog) {
        let Some(shader) = VertexShader::of(state.shader.as_ref()) else { return };
        let stage = match thread {
            Thread::Binning => VertexStage::Coordinate,
            Thread::Rendering => VertexStage::Vertex,
        };
        if let Err(error) = self.allocator.check(thread, vcm::rows_needed(shader, stage)) {
            self.events.refused = Some(error);
            faults.report(CleFault { thread, at, error: error.into() });
        }
    }

    fn draw_directly(
        &mut self,
        at: BusAddr,
        mut assembly: Assembly,
        state: &Arc<PipelineState>,
        context: &mut Context<'_>,
    ) -> Result<(), CleError> {
        let thread = Thread::Rendering;
        let data_type = if assembly.is_coordinates() { ListDataType::Xy } else { ListDataType::Index24 };
        let format = PrimitiveListFormat { data_type, primitive: assembly.primitive() };
        while !assembly.is_done() {
            let list = self.thread_mut(thread);
            let chunk = CHUNK_VERTICES.min(list.records_left);
            if chunk == 0 {
                return Err(CleError::Endless);
            }
            list.records_left -= chunk;
            let mut vertices = Vec::new();
            let faults = &mut *context.faults;
            assembly.take(context.memory, chunk, &mut vertices, |fault| {
                faults.report(CleFault { thread, at, error: fault.into() });
            })?;
            context.counters.add_primitives(vertices.len());
            let primitives: Vec<Primitive> =
                vertices.into_iter().map(|vertices| Primitive { vertices, clipped: None }).collect();
            self.render(context, |renderer, context| renderer.draw(at, format, &primitives, state, context));
        }
        self.thread_mut(thread).fan = assembly.fan();
        Ok(())
    }

    fn draw_compressed(
        &mut self,
        at: BusAddr,
        list_at: BusAddr,
        clipped: Option<ClippedPrimitive>,
        context: &mut Context<'_>,
    ) -> Result<(), CleError> {
        let state = Arc::clone(&self.thread(Thread::Rendering).state);
        self.allocate(Thread::Rendering, at, &state, context.faults);
        let mut primitives = std::mem::take(&mut self.primitives);
        let list = self.thread_mut(Thread::Rendering);
        let (records_left, format) = (&mut list.records_left, state.list_format);
        primitives.clear();
        let read = primitive_list::read(context.memory, list_at, format, clipped, records_left, &mut primitives);
        if let Ok(next) = read {
            list.current = next;
            self.render(context, |renderer, context| renderer.draw(at, format, &primitives, &state, context));
        }
        self.primitives = primitives;
        Ok(read.map(|_| ())?)
    }
}

/// Reads the fixed part of a record: its structure, and its bytes.
fn read_record(memory: Memory<'_>, at: BusAddr) -> Result<([u8; MAX_RECORD_BYTES], Record), CleError> {
    let mut bytes = [0; MAX_RECORD_BYTES];
    let left = memory.bytes().saturating_sub(u64::from(at.offset())).min(MAX_RECORD_BYTES as u64) as usize;
    if left == 0 {
        return Err(OutOfMemory { address: at, bytes: 1 }.into());
    }
    memory.read(at, &mut bytes[..left])?;
    let record = Record::decode(&bytes[..left]).map_err(CleError::Decode)?;
    Ok((bytes, record))
}
