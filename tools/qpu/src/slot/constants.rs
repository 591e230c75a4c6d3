//! The constants of a word, and whether one of them follows the labels.
//!
//! All operands of a word share its immediate. A distance between labels can be computed again after code has moved only if no other constant uses that field,
//! and only in the 32 bits of a load immediate or branch: a small immediate is chosen by value, sometimes together with another operation.

use v3d_hw::qpu::ImmediateKind;

use super::source::word_of;
use super::{Form, Outcome, Slot};
use crate::value::{Distance, Value};

/// The constants that the operands of a word have named so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Constants {
    /// None.
    #[default]
    None,
    /// Numbers only.
    Numbers,
    /// One distance between labels, perhaps several times.
    Distance(Distance),
    /// A distance and another constant.
    Mixed,
}

impl Slot {
    /// Notes a constant operand; returns its 32-bit word.
    pub(super) fn take_constant(&mut self, value: Value) -> Outcome<u32> {
        self.constants = match (self.constants, value) {
            (Constants::None, Value::Distance(distance)) => Constants::Distance(distance),
            (Constants::Distance(taken), Value::Distance(distance)) if taken == distance => self.constants,
            (Constants::None | Constants::Numbers, value) if !matches!(value, Value::Distance(_)) => Constants::Numbers,
            _ => Constants::Mixed,
        };
        match value {
            Value::Distance(distance) => word_of(Value::Int(distance.bytes)),
            value => word_of(value),
        }
    }

    /// The distance that the low 32 bits of the finished word consist of.
    pub(crate) fn distance(&self) -> Option<Distance> {
        match (self.constants, self.form) {
            (Constants::Distance(distance), Form::Load(ImmediateKind::Word) | Form::Branch) => Some(distance),
            _ => None,
        }
    }

    /// Whether the finished word depends on a distance between labels in another way.
    pub(crate) fn hides_distance(&self) -> bool {
        matches!(self.constants, Constants::Distance(_) | Constants::Mixed) && self.distance().is_none()
    }
}
