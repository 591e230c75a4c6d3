//! Compressed primitive lists, as the PTB writes them into tile lists [AG p.72-77].
//!
//! A list is a sequence of primitives, each in the shortest of four codings that can express it relative to the one before. Lists end with
//! an escape code and may contain relative branches, by which the PTB chains the blocks of tile allocation memory. The format (record 56) chooses
//! among indices of 16 or 24 bits for triangles, lines or RHTs and points, and pairs of coordinates for triangles and RHTs.
//!
//! # How the codings are told apart
//! The lowest bits of the first byte say which it is. The difference -32 does not occur in its six bits 7:2: those bytes are the special codes
//! 128 (escape), 129 (all absolute) and 130 (branch).
//!
//! # Not in the guide
//! The guide gives the 24-bit codings but no data type code for them in record 56, which lists only 1 (16-bit index) and 3 (32-bit x/y). Here it is 2,
//! the value between the two; that is an inference.

use crate::layout::{FieldError, Layout};
use crate::{Aligned, codes, layout};
use core::fmt;

codes! {
    /// What a compressed list consists of [AG p.69].
    pub enum ListDataType: 4 bits {
        /// Indices of 16 bits.
        1 => Index16 "16-bit index",
        /// Indices of 24 bits (the code is inferred, see the module's documentation).
        2 => Index24 "24-bit index",
        /// Coordinates of 16 + 16 bits.
        3 => Xy "32-bit x/y",
        _ => Reserved,
    }
}

codes! {
    /// Primitives of a compressed list [AG p.69].
    pub enum ListPrimitive: 4 bits {
        /// Points.
        0 => Points "points",
        /// Lines.
        1 => Lines "lines",
        /// Triangles.
        2 => Triangles "triangles",
        /// RHTs.
        3 => Rht "RHT",
        _ => Reserved,
    }
}

/// First byte of the escape code.
pub const ESCAPE: u8 = 128;
/// First byte of a primitive that is all absolute.
pub const ABSOLUTE: u8 = 129;
/// First byte of a relative branch.
pub const BRANCH: u8 = 130;
/// Unit of a relative branch in bytes.
pub const BRANCH_UNIT_BYTES: i32 = 32;

layout! {
    /// Relative branch, in all formats.
    pub struct RelativeBranch: 24 bits "relative branch" {
        /// Distance in units of 32 bytes.
        23:8 distance: i16,
        /// 130.
        7:0 code: u8,
    }
}

layout! {
    /// Triangles, coding 0: two vertices shared with the triangle before [AG p.73].
    pub struct Triangle0: 8 bits "triangle, 1 relative index" {
        /// Index 2 minus the previous index 2, -31 to 31.
        7:2 delta2: i8,
        /// 0, 1, 2: the new indices (0, 1) are the previous (2, 1), (0, 2), (1, 0).
        1:0 shared: u8,
    }
}

layout! {
    /// Triangles, coding 1 [AG p.73].
    pub struct Triangle1: 16 bits "triangle, 3 relative indices" {
        /// Index 2 minus the previous index 2.
        15:12 delta2: i8,
        /// Index 1 minus the previous index 1.
        11:8 delta1: i8,
        /// Index 0 minus the previous index 0.
        7:4 delta0: i8,
        /// 0, 1 or 2, without a meaning.
        3:2 unused: u8,
        /// 3.
        1:0 code: u8,
    }
}

layout! {
    /// Triangles, coding 2, 16-bit indices [AG p.73].
    pub struct Triangle2: 32 bits "triangle, 1 absolute, 2 relative indices" {
        /// Index 0.
        31:16 index0: u16,
        /// Index 2 minus index 0.
        15:10 delta2: i8,
        /// Index 1 minus index 0.
        9:4 delta1: i8,
        /// 15.
        3:0 code: u8,
    }
}

layout! {
    /// Triangles, coding 2, 24-bit indices [AG p.73].
    pub struct Triangle2Wide: 40 bits "triangle, 1 absolute, 2 relative indices" {
        /// Index 0.
        39:16 index0: u32,
        /// Index 2 minus index 0.
        15:10 delta2: i8,
        /// Index 1 minus index 0.
        9:4 delta1: i8,
        /// 15.
        3:0 code: u8,
    }
}

layout! {
    /// Triangles, coding 3, 16-bit indices [AG p.73].
    pub struct Triangle3: 56 bits "triangle, 3 absolute indices" {
        /// Index 2.
        55:40 index2: u16,
        /// Index 1.
        39:24 index1: u16,
        /// Index 0.
        23:8 index0: u16,
        /// 129.
        7:0 code: u8,
    }
}

layout! {
    /// Triangles, coding 3, 24-bit indices [AG p.73].
    pub struct Triangle3Wide: 80 bits "triangle, 3 absolute indices" {
        /// Index 2.
        79:56 index2: u32,
        /// Index 1.
        55:32 index1: u32,
        /// Index 0.
        31:8 index0: u32,
        /// 129.
        7:0 code: u8,
    }
}

layout! {
    /// Lines or RHTs, coding 0: one vertex shared with the primitive before [AG p.74].
    pub struct Line0: 8 bits "line, 1 relative index" {
        /// Index 1 minus the previous index 1, -31 to 31.
        7:2 delta1: i8,
        /// 0, 1: the new index 0 is the previous index 1, 0.
        1:0 shared: u8,
    }
}

layout! {
    /// Lines or RHTs, coding 1 [AG p.74].
    pub struct Line1: 16 bits "line, 2 relative indices" {
        /// Index 1 minus the previous index 1.
        11:8 delta1: i8,
        /// Index 0 minus the previous index 0.
        7:4 delta0: i8,
        /// 0, 1 or 2, without a meaning.
        3:2 unused: u8,
        /// 3.
        1:0 code: u8,
    }
}

layout! {
    /// Lines or RHTs, coding 2, 16-bit indices [AG p.74].
    pub struct Line2: 24 bits "line, 1 absolute, 1 relative index" {
        /// Index 0.
        23:8 index0: u16,
        /// Index 1 minus index 0, -31 to 31.
        7:2 delta1: i8,
        /// 2.
        1:0 code: u8,
    }
}

layout! {
    /// Lines or RHTs, coding 2, 24-bit indices [AG p.74].
    pub struct Line2Wide: 32 bits "line, 1 absolute, 1 relative index" {
        /// Index 0.
        31:8 index0: u32,
        /// Index 1 minus index 0, -31 to 31.
        7:2 delta1: i8,
        /// 2.
        1:0 code: u8,
    }
}

layout! {
    /// Lines or RHTs, coding 3, 16-bit indices [AG p.74].
    pub struct Line3: 40 bits "line, 2 absolute indices" {
        /// Index 1.
        39:24 index1: u16,
        /// Index 0.
        23:8 index0: u16,
        /// 129.
        7:0 code: u8,
    }
}

layout! {
    /// Lines or RHTs, coding 3, 24-bit indices [AG p.74].
    pub struct Line3Wide: 56 bits "line, 2 absolute indices" {
        /// Index 1.
        55:32 index1: u32,
        /// Index 0.
        31:8 index0: u32,
        /// 129.
        7:0 code: u8,
    }
}

layout! {
    /// Points, coding 0 [AG p.75].
    pub struct Point0: 8 bits "point, relative index" {
        /// Index minus the previous index, -31 to 31.
        7:2 delta: i8,
        /// 0 or 1.
        1:0 code: u8,
    }
}

layout! {
    /// Points, coding 1 [AG p.75].
    pub struct Point1: 16 bits "point, relative index" {
        /// Index minus the previous index, -8192 to 8191.
        15:2 delta: i16,
        /// 3.
        1:0 code: u8,
    }
}

layout! {
    /// Points, coding 2: a run. The guide marks it "NOT IMPLEMENTED" [AG p.75].
    pub struct Point2: 16 bits "point, relative index, run length" {
        /// Number of additional points with consecutive indices.
        15:8 run: u8,
        /// First index minus the previous index, -31 to 31.
        7:2 delta: i8,
        /// 2.
        1:0 code: u8,
    }
}

layout! {
    /// Points, coding 3, 16-bit indices [AG p.75].
    pub struct Point3: 24 bits "point, absolute index" {
        /// Index.
        23:8 index: u16,
        /// 129.
        7:0 code: u8,
    }
}

layout! {
    /// Points, coding 3, 24-bit indices [AG p.75].
    pub struct Point3Wide: 32 bits "point, absolute index" {
        /// Index.
        31:8 index: u32,
        /// 129.
        7:0 code: u8,
    }
}

layout! {
    /// Triangles by coordinates, coding 0 [AG p.75].
    pub struct TriangleXy0: 16 bits "triangle, 1 relative coordinate" {
        /// y 2 minus the previous y 2.
        15:9 dy2: i8,
        /// Lowest bit of x 2 minus the previous x 2.
        8:8 dx2_low: u8,
        /// The other bits of that difference, which is -62 to 63.
        7:2 dx2_high: i8,
        /// 0, 1, 2: the new vertices (0, 1) are the previous (2, 1), (0, 2), (1, 0).
        1:0 shared: u8,
    }
}

layout! {
    /// Triangles by coordinates, coding 1 [AG p.76].
    pub struct TriangleXy1: 24 bits "triangle, 1 relative coordinate" {
        /// y 2 minus the previous y 2.
        23:14 dy2: i16,
        /// x 2 minus the previous x 2.
        13:4 dx2: i16,
        /// As in coding 0.
        3:2 shared: u8,
        /// 3.
        1:0 code: u8,
    }
}

layout! {
    /// Triangles by coordinates, coding 2 [AG p.76].
    pub struct TriangleXy2: 64 bits "triangle, 1 absolute, 2 relative coordinates" {
        /// y 0.
        63:48 y0: i16,
        /// x 0.
        47:32 x0: i16,
        /// y 2 minus y 0.
        31:25 dy2: i8,
        /// x 2 minus x 0.
        24:18 dx2: i8,
        /// y 1 minus y 0.
        17:11 dy1: i8,
        /// x 1 minus x 0.
        10:4 dx1: i8,
        /// 15.
        3:0 code: u8,
    }
}

layout! {
    /// Triangles by coordinates, coding 3 [AG p.76].
    pub struct TriangleXy3: 104 bits "triangle, 3 absolute coordinates" {
        /// y 2.
        103:88 y2: i16,
        /// x 2.
        87:72 x2: i16,
        /// y 1.
        71:56 y1: i16,
        /// x 1.
        55:40 x1: i16,
        /// y 0.
        39:24 y0: i16,
        /// x 0.
        23:8 x0: i16,
        /// 129.
        7:0 code: u8,
    }
}

layout! {
    /// RHTs by coordinates, coding 0 [AG p.77].
    pub struct RhtXy0: 16 bits "RHT, 1 relative coordinate" {
        /// y 1 minus the previous y 1.
        15:9 dy1: i8,
        /// Lowest bit of x 1 minus the previous x 1.
        8:8 dx1_low: u8,
        /// The other bits of that difference, which is -62 to 63.
        7:2 dx1_high: i8,
        /// 0, 1: the new corner 0 is the previous corner 1, 0.
        1:0 shared: u8,
    }
}

layout! {
    /// RHTs by coordinates, coding 1 [AG p.77].
    pub struct RhtXy1: 24 bits "RHT, 1 relative coordinate" {
        /// y 1 minus the previous y 1.
        23:14 dy1: i16,
        /// x 1 minus the previous x 1.
        13:4 dx1: i16,
        /// 0 or 2, 1: the new corner 0 is the previous corner 1, 0.
        3:2 shared: u8,
        /// 3.
        1:0 code: u8,
    }
}

layout! {
    /// RHTs by coordinates, coding 2 [AG p.77].
    pub struct RhtXy2: 48 bits "RHT, 1 absolute, 1 relative coordinate" {
        /// y 0.
        47:32 y0: i16,
        /// x 0.
        31:16 x0: i16,
        /// y 1 minus y 0.
        15:9 dy1: i8,
        /// Lowest bit of x 1 minus x 0.
        8:8 dx1_low: u8,
        /// The other bits of that difference, which is -62 to 63.
        7:2 dx1_high: i8,
        /// 2.
        1:0 code: u8,
    }
}

layout! {
    /// RHTs by coordinates, coding 3 [AG p.77].
    pub struct RhtXy3: 72 bits "RHT, 2 absolute coordinates" {
        /// y 1.
        71:56 y1: i16,
        /// x 1.
        55:40 x1: i16,
        /// y 0.
        39:24 y0: i16,
        /// x 0.
        23:8 x0: i16,
        /// 129.
        7:0 code: u8,
    }
}

/// The longest item of a compressed list in bytes.
pub const MAX_ITEM_BYTES: usize = TriangleXy3::BYTES;

/// Why bytes are not an item of a compressed list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemError {
    /// The item is cut short.
    Truncated {
        /// What the item would be.
        item: &'static str,
        /// Bytes it has.
        needed: usize,
    },
    /// The first byte has no meaning in this format.
    BadCode(u8),
    /// The combination of data type and primitive has no list format.
    BadFormat(ListDataType, ListPrimitive),
}

impl fmt::Display for ItemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { item, needed } => write!(f, "{item}: {needed} bytes needed, but the list ends before"),
            Self::BadCode(code) => write!(f, "code {code:#04x} has no meaning in this compressed primitive list"),
            Self::BadFormat(data, primitive) => write!(f, "there are no compressed lists of {primitive} by {data}"),
        }
    }
}

impl core::error::Error for ItemError {}

macro_rules! items {
    ($( $variant:ident($layout:ty), )*) => {
        /// One item of a compressed list.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Item {
            /// The list ends.
            Escape,
            $( #[doc = concat!("See [`", stringify!($layout), "`].")] $variant($layout), )*
        }

        impl Item {
            /// Bytes of the item.
            pub const fn bytes(&self) -> usize {
                match self {
                    Self::Escape => 1,
                    $( Self::$variant(_) => <$layout as Layout>::BYTES, )*
                }
            }

            /// The item's bytes, of which the first [`Item::bytes`] count.
            pub fn encode(&self) -> Result<[u8; MAX_ITEM_BYTES], FieldError> {
                let bits = self.to_bits()?;
                let mut bytes = [0; MAX_ITEM_BYTES];
                bytes.copy_from_slice(&bits.to_le_bytes()[..MAX_ITEM_BYTES]);
                Ok(bytes)
            }

            /// The item's bytes as a number, the first in the lowest bits.
            #[inline]
            pub fn to_bits(&self) -> Result<u128, FieldError> {
                match self {
                    Self::Escape => Ok(u128::from(ESCAPE)),
                    $( Self::$variant(item) => item.to_bits(), )*
                }
            }
        }

        impl fmt::Display for Item {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    Self::Escape => f.write_str("escape"),
                    $( Self::$variant(item) => write!(f, "{item}"), )*
                }
            }
        }
    };
}

items! {
    Branch(RelativeBranch),
    Triangle0(Triangle0),
    Triangle1(Triangle1),
    Triangle2(Triangle2),
    Triangle2Wide(Triangle2Wide),
    Triangle3(Triangle3),
    Triangle3Wide(Triangle3Wide),
    Line0(Line0),
    Line1(Line1),
    Line2(Line2),
    Line2Wide(Line2Wide),
    Line3(Line3),
    Line3Wide(Line3Wide),
    Point0(Point0),
    Point1(Point1),
    Point2(Point2),
    Point3(Point3),
    Point3Wide(Point3Wide),
    TriangleXy0(TriangleXy0),
    TriangleXy1(TriangleXy1),
    TriangleXy2(TriangleXy2),
    TriangleXy3(TriangleXy3),
    RhtXy0(RhtXy0),
    RhtXy1(RhtXy1),
    RhtXy2(RhtXy2),
    RhtXy3(RhtXy3),
}

impl Item {
    /// Decodes the item at the start of `bytes` in a list of the given format; its length is [`Item::bytes`].
    pub fn decode(data: ListDataType, primitive: ListPrimitive, bytes: &[u8]) -> Result<Self, ItemError> {
        let available = bytes.len().min(MAX_ITEM_BYTES);
        let mut first = [0; 16];
        first[..available].copy_from_slice(&bytes[..available]);
        Self::from_bits(data, primitive, u128::from_le_bytes(first), available)
    }

    /// Decodes the item that `available` bytes begin with, which stand in a number, the first in the lowest bits. What is above them does not matter.
    #[inline]
    pub fn from_bits(
        data: ListDataType,
        primitive: ListPrimitive,
        bits: u128,
        available: usize,
    ) -> Result<Self, ItemError> {
        use ListDataType::{Index16, Index24, Xy};
        use ListPrimitive::{Lines, Points, Rht, Triangles};

        fn read<T: Layout>(bits: u128, available: usize) -> Result<T, ItemError> {
            if available < T::BYTES {
                return Err(ItemError::Truncated { item: T::TITLE, needed: T::BYTES });
            }
            Ok(T::from_bits(bits))
        }

        if available == 0 {
            return Err(ItemError::Truncated { item: "item", needed: 1 });
        }
        let first = bits as u8;
        match first {
            ESCAPE => return Ok(Self::Escape),
            BRANCH => return read(bits, available).map(Self::Branch),
            _ => {}
        }
        let absolute = first == ABSOLUTE;
        match (data, primitive, first & 3) {
            (Index16, Triangles, _) if absolute => read(bits, available).map(Self::Triangle3),
            (Index24, Triangles, _) if absolute => read(bits, available).map(Self::Triangle3Wide),
            (Index16 | Index24, Triangles, 0..=2) => read(bits, available).map(Self::Triangle0),
            (Index16, Triangles, _) if first & 15 == 15 => read(bits, available).map(Self::Triangle2),
            (Index24, Triangles, _) if first & 15 == 15 => read(bits, available).map(Self::Triangle2Wide),
            (Index16 | Index24, Triangles, _) => read(bits, available).map(Self::Triangle1),

            (Index16, Lines | Rht, _) if absolute => read(bits, available).map(Self::Line3),
            (Index24, Lines | Rht, _) if absolute => read(bits, available).map(Self::Line3Wide),
            (Index16 | Index24, Lines | Rht, 0 | 1) => read(bits, available).map(Self::Line0),
            (Index16, Lines | Rht, 2) => read(bits, available).map(Self::Line2),
            (Index24, Lines | Rht, 2) => read(bits, available).map(Self::Line2Wide),
            (Index16 | Index24, Lines | Rht, _) if first & 15 != 15 => read(bits, available).map(Self::Line1),

            (Index16, Points, _) if absolute => read(bits, available).map(Self::Point3),
            (Index24, Points, _) if absolute => read(bits, available).map(Self::Point3Wide),
            (Index16 | Index24, Points, 0 | 1) => read(bits, available).map(Self::Point0),
            (Index16 | Index24, Points, 2) => read(bits, available).map(Self::Point2),
            (Index16 | Index24, Points, _) => read(bits, available).map(Self::Point1),

            (Xy, Triangles, _) if absolute => read(bits, available).map(Self::TriangleXy3),
            (Xy, Triangles, 0..=2) => read(bits, available).map(Self::TriangleXy0),
            (Xy, Triangles, _) if first & 15 == 15 => read(bits, available).map(Self::TriangleXy2),
            (Xy, Triangles, _) => read(bits, available).map(Self::TriangleXy1),

            (Xy, Rht, _) if absolute => read(bits, available).map(Self::RhtXy3),
            (Xy, Rht, 0 | 1) => read(bits, available).map(Self::RhtXy0),
            (Xy, Rht, 2) => read(bits, available).map(Self::RhtXy2),
            (Xy, Rht, _) if first & 15 != 15 => read(bits, available).map(Self::RhtXy1),

            (Index16 | Index24, Lines | Rht, _) | (Xy, Rht, _) => Err(ItemError::BadCode(first)),
            _ => Err(ItemError::BadFormat(data, primitive)),
        }
    }
}

/// Vertices of VG lists that end or pad them [AG p.72].
pub mod vg {
    /// Ends the list.
    pub const TERMINATOR: u32 = 0xbfff_0000;
    /// Makes the primitive a dummy.
    pub const DUMMY: u32 = 0xbfff_0001;
}

layout! {
    /// One clipped vertex of a Clipped Primitive record, 32 bytes; this is its first half [AG p.78].
    pub struct ClippedVertex: 128 bits "clipped vertex" {
        /// Varying interpolation coefficient of vertex 0.
        127:96 coefficient0: f32,
        /// 1/Wc.
        95:64 reciprocal_w: f32,
        /// Zs.
        63:32 z: f32,
        /// Ys in 1/16 pixel.
        31:16 y: i16,
        /// Xs in 1/16 pixel.
        15:0 x: i16,
    }
}

layout! {
    /// The second half of a clipped vertex [AG p.78].
    pub struct ClippedVertexCoefficients: 128 bits "clipped vertex coefficients" {
        /// Varying interpolation coefficient of vertex 2; ignored for lines and RHTs.
        63:32 coefficient2: f32,
        /// Varying interpolation coefficient of vertex 1.
        31:0 coefficient1: f32,
    }
}

/// Bytes of one clipped vertex [AG p.78].
pub const CLIPPED_VERTEX_BYTES: u32 = 32;

/// Alignment of clipped primitive data in bytes, which record 49 implies.
pub type ClippedPrimitiveAddress = Aligned<8>;
