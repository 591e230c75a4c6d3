//! What people measured on boards and published in 2026, as jobs for the model.

#[path = "../machine/device.rs"]
mod machine;
mod pipeline;
mod registers;
mod scene;
