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
//! # Coherence
//! The VideoCore does not see the ARM's caches. The buffers are in memory that is mapped non-cacheable, so they need no cache maintenance, and no line of
//! theirs can be written back over a late answer. What remains is the order: the message is complete in memory before its word is sent, and the answer is
//! loaded after its word has arrived. A barrier stands at both places.
//!
//! # Sources
//! raspberrypi/firmware wiki, "Accessing mailboxes"; [linux drivers/mailbox/bcm2835-mailbox.c].

use core::cell::RefCell;

use crate::bus::{Bus, BusMemory};
use crate::memory::SharedMemory;
use crate::peripherals::Peripherals;
use crate::property::{MESSAGE_WORDS, Message, PropertyError};

/// The property channel.
const CHANNEL: u32 = 8;
/// The firmware answers within a millisecond, except when it sets clocks or a display mode.
const PATIENCE_US: u64 = 1_000_000;
/// How long a message waits while the firmware is silent: just long enough to notice that it answers again.
const PATIENCE_IN_SILENCE_US: u64 = 10_000;
/// Messages whose answers may be outstanding at once.
const BUFFERS: usize = 4;
/// Words that a mailbox holds.
const FIFO_WORDS: usize = 8;
/// Words of a buffer: of a message, rounded up to its alignment.
const BUFFER_WORDS: usize = MESSAGE_WORDS.next_multiple_of(4);
/// Memory that a mailbox needs for its messages, in bytes.
pub const MEMORY_BYTES: usize = 4 * BUFFERS * BUFFER_WORDS;

/// The registers of both mailboxes, the clock, and the order of accesses.
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

    /// Completes all earlier accesses to memory and registers before any later one begins.
    fn complete_memory_accesses(&self);
}

/// Memory of a message.
#[derive(Clone, Copy, Debug)]
struct Buffer {
    /// Its first word in the mailbox's memory.
    first_word: usize,
    /// The word that is sent for the message.
    word: u32,
    /// The message has been sent, and its answer has not arrived.
    is_owed: bool,
}

/// The mailbox.
#[derive(Debug)]
pub struct Mailbox<L, M> {
    line: L,
    memory: M,
    buffers: [Buffer; BUFFERS],
    is_silent: bool,
}

impl<L: Line, M: SharedMemory> Mailbox<L, M> {
    /// A mailbox on this line, with its buffers in `memory`, which nothing else uses.
    ///
    /// # Panics
    /// If `memory` is too small for the buffers or not aligned to 16 bytes. Both are decided when a kernel is linked.
    pub fn new(line: L, memory: M) -> Self {
        assert!(4 * memory.words() >= MEMORY_BYTES, "the buffers for messages to the firmware do not fit");
        assert!(memory.bus_address().0.is_multiple_of(16), "a message's address has no room for the channel");
        let buffer = |index| {
            let first_word = index * BUFFER_WORDS;
            let word = (memory.bus_address().0 + 4 * first_word as u32) | CHANNEL;
            Buffer { first_word, word, is_owed: false }
        };
        Self { line, buffers: core::array::from_fn(buffer), memory, is_silent: false }
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
        let carried = self.carry(message, patience_us);
        self.is_silent = carried == Err(PropertyError::Timeout);
        carried
    }

    /// The same for a message whose answer the firmware delays on purpose: waits for at most `limit_us` microseconds, and does not take a later answer for
    /// silence. Messages that follow wait for the firmware to become free.
    ///
    /// # Errors
    /// As [`Self::exchange`].
    pub fn exchange_within(&mut self, message: &mut Message, limit_us: u64) -> Result<(), PropertyError> {
        self.carry(message, limit_us)
    }

    /// Carries a message to the firmware and back within `patience_us` microseconds.
    fn carry(&mut self, message: &mut Message, patience_us: u64) -> Result<(), PropertyError> {
        let end_us = self.line.now_us() + patience_us;
        for _ in 0..FIFO_WORDS {
            if !self.line.is_empty() {
                self.receive();
            }
        }
        let index = self.buffers.iter().position(|buffer| !buffer.is_owed).ok_or(PropertyError::Timeout)?;
        self.wait_while(end_us, L::is_full)?;

        let Self { line, memory, buffers, .. } = self;
        let buffer = &mut buffers[index];
        for (at, &word) in (buffer.first_word..).zip(message.words_mut().iter()) {
            memory.store(at, word);
        }
        // The firmware may read the message as soon as it has the word.
        line.complete_memory_accesses();
        line.send(buffer.word);
        buffer.is_owed = true;
        while self.buffers[index].is_owed {
            // Any number of other words may arrive first, so the time is checked for each.
            self.wait_while(end_us, L::is_empty)?;
            self.receive();
            if self.line.now_us() > end_us && self.buffers[index].is_owed {
                return Err(PropertyError::Timeout);
            }
        }
        // The answer must not be loaded before its word has arrived.
        self.line.complete_memory_accesses();
        for (at, word) in (self.buffers[index].first_word..).zip(message.words_mut()) {
            *word = self.memory.load(at);
        }
        message.check()
    }

    /// Receives a word and marks the message that it answers as answered. Words of other channels are dropped.
    fn receive(&mut self) {
        let word = self.line.receive();
        if let Some(buffer) = self.buffers.iter_mut().find(|buffer| buffer.word == word) {
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

/// The mailbox of a chip, with its buffers at a physical address: [`MEMORY_BYTES`] that are not cached, and that nothing else uses.
///
/// # Panics
/// If the address is not a multiple of 16.
pub fn of_bus<B: Bus>(
    bus: &B,
    peripherals: Peripherals,
    messages: u32,
) -> RefCell<Mailbox<BusLine<'_, B>, BusMemory<'_, B>>> {
    let memory = BusMemory::new(bus, peripherals, messages, MEMORY_BYTES / 4);
    RefCell::new(Mailbox::new(BusLine { bus, peripherals }, memory))
}

/// The registers of both mailboxes behind a bus, with the system timer as the clock.
#[derive(Debug)]
pub struct BusLine<'b, B> {
    bus: &'b B,
    peripherals: Peripherals,
}

/// Bit of a status register: the mailbox is full.
const FULL: u32 = 1 << 31;
/// Bit of a status register: the mailbox is empty.
const EMPTY: u32 = 1 << 30;

impl<B: Bus> Line for BusLine<'_, B> {
    fn now_us(&self) -> u64 {
        self.peripherals.now_us(self.bus)
    }

    fn is_full(&self) -> bool {
        self.bus.load(self.peripherals.mailbox() + 0x38) & FULL != 0
    }

    fn send(&mut self, word: u32) {
        self.bus.store(self.peripherals.mailbox() + 0x20, word);
    }

    fn is_empty(&self) -> bool {
        self.bus.load(self.peripherals.mailbox() + 0x18) & EMPTY != 0
    }

    fn receive(&mut self) -> u32 {
        self.bus.load(self.peripherals.mailbox())
    }

    fn complete_memory_accesses(&self) {
        self.bus.complete();
    }
}

#[cfg(test)]
mod tests {
    use std::{
        cell::{Cell, RefCell},
        sync::atomic::{AtomicU32, Ordering},
    };

    use v3d::hw::BusAddr;

    use super::*;
    use crate::property::{BoardRevision, GetBoardRevision, Property};

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

    /// The firmware, with a memory of its own. What one side stores, the other one sees after a barrier of the CPU, and no earlier.
    struct Double {
        behaviour: Behaviour,
        now_us: Cell<u64>,
        /// Memory as the CPU sees it.
        memory: Words,
        /// Memory as the firmware sees it.
        firmware_memory: RefCell<Vec<u32>>,
        /// Memory as both saw it after the last barrier.
        common_memory: RefCell<Vec<u32>>,
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
                _ => {
                    self.answer(word);
                    self.returned.push(word);
                }
            }
        }

        fn is_empty(&self) -> bool {
            self.returned.is_empty() && self.behaviour != Behaviour::Babbles
        }

        fn receive(&mut self) -> u32 {
            if self.returned.is_empty() { 0x1234_5671 } else { self.returned.remove(0) }
        }

        fn complete_memory_accesses(&self) {
            let (mut theirs, mut before) = (self.firmware_memory.borrow_mut(), self.common_memory.borrow_mut());
            for (index, (theirs, before)) in theirs.iter_mut().zip(before.iter_mut()).enumerate() {
                let ours = self.memory.load(index);
                *before = if ours == *before { *theirs } else { ours };
                *theirs = *before;
                self.memory.store(index, *before);
            }
        }
    }

    impl Double {
        fn new(behaviour: Behaviour, memory: Words) -> Self {
            Self {
                behaviour,
                now_us: Cell::new(0),
                memory,
                firmware_memory: RefCell::new(vec![0; memory.words()]),
                common_memory: RefCell::new(vec![0; memory.words()]),
                returned: Vec::new(),
                swallowed: Vec::new(),
            }
        }

        /// Answers the message that a word announces, if it asks for the board's revision.
        fn answer(&self, word: u32) {
            let (code, bytes, revision) = match self.behaviour {
                Behaviour::Answers(revision) => (0x8000_0000, 4, revision),
                Behaviour::Says { code, bytes } => (code, bytes, 0),
                _ => return,
            };
            let offset = word.wrapping_sub(self.memory.bus_address().0) & !0xf;
            let mut memory = self.firmware_memory.borrow_mut();
            let message = &mut memory[offset as usize / 4..];
            if message[2] == GetBoardRevision::TAG {
                message[1] = code;
                message[4] = 0x8000_0000 | bytes;
                message[5] = revision;
            }
        }
    }

    /// Memory of the host.
    #[derive(Clone, Copy)]
    struct Words(&'static [AtomicU32]);

    impl SharedMemory for Words {
        fn bus_address(&self) -> BusAddr {
            BusAddr(self.0.as_ptr() as usize as u32)
        }

        fn words(&self) -> usize {
            self.0.len()
        }

        fn load(&self, index: usize) -> u32 {
            self.0[index].load(Ordering::Relaxed)
        }

        fn store(&self, index: usize, word: u32) {
            self.0[index].store(word, Ordering::Relaxed);
        }
    }

    /// Memory for messages, aligned as the linker script's.
    #[repr(C, align(4096))]
    struct Memory([AtomicU32; BUFFERS * BUFFER_WORDS]);

    fn mailbox(behaviour: Behaviour) -> Mailbox<Double, Words> {
        let memory: &'static Memory =
            Box::leak(Box::new(Memory([const { AtomicU32::new(0) }; BUFFERS * BUFFER_WORDS])));
        let memory = Words(&memory.0);
        Mailbox::new(Double::new(behaviour, memory), memory)
    }

    /// The answer to a request for the board's revision, and the time that it took in microseconds.
    fn ask(mailbox: &mut Mailbox<Double, Words>) -> (Result<u32, PropertyError>, u64) {
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

    /// A request that the firmware answers late on purpose ends at its limit; the firmware does not count as silent, and the next answer is awaited in full.
    #[test]
    fn a_late_answer_within_a_limit_is_not_silence() {
        const LIMIT_US: u64 = 100_000;
        let mut mailbox = mailbox(Behaviour::SwallowsIt);
        let mut message = Message::new();
        message.push(&GetBoardRevision {}).unwrap();
        let start_us = mailbox.line.now_us.get();
        assert_eq!(mailbox.exchange_within(&mut message, LIMIT_US), Err(PropertyError::Timeout));
        assert!(mailbox.line.now_us.get() - start_us <= LIMIT_US + 3000);
        assert!(!mailbox.is_silent());
        assert!(ask(&mut mailbox).1 >= PATIENCE_US, "the next request does not wait as long as any other");
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
