//! Bands of the lighthouse's tower: runs of pixels of one colour down a column of a picture.

/// The colours of the bands from top to bottom, each as the letter that `color` gives its pixels. Bands of `max_edge` rows or fewer are left out; pixels
/// without a letter (windows, the gallery, the sky) end no band.
pub(super) fn bands(
    column: impl Iterator<Item = [u8; 3]>,
    max_edge: usize,
    color: impl Fn([u8; 3]) -> Option<char>,
) -> Vec<char> {
    let mut bands: Vec<(char, usize)> = Vec::new();
    for letter in column.filter_map(color) {
        match bands.last_mut() {
            Some((last, rows)) if *last == letter => *rows += 1,
            _ => bands.push((letter, 1)),
        }
    }
    bands.iter().filter(|(_, rows)| *rows > max_edge).map(|(letter, _)| *letter).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn bands_are_long_runs_of_one_letter() {
        let column = [0_u8, 1, 1, 1, 9, 1, 2, 2, 2, 1, 2];
        let letter = |[red, _, _]: [u8; 3]| "-rw".chars().nth(red.into()).filter(|&letter| letter != '-');
        assert_eq!(super::bands(column.map(|red| [red, 0, 0]).into_iter(), 2, letter), ['r', 'w']);
    }
}
