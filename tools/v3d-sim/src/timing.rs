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
//! - Invocations of one kind (binning, rendering, user programs) begin together, and those of the next kind begin when they are done. No time passes
//!   in between.
//! - Vertices wait for the VCD, fragments for the rasteriser. The time of the CLE, PTB, PSE and of tile stores is left out; `v3d stats` shows beside
//!   the estimate how long they would take on their own.
//! - A QPU takes the oldest invocation as soon as a thread of it is free; two threads take turns at thread switches [AG p.20]. That a thread waiting
//!   at the scoreboard for its own QPU's other thread lets that one go on is a guess.
//! - Memory traffic comprises the lines for the caches and VPM DMA by programs, not what VCD and TLB move.
//! - Vertices are shaded once for all tiles of a wave, as in the functional model; silicon shades them again for each tile.

pub mod cache;
pub mod caches;
pub mod costs;
mod dma;
mod estimate;
pub mod memory;
mod qpu;
pub mod trace;

pub use estimate::{Estimate, QpuTopology, Stall, Stalls, UnitCycles};

use caches::{Caches, Level1};
use dma::{Burst, Channel, Job, Owner};
use qpu::{Qpu, Thread};
use std::collections::VecDeque;
use trace::{Dma, Event, Invocation, LINE_INSTRUCTIONS, Trace};
use v3d_hw::qpu::INSTRUCTION_BYTES;

/// Maximum number of traces that wait for a QPU before the model advances.
const WAITING_TRACES: usize = 64;
/// Maximum count of a semaphore [AG p.22].
const SEMAPHORE_LIMIT: u8 = 15;

/// An invocation that waits for a QPU.
#[derive(Clone, Debug, PartialEq)]
struct Waiting {
    trace: Trace,
    order: u64,
    /// Time at which it can begin; unknown while its attributes are being fetched.
    ready: Option<u64>,
}

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
    queue: VecDeque<Waiting>,
    /// Time at which each slice's TMUs are free.
    tmus: Vec<[u64; 2]>,
    /// Time at which each slice's interpolators are free.
    interpolators: Vec<u64>,
    /// Time at which the VPM's port is free.
    vpm: u64,
    /// VCD and VDW.
    channels: [Channel; 2],
    rasteriser: u64,
    mutex: Option<usize>,
    semaphores: [u8; 16],
    phase: Option<Phase>,
    /// Start of the present phase.
    start: u64,
    orders: u64,
    estimate: Estimate,
}

impl TimingModel {
    /// A model at time 0, with empty caches.
    pub fn new(machine: QpuTopology) -> Self {
        let each = machine.qpus_per_slice.max(1);
        let count = machine.slices.saturating_mul(each).max(1);
        let qpu = |number: u8| Qpu { slice: usize::from(number / each), swapped: number % each >= 2, ..Qpu::default() };
        Self {
            caches: Caches::new(machine.slices.max(1)),
            qpus: (0..count).map(qpu).collect(),
            queue: VecDeque::new(),
            tmus: vec![[0; 2]; usize::from(machine.slices.max(1))],
            interpolators: vec![0; usize::from(machine.slices.max(1))],
            vpm: 0,
            channels: Default::default(),
            rasteriser: 0,
            mutex: None,
            semaphores: [0; 16],
            phase: None,
            start: 0,
            orders: 0,
            estimate: Estimate::default(),
        }
    }

    /// The caches, for the registers that clear them.
    pub fn caches_mut(&mut self) -> &mut Caches {
        &mut self.caches
    }

    /// Submits an invocation. It begins when a QPU is free for it, after all invocations submitted before.
    pub fn submit(&mut self, trace: Trace) {
        let phase = match trace.invocation {
            Invocation::Coordinates { .. } => Phase::Binning,
            Invocation::Vertices { .. } | Invocation::Fragments { .. } => Phase::Rendering,
            Invocation::UserProgram { .. } => Phase::UserPrograms,
        };
        if self.phase != Some(phase) {
            self.finish();
            self.drop_open();
            self.phase = Some(phase);
        }
        let Some(trace) = self.append_to_open(trace) else { return };
        let order = self.orders;
        self.orders += 1;
        let ready = match trace.invocation {
            Invocation::Coordinates { rows } | Invocation::Vertices { rows } => {
                self.channels[Dma::Load as usize].jobs.push_back(Job::of_vertices(order, rows, self.start));
                None
            }
            Invocation::Fragments { rasterised, .. } => {
                self.rasteriser = self.rasteriser.max(self.start) + u64::from(rasterised) * costs::FEP_QUAD;
                Some(self.rasteriser)
            }
            Invocation::UserProgram { .. } => Some(self.start),
        };
        self.queue.push_back(Waiting { trace, order, ready });
        self.place();
        // User programs may wait for each other, so all of them are submitted before time passes.
        while phase != Phase::UserPrograms && self.queue.len() > WAITING_TRACES && self.step(true) {}
    }

    /// Appends a part of a trace to what it continues; returns the part if there is nothing of the kind.
    fn append_to_open(&mut self, part: Trace) -> Option<Trace> {
        let Invocation::UserProgram { qpu } = part.invocation else { return Some(part) };
        let number = usize::from(qpu) % self.qpus.len();
        let open = self.qpus[number].threads.iter_mut().flatten().find(|thread| thread.trace.is_open);
        match open {
            Some(thread) if part.continues => thread.append(part),
            _ => match self
                .queue
                .iter_mut()
                .find(|waiting| waiting.trace.is_open && waiting.trace.invocation == part.invocation)
            {
                Some(waiting) if part.continues => waiting.trace.append(part),
                _ => return Some(part),
            },
        }
        None
    }

    /// Drops programs of which parts are still to come: another phase has begun, and they are not waited for.
    fn drop_open(&mut self) {
        self.queue.retain(|waiting| !waiting.trace.is_open);
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
        let end = self.qpus.iter().map(|qpu| qpu.time).chain(channels).max().unwrap_or(0).max(self.start);
        let elapsed = end - self.start;
        let occupied: u64 = self.qpus.iter().map(|qpu| qpu.occupied).sum();
        self.estimate.elapsed += elapsed;
        self.estimate.idle += (elapsed * self.qpus.len() as u64).saturating_sub(occupied);
        for qpu in &mut self.qpus {
            (qpu.time, qpu.occupied) = (end, 0);
        }
        self.start = end;
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

    /// Places invocations on QPUs that are free for them.
    fn place(&mut self) {
        let mut i = 0;
        while let Some(Waiting { trace, ready: Some(ready), .. }) = self.queue.get(i) {
            let ready = *ready;
            let place = match trace.invocation {
                Invocation::UserProgram { qpu } => {
                    let number = usize::from(qpu) % self.qpus.len();
                    self.qpus[number].is_free().then_some((number, 0))
                }
                Invocation::Fragments { threaded, .. } => self.free_thread(threaded, ready),
                Invocation::Coordinates { .. } | Invocation::Vertices { .. } => self.free_thread(false, ready),
            };
            match place {
                Some((number, slot)) => {
                    if let Some(Waiting { trace, order, .. }) = self.queue.remove(i) {
                        self.begin(number, slot, Thread::new(trace, order, ready));
                    }
                }
                None if self.phase == Some(Phase::UserPrograms) => i += 1,
                None => break,
            }
        }
    }

    /// The QPU and thread that can begin first. A QPU takes a second thread only when no QPU has both free.
    fn free_thread(&self, threaded: bool, ready: u64) -> Option<(usize, usize)> {
        let candidates = self.qpus.iter().enumerate().filter_map(|(number, qpu)| {
            let slot = match &qpu.threads {
                [None, None] => 0,
                [Some(other), None] if threaded && other.is_threaded() => 1,
                [None, Some(other)] if threaded && other.is_threaded() => 0,
                _ => return None,
            };
            Some((!qpu.is_free(), qpu.time.max(ready), number, slot))
        });
        candidates.min().map(|(_, _, number, slot)| (number, slot))
    }

    fn begin(&mut self, number: usize, slot: usize, mut thread: Thread) {
        let slice = self.qpus[number].slice;
        let time = self.qpus[number].time.max(thread.ready).max(self.start);
        thread.ready = time;
        for _ in 0..costs::UNIFORMS_FIFO {
            self.fetch_uniform(slice, &mut thread, time);
        }
        for _ in 0..costs::VARYINGS_FIFO {
            self.interpolate(slice, &mut thread, time);
        }
        let qpu = &mut self.qpus[number];
        if qpu.is_free() {
            (qpu.time, qpu.active) = (time, slot);
        }
        qpu.threads[slot] = Some(thread);
    }

    fn fetch_uniform(&mut self, slice: usize, thread: &mut Thread, time: u64) {
        self.estimate.uniform_fetches += 1;
        let missing = self.caches.access(slice, Level1::Uniforms, thread.next_uniform, time);
        thread.next_uniform = thread.next_uniform.wrapping_add(4);
        let before = thread.uniforms.back().copied().unwrap_or(0);
        thread.uniforms.push_back(before.max(time + missing + costs::UNIFORM_LATENCY));
    }

    fn interpolate(&mut self, slice: usize, thread: &mut Thread, time: u64) {
        let Some(left) = thread.varyings_left.checked_sub(1) else { return };
        thread.varyings_left = left;
        let Some(free) = self.interpolators.get_mut(slice) else { return };
        *free = (*free).max(time) + costs::VARYING;
        thread.varyings.push_back(*free);
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
            return self.queue.pop_front().is_some();
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
                if let Some(waiting) = self.queue.iter_mut().find(|waiting| waiting.order == order) {
                    waiting.ready = Some(done);
                }
                self.place();
            }
        }
    }

    /// Executes the next event of a QPU's active thread.
    fn run(&mut self, number: usize) {
        let qpu = &mut self.qpus[number];
        let Some(mut thread) = qpu.threads[qpu.active].take() else {
            // The other thread was not ready when this one ended.
            qpu.active ^= 1;
            let ready = qpu.threads[qpu.active].as_ref().map_or(0, |thread| thread.ready);
            qpu.time = qpu.time.max(ready);
            return;
        };
        let (active, event) = (qpu.active, thread.trace.events.get(thread.next_event).copied());
        let Some(event) = event else {
            self.estimate.instruction_fetches += thread.trace.rest;
            let rest = thread.extrapolate();
            (qpu.time, qpu.occupied) = (qpu.time + rest, qpu.occupied + rest);
            self.end(number, &thread);
            return;
        };
        thread.next_event += 1;
        qpu.threads[active] = Some(thread);
        if let Err(stall) = self.execute(number, event) {
            let qpu = &mut self.qpus[number];
            if let Some(thread) = &mut qpu.threads[active] {
                thread.next_event -= 1;
            }
            let order = |slot: usize| qpu.threads[slot].as_ref().map(|thread| thread.order);
            if stall == Stall::Scoreboard && order(active ^ 1).is_some_and(|other| Some(other) < order(active)) {
                qpu.active ^= 1;
            } else {
                qpu.waiting = Some(stall);
            }
        }
    }

    /// Ends an invocation.
    fn end(&mut self, number: usize, thread: &Thread) {
        let estimate = &mut self.estimate;
        estimate.stalls.merge(&thread.stalls);
        match thread.trace.invocation {
            Invocation::Coordinates { .. } | Invocation::Vertices { .. } => {
                estimate.vertex_stalls += thread.stalls.total()
            }
            Invocation::Fragments { .. } => estimate.fragment_stalls += thread.stalls.total(),
            Invocation::UserProgram { .. } => {}
        }
        let (cycles, stalls) = estimate.programs.entry(thread.trace.program.0).or_default();
        *cycles += thread.cycles;
        stalls.merge(&thread.stalls);
        let time = self.qpus[number].time;
        self.wake(time);
        self.place();
    }

    /// Executes an event; an error is the stall before it.
    fn execute(&mut self, number: usize, event: Event) -> Result<(), Stall> {
        match event {
            Event::ScoreboardWait => return self.wait_for_scoreboard(number),
            Event::DmaWait(dma) if self.qpus[number].dma[dma as usize] > 0 => return Err(Stall::Vpm),
            Event::MutexAcquire if self.mutex.is_some() => return Err(Stall::Synchronisation),
            Event::Semaphore { number, decrement } => {
                let count = &mut self.semaphores[usize::from(number & 15)];
                match (decrement, *count) {
                    (true, 0) | (false, SEMAPHORE_LIMIT) => return Err(Stall::Synchronisation),
                    (true, _) => *count -= 1,
                    (false, _) => *count += 1,
                }
            }
            _ => {}
        }
        let slice = self.qpus[number].slice;
        let active = self.qpus[number].active;
        let Some(mut thread) = self.qpus[number].threads[active].take() else { return Ok(()) };
        let swapped = self.qpus[number].swapped;
        // The thread is put back before time passes for it.
        let time = self.qpus[number].time;
        let (mut until, mut stall, mut instructions) = (time, Stall::Vpm, 0);
        let mut started = None;
        match event {
            Event::Instructions { at, count } => {
                (until, stall) = (self.fetch_instructions(slice, at, count, time), Stall::Instructions);
                instructions = u64::from(count);
            }
            Event::Uniform => {
                (until, stall) = (thread.uniforms.pop_front().unwrap_or(time), Stall::Uniforms);
                self.fetch_uniform(slice, &mut thread, until.max(time));
            }
            Event::UniformsAddress(address) => {
                thread.uniforms.clear();
                thread.next_uniform = address;
                for _ in 0..costs::UNIFORMS_FIFO {
                    self.fetch_uniform(slice, &mut thread, time);
                }
            }
            Event::Varying => {
                (until, stall) = (thread.varyings.pop_front().unwrap_or(time), Stall::Varyings);
                self.interpolate(slice, &mut thread, until.max(time));
            }
            Event::TmuRequest { unit, swaps, lines } => {
                let physical = usize::from(unit & 1) ^ usize::from(swaps && swapped);
                stall = Stall::Tmu;
                until = self.look_up(slice, physical, &mut thread, usize::from(unit & 1), usize::from(lines), time);
            }
            Event::TmuLoad(unit) => {
                let result = thread.results[usize::from(unit & 1)].pop_front();
                (until, stall) = (result.unwrap_or(time), Stall::Tmu);
            }
            Event::VpmReadSetup => thread.vpm_ready = time + costs::VPM_READ_LATENCY,
            Event::VpmRead => {
                until = time.max(thread.vpm_ready).max(self.vpm);
                self.access_vpm(until);
            }
            Event::VpmWrite => {
                until = time.max(self.vpm);
                self.access_vpm(until);
            }
            Event::ScoreboardUnlock => thread.unlocked = true,
            Event::Dma(_) => {
                started = thread.trace.transfers.get(thread.next_transfer).copied();
                thread.next_transfer += 1;
            }
            Event::ThreadSwitch
            | Event::ScoreboardWait
            | Event::DmaWait(_)
            | Event::MutexAcquire
            | Event::MutexRelease
            | Event::Semaphore { .. } => {}
        }
        let qpu = &mut self.qpus[number];
        qpu.threads[active] = Some(thread);
        qpu.wait_until(until, stall);
        qpu.spend(instructions * costs::INSTRUCTION, None);
        match event {
            Event::ThreadSwitch => {
                let ready = qpu.threads[active ^ 1].as_ref().is_some_and(|other| other.ready <= qpu.time);
                qpu.active ^= usize::from(ready);
            }
            Event::Dma(dma) => {
                if let Some(transfer) = started {
                    qpu.dma[dma as usize] += 1;
                    self.channels[dma as usize].jobs.push_back(Job::of_program(number, dma, transfer, time));
                }
            }
            Event::MutexAcquire => self.mutex = Some(number),
            Event::MutexRelease => {
                self.mutex = None;
                self.wake(time);
            }
            Event::ScoreboardUnlock | Event::Semaphore { .. } => self.wake(time),
            _ => {}
        }
        Ok(())
    }

    fn access_vpm(&mut self, time: u64) {
        self.vpm = time + costs::VPM_VECTOR;
        self.estimate.units.vpm += costs::VPM_VECTOR;
    }

    /// Waits until no earlier invocation may access the same pixels.
    fn wait_for_scoreboard(&self, number: usize) -> Result<(), Stall> {
        let qpu = &self.qpus[number];
        let Some(thread) = &qpu.threads[qpu.active] else { return Ok(()) };
        let Invocation::Fragments { quads, .. } = &thread.trace.invocation else { return Ok(()) };
        let mut others = self.qpus.iter().flat_map(|qpu| qpu.threads.iter().flatten());
        let blocked = others.any(|other| other.order < thread.order && other.covers(quads));
        if blocked { Err(Stall::Scoreboard) } else { Ok(()) }
    }

    /// Fetches instructions from a time on; returns the arrival of the last line. Each line is requested when the one before it has arrived.
    fn fetch_instructions(&mut self, slice: usize, at: u32, count: u32, time: u64) -> u64 {
        self.estimate.instruction_fetches += u64::from(count);
        let first = at / INSTRUCTION_BYTES / LINE_INSTRUCTIONS;
        let last = (at / INSTRUCTION_BYTES + count.saturating_sub(1)) / LINE_INSTRUCTIONS;
        (first..=last).fold(time, |time, line| {
            time + self.caches.access(slice, Level1::Instructions, line * costs::LINE_BYTES, time)
        })
    }

    /// Starts a lookup; returns the time from which on the TMU has an entry for it.
    fn look_up(
        &mut self,
        slice: usize,
        physical: usize,
        thread: &mut Thread,
        unit: usize,
        lines: usize,
        time: u64,
    ) -> u64 {
        let begun = &mut thread.begun[unit];
        let mut until = time;
        while begun.front().is_some_and(|begin| *begin <= until) {
            begun.pop_front();
        }
        if begun.len() >= costs::TMU_REQUESTS {
            until = begun.pop_front().unwrap_or(time);
        }
        let Some(free) = self.tmus.get_mut(slice).and_then(|tmus| tmus.get_mut(physical)) else { return until };
        let begin = until.max(*free);
        // Lines arrive one after the other.
        let (mut there, mut missing) = (begin, 0);
        for &line in thread.trace.lines.iter().skip(thread.next_line).take(lines) {
            let misses = self.caches.lookups.texture_misses;
            let arrival = begin + self.caches.access(slice, Level1::Texture(physical as u8), line, begin);
            let is_missing = self.caches.lookups.texture_misses > misses;
            there = arrival.max(there + if is_missing && missing > 0 { costs::LINE_TRANSFER } else { 0 });
            missing += u64::from(is_missing);
        }
        thread.next_line += lines;
        let busy = costs::TMU_VECTOR.max(missing * costs::LINE_TRANSFER);
        *free = begin + busy;
        self.estimate.units.tmus += busy;
        begun.push_back(begin);
        let before = thread.results[unit].back().copied().unwrap_or(0);
        thread.results[unit].push_back(before.max(there + costs::TMU_LATENCY));
        until
    }
}

#[cfg(test)]
mod tests;
