//! Interrupts of the peripherals: 64 lines, each with one handler
//!
//! The controller has two pending, two enable and two disable registers of 32 lines each. The chip's local controller routes all of them to core 0's IRQ by
//! default. Lines are level-triggered: a handler must make its device deassert the line.
//!
//! # Interrupt storms
//! A line that stays asserted would keep the processor in its handler for ever. A line that is served more than [`MAX_PER_TICK`] times between two ticks of the
//! timer is therefore disabled until the next tick: everything else continues, slowly, and the shell reports the line ([`take_storms`]).
//!
//! # Interrupts without a line
//! The basic bank (the ARM's timer, mailbox and doorbells) and the cores' own block raise the same IRQ, and the kernel has no handlers for them. They are
//! disabled at the beginning. The firmware runs on and may enable one again: an IRQ that finds no line asserted is counted, and after [`MAX_EMPTY`] between
//! two ticks all of these sources are disabled again, for good, and the shell reports them ([`take_stray`]).
//!
//! # Sources
//! BCM2835 ARM Peripherals, chapter 7; QA7 rev 3.4, section 4.2.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use tock_registers::{
    interfaces::{Readable, Writeable},
    register_structs,
    registers::{ReadOnly, ReadWrite, WriteOnly},
};

use super::core_interrupts::CoreInterrupts;
use crate::{irq_lock::IrqLock, mmio::Mmio};

register_structs! {
    /// The controller's registers; bank 0 is lines 0 to 31, bank 1 lines 32 to 63.
    #[allow(missing_docs, reason = "field names are the manual's register names")]
    pub Registers {
        (0x00 => pub basic_pending: ReadOnly<u32>),
        (0x04 => pub pending: [ReadOnly<u32>; 2]),
        (0x0c => pub fiq_control: ReadWrite<u32>),
        (0x10 => pub enable: [ReadWrite<u32>; 2]),
        (0x18 => pub enable_basic: ReadWrite<u32>),
        (0x1c => pub disable: [WriteOnly<u32>; 2]),
        (0x24 => pub disable_basic: WriteOnly<u32>),
        (0x28 => @END),
    }
}

/// How often a line may be served between two ticks. The serial ports need a hundred at most, the V3D a few for each list.
pub const MAX_PER_TICK: u32 = 2000;

/// How many interrupts without an asserted line there may be between two ticks. One may come when a device withdraws its request just before it is served.
pub const MAX_EMPTY: u32 = 100;

/// The lines of the basic bank in its registers; other bits of the pending register summarize the two banks.
const BASIC_LINES: u32 = 0xff;

/// Called when its line is asserted. Runs with interrupts masked, on the exception stack.
pub type Handler = fn();

struct Controller {
    registers: Option<Mmio<Registers>>,
    core: Option<CoreInterrupts>,
    handlers: [Option<Handler>; 64],
}

static CONTROLLER: IrqLock<Controller> = IrqLock::new(Controller { registers: None, core: None, handlers: [None; 64] });

/// How often each line has been served since boot.
static COUNTS: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];

/// How often each line has been served since the last tick.
static IN_THIS_TICK: [AtomicU32; 64] = [const { AtomicU32::new(0) }; 64];
/// Lines that are disabled until the next tick.
static RESTING: AtomicU64 = AtomicU64::new(0);
/// Lines that were disabled because of a storm since the last [`take_storms`].
static STORMS: AtomicU64 = AtomicU64::new(0);

/// Interrupts since boot for which no line was asserted.
static EMPTY: AtomicU64 = AtomicU64::new(0);
/// The same since the last tick.
static EMPTY_IN_THIS_TICK: AtomicU32 = AtomicU32::new(0);

/// Sources that raised interrupts without an asserted line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stray {
    /// Lines of the basic bank: the ARM's timer (bit 0), its mailbox (1), doorbells (2, 3), the VideoCore's processors halted (4, 5), access errors (6, 7).
    pub basic: u32,
    /// Sources of core 0's IRQ, see [`CoreInterrupts::pending`].
    pub core: u32,
}

static STRAY: IrqLock<Option<Stray>> = IrqLock::new(None);

/// Takes ownership of the controller and of the cores' own block, and disables all lines and sources: those that the firmware has enabled have no handlers.
pub fn init(registers: Mmio<Registers>, core: CoreInterrupts) {
    registers.fiq_control.set(0);
    for bank in &registers.disable {
        bank.set(u32::MAX);
    }
    registers.disable_basic.set(BASIC_LINES);
    core.quiesce();
    let mut controller = CONTROLLER.lock();
    (controller.registers, controller.core) = (Some(registers), Some(core));
}

/// Sets the handler of `line` and enables it. Lines beyond 63 do not exist and are ignored.
pub fn enable(line: u8, handler: Handler) {
    let mut controller = CONTROLLER.lock();
    let (bank, bit) = place(line);
    if let Some(place) = controller.handlers.get_mut(usize::from(line)) {
        *place = Some(handler);
    }
    if let Some(register) = controller.registers.as_ref().and_then(|registers| registers.enable.get(bank)) {
        register.set(bit);
    }
}

/// Disables `line`.
pub fn disable(line: u8) {
    RESTING.fetch_and(!1u64.checked_shl(line.into()).unwrap_or(0), Ordering::Relaxed);
    switch_off(line);
}

fn switch_off(line: u8) {
    let controller = CONTROLLER.lock();
    let (bank, bit) = place(line);
    if let Some(register) = controller.registers.as_ref().and_then(|registers| registers.disable.get(bank)) {
        register.set(bit);
    }
}

/// Called at each tick of the timer: enables the lines again that were disabled because of a storm.
pub(crate) fn tick() {
    IN_THIS_TICK.iter().for_each(|count| count.store(0, Ordering::Relaxed));
    EMPTY_IN_THIS_TICK.store(0, Ordering::Relaxed);
    let resting = RESTING.swap(0, Ordering::Relaxed);
    if resting != 0 {
        let controller = CONTROLLER.lock();
        if let Some(registers) = &controller.registers {
            registers.enable[0].set(resting as u32);
            registers.enable[1].set((resting >> 32) as u32);
        }
    }
}

/// The lines that had a storm since the last call.
pub fn take_storms() -> impl Iterator<Item = u8> {
    let storms = STORMS.swap(0, Ordering::Relaxed);
    (0..64).filter(move |line| storms >> line & 1 != 0)
}

/// The sources without a line that were disabled since the last call.
pub fn take_stray() -> Option<Stray> {
    STRAY.lock().take()
}

/// Number of interrupts since boot for which no line was asserted.
#[must_use]
pub fn empty_count() -> u64 {
    EMPTY.load(Ordering::Relaxed)
}

/// How often `line` has been served since boot.
#[must_use]
pub fn count(line: u8) -> u64 {
    COUNTS.get(usize::from(line)).map_or(0, |count| count.load(Ordering::Relaxed))
}

fn place(line: u8) -> (usize, u32) {
    (usize::from(line / 32), 1 << (line % 32))
}

/// Serves all asserted lines; called by the exception vector.
pub(crate) fn dispatch() {
    let mut is_empty = true;
    for bank in 0..2u8 {
        let mut pending = {
            let controller = CONTROLLER.lock();
            let Some(registers) = &controller.registers else { return };
            let bank = usize::from(bank);
            // A pending register also shows lines that are disabled.
            registers.pending[bank].get() & registers.enable[bank].get()
        };
        is_empty &= pending == 0;
        while pending != 0 {
            let line = bank * 32 + pending.trailing_zeros() as u8;
            pending &= pending - 1;
            COUNTS[usize::from(line)].fetch_add(1, Ordering::Relaxed);
            if IN_THIS_TICK[usize::from(line)].fetch_add(1, Ordering::Relaxed) >= MAX_PER_TICK {
                switch_off(line);
                RESTING.fetch_or(1 << line, Ordering::Relaxed);
                STORMS.fetch_or(1 << line, Ordering::Relaxed);
                continue;
            }
            let handler = CONTROLLER.lock().handlers[usize::from(line)];
            match handler {
                // The lock is released here: a handler may enable and disable lines.
                Some(handler) => handler(),
                None => disable(line),
            }
        }
    }
    if is_empty {
        note_empty();
    }
}

/// Counts an interrupt for which no line was asserted. If there are too many, disables every source that could have raised it.
fn note_empty() {
    EMPTY.fetch_add(1, Ordering::Relaxed);
    if !(EMPTY_IN_THIS_TICK.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(MAX_EMPTY) {
        return;
    }
    let controller = CONTROLLER.lock();
    let (Some(registers), Some(core)) = (&controller.registers, &controller.core) else { return };
    let stray = Stray { basic: registers.basic_pending.get() & BASIC_LINES, core: core.pending() };
    registers.disable_basic.set(BASIC_LINES);
    core.quiesce();
    STRAY.lock().replace(stray);
}
