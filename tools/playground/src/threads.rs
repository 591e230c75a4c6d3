//! Thread switches: the stretches of a program between them, in which it has the QPU.
//!
//! A program that shares its QPU with another thread gives it away by a signal, after [`THREAD_DELAY_SLOTS`] further instructions [AG p.20].

use serde::Serialize;
use v3d_hw::qpu::{Instruction, Signal, THREAD_DELAY_SLOTS};
use v3d_sim::qpu::steps::signal;

/// Instructions between two switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Stretch {
    /// The first instruction.
    pub first: usize,
    /// The last one.
    pub last: usize,
    /// The instruction with the signal that ends it; none if the program ends.
    pub switch: Option<usize>,
    /// A branch is in it, so that as many instructions need not be executed as stand here.
    pub branches: bool,
}

/// The stretches of a program, in the order of its text; none if it never switches.
pub fn stretches(words: &[u64]) -> Vec<Stretch> {
    let is_switch = |word: &u64| matches!(signal(*word), Some(Signal::ThreadSwitch | Signal::LastThreadSwitch));
    let switches = words.iter().enumerate().filter(|(_, word)| is_switch(word)).map(|(at, _)| at);
    let mut stretches = Vec::new();
    let mut first = 0;
    let mut add = |last: usize, switch: Option<usize>| {
        let own = words.get(first..=last).unwrap_or_default();
        let branches = own.iter().any(|&word| matches!(Instruction::decode(word), Instruction::Branch(_)));
        if !own.is_empty() {
            stretches.push(Stretch { first, last, switch, branches });
        }
        first = last + 1;
    };
    let end = words.len().saturating_sub(1);
    for at in switches {
        add((at + THREAD_DELAY_SLOTS as usize).min(end), Some(at));
    }
    add(end, None);
    if stretches.len() > 1 { stretches } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use qpu::{Options, Source, assemble};

    fn check(source: &str, expected: &[(usize, usize, Option<usize>, bool)]) {
        let assembly = assemble(&[Source::new("test", source)], &Options::default()).expect("a correct program");
        let found: Vec<_> =
            stretches(&assembly.words).into_iter().map(|it| (it.first, it.last, it.switch, it.branches)).collect();
        assert_eq!(found, expected, "{source}");
    }

    /// Two instructions behind the signal still belong to the thread.
    #[test]
    fn a_stretch_ends_two_instructions_behind_its_switch() {
        check(
            "mov r0, unif\nnop; thrsw\nnop\nnop\nmov r1, unif\nnop; lthrsw\nnop\nnop\nthrend\nnop\nnop\n",
            &[(0, 3, Some(1), false), (4, 7, Some(5), false), (8, 10, None, false)],
        );
    }

    #[test]
    fn a_stretch_with_a_branch_is_not_as_long_as_its_text() {
        check(
            "nop; thrsw\nnop\nnop\n:a\nsub.setf r0, r0, 1\nbrr.anynz -, :a\nnop\nnop\nnop\nthrend\nnop\nnop\n",
            &[(0, 2, Some(0), false), (3, 10, None, true)],
        );
    }

    #[test]
    fn a_program_without_switches_has_no_stretches() {
        check("mov r0, unif\nthrend\nnop\nnop\n", &[]);
        check("", &[]);
    }
}
