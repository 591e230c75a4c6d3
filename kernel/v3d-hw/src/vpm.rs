//! VPM access and DMA set-up words [AG p.57-60].
//!
//! All set-up words go through two registers, VPMVCD_RD_SETUP (A 49) and VPMVCD_WR_SETUP (B 49); the highest bits of a word say what it is.
//!
//! # Surprises
//! - In vertical accesses Y is given in multiples of 16: only its bits 5:4 are in the address.
//! - A DMA load's MODEW of 1 does not exist: it is what tells the stride word (ID 9) from the basic one.
//! - The guide calls the store's row count UNITS and its row length DEPTH.

use crate::{codes, layout};

codes! {
    /// Width of the elements of a VPM access [AG p.57].
    pub enum ElementSize: 2 bits {
        /// 8 bits.
        0 => Bits8 "8-bit",
        /// 16 bits.
        1 => Bits16 "16-bit",
        /// 32 bits.
        2 => Bits32 "32-bit",
        _ => Reserved,
    }
}

layout! {
    /// VPM generic block write set-up [AG p.57].
    pub struct WriteSetup: 32 bits "VPM generic block write setup" {
        /// 0.
        31:30 id: u8,
        /// Added to the address after every vector; 0 means 64.
        17:12 stride: u8,
        /// Horizontal, else vertical.
        11:11 horizontal: bool,
        /// Laned, else packed; ignored for 32 bits.
        10:10 laned: bool,
        /// Element width.
        9:8 size: ElementSize,
        /// Location of the first vector.
        7:0 address: u8,
    }
}

layout! {
    /// VPM generic block read set-up [AG p.58].
    pub struct ReadSetup: 32 bits "VPM generic block read setup" {
        /// 0.
        31:30 id: u8,
        /// Number of vectors to read; 0 means 16.
        23:20 count: u8,
        /// Added to the address after every vector; 0 means 64.
        17:12 stride: u8,
        /// Horizontal, else vertical.
        11:11 horizontal: bool,
        /// Laned, else packed; ignored for 32 bits.
        10:10 laned: bool,
        /// Element width.
        9:8 size: ElementSize,
        /// Location of the first vector.
        7:0 address: u8,
    }
}

/// A place in the VPM's window: row, column and sub-vector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// Row, 0 to 63. A multiple of 16 in vertical accesses.
    pub y: u8,
    /// Column, 0 to 15. 0 in horizontal accesses.
    pub x: u8,
    /// Byte (0 to 3) or half-word (0 or 1) of narrow accesses.
    pub part: u8,
}

impl Location {
    /// Takes an access address apart [AG p.57]. `None` for the reserved width.
    pub const fn unpack(address: u8, horizontal: bool, size: ElementSize) -> Option<Self> {
        let (vector, part) = match size {
            ElementSize::Bits8 => (address >> 2, address & 3),
            ElementSize::Bits16 => (address >> 1 & 63, address & 1),
            ElementSize::Bits32 => (address & 63, 0),
            ElementSize::Reserved(_) => return None,
        };
        Some(if horizontal { Self { y: vector, x: 0, part } } else { Self { y: vector & 0x30, x: vector & 15, part } })
    }

    /// Puts an access address together; `None` if the location is not one of this kind of access.
    pub const fn pack(self, horizontal: bool, size: ElementSize) -> Option<u8> {
        let (shift, parts) = match size {
            ElementSize::Bits8 => (2, 4),
            ElementSize::Bits16 => (1, 2),
            ElementSize::Bits32 => (0, 1),
            ElementSize::Reserved(_) => return None,
        };
        let fits = self.y < 64 && self.x < 16 && self.part < parts;
        let placed = if horizontal { self.x == 0 } else { self.y.is_multiple_of(16) };
        if !(fits && placed) {
            return None;
        }
        Some((self.y | self.x) << shift | self.part)
    }
}

codes! {
    /// MODEW: element width, with the first byte or half-word of packed accesses [AG p.58].
    pub enum DmaMode: 3 bits {
        /// 32 bits.
        0 => Bits32 "32-bit",
        /// Unused in stores; in loads it marks the stride word.
        1 => Unused "unused",
        /// 16 bits, half-word 0.
        2 => Bits16Half0 "16-bit, half-word 0",
        /// 16 bits, half-word 1.
        3 => Bits16Half1 "16-bit, half-word 1",
        /// 8 bits, byte 0.
        4 => Bits8Byte0 "8-bit, byte 0",
        /// 8 bits, byte 1.
        5 => Bits8Byte1 "8-bit, byte 1",
        /// 8 bits, byte 2.
        6 => Bits8Byte2 "8-bit, byte 2",
        /// 8 bits, byte 3.
        7 => Bits8Byte3 "8-bit, byte 3",
    }
}

impl DmaMode {
    /// Width of an element in bytes.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Bits32 | Self::Unused => 4,
            Self::Bits16Half0 | Self::Bits16Half1 => 2,
            _ => 1,
        }
    }

    /// The first half-word or byte.
    pub const fn part(self) -> u32 {
        match self.bytes() {
            4 => 0,
            2 => self as u32 & 1,
            _ => self as u32 & 3,
        }
    }
}

layout! {
    /// VPM DMA store (VDW) basic set-up [AG p.58].
    pub struct StoreSetup: 32 bits "VPM DMA store (VDW) basic setup" {
        /// 2.
        31:30 id: u8,
        /// Number of rows of the block in memory; 0 means 128.
        29:23 units: u8,
        /// Row length of the block in memory, in elements; 0 means 128.
        22:16 depth: u8,
        /// Write as 0.
        15:15 laned: bool,
        /// Horizontal, else vertical.
        14:14 horizontal: bool,
        /// Row of the first word in the VPM.
        13:7 y: u8,
        /// Column of the first word in the VPM.
        6:3 x: u8,
        /// Element width and first part.
        2:0 mode: DmaMode,
    }
}

layout! {
    /// VPM DMA store (VDW) stride set-up [AG p.59].
    pub struct StoreStrideSetup: 32 bits "VPM DMA store (VDW) stride setup" {
        /// 3.
        31:30 id: u8,
        /// Rows of the block that are longer than a row of the VPM are packed consecutively; shorter ones begin a new row or column all the same.
        16:16 block_mode: bool,
        /// From the last byte of a row to the start of the next, in bytes of memory. The guide gives it 13 bits, silicon has 16 [vc4asm].
        15:0 stride: u16,
    }
}

layout! {
    /// VPM DMA load (VDR) basic set-up [AG p.59].
    pub struct LoadSetup: 32 bits "VPM DMA load (VDR) basic setup" {
        /// 1.
        31:31 id: u8,
        /// Element width and first part; never 1.
        30:28 mode: DmaMode,
        /// Row-to-row pitch in memory is 8 * 2^n bytes; 0 takes it from the stride set-up.
        27:24 mpitch: u8,
        /// Row length in memory, in elements; 0 means 16.
        23:20 row_length: u8,
        /// Number of rows; 0 means 16.
        19:16 rows: u8,
        /// Row-to-row pitch in the VPM, added to Y and part; 0 means 16.
        15:12 vpitch: u8,
        /// Vertical, else horizontal.
        11:11 vertical: bool,
        /// Row of the first word in the VPM.
        10:4 y: u8,
        /// Column of the first word in the VPM.
        3:0 x: u8,
    }
}

layout! {
    /// VPM DMA load (VDR) extended memory stride set-up [AG p.60].
    ///
    /// The guide gives the pitch 13 bits. Silicon has more: py-videocore's matrix multiplication loads rows that are 12,288 bytes apart. Here it
    /// has as many as the store's stride.
    pub struct LoadStrideSetup: 32 bits "VPM DMA load (VDR) extended memory stride setup" {
        /// 9.
        31:28 id: u8,
        /// Row-to-row pitch in memory, in bytes; used while MPITCH is 0.
        15:0 mpitchb: u16,
    }
}

/// A word written to VPMVCD_WR_SETUP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WriteSetupWord {
    /// ID 0.
    Write(WriteSetup),
    /// ID 1 has no meaning.
    Reserved(u32),
    /// ID 2.
    Store(StoreSetup),
    /// ID 3.
    StoreStride(StoreStrideSetup),
}

/// A word written to VPMVCD_RD_SETUP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReadSetupWord {
    /// ID 0.
    Read(ReadSetup),
    /// ID 1 of two bits has no meaning.
    Reserved(u32),
    /// Bit 31 set, bits 30:28 other than 1.
    Load(LoadSetup),
    /// ID 9 of four bits.
    LoadStride(LoadStrideSetup),
}

impl WriteSetupWord {
    /// Decodes a word by its ID.
    pub fn decode(word: u32) -> Self {
        use crate::Layout;
        match word >> 30 {
            0 => Self::Write(WriteSetup::from_word(word)),
            1 => Self::Reserved(word),
            2 => Self::Store(StoreSetup::from_word(word)),
            _ => Self::StoreStride(StoreStrideSetup::from_word(word)),
        }
    }
}

impl ReadSetupWord {
    /// Decodes a word by its ID.
    pub fn decode(word: u32) -> Self {
        use crate::Layout;
        match word >> 28 {
            0..=3 => Self::Read(ReadSetup::from_word(word)),
            4..=7 => Self::Reserved(word),
            9 => Self::LoadStride(LoadStrideSetup::from_word(word)),
            _ => Self::Load(LoadSetup::from_word(word)),
        }
    }
}

/// Words in one row of the VPM.
pub const ROW_WORDS: u32 = 16;
/// Rows that a user program's window has.
pub const WINDOW_ROWS: u32 = 64;
