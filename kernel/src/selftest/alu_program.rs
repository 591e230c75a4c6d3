//! A user program that computes operations and stores results and flags
//!
//! For each operation the program reads both operands from uniforms, computes with flags set, and writes two rows of the
//! VPM: the result, and the flags as a number that three conditional instructions put together. At the end one DMA store
//! carries all rows to memory and is waited for. All 16 elements do the same, so that a row of 16 equal words is expected.
//!
//! # Sources
//! [AG p.26-38] instructions, [AG p.57-59] VPM and DMA set-up.

use alloc::vec::Vec;

use v3d::hw::{
    BusAddr, FieldError, Layout,
    qpu::{AddOp, Alu, Condition, Mux, Signal},
    vpm::{DmaMode, ElementSize, ROW_WORDS, StoreSetup, StoreStrideSetup, WINDOW_ROWS, WriteSetup},
};

use super::alu_vectors::{Operation, Vector, flag};

/// Operations of one program: each takes two rows of the window that user programs have.
pub const OPERATIONS: usize = WINDOW_ROWS as usize / 2;
/// Bytes that a program stores at most.
pub const RESULT_BYTES: u32 = WINDOW_ROWS * ROW_WORDS * 4;

/// Addresses of registers outside the files [AG p.37-38].
mod address {
    /// The next uniform; read, both files.
    pub(super) const UNIFORM: u8 = 32;
    /// Accumulators 0 to 3 begin here; write.
    pub(super) const ACCUMULATORS: u8 = 32;
    /// A row to the VPM; write, both files.
    pub(super) const VPM: u8 = 48;
    /// Set-up of VPM writes and DMA stores; write, file B.
    pub(super) const WRITE_SETUP: u8 = 49;
    /// Address of a DMA store, which starts it; write, file B. Reading it in file B waits for the end.
    pub(super) const STORE: u8 = 50;
}

/// Instructions and uniforms of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The code, as it lies in memory.
    pub code: Vec<u8>,
    /// The uniforms, as they lie in memory.
    pub uniforms: Vec<u8>,
}

/// Moves the next uniform to a write address; in file B if `ws`.
fn uniform_to(waddr_add: u8, ws: bool) -> Alu {
    Alu {
        cond_add: Condition::Always,
        op_add: AddOp::Or,
        waddr_add,
        ws,
        raddr_a: address::UNIFORM,
        add_a: Mux::A,
        add_b: Mux::A,
        ..Alu::NOP
    }
}

/// Computes r0 op r1 into the VPM.
fn compute(operation: Operation) -> Alu {
    match operation {
        Operation::Add(op_add) => Alu {
            cond_add: Condition::Always,
            op_add,
            waddr_add: address::VPM,
            add_a: Mux::R0,
            add_b: Mux::R1,
            sf: true,
            ..Alu::NOP
        },
        Operation::Mul(op_mul) => Alu {
            cond_mul: Condition::Always,
            op_mul,
            waddr_mul: address::VPM,
            mul_a: Mux::R0,
            mul_b: Mux::R1,
            sf: true,
            ..Alu::NOP
        },
    }
}

/// Sets a bit of r3 where the flag is set. Bits 1, 2 and 4 are small immediates of the same value.
fn note_flag(cond_add: Condition, bit: u32) -> Alu {
    Alu {
        sig: Signal::SmallImmediate,
        cond_add,
        op_add: AddOp::Or,
        waddr_add: address::ACCUMULATORS + 3,
        raddr_b: bit as u8,
        add_a: Mux::R3,
        add_b: Mux::B,
        ..Alu::NOP
    }
}

/// The program for at most [`OPERATIONS`] vectors, storing to `result`. What is beyond them is left out.
///
/// # Errors
/// When a value does not fit its field, which the constants here all do.
pub fn assemble(vectors: &[Vector], result: BusAddr) -> Result<Program, FieldError> {
    let vectors = &vectors[..vectors.len().min(OPERATIONS)];
    let rows = 2 * vectors.len() as u8;
    let rows_setup =
        WriteSetup { id: 0, stride: 1, horizontal: true, laned: false, size: ElementSize::Bits32, address: 0 };
    let store_setup = StoreSetup {
        id: 2,
        units: rows,
        depth: ROW_WORDS as u8,
        laned: false,
        horizontal: true,
        y: 0,
        x: 0,
        mode: DmaMode::Bits32,
    };
    let stride_setup = StoreStrideSetup { id: 3, block_mode: false, stride: 0 };

    let mut uniforms = Vec::new();
    uniforms.push(rows_setup.to_word()?);
    uniforms.extend(vectors.iter().flat_map(|vector| vector.operands));
    uniforms.extend([store_setup.to_word()?, stride_setup.to_word()?, result.0]);

    let mut code = alloc::vec![uniform_to(address::WRITE_SETUP, true)];
    for vector in vectors {
        code.push(uniform_to(address::ACCUMULATORS, false));
        code.push(uniform_to(address::ACCUMULATORS + 1, false));
        // r3 = 0, as r3 xor r3.
        code.push(Alu {
            cond_add: Condition::Always,
            op_add: AddOp::Xor,
            waddr_add: address::ACCUMULATORS + 3,
            add_a: Mux::R3,
            add_b: Mux::R3,
            ..Alu::NOP
        });
        code.push(compute(vector.operation));
        code.push(note_flag(Condition::NSet, flag::N));
        code.push(note_flag(Condition::ZSet, flag::Z));
        code.push(note_flag(Condition::CSet, flag::C));
        code.push(Alu {
            cond_add: Condition::Always,
            op_add: AddOp::Or,
            waddr_add: address::VPM,
            add_a: Mux::R3,
            add_b: Mux::R3,
            ..Alu::NOP
        });
    }
    code.push(uniform_to(address::WRITE_SETUP, true));
    code.push(uniform_to(address::WRITE_SETUP, true));
    code.push(uniform_to(address::STORE, true));
    // Waits for the store.
    code.push(Alu {
        cond_add: Condition::Always,
        op_add: AddOp::Or,
        raddr_b: address::STORE,
        add_a: Mux::B,
        add_b: Mux::B,
        ..Alu::NOP
    });
    code.push(Alu { sig: Signal::ProgramEnd, ..Alu::NOP });
    // A program end takes effect after two more instructions.
    code.extend([Alu::NOP; 2]);

    let mut bytes = Vec::with_capacity(code.len() * 8);
    for instruction in code {
        bytes.extend_from_slice(&(instruction.to_bits()? as u64).to_le_bytes());
    }
    Ok(Program { code: bytes, uniforms: uniforms.iter().flat_map(|word| word.to_le_bytes()).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selftest::alu_vectors;

    /// Words made by hand after [AG p.26]: `or vw_setup, unif, unif`; `fadd.setf vpm, r0, r1`; `or.ifn r3, r3, 1`; program end.
    #[test]
    fn instructions_are_those_of_the_guide() {
        let vectors: Vec<Vector> = alu_vectors::all().filter(|vector| vector.name == "fadd").take(1).collect();
        let program = assemble(&vectors, BusAddr(0xc800_0000)).unwrap();
        let words: Vec<u64> = program.code.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        assert_eq!(words.len(), 1 + 8 + 3 + 1 + 3);
        assert_eq!(words[0], 0x1002_1c67_1582_7d80);
        assert_eq!(words[4], 0x1002_2c27_019e_7040);
        assert_eq!(words[5], 0xd008_08e7_159c_17c0);
        assert_eq!(words[13], 0x3000_09e7_009e_7000);
        let uniforms: Vec<u32> =
            program.uniforms.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
        assert_eq!(uniforms, [0x0000_1a00, 0x8000_0000, 0x8000_0000, 0x8110_4000, 0xc000_0000, 0xc800_0000]);
    }

    #[test]
    fn a_program_has_room_for_no_more_than_its_rows() {
        let vectors: Vec<Vector> = alu_vectors::all().collect();
        let program = assemble(&vectors, BusAddr(0)).unwrap();
        assert_eq!(program.code.len(), 8 * (1 + 8 * OPERATIONS + 7));
    }
}
