//! Sorting by digits.

use alloc::vec::Vec;

use v3d::Platform;

use crate::array::BLOCK_BYTES;
use crate::programs::{radix_count, radix_keys, radix_pairs};
use crate::scan::stretches;
use crate::session::Share;
use crate::{Array, Element, Error, Session, Work};

/// Values of a digit of 4 bits.
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
    /// Sorts keys, the least first.
    ///
    /// A digit of 4 bits at a time, from the lowest on: every QPU counts in a stretch of its own how many keys have which digit, the CPU adds up where
    /// each digit's keys begin, and every QPU moves its keys there. That is done eight times, between two arrays.
    ///
    /// # Errors
    /// When the array is another driver's; when the pool has no room for another; the driver's.
    pub fn sort(&mut self, keys: &mut Array<u32>) -> Result<(), Error> {
        self.sort_digits(keys, None::<&mut Array<u32>>)
    }

    /// Sorts keys, the least first, and takes a value with each. Values of equal keys stay in their order.
    ///
    /// # Errors
    /// When the lengths differ; as [`Session::sort`].
    pub fn sort_pairs<T: Element>(&mut self, keys: &mut Array<u32>, values: &mut Array<T>) -> Result<(), Error> {
        self.expect_own(values)?;
        if keys.length != values.length {
            return Err(Error::Lengths { operation: "sort_pairs", given: values.length, needed: keys.length });
        }
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
        // What the last block is filled up with stays behind all keys.
        self.fill_up(keys, u32::MAX)?;
        let mut other_keys = self.undefined(keys.length)?;
        let mut other_values = match &values {
            Some(values) => Some(self.undefined(values.length)?),
            None => None,
        };
        for shift in (0..u32::BITS).step_by(DIGIT_BITS as usize) {
            let counts = self.count_digits(keys, shift)?;
            let pair = values.as_deref().zip(other_values.as_ref());
            self.move_digits(keys, &other_keys, pair, shift, &counts)?;
            core::mem::swap(keys, &mut other_keys);
            if let (Some(values), Some(other)) = (values.as_deref_mut(), &mut other_values) {
                core::mem::swap(values, other);
            }
        }
        Ok(())
    }

    /// How many keys of each stretch have which digit.
    fn count_digits(&mut self, keys: &Array<u32>, shift: u32) -> Result<Vec<[u32; DIGITS]>, Error> {
        let stretches = stretches(keys.blocks());
        let target = self.undefined::<u32>(LANES * DIGITS * stretches.len())?;
        let jobs: Vec<radix_count::Uniforms> = Share::of(stretches.len() as u32)
            .zip(&stretches)
            .map(|(share, stretch)| radix_count::Uniforms {
                number: share.number,
                others: share.others(),
                source: keys.address() + stretch.first * BLOCK_BYTES,
                blocks: stretch.blocks,
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

    /// Moves all keys, and values, to where those with their digit belong.
    fn move_digits<T: Element>(
        &mut self,
        keys: &Array<u32>,
        target: &Array<u32>,
        values: Option<(&Array<T>, &Array<T>)>,
        shift: u32,
        counts: &[[u32; DIGITS]],
    ) -> Result<(), Error> {
        let stretches = stretches(keys.blocks());
        let mut table = alloc::vec![0; DIGITS * stretches.len()];
        let mut next = target.address();
        for digit in 0..DIGITS {
            for (stretch, counts) in counts.iter().enumerate() {
                table[DIGITS * stretch + digit] = next.0;
                next = next + 4 * counts[digit];
            }
        }
        let table = self.array(&table)?;
        let addresses = values.map(|(from, to)| (from.address(), to.address().0.wrapping_sub(target.address().0)));
        macro_rules! launch {
            ($program:ident, $values:expr, $to_values:expr) => {{
                let jobs: Vec<$program::Uniforms> = Share::of(stretches.len() as u32)
                    .zip(&stretches)
                    .map(|(share, stretch)| $program::Uniforms {
                        number: share.number,
                        others: share.others(),
                        keys: keys.address() + stretch.first * BLOCK_BYTES,
                        values: $values + stretch.first * BLOCK_BYTES,
                        blocks: stretch.blocks,
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
