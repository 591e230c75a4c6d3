//! Masking of interrupts on this core (PSTATE.I)
//!
//! On the developer's machine there are no interrupts to mask, and both functions do nothing: locks keep their meaning in
//! unit tests.

/// What the mask was before [`mask`] was called.
#[derive(Clone, Copy, Debug)]
pub struct Previous {
    was_masked: bool,
}

/// Masks interrupts and says whether they were masked already.
pub fn mask() -> Previous {
    #[cfg(target_os = "none")]
    {
        use aarch64_cpu::registers::DAIF;
        use tock_registers::interfaces::Readable;
        let was_masked = DAIF.is_set(DAIF::I);
        // SAFETY: setting PSTATE.I touches neither memory nor registers. Memory accesses must not move over it, hence no
        // `nomem`.
        unsafe { core::arch::asm!("msr daifset, #2", options(nostack, preserves_flags)) };
        Previous { was_masked }
    }
    #[cfg(not(target_os = "none"))]
    Previous { was_masked: true }
}

/// Puts the mask back to what it was before.
pub fn restore(previous: Previous) {
    if !previous.was_masked {
        unmask();
    }
}

/// Lets interrupts in.
pub fn unmask() {
    #[cfg(target_os = "none")]
    // SAFETY: as in `mask`; the vectors are set since before the first line of Rust.
    unsafe {
        core::arch::asm!("msr daifclr, #2", options(nostack, preserves_flags))
    };
}
