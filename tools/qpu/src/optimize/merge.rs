//! Merges two instructions into one.

use v3d_hw::qpu::access::Stream;
use v3d_hw::qpu::accesses::{Accesses, Read};
use v3d_hw::qpu::address_map::{NOP, is_register, is_written_in_either_file};
use v3d_hw::qpu::{AddOp, Alu, Condition, Instruction, MulOp, Mux, ReadSource, Signal, WriteTarget, address_sets};

/// Which ALUs an instruction uses.
fn uses(alu: &Alu) -> (bool, bool) {
    (alu.op_add.acts() || alu.waddr_add != NOP, alu.op_mul.acts() || alu.waddr_mul != NOP)
}

fn reads(alu: &Alu, mux: Mux) -> bool {
    alu.operands().contains(&Some(mux))
}

/// An instruction that does what both words do, if there is one. The two must be independent.
pub(super) fn merge_words(first: u64, second: u64) -> Option<u64> {
    let merged = merge(&Instruction::decode(first), &Instruction::decode(second))?;
    merged.encode().ok()
}

/// An instruction that does what both do, if there is one. The two must be independent.
pub fn merge(first: &Instruction, second: &Instruction) -> Option<Instruction> {
    let (Instruction::Alu(a), Instruction::Alu(b)) = (first, second) else { return None };
    let candidates = [(a, b), (b, a)];
    candidates.into_iter().find_map(|(a, b)| {
        let merged = match (uses(a), uses(b)) {
            ((_, false), (false, _)) => join(a, b),
            // Either ALU can do a move.
            ((_, false), (true, false)) => join(a, &moved_to_mul(b)?),
            ((false, true), (false, true)) => join(&moved_to_add(a)?, b),
            _ => None,
        };
        let merged = Instruction::Alu(merged?);
        allowed(&merged.accesses(), &first.accesses(), &second.accesses()).then_some(merged)
    })
}

/// `or x, y, y` as `v8min x, y, y`.
fn moved_to_mul(alu: &Alu) -> Option<Alu> {
    let plain = alu.op_add == AddOp::Or && alu.add_a == alu.add_b && !alu.sf && alu.pack == 0 && alu.unpack.code() == 0;
    plain.then(|| Alu {
        op_add: AddOp::Nop,
        op_mul: MulOp::V8min,
        mul_a: alu.add_a,
        mul_b: alu.add_a,
        add_a: Mux::R0,
        add_b: Mux::R0,
        waddr_add: NOP,
        waddr_mul: alu.waddr_add,
        cond_add: Condition::Never,
        cond_mul: alu.cond_add,
        ws: !alu.ws && !is_written_in_either_file(alu.waddr_add),
        ..*alu
    })
}

/// `v8min x, y, y` as `or x, y, y`.
fn moved_to_add(alu: &Alu) -> Option<Alu> {
    let plain = alu.op_mul == MulOp::V8min
        && alu.mul_a == alu.mul_b
        && !alu.sf
        && alu.pack == 0
        && alu.unpack.code() == 0
        && alu.rotation().is_none();
    plain.then(|| Alu {
        op_mul: MulOp::Nop,
        op_add: AddOp::Or,
        add_a: alu.mul_a,
        add_b: alu.mul_a,
        mul_a: Mux::R0,
        mul_b: Mux::R0,
        waddr_mul: NOP,
        waddr_add: alu.waddr_mul,
        cond_mul: Condition::Never,
        cond_add: alu.cond_mul,
        ws: !alu.ws && !is_written_in_either_file(alu.waddr_mul),
        ..*alu
    })
}

/// The add operation of `a` with the mul operation of `b`.
fn join(a: &Alu, b: &Alu) -> Option<Alu> {
    let sig = match (a.sig, b.sig) {
        (sig, Signal::None) | (Signal::None, sig) => sig,
        (a, b) if a == b && a == Signal::SmallImmediate => a,
        _ => return None,
    };
    let sf = match (a.sf, b.sf) {
        // The flags come from the add ALU if it has an operation.
        (_, true) if a.op_add != AddOp::Nop => return None,
        (a, b) => a || b,
    };
    let raddr_a = match (a.raddr_a, b.raddr_a) {
        (address, NOP) | (NOP, address) => address,
        (a, b) if a == b && is_register(a) => a,
        _ => return None,
    };
    // Contents of the field of file B: an address or a small immediate.
    let is_value = |alu: &Alu| alu.small_immediate().is_some_and(|immediate| immediate.value().is_some());
    let (imm_a, imm_b) = (a.sig == Signal::SmallImmediate, b.sig == Signal::SmallImmediate);
    let raddr_b = match (imm_a, imm_b) {
        (true, true) if a.raddr_b == b.raddr_b && is_value(a) => a.raddr_b,
        (true, true) => return None,
        (true, false) if b.raddr_b == NOP && !reads(b, Mux::B) && (is_value(a) || !b.op_mul.acts()) => a.raddr_b,
        (false, true) if a.raddr_b == NOP && !reads(a, Mux::B) => b.raddr_b,
        (true, false) | (false, true) => return None,
        (false, false) => match (a.raddr_b, b.raddr_b) {
            (address, NOP) | (NOP, address) => address,
            (a, b) if a == b && is_register(a) => a,
            _ => return None,
        },
    };
    // Reading the address NOP returns the port's previous value, which the other instruction's read would replace.
    let stale = |alu: &Alu, mux: Mux, address: u8| reads(alu, mux) && address == NOP;
    if stale(a, Mux::A, a.raddr_a) || stale(b, Mux::A, b.raddr_a) {
        return None;
    }
    if !imm_a && stale(a, Mux::B, a.raddr_b) || !imm_b && stale(b, Mux::B, b.raddr_b) {
        return None;
    }
    let add_open = is_written_in_either_file(a.waddr_add);
    let mul_open = is_written_in_either_file(b.waddr_mul);
    let ws = match (add_open, mul_open) {
        (true, true) => false,
        (false, true) => a.ws,
        (true, false) => b.ws,
        (false, false) if a.ws == b.ws => a.ws,
        _ => return None,
    };
    let packs = |alu: &Alu| alu.pm || alu.pack != 0 || alu.unpack.code() != 0;
    let owner = match (packs(a), packs(b)) {
        (false, false) | (true, false) => a,
        (false, true) => b,
        (true, true) => return None,
    };
    if packs(owner) {
        let other = if packs(a) { b } else { a };
        let unpacks = owner.unpack.code() != 0;
        if unpacks && reads(other, if owner.pm { Mux::R4 } else { Mux::A }) {
            return None;
        }
        // An operation on floats changes the unpack of file A, for the other operation too.
        if unpacks && !owner.pm {
            return None;
        }
        let other_pack = if owner.pm {
            // With `pm`, the pack applies to the result of the mul ALU.
            packs(a) && owner.pack != 0
        } else {
            let other_writes_a = if packs(a) { ws } else { !ws };
            let other_target = if packs(a) { b.waddr_mul } else { a.waddr_add };
            owner.pack != 0 && other_writes_a && is_register(other_target) || owner.pack != 0 && ws != owner.ws
        };
        if other_pack {
            return None;
        }
    }
    Some(Alu {
        sig,
        unpack: owner.unpack,
        pm: owner.pm,
        pack: owner.pack,
        cond_add: a.cond_add,
        cond_mul: b.cond_mul,
        sf,
        ws,
        waddr_add: a.waddr_add,
        waddr_mul: b.waddr_mul,
        op_mul: b.op_mul,
        op_add: a.op_add,
        raddr_a,
        raddr_b,
        add_a: a.add_a,
        add_b: a.add_b,
        mul_a: b.mul_a,
        mul_b: b.mul_b,
    })
}

/// Whether the accesses of both may be in one instruction: only one peripheral can be accessed in an instruction.
fn allowed(merged: &Accesses, first: &Accesses, second: &Accesses) -> bool {
    let special = |accesses: &Accesses| {
        let writes = accesses.writes_any(address_sets::UNITS_WRITTEN);
        // Uniforms and varyings can be read together with any access.
        let is_unit = |read: &Read| {
            let row = read.source.row();
            row.peripheral.is_some() && !matches!(row.stream, Some(Stream::Uniforms | Stream::Varyings))
        };
        writes || accesses.read().any(is_unit) || accesses.signal.loads_r4()
    };
    let [add, mul] = &merged.writes;
    let is_register = matches!(add.target, WriteTarget::Register(_));
    let both_write = add.happens() && mul.happens() && add.target.is_same(mul.target) && !is_register;
    let uniform_and_tmu = merged.reads(ReadSource::Uniform) && merged.writes_any(address_sets::TMU);
    !(special(first) && special(second) || both_write || uniform_and_tmu)
}
