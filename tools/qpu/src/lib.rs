//! QPU assembler, optimizer, disassembler and checker: library and command `qpu`.
//!
//! The assembler accepts the language of [vc4asm] and adds directives that declare a shader's interface. It is intended for build scripts: [`assemble`] takes
//! source texts and returns words, or diagnostics with file, line and column.
//!
//! ```
//! use qpu::{Options, Source, assemble};
//! let source = Source::new("add.qasm", "fadd r0, r1, ra2; fmul r3, r0, rb4\nthrend\nnop\nnop");
//! let assembly = assemble(&[source], &Options::default())?;
//! assert_eq!(assembly.words.len(), 4);
//! # Ok::<(), qpu::Diagnostics>(())
//! ```
//!
//! # Sources
//! [AG section 3] for the hardware; [vc4asm] (its documentation) for the language.
//!
//! The library needs an allocator. The feature `std` adds sources and includes that are files.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

pub mod assembler;
pub mod check;
pub mod code;
pub mod diagnostic;
pub mod disassembler;
pub mod explain;
pub mod interface;
pub mod language;
mod lexer;
pub mod optimize;
pub mod output;
mod similar;
mod slot;
pub mod source;
mod symbol;
pub mod value;

pub use assembler::{Assembly, Options, Relocation, WordInfo, assemble};
pub use code::Code;
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use disassembler::disassemble;
pub use interface::Interface;
pub use source::{Source, Span};
