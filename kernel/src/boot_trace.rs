//! The boot trace: a word for each stage that was reached, in memory that survives a warm reset
//!
//! The boot code begins the trace with its first instructions and keeps the one of the boot before beside it. A board that hangs on its way to the
//! shell, and is restarted by the watchdog or by hand at the reset pin, therefore reports after that where it hung. The memory is never cached, so that
//! the words survive however the run ends. After power-on it holds noise; the magic word tells a trace from that.
//!
//! | word | what |
//! |---|---|
//! | 0 | [`MAGIC`] |
//! | 1 | boots before this one since power-on |
//! | 2 | the stage that was reached last |
//! | 3 | what later boots have to know, see [`BootTrace::note_watchdog_is_useless`] |
//! | 4 + n | the low half of the core's counter when stage n was reached, its lowest bit set; 0: it was not |
//!
//! The record of the boot before begins at word [`PREVIOUS_WORDS`]; one more word asks the next boot to halt in a stage, for tests.

use alloc::{format, string::String};

use crate::mm::shared::SharedWords;

/// "BOOT", which tells memory with a trace from memory with noise.
pub const MAGIC: u32 = 0x424f_4f54;
/// Words of a record.
pub const RECORD_WORDS: usize = 64;
/// Where the record of the boot before begins.
pub const PREVIOUS_WORDS: usize = 64;
/// The word with the stage that was reached last.
pub const LAST_STAGE_WORD: usize = 2;
/// The word that goes on from boot to boot.
pub const STICKY_WORD: usize = 3;
/// The word of stage 0, which there is not.
pub const STAGES_WORD: usize = 4;

const BOOTS_WORD: usize = 1;
const REQUEST_WORD: usize = 128;
/// What the request's upper half must be.
const REQUEST_MAGIC: u32 = 0x5354_0000;
const WATCHDOG_IS_USELESS: u32 = 1;

macro_rules! stages {
    ($($(#[doc = $doc:literal])+ $stage:ident = $number:literal $name:literal,)*) => {
        /// A stage of the boot, in the order in which they are reached. The letter on the serial port is the one of this number in the alphabet.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u32)]
        pub enum Stage {
            $($(#[doc = $doc])+ $stage = $number,)*
        }

        impl Stage {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$stage),*];

            /// What is done when it is reached, for people.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$stage => $name,)* }
            }
        }
    };
}

stages! {
    /// The first instruction.
    Entered = 1 "entered",
    /// The image is at the address it is linked for.
    InPlace = 2 "image in its place",
    /// The core is at EL1.
    El1 = 3 "at EL1",
    /// MMU and caches are on.
    Mmu = 4 "MMU on",
    /// Stacks are painted, .bss is zero.
    Stacks = 5 "stacks ready",
    /// The final map is in force, and Rust runs.
    Rust = 6 "in Rust",
    /// The watchdog is about to be armed.
    ArmingWatchdog = 7 "arming the watchdog",
    /// It is armed, or left alone.
    WatchdogArmed = 8 "watchdog armed",
    /// The firmware was asked for the first time.
    Firmware = 9 "firmware asked",
    /// The serial port is set up.
    Console = 10 "console",
    /// Heap and log are there.
    Heap = 11 "heap and log",
    /// Interrupts come.
    Interrupts = 12 "interrupts",
    /// The screen is set up, or there is none.
    Screen = 13 "screen",
    /// The 3D engine's clock and power were asked for.
    V3dPower = 14 "V3D clock and power",
    /// It says what it is.
    V3dIdentity = 15 "V3D identity",
    /// It was reset.
    V3dReset = 16 "V3D reset",
    /// The driver has it, or there is none.
    Driver = 17 "V3D driver",
    /// The shell waits for commands.
    Ready = 18 "ready",
}

const _: () = assert!(STAGES_WORD + (Stage::Ready as usize) < RECORD_WORDS);

impl Stage {
    /// The stage of this number.
    #[must_use]
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.iter().copied().find(|stage| *stage as u32 == number)
    }

    /// The letter that it leaves on the serial port.
    #[must_use]
    pub const fn letter(self) -> u8 {
        b'a' - 1 + self as u8
    }
}

/// How far one boot came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Boots before it since power-on.
    pub boots_before: u32,
    /// The stage that was reached last.
    pub last: Stage,
    /// Each stage that was reached with the low half of the core's counter.
    times: [u32; RECORD_WORDS - STAGES_WORD],
}

impl Record {
    /// The low half of the core's counter when `stage` was reached, if it was.
    #[must_use]
    pub fn ticks(&self, stage: Stage) -> Option<u32> {
        self.times.get(stage as usize).copied().filter(|&ticks| ticks != 0)
    }

    /// Whether the shell was reached.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.last == Stage::Ready
    }

    /// A line for each stage that was reached, with the milliseconds since the first one; the counter runs at `frequency_hz`.
    #[must_use]
    pub fn lines(&self, frequency_hz: u64) -> String {
        let first = self.ticks(Stage::Entered).unwrap_or(0);
        let mut text = String::new();
        for &stage in Stage::ALL {
            let Some(ticks) = self.ticks(stage) else { continue };
            // The counter's low half wraps after minutes.
            let us = u64::from(ticks.wrapping_sub(first)) * 1_000_000 / frequency_hz.max(1);
            let (number, letter, name) = (stage as u32, char::from(stage.letter()), stage.name());
            text += &format!("  {number:2} {letter}  {:6}.{:03} ms  {name}\n", us / 1000, us % 1000);
        }
        text
    }
}

/// The trace in its memory.
#[derive(Clone, Copy, Debug)]
pub struct BootTrace {
    memory: SharedWords,
}

impl BootTrace {
    /// The trace in this memory, which the boot code has begun.
    #[must_use]
    pub const fn new(memory: SharedWords) -> Self {
        Self { memory }
    }

    /// Notes that `stage` is reached.
    pub fn reach(&self, stage: Stage, ticks: u64) {
        self.memory.set(STAGES_WORD + stage as usize, ticks as u32 | 1);
        self.memory.set(LAST_STAGE_WORD, stage as u32);
    }

    /// This boot, so far.
    #[must_use]
    pub fn this_boot(&self) -> Option<Record> {
        self.record(0)
    }

    /// The boot before, if memory still holds it.
    #[must_use]
    pub fn boot_before(&self) -> Option<Record> {
        self.record(PREVIOUS_WORDS)
    }

    fn record(&self, first: usize) -> Option<Record> {
        let word = |index: usize| self.memory.get(first + index);
        if word(0)? != MAGIC {
            return None;
        }
        let last = Stage::from_number(word(LAST_STAGE_WORD)?)?;
        let times = core::array::from_fn(|index| word(STAGES_WORD + index).unwrap_or(0));
        Some(Record { boots_before: word(BOOTS_WORD)?, last, times })
    }

    /// Whether the watchdog must stay off because it restarts this machine at once.
    ///
    /// A boot that ended while it was being armed tells: on the boards it then counts for seconds, so that the next stage is reached. QEMU 7.2 has no
    /// countdown. This is kept over warm resets.
    #[must_use]
    pub fn watchdog_is_useless(&self) -> bool {
        let noted = self.memory.get(STICKY_WORD).is_some_and(|word| word & WATCHDOG_IS_USELESS != 0);
        noted || self.boot_before().is_some_and(|record| record.last == Stage::ArmingWatchdog)
    }

    /// Keeps for later boots that the watchdog must stay off.
    pub fn note_watchdog_is_useless(&self) {
        let word = self.memory.get(STICKY_WORD).unwrap_or(0);
        self.memory.set(STICKY_WORD, word | WATCHDOG_IS_USELESS);
    }

    /// Has the next boot halt when it reaches `stage`.
    pub fn ask_to_hang(&self, stage: Stage) {
        self.memory.set(REQUEST_WORD, REQUEST_MAGIC | stage as u32);
    }

    /// Whether this boot is to halt in `stage`; the request is cleared.
    #[must_use]
    pub fn take_hang(&self, stage: Stage) -> bool {
        let asked = self.memory.get(REQUEST_WORD) == Some(REQUEST_MAGIC | stage as u32);
        if asked {
            self.memory.set(REQUEST_WORD, 0);
        }
        asked
    }
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::AtomicU32;

    use super::*;

    fn memory() -> SharedWords {
        let words: Vec<AtomicU32> = (0..1024u32).map(|n| AtomicU32::new(n.wrapping_mul(0x9e37_79b9))).collect();
        SharedWords::from_words(words.leak())
    }

    /// What the boot code does before the first stage.
    fn begin(memory: SharedWords) {
        let known = memory.get(0) == Some(MAGIC);
        for word in 0..RECORD_WORDS {
            memory.set(PREVIOUS_WORDS + word, memory.get(word).unwrap());
            memory.set(word, 0);
        }
        memory.set(0, MAGIC);
        if known {
            memory.set(BOOTS_WORD, memory.get(PREVIOUS_WORDS + BOOTS_WORD).unwrap() + 1);
            memory.set(STICKY_WORD, memory.get(PREVIOUS_WORDS + STICKY_WORD).unwrap());
        }
    }

    #[test]
    fn stages_are_numbered_without_gaps_and_have_letters() {
        for (index, &stage) in Stage::ALL.iter().enumerate() {
            assert_eq!(stage as usize, index + 1);
            assert_eq!(Stage::from_number(stage as u32), Some(stage));
            assert!(stage.letter().is_ascii_lowercase());
        }
        assert_eq!((Stage::Entered.letter(), Stage::Mmu.letter(), Stage::Ready.letter()), (b'a', b'd', b'r'));
        assert_eq!(Stage::from_number(0), None);
        assert_eq!(Stage::from_number(99), None);
    }

    #[test]
    fn a_boot_is_told_by_the_next() {
        let memory = memory();
        let trace = BootTrace::new(memory);
        begin(memory);
        assert_eq!(trace.boot_before(), None, "noise is no trace");
        trace.reach(Stage::Entered, 0x1_0000_1000);
        trace.reach(Stage::Mmu, 0x1_0000_4000);
        begin(memory);
        trace.reach(Stage::Entered, 16);
        let before = trace.boot_before().unwrap();
        assert_eq!((before.boots_before, before.last, before.is_complete()), (0, Stage::Mmu, false));
        assert_eq!(before.ticks(Stage::El1), None);
        // 0x3000 ticks of 1 MHz.
        assert_eq!(before.lines(1_000_000), "   1 a       0.000 ms  entered\n   4 d      12.288 ms  MMU on\n");
        assert_eq!(trace.this_boot().map(|record| (record.boots_before, record.last)), Some((1, Stage::Entered)));
    }

    #[test]
    fn a_watchdog_that_restarts_at_once_is_remembered() {
        let memory = memory();
        let trace = BootTrace::new(memory);
        begin(memory);
        assert!(!trace.watchdog_is_useless());
        trace.reach(Stage::ArmingWatchdog, 7);
        begin(memory);
        assert!(trace.watchdog_is_useless());
        trace.note_watchdog_is_useless();
        trace.reach(Stage::Ready, 9);
        begin(memory);
        assert!(trace.watchdog_is_useless());
    }

    #[test]
    fn a_hang_is_asked_for_once() {
        let memory = memory();
        let trace = BootTrace::new(memory);
        trace.ask_to_hang(Stage::Screen);
        begin(memory);
        assert!(!trace.take_hang(Stage::Heap));
        assert!(trace.take_hang(Stage::Screen));
        assert!(!trace.take_hang(Stage::Screen));
    }
}
