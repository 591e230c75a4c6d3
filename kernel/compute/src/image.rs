//! Pictures in GPU-visible memory, and how their blocks are divided between QPUs.

use alloc::vec::Vec;

use v3d::Platform;
use v3d::hw::BusAddr;

use crate::session::Share;
use crate::{Array, Error, Session};

/// Pixels across and down of a block.
const BLOCK: [usize; 2] = [16, 4];
/// Most pixels of a side: what a texture may have.
const MAX_SIDE: usize = 2048;
/// Most bytes from a row to the next: the stride of stores has 16 bits, and is counted from the end of 16 pixels.
const MAX_PITCH_BYTES: u32 = 1 << 16;

/// A picture: rows of pixels of 32 bits, red in the lowest byte, alpha in the highest.
#[derive(Debug)]
pub struct Image {
    memory: Memory,
    width: usize,
    height: usize,
    pitch_bytes: u32,
}

/// Where pixels are.
#[derive(Debug)]
enum Memory {
    /// In the driver's pool.
    Own(Array<u32>),
    /// In a display's page.
    Page(BusAddr),
}

impl Image {
    /// Pixels across.
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Pixels down.
    pub const fn height(&self) -> usize {
        self.height
    }

    /// A display's page, which operations can write and nobody can read. That there are so many pixels is the caller's word.
    ///
    /// # Errors
    /// When the width is not a multiple of 16 or the height not one of 4, or a side is not 1 to 2048; when rows overlap, or are not whole pixels apart.
    pub fn page(address: BusAddr, width: usize, height: usize, pitch_bytes: u32) -> Result<Self, Error> {
        let size = |given, allowed| Error::Size { operation: "page", given, allowed };
        if !width.is_multiple_of(BLOCK[0]) || !(1..=MAX_SIDE).contains(&width) {
            return Err(size(width, "a multiple of 16 pixels across, at most 2048"));
        }
        if !height.is_multiple_of(BLOCK[1]) || !(1..=MAX_SIDE).contains(&height) {
            return Err(size(height, "a multiple of 4 pixels down, at most 2048"));
        }
        if (pitch_bytes as usize) < 4 * width || pitch_bytes > MAX_PITCH_BYTES || !pitch_bytes.is_multiple_of(4) {
            return Err(size(pitch_bytes as usize, "a distance of rows, of whole pixels, at most 65536 bytes"));
        }
        Ok(Self { memory: Memory::Page(address), width, height, pitch_bytes })
    }

    /// Address of the first pixel, as the GPU sees it.
    pub fn address(&self) -> BusAddr {
        match &self.memory {
            Memory::Own(pixels) => pixels.address(),
            Memory::Page(address) => *address,
        }
    }

    /// Bytes from a row to the next.
    pub const fn pitch_bytes(&self) -> u32 {
        self.pitch_bytes
    }

    pub(crate) fn grid(&self) -> impl Iterator<Item = Grid> {
        grid(self.width, self.height)
    }
}

/// A QPU's blocks of a picture; see `grid.qinc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    /// The QPU.
    pub(crate) number: u32,
    /// Of the leader how many others there are, of the others -1.
    pub(crate) others: i32,
    /// Where its first block is.
    pub(crate) column: u32,
    /// Where its first block is.
    pub(crate) row: u32,
    /// From a block to the next.
    pub(crate) step: u32,
    /// Blocks of a row.
    pub(crate) across: u32,
    /// Blocks that it has.
    pub(crate) blocks: u32,
}

/// The shares of a picture with so many pixels.
pub(crate) fn grid(width: usize, height: usize) -> impl Iterator<Item = Grid> {
    let (across, down) = (width.div_ceil(BLOCK[0]) as u32, height.div_ceil(BLOCK[1]) as u32);
    Share::of(across * down).map(move |share| Grid {
        number: share.number,
        others: share.others(),
        column: share.number % across,
        row: share.number / across,
        step: share.qpus,
        across,
        blocks: share.blocks,
    })
}

impl<P: Platform> Session<'_, '_, '_, P> {
    /// A picture of undefined pixels.
    ///
    /// # Errors
    /// When a side is not 1 to 2048; when the pool has no room.
    pub fn undefined_image(&mut self, width: usize, height: usize) -> Result<Image, Error> {
        for side in [width, height] {
            if !(1..=MAX_SIDE).contains(&side) {
                return Err(Error::Size { operation: "image", given: side, allowed: "1 to 2048 pixels" });
            }
        }
        let pitch = width.next_multiple_of(BLOCK[0]);
        let pixels = self.undefined(pitch * height.next_multiple_of(BLOCK[1]))?;
        Ok(Image { memory: Memory::Own(pixels), width, height, pitch_bytes: 4 * pitch as u32 })
    }

    /// A picture of these pixels, row by row.
    ///
    /// # Errors
    /// As [`Session::undefined_image`]; when there are not width times height pixels.
    pub fn image(&mut self, pixels: &[u32], width: usize, height: usize) -> Result<Image, Error> {
        let mut image = self.undefined_image(width, height)?;
        if pixels.len() != width * height {
            return Err(Error::Lengths { operation: "image", given: pixels.len(), needed: width * height });
        }
        if let Memory::Own(own) = &mut image.memory {
            let mut words = alloc::vec![0; own.length];
            for (row, words) in pixels.chunks(width).zip(words.chunks_mut(image.pitch_bytes as usize / 4)) {
                words[..width].copy_from_slice(row);
            }
            self.write(own, &words)?;
        }
        Ok(image)
    }

    /// The pixels of a picture, row by row.
    ///
    /// # Errors
    /// When it is another driver's, or a display's page.
    pub fn read_image(&self, image: &Image) -> Result<Vec<u32>, Error> {
        let Memory::Own(pixels) = &image.memory else { return Err(Error::ForeignArray) };
        let words = self.read(pixels)?;
        let rows = words.chunks(image.pitch_bytes as usize / 4).take(image.height);
        Ok(rows.flat_map(|row| row.iter().copied().take(image.width)).collect())
    }

    /// Checks that a picture is in this driver's memory, or a display's page.
    pub(crate) fn expect_image(&self, image: &Image) -> Result<(), Error> {
        match &image.memory {
            Memory::Own(pixels) => self.expect_own(pixels),
            Memory::Page(_) => Ok(()),
        }
    }
}
