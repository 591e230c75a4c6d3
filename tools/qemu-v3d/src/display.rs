//! The display: what takes pictures out of memory and puts them on a screen, as Linux' driver vc4 finds it.
//!
//! ```text
//!  memory ──> HVS, channel 1 ──> pixel valve 2 ──> HDMI ──> screen
//!             display list       timing, vblank     │
//!                                                  DDC: the screen's EDID
//! ```
//!
//! | module | unit |
//! |---|---|
//! | [`hvs`] | the hardware video scaler: three channels, each with a display list |
//! | [`plane`] | an entry of a display list |
//! | [`scanout`] | the rows of planes, put together to those of a picture |
//! | [`pixel_valve`] | the timing of a channel, and its interrupts |
//! | [`hdmi`] | the HDMI encoder |
//! | [`ddc`] | the I2C controller to which a screen's EDID is connected |
//! | [`edid`] | the description of the screen |
//! | [`latches`] | registers that hold what is written to them |
//!
//! Channels, valves and HDMI hold what is written to them. What happens by itself happens once in a frame, at the beginning of the vertical blanking: each
//! enabled channel takes over the display list that it was given, counts a frame, and its valve raises its interrupt. A picture is put together when QEMU asks
//! for one, from the list of the current frame and from what memory has then.
//!
//! A frame takes 1/60 second of QEMU's virtual time, whatever the pixel clock is.
//!
//! # Sources
//! `drivers/gpu/drm/vc4` of Linux 6.1 and 6.12: `vc4_regs.h`, `vc4_hvs.c`, `vc4_plane.c`, `vc4_crtc.c`, `vc4_hdmi.c`; `bcm2835-common.dtsi`, `bcm283x.dtsi`.

pub(crate) mod ddc;
pub(crate) mod edid;
pub(crate) mod hdmi;
pub(crate) mod hvs;
mod latches;
pub(crate) mod pixel_valve;
pub(crate) mod plane;
pub(crate) mod scanout;

use ddc::Ddc;
use edid::Mode;
use hdmi::Hdmi;
use hvs::Hvs;
use pixel_valve::PixelValve;
use scanout::Picture;
use v3d_sim::Memory;

/// Nanoseconds of a frame.
pub(crate) const FRAME_NS: u64 = 1_000_000_000 / 60;

/// A block of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Block {
    /// The HVS, with the memory of its display lists.
    Hvs,
    /// Pixel valve 0, for DSI and DPI.
    Valve0,
    /// Pixel valve 1, for DSI.
    Valve1,
    /// Pixel valve 2, for HDMI and the video encoder of televisions.
    Valve2,
    /// The core of HDMI.
    Hdmi,
    /// The part of HDMI that Linux calls HD: video, audio, colour conversion.
    Hd,
    /// The I2C controller, a BSC, whose lines are HDMI's DDC.
    Ddc,
}

impl Block {
    /// All of them.
    pub(crate) const ALL: [Self; 7] =
        [Self::Hvs, Self::Valve0, Self::Valve1, Self::Valve2, Self::Hdmi, Self::Hd, Self::Ddc];

    /// Offset from the first peripheral, and length in bytes [linux bcm283x.dtsi, bcm2835-common.dtsi].
    pub(crate) const fn place(self) -> (u64, u64) {
        match self {
            Self::Hvs => (0x40_0000, 0x6000),
            Self::Valve0 => (0x20_6000, 0x100),
            Self::Valve1 => (0x20_7000, 0x100),
            Self::Valve2 => (0x80_7000, 0x100),
            Self::Hdmi => (0x90_2000, 0x600),
            Self::Hd => (0x80_8000, 0x100),
            Self::Ddc => (0x80_5000, 0x20),
        }
    }
}

/// Lines of the GPU's interrupts: the HVS, pixel valves 0 to 2, and the I2C controllers [linux bcm283x.dtsi, bcm2835-common.dtsi: bank 2, line n, is 32 + n].
pub(crate) const INTERRUPTS: [u8; 5] = [33, 45, 46, 42, 53];

/// The pixel valve of a channel of the HVS [linux vc4_crtc.c, `hvs_output`].
const VALVE_OF_CHANNEL: [usize; hvs::CHANNELS] = [0, 2, 1];
/// The valve whose pixels go to HDMI, and its channel.
const HDMI_VALVE: usize = 2;
const HDMI_CHANNEL: usize = 1;

/// All units of the display.
#[derive(Debug)]
pub(crate) struct Display {
    mode: Mode,
    hvs: Hvs,
    valves: [PixelValve; 3],
    hdmi: Hdmi,
    ddc: Ddc,
    /// The virtual time in nanoseconds at which the last vertical blanking began, while a valve runs.
    frame_start: Option<u64>,
}

impl Display {
    /// The units after power-on, and a screen whose own mode is this one.
    pub(crate) fn new(mode: Mode) -> Self {
        Self {
            mode,
            hvs: Hvs::default(),
            valves: Default::default(),
            hdmi: Hdmi::default(),
            ddc: Ddc::new(mode),
            frame_start: None,
        }
    }

    /// Returns to the state after power-on.
    pub(crate) fn reset(&mut self) {
        *self = Self::new(self.mode);
    }

    /// A load of the register at byte `offset`, at virtual time `now` in nanoseconds.
    pub(crate) fn read(&mut self, block: Block, offset: u64, now: u64) -> u32 {
        match block {
            Block::Hvs => {
                let lines = VALVE_OF_CHANNEL.map(|valve| self.line(valve, now));
                self.hvs.read(offset, lines)
            }
            Block::Valve0 => self.valves[0].read(offset),
            Block::Valve1 => self.valves[1].read(offset),
            Block::Valve2 => self.valves[2].read(offset),
            Block::Hdmi => self.hdmi.read(offset),
            Block::Hd => self.hdmi.read_hd(offset),
            Block::Ddc => self.ddc.read(offset),
        }
    }

    /// A store, likewise.
    pub(crate) fn write(&mut self, block: Block, offset: u64, value: u32, now: u64) {
        match block {
            Block::Hvs => self.hvs.write(offset, value),
            Block::Valve0 => self.valves[0].write(offset, value),
            Block::Valve1 => self.valves[1].write(offset, value),
            Block::Valve2 => self.valves[2].write(offset, value),
            Block::Hdmi => self.hdmi.write(offset, value),
            Block::Hd => self.hdmi.write_hd(offset, value),
            Block::Ddc => self.ddc.write(offset, value),
        }
        if !self.valves.iter().any(PixelValve::is_running) {
            self.frame_start = None;
        } else if self.frame_start.is_none() {
            self.frame_start = Some(now);
        }
    }

    /// When the next vertical blanking begins: a virtual time in nanoseconds; `None` if no valve runs.
    pub(crate) fn next_blanking(&self) -> Option<u64> {
        self.frame_start.map(|start| start + FRAME_NS)
    }

    /// The vertical blanking of all valves that run begins, if it is time. Frames that QEMU was too late for are skipped: Linux could not tell
    /// their interrupts apart either.
    pub(crate) fn blank(&mut self, now: u64) {
        let Some(start) = self.frame_start.filter(|&start| now >= start + FRAME_NS) else { return };
        self.frame_start = Some(now - (now - start) % FRAME_NS);
        for (channel, valve) in VALVE_OF_CHANNEL.into_iter().enumerate() {
            let valve = &mut self.valves[valve];
            if valve.is_running() {
                self.hvs.end_frame(channel);
                valve.end_frame();
            }
        }
    }

    /// The row of the picture that a valve is at; `None` in the vertical blanking, with which a frame begins, and without a frame.
    fn line(&self, valve: usize, now: u64) -> Option<u32> {
        let (start, valve) = (self.frame_start?, &self.valves[valve]);
        let (blank, active) = valve.lines();
        let elapsed = now.saturating_sub(start).min(FRAME_NS);
        let line = u64::from(blank + active) * elapsed / FRAME_NS;
        u32::try_from(line).ok()?.checked_sub(blank).filter(|_| valve.is_running())
    }

    /// The levels of [`INTERRUPTS`].
    pub(crate) fn levels(&self) -> [bool; INTERRUPTS.len()] {
        let [valve0, valve1, valve2] = self.valves.each_ref().map(PixelValve::interrupt);
        [self.hvs.interrupt(), valve0, valve1, valve2, self.ddc.interrupt()]
    }

    /// Whether the guest has taken the screen over: its HDMI sends what the HVS makes.
    pub(crate) fn is_in_use(&self) -> bool {
        self.valves[HDMI_VALVE].feeds_hdmi() && self.hdmi.sends_picture() && self.hvs.is_enabled(HDMI_CHANNEL)
    }

    /// Whether a channel of the HVS has been enabled by the guest.
    pub(crate) fn channel_is_enabled(&self, channel: usize) -> bool {
        self.hvs.is_enabled(channel)
    }

    /// The picture of the current frame, without its rows; `None` if the screen is dark. What cannot be shown of it is told by
    /// [`take_remarks`](Self::take_remarks).
    pub(crate) fn picture(&mut self) -> Option<Picture> {
        self.is_in_use().then(|| self.hvs.picture(HDMI_CHANNEL))
    }

    /// A row of a picture, as 0x00RRGGBB.
    pub(crate) fn row(&mut self, memory: Memory<'_>, picture: &Picture, y: u32, row: &mut [u32]) {
        if let Err(remark) = picture.row(memory, y, row) {
            self.hvs.remark(remark);
        }
    }

    /// What was not shown since the last call, in sentences. Nothing is told twice.
    pub(crate) fn take_remarks(&mut self) -> Vec<String> {
        self.hvs.take_remarks()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use v3d_sim::memory::OwnedMemory;

    const MODE: Mode = Mode::DEFAULT;

    /// The stores with which Linux brings up a mode [linux vc4_crtc.c, vc4_hvs.c, vc4_hdmi.c], in their order, as far as they matter here.
    fn show(display: &mut Display, list: u32, width: u32, height: u32) {
        let stores = [
            (Block::Hvs, 0x00, 0x8000_0000),
            (Block::Valve2, 0x24, 1 << 7),
            (Block::Hvs, 0x24, list),
            (Block::Hvs, 0x50, 0x4000_0000),
            (Block::Hvs, 0x50, 1 << 31 | width << 12 | height),
            (Block::Valve2, 0x14, 20 << 16 | 5),
            (Block::Valve2, 0x18, 5 << 16 | height),
            (Block::Valve2, 0x00, 0x2d_7006),
            (Block::Valve2, 0x00, 0x2d_7005),
            (Block::Valve2, 0x04, 2 | 1),
            (Block::Hd, 0x38, 1 << 31),
        ];
        stores.into_iter().for_each(|(block, offset, value)| display.write(block, offset, value, 0));
    }

    #[test]
    fn a_frame_begins_60_times_a_second_and_takes_the_list_over_before_its_interrupt() {
        let mut display = Display::new(MODE);
        assert_eq!((display.next_blanking(), display.is_in_use()), (None, false));
        show(&mut display, 32, 8, 4);
        assert_eq!((display.next_blanking(), display.is_in_use()), (Some(16_666_666), true));
        display.blank(16_666_665);
        assert_eq!((display.levels(), display.read(Block::Hvs, 0x34, 0)), ([false; 5], 0));
        display.blank(16_666_666);
        assert_eq!(display.levels(), [false, false, false, true, false]);
        assert_eq!(display.read(Block::Hvs, 0x34, 0), 32);
        display.write(Block::Valve2, 0x28, 1 << 7, 0);
        assert_eq!(display.levels(), [false; 5]);
        // Four frames late: one interrupt, and the rhythm stays.
        display.blank(5 * 16_666_666 + 100);
        assert_eq!((display.levels()[3], display.next_blanking()), (true, Some(6 * 16_666_666)));
        // FRCNT1 of DISPSTAT1 has counted both.
        assert_eq!(display.read(Block::Hvs, 0x58, 5 * 16_666_666) >> 12 & 0x3f, 2);
        display.write(Block::Valve2, 0x04, 2, 0);
        assert_eq!((display.next_blanking(), display.is_in_use()), (None, false));
    }

    /// 30 lines of blanking, then 4 of the picture.
    #[test]
    fn the_hvs_is_ahead_of_the_valve_by_what_its_fifo_holds() {
        let mut display = Display::new(MODE);
        show(&mut display, 32, 8, 4);
        let line = |display: &mut Display, elapsed: u64| {
            let status = display.read(Block::Hvs, 0x58, elapsed);
            (status >> 28, status & 0xfff)
        };
        let of_34 = |lines: u64| (lines * 16_666_666).div_ceil(34);
        // Running, and the FIFO is full in the blanking.
        assert_eq!([0, 29].map(|lines| line(&mut display, of_34(lines))), [(0b1010, 0), (0b1010, 0)]);
        assert_eq!([30, 31, 33].map(|lines| line(&mut display, of_34(lines))), [(0b1000, 1), (0b1000, 2), (0b1000, 4)]);
        // A FIFO of 16 pixels: two lines.
        display.write(Block::Hvs, 0x5c, 12 << 16, 0);
        assert_eq!([0, 30, 33].map(|lines| line(&mut display, of_34(lines))), [(0b1010, 2), (0b1000, 3), (0b1000, 4)]);
    }

    /// A plane of 2 x 1 pixels at (3, 1) over a blue background.
    #[test]
    fn a_picture_is_what_the_list_says() {
        let memory = OwnedMemory::new(64);
        memory.view().set_word(v3d_sim::BusAddr(16), 0x0011_2233).unwrap();
        memory.view().set_word(v3d_sim::BusAddr(20), 0xff44_5566).unwrap();
        let mut display = Display::new(MODE);
        let words = [0x4700_7817, 0xff00_1003, 0x4001_0002, 0xc0c0_c0c0, 0xc000_0010, 0xc0c0_c0c0, 8, 0x8000_0000];
        for (index, word) in words.into_iter().enumerate() {
            display.write(Block::Hvs, 0x2000 + 4 * (40 + index as u64), word, 0);
        }
        show(&mut display, 40, 6, 3);
        display.write(Block::Hvs, 0x54, 1 << 24 | 0x80, 0);
        display.blank(FRAME_NS);
        let picture = display.picture().unwrap();
        assert_eq!((picture.width, picture.height), (6, 3));
        let mut rows = [[0; 6]; 3];
        for (y, row) in (0..).zip(&mut rows) {
            display.row(memory.view(), &picture, y, row);
        }
        assert_eq!(rows, [[0x80; 6], [0x80, 0x80, 0x80, 0x11_2233, 0x44_5566, 0x80], [0x80; 6]]);
        assert_eq!(display.take_remarks(), Vec::<String>::new());
        display.write(Block::Hd, 0x38, 1 << 31 | 1 << 18, 0);
        assert!(display.picture().is_none(), "HDMI blanks its pixels");
    }

    /// Places and lines in Linux' device trees: hvs@7e400000 <2 1>, pixelvalve@7e206000 <2 13>, pixelvalve@7e207000 <2 14>, pixelvalve@7e807000 <2 10>,
    /// hdmi@7e902000 with 0x7e808000, i2c@7e805000 <2 21>.
    #[test]
    fn blocks_are_where_device_trees_have_them() {
        let places = Block::ALL.map(|block| block.place().0);
        assert_eq!(places, [0x40_0000, 0x20_6000, 0x20_7000, 0x80_7000, 0x90_2000, 0x80_8000, 0x80_5000]);
        assert_eq!(INTERRUPTS, [1, 13, 14, 10, 21].map(|line| 32 + line));
    }
}
