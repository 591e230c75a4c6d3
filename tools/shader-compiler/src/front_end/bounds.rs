//! Checks limits on a text by its tokens, before a front end parses it.
//!
//! naga's front ends recurse for nested brackets and for each operator of an expression, and copy a constant wherever a function uses it: a short text can
//! exhaust the stack or the memory. The estimates here are never lower than what the front ends need; shaders written by people are far from the limits.

use alloc::vec;

use naga::Span;

use super::parts::check_parts;
use super::tokens::{Token, TokenKind, tokens};
use crate::budget::Budget;
use crate::diagnostic::{Result, refuse_beyond, refuse_with};
use crate::limit::Limit;

/// Maximum size of a source in bytes. Shaders written by people have less than a tenth of this.
pub const MAX_SOURCE_BYTES: usize = Budget::LARGE.source_bytes;

/// Refuses a text that is too long; the error is at the first character beyond the limit.
fn check_size(text: &str, most: usize) -> Result<()> {
    if text.len() <= most {
        return Ok(());
    }
    let start = text.floor_char_boundary(most);
    let end = text[start..].chars().next().map_or(start, |first| start + first.len_utf8());
    let span = Span::new(start as u32, end as u32);
    if most == MAX_SOURCE_BYTES {
        return refuse_with(span, &Limit::SOURCE_SIZE, text.len());
    }
    refuse_with(span, &Limit::SOURCE_SIZE, format_args!("{}, and here at most {most}", text.len()))
}

/// Refuses a text that would need too much stack or memory to be parsed.
pub(crate) fn check(text: &str, dialect: Dialect, budget: &Budget) -> Result<()> {
    check_size(text, budget.source_bytes)?;
    let tokens = tokens(text, dialect == Dialect::Wgsl);
    check_nesting(&tokens, budget.nesting)?;
    check_parts(&tokens, dialect, budget.parts)
}

/// The language of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Wgsl,
    #[cfg(feature = "glsl")]
    Glsl,
}

/// The place of a token.
pub(super) fn span(token: &Token<'_>) -> Span {
    Span::new(token.place.start as u32, token.place.end as u32)
}

/// An open bracket, or the text itself.
#[derive(Clone, Copy, Default)]
struct Level {
    /// Operators since the last separator.
    operators: usize,
    /// Number of open angle brackets, if they are brackets.
    angles: usize,
    /// Number of `else` since the last statement without one.
    elses: usize,
}

impl Level {
    const fn depth(&self) -> usize {
        1 + self.operators + self.angles + self.elses
    }
}

fn check_nesting(tokens: &[Token<'_>], most: usize) -> Result<()> {
    let mut levels = vec![Level::default()];
    let mut outside = 0;
    for (at, token) in tokens.iter().enumerate() {
        let is_inside = levels.len() > 1;
        let Some(level) = levels.last_mut() else { return Ok(()) };
        match token.text {
            "(" | "[" | "{" => {
                // An index is counted like a binary operator.
                level.operators += usize::from(token.text == "[");
                if token.text == "{" {
                    (level.operators, level.angles) = (0, 0);
                }
                outside += level.depth();
                levels.push(Level::default());
            }
            ")" | "]" | "}" if is_inside => {
                levels.pop();
                let Some(level) = levels.last_mut() else { return Ok(()) };
                outside -= level.depth();
                if token.text == "}" {
                    (level.operators, level.angles) = (0, 0);
                    if tokens.get(at + 1).is_none_or(|next| next.text != "else") {
                        level.elses = 0;
                    }
                }
            }
            ";" => *level = Level::default(),
            "," => level.operators = 0,
            "else" => level.elses += 1,
            "<" => level.angles += 1,
            ">" => level.angles = level.angles.saturating_sub(1),
            _ if token.kind == TokenKind::Operator => level.operators += 1,
            _ => {}
        }
        let depth = outside + levels.last().map_or(0, Level::depth);
        if depth > most {
            return refuse_beyond(span(token), &Limit::NESTING, most as u64, Budget::LARGE.nesting as u64);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    fn refused(text: &str) -> Option<&'static str> {
        let refusal = check(text, Dialect::Wgsl, &Budget::LARGE).err()?;
        [Limit::SOURCE_SIZE, Limit::NESTING, Limit::PARTS]
            .iter()
            .find(|limit| refusal.is_for(limit))
            .map(|limit| limit.name)
    }

    /// The texts of the limits contain the numbers that are compared with.
    #[test]
    fn limits_say_what_they_are() {
        for (limit, number) in [
            (Limit::SOURCE_SIZE, MAX_SOURCE_BYTES as u64),
            (Limit::NESTING, Budget::LARGE.nesting as u64),
            (Limit::PARTS, Budget::LARGE.parts),
            (Limit::LOCATION, u64::from(crate::compile::MAX_LOCATION)),
            (Limit::VARIABLE_SIZE, crate::lower::MAX_VARIABLES as u64),
            (Limit::WORK, Budget::LARGE.work),
            (Limit::PROGRAM_SIZE, Budget::LARGE.computations as u64),
            (Limit::PROGRAM_SIZE, crate::schedule::Effort::MOST),
        ] {
            let words: Vec<&str> = limit.message.split(|c: char| !c.is_ascii_digit()).collect();
            assert!(words.contains(&number.to_string().as_str()), "{}: {number}", limit.message);
        }
    }

    #[test]
    fn nesting_is_what_stands_within_each_other() {
        let check = |text: &str, expected| assert_eq!(refused(text), expected, "{text:.60}");
        let nested = Some(Limit::NESTING.name);
        check(&"(".repeat(999), None);
        check(&"(".repeat(1000), nested);
        check(&"a+".repeat(999), None);
        check(&"a+".repeat(1000), nested);
        check(&"a.b;".repeat(5000), None);
        check(&"f(-a,b);".repeat(5000), None);
        check(&format!("f({})", "-1.5,".repeat(5000)), None);
        check(&"if a { b; } else ".repeat(1000), nested);
        check(&"if a { b; } else { c; }".repeat(1000), None);
        check(&"array<".repeat(1000), nested);
        check(&"array<4, ".repeat(1000), nested);
        check(&"let a: array<vec4<f32>, 4>;".repeat(1000), None);
        // Closed brackets do not count.
        check(&"(a+(b+c))*".repeat(400), None);
        check(&"a < b; ".repeat(2000), None);
    }

    #[test]
    fn parts_are_counted_where_they_are_used() {
        let check = |text: &str, expected| assert_eq!(refused(text), expected, "{text:.60}");
        let parts = Some(Limit::PARTS.name);
        let doubled = |text: &dyn Fn(usize) -> String, count: usize| (1..count).map(text).collect::<String>();
        let constants = |n: usize| format!("const c{n} = array(c{}, c{});", n - 1, n - 1);
        check(&format!("const c0 = array(1, 2);{}", doubled(&constants, 12)), None);
        check(&format!("const c0 = array(1, 2);{}", doubled(&constants, 30)), parts);
        // In any order.
        check(&format!("{}const c0 = array(1, 2);", doubled(&constants, 30)), parts);
        let scalars = |n: usize| format!("const c{n} = c{} + c{};", n - 1, n - 1);
        check(&format!("const c0 = 1;{}", doubled(&scalars, 3000)), None);
        let structures = |n: usize| format!("struct S{n} {{ a: S{}, b: S{} }}", n - 1, n - 1);
        check(&format!("struct S0 {{ a: f32 }}{}", doubled(&structures, 12)), None);
        check(&format!("struct S0 {{ a: f32 }}{} var<private> a: S29;", doubled(&structures, 30)), parts);
        // In a block, names are resolved in order: each is an array of two of the previous value.
        check(&format!("fn f() {{ const a = array(1, 2); {}", "{ const a = array(a, a);".repeat(12)), None);
        check(&format!("fn f() {{ const a = array(1, 2); {}", "{ const a = array(a, a);".repeat(30)), parts);
    }

    #[test]
    fn elements_of_zeros_are_counted() {
        let check = |text: &str, expected| assert_eq!(refused(text), expected, "{text}");
        let parts = Some(Limit::PARTS.name);
        check("var a = array<f32, 1000>();", None);
        check("var a = array<f32, 200000>();", parts);
        check("var a: array<f32, 200000>;", None);
        check("var a = array<array<vec2<u32>, 600>, 0x400>();", parts);
        check("const n = 1u << 20u; var a = array<f32, n>();", parts);
        check("const n = (4 + 60) / 16 * 2 - 1; var a = array<f32, n>();", None);
        check("alias A = array<f32, 1000000>; var a = A();", parts);
        check("struct S { a: u32, b: array<f32, 1000000> } var a = S();", parts);
        // An unknown size is assumed to be large.
        check("var a = array<f32, max(1 << 30, 5)>();", parts);
        check("fn f() { const n = 1000000; var a = array<f32, n>(); }", parts);
    }

    #[cfg(feature = "glsl")]
    #[test]
    fn macros_are_counted_where_they_are_used() {
        let check = |text: &str, expected: bool| {
            assert_eq!(super::check(text, Dialect::Glsl, &Budget::LARGE).is_err(), expected, "{text:.60}");
        };
        let doubled: String = (1..30).map(|n| format!("#define M{n} M{} + M{}\n", n - 1, n - 1)).collect();
        check("#define A 1\n#define B A + A\nfloat x = B;", false);
        check(&format!("#define M0 1 * (2)\n{}float x = M29;", doubled.replace('+', "+ (1) +")), true);
        check(&format!("#define D(x) (x) + (x)\nfloat x = {}1{};", "D(".repeat(25), ")".repeat(25)), true);
    }
}
