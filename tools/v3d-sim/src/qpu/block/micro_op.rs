//! Micro-ops: the single steps of an instruction, as block execution and translated code execute them.
//!
//! An instruction can do many things at once: two operations, both with a condition, flags of one of them, unpacking, packing, reads and writes of peripherals,
//! a signal. Most instructions do few of them. Decomposition keeps only these, one vector operation per micro-op, in an order in which no micro-op sees a
//! change by another one of the same instruction. If there is no such order, both results are computed before either is written. Rare cases stay
//! [whole](MicroOp::Whole). Signals that control the program are not micro-ops: the block's groups execute them.

use crate::qpu::isa::instruction::{
    AluOperation, DecodedInstruction, Destination, FlagSource, Kind, Pack, Rotation, Unpacking,
};
use crate::qpu::isa::operation::Operation;
use crate::qpu::isa::pack;
use crate::qpu::isa::registers::{self, RegisterIndex};
use crate::qpu::isa::sfu::Function;
use v3d_hw::qpu::address_map::{ReadSource, TmuCoordinate, WriteTarget};
use v3d_hw::qpu::{Condition, PackA, PackMul, Signal, Unpack};

/// A step of an instruction. `at` is the index of the instruction in its block, where the step can report a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MicroOp {
    /// An operation in all elements.
    Operate {
        /// Which.
        operation: Operation,
        /// First operand.
        a: RegisterIndex,
        /// Second operand.
        b: RegisterIndex,
        /// Where the result goes.
        to: RegisterIndex,
    },
    /// An operation in the elements in which a condition holds.
    Conditional {
        /// Which.
        operation: Operation,
        /// First operand.
        a: RegisterIndex,
        /// Second operand.
        b: RegisterIndex,
        /// Where the result goes.
        to: RegisterIndex,
        /// The condition.
        condition: Condition,
    },
    /// An operation that sets the flags.
    Flags {
        /// Which.
        operation: Operation,
        /// First operand.
        a: RegisterIndex,
        /// Second operand.
        b: RegisterIndex,
        /// Where the result goes.
        to: RegisterIndex,
        /// In which elements.
        condition: Condition,
    },
    /// An operation of the mul ALU with a rotation, in all elements.
    Rotated {
        /// Which.
        operation: Operation,
        /// First operand.
        a: RegisterIndex,
        /// Second operand.
        b: RegisterIndex,
        /// Where the result goes.
        to: RegisterIndex,
        /// How far.
        by: Rotation,
    },
    /// The same value in all elements.
    Constant {
        /// Where it goes.
        to: RegisterIndex,
        /// The value.
        value: u32,
    },
    /// The next uniform.
    Uniform {
        /// Where it goes.
        to: RegisterIndex,
        /// The instruction.
        at: u16,
    },
    /// The next varying; its C coefficients wait in [`registers::COEFFICIENTS`].
    Varying {
        /// Where it goes.
        to: RegisterIndex,
        /// The instruction.
        at: u16,
    },
    /// The next word of the VPM's read FIFO.
    VpmRead {
        /// Where it goes.
        to: RegisterIndex,
        /// The instruction.
        at: u16,
    },
    /// What a peripheral shows that supplies no stream: pixel coordinates, masks, the state of DMA.
    Read {
        /// Which.
        source: ReadSource,
        /// The port.
        to: RegisterIndex,
        /// The instruction.
        at: u16,
    },
    /// Unpacks an operand.
    Unpack {
        /// Where it is.
        from: RegisterIndex,
        /// How.
        mode: Unpack,
        /// An operation that takes floats consumes it.
        float: bool,
    },
    /// Packs a result as a colour.
    PackColour {
        /// Where it is.
        from: RegisterIndex,
        /// The register.
        to: RegisterIndex,
        /// The bits of the register that it goes to.
        part: u32,
    },
    /// Packs a result for file A.
    PackA {
        /// Where it is.
        from: RegisterIndex,
        /// The register.
        to: RegisterIndex,
        /// How.
        mode: PackA,
        /// The result is a float.
        float: bool,
    },
    /// A function of the SFU, to r4.
    Sfu {
        /// Which.
        function: Function,
        /// The argument.
        from: RegisterIndex,
    },
    /// Writes a coordinate of a TMU.
    Tmu {
        /// Which TMU.
        unit: u8,
        /// Which coordinate.
        coordinate: TmuCoordinate,
        /// The value.
        from: RegisterIndex,
        /// The instruction.
        at: u16,
    },
    /// Loads a result of a TMU to r4.
    LoadTmu {
        /// Which TMU.
        unit: u8,
        /// The instruction.
        at: u16,
    },
    /// Sets the uniforms' address.
    UniformsAddress {
        /// It is element 0 of what is here.
        from: RegisterIndex,
    },
    /// Writes to the tile buffer or the VPM, to the set-up of one of them, or starts a DMA.
    Peripheral {
        /// Which register.
        target: WriteTarget,
        /// The value.
        from: RegisterIndex,
        /// The elements that are written.
        condition: Condition,
        /// The instruction.
        at: u16,
    },
    /// Unlocks the scoreboard, or loads samples of the tile buffer to r4.
    Signal {
        /// Which does.
        signal: Signal,
        /// The instruction.
        at: u16,
    },
    /// All of an instruction.
    Whole {
        /// The instruction.
        at: u16,
    },
}

/// Appends the micro-ops of an instruction.
pub fn append(micro_ops: &mut Vec<MicroOp>, instruction: &DecodedInstruction, at: u16) {
    let before = micro_ops.len();
    if decompose(micro_ops, instruction, at).is_none() {
        micro_ops.truncate(before);
        micro_ops.push(MicroOp::Whole { at });
    }
}

/// The micro-ops of one ALU, and what decides their order.
#[derive(Debug, Default)]
struct Part {
    operation: Option<MicroOp>,
    pack: Option<MicroOp>,
    peripheral: Option<MicroOp>,
    reads: Option<[RegisterIndex; 2]>,
    writes: Option<RegisterIndex>,
    reads_flags: bool,
    sets_flags: bool,
}

fn decompose(micro_ops: &mut Vec<MicroOp>, instruction: &DecodedInstruction, at: u16) -> Option<()> {
    match instruction.kind {
        Kind::Alu => {}
        Kind::Immediate(value) => micro_ops.push(MicroOp::Constant { to: registers::IMMEDIATE, value }),
        Kind::PerElement { .. } | Kind::Semaphore { .. } | Kind::Branch { .. } => return None,
    }
    let mut coefficients = false;
    for (source, to) in [(instruction.port_a, registers::PORT_A), (instruction.port_b, registers::PORT_B)] {
        // Both ports together take one element from a stream.
        let is_stream = matches!(source, Some(ReadSource::Uniform | ReadSource::Varying | ReadSource::VpmRead));
        if to == registers::PORT_B && is_stream && source == instruction.port_a {
            let (a, b) = (registers::PORT_A, registers::PORT_A);
            micro_ops.push(MicroOp::Operate { operation: Operation::Move, a, b, to });
            continue;
        }
        micro_ops.push(match source {
            None => continue,
            Some(ReadSource::Uniform) => MicroOp::Uniform { to, at },
            Some(ReadSource::Varying) => MicroOp::Varying { to, at },
            Some(ReadSource::VpmRead) => MicroOp::VpmRead { to, at },
            Some(source) => MicroOp::Read { source, to, at },
        });
        coefficients |= source == Some(ReadSource::Varying);
    }
    match instruction.unpacking {
        Unpacking::None => {}
        Unpacking::PortA { from, mode, float } => micro_ops.push(MicroOp::Unpack { from, mode, float }),
        Unpacking::R4 { from, mode } => micro_ops.push(MicroOp::Unpack { from, mode, float: true }),
    }

    let mut add = Part::default();
    if instruction.add_runs {
        let operation = Operation::of_add(instruction.add.op, instruction.add.a == instruction.add.b)?;
        add = part(&instruction.add, operation, instruction.flags == FlagSource::Add, registers::RESULT_ADD, at)?;
        // An overflowed sum needs a packer that receives more than the result.
        let can_overflow = matches!(operation, Operation::Add | Operation::Sub);
        if can_overflow && matches!(instruction.add.pack, Pack::FileA { .. }) {
            return None;
        }
    }
    let mut mul = Part::default();
    if instruction.mul_runs {
        let operation = Operation::of_mul(instruction.mul.op, instruction.mul.a == instruction.mul.b)?;
        mul = part(&instruction.mul, operation, instruction.flags == FlagSource::Mul, registers::RESULT_MUL, at)?;
    }
    if let (Some(micro_op), by @ (Rotation::By(_) | Rotation::ByR5)) = (mul.operation, instruction.rotation) {
        let MicroOp::Operate { operation, a, b, to } = micro_op else { return None };
        mul.operation = Some(MicroOp::Rotated { operation, a, b, to, by });
    }
    let is_conditional = |part: &Part| part.peripheral.is_some() && part.reads_flags;
    if instruction.flags != FlagSource::None && (is_conditional(&add) || is_conditional(&mul)) {
        return None;
    }
    append_parts(micro_ops, &mut add, &mut mul)?;
    micro_ops.extend(add.peripheral.into_iter().chain(mul.peripheral));
    if coefficients {
        let (a, b, to) = (registers::COEFFICIENTS, registers::COEFFICIENTS, registers::R5);
        micro_ops.push(MicroOp::Operate { operation: Operation::Move, a, b, to });
    }
    match instruction.signal {
        Signal::None
        | Signal::SmallImmediate
        | Signal::LoadImmediate
        | Signal::ScoreboardWait
        | Signal::ThreadSwitch
        | Signal::LastThreadSwitch
        | Signal::ProgramEnd => {}
        signal @ (Signal::ScoreboardUnlock
        | Signal::LoadCoverage
        | Signal::LoadColor
        | Signal::LoadColorEnd
        | Signal::LoadAlpha) => micro_ops.push(MicroOp::Signal { signal, at }),
        Signal::LoadTmu0 => micro_ops.push(MicroOp::LoadTmu { unit: 0, at }),
        Signal::LoadTmu1 => micro_ops.push(MicroOp::LoadTmu { unit: 1, at }),
        _ => return None,
    }
    Some(())
}

/// Appends the operations of both ALUs with their packers. If both results go to the same register, that of the mul ALU comes last. `None` if they cannot be
/// told apart.
fn append_parts(micro_ops: &mut Vec<MicroOp>, add: &mut Part, mul: &mut Part) -> Option<()> {
    let is_after = |first: &Part, second: &Part| {
        let overwritten =
            first.writes.is_some_and(|register| second.reads.is_some_and(|reads| reads.contains(&register)));
        !(overwritten || first.sets_flags && second.reads_flags)
    };
    let same = add.writes.is_some() && add.writes == mul.writes;
    let parts = if is_after(add, mul) {
        [add, mul]
    } else if is_after(mul, add) && !same {
        [mul, add]
    } else if same {
        return None;
    } else {
        // Both compute before either writes to a register; flags are set last.
        add.hold_result(micro_ops, registers::RESULT_ADD)?;
        mul.hold_result(micro_ops, registers::RESULT_MUL)?;
        let parts = if add.sets_flags { [mul, add] } else { [add, mul] };
        micro_ops.extend(parts.iter().filter_map(|part| part.operation));
        micro_ops.extend(parts.iter().filter_map(|part| part.pack));
        return Some(());
    };
    for part in parts {
        micro_ops.extend(part.operation.into_iter().chain(part.pack));
    }
    Some(())
}

impl Part {
    /// Has the operation write to `waiting`, from where a move writes to the register. Elements without a result keep their value.
    fn hold_result(&mut self, micro_ops: &mut Vec<MicroOp>, waiting: RegisterIndex) -> Option<()> {
        let copy = |from, to| MicroOp::Operate { operation: Operation::Move, a: from, b: from, to };
        let (to, is_partial) = match self.operation.as_mut()? {
            MicroOp::Operate { to, .. } | MicroOp::Rotated { to, .. } => (to, false),
            MicroOp::Conditional { to, .. } => (to, true),
            MicroOp::Flags { to, condition, .. } => (to, *condition != Condition::Always),
            _ => return None,
        };
        if [waiting, registers::NOWHERE].contains(to) {
            return Some(());
        }
        let register = std::mem::replace(to, waiting);
        if is_partial {
            micro_ops.push(copy(register, waiting));
        }
        self.pack = Some(copy(waiting, register));
        Some(())
    }
}

/// Decomposes the work of one ALU. A result that is packed or goes to a peripheral is held in `waiting`.
fn part<Op>(
    half: &AluOperation<Op>,
    operation: Operation,
    sets_flags: bool,
    waiting: RegisterIndex,
    at: u16,
) -> Option<Part> {
    let &AluOperation { a, b, condition, pack, to: destination, .. } = half;
    let always = condition == Condition::Always;
    let mut part = Part { reads: Some([a, b]), reads_flags: !always, sets_flags, ..Part::default() };
    let from = waiting;
    let to = match (destination, pack) {
        (Destination::Nowhere, _) => registers::NOWHERE,
        (Destination::Register(register), Pack::None | Pack::Colour(PackMul::None)) => {
            part.writes = Some(register);
            register
        }
        (Destination::Register(to), Pack::Colour(mode)) if always => {
            part.writes = Some(to);
            part.pack = Some(MicroOp::PackColour { from, to, part: pack::pack_mul_mask(mode)? });
            waiting
        }
        (Destination::Register(to), Pack::FileA { mode, float }) if always => {
            part.writes = Some(to);
            part.pack = Some(MicroOp::PackA { from, to, mode, float });
            waiting
        }
        (Destination::Sfu(function), Pack::None) if always => {
            part.peripheral = Some(MicroOp::Sfu { function, from });
            waiting
        }
        (Destination::Tmu(unit, coordinate), Pack::None) if always => {
            part.peripheral = Some(MicroOp::Tmu { unit: unit & 1, coordinate, from, at });
            waiting
        }
        (Destination::Peripheral(WriteTarget::UniformsAddress), Pack::None) if always => {
            part.peripheral = Some(MicroOp::UniformsAddress { from });
            waiting
        }
        (
            Destination::Peripheral(
                target @ (WriteTarget::TlbStencilSetup
                | WriteTarget::TlbZ
                | WriteTarget::TlbColorMs
                | WriteTarget::TlbColorAll
                | WriteTarget::VpmWrite
                | WriteTarget::VpmVcdRdSetup
                | WriteTarget::VpmVcdWrSetup
                | WriteTarget::VpmLdAddr
                | WriteTarget::VpmStAddr),
            ),
            Pack::None,
        ) if always => {
            part.peripheral = Some(MicroOp::Peripheral { target, from, condition, at });
            waiting
        }
        (Destination::Peripheral(target @ (WriteTarget::MsFlags | WriteTarget::RevFlag)), Pack::None) => {
            // The condition is on the old flags, which nothing may have set.
            if sets_flags {
                return None;
            }
            part.reads_flags = true;
            part.peripheral = Some(MicroOp::Peripheral { target, from, condition, at });
            part.operation = Some(MicroOp::Operate { operation, a, b, to: waiting });
            return Some(part);
        }
        _ => return None,
    };
    part.operation = Some(match (sets_flags, always) {
        (true, _) => MicroOp::Flags { operation, a, b, to, condition },
        (false, false) => MicroOp::Conditional { operation, a, b, to, condition },
        (false, true) => MicroOp::Operate { operation, a, b, to },
    });
    Some(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use v3d_hw::Layout;
    use v3d_hw::qpu::{AddOp, Alu, MulOp, Mux, SmallImmediate};

    /// The micro-ops of an instruction word, as text.
    fn check(word: u64, expected: &[&str]) {
        let mut micro_ops = Vec::new();
        append(&mut micro_ops, &DecodedInstruction::decode(word), 0);
        let name = |register: RegisterIndex| match register {
            0..32 => format!("ra{register}"),
            32..64 => format!("rb{}", register - 32),
            64..70 => format!("r{}", register - 64),
            registers::PORT_A => "port a".to_owned(),
            registers::UNPACKED => "unpacked".to_owned(),
            registers::RESULT_ADD | registers::RESULT_MUL => "result".to_owned(),
            registers::NOWHERE => "nowhere".to_owned(),
            _ => format!("constant {register}"),
        };
        let found: Vec<String> = micro_ops
            .iter()
            .map(|micro_op| match *micro_op {
                MicroOp::Operate { operation, a, b, to } => {
                    format!("{} = {operation:?} {}, {}", name(to), name(a), name(b))
                }
                MicroOp::Conditional { operation, a, b, to, condition } => {
                    format!("{} = {operation:?} {}, {} if {condition:?}", name(to), name(a), name(b))
                }
                MicroOp::Flags { operation, a, b, to, condition } => {
                    format!("{}, flags = {operation:?} {}, {} if {condition:?}", name(to), name(a), name(b))
                }
                MicroOp::Uniform { to, .. } => format!("{} = uniform", name(to)),
                MicroOp::Sfu { function, from } => format!("r4 = {function:?} {}", name(from)),
                MicroOp::PackColour { from, to, part } => format!("{} & {part:#x} = {}", name(to), name(from)),
                MicroOp::Unpack { from, mode, .. } => format!("unpacked = {mode:?} {}", name(from)),
                _ => format!("{micro_op:?}"),
            })
            .collect();
        assert_eq!(found, expected, "{word:#018x}");
    }

    /// Words of a compiled shader (`tests/captures/loop_mandelbrot`), each with its disassembly.
    #[test]
    fn instructions_become_what_they_do() {
        // nop
        check(0x1000_09e7_009e_7000, &[]);
        // mov ra14, rb1
        check(0x1002_03a7_159c_1fc0, &["ra14 = Move rb1, rb1"]);
        // fmul r1, r0, unif
        check(0x1000_49e1_2082_7006, &["port a = uniform", "r1 = Fmul r0, port a"]);
        // or.setf -, rb1, r2
        check(0x1002_29e7_159c_1e80, &["nowhere, flags = Or rb1, r2 if Always"]);
        // fadd r2, r0, r5; fmul r3, rb0, rb0
        check(0x1002_48a3_219c_017f, &["r2 = Fadd r0, r5", "r3 = Fmul rb0, rb0"]);
        // fadd.ifz rb0, r3, ra2; fmul r2, rb0, rb0: the product is of the old rb0
        check(0x1004_5022_2108_07bf, &["r2 = Fmul rb0, rb0", "rb0 = Fadd r3, ra2 if ZSet"]);
        // mov vpm, unif
        let to_vpm = "Peripheral { target: VpmWrite, from: 128, condition: Always, at: 0 }";
        check(0x1002_0c27_1582_7d80, &["port a = uniform", "result = Move port a, port a", to_vpm]);
        // mmov r2.8csf, r1
        check(0x1160_49e2_809e_7009, &["result = Move r1, r1", "r2 & 0xff0000 = result"]);
        // and -, -, r3; mul24 rb21, r3, -: what the two ports last showed may differ.
        let shown = ["Read { source: Nop, to: 72, at: 0 }", "Read { source: Nop, to: 73, at: 0 }"];
        check(0x1002_49d5_4c9e_7cdf, &[shown[0], shown[1], "rb21 = Mul24 r3, constant 73"]);
        // mov recipsqrt, rb6
        check(0x1002_0d67_159c_6fc0, &["result = Move rb6, rb6", "r4 = RecipSqrt result"]);
    }

    #[test]
    fn a_rotation_is_one_micro_op() {
        let rotation = Alu {
            sig: Signal::SmallImmediate,
            op_mul: MulOp::V8min,
            cond_mul: Condition::Always,
            waddr_mul: 33,
            raddr_b: SmallImmediate::FIRST_ROTATION + 3,
            mul_a: Mux::R0,
            mul_b: Mux::R0,
            ..Alu::NOP
        };
        let rotated = "Rotated { operation: Move, a: 64, b: 64, to: 65, by: By(3) }";
        check(rotation.to_bits().unwrap() as u64, &[rotated]);
    }

    /// A swap of two registers: neither operation can be the first.
    #[test]
    fn both_results_of_an_exchange_are_computed_before_either_is_written() {
        let mut instruction = DecodedInstruction::decode(0x1002_48a3_219c_017f);
        (instruction.add.op, instruction.mul.op) = (AddOp::Or, MulOp::V8min);
        (instruction.add.a, instruction.add.b, instruction.add.to) = (64, 64, Destination::Register(65));
        (instruction.mul.a, instruction.mul.b, instruction.mul.to) = (65, 65, Destination::Register(64));
        let copy = |from, to| MicroOp::Operate { operation: Operation::Move, a: from, b: from, to };
        let (add, mul) = (registers::RESULT_ADD, registers::RESULT_MUL);
        let expected = [copy(64, add), copy(65, mul), copy(add, 65), copy(mul, 64)];
        let mut micro_ops = Vec::new();
        append(&mut micro_ops, &instruction, 7);
        assert_eq!(micro_ops, expected);

        // Elements without a result keep their value.
        instruction.mul.condition = Condition::ZSet;
        let conditional =
            MicroOp::Conditional { operation: Operation::Move, a: 65, b: 65, to: mul, condition: Condition::ZSet };
        micro_ops.clear();
        append(&mut micro_ops, &instruction, 7);
        assert_eq!(micro_ops, [copy(64, mul), expected[0], conditional, expected[2], expected[3]]);
    }

    /// Both results go to the same register, which the second operation reads: it gets the product, whichever comes first.
    #[test]
    fn results_in_the_same_register_stay_whole() {
        let mut instruction = DecodedInstruction::decode(0x1002_48a3_219c_017f);
        (instruction.add.a, instruction.add.to) = (65, Destination::Register(64));
        (instruction.mul.a, instruction.mul.to) = (64, Destination::Register(64));
        let mut micro_ops = Vec::new();
        append(&mut micro_ops, &instruction, 7);
        assert_eq!(micro_ops, [MicroOp::Whole { at: 7 }]);
    }
}
