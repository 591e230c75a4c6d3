//! Timing of VPM DMA: transfers, moved in bursts.

use super::costs::{self, LINE_BYTES};
use super::trace::{Dma, Transfer};
use std::collections::VecDeque;

/// The owner of a transfer, which waits for its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// The QPU that started it.
    Qpu(usize),
    /// What waits with this order for its vertices.
    Vertices(u64),
    /// The binner: nothing waits before the end.
    Binner,
}

/// A transfer in the queue of a channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Job {
    /// Time at which it can begin.
    pub(super) ready: u64,
    /// Its owner.
    pub(super) owner: Owner,
    /// What is left of the latency before its first burst.
    latency: u64,
    /// What is left to move; the current row is the first.
    left: Transfer,
    /// Bytes of the current row that have been moved.
    moved: u32,
}

/// A burst: the part of a row that lies in one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Burst {
    /// Its address, if that is known.
    pub(super) address: Option<u32>,
    /// Bytes.
    pub(super) bytes: u32,
    /// Cycles for which it occupies the channel, if memory does not delay it.
    pub(super) cycles: u64,
}

impl Job {
    /// A transfer that a program starts.
    pub(super) const fn of_program(qpu: usize, dma: Dma, transfer: Transfer, ready: u64) -> Self {
        let latency = match dma {
            Dma::Load => costs::DMA_LOAD_LATENCY,
            Dma::Store => costs::DMA_STORE_LATENCY,
        };
        Self { ready, owner: Owner::Qpu(qpu), latency, left: transfer, moved: 0 }
    }

    /// Lines of attributes or of shaded vertices, whose addresses are not known.
    pub(super) const fn of_vertices(owner: Owner, lines: u32, ready: u64) -> Self {
        let left = Transfer { address: 0, rows: lines, row_bytes: LINE_BYTES, pitch_bytes: LINE_BYTES };
        Self { ready, owner, latency: 0, left, moved: 0 }
    }

    /// Whether everything is moved.
    pub(super) const fn is_done(&self) -> bool {
        self.left.rows == 0 || self.left.row_bytes == 0
    }

    /// Takes the next burst; `None` when everything is moved.
    pub(super) fn take_burst(&mut self, dma: Dma) -> Option<Burst> {
        if self.is_done() {
            return None;
        }
        self.latency = 0;
        let Transfer { address, row_bytes, pitch_bytes, .. } = self.left;
        let at = address.wrapping_add(self.moved);
        let bytes = (row_bytes - self.moved).min(LINE_BYTES - at % LINE_BYTES);
        self.moved += bytes;
        if self.moved == row_bytes {
            self.moved = 0;
            self.left.rows -= 1;
            self.left.address = address.wrapping_add(pitch_bytes);
        }
        Some(match self.owner {
            Owner::Vertices(_) | Owner::Binner => Burst { address: None, bytes, cycles: costs::VCD_LINE },
            Owner::Qpu(_) => {
                let line = if dma == Dma::Load { costs::DMA_LOAD_LINE } else { costs::DMA_STORE_LINE };
                let counted = u64::from(bytes.max(costs::DMA_BURST_BYTES));
                Burst { address: Some(at), bytes, cycles: (line * counted).div_ceil(u64::from(LINE_BYTES)) }
            }
        })
    }
}

/// One direction of VPM DMA.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Channel {
    /// Its transfers, in order.
    pub(super) jobs: VecDeque<Job>,
    /// Time at which it is free.
    pub(super) time: u64,
    /// Cycles in which it waited for the VPM.
    pub(super) stalls: u64,
}

impl Channel {
    /// Time at which it can move the next burst: a transfer begins when the one before it is done.
    pub(super) fn next_time(&self) -> Option<u64> {
        self.jobs.front().map(|job| self.time.max(job.ready) + job.latency)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bursts of a transfer, as addresses and bytes.
    fn check(transfer: Transfer, expected: &[(u32, u32)]) {
        let mut job = Job::of_program(0, Dma::Store, transfer, 0);
        let bursts = std::iter::from_fn(|| job.take_burst(Dma::Store));
        let found: Vec<(u32, u32)> = bursts.map(|burst| (burst.address.unwrap(), burst.bytes)).collect();
        assert_eq!(found, expected, "{transfer:?}");
    }

    #[test]
    fn a_burst_is_what_of_a_row_stands_in_a_line() {
        let block = |address, rows, row_bytes, pitch_bytes| Transfer { address, rows, row_bytes, pitch_bytes };
        check(block(0x1000, 2, 64, 64), &[(0x1000, 64), (0x1040, 64)]);
        check(block(0x1020, 2, 64, 4096), &[(0x1020, 32), (0x1040, 32), (0x2020, 32), (0x2040, 32)]);
        check(block(0x1000, 3, 4, 256), &[(0x1000, 4), (0x1100, 4), (0x1200, 4)]);
        check(block(0x103c, 1, 192, 192), &[(0x103c, 4), (0x1040, 64), (0x1080, 64), (0x10c0, 60)]);
        check(block(0xffff_fffc, 2, 4, 4), &[(0xffff_fffc, 4), (0, 4)]);
        check(block(0x1000, 0, 64, 64), &[]);
    }
}
