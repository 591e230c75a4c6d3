//! Peepholes: a table of patterns and replacements.
//!
//! A row is valid for all values of its variables, whose letters are conditions:
//!
//! | letter | matches |
//! |---|---|
//! | `x`, `y`, `z` | any value |
//! | `c`, `d` | constants: expressions of constants alone are folded |
//! | `m` | a mask: 0 or all bits |
//! | `q` | a comparison that has no other use, so that it becomes flags and not a mask |
//!
//! Operands of commutative operations are matched in either order. Rows of `Floats` are valid for numbers as floats: the sign of a zero may differ, as WGSL
//! allows. Rows without `q` are applied when a value is created, those with `q` by the pass `merge-masks`, when the number of uses of each value is known.
//! The test below compares both sides of each row by the reference arithmetic of the model.

use alloc::vec;

use v3d_hw::qpu::{AddOp, MulOp};

use crate::ssa::{Computation, Op, Program, Step, Value};

const ALL: u32 = u32::MAX;
const ONE: u32 = 0x3f80_0000;
const SIGN: u32 = 1 << 31;

/// A variable of a row, by its index in [`Found`].
type Variable = usize;
/// The values that the variables of a row match.
type Found = [Option<Value>; 8];

/// A node of a pattern or of a replacement.
#[derive(Clone, Copy, Debug)]
enum Term {
    Any(Variable),
    Constant(Variable),
    Mask(Variable),
    Comparison(Variable),
    /// The inverse of a comparison; in replacements only.
    Inverse(Variable),
    Bits(u32),
    Not(&'static Self),
    Add(AddOp, &'static [Self; 2]),
    Mul(MulOp, &'static [Self; 2]),
    /// A select: the second operand where the first is not 0, else the third.
    Select(&'static [Self; 3]),
}

/// The operands for which a row is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Numbers {
    /// All words.
    Words,
    /// Floats, where zeros of either sign are equal.
    Floats,
}

/// A pattern and its replacement.
#[derive(Clone, Copy, Debug)]
struct Row {
    #[cfg_attr(not(test), expect(dead_code, reason = "tests name rows"))]
    text: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests choose numbers by it"))]
    numbers: Numbers,
    pattern: Term,
    replacement: Term,
    /// The number of uses of a value matters for a match.
    counts_uses: bool,
}

macro_rules! term {
    (x) => {
        Term::Any(0)
    };
    (y) => {
        Term::Any(1)
    };
    (z) => {
        Term::Any(2)
    };
    (c) => {
        Term::Constant(3)
    };
    (d) => {
        Term::Constant(4)
    };
    (m) => {
        Term::Mask(5)
    };
    (q) => {
        Term::Comparison(7)
    };
    ((inverse q)) => {
        Term::Inverse(7)
    };
    (ALL) => {
        Term::Bits(ALL)
    };
    (ONE) => {
        Term::Bits(ONE)
    };
    (SIGN) => {
        Term::Bits(SIGN)
    };
    ($bits:literal) => {
        Term::Bits($bits)
    };
    ((Not $a:tt)) => {
        Term::Not(&term!($a))
    };
    ((Fmul $a:tt $b:tt)) => {
        Term::Mul(MulOp::Fmul, &[term!($a), term!($b)])
    };
    ((Mul24 $a:tt $b:tt)) => {
        Term::Mul(MulOp::Mul24, &[term!($a), term!($b)])
    };
    ((select $a:tt $b:tt $c:tt)) => {
        Term::Select(&[term!($a), term!($b), term!($c)])
    };
    (($op:ident $a:tt $b:tt)) => {
        Term::Add(AddOp::$op, &[term!($a), term!($b)])
    };
}

macro_rules! rows {
    ($($numbers:ident { $($pattern:tt => $replacement:tt;)* })*) => {
        &[$($(Row {
            text: concat!(stringify!($pattern), " => ", stringify!($replacement)),
            numbers: Numbers::$numbers,
            pattern: term!($pattern),
            replacement: term!($replacement),
            counts_uses: term!($pattern).counts_uses(),
        },)*)*]
    };
}

/// All rewrites. Of several rows that match, the first is applied.
const ROWS: &[Row] = rows! {
    Floats {
        (Fadd x 0) => x;
        (Fsub x 0) => x;
        (Fadd x (Fsub 0 y)) => (Fsub x y);
        (Fsub x (Fsub 0 y)) => (Fadd x y);
        (Fsub 0 (Fsub x y)) => (Fsub y x);
        (Fmul x ONE) => x;
        (Fmul x 0) => 0;
        (Fmul (Fsub 0 x) (Fsub 0 y)) => (Fmul x y);
        (Fmul (Fsub 0 x) c) => (Fmul x (Xor c SIGN));
        (Fmin x x) => x;
        (Fmax x x) => x;
        (Fmin x (Fmin x y)) => (Fmin x y);
        (Fmax x (Fmax x y)) => (Fmax x y);
        (Fmin x (Fmax x y)) => x;
        (Fmax x (Fmin x y)) => x;
        (Fmax (Fsub 0 x) x) => (Fmaxabs x x);
        (Fmin (Fmaxabs x x) (Fmaxabs y y)) => (Fminabs x y);
        (Fmax (Fmaxabs x x) (Fmaxabs y y)) => (Fmaxabs x y);
        (Fminabs (Fmaxabs x x) y) => (Fminabs x y);
        (Fmaxabs (Fmaxabs x x) y) => (Fmaxabs x y);
        (Fmaxabs (Fsub 0 x) y) => (Fmaxabs x y);
        (Fminabs (Fsub 0 x) y) => (Fminabs x y);
    }
    Words {
        (Add x 0) => x;
        (Sub x 0) => x;
        (Sub x x) => 0;
        (Add x (Sub 0 y)) => (Sub x y);
        (Sub x (Sub 0 y)) => (Add x y);
        (Sub 0 (Sub x y)) => (Sub y x);
        (Add (Add x c) d) => (Add x (Add c d));
        (Sub (Add x y) y) => x;
        (Add (Sub x y) y) => x;
        (Mul24 x 0) => 0;
        (Min x x) => x;
        (Max x x) => x;
        (Shl x 0) => x;
        (Shr x 0) => x;
        (Asr x 0) => x;
        (And x 0) => 0;
        (And x ALL) => x;
        (And x x) => x;
        (And x (Not x)) => 0;
        (And x (And x y)) => (And x y);
        (And x (Or x y)) => x;
        (And (And x c) d) => (And x (And c d));
        (Or x 0) => x;
        (Or x ALL) => ALL;
        (Or x x) => x;
        (Or x (Not x)) => ALL;
        (Or x (Or x y)) => (Or x y);
        (Or x (And x y)) => x;
        (Or (Or x c) d) => (Or x (Or c d));
        (Xor x 0) => x;
        (Xor x ALL) => (Not x);
        (Xor x x) => 0;
        (Xor (Xor x c) d) => (Xor x (Xor c d));
        (Not (Not x)) => x;
        (select x y y) => y;
        (select m ALL 0) => m;
        (select m 0 ALL) => (Not m);
        (select (Not m) x y) => (select m y x);
        (select x (select x y z) y) => y;
        (select m x (select m y z)) => (select m x z);
        (select m (select m x y) z) => (select m x z);
        // Comparisons as flags.
        (And x q) => (select (inverse q) 0 x);
        (Or m q) => (select q ALL m);
    }
};

impl Term {
    /// Whether the number of uses matters for a match, so that only a complete program can be matched.
    const fn counts_uses(&self) -> bool {
        match self {
            Self::Comparison(_) => true,
            Self::Not(a) => a.counts_uses(),
            Self::Add(_, [a, b]) | Self::Mul(_, [a, b]) => a.counts_uses() || b.counts_uses(),
            Self::Select([a, b, c]) => a.counts_uses() || b.counts_uses() || c.counts_uses(),
            Self::Any(_) | Self::Constant(_) | Self::Mask(_) | Self::Inverse(_) | Self::Bits(_) => false,
        }
    }
}

impl Term {
    /// Whether the term and the operation are the same function, of whatever operands.
    fn has_root(&self, op: &Op) -> bool {
        match (self, op) {
            (Self::Not(_), Op::Add(AddOp::Not, ..)) | (Self::Select(_), Op::Select(..)) => true,
            (Self::Add(wanted, _), Op::Add(op, ..)) => wanted == op,
            (Self::Mul(wanted, _), Op::Mul(op, ..)) => wanted == op,
            _ => false,
        }
    }
}

impl Program {
    /// The replacement of an operation by rows without a condition on uses.
    pub(crate) fn rewritten(&mut self, op: &Op) -> Option<Value> {
        let rows = ROWS.iter().filter(|row| !row.counts_uses);
        let (replacement, found) = self.first_match(rows, op, None)?;
        self.make(&replacement, &found)
    }

    fn first_match<'r>(
        &self,
        mut rows: impl Iterator<Item = &'r Row>,
        op: &Op,
        uses: Option<&[u32]>,
    ) -> Option<(Term, Found)> {
        rows.find_map(|row| {
            if !row.pattern.has_root(op) {
                return None;
            }
            let mut found = Found::default();
            self.matches(&row.pattern, op, uses, &mut found).then_some((row.replacement, found))
        })
    }

    /// Whether an operation matches a term; unbound variables are bound.
    fn matches(&self, term: &Term, op: &Op, uses: Option<&[u32]>, found: &mut Found) -> bool {
        let before = *found;
        let both = |terms: &[Term; 2], a: Value, b: Value, found: &mut Found| {
            let matches = self.is(&terms[0], a, uses, found) && self.is(&terms[1], b, uses, found);
            if !matches {
                *found = before;
            }
            matches
        };
        match (*term, *op) {
            (Term::Not(inner), Op::Add(AddOp::Not, a, _)) => self.is(inner, a, uses, found),
            (Term::Add(wanted, terms), Op::Add(op, a, b)) => {
                wanted == op && (both(terms, a, b, found) || commutes(op) && both(terms, b, a, found))
            }
            (Term::Mul(wanted, terms), Op::Mul(op, a, b)) => {
                wanted == op && (both(terms, a, b, found) || both(terms, b, a, found))
            }
            (Term::Select([wanted, yes, no]), Op::Select(condition, accept, reject)) => {
                self.is(wanted, condition, uses, found)
                    && self.is(yes, accept, uses, found)
                    && self.is(no, reject, uses, found)
            }
            _ => false,
        }
    }

    fn is(&self, term: &Term, value: Value, uses: Option<&[u32]>, found: &mut Found) -> bool {
        let (variable, fits) = match *term {
            Term::Any(variable) | Term::Inverse(variable) => (variable, true),
            Term::Constant(variable) => (variable, self.constant(value).is_some()),
            Term::Mask(variable) => (variable, self.is_mask(value)),
            Term::Comparison(variable) => {
                let is_only = uses.is_some_and(|uses| uses.get(value.index()) == Some(&1));
                (variable, is_only && matches!(self.op(value), Op::Compare(..)))
            }
            Term::Bits(bits) => return self.constant(value) == Some(bits),
            Term::Not(_) | Term::Add(..) | Term::Mul(..) | Term::Select(_) => {
                return self.matches(term, &self.op(value), uses, found);
            }
        };
        let known = found[variable].get_or_insert(value);
        fits && *known == value
    }

    /// Creates the value of a replacement.
    fn make(&mut self, term: &Term, found: &Found) -> Option<Value> {
        Some(match *term {
            Term::Any(variable) | Term::Constant(variable) | Term::Mask(variable) | Term::Comparison(variable) => {
                return found[variable];
            }
            Term::Inverse(variable) => {
                let Op::Compare(relation, a, b) = self.op(found[variable]?) else { return None };
                self.compare(relation.inverse(), a, b)
            }
            Term::Bits(bits) => self.bits(bits),
            Term::Not(inner) => {
                let inner = self.make(inner, found)?;
                self.not(inner)
            }
            Term::Add(op, [a, b]) => {
                let (a, b) = (self.make(a, found)?, self.make(b, found)?);
                self.alu(op, a, b)
            }
            Term::Mul(op, [a, b]) => {
                let (a, b) = (self.make(a, found)?, self.make(b, found)?);
                self.value(Op::Mul(op, a, b))
            }
            Term::Select([condition, accept, reject]) => {
                let [condition, accept, reject] = [condition, accept, reject].map(|term| self.make(term, found));
                self.select(condition?, accept?, reject?)
            }
        })
    }
}

/// Pass `merge-masks`: applies the rows with a condition on uses to a complete program. Unused comparisons are removed by `eliminate-dead`.
pub(crate) fn merge_masks(program: &mut Program) {
    let mut uses = vec![0u32; program.values.len()];
    for step in &program.steps {
        match *step {
            Step::Compute(value) => {
                program.each_operand(value, |operand| uses[operand.index()] += 1);
            }
            Step::Begin(number) => {
                program.loops[number as usize].carried.iter().for_each(|carried| uses[carried.init.index()] += 1);
            }
            Step::End(number) => {
                let data = &program.loops[number as usize];
                data.carried.iter().for_each(|carried| uses[carried.next.index()] += 1);
                data.again.into_iter().for_each(|again| uses[again.index()] += 1);
            }
        }
    }
    // New values are inserted at the position of the replaced one, and are not shared with others.
    let steps = core::mem::take(&mut program.steps);
    (program.known, program.log) = Default::default();
    for step in steps {
        if let Step::Compute(value) = step {
            let op = program.op(value);
            let rows = ROWS.iter().filter(|row| row.counts_uses);
            if let Some((replacement, found)) = program.first_match(rows, &op, Some(&uses)) {
                program.known.clear();
                program.here = program.values[value.index()].span;
                // The last operation takes the replaced one's index, so that all users refer to it.
                if let Some(made) = program.make(&replacement, &found)
                    && program.steps.last() == Some(&Step::Compute(made))
                {
                    program.steps.pop();
                    let span = program.here;
                    program.values[value.index()] = Computation { span, ..program.values[made.index()] };
                }
            }
        }
        program.steps.push(step);
    }
}

pub(crate) const fn commutes(op: AddOp) -> bool {
    use AddOp::{Add, And, Fadd, Fmax, Fmaxabs, Fmin, Fminabs, Max, Min, Or, Xor};
    matches!(op, Fadd | Fmin | Fmax | Fminabs | Fmaxabs | Add | Min | Max | And | Or | Xor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ssa::{Given, Relation};
    use alloc::string::ToString;
    use v3d_sim::qpu::isa::alu;
    use v3d_sim::random::Random;

    /// Number of cases for each row.
    const CASES: usize = 2_000;

    /// The value of a term, by the reference arithmetic.
    fn computed(term: &Term, variables: &[u32; 8]) -> u32 {
        match *term {
            Term::Any(at) | Term::Constant(at) | Term::Mask(at) | Term::Comparison(at) => variables[at],
            Term::Inverse(at) => !variables[at],
            Term::Bits(bits) => bits,
            Term::Not(a) => {
                let a = computed(a, variables);
                alu::add(AddOp::Not, a, a).unwrap().value
            }
            Term::Add(op, [a, b]) => alu::add(op, computed(a, variables), computed(b, variables)).unwrap().value,
            Term::Mul(op, [a, b]) => alu::mul(op, computed(a, variables), computed(b, variables)).value,
            Term::Select([condition, accept, reject]) => {
                let chosen = if computed(condition, variables) == 0 { reject } else { accept };
                computed(chosen, variables)
            }
        }
    }

    #[test]
    fn both_sides_of_each_row_are_the_same_by_the_reference_arithmetic() {
        let mut random = Random::named("rewrites");
        for row in ROWS {
            for _ in 0..CASES {
                let mut variables: [u32; 8] = core::array::from_fn(|_| match row.numbers {
                    Numbers::Words => random.value(),
                    // Floats whose sums and products neither overflow nor become denormal, and zeros.
                    Numbers::Floats if random.one_in(16) => 0,
                    Numbers::Floats => random.next_u64() as u32 & 0x807f_ffff | (100 + random.below(57)) << 23,
                });
                variables[5..].iter_mut().for_each(|mask| *mask = if random.one_in(2) { ALL } else { 0 });
                let [from, to] = [row.pattern, row.replacement].map(|term| computed(&term, &variables));
                let is_equal = match row.numbers {
                    Numbers::Words => from == to,
                    Numbers::Floats => f32::from_bits(from) == f32::from_bits(to),
                };
                assert!(is_equal, "{}: {from:#010x} and {to:#010x} of {variables:#010x?}", row.text);
            }
        }
    }

    /// Creates the pattern of each row as lowering does, and expects the replacement.
    #[test]
    fn each_row_is_applied() {
        for row in ROWS.iter().filter(|row| !row.counts_uses) {
            let mut program = Program::default();
            let given = [Given::PixelX, Given::PixelY, Given::Samples].map(|given| program.value(Op::Given(given)));
            let [c, d] = [0x4120_0003, 0x3f80_0007].map(|bits| program.bits(bits));
            // A mask that is not a comparison: the inverse of a comparison would be another comparison.
            let [q, other] = [given[0], given[1]].map(|value| program.compare(Relation::Equal, value, given[2]));
            let m = program.and(q, other);
            let found = [given[0], given[1], given[2], c, d, m, other, q].map(Some);
            let made = program.make(&row.pattern, &found).unwrap();
            let wanted = program.make(&row.replacement, &found).unwrap();
            assert_eq!(made, wanted, "{}\n{program}", row.text);
        }
    }

    /// A mask and a comparison without other uses become one select; a comparison with another use remains.
    #[test]
    fn comparisons_that_are_used_once_become_flags() {
        for is_shared in [false, true] {
            let mut program = Program::default();
            let [x, y] = [Given::PixelX, Given::PixelY].map(|given| program.value(Op::Given(given)));
            let comparison = program.compare(Relation::SignedLess, x, y);
            let both = program.and(x, comparison);
            program.value(Op::Output(both));
            if is_shared {
                program.value(Op::Output(comparison));
            }
            merge_masks(&mut program);
            let expected = if is_shared { "And" } else { "SignedNotLess" };
            assert!(program.to_string().contains(expected), "{program}");
            assert_eq!(matches!(program.op(both), Op::Select(..)), !is_shared, "{program}");
        }
    }
}
