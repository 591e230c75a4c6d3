//! Interrupts of the peripherals: 64 lines, each with one handler
//!
//! The controller has two pending, two enable and two disable registers of 32 lines each. The chip's local controller routes all of them to core 0's IRQ by
//! default. Lines are level-triggered: a handler must make its device deassert the line.
//!
//! # Interrupt storms
//! A line that stays asserted would keep the processor in its handler for ever. A line that is served more than [`MAX_PER_TICK`] times between two ticks of the
//! timer is therefore disabled until the next tick: everything else continues, slowly, and the shell reports the line ([`take_storms`]).
//!
//! # Sources
//! BCM2835 ARM Peripherals, chapter 7; QA7 rev 3.4, section 4.2.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use tock_registers::{
    interfaces::{Readable, Writeable},
    register_structs,
    registers::{ReadOnly, ReadWrite, WriteOnly},
};

use crate::{irq_lock::IrqLock, mmio::Mmio};

register_structs! {
    /// The controller's registers; bank 0 is lines 0 to 31, bank 1 lines 32 to 63.
    #[allow(missing_docs, reason = "field names are the manual's register names")]
    pub Registers {
        (0x00 => _basic_pending),
        (0x04 => pub pending: [ReadOnly<u32>; 2]),
        (0x0c => pub fiq_control: ReadWrite<u32>),
        (0x10 => pub enable: [ReadWrite<u32>; 2]),
        (0x18 => _enable_basic),
        (0x1c => pub disable: [WriteOnly<u32>; 2]),
        (0x24 => _disable_basic),
        (0x28 => @END),
    }
}

/// How often a line may be served between two ticks. The serial ports need a hundred at most, the V3D a few for each list.
pub const MAX_PER_TICK: u32 = 2000;

/// Called when its line is asserted. Runs with interrupts masked, on the exception stack.
pub type Handler = fn();

struct Controller {
    registers: Option<Mmio<Registers>>,
    handlers: [Option<Handler>; 64],
}

static CONTROLLER: IrqLock<Controller> = IrqLock::new(Controller { registers: None, handlers: [None; 64] });

/// How often each line has been served since boot.
static COUNTS: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];

/// How often each line has been served since the last tick.
static IN_THIS_TICK: [AtomicU32; 64] = [const { AtomicU32::new(0) }; 64];
/// Lines that are disabled until the next tick.
static RESTING: AtomicU64 = AtomicU64::new(0);
/// Lines that were disabled because of a storm since the last [`take_storms`].
static STORMS: AtomicU64 = AtomicU64::new(0);

/// Takes ownership of the controller and disables all lines: those that the firmware has enabled have no handlers.
pub fn init(registers: Mmio<Registers>) {
    registers.fiq_control.set(0);
    for bank in &registers.disable {
        bank.set(u32::MAX);
    }
    CONTROLLER.lock().registers = Some(registers);
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
    for bank in 0..2u8 {
        let mut pending = {
            let controller = CONTROLLER.lock();
            let Some(registers) = &controller.registers else { return };
            let bank = usize::from(bank);
            // A pending register also shows lines that are disabled.
            registers.pending[bank].get() & registers.enable[bank].get()
        };
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
}
