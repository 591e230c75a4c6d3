//! The firmware of a board: properties that QEMU's does not answer, and behaviours that were seen on boards.
//!
//! QEMU's own firmware answers a message first. Then the answers of some properties are replaced: those about the V3D's clock and power, which QEMU does not
//! know, those of other power domains, the GPIO expander and the list of clocks, without which Linux' vc4 does not come up, and those that one of the
//! [behaviours](Behaviour) concerns.
//!
//! # Sources
//! raspberrypi/firmware wiki, "Mailbox property interface"; `include/soc/bcm2835/raspberrypi-firmware.h` of Linux. Each behaviour names its own.

use crate::power::GraphicsPower;
use std::fmt;
use std::time::Duration;

/// A message has a size, a code, then tags.
const WORDS_BEFORE_TAGS: usize = 2;
/// A tag has a number, the size of its buffer, a code, then the buffer.
const WORDS_BEFORE_VALUE: usize = 3;
/// Of a tag's code: it is answered. The length of the answer in bytes is added.
const ANSWERED: u32 = 0x8000_0000;

/// Number of the V3D's clock in properties.
const V3D_CLOCK: u32 = 5;
/// Most clocks that the firmware lists, with numbers from 1 on.
const MOST_CLOCKS: u32 = 15;
/// Number of the V3D's power domain in properties.
const V3D_DOMAIN: u32 = 11;
/// Of the answer to SET_CLOCK_STATE: the clock is on.
const CLOCK_IS_ON: u32 = 1;
/// What a Zero W's firmware says of the V3D's clock, of its maximum, and what is measured [bm].
const V3D_CLOCK_HZ: u32 = 250_000_000;
const MAX_V3D_CLOCK_HZ: u32 = 300_000_000;
/// The core clock, as `core_freq=250` fixes it.
const CORE_CLOCK_HZ: u32 = 250_000_000;
const CORE_CLOCK: u32 = 4;

/// How long a slow firmware waits for the display's vertical blanking.
const SLOW_VSYNC: Duration = Duration::from_secs(1);
/// Length of the long command line.
const COMMAND_LINE_BYTES: usize = 300;
/// Its end: the words of cmdline.txt come after the firmware's own.
const LAST_WORD: &str = " v3d.interrupts=on";
/// Its beginning: words as the firmware of a Pi 3 writes them, of no board in particular.
const FIRMWARE_WORDS: &str = "coherent_pool=1M 8250.nr_uarts=0 snd_bcm2835.enable_headphones=0 bcm2708_fb.fbwidth=1280 \
    bcm2708_fb.fbheight=720 bcm2708_fb.fbswap=1 vc_mem.mem_base=0x3ec00000 vc_mem.mem_size=0x40000000 ";

/// Declares the behaviours, the words that select them, and what these say.
macro_rules! behaviours {
    ($($name:ident $word:literal $help:literal,)*) => {
        /// Something that the firmware or the board around it does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Behaviour {
            $(#[doc = $help] $name,)*
        }

        impl Behaviour {
            /// All of them.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The word that selects it.
            pub(crate) const fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }
    };
}

behaviours! {
    CommandLine "command-line" "The command line has 300 bytes: the firmware's words first, `v3d.interrupts=on` last.",
    Pitch16 "pitch16" "The pitch is that of 16-bit pixels, although the depth is 32.",
    TwoPages "two-pages" "The virtual framebuffer has at most twice the lines of the display.",
    SlowVsync "slow-vsync" "The property that waits for the vertical blanking is answered after a second, and nothing else meanwhile.",
    GatedClock "gated-clock" "The V3D's clock is off until SET_CLOCK_STATE switches it on [raspberrypi/linux issue 7155].",
    NoClock "no-clock" "The V3D's clock is off and stays off.",
    Frozen "frozen" "An access to a register of the V3D never ends, although the firmware measures the rate of its clock.",
    StrayInterrupt "stray-interrupt" "A doorbell of the basic bank and a mailbox between the cores are asserted, and enabled at the first message and at \
    each framebuffer.",
    Board "board" "The registers that QEMU lacks answer as a board's: PM_GRAFX 0x1000 and bridges 7 until the domain is powered, a watchdog that counts, \
    the V3D's \
        clock control, the HVS' count of frames.",
    ByHand "by-hand" "As `board`, and as on a Zero 2 W the firmware's requests do not power the V3D's domain up [zephyr].",
}

/// A set of behaviours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Behaviours(u32);

impl Behaviours {
    /// Whether `behaviour` is among them.
    pub(crate) const fn has(self, behaviour: Behaviour) -> bool {
        self.0 >> behaviour as u32 & 1 == 1
    }

    /// The behaviours of words with `+` between them; the error is a word that there is not.
    pub(crate) fn parse(words: &str) -> Result<Self, UnknownBehaviour> {
        let mut all = Self::default();
        for word in words.split('+') {
            let behaviour = Behaviour::ALL.iter().find(|behaviour| behaviour.word() == word);
            all.0 |= 1 << *behaviour.ok_or_else(|| UnknownBehaviour(word.to_owned()))? as u32;
        }
        if all.has(Behaviour::ByHand) {
            all.0 |= 1 << Behaviour::Board as u32;
        }
        Ok(all)
    }
}

/// A word that selects no behaviour.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UnknownBehaviour(String);

impl fmt::Display for UnknownBehaviour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the firmware has no behaviour \"{}\"; there are", self.0)?;
        Behaviour::ALL
            .iter()
            .enumerate()
            .try_for_each(|(index, behaviour)| write!(f, "{} {}", if index == 0 { "" } else { "," }, behaviour.word()))
    }
}

/// A group of properties that QEMU's firmware does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Property {
    /// The V3D's clock, and ENABLE_QPU.
    V3d,
    /// Power domains.
    Domains,
    /// The GPIO expander.
    Expander,
    /// The list of clocks.
    Clocks,
}

/// Groups of properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Properties(u32);

impl Properties {
    /// The words for the groups, in their order.
    pub(crate) const WORDS: [&'static str; 4] = ["v3d", "domains", "expander", "clocks"];

    /// Whether a group is among them.
    pub(crate) const fn has(self, property: Property) -> bool {
        self.0 >> property as u32 & 1 == 1
    }

    /// The groups of words with `+` between them, or `none`.
    pub(crate) fn parse(words: &str) -> Option<Self> {
        if words == "none" {
            return Some(Self(0));
        }
        let bit = |word| Self::WORDS.iter().position(|known| *known == word).map(|place| 1 << place);
        words.split('+').try_fold(0, |all, word| Some(all | bit(word)?)).map(Self)
    }

    /// The group that a tag belongs to.
    const fn of_tag(tag: u32) -> Option<Property> {
        match tag {
            0x0003_0001 | 0x0003_8001 | 0x0003_0002 | 0x0003_0004 | 0x0003_0047 | 0x0003_0012 => Some(Property::V3d),
            0x0003_0030 | 0x0003_8030 => Some(Property::Domains),
            0x0003_0041 | 0x0003_8041 | 0x0003_0043 | 0x0003_8043 => Some(Property::Expander),
            0x0001_0007 => Some(Property::Clocks),
            _ => None,
        }
    }
}

impl Default for Properties {
    /// All of them.
    fn default() -> Self {
        Self((1 << Self::WORDS.len()) - 1)
    }
}

/// What a message makes the firmware do to the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effects {
    /// The V3D returns to its state after power-on.
    pub(crate) resets_v3d: bool,
    /// Interrupts without a line are asserted and enabled.
    pub(crate) raises_strays: bool,
}

/// The firmware.
#[derive(Debug)]
pub(crate) struct Firmware {
    behaviours: Behaviours,
    properties: Properties,
    /// No message has come yet.
    is_untouched: bool,
    /// Lines of the display.
    height: u32,
    /// Power domains that are on, by their numbers.
    domains: u32,
}

impl Firmware {
    /// The firmware after power-on.
    pub(crate) fn new(behaviours: Behaviours, properties: Properties) -> Self {
        Self { behaviours, properties, is_untouched: true, height: u32::MAX / 2, domains: 0 }
    }

    /// How long the firmware works on this message before it answers.
    pub(crate) fn delay(&self, message: &[u32]) -> Duration {
        let waits = tags(message).any(|tag| message.get(tag) == Some(&0x0004_800e));
        if waits && self.behaviours.has(Behaviour::SlowVsync) { SLOW_VSYNC } else { Duration::ZERO }
    }

    /// Completes the answers of a message that QEMU's firmware has answered.
    pub(crate) fn answer(&mut self, message: &mut [u32], power: &mut GraphicsPower) -> Effects {
        let mut effects = Effects { raises_strays: self.is_untouched, ..Effects::default() };
        self.is_untouched = false;
        for tag in tags(message).collect::<Vec<_>>() {
            let number = message[tag];
            effects.raises_strays |= number == 0x0004_0001;
            let first = tag + WORDS_BEFORE_VALUE;
            let end = first + message[tag + 1] as usize / 4;
            let answered_bytes = message[tag + 2] & !ANSWERED;
            let Some(value) = message.get_mut(first..end) else { break };
            let bytes = self.value(number, value, answered_bytes, power, &mut effects);
            if let Some(bytes) = bytes {
                message[tag + 2] = ANSWERED | bytes;
            }
        }
        effects.raises_strays &= self.behaviours.has(Behaviour::StrayInterrupt);
        effects
    }

    /// Replaces the answer of one tag, whose buffer is `value`, and returns its length in bytes; `None` leaves QEMU's answer of `answered_bytes` as it is.
    fn value(
        &mut self,
        tag: u32,
        value: &mut [u32],
        answered_bytes: u32,
        power: &mut GraphicsPower,
        effects: &mut Effects,
    ) -> Option<u32> {
        let has = |behaviour| self.behaviours.has(behaviour);
        let bytes = 4 * value.len() as u32;
        if Properties::of_tag(tag).is_some_and(|property| !self.properties.has(property)) {
            return None;
        }
        match (tag, value) {
            // GET_CLOCK_STATE and SET_CLOCK_STATE.
            (0x0003_0001, [V3D_CLOCK, state]) => *state = u32::from(power.clock_is_on()),
            (0x0003_8001, [V3D_CLOCK, state]) => {
                power.switch_clock(*state & CLOCK_IS_ON != 0 && !has(Behaviour::NoClock));
                *state = u32::from(power.clock_is_on());
            }
            // GET_CLOCK_RATE, GET_MAX_CLOCK_RATE, and the measured rate.
            (0x0003_0002, [V3D_CLOCK, rate]) => *rate = V3D_CLOCK_HZ,
            (0x0003_0004, [V3D_CLOCK, rate]) => *rate = MAX_V3D_CLOCK_HZ,
            (0x0003_0047, [V3D_CLOCK, rate]) => *rate = if power.clock_is_on() { MAX_V3D_CLOCK_HZ } else { 0 },
            (0x0003_0047, [CORE_CLOCK, rate]) => *rate = CORE_CLOCK_HZ,
            // ENABLE_QPU, with which the firmware also powers the V3D up or down.
            (0x0003_0012, [enable]) => {
                effects.resets_v3d |= *enable == 0;
                power.request_by_firmware(*enable != 0);
                *enable = 0;
                return Some(4);
            }
            // GET_DOMAIN_STATE and SET_DOMAIN_STATE: a V3D that loses its power loses its state.
            (0x0003_0030, [domain, on]) => *on = self.domains >> (*domain % u32::BITS) & 1,
            (0x0003_8030, [domain, on]) => {
                let bit = 1 << (*domain % u32::BITS);
                *on &= 1;
                self.domains = if *on == 0 { self.domains & !bit } else { self.domains | bit };
                if *domain == V3D_DOMAIN {
                    effects.resets_v3d |= *on == 0;
                    power.request_by_firmware(*on != 0);
                }
            }
            // GET_GPIO_STATE, SET_GPIO_STATE, GET_GPIO_CONFIG, SET_GPIO_CONFIG: 0 in place of the pin's number is success.
            (0x0003_0041 | 0x0003_8041 | 0x0003_0043 | 0x0003_8043, [pin, ..]) => {
                *pin = 0;
                return Some(bytes);
            }
            // GET_CLOCKS: pairs of a parent and a number; the number 0 ends them.
            (0x0001_0007, value) => {
                value.fill(0);
                let pairs = (value.len() / 2).saturating_sub(1);
                for (pair, number) in value.chunks_exact_mut(2).take(pairs).zip(1..=MOST_CLOCKS) {
                    pair[1] = number;
                }
                return Some(bytes);
            }
            // The physical and the virtual size, and the pitch.
            (0x0004_8003, [_, height]) => self.height = *height,
            (0x0004_8004, [_, height]) if has(Behaviour::TwoPages) => *height = (*height).min(2 * self.height),
            (0x0004_0008, [pitch]) if has(Behaviour::Pitch16) => {
                *pitch /= 2;
                return Some(4);
            }
            // The command line: QEMU 7.2 has none.
            (0x0005_0001, value) if has(Behaviour::CommandLine) => return Some(put_text(value, &command_line())),
            (0x0005_0001, value) if answered_bytes == 0 => return Some(put_text(value, "")),
            // The wait for the vertical blanking.
            (0x0004_800e, [_]) if has(Behaviour::SlowVsync) => return Some(4),
            _ => return None,
        }
        Some(8)
    }
}

/// The long command line.
fn command_line() -> String {
    let mut line = FIRMWARE_WORDS.to_owned();
    // A serial number of some length fills it up.
    line += "smsc95xx.macaddr=";
    line += &"b8:27:eb:".chars().cycle().take(COMMAND_LINE_BYTES - line.len() - LAST_WORD.len()).collect::<String>();
    line + LAST_WORD
}

/// Stores as much of a text and its terminating zero as fits, and returns the length of all of it in bytes.
fn put_text(value: &mut [u32], text: &str) -> u32 {
    let bytes: Vec<u8> = text.bytes().chain([0]).collect();
    for (word, bytes) in value.iter_mut().zip(bytes.chunks(4)) {
        let mut all = [0; 4];
        all[..bytes.len()].copy_from_slice(bytes);
        *word = u32::from_le_bytes(all);
    }
    bytes.len() as u32
}

/// The positions of a message's tags, as far as their heads are within it.
fn tags(message: &[u32]) -> impl Iterator<Item = usize> + '_ {
    let is_tag = |&at: &usize| message.get(at).is_some_and(|&tag| tag != 0) && at + 2 < message.len();
    let next = move |&at: &usize| {
        let bytes = message.get(at + 1).copied().unwrap_or(0);
        Some(at + WORDS_BEFORE_VALUE + bytes as usize / 4)
    };
    std::iter::successors(Some(WORDS_BEFORE_TAGS), next).take_while(is_tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn firmware(words: &str) -> (Firmware, GraphicsPower) {
        let behaviours = if words.is_empty() { Behaviours::default() } else { Behaviours::parse(words).unwrap() };
        (Firmware::new(behaviours, Properties::default()), GraphicsPower::new(behaviours))
    }

    /// The message with one tag after the answer: its code and its buffer. `code` is what QEMU has answered.
    fn ask(
        (firmware, power): &mut (Firmware, GraphicsPower),
        tag: u32,
        code: u32,
        value: &[u32],
    ) -> (u32, Vec<u32>, Effects) {
        let mut message = vec![0, 0x8000_0000, tag, 4 * value.len() as u32, code];
        message.extend_from_slice(value);
        message.push(0);
        message[0] = 4 * message.len() as u32;
        let effects = firmware.answer(&mut message, power);
        (message[4], message[5..5 + value.len()].to_vec(), effects)
    }

    #[test]
    fn every_behaviour_has_a_word_and_words_combine() {
        let all: Vec<&str> = Behaviour::ALL.iter().map(|behaviour| behaviour.word()).collect();
        let set = Behaviours::parse(&all.join("+")).unwrap();
        assert!(Behaviour::ALL.iter().all(|&behaviour| set.has(behaviour)));
        let two = Behaviours::parse("board+pitch16").unwrap();
        assert!(two.has(Behaviour::Board) && two.has(Behaviour::Pitch16) && !two.has(Behaviour::Frozen));
        assert!(Behaviours::parse("by-hand").unwrap().has(Behaviour::Board));
        let error = Behaviours::parse("board+kind").unwrap_err().to_string();
        assert!(error.starts_with("the firmware has no behaviour \"kind\"; there are command-line, "), "{error}");
    }

    #[test]
    fn the_command_line_has_300_bytes_and_the_option_comes_last() {
        let mut machine = firmware("command-line");
        let (code, value, _) = ask(&mut machine, 0x0005_0001, 0x8000_0000, &[0; 512]);
        let bytes: Vec<u8> = value.iter().flat_map(|word| word.to_le_bytes()).take_while(|&byte| byte != 0).collect();
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!((code, text.len()), (0x8000_0000 + 301, 300));
        assert!(text.starts_with("coherent_pool=1M ") && text.ends_with(" v3d.interrupts=on"), "{text}");
        // A buffer of 256 bytes does not hold the option; the length says so.
        let (code, value, _) = ask(&mut machine, 0x0005_0001, 0x8000_0000, &[0; 64]);
        assert_eq!((code, value[63] >> 24 != 0), (0x8000_0000 + 301, true));
        // Otherwise the line is empty, and one that QEMU answers stays.
        let (code, value, _) = ask(&mut firmware("board"), 0x0005_0001, 0x8000_0000, &[7; 4]);
        assert_eq!((code, value[0]), (0x8000_0001, 0));
        assert_eq!(ask(&mut firmware("board"), 0x0005_0001, 0x8000_0005, &[7; 4]).0, 0x8000_0005);
    }

    #[test]
    fn a_gated_clock_is_off_until_it_is_switched_on() {
        let rate = |machine: &mut _| ask(machine, 0x0003_0047, 0x8000_0000, &[5, 0]).1[1];
        for (words, before, after) in [
            ("", 300_000_000, 300_000_000),
            ("gated-clock", 0, 300_000_000),
            ("no-clock", 0, 0),
            ("frozen", 300_000_000, 300_000_000),
        ] {
            let mut machine = firmware(words);
            assert_eq!(rate(&mut machine), before, "{words}");
            // The rate alone switches nothing on.
            assert_eq!(ask(&mut machine, 0x0003_8002, 0x8000_0008, &[5, 300_000_000, 0]).0, 0x8000_0008);
            assert_eq!(rate(&mut machine), before, "{words}");
            let (code, value, _) = ask(&mut machine, 0x0003_8001, 0x8000_0008, &[5, 1]);
            assert_eq!((code, value), (0x8000_0008, vec![5, u32::from(after != 0)]), "{words}");
            assert_eq!(rate(&mut machine), after, "{words}");
        }
    }

    #[test]
    fn sizes_and_pitch_are_the_firmwares() {
        let mut two = firmware("two-pages+pitch16");
        assert_eq!(ask(&mut two, 0x0004_8003, 0x8000_0008, &[1280, 720]).1, [1280, 720]);
        assert_eq!(ask(&mut two, 0x0004_8004, 0x8000_0008, &[1296, 2160]).1, [1296, 1440]);
        assert_eq!(ask(&mut two, 0x0004_8004, 0x8000_0008, &[1280, 720]).1, [1280, 720]);
        assert_eq!(ask(&mut two, 0x0004_0008, 0x8000_0004, &[5184]).1, [2592]);
        let mut usual = firmware("");
        assert_eq!(ask(&mut usual, 0x0004_8004, 0x8000_0008, &[1296, 2160]).1, [1296, 2160]);
        assert_eq!(ask(&mut usual, 0x0004_0008, 0x8000_0004, &[5184]).1, [5184]);
    }

    #[test]
    fn only_the_wait_for_the_vertical_blanking_is_slow() {
        let (slow, _) = firmware("slow-vsync");
        let message = [32, 0, 0x0004_800e, 4, 0, 0, 0];
        assert_eq!(slow.delay(&message), Duration::from_secs(1));
        assert_eq!(slow.delay(&[32, 0, 0x0004_8009, 8, 0, 0, 0, 0]), Duration::ZERO);
        assert_eq!(firmware("").0.delay(&message), Duration::ZERO);
        assert_eq!(ask(&mut firmware("slow-vsync"), 0x0004_800e, 0x8000_0000, &[0]).0, 0x8000_0004);
        assert_eq!(ask(&mut firmware(""), 0x0004_800e, 0x8000_0000, &[0]).0, 0x8000_0000);
    }

    #[test]
    fn strays_come_with_the_first_message_and_with_a_framebuffer() {
        let mut machine = firmware("stray-interrupt");
        let mut raises = |tag| ask(&mut machine, tag, 0x8000_0000, &[0, 0]).2.raises_strays;
        assert_eq!([1, 1, 0x0004_0001, 1].map(&mut raises), [true, false, true, false]);
        assert!(!ask(&mut firmware("board"), 1, 0x8000_0000, &[0]).2.raises_strays);
    }

    #[test]
    fn qpus_that_are_disabled_reset_the_v3d() {
        let mut machine = firmware("");
        assert!(ask(&mut machine, 0x0003_0012, 0x8000_0000, &[0]).2.resets_v3d);
        let (code, value, effects) = ask(&mut machine, 0x0003_0012, 0x8000_0000, &[1]);
        assert_eq!((code, value, effects.resets_v3d), (0x8000_0004, vec![0], false));
    }

    /// Values by `raspberrypi-power.c`, `gpio-raspberrypi-exp.c` and `clk-raspberrypi.c` of Linux.
    #[test]
    fn linux_finds_domains_an_expander_and_clocks() {
        let mut machine = firmware("");
        let mut domain = |tag, number, on| {
            let (code, value, effects) = ask(&mut machine, tag, 0x8000_0000, &[number, on]);
            assert_eq!((code, value[0]), (0x8000_0008, number));
            (value[1], effects.resets_v3d)
        };
        assert_eq!(domain(0x0003_0030, 11, 7), (0, false));
        assert_eq!(domain(0x0003_8030, 11, 1), (1, false));
        assert_eq!((domain(0x0003_0030, 11, 7), domain(0x0003_0030, 4, 7)), ((1, false), (0, false)));
        assert_eq!(domain(0x0003_8030, 4, 0), (0, false));
        assert_eq!(domain(0x0003_8030, 11, 0), (0, true), "without power the V3D loses its state");
        assert_eq!(domain(0x0003_0030, 11, 7), (0, false));
        for (tag, words) in [(0x0003_0041, 2), (0x0003_8041, 2), (0x0003_0043, 5), (0x0003_8043, 6)] {
            let value = vec![132; words];
            let (code, answer, _) = ask(&mut machine, tag, 0x8000_0000, &value);
            assert_eq!((code, answer[0], &answer[1..]), (0x8000_0000 + 4 * words as u32, 0, &value[1..]), "{tag:#x}");
        }
        let (code, clocks, _) = ask(&mut machine, 0x0001_0007, 0x8000_0000, &[9; 8]);
        assert_eq!((code, clocks), (0x8000_0020, vec![0, 1, 0, 2, 0, 3, 0, 0]));
        let (_, clocks, _) = ask(&mut machine, 0x0001_0007, 0x8000_0000, &[9; 64]);
        assert_eq!((clocks[29], &clocks[30..]), (15, &[0; 34][..]));
    }

    /// Messages that end early, and tags that reach beyond the end.
    #[test]
    fn no_message_is_too_short() {
        for length in 0..9 {
            let whole = [36, 0, 0x0003_0047, 400, 0, 5, 0, 0x0004_800e, 4];
            let mut message = whole[..length].to_vec();
            let (mut firmware, mut power) = firmware("slow-vsync+board");
            let _ = firmware.delay(&message);
            firmware.answer(&mut message, &mut power);
            assert_eq!(message, whole[..length]);
        }
    }
}
