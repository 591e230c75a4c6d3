//! Pass `encode`: encodes bundles, whose live ranges have registers now, as instruction words.

use alloc::vec::Vec;

use naga::Span;
use v3d_hw::qpu::address_map::NOP;
use v3d_hw::qpu::{
    AddOp, Alu, BRANCH_DELAY_SLOTS, Branch, BranchCondition, Condition, File, INSTRUCTION_BYTES, ImmediateKind,
    Instruction, LoadImmediate, MulOp, Mux, Signal, SmallImmediate, WriteTarget,
};

use crate::allocate::Allocation;
use crate::bundle::{Bank, Bundle, Destination, Placed, PlacedOperand, Port};
use crate::machine::{Pack, Work};
use crate::schedule::{Scheduled, Slot};
use crate::ssa::StreamWord;

/// An instruction with its source location, and the uniform that it reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub(crate) instruction: Instruction,
    pub(crate) span: Span,
    pub(crate) reads: Option<StreamWord>,
}

/// The instructions of a program. Calls are left empty, since the addresses of routines are not known yet.
pub(crate) fn encode(scheduled: &Scheduled, allocation: &Allocation) -> Vec<Line> {
    let mut span = Span::default();
    let mut lines = Vec::with_capacity(scheduled.slots.len());
    for (at, slot) in scheduled.slots.iter().enumerate() {
        let (instruction, reads) = match slot {
            Slot::Bundle(bundle) => {
                span = bundle.span().unwrap_or(span);
                (encode_bundle(bundle, allocation), bundle.uniform())
            }
            Slot::Branch { to } => (branch(at, *to, BranchCondition::AnyZClear, NOP), None),
            Slot::Call { .. } => (Instruction::Alu(Alu::NOP), None),
        };
        lines.push(Line { instruction, span, reads });
    }
    lines
}

fn write_address(destination: Destination, allocation: &Allocation) -> u8 {
    let target = match destination {
        Destination::Nothing | Destination::Range(Bank::R4, _) => WriteTarget::Nop,
        Destination::Address(_, target) => target,
        Destination::Range(bank, range) => match (bank, allocation.number(range)) {
            // It is never read.
            (_, None) => WriteTarget::Nop,
            (Bank::Accumulator, Some(number)) => WriteTarget::Accumulator(number),
            (_, Some(number)) => WriteTarget::Register(number),
        },
    };
    target.address()
}

fn encode_bundle(bundle: &Bundle, allocation: &Allocation) -> Instruction {
    if let Some(Placed { work: Work::Load(immediate), destination, condition, sets_flags, .. }) = bundle.immediate {
        return Instruction::LoadImmediate(LoadImmediate {
            sig: Signal::LoadImmediate,
            kind: ImmediateKind::Word,
            pm: false,
            pack: 0,
            cond_add: condition,
            cond_mul: Condition::Never,
            sf: sets_flags,
            ws: bundle.swaps_writes,
            waddr_add: write_address(destination, allocation),
            waddr_mul: NOP,
            immediate,
        });
    }
    let mut alu = Alu { ws: bundle.swaps_writes, ..Alu::NOP };
    if bundle.load.is_some() {
        alu.sig = Signal::LoadTmu0;
    }
    let address = |port| match port {
        Port::Range(range) => allocation.number(range).unwrap_or(NOP),
        Port::Address(address) | Port::Small(address) => address,
        Port::Rotation(places) => SmallImmediate::FIRST_ROTATION + places,
    };
    if let Some(port) = bundle.port_a {
        alu.raddr_a = address(port);
    }
    if let Some(port) = bundle.port_b {
        alu.raddr_b = address(port);
        if matches!(port, Port::Small(_) | Port::Rotation(_)) {
            alu.sig = Signal::SmallImmediate;
        }
    }
    if let Some((bank, unpack)) = bundle.unpack {
        (alu.pm, alu.unpack) = (bank == Bank::R4, unpack);
    }
    if let Some(add) = &bundle.add {
        let [first, second] = muxes(add, allocation);
        let op = if let Work::Add(op) = add.work { op } else { AddOp::Or };
        (alu.op_add, alu.add_a, alu.add_b) = (op, first, second);
        (alu.waddr_add, alu.cond_add) = (write_address(add.destination, allocation), add.condition);
    }
    if let Some(mul) = &bundle.mul {
        let [first, second] = muxes(mul, allocation);
        let op = if let Work::Mul(op) = mul.work { op } else { MulOp::V8min };
        (alu.op_mul, alu.mul_a, alu.mul_b) = (op, first, second);
        (alu.waddr_mul, alu.cond_mul) = (write_address(mul.destination, allocation), mul.condition);
    }
    for placed in bundle.operations() {
        alu.sf |= placed.sets_flags;
        match placed.pack {
            Pack::None => {}
            Pack::Mul(pack) => (alu.pm, alu.pack) = (true, pack.code()),
            Pack::A(pack) => alu.pack = pack.code(),
        }
    }
    if let Some(signal) = bundle.thread {
        alu.sig = signal;
    }
    Instruction::Alu(alu)
}

/// The multiplexer inputs of both operands; an operation with one operand selects it with both.
fn muxes(placed: &Placed, allocation: &Allocation) -> [Mux; 2] {
    let mux = |source| match source {
        PlacedOperand::Range(Bank::Accumulator, range, _) => match allocation.number(range).unwrap_or(0) {
            0 => Mux::R0,
            1 => Mux::R1,
            2 => Mux::R2,
            _ => Mux::R3,
        },
        PlacedOperand::Range(Bank::A, ..) | PlacedOperand::Fixed(File::A, _) => Mux::A,
        PlacedOperand::Range(Bank::B, ..) | PlacedOperand::Fixed(File::B, _) | PlacedOperand::Small(_) => Mux::B,
        PlacedOperand::Range(Bank::R4, ..) => Mux::R4,
        PlacedOperand::Either(_, through) => match placed.stream_ports.of(through) {
            File::A => Mux::A,
            File::B => Mux::B,
        },
        PlacedOperand::R5 => Mux::R5,
    };
    match *placed.operands() {
        [one] => [mux(one); 2],
        [first, second, ..] => [mux(first), mux(second)],
        [] => [Mux::R0; 2],
    }
}

/// A branch from one instruction of a program to another. The three instructions after it are its delay slots; `link` receives the return address.
pub(crate) fn branch(at: usize, target: usize, cond_br: BranchCondition, link: u8) -> Instruction {
    let distance = target as i64 - (at as i64 + 1 + i64::from(BRANCH_DELAY_SLOTS));
    Instruction::Branch(Branch {
        sig: Signal::Branch,
        unused: 0,
        cond_br,
        rel: true,
        reg: false,
        raddr_a: 0,
        ws: false,
        waddr_add: link,
        waddr_mul: NOP,
        immediate: distance as i32 * INSTRUCTION_BYTES as i32,
    })
}
