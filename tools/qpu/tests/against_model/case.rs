//! Random programs, each with the inputs for executing all of its paths.

use qpu::Interface;
use v3d_hw::Layout;
use v3d_hw::qpu::address_map::{NOP, TmuCoordinate};
use v3d_hw::qpu::{
    AddOp, Alu, Branch, BranchCondition, Condition, ImmediateKind, Instruction, LoadImmediate, MulOp, Mux, ReadSource,
    Semaphore, Signal, Unpack, WriteTarget,
};
use v3d_sim::random::Random;

/// Registers of file A that hold the two uniforms on which branches depend. No program writes them.
const DECISIONS: [u8; 2] = [10, 11];
const UNIFORM: u8 = ReadSource::Uniform.address();
const VARYING: u8 = ReadSource::Varying.address();
const TMU_NO_SWAP: u8 = WriteTarget::TmuNoSwap.address();
const R5: u8 = WriteTarget::R5PerQuad.address();
const UNIFORMS_ADDRESS: u8 = WriteTarget::UniformsAddress.address();
const TLB_Z: u8 = WriteTarget::TlbZ.address();
const VPM: u8 = WriteTarget::VpmWrite.address();
const VPM_SETUP: u8 = WriteTarget::VpmVcdRdSetup.address();
const MUTEX: u8 = WriteTarget::MutexRelease.address();
const SFU_RECIP: u8 = WriteTarget::SfuRecip.address();
const TMU0_S: u8 = WriteTarget::Tmu { unit: 0, coordinate: TmuCoordinate::S }.address();

/// The instructions that the programs of a suite consist of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Suite {
    /// Registers of both files, accumulators, flags, conditions, packing, rotations.
    Registers,
    /// Load immediate and semaphore instructions.
    Immediates,
    /// All accesses through I/O addresses and signals.
    Peripherals,
    /// Tile buffer accesses and related instructions.
    Tile,
    /// TMUs, mutex and VPM, with one access per instruction.
    Units,
    /// Branches with their delay slots.
    Branches,
    /// Thread switches.
    Threads,
    /// The last three instructions.
    End,
    /// Random words.
    Words,
}

impl Suite {
    pub(crate) const ALL: [Self; 9] = [
        Self::Registers,
        Self::Immediates,
        Self::Peripherals,
        Self::Tile,
        Self::Units,
        Self::Branches,
        Self::Threads,
        Self::End,
        Self::Words,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Registers => "registers",
            Self::Immediates => "immediates",
            Self::Peripherals => "peripherals",
            Self::Tile => "tile",
            Self::Units => "units",
            Self::Branches => "branches",
            Self::Threads => "threads",
            Self::End => "end",
            Self::Words => "words",
        }
    }

    /// Whether its programs access units unconditionally and one at a time, so that checker and model agree on the state of the units.
    pub(crate) fn is_regular(self) -> bool {
        self == Self::Units
    }
}

/// A program.
pub(crate) struct Case {
    pub(crate) suite: Suite,
    pub(crate) words: Vec<u64>,
    /// Number of threads of a QPU.
    pub(crate) threads: u8,
    /// The first uniforms of each run: the runs cover all paths.
    pub(crate) decisions: Vec<[u32; 2]>,
}

impl Case {
    pub(crate) fn new(suite: Suite, number: u64) -> Self {
        let mut random = Random::new(suite as u64 + 1, number);
        let threads = if suite == Suite::Threads && !random.one_in(8) { 2 } else { 1 };
        let words = match suite {
            Suite::Branches => branches(&mut random),
            Suite::Threads => threaded(&mut random),
            Suite::Units => units(&mut random),
            Suite::End => ending(&mut random),
            _ => {
                let length = 4 + random.below(8);
                let body = (0..length).map(|_| instruction(suite, &mut random)).collect::<Vec<_>>();
                ended(body, Alu { sig: Signal::ProgramEnd, ..Alu::NOP })
            }
        };
        let decisions = if suite == Suite::Branches { vec![[0, 0], [0, 1], [1, 0], [1, 1]] } else { vec![[0, 0]] };
        Self { suite, words, threads, decisions }
    }

    /// The interface that its source would declare.
    pub(crate) fn interface(&self) -> Interface {
        Interface { threads: Some(self.threads), ..Interface::default() }
    }

    /// Whether it has more than one path.
    pub(crate) fn has_conditional_branches(&self) -> bool {
        self.suite == Suite::Branches
    }
}

pub(crate) fn encoded(layout: &impl Layout) -> u64 {
    layout.to_bits().map_or(0, |bits| bits as u64)
}

fn ended(mut words: Vec<u64>, end: Alu) -> Vec<u64> {
    words.push(encoded(&end));
    words.extend([encoded(&Alu::NOP); 2]);
    words
}

fn instruction(suite: Suite, random: &mut Random) -> u64 {
    match suite {
        Suite::Immediates => immediate(random),
        Suite::Peripherals => encoded(&peripherals(random)),
        Suite::Tile => encoded(&tile(random)),
        Suite::Words => word(random),
        _ => encoded(&registers(random)),
    }
}

/// A register out of few, so that adjacent instructions use the same ones.
fn register(random: &mut Random) -> u8 {
    random.pick(&[0, 1, 2, 14])
}

fn condition(random: &mut Random) -> Condition {
    if random.one_in(3) { random.pick(Condition::ALL) } else { Condition::Always }
}

/// Registers, accumulators and flags.
fn registers(random: &mut Random) -> Alu {
    let target = |random: &mut Random| match random.below(8) {
        0..4 => register(random),
        4..7 => 32 + random.below(3) as u8,
        _ => R5,
    };
    let mut alu = Alu {
        cond_add: condition(random),
        cond_mul: condition(random),
        sf: random.one_in(3),
        ws: random.one_in(2),
        waddr_add: target(random),
        waddr_mul: target(random),
        op_mul: random.pick(MulOp::ALL),
        op_add: random.pick(AddOp::ALL),
        raddr_a: register(random),
        raddr_b: register(random),
        add_a: random.pick(Mux::ALL),
        add_b: random.pick(Mux::ALL),
        mul_a: random.pick(Mux::ALL),
        mul_b: random.pick(Mux::ALL),
        ..Alu::NOP
    };
    if random.one_in(3) {
        // Moves by both ALUs, sometimes of the same value.
        (alu.op_add, alu.op_mul) = (AddOp::Or, MulOp::V8min);
        (alu.add_b, alu.mul_b) = (alu.add_a, alu.mul_a);
    }
    if random.one_in(3) {
        alu.sig = Signal::SmallImmediate;
        alu.raddr_b = random.below(64) as u8;
        alu.mul_a = random.pick(&[Mux::R0, Mux::R1, Mux::R2, Mux::A]);
    }
    if random.one_in(6) {
        alu.pm = random.one_in(2);
        alu.pack = random.below(16) as u8;
        alu.unpack = random.pick(Unpack::ALL);
    }
    if random.one_in(8) {
        alu.raddr_a = VARYING;
    }
    alu
}

/// An operation with a result, in each ALU with a probability of one half.
fn operations(random: &mut Random) -> Alu {
    let mut alu = registers(random);
    (alu.sig, alu.pack, alu.unpack, alu.pm) = (Signal::None, 0, Unpack::None, false);
    (alu.raddr_a, alu.raddr_b) = (register(random), register(random));
    let (add, mul) = (AddOp::And, MulOp::V8max);
    (alu.op_add, alu.op_mul) = random.pick(&[(add, mul), (add, MulOp::Nop), (AddOp::Nop, mul)]);
    if alu.op_add == AddOp::Nop {
        (alu.waddr_add, alu.cond_add) = (NOP, Condition::Never);
    }
    if alu.op_mul == MulOp::Nop {
        (alu.waddr_mul, alu.cond_mul) = (NOP, Condition::Never);
    }
    alu
}

/// Sets the write address of a result, if there is one.
fn aim(alu: &mut Alu, random: &mut Random, address: u8) {
    if alu.op_mul != MulOp::Nop && (alu.op_add == AddOp::Nop || random.one_in(2)) {
        alu.waddr_mul = address;
    } else {
        alu.waddr_add = address;
    }
}

fn peripherals(random: &mut Random) -> Alu {
    let mut alu = operations(random);
    // Conditional accesses are rare: after the first, the model knows values that the checker does not.
    if !random.one_in(8) {
        alu.cond_add = if alu.op_add == AddOp::Nop { Condition::Never } else { Condition::Always };
        alu.cond_mul = if alu.op_mul == MulOp::Nop { Condition::Never } else { Condition::Always };
    }
    for _ in 0..random.below(3) {
        let address = TMU_NO_SWAP + random.below(28) as u8;
        aim(&mut alu, random, address);
    }
    if random.one_in(3) {
        alu.raddr_a = random.pick(&[UNIFORM, VARYING, 33, 38, 41, 42, VPM, VPM_SETUP, 50, MUTEX]);
    }
    if random.one_in(4) {
        alu.raddr_b = random.pick(&[UNIFORM, VARYING, 36, 38, 41, 42, VPM, VPM_SETUP, 50, MUTEX]);
    }
    alu.sig = match random.below(6) {
        0 => random.pick(&[Signal::ScoreboardWait, Signal::ScoreboardUnlock, Signal::LoadCoverage, Signal::LoadColor]),
        1 => random.pick(&[Signal::LoadTmu0, Signal::LoadTmu1, Signal::LoadAlpha]),
        2 if random.one_in(4) => Signal::Breakpoint,
        _ => Signal::None,
    };
    if random.one_in(6) {
        alu.pm = random.one_in(2);
        alu.pack = random.below(16) as u8;
        alu.unpack = random.pick(Unpack::ALL);
    }
    alu
}

/// SFU, tile buffer, multisample mask, uniforms and TMUs.
fn tile(random: &mut Random) -> Alu {
    let mut alu = operations(random);
    alu.cond_add = if alu.op_add == AddOp::Nop { Condition::Never } else { Condition::Always };
    alu.cond_mul = if alu.op_mul == MulOp::Nop { Condition::Never } else { Condition::Always };
    if random.one_in(2) {
        let address = random.pick(&[
            TMU_NO_SWAP,
            UNIFORMS_ADDRESS,
            42,
            43,
            TLB_Z,
            45,
            46,
            47,
            SFU_RECIP,
            SFU_RECIP + 1,
            SFU_RECIP + 3,
            TMU0_S,
            57,
            60,
            63,
        ]);
        aim(&mut alu, random, address);
    }
    if random.one_in(3) {
        alu.raddr_a = random.pick(&[UNIFORM, 42, MUTEX]);
    }
    if random.one_in(6) {
        alu.raddr_b = random.pick(&[UNIFORM, 42, MUTEX]);
    }
    if random.one_in(4) {
        alu.sig = random.pick(&[
            Signal::ScoreboardWait,
            Signal::LoadCoverage,
            Signal::LoadColor,
            Signal::LoadTmu0,
            Signal::LoadAlpha,
        ]);
    }
    alu
}

fn immediate(random: &mut Random) -> u64 {
    let mut address = || match random.below(4) {
        0 => register(random),
        1 => 32 + random.below(6) as u8,
        2 => random.pick(&[NOP, UNIFORMS_ADDRESS, 42, 43, TLB_Z, 46, SFU_RECIP, TMU0_S]),
        _ => random.pick(&[NOP, 32, TMU0_S]),
    };
    let (waddr_add, waddr_mul) = (address(), address());
    let load = LoadImmediate {
        sig: Signal::LoadImmediate,
        kind: random.pick(&[
            ImmediateKind::Word,
            ImmediateKind::PerElementSigned,
            ImmediateKind::PerElementUnsigned,
            ImmediateKind::Reserved(2),
            ImmediateKind::Reserved(7),
        ]),
        pm: random.one_in(4),
        pack: if random.one_in(4) { random.below(16) as u8 } else { 0 },
        cond_add: condition(random),
        cond_mul: condition(random),
        sf: random.one_in(4),
        ws: random.one_in(2),
        waddr_add,
        waddr_mul,
        immediate: 0,
    };
    if random.one_in(2) {
        return encoded(&load);
    }
    if random.one_in(3) {
        // A second one too soon after the first.
        return encoded(&tile(random));
    }
    encoded(&Semaphore {
        sig: Signal::LoadImmediate,
        kind: ImmediateKind::Semaphore,
        pm: load.pm,
        pack: load.pack,
        cond_add: load.cond_add,
        cond_mul: load.cond_mul,
        sf: load.sf,
        ws: load.ws,
        waddr_add,
        waddr_mul,
        unused: 0,
        sa: random.one_in(2),
        semaphore: random.below(16) as u8,
    })
}

/// A random word that is neither a branch nor a thread switch nor, most of the time, an end.
fn word(random: &mut Random) -> u64 {
    let word = random.next_u64();
    let sig = match word >> 60 {
        2 | 6 | 15 => 1,
        0 | 3 | 9 if !random.one_in(8) => 1,
        sig => sig,
    };
    word & (u64::MAX >> 4) | sig << 60
}

fn load(address: u8, word: u32, ws: bool) -> u64 {
    encoded(&LoadImmediate {
        sig: Signal::LoadImmediate,
        kind: ImmediateKind::Word,
        pm: false,
        pack: 0,
        cond_add: Condition::Always,
        cond_mul: Condition::Never,
        sf: false,
        ws,
        waddr_add: address,
        waddr_mul: NOP,
        immediate: word,
    })
}

/// `mov address, r0`.
fn moved(address: u8) -> Alu {
    Alu { op_add: AddOp::Or, cond_add: Condition::Always, waddr_add: address, ..Alu::NOP }
}

/// Accesses to TMUs, mutex and VPM in any order, one per instruction.
fn units(random: &mut Random) -> Vec<u64> {
    let mut words = vec![load(32, 0x2000, false)];
    // Set-up words of rows of 32-bit words, with stride 1 [AG p.57-58].
    const ROWS: u32 = 1 << 12 | 1 << 11 | 2 << 8;
    let about_tmus = random.one_in(2);
    for _ in 0..8 + random.below(24) {
        let unit = random.below(2) as u8;
        let word = match random.below(6) {
            // A coordinate is written once per lookup.
            0 | 1 if about_tmus => {
                let s = moved(TMU0_S + 4 * unit);
                let s = Alu { raddr_a: if random.one_in(8) { UNIFORM } else { NOP }, ..s };
                if random.one_in(2) {
                    let t = moved(TMU0_S + 1 + 4 * unit);
                    words.push(encoded(&Alu { raddr_b: if random.one_in(8) { UNIFORM } else { NOP }, ..t }));
                }
                encoded(&s)
            }
            2 | 3 if about_tmus => {
                encoded(&Alu { sig: random.pick(&[Signal::LoadTmu0, Signal::LoadTmu1]), ..Alu::NOP })
            }
            0 => load(VPM_SETUP, ROWS | (1 + random.below(3)) << 20, false),
            1 => load(VPM_SETUP, ROWS, true),
            2 => encoded(&Alu { raddr_a: VPM, ..Alu::NOP }),
            3 => encoded(&moved(VPM)),
            4 => encoded(&Alu { raddr_a: MUTEX, ..Alu::NOP }),
            _ => encoded(&moved(MUTEX)),
        };
        words.push(word);
    }
    ended(words, Alu { sig: Signal::ProgramEnd, ..Alu::NOP })
}

fn branch(distance: i32, condition: BranchCondition, random: &mut Random) -> u64 {
    encoded(&Branch {
        sig: Signal::Branch,
        unused: 0,
        cond_br: condition,
        rel: true,
        reg: false,
        raddr_a: 0,
        ws: random.one_in(2),
        waddr_add: if random.one_in(6) { random.pick(&[0, 1, 32]) } else { NOP },
        waddr_mul: if random.one_in(6) { random.pick(&[0, 1, 32]) } else { NOP },
        immediate: distance * 8,
    })
}

/// Code with up to two branches that depend on uniforms; their delay slots and targets are among other instructions.
fn branches(random: &mut Random) -> Vec<u64> {
    let take = |register: u8| Alu {
        op_add: AddOp::Or,
        cond_add: Condition::Always,
        waddr_add: register,
        raddr_a: UNIFORM,
        add_a: Mux::A,
        add_b: Mux::A,
        ..Alu::NOP
    };
    let mut words: Vec<u64> = DECISIONS.iter().map(|&register| encoded(&take(register))).collect();
    words.push(encoded(&Alu::NOP));
    let start = words.len();
    let length = 16 + random.below(8) as usize;
    let plain = |random: &mut Random| {
        let tile_now = random.one_in(3);
        let mut alu = if tile_now { tile(random) } else { registers(random) };
        // Only uniforms decide the branches.
        alu.raddr_a = if alu.raddr_a == UNIFORM { 0 } else { alu.raddr_a };
        alu.raddr_b = if alu.raddr_b == UNIFORM { 0 } else { alu.raddr_b };
        alu
    };
    for decision in DECISIONS {
        for _ in 0..random.below(5) {
            words.push(encoded(&plain(random)));
        }
        let decided = Alu {
            op_add: AddOp::Or,
            cond_add: Condition::Always,
            sf: true,
            raddr_a: decision,
            add_a: Mux::A,
            add_b: Mux::A,
            ..Alu::NOP
        };
        words.push(encoded(&decided));
        let behind = words.len() + 4;
        // A target anywhere in the code, including delay slots; seldom backward, because a loop does not end.
        let target = match random.below(4) {
            0 => start + random.below((words.len() - start) as u32) as usize,
            _ => words.len() + 1 + random.below(10) as usize,
        };
        let target = target.min(start + length + 10);
        let condition = random.pick(&[BranchCondition::AllZSet, BranchCondition::AllZClear, BranchCondition::AnyZSet]);
        let always = random.one_in(6);
        // A branch with a reserved condition goes to the next instruction.
        let (condition, target) = match always {
            true if random.one_in(2) => (BranchCondition::Reserved(12), behind),
            true => (BranchCondition::Always, target),
            false => (condition, target),
        };
        if random.one_in(8) {
            // Not taken: no element is negative. The register of the target may be an odd one.
            words.push(encoded(&Branch {
                cond_br: BranchCondition::AllNSet,
                reg: true,
                raddr_a: random.below(4) as u8,
                ..Branch::from_bits(u128::from(branch(0, BranchCondition::AllNSet, random)))
            }));
        } else {
            words.push(branch(target as i32 - behind as i32, condition, random));
        }
        for slot in 0..3 {
            let second = slot < 2 && random.one_in(12);
            let word = if second { branch(0, BranchCondition::AllNSet, random) } else { encoded(&plain(random)) };
            words.push(word);
        }
    }
    while words.len() < start + length + 12 {
        words.push(encoded(&plain(random)));
    }
    ended(words, Alu { sig: Signal::ProgramEnd, ..Alu::NOP })
}

/// Thread switches among unconditional instructions, which overwrite whole accumulators.
fn threaded(random: &mut Random) -> Vec<u64> {
    let mut words: Vec<u64> = (32..36).map(|accumulator| load(accumulator, 5, false)).collect();
    words.extend([load(R5, 1, false), encoded(&moved(SFU_RECIP))]);
    words.extend([encoded(&Alu::NOP); 2]);
    words.push(encoded(&Alu { sf: true, ..moved(NOP) }));
    let mut since_switch = 3;
    for _ in 0..8 + random.below(16) {
        let mut alu = operations(random);
        alu.sf = random.one_in(5);
        alu.cond_add = if alu.op_add == AddOp::Nop { Condition::Never } else { Condition::Always };
        alu.cond_mul = if alu.op_mul == MulOp::Nop { Condition::Never } else { Condition::Always };
        if random.one_in(6) {
            // A condition reads the flags; the result goes to a register file, so no accumulator becomes defined by it.
            alu.cond_add = if alu.op_add == AddOp::Nop { Condition::Never } else { random.pick(Condition::ALL) };
            alu.waddr_add = if alu.op_add == AddOp::Nop { NOP } else { 3 };
            alu.sf = false;
        }
        if random.one_in(16) {
            alu.raddr_a = 16 + random.below(16) as u8;
        }
        if random.one_in(16) {
            alu.raddr_b = 16 + random.below(16) as u8;
        }
        if random.one_in(16) {
            aim(&mut alu, random, 30);
        }
        since_switch += 1;
        if since_switch > 2 && random.one_in(5) {
            alu.sig = random.pick(&[Signal::ThreadSwitch, Signal::ThreadSwitch, Signal::LastThreadSwitch]);
            since_switch = 0;
        }
        words.push(encoded(&alu));
    }
    words.extend([encoded(&Alu::NOP); 2]);
    ended(words, Alu { sig: Signal::ProgramEnd, ..Alu::NOP })
}

/// An end with any instructions in its delay slots; the program may be too short for it, or end in a branch's delay slots.
fn ending(random: &mut Random) -> Vec<u64> {
    let mut words = vec![encoded(&Alu::NOP); 2];
    if random.one_in(4) {
        // A lookup whose s may consume a uniform.
        words.push(encoded(&moved(random.pick(&[TMU0_S + 1, TMU0_S + 6]))));
    }
    if random.one_in(4) {
        words.push(branch(0, BranchCondition::Always, random));
        words.extend(std::iter::repeat_n(encoded(&Alu::NOP), random.below(2) as usize));
    }
    for place in 0..3 {
        let mut alu = peripherals(random);
        if place > 0 && random.one_in(2) {
            alu = tile(random);
        }
        alu.sig = match place {
            0 => random.pick(&[Signal::ProgramEnd, Signal::LoadColorEnd]),
            _ if random.one_in(8) => random.pick(&[Signal::ThreadSwitch, Signal::ProgramEnd, Signal::LoadColorEnd]),
            _ => alu.sig,
        };
        words.push(encoded(&alu));
    }
    if random.one_in(8) {
        words.pop();
    }
    words
}

/// An instruction of a case.
pub(crate) fn decoded(words: &[u64], at: usize) -> Instruction {
    Instruction::decode(words.get(at).copied().unwrap_or_default())
}
