//! Histograms of bytes.

use alloc::vec::Vec;

use v3d::Platform;

use crate::array::BLOCK_BYTES;
use crate::division::Share;
use crate::programs::histogram;
use crate::{Array, Error, QPUS, Session, Work};

/// Number of values that one program counts: half of all values.
const HALF: usize = 128;
/// Bytes of a program's result.
const RESULT_BYTES: u32 = 4 * HALF as u32;

impl<P: Platform> Session<'_, '_, '_, P> {
    /// Counts how often each of the 256 bytes occurs in the words of an array. Half of the QPUs count one half of the
    /// values, and half the other.
    ///
    /// # Errors
    /// When the array belongs to another driver; the driver's.
    pub fn histogram(&mut self, source: &Array<u32>) -> Result<[u32; 256], Error> {
        self.expect_own(source)?;
        self.fill_up(source, 0)?;
        let pairs = source.blocks().min(QPUS / 2);
        let target = self.undefined::<u32>(2 * HALF * pairs as usize)?;
        // Programs 2 n and 2 n + 1 count the same blocks.
        let jobs: Vec<histogram::Uniforms> = Share::of(2 * pairs)
            .map(|share| {
                let [pair, half] = [share.number / 2, share.number % 2];
                histogram::Uniforms {
                    number: share.number,
                    others: share.others(),
                    first: half * HALF as u32,
                    source: source.address() + pair * BLOCK_BYTES,
                    stride: pairs * BLOCK_BYTES,
                    blocks: (source.blocks() - pair).div_ceil(pairs),
                    target: target.address() + share.number * RESULT_BYTES,
                }
            })
            .collect();
        self.launch(&histogram::PROGRAM, &jobs)?;
        let mut counts = [0; 2 * HALF];
        for (program, result) in self.read(&target)?.chunks(HALF).enumerate() {
            for (at, count) in result.iter().enumerate() {
                // Each group of four vectors counts 64 values: vector v counts those with remainder v modulo 4, one value per element.
                let (vector, element) = (at / 16, at % 16);
                let value = 4 * (element + 16 * (vector / 4)) + vector % 4;
                counts[program % 2 * HALF + value] += count;
            }
        }
        // The padding of the last block was counted as zeros.
        counts[0] -= 4 * (source.blocks() * BLOCK_BYTES / 4 - source.length as u32);
        let bytes = 4 * source.length as u64;
        self.account(Work { operations: bytes, lookups: bytes / 64, looked_up_bytes: bytes, stored_bytes: 0 });
        Ok(counts)
    }
}
