//! Pseudorandom numbers that are the same everywhere, and a texture of noise that can be repeated without a seam

use alloc::{vec, vec::Vec};

/// A pseudorandom number from 0 to 1 for each number.
#[must_use]
pub fn random(number: u32) -> f32 {
    let mut hash = number.wrapping_mul(0x9E37_79B1);
    hash = (hash ^ hash >> 15).wrapping_mul(0x2C1B_3C6D);
    hash = (hash ^ hash >> 12).wrapping_mul(0x297A_2D39);
    (hash >> 8) as f32 / 16_777_216.0
}

/// A picture of hills of `octaves` sizes, `side` texels across, with heights from 0 to 1 and a mean of about 1/2. There are `cells` hills of the first size
/// across; each further octave is half as large and half as high. It continues at its opposite edges. `cells` times the power of two must divide `side`.
#[must_use]
pub fn hills(side: u32, cells: u32, octaves: u32) -> Vec<f32> {
    let mut heights = vec![0.0; (side * side) as usize];
    let mut weight = 0.5;
    for octave in 0..octaves {
        let cells = cells << octave;
        let texels = side / cells;
        // A lattice of its own for each octave.
        let lattice = |x: u32, y: u32| random((octave << 24) + (y % cells) * cells + x % cells);
        let smooth = |t: f32| t * t * (3.0 - 2.0 * t);
        let share = |at: u32| smooth((at % texels) as f32 / texels as f32);
        for (at, height) in (0..).zip(&mut heights) {
            let (x, y) = (at % side, at / side);
            let (column, row) = (x / texels, y / texels);
            let along = |row: u32| {
                let (left, right) = (lattice(column, row), lattice(column + 1, row));
                left + (right - left) * share(x)
            };
            let (above, below) = (along(row), along(row + 1));
            *height += weight * (above + (below - above) * share(y));
        }
        weight *= 0.5;
    }
    // The weights add up to 1 - 2^-octaves.
    let sum = 1.0 - 2.0 * weight;
    heights.iter().map(|height| height / sum).collect()
}

/// The slopes and heights of a picture of hills as RGBA texels: along x, along y, the height, 255. A slope is the difference of both neighbours times
/// `steepness`, from -1 to 1 as 0 to 255, and falls where it is positive, as a normal leans.
#[must_use]
pub fn normals(heights: &[f32], side: u32, steepness: f32) -> Vec<u8> {
    let at = |x: u32, y: u32| heights.get(((y % side) * side + x % side) as usize).copied().unwrap_or_default();
    let byte = |value: f32| (value * 255.0 + 0.5).clamp(0.0, 255.0) as u8;
    let texel = |n: u32| {
        let (x, y) = (n % side, n / side);
        let along_x = at(x + side - 1, y) - at(x + 1, y);
        let along_y = at(x, y + side - 1) - at(x, y + 1);
        [byte(0.5 + 0.5 * steepness * along_x), byte(0.5 + 0.5 * steepness * along_y), byte(at(x, y)), 255]
    };
    (0..side * side).flat_map(texel).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIDE: u32 = 64;

    #[test]
    fn numbers_are_spread_evenly() {
        let numbers: Vec<f32> = (0..4096).map(random).collect();
        let mean = numbers.iter().sum::<f32>() / 4096.0;
        let square = numbers.iter().map(|number| (number - mean) * (number - mean)).sum::<f32>() / 4096.0;
        assert!((mean - 0.5).abs() < 0.02 && (square - 1.0 / 12.0).abs() < 0.004, "{mean} {square}");
    }

    /// Neighbours across an edge differ no more than others do.
    #[test]
    fn hills_have_no_seam() {
        let heights = hills(SIDE, 4, 3);
        let at = |x: u32, y: u32| heights[((y % SIDE) * SIDE + x % SIDE) as usize];
        let step = |x: u32, y: u32| (at(x, y) - at(x + 1, y)).abs().max((at(x, y) - at(x, y + 1)).abs());
        let inside = (0..SIDE - 1).flat_map(|y| (0..SIDE - 1).map(move |x| (x, y)));
        let most = inside.map(|(x, y)| step(x, y)).fold(0.0, f32::max);
        assert!((0..SIDE).all(|n| step(SIDE - 1, n) <= 1.2 * most && step(n, SIDE - 1) <= 1.2 * most), "{most}");
        let (least, greatest) = heights.iter().fold((1.0f32, 0.0f32), |(low, high), &at| (low.min(at), high.max(at)));
        assert!(least >= 0.0 && greatest <= 1.0 && greatest - least > 0.3, "{least} {greatest}");
    }

    /// Slopes cancel out around the torus, and lean away from what is high.
    #[test]
    fn normals_lean_downhill() {
        let mut heights = vec![0.0; (SIDE * SIDE) as usize];
        heights[(20 * SIDE + 10) as usize] = 0.5;
        let texels = normals(&heights, SIDE, 1.0);
        let at = |x: u32, y: u32| <[u8; 4]>::try_from(&texels[4 * (y * SIDE + x) as usize..][..4]).unwrap();
        assert_eq!(at(10, 20), [128, 128, 128, 255]);
        assert_eq!([at(11, 20), at(9, 20)], [[191, 128, 0, 255], [64, 128, 0, 255]]);
        assert_eq!([at(10, 21), at(10, 19)], [[128, 191, 0, 255], [128, 64, 0, 255]]);
    }
}
