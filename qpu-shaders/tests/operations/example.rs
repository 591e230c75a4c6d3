//! The examples use operations of each file, pass the checker, and compute the results that they document.

use crate::machine::{self, DATA};
use std::collections::BTreeSet;
use std::path::Path;
use v3d_hw::BusAddr;

const USER: &str = include_str!("../../examples/operations.user.qasm");
const FRAGMENT: &str = include_str!("../../examples/operations.frag.qasm");

/// The first word of each line.
fn first_words(text: &str) -> BTreeSet<&str> {
    text.lines().filter_map(|line| line.split_whitespace().next()).collect()
}

#[test]
fn the_examples_use_a_macro_of_each_file() {
    let called: BTreeSet<&str> = [USER, FRAGMENT].into_iter().flat_map(first_words).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("operations");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let mut names = text.lines().filter_map(|line| line.strip_prefix(".macro ")?.split(',').next()).peekable();
        // scratch.qinc has names of registers only.
        let has_macros = names.peek().is_some();
        assert!(!has_macros || names.any(|name| called.contains(name)), "no macro of {} is used", path.display());
    }
}

#[test]
fn the_examples_keep_all_rules() {
    for (name, text) in [("operations.user.qasm", USER), ("operations.frag.qasm", FRAGMENT)] {
        let assembly = machine::assemble(name, text).unwrap_or_else(|error| panic!("{error}"));
        machine::check(&assembly).unwrap_or_else(|found| panic!("{found}"));
    }
}

#[test]
fn the_example_computes_what_it_says() {
    let number = |n: u32| (((100.25 / f64::from(n + 1)).round() as u32) * 3 + n) ^ 0x55;
    let result = |n: u32| number(n ^ 1) + 1 + if n.is_multiple_of(2) { 8 } else { 0 };
    let words = machine::assemble("operations.user.qasm", USER).unwrap().words;
    let sum = DATA + 64;
    let run = machine::run(&words, &[0; 17], 0, &[vec![DATA, sum]]).unwrap();
    for n in 0..16 {
        assert_eq!(run.memory.view().word(BusAddr(DATA + 4 * n)).unwrap(), result(n), "element {n}");
    }
    assert_eq!(run.memory.view().word(BusAddr(sum)).unwrap(), (0..16).map(result).sum::<u32>());
}
