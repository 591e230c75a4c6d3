//! Code of AArch64 apart from vectors.
//!
//! | register | holds |
//! |---|---|
//! | x19 | address of the frame |
//! | x20 | address of the register array |
//! | x21 | address of the flags: Z, N and C, two bytes each |
//! | x22 | the rest of the budget |
//! | x23 | address of the next uniform |
//! | w24 | whether the branch is taken, during its delay slots |
//! | x25 | address of the constants' vectors |
//! | w26, w27 | the magnitudes from which floats are special, and large, without a sign: shifted left by one |
//! | x9 to x15 | nothing beyond an operation, but for x10, where varyings are while they are read |
//!
//! All but the last are preserved by calls.

#![expect(
    clippy::useless_conversion,
    reason = "the assembler's macro converts the numbers of registers, which have the right type"
)]

use super::{CallBack, Control, Encoded, Label};
use crate::qpu::io::SECOND_WORD_BYTES;
use crate::qpu::isa::registers::RegisterIndex;
use crate::qpu::translation::frame::{
    CONSTANTS, Frame, MIDDLE, RECEIVED_LOG2, SWITCHED, SWITCHED_LAST, UNIFORM_BYTES, VARYING_BYTES, at, lookup_of,
};
use crate::tmu::KEPT_RESULTS;
use dynasmrt::aarch64::Aarch64Relocation;
use dynasmrt::{AssemblyOffset, DynamicLabel, DynasmApi, DynasmLabelApi, VecAssembler, dynasm};
use std::mem::replace;
use v3d_hw::BusAddr;
use v3d_hw::qpu::accesses::accumulators;

/// Encodes instructions with the registers by their names.
macro_rules! encode {
    ($code:expr, $($instructions:tt)*) => {
        dynasm!($code.asm
            ; .arch aarch64
            ; .alias frame, x19
            ; .alias registers, x20
            ; .alias flags, x21
            ; .alias budget, x22
            ; .alias uniforms, x23
            ; .alias taken, w24
            ; .alias vectors, x25
            ; .alias special, w26
            ; .alias large, w27
            $($instructions)*
        )
    };
}
pub(super) use encode;

/// Encodes a conditional branch, given with its inverse.
macro_rules! branch {
    ($code:expr, $to:expr, [$($condition:tt)*], [$($inverse:tt)*]) => {
        if let Some(&label) = $code.labels.get($to.0) {
            match $code.reach {
                Reach::Near => encode!($code, ; $($condition)* =>label),
                Reach::Far => encode!($code, ; $($inverse)* >over ; b =>label ; over:),
            }
        }
    };
}

/// An offset of the frame, or of another structure, as instructions have it.
pub(super) const fn offset(at: i32) -> u32 {
    at as u32
}

/// Offsets of the frame are immediates of all loads.
const _: () = assert!(size_of::<Frame>() < 1 << 12);
/// The same of loads of two addresses.
const _: () = assert!(at::TILE_ZS + 16 < 64 * 8);
/// And those of coordinates and of results are immediates of loads and stores of two vectors.
const _: () = assert!(at::COORDINATES + 4 * REGISTER_BYTES as i32 <= 64 * 16 && at::RECEIVED + 64 <= 64 * 16);

/// The control register of floating point arithmetic, as instructions name it: its `op0` without the upper bit, `op1`, `CRn`, `CRm` and `op2`.
const FPCR: u32 = 1 << 14 | 3 << 11 | 4 << 7 | 4 << 3;
/// Size of an instruction of the host.
const INSTRUCTION_BYTES: usize = 4;
/// The greatest immediate of additions and comparisons.
const IMMEDIATE: u64 = 0xfff;
/// Size of a register of the QPU.
const REGISTER_BYTES: u32 = 64;
/// Size of the area in which the entry saves registers.
const SAVED_BYTES: u32 = 160;

/// The bits of an address that [`BusAddr::offset`] keeps, without those within a word.
const WORD_OFFSET: u32 = BusAddr(u32::MAX).offset() & !3;

/// Parameters of a lookup.
const PARAMETERS: u32 = 4;
const _: () = assert!(KEPT_RESULTS.is_power_of_two());
/// Distance from the first word of 64-bit colour to the second, as a power of two.
const SECOND_WORD_LOG2: u32 = SECOND_WORD_BYTES.ilog2();
const _: () = assert!(SECOND_WORD_BYTES.is_power_of_two());

/// How far conditional branches reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::qpu::translation) enum Reach {
    /// 1 MB: enough for all but the longest blocks.
    Near,
    /// 128 MB: each is a branch over an unconditional one.
    Far,
}

/// Code of AArch64.
pub(in crate::qpu::translation) struct AArch64 {
    pub(super) asm: VecAssembler<Aarch64Relocation>,
    labels: Vec<DynamicLabel>,
    reach: Reach,
    /// Counts the points at which vector registers may hold something else than before.
    pub(super) joins: u32,
}

impl AArch64 {
    /// No code.
    pub(super) fn new(reach: Reach) -> Self {
        Self { asm: VecAssembler::new(0), labels: Vec::new(), reach, joins: 0 }
    }

    /// The offset of a register of the QPU in their array.
    pub(super) fn register(register: RegisterIndex) -> u32 {
        REGISTER_BYTES * u32::from(register)
    }

    /// A number in a register of 64 bits.
    pub(super) fn number(&mut self, to: u8, value: u64) {
        let halves = [0, 16, 32, 48].map(|shift| (shift, (value >> shift) as u32 & 0xffff));
        let mut others = halves.into_iter().filter(|&(_, bits)| bits != 0);
        let (shift, bits) = others.next().unwrap_or((0, 0));
        encode!(self, ; movz X(to), bits, LSL shift);
        for (shift, bits) in others {
            encode!(self, ; movk X(to), bits, LSL shift);
        }
    }

    /// The sum of a register and a number; x9 is lost if it is large.
    pub(super) fn add(&mut self, to: u8, from: u8, value: u64) {
        match value {
            0..=IMMEDIATE => encode!(self, ; add XSP(to), XSP(from), value as u32),
            _ => {
                self.number(9, value);
                encode!(self, ; add X(to), X(from), x9);
            }
        }
    }

    /// Loads [`CONSTANTS`]' limits, as the tests for them need them, to w26 and w27.
    fn load_limits(&mut self) {
        self.number(26, u64::from(CONSTANTS.greatest << 1));
        self.number(27, u64::from(CONSTANTS.large << 1));
    }

    /// Loads the address of the register array. The frame has that of its middle, from which signed offsets of other hosts reach all registers.
    fn point_at_registers(&mut self) {
        const BEFORE_MIDDLE: u32 = MIDDLE as u32 * REGISTER_BYTES;
        const _: () = assert!(BEFORE_MIDDLE.is_multiple_of(1 << 12));
        encode!(self,
            ; ldr registers, [frame, offset(at::REGISTERS)]
            ; sub registers, registers, BEFORE_MIDDLE >> 12, LSL 12
        );
    }

    /// Sets the arithmetic to a word of the frame.
    fn set_rounding(&mut self, from: i32) {
        encode!(self,
            ; ldr w9, [frame, offset(from)]
            ; msr FPCR, x9
        );
    }

    /// Calls a function of the frame's by its offset, with the host's arithmetic as the host expects it.
    pub(super) fn call_function(&mut self, function: i32) {
        self.set_rounding(at::ROUNDING_OUTSIDE);
        self.call_function_without_floats(function);
        self.set_rounding(at::ROUNDING);
    }

    /// Calls a function that does not compute with floats.
    fn call_function_without_floats(&mut self, function: i32) {
        self.joins += 1;
        encode!(self,
            ; ldr x9, [frame, offset(function)]
            ; blr x9
        );
    }

    /// Adds w9 to a counter of the frame.
    fn count(&mut self, counter: i32) {
        encode!(self,
            ; ldr w10, [frame, offset(counter)]
            ; add w10, w10, w9
            ; str w10, [frame, offset(counter)]
        );
    }

    /// Sets w9 to the number of quads that are not all 0, of four successive vectors.
    fn count_quads(&mut self, first: u8) {
        encode!(self,
            ; umaxp v25.s4, V(first).s4, V(first + 1).s4
            ; umaxp v26.s4, V(first + 2).s4, V(first + 3).s4
            ; umaxp v25.s4, v25.s4, v26.s4
            ; cmtst v25.s4, v25.s4, v25.s4
            ; addv s25, v25.s4
            ; fmov w9, s25
            ; neg w9, w9
        );
    }

    /// Loads the addresses of four quads to x1 to x4.
    fn load_quads(&mut self, addresses: i32) {
        encode!(self,
            ; ldp x1, x2, [frame, addresses]
            ; ldp x3, x4, [frame, addresses + 16]
        );
    }

    /// Loads a register of the QPU to v0 to v3.
    fn load_whole(&mut self, register: RegisterIndex) {
        for quad in 0..4_u8 {
            encode!(self, ; ldr Q(quad), [registers, Self::register(register) + 16 * u32::from(quad)]);
        }
    }

    /// Stores v0 to v3 to a register of the QPU.
    fn store_whole(&mut self, register: RegisterIndex) {
        for quad in 0..4_u8 {
            encode!(self, ; str Q(quad), [registers, Self::register(register) + 16 * u32::from(quad)]);
        }
    }

    /// Loads the address of the multisample masks to x12, and the masks to v4 to v7; the distance from one sample of a pixel to the next to x14, and what
    /// selects the first in the masks to w15.
    fn load_masks(&mut self) {
        encode!(self,
            ; ldr x12, [frame, offset(at::TILE_FLAGS)]
            ; ldp q4, q5, [x12]
            ; ldp q6, q7, [x12, 32]
            ; ldr x14, [frame, offset(at::TILE_SAMPLE_BYTES)]
            ; ldr w15, [frame, offset(at::TILE_FIRST_SAMPLE)]
        );
    }

    /// Begins a loop over the samples of pixels: w13 is their number, v24 selects the first in multisample masks. Loads what [`Self::load_masks`] loads.
    fn begin_samples(&mut self) {
        self.load_masks();
        encode!(self,
            ; ldr w13, [frame, offset(at::TILE_SAMPLES)]
            ; dup v24.s4, w15
            ; sample:
        );
    }

    /// Stores v0 to v3 to the samples that v24 selects, x10 behind the first ones.
    fn store_sample(&mut self) {
        for quad in 0..4_u8 {
            encode!(self,
                ; ldr q25, [X(1 + quad), x10]
                ; cmtst v26.s4, v24.s4, V(4 + quad).s4
                ; bit v25.b16, V(quad).b16, v26.b16
                ; str q25, [X(1 + quad), x10]
            );
        }
    }

    /// Goes on with the next sample: x10 is the distance of its words.
    fn end_samples(&mut self) {
        encode!(self,
            ; add x10, x10, x14
            ; add v24.s4, v24.s4, v24.s4
            ; subs w13, w13, 1
            ; b.ne <sample
        );
    }
}

impl Control for AArch64 {
    fn instructions(&self) -> usize {
        self.asm.offset().0 / INSTRUCTION_BYTES
    }

    fn label(&mut self) -> Label {
        self.labels.push(self.asm.new_dynamic_label());
        Label(self.labels.len() - 1)
    }

    fn place(&mut self, label: Label) {
        self.joins += 1;
        if let Some(&label) = self.labels.get(label.0) {
            encode!(self, ; =>label);
        }
    }

    fn jump(&mut self, to: Label) {
        if let Some(&label) = self.labels.get(to.0) {
            encode!(self, ; b =>label);
        }
    }

    fn enter(&mut self) {
        encode!(self,
            ; stp x29, x30, [sp, -(SAVED_BYTES as i32)]!
            ; mov x29, sp
        );
        for pair in 0..5_u8 {
            encode!(self, ; stp X(19 + 2 * pair), X(20 + 2 * pair), [sp, 16 + 16 * i32::from(pair)]);
        }
        // Their lower halves alone are the caller's.
        for pair in 0..4_u8 {
            encode!(self, ; stp D(8 + 2 * pair), D(9 + 2 * pair), [sp, 96 + 16 * i32::from(pair)]);
        }
        encode!(self,
            ; mov frame, x0
            ; ldr flags, [frame, offset(at::FLAGS)]
            ; ldr budget, [frame, offset(at::BUDGET)]
            ; ldr uniforms, [frame, offset(at::UNIFORMS)]
            ; ldr vectors, [frame, offset(at::VECTORS)]
            ; mrs x9, FPCR
            ; str w9, [frame, offset(at::ROUNDING_OUTSIDE)]
        );
        self.point_at_registers();
        self.load_limits();
        self.set_rounding(at::ROUNDING);
        encode!(self, ; br x1);
    }

    fn leave_with(&mut self, index: usize, exit: Label) {
        self.number(0, index as u64);
        self.jump(exit);
    }

    fn leave(&mut self) {
        encode!(self,
            ; str budget, [frame, offset(at::BUDGET)]
            ; str uniforms, [frame, offset(at::UNIFORMS)]
        );
        self.set_rounding(at::ROUNDING_OUTSIDE);
        for pair in 0..4_u8 {
            encode!(self, ; ldp D(8 + 2 * pair), D(9 + 2 * pair), [sp, 96 + 16 * i32::from(pair)]);
        }
        for pair in 0..5_u8 {
            encode!(self, ; ldp X(19 + 2 * pair), X(20 + 2 * pair), [sp, 16 + 16 * i32::from(pair)]);
        }
        encode!(self,
            ; ldp x29, x30, [sp], SAVED_BYTES as i32
            ; ret
        );
    }

    fn check_budget(&mut self, count: usize, outside: Label) {
        if count as u64 <= IMMEDIATE {
            encode!(self, ; cmp budget, count as u32);
        } else {
            self.number(9, count as u64);
            encode!(self, ; cmp budget, x9);
        }
        branch!(self, outside, [b.lo], [b.hs]);
    }

    fn check_defined(&mut self, needs: u8, outside: Label) {
        encode!(self,
            ; ldr w9, [frame, offset(at::UNDEFINED)]
            ; movz w10, u32::from(needs)
            ; tst w9, w10
        );
        branch!(self, outside, [b.ne], [b.eq]);
    }

    fn check_scoreboard(&mut self, to: Label) {
        encode!(self, ; ldr w9, [frame, offset(at::SCOREBOARD)]);
        branch!(self, to, [cbz w9,], [cbnz w9,]);
    }

    fn take_scoreboard(&mut self, count: usize, otherwise: Label) {
        self.check_scoreboard_alone(otherwise);
        self.add(9, 22, count as u64);
        encode!(self,
            ; ldr x10, [frame, offset(at::SCOREBOARD_FROM)]
            ; cmp x9, x10
        );
        branch!(self, otherwise, [b.hi], [b.ls]);
        encode!(self,
            ; movz w9, 1
            ; str w9, [frame, offset(at::SCOREBOARD)]
        );
    }

    fn check_scoreboard_alone(&mut self, otherwise: Label) {
        encode!(self, ; ldr w9, [frame, offset(at::SCOREBOARD_ALONE)]);
        branch!(self, otherwise, [cbz w9,], [cbnz w9,]);
    }

    fn check_may_switch(&mut self, outside: Label) {
        encode!(self, ; ldr w9, [frame, offset(at::MAY_SWITCH)]);
        branch!(self, outside, [cbz w9,], [cbnz w9,]);
    }

    fn switch_threads(&mut self, last: bool) {
        let switched = if last { SWITCHED | SWITCHED_LAST } else { SWITCHED };
        encode!(self,
            ; movz w9, u32::from(accumulators::ALL)
            ; str w9, [frame, offset(at::UNDEFINED)]
        );
        if last {
            encode!(self, ; str wzr, [frame, offset(at::MAY_SWITCH)]);
        }
        encode!(self,
            ; ldr w9, [frame, offset(at::SWITCHED)]
            ; movz w10, switched
            ; orr w9, w9, w10
            ; str w9, [frame, offset(at::SWITCHED)]
        );
    }

    fn end_program(&mut self) {
        encode!(self,
            ; movz w9, 1
            ; str w9, [frame, offset(at::ENDED)]
        );
    }

    fn check_single_threaded(&mut self, outside: Label) {
        encode!(self, ; ldr w9, [frame, offset(at::THREADED)]);
        branch!(self, outside, [cbnz w9,], [cbz w9,]);
    }

    fn check_uniforms(&mut self, count: i32, outside: Label) {
        self.add(9, 23, 4 * count as u64);
        encode!(self,
            ; ldr x10, [frame, offset(at::UNIFORMS_END)]
            ; cmp x9, x10
        );
        branch!(self, outside, [b.hi], [b.ls]);
    }

    fn check_varyings(&mut self, count: i32, outside: Label) {
        encode!(self,
            ; ldr x11, [frame, offset(at::VARYINGS)]
            ; ldr x10, [frame, offset(at::VARYINGS_END)]
        );
        self.add(9, 11, (VARYING_BYTES * count) as u64);
        encode!(self, ; cmp x9, x10);
        branch!(self, outside, [b.hi], [b.ls]);
    }

    fn spend(&mut self, count: usize) {
        if count as u64 <= IMMEDIATE {
            encode!(self, ; sub budget, budget, count as u32);
        } else {
            self.number(9, count as u64);
            encode!(self, ; sub budget, budget, x9);
        }
    }

    fn refund(&mut self, count: usize) {
        self.add(22, 22, count as u64);
    }

    fn save_budget(&mut self) {
        encode!(self, ; str budget, [frame, offset(at::BUDGET)]);
    }

    fn load_budget(&mut self) {
        encode!(self, ; ldr budget, [frame, offset(at::BUDGET)]);
    }

    fn define(&mut self, accumulators: u8) {
        encode!(self,
            ; ldr w9, [frame, offset(at::UNDEFINED)]
            ; movz w10, u32::from(accumulators)
            ; bic w9, w9, w10
            ; str w9, [frame, offset(at::UNDEFINED)]
        );
    }

    fn define_all(&mut self) {
        encode!(self, ; str wzr, [frame, offset(at::UNDEFINED)]);
    }

    fn lengthen_run(&mut self, count: usize) {
        encode!(self, ; ldr w11, [frame, offset(at::RUN_LENGTH)]);
        self.add(11, 11, count as u64);
        encode!(self, ; str w11, [frame, offset(at::RUN_LENGTH)]);
    }

    fn end_run(&mut self) {
        encode!(self, ; str wzr, [frame, offset(at::RUN_LENGTH)]);
    }

    fn record_last(&mut self, last: usize, count: usize) {
        if count > 1 {
            self.number(9, (last as u64 - 1) << 16 | last as u64);
        } else {
            self.number(9, last as u64);
            encode!(self,
                ; ldr w10, [frame, offset(at::LAST)]
                ; orr w9, w9, w10, LSL 16
            );
        }
        encode!(self, ; str w9, [frame, offset(at::LAST)]);
    }

    fn set_taken(&mut self, taken: bool) {
        encode!(self, ; movz taken, u32::from(taken));
    }

    fn jump_unless_taken(&mut self, to: Label) {
        branch!(self, to, [cbz taken,], [cbnz taken,]);
    }

    fn advance_uniforms(&mut self, count: i32) {
        self.add(23, 23, 4 * count as u64);
    }

    fn advance_varyings(&mut self, count: i32) {
        encode!(self, ; ldr x11, [frame, offset(at::VARYINGS)]);
        self.add(11, 11, (VARYING_BYTES * count) as u64);
        encode!(self, ; str x11, [frame, offset(at::VARYINGS)]);
    }

    fn set_uniforms_from(&mut self, register: RegisterIndex) {
        encode!(self, ; ldr w0, [registers, Self::register(register)]);
        self.set_uniforms();
    }

    fn set_uniforms(&mut self) {
        self.number(10, u64::from(WORD_OFFSET));
        encode!(self,
            ; str w0, [frame, offset(at::SYNCED_ADDRESS)]
            ; str wzr, [frame, offset(at::LIMITED)]
            ; and w9, w0, w10
            ; ldr x10, [frame, offset(at::WORDS)]
            ; add uniforms, x10, x9
            ; str uniforms, [frame, offset(at::SYNCED)]
            ; ldr x9, [frame, offset(at::WORDS_END)]
            ; str x9, [frame, offset(at::UNIFORMS_END)]
        );
    }

    fn write_coordinate(&mut self, unit: u8, place: usize, from: RegisterIndex, twice: Label) {
        let bit = 1_u32 << place;
        let coordinate = at::COORDINATES + REGISTER_BYTES as i32 * place as i32;
        encode!(self,
            ; ldr x9, [frame, offset(at::TMU + 8 * i32::from(unit & 1))]
            ; ldr w10, [x9, offset(at::WRITTEN)]
            ; tst w10, bit
        );
        branch!(self, twice, [b.ne], [b.eq]);
        encode!(self,
            ; ldr w11, [x9, offset(at::WRITES)]
            ; cmp w11, PARAMETERS
        );
        branch!(self, twice, [b.hs], [b.lo]);
        encode!(self,
            ; orr w10, w10, bit
            ; str w10, [x9, offset(at::WRITTEN)]
            ; ldr w12, [uniforms], 4
            ; add x13, x9, w11, UXTW 2
            ; str w12, [x13, offset(at::PARAMETERS)]
            ; add w11, w11, 1
            ; str w11, [x9, offset(at::WRITES)]
        );
        self.load_whole(from);
        encode!(self,
            ; stp q0, q1, [x9, coordinate]
            ; stp q2, q3, [x9, coordinate + 32]
        );
    }

    fn start_lookup(&mut self, unit: u8, from: RegisterIndex, reads_uniform: bool, otherwise: Label) {
        self.add(2, 20, u64::from(Self::register(from)));
        encode!(self,
            ; mov x0, frame
            ; mov w1, lookup_of(unit, reads_uniform)
            ; mov x3, uniforms
        );
        self.call_function(at::LOOK_UP);
        encode!(self, ; cmp w0, UNIFORM_BYTES as u32);
        branch!(self, otherwise, [b.hi], [b.ls]);
        encode!(self, ; add uniforms, uniforms, x0);
    }

    fn load_result(&mut self, unit: u8, to: RegisterIndex, empty: Label) {
        encode!(self,
            ; ldr x9, [frame, offset(at::TMU + 8 * i32::from(unit & 1))]
            ; ldr w10, [x9, offset(at::COUNT)]
        );
        branch!(self, empty, [cbz w10,], [cbnz w10,]);
        encode!(self,
            ; ldr w11, [x9, offset(at::FIRST)]
            ; lsl w12, w11, RECEIVED_LOG2
            ; add x12, x9, x12
            ; ldp q0, q1, [x12, at::RECEIVED]
            ; ldp q2, q3, [x12, at::RECEIVED + 32]
        );
        self.store_whole(to);
        encode!(self,
            ; ldr w13, [x12, offset(at::RECEIVED_SLOTS)]
            ; ldr w14, [x9, offset(at::REQUEST_SLOTS)]
            ; sub w14, w14, w13
            ; str w14, [x9, offset(at::REQUEST_SLOTS)]
            ; add w11, w11, 1
            ; and w11, w11, KEPT_RESULTS as u32 - 1
            // An empty ring begins at its start again.
            ; subs w10, w10, 1
            ; csel w11, wzr, w11, eq
            ; str w10, [x9, offset(at::COUNT)]
            ; str w11, [x9, offset(at::FIRST)]
        );
    }

    fn load_colour(&mut self, to: RegisterIndex, otherwise: Label) {
        encode!(self,
            ; ldr w9, [frame, offset(at::TILE_COLOR_READ)]
            ; ldr w10, [frame, offset(at::TILE_COLOR_READABLE)]
            ; cmp w9, w10
        );
        branch!(self, otherwise, [b.hs], [b.lo]);
        self.load_quads(at::TILE_COLORS);
        encode!(self,
            ; add w10, w9, 1
            ; str w10, [frame, offset(at::TILE_COLOR_READ)]
            ; ldr x10, [frame, offset(at::TILE_COLOR_STRIDE)]
            ; mul x9, x9, x10
        );
        for quad in 0..4_u8 {
            encode!(self, ; ldr Q(quad), [X(1 + quad), x9]);
        }
        self.store_whole(to);
    }

    fn write_colour(&mut self, from: RegisterIndex, otherwise: Label) {
        encode!(self,
            ; ldr w9, [frame, offset(at::TILE_COLOR_WORDS)]
            ; subs w9, w9, 1
        );
        branch!(self, otherwise, [b.lo], [b.hs]);
        self.load_quads(at::TILE_COLORS);
        self.load_whole(from);
        encode!(self,
            ; ldr w10, [frame, offset(at::TILE_COLOR_WRITTEN)]
            ; add w11, w10, 1
            ; str w11, [frame, offset(at::TILE_COLOR_WRITTEN)]
            ; and w10, w10, w9
            ; lsl w10, w10, SECOND_WORD_LOG2
            ; mov w11, w10
        );
        self.begin_samples();
        self.store_sample();
        self.end_samples();
        // A quad is counted once, with the first word of its colour.
        encode!(self, ; cbnz w11, >counted);
        self.count_quads(4);
        self.count(at::TILE_QUADS_WRITTEN);
        encode!(self, ; counted:);
    }

    fn write_sample(&mut self, from: RegisterIndex, otherwise: Label) {
        encode!(self,
            ; ldr w9, [frame, offset(at::TILE_SAMPLES_WRITTEN)]
            ; ldr w10, [frame, offset(at::TILE_SAMPLES_WRITABLE)]
            ; cmp w9, w10
        );
        branch!(self, otherwise, [b.hs], [b.lo]);
        self.load_quads(at::TILE_COLORS);
        self.load_whole(from);
        self.load_masks();
        encode!(self,
            ; add w10, w9, 1
            ; str w10, [frame, offset(at::TILE_SAMPLES_WRITTEN)]
            ; lsl w15, w15, w9
            ; dup v24.s4, w15
            ; mul x10, x9, x14
        );
        self.store_sample();
        self.count_quads(4);
        self.count(at::TILE_QUADS_WRITTEN);
    }

    fn test_depth(&mut self, from: RegisterIndex, otherwise: Label) {
        encode!(self, ; ldr w9, [frame, offset(at::TILE_TESTS_DEPTH)]);
        branch!(self, otherwise, [cbz w9,], [cbnz w9,]);
        self.load_quads(at::TILE_ZS);
        self.load_whole(from);
        // v8 to v11: the depths. They are in the highest 24 bits of what is stored. v12 to v15: the samples that pass.
        for quad in 0..4_u8 {
            encode!(self,
                ; shl V(8 + quad).s4, V(quad).s4, 8
                ; ushr V(8 + quad).s4, V(8 + quad).s4, 8
                ; movi V(12 + quad).s4, 0
            );
        }
        // v16 to v18: whether depths pass that are less, equal or greater; v19: whether those are stored.
        for number in 0..3_u8 {
            encode!(self,
                ; ldr w9, [frame, offset(at::TILE_PASSING + 4 * i32::from(number))]
                ; dup V(16 + number).s4, w9
            );
        }
        encode!(self,
            ; ldr w9, [frame, offset(at::TILE_UPDATES)]
            ; dup v19.s4, w9
            ; movz x10, 0
        );
        self.begin_samples();
        for quad in 0..4_u8 {
            encode!(self,
                ; ldr q25, [X(1 + quad), x10]
                ; ushr v26.s4, v25.s4, 8
                ; cmhi v27.s4, v26.s4, V(8 + quad).s4
                ; cmhi v28.s4, V(8 + quad).s4, v26.s4
                ; mov v29.b16, v17.b16
                ; bit v29.b16, v16.b16, v27.b16
                ; bit v29.b16, v18.b16, v28.b16
                // What is not covered is not tested.
                ; and v26.b16, v24.b16, V(4 + quad).b16
                ; cmtst v27.s4, v26.s4, v26.s4
                ; and v29.b16, v29.b16, v27.b16
                ; and v26.b16, v26.b16, v29.b16
                ; orr V(12 + quad).b16, V(12 + quad).b16, v26.b16
                // The stencil stays.
                ; mov v26.b16, v25.b16
                ; sli v26.s4, V(quad).s4, 8
                ; and v29.b16, v29.b16, v19.b16
                ; bit v25.b16, v26.b16, v29.b16
                ; str q25, [X(1 + quad), x10]
            );
        }
        self.end_samples();
        encode!(self,
            ; stp q12, q13, [x12]
            ; stp q14, q15, [x12, 32]
        );
        self.count_quads(12);
        self.count(at::TILE_QUADS_PASSED);
        encode!(self, ; mov w11, w9);
        self.count_quads(4);
        encode!(self, ; sub w9, w9, w11);
        self.count(at::TILE_QUADS_FAILED);
    }

    fn prepare_call(&mut self, index: usize) {
        encode!(self,
            ; str uniforms, [frame, offset(at::UNIFORMS)]
            ; mov x0, frame
        );
        self.number(1, index as u64);
    }

    fn call(&mut self, function: CallBack) {
        match function.computes() {
            true => self.call_function(function.place()),
            false => self.call_function_without_floats(function.place()),
        }
    }

    fn finish_call(&mut self) {
        self.point_at_registers();
        encode!(self,
            ; ldr flags, [frame, offset(at::FLAGS)]
            ; ldr uniforms, [frame, offset(at::UNIFORMS)]
        );
    }

    fn jump_if_begun(&mut self, to: Label) {
        branch!(self, to, [cbnz w0,], [cbz w0,]);
    }

    fn jump_if_found(&mut self, to: Label) {
        branch!(self, to, [b.hs], [b.lo]);
    }

    fn jump_if_large_uniform(&mut self, index: i32, to: Label) {
        self.add(9, 23, 4 * index as u64);
        encode!(self,
            ; ldr w9, [x9]
            ; lsl w9, w9, 1
            ; cmp w9, large
        );
        branch!(self, to, [b.hs], [b.lo]);
    }

    fn jump_unless_small_varyings(&mut self, to: Label) {
        encode!(self, ; ldr w9, [frame, offset(at::SMALL_VARYINGS)]);
        branch!(self, to, [cbz w9,], [cbnz w9,]);
    }

    fn call_label(&mut self, to: Label) {
        if let Some(&label) = self.labels.get(to.0) {
            encode!(self, ; bl =>label);
        }
    }

    fn finish(&mut self) -> Result<Encoded, String> {
        let asm = replace(&mut self.asm, VecAssembler::new(0));
        let offset = |&label: &DynamicLabel| {
            let AssemblyOffset(offset) = asm.labels().resolve_dynamic(label).ok()?;
            u32::try_from(offset).ok()
        };
        let labels = self.labels.iter().map(offset).collect();
        Ok(Encoded { bytes: asm.finalize().map_err(|error| error.to_string())?, labels })
    }
}
