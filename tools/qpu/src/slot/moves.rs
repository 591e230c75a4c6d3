//! Moves and load immediates.
//!
//! The QPU has no move instruction. A register is moved by `or x, x` in the add ALU or `v8min x, x` in the mul ALU; a constant by an operation on a small
//! immediate, or by a load immediate, which is an instruction word of its own.

use alloc::format;

use v3d_hw::qpu::{AddOp, ImmediateKind, MulOp, Mux, Signal};

use super::recipe::{self, Recipe};
use super::{Form, Op, Outcome, PackMode, Place, Refusal, Slot};
use crate::code::Code;
use crate::language::mnemonic::Choice;
use crate::value::{Access, NOP, Number, Sign, Value};

/// The kind of load immediate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Load {
    /// The kind that the constant requires.
    Any,
    /// Per element, signed.
    Signed,
    /// Per element, unsigned.
    Unsigned,
    /// Semaphore acquire.
    Acquire,
    /// Semaphore release.
    Release,
}

impl Slot {
    /// Starts a move or load; `two_targets` means one for each ALU.
    pub(crate) fn move_operation(&mut self, choice: Choice, two_targets: bool) -> Outcome {
        if self.form == Form::Branch {
            return Err(Code::NotWithLoadOrBranch.into());
        }
        let load = !self.is_alu();
        let add_used = self.had_nop || self.waddr_add != NOP || !load && self.op_add != AddOp::Nop;
        let mul_used = self.waddr_mul != NOP || !load && self.op_mul != MulOp::Nop;
        let operation = |place: Place| place.or(Place::OPERATION);
        if two_targets {
            if choice != Choice::Free || add_used || mul_used {
                return Err(Code::TwoTargets.into());
            }
            self.alus_fixed = true;
            self.place = operation(Place::ADD);
            self.start_operation();
            return Ok(());
        }
        if load && choice != Choice::Free {
            return Err(Code::NotWithLoadOrBranch.into());
        }
        let mul = match choice {
            Choice::Free if !add_used => false,
            Choice::Free if !mul_used => true,
            Choice::Free => return Err(Code::BothAlusTaken.into()),
            Choice::Add => {
                if add_used && (mul_used || !self.try_swap_alus()) {
                    return Err(Code::AddAluTaken.into());
                }
                self.alus_fixed = true;
                false
            }
            Choice::Mul => {
                if mul_used && (add_used || !self.try_swap_alus()) {
                    return Err(Code::MulAluTaken.into());
                }
                self.alus_fixed = true;
                true
            }
        };
        self.place = operation(if mul { Place::MUL } else { Place::ADD });
        self.start_operation();
        Ok(())
    }

    /// The source of a move; `false` if it needs a load immediate.
    pub(crate) fn move_source(&mut self, value: Value) -> Outcome<bool> {
        match value {
            Value::Register(register) if register.access.semaphore() => Ok(false),
            Value::Register(register) => {
                if !self.is_alu() {
                    return Err(Refusal::new(
                        Code::NotWithLoadOrBranch,
                        "a register cannot be moved in the same word as a load immediate",
                    ));
                }
                let mux = self.mux_for(register)?;
                self.set_mux(mux);
                if self.in_mul() {
                    self.op_mul = MulOp::V8min;
                }
                if self.place.meets(Place::ADD) {
                    self.op_add = AddOp::Or;
                }
                self.pack_or_unpack(register.pack)?;
                self.rotate_source(register.rotation)?;
                Ok(true)
            }
            Value::Int(_) | Value::Float(_) | Value::Distance(_) => {
                let bits = self.take_constant(value)?;
                let both = self.place.common(Place::BOTH) == Place::BOTH;
                Ok(self.is_alu() && !both && self.move_constant(bits)?)
            }
            Value::PerElement(_) => Ok(false),
            Value::Label { .. } => Err(Refusal::new(
                Code::SourceNotUsable,
                "a label is an address in the code, which is known to branches only",
            )),
        }
    }

    /// Moves a constant without a load immediate, if possible.
    fn move_constant(&mut self, value: u32) -> Outcome<bool> {
        let want_mul = self.in_mul();
        if value == 0 {
            // With equal operands, the result does not depend on their value.
            if want_mul {
                (self.op_mul, self.mul_a, self.mul_b) = (MulOp::V8subs, Mux::B, Mux::B);
            } else {
                (self.op_add, self.add_a, self.add_b) = (AddOp::Xor, Mux::B, Mux::B);
            }
            return Ok(true);
        }
        match self.sig {
            Signal::None if self.raddr_b != NOP => return Err(Code::ImmediateTakesFileB.into()),
            Signal::None | Signal::SmallImmediate => {}
            _ => return Err(Code::ImmediateWithSignal.into()),
        }
        let mut other = None;
        let mut found = None;
        for recipe in recipe::recipes(value).filter(|recipe| self.recipe_fits(recipe)) {
            if recipe.is_mul() == want_mul {
                found = Some(recipe);
                break;
            }
            other.get_or_insert(recipe);
        }
        let recipe = match (found, other) {
            (Some(recipe), _) => recipe,
            (None, Some(recipe)) if self.try_swap_alus() => recipe,
            _ => return Ok(false),
        };
        self.sig = Signal::SmallImmediate;
        self.raddr_b = recipe.immediate;
        if recipe.pack.mode != 0 {
            self.pack = recipe.pack;
            self.pm = recipe.pack.number == Number::Float;
            self.pm_fixed = true;
        }
        match recipe.op {
            Op::Mul(op) => (self.op_mul, self.mul_a, self.mul_b) = (op, Mux::B, Mux::B),
            Op::Add(op) => (self.op_add, self.add_a, self.add_b) = (op, Mux::B, Mux::B),
        }
        Ok(true)
    }

    fn recipe_fits(&self, recipe: &Recipe) -> bool {
        if self.small_immediate().is_some_and(|taken| taken != recipe.immediate) {
            return false;
        }
        let PackMode { mode, number } = recipe.pack;
        if mode == 0 {
            return true;
        }
        let mul_pack = number == Number::Float;
        if self.pack.mode != 0 && (self.pack.mode != mode || self.pm != mul_pack) {
            return false;
        }
        if self.ignored_pack_bit && !mul_pack {
            return false;
        }
        if mul_pack {
            return true;
        }
        // Packs of file A change the flags, and require a register of file A as target.
        !self.sf && self.writes_file_a(self.in_mul())
    }

    /// Sets the source of a load immediate, or of a move that became one.
    pub(crate) fn load_source(&mut self, value: Value, load: Load) -> Outcome {
        let mismatch = |message: &str| Err(Refusal::new(Code::PerElementMismatch, message));
        let (kind, bits) = match (value, load) {
            (Value::Register(register), _) if register.access.semaphore() => {
                if !register.pack.is_none() {
                    return Err(Code::UnpackNotHere.into());
                }
                let acquire = register.access.has(Access::ACQUIRE);
                match load {
                    Load::Acquire if !acquire => return Err(Code::SemaphoreMismatch.into()),
                    Load::Release if acquire => return Err(Code::SemaphoreMismatch.into()),
                    Load::Signed | Load::Unsigned => return mismatch("a semaphore is no per-element constant"),
                    _ => (ImmediateKind::Semaphore, u32::from(register.address) | u32::from(acquire) << 4),
                }
            }
            (Value::PerElement(constant), _) => {
                let kind = match (load, constant.sign) {
                    (Load::Acquire | Load::Release, _) => return mismatch("a semaphore has a number, not 16"),
                    (Load::Unsigned, Sign::Signed) => return mismatch("the elements are negative"),
                    (Load::Signed, Sign::Unsigned) => return mismatch("the elements are above 1"),
                    (Load::Unsigned, _) | (Load::Any, Sign::Unsigned) => ImmediateKind::PerElementUnsigned,
                    _ => ImmediateKind::PerElementSigned,
                };
                (kind, constant.bits)
            }
            (Value::Float(_), Load::Signed | Load::Unsigned) => {
                return mismatch("a float cannot be loaded per element");
            }
            (Value::Int(_) | Value::Float(_) | Value::Distance(_), _) => {
                let bits = self.take_constant(value)?;
                match load {
                    Load::Any => (ImmediateKind::Word, bits),
                    Load::Signed => (ImmediateKind::PerElementSigned, bits),
                    Load::Unsigned => (ImmediateKind::PerElementUnsigned, bits),
                    Load::Acquire => (ImmediateKind::Semaphore, bits | 16),
                    Load::Release if bits & 16 != 0 => {
                        return Err(Refusal::new(
                            Code::SemaphoreMismatch,
                            "bit 4 of the number would make it an acquire",
                        ));
                    }
                    Load::Release => (ImmediateKind::Semaphore, bits),
                }
            }
            (other, _) => {
                return Err(Refusal::new(
                    Code::SourceNotUsable,
                    format!("a constant or semaphore is wanted here, not {}", other.kind()),
                ));
            }
        };
        match self.form {
            Form::Load(taken) => {
                if taken != kind || self.immediate != bits {
                    return Err(Refusal::new(
                        Code::TwoImmediates,
                        format!("{bits:#x} does not fit beside {:#x} in one word", self.immediate),
                    ));
                }
            }
            Form::Branch => return Err(Code::NotWithLoadOrBranch.into()),
            Form::Alu => {
                if self.sig == Signal::SmallImmediate {
                    return Err(Refusal::new(
                        Code::TwoImmediates,
                        "the value needs a load immediate, but the word has a small immediate already",
                    ));
                }
                if self.sig != Signal::None {
                    return Err(Code::ImmediateWithSignal.into());
                }
                if self.op_add != AddOp::Nop || self.op_mul != MulOp::Nop {
                    return Err(Refusal::new(
                        Code::NotWithLoadOrBranch,
                        format!("{bits:#x} needs a load immediate, which cannot share a word with ALU operations"),
                    ));
                }
            }
        }
        self.form = Form::Load(kind);
        self.sig = Signal::LoadImmediate;
        self.immediate = bits;
        Ok(())
    }
}
