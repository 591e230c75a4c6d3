//! Mnemonics of instructions.

use v3d_hw::qpu::{AddOp, ImmediateKind, MulOp, Signal};

/// Which ALU a mnemonic may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The first free one, in the mnemonic's order of preference.
    Free,
    /// The add ALU.
    Add,
    /// The mul ALU.
    Mul,
}

/// What a mnemonic does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mnemonic {
    /// An operation of the add ALU.
    Add(AddOp, Choice),
    /// An operation of the mul ALU.
    Mul(MulOp, Choice),
    /// A move, encoded in the form that needs the fewest fields.
    Move(Choice),
    /// A load immediate.
    Load(ImmediateKind),
    /// Semaphore acquire.
    Acquire,
    /// Semaphore release.
    Release,
    /// A register file read without an operation.
    Read,
    /// A branch; relative or not.
    Branch {
        /// The target is relative to PC + 4.
        relative: bool,
    },
    /// A signal.
    Signal(Signal),
}

impl Mnemonic {
    /// Names beyond those in the tables of `v3d_hw`.
    const OTHER: &'static [(&'static str, Self)] = &[
        ("mov", Self::Move(Choice::Free)),
        ("amov", Self::Move(Choice::Add)),
        ("mmov", Self::Move(Choice::Mul)),
        ("nop", Self::Add(AddOp::Nop, Choice::Free)),
        ("anop", Self::Add(AddOp::Nop, Choice::Add)),
        ("mnop", Self::Mul(MulOp::Nop, Choice::Mul)),
        ("v8adds", Self::Mul(MulOp::V8adds, Choice::Free)),
        ("av8adds", Self::Add(AddOp::V8adds, Choice::Add)),
        ("mv8adds", Self::Mul(MulOp::V8adds, Choice::Mul)),
        ("v8subs", Self::Mul(MulOp::V8subs, Choice::Free)),
        ("av8subs", Self::Add(AddOp::V8subs, Choice::Add)),
        ("mv8subs", Self::Mul(MulOp::V8subs, Choice::Mul)),
        ("ldi", Self::Load(ImmediateKind::Word)),
        ("ldipes", Self::Load(ImmediateKind::PerElementSigned)),
        ("ldipeu", Self::Load(ImmediateKind::PerElementUnsigned)),
        ("sacq", Self::Acquire),
        ("srel", Self::Release),
        ("read", Self::Read),
        ("bra", Self::Branch { relative: false }),
        ("brr", Self::Branch { relative: true }),
        ("break", Self::Signal(Signal::Breakpoint)),
        ("tswitch", Self::Signal(Signal::ThreadSwitch)),
        ("lswitch", Self::Signal(Signal::LastThreadSwitch)),
        ("tend", Self::Signal(Signal::ProgramEnd)),
        ("waitscb", Self::Signal(Signal::ScoreboardWait)),
        ("unlscb", Self::Signal(Signal::ScoreboardUnlock)),
        ("ldcvtlb", Self::Signal(Signal::LoadCoverage)),
        ("ldcotlb", Self::Signal(Signal::LoadColor)),
        ("ldcoend", Self::Signal(Signal::LoadColorEnd)),
        ("ldaltlb", Self::Signal(Signal::LoadAlpha)),
    ];

    /// All names. If a name occurs more than once, the first one counts.
    pub fn named() -> impl Iterator<Item = (&'static str, Self)> {
        let signals = Signal::ALL.iter().filter(|signal| {
            !matches!(signal, Signal::None | Signal::SmallImmediate | Signal::LoadImmediate | Signal::Branch)
        });
        Self::OTHER
            .iter()
            .copied()
            .chain(signals.map(|&signal| (signal.name(), Self::Signal(signal))))
            .chain(AddOp::ALL.iter().map(|&op| (op.name(), Self::Add(op, Choice::Free))))
            .chain(MulOp::ALL.iter().map(|&op| (op.name(), Self::Mul(op, Choice::Free))))
    }
}
