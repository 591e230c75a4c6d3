//! The boot trace: a record of the stages that a boot has reached, in memory that survives a warm reset
//!
//! The boot code starts the trace with its first instructions and keeps the trace of the previous boot beside it. When a board hangs during boot and is
//! restarted by the watchdog or the reset pin, the next boot can report the stage in which it hung. The memory is never cached, so that the words survive any
//! kind of reset. After power-on its contents are random; a magic number identifies a trace.
//!
//! | word | contents |
//! |---|---|
//! | 0 | [`MAGIC`] |
//! | 1 | number of previous boots since power-on |
//! | 2 | the last stage that was reached |
//! | 3 | information for later boots, see [`BootTrace::note_watchdog_is_useless`] |
//! | 4 + n | the low half of the core's counter when stage n was reached, with bit 0 set; 0 if it was not reached |
//!
//! The record of the previous boot starts at word [`PREVIOUS_WORDS`]. One more word requests, for tests, that the next boot halt in a stage.
//!
//! Four words are about the steps of `selftest board`: [`STEPS_MAGIC`]; the step that is running, or 0; the steps in which the board hung, as bits; a step to
//! halt in, for tests.

use alloc::{format, string::String};

use crate::mm::shared::SharedWords;

/// "BOOT": identifies memory that holds a trace.
pub const MAGIC: u32 = 0x424f_4f54;
/// Words of a record.
pub const RECORD_WORDS: usize = 64;
/// Start of the previous boot's record.
pub const PREVIOUS_WORDS: usize = 64;
/// The word that holds the last stage.
pub const LAST_STAGE_WORD: usize = 2;
/// The word that is kept from boot to boot.
pub const STICKY_WORD: usize = 3;
/// The word of stage 0, which does not exist.
pub const STAGES_WORD: usize = 4;

const BOOTS_WORD: usize = 1;
const REQUEST_WORD: usize = 128;
/// The upper half of a request to halt.
const REQUEST_MAGIC: u32 = 0x5354_0000;
const WATCHDOG_IS_USELESS: u32 = 1;

/// "STEP": identifies memory that has words about steps.
pub const STEPS_MAGIC: u32 = 0x5354_4550;
const STEPS_WORD: usize = 129;
/// The word that holds the running step.
pub const RUNNING_STEP_WORD: usize = STEPS_WORD + 1;
const HUNG_STEPS_WORD: usize = STEPS_WORD + 2;
const STEP_TO_HANG_IN_WORD: usize = STEPS_WORD + 3;
/// Number of the last step that can be recorded; steps are counted from 1.
pub const MAX_STEP: u32 = 31;

macro_rules! stages {
    ($($(#[doc = $doc:literal])+ $stage:ident = $number:literal $name:literal,)*) => {
        /// A stage of the boot; stages are in the order in which they are reached. Its letter on the serial port is the letter of the alphabet with its number.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u32)]
        pub enum BootStage {
            $($(#[doc = $doc])+ $stage = $number,)*
        }

        impl BootStage {
            /// All stages.
            pub const ALL: &'static [Self] = &[$(Self::$stage),*];

            /// A description of the stage in messages.
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
    /// The image is at its link address.
    InPlace = 2 "image in its place",
    /// The core is at EL1.
    El1 = 3 "at EL1",
    /// MMU and caches are on.
    Mmu = 4 "MMU on",
    /// Stacks are painted, .bss is zero.
    Stacks = 5 "stacks ready",
    /// The final map is installed, and Rust code runs.
    Rust = 6 "in Rust",
    /// The watchdog is about to be armed.
    ArmingWatchdog = 7 "arming the watchdog",
    /// The watchdog is armed, or its use was rejected.
    WatchdogArmed = 8 "watchdog armed",
    /// The firmware has received its first request.
    Firmware = 9 "firmware asked",
    /// The serial port is initialised.
    Console = 10 "console",
    /// Heap and log are initialised.
    Heap = 11 "heap and log",
    /// Interrupts are enabled.
    Interrupts = 12 "interrupts",
    /// The screen is initialised, or there is none.
    Screen = 13 "screen",
    /// The V3D is about to be switched on.
    V3dStart = 14 "starting the V3D",
    /// The V3D has power, and a clock whose rate was measured.
    V3dPower = 15 "V3D clock and power",
    /// The V3D was identified.
    V3dIdentity = 16 "V3D identity",
    /// The V3D was reset.
    V3dReset = 17 "V3D reset",
    /// The driver owns the V3D, or there is none.
    Driver = 18 "V3D driver",
    /// The kernel is ready.
    Ready = 19 "ready",
    /// The ARM's clock is raised, and the shell accepts commands.
    Shell = 20 "shell",
}

const _: () = assert!(STAGES_WORD + (BootStage::Shell as usize) < RECORD_WORDS);

impl BootStage {
    /// The stage with this number.
    #[must_use]
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.iter().copied().find(|stage| *stage as u32 == number)
    }

    /// Its letter on the serial port.
    #[must_use]
    pub const fn letter(self) -> u8 {
        b'a' - 1 + self as u8
    }
}

/// How far a boot has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Number of previous boots since power-on.
    pub boots_before: u32,
    /// The last stage that was reached.
    pub last: BootStage,
    /// For each stage, the low half of the core's counter when it was reached.
    times: [u32; RECORD_WORDS - STAGES_WORD],
}

impl Record {
    /// The low half of the core's counter when `stage` was reached, if it was reached.
    #[must_use]
    pub fn ticks(&self, stage: BootStage) -> Option<u32> {
        self.times.get(stage as usize).copied().filter(|&ticks| ticks != 0)
    }

    /// Whether the boot has reached the shell.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.last == BootStage::Shell
    }

    /// Whether the boot, or the command `v3d start`, ended while it was bringing up the V3D: an access to a V3D without a clock never ends. The next boot
    /// leaves
    /// the V3D alone, since it would end in the same way.
    #[must_use]
    pub fn ended_in_v3d(&self) -> bool {
        (BootStage::V3dStart..BootStage::Driver).contains(&self.last)
    }

    /// Whether the boot ended while the ARM's clock was being raised. The next boot leaves the clock as it is.
    #[must_use]
    pub fn ended_in_arm_clock(&self) -> bool {
        self.last == BootStage::Ready
    }

    /// A line for each stage that was reached, with milliseconds since the first one. The counter's frequency is `frequency_hz`.
    #[must_use]
    pub fn lines(&self, frequency_hz: u64) -> String {
        let first = self.ticks(BootStage::Entered).unwrap_or(0);
        let mut text = String::new();
        for &stage in BootStage::ALL {
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
    /// The trace in this memory, which the boot code has initialised.
    #[must_use]
    pub const fn new(memory: SharedWords) -> Self {
        Self { memory }
    }

    /// Records that `stage` is reached.
    pub fn reach(&self, stage: BootStage, ticks: u64) {
        self.memory.set(STAGES_WORD + stage as usize, ticks as u32 | 1);
        self.memory.set(LAST_STAGE_WORD, stage as u32);
    }

    /// The record of this boot.
    #[must_use]
    pub fn this_boot(&self) -> Option<Record> {
        self.record(0)
    }

    /// The record of the previous boot, if memory still holds it.
    #[must_use]
    pub fn boot_before(&self) -> Option<Record> {
        self.record(PREVIOUS_WORDS)
    }

    fn record(&self, first: usize) -> Option<Record> {
        let word = |index: usize| self.memory.get(first + index);
        if word(0)? != MAGIC {
            return None;
        }
        let last = BootStage::from_number(word(LAST_STAGE_WORD)?)?;
        let times = core::array::from_fn(|index| word(STAGES_WORD + index).unwrap_or(0));
        Some(Record { boots_before: word(BOOTS_WORD)?, last, times })
    }

    /// Whether the watchdog must not be armed because it restarts this machine at once.
    ///
    /// This is the case if a boot ended while the watchdog was being armed: on the boards its countdown takes seconds, so the next stage is reached. QEMU 7.2
    /// has no countdown. The result is kept across warm resets.
    #[must_use]
    pub fn watchdog_is_useless(&self) -> bool {
        let noted = self.memory.get(STICKY_WORD).is_some_and(|word| word & WATCHDOG_IS_USELESS != 0);
        noted || self.boot_before().is_some_and(|record| record.last == BootStage::ArmingWatchdog)
    }

    /// Records for later boots that the watchdog must not be armed.
    pub fn note_watchdog_is_useless(&self) {
        let word = self.memory.get(STICKY_WORD).unwrap_or(0);
        self.memory.set(STICKY_WORD, word | WATCHDOG_IS_USELESS);
    }

    /// Requests that the next boot halt when it reaches `stage`.
    pub fn ask_to_hang(&self, stage: BootStage) {
        self.memory.set(REQUEST_WORD, REQUEST_MAGIC | stage as u32);
    }

    /// Records that a step of `selftest board` begins.
    pub fn begin_step(&self, step: u32) {
        self.set_step_word(RUNNING_STEP_WORD, step.min(MAX_STEP));
    }

    /// Records that the step has ended.
    pub fn end_step(&self) {
        self.set_step_word(RUNNING_STEP_WORD, 0);
    }

    /// The steps in which the board hung since power-on: bit n is step n. A step that has begun and not ended is one of them, unless it is running now.
    #[must_use]
    pub fn hung_steps(&self) -> u32 {
        let running = self.step_word(RUNNING_STEP_WORD);
        if (1..=MAX_STEP).contains(&running) {
            self.set_step_word(HUNG_STEPS_WORD, self.step_word(HUNG_STEPS_WORD) | 1 << running);
            self.end_step();
        }
        self.step_word(HUNG_STEPS_WORD)
    }

    /// Requests that the next `selftest board` halt in a step.
    pub fn ask_to_hang_in_step(&self, step: u32) {
        self.set_step_word(STEP_TO_HANG_IN_WORD, step);
    }

    /// Whether the kernel is to halt in this step; the request is cleared.
    #[must_use]
    pub fn take_hang_in_step(&self, step: u32) -> bool {
        let asked = self.step_word(STEP_TO_HANG_IN_WORD) == step;
        if asked {
            self.set_step_word(STEP_TO_HANG_IN_WORD, 0);
        }
        asked
    }

    /// A word about steps; 0 if there are none yet.
    fn step_word(&self, word: usize) -> u32 {
        let is_valid = self.memory.get(STEPS_WORD) == Some(STEPS_MAGIC);
        self.memory.get(word).filter(|_| is_valid).unwrap_or(0)
    }

    fn set_step_word(&self, word: usize, value: u32) {
        if self.memory.get(STEPS_WORD) != Some(STEPS_MAGIC) {
            for cleared in [RUNNING_STEP_WORD, HUNG_STEPS_WORD, STEP_TO_HANG_IN_WORD] {
                self.memory.set(cleared, 0);
            }
            self.memory.set(STEPS_WORD, STEPS_MAGIC);
        }
        self.memory.set(word, value);
    }

    /// Whether this boot is to halt in `stage`; the request is cleared.
    #[must_use]
    pub fn take_hang(&self, stage: BootStage) -> bool {
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
        for (index, &stage) in BootStage::ALL.iter().enumerate() {
            assert_eq!(stage as usize, index + 1);
            assert_eq!(BootStage::from_number(stage as u32), Some(stage));
            assert!(stage.letter().is_ascii_lowercase());
        }
        assert_eq!(
            (BootStage::Entered.letter(), BootStage::Mmu.letter(), BootStage::Ready.letter()),
            (b'a', b'd', b's')
        );
        assert_eq!(BootStage::from_number(0), None);
        assert_eq!(BootStage::from_number(99), None);
    }

    #[test]
    fn a_boot_is_told_by_the_next() {
        let memory = memory();
        let trace = BootTrace::new(memory);
        begin(memory);
        assert_eq!(trace.boot_before(), None, "noise is no trace");
        trace.reach(BootStage::Entered, 0x1_0000_1000);
        trace.reach(BootStage::Mmu, 0x1_0000_4000);
        begin(memory);
        trace.reach(BootStage::Entered, 16);
        let before = trace.boot_before().unwrap();
        assert_eq!((before.boots_before, before.last, before.is_complete()), (0, BootStage::Mmu, false));
        assert_eq!(before.ticks(BootStage::El1), None);
        // 0x3000 ticks of 1 MHz.
        assert_eq!(before.lines(1_000_000), "   1 a       0.000 ms  entered\n   4 d      12.288 ms  MMU on\n");
        assert_eq!(trace.this_boot().map(|record| (record.boots_before, record.last)), Some((1, BootStage::Entered)));
    }

    #[test]
    fn a_watchdog_that_restarts_at_once_is_remembered() {
        let memory = memory();
        let trace = BootTrace::new(memory);
        begin(memory);
        assert!(!trace.watchdog_is_useless());
        trace.reach(BootStage::ArmingWatchdog, 7);
        begin(memory);
        assert!(trace.watchdog_is_useless());
        trace.note_watchdog_is_useless();
        trace.reach(BootStage::Shell, 9);
        begin(memory);
        assert!(trace.watchdog_is_useless());
    }

    /// A hang in each stage, the next boot, and the boot after that, which tries again.
    #[test]
    fn a_hang_in_a_v3d_stage_is_avoided_once() {
        let (memory, stages) = (memory(), BootStage::ALL);
        let trace = BootTrace::new(memory);
        for &last in stages {
            begin(memory);
            stages.iter().filter(|&&stage| stage <= last).for_each(|&stage| trace.reach(stage, 7));
            begin(memory);
            let before = trace.boot_before().unwrap();
            let expected =
                ["starting the V3D", "V3D clock and power", "V3D identity", "V3D reset"].contains(&last.name());
            assert_eq!(before.ended_in_v3d(), expected, "{last:?}");
            assert_eq!(before.ended_in_arm_clock(), last.name() == "ready", "{last:?}");
            assert_eq!(before.is_complete(), last.name() == "shell", "{last:?}");
            trace.reach(BootStage::Shell, 9);
            begin(memory);
            assert!(trace.boot_before().is_some_and(|before| before.is_complete()), "{last:?}");
        }
    }

    #[test]
    fn a_step_that_does_not_end_is_a_hang() {
        let memory = memory();
        let trace = BootTrace::new(memory);
        begin(memory);
        assert_eq!(trace.hung_steps(), 0, "noise is no step");
        trace.begin_step(3);
        trace.end_step();
        trace.begin_step(7);
        begin(memory);
        assert_eq!(trace.hung_steps(), 1 << 7);
        trace.begin_step(9);
        begin(memory);
        assert_eq!((trace.hung_steps(), trace.hung_steps()), (1 << 7 | 1 << 9, 1 << 7 | 1 << 9));
        trace.begin_step(40);
        assert_eq!(trace.hung_steps(), 1 << 7 | 1 << 9 | 1 << MAX_STEP);
    }

    #[test]
    fn a_hang_in_a_step_is_asked_for_once() {
        let trace = BootTrace::new(memory());
        assert!((0..100).all(|step| step == 0 || !trace.take_hang_in_step(step)));
        trace.ask_to_hang_in_step(8);
        assert_eq!([7, 8, 8].map(|step| trace.take_hang_in_step(step)), [false, true, false]);
        assert_eq!(trace.hung_steps(), 0);
    }

    #[test]
    fn a_hang_is_asked_for_once() {
        let memory = memory();
        let trace = BootTrace::new(memory);
        trace.ask_to_hang(BootStage::Screen);
        begin(memory);
        assert!(!trace.take_hang(BootStage::Heap));
        assert!(trace.take_hang(BootStage::Screen));
        assert!(!trace.take_hang(BootStage::Screen));
    }
}
