//! Feeds any bytes to the disassembler.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| qpu_fuzz::disassemble_anything(bytes));
