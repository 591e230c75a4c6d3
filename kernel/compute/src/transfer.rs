//! Copying and filling.

use v3d::Platform;

use crate::array::{Array, BLOCK_BYTES, Element};
use crate::division::Share;
use crate::programs::{copy, fill};
use crate::{Error, Session, Work};

/// Blocks of 1 KiB that one store of `fill` covers.
const FILL_BLOCKS: u32 = 4;

impl<P: Platform> Session<'_, '_, '_, P> {
    /// Copies one array to another of the same length.
    ///
    /// # Errors
    /// When the lengths differ; when an array belongs to another driver; the driver's.
    pub fn copy<T: Element>(&mut self, source: &Array<T>, target: &mut Array<T>) -> Result<(), Error> {
        self.expect_own(source)?;
        self.expect_own(target)?;
        Error::expect_length("copy", target.length, source.length)?;
        let jobs: alloc::vec::Vec<copy::Uniforms> = Share::of(source.blocks())
            .map(|share| copy::Uniforms {
                quarter: share.quarter(),
                others: share.others(),
                source: source.address() + share.number * BLOCK_BYTES,
                target: target.address() + share.number * BLOCK_BYTES,
                stride: share.qpus * BLOCK_BYTES,
                blocks: share.blocks,
            })
            .collect();
        self.launch(&copy::PROGRAM, &jobs)?;
        let bytes = u64::from(source.blocks() * BLOCK_BYTES);
        self.account(Work { looked_up_bytes: bytes, stored_bytes: bytes, ..Work::NONE });
        Ok(())
    }

    /// Sets all elements of an array to one value.
    ///
    /// # Errors
    /// When the array belongs to another driver; the driver's.
    pub fn fill<T: Element>(&mut self, target: &mut Array<T>, value: T) -> Result<(), Error> {
        self.expect_own(target)?;
        // All QPUs make whole stores; the remaining blocks are stored one by one.
        let whole = target.blocks() / FILL_BLOCKS;
        for (first, count, blocks) in [(0, whole, FILL_BLOCKS), (whole * FILL_BLOCKS, target.blocks() % FILL_BLOCKS, 1)]
        {
            let step = blocks * BLOCK_BYTES;
            let jobs: alloc::vec::Vec<fill::Uniforms> = Share::of(count)
                .map(|share| fill::Uniforms {
                    others: share.others(),
                    value: value.to_word(),
                    rows: 16 * blocks,
                    target: target.address() + first * BLOCK_BYTES + share.number * step,
                    stride: share.qpus * step,
                    blocks: share.blocks,
                })
                .collect();
            self.launch(&fill::PROGRAM, &jobs)?;
        }
        self.account(Work { stored_bytes: u64::from(target.blocks() * BLOCK_BYTES), ..Work::NONE });
        Ok(())
    }
}
