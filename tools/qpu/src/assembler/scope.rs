//! Scopes of names: constants, functions and macros.
//!
//! Scoping is dynamic: the body of a macro sees the names of its caller, a file those of the file that includes it. `.set` defines a name in the outermost
//! scope, `.lset` in the innermost.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::ops::Range;

use crate::lexer::Tokens;
use crate::source::Span;
use crate::symbol::Symbol;
use crate::value::Value;

/// What opened a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScopeKind {
    /// A file.
    File,
    /// `.local`.
    Block,
    /// A macro, function or repetition.
    Call,
}

#[derive(Clone, Debug)]
struct Scope {
    kind: ScopeKind,
    defined: Vec<Symbol>,
    /// The call or include that opened it, with a description for diagnostics.
    site: Option<(Span, &'static str)>,
}

/// A value with the scope that it was defined in.
#[derive(Clone, Copy, Debug)]
struct Constant {
    depth: u32,
    value: Value,
    span: Span,
}

/// A function of one line: `.set name(arguments) expression`.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) arguments: Vec<Symbol>,
    pub(super) file: u32,
    pub(super) tokens: Rc<Tokens>,
    /// First token of the expression.
    pub(super) start: usize,
}

/// A macro, or a function of several lines.
#[derive(Debug)]
pub(super) struct Macro {
    pub(super) arguments: Vec<Symbol>,
    pub(super) file: u32,
    pub(super) tokens: Rc<Tokens>,
    pub(super) lines: Range<usize>,
    pub(super) span: Span,
}

/// All definitions of one name.
#[derive(Debug, Default)]
struct Entry {
    /// Constants of this name, the innermost scope last.
    constants: Vec<Constant>,
    function: Option<Rc<Function>>,
    body_function: Option<Rc<Macro>>,
    code_macro: Option<Rc<Macro>>,
}

/// All names.
#[derive(Debug, Default)]
pub(super) struct Names {
    entries: Vec<Entry>,
    scopes: Vec<Scope>,
}

impl Names {
    fn entry(&mut self, symbol: Symbol) -> &mut Entry {
        let index = symbol as usize;
        if self.entries.len() <= index {
            self.entries.resize_with(index + 1, Entry::default);
        }
        &mut self.entries[index]
    }

    /// Opens a scope.
    pub(super) fn enter(&mut self, kind: ScopeKind) {
        self.scopes.push(Scope { kind, defined: Vec::new(), site: None });
    }

    /// Opens a scope whose call site diagnostics mention.
    pub(super) fn enter_at(&mut self, kind: ScopeKind, span: Span, what: &'static str) {
        self.scopes.push(Scope { kind, defined: Vec::new(), site: Some((span, what)) });
    }

    /// Closes the innermost scope and removes its names.
    pub(super) fn leave(&mut self) {
        let Some(scope) = self.scopes.pop() else { return };
        let depth = self.scopes.len() as u32 + 1;
        for symbol in scope.defined {
            self.entry(symbol).constants.retain(|constant| constant.depth != depth);
        }
    }

    pub(super) fn inner_scope(&self) -> Option<ScopeKind> {
        self.scopes.last().map(|scope| scope.kind)
    }

    pub(super) fn inner_span(&self) -> Span {
        self.scopes.last().and_then(|scope| scope.site).map_or(Span::default(), |(span, _)| span)
    }

    /// Call sites of macros and includes, innermost first.
    pub(super) fn call_sites(&self) -> impl Iterator<Item = (Span, &'static str)> + '_ {
        self.scopes.iter().rev().filter(|scope| scope.kind != ScopeKind::Block).filter_map(|scope| scope.site)
    }

    /// The value of a constant.
    #[inline]
    pub(super) fn constant(&self, symbol: Symbol) -> Option<Value> {
        self.entries.get(symbol as usize)?.constants.last().map(|constant| constant.value)
    }

    /// Sets a constant in the outermost or the innermost scope. Redefining a final constant is an error, which is the place of the first definition.
    pub(super) fn set(
        &mut self,
        symbol: Symbol,
        value: Value,
        span: Span,
        local: bool,
        final_value: bool,
    ) -> Result<(), Span> {
        let depth = if local { self.scopes.len() as u32 } else { 0 };
        let entry = self.entry(symbol);
        if let Some(constant) = entry.constants.iter_mut().find(|constant| constant.depth == depth) {
            if final_value {
                return Err(constant.span);
            }
            *constant = Constant { depth, value, span };
            return Ok(());
        }
        let at = entry.constants.partition_point(|constant| constant.depth < depth);
        entry.constants.insert(at, Constant { depth, value, span });
        if local && let Some(scope) = self.scopes.last_mut() {
            scope.defined.push(symbol);
        }
        Ok(())
    }

    /// Removes a constant from the outermost or innermost scope; returns whether it was defined.
    pub(super) fn unset(&mut self, symbol: Symbol, local: bool) -> bool {
        let depth = if local { self.scopes.len() as u32 } else { 0 };
        let entry = self.entry(symbol);
        let before = entry.constants.len() + usize::from(entry.function.is_some());
        entry.constants.retain(|constant| constant.depth != depth);
        if !local {
            entry.function = None;
        }
        before != entry.constants.len() + usize::from(entry.function.is_some())
    }

    /// Whether it is a function, of one line or of several.
    #[inline]
    pub(super) fn is_function(&self, symbol: Symbol) -> bool {
        let entry = self.entries.get(symbol as usize);
        entry.is_some_and(|entry| entry.function.is_some() || entry.body_function.is_some())
    }

    pub(super) fn function(&self, symbol: Symbol) -> Option<Rc<Function>> {
        self.entries.get(symbol as usize)?.function.clone()
    }

    pub(super) fn set_function(&mut self, symbol: Symbol, function: Function) {
        self.entry(symbol).function = Some(Rc::new(function));
    }

    pub(super) fn body_function(&self, symbol: Symbol) -> Option<Rc<Macro>> {
        self.entries.get(symbol as usize)?.body_function.clone()
    }

    /// Defines a function of several lines; returns the place of a previous definition.
    pub(super) fn set_body_function(&mut self, symbol: Symbol, function: Macro) -> Option<Span> {
        self.entry(symbol).body_function.replace(Rc::new(function)).map(|old| old.span)
    }

    pub(super) fn macro_of(&self, symbol: Symbol) -> Option<Rc<Macro>> {
        self.entries.get(symbol as usize)?.code_macro.clone()
    }

    /// Defines a macro; returns the place of a previous definition.
    pub(super) fn set_macro(&mut self, symbol: Symbol, code_macro: Macro) -> Option<Span> {
        self.entry(symbol).code_macro.replace(Rc::new(code_macro)).map(|old| old.span)
    }
}
