//! Front end pipe (FEP): which samples of which quads a primitive covers, and their depth [AG p.14].
//!
//! A pixel is covered exactly if its centre, 8/16 from either side, is inside of the primitive of the 12.4 vertices. With multisampling each of its
//! four samples is tested on its own, at (10, 2), (2, 6), (14, 10), (6, 14) sixteenths from the pixel's first corner [silicon].
//!
//! The number of samples tested is the "rasteriser oversample mode" of Configuration Bits, independent of how many the tile buffer has. Drivers
//! select one sample with a buffer of four to draw without multisampling: all four samples then follow the centre [mesa vc4_state.c]. The 16 samples
//! of the OpenVG mode are the inference that fits best: the pattern of four, half as large in each quarter of the pixel.
//!
//! # Depth
//! Interpolated depth is clamped to at most 1, multiplied by 2^24 - 1 and truncated to an integer; pixels outside of the Z clipping planes are not
//! covered. Both are inferences: the guide only says that Z is fixed point [AG p.51] and that the FEP clips at near and far [AG p.97]. The planes exclude a
//! pixel by its depth before the depth offset: what that moves beyond them is drawn, at a depth clamped to 0 or 1 (polygon_offset.default_result_depth_clamp
//! passes on boards) [deqp].
//!
//! # Order
//! Quads leave the rasteriser by blocks of 4x4 pixels, a block being four quads in the order lower left, lower right, upper left, upper right (lower
//! = lower in memory), so that an inner block of a large primitive is one batch of 16 fragments. The order in which silicon visits blocks is not
//! known; no picture depends on it. Here the edges are tested for a row of up to 16 blocks at a time, and then for the 16 pixels of each block that
//! an edge crosses.

use super::pse::{Edge, MAX_EDGES, PixelRect, Primitive, STEPS};
use crate::qpu::lanes::{ALL, Lanes, Mask};
use crate::simd::vectors::Vectors;
use crate::simd::words::Words;
use v3d_hw::qpu::LANES;

/// Position of a pixel's centre, in 1/16 pixel.
const CENTRE: [(i64, i64); 1] = [(8, 8)];

/// Positions of the four samples of a pixel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SamplePositions {
    /// As in pictures rendered on boards [silicon].
    #[default]
    Silicon,
    /// Mirrored, as in software rasterisers and other graphics interfaces: only for comparison with their pictures.
    Mirrored,
}

impl SamplePositions {
    /// The positions in 1/16 pixel, in the order of the bits of the multisample mask.
    pub const fn positions(self) -> [(i64, i64); 4] {
        match self {
            Self::Silicon => [(10, 2), (2, 6), (14, 10), (6, 14)],
            Self::Mirrored => [(6, 2), (14, 6), (2, 10), (10, 14)],
        }
    }
}

/// Which samples of a pixel are tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// The pixel's centre.
    Centre,
    /// Four samples.
    Four(SamplePositions),
    /// 16 samples: the pattern of four in each quarter of the pixel, quarter by quarter in the order of a quad's pixels.
    Sixteen(SamplePositions),
}

/// The positions of 16 samples in 1/16 pixel.
fn sixteen_positions(positions: SamplePositions) -> [(i64, i64); 16] {
    let four = positions.positions();
    std::array::from_fn(|sample| {
        let (quarter, (x, y)) = (sample as i64 / 4, four[sample % 4]);
        ((quarter & 1) * 8 + x / 2, (quarter >> 1) * 8 + y / 2)
    })
}

/// Pixels of a block in each direction.
pub const BLOCK: i32 = 4;

/// Column and row in its block of each element's pixel.
pub const fn pixel_in_block(lane: usize) -> (i32, i32) {
    let (quad, element) = (lane as i32 / 4, lane as i32 % 4);
    ((quad & 1) * 2 + (element & 1), (quad >> 1) * 2 + (element >> 1))
}

/// Coverage of a block of 4x4 pixels: four quads, as a batch has them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoveredBlock {
    /// Column of the block's first pixel.
    pub x: i32,
    /// Row of the block's first pixel.
    pub y: i32,
    /// Offset of its first pixel's centre from the primitive's origin, in 1/16 pixel.
    pub distance: (f64, f64),
    /// Pixels with a covered sample.
    pub pixels: Mask,
    /// Pixels between the Z clipping planes.
    pub within_limits: Mask,
    /// Covered samples of its pixels; the lowest four bits if only the centre is tested.
    pub samples: Lanes,
    /// Depth of its pixels, 24 bits.
    pub z: Lanes,
}

/// An edge, prepared for testing blocks. All numbers are values of its edge function, or differences between two.
///
/// Corners are less than 2^18 sixteenths of a pixel apart [`super::pse`], so that differences within a row of 16 blocks are below 2^30, and a value
/// farther from 0 than that has its sign in the whole row. So 32 bits suffice once such values are clamped.
#[derive(Clone, Copy, Debug, Default)]
struct BlockEdge {
    edge: Edge,
    /// Differences from a block's corner to its pixels' corners.
    pixels: Lanes,
    /// Differences from the corner of the first of 16 blocks to those of all.
    blocks: Lanes,
    /// Differences from a block's corner to its sample with the lowest value, and to that with the highest.
    lowest: i32,
    highest: i32,
}

/// Blocks that are tested at once.
const BLOCKS: i32 = LANES as i32;

impl BlockEdge {
    /// Prepares an edge; samples are from `places.0` to `places.1` in a pixel, in either direction.
    fn new(edge: Edge, positions: (i64, i64)) -> Self {
        let steps = i64::from(STEPS);
        let (a, b) = (edge.a, edge.b);
        let (first, last) = (positions.0, positions.1 + steps * i64::from(BLOCK - 1));
        let lowest = (a * first).min(a * last) + (b * first).min(b * last);
        let highest = (a * first).max(a * last) + (b * first).max(b * last);
        let (right, up) = ((a * steps) as i32, (b * steps) as i32);
        let pixels = std::array::from_fn(|lane| {
            let (column, row) = pixel_in_block(lane);
            right.wrapping_mul(column).wrapping_add(up.wrapping_mul(row)) as u32
        });
        let blocks = std::array::from_fn(|block| right.wrapping_mul(BLOCK * block as i32) as u32);
        let (lowest, highest) = (lowest as i32, highest as i32);
        Self { edge, pixels: Lanes(pixels), blocks: Lanes(blocks), lowest, highest }
    }

    /// The value at a pixel's corner, clamped where it has its sign in the whole row of blocks.
    #[inline(always)]
    fn at(&self, x: i32, y: i32) -> i32 {
        const FAR: i64 = 1 << 30;
        let steps = i64::from(STEPS);
        let value = self.edge.a * (i64::from(x) * steps) + self.edge.b * (i64::from(y) * steps) + self.edge.c;
        value.clamp(-FAR, FAR) as i32
    }

    /// Difference from a pixel's corner to one of its samples.
    #[inline(always)]
    fn sample(&self, position: (i64, i64)) -> i32 {
        (self.edge.a * position.0 + self.edge.b * position.1) as i32
    }
}

/// Maximum depth.
const Z_MAX: f64 = 16_777_215.0;

/// Rasterisation of one primitive.
#[derive(Debug)]
pub struct Rasterising<'a> {
    /// The primitive.
    pub primitive: &'a Primitive,
    /// Pixels that may be covered.
    pub window: PixelRect,
    /// Samples to test.
    pub sampling: Sampling,
    /// The Z clipping planes: minimum and maximum depth.
    pub z_limits: (f64, f64),
    /// Output: every block with a covered sample inside of the window is appended.
    pub blocks: &'a mut Vec<CoveredBlock>,
}

impl Rasterising<'_> {
    /// Rasterises the primitive.
    #[inline(always)]
    pub fn run<V: Vectors>(&mut self) {
        match self.sampling {
            Sampling::Centre => self.rasterise::<V, true>(&CENTRE),
            Sampling::Four(positions) => self.rasterise::<V, false>(&positions.positions()),
            Sampling::Sixteen(positions) => self.rasterise::<V, false>(&sixteen_positions(positions)),
        }
    }

    /// `CENTRE_ALONE`: there is one position, that of the centre.
    #[inline(always)]
    fn rasterise<V: Vectors, const CENTRE_ALONE: bool>(&mut self, positions: &[(i64, i64)]) {
        let primitive = self.primitive;
        let window = primitive.bounds.intersect(self.window);
        if window.is_empty() {
            return;
        }
        let range = if CENTRE_ALONE { CENTRE[0] } else { (0, i64::from(STEPS)) };
        let mut edges = [BlockEdge::default(); MAX_EDGES];
        let count = primitive.edges().len();
        for (prepared, &edge) in edges.iter_mut().zip(primitive.edges()) {
            *prepared = BlockEdge::new(edge, range);
        }
        let edges = &edges[..count];
        let mut y = window.y0.div_euclid(BLOCK) * BLOCK;
        while y < window.y1 {
            let mut row_x = window.x0.div_euclid(BLOCK) * BLOCK;
            while row_x < window.x1 {
                let mut row = test_row::<V>(edges, window, row_x, y);
                while row.met != 0 {
                    let number = row.met.trailing_zeros();
                    row.met &= row.met - 1;
                    let x = row_x + BLOCK * number as i32;
                    let inside = pixels_inside(window, x, y);
                    let (mut pixels, mut samples) =
                        (inside, Lanes::splat(if CENTRE_ALONE { 0xf } else { (1 << positions.len()) - 1 }));
                    if row.crossed >> number & 1 == 1 {
                        samples = test_samples::<V, CENTRE_ALONE>(edges, &row.values, number as usize, positions);
                        pixels &= !V::zero(&samples);
                    }
                    if pixels != 0 {
                        if inside != ALL {
                            V::blend(&mut samples, &Lanes::default(), !inside);
                        }
                        let distance = primitive.centre_distance((x, y));
                        let (z, within_limits) = depths::<V>(primitive, self.z_limits, distance);
                        self.blocks.push(CoveredBlock { x, y, distance, pixels, within_limits, samples, z });
                    }
                }
                row_x += BLOCK * BLOCKS;
            }
            y += BLOCK;
        }
    }
}

/// A row of 16 blocks.
struct BlockRow {
    /// Blocks that may be covered.
    met: Mask,
    /// Blocks that are not wholly covered, if at all.
    crossed: Mask,
    /// The values of the edges at the corner of the first block.
    values: [i32; MAX_EDGES],
}

/// Tests the 16 blocks from a pixel on.
#[inline(always)]
fn test_row<V: Vectors>(edges: &[BlockEdge], window: PixelRect, x: i32, y: i32) -> BlockRow {
    let blocks = (window.x1 - x + BLOCK - 1) / BLOCK;
    let in_window = if blocks < BLOCKS { (1 << blocks) - 1 } else { ALL };
    // The highest bit of an element is set as soon as one value is negative.
    let (mut outside, mut crossed) = (V::Words::splat(0), V::Words::splat(0));
    let mut values = [0; MAX_EDGES];
    for (edge, value) in edges.iter().zip(&mut values) {
        *value = edge.at(x, y);
        let blocks = V::Words::load(&edge.blocks);
        let (highest, lowest) = (value.wrapping_add(edge.highest) as u32, value.wrapping_add(edge.lowest) as u32);
        outside = V::Words::or(outside, V::Words::add(blocks, V::Words::splat(highest)));
        crossed = V::Words::or(crossed, V::Words::add(blocks, V::Words::splat(lowest)));
    }
    BlockRow {
        met: in_window & !V::negative(&V::Words::store(outside)),
        crossed: V::negative(&V::Words::store(crossed)),
        values,
    }
}

/// The covered samples of the pixels of a block, each of which is tested. The block is that with this number in a row of blocks whose edges have these values.
#[inline(always)]
fn test_samples<V: Vectors, const CENTRE_ALONE: bool>(
    edges: &[BlockEdge],
    values: &[i32; MAX_EDGES],
    number: usize,
    positions: &[(i64, i64)],
) -> Lanes {
    let mut samples = V::Words::splat(0);
    for (sample, &position) in positions.iter().enumerate() {
        let mut outside = V::Words::splat(0);
        for (edge, value) in edges.iter().zip(values) {
            let at = value.wrapping_add_unsigned(edge.blocks.0[number % LANES]).wrapping_add(edge.sample(position));
            outside = V::Words::or(outside, V::Words::add(V::Words::load(&edge.pixels), V::Words::splat(at as u32)));
        }
        let covered = if CENTRE_ALONE { 0xf } else { 1 << sample };
        let inside = V::Words::xor(V::Words::shift_right_signed(outside, 31), V::Words::splat(!0));
        samples = V::Words::or(samples, V::Words::and(inside, V::Words::splat(covered)));
    }
    V::Words::store(samples)
}

/// The depths of a block's pixels, and which of them are between the Z clipping planes. `distance`: that of its first pixel.
#[inline(always)]
fn depths<V: Vectors>(primitive: &Primitive, limits: (f64, f64), distance: (f64, f64)) -> (Lanes, Mask) {
    let depths = primitive.z.over_block(distance.0, distance.1);
    let (nearest, farthest) = (limits.0 + primitive.depth_offset, limits.1 + primitive.depth_offset);
    // NaN maps to the greatest depth.
    (V::parts_of(&depths, Z_MAX), V::within(&depths, nearest, farthest))
}

/// The pixels of a block that are inside of a window.
#[inline(always)]
fn pixels_inside(window: PixelRect, x: i32, y: i32) -> Mask {
    if x >= window.x0 && x + BLOCK <= window.x1 && y >= window.y0 && y + BLOCK <= window.y1 {
        return ALL;
    }
    pixels_at_border(window, x, y)
}

/// The same for a block that is partly outside.
fn pixels_at_border(window: PixelRect, x: i32, y: i32) -> Mask {
    let part = |from: [Mask; 5], low: i32, high: i32| {
        let [low, high] = [low, high].map(|limit| limit.clamp(0, BLOCK) as usize);
        from[low] & !from[high]
    };
    part(FROM_COLUMN, window.x0 - x, window.x1 - x) & part(FROM_ROW, window.y0 - y, window.y1 - y)
}

/// The pixels of a block from each column on.
const FROM_COLUMN: [Mask; 5] = pixels_from(false);
/// The pixels of a block from each row on.
const FROM_ROW: [Mask; 5] = pixels_from(true);

const fn pixels_from(rows: bool) -> [Mask; 5] {
    let mut masks = [0; 5];
    let mut lane = 0;
    while lane < LANES {
        let (column, row) = pixel_in_block(lane);
        let mut position = if rows { row } else { column };
        while position >= 0 {
            masks[position as usize] |= 1 << lane;
            position -= 1;
        }
        lane += 1;
    }
    masks
}

#[cfg(test)]
mod tests {
    use super::super::pse::{Plane, SetupState, Vertex};
    use super::*;
    use crate::random::Random;
    use crate::simd::vectors::Portable;
    use crate::simd::{SimdDispatch, SimdTask};
    use std::collections::HashMap;
    use v3d_hw::control_list::{DepthOffset, Float187};

    const SCREEN: PixelRect = PixelRect { x0: 0, y0: 0, x1: 96, y1: 80 };

    fn triangle(corners: [(i32, i32); 3]) -> Option<Primitive> {
        let vertices = corners.map(|(x, y)| Vertex { x, y, z: 0.0, reciprocal_w: 1.0, varyings: &[] });
        SetupState::plain().triangle(vertices, &mut Vec::new()).ok()
    }

    struct OnHost<'a>(Rasterising<'a>);

    impl SimdTask for OnHost<'_> {
        type Output = ();

        #[inline(always)]
        fn run<V: Vectors>(mut self) {
            self.0.run::<V>();
        }
    }

    fn blocks(primitive: &Primitive, window: PixelRect, sampling: Sampling) -> Vec<CoveredBlock> {
        let (mut blocks, mut plain) = (Vec::new(), Vec::new());
        let z_limits = (0.0, 1.0);
        SimdDispatch::new().run(OnHost(Rasterising { primitive, window, sampling, z_limits, blocks: &mut blocks }));
        Rasterising { primitive, window, sampling, z_limits, blocks: &mut plain }.run::<Portable<false>>();
        assert_eq!(blocks, plain, "the host's vectors agree with plain loops");
        blocks
    }

    fn coverage(primitive: &Primitive, window: PixelRect, sampling: Sampling) -> HashMap<(i32, i32), u32> {
        let mut covered = HashMap::new();
        for block in blocks(primitive, window, sampling) {
            assert!(block.x % BLOCK == 0 && block.y % BLOCK == 0 && block.pixels != 0);
            for (lane, &mask) in block.samples.0.iter().enumerate() {
                assert_eq!(block.pixels >> lane & 1 == 1, mask != 0);
                if mask != 0 {
                    let (column, row) = pixel_in_block(lane);
                    assert_eq!(covered.insert((block.x + column, block.y + row), mask), None, "each pixel once");
                }
            }
        }
        covered
    }

    /// A generator of numbers from a low to below a high one.
    fn numbers(seed: u64) -> impl FnMut(i32, i32) -> i32 {
        let mut random = Random::new(0, seed);
        move |low, high| random.within(low..high)
    }

    /// Edge tests by rows and blocks agree with testing every sample of every pixel.
    #[test]
    fn coverage_is_that_of_each_sample_alone() {
        let mut next = numbers(1);
        let mut covered_in_all = 0;
        for _ in 0..400 {
            let size = if next(0, 4) == 0 { 4000 } else { 300 };
            let at = (next(-200, 1600), next(-200, 1400));
            let corners = std::array::from_fn(|_| (at.0 + next(-size, size), at.1 + next(-size, size)));
            let Some(primitive) = triangle(corners) else { continue };
            for sampling in [
                Sampling::Centre,
                Sampling::Four(SamplePositions::Silicon),
                Sampling::Four(SamplePositions::Mirrored),
                Sampling::Sixteen(SamplePositions::Silicon),
            ] {
                let found = coverage(&primitive, SCREEN, sampling);
                let positions = match sampling {
                    Sampling::Centre => CENTRE.to_vec(),
                    Sampling::Four(positions) => positions.positions().to_vec(),
                    Sampling::Sixteen(positions) => sixteen_positions(positions).to_vec(),
                };
                covered_in_all += found.len();
                for (x, y) in (0..SCREEN.y1).flat_map(|y| (0..SCREEN.x1).map(move |x| (x, y))) {
                    let mask = positions.iter().enumerate().fold(0u32, |mask, (i, position)| {
                        let (px, py) = (i64::from(x) * 16 + position.0, i64::from(y) * 16 + position.1);
                        let inside = primitive.edges().iter().all(|e| e.a * px + e.b * py + e.c >= 0);
                        mask | u32::from(inside) << i
                    });
                    let expected = if sampling == Sampling::Centre && mask == 1 { 0xf } else { mask };
                    assert_eq!(found.get(&(x, y)).copied().unwrap_or(0), expected, "({x}, {y}) of {corners:?}");
                }
            }
        }
        assert!(covered_in_all > 10_000, "the suite covers something: {covered_in_all}");
    }

    /// The largest triangles that vertices and guard bands allow: values of their edges exceed 32 bits.
    #[test]
    fn the_largest_triangles_are_exact_too() {
        let mut next = numbers(2);
        let mut parts = 0;
        for _ in 0..300 {
            let corners = std::array::from_fn(|_| (next(-98_304, 98_304), next(-98_304, 98_304)));
            let Some(primitive) = triangle(corners) else { continue };
            let found = coverage(&primitive, SCREEN, Sampling::Centre);
            for (x, y) in (0..SCREEN.y1).flat_map(|y| (0..SCREEN.x1).map(move |x| (x, y))) {
                let (px, py) = (i64::from(x) * 16 + 8, i64::from(y) * 16 + 8);
                let inside = primitive.edges().iter().all(|e| e.a * px + e.b * py + e.c >= 0);
                assert_eq!(found.contains_key(&(x, y)), inside, "({x}, {y}) of {corners:?}");
            }
            parts += usize::from(!found.is_empty() && found.len() < (SCREEN.x1 * SCREEN.y1) as usize);
        }
        assert!(parts >= 3, "edges cross the screen: {parts}");
    }

    /// A triangle on a Z clipping plane which the depth offset moves beyond it is drawn, at the depth of the plane.
    #[test]
    fn the_depth_offset_moves_nothing_beyond_the_clipping_planes() {
        for (depth, units, expected) in [(1.0, 8.0, 0xff_ffff), (0.0, -8.0, 0), (0.5, 4.0, 0x80_0003)] {
            let corner = |x, y| Vertex { x, y, z: depth, reciprocal_w: 1.0, varyings: &[] };
            let mut setup = SetupState::plain();
            setup.configuration.depth_offset = true;
            setup.depth_offset = DepthOffset { units: Float187::truncate(units), factor: Float187::truncate(0.0) };
            let corners = [corner(0, 0), corner(1600, 0), corner(0, 1600)];
            let primitive = setup.triangle(corners, &mut Vec::new()).unwrap();
            let found = blocks(&primitive, SCREEN, Sampling::Centre);
            assert!(!found.is_empty());
            for block in found {
                assert_eq!((block.within_limits, block.z.0[0]), (ALL, expected), "{depth} and {units} units");
            }
        }
        // Depths beyond the planes before the offset are still excluded.
        let corner = |x, y| Vertex { x, y, z: 1.25, reciprocal_w: 1.0, varyings: &[] };
        let mut setup = SetupState::plain();
        setup.configuration.depth_offset = true;
        setup.depth_offset = DepthOffset { units: Float187::truncate(-8_388_608.0), factor: Float187::truncate(0.0) };
        let primitive = setup.triangle([corner(0, 0), corner(1600, 0), corner(0, 1600)], &mut Vec::new()).unwrap();
        assert!(blocks(&primitive, SCREEN, Sampling::Centre).iter().all(|block| block.within_limits == 0));
    }

    /// Depth is that of each pixel's centre alone, to the bit, and the limits exclude pixels outside of them.
    #[test]
    fn depth_is_that_of_each_quad_alone() {
        let mut next = numbers(3);
        for _ in 0..200 {
            let corners = std::array::from_fn(|_| (next(-300, 1800), next(-300, 1500)));
            let Some(mut primitive) = triangle(corners) else { continue };
            let mut small = || f64::from(next(-1000, 1000)) / 3e6;
            primitive.z = Plane { a: small(), b: small(), c: small() + 0.5 };
            for block in blocks(&primitive, SCREEN, Sampling::Centre) {
                for lane in 0..LANES {
                    let (column, row) = pixel_in_block(lane);
                    let (dx, dy) = primitive.centre_distance((block.x + (column & !1), block.y + (row & !1)));
                    let first = primitive.z.c + (primitive.z.a * dx + primitive.z.b * dy);
                    let (right, up) = (primitive.z.a * 16.0, primitive.z.b * 16.0);
                    let depth = [first, first + right, first + up, first + right + up][lane % 4];
                    assert_eq!(block.z.0[lane], (depth.min(1.0) * Z_MAX) as u32);
                    assert_eq!(primitive.w_over_block(block.distance.0, block.distance.1)[lane], 1.0);
                    assert_eq!(block.within_limits >> lane & 1 == 1, (0.0..=1.0).contains(&depth));
                }
            }
        }
    }

    /// Neighbours share an edge: no pixel twice, none left out, even where centres lie on the edge.
    #[test]
    fn a_fan_covers_every_pixel_once() {
        let mut next = numbers(4);
        for _ in 0..100 {
            // Centres lie at odd multiples of 8, so a grid of 8 gives many ties.
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

    /// The 16 positions differ, four in each quarter.
    #[test]
    fn the_16_positions_are_spread_over_the_pixel() {
        let positions = sixteen_positions(SamplePositions::Silicon);
        for (i, &(x, y)) in positions.iter().enumerate() {
            assert_eq!((x / 8, y / 8), (i as i64 / 4 % 2, i as i64 / 8));
            assert!(!positions[..i].contains(&(x, y)));
        }
    }

    /// The window does not change the coverage inside of it.
    #[test]
    fn tiles_put_together_are_the_whole() {
        let primitive = triangle([(40, 30), (1500, 333), (600, 1250)]).unwrap();
        let whole = coverage(&primitive, SCREEN, Sampling::Four(SamplePositions::Silicon));
        let mut parts = HashMap::new();
        for (x0, y0) in [(0, 0), (32, 0), (64, 0), (0, 32), (32, 32), (64, 32), (0, 64), (32, 64), (64, 64)] {
            let tile = PixelRect { x0, y0, x1: x0 + 32, y1: y0 + 32 }.intersect(SCREEN);
            parts.extend(coverage(&primitive, tile, Sampling::Four(SamplePositions::Silicon)));
        }
        assert_eq!(whole, parts);
        assert!(whole.len() > 1000);
    }
}
