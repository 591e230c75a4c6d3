//! Who owns what: memory comes back to the byte, whatever fails and in whatever order things go.

mod failures;
mod heap;
mod order;
mod refusals;
