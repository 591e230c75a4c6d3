//! A controller with a card, for tests
//!
//! It has what the two specifications say of registers, commands and states, and what can go wrong.

use std::cell::{Cell, RefCell};

use super::{
    BLOCK_BYTES,
    registers::{Register, SdRegisters},
};

/// What is in the slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Nothing,
    /// A card of version 2 that is addressed by blocks.
    HighCapacity,
    /// A card of version 2 that is addressed by bytes.
    Standard,
    /// A card of version 1: it does not know CMD8.
    Version1,
    /// It does not know ACMD41.
    Mmc,
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Faults {
    /// The controller never ends a reset.
    pub(super) reset_hangs: bool,
    /// The clock never becomes stable.
    pub(super) clock_unstable: bool,
    /// The card never becomes ready.
    pub(super) never_ready: bool,
    /// The card repeats another voltage.
    pub(super) other_voltage: bool,
    /// This many blocks are damaged on the way.
    pub(super) damaged_blocks: u32,
    /// No block is ever ready to be read or written.
    pub(super) no_data: bool,
    /// The data lines stay busy after a block was written.
    pub(super) stays_busy: bool,
    /// The card is removed after this many commands.
    pub(super) commands_until_removal: Option<u32>,
    /// Blocks from this one on are protected, of a card whose CSD does not say so.
    pub(super) protected_from: Option<u32>,
    /// The CSD says that the card is protected.
    pub(super) protected: bool,
}

#[derive(Debug)]
struct State {
    registers: [u32; 64],
    /// The next command is an application command.
    application: bool,
    attempts: u32,
    /// The state of the card, 4 between transfers.
    card: u32,
    /// A transfer: block, word of the block, whether the card sends.
    transfer: Option<(u32, usize, bool)>,
    left: u32,
    commands: u32,
    /// Command numbers in the order in which they came.
    sent: Vec<u8>,
}

/// The model.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) kind: Cell<Kind>,
    pub(super) faults: Cell<Faults>,
    pub(super) blocks: RefCell<Vec<[u8; BLOCK_BYTES]>>,
    now_us: Cell<u64>,
    state: RefCell<State>,
}

/// The controller's clock.
pub(super) const BASE_HZ: u32 = 250_000_000;

const ADDRESS: u32 = 0x4567 << 16;
/// Bits of INTERRUPT.
const COMMAND_DONE: u32 = 1;
const DATA_DONE: u32 = 2;
const WRITE_READY: u32 = 0x10;
const READ_READY: u32 = 0x20;
const ERROR: u32 = 0x8000;
const COMMAND_TIMEOUT: u32 = 0x1_0000;
const DATA_CRC: u32 = 0x20_0000;

fn at(register: Register) -> usize {
    register.offset() as usize / 4
}

impl Model {
    /// A card of this kind with 4096 blocks.
    pub(super) fn new(kind: Kind) -> Self {
        let block = |number: u32| core::array::from_fn(|n| (number.wrapping_mul(7) as usize + n) as u8);
        Self {
            kind: Cell::new(kind),
            faults: Cell::default(),
            blocks: RefCell::new((0..4096).map(block).collect()),
            now_us: Cell::new(0),
            state: RefCell::new(State {
                registers: [0; 64],
                application: false,
                attempts: 0,
                card: 0,
                transfer: None,
                left: 0,
                commands: 0,
                sent: Vec::new(),
            }),
        }
    }

    pub(super) fn with(kind: Kind, faults: Faults) -> Self {
        let model = Self::new(kind);
        model.faults.set(faults);
        model
    }

    /// The commands so far.
    pub(super) fn sent(&self) -> Vec<u8> {
        self.state.borrow().sent.clone()
    }

    /// The card's clock in hertz, if it runs.
    pub(super) fn clock_hz(&self) -> Option<u32> {
        let control = self.state.borrow().registers[at(Register::Control1)];
        let divider = control >> 8 & 0xff | (control >> 6 & 3) << 8;
        (control & 5 == 5).then(|| if divider == 0 { BASE_HZ } else { BASE_HZ / (2 * divider) })
    }

    /// Whether four lines are in use.
    pub(super) fn has_four_lines(&self) -> bool {
        self.state.borrow().registers[at(Register::Control0)] & 2 != 0
    }

    fn number(&self, argument: u32) -> u32 {
        if self.kind.get() == Kind::HighCapacity { argument } else { argument / 512 }
    }

    fn event(state: &mut State, bits: u32) {
        state.registers[at(Register::Interrupt)] |= bits & state.registers[at(Register::IrptMask)];
    }

    fn status(state: &State) -> u32 {
        state.card << 9 | 1 << 8
    }

    /// The answer's words; `None` if nothing answers.
    fn command(&self, state: &mut State, index: u32, argument: u32) -> Option<[u32; 4]> {
        let (kind, faults) = (self.kind.get(), self.faults.get());
        let is_gone = faults.commands_until_removal.is_some_and(|most| state.commands > most);
        if kind == Kind::Nothing || is_gone {
            return None;
        }
        let short = |word: u32| Some([word, 0, 0, 0]);
        let application = core::mem::take(&mut state.application);
        match (index, application) {
            (0, _) => {
                (state.card, state.attempts) = (0, 0);
                None
            }
            (8, _) if kind == Kind::Version1 || kind == Kind::Mmc => None,
            (8, _) if faults.other_voltage => short(0x2aa),
            (8, _) => short(argument & 0xfff),
            (55, _) => {
                state.application = true;
                short(Self::status(state) | 1 << 5)
            }
            (41, true) if kind == Kind::Mmc => None,
            (41, true) => {
                state.attempts += 1;
                let is_ready = state.attempts > 3 && !faults.never_ready;
                let high_capacity = kind == Kind::HighCapacity && argument & 1 << 30 != 0;
                short(0x00ff_8000 | u32::from(is_ready) << 31 | u32::from(is_ready && high_capacity) << 30)
            }
            (2, _) => {
                state.card = 2;
                Some([1, 2, 3, 4])
            }
            (3, _) => {
                state.card = 3;
                short(ADDRESS | 0x500)
            }
            (9, _) if argument == ADDRESS => {
                // 4096 blocks: C_SIZE 3 of 512 KiB each, or C_SIZE 1023, C_SIZE_MULT 0, READ_BL_LEN 9.
                let csd: u128 = match kind {
                    Kind::HighCapacity => 1 << 126 | 3 << 48,
                    _ => 1023 << 62 | 9 << 80,
                };
                let csd = csd | u128::from(faults.protected) << 12;
                Some([8, 40, 72, 104].map(|bit| (csd >> bit) as u32))
            }
            (7, _) if argument == ADDRESS => {
                state.card = 4;
                short(3 << 9 | 1 << 8)
            }
            (6, true) | (16, _) => short(Self::status(state)),
            (13, _) if argument == ADDRESS => short(Self::status(state)),
            (12, _) => {
                (state.card, state.transfer) = (4, None);
                short(Self::status(state))
            }
            (17 | 18 | 24 | 25, _) if state.card == 4 => {
                let number = self.number(argument);
                let is_read = index < 20;
                let status = Self::status(state);
                if number as usize >= self.blocks.borrow().len() {
                    return short(status | 1 << 31);
                }
                if !is_read && faults.protected_from.is_some_and(|first| number >= first) {
                    return short(status | 1 << 26);
                }
                state.transfer = Some((number, 0, is_read));
                let is_multiple = index == 18 || index == 25;
                state.left = if is_multiple { state.registers[at(Register::BlkSizeCnt)] >> 16 } else { 1 };
                short(status)
            }
            _ => None,
        }
    }

    /// Has the next block ready, or ends the transfer.
    fn next_block(&self, state: &mut State) {
        let mut faults = self.faults.get();
        let Some((_, _, is_read)) = state.transfer else { return };
        if faults.no_data {
            return;
        }
        if state.left == 0 {
            (state.transfer, state.card) = (None, 4);
            if faults.stays_busy && !is_read {
                state.registers[at(Register::Status)] |= 2;
            }
            return Self::event(state, DATA_DONE);
        }
        if faults.damaged_blocks > 0 {
            faults.damaged_blocks -= 1;
            self.faults.set(faults);
            return Self::event(state, DATA_CRC | ERROR);
        }
        Self::event(state, if is_read { READ_READY } else { WRITE_READY });
    }

    /// Counts a word of the block.
    fn count_word(&self, state: &mut State, block: u32, word: usize, is_read: bool) {
        if word + 1 < BLOCK_BYTES / 4 {
            state.transfer = Some((block, word + 1, is_read));
            return;
        }
        state.transfer = Some((block + 1, 0, is_read));
        state.left -= 1;
        self.next_block(state);
    }
}

impl SdRegisters for &Model {
    fn connect(&self) -> u32 {
        BASE_HZ
    }

    fn now_us(&self) -> u64 {
        self.now_us.set(self.now_us.get() + 1);
        self.now_us.get()
    }

    fn read(&self, register: Register) -> u32 {
        self.now_us.set(self.now_us.get() + 1);
        let mut state = self.state.borrow_mut();
        if register != Register::Data {
            return state.registers[at(register)];
        }
        let Some((block, word, true)) = state.transfer else { return 0 };
        let bytes = self.blocks.borrow()[block as usize].as_chunks::<4>().0[word];
        self.count_word(&mut state, block, word, true);
        u32::from_le_bytes(bytes)
    }

    fn write(&self, register: Register, value: u32) {
        let faults = self.faults.get();
        let mut state = self.state.borrow_mut();
        match register {
            Register::Interrupt => state.registers[at(register)] &= !value,
            Register::Control1 => {
                let mut value = value;
                if value & 1 << 24 != 0 {
                    state.registers = [0; 64];
                }
                if !faults.reset_hangs {
                    value &= !(0b111 << 24);
                }
                if value & 1 != 0 && !faults.clock_unstable {
                    value |= 2;
                }
                state.registers[at(register)] = value;
            }
            Register::Data => {
                let Some((block, word, false)) = state.transfer else { return };
                self.blocks.borrow_mut()[block as usize].as_chunks_mut::<4>().0[word] = value.to_le_bytes();
                self.count_word(&mut state, block, word, false);
            }
            Register::Cmdtm => {
                let index = value >> 24 & 0x3f;
                state.sent.push(index as u8);
                state.commands += 1;
                if state.registers[at(Register::Control1)] & 5 != 5 {
                    return;
                }
                let argument = state.registers[at(Register::Arg1)];
                let answer = self.command(&mut state, index, argument);
                match answer {
                    Some(words) => state.registers[at(Register::Resp0)..=at(Register::Resp3)].copy_from_slice(&words),
                    None if value >> 16 & 3 != 0 => return Model::event(&mut state, COMMAND_TIMEOUT | ERROR),
                    None => {}
                }
                Model::event(&mut state, COMMAND_DONE);
                if value & 1 << 21 != 0 {
                    self.next_block(&mut state);
                }
            }
            _ => state.registers[at(register)] = value,
        }
    }
}
