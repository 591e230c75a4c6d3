//! Finding out what the V3D does, and why it failed: counters, statistics, snapshots of registers, reports.

pub mod error_status;
pub mod performance;
pub mod register_snapshot;
pub mod report;
pub mod statistics;
