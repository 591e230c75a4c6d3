//! Hazards: how far apart instructions must stand, because the QPU does not wait.
//!
//! The checker of the assembler, the driver's validator and the model take the distance and the sentence of each rule from here. Which instructions are the two
//! of a hazard is decided by each of them for itself.

/// Makes the hazards and the list of them.
macro_rules! hazards {
    ($( $(#[doc = $doc:literal])+ $name:ident = $between:literal, $sentence:literal, $source:literal; )*) => {
        /// A hazard between two instructions, or between the program's start or end and an instruction.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Hazard {
            $( $(#[doc = $doc])+ $name, )*
        }

        impl Hazard {
            /// All of them.
            pub const ALL: &'static [Self] = &[$( Self::$name, )*];

            /// The name, as `tests/vectors/hazards.tsv` has it.
            pub const fn name(self) -> &'static str {
                match self { $( Self::$name => stringify!($name), )* }
            }

            /// Instructions that must stand between the two; before the instruction, if there is one.
            pub const fn between(self) -> u32 {
                match self { $( Self::$name => $between, )* }
            }

            /// Instructions from the first of the two to the nearest in which the second may stand.
            pub const fn distance(self) -> u32 {
                self.between() + 1
            }

            /// What is said of a program that does not keep the distance.
            pub const fn sentence(self) -> &'static str {
                match self { $( Self::$name => $sentence, )* }
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
    ReadAfterWrite = 1, "a register is read right after it is written", "[AG p.37]";
    /// r4 is read after a write to the SFU.
    SfuResult = 2, "r4 is read before the SFU's result is there", "[AG p.23, p.37]";
    /// r4 is written, or to be written, after a write to the SFU.
    SfuBusy = 2, "r4 is written while a result of the SFU is on its way to it", "[AG p.23, p.37]";
    /// An accumulator is rotated after it is written.
    RotationAfterWrite = 1, "an accumulator is rotated right after it is written", "[AG p.37]";
    /// Something is rotated by r5 after that is written.
    RotationByR5AfterWrite = 1, "a rotation by r5 right after r5 is written", "[AG p.37]";
    /// The multisample mask is read after Z is written.
    MsFlagsAfterTlbZ = 2, "the multisample mask is read within two instructions of a Z write", "[AG p.37]";
    /// A uniform is read after their address is written.
    UniformAfterAddress = 2, "a uniform is read within two instructions of a write of the uniforms' address", "[AG p.22]";
    /// A TMU is written after TMU_NOSWAP. The guide's example is a write in the first instruction and a TMU in the fourth; Mesa and vc4asm ask for one
    /// instruction more.
    TmuAfterNoSwap = 2, "a TMU is written less than three instructions after its swap is disabled", "[AG p.23, p.37]";
    /// The scoreboard is waited for after the start of a fragment shader.
    ScoreboardAfterStart = 2, "the scoreboard is waited for in the first two instructions", "[AG p.37] (HW-2796)";
    /// A branch stands after another.
    BranchAfterBranch = 2, "a branch in the delay slots of another", "[vc4asm]";
    /// The VPM is read after the read is set up. Boards wait for the data [vc4asm].
    VpmReadAfterSetup = 2, "the VPM is read less than three instructions after the read is set up", "[AG p.56]";
    /// A register of file A or B is read after a rotated result is written to it.
    ReadAfterRotatedWrite = 2, "a rotated result is read two instructions after it is written", "[pyvc]";
    /// The program's last instruction after Z is written. The guide forbids Z in that instruction alone [AG p.37].
    EndAfterTlbZ = 4, "Z is written in the last five instructions", "[brcm HW-2806]";
    /// A TMU is written after the start of a program, where TMUs are swapped.
    TmuAfterStart = 2, "a TMU is written in the first two instructions", "[brcm HW-2615]";
}
