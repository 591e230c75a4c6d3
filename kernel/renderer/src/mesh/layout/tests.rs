//! Splitting of long meshes: the parts draw the primitives of the whole mesh.
//!
//! The primitives are enumerated by the definition of each primitive type.

use super::*;

/// The primitives of a sequence of elements [OpenGL ES 2.0, section 2.7]. Triangles are rotated to begin with their
/// least element, which keeps their winding; points and lines repeat their last element.
fn primitives(mode: PrimitiveMode, elements: &[usize]) -> Vec<[usize; 3]> {
    let triangle = |a: usize, b: usize, c: usize| match a.min(b).min(c) {
        least if least == a => [a, b, c],
        least if least == b => [b, c, a],
        _ => [c, a, b],
    };
    let line = |a: usize, b: usize| [a, b, b];
    let n = elements.len();
    let at = |i: usize| elements[i];
    match mode {
        PrimitiveMode::Points => elements.iter().map(|&element| [element; 3]).collect(),
        PrimitiveMode::Lines => (0..n / 2).map(|i| line(at(2 * i), at(2 * i + 1))).collect(),
        PrimitiveMode::LineStrip => (1..n).map(|i| line(at(i - 1), at(i))).collect(),
        PrimitiveMode::LineLoop => (1..=n).map(|i| line(at(i - 1), at(i % n))).collect(),
        PrimitiveMode::Triangles => (0..n / 3).map(|i| triangle(at(3 * i), at(3 * i + 1), at(3 * i + 2))).collect(),
        PrimitiveMode::TriangleStrip => (2..n)
            .map(|i| match i % 2 {
                0 => triangle(at(i - 2), at(i - 1), at(i)),
                _ => triangle(at(i - 1), at(i - 2), at(i)),
            })
            .collect(),
        PrimitiveMode::TriangleFan => (2..n).map(|i| triangle(at(0), at(i - 1), at(i))).collect(),
        PrimitiveMode::Reserved(_) => Vec::new(),
    }
}

/// The value of each vertex that a part draws, read back from the layout's bytes.
fn drawn(layout: &Layout<'_>, part: &MeshPart) -> Vec<usize> {
    let vertex = |index: usize| {
        let at = part.vertices as usize + 4 * index;
        let bytes = layout.vertices[at..at + 4].try_into().unwrap();
        u32::from_le_bytes(bytes) as usize
    };
    match part.indices {
        None => (0..part.count as usize).map(vertex).collect(),
        Some(PartIndices { offset, index_type, maximum }) => {
            let bytes = &layout.indices[(offset - layout.indices_offset()) as usize..];
            let index = |n: usize| match index_type {
                IndexType::Bits8 => usize::from(bytes[n]),
                _ => usize::from(u16::from_le_bytes([bytes[2 * n], bytes[2 * n + 1]])),
            };
            (0..part.count as usize)
                .map(|n| {
                    assert!(index(n) <= maximum as usize);
                    vertex(index(n))
                })
                .collect()
        }
    }
}

/// Checks that the parts draw the primitives of the whole sequence, each of them within the hardware's limits.
fn check(primitive: Primitive, vertex_count: u32, indices: Option<Indices<'_>>, expected_parts: usize) {
    let vertices: Vec<u8> = (0..vertex_count).flat_map(|value| value.to_le_bytes()).collect();
    let elements: Vec<usize> = match indices {
        None => (0..vertex_count as usize).collect(),
        Some(indices) => (0..indices.count()).map(|place| indices.at(place) as usize).collect(),
    };
    let layout = Layout::new(primitive, vertices.into(), 4, indices).unwrap();
    let parts = layout.parts.as_slice();
    assert_eq!(parts.len(), expected_parts, "{primitive:?} of {vertex_count}");
    let mut found = Vec::new();
    for part in parts {
        assert!(part.count <= MAX_VERTICES && part.vertices % ALIGNMENT == 0);
        found.extend(primitives(part.mode, &drawn(&layout, part)));
    }
    assert!(found == primitives(primitive.mode(), &elements), "{primitive:?} of {} elements", elements.len());
}

#[test]
fn vertices_in_their_order() {
    for primitive in Primitive::ALL {
        check(primitive, 3, None, 1);
        check(primitive, 65535, None, 1);
        // Numbers around multiples of the limit, where shared and repeated vertices decide whether another part is needed.
        for count in [65536, 65537, 65538, 131_067, 131_068, 131_070, 200_001] {
            let parts = Segment::all(primitive, count).map_or(0, |segments| segments.len());
            assert!((count as usize).div_ceil(65535) <= parts && parts <= 4);
            check(primitive, count, None, parts);
        }
    }
}

#[test]
fn indices_of_all_widths() {
    // A deterministic sequence of indices to vertices that are far apart.
    let index = |n: u32, below: u32| (u64::from(n) * 7919 % u64::from(below)) as u32;
    let eight: Vec<u8> = (0..70_000).map(|n| index(n, 256) as u8).collect();
    let sixteen: Vec<u16> = (0..140_000).map(|n| index(n, 65536) as u16).collect();
    let bytes: Vec<u8> = sixteen.iter().flat_map(|index| index.to_le_bytes()).collect();
    let wide: Vec<u32> = (0..140_000).map(|n| index(n, 90_000)).collect();
    let wide_bytes: Vec<u8> = wide.iter().flat_map(|index| index.to_le_bytes()).collect();
    let narrow: Vec<u32> = (0..30_000).map(|n| index(n, 60_000)).collect();
    for primitive in Primitive::ALL {
        let parts = |count| Segment::all(primitive, count).map_or(1, |segments| segments.len());
        check(primitive, 256, Some(Indices::U8(&eight[..300])), 1);
        check(primitive, 256, Some(Indices::U8(&eight)), parts(70_000));
        check(primitive, 65536, Some(Indices::U16(&sixteen[..65535])), 1);
        check(primitive, 65536, Some(Indices::U16(&sixteen)), parts(140_000));
        check(primitive, 65536, Some(Indices::Bytes16(&bytes)), parts(140_000));
        check(primitive, 90_000, Some(Indices::U32(&wide)), parts(140_000));
        check(primitive, 90_000, Some(Indices::U32(&wide[..5000])), 1);
        check(primitive, 90_000, Some(Indices::Bytes32(&wide_bytes)), parts(140_000));
        check(primitive, 60_000, Some(Indices::U32(&narrow)), 1);
    }
}

#[test]
fn eight_bits_stay_eight_bits() {
    let layout = Layout::new(Primitive::Points, Cow::Owned(vec![0; 16]), 4, Some(Indices::U8(&[0, 1, 2]))).unwrap();
    assert_eq!((&layout.indices[..], layout.bytes()), (&[0u8, 1, 2][..], Some(19)));
}
