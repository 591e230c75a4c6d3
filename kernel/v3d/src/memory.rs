//! GPU memory: the pool, regions of it, memory of tile lists, and the caches before it.

pub mod caches;
pub mod pool;
pub mod region;
pub mod tile_memory;
