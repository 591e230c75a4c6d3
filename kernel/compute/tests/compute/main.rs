//! Operations on the model, compared with plain Rust code.

mod dispatch;
mod fourier;
mod machine;
mod matrix;
mod reduce;
mod sort;
mod together;
mod transfer;
mod workload;
