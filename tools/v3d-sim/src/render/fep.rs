//! Front end pipe: which samples of which quads a primitive covers [AG p.14].
//!
//! A pixel is covered exactly when its centre, 8/16 from either side, is inside the primitive of the 12.4 vertices. With multisampling each of its four
//! samples is asked separately, at (10, 2), (2, 6), (14, 10), (6, 14) sixteenths from the pixel's first corner [silicon].
//!
//! How many samples are asked is the "rasteriser oversample mode" of Configuration Bits; how many the tile buffer has is another matter. Drivers ask for one
//! sample in a buffer with four to draw without multisampling: then all four are what the centre is [mesa vc4_state.c]. The 16 samples of the OpenVG mode
//! are the inference that fits best: the pattern of four, half as large in each quarter of the pixel.
//!
//! Quads leave the rasteriser by blocks of 4x4 pixels, a block being four quads in the order lower left, lower right, upper left, upper right
//! (lower = lower in memory): the inner block of a large primitive is just one batch of 16 fragments. The order in which the silicon visits blocks is not
//! known; no picture depends on it.

use super::pse::{Edge, PixelRect, Primitive, STEPS};

/// Place of a pixel's centre, in 1/16 pixel.
const CENTRE: [(i64, i64); 1] = [(8, 8)];

/// Where the four samples of a pixel are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SamplePlaces {
    /// As in pictures that boards rendered [silicon].
    #[default]
    Silicon,
    /// Mirrored, as software rasterisers and other graphics interfaces have them: only to compare with pictures that those rendered.
    Mirrored,
}

impl SamplePlaces {
    /// The places in 1/16 pixel, in the order of the bits of the multisample mask.
    pub const fn places(self) -> [(i64, i64); 4] {
        match self {
            Self::Silicon => [(10, 2), (2, 6), (14, 10), (6, 14)],
            Self::Mirrored => [(6, 2), (14, 6), (2, 10), (10, 14)],
        }
    }
}

/// The samples that are asked whether a primitive covers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// The pixel's centre.
    Centre,
    /// Four samples.
    Four(SamplePlaces),
    /// 16 samples: the pattern of four in each quarter of the pixel, quarter by quarter in the order of a quad's pixels.
    Sixteen(SamplePlaces),
}

/// The places of 16 samples in 1/16 pixel.
fn sixteen_places(places: SamplePlaces) -> [(i64, i64); 16] {
    let four = places.places();
    std::array::from_fn(|sample| {
        let (quarter, (x, y)) = (sample as i64 / 4, four[sample % 4]);
        ((quarter & 1) * 8 + x / 2, (quarter >> 1) * 8 + y / 2)
    })
}

/// Pixels in either direction of a block.
const BLOCK: i32 = 4;

/// What a primitive covers of a quad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoveredQuad {
    /// Column of the quad's first pixel.
    pub x: i32,
    /// Row of the quad's first pixel.
    pub y: i32,
    /// Covered samples of its four pixels; of a pixel of which only the centre is asked, the lowest four bits.
    pub masks: [u16; 4],
}

/// A range of columns, the end exclusive.
type Span = (i32, i32);

/// Reports every quad of which the primitive covers a sample inside of `window`.
pub fn rasterise(primitive: &Primitive, window: PixelRect, sampling: Sampling, emit: impl FnMut(CoveredQuad)) {
    match sampling {
        Sampling::Centre => rasterise_samples(primitive, window, &CENTRE, emit),
        Sampling::Four(places) => rasterise_samples(primitive, window, &places.places(), emit),
        Sampling::Sixteen(places) => rasterise_samples(primitive, window, &sixteen_places(places), emit),
    }
}

fn rasterise_samples<const SAMPLES: usize>(
    primitive: &Primitive,
    window: PixelRect,
    places: &[(i64, i64); SAMPLES],
    mut emit: impl FnMut(CoveredQuad),
) {
    let window = primitive.bounds.intersect(window);
    if window.is_empty() {
        return;
    }
    let mut block_y = window.y0.div_euclid(BLOCK) * BLOCK;
    while block_y < window.y1 {
        let mut spans = [[(0, 0); SAMPLES]; BLOCK as usize];
        let (mut first, mut end) = (i32::MAX, i32::MIN);
        for (row, y) in spans.iter_mut().zip(block_y..) {
            if y < window.y0 || y >= window.y1 {
                continue;
            }
            for (span, &place) in row.iter_mut().zip(places) {
                *span = covered_columns(primitive.edges(), window, y, place);
                if span.0 < span.1 {
                    (first, end) = (first.min(span.0), end.max(span.1));
                }
            }
        }
        let mut block_x = first.div_euclid(BLOCK).wrapping_mul(BLOCK);
        while block_x < end {
            emit_block(&spans, block_x, block_y, &mut emit);
            block_x += BLOCK;
        }
        block_y += BLOCK;
    }
}

/// The columns of row `y` in which the sample at `place` of the pixel is inside all edges.
#[inline]
fn covered_columns(edges: &[Edge], window: PixelRect, y: i32, place: (i64, i64)) -> Span {
    let (mut low, mut high) = (i64::from(window.x0), i64::from(window.x1));
    let steps = i64::from(STEPS);
    let sample_y = i64::from(y) * steps + place.1;
    for edge in edges {
        let at_column_0 = edge.a * place.0 + edge.b * sample_y + edge.c;
        let per_column = edge.a * steps;
        if per_column > 0 {
            low = low.max((-at_column_0 + per_column - 1).div_euclid(per_column));
        } else if per_column < 0 {
            high = high.min(at_column_0.div_euclid(-per_column) + 1);
        } else if at_column_0 < 0 {
            return (0, 0);
        }
    }
    if low < high { (low as i32, high as i32) } else { (0, 0) }
}

#[inline]
fn emit_block<const SAMPLES: usize>(
    spans: &[[Span; SAMPLES]; BLOCK as usize],
    block_x: i32,
    block_y: i32,
    emit: &mut impl FnMut(CoveredQuad),
) {
    // one bit per pixel of the block's row and sample
    let mut rows = [[0u8; SAMPLES]; BLOCK as usize];
    let mut any = 0;
    for (bits, spans) in rows.iter_mut().zip(spans) {
        for (bits, &(low, high)) in bits.iter_mut().zip(spans) {
            let (low, high) = ((low - block_x).clamp(0, BLOCK), (high - block_x).clamp(0, BLOCK));
            if low < high {
                *bits = (1 << high) - (1 << low);
                any |= *bits;
            }
        }
    }
    if any == 0 {
        return;
    }
    for quad in 0..4 {
        let (left, bottom) = (2 * (quad & 1), 2 * (quad >> 1));
        let masks: [u16; 4] = std::array::from_fn(|element| {
            let (column, row) = (left + (element & 1), bottom + (element >> 1));
            let covered = |sample: usize| u16::from(rows[row][sample] >> column & 1);
            if SAMPLES == 1 {
                covered(0) * 0xf
            } else {
                (0..SAMPLES).fold(0, |mask, sample| mask | covered(sample) << sample)
            }
        });
        if masks != [0; 4] {
            emit(CoveredQuad { x: block_x + left as i32, y: block_y + bottom as i32, masks });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::pse::{SetupState, Vertex};
    use super::*;
    use std::collections::HashMap;
    use v3d_hw::control_list::{ConfigurationBits, DepthOffset, Float187};
    use v3d_hw::layout::Layout;

    const SCREEN: PixelRect = PixelRect { x0: 0, y0: 0, x1: 96, y1: 80 };

    fn triangle(corners: [(i32, i32); 3]) -> Option<Primitive> {
        let state = SetupState {
            configuration: ConfigurationBits {
                forward_facing: true,
                reverse_facing: true,
                ..ConfigurationBits::from_bits(0)
            },
            depth_offset: DepthOffset { units: Float187(0), factor: Float187(0) },
            flat: 0,
            line_width: 1.0,
            rht_boundary: 0,
        };
        let vertices = corners.map(|(x, y)| Vertex { x, y, z: 0.0, reciprocal_w: 1.0, varyings: &[] });
        state.triangle(vertices, &mut Vec::new()).ok()
    }

    fn coverage(primitive: &Primitive, window: PixelRect, sampling: Sampling) -> HashMap<(i32, i32), u16> {
        let mut covered = HashMap::new();
        rasterise(primitive, window, sampling, |quad| {
            assert!(quad.x % 2 == 0 && quad.y % 2 == 0 && quad.masks != [0; 4]);
            for (element, &mask) in quad.masks.iter().enumerate().filter(|(_, mask)| **mask != 0) {
                let pixel = (quad.x + (element & 1) as i32, quad.y + (element >> 1) as i32);
                assert_eq!(covered.insert(pixel, mask), None, "each pixel once");
            }
        });
        covered
    }

    /// A generator of test positions (xorshift), so that the suite is the same everywhere.
    fn numbers(mut state: u64) -> impl FnMut(i32, i32) -> i32 {
        move |low, high| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            low + (state % (high - low) as u64) as i32
        }
    }

    /// Spans and masks agree with asking every sample of every pixel whether it is inside.
    #[test]
    fn coverage_is_that_of_each_sample_alone() {
        let mut next = numbers(0x1234_5678_9abc_def1);
        let mut covered_in_all = 0;
        for _ in 0..400 {
            let size = if next(0, 4) == 0 { 4000 } else { 300 };
            let at = (next(-200, 1600), next(-200, 1400));
            let corners = std::array::from_fn(|_| (at.0 + next(-size, size), at.1 + next(-size, size)));
            let Some(primitive) = triangle(corners) else { continue };
            for sampling in [
                Sampling::Centre,
                Sampling::Four(SamplePlaces::Silicon),
                Sampling::Four(SamplePlaces::Mirrored),
                Sampling::Sixteen(SamplePlaces::Silicon),
            ] {
                let found = coverage(&primitive, SCREEN, sampling);
                let places = match sampling {
                    Sampling::Centre => CENTRE.to_vec(),
                    Sampling::Four(places) => places.places().to_vec(),
                    Sampling::Sixteen(places) => sixteen_places(places).to_vec(),
                };
                covered_in_all += found.len();
                for (x, y) in (0..SCREEN.y1).flat_map(|y| (0..SCREEN.x1).map(move |x| (x, y))) {
                    let mask = places.iter().enumerate().fold(0u16, |mask, (i, place)| {
                        let (px, py) = (i64::from(x) * 16 + place.0, i64::from(y) * 16 + place.1);
                        let inside = primitive.edges().iter().all(|e| e.a * px + e.b * py + e.c >= 0);
                        mask | u16::from(inside) << i
                    });
                    let expected = if sampling == Sampling::Centre && mask == 1 { 0xf } else { mask };
                    assert_eq!(found.get(&(x, y)).copied().unwrap_or(0), expected, "({x}, {y}) of {corners:?}");
                }
            }
        }
        assert!(covered_in_all > 10_000, "the suite covers something: {covered_in_all}");
    }

    /// Neighbours with a common edge share it: no pixel twice, none left out, even where centres lie on the edge.
    #[test]
    fn a_fan_covers_every_pixel_once() {
        let mut next = numbers(99);
        for _ in 0..100 {
            // centres lie at odd multiples of 8, so a grid of 8 gives many ties
            let centre = (8 * next(4, 180), 8 * next(4, 150));
            let frame = [(-800, -800), (2400, -800), (2400, 2400), (-800, 2400)];
            let mut times = HashMap::new();
            for i in 0..4 {
                let Some(part) = triangle([centre, frame[i], frame[(i + 1) % 4]]) else { continue };
                for pixel in coverage(&part, SCREEN, Sampling::Centre).into_keys() {
                    *times.entry(pixel).or_insert(0) += 1;
                }
            }
            assert_eq!(times.len(), (SCREEN.x1 * SCREEN.y1) as usize, "centre {centre:?}");
            assert!(times.values().all(|&n| n == 1), "centre {centre:?}");
        }
    }

    /// The 16 places are different ones, four in each quarter.
    #[test]
    fn the_16_places_are_spread_over_the_pixel() {
        let places = sixteen_places(SamplePlaces::Silicon);
        for (i, &(x, y)) in places.iter().enumerate() {
            assert_eq!((x / 8, y / 8), (i as i64 / 4 % 2, i as i64 / 8));
            assert!(!places[..i].contains(&(x, y)));
        }
    }

    /// What a window leaves out does not change what it shows.
    #[test]
    fn tiles_put_together_are_the_whole() {
        let primitive = triangle([(40, 30), (1500, 333), (600, 1250)]).unwrap();
        let whole = coverage(&primitive, SCREEN, Sampling::Four(SamplePlaces::Silicon));
        let mut parts = HashMap::new();
        for (x0, y0) in [(0, 0), (32, 0), (64, 0), (0, 32), (32, 32), (64, 32), (0, 64), (32, 64), (64, 64)] {
            let tile = PixelRect { x0, y0, x1: x0 + 32, y1: y0 + 32 }.intersect(SCREEN);
            parts.extend(coverage(&primitive, tile, Sampling::Four(SamplePlaces::Silicon)));
        }
        assert_eq!(whole, parts);
        assert!(whole.len() > 1000);
    }
}
