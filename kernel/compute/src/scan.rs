//! Running sums.

use alloc::vec::Vec;

use v3d::Platform;

use crate::array::{Array, BLOCK_BYTES};
use crate::programs::scan;
use crate::reduce::{Number, Reduction, Stretch};
use crate::session::Share;
use crate::{Error, QPUS, Session, Work};

/// Integers, which may be added in any order.
pub trait Integer: Number {}

impl Integer for u32 {}
impl Integer for i32 {}

impl<P: Platform> Session<'_, '_, '_, P> {
    /// Element i of `target` becomes the sum of elements 0 to i of `source`. Sums wrap.
    ///
    /// Each QPU has a stretch of its own. First all add theirs up, then the CPU adds what stands before each, and at last they go through their
    /// stretches again.
    ///
    /// # Errors
    /// When the lengths differ; when an array is another driver's; the driver's.
    pub fn prefix_sum<T: Integer>(&mut self, source: &Array<T>, target: &mut Array<T>) -> Result<(), Error> {
        self.expect_own(source)?;
        self.expect_own(target)?;
        if source.length != target.length {
            return Err(Error::Lengths { operation: "prefix_sum", given: target.length, needed: source.length });
        }
        let stretches = stretches(source.blocks());
        let sums = self.reduce_stretches(source, Reduction::Sum, stretches.clone())?;
        let mut before = T::ZERO;
        let jobs: Vec<scan::Uniforms> = Share::of(stretches.len() as u32)
            .zip(&stretches)
            .zip(sums.chunks(16))
            .map(|((share, stretch), sums)| {
                let job = scan::Uniforms {
                    quarter: share.quarter(),
                    others: share.others(),
                    source: source.address() + stretch.first * BLOCK_BYTES,
                    target: target.address() + stretch.first * BLOCK_BYTES,
                    blocks: stretch.blocks,
                    before: before.to_word(),
                };
                before = sums.iter().fold(before, |sum, part| sum.plus(*part));
                job
            })
            .collect();
        if jobs.is_empty() {
            return Ok(());
        }
        self.launch(&scan::PROGRAM, &jobs)?;
        let elements = source.length as u64;
        let bytes = 4 * elements;
        self.account(Work {
            operations: elements,
            lookups: elements / 16,
            looked_up_bytes: bytes,
            stored_bytes: bytes,
        });
        Ok(())
    }
}

/// Blocks in stretches of nearly the same length, one for each QPU.
pub(crate) fn stretches(blocks: u32) -> Vec<Stretch> {
    let qpus = blocks.min(QPUS);
    let bounds: Vec<u32> =
        (0..=qpus).map(|number| (u64::from(blocks) * u64::from(number) / u64::from(qpus.max(1))) as u32).collect();
    bounds.windows(2).map(|pair| Stretch { first: pair[0], stride: 1, blocks: pair[1] - pair[0] }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_follow_each_other_and_have_nearly_the_same_length() {
        for blocks in [0, 1, 11, 12, 13, 100] {
            let all = stretches(blocks);
            assert_eq!(all.iter().map(|stretch| stretch.blocks).sum::<u32>(), blocks);
            assert!(all.windows(2).all(|pair| pair[0].first + pair[0].blocks == pair[1].first));
            assert!(all.iter().all(|stretch| (1..=blocks.div_ceil(QPUS)).contains(&stretch.blocks)));
        }
    }
}
