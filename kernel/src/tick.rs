//! The heartbeat: an interrupt a hundred times a second
//!
//! It does nothing but come: whoever sleeps until something happens wakes up for it and looks at the clock. Tests that need
//! something to happen in an interrupt have it happen here.

use crate::{
    arch::{provoke, register_survival},
    bcm2837::{
        interrupt_controller,
        system_timer::{self, SystemTimer},
    },
    irq_lock::IrqLock,
};

/// Microseconds between two ticks.
const PERIOD_US: u32 = 10_000;

static TIMER: IrqLock<Option<SystemTimer>> = IrqLock::new(None);

/// Starts the heartbeat.
pub(crate) fn start(timer: SystemTimer) {
    *TIMER.lock() = Some(timer);
    interrupt_controller::enable(system_timer::INTERRUPT, beat);
    beat();
}

fn beat() {
    if let Some(timer) = TIMER.lock().as_ref() {
        timer.alarm_in(PERIOD_US);
    }
    register_survival::disturb_if_testing();
    provoke::overflow_if_asked();
}
