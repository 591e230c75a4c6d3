//! The keys that are pressed and released, from the bytes that a terminal sends
//!
//! A terminal sends a byte or a sequence when a key is pressed, and repeats it while the key is held. Most terminals say nothing about the release. Those that
//! know the keyboard protocol of kitty [kitty keyboard-protocol] report it for arrows and other keys without a character, once [`REPORT_RELEASES`] was sent to
//! them. For all other keys a release is assumed: [`HOLD_US`] after the last byte, so a key that is held counts as released between its first byte and the
//! terminal's first repetition.
//!
//! An escape byte begins a sequence; if nothing follows for [`SEQUENCE_US`], it is the escape key.

use alloc::vec::Vec;

use crate::terminal::keys::{BACKSPACE, CARRIAGE_RETURN, DELETE, ESCAPE, LINE_FEED};

/// Time after which a key counts as released, if the terminal does not report releases.
pub const HOLD_US: u64 = 150_000;
/// Time within which the bytes of a sequence follow each other.
pub const SEQUENCE_US: u64 = 20_000;
/// Sent to a terminal: from now on it reports releases of keys that it sends as sequences.
pub const REPORT_RELEASES: &str = "\x1b[>2u";
/// Sent to a terminal: ends [`REPORT_RELEASES`].
pub const REPORT_NO_RELEASES: &str = "\x1b[<u";

/// Most keys that are held at a time; the oldest is released for another one.
const HELD_KEYS: usize = 8;

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A printable ASCII character; of letters the one that is typed, lower or upper case.
    Character(char),
    /// Ends a line.
    Enter,
    /// Esc.
    Escape,
    /// Deletes to the left.
    Backspace,
    /// Tab.
    Tab,
    /// The arrow to the left.
    Left,
    /// The arrow to the right.
    Right,
    /// The arrow up.
    Up,
    /// The arrow down.
    Down,
}

/// What happened to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyEvent {
    /// It went down.
    Press(Key),
    /// It went up.
    Release(Key),
}

/// A key that is down.
#[derive(Clone, Copy, Debug)]
struct Held {
    key: Key,
    /// When it counts as released; `None` if the terminal reports the release.
    until_us: Option<u64>,
}

/// The part of a sequence that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sequence {
    None,
    Escape,
    /// After `ESC [` or `ESC O`: the last number, and whether a colon stands before it, as before the type of an event.
    Parameters {
        number: u8,
        is_type: bool,
    },
}

/// The state of all keys.
#[derive(Clone, Debug)]
pub struct Keyboard {
    sequence: Sequence,
    last_byte_us: u64,
    held: Vec<Held>,
    events: Vec<KeyEvent>,
}

impl Default for Keyboard {
    fn default() -> Self {
        Self::new()
    }
}

impl Keyboard {
    /// No key is down.
    #[must_use]
    pub fn new() -> Self {
        let held = Vec::with_capacity(HELD_KEYS);
        Self { sequence: Sequence::None, last_byte_us: 0, held, events: Vec::new() }
    }

    /// Begins a frame at a time: forgets the events of the frame before, and takes the bytes that have arrived since.
    pub fn begin_frame(&mut self, now_us: u64, mut next_byte: impl FnMut() -> Option<u8>) {
        self.events.clear();
        while let Some(byte) = next_byte() {
            self.take(byte, now_us);
        }
        if self.sequence == Sequence::Escape && now_us > self.last_byte_us + SEQUENCE_US {
            self.sequence = Sequence::None;
            self.press(Key::Escape, Some(now_us + HOLD_US));
        }
        let Self { held, events, .. } = self;
        held.retain(|Held { key, until_us }| {
            let is_down = until_us.is_none_or(|until_us| now_us < until_us);
            if !is_down {
                events.push(KeyEvent::Release(*key));
            }
            is_down
        });
    }

    /// What happened since the frame before, in order.
    #[must_use]
    pub fn events(&self) -> &[KeyEvent] {
        &self.events
    }

    /// Whether a key went down since the frame before.
    #[must_use]
    pub fn is_pressed(&self, key: Key) -> bool {
        self.events.contains(&KeyEvent::Press(key))
    }

    /// Whether a key is down.
    #[must_use]
    pub fn is_down(&self, key: Key) -> bool {
        self.held.iter().any(|held| held.key == key)
    }

    fn take(&mut self, byte: u8, now_us: u64) {
        self.last_byte_us = now_us;
        let hold = Some(now_us + HOLD_US);
        match self.sequence {
            Sequence::None => match byte {
                ESCAPE => self.sequence = Sequence::Escape,
                CARRIAGE_RETURN | LINE_FEED => self.press(Key::Enter, hold),
                BACKSPACE | DELETE => self.press(Key::Backspace, hold),
                b'\t' => self.press(Key::Tab, hold),
                b' '..=b'~' => self.press(Key::Character(char::from(byte)), hold),
                _ => {}
            },
            Sequence::Escape => match byte {
                b'[' | b'O' => self.sequence = Sequence::Parameters { number: 0, is_type: false },
                // Two keys, of which the second may begin a sequence.
                _ => {
                    self.sequence = Sequence::None;
                    self.press(Key::Escape, hold);
                    self.take(byte, now_us);
                }
            },
            Sequence::Parameters { number, is_type } => match byte {
                b'0'..=b'9' => {
                    let number = number.saturating_mul(10).saturating_add(byte - b'0');
                    self.sequence = Sequence::Parameters { number, is_type };
                }
                b':' => self.sequence = Sequence::Parameters { number: 0, is_type: true },
                b';' => self.sequence = Sequence::Parameters { number: 0, is_type: false },
                _ => {
                    self.sequence = Sequence::None;
                    self.end_sequence(byte, is_type.then_some(number), hold);
                }
            },
        }
    }

    /// The last byte of a sequence. `event` is the type of the event, if the terminal reports it: 1 a press, 2 a repetition, 3 a release.
    fn end_sequence(&mut self, byte: u8, event: Option<u8>, hold: Option<u64>) {
        let key = match byte {
            b'A' => Key::Up,
            b'B' => Key::Down,
            b'C' => Key::Right,
            b'D' => Key::Left,
            _ => return,
        };
        match event {
            Some(3) => self.release(key),
            Some(_) => self.press(key, None),
            None => self.press(key, hold),
        }
    }

    fn press(&mut self, key: Key, until_us: Option<u64>) {
        if let Some(held) = self.held.iter_mut().find(|held| held.key == key) {
            // A terminal that reports releases does so for all presses of the key but the first, whose event has no type.
            held.until_us = until_us;
            return;
        }
        if self.held.len() == HELD_KEYS {
            let Held { key, .. } = self.held.remove(0);
            self.events.push(KeyEvent::Release(key));
        }
        self.held.push(Held { key, until_us });
        self.events.push(KeyEvent::Press(key));
    }

    fn release(&mut self, key: Key) {
        if let Some(position) = self.held.iter().position(|held| held.key == key) {
            self.held.remove(position);
            self.events.push(KeyEvent::Release(key));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{HOLD_US, Key, KeyEvent, Keyboard, SEQUENCE_US};

    /// Takes bytes at times, in frames of their own; returns the events of each frame.
    fn events(frames: &[(u64, &str)]) -> Vec<Vec<KeyEvent>> {
        let mut keyboard = Keyboard::new();
        let of_frame = |&(now_us, typed): &(u64, &str)| {
            let mut bytes = typed.bytes();
            keyboard.begin_frame(now_us, || bytes.next());
            keyboard.events().to_vec()
        };
        frames.iter().map(of_frame).collect()
    }

    fn check(frames: &[(u64, &str)], expected: &[&[KeyEvent]]) {
        assert_eq!(events(frames), expected, "{frames:?}");
    }

    use KeyEvent::{Press, Release};

    #[test]
    fn a_key_is_pressed_once_and_released_when_its_bytes_cease() {
        let a = Key::Character('a');
        check(&[(0, "a"), (HOLD_US - 1, ""), (HOLD_US, "")], &[&[Press(a)], &[], &[Release(a)]]);
        let repeated = [(0, "a"), (HOLD_US - 1, "a"), (HOLD_US, ""), (2 * HOLD_US, "")];
        check(&repeated, &[&[Press(a)], &[], &[], &[Release(a)]]);
    }

    #[test]
    fn arrows_are_sequences_that_may_arrive_in_parts() {
        check(&[(0, "\x1b[C\x1bOD")], &[&[Press(Key::Right), Press(Key::Left)]]);
        check(&[(0, "\x1b"), (SEQUENCE_US, "[A")], &[&[], &[Press(Key::Up)]]);
        check(&[(0, "\x1b[1;5B\x1b[15~x")], &[&[Press(Key::Down), Press(Key::Character('x'))]]);
    }

    #[test]
    fn an_escape_byte_alone_is_the_escape_key() {
        check(&[(0, "\x1b"), (SEQUENCE_US + 1, "")], &[&[], &[Press(Key::Escape)]]);
        check(&[(0, "\x1bx")], &[&[Press(Key::Escape), Press(Key::Character('x'))]]);
    }

    #[test]
    fn releases_are_those_that_the_terminal_reports() {
        let held = [(0, "\x1b[1;1:1D"), (10 * HOLD_US, "\x1b[1;1:2D"), (20 * HOLD_US, "\x1b[1;1:3D")];
        check(&held, &[&[Press(Key::Left)], &[], &[Release(Key::Left)]]);
    }

    #[test]
    fn at_most_eight_keys_are_held() {
        let events = events(&[(0, "123456789")]);
        assert_eq!(events[0][8..], [Release(Key::Character('1')), Press(Key::Character('9'))]);
    }

    #[test]
    fn what_is_down_can_be_asked() {
        let mut keyboard = Keyboard::new();
        let mut bytes = "\r\t\x7f".bytes();
        keyboard.begin_frame(0, || bytes.next());
        for key in [Key::Enter, Key::Tab, Key::Backspace] {
            assert!(keyboard.is_down(key) && keyboard.is_pressed(key));
        }
        keyboard.begin_frame(1, || None);
        assert!(keyboard.is_down(Key::Enter) && !keyboard.is_pressed(Key::Enter));
    }
}
