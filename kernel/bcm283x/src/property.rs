//! Messages to the firmware: encoding and decoding of properties
//!
//! A message is a buffer of 32-bit words: its size in bytes, a request code of 0, any number of tags, then 0. A tag is its number, the size of its value buffer
//! in bytes, a code (0), and the buffer. The firmware answers in place: the message's code becomes 0x8000_0000 (done) or 0x8000_0001 (parse error); each tag's
//! code becomes 0x8000_0000 plus the length of the answer in bytes, which may exceed the buffer or be 0. Of an unknown tag, some firmware versions leave the
//! code 0 and others answer 0 bytes: both count as not answered.
//!
//! ```
//! use bcm283x::property::{GetBoardRevision, GetTemperature, Message};
//! let mut message = Message::new();
//! let revision = message.push(&GetBoardRevision {})?;
//! let temperature = message.push(&GetTemperature { sensor: 0 })?;
//! // … the mailbox carries it to the firmware and back …
//! assert!(message.answer(&revision).is_err(), "nobody has answered yet");
//! # let _ = temperature;
//! # Ok::<(), bcm283x::property::PropertyError>(())
//! ```
//!
//! # Sources
//! raspberrypi/firmware wiki, "Mailbox property interface"; [linux include/soc/bcm2835/raspberrypi-firmware.h].

use core::{fmt, marker::PhantomData};

mod of_bytes;
mod throttling;

pub use of_bytes::{CommandLine, EdidBlock, GetCommandLine, GetEdidBlock};
pub use throttling::throttling;

/// Capacity of a message in words: room for the longest property, which is the command line, and for what surrounds it.
pub const MESSAGE_WORDS: usize = 528;
const WORDS_BEFORE_TAGS: usize = 2;
const WORDS_BEFORE_VALUE: usize = 3;
const DONE: u32 = 0x8000_0000;

/// A property: a request to the firmware and its answer.
pub trait Property {
    /// The tag's number.
    const TAG: u32;
    /// Its name in error messages.
    const NAME: &'static str;
    /// Words of the value buffer: the longer of request and answer.
    const VALUE_WORDS: usize;
    /// Minimum length of a complete answer in bytes.
    const ANSWER_BYTES: u32;
    /// The decoded answer.
    type Answer;
    /// Writes the request into the value buffer, which is zeroed.
    fn request(&self, value: &mut [u32]);
    /// Reads the answer from the value buffer. The firmware's answer has `answer_bytes`, of which the buffer holds as many as fit.
    fn answer(value: &[u32], answer_bytes: u32) -> Self::Answer;
}

/// Why a property has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PropertyError {
    /// The mailbox did not take or return the message in time.
    Timeout,
    /// The firmware rejected the message with this code.
    Refused(u32),
    /// The firmware does not know the tag of this name.
    NotAnswered(&'static str),
    /// The answer is shorter than it must be.
    ShortAnswer {
        /// The property's name.
        name: &'static str,
        /// Length of the answer in bytes.
        got_bytes: u32,
        /// Required length in bytes.
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

/// A message to be filled, sent, or read.
#[derive(Clone, Debug)]
pub struct Message {
    words: [u32; MESSAGE_WORDS],
    used_words: usize,
}

/// Position of a property in its message, which identifies its answer.
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
        // One word is reserved for the end tag.
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

    /// The message's words, up to and including the end tag.
    pub fn words_mut(&mut self) -> &mut [u32] {
        &mut self.words[..=self.used_words]
    }

    /// Checks that the firmware has processed the message.
    ///
    /// # Errors
    /// [`PropertyError::Refused`] with the firmware's code.
    pub fn check(&self) -> Result<(), PropertyError> {
        if self.words[1] == DONE { Ok(()) } else { Err(PropertyError::Refused(self.words[1])) }
    }

    /// The answer to one property.
    ///
    /// # Errors
    /// When the firmware did not know the property, or its answer is too short.
    pub fn answer<P: Property>(&self, slot: &Slot<P>) -> Result<P::Answer, PropertyError> {
        let code = self.words[slot.first_word + 2];
        let got_bytes = code & !DONE;
        if code & DONE == 0 || (got_bytes == 0 && P::ANSWER_BYTES > 0) {
            return Err(PropertyError::NotAnswered(P::NAME));
        }
        if got_bytes < P::ANSWER_BYTES {
            return Err(PropertyError::ShortAnswer { name: P::NAME, got_bytes, expected_bytes: P::ANSWER_BYTES });
        }
        let first = slot.first_word + WORDS_BEFORE_VALUE;
        Ok(P::answer(&self.words[first..first + P::VALUE_WORDS], got_bytes))
    }

    /// The number of each tag, and whether the firmware has answered it.
    pub fn tags(&self) -> impl Iterator<Item = (u32, bool)> {
        let mut at = WORDS_BEFORE_TAGS;
        core::iter::from_fn(move || {
            // The firmware writes into tags, so that a length may have any value.
            let &[tag, bytes, code] = self.words.get(at..at + WORDS_BEFORE_VALUE)? else { return None };
            if tag == 0 {
                return None;
            }
            at = at.checked_add(WORDS_BEFORE_VALUE + bytes as usize / 4).filter(|&next| next <= self.used_words)?;
            Some((tag, code & DONE != 0 && code != DONE))
        })
    }

    /// Writes the size and the end tag.
    fn close(&mut self) {
        self.words[0] = 4 * (self.used_words as u32 + 1);
        self.words[1] = 0;
        self.words[self.used_words] = 0;
    }
}

/// Properties whose requests and answers consist of words, one row each: name, tag, request, answer.
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

            fn answer(value: &[u32], _answer_bytes: u32) -> $answer {
                let mut words = value.iter().copied();
                $answer { $($field: words.next().unwrap_or(0),)+ }
            }
        }
    )*};
}

properties! {
    /// The firmware's build time, as seconds since 1970.
    GetFirmwareRevision = 0x0000_0001 {} -> FirmwareRevision {
        /// Seconds since 1970.
        built_at,
    }
    /// The board's revision code.
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
        /// Address of its first byte.
        base,
        /// Size in bytes.
        size_bytes,
    }
    /// The VideoCore's part of memory; its size is set by gpu_mem.
    GetVideoCoreMemory = 0x0001_0006 {} -> VideoCoreMemory {
        /// Address of its first byte.
        base,
        /// Size in bytes.
        size_bytes,
    }
    /// The rate that a clock is set to.
    GetClockRate = 0x0003_0002 {
        /// Which clock, see [`clock`].
        clock,
    } -> ClockRate {
        /// Which clock.
        clock,
        /// Hertz; 0 when there is no such clock.
        rate_hz,
    }
    /// The maximum rate of a clock.
    GetMaxClockRate = 0x0003_0004 {
        /// Which clock, see [`clock`].
        clock,
    } -> MaxClockRate {
        /// Which clock.
        clock,
        /// Hertz; 0 when there is no such clock.
        rate_hz,
    }
    /// The measured rate of a clock.
    GetMeasuredClockRate = 0x0003_0047 {
        /// Which clock, see [`clock`].
        clock,
    } -> MeasuredClockRate {
        /// Which clock.
        clock,
        /// Hertz.
        rate_hz,
    }
    /// Switches a clock on or off. Newer firmware leaves the V3D's clock off until it is asked for [raspberrypi/linux issue 7155].
    SetClockState = 0x0003_8001 {
        /// Which clock, see [`clock`].
        clock,
        /// 1: on, 0: off.
        on,
    } -> ClockState {
        /// Which clock.
        clock,
        /// Bit 0: it is on; bit 1: there is no such clock.
        state,
    }
    /// Sets a clock's rate; the firmware chooses the nearest possible rate and returns it.
    SetClockRate = 0x0003_8002 {
        /// Which clock, see [`clock`].
        clock,
        /// Hertz.
        rate_hz,
        /// 1: do not change the turbo settings.
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
    /// The temperature at which the firmware throttles the chip.
    GetMaxTemperature = 0x0003_000a {
        /// Always 0: there is one sensor.
        sensor,
    } -> MaxTemperature {
        /// The sensor.
        sensor,
        /// Thousandths of a degree Celsius.
        millidegrees,
    }
    /// Under-voltage and throttling: now (bits 3:0), and at any time since boot (bits 19:16).
    GetThrottled = 0x0003_0046 {
        /// Bits of the upper half to clear.
        clear_mask,
    } -> Throttled {
        /// The bits.
        bits,
    }
    /// Enables the QPUs for programs of the ARM.
    EnableQpu = 0x0003_0012 {
        /// 1 enables.
        enable,
    } -> EnabledQpu {
        /// 0 on success.
        status,
    }
    /// Switches a power domain.
    SetDomainState = 0x0003_8030 {
        /// Which domain, see [`domain`].
        domain,
        /// 1 switches it on.
        on,
    } -> DomainState {
        /// Which domain.
        domain,
        /// 1 if it is on.
        on,
    }
    /// Sets a pin of the board's GPIO expander, which only the firmware can access.
    SetGpioState = 0x0003_8041 {
        /// The pin, 128 and up.
        pin,
        /// 0 or 1.
        state,
    } -> GpioState {
        /// 0 on success.
        status,
        /// The state as set.
        state,
    }
    /// Allocates the framebuffer.
    AllocateFramebuffer = 0x0004_0001 {
        /// Alignment in bytes.
        alignment_bytes,
    } -> AllocatedFramebuffer {
        /// Bus address of the first pixel.
        bus_address,
        /// Size of all pages in bytes.
        size_bytes,
    }
    /// The resolution of the display.
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
    /// Bits per pixel.
    SetDepth = 0x0004_8005 {
        /// Bits.
        bits,
    } -> Depth {
        /// Bits.
        bits,
    }
    /// Order of red and blue in memory.
    SetPixelOrder = 0x0004_8006 {
        /// 0: blue first, 1: red first.
        red_first,
    } -> PixelOrder {
        /// 0: blue first, 1: red first.
        red_first,
    }
    /// Meaning of the fourth byte of a pixel.
    SetAlphaMode = 0x0004_8007 {
        /// 0: 255 is opaque; 1: 0 is opaque; 2: ignored.
        mode,
    } -> AlphaMode {
        /// The mode as set.
        mode,
    }
    /// Bytes from one line to the next.
    GetPitch = 0x0004_0008 {} -> Pitch {
        /// Bytes.
        bytes,
    }
    /// The part of the framebuffer that the display shows.
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
    /// Waits for the display's vertical blanking: the firmware answers when it comes.
    WaitForVsync = 0x0004_800e {
        /// Ignored.
        unused,
    } -> Vsync {
        /// Meaningless.
        unused,
    }
}

/// Numbers of clocks in clock properties.
pub mod clock {
    /// The Arasan SD controller's.
    pub const EMMC: u32 = 1;
    /// The UART's.
    pub const UART: u32 = 2;
    /// The ARM cores'.
    pub const ARM: u32 = 3;
    /// The core clock, from which the mini UART derives its baud rate.
    pub const CORE: u32 = 4;
    /// The V3D's.
    pub const V3D: u32 = 5;
    /// The memory's.
    pub const SDRAM: u32 = 8;
    /// The display's pixel clock.
    pub const PIXEL: u32 = 9;

    /// The clocks that the command `clocks` prints, with names.
    pub const NAMED: [(u32, &str); 6] =
        [(ARM, "ARM"), (CORE, "core"), (V3D, "V3D"), (SDRAM, "SDRAM"), (UART, "UART"), (PIXEL, "pixel")];
}

/// Numbers of power domains in the domain property.
pub mod domain {
    /// The V3D's: the index in Linux plus one. [linux include/dt-bindings/power/raspberrypi-power.h]
    pub const V3D: u32 = 11;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the firmware's wiki: a message that requests the ARM memory.
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
        // EnableQpu: unknown to the firmware. SetDomainState: an incomplete answer.
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
        for _ in 0..14 {
            message.push(&GetEdidBlock { block: 0 }).unwrap();
        }
        assert_eq!(message.push(&GetEdidBlock { block: 0 }).err(), Some(PropertyError::MessageFull));
    }
}
