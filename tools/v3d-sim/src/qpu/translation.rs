//! Dynamic translation: hot blocks of QPU code as code of the host.
//!
//! [Block execution](crate::qpu::block::execution) interprets [micro-ops](crate::qpu::block::micro_op). A block that is executed often is translated: the
//! host can round as the QPU does, and its vector registers hold registers of the QPU. Only instructions that block execution executes without the sequencer
//! are translated. A micro-op that needs another unit (the lookup of a TMU, VPM, tile buffer), or is rare, becomes a call back to the interpreter, so that each
//! micro-op has one definition and translated code never does more than block execution. Coordinates and results go to and from the FIFOs of a TMU, the
//! scoreboard is taken, and samples of a tile are accessed, without a call.
//!
//! | module | what it holds |
//! |---|---|
//! | `translator` | segments, branches, uniforms, calls |
//! | `lowering` | what micro-ops mean, in operations of a host; `lowering::sfu`: the functions of the SFU |
//! | `host` | the operations of a host; `host::avx2`, `host::avx512` and `host::neon` encode them |
//! | `register_cache` | the assignment of host registers to QPU registers |
//! | `accesses` | which values are read again |
//! | `bounds` | which floats are known to be too small to overflow |
//! | `frame` | data that the code and the model share while the code runs |
//! | `constants`, `numbers` | constants |
//! | `code` | executable memory |
//! | `slot` | the translation of a block, which the block owns |
//! | `entry` | the call into translated code, and its calls back; `entry::x86` and `entry::aarch64`: their calling convention |
//!
//! Hosts without such vectors, and hosts that do not allow executable memory, interpret; the results are the same.

mod accesses;
mod bounds;
mod code;
mod constants;
mod entry;
mod frame;
mod host;
mod lowering;
mod numbers;
mod register_cache;
pub(super) mod slot;
mod translator;

use crate::memory::Memory;
use crate::qpu::block::Block;
use crate::qpu::datapath::vector::Vectorized;
use crate::qpu::engine::Engine;
use crate::qpu::io::Io;
use crate::qpu::{EngineKind, Qpu};
use crate::simd::vectors::Portable;
use code::Code;
#[cfg(target_arch = "aarch64")]
use host::{aarch64::Reach, neon::Neon};
#[cfg(target_arch = "x86_64")]
use host::{avx2::Avx2, avx512::Avx512};
use std::sync::atomic::Ordering::Relaxed;
use translator::Translation;

/// Maximum number of instructions between two checks of whether a block has become hot; more than the length of any block.
const MAX_UNCHECKED_INSTRUCTIONS: u64 = 4096;

/// Computes in translated code if there is any, otherwise in vectors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Translated;

impl Engine for Translated {
    type Datapath = Vectorized<Portable<true>>;
    const TRUSTS_DECODER: bool = true;

    #[inline(always)]
    fn run_block(
        qpu: &mut Qpu,
        block: &Block,
        index: usize,
        io: &mut dyn Io,
        memory: Memory<'_>,
        budget: &mut u64,
    ) -> usize {
        let slot = &block.translation;
        let mut at = index;
        loop {
            let code = match slot.code.get() {
                None if slot.is_hot() => Some(slot.code.get_or_init(|| translation(block))),
                code => code,
            };
            let (limit, resumes) = match code {
                Some(Some(code)) => match code.segment(at) {
                    Some(segment) => {
                        // The sequencer reports branches that depend on elements without a vertex.
                        if qpu.undefined_elements == 0 && qpu.may_run_block(block, at) {
                            let before = *budget;
                            let next = entry::run(qpu, block, code, segment, io, memory, budget);
                            if *budget != before {
                                return next;
                            }
                        }
                        (*budget, false)
                    }
                    // A time slice may begin within a segment. Only the rest of that segment is interpreted, since execution may then reach the start of
                    // another segment.
                    None => (block.run_from(at).min(*budget), true),
                },
                Some(None) => (*budget, false),
                None => (MAX_UNCHECKED_INSTRUCTIONS.min(*budget), false),
            };
            let mut left = limit;
            at = entry::interpret(qpu, block, at, io, memory, &mut left);
            let executed = limit - left;
            *budget -= executed;
            if code.is_none() {
                slot.executed.fetch_add(executed as u32, Relaxed);
            }
            if !resumes || executed == 0 {
                return at;
            }
        }
    }
}

/// Runs the program that was [restarted](Qpu::restart), from the block that the last one ran in; whether it has ended. If not, it goes on as any other.
#[inline(always)]
pub(super) fn rerun<I: Io>(qpu: &mut Qpu, io: &mut I, memory: Memory<'_>, budget: &mut u64) -> bool {
    let Some(recent) = qpu.recent_blocks.take() else { return false };
    if let Some(block) = recent.current()
        && let Some(Some(code)) = block.translation.code.get()
        && let Some(segment) = code.segment(0)
    {
        entry::run_of(qpu, block, code, segment, io, memory, budget);
    }
    qpu.recent_blocks = Some(recent);
    qpu.ending.is_some()
}

/// Whether the host can execute code that is generated at run time.
pub(super) fn is_possible() -> bool {
    code::is_executable()
}

/// Translates a block. `None` on any failure: the block is then interpreted. An instruction that does not exist is a bug of a host's file, which debug builds
/// report.
fn translation(block: &Block) -> Option<Code> {
    let engine = block.translation.engine;
    let calls = entry::calls(engine)?;
    let translation = translate(engine, block)?
        .inspect_err(|error| debug_assert!(false, "instructions that do not exist are wanted: {error}"))
        .ok()??;
    Code::new(translation, calls, accesses::first_reads(block)).ok()
}

/// Translates a block for the host of an engine, if it has one.
#[cfg(target_arch = "x86_64")]
fn translate(engine: EngineKind, block: &Block) -> Option<Result<Option<Translation>, String>> {
    match engine {
        EngineKind::Avx2 => Some(translator::translate(block, Avx2::new())),
        EngineKind::Avx512 => Some(translator::translate(block, Avx512::new())),
        EngineKind::Reference | EngineKind::Vectors | EngineKind::Neon => None,
    }
}

/// Translates a block for the host of an engine, if it has one. A block for whose branches the near form is too short is translated with the other.
#[cfg(target_arch = "aarch64")]
fn translate(engine: EngineKind, block: &Block) -> Option<Result<Option<Translation>, String>> {
    let translate = |reach| translator::translate(block, Neon::new(reach));
    (engine == EngineKind::Neon).then(|| translate(Reach::Near).or_else(|_| translate(Reach::Far)))
}

#[cfg(test)]
mod tests {
    use crate::fault::Fault;
    use crate::fault::rule::Rule;
    use crate::memory::OutOfMemory;
    use crate::qpu::io::IoError;
    use crate::qpu::isa::{pack, registers};
    use crate::qpu::lanes::Lanes;
    use crate::qpu::test_words::{COLOUR, END, NOP, NoUnits, UNIFORM_TO_R0, memory_of};
    use crate::qpu::{CodeCache, EngineKind, Exit, Launch, Qpu, QpuError, QpuFault};
    use crate::random::Random;
    use crate::tmu::{Tmu, TmuFault};
    use v3d_hw::qpu::address_map::TmuCoordinate;
    use v3d_hw::qpu::{AddOp, Alu, Condition, MulOp, Mux, Signal, Unpack};
    use v3d_hw::{BusAddr, Layout};

    /// Register A 15 of the launch.
    const OPERAND: u8 = 15;

    /// The result of an instruction in r1 for an operand in A 15: interpreted by the host's best engine and in the vectors of every host, and translated if the
    /// host supports that.
    fn check(instruction: Alu, operands: impl Iterator<Item = u32>, expected: impl Fn(u32) -> u32) {
        crate::simd::report_missing_levels();
        let owned = memory_of(4096, &[instruction.to_bits().unwrap() as u64, NOP, END, NOP, NOP]);
        let memory = owned.view();
        let (translating, code) = (CodeCache::new().translating_eagerly(), CodeCache::new());
        let mut qpu = Qpu::new();
        let operands: Vec<u32> = operands.collect();
        for chunk in operands.chunks_exact(16) {
            let ra15 = Lanes(std::array::from_fn(|i| chunk[i]));
            for engine in ["translated", "interpreted", "vectors"] {
                qpu.start(&Launch { ra15, ..Launch::default() });
                let exit = match engine {
                    "translated" => qpu.run(&mut NoUnits, memory, &translating, &mut 100),
                    "interpreted" => qpu.run(&mut NoUnits, memory, &code, &mut 100),
                    _ => qpu.run_vectors(&mut NoUnits, memory, &code, &mut 100),
                };
                assert_eq!(exit, Exit::Ended);
                let found = qpu.registers().at(registers::ACCUMULATORS + 1);
                assert_eq!(*found, ra15.map(&expected), "{engine} {ra15:x?}");
            }
        }
    }

    /// Floats near every power of two, with both signs, infinities and NaN: the expected integers come from a remainder in double precision.
    #[test]
    fn floats_become_integers_modulo_2_to_the_32() {
        let places = [0, 1, 0x100, 0x12_3456, 0x40_0000, 0x6e_dcba, 0x7f_fffe, 0x7f_ffff];
        let floats = (1..=255_u32).flat_map(|exponent| places.map(|place| exponent << 23 | place));
        let operands = floats.flat_map(|float| [float, float | 0x8000_0000]);
        let ftoi = Alu {
            op_add: AddOp::Ftoi,
            cond_add: Condition::Always,
            waddr_add: 33,
            raddr_a: OPERAND,
            add_a: Mux::A,
            add_b: Mux::A,
            ..Alu::NOP
        };
        check(ftoi, operands, |x| {
            let value = f64::from(f32::from_bits(x));
            if value.is_finite() { value.trunc().rem_euclid(4_294_967_296.0) as u32 } else { 0 }
        });
    }

    /// The expected fractions are quotients in double precision, truncated.
    #[test]
    fn bytes_become_fractions_of_255() {
        for (unpack, shift) in [(Unpack::Byte0, 0), (Unpack::Byte1, 8), (Unpack::Byte2, 16), (Unpack::Byte3, 24)] {
            let fmin = Alu {
                op_add: AddOp::Fmin,
                cond_add: Condition::Always,
                waddr_add: 33,
                raddr_a: OPERAND,
                add_a: Mux::A,
                add_b: Mux::A,
                unpack,
                ..Alu::NOP
            };
            check(fmin, (0..256).map(|byte| byte << shift | !(0xff << shift)), |x| {
                let exact = f64::from(x >> shift & 0xff) / 255.0;
                let nearest = exact as f32;
                nearest.to_bits() - u32::from(f64::from(nearest) > exact)
            });
        }
    }

    #[test]
    fn colours_are_packed_whatever_bit_3_of_the_code_is() {
        // 0.2 * 255 is 51. The destination is 0, so bytes that are not written stay 0.
        for (pack, mask) in [(3, !0), (4, 0xff), (5, 0xff00), (6, 0xff_0000), (7, 0xff00_0000)] {
            for pack in [pack, pack | 8] {
                let operands = [0x3e4c_cccd, 0xbf80_0000, 0x4000_0000, 0x3f80_0000].repeat(4);
                let colours = |x| match x {
                    0x3e4c_cccd => 0x3333_3333,
                    0xbf80_0000 => 0,
                    _ => 0xffff_ffff_u32,
                };
                check(Alu { pm: true, pack, ..moved() }, operands.into_iter(), |x| colours(x) & mask);
            }
        }
        // Code 8 does not pack either.
        check(Alu { pm: true, pack: 8, ..moved() }, 0x3f80_0000..0x3f80_0010, |x| x);
    }

    /// A move of the operand to r1 by the mul ALU.
    fn moved() -> Alu {
        Alu {
            op_mul: MulOp::V8min,
            cond_mul: Condition::Always,
            waddr_mul: 33,
            raddr_a: OPERAND,
            mul_a: Mux::A,
            mul_b: Mux::A,
            ..Alu::NOP
        }
    }

    #[test]
    fn floats_become_the_colours_that_the_packer_makes() {
        let every_step = (0..=0x3f80_0000 >> 7).map(|i| i << 7 | i & 0x7f);
        let edges = [0x7fc0_0000, 0xffc0_0000, 0x7f80_0000, 0xff80_0000, 0xbf80_0000, 1, 0x8000_0001, 0x4000_0000];
        let replicated = Alu { pm: true, pack: 3, ..moved() };
        check(replicated, every_step.step_by(61).chain(edges.repeat(2)), |x| pack::float_to_colour(x) * 0x0101_0101);
    }

    #[test]
    fn bytes_become_the_floats_that_the_unpacker_makes() {
        let float = Alu {
            op_add: AddOp::Fmax,
            cond_add: Condition::Always,
            waddr_add: 33,
            raddr_a: OPERAND,
            add_a: Mux::A,
            add_b: Mux::A,
            ..Alu::NOP
        };
        for (i, mode) in [4_u8, 5, 6, 7].into_iter().enumerate() {
            let unpacked = Alu { unpack: v3d_hw::qpu::Unpack::from_code(mode), ..float };
            let bytes = (0..256).map(|byte| 0x5aa5_3cc3_u32.rotate_left(byte) & !(0xff << (8 * i)) | byte << (8 * i));
            check(unpacked, bytes, |x| pack::colour_to_float(x >> (8 * i) & 0xff));
        }
    }

    /// A program that takes three uniforms, the first two of which it writes to the VPM, has the same result as with the reference datapath.
    fn check_uniforms(uniforms: u32, uniforms_limit: Option<u32>) {
        /// mov vpm, unif
        const TO_VPM: u64 = 0x1002_0c27_1582_7d80;
        let words = [TO_VPM, TO_VPM, UNIFORM_TO_R0, NOP, END, NOP, NOP];
        let owned = memory_of(4096, &words);
        let memory = owned.view();
        for word in 2 * words.len() as u32..1024 {
            memory.set_word(BusAddr(4 * word), 0x1000 + word).unwrap();
        }
        let code = CodeCache::new().translating_eagerly();
        let run = |reference: bool| {
            let mut qpu = Qpu::new();
            qpu.start(&Launch { uniforms: BusAddr(uniforms), uniforms_limit, ..Launch::default() });
            let exit = match reference {
                true => qpu.run_reference(&mut NoUnits, memory, &code, &mut 100),
                false => qpu.run(&mut NoUnits, memory, &code, &mut 100),
            };
            let r0 = *qpu.registers().at(registers::ACCUMULATORS);
            (exit, r0, qpu.uniforms, qpu.uniforms_left, qpu.take_faults())
        };
        assert_eq!(run(false), run(true), "uniforms at {uniforms:#x}, {uniforms_limit:?} of them");
    }

    /// A program with lookups has these faults, and the same results and uniforms left as with the reference datapath. Its uniforms are those of a texture of
    /// RGBA8888, again and again.
    fn check_lookups(body: &str, expected: &[QpuError]) {
        let text = format!("mov r0, elem_num\nitof r1, r0\nfmul r1, r1, 1/16\n{body}\nthrend\nnop\nnop");
        let assembly = qpu::assemble(&[qpu::Source::new("test", &text)], &qpu::Options::default());
        let words = assembly.unwrap_or_else(|diagnostics| panic!("{diagnostics}")).words;
        let owned = memory_of(0x10000, &words);
        let memory = owned.view();
        let (texture, uniforms) = (0x4000, 0x2000);
        for word in texture / 4..0x2000 {
            memory.set_word(BusAddr(4 * word), word.wrapping_mul(0x9e37_79b9)).unwrap();
        }
        for (place, word) in (0..).zip([texture, 16 << 20 | 16 << 8].repeat(8)) {
            memory.set_word(BusAddr(uniforms + 4 * place), word).unwrap();
        }
        let code = CodeCache::new().translating_eagerly();
        let run = |reference: bool| {
            let mut qpu = Qpu::new();
            qpu.start(&Launch { uniforms: BusAddr(uniforms), ..Launch::default() });
            let exit = match reference {
                true => qpu.run_reference(&mut NoUnits, memory, &code, &mut 100),
                false => qpu.run(&mut NoUnits, memory, &code, &mut 100),
            };
            let results: Vec<_> = (0..5).map(|number| *qpu.registers().at(registers::ACCUMULATORS + number)).collect();
            let quads = qpu.tmu.each_mut().map(Tmu::take_quads);
            let faults = qpu.take_faults().faults().to_vec();
            (exit, results, qpu.uniforms, quads, faults)
        };
        let found = run(false);
        assert_eq!(found, run(true), "{body}");
        let errors = found.4.iter().map(|fault| match fault {
            Fault::Qpu(QpuFault { error, .. }) => error.clone(),
            other => panic!("{other:?} in {body}"),
        });
        assert_eq!(errors.collect::<Vec<_>>(), expected, "{body}");
    }

    #[test]
    fn lookups_keep_the_rules_of_uniforms_and_fifos() {
        let rule = [QpuError::Rule(Rule::UniformWithTmuWrite)];
        let overflow = |used| QpuError::Tmu(TmuFault::FifoOverflow { used, slots: 8 });
        // A texture, and words with and without a uniform in their address.
        check_lookups("mov t0t, r1\nmov t0s, r1\nnop\nldtmu0\nmov r2, r4", &[]);
        check_lookups("add t0s, r0, unif\nnop\nldtmu0\nmov r2, r4", &[]);
        check_lookups("mov t1s, r0\nnop\nldtmu1\nmov r2, r4", &[]);
        check_lookups("mov t0t, r1\nmov t0r, r1\nmov t0b, r1\nmov t0s, r1\nnop\nldtmu0\nmov r2, r4", &[]);
        // Two uniforms in one instruction are against the rules.
        check_lookups("mov t0t, r1\nmov r3, unif\nadd t0s, r1, unif\nnop\nldtmu0\nmov r2, r4", &rule);
        check_lookups("mov r3, unif\nadd t0t, r1, unif\nmov t0s, r1\nnop\nldtmu0\nmov r2, r4", &rule);
        // As many lookups as the FIFO has slots for, and more.
        check_lookups(&["mov t0t, r1\nmov t0s, r1"].repeat(4).join("\n"), &[]);
        check_lookups(&["mov t0t, r1\nmov t0s, r1"].repeat(5).join("\n"), &[overflow(10)]);
        check_lookups(&["mov t0s, r0"].repeat(8).join("\n"), &[]);
        check_lookups(&["mov t0s, r0"].repeat(9).join("\n"), &[overflow(9)]);
        // Results are received in order, and none is left at the end.
        let empty = QpuError::Tmu(TmuFault::ReceiveFifoEmpty);
        check_lookups("mov t0s, r0\nadd t0s, r0, 8\nnop\nldtmu0\nmov r2, r4\nldtmu0\nmov r3, r4\nldtmu0", &[empty]);
        // A coordinate is written twice.
        let twice = QpuError::Tmu(TmuFault::CoordinateTwice(TmuCoordinate::T));
        check_lookups("mov t0t, r1\nmov t0t, r0\nmov r3, unif\nmov t0s, r1\nnop\nldtmu0\nmov r2, r4", &[twice]);
        // Words beyond memory.
        let beyond = QpuError::Tmu(TmuFault::Memory(OutOfMemory { address: BusAddr(15 << 15), bytes: 4 }));
        check_lookups("mov r3, 15\nshl r3, r3, 15\nadd t0s, r0, r3\nnop\nldtmu0\nmov r2, r4", &[beyond]);
    }

    /// Sums and products of 20 uniforms at the end of memory, most of them small: with any that are large or infinite, the result is that of the reference
    /// datapath, on every engine.
    #[test]
    fn large_uniforms_are_found_wherever_they_are() {
        const UNIFORMS: u32 = 20;
        const SMALL: [f32; 4] = [1.0, -0.75, 1.5, 0.0];
        const LARGE: [f32; 6] = [3e38, -3e38, f32::INFINITY, f32::NAN, 2e9, -1e30];
        /// Reads a uniform through port A.
        const UNIFORM: u8 = 32;
        let taken = Alu { raddr_a: UNIFORM, ..Alu::NOP };
        let sum = Alu { op_add: AddOp::Fadd, cond_add: Condition::Always, waddr_add: 32, ..taken };
        let product = Alu { op_mul: MulOp::Fmul, cond_mul: Condition::Always, waddr_mul: 32, ..taken };
        let [sum, product] =
            [Alu { add_a: Mux::R0, add_b: Mux::A, ..sum }, Alu { mul_a: Mux::R0, mul_b: Mux::A, ..product }]
                .map(|alu| alu.to_bits().unwrap() as u64);
        let mut words = vec![UNIFORM_TO_R0];
        words.extend((1..UNIFORMS).map(|number| if number % 3 == 0 { product } else { sum }));
        words.extend([NOP, END, NOP, NOP]);
        let mut random = Random::new(0, 43);
        let (mut finite, mut infinite) = (0, 0);
        let kinds =
            [EngineKind::Avx2, EngineKind::Neon, EngineKind::Avx512].into_iter().filter(|kind| kind.is_available());
        let caches: Vec<CodeCache> = kinds.map(|kind| CodeCache::for_engine(kind).translating_eagerly()).collect();
        let owned = memory_of(4096, &words);
        let (memory, first) = (owned.view(), 4096 - 4 * UNIFORMS);
        for round in 0..600 {
            for number in 0..UNIFORMS {
                let value = if random.one_in(12) { random.pick(&LARGE) } else { random.pick(&SMALL) };
                memory.set_word(BusAddr(first + 4 * number), value.to_bits()).unwrap();
            }
            let run = |code: &CodeCache, reference: bool| {
                let mut qpu = Qpu::new();
                qpu.start(&Launch { uniforms: BusAddr(first), ..Launch::default() });
                let exit = match reference {
                    true => qpu.run_reference(&mut NoUnits, memory, code, &mut 100),
                    false => qpu.run(&mut NoUnits, memory, code, &mut 100),
                };
                (exit, *qpu.registers().at(registers::ACCUMULATORS), qpu.uniforms, qpu.take_faults())
            };
            let expected = run(&CodeCache::new(), true);
            for code in &caches {
                assert_eq!(run(code, false), expected, "round {round}, {}", code.engine());
            }
            let is_finite = f32::from_bits(expected.1.0[0]).is_finite();
            (finite, infinite) = (finite + u32::from(is_finite), infinite + u32::from(!is_finite));
        }
        assert!(finite > 50 && infinite > 50, "{finite} results are finite, {infinite} are not");
    }

    #[test]
    fn no_uniform_is_read_beyond_the_last() {
        for behind in 0..4 {
            check_uniforms(4096 - 4 * behind, None);
            check_uniforms(2048, Some(behind));
        }
        check_uniforms(0x3fff_fff0, None);
        check_uniforms(0xc000_0ffe, None);
    }

    /// A loop that is interrupted after every few instructions has the same result as with the reference datapath in one run.
    #[test]
    fn turns_may_begin_and_end_anywhere() {
        /// brr.anynz -, -40: from the third instruction to the second.
        const BACK: u64 = 0xf038_09e7_ffff_ffd8;
        const ROUNDS: u32 = 20;
        let [down, add] = [
            Alu {
                sig: Signal::SmallImmediate,
                op_add: AddOp::Sub,
                cond_add: Condition::Always,
                sf: true,
                waddr_add: 32,
                raddr_b: 1,
                add_a: Mux::R0,
                add_b: Mux::B,
                ..Alu::NOP
            },
            Alu {
                op_add: AddOp::Add,
                cond_add: Condition::Always,
                waddr_add: 33,
                add_a: Mux::R1,
                add_b: Mux::R0,
                ..Alu::NOP
            },
        ]
        .map(|alu| alu.to_bits().unwrap() as u64);
        let owned = memory_of(4096, &[UNIFORM_TO_R0, down, BACK, add, add, NOP, END, NOP, NOP]);
        let memory = owned.view();
        memory.set_word(BusAddr(1024), ROUNDS).unwrap();
        let launch = Launch { uniforms: BusAddr(1024), ..Launch::default() };
        let mut reference = Qpu::new();
        reference.start(&launch);
        let code = CodeCache::new().translating_eagerly();
        assert_eq!(reference.run_reference(&mut NoUnits, memory, &code, &mut 1000), Exit::Ended);
        assert_eq!(*reference.registers().at(registers::ACCUMULATORS + 1), Lanes::splat(ROUNDS * (ROUNDS - 1)));
        for turn in 1..40 {
            let mut qpu = Qpu::new();
            qpu.start(&launch);
            let mut turns = 1;
            while qpu.run(&mut NoUnits, memory, &code, &mut turn.clone()) != Exit::Ended {
                assert_eq!(qpu.executed(), turn * turns);
                turns += 1;
            }
            assert_eq!(qpu.executed(), reference.executed());
            assert_eq!(qpu.registers().visible(), reference.registers().visible(), "turns of {turn}");
            assert_eq!(qpu.take_faults(), reference.take_faults());
        }
    }

    /// Long code has the same result as the reference datapath: conditional branches of AArch64 reach 1 MB.
    #[test]
    fn code_may_be_long() {
        /// mov sfu_exp, ra15
        const EXP: u64 = 0x1002_0da7_153e_7d80;
        let sum = Alu {
            op_add: AddOp::Fadd,
            cond_add: Condition::Always,
            waddr_add: 32,
            raddr_a: OPERAND,
            add_a: Mux::R0,
            add_b: Mux::A,
            ..Alu::NOP
        };
        let mut words = [EXP, sum.to_bits().unwrap() as u64, NOP].repeat(330);
        words.extend([END, NOP, NOP]);
        let owned = memory_of(8 * words.len(), &words);
        let launch = Launch { ra15: Lanes(std::array::from_fn(|i| (i as f32 - 7.3).to_bits())), ..Launch::default() };
        let code = CodeCache::new().translating_eagerly();
        let run = |reference: bool| {
            let mut qpu = Qpu::new();
            qpu.start(&launch);
            let exit = match reference {
                true => qpu.run_reference(&mut NoUnits, owned.view(), &code, &mut 2000),
                false => qpu.run(&mut NoUnits, owned.view(), &code, &mut 2000),
            };
            let results = [registers::ACCUMULATORS, registers::R4].map(|register| *qpu.registers().at(register));
            (exit, results, qpu.take_faults())
        };
        assert_eq!(run(false), run(true));
        let size = code.code_size();
        assert_eq!(size.translated > 900, EngineKind::best().translates(), "{size}");
        assert!(size.bytes > 1 << 20 || !cfg!(target_arch = "aarch64"), "{size}");
    }

    /// After a single step the ports show what the instruction has read, also in a translated program.
    #[test]
    fn a_step_shows_what_it_has_read() {
        let owned = memory_of(4096, &[UNIFORM_TO_R0, COLOUR]);
        let memory = owned.view();
        memory.set_word(BusAddr(1024), 0x1234).unwrap();
        let launch = Launch { uniforms: BusAddr(1024), ..Launch::default() };
        let code = CodeCache::new().translating_eagerly();
        for _ in 0..2 {
            let mut qpu = Qpu::new();
            qpu.start(&launch);
            assert_eq!(qpu.run_one(&mut NoUnits, memory, &code), (Exit::OutOfBudget, true));
            assert_eq!(*qpu.registers().at(registers::PORT_A), Lanes::splat(0x1234));
            qpu.start(&launch);
            let _ = qpu.run(&mut NoUnits, memory, &code, &mut 100);
        }
    }

    /// Reads of a unit that does not exist return 0 and report a fault, also in translated code.
    #[test]
    fn what_a_unit_answers_reaches_the_program() {
        let varying = Alu { raddr_a: 35, ..moved() }.to_bits().unwrap() as u64;
        let first = moved().to_bits().unwrap() as u64;
        let owned = memory_of(4096, &[first, varying, END, NOP, NOP]);
        let code = CodeCache::new().translating_eagerly();
        let launch = Launch { ra15: Lanes::splat(7), ..Launch::default() };
        let run = |budget: u64| {
            let mut qpu = Qpu::new();
            qpu.start(&launch);
            let _ = qpu.run(&mut NoUnits, owned.view(), &code, &mut budget.clone());
            (*qpu.registers().at(registers::ACCUMULATORS + 1), qpu.take_faults().faults().to_vec())
        };
        assert_eq!(run(1), (Lanes::splat(7), vec![]));
        let error = QpuError::Io(IoError::NotAccessible("the varyings"));
        let fault = Fault::Qpu(QpuFault { pc: BusAddr(8), error });
        assert_eq!(run(100), (Lanes::splat(0), vec![fault]));
    }
}
