//! Unpacking sources.
//!
//! The unpackers are at the read port of register file A and at r4: whatever an instruction reads there is unpacked, for both ALUs. For file A the operation
//! that uses the value determines whether the result is a float or an integer [AG p.31-32].

use v3d_hw::qpu::address_map::is_register;
use v3d_hw::qpu::{AddOp, Mux};

use super::{Outcome, Place, Refusal, Slot, UnpackMode};
use crate::code::Code;
use crate::value::Number;

/// Whether and how a multiplexer input can be unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unpacker {
    /// It cannot be unpacked.
    None,
    /// File A, but the operation requires the other number type.
    WrongNumber,
    /// Possible, with this `pm`.
    Pm(bool),
}

/// The unpacker that a mode requires, as the value of `pm`; `None` if both have it.
fn unpacker(unpack: UnpackMode) -> Option<bool> {
    (!matches!(unpack.mode, 0 | 3) && unpack.number == Number::Int).then_some(false)
}

/// Combines two requirements; `None` if they contradict each other.
fn join(wish: Option<bool>, unpacker: Unpacker) -> Option<bool> {
    match (wish, unpacker) {
        (None, Unpacker::Pm(pm)) => Some(pm),
        (Some(wish), Unpacker::Pm(pm)) if wish == pm => Some(pm),
        _ => None,
    }
}

impl Slot {
    fn takes_floats(&self, mul: bool) -> bool {
        if mul { self.op_mul.takes_floats() } else { self.op_add.takes_floats() }
    }

    fn unpacker_of(&self, mux: Mux, unpack: UnpackMode) -> Unpacker {
        match mux {
            Mux::R4 => Unpacker::Pm(true),
            Mux::A if is_register(self.raddr_a) => {
                let float = self.takes_floats(false) || self.takes_floats(true);
                let wrong =
                    unpack.number != Number::Any && unpack.mode != 3 && float != (unpack.number == Number::Float);
                if wrong { Unpacker::WrongNumber } else { Unpacker::Pm(false) }
            }
            _ => Unpacker::None,
        }
    }

    fn is_unpacked(&self, mux: Mux) -> bool {
        self.unpacker_of(mux, self.unpack) == Unpacker::Pm(self.pm)
    }

    pub(super) fn apply_unpack(&mut self, unpack: UnpackMode) -> Outcome {
        if unpack.mode == 0 {
            return self.no_unpack();
        }
        if !self.is_alu() {
            return Err(Code::UnpackNotHere.into());
        }
        if self.used_unpack.meets(Place::OPERATION.or(self.place.common(Place::SOURCES))) {
            return Err(Code::SecondUnpack.into());
        }
        let mut pm = unpacker(unpack);
        if self.place.meets(Place::SOURCES) && self.place.meets(Place::BOTH) {
            match self.unpacker_of(self.current_mux(), unpack) {
                Unpacker::None => return Err(Code::UnpackNotHere.into()),
                Unpacker::WrongNumber => {
                    // A move by the add ALU can be encoded as a move of floats.
                    let whole_move = self.place.common(Place::SOURCES) == Place::SOURCES;
                    let possible = unpack.number == Number::Float
                        && whole_move
                        && (self.place.meets(Place::ADD) || self.try_swap_alus())
                        && self.op_add == AddOp::Or;
                    if !possible {
                        return Err(Code::UnpackNumber.into());
                    }
                    self.op_add = AddOp::Fmin;
                    pm = Some(false);
                }
                Unpacker::Pm(available) => {
                    if pm == Some(!available) {
                        return Err(Code::UnpackNumber.into());
                    }
                    pm = Some(available);
                }
            }
        }
        if let Some(pm) = pm {
            self.choose_pm(pm)?;
        }
        if self.unpack.mode != 0 && self.unpack.mode != unpack.mode {
            return Err(Refusal::new(Code::PackVersusUnpack, "two different unpacks in one instruction"));
        }
        self.unpack = unpack;
        self.used_unpack = self.used_unpack.or(self.place);
        if self.place.meets(Place::SOURCE_B)
            && !self.used_unpack.meets(Place::OPERATION.or(Place::SOURCE_A))
            && self.is_unpacked(self.mux_at(self.place.without(Place::SOURCE_B).or(Place::SOURCE_A)))
        {
            self.warn(Code::UnpackAppliesToOther, "the unpack of the second source also applies to the first");
        }
        Ok(())
    }

    /// Makes sure that a source without a suffix is not unpacked.
    fn no_unpack(&mut self) -> Outcome {
        if !self.is_alu()
            || !self.place.meets(Place::SOURCES)
            || !self.place.meets(Place::BOTH)
            || self.used_unpack.meets(Place::OPERATION)
        {
            return Ok(());
        }
        let other_alu = Place::BOTH.without(self.place);
        if self.used_unpack.meets(other_alu) && self.is_unpacked(self.current_mux()) {
            return Err(Refusal::new(
                Code::UnpackAppliesToOther,
                "the unpack of the other ALU's source also applies to this one",
            ));
        }
        if self.place.meets(Place::SOURCE_B)
            && self.used_unpack.meets(Place::SOURCE_A)
            && self.is_unpacked(self.current_mux())
        {
            self.warn(Code::UnpackAppliesToOther, "the unpack of the first source also applies to the second");
        }
        Ok(())
    }

    /// Final checks of an operation.
    pub(crate) fn end_operation(&mut self) -> Outcome {
        if !self.is_alu() {
            return Ok(());
        }
        let mul = self.in_mul();
        if self.used_unpack.meets(Place::OPERATION) {
            let wish = unpacker(self.unpack);
            let (first, second) = if mul {
                (self.unpacker_of(self.mul_a, self.unpack), self.unpacker_of(self.mul_b, self.unpack))
            } else {
                (self.unpacker_of(self.add_a, self.unpack), self.unpacker_of(self.add_b, self.unpack))
            };
            let one_source = !mul && self.op_add.is_unary();
            let first = join(wish, first);
            let second = if one_source { None } else { join(wish, second) };
            match (first, second) {
                (None, None) => self.warn(Code::UnpackUnused, "the unpack applies to no source"),
                (Some(a), Some(b)) if a != b => return Err(Code::UnpackAmbiguous.into()),
                (Some(pm), _) | (None, Some(pm)) => self.choose_pm(pm)?,
            }
        }
        let used = self.used_unpack.common(Place::BOTH);
        let refuse = |message: &str| Err(Refusal::new(Code::UnpackAppliesToOther, message));
        let integers_here = self.unpack.mode != 3 && !self.pm;
        match self.place.common(Place::BOTH) {
            Place::ADD if self.mul_used() => {
                if used == Place::ADD && (self.is_unpacked(self.mul_a) || self.is_unpacked(self.mul_b)) {
                    return refuse("the unpack also applies to the mul operation");
                }
                if used.meets(Place::MUL) && integers_here && self.takes_floats(false) && !self.takes_floats(true) {
                    return refuse("this operation on floats changes the unpack of the mul operation");
                }
            }
            Place::MUL if self.add_used() => {
                let second = !self.op_add.is_unary() && self.is_unpacked(self.add_b);
                if used == Place::MUL && (self.is_unpacked(self.add_a) || second) {
                    return refuse("the unpack also applies to the add operation");
                }
                if used.meets(Place::ADD) && integers_here && !self.takes_floats(false) && self.takes_floats(true) {
                    return refuse("this operation on floats changes the unpack of the add operation");
                }
            }
            _ => {}
        }
        Ok(())
    }
}
