//! The guide's pictures, compared with formulas, and its pages, compared with its programs.

mod at_run_time;
mod book;
mod captures;
mod crates;
mod planet;
mod reference;
mod scenes;
mod screen_pictures;
pub mod steps;
