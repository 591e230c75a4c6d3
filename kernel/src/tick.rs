//! The timer's tick: an interrupt a hundred times per second
//!
//! It ends each sleep of the core, so that waiting code checks the clock. Tests that need an action in an interrupt handler perform it here. It also ends the
//! pause of interrupt lines that were disabled because of a storm.

use crate::{
    arch::{clock, provoke, register_survival},
    board::{interrupt_controller, interrupt_lines, system_timer::SystemTimer},
    irq_lock::IrqLock,
};

/// Microseconds between two ticks.
const PERIOD_US: u32 = 10_000;

static TIMER: IrqLock<Option<SystemTimer>> = IrqLock::new(None);

/// Starts the tick.
pub(crate) fn start(timer: SystemTimer) {
    *TIMER.lock() = Some(timer);
    interrupt_controller::enable(interrupt_lines::SYSTEM_TIMER, beat);
    beat();
}

fn beat() {
    if let Some(timer) = TIMER.lock().as_ref() {
        timer.alarm_in(PERIOD_US);
    }
    interrupt_controller::tick();
    register_survival::disturb_if_testing();
    provoke::overflow_if_asked();
}

/// Raises an interrupt that is never acknowledged, for `duration_us` microseconds.
pub(crate) fn storm(duration_us: u64) {
    interrupt_controller::enable(interrupt_lines::SPARE_TIMER, || {});
    if let Some(timer) = TIMER.lock().as_ref() {
        timer.raise_spare_in(100);
    }
    clock::spin_for_us(duration_us);
    interrupt_controller::disable(interrupt_lines::SPARE_TIMER);
    if let Some(timer) = TIMER.lock().as_ref() {
        timer.quiet_spare();
    }
}
