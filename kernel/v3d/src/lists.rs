//! Control lists: their records, and what draws refer to.

pub mod binning_list;
pub mod draw_state;
pub mod primitives;
pub mod record_list;
pub mod rendering_list;
pub mod shader_record;
pub mod tile_area;
