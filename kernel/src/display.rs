//! The display: pages, the vertical blanking at which one is shown, and times of frames

pub mod frame_times;
pub mod pages;
pub mod vsync;
