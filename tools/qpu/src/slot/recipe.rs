//! Operations on two equal small immediates that make a constant.
//!
//! The 64 small immediates, the operations of both ALUs and the packs that write a whole word make a few hundred constants, which need no load immediate and
//! so leave the other ALU free.

use alloc::boxed::Box;
use alloc::vec::Vec;
use once_cell::race::OnceBox;

use v3d_hw::qpu::{AddOp, MulOp, SmallImmediate};

use super::constant::{add_result, mul_result, packed};
use super::{Op, PackMode, immediate_value};
use crate::value::Number;

/// One way to make a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Recipe {
    pub(super) value: u32,
    pub(super) op: Op,
    pub(super) immediate: u8,
    /// The pack that is required; [`Number::Float`] means the mul ALU's.
    pub(super) pack: PackMode,
}

impl Recipe {
    /// The add operation, if it requires no pack.
    pub(super) fn add(&self) -> Option<AddOp> {
        match self.op {
            Op::Add(op) if self.pack.mode == 0 => Some(op),
            _ => None,
        }
    }

    /// Whether it is an operation of the mul ALU.
    pub(super) fn is_mul(&self) -> bool {
        matches!(self.op, Op::Mul(_))
    }
}

/// Operations in the order of preference.
const OPS: &[Op] = &[
    Op::Add(AddOp::Or),
    Op::Add(AddOp::Add),
    Op::Add(AddOp::V8adds),
    Op::Add(AddOp::Itof),
    Op::Add(AddOp::Fadd),
    Op::Add(AddOp::Fsub),
    Op::Add(AddOp::Ftoi),
    Op::Add(AddOp::Not),
    Op::Add(AddOp::Shl),
    Op::Add(AddOp::Shr),
    Op::Add(AddOp::Ror),
    Op::Add(AddOp::Clz),
    Op::Mul(MulOp::V8min),
    Op::Mul(MulOp::Mul24),
    Op::Mul(MulOp::V8adds),
    Op::Mul(MulOp::Fmul),
    Op::Mul(MulOp::V8muld),
];

/// Packs that write the whole word, after none.
const PACKS: &[PackMode] = &[
    PackMode { mode: 0, number: Number::Any },
    PackMode { mode: 3, number: Number::Int },
    PackMode { mode: 11, number: Number::Float },
    PackMode { mode: 11, number: Number::Int },
];

/// All recipes, sorted by value and then by preference.
static RECIPES: OnceBox<Recipes> = OnceBox::new();

/// Recipes, sorted by value and then by preference.
struct Recipes(Vec<Recipe>);

fn all() -> Box<Recipes> {
    let mut recipes = Vec::new();
    for &pack in PACKS {
        let mul_pack = pack.number == Number::Float;
        for immediates in [0..SmallImmediate::FIRST_ROTATION, SmallImmediate::FIRST_ROTATION..64] {
            for &op in OPS {
                for immediate in immediates.clone() {
                    let operand = immediate_value(immediate);
                    let result = match op {
                        Op::Add(_) if mul_pack => None,
                        Op::Add(op) => add_result(op, operand),
                        // Rotation codes rotate the mul ALU's result, which does not change a value that is the same in all elements.
                        Op::Mul(op) => mul_result(op, operand),
                    };
                    if let Some(value) = result.and_then(|result| packed(pack, mul_pack, result)) {
                        recipes.push(Recipe { value, op, immediate, pack });
                    }
                }
            }
        }
    }
    recipes.sort_by_key(|recipe| recipe.value);
    Box::new(Recipes(recipes))
}

/// The recipes for `value`, best first.
pub(super) fn recipes(value: u32) -> impl Iterator<Item = &'static Recipe> {
    let Recipes(recipes) = RECIPES.get_or_init(all);
    let start = recipes.partition_point(|recipe| recipe.value < value);
    recipes[start..].iter().take_while(move |recipe| recipe.value == value)
}
