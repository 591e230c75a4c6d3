//! Compute programs in the model, against plain Rust.

mod machine;
mod memory;
mod oracle;
mod workgroup;
