//! What an instruction reads, writes and sets off, derived from its fields and the rows of the tables.
//!
//! The assembler's checker, the driver's validator and the model all start from these sets, and judge them separately.
//!
//! # Sources
//! [AG p.17-38]; others where said.

use super::{
    Alu, BranchCondition, Condition, File, ImmediateKind, Instruction, LoadImmediate, Mux, PackA, PackMul, ReadSource,
    Semaphore, Signal, SmallImmediate, WriteTarget, address_sets,
};

/// Bits of accumulators r0 to r5, and of the flags behind them.
pub mod accumulators {
    /// r4.
    pub const R4: u8 = 1 << 4;
    /// r5.
    pub const R5: u8 = 1 << 5;
    /// All that are registers.
    pub const R0_TO_R5: u8 = (1 << 6) - 1;
    /// The flags.
    pub const FLAGS: u8 = 1 << 6;
    /// All of them.
    pub const ALL: u8 = (1 << 7) - 1;
}

/// A read through the port of a register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// The file, whose half of the address map counts.
    pub file: File,
    /// What is read.
    pub source: ReadSource,
    /// In which elements an operation uses the value; never, if none does. A unit is read all the same.
    pub used: Condition,
}

/// What an ALU moves as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// An operand.
    Operand(Mux),
    /// The constant of an instruction.
    Constant,
}

/// What one ALU writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// The file, whose half of the address map counts.
    pub file: File,
    /// Where the result goes.
    pub target: WriteTarget,
    /// In which elements.
    pub condition: Condition,
    /// The ALU has an operation. One without writes nothing, whatever its write address and condition say: py-videocore's nops have the write address of r0
    /// and the condition "always", and its tests, which pass on boards, keep r0 across them [pyvc].
    pub acts: bool,
    /// The bytes of a word that are replaced, one bit each.
    pub bytes: u8,
    /// What the result is a copy of, if it is one.
    pub moves: Option<Moved>,
}

impl Write {
    /// All bytes of a word.
    pub const WHOLE: u8 = 15;

    /// Whether something is written, perhaps.
    #[inline]
    pub const fn happens(&self) -> bool {
        self.acts && !matches!(self.condition, Condition::Never) && !matches!(self.target, WriteTarget::Nop)
    }

    /// Whether elements are left out.
    #[inline]
    pub const fn is_conditional(&self) -> bool {
        self.happens() && !matches!(self.condition, Condition::Always)
    }

    /// Whether nothing is left of what was in the register.
    #[inline]
    pub const fn replaces(&self) -> bool {
        self.happens() && matches!(self.condition, Condition::Always) && self.bytes == Self::WHOLE
    }

    /// The bit of the accumulator that is written: of r4, if the SFU is to put its result there.
    #[inline]
    pub const fn accumulator(&self) -> u8 {
        match self.target {
            WriteTarget::Accumulator(number) => 1 << number,
            WriteTarget::R5PerQuad | WriteTarget::R5Replicated => accumulators::R5,
            target if target.is_sfu() => accumulators::R4,
            _ => 0,
        }
    }
}

/// Which ALU's result the flags are taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagSource {
    /// The add ALU.
    Add,
    /// The mul ALU: the add ALU does nothing, or its condition is never [AG p.28].
    Mul,
}

/// What an instruction reads, writes and sets off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accesses {
    /// What the ports of files A and B read; nothing in place of a small immediate, and where there is no register.
    pub reads: [Option<Read>; 2],
    /// What the add and the mul ALU write.
    pub writes: [Write; 2],
    /// Accumulators r0 to r5 that are operands.
    pub operands: u8,
    /// The rotation of the mul ALU's result, if there is one.
    pub rotation: Option<SmallImmediate>,
    /// Accumulators r0 to r3 that it rotates.
    pub rotated: u8,
    /// Where flags come from, if they are set. They are set in elements in which that ALU's condition holds [silicon].
    pub flags: Option<FlagSource>,
    /// The condition of a branch.
    pub branch: Option<BranchCondition>,
    /// The semaphore that is incremented, or decremented.
    pub semaphore: Option<(u8, bool)>,
    /// The signal.
    pub signal: Signal,
    sets: Sets,
}

/// The same as sets, which are computed once: most questions are answered by one look at the bits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sets {
    addresses_read: u64,
    addresses_written: u64,
    registers_read: u64,
    registers_written: u64,
    accumulators_read: u8,
    accumulators_written: u8,
}

/// The fields that decide where results go.
struct Results {
    pm: bool,
    pack: u8,
    conditions: [Condition; 2],
    ws: bool,
    addresses: [u8; 2],
    acts: [bool; 2],
    moves: [Option<Moved>; 2],
}

impl Results {
    fn writes(&self) -> [Write; 2] {
        let files = if self.ws { [File::B, File::A] } else { [File::A, File::B] };
        core::array::from_fn(|alu| {
            let (file, target) = (files[alu], WriteTarget::of(files[alu], self.addresses[alu]));
            let (bytes, is_packed) = self.packed(alu == 1, file, target);
            Write {
                file,
                target,
                condition: self.conditions[alu],
                acts: self.acts[alu],
                bytes,
                moves: if is_packed { None } else { self.moves[alu] },
            }
        })
    }

    /// The bytes that a result fills, and whether it is changed on its way [AG p.31-32].
    fn packed(&self, is_mul: bool, file: File, target: WriteTarget) -> (u8, bool) {
        let to_file_a = matches!((file, target), (File::A, WriteTarget::Register(_)));
        if !self.pm && to_file_a {
            (PackA::from_code(self.pack).bytes(), self.pack != 0)
        } else if self.pm && is_mul {
            let pack = PackMul::of_field(self.pack);
            (pack.bytes(), pack != PackMul::None)
        } else {
            (Write::WHOLE, false)
        }
    }
}

impl PackA {
    /// The bytes of a register that are replaced, one bit each.
    pub const fn bytes(self) -> u8 {
        match self {
            Self::None | Self::Replicated | Self::Saturated | Self::ReplicatedSaturated => Write::WHOLE,
            Self::Half0 | Self::Half0Saturated => 0b0011,
            Self::Half1 | Self::Half1Saturated => 0b1100,
            Self::Byte0 | Self::Byte0Saturated => 1,
            Self::Byte1 | Self::Byte1Saturated => 2,
            Self::Byte2 | Self::Byte2Saturated => 4,
            Self::Byte3 | Self::Byte3Saturated => 8,
        }
    }
}

impl PackMul {
    /// The bytes of a register that are replaced, one bit each.
    pub const fn bytes(self) -> u8 {
        match self {
            Self::None | Self::Replicated | Self::Reserved(_) => Write::WHOLE,
            Self::Byte0 => 1,
            Self::Byte1 => 2,
            Self::Byte2 => 4,
            Self::Byte3 => 8,
        }
    }
}

impl Condition {
    /// Whether there is no element in which both conditions hold. No result is zero and negative.
    pub const fn excludes(self, other: Self) -> bool {
        let opposite = self.code() >= 2 && self.code() ^ 1 == other.code();
        let never = matches!(self, Self::Never) || matches!(other, Self::Never);
        never || opposite || matches!((self, other), (Self::ZSet, Self::NSet) | (Self::NSet, Self::ZSet))
    }

    /// The elements in which either condition holds, or more: the narrowest condition that there is for them.
    pub const fn union(self, other: Self) -> Self {
        match (self, other) {
            (Self::Never, condition) | (condition, Self::Never) => condition,
            _ if self.code() == other.code() => self,
            _ => Self::Always,
        }
    }
}

impl Alu {
    /// The operands that operations read, first and second of the add and of the mul ALU.
    pub const fn operands(&self) -> [Option<Mux>; 4] {
        let (add, mul) = (self.op_add.row().operands, self.op_mul.row().operands);
        [
            if add > 0 { Some(self.add_a) } else { None },
            if add > 1 { Some(self.add_b) } else { None },
            if mul > 0 { Some(self.mul_a) } else { None },
            if mul > 1 { Some(self.mul_b) } else { None },
        ]
    }

    /// In which elements an operand is used, by either ALU.
    pub fn use_of(&self, mux: Mux) -> Condition {
        let [add, mul] = self.operand_bits();
        let by = |bits: u8, condition| if bits >> mux.code() & 1 != 0 { condition } else { Condition::Never };
        by(add, self.cond_add).union(by(mul, self.cond_mul))
    }

    /// Whether an operation reads an operand, and its condition is not never.
    pub fn uses(&self, mux: Mux) -> bool {
        self.use_of(mux) != Condition::Never
    }

    /// Whether an operation that takes floats has an operand, so that file A unpacks to floats.
    pub fn uses_as_float(&self, mux: Mux) -> bool {
        let [add, mul] = self.operand_bits();
        let bits = if self.op_add.takes_floats() { add } else { 0 } | if self.op_mul.takes_floats() { mul } else { 0 };
        bits >> mux.code() & 1 != 0
    }

    /// Whether the add and the mul ALU make 0 of one operand taken twice, whatever its value is.
    pub fn cancels(&self) -> [bool; 2] {
        let add = self.op_add.cancels_equal() && self.add_a == self.add_b;
        let mul = self.op_mul.cancels_equal() && self.mul_a == self.mul_b;
        [add, mul]
    }

    /// What stands in place of the read address of file B.
    pub const fn small_immediate(&self) -> Option<SmallImmediate> {
        match self.sig {
            Signal::SmallImmediate => Some(SmallImmediate::from_code(self.raddr_b)),
            _ => None,
        }
    }

    /// What the ports of files A and B read; nothing in place of a small immediate.
    pub const fn sources(&self) -> [Option<ReadSource>; 2] {
        let b = match self.sig {
            Signal::SmallImmediate => None,
            _ => Some(ReadSource::of(File::B, self.raddr_b)),
        };
        [Some(ReadSource::of(File::A, self.raddr_a)), b]
    }

    /// The rotation of the mul ALU's result.
    pub fn rotation(&self) -> Option<SmallImmediate> {
        let rotates = self.op_mul.acts() && self.cond_mul != Condition::Never;
        self.small_immediate().filter(|immediate| rotates && immediate.value().is_none())
    }

    /// Operands of the add and of the mul ALU: the bit of each is its code.
    const fn operand_bits(&self) -> [u8; 2] {
        let (add, mul) = (self.op_add.row().operands, self.op_mul.row().operands);
        [operand_bits(add, self.add_a, self.add_b), operand_bits(mul, self.mul_a, self.mul_b)]
    }

    fn accesses(&self) -> Accesses {
        let [add, mul] = self.operand_bits();
        let used_bits = |bits, condition| if matches!(condition, Condition::Never) { 0 } else { bits };
        let reads = |mux: Mux, file, source: Option<ReadSource>| {
            let source = source.filter(|source| *source != ReadSource::Nop)?;
            Some(Read { file, source, used: self.use_of(mux) })
        };
        let [a, b] = self.sources();
        let rotation = self.rotation();
        let bit_of = |mux: Mux| if mux.code() <= Mux::R3.code() { 1 << mux.code() } else { 0 };
        let rotated = if rotation.is_some() { bit_of(self.mul_a) | bit_of(self.mul_b) } else { 0 };
        let copies = |copies: bool, a: Mux, b: Mux| (copies && a == b).then_some(Moved::Operand(a));
        let results = Results {
            pm: self.pm,
            pack: self.pack,
            conditions: [self.cond_add, self.cond_mul],
            ws: self.ws,
            addresses: [self.waddr_add, self.waddr_mul],
            acts: [self.op_add.acts(), self.op_mul.acts()],
            moves: [
                copies(self.op_add.copies_equal(), self.add_a, self.add_b),
                copies(self.op_mul.copies_equal() && rotation.is_none(), self.mul_a, self.mul_b),
            ],
        };
        Accesses {
            reads: [reads(Mux::A, File::A, a), reads(Mux::B, File::B, b)],
            operands: (used_bits(add, self.cond_add) | used_bits(mul, self.cond_mul)) & accumulators::R0_TO_R5,
            rotation,
            rotated,
            flags: flags(self.sf, self.op_add.acts() && self.cond_add != Condition::Never),
            ..Accesses::of_results(&results, self.sig)
        }
    }
}

const fn operand_bits(count: u8, a: Mux, b: Mux) -> u8 {
    match count {
        0 => 0,
        1 => 1 << a.code(),
        _ => 1 << a.code() | 1 << b.code(),
    }
}

const fn flags(sets: bool, add_acts: bool) -> Option<FlagSource> {
    match (sets, add_acts) {
        (false, _) => None,
        (true, true) => Some(FlagSource::Add),
        (true, false) => Some(FlagSource::Mul),
    }
}

impl Instruction {
    /// What the instruction reads, writes and sets off.
    pub fn accesses(&self) -> Accesses {
        let constant = |pm, pack, conditions, ws, addresses| Results {
            pm,
            pack,
            conditions,
            ws,
            addresses,
            acts: [true; 2],
            moves: [Some(Moved::Constant); 2],
        };
        let accesses = match *self {
            Self::Alu(ref alu) => alu.accesses(),
            Self::LoadImmediate(LoadImmediate {
                pm, pack, cond_add, cond_mul, sf, ws, waddr_add, waddr_mul, ..
            }) => {
                let results = constant(pm, pack, [cond_add, cond_mul], ws, [waddr_add, waddr_mul]);
                let flags = flags(sf, cond_add != Condition::Never);
                Accesses { flags, ..Accesses::of_results(&results, self.signal()) }
            }
            Self::Semaphore(Semaphore {
                pm,
                pack,
                cond_add,
                cond_mul,
                sf,
                ws,
                waddr_add,
                waddr_mul,
                sa,
                semaphore,
                ..
            }) => {
                let results = constant(pm, pack, [cond_add, cond_mul], ws, [waddr_add, waddr_mul]);
                let flags = flags(sf, cond_add != Condition::Never);
                let semaphore = Some((semaphore, sa));
                Accesses { flags, semaphore, ..Accesses::of_results(&results, self.signal()) }
            }
            Self::Branch(branch) => {
                let addresses = [branch.waddr_add, branch.waddr_mul];
                let results = constant(false, 0, [Condition::Always; 2], branch.ws, addresses);
                let register = ReadSource::Register(branch.raddr_a);
                let read = Read { file: File::A, source: register, used: Condition::Always };
                Accesses {
                    reads: [branch.reg.then_some(read), None],
                    branch: Some(branch.cond_br),
                    ..Accesses::of_results(&results, self.signal())
                }
            }
        };
        Accesses { sets: Sets::of(&accesses), ..accesses }
    }

    /// The word that a load immediate instruction loads into all elements.
    pub const fn loaded_word(&self) -> Option<u32> {
        match self {
            Self::LoadImmediate(LoadImmediate { kind: ImmediateKind::Word, immediate, .. }) => Some(*immediate),
            _ => None,
        }
    }
}

/// The bit of a register among 64: those of file A come first.
pub const fn register_bit(file: File, number: u8) -> u64 {
    match file {
        File::A => 1 << number,
        File::B => 1 << (32 + number),
    }
}

impl Sets {
    fn of(accesses: &Accesses) -> Self {
        let mut sets = Self::default();
        for read in accesses.read() {
            sets.addresses_read |= 1 << read.source.address();
            if let (ReadSource::Register(number), true) = (read.source, read.used != Condition::Never) {
                sets.registers_read |= register_bit(read.file, number);
            }
        }
        for write in accesses.written() {
            sets.addresses_written |= 1 << write.target.address();
            sets.accumulators_written |= write.accumulator();
            if let WriteTarget::Register(number) = write.target {
                sets.registers_written |= register_bit(write.file, number);
            }
        }
        if accesses.flags.is_some() {
            sets.accumulators_written |= accumulators::FLAGS;
        }
        sets.accumulators_read = accesses.operands;
        if accesses.rotation == Some(SmallImmediate::RotateByR5) {
            sets.accumulators_read |= accumulators::R5;
        }
        if accesses.reads_flags() {
            sets.accumulators_read |= accumulators::FLAGS;
        }
        sets
    }
}

impl Accesses {
    fn of_results(results: &Results, signal: Signal) -> Self {
        Self {
            reads: [None; 2],
            writes: results.writes(),
            operands: 0,
            rotation: None,
            rotated: 0,
            flags: None,
            branch: None,
            semaphore: None,
            signal,
            sets: Sets::default(),
        }
    }

    /// What is written, perhaps.
    #[inline]
    pub fn written(&self) -> impl Iterator<Item = &Write> {
        self.writes.iter().filter(|write| write.happens())
    }

    /// What is read through the ports.
    #[inline]
    pub fn read(&self) -> impl Iterator<Item = &Read> {
        self.reads.iter().flatten()
    }

    /// Whether something is read, through either port.
    #[inline]
    pub fn reads(&self, source: ReadSource) -> bool {
        self.reads_any(1 << source.address()) && self.reads_in_its_file(source)
    }

    fn reads_in_its_file(&self, source: ReadSource) -> bool {
        self.read().any(|read| read.source == source)
    }

    /// Whether something is written, perhaps.
    #[inline]
    pub fn writes_to(&self, target: WriteTarget) -> bool {
        self.writes_any(1 << target.address()) && self.writes_in_its_file(target)
    }

    fn writes_in_its_file(&self, target: WriteTarget) -> bool {
        self.written().any(|write| write.target == target)
    }

    /// Whether one of some addresses is read, through either port: a set of [`address_sets`].
    #[inline]
    pub const fn reads_any(&self, addresses: u64) -> bool {
        self.sets.addresses_read & addresses != 0
    }

    /// Whether one of some addresses is written, perhaps: a set of [`address_sets`].
    #[inline]
    pub const fn writes_any(&self, addresses: u64) -> bool {
        self.sets.addresses_written & addresses != 0
    }

    /// Whether a uniform is taken: read, or as the parameter of a TMU's t, r or b. Of a write of s it depends on what was written before.
    #[inline]
    pub const fn takes_uniform(&self) -> bool {
        self.reads_any(1 << ReadSource::Uniform.address()) || self.writes_any(address_sets::TAKE_UNIFORM)
    }

    /// Registers whose values are used: bits 0 to 31 file A, 32 to 63 file B.
    #[inline]
    pub const fn registers_read(&self) -> u64 {
        self.sets.registers_read
    }

    /// Registers that are written, perhaps.
    #[inline]
    pub const fn registers_written(&self) -> u64 {
        self.sets.registers_written
    }

    /// In which elements flags are set, if they are.
    #[inline]
    pub const fn flags_condition(&self) -> Option<Condition> {
        match self.flags {
            Some(FlagSource::Add) => Some(self.writes[0].condition),
            Some(FlagSource::Mul) => Some(self.writes[1].condition),
            None => None,
        }
    }

    /// Whether flags decide about a result, about flags, or about a branch.
    #[inline]
    pub fn reads_flags(&self) -> bool {
        let flags = self.flags_condition();
        let by_flags = flags.is_some_and(|condition| !matches!(condition, Condition::Always | Condition::Never));
        let by_branch = self.branch.is_some_and(|condition| condition != BranchCondition::Always);
        by_flags || by_branch || self.writes.iter().any(Write::is_conditional)
    }

    /// Accumulators and flags that are read, as bits of [`accumulators`].
    #[inline]
    pub const fn accumulators_read(&self) -> u8 {
        self.sets.accumulators_read
    }

    /// Accumulators that a unit puts something into, whole: r4 by a signal or the SFU, r5 with a varying.
    #[inline]
    const fn accumulators_delivered(&self) -> u8 {
        let r4 = self.signal.loads_r4() || self.writes_any(address_sets::SFU);
        let r5 = self.reads_any(1 << ReadSource::Varying.address());
        (if r4 { accumulators::R4 } else { 0 }) | if r5 { accumulators::R5 } else { 0 }
    }

    /// Accumulators and flags that are written, in whatever elements.
    #[inline]
    pub const fn accumulators_written(&self) -> u8 {
        self.sets.accumulators_written | self.accumulators_delivered()
    }

    /// Accumulators and flags of which nothing is left as it was.
    #[inline]
    pub fn accumulators_replaced(&self) -> u8 {
        let flags = if self.flags_condition() == Some(Condition::Always) { accumulators::FLAGS } else { 0 };
        // r5 is not packed.
        let whole = |write: &&Write| write.replaces() || write.target.is_r5() && write.condition == Condition::Always;
        let written = self.written().filter(whole).fold(0, |bits, write| bits | write.accumulator());
        flags | self.accumulators_delivered() | written
    }

    /// Whether register 14 of either file is read or written: W and Z of the next program arrive there [AG p.21].
    #[inline]
    pub fn accesses_register_14(&self) -> bool {
        const REGISTERS_14: u64 = register_bit(File::A, 14) | register_bit(File::B, 14);
        (self.registers_read() | self.registers_written()) & REGISTERS_14 != 0
    }

    /// Whether samples of the tile buffer are read or written, for which the scoreboard is waited.
    #[inline]
    pub const fn accesses_samples(&self) -> bool {
        self.signal.loads_tile() || self.writes_any(address_sets::SAMPLES)
    }

    /// Whether the tile buffer or its set-up is accessed.
    #[inline]
    pub const fn accesses_tile_buffer(&self) -> bool {
        self.signal.loads_tile() || self.writes_any(address_sets::TILE_BUFFER)
    }

    /// Whether both ALUs may write different values to one accumulator or unit in the same elements.
    ///
    /// What arrives is undefined [AG p.19]. Two writes of one value do no harm to an accumulator; to a unit they are two.
    #[inline]
    pub fn writes_twice(&self) -> bool {
        let [add, mul] = &self.writes;
        let same = add.target.is_same(mul.target) && !matches!(add.target, WriteTarget::Register(_));
        let agree = add.moves.is_some() && add.moves == mul.moves && !add.target.is_peripheral();
        let meet = !add.condition.excludes(mul.condition) && add.bytes & mul.bytes != 0;
        same && add.happens() && mul.happens() && meet && !agree
    }

    /// Accesses to closely coupled peripherals, of which there can be one in an instruction [AG p.37], the tile buffer among them [AG p.48].
    ///
    /// Both ALUs writing to one address is one access, as is a colour that is read and one that is written. Mesa sets the stencil test up in instructions that
    /// load a lookup's result or a colour [mesa].
    #[inline]
    pub fn coupled_accesses(&self) -> u32 {
        let load = u32::from(self.signal.loads_r4());
        let others = u32::from(self.reads(ReadSource::MutexAcquire)) + u32::from(self.semaphore.is_some());
        if !self.writes_any(address_sets::COUPLED) {
            return load + others;
        }
        let coupled = |write: &Write| write.happens() && write.target.row().access.is_coupled;
        let [add, mul] = &self.writes;
        let writes = match (coupled(add), coupled(mul)) {
            (true, true) if add.target.is_same(mul.target) => 1,
            (add, mul) => u32::from(add) + u32::from(mul),
        };
        let goes_with_load = self.written().filter(|write| coupled(write)).all(|write| match write.target {
            WriteTarget::TlbStencilSetup => true,
            target => target.writes_color() && self.signal.loads_color(),
        });
        writes + others + if writes == 1 && goes_with_load { 0 } else { load }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accesses(word: u64) -> Accesses {
        Instruction::decode(word).accesses()
    }

    /// Words with what vc4asm says of them.
    #[test]
    fn registers_and_accumulators_are_those_of_the_text() {
        // fadd r2, r2, r5; mov r3.8a, r0
        let packed = accesses(0x11c2_48a3_819e_7540);
        assert_eq!((packed.accumulators_read(), packed.accumulators_written()), (0b10_0101, 0b1100));
        assert_eq!(packed.accumulators_replaced(), 0b0100);
        // mmov r1 << 3, r1
        let rotated = accesses(0xd000_49e1_809f_3009);
        assert_eq!((rotated.rotation, rotated.rotated), (Some(SmallImmediate::Rotate(3)), 0b10));
        // bra -, ra6
        let branch = accesses(0xf0f4_c9e7_0000_0000);
        assert_eq!((branch.registers_read(), branch.registers_written()), (1 << 6, 0));
        // shr r0, ra0.16a, 4
        let shift = accesses(0xd202_0827_0e00_4dc0);
        assert_eq!((shift.registers_read(), shift.accumulators_read(), shift.accumulators_written()), (1, 0, 1));
        // sacq r0, 3
        assert_eq!(accesses(0xe802_0827_0000_0013).semaphore, Some((3, true)));
    }

    /// An instruction with two moves of r0, a signal, and what else there is.
    fn moves(targets: [u8; 2], sig: Signal) -> Accesses {
        let alu = Alu {
            sig,
            op_add: super::super::AddOp::Or,
            op_mul: super::super::MulOp::V8min,
            cond_add: Condition::Always,
            cond_mul: Condition::Always,
            waddr_add: targets[0],
            waddr_mul: targets[1],
            ..Alu::NOP
        };
        Instruction::Alu(alu).accesses()
    }

    #[test]
    fn accesses_to_coupled_peripherals_are_counted() {
        let (nop, stencil, z, color, recip, t0s) = (39, 43, 44, 46, 52, 56);
        for (targets, sig, count) in [
            ([nop, nop], Signal::LoadTmu0, 1),
            ([stencil, nop], Signal::LoadTmu0, 1),
            ([stencil, nop], Signal::LoadColor, 1),
            ([stencil, recip], Signal::None, 2),
            ([stencil, color], Signal::LoadColor, 3),
            ([color, nop], Signal::LoadColor, 1),
            ([color, color], Signal::LoadColorEnd, 1),
            ([color, nop], Signal::LoadCoverage, 2),
            ([z, nop], Signal::LoadColor, 2),
            ([recip, t0s], Signal::None, 2),
            ([t0s, t0s], Signal::None, 1),
            ([48, 49], Signal::ScoreboardWait, 0),
        ] {
            assert_eq!(moves(targets, sig).coupled_accesses(), count, "{targets:?} {sig:?}");
        }
    }

    #[test]
    fn one_value_may_be_written_twice_to_an_accumulator() {
        assert!(!moves([32, 32], Signal::None).writes_twice());
        assert!(!moves([37, 37], Signal::None).writes_twice());
        assert!(!moves([3, 3], Signal::None).writes_twice());
        assert!(moves([48, 48], Signal::None).writes_twice());
        assert!(moves([40, 40], Signal::None).writes_twice());
        // fadd r0, r0, r0; fmul r0, r0, r0
        assert!(accesses(0x1002_4820_219e_7000).writes_twice());
    }

    #[test]
    fn conditions_that_never_meet() {
        use Condition::{Always, CSet, NClear, NSet, Never, ZClear, ZSet};
        assert!(ZSet.excludes(ZClear) && NClear.excludes(NSet) && NSet.excludes(ZSet) && Never.excludes(Always));
        assert!(!ZSet.excludes(CSet) && !Always.excludes(Always) && !ZClear.excludes(NClear));
        assert_eq!((ZSet.union(Never), ZSet.union(ZSet), ZSet.union(ZClear)), (ZSet, ZSet, Always));
    }
}
