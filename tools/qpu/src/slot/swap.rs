//! Moves earlier parts to the other register file or the other ALU, to make room for the current one.

use v3d_hw::qpu::address_map::{is_read_in_either_file, is_written_in_either_file};
use v3d_hw::qpu::{AddOp, MulOp, Mux, Signal, SmallImmediate};

use super::{Place, Slot};
use crate::value::NOP;

impl Slot {
    /// Exchanges the reads of the two files, if both registers exist in both files.
    pub(super) fn try_swap_files(&mut self) -> bool {
        if self.files_fixed
            || !self.is_alu()
            || self.unpack.mode != 0 && !self.pm
            || !is_read_in_either_file(self.raddr_a)
            || self.sig == Signal::SmallImmediate
            || !is_read_in_either_file(self.raddr_b)
        {
            return false;
        }
        core::mem::swap(&mut self.raddr_a, &mut self.raddr_b);
        for mux in [&mut self.add_a, &mut self.add_b, &mut self.mul_a, &mut self.mul_b] {
            *mux = match *mux {
                Mux::A => Mux::B,
                Mux::B => Mux::A,
                other => other,
            };
        }
        true
    }

    /// Exchanges the operations of the two ALUs, if each has an equivalent on the other one.
    pub(super) fn try_swap_alus(&mut self) -> bool {
        let rotated = self.small_immediate().is_some_and(|code| code >= SmallImmediate::FIRST_ROTATION);
        if self.alus_fixed || !self.is_alu() || self.sf || self.pack.mode != 0 && self.pm || rotated {
            return false;
        }
        let same_mul = self.mul_a == self.mul_b;
        let op_add = match self.op_mul {
            MulOp::V8adds => AddOp::V8adds,
            MulOp::V8subs => AddOp::V8subs,
            MulOp::V8min | MulOp::V8max if same_mul => AddOp::Or,
            MulOp::Nop => AddOp::Nop,
            _ => return false,
        };
        let same_add = self.add_a == self.add_b;
        let op_mul = match self.op_add {
            AddOp::V8adds => MulOp::V8adds,
            AddOp::V8subs => MulOp::V8subs,
            AddOp::Xor | AddOp::Sub if same_add => MulOp::V8subs,
            AddOp::Or | AddOp::And | AddOp::Min | AddOp::Max if same_add => MulOp::V8min,
            AddOp::Nop => MulOp::Nop,
            _ => return false,
        };
        (self.op_add, self.op_mul) = (op_add, op_mul);
        core::mem::swap(&mut self.add_a, &mut self.mul_a);
        core::mem::swap(&mut self.add_b, &mut self.mul_b);
        core::mem::swap(&mut self.cond_add, &mut self.cond_mul);
        core::mem::swap(&mut self.always_add, &mut self.always_mul);
        core::mem::swap(&mut self.waddr_add, &mut self.waddr_mul);
        // Write swap depends on the targets; without targets it keeps its default.
        if self.in_mul() || self.waddr_add != NOP || !is_written_in_either_file(self.waddr_mul) {
            self.ws = !self.ws;
        }
        self.place = Place(self.place.0 ^ Place::BOTH.0);
        for place in [&mut self.used_pack, &mut self.used_unpack, &mut self.used_rotation] {
            *place = place.other_alu_if_any();
        }
        true
    }
}

impl Place {
    fn other_alu_if_any(self) -> Self {
        if self.0 == 0 { self } else { Self(self.0 ^ Self::BOTH.0) }
    }
}
