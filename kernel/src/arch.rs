//! The CPU: a Cortex-A53 core in AArch64, from its first instruction on
//!
//! Everything that needs an instruction which Rust cannot express is in this module: entry, exception vectors, system registers, the MMU.
//! Only core 0 runs; the three others are parked.
//!
//! The kernel runs at EL1 with `SPSel` = 0, that is on `SP_EL0`; an exception switches to `SP_EL1`, which has a stack of its own. An overflow of the kernel
//! stack into its guard page can therefore still be reported.

#[cfg(target_os = "none")]
pub mod backtrace;
#[cfg(target_os = "none")]
mod boot;
#[cfg(target_os = "none")]
pub mod clock;
#[cfg(target_os = "none")]
pub mod cpu;
#[cfg(target_os = "none")]
pub mod exceptions;
pub mod interrupt_mask;
#[cfg(target_os = "none")]
pub mod memory_copy;
#[cfg(target_os = "none")]
pub mod mmu;
#[cfg(target_os = "none")]
pub mod provoke;
#[cfg(target_os = "none")]
pub mod register_survival;
pub mod syndrome;

/// What the boot code passes to the kernel.
#[derive(Clone, Copy, Debug)]
pub struct Handover {
    /// Address of the device tree, if the firmware passed one.
    pub device_tree: Option<u64>,
    /// The exception level at which the kernel was entered.
    pub entry_level: u64,
}
