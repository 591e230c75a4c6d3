//! Recorded results of hardware, for the self-test
//!
//! Results that were recorded on a real board are included in the kernel. The self-test builds user programs that perform the same operations on the same
//! operands, runs them on the QPUs, and compares what they store. On the model this tests the model; on a board it tests the board. Both test the path from
//! register writes to memory. Pictures are compared with those of the model: on a board this shows whether hardware and model agree.

pub mod alu_program;
pub mod alu_vectors;
pub mod pictures;
