//! The core: sleep, barriers, identity

use aarch64_cpu::{
    asm,
    asm::barrier,
    registers::{CurrentEL, MIDR_EL1, MPIDR_EL1},
};
use tock_registers::interfaces::Readable;

use super::interrupt_mask;

/// Sleeps until an interrupt is pending, even if it is masked.
pub fn wait_for_interrupt() {
    asm::wfi();
}

/// Tells the core that it is in a spin loop.
pub fn spin_hint() {
    core::hint::spin_loop();
}

/// Stops the core for ever, with interrupts masked.
pub fn halt() -> ! {
    interrupt_mask::mask();
    loop {
        asm::wfe();
    }
}

/// Waits until all earlier loads and stores have reached memory or their device.
///
/// Needed between storing a list or a message in memory and notifying a device of it.
pub fn complete_memory_accesses() {
    barrier::dsb(barrier::SY);
}

/// The current exception level.
#[must_use]
pub fn exception_level() -> u64 {
    CurrentEL.read(CurrentEL::EL)
}

/// `MIDR_EL1`: implementer, part number and revision of the core. A Cortex-A53 is 0x410FD03x.
#[must_use]
pub fn identity() -> u64 {
    MIDR_EL1.get()
}

/// The number of this core, 0 to 3.
#[must_use]
pub fn core_number() -> u64 {
    MPIDR_EL1.read(MPIDR_EL1::Aff0)
}
