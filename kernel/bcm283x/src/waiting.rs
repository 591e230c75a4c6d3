//! Waiting by a clock that counts microseconds, whichever clock a block's registers come with

/// Whether a condition comes true within `limit_us` microseconds. It is tested at least once.
pub(crate) fn comes_true(now_us: impl Fn() -> u64, limit_us: u64, condition: impl Fn() -> bool) -> bool {
    let end_us = now_us() + limit_us;
    while !condition() {
        if now_us() > end_us {
            return false;
        }
    }
    true
}

/// Waits for at least `time_us` microseconds.
pub(crate) fn spin_for_us(now_us: impl Fn() -> u64, time_us: u64) {
    let end_us = now_us() + time_us;
    while now_us() <= end_us {}
}
