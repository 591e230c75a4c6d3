//! Radix sort.

use alloc::vec::Vec;

use v3d::Platform;

use crate::array::BLOCK_BYTES;
use crate::division::Span;
use crate::programs::{radix_count, radix_keys, radix_pairs};
use crate::{Array, Element, Error, Session, Work};

/// Number of values of a 4-bit digit.
const DIGITS: usize = 16;
/// Bits of a digit.
const DIGIT_BITS: u32 = 4;
/// Elements of a vector.
const LANES: usize = 16;
/// Bytes of a program's counts: a vector for each digit.
const COUNTS_BYTES: u32 = (4 * LANES * DIGITS) as u32;
/// Bytes of a program's table of addresses.
const TABLE_BYTES: u32 = 4 * DIGITS as u32;

impl<P: Platform> Session<'_, '_, '_, P> {
    /// Sorts keys in ascending order.
    ///
    /// The keys are sorted by one 4-bit digit at a time, from the lowest on: every QPU counts the digits in its own span of blocks, the CPU computes the
    /// start of each digit's section, and every QPU moves its keys there. This takes eight passes between two arrays.
    ///
    /// # Errors
    /// When the array belongs to another driver; when the pool has not enough memory for a second array; the driver's.
    pub fn sort(&mut self, keys: &mut Array<u32>) -> Result<(), Error> {
        self.sort_digits(keys, None::<&mut Array<u32>>)
    }

    /// Sorts keys in ascending order, together with their values. Values of equal keys keep their order.
    ///
    /// # Errors
    /// When the lengths differ; as [`Session::sort`].
    pub fn sort_pairs<T: Element>(&mut self, keys: &mut Array<u32>, values: &mut Array<T>) -> Result<(), Error> {
        self.expect_own(values)?;
        Error::expect_length("sort_pairs", values.length, keys.length)?;
        self.sort_digits(keys, Some(values))
    }

    fn sort_digits<T: Element>(
        &mut self,
        keys: &mut Array<u32>,
        mut values: Option<&mut Array<T>>,
    ) -> Result<(), Error> {
        self.expect_own(keys)?;
        if keys.is_empty() {
            return Ok(());
        }
        // Padding with the greatest key stays after all keys.
        self.fill_up(keys, u32::MAX)?;
        let mut other_keys = self.undefined(keys.length)?;
        let mut other_values = match &values {
            Some(values) => Some(self.undefined(values.length)?),
            None => None,
        };
        let spans = Span::contiguous(keys.blocks());
        for shift in (0..u32::BITS).step_by(DIGIT_BITS as usize) {
            let counts = self.count_digits(keys, &spans, shift)?;
            let pair = values.as_deref().zip(other_values.as_ref());
            self.move_digits((keys, &other_keys), pair, &spans, shift, &counts)?;
            core::mem::swap(keys, &mut other_keys);
            if let (Some(values), Some(other)) = (values.as_deref_mut(), &mut other_values) {
                core::mem::swap(values, other);
            }
        }
        Ok(())
    }

    /// Counts how often each digit occurs in each span.
    fn count_digits(&mut self, keys: &Array<u32>, spans: &[Span], shift: u32) -> Result<Vec<[u32; DIGITS]>, Error> {
        let target = self.undefined::<u32>(LANES * DIGITS * spans.len())?;
        let jobs: Vec<radix_count::Uniforms> = spans
            .iter()
            .map(|Span { share, first, .. }| radix_count::Uniforms {
                number: share.number,
                others: share.others(),
                source: keys.address() + first * BLOCK_BYTES,
                blocks: share.blocks,
                shift,
                target: target.address() + share.number * COUNTS_BYTES,
            })
            .collect();
        self.launch(&radix_count::PROGRAM, &jobs)?;
        let keys = keys.length as u64;
        self.account(Work { operations: keys, lookups: keys / 16, looked_up_bytes: 4 * keys, stored_bytes: 0 });
        let sums: Vec<u32> = self.read(&target)?.chunks(LANES).map(|counts| counts.iter().sum()).collect();
        Ok(sums.as_chunks().0.to_vec())
    }

    /// Moves all keys, and values, to the section of their digit.
    fn move_digits<T: Element>(
        &mut self,
        (keys, target): (&Array<u32>, &Array<u32>),
        values: Option<(&Array<T>, &Array<T>)>,
        spans: &[Span],
        shift: u32,
        counts: &[[u32; DIGITS]],
    ) -> Result<(), Error> {
        let mut table = alloc::vec![0; DIGITS * spans.len()];
        let mut next = target.address();
        for digit in 0..DIGITS {
            for (span, counts) in counts.iter().enumerate() {
                table[DIGITS * span + digit] = next.0;
                next = next + 4 * counts[digit];
            }
        }
        let table = self.array(&table)?;
        let addresses = values.map(|(from, to)| (from.address(), to.address().0.wrapping_sub(target.address().0)));
        macro_rules! launch {
            ($program:ident, $values:expr, $to_values:expr) => {{
                let jobs: Vec<$program::Uniforms> = spans
                    .iter()
                    .map(|Span { share, first, .. }| $program::Uniforms {
                        number: share.number,
                        others: share.others(),
                        keys: keys.address() + first * BLOCK_BYTES,
                        values: $values + first * BLOCK_BYTES,
                        blocks: share.blocks,
                        shift,
                        table: table.address() + share.number * TABLE_BYTES,
                        to_values: $to_values,
                    })
                    .collect();
                self.launch(&$program::PROGRAM, &jobs)?;
            }};
        }
        match addresses {
            Some((from, to_values)) => launch!(radix_pairs, from, to_values),
            None => launch!(radix_keys, keys.address(), 0),
        }
        let words = keys.length as u64 * if values.is_some() { 2 } else { 1 };
        self.account(Work {
            operations: words,
            lookups: words / 16,
            looked_up_bytes: 4 * words,
            stored_bytes: 4 * words,
        });
        Ok(())
    }
}
