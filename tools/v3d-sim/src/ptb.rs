//! Primitive tile binner.
pub mod clip;
pub mod overlap;
pub mod pool;
pub mod state_cache;
pub mod tile_list;
