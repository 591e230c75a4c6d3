//! The HDMI encoder: registers that hold what is written to them.
//!
//! Some bits answer to others, for which a driver waits: they do so at once.
//!
//! # Sources
//! `vc4_hdmi_regs.h` (`vc4_hdmi_fields`), `vc4_regs.h` (VC4_HDMI_*, VC4_HD_*) and `vc4_hdmi.c` of Linux.

use super::latches::Latches;

/// Registers of the core, by their offsets in bytes: whether a screen is connected.
const HOTPLUG: u64 = 0x0c;
/// The FIFO between the pixel valve's clock and HDMI's.
const FIFO_CTL: u64 = 0x5c;
/// Which info frames are to be sent, and which are being sent.
const RAM_PACKET_CONFIG: u64 = 0xa0;
const RAM_PACKET_STATUS: u64 = 0xa4;
/// Whether HDMI or DVI is sent.
const SCHEDULER_CONTROL: u64 = 0xc0;
/// A register of the part HD: video.
const VID_CTL: u64 = 0x38;

/// HOTPLUG: a screen is connected.
const CONNECTED: u32 = 1 << 0;
/// FIFO_CTL: centre the FIFO, and that this is done.
const RECENTER: u32 = 1 << 6;
const RECENTER_DONE: u32 = 1 << 14;
/// RAM_PACKET_CONFIG: one bit for each of 16 info frames, and one for all of them.
const PACKETS: u32 = 0xffff;
const RAM_PACKET_ENABLE: u32 = 1 << 16;
/// SCHEDULER_CONTROL: HDMI is requested, and HDMI is sent.
const MODE_HDMI: u32 = 1 << 0;
const HDMI_ACTIVE: u32 = 1 << 1;
/// VID_CTL: the picture is sent, but with all pixels black.
const VID_ENABLE: u32 = 1 << 31;
const BLANKPIX: u32 = 1 << 18;

/// Words of both blocks of registers.
const CORE_WORDS: usize = 0x180;
const HD_WORDS: usize = 0x40;

/// The HDMI encoder.
#[derive(Debug, Default)]
pub(crate) struct Hdmi {
    core: Latches<CORE_WORDS>,
    hd: Latches<HD_WORDS>,
}

impl Hdmi {
    /// A load of the core's register at byte `offset`.
    pub(crate) fn read(&self, offset: u64) -> u32 {
        let value = self.core.get(offset);
        let answer = |condition: bool, bit: u32| if condition { value | bit } else { value & !bit };
        match offset {
            HOTPLUG => CONNECTED,
            FIFO_CTL => answer(value & RECENTER != 0, RECENTER_DONE),
            RAM_PACKET_STATUS => {
                let config = self.core.get(RAM_PACKET_CONFIG);
                if config & RAM_PACKET_ENABLE == 0 { 0 } else { config & PACKETS }
            }
            SCHEDULER_CONTROL => answer(value & MODE_HDMI != 0, HDMI_ACTIVE),
            _ => value,
        }
    }

    /// A store to the core.
    pub(crate) fn write(&mut self, offset: u64, value: u32) {
        self.core.set(offset, value);
    }

    /// A load of a register of the part HD.
    pub(crate) fn read_hd(&self, offset: u64) -> u32 {
        self.hd.get(offset)
    }

    /// A store to the part HD.
    pub(crate) fn write_hd(&mut self, offset: u64, value: u32) {
        self.hd.set(offset, value);
    }

    /// Whether the pixels of the valve reach the screen.
    pub(crate) fn sends_picture(&self) -> bool {
        self.hd.get(VID_CTL) & (VID_ENABLE | BLANKPIX) == VID_ENABLE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `vc4_hdmi_recenter_fifo`, `vc4_hdmi_write_infoframe` and `vc4_hdmi_encoder_post_crtc_enable` wait for.
    #[test]
    fn bits_for_which_the_driver_waits_are_there_at_once() {
        let mut hdmi = Hdmi::default();
        assert_eq!((hdmi.read(0x5c), hdmi.read(0x0c)), (0, 1));
        hdmi.write(0x5c, 0x40);
        assert_eq!(hdmi.read(0x5c), 0x4040);
        hdmi.write(0x5c, 0x4000);
        assert_eq!(hdmi.read(0x5c), 0);
        hdmi.write(0xa0, 0x1_0004);
        assert_eq!((hdmi.read(0xa0), hdmi.read(0xa4)), (0x1_0004, 4));
        hdmi.write(0xa0, 0x4);
        assert_eq!(hdmi.read(0xa4), 0);
        hdmi.write(0xc0, 0x8001);
        assert_eq!(hdmi.read(0xc0), 0x8003);
        hdmi.write(0xc0, 0x8002);
        assert_eq!(hdmi.read(0xc0), 0x8000);
    }

    #[test]
    fn other_registers_hold_what_is_written() {
        let mut hdmi = Hdmi::default();
        hdmi.write(0x424, 0x1234_5678);
        hdmi.write_hd(0x0c, 1);
        assert_eq!((hdmi.read(0x424), hdmi.read_hd(0x0c), hdmi.read(0x0)), (0x1234_5678, 1, 0));
        hdmi.write(0x600, 1);
        assert_eq!((hdmi.read(0x600), hdmi.read_hd(0x100)), (0, 0));
        assert!(!hdmi.sends_picture());
        hdmi.write_hd(0x38, 0xf880_0000);
        assert!(hdmi.sends_picture());
    }
}
