//! Programs that keep most rules, in translated code and with the reference datapath.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    // Too few bytes are no case.
    let _ = v3d_sim_fuzz::translated_code(&mut Unstructured::new(data));
});
