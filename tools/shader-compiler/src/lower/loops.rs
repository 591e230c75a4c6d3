//! Loops that are not unrolled: variables that are modified become loop-carried values.
//!
//! `return` and `discard` leave a loop as `break` does, and set a variable of the loop: after it, those elements are marked as returned.

use alloc::vec;
use alloc::vec::Vec;

use super::unroll_loops::{Budget, LoopParts};
use super::{Exit, Frame, Iteration, Lowering, State};
use crate::diagnostic::{Result, refuse};
use crate::limit::Limit;
use crate::share_values::Mark;
use crate::ssa::{Carried, Loop, Op, Step, Value};

/// A snapshot of the program before a loop, for backtracking.
struct Standing {
    mark: Mark,
    state: State,
    returns: usize,
    iterations: usize,
    calls: usize,
    discards: bool,
}

impl<'m> Lowering<'m> {
    /// Leaves the loop, the switch or the iteration: adds the active elements to a list of exits.
    pub(super) fn leave(&self, frame: &mut Frame<'m>, state: &mut State, list: fn(&mut Iteration) -> &mut Vec<Exit>) {
        if let Some(iteration) = frame.iterations.last_mut() {
            list(iteration).push(Exit { live: state.live, variables: state.variables.clone() });
        }
        state.dead = true;
    }

    /// Lowers a loop: it is unrolled if it is short, or if it contains lookups and its number of iterations is known.
    pub(super) fn repeat(&mut self, frame: &mut Frame<'m>, parts: LoopParts<'m>, state: &mut State) -> Result<()> {
        let before = self.standing(frame, state);
        if self.unroll(frame, parts, Budget::SHORT, state)? {
            return Ok(());
        }
        self.start_over(frame, &before, state);
        // Which variables are modified is found by a trial; then only those are carried. The last one is the mask of elements that return in the loop.
        let all = vec![true; state.variables.len() + 1];
        let changed = self.iteration(frame, parts, state, &all)?;
        let looks_up = self.program.looks_up_since(&before.mark);
        self.start_over(frame, &before, state);
        if looks_up && !self.is_frugal {
            // When it is unrolled, lookups overlap, and two threads can share the QPU.
            if let Ok(true) = self.unroll(frame, parts, Budget::WITH_LOOKUPS, state) {
                return Ok(());
            }
            self.start_over(frame, &before, state);
        }
        self.iteration(frame, parts, state, &changed).map(drop)
    }

    /// A snapshot of the program before a loop.
    fn standing(&self, frame: &Frame<'m>, state: &State) -> Standing {
        let (returns, iterations) = (frame.returns.len(), frame.iterations.len());
        let (state, mark) = (state.clone(), self.program.mark());
        Standing { mark, state, returns, iterations, calls: self.calls, discards: self.discards }
    }

    /// Restores a snapshot.
    fn start_over(&mut self, frame: &mut Frame<'m>, before: &Standing, state: &mut State) {
        self.program.return_to(&before.mark);
        frame.returns.truncate(before.returns);
        frame.iterations.truncate(before.iterations);
        state.clone_from(&before.state);
        (self.calls, self.discards) = (before.calls, before.discards);
    }

    /// Lowers a loop without unrolling, and returns which variables are modified in it.
    fn iteration(
        &mut self,
        frame: &mut Frame<'m>,
        LoopParts { body, continuing, break_if, span }: LoopParts<'m>,
        state: &mut State,
        carried: &[bool],
    ) -> Result<Vec<bool>> {
        let returned = state.variables.len();
        let none = self.program.bits(0);
        state.variables.push(none);
        let number = self.program.loops.len() as u32;
        self.program.loops.push(Loop { span, ..Loop::default() });
        self.program.steps.push(Step::Begin(number));
        self.program.open.push(number);
        self.program.vpm_time += 1;
        // The first that is carried says which elements are still in the loop.
        let mut inits = vec![state.live];
        let places: Vec<usize> = (0..state.variables.len()).filter(|&at| carried[at]).collect();
        inits.extend(places.iter().map(|&at| state.variables[at]));
        let values: Vec<Value> =
            (0..inits.len()).map(|index| self.program.value(Op::Carried(number, index as u32))).collect();
        let before = state.clone();
        let mut inside = state.clone();
        inside.live = values[0];
        for (&at, &value) in places.iter().zip(&values[1..]) {
            inside.variables[at] = value;
        }
        let at_start = inside.variables.clone();
        let returns = frame.returns.len();
        frame.iterations.push(Iteration::default());
        self.block(frame, body, &mut inside)?;
        let iteration = frame.iterations.pop().unwrap_or_default();
        let mut breaks = iteration.breaks;
        let mut ways = iteration.continues;
        if !inside.dead {
            ways.push(Exit { live: inside.live, variables: inside.variables.clone() });
        }
        let mut end = match self.merge(ways) {
            Some(way) => State { variables: way.variables, live: way.live, dead: false },
            None => State { variables: at_start.clone(), live: none, dead: true },
        };
        if !end.dead {
            self.block(frame, continuing, &mut end)?;
            if let Some(condition) = break_if {
                let condition = self.scalar(frame, condition, &mut end)?;
                let leaving = self.program.narrowed(end.live, condition);
                breaks.push(Exit { live: leaving, variables: end.variables.clone() });
                let outside = self.program.not(condition);
                end.live = self.program.narrowed(end.live, outside);
            }
        }
        let goes_on_behind = !breaks.is_empty();
        let all = self.program.bits(u32::MAX);
        for mut exit in frame.returns.drain(returns..) {
            exit.variables[returned] = all;
            breaks.push(exit);
        }
        if breaks.is_empty() && !end.dead {
            return refuse(span, &Limit::ENDLESS_LOOP);
        }
        // Elements that have left the loop keep their values.
        let mut list = vec![Carried { value: values[0], init: inits[0], next: end.live, next_inside: end.live }];
        let mut changed = vec![false; state.variables.len()];
        for (index, &at) in places.iter().enumerate() {
            let (value, init) = (values[index + 1], inits[index + 1]);
            let mut next_inside = end.variables[at];
            if end.dead {
                next_inside = value;
            }
            let mut next = if next_inside == value { value } else { self.program.select(end.live, next_inside, value) };
            for exit in &breaks {
                if exit.variables[at] != value {
                    next = self.program.select(exit.live, exit.variables[at], next);
                }
            }
            changed[at] = next != value;
            list.push(Carried { value, init, next, next_inside });
        }
        let data = &mut self.program.loops[number as usize];
        data.carried = list;
        data.again = Some(end.live);
        self.program.open.pop();
        self.program.steps.push(Step::End(number));
        self.program.vpm_time += 1;
        *state = before;
        for (index, &at) in places.iter().enumerate() {
            state.variables[at] = self.program.value(Op::Left(number, index as u32 + 1));
        }
        let mask = state.variables.pop().unwrap_or(none);
        if changed[returned] {
            frame.returns.push(Exit { live: mask, variables: state.variables.clone() });
            let others = self.program.not(mask);
            state.live = self.program.narrowed(state.live, others);
            state.dead = !goes_on_behind;
        }
        Ok(changed)
    }
}
