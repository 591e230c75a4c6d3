//! Checks the instructions of every combination of state with the assembler's checker.
//!
//! By default a subset of the blending combinations is checked; `RENDERER_TAILS=all` checks all of them.

extern crate std;

use alloc::vec::Vec;
use qpu::Interface;
use qpu::interface::Stage;
use v3d_hw::qpu::{Alu, File, Instruction, ReadSource, Signal};

use super::*;
use crate::tail::stencil::{StencilChange, StencilSide};

/// Stride between the blending combinations that are checked; a prime, so that all values of all parts occur.
const STRIDE: usize = 211;

pub(super) const PLAIN: TailState = TailState::PLAIN;

fn reads_uniform(alu: &Alu) -> bool {
    let by_b = alu.sig != Signal::SmallImmediate && ReadSource::of(File::B, alu.raddr_b) == ReadSource::Uniform;
    by_b || ReadSource::of(File::A, alu.raddr_a) == ReadSource::Uniform
}

fn uniforms_read(words: &[u64]) -> usize {
    words
        .iter()
        .filter(|word| matches!(Instruction::decode(**word), Instruction::Alu(alu) if reads_uniform(&alu)))
        .count()
}

/// A program that computes a colour, with room for the end.
const WITH_ROOM: &str = "    mov r0, 1.0\n    mov r1, 1.0\n    nop\n    nop\n    nop\n    nop\n";
/// The shortest one that there is: the scoreboard must not be waited for before.
const SHORT: &str = "    mov r0, 1.0\n    mov r1, 1.0\n";

pub(super) fn words(source: &str) -> Vec<u64> {
    qpu::assemble(&[qpu::Source::new("program", source)], &qpu::Options::default()).unwrap().words
}

/// Checks a tail behind two programs that compute a colour, and returns the instructions that it adds to the one with room for the end.
pub(super) fn check(state: &TailState) -> usize {
    let tail = state.build().unwrap_or_else(|| panic!("{state:?}"));
    let [_, added] = [SHORT, WITH_ROOM].map(|source| check_behind(&tail, source, state));
    added
}

fn check_behind(tail: &Tail, source: &str, state: &TailState) -> usize {
    let program = words(source);
    let words = tail.append_to(&program).words;
    expect_no_errors(&words, 1, state);
    assert_eq!(uniforms_read(&tail.words), tail.uniforms.len(), "{state:?}");
    words.len() - program.len()
}

/// Asks the checker about a fragment program.
pub(super) fn expect_no_errors(words: &[u64], threads: u8, state: &TailState) {
    let interface = Interface { stage: Stage::Fragment, threads: Some(threads), ..Interface::default() };
    let found = qpu::check::check_words(words, &interface);
    assert!(!found.has_errors(), "{state:?}\n{found}");
}

pub(super) fn parts() -> Vec<BlendPart> {
    let mut parts = Vec::new();
    for equation in Equation::ALL {
        for source in Factor::ALL {
            for target in Factor::ALL {
                parts.push(BlendPart { equation, source, target });
            }
        }
    }
    parts
}

#[test]
fn blending_with_the_same_for_colour_and_alpha_breaks_no_rule() {
    for part in parts() {
        for (samples, depth, color_mask) in
            [(1, Depth::NONE, u32::MAX), (4, Depth::LESS, u32::MAX), (1, Depth::LESS, 0x00ff_00ff)]
        {
            check(&TailState { samples, depth, color_mask, blend: Blend::both(part), ..PLAIN });
        }
    }
}

#[test]
fn blending_with_others_for_alpha_breaks_no_rule() {
    let stride = if std::env::var_os("RENDERER_TAILS").is_some_and(|range| range == "all") { 1 } else { STRIDE };
    let parts = parts();
    for index in (0..parts.len() * parts.len()).step_by(stride) {
        let (color, alpha) = (parts[index / parts.len()], parts[index % parts.len()]);
        let samples = if index & 1 == 0 { 1 } else { 4 };
        let blend = Blend { color, alpha, constant: [10, 100, 200, 50] };
        check(&TailState { samples, depth: Depth::LESS, blend, ..PLAIN });
    }
}

#[test]
fn logic_masks_and_alpha_break_no_rule() {
    for logic in Logic::ALL {
        for (samples, color_mask) in [(1, u32::MAX), (1, 0xff00_00ff), (4, 0x0000_ff00), (1, 0)] {
            for test in Compare::ALL {
                let alpha_test = AlphaTest { test, reference: 77 };
                let (depth, alpha_to_coverage) = (Depth::LESS, samples == 4);
                check(&TailState { samples, depth, logic, color_mask, alpha_test, alpha_to_coverage, ..PLAIN });
            }
        }
    }
}

#[test]
fn stencil_set_ups_break_no_rule() {
    for write_mask in [0xff, 0x0f, 0x5a] {
        for change in StencilChange::ALL {
            let front = StencilSide { write_mask, pass: change, ..StencilSide::KEEP };
            for back in [front, StencilSide { write_mask: 1, ..front }, StencilSide { fail: change, ..front }] {
                check(&TailState { stencil: Some(Stencil { front, back }), ..PLAIN });
                check(&TailState { stencil: Some(Stencil { front, back }), color_mask: 0, ..PLAIN });
            }
        }
    }
}

/// The cost of state in instructions, which the table in the documentation of [`tail`](super) has.
#[test]
fn the_documented_costs_are_right() {
    let table = include_str!("../tail.rs");
    let replace = StencilSide { pass: StencilChange::Replace, ..StencilSide::KEEP };
    let mut missing = Vec::new();
    for (name, state) in [
        ("opaque", PLAIN),
        ("depth test", TailState { depth: Depth::LESS, ..PLAIN }),
        ("alpha test", TailState { alpha_test: AlphaTest { test: Compare::Greater, reference: 0 }, ..PLAIN }),
        ("stencil, both sides alike", TailState { stencil: Some(Stencil::both(replace)), ..PLAIN }),
        ("blend by alpha", TailState { blend: Blend::ALPHA, ..PLAIN }),
        ("blend premultiplied", TailState { blend: Blend::PREMULTIPLIED, ..PLAIN }),
        ("blend by alpha, four samples", TailState { blend: Blend::ALPHA, samples: 4, ..PLAIN }),
        ("exclusive or", TailState { logic: Logic::Xor, ..PLAIN }),
        ("red only", TailState { color_mask: 0xff, ..PLAIN }),
        ("half floats, opaque", TailState { is_half: true, ..PLAIN }),
        ("half floats, blend by alpha", TailState { is_half: true, blend: Blend::ALPHA, ..PLAIN }),
        ("alpha to coverage", TailState { alpha_to_coverage: true, samples: 4, ..PLAIN }),
    ] {
        let row = std::format!("//! | {name} | {} |\n", check(&state));
        if !table.contains(&row) {
            missing.push(row);
        }
    }
    assert!(missing.is_empty(), "the table should have:\n{}", missing.concat());
}
