//! The stepper's commands in words: what is typed, and what is answered.

use super::place::{Holder, register_name};
use super::{Edit, Place, Stepper, Stopped, Target};
use crate::qpu::lanes::Lanes;
use crate::qpu::steps::{State, TmuQueues};
use qpu_text::Text;
use std::collections::BTreeMap;
use std::fmt::Write;
use v3d_hw::BusAddr;
use v3d_hw::qpu::INSTRUCTION_BYTES;

/// What `help` prints. Its lines fit a terminal of 80 columns.
pub const HELP: &str = "\
s, step [N]         the next instruction, or the next N
b, back [N]         one instruction back, or N
r, run              to a breakpoint, a change of what is watched, or the end
R, reverse          the same backwards
g, signal           to the next instruction with a signal; G, signal back
t, thread           to the next thread switch; T, thread back
l, tmu              to where a TMU's next result is in r4; L, tmu back
goto N              to where N instructions have been executed
break LINE|0xOFF    stop at a line, or an offset of the program; again: no more
watch PLACE         stop at its change: r0, ra3[5], vpm2[0], 0x1000; again: no
p, print PLACE...   all 16 elements, as bits, integers and floats
set PLACE VALUE     an integer, or a float with a decimal point; not in frames
x 0xADDR [WORDS]    words of memory
code                the program, with its breakpoints and the next instruction
regs, flags         registers that are not 0; flags
fifos, vpm, stops   queues of TMUs and uniforms; the VPM; what stops a run
h, help             this
q, quit";

/// An instruction of the listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The instruction.
    pub word: u64,
    /// Number of the line of the source; 0 if there is none.
    pub number: usize,
    /// The file's name.
    pub file: String,
    /// The text of the line.
    pub text: String,
}

/// A stepper with the listing of its program.
#[derive(Debug)]
pub struct Session {
    /// The stepper.
    pub stepper: Stepper,
    /// The instructions, by their addresses.
    listing: BTreeMap<u32, Line>,
}

/// An answer, and whether that was the last command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The text.
    pub text: String,
    /// The session ends.
    pub quit: bool,
    /// The command was not understood, or could not be carried out.
    pub failed: bool,
}

impl Session {
    /// A session.
    pub fn new(stepper: Stepper, listing: BTreeMap<u32, Line>) -> Self {
        Self { stepper, listing }
    }

    /// The instructions, by their addresses.
    pub fn listing(&self) -> &BTreeMap<u32, Line> {
        &self.listing
    }

    /// Carries out a command. An empty line repeats nothing and says where the program is.
    pub fn command(&mut self, line: &str) -> Answer {
        let words: Vec<&str> = line.split_whitespace().collect();
        let back = words.get(1) == Some(&"back");
        let result = match words.first().copied().unwrap_or("where") {
            "s" | "step" => self.steps(&words, true),
            "b" | "back" => self.steps(&words, false),
            "r" | "run" => Ok(self.moved(Target::Stop, true)),
            "R" | "reverse" => Ok(self.moved(Target::Stop, false)),
            "g" | "signal" => Ok(self.moved(Target::Signal, !back)),
            "G" => Ok(self.moved(Target::Signal, false)),
            "t" | "thread" => Ok(self.moved(Target::ThreadSwitch, !back)),
            "T" => Ok(self.moved(Target::ThreadSwitch, false)),
            "l" | "tmu" => Ok(self.moved(Target::TmuResult, !back)),
            "L" => Ok(self.moved(Target::TmuResult, false)),
            "goto" => self.go_to(&words),
            "where" => Ok(self.place()),
            "break" => self.toggle_break(&words),
            "watch" => self.toggle_watch(&words),
            "p" | "print" => self.print(&words),
            "set" => self.set(&words),
            "x" => self.memory(&words),
            "code" => Ok(self.code(usize::MAX)),
            "regs" => Ok(registers(self.stepper.state())),
            "flags" => Ok(flags(self.stepper.state())),
            "fifos" => Ok(self.fifos()),
            "vpm" => Ok(vpm(self.stepper.state())),
            "stops" => Ok(self.stops()),
            "h" | "help" => Ok(format!("{HELP}\n")),
            "q" | "quit" => return Answer { quit: true, ..Answer::default() },
            other => Err(format!("there is no command {other:?}; help lists them")),
        };
        match result {
            Ok(text) => Answer { text, ..Answer::default() },
            Err(text) => Answer { text: text + "\n", failed: true, ..Answer::default() },
        }
    }

    fn steps(&mut self, words: &[&str], forward: bool) -> Result<String, String> {
        let steps = words.get(1).map_or(Ok(1), |word| count(word))?;
        Ok(self.moved(Target::Steps(steps), forward))
    }

    fn go_to(&mut self, words: &[&str]) -> Result<String, String> {
        let position = count(words.get(1).ok_or("goto needs a number of instructions")?)?;
        let stopped = self.stepper.go_to(position);
        Ok(self.arrived(&stopped))
    }

    fn moved(&mut self, target: Target, forward: bool) -> String {
        let stopped = self.stepper.move_to(target, forward);
        let mut text = String::new();
        if matches!(target, Target::Steps(_))
            && forward
            && let Some(step) = self.stepper.last()
        {
            for change in &step.registers {
                vector(&mut text, &register_name(change.at as u8), &change.values[1]);
            }
            for change in &step.vpm {
                vector(&mut text, &format!("vpm{}", change.at), &change.values[1]);
            }
            for change in &step.memory {
                let _ = writeln!(text, "{:#x}  {:08x}, was {:08x}", change.at * 4, change.values[1], change.values[0]);
            }
            if step.flags[0] != step.flags[1] {
                text.push_str(&flags(self.stepper.state()));
            }
            for fault in &step.faults {
                let _ = writeln!(text, "fault: {fault}");
            }
        }
        text + &self.arrived(&stopped)
    }

    /// Why a movement ended, and where.
    fn arrived(&mut self, stopped: &Stopped) -> String {
        let why = match stopped {
            Stopped::There => String::new(),
            Stopped::Breakpoint => "a breakpoint\n".to_owned(),
            Stopped::Watch(place) => {
                let value = place.value(self.stepper.state()).unwrap_or_default();
                let mut text = format!("{place} has changed\n");
                vector(&mut text, &place.to_string(), &value);
                text
            }
            Stopped::Beginning => "the beginning of the program\n".to_owned(),
            Stopped::End(end) => format!("{end}\n"),
        };
        why + &self.place()
    }

    /// The position and the next instruction.
    fn place(&mut self) -> String {
        let position = self.stepper.position();
        let pc = self.stepper.state().pc;
        let next = self.stepper.next_word();
        match next {
            None => format!("{position:>6}  the end\n"),
            Some(word) => format!("{position:>6}  {}", self.instruction(pc, word)),
        }
    }

    fn instruction(&self, pc: BusAddr, word: u64) -> String {
        let offset = pc.0.wrapping_sub(self.stepper.program().0);
        let text = Text(word).to_string();
        match self.listing.get(&pc.0).filter(|line| line.number > 0) {
            Some(Line { number, file, text: source, .. }) => {
                format!("{offset:#06x}  {text:<58} {file}:{number}: {}\n", source.trim())
            }
            None => format!("{offset:#06x}  {text}\n"),
        }
    }

    /// The program around the next instruction, up to so many instructions before and behind.
    pub fn code(&self, around: usize) -> String {
        let pc = self.stepper.state().pc.0;
        // At the end of the program there is more before than behind.
        let most = self.listing.len().saturating_sub(around.saturating_mul(2).saturating_add(1));
        let before = self.listing.range(..pc).count().saturating_sub(around).min(most);
        let mut text = String::new();
        for (&at, line) in self.listing.iter().skip(before).take(around.saturating_mul(2).saturating_add(1)) {
            let here = if at == pc { '>' } else { ' ' };
            let stop = if self.stepper.breakpoints.contains(&at) { '*' } else { ' ' };
            let _ = write!(text, "{here}{stop} {}", self.instruction(BusAddr(at), line.word));
        }
        text
    }

    fn toggle_break(&mut self, words: &[&str]) -> Result<String, String> {
        let word = words.get(1).ok_or("break needs a line, or an offset such as 0x18")?;
        let addresses: Vec<u32> = match word.strip_prefix("0x") {
            Some(digits) => {
                let offset = u32::from_str_radix(digits, 16).map_err(|error| format!("{word}: {error}"))?;
                let at = self.stepper.program().0.wrapping_add(offset);
                self.listing.contains_key(&at).then_some(at).into_iter().collect()
            }
            None => {
                let number = count(word.rsplit(':').next().unwrap_or_default())?;
                let of_line = self.listing.iter().filter(|(_, line)| line.number == number);
                // A line may be several instructions; those that follow each other stop once.
                let mut addresses: Vec<u32> = of_line.map(|(&at, _)| at).collect();
                let all = addresses.clone();
                addresses.retain(|at| !all.contains(&at.wrapping_sub(INSTRUCTION_BYTES)));
                addresses
            }
        };
        if addresses.is_empty() {
            return Err(format!("{word}: no instruction is there"));
        }
        let mut text = String::new();
        for at in addresses {
            let is_new = self.stepper.breakpoints.insert(at);
            if !is_new {
                self.stepper.breakpoints.remove(&at);
            }
            let offset = at - self.stepper.program().0;
            let _ = writeln!(text, "{offset:#06x}: {}", if is_new { "breakpoint" } else { "no breakpoint" });
        }
        Ok(text)
    }

    fn toggle_watch(&mut self, words: &[&str]) -> Result<String, String> {
        let place: Place = words.get(1).ok_or("watch needs a place, such as r0[3]")?.parse().map_err(text_of)?;
        place.value(self.stepper.state()).ok_or_else(|| format!("{place}: this run has no such thing"))?;
        let watches = &mut self.stepper.watches;
        match watches.iter().position(|other| *other == place) {
            Some(at) => {
                watches.remove(at);
                Ok(format!("{place}: not watched\n"))
            }
            None => {
                watches.push(place);
                Ok(format!("{place}: watched\n"))
            }
        }
    }

    fn stops(&self) -> String {
        let mut text = String::new();
        for at in &self.stepper.breakpoints {
            let word = self.listing.get(at).map_or(0, |line| line.word);
            let _ = write!(text, "breakpoint {}", self.instruction(BusAddr(*at), word));
        }
        for place in &self.stepper.watches {
            let _ = writeln!(text, "watched    {place}");
        }
        if text.is_empty() { "nothing stops the program\n".to_owned() } else { text }
    }

    fn print(&self, words: &[&str]) -> Result<String, String> {
        if words.len() < 2 {
            return Err("print needs places, such as r0 ra3[5]".to_owned());
        }
        let mut text = String::new();
        for word in &words[1..] {
            let place: Place = word.parse().map_err(text_of)?;
            let value = place.value(self.stepper.state());
            let value = value.ok_or_else(|| format!("{place}: this run has no such thing"))?;
            described(&mut text, &place, &value);
        }
        Ok(text)
    }

    fn set(&mut self, words: &[&str]) -> Result<String, String> {
        let [_, place, value] = words else {
            return Err("set needs a place and a value, such as ra3[5] 1.0".to_owned());
        };
        let place: Place = place.parse().map_err(text_of)?;
        let value = number(value)?;
        let edit = match place.holder {
            Holder::Register(register) => Edit::Register(register, place.mask(), value),
            Holder::Memory(address) => Edit::Memory(address, value),
            Holder::Vpm(_) => return Err("rows of the VPM are set by programs only".to_owned()),
        };
        self.stepper.edit(edit).map_err(|why| format!("{place}: {why}"))?;
        let mut text = String::new();
        described(&mut text, &place, &place.value(self.stepper.state()).unwrap_or_default());
        Ok(text)
    }

    fn memory(&self, words: &[&str]) -> Result<String, String> {
        let word = words.get(1).ok_or("x needs an address, such as x 0x1000 16")?;
        let place: Place = word.parse().map_err(text_of)?;
        let Holder::Memory(address) = place.holder else { return Err(format!("{word} is no address")) };
        let shown = words.get(2).map_or(Ok(8), |word| count(word))?;
        let memory = &self.stepper.state().memory;
        let first = address.0 as usize / 4;
        let content = memory.get(first..first.saturating_add(shown).min(memory.len())).unwrap_or_default();
        if content.is_empty() {
            return Err(format!("{word}: there is no memory at this address"));
        }
        let mut text = String::new();
        for (n, line) in content.chunks(8).enumerate() {
            let _ = write!(text, "{:08x} ", address.0 as usize + n * 32);
            for word in line {
                let _ = write!(text, " {word:08x}");
            }
            text.push('\n');
        }
        Ok(text)
    }

    /// Queues, the uniform pointer, and what is on its way to r4.
    fn fifos(&self) -> String {
        let state = self.stepper.state();
        let mut text = format!("next uniform at {}\n", state.uniforms);
        if let Some(left) = self.stepper.sfu_pending() {
            let _ = writeln!(text, "r4: a result of the special function unit can be read after {left} more");
        }
        for (unit, TmuQueues { coordinates, results }) in state.tmus.iter().enumerate() {
            let _ = writeln!(text, "TMU {unit}: {} results to load", results.len());
            for (name, coordinate) in ["s", "t", "r", "b"].into_iter().zip(coordinates) {
                if let Some(coordinate) = coordinate {
                    vector(&mut text, &format!("tmu{unit}_{name}"), coordinate);
                }
            }
            for (n, result) in results.iter().enumerate() {
                vector(&mut text, &format!("{}.", n + 1), result);
            }
        }
        text
    }
}

fn text_of(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn count(word: &str) -> Result<usize, String> {
    word.parse().map_err(|_| format!("{word:?} is no number"))
}

/// An integer, decimal or hexadecimal, or a float, which has a decimal point.
pub fn number(word: &str) -> Result<u32, String> {
    let parsed = if let Some(digits) = word.strip_prefix("0x") {
        u32::from_str_radix(digits, 16).ok()
    } else if word.contains('.') {
        word.parse::<f32>().ok().map(f32::to_bits)
    } else if word.starts_with('-') {
        word.parse::<i32>().ok().map(|value| value as u32)
    } else {
        word.parse().ok()
    };
    parsed.ok_or_else(|| format!("{word:?} is no number"))
}

/// A vector on a line.
fn vector(text: &mut String, name: &str, value: &Lanes) {
    let Lanes(elements) = value;
    if elements.iter().all(|&element| element == elements[0]) {
        let bits = elements[0];
        let _ = writeln!(text, "{name:<6} all {bits:08x} = {} = {:?}", bits as i32, f32::from_bits(bits));
        return;
    }
    let _ = write!(text, "{name:<6}");
    for element in elements {
        let _ = write!(text, " {element:08x}");
    }
    text.push('\n');
}

/// A value in all its readings.
fn described(text: &mut String, place: &Place, value: &Lanes) {
    let Lanes(elements) = value;
    if place.element.is_some() || elements.iter().all(|&element| element == elements[0]) {
        return vector(text, &place.to_string(), value);
    }
    let _ = writeln!(text, "{place}");
    for (n, &bits) in elements.iter().enumerate() {
        let _ = writeln!(text, "  [{n:>2}]  {bits:08x}  {:>11}  {:?}", bits as i32, f32::from_bits(bits));
    }
}

/// Registers that are not 0.
fn registers(state: &State) -> String {
    let mut text = String::new();
    for (register, value) in (0..).zip(&state.registers) {
        if *value != Lanes::default() {
            vector(&mut text, &register_name(register), value);
        }
    }
    text + &flags(state)
}

fn flags(state: &State) -> String {
    let (z, n, c) = (state.flags.zero, state.flags.negative, state.flags.carry);
    format!("flags  Z {z:016b}  N {n:016b}  C {c:016b}  (element 0 is the last)\n")
}

/// Rows of the VPM that are not 0.
fn vpm(state: &State) -> String {
    let mut text = String::new();
    for (row, value) in state.vpm.iter().enumerate().filter(|(_, value)| **value != Lanes::default()) {
        vector(&mut text, &format!("vpm{row}"), value);
    }
    if text.is_empty() { "all rows of the VPM are 0\n".to_owned() } else { text }
}
