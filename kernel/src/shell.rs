//! The shell: commands on the serial console, for people and for `cargo xtask`
//!
//! A command is a line. Its output is text, followed by exactly one line for tools: `ok COMMAND` or `error COMMAND: sentence`, and the prompt.

#[cfg(target_os = "none")]
mod bench;
#[cfg(target_os = "none")]
mod board;
#[cfg(target_os = "none")]
mod capture;
#[cfg(target_os = "none")]
mod card;
pub mod command;
pub mod counter_set;
#[cfg(target_os = "none")]
mod draws;
#[cfg(target_os = "none")]
mod engine;
#[cfg(target_os = "none")]
mod failures;
#[cfg(target_os = "none")]
mod files;
pub mod line_editor;
#[cfg(target_os = "none")]
mod primitives;
#[cfg(target_os = "none")]
mod replay;
#[cfg(target_os = "none")]
mod report_screen;
#[cfg(target_os = "none")]
mod run;
#[cfg(target_os = "none")]
mod scene;
#[cfg(target_os = "none")]
mod screenshot;
#[cfg(target_os = "none")]
mod selftest;
#[cfg(target_os = "none")]
mod selftest_board;
#[cfg(target_os = "none")]
mod session;
#[cfg(all(target_os = "none", feature = "wgsl"))]
mod shader;
#[cfg(target_os = "none")]
mod typing;
#[cfg(target_os = "none")]
mod unattended;
#[cfg(target_os = "none")]
mod uploads;

#[cfg(target_os = "none")]
pub use run::run;
#[cfg(target_os = "none")]
pub use session::Session;

/// Why a command that needs the shader compiler does nothing.
#[cfg(all(target_os = "none", not(feature = "wgsl")))]
const NO_COMPILER: &str =
    "this kernel has no shader compiler (feature `wgsl`); `cargo xtask run --compiler` builds one that has";
