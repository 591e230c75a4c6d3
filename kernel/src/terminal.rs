//! Text in and out: the console, its screen, and the keys that a terminal sends

pub mod byte_ring;
#[cfg(target_os = "none")]
pub mod console;
pub mod keyboard;
pub mod keys;
pub mod screen;
pub mod text_history;
