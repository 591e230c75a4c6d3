//! Memory accesses: lookups by TMU 0, and calls of routines for everything else.

use alloc::vec;
use alloc::vec::Vec;

use v3d_hw::qpu::{File, ReadSource, WriteTarget};

use super::{READ_SETUP, Selector, VPM_READ, VPM_WRITE, WRITE_SETUP};
use crate::machine::{End, Operand, Target, Work};
use crate::routine::{self, Routine};
use crate::ssa::{Access, Atomic, Memory, Value};

/// Where routines take their arguments.
const ADDRESS: (File, u8) = (File::A, routine::ADDRESS);
const DATA: (File, u8) = (File::A, routine::DATA);
const COMPARE: (File, u8) = (File::A, routine::COMPARE);
const WORD: (File, u8) = (File::B, routine::RESULT);

impl Selector<'_> {
    /// Loads the word at an address, by TMU 0.
    pub(super) fn fetch(&mut self, value: Value, address: Value) {
        self.send(address, Target::Memory);
        let register = self.register_of(value);
        let load = self.operation(Work::LoadTexture, Vec::new(), Target::Register(register));
        self.emit(load);
    }

    pub(super) fn access(&mut self, value: Value, number: u32) {
        let Some(access) = self.program.accesses.get(number as usize).cloned() else { return };
        match access {
            Access::Load { memory: Memory::Vpm, address, .. } => {
                self.give(address, ADDRESS);
                self.call(Routine::VpmLoad);
                self.take(value);
            }
            Access::Load { address, uncached: None, .. } => self.fetch(value, address),
            Access::Load { uncached: Some(address), .. } => {
                self.give(address, ADDRESS);
                self.call(Routine::Load);
                self.take(value);
            }
            Access::Store { memory: Memory::Vpm, address, words, .. } => {
                self.give(address, ADDRESS);
                for &word in &words {
                    self.give(word, WORD);
                }
                self.call(Routine::VpmStore { has_others: self.streams.parts > 1 });
            }
            Access::Store { address, words, stride, .. } => {
                let set_up = vec![Operand::Input(File::B, ReadSource::Register(routine::WRITE_SETUP))];
                let set_up = self.operation(Work::Move, set_up, WRITE_SETUP);
                self.emit(set_up);
                for &word in &words {
                    self.send(word, VPM_WRITE);
                }
                self.give(address, ADDRESS);
                self.call(Routine::Store { words: words.len() as u32, stride });
            }
            Access::StoreRow { setup, word, mask: None } => {
                self.send(setup, WRITE_SETUP);
                self.send(word, VPM_WRITE);
            }
            Access::StoreRow { setup, word, mask: Some(mask) } => self.store_part_of_row(setup, word, mask),
            Access::Atomic { memory, function, address, data, compare } => {
                self.give(address, ADDRESS);
                self.give(data, DATA);
                if function == Atomic::CompareExchange {
                    self.give(compare, COMPARE);
                }
                self.call(Routine::Atomic { function, in_vpm: memory == Memory::Vpm });
                if self.uses[value.index()] > 0 {
                    self.take(value);
                }
            }
            Access::Barrier { memory } => {
                self.call(Routine::Barrier { programs: self.streams.parts, in_vpm: memory == Memory::Vpm });
            }
            Access::Clear { memory, address, lines } => {
                self.give(address, ADDRESS);
                self.call(if memory == Memory::Vpm {
                    Routine::VpmClear { rows: lines }
                } else {
                    Routine::Clear { lines }
                });
            }
        }
    }

    /// Stores some words of a row: the row is read, changed and written again. Other programs of the workgroup may be changing other words of it, so they do
    /// that under the mutex, which is released when a read says that all has been written.
    fn store_part_of_row(&mut self, setup: Value, word: Value, mask: Value) {
        let has_others = self.streams.parts > 1;
        if has_others {
            let acquire = vec![Operand::Input(File::A, ReadSource::MutexAcquire)];
            let acquire = self.operation(Work::Move, acquire, Target::Nothing);
            self.emit(acquire);
        }
        self.send(setup, READ_SETUP);
        self.send(setup, WRITE_SETUP);
        let row = self.machine.register();
        let read = self.operation(Work::Move, vec![VPM_READ], Target::Register(row));
        self.emit(read);
        let condition = self.condition(mask);
        let changed = self.machine.register();
        let word = self.operand(word);
        let mut change = self.operation(Work::Move, vec![word], Target::Register(changed));
        (change.condition, change.merges) = (condition, Some(row));
        self.emit(change);
        let write = self.operation(Work::Move, vec![Operand::Register(changed)], VPM_WRITE);
        self.emit(write);
        if has_others {
            self.send(setup, READ_SETUP);
            let read = self.operation(Work::Move, vec![VPM_READ], Target::Nothing);
            self.emit(read);
            let release = Target::Output(File::A, WriteTarget::MutexRelease);
            let release = self.operation(Work::Move, vec![Operand::Small(0)], release);
            self.emit(release);
        }
    }

    /// Passes an argument to a routine.
    fn give(&mut self, value: Value, (file, register): (File, u8)) {
        let operand = self.operand(value);
        let give = self.operation(Work::Move, vec![operand], Target::Output(file, WriteTarget::Register(register)));
        self.emit(give);
    }

    /// Reads a routine's result.
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
