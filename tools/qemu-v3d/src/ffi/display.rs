//! The display's registers in the machine, its interrupts, and the clock of its frames.
//!
//! A timer of QEMU's virtual clock ends each frame, while a pixel valve runs; QEMU calls back in its main loop, under its big lock. The same lock is held by
//! callbacks for MMIO, and by the [console](super::console) when it asks for the picture.
//!
//! # Sources
//! QEMU 7.2 and 10.0: `include/qemu/timer.h`.

use super::console::{Console, Screen};
use super::functions::Qemu;
use super::layout::MemoryRegionOps;
use super::{Board, PLUGIN, State};
use crate::display::{Block, Display, INTERRUPTS};
use crate::firmware::Behaviour;
use crate::machine::Soc;
use std::ffi::{c_int, c_uint, c_void};
use std::ptr;
use std::time::Instant;
use v3d_sim::memory::Memory;

/// `QEMU_CLOCK_VIRTUAL`: stands still while the guest does.
const VIRTUAL_CLOCK: c_int = 1;
/// `SCALE_NS`.
const NANOSECONDS: c_int = 1;

/// How QEMU reaches each block, in the order of [`Block::ALL`].
static OPS: [MemoryRegionOps; Block::ALL.len()] = [
    MemoryRegionOps::registers(read::<0>, write::<0>),
    MemoryRegionOps::registers(read::<1>, write::<1>),
    MemoryRegionOps::registers(read::<2>, write::<2>),
    MemoryRegionOps::registers(read::<3>, write::<3>),
    MemoryRegionOps::registers(read::<4>, write::<4>),
    MemoryRegionOps::registers(read::<5>, write::<5>),
    MemoryRegionOps::registers(read::<6>, write::<6>),
];

/// Room for a `QEMUTimer`: its real size is under 64 bytes from QEMU 7.2 to 11.1; only QEMU looks inside.
#[repr(C, align(16))]
pub(super) struct TimerMemory([u8; 256]);

/// The display, and how it is connected to QEMU.
pub(super) struct Output {
    pub(super) display: Display,
    /// The levels that were last signalled to the interrupt controller.
    levels: [bool; INTERRUPTS.len()],
    timer: *mut TimerMemory,
    /// For when the timer is set.
    due: Option<u64>,
    /// Where the picture goes, once the guest has one; an error after a sentence has said why it goes nowhere.
    screen: Option<Result<Screen, ()>>,
}

// SAFETY: the timer is QEMU's from its initialization on, lives as long as the program, and is only handed back to QEMU, under its big lock.
unsafe impl Send for Output {}

impl Output {
    /// A display, before its registers are in the machine.
    pub(super) fn new(display: Display) -> Self {
        Self { display, levels: [false; INTERRUPTS.len()], timer: ptr::null_mut(), due: None, screen: None }
    }

    /// Puts the registers into the machine when its first vCPU exists.
    pub(super) fn install(&mut self, qemu: &Qemu, soc: Soc) {
        for (block, ops) in Block::ALL.into_iter().zip(&OPS) {
            let (offset, bytes) = block.place();
            qemu.put_registers(c"display", ops, soc.peripheral(offset), bytes);
        }
        self.timer = Box::into_raw(Box::new(TimerMemory([0; 256])));
        // SAFETY: the memory is zeroed, larger than a `QEMUTimer` and never freed; a null group is that of the main loop; the callback has QEMU's type and
        // lives as long as the library.
        unsafe {
            (qemu.timer_init_full)(
                self.timer.cast(),
                ptr::null_mut(),
                VIRTUAL_CLOCK,
                NANOSECONDS,
                0,
                frame_ends,
                ptr::null_mut(),
            );
        }
    }

    /// After a register access or the end of a frame: sets interrupt lines and the timer, and takes QEMU's console over when the guest first has a picture.
    fn settle(&mut self, qemu: &Qemu, board: Board) {
        let levels = self.display.levels();
        for ((&line, &level), before) in INTERRUPTS.iter().zip(&levels).zip(&mut self.levels) {
            if level != *before {
                *before = level;
                if let Some(irq) = qemu.gpu_interrupt(board.controller, line.into()) {
                    // SAFETY: `irq` is an input of the controller; the big lock is held.
                    unsafe { (qemu.qemu_set_irq)(irq.as_ptr(), c_int::from(level)) };
                }
            }
        }
        let due = self.display.next_blanking();
        if due != self.due {
            self.due = due;
            // SAFETY: the timer was initialized when the registers were put into the machine; the big lock is held.
            unsafe {
                match due {
                    Some(due) => (qemu.timer_mod_ns)(self.timer.cast(), due as i64),
                    None => (qemu.timer_del)(self.timer.cast()),
                }
            }
        }
        if self.screen.is_none() && self.display.is_in_use() {
            let taken = Console::find().and_then(|console| console.take(qemu));
            self.screen =
                Some(taken.map_err(|sentence| eprintln!("the guest's display is not shown by QEMU: {sentence}")));
        }
    }

    /// Returns to the state after power-on, when the machine is reset: so is the interrupt controller, and the screen is the firmware's again.
    pub(super) fn reset(&mut self, qemu: &Qemu) {
        self.display.reset();
        self.levels = [false; INTERRUPTS.len()];
        self.due = None;
        // SAFETY: as in `settle`.
        unsafe { (qemu.timer_del)(self.timer.cast()) };
        if let Some(Ok(screen)) = self.screen.take() {
            screen.give_back();
        }
    }

    /// The screen, and the display whose picture it shows.
    pub(super) fn screen(&mut self) -> Option<(&mut Screen, &mut Display)> {
        match &mut self.screen {
            Some(Ok(screen)) => Some((screen, &mut self.display)),
            _ => None,
        }
    }
}

impl Qemu {
    /// The virtual time in nanoseconds.
    fn virtual_time(&self) -> u64 {
        // SAFETY: reads a clock, from any thread.
        unsafe { (self.qemu_clock_get_ns)(VIRTUAL_CLOCK) }.try_into().unwrap_or(0)
    }
}

impl State {
    /// Tells what the display does not show.
    pub(super) fn tell_remarks(&mut self) {
        if let Some(output) = &mut self.output {
            output.display.take_remarks().iter().for_each(|remark| self.device.tell_of_display(remark));
        }
    }
}

/// Calls a function with the display and its connections, the virtual time and the rest of the state; then sets interrupt lines, timer and screen.
fn with_output<T>(work: impl FnOnce(&mut Output, u64, &State) -> T) -> Option<T> {
    let plugin = PLUGIN.get()?;
    let (qemu, mut state) = (&plugin.qemu, plugin.state());
    let board = state.board(qemu);
    // Taken out while the rest of the state is looked at.
    let mut output = state.output.take()?;
    let result = work(&mut output, qemu.virtual_time(), &state);
    output.settle(qemu, board);
    state.output = Some(output);
    Some(result)
}

/// A guest load.
extern "C" fn read<const INDEX: usize>(_opaque: *mut c_void, offset: u64, _bytes: c_uint) -> u64 {
    let block = Block::ALL[INDEX];
    let value = with_output(|Output { display, .. }, now, state| {
        let value = display.read(block, offset, now);
        let surroundings = &state.surroundings;
        // A board's firmware shows its own pictures until the guest takes the channel.
        if block == Block::Hvs && surroundings.has(Behaviour::Board) && !display.channel_is_enabled(1) {
            value | surroundings.power.read_hvs(offset, Instant::now())
        } else {
            value
        }
    });
    value.unwrap_or(0).into()
}

/// A guest store.
extern "C" fn write<const INDEX: usize>(_opaque: *mut c_void, offset: u64, value: u64, _bytes: c_uint) {
    with_output(|output, now, _| output.display.write(Block::ALL[INDEX], offset, value as u32, now));
}

/// Called by QEMU's main loop, under its big lock, when a frame ends.
extern "C" fn frame_ends(_opaque: *mut c_void) {
    with_output(|output, now, _| {
        // The timer is no longer set.
        output.due = None;
        output.display.blank(now);
    });
}

/// The picture as it is now: calls a function with the display, memory and the screen, if the guest has it.
pub(super) fn with_screen<T>(work: impl FnOnce(&mut Display, Memory<'_>, &mut Screen) -> T) -> Option<T> {
    let plugin = PLUGIN.get()?;
    let mut state = plugin.state();
    let memory = Memory::new(state.board?.ram);
    let (screen, display) = state.output.as_mut()?.screen()?;
    let result = work(display, memory, screen);
    state.tell_remarks();
    Some(result)
}
