//! Entry to translated code: the call into it, and its calls back.
//!
//! # Why this is sound
//! Translated code accesses only the register array, the flags, the old r4, the FIFOs in the TMUs, the frame, constants, the uniforms and varyings between the
//! addresses in the frame, and its own stack.
//! - Every register is inside of the register array: a [`RegisterIndex`](crate::qpu::isa::registers::RegisterIndex) is a byte, and the array has 256
//!   elements.
//! - In a TMU's FIFOs it writes a coordinate by its number, a parameter only after it has found that fewer have been written, and reads the result whose index
//!   the model keeps within the ring.
//! - A segment checks at its top that all uniforms and varyings that its micro-ops take, including those in call backs, are between these addresses. After a
//!   micro-op that changes the address of the uniforms, no micro-op takes one without another check. A call back takes at most one varying and leaves the
//!   others in place: [`CallBack::end`] asserts that for every [`Io`].
//! - Of the tile buffer it accesses the words of the quads that the frame points to, which a unit names only while they are four words inside of its buffers,
//!   no two at the same place, and the masks of the batch. A unit that has named none names none later in the same call, so the frame keeps that until it
//!   returns.
//! - While the code runs, nothing else accesses the [`Qpu`]: [`run`] borrows it and passes it on as a pointer. A call back makes references from the frame's
//!   pointers, drops them before it returns, and gives the code new pointers, since the references have invalidated the old ones. One for a TMU makes none to
//!   the other units, so that the varyings stay where they are; once none is left, the code reads none, and their addresses no longer matter.
//!   One that reads the pixels' coordinates reads the places of a batch's quads and writes nothing of the unit: the varyings, samples and masks that the frame
//!   points to are other memory, and its pointers stay. A call that [starts a lookup](LookUp) makes references to a TMU and to the register that is written to
//!   it, from the frame's own pointers, and uses nothing else that the frame points to: its pointers stay.

#![allow(unsafe_code)]

/// The types of functions that translated code and this module call each other by, and the call backs, with a calling convention.
macro_rules! functions_for_code {
    ($convention:literal) => {
        /// The entry of translated code: takes the frame and a segment's address, returns the index of the next instruction.
        pub(super) type Entry = unsafe extern $convention fn(*mut Frame, *const u8) -> u32;
        /// A call back for a micro-op: the frame, and the micro-op's index in the block.
        pub(in crate::qpu) type ExecuteMicroOp = unsafe extern $convention fn(*mut Frame, u32);
        /// A call that starts a lookup by writing a register to `s`. It takes the frame, what `lookup_of` returns for the instruction, the register, and the
        /// next uniform. It returns by how many bytes the uniforms advance, or `NOT_STARTED`: then the write is left to the call back for its micro-op.
        pub(in crate::qpu) type LookUp =
            unsafe extern $convention fn(*mut Frame, u32, *const Lanes, *const AtomicU32) -> u32;
        /// A call back before a group: the frame, and the group's index. Not 0 if its micro-ops may be executed now.
        pub(in crate::qpu) type BeginGroup = unsafe extern $convention fn(*mut Frame, u32) -> u32;
        /// A call for results of a function that are infinite, have overflowed or are uncertain: the argument, and the place of the result. Each is a vector
        /// register of the host.
        pub(in crate::qpu) type SpecialResult = unsafe extern $convention fn(*const u32, *mut u32);

        unsafe extern $convention fn execute_lookup_for_code(frame: *mut Frame, micro_op: u32) {
            // SAFETY: translated code calls this with its own frame.
            unsafe { execute_lookup(frame, micro_op) }
        }

        unsafe extern $convention fn access_unit_for_code(frame: *mut Frame, micro_op: u32) {
            // SAFETY: as above.
            unsafe { access_unit(frame, micro_op) }
        }

        unsafe extern $convention fn begin_group_for_code(frame: *mut Frame, at: u32) -> u32 {
            // SAFETY: as above.
            unsafe { begin_group(frame, at) }
        }

        unsafe extern $convention fn special_exp<const N: usize>(argument: *const u32, result: *mut u32) {
            // SAFETY: translated code calls this with two vectors of the host on its stack.
            unsafe { each::<N>(argument, result, Function::Exp) }
        }

        unsafe extern $convention fn special_log<const N: usize>(argument: *const u32, result: *mut u32) {
            // SAFETY: as above.
            unsafe { each::<N>(argument, result, Function::Log) }
        }
    };
}

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "aarch64")]
pub(super) use aarch64::{BeginGroup, ExecuteMicroOp, LookUp, SpecialResult, calls, interpret};
#[cfg(target_arch = "x86_64")]
pub(super) use x86::{BeginGroup, ExecuteMicroOp, LookUp, SpecialResult, calls, interpret};

#[cfg(target_arch = "aarch64")]
use aarch64::{Entry, QPU_ROUNDING};
#[cfg(target_arch = "x86_64")]
use x86::{Entry, QPU_ROUNDING};

use super::code::Code;
use super::constants::VECTORS;
use super::frame::{CONSTANTS, Frame, MIDDLE, NO_INSTRUCTION, READS_UNIFORM, SWITCHED_LAST, UNIFORM_BYTES};
use super::numbers::NUMBERS;
use crate::memory::{Memory, Path};
use crate::qpu::block::Block;
use crate::qpu::block::micro_op::MicroOp;
use crate::qpu::io::{Io, TileAccess, Varying};
use crate::qpu::isa::sfu::{self, Function};
use crate::qpu::lanes::Lanes;
use crate::qpu::{Qpu, Threading};
use crate::simd::vectors::Portable;
use crate::tmu::VectorLookup;
use std::mem::transmute;
use std::ptr;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use v3d_hw::BusAddr;
use v3d_hw::qpu::Hazard;
use v3d_hw::qpu::address_map::{ReadSource, TmuCoordinate};

/// What [`LookUp`] returns if it has started no lookup: more than the size of a uniform.
const NOT_STARTED: u32 = u32::MAX;

/// The context of call backs.
struct CallContext<'a> {
    qpu: *mut Qpu,
    io: *mut (dyn Io + 'a),
    memory: Memory<'a>,
    block: &'a Block,
    /// The budget when the code was entered.
    budget: u64,
}

impl Frame {
    /// Sets the pointers to registers, flags and uniforms of a QPU, and to its varyings.
    #[inline(always)]
    fn point_at<I: Io + ?Sized>(&mut self, qpu: &mut Qpu, io: &mut I, memory: Memory<'_>) {
        self.point_at_registers(qpu);
        self.point_at_uniforms(qpu, memory);
        self.point_at_varyings(io);
    }

    /// Notes what code has done with samples of the tile buffer, before the unit is used otherwise.
    #[inline(always)]
    fn give_tile_back<I: Io + ?Sized>(&self, io: &mut I) {
        if self.tile.color_words != 0 {
            io.note_tile_access(&self.tile);
        }
    }

    /// Points at samples of the tile buffer again.
    fn take_tile(&mut self, io: &mut dyn Io) {
        if self.tile.color_words != 0 {
            io.tile_access(&mut self.tile);
        }
    }

    #[inline(always)]
    fn point_at_varyings<I: Io + ?Sized>(&mut self, io: &mut I) {
        let varyings = io.varyings_ahead().as_ptr_range();
        (self.varyings, self.varyings_synced, self.varyings_end) = (varyings.start, varyings.start, varyings.end);
        self.small_varyings = u32::from(io.has_small_varyings());
    }

    fn point_at_registers(&mut self, qpu: &mut Qpu) {
        self.registers = qpu.registers.as_mut_ptr().wrapping_add(MIDDLE as usize);
        self.flags = &raw mut qpu.flags;
        self.stale_r4 = &raw mut qpu.stale_r4;
        self.tmu = qpu.tmu.each_mut().map(ptr::from_mut);
    }

    fn point_at_uniforms(&mut self, qpu: &Qpu, memory: Memory<'_>) {
        let words = memory.words_to_read().get(BusAddr(qpu.uniforms).offset() as usize / 4..).unwrap_or_default();
        let most = qpu.uniforms_left.map_or(usize::MAX, |left| left as usize);
        let words = words.get(..most).unwrap_or(words).as_ptr_range();
        (self.uniforms, self.uniforms_end) = (words.start, words.end);
        (self.synced, self.synced_address) = (words.start, qpu.uniforms);
        self.limited = u32::from(qpu.uniforms_left.is_some());
    }

    /// Varyings that have not been read yet.
    fn varyings_left(&self) -> usize {
        self.varyings_end.addr().saturating_sub(self.varyings.addr()) / size_of::<Varying>()
    }

    /// Removes the varyings that translated code has read from the unit that supplies them.
    #[inline(always)]
    fn take_varyings<I: Io + ?Sized>(&self, io: &mut I) {
        let taken = self.varyings.addr().wrapping_sub(self.varyings_synced.addr()) / size_of::<Varying>();
        if taken != 0 {
            io.take_varyings(taken);
        }
    }
}

impl Qpu {
    /// Advances the uniforms' address past those that translated code has read.
    fn take_uniforms(&mut self, frame: &Frame, memory: Memory<'_>) {
        let taken = (frame.uniforms.addr().wrapping_sub(frame.synced.addr()) / size_of::<AtomicU32>()) as u32;
        self.uniforms = frame.synced_address.wrapping_add(taken.wrapping_mul(4));
        if memory.notes_reads() {
            let first = u64::from(BusAddr(frame.synced_address).offset());
            memory.through(Path::Uniforms).note_read(first..first + 4 * u64::from(taken));
        }
        self.uniforms_left = self.uniforms_left.filter(|_| frame.limited != 0).map(|left| left.saturating_sub(taken));
    }

    /// Takes over from translated code whether it has switched threads, which accumulators are undefined, and the scoreboard.
    fn take_state(&mut self, frame: &mut Frame) {
        let switched = std::mem::take(&mut frame.switched);
        if switched != 0 {
            self.switched = true;
            self.last_switch |= switched & SWITCHED_LAST != 0;
            self.undefine_accumulators();
        }
        // After the switches, which make all accumulators undefined: code may have written some since.
        self.undefined = frame.undefined as u8;
        self.scoreboard |= frame.scoreboard != 0;
    }
}

/// Executes, starting with a segment; returns the index of the next instruction. If the budget is unchanged, nothing was executed.
#[inline(always)]
pub(super) fn run(
    qpu: &mut Qpu,
    block: &Block,
    code: &Code,
    segment: u32,
    io: &mut dyn Io,
    memory: Memory<'_>,
    budget: &mut u64,
) -> usize {
    let io = ptr::from_mut(io);
    // SAFETY: both are the same unit, borrowed for the whole function.
    unsafe { run_with_unit(qpu, block, code, segment, io, io, memory, budget) }
}

/// The same for a unit whose type is known, so that what it does before and after the code is compiled into the caller.
#[inline(always)]
pub(super) fn run_of<I: Io>(
    qpu: &mut Qpu,
    block: &Block,
    code: &Code,
    segment: u32,
    io: &mut I,
    memory: Memory<'_>,
    budget: &mut u64,
) -> usize {
    let io = ptr::from_mut(io);
    // SAFETY: both are the same unit, borrowed for the whole function.
    unsafe { run_with_unit(qpu, block, code, segment, io, io, memory, budget) }
}

/// Executes, with a unit that call backs know as `called`.
///
/// # Safety
/// Both pointers are to the same unit, which nothing else uses until this returns.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
unsafe fn run_with_unit<I: Io + ?Sized>(
    qpu: &mut Qpu,
    block: &Block,
    code: &Code,
    segment: u32,
    io: *mut I,
    called: *mut (dyn Io + '_),
    memory: Memory<'_>,
    budget: &mut u64,
) -> usize {
    let words = memory.words().as_ptr_range();
    let mut frame = Frame {
        constants: CONSTANTS,
        registers: ptr::null_mut(),
        flags: ptr::null_mut(),
        stale_r4: ptr::null_mut(),
        tmu: [ptr::null_mut(); 2],
        uniforms: ptr::null(),
        uniforms_end: ptr::null(),
        synced: ptr::null(),
        synced_address: 0,
        limited: 0,
        varyings: ptr::null(),
        varyings_synced: ptr::null(),
        varyings_end: ptr::null(),
        small_varyings: 0,
        tile: TileAccess::NONE,
        words: words.start,
        words_end: words.end,
        budget: *budget,
        context: ptr::null_mut(),
        calls: code.calls,
        numbers: &NUMBERS,
        vectors: VECTORS.as_ptr(),
        undefined: u32::from(qpu.undefined),
        threaded: u32::from(qpu.threading == Threading::Threaded),
        may_switch: u32::from(qpu.threading == Threading::Threaded && !qpu.last_switch),
        switched: 0,
        scoreboard: u32::from(qpu.scoreboard && qpu.may_use_scoreboard(0)),
        scoreboard_alone: 0,
        scoreboard_from: 0,
        ended: 0,
        run_length: qpu.run_length,
        last: u32::MAX,
        rounding: QPU_ROUNDING,
        rounding_outside: 0,
    };
    // SAFETY: as the caller of this function promises; the reference is dropped before the pointers are used elsewhere.
    let io_now = unsafe { &mut *io };
    if io_now.has_scoreboard_alone()
        && let Some(from) = (*budget + qpu.executed).checked_sub(u64::from(Hazard::ScoreboardAfterStart.between()))
    {
        (frame.scoreboard_alone, frame.scoreboard_from) = (1, from);
    }
    let qpu = ptr::from_mut(qpu);
    let mut context = CallContext { qpu, io: called, memory, block, budget: *budget };
    frame.context = (&raw mut context).cast();
    // SAFETY: it is borrowed for the whole function, and the reference is dropped before the pointer is used elsewhere.
    let qpu_now = unsafe { &mut *qpu };
    frame.point_at(qpu_now, io_now, memory);
    // Last, since pointing at varyings interpolates them in the memory that has the masks.
    io_now.tile_access(&mut frame.tile);
    code.prepare();
    let entry = code.memory.as_ptr();
    // SAFETY: the memory holds code that `translate` has made, with its entry at the start and a segment at this offset. The frame fulfils the conditions in
    // the module documentation. `translation` has found the host's vectors before any code was made.
    let next = unsafe { transmute::<*const u8, Entry>(entry)(&raw mut frame, entry.wrapping_add(segment as usize)) };

    // SAFETY: as above, and the code has returned.
    let (qpu, io) = unsafe { (&mut *qpu, &mut *io) };
    let executed = *budget - frame.budget;
    *budget = frame.budget;
    qpu.take_uniforms(&frame, memory);
    frame.take_varyings(io);
    frame.give_tile_back(io);
    qpu.take_state(&mut frame);
    qpu.run_length = frame.run_length;
    if frame.ended != 0 {
        // What comes next is another program, which has no predecessors.
        qpu.ending = Some(0);
    } else {
        let touches = |index: u16| block.instructions.get(usize::from(index)).map(|placed| placed.instruction.touches);
        let (last, before) = (frame.last as u16, (frame.last >> 16) as u16);
        if last != NO_INSTRUCTION {
            let earlier = qpu.recent[0];
            qpu.recent = [touches(last).unwrap_or_default(), touches(before).unwrap_or(earlier)];
        }
    }
    qpu.pc = block.address_of(next as usize);
    qpu.executed += executed;
    qpu.translated += executed;
    next as usize
}

/// A call back in progress.
struct CallBack<'a> {
    frame: &'a mut Frame,
    context: &'a mut CallContext<'a>,
    qpu: &'a mut Qpu,
    io: &'a mut dyn Io,
}

impl<'a> CallBack<'a> {
    /// Takes control from translated code.
    ///
    /// # Safety
    /// Called once in a function that translated code has called with this frame; the result is dropped before that function returns.
    #[inline(always)]
    unsafe fn begin(frame: *mut Frame) -> Self {
        // SAFETY: the frame exists as long as the code runs, and the code waits for this call.
        let frame = unsafe { &mut *frame };
        // SAFETY: `run` has stored a context there, which exists as long as the frame.
        let context = unsafe { &mut *frame.context.cast::<CallContext<'a>>() };
        // SAFETY: `run` borrows both, and does not use them while the code runs.
        let (qpu, io) = unsafe { (&mut *context.qpu, &mut *context.io) };
        qpu.take_uniforms(frame, context.memory);
        frame.take_varyings(io);
        frame.give_tile_back(io);
        Self { frame, context, qpu, io }
    }

    /// Returns control to translated code.
    ///
    /// # Panics
    /// Panics if varyings are missing that no micro-op has taken. The code has checked their number and cannot continue, and a panic cannot unwind through it:
    /// the process aborts.
    #[inline(always)]
    fn end(self) {
        let before = self.frame.varyings_left();
        self.frame.point_at(self.qpu, self.io, self.context.memory);
        self.frame.take_tile(self.io);
        assert!(self.frame.varyings_left() + 1 >= before, "the unit has lost varyings that it had announced");
    }
}

/// Executes a micro-op for translated code.
///
/// # Safety
/// Called only by translated code, with its frame.
#[inline(always)]
unsafe fn execute_micro_op(frame: *mut Frame, micro_op: u32) {
    // SAFETY: as the caller of this function promises.
    let call = unsafe { CallBack::begin(frame) };
    let block = call.context.block;
    if let Some(micro_op) = block.micro_op(micro_op as usize) {
        call.qpu.execute_micro_op::<Portable<true>>(micro_op, block, call.io, call.context.memory);
    }
    call.end();
}

/// Executes a micro-op of a TMU for translated code.
///
/// # Safety
/// As for [`execute_micro_op`].
#[inline(always)]
unsafe fn execute_lookup(frame: *mut Frame, micro_op: u32) {
    // SAFETY: the frame exists as long as the code runs, and the code waits for this call.
    let frame = unsafe { &mut *frame };
    // SAFETY: `run` has stored a context there, which exists as long as the frame.
    let context = unsafe { &mut *frame.context.cast::<CallContext<'_>>() };
    // SAFETY: `run` borrows it, and does not use it while the code runs.
    let qpu = unsafe { &mut *context.qpu };
    if let Some(micro_op) = context.block.micro_op(micro_op as usize) {
        let takes_uniforms = matches!(micro_op, MicroOp::Tmu { .. });
        if takes_uniforms {
            qpu.take_uniforms(frame, context.memory);
        }
        qpu.execute_lookup(micro_op, context.block, context.memory);
        if takes_uniforms {
            frame.point_at_uniforms(qpu, context.memory);
        }
    }
    frame.point_at_registers(qpu);
}

/// A lookup that the write of a register to `s` starts.
///
/// # Safety
/// Called only by translated code, with its frame, the address of a register in its array, and that of the next uniform, which exists if the write takes one.
#[inline(always)]
unsafe fn lookup<'a>(
    frame: *mut Frame,
    which: u32,
    s: *const Lanes,
    uniform: *const AtomicU32,
) -> Option<VectorLookup<'a>> {
    let unit = which as usize & 1;
    // SAFETY: the frame exists as long as the code runs, and the code waits for this call.
    let frame = unsafe { &mut *frame };
    // SAFETY: `run` has stored a context there, which exists as long as the frame.
    let context = unsafe { &*frame.context.cast::<CallContext<'a>>() };
    // SAFETY: `run` borrows it, and does not use it while the code runs. This is a member that the frame does not point to.
    let no_swap = unsafe { (*context.qpu).no_swap_at }.is_some();
    let tmu = *frame.tmu.get(unit)?;
    // SAFETY: the frame points to it while the code runs, and its reference is dropped before the code goes on. The register is another part of the QPU.
    let (tmu, s) = unsafe { (&mut *tmu, &*s) };
    let uniform = match tmu.needs_uniform(TmuCoordinate::S) {
        // That is against the rules.
        true if which & READS_UNIFORM != 0 => return None,
        // SAFETY: as the caller of this function promises.
        true => unsafe { &*uniform }.load(Relaxed),
        false => 0,
    };
    Some(VectorLookup { tmu, s, uniform, memory: context.memory.through(Path::of_tmu(unit, no_swap)) })
}

/// How far the uniforms advance with a lookup, for translated code.
#[inline(always)]
fn advance(took_uniform: Option<bool>) -> u32 {
    took_uniform.map_or(NOT_STARTED, |took| if took { UNIFORM_BYTES as u32 } else { 0 })
}

/// Executes a micro-op for translated code that accesses another unit, but takes neither uniform nor varying.
///
/// # Safety
/// As for [`execute_micro_op`].
#[inline(always)]
unsafe fn access_unit(frame: *mut Frame, micro_op: u32) {
    // SAFETY: the frame exists as long as the code runs, and the code waits for this call.
    let frame = unsafe { &mut *frame };
    // SAFETY: `run` has stored a context there, which exists as long as the frame.
    let context = unsafe { &mut *frame.context.cast::<CallContext<'_>>() };
    let Some(micro_op) = context.block.micro_op(micro_op as usize) else { return };
    // SAFETY: `run` borrows both, and does not use them while the code runs.
    let (qpu, io) = unsafe { (&mut *context.qpu, &mut *context.io) };
    if let MicroOp::Read { source: ReadSource::XPixelCoord | ReadSource::YPixelCoord, .. } = micro_op {
        // Varyings, samples and masks stay where they are.
        qpu.access_unit(micro_op, context.block, io, context.memory);
        frame.point_at_registers(qpu);
        return;
    }
    let before = frame.varyings_left();
    if before != 0 {
        frame.take_varyings(io);
    }
    frame.give_tile_back(io);
    qpu.access_unit(micro_op, context.block, io, context.memory);
    frame.point_at_registers(qpu);
    // Without varyings the code reads none, wherever they are.
    if before != 0 {
        frame.point_at_varyings(io);
        assert!(frame.varyings_left() >= before, "the unit has lost varyings that it had announced");
    }
    frame.take_tile(io);
}

/// Begins a group for translated code, which then executes its micro-ops; returns whether it may do so.
///
/// # Safety
/// As for [`execute_micro_op`].
#[inline(always)]
unsafe fn begin_group(frame: *mut Frame, at: u32) -> u32 {
    // SAFETY: as the caller of this function promises.
    let call = unsafe { CallBack::begin(frame) };
    let at = at as usize;
    let block = call.context.block;
    let mut begun = false;
    if let Some(group) = block.runs.get(at).and_then(|run| run.group) {
        call.qpu.take_state(call.frame);
        let executed = call.context.budget - call.frame.budget;
        begun = call.qpu.begin_group(block, at, group, executed, call.io);
        call.frame.undefined = u32::from(call.qpu.undefined);
        call.frame.may_switch = u32::from(call.qpu.threading == Threading::Threaded && !call.qpu.last_switch);
        call.frame.scoreboard = u32::from(call.qpu.scoreboard && call.qpu.may_use_scoreboard(executed));
    }
    call.end();
    u32::from(begun)
}

/// A function of each element.
///
/// # Safety
/// Each pointer is that of `N` words.
#[inline(always)]
unsafe fn each<const N: usize>(argument: *const u32, result: *mut u32, function: Function) {
    // SAFETY: as the caller of this function promises; words have no alignment but their own.
    let arguments = unsafe { *argument.cast::<[u32; N]>() };
    // SAFETY: as above.
    unsafe { *result.cast::<[u32; N]>() = arguments.map(|argument| sfu::apply(function, argument)) }
}
