//! Jobs that the validator accepts access only memory to which they have a right, and break no rule.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use std::cell::RefCell;
use v3d_fuzz::{Suite, Suites, Verdict};

thread_local! {
    /// Loaded once: each case restores what it has changed.
    static SUITES: RefCell<Suites> = RefCell::new(Suites::load());
}

fuzz_target!(|data: &[u8]| {
    let Some((&first, rest)) = data.split_first() else { return };
    let suite = Suite::ALL[usize::from(first) % Suite::ALL.len()];
    SUITES.with_borrow_mut(|suites| {
        // Too few bytes make no case.
        if let Ok(Verdict::Escaped(what)) = suites.case(suite, &mut Unstructured::new(rest)) {
            panic!("{what}");
        }
    });
});
