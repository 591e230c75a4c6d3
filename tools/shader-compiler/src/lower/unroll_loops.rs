//! Unrolls loops: each iteration is lowered with its constants, mostly the loop counter.

use alloc::vec::Vec;

use naga::{Block, Expression, Handle, Span};

use super::{Exit, Frame, Iteration, Lowering, State};
use crate::diagnostic::Result;

/// The parts of a loop in the source.
#[derive(Clone, Copy)]
pub(super) struct LoopParts<'m> {
    pub(super) body: &'m Block,
    pub(super) continuing: &'m Block,
    pub(super) break_if: Option<Handle<Expression>>,
    pub(super) span: Span,
}

/// The size limits of an unrolled loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// Maximum number of iterations.
    iterations: usize,
    /// Maximum number of computations that are added.
    computations: usize,
    /// Maximum number of iterations with divergent exits: later ones would be executed under a mask, while a loop ends when no element is active.
    divergent_iterations: usize,
}

impl Budget {
    /// For loops that need not be unrolled.
    pub(super) const SHORT: Self = Self { iterations: 64, computations: 300, divergent_iterations: 3 };
    /// For loops with lookups, which would not overlap in a loop.
    pub(super) const WITH_LOOKUPS: Self =
        Self { iterations: 256, computations: 4000, divergent_iterations: usize::MAX };
}

impl<'m> Lowering<'m> {
    /// Lowers one iteration after the other, if their maximum number is known and within the limits. Returns whether that was so.
    pub(super) fn unroll(
        &mut self,
        frame: &mut Frame<'m>,
        LoopParts { body, continuing, break_if, .. }: LoopParts<'m>,
        budget: Budget,
        state: &mut State,
    ) -> Result<bool> {
        let start = self.program.mark();
        let whole = state.live;
        let may_diverge = budget.divergent_iterations == usize::MAX;
        let mut breaks = Vec::new();
        let first_return = frame.returns.len();
        for iterations in 0.. {
            if iterations > budget.iterations || self.program.made_since(&start) > budget.computations {
                return Ok(false);
            }
            let returns = frame.returns.len();
            frame.iterations.push(Iteration::default());
            self.block(frame, body, state)?;
            let iteration = frame.iterations.pop().unwrap_or_default();
            let divergent = |exit: &Exit| exit.live != whole;
            if iteration.breaks.iter().chain(&iteration.continues).any(divergent)
                && iterations > budget.divergent_iterations
                || frame.returns[returns..].iter().any(divergent) && !may_diverge
            {
                return Ok(false);
            }
            breaks.extend(iteration.breaks);
            if may_diverge {
                // The exits are merged after each iteration, so that not all of their variables are kept until the end.
                breaks = self.merge(breaks).into_iter().collect();
                let returned = frame.returns.split_off(first_return);
                frame.returns.extend(self.merge(returned));
            }
            let mut ways = iteration.continues;
            if !state.dead {
                ways.push(Exit { live: state.live, variables: state.variables.clone() });
            }
            let Some(next) = self.merge(ways) else { break };
            *state = State { variables: next.variables, live: next.live, dead: false };
            self.block(frame, continuing, state)?;
            if let Some(condition) = break_if {
                let condition = self.scalar(frame, condition, state)?;
                let known = self.program.constant(condition);
                if known.is_none() && iterations > budget.divergent_iterations {
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
