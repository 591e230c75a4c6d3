//! Memory: the layout, access rights, the heap
//!
//! Addresses are identity-mapped: the value of a pointer is an ARM physical address. The GPU's bus address is that value plus 0xC000_0000, and a separate type
//! in the driver.

#[cfg(target_os = "none")]
pub mod heap;
pub mod layout;
pub mod page_tables;
pub mod shared;
#[cfg(target_os = "none")]
pub mod watermark;
