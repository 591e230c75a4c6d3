//! Time, and waiting for the V3D's interrupt.
//!
//! The V3D has one interrupt line: GPU interrupt 10 on the Pi [lk] [qemu]. When it is asserted, the platform's handler calls
//! [`Interrupts::service`](crate::interrupts::Interrupts::service), which acknowledges the interrupt and does what is urgent. The driver never relies
//! on interrupts: it reads the hardware's counters whenever a wait ends for any reason, so a platform without interrupts just returns early from waits.

/// A clock, and waiting for the V3D or a deadline.
pub trait Time {
    /// A time in microseconds that never decreases.
    fn now_us(&self) -> u64;

    /// Sleeps until the V3D has raised its interrupt, or until `deadline_us`. May return early for any reason.
    ///
    /// A platform whose interrupt handler does not run by itself (tests, polling) calls [`Interrupts::service`](crate::interrupts::Interrupts::service)
    /// here if the line is asserted. An interrupt that was raised just before the call must end the wait at once: on the Pi, mask, test, `wfi`, unmask.
    fn wait_until(&self, deadline_us: u64);
}
