//! Accesses of memory: lookups by TMU 0, and calls of routines for everything else.

use alloc::vec;
use alloc::vec::Vec;

use v3d_hw::qpu::{File, ReadSource, WriteTarget};

use super::{Selector, VPM_WRITE};
use crate::machine::{End, Operand, Target, Work};
use crate::routine::{self, Routine};
use crate::ssa::{Access, Atomic, Value};

impl Selector<'_> {
    /// The word at an address, by TMU 0.
    pub(super) fn fetch(&mut self, value: Value, address: Value) {
        self.send(address, Target::Memory);
        let register = self.register_of(value);
        let load = self.operation(Work::LoadTexture, Vec::new(), Target::Register(register));
        self.emit(load);
    }

    pub(super) fn access(&mut self, value: Value, number: u32) {
        let Some(access) = self.program.accesses.get(number as usize).cloned() else { return };
        match access {
            Access::Load { address, uncached: None, .. } => self.fetch(value, address),
            Access::Load { uncached: Some(address), .. } => {
                self.give(address, routine::ADDRESS);
                self.call(Routine::Load);
                self.take(value);
            }
            Access::Store { address, words, stride, .. } => {
                let set_up = vec![Operand::Input(File::B, ReadSource::Register(routine::WRITE_SETUP))];
                let set_up = self.operation(Work::Move, set_up, Target::Output(File::B, WriteTarget::VpmVcdWrSetup));
                self.emit(set_up);
                for &word in &words {
                    self.send(word, VPM_WRITE);
                }
                self.give(address, routine::ADDRESS);
                self.call(Routine::Store { words: words.len() as u32, stride });
            }
            Access::Atomic { function, address, data, compare, .. } => {
                self.give(address, routine::ADDRESS);
                self.give(data, routine::DATA);
                if function == Atomic::CompareExchange {
                    self.give(compare, routine::COMPARE);
                }
                self.call(Routine::Atomic(function));
                if self.uses[value.index()] > 0 {
                    self.take(value);
                }
            }
            Access::Barrier => self.call(Routine::Barrier { programs: self.streams.parts }),
            Access::Clear { address, lines } => {
                self.give(address, routine::ADDRESS);
                self.call(Routine::Clear { lines });
            }
        }
    }

    /// Passes an argument to a routine.
    fn give(&mut self, value: Value, address: u8) {
        let operand = self.operand(value);
        let give = self.operation(Work::Move, vec![operand], Target::Output(File::A, WriteTarget::Register(address)));
        self.emit(give);
    }

    /// Takes a routine's result.
    fn take(&mut self, value: Value) {
        let target = Target::Register(self.register_of(value));
        let take =
            self.operation(Work::Move, vec![Operand::Input(File::B, ReadSource::Register(routine::RESULT))], target);
        self.emit(take);
    }

    fn call(&mut self, routine: Routine) {
        let known = self.machine.routines.iter().position(|other| *other == routine);
        let number = known.unwrap_or_else(|| {
            self.machine.routines.push(routine);
            self.machine.routines.len() - 1
        });
        self.end_block(End::Calls(number), Vec::new());
    }
}
