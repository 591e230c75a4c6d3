//! Which accumulators and flags a run of instructions needs, and which it defines.
//!
//! A thread switch leaves accumulators undefined. A program may pack colours into all four bytes of one before anything reads it, as Mesa's programs do after
//! their lookups: what the accumulator held does not matter then, although each of the writes is a partial one.

use crate::qpu::block::BlockInstruction;
use crate::qpu::isa::instruction::{Destination, Pack};
use crate::qpu::isa::pack;
use crate::qpu::isa::registers;
use v3d_hw::qpu::Condition;
use v3d_hw::qpu::accesses::accumulators;

/// Accumulators r0 to r5.
const COUNT: usize = accumulators::R0_TO_R5.count_ones() as usize;

/// The use that instructions, up to the end of their run, make of accumulators and flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::qpu) struct Uses {
    /// Bits of each accumulator whose values before the instructions are read.
    needed: [u32; COUNT],
    /// Bits of each accumulator that the instructions write in all elements.
    written: [u32; COUNT],
    /// The flags are read, or set in some elements, before they are set in all.
    needs_flags: bool,
    /// The flags are set in all elements.
    sets_flags: bool,
}

impl Uses {
    /// Those of some instructions.
    #[cfg(any(test, target_arch = "x86_64", target_arch = "aarch64"))]
    pub(in crate::qpu) fn of(instructions: &[BlockInstruction]) -> Self {
        instructions.iter().rev().fold(Self::default(), |uses, placed| uses.preceded_by(placed))
    }

    /// The uses of an instruction and of the instructions behind it, whose uses are `self`.
    pub(in crate::qpu) fn preceded_by(mut self, placed: &BlockInstruction) -> Self {
        let touches = &placed.instruction.touches;
        let (read, written) = (touches.reads_accumulators, touches.writes_accumulators);
        let replaced = touches.replaces_accumulators;
        let packed = packed(placed);
        for (number, (needed, defined)) in self.needed.iter_mut().zip(&mut self.written).enumerate() {
            let bit = 1 << number;
            match packed {
                _ if replaced & bit != 0 => (*needed, *defined) = (0, !0),
                Some((packed, bits)) if packed == number => (*needed, *defined) = (*needed & !bits, *defined | bits),
                // A partial write leaves the rest as it was, and so depends on it.
                _ if written & bit != 0 => *needed = !0,
                _ => {}
            }
            if read & bit != 0 {
                *needed = !0;
            }
        }
        let flags = |of: u8| of & accumulators::FLAGS != 0;
        self.needs_flags = flags(read) || flags(written & !replaced) || self.needs_flags && !flags(replaced);
        self.sets_flags |= flags(replaced);
        self
    }

    /// Accumulators and flags that must be defined before the instructions, in the form of [`Touches`](crate::qpu::isa::touches::Touches). Those of which only
    /// some bytes are written count, too: only the sequencer keeps track of bytes.
    pub(in crate::qpu) fn needs(&self) -> u8 {
        let of_registers =
            bits_where(|number| self.needed[number] != 0 || self.written[number] != 0 && self.written[number] != !0);
        of_registers | if self.needs_flags { accumulators::FLAGS } else { 0 }
    }

    /// Those that are defined afterwards.
    pub(in crate::qpu) fn replaces(&self) -> u8 {
        let of_registers = bits_where(|number| self.written[number] == !0);
        of_registers | if self.sets_flags { accumulators::FLAGS } else { 0 }
    }
}

/// The accumulators for which something holds.
fn bits_where(holds: impl Fn(usize) -> bool) -> u8 {
    (0..COUNT).filter(|&number| holds(number)).fold(0, |bits, number| bits | 1 << number)
}

/// The accumulator of which an instruction packs colours into some bits, in all elements, and writes nothing else.
fn packed(placed: &BlockInstruction) -> Option<(usize, u32)> {
    let instruction = &placed.instruction;
    let (Destination::Register(register), Pack::Colour(mode), Condition::Always) =
        (instruction.mul.to, instruction.mul.pack, instruction.mul.condition)
    else {
        return None;
    };
    let number = usize::from(register.checked_sub(registers::ACCUMULATORS)?);
    let is_alone = instruction.add.to != instruction.mul.to;
    (number < COUNT && is_alone).then_some((number, pack::pack_mul_mask(mode)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qpu::CodeCache;
    use crate::qpu::test_words::{END, NOP, memory_of};

    /// fmul r1.8asf, ra0, r2 and the same for bytes b to d, as Mesa's programs have them, with nothing in the add ALU.
    const PACK: [u64; 4] = [0x1140_49e1_2000_7032, 0x1150_49e1_2000_7032, 0x1160_49e1_2000_7032, 0x1170_49e1_2000_7032];
    /// fmul r1.8asf.ifz, ra0, r2
    const PACK_SOMEWHERE: u64 = 0x1140_89e1_2000_7032;
    /// mov r3, r1
    const READ: u64 = 0x1002_08e7_159e_7240;
    /// mov r1, r0
    const REPLACE: u64 = 0x1002_0867_159e_7000;

    const R0: u8 = 1 << 0;
    const R1: u8 = 1 << 1;
    const R2: u8 = 1 << 2;
    const R3: u8 = 1 << 3;

    fn check(words: &[u64], (needs, replaces): (u8, u8)) {
        let words: Vec<u64> = words.iter().copied().chain([END, NOP, NOP]).collect();
        let owned = memory_of(8 * words.len(), &words);
        let block = CodeCache::new().block(owned.view(), 0).unwrap();
        let uses = Uses::of(&block.instructions[..words.len() - 3]);
        assert_eq!((uses.needs(), uses.replaces()), (needs, replaces), "{words:x?}");
    }

    #[test]
    fn an_accumulator_is_defined_once_all_its_bytes_are() {
        let [a, b, c, d] = PACK;
        check(&[a, b, c, d], (R2, R1));
        check(&[d, b, a, c, READ], (R2, R1 | R3));
        // A byte is missing, or read too early, or written in some elements only.
        check(&[a, b, c], (R1 | R2, 0));
        check(&[a, b, READ, c, d], (R1 | R2, R1 | R3));
        check(&[a, b, c, PACK_SOMEWHERE], (R1 | R2 | accumulators::FLAGS, 0));
        check(&[PACK_SOMEWHERE, a, b, c, d], (R1 | R2 | accumulators::FLAGS, R1));
    }

    #[test]
    fn what_is_replaced_before_it_is_read_is_not_needed() {
        check(&[REPLACE, READ], (R0, R1 | R3));
        check(&[READ, REPLACE], (R0 | R1, R1 | R3));
        check(&[REPLACE, PACK[0], READ], (R0 | R2, R1 | R3));
        check(&[NOP], (0, 0));
    }
}
