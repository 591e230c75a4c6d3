//! HDMI's DDC: the I2C controller BSC2, and at its lines the memory of a screen with the EDID.
//!
//! Bytes take no time: a transfer has ended as soon as the FIFO has room for what is read, or holds what is written.
//!
//! # Sources
//! BCM2835 ARM Peripherals, chapter 3 (BSC); `i2c-bcm2835.c` of Linux; VESA E-DDC: the address 0x50, and the byte that is written first selects the next one
//! that is read.

use super::edid::{self, Mode};
use super::latches::Latches;
use std::collections::VecDeque;

/// Registers, by their offsets in bytes: control, status, number of bytes, address, FIFO.
const C: u64 = 0x00;
const S: u64 = 0x04;
const DLEN: u64 = 0x08;
const A: u64 = 0x0c;
const FIFO: u64 = 0x10;
/// The divider of the clock, delays, and the time-out of a stretched clock: they are held.
const DIV: u64 = 0x14;
const WORDS: usize = 8;

/// C: read, clear the FIFO (either bit), start; interrupts when a transfer is done, when there is room, and when there are bytes; enable.
const C_READ: u32 = 1 << 0;
const C_CLEAR: u32 = 3 << 4;
const C_ST: u32 = 1 << 7;
const C_INTD: u32 = 1 << 8;
const C_INTT: u32 = 1 << 9;
const C_INTR: u32 = 1 << 10;
const C_I2CEN: u32 = 1 << 15;

/// S: a transfer is active, is done; the FIFO needs bytes, needs to be read, has room, has bytes, is empty, is full; no acknowledgement; a time-out.
const S_TA: u32 = 1 << 0;
const S_DONE: u32 = 1 << 1;
const S_TXW: u32 = 1 << 2;
const S_RXR: u32 = 1 << 3;
const S_TXD: u32 = 1 << 4;
const S_RXD: u32 = 1 << 5;
const S_TXE: u32 = 1 << 6;
const S_RXF: u32 = 1 << 7;
const S_ERR: u32 = 1 << 8;
const S_CLKT: u32 = 1 << 9;

/// Bytes that the FIFO holds, and how many of them make it ask to be read.
const FIFO_BYTES: usize = 16;
const NEEDS_READING: usize = 12;

/// The address of the EDID [E-DDC].
const EDID_ADDRESS: u32 = 0x50;

/// A transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transfer {
    /// None is active.
    Idle,
    /// So many bytes are still to be read.
    Read(u32),
    /// So many bytes are still to be written; whether the next one selects a place.
    Write(u32, bool),
}

/// The controller and the screen's memory.
#[derive(Debug)]
pub(crate) struct Ddc {
    edid: [u8; edid::BYTES],
    /// The byte of the EDID that is read next.
    place: u8,
    registers: Latches<WORDS>,
    /// DONE, ERR and CLKT of S.
    ended: u32,
    fifo: VecDeque<u8>,
    transfer: Transfer,
}

impl Ddc {
    /// After power-on, with a screen of this mode.
    pub(crate) fn new(mode: Mode) -> Self {
        Self {
            edid: mode.edid(),
            place: 0,
            registers: Latches::default(),
            ended: 0,
            fifo: VecDeque::new(),
            transfer: Transfer::Idle,
        }
    }

    fn status(&self) -> u32 {
        let bytes = self.fifo.len();
        let flag = |condition: bool, bit: u32| if condition { bit } else { 0 };
        let reads = self.registers.get(C) & C_READ != 0;
        self.ended
            | flag(self.transfer != Transfer::Idle, S_TA)
            | flag(matches!(self.transfer, Transfer::Write(..)), S_TXW)
            | flag(reads && bytes >= NEEDS_READING, S_RXR)
            | flag(bytes < FIFO_BYTES, S_TXD)
            | flag(bytes > 0, S_RXD)
            | flag(bytes == 0, S_TXE)
            | flag(bytes == FIFO_BYTES, S_RXF)
    }

    /// A load of the register at byte `offset`.
    pub(crate) fn read(&mut self, offset: u64) -> u32 {
        match offset {
            S => self.status(),
            FIFO => {
                let byte = self.fifo.pop_front().unwrap_or(0);
                self.advance();
                byte.into()
            }
            _ => self.registers.get(offset),
        }
    }

    /// A store.
    pub(crate) fn write(&mut self, offset: u64, value: u32) {
        match offset {
            S => self.ended &= !(value & (S_DONE | S_ERR | S_CLKT)),
            FIFO if self.fifo.len() < FIFO_BYTES => {
                self.fifo.push_back(value as u8);
                self.advance();
            }
            C => self.control(value),
            DLEN | A | DIV.. => self.registers.set(offset, value),
            _ => {}
        }
    }

    fn control(&mut self, value: u32) {
        self.registers.set(C, value & !(C_ST | C_CLEAR));
        if value & C_CLEAR != 0 {
            self.fifo.clear();
        }
        if value & C_I2CEN == 0 {
            self.transfer = Transfer::Idle;
        } else if value & C_ST != 0 {
            self.ended = 0;
            let bytes = self.registers.get(DLEN) & 0xffff;
            self.transfer = match (self.registers.get(A) & 0x7f, value & C_READ) {
                (EDID_ADDRESS, 0) => Transfer::Write(bytes, true),
                (EDID_ADDRESS, _) => Transfer::Read(bytes),
                _ => {
                    // Nothing at this address acknowledges.
                    self.ended = S_ERR | S_DONE;
                    Transfer::Idle
                }
            };
            self.advance();
        }
    }

    /// Transfers as many bytes as there are, or as there is room for.
    fn advance(&mut self) {
        loop {
            self.transfer = match self.transfer {
                Transfer::Read(bytes @ 1..) if self.fifo.len() < FIFO_BYTES => {
                    // A memory of 256 bytes: the upper half is empty.
                    self.fifo.push_back(self.edid.get(usize::from(self.place)).copied().unwrap_or(0xff));
                    self.place = self.place.wrapping_add(1);
                    Transfer::Read(bytes - 1)
                }
                Transfer::Write(bytes @ 1.., selects) if !self.fifo.is_empty() => {
                    let byte = self.fifo.pop_front().unwrap_or(0);
                    // The memory cannot be written.
                    self.place = if selects { byte } else { self.place.wrapping_add(1) };
                    Transfer::Write(bytes - 1, false)
                }
                Transfer::Read(0) | Transfer::Write(0, _) => {
                    self.ended |= S_DONE;
                    Transfer::Idle
                }
                Transfer::Idle | Transfer::Read(_) | Transfer::Write(..) => return,
            };
        }
    }

    /// The level of the interrupt line.
    pub(crate) fn interrupt(&self) -> bool {
        let (control, status) = (self.registers.get(C), self.status());
        let is_raised = |enable: u32, bits: u32| control & enable != 0 && status & bits != 0;
        // On a chip, the request for bytes comes before the address is on the lines, and so before it can remain without an acknowledgement: whoever waits for
        // bytes is woken in any case.
        let is_unanswered = is_raised(C_INTD | C_INTT | C_INTR, S_ERR);
        is_raised(C_INTD, S_DONE) || is_raised(C_INTT, S_TXW) || is_raised(C_INTR, S_RXR) || is_unanswered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Linux' interrupt handler does it, which is called whenever the line is high; `None` after an error. The two messages of `drm_do_probe_ddc_edid`.
    fn read_edid(ddc: &mut Ddc, address: u32, from: u8, bytes: u32) -> Option<Vec<u8>> {
        let start = |ddc: &mut Ddc, bytes: u32, control: u32| {
            ddc.write(A, address);
            ddc.write(DLEN, bytes);
            ddc.write(C, 0x8080 | control);
        };
        start(ddc, 1, 0x200);
        assert!(ddc.interrupt());
        if ddc.read(S) & 0x300 != 0 {
            return None;
        }
        assert_eq!(ddc.read(S) & 0x17, 0x15, "active, without an end; needs bytes and has room");
        ddc.write(FIFO, from.into());
        start(ddc, bytes, 0x501);
        let mut read = Vec::new();
        for _ in 0..1000 {
            assert!(ddc.interrupt(), "the driver waits for an interrupt");
            let is_done = ddc.read(S) & 2 != 0;
            while read.len() < bytes as usize && ddc.read(S) & 0x20 != 0 {
                read.push(ddc.read(FIFO) as u8);
            }
            if is_done {
                assert_eq!(ddc.read(S) & 0x20, 0, "nothing is left over");
                ddc.write(C, 0x10);
                ddc.write(S, 0x302);
                assert!(!ddc.interrupt());
                return Some(read);
            }
        }
        None
    }

    #[test]
    fn the_edid_is_read_as_linux_reads_it() {
        let mut ddc = Ddc::new(Mode::DEFAULT);
        let edid = Mode::DEFAULT.edid();
        assert_eq!(read_edid(&mut ddc, 0x50, 0, 128).unwrap(), edid);
        assert_eq!(read_edid(&mut ddc, 0x50, 8, 5).unwrap(), edid[8..13]);
        assert_eq!(read_edid(&mut ddc, 0x50, 0, 1).unwrap(), [0]);
        assert_eq!(read_edid(&mut ddc, 0x50, 126, 4).unwrap(), [edid[126], edid[127], 0xff, 0xff]);
    }

    #[test]
    fn other_addresses_do_not_acknowledge() {
        let mut ddc = Ddc::new(Mode::DEFAULT);
        for address in [0x30, 0x54, 0x37] {
            assert_eq!(read_edid(&mut ddc, address, 0, 128), None, "{address:#x}");
        }
        assert_eq!(ddc.read(S) & 0x102, 0x102);
        ddc.write(S, 0x102);
        assert_eq!(ddc.read(S), 0x50, "idle: the FIFO is empty and has room");
        assert!(read_edid(&mut ddc, 0x50, 0, 128).is_some());
    }

    /// A driver that fills the FIFO first.
    #[test]
    fn bytes_may_be_written_before_the_start() {
        let mut ddc = Ddc::new(Mode::DEFAULT);
        ddc.write(C, 0x8010);
        (0..20).for_each(|byte| ddc.write(FIFO, byte));
        assert_eq!(ddc.read(S) & 0xf0, 0xa0, "full");
        ddc.write(A, 0x50);
        ddc.write(DLEN, 3);
        ddc.write(C, 0x8080);
        // Place 0, and two bytes further.
        assert_eq!((ddc.read(S) & 3, ddc.place), (2, 2));
        ddc.write(0x14, 0x5dc);
        assert_eq!((ddc.read(0x14), ddc.read(0x20)), (0x5dc, 0));
    }
}
