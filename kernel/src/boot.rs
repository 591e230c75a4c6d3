//! Booting: options, the start in Rust, and the record of its progress

pub mod options;
#[cfg(target_os = "none")]
pub mod progress;
#[cfg(target_os = "none")]
pub mod start;
pub mod trace;
