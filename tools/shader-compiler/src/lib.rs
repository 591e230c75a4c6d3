//! Compiles WGSL to programs for VideoCore IV's QPUs.
#![forbid(unsafe_code)]

mod compile;
mod diagnostic;
mod eliminate_dead;
mod encode;
mod fold;
mod front_end;
pub mod interface;
pub mod limit;
mod link;
mod link_varyings;
mod lower;
mod machine;
mod order;
mod qasm;
mod quotients;
mod ranges;
mod registers;
mod routine;
mod schedule;
mod select_instructions;
mod share_uniforms;
mod share_values;
pub mod ssa;
mod stack;
mod vertex_loops;

pub use compile::{Compiled, Options, compile, compile_module, parse};
pub use diagnostic::Error;
pub use front_end::{MAX_SOURCE_BYTES, Parsed, read};
pub use qasm::{qasm, word_name};
