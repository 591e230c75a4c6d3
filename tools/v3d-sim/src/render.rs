//! Rendering: tiles of a frame, from primitives to stored pixels.

pub mod fep;
pub mod fragment;
pub mod load;
pub mod pixel;
pub mod pse;
pub mod store;
pub mod surface;
pub mod tlb;
