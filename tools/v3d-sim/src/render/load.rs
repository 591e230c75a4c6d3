//! Loads of a tile: records 27 and 29 [AG p.46, p.66-67].
//!
//! A load stands before the Tile Coordinates of its tile, and is executed with them. Only one can be pending. With multisampling an image of pixels
//! is loaded into all samples of each.

use super::pixel;
use super::store::{FULL_BUFFER_BYTES, FULL_DUMP_BYTES, MoveError, buffer_bits, tile_rect};
use super::surface::{Run, Surface, tiling_of};
use super::tlb::{SAMPLES, Shape, Tlb};
use crate::memory::Memory;
use v3d_hw::BusAddr;
use v3d_hw::control_list::{LoadFullResolution, LoadGeneral, PixelFormat, TileBufferSelect, TileRenderingMode};

/// A load record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load {
    /// 27.
    FullResolution(LoadFullResolution),
    /// 29.
    General(LoadGeneral),
}

impl Load {
    /// Whether each sample is moved, not only a value for each pixel.
    pub fn moves_samples(&self) -> bool {
        match self {
            Self::FullResolution(_) => true,
            Self::General(load) => load.buffer == TileBufferSelect::Full,
        }
    }

    fn surface(load: &LoadGeneral, mode: &TileRenderingMode) -> Option<Surface> {
        Some(Surface {
            address: load.address.0,
            tiling: tiling_of(load.format)?,
            width: u32::from(mode.width),
            height: u32::from(mode.height),
            bits: buffer_bits(load.buffer, load.pixel_format, mode.color_64_bit)?,
        })
    }

    /// The image that it reads, if it is one.
    pub fn image(&self, mode: &TileRenderingMode) -> Option<Surface> {
        match self {
            Self::FullResolution(_) => None,
            Self::General(load) => Self::surface(load, mode),
        }
    }

    /// First byte and byte after the last that it may read, as offsets in memory.
    pub fn extent(&self, mode: &TileRenderingMode) -> (u64, u64) {
        let dump = |address: BusAddr| {
            let start = u64::from(address.offset());
            (start, start + FULL_DUMP_BYTES)
        };
        match self {
            Self::FullResolution(load) => dump(load.address.0),
            Self::General(load) if load.buffer == TileBufferSelect::Full => dump(load.address.0),
            Self::General(load) => Self::surface(load, mode).map_or((0, 0), |surface| surface.extent()),
        }
    }

    /// Contiguous pieces of memory that it reads for the tile at column and row.
    pub fn pieces(&self, mode: &TileRenderingMode, tile: (u8, u8), shape: Shape) -> u32 {
        let Some(surface) = self.image(mode) else { return u32::from(self.moves_samples()) };
        let mut runs = Vec::new();
        surface.runs(tile_rect(tile, (shape.width_px, shape.height_px)), |run| {
            let start = u64::from(run.address.offset());
            runs.push((start, start + u64::from(run.pixels * run.rows * surface.bits / 8)));
        });
        runs.sort_unstable();
        let mut end = None;
        runs.iter().filter(|run| end.replace(run.1) != Some(run.0)).count() as u32
    }

    /// Whether it restores Z and stencil of all samples.
    pub fn restores_zs(&self) -> bool {
        match self {
            Self::FullResolution(load) => !load.disable_zs,
            Self::General(load) => load.buffer == TileBufferSelect::Full && !load.disable_zs_load,
        }
    }

    /// Loads the tile at column and row.
    pub fn execute(
        &self,
        mode: &TileRenderingMode,
        tile: (u8, u8),
        tlb: &mut Tlb,
        memory: Memory<'_>,
    ) -> Result<(), MoveError> {
        match self {
            Self::FullResolution(load) => {
                restore(load.address.0, [!load.disable_color, !load.disable_zs, false], tlb, memory)
            }
            Self::General(load) => match load.buffer {
                TileBufferSelect::None => Ok(()),
                TileBufferSelect::Full => {
                    let parts =
                        [!load.disable_color_load, !load.disable_zs_load, !load.disable_vg_mask_load && mode.vg_mask];
                    restore(load.address.0, parts, tlb, memory)
                }
                TileBufferSelect::VgMask if !mode.vg_mask => Err(MoveError::NoMask),
                TileBufferSelect::ZOnly | TileBufferSelect::Reserved(_) => Err(MoveError::Reserved("buffer to load")),
                _ => {
                    let surface = Self::surface(load, mode).ok_or(MoveError::Reserved("format"))?;
                    image(load, surface, tile, tlb, memory)
                }
            },
        }
    }
}

fn image(
    load: &LoadGeneral,
    surface: Surface,
    tile: (u8, u8),
    tlb: &mut Tlb,
    memory: Memory<'_>,
) -> Result<(), MoveError> {
    let shape = tlb.shape();
    let rect = tile_rect(tile, (shape.width_px, shape.height_px));
    let mut result = Ok(());
    // The usual case: a word of colour for each pixel.
    let is_plain = load.buffer == TileBufferSelect::Color && surface.bits == 32 && shape.samples() == 1;
    surface.runs(rect, |Run { x, y, pixels, rows, address }| {
        if is_plain && !shape.color_64_bit {
            let (x_in_tile, y_in_tile) = (x - rect.x0 as u32, y - rect.y0 as u32);
            if load_words(tlb, (x_in_tile, y_in_tile), (pixels, rows), address, memory).is_some() {
                return;
            }
            // Pixel by pixel where the run cuts a block, or where a word is outside of memory: the loop says which.
            for (row, i) in (0..rows).flat_map(|row| (0..pixels).map(move |i| (row, i))) {
                match memory.word(address + 4 * (row * pixels + i)) {
                    Ok(word) => {
                        tlb.color[shape.pixel(x_in_tile + i, y_in_tile + row) % SAMPLES] = word;
                    }
                    Err(error) => {
                        result = Err(error.into());
                        return;
                    }
                }
            }
            return;
        }
        for (row, i) in (0..rows).flat_map(|row| (0..pixels).map(move |i| (row, i))) {
            let at = address + (row * pixels + i) * surface.bits / 8;
            let pixel = shape.pixel(x - rect.x0 as u32 + i, y - rect.y0 as u32 + row);
            let value = match (load.buffer, surface.bits) {
                (_, 64) => memory.word(at).and_then(|low| Ok((low, memory.word(at + 4)?))),
                (_, 32) => memory.word(at).map(|word| (word, 0)),
                (_, 16) => memory.half(at).map(|half| (half_color(half, load.pixel_format), 0)),
                _ => memory.byte(at).map(|byte| (u32::from(byte), 0)),
            };
            let (low, high) = match value {
                Ok(value) => value,
                Err(error) => {
                    result = Err(error.into());
                    return;
                }
            };
            for sample in 0..shape.samples() {
                match load.buffer {
                    TileBufferSelect::Color => {
                        let index = tlb.color_index(pixel, sample, 0);
                        tlb.color[index] = low;
                        if shape.color_64_bit {
                            let index = tlb.color_index(pixel, sample, 1);
                            tlb.color[index] = high;
                        }
                    }
                    TileBufferSelect::VgMask => {
                        let index = tlb.zs_index(pixel, sample);
                        tlb.vg_mask[index] = low as u8;
                    }
                    _ => {
                        let index = tlb.zs_index(pixel, sample);
                        tlb.zs[index] = low;
                    }
                }
            }
        }
    });
    if load.buffer == TileBufferSelect::ZStencil {
        tlb.early.follow();
    }
    result
}

/// Loads the colours of a run by parts of a row of a block, if it consists of such; `None` if it does not, or if any of it is outside of memory.
fn load_words(
    tlb: &mut Tlb,
    (x, y): (u32, u32),
    (pixels, rows): (u32, u32),
    address: BusAddr,
    memory: Memory<'_>,
) -> Option<()> {
    /// Pixels of a row of a block.
    const ROW: usize = 4;
    /// Pixels of the longest run: a row of a tile.
    const LONGEST: usize = 64;
    if !x.is_multiple_of(ROW as u32) || !address.0.is_multiple_of(4) {
        return None;
    }
    let shape = tlb.shape();
    let mut bytes = [0; 4 * LONGEST];
    let bytes = bytes.get_mut(..4 * (pixels * rows) as usize)?;
    let row_bytes = 4 * pixels as usize;
    if row_bytes == 0 || !row_bytes.is_multiple_of(4 * ROW) {
        return None;
    }
    memory.read(address, bytes).ok()?;
    for (row, y) in bytes.chunks_exact(row_bytes).zip(y..) {
        for (words, x) in row.as_chunks::<4>().0.as_chunks::<ROW>().0.iter().zip((x..).step_by(ROW)) {
            let [a, b, c, d] = words.map(u32::from_le_bytes);
            let first = shape.pixel(x, y) % SAMPLES;
            // Two pixels each of two quads that are next to each other.
            if let Some([left, right]) = tlb.color.get_mut(first..first + 6).and_then(|colors| {
                let (left, rest) = colors.split_first_chunk_mut::<2>()?;
                Some([left, rest.last_chunk_mut::<2>()?])
            }) {
                (*left, *right) = ([a, b], [c, d]);
            }
        }
    }
    Some(())
}

/// A 16-bit pixel as a colour; both 565 formats are read alike.
fn half_color(half: u16, format: PixelFormat) -> u32 {
    match format {
        PixelFormat::Bgr565 | PixelFormat::Bgr565Dithered => pixel::from_565(half),
        PixelFormat::Rgba8888 | PixelFormat::Reserved(_) => u32::from(half),
    }
}

fn restore(
    mut address: BusAddr,
    [color, zs, vg_mask]: [bool; 3],
    tlb: &mut Tlb,
    memory: Memory<'_>,
) -> Result<(), MoveError> {
    let shape = tlb.shape();
    for (wanted, words) in [(color, &mut tlb.color), (zs, &mut tlb.zs)] {
        if wanted {
            for (index, at) in shape.dump_order().zip((0..).map(|i| address + 4 * i)) {
                words[index] = memory.word(at)?;
            }
            address = address + FULL_BUFFER_BYTES;
        }
    }
    if zs {
        tlb.early.follow();
    }
    if vg_mask {
        let mut bytes = [0; SAMPLES];
        memory.read(address, &mut bytes)?;
        for (index, byte) in shape.mask_dump_order().zip(bytes) {
            tlb.vg_mask[index] = byte;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::store::{Room, Store, Stored};
    use super::super::tlb::Shape;
    use super::*;
    use crate::memory::OwnedMemory;
    use v3d_hw::Layout;
    use v3d_hw::control_list::{MemoryFormat, StoreFullResolution, StoreGeneral};

    fn filled(shape: Shape) -> Tlb {
        let mut tlb = Tlb::new(shape);
        for i in 0..SAMPLES {
            let word = (i as u32).wrapping_mul(0x9e37_79b9);
            (tlb.color[i], tlb.zs[i], tlb.vg_mask[i]) = (word, !word, (word >> 13) as u8);
        }
        tlb
    }

    #[test]
    fn a_full_dump_comes_back_as_it_was() {
        for multisample in [false, true] {
            let owned = OwnedMemory::new(0x10000);
            let tlb = filled(Shape::new(multisample, false, false));
            let mode = TileRenderingMode { multisample, ..TileRenderingMode::from_bits(0) };
            let mut stored = Stored::default();
            let store = StoreFullResolution { address: BusAddr(0x100).into(), ..StoreFullResolution::from_bits(0) };
            stored.collect(&Store::FullResolution(store), &mode, (0, 0), &tlb, &mut Room::default()).unwrap();
            stored.apply(owned.view()).unwrap();
            let mut back = Tlb::new(tlb.shape());
            let load = LoadFullResolution { address: BusAddr(0x100).into(), ..LoadFullResolution::from_bits(0) };
            Load::FullResolution(load).execute(&mode, (0, 0), &mut back, owned.view()).unwrap();
            assert_eq!((back.color, back.zs), (tlb.color, tlb.zs));
        }
    }

    #[test]
    fn images_come_back_as_they_were_in_all_formats() {
        for format in [MemoryFormat::Raster, MemoryFormat::TFormat, MemoryFormat::LtFormat] {
            for buffer in [TileBufferSelect::Color, TileBufferSelect::ZStencil, TileBufferSelect::VgMask] {
                for color_64_bit in [false, true] {
                    let owned = OwnedMemory::new(0x40000);
                    let shape = Shape::new(false, color_64_bit, false);
                    let tlb = filled(shape);
                    let mode = TileRenderingMode {
                        width: 128,
                        height: 128,
                        vg_mask: true,
                        color_64_bit,
                        ..TileRenderingMode::from_bits(0)
                    };
                    let mut stored = Stored::default();
                    let address = BusAddr(0x100).into();
                    let store = StoreGeneral { address, buffer, format, ..StoreGeneral::from_bits(0) };
                    stored.collect(&Store::General(store), &mode, (1, 1), &tlb, &mut Room::default()).unwrap();
                    stored.apply(owned.view()).unwrap();
                    let mut back = Tlb::new(shape);
                    let load = LoadGeneral { address, buffer, format, ..LoadGeneral::from_bits(0) };
                    Load::General(load).execute(&mode, (1, 1), &mut back, owned.view()).unwrap();
                    match buffer {
                        TileBufferSelect::Color => assert_eq!(back.color, tlb.color),
                        TileBufferSelect::VgMask => {
                            assert_eq!(back.vg_mask[..shape.pixels()], tlb.vg_mask[..shape.pixels()])
                        }
                        _ => assert_eq!(back.zs[..shape.pixels()], tlb.zs[..shape.pixels()]),
                    }
                }
            }
        }
    }

    /// Tile (1, 0) of an image: rows of a raster image, two rows of two adjacent 4 KiB tiles of a T-format image, rows of micro-tiles of an LT image.
    #[test]
    fn pieces_are_contiguous_memory() {
        for (format, width, height, expected) in [
            (MemoryFormat::Raster, 640, 360, 64),
            (MemoryFormat::Raster, 640, 40, 40),
            (MemoryFormat::TFormat, 640, 360, 2),
            (MemoryFormat::LtFormat, 640, 360, 16),
        ] {
            let mode = TileRenderingMode { width, height, ..TileRenderingMode::from_bits(0) };
            let buffer = TileBufferSelect::Color;
            let load = Load::General(LoadGeneral { buffer, format, ..LoadGeneral::from_bits(0) });
            let found = load.pieces(&mode, (1, 0), Shape::new(false, false, false));
            assert_eq!(found, expected, "{format:?} {width}x{height}");
        }
        let full = Load::FullResolution(LoadFullResolution::from_bits(0));
        assert_eq!(full.pieces(&TileRenderingMode::from_bits(0), (0, 0), Shape::new(false, false, false)), 1);
    }
}
