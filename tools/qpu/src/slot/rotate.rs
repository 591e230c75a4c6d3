//! Rotation of the mul ALU's result.

use alloc::boxed::Box;
use alloc::format;

use v3d_hw::qpu::{Mux, SmallImmediate};

use super::{Outcome, Place, Refusal, Slot, immediate_value};
use crate::code::Code;
use crate::value::Rotation;

const FIRST_ROTATION: u8 = SmallImmediate::FIRST_ROTATION;

/// r0 to r3, the sources that rotate across quads.
fn rotates_fully(mux: Mux) -> bool {
    mux.code() <= Mux::R3.code()
}

impl Slot {
    /// Applies the rotation of a target: upwards by its amount.
    pub(crate) fn rotate_target(&mut self, rotation: Rotation) -> Outcome {
        match rotation {
            Rotation::None => self.no_rotation(),
            Rotation::Up(by) => self.rotate(by),
            Rotation::UpByR5 => self.rotate(0),
            Rotation::DownByR5 => {
                self.warn(Code::RotationDownByR5, "the result is rotated upwards by r5: write `<< r5`");
                self.rotate(0)
            }
        }
    }

    /// Applies the rotation of a source: taking a value from a higher element rotates it downwards.
    pub(super) fn rotate_source(&mut self, rotation: Rotation) -> Outcome {
        match rotation {
            Rotation::None => self.no_rotation(),
            Rotation::Up(by) => self.rotate(16 - by),
            Rotation::DownByR5 => self.rotate(0),
            Rotation::UpByR5 => {
                self.warn(Code::RotationDownByR5, "the result is rotated upwards by r5: write `>> r5`");
                self.rotate(0)
            }
        }
    }

    fn no_rotation(&mut self) -> Outcome {
        if !self.place.meets(Place::SOURCE_B) || !self.used_rotation.meets(Place::SOURCE_A) {
            return Ok(());
        }
        let code = self.small_immediate().unwrap_or(0);
        if rotates_fully(self.mul_b) || code & 3 != 0 || code == FIRST_ROTATION {
            self.warn(Code::RotationAppliesToOther, "the rotation of the first source also applies to the second");
        }
        Ok(())
    }

    /// Rotates upwards by 1 to 15, or by r5 with 0.
    fn rotate(&mut self, by: u8) -> Outcome {
        if self.used_rotation.meets(Place::OPERATION.or(self.place.common(Place::SOURCES))) {
            return Err(Code::SecondRotation.into());
        }
        if self.place.common(Place::BOTH) != Place::MUL && !self.try_swap_alus() {
            return Err(Code::RotationNeedsMul.into());
        }
        self.alus_fixed = true;
        let second = self.place.meets(Place::SOURCE_B);
        let mux = if second { self.mul_b } else { self.mul_a };
        if mux == Mux::R5 {
            self.warn(Code::RotationOfR5, "r5 cannot be rotated");
        }
        let mut code = FIRST_ROTATION + by;
        let full = rotates_fully(mux);
        if !full && by > 3 && by < 16 - 3 {
            self.warn(Code::RotationWithinQuads, format!("{} rotates within quads only", mux_name(mux)));
        }
        if let Some(taken) = self.small_immediate() {
            let nothing_else = second && !rotates_fully(self.mul_a) && !self.reads_file(Mux::B);
            let significant = if !full || nothing_else { 0x13 } else { 0x1f };
            let mut immediate = taken;
            if (taken ^ code) & significant != 0 {
                immediate = self.other_immediate(code, significant).ok_or_else(|| -> Box<Refusal> {
                    if taken < FIRST_ROTATION { Code::RotationConflict.into() } else { Code::SecondRotation.into() }
                })?;
            }
            if full {
                immediate = code;
            } else {
                code = immediate | 0x20;
            }
            self.raddr_b = immediate;
        }
        let unrotated = self.small_immediate().is_none_or(|immediate| immediate < FIRST_ROTATION);
        if self.place.common(Place::SOURCES) == Place::SOURCE_B
            && unrotated
            && (rotates_fully(self.mul_a) || code & 3 != 0)
        {
            self.warn(Code::RotationAppliesToOther, "the rotation of the second source also applies to the first");
        }
        self.used_rotation = self.used_rotation.or(self.place);
        self.take_small_immediate(code)
    }

    /// Replaces the add ALU's small immediate by another one that gives the same constant and is compatible with the rotation.
    fn other_immediate(&mut self, code: u8, significant: u8) -> Option<u8> {
        let only_constant =
            self.add_a == Mux::B && self.add_b == Mux::B && self.mul_a != Mux::B && self.mul_b != Mux::B;
        if !only_constant || self.sf {
            return None;
        }
        let value = self.add_constant(immediate_value(self.raddr_b))?;
        let (op, immediate) = super::recipe::recipes(value)
            .filter_map(|recipe| Some((recipe.add()?, recipe.immediate)))
            .find(|(_, immediate)| (immediate ^ code) & significant == 0)?;
        self.op_add = op;
        Some(immediate)
    }
}

fn mux_name(mux: Mux) -> &'static str {
    match mux {
        Mux::A => "register file A",
        Mux::B => "register file B",
        other => other.name(),
    }
}
