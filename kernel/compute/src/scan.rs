//! Prefix sums.

use alloc::vec::Vec;

use v3d::Platform;

use crate::array::{Array, BLOCK_BYTES};
use crate::division::Span;
use crate::programs::scan;
use crate::reduce::{Number, Reduction};
use crate::{Error, Session, Work};

/// Integers, whose additions can be reordered.
pub trait Integer: Number {}

impl Integer for u32 {}
impl Integer for i32 {}

impl<P: Platform> Session<'_, '_, '_, P> {
    /// Sets element i of `target` to the sum of elements 0 to i of `source`. Sums wrap.
    ///
    /// Each QPU processes a contiguous span of blocks. First each QPU sums up its span, then the CPU computes the sum before each span, and finally each QPU
    /// computes the prefix sums of its span.
    ///
    /// # Errors
    /// When the lengths differ; when an array belongs to another driver; the driver's.
    pub fn prefix_sum<T: Integer>(&mut self, source: &Array<T>, target: &mut Array<T>) -> Result<(), Error> {
        self.expect_own(source)?;
        self.expect_own(target)?;
        Error::expect_length("prefix_sum", target.length, source.length)?;
        let spans = Span::contiguous(source.blocks());
        let sums = self.reduce_spans(source, Reduction::Sum, &spans)?;
        let mut before = T::ZERO;
        let jobs: Vec<scan::Uniforms> = spans
            .iter()
            .zip(sums.chunks(16))
            .map(|(Span { share, first, .. }, sums)| {
                let job = scan::Uniforms {
                    quarter: share.quarter(),
                    others: share.others(),
                    source: source.address() + first * BLOCK_BYTES,
                    target: target.address() + first * BLOCK_BYTES,
                    blocks: share.blocks,
                    before: before.to_word(),
                };
                before = sums.iter().fold(before, |sum, part| sum.plus(*part));
                job
            })
            .collect();
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
