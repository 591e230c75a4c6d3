//! Gradients behind everything, for the shader `gradient.wgsl`

use alloc::vec::Vec;

use renderer::{Target, shaded_vertex::ShadedVertex};

/// A strip of triangles over the whole width of a target: its heights, from -1 to 1 upwards, with the colour at each of them.
pub(super) fn bands(target: &Target, rows: impl IntoIterator<Item = (f32, [f32; 3])>) -> Vec<ShadedVertex<3>> {
    let viewport = target.viewport();
    let corner = |x, y, color| ShadedVertex::flat(x, y, 1.0, viewport.half_width, viewport.half_height, color);
    rows.into_iter().flat_map(|(y, color)| [1.0, -1.0].map(|x| corner(x, y, color))).collect()
}
