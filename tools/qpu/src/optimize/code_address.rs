//! Which registers hold addresses of code, and which code must not move because of them.
//!
//! If a branch target register is written by calls only, the branch is a return, which remains correct when code moves. If an offset is added to the return
//! address of a forward call, the code between the call and its target is treated as a jump table that the offset indexes, as in GPU_FFT: the table, and
//! branches by an offset within it, are left unchanged. Any other arithmetic on such a register depends on distances in the code, which the optimizer
//! changes.

use alloc::vec::Vec;
use core::ops::Range;

use v3d_hw::qpu::{AddOp, Alu, File, Instruction, MulOp, Mux, ReadSource};

use crate::check::facts::Register;

/// Registers of file A, of file B, then r0 to r3.
const REGISTERS: usize = 68;

/// Words whose distances must not change; the error is the index of an instruction that makes a branch target unknown.
pub(super) fn tables(words: &[u64]) -> Result<Vec<Range<usize>>, usize> {
    let mut holds = [false; REGISTERS];
    let mut bases = [false; REGISTERS];
    for &word in words {
        if let Instruction::Branch(branch) = Instruction::decode(word)
            && branch.reg
            && !branch.rel
        {
            holds[usize::from(branch.raddr_a & 31)] = true;
        }
    }
    // A value that is moved into such a register is a code address as well, and so is the base that an offset is added to.
    loop {
        let mut more = false;
        for (at, &word) in words.iter().enumerate() {
            for (alu, target) in results(word) {
                if !holds[target] {
                    continue;
                }
                let alu = alu.ok_or(at)?;
                if let Some(source) = moved(&alu.0, alu.1) {
                    more |= !core::mem::replace(&mut holds[source], true);
                } else {
                    let base = added(&alu.0, alu.1).into_iter().flatten().find(|&base| is_link_only(words, base));
                    let base = base.ok_or(at)?;
                    bases[base] = true;
                    more |= !core::mem::replace(&mut holds[base], true);
                }
            }
        }
        if !more {
            break;
        }
    }
    let mut tables = Vec::new();
    for (at, &word) in words.iter().enumerate() {
        if links(word).into_iter().flatten().any(|register| bases[register]) {
            tables.push(jumped_over(word, at, words.len()).ok_or(at)?);
        }
    }
    // A branch by an offset after a call goes into the code that the call jumps over.
    for (at, &word) in words.iter().enumerate() {
        let relative = matches!(Instruction::decode(word), Instruction::Branch(branch) if branch.reg && branch.rel);
        if relative && !tables.iter().any(|table| table.contains(&at)) {
            let calls = words.iter().enumerate().filter(|&(_, &word)| links(word) != [None; 2]);
            let mut around = calls.filter_map(|(call, &word)| jumped_over(word, call, words.len()));
            tables.push(around.find(|table| table.contains(&at)).ok_or(at)?);
        }
    }
    Ok(tables)
}

/// The registers that an instruction other than a branch writes, each with its operation, if it has one, and the ALU.
fn results(word: u64) -> impl Iterator<Item = (Option<(Alu, bool)>, usize)> {
    let instruction = Instruction::decode(word);
    let alu = if let Instruction::Alu(alu) = instruction { Some(alu) } else { None };
    let is_branch = matches!(instruction, Instruction::Branch(_));
    let writes = instruction.accesses().writes.into_iter().zip([false, true]);
    let targets = writes.filter_map(|(write, second)| Some((second, place(Register::written(&write)?))));
    targets.filter(move |_| !is_branch).map(move |(second, target)| (alu.map(|alu| (alu, second)), target))
}

/// The link registers that a call writes.
fn links(word: u64) -> [Option<usize>; 2] {
    let instruction @ Instruction::Branch(_) = Instruction::decode(word) else { return [None; 2] };
    instruction.accesses().writes.map(|write| Register::written(&write).map(place))
}

/// Whether a register is a link register: written by calls only.
fn is_link_only(words: &[u64], register: usize) -> bool {
    let called = words.iter().any(|&word| links(word).contains(&Some(register)));
    called && !words.iter().any(|&word| results(word).any(|(_, target)| target == register))
}

/// The words between a forward call and its target.
fn jumped_over(word: u64, at: usize, length: usize) -> Option<Range<usize>> {
    let Instruction::Branch(branch) = Instruction::decode(word) else { return None };
    let words = usize::try_from(branch.immediate / 8).ok().filter(|&words| words > 0 && branch.rel && !branch.reg)?;
    let start = at + 4;
    (start + words <= length).then_some(start..start + words)
}

/// Index of a register among [`REGISTERS`].
fn place(register: Register) -> usize {
    match register {
        Register::InFile(File::A, number) => usize::from(number),
        Register::InFile(File::B, number) => 32 + usize::from(number),
        Register::Accumulator(number) => 64 + usize::from(number),
    }
}

/// The source register of an operation, if the operation is a plain move.
fn moved(alu: &Alu, mul: bool) -> Option<usize> {
    let (moves, mux) = if mul {
        (alu.op_mul == MulOp::V8min && alu.mul_a == alu.mul_b, alu.mul_a)
    } else {
        (alu.op_add == AddOp::Or && alu.add_a == alu.add_b, alu.add_a)
    };
    if moves && alu.rotation().is_none() { plain(alu, mux) } else { None }
}

/// The registers that an operation adds, if it is an addition.
fn added(alu: &Alu, mul: bool) -> [Option<usize>; 2] {
    if mul || alu.op_add != AddOp::Add { [None; 2] } else { [alu.add_a, alu.add_b].map(|mux| plain(alu, mux)) }
}

/// The register of an operand, if neither the operand is unpacked nor the result packed.
fn plain(alu: &Alu, mux: Mux) -> Option<usize> {
    if alu.pack != 0 || alu.unpack.code() != 0 {
        return None;
    }
    let [a, b] = alu.sources();
    let in_file = |file, source| match source {
        Some(ReadSource::Register(number)) => Some(place(Register::InFile(file, number))),
        _ => None,
    };
    match mux {
        Mux::A => in_file(File::A, a),
        Mux::B => in_file(File::B, b),
        Mux::R0 | Mux::R1 | Mux::R2 | Mux::R3 => Some(place(Register::Accumulator(mux.code()))),
        Mux::R4 | Mux::R5 => None,
    }
}
