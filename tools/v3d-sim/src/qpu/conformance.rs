//! Random programs that every engine must execute exactly as the reference datapath does.
//!
//! A case consists of a suite and a number, which together seed a program, its data and the responses of its peripherals. It is executed with the reference
//! datapath, and then by each of the other engines:
//!
//! | [`Engine`] | what executes |
//! |---|---|
//! | `Reference` | element by element, as the guide defines the instructions: the standard for the others |
//! | `Fast` | in the same way as a job's programs: with this host's best engine, and translated once a block is hot |
//! | `Kind` | by one of the [kinds](EngineKind) that this host has; translated before the first instruction, if it translates |
//! | `Traced` | in vectors, one instruction at a time, with a trace for the timing model, which must contain each instruction |
//!
//! All registers, flags, writes to peripherals, faults and all of memory must be the same after each run. A case in which only the preamble had an effect tests
//! nothing, and counts as a failure.

mod case;
mod peripherals;

pub use case::{CODE, Case, Engine, MAX_INSTRUCTIONS, MEMORY_BYTES, Outcome};

use crate::qpu::{EngineKind, Launch, Threading};
use crate::random::{Failure, Random};
use std::ops::Range;
use v3d_hw::BusAddr;
use v3d_hw::Layout;
use v3d_hw::qpu::address_map::NOP;
use v3d_hw::qpu::{
    AddOp, Alu, Branch, BranchCondition, Condition, ImmediateKind, LoadImmediate, MulOp, Mux, Semaphore, Signal, Unpack,
};

/// The kind of a case's instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suite {
    /// The add ALU alone.
    Add,
    /// The mul ALU alone.
    Mul,
    /// Both ALUs, with flags and conditions.
    Conditions,
    /// All pack and unpack modes.
    Pack,
    /// Rotations and small immediates.
    Rotate,
    /// Load immediate and semaphore instructions.
    Immediates,
    /// Branches of all kinds, with their delay slots.
    Branches,
    /// All peripherals.
    Peripherals,
    /// Threaded programs with switches.
    Threads,
    /// Any words.
    Words,
    /// Floats of ordinary sizes, with flags and conditions: most sums and products need no check of their results.
    Ordinary,
    /// Both operations overwrite what the other reads, and zeros are made of ports that read nothing.
    Exchanges,
    /// The end of the program and its delay slots access the tile buffer.
    Endings,
    /// Programs that run several times, often without having filled the registers that they read.
    Repeats,
}

impl Suite {
    /// All suites with their names.
    pub const ALL: [(Self, &'static str); 14] = [
        (Self::Add, "add"),
        (Self::Mul, "mul"),
        (Self::Conditions, "conditions"),
        (Self::Pack, "pack"),
        (Self::Rotate, "rotate"),
        (Self::Immediates, "immediates"),
        (Self::Branches, "branches"),
        (Self::Peripherals, "peripherals"),
        (Self::Threads, "threads"),
        (Self::Words, "words"),
        (Self::Ordinary, "ordinary"),
        (Self::Exchanges, "exchanges"),
        (Self::Endings, "endings"),
        (Self::Repeats, "repeats"),
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(suite, _)| *suite == self).map_or("", |&(_, name)| name)
    }
}

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Cases that were executed.
    pub cases: u64,
    /// Instructions executed by each engine.
    pub instructions: u64,
    /// Cases with a fault.
    pub with_faults: u64,
    /// Instructions executed in translated code.
    pub translated: u64,
    /// Runs that repeated the one before without a start in full.
    pub repeated: u64,
}

/// Executes cases of a suite with every engine of this host, until one fails.
pub fn run(suite: Suite, cases: Range<u64>) -> Result<Summary, Failure> {
    let kinds = EngineKind::available().into_iter().map(Engine::Kind);
    run_engines(suite, cases, &[Engine::Fast, Engine::Traced].into_iter().chain(kinds).collect::<Vec<_>>())
}

/// The same with one kind of engine.
pub fn run_engine(suite: Suite, cases: Range<u64>, kind: EngineKind) -> Result<Summary, Failure> {
    run_engines(suite, cases, &[Engine::Kind(kind)])
}

fn run_engines(suite: Suite, cases: Range<u64>, engines: &[Engine]) -> Result<Summary, Failure> {
    let mut summary = Summary::default();
    for case in cases {
        let outcome = run_case(suite, case, engines).map_err(|what| Failure { suite: suite.name(), case, what })?;
        summary.cases += 1;
        summary.instructions += outcome.executed;
        summary.with_faults += u64::from(outcome.faults.total() != 0);
        summary.translated += outcome.translated;
        summary.repeated += outcome.repeated;
    }
    Ok(summary)
}

const UNIFORMS: u32 = 0x3000;
/// Length of the preamble, which fills files A and B, r0 to r3 and the flags.
const PREAMBLE: u64 = 38;
/// Maximum length of a program's body.
const BODY: usize = 24;
const BUDGET: u64 = 400;
/// Further runs of a program that is repeated.
const REPEATS: usize = 3;

fn run_case(suite: Suite, case: u64, engines: &[Engine]) -> Result<Outcome, String> {
    let ordinary = suite == Suite::Ordinary;
    let mut random = Random::new(suite as u64 + 1, case).with_ordinary_values(ordinary);
    let words = program(suite, &mut random);
    let data = random.next_u64();
    let mut launch = Launch {
        pc: BusAddr(CODE),
        uniforms: BusAddr(UNIFORMS),
        uniforms_limit: (random.below(4) != 0).then(|| 40 + random.below(40)),
        ra15: random.lanes(),
        rb15: random.lanes(),
        threading: if suite == Suite::Threads { Threading::Threaded } else { Threading::Single },
        qpu: random.below(12) as u8,
        undefined_elements: 0,
        record: None,
    };
    if random.one_in(4) {
        // The uniforms are at the end of memory, and their number may be limited.
        launch.uniforms = BusAddr(MEMORY_BYTES - 4 * random.below(20));
        launch.uniforms_limit = random.one_in(2).then(|| random.below(20));
    }
    let varyings = PREAMBLE as u32 + random.below(40);
    if random.one_in(8) {
        // Branches follow the other elements.
        launch.undefined_elements = random.below(u32::from(u16::MAX)) as u16;
    }
    let mut launches = vec![launch];
    if suite == Suite::Repeats {
        let pc = BusAddr(CODE + if random.one_in(2) { 8 * PREAMBLE as u32 } else { 0 });
        let first =
            Launch { pc, uniforms: BusAddr(UNIFORMS), uniforms_limit: None, qpu: 0, undefined_elements: 0, ..launch };
        launches = vec![first];
        for _ in 0..REPEATS {
            let uniforms = BusAddr(UNIFORMS + 4 * random.below(64));
            launches.push(Launch { ra15: random.lanes(), rb15: random.lanes(), uniforms, ..first });
        }
    }
    let case = Case { words, launches, data, varyings, ordinary, refused: 10, busy: false, budgets: vec![BUDGET] };
    let reference = case.check(engines)?;
    let start = Case { budgets: vec![PREAMBLE], ..case };
    let before = start.execute(Engine::Reference, &start.data());
    // Without the preamble, operations on zeros may have no effect.
    let has_preamble = start.launches.iter().all(|launch| launch.pc.0 == CODE);
    let idle = has_preamble
        && before.qpu.registers().visible() == reference.qpu.registers().visible()
        && before.written == reference.written
        && before.memory == reference.memory;
    if idle {
        return Err("nothing happened".to_owned());
    }
    Ok(reference)
}

const VARYING_ADDRESS: u8 = 35;
/// The addresses of stencil set-up, Z and both kinds of colour.
const TILE_BUFFER: [u8; 4] = [43, 44, 45, 46];

/// The word of an instruction.
pub fn encoded(layout: &impl Layout) -> u64 {
    layout.to_bits().unwrap_or(0) as u64
}

/// Instructions that load values other than 0 into registers of both files, r0 to r3 and the flags.
pub fn filling(registers: impl Iterator<Item = u8>) -> impl Iterator<Item = Alu> {
    let both = Alu {
        cond_add: Condition::Always,
        cond_mul: Condition::Always,
        op_add: AddOp::Or,
        op_mul: MulOp::V8min,
        raddr_a: VARYING_ADDRESS,
        raddr_b: VARYING_ADDRESS,
        add_a: Mux::A,
        add_b: Mux::A,
        mul_a: Mux::B,
        mul_b: Mux::B,
        ..Alu::NOP
    };
    let alone = Alu { cond_mul: Condition::Never, ..both };
    registers
        .map(move |register| Alu { waddr_add: register, waddr_mul: register, ..both })
        .chain((0..4).map(move |accumulator| Alu { waddr_add: 32 + accumulator, ..alone }))
        .chain([Alu { sf: true, ..alone }])
}

fn program(suite: Suite, random: &mut Random) -> Vec<u64> {
    // A thread has half of the registers. Accesses to the others are faults, and a program with such accesses is only executed one instruction at a time.
    let registers = if suite == Suite::Threads && !random.one_in(3) { 16 } else { 32 };
    let filling = filling((0..32).map(|register| register % registers));
    let mut words: Vec<u64> = filling.map(|alu| encoded(&alu)).collect();
    words.push(encoded(&Alu::NOP));
    // The body follows; its first instruction always has an effect.
    words.push(encoded(&Alu {
        waddr_add: 32,
        waddr_mul: 33,
        op_add: AddOp::Add,
        op_mul: MulOp::Fmul,
        add_a: Mux::R0,
        add_b: Mux::R1,
        mul_a: Mux::R2,
        mul_b: Mux::R3,
        cond_add: Condition::Always,
        cond_mul: Condition::Always,
        ..Alu::NOP
    }));
    for position in 0..BODY {
        words.push(instruction(suite, registers, random, position));
    }
    let mut ending = [Alu { sig: Signal::ProgramEnd, ..Alu::NOP }, Alu::NOP, Alu::NOP];
    if suite == Suite::Endings {
        ending.iter_mut().for_each(|alu| access_tile_buffer(alu, random));
    }
    words.extend(ending.iter().map(encoded));
    words
}

/// Has an instruction without operations write to the tile buffer, or unlock the scoreboard.
fn access_tile_buffer(alu: &mut Alu, random: &mut Random) {
    if random.one_in(2) {
        alu.op_mul = MulOp::V8min;
        alu.cond_mul = Condition::Always;
        (alu.mul_a, alu.mul_b) = (Mux::R0, Mux::R0);
        alu.waddr_mul = random.pick(&TILE_BUFFER);
    }
    if alu.sig == Signal::None && random.one_in(3) {
        alu.sig = Signal::ScoreboardUnlock;
    }
}

fn instruction(suite: Suite, registers: u8, random: &mut Random, position: usize) -> u64 {
    match suite {
        // Neighbours rarely break a rule that way, so that most programs run in one piece.
        Suite::Repeats if position % 2 == 1 => encoded(&Alu::NOP),
        Suite::Repeats if random.one_in(20) => branch(random, position),
        Suite::Repeats => {
            let plain = [Suite::Conditions, Suite::Pack, Suite::Rotate, Suite::Ordinary];
            let like = if random.one_in(12) { Suite::Peripherals } else { random.pick(&plain) };
            encoded(&operation(like, registers, random))
        }
        Suite::Immediates if random.one_in(2) => immediate(random),
        Suite::Branches if random.one_in(5) => branch(random, position),
        Suite::Words => {
            let word = random.next_u64();
            // Program ends and breakpoints would end most programs early.
            if matches!(word >> 60, 0 | 3 | 9) && !random.one_in(8) { word ^ 1 << 60 | 1 << 62 } else { word }
        }
        _ => encoded(&operation(suite, registers, random)),
    }
}

fn operation(suite: Suite, registers: u8, random: &mut Random) -> Alu {
    let condition = |random: &mut Random| {
        let chances = if matches!(suite, Suite::Conditions | Suite::Branches) { 2 } else { 6 };
        if random.one_in(chances) { random.pick(Condition::ALL) } else { Condition::Always }
    };
    let destination = |random: &mut Random| {
        if random.one_in(2) { 32 + random.below(4) as u8 } else { random.below(registers.into()) as u8 }
    };
    let mut alu = Alu {
        cond_add: condition(random),
        cond_mul: condition(random),
        sf: random.one_in(3),
        ws: random.one_in(2),
        waddr_add: destination(random),
        waddr_mul: destination(random),
        op_mul: random.pick(MulOp::ALL),
        op_add: random.pick(AddOp::ALL),
        raddr_a: random.below(registers.into()) as u8,
        raddr_b: random.below(registers.into()) as u8,
        add_a: random.pick(Mux::ALL),
        add_b: random.pick(Mux::ALL),
        mul_a: random.pick(Mux::ALL),
        mul_b: random.pick(Mux::ALL),
        ..Alu::NOP
    };
    if random.one_in(4) {
        alu.sig = Signal::SmallImmediate;
        alu.raddr_b = random.below(48) as u8;
    }
    match suite {
        Suite::Add => {
            alu.op_mul = MulOp::Nop;
            alu.cond_mul = Condition::Never;
            alu.waddr_mul = NOP;
        }
        Suite::Mul => {
            alu.op_add = AddOp::Nop;
            alu.cond_add = Condition::Never;
            alu.waddr_add = NOP;
        }
        Suite::Pack => {
            alu.pm = random.one_in(2);
            alu.pack = random.below(16) as u8;
            alu.unpack = random.pick(Unpack::ALL);
        }
        Suite::Rotate => {
            alu.sig = Signal::SmallImmediate;
            alu.raddr_b = random.below(64) as u8;
        }
        Suite::Peripherals => peripherals(&mut alu, random),
        Suite::Exchanges => {
            let [first, second] = [random.below(4) as u8, random.below(4) as u8];
            (alu.waddr_add, alu.waddr_mul) = (32 + first, 32 + second);
            (alu.add_a, alu.mul_a) = (Mux::ALL[usize::from(second)], Mux::ALL[usize::from(first)]);
            if random.one_in(4) {
                (alu.op_add, alu.raddr_a) = (random.pick(&[AddOp::Sub, AddOp::Xor]), NOP);
                (alu.add_a, alu.add_b) = (Mux::A, Mux::A);
            }
            if random.one_in(4) {
                (alu.op_mul, alu.raddr_b) = (MulOp::V8subs, NOP);
                (alu.mul_a, alu.mul_b) = (Mux::B, Mux::B);
            }
            if random.one_in(8) {
                (alu.raddr_a, alu.raddr_b) = (NOP, NOP);
                (alu.add_b, alu.mul_b) = (Mux::A, Mux::B);
            }
            if random.one_in(4) {
                alu.pm = true;
                alu.pack = random.below(8) as u8;
            }
        }
        Suite::Ordinary => {
            if !random.one_in(4) {
                alu.op_add = random.pick(&[AddOp::Fadd, AddOp::Fsub, AddOp::Fmin, AddOp::Fmax, AddOp::Fmaxabs]);
            }
            if !random.one_in(4) {
                alu.op_mul = MulOp::Fmul;
            }
            if random.one_in(8) {
                alu.waddr_add = random.pick(&[52, 53, 54, 55]);
            }
        }
        Suite::Threads => {
            alu.raddr_a &= if random.one_in(20) { 31 } else { 15 };
            alu.raddr_b &= if alu.sig == Signal::SmallImmediate { 63 } else { 15 };
            for address in [&mut alu.waddr_add, &mut alu.waddr_mul] {
                *address = if *address < 32 { *address & 15 } else { *address };
            }
            if random.one_in(10) {
                alu.sig = random.pick(&[Signal::ThreadSwitch, Signal::LastThreadSwitch]);
            }
        }
        _ => {}
    }
    alu
}

fn peripherals(alu: &mut Alu, random: &mut Random) {
    if random.one_in(3) {
        alu.waddr_add = 36 + random.below(28) as u8;
    }
    if random.one_in(4) {
        alu.waddr_mul = 36 + random.below(28) as u8;
    }
    if random.one_in(3) {
        alu.raddr_a = 32 + random.below(32) as u8;
    }
    if random.one_in(3) && alu.sig != Signal::SmallImmediate {
        alu.raddr_b = 32 + random.below(32) as u8;
    }
    if random.one_in(3) {
        alu.sig = random.pick(&[
            Signal::ScoreboardWait,
            Signal::ScoreboardUnlock,
            Signal::LoadCoverage,
            Signal::LoadColor,
            Signal::LoadTmu0,
            Signal::LoadTmu1,
            Signal::LoadAlpha,
        ]);
    }
    if random.one_in(4) {
        alu.unpack = random.pick(Unpack::ALL);
        alu.pm = random.one_in(2);
    }
}

fn immediate(random: &mut Random) -> u64 {
    let kinds = [ImmediateKind::Word, ImmediateKind::PerElementSigned, ImmediateKind::PerElementUnsigned];
    let address =
        |random: &mut Random| if random.one_in(2) { random.below(32) as u8 } else { 32 + random.below(6) as u8 };
    let load = LoadImmediate {
        sig: Signal::LoadImmediate,
        kind: random.pick(&kinds),
        pm: random.one_in(3),
        pack: if random.one_in(2) { random.below(16) as u8 } else { 0 },
        cond_add: random.pick(Condition::ALL),
        cond_mul: random.pick(Condition::ALL),
        sf: random.one_in(3),
        ws: random.one_in(2),
        waddr_add: address(random),
        waddr_mul: address(random),
        immediate: random.value(),
    };
    if !random.one_in(4) {
        return encoded(&load);
    }
    // Semaphores are only incremented: no other program would end a wait.
    encoded(&semaphore(&load, false, random.below(16) as u8))
}

/// A semaphore instruction whose result is used like that of a load immediate.
pub fn semaphore(load: &LoadImmediate, decrement: bool, number: u8) -> Semaphore {
    Semaphore {
        sig: Signal::LoadImmediate,
        kind: ImmediateKind::Semaphore,
        pm: load.pm,
        pack: load.pack,
        cond_add: load.cond_add,
        cond_mul: load.cond_mul,
        sf: load.sf,
        ws: load.ws,
        waddr_add: load.waddr_add,
        waddr_mul: load.waddr_mul,
        unused: load.immediate >> 5,
        sa: decrement,
        semaphore: number,
    }
}

fn branch(random: &mut Random, position: usize) -> u64 {
    // Anywhere in the body, relative to the instruction after the delay slots; a register could lead anywhere.
    let target = random.below(BODY as u32 + 1) as i32;
    encoded(&Branch {
        sig: Signal::Branch,
        unused: 0,
        cond_br: random.pick(BranchCondition::ALL),
        rel: true,
        reg: false,
        raddr_a: 2 * random.below(16) as u8,
        ws: random.one_in(2),
        waddr_add: random.pick(&[NOP, 3, 32]),
        waddr_mul: random.pick(&[NOP, 7, 33]),
        immediate: (target - position as i32 - 4) * 8,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The error term of a sum overflows, though the sum does not.
    #[test]
    fn sums_of_very_large_numbers_are_rounded_toward_zero() {
        run(Suite::Add, 33329..33330).unwrap_or_else(|failure| panic!("{failure}"));
    }

    #[test]
    fn each_engine_does_what_the_reference_engine_does() {
        crate::simd::report_missing_levels();
        let translating = EngineKind::available().into_iter().filter(|kind| kind.translates()).count() as u64;
        for (suite, name) in Suite::ALL {
            let summary = run(suite, 0..300).unwrap_or_else(|failure| panic!("{failure}"));
            assert_eq!(summary.cases, 300, "{name}");
            // The check that the programs' bodies are executed.
            assert!(summary.instructions > 300 * (PREAMBLE + 10), "{name}: {summary:?}");
            assert_eq!(summary.translated > 300 * PREAMBLE / 2, EngineKind::best().translates(), "{name}: {summary:?}");
            // Each engine that translates repeats as many.
            let repeats = suite == Suite::Repeats && translating > 0;
            assert_eq!(summary.repeated > 100 * translating, repeats, "{name}: {summary:?}");
        }
    }
}
