//! Compute programs in the model, compared with plain Rust.

mod machine;
mod memory;
mod oracle;
mod workgroup;
