//! Branches.

use alloc::format;

use v3d_hw::qpu::address_map::is_register;
use v3d_hw::qpu::{AddOp, BranchCondition, MulOp, Signal};

use super::{Form, Outcome, Place, Refusal, Slot};
use crate::code::Code;
use crate::value::{Access, NOP, Rotation, Value};

impl Slot {
    /// Starts a branch.
    pub(crate) fn branch_operation(&mut self, relative: bool) -> Outcome {
        let empty = self.is_alu()
            && self.op_add == AddOp::Nop
            && self.op_mul == MulOp::Nop
            && self.sig == Signal::None
            && self.raddr_a == NOP
            && self.raddr_b == NOP
            && !self.add_used()
            && !self.mul_used();
        if !empty {
            return Err(Code::BranchNotAlone.into());
        }
        self.form = Form::Branch;
        self.sig = Signal::Branch;
        self.cond_br = BranchCondition::Always;
        self.relative = relative;
        self.raddr_a = 0;
        self.place = Place::OPERATION.or(Place::ADD);
        self.start_operation();
        Ok(())
    }

    /// A target of the branch: a label, a number, a register, or `-`.
    pub(crate) fn branch_target(&mut self, value: Value) -> Outcome {
        let number_taken = self.label.is_some() || self.immediate != 0;
        match value {
            Value::Label { id, addend } => {
                if number_taken {
                    return Err(Code::SecondBranchTarget.into());
                }
                if !self.relative {
                    self.warn(Code::AbsoluteLabel, "an absolute branch to a label is right only for code at address 0");
                }
                self.label = Some((id, addend));
            }
            Value::Int(0) => {}
            Value::Int(_) | Value::Distance(_) => {
                if number_taken {
                    return Err(Code::SecondBranchTarget.into());
                }
                self.immediate = self.take_constant(value)?;
                if self.immediate & 3 != 0 {
                    self.warn(Code::BranchTargetUnaligned, "the branch target is not aligned");
                }
            }
            Value::Register(register) => {
                if register.address == NOP && register.access.either_file() && register.rotation == Rotation::None {
                    return Ok(());
                }
                if !register.access.has(Access::A) || !is_register(register.address) {
                    return Err(Code::BranchTarget.into());
                }
                if register.rotation != Rotation::None {
                    return Err(Refusal::new(Code::BranchTarget, "a branch target cannot be rotated"));
                }
                if !register.pack.is_none() {
                    return Err(Code::UnpackNotHere.into());
                }
                if self.register_target {
                    return Err(Code::SecondBranchTarget.into());
                }
                match (register.address & 1 != 0, self.sf) {
                    (false, true) => {
                        return Err(Refusal::new(
                            Code::OddBranchRegister,
                            "a branch with .setf has an odd register: bit 45 is both",
                        ));
                    }
                    (true, false) => {
                        self.warn(Code::OddBranchRegister, "an odd branch register also sets the flags; say .setf");
                    }
                    _ => {}
                }
                self.register_target = true;
                self.raddr_a = register.address;
            }
            other => {
                return Err(Refusal::new(Code::BranchTarget, format!("{} cannot be a branch target", other.kind())));
            }
        }
        Ok(())
    }
}
