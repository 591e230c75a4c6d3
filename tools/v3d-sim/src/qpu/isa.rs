//! The instruction set: what instructions say, and what their operations compute.

pub mod alu;
pub mod instruction;
pub mod operation;
pub mod pack;
pub mod registers;
pub mod sfu;
