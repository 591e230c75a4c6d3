//! Steps: what each instruction of a run has changed, so that the run can be looked at forward and back.
//!
//! A [`Run`] has the state before its first instruction and the difference that each instruction makes. Every state between is these differences applied, or
//! taken back. A [`stepper`](crate::stepper) moves along it.

use super::isa::registers::{Flags, RegisterIndex};
use super::lanes::Lanes;
use super::{Qpu, block};
use crate::fault::Fault;
use crate::memory::Memory;
use v3d_hw::BusAddr;
use v3d_hw::qpu::{Instruction, Signal};

/// Registers that software sees: files A and B, then r0 to r5.
pub const VISIBLE: usize = 70;

/// The queues between a QPU and one of its TMUs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TmuQueues {
    /// Coordinates of the next lookup that have been written: s, t, r, b.
    pub coordinates: [Option<Lanes>; 4],
    /// Results that have not been loaded, the next one first. The model has a result as soon as its lookup starts; a chip has it some cycles later.
    pub results: Vec<Lanes>,
}

/// What a program can see of its QPU and of the units around it, before an instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Address of the next instruction.
    pub pc: BusAddr,
    /// Files A and B, then r0 to r5.
    pub registers: Vec<Lanes>,
    /// The flags.
    pub flags: Flags,
    /// Address of the next uniform.
    pub uniforms: BusAddr,
    /// The queues of TMU 0 and 1.
    pub tmus: [TmuQueues; 2],
    /// Rows of the VPM; none in a program that is shown without them.
    pub vpm: Vec<Lanes>,
    /// Words of memory from address 0 on; none in a program that is shown without them.
    pub memory: Vec<u32>,
}

impl State {
    /// The state of a QPU.
    pub fn of(qpu: &Qpu, vpm: &[Lanes], memory: Option<Memory<'_>>) -> Self {
        Self {
            pc: qpu.pc(),
            registers: qpu.registers().visible().to_vec(),
            flags: *qpu.flags(),
            uniforms: qpu.uniforms(),
            tmus: [0, 1].map(|unit| queues(qpu, unit)),
            vpm: vpm.to_vec(),
            memory: memory.map(words).unwrap_or_default(),
        }
    }

    /// A register.
    pub fn register(&self, register: RegisterIndex) -> Lanes {
        self.registers.get(usize::from(register)).copied().unwrap_or_default()
    }

    /// Applies a step.
    pub fn advance(&mut self, step: &Step) {
        self.apply(step, 1);
    }

    /// Takes a step back.
    pub fn go_back(&mut self, step: &Step) {
        self.apply(step, 0);
    }

    fn apply(&mut self, step: &Step, side: usize) {
        self.pc = if side == 0 { step.pc } else { step.next };
        self.flags = step.flags[side];
        self.uniforms = step.uniforms[side];
        for Change { at, values } in &step.registers {
            set(&mut self.registers, *at as usize, values[side]);
        }
        for Change { at, values } in &step.vpm {
            set(&mut self.vpm, *at as usize, values[side]);
        }
        for Change { at, values } in &step.memory {
            set(&mut self.memory, *at as usize, values[side]);
        }
        if let Some(tmus) = &step.tmus {
            self.tmus = tmus[side].clone();
        }
    }
}

fn set<T>(values: &mut [T], at: usize, value: T) {
    if let Some(place) = values.get_mut(at) {
        *place = value;
    }
}

/// All words of memory.
fn words(memory: Memory<'_>) -> Vec<u32> {
    (0..memory.bytes() / 4).map(|word| memory.word(BusAddr(word as u32 * 4)).unwrap_or(0)).collect()
}

fn queues(qpu: &Qpu, unit: usize) -> TmuQueues {
    let tmu = qpu.tmu(unit);
    TmuQueues { coordinates: tmu.coordinates(), results: tmu.results().collect() }
}

/// Something that an instruction has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change<T> {
    /// Its number.
    pub at: u32,
    /// Its value before and after the instruction.
    pub values: [T; 2],
}

/// One instruction, and what it has changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Address of the instruction.
    pub pc: BusAddr,
    /// Address of the next one that is executed.
    pub next: BusAddr,
    /// The instruction.
    pub word: u64,
    /// Registers of files A and B, and accumulators.
    pub registers: Vec<Change<Lanes>>,
    /// Rows of the VPM.
    pub vpm: Vec<Change<Lanes>>,
    /// Words of memory.
    pub memory: Vec<Change<u32>>,
    /// The flags before and after it.
    pub flags: [Flags; 2],
    /// Address of the next uniform, before and after it.
    pub uniforms: [BusAddr; 2],
    /// The queues of the TMUs before and after it, if it has used them.
    pub tmus: Option<Box<[[TmuQueues; 2]; 2]>>,
    /// Rules that it broke, and what else the model has reported of it.
    pub faults: Vec<Fault>,
}

impl Step {
    /// The signal of the instruction that means something to other units or to the program's course; none for those that only say how it is encoded.
    pub fn signal(&self) -> Option<Signal> {
        signal(self.word)
    }
}

/// The signal of an instruction, if it is one that means something beyond the instruction's encoding.
pub fn signal(word: u64) -> Option<Signal> {
    let signal = match Instruction::decode(word) {
        Instruction::Alu(alu) => alu.sig,
        _ => return None,
    };
    (!matches!(signal, Signal::None | Signal::SmallImmediate | Signal::LoadImmediate | Signal::Branch))
        .then_some(signal)
}

/// A run of a program: its first state and its steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// Address of the program's first instruction.
    pub program: BusAddr,
    /// The state before the first instruction.
    pub first: State,
    /// The instructions that have been executed, in order.
    pub steps: Vec<Step>,
    /// Instructions behind them that were executed and not kept.
    pub left_out: u64,
}

impl Run {
    /// A run that begins.
    pub fn new(first: State) -> Self {
        Self { program: first.pc, first, steps: Vec::new(), left_out: 0 }
    }
}

/// What is compared to find a step: the state before it.
#[derive(Debug)]
pub struct Before<'s> {
    state: &'s State,
    faults: usize,
    word: Option<u64>,
}

impl<'s> Before<'s> {
    /// Before an instruction of a QPU.
    pub fn new(state: &'s State, qpu: &Qpu, memory: Memory<'_>) -> Self {
        Self { state, faults: qpu.faults().faults().len(), word: block::fetch(memory, qpu.pc()).ok() }
    }

    /// The instruction that comes next, if it is in memory.
    pub fn word(&self) -> Option<u64> {
        self.word
    }

    /// The step that the QPU has made since. The VPM and memory are given if the state shows them and they may have changed.
    pub fn step(self, qpu: &Qpu, vpm: &[Lanes], memory: Option<Memory<'_>>) -> Step {
        let Self { state, faults, word } = self;
        let tmus = [0, 1].map(|unit| queues(qpu, unit));
        Step {
            pc: state.pc,
            next: qpu.pc(),
            word: word.unwrap_or(0),
            registers: changes(&state.registers, qpu.registers().visible()),
            vpm: changes(&state.vpm, vpm),
            memory: memory.map(|memory| changes(&state.memory, &words(memory))).unwrap_or_default(),
            flags: [state.flags, *qpu.flags()],
            uniforms: [state.uniforms, qpu.uniforms()],
            tmus: (state.tmus != tmus).then(|| Box::new([state.tmus.clone(), tmus])),
            faults: qpu.faults().faults().get(faults..).unwrap_or_default().to_vec(),
        }
    }
}

fn changes<T: Copy + PartialEq>(before: &[T], after: &[T]) -> Vec<Change<T>> {
    let pairs = (0..).zip(before.iter().zip(after));
    pairs.filter(|(_, (old, new))| old != new).map(|(at, (&old, &new))| Change { at, values: [old, new] }).collect()
}
