//! Statistics of the driver.

/// Counts and times since the driver was started. Times are those at which the driver noticed events, so they are upper bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Jobs that are done.
    pub jobs_done: u64,
    /// Jobs that were dropped.
    pub jobs_dropped: u64,
    /// Jobs that were restarted after a reset.
    pub retries: u64,
    /// Resets of the V3D.
    pub resets: u64,
    /// Resets that failed.
    pub failed_resets: u64,
    /// Times that a thread was reset because of what an earlier list had left in its semaphore or its return stack.
    pub threads_cleared: u64,
    /// User programs that are done.
    pub programs_done: u64,
    /// Blocks of overflow memory that the binner took.
    pub overflow_blocks: u64,
    /// Interrupts that the handler served.
    pub interrupts: u64,
    /// Time the last job took to bin, in microseconds.
    pub last_binning_us: u64,
    /// Time the last job took to render, in microseconds, from the end of its binning.
    pub last_rendering_us: u64,
    /// Time in which at least one thread had work, in microseconds.
    pub busy_us: u64,
    /// Bits of ERRSTAT that have been set.
    pub error_bits: u32,
}
