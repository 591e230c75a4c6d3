//! Hazards: rules that an instruction breaks at its position, and the old values that it reads as a result.
//!
//! # Sources
//! [AG p.37-38]; [vc4asm] where said.

use crate::fault::rule::{Rule, Rules};
use crate::qpu::block::UPPER_REGISTERS;
use crate::qpu::isa::instruction::{AluOperation, DecodedInstruction, Destination, Pack, Unpacking};
use crate::qpu::isa::pack;
use crate::qpu::isa::registers::{self, RegisterIndex};
use crate::qpu::lanes::Lanes;
use crate::qpu::{Qpu, Threading};
use v3d_hw::qpu::{Condition, Hazard, LANES, Signal};

impl Qpu {
    /// Adds the rules that are broken because of the state of the program.
    pub(super) fn find_state_hazards(&mut self, instruction: &DecodedInstruction, broken: &mut Rules) {
        let touches = &instruction.touches;
        if self.threading == Threading::Threaded {
            broken.add_if((touches.reads | touches.writes) & UPPER_REGISTERS != 0, Rule::OtherThreadsRegister);
        }
        if touches.reads_accumulators & self.undefined != 0 {
            broken.add(Rule::LostInThreadSwitch);
            // Reported once.
            self.undefined &= !touches.reads_accumulators;
        }
        let waits = touches.tlb_samples || instruction.signal == Signal::ScoreboardWait;
        broken.add_if(waits && self.executed == 0, Rule::ScoreboardTooEarly);
        if touches.tmu_write {
            broken.add_if(self.no_swap_is_recent(), Rule::NoSwapTooLate);
        }
        let ends = matches!(instruction.signal, Signal::ProgramEnd | Signal::LoadColorEnd);
        broken.add_if(ends && touches.writes != 0, Rule::EndWritesRegister);
        if ends || self.ending.is_some() {
            broken.add_if(touches.register_14, Rule::EndTouchesRegister14);
            let takes_uniform = touches.takes_uniform || self.takes_parameter(instruction);
            broken.add_if(takes_uniform || touches.varying || touches.vpm, Rule::EndAccess);
        }
        broken.add_if(self.ending == Some(1) && touches.tlb_z, Rule::EndWritesZ);
        if matches!(instruction.signal, Signal::ThreadSwitch | Signal::LastThreadSwitch) {
            broken.add_if(self.last_switch, Rule::SwitchAfterLast);
        }
    }

    /// Whether a write to a TMU takes a uniform as its parameter [AG p.23, p.40].
    fn takes_parameter(&self, instruction: &DecodedInstruction) -> bool {
        let takes = |to: Destination, condition: Condition| match to {
            Destination::Tmu(unit, coordinate) if condition != Condition::Never => {
                self.tmu[usize::from(unit & 1)].needs_uniform(coordinate)
            }
            _ => false,
        };
        takes(instruction.add.to, instruction.add.condition) || takes(instruction.mul.to, instruction.mul.condition)
    }

    /// Whether TMU swapping was disabled too recently for the next instruction to write to a TMU [AG p.24, p.37].
    #[inline(always)]
    pub(in crate::qpu) fn no_swap_is_recent(&self) -> bool {
        self.no_swap_at.is_some_and(|at| self.executed - at < u64::from(Hazard::TmuAfterNoSwap.distance()))
    }

    /// Marks an accumulator as defined once colours have been packed into all of its bytes.
    pub(super) fn mark_packed_bytes<Op>(&mut self, half: &AluOperation<Op>) {
        if let (Destination::Register(register), Pack::Colour(mode), Condition::Always) =
            (half.to, half.pack, half.condition)
            && let Some(number) = register.checked_sub(registers::ACCUMULATORS)
            && let Some(bits) = self.undefined_bits.get_mut(usize::from(number))
        {
            *bits &= !pack::pack_mul_mask(mode).unwrap_or(0);
            if *bits == 0 {
                self.undefined &= !(1 << number);
            }
        }
    }

    /// The last four elements that an instruction leaves on a port, if it leaves any.
    pub(super) fn left_on_port(&self, instruction: &DecodedInstruction, port: usize) -> Option<[u32; LANES / 4]> {
        let lanes = self.registers.at(instruction.latches[port]?);
        Some(std::array::from_fn(|i| lanes.0[LANES - 4 + i]))
    }

    /// The register of file A (0) or B (1) that an instruction is about to write, and its old value.
    pub(super) fn old_value(&self, instruction: &DecodedInstruction, file: usize) -> (RegisterIndex, Lanes) {
        let written = (instruction.touches.writes >> (32 * file)) as u32;
        if written == 0 {
            return (registers::ELEMENTS, Lanes::default());
        }
        let register = written.trailing_zeros() as RegisterIndex + 32 * file as RegisterIndex;
        (register, *self.registers.at(register))
    }

    /// The instruction with old values as operands that are read too early.
    pub(super) fn with_stale_operands(
        &mut self,
        instruction: &DecodedInstruction,
        broken: &Rules,
    ) -> DecodedInstruction {
        *self.registers.at_mut(registers::STALE_A) = self.stale[0].1;
        *self.registers.at_mut(registers::STALE_B) = self.stale[1].1;
        *self.registers.at_mut(registers::STALE_R4) = self.stale_r4;
        let stale_r4 = broken.contains(Rule::SfuTooEarly);
        let stale = broken.contains(Rule::StaleRead).then_some(self.stale.map(|(register, _)| register));
        let replace = |register: RegisterIndex| match register {
            registers::R4 if stale_r4 => registers::STALE_R4,
            registers::FILE_A..registers::FILE_B if stale.is_some_and(|[a, _]| a == register) => registers::STALE_A,
            registers::FILE_B..registers::ACCUMULATORS if stale.is_some_and(|[_, b]| b == register) => {
                registers::STALE_B
            }
            _ => register,
        };
        let mut patched = *instruction;
        for register in [&mut patched.add.a, &mut patched.add.b, &mut patched.mul.a, &mut patched.mul.b] {
            *register = replace(*register);
        }
        patched.unpacking = match patched.unpacking {
            Unpacking::PortA { from, mode, float } => Unpacking::PortA { from: replace(from), mode, float },
            Unpacking::R4 { from, mode } => Unpacking::R4 { from: replace(from), mode },
            Unpacking::None => Unpacking::None,
        };
        patched
    }
}
