//! Jobs that run beside software: a write starts one, another thread executes it, and registers answer meanwhile.
//!
//! [`V3d::post`] writes a register as [`V3d::write`] does, but hands what it starts to the caller as [`Work`]. Until [`V3d::finish`] takes the work back:
//!
//! - interrupts, their enables, BFC, RFC and SCRATCH are read and written as ever;
//! - the other registers read as at the start, or as written since; CTnCA shows the [supervision](crate::device::supervision);
//! - other writes are carried out when the work is done, in their order: what is computed is the same as if each write had waited for the one before it. Only
//!   CTRSTA stops the thread that it resets at once, and [`V3d::stop`] everything. User programs that are requested in succession are handed to the thread
//!   that executes the first.

use super::{Units, V3d};
use crate::device::supervision::Supervision;
use crate::memory::Memory;
use crate::qpu::qps::Request;
use std::collections::VecDeque;
use std::sync::Arc;
use v3d_hw::registers::cle::Ctncs;
use v3d_hw::registers::{Register, Thread};
use v3d_hw::{BusAddr, Layout};

/// What a write has started, to be [executed](Work::run) by any thread and then [taken back](V3d::finish).
#[derive(Debug)]
pub struct Work {
    units: Units,
    supervision: Arc<Supervision>,
}

impl Work {
    /// Executes it as far as possible: to its end, to a wait for memory, to an error, or until it is stopped.
    pub fn run(&mut self, memory: &Memory<'_>) {
        self.units.run(*memory, &self.supervision);
    }
}

/// The registers while a job runs beside software.
#[derive(Debug)]
pub(super) struct Beside {
    supervision: Arc<Supervision>,
    /// What registers read, by their number in the block.
    values: Vec<u32>,
    /// Writes that wait.
    waiting: VecDeque<(Register, u32)>,
    /// Requests of user programs need not wait: no other write does but those of their uniforms.
    takes_requests: bool,
    /// The byte behind a record is shown, and not the record's first.
    behind: bool,
}

impl Beside {
    fn value_mut(&mut self, register: Register) -> Option<&mut u32> {
        self.values.get_mut(register.offset() as usize / 4)
    }

    /// Lets a write wait, and shows its value.
    fn wait(&mut self, register: Register, value: u32) {
        if register == Register::SRQPC && self.takes_requests {
            let [uniforms, length] =
                [Register::SRQUA, Register::SRQUL].map(|it| self.value_mut(it).map_or(0, |it| *it));
            self.supervision.add_request(Request::new(BusAddr(value), BusAddr(uniforms), length));
            return;
        }
        self.takes_requests &= matches!(register, Register::SRQUA | Register::SRQUL);
        self.waiting.push_back((register, value));
        let shown = match register {
            Register::CT0CS | Register::CT1CS => {
                let resets = Ctncs::from_word(value).ctrsta;
                if resets {
                    self.supervision.stop(if register == Register::CT0CS {
                        Thread::Binning
                    } else {
                        Thread::Rendering
                    });
                }
                resets.then_some(0)
            }
            // They start something or clear something, and do not read as written.
            Register::L2CACTL
            | Register::SLCACTL
            | Register::CT0LC
            | Register::CT1LC
            | Register::SRQPC
            | Register::SRQCS
            | Register::PCTRC => None,
            _ => Some(value),
        };
        if let (Some(shown), Some(place)) = (shown, self.value_mut(register)) {
            *place = shown;
        }
    }

    /// What CTnCA reads: where the thread is, unless it has been written since.
    fn current(&mut self, register: Register, thread: Thread) -> u32 {
        let is_written = self.waiting.iter().any(|&(written, _)| written == register);
        let at = self.supervision.record(thread);
        if is_written || at == BusAddr(0) {
            return self.value_mut(register).map_or(0, |value| *value);
        }
        self.behind ^= self.supervision.take_moved();
        at.0.wrapping_add(u32::from(self.behind))
    }
}

/// Whether a register belongs to the interrupts and counters that answer at any time.
const fn is_at_hand(register: Register) -> bool {
    matches!(
        register,
        Register::SCRATCH
            | Register::INTCTL
            | Register::INTENA
            | Register::INTDIS
            | Register::BFC
            | Register::RFC
            | Register::DBCFG
            | Register::DBQITE
            | Register::DBQITC
    )
}

impl V3d {
    /// Writes the register at a byte offset. What the write starts is not executed: the caller has it executed, and calls [`Self::finish`].
    ///
    /// With the coherence check nothing is handed out: the work is done when this returns.
    pub fn post(&mut self, memory: &Memory<'_>, offset: u32, value: u32) -> Option<Work> {
        let register = Register::from_offset(offset)?;
        if self.beside.is_none() && self.units.coherence.is_some() {
            self.write(memory, offset, value);
            return None;
        }
        self.post_register(memory, register, value)
    }

    fn post_register(&mut self, memory: &Memory<'_>, register: Register, value: u32) -> Option<Work> {
        if let Some(beside) = &mut self.beside {
            if is_at_hand(register) {
                self.store_register(register, value);
            } else {
                beside.wait(register, value);
            }
            return None;
        }
        self.store_register(register, value);
        self.start(memory)
    }

    /// Starts what can be executed, as work beside software.
    fn start(&mut self, memory: &Memory<'_>) -> Option<Work> {
        if !self.units.are_runnable() {
            self.run(*memory);
            return None;
        }
        let mut values = Vec::new();
        for register in (0..0x1000).step_by(4).map(Register::from_offset) {
            values.push(register.map_or(0, |register| self.read_register(register)));
        }
        let supervision = Arc::new(Supervision::beside());
        // What a list does comes before later programs.
        let takes_requests = !self.units.cle.is_runnable();
        let (waiting, behind) = (VecDeque::new(), false);
        self.beside = Some(Beside { supervision: Arc::clone(&supervision), values, waiting, takes_requests, behind });
        let units = std::mem::replace(&mut self.units, Units::new(&self.config));
        Some(Work { units, supervision })
    }

    /// Takes work back that has been executed, and carries out the writes that have waited for it; one of them may start work again. Work from before a reset
    /// is dropped.
    pub fn finish(&mut self, memory: &Memory<'_>, work: Work) -> Option<Work> {
        let beside = self.beside.take_if(|beside| Arc::ptr_eq(&beside.supervision, &work.supervision))?;
        let idle = std::mem::replace(&mut self.units, work.units);
        for fault in idle.faults.faults() {
            self.units.faults.report(fault.clone());
        }
        self.latch_events();
        let mut waiting = beside.waiting;
        // They came too late to be seen, but before all writes that wait.
        let requests = beside.supervision.take_requests();
        let mut work = None;
        if !requests.is_empty() {
            self.units.qps.add_requests(requests);
            work = self.start(memory);
        }
        loop {
            if let (Some(work), Some(beside)) = (work, &mut self.beside) {
                for (register, value) in waiting {
                    beside.wait(register, value);
                }
                return Some(work);
            }
            let (register, value) = waiting.pop_front()?;
            work = self.post_register(memory, register, value);
        }
    }

    /// Whether work is out.
    pub fn is_beside(&self) -> bool {
        self.beside.is_some()
    }

    /// Requests that work which is out ends soon, because its results are not wanted: before a [reset](Self::reset).
    pub fn stop(&self) {
        if let Some(beside) = &self.beside {
            beside.supervision.stop_all();
        }
    }

    /// Reads a register while work is out.
    pub(super) fn read_beside(&mut self, register: Register) -> Option<u32> {
        let beside = self.beside.as_mut()?;
        match register {
            Register::CT0CA => Some(beside.current(register, Thread::Binning)),
            Register::CT1CA => Some(beside.current(register, Thread::Rendering)),
            _ if is_at_hand(register) => None,
            _ => beside.value_mut(register).copied(),
        }
    }
}
