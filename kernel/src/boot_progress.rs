//! Stages of this boot, marked in the boot trace and with the LED

use crate::{
    arch::{clock, cpu},
    board::act_led,
    boot_trace::{BootTrace, Stage},
    mm::shared::SharedWords,
};

/// The trace of this boot and of the one before.
#[must_use]
pub fn trace() -> BootTrace {
    BootTrace::new(SharedWords::boot_trace())
}

/// Marks a stage as reached. A stage that the boot before was asked to hang in is the end.
pub(crate) fn reach(stage: Stage) {
    trace().reach(stage, clock::ticks());
    act_led::toggle();
    if trace().take_hang(stage) {
        cpu::halt();
    }
}
