//! State of the fixed functions: what stands between shaders and pixels.
//!
//! The PTB copies a state record into a tile's list only when primitives that follow it touch the tile, so state costs where it changes; the
//! binning list holds each record only when its value differs from the one before.
//!
//! # Errata
//! - HW-2903: points smaller than 1/8 pixel hang the rasteriser; the size is never less than that [mesa vc4_emit.c].
//! - HW-2905: early Z goes wrong after a multisampled depth buffer was loaded; that is a matter of the whole frame, see
//!   [`RenderingPass`](crate::rendering_list::RenderingPass).

use crate::record_list::RecordList;
use v3d_hw::control_list::{
    ClipWindow, ClipperXyScaling, ClipperZScaleOffset, CompareFunction, ConfigurationBits, DepthOffset, FlatShadeFlags,
    LineWidth, Oversample, PointSize, ViewportOffset,
};

/// Smallest point in pixels, HW-2903.
const LEAST_POINT_PX: f32 = 0.125;

/// Which part of the picture GL's [-1, 1] maps to, and how depth maps to [0, 1].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewport {
    /// Centre, x, in 1/16 pixel.
    pub center_x: i16,
    /// Centre, y, in 1/16 pixel.
    pub center_y: i16,
    /// Half of the width in 1/16 pixel. The vertex shader multiplies Xc / Wc with it.
    pub half_width: f32,
    /// Half of the height in 1/16 pixel. Negative turns the picture upside down, which puts GL's top into the first row in memory.
    pub half_height: f32,
    /// Zs = Zc / Wc * scale + offset.
    pub z_scale: f32,
    /// Zs = Zc / Wc * scale + offset.
    pub z_offset: f32,
}

impl Viewport {
    /// The whole picture, its top in the first row in memory, depth from 0 to 1.
    pub fn display(width_px: u16, height_px: u16) -> Self {
        Self {
            center_x: 8 * width_px as i16,
            center_y: 8 * height_px as i16,
            half_width: 8.0 * f32::from(width_px),
            half_height: -8.0 * f32::from(height_px),
            z_scale: 0.5,
            z_offset: 0.5,
        }
    }
}

/// All fixed-function state of a draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawState {
    /// Nothing outside is drawn.
    pub clip_window: ClipWindow,
    /// Depth test, culling, oversampling.
    pub configuration: ConfigurationBits,
    /// Added to depths if the configuration says so.
    pub depth_offset: DepthOffset,
    /// Size of points in pixels; not less than 1/8 is emitted.
    pub point_size_px: f32,
    /// Width of lines in pixels.
    pub line_width_px: f32,
    /// Viewport.
    pub viewport: Viewport,
    /// One bit per varying that is not interpolated.
    pub flat_varyings: u32,
}

impl DrawState {
    /// Everything is drawn, in the order it comes, on the whole picture.
    pub fn display(width_px: u16, height_px: u16) -> Self {
        Self {
            clip_window: ClipWindow { left: 0, bottom: 0, width: width_px, height: height_px },
            configuration: ConfigurationBits {
                forward_facing: true,
                reverse_facing: true,
                depth_test: CompareFunction::Always,
                early_z_updates: true,
                ..ConfigurationBits::default()
            },
            depth_offset: DepthOffset::default(),
            point_size_px: 1.0,
            line_width_px: 1.0,
            viewport: Viewport::display(width_px, height_px),
            flat_varyings: 0,
        }
    }

    /// Nearer things hide farther ones.
    pub fn with_depth_test(mut self) -> Self {
        self.configuration.depth_test = CompareFunction::Less;
        self.configuration.z_updates = true;
        self.configuration.early_z = true;
        self
    }

    /// Four samples a pixel.
    pub fn with_multisampling(mut self) -> Self {
        self.configuration.oversample = Oversample::X4;
        self
    }

    /// Appends the records by which this state differs from `previous`; all of them if there is none.
    pub fn emit(&self, list: &mut RecordList, previous: Option<&Self>) {
        let changed = |differs: fn(&Self, &Self) -> bool| previous.is_none_or(|previous| differs(self, previous));
        if changed(|a, b| a.clip_window != b.clip_window) {
            list.push(self.clip_window);
        }
        if changed(|a, b| a.configuration != b.configuration) {
            list.push(self.configuration);
        }
        if changed(|a, b| a.depth_offset != b.depth_offset) {
            list.push(self.depth_offset);
        }
        if changed(|a, b| a.point_size_px != b.point_size_px) {
            list.push(PointSize { size: self.point_size_px.max(LEAST_POINT_PX) });
        }
        if changed(|a, b| a.line_width_px != b.line_width_px) {
            list.push(LineWidth { width: self.line_width_px });
        }
        let Viewport { center_x, center_y, half_width, half_height, z_scale, z_offset } = self.viewport;
        if changed(|Self { viewport: a, .. }, Self { viewport: b, .. }| {
            (a.half_width, a.half_height) != (b.half_width, b.half_height)
        }) {
            list.push(ClipperXyScaling { half_height, half_width });
        }
        if changed(|Self { viewport: a, .. }, Self { viewport: b, .. }| {
            (a.z_scale, a.z_offset) != (b.z_scale, b.z_offset)
        }) {
            list.push(ClipperZScaleOffset { offset: z_offset, scale: z_scale });
        }
        if changed(|Self { viewport: a, .. }, Self { viewport: b, .. }| {
            (a.center_x, a.center_y) != (b.center_x, b.center_y)
        }) {
            list.push(ViewportOffset { y: center_y, x: center_x });
        }
        if changed(|a, b| a.flat_varyings != b.flat_varyings) {
            list.push(FlatShadeFlags { flags: self.flat_varyings });
        }
    }
}
