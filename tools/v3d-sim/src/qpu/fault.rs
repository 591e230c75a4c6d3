//! What a QPU program can do wrong.

use super::io::IoError;
use crate::memory::OutOfMemory;
use crate::tmu::TmuFault;
use v3d_hw::BusAddr;

/// A fault of a QPU program, with the instruction that is to blame.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("instruction at {pc}: {error}")]
pub struct QpuFault {
    /// Address of the instruction.
    pub pc: BusAddr,
    /// What is wrong.
    pub error: QpuError,
}

/// What is wrong with an instruction.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum QpuError {
    /// It breaks a rule of the guide.
    #[error(transparent)]
    Rule(#[from] Rule),
    /// It accesses a unit in a way that is an error or undefined.
    #[error(transparent)]
    Io(#[from] IoError),
    /// It accesses a TMU in such a way.
    #[error(transparent)]
    Tmu(#[from] TmuFault),
    /// It, or a uniform, is not in memory.
    #[error("{0}")]
    Memory(#[from] OutOfMemory),
    /// A uniform is read, but the program has no uniforms or has used them up; the value is 0.
    #[error("a uniform is read beyond the end of the stream")]
    UniformsExhausted,
}

/// A rule of the instruction set that software must keep; what happens otherwise is undefined [AG p.37].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[repr(u8)]
#[non_exhaustive]
pub enum Rule {
    /// A reserved operation code; the result is 0.
    #[error("reserved operation of the add ALU")]
    ReservedOperation = 0,
    /// A reserved pack code; nothing is packed.
    #[error("reserved pack mode of the mul ALU")]
    ReservedPack,
    /// A reserved kind of immediate; loaded as a 32-bit one.
    #[error("reserved kind of load immediate")]
    ReservedImmediate,
    /// A reserved branch condition; never taken.
    #[error("reserved branch condition")]
    ReservedBranchCondition,
    /// Both ALUs write the same accumulator or I/O register in the same elements; the mul ALU's write comes last.
    #[error("both ALUs write the same accumulator or I/O register")]
    DoubleWrite,
    /// More than one of the peripherals that share a port.
    #[error("more than one access to TMU, TLB, SFU, mutex or semaphore in one instruction")]
    SeveralPeripherals,
    /// A semaphore instruction writes to a peripheral that can stall [AG p.33].
    #[error("a semaphore instruction writes to a peripheral that can stall")]
    SemaphoreWithPeripheral,
    /// A uniform is read while a write to a TMU takes one.
    #[error("a uniform is read by an instruction whose TMU write takes a uniform")]
    UniformWithTmuWrite,
    /// Unpacking of something read through port A that is no register: not documented. It is unpacked here.
    #[error("what is unpacked is not read from register file A")]
    UnpackOfPeripheral,
    /// A single byte packed for a register that can only be written whole [vc4asm]. The other bytes are 0 here.
    #[error("a single byte is packed for an I/O register")]
    PackToPeripheral,
    /// An address that nothing is mapped to.
    #[error("an address is read that nothing is mapped to")]
    UnmappedRead,
    /// A register is read that the previous instruction wrote; the old value is read.
    #[error("a register is read that the previous instruction wrote")]
    StaleRead,
    /// r4 is read within two instructions of an SFU write; the old value is read.
    #[error("r4 is read before the SFU's result is there")]
    SfuTooEarly,
    /// r4 is written within two instructions of an SFU write; the later write wins here.
    #[error("r4 is written while an SFU result is on its way")]
    SfuClobbered,
    /// A rotation of an accumulator that the previous instruction wrote, both without a condition. The new value is rotated here.
    #[error("an accumulator is rotated that the previous instruction wrote")]
    RotationTooEarly,
    /// A rotation by r5 that the previous instruction wrote. The new value counts here.
    #[error("a rotation by r5 follows a write to r5")]
    RotationByFreshR5,
    /// The multisample mask is read within two instructions of a Z write.
    #[error("the multisample mask is read within two instructions of a Z write")]
    MsFlagsTooEarly,
    /// A uniform is read within two instructions of a write of the uniforms' address [AG p.22].
    #[error("a uniform is read within two instructions of a write of the uniforms' address")]
    UniformTooEarly,
    /// TMU swapping is disabled less than three instructions before a TMU write.
    #[error("TMU swapping is disabled less than three instructions before a TMU write")]
    NoSwapTooLate,
    /// A TMU or VPM is written in some elements only; the access happens all the same, with undefined data [vc4asm].
    #[error("a conditional write to a TMU, the SFU or the VPM does not hold in all elements")]
    ConditionalPeripheral,
    /// The scoreboard is waited for in the first two instructions.
    #[error("the scoreboard is waited for in the first two instructions")]
    ScoreboardTooEarly,
    /// The instruction that ends the program writes to a register file.
    #[error("the instruction that signals the program's end writes to a register file")]
    EndWritesRegister,
    /// Register 14 is accessed in the last three instructions.
    #[error("register 14 is accessed in the last three instructions")]
    EndTouchesRegister14,
    /// Uniforms, varyings or VPM are accessed in the last three instructions.
    #[error("uniforms, varyings or VPM are accessed in the last three instructions")]
    EndAccess,
    /// Z is written in the last instruction.
    #[error("Z is written in the last instruction")]
    EndWritesZ,
    /// Accumulators or flags are read that did not survive a thread switch.
    #[error("an accumulator or flag is read that a thread switch has left undefined")]
    LostInThreadSwitch,
    /// A thread switch after the one that was signalled as the last.
    #[error("a thread switch follows the last one")]
    SwitchAfterLast,
    /// A thread switch in a program that is not threaded.
    #[error("a thread switch in a program that runs as the only thread")]
    SwitchUnthreaded,
    /// Registers 16 to 31 are accessed by one of two threads: they are the other thread's.
    #[error("registers 16 to 31 belong to the other thread")]
    OtherThreadsRegister,
    /// The odd branch target register of HW-2780; bit 45 is also the flag update bit.
    #[error("a branch takes its target from an odd register (HW-2780)")]
    OddBranchRegister,
    /// A branch within two instructions of a branch: none or garbage is taken [vc4asm]. Each counts from its own place here.
    #[error("a branch is within two instructions of another")]
    BranchTooClose,
    /// A software breakpoint; the QPU halts, which ends the program here.
    #[error("software breakpoint")]
    Breakpoint,
}

impl Rule {
    /// All rules, in the order of their codes.
    const ALL: [Self; 32] = [
        Self::ReservedOperation,
        Self::ReservedPack,
        Self::ReservedImmediate,
        Self::ReservedBranchCondition,
        Self::DoubleWrite,
        Self::SeveralPeripherals,
        Self::SemaphoreWithPeripheral,
        Self::UniformWithTmuWrite,
        Self::UnpackOfPeripheral,
        Self::PackToPeripheral,
        Self::UnmappedRead,
        Self::StaleRead,
        Self::SfuTooEarly,
        Self::SfuClobbered,
        Self::RotationTooEarly,
        Self::RotationByFreshR5,
        Self::MsFlagsTooEarly,
        Self::UniformTooEarly,
        Self::NoSwapTooLate,
        Self::ConditionalPeripheral,
        Self::ScoreboardTooEarly,
        Self::EndWritesRegister,
        Self::EndTouchesRegister14,
        Self::EndAccess,
        Self::EndWritesZ,
        Self::LostInThreadSwitch,
        Self::SwitchAfterLast,
        Self::SwitchUnthreaded,
        Self::OtherThreadsRegister,
        Self::OddBranchRegister,
        Self::BranchTooClose,
        Self::Breakpoint,
    ];
}

/// A set of rules that are broken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules(u64);

impl Rules {
    /// Adds a rule.
    pub const fn add(&mut self, rule: Rule) {
        self.0 |= 1 << rule as u8;
    }

    /// Adds a rule if it is broken.
    pub const fn add_if(&mut self, broken: bool, rule: Rule) {
        if broken {
            self.add(rule);
        }
    }

    /// Whether no rule is broken.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether a rule is among them.
    pub const fn contains(self, rule: Rule) -> bool {
        self.0 >> rule as u8 & 1 == 1
    }

    /// The rules of either set.
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The rules, one after the other.
    pub fn iter(self) -> impl Iterator<Item = Rule> {
        Rule::ALL.into_iter().filter(move |&rule| self.contains(rule))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_place_in_the_list() {
        for (code, rule) in Rule::ALL.into_iter().enumerate() {
            assert_eq!(rule as usize, code, "{rule}");
        }
    }
}
