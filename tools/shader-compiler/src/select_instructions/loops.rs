//! Loops: each loop-carried value is in one register.
//!
//! The stream of uniforms can only be read forward: a uniform that is read in each iteration is either read before the loop and kept in a register, or the
//! loop resets the stream's address. Lookups read their parameters from the stream itself, so they require the latter. Such a loop begins with
//!
//! ```text
//! mov unif_addr, unif
//! ```
//!
//! and two instructions that read no uniform [AG p.22]. The uniform that it reads is the address of the next one. It occurs in the stream a second time at
//! the end of the iteration's words, for the next iteration; after the loop, one read skips it. Validators can verify this form: the address is a uniform of
//! the same basic block [linux vc4_validate_shaders.c].

use alloc::vec;
use alloc::vec::Vec;

use v3d_hw::qpu::{File, SmallImmediate, WriteTarget};

use super::Selector;
use crate::machine::{End, Operand, Operation, Register, Target, Work};
use crate::ssa::{Op, Program, Step, StreamWord, Value};

impl Selector<'_> {
    /// Whether the innermost loop keeps uniforms in registers.
    pub(super) fn keeps_words(&self) -> bool {
        // A loop within one that keeps uniforms in registers does so too.
        self.open.last().is_some_and(|(number, ..)| !self.rereads[*number as usize])
    }

    /// Reads the uniforms of a loop and its nested loops before it.
    pub(super) fn hoist(&mut self, steps: &[Step]) {
        let words = words_of_loop(self.program, steps);
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
        if self.rereads[number as usize] {
            let address = vec![Operand::Uniform(StreamWord::OwnAddress(number))];
            let target = Target::Output(File::A, WriteTarget::UniformsAddress);
            let moved_back = self.operation(Work::Move, address, target);
            self.emit(moved_back);
        }
    }

    pub(super) fn end_loop(&mut self, number: u32) {
        let data = &self.program.loops[number as usize];
        let carried: Vec<_> = data.carried.iter().filter(|carried| carried.next != carried.value).copied().collect();
        let tested = data.again.is_some_and(|again| {
            let is_mask = !matches!(self.program.op(again), Op::Compare(..));
            is_mask && (self.flags == Some(again) || self.sets_flags_itself(again))
        });
        // All new values have been computed. A value that would overwrite one that is still needed is copied first (a parallel copy).
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
        // The first loop-carried value is the mask of the elements that execute another iteration.
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
        // Values that are defined before the loop and used in it are live in all iterations.
        let inside = self.machine.blocks[head..].iter().flat_map(|block| &block.operations).chain(&self.block);
        kept.extend(
            inside.flat_map(|operation| operation.reads().collect::<Vec<_>>()).filter(|register| register.0 < before),
        );
        kept.sort_unstable();
        kept.dedup();
        self.end_block(End::Again(head), kept);
        if self.rereads[number as usize] {
            let address = vec![Operand::Uniform(StreamWord::OwnAddress(number))];
            let passed_over = self.operation(Work::Move, address, Target::Nothing);
            self.emit(passed_over);
        }
    }

    /// Assigns the next iteration's value of a loop-carried register: by the operation that computes it, if the result has no other use and the old value is
    /// not read afterwards.
    fn assign(&mut self, source: Operand, to: Register) {
        if let Operand::Register(register) = source {
            let writers = self.block.iter().filter(|operation| operation.writes() == Some(register)).count();
            let readers = self.block.iter().flat_map(Operation::reads).filter(|read| *read == register).count();
            let maker = self.block.iter().position(|operation| operation.target == Target::Register(register));
            if let Some(at) = maker
                && (writers, readers) == (1, 0)
                // The result of a lookup arrives in r4.
                && self.block[at].work != Work::LoadTexture
                // An operation that merges into one register cannot write another one.
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

    /// Number of uses of the value in a register.
    fn uses_of(&self, register: Register) -> u32 {
        let value = self.registers.iter().find(|(_, other)| **other == register).map(|(value, _)| *value);
        value.map_or(1, |value| self.uses[value.index()])
    }
}

/// The uniforms of the loop at the start of these steps, including nested loops.
fn words_of_loop(program: &Program, steps: &[Step]) -> Vec<StreamWord> {
    let mut depth = 0;
    let mut words: Vec<StreamWord> = Vec::new();
    let mut note = |value: Value| {
        // A comparison is computed at its use, from its operands.
        let compared = match program.op(value) {
            Op::Compare(_, a, b) => vec![a, b],
            _ => vec![value],
        };
        for value in compared {
            let word = match program.op(value) {
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
                for carried in &program.loops[number as usize].carried {
                    note(carried.init);
                    note(carried.next);
                }
                if depth == 0 {
                    break;
                }
            }
            Step::Compute(value) => program.operands(&program.op(value)).into_iter().for_each(&mut note),
        }
    }
    words
}

/// Which loops reread the stream: those with lookups, and those around them. In frugal mode all loops that need uniforms do.
pub(super) fn rereading_loops(program: &Program, is_frugal: bool) -> Vec<bool> {
    let mut rereads = vec![false; program.loops.len()];
    let mut open: Vec<u32> = Vec::new();
    for (at, step) in program.steps.iter().enumerate() {
        match *step {
            Step::Begin(number) => {
                open.push(number);
                if is_frugal && !words_of_loop(program, &program.steps[at..]).is_empty() {
                    open.iter().for_each(|&number| rereads[number as usize] = true);
                }
            }
            Step::End(_) => {
                open.pop();
            }
            Step::Compute(value) => {
                if matches!(program.op(value), Op::Texture(_)) {
                    open.iter().for_each(|&number| rereads[number as usize] = true);
                }
            }
        }
    }
    rereads
}
