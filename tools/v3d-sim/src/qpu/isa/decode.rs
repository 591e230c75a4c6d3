//! Decoding: from an instruction word to a [`DecodedInstruction`].
//!
//! # Sources
//! [AG p.26-38].

use super::instruction::{AluOperation, DecodedInstruction, Destination, FlagSource, Kind, Pack, Rotation, Unpacking};
use super::registers::{self, ACCUMULATORS, FILE_A, FILE_B, RegisterIndex};
use super::sfu::Function;
use super::touches::Touches;
use crate::fault::rule::{Rule, Rules};
use v3d_hw::qpu::accesses::{self, Accesses, Read, Write};
use v3d_hw::qpu::address_map::{File, ReadSource, WriteTarget};
use v3d_hw::qpu::{
    AddOp, Alu, Branch, BranchCondition, Condition, ImmediateKind, Instruction, LoadImmediate, MulOp, Mux, PackA,
    PackMul, Semaphore, Signal, SmallImmediate, Unpack,
};

impl DecodedInstruction {
    /// Decodes an instruction word.
    pub fn decode(word: u64) -> Self {
        let instruction = Instruction::decode(word);
        let accesses = instruction.accesses();
        let mut decoded = match &instruction {
            Instruction::Alu(alu) => Self::alu(alu),
            Instruction::LoadImmediate(load) => Self::load_immediate(load),
            Instruction::Semaphore(semaphore) => Self::semaphore(semaphore),
            Instruction::Branch(branch) => Self::branch(branch),
        };
        decoded.flags = match accesses.flags {
            None => FlagSource::None,
            Some(accesses::FlagSource::Add) => FlagSource::Add,
            Some(accesses::FlagSource::Mul) => FlagSource::Mul,
        };
        decoded.touches = Touches::of(&accesses);
        decoded.broken = decoded.broken.union(broken_by(&accesses));
        decoded.finish();
        decoded
    }

    fn alu(alu: &Alu) -> Self {
        let sources = Sources::of(alu);
        let unpacking = sources.unpacking();
        let register = |mux| sources.operand(mux, unpacking);
        let mut instruction = Self::with_results(
            (alu.op_add, register(alu.add_a), register(alu.add_b)),
            (alu.op_mul, register(alu.mul_a), register(alu.mul_b)),
            &Results {
                pm: alu.pm,
                pack: alu.pack,
                cond_add: alu.cond_add,
                cond_mul: alu.cond_mul,
                ws: alu.ws,
                waddr_add: alu.waddr_add,
                waddr_mul: alu.waddr_mul,
            },
        );
        instruction.rotation = match alu.rotation() {
            Some(SmallImmediate::RotateByR5) => Rotation::ByR5,
            Some(SmallImmediate::Rotate(by)) => Rotation::By(by),
            _ => Rotation::None,
        };
        instruction.unpacking = unpacking;
        instruction.signal = alu.sig;
        // What cancels out does not matter: programs make zeros of a port that reads nothing.
        let read = |port: Option<ReadSource>, mux| port.filter(|&port| port != ReadSource::Nop || matters(alu, mux));
        instruction.port_a = read(sources.port_a, Mux::A);
        instruction.port_b = read(sources.port_b, Mux::B);
        instruction.latches = [
            (sources.port_a != Some(ReadSource::Nop)).then_some(sources.register_a),
            (sources.port_b != Some(ReadSource::Nop)).then_some(sources.register_b),
        ];
        if matches!(unpacking, Unpacking::PortA { .. }) && sources.port_a.is_some() {
            instruction.broken.add(Rule::UnpackOfPeripheral);
        }
        instruction
    }

    fn load_immediate(load: &LoadImmediate) -> Self {
        let (kind, broken) = match load.kind {
            ImmediateKind::PerElementSigned => (Kind::PerElement { bits: load.immediate, signed: true }, false),
            ImmediateKind::PerElementUnsigned => (Kind::PerElement { bits: load.immediate, signed: false }, false),
            ImmediateKind::Word => (Kind::Immediate(load.immediate), false),
            ImmediateKind::Semaphore | ImmediateKind::Reserved(_) => (Kind::Immediate(load.immediate), true),
        };
        let mut instruction = Self::constant(&Results {
            pm: load.pm,
            pack: load.pack,
            cond_add: load.cond_add,
            cond_mul: load.cond_mul,
            ws: load.ws,
            waddr_add: load.waddr_add,
            waddr_mul: load.waddr_mul,
        });
        instruction.kind = kind;
        instruction.broken.add_if(broken, Rule::ReservedImmediate);
        instruction
    }

    fn semaphore(semaphore: &Semaphore) -> Self {
        let mut instruction = Self::constant(&Results {
            pm: semaphore.pm,
            pack: semaphore.pack,
            cond_add: semaphore.cond_add,
            cond_mul: semaphore.cond_mul,
            ws: semaphore.ws,
            waddr_add: semaphore.waddr_add,
            waddr_mul: semaphore.waddr_mul,
        });
        let Semaphore { sa, semaphore: number, unused, .. } = *semaphore;
        let word = unused << 5 | u32::from(sa) << 4 | u32::from(number);
        instruction.kind = Kind::Semaphore { word, number, decrement: sa };
        instruction
    }

    fn branch(branch: &Branch) -> Self {
        let mut instruction = Self::constant(&Results {
            pm: false,
            pack: 0,
            cond_add: Condition::Always,
            cond_mul: Condition::Always,
            ws: branch.ws,
            waddr_add: branch.waddr_add,
            waddr_mul: branch.waddr_mul,
        });
        instruction.kind = Kind::Branch {
            condition: branch.cond_br,
            relative: branch.rel,
            offset: branch.immediate as u32,
            register: branch.reg.then_some(FILE_A + branch.raddr_a),
        };
        instruction.signal = Signal::Branch;
        instruction.broken.add_if(branch.reg && branch.raddr_a % 2 == 1, Rule::OddBranchRegister);
        instruction
            .broken
            .add_if(matches!(branch.cond_br, BranchCondition::Reserved(_)), Rule::ReservedBranchCondition);
        instruction
    }

    /// An instruction that moves [`registers::IMMEDIATE`] through both ALUs.
    fn constant(results: &Results) -> Self {
        let register = registers::IMMEDIATE;
        let mut instruction =
            Self::with_results((AddOp::Or, register, register), (MulOp::V8min, register, register), results);
        instruction.signal = Signal::LoadImmediate;
        instruction
    }

    /// Decodes the upper half of a word.
    fn with_results(
        add: (AddOp, RegisterIndex, RegisterIndex),
        mul: (MulOp, RegisterIndex, RegisterIndex),
        results: &Results,
    ) -> Self {
        let mut broken = Rules::default();
        broken.add_if(matches!(add.0, AddOp::Reserved(_)), Rule::ReservedOperation);
        let (file_add, file_mul) = if results.ws { (File::B, File::A) } else { (File::A, File::B) };
        let written = |nop: bool, to: Destination| if nop { Destination::Nowhere } else { to };
        let to_add = written(add.0 == AddOp::Nop, destination(file_add, results.waddr_add));
        let to_mul = written(mul.0 == MulOp::Nop, destination(file_mul, results.waddr_mul));
        let pack_of = |file: File, to: Destination, float: bool, is_mul: bool| match (results.pm, file) {
            (false, File::A) if results.pack != 0 && is_register(to, file) => {
                Pack::FileA { mode: PackA::from_code(results.pack), float }
            }
            (true, _) if results.pack != 0 && is_mul => Pack::Colour(PackMul::of_field(results.pack)),
            _ => Pack::None,
        };
        let pack_add = pack_of(file_add, to_add, add.0.gives_floats(), false);
        let mut pack_mul = pack_of(file_mul, to_mul, mul.0.gives_floats(), true);
        if matches!(pack_mul, Pack::Colour(PackMul::Reserved(_))) {
            broken.add(Rule::ReservedPack);
            pack_mul = Pack::None;
        }
        Self {
            add: AluOperation {
                op: add.0,
                a: add.1,
                b: add.2,
                condition: results.cond_add,
                pack: pack_add,
                to: to_add,
            },
            mul: AluOperation {
                op: mul.0,
                a: mul.1,
                b: mul.2,
                condition: results.cond_mul,
                pack: pack_mul,
                to: to_mul,
            },
            rotation: Rotation::None,
            flags: FlagSource::None,
            unpacking: Unpacking::None,
            port_a: None,
            port_b: None,
            latches: [None; 2],
            signal: Signal::None,
            kind: Kind::Alu,
            touches: Touches::default(),
            broken,
            plain: false,
            quiet: false,
            notable: false,
            add_runs: false,
            mul_runs: false,
            peripheral_writes: false,
        }
    }

    /// Computes what depends on all the rest.
    fn finish(&mut self) {
        let Touches { tmu_write, tlb, .. } = self.touches;
        let takes_mutex = [self.port_a, self.port_b].contains(&Some(ReadSource::MutexAcquire));
        let semaphore = matches!(self.kind, Kind::Semaphore { .. });
        self.broken.add_if(self.signal == Signal::Breakpoint, Rule::Breakpoint);

        let goes_somewhere =
            |to: Destination, condition: Condition| to != Destination::Nowhere && condition != Condition::Never;
        self.add_runs = self.flags == FlagSource::Add || goes_somewhere(self.add.to, self.add.condition);
        self.mul_runs = self.flags == FlagSource::Mul || goes_somewhere(self.mul.to, self.mul.condition);

        self.peripheral_writes = [self.add.to, self.mul.to]
            .iter()
            .any(|to| matches!(to, Destination::Sfu(_) | Destination::Tmu(..) | Destination::Peripheral(_)));
        let controls =
            self.signal.ends_program() || self.signal.switches_threads() || self.signal == Signal::ScoreboardWait;
        self.notable = tlb || tmu_write || controls;
        let breaks_off = matches!(self.signal, Signal::Breakpoint | Signal::Branch);
        let no_swap = Destination::Peripheral(WriteTarget::TmuNoSwap);
        let disables_swap = self.add.to == no_swap || self.mul.to == no_swap;
        self.quiet = !takes_mutex && !semaphore && !disables_swap && !breaks_off && self.broken.is_empty();
        self.plain = self.quiet && !tlb && !controls;
    }
}

/// Whether the results depend on an operand.
fn matters(alu: &Alu, mux: Mux) -> bool {
    let [add, mul] = alu.cancels();
    let rest = Alu {
        op_add: if add { AddOp::Nop } else { alu.op_add },
        op_mul: if mul { MulOp::Nop } else { alu.op_mul },
        ..*alu
    };
    rest.uses(mux)
}

/// The rules that an instruction breaks by what it reads and writes.
fn broken_by(accesses: &Accesses) -> Rules {
    let mut broken = Rules::default();
    let unmapped = |read: &Read| matches!(read.source, ReadSource::Unmapped(_)) && read.used != Condition::Never;
    let part = |write: &Write| {
        let has_parts = matches!(write.target, WriteTarget::Register(_) | WriteTarget::Accumulator(_));
        write.bytes != Write::WHOLE && !has_parts
    };
    let stalls = |write: &Write| write.target.row().access.is_coupled;
    broken.add_if(accesses.read().any(unmapped), Rule::UnmappedRead);
    broken.add_if(accesses.written().any(part), Rule::PackToPeripheral);
    broken.add_if(accesses.writes_twice(), Rule::DoubleWrite);
    broken.add_if(accesses.coupled_accesses() > 1, Rule::SeveralPeripherals);
    let with_semaphore = accesses.semaphore.is_some() && accesses.written().any(stalls);
    broken.add_if(with_semaphore, Rule::SemaphoreWithPeripheral);
    broken
}

/// The fields that all kinds of instruction have.
struct Results {
    pm: bool,
    pack: u8,
    cond_add: Condition,
    cond_mul: Condition,
    ws: bool,
    waddr_add: u8,
    waddr_mul: u8,
}

/// The operands of an ALU instruction, and which of them it consumes.
struct Sources<'i> {
    alu: &'i Alu,
    port_a: Option<ReadSource>,
    port_b: Option<ReadSource>,
    register_a: RegisterIndex,
    register_b: RegisterIndex,
}

impl<'i> Sources<'i> {
    fn of(alu: &'i Alu) -> Self {
        let (port_a, register_a) = port(File::A, ReadSource::of(File::A, alu.raddr_a));
        let (port_b, register_b) = match alu.small_immediate() {
            Some(_) => (None, registers::small_immediate(alu.raddr_b)),
            None => port(File::B, ReadSource::of(File::B, alu.raddr_b)),
        };
        Self { alu, port_a, port_b, register_a, register_b }
    }

    fn unpacking(&self) -> Unpacking {
        match (self.alu.unpack, self.alu.pm) {
            (Unpack::None, _) => Unpacking::None,
            (mode, false) if self.alu.uses(Mux::A) => {
                Unpacking::PortA { from: self.register_a, mode, float: self.alu.uses_as_float(Mux::A) }
            }
            (mode, true) if self.alu.uses(Mux::R4) => Unpacking::R4 { from: registers::R4, mode },
            _ => Unpacking::None,
        }
    }

    /// Index of an operand.
    fn operand(&self, mux: Mux, unpacking: Unpacking) -> RegisterIndex {
        match (mux, unpacking) {
            (Mux::A, Unpacking::PortA { .. }) | (Mux::R4, Unpacking::R4 { .. }) => registers::UNPACKED,
            (Mux::A, _) => self.register_a,
            (Mux::B, _) => self.register_b,
            (accumulator, _) => ACCUMULATORS + accumulator as u8,
        }
    }
}

/// Whether a destination is a register of file A, which has the packer.
fn is_register(to: Destination, file: File) -> bool {
    file == File::A && matches!(to, Destination::Register(register) if register < FILE_B)
}

/// Index of a port's value, and the peripheral that it is read from, if it is one.
fn port(file: File, source: ReadSource) -> (Option<ReadSource>, RegisterIndex) {
    let (registers, port, default) = match file {
        File::A => (FILE_A, registers::PORT_A, registers::ELEMENTS),
        File::B => (FILE_B, registers::PORT_B, registers::QPU_NUMBER),
    };
    match source {
        ReadSource::Register(number) => (None, registers + number),
        ReadSource::ElementNumber | ReadSource::QpuNumber => (None, default),
        ReadSource::Nop | ReadSource::Unmapped(_) => (Some(ReadSource::Nop), port),
        peripheral => (Some(peripheral), port),
    }
}

fn destination(file: File, address: u8) -> Destination {
    match WriteTarget::of(file, address) {
        WriteTarget::Register(number) => Destination::Register(number + if file == File::A { FILE_A } else { FILE_B }),
        WriteTarget::Accumulator(number) => Destination::Register(ACCUMULATORS + number),
        WriteTarget::R5PerQuad => Destination::R5 { replicated: false },
        WriteTarget::R5Replicated => Destination::R5 { replicated: true },
        WriteTarget::Nop => Destination::Nowhere,
        WriteTarget::SfuRecip => Destination::Sfu(Function::Recip),
        WriteTarget::SfuRecipSqrt => Destination::Sfu(Function::RecipSqrt),
        WriteTarget::SfuExp => Destination::Sfu(Function::Exp),
        WriteTarget::SfuLog => Destination::Sfu(Function::Log),
        WriteTarget::Tmu { unit, coordinate } => Destination::Tmu(unit, coordinate),
        peripheral => Destination::Peripheral(peripheral),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rules that are broken by an instruction that writes r0 to an address of the add ALU, with a signal.
    fn broken(waddr_add: u8, sig: Signal) -> Vec<Rule> {
        let alu = Alu {
            sig,
            op_add: AddOp::Or,
            cond_add: Condition::Always,
            waddr_add,
            add_a: Mux::R0,
            add_b: Mux::R0,
            ..Alu::NOP
        };
        DecodedInstruction::decode(crate::qpu::conformance::encoded(&alu)).broken.iter().collect()
    }

    #[test]
    fn a_tmu_load_goes_with_the_stencil_set_up_and_no_other_write() {
        for load in [Signal::LoadTmu0, Signal::LoadTmu1] {
            let stencil_setup = 43;
            assert_eq!(broken(stencil_setup, load), []);
            // Z, both colours and the alpha mask; recip; t0s.
            for other in [44, 45, 46, 47, 52, 56] {
                assert_eq!(broken(other, load), [Rule::SeveralPeripherals], "{other}");
            }
        }
    }
}
