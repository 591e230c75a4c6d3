//! A test double of the V3D whose lists run, wait, hang and fail as configured.
//!
//! It executes nothing. The behaviour of a list is looked up by its address, and it advances by one step whenever the driver sleeps. So the driver's
//! scheduling, overlapping and recovery can be tested step by step, which the model does not allow: it executes a list at once.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use v3d::Interrupts;
use v3d::hw::registers::cle::Ctncs;
use v3d::hw::registers::interrupt::Intctl;
use v3d::hw::registers::pipeline::Pcs;
use v3d::hw::registers::qps::Srqcs;
use v3d::hw::registers::{IDENT0_VALUE, Register};
use v3d::hw::{BusAddr, Layout};
use v3d::platform::{GpuMemory, Power, PowerError, RegisterAccess, Time};

/// Behaviour of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Behaviour {
    /// Ends after this number of steps.
    Ends(u32),
    /// Takes this number of blocks of overflow memory, then ends.
    Takes(u32),
    /// Its thread stops at once, but its frame is counted only after this number of steps more.
    CountsLate(u32),
    /// A rendering list that does not wait for the semaphore, and ends after this number of steps.
    NeverWaits(u32),
    /// A rendering list that is still running when its frame has been counted.
    RunsOn,
    /// Makes no progress.
    Hangs,
    /// Makes progress for ever.
    Loops,
    /// Stops with an error.
    Fails,
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Starts(usize, BusAddr),
    Ends(usize, BusAddr),
    StartsProgram,
    Resets,
}

/// One control list thread.
#[derive(Clone, Copy, Debug, Default)]
struct Thread {
    start: u32,
    current: u32,
    end: u32,
    steps: u32,
    running: bool,
    waiting: bool,
    error: bool,
    /// Steps until the frame of a list that has ended is counted.
    late: u32,
}

#[derive(Debug, Default)]
struct State {
    registers: HashMap<Register, u32>,
    threads: [Thread; 2],
    semaphore: u32,
    counts: [u8; 2],
    causes: Intctl,
    enabled: u32,
    /// Blocks that the binner still needs for this list.
    wanted: u32,
    out_of_memory: bool,
    overflow: Vec<(u32, u32)>,
    programs: Vec<u32>,
    completed: u8,
}

/// The engine, its memory and its clock.
#[derive(Debug)]
pub(crate) struct Engine {
    state: RefCell<State>,
    memory: RefCell<Vec<u8>>,
    now_us: Cell<u64>,
    pub(crate) behaviours: RefCell<HashMap<BusAddr, Vec<Behaviour>>>,
    pub(crate) events: RefCell<Vec<Event>>,
    pub(crate) interrupts: Interrupts,
    /// Whether the interrupt line is connected.
    pub(crate) line: Cell<bool>,
    /// Whether the board can reset the V3D.
    pub(crate) resettable: Cell<bool>,
    /// Whether a reset is reported to have worked, and has not.
    pub(crate) reset_is_lost: Cell<bool>,
    /// Whether user programs end.
    pub(crate) programs_end: Cell<bool>,
    /// Overflow blocks the binner has taken, by address.
    pub(crate) taken: RefCell<Vec<u32>>,
    pub(crate) ident0: Cell<u32>,
    /// Number of writes to INTENA.
    pub(crate) enables: Cell<u32>,
    /// What CTSEMA of thread 1 shows whatever the semaphore is.
    pub(crate) stuck_semaphore: Cell<Option<u8>>,
    /// Whether OUTOMEM is set again without a cause.
    pub(crate) out_of_memory_is_stuck: Cell<bool>,
    /// Whether BMOOM is set because the binner has had no memory since the reset.
    pub(crate) lacks_first_memory: Cell<bool>,
    /// What registers without a behaviour read.
    pub(crate) constants: RefCell<HashMap<Register, u32>>,
}

impl Engine {
    pub(crate) const BASE: BusAddr = BusAddr(0xc100_0000);

    pub(crate) fn new(bytes: usize) -> Self {
        Self {
            state: RefCell::default(),
            memory: RefCell::new(vec![0; bytes]),
            now_us: Cell::new(1),
            behaviours: RefCell::default(),
            events: RefCell::default(),
            interrupts: Interrupts::new(),
            line: Cell::new(true),
            resettable: Cell::new(true),
            reset_is_lost: Cell::new(false),
            programs_end: Cell::new(true),
            taken: RefCell::default(),
            ident0: Cell::new(IDENT0_VALUE),
            enables: Cell::new(0),
            stuck_semaphore: Cell::new(None),
            out_of_memory_is_stuck: Cell::new(false),
            lacks_first_memory: Cell::new(false),
            constants: RefCell::default(),
        }
    }

    /// Sets the behaviour of the list at `start` for each time that it is started; the last one is kept.
    pub(crate) fn script(&self, start: BusAddr, behaviours: &[Behaviour]) {
        self.behaviours.borrow_mut().insert(start, behaviours.to_vec());
    }

    fn behaviour(&self, start: u32) -> Behaviour {
        let behaviours = self.behaviours.borrow();
        behaviours.get(&BusAddr(start)).and_then(|list| list.first().copied()).unwrap_or(Behaviour::Ends(1))
    }

    /// The list at `start` was started: next time, its next behaviour is used.
    fn advance(&self, start: u32) {
        if let Some(list) = self.behaviours.borrow_mut().get_mut(&BusAddr(start))
            && list.len() > 1
        {
            list.remove(0);
        }
    }

    fn start(&self, number: usize, end: u32) {
        let mut state = self.state.borrow_mut();
        let thread = &mut state.threads[number];
        if thread.running || thread.current == end {
            return;
        }
        let waits =
            number == 1 && !matches!(self.behaviour(thread.current), Behaviour::NeverWaits(_) | Behaviour::RunsOn);
        *thread = Thread { start: thread.current, end, running: true, waiting: waits, ..*thread };
        thread.steps = 0;
        let start = thread.start;
        if let Behaviour::Takes(blocks) = self.behaviour(start) {
            state.wanted = blocks;
        }
        self.events.borrow_mut().push(Event::Starts(number, BusAddr(start)));
    }

    /// Advances everything by a step.
    fn step(&self) {
        for number in 0..2 {
            self.step_thread(number);
        }
        let mut state = self.state.borrow_mut();
        if self.programs_end.get() && !state.programs.is_empty() {
            state.programs.remove(0);
            state.completed = state.completed.wrapping_add(1);
        }
    }

    fn step_thread(&self, number: usize) {
        let mut state = self.state.borrow_mut();
        let mut thread = state.threads[number];
        if thread.late > 0 {
            state.threads[number].late -= 1;
            if thread.late == 1 {
                self.count(&mut state, number);
            }
            return;
        }
        if !thread.running || thread.error {
            return;
        }
        if thread.waiting {
            if state.semaphore == 0 {
                return;
            }
            state.semaphore -= 1;
            thread.waiting = false;
        }
        thread.steps += 1;
        if number == 0 {
            // Tile Binning Mode Configuration.
            self.lacks_first_memory.set(false);
        }
        match self.behaviour(thread.start) {
            Behaviour::Hangs => {}
            Behaviour::Loops => thread.current ^= 4,
            Behaviour::Fails => {
                thread.error = true;
                thread.running = false;
            }
            Behaviour::Takes(_) if number == 0 && state.wanted > 0 => {
                state.out_of_memory = true;
                state.causes.int_outomem = true;
            }
            Behaviour::Ends(steps) | Behaviour::NeverWaits(steps) if thread.steps < steps => thread.current += 1,
            Behaviour::RunsOn if thread.steps > 1 => {}
            Behaviour::RunsOn => self.count(&mut state, number),
            behaviour => {
                thread.running = false;
                thread.current = thread.end;
                match behaviour {
                    Behaviour::CountsLate(steps) => thread.late = steps,
                    _ => self.count(&mut state, number),
                }
            }
        }
        state.threads[number] = thread;
    }

    /// The frame of a thread's list is complete.
    fn count(&self, state: &mut State, number: usize) {
        state.counts[number] = state.counts[number].wrapping_add(1);
        if number == 0 {
            // It has three bits.
            state.semaphore = (state.semaphore + 1).min(7);
            state.causes.int_fldone = true;
        } else {
            state.causes.int_frdone = true;
        }
        let start = state.threads[number].start;
        self.events.borrow_mut().push(Event::Ends(number, BusAddr(start)));
        self.advance(start);
    }

    /// Sets OUTOMEM, which stays set as long as `out_of_memory_is_stuck`.
    pub(crate) fn keep_out_of_memory_up(&self) {
        self.out_of_memory_is_stuck.set(true);
        self.state.borrow_mut().causes.int_outomem = true;
    }

    /// Whether the V3D asserts its interrupt line.
    pub(crate) fn raised(&self) -> bool {
        let state = self.state.borrow();
        state.causes.to_word().unwrap() & state.enabled != 0
    }

    /// The binner takes the block that it was given, and may need another.
    fn take_block(&self) {
        let mut state = self.state.borrow_mut();
        if let Some((address, _)) = state.overflow.pop()
            && state.out_of_memory
        {
            state.out_of_memory = false;
            state.wanted -= 1;
            self.taken.borrow_mut().push(address);
        }
    }
}

impl RegisterAccess for Engine {
    fn read(&self, register: Register) -> u32 {
        let state = self.state.borrow();
        let status = |number: usize| {
            let thread = state.threads[number];
            let ctsema = if number == 1 { self.stuck_semaphore.get().unwrap_or(state.semaphore as u8) } else { 0 };
            Ctncs { ctsema, ctrun: thread.running, cterr: thread.error, ..Ctncs::default() }.to_word().unwrap()
        };
        match register {
            Register::IDENT0 => self.ident0.get(),
            Register::IDENT1 => 0xc010_2431,
            Register::CT0CS => status(0),
            Register::CT1CS => status(1),
            Register::CT0CA => state.threads[0].current,
            Register::CT1CA => state.threads[1].current,
            Register::BFC => state.counts[0].into(),
            Register::RFC => state.counts[1].into(),
            Register::INTCTL => state.causes.to_word().unwrap(),
            Register::INTENA => state.enabled,
            Register::PCS => {
                let busy = state.threads.map(|thread| thread.running);
                let bmoom = state.out_of_memory || self.lacks_first_memory.get();
                let pcs = Pcs { bmoom, bmactive: busy[0], rmactive: busy[1], ..Pcs::default() };
                pcs.to_word().unwrap()
            }
            Register::SRQCS => Srqcs { qpurqcc: state.completed, ..Srqcs::default() }.to_word().unwrap(),
            _ => self.constants.borrow().get(&register).or(state.registers.get(&register)).copied().unwrap_or(0),
        }
    }

    fn write(&self, register: Register, value: u32) {
        let mut state = self.state.borrow_mut();
        match register {
            Register::INTCTL => {
                let left = state.causes.to_word().unwrap() & !value;
                state.causes = Intctl::from_word(left);
                state.causes.int_outomem |= state.out_of_memory || self.out_of_memory_is_stuck.get();
            }
            Register::INTENA => {
                self.enables.set(self.enables.get() + 1);
                state.enabled |= value;
            }
            Register::INTDIS => state.enabled &= !value,
            Register::CT0CS if Ctncs::from_word(value).ctrsta => state.threads[0] = Thread::default(),
            Register::CT1CS if Ctncs::from_word(value).ctrsta => {
                state.threads[1] = Thread::default();
                state.semaphore = 0;
            }
            // Ignored while the thread runs, as on hardware.
            Register::CT0CA if !state.threads[0].running => state.threads[0].current = value,
            Register::CT1CA if !state.threads[1].running => state.threads[1].current = value,
            Register::CT0EA | Register::CT1EA => {
                drop(state);
                self.start(usize::from(register == Register::CT1EA), value);
            }
            Register::BPOS if value > 0 => {
                self.lacks_first_memory.set(false);
                let address = state.registers.get(&Register::BPOA).copied().unwrap_or(0);
                state.overflow.push((address, value));
                drop(state);
                self.take_block();
            }
            Register::SRQPC => {
                assert!(state.threads.iter().all(|thread| !thread.running), "a user program beside 3D (HW-2959)");
                state.programs.push(value);
                self.events.borrow_mut().push(Event::StartsProgram);
            }
            Register::SRQCS => state.completed = 0,
            _ => {
                state.registers.insert(register, value);
            }
        }
    }
}

impl GpuMemory for Engine {
    fn base(&self) -> BusAddr {
        Self::BASE
    }

    fn bytes(&self) -> u32 {
        self.memory.borrow().len() as u32
    }

    fn store(&self, offset: u32, bytes: &[u8]) {
        self.memory.borrow_mut()[offset as usize..][..bytes.len()].copy_from_slice(bytes);
    }

    fn load(&self, offset: u32, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.memory.borrow()[offset as usize..][..bytes.len()]);
    }
}

impl Time for Engine {
    fn now_us(&self) -> u64 {
        self.now_us.get()
    }

    fn wait_until(&self, deadline_us: u64) {
        self.step();
        if self.line.get() && self.raised() {
            self.interrupts.service(self);
            self.now_us.set(self.now_us.get() + 10);
        } else {
            self.now_us.set(deadline_us.max(self.now_us.get()));
        }
    }
}

impl Power for Engine {
    fn reset(&self) -> Result<(), PowerError> {
        self.events.borrow_mut().push(Event::Resets);
        // Lists that were running at the reset have been started.
        let running: Vec<u32> =
            self.state.borrow().threads.iter().filter(|thread| thread.steps > 0).map(|thread| thread.start).collect();
        running.into_iter().for_each(|start| self.advance(start));
        if !self.resettable.get() {
            return Err(PowerError("the bridge does not answer"));
        }
        if !self.reset_is_lost.get() {
            *self.state.borrow_mut() = State::default();
        }
        Ok(())
    }
}
