//! Ownership: all memory is freed, whatever fails and in whatever order resources are dropped.

mod failures;
mod heap;
mod order;
mod refusals;
