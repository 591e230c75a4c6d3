//! Compiles WGSL to programs for VideoCore IV's QPUs.
//!
//! The library needs an allocator. The feature `std` makes it compile on a thread with a large stack.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

mod allocate;
mod budget;
mod bundle;
mod compile;
mod compiler;
mod diagnostic;
mod eliminate_dead;
mod encode;
mod fold;
mod front_end;
mod hoist_invariants;
pub mod interface;
pub mod limit;
mod link;
mod link_varyings;
mod lower;
mod machine;
mod meld_arms;
mod order;
mod passes;
mod qasm;
mod quotients;
mod ranges;
mod regroup;
mod rewrites;
mod routine;
mod schedule;
mod select_instructions;
mod share_uniforms;
mod share_values;
pub mod ssa;
mod stack;
mod unit;
mod vertex_loops;

pub use budget::Budget;
pub use compile::{Compiled, Options, compile, compile_module, compile_module_watched, parse};
pub use compiler::{Compiler, Shader};
pub use diagnostic::Error;
pub use front_end::{MAX_SOURCE_BYTES, Parsed, read};
pub use passes::{PASSES, Pass, Watch};
pub use qasm::{qasm, word_name};
