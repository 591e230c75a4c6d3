//! The hardware video scaler (HVS): three channels, each of which makes rows of pixels out of a display list.
//!
//! | offset | register |
//! |---|---|
//! | 0x00 | DISPCTRL: enable, interrupts |
//! | 0x04 | DISPSTAT: what happened on each channel; cleared by writing ones |
//! | 0x20 + 4 n | DISPLISTn: index of the first word of channel n's next list |
//! | 0x30 + 4 n | DISPLACTn: the same of the list that it processes |
//! | 0x40 + 16 n | DISPCTRLn: enable, reset, width and height |
//! | 0x44 + 16 n | DISPBKGNDn: background, gamma |
//! | 0x48 + 16 n | DISPSTATn: state, FIFO, line; counts of frames |
//! | 0x4c + 16 n | DISPBASEn: the FIFO's place in its memory |
//! | 0x78, 0xe0 | GAMADDR, GAMDATA: the tables of the gamma correction |
//! | 0x80 to 0x8c | OLEDOFFS, OLEDCOEF0 to 2: a matrix of colours |
//! | 0x2000 to 0x5fff | the memory of display lists |
//!
//! All others hold what is written to them.
//!
//! # Sources
//! `vc4_regs.h` (SCALER_*), `vc4_hvs.c`, `vc4_crtc.c` of Linux; what a board's firmware counts in DISPSTAT1: anight/piegpu.

use super::FRAME_NS;
use super::latches::Latches;
use super::plane::{self, Entry, Unsupported};
use super::scanout::{Picture, Remark};
use std::collections::BTreeSet;
use std::time::Duration;

/// Channels.
pub(crate) const CHANNELS: usize = 3;

/// Registers, by their offsets in bytes.
const DISPCTRL: u64 = 0x00;
const DISPSTAT: u64 = 0x04;
const DISPLIST0: u64 = 0x20;
const DISPLACT0: u64 = 0x30;
const DISPCTRL0: u64 = 0x40;
const DISPBKGND0: u64 = 0x44;
const DISPSTAT0: u64 = 0x48;
const DISPBASE0: u64 = 0x4c;
/// From a channel's registers to the next one's.
const CHANNEL_STRIDE: u64 = 0x10;
const GAMADDR: u64 = 0x78;
const OLEDOFFS: u64 = 0x80;
const GAMDATA: u64 = 0xe0;
/// Words of the registers before the memory of lists.
const REGISTER_WORDS: usize = 0x40;
/// The memory of lists, and its length in words.
const LISTS: u64 = 0x2000;
pub(crate) const LIST_WORDS: usize = 0x1000;

/// DISPSTAT: a frame of channel 0 has ended; the flag of the next is 8 bits higher.
const FLAG_EOF: u32 = 1 << 8;
/// DISPSTAT: the interrupt of channel 0, that of the next is a bit higher.
const IRQ_CHANNEL: u32 = 1 << 1;
/// DISPSTAT, when it is written: clear all flags.
const CLEAR_ALL: u32 = 1 << 0;
/// DISPCTRL: the end of a frame on channel 0 raises its interrupt; that of the next is two bits higher.
const ENABLE_EOF: u32 = 1 << 7;
/// DISPCTRL: the interrupt of channel 0 is enabled, that of the next is a bit higher.
const ENABLE_CHANNEL: u32 = 1 << 1;

/// DISPCTRLn: enabled; reset, which ends by itself.
const ENABLE: u32 = 1 << 31;
const RESET: u32 = 1 << 30;
/// DISPBKGNDn: correct gamma; fill rows with the colour in bits 23:0 first.
const GAMMA: u32 = 1 << 29;
const FILL: u32 = 1 << 24;
/// DISPSTATn: processing a frame, the FIFO is full, the FIFO is empty.
const MODE_RUN: u32 = 2 << 30;
const FULL: u32 = 1 << 29;
const EMPTY: u32 = 1 << 28;
/// Where each channel's count of frames is, which has 6 bits: the register of a channel, and the lowest bit.
const FRAME_COUNTS: [(usize, u32); CHANNELS] = [(1, 18), (1, 12), (2, 12)];
const FRAME_COUNT: u32 = 0x3f;

/// GAMADDR: writing to GAMDATA advances to the next entry; the number of an entry.
const AUTOINC: u32 = 1 << 31;
const GAMMA_ENTRY: u32 = 0xfff;
/// Entries of a channel: 256 each of red, green and blue.
const GAMMA_OF_CHANNEL: usize = 3 * 256;
/// OLEDOFFS: the channel to which the matrix is applied, plus 1.
const OLED_CHANNEL_SHIFT: u32 = 24;

/// Most remarks that are kept to be told once: a guest cannot fill the host's memory with them.
const MOST_REMARKS: usize = 64;

/// The registers and memory of the HVS.
#[derive(Debug)]
pub(crate) struct Hvs {
    registers: Latches<REGISTER_WORDS>,
    lists: Box<[u32]>,
    /// Flags of all channels, as DISPSTAT has them.
    flags: u32,
    /// Which word each channel's current list begins with.
    current: [u32; CHANNELS],
    frames: [u32; CHANNELS],
    gamma: Box<[u8]>,
    /// What was told, and what is to be told.
    told: BTreeSet<Remark>,
    remarks: Vec<Remark>,
}

impl Default for Hvs {
    fn default() -> Self {
        Self {
            registers: Latches::default(),
            lists: vec![0; LIST_WORDS].into(),
            flags: 0,
            current: [0; CHANNELS],
            frames: [0; CHANNELS],
            gamma: vec![0; CHANNELS * GAMMA_OF_CHANNEL].into(),
            told: BTreeSet::new(),
            remarks: Vec::new(),
        }
    }
}

/// The channel of a register among those that each channel has, and its place in channel 0.
fn of_channel(offset: u64) -> Option<(usize, u64)> {
    let channel = offset.checked_sub(DISPCTRL0)? / CHANNEL_STRIDE;
    ((channel as usize) < CHANNELS).then_some((channel as usize, offset - channel * CHANNEL_STRIDE))
}

/// A load of the word at byte `offset` while the firmware shows a picture of its own on channel 1, this long after power-on. Of the firmware's state only the
/// count of frames is known.
pub(crate) fn read_under_firmware(offset: u64, elapsed: Duration) -> u32 {
    let (register, shift) = FRAME_COUNTS[1];
    let frames = elapsed.as_nanos() / u128::from(FRAME_NS);
    if offset == DISPSTAT0 + CHANNEL_STRIDE * register as u64 { (frames as u32 & FRAME_COUNT) << shift } else { 0 }
}

impl Hvs {
    fn channel_register(&self, channel: usize, of_channel_0: u64) -> u32 {
        self.registers.get(of_channel_0 + CHANNEL_STRIDE * channel as u64)
    }

    /// Whether a channel makes rows.
    pub(crate) fn is_enabled(&self, channel: usize) -> bool {
        self.channel_register(channel, DISPCTRL0) & ENABLE != 0
    }

    /// Width and height of a channel's picture in pixels.
    fn size(&self, channel: usize) -> (u32, u32) {
        let control = self.channel_register(channel, DISPCTRL0);
        (control >> 12 & 0xfff, control & 0xfff)
    }

    /// DISPSTAT.
    fn status(&self) -> u32 {
        let interrupts = (0..CHANNELS as u32).filter(|&channel| {
            self.flags & FLAG_EOF << (8 * channel) != 0
                && self.registers.get(DISPCTRL) & ENABLE_EOF << (2 * channel) != 0
        });
        interrupts.fold(self.flags, |status, channel| status | IRQ_CHANNEL << channel)
    }

    /// The level of the interrupt line.
    pub(crate) fn interrupt(&self) -> bool {
        let enabled = (0..CHANNELS).map(|channel| self.registers.get(DISPCTRL) & ENABLE_CHANNEL << channel);
        self.status() & enabled.fold(0, |all, bit| all | bit) != 0
    }

    /// DISPSTATn, when the channel's valve is at a row of the picture, or in the vertical blanking.
    fn channel_status(&self, channel: usize, line: Option<u32>) -> u32 {
        let counts = FRAME_COUNTS.iter().zip(self.frames).filter(|&(&(register, _), _)| register == channel);
        let counts = counts.fold(0, |all, (&(_, shift), frames)| all | (frames & FRAME_COUNT) << shift);
        if !self.is_enabled(channel) {
            return counts | EMPTY;
        }
        let (width, height) = self.size(channel);
        // The FIFO: from its first to its last pixel, of which the lowest two bits are not used. Nothing is said of one without a place.
        let base = self.channel_register(channel, DISPBASE0);
        let pixels = (base >> 16 & !3).saturating_sub(base & 0xfffc) + if base == 0 { 0 } else { 4 };
        let ahead = pixels.checked_div(width).unwrap_or(0);
        let (line, full) = match line {
            // It fills up as soon as the frame begins, and then waits.
            None => (ahead, FULL),
            Some(line) => (line + 1 + ahead, 0),
        };
        counts | MODE_RUN | full | line.min(height)
    }

    /// A load of the word at byte `offset`, when the valve of each channel is at a row of the picture, or in the vertical blanking.
    pub(crate) fn read(&self, offset: u64, lines: [Option<u32>; CHANNELS]) -> u32 {
        match (offset, of_channel(offset)) {
            (LISTS.., _) => self.lists.get((offset - LISTS) as usize / 4).copied().unwrap_or(0),
            (DISPSTAT, _) => self.status(),
            (DISPLACT0..DISPCTRL0, _) => self.current.get((offset - DISPLACT0) as usize / 4).copied().unwrap_or(0),
            (_, Some((channel, DISPSTAT0))) => self.channel_status(channel, lines[channel]),
            _ => self.registers.get(offset),
        }
    }

    /// A store.
    pub(crate) fn write(&mut self, offset: u64, value: u32) {
        if let Some(word) = offset.checked_sub(LISTS).and_then(|at| self.lists.get_mut(at as usize / 4)) {
            *word = value;
            return;
        }
        let value = match (offset, of_channel(offset)) {
            (DISPSTAT, _) => {
                self.flags &= if value & CLEAR_ALL != 0 { 0 } else { !value };
                return;
            }
            (DISPLACT0..DISPCTRL0, _) | (_, Some((_, DISPSTAT0))) => return,
            (_, Some((_, DISPCTRL0))) if value & RESET != 0 => value & !(RESET | ENABLE),
            (GAMDATA, _) => {
                let address = self.registers.get(GAMADDR);
                if let Some(entry) = self.gamma.get_mut((address & GAMMA_ENTRY) as usize) {
                    *entry = value as u8;
                }
                if address & AUTOINC != 0 {
                    let next = address & !GAMMA_ENTRY | (address + 1) & GAMMA_ENTRY;
                    self.registers.set(GAMADDR, next);
                }
                return;
            }
            _ => value,
        };
        self.registers.set(offset, value);
    }

    /// A frame of a channel has ended, and the next begins: with the list that it was given.
    pub(crate) fn end_frame(&mut self, channel: usize) {
        if self.is_enabled(channel) {
            self.current[channel] = self.registers.get(DISPLIST0 + 4 * channel as u64);
            self.frames[channel] = self.frames[channel].wrapping_add(1);
            self.flags |= FLAG_EOF << (8 * channel);
        }
    }

    /// The picture of a channel's current frame.
    pub(crate) fn picture(&mut self, channel: usize) -> Picture {
        let (width, height) = self.size(channel);
        let background = self.channel_register(channel, DISPBKGND0);
        let mut planes = Vec::new();
        let entries: Vec<Entry> = plane::entries(&self.lists, self.current[channel]).collect();
        for entry in entries {
            match entry {
                Entry::Plane(plane) => {
                    if plane.is_scaled() {
                        self.remark(Remark::Scaled);
                    }
                    planes.push(plane);
                }
                Entry::NotShown(reason) => self.remark(Remark::Plane(reason)),
                Entry::Endless => self.remark(Remark::EndlessList),
            }
        }
        if self.registers.get(OLEDOFFS) >> OLED_CHANNEL_SHIFT & 3 == channel as u32 + 1 {
            self.remark(Remark::Plane(Unsupported::ColourMatrix));
        }
        let gamma = self.gamma[channel * GAMMA_OF_CHANNEL..][..GAMMA_OF_CHANNEL].to_vec();
        Picture {
            width,
            height,
            background: if background & FILL != 0 { background & 0xff_ffff } else { 0 },
            planes,
            gamma: (background & GAMMA != 0).then_some(gamma),
        }
    }

    /// Notes something that is not shown, to be told once.
    pub(super) fn remark(&mut self, remark: Remark) {
        if self.told.len() < MOST_REMARKS && self.told.insert(remark) {
            self.remarks.push(remark);
        }
    }

    /// What was not shown since the last call, in sentences.
    pub(crate) fn take_remarks(&mut self) -> Vec<String> {
        std::mem::take(&mut self.remarks).iter().map(Remark::to_string).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLANK: [Option<u32>; 3] = [None; 3];

    /// What `vc4_hvs_stop_channel` warns of otherwise.
    #[test]
    fn a_reset_ends_by_itself_and_leaves_the_channel_disabled_and_empty() {
        let mut hvs = Hvs::default();
        hvs.write(0x50, 0x8050_02d0);
        assert!(hvs.is_enabled(1));
        assert_eq!((hvs.size(1), hvs.read(0x58, BLANK) >> 28), ((0x500, 0x2d0), 0b1010));
        hvs.write(0x50, 0x4000_0000);
        assert_eq!((hvs.read(0x50, BLANK), hvs.read(0x58, BLANK)), (0, 0x1000_0000));
    }

    /// FRCNT0 and FRCNT1 are in DISPSTAT1 at 18 and 12, FRCNT2 in DISPSTAT2 at 12.
    #[test]
    fn each_channel_counts_its_frames_in_6_bits() {
        let mut hvs = Hvs::default();
        for (channel, frames) in [(0, 3), (1, 65), (2, 7)] {
            hvs.write(0x40 + 0x10 * channel, 0x8000_0000);
            (0..frames).for_each(|_| hvs.end_frame(channel as usize));
        }
        assert_eq!([0x48, 0x58, 0x68].map(|offset| hvs.read(offset, BLANK) & 0xff_f000), [0, 0xc_1000, 0x7000]);
    }

    #[test]
    fn flags_are_cleared_by_ones_and_raise_an_interrupt_that_is_enabled_twice() {
        let mut hvs = Hvs::default();
        hvs.write(0x50, 0x8000_0000);
        hvs.end_frame(1);
        assert_eq!((hvs.read(0x04, BLANK), hvs.interrupt()), (0x1_0000, false));
        hvs.write(0x00, 1 << 9);
        assert_eq!((hvs.read(0x04, BLANK), hvs.interrupt()), (0x1_0004, false));
        hvs.write(0x00, 1 << 9 | 1 << 2);
        assert!(hvs.interrupt());
        hvs.write(0x04, 1 << 8);
        assert!(hvs.interrupt(), "that is channel 0");
        hvs.write(0x04, 1 << 16);
        assert_eq!((hvs.read(0x04, BLANK), hvs.interrupt()), (0, false));
        hvs.end_frame(1);
        hvs.write(0x04, 1);
        assert_eq!(hvs.read(0x04, BLANK), 0);
    }

    #[test]
    fn the_list_of_a_frame_is_the_one_given_before_it() {
        let mut hvs = Hvs::default();
        hvs.write(0x24, 40);
        hvs.end_frame(1);
        assert_eq!(hvs.read(0x34, BLANK), 0, "the channel is disabled");
        hvs.write(0x50, 0x8000_0000);
        hvs.end_frame(1);
        hvs.write(0x24, 50);
        hvs.write(0x34, 99);
        assert_eq!((hvs.read(0x34, BLANK), hvs.read(0x24, BLANK)), (40, 50));
        hvs.end_frame(1);
        assert_eq!(hvs.read(0x34, BLANK), 50);
    }

    /// As `vc4_hvs_lut_load` loads them: 256 words each of red, green and blue from the channel's first on.
    #[test]
    fn the_tables_of_gamma_are_loaded_one_entry_after_the_other() {
        let mut hvs = Hvs::default();
        hvs.write(0x78, 1 << 31 | 768);
        (0..768).for_each(|entry| hvs.write(0xe0, entry % 256 / 2));
        hvs.write(0x54, 1 << 29);
        let gamma = hvs.picture(1).gamma.unwrap();
        assert_eq!((gamma[0], gamma[255], gamma[256], gamma[767], gamma.len()), (0, 127, 0, 127, 768));
        hvs.write(0x54, 0);
        assert_eq!(hvs.picture(1).gamma, None);
    }

    #[test]
    fn remarks_are_told_once() {
        let mut hvs = Hvs::default();
        hvs.write(0x80, 2 << 24);
        hvs.picture(1);
        hvs.picture(1);
        assert_eq!(hvs.take_remarks().len(), 1);
        hvs.picture(1);
        assert_eq!(hvs.take_remarks(), Vec::<String>::new());
        hvs.write(0x80, 3 << 24);
        hvs.picture(1);
        assert_eq!(hvs.take_remarks(), Vec::<String>::new(), "that is another channel");
    }

    #[test]
    fn the_memory_of_lists_has_4096_words() {
        let mut hvs = Hvs::default();
        hvs.write(0x2000, 1);
        hvs.write(0x5ffc, 2);
        hvs.write(0x6000, 3);
        assert_eq!([0x2000, 0x5ffc, 0x6000, 0x1ffc].map(|offset| hvs.read(offset, BLANK)), [1, 2, 0, 0]);
    }
}
