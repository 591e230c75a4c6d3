//! The core's own counter: time since power-on, without an access to a peripheral
//!
//! `CNTPCT_EL0` counts at `CNTFRQ_EL0` hertz: 19.2 MHz on the boards, 62.5 MHz in QEMU. Log lines and timeouts use it; interrupts are raised by the 1 MHz
//! system timer.
//!
//! # Sources
//! ARM DDI 0487, D11 (the generic timer).

use aarch64_cpu::{
    asm::barrier,
    registers::{CNTFRQ_EL0, CNTPCT_EL0},
};
use tock_registers::interfaces::Readable;

use super::cpu;

/// Counts per second.
#[must_use]
pub fn frequency_hz() -> u64 {
    CNTFRQ_EL0.get()
}

/// Value of the counter.
#[must_use]
pub fn ticks() -> u64 {
    // Without the barrier, the counter may be read before the instructions that are timed.
    barrier::isb(barrier::SY);
    CNTPCT_EL0.get()
}

/// Microseconds since the counter started.
#[must_use]
pub fn now_us() -> u64 {
    let frequency = u128::from(frequency_hz().max(1));
    let us = u128::from(ticks()) * 1_000_000 / frequency;
    // 64 bits of microseconds last half a million years.
    us as u64
}

/// Waits for this time in a loop.
pub fn spin_for_us(duration_us: u64) {
    let end = now_us() + duration_us;
    while now_us() < end {
        cpu::spin_hint();
    }
}
