//! A user program that is executed one instruction at a time, and can be changed on the way.

use crate::memory::OwnedMemory;
use crate::qpu::isa::instruction::Destination;
use crate::qpu::isa::registers::RegisterIndex;
use crate::qpu::lanes::Lanes;
use crate::qpu::qps::user_io::{Setup, Shared, UserIo};
use crate::qpu::steps::{Before, Change, State, Step, VISIBLE};
use crate::qpu::{CodeCache, Exit, Launch, Qpu};
use std::fmt;
use v3d_hw::BusAddr;
use v3d_hw::qpu::address_map::WriteTarget;

/// The VPM of the boards [asurati], and the rows of it that are reserved for user programs: all that can be.
const VPM_KIB: u8 = 12;
const VPM_WINDOW: u32 = 64;
/// After so many instructions another program does not go on: it would do so for ever.
const MOST_INSTRUCTIONS_OF_OTHERS: u64 = 1 << 24;

/// How a run ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The program has ended.
    Ended,
    /// It waits for a semaphore or the mutex, which nothing else in this run gives it.
    Waits,
    /// As many instructions as are kept have been executed.
    TooLong(usize),
    /// So many further instructions were executed, and not kept.
    LeftOut(u64),
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended => f.write_str("the program has ended"),
            Self::Waits => f.write_str("the program waits for ever, for a semaphore or the mutex"),
            Self::TooLong(steps) => write!(f, "{steps} instructions are kept, and no more: set a breakpoint earlier"),
            Self::LeftOut(steps) => write!(f, "{steps} more instructions were executed and not kept"),
        }
    }
}

/// A change by a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// A word of memory.
    Memory(BusAddr, u32),
    /// Elements of a register, as far as their bit is set.
    Register(RegisterIndex, u16, u32),
}

impl Edit {
    /// Notes the change in the step before it, as if that had made it; `before` is the state before the change.
    pub(super) fn note_in(self, step: &mut Step, before: &State) {
        match self {
            Self::Memory(address, new) => {
                let at = address.0 / 4;
                let old = before.memory.get(at as usize).copied().unwrap_or(0);
                note(&mut step.memory, at, old, new);
            }
            Self::Register(register, mask, new) => {
                let old = before.register(register);
                note(&mut step.registers, u32::from(register), old, old.select(Lanes::splat(new), mask));
            }
        }
    }
}

fn note<T>(changes: &mut Vec<Change<T>>, at: u32, old: T, new: T) {
    match changes.iter_mut().find(|change| change.at == at) {
        Some(change) => change.values[1] = new,
        None => changes.push(Change { at, values: [old, new] }),
    }
}

/// A user program with its memory, before it starts and as far as it has come.
///
/// Programs on other QPUs may belong to it, which share memory, VPM, semaphores and mutex. They run when the program waits for one of them, until it goes on.
#[derive(Debug)]
pub struct UserProgram {
    launch: Launch,
    others: Vec<Launch>,
    /// Memory before the start.
    image: Vec<u8>,
    /// Changes by a person, with the number of instructions before each.
    edits: Vec<(usize, Edit)>,
    machine: Machine,
}

/// The QPUs, and the units around them.
#[derive(Debug)]
struct Machine {
    /// Number of the QPU that is looked at.
    number: u8,
    qpu: Qpu,
    setup: Setup,
    /// The QPUs of other programs, and how far each has come.
    others: Vec<Other>,
    shared: Shared,
    memory: OwnedMemory,
    code: CodeCache,
}

/// What came of an instruction.
#[derive(Debug)]
struct Moved {
    exit: Exit,
    is_executed: bool,
    /// The others have executed something before it.
    others_ran: bool,
}

/// A QPU that is not looked at.
#[derive(Debug)]
struct Other {
    number: u8,
    qpu: Qpu,
    setup: Setup,
    has_ended: bool,
    /// Instructions that it may still execute.
    left: u64,
}

impl Machine {
    fn new((own, others): (&Launch, &[Launch]), image: &[u8]) -> Self {
        let memory = OwnedMemory::new(image.len());
        // The memory is as large as the image.
        let _ = memory.view().write(BusAddr(0), image);
        let mut shared = Shared::new(VPM_KIB);
        shared.vpm.set_window(VPM_WINDOW);
        let started = |launch: &Launch| {
            let mut qpu = Qpu::new();
            qpu.start(launch);
            qpu
        };
        let other = |launch: &Launch| Other {
            number: launch.qpu,
            qpu: started(launch),
            setup: Setup::default(),
            has_ended: false,
            left: MOST_INSTRUCTIONS_OF_OTHERS,
        };
        Self {
            number: own.qpu,
            qpu: started(own),
            setup: Setup::default(),
            others: others.iter().map(other).collect(),
            shared,
            memory,
            code: CodeCache::new(),
        }
    }

    /// Executes the next instruction. If it waits, the others run first.
    fn run_one(&mut self) -> Moved {
        let mut others_ran = false;
        loop {
            let mut io = UserIo { qpu: self.number, shared: &mut self.shared, setup: &mut self.setup };
            let (exit, is_executed) = self.qpu.run_one(&mut io, self.memory.view(), &self.code);
            if is_executed || exit != Exit::Stalled || !self.run_others() {
                return Moved { exit, is_executed, others_ran };
            }
            others_ran = true;
        }
    }

    /// Lets each of the others run until it waits or ends; whether one of them has moved.
    fn run_others(&mut self) -> bool {
        let mut has_moved = false;
        for Other { number, qpu, setup, has_ended, left } in self.others.iter_mut().filter(|other| !other.has_ended) {
            let before = qpu.executed();
            let mut io = UserIo { qpu: *number, shared: &mut self.shared, setup };
            let exit = qpu.run(&mut io, self.memory.view(), &self.code, left);
            *has_ended = exit != Exit::Stalled;
            has_moved |= qpu.executed() > before;
        }
        has_moved
    }

    fn apply(&mut self, edit: Edit) -> Result<(), &'static str> {
        match edit {
            Edit::Memory(address, word) => {
                if !address.0.is_multiple_of(4) {
                    return Err("words stand at multiples of 4 bytes");
                }
                self.memory.view().set_word(address, word).map_err(|_| "there is no memory at this address")?;
                // It may be code.
                self.code = CodeCache::new();
                Ok(())
            }
            Edit::Register(register, mask, word) => {
                if usize::from(register) >= VISIBLE {
                    return Err("there is no such register");
                }
                self.qpu.change_register(register, Lanes::splat(word), mask);
                Ok(())
            }
        }
    }
}

impl UserProgram {
    /// A program in memory.
    pub fn new(launch: Launch, image: Vec<u8>) -> Self {
        Self::with_others(launch, &[], image)
    }

    /// A program in memory, and those that run beside it, each on the QPU that its launch names.
    pub fn with_others(launch: Launch, others: &[Launch], image: Vec<u8>) -> Self {
        let machine = Machine::new((&launch, others), &image);
        Self { launch, others: others.to_vec(), image, edits: Vec::new(), machine }
    }

    /// The present state.
    pub(super) fn state(&self) -> State {
        let Machine { qpu, shared, memory, .. } = &self.machine;
        State::of(qpu, shared.vpm.rows(), Some(memory.view()))
    }

    /// Executes the next instruction; `state` is that before it.
    pub(super) fn step(&mut self, state: &State) -> Result<Step, End> {
        let machine = &mut self.machine;
        let before = Before::new(state, &machine.qpu, machine.memory.view());
        let (stores, uses_vpm) = before.word().map_or((false, false), touches);
        let Moved { exit, is_executed, others_ran } = machine.run_one();
        if !is_executed {
            return Err(if exit == Exit::Stalled { End::Waits } else { End::Ended });
        }
        let vpm = if uses_vpm || others_ran { machine.shared.vpm.rows() } else { &[] };
        Ok(before.step(&machine.qpu, vpm, (stores || others_ran).then(|| machine.memory.view())))
    }

    /// Executes the program again up to a position, makes a change there, and returns the state.
    pub(super) fn edit(&mut self, position: usize, edit: Edit) -> Result<State, &'static str> {
        let mut machine = Machine::new((&self.launch, &self.others), &self.image);
        let mut edits: Vec<_> = self.edits.iter().copied().filter(|(at, _)| *at <= position).collect();
        edits.push((position, edit));
        let mut left = edits.iter().peekable();
        for executed in 0..=position {
            while let Some((_, edit)) = left.next_if(|(at, _)| *at == executed) {
                machine.apply(*edit)?;
            }
            if executed < position {
                machine.run_one();
            }
        }
        self.edits = edits;
        self.machine = machine;
        Ok(self.state())
    }
}

/// Whether an instruction can change memory, and whether it can change the VPM.
fn touches(word: u64) -> (bool, bool) {
    let writes = |wanted| super::place::targets(word).any(|target| target == Destination::Peripheral(wanted));
    (writes(WriteTarget::VpmStAddr), writes(WriteTarget::VpmWrite) || writes(WriteTarget::VpmLdAddr))
}
