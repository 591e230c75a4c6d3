//! Placement: invocations that wait, and which QPU and thread takes them.

use super::dma::Owner;
use super::qpu::Thread;
use super::tile_buffer::TileSlot;
use super::trace::{FrontWork, Invocation, Trace};
use super::{Phase, Stall, TimingModel, costs};

/// What waits for its turn.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Waiting {
    pub(super) item: Item,
    pub(super) order: u64,
    /// Time at which its vertices are there; unknown while they are being fetched.
    pub(super) fetched: Option<u64>,
    /// Time at which it can begin, if that is known.
    pub(super) ready: Option<u64>,
}

/// An invocation that waits for a QPU, or a load or store of the tile buffer that waits for the units before it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    Program(Trace, TileSlot),
    Move { front: FrontWork, number: usize },
}

impl Waiting {
    /// Its trace, unless it is a load or store.
    pub(super) const fn trace(&self) -> Option<&Trace> {
        match &self.item {
            Item::Program(trace, _) => Some(trace),
            Item::Move { .. } => None,
        }
    }
}

impl TimingModel {
    /// Puts an invocation into its queue.
    pub(super) fn enqueue(&mut self, trace: Trace) {
        let order = self.next_order();
        let (lines, tile) = match trace.invocation {
            Invocation::Coordinates { lines } | Invocation::Vertices { lines } => (lines, TileSlot::default()),
            Invocation::Fragments { front, .. } => (front.lines, self.tile_buffer.add_fragment()),
            Invocation::UserProgram { .. } => (0, TileSlot::default()),
        };
        let fetched = self.fetch_vertices(Owner::Vertices(order), lines);
        let is_vertices = trace.invocation.is_vertices();
        let ready = if matches!(trace.invocation, Invocation::Fragments { .. }) { None } else { fetched };
        let waiting = Waiting { item: Item::Program(trace, tile), order, fetched, ready };
        if is_vertices { &mut self.vertices } else { &mut self.queue }.push_back(waiting);
    }

    /// Places invocations on QPUs that are free for them.
    pub(super) fn place(&mut self) {
        if self.phase == Some(Phase::UserPrograms) {
            self.place_user_programs();
        } else {
            while self.place_vertices() || self.place_next() {}
        }
    }

    fn place_user_programs(&mut self) {
        let mut i = 0;
        while let Some(waiting) = self.queue.get(i) {
            let number = match waiting.trace().map(|trace| trace.invocation) {
                Some(Invocation::UserProgram { qpu }) => usize::from(qpu) % self.qpus.len(),
                _ => 0,
            };
            if !self.qpus[number].is_free() {
                i += 1;
            } else if let Some(waiting) = self.queue.remove(i) {
                self.begin(number, 0, waiting);
            }
        }
    }

    /// Places the oldest invocation for vertices; whether that was possible.
    fn place_vertices(&mut self) -> bool {
        let Some(Waiting { ready: Some(ready), .. }) = self.vertices.front() else { return false };
        let Some((number, slot)) = self.free_thread(false, *ready) else { return false };
        let Some(waiting) = self.vertices.pop_front() else { return false };
        self.shading.push(waiting.order);
        self.begin(number, slot, waiting);
        true
    }

    /// Places the oldest invocation for fragments, or lets the oldest load or store go on; whether that was possible.
    fn place_next(&mut self) -> bool {
        let Some(waiting) = self.queue.front_mut() else { return false };
        let ready = match (waiting.ready, waiting.fetched) {
            (Some(ready), _) => ready,
            (None, None) => return false,
            (None, Some(fetched)) => {
                let order = waiting.order;
                let shaded = |other: u64| other > order;
                if !self.vertices.front().is_none_or(|first| shaded(first.order))
                    || !self.shading.iter().all(|other| shaded(*other))
                {
                    return false;
                }
                let front = match &waiting.item {
                    Item::Program(trace, _) => trace.invocation.front(),
                    Item::Move { front, .. } => *front,
                };
                let ready = self.front_end.pass(front, fetched, &mut self.estimate.units);
                waiting.ready = Some(ready);
                ready
            }
        };
        match &waiting.item {
            Item::Move { number, .. } => {
                self.tile_buffer.release(*number, ready);
                self.queue.pop_front();
                self.advance_tile_buffer();
            }
            Item::Program(trace, _) => {
                let threaded = matches!(trace.invocation, Invocation::Fragments { threaded: true, .. });
                let Some((number, slot)) = self.free_thread(threaded, ready) else { return false };
                let Some(waiting) = self.queue.pop_front() else { return false };
                let begun = self.begin(number, slot, waiting);
                self.front_end.hand_over(begun);
            }
        }
        true
    }

    /// Does the loads and stores that nothing waits for, and lets fragments behind them check again.
    pub(super) fn advance_tile_buffer(&mut self) {
        let busy = self.tile_buffer.advance();
        if busy > 0 {
            self.estimate.units.tlb += busy;
            for qpu in self.qpus.iter_mut().filter(|qpu| qpu.waiting == Some(Stall::Scoreboard)) {
                qpu.waiting = None;
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

    /// Puts an invocation on a thread; returns the time at which it can begin.
    fn begin(&mut self, number: usize, slot: usize, waiting: Waiting) -> u64 {
        let Waiting { item: Item::Program(trace, tile), order, ready, .. } = waiting else { return self.start };
        let slice = self.qpus[number].slice;
        let start = if matches!(trace.invocation, Invocation::UserProgram { .. }) { 0 } else { costs::BATCH_START };
        let time = self.qpus[number].time.max(ready.unwrap_or(0)).max(self.start) + start;
        let mut thread = Thread::new(trace, order, time, tile);
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
        time - start
    }
}
