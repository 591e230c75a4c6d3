//! Hazards: how far apart instructions must stand, because the QPU does not wait.

/// Makes the hazards and the list of them.
macro_rules! hazards {
    ($( $(#[doc = $doc:literal])+ $name:ident = $between:literal, $source:literal; )*) => {
        /// A hazard between two instructions, or between the program's start and an instruction.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Hazard {
            $( $(#[doc = $doc])+ $name, )*
        }

        impl Hazard {
            /// All of them.
            pub const ALL: &'static [Self] = &[$( Self::$name, )*];

            /// Instructions that must stand between the two; before the instruction, if there is one.
            pub const fn between(self) -> u32 {
                match self { $( Self::$name => $between, )* }
            }

            /// Instructions from the first of the two to the nearest in which the second may stand.
            pub const fn distance(self) -> u32 {
                self.between() + 1
            }

            /// Who says so.
            pub const fn source(self) -> &'static str {
                match self { $( Self::$name => $source, )* }
            }
        }
    };
}

hazards! {
    /// A register of file A or B is read after it is written.
    ReadAfterWrite = 1, "[AG p.37]";
    /// r4 is read or written after a write to the SFU.
    SfuResult = 2, "[AG p.23, p.37]";
    /// An accumulator is rotated after it is written.
    RotationAfterWrite = 1, "[AG p.37]";
    /// Something is rotated by r5 after that is written.
    RotationByR5AfterWrite = 1, "[AG p.37]";
    /// The multisample mask is read after Z is written.
    MsFlagsAfterTlbZ = 2, "[AG p.37]";
    /// A uniform is read after their address is written.
    UniformAfterAddress = 2, "[AG p.22]";
    /// A TMU is written after TMU_NOSWAP.
    TmuAfterNoSwap = 2, "[AG p.23, p.37]";
    /// The scoreboard is waited for after the start of a fragment shader.
    ScoreboardAfterStart = 2, "[AG p.37] (HW-2796)";
    /// A branch stands after another.
    BranchAfterBranch = 2, "[vc4asm]";
    /// The VPM is read after the read is set up. Boards wait for the data [vc4asm].
    VpmReadAfterSetup = 2, "[AG p.56]";
    /// A register of file A or B is read after a rotated result is written to it.
    ReadAfterRotatedWrite = 2, "[pyvc]";
    /// The program's last instruction after Z is written. The guide forbids Z in that instruction alone [AG p.37].
    EndAfterTlbZ = 4, "[brcm HW-2806]";
    /// A TMU is written after the start of a program, where TMUs are swapped.
    TmuAfterStart = 2, "[brcm HW-2615]";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hazard_has_a_source() {
        assert!(Hazard::ALL.iter().all(|hazard| hazard.source().starts_with('[') && hazard.between() > 0));
    }
}
