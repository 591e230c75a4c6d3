//! Masking of interrupts on this core (PSTATE.I)
//!
//! On the host there are no interrupts, and both functions do nothing, so that locks can be unit-tested.

/// The state of the mask before a call of [`mask`].
#[derive(Clone, Copy, Debug)]
pub struct Previous {
    was_masked: bool,
}

/// Masks interrupts and returns the previous state.
pub fn mask() -> Previous {
    #[cfg(target_os = "none")]
    {
        use aarch64_cpu::registers::DAIF;
        use tock_registers::interfaces::Readable;
        let was_masked = DAIF.is_set(DAIF::I);
        // SAFETY: setting PSTATE.I touches neither memory nor registers. Memory accesses must not be moved across it, hence no `nomem`.
        unsafe { core::arch::asm!("msr daifset, #2", options(nostack, preserves_flags)) };
        Previous { was_masked }
    }
    #[cfg(not(target_os = "none"))]
    Previous { was_masked: true }
}

/// Restores the mask.
pub fn restore(previous: Previous) {
    if !previous.was_masked {
        unmask();
    }
}

/// Unmasks interrupts.
pub fn unmask() {
    #[cfg(target_os = "none")]
    // SAFETY: as in `mask`; the vectors are set before any Rust code runs.
    unsafe {
        core::arch::asm!("msr daifclr, #2", options(nostack, preserves_flags))
    };
}
