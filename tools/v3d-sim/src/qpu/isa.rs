//! The instruction set: the meaning of instructions, and the results of their operations.
//!
//! Everything here is a plain function of its arguments; nothing here executes a program. Each operation has its reference meaning here, as a function on
//! 32-bit values that is written to be read; fast datapaths are compared with it.
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
