//! Stepper: moves along a run of a program, forward and back.
//!
//! A run is either complete, as that of the fragment program of a watched pixel ([`PixelTrace::runs`](crate::render::pixel_trace::PixelTrace::runs)), or it
//! grows while it is stepped through: a [user program](UserProgram) executes on as far as it is looked at. [`session`] has the commands in words, for
//! `qpu debug` and `v3d debug --step`; the web page moves by the same functions.

pub mod place;
pub mod session;
#[cfg(feature = "terminal")]
pub mod terminal;
mod user_program;

pub use place::Place;
pub use user_program::{Edit, End, UserProgram};

use crate::qpu::lanes::Lanes;
use crate::qpu::steps::{Run, State, Step, signal};
use std::collections::BTreeSet;
use v3d_hw::BusAddr;
use v3d_hw::qpu::Signal;

/// Most steps of a run that are kept: a step has some hundred bytes.
pub const MOST_STEPS: usize = 1 << 20;

/// Where a movement ends, beside the ends of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// After so many instructions.
    Steps(usize),
    /// At a breakpoint, or at a change of a watched element.
    Stop,
    /// Before the next instruction with a signal.
    Signal,
    /// Before the next instruction that switches threads.
    ThreadSwitch,
    /// After the next instruction that takes a result of a TMU.
    TmuResult,
}

/// Why a movement ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Stopped {
    /// It got where it was to go.
    There,
    /// There is a breakpoint.
    Breakpoint,
    /// This watched element has changed.
    Watch(Place),
    /// There is nothing before this.
    Beginning,
    /// The program has ended, or will not go on.
    End(End),
}

/// A run, and a position in it.
#[derive(Debug)]
pub struct Stepper {
    run: Run,
    at: usize,
    state: State,
    /// What goes on at the end of the run; none if the run is complete.
    program: Option<UserProgram>,
    end: Option<End>,
    /// Addresses of instructions.
    pub breakpoints: BTreeSet<u32>,
    /// Elements that are watched.
    pub watches: Vec<Place>,
}

impl Stepper {
    /// A complete run.
    pub fn of_run(run: Run) -> Self {
        let end = if run.left_out > 0 { End::LeftOut(run.left_out) } else { End::Ended };
        Self::new(run, None, Some(end))
    }

    /// A user program that has not executed anything yet.
    pub fn of_program(program: UserProgram) -> Self {
        Self::new(Run::new(program.state()), Some(program), None)
    }

    fn new(run: Run, program: Option<UserProgram>, end: Option<End>) -> Self {
        let state = run.first.clone();
        Self { run, at: 0, state, program, end, breakpoints: BTreeSet::new(), watches: Vec::new() }
    }

    /// The state before the next instruction.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Instructions before this position.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Instructions that are known.
    pub fn known(&self) -> usize {
        self.run.steps.len()
    }

    /// The instruction before this position.
    pub fn last(&self) -> Option<&Step> {
        self.run.steps.get(self.at.checked_sub(1)?)
    }

    /// Address of the program's first instruction.
    pub fn program(&self) -> BusAddr {
        self.run.program
    }

    /// How the program ended, if this position is at its end.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref().filter(|_| self.at == self.run.steps.len())
    }

    /// The word of the next instruction.
    pub fn next_word(&mut self) -> Option<u64> {
        self.extend();
        self.run.steps.get(self.at).map(|step| step.word)
    }

    /// In how many instructions the result of the special function unit is in r4, if there is one on its way: an instruction that reads r4 before gets the old
    /// value.
    pub fn sfu_pending(&self) -> Option<usize> {
        (1..=2).rev().find_map(|back| {
            let step = self.run.steps.get(self.at.checked_sub(back)?)?;
            place::writes_sfu(step.word).then_some(3 - back)
        })
    }

    /// Makes the next step known, unless the run ends here.
    fn extend(&mut self) {
        if self.at < self.run.steps.len() || self.end.is_some() {
            return;
        }
        let Some(program) = &mut self.program else { return };
        if self.run.steps.len() >= MOST_STEPS {
            self.end = Some(End::TooLong(MOST_STEPS));
            return;
        }
        match program.step(&self.state) {
            Ok(step) => self.run.steps.push(step),
            Err(end) => self.end = Some(end),
        }
    }

    /// Makes a step forward; none at the end.
    pub fn forward(&mut self) -> Option<&Step> {
        self.extend();
        let step = self.run.steps.get(self.at)?;
        self.state.advance(step);
        self.at += 1;
        Some(step)
    }

    /// Takes a step back; none at the beginning.
    pub fn back(&mut self) -> Option<&Step> {
        let before = self.at.checked_sub(1)?;
        let step = self.run.steps.get(before)?;
        self.state.go_back(step);
        self.at = before;
        Some(step)
    }

    /// Goes to a position, or to the end of the run.
    pub fn go_to(&mut self, position: usize) -> Stopped {
        if position < self.at {
            self.move_to(Target::Steps(self.at - position), false)
        } else {
            self.move_to(Target::Steps(position - self.at), true)
        }
    }

    /// Moves forward or back. A movement of at least one step: what is at this position does not end it.
    pub fn move_to(&mut self, target: Target, forward: bool) -> Stopped {
        let mut moved = 0;
        loop {
            if let Target::Steps(steps) = target
                && moved >= steps
            {
                return Stopped::There;
            }
            let watched: Vec<Option<Lanes>> = self.watches.iter().map(|place| place.value(&self.state)).collect();
            let step = if forward { self.forward() } else { self.back() };
            let Some(step) = step else {
                return match (forward, &self.end) {
                    (true, Some(end)) => Stopped::End(end.clone()),
                    (true, None) => Stopped::End(End::Ended),
                    (false, _) => Stopped::Beginning,
                };
            };
            let passed = step.word;
            moved += 1;
            if let Target::Steps(_) = target {
                continue;
            }
            if self.breakpoints.contains(&self.state.pc.0) && self.end().is_none() {
                return Stopped::Breakpoint;
            }
            let mut pairs = self.watches.iter().zip(watched);
            if let Some((place, _)) = pairs.find(|(place, before)| place.value(&self.state) != *before) {
                return Stopped::Watch(*place);
            }
            if self.is_there(target, passed) {
                return Stopped::There;
            }
        }
    }

    /// Whether this position is what a movement looks for.
    fn is_there(&mut self, target: Target, passed: u64) -> bool {
        let is_switch = |signal| matches!(signal, Some(Signal::ThreadSwitch | Signal::LastThreadSwitch));
        match target {
            Target::Steps(_) | Target::Stop => false,
            Target::Signal => self.next_word().is_some_and(|word| signal(word).is_some()),
            Target::ThreadSwitch => self.next_word().is_some_and(|word| is_switch(signal(word))),
            Target::TmuResult => {
                let is_load = |word| matches!(signal(word), Some(Signal::LoadTmu0 | Signal::LoadTmu1));
                // Back, it is the position behind the one before.
                self.last().map_or(is_load(passed), |step| is_load(step.word))
            }
        }
    }

    /// Changes memory or a register here. What was known of the run behind this position is forgotten, and executed again with the change.
    ///
    /// # Errors
    /// A run that is complete cannot be changed: what it would have done otherwise is not known. Of a user program, what is not there cannot be changed.
    pub fn edit(&mut self, edit: Edit) -> Result<(), &'static str> {
        let Some(program) = &mut self.program else {
            return Err("this run belongs to a frame, and cannot be changed");
        };
        let before = std::mem::take(&mut self.state);
        match program.edit(self.at, edit) {
            Ok(state) => self.state = state,
            Err(why) => {
                self.state = before;
                return Err(why);
            }
        }
        self.run.steps.truncate(self.at);
        if self.at == 0 {
            self.run.first = self.state.clone();
        } else if let Some(step) = self.run.steps.last_mut() {
            edit.note_in(step, &before);
        }
        self.end = None;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qpu::isa::registers::{ACCUMULATORS, FILE_A, FILE_B};
    use crate::qpu::{Exit, Launch, Qpu};
    use ::qpu::{Options, Source, assemble};

    /// A program with two uniforms, 3 and 0x1000.
    fn program(text: &str) -> Stepper {
        let assembly = assemble(&[Source::new("stepped.qasm", text)], &Options::default()).unwrap();
        let mut image = vec![0; 0x2000];
        let words: Vec<u8> = assembly.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        image[..words.len()].copy_from_slice(&words);
        image[0x800..0x808].copy_from_slice(&[3, 0, 0, 0, 0, 0x10, 0, 0]);
        let launch = Launch { uniforms: BusAddr(0x800), uniforms_limit: Some(2), ..Launch::default() };
        Stepper::of_program(UserProgram::new(launch, image))
    }

    const LOOPS: &str = ".include <vc4.qinc>
        mov r0, unif; mov rb1, 0
        ldi vw_setup, vpm_setup(1, 1, h32(0))
        :again
        sub.setf r0, r0, 1
        brr.anynz -, :again
        mov vpm, r0
        mov recip, r0
        add rb1, rb1, elem_num
        ldi vw_setup, vdw_setup_0(1, 16, dma_h32(0, 0))
        mov vw_addr, unif
        mov -, vw_wait
        mov t0s, 0
        nop; ldtmu0
        thrend
        nop
        nop";

    /// Every state on the way forward is met again on the way back, and again forward.
    #[test]
    fn the_way_back_is_the_way_forward() {
        let mut stepper = program(LOOPS);
        let mut states = vec![stepper.state().clone()];
        while stepper.forward().is_some() {
            states.push(stepper.state().clone());
        }
        assert_eq!(stepper.end(), Some(&End::Ended));
        // 2, three times round a loop of 5, and 8.
        assert_eq!(states.len(), 1 + 2 + 15 + 8);
        for state in states.iter().rev().skip(1) {
            assert!(stepper.back().is_some());
            assert_eq!(stepper.state(), state);
        }
        assert_eq!(stepper.back(), None);
        for state in &states[1..] {
            assert!(stepper.forward().is_some());
            assert_eq!(stepper.state(), state);
        }
    }

    /// The states are those of a QPU that runs without being watched.
    #[test]
    fn states_are_those_of_an_unwatched_run() {
        let mut stepper =
            program("mov r0, unif\nshl ra3, r0, 2\nmov.setf r1, elem_num\nmov r2, unif\nthrend\nnop\nnop");
        assert_eq!(stepper.move_to(Target::Stop, true), Stopped::End(End::Ended));
        let state = stepper.state();
        assert_eq!(state.register(FILE_A + 3), Lanes::splat(12));
        assert_eq!(state.register(ACCUMULATORS + 1), Lanes::ELEMENT_NUMBERS);
        assert_eq!(state.register(ACCUMULATORS + 2), Lanes::splat(0x1000));
        assert_eq!((state.flags.zero, state.flags.negative, state.uniforms), (1, 0, BusAddr(0x808)));
        let memory = crate::memory::OwnedMemory::new(0x2000);
        let code: Vec<u8> = state.memory.iter().flat_map(|word| word.to_le_bytes()).collect();
        memory.view().write(BusAddr(0), &code).unwrap();
        let mut qpu = Qpu::new();
        qpu.start(&Launch { uniforms: BusAddr(0x800), uniforms_limit: Some(2), ..Launch::default() });
        let mut nothing = Nothing;
        let exit = qpu.run_reference(&mut nothing, memory.view(), &crate::qpu::CodeCache::new(), &mut 100);
        assert_eq!((exit, qpu.executed()), (Exit::Ended, 7));
        assert_eq!(qpu.registers().visible(), state.registers);
    }

    /// No units around the QPU.
    struct Nothing;

    impl crate::qpu::Io for Nothing {}

    /// Where each movement ends, in instructions.
    #[test]
    fn movements_end_where_they_say() {
        let mut stepper = program(LOOPS);
        assert_eq!((stepper.move_to(Target::TmuResult, true), stepper.position()), (Stopped::There, 22));
        assert_eq!((stepper.move_to(Target::Signal, true), stepper.position()), (Stopped::End(End::Ended), 25));
        assert_eq!((stepper.move_to(Target::Signal, false), stepper.position()), (Stopped::There, 22));
        assert_eq!((stepper.move_to(Target::ThreadSwitch, false), stepper.position()), (Stopped::Beginning, 0));
        stepper.breakpoints.insert(0x30);
        assert_eq!((stepper.move_to(Target::Stop, true), stepper.position()), (Stopped::Breakpoint, 6));
        let watched: Place = "rb1[2]".parse().unwrap();
        stepper.watches.push(watched);
        assert_eq!((stepper.move_to(Target::Stop, true), stepper.position()), (Stopped::Watch(watched), 7));
        assert_eq!((stepper.move_to(Target::Stop, true), stepper.position()), (Stopped::Breakpoint, 11));
        assert_eq!((stepper.move_to(Target::Stop, false), stepper.position()), (Stopped::Breakpoint, 6));
        assert_eq!(stepper.sfu_pending(), Some(2));
        assert_eq!((stepper.go_to(1), stepper.position()), (Stopped::There, 1));
    }

    /// A program that waits for a semaphore goes on when another program has released it, and sees what that has stored; on the way back that is gone.
    #[test]
    fn a_program_that_waits_lets_the_others_run() {
        let words = |text: &str| {
            let assembly = assemble(&[Source::new("waits.qasm", text)], &Options::default()).unwrap();
            assembly.words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>()
        };
        let waits = words("sacq -, 2\nmov t0s, unif\nldtmu0\nthrend\nnop\nnop");
        let releases = words(
            ".include <vc4.qinc>
            mov vw_setup, vpm_setup(1, 1, h32(0))
            mov vpm, qpu_num
            mov vw_setup, vdw_setup_0(1, 16, dma_h32(0, 0))
            mov vw_addr, unif
            mov -, vw_wait
            srel -, 2
            thrend
            nop
            nop",
        );
        let mut image = vec![0; 0x2000];
        image[..waits.len()].copy_from_slice(&waits);
        image[0x400..0x400 + releases.len()].copy_from_slice(&releases);
        image[0x800..0x804].copy_from_slice(&0x1000u32.to_le_bytes());
        let launch = Launch { uniforms: BusAddr(0x800), uniforms_limit: Some(1), ..Launch::default() };
        let mut alone = Stepper::of_program(UserProgram::new(launch, image.clone()));
        assert_eq!(alone.move_to(Target::Stop, true), Stopped::End(End::Waits));
        let other = Launch { pc: BusAddr(0x400), qpu: 7, ..launch };
        let mut stepper = Stepper::of_program(UserProgram::with_others(launch, &[other], image));
        let before = stepper.state().clone();
        assert_eq!(stepper.move_to(Target::Steps(1), true), Stopped::There);
        assert_eq!(stepper.state().memory[0x400..0x411], [[7; 16].as_slice(), &[0]].concat());
        assert_eq!(stepper.move_to(Target::Stop, true), Stopped::End(End::Ended));
        assert_eq!(stepper.state().register(ACCUMULATORS + 4), Lanes::splat(7));
        stepper.go_to(0);
        assert_eq!(*stepper.state(), before);
    }

    /// A change in the middle of a run changes what comes behind it, and is taken back on the way back.
    #[test]
    fn changes_take_effect_and_are_taken_back() {
        let mut stepper = program(LOOPS);
        stepper.go_to(2);
        stepper.edit(Edit::Register(ACCUMULATORS, 0xffff, 1)).unwrap();
        stepper.edit(Edit::Memory(BusAddr(0x804), 0x1400)).unwrap();
        assert_eq!(stepper.move_to(Target::Stop, true), Stopped::End(End::Ended));
        assert_eq!(stepper.position(), 2 + 5 + 8);
        let memory = |stepper: &Stepper, address: usize| stepper.state().memory[address / 4];
        assert_eq!(stepper.state().register(FILE_B + 1).0[15], 15);
        stepper.go_to(1);
        assert_eq!((stepper.state().register(ACCUMULATORS).0[0], memory(&stepper, 0x804)), (3, 0x1000));
        assert!(stepper.edit(Edit::Memory(BusAddr(2), 0)).is_err());
        assert!(stepper.edit(Edit::Memory(BusAddr(0x2000), 0)).is_err());
        assert_eq!(stepper.state().register(ACCUMULATORS).0[0], 3);
        let mut complete = Stepper::of_run(Run::default());
        assert!(complete.edit(Edit::Memory(BusAddr(0), 0)).is_err());
    }
}
