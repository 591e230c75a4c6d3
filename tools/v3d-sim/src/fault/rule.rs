//! The rules of the instruction set, and sets of broken ones.

use v3d_hw::qpu::Hazard;

/// Defines the rules and the list of all rules from one table.
macro_rules! rules {
    ($( $(#[doc = $doc:literal])+ $rule:ident $text:expr ),* $(,)?) => {
        /// A rule of the instruction set that software must keep; what happens otherwise is undefined [AG p.37].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
        #[error("{}", self.sentence())]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum Rule {
            $( $(#[doc = $doc])+ $rule, )*
        }

        impl Rule {
            /// All rules, in the order of their codes.
            pub const ALL: &'static [Self] = &[$( Self::$rule, )*];

            /// What is wrong with a program that breaks it.
            pub const fn sentence(self) -> &'static str {
                match self { $( Self::$rule => $text, )* }
            }
        }
    };
}

rules! {
    /// A reserved operation code; the result is 0.
    ReservedOperation "reserved operation of the add ALU",
    /// A reserved pack code; nothing is packed.
    ReservedPack "reserved pack mode of the mul ALU",
    /// A reserved kind of immediate; loaded as a 32-bit one.
    ReservedImmediate "reserved kind of load immediate",
    /// A reserved branch condition; never taken.
    ReservedBranchCondition "reserved branch condition",
    /// Both ALUs write the same accumulator or I/O register in the same elements; the mul ALU's write comes last.
    DoubleWrite "both ALUs write the same accumulator or I/O register",
    /// More than one of the peripherals that share a port.
    SeveralPeripherals "more than one access to TMU, TLB, SFU, mutex or semaphore in one instruction",
    /// A semaphore instruction writes to a peripheral that can stall [AG p.33].
    SemaphoreWithPeripheral "a semaphore instruction writes to a peripheral that can stall",
    /// A uniform is read while a write to a TMU takes one.
    UniformWithTmuWrite "a uniform is read by an instruction whose TMU write takes a uniform",
    /// Unpacking of something read through port A that is no register: not documented. It is unpacked here.
    UnpackOfPeripheral "what is unpacked is not read from register file A",
    /// A single byte packed for a register that can only be written whole [vc4asm]. The other bytes are 0 here.
    PackToPeripheral "a single byte is packed for an I/O register",
    /// An address that nothing is mapped to.
    UnmappedRead "an address is read that nothing is mapped to",
    /// A register is read that the previous instruction wrote; the old value is read.
    StaleRead Hazard::ReadAfterWrite.sentence(),
    /// r4 is read within two instructions of an SFU write; the old value is read.
    SfuTooEarly Hazard::SfuResult.sentence(),
    /// r4 is written within two instructions of an SFU write; the later write wins here.
    SfuClobbered Hazard::SfuBusy.sentence(),
    /// A rotation of an accumulator that the previous instruction wrote, both without a condition. The new value is rotated here.
    RotationTooEarly Hazard::RotationAfterWrite.sentence(),
    /// A rotation by r5 that the previous instruction wrote. The new value counts here.
    RotationByFreshR5 Hazard::RotationByR5AfterWrite.sentence(),
    /// The multisample mask is read within two instructions of a Z write.
    MsFlagsTooEarly Hazard::MsFlagsAfterTlbZ.sentence(),
    /// A uniform is read within two instructions of a write of the uniforms' address [AG p.22].
    UniformTooEarly Hazard::UniformAfterAddress.sentence(),
    /// TMU swapping is disabled less than three instructions before a TMU write.
    NoSwapTooLate Hazard::TmuAfterNoSwap.sentence(),
    /// A TMU or VPM is written in some elements only; the access happens all the same, with undefined data [vc4asm].
    ConditionalPeripheral "a conditional write to a TMU, the SFU or the VPM does not hold in all elements",
    /// The scoreboard is waited for in the first instruction. The guide forbids it in the second, too (HW-2796: then pixels may go to the previous tile), but
    /// most programs of Broadcom's own compiler wait there [brcm], and so do demos that draw on boards [PeterLemon FillColor].
    ScoreboardTooEarly "the scoreboard is waited for in the first instruction",
    /// The instruction that ends the program writes to a register file.
    EndWritesRegister "the instruction that signals the program's end writes to a register file",
    /// Register 14 is accessed in the last three instructions.
    EndTouchesRegister14 "register 14 is accessed in the last three instructions",
    /// Uniforms, varyings or VPM are accessed in the last three instructions.
    EndAccess "uniforms, varyings or VPM are accessed in the last three instructions",
    /// Z is written in the last instruction.
    EndWritesZ "Z is written in the last instruction",
    /// Accumulators or flags are read that did not survive a thread switch.
    LostInThreadSwitch "an accumulator or flag is read that a thread switch has left undefined",
    /// A thread switch after the one that was signalled as the last.
    SwitchAfterLast "a thread switch follows the last one",
    /// Registers 16 to 31 are accessed by one of two threads: they are the other thread's.
    OtherThreadsRegister "registers 16 to 31 belong to the other thread",
    /// The odd branch target register of HW-2780; bit 45 is also the flag update bit.
    OddBranchRegister "a branch takes its target from an odd register (HW-2780)",
    /// A branch within two instructions of a branch: none or garbage is taken [vc4asm]. Here each is taken relative to its own address.
    BranchTooClose Hazard::BranchAfterBranch.sentence(),
    /// A software breakpoint; the QPU halts, which ends the program here.
    Breakpoint "software breakpoint",
}

/// Rules are bits of a word.
const _: () = assert!(Rule::ALL.len() <= u64::BITS as usize);

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
        Rule::ALL.iter().copied().filter(move |&rule| self.contains(rule))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_can_be_reported() {
        let all = Rule::ALL.iter().fold(Rules::default(), |mut rules, &rule| {
            rules.add(rule);
            rules
        });
        assert_eq!(all.iter().collect::<Vec<_>>(), Rule::ALL);
    }
}
