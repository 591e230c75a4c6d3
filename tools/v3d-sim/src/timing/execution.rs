//! Execution: the events of the program that a QPU has at hand, and the units that they use.

use super::caches::Level1;
use super::dma::Job;
use super::qpu::Thread;
use super::trace::{Event, Invocation, LINE_INSTRUCTIONS};
use super::{SEMAPHORE_LIMIT, Stall, TimingModel, costs};
use v3d_hw::qpu::INSTRUCTION_BYTES;

impl TimingModel {
    /// Executes the next event of a QPU's active thread.
    pub(super) fn run(&mut self, number: usize) {
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
        let qpu = &mut self.qpus[number];
        let time = qpu.time;
        if thread.trace.invocation.is_vertices() {
            self.shading.retain(|order| *order != thread.order);
            self.front_end.shade(time);
        }
        // The other thread goes on before the free one gets something new.
        if let Some(other) = &qpu.threads[qpu.active ^ 1] {
            qpu.time = qpu.time.max(other.ready);
            qpu.active ^= 1;
        }
        if !thread.unlocked {
            self.tile_buffer.unlock(thread.tile, time);
            self.advance_tile_buffer();
        }
        self.wake(time);
        self.place();
    }

    /// Executes an event; an error is the stall before it.
    fn execute(&mut self, number: usize, event: Event) -> Result<(), Stall> {
        match event {
            Event::ScoreboardWait => {
                let available = self.wait_for_scoreboard(number)?;
                self.qpus[number].wait_until(available, Stall::Scoreboard);
                return Ok(());
            }
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
            Event::ScoreboardUnlock => {
                if !std::mem::replace(&mut thread.unlocked, true) {
                    self.tile_buffer.unlock(thread.tile, time);
                }
            }
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
        if self.counts_instructions {
            self.charge(number, active, event);
        }
        let qpu = &mut self.qpus[number];
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
            Event::ScoreboardUnlock => {
                self.advance_tile_buffer();
                self.wake(time);
            }
            Event::Semaphore { .. } => self.wake(time),
            _ => {}
        }
        Ok(())
    }

    /// Charges an instruction with what was waited for: those that follow for what they read, and the last one for what it starts.
    fn charge(&mut self, number: usize, active: usize, event: Event) {
        let Some(thread) = &mut self.qpus[number].threads[active] else { return };
        let charged = match event {
            Event::Instructions { at, count } => {
                let addresses = (at..).step_by(INSTRUCTION_BYTES as usize).take(count as usize);
                for address in addresses {
                    self.estimate.instructions.entry(address).or_default().executed += 1;
                    thread.last_instruction = address;
                }
                at
            }
            Event::TmuRequest { .. } | Event::VpmWrite | Event::Dma(_) => thread.last_instruction,
            _ => return,
        };
        let stalls = std::mem::take(&mut thread.uncharged);
        self.estimate.instructions.entry(charged).or_default().stalls.merge(&stalls);
    }

    fn access_vpm(&mut self, time: u64) {
        self.vpm = time + costs::VPM_VECTOR;
        self.estimate.units.vpm += costs::VPM_VECTOR;
    }

    /// Waits until no earlier invocation may access the same pixels, and the loads and stores before are known; returns the time at which they are done.
    fn wait_for_scoreboard(&self, number: usize) -> Result<u64, Stall> {
        let qpu = &self.qpus[number];
        let Some(thread) = &qpu.threads[qpu.active] else { return Ok(0) };
        let Invocation::Fragments { quads, .. } = &thread.trace.invocation else { return Ok(0) };
        let mut others = self.qpus.iter().flat_map(|qpu| qpu.threads.iter().flatten());
        let blocked = others.any(|other| other.order < thread.order && other.covers(quads));
        let available = self.tile_buffer.available(thread.tile);
        available.filter(|_| !blocked).ok_or(Stall::Scoreboard)
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
    pub(super) fn fetch_uniform(&mut self, slice: usize, thread: &mut Thread, time: u64) {
        self.estimate.uniform_fetches += 1;
        let missing = self.caches.access(slice, Level1::Uniforms, thread.next_uniform, time);
        thread.next_uniform = thread.next_uniform.wrapping_add(4);
        let before = thread.uniforms.back().copied().unwrap_or(0);
        thread.uniforms.push_back(before.max(time + missing + costs::UNIFORM_LATENCY));
    }

    pub(super) fn interpolate(&mut self, slice: usize, thread: &mut Thread, time: u64) {
        let Some(left) = thread.varyings_left.checked_sub(1) else { return };
        thread.varyings_left = left;
        let Some(free) = self.interpolators.get_mut(slice) else { return };
        *free = (*free).max(time) + costs::VARYING;
        thread.varyings.push_back(*free);
    }
}
