//! Statements: each updates the state of the variables.

use alloc::vec;
use alloc::vec::Vec;

use naga::{Block, Span, Statement};
use v3d_hw::qpu::AddOp;

use super::unroll_loops::LoopParts;
use super::{Exit, Frame, Lowered, Lowering, Pointer, Space, State};
use crate::diagnostic::{Result, fault, refuse};
use crate::limit::Limit;
use crate::ssa::{Relation, Value};

impl<'m> Lowering<'m> {
    pub(super) fn block(&mut self, frame: &mut Frame<'m>, block: &'m Block, state: &mut State) -> Result<()> {
        for (statement, span) in block.span_iter() {
            if state.dead {
                return Ok(());
            }
            self.program.here = *span;
            // `break`, `continue` and `return` copy the variables.
            self.charge(state.variables.len(), *span)?;
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
                self.repeat(frame, LoopParts { body, continuing, break_if: *break_if, span }, state)?;
            }
            Statement::Break => self.leave(frame, state, |iteration| &mut iteration.breaks),
            Statement::Continue => self.leave(frame, state, |iteration| &mut iteration.continues),
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
            // A store is complete before the program continues, so this barrier needs no code.
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

    /// Stores scalars through a pointer.
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

    /// All scalars that a pointer may refer to, each with the mask of the elements in which it does.
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
