//! QPU programs that are mostly well-formed, generated from a fuzzer's bytes.
//!
//! Programs of arbitrary words consist almost entirely of faults, which the sequencer executes one by one. Block execution and translated code need programs
//! that keep the rules: a few bytes select the purpose of an instruction, eight are its word, and fields of the word that make no sense for the purpose are
//! replaced. Loops have counters, so they end. Most programs are careful: they contain nops where a rule would be broken.

use arbitrary::{Result, Unstructured};
use v3d_hw::qpu::address_map::{NOP, TmuCoordinate, WriteTarget};
use v3d_hw::qpu::{
    AddOp, Alu, BRANCH_DELAY_SLOTS, Branch, BranchCondition, Condition, INSTRUCTION_BYTES, ImmediateKind,
    LoadImmediate, Mux, Signal, THREAD_DELAY_SLOTS, Unpack,
};
use v3d_hw::{BusAddr, Layout};
use v3d_sim::qpu::conformance::{self, CODE, Case, MAX_INSTRUCTIONS, MEMORY_BYTES, encoded};
use v3d_sim::qpu::isa::instruction::DecodedInstruction;
use v3d_sim::qpu::isa::touches::Touches;
use v3d_sim::qpu::lanes::Lanes;
use v3d_sim::qpu::{Launch, Threading};

/// Number of bytes that become one or a few instructions.
const STEP_BYTES: usize = 11;
/// Maximum nesting of loops.
const DEEPEST: usize = 3;
/// The register of file A that counts the outermost loop, low enough for threaded programs.
const FIRST_COUNTER: u8 = 10;
/// Maximum number of instructions that a run executes.
const MAX_EXECUTED: u64 = 1000;

/// Purpose of a step of a program.
#[derive(Clone, Copy, Debug)]
enum Purpose {
    Arithmetic,
    Stream,
    SpecialFunction,
    Lookup,
    LookupResult,
    Tile,
    Peripheral,
    UniformsAddress,
    Immediate,
    PeripheralImmediate,
    LoopBegin,
    LoopEnd,
    Branch,
    Switch,
    Semaphore,
    End,
    Anything,
}

/// Meaning of the first byte of a step.
const PURPOSES: [Purpose; 32] = {
    use Purpose::*;
    [
        Arithmetic,
        Arithmetic,
        Arithmetic,
        Arithmetic,
        Arithmetic,
        Arithmetic,
        Arithmetic,
        Arithmetic,
        Arithmetic,
        Arithmetic,
        Stream,
        Stream,
        Stream,
        SpecialFunction,
        Lookup,
        Lookup,
        LookupResult,
        Tile,
        Tile,
        Peripheral,
        UniformsAddress,
        UniformsAddress,
        Immediate,
        PeripheralImmediate,
        LoopBegin,
        LoopEnd,
        LoopEnd,
        Branch,
        Switch,
        Semaphore,
        End,
        Anything,
    ]
};

/// A case from any number of bytes.
pub(crate) fn case(u: &mut Unstructured<'_>) -> Result<Case> {
    let data = u64::from(u.arbitrary::<u32>()?);
    let options: u8 = u.arbitrary()?;
    let varyings = 4 * u32::from(u.arbitrary::<u8>()?);
    let threading = if options & 1 == 0 { Threading::Single } else { Threading::Threaded };
    let mut launches = Vec::new();
    for _ in 0..=options >> 1 & 1 {
        let ra15: u32 = u.arbitrary()?;
        launches.push(Launch {
            pc: BusAddr(CODE),
            uniforms: address(u)?,
            uniforms_limit: limit(u)?,
            ra15: Lanes::splat(ra15),
            rb15: Lanes::ELEMENT_NUMBERS.map(|i| ra15.wrapping_mul(i)),
            threading,
            qpu: (ra15 >> 8) as u8 % 12,
            undefined_elements: if ra15 >> 28 == 3 { (ra15 >> 12) as u16 } else { 0 },
            record: None,
        });
    }
    let mut budgets = Vec::new();
    for _ in 0..options >> 2 & 3 {
        budgets.push(u64::from(u.int_in_range(0..=200u8)?));
    }
    budgets.push(MAX_EXECUTED - budgets.iter().sum::<u64>());
    let mut writer = Writer::new(options >> 5 & 3 != 3, threading);
    if options >> 7 == 0 {
        for instruction in conformance::filling(0..=writer.registers) {
            writer.push(&instruction);
        }
    }
    while !u.is_empty() && writer.words.len() < MAX_INSTRUCTIONS - 64 {
        let step = u.bytes(u.len().min(STEP_BYTES))?;
        writer.step(&mut Unstructured::new(step))?;
    }
    writer.end();
    let refused = if options >> 4 & 1 == 0 { u32::MAX } else { 6 };
    Ok(Case {
        words: writer.words,
        launches,
        data,
        varyings,
        ordinary: data & 7 == 0,
        refused,
        busy: options & 3 == 3,
        budgets,
    })
}

/// An address of uniforms: mostly near the end of memory, or shortly after it.
fn address(u: &mut Unstructured<'_>) -> Result<BusAddr> {
    Ok(BusAddr(near_the_end(u.arbitrary()?, u.arbitrary()?)))
}

/// An address computed from a number, most of whose bits are ignored; `way` selects how.
fn near_the_end(number: u32, way: u8) -> u32 {
    let alias = number & 0xc000_0000;
    match way % 8 {
        0..4 => alias | (MEMORY_BYTES - 4096).wrapping_add(number & 0xffc),
        4 | 5 => alias | MEMORY_BYTES.wrapping_add(16).wrapping_sub(number & 0xff),
        6 => number & 0x7fff,
        _ => number,
    }
}

/// The number of uniforms.
fn limit(u: &mut Unstructured<'_>) -> Result<Option<u32>> {
    let limit: u8 = u.arbitrary()?;
    Ok((limit >= 0x80).then_some(u32::from(limit & 0x7f)))
}

/// A program under construction.
struct Writer {
    words: Vec<u64>,
    /// Whether instructions that do nothing are inserted where a rule would be broken.
    is_careful: bool,
    /// Whether the program may switch threads.
    is_threaded: bool,
    /// Mask of register numbers that may be used.
    registers: u8,
    /// What the last two instructions access.
    recent: [Touches; 2],
    /// Starts of the open loops.
    loops: Vec<usize>,
    /// Remaining delay slots, which careful programs fill with ordinary instructions.
    slots: u32,
    /// The furthest target of a branch.
    furthest: usize,
}

impl Writer {
    fn new(is_careful: bool, threading: Threading) -> Self {
        let registers = if is_careful && threading == Threading::Threaded { 15 } else { 31 };
        Self {
            words: Vec::new(),
            is_careful,
            is_threaded: threading == Threading::Threaded,
            registers,
            recent: [Touches::default(); 2],
            loops: Vec::new(),
            slots: 0,
            furthest: 0,
        }
    }

    fn append(&mut self, word: u64) {
        self.words.push(word);
        self.slots = self.slots.saturating_sub(1);
        self.recent = [DecodedInstruction::decode(word).touches, self.recent[0]];
    }

    fn nop(&mut self) {
        self.append(encoded(&Alu::NOP));
    }

    /// Prepares for an instruction; `false` if it must be left out.
    fn settle(&mut self, word: u64) -> bool {
        let op = DecodedInstruction::decode(word);
        if !self.is_careful {
            return true;
        }
        let fits = op.broken.is_empty() && (self.slots == 0 || op.plain);
        if fits {
            // Two nops suffice for every rule.
            while !op.touches.hazards(&self.recent[0], &self.recent[1]).is_empty() {
                self.nop();
            }
        }
        fits
    }

    /// Fills delay slots.
    fn fill_slots(&mut self) {
        while self.slots > 0 {
            self.nop();
        }
    }

    /// Appends an instruction, or a nop if it breaks a rule by itself.
    fn push(&mut self, layout: &impl Layout) {
        self.push_word(encoded(layout));
    }

    fn push_word(&mut self, word: u64) {
        let word = if self.settle(word) { word } else { encoded(&Alu::NOP) };
        self.append(word);
    }

    fn step(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let purpose = PURPOSES[usize::from(u.arbitrary::<u8>()? % 32)];
        let way: u8 = u.arbitrary()?;
        let which: u8 = u.arbitrary()?;
        let word: u64 = u.arbitrary()?;
        let alu = self.arithmetic(word, way);
        match purpose {
            Purpose::Arithmetic => self.push(&alu),
            Purpose::Stream => self.push(&reads(alu, which)),
            Purpose::SpecialFunction => self.push(&writes(alu, 52 + which % 4, which >> 2)),
            Purpose::Lookup => self.lookup(alu, which, word),
            Purpose::LookupResult => {
                let sig = if which & 1 == 0 { Signal::LoadTmu0 } else { Signal::LoadTmu1 };
                self.push(&self.signalling(alu, sig));
            }
            Purpose::Tile => self.tile(alu, which),
            Purpose::Peripheral => {
                let address = [36, 37, 38, 41, 42, 47, 48, 51][usize::from(which % 8)];
                self.push(&writes(alu, address, which >> 3));
            }
            Purpose::UniformsAddress => self.uniforms_address(alu, which, word as u32),
            Purpose::Immediate => self.push(&self.immediate(word, way)),
            Purpose::PeripheralImmediate => {
                let address = [37, 40, 44, 48, 49, 50, 52, 56][usize::from(which % 8)];
                self.push(&LoadImmediate {
                    waddr_add: address,
                    cond_mul: Condition::Never,
                    pack: 0,
                    ..self.immediate(word, way)
                });
            }
            Purpose::LoopBegin => self.begin_loop(which),
            Purpose::LoopEnd => self.end_loop(),
            Purpose::Branch => self.branch(word, way),
            Purpose::Switch => self.switch(alu, which),
            Purpose::Semaphore => self.semaphore(word, which),
            Purpose::End => self.push(&self.signalling(
                alu,
                [Signal::ProgramEnd, Signal::LoadColorEnd, Signal::Breakpoint, Signal::None][usize::from(which % 4)],
            )),
            Purpose::Anything => self.push_word(word),
        }
        Ok(())
    }

    /// An instruction on registers and accumulators, made from a word with nonsensical fields replaced.
    fn arithmetic(&self, word: u64, way: u8) -> Alu {
        let mut alu = Alu::from_bits(u128::from(word));
        alu.sig = if way & 1 == 0 { Signal::None } else { Signal::SmallImmediate };
        if way & 2 == 0 {
            alu.cond_add = Condition::Always;
        }
        if way & 4 == 0 {
            alu.cond_mul = Condition::Always;
        }
        alu.sf &= way & 8 != 0;
        if way & 0x30 != 0x30 {
            (alu.unpack, alu.pack) = (Unpack::None, 0);
        }
        if matches!(alu.op_add, AddOp::Reserved(_)) {
            alu.op_add = AddOp::from_code(alu.op_add.code() & 7);
        }
        for address in [&mut alu.waddr_add, &mut alu.waddr_mul] {
            *address = match *address {
                0..32 => *address & self.registers,
                32..56 => 32 + *address % 4,
                56..60 => 37,
                _ => NOP,
            };
        }
        alu.raddr_a &= self.registers;
        if way & 1 == 0 {
            alu.raddr_b &= self.registers;
        } else if way & 0x40 == 0 {
            // Not rotated.
            alu.raddr_b &= 31;
        }
        alu
    }

    /// An instruction with a signal in place of a small immediate.
    fn signalling(&self, alu: Alu, sig: Signal) -> Alu {
        Alu { sig, raddr_b: alu.raddr_b & self.registers, ..alu }
    }

    /// Writes coordinates of a TMU: a lookup of a word that is mostly in memory, or with parameters from arbitrary uniforms.
    fn lookup(&mut self, alu: Alu, which: u8, word: u64) {
        let unit = which >> 2 & 1;
        let coordinate = |name| {
            (56..64).find(|&address| {
                WriteTarget::of(v3d_hw::qpu::File::A, address) == WriteTarget::Tmu { unit, coordinate: name }
            })
        };
        let name = [TmuCoordinate::S, TmuCoordinate::S, TmuCoordinate::T, TmuCoordinate::B][usize::from(which & 3)];
        let Some(address) = coordinate(name) else { return };
        if which & 8 == 0 {
            self.push(&writes(alu, address, which >> 4));
        } else {
            self.push(&load(address, near_the_end(word as u32, which >> 4)));
        }
    }

    /// Accesses the tile buffer.
    fn tile(&mut self, alu: Alu, which: u8) {
        const SIGNALS: [Signal; 5] = [
            Signal::ScoreboardWait,
            Signal::ScoreboardUnlock,
            Signal::LoadColor,
            Signal::LoadCoverage,
            Signal::LoadAlpha,
        ];
        match SIGNALS.get(usize::from(which & 15)) {
            Some(&sig) => self.push(&self.signalling(alu, sig)),
            None => self.push(&writes(alu, 43 + which % 4, which >> 4)),
        }
    }

    /// Sets the uniforms' address: to an immediate, or to a uniform plus something.
    fn uniforms_address(&mut self, alu: Alu, which: u8, number: u32) {
        const ADDRESS: u8 = 40;
        if which & 1 == 0 {
            return self.push(&load(ADDRESS, near_the_end(number, which >> 1)));
        }
        if which & 2 == 0 {
            self.push(&load(32, near_the_end(number, which >> 2)));
        }
        let added = Alu { op_add: if which & 0x80 == 0 { AddOp::Or } else { AddOp::Add }, add_a: Mux::R0, ..alu };
        self.push(&writes(added, ADDRESS, 0));
    }

    fn immediate(&self, word: u64, way: u8) -> LoadImmediate {
        let alu = self.arithmetic(word, way & !1);
        let number = word as u32;
        LoadImmediate {
            sig: Signal::LoadImmediate,
            kind: match way >> 6 {
                0 => ImmediateKind::PerElementSigned,
                1 => ImmediateKind::PerElementUnsigned,
                _ => ImmediateKind::Word,
            },
            pm: alu.pm,
            pack: alu.pack,
            cond_add: alu.cond_add,
            cond_mul: alu.cond_mul,
            sf: alu.sf,
            ws: alu.ws,
            waddr_add: alu.waddr_add,
            waddr_mul: alu.waddr_mul,
            immediate: match way & 1 {
                0 => number,
                // Floats of a similar size.
                _ => number & 0x807f_ffff | (100 + (number >> 24) % 56) << 23,
            },
        }
    }

    /// Switches threads, perhaps followed by writes to everything that the switch leaves undefined.
    fn switch(&mut self, alu: Alu, which: u8) {
        if self.is_careful && !self.is_threaded {
            return;
        }
        self.fill_slots();
        let sig = if which & 15 == 15 { Signal::LastThreadSwitch } else { Signal::ThreadSwitch };
        self.push(&self.signalling(alu, sig));
        self.slots = THREAD_DELAY_SLOTS;
        if which & 16 == 0 {
            self.fill_slots();
            let value = u32::from(which).wrapping_mul(0x0123_4567);
            for accumulator in 0..4 {
                self.push(&load(32 + accumulator, value.rotate_left(accumulator.into())));
            }
            self.push(&load(37, value));
            self.push(&LoadImmediate { sf: true, ..load(52, value) });
        }
    }

    fn begin_loop(&mut self, which: u8) {
        if self.loops.len() == DEEPEST {
            return;
        }
        let counter = FIRST_COUNTER + self.loops.len() as u8;
        self.push(&load(counter, u32::from(which % 32)));
        self.loops.push(self.words.len());
    }

    /// Decrements a loop's counter, and branches to its start until it is 0.
    fn end_loop(&mut self) {
        let Some(begin) = self.loops.pop() else { return };
        let counter = FIRST_COUNTER + self.loops.len() as u8;
        self.push(&Alu {
            sig: Signal::SmallImmediate,
            cond_add: Condition::Always,
            sf: true,
            waddr_add: counter,
            op_add: AddOp::Sub,
            raddr_a: counter,
            raddr_b: 1,
            add_a: Mux::A,
            add_b: Mux::B,
            ..Alu::NOP
        });
        self.branch_to(begin, BranchCondition::AnyZClear, NOP);
        self.fill_slots();
    }

    /// A branch over some instructions, or back over some. The following instructions are in its delay slots.
    fn branch(&mut self, word: u64, way: u8) {
        let at = self.words.len();
        let target = match way & 1 {
            0 => at + 4 + usize::from(way >> 1 & 15),
            _ => at.saturating_sub(usize::from(way >> 1 & 31)),
        };
        let condition = BranchCondition::from_code((word >> 52) as u8 & 15);
        let link = if way & 0x80 == 0 { NOP } else { (word >> 32) as u8 & self.registers };
        self.branch_to(target, condition, link);
    }

    fn branch_to(&mut self, target: usize, cond_br: BranchCondition, link: u8) {
        let branch = Branch {
            sig: Signal::Branch,
            unused: 0,
            cond_br,
            rel: true,
            reg: false,
            raddr_a: 0,
            ws: false,
            waddr_add: link,
            waddr_mul: NOP,
            immediate: 0,
        };
        self.fill_slots();
        self.settle(encoded(&branch));
        let from = self.words.len() + 1 + BRANCH_DELAY_SLOTS as usize;
        let immediate = (target as i32 - from as i32) * INSTRUCTION_BYTES as i32;
        self.push(&Branch { immediate, ..branch });
        self.slots = BRANCH_DELAY_SLOTS;
        self.furthest = self.furthest.max(target);
    }

    fn semaphore(&mut self, word: u64, which: u8) {
        let load = self.immediate(word, 0);
        self.push(&conformance::semaphore(&load, which & 16 != 0, which & 15));
    }

    /// Ends the loops and the program.
    fn end(&mut self) {
        while !self.loops.is_empty() {
            self.end_loop();
        }
        self.fill_slots();
        while self.words.len() < self.furthest {
            self.nop();
        }
        self.push(&Alu { sig: Signal::ProgramEnd, ..Alu::NOP });
        for _ in 0..THREAD_DELAY_SLOTS {
            self.nop();
        }
    }
}

/// A 32-bit immediate to an address of file A.
fn load(address: u8, immediate: u32) -> LoadImmediate {
    LoadImmediate {
        sig: Signal::LoadImmediate,
        kind: ImmediateKind::Word,
        pm: false,
        pack: 0,
        cond_add: Condition::Always,
        cond_mul: Condition::Never,
        sf: false,
        ws: false,
        waddr_add: address,
        waddr_mul: NOP,
        immediate,
    }
}

/// The instruction with one or two operands read from a peripheral.
fn reads(mut alu: Alu, which: u8) -> Alu {
    // Uniforms are the most frequent.
    let address = [32, 32, 32, 35, 35, 48, 48, 38, NOP, 41, 42, 49, 50, 51, 32, 32][usize::from(which & 15)];
    (alu.unpack, alu.add_a) = (Unpack::None, Mux::A);
    match which >> 4 & 3 {
        0 | 1 => alu.raddr_a = address,
        2 => {
            (alu.sig, alu.raddr_b, alu.add_a, alu.mul_b) = (Signal::None, address, Mux::B, Mux::B);
        }
        _ => {
            (alu.sig, alu.raddr_a, alu.raddr_b, alu.mul_b) = (Signal::None, address, address, Mux::B);
        }
    }
    alu
}

/// The instruction with a result that goes to a peripheral: the add ALU's, or the mul ALU's in one of four ways.
fn writes(mut alu: Alu, address: u8, way: u8) -> Alu {
    if way & 3 == 3 {
        (alu.waddr_mul, alu.cond_mul) = (address, Condition::Always);
        if alu.pm {
            alu.pack = 0;
        }
    } else {
        (alu.waddr_add, alu.cond_add) = (address, Condition::Always);
    }
    alu
}
