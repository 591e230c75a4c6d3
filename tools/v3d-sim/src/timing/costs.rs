//! Costs: the timing model's table, in V3D clock cycles, each with its source.
//!
//! The guide gives few times. Most of these were measured on boards by others: [imrc] are the measurements at imrc.noip.me/blog/vc4 (Raspberry Pi 2 and 3, each
//! with its number), [vc4cl] the experiments noted in doe300/VC4CL and in the emulator of doe300/VC4C. Guesses are marked as such.
//!
//! The times of the SDRAM do not depend on the V3D's clock: they are in nanoseconds, and [`Machine::clock_mhz`](super::Machine::clock_mhz) turns them into
//! cycles.
//!
//! # Calibration
//! Five costs were fitted to times of a board, each to rows of [`workload::rows`](crate::timing::workload::rows), which says why they determine that cost; they
//! are marked [calibrated]. `v3d conform timing` compares all rows. No cost was fitted to the others.
//!
//! # Comparison with a board
//! [gpu_fft.txt] are the run times that Andrew Holme published with GPU_FFT 3.0 [raspberrypi/userland, hello_fft] for a Raspberry Pi 1 that uses the chip's
//! cache. The model ran the same programs through the alias that uses the cache; sizes up to 2^14 were run twice, and the second run counts. 0.015 ms are added
//! for a call, which is the difference between the published times of one transform and of a transform in a batch of ten.
//! `v3d conform timing --gpu-fft DIR` repeats it, with the folder of the programs. Milliseconds for a transform:
//!
//! | points | alone, published | modelled | ratio | in a batch of ten, published | modelled | ratio |
//! |---|---|---|---|---|---|---|
//! | 2^8 | 0.033 | 0.036 | 1.09 | 0.017 | 0.015 | 0.89 |
//! | 2^9 | 0.049 | 0.049 | 0.99 | 0.029 | 0.031 | 1.08 |
//! | 2^10 | 0.070 | 0.065 | 0.92 | 0.049 | 0.052 | 1.06 |
//! | 2^11 | 0.12 | 0.103 | 0.86 | 0.11 | 0.103 | 0.94 |
//! | 2^12 | 0.25 | 0.235 | 0.94 | 0.27 | 0.263 | 0.97 |
//! | 2^13 | 0.61 | 0.520 | 0.85 | 0.66 | 0.591 | 0.90 |
//! | 2^14 | 1.2 | 1.09 | 0.91 | 1.2 | 1.12 | 0.93 |
//! | 2^15 | 3.5 | 3.37 | 0.96 | 3.3 | 3.37 | 1.02 |
//! | 2^16 | 7.0 | 6.66 | 0.95 | | | |
//! | 2^17 | 17 | 15.7 | 0.93 | | | |
//! | 2^18 | 43 | 38.9 | 0.90 | | | |
//! | 2^19 | 97 | 93.3 | 0.96 | | | |
//! | 2^20 | 194 | 184.8 | 0.95 | | | |
//! | 2^21 | 388 | 374.5 | 0.97 | | | |
//! | 2^22 | 786 | 751.6 | 0.96 | | | |
//!
//! If the chip's cache is empty, 2^8 takes 0.040 ms, which is a fifth too much. No figure below was fitted to one of these sizes; figures that these times have
//! confirmed or decided are marked [inferred]. From 2^15 to 2^17 memory is the bottleneck, and busy for 85 to 89 % of the time. Without the chip's cache, 2^15
//! and 2^17 are 2 to 3 % faster; the author's source says that this improves longer transforms, too.
//!
//! The guesses have little effect, with one exception: halving or doubling [`SDRAM_LATENCY_NS`] changes 2^11 by 3 to 6 % and 2^15 by less than 1 %;
//! [`WRITE_BACKLOG_NS`] from 64 to 1024 changes 2^11, 2^13, 2^15 and 2^16 by at most 3 %; doubling [`MEMORY_PORT`] makes 2^13 a fifth slower, and the others at
//! most 3 %.

/// An instruction: four elements in each cycle [AG p.16].
pub const INSTRUCTION: u64 = 4;

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
/// From the chip's cache to the V3D's L2: eight instructions were measured from memory [vc4cl]. It is a guess that these were from the chip's cache, as no
/// SDRAM is that fast.
pub const MEMORY_LATENCY: u64 = 32;
/// A line on its way to or from memory: 16 bytes a cycle, a guess.
pub const MEMORY_PORT: u64 = 4;
/// Bytes of the chip's own L2 cache and its ways: 128 KiB in four, as one of its makers has said [hermanhermitage wiki, "BCM2835 Overview"].
/// The length of its lines, [`LINE_BYTES`], is a guess.
pub const SYSTEM_CACHE: (u32, usize) = (128 * 1024, 4);
/// Writes from the cache to the SDRAM that may be pending, in nanoseconds, before the next write has to wait: a guess.
pub const WRITE_BACKLOG_NS: u64 = 256;
/// From the SDRAM to the chip's cache, in addition to the SDRAM's own time, in nanoseconds: a guess.
pub const SDRAM_LATENCY_NS: u64 = 80;
/// A line, in nanoseconds: the SDRAM's bus transfers 32 bits twice in each cycle of 400 MHz [LPDDR2-800, Raspberry Pi 1].
pub const SDRAM_LINE_NS: u64 = 20;
/// To open another row, in nanoseconds, in addition to [`SDRAM_LINE_NS`]: a line from another row of the same bank takes 60 ns, which is a usual tRC of LPDDR2.
/// It is a simplification that no bank works while another opens a row. [inferred] from the sizes from 2^15 on, all of which agree.
pub const SDRAM_ROW_NS: u64 = 40;
/// Banks of the SDRAM [ISSI IS43LD32128A, an LPDDR2 part of 4 Gbit].
pub const SDRAM_BANKS: usize = 8;
/// Bytes of a row: 1024 columns of 32 bits [ISSI IS43LD32128A]. That successive rows are in successive banks is a guess.
pub const SDRAM_ROW_BYTES: u32 = 4096;
/// The smallest transfer of the SDRAM: a burst of eight, one of three possible lengths; which one boards use is a guess.
pub const SDRAM_BURST_BYTES: u32 = 32;
/// Each further line of the same lookup, since lines come one after the other: 8 bytes a cycle, a guess.
pub const LINE_TRANSFER: u64 = 8;

/// Words in the FIFO between the uniforms cache and a program: it is filled when a program starts [imrc QI3].
pub const UNIFORMS_FIFO: usize = 2;
/// From the uniforms cache to that FIFO. With it, 64 reads in a row run at 0.6 of the speed, as measured [imrc QU3-6].
pub const UNIFORM_LATENCY: u64 = 8;

/// From a TMU request to its result, if all is in the TMU's cache: [calibrated] by row 15. Nine instructions, that is 36 cycles, were noted by [vc4cl].
pub const TMU_LATENCY: u64 = 46;
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

/// From a free QPU to the first instruction of a vertex or fragment program, unless another thread occupies the QPU meanwhile: [calibrated] by row 18, which
/// takes 12 cycles a batch more than row 12. That it applies to vertices is a guess. User programs start without it.
pub const BATCH_START: u64 = 12;
/// A byte of a control list that the CLE reads: a guess.
pub const LIST_BYTE: u64 = 1;
/// A primitive that the PTB writes to the list of a tile: a guess. Row 4 leaves room for 1.5 at most: each of its triangles is in some 35 tiles, and takes some
/// 54 cycles to bin.
pub const PTB_ENTRY: u64 = 1;
/// Set-up of a primitive in the PSE: a guess. No row shows it: vertices take longer in all of them.
pub const PSE_PRIMITIVE: u64 = 10;
/// The TLB loads or stores a quad each cycle, in any format, those outside of the image included: 1,024 of the 1,050 cycles a tile of row 1. That the format
/// does not matter is inferred from row 6, which stores 32 bits a pixel, and from 320x240 Z values that take some 80 µs [piegpu].
pub const TLB_QUAD: u64 = 1;
/// A load or store of a tile, in addition to its quads: what is left of row 1, [calibrated].
pub const TILE_MOVE: u64 = 28;
/// A load waits for memory once for each contiguous piece of an image that a tile reads, in nanoseconds: for a raster image once for each row.
/// [calibrated] by the mean of rows 7 and 8, the only ones that load their page. It is as long as a read of another row of the SDRAM takes
/// ([`SDRAM_LATENCY_NS`], [`SDRAM_ROW_NS`] and [`SDRAM_LINE_NS`] are 140 ns), as if no request were made before the one before it is answered.
pub const TILE_LOAD_PIECE_NS: u64 = 147;

/// From a VPM read set-up to its first vector: five instructions [imrc QV56]. The guide says at least three [AG p.56].
pub const VPM_READ_LATENCY: u64 = 20;
/// A vector occupies the VPM, whichever unit accesses it: four words a cycle, as the QPU takes them; a guess.
pub const VPM_VECTOR: u64 = 4;
/// From the start of a VPM DMA load to its first burst: six instructions [vc4c issue 15]. It begins when the block before is done, as it does for stores.
pub const DMA_LOAD_LATENCY: u64 = 24;
/// From the start of a VPM DMA store to its first burst: ten instructions [vc4c issue 15]. It begins when the block before is done: [inferred]
/// from what GPU_FFT loses from 2^18 on, where it stores rows one by one.
pub const DMA_STORE_LATENCY: u64 = 40;
/// A line by DMA into the VPM: 690 MB/s, reported second-hand and without a method; a clock of 250 MHz is assumed.
pub const DMA_LOAD_LINE: u64 = 23;
/// A line by DMA out of the VPM: 1,120 MB/s, of the same source.
pub const DMA_STORE_LINE: u64 = 14;
/// A shorter burst of DMA occupies its channel as long as one of this many bytes: a guess.
pub const DMA_BURST_BYTES: u32 = 16;
/// A line of memory in which a vertex or its attributes lie, fetched by the VCD for this vertex alone: [calibrated] by the binning of row 3, which takes 13.3
/// cycles a vertex, every eighth of which lies in two lines.
pub const VCD_LINE: u64 = 12;
/// Vertices that the VCM still has when a primitive refers to them again: those of a batch, a guess.
pub const VCM_VERTICES: usize = 16;
