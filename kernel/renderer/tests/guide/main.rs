//! The guide: its programs' pictures against formulas, and its pages against its programs.

mod book;
mod crates;
mod reference;
mod scenes;
mod screen_pictures;
pub mod steps;
