//! The VideoCore IV 3D hardware as its manual describes it: layouts and names.
//!
//! Everything that the architecture guide says in a table is said here in a table, once: registers, control
//! records, shader records, shaded vertices, compressed primitive lists, texture parameters, VPM set-up words,
//! tilings and QPU instructions. The driver *writes* with these tables, the model *reads* with them and the tools
//! *explain* with them. Nothing is executed, stored or accessed in this crate. What follows from the fields of one
//! structure alone is computed here: an address in a tiled image ([`tiling`]), and which registers and units an
//! instruction reads and writes ([`qpu::accesses`]). What then happens in them is not.
//!
//! # Where to begin
//! [`answers`] says in a few sentences each how a frame is set up that is only cleared, what a binning list begins with, how programs use the VPM, what the
//! texture parameters are, how attributes are found, where a pixel of a tiled image stands, which caches to clear, which interrupts there are, what to do when
//! the binner runs out of memory, how a user program is started, and how to recover from a hang. [`Record`](control_list::Record) and
//! [`Register`](registers::Register) list all control records and registers; the page of each structure shows its bits.
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
//! | RHT | the area between an edge and a vertical line (OpenVG); the guide does not explain the letters |
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
//! A fact that is not this project's own carries a tag in brackets, with page, file or number where there is one. The tags of the whole repository:
//!
//! | tag | source |
//! |---|---|
//! | `[AG p.N]` | page N (or a section) of Broadcom's *VideoCore IV 3D Architecture Reference Guide*, VideoCoreIV-AG100-R, 16 September 2013 |
//! | `[linux FILE]` | Linux: `drivers/gpu/drm/vc4`, and the drivers and device trees of the rest of the hardware |
//! | `[mesa FILE]` | Mesa: the Gallium driver `vc4` and its packet descriptions; files with `v3dx` are those of the driver for the V3D's successors |
//! | `[brcm]` | Broadcom's user library for Android, brcm_usrlib: registers, drivers (`vg_hw_4.c`, `glxx_hw_4.c`), errata (`HW-2806`) |
//! | `[brcm vc5]` | Broadcom's driver for the V3D's successor, in its software for television boxes: `gfx_ez.c` |
//! | `[vc4asm]` | maazl/vc4asm: documentation, addendum to the guide, issues |
//! | `[asurati]` | asurati/x03, a system that drives the V3D on boards, and its author's articles |
//! | `[aros]`, `[reactos]` | the V3D drivers of AROS and of ReactOS |
//! | `[lk]` | librerpi/lk-overlay: firmware in place of the vendor's, on Little Kernel |
//! | `[pyvc]` | nineties/py-videocore, an assembler in Python |
//! | `[hello_fft]` | GPU_FFT in the examples of Raspberry Pi's userland |
//! | `[vc4cl]`, `[vc4c]` | doe300/VC4CL and doe300/VC4C: notes on experiments, the emulator, issues |
//! | `[imrc NUMBER]` | measurements of a Raspberry Pi 2 and 3 at imrc.noip.me/blog/vc4 |
//! | `[bm]`, `[bm FILE]` | f-accomando/bm, a system for the Raspberry Pi Zero W: its notes and reports of its tests, of which only figures are used |
//! | `[kumaashi]` | kumaashi/RaspberryPI, demos whose shaders were assembled with a newer vc4asm |
//! | `[PeterLemon]`, `[PeterLemon NAME]` | PeterLemon/RaspberryPi, demos in assembler that drive the V3D on boards; NAME is the demo's folder |
//! | `[deqp]` | deduced from which tests of dEQP-GLES2, run through Mesa's driver on the model, a Pi 3 fails by Mesa's list `broadcom-rpi3-fails.txt` |
//! | `[piegpu]`, `[piegpu FILE]` | anight/piegpu, an OpenGL ES 2 server on the Pi Zero W and Zero 2 W: docs/development.md |
//! | `[rpi-hal]`, `[rpi-hal FILE]` | joeferner/rpi-hal, a hardware layer in Rust with a V3D driver for the Pi 2 and 3: what its author saw on a Pi 3 |
//! | `[zephyr]` | jetpax/zephyr, a Zephyr with a driver for user programs of the V3D of the Pi Zero 2 W |
//! | `[mesa CI]` | the lists of expected failures and of skipped tests for the Pi 3 in Mesa's `src/broadcom/ci` |
//! | `[JayStation]` | JayStation's articles on shaders, VPM and textures of the VideoCore IV |
//! | `[qemu]` | QEMU 7.2: its source, or what it was seen to do |
//! | `[silicon]` | values recorded on real boards; the tables and pictures stand in `tools/v3d-sim/tests/vectors` and `silicon` |
//! | `[measured]` | found by running this repository's own code on a host, on no board |
//!
//! Published documents go by their own names: RFC 4648, AAPCS64, BCM2835 ARM Peripherals, QA7 (the ARM cores' own peripherals), DDI 0183G (PL011), the ETC1
//! extension of OpenGL ES.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

pub mod address;
pub mod answers;
pub mod control_list;
pub mod layout;
pub mod primitive_list;
pub mod qpu;
pub mod record_pages;
pub mod registers;
pub mod shaded_vertex;
pub mod shader_record;
pub mod texture;
pub mod tile_buffer;
pub mod tiling;
pub mod vpm;

pub use address::{Aligned, ArmPhys, BusAddr};
pub use layout::{Field, FieldError, FieldType, Layout};

/// Has the examples of the README tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
