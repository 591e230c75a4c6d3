//! Which registers hold addresses of code.
//!
//! A branch to a register goes where that register says. If it only ever holds what calls put there, it goes behind a call wherever the code lies;
//! if anything is computed with it, where it goes depends on distances in the code, which the optimizer changes.

use v3d_hw::qpu::{AddOp, Alu, Instruction, MulOp, Mux, Signal};

/// Registers of file A, of file B, then r0 to r3.
const REGISTERS: usize = 68;

/// Whether all registers that branches go to hold return addresses and nothing else.
pub(super) fn only_returns(words: &[u64]) -> bool {
    let mut holds = [false; REGISTERS];
    for &word in words {
        if let Instruction::Branch(branch) = Instruction::decode(word)
            && branch.reg
        {
            holds[usize::from(branch.raddr_a & 31)] = true;
        }
    }
    // What is moved into such a register is such an address too.
    loop {
        let mut more = false;
        for &word in words {
            match Instruction::decode(word) {
                Instruction::Branch(_) => {}
                Instruction::Alu(alu) => {
                    for mul in [false, true] {
                        let Some(target) = target(alu.waddr_add, alu.waddr_mul, alu.ws, mul) else { continue };
                        if !holds[target] {
                            continue;
                        }
                        let Some(source) = moved(&alu, mul) else { return false };
                        more |= !std::mem::replace(&mut holds[source], true);
                    }
                }
                Instruction::LoadImmediate(load) => {
                    let targets = [false, true].map(|mul| target(load.waddr_add, load.waddr_mul, load.ws, mul));
                    if targets.into_iter().flatten().any(|target| holds[target]) {
                        return false;
                    }
                }
                Instruction::Semaphore(semaphore) => {
                    let (add, mul) = (semaphore.waddr_add, semaphore.waddr_mul);
                    let targets = [false, true].map(|second| target(add, mul, semaphore.ws, second));
                    if targets.into_iter().flatten().any(|target| holds[target]) {
                        return false;
                    }
                }
            }
        }
        if !more {
            return true;
        }
    }
}

/// The register that an ALU writes, if it is one.
fn target(add: u8, mul: u8, ws: bool, second: bool) -> Option<usize> {
    let address = usize::from(if second { mul } else { add } & 63);
    let file_b = second != ws;
    match address {
        0..32 => Some(address + if file_b { 32 } else { 0 }),
        32..36 => Some(64 + address - 32),
        _ => None,
    }
}

/// The register that an operation moves, if it is nothing but a move of a register.
fn moved(alu: &Alu, mul: bool) -> Option<usize> {
    let (moves, mux) = if mul {
        (alu.op_mul == MulOp::V8min && alu.mul_a == alu.mul_b, alu.mul_a)
    } else {
        (alu.op_add == AddOp::Or && alu.add_a == alu.add_b, alu.add_a)
    };
    let immediate = alu.sig == Signal::SmallImmediate;
    if !moves || alu.pack != 0 || alu.unpack.code() != 0 || immediate && alu.raddr_b >= 48 {
        return None;
    }
    match mux {
        Mux::A => (alu.raddr_a < 32).then_some(usize::from(alu.raddr_a)),
        Mux::B => (!immediate && alu.raddr_b < 32).then_some(32 + usize::from(alu.raddr_b)),
        Mux::R0 | Mux::R1 | Mux::R2 | Mux::R3 => Some(64 + usize::from(mux.code())),
        Mux::R4 | Mux::R5 => None,
    }
}
