//! Signals [AG p.21-24, p.29, p.47-48].

use super::Entry;
use crate::code::Code;

/// The signals.
pub(super) const TABLE: &[Entry] = &[
    Entry {
        names: &["thrsw", "tswitch"],
        form: "OPERATIONS; thrsw",
        meaning: "Thread switch: the QPU goes on with its other thread, after two more instructions of this one. Programs use it after requests to a TMU, so \
            that the other thread computes while the results are on their way. Accumulators and flags are shared: they hold the other thread's values \
            afterwards. Registers 0 to 15 of both files are kept; each thread has its own. All threads must make the same number of switches, and the last one \
            of a program is lthrsw, not thrsw [AG p.20-21].",
        example: "mov t0s, ra0; thrsw\nnop\nnop\nldtmu0     # the switch has taken effect; the result is there",
        codes: &[
            Code::LostOverThreadSwitch,
            Code::UpperHalfOfFile,
            Code::LastSwitchMissing,
            Code::SwitchUnthreaded,
            Code::TmuResultWithoutSwitch,
            Code::TmuResultOverSwitch,
            Code::TmuParametersOverSwitch,
        ],
    },
    Entry {
        names: &["lthrsw", "lswitch"],
        form: "OPERATIONS; lthrsw",
        meaning: "Last thread switch: as thrsw, and says that this program makes no other. From then on the scoreboard may be locked (tile buffer accesses \
            stand behind it), and when the program ends the QPU may start the next one in its place [AG p.21].",
        example: "mov t0s, ra0; lthrsw\nnop\nnop\nldtmu0",
        codes: &[Code::SwitchAfterLast, Code::TlbBeforeLastSwitch, Code::LastSwitchMissing],
    },
    Entry {
        names: &["thrend", "tend"],
        form: "OPERATIONS; thrend",
        meaning: "Program end: the thread ends after two more instructions. In these three instructions uniforms, varyings, the VPM and registers ra14 and \
            rb14 \
            must not be accessed, and the instruction that signals must not write register file A or B, since the QPU loads the next program's \
            first values into them [AG p.21-22, p.37].",
        example: "thrend\nnop\nnop",
        codes: &[Code::AccessAtEnd, Code::Register14AtEnd, Code::WriteAtEnd, Code::RunsOffTheEnd],
    },
    Entry {
        names: &["bkpt", "break"],
        form: "OPERATIONS; bkpt",
        meaning: "Software breakpoint: the QPU stops for a debugger on the host [AG p.29].",
        example: "bkpt",
        codes: &[],
    },
    Entry {
        names: &["sbwait", "waitscb"],
        form: "OPERATIONS; sbwait",
        meaning: "Waits until no earlier fragments of the same pixels are in flight, and locks the scoreboard for these. The first access of the tile \
            buffer does \
            the same by itself, so that the signal is seldom needed. Not in the first two instructions of a fragment shader [AG p.29, p.37, p.47].",
        example: "nop\nnop\nsbwait",
        codes: &[Code::ScoreboardAtStart, Code::ScoreboardWaitSecond],
    },
    Entry {
        names: &["sbdone", "unlscb"],
        form: "OPERATIONS; sbdone",
        meaning: "Unlocks the scoreboard: other QPUs may access these pixels from now on. Each fragment shader that accesses the tile buffer signals it \
            once, after \
            or together with its last access [AG p.29, p.47].",
        example: "mov tlbc, r0; thrend\nnop\nnop; sbdone",
        codes: &[Code::TlbAfterUnlock, Code::ScoreboardNotUnlocked],
    },
    Entry {
        names: &["loadcv", "ldcvtlb"],
        form: "OPERATIONS; loadcv",
        meaning: "Loads the coverage of the pixels from the tile buffer to r4, where the next instruction can read it [AG p.29, p.48].",
        example: "loadcv\nmov r0, r4",
        codes: &[Code::R4BeforeLoad, Code::TwoPeripherals],
    },
    Entry {
        names: &["loadc", "ldcotlb"],
        form: "OPERATIONS; loadc",
        meaning: "Loads the colour of the pixels from the tile buffer to r4, where the next instruction can read it: four bytes, red in the lowest. \
            Blending on \
            this GPU is shader code that begins with it. With four samples a pixel, each loadc loads the next sample [AG p.29, p.48].",
        example: "loadc\nv8adds r0, r0, r4\nmov tlbc, r0",
        codes: &[Code::R4BeforeLoad, Code::TwoPeripherals],
    },
    Entry {
        names: &["ldcend", "ldcoend"],
        form: "OPERATIONS; ldcend",
        meaning: "loadc and thrend in one signal: loads a colour to r4, and the thread ends after two more instructions [AG p.29].",
        example: "ldcend\nv8adds tlbc, r0, r4\nnop; sbdone",
        codes: &[Code::AccessAtEnd, Code::R4BeforeLoad],
    },
    Entry {
        names: &["ldtmu0"],
        form: "OPERATIONS; ldtmu0",
        meaning: "Takes the oldest result of TMU 0 from its queue to r4, where the next instruction can read it. The QPU waits until the result is there. Each \
            lookup needs exactly one ldtmu0 (two for textures of 64 bits a texel) [AG p.23, p.29].",
        example: "mov t0s, ra0\nnop        # other work stands here: a result takes nine instructions or more\nldtmu0\nmov r0, r4",
        codes: &[Code::TmuWithoutRequest, Code::TmuResultLeft, Code::TmuFifoFull, Code::R4BeforeLoad],
    },
    Entry {
        names: &["ldtmu1"],
        form: "OPERATIONS; ldtmu1",
        meaning: "As ldtmu0, for TMU 1. Two of the four QPUs of a slice use the two TMUs with their numbers exchanged, unless tmu_noswap is \
            written: a program names its own two queues, not the units [AG p.23-24].",
        example: "mov t1s, ra0\nnop\nldtmu1\nmov r0, r4",
        codes: &[Code::TmuWithoutRequest, Code::TmuResultLeft, Code::TmuSoonAfterNoSwap],
    },
    Entry {
        names: &["loadam", "ldaltlb"],
        form: "OPERATIONS; loadam",
        meaning: "Loads the alpha mask of the pixels from the tile buffer to r4 [AG p.29, p.48].",
        example: "loadam\nmov r0, r4",
        codes: &[Code::R4BeforeLoad],
    },
];
