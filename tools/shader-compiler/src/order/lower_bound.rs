//! Lower bounds of a block's length, for any number of registers; schedules are compared with them.
//!
//! Two bounds are known before scheduling: the longest chain of dependent operations with their latencies, and the use of the slots of instructions. An
//! instruction has one add ALU, one mul ALU, one signal, one read of uniforms, one of varyings, one read and one write of the VPM, and one access to one of the
//! other units. A move fits either ALU. Conflicts of register files and read ports are not counted, so some schedules must be longer than the bound.

use v3d_hw::qpu::{BRANCH_DELAY_SLOTS, ReadSource};

use crate::machine::{End, Operand, Operation, Pack, Target, Work};

/// Slots that operations take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slots {
    add: u32,
    mul: u32,
    /// Moves, which either ALU can execute.
    either: u32,
    /// Instructions with an immediate of 32 bits, which exclude other operations.
    alone: u32,
    loads: u32,
    /// Operations with a small immediate; an instruction can contain two of them if they are equal.
    immediates: u32,
    uniforms: u32,
    varyings: u32,
    vpm_reads: u32,
    vpm_writes: u32,
    /// Accesses to units of which an instruction accesses one only.
    units: u32,
}

impl Slots {
    /// The slots of one operation.
    pub(crate) fn of(operation: &Operation) -> Self {
        let mut slots = Self::default();
        if operation.target == Target::Color {
            // The final copy is not needed if the colour is in r0 already.
            return slots;
        }
        match operation.work {
            Work::Load(_) => slots.alone = 1,
            Work::LoadTexture => slots.loads = 1,
            Work::Add(_) => slots.add = 1,
            Work::Mul(_) => slots.mul = 1,
            Work::Rotate(_) => (slots.mul, slots.immediates) = (1, 2),
            Work::Move if operation.sets_flags || operation.pack != Pack::None => slots.add = 1,
            Work::Move => slots.either = 1,
        }
        let has = |wanted: fn(&Operand) -> bool| operation.operands.iter().any(wanted);
        slots.immediates += u32::from(has(|operand| matches!(operand, Operand::Small(_))));
        slots.uniforms = u32::from(operation.uniform().is_some());
        slots.varyings = u32::from(has(|operand| matches!(operand, Operand::Input(_, ReadSource::Varying))));
        slots.units = u32::from(operation.accesses_unit());
        slots.vpm_reads = u32::from(operation.reads_vpm());
        slots.vpm_writes = u32::from(operation.writes_vpm());
        slots
    }

    /// A move that is not needed, if the only operation that uses what it moves reads that itself.
    pub(crate) const fn without_move(&mut self) {
        self.either = 0;
    }

    /// Whether an operation reads a uniform.
    pub(crate) const fn reads_uniform(&self) -> bool {
        self.uniforms > 0
    }

    /// Whether it accesses a unit of which an instruction accesses one only.
    pub(crate) const fn accesses_unit(&self) -> bool {
        self.units > 0
    }

    pub(crate) const fn add(&mut self, other: Self) {
        self.add += other.add;
        self.mul += other.mul;
        self.either += other.either;
        self.alone += other.alone;
        self.loads += other.loads;
        self.immediates += other.immediates;
        self.uniforms += other.uniforms;
        self.varyings += other.varyings;
        self.vpm_reads += other.vpm_reads;
        self.vpm_writes += other.vpm_writes;
        self.units += other.units;
    }

    pub(crate) const fn remove(&mut self, other: Self) {
        self.add -= other.add;
        self.mul -= other.mul;
        self.either -= other.either;
        self.alone -= other.alone;
        self.loads -= other.loads;
        self.immediates -= other.immediates;
        self.uniforms -= other.uniforms;
        self.varyings -= other.varyings;
        self.vpm_reads -= other.vpm_reads;
        self.vpm_writes -= other.vpm_writes;
        self.units -= other.units;
    }

    /// Minimum number of instructions with so many slots.
    pub(crate) fn instructions(&self) -> usize {
        let alus = (self.add + self.mul + self.either).div_ceil(2);
        let signals = self.loads + self.immediates.div_ceil(2);
        let streams = self.uniforms.max(self.varyings).max(self.vpm_reads).max(self.vpm_writes);
        let most = [self.add, self.mul, alus, signals, streams, self.units];
        (self.alone + most.into_iter().max().unwrap_or(0)) as usize
    }
}

/// Lower bound of a block's instructions, including its branch and delay slots. `own` are the slots of its operations, `path` is the longest chain in
/// instructions, and `tested` the chain to the instruction that sets the flags of a loop's branch.
pub(crate) fn lower_bound(end: End, own: &[Slots], path: usize, tested: usize) -> usize {
    let mut slots = Slots::default();
    own.iter().for_each(|operation| slots.add(*operation));
    let operations = path.max(slots.instructions());
    let delay = BRANCH_DELAY_SLOTS as usize;
    match end {
        End::Falls => operations,
        End::Again(_) => (operations + 1).max(tested + 1 + delay),
        End::Calls(_) => (operations + 1).max(1 + delay),
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;
    use crate::machine::Register;
    use naga::Span;
    use v3d_hw::qpu::{AddOp, MulOp};

    /// Operations of each kind, and the minimum number of instructions, counted by hand.
    #[test]
    fn slots_limit_how_many_operations_fit_into_an_instruction() {
        let target = Target::Register(Register(0));
        let plain = Operand::Register(Register(1));
        let made = |work, operands: Vec<Operand>| Operation::new(work, operands, target, Span::default());
        let add = made(Work::Add(AddOp::Fadd), vec![plain, plain]);
        let mul = made(Work::Mul(MulOp::Fmul), vec![plain, plain]);
        let copy = made(Work::Move, vec![plain]);
        let small = made(Work::Add(AddOp::Add), vec![plain, Operand::Small(1)]);
        let load = made(Work::LoadTexture, Vec::new());
        let word = made(Work::Load(1), Vec::new());
        for (operations, expected) in [
            (vec![], 0),
            (vec![&add], 1),
            (vec![&add, &mul], 1),
            (vec![&add, &add], 2),
            (vec![&add, &copy, &mul], 2),
            (vec![&copy, &copy], 1),
            (vec![&add, &mul, &load], 1),
            (vec![&small, &load], 2),
            (vec![&word, &add, &mul], 2),
        ] {
            let mut slots = Slots::default();
            operations.iter().for_each(|operation| slots.add(Slots::of(operation)));
            assert_eq!(slots.instructions(), expected, "{operations:?}");
            operations.iter().for_each(|operation| slots.remove(Slots::of(operation)));
            assert_eq!(slots, Slots::default());
        }
    }
}
