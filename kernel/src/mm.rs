//! Memory: the layout, access rights, the heap
//!
//! Addresses are identity mapped: a pointer's value is the ARM physical address. What the GPU sees is the same number with
//! 0xC000_0000 added, a type of its own in the driver.

#[cfg(target_os = "none")]
pub mod heap;
pub mod layout;
pub mod page_tables;
pub mod shared;
#[cfg(target_os = "none")]
pub mod watermark;
