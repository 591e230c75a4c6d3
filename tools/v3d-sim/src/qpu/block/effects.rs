//! Effects: what a program does to the tile buffer, for programs that do the same in each run.
//!
//! A fragment shader whose only effects are its depth and its colour need not run for pixels that a later one overwrites. That requires that its effects are
//! known without running it: no branches, no condition on what it writes, no access to a unit that others see.

use super::BlockInstruction;
use crate::qpu::isa::instruction::{AluOperation, DecodedInstruction, Destination, Kind, Pack, Rotation};
use crate::qpu::isa::registers::{FILE_B, RegisterIndex};
use v3d_hw::qpu::address_map::{ReadSource, TmuCoordinate, WriteTarget};
use v3d_hw::qpu::{AddOp, Condition, MulOp, Signal, THREAD_DELAY_SLOTS};

/// Register B 15, which holds the depths of the pixels when a program starts.
const DEPTHS: RegisterIndex = FILE_B + 15;

/// The effects of each run of a program, on all of its pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effects {
    /// Instructions that it executes.
    pub(crate) instructions: u64,
    /// Textures that it looks up.
    pub(crate) lookups: u64,
    /// It writes the depths that it was started with, before all colours.
    pub(crate) writes_depths: bool,
    /// Words of colour that it writes to all samples.
    pub(crate) color_words: u32,
}

impl Effects {
    /// Those of the program that a block begins with. `None`: they depend on data, or there are others.
    pub(super) fn of(instructions: &[BlockInstruction]) -> Option<Self> {
        let end = instructions.iter().position(|placed| placed.instruction.signal == Signal::ProgramEnd)?;
        let program = instructions.get(..=end + THREAD_DELAY_SLOTS as usize)?;
        let mut effects = Self { instructions: program.len() as u64, ..Self::default() };
        // Coordinates of each TMU since its last lookup: an `s` alone looks up memory, at addresses that may be anywhere.
        let mut coordinates = [0; 2];
        let mut has_depths = true;
        for BlockInstruction { instruction, .. } in program {
            if !is_local(instruction) {
                return None;
            }
            let DecodedInstruction { add, mul, rotation, .. } = *instruction;
            let copies = mul.op == MulOp::V8min && rotation == Rotation::None;
            let [add, mul] = [Writing::of(add, add.op == AddOp::Or), Writing::of(mul, copies)];
            if add.to == mul.to && matches!(add.to, Destination::Peripheral(_) | Destination::Tmu(..)) {
                return None;
            }
            for Writing { to, condition, moves_depths } in [add, mul] {
                let always = condition == Condition::Always;
                match to {
                    _ if condition == Condition::Never => {}
                    Destination::Nowhere | Destination::R5 { .. } | Destination::Sfu(_) => {}
                    Destination::Register(index) => has_depths &= index != DEPTHS,
                    Destination::Tmu(unit, coordinate) => {
                        let given = coordinates.get_mut(usize::from(unit))?;
                        if coordinate == TmuCoordinate::S {
                            effects.lookups += 1;
                            if std::mem::take(given) == 0 {
                                return None;
                            }
                        } else {
                            *given += 1;
                        }
                    }
                    Destination::Peripheral(WriteTarget::TmuNoSwap) => {}
                    Destination::Peripheral(WriteTarget::TlbZ) => {
                        let is_first = effects.color_words == 0 && !effects.writes_depths;
                        if !(always && moves_depths && has_depths && is_first) {
                            return None;
                        }
                        effects.writes_depths = true;
                    }
                    Destination::Peripheral(WriteTarget::TlbColorAll) if always => effects.color_words += 1,
                    Destination::Peripheral(_) => return None,
                }
            }
        }
        Some(effects)
    }
}

/// Where one ALU's result goes.
struct Writing {
    to: Destination,
    condition: Condition,
    /// It is register B 15 as it is.
    moves_depths: bool,
}

impl Writing {
    /// Of an ALU, whose operation copies an operand that it has twice, or does not.
    fn of<Op>(alu: AluOperation<Op>, copies: bool) -> Self {
        let AluOperation { a, b, condition, pack, to, .. } = alu;
        Self { to, condition, moves_depths: copies && pack == Pack::None && (a, b) == (DEPTHS, DEPTHS) }
    }
}

/// Whether an instruction reads only what belongs to its program and does not change, and goes on with the next one.
fn is_local(instruction: &DecodedInstruction) -> bool {
    let reads_own = [instruction.port_a, instruction.port_b].into_iter().flatten().all(|source| {
        use ReadSource::{
            ElementNumber, Nop, QpuNumber, Register, RevFlag, Uniform, Varying, XPixelCoord, YPixelCoord,
        };
        matches!(
            source,
            Register(_) | Uniform | Varying | ElementNumber | QpuNumber | Nop | XPixelCoord | YPixelCoord | RevFlag
        )
    });
    let goes_on = matches!(
        instruction.signal,
        Signal::None
            | Signal::ThreadSwitch
            | Signal::LastThreadSwitch
            | Signal::ProgramEnd
            | Signal::ScoreboardWait
            | Signal::ScoreboardUnlock
            | Signal::LoadTmu0
            | Signal::LoadTmu1
            | Signal::SmallImmediate
            | Signal::LoadImmediate
    );
    let computes = matches!(instruction.kind, Kind::Alu | Kind::Immediate(_) | Kind::PerElement { .. });
    reads_own && goes_on && computes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qpu::EngineKind;
    use crate::qpu::block::Block;
    use crate::qpu::test_words::memory_of;

    fn check(program: &str, expected: Option<Effects>) {
        let program = format!("{program}\nthrend\nnop\nsbdone");
        let assembly = qpu::assemble(&[qpu::Source::new("test", &program)], &qpu::Options::default());
        let halves: Vec<u32> = assembly.unwrap_or_else(|diagnostics| panic!("{diagnostics}")).halves().collect();
        let words: Vec<u64> =
            halves.as_chunks().0.iter().map(|[low, high]| u64::from(*high) << 32 | u64::from(*low)).collect();
        let memory = memory_of(8 * words.len(), &words);
        let block = Block::decode(memory.view(), 0, EngineKind::Vectors, false).unwrap();
        assert_eq!(block.effects, expected, "{program}");
    }

    #[test]
    fn effects_are_depths_and_colours() {
        let of = |instructions, lookups, writes_depths, color_words| {
            Some(Effects { instructions, lookups, writes_depths, color_words })
        };
        check("mov r0, unif\nnop\nmov tlbc, r0", of(6, 0, false, 1));
        check("nop\nnop\nmov tlbz, rb15", of(6, 0, true, 0));
        check("mov r0, vary\nnop\nmov tlbz, rb15\nmov tlbc, r0\nmov tlbc, r1", of(8, 0, true, 2));
        check("mov t0t, r0\nmov t0s, r1\nmov t1r, r0\nmov t1s, r0\nldtmu0\nldtmu1\nmov tlbc, r4", of(10, 2, false, 1));
    }

    #[test]
    fn other_effects_are_not_known() {
        for program in [
            "mov.setf -, unif\nnop\nmov.ifz tlbc, r0",
            "mov.setf -, unif\nnop\nmov.ifz tlbz, rb15",
            "nop\nnop\nmov tlbz, r0",
            "nop\nnop\nmov tlbz, ra15",
            "mov rb15, 1\nnop\nmov tlbz, rb15",
            "nop\nnop\nmov tlbc, r0\nmov tlbz, rb15",
            "nop\nnop\nloadc\nmov tlbc, r4",
            "nop\nnop\nmov tlbm, r0",
            "mov ms_flags, 1\nnop\nmov tlbc, r0",
            "mov r0, ms_flags\nnop\nmov tlbc, r0",
            "mov quad_x, r0\nnop\nmov tlbc, r0",
            "mov tlb_stencil, r0\nnop\nmov tlbz, rb15",
            "mov t0s, r0\nldtmu0\nmov tlbc, r4",
            "mov unif_addr, r0\nnop\nmov tlbc, r0",
            "mov irq, 1\nnop\nmov tlbc, r0",
            "nop\nnop\nmov tlbam, r0",
            "mov vw_setup, unif\nnop\nmov tlbc, r0",
            "sacq -, 0\nnop\nmov tlbc, r0",
            "brr -, r:end\nnop\nnop\nnop\nmov tlbc, r0\n:end",
        ] {
            check(program, None);
        }
    }
}
