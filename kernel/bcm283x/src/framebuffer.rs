//! The framebuffer: pages of 32-bit pixels that the display shows in turn
//!
//! The firmware allocates it, several times as high as the display, and shows the part at the virtual offset, so a page flip is one property. With three
//! pages, one is displayed while the GPU works on two. With two, the GPU works on one; with a single page, it draws into the displayed one. Firmware limits
//! the height (2,560 lines unless config.txt says more [RGBtoHDMI issue 72]) and the memory; [`Allocation::request`] repeats a rejected request with fewer
//! pages, then with smaller resolutions, and fails if none of them is accepted. Pixels are red, green, blue, unused in rising addresses, which is what the
//! tile buffer stores for R8G8B8A8.
//!
//! # Surprises
//! - Firmware whose `framebuffer_depth` is 16 has been seen to report the pitch of 16-bit pixels: config.txt sets the depth to 32, and the pitch is compared
//!   with the width.
//! - A framebuffer of 1920x3240 with the default limits is allocated, and then the mailbox never answers again; with `max_framebuffer_width=2048` and
//!   `max_framebuffer_height=4096` it does [piegpu].
//!
//! The firmware answers with a bus address (0xC000_0000 or 0x4000_0000 added on the boards, nothing in QEMU), in the VideoCore's part of memory above the
//! ARM's.
//!
//! # Sources
//! raspberrypi/firmware wiki, "Mailbox property interface", section Frame Buffer.

use core::fmt;

use crate::{
    edid,
    firmware::Firmware,
    property::{
        AllocateFramebuffer, GetEdidBlock, GetPitch, Message, PropertyError, SetAlphaMode, SetDepth, SetPhysicalSize,
        SetPixelOrder, SetVirtualOffset, SetVirtualSize, WaitForVsync,
    },
};

/// Bytes of a pixel.
const PIXEL_BYTES: usize = 4;

/// Most pages that are requested, one above the other in the virtual framebuffer.
const MAX_PAGES: u32 = 3;
/// The resolutions that are requested, as far as they are smaller, when the display's own is rejected even with a single page.
const SMALLER_SIZES: [(u32, u32); 4] = [(1280, 720), (1024, 768), (800, 600), (640, 480)];
/// Pages and lines must begin at multiples of this number of bytes, as the V3D's addresses of pictures do [AG p.67].
const PITCH_UNIT_BYTES: u32 = 16;
/// Extra pixels of a line, to the right of the displayed ones.
///
/// QEMU honours the virtual offset only if the framebuffer is larger than the display in both directions [qemu hw/display/bcm2835_fb.c]; the boards work with
/// either. 16 pixels are 64 bytes, a burst, so the firmware adds no padding.
const GAP: u32 = 16;
/// The resolution if the display does not report its preference.
pub const DEFAULT_SIZE: (u32, u32) = (1280, 720);
/// The largest resolution that is requested; three pages of it are 24 MiB of the firmware's memory.
const MAX_SIZE: (u32, u32) = (1920, 1080);

/// Why no framebuffer could be set up.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FramebufferError {
    /// The firmware did not answer the request.
    Property(PropertyError),
    /// The firmware's framebuffer differs from the request.
    Unusable(&'static str),
}

impl fmt::Display for FramebufferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Property(error) => error.fmt(f),
            Self::Unusable(what) => write!(f, "the firmware's framebuffer is of no use: {what}"),
        }
    }
}

impl core::error::Error for FramebufferError {}

impl From<PropertyError> for FramebufferError {
    fn from(error: PropertyError) -> Self {
        Self::Property(error)
    }
}

/// The resolution for the display: the one its EDID prefers, up to `MAX_SIZE`, or [`DEFAULT_SIZE`].
#[must_use]
pub fn preferred_size(firmware: &impl Firmware) -> (u32, u32) {
    firmware
        .ask(&GetEdidBlock { block: 0 })
        .ok()
        .filter(|block| block.status == 0)
        .and_then(|block| edid::preferred_size(&block.bytes))
        .filter(|&(width, height)| width <= MAX_SIZE.0 && height <= MAX_SIZE.1)
        .unwrap_or(DEFAULT_SIZE)
}

/// A framebuffer that the firmware has allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// ARM physical address of the first pixel of the first page.
    pub address: usize,
    /// Number of pages, one above the other.
    pub pages: usize,
    /// Width in pixels.
    pub width: u32,
    /// Height of one page in pixels.
    pub height: u32,
    /// Bytes from one line to the next.
    pub pitch_bytes: u32,
}

impl Allocation {
    /// ARM physical address of the first pixel of a page; of the last one if there is no such page.
    #[must_use]
    pub const fn page_address(&self, page: usize) -> u32 {
        let last = self.pages.saturating_sub(1);
        let page = if page < last { page } else { last };
        self.address as u32 + page as u32 * self.height * self.pitch_bytes
    }

    /// Requests a framebuffer of three pages, then of two, then of one, and then smaller ones. Memory ends at `memory_end_exclusive`, where the peripherals
    /// begin.
    ///
    /// # Errors
    /// When all requests fail: the reason of the last failure.
    pub fn request(
        firmware: &impl Firmware,
        width: u32,
        height: u32,
        memory_end_exclusive: u32,
    ) -> Result<Self, FramebufferError> {
        let smaller =
            SMALLER_SIZES.into_iter().filter(|&(w, h)| w <= width && h <= height && (w, h) != (width, height));
        let sizes = core::iter::once((width, height)).chain(smaller);
        let requests = sizes.flat_map(|(width, height)| (1..=MAX_PAGES).rev().map(move |pages| (width, height, pages)));
        let mut refusal = FramebufferError::Unusable("none was requested");
        for (width, height, pages) in requests {
            match Self::request_pages(firmware, width, height, pages, memory_end_exclusive) {
                Ok(allocation) => return Ok(allocation),
                Err(error) => {
                    log::info!("no framebuffer of {pages} pages of {width}x{height}: {error}");
                    refusal = error;
                }
            }
            if refusal == FramebufferError::Property(PropertyError::Timeout) {
                break;
            }
        }
        Err(refusal)
    }

    /// Requests a framebuffer of at most `max_pages`.
    fn request_pages(
        firmware: &impl Firmware,
        width: u32,
        height: u32,
        max_pages: u32,
        memory_end_exclusive: u32,
    ) -> Result<Self, FramebufferError> {
        // A single page is never flipped and needs no gap.
        let virtual_width = if max_pages == 1 { width } else { width + GAP };
        let mut message = Message::new();
        let physical = message.push(&SetPhysicalSize { width, height })?;
        let virtual_size = message.push(&SetVirtualSize { width: virtual_width, height: height * max_pages })?;
        let depth = message.push(&SetDepth { bits: 8 * PIXEL_BYTES as u32 })?;
        let order = message.push(&SetPixelOrder { red_first: 1 })?;
        let alpha = message.push(&SetAlphaMode { mode: 2 })?;
        let offset = message.push(&SetVirtualOffset { x: 0, y: 0 })?;
        let allocation = message.push(&AllocateFramebuffer { alignment_bytes: 4096 })?;
        let pitch = message.push(&GetPitch {})?;
        firmware.exchange(&mut message)?;

        let physical = message.answer(&physical)?;
        let virtual_size = message.answer(&virtual_size)?;
        let pitch = message.answer(&pitch)?;
        let allocation = message.answer(&allocation)?;
        message.answer(&offset)?;
        message.answer(&alpha)?;
        if (physical.width, physical.height) != (width, height) {
            return Err(FramebufferError::Unusable("its size differs from the request"));
        }
        let pages = virtual_size.height / height.max(1);
        if virtual_size.width != virtual_width || !(1..=max_pages).contains(&pages) {
            return Err(FramebufferError::Unusable("its virtual size differs from the request"));
        }
        if message.answer(&depth)?.bits != 32 || message.answer(&order)?.red_first != 1 {
            return Err(FramebufferError::Unusable("its pixels are not R8G8B8A8"));
        }
        if pitch.bytes < width * PIXEL_BYTES as u32 {
            return Err(FramebufferError::Unusable("its pitch is shorter than a line of 32-bit pixels"));
        }
        if !pitch.bytes.is_multiple_of(PITCH_UNIT_BYTES) {
            return Err(FramebufferError::Unusable("its pitch is not a multiple of 16 bytes"));
        }
        let address = (allocation.bus_address & 0x3fff_ffff) as usize;
        if address == 0 || !address.is_multiple_of(16) {
            return Err(FramebufferError::Unusable("its address is not aligned"));
        }
        let bytes = u64::from(pitch.bytes) * u64::from(height) * u64::from(pages);
        if u64::from(allocation.size_bytes) < bytes {
            return Err(FramebufferError::Unusable("its memory is too small for its size"));
        }
        if address as u64 + bytes > u64::from(memory_end_exclusive) {
            return Err(FramebufferError::Unusable("it is outside of memory"));
        }
        Ok(Self { address, pages: pages as usize, width, height, pitch_bytes: pitch.bytes })
    }
}

/// Displays a page of this height.
///
/// # Errors
/// When the firmware does not set the virtual offset.
pub fn show(firmware: &impl Firmware, page: usize, height: u32) -> Result<(), PropertyError> {
    firmware.ask(&SetVirtualOffset { x: 0, y: height * page as u32 }).map(|_| ())
}

/// Waits until the firmware tells of the display's vertical blanking, for at most `limit_us` microseconds.
///
/// # Errors
/// When the firmware does not implement it (neither QEMU's nor that of a Zero [bm] does), or does not answer in time.
pub fn wait_for_vsync(firmware: &impl Firmware, limit_us: u64) -> Result<(), PropertyError> {
    let mut message = Message::new();
    let slot = message.push(&WaitForVsync { unused: 0 })?;
    firmware.exchange_within(&mut message, limit_us)?;
    message.answer(&slot).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::firmware::double::{Answer, Behaviour, Double, USELESS};

    /// Where the peripherals of a BCM2837 begin.
    const MEMORY_END: u32 = 0x3f00_0000;

    /// A firmware that allocates a framebuffer of any requested size at 0x3c10_0000; tags are written as numbers, as in the firmware's wiki.
    fn answer(tag: u32, request: &[u32]) -> Option<Vec<u32>> {
        match (tag, request) {
            (0x0004_8003 | 0x0004_8004, [width, height]) => Some(vec![*width, *height]),
            (0x0004_8005..=0x0004_8007, [value]) => Some(vec![*value]),
            (0x0004_8009, [x, y]) => Some(vec![*x, *y]),
            (0x0004_0001, _) => Some(vec![0xfc10_0000, 32 << 20]),
            (0x0004_0008, _) => Some(vec![1296 * 4]),
            _ => None,
        }
    }

    /// The same, with memory for two pages only.
    fn answer_with_two_pages(tag: u32, request: &[u32]) -> Option<Vec<u32>> {
        match (tag, request) {
            (0x0004_8004, [width, height]) => Some(vec![*width, height / 3 * 2]),
            _ => answer(tag, request),
        }
    }

    /// The same, which does not answer requests of more than `lines` lines.
    fn answer_up_to(lines: u32, tag: u32, request: &[u32]) -> Option<Vec<u32>> {
        match (tag, request) {
            (0x0004_8004, [_, height]) if *height > lines => None,
            _ => answer(tag, request),
        }
    }

    #[test]
    fn a_framebuffer_has_three_pages_or_two_or_one() {
        let one: Answer = |tag, request| answer_up_to(720, tag, request);
        let two: Answer = |tag, request| answer_up_to(1500, tag, request);
        for (answer, pages) in [(answer as Answer, 3), (answer_with_two_pages, 2), (two, 2), (one, 1)] {
            let firmware = Double::new(Behaviour::Answers, answer);
            assert_eq!(
                Allocation::request(&firmware, 1280, 720, MEMORY_END),
                Ok(Allocation { address: 0x3c10_0000, pages, width: 1280, height: 720, pitch_bytes: 1296 * 4 })
            );
            assert_eq!(show(&firmware, 1, 720), Ok(()));
        }
    }

    #[test]
    fn a_refused_size_is_followed_by_smaller_ones() {
        let cases: [(Answer, (usize, u32, u32)); 3] = [
            (|tag, request| answer_up_to(1000, tag, request), (1, 1280, 720)),
            (|tag, request| answer_up_to(600, tag, request), (1, 800, 600)),
            (|tag, request| answer_up_to(500, tag, request), (1, 640, 480)),
        ];
        for (answer, expected) in cases {
            let firmware = Double::new(Behaviour::Answers, answer);
            let made = Allocation::request(&firmware, 1920, 1080, MEMORY_END)
                .map(|made| (made.pages, made.width, made.height));
            assert_eq!(made, Ok(expected));
        }
        // None is larger than the display.
        let firmware = Double::new(Behaviour::Answers, |tag, request| answer_up_to(480, tag, request));
        let made =
            Allocation::request(&firmware, 720, 576, MEMORY_END).map(|made| (made.pages, made.width, made.height));
        assert_eq!((made, firmware.messages.get()), (Ok((1, 640, 480)), 6));
    }

    /// Each rejection costs a message; a firmware that is silent is asked only once.
    #[test]
    fn a_silent_firmware_is_not_asked_again() {
        let firmware = Double::new(Behaviour::Dies { after: 0 }, answer);
        assert_eq!(
            Allocation::request(&firmware, 1280, 720, MEMORY_END),
            Err(FramebufferError::Property(PropertyError::Timeout))
        );
        assert_eq!(firmware.messages.get(), 1);
    }

    /// An EDID block whose preferred resolution is `width` x `height`, as the firmware's answer.
    fn edid(width: u32, height: u32) -> Vec<u32> {
        let mut block = [0u8; 128];
        block[..8].copy_from_slice(&[0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0]);
        let high = |value: u32| (value >> 4 & 0xf0) as u8;
        block[54..62].copy_from_slice(&[1, 1, width as u8, 0, high(width), height as u8, 0, high(height)]);
        block[127] = 0u8.wrapping_sub(block.iter().fold(0, |sum: u8, &byte| sum.wrapping_add(byte)));
        let words = block.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
        [0, 0].into_iter().chain(words).collect()
    }

    #[test]
    fn the_size_is_the_displays_own_if_it_is_not_too_large() {
        let cases: [(Answer, (u32, u32)); 4] = [
            (|tag, _| (tag == 0x0003_0020).then(|| edid(1920, 1080)), (1920, 1080)),
            (|tag, _| (tag == 0x0003_0020).then(|| edid(800, 480)), (800, 480)),
            (|tag, _| (tag == 0x0003_0020).then(|| edid(3840, 2160)), DEFAULT_SIZE),
            // No display is connected.
            (|tag, _| (tag == 0x0003_0020).then(|| [vec![0, 1], vec![0; 32]].concat()), DEFAULT_SIZE),
        ];
        for (answer, size) in cases {
            assert_eq!(preferred_size(&Double::new(Behaviour::Answers, answer)), size);
        }
    }

    /// Answers with one wrong value, each with the reason of its rejection.
    #[test]
    fn a_framebuffer_of_no_use_is_refused() {
        let cases: [(Answer, &str); 9] = [
            (
                |tag, request| if tag == 0x0004_8003 { Some(vec![640, 480]) } else { answer(tag, request) },
                "its size differs",
            ),
            (
                |tag, request| if tag == 0x0004_8004 { Some(vec![1024, 720]) } else { answer(tag, request) },
                "its virtual size",
            ),
            (|tag, request| if tag == 0x0004_8005 { Some(vec![16]) } else { answer(tag, request) }, "R8G8B8A8"),
            (
                |tag, request| if tag == 0x0004_0008 { Some(vec![5116]) } else { answer(tag, request) },
                "shorter than a line",
            ),
            // 16-bit pixels.
            (
                |tag, request| if tag == 0x0004_0008 { Some(vec![2592]) } else { answer(tag, request) },
                "shorter than a line",
            ),
            (|tag, request| if tag == 0x0004_0008 { Some(vec![5124]) } else { answer(tag, request) }, "16 bytes"),
            (
                |tag, request| if tag == 0x0004_0001 { Some(vec![0, 32 << 20]) } else { answer(tag, request) },
                "not aligned",
            ),
            (
                |tag, request| if tag == 0x0004_0001 { Some(vec![4096, 4096]) } else { answer(tag, request) },
                "too small",
            ),
            (
                |tag, request| {
                    if tag == 0x0004_0001 { Some(vec![0x3fff_0000, 32 << 20]) } else { answer(tag, request) }
                },
                "outside of memory",
            ),
        ];
        for (answer, reason) in cases {
            let firmware = Double::new(Behaviour::Answers, answer);
            let refusal = Allocation::request_pages(&firmware, 1280, 720, 3, MEMORY_END).unwrap_err().to_string();
            assert!(refusal.contains(reason), "{refusal}");
        }
    }

    #[test]
    fn without_a_useful_firmware_there_is_none() {
        for behaviour in USELESS {
            let firmware = Double::new(behaviour, answer);
            assert_eq!(preferred_size(&firmware), DEFAULT_SIZE, "{behaviour:?}");
            assert!(Allocation::request(&firmware, 1280, 720, MEMORY_END).is_err(), "{behaviour:?}");
        }
        for behaviour in [Behaviour::Silent, Behaviour::Refuses] {
            let firmware = Double::new(behaviour, answer);
            assert!(show(&firmware, 1, 720).is_err() && wait_for_vsync(&firmware, 1000).is_err(), "{behaviour:?}");
        }
    }
}
