//! QPUs of the timing model, with the invocations on their threads.

use super::costs;
use super::estimate::{Stall, Stalls};
use super::tile_buffer::TileSlot;
use super::trace::{Invocation, Trace};
use std::collections::VecDeque;

/// An invocation on a QPU.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Thread {
    pub(super) trace: Trace,
    pub(super) order: u64,
    /// Time at which it can begin.
    pub(super) ready: u64,
    pub(super) next_event: usize,
    pub(super) next_line: usize,
    pub(super) next_transfer: usize,
    /// Arrival of the results of its lookups, by TMU.
    pub(super) results: [VecDeque<u64>; 2],
    /// Start of its lookups, by TMU.
    pub(super) begun: [VecDeque<u64>; 2],
    /// Arrival of the uniforms in its FIFO.
    pub(super) uniforms: VecDeque<u64>,
    pub(super) next_uniform: u32,
    /// Arrival of the varyings in its FIFO.
    pub(super) varyings: VecDeque<u64>,
    pub(super) varyings_left: u32,
    pub(super) vpm_ready: u64,
    pub(super) unlocked: bool,
    /// Its place among loads and stores of the tile buffer.
    pub(super) tile: TileSlot,
    pub(super) cycles: u64,
    pub(super) stalls: Stalls,
    /// Of these, what no instruction has been charged with.
    pub(super) uncharged: Stalls,
    /// Address of the last instruction.
    pub(super) last_instruction: u32,
}

impl Thread {
    pub(super) fn new(trace: Trace, order: u64, ready: u64, tile: TileSlot) -> Self {
        let varyings_left = if let Invocation::Fragments { varyings, .. } = trace.invocation { varyings } else { 0 };
        Self {
            order,
            ready,
            next_event: 0,
            next_line: 0,
            next_transfer: 0,
            results: Default::default(),
            begun: Default::default(),
            uniforms: VecDeque::new(),
            next_uniform: trace.uniforms,
            varyings: VecDeque::new(),
            varyings_left,
            vpm_ready: 0,
            unlocked: !matches!(trace.invocation, Invocation::Fragments { .. }),
            tile,
            cycles: 0,
            stalls: Stalls::default(),
            uncharged: Stalls::default(),
            last_instruction: 0,
            trace,
        }
    }

    /// Extrapolates the instructions without events from those with events; returns their cycles.
    pub(super) fn extrapolate(&mut self) -> u64 {
        let (rest, before) = (self.trace.rest, self.trace.instructions_before_rest().max(1));
        let mut cycles = rest * costs::INSTRUCTION;
        for stall in Stall::ALL {
            let waiting = (u128::from(self.stalls.get(stall)) * u128::from(rest) / u128::from(before)) as u64;
            self.stalls.add(stall, waiting);
            cycles += waiting;
        }
        self.cycles += cycles;
        cycles
    }

    /// Whether all events that it has are done, and more will come.
    pub(super) fn is_paused(&self) -> bool {
        self.trace.is_open && self.next_event >= self.trace.events.len()
    }

    /// Appends the next part of its trace, and drops what is done.
    pub(super) fn append(&mut self, part: Trace) {
        self.trace.drop_first(
            std::mem::take(&mut self.next_event),
            std::mem::take(&mut self.next_line),
            std::mem::take(&mut self.next_transfer),
        );
        self.trace.append(part);
    }

    pub(super) fn is_threaded(&self) -> bool {
        matches!(self.trace.invocation, Invocation::Fragments { threaded: true, .. })
    }

    /// Whether it may still access a pixel in another's quads.
    pub(super) fn covers(&self, others: &[u32; 4]) -> bool {
        let Invocation::Fragments { quads, .. } = self.trace.invocation else { return false };
        !self.unlocked && quads.iter().any(|quad| *quad != Invocation::NO_QUAD && others.contains(quad))
    }
}

/// A QPU, with up to two threads.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Qpu {
    pub(super) slice: usize,
    /// Whether its TMUs are swapped.
    pub(super) swapped: bool,
    pub(super) time: u64,
    pub(super) threads: [Option<Thread>; 2],
    pub(super) active: usize,
    /// Set while it waits for another QPU or for DMA.
    pub(super) waiting: Option<Stall>,
    /// Its DMA in flight, loads and stores.
    pub(super) dma: [u32; 2],
    /// Cycles in which it was not idle.
    pub(super) occupied: u64,
}

impl Qpu {
    pub(super) fn is_free(&self) -> bool {
        self.threads.iter().all(Option::is_none)
    }

    /// Whether a part of its program is still to come.
    pub(super) fn is_open(&self) -> bool {
        self.threads.iter().flatten().any(|thread| thread.trace.is_open)
    }

    /// Whether its program has done all events that it has, and more will come.
    pub(super) fn is_paused(&self) -> bool {
        self.threads.iter().flatten().any(Thread::is_paused)
    }

    /// Lets time pass for the active thread.
    pub(super) fn spend(&mut self, cycles: u64, stall: Option<Stall>) {
        self.time += cycles;
        self.occupied += cycles;
        if let Some(thread) = self.threads.get_mut(self.active).and_then(Option::as_mut) {
            thread.cycles += cycles;
            if let Some(stall) = stall {
                thread.stalls.add(stall, cycles);
                thread.uncharged.add(stall, cycles);
            }
        }
    }

    pub(super) fn wait_until(&mut self, time: u64, stall: Stall) {
        self.spend(time.saturating_sub(self.time), Some(stall));
    }
}
