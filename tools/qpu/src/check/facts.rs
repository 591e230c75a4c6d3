//! What one instruction reads, writes and triggers.

use v3d_hw::qpu::{AddOp, BranchCondition, Condition, ImmediateKind, Instruction, MulOp, Mux, PackMul, Signal};
use v3d_hw::vpm::ReadSetupWord;

pub use v3d_hw::qpu::address_map::NOP;

/// A write to an address of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteFact {
    /// Address, 0 to 63.
    pub address: u8,
    /// Condition.
    pub condition: Condition,
    /// The operation is none, so that nothing is written.
    pub idle: bool,
}

/// What an instruction does beside computing.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Written as data. Where execution comes upon it, it is an instruction all the same.
    pub data: bool,
    /// Signal.
    pub sig: Signal,
    /// Address read from file A, where the read has an effect or its value is used.
    pub read_a: Option<u8>,
    /// Address read from file B, likewise.
    pub read_b: Option<u8>,
    /// Condition under which the value of file A matters.
    pub read_a_condition: Condition,
    /// Condition under which the value of file B matters.
    pub read_b_condition: Condition,
    /// Write to file A.
    pub write_a: Option<WriteFact>,
    /// Write to file B.
    pub write_b: Option<WriteFact>,
    /// Which ALU has no operation: add, mul.
    pub idle: [bool; 2],
    /// Both ALUs' writes: add, mul; with conditions, also those that are never.
    pub writes: [WriteFact; 2],
    /// Accumulators that are read: bit n is r`n`.
    pub accumulators_read: u8,
    /// Accumulators r0 to r3 that the mul operation reads.
    pub rotated: u8,
    /// Rotation of the mul operation: 0 by r5, else the number of elements upwards.
    pub rotation: Option<u8>,
    /// Condition of the mul operation.
    pub mul_condition: Condition,
    /// The flags are set by the mul operation.
    pub mul_sets_flags: bool,
    /// Flags are set.
    pub sets_flags: bool,
    /// Flags are read, by conditions or a branch.
    pub reads_flags: bool,
    /// A pack that writes a single byte behind the mul ALU.
    pub mul_byte_pack: bool,
    /// A write to a register of file A that keeps a part of the old value.
    pub partial_a: bool,
    /// Semaphore access.
    pub semaphore: Option<SemaphoreFact>,
    /// Branch.
    pub branch: Option<BranchFact>,
    /// A reserved code is in it.
    pub reserved: bool,
    /// The immediate of a load immediate.
    pub immediate: Option<u32>,
    /// There is a small immediate or rotation in the place of the file B read.
    pub small_immediate: bool,
    /// The operations give zero whatever their operands are: `xor x, x`.
    pub makes_zero: bool,
    /// Both ALUs give the same value: both move the same source.
    pub same_moves: bool,
}

/// An access to a semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SemaphoreFact {
    /// Number, 0 to 15.
    pub number: u8,
    /// Decremented, else incremented.
    pub acquire: bool,
}

/// A branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchFact {
    /// Always taken.
    pub always: bool,
    /// Distance in words from the instruction after the delay slots; `None` if it is not known.
    pub distance: Option<i64>,
    /// The address of the instruction after the delay slots is kept: a call.
    pub links: bool,
}

impl Facts {
    /// The facts of an instruction that does nothing.
    fn nothing() -> Self {
        let never = WriteFact { address: NOP, condition: Condition::Never, idle: true };
        Self {
            data: false,
            sig: Signal::None,
            read_a: None,
            read_b: None,
            read_a_condition: Condition::Never,
            read_b_condition: Condition::Never,
            write_a: None,
            write_b: None,
            idle: [false; 2],
            writes: [never; 2],
            accumulators_read: 0,
            rotated: 0,
            rotation: None,
            mul_condition: Condition::Never,
            mul_sets_flags: false,
            sets_flags: false,
            reads_flags: false,
            mul_byte_pack: false,
            partial_a: false,
            semaphore: None,
            branch: None,
            reserved: false,
            immediate: None,
            small_immediate: false,
            makes_zero: false,
            same_moves: false,
        }
    }

    /// The facts of a word.
    pub fn of(word: u64) -> Self {
        let mut facts = Self::nothing();
        match Instruction::decode(word) {
            Instruction::Alu(alu) => {
                facts.sig = alu.sig;
                facts.small_immediate = alu.sig == Signal::SmallImmediate;
                let add = alu.op_add != AddOp::Nop;
                let mul = alu.op_mul != MulOp::Nop;
                facts.idle = [!add, !mul];
                let unary = alu.op_add.is_unary();
                // Flags, too, are set only in elements in which the condition holds [silicon].
                let (add_condition, mul_condition) = (alu.cond_add, alu.cond_mul);
                facts.mul_condition = alu.cond_mul;
                // [AG p.28]
                facts.mul_sets_flags = alu.sf && (!add || alu.cond_add == Condition::Never);
                let uses = |mux: Mux| {
                    let by_add = add && (alu.add_a == mux || alu.add_b == mux && !unary);
                    let by_mul = mul && (alu.mul_a == mux || alu.mul_b == mux);
                    match (by_add, by_mul) {
                        (false, false) => Condition::Never,
                        (true, false) => add_condition,
                        (false, true) => mul_condition,
                        (true, true) => union(add_condition, mul_condition),
                    }
                };
                let add_zero = matches!(alu.op_add, AddOp::Xor | AddOp::Sub) && alu.add_a == alu.add_b;
                let mul_zero = alu.op_mul == MulOp::V8subs && alu.mul_a == alu.mul_b;
                facts.makes_zero = (add_zero || !add) && (mul_zero || !mul);
                let add_moves = matches!(alu.op_add, AddOp::Or | AddOp::And) && alu.add_a == alu.add_b;
                let mul_moves = matches!(alu.op_mul, MulOp::V8min | MulOp::V8max) && alu.mul_a == alu.mul_b;
                let rotates = facts.small_immediate && alu.raddr_b >= 48;
                facts.same_moves =
                    add_moves && mul_moves && alu.add_a == alu.mul_a && !rotates && !(alu.pm && alu.pack != 0);
                facts.read_a_condition = uses(Mux::A);
                facts.read_b_condition = uses(Mux::B);
                let used = |condition: Condition, address: u8| condition != Condition::Never || address >= 32;
                facts.read_a = (alu.raddr_a != NOP && used(facts.read_a_condition, alu.raddr_a)).then_some(alu.raddr_a);
                facts.read_b =
                    (!facts.small_immediate && alu.raddr_b != NOP && used(facts.read_b_condition, alu.raddr_b))
                        .then_some(alu.raddr_b);
                for mux in [Mux::R0, Mux::R1, Mux::R2, Mux::R3, Mux::R4, Mux::R5] {
                    if uses(mux) != Condition::Never {
                        facts.accumulators_read |= 1 << mux.code();
                    }
                }
                let rotates = facts.small_immediate && alu.raddr_b >= 48 && alu.cond_mul != Condition::Never;
                facts.rotation = (rotates && mul).then(|| alu.raddr_b - 48);
                if facts.rotation.is_some() {
                    for mux in [alu.mul_a, alu.mul_b] {
                        if mux.code() <= Mux::R3.code() {
                            facts.rotated |= 1 << mux.code();
                        }
                    }
                    if facts.rotation == Some(0) {
                        facts.accumulators_read |= 1 << 5;
                    }
                }
                facts.reserved = matches!(alu.op_add, AddOp::Reserved(_));
                facts.targets(alu.waddr_add, alu.cond_add, alu.waddr_mul, alu.cond_mul, alu.ws, alu.sf);
                facts.packs(alu.pm, alu.pack);
            }
            Instruction::LoadImmediate(load) => {
                facts.sig = Signal::LoadImmediate;
                facts.immediate = (load.kind == ImmediateKind::Word).then_some(load.immediate);
                facts.reserved = matches!(load.kind, ImmediateKind::Reserved(_));
                facts.same_moves = !(load.pm && load.pack != 0);
                facts.targets(load.waddr_add, load.cond_add, load.waddr_mul, load.cond_mul, load.ws, load.sf);
                facts.packs(load.pm, load.pack);
            }
            Instruction::Semaphore(semaphore) => {
                facts.sig = Signal::LoadImmediate;
                facts.semaphore = Some(SemaphoreFact { number: semaphore.semaphore, acquire: semaphore.sa });
                let (add, mul) = (semaphore.cond_add, semaphore.cond_mul);
                facts.same_moves = !(semaphore.pm && semaphore.pack != 0);
                facts.targets(semaphore.waddr_add, add, semaphore.waddr_mul, mul, semaphore.ws, semaphore.sf);
                facts.packs(semaphore.pm, semaphore.pack);
            }
            Instruction::Branch(branch) => {
                facts.sig = Signal::Branch;
                let always = Condition::Always;
                facts.same_moves = true;
                facts.targets(branch.waddr_add, always, branch.waddr_mul, always, branch.ws, branch.raddr_a & 1 != 0);
                if branch.reg {
                    facts.read_a = Some(branch.raddr_a);
                    facts.read_a_condition = Condition::Always;
                }
                let known = branch.rel && !branch.reg && branch.immediate % 8 == 0;
                facts.branch = Some(BranchFact {
                    always: branch.cond_br == BranchCondition::Always,
                    distance: known.then_some(i64::from(branch.immediate) / 8),
                    links: branch.waddr_add != NOP || branch.waddr_mul != NOP,
                });
                facts.reads_flags |= branch.cond_br != BranchCondition::Always;
                facts.reserved = matches!(branch.cond_br, BranchCondition::Reserved(_));
            }
        }
        facts
    }

    fn targets(&mut self, add: u8, cond_add: Condition, mul: u8, cond_mul: Condition, ws: bool, sf: bool) {
        let add = WriteFact { address: add & 63, condition: cond_add, idle: self.idle[0] };
        let mul = WriteFact { address: mul & 63, condition: cond_mul, idle: self.idle[1] };
        self.writes = [add, mul];
        // An operation that does nothing writes nothing: py-videocore's nops have the write address of r0 and the condition "always", and its tests, which
        // pass on boards, keep r0 across them [pyvc].
        let real = |write: WriteFact| {
            (write.address != NOP && write.condition != Condition::Never && !write.idle).then_some(write)
        };
        let (a, b) = if ws { (mul, add) } else { (add, mul) };
        self.write_a = real(a);
        self.write_b = real(b);
        self.sets_flags = sf;
        let conditional = |write: WriteFact| {
            !matches!(write.condition, Condition::Always | Condition::Never) && (write.address != NOP || sf)
        };
        self.reads_flags |= conditional(add) || conditional(mul);
    }

    fn packs(&mut self, pm: bool, pack: u8) {
        self.reserved |= pm && matches!(PackMul::of_field(pack), PackMul::Reserved(_));
        self.mul_byte_pack = pm && (4..8).contains(&PackMul::of_field(pack).code());
        self.partial_a = !pm && !matches!(pack, 0 | 3 | 8 | 11);
    }

    /// Whether an address is read through either file.
    pub fn reads(&self, address: u8) -> bool {
        self.read_a == Some(address) || self.read_b == Some(address)
    }

    /// Whether an address of either file is written.
    pub fn writes_to(&self, address: u8) -> bool {
        [self.write_a, self.write_b].into_iter().flatten().any(|write| write.address == address)
    }

    /// Addresses that are written.
    pub fn written(&self) -> impl Iterator<Item = u8> + use<> {
        [self.write_a, self.write_b].into_iter().flatten().map(|write| write.address)
    }

    /// The write to the SFU, if there is one.
    pub fn writes_sfu(&self) -> bool {
        self.written().any(|address| (52..56).contains(&address))
    }

    /// Writes to TMU parameters.
    pub fn writes_tmu(&self) -> bool {
        self.written().any(|address| address >= 56)
    }

    /// Whether a signal loads r4.
    pub fn loads_r4(&self) -> bool {
        use Signal::{LoadAlpha, LoadColor, LoadColorEnd, LoadCoverage, LoadTmu0, LoadTmu1};
        matches!(self.sig, LoadAlpha | LoadColor | LoadColorEnd | LoadCoverage | LoadTmu0 | LoadTmu1)
    }

    /// Whether the tile buffer is accessed.
    pub fn accesses_tlb(&self) -> bool {
        use Signal::{LoadAlpha, LoadColor, LoadColorEnd, LoadCoverage};
        self.written().any(|address| (43..48).contains(&address))
            || matches!(self.sig, LoadAlpha | LoadColor | LoadColorEnd | LoadCoverage)
    }

    /// Whether the scoreboard is waited for. The stencil set-up does not wait [mesa vc4_qpu_schedule.c].
    pub fn locks_scoreboard(&self) -> bool {
        use Signal::{LoadAlpha, LoadColor, LoadColorEnd, LoadCoverage, ScoreboardWait};
        self.written().any(|address| (44..48).contains(&address))
            || matches!(self.sig, LoadAlpha | LoadColor | LoadColorEnd | LoadCoverage | ScoreboardWait)
    }

    /// Whether the QPU goes on with its other thread, two instructions later.
    pub fn switches_thread(&self) -> bool {
        matches!(self.sig, Signal::ThreadSwitch | Signal::LastThreadSwitch)
    }

    /// Whether the program ends here, after two more instructions.
    pub fn ends(&self) -> bool {
        matches!(self.sig, Signal::ProgramEnd | Signal::LoadColorEnd)
    }

    /// Whether a block of VPM reads is set up, as far as the word is known; loads by DMA are set up at the same address.
    pub fn sets_up_vpm_read(&self) -> bool {
        let writes = self.write_a.is_some_and(|write| write.address == 49);
        writes && self.immediate.is_some_and(|word| matches!(ReadSetupWord::decode(word), ReadSetupWord::Read(_)))
    }

    /// Whether r4 is read.
    pub fn reads_r4(&self) -> bool {
        self.accumulators_read & 1 << 4 != 0
    }
}

/// Elements in which either condition holds, as the narrowest condition that there is.
fn union(a: Condition, b: Condition) -> Condition {
    match (a, b) {
        (Condition::Never, other) | (other, Condition::Never) => other,
        (a, b) if a == b => a,
        _ => Condition::Always,
    }
}

/// Whether there can be an element in which both conditions hold.
pub fn overlap(a: Condition, b: Condition) -> bool {
    if a == Condition::Never || b == Condition::Never {
        return false;
    }
    // The conditions come in pairs of opposites; and no result is zero and negative.
    let exclusive = matches!((a, b), (Condition::ZSet, Condition::NSet) | (Condition::NSet, Condition::ZSet));
    !(exclusive || a.code() >= 2 && a.code() ^ 1 == b.code())
}
