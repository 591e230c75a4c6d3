//! What the command `v3d` can do, one module for each of its subcommands.

pub(crate) mod bench;
pub(crate) mod conform;
pub(crate) mod debug;
pub(crate) mod dump;
pub(crate) mod replay;
pub(crate) mod stats;
