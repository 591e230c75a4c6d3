//! The shell: commands on the serial console, for people and for `cargo xtask` alike
//!
//! A command is a line. The kernel answers with text for people and then exactly one line for machines: `ok COMMAND` or
//! `error COMMAND: sentence`.

pub mod line_editor;
#[cfg(target_os = "none")]
pub mod machine;

#[cfg(target_os = "none")]
pub use machine::run;
