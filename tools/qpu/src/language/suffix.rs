//! Suffixes of mnemonics and operands: words after a dot.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use v3d_hw::qpu::{BranchCondition, Condition};

use crate::value::{Direction, Number, PackSuffix};

/// The places at which a suffix is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places(pub u8);

impl Places {
    /// After a mnemonic.
    pub const MNEMONIC: u8 = 1;
    /// After a target operand.
    pub const TARGET: u8 = 2;
    /// After a source operand.
    pub const SOURCE: u8 = 4;
    /// After a register in an expression that is not an operand.
    pub const EXPRESSION: u8 = 8;
}

/// What a suffix does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Sets the write condition.
    Condition(Condition),
    /// Sets the branch condition.
    Branch(BranchCondition),
    /// Sets the flags.
    SetFlags,
    /// Packs or unpacks.
    Pack(PackSuffix),
    /// Rotates: takes an operand.
    Rotate,
    /// Sets `pm` without packing or unpacking anything.
    SelectMulPack {
        /// Also sets the bit of the pack field that the mul ALU ignores.
        ignored_bit: bool,
    },
}

/// A suffix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suffix {
    /// Its effect.
    pub action: Action,
    /// The places at which it is allowed.
    pub places: Places,
}

/// Names of the pack modes, with the number types that each can have: code, name, integer form, float form.
const MODES: &[(u8, &str)] = &[
    (0, "32"),
    (1, "16a"),
    (2, "16b"),
    (3, "8abcd"),
    (3, "8888"),
    (4, "8a"),
    (5, "8b"),
    (6, "8c"),
    (7, "8d"),
    (8, "32s"),
    (9, "16as"),
    (10, "16bs"),
    (11, "8abcds"),
    (11, "8888s"),
    (12, "8as"),
    (13, "8bs"),
    (14, "8cs"),
    (15, "8ds"),
];

/// Further spellings of pack modes, from the vendor's assembler.
const CLAMPED: &[(u8, &str, Number)] = &[
    (8, "32clamp", Number::Int),
    (9, "16aclamp", Number::Int),
    (10, "16bclamp", Number::Int),
    (12, "8aclamp", Number::Any),
    (13, "8bclamp", Number::Any),
    (14, "8cclamp", Number::Any),
    (15, "8dclamp", Number::Any),
    (11, "8ddupeclamp", Number::Any),
];

/// Names of conditions.
const CONDITIONS: &[(&str, Condition)] = &[
    ("z", Condition::ZSet),
    ("zs", Condition::ZSet),
    ("nz", Condition::ZClear),
    ("zc", Condition::ZClear),
    ("n", Condition::NSet),
    ("ns", Condition::NSet),
    ("nn", Condition::NClear),
    ("nc", Condition::NClear),
    ("c", Condition::CSet),
    ("cs", Condition::CSet),
    ("cc", Condition::CClear),
];

/// All suffixes. If a name occurs more than once, the first one counts.
pub fn all() -> Vec<(String, Suffix)> {
    const OPERAND: u8 = Places::EXPRESSION | Places::SOURCE | Places::TARGET;
    const PACKED: u8 = Places::EXPRESSION | Places::TARGET;
    const UNPACKED: u8 = Places::EXPRESSION | Places::SOURCE;
    let mut suffixes = Vec::new();
    let mut add = |name: String, action: Action, places: u8| {
        suffixes.push((name, Suffix { action, places: Places(places) }));
    };
    for &(name, condition) in CONDITIONS {
        add(format!("if{name}"), Action::Condition(condition), Places::MNEMONIC | Places::TARGET);
        add(name.to_owned(), Action::Condition(condition), Places::TARGET);
    }
    for (name, condition) in [("never", Condition::Never), ("always", Condition::Always)] {
        add(name.to_owned(), Action::Condition(condition), Places::MNEMONIC | Places::TARGET);
    }
    for &condition in BranchCondition::ALL {
        add(condition.name().to_owned(), Action::Branch(condition), Places::MNEMONIC);
    }
    for name in ["setf", "sf"] {
        add(name.to_owned(), Action::SetFlags, Places::MNEMONIC | Places::TARGET);
    }
    add("pm".to_owned(), Action::SelectMulPack { ignored_bit: false }, Places::MNEMONIC);
    add("pm8".to_owned(), Action::SelectMulPack { ignored_bit: true }, Places::MNEMONIC);
    add("rot".to_owned(), Action::Rotate, Places::MNEMONIC | Places::TARGET);
    for (ending, number) in [("", Number::Any), ("i", Number::Int), ("f", Number::Float)] {
        for &(mode, name) in MODES {
            let sixteen = matches!(mode & 7, 1 | 2);
            let replicated = mode & 7 == 3;
            let saturated = mode >= 8;
            // On floats: 16-bit modes and, in the mul ALU, 8-bit modes, which always saturate. Unpacked bytes become floats.
            let float_pack = number != Number::Float || (sixteen && !saturated) || (saturated && mode & 7 >= 3);
            let float_unpack = number != Number::Float || (mode != 8 && !replicated);
            if mode == 0 && number != Number::Any {
                continue;
            }
            let number = if mode == 8 { Number::Int } else { number };
            let suffix = |direction| Action::Pack(PackSuffix { mode, number, direction });
            if number == Number::Float && !float_pack {
                // `.8af` is an unpack, even at a target.
                if float_unpack && !saturated {
                    add(format!("{name}f"), suffix(Direction::Unpack), OPERAND);
                    add(format!("unpack{name}f"), suffix(Direction::Unpack), UNPACKED | Places::MNEMONIC);
                }
                continue;
            }
            if float_pack {
                let direction = match mode {
                    3 | 8 | 11 => Direction::Pack,
                    9.. if number == Number::Any => Direction::Pack,
                    _ => Direction::ByPlace,
                };
                let places = if mode == 3 || saturated { PACKED } else { OPERAND };
                add(format!("{name}{ending}"), suffix(direction), places);
                add(format!("pack{name}{ending}"), suffix(Direction::Pack), PACKED | Places::MNEMONIC);
            }
            if float_unpack && !saturated && !replicated {
                add(format!("unpack{name}{ending}"), suffix(Direction::Unpack), UNPACKED | Places::MNEMONIC);
            }
        }
    }
    for &(mode, name, number) in CLAMPED {
        let action = Action::Pack(PackSuffix { mode, number, direction: Direction::Pack });
        add(name.to_owned(), action, PACKED);
        add(format!("pack{name}"), action, PACKED | Places::MNEMONIC);
    }
    // Unpacking can replicate byte 3; the vendor's word for it also packs.
    let replicate = |direction| Action::Pack(PackSuffix { mode: 3, number: Number::Any, direction });
    add("8dr".to_owned(), replicate(Direction::Unpack), UNPACKED);
    add("unpack8dr".to_owned(), replicate(Direction::Unpack), UNPACKED | Places::MNEMONIC);
    add("8ddupe".to_owned(), replicate(Direction::ByPlace), OPERAND);
    add("pack8ddupe".to_owned(), replicate(Direction::Pack), PACKED | Places::MNEMONIC);
    add("unpack8ddupe".to_owned(), replicate(Direction::Unpack), UNPACKED | Places::MNEMONIC);
    suffixes
}
