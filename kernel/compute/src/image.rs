//! Pictures in GPU-visible memory.

use alloc::vec::Vec;

use v3d::Platform;
use v3d::hw::BusAddr;

use crate::division::Grid;
use crate::rows;
use crate::{Array, Error, Session};

/// Width and height of a block in pixels.
const BLOCK: [usize; 2] = [16, 4];
/// Maximum width and height: those of a texture.
const MAX_SIDE: usize = 2048;
/// Maximum pitch in bytes: the stride of stores has 16 bits, and is counted from the end of 16 pixels.
const MAX_PITCH_BYTES: u32 = 1 << 16;

/// A picture: rows of pixels of 32 bits, red in the lowest byte, alpha in the highest.
#[derive(Debug)]
pub struct Image {
    memory: Memory,
    width: usize,
    height: usize,
    pitch_bytes: u32,
}

/// Location of the pixels.
#[derive(Debug)]
enum Memory {
    /// In the driver's pool.
    Own(Array<u32>),
    /// In a display's page.
    Page(BusAddr),
}

impl Image {
    /// Width in pixels.
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Height in pixels.
    pub const fn height(&self) -> usize {
        self.height
    }

    /// Width and height in pixels.
    pub(crate) const fn sides(&self) -> [usize; 2] {
        [self.width, self.height]
    }

    /// A display's page, which operations can write but not read. The caller guarantees its size.
    ///
    /// # Errors
    /// When the width is not a multiple of 16 or the height not a multiple of 4, or a side is not 1 to 2048; when rows overlap, or the pitch is not a whole
    /// number of pixels or more than 65536 bytes.
    pub fn page(address: BusAddr, width: usize, height: usize, pitch_bytes: u32) -> Result<Self, Error> {
        let size = |given, allowed| Error::Size { operation: "page", given, allowed };
        if !width.is_multiple_of(BLOCK[0]) || !(1..=MAX_SIDE).contains(&width) {
            return Err(size(width, "a multiple of 16 pixels across, at most 2048"));
        }
        if !height.is_multiple_of(BLOCK[1]) || !(1..=MAX_SIDE).contains(&height) {
            return Err(size(height, "a multiple of 4 pixels down, at most 2048"));
        }
        if (pitch_bytes as usize) < 4 * width || pitch_bytes > MAX_PITCH_BYTES || !pitch_bytes.is_multiple_of(4) {
            return Err(size(
                pitch_bytes as usize,
                "a pitch in bytes: a multiple of 4, at least the width's, at most 65536",
            ));
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

    /// Distance of two rows in bytes.
    pub const fn pitch_bytes(&self) -> u32 {
        self.pitch_bytes
    }

    /// Its blocks, divided among QPUs.
    pub(crate) fn grid(&self) -> impl Iterator<Item = Grid> {
        Grid::of(self.width.div_ceil(BLOCK[0]) as u32, self.height.div_ceil(BLOCK[1]) as u32)
    }
}

impl<P: Platform> Session<'_, '_, '_, P> {
    /// Creates a picture of undefined pixels.
    ///
    /// # Errors
    /// When a side is not 1 to 2048; when the pool has not enough memory.
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

    /// Creates a picture of these pixels, row by row.
    ///
    /// # Errors
    /// As [`Session::undefined_image`]; when the number of pixels is not width times height.
    pub fn image(&mut self, pixels: &[u32], width: usize, height: usize) -> Result<Image, Error> {
        let mut image = self.undefined_image(width, height)?;
        Error::expect_length("image", pixels.len(), width * height)?;
        if let Memory::Own(own) = &mut image.memory {
            let words = rows::padded(pixels, width, image.pitch_bytes as usize / 4, own.length);
            self.write(own, &words)?;
        }
        Ok(image)
    }

    /// Reads the pixels of a picture, row by row.
    ///
    /// # Errors
    /// When it belongs to another driver, or is a display's page.
    pub fn read_image(&self, image: &Image) -> Result<Vec<u32>, Error> {
        let Memory::Own(pixels) = &image.memory else { return Err(Error::ForeignArray) };
        Ok(rows::cropped(&self.read(pixels)?, image.pitch_bytes as usize / 4, image.width, image.height))
    }

    /// Checks that a picture is in this driver's memory or is a display's page.
    pub(crate) fn expect_image(&self, image: &Image) -> Result<(), Error> {
        match &image.memory {
            Memory::Own(pixels) => self.expect_own(pixels),
            Memory::Page(_) => Ok(()),
        }
    }
}
