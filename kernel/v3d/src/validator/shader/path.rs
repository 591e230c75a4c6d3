//! A basic block of a program, from its first instruction to a branch or the end.
//!
//! Its uses of uniforms are recorded; its final state is the initial state of the next block.

use super::lookups::{Parameters, Results};
use super::registers::{Known, Registers};
use super::rules::Recent;
use super::vpm::Vpm;
use super::{Event, Facts, ProgramKind, rules};
use alloc::vec::Vec;
use v3d_hw::BusAddr;
use v3d_hw::qpu::access::Peripheral;
use v3d_hw::qpu::accesses::{Accesses, Write, accumulators};
use v3d_hw::qpu::address_map::TmuCoordinate;
use v3d_hw::qpu::{
    AddOp, Alu, Condition, File, Hazard, ImmediateKind, Instruction, LoadImmediate, Mux, ReadSource, Signal,
    THREAD_DELAY_SLOTS, Unpack, WriteTarget, address_sets,
};

/// TMUs that a program can write to.
const TMUS: usize = 2;
/// Instructions that must not wait for the scoreboard.
const BEFORE_SCOREBOARD: u8 = Hazard::ScoreboardAfterStart.between() as u8;

/// The state that is passed from one block to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Carried {
    /// The last two instructions, the last one first.
    recent: [Recent; 2],
    /// Number of executed instructions, up to the number that must not wait for the scoreboard.
    executed: u8,
    /// Accumulators and flags that a thread switch has left undefined.
    undefined: u8,
    /// Undefined bytes of each accumulator.
    undefined_bytes: [u8; 6],
    /// Threads have been switched.
    switched: bool,
    last_switch: bool,
    /// Instructions until a TMU may be written after swapping was disabled.
    no_swap: u8,
    /// A TMU has been written to.
    used_tmus: bool,
    results: [Results; TMUS],
    varyings: u8,
    colors_read: u8,
    colors_written: u8,
    vpm: Vpm,
}

/// The part of a block that has been followed.
pub(super) struct Path {
    kind: ProgramKind,
    carried: Carried,
    registers: Registers,
    /// Number of instructions in which no uniform may be read.
    uniform_delay: u32,
    /// Instructions until a thread switch takes effect.
    switching: u32,
    /// Number of uniforms read so far; each is identified by its number.
    uniforms: u32,
    pending: [Parameters; TMUS],
    events: Vec<(BusAddr, Event)>,
}

impl Path {
    /// A block that starts with the state that another has passed on.
    pub(super) fn new(kind: ProgramKind, carried: Carried) -> Self {
        Self {
            kind,
            carried,
            registers: Registers::default(),
            uniform_delay: 0,
            switching: 0,
            uniforms: 0,
            pending: Default::default(),
            events: Vec::new(),
        }
    }

    /// The uses of uniforms, and the state that is passed on.
    pub(super) fn into_parts(self) -> (Vec<(BusAddr, Event)>, Carried) {
        (self.events, self.carried)
    }

    /// Number of uses of uniforms so far.
    pub(super) const fn events(&self) -> usize {
        self.events.len()
    }

    /// Number of varyings read since the start of the program.
    pub(super) const fn varyings(&self) -> u8 {
        self.carried.varyings
    }

    /// Whether the program shares its QPU; if so, whether it has switched threads.
    pub(super) fn thread_use(&self) -> Option<bool> {
        (self.kind == ProgramKind::Fragment { threaded: true }).then_some(self.carried.switched)
    }

    /// Whether a thread switch is pending.
    pub(super) const fn is_switching(&self) -> bool {
        self.switching > 0
    }

    /// Whether a new address of the uniforms has not taken effect.
    pub(super) const fn is_moving_uniforms(&self) -> bool {
        self.uniform_delay > 0
    }

    /// Whether coordinates of a lookup have been written that has not started.
    pub(super) fn is_in_lookup(&self) -> bool {
        self.pending.iter().any(|pending| !pending.is_empty())
    }

    /// Follows an instruction. `ending`: remaining instructions, if the end has been signalled.
    pub(super) fn instruction(
        &mut self,
        address: BusAddr,
        instruction: &Instruction,
        ending: Option<u32>,
        facts: &mut Facts,
    ) -> Result<(), &'static str> {
        let accesses = instruction.accesses();
        rules::alone(self.kind, instruction, &accesses)?;
        let reads_uniform = accesses.reads(ReadSource::Uniform);
        if reads_uniform && self.uniform_delay > 0 {
            return Err(Hazard::UniformAfterAddress.sentence());
        }
        rules::between(&accesses, &self.carried.recent)?;
        self.situation(&accesses)?;
        end(&accesses, ending)?;

        let may_read_uniforms = self.uniform_delay == 0;
        self.uniform_delay = self.uniform_delay.saturating_sub(1);
        self.carried.no_swap = self.carried.no_swap.saturating_sub(1);
        self.registers.step();
        let uniform = reads_uniform.then(|| self.take_uniform(address));
        self.streams(&accesses, facts)?;
        let sum = match instruction {
            Instruction::Alu(alu) => self.sum(alu, uniform),
            Instruction::LoadImmediate(LoadImmediate { kind: ImmediateKind::Word, pack: 0, immediate, .. }) => {
                Sum::Value(Known::constant(*immediate))
            }
            _ => Sum::Other,
        };
        let sums = if matches!(instruction, Instruction::Alu(_)) { [sum, Sum::Other] } else { [sum; 2] };
        let takes_uniforms =
            |target| matches!(target, WriteTarget::Tmu { .. } | WriteTarget::UniformsAddress | WriteTarget::TmuNoSwap);
        if accesses.writes.iter().all(|result| takes_uniforms(result.target)) {
            return Err("writes two texture coordinates at once, or one beside an address of the uniforms");
        }
        for (result, sum) in accesses.writes.iter().zip(sums) {
            let value = match sum {
                Sum::Value(known) if result.condition == Condition::Always && result.acts => known,
                _ => Known::Nothing,
            };
            match result.target {
                WriteTarget::Register(number) => self.registers.set_in_file(result.file, number, value),
                WriteTarget::Accumulator(number) => self.registers.set_accumulator(number, value),
                WriteTarget::Tmu { unit, coordinate } => {
                    let mixed = uniform.is_some() || !may_read_uniforms;
                    self.write_tmu(address, usize::from(unit) % TMUS, coordinate, sum, mixed)?;
                }
                target => self.write_peripheral(address, target, value, facts)?,
            }
        }
        self.obey(instruction.signal(), facts)?;
        self.pass_on(&accesses)
    }

    /// The rules that depend on earlier instructions.
    fn situation(&self, accesses: &Accesses) -> Result<(), &'static str> {
        const UPPER_REGISTERS: u64 = 0xffff_0000_ffff_0000;
        let threaded = self.kind == ProgramKind::Fragment { threaded: true };
        if threaded && (accesses.registers_read() | accesses.registers_written()) & UPPER_REGISTERS != 0 {
            return Err("uses registers 16 to 31, which are the other thread's");
        }
        if accesses.accumulators_read() & self.carried.undefined != 0 {
            return Err("reads an accumulator or flag that a thread switch has left undefined");
        }
        let waits = accesses.accesses_samples() || accesses.signal == Signal::ScoreboardWait;
        if waits && self.carried.executed < BEFORE_SCOREBOARD {
            return Err(Hazard::ScoreboardAfterStart.sentence());
        }
        if accesses.writes_any(address_sets::TMU) && self.carried.no_swap > 1 {
            return Err(Hazard::TmuAfterNoSwap.sentence());
        }
        if !accesses.signal.switches_threads() {
            return Ok(());
        }
        if self.is_switching() {
            return Err("switches threads before another switch has taken effect");
        }
        if self.carried.last_switch {
            return Err("switches threads after the last switch");
        }
        Ok(())
    }

    /// Counts varyings and rows of the VPM that are read.
    fn streams(&mut self, accesses: &Accesses, facts: &mut Facts) -> Result<(), &'static str> {
        if accesses.reads(ReadSource::Varying) {
            self.carried.varyings = self.carried.varyings.checked_add(1).ok_or("reads too many varyings")?;
        }
        if accesses.reads(ReadSource::VpmRead) {
            let row = self.carried.vpm.read()?;
            facts.input_rows = facts.input_rows.max(u32::from(row) + 1);
        }
        Ok(())
    }

    /// Takes a uniform; returns its number.
    fn take_uniform(&mut self, address: BusAddr) -> u32 {
        let number = self.uniforms;
        self.uniforms += 1;
        self.events.push((address, Event::Read));
        number
    }

    /// The result of the add ALU, as far as it is tracked.
    fn sum(&self, alu: &Alu, uniform: Option<u32>) -> Sum {
        // Packing and unpacking change values.
        if alu.unpack != Unpack::None || alu.pack != 0 {
            return Sum::Other;
        }
        let is_zero = |operand| matches!(operand, Operand::Known(Known::Value { uniform: None, plus: 0 }));
        let operand = |mux| self.operand(alu, mux, uniform);
        match (alu.op_add, [operand(alu.add_a), operand(alu.add_b)]) {
            (AddOp::Max, [one, other]) if is_zero(one) || is_zero(other) => Sum::Value(Known::NotNegative),
            (AddOp::Min, [Operand::Known(Known::NotNegative), Operand::Uniform(limit)])
            | (AddOp::Min, [Operand::Uniform(limit), Operand::Known(Known::NotNegative)]) => {
                Sum::Value(Known::AtMost(limit))
            }
            (AddOp::Add, [Operand::Known(Known::AtMost(limit)), Operand::Uniform(base)])
            | (AddOp::Add, [Operand::Uniform(base), Operand::Known(Known::AtMost(limit))]) => {
                Sum::Within { base, limit }
            }
            (AddOp::Add, [Operand::Known(Known::Value { uniform: None, plus }), Operand::Uniform(uniform)])
            | (AddOp::Add, [Operand::Uniform(uniform), Operand::Known(Known::Value { uniform: None, plus })]) => {
                Sum::Value(Known::Value { uniform: Some(uniform), plus })
            }
            (AddOp::Or, [Operand::Uniform(uniform), Operand::Uniform(_)]) => {
                Sum::Value(Known::Value { uniform: Some(uniform), plus: 0 })
            }
            (AddOp::Or, [Operand::Known(one), Operand::Known(other)]) if one == other => Sum::Value(one),
            _ => Sum::Other,
        }
    }

    /// An operand of the add ALU, as far as it is tracked.
    fn operand(&self, alu: &Alu, mux: Mux, uniform: Option<u32>) -> Operand {
        let [a, b] = alu.sources();
        let of_file = |file, source| match (source, uniform) {
            (Some(ReadSource::Uniform), Some(uniform)) => Operand::Uniform(uniform),
            (Some(ReadSource::Register(number)), _) => Operand::Known(self.registers.in_file(file, number)),
            _ => Operand::Known(Known::Nothing),
        };
        match mux {
            Mux::R0 => Operand::Known(self.registers.accumulator(0)),
            Mux::R1 => Operand::Known(self.registers.accumulator(1)),
            Mux::R2 => Operand::Known(self.registers.accumulator(2)),
            Mux::R3 => Operand::Known(self.registers.accumulator(3)),
            Mux::R4 | Mux::R5 => Operand::Known(Known::Nothing),
            Mux::A => of_file(File::A, a),
            Mux::B => match alu.small_immediate() {
                Some(immediate) => Operand::Known(immediate.value().map_or(Known::Nothing, Known::constant)),
                None => of_file(File::B, b),
            },
        }
    }

    /// Writes a texture coordinate. `mixed`: the instruction must not take a uniform, because it reads one or uniforms cannot be read yet.
    fn write_tmu(
        &mut self,
        address: BusAddr,
        unit: usize,
        coordinate: TmuCoordinate,
        sum: Sum,
        mixed: bool,
    ) -> Result<(), &'static str> {
        self.carried.used_tmus = true;
        let threaded = self.kind == ProgramKind::Fragment { threaded: true };
        if coordinate == TmuCoordinate::S && self.pending[unit].is_empty() {
            let Sum::Within { base, limit } = sum else {
                return Err("looks memory up by its address, which may be any");
            };
            self.events.push((address, Event::LookUpWord { base, limit }));
            return self.carried.results[unit].push(1, threaded);
        }
        if mixed {
            return Err("takes two uniforms at once, or one too soon after their address was moved");
        }
        let uniform = self.take_uniform(address);
        self.pending[unit].push(coordinate, uniform)?;
        if coordinate == TmuCoordinate::S {
            let parameters = core::mem::take(&mut self.pending[unit]);
            self.events.push((address, Event::LookUp(parameters)));
            self.carried.results[unit].push(parameters.count(), threaded)?;
        }
        Ok(())
    }

    fn write_peripheral(
        &mut self,
        address: BusAddr,
        target: WriteTarget,
        value: Known,
        facts: &mut Facts,
    ) -> Result<(), &'static str> {
        match target {
            WriteTarget::UniformsAddress => {
                let Known::Value { uniform, plus } = value else {
                    return Err("moves the address of the uniforms to an address that is not known");
                };
                self.events.push((address, Event::Move { uniform, plus }));
                self.uniform_delay = Hazard::UniformAfterAddress.between();
            }
            WriteTarget::TmuNoSwap if self.carried.used_tmus => {
                return Err("disables the swapping of TMUs after one was written to");
            }
            WriteTarget::TmuNoSwap => self.carried.no_swap = Hazard::TmuAfterNoSwap.distance() as u8,
            WriteTarget::VpmVcdRdSetup | WriteTarget::VpmVcdWrSetup => {
                let Known::Value { uniform: None, plus: word } = value else {
                    return Err("sets the VPM up by a value that is no constant");
                };
                if target == WriteTarget::VpmVcdRdSetup {
                    self.carried.vpm.set_up_read(word)?;
                } else {
                    self.carried.vpm.set_up_write(word)?;
                }
            }
            WriteTarget::VpmWrite => {
                let row = self.carried.vpm.write()?;
                facts.output_rows = facts.output_rows.max(u32::from(row) + 1);
            }
            WriteTarget::TlbColorMs => {
                self.carried.colors_written = self.carried.colors_written.saturating_add(1);
                facts.samples = facts.samples.max(self.carried.colors_written);
            }
            _ => {}
        }
        Ok(())
    }

    fn obey(&mut self, signal: Signal, facts: &mut Facts) -> Result<(), &'static str> {
        match signal {
            Signal::LoadTmu0 => self.carried.results[0].pop(),
            Signal::LoadTmu1 => self.carried.results[1].pop(),
            Signal::LoadColor | Signal::LoadColorEnd => {
                self.carried.colors_read = self.carried.colors_read.saturating_add(1);
                facts.samples = facts.samples.max(self.carried.colors_read);
                Ok(())
            }
            Signal::LoadCoverage => {
                facts.reads_coverage = true;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Updates the state for the next instruction.
    fn pass_on(&mut self, accesses: &Accesses) -> Result<(), &'static str> {
        let carried = &mut self.carried;
        carried.undefined &= !accesses.accumulators_replaced();
        // Four packed bytes also define an accumulator.
        for result in &accesses.writes {
            if let (WriteTarget::Accumulator(number), Condition::Always, true) =
                (result.target, result.condition, result.acts)
                && let Some(bytes) = carried.undefined_bytes.get_mut(usize::from(number))
            {
                *bytes &= !result.bytes;
                if *bytes == 0 {
                    carried.undefined &= !(1 << number);
                }
            }
        }
        carried.recent = [Recent::of(accesses), carried.recent[0]];
        carried.executed = carried.executed.saturating_add(1).min(BEFORE_SCOREBOARD);
        if self.switching > 0 {
            self.switching -= 1;
            if self.switching == 0 {
                // Mesa signals the switch within a lookup, whose last coordinate is in a delay slot.
                if self.pending.iter().any(|pending| !pending.is_empty()) {
                    return Err("is the last before a thread switch in the middle of a lookup");
                }
                (carried.undefined, carried.undefined_bytes) = (accumulators::ALL, [Write::WHOLE; 6]);
            }
        } else if accesses.signal.switches_threads() {
            self.switching = THREAD_DELAY_SLOTS;
            self.registers.switch_threads();
            carried.switched = true;
            carried.last_switch |= accesses.signal == Signal::LastThreadSwitch;
        }
        Ok(())
    }
}

/// The rules of the end: the instruction that signals it and the two that follow [AG p.37].
fn end(accesses: &Accesses, ending: Option<u32>) -> Result<(), &'static str> {
    let ends = accesses.signal.ends_program();
    if !ends && ending.is_none() {
        return Ok(());
    }
    if ends && accesses.registers_written() != 0 {
        return Err("signals the end and writes a register of a file");
    }
    if accesses.accesses_register_14() {
        return Err("uses register 14 among the last three");
    }
    let is_stream = |unit: Option<Peripheral>| matches!(unit, Some(Peripheral::Varyings | Peripheral::Vpm));
    let reads = accesses.read().map(|read| read.source.row().peripheral);
    let writes = accesses.written().map(|write| write.target.row().access.peripheral);
    if accesses.reads(ReadSource::Uniform)
        || accesses.writes_any(address_sets::TMU)
        || reads.chain(writes).any(is_stream)
    {
        return Err("reads uniforms or varyings, uses the VPM or writes to a TMU among the last three");
    }
    if ending == Some(1) && accesses.writes_to(WriteTarget::TlbZ) {
        return Err("writes Z as the last one");
    }
    Ok(())
}

/// An operand, as far as it is tracked.
#[derive(Clone, Copy)]
enum Operand {
    /// The uniform that the instruction reads, by its number.
    Uniform(u32),
    /// A value with this property in all elements.
    Known(Known),
}

/// The result of an ALU, as far as it is tracked.
#[derive(Clone, Copy)]
enum Sum {
    /// A value with this property in all elements.
    Value(Known),
    /// An address between a uniform and that plus another, in all elements.
    Within {
        /// The lowest address.
        base: u32,
        /// The greatest offset in bytes.
        limit: u32,
    },
    /// Anything else.
    Other,
}
