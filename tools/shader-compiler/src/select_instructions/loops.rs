//! Loops: what they carry stays in one register, and the stream of uniforms goes on only.

use v3d_hw::qpu::SmallImmediate;

use super::Selector;
use crate::machine::{End, Operand, Operation, Register, Target, Work};
use crate::ssa::{Op, Program, Step, StreamWord, Value};

impl Selector<'_> {
    /// What a loop reads of the uniforms and of numbers is read before the outermost one: the stream goes on only.
    pub(super) fn hoist(&mut self, steps: &[Step]) {
        let loads_numbers = self.loads_numbers;
        let mut depth = 0;
        let mut words: Vec<StreamWord> = Vec::new();
        let mut note = |program: &Program, value: Value| {
            // A comparison is made where it is asked for, of whatever it compares.
            let compared = match program.op(value) {
                Op::Compare(_, a, b) => vec![a, b],
                _ => vec![value],
            };
            for value in compared {
                let word = match program.op(value) {
                    Op::Const(_) if loads_numbers => continue,
                    Op::Const(bits) if SmallImmediate::from_value(bits).is_none() => StreamWord::Constant(bits),
                    Op::Uniform(number) => program.words[number as usize],
                    _ => continue,
                };
                if !words.contains(&word) {
                    words.push(word);
                }
            }
        };
        for step in steps {
            match *step {
                Step::Begin(number) | Step::End(number) => {
                    depth += if matches!(step, Step::Begin(_)) { 1 } else { -1 };
                    for carried in &self.program.loops[number as usize].carried {
                        note(self.program, carried.init);
                        note(self.program, carried.next);
                    }
                    if depth == 0 {
                        break;
                    }
                }
                Step::Compute(value) => {
                    for operand in self.program.operands(&self.program.op(value)) {
                        note(self.program, operand);
                    }
                }
            }
        }
        self.hoisted.clear();
        for word in words {
            let Operand::Register(register) = self.moved(Operand::Uniform(word)) else { continue };
            self.hoisted.insert(word, register);
        }
    }

    pub(super) fn begin_loop(&mut self, number: u32) {
        let carried = self.program.loops[number as usize].carried.clone();
        for carried in carried.iter().filter(|carried| carried.init != carried.value) {
            let init = self.operand(carried.init);
            let register = self.register_of(carried.value);
            let start = self.operation(Work::Move, vec![init], Target::Register(register));
            self.emit(start);
        }
        self.end_block(End::Falls, Vec::new());
        self.open.push((number, self.machine.blocks.len(), self.machine.registers));
    }

    pub(super) fn end_loop(&mut self, number: u32) {
        let data = &self.program.loops[number as usize];
        let carried: Vec<_> = data.carried.iter().filter(|carried| carried.next != carried.value).copied().collect();
        // All new values are computed by now. One that takes the place of another that is still to be read goes by way of a copy.
        let mut copies = Vec::new();
        for (at, one) in carried.iter().enumerate() {
            let read_later = carried[at + 1..].iter().any(|later| later.next == one.value);
            let next = self.operand(one.next);
            let source = if read_later { self.moved(next) } else { next };
            let to = self.register_of(one.value);
            if read_later {
                copies.push((source, to));
            } else {
                self.assign(source, to);
            }
        }
        for (source, to) in copies {
            let copy = self.operation(Work::Move, vec![source], Target::Register(to));
            self.emit(copy);
        }
        // The first that is carried is the mask of those that go on.
        let tested = data
            .again
            .is_some_and(|again| self.flags == Some(again) && !matches!(self.program.op(again), Op::Compare(..)));
        if let Some(first) = data.carried.first().filter(|_| !tested) {
            let mask = self.register_of(first.value);
            let operand = Operand::Register(mask);
            let mut test = self.operation(Work::Move, vec![operand], Target::Nothing);
            test.sets_flags = true;
            self.emit(test);
        }
        let Some((_, head, before)) = self.open.pop() else { return };
        let mut kept: Vec<Register> =
            data.carried.iter().filter_map(|carried| self.registers.get(&carried.value).copied()).collect();
        // What is from before the loop is needed in each iteration.
        let inside = self.machine.blocks[head..].iter().flat_map(|block| &block.operations).chain(&self.block);
        kept.extend(
            inside.flat_map(|operation| operation.reads().collect::<Vec<_>>()).filter(|register| register.0 < before),
        );
        kept.sort_unstable();
        kept.dedup();
        self.end_block(End::Again(head), kept);
    }

    /// Gives a carried register its value for the next iteration: by the operation that computes it, if nobody else wants it and the old value is not
    /// asked for any more.
    fn assign(&mut self, source: Operand, to: Register) {
        if let Operand::Register(register) = source {
            let writers = self.block.iter().filter(|operation| operation.writes() == Some(register)).count();
            let readers = self.block.iter().flat_map(Operation::reads).filter(|read| *read == register).count();
            let maker = self.block.iter().position(|operation| operation.target == Target::Register(register));
            if let Some(at) = maker
                && (writers, readers) == (1, 0)
                // A lookup's result comes to r4 first.
                && self.block[at].work != Work::LoadTexture
                // What changes another register in its place cannot go to a second one.
                && self.block[at].merges.is_none_or(|base| base == to)
                && self.uses_of(register) == 1
                && !self.block[at + 1..].iter().any(|operation| operation.reads().any(|read| read == to))
                && !self.block[at + 1..].iter().any(|operation| operation.writes() == Some(to))
            {
                self.block[at].target = Target::Register(to);
                return;
            }
        }
        let copy = self.operation(Work::Move, vec![source], Target::Register(to));
        self.emit(copy);
    }

    /// How often the value in a register is used.
    fn uses_of(&self, register: Register) -> u32 {
        let value = self.registers.iter().find(|(_, other)| **other == register).map(|(value, _)| *value);
        value.map_or(1, |value| self.uses[value.index()])
    }
}
