//! Lists in one allocation.

use alloc::vec::Vec;

/// A list for each operation of a block.
#[derive(Clone, Debug)]
pub(crate) struct Lists<T> {
    /// For each list the index of its end.
    ends: Vec<usize>,
    items: Vec<T>,
}

impl<T> Lists<T> {
    /// No lists; there will be so many of them.
    pub(crate) fn with_capacity(lists: usize) -> Self {
        Self { ends: Vec::with_capacity(lists), items: Vec::new() }
    }

    /// Adds a list.
    pub(crate) fn push(&mut self, list: impl IntoIterator<Item = T>) {
        self.items.extend(list);
        self.ends.push(self.items.len());
    }

    /// Number of lists.
    pub(crate) const fn len(&self) -> usize {
        self.ends.len()
    }

    /// The list of an operation.
    pub(crate) fn of(&self, at: usize) -> &[T] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.items[start..self.ends[at]]
    }

    /// All lists, in the order of the operations.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &[T]> + ExactSizeIterator {
        (0..self.len()).map(|at| self.of(at))
    }
}

impl<T: Copy> Lists<T> {
    /// The lists of pairs of an operation and an item. Items of a list keep their order.
    pub(crate) fn of_pairs(lists: usize, pairs: &[(usize, T)]) -> Self {
        let mut ends = alloc::vec![0; lists];
        pairs.iter().for_each(|&(list, _)| ends[list] += 1);
        let mut next = Vec::with_capacity(lists);
        let mut sum = 0;
        for end in &mut ends {
            next.push(sum);
            sum += *end;
            *end = sum;
        }
        let Some(&(_, any)) = pairs.first() else { return Self { ends, items: Vec::new() } };
        let mut items = alloc::vec![any; pairs.len()];
        for &(list, item) in pairs {
            items[next[list]] = item;
            next[list] += 1;
        }
        Self { ends, items }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_keep_the_order_of_their_items() {
        let lists = Lists::of_pairs(4, &[(2, 'a'), (0, 'b'), (2, 'c'), (3, 'd')]);
        let all: Vec<&[char]> = lists.iter().collect();
        assert_eq!(all, [&['b'][..], &[][..], &['a', 'c'][..], &['d'][..]]);
        let mut pushed = Lists::with_capacity(2);
        pushed.push([1, 2]);
        pushed.push([]);
        assert_eq!((pushed.of(0), pushed.of(1).len(), pushed.len()), (&[1, 2][..], 0, 2));
        assert!(Lists::<u8>::of_pairs(2, &[]).of(1).is_empty());
    }
}
