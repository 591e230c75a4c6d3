//! The correspondence of the model's rules and the checker's codes, and the reasons for differences.

use crate::case::{Case, decoded};
use crate::execution::{Complaint, Executed};
use qpu::Code;
use v3d_hw::qpu::accesses::Write;
use v3d_hw::qpu::{BRANCH_DELAY_SLOTS, Instruction, WriteTarget};
use v3d_sim::qpu::{IoError, QpuError, Rule};
use v3d_sim::tmu::TmuFault;
use v3d_sim::vpm::VpmError;

/// The scope of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// An instruction and the one before it: both sides report every place.
    Next,
    /// An instruction and the two before it: both sides report every place.
    Neighbours,
    /// All earlier instructions: the checker reports a place only if the rule is broken on every path to it.
    Path,
    /// The same, and the model reports only the first place.
    Once,
    /// The state of units: compared only in suites in which this state is known.
    Units,
}

/// A rule of the model.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Name {
    /// A rule of the instruction set.
    Rule(Rule),
    /// A fault of a unit.
    Unit(fn(&Complaint) -> bool),
}

/// A rule that both sides have.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    rules: &'static [Name],
    pub(crate) codes: &'static [Code],
    pub(crate) scope: Scope,
}

impl Scope {
    /// Number of instructions that the rule looks back, if it depends on these only.
    pub(crate) const fn steps(self) -> Option<usize> {
        match self {
            Self::Next => Some(1),
            Self::Neighbours => Some(2),
            Self::Path | Self::Once | Self::Units => None,
        }
    }
}

impl Row {
    /// Whether a fault of the model is about this rule.
    pub(crate) fn is(&self, complaint: &Complaint) -> bool {
        self.rules.iter().any(|name| match name {
            Name::Rule(rule) => *complaint == Complaint::Error(QpuError::Rule(*rule)),
            Name::Unit(is) => is(complaint),
        })
    }
}

const fn row(name: &'static str, rules: &'static [Name], codes: &'static [Code], scope: Scope) -> Row {
    Row { name, rules, codes, scope }
}

use Name::{Rule as Of, Unit};
use Scope::{Neighbours, Next, Once, Path, Units};

/// The rules that both sides have.
pub(crate) const ROWS: &[Row] = &[
    row(
        "reserved code",
        &[
            Of(Rule::ReservedOperation),
            Of(Rule::ReservedPack),
            Of(Rule::ReservedImmediate),
            Of(Rule::ReservedBranchCondition),
        ],
        &[Code::ReservedCode],
        Neighbours,
    ),
    row("both ALUs write one register", &[Of(Rule::DoubleWrite)], &[Code::BothAlusWriteSame], Neighbours),
    row(
        "several peripherals",
        &[Of(Rule::SeveralPeripherals), Of(Rule::SemaphoreWithPeripheral)],
        &[Code::TwoPeripherals],
        Neighbours,
    ),
    row("uniform with TMU write", &[Of(Rule::UniformWithTmuWrite)], &[Code::UniformWithTmuWrite], Units),
    row("part of a word to a peripheral", &[Of(Rule::PackToPeripheral)], &[Code::PartialPeripheralWrite], Neighbours),
    row("unmapped address", &[Of(Rule::UnmappedRead)], &[Code::Unmapped], Neighbours),
    row("register read right after its write", &[Of(Rule::StaleRead)], &[Code::ReadAfterWrite], Next),
    row("r4 read before the SFU's result", &[Of(Rule::SfuTooEarly)], &[Code::R4BeforeSfu], Neighbours),
    row("r4 written before the SFU's result", &[Of(Rule::SfuClobbered)], &[Code::SfuBusy], Neighbours),
    row("rotation right after the write", &[Of(Rule::RotationTooEarly)], &[Code::RotationAfterWrite], Next),
    row("rotation by r5 right after its write", &[Of(Rule::RotationByFreshR5)], &[Code::RotationByR5AfterWrite], Next),
    row("multisample mask after Z write", &[Of(Rule::MsFlagsTooEarly)], &[Code::MsFlagsAfterTlbZ], Neighbours),
    row("uniform after their address", &[Of(Rule::UniformTooEarly)], &[Code::UniformAfterAddress], Neighbours),
    row("TMU write after TMU_NOSWAP", &[Of(Rule::NoSwapTooLate)], &[Code::TmuSoonAfterNoSwap], Neighbours),
    row(
        "conditional write to a peripheral",
        &[Of(Rule::ConditionalPeripheral)],
        &[Code::ConditionalPeripheralWrite, Code::BothAlusWriteParts],
        Neighbours,
    ),
    row(
        "scoreboard in the first two",
        &[Of(Rule::ScoreboardTooEarly)],
        &[Code::ScoreboardAtStart, Code::ScoreboardWaitSecond],
        Neighbours,
    ),
    row("the end writes a register", &[Of(Rule::EndWritesRegister)], &[Code::WriteAtEnd], Neighbours),
    row("register 14 at the end", &[Of(Rule::EndTouchesRegister14)], &[Code::Register14AtEnd], Neighbours),
    row("uniforms, varyings, VPM at the end", &[Of(Rule::EndAccess)], &[Code::AccessAtEnd], Neighbours),
    row("Z write in the last instruction", &[Of(Rule::EndWritesZ)], &[Code::TlbZAtEnd], Neighbours),
    row("value lost in a thread switch", &[Of(Rule::LostInThreadSwitch)], &[Code::LostOverThreadSwitch], Once),
    row("switch after the last", &[Of(Rule::SwitchAfterLast)], &[Code::SwitchAfterLast], Path),
    row("the other thread's register", &[Of(Rule::OtherThreadsRegister)], &[Code::UpperHalfOfFile], Path),
    row("odd register of a target", &[Of(Rule::OddBranchRegister)], &[Code::OddBranchTarget], Neighbours),
    row("branch in the slots of another", &[Of(Rule::BranchTooClose)], &[Code::BranchInDelaySlots], Neighbours),
    row("off the end", &[Unit(leaves_program)], &[Code::RunsOffTheEnd], Neighbours),
    row("TMU result without request", &[Unit(tmu_is_empty)], &[Code::TmuWithoutRequest], Units),
    row("TMU without room", &[Unit(tmu_is_full)], &[Code::TmuFifoFull], Units),
    row("mutex", &[Unit(mutex)], &[Code::MutexBalance], Units),
    row("VPM read", &[Unit(vpm_read)], &[Code::VpmReadWithoutSetup, Code::VpmReadBeyondSetup], Units),
    row("VPM write", &[Unit(vpm_write)], &[Code::VpmWriteWithoutSetup], Units),
    row("third set-up of VPM reads", &[Unit(vpm_queue)], &[Code::VpmQueueFull], Units),
];

fn leaves_program(complaint: &Complaint) -> bool {
    *complaint == Complaint::LeftProgram
}

fn tmu_is_empty(complaint: &Complaint) -> bool {
    matches!(complaint, Complaint::Error(QpuError::Tmu(TmuFault::ReceiveFifoEmpty)))
}

fn tmu_is_full(complaint: &Complaint) -> bool {
    matches!(complaint, Complaint::Error(QpuError::Tmu(TmuFault::FifoOverflow { .. })))
}

fn mutex(complaint: &Complaint) -> bool {
    matches!(complaint, Complaint::Error(QpuError::Io(IoError::MutexHeld | IoError::MutexNotHeld)))
}

fn vpm_read(complaint: &Complaint) -> bool {
    matches!(complaint, Complaint::Error(QpuError::Io(IoError::Vpm(VpmError::ReadExhausted))))
}

fn vpm_write(complaint: &Complaint) -> bool {
    matches!(complaint, Complaint::Error(QpuError::Io(IoError::Vpm(VpmError::NoSetup(_)))))
}

fn vpm_queue(complaint: &Complaint) -> bool {
    matches!(complaint, Complaint::Error(QpuError::Io(IoError::Vpm(VpmError::ReadQueueFull))))
}

/// Rules that only the model has.
const MODEL_ALONE: &[(Rule, &str)] = &[
    (Rule::UnpackOfPeripheral, "no source says that it fails; the assembler refuses it (E0075)"),
    (Rule::Breakpoint, "it is meant for a debugger, and the program is not wrong"),
];

/// Codes of the checker about the hardware that only the checker has.
const CHECKER_ALONE: &[(Code, &str)] = &[
    (Code::NeverWritten, "the model clears registers, so that nothing is left of the program before"),
    (Code::RotationWithinQuads, "the model rotates within quads, which is what happens"),
    (Code::VpmConflict, "the model obeys both"),
    (Code::NoSwapAfterTmu, "in the model no TMU is swapped"),
    (Code::R4BeforeLoad, "the model gives what r4 had before"),
    (Code::UniformCount, "the interface says it, which the model does not know"),
    (Code::VaryingCount, "the interface says it; too many are an error of the varyings' unit"),
    (Code::AttributeCount, "the interface says it, which the model does not know"),
    (Code::TextureNotDeclared, "the interface says it, which the model does not know"),
    (Code::SemaphoreBalance, "the interface says it, which the model does not know"),
    (Code::TlbAfterUnlock, "the model's QPUs work on pixels one after the other"),
    (Code::ScoreboardNotUnlocked, "the model's QPUs work on pixels one after the other"),
    (Code::TlbBeforeLastSwitch, "the model's threads do not wait for each other"),
    (Code::LastSwitchMissing, "the model's threads do not wait for each other"),
    (Code::SwitchUnthreaded, "a board draws with programs that do it; the model goes on with the same thread"),
    (Code::NeverSwitches, "the model reports it for a frame that also has programs that do switch"),
    (Code::TmuResultLeft, "the model forgets results at a program's end"),
    (Code::TmuParameterWithoutS, "the model forgets parameters at a program's end"),
    (Code::TmuResultWithoutSwitch, "in the model each thread has FIFOs of its own"),
    (Code::TmuResultOverSwitch, "in the model each thread has FIFOs of its own"),
    (Code::TmuParametersOverSwitch, "in the model each thread has FIFOs of its own"),
    (Code::VpmReadLeft, "the model cancels reads at a program's end, as the guide says"),
    (Code::MutexUnsure, "it depends on the path"),
    (Code::Unreachable, "it is never executed"),
    (Code::DelaySlots, "it breaks no rule"),
    (Code::VpmInFragment, "fragment shaders have units of their own, which say so"),
    (Code::StageMismatch, "each stage has units of its own, which say so"),
    (Code::VpmReadSoon, "sources disagree; the model does as boards do"),
    (Code::ManyDirectLookups, "sources disagree; in the model all eight lookups work"),
    (Code::VpmSetupSoon, "sources disagree; in the model the guide's two set-ups are queued"),
    (Code::TlbZNearEnd, "sources disagree; the model has the guide's rule"),
    (Code::TmuAtStart, "in the model no TMU is swapped"),
    (Code::MutexWithVpmReads, "the erratum says no more than that it is to be avoided"),
    (Code::RotatedResultSoon, "the model has the guide's rule"),
];

/// The side that reports alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    Checker,
    Model,
}

/// A place that only one side reports.
pub(crate) struct Site<'s> {
    pub(crate) words: &'s [u64],
    pub(crate) executed: &'s Executed,
    pub(crate) at: usize,
    pub(crate) case: &'s Case,
}

impl Site<'_> {
    fn instruction(&self) -> Instruction {
        decoded(self.words, self.at)
    }

    /// Whether a result of the previous instruction is conditional.
    fn follows_conditional_write(&self) -> bool {
        let before = self.executed.before(self.at).first().map(|&at| decoded(self.words, at).accesses());
        before.is_some_and(|accesses| accesses.written().any(Write::is_conditional))
    }

    fn rotates_into_r5(&self) -> bool {
        self.instruction().accesses().writes[1].target.is_r5()
    }
}

/// A reason that only one side reports a place.
pub(crate) struct Exception {
    pub(crate) row: &'static str,
    pub(crate) side: Side,
    pub(crate) holds: fn(&Site<'_>) -> bool,
    pub(crate) why: &'static str,
}

/// The row of an exception that applies to all rows.
pub(crate) const ANY_ROW: &str = "any";

/// All reasons that only one side reports a place.
pub(crate) const EXCEPTIONS: &[Exception] = &[
    Exception {
        row: "scoreboard in the first two",
        side: Side::Checker,
        holds: |site| site.executed.before(site.at).len() == 1,
        why: "the guide forbids the wait in the second instruction, too, but programs that do it draw on boards",
    },
    Exception {
        row: "conditional write to a peripheral",
        side: Side::Checker,
        holds: |_| true,
        why: "whether a condition leaves elements out is decided by values",
    },
    Exception {
        row: "TMU write after TMU_NOSWAP",
        side: Side::Checker,
        holds: |site| {
            let before = site.executed.before(site.at);
            before.iter().take(2).any(|&at| {
                let accesses = decoded(site.words, at).accesses();
                accesses.written().any(|write| write.target == WriteTarget::TmuNoSwap && write.is_conditional())
            })
        },
        why: "whether a conditional write disables the swap is decided by values",
    },
    Exception {
        row: "TMU without room",
        side: Side::Checker,
        holds: |_| true,
        why: "the model reports one fault of a lookup, and that of the texture comes first",
    },
    Exception {
        row: "register read right after its write",
        side: Side::Model,
        holds: |site| site.case.has_conditional_branches() || site.follows_conditional_write(),
        why: "the elements that are read may be others than those that were written",
    },
    Exception {
        row: "rotation right after the write",
        side: Side::Checker,
        holds: |_| true,
        why: "a warning: the model takes a condition for care that elements of other quads do not matter",
    },
    Exception {
        row: "rotation right after the write",
        side: Side::Model,
        holds: |site| site.rotates_into_r5(),
        why: "a rotation by less than a quad into r5 uses only what stays in its quad",
    },
    Exception {
        row: ANY_ROW,
        side: Side::Model,
        holds: |site| {
            let branches = |at: &usize| matches!(decoded(site.words, *at), Instruction::Branch(_));
            let within_slots = |steps: &[usize]| branches(&steps[0]) && steps[1..].iter().any(branches);
            let mut runs = site.executed.runs_before(site.at);
            runs.any(|run| run.windows(1 + BRANCH_DELAY_SLOTS as usize).any(within_slots))
        },
        why: "the checker does not follow a branch whose delay slots are behind the target of another",
    },
    Exception {
        row: "mutex",
        side: Side::Checker,
        holds: |site| site.at + 1 == site.words.len(),
        why: "the model lets a program end with the mutex",
    },
    Exception {
        row: "uniforms, varyings, VPM at the end",
        side: Side::Checker,
        holds: |site| site.instruction().signal().switches_threads(),
        why: "the checker has the code for thread switches at the end, too",
    },
];

/// Rules and codes that are in no table.
pub(crate) fn gaps() -> Vec<String> {
    let mut gaps = Vec::new();
    for rule in Rule::ALL {
        let in_row = ROWS.iter().any(|row| row.is(&Complaint::Error(QpuError::Rule(*rule))));
        if !in_row && !MODEL_ALONE.iter().any(|(alone, _)| alone == rule) {
            gaps.push(format!("the model's rule {rule:?} is in no table"));
        }
    }
    // Codes from here on are about the hardware.
    const FIRST: u16 = Code::ReadAfterWrite.number();
    for code in Code::ALL.iter().filter(|code| code.number() >= FIRST) {
        let in_row = ROWS.iter().any(|row| row.codes.contains(code));
        if !in_row && !CHECKER_ALONE.iter().any(|(alone, _)| alone == code) {
            gaps.push(format!("the checker's {code} {} is in no table", code.title()));
        }
    }
    gaps
}
