//! What an instruction touches: all that its neighbours have to know of it.
//!
//! # Sources
//! [AG p.26-38]; [vc4asm] and [mesa vc4_qpu_schedule.c] for where the guide is silent.

use v3d_hw::qpu::{
    AddOp, Alu, Branch, BranchCondition, Condition, File, Instruction, LoadImmediate, MulOp, Mux, PackA, ReadSource,
    Signal, SmallImmediate, Unpack, WriteTarget,
};

/// r4 among the accumulators.
pub(super) const R4: u8 = 1 << 4;
/// r5.
pub(super) const R5: u8 = 1 << 5;
/// The flags, behind the accumulators.
pub(super) const FLAGS: u8 = 1 << 6;
/// All accumulators, and the flags.
pub(super) const ALL_ACCUMULATORS: u8 = 0x7f;

/// What an instruction touches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Touches {
    /// Registers that operands come from: bits 0 to 31 file A, 32 to 63 file B.
    pub(super) reads: u64,
    /// Registers that are written.
    pub(super) writes: u64,
    /// Accumulators r0 to r5 (bits 0 to 5) and flags (bit 6) that are read.
    pub(super) reads_accumulators: u8,
    /// Accumulators and flags that are written, in whatever elements.
    pub(super) writes_accumulators: u8,
    /// Accumulators and flags that are written whole, in all elements.
    pub(super) replaces_accumulators: u8,
    /// Accumulators that are rotated.
    pub(super) rotates: u8,
    /// Rotates by r5.
    pub(super) rotates_by_r5: bool,
    /// Writes to the SFU.
    pub(super) sfu: bool,
    /// A signal loads r4.
    pub(super) loads_r4: bool,
    /// Writes Z.
    pub(super) tlb_z: bool,
    /// Reads or writes samples of the tile buffer.
    pub(super) tlb_samples: bool,
    /// Reads the multisample mask.
    pub(super) ms_flags: bool,
    /// Writes the uniforms' address.
    pub(super) uniforms_address: bool,
    /// Reads a uniform.
    pub(super) uniform: bool,
    /// Reads a varying.
    pub(super) varying: bool,
    /// Reads, writes or sets up the VPM.
    pub(super) vpm: bool,
    /// Reads the VPM.
    pub(super) reads_vpm: bool,
    /// Writes to a TMU.
    pub(super) tmu: bool,
    /// Accesses register 14 of either file.
    pub(super) register_14: bool,
}

/// What one ALU writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Result {
    /// The file whose half of the address map counts.
    pub(super) file: File,
    /// Where it goes.
    pub(super) target: WriteTarget,
    /// In which elements.
    pub(super) condition: Condition,
    /// The operation does nothing. Then nothing is written, whatever address there is [py-videocore].
    pub(super) is_nop: bool,
    /// The bytes of a word that are written, one bit each.
    pub(super) bytes: u8,
    /// The operand that is only moved.
    moves: Option<Mux>,
}

impl Result {
    /// Whether something is written, perhaps.
    pub(super) fn happens(&self) -> bool {
        !self.is_nop && self.condition != Condition::Never && self.target != WriteTarget::Nop
    }
}

/// The fields that decide where results go.
struct Writing {
    pm: bool,
    pack: u8,
    conditions: [Condition; 2],
    ws: bool,
    addresses: [u8; 2],
    nops: [bool; 2],
    moves: [Option<Mux>; 2],
}

/// All bytes of a word.
const WHOLE: u8 = 15;

impl Writing {
    fn results(&self) -> [Result; 2] {
        let files = if self.ws { [File::B, File::A] } else { [File::A, File::B] };
        core::array::from_fn(|i| {
            let target = WriteTarget::of(files[i], self.addresses[i]);
            Result {
                file: files[i],
                target,
                condition: self.conditions[i],
                is_nop: self.nops[i],
                bytes: self.bytes(i == 1, files[i], target),
                moves: self.moves[i].filter(|_| self.pack == 0),
            }
        })
    }

    /// The bytes that a result of the add or the mul ALU fills.
    fn bytes(&self, is_mul: bool, file: File, target: WriteTarget) -> u8 {
        match (self.pm, file, target) {
            (false, File::A, WriteTarget::Register(_)) => match PackA::from_code(self.pack) {
                PackA::None | PackA::Replicated | PackA::Saturated | PackA::ReplicatedSaturated => WHOLE,
                PackA::Half0 | PackA::Half0Saturated => 0b0011,
                PackA::Half1 | PackA::Half1Saturated => 0b1100,
                PackA::Byte0 | PackA::Byte0Saturated => 1,
                PackA::Byte1 | PackA::Byte1Saturated => 2,
                PackA::Byte2 | PackA::Byte2Saturated => 4,
                PackA::Byte3 | PackA::Byte3Saturated => 8,
            },
            // Bit 3 of the code has no meaning, and 4 to 7 are the bytes.
            (true, _, _) if is_mul && self.pack & 4 != 0 => 1 << (self.pack & 3),
            _ => WHOLE,
        }
    }
}

/// What both ALUs write.
pub(super) fn results(instruction: &Instruction) -> [Result; 2] {
    let copies = [Some(Mux::A); 2];
    let writing = match instruction {
        Instruction::Alu(alu) => Writing {
            pm: alu.pm,
            pack: alu.pack,
            conditions: [alu.cond_add, alu.cond_mul],
            ws: alu.ws,
            addresses: [alu.waddr_add, alu.waddr_mul],
            nops: [alu.op_add == AddOp::Nop, alu.op_mul == MulOp::Nop],
            moves: [
                (matches!(alu.op_add, AddOp::Or | AddOp::And) && alu.add_a == alu.add_b).then_some(alu.add_a),
                (matches!(alu.op_mul, MulOp::V8min | MulOp::V8max) && alu.mul_a == alu.mul_b).then_some(alu.mul_a),
            ],
        },
        Instruction::LoadImmediate(LoadImmediate {
            pm, pack, cond_add, cond_mul, ws, waddr_add, waddr_mul, ..
        }) => Writing {
            pm: *pm,
            pack: *pack,
            conditions: [*cond_add, *cond_mul],
            ws: *ws,
            addresses: [*waddr_add, *waddr_mul],
            nops: [false; 2],
            moves: copies,
        },
        Instruction::Semaphore(semaphore) => Writing {
            pm: semaphore.pm,
            pack: semaphore.pack,
            conditions: [semaphore.cond_add, semaphore.cond_mul],
            ws: semaphore.ws,
            addresses: [semaphore.waddr_add, semaphore.waddr_mul],
            nops: [false; 2],
            moves: copies,
        },
        Instruction::Branch(branch) => Writing {
            pm: false,
            pack: 0,
            conditions: [Condition::Always; 2],
            ws: branch.ws,
            addresses: [branch.waddr_add, branch.waddr_mul],
            nops: [false; 2],
            moves: copies,
        },
    };
    writing.results()
}

/// What an instruction reads from the two files; nothing in place of a small immediate.
pub(super) fn sources(alu: &Alu) -> [ReadSource; 2] {
    let small = alu.sig == Signal::SmallImmediate;
    let b = if small { ReadSource::Nop } else { ReadSource::of(File::B, alu.raddr_b) };
    [ReadSource::of(File::A, alu.raddr_a), b]
}

/// Whether an operation that does something has this operand.
pub(super) fn consumes(alu: &Alu, mux: Mux) -> bool {
    let add = alu.op_add != AddOp::Nop && alu.cond_add != Condition::Never;
    add && (alu.add_a == mux || alu.add_b == mux && !alu.op_add.is_unary())
        || mul_consumes(alu) && (alu.mul_a == mux || alu.mul_b == mux)
}

fn mul_consumes(alu: &Alu) -> bool {
    alu.op_mul != MulOp::Nop && alu.cond_mul != Condition::Never
}

/// Whether both results may differ and go to one accumulator or I/O register in the same elements.
pub(super) fn writes_twice([add, mul]: &[Result; 2]) -> bool {
    let same = match (add.target, mul.target) {
        (WriteTarget::Register(_), _) | (_, WriteTarget::Register(_)) => false,
        (WriteTarget::R5PerQuad | WriteTarget::R5Replicated, WriteTarget::R5PerQuad | WriteTarget::R5Replicated) => {
            true
        }
        (one, other) => one == other,
    };
    let opposite = matches!(
        (add.condition, mul.condition),
        (Condition::ZSet, Condition::ZClear)
            | (Condition::ZClear, Condition::ZSet)
            | (Condition::NSet, Condition::NClear)
            | (Condition::NClear, Condition::NSet)
            | (Condition::CSet, Condition::CClear)
            | (Condition::CClear, Condition::CSet)
    );
    let agree = add.moves.is_some() && add.moves == mul.moves;
    same && add.happens() && mul.happens() && !opposite && add.bytes & mul.bytes != 0 && !agree
}

impl Touches {
    /// What an instruction touches.
    pub(super) fn of(instruction: &Instruction) -> Self {
        let mut touches = Self::default();
        results(instruction).iter().for_each(|result| touches.add_result(result));
        match instruction {
            Instruction::Alu(alu) => {
                touches.add_operands(alu);
                touches.add_flags(alu.sf, alu.op_add == AddOp::Nop, [alu.cond_add, alu.cond_mul]);
            }
            Instruction::LoadImmediate(load) => {
                touches.add_flags(load.sf, false, [load.cond_add, load.cond_mul]);
            }
            Instruction::Branch(Branch { cond_br, .. }) if *cond_br != BranchCondition::Always => {
                touches.reads_accumulators |= FLAGS;
            }
            Instruction::Branch(_) | Instruction::Semaphore(_) => {}
        }
        touches
    }

    fn add_result(&mut self, result: &Result) {
        if !result.happens() {
            return;
        }
        let always = result.condition == Condition::Always;
        self.reads_accumulators |= if always { 0 } else { FLAGS };
        let accumulator = |bit: u8, whole: bool| (bit, if always && whole { bit } else { 0 });
        let (written, replaced) = match result.target {
            WriteTarget::Register(number) => {
                self.writes |= 1 << (u32::from(number) + first_bit(result.file));
                self.register_14 |= number == 14;
                (0, 0)
            }
            WriteTarget::Accumulator(number) => accumulator(1 << number, result.bytes == WHOLE),
            WriteTarget::R5PerQuad | WriteTarget::R5Replicated => accumulator(R5, true),
            WriteTarget::SfuRecip | WriteTarget::SfuRecipSqrt | WriteTarget::SfuExp | WriteTarget::SfuLog => {
                self.sfu = true;
                (R4, R4)
            }
            WriteTarget::Tmu { .. } => {
                self.tmu = true;
                (0, 0)
            }
            WriteTarget::TlbColorMs | WriteTarget::TlbColorAll | WriteTarget::TlbAlphaMask | WriteTarget::TlbZ => {
                self.tlb_samples = true;
                self.tlb_z |= result.target == WriteTarget::TlbZ;
                (0, 0)
            }
            WriteTarget::VpmWrite | WriteTarget::VpmVcdRdSetup | WriteTarget::VpmVcdWrSetup => {
                self.vpm = true;
                (0, 0)
            }
            WriteTarget::UniformsAddress => {
                self.uniforms_address = true;
                (0, 0)
            }
            _ => (0, 0),
        };
        self.writes_accumulators |= written;
        self.replaces_accumulators |= replaced;
    }

    fn add_operands(&mut self, alu: &Alu) {
        let muxes = [(File::A, Mux::A), (File::B, Mux::B)];
        for (source, (file, mux)) in sources(alu).into_iter().zip(muxes) {
            match source {
                ReadSource::Register(number) if consumes(alu, mux) => {
                    self.reads |= 1 << (u32::from(number) + first_bit(file));
                    self.register_14 |= number == 14;
                }
                ReadSource::Uniform => self.uniform = true,
                ReadSource::Varying => {
                    self.varying = true;
                    self.writes_accumulators |= R5;
                    self.replaces_accumulators |= R5;
                }
                ReadSource::MsFlags => self.ms_flags = true,
                ReadSource::VpmRead => (self.vpm, self.reads_vpm) = (true, true),
                _ => {}
            }
        }
        let accumulators = [Mux::R0, Mux::R1, Mux::R2, Mux::R3, Mux::R4, Mux::R5];
        for (bit, mux) in accumulators.into_iter().enumerate() {
            self.reads_accumulators |= u8::from(consumes(alu, mux)) << bit;
        }
        self.add_rotation(alu);
        let tile = [Signal::LoadCoverage, Signal::LoadColor, Signal::LoadColorEnd, Signal::LoadAlpha];
        self.tlb_samples |= tile.contains(&alu.sig);
        self.loads_r4 = tile.contains(&alu.sig) || matches!(alu.sig, Signal::LoadTmu0 | Signal::LoadTmu1);
        if self.loads_r4 {
            self.writes_accumulators |= R4;
            self.replaces_accumulators |= R4;
        }
    }

    fn add_rotation(&mut self, alu: &Alu) {
        let immediate = SmallImmediate::from_code(alu.raddr_b);
        let rotates = matches!(immediate, SmallImmediate::RotateByR5 | SmallImmediate::Rotate(_));
        if alu.sig != Signal::SmallImmediate || !rotates || !mul_consumes(alu) {
            return;
        }
        for (bit, mux) in [Mux::R0, Mux::R1, Mux::R2, Mux::R3].into_iter().enumerate() {
            let reads = alu.mul_a == mux || alu.mul_b == mux;
            self.rotates |= u8::from(reads && alu.cond_mul == Condition::Always) << bit;
        }
        if immediate == SmallImmediate::RotateByR5 {
            self.rotates_by_r5 = true;
            self.reads_accumulators |= R5;
        }
    }

    /// Flags come from the add ALU, or from the mul ALU if the add ALU does nothing.
    fn add_flags(&mut self, sets: bool, add_is_nop: bool, [add, mul]: [Condition; 2]) {
        if !sets {
            return;
        }
        let condition = if add_is_nop || add == Condition::Never { mul } else { add };
        self.writes_accumulators |= FLAGS;
        match condition {
            Condition::Always => self.replaces_accumulators |= FLAGS,
            Condition::Never => {}
            _ => self.reads_accumulators |= FLAGS,
        }
    }
}

/// Whether an instruction unpacks what it reads from file A.
pub(super) fn unpacks_port_a(alu: &Alu) -> bool {
    alu.unpack != Unpack::None && !alu.pm && consumes(alu, Mux::A)
}

/// The bit of a file's first register in [`Touches`].
const fn first_bit(file: File) -> u32 {
    match file {
        File::A => 0,
        File::B => 32,
    }
}
