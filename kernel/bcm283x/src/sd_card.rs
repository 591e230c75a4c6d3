//! The SD card behind the chip's Arasan controller (EMMC, an SDHCI controller of version 3)
//!
//! [`SdSlot`] identifies a card, and reads and writes blocks of 512 bytes by programmed transfers, without interrupts and without DMA. Every wait has a limit,
//! so that neither a card nor a controller can stop the kernel, and every failure is a [`CardError`].
//!
//! The controller is connected to the card by the functions of pins 48 to 53: ALT3 selects it, ALT0 the chip's other controller, SDHOST
//! [linux bcm283x.dtsi, emmc_gpio48 and sdhost_gpio48]. On boards with a wireless chip, the firmware may have connected it to that one, on pins 34 to 39.
//! Pins and the controller's clock are the caller's: [`SdRegisters::connect`].
//!
//! # Surprises
//! - The controller loses the first of two writes to a register within two cycles of the card's clock [linux sdhci-iproc.c]. While the clock is slow, each
//!   write is therefore followed by a pause of four cycles, except those of the data register, which is not concerned.
//! - Registers take accesses of 32 bits only. Block size and count are written together, and so are transfer mode and command [linux sdhci-iproc.c].
//! - The bit for an inserted card means nothing [linux sdhci-iproc.c, BROKEN_CARD_DETECTION]: a slot without a card is one in which nothing answers.
//!
//! # Sources
//! BCM2835 ARM Peripherals, chapter 5; SD Host Controller Simplified Specification 3.00; SD Physical Layer Simplified Specification 6.00, for commands, answers
//! and time limits; [linux drivers/mmc/host/sdhci-iproc.c]. Not tried on boards; QEMU's `raspi3b` connects its card to this controller at reset [qemu
//! bcm2835_gpio.c].

mod command;
mod csd;
mod error;
#[cfg(test)]
mod model;
pub mod registers;

use command::{Command, Response, status};
use csd::Csd;
pub use error::CardError;
use registers::{Register, SdRegisters, control0, control1, event, present, transfer};

use crate::waiting;

/// Bytes of a block.
pub const BLOCK_BYTES: usize = 512;

/// Blocks of a transfer; the controller counts up to 65,535.
const MOST_BLOCKS: usize = 128;
/// The clock during identification, in hertz: at most 400 kHz [SD 6.4.1.1].
const SLOW_HZ: u32 = 400_000;
/// The clock of transfers, in hertz: what every card takes without being asked [SD 4.3.10, default speed].
const FAST_HZ: u32 = 25_000_000;
/// How long the controller may take for a reset, or its clock to become stable.
const CONTROLLER_US: u64 = 100_000;
/// How long an answer may take: the controller itself gives up after 64 cycles, 160 us at the slow clock.
const ANSWER_US: u64 = 100_000;
/// How long a card may take to become ready after power-on [SD 4.2.3].
const READY_US: u64 = 1_000_000;
/// How long a block may take: 100 ms to be read, 250 ms to be written, 500 ms on SDXC cards [SD 4.6.2].
const BLOCK_US: u64 = 600_000;
/// Pause before the first command: at least 1 ms and 74 cycles of the slow clock [SD 6.4.1.1].
const POWER_UP_US: u64 = 2000;
/// How often a transfer is tried in which bits were damaged on the way.
const ATTEMPTS: usize = 3;

/// Supply voltages from 2.7 to 3.6 V, in the argument of ACMD41 [SD 5.1].
const VOLTAGES: u32 = 0x00ff_8000;
/// The host takes cards that are addressed by blocks; the card is one.
const HIGH_CAPACITY: u32 = 1 << 30;
/// The card is ready.
const POWERED_UP: u32 = 1 << 31;
/// Argument of CMD8: 2.7 to 3.6 V, and a pattern that the card repeats.
const INTERFACE_CONDITION: u32 = 0x1aa;

/// A card that was identified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Card {
    /// Its relative address, in the upper half, as arguments have it.
    address: u32,
    /// Whether its blocks are addressed by number. Older cards count bytes.
    is_addressed_by_blocks: bool,
    /// Number of blocks.
    pub blocks: u32,
    /// Whether its CSD register forbids to write, temporarily or permanently.
    pub is_write_protected: bool,
}

/// The controller, and the card in it as far as it is known.
#[derive(Debug)]
pub struct SdSlot<R> {
    registers: R,
    base_clock_hz: u32,
    card_clock_hz: u32,
    card: Option<Card>,
}

/// The data of a command.
enum Data<'d> {
    None,
    Read(&'d mut [u8]),
    Write(&'d [u8]),
}

impl<R: SdRegisters> SdSlot<R> {
    /// The slot. Nothing is accessed yet.
    pub const fn new(registers: R) -> Self {
        Self { registers, base_clock_hz: 0, card_clock_hz: 0, card: None }
    }

    /// The card in the slot: the one that is known, if it still answers, or one that is identified now.
    ///
    /// # Errors
    /// [`CardError::NoCard`] if nothing answers, and others if a card answers and cannot be used.
    pub fn card(&mut self) -> Result<Card, CardError> {
        if let Some(card) = self.card
            && self.execute(Command::SEND_STATUS, card.address, Data::None).is_ok_and(status::is_ready)
        {
            return Ok(card);
        }
        self.card = None;
        let card = self.identify()?;
        self.card = Some(card);
        Ok(card)
    }

    /// Reads whole blocks from number `first` on; a part of a block at the end of `bytes` is left as it is.
    ///
    /// # Errors
    /// When there is no card or no such block, or the transfer fails.
    pub fn read(&mut self, first: u32, bytes: &mut [u8]) -> Result<(), CardError> {
        let card = self.known(first, bytes.len())?;
        let mut block = first;
        for part in bytes.chunks_mut(MOST_BLOCKS * BLOCK_BYTES) {
            let count = part.len() / BLOCK_BYTES;
            if count == 0 {
                break;
            }
            let command = if count == 1 { Command::READ_SINGLE_BLOCK } else { Command::READ_MULTIPLE_BLOCK };
            self.again_if_damaged(|slot| {
                slot.execute(command, card.argument(block), Data::Read(&mut part[..count * BLOCK_BYTES])).map(drop)
            })?;
            block += count as u32;
        }
        Ok(())
    }

    /// Writes whole blocks from number `first` on, and waits until the card has stored them; a part of a block at the end of `bytes` is not written.
    ///
    /// # Errors
    /// When there is no card or no such block, when the card is write protected, or the transfer fails.
    pub fn write(&mut self, first: u32, bytes: &[u8]) -> Result<(), CardError> {
        let card = self.known(first, bytes.len())?;
        if card.is_write_protected {
            return Err(CardError::WriteProtected);
        }
        let mut block = first;
        for part in bytes.chunks(MOST_BLOCKS * BLOCK_BYTES) {
            let count = part.len() / BLOCK_BYTES;
            if count == 0 {
                break;
            }
            let command = if count == 1 { Command::WRITE_BLOCK } else { Command::WRITE_MULTIPLE_BLOCK };
            self.again_if_damaged(|slot| {
                slot.execute(command, card.argument(block), Data::Write(&part[..count * BLOCK_BYTES]))?;
                slot.wait_until_stored(card)
            })?;
            block += count as u32;
        }
        Ok(())
    }

    /// The card, if it has all these blocks.
    fn known(&mut self, first: u32, bytes: usize) -> Result<Card, CardError> {
        let card = match self.card {
            Some(card) => card,
            None => self.card()?,
        };
        let count = (bytes / BLOCK_BYTES) as u64;
        if u64::from(first) + count > u64::from(card.blocks) {
            return Err(CardError::OutOfRange { first, count, blocks: card.blocks });
        }
        Ok(card)
    }

    /// Tries a transfer again whose bits were damaged. After other failures, the card is identified again before it is used.
    fn again_if_damaged(
        &mut self,
        mut transfer: impl FnMut(&mut Self) -> Result<(), CardError>,
    ) -> Result<(), CardError> {
        let mut result = transfer(self);
        for _ in 1..ATTEMPTS {
            if !matches!(result, Err(CardError::Damaged { .. })) {
                break;
            }
            result = transfer(self);
        }
        if matches!(result, Err(CardError::NoAnswer { .. } | CardError::Unfinished { .. } | CardError::Damaged { .. }))
        {
            self.card = None;
        }
        result
    }

    /// Waits until the card is ready for the next transfer.
    fn wait_until_stored(&mut self, card: Card) -> Result<(), CardError> {
        let end_us = self.registers.now_us() + BLOCK_US;
        loop {
            let word = self.execute(Command::SEND_STATUS, card.address, Data::None)?;
            if status::is_ready(word) {
                return Ok(());
            }
            if self.registers.now_us() > end_us {
                return Err(CardError::Unfinished { command: Command::SEND_STATUS.index });
            }
        }
    }

    /// Resets the controller and identifies the card, as SD 4.2 describes it.
    fn identify(&mut self) -> Result<Card, CardError> {
        self.base_clock_hz = self.registers.connect();
        self.reset_controller()?;
        self.set_clock(SLOW_HZ)?;
        self.spin_for_us(POWER_UP_US);
        self.execute(Command::GO_IDLE_STATE, 0, Data::None).map_err(|error| match error {
            CardError::NoAnswer { .. } => CardError::NoCard,
            error => error,
        })?;
        // Cards before version 2 do not know this command.
        let is_version_2 = match self.execute(Command::SEND_IF_COND, INTERFACE_CONDITION, Data::None) {
            Ok(answer) if answer & 0xfff == INTERFACE_CONDITION => true,
            Ok(_) => return Err(CardError::Voltage),
            Err(CardError::NoAnswer { .. }) => false,
            Err(error) => return Err(error),
        };
        let conditions = self.power_up(if is_version_2 { HIGH_CAPACITY } else { 0 })?;
        let is_addressed_by_blocks = conditions & HIGH_CAPACITY != 0;
        self.execute(Command::ALL_SEND_CID, 0, Data::None)?;
        let address = self.execute(Command::SEND_RELATIVE_ADDR, 0, Data::None)? & 0xffff_0000;
        self.execute(Command::SEND_CSD, address, Data::None)?;
        let csd = Csd::of_answer(self.long_answer());
        let blocks = csd.blocks().ok_or(CardError::UnknownCsd(csd.structure()))?;
        self.set_clock(FAST_HZ)?;
        self.execute(Command::SELECT_CARD, address, Data::None)?;
        if !is_addressed_by_blocks {
            self.execute(Command::SET_BLOCKLEN, BLOCK_BYTES as u32, Data::None)?;
        }
        // All SD cards have four data lines [SD 4.7.4, ACMD6].
        const FOUR_LINES: u32 = 2;
        self.execute_application(address, Command::SET_BUS_WIDTH, FOUR_LINES)?;
        self.store(Register::Control0, self.registers.read(Register::Control0) | control0::FOUR_LINES);
        Ok(Card { address, is_addressed_by_blocks, blocks, is_write_protected: csd.is_write_protected() })
    }

    /// Asks the card until it is ready; returns its operating conditions.
    fn power_up(&mut self, high_capacity: u32) -> Result<u32, CardError> {
        let end_us = self.registers.now_us() + READY_US;
        loop {
            match self.execute(Command::APP_CMD, 0, Data::None) {
                Ok(_) => {}
                Err(CardError::NoAnswer { .. }) => return Err(CardError::NoCard),
                Err(error) => return Err(error),
            }
            match self.execute(Command::SD_SEND_OP_COND, VOLTAGES | high_capacity, Data::None) {
                Ok(conditions) if conditions & POWERED_UP != 0 => return Ok(conditions),
                Ok(_) => {}
                // An MMC knows CMD55 and no ACMD41.
                Err(CardError::NoAnswer { .. }) => return Err(CardError::NotSd),
                Err(error) => return Err(error),
            }
            if self.registers.now_us() > end_us {
                return Err(CardError::NotReady);
            }
            self.spin_for_us(1000);
        }
    }

    /// Executes an application command: CMD55 and the command.
    fn execute_application(&mut self, address: u32, command: Command, argument: u32) -> Result<u32, CardError> {
        self.execute(Command::APP_CMD, address, Data::None)?;
        self.execute(command, argument, Data::None)
    }

    /// Resets the controller; no clock, one data line, no interrupts.
    fn reset_controller(&mut self) -> Result<(), CardError> {
        self.card_clock_hz = 0;
        self.store(Register::Control1, control1::RESET_ALL);
        let reset_ends = |registers: &R| registers.read(Register::Control1) & control1::RESET_ALL == 0;
        if !self.comes_true(CONTROLLER_US, reset_ends) {
            return Err(CardError::Controller("does not end its reset"));
        }
        self.store(Register::Control0, control0::POWER_3V3);
        // The status shows all events; none raises an interrupt.
        self.store(Register::IrptEn, 0);
        self.store(Register::IrptMask, event::ALL);
        Ok(())
    }

    /// Has the card's clock run at most at `hz` hertz.
    fn set_clock(&mut self, hz: u32) -> Result<(), CardError> {
        self.store(Register::Control1, self.registers.read(Register::Control1) & !control1::CARD_CLOCK);
        let divider = divider(self.base_clock_hz, hz);
        let control = control1::INTERNAL_CLOCK | control1::divider(divider) | control1::LONGEST_TIMEOUT;
        self.store(Register::Control1, control);
        let is_stable = |registers: &R| registers.read(Register::Control1) & control1::STABLE_CLOCK != 0;
        if !self.comes_true(CONTROLLER_US, is_stable) {
            return Err(CardError::Controller("has no stable clock"));
        }
        self.card_clock_hz = if divider == 0 { self.base_clock_hz } else { self.base_clock_hz / (2 * divider) };
        self.store(Register::Control1, control | control1::CARD_CLOCK);
        Ok(())
    }

    /// Sends a command, and transfers its data. Returns the short answer, if there is one.
    fn execute(&mut self, command: Command, argument: u32, data: Data<'_>) -> Result<u32, CardError> {
        let result = self.transfer(command, argument, data);
        if result.is_err() {
            self.recover(command);
        }
        result
    }

    /// [`Self::execute`] without what follows a failure.
    fn transfer(&mut self, command: Command, argument: u32, data: Data<'_>) -> Result<u32, CardError> {
        let has_data = !matches!(data, Data::None);
        let uses_lines = has_data || command.response == Response::ShortBusy;
        let inhibit = present::COMMAND_INHIBIT | if uses_lines { present::DATA_INHIBIT } else { 0 };
        if !self.comes_true(BLOCK_US, |registers| registers.read(Register::Status) & inhibit == 0) {
            return Err(CardError::Controller("stays busy"));
        }
        self.store(Register::Interrupt, event::ALL);
        let (count, direction) = match &data {
            Data::None => (0, 0),
            Data::Read(bytes) => (bytes.len() / BLOCK_BYTES, transfer::FROM_CARD),
            Data::Write(bytes) => (bytes.len() / BLOCK_BYTES, 0),
        };
        let mut mode = direction;
        if count > 1 {
            mode |= transfer::MULTIPLE | transfer::COUNT | transfer::AUTO_CMD12;
        }
        if has_data {
            self.store(Register::BlkSizeCnt, (count as u32) << 16 | BLOCK_BYTES as u32);
        }
        self.store(Register::Arg1, argument);
        self.store(Register::Cmdtm, command.word(has_data) | mode);
        self.wait_for(command, event::COMMAND_DONE, ANSWER_US)?;
        let answer = self.registers.read(Register::Resp0);
        if command.response == Response::Short || command.response == Response::ShortBusy {
            command.check_status(answer)?;
        }
        match data {
            Data::None => {}
            Data::Read(bytes) => {
                for block in bytes.as_chunks_mut::<BLOCK_BYTES>().0 {
                    self.wait_for(command, event::READ_READY, BLOCK_US)?;
                    for word in block.as_chunks_mut::<4>().0 {
                        *word = self.registers.read(Register::Data).to_le_bytes();
                    }
                }
            }
            Data::Write(bytes) => {
                for block in bytes.as_chunks::<BLOCK_BYTES>().0 {
                    self.wait_for(command, event::WRITE_READY, BLOCK_US)?;
                    for word in block.as_chunks::<4>().0 {
                        self.registers.write(Register::Data, u32::from_le_bytes(*word));
                    }
                }
            }
        }
        if has_data {
            self.wait_for(command, event::DATA_DONE, BLOCK_US)?;
        } else if uses_lines
            && !self.comes_true(BLOCK_US, |registers| registers.read(Register::Status) & present::DATA_INHIBIT == 0)
        {
            return Err(CardError::Unfinished { command: command.index });
        }
        Ok(answer)
    }

    /// Waits for an event, and acknowledges it.
    fn wait_for(&self, command: Command, wanted: u32, limit_us: u64) -> Result<(), CardError> {
        let end_us = self.registers.now_us() + limit_us;
        let command = command.index;
        loop {
            let events = self.registers.read(Register::Interrupt);
            if events & event::ERRORS != 0 {
                return Err(match events & event::ERRORS {
                    errors if errors & event::COMMAND_TIMEOUT != 0 => CardError::NoAnswer { command },
                    errors if errors & event::DATA_TIMEOUT != 0 => CardError::Unfinished { command },
                    errors => CardError::Damaged { command, errors: (errors >> 16) as u16 },
                });
            }
            if events & wanted != 0 {
                self.store(Register::Interrupt, wanted);
                return Ok(());
            }
            if self.registers.now_us() > end_us {
                return Err(match wanted {
                    event::COMMAND_DONE => CardError::NoAnswer { command },
                    _ => CardError::Unfinished { command },
                });
            }
        }
    }

    /// Makes controller and card ready for the next command after one that has failed.
    fn recover(&mut self, command: Command) {
        self.reset_lines();
        if command.has_data {
            // The card may still be sending or receiving. If it is not, it does not answer.
            let _ = self.transfer(Command::STOP_TRANSMISSION, 0, Data::None);
            self.reset_lines();
        }
    }

    /// Resets what sends commands and what transfers data. A controller that does not end this reset is found busy by the next command.
    fn reset_lines(&self) {
        let lines = control1::RESET_COMMAND | control1::RESET_DATA;
        self.store(Register::Control1, self.registers.read(Register::Control1) | lines);
        let _ = self.comes_true(CONTROLLER_US, |registers| registers.read(Register::Control1) & lines == 0);
    }

    /// The long answer, of 120 bits: the card's register without its lowest byte.
    fn long_answer(&self) -> [u32; 4] {
        [Register::Resp0, Register::Resp1, Register::Resp2, Register::Resp3].map(|word| self.registers.read(word))
    }

    /// Writes a register, with the pause that the controller needs.
    fn store(&self, register: Register, value: u32) {
        self.registers.write(register, value);
        match self.card_clock_hz {
            0 => self.spin_for_us(10),
            hz if hz <= SLOW_HZ => self.spin_for_us(4_000_000u64.div_ceil(u64::from(hz))),
            _ => {}
        }
    }

    /// Whether a condition comes true within `limit_us` microseconds.
    fn comes_true(&self, limit_us: u64, condition: impl Fn(&R) -> bool) -> bool {
        waiting::comes_true(|| self.registers.now_us(), limit_us, || condition(&self.registers))
    }

    fn spin_for_us(&self, time_us: u64) {
        waiting::spin_for_us(|| self.registers.now_us(), time_us);
    }
}

impl Card {
    /// The argument that addresses a block.
    const fn argument(self, block: u32) -> u32 {
        if self.is_addressed_by_blocks { block } else { block.wrapping_mul(BLOCK_BYTES as u32) }
    }
}

/// The divider for a clock of at most `hz`: the card's clock is the base clock divided by twice this number of ten bits; 0 does not divide [SDHCI 2.2.14].
const fn divider(base_hz: u32, hz: u32) -> u32 {
    if base_hz <= hz {
        return 0;
    }
    let divider = base_hz.div_ceil(2 * hz);
    if divider > 0x3ff { 0x3ff } else { divider }
}

#[cfg(test)]
mod tests;
