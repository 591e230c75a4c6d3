//! Recorded results of silicon that a self-test compares with
//!
//! Results that were recorded on a real board travel inside the kernel. The QPUs are given the same operations on the same
//! operands, as user programs that are put together instruction by instruction here, and what they store is compared. On the
//! model this tests the model; on a board it tests the board, and the path from register writes to memory on both. Pictures
//! are compared with those that the model drew: on a board this tells whether silicon and model agree.

pub mod alu_program;
pub mod alu_vectors;
pub mod pictures;
