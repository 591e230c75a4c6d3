//! Control records: what the CLE reads, byte by byte [AG section 9, table 38].
//!
//! A control list is a sequence of records. Each is one byte of code and as many bytes of data as the code implies; nothing is aligned.
//! Thread 0 reads binning lists, thread 1 rendering lists; some records belong to only one of them. The PTB writes records too: the
//! tile lists that thread 1 later reads as sub-lists.
//!
//! Three records are followed by a list of primitives whose length only its contents tell: VG Inline Primitives (42), Compressed
//! Primitive List (48) and Clipped Primitive with Compressed Primitive List (49). [`Record::decode`] yields their fixed part; the rest is in
//! [`primitive_list`](crate::primitive_list).
//!
//! # Surprises
//! - The guide prints code 105 twice. Clipper Z Scale and Offset is 106 [linux vc4_packet.h] [mesa v3d_packet_v21.xml].
//! - The guide's table gives colour formats in two different orders: records 28 and 29 count 0 = rgba8888, 1 = bgr565 dithered, 2 = bgr565, the
//!   rendering mode configuration (113) counts 0 = bgr565 dithered, 1 = rgba8888, 2 = bgr565.

use crate::layout::{Explained, Field, FieldError, Layout};
use crate::primitive_list::{ListDataType, ListPrimitive};
use crate::{Aligned, BusAddr, codes, layout};
use core::fmt;

codes! {
    /// Comparison of depth or stencil values [AG p.69].
    pub enum CompareFunction: 3 bits {
        /// Never passes.
        0 => Never "never",
        /// New < stored.
        1 => Less "lt",
        /// New = stored.
        2 => Equal "eq",
        /// New <= stored.
        3 => LessOrEqual "le",
        /// New > stored.
        4 => Greater "gt",
        /// New != stored.
        5 => NotEqual "ne",
        /// New >= stored.
        6 => GreaterOrEqual "ge",
        /// Always passes.
        7 => Always "always",
    }
}

codes! {
    /// Primitive mode of the OpenGL primitive records [AG p.68].
    pub enum PrimitiveMode: 4 bits {
        /// Points.
        0 => Points "points",
        /// Separate lines.
        1 => Lines "lines",
        /// A closed line.
        2 => LineLoop "line_loop",
        /// An open line.
        3 => LineStrip "line_strip",
        /// Separate triangles.
        4 => Triangles "triangles",
        /// A strip of triangles.
        5 => TriangleStrip "triangle_strip",
        /// A fan of triangles.
        6 => TriangleFan "triangle_fan",
        _ => Reserved,
    }
}

codes! {
    /// Primitive type of the OpenVG primitive records [AG p.68].
    pub enum VgPrimitiveType: 4 bits {
        /// Separate RHTs.
        1 => Rhts "RHTs",
        /// A strip of RHTs.
        3 => RhtStrip "RHT_strip",
        /// Separate triangles.
        4 => Triangles "triangles",
        /// A strip of triangles.
        5 => TriangleStrip "triangle_strip",
        /// A fan of triangles.
        6 => TriangleFan "triangle_fan",
        _ => Reserved,
    }
}

codes! {
    /// Width of the indices of an indexed primitive list [AG p.68].
    pub enum IndexType: 4 bits {
        /// 8 bits.
        0 => Bits8 "8-bit",
        /// 16 bits.
        1 => Bits16 "16-bit",
        _ => Reserved,
    }
}

codes! {
    /// Arrangement of pixels in memory [AG p.67, p.71].
    pub enum MemoryFormat: 2 bits {
        /// Rows of pixels.
        0 => Raster "raster",
        /// T-format.
        1 => TFormat "T-format",
        /// LT-format.
        2 => LtFormat "LT-format",
        _ => Reserved,
    }
}

codes! {
    /// Which buffer a general store or load moves [AG p.67].
    pub enum TileBufferSelect: 3 bits {
        /// None.
        0 => None "none",
        /// Colour.
        1 => Color "color",
        /// Z and stencil.
        2 => ZStencil "Z/stencil",
        /// Z only (stores).
        3 => ZOnly "Z-only",
        /// OpenVG mask.
        4 => VgMask "VG-mask",
        /// All of the tile buffer in its internal format.
        5 => Full "full dump",
        _ => Reserved,
    }
}

codes! {
    /// Pixel colour format of general stores and loads [AG p.67].
    pub enum PixelFormat: 2 bits {
        /// 32 bits: red, green, blue, alpha from the lowest byte.
        0 => Rgba8888 "rgba8888",
        /// 16 bits, dithered: red in 15:11, green in 10:5, blue in 4:0.
        1 => Bgr565Dithered "bgr565 dithered",
        /// 16 bits, not dithered.
        2 => Bgr565 "bgr565 no dither",
        _ => Reserved,
    }
}

codes! {
    /// Frame buffer colour format of the rendering mode configuration; other codes than [`PixelFormat`]'s [AG p.71].
    pub enum FrameBufferFormat: 2 bits {
        /// 16 bits, dithered.
        0 => Bgr565Dithered "bgr565 dithered",
        /// 32 bits.
        1 => Rgba8888 "rgba8888",
        /// 16 bits, not dithered.
        2 => Bgr565 "bgr565",
        _ => Reserved,
    }
}

codes! {
    /// How samples become a pixel when colour is stored [AG p.67].
    pub enum StoreMode: 2 bits {
        /// The first sample.
        0 => Sample0 "sample 0",
        /// The average of 4.
        1 => Decimate4 "decimate x4",
        /// The average of 16; only in multisample mode.
        2 => Decimate16 "decimate x16",
        _ => Reserved,
    }
}

codes! {
    /// How samples become a pixel in records 24 and 25 [AG p.71].
    ///
    /// Open: what 1x does with 4x multisampling. The guide's names leave no other reading than that a single sample of each pixel is stored. A picture
    /// that a board rendered (`triangle-msaa4x-640x480.png` in `tools/v3d-sim/tests/silicon`) shows the average of four. Its program, asurati/x03, set 4x
    /// in the versions of 1 October 2021 that draw this triangle (cdc860b), and 1x from 4 October on (adbcd32); which of them made the picture is not
    /// known. If it was a later one, silicon averages with 1x too.
    pub enum DecimateMode: 2 bits {
        /// One sample a pixel.
        0 => X1 "1x",
        /// 4 samples a pixel.
        1 => X4 "4x",
        /// 16 samples a pixel.
        2 => X16 "16x",
        _ => Reserved,
    }
}

codes! {
    /// Size of the blocks of tile allocation memory [AG p.71].
    pub enum TileBlockSize: 2 bits {
        /// 32 bytes.
        0 => Bytes32 "32 bytes",
        /// 64 bytes.
        1 => Bytes64 "64 bytes",
        /// 128 bytes.
        2 => Bytes128 "128 bytes",
        /// 256 bytes.
        3 => Bytes256 "256 bytes",
    }
}

impl TileBlockSize {
    /// The size in bytes.
    pub const fn bytes(self) -> u32 {
        32 << self as u32
    }
}

codes! {
    /// How coverage of a primitive is combined with that in the buffer [AG p.69].
    pub enum CoverageUpdate: 2 bits {
        /// Nonzero winding rule.
        0 => NonZero "nonzero",
        /// Even-odd rule.
        1 => Odd "odd",
        /// Or.
        2 => Or "or",
        /// Zero.
        3 => Zero "zero",
    }
}

codes! {
    /// Oversampling of the rasteriser [AG p.69].
    pub enum Oversample: 2 bits {
        /// One sample a pixel.
        0 => None "none",
        /// 4 samples.
        1 => X4 "4x",
        /// 16 samples.
        2 => X16 "16x",
        _ => Reserved,
    }
}

codes! {
    /// What a coverage read yields [AG p.69].
    pub enum CoverageRead: 1 bits {
        /// Four times an 8-bit level.
        0 => Level "4*8-bit level",
        /// A 16-bit mask.
        1 => Mask "16-bit mask",
    }
}

codes! {
    /// Which way early Z bounds move [AG p.71].
    pub enum EarlyZDirection: 1 bits {
        /// For less and less-or-equal tests.
        0 => Less "lt/le",
        /// For greater and greater-or-equal tests.
        1 => Greater "gt/ge",
    }
}

codes! {
    /// Number of threads a fragment shader is written for.
    pub enum Threading: 1 bits {
        /// Two threads share a QPU; each has half of the register files.
        0 => Dual "dual threaded",
        /// One thread has the QPU.
        1 => Single "single threaded",
    }
}

layout! {
    /// Data of Branch, 16 [AG p.66].
    pub struct Branch: 32 bits "Branch" {
        /// Absolute branch address.
        31:0 address: BusAddr,
    }
}

layout! {
    /// Data of Branch to Sub-list, 17 [AG p.66].
    pub struct BranchToSubList: 32 bits "Branch to Sub-list" {
        /// Absolute branch address.
        31:0 address: BusAddr,
    }
}

layout! {
    /// Store Full Resolution Tile Buffer, 26 [AG p.66].
    pub struct StoreFullResolution: 32 bits "Store Full Resolution Tile Buffer" {
        /// Memory address of the tile.
        31:4 address: Aligned<16>,
        /// Last tile of the frame.
        3:3 last_tile: bool,
        /// Disable clear on write.
        2:2 disable_clear: bool,
        /// Disable Z/stencil buffer write.
        1:1 disable_zs: bool,
        /// Disable colour buffer write.
        0:0 disable_color: bool,
    }
}

layout! {
    /// Re-load Full Resolution Tile Buffer, 27 [AG p.66].
    pub struct LoadFullResolution: 32 bits "Re-load Full Resolution Tile Buffer" {
        /// Memory address of the tile.
        31:4 address: Aligned<16>,
        /// Disable Z/stencil buffer read.
        1:1 disable_zs: bool,
        /// Disable colour buffer read.
        0:0 disable_color: bool,
    }
}

layout! {
    /// Store Tile Buffer General, 28 [AG p.67].
    pub struct StoreGeneral: 48 bits "Store Tile Buffer General" {
        /// Base address of the frame, or of the tile dump.
        47:20 address: Aligned<16>,
        /// Last tile of the frame.
        19:19 last_tile: bool,
        /// Full dump: leave the VG mask out.
        18:18 disable_vg_mask_dump: bool,
        /// Full dump: leave Z and stencil out.
        17:17 disable_zs_dump: bool,
        /// Full dump: leave colour out.
        16:16 disable_color_dump: bool,
        /// Do not clear the VG mask buffer.
        15:15 disable_vg_mask_clear: bool,
        /// Do not clear Z and stencil.
        14:14 disable_zs_clear: bool,
        /// Do not clear colour.
        13:13 disable_color_clear: bool,
        /// Do not swap buffers in double-buffer mode.
        12:12 disable_swap: bool,
        /// Pixel format of a colour store that is not HDR.
        9:8 pixel_format: PixelFormat,
        /// Which samples a colour store that is not HDR takes.
        7:6 mode: StoreMode,
        /// Arrangement in memory.
        5:4 format: MemoryFormat,
        /// Buffer to store.
        2:0 buffer: TileBufferSelect,
    }
}

layout! {
    /// Load Tile Buffer General, 29 [AG p.67].
    pub struct LoadGeneral: 48 bits "Load Tile Buffer General" {
        /// Base address of the frame, or of the tile dump.
        47:20 address: Aligned<16>,
        /// Full load: leave the VG mask out.
        18:18 disable_vg_mask_load: bool,
        /// Full load: leave Z and stencil out.
        17:17 disable_zs_load: bool,
        /// Full load: leave colour out.
        16:16 disable_color_load: bool,
        /// Pixel format of a colour load that is not HDR.
        9:8 pixel_format: PixelFormat,
        /// Arrangement in memory.
        5:4 format: MemoryFormat,
        /// Buffer to load.
        2:0 buffer: TileBufferSelect,
    }
}

layout! {
    /// Indexed Primitive List, 32 (OpenGL) [AG p.68].
    pub struct IndexedPrimitiveList: 104 bits "Indexed Primitive List" {
        /// Maximum index; a primitive with a greater one is an error.
        103:72 maximum_index: u32,
        /// Address of the indices.
        71:40 address: BusAddr,
        /// Number of indices.
        39:8 length: u32,
        /// Width of an index.
        7:4 index_type: IndexType,
        /// Primitive mode.
        3:0 mode: PrimitiveMode,
    }
}

layout! {
    /// Vertex Array Primitives, 33 (OpenGL) [AG p.68].
    pub struct VertexArrayPrimitives: 72 bits "Vertex Array Primitives" {
        /// Index of the first vertex.
        71:40 first_vertex: u32,
        /// Number of vertices.
        39:8 length: u32,
        /// Primitive mode; the record gives it 8 bits, of which 3:0 have a meaning.
        3:0 mode: PrimitiveMode,
    }
}

layout! {
    /// VG Coordinate Array Primitives, 41 [AG p.68].
    pub struct VgCoordinateArray: 72 bits "VG Coordinate Array Primitives" {
        /// Address of the coordinates: 32 bits each, x in 15:0, y in 31:16.
        71:40 address: BusAddr,
        /// Number of coordinates [brcm vg_tess_4.c] [PeterLemon]; the guide says primitives.
        39:8 length: u32,
        /// Continues the previous list (triangle fans only).
        7:4 continuation: u8,
        /// Primitive type.
        3:0 primitive: VgPrimitiveType,
    }
}

layout! {
    /// VG Inline Primitives, 42; the coordinates follow [AG p.68].
    pub struct VgInline: 8 bits "VG Inline Primitives" {
        /// Continues the previous list (triangle fans only).
        7:4 continuation: u8,
        /// Primitive type.
        3:0 primitive: VgPrimitiveType,
    }
}

layout! {
    /// Clipped Primitive with Compressed Primitive List, 49; the list follows [AG p.68].
    pub struct ClippedPrimitive: 32 bits "Clipped Primitive with Compressed Primitive List" {
        /// Address of the single clipped primitive's data.
        31:3 address: Aligned<8>,
        /// One flag per vertex of the next primitive: this vertex is clipped.
        2:0 vertices: u8,
    }
}

layout! {
    /// Primitive List Format, 56 [AG p.69].
    pub struct PrimitiveListFormat: 8 bits "Primitive List Format" {
        /// What the lists consist of.
        7:4 data_type: ListDataType,
        /// Primitive type of the lists.
        3:0 primitive: ListPrimitive,
    }
}

layout! {
    /// GL Shader State, 64 [AG p.69].
    pub struct GlShaderState: 32 bits "GL Shader State" {
        /// Address of the shader record.
        31:4 address: Aligned<16>,
        /// The record has 26-bit attribute strides behind it.
        3:3 extended: bool,
        /// Number of attribute arrays, 0 for 8; ignored for extended records.
        2:0 attribute_arrays: u8,
    }
}

layout! {
    /// NV Shader State, 65 (no vertex shading) [AG p.69].
    pub struct NvShaderState: 32 bits "NV Shader State" {
        /// Address of the shader record, 16-byte aligned.
        31:0 address: BusAddr,
    }
}

layout! {
    /// VG Shader State, 66 [AG p.69].
    pub struct VgShaderState: 32 bits "VG Shader State" {
        /// Address of the shader record, 16-byte aligned.
        31:0 address: BusAddr,
    }
}

layout! {
    /// VG Inline Shader Record, 67 [AG p.69].
    pub struct VgInlineShader: 64 bits "VG Inline Shader Record" {
        /// Fragment shader uniforms address, 4-byte aligned.
        63:32 uniforms: BusAddr,
        /// Fragment shader code address.
        31:3 code: Aligned<8>,
        /// Threads of the fragment shader; the field has 3 bits, of which bit 0 has a meaning.
        0:0 threading: Threading,
    }
}

layout! {
    /// Configuration Bits, 96 [AG p.69].
    pub struct ConfigurationBits: 24 bits "Configuration Bits" {
        /// Early Z updates enable.
        17:17 early_z_updates: bool,
        /// Early Z enable.
        16:16 early_z: bool,
        /// Z updates enable.
        15:15 z_updates: bool,
        /// Depth-test function.
        14:12 depth_test: CompareFunction,
        /// Coverage is left in the buffer when read, not cleared.
        11:11 coverage_leave_on_read: bool,
        /// Coverage update mode.
        10:9 coverage_update: CoverageUpdate,
        /// Primitives go to the coverage pipe.
        8:8 coverage_pipe: bool,
        /// Rasteriser oversample mode.
        7:6 oversample: Oversample,
        /// Coverage read type.
        5:5 coverage_read: CoverageRead,
        /// Antialiased points and lines; not actually supported by the hardware.
        4:4 antialiased: bool,
        /// Enable depth offset.
        3:3 depth_offset: bool,
        /// Forward facing primitives are those that run clockwise.
        2:2 clockwise: bool,
        /// Draw reverse facing primitives.
        1:1 reverse_facing: bool,
        /// Draw forward facing primitives.
        0:0 forward_facing: bool,
    }
}

layout! {
    /// Flat Shade Flags, 97 [AG p.70].
    pub struct FlatShadeFlags: 32 bits "Flat Shade Flags" {
        /// One bit per varying: it is not interpolated.
        31:0 flags: u32,
    }
}

layout! {
    /// Points Size, 98 [AG p.70].
    pub struct PointSize: 32 bits "Points Size" {
        /// Width and height in pixels; points of more than 512 are drawn as of 512 [deqp].
        31:0 size: f32,
    }
}

layout! {
    /// Line Width, 99 [AG p.70].
    pub struct LineWidth: 32 bits "Line Width" {
        /// Width in pixels.
        31:0 width: f32,
    }
}

layout! {
    /// RHT X Boundary, 100 [AG p.70].
    pub struct RhtXBoundary: 16 bits "RHT X Boundary" {
        /// X boundary of RHT primitives.
        15:0 x: i16,
    }
}

/// A float of 1 sign, 8 exponent and 7 mantissa bits: the upper half of a 32-bit float.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Float187(pub u16);

impl Float187 {
    /// The value; exact.
    pub const fn to_f32(self) -> f32 {
        f32::from_bits((self.0 as u32) << 16)
    }

    /// The value nearest to zero of the two that enclose `value`.
    pub const fn truncate(value: f32) -> Self {
        Self((value.to_bits() >> 16) as u16)
    }
}

impl crate::layout::FieldType for Float187 {
    fn to_field(self) -> u64 {
        u64::from(self.0)
    }

    fn from_field(bits: u64, _width: u32) -> Self {
        Self(bits as u16)
    }

    fn describe(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_f32())
    }
}

layout! {
    /// Depth Offset, 101 [AG p.70].
    pub struct DepthOffset: 32 bits "Depth Offset" {
        /// Units.
        31:16 units: Float187,
        /// Factor.
        15:0 factor: Float187,
    }
}

layout! {
    /// Clip Window, 102 [AG p.70].
    pub struct ClipWindow: 64 bits "Clip Window" {
        /// Height in pixels.
        63:48 height: u16,
        /// Width in pixels.
        47:32 width: u16,
        /// Bottom pixel coordinate: the row that is lowest in memory.
        31:16 bottom: u16,
        /// Left pixel coordinate.
        15:0 left: u16,
    }
}

layout! {
    /// Viewport Offset, 103 [AG p.70].
    ///
    /// The guide types the coordinates sint16 without a unit; they are pixels in signed 12.4 fixed point
    /// [linux vc4_packet.h: "VC4_PACKET_VIEWPORT_OFFSET"] [mesa v3d_packet_v21.xml].
    pub struct ViewportOffset: 32 bits "Viewport Offset" {
        /// Viewport centre, y, in 1/16 pixel.
        31:16 y: i16,
        /// Viewport centre, x, in 1/16 pixel.
        15:0 x: i16,
    }
}

layout! {
    /// Z Min and Max Clipping Planes, 104 [AG p.70].
    pub struct ZClippingPlanes: 64 bits "Z min and max clipping planes" {
        /// Maximum ZW.
        63:32 maximum: f32,
        /// Minimum ZW.
        31:0 minimum: f32,
    }
}

layout! {
    /// Clipper XY Scaling, 105 [AG p.70].
    pub struct ClipperXyScaling: 64 bits "Clipper XY Scaling" {
        /// Viewport half-height in 1/16 pixel.
        63:32 half_height: f32,
        /// Viewport half-width in 1/16 pixel.
        31:0 half_width: f32,
    }
}

layout! {
    /// Clipper Z Scale and Offset, 106 (printed as a second 105) [AG p.70].
    pub struct ClipperZScaleOffset: 64 bits "Clipper Z Scale and Offset" {
        /// Viewport Z offset (Zc to Zs).
        63:32 offset: f32,
        /// Viewport Z scale (Zc to Zs).
        31:0 scale: f32,
    }
}

layout! {
    /// Tile Binning Mode Configuration, 112 [AG p.71].
    pub struct TileBinningMode: 120 bits "Tile Binning Mode Configuration" {
        /// Double-buffer in non-multisample mode.
        119:119 double_buffer: bool,
        /// Size of the blocks that follow the first one of a tile.
        118:117 block_size: TileBlockSize,
        /// Size of the first block of a tile.
        116:115 initial_block_size: TileBlockSize,
        /// Initialise the tile state data array.
        114:114 auto_initialise: bool,
        /// 64-bit colour depth.
        113:113 color_64_bit: bool,
        /// 4x multisample mode.
        112:112 multisample: bool,
        /// Height in tiles.
        111:104 height_tiles: u8,
        /// Width in tiles.
        103:96 width_tiles: u8,
        /// Tile state data array, 16-byte aligned, 48 bytes a tile.
        95:64 tile_state: BusAddr,
        /// Tile allocation memory size in bytes.
        63:32 tile_allocation_bytes: u32,
        /// Tile allocation memory address.
        31:0 tile_allocation: BusAddr,
    }
}

layout! {
    /// Tile Rendering Mode Configuration, 113 [AG p.71].
    pub struct TileRenderingMode: 80 bits "Tile Rendering Mode Configuration" {
        /// Double-buffer in non-multisample mode.
        76:76 double_buffer: bool,
        /// Early Z and early coverage are off.
        75:75 disable_early_z: bool,
        /// Early Z update direction.
        74:74 early_z_direction: EarlyZDirection,
        /// Select coverage mode.
        73:73 coverage_mode: bool,
        /// Enable the VG mask buffer.
        72:72 vg_mask: bool,
        /// Arrangement of the frame buffer in memory.
        71:70 memory_format: MemoryFormat,
        /// Decimation of records 24 and 25.
        69:68 decimate: DecimateMode,
        /// Frame buffer colour format if not HDR.
        67:66 color_format: FrameBufferFormat,
        /// 64-bit colour depth (HDR mode).
        65:65 color_64_bit: bool,
        /// 4x multisample mode.
        64:64 multisample: bool,
        /// Height in pixels.
        63:48 height: u16,
        /// Width in pixels.
        47:32 width: u16,
        /// Address of the frame buffer.
        31:0 address: BusAddr,
    }
}

layout! {
    /// Clear Colors, 114 [AG p.71].
    pub struct ClearColors: 104 bits "Clear Colors" {
        /// Clear stencil value.
        103:96 stencil: u8,
        /// Clear VG mask value.
        95:88 vg_mask: u8,
        /// Clear Z value.
        87:64 z: u32,
        /// Clear colour: twice rgba8888, or rgba16161616.
        63:0 color: u64,
    }
}

layout! {
    /// Tile Coordinates, 115 [AG p.71].
    pub struct TileCoordinates: 16 bits "Tile Coordinates" {
        /// Tile row number.
        15:8 row: u8,
        /// Tile column number.
        7:0 column: u8,
    }
}

/// In which lists a record may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lists {
    /// Binning lists only.
    Binning,
    /// Rendering lists only, tile lists included.
    Rendering,
    /// Both.
    Both,
}

/// A row of the table of control records.
#[derive(Clone, Copy, Debug)]
pub struct RecordInfo {
    /// Code: the record's first byte.
    pub code: u8,
    /// Name as the guide prints it.
    pub name: &'static str,
    /// Bytes of the record's fixed part, the code included.
    pub bytes: usize,
    /// Whether a list of unknown length follows.
    pub open_ended: bool,
    /// Where it may stand.
    pub lists: Lists,
    /// Fields of its data, in bits from the end of the code byte.
    pub fields: &'static [Field],
}

macro_rules! records {
    (@bytes) => { 1 };
    (@bytes $layout:ty) => { 1 + <$layout as Layout>::BYTES };
    (@fields) => { &[] };
    (@fields $layout:ty) => { <$layout as Layout>::FIELDS };
    (@decode $variant:ident $data:ident) => { Self::$variant };
    (@decode $variant:ident $data:ident $layout:ty) => { Self::$variant(<$layout as Layout>::from_bits($data)) };
    (@open) => { false };
    (@open open) => { true };
    ($(
        $(#[doc = $group_doc:literal])+
        $group:ident $members:ident {
            $(
                $(#[doc = $doc:literal])+
                $code:literal => $variant:ident $(($layout:ident))? $name:literal $lists:ident $($open:ident)?;
            )*
        }
    )*) => {
        /// A control record.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Record {
            $($(
                $(#[doc = $doc])+
                ///
                #[doc = concat!("*", $name, "*: code ", $code)]
                $( #[doc = concat!(", then the bits of [`", stringify!($layout), "`] from the next byte on")] )?
                #[doc = concat!("; [byte by byte](crate::record_pages#record-", $code, ").")]
                $variant $(($layout))?,
            )*)*
        }

        /// A control record by what it acts on, so that each unit matches on its own records only.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum RecordGroup {
            $(
                $(#[doc = $group_doc])+
                $group($members),
            )*
        }

        $(
            $(#[doc = $group_doc])+
            #[derive(Clone, Copy, Debug, PartialEq)]
            pub enum $members {
                $(
                    #[doc = concat!("[`Record::", stringify!($variant), "`]")]
                    $variant $(($layout))?,
                )*
            }

            impl From<$members> for Record {
                fn from(member: $members) -> Self {
                    match member { $( records!(@member $members $variant data $($layout)?) => records!(@named $variant data $($layout)?), )* }
                }
            }
        )*

        impl Record {
            /// All control records, in the order of their codes.
            pub const TABLE: &'static [RecordInfo] = &in_order_of_codes([
                $($( RecordInfo {
                    code: $code,
                    name: $name,
                    bytes: records!(@bytes $($layout)?),
                    open_ended: records!(@open $($open)?),
                    lists: Lists::$lists,
                    fields: records!(@fields $($layout)?),
                }, )*)*
            ]);

            /// The record with the group that it belongs to.
            pub const fn group(self) -> RecordGroup {
                match self {
                    $($(
                        records!(@named $variant data $($layout)?) => {
                            RecordGroup::$group(records!(@member $members $variant data $($layout)?))
                        }
                    )*)*
                }
            }

            /// The record's code.
            pub const fn code(&self) -> u8 {
                match self { $($( records!(@pattern $variant $($layout)?) => $code, )*)* }
            }

            /// Bytes of the record's fixed part.
            pub const fn bytes(&self) -> usize {
                match self { $($( records!(@pattern $variant $($layout)?) => records!(@bytes $($layout)?), )*)* }
            }

            fn from_data(code: u8, data: u128) -> Option<Self> {
                let _ = data;
                match code {
                    $($( $code => Some(records!(@decode $variant data $($layout)?)), )*)*
                    _ => None,
                }
            }

            fn data_bits(&self) -> Result<u128, FieldError> {
                match self { $($( records!(@named $variant record $($layout)?) => records!(@value record $($layout)?), )*)* }
            }
        }

        $($($(
            impl From<$layout> for Record {
                fn from(data: $layout) -> Self {
                    records!(@named $variant data $layout)
                }
            }
        )?)*)*
    };
    (@pattern $variant:ident) => { Self::$variant };
    (@pattern $variant:ident $layout:ident) => { Self::$variant(_) };
    (@named $variant:ident $record:ident) => { Self::$variant };
    (@named $variant:ident $record:ident $layout:ident) => { Self::$variant($record) };
    (@member $members:ident $variant:ident $data:ident) => { $members::$variant };
    (@member $members:ident $variant:ident $data:ident $layout:ident) => { $members::$variant($data) };
    (@value $record:ident) => { Ok(0) };
    (@value $record:ident $layout:ident) => { $record.to_bits() };
}

/// Sorts the rows of the groups by their codes.
const fn in_order_of_codes<const N: usize>(mut rows: [RecordInfo; N]) -> [RecordInfo; N] {
    let mut sorted = 1;
    while sorted < N {
        let mut at = sorted;
        while at > 0 && rows[at - 1].code > rows[at].code {
            (rows[at - 1], rows[at]) = (rows[at], rows[at - 1]);
            at -= 1;
        }
        sorted += 1;
    }
    rows
}

records! {
    /// Flow of the list, synchronisation, and control of the binner: executed by the CLE itself.
    Control ControlRecord {
        /// Stops the thread: "stopped at halt".
        0 => Halt "Halt" Both;
        /// Nothing.
        1 => Nop "NOP" Both;
        /// Adds Return from Sub-list to all tile lists and writes them to memory.
        4 => Flush "Flush" Binning;
        /// As Flush, but first writes the current state to all tile lists.
        5 => FlushAllState "Flush All State" Binning;
        /// Advances the state counter, so that the state items before it go into the tile lists.
        6 => StartTileBinning "Start Tile Binning" Binning;
        /// Increments the other thread's semaphore, once tile lists are flushed or the last tile is written.
        7 => IncrementSemaphore "Increment Semaphore" Both;
        /// Waits for this thread's semaphore and decrements it.
        8 => WaitOnSemaphore "Wait on Semaphore" Both;
        /// Goes on at an address.
        16 => Branch(Branch) "Branch" Both;
        /// Calls a sub-list; two levels at most.
        17 => BranchToSubList(BranchToSubList) "Branch to Sub-list" Both;
        /// Returns from a sub-list; ignored if there is nothing to return to.
        18 => ReturnFromSubList "Return from Sub-list" Both;
        /// Configures binning.
        112 => TileBinningMode(TileBinningMode) "Tile Binning Mode Configuration" Binning;
    }

    /// Pipeline state of the thread that reads it, which applies to the primitives behind it; the binner copies most of it into tile lists.
    State StateRecord {
        /// Format of compressed lists; takes effect with the next shader state.
        56 => PrimitiveListFormat(PrimitiveListFormat) "Primitive List Format" Both;
        /// Shaders with vertex shading.
        64 => GlShaderState(GlShaderState) "GL Shader State" Both;
        /// Shaders without vertex shading.
        65 => NvShaderState(NvShaderState) "NV Shader State" Both;
        /// Shaders of OpenVG.
        66 => VgShaderState(VgShaderState) "VG Shader State" Both;
        /// Shader of OpenVG, given in the list.
        67 => VgInlineShader(VgInlineShader) "VG Inline Shader Record" Both;
        /// Depth test, culling, oversampling, coverage.
        96 => ConfigurationBits(ConfigurationBits) "Configuration Bits" Both;
        /// Which varyings are flat.
        97 => FlatShadeFlags(FlatShadeFlags) "Flat Shade Flags" Both;
        /// Size of points.
        98 => PointSize(PointSize) "Points Size" Both;
        /// Width of lines.
        99 => LineWidth(LineWidth) "Line Width" Both;
        /// Boundary of RHTs.
        100 => RhtXBoundary(RhtXBoundary) "RHT X Boundary" Both;
        /// Depth offset.
        101 => DepthOffset(DepthOffset) "Depth Offset" Both;
        /// Clip window.
        102 => ClipWindow(ClipWindow) "Clip Window" Both;
        /// Centre of the viewport.
        103 => ViewportOffset(ViewportOffset) "Viewport Offset" Both;
        /// Clipping planes.
        104 => ZClippingPlanes(ZClippingPlanes) "Z min and max clipping planes" Both;
        /// Scaling of the clipper.
        105 => ClipperXyScaling(ClipperXyScaling) "Clipper XY Scaling" Binning;
        /// Z scale and offset of the clipper.
        106 => ClipperZScaleOffset(ClipperZScaleOffset) "Clipper Z Scale and Offset" Binning;
    }

    /// Primitives.
    Draw DrawRecord {
        /// Draws by indices.
        32 => IndexedPrimitiveList(IndexedPrimitiveList) "Indexed Primitive List" Both;
        /// Draws vertices in their order.
        33 => VertexArrayPrimitives(VertexArrayPrimitives) "Vertex Array Primitives" Both;
        /// Draws screen coordinates in VG shader mode.
        41 => VgCoordinateArray(VgCoordinateArray) "VG Coordinate Array Primitives" Both;
        /// Draws the screen coordinates that follow, in VG shader mode.
        42 => VgInline(VgInline) "VG Inline Primitives" Both open;
        /// Draws the compressed list that follows.
        48 => CompressedPrimitiveList "Compressed Primitive List" Rendering open;
        /// The same, its first primitive being clipped.
        49 => ClippedPrimitive(ClippedPrimitive) "Clipped Primitive with Compressed Primitive List" Rendering open;
    }

    /// The tile buffer: its configuration, clears, loads and stores.
    Tile TileRecord {
        /// Stores the tile's resolved colour as the rendering mode says.
        24 => StoreResolved "Store Multi-sample Resolved Tile Color Buffer" Rendering;
        /// The same, and the frame is complete.
        25 => StoreResolvedEndOfFrame "Store Multi-sample Resolved Tile Color Buffer and signal end of frame" Rendering;
        /// Stores all samples.
        26 => StoreFullResolution(StoreFullResolution) "Store Full Resolution Tile Buffer" Rendering;
        /// Loads all samples.
        27 => LoadFullResolution(LoadFullResolution) "Re-load Full Resolution Tile Buffer" Rendering;
        /// Stores one buffer.
        28 => StoreGeneral(StoreGeneral) "Store Tile Buffer General" Rendering;
        /// Loads one buffer.
        29 => LoadGeneral(LoadGeneral) "Load Tile Buffer General" Rendering;
        /// Configures rendering.
        113 => TileRenderingMode(TileRenderingMode) "Tile Rendering Mode Configuration" Rendering;
        /// Clear values.
        114 => ClearColors(ClearColors) "Clear Colors" Rendering;
        /// Begins a tile.
        115 => TileCoordinates(TileCoordinates) "Tile Coordinates" Rendering;
    }
}

/// The longest fixed part of a record in bytes (Tile Binning Mode Configuration).
pub const MAX_RECORD_BYTES: usize = 16;

/// Why bytes are not a control record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The code is reserved.
    ReservedCode(u8),
    /// The record is cut short.
    Truncated {
        /// Code of the record.
        code: u8,
        /// Bytes it has.
        needed: usize,
        /// Bytes there are.
        available: usize,
    },
    /// There is no byte at all.
    Empty,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::ReservedCode(code) => write!(f, "control record code {code} is reserved"),
            Self::Truncated { code, needed, available } => {
                let name = RecordInfo::of(code).map_or("unknown", |info| info.name);
                write!(f, "control record {code} ({name}) has {needed} bytes, but only {available} are left")
            }
            Self::Empty => f.write_str("no bytes where a control record should be"),
        }
    }
}

impl core::error::Error for DecodeError {}

impl RecordInfo {
    /// The row of a code; `None` for reserved codes.
    pub fn of(code: u8) -> Option<&'static Self> {
        Record::TABLE.iter().find(|info| info.code == code)
    }
}

impl Record {
    /// The record's row of the table.
    pub fn info(&self) -> &'static RecordInfo {
        RecordInfo::of(self.code()).unwrap_or(&Self::TABLE[0])
    }

    /// Decodes the record at the start of `bytes`; its length is [`Record::bytes`].
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let &code = bytes.first().ok_or(DecodeError::Empty)?;
        let info = RecordInfo::of(code).ok_or(DecodeError::ReservedCode(code))?;
        let data = bytes.get(1..info.bytes).ok_or(DecodeError::Truncated {
            code,
            needed: info.bytes,
            available: bytes.len(),
        })?;
        let mut word = [0; 16];
        word[..data.len()].copy_from_slice(data);
        Self::from_data(code, u128::from_le_bytes(word)).ok_or(DecodeError::ReservedCode(code))
    }

    /// The record's bytes, of which the first [`Record::bytes`] count.
    pub fn encode(&self) -> Result<[u8; MAX_RECORD_BYTES], FieldError> {
        let data = self.data_bits()?.to_le_bytes();
        let mut bytes = [0; MAX_RECORD_BYTES];
        bytes[0] = self.code();
        bytes[1..].copy_from_slice(&data[..MAX_RECORD_BYTES - 1]);
        Ok(bytes)
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let info = self.info();
        f.write_str(info.name)?;
        match self.data_bits() {
            Ok(bits) if !info.fields.is_empty() => write!(f, " {}", Explained { fields: info.fields, bits }),
            Ok(_) => Ok(()),
            Err(error) => write!(f, " ({error})"),
        }
    }
}
