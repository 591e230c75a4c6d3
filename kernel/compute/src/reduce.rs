//! Sums, least and greatest elements.

use alloc::vec::Vec;

use v3d::Platform;

use crate::array::{Array, BLOCK_BYTES, Element};
use crate::programs::{reduce_add, reduce_fadd, reduce_fmax, reduce_fmin, reduce_max, reduce_min};
use crate::session::Share;
use crate::{Error, QPUS, Session, Work};

/// Words that a QPU gives: one for each of its elements.
const LANES: usize = 16;

/// What is reduced to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduction {
    Sum,
    Least,
    Greatest,
}

/// Elements that are numbers: sums of integers wrap, sums of floats are in single precision.
pub trait Number: Element + PartialOrd {
    /// Nothing.
    const ZERO: Self;
    /// No number is greater.
    const MAX_VALUE: Self;
    /// No number is less.
    const MIN_VALUE: Self;
    /// Whether programs are to take the words for floats.
    const IS_FLOAT: bool;
    /// Bits by which a word differs from a signed integer, or a float, of the same order.
    const EXCHANGED: u32;

    /// The sum of two.
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
    /// The sum of all elements; 0 of none. Integers wrap. Floats are added in single precision: each of 16 elements of each QPU adds up its own, and the
    /// CPU adds these sums.
    ///
    /// # Errors
    /// When the array is another driver's; the driver's.
    pub fn sum<T: Number>(&mut self, source: &Array<T>) -> Result<T, Error> {
        let parts = self.reduce(source, Reduction::Sum)?;
        Ok(parts.into_iter().fold(T::ZERO, T::plus))
    }

    /// The least element, if there is one. Of floats none may be no number.
    ///
    /// # Errors
    /// When the array is another driver's; the driver's.
    pub fn least<T: Number>(&mut self, source: &Array<T>) -> Result<Option<T>, Error> {
        let parts = self.reduce(source, Reduction::Least)?;
        Ok(parts.into_iter().reduce(|least, part| if part < least { part } else { least }))
    }

    /// The greatest element, if there is one. Of floats none may be no number.
    ///
    /// # Errors
    /// When the array is another driver's; the driver's.
    pub fn greatest<T: Number>(&mut self, source: &Array<T>) -> Result<Option<T>, Error> {
        let parts = self.reduce(source, Reduction::Greatest)?;
        Ok(parts.into_iter().reduce(|greatest, part| if part > greatest { part } else { greatest }))
    }

    /// What the elements of all QPUs have: some hold the neutral element, as long as others hold one of the array.
    fn reduce<T: Number>(&mut self, source: &Array<T>, reduction: Reduction) -> Result<Vec<T>, Error> {
        let qpus = source.blocks().min(QPUS);
        let every =
            Share::of(source.blocks()).map(|share| Stretch { first: share.number, stride: qpus, blocks: share.blocks });
        self.reduce_stretches(source, reduction, every.collect())
    }

    /// What each stretch of blocks is reduced to, 16 elements for each.
    pub(crate) fn reduce_stretches<T: Number>(
        &mut self,
        source: &Array<T>,
        reduction: Reduction,
        stretches: Vec<Stretch>,
    ) -> Result<Vec<T>, Error> {
        self.expect_own(source)?;
        if stretches.is_empty() {
            return Ok(Vec::new());
        }
        let neutral = match reduction {
            Reduction::Sum => T::ZERO,
            Reduction::Least => T::MAX_VALUE,
            Reduction::Greatest => T::MIN_VALUE,
        };
        self.fill_up(source, neutral.to_word())?;
        let exchanged = if reduction == Reduction::Sum { 0 } else { T::EXCHANGED };
        let target = self.undefined::<u32>(LANES * stretches.len())?;
        macro_rules! launch {
            ($program:ident) => {{
                let jobs: Vec<$program::Uniforms> = Share::of(stretches.len() as u32)
                    .zip(&stretches)
                    .map(|(share, stretch)| $program::Uniforms {
                        number: share.number,
                        others: share.others(),
                        exchanged,
                        source: source.address() + stretch.first * BLOCK_BYTES,
                        stride: stretch.stride * BLOCK_BYTES,
                        blocks: stretch.blocks,
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

/// Blocks that one QPU goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// The first.
    pub(crate) first: u32,
    /// From one to the next.
    pub(crate) stride: u32,
    /// How many.
    pub(crate) blocks: u32,
}
