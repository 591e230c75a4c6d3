//! Feeds any bytes to the assembler.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| qpu_fuzz::assemble_anything(bytes));
