//! What the firmware has refused since the boot, for a board's report
//!
//! Requests that the firmware does not answer are replaced by defaults or left out, so that the kernel goes on. Which they were says much about a firmware that
//! is far away.

use core::fmt;

use super::property::{Message, PropertyError};

/// Different refusals that are kept; firmware knows all but a few of the kernel's properties.
const ROWS: usize = 24;

/// How a request was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// The firmware did not answer the tag.
    NotAnswered,
    /// The firmware rejected the message that begins with the tag, with this code.
    Rejected(u32),
    /// The message that begins with the tag was not returned in time.
    TimedOut,
}

/// A refusal, and how often it occurred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    tag: u32,
    how: How,
    count: u32,
}

/// The refusals since the boot.
#[derive(Clone, Copy, Debug)]
pub struct Refusals {
    rows: [Option<Row>; ROWS],
    /// Number of refusals that found no room.
    left_out: u32,
}

impl Default for Refusals {
    fn default() -> Self {
        Self::new()
    }
}

impl Refusals {
    /// No refusals.
    #[must_use]
    pub const fn new() -> Self {
        Self { rows: [None; ROWS], left_out: 0 }
    }

    /// Notes what was refused of a message that has been exchanged with this result.
    pub fn note(&mut self, message: &Message, result: Result<(), PropertyError>) {
        let first = message.tags().next().map(|(tag, _)| tag);
        match (result, first) {
            (Ok(()), _) => {
                for (tag, is_answered) in message.tags() {
                    if !is_answered {
                        self.count(tag, How::NotAnswered);
                    }
                }
            }
            (Err(PropertyError::Refused(code)), Some(tag)) => self.count(tag, How::Rejected(code)),
            (Err(_), Some(tag)) => self.count(tag, How::TimedOut),
            (Err(_), None) => {}
        }
    }

    fn count(&mut self, tag: u32, how: How) {
        let is_it = |row: &&mut Option<Row>| row.is_none_or(|row| (row.tag, row.how) == (tag, how));
        match self.rows.iter_mut().find(is_it) {
            Some(Some(row)) => row.count = row.count.saturating_add(1),
            Some(free) => *free = Some(Row { tag, how, count: 1 }),
            None => self.left_out = self.left_out.saturating_add(1),
        }
    }
}

/// `nothing`, or for each refusal the tag, what happened, and how often.
impl fmt::Display for Refusals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for Row { tag, how, count } in self.rows.iter().flatten() {
            write!(f, "{separator}{tag:#x}")?;
            match how {
                How::NotAnswered => {}
                How::Rejected(code) => write!(f, " with code {code:#x}")?,
                How::TimedOut => f.write_str(" by silence")?,
            }
            if *count > 1 {
                write!(f, " ({count} times)")?;
            }
            separator = ", ";
        }
        match (separator, self.left_out) {
            ("", _) => f.write_str("nothing"),
            (_, 0) => Ok(()),
            (_, count) => write!(f, ", and {count} others"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::property::{EnableQpu, GetBoardRevision, GetClockRate, WaitForVsync, clock};

    /// A message of two tags, as the firmware returns it: with these codes of the message and of the second tag.
    fn returned(code: u32, second: u32) -> Message {
        let mut message = Message::new();
        message.push(&GetBoardRevision {}).unwrap();
        message.push(&GetClockRate { clock: clock::CORE }).unwrap();
        let words = message.words_mut();
        (words[1], words[4], words[8]) = (code, 0x8000_0004, second);
        message
    }

    fn told(exchanges: &[(&Message, Result<(), PropertyError>)]) -> String {
        let mut refusals = Refusals::new();
        exchanges.iter().for_each(|(message, result)| refusals.note(message, *result));
        refusals.to_string()
    }

    /// Tags are those of the firmware's wiki: 0x10002 "Get board revision", 0x30002 "Get clock rate".
    #[test]
    fn each_kind_of_refusal_is_told() {
        let complete = returned(0x8000_0000, 0x8000_0008);
        let untouched = returned(0x8000_0000, 0);
        let empty = returned(0x8000_0000, 0x8000_0000);
        assert_eq!(told(&[]), "nothing");
        assert_eq!(told(&[(&complete, Ok(()))]), "nothing");
        assert_eq!(told(&[(&untouched, Ok(())), (&complete, Ok(())), (&empty, Ok(()))]), "0x30002 (2 times)");
        assert_eq!(told(&[(&untouched, Err(PropertyError::Timeout))]), "0x10002 by silence");
        let rejected = (&untouched, Err(PropertyError::Refused(0x8000_0001)));
        assert_eq!(told(&[(&empty, Ok(())), rejected]), "0x30002, 0x10002 with code 0x80000001");
        assert_eq!(told(&[(&Message::new(), Err(PropertyError::Timeout))]), "nothing");
    }

    #[test]
    fn what_finds_no_room_is_counted() {
        let mut refusals = Refusals::new();
        for tag in 0..30 {
            refusals.count(tag, How::NotAnswered);
            refusals.count(0, How::NotAnswered);
        }
        let told = refusals.to_string();
        assert!(told.starts_with("0x0 (31 times), 0x1, 0x2,") && told.ends_with("0x17, and 6 others"), "{told}");
    }

    #[test]
    fn a_message_has_its_tags() {
        let mut message = Message::new();
        assert_eq!(message.tags().count(), 0);
        message.push(&EnableQpu { enable: 1 }).unwrap();
        message.push(&WaitForVsync { unused: 0 }).unwrap();
        message.words_mut()[4] = 0x8000_0004;
        assert_eq!(message.tags().collect::<Vec<_>>(), [(0x30012, true), (0x4800e, false)]);
    }
}
