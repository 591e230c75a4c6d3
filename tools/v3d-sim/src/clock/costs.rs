//! What things cost: the clock's table, in V3D clock cycles, each with its source.
//!
//! The guide gives few times. Most of these were measured on boards by others: [imrc] are the measurements at imrc.noip.me/blog/vc4 (Raspberry Pi 2 and
//! 3, each with its number), [vc4cl] the experiments noted in doe300/VC4CL and the emulator of doe300/VC4C. What stands as a guess is one.

use crate::qpu::INSTRUCTION_CYCLES;

/// An instruction.
pub const INSTRUCTION: u64 = INSTRUCTION_CYCLES;

/// Bytes of a line of any cache [imrc QI3, QT12, QU16].
pub const LINE_BYTES: u32 = 64;
/// Bytes of a slice's instruction cache. Loops of more than 512 instructions become slower [imrc QU3-6]; ways are a guess.
pub const INSTRUCTION_CACHE: (u32, usize) = (4096, 4);
/// Bytes of a slice's uniforms cache, and its ways: a guess.
pub const UNIFORMS_CACHE: (u32, usize) = (4096, 4);
/// Bytes of a TMU's cache, which is direct mapped [imrc QT10, QT31].
pub const TEXTURE_CACHE: (u32, usize) = (4096, 1);
/// Bytes of the L2 cache, a guess, and its ways [imrc QT31].
pub const L2_CACHE: (u32, usize) = (32 * 1024, 4);

/// From the L2 cache to one of the first level: three instructions [vc4cl].
pub const L2_LATENCY: u64 = 12;
/// From memory to the L2 cache: eight instructions [vc4cl].
pub const MEMORY_LATENCY: u64 = 32;
/// Each further line of the same lookup, since lines come one after the other: 8 bytes a cycle, a guess.
pub const LINE_TRANSFER: u64 = 8;

/// Words in the FIFO between the uniforms cache and a program: it is filled when a program starts [imrc QI3].
pub const UNIFORMS_FIFO: usize = 2;
/// From the uniforms cache to that FIFO. With it, 64 reads in a row run at 0.6 of the speed, as measured [imrc QU3-6].
pub const UNIFORM_LATENCY: u64 = 8;

/// From a TMU request to its result, if all is in the TMU's cache: nine instructions [vc4cl].
pub const TMU_LATENCY: u64 = 36;
/// A request of 16 elements keeps a TMU busy: six TMUs at 250 MHz give the 1.5 gigatexels a second of the data sheet.
pub const TMU_VECTOR: u64 = 16;
/// Requests that a TMU takes from a QPU before it has to begin one of them [AG p.39].
pub const TMU_REQUESTS: usize = 4;

/// A varying of 16 elements: a slice's interpolators give two in the time of an instruction [AG p.51].
pub const VARYING: u64 = 2;
/// Varyings that are interpolated before they are asked for: "a small FIFO" [AG p.51], its depth a guess.
pub const VARYINGS_FIFO: usize = 2;

/// The rasteriser gives a quad each cycle [AG p.14].
pub const FEP_QUAD: u64 = 1;

/// A byte of a control list, read by the CLE or written by the PTB: a guess.
pub const LIST_BYTE: u64 = 1;
/// Set-up of a primitive in the PSE: a guess.
pub const PSE_PRIMITIVE: u64 = 10;
/// Bytes of a tile that the TLB stores in a cycle: those of [`LINE_TRANSFER`], a guess.
pub const TILE_STORE_BYTES: u64 = LINE_BYTES as u64 / LINE_TRANSFER;

/// From a VPM read set-up to its first vector: five instructions [imrc QV56]. The guide says at least three [AG p.56].
pub const VPM_READ_LATENCY: u64 = 20;
/// A vector keeps the VPM busy, whoever accesses it: four words a cycle, as the QPU takes them; a guess.
pub const VPM_VECTOR: u64 = 4;
/// From the start of a VPM DMA to its first vector: six instructions for loads [vc4c issue 15].
pub const DMA_LOAD_LATENCY: u64 = 24;
/// From the start of a VPM DMA to its first vector: ten instructions for stores [vc4c issue 15].
pub const DMA_STORE_LATENCY: u64 = 40;
/// A vector of 64 bytes between VPM and memory: 8 bytes a cycle, a guess.
pub const DMA_VECTOR: u64 = 8;
