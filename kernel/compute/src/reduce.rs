//! Sums, minima and maxima.

use alloc::vec::Vec;

use v3d::Platform;

use crate::array::{Array, BLOCK_BYTES, Element};
use crate::division::Span;
use crate::programs::{reduce_add, reduce_fadd, reduce_fmax, reduce_fmin, reduce_max, reduce_min};
use crate::{Error, Session, Work};

/// Words that a QPU returns: one for each of its elements.
const LANES: usize = 16;

/// A reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduction {
    Sum,
    Least,
    Greatest,
}

/// Elements with an order and a sum: sums of integers wrap, sums of floats are in single precision.
pub trait Number: Element + PartialOrd {
    /// The neutral element of sums.
    const ZERO: Self;
    /// The neutral element of the minimum.
    const MAX_VALUE: Self;
    /// The neutral element of the maximum.
    const MIN_VALUE: Self;
    /// Whether programs compute with floats.
    const IS_FLOAT: bool;
    /// Bits to invert so that words have the order of signed integers, or of floats.
    const EXCHANGED: u32;

    /// The sum of two elements.
    #[must_use]
    fn plus(self, other: Self) -> Self;
}

impl Number for u32 {
    const ZERO: Self = 0;
    const MAX_VALUE: Self = Self::MAX;
    const MIN_VALUE: Self = 0;
    const IS_FLOAT: bool = false;
    const EXCHANGED: u32 = 1 << 31;

    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
}

impl Number for i32 {
    const ZERO: Self = 0;
    const MAX_VALUE: Self = Self::MAX;
    const MIN_VALUE: Self = Self::MIN;
    const IS_FLOAT: bool = false;
    const EXCHANGED: u32 = 0;

    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
}

impl Number for f32 {
    const ZERO: Self = 0.0;
    const MAX_VALUE: Self = Self::INFINITY;
    const MIN_VALUE: Self = Self::NEG_INFINITY;
    const IS_FLOAT: bool = true;
    const EXCHANGED: u32 = 0;

    fn plus(self, other: Self) -> Self {
        self + other
    }
}

impl<P: Platform> Session<'_, '_, '_, P> {
    /// The sum of all elements, 0 for none. Integers wrap. Floats are added in single precision: each of the 16
    /// elements of each QPU adds up its own, and the CPU adds these sums.
    ///
    /// # Errors
    /// When the array belongs to another driver; the driver's.
    pub fn sum<T: Number>(&mut self, source: &Array<T>) -> Result<T, Error> {
        let parts = self.reduce(source, Reduction::Sum)?;
        Ok(parts.into_iter().fold(T::ZERO, T::plus))
    }

    /// The minimum, if there are elements. Floats must not be NaN.
    ///
    /// # Errors
    /// When the array belongs to another driver; the driver's.
    pub fn least<T: Number>(&mut self, source: &Array<T>) -> Result<Option<T>, Error> {
        let parts = self.reduce(source, Reduction::Least)?;
        Ok(parts.into_iter().reduce(|least, part| if part < least { part } else { least }))
    }

    /// The maximum, if there are elements. Floats must not be NaN.
    ///
    /// # Errors
    /// When the array belongs to another driver; the driver's.
    pub fn greatest<T: Number>(&mut self, source: &Array<T>) -> Result<Option<T>, Error> {
        let parts = self.reduce(source, Reduction::Greatest)?;
        Ok(parts.into_iter().reduce(|greatest, part| if part > greatest { part } else { greatest }))
    }

    /// The partial results of all QPUs; those without elements of the array are neutral.
    fn reduce<T: Number>(&mut self, source: &Array<T>, reduction: Reduction) -> Result<Vec<T>, Error> {
        self.reduce_spans(source, reduction, &Span::interleaved(source.blocks()))
    }

    /// Reduces each span of blocks to 16 elements.
    pub(crate) fn reduce_spans<T: Number>(
        &mut self,
        source: &Array<T>,
        reduction: Reduction,
        spans: &[Span],
    ) -> Result<Vec<T>, Error> {
        self.expect_own(source)?;
        if spans.is_empty() {
            return Ok(Vec::new());
        }
        let neutral = match reduction {
            Reduction::Sum => T::ZERO,
            Reduction::Least => T::MAX_VALUE,
            Reduction::Greatest => T::MIN_VALUE,
        };
        self.fill_up(source, neutral.to_word())?;
        let exchanged = if reduction == Reduction::Sum { 0 } else { T::EXCHANGED };
        let target = self.undefined::<u32>(LANES * spans.len())?;
        macro_rules! launch {
            ($program:ident) => {{
                let jobs: Vec<$program::Uniforms> = spans
                    .iter()
                    .map(|Span { share, first, stride }| $program::Uniforms {
                        number: share.number,
                        others: share.others(),
                        exchanged,
                        source: source.address() + first * BLOCK_BYTES,
                        stride: stride * BLOCK_BYTES,
                        blocks: share.blocks,
                        neutral: neutral.to_word() ^ exchanged,
                        target: target.address() + share.number * 4 * LANES as u32,
                    })
                    .collect();
                self.launch(&$program::PROGRAM, &jobs)?;
            }};
        }
        match (reduction, T::IS_FLOAT) {
            (Reduction::Sum, false) => launch!(reduce_add),
            (Reduction::Least, false) => launch!(reduce_min),
            (Reduction::Greatest, false) => launch!(reduce_max),
            (Reduction::Sum, true) => launch!(reduce_fadd),
            (Reduction::Least, true) => launch!(reduce_fmin),
            (Reduction::Greatest, true) => launch!(reduce_fmax),
        }
        let elements = source.length as u64;
        self.account(Work {
            operations: elements,
            lookups: elements / 16,
            looked_up_bytes: 4 * elements,
            stored_bytes: 0,
        });
        Ok(self.read(&target)?.into_iter().map(|word| T::from_word(word ^ exchanged)).collect())
    }
}
