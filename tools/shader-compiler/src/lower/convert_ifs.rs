//! If-conversion: branches become selects.
//!
//! All branches are executed, each with the mask of the elements that take it; where they join, each variable is selected by that mask.

use alloc::vec::Vec;

use naga::{Block, SwitchCase, SwitchValue};

use super::{Exit, Frame, Iteration, Lowering, State};
use crate::diagnostic::{Result, refuse};
use crate::limit::Limit;
use crate::ssa::{Relation, Value};

impl<'m> Lowering<'m> {
    /// Lowers both branches of an `if`, and their join.
    pub(super) fn branch(
        &mut self,
        frame: &mut Frame<'m>,
        condition: Value,
        accept: &'m Block,
        reject: &'m Block,
        state: &mut State,
    ) -> Result<()> {
        if let Some(bits) = self.program.constant(condition) {
            return self.block(frame, if bits != 0 { accept } else { reject }, state);
        }
        let outside = self.program.not(condition);
        let mut yes = State { live: self.program.narrowed(state.live, condition), ..state.clone() };
        let mut no = State { live: self.program.narrowed(state.live, outside), ..state.clone() };
        let lives = (yes.live, no.live);
        self.block(frame, accept, &mut yes)?;
        self.block(frame, reject, &mut no)?;
        *state = self.meet(condition, lives, yes, no, state.live);
        Ok(())
    }

    /// The state after the join of two branches. `lives` are the masks at their start, `before` is the mask before the `if`.
    fn meet(&mut self, condition: Value, lives: (Value, Value), yes: State, no: State, before: Value) -> State {
        if yes.dead {
            return no;
        }
        if no.dead {
            return yes;
        }
        let pairs = yes.variables.iter().zip(&no.variables);
        let variables = pairs.map(|(yes, no)| self.program.select(condition, *yes, *no)).collect();
        let whole = (yes.live, no.live) == lives;
        let live = if whole { before } else { self.program.or(yes.live, no.live) };
        State { variables, live, dead: false }
    }

    /// Lowers all cases of a `switch`, and their join.
    pub(super) fn switch(
        &mut self,
        frame: &mut Frame<'m>,
        selector: Value,
        cases: &'m [SwitchCase],
        state: &mut State,
    ) -> Result<()> {
        // `break` leaves the switch.
        frame.iterations.push(Iteration::default());
        let values: Vec<Option<u32>> = cases.iter().map(|case| case_value(case.value)).collect();
        let mut first = 0;
        let entry = state.clone();
        let mut exits: Vec<Exit> = Vec::new();
        let mut rest = state.clone();
        let returns = frame.returns.len();
        while first < cases.len() {
            // Cases that fall through share one body.
            let last = (first..cases.len()).find(|&at| !cases[at].fall_through).unwrap_or(cases.len() - 1);
            let group = &values[first..=last];
            let body = &cases[last].body;
            if cases[first..last].iter().any(|case| !case.body.is_empty()) {
                return refuse(self.program.here, &Limit::FALL_THROUGH);
            }
            let mut condition = self.program.bits(0);
            for value in group.iter().flatten() {
                let value = self.program.bits(*value);
                let equal = self.program.compare(Relation::Equal, selector, value);
                condition = self.program.or(condition, equal);
            }
            if group.contains(&None) {
                // The default case: the selector equals none of the values.
                let mut others = self.program.bits(0);
                for value in values.iter().enumerate().filter(|(at, _)| !(first..=last).contains(at)) {
                    let Some(value) = value.1 else { continue };
                    let value = self.program.bits(*value);
                    let equal = self.program.compare(Relation::Equal, selector, value);
                    others = self.program.or(others, equal);
                }
                condition = self.program.not(others);
            }
            let mut inside = State { live: self.program.narrowed(entry.live, condition), ..entry.clone() };
            inside.dead = self.program.constant(inside.live) == Some(0);
            self.block(frame, body, &mut inside)?;
            if !inside.dead {
                exits.push(Exit { live: inside.live, variables: inside.variables });
            }
            first = last + 1;
        }
        let iteration = frame.iterations.pop().unwrap_or_default();
        // `continue` in a switch refers to the enclosing loop.
        if let Some(outer) = frame.iterations.last_mut() {
            outer.continues.extend(iteration.continues.iter().cloned());
        }
        // Each element leaves the switch by one case, unless it leaves the loop or function.
        let whole = iteration.continues.is_empty() && frame.returns.len() == returns;
        exits.extend(iteration.breaks);
        match self.merge(exits) {
            Some(exit) => {
                rest.variables = exit.variables;
                rest.live = if whole { entry.live } else { exit.live };
            }
            None => rest.dead = true,
        }
        *state = rest;
        Ok(())
    }

    /// Merges several exits and a state to one state; where no mask is true, the last one's values are used.
    pub(super) fn merge(&mut self, mut ways: Vec<Exit>) -> Option<Exit> {
        let mut merged = ways.pop()?;
        while let Some(way) = ways.pop() {
            for (slot, value) in merged.variables.iter_mut().zip(&way.variables) {
                *slot = match (*value, *slot) {
                    (value, slot) if value == self.unspecified => slot,
                    (value, slot) if slot == self.unspecified => value,
                    (value, slot) => self.program.select(way.live, value, slot),
                };
            }
            merged.live = self.program.or(way.live, merged.live);
        }
        Some(merged)
    }
}

/// The value of a case; the default case has none.
fn case_value(value: SwitchValue) -> Option<u32> {
    match value {
        SwitchValue::I32(value) => Some(value as u32),
        SwitchValue::U32(value) => Some(value),
        SwitchValue::Default => None,
    }
}
