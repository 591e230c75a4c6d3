//! Rows of a picture or a matrix, with padding from the end of a row to the start of the next.

use alloc::vec::Vec;

/// Adjacent rows of `width` elements, placed `pitch` elements apart in `length` elements. Padding is zero.
pub(crate) fn padded<T: Copy + Default>(elements: &[T], width: usize, pitch: usize, length: usize) -> Vec<T> {
    let mut padded = alloc::vec![T::default(); length];
    for (row, padded) in elements.chunks(width).zip(padded.chunks_mut(pitch)) {
        padded[..width].copy_from_slice(row);
    }
    padded
}

/// The inverse of [`padded`]: the first `width` elements of each of `height` rows.
pub(crate) fn cropped<T: Copy>(padded: &[T], pitch: usize, width: usize, height: usize) -> Vec<T> {
    padded.chunks(pitch).take(height).flat_map(|row| row.iter().copied().take(width)).collect()
}
