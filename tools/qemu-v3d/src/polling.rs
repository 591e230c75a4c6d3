//! Tells a guest that polls from one that looks at registers now and then.
//!
//! A guest that makes many loads in close succession is taken to poll. While a job runs beside it, each further load [waits](PAUSE): otherwise the guest would
//! take the host's cores away from the job. A driver that serves an interrupt loads some registers too, and then has other work, such as preparing the next
//! frame. If these loads waited, most of the job would be over before that work began.

use std::time::Duration;

/// How long a load of a guest that polls waits for a job.
pub(crate) const PAUSE: Duration = Duration::from_millis(2);

/// Loads in close succession that are not polling yet: more than twice the number with which this repository's kernel serves an interrupt and submits the next
/// job.
const FREE_LOADS: u32 = 64;
/// Instructions after which a load does not belong to the ones before: about a millisecond in QEMU.
const GAP: u64 = 1_000_000;

/// The guest's last loads.
#[derive(Debug, Default)]
pub(crate) struct Polling {
    /// Loads in close succession.
    loads: u32,
    /// Instructions that the guest had executed at the last of them.
    at: u64,
}

impl Polling {
    /// Notes a load by a guest that has executed this many instructions; returns whether it polls.
    pub(crate) fn load(&mut self, instructions: u64) -> bool {
        if instructions.saturating_sub(self.at) > GAP {
            self.loads = 0;
        }
        self.at = instructions;
        self.loads = self.loads.saturating_add(1);
        self.loads > FREE_LOADS
    }

    /// Notes that a job begins: the guest has not polled for its end yet.
    pub(crate) const fn job_begins(&mut self) {
        self.loads = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of loads that are taken for polling, of some that are this many instructions apart.
    fn check(loads: u64, instructions_apart: u64, expected: usize) {
        let mut polling = Polling::default();
        let taken = (0..loads).filter(|n| polling.load(n * instructions_apart)).count();
        assert_eq!(taken, expected, "{loads} loads, {instructions_apart} instructions apart");
    }

    #[test]
    fn only_many_loads_in_close_succession_are_polling() {
        check(64, 14, 0);
        check(100, 14, 36);
        check(100, 1_000_000, 36);
        check(100, 1_000_001, 0);
    }

    #[test]
    fn the_loads_of_each_job_are_counted_for_themselves() {
        let mut polling = Polling::default();
        assert_eq!((0..70).filter(|n| polling.load(*n)).count(), 6);
        polling.job_begins();
        assert!(!polling.load(71));
    }
}
