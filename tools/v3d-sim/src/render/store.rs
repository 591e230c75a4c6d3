//! Stores of a tile: records 24, 25, 26 and 28 [AG p.46, p.66-67].
//!
//! A store writes one buffer of the tile to memory and then clears what it is not told to keep. Nothing else ever clears the tile buffer.
//!
//! Stores are first collected as runs of bytes, because tiles are rendered concurrently: memory changes in the order of the list.
//!
//! # Full resolution
//! Records 26 and 27 and "full dump" move all samples in an internal format that the guide does not give: 16 KiB of colour and as much of Z and
//! stencil [linux vc4_render_cl.c: "VC4_TILE_BUFFER_SIZE"], each in the [order](super::tlb::Shape::dump_order) in which shaders of Mesa's read them.
//! Colour comes first, then Z and stencil, then the alpha mask (full dump only): a guess, because drivers dump one at a time.
//!
//! # Inferences
//! - Z and stencil of a multisampled tile are stored as its first sample, the alpha mask likewise.
//! - "Z-only" has zeros in place of the stencil.
//! - Decimation without multisampling (records 24, 25, 28 with 4x) averages 2x2 pixels, and the frame's size is that of the result.

pub use crate::fault::rendering::MoveError;

use super::pixel::{self, To565};
use super::pse::PixelRect;
use super::surface::{Run, Surface, tiling_of};
use super::tlb::{SAMPLES, Shape, Tlb};
use crate::memory::{Memory, OutOfMemory};
use crate::qpu::lanes::Lanes;
use crate::threads::lock;
use std::sync::Mutex;
use v3d_hw::BusAddr;
use v3d_hw::control_list::{
    DecimateMode, FrameBufferFormat, PixelFormat, StoreFullResolution, StoreGeneral, StoreMode, TileBufferSelect,
    TileRenderingMode,
};
use v3d_hw::tiling::Tiling;

/// A store record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Store {
    /// 24 and 25.
    Resolved {
        /// The frame ends with it.
        end_of_frame: bool,
    },
    /// 26.
    FullResolution(StoreFullResolution),
    /// 28.
    General(StoreGeneral),
}

/// The buffers that a store clears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clears {
    /// Colour.
    pub color: bool,
    /// Z and stencil.
    pub zs: bool,
    /// Alpha mask.
    pub vg_mask: bool,
}

impl Store {
    /// The buffers that it clears.
    pub fn clears(&self) -> Clears {
        match self {
            Self::Resolved { .. } => Clears { color: true, zs: true, vg_mask: true },
            Self::FullResolution(store) => {
                let clear = !store.disable_clear;
                Clears { color: clear, zs: clear, vg_mask: clear }
            }
            Self::General(store) => Clears {
                color: !store.disable_color_clear,
                zs: !store.disable_zs_clear,
                vg_mask: !store.disable_vg_mask_clear,
            },
        }
    }

    /// Whether it stores nothing, so that it only clears.
    pub fn is_none(&self) -> bool {
        matches!(self, Self::General(store) if store.buffer == TileBufferSelect::None)
    }

    /// Whether it ends the frame.
    pub fn ends_frame(&self) -> bool {
        match self {
            Self::Resolved { end_of_frame } => *end_of_frame,
            Self::FullResolution(store) => store.last_tile,
            Self::General(store) => store.last_tile,
        }
    }

    /// Whether each sample is moved, not only a value for each pixel.
    pub fn moves_samples(&self) -> bool {
        match self {
            Self::Resolved { .. } => false,
            Self::FullResolution(_) => true,
            Self::General(store) => store.buffer == TileBufferSelect::Full,
        }
    }

    /// Whether the two buffers of double-buffer mode keep their roles.
    pub fn keeps_buffer(&self) -> bool {
        matches!(self, Self::General(store) if store.disable_swap)
    }

    /// Whether it dithers colours to 565. 64-bit colours are stored as they are.
    pub fn dithers(&self, mode: &TileRenderingMode) -> bool {
        let dithers = match self {
            Self::Resolved { .. } => mode.color_format == FrameBufferFormat::Bgr565Dithered,
            Self::General(store) => {
                store.buffer == TileBufferSelect::Color && store.pixel_format == PixelFormat::Bgr565Dithered
            }
            Self::FullResolution(_) => false,
        };
        dithers && !mode.color_64_bit
    }

    /// The image that it writes, if it writes one.
    pub fn surface(&self, mode: &TileRenderingMode) -> Option<Surface> {
        let (address, format, bits) = match self {
            Self::Resolved { .. } => {
                let bits = match mode.color_format {
                    _ if mode.color_64_bit => 64,
                    FrameBufferFormat::Rgba8888 => 32,
                    _ => 16,
                };
                (mode.address, mode.memory_format, bits)
            }
            Self::General(store) => {
                (store.address.0, store.format, buffer_bits(store.buffer, store.pixel_format, mode.color_64_bit)?)
            }
            Self::FullResolution(_) => return None,
        };
        let (width, height) = (u32::from(mode.width), u32::from(mode.height));
        Some(Surface { address, tiling: tiling_of(format)?, width, height, bits })
    }

    /// First byte and byte after the last that it may write, as offsets in memory.
    pub fn extent(&self, mode: &TileRenderingMode) -> (u64, u64) {
        let dump = |address: BusAddr| {
            let start = u64::from(address.offset());
            (start, start + FULL_DUMP_BYTES)
        };
        match self {
            Self::FullResolution(store) => dump(store.address.0),
            Self::General(store) if store.buffer == TileBufferSelect::Full => dump(store.address.0),
            _ => self.surface(mode).map_or((0, 0), |surface| surface.extent()),
        }
    }
}

/// Bytes of colour, or of Z and stencil, in a full-resolution dump.
pub const FULL_BUFFER_BYTES: u32 = 4 * SAMPLES as u32;

/// Bytes of a row of a micro-tile of four rows: all but those of 64-bit pixels have four.
const MICRO_TILE_ROW_BYTES: usize = 16;

/// Maximum size of a full dump.
pub const FULL_DUMP_BYTES: u64 = 2 * FULL_BUFFER_BYTES as u64 + SAMPLES as u64;

/// Bits of a pixel of a buffer in memory; `None` for what is no image.
pub fn buffer_bits(buffer: TileBufferSelect, format: PixelFormat, color_64_bit: bool) -> Option<u32> {
    match (buffer, format) {
        (TileBufferSelect::Color, _) if color_64_bit => Some(64),
        (TileBufferSelect::Color, PixelFormat::Rgba8888) => Some(32),
        (TileBufferSelect::Color, PixelFormat::Bgr565 | PixelFormat::Bgr565Dithered) => Some(16),
        (TileBufferSelect::ZStencil | TileBufferSelect::ZOnly, _) => Some(32),
        (TileBufferSelect::VgMask, _) => Some(8),
        _ => None,
    }
}

/// Conversion of samples to a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resolve {
    Sample0,
    Average4,
    Average16,
}

/// Conversion of a colour for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ColorCoding {
    Rgba8888,
    Bgr565(To565),
    Rgba16161616,
}

/// The averages of the four samples of each pixel, in the order of the pixels, replace `averages`.
fn averages_of_pixels(colors: &[u32; SAMPLES], shape: Shape, averages: &mut Vec<u32>) {
    let (first, second) = colors.split_at(2 * shape.pixels());
    let ((a, b), (c, d)) = (first.split_at(shape.pixels()), second.split_at(shape.pixels()));
    let samples = a.iter().zip(b).zip(c).zip(d);
    averages.clear();
    averages.extend(samples.map(|(((&a, &b), &c), &d)| pixel::average::<2>([a, b, c, d])));
}

/// Room for the pixels of a tile that is being stored.
#[derive(Clone, Debug, Default)]
pub struct Room {
    averages: Vec<u32>,
    rows: Vec<u32>,
}

/// Collected bytes of stores.
#[derive(Clone, Debug, Default)]
pub struct Stored {
    bytes: Vec<u8>,
    runs: Vec<(BusAddr, usize)>,
}

/// Collected bytes that have been written to memory, and whose buffers wait for the next stores: those of a frame have megabytes, which the host's allocator
/// would return to the system after each frame.
#[derive(Debug, Default)]
pub struct SpareBuffers(Mutex<Vec<Stored>>);

impl SpareBuffers {
    /// An empty collection.
    pub fn take(&self) -> Stored {
        lock(&self.0).pop().unwrap_or_default()
    }

    /// Keeps the buffers of a collection.
    pub fn give_back(&self, mut stored: Stored) {
        stored.clear();
        lock(&self.0).push(stored);
    }
}

impl Stored {
    fn run(&mut self, address: BusAddr, bytes: usize) {
        match self.runs.last_mut() {
            Some((last, length)) if *last + *length as u32 == address => *length += bytes,
            _ => self.runs.push((address, bytes)),
        }
    }

    /// Number of collected bytes.
    pub const fn byte_count(&self) -> usize {
        self.bytes.len()
    }

    /// Drops all bytes.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.runs.clear();
    }

    /// Writes the bytes to memory; runs outside of it are left out, and the first of them is reported.
    pub fn apply(&self, memory: Memory<'_>) -> Result<(), OutOfMemory> {
        let (mut rest, mut result) = (&self.bytes[..], Ok(()));
        for &(address, length) in &self.runs {
            let Some((run, after)) = rest.split_at_checked(length) else { break };
            result = result.and(memory.write(address, run));
            rest = after;
        }
        result
    }

    /// Collects the bytes of a store of the tile at column and row; the tile buffer does not change. What is left in `room` is of no use.
    pub fn collect(
        &mut self,
        store: &Store,
        mode: &TileRenderingMode,
        tile: (u8, u8),
        tlb: &Tlb,
        room: &mut Room,
    ) -> Result<(), MoveError> {
        match store {
            Store::Resolved { .. } => {
                let resolve = match mode.decimate {
                    // With multisampling too, which is an open question: see the type.
                    DecimateMode::X1 => Resolve::Sample0,
                    DecimateMode::X4 => Resolve::Average4,
                    DecimateMode::X16 => Resolve::Average16,
                    DecimateMode::Reserved(_) => return Err(MoveError::Reserved("decimate mode")),
                };
                let coding = match mode.color_format {
                    FrameBufferFormat::Rgba8888 => ColorCoding::Rgba8888,
                    FrameBufferFormat::Bgr565 => ColorCoding::Bgr565(To565::Truncated),
                    FrameBufferFormat::Bgr565Dithered => ColorCoding::Bgr565(To565::Dithered),
                    FrameBufferFormat::Reserved(_) => return Err(MoveError::Reserved("frame buffer colour format")),
                };
                let surface = store.surface(mode).ok_or(MoveError::Reserved("memory format"))?;
                self.color(surface, coding, resolve, tile, tlb, room)
            }
            Store::FullResolution(full) => {
                self.dump(full.address.0, [!full.disable_color, !full.disable_zs, false], tlb);
                Ok(())
            }
            Store::General(general) => self.general(general, mode, tile, tlb, room),
        }
    }

    fn general(
        &mut self,
        store: &StoreGeneral,
        mode: &TileRenderingMode,
        tile: (u8, u8),
        tlb: &Tlb,
        room: &mut Room,
    ) -> Result<(), MoveError> {
        let surface = || Store::General(*store).surface(mode).ok_or(MoveError::Reserved("format"));
        match store.buffer {
            TileBufferSelect::None => {}
            TileBufferSelect::Color => {
                let resolve = match store.mode {
                    StoreMode::Sample0 => Resolve::Sample0,
                    StoreMode::Decimate4 => Resolve::Average4,
                    StoreMode::Decimate16 => Resolve::Average16,
                    StoreMode::Reserved(_) => return Err(MoveError::Reserved("store mode")),
                };
                let coding = match store.pixel_format {
                    PixelFormat::Rgba8888 => ColorCoding::Rgba8888,
                    PixelFormat::Bgr565 => ColorCoding::Bgr565(To565::Truncated),
                    PixelFormat::Bgr565Dithered => ColorCoding::Bgr565(To565::Dithered),
                    PixelFormat::Reserved(_) => return Err(MoveError::Reserved("pixel format")),
                };
                self.color(surface()?, coding, resolve, tile, tlb, room)?;
            }
            TileBufferSelect::ZStencil => self.zs(surface()?, !0, tile, tlb),
            TileBufferSelect::ZOnly => self.zs(surface()?, !0xff, tile, tlb),
            TileBufferSelect::VgMask if !mode.vg_mask => return Err(MoveError::NoMask),
            TileBufferSelect::VgMask => self.vg_mask(surface()?, tile, tlb),
            TileBufferSelect::Full => {
                let parts =
                    [!store.disable_color_dump, !store.disable_zs_dump, !store.disable_vg_mask_dump && mode.vg_mask];
                self.dump(store.address.0, parts, tlb);
            }
            TileBufferSelect::Reserved(_) => return Err(MoveError::Reserved("buffer to store")),
        }
        Ok(())
    }

    fn color(
        &mut self,
        surface: Surface,
        coding: ColorCoding,
        resolve: Resolve,
        tile: (u8, u8),
        tlb: &Tlb,
        room: &mut Room,
    ) -> Result<(), MoveError> {
        let shape = tlb.shape();
        // HDR colour is stored as it is; decimation and format "apply to non-HDR color store only" [AG p.67]
        let (coding, resolve) =
            if shape.color_64_bit { (ColorCoding::Rgba16161616, Resolve::Sample0) } else { (coding, resolve) };
        let halved = match resolve {
            Resolve::Average4 => !shape.multisample,
            Resolve::Average16 if !shape.multisample => return Err(MoveError::Decimate16),
            Resolve::Average16 => true,
            Resolve::Sample0 => false,
        };
        let size @ (width, height) =
            if halved { (shape.width_px / 2, shape.height_px / 2) } else { (shape.width_px, shape.height_px) };
        let rect = tile_rect(tile, size);
        self.bytes.reserve((width * height * surface.bits / 8) as usize);
        if coding == ColorCoding::Rgba16161616 {
            self.image(surface, rect, |x, y| {
                let pixel = shape.pixel(x, y);
                let word = |word| u64::from(tlb.color[tlb.color_index(pixel, 0, word)]);
                (word(0) | word(1) << 32).to_le_bytes()
            });
            return Ok(());
        }
        let Room { averages, rows } = room;
        let (colors, resolve) = if resolve == Resolve::Average4 && shape.multisample {
            averages_of_pixels(&tlb.color, shape, averages);
            (&averages[..], Resolve::Sample0)
        } else {
            (&tlb.color[..], resolve)
        };
        let in_blocks = coding == ColorCoding::Rgba8888 && resolve == Resolve::Sample0;
        if in_blocks && surface.tiling != Tiling::Raster {
            self.blocks(surface, rect, colors, !0, shape);
            return Ok(());
        }
        let samples = |pixel: usize| (0..4).map(move |sample| tlb.color[tlb.color_index(pixel, sample, 0)]);
        // All of them are set.
        rows.resize((width * height) as usize, 0);
        if resolve == Resolve::Sample0 {
            shape.to_rows(colors, rows);
        } else {
            for (row, y) in rows.chunks_exact_mut(width as usize).zip(0..) {
                for (color, x) in row.iter_mut().zip(0..) {
                    let quad = || shape.pixel(2 * x, 2 * y);
                    *color = match resolve {
                        Resolve::Average4 => pixel::average::<2>(tlb.color[quad()..][..4].iter().copied()),
                        _ => pixel::average::<4>((0..4).flat_map(|element| samples(quad() + element))),
                    };
                }
            }
        }
        match coding {
            ColorCoding::Bgr565(method) => {
                let mut halves = Vec::with_capacity(rows.len());
                for (row, y) in rows.chunks_exact(width as usize).zip(rect.y0 as u32..) {
                    let colors = row.iter().zip(rect.x0 as u32..);
                    halves.extend(colors.map(|(&color, x)| pixel::to_565(color, method, x, y).to_le()));
                }
                self.pixels(surface, rect, &halves);
            }
            _ => self.words(surface, rect, rows),
        }
        Ok(())
    }

    /// Stores the pixels of a tile, given in rows, as words.
    fn words(&mut self, surface: Surface, rect: PixelRect, rows: &mut [u32]) {
        // Converts from the host's byte order to that of memory, which on most hosts is the same.
        rows.iter_mut().for_each(|word| *word = word.to_le());
        self.pixels(surface, rect, rows);
    }

    /// Stores the pixels of a tile, given in rows, in memory's byte order.
    fn pixels<P: bytemuck::Pod>(&mut self, surface: Surface, rect: PixelRect, rows: &[P]) {
        let width = (rect.x1 - rect.x0) as usize;
        surface.runs(rect, |run| {
            let pixels = run.pixels as usize;
            self.run(run.address, run.rows as usize * pixels * size_of::<P>());
            let first = (run.y - rect.y0 as u32) as usize * width + (run.x - rect.x0 as u32) as usize;
            if (pixels * size_of::<P>(), run.rows) == (MICRO_TILE_ROW_BYTES, 4)
                && let Some(from) = rows.get(first..first + 3 * width + pixels)
            {
                // A micro-tile, whose rows are too short for a call each.
                let mut micro_tile = [[0u8; MICRO_TILE_ROW_BYTES]; 4];
                for (to, from) in micro_tile.iter_mut().zip(from.chunks(width)) {
                    to.copy_from_slice(&bytemuck::cast_slice(from)[..MICRO_TILE_ROW_BYTES]);
                }
                self.bytes.extend_from_slice(micro_tile.as_flattened());
                return;
            }
            for row in rows[first..].chunks(width).take(run.rows as usize) {
                self.bytes.extend_from_slice(bytemuck::cast_slice(&row[..pixels]));
            }
        });
    }

    /// Stores the pixels of a tile as words in an image of micro-tiles, as far as a mask has their bits: a whole one is a block of the tile buffer.
    fn blocks(&mut self, surface: Surface, rect: PixelRect, words: &[u32], mask: u32, shape: Shape) {
        surface.runs(rect, |Run { x, y, pixels, rows, address }| {
            self.run(address, (rows * pixels * 4) as usize);
            let (x, y) = (x - rect.x0 as u32, y - rect.y0 as u32);
            let block = words.get(shape.block(x, y)..).and_then(|words| words.first_chunk());
            if (pixels, rows, x % 4, y % 4) == (4, 4, 0, 0)
                && let Some(&block) = block
            {
                let Lanes(b) = Lanes(block).map(|word| (word & mask).to_le());
                let rows = [[b[0], b[1], b[4], b[5]], [b[2], b[3], b[6], b[7]]];
                let more = [[b[8], b[9], b[12], b[13]], [b[10], b[11], b[14], b[15]]];
                self.bytes.extend_from_slice(bytemuck::bytes_of(&[rows, more]));
                return;
            }
            self.part_of_blocks((x, y), (pixels, rows), words, mask, shape);
        });
    }

    /// The same for one run, pixel by pixel.
    #[cold]
    fn part_of_blocks(
        &mut self,
        (x, y): (u32, u32),
        (pixels, rows): (u32, u32),
        words: &[u32],
        mask: u32,
        shape: Shape,
    ) {
        for (row, column) in (0..rows).flat_map(|row| (0..pixels).map(move |column| (row, column))) {
            let word = words.get(shape.pixel(x + column, y + row)).copied().unwrap_or(0);
            self.bytes.extend_from_slice(&(word & mask).to_le_bytes());
        }
    }

    /// Stores the pixels of a tile as the bytes that `pixel` returns for tile coordinates.
    fn image<B: AsRef<[u8]>>(&mut self, surface: Surface, rect: PixelRect, pixel: impl Fn(u32, u32) -> B) {
        surface.runs(rect, |Run { x, y, pixels, rows, address }| {
            self.run(address, (rows * pixels * surface.bits / 8) as usize);
            for (y, x) in (y..y + rows).flat_map(|y| (x..x + pixels).map(move |x| (y, x))) {
                self.bytes.extend_from_slice(pixel(x - rect.x0 as u32, y - rect.y0 as u32).as_ref());
            }
        });
    }

    fn zs(&mut self, surface: Surface, mask: u32, tile: (u8, u8), tlb: &Tlb) {
        let shape = tlb.shape();
        let rect = tile_rect(tile, (shape.width_px, shape.height_px));
        self.bytes.reserve(4 * shape.pixels());
        if surface.tiling != Tiling::Raster {
            self.blocks(surface, rect, &tlb.zs[..], mask, shape);
            return;
        }
        let mut rows = vec![0; shape.pixels()];
        shape.to_rows(&tlb.zs[..], &mut rows);
        rows.iter_mut().for_each(|zs| *zs &= mask);
        self.words(surface, rect, &mut rows);
    }

    fn vg_mask(&mut self, surface: Surface, tile: (u8, u8), tlb: &Tlb) {
        let shape = tlb.shape();
        let rect = tile_rect(tile, (shape.width_px, shape.height_px));
        self.image(surface, rect, |x, y| [tlb.vg_mask[shape.pixel(x, y)]]);
    }

    /// The selected buffers one after the other: colour, Z and stencil, alpha mask.
    fn dump(&mut self, mut address: BusAddr, [color, zs, vg_mask]: [bool; 3], tlb: &Tlb) {
        for (wanted, words) in [(color, &tlb.color), (zs, &tlb.zs)] {
            if wanted {
                self.run(address, FULL_BUFFER_BYTES as usize);
                for index in tlb.shape().dump_order() {
                    self.bytes.extend_from_slice(&words[index].to_le_bytes());
                }
                address = address + FULL_BUFFER_BYTES;
            }
        }
        if vg_mask {
            self.run(address, tlb.vg_mask.len());
            self.bytes.extend(tlb.shape().mask_dump_order().map(|index| tlb.vg_mask[index]));
        }
    }
}

/// The pixels of the tile at column and row.
pub fn tile_rect((column, row): (u8, u8), (width, height): (u32, u32)) -> PixelRect {
    let (width, height) = (width as i32, height as i32);
    let (x0, y0) = (i32::from(column) * width, i32::from(row) * height);
    PixelRect { x0, y0, x1: x0 + width, y1: y0 + height }
}

#[cfg(test)]
mod tests {
    use super::super::tlb::Shape;
    use super::*;
    use crate::memory::OwnedMemory;
    use crate::random::Random;
    use v3d_hw::Layout;
    use v3d_hw::control_list::MemoryFormat;
    use v3d_hw::tiling;

    fn mode(width: u16, height: u16) -> TileRenderingMode {
        TileRenderingMode {
            address: BusAddr(0x1000),
            width,
            height,
            color_format: FrameBufferFormat::Rgba8888,
            memory_format: MemoryFormat::Raster,
            ..TileRenderingMode::from_bits(0)
        }
    }

    fn numbered(shape: Shape) -> Tlb {
        let mut tlb = Tlb::new(shape);
        for (y, x) in (0..shape.height_px).flat_map(|y| (0..shape.width_px).map(move |x| (y, x))) {
            for sample in 0..shape.samples() {
                let index = tlb.color_index(shape.pixel(x, y), sample, 0);
                tlb.color[index] = y << 16 | x << 8 | (3 * sample as u32);
            }
        }
        tlb
    }

    #[test]
    fn nothing_is_written_beyond_width_and_height() {
        let owned = OwnedMemory::new(0x8000);
        for word in 0..0x2000 {
            owned.view().set_word(BusAddr(word * 4), 0xdead_beef).unwrap();
        }
        let tlb = numbered(Shape::new(false, false, false));
        let mut stored = Stored::default();
        stored
            .collect(&Store::Resolved { end_of_frame: false }, &mode(70, 67), (1, 1), &tlb, &mut Room::default())
            .unwrap();
        stored.apply(owned.view()).unwrap();
        // Rows of 70 pixels are 18 micro-tiles of 4 pixels; what is left of the last one stays.
        for (x, y) in (0..72).flat_map(|x| (0..67).map(move |y| (x, y))) {
            let at = BusAddr(0x1000 + (y * 72 + x) * 4);
            let expected = if (64..70).contains(&x) && y >= 64 { (y - 64) << 16 | (x - 64) << 8 } else { 0xdead_beef };
            assert_eq!(owned.view().word(at), Ok(expected), "({x}, {y})");
        }
        assert_eq!(owned.view().word(BusAddr(0x1000 + 72 * 67 * 4)), Ok(0xdead_beef));
    }

    #[test]
    fn four_samples_become_their_average_rounded_down() {
        let owned = OwnedMemory::new(0x8000);
        let tlb = numbered(Shape::new(true, false, false));
        let mode = TileRenderingMode { multisample: true, decimate: DecimateMode::X4, ..mode(32, 32) };
        let mut stored = Stored::default();
        stored.collect(&Store::Resolved { end_of_frame: false }, &mode, (0, 0), &tlb, &mut Room::default()).unwrap();
        stored.apply(owned.view()).unwrap();
        // Samples 0, 3, 6, 9: 18 / 4.
        assert_eq!(owned.view().word(BusAddr(0x1000 + (5 * 32 + 7) * 4)), Ok(5 << 16 | 7 << 8 | 4));
    }

    /// Each pixel of images in micro-tiles, at its address by the tiling: the average of its samples, or its first sample's depth without the stencil.
    #[test]
    fn images_in_micro_tiles_have_averages_and_depths() {
        let mut random = Random::new(0, 42);
        let shape = Shape::new(true, false, false);
        let mut tlb = Tlb::new(shape);
        tlb.color.iter_mut().chain(tlb.zs.iter_mut()).for_each(|word| *word = random.next_u64() as u32);
        let mode = TileRenderingMode { multisample: true, ..mode(45, 39) };
        for format in [MemoryFormat::TFormat, MemoryFormat::LtFormat] {
            for buffer in [TileBufferSelect::Color, TileBufferSelect::ZOnly] {
                let owned = OwnedMemory::new(0x8000);
                let address = BusAddr(0x1000).into();
                let store = StoreMode::Decimate4;
                let general = StoreGeneral { address, buffer, format, mode: store, ..StoreGeneral::from_bits(0) };
                let mut stored = Stored::default();
                for tile in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                    stored.collect(&Store::General(general), &mode, tile, &tlb, &mut Room::default()).unwrap();
                }
                stored.apply(owned.view()).unwrap();
                for (x, y) in (0..45).flat_map(|x| (0..39).map(move |y| (x, y))) {
                    let offset = tiling::pixel_offset_bits(tiling_of(format).unwrap(), 45, 32, x, y).unwrap() / 8;
                    let pixel = shape.pixel(x % 32, y % 32);
                    let sum = |byte: u32| -> u32 {
                        (0..4).map(|sample| tlb.color[sample * 1024 + pixel] >> (8 * byte) & 0xff).sum()
                    };
                    let average = (0..4).fold(0, |average, byte| average | (sum(byte) / 4) << (8 * byte));
                    let expected = if buffer == TileBufferSelect::Color { average } else { tlb.zs[pixel] >> 8 << 8 };
                    let found = owned.view().word(BusAddr(0x1000 + offset as u32));
                    assert_eq!(found, Ok(expected), "{format:?}, {buffer:?}, ({x}, {y})");
                }
            }
        }
    }

    /// Mesa's `vc4_nir_lower_txf_ms.c` computes in the shader where each sample is: rows of quads, in a quad samples, in a sample pixels.
    #[test]
    fn a_shader_finds_samples_in_a_full_resolution_dump() {
        let owned = OwnedMemory::new(0x8000);
        let mode = TileRenderingMode { multisample: true, ..mode(32, 32) };
        let mut stored = Stored::default();
        let dump = StoreFullResolution {
            address: BusAddr(0x1000).into(),
            disable_zs: true,
            ..StoreFullResolution::from_bits(0)
        };
        stored
            .collect(
                &Store::FullResolution(dump),
                &mode,
                (0, 0),
                &numbered(Shape::new(true, false, false)),
                &mut Room::default(),
            )
            .unwrap();
        stored.apply(owned.view()).unwrap();
        for (x, y, sample) in [(0, 0, 0), (1, 0, 0), (0, 1, 0), (3, 0, 1), (2, 5, 3), (31, 31, 3), (14, 30, 2)] {
            let quad = (x & 30) * 32 + (y & 30) * 512;
            let at = quad + (sample << 4 | (y & 1) << 3 | (x & 1) << 2);
            assert_eq!(
                owned.view().word(BusAddr(0x1000 + at)),
                Ok(y << 16 | x << 8 | (3 * sample)),
                "({x}, {y}), {sample}"
            );
        }
    }

    #[test]
    fn decimation_without_multisampling_averages_two_by_two_pixels() {
        let owned = OwnedMemory::new(0x8000);
        let tlb = numbered(Shape::new(false, false, false));
        let mode = TileRenderingMode { decimate: DecimateMode::X4, ..mode(32, 32) };
        let mut stored = Stored::default();
        stored.collect(&Store::Resolved { end_of_frame: false }, &mode, (0, 0), &tlb, &mut Room::default()).unwrap();
        stored.apply(owned.view()).unwrap();
        // Rows 10 and 11, columns 14 and 15.
        assert_eq!(owned.view().word(BusAddr(0x1000 + (5 * 32 + 7) * 4)), Ok(10 << 16 | 14 << 8));
        let too_many = TileRenderingMode { decimate: DecimateMode::X16, ..mode };
        let result =
            stored.collect(&Store::Resolved { end_of_frame: false }, &too_many, (0, 0), &tlb, &mut Room::default());
        assert_eq!(result, Err(MoveError::Decimate16));
    }

    #[test]
    fn sixteen_samples_are_those_of_two_by_two_pixels() {
        let owned = OwnedMemory::new(0x8000);
        let tlb = numbered(Shape::new(true, false, false));
        let mode = TileRenderingMode { multisample: true, decimate: DecimateMode::X16, ..mode(16, 16) };
        let mut stored = Stored::default();
        stored.collect(&Store::Resolved { end_of_frame: false }, &mode, (0, 0), &tlb, &mut Room::default()).unwrap();
        stored.apply(owned.view()).unwrap();
        // Rows 10 and 11, columns 14 and 15, each with samples 0, 3, 6, 9.
        assert_eq!(owned.view().word(BusAddr(0x1000 + (5 * 16 + 7) * 4)), Ok(10 << 16 | 14 << 8 | 4));
    }

    #[test]
    fn memory_that_is_not_there_is_an_error_and_the_rest_is_stored() {
        let owned = OwnedMemory::new(0x1000 + 64 * 4 * 2);
        let tlb = numbered(Shape::new(false, false, false));
        let mut stored = Stored::default();
        stored
            .collect(&Store::Resolved { end_of_frame: true }, &mode(128, 64), (0, 0), &tlb, &mut Room::default())
            .unwrap();
        assert!(stored.apply(owned.view()).is_err());
        assert_eq!(owned.view().word(BusAddr(0x1000 + 4 * 9)), Ok(9 << 8));
    }
}
