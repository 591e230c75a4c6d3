//! From an operation whose registers have places to an instruction.

use naga::Span;
use v3d_hw::qpu::address_map::{NOP, TmuCoordinate, is_read_in_either_file, is_written_in_either_file};
use v3d_hw::qpu::{
    AddOp, Alu, BRANCH_DELAY_SLOTS, Branch, BranchCondition, Condition, File, INSTRUCTION_BYTES, ImmediateKind,
    Instruction, LoadImmediate, MulOp, Mux, ReadSource, Signal, Unpack, WriteTarget,
};

use crate::machine::{Operand, Operation, Pack, Register, Target, Work};
use crate::registers::Place;
use crate::ssa::StreamWord;

/// An instruction with the line that it is for, and the word of the uniforms that it reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub(crate) instruction: Instruction,
    pub(crate) span: Span,
    pub(crate) reads: Option<StreamWord>,
}

/// An operand with its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Source {
    At(Place, Unpack),
    Small(u8),
    FixedA(u8),
    FixedB(u8),
    /// An address that both files have.
    Either(u8),
    R5,
}

/// The operands of an operation with their places.
#[derive(Clone, Copy)]
pub(crate) struct Sources {
    all: [Source; 2],
    count: usize,
}

impl Sources {
    /// `None` if a register has no place.
    pub(crate) fn of(operation: &Operation, place: impl Fn(Register) -> Option<Place>) -> Option<Self> {
        let mut all = [Source::R5; 2];
        for (slot, &operand) in all.iter_mut().zip(&operation.operands) {
            *slot = source(operand, &place)?;
        }
        Some(Self { all, count: operation.operands.len() })
    }
}

impl std::ops::Deref for Sources {
    type Target = [Source];

    fn deref(&self) -> &[Source] {
        &self.all[..self.count]
    }
}

fn source(operand: Operand, place: impl Fn(Register) -> Option<Place>) -> Option<Source> {
    Some(match operand {
        Operand::Register(register) => Source::At(place(register)?, Unpack::None),
        Operand::Part(register, unpack) => Source::At(place(register)?, unpack),
        Operand::Small(code) => Source::Small(code),
        Operand::Uniform(_) => Source::Either(ReadSource::Uniform.address()),
        Operand::Input(_, source) if is_read_in_either_file(source.address()) => Source::Either(source.address()),
        Operand::Input(File::A, source) => Source::FixedA(source.address()),
        Operand::Input(File::B, source) => Source::FixedB(source.address()),
        Operand::Coefficient => Source::R5,
    })
}

/// The read ports of an instruction.
#[derive(Clone, Copy, Default)]
struct Ports {
    a: Option<u8>,
    b: Option<u8>,
    immediate: bool,
    unpack: Option<(bool, Unpack)>,
    /// Mul operations of the sources: r4 or file A without a part.
    whole: [bool; 2],
}

impl Ports {
    /// Gives a source a port; `second` chooses file B where both would do.
    fn take(&mut self, source: Source, second: bool) -> Option<Mux> {
        fn port(slot: &mut Option<u8>, address: u8) -> Option<()> {
            if slot.is_some_and(|other| other != address) {
                return None;
            }
            *slot = Some(address);
            Some(())
        }
        match source {
            Source::At(place, unpack) => {
                let from_r4 = match place {
                    Place::Accumulator(number) => {
                        return (unpack == Unpack::None).then(|| Mux::from_code(number));
                    }
                    Place::B(number) => {
                        if self.immediate || unpack != Unpack::None {
                            return None;
                        }
                        port(&mut self.b, number)?;
                        return Some(Mux::B);
                    }
                    Place::A(number) => {
                        port(&mut self.a, number)?;
                        false
                    }
                    Place::R4 => true,
                };
                if unpack == Unpack::None {
                    self.whole[usize::from(from_r4)] = true;
                } else {
                    if self.unpack.is_some_and(|other| other != (from_r4, unpack)) {
                        return None;
                    }
                    self.unpack = Some((from_r4, unpack));
                }
                Some(if from_r4 { Mux::R4 } else { Mux::A })
            }
            Source::Small(code) => {
                if !self.immediate && self.b.is_some() {
                    return None;
                }
                port(&mut self.b, code)?;
                self.immediate = true;
                Some(Mux::B)
            }
            Source::FixedA(address) => {
                port(&mut self.a, address)?;
                self.whole[0] = true;
                Some(Mux::A)
            }
            Source::FixedB(address) => {
                if self.immediate {
                    return None;
                }
                port(&mut self.b, address)?;
                Some(Mux::B)
            }
            Source::Either(address) if second => self.take(Source::FixedB(address), false),
            Source::Either(address) => self.take(Source::FixedA(address), false),
            Source::R5 => Some(Mux::R5),
        }
    }
}

/// The instructions that an operation can be, with its sources and the place of its result: first the ones that read streams through file A.
pub(crate) fn encode(
    operation: &Operation,
    sources: &[Source],
    target: Option<Place>,
) -> impl Iterator<Item = Instruction> {
    let either = sources.iter().any(|source| matches!(source, Source::Either(_)));
    let ways = if either { &[false, true][..] } else { &[false] };
    ways.iter().filter_map(move |&second| encode_way(operation, sources, target, second))
}

fn encode_way(operation: &Operation, sources: &[Source], target: Option<Place>, second: bool) -> Option<Instruction> {
    let (file, written) = match operation.target {
        Target::Nothing => (File::A, WriteTarget::Nop),
        Target::Register(_) => match target? {
            Place::Accumulator(number) => (File::A, WriteTarget::Accumulator(number)),
            Place::A(number) => (File::A, WriteTarget::Register(number)),
            Place::B(number) => (File::B, WriteTarget::Register(number)),
            Place::R4 => (File::A, WriteTarget::Nop),
        },
        Target::Special(function, _) => (File::A, function),
        Target::Texture(coordinate, _) => (File::A, WriteTarget::Tmu { unit: 0, coordinate }),
        Target::Memory => (File::A, WriteTarget::Tmu { unit: 0, coordinate: TmuCoordinate::S }),
        Target::Output(file, written) => (file, written),
        Target::Color => (File::A, WriteTarget::Accumulator(0)),
        Target::BlueAlpha => (File::A, WriteTarget::Accumulator(1)),
    };
    let address = written.address();
    // Whether it must be written to file A, if that makes a difference.
    let file_a = (!is_written_in_either_file(address)).then_some(file == File::A);
    if let Work::Load(immediate) = operation.work {
        let load = LoadImmediate {
            sig: Signal::LoadImmediate,
            kind: ImmediateKind::Word,
            pm: false,
            pack: 0,
            cond_add: Condition::Always,
            cond_mul: Condition::Never,
            sf: false,
            ws: file_a == Some(false),
            waddr_add: address,
            waddr_mul: NOP,
            immediate,
        };
        return Some(Instruction::LoadImmediate(load));
    }
    let mut alu = Alu::NOP;
    if operation.work == Work::LoadTexture {
        alu.sig = Signal::LoadTmu0;
        return Some(Instruction::Alu(alu));
    }
    let mut ports = Ports::default();
    if let Work::Rotate(places) = operation.work {
        // The place of the small immediate says how far.
        ports.immediate = true;
        ports.b = Some(48 + places);
        if !matches!(sources, [Source::At(Place::Accumulator(_), Unpack::None)]) {
            return None;
        }
    }
    // Streams take the port that others leave: those have their places already.
    let mut muxes = [Mux::R0; 2];
    for wanted in [false, true] {
        for (at, &source) in sources.iter().enumerate() {
            if matches!(source, Source::Either(_)) == wanted {
                muxes[at] = ports.take(source, second)?;
            }
        }
    }
    if sources.len() == 1 {
        muxes[1] = muxes[0];
    }
    if let Some((from_r4, unpack)) = ports.unpack {
        if ports.whole[usize::from(from_r4)] {
            return None;
        }
        (alu.pm, alu.unpack) = (from_r4, unpack);
    }
    match operation.pack {
        Pack::None => {}
        Pack::Mul(pack) => {
            if ports.unpack.is_some_and(|(from_r4, _)| !from_r4) {
                return None;
            }
            (alu.pm, alu.pack) = (true, pack.code());
        }
        Pack::A(pack) => {
            if file_a != Some(true) || ports.unpack.is_some_and(|(from_r4, _)| from_r4) {
                return None;
            }
            alu.pack = pack.code();
        }
    }
    if let Some(address) = ports.a {
        alu.raddr_a = address;
    }
    if let Some(address) = ports.b {
        alu.raddr_b = address;
    }
    if ports.immediate {
        alu.sig = Signal::SmallImmediate;
    }
    alu.sf = operation.sets_flags;
    let mul = |alu: &mut Alu, op: MulOp| {
        (alu.op_mul, alu.mul_a, alu.mul_b) = (op, muxes[0], muxes[1]);
        (alu.waddr_mul, alu.cond_mul) = (address, operation.condition);
        alu.ws = file_a == Some(true);
    };
    let add = |alu: &mut Alu, op: AddOp| {
        (alu.op_add, alu.add_a, alu.add_b) = (op, muxes[0], muxes[1]);
        (alu.waddr_add, alu.cond_add) = (address, operation.condition);
        alu.ws = file_a == Some(false);
    };
    match operation.work {
        Work::Add(op) => add(&mut alu, op),
        Work::Mul(op) => mul(&mut alu, op),
        Work::Rotate(_) => mul(&mut alu, MulOp::V8min),
        _ => add(&mut alu, AddOp::Or),
    }
    Some(Instruction::Alu(alu))
}

/// Whether an instruction may have an ALU left for an operation: most pairs fail here already.
pub(crate) fn has_room_for(instruction: &Instruction, operation: &Operation) -> bool {
    let Instruction::Alu(alu) = instruction else { return false };
    // A move can go to the other ALU.
    let add_is_free = alu.op_add == AddOp::Nop || alu.op_add == AddOp::Or && alu.add_a == alu.add_b;
    let mul_is_free = alu.op_mul == MulOp::Nop || alu.op_mul == MulOp::V8min && alu.mul_a == alu.mul_b;
    match operation.work {
        Work::Load(_) => false,
        Work::LoadTexture => alu.sig == Signal::None,
        Work::Add(_) => add_is_free,
        Work::Mul(_) | Work::Rotate(_) => mul_is_free,
        Work::Move => add_is_free || mul_is_free,
    }
}

/// A branch from one instruction of a program to another. The three behind it are executed before; `link` takes the address of the next.
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
