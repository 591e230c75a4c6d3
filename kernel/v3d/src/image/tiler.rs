//! Conversion between rows of pixels and the tiled layouts of images.
//!
//! Pictures are rows of pixels; the TMU and the tile buffer use T-format or LT-format ([`tiling`] defines the position of each pixel). Both consist of
//! micro-tiles of 64 bytes, and a row of a micro-tile is 4, 8 or 16 bytes that are also adjacent in the picture's row. The tiler therefore does not compute
//! positions of pixels: it copies four adjacent micro-tiles, which both formats keep in 256 bytes, row by row with copies of constant length, in the order of
//! memory, which suits uncached memory. Only where a rectangle's edge cuts through a micro-tile does it copy single bits.
//!
//! [`ImageLayout::put`] writes any rectangle of an image, [`ImageLayout::get`] reads it; the image is a slice or a [`Region`] of the GPU's memory.
//!
//! # Units
//! A pixel has 1, 4, 8, 16, 32 or 64 bits. Pixels smaller than a byte fill their byte from the lowest bit up, in rows of pixels as well as in the image; each
//! row of pixels starts at a byte. Compressed pictures count blocks, not texels: an ETC1 block is a pixel of 64 bits.
//!
//! [`tiling`]: v3d_hw::tiling

mod bits;
mod image_bytes;
mod micro_tile;
mod strip;

pub use image_bytes::{GpuImage, ImageBytes};

use core::fmt;
use v3d_hw::tiling::{self, MICRO_TILE_BYTES, Tiling};

use bits::copy_bits;
use micro_tile::Shape;
use strip::{STRIP_BYTES, Strip, strips};

/// A rectangle of an image, in pixels from the first pixel in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rectangle {
    /// First column.
    pub x_px: u32,
    /// First row.
    pub y_px: u32,
    /// Columns.
    pub width_px: u32,
    /// Rows.
    pub height_px: u32,
}

impl Rectangle {
    /// All of an image.
    pub const fn whole(width_px: u32, height_px: u32) -> Self {
        Self { x_px: 0, y_px: 0, width_px, height_px }
    }

    const fn is_empty(self) -> bool {
        self.width_px == 0 || self.height_px == 0
    }
}

/// Why pixels were not copied. No pixel has been changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LayoutError {
    /// No layout supports pixels of this number of bits.
    PixelBits(u32),
    /// An image without pixels, or with more bytes than 32 bits can count.
    ImageSize {
        /// Width in pixels.
        width_px: u32,
        /// Height in pixels.
        height_px: u32,
    },
    /// The rectangle exceeds its image.
    Outside {
        /// The rectangle.
        rectangle: Rectangle,
        /// Width of the image in pixels.
        width_px: u32,
        /// Height of the image in pixels.
        height_px: u32,
    },
    /// The pitch of the pixels is less than a row.
    Stride {
        /// Bytes from row to row.
        stride_bytes: usize,
        /// Bytes of a row.
        row_bytes: usize,
    },
    /// Fewer bytes of pixels than the rectangle needs.
    PixelBytes {
        /// Number of bytes given.
        given: usize,
        /// Number of bytes needed.
        needed: usize,
    },
    /// Less memory than the image needs.
    ImageBytes {
        /// Number of bytes given.
        given: usize,
        /// Number of bytes needed.
        needed: usize,
    },
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::PixelBits(bits) => write!(f, "no layout has pixels of {bits} bits: they have 1, 4, 8, 16, 32 or 64"),
            Self::ImageSize { width_px, height_px } => {
                write!(f, "an image of {width_px} x {height_px} pixels has no layout")
            }
            Self::Outside {
                rectangle: Rectangle { x_px, y_px, width_px: width, height_px: height },
                width_px,
                height_px,
            } => {
                write!(
                    f,
                    "{width} x {height} pixels at ({x_px}, {y_px}) leave an image of {width_px} x {height_px} pixels"
                )
            }
            Self::Stride { stride_bytes, row_bytes } => {
                write!(f, "rows of {row_bytes} bytes cannot begin every {stride_bytes} bytes")
            }
            Self::PixelBytes { given, needed } => write!(f, "{needed} bytes of pixels are needed, {given} are given"),
            Self::ImageBytes { given, needed } => {
                write!(f, "the image takes {needed} bytes of memory, there are {given}")
            }
        }
    }
}

impl core::error::Error for LayoutError {}

/// The layout of an image in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageLayout {
    tiling: Tiling,
    width_px: u32,
    height_px: u32,
    bits_per_pixel: u32,
    bytes: u32,
    shape: Shape,
}

impl ImageLayout {
    /// The layout of an image of this size in pixels. Padding is added here.
    pub fn new(tiling: Tiling, width_px: u32, height_px: u32, bits_per_pixel: u32) -> Result<Self, LayoutError> {
        let shape = Shape::new(bits_per_pixel).ok_or(LayoutError::PixelBits(bits_per_pixel))?;
        let size = LayoutError::ImageSize { width_px, height_px };
        if width_px == 0 || height_px == 0 || width_px > MAX_PX || height_px > MAX_PX {
            return Err(size);
        }
        let bytes = tiling::image_bytes(tiling, width_px, height_px, bits_per_pixel);
        let bytes = bytes.and_then(|bytes| u32::try_from(bytes).ok()).ok_or(size)?;
        Ok(Self { tiling, width_px, height_px, bits_per_pixel, bytes, shape })
    }

    /// Size of the image in bytes, including padding.
    pub const fn bytes(&self) -> u32 {
        self.bytes
    }

    /// The arrangement of the pixels.
    pub const fn tiling(&self) -> Tiling {
        self.tiling
    }

    /// Width in pixels.
    pub const fn width_px(&self) -> u32 {
        self.width_px
    }

    /// Height in pixels.
    pub const fn height_px(&self) -> u32 {
        self.height_px
    }

    /// Bits of a pixel.
    pub const fn bits_per_pixel(&self) -> u32 {
        self.bits_per_pixel
    }

    /// All of the image.
    pub const fn whole(&self) -> Rectangle {
        Rectangle::whole(self.width_px, self.height_px)
    }

    /// Bytes of a row of this number of pixels, in the format of [`put`](Self::put) and [`get`](Self::get).
    pub const fn row_bytes(&self, width_px: u32) -> usize {
        (width_px as u64 * self.bits_per_pixel as u64).div_ceil(8) as usize
    }

    /// Writes `pixels`, rows with a pitch of `stride_bytes`, to a rectangle of the image. All other pixels stay unchanged.
    pub fn put(
        &self,
        image: &mut (impl ImageBytes + ?Sized),
        rectangle: Rectangle,
        pixels: &[u8],
        stride_bytes: usize,
    ) -> Result<(), LayoutError> {
        self.check(image.length(), rectangle, pixels.len(), stride_bytes)?;
        if rectangle.is_empty() {
            return Ok(());
        }
        match (self.tiling, self.shape.row_bytes) {
            (Tiling::Raster, _) => self.put_rows(image, rectangle, pixels, stride_bytes),
            (_, 16) => self.put_tiled::<16>(image, rectangle, pixels, stride_bytes),
            (_, 8) => self.put_tiled::<8>(image, rectangle, pixels, stride_bytes),
            _ => self.put_tiled::<4>(image, rectangle, pixels, stride_bytes),
        }
        Ok(())
    }

    /// Reads a rectangle of the image into `pixels`, rows with a pitch of `stride_bytes`. Bytes between rows and bits after the last pixel stay unchanged.
    pub fn get(
        &self,
        image: &(impl ImageBytes + ?Sized),
        rectangle: Rectangle,
        pixels: &mut [u8],
        stride_bytes: usize,
    ) -> Result<(), LayoutError> {
        self.check(image.length(), rectangle, pixels.len(), stride_bytes)?;
        if rectangle.is_empty() {
            return Ok(());
        }
        match (self.tiling, self.shape.row_bytes) {
            (Tiling::Raster, _) => self.get_rows(image, rectangle, pixels, stride_bytes),
            (_, 16) => self.get_tiled::<16>(image, rectangle, pixels, stride_bytes),
            (_, 8) => self.get_tiled::<8>(image, rectangle, pixels, stride_bytes),
            _ => self.get_tiled::<4>(image, rectangle, pixels, stride_bytes),
        }
        Ok(())
    }

    /// Checks the sizes of image, rectangle and pixels.
    fn check(&self, image: usize, rectangle: Rectangle, given: usize, stride_bytes: usize) -> Result<(), LayoutError> {
        let (width_px, height_px) = (self.width_px, self.height_px);
        let fits = |start: u32, count: u32, size: u32| start.checked_add(count).is_some_and(|end| end <= size);
        if !fits(rectangle.x_px, rectangle.width_px, width_px) || !fits(rectangle.y_px, rectangle.height_px, height_px)
        {
            return Err(LayoutError::Outside { rectangle, width_px, height_px });
        }
        if image < self.bytes as usize {
            return Err(LayoutError::ImageBytes { given: image, needed: self.bytes as usize });
        }
        if rectangle.is_empty() {
            return Ok(());
        }
        let row_bytes = self.row_bytes(rectangle.width_px);
        if rectangle.height_px > 1 && stride_bytes < row_bytes {
            return Err(LayoutError::Stride { stride_bytes, row_bytes });
        }
        let needed = (rectangle.height_px as usize - 1).saturating_mul(stride_bytes).saturating_add(row_bytes);
        if given < needed {
            return Err(LayoutError::PixelBytes { given, needed });
        }
        Ok(())
    }

    /// Rows of a raster image: offset in bits in the image, offset in bytes in the pixels, and length in bits. Rows that are contiguous on both sides are
    /// merged.
    fn raster_rows(&self, rectangle: Rectangle, stride_bytes: usize) -> impl Iterator<Item = (usize, usize, usize)> {
        let (width, bits) = (self.width_px as usize, self.bits_per_pixel as usize);
        let first = (rectangle.y_px as usize * width + rectangle.x_px as usize) * bits;
        let (rows, row_bits) = (rectangle.height_px as usize, rectangle.width_px as usize * bits);
        let is_one = row_bits == width * bits && row_bits == 8 * stride_bytes;
        let (rows, row_bits) = if is_one { (1, rows * row_bits) } else { (rows, row_bits) };
        (0..rows).map(move |row| (first + row * width * bits, row * stride_bytes, row_bits))
    }

    fn put_rows(
        &self,
        image: &mut (impl ImageBytes + ?Sized),
        rectangle: Rectangle,
        pixels: &[u8],
        stride_bytes: usize,
    ) {
        for (to, from, row_bits) in self.raster_rows(rectangle, stride_bytes) {
            if (to | row_bits) & 7 == 0 {
                image.store(to / 8, &pixels[from..from + row_bits / 8]);
                continue;
            }
            let mut done = 0;
            while done < row_bits {
                let mut piece = [0; STRIP_BYTES];
                let (at, inside) = ((to + done) / 8, (to + done) & 7);
                let count = (row_bits - done).min(8 * STRIP_BYTES - inside);
                let piece = &mut piece[..(inside + count).div_ceil(8)];
                image.load(at, piece);
                copy_bits(piece, inside, pixels, 8 * from + done, count);
                image.store(at, piece);
                done += count;
            }
        }
    }

    fn get_rows(
        &self,
        image: &(impl ImageBytes + ?Sized),
        rectangle: Rectangle,
        pixels: &mut [u8],
        stride_bytes: usize,
    ) {
        for (from, to, row_bits) in self.raster_rows(rectangle, stride_bytes) {
            if (from | row_bits) & 7 == 0 {
                image.load(from / 8, &mut pixels[to..to + row_bits / 8]);
                continue;
            }
            let mut done = 0;
            while done < row_bits {
                let mut piece = [0; STRIP_BYTES];
                let (at, inside) = ((from + done) / 8, (from + done) & 7);
                let count = (row_bits - done).min(8 * STRIP_BYTES - inside);
                let piece = &mut piece[..(inside + count).div_ceil(8)];
                image.load(at, piece);
                copy_bits(pixels, 8 * to + done, piece, inside, count);
                done += count;
            }
        }
    }

    fn put_tiled<const ROW: usize>(
        &self,
        image: &mut (impl ImageBytes + ?Sized),
        rectangle: Rectangle,
        pixels: &[u8],
        stride: usize,
    ) {
        let shape = self.shape;
        strips(self, rectangle, |strip: Strip| {
            if let Some(first) = shape.whole_bytes(&strip, rectangle, stride) {
                image.overwrite(strip.at, |bytes| micro_tile::fill::<ROW>(bytes, &pixels[first..], stride));
                return;
            }
            for tile in strip.micro_tiles() {
                let Some(part) = shape.part(tile, rectangle, stride) else { continue };
                let mut bytes = [0; MICRO_TILE_BYTES as usize];
                image.load(tile.at, &mut bytes);
                for (row, inside, linear) in part.rows() {
                    copy_bits(&mut bytes[row * ROW..][..ROW], inside, pixels, linear, part.row_bits);
                }
                image.store(tile.at, &bytes);
            }
        });
    }

    fn get_tiled<const ROW: usize>(
        &self,
        image: &(impl ImageBytes + ?Sized),
        rectangle: Rectangle,
        pixels: &mut [u8],
        stride: usize,
    ) {
        let shape = self.shape;
        strips(self, rectangle, |strip: Strip| {
            if let Some(first) = shape.whole_bytes(&strip, rectangle, stride) {
                image.read(strip.at, |bytes| micro_tile::drain::<ROW>(bytes, &mut pixels[first..], stride));
                return;
            }
            for tile in strip.micro_tiles() {
                let Some(part) = shape.part(tile, rectangle, stride) else { continue };
                let mut bytes = [0; MICRO_TILE_BYTES as usize];
                image.load(tile.at, &mut bytes);
                for (row, inside, linear) in part.rows() {
                    copy_bits(pixels, linear, &bytes[row * ROW..][..ROW], inside, part.row_bits);
                }
            }
        });
    }
}

/// Maximum width or height: the hardware's limits are far lower, and the product of two sides and 64 bits is below 2^40.
const MAX_PX: u32 = 1 << 15;
