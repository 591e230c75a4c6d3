//! Places that a person can name: registers, rows of the VPM, words of memory; all of a vector, or one element.

use crate::qpu::isa::instruction::{DecodedInstruction, Destination};
use crate::qpu::isa::registers::{ACCUMULATORS, FILE_A, FILE_B, RegisterIndex};
use crate::qpu::lanes::Lanes;
use crate::qpu::steps::State;
use std::fmt;
use std::str::FromStr;
use v3d_hw::BusAddr;
use v3d_hw::qpu::LANES;

/// What holds values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A register: of file A, of file B, or an accumulator.
    Register(RegisterIndex),
    /// A row of the VPM.
    Vpm(u8),
    /// A word of memory.
    Memory(BusAddr),
}

/// A holder, or one of its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// What holds it.
    pub holder: Holder,
    /// The element; none for all.
    pub element: Option<u8>,
}

impl Place {
    /// Its value: of one element, that in all elements. None where there is no such thing.
    pub fn value(&self, state: &State) -> Option<Lanes> {
        let all = match self.holder {
            Holder::Register(register) => *state.registers.get(usize::from(register))?,
            Holder::Vpm(row) => *state.vpm.get(usize::from(row))?,
            Holder::Memory(address) => Lanes::splat(*state.memory.get(address.0 as usize / 4)?),
        };
        match self.element {
            Some(element) => Some(Lanes::splat(*all.0.get(usize::from(element))?)),
            None => Some(all),
        }
    }

    /// The elements, as a mask.
    pub fn mask(&self) -> u16 {
        self.element.map_or(u16::MAX, |element| 1 << (element & 15))
    }
}

/// What a word names that is no place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} names no place: a register is ra0 to ra31, rb0 to rb31 or r0 to r5, a row of the VPM vpm0 to vpm63, a word of memory 0x1000; \
         one element of 16 is r0[3]"
)]
pub struct NoPlace(String);

impl FromStr for Place {
    type Err = NoPlace;

    fn from_str(text: &str) -> Result<Self, NoPlace> {
        parse(text).ok_or_else(|| NoPlace(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<Place> {
    let (name, element) = match text.split_once('[') {
        Some((name, element)) => {
            let element: u8 = element.strip_suffix(']')?.trim().parse().ok()?;
            (name.trim(), Some(element).filter(|element| usize::from(*element) < LANES).map(Some)?)
        }
        None => (text.trim(), None),
    };
    let number = |digits: &str, count: u8| -> Option<u8> {
        let is_plain = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        digits.parse().ok().filter(|number| is_plain && *number < count)
    };
    let holder = if let Some(digits) = name.strip_prefix("0x") {
        let address = u32::from_str_radix(digits, 16).ok().filter(|address| address.is_multiple_of(4))?;
        if element.is_some() {
            return None;
        }
        Holder::Memory(BusAddr(address))
    } else if let Some(digits) = name.strip_prefix("vpm") {
        Holder::Vpm(number(digits.trim(), 64)?)
    } else if let Some(digits) = name.strip_prefix("ra") {
        Holder::Register(FILE_A + number(digits, 32)?)
    } else if let Some(digits) = name.strip_prefix("rb") {
        Holder::Register(FILE_B + number(digits, 32)?)
    } else {
        Holder::Register(ACCUMULATORS + number(name.strip_prefix('r')?, 6)?)
    };
    Some(Place { holder, element })
}

/// The name of a register that software sees.
pub fn register_name(register: RegisterIndex) -> String {
    match register {
        FILE_A..FILE_B => format!("ra{}", register - FILE_A),
        FILE_B..ACCUMULATORS => format!("rb{}", register - FILE_B),
        _ => format!("r{}", register - ACCUMULATORS),
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.holder {
            Holder::Register(register) => f.write_str(&register_name(register))?,
            Holder::Vpm(row) => write!(f, "vpm{row}")?,
            Holder::Memory(address) => write!(f, "{:#x}", address.0)?,
        }
        match self.element {
            Some(element) => write!(f, "[{element}]"),
            None => Ok(()),
        }
    }
}

/// What an instruction writes.
pub(super) fn targets(word: u64) -> impl Iterator<Item = Destination> {
    let decoded = DecodedInstruction::decode(word);
    [decoded.add.to, decoded.mul.to].into_iter()
}

/// Whether an instruction asks the special function unit for something.
pub(super) fn writes_sfu(word: u64) -> bool {
    targets(word).any(|target| matches!(target, Destination::Sfu(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_names() {
        for name in ["ra0", "ra31[15]", "rb7", "r5", "r4[0]", "vpm63[2]", "0x1000"] {
            assert_eq!(name.parse::<Place>().map(|place| place.to_string()), Ok(name.to_owned()));
        }
        for name in ["", "ra32", "r6", "rx", "r", "ra+1", "r0[16]", "r0[", "vpm64", "0x1001", "0x1000[1]", "x"] {
            assert_eq!(name.parse::<Place>(), Err(NoPlace(name.to_owned())));
        }
    }
}
