//! Statements: control flow becomes states that part and meet.

use naga::{Block, Expression, Function, Handle, Span, Statement, SwitchValue};
use v3d_hw::qpu::AddOp;

use super::{Exit, Frame, Lowered, Lowering, MOST_CALLS, Pointer, Space, State, Turn};
use crate::diagnostic::{Result, fault, refuse, refuse_with};
use crate::limit::Limit;
use crate::ssa::{Carried, Loop, Op, Relation, Step, Value};

/// Turns that a loop may have to be unrolled.
const MOST_TURNS: usize = 64;
/// Computations that unrolling a loop may add.
const MOST_UNROLLED: usize = 300;

impl<'m> Lowering<'m> {
    pub(super) fn block(&mut self, frame: &mut Frame<'m>, block: &'m Block, state: &mut State) -> Result<()> {
        for (statement, span) in block.span_iter() {
            if state.dead {
                return Ok(());
            }
            self.program.here = *span;
            self.statement(frame, statement, *span, state)?;
        }
        Ok(())
    }

    fn statement(
        &mut self,
        frame: &mut Frame<'m>,
        statement: &'m Statement,
        span: Span,
        state: &mut State,
    ) -> Result<()> {
        match statement {
            Statement::Emit(range) => {
                for expression in range.clone() {
                    self.program.here = self.span(frame, expression);
                    let value = self.expression(frame, expression, state)?;
                    frame.values.insert(expression, value);
                }
            }
            Statement::Block(block) => self.block(frame, block, state)?,
            Statement::If { condition, accept, reject } => {
                let condition = self.scalar(frame, *condition, state)?;
                self.branch(frame, condition, accept, reject, state)?;
            }
            Statement::Switch { selector, cases } => {
                let selector = self.scalar(frame, *selector, state)?;
                self.switch(frame, selector, cases, state)?;
            }
            Statement::Loop { body, continuing, break_if } => {
                self.repeat(frame, body, continuing, *break_if, span, state)?;
            }
            Statement::Break => self.leave(frame, state, |turn| &mut turn.breaks),
            Statement::Continue => self.leave(frame, state, |turn| &mut turn.continues),
            Statement::Return { value } => {
                if let (Some(value), Some(first)) = (value, frame.result) {
                    let scalars = self.scalars_at(frame, *value, state)?;
                    state.variables[first..first + scalars.len()].copy_from_slice(&scalars);
                }
                frame.returns.push(Exit { live: state.live, variables: state.variables.clone() });
                state.dead = true;
            }
            Statement::Kill => {
                self.discards = true;
                let outside = self.program.not(state.live);
                let kept = state.variables[self.kept];
                state.variables[self.kept] = self.program.and(kept, outside);
                frame.returns.push(Exit { live: state.live, variables: state.variables.clone() });
                state.dead = true;
            }
            Statement::Store { pointer, value } => {
                let scalars = self.scalars_at(frame, *value, state)?;
                match self.operand(frame, *pointer, state)? {
                    Lowered::Pointer(pointer) => self.store(&pointer, &scalars, state, span)?,
                    Lowered::Memory(place) => {
                        let inner = self.pointed(frame, *pointer);
                        self.store_memory(&place, &inner, &scalars, state, span)?;
                    }
                    _ => return fault(span, "a store to something that is not in memory"),
                }
            }
            Statement::Call { function, arguments, result } => {
                let mut values = Vec::new();
                for argument in arguments {
                    values.push(self.operand(frame, *argument, state)?);
                }
                let callee = &self.module.functions[*function];
                let returned = self.call(callee, &self.info[*function], values, state, span)?;
                if let Some(result) = result {
                    frame.values.insert(*result, Lowered::Scalars(returned));
                }
            }
            Statement::ControlBarrier(_) => self.barrier(),
            // What is stored is in memory before the program goes on.
            Statement::MemoryBarrier(_) => {}
            Statement::ImageStore { .. } | Statement::ImageAtomic { .. } => {
                return refuse(span, &Limit::TEXTURE_STORE);
            }
            Statement::Atomic { pointer, fun, value, result } => {
                let scalars = self.atomic(frame, *pointer, *fun, *value, state, span)?;
                if let Some(result) = result {
                    frame.values.insert(*result, Lowered::Scalars(scalars));
                }
            }
            Statement::WorkGroupUniformLoad { pointer, result } => {
                self.barrier();
                let Lowered::Memory(place) = self.operand(frame, *pointer, state)? else {
                    return fault(span, "a workgroup load from other memory");
                };
                let inner = self.pointed(frame, *pointer);
                let scalars = self.load_memory(&place, &inner, state, span)?;
                frame.values.insert(*result, Lowered::Scalars(scalars));
                self.barrier();
            }
            _ => return refuse(span, &Limit::SUBGROUPS),
        }
        Ok(())
    }

    fn leave(&self, frame: &mut Frame<'m>, state: &mut State, list: fn(&mut Turn) -> &mut Vec<Exit>) {
        if let Some(turn) = frame.turns.last_mut() {
            list(turn).push(Exit { live: state.live, variables: state.variables.clone() });
        }
        state.dead = true;
    }

    /// Both ways of an `if`, and where they meet.
    fn branch(
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

    /// The state behind two ways. `lives` are those at their start, `before` the one that they parted from.
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

    fn switch(
        &mut self,
        frame: &mut Frame<'m>,
        selector: Value,
        cases: &'m [naga::SwitchCase],
        state: &mut State,
    ) -> Result<()> {
        // A break inside leaves the switch.
        frame.turns.push(Turn::default());
        let values: Vec<Option<u32>> = cases.iter().map(|case| case_value(case.value)).collect();
        let mut first = 0;
        let entry = state.clone();
        let mut exits: Vec<Exit> = Vec::new();
        let mut rest = state.clone();
        let returns = frame.returns.len();
        while first < cases.len() {
            // Cases that fall through have one body together.
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
                // The default: none of all the values.
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
        let turn = frame.turns.pop().unwrap_or_default();
        // `continue` inside of a switch is the surrounding loop's.
        if let Some(outer) = frame.turns.last_mut() {
            outer.continues.extend(turn.continues.iter().cloned());
        }
        // Each element comes out of one case, but for those that go elsewhere.
        let whole = turn.continues.is_empty() && frame.returns.len() == returns;
        exits.extend(turn.breaks);
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

    fn repeat(
        &mut self,
        frame: &mut Frame<'m>,
        body: &'m Block,
        continuing: &'m Block,
        break_if: Option<Handle<Expression>>,
        span: Span,
        state: &mut State,
    ) -> Result<()> {
        let mark = self.program.mark();
        let (before, returns, discards) = (state.clone(), frame.returns.len(), self.discards);
        if self.unroll(frame, body, continuing, break_if, state)? {
            return Ok(());
        }
        self.program.return_to(&mark);
        frame.returns.truncate(returns);
        *state = before.clone();
        self.discards = discards;
        // Which variables change is found by trying; then only those are carried.
        let all = vec![true; state.variables.len()];
        let changed = self.turn(frame, body, continuing, break_if, span, state, &all)?;
        self.program.return_to(&mark);
        frame.returns.truncate(returns);
        *state = before;
        self.turn(frame, body, continuing, break_if, span, state, &changed)?;
        Ok(())
    }

    /// Lowers turn after turn, if it is known how many there are and they are short. The answer is whether that was so.
    fn unroll(
        &mut self,
        frame: &mut Frame<'m>,
        body: &'m Block,
        continuing: &'m Block,
        break_if: Option<Handle<Expression>>,
        state: &mut State,
    ) -> Result<bool> {
        let start = self.program.mark();
        let whole = state.live;
        let mut breaks = Vec::new();
        for turns in 0.. {
            if turns > MOST_TURNS || self.program.made_since(&start) > MOST_UNROLLED {
                return Ok(false);
            }
            let returns = frame.returns.len();
            frame.turns.push(Turn::default());
            self.block(frame, body, state)?;
            let turn = frame.turns.pop().unwrap_or_default();
            // What some elements leave early goes on for the others turn by turn: a loop is shorter.
            let divergent = |exit: &Exit| exit.live != whole;
            if turn.breaks.iter().chain(&turn.continues).any(divergent) && turns > 3
                || frame.returns[returns..].iter().any(divergent)
            {
                return Ok(false);
            }
            breaks.extend(turn.breaks);
            let mut ways = turn.continues;
            if !state.dead {
                ways.push(Exit { live: state.live, variables: state.variables.clone() });
            }
            let Some(next) = self.merge(ways) else { break };
            *state = State { variables: next.variables, live: next.live, dead: false };
            self.block(frame, continuing, state)?;
            if let Some(condition) = break_if {
                let condition = self.scalar(frame, condition, state)?;
                let Some(bits) = self.program.constant(condition) else { return Ok(false) };
                if bits != 0 {
                    breaks.push(Exit { live: state.live, variables: state.variables.clone() });
                    break;
                }
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

    /// Lowers a loop as one; the answer is which variables change in it.
    #[expect(clippy::too_many_arguments, reason = "the parts of naga's loop statement")]
    fn turn(
        &mut self,
        frame: &mut Frame<'m>,
        body: &'m Block,
        continuing: &'m Block,
        break_if: Option<Handle<Expression>>,
        span: Span,
        state: &mut State,
        carried: &[bool],
    ) -> Result<Vec<bool>> {
        let number = self.program.loops.len() as u32;
        self.program.loops.push(Loop::default());
        self.program.steps.push(Step::Begin(number));
        self.program.open.push(number);
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
        frame.turns.push(Turn::default());
        self.block(frame, body, &mut inside)?;
        let turn = frame.turns.pop().unwrap_or_default();
        if frame.returns.len() > returns {
            self.program.open.pop();
            return refuse(span, &Limit::EXIT_FROM_LOOP);
        }
        let mut breaks = turn.breaks;
        let mut ways = turn.continues;
        if !inside.dead {
            ways.push(Exit { live: inside.live, variables: inside.variables.clone() });
        }
        let none = self.program.bits(0);
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
        if breaks.is_empty() && !end.dead {
            self.program.open.pop();
            return refuse(span, &Limit::ENDLESS_LOOP);
        }
        // Elements that have left keep what they had.
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
        *state = before;
        for (index, &at) in places.iter().enumerate() {
            state.variables[at] = self.program.value(Op::Left(number, index as u32 + 1));
        }
        Ok(changed)
    }

    /// Lowers a function in place; what it returns.
    fn call(
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

    /// Lowers a function's body; the variables that hold what it returns.
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
            values: std::collections::HashMap::new(),
            locals: std::collections::HashMap::new(),
            turns: Vec::new(),
            returns: Vec::new(),
            result: None,
        };
        let zero = self.program.bits(0);
        let mut length = 0;
        if let Some(result) = &function.result {
            length = self.scalars(result.ty, span)?;
            frame.result = Some(state.variables.len());
            state.variables.extend(std::iter::repeat_n(zero, length));
        }
        for (handle, local) in function.local_variables.iter() {
            let span = function.local_variables.get_span(handle);
            let count = self.scalars(local.ty, span)?;
            frame.locals.insert(handle, state.variables.len());
            state.variables.extend(std::iter::repeat_n(zero, count));
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
        let mut ways = std::mem::take(&mut frame.returns);
        if !state.dead {
            ways.push(Exit { live: state.live, variables: state.variables.clone() });
        }
        if let Some(exit) = self.merge(ways) {
            state.variables = exit.variables;
        }
        // Everybody who came in goes out: discarded elements are only marked.
        (state.live, state.dead) = (whole, false);
        // The result moves to where the callee's variables began, and they are given up.
        if let Some(first) = frame.result {
            let result = state.variables[first..first + length].to_vec();
            state.variables.truncate(own);
            state.variables.extend(result);
            return Ok((Some(own), length));
        }
        state.variables.truncate(own);
        Ok((None, 0))
    }

    /// Stores scalars at a place.
    pub(super) fn store(&mut self, to: &Pointer, scalars: &[Value], state: &mut State, span: Span) -> Result<()> {
        if to.space != Space::Variables {
            return fault(span, "a store to read-only memory");
        }
        for (offset, mask) in self.places(to) {
            for (index, &scalar) in scalars.iter().enumerate() {
                let Some(slot) = state.variables.get(offset + index).copied() else {
                    return fault(span, "a store behind the end of a variable");
                };
                state.variables[offset + index] = match mask {
                    Some(mask) => self.program.select(mask, scalar, slot),
                    None => scalar,
                };
            }
        }
        Ok(())
    }

    /// All places that a pointer may be, each with the mask of the elements for which it is that one.
    pub(super) fn places(&mut self, pointer: &Pointer) -> Vec<(usize, Option<Value>)> {
        let mut places = vec![(pointer.first, None)];
        for dynamic in &pointer.dynamic {
            let mut next = Vec::new();
            for (place, mask) in places {
                for index in 0..dynamic.count {
                    let number = self.program.bits(index as u32);
                    let mut here = self.program.compare(Relation::Equal, dynamic.index, number);
                    if let Some(mask) = mask {
                        here = self.program.alu(AddOp::And, mask, here);
                    }
                    next.push((place + index * dynamic.stride, Some(here)));
                }
            }
            places = next;
        }
        places
    }
}

/// The number of a case; the default has none.
fn case_value(value: SwitchValue) -> Option<u32> {
    match value {
        SwitchValue::I32(value) => Some(value as u32),
        SwitchValue::U32(value) => Some(value),
        SwitchValue::Default => None,
    }
}
