//! Command `qpu`: assemble, optimize, disassemble, check, explain and run QPU programs.
#![forbid(unsafe_code)]

mod commands;

use std::process::ExitCode;

fn main() -> ExitCode {
    match commands::run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("qpu: {error:#}");
            ExitCode::FAILURE
        }
    }
}
