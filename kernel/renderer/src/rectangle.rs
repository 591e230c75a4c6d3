//! Parts of targets.

/// Part of a target, in pixels from its top left corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rectangle {
    /// Left edge.
    pub x_px: u16,
    /// Top edge.
    pub y_px: u16,
    /// Width.
    pub width_px: u16,
    /// Height.
    pub height_px: u16,
}
