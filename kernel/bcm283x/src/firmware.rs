//! Property exchanges with the firmware
//!
//! [`Firmware`] is implemented by a mailbox in a `RefCell`, and by a test double in unit tests; a kernel with a lock implements it for its own type. Interrupt
//! handlers must not use it, since an exchange takes up to milliseconds.

use core::cell::RefCell;

use crate::mailbox::{Line, Mailbox};
use crate::memory::SharedMemory;
use crate::property::{Message, Property, PropertyError};

/// A firmware that answers properties.
pub trait Firmware {
    /// Sends a message of any number of properties to the firmware and receives its answers.
    ///
    /// # Errors
    /// See [`Mailbox::exchange`](crate::mailbox::Mailbox::exchange).
    fn exchange(&self, message: &mut Message) -> Result<(), PropertyError>;

    /// Sends a message whose answer the firmware delays on purpose, and waits for it for at most `limit_us` microseconds.
    ///
    /// # Errors
    /// As [`Self::exchange`]; a time-out does not count as silence of the firmware.
    fn exchange_within(&self, message: &mut Message, limit_us: u64) -> Result<(), PropertyError>;

    /// Sends one property and returns its answer.
    ///
    /// # Errors
    /// See [`Firmware::exchange`] and [`Message::answer`].
    fn ask<P: Property>(&self, property: &P) -> Result<P::Answer, PropertyError> {
        let mut message = Message::new();
        let slot = message.push(property)?;
        self.exchange(&mut message)?;
        message.answer(&slot)
    }
}

/// A mailbox, which only one message at a time uses. A message from within another one, which an interrupt handler could send, is not carried.
impl<L: Line, M: SharedMemory> Firmware for RefCell<Mailbox<L, M>> {
    fn exchange(&self, message: &mut Message) -> Result<(), PropertyError> {
        self.try_borrow_mut().map_err(|_| PropertyError::Timeout)?.exchange(message)
    }

    fn exchange_within(&self, message: &mut Message, limit_us: u64) -> Result<(), PropertyError> {
        self.try_borrow_mut().map_err(|_| PropertyError::Timeout)?.exchange_within(message, limit_us)
    }
}

/// Test doubles of the firmware.
#[cfg(test)]
pub(crate) mod double {
    use std::cell::{Cell, RefCell};

    use super::Firmware;
    use crate::property::{Message, PropertyError};

    /// Behaviour of a test double.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Behaviour {
        /// Answers the tags that it knows.
        Answers,
        /// Never answers.
        Silent,
        /// Rejects every message.
        Refuses,
        /// Fills every value with ones, and reports complete answers.
        Ones,
        /// Fills every value with zeros, and reports complete answers.
        Zeros,
        /// Answers each tag with half of its words.
        Half,
        /// Answers this number of messages, then no more.
        Dies { after: u32 },
    }

    /// Every behaviour of a firmware that gives no useful answer.
    pub(crate) const USELESS: [Behaviour; 5] =
        [Behaviour::Silent, Behaviour::Refuses, Behaviour::Ones, Behaviour::Zeros, Behaviour::Half];

    /// The answer to a tag: a function of its number and the words of its request.
    pub(crate) type Answer = fn(u32, &[u32]) -> Option<Vec<u32>>;

    /// A test double with a given behaviour, which records the tags that it receives.
    #[derive(Debug)]
    pub(crate) struct Double {
        behaviour: Behaviour,
        answer: Answer,
        /// Number of messages that it has received.
        pub(crate) messages: Cell<u32>,
        pub(crate) tags: RefCell<Vec<u32>>,
    }

    impl Double {
        pub(crate) fn new(behaviour: Behaviour, answer: Answer) -> Self {
            Self { behaviour, answer, messages: Cell::new(0), tags: RefCell::default() }
        }
    }

    impl Firmware for Double {
        fn exchange(&self, message: &mut Message) -> Result<(), PropertyError> {
            self.messages.set(self.messages.get() + 1);
            let dead = matches!(self.behaviour, Behaviour::Dies { after } if self.messages.get() > after);
            if dead || self.behaviour == Behaviour::Silent {
                return Err(PropertyError::Timeout);
            }
            let words = message.words_mut();
            words[1] = if self.behaviour == Behaviour::Refuses { 0x8000_0001 } else { 0x8000_0000 };
            let mut at = 2;
            while words[at] != 0 {
                let (tag, length) = (words[at], words[at + 1] as usize / 4);
                self.tags.borrow_mut().push(tag);
                let value = &words[at + 3..at + 3 + length];
                let answer = match self.behaviour {
                    Behaviour::Ones => Some(vec![u32::MAX; length]),
                    Behaviour::Zeros => Some(vec![0; length]),
                    Behaviour::Half => Some(value[..length / 2].to_vec()),
                    _ => (self.answer)(tag, value),
                };
                if let Some(answer) = answer {
                    words[at + 2] = 0x8000_0000 | (4 * answer.len() as u32);
                    words[at + 3..at + 3 + answer.len()].copy_from_slice(&answer);
                }
                at += 3 + length;
            }
            message.check()
        }

        fn exchange_within(&self, message: &mut Message, _limit_us: u64) -> Result<(), PropertyError> {
            self.exchange(message)
        }
    }
}
