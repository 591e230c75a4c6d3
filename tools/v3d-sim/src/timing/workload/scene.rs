//! What a workload draws, as lists, shader record, vertices and texture in memory.

use super::WorkloadError;
use super::geometry::{HEIGHT, Vertex, WIDTH};
use crate::memory::Memory;
use v3d_hw::control_list::{
    BranchToSubList, ClearColors, ClipWindow, CompareFunction, ConfigurationBits, DecimateMode, FrameBufferFormat,
    LoadGeneral, MemoryFormat, NvShaderState, Oversample, PixelFormat, PrimitiveMode, Record, StoreGeneral, Threading,
    TileBinningMode, TileBlockSize, TileBufferSelect, TileCoordinates, TileRenderingMode, VertexArrayPrimitives,
    ViewportOffset,
};
use v3d_hw::shader_record::NvShaderRecord;
use v3d_hw::texture::{MagFilter, MinFilter, Parameter0, Parameter1, TextureType, Wrap};
use v3d_hw::tile_buffer::tile_size_px;
use v3d_hw::tiling::{Tiling, level_format, pixel_offset_bits};
use v3d_hw::{Aligned, BusAddr, Layout};

/// Bytes of memory that the scenes need.
pub const MEMORY_BYTES: usize = 0x80_0000;
/// The alias of memory that goes through the chip's cache, which the boards' programs used.
const CACHED: u32 = 0x4000_0000;

// Where things are in memory.
const CODE: u32 = CACHED | 0x1000;
const UNIFORMS: u32 = CACHED | 0x2000;
const RECORD: u32 = CACHED | 0x3000;
const BINNING_LIST: u32 = CACHED | 0x4000;
const RENDERING_LIST: u32 = CACHED | 0x5000;
const TILE_STATE: u32 = CACHED | 0x1_0000;
const TEXTURE: u32 = CACHED | 0x4_0000;
const VERTICES: u32 = CACHED | 0x10_0000;
const FRAME: u32 = CACHED | 0x30_0000;
const TILE_LISTS: u32 = CACHED | 0x40_0000;
const TILE_LISTS_BYTES: u32 = 0x40_0000;

/// What is drawn, and how.
#[derive(Clone, Copy, Debug)]
pub struct Scene {
    /// Makes the vertices, three for each triangle. Without any, nothing is binned.
    pub vertices: fn() -> Vec<Vertex>,
    /// The fragment shader: one of [`words`](super::words).
    pub shader: &'static [u64],
    /// What the shader record says of threads; no program of [bm]'s rows switches between them.
    pub threading: Threading,
    /// How many varyings the record has.
    pub varyings: u8,
    /// The depth test.
    pub depth: Depth,
    /// The texture of the shader, if it has one.
    pub texture: Option<Texture>,
    /// The target.
    pub target: Target,
}

/// The depth test.
#[derive(Clone, Copy, Debug)]
pub struct Depth {
    /// The function.
    pub test: CompareFunction,
    /// Z is written, there is early Z, and it is updated.
    pub updates: bool,
}

/// A square texture, clamped, that fills its quads once.
#[derive(Clone, Copy, Debug)]
pub struct Texture {
    /// Its format.
    pub kind: TextureType,
    /// Its width and height.
    pub size_px: u16,
    /// Texels are blended.
    pub linear: bool,
}

/// The target, 640x360 pixels in rows.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// 4x multisampling: tiles are 32x32 pixels, otherwise 64x64.
    pub multisample: bool,
    /// Format of its pixels.
    pub format: FrameBufferFormat,
    /// Each tile is loaded before it is drawn to.
    pub loads: bool,
}

/// The first address of a list, and the one behind its last record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListRange {
    /// First address.
    pub start: u32,
    /// End address.
    pub end: u32,
}

/// The lists of a scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lists {
    /// The binning list, if there is anything to bin.
    pub binning: Option<ListRange>,
    /// The rendering list.
    pub rendering: ListRange,
}

impl Scene {
    /// Writes everything to memory.
    pub fn build(&self, memory: Memory<'_>) -> Result<Lists, WorkloadError> {
        let vertices = (self.vertices)();
        for (&word, at) in self.shader.iter().zip((CODE..).step_by(8)) {
            memory.write(BusAddr(at), &word.to_le_bytes())?;
        }
        for (vertex, at) in vertices.iter().zip((VERTICES..).step_by(Vertex::BYTES as usize)) {
            memory.write(BusAddr(at), &vertex.to_bytes())?;
        }
        if let Some(texture) = &self.texture {
            texture.build(memory)?;
        }
        let record = NvShaderRecord {
            vertices: BusAddr(VERTICES),
            uniforms: BusAddr(UNIFORMS),
            code: BusAddr(CODE),
            varyings: self.varyings,
            uniform_count: 0,
            stride: Vertex::BYTES,
            clip_header: false,
            clipping: false,
            point_size: false,
            threading: self.threading,
        };
        memory.write(BusAddr(RECORD), &record.to_bits()?.to_le_bytes()[..NvShaderRecord::BYTES])?;
        let binning = if vertices.is_empty() {
            None
        } else {
            Some(write_list(memory, BINNING_LIST, &self.binning_list(vertices.len() as u32))?)
        };
        let rendering = write_list(memory, RENDERING_LIST, &self.rendering_list(binning.is_some()))?;
        Ok(Lists { binning, rendering })
    }

    /// Columns and rows of tiles.
    fn tiles(&self) -> (u8, u8) {
        let (width, height) = tile_size_px(self.target.multisample, false, false);
        (u32::from(WIDTH).div_ceil(width) as u8, u32::from(HEIGHT).div_ceil(height) as u8)
    }

    fn binning_list(&self, vertices: u32) -> Vec<Record> {
        let (columns, rows) = self.tiles();
        let Depth { test, updates } = self.depth;
        let oversample = if self.target.multisample { Oversample::X4 } else { Oversample::None };
        vec![
            Record::TileBinningMode(TileBinningMode {
                double_buffer: false,
                block_size: TileBlockSize::Bytes128,
                initial_block_size: TileBlockSize::Bytes32,
                auto_initialise: true,
                color_64_bit: false,
                multisample: self.target.multisample,
                height_tiles: rows,
                width_tiles: columns,
                tile_state: BusAddr(TILE_STATE),
                tile_allocation_bytes: TILE_LISTS_BYTES,
                tile_allocation: BusAddr(TILE_LISTS),
            }),
            Record::StartTileBinning,
            Record::ClipWindow(ClipWindow { left: 0, bottom: 0, width: WIDTH, height: HEIGHT }),
            Record::ConfigurationBits(ConfigurationBits {
                forward_facing: true,
                reverse_facing: true,
                depth_test: test,
                z_updates: updates,
                early_z: updates,
                early_z_updates: updates,
                oversample,
                ..ConfigurationBits::default()
            }),
            Record::ViewportOffset(ViewportOffset { x: 0, y: 0 }),
            Record::NvShaderState(NvShaderState { address: BusAddr(RECORD) }),
            Record::VertexArrayPrimitives(VertexArrayPrimitives {
                first_vertex: 0,
                length: vertices,
                mode: PrimitiveMode::Triangles,
            }),
            Record::Flush,
            Record::Nop,
        ]
    }

    fn rendering_list(&self, binned: bool) -> Vec<Record> {
        let Target { multisample, format, loads } = self.target;
        let clear = u64::from(0xff00_0000_u32);
        let mut list = vec![
            Record::ClearColors(ClearColors { stencil: 0, vg_mask: 0, z: 0xff_ffff, color: clear << 32 | clear }),
            Record::TileRenderingMode(TileRenderingMode {
                memory_format: MemoryFormat::Raster,
                decimate: if multisample { DecimateMode::X4 } else { DecimateMode::X1 },
                color_format: format,
                multisample,
                height: HEIGHT,
                width: WIDTH,
                address: BusAddr(FRAME),
                ..TileRenderingMode::default()
            }),
            // A store of nothing clears the tile buffer.
            Record::TileCoordinates(TileCoordinates { row: 0, column: 0 }),
            Record::StoreGeneral(StoreGeneral { buffer: TileBufferSelect::None, ..StoreGeneral::default() }),
        ];
        let (columns, rows) = self.tiles();
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            if loads {
                list.push(Record::LoadGeneral(LoadGeneral {
                    address: Aligned(BusAddr(FRAME)),
                    pixel_format: PixelFormat::Bgr565,
                    format: MemoryFormat::Raster,
                    buffer: TileBufferSelect::Color,
                    ..LoadGeneral::default()
                }));
            }
            list.push(Record::TileCoordinates(TileCoordinates { row, column }));
            if binned {
                let number = u32::from(row) * u32::from(columns) + u32::from(column);
                let address = BusAddr(TILE_LISTS + number * TileBlockSize::Bytes32.bytes());
                list.push(Record::BranchToSubList(BranchToSubList { address }));
            }
            let last = (row, column) == (rows - 1, columns - 1);
            list.push(if last { Record::StoreResolvedEndOfFrame } else { Record::StoreResolved });
        }
        list
    }
}

impl Vertex {
    /// Size in memory.
    pub const BYTES: u8 = 24;

    /// As NV mode reads it: x and y in 1/16 pixel, then floats.
    fn to_bytes(self) -> [u8; Self::BYTES as usize] {
        let position = |pixels: f32| u32::from((pixels * 16.0) as i16 as u16);
        let [u, v, w] = self.varyings.map(f32::to_bits);
        let words = [position(self.x) | position(self.y) << 16, self.z.to_bits(), self.reciprocal_w.to_bits(), u, v, w];
        let mut bytes = [0; Self::BYTES as usize];
        for (target, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
            *target = word.to_le_bytes();
        }
        bytes
    }
}

impl Texture {
    /// Writes its texels, a checkerboard, and the two parameters as the shader's uniforms.
    fn build(&self, memory: Memory<'_>) -> Result<(), WorkloadError> {
        let bits = self.kind.bits_per_texel().ok_or(WorkloadError::Texture)?;
        let size = u32::from(self.size_px);
        let tiling = if self.kind.is_raster() { Some(Tiling::Raster) } else { level_format(size, size, bits) };
        for (x, y) in (0..size).flat_map(|y| (0..size).map(move |x| (x, y))) {
            let offset = tiling.and_then(|tiling| pixel_offset_bits(tiling, size, bits, x, y));
            let at = BusAddr(TEXTURE + (offset.ok_or(WorkloadError::Texture)? / 8) as u32);
            let texel = if (x ^ y) & 8 == 0 { 0xffc0_8040_u32 } else { 0xff20_60e0 };
            memory.write(at, &texel.to_le_bytes()[..bits as usize / 8])?;
        }
        let (type_low, type_high) = self.kind.split();
        let (mag_filter, min_filter) =
            if self.linear { (MagFilter::Linear, MinFilter::Linear) } else { (MagFilter::Nearest, MinFilter::Nearest) };
        let base = Parameter0 { base: Aligned(BusAddr(TEXTURE)), type_low, ..Parameter0::default() };
        let rest = Parameter1 {
            type_high,
            height: self.size_px,
            etc_flip: false,
            width: self.size_px,
            mag_filter,
            min_filter,
            wrap_t: Wrap::Clamp,
            wrap_s: Wrap::Clamp,
        };
        memory.set_word(BusAddr(UNIFORMS), base.to_word()?)?;
        memory.set_word(BusAddr(UNIFORMS + 4), rest.to_word()?)?;
        Ok(())
    }
}

/// Writes records in succession.
fn write_list(memory: Memory<'_>, start: u32, records: &[Record]) -> Result<ListRange, WorkloadError> {
    let mut end = start;
    for record in records {
        memory.write(BusAddr(end), &record.encode()?[..record.bytes()])?;
        end += record.bytes() as u32;
    }
    Ok(ListRange { start, end })
}
