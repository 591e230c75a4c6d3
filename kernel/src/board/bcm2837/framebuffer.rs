//! The framebuffer: what the firmware allocates, mapped

#[cfg(target_os = "none")]
use core::fmt;

pub use bcm283x::framebuffer::{Allocation, DEFAULT_SIZE, preferred_size, show, wait_for_vsync};

#[cfg(target_os = "none")]
use crate::{
    arch::mmu,
    board::{addresses, firmware::Firmware},
    display::pages::Pages,
    mm::{page_tables::MapError, shared::SharedWords},
};

/// Why no framebuffer could be set up.
#[cfg(target_os = "none")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FramebufferError {
    /// The firmware allocates none that can be used.
    Request(bcm283x::framebuffer::FramebufferError),
    /// It could not be mapped.
    Map(MapError),
}

#[cfg(target_os = "none")]
impl fmt::Display for FramebufferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(error) => error.fmt(f),
            Self::Map(error) => write!(f, "the framebuffer cannot be mapped: {error}"),
        }
    }
}

#[cfg(target_os = "none")]
impl core::error::Error for FramebufferError {}

/// Requests a framebuffer and maps it.
///
/// # Errors
/// When the firmware allocates none, or not the requested one, or it cannot be mapped.
#[cfg(target_os = "none")]
pub fn allocate(firmware: &impl Firmware, width: u32, height: u32) -> Result<Pages, FramebufferError> {
    let memory_end = addresses::PERIPHERALS.start as u32;
    let Allocation { address, pages, width, height, pitch_bytes } =
        Allocation::request(firmware, width, height, memory_end).map_err(FramebufferError::Request)?;
    let range = address..address + pitch_bytes as usize * height as usize * pages;
    mmu::map_shared(range.clone()).map_err(FramebufferError::Map)?;
    let memory = SharedWords::of_mapped_range(range);
    Ok(Pages { memory, first_word: 0, count: pages, width, height, pitch_bytes })
}
