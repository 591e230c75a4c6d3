//! Entries of a display list: each puts a rectangle of an image onto the picture, over those before it.
//!
//! | word of an entry without scaling | bits |
//! |---|---|
//! | control | 31 end of the list, 30 valid, 29:24 number of words, 21:20 tiling, 18:17 colour key, 16 and 15 mirrored, 14:13 order of components, 12:11 how narrow components are widened, 4 no scaling, 3:0 pixel format |
//! | position 0 | 31:24 alpha of the plane, 23:12 y, 11:0 x |
//! | position 2 | 31:30 where alpha comes from, 29 colours are multiplied by alpha already, 28 the pixel's alpha is multiplied by the plane's, 27:16 height, 11:0 width |
//! | position 3 | written by the HVS |
//! | pointer 0 | bus address of the first pixel |
//! | pointer context 0 | written by the HVS |
//! | pitch 0 | raster: 15:0 bytes from row to row; T-format: see [`TFormat`] |
//!
//! With scaling, position 1 with the scaled size follows position 0: 27:16 height, 11:0 width. Filters and their coefficients follow the pitch. They are not
//! modelled: such planes are shown with linear interpolation. Planes with luminance and chrominance are not shown.
//!
//! # Sources
//! `vc4_regs.h` (SCALER_CTL0_*, SCALER_POS*, SCALER_PITCH0_*, `hvs_pixel_format`) and `vc4_plane.c` (`hvs_formats`, `vc4_plane_mode_set`) of Linux. The order
//! of components is named after what Linux puts there: `vc4_regs.h` has names that do not fit the pixels' own.

use std::fmt;
use v3d_sim::memory::{Memory, OutOfMemory};
use v3d_sim::{BusAddr, tiling};

/// Control word: end of the list, valid entry.
const END: u32 = 1 << 31;
const VALID: u32 = 1 << 30;
/// Words of a plane without scaling.
const UNSCALED_WORDS: usize = 7;

/// Tilings: raster, and that of 32-bit and 16-bit pixels which is the V3D's T-format.
const RASTER: u32 = 0;
const T_FORMAT: u32 = 3;

/// An entry of a display list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// A plane that is shown.
    Plane(Plane),
    /// A plane that is not.
    NotShown(Unsupported),
    /// The list has no end.
    Endless,
}

/// Why a plane is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unsupported {
    /// A pixel format, by its number.
    Format(u32),
    /// An order of components, of a pixel format.
    Order(u32, u32),
    /// A tiling, of a pixel format.
    Tiling(u32, u32),
    /// A plane in T-format that is mirrored.
    MirroredTiles,
    /// A colour that is transparent.
    ColourKey,
    /// The entry has fewer words than a plane.
    Short(u32),
    /// The picture's matrix of colours, which concerns all planes: they are shown without it.
    ColourMatrix,
}

/// Pixel formats, by their numbers in the control word.
const FORMATS: [&str; 16] = [
    "RGB332",
    "RGBA4444",
    "RGB555",
    "RGBA5551",
    "RGB565",
    "RGB888",
    "RGBA6666",
    "RGBA8888",
    "YUV420 in three planes",
    "YUV420 in two planes",
    "YUV422 in three planes",
    "YUV422 in two planes",
    "columns of YUV (H264, SAND)",
    "palette",
    "YUV444",
    "AYUV444",
];

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |format: u32| FORMATS.get(format as usize).copied().unwrap_or("an unknown format");
        match *self {
            Self::Format(format) => write!(f, "a plane of pixel format {format}, {}", name(format)),
            Self::Order(format, order) => write!(f, "a plane of {} with components in order {order}", name(format)),
            Self::Tiling(format, tiling) => write!(f, "a plane of {} with tiling {tiling}", name(format)),
            Self::MirroredTiles => f.write_str("a plane in T-format that is mirrored"),
            Self::ColourKey => f.write_str("a plane with a colour key"),
            Self::Short(words) => write!(f, "a plane of {words} words, which needs at least {UNSCALED_WORDS}"),
            Self::ColourMatrix => f.write_str("the picture's colour matrix (OLEDOFFS)"),
        }
    }
}

/// How a pixel is made of its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pixels {
    /// 32 bits: alpha, red, green, blue from the highest on.
    Argb8888,
    /// 32 bits: alpha, blue, green, red.
    Abgr8888,
    /// 24 bits: red, green, blue.
    Rgb888,
    /// 24 bits: blue, green, red.
    Bgr888,
    /// 16 bits: red, green, blue.
    Rgb565,
    /// 16 bits: blue, green, red.
    Bgr565,
    /// 16 bits: alpha, red, green, blue.
    Argb1555,
}

impl Pixels {
    /// By the numbers of format and order in the control word [linux vc4_plane.c, `hvs_formats`].
    fn parse(format: u32, order: u32) -> Result<Self, Unsupported> {
        Ok(match (format, order) {
            (7, 3) => Self::Argb8888,
            (7, 2) => Self::Abgr8888,
            (5, 2) => Self::Rgb888,
            (5, 3) => Self::Bgr888,
            (4, 2) => Self::Rgb565,
            (4, 3) => Self::Bgr565,
            (3, 3) => Self::Argb1555,
            (3 | 4 | 5 | 7, _) => return Err(Unsupported::Order(format, order)),
            _ => return Err(Unsupported::Format(format)),
        })
    }

    const fn bytes(self) -> u32 {
        match self {
            Self::Argb8888 | Self::Abgr8888 => 4,
            Self::Rgb888 | Self::Bgr888 => 3,
            Self::Rgb565 | Self::Bgr565 | Self::Argb1555 => 2,
        }
    }

    /// 0xAARRGGBB of a pixel's bits; alpha is 255 if it has none.
    fn argb(self, bits: u32, widening: Widening) -> u32 {
        let swapped = |bits: u32| bits & 0xff00_ff00 | (bits & 0xff) << 16 | bits >> 16 & 0xff;
        let narrow = |lowest: u32, count: u32| widening.widen(bits >> lowest & ((1 << count) - 1), count);
        match self {
            Self::Argb8888 => bits,
            Self::Abgr8888 => swapped(bits),
            Self::Rgb888 => bits | 0xff00_0000,
            Self::Bgr888 => swapped(bits | 0xff00_0000),
            Self::Rgb565 => 0xff << 24 | narrow(11, 5) << 16 | narrow(5, 6) << 8 | narrow(0, 5),
            Self::Bgr565 => 0xff << 24 | narrow(0, 5) << 16 | narrow(5, 6) << 8 | narrow(11, 5),
            Self::Argb1555 => ((bits >> 15 & 1) * 0xff) << 24 | narrow(10, 5) << 16 | narrow(5, 5) << 8 | narrow(0, 5),
        }
    }
}

/// How a component of fewer than 8 bits gets its lowest bits. What exactly the hardware computes is not documented; read from the names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Widening {
    /// They are 0.
    Zero,
    /// They equal the component's lowest bit.
    LowestBit,
    /// They equal the component's highest bits.
    HighestBits,
    /// The component is scaled to 255, and rounded.
    Round,
}

impl Widening {
    const ALL: [Self; 4] = [Self::Zero, Self::LowestBit, Self::HighestBits, Self::Round];

    fn widen(self, value: u32, bits: u32) -> u32 {
        let (missing, most) = (8 - bits, (1 << bits) - 1);
        match self {
            Self::Zero => value << missing,
            Self::LowestBit => (value << missing) | ((value & 1) * ((1 << missing) - 1)),
            Self::HighestBits => value << missing | value >> (bits - missing),
            Self::Round => (value * 255 + most / 2) / most,
        }
    }
}

/// Where the alpha of a pixel comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AlphaSource {
    /// The pixel.
    Pixel,
    /// The plane.
    Plane,
    /// The plane where the pixel's is not 0.
    PlaneIfNotZero,
    /// The plane where the pixel's is greater than 7.
    PlaneIfOver7,
}

/// How a plane covers what is below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Blending {
    source: AlphaSource,
    /// Alpha of the plane.
    alpha: u32,
    /// The pixels' colours are multiplied by their alpha already.
    is_premultiplied: bool,
    /// The pixel's alpha is multiplied by the plane's.
    is_mixed: bool,
}

/// `a * b / 255`, rounded.
fn product(a: u32, b: u32) -> u32 {
    (a * b + 127) / 255
}

impl Blending {
    /// A pixel over another one, both 0xAARRGGBB.
    fn over(self, pixel: u32, below: u32) -> u32 {
        let own = pixel >> 24;
        let alpha = match self.source {
            AlphaSource::Pixel => own,
            AlphaSource::PlaneIfNotZero if own == 0 => 0,
            AlphaSource::PlaneIfOver7 if own <= 7 => 0,
            AlphaSource::Plane | AlphaSource::PlaneIfNotZero | AlphaSource::PlaneIfOver7 => self.alpha,
        };
        let factor = if self.is_mixed { self.alpha } else { 255 };
        let alpha = product(alpha, factor);
        // Colours that are multiplied by the pixel's alpha lack the plane's.
        let colour_factor = if self.is_premultiplied { factor } else { alpha };
        if (alpha, colour_factor) == (255, 255) {
            return pixel;
        }
        let component = |shift: u32| {
            let (own, below) = (pixel >> shift & 0xff, below >> shift & 0xff);
            (product(own, colour_factor) + product(below, 255 - alpha)).min(255) << shift
        };
        component(16) | component(8) | component(0)
    }
}

/// How an image's pixels lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// Rows, so many bytes apart.
    Raster(u32),
    /// Tiles.
    Tiles(TFormat),
}

/// An image in T-format, from the first row of a pair of rows of tiles on.
///
/// A pitch word has, for the first pixel: 31:26 its column in its tile, 22:16 the tiles to the left of that tile, 6:0 the tile and those to the right of it,
/// 13:8 its row in a pair of rows of tiles; 14 is set in an odd row of tiles, which runs from right to left. The pointer is the address of the pixel's row of
/// 16 bytes in the first micro-tile of the tile's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TFormat {
    /// Bus address of the pair's first tile.
    base: u32,
    /// Width of the whole image in pixels.
    width_px: u32,
    /// The first pixel.
    x: u32,
    y: u32,
}

impl TFormat {
    fn parse(pixels: Pixels, pointer: u32, pitch: u32) -> Option<Self> {
        let (tile_width, tile_height) = tiling::tile_px(8 * pixels.bytes())?;
        let (left, right) = (pitch >> 16 & 0x7f, pitch & 0x7f);
        let across = left + right;
        let y = pitch >> 8 & 0x3f;
        let (tile_row, sub_tile_row, micro_tile_row, row) = (y / tile_height, y >> 4 & 1, y >> 2 & 3, y & 3);
        let tile = if tile_row == 1 {
            // From right to left, and sub-tiles from the opposite corner: the lower left one is the third, the upper left one the fourth.
            (2 * across).checked_sub(left + 1)? * tiling::TILE_BYTES + (2 + sub_tile_row) * tiling::SUB_TILE_BYTES
        } else {
            left * tiling::TILE_BYTES + sub_tile_row * tiling::SUB_TILE_BYTES
        };
        // A row of four micro-tiles, and a row of a micro-tile.
        let within = micro_tile_row * 4 * tiling::MICRO_TILE_BYTES + row * 16;
        Some(Self {
            base: pointer.wrapping_sub(tile + within),
            width_px: across * tile_width,
            x: left * tile_width + (pitch >> 26),
            y,
        })
    }
}

/// Where a pixel of a scaled plane lies in its image: between which two pixels, and how near to the second, in 1/256.
fn between(pixel: u32, scaled: u32, size: u32) -> (u32, u32, u32) {
    // The middle of the pixel, as 16.16, relative to the middle of the image's first one.
    let place = ((u64::from(2 * pixel + 1) * u64::from(size)) << 15) / u64::from(scaled.max(1));
    let last = size.saturating_sub(1);
    let place = place.saturating_sub(1 << 15).min(u64::from(last) << 16) as u32;
    (place >> 16, ((place >> 16) + 1).min(last), place >> 8 & 0xff)
}

/// A value of all components between two others.
fn mixed(a: u32, b: u32, part: u32) -> u32 {
    let component = |shift: u32| {
        let (a, b) = (a >> shift & 0xff, b >> shift & 0xff);
        (a * (256 - part) + b * part + 128) >> 8 << shift
    };
    component(24) | component(16) | component(8) | component(0)
}

/// A plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plane {
    /// The place of its first pixel in the picture, and its size in pixels there.
    pub(super) x: u32,
    pub(super) y: u32,
    pub(super) width: u32,
    pub(super) height: u32,
    /// The size of its image.
    image_width: u32,
    image_height: u32,
    pixels: Pixels,
    widening: Widening,
    blending: Blending,
    /// Bus address of the first pixel.
    pointer: u32,
    layout: Layout,
    /// Rows run from right to left; from the bottom up.
    is_mirrored: bool,
    is_upside_down: bool,
}

impl Plane {
    fn parse(words: &[u32]) -> Result<Self, Unsupported> {
        let short = Unsupported::Short(words.len() as u32);
        let &[control, position, ref sizes @ ..] = words else { return Err(short) };
        let is_scaled = control >> 4 & 1 == 0;
        let &[size, _, pointer, _, pitch, ..] = &sizes[usize::from(is_scaled).min(sizes.len())..] else {
            return Err(short);
        };
        let scaled = if is_scaled { sizes[0] } else { size };
        let (format, tiling) = (control & 0xf, control >> 20 & 3);
        let pixels = Pixels::parse(format, control >> 13 & 3)?;
        if control >> 17 & 3 != 0 {
            return Err(Unsupported::ColourKey);
        }
        let (is_mirrored, is_upside_down) = (control >> 16 & 1 == 1, control >> 15 & 1 == 1);
        let layout = match tiling {
            RASTER => Layout::Raster(pitch & 0xffff),
            T_FORMAT if is_mirrored || is_upside_down => return Err(Unsupported::MirroredTiles),
            T_FORMAT if let Some(tiles) = TFormat::parse(pixels, pointer, pitch) => Layout::Tiles(tiles),
            _ => return Err(Unsupported::Tiling(format, tiling)),
        };
        let source = match size >> 30 {
            0 => AlphaSource::Pixel,
            1 => AlphaSource::Plane,
            2 => AlphaSource::PlaneIfNotZero,
            _ => AlphaSource::PlaneIfOver7,
        };
        Ok(Self {
            x: position & 0xfff,
            y: position >> 12 & 0xfff,
            width: scaled & 0xfff,
            height: scaled >> 16 & 0xfff,
            image_width: size & 0xfff,
            image_height: size >> 16 & 0xfff,
            pixels,
            widening: Widening::ALL[(control >> 11 & 3) as usize],
            blending: Blending {
                source,
                alpha: position >> 24,
                is_premultiplied: size >> 29 & 1 == 1,
                is_mixed: size >> 28 & 1 == 1,
            },
            pointer,
            layout,
            is_mirrored,
            is_upside_down,
        })
    }

    /// Whether its image has another size than the plane.
    pub(super) const fn is_scaled(&self) -> bool {
        self.image_width != self.width || self.image_height != self.height
    }

    /// Puts a row of the plane over a row of the picture, from the plane's column on. `row` is counted from the plane's first; `target` may be shorter than
    /// the plane is wide.
    pub(super) fn put_row(&self, memory: Memory<'_>, row: u32, target: &mut [u32]) -> Result<(), OutOfMemory> {
        let width = (self.width as usize).min(target.len());
        let target = &mut target[..width];
        let pixels = if self.is_scaled() { self.scaled_row(memory, row)? } else { self.image_row(memory, row)? };
        let put = |(target, pixel): (&mut u32, u32)| *target = self.blending.over(pixel, *target) & 0xff_ffff;
        if self.is_mirrored {
            target.iter_mut().zip(pixels.into_iter().rev()).for_each(put);
        } else {
            target.iter_mut().zip(pixels).for_each(put);
        }
        Ok(())
    }

    /// A row of a scaled plane, from the two rows of the image next to it.
    fn scaled_row(&self, memory: Memory<'_>, row: u32) -> Result<Vec<u32>, OutOfMemory> {
        let (above, below, down) = between(row, self.height, self.image_height);
        let (above, below) = (self.image_row(memory, above)?, self.image_row(memory, below)?);
        let column = |x: u32| mixed(above[x as usize], below[x as usize], down);
        let pixel = |x| {
            let (left, right, part) = between(x, self.width, self.image_width);
            mixed(column(left), column(right), part)
        };
        Ok(if self.image_width == 0 { Vec::new() } else { (0..self.width).map(pixel).collect() })
    }

    /// A row of the image, as 0xAARRGGBB.
    fn image_row(&self, memory: Memory<'_>, row: u32) -> Result<Vec<u32>, OutOfMemory> {
        let bytes = self.pixels.bytes();
        let mut line = vec![0; self.image_width as usize * bytes as usize];
        match self.layout {
            Layout::Raster(pitch) => {
                let offset = pitch.wrapping_mul(row);
                let offset = if self.is_upside_down { offset.wrapping_neg() } else { offset };
                memory.read(BusAddr(self.pointer.wrapping_add(offset)), &mut line)?;
            }
            Layout::Tiles(tiles) => self.read_tiles(memory, tiles, row, &mut line)?,
        }
        let pixels = line.chunks_exact(bytes as usize).map(|bytes| {
            let bits = bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u32::from(byte));
            self.pixels.argb(bits, self.widening)
        });
        Ok(pixels.collect())
    }

    /// Reads a row, one row of a micro-tile after the other.
    fn read_tiles(&self, memory: Memory<'_>, tiles: TFormat, row: u32, line: &mut [u8]) -> Result<(), OutOfMemory> {
        let bytes = self.pixels.bytes();
        let micro_tile = 16 / bytes;
        let (mut x, mut rest) = (tiles.x, line);
        while !rest.is_empty() {
            let count = (micro_tile - x % micro_tile).min(rest.len() as u32 / bytes);
            let (part, after) = rest.split_at_mut((count * bytes) as usize);
            let bits = tiling::pixel_offset_bits(tiling::Tiling::TFormat, tiles.width_px, 8 * bytes, x, tiles.y + row);
            let offset = bits.unwrap_or(0) / 8;
            memory.read(BusAddr(tiles.base.wrapping_add(offset as u32)), part)?;
            (x, rest) = (x + count, after);
        }
        Ok(())
    }
}

/// The entries of the list that begins with a word of the lists' memory.
pub(super) fn entries(lists: &[u32], first: u32) -> impl Iterator<Item = Entry> + '_ {
    let mut next = Some(first as usize);
    std::iter::from_fn(move || {
        let at = next.take()?;
        let Some(&control) = lists.get(at) else { return Some(Entry::Endless) };
        // A word that is neither is of memory that nobody has filled yet.
        if control & END != 0 || control & VALID == 0 {
            return None;
        }
        let words = (control >> 24 & 0x3f) as usize;
        let Some(entry) = lists.get(at..at + words).filter(|_| words != 0) else { return Some(Entry::Endless) };
        next = Some(at + words);
        Some(Plane::parse(entry).map_or_else(Entry::NotShown, Entry::Plane))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use v3d_sim::memory::OwnedMemory;

    /// Words that Linux 6.1 writes for 1280x720 XRGB8888, pitch 5120, at 0xdc000000 (`hvs_dlists` of debugfs).
    const PLANE: [u32; 7] = [0x4700_7817, 0xff00_0000, 0x42d0_0500, 0xc0c0_c0c0, 0xdc00_0000, 0xc0c0_c0c0, 0x1400];

    fn parse(change: impl FnOnce(&mut [u32; 7])) -> Result<Plane, Unsupported> {
        let mut words = PLANE;
        change(&mut words);
        Plane::parse(&words)
    }

    fn row(memory: &OwnedMemory, plane: Plane, row: u32, below: u32) -> Vec<u32> {
        let mut target = vec![below; plane.width as usize];
        plane.put_row(memory.view(), row, &mut target).unwrap();
        target
    }

    #[test]
    fn a_plane_has_the_place_and_size_of_its_words() {
        let plane = parse(|words| words[1] = 0xff01_4028).unwrap();
        assert_eq!((plane.x, plane.y, plane.width, plane.height), (40, 20, 1280, 720));
        assert_eq!((plane.pixels, plane.layout), (Pixels::Argb8888, Layout::Raster(5120)));
        assert_eq!(plane.blending.source, AlphaSource::Plane);
    }

    #[test]
    fn a_list_ends_with_its_end_word() {
        let mut lists = vec![0; 64];
        lists[10..17].copy_from_slice(&PLANE);
        lists[17..24].copy_from_slice(&PLANE);
        lists[24] = 0x8000_0000;
        let count = |lists: &[u32], first| entries(lists, first).filter(|it| matches!(it, Entry::Plane(_))).count();
        assert_eq!((count(&lists, 10), count(&lists, 17), count(&lists, 24), count(&lists, 0)), (2, 1, 0, 0));
        // Beyond the end of memory, and an entry without words.
        lists[24] = 0x4700_7817;
        lists[31] = 0x7f00_0000;
        assert_eq!(entries(&lists, 24).last(), Some(Entry::Endless));
        lists[31] = 0x4000_0000;
        assert_eq!(entries(&lists, 24).last(), Some(Entry::Endless));
        assert_eq!(entries(&lists, 4096).last(), Some(Entry::Endless));
    }

    #[test]
    fn what_is_not_shown_has_a_name() {
        for (change, sentence) in [
            (0x4a00_1819, "a plane of pixel format 9, YUV420 in two planes"),
            (0x4700_1817, "a plane of RGBA8888 with components in order 0"),
            (0x4710_7817, "a plane of RGBA8888 with tiling 1"),
            (0x4730_f817, "a plane in T-format that is mirrored"),
            (0x4704_7817, "a plane with a colour key"),
        ] {
            let error = parse(|words| words[0] = change).unwrap_err();
            assert_eq!(error.to_string(), sentence);
        }
        assert_eq!(Plane::parse(&PLANE[..6]), Err(Unsupported::Short(6)));
    }

    /// By the definitions of DRM's formats, little-endian: XRGB8888, XBGR8888, RGB565, BGR565, ARGB1555, RGB888, BGR888.
    #[test]
    fn formats_are_those_of_linux() {
        let memory = OwnedMemory::new(64);
        let bytes = [0x12, 0x34, 0x56, 0x78];
        memory.view().write(BusAddr(0), &bytes).unwrap();
        // 0x3412 is 00110 100000 10010 in 565, and 0 01101 00000 10010 in 1555.
        for (control, size, pixel) in [
            (0x4700_7817, 0x4001_0001, 0x56_3412),
            (0x4700_5817, 0x4001_0001, 0x12_3456),
            (0x4700_5814, 0x4001_0001, 0x31_8294),
            (0x4700_7814, 0x4001_0001, 0x94_8231),
            (0x4700_7813, 0x4001_0001, 0x6b_0094),
            (0x4700_5815, 0x4001_0001, 0x56_3412),
            (0x4700_7815, 0x4001_0001, 0x12_3456),
        ] {
            let plane = parse(|words| [words[0], words[2], words[4]] = [control, size, 0]).unwrap();
            assert_eq!(row(&memory, plane, 0, 0), [pixel], "{control:#x}");
        }
        // Alpha of ARGB1555 is 0 here.
        let plane = parse(|words| [words[0], words[2], words[4]] = [0x4700_7813, 0x0001_0001, 0]).unwrap();
        assert_eq!(row(&memory, plane, 0, 0x11_2233), [0x11_2233]);
    }

    #[test]
    fn narrow_components_are_widened() {
        let widen = |value, bits| Widening::ALL.map(|widening| widening.widen(value, bits));
        assert_eq!(widen(31, 5), [0xf8, 0xff, 0xff, 0xff]);
        assert_eq!(widen(3, 5), [24, 31, 24, 25]);
        assert_eq!(widen(0, 6), [0; 4]);
        assert_eq!(widen(32, 6), [128, 128, 130, 130]);
    }

    /// Half of white over blue, in all modes: values by hand.
    #[test]
    fn alpha_is_of_the_pixel_or_of_the_plane() {
        let memory = OwnedMemory::new(64);
        memory.view().set_word(BusAddr(0), 0x80ff_ffff).unwrap();
        memory.view().set_word(BusAddr(4), 0x8080_8080).unwrap();
        for (alpha, size, address, expected) in [
            // Of the plane, then of the pixel: not multiplied, and multiplied already.
            (0xff, 0x4001_0001, 0, 0xff_ffff),
            (0x00, 0x4001_0001, 0, 0x00_00ff),
            (0x80, 0x4001_0001, 0, 0x80_80ff),
            (0xff, 0x0001_0001, 0, 0x80_80ff),
            (0xff, 0x2001_0001, 4, 0x80_80ff),
            // Both: a quarter.
            (0x80, 0x1001_0001, 0, 0x40_40ff),
            (0x80, 0x3001_0001, 4, 0x40_40ff),
            // Of the plane where the pixel's is not 0, or greater than 7.
            (0xff, 0x8001_0001, 0, 0xff_ffff),
            (0xff, 0xc001_0001, 0, 0xff_ffff),
        ] {
            let plane = parse(|words| [words[1], words[2], words[4]] = [alpha << 24, size, address]).unwrap();
            assert_eq!(row(&memory, plane, 0, 0xff), [expected], "{alpha:#x} {size:#x}");
        }
        memory.view().set_word(BusAddr(0), 0x07ff_ffff).unwrap();
        let plane = |size| parse(|words| [words[2], words[4]] = [size, 0]).unwrap();
        assert_eq!(row(&memory, plane(0x8001_0001), 0, 0xff), [0xff_ffff]);
        assert_eq!(row(&memory, plane(0xc001_0001), 0, 0xff), [0xff]);
    }

    /// 3 x 2 pixels, each its own number.
    #[test]
    fn a_plane_can_be_mirrored() {
        let memory = OwnedMemory::new(64);
        (0..6).for_each(|pixel| memory.view().set_word(BusAddr(4 * pixel), pixel).unwrap());
        let rows = |control, address| {
            let words = |words: &mut [u32; 7]| {
                [words[0], words[2], words[4], words[6]] = [control, 0x4002_0003, address, 12];
            };
            let plane = parse(words).unwrap();
            [row(&memory, plane, 0, 0), row(&memory, plane, 1, 0)].concat()
        };
        assert_eq!(rows(0x4700_7817, 0), [0, 1, 2, 3, 4, 5]);
        assert_eq!(rows(0x4701_7817, 0), [2, 1, 0, 5, 4, 3]);
        // From the last row on.
        assert_eq!(rows(0x4700_f817, 12), [3, 4, 5, 0, 1, 2]);
    }

    /// Pointer and pitch word as `vc4_plane_mode_set` computes them for the first pixel at (x, y): worked out by hand for an image of 3 tiles a row.
    #[test]
    fn a_plane_in_t_format_begins_anywhere() {
        const WIDTH: u32 = 96;
        let memory = OwnedMemory::new(3 * 3 * 4096);
        for (x, y) in (0..96).flat_map(|x| (0..WIDTH).map(move |y| (x, y))) {
            let offset = tiling::pixel_offset_bits(tiling::Tiling::TFormat, WIDTH, 32, x, y).unwrap() / 8;
            memory.view().set_word(BusAddr(offset as u32), y << 8 | x).unwrap();
        }
        for ((x, y), pointer, pitch) in [
            ((0, 0), 0, 3),
            // Column 9 of the second tile.
            ((41, 0), 0x1000, 9 << 26 | 1 << 16 | 2),
            // Row 22: second row of sub-tiles, second row of micro-tiles, third row.
            ((0, 22), 0x400 + 0x100 + 0x20, 22 << 8 | 3),
            // Row 32, tile 0: the last of three in memory, third sub-tile.
            ((0, 32), 0x3000 + 0x2800, 1 << 14 | 32 << 8 | 3),
            // Row 49, tile 2: the first of three, fourth sub-tile, second row.
            ((70, 49), 0x3000 + 0xc00 + 0x10, 6 << 26 | 2 << 16 | 1 << 14 | 49 << 8 | 1),
            // The third row of tiles begins a new pair.
            ((33, 65), 0x6000 + 0x1000 + 0x10, 1 << 26 | 1 << 16 | 1 << 8 | 2),
        ] {
            let words = |words: &mut [u32; 7]| {
                [words[0], words[2], words[4], words[6]] = [0x4730_7817, 0x401e_0018, pointer, pitch];
            };
            let plane = parse(words).unwrap();
            for down in [0, 1, 13, 29] {
                let expected: Vec<u32> = (0..24).map(|right| (y + down) << 8 | (x + right)).collect();
                assert_eq!(row(&memory, plane, down, 0), expected, "{x}, {y}, row {down}");
            }
        }
    }

    /// Words as Linux writes them for a plane that is scaled in both directions by the polyphase filter: 14 of them, position 1 third.
    #[test]
    fn a_scaled_plane_is_interpolated() {
        let memory = OwnedMemory::new(64);
        [0, 0xff_ffff, 0xff_0000, 0xff_00ff].iter().zip(0..).for_each(|(&pixel, index)| {
            memory.view().set_word(BusAddr(4 * index), pixel).unwrap();
        });
        let plane = |scaled, size, pitch| {
            let head = [0x4e00_7807, 0xff00_0000, scaled, size, 0xc0c0_c0c0, 0, 0xc0c0_c0c0, pitch];
            Plane::parse(&[&head[..], &[0; 6]].concat()).unwrap()
        };
        // A row of two pixels, four wide: a quarter of the way from the middle of one to that of the other.
        let wide = plane(0x0001_0004, 0x4001_0002, 8);
        assert_eq!((wide.width, wide.height, wide.is_scaled()), (4, 1, true));
        assert_eq!(row(&memory, wide, 0, 0), [0, 0x40_4040, 0xbf_bfbf, 0xff_ffff]);
        // Two rows, three high: the one in the middle is half of both.
        let high = plane(0x0003_0002, 0x4002_0002, 8);
        let rows: Vec<_> = (0..3).flat_map(|down| row(&memory, high, down, 0)).collect();
        assert_eq!(rows, [0, 0xff_ffff, 0x80_0000, 0xff_80ff, 0xff_0000, 0xff_00ff]);
        // Four pixels, two wide.
        assert_eq!(row(&memory, plane(0x0001_0002, 0x4001_0004, 16), 0, 0), [0x80_8080, 0xff_0080]);
        // Of nothing, and to nothing.
        assert_eq!(row(&memory, plane(0x0001_0002, 0x4000_0000, 16), 0, 7), [7, 7]);
        assert_eq!(row(&memory, plane(0, 0x4001_0004, 16), 0, 7), [0; 0]);
        assert_eq!(Plane::parse(&[0x4300_7807, 0, 0]), Err(Unsupported::Short(3)));
        assert_eq!(Plane::parse(&[0x4700_7807, 0, 0, 0, 0, 0, 0]), Err(Unsupported::Short(7)));
    }

    #[test]
    fn a_row_beyond_memory_is_an_error() {
        let memory = OwnedMemory::new(64);
        let plane = parse(|words| [words[2], words[4]] = [0x4001_0010, 4]).unwrap();
        assert!(plane.put_row(memory.view(), 0, &mut [0; 16]).is_err());
        let plane = parse(|words| [words[2], words[4]] = [0x4001_0010, 0]).unwrap();
        assert!(plane.put_row(memory.view(), 0, &mut [0; 8]).is_ok(), "the picture ends before");
        assert!(plane.put_row(memory.view(), 1, &mut [0; 8]).is_err());
    }
}
