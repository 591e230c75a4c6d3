//! The stepper: of the program that shades a pixel, or of a user program.

use crate::source::{Looked, Program};
use qpu_text::Text;
use serde::Serialize;
use std::collections::BTreeMap;
use v3d_hw::BusAddr;
use v3d_sim::qpu::Launch;
use v3d_sim::qpu::lanes::Lanes;
use v3d_sim::qpu::steps::{Run, TmuQueues};
use v3d_sim::stepper::place::register_name;
use v3d_sim::stepper::session::{Line, Session};
use v3d_sim::stepper::{Stepper, UserProgram};

/// Memory of a user program.
const MEMORY_BYTES: usize = 0x1_0000;
/// Where its uniforms are: behind them are addresses that the uniforms' default values name.
const UNIFORMS: u32 = 0x8000;
const INSTRUCTION: u32 = 8;

/// A register or a row of the VPM, with its 16 elements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Vector {
    /// Its name.
    pub name: String,
    /// Its elements.
    pub values: [u32; 16],
    /// The last instruction has changed it.
    pub changed: bool,
}

/// What the page shows of a position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct View {
    /// Instructions before it.
    pub position: usize,
    /// Number of the next instruction in the program; none at the end.
    pub next: Option<usize>,
    /// Its text.
    pub text: String,
    /// How the program ended, at its end.
    pub end: Option<String>,
    /// Why the last movement stopped, in words.
    pub answer: String,
    /// Registers that are not 0.
    pub registers: Vec<Vector>,
    /// Z, N and C, one bit an element.
    pub flags: [u16; 3],
    /// Address of the next uniform.
    pub uniforms: u32,
    /// Results that TMU 0 and 1 have, to be loaded.
    pub results: [Vec<Vector>; 2],
    /// Coordinates of the lookups that are being written.
    pub coordinates: Vec<Vector>,
    /// In how many instructions r4 has the result of the special function unit.
    pub sfu: Option<usize>,
    /// Rows of the VPM that are not 0.
    pub vpm: Vec<Vector>,
    /// Lines of 8 words of memory that are not 0: the address, the words.
    pub memory: Vec<(u32, Vec<u32>)>,
    /// Breakpoints, as numbers of instructions.
    pub breakpoints: Vec<usize>,
    /// Watched elements.
    pub watches: Vec<String>,
    /// Rules that the last instruction broke.
    pub faults: Vec<String>,
}

/// A stepper for a program.
#[derive(Debug)]
pub struct Steps {
    session: Session,
}

impl Steps {
    /// Through a run of the program that shaded a pixel.
    pub fn of_run(run: &Run, program: Option<&Program>) -> Self {
        let line = |at: u32, word: u64| {
            let number = (at.wrapping_sub(run.program.0) / INSTRUCTION) as usize;
            let line = program.and_then(|program| program.code.get(number)).and_then(|listed| listed.line);
            Line { word, number: line.unwrap_or(0), file: "line".to_owned(), text: String::new() }
        };
        let listing = run.steps.iter().map(|step| (step.pc.0, line(step.pc.0, step.word))).collect();
        Self { session: Session::new(Stepper::of_run(run.clone()), listing) }
    }

    /// Through a user program, with these uniforms.
    ///
    /// # Errors
    /// When the source has none, or too long a one.
    pub fn of_program(looked: &Looked, uniforms: &[u32]) -> Result<Self, String> {
        let assembly = looked.user_program.as_deref().ok_or("this source is no user program")?;
        let mut image = vec![0; MEMORY_BYTES];
        let words: Vec<u8> = assembly.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let room = image.get_mut(..words.len()).filter(|room| room.len() <= UNIFORMS as usize);
        room.ok_or("the program is longer than 4096 instructions")?.copy_from_slice(&words);
        let bytes: Vec<u8> = uniforms.iter().flat_map(|word| word.to_le_bytes()).collect();
        let room = image.get_mut(UNIFORMS as usize..UNIFORMS as usize + bytes.len());
        room.ok_or("there are too many uniforms")?.copy_from_slice(&bytes);
        let launch =
            Launch { uniforms: BusAddr(UNIFORMS), uniforms_limit: Some(uniforms.len() as u32), ..Launch::default() };
        let lines = looked.programs.first().map(|program| program.code.as_slice()).unwrap_or_default();
        let listing: BTreeMap<u32, Line> = (0..)
            .step_by(INSTRUCTION as usize)
            .zip(assembly.words.iter().enumerate())
            .map(|(at, (number, &word))| {
                let line = lines.get(number).and_then(|listed| listed.line).unwrap_or(0);
                (at, Line { word, number: line, file: "line".to_owned(), text: String::new() })
            })
            .collect();
        Ok(Self { session: Session::new(Stepper::of_program(UserProgram::new(launch, image)), listing) })
    }

    /// Carries out a command of [`Session::command`], and shows where the program is.
    pub fn command(&mut self, command: &str) -> View {
        let answer = self.session.command(command);
        let mut view = self.view();
        view.answer = answer.text;
        view
    }

    /// What is at this position.
    pub fn view(&mut self) -> View {
        // The program itself is shown as code.
        let behind_code = self.session.listing().keys().next_back().map_or(0, |&last| last + INSTRUCTION);
        let stepper = &mut self.session.stepper;
        let program = stepper.program().0;
        let next_word = stepper.next_word();
        let state = stepper.state();
        let number = |pc: u32| (pc.wrapping_sub(program) / INSTRUCTION) as usize;
        let last = stepper.last();
        let changed = |at: u32| last.is_some_and(|step| step.registers.iter().any(|change| change.at == at));
        let changed_row = |at: u32| last.is_some_and(|step| step.vpm.iter().any(|change| change.at == at));
        let vector = |name: String, value: &Lanes, changed: bool| Vector { name, values: value.0, changed };
        let is_shown = |value: &Lanes, changed: bool| changed || *value != Lanes::default();
        let registers = (0u8..).zip(&state.registers).filter_map(|(register, value)| {
            let changed = changed(u32::from(register));
            is_shown(value, changed).then(|| vector(register_name(register), value, changed))
        });
        let vpm = (0u32..).zip(&state.vpm).filter_map(|(row, value)| {
            let changed = changed_row(row);
            is_shown(value, changed).then(|| vector(format!("vpm{row}"), value, changed))
        });
        let results = |TmuQueues { results, .. }: &TmuQueues| {
            (1..).zip(results).map(|(n, value): (usize, _)| vector(format!("{n}."), value, false)).collect()
        };
        let coordinates = (0usize..).zip(&state.tmus).flat_map(|(unit, queues)| {
            ["s", "t", "r", "b"].into_iter().zip(&queues.coordinates).filter_map(move |(name, value)| {
                value.map(|Lanes(values)| Vector { name: format!("t{unit}{name}"), values, changed: false })
            })
        });
        let memory = (0u32..).step_by(32).zip(state.memory.chunks(8));
        let memory = memory.filter(|(at, words)| *at >= behind_code && words.iter().any(|&word| word != 0));
        View {
            position: stepper.position(),
            next: next_word.map(|_| number(state.pc.0)),
            text: next_word.map(|word| Text(word).to_string()).unwrap_or_default(),
            end: stepper.end().map(ToString::to_string),
            answer: String::new(),
            registers: registers.collect(),
            flags: [state.flags.zero, state.flags.negative, state.flags.carry],
            uniforms: state.uniforms.0,
            results: [results(&state.tmus[0]), results(&state.tmus[1])],
            coordinates: coordinates.collect(),
            sfu: stepper.sfu_pending(),
            vpm: vpm.collect(),
            memory: memory.take(64).map(|(at, words)| (at, words.to_vec())).collect(),
            breakpoints: stepper.breakpoints.iter().map(|&at| number(at)).collect(),
            watches: stepper.watches.iter().map(ToString::to_string).collect(),
            faults: last.map(|step| step.faults.iter().map(ToString::to_string).collect()).unwrap_or_default(),
        }
    }
}
