//! Suggestions for names that may be misspelt.

use alloc::vec;
use alloc::vec::Vec;

/// The known name with the smallest edit distance to a word, if that is small enough for a typing error.
pub(crate) fn nearest<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    // Short names differ in few characters anyway, so fewer are accepted as a typing error.
    let max_distance = match word.chars().count() {
        0 | 1 => return None,
        2..=3 => 1,
        _ => 2,
    };
    let near = |name: &&str| name.len().abs_diff(word.len()) <= 4 && *name != word;
    names
        .filter(near)
        .map(|name| (distance(word, name), name))
        .filter(|&(far, _)| far <= max_distance)
        .min()
        .map(|(_, name)| name)
}

/// Edit distance with transpositions (Damerau-Levenshtein).
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut before = vec![0; to.len() + 1];
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, &a) in from.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, &b) in to.iter().enumerate() {
            let mut min = (row[j] + usize::from(a != b)).min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && a == to[j - 1] && from[i - 1] == b {
                min = min.min(before[j - 1] + 1);
            }
            next.push(min);
        }
        before = core::mem::replace(&mut row, next);
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_counted() {
        assert_eq!(distance("fadd", "fadd"), 0);
        assert_eq!(distance("fad", "fadd"), 1);
        assert_eq!(distance("fdad", "fadd"), 1);
        assert_eq!(distance("", "mov"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn only_near_names_are_meant() {
        let names = ["mov", "fmul", "fadd", "vpm_setup"];
        let meant = |word| nearest(word, names.into_iter());
        assert_eq!(meant("fmull"), Some("fmul"));
        assert_eq!(meant("vpm_steup"), Some("vpm_setup"));
        assert_eq!(meant("mvo"), Some("mov"));
        assert_eq!(meant("frobnicate"), None);
        assert_eq!(meant("x"), None);
        assert_eq!(meant("r9"), None);
    }
}
