//! The display: pages, the vertical blanking at which one is shown, times of frames, and pages as files

pub mod frame_times;
pub mod pages;
pub mod png;
pub mod vsync;
