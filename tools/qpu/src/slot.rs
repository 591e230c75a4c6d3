//! An instruction word under construction.
//!
//! The parts of a line are added one after the other: an operation, its target, its sources, the next operation … Each part claims fields of the word, and
//! decides where there is a choice (ALU, register file, write swap, small immediate). It is an error if it would change the meaning of an earlier part. Both
//! ALUs share nearly all fields of the 64 bits [AG p.26-30]; that is why there are choices to make.
//!
//! # Choices
//! - An operation that both ALUs have goes to the first free one; a move goes to the add ALU first.
//! - A register that is in both files is read through file A if that is free; if a later part needs file A, the read is moved to file B.
//! - The write swap bit is determined by the first target that exists in one file only.
//! - An operation that has an equivalent on the other ALU is moved there if a later part needs its ALU.
//!
//! # Sources
//! [AG p.26-38]; the order of the choices is that of [vc4asm], so that the same source gives the same words.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use v3d_hw::FieldError;
use v3d_hw::Layout;
use v3d_hw::qpu::address_map::{is_register, is_written_in_either_file};
use v3d_hw::qpu::{
    AddOp, Alu, Branch, BranchCondition, Condition, ImmediateKind, LoadImmediate, MulOp, Mux, PackMul, Semaphore,
    Signal, SmallImmediate,
};

use crate::code::Code;
use crate::value::{Access, NOP, Number, PackSuffix, Register};

mod branch;
mod constant;
mod constants;
mod finish;
mod moves;
mod operation;
mod pack;
mod recipe;
mod rotate;
mod source;
mod swap;
mod unpack;

use constants::Constants;
pub(crate) use moves::Load;
pub(crate) use operation::Op;

/// Why a part was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: Code,
    pub(crate) message: String,
}

impl Refusal {
    /// A refusal with a message that replaces the title of its code.
    #[cold]
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Box<Self> {
        Box::new(Self { code, message: message.into() })
    }
}

impl From<Code> for Box<Refusal> {
    #[cold]
    fn from(code: Code) -> Self {
        Refusal::new(code, code.title())
    }
}

/// The result of a part; the error is boxed, because success is the common case.
pub(crate) type Outcome<T = ()> = Result<T, Box<Refusal>>;

/// A set of the places that an operation or operand can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(u8);

impl Place {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const ADD: Self = Self(1);
    pub(crate) const MUL: Self = Self(2);
    pub(crate) const BOTH: Self = Self(3);
    pub(crate) const SOURCE_A: Self = Self(4);
    pub(crate) const SOURCE_B: Self = Self(8);
    pub(crate) const SOURCES: Self = Self(12);
    pub(crate) const TARGET: Self = Self(16);
    pub(crate) const OPERATION: Self = Self(32);

    /// The union.
    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The intersection.
    pub(crate) const fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The difference.
    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether the intersection is not empty.
    pub(crate) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The set with the ALUs exchanged.
    pub(crate) const fn other_alu(self) -> Self {
        if self.meets(Self::BOTH) { Self(self.0 ^ Self::BOTH.0) } else { self }
    }
}

/// An unpack mode with the number type that it requires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnpackMode {
    pub(crate) mode: u8,
    pub(crate) number: Number,
}

/// A pack mode with the number type that it requires; for both ALUs, modes are numbered as those of register file A.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PackMode {
    pub(crate) mode: u8,
    pub(crate) number: Number,
}

/// The kind of instruction, as far as it is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// ALU instruction.
    Alu,
    /// Load immediate or semaphore.
    Load(ImmediateKind),
    /// Branch.
    Branch,
}

/// An instruction under construction.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) form: Form,
    pub(crate) sig: Signal,
    pub(crate) unpack: UnpackMode,
    pub(crate) pm: bool,
    /// The bit of the pack field that the mul ALU ignores.
    pub(crate) ignored_pack_bit: bool,
    pub(crate) pack: PackMode,
    pub(crate) cond_add: Condition,
    pub(crate) cond_mul: Condition,
    pub(crate) sf: bool,
    pub(crate) ws: bool,
    pub(crate) waddr_add: u8,
    pub(crate) waddr_mul: u8,
    pub(crate) op_add: AddOp,
    pub(crate) op_mul: MulOp,
    pub(crate) raddr_a: u8,
    /// Read address of file B, or the small immediate.
    pub(crate) raddr_b: u8,
    pub(crate) add_a: Mux,
    pub(crate) add_b: Mux,
    pub(crate) mul_a: Mux,
    pub(crate) mul_b: Mux,
    pub(crate) immediate: u32,
    pub(crate) cond_br: BranchCondition,
    pub(crate) relative: bool,
    pub(crate) register_target: bool,
    /// The label that a branch goes to, and an addend.
    pub(crate) label: Option<(u32, i64)>,
    constants: Constants,

    /// The operation or operand that the current part belongs to.
    pub(crate) place: Place,
    used_pack: Place,
    used_unpack: Place,
    used_rotation: Place,
    pm_fixed: bool,
    alus_fixed: bool,
    files_fixed: bool,
    /// A `nop` claims the add ALU.
    had_nop: bool,
    /// `anop` or `mnop` was written: the word remains an ALU instruction.
    keep: bool,
    always_add: bool,
    always_mul: bool,
    unary_second: bool,
    /// Warnings about the current part.
    pub(crate) warnings: Vec<Refusal>,
}

impl Default for Slot {
    fn default() -> Self {
        Self {
            form: Form::Alu,
            sig: Signal::None,
            unpack: UnpackMode::default(),
            pm: false,
            ignored_pack_bit: false,
            pack: PackMode::default(),
            cond_add: Condition::Always,
            cond_mul: Condition::Always,
            sf: false,
            ws: false,
            waddr_add: NOP,
            waddr_mul: NOP,
            op_add: AddOp::Nop,
            op_mul: MulOp::Nop,
            raddr_a: NOP,
            raddr_b: NOP,
            add_a: Mux::R0,
            add_b: Mux::R0,
            mul_a: Mux::R0,
            mul_b: Mux::R0,
            immediate: 0,
            cond_br: BranchCondition::Always,
            relative: false,
            register_target: false,
            label: None,
            constants: Constants::None,
            place: Place::NONE,
            used_pack: Place::NONE,
            used_unpack: Place::NONE,
            used_rotation: Place::NONE,
            pm_fixed: false,
            alus_fixed: false,
            files_fixed: false,
            had_nop: false,
            keep: false,
            always_add: false,
            always_mul: false,
            unary_second: false,
            warnings: Vec::new(),
        }
    }
}

impl Slot {
    /// Whether this is an ALU instruction, as far as it is decided.
    pub(crate) fn is_alu(&self) -> bool {
        self.form == Form::Alu
    }

    fn in_mul(&self) -> bool {
        self.place.meets(Place::MUL)
    }

    /// Whether an ALU writes to a register of file A, where results can be packed.
    fn writes_file_a(&self, mul: bool) -> bool {
        let (in_file_a, address) = if mul { (self.ws, self.waddr_mul) } else { (!self.ws, self.waddr_add) };
        in_file_a && is_register(address)
    }

    fn add_used(&self) -> bool {
        self.waddr_add != NOP || self.op_add != AddOp::Nop
    }

    fn mul_used(&self) -> bool {
        self.waddr_mul != NOP || self.op_mul != MulOp::Nop
    }

    fn small_immediate(&self) -> Option<u8> {
        (self.sig == Signal::SmallImmediate).then_some(self.raddr_b)
    }

    /// The value of the small immediate; rotation codes read as -16 to -1 [vc4asm].
    fn small_immediate_value(&self) -> Option<u32> {
        self.small_immediate().map(immediate_value)
    }

    fn warn(&mut self, code: Code, message: impl Into<String>) {
        self.warnings.push(*Refusal::new(code, message));
    }

    fn reads_file(&self, mux: Mux) -> bool {
        [self.add_a, self.add_b, self.mul_a, self.mul_b].contains(&mux)
    }

    fn float_result(&self, mul: bool) -> bool {
        if mul { self.op_mul.gives_floats() } else { self.op_add.gives_floats() }
    }

    /// Starts an operation; returns its number of sources. `forced`: the mnemonic names the ALU.
    pub(crate) fn operation(&mut self, op: Op, forced: bool) -> Outcome<usize> {
        if !self.is_alu() {
            return Err(Code::NotWithLoadOrBranch.into());
        }
        let (used, other_used, taken) = match op {
            Op::Add(_) => (self.add_used(), self.mul_used(), Code::AddAluTaken),
            Op::Mul(_) => (self.mul_used(), self.add_used(), Code::MulAluTaken),
        };
        if used {
            if other_used {
                return Err(taken.into());
            }
            if let Some(twin) = op.twin().filter(|_| !forced) {
                return self.operation(twin, false);
            }
            if !self.try_swap_alus() {
                return Err(taken.into());
            }
        }
        let alu = match op {
            Op::Add(op) => {
                self.op_add = op;
                self.unary_second = false;
                Place::ADD
            }
            Op::Mul(op) => {
                self.op_mul = op;
                Place::MUL
            }
        };
        self.place = Place::OPERATION.or(alu);
        self.start_operation();
        Ok(op.sources())
    }

    fn start_operation(&mut self) {
        self.used_unpack = self.used_unpack.without(Place::OPERATION.or(Place::SOURCES));
        self.used_rotation = self.used_rotation.without(Place::OPERATION.or(Place::SOURCES));
    }

    /// Adds a `nop`; one whose mnemonic names its ALU keeps the word an ALU instruction.
    pub(crate) fn note_nop(&mut self, forced: bool) {
        self.had_nop = true;
        self.keep |= forced;
    }

    /// Notes that an operation with one source names a second one.
    pub(crate) fn note_second_source(&mut self) {
        self.unary_second = true;
    }

    /// Sets the write condition of the operation.
    pub(crate) fn condition(&mut self, condition: Condition) -> Outcome {
        if self.form == Form::Branch {
            return Err(Code::ConditionNotHere.into());
        }
        let mul = self.in_mul();
        let (field, always) =
            if mul { (&mut self.cond_mul, &mut self.always_mul) } else { (&mut self.cond_add, &mut self.always_add) };
        if *field != Condition::Always || *always {
            return Err(Code::SecondCondition.into());
        }
        *field = condition;
        *always = condition == Condition::Always;
        Ok(())
    }

    /// Sets the branch condition.
    pub(crate) fn branch_condition(&mut self, condition: BranchCondition) -> Outcome {
        if self.form != Form::Branch {
            return Err(Code::ConditionNotHere.into());
        }
        if self.cond_br != BranchCondition::Always {
            return Err(Code::SecondCondition.into());
        }
        self.cond_br = condition;
        Ok(())
    }

    /// Sets the flag-setting bit for the operation.
    pub(crate) fn set_flags(&mut self) -> Outcome {
        if self.is_alu() && self.in_mul() && self.add_used() && !self.try_swap_alus() {
            return Err(Code::FlagsOfAdd.into());
        }
        if self.sf {
            return Err(Code::SecondSetFlags.into());
        }
        self.sf = true;
        self.alus_fixed = true;
        Ok(())
    }

    /// Sets the signal.
    pub(crate) fn signal(&mut self, signal: Signal) -> Outcome {
        match (self.form, self.sig) {
            (Form::Alu, Signal::None) => self.sig = signal,
            (Form::Alu, Signal::SmallImmediate) | (Form::Load(_) | Form::Branch, _) => {
                return Err(Code::SignalNotHere.into());
            }
            _ => return Err(Code::SecondSignal.into()),
        }
        Ok(())
    }

    /// Sets the target of the operation.
    pub(crate) fn target(&mut self, register: Register) -> Outcome {
        if !register.access.has(Access::WRITE) {
            return Err(Code::NotWritable.into());
        }
        let mul = self.in_mul();
        if !register.access.either_file() {
            let other = if mul { self.waddr_add } else { self.waddr_mul };
            let other_fixed = !is_written_in_either_file(other);
            let wanted = if register.access.has(Access::A) { mul } else { !mul };
            if other_fixed && self.ws != wanted {
                return Err(Code::SameFileWrite.into());
            }
            self.ws = wanted;
        }
        *(if mul { &mut self.waddr_mul } else { &mut self.waddr_add }) = register.address;
        self.check_pack_of_operation(mul)?;
        self.rotate_target(register.rotation)?;
        self.pack_or_unpack(register.pack)
    }

    /// Encodes the fields.
    fn encode(&self) -> Result<u64, FieldError> {
        let Self { pm, cond_add, cond_mul, sf, ws, waddr_add, waddr_mul, .. } = *self;
        // The mul ALU always saturates: bit 3 of the mode is set only if the source asks for it.
        let pack = match self.pm {
            true if self.ignored_pack_bit => self.pack.mode | PackMul::IGNORED,
            true => self.pack.mode & !PackMul::IGNORED,
            false => self.pack.mode,
        };
        let bits = match self.form {
            Form::Alu => Alu {
                sig: self.sig,
                unpack: v3d_hw::qpu::Unpack::from_code(self.unpack.mode),
                pm,
                pack,
                cond_add,
                cond_mul,
                sf,
                ws,
                waddr_add,
                waddr_mul,
                op_mul: self.op_mul,
                op_add: self.op_add,
                raddr_a: self.raddr_a,
                raddr_b: self.raddr_b,
                add_a: self.add_a,
                add_b: self.add_b,
                mul_a: self.mul_a,
                mul_b: self.mul_b,
            }
            .to_bits(),
            Form::Load(ImmediateKind::Semaphore) => Semaphore {
                sig: Signal::LoadImmediate,
                kind: ImmediateKind::Semaphore,
                pm,
                pack,
                cond_add,
                cond_mul,
                sf,
                ws,
                waddr_add,
                waddr_mul,
                unused: self.immediate >> 5,
                sa: self.immediate & 16 != 0,
                semaphore: (self.immediate & 15) as u8,
            }
            .to_bits(),
            Form::Load(kind) => LoadImmediate {
                sig: Signal::LoadImmediate,
                kind,
                pm,
                pack,
                cond_add,
                cond_mul,
                sf,
                ws,
                waddr_add,
                waddr_mul,
                immediate: self.immediate,
            }
            .to_bits(),
            Form::Branch => Branch {
                sig: Signal::Branch,
                unused: 0,
                cond_br: self.cond_br,
                rel: self.relative,
                reg: self.register_target,
                // Bit 45 is both the lowest bit of the register's number and the flag-setting bit.
                raddr_a: self.raddr_a | u8::from(self.sf),
                ws,
                waddr_add,
                waddr_mul,
                immediate: self.immediate as i32,
            }
            .to_bits(),
        };
        Ok(bits? as u64)
    }
}

/// The value of a small immediate code.
pub(crate) fn immediate_value(code: u8) -> u32 {
    SmallImmediate::from_code(code).value().unwrap_or_else(|| i32::from(code as i8 - 64) as u32)
}

/// The small immediate code of a value.
pub(crate) fn immediate_code(value: u32) -> Option<u8> {
    SmallImmediate::from_value(value)?.code()
}

impl PackSuffix {
    fn as_pack(self) -> PackMode {
        PackMode { mode: self.mode, number: self.number }
    }

    /// A source does not saturate: `.8as` of a source is `.8a`.
    fn as_unpack(self) -> UnpackMode {
        UnpackMode { mode: self.mode & 7, number: self.number }
    }
}
