//! The framebuffer: two pages of 32-bit pixels that the display shows in turn
//!
//! The firmware makes it, twice as high as the display, and shows the part that the virtual offset names: flipping pages is
//! one property. Pixels are red, green, blue, unused in rising addresses, which is what the tile buffer stores for
//! R8G8B8A8.
//!
//! The address comes back as a bus address (0xC000_0000 or 0x4000_0000 added on the boards, nothing in QEMU). It lies in the
//! VideoCore's part of memory, above the ARM's.
//!
//! # Sources
//! raspberrypi/firmware wiki, "Mailbox property interface", section Frame Buffer.

use core::fmt;

use super::{
    edid, firmware,
    property::{
        AllocateFramebuffer, GetEdidBlock, GetPitch, Message, PropertyError, SetAlphaMode, SetDepth, SetPhysicalSize,
        SetPixelOrder, SetVirtualOffset, SetVirtualSize, WaitForVsync,
    },
};
use crate::{
    arch::mmu,
    crc32::Crc32,
    mm::{page_tables::MapError, shared::SharedWords},
};

/// Pages, one above the other in the virtual framebuffer.
pub const PAGES: usize = 2;
/// Pixels that a line has beyond those on show.
///
/// QEMU heeds the virtual offset only where the framebuffer is larger than the display both ways [qemu hw/display/bcm2835_fb.c];
/// the boards do not mind. 16 pixels are 64 bytes, a burst, so that the firmware pads nothing.
const GAP: u32 = 16;
/// Bytes of a pixel.
pub const PIXEL_BYTES: usize = 4;
/// The size when the display does not say what it prefers.
pub const DEFAULT_SIZE: (u32, u32) = (1280, 720);
/// The largest size that is asked for; two pages of it are 16 MiB of the firmware's memory.
const LARGEST_SIZE: (u32, u32) = (1920, 1080);

/// Why there is no framebuffer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FramebufferError {
    /// The firmware did not do it.
    Property(PropertyError),
    /// It made something else than what it was asked for.
    Unusable(&'static str),
    /// It could not be mapped.
    Map(MapError),
}

impl fmt::Display for FramebufferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Property(error) => error.fmt(f),
            Self::Unusable(what) => write!(f, "the firmware's framebuffer is of no use: {what}"),
            Self::Map(error) => write!(f, "the framebuffer cannot be mapped: {error}"),
        }
    }
}

impl core::error::Error for FramebufferError {}

impl From<PropertyError> for FramebufferError {
    fn from(error: PropertyError) -> Self {
        Self::Property(error)
    }
}

/// The framebuffer.
#[derive(Clone, Copy, Debug)]
pub struct Framebuffer {
    width: u32,
    height: u32,
    pitch_bytes: u32,
    memory: SharedWords,
}

/// The size that suits the display: what its EDID prefers, within [`LARGEST_SIZE`], or [`DEFAULT_SIZE`].
#[must_use]
pub fn preferred_size() -> (u32, u32) {
    firmware::ask(&GetEdidBlock { block: 0 })
        .ok()
        .filter(|block| block.status == 0)
        .and_then(|block| edid::preferred_size(&block.bytes))
        .filter(|&(width, height)| width <= LARGEST_SIZE.0 && height <= LARGEST_SIZE.1)
        .unwrap_or(DEFAULT_SIZE)
}

impl Framebuffer {
    /// Has the firmware make a framebuffer of two pages, and maps it.
    ///
    /// # Errors
    /// When the firmware does not make one, makes another, or it cannot be mapped.
    pub fn allocate(width: u32, height: u32) -> Result<Self, FramebufferError> {
        let mut message = Message::new();
        let physical = message.push(&SetPhysicalSize { width, height })?;
        let virtual_size = message.push(&SetVirtualSize { width: width + GAP, height: height * PAGES as u32 })?;
        let depth = message.push(&SetDepth { bits: 8 * PIXEL_BYTES as u32 })?;
        let order = message.push(&SetPixelOrder { red_first: 1 })?;
        let alpha = message.push(&SetAlphaMode { mode: 2 })?;
        let offset = message.push(&SetVirtualOffset { x: 0, y: 0 })?;
        let allocation = message.push(&AllocateFramebuffer { alignment_bytes: 4096 })?;
        let pitch = message.push(&GetPitch {})?;
        firmware::exchange(&mut message)?;

        let physical = message.answer(&physical)?;
        let virtual_size = message.answer(&virtual_size)?;
        let pitch = message.answer(&pitch)?;
        let allocation = message.answer(&allocation)?;
        message.answer(&offset)?;
        message.answer(&alpha)?;
        if (physical.width, physical.height) != (width, height) {
            return Err(FramebufferError::Unusable("it has another size"));
        }
        if (virtual_size.width, virtual_size.height) != (width + GAP, height * PAGES as u32) {
            return Err(FramebufferError::Unusable("it has no second page"));
        }
        if message.answer(&depth)?.bits != 32 || message.answer(&order)?.red_first != 1 {
            return Err(FramebufferError::Unusable("its pixels are not R8G8B8A8"));
        }
        if pitch.bytes < width * PIXEL_BYTES as u32 || !pitch.bytes.is_multiple_of(PIXEL_BYTES as u32) {
            return Err(FramebufferError::Unusable("its lines are too short"));
        }
        let bytes = pitch.bytes as usize * height as usize * PAGES;
        if (allocation.size_bytes as usize) < bytes {
            return Err(FramebufferError::Unusable("it is too small for its size"));
        }

        let start = (allocation.bus_address & 0x3fff_ffff) as usize;
        if start == 0 || !start.is_multiple_of(16) {
            return Err(FramebufferError::Unusable("its address is odd"));
        }
        let range = start..start + bytes;
        mmu::map_shared(range.clone()).map_err(FramebufferError::Map)?;
        Ok(Self { width, height, pitch_bytes: pitch.bytes, memory: SharedWords::of_mapped_range(range) })
    }

    /// Pixels across.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Pixels down, of one page.
    #[must_use]
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Bytes from one line to the next.
    #[must_use]
    pub fn pitch_bytes(&self) -> u32 {
        self.pitch_bytes
    }

    /// The words of page `page`, line by line; the words of the last page for any number beyond it.
    #[must_use]
    pub fn page_words(&self, page: usize) -> core::ops::Range<usize> {
        let words = self.pitch_bytes as usize / 4 * self.height as usize;
        let page = page.min(PAGES - 1);
        page * words..(page + 1) * words
    }

    /// The CRC-32 of what a page shows, as the CPU reads it: its lines from the first to the last pixel, without the gaps.
    #[must_use]
    pub fn page_crc(&self, page: usize) -> u32 {
        let pitch_words = self.pitch_bytes as usize / 4;
        let mut crc = Crc32::new();
        for line in self.page_words(page).step_by(pitch_words) {
            self.memory.iter(line..line + self.width as usize).for_each(|word| crc.word(word));
        }
        crc.value()
    }

    /// The ARM physical address of the first pixel of a page.
    #[must_use]
    pub fn page_address(&self, page: usize) -> usize {
        self.memory.address() + self.page_words(page).start * 4
    }

    /// All pages' pixels.
    #[must_use]
    pub fn memory(&self) -> SharedWords {
        self.memory
    }

    /// Has the display show a page.
    ///
    /// # Errors
    /// When the firmware does not do it.
    pub fn show(&self, page: usize) -> Result<(), PropertyError> {
        let y = self.height * page.min(PAGES - 1) as u32;
        firmware::ask(&SetVirtualOffset { x: 0, y }).map(|_| ())
    }

    /// Waits until the display is between two pictures.
    ///
    /// # Errors
    /// When the firmware does not know how (QEMU's does not).
    pub fn wait_for_vsync(&self) -> Result<(), PropertyError> {
        firmware::ask(&WaitForVsync { unused: 0 }).map(|_| ())
    }
}
