//! Known properties of registers on a path: only those from which the two patterns of safe addresses are made.
//!
//! # Surprises
//! - A register of a file that was just written still reads as its old value in the next instruction [AG p.37]: nothing is known about it then.
//! - A thread switch takes effect after two more instructions, and leaves nothing in the accumulators nor in registers 16 to 31, which may be the other
//!   thread's [AG p.20-21].

use v3d_hw::qpu::{File, THREAD_DELAY_SLOTS};

/// What is known about a value in all 16 elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Known {
    /// Nothing.
    #[default]
    Nothing,
    /// The value of a uniform, identified by its number in the block, plus a constant; or the constant alone.
    Value {
        /// The uniform.
        uniform: Option<u32>,
        /// The constant.
        plus: u32,
    },
    /// It is at least 0 as a signed number.
    NotNegative,
    /// As a signed number, it is at least 0 if the uniform of this number is, and at most that uniform.
    AtMost(u32),
}

impl Known {
    /// A constant.
    pub(super) const fn constant(value: u32) -> Self {
        Self::Value { uniform: None, plus: value }
    }
}

/// What is known about a register of a file.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    known: Known,
    /// The instruction that wrote it.
    written_at: u32,
}

/// What is known about all registers.
#[derive(Debug, Default)]
pub(super) struct Registers {
    /// Number of the instruction, counted from 1.
    now: u32,
    accumulators: [Known; 4],
    files: [[Cell; 32]; 2],
    /// Instructions until a thread switch takes effect.
    switching: u32,
}

/// The first register that belongs to the other thread.
const OTHER_THREAD: usize = 16;

const fn index(file: File) -> usize {
    match file {
        File::A => 0,
        File::B => 1,
    }
}

impl Registers {
    /// Advances to the next instruction.
    pub(super) fn step(&mut self) {
        self.now += 1;
        if self.switching > 0 {
            self.switching -= 1;
            self.forget_other_thread();
        }
    }

    /// The current instruction switches threads.
    pub(super) fn switch_threads(&mut self) {
        self.switching = THREAD_DELAY_SLOTS + 1;
    }

    fn forget_other_thread(&mut self) {
        self.accumulators = [Known::Nothing; 4];
        for file in &mut self.files {
            file[OTHER_THREAD..].fill(Cell::default());
        }
    }

    /// What is known of an accumulator.
    pub(super) fn accumulator(&self, number: u8) -> Known {
        self.accumulators.get(usize::from(number)).copied().unwrap_or_default()
    }

    /// What is known of a register of a file.
    pub(super) fn in_file(&self, file: File, number: u8) -> Known {
        match self.files[index(file)].get(usize::from(number)) {
            Some(cell) if cell.written_at + 1 < self.now => cell.known,
            _ => Known::Nothing,
        }
    }

    /// The current instruction writes an accumulator.
    pub(super) fn set_accumulator(&mut self, number: u8, known: Known) {
        if let Some(accumulator) = self.accumulators.get_mut(usize::from(number)) {
            *accumulator = known;
        }
    }

    /// The current instruction writes a register of a file.
    pub(super) fn set_in_file(&mut self, file: File, number: u8, known: Known) {
        let written_at = self.now;
        if let Some(cell) = self.files[index(file)].get_mut(usize::from(number)) {
            *cell = Cell { known, written_at };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUE: Known = Known::constant(5);

    #[test]
    fn a_file_reads_its_new_value_one_instruction_later() {
        let mut registers = Registers::default();
        registers.step();
        registers.set_in_file(File::A, 3, VALUE);
        registers.set_accumulator(3, VALUE);
        registers.step();
        assert_eq!((registers.in_file(File::A, 3), registers.accumulator(3)), (Known::Nothing, VALUE));
        registers.step();
        assert_eq!((registers.in_file(File::A, 3), registers.in_file(File::B, 3)), (VALUE, Known::Nothing));
    }

    #[test]
    fn a_thread_switch_leaves_what_is_the_threads_own() {
        let mut registers = Registers::default();
        registers.step();
        for number in [3, 20] {
            registers.set_in_file(File::B, number, VALUE);
        }
        registers.switch_threads();
        for _ in 0..2 {
            registers.step();
            registers.set_accumulator(1, VALUE);
        }
        registers.step();
        let known = [registers.in_file(File::B, 3), registers.in_file(File::B, 20), registers.accumulator(1)];
        assert_eq!(known, [VALUE, Known::Nothing, Known::Nothing]);
    }
}
