//! Overflow memory for the binner.
//!
//! The driver allocates blocks from the pool and offers them to the interrupt handler. A block that the handler has given to the binner belongs to the job that
//! is being binned, and is returned when that job has been rendered, since it contains the job's tile lists.
//!
//! Where there is no block left, the binner waits as long as an older job is in flight: its end returns its blocks, and the memory that it owns. A job that is
//! the oldest and cannot get a block will never get one, and is dropped.
//!
//! # Errata
//! - BPOA keeps tile lists, so the blocks share the top four address bits with all other binner memory; the pool as a whole does.

use super::Driver;
use crate::error::{Error, Failure};
use crate::interrupts::OVERFLOW_SLOTS;
use crate::memory::pool::Buffer;
use crate::platform::Platform;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use v3d_hw::registers::Thread;

/// Alignment of a block.
const ALIGNMENT: u32 = 4096;

/// The blocks.
#[derive(Debug, Default)]
pub(super) struct OverflowMemory {
    /// Offered to the handler, in the order in which it will use them.
    offered: VecDeque<Buffer>,
    /// Not in use.
    spare: Vec<Buffer>,
    /// Number of blocks that the handler had given at the last check.
    given: u32,
    /// Total number of blocks.
    blocks: u32,
    /// The binner waits for a block that an older job holds.
    awaited: bool,
}

impl<P: Platform> Driver<'_, P> {
    /// Allocates the first blocks and offers them.
    pub(super) fn prepare_overflow_memory(&mut self) -> Result<(), Error> {
        self.interrupts.withdraw();
        self.overflow.given = self.interrupts.blocks_given();
        for _ in 0..self.limits.overflow_blocks.min(OVERFLOW_SLOTS as u32) {
            let block = self.pool.allocate(self.limits.overflow_block_bytes, ALIGNMENT)?;
            self.overflow.blocks += 1;
            self.overflow.spare.push(block);
        }
        self.offer_blocks();
        Ok(())
    }

    /// Offers spare blocks, up to the number that the limits require.
    fn offer_blocks(&mut self) {
        while self.overflow.offered.len() < self.limits.overflow_blocks as usize {
            let Some(block) = self.overflow.spare.pop() else { break };
            let region = block.region();
            if !self.interrupts.offer(region.address(), region.bytes()) {
                self.overflow.spare.push(block);
                break;
            }
            self.overflow.offered.push_back(block);
        }
    }

    /// Assigns blocks that were given since the last call to their job, offers new ones, and supplies a binner that had to wait.
    pub(super) fn collect_overflow_blocks(&mut self) {
        loop {
            let given = self.interrupts.blocks_given();
            let new = given.wrapping_sub(self.overflow.given);
            self.overflow.given = given;
            self.statistics.overflow_blocks += u64::from(new);
            let taken: Vec<_> = (0..new).filter_map(|_| self.overflow.offered.pop_front()).collect();
            match self.jobs.iter_mut().find(|job| job.runs_on(Thread::Binning)) {
                Some(job) => job.blocks.extend(taken),
                None => self.overflow.spare.extend(taken),
            }
            if self.overflow.spare.is_empty() {
                self.grow();
            }
            self.offer_blocks();
            self.overflow.awaited |= self.interrupts.take_starved();
            if !self.overflow.awaited {
                return;
            }
            if self.overflow.offered.is_empty() {
                let is_oldest = self.jobs.front().is_none_or(|job| job.runs_on(Thread::Binning));
                if is_oldest {
                    self.fail_thread(Thread::Binning, Failure::OutOfBinnerMemory);
                }
                return;
            }
            self.overflow.awaited = false;
            self.interrupts.enable(self.platform);
            self.interrupts.service(self.platform);
        }
    }

    /// Allocates another block if none is offered and the limits allow it.
    fn grow(&mut self) {
        let wanted = self.overflow.offered.len() < self.limits.overflow_blocks as usize;
        if wanted
            && self.overflow.blocks < self.limits.max_overflow_blocks
            && let Ok(block) = self.pool.allocate(self.limits.overflow_block_bytes, ALIGNMENT)
        {
            self.overflow.blocks += 1;
            self.overflow.spare.push(block);
        }
    }

    /// Takes back the blocks of a job that is done. Blocks beyond the initial number are freed.
    pub(super) fn return_overflow_blocks(&mut self, blocks: Vec<Buffer>) {
        self.overflow.spare.extend(blocks);
        self.offer_blocks();
        while self.overflow.blocks > self.limits.overflow_blocks {
            if self.overflow.spare.pop().is_none() {
                break;
            }
            self.overflow.blocks -= 1;
        }
    }

    /// After a reset the binner holds no blocks. Where the reset has not worked, it may still use them, and gets others.
    pub(super) fn reset_overflow_memory(&mut self, has_worked: bool) {
        self.interrupts.withdraw();
        self.interrupts.take_starved();
        self.overflow.awaited = false;
        self.overflow.given = self.interrupts.blocks_given();
        self.overflow.spare.extend(self.overflow.offered.drain(..));
        let held: Vec<_> = self.jobs.iter_mut().flat_map(|job| job.blocks.drain(..)).collect();
        if has_worked {
            self.return_overflow_blocks(held);
        } else {
            self.overflow.spare.clear();
            self.overflow.blocks = 0;
        }
    }
}
