//! Control records, byte by byte, with links to what executes and what writes them.
//!
#![doc = include_str!("record_pages.rustdoc")]
