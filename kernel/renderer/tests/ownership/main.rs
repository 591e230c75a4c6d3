//! Ownership: all memory is freed, whichever call fails and in whatever order resources are dropped.

mod failures;
mod heap;
mod order;
mod refusals;
