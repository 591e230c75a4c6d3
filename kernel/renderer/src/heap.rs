//! Fallible allocation on the heap.

use alloc::vec::Vec;

use crate::error::Error;

/// Reserves space for `more` elements; the error has the label of the resource.
pub(crate) fn reserve<T>(label: &'static str, list: &mut Vec<T>, more: usize) -> Result<(), Error> {
    list.try_reserve(more).map_err(|_| Error::HeapFull { label, bytes: more.saturating_mul(size_of::<T>()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heap_that_is_full_has_a_name() {
        let mut list: Vec<u64> = Vec::from([1]);
        assert_eq!(reserve("list", &mut list, 100), Ok(()));
        let error = Error::HeapFull { label: "list", bytes: usize::MAX };
        assert_eq!(reserve("list", &mut list, usize::MAX / 4), Err(error));
        assert_eq!(list, [1]);
    }
}
