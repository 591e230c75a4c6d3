//! The instruction set: what an instruction says, and what its operations compute.
//!
//! Everything here is a plain function of its arguments; nothing executes a program. Each operation has its one reference meaning here, on 32-bit
//! values, written to be read; the datapaths that are fast are compared with it.
//!
//! | module | what it holds |
//! |---|---|
//! | [`instruction`] | the form in which instructions are executed |
//! | [`decode`] | instruction words to that form |
//! | [`touches`] | what an instruction touches, and which rules it breaks with the two before it |
//! | [`registers`] | the register array: files, accumulators, constants, ports |
//! | [`alu`] | the operations of both ALUs, with their flags |
//! | [`operation`] | the same operations as one set, whichever ALU executes them |
//! | [`pack`] | pack and unpack modes |
//! | [`sfu`] | reciprocal, reciprocal square root, exponential, logarithm |

pub mod alu;
pub mod decode;
pub mod instruction;
pub mod operation;
pub mod pack;
pub mod registers;
pub mod sfu;
pub mod touches;
