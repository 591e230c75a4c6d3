//! The controller's registers and their bits
//!
//! # Sources
//! BCM2835 ARM Peripherals, chapter 5, whose names the registers have; SD Host Controller Simplified Specification 3.00 for the supply voltage and the
//! presence of clock and lines, which the former does not describe.

/// A register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Register {
    /// BLKSIZECNT: bytes of a block, and above them the number of blocks.
    BlkSizeCnt = 0x04,
    /// ARG1: the command's argument.
    Arg1 = 0x08,
    /// CMDTM: transfer mode and command; a write sends it.
    Cmdtm = 0x0c,
    /// RESP0: the short answer, or bits 39 to 8 of a long one.
    Resp0 = 0x10,
    /// RESP1: bits 71 to 40.
    Resp1 = 0x14,
    /// RESP2: bits 103 to 72.
    Resp2 = 0x18,
    /// RESP3: bits 127 to 104.
    Resp3 = 0x1c,
    /// DATA: the next word of the block.
    Data = 0x20,
    /// STATUS: what the lines are doing.
    Status = 0x24,
    /// CONTROL0: lines and voltage.
    Control0 = 0x28,
    /// CONTROL1: clock, time limits, resets.
    Control1 = 0x2c,
    /// INTERRUPT: events since they were last acknowledged, by a write of their bits.
    Interrupt = 0x30,
    /// IRPT_MASK: the events that are shown in INTERRUPT.
    IrptMask = 0x34,
    /// IRPT_EN: the events that raise an interrupt.
    IrptEn = 0x38,
}

impl Register {
    /// Its offset from the controller's first register, in bytes.
    #[must_use]
    pub const fn offset(self) -> u32 {
        self as u32
    }
}

/// Access to the registers, and a clock.
pub trait SdRegisters {
    /// Connects the controller with the card's pins, switches its clock on, and returns that clock's rate in hertz. Called before a card is identified.
    fn connect(&self) -> u32;

    /// A time in microseconds.
    fn now_us(&self) -> u64;

    /// The register's value. Reading [`Register::Data`] takes the next word.
    fn read(&self, register: Register) -> u32;

    /// Writes the register.
    fn write(&self, register: Register, value: u32);
}

/// Bits of STATUS.
pub(crate) mod present {
    /// A command is being sent, or its answer is awaited.
    pub(crate) const COMMAND_INHIBIT: u32 = 1 << 0;
    /// The data lines are in use, or the card is busy.
    pub(crate) const DATA_INHIBIT: u32 = 1 << 1;
}

/// Bits of CONTROL0.
pub(crate) mod control0 {
    /// Four data lines.
    pub(crate) const FOUR_LINES: u32 = 1 << 1;
    /// Power at 3.3 V, as the host specification has it [SDHCI 2.2.11].
    pub(crate) const POWER_3V3: u32 = 0b1111 << 8;
}

/// Bits of CONTROL1.
pub(crate) mod control1 {
    /// The controller's own clock.
    pub(crate) const INTERNAL_CLOCK: u32 = 1 << 0;
    /// It is stable.
    pub(crate) const STABLE_CLOCK: u32 = 1 << 1;
    /// The card's clock.
    pub(crate) const CARD_CLOCK: u32 = 1 << 2;
    /// 2^27 cycles until a transfer has failed, the most there are.
    pub(crate) const LONGEST_TIMEOUT: u32 = 0b1110 << 16;
    /// Resets everything.
    pub(crate) const RESET_ALL: u32 = 1 << 24;
    /// Resets what sends commands.
    pub(crate) const RESET_COMMAND: u32 = 1 << 25;
    /// Resets what transfers data.
    pub(crate) const RESET_DATA: u32 = 1 << 26;

    /// The field of a divider of ten bits: its upper two are below its lower eight.
    pub(crate) const fn divider(divider: u32) -> u32 {
        (divider & 0xff) << 8 | (divider >> 8 & 0b11) << 6
    }
}

/// Bits of INTERRUPT.
pub(crate) mod event {
    /// The command has been sent, and answered if it has an answer.
    pub(crate) const COMMAND_DONE: u32 = 1 << 0;
    /// All data are transferred.
    pub(crate) const DATA_DONE: u32 = 1 << 1;
    /// There is room for a block.
    pub(crate) const WRITE_READY: u32 = 1 << 4;
    /// A block can be read.
    pub(crate) const READ_READY: u32 = 1 << 5;
    /// No answer in 64 cycles.
    pub(crate) const COMMAND_TIMEOUT: u32 = 1 << 16;
    /// No data in time.
    pub(crate) const DATA_TIMEOUT: u32 = 1 << 20;
    /// All errors.
    pub(crate) const ERRORS: u32 = 0xffff_0000;
    /// All events.
    pub(crate) const ALL: u32 = 0xffff_ffff;
}

/// The transfer mode in CMDTM.
pub(crate) mod transfer {
    /// Counts blocks.
    pub(crate) const COUNT: u32 = 1 << 1;
    /// Sends CMD12 after the last block.
    pub(crate) const AUTO_CMD12: u32 = 0b01 << 2;
    /// From the card to the host.
    pub(crate) const FROM_CARD: u32 = 1 << 4;
    /// More than one block.
    pub(crate) const MULTIPLE: u32 = 1 << 5;
}
