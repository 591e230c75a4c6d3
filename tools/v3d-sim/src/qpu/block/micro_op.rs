//! Actions: what instructions become where code runs straight ahead.
//!
//! An instruction does much at once: two operations, both with a condition, flags of one of them, unpacking, packing, reads of peripherals, writes to
//! them, a signal. Most instructions use little of that. Here each is taken apart into what it really does, one vector operation after the other, and
//! what does nothing disappears. The parts are in such an order that none sees what another of the same instruction has changed. Where there is no
//! such order, and for whatever is rare, the instruction stays whole. Signals that control the program are not actions: who executes actions obeys them.

use crate::qpu::isa::instruction::{Destination, FlagSource, Half, Kind, MicroOp, Pack, Rotation, Unpacking};
use crate::qpu::isa::operation::Operation;
use crate::qpu::isa::pack;
use crate::qpu::isa::registers::{self, Place};
use crate::qpu::isa::sfu::Function;
use v3d_hw::qpu::address_map::{ReadSource, TmuCoordinate, WriteTarget};
use v3d_hw::qpu::{Condition, PackA, PackMul, Signal, Unpack};

/// A part of an instruction. `at` is the index of the instruction in its stretch, for those that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// An operation in all elements.
    Operate {
        /// Which.
        operation: Operation,
        /// First operand.
        a: Place,
        /// Second operand.
        b: Place,
        /// Where the result goes.
        to: Place,
    },
    /// An operation in the elements in which a condition holds.
    Conditional {
        /// Which.
        operation: Operation,
        /// First operand.
        a: Place,
        /// Second operand.
        b: Place,
        /// Where the result goes.
        to: Place,
        /// The condition.
        condition: Condition,
    },
    /// An operation that sets the flags.
    Flags {
        /// Which.
        operation: Operation,
        /// First operand.
        a: Place,
        /// Second operand.
        b: Place,
        /// Where the result goes.
        to: Place,
        /// In which elements.
        condition: Condition,
    },
    /// The same value in all elements.
    Constant {
        /// Where it goes.
        to: Place,
        /// The value.
        value: u32,
    },
    /// The next uniform.
    Uniform {
        /// Where it goes.
        to: Place,
        /// The instruction.
        at: u16,
    },
    /// The next varying; its C coefficients wait in [`registers::COEFFICIENTS`].
    Varying {
        /// Where it goes.
        to: Place,
        /// The instruction.
        at: u16,
    },
    /// The next word of the VPM's read FIFO.
    VpmRead {
        /// Where it goes.
        to: Place,
        /// The instruction.
        at: u16,
    },
    /// Unpacks an operand.
    Unpack {
        /// Where it is.
        from: Place,
        /// How.
        mode: Unpack,
        /// An operation that takes floats consumes it.
        float: bool,
    },
    /// Packs a result as a colour.
    PackColour {
        /// Where it is.
        from: Place,
        /// The register.
        to: Place,
        /// The bits of the register that it goes to.
        part: u32,
    },
    /// Packs a result for file A.
    PackA {
        /// Where it is.
        from: Place,
        /// The register.
        to: Place,
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
        from: Place,
    },
    /// Writes a coordinate of a TMU.
    Tmu {
        /// Which TMU.
        unit: u8,
        /// Which coordinate.
        coordinate: TmuCoordinate,
        /// The value.
        from: Place,
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
        from: Place,
    },
    /// Writes to the tile buffer or its set-up.
    TileBuffer {
        /// Which register.
        target: WriteTarget,
        /// The value.
        from: Place,
        /// The instruction.
        at: u16,
    },
    /// Unlocks the scoreboard.
    ScoreboardUnlock {
        /// The instruction.
        at: u16,
    },
    /// All of an instruction.
    Whole {
        /// The instruction.
        at: u16,
    },
}

/// Appends the actions of an instruction.
pub fn append(actions: &mut Vec<Action>, op: &MicroOp, at: u16) {
    let before = actions.len();
    if take_apart(actions, op, at).is_none() {
        actions.truncate(before);
        actions.push(Action::Whole { at });
    }
}

/// What one ALU does.
#[derive(Debug, Default)]
struct Part {
    operation: Option<Action>,
    pack: Option<Action>,
    peripheral: Option<Action>,
    reads: Option<[Place; 2]>,
    writes: Option<Place>,
    reads_flags: bool,
    sets_flags: bool,
}

fn take_apart(actions: &mut Vec<Action>, op: &MicroOp, at: u16) -> Option<()> {
    match op.kind {
        Kind::Alu => {}
        Kind::Immediate(value) => actions.push(Action::Constant { to: registers::IMMEDIATE, value }),
        Kind::PerElement { .. } | Kind::Semaphore { .. } | Kind::Branch { .. } => return None,
    }
    if op.rotation != Rotation::None {
        return None;
    }
    let mut coefficients = false;
    for (source, to) in [(op.port_a, registers::PORT_A), (op.port_b, registers::PORT_B)] {
        // Both ports together take one element from a stream.
        if to == registers::PORT_B && source.is_some() && source == op.port_a {
            let (a, b) = (registers::PORT_A, registers::PORT_A);
            actions.push(Action::Operate { operation: Operation::Move, a, b, to });
            continue;
        }
        actions.push(match source {
            None => continue,
            Some(ReadSource::Uniform) => Action::Uniform { to, at },
            Some(ReadSource::Varying) => Action::Varying { to, at },
            Some(ReadSource::VpmRead) => Action::VpmRead { to, at },
            Some(_) => return None,
        });
        coefficients |= source == Some(ReadSource::Varying);
    }
    match op.unpacking {
        Unpacking::None => {}
        Unpacking::PortA { from, mode, float } => actions.push(Action::Unpack { from, mode, float }),
        Unpacking::R4 { from, mode } => actions.push(Action::Unpack { from, mode, float: true }),
    }

    let mut add = Part::default();
    if op.add_runs {
        let operation = Operation::of_add(op.add.op, op.add.a == op.add.b)?;
        add = part(&op.add, operation, op.flags == FlagSource::Add, registers::RESULT_ADD, at)?;
        // Where a sum can overflow, the packer of file A needs more than results.
        let can_overflow = matches!(operation, Operation::Add | Operation::Sub);
        if can_overflow && matches!(op.add.pack, Pack::FileA { .. }) {
            return None;
        }
    }
    let mut mul = Part::default();
    if op.mul_runs {
        let operation = Operation::of_mul(op.mul.op, op.mul.a == op.mul.b)?;
        mul = part(&op.mul, operation, op.flags == FlagSource::Mul, registers::RESULT_MUL, at)?;
    }
    // The results of both ALUs may go to one register; then that of the mul ALU comes last.
    let ordered = |first: &Part, second: &Part| {
        let overwritten = first.writes.is_some_and(|place| second.reads.is_some_and(|reads| reads.contains(&place)));
        !(overwritten || first.sets_flags && second.reads_flags)
    };
    let same = add.writes.is_some() && add.writes == mul.writes;
    let parts = if ordered(&add, &mul) {
        [&add, &mul]
    } else if ordered(&mul, &add) && !same {
        [&mul, &add]
    } else {
        return None;
    };
    for part in parts {
        actions.extend(part.operation.into_iter().chain(part.pack));
    }
    actions.extend(add.peripheral.into_iter().chain(mul.peripheral));
    if coefficients {
        let (a, b, to) = (registers::COEFFICIENTS, registers::COEFFICIENTS, registers::R5);
        actions.push(Action::Operate { operation: Operation::Move, a, b, to });
    }
    match op.signal {
        Signal::None
        | Signal::SmallImmediate
        | Signal::LoadImmediate
        | Signal::ScoreboardWait
        | Signal::ThreadSwitch
        | Signal::LastThreadSwitch
        | Signal::ProgramEnd => {}
        Signal::ScoreboardUnlock => actions.push(Action::ScoreboardUnlock { at }),
        Signal::LoadTmu0 => actions.push(Action::LoadTmu { unit: 0, at }),
        Signal::LoadTmu1 => actions.push(Action::LoadTmu { unit: 1, at }),
        _ => return None,
    }
    Some(())
}

/// Takes apart what one ALU does. A result that does not go to a register as it is waits in `waiting`.
fn part<Op>(half: &Half<Op>, operation: Operation, sets_flags: bool, waiting: Place, at: u16) -> Option<Part> {
    let &Half { a, b, condition, pack, to: destination, .. } = half;
    let always = condition == Condition::Always;
    let mut part = Part { reads: Some([a, b]), reads_flags: !always, sets_flags, ..Part::default() };
    let from = waiting;
    let to = match (destination, pack) {
        (Destination::Nowhere, _) => registers::NOWHERE,
        (Destination::Register(place), Pack::None | Pack::Colour(PackMul::None)) => {
            part.writes = Some(place);
            place
        }
        (Destination::Register(to), Pack::Colour(mode)) if always => {
            part.writes = Some(to);
            part.pack = Some(Action::PackColour { from, to, part: pack::pack_mul_mask(mode)? });
            waiting
        }
        (Destination::Register(to), Pack::FileA { mode, float }) if always => {
            part.writes = Some(to);
            part.pack = Some(Action::PackA { from, to, mode, float });
            waiting
        }
        (Destination::Sfu(function), Pack::None) if always => {
            part.peripheral = Some(Action::Sfu { function, from });
            waiting
        }
        (Destination::Tmu(unit, coordinate), Pack::None) if always => {
            part.peripheral = Some(Action::Tmu { unit: unit & 1, coordinate, from, at });
            waiting
        }
        (Destination::Peripheral(WriteTarget::UniformsAddress), Pack::None) if always => {
            part.peripheral = Some(Action::UniformsAddress { from });
            waiting
        }
        (
            Destination::Peripheral(
                target @ (WriteTarget::TlbStencilSetup
                | WriteTarget::TlbZ
                | WriteTarget::TlbColorMs
                | WriteTarget::TlbColorAll),
            ),
            Pack::None,
        ) if always => {
            part.peripheral = Some(Action::TileBuffer { target, from, at });
            waiting
        }
        _ => return None,
    };
    part.operation = Some(match (sets_flags, always) {
        (true, _) => Action::Flags { operation, a, b, to, condition },
        (false, false) => Action::Conditional { operation, a, b, to, condition },
        (false, true) => Action::Operate { operation, a, b, to },
    });
    Some(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use v3d_hw::qpu::{AddOp, MulOp};

    /// The actions of an instruction word, as text.
    fn check(word: u64, expected: &[&str]) {
        let mut actions = Vec::new();
        append(&mut actions, &MicroOp::decode(word), 0);
        let name = |place: Place| match place {
            0..32 => format!("ra{place}"),
            32..64 => format!("rb{}", place - 32),
            64..70 => format!("r{}", place - 64),
            registers::PORT_A => "port a".to_owned(),
            registers::UNPACKED => "unpacked".to_owned(),
            registers::RESULT_ADD | registers::RESULT_MUL => "result".to_owned(),
            registers::NOWHERE => "nowhere".to_owned(),
            _ => format!("constant {place}"),
        };
        let found: Vec<String> = actions
            .iter()
            .map(|action| match *action {
                Action::Operate { operation, a, b, to } => {
                    format!("{} = {operation:?} {}, {}", name(to), name(a), name(b))
                }
                Action::Conditional { operation, a, b, to, condition } => {
                    format!("{} = {operation:?} {}, {} if {condition:?}", name(to), name(a), name(b))
                }
                Action::Flags { operation, a, b, to, condition } => {
                    format!("{}, flags = {operation:?} {}, {} if {condition:?}", name(to), name(a), name(b))
                }
                Action::Uniform { to, .. } => format!("{} = uniform", name(to)),
                Action::Sfu { function, from } => format!("r4 = {function:?} {}", name(from)),
                Action::PackColour { from, to, part } => format!("{} & {part:#x} = {}", name(to), name(from)),
                Action::Unpack { from, mode, .. } => format!("unpacked = {mode:?} {}", name(from)),
                _ => format!("{action:?}"),
            })
            .collect();
        assert_eq!(found, expected, "{word:#018x}");
    }

    /// Words of a compiled shader (`tests/captures/loop_mandelbrot`), and what the disassembler says of them.
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
        // mmov r2.8csf, r1
        check(0x1160_49e2_809e_7009, &["result = Move r1, r1", "r2 & 0xff0000 = result"]);
        // mov recipsqrt, rb6
        check(0x1002_0d67_159c_6fc0, &["result = Move rb6, rb6", "r4 = RecipSqrt result"]);
    }

    /// Two registers that are exchanged: no part can be the first.
    #[test]
    fn what_has_no_order_stays_whole() {
        let mut op = MicroOp::decode(0x1002_48a3_219c_017f);
        (op.add.op, op.mul.op) = (AddOp::Or, MulOp::V8min);
        (op.add.a, op.add.b, op.add.to) = (64, 64, Destination::Register(65));
        (op.mul.a, op.mul.b, op.mul.to) = (65, 65, Destination::Register(64));
        let mut actions = Vec::new();
        append(&mut actions, &op, 7);
        assert_eq!(actions, [Action::Whole { at: 7 }]);
    }
}
