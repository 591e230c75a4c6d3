//! The executor's registers: CTnCS, CTnCA, CTnEA, CTnRA0, CTnLC, CTnPC [AG p.85-87].

use super::index_data::IndexData;
use super::{Cle, ListThread, Run};
use v3d_hw::BusAddr;
use v3d_hw::registers::Thread;
use v3d_hw::registers::cle::Ctncs;

impl Cle {
    /// Reads CTnCS.
    pub fn status(&self, thread: Thread) -> Ctncs {
        let list = self.thread(thread);
        let prefix = self.ptb.is_binning() && self.ptb.state_counter() == 0;
        Ctncs {
            ctrsta: false,
            ctsema: list.semaphore,
            ctrtsd: list.returns.len() as u8 + u8::from(self.indices(thread).is_some()),
            ctrun: list.is_running(),
            ctsubs: matches!(list.run, Run::StoppedAtHalt | Run::Waiting),
            cterr: list.error,
            ctmode: thread == Thread::Binning && prefix,
        }
    }

    /// Writes CTnCS.
    pub fn control(&mut self, thread: Thread, word: Ctncs) {
        if word.ctrsta {
            self.reset(thread);
            return;
        }
        if word.ctrun {
            self.thread_mut(thread).run = Run::StoppedAtHalt;
        }
        if word.ctsubs && self.thread(thread).run == Run::StoppedAtHalt {
            self.thread_mut(thread).run = Run::StoppedAtEnd;
            self.start(thread);
        }
    }

    /// Stops a thread and what it drives. A program that does not end goes on: after such a hang every later job timed out on a board, until the V3D was reset
    /// as a whole [piegpu].
    fn reset(&mut self, thread: Thread) {
        let ListThread { current, end, flushes, sub_lists, is_stuck, .. } = *self.thread(thread);
        *self.thread_mut(thread) = ListThread { current, end, flushes, sub_lists, is_stuck, ..ListThread::new() };
        match thread {
            Thread::Binning => {
                self.ptb.reset();
                self.out_of_memory = false;
            }
            Thread::Rendering => {
                self.renderer.reset();
                self.in_frame = false;
            }
        }
    }

    /// Reads CTnCA.
    pub const fn current(&self, thread: Thread) -> BusAddr {
        self.thread(thread).current
    }

    /// Writes CTnCA, which only a stopped thread accepts; whether it did.
    pub fn set_current(&mut self, thread: Thread, address: BusAddr) -> bool {
        let list = self.thread_mut(thread);
        if list.is_running() {
            return false;
        }
        list.current = address;
        list.returns.clear();
        list.indices = None;
        list.run = Run::StoppedAtEnd;
        true
    }

    /// Reads CTnEA.
    pub const fn end(&self, thread: Thread) -> BusAddr {
        self.thread(thread).end
    }

    /// Writes CTnEA, which starts a thread that is "stopped at end".
    pub fn set_end(&mut self, thread: Thread, address: BusAddr) {
        self.thread_mut(thread).end = address;
        self.start(thread);
    }

    fn start(&mut self, thread: Thread) {
        let budget = self.budget;
        let list = self.thread_mut(thread);
        if list.run == Run::StoppedAtEnd && list.current != list.end {
            if let Some(IndexData { record, stopped_with: Some(_), .. }) = list.indices.take() {
                // The end address has moved away from the index data: they are read now.
                list.current = record;
            }
            list.run = Run::Running;
            list.error = false;
            list.records_left = budget.records;
            list.instructions_left = if list.is_stuck { 0 } else { budget.instructions };
            self.clear_code();
        }
    }

    /// Reads CTnRA0: the address on top of the return stack.
    pub fn return_address(&self, thread: Thread) -> BusAddr {
        let from_sub_list = || self.thread(thread).returns.last().copied();
        self.return_from_indices(thread).or_else(from_sub_list).unwrap_or_default()
    }

    /// The counters of CTnLC: flushes and returns.
    pub const fn list_counters(&self, thread: Thread) -> (u16, u16) {
        let list = self.thread(thread);
        (list.flushes, list.sub_lists)
    }

    /// Clears counters of CTnLC.
    pub const fn clear_list_counters(&mut self, thread: Thread, flushes: bool, sub_lists: bool) {
        let list = self.thread_mut(thread);
        if flushes {
            list.flushes = 0;
        }
        if sub_lists {
            list.sub_lists = 0;
        }
    }

    /// Reads CTnPC: primitives that remain of the primitive list in progress. Only the binner can stop in the middle of one; both threads can stop at the
    /// start of index data.
    pub fn primitives_left(&self, thread: Thread) -> u32 {
        let stopped_with = self.stopped_at_indices(thread).and_then(|indices| indices.stopped_with);
        let left = match (stopped_with, thread) {
            (Some(primitives), _) => primitives,
            (None, Thread::Binning) => self.ptb.remaining(),
            (None, Thread::Rendering) => 0,
        };
        u32::try_from(left).unwrap_or(u32::MAX)
    }
}
