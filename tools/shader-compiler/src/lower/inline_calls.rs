//! Inlining: a function is lowered at each of its calls.

use alloc::vec::Vec;

use naga::{Function, Span};

use super::{Exit, Frame, Lowered, Lowering, State};
use crate::diagnostic::{Result, refuse_with};
use crate::limit::Limit;
use crate::ssa::Value;

/// Maximum depth of nested calls.
const MOST_CALLS: usize = 64;

impl<'m> Lowering<'m> {
    /// Lowers a function at a call, and returns its result.
    pub(super) fn call(
        &mut self,
        function: &'m Function,
        info: &'m naga::valid::FunctionInfo,
        arguments: Vec<Lowered>,
        state: &mut State,
        span: Span,
    ) -> Result<Vec<Value>> {
        if self.calls == MOST_CALLS {
            return refuse_with(span, &Limit::CALL_DEPTH, format_args!("at most {MOST_CALLS}"));
        }
        self.calls += 1;
        let own = state.variables.len();
        let (returned, length) = self.function(function, info, arguments, state, span)?;
        self.calls -= 1;
        let values = returned.map_or_else(Vec::new, |first| state.variables[first..first + length].to_vec());
        state.variables.truncate(own);
        Ok(values)
    }

    /// Lowers a function's body, and returns the variables that hold its result.
    pub(super) fn function(
        &mut self,
        function: &'m Function,
        info: &'m naga::valid::FunctionInfo,
        arguments: Vec<Lowered>,
        state: &mut State,
        span: Span,
    ) -> Result<(Option<usize>, usize)> {
        let own = state.variables.len();
        let mut frame = Frame {
            function,
            info,
            arguments,
            values: hashbrown::HashMap::new(),
            locals: hashbrown::HashMap::new(),
            iterations: Vec::new(),
            returns: Vec::new(),
            result: None,
        };
        let zero = self.program.bits(0);
        let mut length = 0;
        if let Some(result) = &function.result {
            length = self.scalars(result.ty, span)?;
            self.check_variables(state, length, span)?;
            frame.result = Some(state.variables.len());
            state.variables.extend(core::iter::repeat_n(self.unspecified, length));
        }
        for (handle, local) in function.local_variables.iter() {
            let span = function.local_variables.get_span(handle);
            let count = self.scalars(local.ty, span)?;
            self.check_variables(state, count, span)?;
            frame.locals.insert(handle, state.variables.len());
            state.variables.extend(core::iter::repeat_n(zero, count));
        }
        for (handle, local) in function.local_variables.iter() {
            if let Some(init) = local.init {
                let scalars = self.scalars_at(&mut frame, init, state)?;
                let first = frame.locals[&handle];
                state.variables[first..first + scalars.len()].copy_from_slice(&scalars);
            }
        }
        let whole = state.live;
        self.block(&mut frame, &function.body, state)?;
        let mut ways = core::mem::take(&mut frame.returns);
        if !state.dead {
            ways.push(Exit { live: state.live, variables: state.variables.clone() });
        }
        if let Some(exit) = self.merge(ways) {
            state.variables = exit.variables;
        }
        // All elements that entered the function are active after it: discarded elements are only marked.
        (state.live, state.dead) = (whole, false);
        // The result is moved to the first of the callee's variables, whose scope ends here.
        if let Some(first) = frame.result {
            let result = state.variables[first..first + length].to_vec();
            state.variables.truncate(own);
            state.variables.extend(result);
            return Ok((Some(own), length));
        }
        state.variables.truncate(own);
        Ok((None, 0))
    }
}
