//! Binning: from batches of vertices to a compressed primitive list for each tile.

pub mod primitive_assembly;
pub mod primitive_list;
pub mod ptb;
pub mod vcm;
pub(crate) mod vertex_slots;
