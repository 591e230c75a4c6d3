//! Instruction selection: from values to operations of the hardware.
//!
//! A value with a single use may be computed by the operation that uses it (fusion): packed colours, arguments of the special function unit and the TMU,
//! words for the VPM and one side of a select are targets or conditions of the operation that computes the value. Comparisons become flags at their use.

use alloc::vec;
use alloc::vec::Vec;
use hashbrown::{HashMap, HashSet};

use naga::Span;
use v3d_hw::Layout;
use v3d_hw::qpu::address_map::TmuCoordinate;
use v3d_hw::qpu::{AddOp, Condition, File, MulOp, PackMul, ReadSource, SmallImmediate, Unpack, WriteTarget};
use v3d_hw::vpm::{ElementSize, ReadSetup, WriteSetup};

use crate::machine::{Block, DEPTH, End, FRAGMENT_W, Machine, Operand, Operation, Register, Target, Work};
use crate::routine;
use crate::ssa::{Access, Given, Op, PackedComponent, Program, Special, Step, StreamWord, Value};

mod flags_and_packs;
mod loops;
mod memory;

/// The next varying.
const VARYING: Operand = Operand::Input(File::A, ReadSource::Varying);
/// The next word that a vertex or coordinate shader, or a store, writes to the VPM.
const VPM_WRITE: Target = Target::Output(File::A, WriteTarget::VpmWrite);
/// The next word of the VPM, and the set-ups of reads and writes.
const VPM_READ: Operand = Operand::Input(File::A, ReadSource::VpmRead);
const READ_SETUP: Target = Target::Output(File::A, WriteTarget::VpmVcdRdSetup);
const WRITE_SETUP: Target = Target::Output(File::B, WriteTarget::VpmVcdWrSetup);
/// r5, written with copies of the first element, or of the first ones of the quads.
const COPIES: Target = Target::Output(File::B, WriteTarget::R5Replicated);
const QUAD_COPIES: Target = Target::Output(File::A, WriteTarget::R5PerQuad);
/// Words that one set-up of VPM reads announces.
const MOST_READS: usize = 16;

/// The streams of a program: attributes, varyings and VPM outputs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Streams {
    /// Attribute words in the order in which they are in the VPM, by their index in the vertex.
    pub(crate) attributes: Vec<u32>,
    /// Number of implicit varyings of the primitive, which a fragment shader must read first.
    pub(crate) own_varyings: u32,
    /// Number of components of varyings that it must read afterwards.
    pub(crate) varyings: u32,
    /// The program writes to the VPM.
    pub(crate) outputs: bool,
    /// Number of programs that execute a workgroup together.
    pub(crate) parts: u32,
}

/// How a value is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Maker {
    /// By a separate operation.
    Own,
    /// Fused with its only user: the value's operation writes to that user's target, or under its condition.
    User,
}

struct Selector<'p> {
    program: &'p Program,
    machine: Machine,
    block: Vec<Operation>,
    registers: HashMap<Value, Register>,
    makers: Vec<Maker>,
    uses: Vec<u32>,
    /// How often a value is used as a condition only.
    conditions: Vec<u32>,
    /// The comparison or mask that is in the flags.
    flags: Option<Value>,
    /// Registers of uniforms and constants for loops that do not reread the stream.
    hoisted: HashMap<StreamWord, Register>,
    /// For each loop whether it rereads its part of the stream of uniforms in each iteration.
    rereads: Vec<bool>,
    /// Open loops: number, first block, and the number of registers before the loop.
    open: Vec<(u32, usize, u32)>,
    next_varying: u32,
    next_attribute: usize,
    /// Attributes that are copied from the VPM to the VPM, when the outputs before them have been written.
    passed_on: HashSet<Value>,
    /// Selections whose replaced value is needed after them.
    outlived: HashSet<Value>,
    streams: &'p Streams,
    span: Span,
}

/// Selects the operations of a program. In frugal mode there are fewer values in registers, and more operations.
pub(crate) fn select_instructions(program: &Program, streams: &Streams, is_frugal: bool) -> Machine {
    let mut selector = Selector {
        program,
        machine: Machine::default(),
        block: Vec::new(),
        registers: HashMap::new(),
        makers: vec![Maker::Own; program.values.len()],
        uses: vec![0; program.values.len()],
        conditions: vec![0; program.values.len()],
        flags: None,
        hoisted: HashMap::new(),
        rereads: loops::rereading_loops(program, is_frugal),
        open: Vec::new(),
        next_varying: 0,
        next_attribute: 0,
        passed_on: HashSet::new(),
        outlived: HashSet::new(),
        streams,
        span: Span::default(),
    };
    selector.count_uses();
    selector.find_outlived();
    selector.choose_makers();
    selector.choose_passed_on();
    selector.begin();
    for (at, step) in program.steps.iter().enumerate() {
        match *step {
            Step::Begin(number) => {
                if !selector.rereads[number as usize] && !selector.keeps_words() {
                    selector.hoist(&program.steps[at..]);
                }
                selector.begin_loop(number);
            }
            Step::End(number) => selector.end_loop(number),
            Step::Compute(value) => {
                if selector.makers[value.index()] == Maker::Own {
                    selector.compute(value);
                }
            }
        }
    }
    selector.finish();
    let mut loops = program.steps.iter().filter_map(|step| match step {
        Step::Begin(number) => Some(*number),
        _ => None,
    });
    selector.machine.keeps_words = loops.any(|number| !selector.rereads[number as usize]);
    if streams.parts > 0 {
        selector.machine.reserved_from = routine::reserved_from(&selector.machine.routines);
    }
    selector.machine
}

impl Selector<'_> {
    /// Counts the uses of each value.
    fn count_uses(&mut self) {
        let program = self.program;
        for step in &program.steps {
            match *step {
                Step::Compute(value) => {
                    let op = program.op(value);
                    for operand in program.operands(&op) {
                        self.uses[operand.index()] += 1;
                    }
                    let condition = match op {
                        Op::Select(condition, ..) | Op::Keep(condition) => Some(condition),
                        Op::Access(number) => match program.accesses.get(number as usize) {
                            Some(Access::StoreRow { mask, .. }) => *mask,
                            _ => None,
                        },
                        _ => None,
                    };
                    if let Some(condition) = condition {
                        self.conditions[condition.index()] += 1;
                    }
                }
                Step::End(number) => {
                    let data = &program.loops[number as usize];
                    for carried in data.carried.iter().filter(|carried| carried.next != carried.value) {
                        self.uses[carried.next.index()] += 1;
                    }
                }
                Step::Begin(number) => {
                    let data = &program.loops[number as usize];
                    for carried in data.carried.iter().filter(|carried| carried.init != carried.value) {
                        self.uses[carried.init.index()] += 1;
                    }
                }
            }
        }
    }

    /// Whether an ALU operation computes it, whose target can be chosen.
    fn is_plain(&self, value: Value) -> bool {
        matches!(self.program.op(value), Op::Add(..) | Op::Mul(..) | Op::Varying(_))
    }

    /// Finds the selections that are used together with the value that they replace: it is still needed after them, so they replace a copy of it.
    fn find_outlived(&mut self) {
        let program = self.program;
        for computation in &program.values {
            let (Op::Add(_, a, b) | Op::Mul(_, a, b) | Op::Compare(_, a, b)) = computation.op else { continue };
            for (selection, other) in [(a, b), (b, a)] {
                if matches!(program.op(selection), Op::Select(_, _, reject) if reject == other) {
                    self.outlived.insert(selection);
                }
            }
        }
    }

    /// Decides which values are fused with their user.
    fn choose_makers(&mut self) {
        let program = self.program;
        // The position of each computation relative to loops: fusion must not cross a loop's boundary.
        let mut place = vec![0usize; program.values.len()];
        let (mut here, mut next) = (vec![0], 0);
        for step in &program.steps {
            match *step {
                Step::Begin(_) => {
                    next += 1;
                    here.push(next);
                }
                Step::End(_) => {
                    here.pop();
                    next += 1;
                    // The code after a loop has another position than the code before it.
                    if let Some(last) = here.last_mut() {
                        *last = next;
                    }
                }
                Step::Compute(value) => place[value.index()] = here.last().copied().unwrap_or(0),
            }
        }
        // For each value the uses that can unpack a component themselves.
        let mut takes_parts = vec![0u32; program.values.len()];
        for step in &program.steps {
            let Step::Compute(user) = *step else { continue };
            let (candidates, parts): (Vec<Value>, Vec<Value>) = match program.op(user) {
                Op::PackByte(_, _, value) | Op::PackAll(value) => {
                    let product = matches!(program.op(value), Op::Mul(MulOp::Fmul, ..));
                    (if product { vec![value] } else { Vec::new() }, vec![value])
                }
                Op::PackHalf(_, _, value) => {
                    let gives_float = match program.op(value) {
                        Op::Add(op, ..) => op.gives_floats() && !op.is_unary(),
                        op => matches!(op, Op::Mul(MulOp::Fmul, ..)),
                    };
                    (if gives_float { vec![value] } else { Vec::new() }, Vec::new())
                }
                Op::Special(_, value)
                | Op::Output(value)
                | Op::Depth(value)
                | Op::Fetch(value)
                | Op::VpmRow(value, _) => (vec![value], Vec::new()),
                Op::Select(_, accept, _) => (vec![accept], Vec::new()),
                Op::Texture(number) => {
                    let lookup = &program.lookups[number as usize];
                    (lookup.place.into_iter().chain(lookup.r).chain(lookup.bias).collect(), Vec::new())
                }
                Op::Add(op, a, b) if op.takes_floats() && !op.is_unary() => (Vec::new(), vec![a, b]),
                Op::Mul(MulOp::Fmul, a, b) => (Vec::new(), vec![a, b]),
                _ => (Vec::new(), Vec::new()),
            };
            let here = |value: &Value| place[value.index()] == place[user.index()];
            for value in candidates.into_iter().filter(here) {
                // Varyings are read in order, not at their use.
                let ordered = matches!(program.op(value), Op::Varying(_));
                if self.uses[value.index()] == 1 && self.is_plain(value) && !ordered {
                    self.makers[value.index()] = Maker::User;
                }
            }
            for value in parts.into_iter().filter(here) {
                takes_parts[value.index()] += 1;
            }
        }
        for (index, computation) in program.values.iter().enumerate() {
            let all = takes_parts[index] > 0 && takes_parts[index] == self.uses[index];
            if all && matches!(computation.op, Op::Unpack(..)) {
                self.makers[index] = Maker::User;
            }
        }
    }

    /// Attributes are read in order. The last ones can be read right where they are written to the VPM again, if they have no other use and are written in
    /// that order.
    fn choose_passed_on(&mut self) {
        let program = self.program;
        let computed = program.steps.iter().enumerate().filter_map(|(at, step)| match *step {
            Step::Compute(value) => Some((at, value)),
            _ => None,
        });
        let (mut attributes, mut written) = (Vec::new(), HashMap::new());
        for (at, value) in computed {
            match program.op(value) {
                Op::Attribute(_) => attributes.push(value),
                Op::Output(word) => {
                    written.insert(word, at);
                }
                _ => {}
            }
        }
        let mut before = program.steps.len();
        for value in attributes.into_iter().rev() {
            match written.get(&value) {
                Some(&at) if at < before && self.uses[value.index()] == 1 => before = at,
                _ => break,
            }
            self.passed_on.insert(value);
        }
    }

    fn emit(&mut self, operation: Operation) {
        self.block.push(operation);
    }

    fn operation(&self, work: Work, operands: Vec<Operand>, target: Target) -> Operation {
        Operation::new(work, operands, target, self.span)
    }

    fn end_block(&mut self, end: End, kept: Vec<Register>) {
        let operations = core::mem::take(&mut self.block);
        self.machine.blocks.push(Block { operations, end, kept, uniform_order: Vec::new() });
        self.flags = None;
    }

    /// Set-up of the VPM.
    fn begin(&mut self) {
        self.set_up_reads();
        if self.streams.outputs {
            let word =
                WriteSetup { id: 0, stride: 1, horizontal: true, laned: false, size: ElementSize::Bits32, address: 0 };
            if let Ok(word) = word.to_bits() {
                let load = self.operation(Work::Load(word as u32), Vec::new(), WRITE_SETUP);
                self.emit(load);
            }
        }
    }

    fn set_up_reads(&mut self) {
        let left = self.streams.attributes.len() - self.next_attribute;
        if left == 0 {
            return;
        }
        let count = left.min(MOST_READS) as u8 & 15;
        let address = self.next_attribute as u8;
        let word =
            ReadSetup { id: 0, count, stride: 1, horizontal: true, laned: false, size: ElementSize::Bits32, address };
        if let Ok(word) = word.to_bits() {
            let load = self.operation(Work::Load(word as u32), Vec::new(), READ_SETUP);
            self.emit(load);
        }
    }

    /// Reads the remaining inputs that the program must read although it does not use them, and writes the colour.
    fn finish(&mut self) {
        while self.next_varying < self.streams.own_varyings + self.streams.varyings {
            self.skip_varying();
        }
        while self.next_attribute < self.streams.attributes.len() {
            self.read_attribute(Target::Nothing);
        }
        if let Some(register) = self.machine.blue_alpha {
            self.machine.in_file_a.extend(self.machine.color);
            let last = self.operation(Work::Move, vec![Operand::Register(register)], Target::BlueAlpha);
            self.emit(last);
        }
        if let Some(color) = self.machine.color {
            let last = self.operation(Work::Move, vec![Operand::Register(color)], Target::Color);
            self.emit(last);
        }
        self.end_block(End::Falls, Vec::new());
    }

    /// Reads the varyings that precede one.
    fn skip_varyings_before(&mut self, op: Op) {
        let number = match op {
            Op::Varying(number) | Op::FlatVarying(number) => number + self.streams.own_varyings,
            Op::PointCoordinate(axis) => u32::from(axis),
            _ => 0,
        };
        while self.next_varying < number {
            self.skip_varying();
        }
    }

    fn skip_varying(&mut self) {
        let skip = self.operation(Work::Move, vec![VARYING], Target::Nothing);
        self.emit(skip);
        self.next_varying += 1;
    }

    fn read_attribute(&mut self, target: Target) {
        let read = self.operation(Work::Move, vec![VPM_READ], target);
        self.emit(read);
        self.next_attribute += 1;
        if self.next_attribute.is_multiple_of(MOST_READS) {
            self.set_up_reads();
        }
    }

    /// Reads an attribute, and unused ones before it.
    fn attribute(&mut self, number: u32, target: Target) {
        while self.streams.attributes.get(self.next_attribute).is_some_and(|next| *next != number) {
            self.read_attribute(Target::Nothing);
        }
        self.read_attribute(target);
    }

    /// The register of a value, which is assigned on first use.
    fn register_of(&mut self, value: Value) -> Register {
        if let Some(&register) = self.registers.get(&value) {
            return register;
        }
        if let Op::Left(number, index) = self.program.op(value) {
            let carried = self.program.loops[number as usize].carried[index as usize];
            return self.register_of(carried.value);
        }
        let register = self.machine.register();
        self.registers.insert(value, register);
        register
    }

    /// A value as an operand.
    fn operand(&mut self, value: Value) -> Operand {
        let word = match self.program.op(value) {
            Op::Const(bits) => {
                if let Some(code) = SmallImmediate::from_value(bits).and_then(SmallImmediate::code) {
                    return Operand::Small(code);
                }
                StreamWord::Constant(bits)
            }
            Op::Uniform(number) => self.program.words[number as usize],
            Op::Given(given) => return given_operand(given),
            // After its loop, a value that is no longer carried has its initial value.
            Op::Left(number, index) => {
                let carried = self.program.loops[number as usize].carried[index as usize];
                if carried.init == carried.value {
                    StreamWord::Constant(0)
                } else {
                    return Operand::Register(self.register_of(value));
                }
            }
            _ => return Operand::Register(self.register_of(value)),
        };
        match self.hoisted.get(&word) {
            Some(&register) if self.keeps_words() => Operand::Register(register),
            _ => Operand::Uniform(word),
        }
    }

    /// Two operands for one instruction, which can read at most one uniform.
    fn operands(&mut self, a: Value, b: Value) -> Vec<Operand> {
        let (first, second) = (self.operand(a), self.operand(b));
        let both = [first, second];
        let clash = match both {
            [Operand::Uniform(x), Operand::Uniform(y)] => x != y,
            [Operand::Small(x), Operand::Small(y)] => x != y,
            [Operand::Input(File::B, _), Operand::Small(_)] | [Operand::Small(_), Operand::Input(File::B, _)] => true,
            [Operand::Input(first, x), Operand::Input(second, y)] => first == second && x != y,
            _ => false,
        };
        if clash { vec![self.moved(first), second] } else { both.to_vec() }
    }

    /// The register of a colour.
    fn color_register(&mut self, word: Value) -> Option<Register> {
        match self.operand(word) {
            Operand::Register(register) => Some(register),
            other => self.moved(other).register(),
        }
    }

    /// Moves an operand to a new register.
    fn moved(&mut self, operand: Operand) -> Operand {
        let register = self.machine.register();
        let load = self.operation(Work::Move, vec![operand], Target::Register(register));
        self.emit(load);
        Operand::Register(register)
    }

    /// The operation that computes a plain value, with a given target.
    fn plain(&mut self, value: Value, target: Target) -> Operation {
        let (work, operands) = match self.program.op(value) {
            Op::Add(op, a, _) if op.is_unary() => (Work::Add(op), vec![self.operand(a)]),
            Op::Add(op, a, b) => (Work::Add(op), self.floats(op.takes_floats(), a, b)),
            Op::Mul(op, a, b) => (Work::Mul(op), self.floats(op == MulOp::Fmul, a, b)),
            _ => (Work::Move, vec![self.operand(value)]),
        };
        self.operation(work, operands, target)
    }

    /// Operands of a float operation may be unpacked components.
    fn floats(&mut self, float: bool, a: Value, b: Value) -> Vec<Operand> {
        let first = self.part(a, None);
        let second = self.part(b, first);
        match (first, second) {
            (None, None) => self.operands(a, b),
            (Some(first), _) if a == b && float => vec![first, first],
            (first, second) => {
                let first = first.unwrap_or_else(|| self.operand(a));
                vec![first, second.unwrap_or_else(|| self.operand(b))]
            }
        }
    }

    /// A value that its users unpack, as an operand. An operation can unpack only one component; a second one needs a move.
    fn part(&mut self, value: Value, other: Option<Operand>) -> Option<Operand> {
        if self.makers[value.index()] != Maker::User {
            return None;
        }
        let (register, unpack) = self.unpacked(value)?;
        let part = Operand::Part(register, unpack);
        if other.is_some_and(|other| other != part && matches!(other, Operand::Part(..))) {
            let float = self.machine.register();
            let unpacked = self.operation(Work::Add(AddOp::Fmax), vec![part, part], Target::Register(float));
            self.emit(unpacked);
            return Some(Operand::Register(float));
        }
        Some(part)
    }

    /// The word and component that a value is unpacked from.
    fn unpacked(&mut self, value: Value) -> Option<(Register, Unpack)> {
        let Op::Unpack(part, word) = self.program.op(value) else { return None };
        let register = match self.operand(word) {
            Operand::Register(register) => register,
            other => match self.moved(other) {
                Operand::Register(register) => register,
                _ => return None,
            },
        };
        if !matches!(self.program.op(word), Op::Texture(_)) {
            self.machine.in_file_a.push(register);
        }
        let unpack = match part {
            PackedComponent::Byte(byte) => {
                [Unpack::Byte0, Unpack::Byte1, Unpack::Byte2, Unpack::Byte3][usize::from(byte & 3)]
            }
            PackedComponent::Half(half) => [Unpack::Half0, Unpack::Half1][usize::from(half & 1)],
        };
        Some((register, unpack))
    }

    /// Writes a value to a target.
    fn send(&mut self, value: Value, target: Target) {
        let operation = if self.makers[value.index()] == Maker::User {
            self.plain(value, target)
        } else {
            let operand = self.operand(value);
            self.operation(Work::Move, vec![operand], target)
        };
        self.emit(operation);
    }

    fn compute(&mut self, value: Value) {
        let computation = self.program.values[value.index()];
        self.span = computation.span;
        match computation.op {
            Op::Const(_) | Op::Uniform(_) | Op::Given(_) | Op::Carried(..) | Op::Left(..) => {}
            Op::Add(..) | Op::Mul(..) => {
                let target = Target::Register(self.register_of(value));
                let operation = self.plain(value, target);
                self.emit(operation);
            }
            Op::Varying(_) | Op::PointCoordinate(_) => {
                self.skip_varyings_before(computation.op);
                self.next_varying += 1;
                let part = self.machine.register();
                let product = vec![VARYING, given_operand(Given::FragmentW)];
                let product = self.operation(Work::Mul(MulOp::Fmul), product, Target::Register(part));
                self.emit(product);
                let target = Target::Register(self.register_of(value));
                let sum = vec![Operand::Register(part), Operand::Coefficient];
                let sum = self.operation(Work::Add(AddOp::Fadd), sum, target);
                self.emit(sum);
            }
            Op::FlatVarying(_) => {
                self.skip_varyings_before(computation.op);
                self.skip_varying();
                let target = Target::Register(self.register_of(value));
                let corner = self.operation(Work::Move, vec![Operand::Coefficient], target);
                self.emit(corner);
            }
            Op::Attribute(_) if self.passed_on.contains(&value) => {}
            Op::Attribute(number) => {
                let target = Target::Register(self.register_of(value));
                self.attribute(number, target);
            }
            Op::Special(special, argument) => {
                let function = match special {
                    Special::Recip => WriteTarget::SfuRecip,
                    Special::RecipSqrt => WriteTarget::SfuRecipSqrt,
                    Special::Exp => WriteTarget::SfuExp,
                    Special::Log => WriteTarget::SfuLog,
                };
                let target = Target::Special(function, self.register_of(value));
                self.send(argument, target);
            }
            Op::Texture(number) => self.look_up(value, number),
            Op::Fetch(address) => self.fetch(value, address),
            Op::Access(number) => self.access(value, number),
            Op::Unpack(..) => {
                let Some((register, unpack)) = self.unpacked(value) else { return };
                let target = Target::Register(self.register_of(value));
                let part = Operand::Part(register, unpack);
                let float = self.operation(Work::Add(AddOp::Fmax), vec![part, part], target);
                self.emit(float);
            }
            Op::PackAll(part) => self.pack_color(value, PackMul::Replicated, None, part),
            Op::PackByte(byte, word, part) => {
                let pack = [PackMul::Byte0, PackMul::Byte1, PackMul::Byte2, PackMul::Byte3][usize::from(byte & 3)];
                self.pack_color(value, pack, Some(word), part);
            }
            Op::PackInteger(half, word, part) => self.pack_half(value, AddOp::Ftoi, half, word, part),
            Op::PackHalf(half, word, part) => self.pack_half(value, AddOp::Fmax, half, word, part),
            Op::Compare(..) => {
                // As a mask, if it has uses other than as a condition.
                if self.conditions[value.index()] == self.uses[value.index()] {
                    return;
                }
                let target = self.register_of(value);
                let (none, all) = (Operand::Small(0), Operand::Small(31));
                let clear = self.operation(Work::Move, vec![none], Target::Register(target));
                self.emit(clear);
                let condition = self.condition(value);
                let mut set = self.operation(Work::Move, vec![all], Target::Register(target));
                (set.condition, set.merges) = (condition, Some(target));
                self.emit(set);
            }
            Op::Select(condition, accept, reject) => {
                let target = Target::Register(self.register_of(value));
                let base = self.operand(reject);
                let base = match base {
                    Operand::Register(register) if !self.outlived.contains(&value) => register,
                    other => match self.moved(other) {
                        Operand::Register(register) => register,
                        _ => return,
                    },
                };
                let condition = self.condition(condition);
                let mut chosen = if self.makers[accept.index()] == Maker::User {
                    self.plain(accept, target)
                } else {
                    let operand = self.operand(accept);
                    self.operation(Work::Move, vec![operand], target)
                };
                (chosen.condition, chosen.merges) = (condition, Some(base));
                self.emit(chosen);
            }
            Op::Rotate(places, from) => {
                let operand = match self.operand(from) {
                    operand @ Operand::Register(_) => operand,
                    other => self.moved(other),
                };
                let target = Target::Register(self.register_of(value));
                let rotate = self.operation(Work::Rotate(places), vec![operand], target);
                self.emit(rotate);
            }
            Op::Copies { by_quad, places, from } => {
                let operand = match self.operand(from) {
                    operand @ Operand::Register(_) => operand,
                    other => self.moved(other),
                };
                let work = if places == 0 { Work::Move } else { Work::Rotate(places) };
                let copy = self.operation(work, vec![operand], if by_quad { QUAD_COPIES } else { COPIES });
                self.emit(copy);
                let target = Target::Register(self.register_of(value));
                let copied = self.operation(Work::Move, vec![Operand::Coefficient], target);
                self.emit(copied);
            }
            Op::VpmRow(setup, _) => {
                self.send(setup, READ_SETUP);
                let target = Target::Register(self.register_of(value));
                let read = self.operation(Work::Move, vec![VPM_READ], target);
                self.emit(read);
            }
            Op::Output(word) => match self.program.op(word) {
                Op::Attribute(number) if self.passed_on.contains(&word) => self.attribute(number, VPM_WRITE),
                _ => self.send(word, VPM_WRITE),
            },
            Op::Depth(depth) => self.send(depth, Target::Output(File::B, WriteTarget::Register(DEPTH))),
            Op::Color(word) => self.machine.color = self.color_register(word),
            Op::BlueAlpha(word) => {
                self.machine.blue_alpha = self.color_register(word);
                self.machine.in_file_a.extend(self.machine.blue_alpha);
            }
            Op::Keep(mask) => {
                let condition = self.condition(mask);
                let none = Operand::Small(0);
                let mut clear = self.operation(Work::Move, vec![none], Target::Output(File::A, WriteTarget::MsFlags));
                clear.condition = opposite(condition);
                self.emit(clear);
            }
        }
    }

    fn look_up(&mut self, value: Value, number: u32) {
        let lookup = self.program.lookups[number as usize];
        // Writing S starts the lookup.
        let places = [
            (TmuCoordinate::T, Some(lookup.place[1])),
            (TmuCoordinate::R, lookup.r),
            (TmuCoordinate::B, lookup.bias),
            (TmuCoordinate::S, Some(lookup.place[0])),
        ];
        let mut parameter = 0;
        for (coordinate, place) in places {
            let Some(place) = place else { continue };
            let word = StreamWord::Texture { texture: lookup.texture, parameter, sampling: lookup.sampling };
            parameter += 1;
            let takes_uniform = matches!(self.operand(place), Operand::Uniform(_));
            let own = self.makers[place.index()] == Maker::User;
            let mut operation = if own {
                self.plain(place, Target::Texture(coordinate, word))
            } else {
                let operand = self.operand(place);
                self.operation(Work::Move, vec![operand], Target::Texture(coordinate, word))
            };
            // The write consumes a uniform itself; another one must be read before.
            if takes_uniform || operation.operands.iter().any(|operand| matches!(operand, Operand::Uniform(_))) {
                for at in 0..operation.operands.len() {
                    if matches!(operation.operands[at], Operand::Uniform(_)) {
                        operation.operands[at] = self.moved(operation.operands[at]);
                    }
                }
            }
            self.emit(operation);
        }
        let register = self.register_of(value);
        let load = self.operation(Work::LoadTexture, Vec::new(), Target::Register(register));
        self.emit(load);
    }
}

fn given_operand(given: Given) -> Operand {
    let (file, source) = match given {
        Given::FragmentW => (File::A, ReadSource::Register(FRAGMENT_W)),
        Given::FragmentZ => (File::B, ReadSource::Register(DEPTH)),
        Given::PixelX => (File::A, ReadSource::XPixelCoord),
        Given::PixelY => (File::B, ReadSource::YPixelCoord),
        Given::Samples => (File::A, ReadSource::MsFlags),
        Given::BackFacing => (File::B, ReadSource::RevFlag),
        Given::Element => (File::A, ReadSource::ElementNumber),
        Given::Workgroup(axis) => (File::A, ReadSource::Register(routine::WORKGROUP + axis)),
        Given::Part => (File::A, ReadSource::Register(routine::PART)),
    };
    Operand::Input(file, source)
}

fn opposite(condition: Condition) -> Condition {
    match condition {
        Condition::ZSet => Condition::ZClear,
        Condition::ZClear => Condition::ZSet,
        Condition::NSet => Condition::NClear,
        Condition::NClear => Condition::NSet,
        Condition::CSet => Condition::CClear,
        Condition::CClear => Condition::CSet,
        other => other,
    }
}
