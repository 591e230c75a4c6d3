//! The timing model: an estimate of how long programs take on the QPUs, and of what they wait for.
//!
//! The functional model computes without time. While a performance counter asks for cycles, stalls or cache hits, every invocation of a program
//! leaves a [`Trace`] of what it has accessed. The timing model replays the traces of all QPUs side by side, always the one that is furthest behind.
//! It models the caches, the queues of TMUs and interpolators, the scoreboard, the VPM's port with its two DMA channels, mutex and semaphores, and
//! behind them the [memory]; [`costs`] is its table of times. The estimate is a function of the traces and their order alone.
//!
//! Traces of user programs that run for long come in parts. The timing model advances as far as the parts allow, so that no part has to be kept.
//!
//! # What is estimated
//! - Work of one kind (binning, rendering, user programs) begins together, and that of the next kind begins when it is done. No time passes in between.
//! - Vertices wait for the VCD. A batch of fragments waits for its vertices, for the PSE and for the rasteriser, in this order; the rasteriser has room for
//!   one batch that no QPU has taken. The PTB writes tile lists beside the VCD. The time of the CLE is left out; `v3d stats` shows beside the estimate how long
//!   it would take on its own.
//! - The VCM fetches and shades vertices for each primitive list of each tile, as silicon does. The functional model shades them once; each of these
//!   repetitions is a copy of one of its traces.
//! - A QPU takes the oldest invocation as soon as a thread of it is free, vertices before fragments. Two threads take turns at thread switches [AG p.20] and
//!   when one ends. That a thread waiting at the scoreboard for its own QPU's other thread lets that one go on is a guess.
//! - A store of a tile begins when all fragments before it have unlocked the scoreboard. Fragments of the next tile are started meanwhile, and wait for the
//!   end of the store at their first access to the tile buffer, which is a guess.
//! - Memory traffic comprises the lines for the caches and VPM DMA by programs, not what VCD and TLB move: their times are fixed, however busy memory is.

pub mod cache;
pub mod caches;
pub mod costs;
mod dma;
mod estimate;
mod execution;
mod front_end;
pub mod memory;
mod placement;
mod qpu;
mod tile_buffer;
pub mod trace;
#[cfg(feature = "jobs")]
pub mod workload;

pub use estimate::{Estimate, InstructionCost, Machine, Stall, Stalls, UnitCycles};

use caches::Caches;
use dma::{Burst, Channel, Job, Owner};
use front_end::FrontEnd;
use memory::SdramTimes;
use placement::{Item, Waiting};
use qpu::Qpu;
use std::collections::VecDeque;
use tile_buffer::TileBuffer;
use trace::{Binned, Dma, Invocation, TileMove, Trace, Work};

/// Maximum number of invocations that wait for a QPU before the model advances.
const WAITING_INVOCATIONS: usize = 64;
/// Maximum count of a semaphore [AG p.22].
const SEMAPHORE_LIMIT: u8 = 15;

/// Kinds of work that do not overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Binning,
    Rendering,
    UserPrograms,
}

/// The timing model: its units, and the estimate so far.
#[derive(Clone, Debug, PartialEq)]
pub struct TimingModel {
    caches: Caches,
    qpus: Vec<Qpu>,
    /// Invocations for vertices.
    vertices: VecDeque<Waiting>,
    /// Everything else.
    queue: VecDeque<Waiting>,
    /// Orders of the invocations for vertices that are on QPUs.
    shading: Vec<u64>,
    /// Time at which each slice's TMUs are free.
    tmus: Vec<[u64; 2]>,
    /// Time at which each slice's interpolators are free.
    interpolators: Vec<u64>,
    /// Time at which the VPM's port is free.
    vpm: u64,
    /// VCD and VDW.
    channels: [Channel; 2],
    /// Time at which the PTB is free.
    binner: u64,
    front_end: FrontEnd,
    tile_buffer: TileBuffer,
    /// Cycles for which a load waits for each piece of memory.
    tile_load_piece: u64,
    mutex: Option<usize>,
    semaphores: [u8; 16],
    phase: Option<Phase>,
    /// Start of the present phase.
    start: u64,
    orders: u64,
    /// Costs are counted for each instruction.
    counts_instructions: bool,
    estimate: Estimate,
}

impl TimingModel {
    /// A model at time 0, with empty caches.
    pub fn new(machine: Machine) -> Self {
        let each = machine.qpus_per_slice.max(1);
        let count = machine.slices.saturating_mul(each).max(1);
        let qpu = |number: u8| Qpu { slice: usize::from(number / each), swapped: number % each >= 2, ..Qpu::default() };
        Self {
            caches: Caches::new(machine.slices.max(1), machine.clock_mhz),
            qpus: (0..count).map(qpu).collect(),
            vertices: VecDeque::new(),
            queue: VecDeque::new(),
            shading: Vec::new(),
            tmus: vec![[0; 2]; usize::from(machine.slices.max(1))],
            interpolators: vec![0; usize::from(machine.slices.max(1))],
            vpm: 0,
            channels: Default::default(),
            binner: 0,
            front_end: FrontEnd::at(0),
            tile_buffer: TileBuffer::at(0),
            tile_load_piece: SdramTimes::at(machine.clock_mhz).tile_load_piece,
            mutex: None,
            semaphores: [0; 16],
            phase: None,
            start: 0,
            orders: 0,
            counts_instructions: false,
            estimate: Estimate::default(),
        }
    }

    /// From now on costs are counted for each instruction as well.
    pub fn count_instructions(&mut self) {
        self.counts_instructions = true;
    }

    /// The caches, for the registers that clear them.
    pub fn caches_mut(&mut self) -> &mut Caches {
        &mut self.caches
    }

    /// Submits an invocation. It begins when a QPU is free for it, after all invocations submitted before.
    pub fn submit(&mut self, trace: Trace) {
        self.submit_work(Work::Program(trace));
    }

    /// Submits work of any kind.
    pub fn submit_work(&mut self, work: Work) {
        let phase = match &work {
            Work::Program(trace) => match trace.invocation {
                Invocation::Coordinates { .. } => Phase::Binning,
                Invocation::Vertices { .. } | Invocation::Fragments { .. } => Phase::Rendering,
                Invocation::UserProgram { .. } => Phase::UserPrograms,
            },
            Work::Binned(_) => Phase::Binning,
            Work::Move(_) => Phase::Rendering,
        };
        if self.phase != Some(phase) {
            self.finish();
            self.drop_open();
            self.phase = Some(phase);
        }
        match work {
            Work::Program(trace) => {
                let Some(trace) = self.append_to_open(trace) else { return };
                self.enqueue(trace);
            }
            Work::Binned(Binned { lines, entries }) => {
                self.fetch_vertices(Owner::Binner, lines);
                let cycles = u64::from(entries) * costs::PTB_ENTRY;
                self.binner += cycles;
                self.estimate.units.ptb += cycles;
            }
            Work::Move(TileMove { front, quads, pieces, swap }) => {
                let waiting = u64::from(pieces) * self.tile_load_piece;
                let number = self.tile_buffer.add_move(quads, waiting, swap);
                let order = self.next_order();
                let fetched = self.fetch_vertices(Owner::Vertices(order), front.lines);
                self.queue.push_back(Waiting { item: Item::Move { front, number }, order, fetched, ready: None });
            }
        }
        self.place();
        // User programs may wait for each other, so all of them are submitted before time passes.
        let is_full = |model: &Self| model.queue.len() + model.vertices.len() > WAITING_INVOCATIONS;
        while phase != Phase::UserPrograms && is_full(self) && self.step(true) {}
    }

    fn next_order(&mut self) -> u64 {
        self.orders += 1;
        self.orders - 1
    }

    /// Has the VCD fetch lines; returns the time at which they are there if that is known.
    fn fetch_vertices(&mut self, owner: Owner, lines: u32) -> Option<u64> {
        if lines == 0 {
            return Some(self.start);
        }
        self.channels[Dma::Load as usize].jobs.push_back(Job::of_vertices(owner, lines, self.start));
        None
    }

    /// Appends a part of a trace to what it continues; returns the part if there is nothing of the kind.
    fn append_to_open(&mut self, part: Trace) -> Option<Trace> {
        let Invocation::UserProgram { qpu } = part.invocation else { return Some(part) };
        let number = usize::from(qpu) % self.qpus.len();
        let open = self.qpus[number].threads.iter_mut().flatten().find(|thread| thread.trace.is_open);
        match open {
            Some(thread) if part.continues => thread.append(part),
            _ => {
                let traces = self.queue.iter_mut().filter_map(|waiting| match &mut waiting.item {
                    Item::Program(trace, _) => Some(trace),
                    Item::Move { .. } => None,
                });
                match { traces }.find(|trace| trace.is_open && trace.invocation == part.invocation) {
                    Some(trace) if part.continues => trace.append(part),
                    _ => return Some(part),
                }
            }
        }
        None
    }

    /// Drops programs of which parts are still to come: another phase has begun, and they are not waited for.
    fn drop_open(&mut self) {
        self.queue.retain(|waiting| waiting.trace().is_none_or(|trace| !trace.is_open));
        for qpu in &mut self.qpus {
            if qpu.is_open() {
                (qpu.threads, qpu.waiting) = (Default::default(), None);
            }
        }
    }

    /// Advances as far as the parts of user programs allow.
    pub fn advance(&mut self) {
        if self.phase == Some(Phase::UserPrograms) {
            self.place();
            while self.step(false) {}
        }
    }

    /// Advances until all work is done.
    fn finish(&mut self) {
        self.place();
        while self.step(true) {}
        let channels = self.channels.iter().map(|channel| channel.time);
        let others = [self.start, self.binner, self.front_end.end(), self.tile_buffer.end()];
        let end = self.qpus.iter().map(|qpu| qpu.time).chain(channels).chain(others).max().unwrap_or(0);
        let elapsed = end - self.start;
        let occupied: u64 = self.qpus.iter().map(|qpu| qpu.occupied).sum();
        self.estimate.elapsed += elapsed;
        self.estimate.idle += (elapsed * self.qpus.len() as u64).saturating_sub(occupied);
        for qpu in &mut self.qpus {
            (qpu.time, qpu.occupied) = (end, 0);
        }
        (self.start, self.binner) = (end, end);
        (self.front_end, self.tile_buffer) = (FrontEnd::at(end), TileBuffer::at(end));
    }

    /// Advances until all work is done, and takes the estimate.
    pub fn take_estimate(&mut self) -> Estimate {
        self.finish();
        let mut estimate = std::mem::take(&mut self.estimate);
        estimate.lookups = std::mem::take(&mut self.caches.lookups);
        estimate.traffic = self.caches.memory.take_traffic();
        estimate.vcd_stalls = std::mem::take(&mut self.channels[Dma::Load as usize].stalls);
        estimate.vdw_stalls = std::mem::take(&mut self.channels[Dma::Store as usize].stalls);
        estimate
    }

    /// Advances the unit that is furthest behind; `false` if there is nothing left to do. A program whose next part has not come is waited for,
    /// unless this is the `end`: then the others go on without it.
    fn step(&mut self, end: bool) -> bool {
        let can_advance = |qpu: &Qpu| qpu.waiting.is_none() && !qpu.is_free() && !(end && qpu.is_paused());
        let running = self.qpus.iter().enumerate().filter(|(_, qpu)| can_advance(qpu));
        let qpu = running.map(|(number, qpu)| (qpu.time, number)).min();
        let dma = [Dma::Load, Dma::Store].into_iter().filter_map(|dma| {
            let time = self.channels[dma as usize].next_time()?;
            Some((time, dma as usize))
        });
        match (qpu, dma.min()) {
            (Some((time, number)), other) if other.is_none_or(|(other, _)| time <= other) => {
                if self.qpus[number].is_paused() {
                    return false;
                }
                self.run(number);
            }
            (_, Some((time, channel))) => self.transfer(channel, time),
            _ => return end && !self.qpus.iter().any(Qpu::is_paused) && self.resolve_deadlock(),
        }
        true
    }

    /// Resolves a deadlock, which only the order of events in this model can cause: the first of the waiting programs continues.
    fn resolve_deadlock(&mut self) -> bool {
        let waiting = self.qpus.iter_mut().filter(|qpu| qpu.waiting.is_some());
        let Some(qpu) = waiting.min_by_key(|qpu| qpu.time) else {
            // An invocation that can never be placed is dropped.
            let dropped = self.vertices.pop_front().or_else(|| self.queue.pop_front());
            if let Some(Waiting { item: Item::Program(_, tile), .. }) = &dropped {
                self.tile_buffer.unlock(*tile, self.start);
            }
            return dropped.is_some();
        };
        qpu.waiting = None;
        if let Some(thread) = qpu.threads.get_mut(qpu.active).and_then(Option::as_mut) {
            thread.next_event += 1;
        }
        true
    }

    /// Lets waiting QPUs check again.
    fn wake(&mut self, time: u64) {
        for qpu in &mut self.qpus {
            if let Some(stall) = qpu.waiting.take() {
                qpu.wait_until(time, stall);
            }
        }
    }

    /// Moves a burst by DMA.
    fn transfer(&mut self, number: usize, time: u64) {
        let dma = if number == Dma::Load as usize { Dma::Load } else { Dma::Store };
        let channel = &mut self.channels[number];
        let Some(job) = channel.jobs.front_mut() else { return };
        channel.time = time;
        if let Some(Burst { address, bytes, cycles }) = job.take_burst(dma) {
            let begin = time.max(self.vpm);
            channel.stalls += begin - time;
            self.vpm = begin + costs::VPM_VECTOR;
            let units = &mut self.estimate.units;
            units.vpm += costs::VPM_VECTOR;
            *if dma == Dma::Load { &mut units.loads } else { &mut units.stores } += cycles;
            let memory = &mut self.caches.memory;
            let taken = match (address, dma) {
                (None, _) => begin,
                (Some(address), Dma::Load) => memory.stream(address, bytes, begin),
                (Some(address), Dma::Store) => memory.write(address, bytes, begin),
            };
            channel.time = taken.max(begin + cycles);
        }
        if !job.is_done() {
            return;
        }
        let (owner, done) = (job.owner, channel.time);
        channel.jobs.pop_front();
        match owner {
            Owner::Qpu(qpu) => {
                if let Some(count) = self.qpus.get_mut(qpu).and_then(|qpu| qpu.dma.get_mut(number)) {
                    *count = count.saturating_sub(1);
                }
                self.wake(done);
            }
            Owner::Vertices(order) => {
                if let Some(waiting) = self.vertices.iter_mut().find(|waiting| waiting.order == order) {
                    (waiting.fetched, waiting.ready) = (Some(done), Some(done));
                } else if let Some(waiting) = self.queue.iter_mut().find(|waiting| waiting.order == order) {
                    waiting.fetched = Some(done);
                }
                self.place();
            }
            Owner::Binner => {}
        }
    }
}

#[cfg(test)]
mod tests;
