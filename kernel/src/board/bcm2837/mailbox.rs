//! The mailbox between the ARM and the firmware, for property messages
//!
//! Mailbox 0 carries words to the ARM, mailbox 1 to the VideoCore. A word is an address of a 16-byte aligned message with the
//! channel in its low four bits; channel 8 is the property channel. The firmware answers with the same word when it has
//! written its answers into the message.
//!
//! # A firmware that does not answer
//! It may answer late, after the kernel has given up, and writes into the message then. So messages travel in buffers of the
//! mailbox's own, and one whose answer is owed is not used again before that has come: the late answer changes nothing and is taken
//! for no other. While the firmware is silent, each message waits for a short time only, and the first answer ends the silence.
//!
//! # Sources
//! raspberrypi/firmware wiki, "Accessing mailboxes"; [linux drivers/mailbox/bcm2835-mailbox.c].

use super::property::{MESSAGE_WORDS, Message, PropertyError};

/// The property channel.
const CHANNEL: u32 = 8;
/// Where the VideoCore sees the ARM's memory without its own cache in between.
const UNCACHED_ALIAS: u32 = 0xc000_0000;
/// The firmware answers within a millisecond, except when it sets clocks or a display mode up.
const PATIENCE_US: u64 = 1_000_000;
/// What a message waits while the firmware is silent: the kernel goes on without it, and only looks whether it is back.
const PATIENCE_IN_SILENCE_US: u64 = 10_000;
/// Messages whose answers may be owed at once.
const BUFFERS: usize = 4;
/// Words that a mailbox holds.
const FIFO_WORDS: usize = 8;

/// The registers of both mailboxes, the clock, and the cache between the CPU and the firmware.
pub trait Line {
    /// Microseconds since some moment.
    fn now_us(&self) -> u64;

    /// Whether mailbox 1 takes no word now.
    fn is_full(&self) -> bool;

    /// Puts a word into mailbox 1.
    fn send(&mut self, word: u32);

    /// Whether there is no word in mailbox 0.
    fn is_empty(&self) -> bool;

    /// Takes a word out of mailbox 0.
    fn receive(&mut self) -> u32;

    /// Makes the firmware see what the CPU wrote into `words`.
    fn hand_over(&mut self, words: &mut [u32]);

    /// Makes the CPU see what the firmware wrote into `words`.
    fn take_back(&mut self, words: &mut [u32]);
}

/// A message's place in memory; its alignment is a cache line, so that it shares none with its neighbours.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Buffer {
    words: [u32; MESSAGE_WORDS],
    /// Its message is with the firmware.
    is_owed: bool,
}

impl Buffer {
    /// What is sent for it.
    fn word(&self) -> u32 {
        // All of RAM is below 1 GiB, so that an address has room for the alias.
        (self.words.as_ptr() as usize as u32) | UNCACHED_ALIAS | CHANNEL
    }
}

/// The way to the firmware. It must stay where it is while an answer is owed.
#[derive(Debug)]
pub struct Mailbox<L> {
    line: L,
    buffers: [Buffer; BUFFERS],
    is_silent: bool,
}

impl<L: Line> Mailbox<L> {
    /// The mailbox.
    pub const fn new(line: L) -> Self {
        const BUFFER: Buffer = Buffer { words: [0; MESSAGE_WORDS], is_owed: false };
        Self { line, buffers: [BUFFER; BUFFERS], is_silent: false }
    }

    /// Whether the last message was not answered.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        self.is_silent
    }

    /// Carries `message` to the firmware and back.
    ///
    /// # Errors
    /// [`PropertyError::Timeout`], [`PropertyError::Refused`]. Whether each property was answered, its slot tells.
    pub fn exchange(&mut self, message: &mut Message) -> Result<(), PropertyError> {
        let patience_us = if self.is_silent { PATIENCE_IN_SILENCE_US } else { PATIENCE_US };
        let end_us = self.line.now_us() + patience_us;
        // Silent until the opposite is shown.
        self.is_silent = true;
        for _ in 0..FIFO_WORDS {
            if !self.line.is_empty() {
                self.receive();
            }
        }
        let index = self.buffers.iter().position(|buffer| !buffer.is_owed).ok_or(PropertyError::Timeout)?;
        self.wait_while(end_us, L::is_full)?;

        let Self { line, buffers, .. } = self;
        let buffer = &mut buffers[index];
        let length = message.words_mut().len();
        buffer.words[..length].copy_from_slice(message.words_mut());
        line.hand_over(&mut buffer.words[..length]);
        line.send(buffer.word());
        buffer.is_owed = true;
        while self.buffers[index].is_owed {
            // Words that are not ours come in between, perhaps for ever: the time is looked at for each.
            self.wait_while(end_us, L::is_empty)?;
            self.receive();
            if self.line.now_us() > end_us && self.buffers[index].is_owed {
                return Err(PropertyError::Timeout);
            }
        }
        self.is_silent = false;
        let Self { line, buffers, .. } = self;
        let words = &mut buffers[index].words[..length];
        line.take_back(words);
        message.words_mut().copy_from_slice(words);
        message.check()
    }

    /// Receives a word and notes which message it answers. Words of other channels are dropped.
    fn receive(&mut self) {
        let word = self.line.receive();
        if let Some(buffer) = self.buffers.iter_mut().find(|buffer| buffer.word() == word) {
            buffer.is_owed = false;
        }
    }

    fn wait_while(&self, end_us: u64, closed: impl Fn(&L) -> bool) -> Result<(), PropertyError> {
        while closed(&self.line) {
            if self.line.now_us() > end_us {
                return Err(PropertyError::Timeout);
            }
        }
        Ok(())
    }
}

#[cfg(target_os = "none")]
pub use hardware::{HardwareLine, Registers};

/// The line on the board.
#[cfg(target_os = "none")]
mod hardware {
    use tock_registers::{
        interfaces::{Readable, Writeable},
        register_bitfields, register_structs,
        registers::{ReadOnly, WriteOnly},
    };

    use super::Line;
    use crate::{
        arch::{cache, clock},
        mmio::Mmio,
    };

    register_bitfields! { u32,
        STATUS [
            /// No room for a word.
            FULL OFFSET(31) NUMBITS(1) [],
            /// No word there.
            EMPTY OFFSET(30) NUMBITS(1) [],
        ],
    }

    register_structs! {
        /// Both mailboxes.
        #[allow(missing_docs, reason = "field names are those of the firmware's wiki")]
        pub Registers {
            (0x00 => pub mailbox0_read: ReadOnly<u32>),
            (0x04 => _mailbox0),
            (0x18 => pub mailbox0_status: ReadOnly<u32, STATUS::Register>),
            (0x1c => _mailbox0_config),
            (0x20 => pub mailbox1_write: WriteOnly<u32>),
            (0x24 => _mailbox1),
            (0x38 => pub mailbox1_status: ReadOnly<u32, STATUS::Register>),
            (0x3c => @END),
        }
    }

    /// The registers, the core's clock and its cache.
    #[derive(Debug)]
    pub struct HardwareLine {
        registers: Mmio<Registers>,
    }

    impl HardwareLine {
        /// The line of these registers.
        #[must_use]
        pub fn new(registers: Mmio<Registers>) -> Self {
            Self { registers }
        }
    }

    impl Line for HardwareLine {
        fn now_us(&self) -> u64 {
            clock::now_us()
        }

        fn is_full(&self) -> bool {
            self.registers.mailbox1_status.is_set(STATUS::FULL)
        }

        fn send(&mut self, word: u32) {
            self.registers.mailbox1_write.set(word);
        }

        fn is_empty(&self) -> bool {
            self.registers.mailbox0_status.is_set(STATUS::EMPTY)
        }

        fn receive(&mut self) -> u32 {
            self.registers.mailbox0_read.get()
        }

        fn hand_over(&mut self, words: &mut [u32]) {
            cache::clean_and_invalidate(words);
        }

        fn take_back(&mut self, words: &mut [u32]) {
            cache::clean_and_invalidate(words);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::board::bcm2837::property::{BoardRevision, GetBoardRevision};

    /// What the firmware does with a message.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Behaviour {
        /// Answers with this revision.
        Answers(u32),
        /// Returns the word and leaves the message as it was.
        ReturnsItUntouched,
        /// Returns words of other messages and channels, for ever.
        Babbles,
        /// Returns the word, with this code and an answer of this many bytes in the message.
        Says { code: u32, bytes: u32 },
        /// Takes the word, and no more.
        SwallowsIt,
        /// Does not even take the word.
        IsFull,
    }

    struct Double {
        behaviour: Behaviour,
        now_us: Cell<u64>,
        /// Words on their way to the ARM.
        returned: Vec<u32>,
        /// Words that were swallowed, to be returned when it is too late.
        swallowed: Vec<u32>,
    }

    impl Line for Double {
        fn now_us(&self) -> u64 {
            self.now_us.set(self.now_us.get() + 1000);
            self.now_us.get()
        }

        fn is_full(&self) -> bool {
            self.behaviour == Behaviour::IsFull
        }

        fn send(&mut self, word: u32) {
            match self.behaviour {
                Behaviour::SwallowsIt => self.swallowed.push(word),
                Behaviour::Babbles => {}
                _ => self.returned.push(word),
            }
        }

        fn is_empty(&self) -> bool {
            self.returned.is_empty() && self.behaviour != Behaviour::Babbles
        }

        fn receive(&mut self) -> u32 {
            if self.returned.is_empty() { 0x1234_5671 } else { self.returned.remove(0) }
        }

        fn hand_over(&mut self, _words: &mut [u32]) {}

        fn take_back(&mut self, words: &mut [u32]) {
            let (code, bytes, revision) = match self.behaviour {
                Behaviour::Answers(revision) => (0x8000_0000, 4, revision),
                Behaviour::Says { code, bytes } => (code, bytes, 0),
                _ => return,
            };
            words[1] = code;
            words[4] = 0x8000_0000 | bytes;
            words[5] = revision;
        }
    }

    fn mailbox(behaviour: Behaviour) -> Mailbox<Double> {
        Mailbox::new(Double { behaviour, now_us: Cell::new(0), returned: Vec::new(), swallowed: Vec::new() })
    }

    /// The board's revision, and how many microseconds the question took.
    fn ask(mailbox: &mut Mailbox<Double>) -> (Result<u32, PropertyError>, u64) {
        let start_us = mailbox.line.now_us.get();
        let mut message = Message::new();
        let slot = message.push(&GetBoardRevision {}).unwrap();
        let answer = mailbox.exchange(&mut message).and_then(|()| message.answer(&slot));
        (answer.map(|BoardRevision { code }| code), mailbox.line.now_us.get() - start_us)
    }

    #[test]
    fn an_answer_comes_back() {
        let mut mailbox = mailbox(Behaviour::Answers(0xa0_2082));
        for _ in 0..20 {
            assert_eq!(ask(&mut mailbox).0, Ok(0xa0_2082));
        }
        assert!(!mailbox.is_silent());
    }

    /// Each bad firmware has its error, and costs no more than the patience.
    #[test]
    fn bad_answers_are_told_apart() {
        let name = "GetBoardRevision";
        for (behaviour, expected) in [
            (Behaviour::SwallowsIt, PropertyError::Timeout),
            (Behaviour::IsFull, PropertyError::Timeout),
            (Behaviour::Babbles, PropertyError::Timeout),
            (Behaviour::ReturnsItUntouched, PropertyError::Refused(0)),
            (Behaviour::Says { code: 0x8000_0001, bytes: 4 }, PropertyError::Refused(0x8000_0001)),
            (Behaviour::Says { code: 0xffff_ffff, bytes: 4 }, PropertyError::Refused(0xffff_ffff)),
            (Behaviour::Says { code: 0x8000_0000, bytes: 0 }, PropertyError::NotAnswered(name)),
            (
                Behaviour::Says { code: 0x8000_0000, bytes: 3 },
                PropertyError::ShortAnswer { name, got_bytes: 3, expected_bytes: 4 },
            ),
        ] {
            let mut mailbox = mailbox(behaviour);
            let (answer, us) = ask(&mut mailbox);
            assert_eq!(answer, Err(expected), "{behaviour:?}");
            assert!(us <= PATIENCE_US + 3000, "{behaviour:?} took {us} us");
            assert_eq!(mailbox.is_silent(), expected == PropertyError::Timeout, "{behaviour:?}");
        }
    }

    /// Once silent, a question costs a hundredth; when the firmware is back, the next question finds out.
    #[test]
    fn silence_is_cheap_and_may_end() {
        let mut mailbox = mailbox(Behaviour::SwallowsIt);
        assert!(ask(&mut mailbox).1 >= PATIENCE_US);
        for _ in 0..2 * BUFFERS {
            let (answer, us) = ask(&mut mailbox);
            assert_eq!(answer, Err(PropertyError::Timeout));
            assert!(us <= PATIENCE_IN_SILENCE_US + 3000, "{us} us");
        }
        assert_eq!(mailbox.line.swallowed.len(), BUFFERS, "a buffer was sent again while its answer is owed");
        // It is back, and the late answers come first.
        let late: Vec<u32> = mailbox.line.swallowed.drain(..).collect();
        mailbox.line.returned.extend(late);
        mailbox.line.behaviour = Behaviour::Answers(0x90_2120);
        assert_eq!(ask(&mut mailbox).0, Ok(0x90_2120));
        assert!(!mailbox.is_silent());
    }

    /// The answer to a question that was given up is not taken for the answer to the next one.
    #[test]
    fn a_late_answer_is_no_other_questions_answer() {
        let mut mailbox = mailbox(Behaviour::SwallowsIt);
        assert!(ask(&mut mailbox).0.is_err());
        let late = mailbox.line.swallowed.remove(0);
        mailbox.line.returned.push(late);
        let (answer, _) = ask(&mut mailbox);
        assert_eq!(answer, Err(PropertyError::Timeout), "the late word was taken for this answer");
    }
}
