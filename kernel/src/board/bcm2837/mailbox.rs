//! The mailbox between the ARM and the firmware, for property messages
//!
//! Mailbox 0 carries words to the ARM, mailbox 1 to the VideoCore. A word is the address of a 16-byte aligned message, with the channel in its low four bits;
//! channel 8 is the property channel. The firmware writes its answers into the message and sends the same word back.
//!
//! # Late answers
//! The firmware may answer after the kernel has given up, and then writes into the message. The mailbox therefore has its own buffers for messages, and does
//! not reuse a buffer before its answer has arrived: a late answer overwrites nothing else and is not taken for the answer to another message. While the
//! firmware is silent, each message waits for a short time only, until the first answer arrives.
//!
//! # Sources
//! raspberrypi/firmware wiki, "Accessing mailboxes"; [linux drivers/mailbox/bcm2835-mailbox.c].

use super::property::{MESSAGE_WORDS, Message, PropertyError};

/// The property channel.
const CHANNEL: u32 = 8;
/// The bus alias in which the VideoCore accesses the ARM's memory without its own cache.
const UNCACHED_ALIAS: u32 = 0xc000_0000;
/// The firmware answers within a millisecond, except when it sets clocks or a display mode.
const PATIENCE_US: u64 = 1_000_000;
/// How long a message waits while the firmware is silent: just long enough to notice that it answers again.
const PATIENCE_IN_SILENCE_US: u64 = 10_000;
/// Messages whose answers may be outstanding at once.
const BUFFERS: usize = 4;
/// Words that a mailbox holds.
const FIFO_WORDS: usize = 8;

/// The registers of both mailboxes, the clock, and the cache between the CPU and the firmware.
pub trait Line {
    /// A time in microseconds.
    fn now_us(&self) -> u64;

    /// Whether mailbox 1 is full.
    fn is_full(&self) -> bool;

    /// Puts a word into mailbox 1.
    fn send(&mut self, word: u32);

    /// Whether mailbox 0 is empty.
    fn is_empty(&self) -> bool;

    /// Takes a word out of mailbox 0.
    fn receive(&mut self) -> u32;

    /// Makes the firmware see what the CPU wrote into `words`.
    fn hand_over(&mut self, words: &mut [u32]);

    /// Makes the CPU see what the firmware wrote into `words`.
    fn take_back(&mut self, words: &mut [u32]);
}

/// Memory of a message; it is aligned to a cache line, so that it shares none with its neighbours.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Buffer {
    words: [u32; MESSAGE_WORDS],
    /// The message has been sent, and its answer has not arrived.
    is_owed: bool,
}

impl Buffer {
    /// The word that is sent for the message.
    fn word(&self) -> u32 {
        // All of RAM is below 1 GiB, so the bits of the alias are free in an address.
        (self.words.as_ptr() as usize as u32) | UNCACHED_ALIAS | CHANNEL
    }
}

/// The mailbox. It must not move while an answer is outstanding.
#[derive(Debug)]
pub struct Mailbox<L> {
    line: L,
    buffers: [Buffer; BUFFERS],
    is_silent: bool,
}

impl<L: Line> Mailbox<L> {
    /// A mailbox on this line.
    pub const fn new(line: L) -> Self {
        const BUFFER: Buffer = Buffer { words: [0; MESSAGE_WORDS], is_owed: false };
        Self { line, buffers: [BUFFER; BUFFERS], is_silent: false }
    }

    /// Whether the last message was not answered.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        self.is_silent
    }

    /// Sends `message` to the firmware and receives the answer.
    ///
    /// # Errors
    /// [`PropertyError::Timeout`], [`PropertyError::Refused`]. Whether a property was answered is found by [`Message::answer`].
    pub fn exchange(&mut self, message: &mut Message) -> Result<(), PropertyError> {
        let patience_us = if self.is_silent { PATIENCE_IN_SILENCE_US } else { PATIENCE_US };
        let end_us = self.line.now_us() + patience_us;
        // Assumed silent until an answer arrives.
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
            // Any number of other words may arrive first, so the time is checked for each.
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

    /// Receives a word and marks the message that it answers as answered. Words of other channels are dropped.
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

/// The mailbox's registers on the board.
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
            /// The mailbox is full.
            FULL OFFSET(31) NUMBITS(1) [],
            /// The mailbox is empty.
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

    /// The registers, with the core's clock and caches.
    #[derive(Debug)]
    pub struct HardwareLine {
        registers: Mmio<Registers>,
    }

    impl HardwareLine {
        /// The line with these registers.
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

    /// Behaviour of the test double.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Behaviour {
        /// Answers with this revision code.
        Answers(u32),
        /// Returns the word and leaves the message unchanged.
        ReturnsItUntouched,
        /// Returns words of other messages and channels without end.
        Babbles,
        /// Returns the word, and sets this code and this length of the answer in the message.
        Says { code: u32, bytes: u32 },
        /// Takes the word and does not answer.
        SwallowsIt,
        /// Does not take the word.
        IsFull,
    }

    struct Double {
        behaviour: Behaviour,
        now_us: Cell<u64>,
        /// Words on their way to the ARM.
        returned: Vec<u32>,
        /// Words that were taken without an answer, to be returned later.
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

    /// The answer to a request for the board's revision, and the time that it took in microseconds.
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

    /// Each failure has its error and takes no longer than the timeout.
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

    /// Once the firmware is silent, a request waits for a hundredth of the time; when it answers again, the next request succeeds.
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
        // The firmware answers again, late answers first.
        let late: Vec<u32> = mailbox.line.swallowed.drain(..).collect();
        mailbox.line.returned.extend(late);
        mailbox.line.behaviour = Behaviour::Answers(0x90_2120);
        assert_eq!(ask(&mut mailbox).0, Ok(0x90_2120));
        assert!(!mailbox.is_silent());
    }

    /// A late answer to an abandoned request is not taken for the answer to the next one.
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
