//! Unrolls loops: turn after turn is lowered with what is known of it, mostly the number of the turn.

use super::loops::LoopParts;
use super::{Exit, Frame, Lowering, State, Turn};
use crate::diagnostic::Result;

/// How long a loop may become.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// Turns.
    turns: usize,
    /// Computations that are added.
    computations: usize,
    /// Turns from which on elements may not leave the loop one by one: what is left goes on under a mask, and a loop ends when none is left.
    divergent_turns: usize,
}

impl Budget {
    /// Where a loop would do as well.
    pub(super) const SHORT: Self = Self { turns: 64, computations: 300, divergent_turns: 3 };
    /// Where a loop is not possible.
    pub(super) const NECESSARY: Self = Self { turns: 256, computations: 4000, divergent_turns: usize::MAX };
}

impl<'m> Lowering<'m> {
    /// Lowers turn after turn, if it is known how many there are at most and they are within a budget. The answer is whether that was so.
    pub(super) fn unroll(
        &mut self,
        frame: &mut Frame<'m>,
        LoopParts { body, continuing, break_if, .. }: LoopParts<'m>,
        budget: Budget,
        state: &mut State,
    ) -> Result<bool> {
        let start = self.program.mark();
        let whole = state.live;
        let is_necessary = budget.divergent_turns == usize::MAX;
        let mut breaks = Vec::new();
        let first_return = frame.returns.len();
        for turns in 0.. {
            if turns > budget.turns || self.program.made_since(&start) > budget.computations {
                return Ok(false);
            }
            let returns = frame.returns.len();
            frame.turns.push(Turn::default());
            self.block(frame, body, state)?;
            let turn = frame.turns.pop().unwrap_or_default();
            let divergent = |exit: &Exit| exit.live != whole;
            if turn.breaks.iter().chain(&turn.continues).any(divergent) && turns > budget.divergent_turns
                || frame.returns[returns..].iter().any(divergent) && !is_necessary
            {
                return Ok(false);
            }
            breaks.extend(turn.breaks);
            if is_necessary {
                // What elements have left with is merged turn by turn, so that not all of it is kept until the end.
                breaks = self.merge(breaks).into_iter().collect();
                let returned = frame.returns.split_off(first_return);
                frame.returns.extend(self.merge(returned));
            }
            let mut ways = turn.continues;
            if !state.dead {
                ways.push(Exit { live: state.live, variables: state.variables.clone() });
            }
            let Some(next) = self.merge(ways) else { break };
            *state = State { variables: next.variables, live: next.live, dead: false };
            self.block(frame, continuing, state)?;
            if let Some(condition) = break_if {
                let condition = self.scalar(frame, condition, state)?;
                let known = self.program.constant(condition);
                if known.is_none() && turns > budget.divergent_turns {
                    return Ok(false);
                }
                if known != Some(0) {
                    let live = self.program.narrowed(state.live, condition);
                    breaks.push(Exit { live, variables: state.variables.clone() });
                }
                if known.is_some_and(|bits| bits != 0) {
                    break;
                }
                let outside = self.program.not(condition);
                state.live = self.program.narrowed(state.live, outside);
            }
        }
        let breaks_are_whole = breaks.len() == 1 && breaks[0].live == whole;
        match self.merge(breaks) {
            Some(exit) => {
                let live = if breaks_are_whole { whole } else { exit.live };
                *state = State { variables: exit.variables, live, dead: false };
            }
            None => state.dead = true,
        }
        Ok(true)
    }
}
