//! Messages to the firmware: properties, packed and checked
//!
//! A message is a buffer of 32-bit words: its size in bytes, a request code of 0, then any number of tags, then 0. A tag is
//! its number, the size of its value buffer in bytes, a code (0), and the buffer. The firmware answers in place: the
//! message's code becomes 0x8000_0000 (done) or 0x8000_0001 (parse error); each tag's code becomes 0x8000_0000 plus the
//! number of bytes that the answer *has*, be that more than fits or nothing at all. A tag that the firmware does not know
//! keeps code 0 on some versions and answers no bytes on others: both count as not answered.
//!
//! ```
//! use kernel::board::property::{GetBoardRevision, GetTemperature, Message};
//! let mut message = Message::new();
//! let revision = message.push(&GetBoardRevision {})?;
//! let temperature = message.push(&GetTemperature { sensor: 0 })?;
//! // … the mailbox carries it to the firmware and back …
//! assert!(message.answer(&revision).is_err(), "nobody has answered yet");
//! # let _ = temperature;
//! # Ok::<(), kernel::board::property::PropertyError>(())
//! ```
//!
//! # Sources
//! raspberrypi/firmware wiki, "Mailbox property interface"; [linux include/soc/bcm2835/raspberrypi-firmware.h].

use core::{fmt, marker::PhantomData};

mod of_bytes;

pub use of_bytes::{CommandLine, EdidBlock, GetCommandLine, GetEdidBlock};

/// Words that a message has room for.
pub const MESSAGE_WORDS: usize = 128;
const WORDS_BEFORE_TAGS: usize = 2;
const WORDS_BEFORE_VALUE: usize = 3;
const DONE: u32 = 0x8000_0000;

/// What can be asked or told.
pub trait Property {
    /// The tag's number.
    const TAG: u32;
    /// Its name, as errors spell it.
    const NAME: &'static str;
    /// Words of the value buffer: the longer of request and answer.
    const VALUE_WORDS: usize;
    /// Bytes that a whole answer has at least.
    const ANSWER_BYTES: u32;
    /// What comes back.
    type Answer;
    /// Writes the request into the value buffer, which is zero before.
    fn request(&self, value: &mut [u32]);
    /// Reads the answer out of the value buffer.
    fn answer(value: &[u32; MESSAGE_WORDS]) -> Self::Answer;
}

/// Why a property has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PropertyError {
    /// The mailbox did not take the message or bring it back in time.
    Timeout,
    /// The firmware could not read the message; its code.
    Refused(u32),
    /// The firmware does not know the tag of this name.
    NotAnswered(&'static str),
    /// The answer is shorter than it must be.
    ShortAnswer {
        /// The property's name.
        name: &'static str,
        /// Bytes that came.
        got_bytes: u32,
        /// Bytes that it must have.
        expected_bytes: u32,
    },
    /// The message has no room for another property.
    MessageFull,
}

impl fmt::Display for PropertyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout => f.write_str("the firmware does not answer"),
            Self::Refused(code) => write!(f, "the firmware refuses the message with code {code:#x}"),
            Self::NotAnswered(name) => write!(f, "the firmware does not know the property {name}"),
            Self::ShortAnswer { name, got_bytes, expected_bytes } => {
                write!(f, "the answer to {name} has {got_bytes} bytes instead of {expected_bytes}")
            }
            Self::MessageFull => f.write_str("too many properties for one message"),
        }
    }
}

impl core::error::Error for PropertyError {}

/// A message under construction, on its way, or answered.
#[derive(Clone, Debug)]
pub struct Message {
    words: [u32; MESSAGE_WORDS],
    used_words: usize,
}

/// The place of a property in its message, by which its answer is found.
#[derive(Debug)]
pub struct Slot<P> {
    first_word: usize,
    property: PhantomData<P>,
}

impl Default for Message {
    fn default() -> Self {
        Self::new()
    }
}

impl Message {
    /// A message without properties.
    #[must_use]
    pub fn new() -> Self {
        let mut message = Self { words: [0; MESSAGE_WORDS], used_words: WORDS_BEFORE_TAGS };
        message.close();
        message
    }

    /// Adds a property.
    ///
    /// # Errors
    /// [`PropertyError::MessageFull`].
    pub fn push<P: Property>(&mut self, property: &P) -> Result<Slot<P>, PropertyError> {
        let first_word = self.used_words;
        let value = first_word + WORDS_BEFORE_VALUE..first_word + WORDS_BEFORE_VALUE + P::VALUE_WORDS;
        // One word stays for the end tag.
        if value.end >= MESSAGE_WORDS {
            return Err(PropertyError::MessageFull);
        }
        self.words[first_word] = P::TAG;
        self.words[first_word + 1] = 4 * P::VALUE_WORDS as u32;
        property.request(&mut self.words[value.clone()]);
        self.used_words = value.end;
        self.close();
        Ok(Slot { first_word, property: PhantomData })
    }

    /// The words that the firmware reads and writes, from the first to the end tag.
    pub fn words_mut(&mut self) -> &mut [u32] {
        &mut self.words[..=self.used_words]
    }

    /// Whether the firmware has worked through the message.
    ///
    /// # Errors
    /// [`PropertyError::Refused`] with the code that it left.
    pub fn check(&self) -> Result<(), PropertyError> {
        if self.words[1] == DONE { Ok(()) } else { Err(PropertyError::Refused(self.words[1])) }
    }

    /// The answer to one property.
    ///
    /// # Errors
    /// When the firmware did not know it or answered too little.
    pub fn answer<P: Property>(&self, slot: &Slot<P>) -> Result<P::Answer, PropertyError> {
        let code = self.words[slot.first_word + 2];
        let got_bytes = code & !DONE;
        if code & DONE == 0 || (got_bytes == 0 && P::ANSWER_BYTES > 0) {
            return Err(PropertyError::NotAnswered(P::NAME));
        }
        if got_bytes < P::ANSWER_BYTES {
            return Err(PropertyError::ShortAnswer { name: P::NAME, got_bytes, expected_bytes: P::ANSWER_BYTES });
        }
        let mut value = [0; MESSAGE_WORDS];
        let first = slot.first_word + WORDS_BEFORE_VALUE;
        value[..P::VALUE_WORDS].copy_from_slice(&self.words[first..first + P::VALUE_WORDS]);
        Ok(P::answer(&value))
    }

    /// Writes size and end tag.
    fn close(&mut self) {
        self.words[0] = 4 * (self.used_words as u32 + 1);
        self.words[1] = 0;
        self.words[self.used_words] = 0;
    }
}

/// Properties whose request and answer are plain words, one row each: name, tag, request, answer.
macro_rules! properties {
    ($(
        $(#[$doc:meta])*
        $name:ident = $tag:literal
            { $($(#[$request_doc:meta])* $request:ident),* $(,)? }
            -> $answer:ident { $($(#[$field_doc:meta])* $field:ident),+ $(,)? }
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name {
            $($(#[$request_doc])* pub $request: u32,)*
        }

        #[doc = concat!("The answer to [`", stringify!($name), "`].")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $answer {
            $($(#[$field_doc])* pub $field: u32,)+
        }

        impl Property for $name {
            const TAG: u32 = $tag;
            const NAME: &'static str = stringify!($name);
            const VALUE_WORDS: usize = {
                let request: &[&str] = &[$(stringify!($request)),*];
                let answer: &[&str] = &[$(stringify!($field)),+];
                if request.len() > answer.len() { request.len() } else { answer.len() }
            };
            const ANSWER_BYTES: u32 = {
                let answer: &[&str] = &[$(stringify!($field)),+];
                4 * answer.len() as u32
            };
            type Answer = $answer;

            fn request(&self, value: &mut [u32]) {
                let request: &[u32] = &[$(self.$request),*];
                for (place, &word) in value.iter_mut().zip(request) {
                    *place = word;
                }
            }

            fn answer(value: &[u32; MESSAGE_WORDS]) -> $answer {
                let mut words = value.iter().copied();
                $answer { $($field: words.next().unwrap_or(0),)+ }
            }
        }
    )*};
}

properties! {
    /// The firmware's build, as seconds since 1970.
    GetFirmwareRevision = 0x0000_0001 {} -> FirmwareRevision {
        /// Seconds since 1970.
        built_at,
    }
    /// The board's revision code; [`super::board`] knows what it means.
    GetBoardRevision = 0x0001_0002 {} -> BoardRevision {
        /// The code.
        code,
    }
    /// The board's serial number.
    GetBoardSerial = 0x0001_0004 {} -> BoardSerial {
        /// Bits 31:0.
        low,
        /// Bits 63:32.
        high,
    }
    /// The ARM's part of memory.
    GetArmMemory = 0x0001_0005 {} -> ArmMemory {
        /// Its first byte.
        base,
        /// Its bytes.
        size_bytes,
    }
    /// The VideoCore's part of memory, which is what gpu_mem asked for.
    GetVideoCoreMemory = 0x0001_0006 {} -> VideoCoreMemory {
        /// Its first byte.
        base,
        /// Its bytes.
        size_bytes,
    }
    /// What a clock is set to.
    GetClockRate = 0x0003_0002 {
        /// Which clock, see [`clock`].
        clock,
    } -> ClockRate {
        /// Which clock.
        clock,
        /// Hertz; 0 when there is no such clock.
        rate_hz,
    }
    /// The fastest that a clock may be set to.
    GetMaxClockRate = 0x0003_0004 {
        /// Which clock, see [`clock`].
        clock,
    } -> MaxClockRate {
        /// Which clock.
        clock,
        /// Hertz; 0 when there is no such clock.
        rate_hz,
    }
    /// What a clock is measured to run at.
    GetMeasuredClockRate = 0x0003_0047 {
        /// Which clock, see [`clock`].
        clock,
    } -> MeasuredClockRate {
        /// Which clock.
        clock,
        /// Hertz.
        rate_hz,
    }
    /// Sets a clock; the firmware picks what it can do and says what it picked.
    SetClockRate = 0x0003_8002 {
        /// Which clock, see [`clock`].
        clock,
        /// Hertz.
        rate_hz,
        /// 1: leave voltage and turbo settings of the other clocks alone.
        skip_turbo,
    } -> NewClockRate {
        /// Which clock.
        clock,
        /// Hertz, as set.
        rate_hz,
    }
    /// The chip's temperature.
    GetTemperature = 0x0003_0006 {
        /// Always 0: there is one sensor.
        sensor,
    } -> Temperature {
        /// The sensor.
        sensor,
        /// Thousandths of a degree Celsius.
        millidegrees,
    }
    /// The temperature at which the firmware slows the chip down.
    GetMaxTemperature = 0x0003_000a {
        /// Always 0: there is one sensor.
        sensor,
    } -> MaxTemperature {
        /// The sensor.
        sensor,
        /// Thousandths of a degree Celsius.
        millidegrees,
    }
    /// Under-voltage and throttling, now (bits 3:0) and ever since boot (bits 19:16).
    GetThrottled = 0x0003_0046 {
        /// Bits of the "ever" half to clear.
        clear_mask,
    } -> Throttled {
        /// The bits.
        bits,
    }
    /// Switches the QPUs on for programs of the ARM.
    EnableQpu = 0x0003_0012 {
        /// 1: on.
        enable,
    } -> EnabledQpu {
        /// 0 when it worked.
        status,
    }
    /// Switches a power domain.
    SetDomainState = 0x0003_8030 {
        /// Which domain, see [`domain`].
        domain,
        /// 1: on.
        on,
    } -> DomainState {
        /// Which domain.
        domain,
        /// 1: on.
        on,
    }
    /// Sets a pin of the board's expander, which only the firmware reaches.
    SetGpioState = 0x0003_8041 {
        /// The pin, 128 and up.
        pin,
        /// 0 or 1.
        state,
    } -> GpioState {
        /// 0 when it worked.
        status,
        /// As set.
        state,
    }
    /// Makes the framebuffer.
    AllocateFramebuffer = 0x0004_0001 {
        /// Bytes of alignment.
        alignment_bytes,
    } -> AllocatedFramebuffer {
        /// Bus address of the first pixel.
        bus_address,
        /// Bytes of all pages.
        size_bytes,
    }
    /// The size of the picture on the display.
    SetPhysicalSize = 0x0004_8003 {
        /// Pixels across.
        width,
        /// Pixels down.
        height,
    } -> PhysicalSize {
        /// Pixels across.
        width,
        /// Pixels down.
        height,
    }
    /// The size of the framebuffer, of which the display shows a part.
    SetVirtualSize = 0x0004_8004 {
        /// Pixels across.
        width,
        /// Pixels down.
        height,
    } -> VirtualSize {
        /// Pixels across.
        width,
        /// Pixels down.
        height,
    }
    /// Bits of a pixel.
    SetDepth = 0x0004_8005 {
        /// Bits.
        bits,
    } -> Depth {
        /// Bits.
        bits,
    }
    /// Which of red and blue comes first in memory.
    SetPixelOrder = 0x0004_8006 {
        /// 0: blue first, 1: red first.
        red_first,
    } -> PixelOrder {
        /// 0: blue first, 1: red first.
        red_first,
    }
    /// What the fourth byte of a pixel means.
    SetAlphaMode = 0x0004_8007 {
        /// 0: 255 is opaque, 1: 0 is opaque, 2: nothing.
        mode,
    } -> AlphaMode {
        /// As set.
        mode,
    }
    /// Bytes from one line to the next.
    GetPitch = 0x0004_0008 {} -> Pitch {
        /// Bytes.
        bytes,
    }
    /// Which part of the framebuffer the display shows.
    SetVirtualOffset = 0x0004_8009 {
        /// First column.
        x,
        /// First line.
        y,
    } -> VirtualOffset {
        /// First column.
        x,
        /// First line.
        y,
    }
    /// Waits until the display is between two pictures.
    WaitForVsync = 0x0004_800e {
        /// Nothing of meaning.
        unused,
    } -> Vsync {
        /// Nothing of meaning.
        unused,
    }
}

/// Clocks by their numbers in clock properties.
pub mod clock {
    /// The UART's.
    pub const UART: u32 = 2;
    /// The ARM cores'.
    pub const ARM: u32 = 3;
    /// The core clock, which the mini UART's baud rate hangs on.
    pub const CORE: u32 = 4;
    /// The 3D engine's.
    pub const V3D: u32 = 5;
    /// The memory's.
    pub const SDRAM: u32 = 8;
    /// The display's pixels'.
    pub const PIXEL: u32 = 9;

    /// The clocks that `clocks` prints, with names.
    pub const NAMED: [(u32, &str); 6] =
        [(ARM, "ARM"), (CORE, "core"), (V3D, "V3D"), (SDRAM, "SDRAM"), (UART, "UART"), (PIXEL, "pixel")];
}

/// Power domains by their numbers in the domain property.
pub mod domain {
    /// The 3D engine's: the index that Linux has, plus one. [linux include/dt-bindings/power/raspberrypi-power.h]
    pub const V3D: u32 = 11;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the firmware's wiki: words of a message that asks for the ARM memory.
    #[test]
    fn a_message_is_laid_out_as_the_firmware_reads_it() {
        let mut message = Message::new();
        let slot = message.push(&GetArmMemory {}).unwrap();
        assert_eq!(message.words_mut(), [32, 0, 0x0001_0005, 8, 0, 0, 0, 0]);

        message.words_mut().copy_from_slice(&[32, 0x8000_0000, 0x0001_0005, 8, 0x8000_0008, 0, 0x3c00_0000, 0]);
        assert_eq!(message.check(), Ok(()));
        assert_eq!(message.answer(&slot), Ok(ArmMemory { base: 0, size_bytes: 0x3c00_0000 }));
    }

    #[test]
    fn each_property_of_a_message_is_checked_by_itself() {
        let mut message = Message::new();
        let clock = message.push(&SetClockRate { clock: clock::V3D, rate_hz: 300_000_000, skip_turbo: 1 }).unwrap();
        let qpu = message.push(&EnableQpu { enable: 1 }).unwrap();
        let state = message.push(&SetDomainState { domain: domain::V3D, on: 1 }).unwrap();
        assert_eq!(
            message.words_mut(),
            [72, 0, 0x0003_8002, 12, 0, 5, 300_000_000, 1, 0x0003_0012, 4, 0, 1, 0x0003_8030, 8, 0, 11, 1, 0]
        );
        let words = message.words_mut();
        words[1] = 0x8000_0000;
        words[4] = 0x8000_0008;
        words[6] = 250_000_000;
        // EnableQpu: known to nobody. SetDomainState: half an answer.
        words[14] = 0x8000_0004;
        assert_eq!(message.answer(&clock), Ok(NewClockRate { clock: 5, rate_hz: 250_000_000 }));
        assert_eq!(message.answer(&qpu), Err(PropertyError::NotAnswered("EnableQpu")));
        assert_eq!(
            message.answer(&state),
            Err(PropertyError::ShortAnswer { name: "SetDomainState", got_bytes: 4, expected_bytes: 8 })
        );
    }

    #[test]
    fn a_tag_that_answers_no_bytes_is_not_answered() {
        let mut message = Message::new();
        let slot = message.push(&GetBoardRevision {}).unwrap();
        message.words_mut()[4] = 0x8000_0000;
        assert_eq!(message.answer(&slot), Err(PropertyError::NotAnswered("GetBoardRevision")));
    }

    #[test]
    fn a_refused_message_and_a_full_one_are_errors() {
        let mut message = Message::new();
        message.words_mut()[1] = 0x8000_0001;
        assert_eq!(message.check(), Err(PropertyError::Refused(0x8000_0001)));
        for _ in 0..3 {
            message.push(&GetEdidBlock { block: 0 }).unwrap();
        }
        assert_eq!(message.push(&GetEdidBlock { block: 0 }).err(), Some(PropertyError::MessageFull));
    }
}
