//! Decoding: from an instruction word to a [`DecodedInstruction`].
//!
//! # Sources
//! [AG p.26-38].

use super::instruction::{AluOperation, DecodedInstruction, Destination, FlagSource, Kind, Pack, Rotation, Unpacking};
use super::registers::{self, ACCUMULATORS, FILE_A, FILE_B, RegisterIndex};
use super::sfu::Function;
use super::touches::{FLAGS_BIT, R4_BIT, R5_BIT, Touches};
use super::{alu, pack};
use crate::fault::rule::{Rule, Rules};
use v3d_hw::qpu::address_map::{File, ReadSource, WriteTarget};
use v3d_hw::qpu::{
    AddOp, Alu, Branch, BranchCondition, Condition, ImmediateKind, Instruction, LoadImmediate, MulOp, Mux, PackA,
    PackMul, Semaphore, Signal, SmallImmediate, Unpack,
};

impl DecodedInstruction {
    /// Decodes an instruction word.
    pub fn decode(word: u64) -> Self {
        match Instruction::decode(word) {
            Instruction::Alu(alu) => Self::alu(&alu),
            Instruction::LoadImmediate(load) => Self::load_immediate(&load),
            Instruction::Semaphore(semaphore) => Self::semaphore(&semaphore),
            Instruction::Branch(branch) => Self::branch(&branch),
        }
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
                sf: alu.sf,
                ws: alu.ws,
                waddr_add: alu.waddr_add,
                waddr_mul: alu.waddr_mul,
            },
        );
        instruction.rotation = sources.rotation();
        instruction.unpacking = unpacking;
        instruction.signal = alu.sig;
        let read =
            |port: Option<ReadSource>, mux| port.filter(|&port| port != ReadSource::Nop || sources.consumes(mux));
        instruction.port_a = read(sources.port_a, Mux::A);
        instruction.port_b = read(sources.port_b, Mux::B);
        instruction.latches = [
            (sources.port_a != Some(ReadSource::Nop)).then_some(sources.register_a),
            (sources.port_b != Some(ReadSource::Nop)).then_some(sources.register_b),
        ];
        instruction.touch_sources(&sources);
        instruction.touch_signal(alu.sig);
        if matches!(unpacking, Unpacking::PortA { .. }) && sources.port_a.is_some() {
            instruction.broken.add(Rule::UnpackOfPeripheral);
        }
        instruction.finish();
        instruction
    }

    /// Adds what the operands touch.
    fn touch_sources(&mut self, sources: &Sources<'_>) {
        let alu = sources.alu;
        let touches = &mut self.touches;
        for (mux, source, file) in [(Mux::A, Some(sources.a), 0), (Mux::B, sources.b, 32)] {
            let Some(source) = source.filter(|_| sources.consumes(mux)) else { continue };
            match source {
                ReadSource::Register(register) => {
                    touches.register_14 |= register == 14;
                    touches.reads |= 1 << (register + file);
                }
                ReadSource::Unmapped(_) => self.broken.add(Rule::UnmappedRead),
                _ => {}
            }
        }
        for (bit, mux) in [Mux::R0, Mux::R1, Mux::R2, Mux::R3, Mux::R4, Mux::R5].into_iter().enumerate() {
            touches.reads_accumulators |= u8::from(sources.consumes(mux)) << bit;
        }
        if self.rotation != Rotation::None {
            for (bit, mux) in [Mux::R0, Mux::R1, Mux::R2, Mux::R3].into_iter().enumerate() {
                let reads = alu.mul_a == mux || alu.mul_b == mux;
                touches.rotates |= u8::from(reads && alu.cond_mul == Condition::Always) << bit;
            }
            touches.rotates_by_r5 = self.rotation == Rotation::ByR5;
            touches.reads_accumulators |= if touches.rotates_by_r5 { R5_BIT } else { 0 };
        }
        for source in [sources.port_a, sources.port_b].into_iter().flatten() {
            match source {
                ReadSource::Uniform => touches.uniform = true,
                ReadSource::Varying => {
                    touches.varying = true;
                    touches.writes_accumulators |= R5_BIT;
                    touches.replaces_accumulators |= R5_BIT;
                }
                ReadSource::MsFlags => touches.ms_flags = true,
                ReadSource::VpmRead
                | ReadSource::VpmLdBusy
                | ReadSource::VpmStBusy
                | ReadSource::VpmLdWait
                | ReadSource::VpmStWait => touches.vpm = true,
                _ => {}
            }
        }
    }

    /// Adds what a signal touches.
    fn touch_signal(&mut self, signal: Signal) {
        let touches = &mut self.touches;
        let loads_tile =
            matches!(signal, Signal::LoadCoverage | Signal::LoadColor | Signal::LoadColorEnd | Signal::LoadAlpha);
        touches.loads_r4 = loads_tile || matches!(signal, Signal::LoadTmu0 | Signal::LoadTmu1);
        if touches.loads_r4 {
            touches.writes_accumulators |= R4_BIT;
            touches.replaces_accumulators |= R4_BIT;
        }
        touches.tlb_samples |= loads_tile;
        touches.tlb |= touches.tlb_samples;
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
            sf: load.sf,
            ws: load.ws,
            waddr_add: load.waddr_add,
            waddr_mul: load.waddr_mul,
        });
        instruction.kind = kind;
        instruction.broken.add_if(broken, Rule::ReservedImmediate);
        instruction.finish();
        instruction
    }

    fn semaphore(semaphore: &Semaphore) -> Self {
        let mut instruction = Self::constant(&Results {
            pm: semaphore.pm,
            pack: semaphore.pack,
            cond_add: semaphore.cond_add,
            cond_mul: semaphore.cond_mul,
            sf: semaphore.sf,
            ws: semaphore.ws,
            waddr_add: semaphore.waddr_add,
            waddr_mul: semaphore.waddr_mul,
        });
        let Semaphore { sa, semaphore: number, unused, .. } = *semaphore;
        let word = unused << 5 | u32::from(sa) << 4 | u32::from(number);
        instruction.kind = Kind::Semaphore { word, number, decrement: sa };
        let stalls = instruction.touches.tlb || instruction.touches.tmu_write || instruction.touches.sfu;
        instruction.broken.add_if(stalls, Rule::SemaphoreWithPeripheral);
        instruction.finish();
        instruction
    }

    fn branch(branch: &Branch) -> Self {
        let mut instruction = Self::constant(&Results {
            pm: false,
            pack: 0,
            cond_add: Condition::Always,
            cond_mul: Condition::Always,
            sf: false,
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
        instruction.touches.branch = true;
        if branch.reg {
            instruction.touches.reads |= 1 << branch.raddr_a;
            instruction.touches.register_14 |= branch.raddr_a == 14;
            instruction.broken.add_if(branch.raddr_a % 2 == 1, Rule::OddBranchRegister);
        }
        if branch.cond_br != BranchCondition::Always {
            instruction.touches.reads_accumulators |= FLAGS_BIT;
        }
        instruction
            .broken
            .add_if(matches!(branch.cond_br, BranchCondition::Reserved(_)), Rule::ReservedBranchCondition);
        instruction.finish();
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
        // A nop writes nothing, whatever its write address and condition say: py-videocore encodes its nops with the write address of r0 and the
        // condition "always", and its tests, which pass on silicon, keep r0 across them.
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
        let pack_add = pack_of(file_add, to_add, alu::add_gives_floats(add.0), false);
        let mut pack_mul = pack_of(file_mul, to_mul, alu::mul_is_float(mul.0), true);
        if let Pack::Colour(mode) = pack_mul {
            match pack::pack_mul_mask(mode) {
                None => {
                    broken.add(Rule::ReservedPack);
                    pack_mul = Pack::None;
                }
                Some(mask) => {
                    let whole = mask == !0 || matches!(to_mul, Destination::Nowhere | Destination::Register(_));
                    broken.add_if(!whole, Rule::PackToPeripheral);
                }
            }
        }
        let flags = match (results.sf, add.0 == AddOp::Nop || results.cond_add == Condition::Never) {
            (false, _) => FlagSource::None,
            (true, false) => FlagSource::Add,
            (true, true) => FlagSource::Mul,
        };
        let mut instruction = Self {
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
            flags,
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
        };
        instruction.touch_results();
        instruction
    }

    /// Adds what the results touch.
    fn touch_results(&mut self) {
        let halves =
            [(self.add.to, self.add.condition, self.add.pack), (self.mul.to, self.mul.condition, self.mul.pack)];
        let mut peripherals = 0;
        let mut overlapping = [0u8; 2];
        for (i, (to, condition, pack)) in halves.into_iter().enumerate() {
            if condition == Condition::Never {
                continue;
            }
            let touches = &mut self.touches;
            let always = condition == Condition::Always;
            let whole = match pack {
                Pack::None => true,
                Pack::FileA { mode, .. } => pack::pack_a_mask(mode) == !0,
                Pack::Colour(mode) => pack::pack_mul_mask(mode) == Some(!0),
            };
            if to != Destination::Nowhere && !always {
                touches.reads_accumulators |= FLAGS_BIT;
            }
            match to {
                Destination::Nowhere => {}
                Destination::Register(register) if register < ACCUMULATORS => {
                    touches.writes |= 1 << register;
                    touches.register_14 |= register % 32 == 14;
                }
                Destination::Register(register) => {
                    let bit = 1 << (register - ACCUMULATORS);
                    touches.writes_accumulators |= bit;
                    touches.replaces_accumulators |= if always && whole { bit } else { 0 };
                    overlapping[i] = register;
                }
                Destination::R5 { .. } => {
                    touches.writes_accumulators |= R5_BIT;
                    touches.replaces_accumulators |= if always { R5_BIT } else { 0 };
                    overlapping[i] = registers::R5;
                }
                Destination::Sfu(_) => {
                    touches.sfu = true;
                    touches.writes_accumulators |= R4_BIT;
                    touches.replaces_accumulators |= R4_BIT;
                    peripherals += 1;
                }
                Destination::Tmu(..) => {
                    touches.tmu_write = true;
                    peripherals += 1;
                }
                Destination::Peripheral(target) => match target {
                    WriteTarget::TlbStencilSetup => {
                        touches.tlb = true;
                        peripherals += 1;
                    }
                    WriteTarget::TlbColorMs | WriteTarget::TlbColorAll | WriteTarget::TlbAlphaMask => {
                        touches.tlb = true;
                        touches.tlb_samples = true;
                        peripherals += 1;
                    }
                    WriteTarget::TlbZ => {
                        touches.tlb = true;
                        touches.tlb_samples = true;
                        touches.tlb_z = true;
                        peripherals += 1;
                    }
                    WriteTarget::VpmWrite
                    | WriteTarget::VpmVcdRdSetup
                    | WriteTarget::VpmVcdWrSetup
                    | WriteTarget::VpmLdAddr
                    | WriteTarget::VpmStAddr => touches.vpm = true,
                    WriteTarget::UniformsAddress => touches.uniforms_address = true,
                    _ => {}
                },
            }
        }
        self.broken.add_if(self.writes_twice(overlapping), Rule::DoubleWrite);
        self.broken.add_if(peripherals > 1, Rule::SeveralPeripherals);
        self.touch_flags();
    }

    /// Whether both results go to the same destination, in the same element, and may differ. `accumulators`: those that they go to, or 0.
    fn writes_twice(&self, accumulators: [RegisterIndex; 2]) -> bool {
        let same_register = accumulators[0] != 0 && accumulators[0] == accumulators[1];
        let (add, mul) = (&self.add, &self.mul);
        let same_peripheral = matches!(add.to, Destination::Peripheral(_)) && add.to == mul.to;
        let both = add.condition != Condition::Never
            && mul.condition != Condition::Never
            && !opposite(add.condition, mul.condition)
            && !disjoint(add.pack, mul.pack);
        // Two moves of one value agree.
        let (add_moves, mul_moves) = (
            matches!(add.op, AddOp::Or | AddOp::And) && add.a == add.b,
            matches!(mul.op, MulOp::V8min | MulOp::V8max) && mul.a == mul.b,
        );
        let agree = add_moves && mul_moves && add.a == mul.a && add.pack == Pack::None && mul.pack == Pack::None;
        both && !agree && (same_register || same_peripheral)
    }

    /// Adds what setting flags touches.
    fn touch_flags(&mut self) {
        let (flag_op_runs, condition) = match self.flags {
            FlagSource::None => (false, Condition::Never),
            FlagSource::Add => (true, self.add.condition),
            FlagSource::Mul => (true, self.mul.condition),
        };
        if flag_op_runs {
            self.touches.writes_accumulators |= FLAGS_BIT;
            if condition == Condition::Always {
                self.touches.replaces_accumulators |= FLAGS_BIT;
            } else if condition != Condition::Never {
                self.touches.reads_accumulators |= FLAGS_BIT;
            }
        }
    }

    /// Computes what depends on all the rest.
    fn finish(&mut self) {
        let Touches { tmu_write, sfu, tlb, tlb_samples, .. } = self.touches;
        let loads_tmu = matches!(self.signal, Signal::LoadTmu0 | Signal::LoadTmu1);
        let takes_mutex = [self.port_a, self.port_b].contains(&Some(ReadSource::MutexAcquire));
        let semaphore = matches!(self.kind, Kind::Semaphore { .. });
        // A colour load together with a colour write is one combined access. The stencil set-up accesses no sample: programs of Mesa's load from a
        // TMU in the same instruction [mesa vc4_qpu_emit.c].
        let accesses = [tmu_write, loads_tmu, tlb && (tlb_samples || !loads_tmu), sfu, takes_mutex, semaphore];
        let count = accesses.into_iter().filter(|&access| access).count();
        self.broken.add_if(count > 1, Rule::SeveralPeripherals);
        self.broken.add_if(self.signal == Signal::Breakpoint, Rule::Breakpoint);

        let goes_somewhere =
            |to: Destination, condition: Condition| to != Destination::Nowhere && condition != Condition::Never;
        self.add_runs = self.flags == FlagSource::Add || goes_somewhere(self.add.to, self.add.condition);
        self.mul_runs = self.flags == FlagSource::Mul || goes_somewhere(self.mul.to, self.mul.condition);

        self.peripheral_writes = [self.add.to, self.mul.to]
            .iter()
            .any(|to| matches!(to, Destination::Sfu(_) | Destination::Tmu(..) | Destination::Peripheral(_)));
        self.notable = tlb
            || tmu_write
            || matches!(
                self.signal,
                Signal::ProgramEnd
                    | Signal::LoadColorEnd
                    | Signal::ThreadSwitch
                    | Signal::LastThreadSwitch
                    | Signal::ScoreboardWait
            );
        let controls = matches!(
            self.signal,
            Signal::ThreadSwitch
                | Signal::ProgramEnd
                | Signal::ScoreboardWait
                | Signal::LastThreadSwitch
                | Signal::LoadColorEnd
        );
        let breaks_off = matches!(self.signal, Signal::Breakpoint | Signal::Branch);
        let no_swap = Destination::Peripheral(WriteTarget::TmuNoSwap);
        let disables_swap = self.add.to == no_swap || self.mul.to == no_swap;
        self.quiet = !takes_mutex && !semaphore && !disables_swap && !breaks_off && self.broken.is_empty();
        self.plain = self.quiet && !tlb && !controls;
    }
}

/// The fields that all kinds of instruction have.
struct Results {
    pm: bool,
    pack: u8,
    cond_add: Condition,
    cond_mul: Condition,
    sf: bool,
    ws: bool,
    waddr_add: u8,
    waddr_mul: u8,
}

/// The operands of an ALU instruction, and which of them it consumes.
struct Sources<'i> {
    alu: &'i Alu,
    a: ReadSource,
    /// `None` if a small immediate stands in place of its address.
    b: Option<ReadSource>,
    port_a: Option<ReadSource>,
    port_b: Option<ReadSource>,
    register_a: RegisterIndex,
    register_b: RegisterIndex,
}

impl<'i> Sources<'i> {
    fn of(alu: &'i Alu) -> Self {
        let small = alu.sig == Signal::SmallImmediate;
        let a = ReadSource::of(File::A, alu.raddr_a);
        let b = ReadSource::of(File::B, alu.raddr_b);
        let (port_a, register_a) = port(File::A, a);
        let (port_b, register_b) =
            if small { (None, registers::small_immediate(alu.raddr_b)) } else { port(File::B, b) };
        Self { alu, a, b: (!small).then_some(b), port_a, port_b, register_a, register_b }
    }

    fn mul_consumes(&self) -> bool {
        self.alu.op_mul != MulOp::Nop && self.alu.cond_mul != Condition::Never
    }

    /// Whether an operation consumes this operand.
    fn consumes(&self, mux: Mux) -> bool {
        let alu = self.alu;
        let add_consumes = alu.op_add != AddOp::Nop && alu.cond_add != Condition::Never;
        add_consumes && (alu.add_a == mux || alu.add_b == mux && !unary(alu.op_add))
            || self.mul_consumes() && (alu.mul_a == mux || alu.mul_b == mux)
    }

    /// Whether an operation on floats consumes this operand.
    fn float_consumes(&self, mux: Mux) -> bool {
        let alu = self.alu;
        alu::add_reads_floats(alu.op_add) && (alu.add_a == mux || alu.add_b == mux)
            || alu::mul_is_float(alu.op_mul) && (alu.mul_a == mux || alu.mul_b == mux)
    }

    fn unpacking(&self) -> Unpacking {
        match (self.alu.unpack, self.alu.pm) {
            (Unpack::None, _) => Unpacking::None,
            (mode, false) if self.consumes(Mux::A) => {
                Unpacking::PortA { from: self.register_a, mode, float: self.float_consumes(Mux::A) }
            }
            (mode, true) if self.consumes(Mux::R4) => Unpacking::R4 { from: registers::R4, mode },
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

    fn rotation(&self) -> Rotation {
        match SmallImmediate::from_code(self.alu.raddr_b) {
            _ if self.b.is_some() || !self.mul_consumes() => Rotation::None,
            SmallImmediate::RotateByR5 => Rotation::ByR5,
            SmallImmediate::Rotate(by) => Rotation::By(by),
            _ => Rotation::None,
        }
    }
}

/// Whether an operation of the add ALU has no second operand.
const fn unary(op: AddOp) -> bool {
    matches!(op, AddOp::Ftoi | AddOp::Itof | AddOp::Not | AddOp::Clz)
}

/// Whether two conditions never hold in the same element.
fn opposite(a: Condition, b: Condition) -> bool {
    matches!(
        (a, b),
        (Condition::ZSet, Condition::ZClear)
            | (Condition::ZClear, Condition::ZSet)
            | (Condition::NSet, Condition::NClear)
            | (Condition::NClear, Condition::NSet)
            | (Condition::CSet, Condition::CClear)
            | (Condition::CClear, Condition::CSet)
    )
}

/// Whether two packed results go to different bits of their destination.
fn disjoint(a: Pack, b: Pack) -> bool {
    let mask = |pack: Pack| match pack {
        Pack::None => !0,
        Pack::FileA { mode, .. } => pack::pack_a_mask(mode),
        Pack::Colour(mode) => pack::pack_mul_mask(mode).unwrap_or(!0),
    };
    mask(a) & mask(b) == 0
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
        const STENCIL_SETUP: u8 = 43;
        for load in [Signal::LoadTmu0, Signal::LoadTmu1] {
            assert_eq!(broken(STENCIL_SETUP, load), []);
            // Z, both colours and the alpha mask; recip; t0s.
            for other in [44, 45, 46, 47, 52, 56] {
                assert_eq!(broken(other, load), [Rule::SeveralPeripherals], "{other}");
            }
        }
    }
}
