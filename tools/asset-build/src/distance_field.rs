//! Distance fields: the distance of each pixel of a glyph's bitmap from its outline.
//!
//! The glyph is rasterised several times larger than it is stored. The distances between the large pixels' centres and the nearest one on the other side of the
//! outline are exact: squared distances along columns, then the lower envelope of parabolas along rows, which is Felzenszwalb and Huttenlocher's transform.

/// A bitmap: whether each pixel is inside, rows from the top.
#[derive(Debug)]
pub(crate) struct Bitmap {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) inside: Vec<bool>,
}

/// The distance field of a bitmap that is `scale` times as large, with `spread` pixels of margin on each side: its
/// width, height and bytes.
///
/// A byte is 128 on the outline, rises by 127 to `spread` pixels inside, and falls by 128 to `spread` pixels outside.
pub(crate) fn distance_field(bitmap: &Bitmap, scale: usize, spread: usize) -> (usize, usize, Vec<u8>) {
    let margin = spread * scale;
    let (columns, rows) = (bitmap.width.div_ceil(scale) + 2 * spread, bitmap.height.div_ceil(scale) + 2 * spread);
    let (width, height) = (columns * scale, rows * scale);
    let mut inside = vec![false; width * height];
    for (row, line) in bitmap.inside.chunks_exact(bitmap.width.max(1)).enumerate() {
        let start = (row + margin) * width + margin;
        inside[start..start + bitmap.width].copy_from_slice(line);
    }
    let to_inside = squared_distances(width, height, |index| inside[index]);
    let to_outside = squared_distances(width, height, |index| !inside[index]);
    // The outline is half a pixel before the nearest centre on the other side.
    let signed =
        |index: usize| if inside[index] { to_outside[index].sqrt() - 0.5 } else { 0.5 - to_inside[index].sqrt() };
    let mut bytes = Vec::with_capacity(columns * rows);
    for row in 0..rows {
        for column in 0..columns {
            // The mean of the large pixels around the stored pixel's centre.
            let (x, y) = (column * scale + scale / 2, row * scale + scale / 2);
            let around = [(x - 1, y - 1), (x, y - 1), (x - 1, y), (x, y)];
            let distance = around.map(|(x, y)| signed(y * width + x)).iter().sum::<f64>() / 4.0 / margin as f64;
            let byte = 128.0 + distance * if distance > 0.0 { 127.0 } else { 128.0 };
            bytes.push(byte.round().clamp(0.0, 255.0) as u8);
        }
    }
    (columns, rows, bytes)
}

/// A squared distance greater than in any bitmap.
const FAR: f64 = 1e12;

/// For each pixel, the squared distance to the nearest pixel of a set.
fn squared_distances(width: usize, height: usize, is_in_set: impl Fn(usize) -> bool) -> Vec<f64> {
    let mut distances: Vec<f64> = (0..width * height).map(|index| if is_in_set(index) { 0.0 } else { FAR }).collect();
    let mut line = Vec::new();
    for column in 0..width {
        line.clear();
        line.extend((0..height).map(|row| distances[row * width + column]));
        for (row, distance) in lower_envelope(&line).into_iter().enumerate() {
            distances[row * width + column] = distance;
        }
    }
    for row in distances.chunks_exact_mut(width) {
        let transformed = lower_envelope(row);
        row.copy_from_slice(&transformed);
    }
    distances
}

/// For each position `x`, the minimum of `values[q] + (x - q)^2` over all `q`.
fn lower_envelope(values: &[f64]) -> Vec<f64> {
    // The parabolas of the envelope, each with the position from which on it is the lowest.
    let mut parabolas: Vec<(usize, f64)> = Vec::with_capacity(values.len());
    for (place, &value) in values.iter().enumerate() {
        let raised = |q: usize| values[q] + (q * q) as f64;
        let mut start = f64::NEG_INFINITY;
        while let Some(&(last, last_start)) = parabolas.last() {
            start = (value + (place * place) as f64 - raised(last)) / (2 * (place - last)) as f64;
            if start > last_start {
                break;
            }
            parabolas.pop();
            start = f64::NEG_INFINITY;
        }
        parabolas.push((place, start));
    }
    let mut current = 0;
    let nearest = |x: usize| {
        while parabolas.get(current + 1).is_some_and(|&(_, start)| start <= x as f64) {
            current += 1;
        }
        let q = parabolas[current].0;
        values[q] + (x.abs_diff(q) * x.abs_diff(q)) as f64
    };
    (0..values.len()).map(nearest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disc: the distance is the radius minus the distance from the centre.
    #[test]
    fn a_disc_has_the_distances_of_a_disc() {
        let (size, radius, scale, spread) = (96usize, 32.0, 4, 6);
        let middle = size as f64 / 2.0;
        let inside = (0..size * size)
            .map(|index| {
                let (x, y) = ((index % size) as f64 + 0.5 - middle, (index / size) as f64 + 0.5 - middle);
                x.hypot(y) < radius
            })
            .collect();
        let (width, height, bytes) = distance_field(&Bitmap { width: size, height: size, inside }, scale, spread);
        assert_eq!((width, height), (size / scale + 2 * spread, size / scale + 2 * spread));
        let mut levels = [false; 256];
        for (index, &byte) in bytes.iter().enumerate() {
            let at = |index: usize| index as f64 + 0.5 - width as f64 / 2.0;
            let exact = radius / scale as f64 - at(index % width).hypot(at(index / width));
            let expected = (128.0 + exact / spread as f64 * 127.5).clamp(0.0, 255.0);
            // Half the diagonal of a large pixel is 0.18 stored pixels, which is 4 steps.
            assert!((expected - f64::from(byte)).abs() < 5.0, "at {index}: {byte}, and {expected} is exact");
            levels[usize::from(byte)] = true;
        }
        assert!(levels.iter().filter(|&&seen| seen).count() > 30, "the field has many levels");
    }
}
