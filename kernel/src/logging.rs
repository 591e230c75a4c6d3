//! The log: the back end of the crate `log`, and the ring buffer that survives a warm reset

pub mod log_ring;
#[cfg(target_os = "none")]
pub mod logger;
