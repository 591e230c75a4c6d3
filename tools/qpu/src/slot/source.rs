//! Sources: operand multiplexers, read addresses, small immediates.

use alloc::format;

use v3d_hw::qpu::{AddOp, Mux, Signal, WriteTarget};

use super::{Form, Outcome, Place, Refusal, Slot, immediate_code};
use crate::code::Code;
use crate::value::{Access, NOP, Register, Rotation, Value};

/// First of the addresses that denote r0 to r5 in operands. The operand multiplexers have inputs for them, in this order.
const FIRST_ACCUMULATOR: u8 = WriteTarget::Accumulator(0).address();
const R5: u8 = WriteTarget::R5PerQuad.address();

impl Slot {
    /// Adds a source of an operation.
    pub(crate) fn source(&mut self, value: Value) -> Outcome {
        match value {
            Value::Register(register) => self.source_register(register),
            Value::Int(_) | Value::Float(_) | Value::Distance(_) => {
                let bits = self.take_constant(value)?;
                self.source_constant(bits)
            }
            other => Err(Refusal::new(
                Code::SourceNotUsable,
                format!("the source of an operation is a register or a small immediate, not {}", other.kind()),
            )),
        }
    }

    fn source_register(&mut self, register: Register) -> Outcome {
        let mux = self.mux_for(register)?;
        self.set_mux(mux);
        self.pack_or_unpack(register.pack)?;
        self.rotate_source(register.rotation)
    }

    fn source_constant(&mut self, mut bits: u32) -> Outcome {
        if self.place == Place::SOURCE_B.or(Place::ADD) {
            match self.op_add {
                // x + 16 is encoded as x - -16: a small immediate n serves both x + n and x - -n.
                AddOp::Add | AddOp::Sub => {
                    let negated = bits.wrapping_neg();
                    let taken = self.small_immediate_value();
                    if bits == 16 || (taken == Some(negated) && taken != Some(bits)) {
                        self.op_add = if self.op_add == AddOp::Add { AddOp::Sub } else { AddOp::Add };
                        bits = negated;
                    }
                }
                // Shifts use the low five bits of the operand only.
                AddOp::Asr | AddOp::Shl | AddOp::Shr | AddOp::Ror if immediate_code(bits).is_none() => {
                    bits = ((bits << 27) as i32 >> 27) as u32;
                }
                _ => {}
            }
        }
        let Some(code) = immediate_code(bits) else {
            return Err(Refusal::new(Code::NoSmallImmediate, format!("{bits:#x} is no small immediate")));
        };
        self.take_small_immediate(code)?;
        self.set_mux(Mux::B);
        Ok(())
    }

    /// Claims the small immediate field.
    pub(super) fn take_small_immediate(&mut self, code: u8) -> Outcome {
        match self.sig {
            Signal::SmallImmediate => {
                if self.raddr_b == code {
                    return Ok(());
                }
                // Rotation codes read as -16 to -1: a field can serve both purposes.
                if code & 16 != 0 && (self.raddr_b ^ code) & 31 == 0 {
                    self.raddr_b |= code;
                    return Ok(());
                }
                let (old, new) = (super::immediate_value(self.raddr_b), super::immediate_value(code));
                Err(Refusal::new(
                    Code::TwoImmediates,
                    format!("small immediate {:#x} does not fit beside {:#x}", new, old),
                ))
            }
            Signal::None if self.raddr_b != NOP => Err(Code::ImmediateTakesFileB.into()),
            Signal::None => {
                self.sig = Signal::SmallImmediate;
                self.raddr_b = code;
                Ok(())
            }
            _ => Err(Code::ImmediateWithSignal.into()),
        }
    }

    pub(super) fn set_mux(&mut self, mux: Mux) {
        let (a, b) =
            if self.in_mul() { (&mut self.mul_a, &mut self.mul_b) } else { (&mut self.add_a, &mut self.add_b) };
        if self.place.meets(Place::SOURCE_A) {
            *a = mux;
        }
        if self.place.meets(Place::SOURCE_B) {
            *b = mux;
        }
    }

    /// The multiplexer of the current source.
    pub(super) fn current_mux(&self) -> Mux {
        self.mux_at(self.place)
    }

    pub(super) fn mux_at(&self, place: Place) -> Mux {
        match (place.meets(Place::MUL), place.meets(Place::SOURCE_B) && !place.meets(Place::SOURCE_A)) {
            (false, false) => self.add_a,
            (false, true) => self.add_b,
            (true, false) => self.mul_a,
            (true, true) => self.mul_b,
        }
    }

    /// Chooses a multiplexer input for a register, and claims the read address behind it.
    pub(super) fn mux_for(&mut self, register: Register) -> Outcome<Mux> {
        if register.access.semaphore() {
            return Err(Code::SemaphoreSource.into());
        }
        if !register.access.has(Access::READ) {
            return match register.address {
                FIRST_ACCUMULATOR..=R5 => Ok(Mux::from_code(register.address - FIRST_ACCUMULATOR)),
                _ => Err(Code::NotReadable.into()),
            };
        }
        let Register { address, access, .. } = register;
        let immediate = self.sig == Signal::SmallImmediate || !self.is_alu();
        if access.has(Access::A) && self.file_free(Mux::A, address) {
            return Ok(self.read_through(Mux::A, register));
        }
        if access.has(Access::B) {
            if immediate {
                return Err(Code::ImmediateTakesFileB.into());
            }
            if self.file_free(Mux::B, address) {
                return Ok(self.read_through(Mux::B, register));
            }
        }
        // The port is taken, perhaps by a register that is in both files and could be read through the other one.
        let wanted = if access.has(Access::A) { Mux::A } else { Mux::B };
        let spare = if access.has(Access::A) { Mux::B } else { Mux::A };
        if !access.either_file() && self.file_free(spare, address) && self.try_swap_files() {
            return Ok(self.read_through(wanted, register));
        }
        Err(Code::ReadConflict.into())
    }

    /// Whether `address` can be read through a file: its port is free, or reads the same address.
    fn file_free(&self, mux: Mux, address: u8) -> bool {
        let taken = if mux == Mux::A { self.raddr_a } else { self.raddr_b };
        taken == address || !self.reads_file(mux)
    }

    fn read_through(&mut self, mux: Mux, register: Register) -> Mux {
        *(if mux == Mux::A { &mut self.raddr_a } else { &mut self.raddr_b }) = register.address;
        self.files_fixed |= !register.access.either_file();
        mux
    }

    /// Starts a `read` instruction.
    pub(crate) fn read_operation(&mut self) -> Outcome {
        if self.form != Form::Alu {
            return Err(Code::NotWithLoadOrBranch.into());
        }
        self.place = Place::SOURCES;
        self.start_operation();
        Ok(())
    }

    /// Sets the source of a `read`.
    pub(crate) fn read_source(&mut self, value: Value) -> Outcome {
        match value {
            Value::Register(register) => {
                if register.rotation != Rotation::None {
                    return Err(Refusal::new(Code::ReadNotHere, "a read has no rotation"));
                }
                if self.mux_for(register)?.code() < Mux::A.code() {
                    return Err(Refusal::new(Code::ReadNotHere, "accumulators are not read through a register file"));
                }
                self.pack_or_unpack(register.pack)
            }
            Value::Int(_) | Value::Float(_) | Value::Distance(_) => {
                let bits = self.take_constant(value)?;
                let code = immediate_code(bits)
                    .ok_or_else(|| Refusal::new(Code::NoSmallImmediate, format!("{bits:#x} is no small immediate")))?;
                self.take_small_immediate(code)
            }
            other => Err(Refusal::new(Code::ReadNotHere, format!("{} cannot be read", other.kind()))),
        }
    }
}

/// A number as a 32-bit word of the QPU.
pub(super) fn word_of(value: Value) -> Outcome<u32> {
    match value {
        Value::Int(value) => i32::try_from(value)
            .map(|value| value as u32)
            .or_else(|_| u32::try_from(value))
            .map_err(|_| Refusal::new(Code::NumberOutOfRange, format!("{value:#x} does not fit 32 bits"))),
        Value::Float(value) => Ok((value as f32).to_bits()),
        Value::PerElement(constant) => Ok(constant.bits),
        other => Err(Refusal::new(Code::SourceNotUsable, format!("{} is no constant", other.kind()))),
    }
}
