//! Register writes of any kind in any order.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    // Too few bytes are no case.
    let _ = v3d_sim_fuzz::registers(&mut Unstructured::new(data));
});
