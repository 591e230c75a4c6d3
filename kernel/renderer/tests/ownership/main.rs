//! Who owns what: memory comes back to the byte, whatever fails and in whatever order things go.

#[path = "../../../v3d/tests/double/model.rs"]
mod model;

mod failures;
mod heap;
mod order;
mod refusals;
