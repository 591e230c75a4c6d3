//! Jobs: what is submitted to the driver, and the fence by which its end is known.

pub mod fence;
pub mod job;
pub mod relocation;
pub mod user_program;
