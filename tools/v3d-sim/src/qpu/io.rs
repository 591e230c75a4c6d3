//! The units around a running QPU program: what is behind the register map.
//!
//! A fragment shader accesses varyings and the tile buffer, a vertex shader its rows of the VPM, a user program VPM, DMA and interrupts; each has its
//! own implementation. The default of each access is an error. Uniforms, TMUs and SFU belong to every program and are parts of the QPU.
//!
//! Writes carry a mask: the elements in which the instruction's condition holds.

pub use crate::fault::qpu::IoError;

use crate::memory::Memory;
use crate::qpu::lanes::{Lanes, Mask};
use crate::render::tlb::SAMPLES;
use std::ptr;
use v3d_hw::qpu::LANES;

/// Whether an access can proceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Done.
    Ready,
    /// The QPU stalls; the same instruction is to be tried again later.
    Stall,
}

/// A varying from the FIFO.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Varying {
    /// Its value before multiplication by W.
    pub value: Lanes,
    /// The C coefficient of each element's primitive.
    pub coefficients: Lanes,
}

/// A limit of the magnitude of varyings: 2^30, as the bits of a float. Products of several smaller numbers do not overflow.
pub const SMALL_VARYING: u32 = (127 + 30) << 23;

/// What translated code needs to access samples of the tile buffer itself, and what it has done with them. The addresses are valid until the unit is used in
/// another way. Code trusts them, so only this crate can fill them in.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TileAccess {
    /// The first words of colour of the quads, of their first samples. The second words of 64-bit colour are [`SECOND_WORD_BYTES`] behind.
    pub(crate) colors: [*mut u32; QUADS],
    /// Their words of depth and stencil.
    pub(crate) zs: [*mut u32; QUADS],
    /// The multisample masks of the pixels.
    pub(crate) flags: *mut Lanes,
    /// Distance in bytes from a sample to the next one of its pixel.
    pub(crate) sample_bytes: usize,
    /// Samples of a pixel.
    pub(crate) samples: u32,
    /// The bits of a multisample mask that select the first sample, those of the next ones being one place higher: one, or all if there is no other.
    pub(crate) first_sample: u32,
    /// Words of a sample's colour; 0: code must not access samples itself.
    pub(crate) color_words: u32,
    /// Words of colour that the program may read.
    pub(crate) color_readable: u32,
    /// Words of colour that it has read.
    pub(crate) color_read: u32,
    /// Distance in bytes from a word of colour to the one that is read after it.
    pub(crate) color_stride: usize,
    /// Samples whose colour the program may write one after the other.
    pub(crate) samples_writable: u32,
    /// Samples that it has written that way.
    pub(crate) samples_written: u32,
    /// Words of colour that it has written.
    pub(crate) color_written: u32,
    /// Not 0: code may test depths itself.
    pub(crate) tests_depth: u32,
    /// All bits set where depths pass that are less than the stored ones, equal to them, or greater.
    pub(crate) passing: [u32; 3],
    /// All bits set: depths that pass are stored.
    pub(crate) updates: u32,
    /// Quads written to since the last [`Io::note_tile_access`].
    pub(crate) quads_written: u32,
    /// Quads with a pixel that has passed the depth test since then.
    pub(crate) quads_passed: u32,
    /// Tested quads without such a pixel.
    pub(crate) quads_failed: u32,
}

/// Quads of a vector.
const QUADS: usize = LANES / 4;

/// Distance from the first word of 64-bit colour to the second.
pub const SECOND_WORD_BYTES: usize = SAMPLES / 2 * size_of::<u32>();

impl TileAccess {
    /// No access.
    pub const NONE: Self = Self {
        colors: [ptr::null_mut(); QUADS],
        zs: [ptr::null_mut(); QUADS],
        flags: ptr::null_mut(),
        sample_bytes: 0,
        samples: 0,
        first_sample: 0,
        color_words: 0,
        color_readable: 0,
        color_read: 0,
        color_stride: 0,
        samples_writable: 0,
        samples_written: 0,
        color_written: 0,
        tests_depth: 0,
        passing: [0; 3],
        updates: 0,
        quads_written: 0,
        quads_passed: 0,
        quads_failed: 0,
    };
}

/// The units behind a QPU's register map.
pub trait Io {
    /// The next varying.
    fn varying(&mut self) -> Result<Varying, IoError> {
        Err(IoError::NotAccessible("the varyings"))
    }

    /// The next varyings, as far as they are known before the program reads them. They stay in the FIFO, unchanged by other accesses, until they are
    /// taken.
    fn varyings_ahead(&mut self) -> &[Varying] {
        &[]
    }

    /// Whether all values and coefficients of [`Self::varyings_ahead`] are floats whose magnitude is less than [`SMALL_VARYING`]. May be false although
    /// they are.
    fn has_small_varyings(&self) -> bool {
        false
    }

    /// Takes some of [`Self::varyings_ahead`], as [`Self::varying`] takes one.
    fn take_varyings(&mut self, count: usize) {
        let _ = count;
    }

    /// X coordinates of the pixels.
    fn pixel_x(&mut self) -> Result<Lanes, IoError> {
        Err(IoError::NotAccessible("the pixel coordinates"))
    }

    /// Y coordinates of the pixels.
    fn pixel_y(&mut self) -> Result<Lanes, IoError> {
        Err(IoError::NotAccessible("the pixel coordinates"))
    }

    /// Multisample masks of the pixels, 4 bits each.
    fn ms_flags(&mut self) -> Result<Lanes, IoError> {
        Err(IoError::NotAccessible("the multisample mask"))
    }

    /// Whether the pixels belong to a back facing primitive.
    fn rev_flag(&mut self) -> Result<Lanes, IoError> {
        Err(IoError::NotAccessible("the back facing flag"))
    }

    /// Writes the multisample masks.
    fn set_ms_flags(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        let _ = (value, mask);
        Err(IoError::NotAccessible("the multisample mask"))
    }

    /// Writes the back facing flags.
    fn set_rev_flag(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        let _ = (value, mask);
        Err(IoError::NotAccessible("the back facing flag"))
    }

    /// Writes the quads' x coordinates.
    fn set_quad_x(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        let _ = (value, mask);
        Err(IoError::NotAccessible("the quad coordinates"))
    }

    /// Writes the quads' y coordinates.
    fn set_quad_y(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        let _ = (value, mask);
        Err(IoError::NotAccessible("the quad coordinates"))
    }

    /// Writes a stencil set-up word.
    fn tlb_stencil_setup(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        let _ = (value, mask);
        Err(IoError::NotAccessible("the tile buffer"))
    }

    /// Writes Z: stencil and Z tests, which update the multisample masks.
    fn tlb_z(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        let _ = (value, mask);
        Err(IoError::NotAccessible("the tile buffer"))
    }

    /// Writes colour to the next sample.
    fn tlb_color_ms(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        let _ = (value, mask);
        Err(IoError::NotAccessible("the tile buffer"))
    }

    /// Writes colour to all samples.
    fn tlb_color_all(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        let _ = (value, mask);
        Err(IoError::NotAccessible("the tile buffer"))
    }

    /// Writes the alpha mask.
    fn tlb_alpha_mask(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        let _ = (value, mask);
        Err(IoError::NotAccessible("the tile buffer"))
    }

    /// Reads colour of the next sample.
    fn load_color(&mut self) -> Result<Lanes, IoError> {
        Err(IoError::NotAccessible("the tile buffer"))
    }

    /// Reads coverage.
    fn load_coverage(&mut self) -> Result<Lanes, IoError> {
        Err(IoError::NotAccessible("the tile buffer"))
    }

    /// Reads the alpha mask.
    fn load_alpha(&mut self) -> Result<Lanes, IoError> {
        Err(IoError::NotAccessible("the tile buffer"))
    }

    /// Says how code may access samples of the tile buffer without the methods of this trait. `access` is [`TileAccess::NONE`], or the last one.
    fn tile_access(&mut self, access: &mut TileAccess) {
        *access = TileAccess::NONE;
    }

    /// Notes what code has done with that access.
    fn note_tile_access(&mut self, access: &TileAccess) {
        let _ = access;
    }

    /// Whether no other program competes for the scoreboard: waiting for it and unlocking it have no effect.
    fn has_scoreboard_alone(&self) -> bool {
        false
    }

    /// Waits until earlier batches have left these pixels.
    fn scoreboard_wait(&mut self) -> Result<Wait, IoError> {
        Err(IoError::NotAccessible("the scoreboard"))
    }

    /// Lets later batches access these pixels.
    fn scoreboard_unlock(&mut self) -> Result<(), IoError> {
        Err(IoError::NotAccessible("the scoreboard"))
    }

    /// Reads the next vector from the VPM.
    fn vpm_read(&mut self) -> Result<Lanes, IoError> {
        Err(IoError::NotAccessible("the VPM"))
    }

    /// Writes the next vector to the VPM.
    fn vpm_write(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        let _ = (value, mask);
        Err(IoError::NotAccessible("the VPM"))
    }

    /// Writes VPMVCD_RD_SETUP (element 0).
    fn vpm_read_setup(&mut self, word: u32) -> Result<(), IoError> {
        let _ = word;
        Err(IoError::NotAccessible("the VPM"))
    }

    /// Writes VPMVCD_WR_SETUP (element 0).
    fn vpm_write_setup(&mut self, word: u32) -> Result<(), IoError> {
        let _ = word;
        Err(IoError::NotAccessible("the VPM"))
    }

    /// Starts a DMA load.
    fn dma_load(&mut self, address: u32, memory: Memory<'_>) -> Result<(), IoError> {
        let _ = (address, memory);
        Err(IoError::NotAccessible("the VCD"))
    }

    /// Starts a DMA store.
    fn dma_store(&mut self, address: u32, memory: Memory<'_>) -> Result<(), IoError> {
        let _ = (address, memory);
        Err(IoError::NotAccessible("the VDW"))
    }

    /// Waits for the DMA load, or reads whether it is in progress: whether that is allowed. It never is in progress: DMA is done when it starts.
    fn dma_poll(&mut self) -> Result<(), IoError> {
        Err(IoError::NotAccessible("the VPM DMA"))
    }

    /// Takes the mutex.
    fn mutex_acquire(&mut self) -> Result<Wait, IoError> {
        Err(IoError::NotAccessible("the mutex"))
    }

    /// Releases the mutex.
    fn mutex_release(&mut self) -> Result<(), IoError> {
        Err(IoError::NotAccessible("the mutex"))
    }

    /// Increments or decrements a semaphore.
    fn semaphore(&mut self, number: u8, decrement: bool) -> Result<Wait, IoError> {
        let _ = (number, decrement);
        Err(IoError::NotAccessible("the semaphores"))
    }

    /// Interrupts the host.
    fn host_interrupt(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        let _ = (value, mask);
        Err(IoError::NotAccessible("the host interrupt"))
    }
}
