//! Values that follow places in the code: sums of addresses, each with a factor, plus a number.
//!
//! A return address is one place; a distance between labels is one place less another; their sum is a place again. Such a value can be computed for any
//! layout of the code. An unknown number may be added to it, such as an index into a table, of which it is known only that it is a multiple of a power of two.

use alloc::vec;
use alloc::vec::Vec;

/// Most places in a sum, each counted as often as its factor says.
const MAX_TERMS: u32 = 4;

/// A sum of places, a number of bytes, and perhaps an unknown index.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Linear {
    /// Places as indices of words, in order, with their factors, none of which is 0.
    terms: Vec<(usize, i32)>,
    /// Bytes, in the QPU's arithmetic; below the index's scale, if there is an index.
    addend: i32,
    /// An unknown multiple of this power of two is added.
    index: Option<u8>,
}

impl Linear {
    /// A number.
    pub(super) const fn number(value: i32) -> Self {
        Self { terms: Vec::new(), addend: value, index: None }
    }

    /// An unknown multiple of `1 << scale`.
    pub(super) const fn index(scale: u8) -> Self {
        Self { terms: Vec::new(), addend: 0, index: Some(scale) }
    }

    /// The address of a word.
    pub(super) fn place(word: usize) -> Self {
        Self { terms: vec![(word, 1)], addend: 0, index: None }
    }

    /// The distance from one word to another.
    pub(super) fn distance(to: usize, from: usize) -> Self {
        Self::place(to).plus_terms(&[(from, -1)])
    }

    fn plus_terms(mut self, terms: &[(usize, i32)]) -> Self {
        for &(place, factor) in terms {
            match self.terms.binary_search_by_key(&place, |&(place, _)| place) {
                Ok(at) => self.terms[at].1 += factor,
                Err(at) => self.terms.insert(at, (place, factor)),
            }
        }
        self.terms.retain(|&(_, factor)| factor != 0);
        self
    }

    /// Brings the addend below the scale of the index, which hides what is above.
    fn settled(mut self) -> Self {
        if let Some(scale) = self.index {
            self.addend &= (1_i32 << scale).wrapping_sub(1);
        }
        self
    }

    /// The sum of both; `None` if it has too many places to be an address.
    pub(super) fn plus(&self, other: &Self) -> Option<Self> {
        let mut sum = self.clone().plus_terms(&other.terms);
        sum.addend = sum.addend.wrapping_add(other.addend);
        sum.index = match (self.index, other.index) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
        let places: u32 = sum.terms.iter().map(|(_, factor)| factor.unsigned_abs()).sum();
        (places <= MAX_TERMS).then(|| sum.settled())
    }

    /// A number with its sign changed; `None` if it follows places.
    pub(super) fn negated(&self) -> Option<Self> {
        self.is_number().then(|| Self { addend: self.addend.wrapping_neg(), ..self.clone() }.settled())
    }

    /// A number that is shifted to the left; `None` if it follows places.
    pub(super) fn shifted_left(&self, by: u8) -> Option<Self> {
        let shifted = Self {
            terms: Vec::new(),
            addend: self.addend.wrapping_shl(u32::from(by)),
            index: self.index.map(|scale| (scale + by).min(31)),
        };
        self.is_number().then(|| shifted.settled())
    }

    /// The same with an unknown number added.
    pub(super) fn widened(&self) -> Self {
        Self { addend: 0, index: Some(0), ..self.clone() }
    }

    /// Whether it does not depend on where code is.
    pub(super) fn is_number(&self) -> bool {
        self.terms.is_empty()
    }

    /// The number, if it is one that is known.
    pub(super) fn known_number(&self) -> Option<i32> {
        (self.terms.is_empty() && self.index.is_none()).then_some(self.addend)
    }

    /// Whether it is an address in the code, wherever the code is loaded: the factors' sum is 1.
    pub(super) fn is_address(&self) -> bool {
        self.terms.iter().map(|(_, factor)| factor).sum::<i32>() == 1
    }

    /// The scale of the unknown index, if there is one.
    pub(super) const fn scale(&self) -> Option<u8> {
        self.index
    }

    /// The place and the bytes behind it, if it is a single one.
    pub(super) fn single_place(&self) -> Option<(usize, i32)> {
        match self.terms[..] {
            [(place, 1)] => Some((place, self.addend)),
            _ => None,
        }
    }

    /// The places that it consists of.
    pub(super) fn places(&self) -> impl Iterator<Item = usize> {
        self.terms.iter().map(|&(place, _)| place)
    }

    /// Its value in bytes, without the index, where `address` gives the byte offset of a place.
    pub(super) fn value(&self, address: impl Fn(usize) -> i64) -> i64 {
        self.terms.iter().map(|&(place, factor)| address(place) * i64::from(factor)).sum::<i64>()
            + i64::from(self.addend)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_cancel_each_other() {
        let back = Linear::place(7).plus(&Linear::distance(2, 7)).expect("few places");
        assert_eq!(back, Linear::place(2));
        assert!(back.is_address());
        assert!(!Linear::distance(2, 7).is_address());
        assert_eq!(Linear::distance(3, 3), Linear::number(0));
    }

    #[test]
    fn an_index_hides_what_is_above_its_scale() {
        let entry = Linear::place(9).plus(&Linear::number(-32)).and_then(|sum| sum.plus(&Linear::index(5)));
        assert_eq!(entry.and_then(|entry| entry.single_place()), Some((9, 0)));
        let shifted = Linear::index(0).shifted_left(3).expect("a number");
        assert_eq!(shifted, Linear::index(3));
        assert_eq!(Linear::place(1).shifted_left(3), None);
    }

    #[test]
    fn sums_of_too_many_places_are_none() {
        let two = Linear::place(1).plus(&Linear::place(1)).expect("two");
        let four = two.plus(&two).expect("four");
        assert_eq!(four.plus(&Linear::place(1)), None);
        assert_eq!(four.value(|place| place as i64 * 8), 32);
    }
}
