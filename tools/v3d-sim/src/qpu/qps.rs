//! QPU scheduler (QPS): the queue of user programs, and the QPUs that execute them.
//!
//! Software writes the address and length of uniforms and then the address of a program, which queues a request; the queue holds 16. A request goes
//! to a QPU that is free and not reserved against user programs; the highest number goes first, so that a lone program runs on QPU 11
//! [asurati] [hello_fft]. The status register counts requests and completed programs.
//!
//! # Order
//! A request comes after all programs of earlier ones have ended or stalled. QPUs then run in turn, always in the same order, each until it stalls, ends or
//! has executed its share of instructions. This order decides what programs that do not synchronise observe of each other. Several host threads execute
//! programs where that makes no difference: see `ahead`.
//!
//! # Sources
//! [AG p.21-22, p.89-91].

#[cfg(feature = "threads")]
mod ahead;
pub mod user_io;

pub use crate::fault::qpu::QpsFault;

use crate::counters::Counters;
use crate::device::supervision::Supervision;
use crate::fault::FaultLog;
use crate::memory::Memory;
use crate::qpu::block;
#[cfg(feature = "threads")]
use crate::qpu::io::Wait;
use crate::qpu::isa::instruction::{DecodedInstruction, Kind};
use crate::qpu::{CodeCache, Exit, Launch, Qpu, Threading};
use crate::timing::trace::{Invocation, PART_EVENTS};
use std::collections::VecDeque;
use user_io::{Setup, Shared, UserIo};
use v3d_hw::qpu::address_map::ReadSource;
use v3d_hw::registers::qps::Srqcs;
use v3d_hw::{BusAddr, Layout};

/// Depth of the queue [AG p.90].
const QUEUE_DEPTH: usize = 16;
/// Longer lengths of uniforms mean that there is no limit [AG p.91].
const MAX_LIMITED_UNIFORMS: u16 = 1023;
/// The bits of SRQUL that count.
const LENGTH_BITS: u32 = 0xfff;
/// Instructions that a QPU executes before the next QPU's turn.
const TURN_INSTRUCTIONS: u64 = 1 << 16;
/// Rows of the VPM in a unit of VPMBASE.
const ROWS_PER_UNIT: u32 = 4;
/// Reads of the status without any progress that count as a hang.
const MAX_FRUITLESS_READS: u32 = 1000;
/// Bit of a reservation that excludes user programs [AG p.89].
const NO_USER_PROGRAMS: u8 = 1;

/// A requested program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pc: BusAddr,
    uniforms: BusAddr,
    limit: Option<u32>,
}

impl Request {
    /// A program, with the uniforms that SRQUA and SRQUL give it.
    pub(crate) fn new(pc: BusAddr, uniforms: BusAddr, length: u32) -> Self {
        let length = (length & LENGTH_BITS) as u16;
        let disabled = uniforms.0 == 0 || length == 0;
        let limit = match length {
            _ if disabled => Some(0),
            words @ ..=MAX_LIMITED_UNIFORMS => Some(u32::from(words)),
            _ => None,
        };
        Self { pc, uniforms, limit }
    }
}

/// What user programs are executed with.
#[derive(Clone, Copy, Debug)]
pub struct Environment<'a> {
    /// Memory.
    pub memory: Memory<'a>,
    /// Decoded code.
    pub code: &'a CodeCache,
    /// No program executes more instructions.
    pub budget: u64,
    /// Requests stops, and passes on requests that come meanwhile.
    pub supervision: &'a Supervision,
}

/// State of a QPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Activity {
    Idle,
    Running,
    Stalled,
    /// Has exhausted its budget of instructions.
    Hung,
}

/// A QPU and its set-up registers.
#[derive(Clone, Debug)]
struct Unit {
    qpu: Qpu,
    setup: Setup,
    activity: Activity,
}

impl Unit {
    /// Notes how a turn has ended; returns whether it has made progress since `before` instructions were executed. A program that ends is counted.
    fn end_turn(&mut self, exit: Exit, before: u64, completed: &mut u8) -> bool {
        match exit {
            Exit::Ended => {
                self.activity = Activity::Idle;
                self.setup.end_program();
                *completed = completed.wrapping_add(1);
                true
            }
            Exit::Stalled => {
                self.activity = Activity::Stalled;
                self.qpu.executed() > before
            }
            Exit::OutOfBudget => true,
        }
    }
}

/// The scheduler with its QPUs.
#[derive(Clone, Debug)]
pub struct Qps {
    units: Vec<Unit>,
    /// State that the QPUs share.
    pub shared: Shared,
    /// Requests that come when everything before them has ended or stalled.
    later: VecDeque<Request>,
    queue: VecDeque<Request>,
    reservations: [u8; 16],
    uniforms: BusAddr,
    length: u16,
    requested: u8,
    completed: u8,
    error: bool,
    fruitless_reads: u32,
    /// Programs leave traces for the timing model.
    pub record: bool,
    /// Programs may run on several host threads.
    pub parallel: bool,
    #[cfg(feature = "threads")]
    ahead: ahead::Ahead,
}

impl Qps {
    /// Idle QPUs without reservations; at most 16.
    pub fn new(qpus: u8, vpm_kib: u8) -> Self {
        let unit = Unit { qpu: Qpu::new(), setup: Setup::default(), activity: Activity::Idle };
        Self {
            units: vec![unit; usize::from(qpus.min(16))],
            shared: Shared::new(vpm_kib),
            later: VecDeque::new(),
            queue: VecDeque::with_capacity(QUEUE_DEPTH),
            reservations: [0; 16],
            uniforms: BusAddr(0),
            length: 0,
            requested: 0,
            completed: 0,
            error: false,
            fruitless_reads: 0,
            record: false,
            parallel: false,
            #[cfg(feature = "threads")]
            ahead: ahead::Ahead::default(),
        }
    }

    /// SQRSV0 (`register` 0) and SQRSV1 (1): reservations of 8 QPUs, 4 bits each.
    pub fn set_reservations(&mut self, register: usize, word: u32) {
        for (i, reservation) in self.reservations.iter_mut().skip(8 * register).take(8).enumerate() {
            *reservation = (word >> (4 * i) & 15) as u8;
        }
    }

    /// The word that was written to a reservation register.
    pub fn reservations(&self, register: usize) -> u32 {
        let eight = self.reservations.iter().skip(8 * register).take(8).enumerate();
        eight.fold(0, |word, (i, &reservation)| word | u32::from(reservation) << (4 * i))
    }

    /// SRQUA: where the uniforms of the next request are.
    pub fn set_uniforms(&mut self, address: BusAddr) {
        self.uniforms = address;
    }

    /// Reads SRQUA.
    pub fn uniforms(&self) -> BusAddr {
        self.uniforms
    }

    /// SRQUL: how many uniforms the next request may read; the lowest 12 bits count.
    pub fn set_length(&mut self, words: u32) {
        self.length = (words & LENGTH_BITS) as u16;
    }

    /// Reads SRQUL.
    pub fn length(&self) -> u32 {
        u32::from(self.length)
    }

    /// VPMBASE: how much of the VPM user programs can access, in units of 4 rows.
    pub fn reserve_vpm(&mut self, units: u8) {
        self.shared.vpm.set_window(u32::from(units & 31) * ROWS_PER_UNIT);
    }

    /// SRQPC: requests a program, which [`Self::run`] then starts.
    pub fn request(&mut self, pc: BusAddr) {
        self.later.push_back(Request::new(pc, self.uniforms, self.length()));
    }

    /// Adds requests that have come while programs ran.
    pub(crate) fn add_requests(&mut self, requests: impl IntoIterator<Item = Request>) {
        self.later.extend(requests);
    }

    /// Queues a requested program, unless the queue is full or an earlier error has not been cleared.
    fn queue(&mut self, request: Request, code: &CodeCache) {
        if !self.is_running() {
            // Memory may have changed since programs ran last.
            code.clear();
        }
        self.requested = self.requested.wrapping_add(1);
        self.fruitless_reads = 0;
        self.error |= self.queue.len() >= QUEUE_DEPTH;
        if !self.error {
            self.queue.push_back(request);
        }
    }

    /// Reads SRQCS. Repeated reads without any progress are a hang, which is reported once. `memory` is needed to describe what programs wait for.
    pub fn read_status(&mut self, memory: Memory<'_>, faults: &mut FaultLog) -> u32 {
        let waits = self.is_waiting();
        self.fruitless_reads = if waits { self.fruitless_reads.saturating_add(1) } else { 0 };
        if self.fruitless_reads == MAX_FRUITLESS_READS {
            faults.report(QpsFault::Deadlock(self.stalls(memory).join(", ")));
        }
        self.status()
    }

    /// The value of SRQCS.
    pub fn status(&self) -> u32 {
        let status = Srqcs {
            qpurqcc: self.completed,
            qpurqcm: self.requested,
            qpurqerr: self.error,
            qpurql: self.queue.len() as u8,
        };
        status.to_word().unwrap_or(0)
    }

    /// Writes SRQCS: each bit that is 1 clears a counter or an error.
    pub fn write_status(&mut self, word: u32) {
        if word >> 16 & 1 == 1 {
            self.completed = 0;
        }
        if word >> 8 & 1 == 1 {
            self.requested = 0;
        }
        if word >> 7 & 1 == 1 {
            self.error = false;
        }
        if word & 1 == 1 {
            self.queue.clear();
        }
    }

    /// Whether a program is requested or has not ended.
    pub fn is_waiting(&self) -> bool {
        !self.later.is_empty() || self.is_running()
    }

    /// Whether a program is queued or has not ended.
    fn is_running(&self) -> bool {
        !self.queue.is_empty() || self.units.iter().any(|unit| unit.activity != Activity::Idle)
    }

    /// QPUs that are executing or stalled, one bit each.
    pub fn busy(&self) -> u16 {
        let busy = self.units.iter().enumerate().filter(|(_, unit)| unit.activity != Activity::Idle);
        busy.fold(0, |mask, (i, _)| mask | 1 << i)
    }

    /// Takes the QPUs' counts since the last call.
    fn take_counters(&mut self) -> Counters {
        let mut counters = Counters::default();
        for unit in &mut self.units {
            counters.merge(unit.qpu.take_counters());
        }
        counters
    }

    /// Runs all requested and stalled programs until each has ended or waits for an event that has not been requested yet. Events are counted in `counters`.
    pub fn run(&mut self, environment: &Environment<'_>, faults: &mut FaultLog, counters: &mut Counters) {
        let supervision = environment.supervision;
        #[cfg(feature = "threads")]
        if self.may_run_ahead(environment) {
            supervision.await_requests();
        }
        self.later.extend(supervision.take_requests());
        loop {
            #[cfg(feature = "threads")]
            self.run_ahead(environment, counters);
            if let Some(request) = self.later.pop_front() {
                self.queue(request, environment.code);
            }
            self.run_in_turn(environment, faults, counters);
            self.later.extend(supervision.take_requests());
            if self.later.is_empty() || supervision.all_stopped() {
                break;
            }
        }
        counters.merge(self.take_counters());
    }

    /// Whether programs may run on several host threads: they must not be watched.
    #[cfg(feature = "threads")]
    fn may_be_parallel(&self, environment: &Environment<'_>) -> bool {
        self.parallel && !self.record && !environment.memory.words().is_empty()
    }

    /// Whether requested programs may be tried at once: nothing runs, and no error keeps them from being queued.
    #[cfg(feature = "threads")]
    fn may_run_ahead(&self, environment: &Environment<'_>) -> bool {
        self.may_be_parallel(environment) && !self.is_running() && !self.error
    }

    /// Runs as many of the requested programs as possible [at once](ahead).
    #[cfg(feature = "threads")]
    fn run_ahead(&mut self, environment: &Environment<'_>, counters: &mut Counters) {
        while self.may_run_ahead(environment) && self.later.len() > 1 && self.ahead.programs.is_good() {
            let Some(number) = self.free_qpu() else { return };
            let requests = self.later.iter().take(ahead::MOST);
            let launches: Vec<_> = requests.map(|&request| self.launch(request, number)).collect();
            environment.code.clear();
            let Self { ahead, shared, units, later, .. } = self;
            let Some(unit) = units.get_mut(number) else { return };
            let ended = ahead.run_programs(&launches, &mut unit.setup, shared, environment);
            for copy in &mut *ended {
                later.pop_front();
                shared.merge(&copy.shared);
                counters.merge(copy.unit.qpu.take_counters());
            }
            if let Some(last) = ended.last_mut() {
                // Its state is what the QPU shows.
                std::mem::swap(&mut unit.qpu, &mut last.unit.qpu);
                counters.merge(last.unit.qpu.take_counters());
            }
            let count = ended.len();
            self.requested = self.requested.wrapping_add(count as u8);
            self.completed = self.completed.wrapping_add(count as u8);
            self.fruitless_reads = 0;
            if count < launches.len() {
                // The next one needs its turn.
                return;
            }
        }
    }

    /// Has running programs take their turns [at once](ahead). Returns whether one has made progress, and the number of QPUs, from 0 on, that have yet to take
    /// theirs.
    #[cfg(feature = "threads")]
    fn take_turns_at_once(&mut self, environment: &Environment<'_>) -> (bool, usize) {
        let all = self.units.len();
        let running = |unit: &Unit| unit.activity == Activity::Running;
        // To try one alone, or some that are about to stall, is of no use.
        let ready = self.units.iter().filter(|unit| running(unit) && !self.is_about_to_stall(&unit.qpu, environment));
        if !self.may_be_parallel(environment) || ready.count() < 2 || !self.ahead.turns.is_good() {
            return (false, all);
        }
        let in_order = self.units.iter().enumerate().rev().filter(|(_, unit)| running(unit));
        let in_order: Vec<_> = in_order.map(|(number, unit)| (number as u8, unit)).collect();
        let taken = self.ahead.take_turns(&in_order, &self.shared, environment);
        let (mut has_moved, mut left) = (false, all);
        for copy in taken {
            left = usize::from(copy.number);
            let Some(unit) = self.units.get_mut(left) else { continue };
            self.shared.merge(&copy.shared);
            let before = unit.qpu.executed();
            std::mem::swap(unit, &mut copy.unit);
            has_moved |= unit.end_turn(copy.exit, before, &mut self.completed);
        }
        (has_moved, left)
    }

    /// Whether the next instruction accesses a semaphore in vain.
    #[cfg(feature = "threads")]
    fn is_about_to_stall(&self, qpu: &Qpu, environment: &Environment<'_>) -> bool {
        let next = block::fetch(environment.memory, qpu.pc()).map(DecodedInstruction::decode);
        let Ok(DecodedInstruction { kind: Kind::Semaphore { number, decrement, .. }, .. }) = next else { return false };
        user_io::access(&mut self.shared.semaphores.clone(), number, decrement) == Wait::Stall
    }

    /// Runs all queued and stalled programs in turn.
    fn run_in_turn(&mut self, environment: &Environment<'_>, faults: &mut FaultLog, counters: &mut Counters) {
        for unit in self.units.iter_mut().filter(|unit| unit.activity == Activity::Stalled) {
            unit.activity = Activity::Running;
        }
        while !environment.supervision.all_stopped() {
            self.assign(faults);
            #[cfg(feature = "threads")]
            let (mut has_moved, left) = self.take_turns_at_once(environment);
            #[cfg(not(feature = "threads"))]
            let (mut has_moved, left) = (false, self.units.len());
            for number in (0..left).rev() {
                has_moved |= self.take_turn(number, environment, faults);
            }
            if !has_moved {
                break;
            }
            self.hand_over_traces(counters);
            self.fruitless_reads = 0;
            // A stalled program may be able to continue now.
            for unit in self.units.iter_mut().filter(|unit| unit.activity == Activity::Stalled) {
                unit.activity = Activity::Running;
            }
        }
    }

    /// Passes the traces of all programs to the timing model, once one of them is long.
    fn hand_over_traces(&mut self, counters: &mut Counters) {
        if self.units.iter().all(|unit| unit.qpu.recorded_events() < PART_EVENTS) {
            return;
        }
        for unit in &mut self.units {
            unit.qpu.hand_over_trace();
        }
        counters.merge(self.take_counters());
        counters.advance_timing();
    }

    /// Assigns queued programs to free QPUs.
    fn assign(&mut self, faults: &mut FaultLog) {
        while let Some(&request) = self.queue.front() {
            if !(0..self.units.len()).any(|number| self.is_allowed(number)) {
                faults.report(QpsFault::AllReserved);
                return;
            }
            let Some(number) = self.free_qpu() else { return };
            self.queue.pop_front();
            let launch = self.launch(request, number);
            let unit = &mut self.units[number];
            unit.qpu.start(&launch);
            unit.activity = Activity::Running;
        }
    }

    /// Whether user programs may run on a QPU.
    fn is_allowed(&self, number: usize) -> bool {
        self.reservations[number & 15] & NO_USER_PROGRAMS == 0
    }

    /// The QPU that gets the next program.
    fn free_qpu(&self) -> Option<usize> {
        let is_free = |number: &usize| self.units[*number].activity == Activity::Idle && self.is_allowed(*number);
        (0..self.units.len()).rev().find(is_free)
    }

    /// How a requested program starts on a QPU.
    fn launch(&self, request: Request, number: usize) -> Launch {
        Launch {
            pc: request.pc,
            uniforms: request.uniforms,
            uniforms_limit: request.limit,
            threading: Threading::Single,
            qpu: number as u8,
            record: self.record.then_some(Invocation::UserProgram { qpu: number as u8 }),
            ..Launch::default()
        }
    }

    /// Runs a QPU for one turn; returns whether it has made progress.
    fn take_turn(&mut self, number: usize, environment: &Environment<'_>, faults: &mut FaultLog) -> bool {
        let Self { units, shared, completed, .. } = self;
        let Some(unit) = units.get_mut(number) else { return false };
        let Unit { qpu, setup, activity } = unit;
        if *activity != Activity::Running {
            return false;
        }
        let before = qpu.executed();
        let left = environment.budget.saturating_sub(before);
        if left == 0 {
            faults.report(QpsFault::Endless { qpu: number as u8, pc: qpu.pc() });
            *activity = Activity::Hung;
            return false;
        }
        let mut turn = left.min(TURN_INSTRUCTIONS);
        let mut io = UserIo { qpu: number as u8, shared, setup };
        let exit = qpu.run(&mut io, environment.memory, environment.code, &mut turn);
        faults.merge(qpu.take_faults());
        unit.end_turn(exit, before, completed)
    }

    /// Describes what makes no progress: each QPU that has not ended, with its address and what it waits for, and the queue.
    pub fn stalls(&self, memory: Memory<'_>) -> Vec<String> {
        let mut stalls: Vec<String> = Vec::new();
        for (number, unit) in self.units.iter().enumerate() {
            let pc = unit.qpu.pc();
            match unit.activity {
                Activity::Idle => {}
                Activity::Hung => stalls.push(format!("QPU {number} at {pc} does not end")),
                Activity::Running | Activity::Stalled => {
                    stalls.push(format!("QPU {number} at {pc} {}", self.awaited(pc, memory)));
                }
            }
        }
        if !self.queue.is_empty() {
            stalls.push(format!("{} queued", self.queue.len()));
        }
        stalls
    }

    /// What the instruction at an address waits for.
    fn awaited(&self, pc: BusAddr, memory: Memory<'_>) -> String {
        let Ok(instruction) = block::fetch(memory, pc).map(DecodedInstruction::decode) else {
            return "is stalled".into();
        };
        if let Kind::Semaphore { number, decrement, .. } = instruction.kind {
            return format!("waits for semaphore {number} to be {}", if decrement { "raised" } else { "lowered" });
        }
        match self.shared.mutex {
            Some(holder) if [instruction.port_a, instruction.port_b].contains(&Some(ReadSource::MutexAcquire)) => {
                let idle = self.units.get(usize::from(holder)).is_some_and(|unit| unit.activity == Activity::Idle);
                let ended = if idle { ", although its program has ended" } else { "" };
                format!("waits for the mutex, which QPU {holder} holds{ended}")
            }
            _ => "is stalled".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Fault;
    use crate::memory::OwnedMemory;
    use crate::qpu::test_words::{END, NOP};

    /// The end of every program.
    const ENDING: [u64; 3] = [END, NOP, NOP];
    /// Reads MUTEX_ACQUIRE through port A.
    const TAKE_MUTEX: u64 = 0x1000_09e7_00ce_7000;
    /// `mov mutex_release, r0`: the add ALU writes address 51.
    const RELEASE_MUTEX: u64 = 0x1002_0ce7_159e_7000;
    /// `brr -, .`: back to itself after three more instructions.
    const BRANCH_TO_ITSELF: u64 = 0xf0f8_09e7_ffff_ffe0;

    const fn semaphore(number: u64, decrement: bool) -> u64 {
        0xe800_09e7_0000_0000 | (decrement as u64) << 4 | number
    }

    /// Twelve QPUs, and memory with programs 256 bytes apart.
    struct Bench {
        owned: OwnedMemory,
        programs: Qps,
        faults: FaultLog,
        counters: Counters,
    }

    impl Bench {
        fn new(programs: &[&[u64]]) -> Self {
            let owned = OwnedMemory::new(0x1000);
            for (i, body) in programs.iter().enumerate() {
                for (j, word) in body.iter().chain(&ENDING).enumerate() {
                    let at = BusAddr(0x100 * i as u32 + 8 * j as u32);
                    owned.view().set_word(at, *word as u32).unwrap();
                    owned.view().set_word(at + 4, (word >> 32) as u32).unwrap();
                }
            }
            Self { owned, programs: Qps::new(12, 12), faults: FaultLog::default(), counters: Counters::default() }
        }

        fn request(&mut self, program: u32) {
            self.programs.request(BusAddr(0x100 * program));
            self.run();
        }

        fn run(&mut self) {
            let Self { owned, programs, faults, counters } = self;
            let (code, supervision) = (&CodeCache::new(), &Supervision::default());
            programs.run(&Environment { memory: owned.view(), code, budget: 10_000, supervision }, faults, counters);
        }

        fn status(&mut self) -> Srqcs {
            Srqcs::from_word(self.programs.read_status(self.owned.view(), &mut self.faults))
        }
    }

    #[test]
    fn a_semaphore_holds_a_program_until_another_raises_it() {
        let mut bench = Bench::new(&[&[semaphore(3, true)], &[semaphore(3, false)]]);
        bench.request(0);
        assert_eq!((bench.programs.busy(), bench.status().qpurqcc), (1 << 11, 0));
        bench.request(1);
        assert_eq!((bench.programs.busy(), bench.status().qpurqcc, bench.status().qpurqcm), (0, 2, 2));
        assert_eq!(bench.programs.shared.semaphores, [0; 16]);
        assert_eq!(bench.faults.faults(), []);
    }

    #[test]
    fn only_one_program_holds_the_mutex() {
        let body = [TAKE_MUTEX, semaphore(0, true), RELEASE_MUTEX];
        let mut bench = Bench::new(&[&body, &[semaphore(0, false)]]);
        bench.request(0);
        bench.request(0);
        assert_eq!((bench.programs.busy(), bench.programs.shared.mutex), (3 << 10, Some(11)));
        bench.request(1);
        assert_eq!((bench.programs.busy(), bench.programs.shared.mutex), (1 << 10, Some(10)));
        bench.request(1);
        assert_eq!((bench.programs.busy(), bench.programs.shared.mutex), (0, None));
        assert_eq!((bench.status().qpurqcc, bench.faults.faults()), (4, &[][..]));
    }

    #[test]
    fn a_program_that_stalls_at_once_is_one_program() {
        let mut bench = Bench::new(&[&[semaphore(0, true)], &[semaphore(1, true)], &[semaphore(0, false)]]);
        for program in [0, 1, 1, 2] {
            bench.request(program);
        }
        let starts: Vec<_> = bench.counters.programs().map(|(code, events)| (code.0, events.starts)).collect();
        assert_eq!(starts, [(0, 1), (0x100, 2), (0x200, 1)]);
    }

    #[test]
    fn reserved_qpus_are_left_alone() {
        let mut bench = Bench::new(&[&[semaphore(0, true)]]);
        bench.programs.set_reservations(0, 0x1111_0111);
        bench.programs.set_reservations(1, 0x1111);
        bench.request(0);
        assert_eq!(bench.programs.busy(), 1 << 3);
        assert_eq!((bench.programs.reservations(0), bench.programs.reservations(1)), (0x1111_0111, 0x1111));
        bench.programs.set_reservations(0, 0x1111_1111);
        bench.request(0);
        assert_eq!(bench.faults.faults(), [QpsFault::AllReserved.into()]);
    }

    #[test]
    fn a_full_queue_refuses_requests_until_the_error_is_cleared() {
        let mut bench = Bench::new(&[&[semaphore(0, true)]]);
        for _ in 0..28 {
            bench.request(0);
        }
        assert_eq!((bench.status().qpurql, bench.status().qpurqerr), (16, false));
        bench.request(0);
        assert_eq!((bench.status().qpurql, bench.status().qpurqerr, bench.status().qpurqcm), (16, true, 29));
        // The queue is cleared, but not the error.
        bench.programs.write_status(1);
        bench.request(0);
        assert_eq!(bench.status().qpurql, 0);
        bench.programs.write_status(1 << 7 | 1 << 8);
        bench.request(0);
        assert_eq!((bench.status().qpurql, bench.status().qpurqerr, bench.status().qpurqcm), (1, false, 1));
    }

    #[test]
    fn waiting_for_good_is_reported_once() {
        let mut bench = Bench::new(&[&[semaphore(0, true)]]);
        bench.request(0);
        for _ in 0..3 * MAX_FRUITLESS_READS {
            bench.status();
        }
        let faults = bench.faults.faults();
        let stalled = "QPU 11 at 0x00000000 waits for semaphore 0 to be raised".to_owned();
        assert_eq!((faults, bench.faults.total()), (&[Fault::Qps(QpsFault::Deadlock(stalled))][..], 1));
    }

    #[test]
    fn stalls_are_described() {
        let mut bench = Bench::new(&[&[TAKE_MUTEX], &[NOP, semaphore(5, false), TAKE_MUTEX]]);
        bench.programs.shared.semaphores[5] = 15;
        bench.request(1);
        bench.request(0);
        let stalls = |bench: &Bench| bench.programs.stalls(bench.owned.view());
        assert_eq!(stalls(&bench), ["QPU 11 at 0x00000108 waits for semaphore 5 to be lowered"]);
        bench.programs.shared.semaphores[5] = 0;
        bench.run();
        let ended = "QPU 11 at 0x00000110 waits for the mutex, which QPU 10 holds, although its program has ended";
        assert_eq!(stalls(&bench), [ended]);
        bench.programs.set_reservations(0, 0x1111_1111);
        bench.programs.set_reservations(1, 0x1111);
        bench.request(0);
        assert_eq!(stalls(&bench), [ended, "1 queued"]);
    }

    #[test]
    fn an_endless_program_ends_as_a_fault() {
        let mut bench = Bench::new(&[&[BRANCH_TO_ITSELF, NOP, NOP, NOP]]);
        bench.request(0);
        assert!(matches!(bench.faults.faults(), [Fault::Qps(QpsFault::Endless { qpu: 11, .. })]));
        assert_eq!((bench.programs.busy(), bench.status().qpurqcc), (1 << 11, 0));
        let stalls = bench.programs.stalls(bench.owned.view());
        assert!(matches!(&stalls[..], [stall] if stall.ends_with("does not end")), "{stalls:?}");
    }
}
