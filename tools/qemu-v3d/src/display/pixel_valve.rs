//! A pixel valve: takes pixels from a channel of the HVS with the timing of a mode, and raises interrupts.
//!
//! Modelled are its registers, and one moment of a frame, the beginning of the vertical blanking. The other places of a frame at which an interrupt can be
//! raised count as passed at the same moment.
//!
//! # Sources
//! `vc4_regs.h` (PV_*) and `vc4_crtc.c` of Linux.

use super::latches::Latches;

/// Registers, by their offsets in bytes: control, with the enable bit and the encoder that gets the pixels.
const CONTROL: u64 = 0x00;
/// Vertical control, with the bit that starts the video.
const V_CONTROL: u64 = 0x04;
/// Lines of the vertical back porch (31:16) and of the vertical synchronization (15:0).
const VERTA: u64 = 0x14;
/// Lines of the vertical front porch (31:16) and of the picture (15:0).
const VERTB: u64 = 0x18;
/// Which interrupts are enabled, and which have come: the latter are cleared by writing ones.
const INTEN: u64 = 0x24;
const INTSTAT: u64 = 0x28;

/// CONTROL: the valve is enabled.
const EN: u32 = 1 << 0;
/// CONTROL: empty the FIFO; it does not stay.
const FIFO_CLR: u32 = 1 << 1;
/// CONTROL: which encoder's clock is used, and the value of HDMI's.
const CLK_SELECT: u32 = 3 << 2;
const CLK_SELECT_HDMI: u32 = 1 << 2;
/// V_CONTROL: video is on.
const VIDEN: u32 = 1 << 0;

/// INTSTAT: the vertical synchronization (4), the vertical back porch (5), the picture (6) and the vertical front porch (7) have begun; the vertical front
/// porch has ended (8).
const ONCE_A_FRAME: u32 = 0x1f << 4;

/// Words of the registers.
const WORDS: usize = 0x40;

/// A pixel valve.
#[derive(Debug, Default)]
pub(crate) struct PixelValve {
    registers: Latches<WORDS>,
}

impl PixelValve {
    /// A load of the register at byte `offset`.
    pub(crate) fn read(&self, offset: u64) -> u32 {
        self.registers.get(offset)
    }

    /// A store.
    pub(crate) fn write(&mut self, offset: u64, value: u32) {
        let value = match offset {
            CONTROL => value & !FIFO_CLR,
            INTSTAT => self.registers.get(INTSTAT) & !value,
            _ => value,
        };
        self.registers.set(offset, value);
    }

    /// Whether frames pass.
    pub(crate) fn is_running(&self) -> bool {
        self.registers.get(CONTROL) & EN != 0 && self.registers.get(V_CONTROL) & VIDEN != 0
    }

    /// Whether frames pass to the encoder HDMI.
    pub(crate) fn feeds_hdmi(&self) -> bool {
        self.is_running() && self.registers.get(CONTROL) & CLK_SELECT == CLK_SELECT_HDMI
    }

    /// Lines of a frame: those of the vertical blanking, and those of the picture.
    pub(crate) fn lines(&self) -> (u32, u32) {
        let (a, b) = (self.registers.get(VERTA), self.registers.get(VERTB));
        ((a >> 16) + (a & 0xffff) + (b >> 16), b & 0xffff)
    }

    /// The vertical blanking begins.
    pub(crate) fn end_frame(&mut self) {
        self.registers.set(INTSTAT, self.registers.get(INTSTAT) | ONCE_A_FRAME);
    }

    /// The level of the interrupt line.
    pub(crate) fn interrupt(&self) -> bool {
        self.registers.get(INTSTAT) & self.registers.get(INTEN) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_is_one_that_has_come_and_is_enabled() {
        let mut valve = PixelValve::default();
        valve.write(0x00, 1 << 2 | 3);
        assert!(!valve.is_running());
        valve.write(0x04, 3);
        assert_eq!((valve.is_running(), valve.feeds_hdmi(), valve.read(0x00)), (true, true, 5));
        valve.end_frame();
        assert_eq!((valve.interrupt(), valve.read(0x28)), (false, 0x1f0));
        valve.write(0x24, 0x80);
        assert!(valve.interrupt());
        valve.write(0x28, 0x10);
        assert_eq!((valve.interrupt(), valve.read(0x28)), (true, 0x1e0));
        valve.write(0x28, 0x80);
        assert!(!valve.interrupt());
        // The clock of the video encoder: no picture on HDMI.
        valve.write(0x00, 2 << 2 | 1);
        assert!(valve.is_running() && !valve.feeds_hdmi());
        valve.write(0x100, 1);
        assert_eq!(valve.read(0x100), 0);
    }

    /// 1280x720: 5 lines of front porch, 5 of synchronization, 20 of back porch [CTA-861, format 4].
    #[test]
    fn lines_are_those_of_the_mode() {
        let mut valve = PixelValve::default();
        valve.write(0x14, 0x0014_0005);
        valve.write(0x18, 0x0005_02d0);
        assert_eq!(valve.lines(), (30, 720));
    }
}
