//! The VideoCore IV 3D hardware as its manual describes it: layouts and names.
//!
//! Everything that the architecture guide says in a table is said here in a table, once: registers, control
//! records, shader records, shaded vertices, compressed primitive lists, texture parameters, VPM set-up words,
//! tilings and QPU instructions. The driver *writes* with these tables, the model *reads* with them and the tools
//! *explain* with them. There is no behaviour in this crate: nothing is executed, nothing is stored, nothing is
//! accessed.
//!
//! # How a table is read
//! A [`layout!`] gives a structure its bit fields as the guide does, `hi:lo name: Type`. From it come the plain
//! structure, an encoder that refuses values which do not fit ([`FieldError`]), a decoder that never fails, and a printed
//! form with field names. A [`codes!`] gives the values of a coded field their names.
//!
//! # Definitions
//! | word | meaning |
//! |---|---|
//! | BCL, RCL | binning control list, rendering control list |
//! | CAP | coverage accumulate pipe, for OpenVG |
//! | CLE | control list executor; thread 0 bins, thread 1 renders |
//! | FEP | front end pipe: rasteriser, early Z, Z and W interpolation |
//! | L2C | level 2 cache, shared by TMUs, uniforms and instructions |
//! | LT-format, T-format | tiled image layouts, see [`tiling`] |
//! | micro-tile | 64 bytes of image, the unit of both tiled layouts |
//! | PSE | primitive setup engine |
//! | PTB | primitive tile binner |
//! | QIC, QUC | instruction cache, uniforms cache of a slice |
//! | QPS | QPU scheduler |
//! | QPU | quad processor: 16 lanes of 32 bits, as four quads of four elements |
//! | quad | 2x2 pixels |
//! | RHT | rectangle made of two right-angled triangles (OpenVG) |
//! | SFU | special functions unit: 1/x, 1/sqrt(x), 2^x, log2(x) |
//! | slice | up to four QPUs with their caches, SFU, TMUs and varyings interpolator |
//! | TLB | tile buffer: colour, Z, stencil and alpha mask of one tile |
//! | TMU | texture and memory lookup unit |
//! | VCD, VCM | vertex cache DMA and manager: fetch attributes into the VPM |
//! | VDR, VDW | DMA from memory to VPM, and from VPM to memory |
//! | VPM | vertex pipe memory, a 16-word-wide array shared by all QPUs |
//! | VRI | varyings interpolator of a slice |
//!
//! # Sources
//! `[AG p.N]` is page N of the *VideoCore IV 3D Architecture Reference Guide*, VideoCoreIV-AG100-R, 16 September
//! 2013. `[linux FILE]` and `[mesa FILE]` are facts taken from the vc4 drivers of those projects, `[vc4asm]` from its
//! documentation, `[brcm]` from the register headers that the vendor published, `[silicon]` from values recorded on real boards.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

pub mod address;
pub mod control_list;
pub mod layout;
pub mod primitive_list;
pub mod qpu;
pub mod registers;
pub mod shaded_vertex;
pub mod shader_record;
pub mod texture;
pub mod tile_buffer;
pub mod tiling;
pub mod vpm;

pub use address::{Aligned, ArmPhys, BusAddr};
pub use layout::{Field, FieldError, FieldType, Layout};
