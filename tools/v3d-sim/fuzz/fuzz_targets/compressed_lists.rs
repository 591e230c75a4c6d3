//! Compressed primitive lists of every format.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    // Too few bytes are no case.
    let _ = v3d_sim_fuzz::compressed_lists(&mut Unstructured::new(data));
});
