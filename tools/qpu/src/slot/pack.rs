//! Packing results.
//!
//! There are two packers: one at the write port of register file A, for whichever ALU writes there, and one at the output of the mul ALU, which converts
//! floats to bytes. The bit `pm` selects one of them, together with an unpacker [AG p.30-32].

use v3d_hw::qpu::address_map::is_register;

use super::{Outcome, PackMode, Place, Slot};
use crate::code::Code;
use crate::value::{Direction, Number, PackSuffix};

/// The packer that a mode requires, as the value of `pm`; `None` if both have it.
fn packer(pack: PackMode) -> Option<bool> {
    match (pack.mode, pack.number) {
        (0, _) => None,
        (8, _) | (_, Number::Int) => Some(false),
        (mode, _) if mode & 7 < 3 => Some(false),
        (_, Number::Float) => Some(true),
        _ => None,
    }
}

impl Slot {
    /// Applies a suffix of the mnemonic or of the current operand.
    pub(crate) fn pack_or_unpack(&mut self, suffix: PackSuffix) -> Outcome {
        match suffix.direction {
            Direction::Unpack if self.place.meets(Place::TARGET) => Err(Code::UnpackNotHere.into()),
            Direction::Unpack => self.apply_unpack(suffix.as_unpack()),
            Direction::Pack if self.place.meets(Place::SOURCES) => Err(Code::PackNotHere.into()),
            Direction::Pack => self.apply_pack(suffix.as_pack()),
            Direction::ByPlace if self.place.meets(Place::SOURCES) => {
                if self.is_alu() {
                    self.apply_unpack(suffix.as_unpack())
                } else {
                    Ok(())
                }
            }
            Direction::ByPlace if self.place.meets(Place::TARGET) => {
                if self.form == super::Form::Branch && suffix.is_none() {
                    return Ok(());
                }
                self.apply_pack(suffix.as_pack())
            }
            Direction::ByPlace => Ok(()),
        }
    }

    /// Sets `pm` explicitly: words of other assemblers have it set without a pack, or together with the bit of the pack field that is ignored then.
    pub(crate) fn select_mul_pack(&mut self, ignored_bit: bool) -> Outcome {
        if self.form == super::Form::Branch {
            return Err(Code::PackNotHere.into());
        }
        self.choose_pm(true)?;
        self.ignored_pack_bit |= ignored_bit;
        Ok(())
    }

    /// Decides `pm`; an error if it was decided otherwise before.
    pub(super) fn choose_pm(&mut self, pm: bool) -> Outcome {
        if !self.pm_fixed {
            self.pm = pm;
            self.pm_fixed = true;
        } else if self.pm != pm {
            return Err(Code::PackVersusUnpack.into());
        }
        Ok(())
    }

    /// Checks a pack of the mnemonic, once the target is known.
    pub(super) fn check_pack_of_operation(&mut self, mul: bool) -> Outcome {
        let asked = self.used_pack.meets(Place::OPERATION)
            && self.used_pack.common(Place::BOTH) == self.place.common(Place::BOTH);
        if asked && packer(self.pack).is_none() {
            self.used_pack = self.used_pack.without(Place::OPERATION);
            return self.resolve_pack(self.pack);
        }
        let mine = self.is_alu() || matches!(self.form, super::Form::Load(_));
        if mine && self.pack.mode != 0 && self.pm == mul && (mul || !self.ws) {
            if !mul {
                return if is_register(self.waddr_add) { Ok(()) } else { Err(Code::PackNotHere.into()) };
            }
            if self.ws && is_register(self.waddr_mul) && !self.pm_fixed {
                self.pm = false;
            } else if self.pack.mode < 11 {
                return Err(Code::PackNumber.into());
            }
        }
        Ok(())
    }

    fn apply_pack(&mut self, pack: PackMode) -> Outcome {
        if pack.mode == 0 {
            return Ok(());
        }
        if self.form == super::Form::Branch {
            return Err(Code::PackNotHere.into());
        }
        if self.pack.mode != 0 {
            return Err(Code::SecondPack.into());
        }
        self.used_pack = self.used_pack.or(self.place);
        self.resolve_pack(pack)
    }

    fn resolve_pack(&mut self, pack: PackMode) -> Outcome {
        let at_target = self.place.meets(Place::TARGET);
        match packer(pack) {
            Some(true) => {
                if !self.in_mul() && !self.try_swap_alus() {
                    return Err(Code::PackNotHere.into());
                }
                self.choose_pm(true)?;
            }
            Some(false) => self.choose_pm(false)?,
            None if !at_target => {}
            None => {
                let mul = self.in_mul();
                let to_file_a = self.writes_file_a(mul);
                let unpacks = self.unpack.mode != 0;
                // An unpack has decided `pm`.
                if !(unpacks && (mul || to_file_a)) {
                    if !mul && !to_file_a && !self.try_swap_alus() {
                        return Err(Code::PackNotHere.into());
                    }
                    self.choose_pm(!to_file_a)?;
                }
            }
        }
        if at_target && !self.pm {
            if !self.writes_file_a(self.in_mul()) {
                return Err(Code::PackNotHere.into());
            }
            // The meaning of 16-bit modes depends on whether the result is a float.
            if self.is_alu() && pack.number != Number::Any && matches!(pack.mode, 1 | 2) {
                let float = self.float_result(self.in_mul());
                if float != (pack.number == Number::Float) {
                    return Err(Code::PackNumber.into());
                }
            }
        }
        self.pack = pack;
        Ok(())
    }
}
