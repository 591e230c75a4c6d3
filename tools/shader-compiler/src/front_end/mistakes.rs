//! Validation errors of naga, restated with the names in the source.
//!
//! naga refers to expressions and functions by numbers, and some errors have no place. The most frequent ones are restated here as a sentence with names,
//! types and a place; all others keep naga's text.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};

use naga::common::DiagnosticDisplay;
use naga::front::Typifier;
use naga::proc::{ResolveContext, TypeResolution};
use naga::valid::{CallError, EntryPointError, ExpressionError, FunctionError, ValidationError};
use naga::{
    BinaryOperator, Block, Expression, Function, Handle, Module, SampleLevel, ShaderStage, Span, Statement, TypeInner,
    UnaryOperator, VectorSize,
};

use crate::diagnostic::{Refusal, mistake_of};

/// The restated error, if it is one of those in this file. `span` is naga's place.
pub(crate) fn explained(module: &Module, source: &str, span: Span, error: &ValidationError) -> Option<Refusal> {
    let (name, function, error) = match error {
        ValidationError::Function { handle, name, source } => (name, module.functions.try_get(*handle).ok()?, source),
        ValidationError::EntryPoint { stage, name, source: error } => {
            let function =
                &module.entry_points.iter().find(|entry| entry.stage == *stage && entry.name == *name)?.function;
            match error {
                EntryPointError::Function(error) => (name, function, error),
                EntryPointError::ForbiddenStageOperations => {
                    let (span, message) = forbidden(module, *stage, function, &mut BTreeSet::new())?;
                    return Some(mistake_of(span, message));
                }
                EntryPointError::MissingVertexOutputPosition => {
                    let message =
                        format!("`{name}` is a vertex shader, and must return `@builtin(position)`, a vec4<f32>");
                    return Some(mistake_of(heading(source, span, name), message));
                }
                _ => return None,
            }
        }
        _ => return None,
    };
    let context = Context { module, function };
    let (span, message) = context.in_function(name, source, span, error)?;
    Some(mistake_of(span, message))
}

/// The module and function in which types are resolved.
struct Context<'a> {
    module: &'a Module,
    function: &'a Function,
}

impl Context<'_> {
    fn in_function(&self, name: &str, source: &str, span: Span, error: &FunctionError) -> Option<(Span, String)> {
        let message = match error {
            FunctionError::Expression { source, .. } => self.in_expression(source)?,
            FunctionError::InvalidReturnType { expression: None, expected_ty: Some(expected) } => {
                let expected = self.name_of(*expected);
                let message =
                    format!("`{name}` returns {expected}, and comes to its end without a `return` on some path");
                return Some((heading(source, span, name), message));
            }
            FunctionError::InvalidReturnType { expression: Some(value), expected_ty } => {
                let value = self.type_of(*value)?;
                match expected_ty {
                    Some(expected) => format!("`{name}` returns {}, and this is {value}", self.name_of(*expected)),
                    None => format!(
                        "`{name}` returns nothing, and this is {value}: `-> {value}` is missing before its body"
                    ),
                }
            }
            FunctionError::InvalidStoreTypes { pointer, value } => {
                let (place, value_type) = (self.pointee_of(*pointer)?, self.type_of(*value)?);
                return Some((self.place_of(*value), format!("a variable of type {place} cannot take {value_type}")));
            }
            FunctionError::InvalidIfType(condition) => {
                format!("a condition is a bool, and this is {}", self.type_of(*condition)?)
            }
            FunctionError::InvalidSwitchType(value) => {
                format!("`switch` takes an i32 or a u32, and this is {}", self.type_of(*value)?)
            }
            FunctionError::InvalidCall { function, error } => {
                let called = self.module.functions.try_get(*function).ok()?;
                let name = called.name.as_deref().unwrap_or("the function");
                match error {
                    CallError::ArgumentCount { required, seen } => {
                        let plural = if *required == 1 { "" } else { "s" };
                        format!("`{name}` takes {required} argument{plural}, not {seen}")
                    }
                    CallError::ArgumentType { index, required, seen_expression } => {
                        let argument = called.arguments.get(*index)?.name.as_deref().unwrap_or("an argument");
                        let (required, seen) = (self.name_of(*required), self.type_of(*seen_expression)?);
                        let message = format!("`{argument}` of `{name}` is {required}, and this is {seen}");
                        return Some((self.place_of(*seen_expression), message));
                    }
                    _ => return None,
                }
            }
            _ => return None,
        };
        Some((span, message))
    }

    fn in_expression(&self, error: &ExpressionError) -> Option<String> {
        match error {
            ExpressionError::InvalidBinaryOperandTypes { op, lhs_expr, lhs_type, rhs_expr, rhs_type } => {
                let (left, right) = (self.type_of(*lhs_expr)?, self.type_of(*rhs_expr)?);
                Some(format!("`{}` does not take {left} and {right}{}", symbol(*op), hint(lhs_type, rhs_type)))
            }
            ExpressionError::InvalidUnaryOperandType(op, operand) => {
                let symbol = match op {
                    UnaryOperator::Negate => "-",
                    UnaryOperator::LogicalNot => "!",
                    UnaryOperator::BitwiseNot => "~",
                };
                Some(format!("`{symbol}` does not take {}", self.type_of(*operand)?))
            }
            ExpressionError::SelectValuesTypeMismatch { accept, reject } => {
                let (accept, reject) = (self.shown(accept)?, self.shown(reject)?);
                Some(format!("`select` chooses between values of one type, and these are {reject} and {accept}"))
            }
            ExpressionError::SelectConditionNotABool { actual } => {
                Some(format!("the last argument of `select` is a bool, and this is {}", self.shown(actual)?))
            }
            _ => None,
        }
    }

    /// The name of a type without a handle; `None` for a structure, whose name is not known then.
    fn shown(&self, inner: &TypeInner) -> Option<String> {
        let resolution = (!matches!(inner, TypeInner::Struct { .. })).then(|| TypeResolution::Value(inner.clone()))?;
        Some(DiagnosticDisplay((&resolution, self.module.to_ctx())).to_string())
    }

    fn name_of(&self, ty: Handle<naga::Type>) -> String {
        DiagnosticDisplay((ty, self.module.to_ctx())).to_string()
    }

    fn resolved(&self, expression: Handle<Expression>) -> Option<TypeResolution> {
        let Function { expressions, local_variables, arguments, .. } = self.function;
        let mut types = Typifier::new();
        types
            .grow(expression, expressions, &ResolveContext::with_locals(self.module, local_variables, arguments))
            .ok()?;
        Some(types[expression].clone())
    }

    fn type_of(&self, expression: Handle<Expression>) -> Option<String> {
        Some(DiagnosticDisplay((&self.resolved(expression)?, self.module.to_ctx())).to_string())
    }

    fn place_of(&self, expression: Handle<Expression>) -> Span {
        self.function.expressions.get_span(expression)
    }

    /// The type of the variable, or of its component, that a pointer refers to.
    fn pointee_of(&self, pointer: Handle<Expression>) -> Option<String> {
        match *self.resolved(pointer)?.inner_with(&self.module.types) {
            TypeInner::Pointer { base, .. } => Some(self.name_of(base)),
            TypeInner::ValuePointer { size: None, scalar, .. } => self.shown(&TypeInner::Scalar(scalar)),
            TypeInner::ValuePointer { size: Some(size), scalar, .. } => self.shown(&TypeInner::Vector { size, scalar }),
            _ => None,
        }
    }
}

const fn symbol(op: BinaryOperator) -> &'static str {
    match op {
        BinaryOperator::Add => "+",
        BinaryOperator::Subtract => "-",
        BinaryOperator::Multiply => "*",
        BinaryOperator::Divide => "/",
        BinaryOperator::Modulo => "%",
        BinaryOperator::Equal => "==",
        BinaryOperator::NotEqual => "!=",
        BinaryOperator::Less => "<",
        BinaryOperator::LessEqual => "<=",
        BinaryOperator::Greater => ">",
        BinaryOperator::GreaterEqual => ">=",
        BinaryOperator::And => "&",
        BinaryOperator::ExclusiveOr => "^",
        BinaryOperator::InclusiveOr => "|",
        BinaryOperator::LogicalAnd => "&&",
        BinaryOperator::LogicalOr => "||",
        BinaryOperator::ShiftLeft => "<<",
        BinaryOperator::ShiftRight => ">>",
    }
}

/// A suggestion for the error.
fn hint(left: &TypeInner, right: &TypeInner) -> &'static str {
    let parts = |inner: &TypeInner| match *inner {
        TypeInner::Scalar(scalar) => Some((None, scalar)),
        TypeInner::Vector { size, scalar } => Some((Some(size), scalar)),
        _ => None,
    };
    let (Some((size, scalar)), Some((other_size, other_scalar))) = (parts(left), parts(right)) else { return "" };
    let differ = |a: Option<VectorSize>, b: Option<VectorSize>| matches!((a, b), (Some(a), Some(b)) if a != b);
    if differ(size, other_size) {
        ": both vectors need the same number of components"
    } else if scalar != other_scalar {
        ": WGSL converts no variable by itself; write f32(n), i32(x) or u32(x)"
    } else {
        ""
    }
}

/// The span of a function's name, arguments and result.
fn heading(source: &str, span: Span, name: &str) -> Span {
    let of_function = span.to_range().filter(|range| source.get(range.clone()).is_some_and(|text| text.contains('{')));
    let start = of_function.map(|range| range.start).or_else(|| {
        let is_whole = |at: &usize| {
            let behind = source[at + 3..].trim_start().strip_prefix(name);
            behind.is_some_and(|rest| rest.trim_start().starts_with('('))
        };
        source.match_indices("fn ").map(|(at, _)| at).find(is_whole)
    });
    let Some(start) = start else { return span };
    let length = source[start..].find('{').unwrap_or(0);
    let end = start + source[start..start + length].trim_end().len();
    u32::try_from(start).and_then(|start| Ok(Span::new(start, u32::try_from(end)?))).unwrap_or(span)
}

/// The first operation, in a function or its callees, that is not allowed in its stage.
fn forbidden(
    module: &Module,
    stage: ShaderStage,
    function: &Function,
    visited: &mut BTreeSet<usize>,
) -> Option<(Span, String)> {
    let is_fragment = stage == ShaderStage::Fragment;
    let shader = match stage {
        ShaderStage::Vertex => "a vertex shader",
        ShaderStage::Compute => "a compute shader",
        _ => "this stage",
    };
    for (handle, expression) in function.expressions.iter() {
        let message = match expression {
            Expression::ImageSample { level: SampleLevel::Auto | SampleLevel::Bias(_), .. } if !is_fragment => format!(
                "{shader} has no neighbouring pixels, from which this would choose the level: use `textureSampleLevel`"
            ),
            Expression::Derivative { .. } if !is_fragment => {
                format!("{shader} has no neighbouring pixels to compare with")
            }
            _ => continue,
        };
        return Some((function.expressions.get_span(handle), message));
    }
    in_block(module, stage, &function.body, visited)
}

fn in_block(
    module: &Module,
    stage: ShaderStage,
    block: &Block,
    visited: &mut BTreeSet<usize>,
) -> Option<(Span, String)> {
    block.span_iter().find_map(|(statement, span)| match statement {
        Statement::Kill if stage != ShaderStage::Fragment => {
            Some((*span, "`discard` is for fragment shaders only".to_owned()))
        }
        Statement::ControlBarrier(_) | Statement::MemoryBarrier(_) | Statement::WorkGroupUniformLoad { .. }
            if stage != ShaderStage::Compute =>
        {
            Some((*span, "barriers are for compute shaders only".to_owned()))
        }
        Statement::Block(block) => in_block(module, stage, block, visited),
        Statement::If { accept, reject, .. } => {
            in_block(module, stage, accept, visited).or_else(|| in_block(module, stage, reject, visited))
        }
        Statement::Switch { cases, .. } => cases.iter().find_map(|case| in_block(module, stage, &case.body, visited)),
        Statement::Loop { body, continuing, .. } => {
            in_block(module, stage, body, visited).or_else(|| in_block(module, stage, continuing, visited))
        }
        Statement::Call { function, .. } if visited.insert(function.index()) => {
            forbidden(module, stage, &module.functions[*function], visited)
        }
        _ => None,
    })
}
