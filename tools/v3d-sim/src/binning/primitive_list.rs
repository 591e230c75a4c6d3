//! Compressed primitive lists: read by the CLE, written by the PTB.
//!
//! A list stands inline behind its control record (48 or 49). Each primitive is coded relative to the one before it, or to itself, in the shortest of
//! four codings. An escape code ends the list; relative branches lead from one block of tile allocation memory to the next without interrupting it.
//!
//! # What the guide leaves open
//! - The reference of the first primitive of a list: the model reports a relative first primitive, and the writer never makes one.
//! - The base of a relative branch: as its unit is the 32 bytes to which blocks are aligned, it is taken to count from the 32 bytes that contain its
//!   code.
//!
//! # Sources
//! [AG p.72-77]; layouts in [`v3d_hw::primitive_list`].

pub use crate::fault::list::{EncodeError, ListFault};

use crate::memory::{Memory, OutOfMemory};
use v3d_hw::control_list::{ClippedPrimitive, PrimitiveListFormat};
use v3d_hw::primitive_list::{
    ABSOLUTE, BRANCH, BRANCH_UNIT_BYTES, Item, Line0, Line1, Line2, Line2Wide, Line3, Line3Wide, ListDataType,
    ListPrimitive, MAX_ITEM_BYTES, Point0, Point1, Point3, Point3Wide, RelativeBranch, RhtXy0, RhtXy1, RhtXy2, RhtXy3,
    Triangle0, Triangle1, Triangle2, Triangle2Wide, Triangle3, Triangle3Wide, TriangleXy0, TriangleXy1, TriangleXy2,
    TriangleXy3,
};
use v3d_hw::{BusAddr, FieldError, Layout};

/// One primitive of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Primitive {
    /// Indices of the vertices, or their coordinates as words with X in 15:0 and Y in 31:16. Points use the first, lines and RHTs two.
    pub vertices: [u32; 3],
    /// The vertices that are replaced by clipped ones, and the address of those.
    pub clipped: Option<ClippedPrimitive>,
}

/// Number of vertices of a primitive; 0 for reserved codes.
pub const fn vertices_of(primitive: ListPrimitive) -> usize {
    match primitive {
        ListPrimitive::Points => 1,
        ListPrimitive::Lines | ListPrimitive::Rht => 2,
        ListPrimitive::Triangles => 3,
        ListPrimitive::Reserved(_) => 0,
    }
}

/// Reads the list at `at`, up to its escape code, and appends its primitives to `primitives`. Returns the address behind the list.
///
/// `clipped` replaces vertices of the first primitive. Each item takes one off the budget.
pub fn read(
    memory: Memory<'_>,
    at: BusAddr,
    format: PrimitiveListFormat,
    clipped: Option<ClippedPrimitive>,
    budget: &mut u64,
    primitives: &mut Vec<Primitive>,
) -> Result<BusAddr, ListFault> {
    let mut at = at;
    let mut clipped = clipped;
    let mut previous = None;
    loop {
        let (bits, available) = item_bits(memory, at)?;
        let item = Item::from_bits(format.data_type, format.primitive, bits, available)
            .map_err(|error| ListFault::Item { at, error })?;
        match item {
            Item::Escape => return Ok(at + 1),
            Item::Branch(branch) => at = branch_target(at, branch),
            _ => {
                let (vertices, run) = vertices(item, format.data_type, previous).ok_or(ListFault::Relative { at })?;
                primitives.push(Primitive { vertices, clipped: clipped.take() });
                let mut last = vertices;
                for _ in 0..run {
                    last[0] = last[0].wrapping_add(1) & index_mask(format.data_type);
                    primitives.push(Primitive { vertices: last, clipped: None });
                }
                previous = Some(last);
                at = at + item.bytes() as u32;
            }
        }
        *budget = budget.checked_sub(1).ok_or(ListFault::Endless { at })?;
    }
}

/// The bytes of the longest item that could be here, the first in the lowest bits, as far as there is memory; and their number.
fn item_bits(memory: Memory<'_>, at: BusAddr) -> Result<(u128, usize), OutOfMemory> {
    if let Some(bits) = memory.ahead(at) {
        return Ok((bits, MAX_ITEM_BYTES));
    }
    let mut bytes = [0; 16];
    let left = memory.bytes().saturating_sub(u64::from(at.offset()));
    let available = left.min(MAX_ITEM_BYTES as u64) as usize;
    if available == 0 {
        return Err(OutOfMemory { address: at, bytes: 1 });
    }
    memory.read(at, &mut bytes[..available])?;
    Ok((u128::from_le_bytes(bytes), available))
}

/// The target of a relative branch at `at`.
pub fn branch_target(at: BusAddr, branch: RelativeBranch) -> BusAddr {
    let block = at.0 & !(BRANCH_UNIT_BYTES as u32 - 1);
    BusAddr(block.wrapping_add_signed(i32::from(branch.distance) * BRANCH_UNIT_BYTES))
}

/// The relative branch from `at` to `target`, if that is within reach.
pub fn branch_to(at: BusAddr, target: BusAddr) -> Option<RelativeBranch> {
    let block = at.0 & !(BRANCH_UNIT_BYTES as u32 - 1);
    let bytes = i64::from(target.0) - i64::from(block);
    let unit = i64::from(BRANCH_UNIT_BYTES);
    let distance = i16::try_from(bytes / unit).ok()?;
    (bytes % unit == 0).then_some(RelativeBranch { distance, code: BRANCH })
}

const fn index_mask(data: ListDataType) -> u32 {
    match data {
        ListDataType::Index16 => 0xffff,
        ListDataType::Index24 => 0xff_ffff,
        _ => 0xffff_ffff,
    }
}

/// The coordinates of a vertex word.
const fn xy(word: u32) -> (i16, i16) {
    (word as i16, (word >> 16) as i16)
}

const fn xy_word(x: i16, y: i16) -> u32 {
    x as u16 as u32 | (y as u16 as u32) << 16
}

/// A vertex word moved by a difference.
const fn moved(word: u32, dx: i16, dy: i16) -> u32 {
    let (x, y) = xy(word);
    xy_word(x.wrapping_add(dx), y.wrapping_add(dy))
}

/// A difference of X, split into its upper bits and its lowest.
const fn joined(high: i8, low: u8) -> i16 {
    ((high as i16) << 1) | low as i16
}

/// The vertices of an item, and the number of points that follow it. `None` if it is relative and nothing comes before it.
fn vertices(item: Item, data: ListDataType, previous: Option<[u32; 3]>) -> Option<([u32; 3], u8)> {
    let mask = index_mask(data);
    let plus = |index: u32, delta: i8| index.wrapping_add_signed(i32::from(delta)) & mask;
    let triangle_shared = |shared: u8| {
        let [p0, p1, p2] = previous?;
        Some(match shared {
            0 => ([p2, p1], p2),
            1 => ([p0, p2], p2),
            _ => ([p1, p0], p2),
        })
    };
    let line_shared = |shared: u8| {
        let [p0, p1, _] = previous?;
        Some((if shared & 1 == 1 { p0 } else { p1 }, p1))
    };
    let vertices = match item {
        Item::Triangle0(item) => {
            let ([v0, v1], p2) = triangle_shared(item.shared)?;
            [v0, v1, plus(p2, item.delta2)]
        }
        Item::Triangle1(item) => {
            let [p0, p1, p2] = previous?;
            [plus(p0, item.delta0), plus(p1, item.delta1), plus(p2, item.delta2)]
        }
        Item::Triangle2(item) => {
            let v0 = u32::from(item.index0);
            [v0, plus(v0, item.delta1), plus(v0, item.delta2)]
        }
        Item::Triangle2Wide(item) => [item.index0, plus(item.index0, item.delta1), plus(item.index0, item.delta2)],
        Item::Triangle3(item) => [item.index0, item.index1, item.index2].map(u32::from),
        Item::Triangle3Wide(item) => [item.index0, item.index1, item.index2],
        Item::Line0(item) => {
            let (v0, p1) = line_shared(item.shared)?;
            [v0, plus(p1, item.delta1), 0]
        }
        Item::Line1(item) => {
            let [p0, p1, _] = previous?;
            [plus(p0, item.delta0), plus(p1, item.delta1), 0]
        }
        Item::Line2(item) => {
            let v0 = u32::from(item.index0);
            [v0, plus(v0, item.delta1), 0]
        }
        Item::Line2Wide(item) => [item.index0, plus(item.index0, item.delta1), 0],
        Item::Line3(item) => [u32::from(item.index0), u32::from(item.index1), 0],
        Item::Line3Wide(item) => [item.index0, item.index1, 0],
        Item::Point0(item) => [plus(previous?[0], item.delta), 0, 0],
        Item::Point1(item) => [previous?[0].wrapping_add_signed(i32::from(item.delta)) & mask, 0, 0],
        Item::Point2(item) => return Some(([plus(previous?[0], item.delta), 0, 0], item.run)),
        Item::Point3(item) => [u32::from(item.index), 0, 0],
        Item::Point3Wide(item) => [item.index, 0, 0],
        Item::TriangleXy0(item) => {
            let ([v0, v1], p2) = triangle_shared(item.shared)?;
            [v0, v1, moved(p2, joined(item.dx2_high, item.dx2_low), i16::from(item.dy2))]
        }
        Item::TriangleXy1(item) => {
            let ([v0, v1], p2) = triangle_shared(item.shared)?;
            [v0, v1, moved(p2, item.dx2, item.dy2)]
        }
        Item::TriangleXy2(item) => {
            let v0 = xy_word(item.x0, item.y0);
            let near = |dx, dy| moved(v0, i16::from(dx), i16::from(dy));
            [v0, near(item.dx1, item.dy1), near(item.dx2, item.dy2)]
        }
        Item::TriangleXy3(item) => [xy_word(item.x0, item.y0), xy_word(item.x1, item.y1), xy_word(item.x2, item.y2)],
        Item::RhtXy0(item) => {
            let (v0, p1) = line_shared(item.shared)?;
            [v0, moved(p1, joined(item.dx1_high, item.dx1_low), i16::from(item.dy1)), 0]
        }
        Item::RhtXy1(item) => {
            let (v0, p1) = line_shared(item.shared)?;
            [v0, moved(p1, item.dx1, item.dy1), 0]
        }
        Item::RhtXy2(item) => {
            let v0 = xy_word(item.x0, item.y0);
            [v0, moved(v0, joined(item.dx1_high, item.dx1_low), i16::from(item.dy1)), 0]
        }
        Item::RhtXy3(item) => [xy_word(item.x0, item.y0), xy_word(item.x1, item.y1), 0],
        Item::Escape | Item::Branch(_) => return None,
    };
    Some((vertices, 0))
}

/// An item as it stands in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coded {
    /// Its bytes, the first in the lowest bits.
    pub bits: u128,
    /// Their number.
    pub bytes: usize,
}

impl Coded {
    /// The bytes of an item.
    pub fn new(item: Item) -> Result<Self, FieldError> {
        Ok(Self { bits: item.to_bits()?, bytes: item.bytes() })
    }
}

/// The bytes of an item with this layout.
#[inline]
fn coded<T: Layout>(item: &T) -> Result<Coded, FieldError> {
    Ok(Coded { bits: item.to_bits()?, bytes: T::BYTES })
}

/// Chooses the codings of a list's primitives.
#[derive(Clone, Copy, Debug)]
pub struct Encoder {
    format: PrimitiveListFormat,
    previous: Option<[u32; 3]>,
}

/// A difference that fits six bits, without -32 to the special codes.
fn delta6(new: u32, old: u32) -> Option<i8> {
    delta(new, old, 31, 31)
}

/// A difference within `-below..=above`.
fn delta(new: u32, old: u32, below: i64, above: i64) -> Option<i8> {
    let difference = i64::from(new) - i64::from(old);
    if (-below..=above).contains(&difference) { i8::try_from(difference).ok() } else { None }
}

/// A difference of coordinates within `x` and `-y..y`.
fn delta_xy(new: u32, old: u32, x: std::ops::RangeInclusive<i32>, y: i32) -> Option<(i16, i16)> {
    let ((x1, y1), (x0, y0)) = (xy(new), xy(old));
    let (dx, dy) = (i32::from(x1) - i32::from(x0), i32::from(y1) - i32::from(y0));
    (x.contains(&dx) && (-y..y).contains(&dy)).then_some((dx as i16, dy as i16))
}

/// Differences of X that fit the split field, whose lowest two values are the special codes.
const SPLIT_X: std::ops::RangeInclusive<i32> = -62..=63;

/// The two vertices of the previous triangle that a triangle begins with.
fn shared_pair(new: [u32; 3], previous: [u32; 3]) -> Option<u8> {
    let [p0, p1, p2] = previous;
    let pairs = [[p2, p1], [p0, p2], [p1, p0]];
    pairs.iter().position(|pair| *pair == new[..2]).map(|shared| shared as u8)
}

/// The vertex of the previous line or RHT that a line or RHT begins with.
fn shared_end(new: [u32; 3], previous: [u32; 3]) -> Option<u8> {
    [previous[1], previous[0]].iter().position(|&vertex| vertex == new[0]).map(|shared| shared as u8)
}

impl Encoder {
    /// An encoder at the start of a list.
    pub const fn new(format: PrimitiveListFormat) -> Self {
        Self { format, previous: None }
    }

    /// The shortest coding of the next primitive.
    pub fn encode(&mut self, vertices: [u32; 3]) -> Result<Coded, EncodeError> {
        // Rejects indices that the list's width cannot hold.
        let coded = self.shortest(vertices)?;
        self.previous = Some(vertices);
        Ok(coded)
    }

    fn shortest(&self, vertices: [u32; 3]) -> Result<Coded, EncodeError> {
        use ListDataType::{Index16, Index24, Xy};
        use ListPrimitive::{Lines, Points, Rht, Triangles};
        let PrimitiveListFormat { data_type, primitive } = self.format;
        let wide = data_type == Index24;
        if data_type == Index16 && vertices[..vertices_of(primitive)].iter().any(|&index| index > 0xffff) {
            let value = i64::from(vertices.into_iter().max().unwrap_or(0));
            return Err(EncodeError::Field(FieldError {
                layout: "16-bit index",
                field: "index",
                value,
                hi: 15,
                lo: 0,
            }));
        }
        let coded = match (data_type, primitive) {
            (Index16 | Index24, Triangles) => self.triangle(vertices, wide),
            (Index16 | Index24, Lines | Rht) => self.line(vertices, wide),
            (Index16 | Index24, Points) => self.point(vertices[0], wide),
            (Xy, Triangles) => self.triangle_xy(vertices),
            (Xy, Rht) => self.rht_xy(vertices),
            _ => return Err(EncodeError::Format { data_type, primitive }),
        };
        coded.map_err(EncodeError::Field)
    }

    fn triangle(&self, new: [u32; 3], wide: bool) -> Result<Coded, FieldError> {
        let [v0, v1, v2] = new;
        if let Some(old) = self.previous {
            if let (Some(shared), Some(delta2)) = (shared_pair(new, old), delta6(v2, old[2])) {
                return coded(&Triangle0 { delta2, shared });
            }
            let small = |i: usize| delta(new[i], old[i], 8, 7);
            if let (Some(delta0), Some(delta1), Some(delta2)) = (small(0), small(1), small(2)) {
                return coded(&Triangle1 { delta2, delta1, delta0, unused: 0, code: 3 });
            }
        }
        match (delta(v1, v0, 32, 31), delta(v2, v0, 32, 31), wide) {
            (Some(delta1), Some(delta2), false) => coded(&Triangle2 { index0: v0 as u16, delta2, delta1, code: 15 }),
            (Some(delta1), Some(delta2), true) => coded(&Triangle2Wide { index0: v0, delta2, delta1, code: 15 }),
            (_, _, false) => {
                coded(&Triangle3 { index2: v2 as u16, index1: v1 as u16, index0: v0 as u16, code: ABSOLUTE })
            }
            (_, _, true) => {
                let code = ABSOLUTE;
                coded(&Triangle3Wide { index2: v2, index1: v1, index0: v0, code })
            }
        }
    }

    fn line(&self, new: [u32; 3], wide: bool) -> Result<Coded, FieldError> {
        let [v0, v1, _] = new;
        if let Some(old) = self.previous {
            if let (Some(shared), Some(delta1)) = (shared_end(new, old), delta6(v1, old[1])) {
                return coded(&Line0 { delta1, shared });
            }
            if let (Some(delta0), Some(delta1)) = (delta(v0, old[0], 8, 7), delta(v1, old[1], 8, 7)) {
                return coded(&Line1 { delta1, delta0, unused: 0, code: 3 });
            }
        }
        let code = ABSOLUTE;
        match (delta6(v1, v0), wide) {
            (Some(delta1), false) => coded(&Line2 { index0: v0 as u16, delta1, code: 2 }),
            (Some(delta1), true) => coded(&Line2Wide { index0: v0, delta1, code: 2 }),
            (None, false) => coded(&Line3 { index1: v1 as u16, index0: v0 as u16, code }),
            (None, true) => coded(&Line3Wide { index1: v1, index0: v0, code }),
        }
    }

    /// Runs (coding 2) are not implemented in the hardware [AG p.75], so they are never written.
    fn point(&self, index: u32, wide: bool) -> Result<Coded, FieldError> {
        if let Some(old) = self.previous {
            if let Some(delta) = delta6(index, old[0]) {
                return coded(&Point0 { delta, code: 0 });
            }
            let difference = i64::from(index) - i64::from(old[0]);
            if (-8192..8192).contains(&difference) {
                return coded(&Point1 { delta: difference as i16, code: 3 });
            }
        }
        let code = ABSOLUTE;
        if wide { coded(&Point3Wide { index, code }) } else { coded(&Point3 { index: index as u16, code }) }
    }

    fn triangle_xy(&self, new: [u32; 3]) -> Result<Coded, FieldError> {
        let [v0, v1, v2] = new;
        if let Some(old) = self.previous
            && let Some(shared) = shared_pair(new, old)
        {
            if let Some((dx, dy)) = delta_xy(v2, old[2], SPLIT_X, 64) {
                let (dx2_high, dx2_low) = ((dx >> 1) as i8, (dx & 1) as u8);
                return coded(&TriangleXy0 { dy2: dy as i8, dx2_low, dx2_high, shared });
            }
            if let Some((dx2, dy2)) = delta_xy(v2, old[2], -512..=511, 512) {
                return coded(&TriangleXy1 { dy2, dx2, shared, code: 3 });
            }
        }
        let near = |vertex| delta_xy(vertex, v0, -64..=63, 64).map(|(dx, dy)| (dx as i8, dy as i8));
        let ((x0, y0), (x1, y1), (x2, y2)) = (xy(v0), xy(v1), xy(v2));
        if let (Some((dx1, dy1)), Some((dx2, dy2))) = (near(v1), near(v2)) {
            return coded(&TriangleXy2 { y0, x0, dy2, dx2, dy1, dx1, code: 15 });
        }
        coded(&TriangleXy3 { y2, x2, y1, x1, y0, x0, code: ABSOLUTE })
    }

    fn rht_xy(&self, new: [u32; 3]) -> Result<Coded, FieldError> {
        let [v0, v1, _] = new;
        if let Some(old) = self.previous
            && let Some(shared) = shared_end(new, old)
        {
            if let Some((dx, dy)) = delta_xy(v1, old[1], SPLIT_X, 64) {
                return coded(&RhtXy0 { dy1: dy as i8, dx1_low: (dx & 1) as u8, dx1_high: (dx >> 1) as i8, shared });
            }
            if let Some((dx1, dy1)) = delta_xy(v1, old[1], -512..=511, 512) {
                return coded(&RhtXy1 { dy1, dx1, shared, code: 3 });
            }
        }
        let ((x0, y0), (x1, y1)) = (xy(v0), xy(v1));
        if let Some((dx, dy)) = delta_xy(v1, v0, SPLIT_X, 64) {
            let (dx1_high, dx1_low) = ((dx >> 1) as i8, (dx & 1) as u8);
            return coded(&RhtXy2 { y0, x0, dy1: dy as i8, dx1_low, dx1_high, code: 2 });
        }
        coded(&RhtXy3 { y1, x1, y0, x0, code: ABSOLUTE })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::OwnedMemory;
    use crate::random::Random;
    use std::collections::BTreeSet;

    const FORMATS: [(ListDataType, ListPrimitive); 10] = {
        use ListDataType::{Index16, Index24, Xy};
        use ListPrimitive::{Lines, Points, Rht, Triangles};
        [
            (Index16, Triangles),
            (Index16, Lines),
            (Index16, Rht),
            (Index16, Points),
            (Index24, Triangles),
            (Index24, Lines),
            (Index24, Rht),
            (Index24, Points),
            (Xy, Triangles),
            (Xy, Rht),
        ]
    };

    fn format(data_type: ListDataType, primitive: ListPrimitive) -> PrimitiveListFormat {
        PrimitiveListFormat { data_type, primitive }
    }

    fn write(memory: Memory<'_>, at: &mut u32, coded: Coded) {
        memory.write_alone(BusAddr(*at), coded.bits, coded.bytes).unwrap();
        *at += coded.bytes as u32;
    }

    /// A number distributed so that all codings occur: near to `old`, not so near, or anything.
    fn near(random: &mut Random, old: u32, mask: u32) -> u32 {
        let reach = random.pick(&[1, 8, 16, 33, 64, 70, 600, 9000, 1 << 24]);
        (old.wrapping_add(random.below(reach)).wrapping_sub(reach / 2)) & mask
    }

    fn vertex(random: &mut Random, old: u32, data: ListDataType) -> u32 {
        match data {
            ListDataType::Xy => near(random, old & 0xffff, 0xffff) | near(random, old >> 16, 0xffff) << 16,
            _ => near(random, old, index_mask(data)),
        }
    }

    /// One random list: strips and fans mixed with anything; written, read back and compared. Returns the item lengths that occurred.
    fn round_trip(data: ListDataType, primitive: ListPrimitive, seed: u64) -> BTreeSet<usize> {
        let format = format(data, primitive);
        let owned = OwnedMemory::new(0x2000);
        let mut random = Random::new(0, seed);
        let mut encoder = Encoder::new(format);
        let (mut at, mut expected, mut lengths) = (0x40, Vec::new(), BTreeSet::new());
        let mut old = [0u32; 3].map(|v| vertex(&mut random, v, data));
        for i in 0..100 {
            let mut new = match (i + seed) % 5 {
                0 => [old[2], old[1], vertex(&mut random, old[2], data)],
                1 => [old[0], old[2], vertex(&mut random, old[2], data)],
                2 => [old[1], old[0], vertex(&mut random, old[2], data)],
                3 => old.map(|v| vertex(&mut random, v, data)),
                _ => {
                    let first = vertex(&mut random, old[0], data);
                    [first, vertex(&mut random, first, data), vertex(&mut random, first, data)]
                }
            };
            new[vertices_of(primitive)..].fill(0);
            let item = encoder.encode(new).unwrap();
            lengths.insert(item.bytes);
            write(owned.view(), &mut at, item);
            expected.push(Primitive { vertices: new, clipped: None });
            old = new;
        }
        write(owned.view(), &mut at, Coded::new(Item::Escape).unwrap());
        let (mut read_back, mut budget) = (Vec::new(), 1000);
        let next = read(owned.view(), BusAddr(0x40), format, None, &mut budget, &mut read_back);
        assert_eq!(next, Ok(BusAddr(at)), "{data:?} {primitive:?} seed {seed}");
        assert_eq!(read_back, expected, "{data:?} {primitive:?} seed {seed}");
        lengths
    }

    #[test]
    fn what_is_written_is_read_back_in_all_formats_and_codings() {
        for (data, primitive) in FORMATS {
            let lengths: BTreeSet<usize> = (0..200).flat_map(|seed| round_trip(data, primitive, seed)).collect();
            // Points have three codings in hardware, all others four.
            let codings = if primitive == ListPrimitive::Points { 3 } else { 4 };
            assert_eq!(lengths.len(), codings, "{data:?} {primitive:?}: {lengths:?}");
        }
    }

    /// Bytes worked out by hand from table 39.
    #[test]
    fn a_strip_takes_one_byte_a_triangle() {
        let mut encoder = Encoder::new(format(ListDataType::Index16, ListPrimitive::Triangles));
        let mut bytes = Vec::new();
        for triangle in [[0, 1, 2], [2, 1, 3], [2, 3, 4], [100, 104, 90], [90, 300, 7]] {
            let coded = encoder.encode(triangle).unwrap();
            bytes.extend_from_slice(&coded.bits.to_le_bytes()[..coded.bytes]);
        }
        // Absolute 0, deltas 1 and 2; then the two strip codings; then absolute 100, +4, -10; then all absolute.
        let expected = [0x1f, 0x08, 0, 0, 0x04, 0x05, 0x4f, 0xd8, 100, 0, 129, 90, 0, 44, 1, 7, 0];
        assert_eq!(bytes, expected);
    }

    #[test]
    fn a_difference_of_minus_32_is_left_to_the_special_codes() {
        let mut encoder = Encoder::new(format(ListDataType::Index16, ListPrimitive::Points));
        encoder.encode([32, 0, 0]).unwrap();
        assert_eq!(encoder.encode([0, 0, 0]).unwrap().bytes, 2);
        assert_eq!(encoder.encode([31, 0, 0]).unwrap().bytes, 1);
        assert_eq!(encoder.encode([0, 0, 0]).unwrap().bytes, 1);
    }

    #[test]
    fn branches_lead_both_ways_and_a_clipped_primitive_comes_first() {
        let owned = OwnedMemory::new(0x1000);
        let format = format(ListDataType::Index16, ListPrimitive::Points);
        let mut encoder = Encoder::new(format);
        let mut at = 0x805;
        write(owned.view(), &mut at, encoder.encode([7, 0, 0]).unwrap());
        let branch = branch_to(BusAddr(at), BusAddr(0x120)).unwrap();
        write(owned.view(), &mut at, Coded::new(Item::Branch(branch)).unwrap());
        at = 0x120;
        write(owned.view(), &mut at, encoder.encode([8, 0, 0]).unwrap());
        let branch = branch_to(BusAddr(at), BusAddr(0x900)).unwrap();
        write(owned.view(), &mut at, Coded::new(Item::Branch(branch)).unwrap());
        at = 0x900;
        write(owned.view(), &mut at, encoder.encode([9, 0, 0]).unwrap());
        write(owned.view(), &mut at, Coded::new(Item::Escape).unwrap());
        let clipped = ClippedPrimitive { address: BusAddr(0x40).into(), vertices: 1 };
        let (mut primitives, mut budget) = (Vec::new(), 100);
        let next = read(owned.view(), BusAddr(0x805), format, Some(clipped), &mut budget, &mut primitives);
        assert_eq!(next, Ok(BusAddr(at)));
        assert_eq!(primitives.iter().map(|p| p.vertices[0]).collect::<Vec<_>>(), [7, 8, 9]);
        assert_eq!(primitives.iter().map(|p| p.clipped).collect::<Vec<_>>(), [Some(clipped), None, None]);
    }

    #[test]
    fn a_branch_out_of_reach_is_none() {
        assert!(branch_to(BusAddr(0x1000), BusAddr(0x1000 + 32767 * 32)).is_some());
        assert!(branch_to(BusAddr(0x1000), BusAddr(0x1000 + 32768 * 32)).is_none());
        assert!(branch_to(BusAddr(0x1000), BusAddr(0x1010)).is_none());
    }

    #[test]
    fn bad_lists_are_faults_with_a_place() {
        let format = format(ListDataType::Index16, ListPrimitive::Points);
        let read_bytes = |bytes: &[u8]| {
            let owned = OwnedMemory::new(0x40);
            owned.view().write(BusAddr(0x20), bytes).unwrap();
            read(owned.view(), BusAddr(0x20), format, None, &mut 50, &mut Vec::new())
        };
        assert_eq!(read_bytes(&[0]), Err(ListFault::Relative { at: BusAddr(0x20) }));
        // A branch to itself.
        assert_eq!(read_bytes(&[BRANCH, 0, 0]), Err(ListFault::Endless { at: BusAddr(0x20) }));
        // The last byte of memory begins an item of three.
        let owned = OwnedMemory::new(0x24);
        owned.view().write(BusAddr(0x23), &[ABSOLUTE]).unwrap();
        assert!(matches!(
            read(owned.view(), BusAddr(0x23), format, None, &mut 50, &mut Vec::new()),
            Err(ListFault::Item { .. })
        ));
        assert!(matches!(
            read(owned.view(), BusAddr(0x24), format, None, &mut 50, &mut Vec::new()),
            Err(ListFault::Memory(_))
        ));
        let mut encoder = Encoder::new(format);
        assert!(encoder.encode([0x1_0000, 0, 0]).is_err());
    }
}
