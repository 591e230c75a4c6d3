//! Code of x86-64 apart from vectors, for all hosts of that architecture.

use super::assembler::*;
use super::{CallBack, Control, Encoded, Label};
use crate::qpu::io::SECOND_WORD_BYTES;
use crate::qpu::isa::registers::RegisterIndex;
use crate::qpu::translation::frame::{
    CONSTANTS, MIDDLE, RECEIVED_LOG2, SWITCHED, SWITCHED_LAST, UNIFORM_BYTES, VARYING_BYTES, at, lookup_of,
};
use crate::tmu::KEPT_RESULTS;
use v3d_hw::BusAddr;
use v3d_hw::qpu::accesses::accumulators;

/// Address of the frame, while translated code runs.
pub(super) const FRAME: Gpr64 = rbp;
/// Address of the register array.
const REGISTERS: Gpr64 = rbx;
/// Address of the flags: Z, N and C, two bytes each.
pub(super) const FLAGS: Gpr64 = r12;
/// The rest of the budget.
const BUDGET: Gpr64 = r14;
/// Address of the next uniform.
pub(super) const UNIFORMS: Gpr64 = r15;
/// Whether the branch is taken, during its delay slots.
pub(super) const TAKEN: Gpr32 = r13d;
/// Its low byte.
pub(super) const TAKEN_BYTE: Gpr8 = r13b;
/// Address of the constants' vectors, for hosts that need them.
pub(super) const VECTORS: Gpr64 = r11;

/// The bits of an address that [`BusAddr::offset`] keeps, without those within a word.
const WORD_OFFSET: u32 = BusAddr(u32::MAX).offset() & !3;

/// Parameters of a lookup.
const PARAMETERS: i32 = 4;
const _: () = assert!(KEPT_RESULTS.is_power_of_two());
/// Distance from the first word of 64-bit colour to the second, as a power of two.
const SECOND_WORD_LOG2: u32 = SECOND_WORD_BYTES.ilog2();
const _: () = assert!(SECOND_WORD_BYTES.is_power_of_two());

/// Code of x86-64.
pub(in crate::qpu::translation) struct X86 {
    pub(super) asm: Assembler,
    labels: Vec<CodeLabel>,
    /// The first instruction that could not be encoded.
    error: Option<AssemblyError>,
    /// The code uses [`VECTORS`].
    has_vectors: bool,
}

impl X86 {
    /// No code. `has_vectors`: the host needs the constants' vectors.
    pub(super) fn new(has_vectors: bool) -> Self {
        Self { asm: Assembler::default(), labels: Vec::new(), error: None, has_vectors }
    }

    /// Encodes an instruction.
    #[inline]
    pub(super) fn emit(&mut self, instruction: impl FnOnce(&mut Assembler) -> Assembled) {
        if let Err(error) = instruction(&mut self.asm) {
            self.error.get_or_insert(error);
        }
    }

    /// The address of a register of the QPU.
    pub(super) fn register(register: RegisterIndex) -> Address {
        REGISTERS + (i32::from(register) - MIDDLE) * 64
    }

    fn jump_if(&mut self, jump: impl FnOnce(&mut Assembler, CodeLabel) -> Assembled, to: Label) {
        if let Some(&label) = self.labels.get(to.0) {
            self.emit(|asm| jump(asm, label));
        }
    }

    /// Calls a function of the frame's by its offset, with the host's arithmetic as the host expects it.
    pub(super) fn call_function(&mut self, offset: i32) {
        self.emit(|asm| {
            asm.ldmxcsr(dword_ptr(FRAME + at::ROUNDING_OUTSIDE))?;
            asm.vzeroupper()?;
            asm.call_at(qword_ptr(FRAME + offset))?;
            asm.ldmxcsr(dword_ptr(FRAME + at::ROUNDING))
        });
    }

    /// Calls a function that does not compute with floats.
    fn call_function_without_floats(&mut self, offset: i32) {
        self.emit(|asm| {
            asm.vzeroupper()?;
            asm.call_at(qword_ptr(FRAME + offset))
        });
    }

    /// Loads [`VECTORS`] if the host needs it.
    pub(super) fn point_at_vectors(&mut self) {
        if self.has_vectors {
            self.emit(|asm| asm.mov(VECTORS, qword_ptr(FRAME + at::VECTORS)));
        }
    }
}

/// Loads the words of two quads. Their addresses are in the frame from an offset on; `distance` is added to them.
fn load_quads(asm: &mut Assembler, to: Ymm, addresses: i32, distance: Gpr64) -> Assembled {
    asm.mov(rdx, qword_ptr(FRAME + addresses))?;
    asm.mov(rsi, qword_ptr(FRAME + (addresses + 8)))?;
    asm.vmovdqu(xmm10, xmmword_ptr(rdx + distance))?;
    asm.vinserti128(to, ymm10, xmmword_ptr(rsi + distance), 1)
}

/// Stores words of two quads to the addresses of [`load_quads`] just before.
fn store_quads(asm: &mut Assembler, from: Ymm, addresses: i32, distance: Gpr64) -> Assembled {
    asm.mov(rdx, qword_ptr(FRAME + addresses))?;
    asm.mov(rsi, qword_ptr(FRAME + (addresses + 8)))?;
    asm.vmovdqa(ymm10, from)?;
    asm.vmovdqu(xmmword_ptr(rdx + distance), xmm10)?;
    asm.vextracti128(xmmword_ptr(rsi + distance), ymm10, 1)
}

/// The bits of multisample masks that select the sample of a loop over all of them.
const SAMPLE: Ymm = ymm15;

/// Begins a loop over the samples of pixels: rcx is the distance of the first one's words.
fn begin_samples(asm: &mut Assembler) -> Result<CodeLabel, AssemblyError> {
    asm.mov(r8d, dword_ptr(FRAME + at::TILE_SAMPLES))?;
    asm.mov(r9, qword_ptr(FRAME + at::TILE_SAMPLE_BYTES))?;
    asm.vpbroadcastd(SAMPLE, dword_ptr(FRAME + at::TILE_FIRST_SAMPLE))?;
    let sample = asm.create_label();
    asm.set_label(sample)?;
    Ok(sample)
}

/// Goes on with the next sample.
fn end_samples(asm: &mut Assembler, sample: CodeLabel) -> Assembled {
    asm.add(rcx, r9)?;
    asm.vpaddd(SAMPLE, SAMPLE, SAMPLE)?;
    asm.dec(r8d)?;
    asm.jne(sample)
}

/// Stores a register to the samples that [`SAMPLE`] selects, rcx behind the first ones. rax has the address of the masks, ymm3 zeros.
fn store_sample(asm: &mut Assembler, from: RegisterIndex) -> Assembled {
    for half in 0..2 {
        load_quads(asm, ymm0, at::TILE_COLORS + 16 * half, rcx)?;
        asm.vpand(ymm1, SAMPLE, ymmword_ptr(rax + 32 * half))?;
        asm.vpcmpeqd(ymm1, ymm1, ymm3)?;
        asm.vmovdqa(ymm4, ymmword_ptr(X86::register(from) + 32 * half))?;
        asm.vblendvps(ymm0, ymm4, ymm0, ymm1)?;
        store_quads(asm, ymm0, at::TILE_COLORS + 16 * half, rcx)?;
    }
    Ok(())
}

/// Counts the quads with a sample that is written. rax has the address of the masks, ymm3 zeros.
fn count_written(asm: &mut Assembler) -> Assembled {
    asm.vpcmpeqd(ymm0, ymm3, ymmword_ptr(rax))?;
    asm.vpcmpeqd(ymm1, ymm3, ymmword_ptr(rax + 32))?;
    gather_bits(asm, ymm0, ymm1)?;
    asm.not(eax)?;
    count_quads(asm, at::TILE_QUADS_WRITTEN)
}

/// Moves the highest bits of 16 elements to eax.
fn gather_bits(asm: &mut Assembler, low: Ymm, high: Ymm) -> Assembled {
    asm.vmovmskps(eax, low)?;
    asm.vmovmskps(edx, high)?;
    asm.shl(edx, 8)?;
    asm.or(eax, edx)
}

/// Adds the number of quads with a bit in the lower half of eax to a counter of the frame; leaves it in eax.
fn count_quads(asm: &mut Assembler, counter: i32) -> Assembled {
    asm.mov(edx, eax)?;
    asm.shr(edx, 1)?;
    asm.or(eax, edx)?;
    asm.mov(edx, eax)?;
    asm.shr(edx, 2)?;
    asm.or(eax, edx)?;
    asm.and(eax, 0x1111)?;
    asm.popcnt(eax, eax)?;
    asm.add(dword_ptr(FRAME + counter), eax)
}

impl Control for X86 {
    fn instructions(&self) -> usize {
        self.asm.len()
    }

    fn label(&mut self) -> Label {
        let label = self.asm.create_label();
        self.labels.push(label);
        Label(self.labels.len() - 1)
    }

    fn place(&mut self, label: Label) {
        if let Some(&label) = self.labels.get(label.0)
            && let Err(error) = self.asm.set_label(label)
        {
            self.error.get_or_insert(error);
        }
        // Another label may follow.
        self.emit(Assembler::zero_bytes);
    }

    fn jump(&mut self, to: Label) {
        self.jump_if(|asm, label| asm.jmp(label), to);
    }

    fn enter(&mut self) {
        self.emit(|asm| {
            for register in [rbx, rbp, r12, r13, r14, r15] {
                asm.push(register)?;
            }
            // The stack is aligned at calls.
            asm.sub(rsp, 8)?;
            asm.mov(FRAME, rdi)?;
            asm.mov(REGISTERS, qword_ptr(FRAME + at::REGISTERS))?;
            asm.mov(FLAGS, qword_ptr(FRAME + at::FLAGS))?;
            asm.mov(BUDGET, qword_ptr(FRAME + at::BUDGET))?;
            asm.mov(UNIFORMS, qword_ptr(FRAME + at::UNIFORMS))?;
            asm.stmxcsr(dword_ptr(FRAME + at::ROUNDING_OUTSIDE))?;
            asm.ldmxcsr(dword_ptr(FRAME + at::ROUNDING))
        });
        self.point_at_vectors();
        self.emit(|asm| asm.jmp_to(rsi));
    }

    fn leave_with(&mut self, index: usize, exit: Label) {
        self.emit(|asm| asm.mov(eax, index as u32));
        self.jump(exit);
    }

    fn leave(&mut self) {
        self.emit(|asm| {
            asm.mov(qword_ptr(FRAME + at::BUDGET), BUDGET)?;
            asm.mov(qword_ptr(FRAME + at::UNIFORMS), UNIFORMS)?;
            asm.ldmxcsr(dword_ptr(FRAME + at::ROUNDING_OUTSIDE))?;
            asm.vzeroupper()?;
            asm.add(rsp, 8)?;
            for register in [r15, r14, r13, r12, rbp, rbx] {
                asm.pop(register)?;
            }
            asm.ret()
        });
    }

    fn check_budget(&mut self, count: usize, outside: Label) {
        self.emit(|asm| asm.cmp(BUDGET, count as i32));
        self.jump_if(|asm, label| asm.jb(label), outside);
    }

    fn check_defined(&mut self, needs: u8, outside: Label) {
        self.emit(|asm| asm.test(dword_ptr(FRAME + at::UNDEFINED), i32::from(needs)));
        self.jump_if(|asm, label| asm.jne(label), outside);
    }

    fn check_scoreboard(&mut self, to: Label) {
        self.emit(|asm| asm.cmp(dword_ptr(FRAME + at::SCOREBOARD), 0));
        self.jump_if(|asm, label| asm.je(label), to);
    }

    fn take_scoreboard(&mut self, count: usize, otherwise: Label) {
        self.check_scoreboard_alone(otherwise);
        self.emit(|asm| {
            asm.lea(rax, ptr(BUDGET + count as i32))?;
            asm.cmp(rax, qword_ptr(FRAME + at::SCOREBOARD_FROM))
        });
        self.jump_if(|asm, label| asm.ja(label), otherwise);
        self.emit(|asm| asm.mov(dword_ptr(FRAME + at::SCOREBOARD), 1));
    }

    fn check_scoreboard_alone(&mut self, otherwise: Label) {
        self.emit(|asm| asm.cmp(dword_ptr(FRAME + at::SCOREBOARD_ALONE), 0));
        self.jump_if(|asm, label| asm.je(label), otherwise);
    }

    fn check_may_switch(&mut self, outside: Label) {
        self.emit(|asm| asm.cmp(dword_ptr(FRAME + at::MAY_SWITCH), 0));
        self.jump_if(|asm, label| asm.je(label), outside);
    }

    fn switch_threads(&mut self, last: bool) {
        self.emit(|asm| {
            asm.mov(dword_ptr(FRAME + at::UNDEFINED), i32::from(accumulators::ALL))?;
            if last {
                asm.mov(dword_ptr(FRAME + at::MAY_SWITCH), 0)?;
            }
            let switched = if last { SWITCHED | SWITCHED_LAST } else { SWITCHED };
            asm.or(dword_ptr(FRAME + at::SWITCHED), switched as i32)
        });
    }

    fn end_program(&mut self) {
        self.emit(|asm| asm.mov(dword_ptr(FRAME + at::ENDED), 1));
    }

    fn check_single_threaded(&mut self, outside: Label) {
        self.emit(|asm| asm.cmp(dword_ptr(FRAME + at::THREADED), 0));
        self.jump_if(|asm, label| asm.jne(label), outside);
    }

    fn check_uniforms(&mut self, count: i32, outside: Label) {
        self.emit(|asm| {
            asm.lea(rax, ptr(UNIFORMS + 4 * count))?;
            asm.cmp(rax, qword_ptr(FRAME + at::UNIFORMS_END))
        });
        self.jump_if(|asm, label| asm.ja(label), outside);
    }

    fn check_varyings(&mut self, count: i32, outside: Label) {
        self.emit(|asm| {
            asm.mov(rax, qword_ptr(FRAME + at::VARYINGS))?;
            asm.add(rax, VARYING_BYTES * count)?;
            asm.cmp(rax, qword_ptr(FRAME + at::VARYINGS_END))
        });
        self.jump_if(|asm, label| asm.ja(label), outside);
    }

    fn spend(&mut self, count: usize) {
        self.emit(|asm| asm.sub(BUDGET, count as i32));
    }

    fn refund(&mut self, count: usize) {
        self.emit(|asm| asm.add(BUDGET, count as i32));
    }

    fn save_budget(&mut self) {
        self.emit(|asm| asm.mov(qword_ptr(FRAME + at::BUDGET), BUDGET));
    }

    fn load_budget(&mut self) {
        self.emit(|asm| asm.mov(BUDGET, qword_ptr(FRAME + at::BUDGET)));
    }

    fn define(&mut self, accumulators: u8) {
        self.emit(|asm| asm.and(dword_ptr(FRAME + at::UNDEFINED), !i32::from(accumulators)));
    }

    fn define_all(&mut self) {
        self.emit(|asm| asm.mov(dword_ptr(FRAME + at::UNDEFINED), 0));
    }

    fn lengthen_run(&mut self, count: usize) {
        self.emit(|asm| asm.add(dword_ptr(FRAME + at::RUN_LENGTH), count as i32));
    }

    fn end_run(&mut self) {
        self.emit(|asm| asm.mov(dword_ptr(FRAME + at::RUN_LENGTH), 0));
    }

    fn record_last(&mut self, last: usize, count: usize) {
        let last = last as i32;
        self.emit(|asm| {
            if count > 1 {
                return asm.mov(dword_ptr(FRAME + at::LAST), (last - 1) << 16 | last);
            }
            asm.mov(eax, dword_ptr(FRAME + at::LAST))?;
            asm.shl(eax, 16)?;
            asm.or(eax, last)?;
            asm.mov(dword_ptr(FRAME + at::LAST), eax)
        });
    }

    fn set_taken(&mut self, taken: bool) {
        self.emit(|asm| if taken { asm.mov(TAKEN, 1) } else { asm.xor(TAKEN, TAKEN) });
    }

    fn jump_unless_taken(&mut self, to: Label) {
        self.emit(|asm| asm.test(TAKEN, TAKEN));
        self.jump_if(|asm, label| asm.je(label), to);
    }

    fn advance_uniforms(&mut self, count: i32) {
        self.emit(|asm| asm.add(UNIFORMS, 4 * count));
    }

    fn advance_varyings(&mut self, count: i32) {
        self.emit(|asm| asm.add(qword_ptr(FRAME + at::VARYINGS), VARYING_BYTES * count));
    }

    fn set_uniforms_from(&mut self, register: RegisterIndex) {
        self.emit(|asm| asm.mov(eax, dword_ptr(Self::register(register))));
        self.set_uniforms();
    }

    fn set_uniforms(&mut self) {
        self.emit(|asm| {
            asm.mov(dword_ptr(FRAME + at::SYNCED_ADDRESS), eax)?;
            asm.mov(dword_ptr(FRAME + at::LIMITED), 0)?;
            asm.and(eax, WORD_OFFSET as i32)?;
            asm.add(rax, qword_ptr(FRAME + at::WORDS))?;
            asm.mov(UNIFORMS, rax)?;
            asm.mov(qword_ptr(FRAME + at::SYNCED), rax)?;
            asm.mov(rax, qword_ptr(FRAME + at::WORDS_END))?;
            asm.mov(qword_ptr(FRAME + at::UNIFORMS_END), rax)
        });
    }

    fn write_coordinate(&mut self, unit: u8, place: usize, from: RegisterIndex, twice: Label) {
        let bit = 1 << place;
        self.emit(|asm| {
            asm.mov(rax, qword_ptr(FRAME + (at::TMU + 8 * i32::from(unit & 1))))?;
            asm.test(dword_ptr(rax + at::WRITTEN), bit)
        });
        self.jump_if(|asm, label| asm.jne(label), twice);
        self.emit(|asm| {
            asm.mov(ecx, dword_ptr(rax + at::WRITES))?;
            asm.cmp(ecx, PARAMETERS)
        });
        self.jump_if(|asm, label| asm.jae(label), twice);
        self.emit(|asm| {
            asm.mov(edx, dword_ptr(UNIFORMS))?;
            asm.add(UNIFORMS, 4)?;
            asm.mov(dword_ptr(rax + rcx * 4 + at::PARAMETERS), edx)?;
            asm.inc(dword_ptr(rax + at::WRITES))?;
            asm.or(dword_ptr(rax + at::WRITTEN), bit)?;
            for half in [0, 32] {
                asm.vmovdqa(ymm0, ymmword_ptr(Self::register(from) + half))?;
                asm.vmovdqa(ymmword_ptr(rax + (at::COORDINATES + 64 * place as i32 + half)), ymm0)?;
            }
            Ok(())
        });
    }

    fn start_lookup(&mut self, unit: u8, from: RegisterIndex, reads_uniform: bool, otherwise: Label) {
        self.emit(|asm| {
            asm.mov(rdi, FRAME)?;
            asm.mov(esi, lookup_of(unit, reads_uniform))?;
            asm.lea(rdx, ptr(Self::register(from)))?;
            asm.mov(rcx, UNIFORMS)
        });
        self.call_function(at::LOOK_UP);
        self.point_at_vectors();
        self.emit(|asm| asm.cmp(eax, UNIFORM_BYTES));
        self.jump_if(|asm, label| asm.ja(label), otherwise);
        self.emit(|asm| asm.add(UNIFORMS, rax));
    }

    fn load_result(&mut self, unit: u8, to: RegisterIndex, empty: Label) {
        self.emit(|asm| {
            asm.mov(rax, qword_ptr(FRAME + (at::TMU + 8 * i32::from(unit & 1))))?;
            asm.cmp(dword_ptr(rax + at::COUNT), 0)
        });
        self.jump_if(|asm, label| asm.je(label), empty);
        self.emit(|asm| {
            asm.mov(ecx, dword_ptr(rax + at::FIRST))?;
            asm.mov(edx, ecx)?;
            asm.shl(edx, RECEIVED_LOG2)?;
            for half in [0, 32] {
                asm.vmovdqa(ymm0, ymmword_ptr(rax + rdx + (at::RECEIVED + half)))?;
                asm.vmovdqa(ymmword_ptr(Self::register(to) + half), ymm0)?;
            }
            asm.mov(edx, dword_ptr(rax + rdx + at::RECEIVED_SLOTS))?;
            asm.sub(dword_ptr(rax + at::REQUEST_SLOTS), edx)?;
            asm.inc(ecx)?;
            asm.and(ecx, KEPT_RESULTS as i32 - 1)?;
            // An empty ring begins at its start again.
            asm.mov(edx, 0)?;
            asm.dec(dword_ptr(rax + at::COUNT))?;
            asm.cmove(ecx, edx)?;
            asm.mov(dword_ptr(rax + at::FIRST), ecx)
        });
    }

    fn load_colour(&mut self, to: RegisterIndex, otherwise: Label) {
        self.emit(|asm| {
            asm.mov(ecx, dword_ptr(FRAME + at::TILE_COLOR_READ))?;
            asm.cmp(ecx, dword_ptr(FRAME + at::TILE_COLOR_READABLE))
        });
        self.jump_if(|asm, label| asm.jae(label), otherwise);
        self.emit(|asm| {
            asm.inc(dword_ptr(FRAME + at::TILE_COLOR_READ))?;
            asm.imul(rcx, qword_ptr(FRAME + at::TILE_COLOR_STRIDE))?;
            for half in 0..2 {
                load_quads(asm, ymm0, at::TILE_COLORS + 16 * half, rcx)?;
                asm.vmovdqa(ymmword_ptr(Self::register(to) + 32 * half), ymm0)?;
            }
            Ok(())
        });
    }

    fn write_colour(&mut self, from: RegisterIndex, otherwise: Label) {
        self.emit(|asm| {
            asm.mov(eax, dword_ptr(FRAME + at::TILE_COLOR_WORDS))?;
            asm.sub(eax, 1)
        });
        self.jump_if(|asm, label| asm.jb(label), otherwise);
        self.emit(|asm| {
            asm.mov(ecx, dword_ptr(FRAME + at::TILE_COLOR_WRITTEN))?;
            asm.inc(dword_ptr(FRAME + at::TILE_COLOR_WRITTEN))?;
            asm.and(ecx, eax)?;
            asm.shl(ecx, SECOND_WORD_LOG2)?;
            asm.mov(r10d, ecx)?;
            asm.vpxor(ymm3, ymm3, ymm3)?;
            asm.mov(rax, qword_ptr(FRAME + at::TILE_FLAGS))?;
            let sample = begin_samples(asm)?;
            store_sample(asm, from)?;
            end_samples(asm, sample)?;
            // A quad is counted once, with the first word of its colour.
            let counted = asm.create_label();
            asm.test(r10d, r10d)?;
            asm.jne(counted)?;
            count_written(asm)?;
            asm.set_label(counted)?;
            asm.zero_bytes()
        });
    }

    fn write_sample(&mut self, from: RegisterIndex, otherwise: Label) {
        self.emit(|asm| {
            asm.mov(ecx, dword_ptr(FRAME + at::TILE_SAMPLES_WRITTEN))?;
            asm.cmp(ecx, dword_ptr(FRAME + at::TILE_SAMPLES_WRITABLE))
        });
        self.jump_if(|asm, label| asm.jae(label), otherwise);
        self.emit(|asm| {
            asm.inc(dword_ptr(FRAME + at::TILE_SAMPLES_WRITTEN))?;
            asm.vmovd(xmm10, ecx)?;
            asm.vpbroadcastd(ymm0, xmm10)?;
            asm.vpbroadcastd(SAMPLE, dword_ptr(FRAME + at::TILE_FIRST_SAMPLE))?;
            asm.vpsllvd(SAMPLE, SAMPLE, ymm0)?;
            asm.imul(rcx, qword_ptr(FRAME + at::TILE_SAMPLE_BYTES))?;
            asm.vpxor(ymm3, ymm3, ymm3)?;
            asm.mov(rax, qword_ptr(FRAME + at::TILE_FLAGS))?;
            store_sample(asm, from)?;
            count_written(asm)
        });
    }

    fn test_depth(&mut self, from: RegisterIndex, otherwise: Label) {
        self.emit(|asm| asm.cmp(dword_ptr(FRAME + at::TILE_TESTS_DEPTH), 0));
        self.jump_if(|asm, label| asm.je(label), otherwise);
        let (zero, less, equal, greater, updates) = (ymm7, ymm11, ymm12, ymm13, ymm14);
        let left = [ymm5, ymm6];
        self.emit(|asm| {
            asm.xor(ecx, ecx)?;
            asm.mov(rax, qword_ptr(FRAME + at::TILE_FLAGS))?;
            for register in [zero, left[0], left[1]] {
                asm.vpxor(register, register, register)?;
            }
            for (number, passing) in (0..).zip([less, equal, greater]) {
                asm.vpbroadcastd(passing, dword_ptr(FRAME + (at::TILE_PASSING + 4 * number)))?;
            }
            asm.vpbroadcastd(updates, dword_ptr(FRAME + at::TILE_UPDATES))?;
            let sample = begin_samples(asm)?;
            for (half, left) in (0..).zip(left) {
                load_quads(asm, ymm0, at::TILE_ZS + 16 * half, rcx)?;
                // Depths are in the highest 24 bits of what is stored.
                asm.vmovdqa(ymm1, ymmword_ptr(Self::register(from) + 32 * half))?;
                asm.vpslld(ymm1, ymm1, 8)?;
                asm.vpsrld(ymm2, ymm0, 8)?;
                asm.vpsrld(ymm3, ymm1, 8)?;
                asm.vpcmpgtd(ymm4, ymm2, ymm3)?;
                asm.vpcmpgtd(ymm2, ymm3, ymm2)?;
                asm.vblendvps(ymm3, equal, less, ymm4)?;
                asm.vblendvps(ymm3, ymm3, greater, ymm2)?;
                // What is not covered is not tested.
                asm.vpand(ymm2, SAMPLE, ymmword_ptr(rax + 32 * half))?;
                asm.vpcmpeqd(ymm4, ymm2, zero)?;
                asm.vpandn(ymm3, ymm4, ymm3)?;
                asm.vpand(ymm2, ymm2, ymm3)?;
                asm.vpor(left, left, ymm2)?;
                // The stencil stays.
                asm.vpslld(ymm2, ymm0, 24)?;
                asm.vpsrld(ymm2, ymm2, 24)?;
                asm.vpor(ymm1, ymm1, ymm2)?;
                asm.vpand(ymm3, ymm3, updates)?;
                asm.vblendvps(ymm0, ymm0, ymm1, ymm3)?;
                store_quads(asm, ymm0, at::TILE_ZS + 16 * half, rcx)?;
            }
            end_samples(asm, sample)?;
            asm.vpcmpeqd(ymm0, zero, ymmword_ptr(rax))?;
            asm.vpcmpeqd(ymm1, zero, ymmword_ptr(rax + 32))?;
            for (half, left) in (0..).zip(left) {
                asm.vmovdqa(ymmword_ptr(rax + 32 * half), left)?;
                asm.vpcmpeqd(left, left, zero)?;
            }
            gather_bits(asm, left[0], left[1])?;
            asm.not(eax)?;
            count_quads(asm, at::TILE_QUADS_PASSED)?;
            asm.sub(dword_ptr(FRAME + at::TILE_QUADS_FAILED), eax)?;
            gather_bits(asm, ymm0, ymm1)?;
            asm.not(eax)?;
            count_quads(asm, at::TILE_QUADS_FAILED)
        });
    }

    fn prepare_call(&mut self, index: usize) {
        self.emit(|asm| {
            asm.mov(qword_ptr(FRAME + at::UNIFORMS), UNIFORMS)?;
            asm.mov(rdi, FRAME)?;
            asm.mov(esi, index as u32)
        });
    }

    fn call(&mut self, function: CallBack) {
        match function.computes() {
            true => self.call_function(function.place()),
            false => self.call_function_without_floats(function.place()),
        }
        self.point_at_vectors();
    }

    fn finish_call(&mut self) {
        self.emit(|asm| {
            asm.mov(REGISTERS, qword_ptr(FRAME + at::REGISTERS))?;
            asm.mov(FLAGS, qword_ptr(FRAME + at::FLAGS))?;
            asm.mov(UNIFORMS, qword_ptr(FRAME + at::UNIFORMS))
        });
    }

    fn jump_if_begun(&mut self, to: Label) {
        self.emit(|asm| asm.test(eax, eax));
        self.jump_if(|asm, label| asm.jne(label), to);
    }

    fn jump_if_found(&mut self, to: Label) {
        self.jump_if(|asm, label| asm.jne(label), to);
    }

    fn jump_if_large_uniform(&mut self, index: i32, to: Label) {
        self.emit(|asm| {
            asm.mov(eax, dword_ptr(UNIFORMS + 4 * index))?;
            asm.and(eax, CONSTANTS.magnitude as i32)?;
            asm.cmp(eax, CONSTANTS.large as i32)
        });
        self.jump_if(|asm, label| asm.jae(label), to);
    }

    fn jump_unless_small_varyings(&mut self, to: Label) {
        self.emit(|asm| asm.cmp(dword_ptr(FRAME + at::SMALL_VARYINGS), 0));
        self.jump_if(|asm, label| asm.je(label), to);
    }

    fn call_label(&mut self, to: Label) {
        self.jump_if(|asm, label| asm.call(label), to);
    }

    fn finish(&mut self) -> Result<Encoded, String> {
        if let Some(error) = self.error.take() {
            return Err(error.to_string());
        }
        let encoded = self.asm.encode().map_err(|error| error.to_string())?;
        let labels = self.labels.iter().map(|&label| encoded.offset(label)).collect();
        Ok(Encoded { bytes: encoded.bytes, labels })
    }
}
