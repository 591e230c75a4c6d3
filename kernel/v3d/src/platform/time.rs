//! Time, and waiting for the V3D's interrupt.
//!
//! The V3D has one interrupt line: GPU interrupt 10 on the Pi [lk] [qemu]. When it is raised, the platform's handler calls
//! [`Interrupts::service`](crate::interrupts::Interrupts::service), which acknowledges it and does what cannot wait. The driver never relies on
//! an interrupt having arrived: it looks at the hardware's counters whenever a wait ends, for whatever reason, so a platform without interrupts
//! just returns from a wait early.

/// A clock, and a way to sleep until the V3D or a deadline calls.
pub trait Time {
    /// Microseconds since some moment; never goes back.
    fn now_us(&self) -> u64;

    /// Sleeps until the V3D has raised its interrupt, or the clock reaches `deadline_us`. May return early for any reason.
    ///
    /// A platform whose interrupt handler does not run by itself (tests, polling) calls
    /// [`Interrupts::service`](crate::interrupts::Interrupts::service) here if the line is raised. An interrupt that was raised just before the
    /// call must end the wait at once: on the Pi, mask, test, `wfi`, unmask.
    fn wait_until(&self, deadline_us: u64);
}
