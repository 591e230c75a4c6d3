//! Packs a tail's operations into instructions.
//!
//! An operation is merged into the previous instruction if possible: both ALUs read before either writes, so the second operation must not read the first
//! one's result. A result in a register file can be read two instructions later [AG p.37].

use alloc::vec::Vec;
use v3d_hw::qpu::{
    AddOp, Alu, Condition, Hazard, Instruction, MulOp, Mux, PackA, ReadSource, Signal, SmallImmediate, Unpack,
    WriteTarget,
};

/// A half of a word that holds a half float.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    /// Bits 15:0.
    Low,
    /// Bits 31:16.
    High,
}

/// Where an operand comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// Accumulator 0 to 3.
    R(u8),
    /// The result of a colour load.
    R4,
    /// Its alpha, replicated to all bytes.
    R4Alpha,
    /// A register of file A.
    A(u8),
    /// The highest byte of a register of file A, replicated to all bytes.
    AAlpha(u8),
    /// A half float in a register of file A; only float operations unpack it.
    AHalf(u8, Half),
    /// A register of file B.
    B(u8),
    /// The multisample mask.
    MsFlags,
    /// The next uniform.
    Uniform,
    /// A small integer.
    Small(i8),
    /// The float 1.
    One,
}

/// The destination of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum To {
    /// Accumulator 0 to 3.
    R(u8),
    /// A register of file A.
    A(u8),
    /// Half of a register of file A, from a float operation of the add ALU.
    AHalf(u8, Half),
    /// A peripheral.
    Io(WriteTarget),
    /// No destination: only the flags are used.
    Nowhere,
}

/// An operation and the ALUs that support it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Only the add ALU supports it.
    Add(AddOp),
    /// Only the mul ALU supports it.
    Mul(MulOp),
    /// Both ALUs support it.
    Either(AddOp, MulOp),
}

/// A move: the operand is read twice.
pub(super) const MOVE: Work = Work::Either(AddOp::Or, MulOp::V8min);

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Op {
    pub(super) work: Work,
    pub(super) to: To,
    pub(super) from: [From; 2],
    pub(super) when: Condition,
    pub(super) set_flags: bool,
}

impl Op {
    fn reads(&self, place: To) -> bool {
        self.from.iter().any(|&from| match (from, place) {
            (From::R(n), To::R(m)) => n == m,
            (From::A(n) | From::AAlpha(n) | From::AHalf(n, _), To::A(m) | To::AHalf(m, _)) => n == m,
            _ => false,
        })
    }

    fn reads_uniform(&self) -> bool {
        self.from.contains(&From::Uniform)
    }

    fn reads_r4(&self) -> bool {
        self.from.iter().any(|from| matches!(from, From::R4 | From::R4Alpha))
    }
}

/// An instruction under construction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot {
    add: Option<(AddOp, Op)>,
    mul: Option<(MulOp, Op)>,
    signal: Signal,
}

impl Slot {
    const EMPTY: Self = Self { add: None, mul: None, signal: Signal::None };

    fn ops(&self) -> impl Iterator<Item = Op> {
        self.add.map(|(_, op)| op).into_iter().chain(self.mul.map(|(_, op)| op))
    }

    /// The instruction with one more operation, if it can hold both.
    fn with(self, op: Op) -> Option<Self> {
        let free = match op.work {
            Work::Add(add) if self.add.is_none() => Self { add: Some((add, op)), ..self },
            Work::Mul(mul) | Work::Either(_, mul) if self.mul.is_none() && op.to != To::Io(WriteTarget::MsFlags) => {
                Self { mul: Some((mul, op)), ..self }
            }
            Work::Either(add, _) if self.add.is_none() => Self { add: Some((add, op)), ..self },
            _ => return None,
        };
        free.encode().map(|_| free)
    }

    /// Whether a later operation can be executed in the same instruction.
    fn admits(&self, op: &Op) -> bool {
        let is_io = |to: To| matches!(to, To::Io(_));
        let waits_for_load = self.signal == Signal::LoadColor && (op.reads_r4() || is_io(op.to));
        let depends = |before: Op| {
            op.reads(before.to)
                || before.to != To::Nowhere && before.to == op.to
                || before.set_flags && op.when != Condition::Always
                || op.set_flags
                || is_io(before.to) && is_io(op.to)
                || before.reads_uniform() && op.reads_uniform()
        };
        !waits_for_load && !self.ops().any(depends)
    }

    /// The encoded instruction, if it can be encoded.
    fn encode(&self) -> Option<Alu> {
        let mut alu = Alu { sig: self.signal, ..Alu::NOP };
        let mut ports = Ports::default();
        if let Some((op_add, op)) = self.add {
            let [add_a, add_b] = ports.take(op.from)?;
            let waddr_add = address(op.to);
            let pack = match op.to {
                To::AHalf(_, Half::Low) => PackA::Half0,
                To::AHalf(_, Half::High) => PackA::Half1,
                _ => PackA::None,
            };
            alu =
                Alu { op_add, add_a, add_b, waddr_add, cond_add: op.when, sf: op.set_flags, pack: pack.code(), ..alu };
        }
        if let Some((op_mul, op)) = self.mul {
            let [mul_a, mul_b] = ports.take(op.from)?;
            let waddr_mul = address(op.to);
            // The mul ALU writes to file A only with swapped write addresses.
            let swapped = matches!(op.to, To::A(_));
            if swapped
                && self
                    .add
                    .is_some_and(|(_, add)| matches!(add.to, To::A(_) | To::AHalf(..) | To::Io(WriteTarget::MsFlags)))
            {
                return None;
            }
            alu = Alu { op_mul, mul_a, mul_b, waddr_mul, cond_mul: op.when, ws: swapped, ..alu };
        }
        if ports.small {
            if alu.sig != Signal::None {
                return None;
            }
            alu.sig = Signal::SmallImmediate;
        }
        alu.raddr_a = ports.a.unwrap_or(alu.raddr_a);
        alu.raddr_b = ports.b.unwrap_or(alu.raddr_b);
        let unpack = ports.a_unpack.unwrap_or(Unpack::None);
        match ports.r4_alpha {
            Some(true) if unpack != Unpack::None || alu.pack != PackA::None.code() => return None,
            Some(true) => (alu.unpack, alu.pm) = (Unpack::Byte3Replicated, true),
            _ => alu.unpack = unpack,
        }
        Some(alu)
    }
}

fn address(to: To) -> u8 {
    match to {
        To::R(n) => WriteTarget::Accumulator(n).address(),
        To::A(n) | To::AHalf(n, _) => WriteTarget::Register(n).address(),
        To::Io(target) => target.address(),
        To::Nowhere => WriteTarget::Nop.address(),
    }
}

/// What an instruction reads.
#[derive(Default)]
struct Ports {
    a: Option<u8>,
    b: Option<u8>,
    small: bool,
    /// The unpack of file A's value, if it is read.
    a_unpack: Option<Unpack>,
    /// Whether the alpha of r4 is replicated, if r4 is read.
    r4_alpha: Option<bool>,
}

impl Ports {
    fn take(&mut self, from: [From; 2]) -> Option<[Mux; 2]> {
        Some([self.operand(from[0])?, self.operand(from[1])?])
    }

    fn operand(&mut self, from: From) -> Option<Mux> {
        match from {
            From::R(0) => Some(Mux::R0),
            From::R(1) => Some(Mux::R1),
            From::R(2) => Some(Mux::R2),
            From::R(_) => Some(Mux::R3),
            From::R4 => agree(&mut self.r4_alpha, false).then_some(Mux::R4),
            From::R4Alpha => agree(&mut self.r4_alpha, true).then_some(Mux::R4),
            From::A(n) => self.of_file_a(ReadSource::Register(n), Unpack::None),
            From::AAlpha(n) => self.of_file_a(ReadSource::Register(n), Unpack::Byte3Replicated),
            From::AHalf(n, Half::Low) => self.of_file_a(ReadSource::Register(n), Unpack::Half0),
            From::AHalf(n, Half::High) => self.of_file_a(ReadSource::Register(n), Unpack::Half1),
            From::B(n) => self.of_file_b(ReadSource::Register(n)),
            From::MsFlags => self.of_file_a(ReadSource::MsFlags, Unpack::None),
            // Through file B if possible, because its values are never unpacked.
            From::Uniform => {
                self.of_file_b(ReadSource::Uniform).or_else(|| self.of_file_a(ReadSource::Uniform, Unpack::None))
            }
            From::Small(value) => self.immediate(SmallImmediate::Integer(value)),
            From::One => self.immediate(SmallImmediate::Power(0)),
        }
    }

    fn of_file_a(&mut self, source: ReadSource, unpack: Unpack) -> Option<Mux> {
        (agree(&mut self.a, source.address()) && agree(&mut self.a_unpack, unpack)).then_some(Mux::A)
    }

    fn of_file_b(&mut self, source: ReadSource) -> Option<Mux> {
        (!self.small && agree(&mut self.b, source.address())).then_some(Mux::B)
    }

    fn immediate(&mut self, value: SmallImmediate) -> Option<Mux> {
        let code = value.code()?;
        let free = self.b.is_none() || self.small;
        self.small = true;
        (free && agree(&mut self.b, code)).then_some(Mux::B)
    }
}

/// Sets a field that is empty; returns whether it now has this value.
fn agree<T: PartialEq + Copy>(place: &mut Option<T>, value: T) -> bool {
    *place.get_or_insert(value) == value
}

/// Instructions under construction.
#[derive(Debug, Default)]
pub(super) struct Emitter {
    slots: Vec<Slot>,
}

/// Instructions from one that writes a register of a file to the first that can read it.
const FILE_DISTANCE: usize = Hazard::ReadAfterWrite.distance() as usize;

impl Emitter {
    /// Appends an operation.
    pub(super) fn op(&mut self, op: Op) {
        let paired = match self.slots.last() {
            Some(last) if last.admits(&op) && !self.too_fresh(&op, FILE_DISTANCE) => last.with(op),
            _ => None,
        };
        match (paired, self.slots.last_mut()) {
            (Some(paired), Some(last)) => *last = paired,
            _ => {
                if self.too_fresh(&op, FILE_DISTANCE - 1) {
                    self.slots.push(Slot::EMPTY);
                }
                // Every operation of a tail can be encoded as an instruction by itself.
                self.slots.push(Slot::EMPTY.with(op).unwrap_or(Slot::EMPTY));
            }
        }
    }

    /// Whether the `back`th instruction from the end writes a register of a file that the operation reads.
    fn too_fresh(&self, op: &Op, back: usize) -> bool {
        let written = self.slots.len().checked_sub(back).and_then(|at| self.slots.get(at));
        written.is_some_and(|slot| {
            slot.ops().any(|before| matches!(before.to, To::A(_) | To::AHalf(..)) && op.reads(before.to))
        })
    }

    /// Appends an operation on two operands, in all elements.
    pub(super) fn compute(&mut self, work: Work, to: To, from: [From; 2]) {
        self.op(Op { work, to, from, when: Condition::Always, set_flags: false });
    }

    /// Appends a load of one sample's colour.
    pub(super) fn load_color(&mut self) {
        if let Some(last) = self.slots.last_mut() {
            let others = last.ops().any(|op| matches!(op.to, To::Io(unit) if unit != WriteTarget::TlbColorMs));
            let with = Slot { signal: Signal::LoadColor, ..*last };
            if last.signal == Signal::None && !others && with.encode().is_some() {
                *last = with;
                return;
            }
        }
        self.slots.push(Slot { signal: Signal::LoadColor, ..Slot::EMPTY });
    }

    /// Redirects the last instruction's result to a peripheral, under a condition, or copies it there.
    pub(super) fn send(&mut self, from: From, unit: WriteTarget, when: Condition) {
        if let (From::R(n), Some(last)) = (from, self.slots.last_mut()) {
            let mut changed = *last;
            let ops = changed.add.iter_mut().map(|(_, op)| op).chain(changed.mul.iter_mut().map(|(_, op)| op));
            let mut found = false;
            for op in ops.filter(|op| op.to == To::R(n) && !op.set_flags) {
                (op.to, op.when, found) = (To::Io(unit), when, true);
            }
            let unsure = when != Condition::Always && last.ops().any(|op| op.set_flags);
            let alone = last.ops().all(|op| !matches!(op.to, To::Io(_))) && last.signal == Signal::None && !unsure;
            if n != 0 && found && alone && changed.encode().is_some() {
                *last = changed;
                return;
            }
        }
        self.op(Op { work: MOVE, to: To::Io(unit), from: [from, from], when, set_flags: false });
    }

    /// The words.
    pub(super) fn finish(self) -> Option<Vec<u64>> {
        self.slots.iter().map(|slot| Instruction::Alu(slot.encode()?).encode().ok()).collect()
    }
}
