//! Progress of this boot, recorded in the boot trace and shown with the LED

use crate::{
    arch::{clock, cpu},
    board::act_led,
    boot::trace::{BootStage, BootTrace},
    mm::shared::SharedWords,
};

/// The trace of this boot and of the previous one.
#[must_use]
pub fn trace() -> BootTrace {
    BootTrace::new(SharedWords::boot_trace())
}

/// Records that a stage is reached. If the previous boot requested a hang in this stage, it does not return.
pub(crate) fn reach(stage: BootStage) {
    trace().reach(stage, clock::ticks());
    act_led::toggle();
    if trace().take_hang(stage) {
        cpu::halt();
    }
}
