//! Questions that programmers of this hardware ask first, with their answers.
//!
//! Each answer names the records and registers, whose pages show every bit, and the code of this repository
//! that does it. [`record_pages`](crate::record_pages) shows every control record byte by byte.
//!
//! | question | answer |
//! |---|---|
//! | [How is a frame set up that is only cleared?](#a-frame-that-is-only-cleared) | one rendering list, thread 1 |
//! | [What does a binning list begin with?](#binning-mode) | Tile Binning Mode Configuration (112) |
//! | [How do programs read and write the VPM?](#vpm-set-up) | a set-up word, then reads and writes |
//! | [What are the four texture parameters?](#texture-parameters-0-to-3) | uniforms that a TMU write takes |
//! | [How are vertices found in memory?](#the-attribute-record) | eight bytes an attribute behind the shader record |
//! | [Where does a pixel of a tiled image stand?](#t-format-and-lt-format) | micro-tiles, sub-tiles, tiles |
//! | [Which caches have to be cleared, and when?](#caches) | all of them, before each job |
//! | [Which interrupts are there?](#interrupts) | four |
//! | [What if the binner runs out of memory?](#overflow-memory) | give it a block while it waits |
//! | [How is a user program started?](#user-programs) | three registers |
//! | [How does a driver come back from a hang?](#recovery-from-a-hang) | look at the addresses, keep the state, reset |
//!
//! # A frame that is only cleared
//! A rendering list without branches to tile lists, for thread 1 \[AG p.65-71\] \[linux vc4_render_cl.c\]:
//! 1. [Clear Colors](crate::control_list::ClearColors), 114. The colour is in it twice, for both halves of a 64-bit tile buffer.
//! 2. [Tile Rendering Mode Configuration](crate::control_list::TileRenderingMode), 113: address, size, format and arrangement of the picture.
//! 3. [Tile Coordinates](crate::control_list::TileCoordinates), 115, and [Store Tile Buffer General](crate::control_list::StoreGeneral), 28, of no buffer:
//!    the tile buffer is cleared by a *store*, so the first tile needs one of nothing.
//! 4. For each tile: Tile Coordinates, and record 24, which stores the colour as 113 says; for the last tile record 25, which also ends the frame.
//!
//! Write the list's first address to CT1CA and the address behind its last byte to CT1EA. The frame is done when the interrupt `frdone` comes, or RFC has
//! counted one more. In code: `kernel/v3d/src/lists/rendering_list.rs`.
//!
//! # Binning mode
//! [Tile Binning Mode Configuration](crate::control_list::TileBinningMode), 112, comes first; then [Start Tile
//! Binning](crate::control_list::Record::StartTileBinning), 6; then state, draws, and at the end [Flush](crate::control_list::Record::Flush), 4. A tile is
//! 64 x 64 pixels, half as wide and high with four samples, half as high with a 64-bit tile buffer or two buffers
//! ([`tile_size_px`](crate::tile_buffer::tile_size_px)). The tile allocation memory has one first block for each tile, then those that the PTB takes as
//! lists grow; the tile state data array has 48 bytes a tile. In code: `kernel/v3d/src/memory/tile_memory.rs`, `binning_list.rs`.
//!
//! # VPM set-up
//! A write to the register `vr_setup` ([ReadSetup](crate::vpm::ReadSetup)) says what the next reads of `vpm` yield; at least three instructions lie between
//! them \[AG p.56\]. A write to `vw_setup` ([WriteSetup](crate::vpm::WriteSetup)) says where the next writes go. The same two registers take the set-ups of
//! the DMA between VPM and memory: [StoreSetup](crate::vpm::StoreSetup) and [LoadSetup](crate::vpm::LoadSetup), and their strides; the top bits tell which
//! one a word is ([WriteSetupWord](crate::vpm::WriteSetupWord), [ReadSetupWord](crate::vpm::ReadSetupWord)). A transfer begins with a write of the address.
//!
//! # Texture parameters 0 to 3
//! Each write of a texture coordinate takes the next uniform, in the order of the writes; the write of `s` starts the lookup \[AG p.39-43\]:
//! - first: [Parameter0](crate::texture::Parameter0), base address, type, levels; second: [Parameter1](crate::texture::Parameter1), size, filters, wrap
//!   modes;
//! - third, if r or b is written too: the [stride of a cube map's faces](crate::texture::CubeMapStride), or a child image's
//!   [size](crate::texture::ChildDimensions); fourth: its [offset](crate::texture::ChildOffsets).
//!
//! A lookup with `s` alone is a read of the word at that address, without parameters. In code: `kernel/v3d/src/image/texture.rs`.
//!
//! # The attribute record
//! The GL shader record is the [fragment shader](crate::shader_record::GlFragment), two [vertex stages](crate::shader_record::GlVertex), and for each
//! attribute an [array](crate::shader_record::AttributeArray): base address, bytes less 1, stride, and where the vertex and the coordinate shader find it
//! in the VPM. Eight attributes are encoded as 0. The VCD fetches bytes; what they mean is the shader's business. In code:
//! `kernel/v3d/src/lists/shader_record.rs`.
//!
//! # T-format and LT-format
//! A micro-tile is 64 bytes: 4 x 4 pixels of 32 bits. LT-format has micro-tiles row by row. T-format has tiles of 4 KiB, of 2 x 2 sub-tiles of 4 x 4
//! micro-tiles; rows of tiles run to the right and back in turn, and the sub-tiles' order turns with them. Small levels of a texture are in LT-format
//! ([`level_format`](crate::tiling::level_format)). In code: [`pixel_offset_bits`](crate::tiling::pixel_offset_bits), and fast for whole rectangles in
//! `kernel/v3d/src/image/tiler.rs`.
//!
//! # Caches
//! Nothing sees the CPU's writes by itself. Before each job write [L2CACTL](crate::registers::cache::L2cactl) (`l2cclr`) and
//! [SLCACTL](crate::registers::cache::Slcactl) (all slices of all four caches) \[AG p.93\]. In code: `kernel/v3d/src/memory/caches.rs`.
//!
//! # Interrupts
//! [INTCTL](crate::registers::interrupt::Intctl) shows and clears them, INTENA and INTDIS enable and disable: rendering done, binning done, binner out of
//! memory, and binner has used spill memory. Masked ones show in INTCTL all the same, so they can be polled. A program can raise another by writing to its
//! register `irq`: [DBQITC](crate::registers::interrupt::Dbqitc) has a bit for each QPU. In code: `kernel/v3d/src/driver/interrupts.rs`.
//!
//! # Overflow memory
//! When the binner's memory is used up, the out-of-memory interrupt stays up until [BPOA](crate::registers::pipeline::Bpoa), address, and
//! [BPOS](crate::registers::pipeline::Bpos), size, are written, the size last. The block belongs to the job until it is rendered. In code:
//! `kernel/v3d/src/driver/overflow.rs`.
//!
//! # User programs
//! [SRQUL](crate::registers::qps::Srqul), how many uniforms; [SRQUA](crate::registers::qps::Srqua), their address; last
//! [SRQPC](crate::registers::qps::Srqpc), the program's: this write puts it into a queue of 16. [SRQCS](crate::registers::qps::Srqcs) counts programs that
//! are done, modulo 256. VPM for them is what [VPMBASE](crate::registers::vpm::Vpmbase) reserves \[AG p.90-91\]. In code:
//! `kernel/v3d/src/jobs/user_program.rs`.
//!
//! # Recovery from a hang
//! A thread that has made no progress between two looks at CTnCA hangs. Keep ERRSTAT, CTnCS, CTnCA, PCS and the debug registers for a report; then reset
//! the whole engine through its power domain, because resetting a thread leaves the QPUs as they are \[linux vc4_gem.c\]. In code:
//! `kernel/v3d/src/driver/recovery.rs`, `kernel/v3d/src/report/register_snapshot.rs`, `kernel/v3d/src/report.rs`.
