//! Final adjustments to a complete word.
//!
//! A word that only loads a constant becomes a load immediate; unused results get the condition "never" (which saves power); and operations with one source
//! select it with both multiplexers.

use v3d_hw::FieldError;
use v3d_hw::qpu::address_map::is_written_in_either_file;
use v3d_hw::qpu::{AddOp, Condition, ImmediateKind, MulOp, Mux, Signal};

use super::{Form, PackMode, Slot, immediate_value};
use crate::value::NOP;

/// Whether a word is equivalent to a load immediate.
enum Constant {
    /// It only loads this constant.
    Load(u32),
    /// It only loads a constant, but also has a read or a signal, so it must stay an ALU instruction.
    Stays,
    /// It does something else.
    No,
}

impl Slot {
    /// Finishes the word; nothing can be added to the slot afterwards.
    pub(crate) fn finish(&mut self) -> Result<u64, FieldError> {
        self.settle();
        self.encode()
    }

    #[inline]
    fn settle(&mut self) {
        match self.form {
            Form::Branch => {}
            Form::Load(_) => self.silence_unused(),
            Form::Alu => {
                match self.constant() {
                    Constant::Load(value) => {
                        self.become_load(value);
                        self.silence_unused();
                    }
                    // A constant that stays an operation keeps its conditions.
                    Constant::Stays => {}
                    Constant::No => self.silence_unused(),
                }
                if self.is_alu() && self.op_add.is_unary() && !self.unary_second {
                    self.add_b = self.add_a;
                }
            }
        }
    }

    /// Unused results that set no flags get the condition "never", which saves power.
    fn silence_unused(&mut self) {
        if self.waddr_add == NOP && !self.sf && !self.always_add {
            self.cond_add = Condition::Never;
        }
        let sets_flags = self.is_alu() && self.sf && self.op_add == AddOp::Nop;
        if self.waddr_mul == NOP && !sets_flags && !self.always_mul {
            self.cond_mul = Condition::Never;
        }
    }

    /// Whether the word only loads a constant.
    fn constant(&mut self) -> Constant {
        // A load immediate could not keep the ignored bit of the pack field.
        if self.keep || self.ignored_pack_bit {
            return Constant::No;
        }
        let load_or = |free: bool, value: u32| if free { Constant::Load(value) } else { Constant::Stays };
        let add_same = self.add_a == self.add_b;
        let mul_same = self.mul_a == self.mul_b;
        let add_alone = self.waddr_mul == NOP && self.op_mul == MulOp::Nop && self.op_add != AddOp::Nop;
        let mul_alone = self.waddr_add == NOP && self.op_add == AddOp::Nop && self.op_mul != MulOp::Nop;
        if let Some(code) = self.small_immediate() {
            // Packs that write a part of the word depend on its previous contents.
            let whole = matches!(self.pack.mode & 7, 0 | 3) && !self.sf;
            let value = immediate_value(code);
            let result = if whole && add_alone && add_same && self.add_a == Mux::B {
                self.add_constant(value)
            } else if whole && mul_alone && mul_same && self.mul_a == Mux::B {
                self.mul_constant(value)
            } else {
                None
            };
            if let Some(value) = result {
                return load_or(self.raddr_a == NOP, value);
            }
        }
        let free = self.sig == Signal::None && self.raddr_a == NOP && self.raddr_b == NOP;
        if add_alone && add_same && matches!(self.op_add, AddOp::Xor | AddOp::Sub) {
            if !free && self.waddr_add == NOP && !self.sf && !self.always_add {
                self.cond_add = Condition::Never;
            }
            return load_or(free, 0);
        }
        if mul_alone && mul_same && self.op_mul == MulOp::V8subs && !self.sf && free {
            return Constant::Load(0);
        }
        Constant::No
    }

    fn become_load(&mut self, value: u32) {
        if self.sig == Signal::SmallImmediate {
            self.pm = false;
            self.pack = PackMode::default();
        }
        self.form = Form::Load(ImmediateKind::Word);
        self.sig = Signal::LoadImmediate;
        self.immediate = value;
        // With one target, the add ALU is always used, so that the encoding is unique.
        if self.waddr_add == NOP && !self.pm {
            core::mem::swap(&mut self.waddr_add, &mut self.waddr_mul);
            self.ws = !self.ws & !is_written_in_either_file(self.waddr_add);
            core::mem::swap(&mut self.cond_add, &mut self.cond_mul);
            core::mem::swap(&mut self.always_add, &mut self.always_mul);
        }
    }
}
