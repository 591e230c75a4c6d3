//! State of the fixed functions, between vertex shading and pixels.
//!
//! The PTB copies a state record into a tile's list only when primitives that follow it touch the tile, so state costs where it changes; the
//! binning list holds each record only when its value differs from the one before.
//!
//! # When early Z is off
//! The early test compares with a depth of its own, which only draws with early-Z updates change. After a draw that moves Z away without them it rejects what
//! the Z test would draw, as a board showed [bm docs/DRIVERS.md]. [`DrawState::leaves_early_z_behind`] says which draws do that;
//! [`BinningList`](crate::lists::binning_list::BinningList) turns early Z off for all draws after one.
//!
//! # Errata
//! - HW-2903: points smaller than 1/8 pixel hang the rasteriser; the size is never less than that [mesa vc4_emit.c].
//! - HW-2905: early Z goes wrong after a multisampled depth buffer was loaded; that is a matter of the whole frame, see
//!   [`RenderingPass`](crate::lists::rendering_list::RenderingPass).

use crate::error::Error;
use crate::lists::record_list::{EncodedRecord, RecordList};
use v3d_hw::control_list::{
    ClipWindow, ClipperXyScaling, ClipperZScaleOffset, CompareFunction, ConfigurationBits, DepthOffset, FlatShadeFlags,
    LineWidth, Oversample, PointSize, Record, ViewportOffset,
};

/// Smallest point in pixels, HW-2903.
const MIN_POINT_PX: f32 = 0.125;

/// The part of the picture to which [-1, 1] is mapped, and the mapping of depth to [0, 1].
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
    /// Pixels outside of it are not drawn.
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
    /// All pixels are drawn, in drawing order, on the whole picture.
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

    /// Nearer fragments hide farther ones.
    pub fn with_depth_test(mut self) -> Self {
        self.configuration.depth_test = CompareFunction::Less;
        self.configuration.z_updates = true;
        self.configuration.early_z = true;
        self
    }

    /// Whether such a draw may leave early Z with a depth that is nearer than the Z buffer's, so that the early test rejects what is visible: it stores depths,
    /// farther ones too, and early Z is not updated. A test that only lets nearer depths pass does no harm, because then the early test rejects too little.
    pub fn leaves_early_z_behind(&self) -> bool {
        let ConfigurationBits { depth_test, z_updates, early_z_updates, .. } = self.configuration;
        z_updates && !early_z_updates && lets_farther_pass(depth_test)
    }

    /// Four samples per pixel.
    pub fn with_multisampling(mut self) -> Self {
        self.configuration.oversample = Oversample::X4;
        self
    }

    /// The records of all state except clip window and viewport. An error names the field whose value does not fit.
    pub fn fixed(&self) -> Result<FixedState, Error> {
        let Self { configuration, depth_offset, point_size_px, line_width_px, flat_varyings, .. } = *self;
        let records = [
            configuration.into(),
            depth_offset.into(),
            PointSize { size: point_size_px.max(MIN_POINT_PX) }.into(),
            LineWidth { width: line_width_px }.into(),
            FlatShadeFlags { flags: flat_varyings }.into(),
        ];
        let mut words = [0; FixedState::RECORDS];
        for (word, record) in words.iter_mut().zip(records) {
            *word = short_record(record)?;
        }
        let without_early_z = short_record(ConfigurationBits { early_z: false, ..configuration }.into())?;
        Ok(FixedState { records: words, without_early_z, leaves_early_z_behind: self.leaves_early_z_behind() })
    }
}

/// Whether the test lets a depth pass that is farther than the stored one.
pub(crate) const fn lets_farther_pass(test: CompareFunction) -> bool {
    use CompareFunction::{Always, Greater, GreaterOrEqual, NotEqual};
    matches!(test, Always | Greater | GreaterOrEqual | NotEqual)
}

/// The state that a pipeline sets, as records: configuration, depth offset, point size, line width, flat varyings. It is compared and appended without decoding
/// the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedState {
    records: [u64; Self::RECORDS],
    /// The configuration with early Z off.
    without_early_z: u64,
    leaves_early_z_behind: bool,
}

impl FixedState {
    /// Number of records.
    const RECORDS: usize = 5;
    /// Bytes of each record.
    const BYTES: [u8; Self::RECORDS] = [4, 5, 5, 5, 5];
    /// The configuration.
    const CONFIGURATION: usize = 0;
    /// The record that follows those of the viewport.
    const LAST: usize = Self::RECORDS - 1;

    /// The same state with other flat varyings, one bit for each.
    pub fn with_flat_varyings(mut self, flags: u32) -> Result<Self, Error> {
        self.records[Self::LAST] = short_record(FlatShadeFlags { flags }.into())?;
        Ok(self)
    }

    /// [`DrawState::leaves_early_z_behind`] of the state.
    #[inline]
    pub const fn leaves_early_z_behind(&self) -> bool {
        self.leaves_early_z_behind
    }

    /// The same state with early Z off.
    #[inline]
    #[must_use]
    pub const fn without_early_z(mut self) -> Self {
        self.records[Self::CONFIGURATION] = self.without_early_z;
        self
    }

    /// Appends the records by which this state differs from `previous`; all of them if there is none.
    #[inline]
    pub(crate) fn emit(&self, list: &mut RecordList, previous: Option<&Self>) {
        self.emit_first(list, previous);
        self.emit_last(list, previous);
    }

    /// Appends all records except that of [`FixedState::emit_last`].
    #[inline]
    pub(crate) fn emit_first(&self, list: &mut RecordList, previous: Option<&Self>) {
        (0..Self::LAST).for_each(|index| self.emit_one(index, list, previous));
    }

    /// The flat varyings.
    #[inline]
    pub(crate) fn emit_last(&self, list: &mut RecordList, previous: Option<&Self>) {
        self.emit_one(Self::LAST, list, previous);
    }

    #[inline]
    fn emit_one(&self, index: usize, list: &mut RecordList, previous: Option<&Self>) {
        if previous.is_none_or(|previous| previous.records[index] != self.records[index]) {
            list.push_encoded(EncodedRecord::from_bits(self.records[index], Self::BYTES[index]));
        }
    }
}

/// A record of up to eight bytes.
fn short_record(record: Record) -> Result<u64, Error> {
    let [a, b, c, d, e, f, g, h, ..] = record.encode()?;
    Ok(u64::from_le_bytes([a, b, c, d, e, f, g, h]))
}

impl Viewport {
    /// Appends the records by which this viewport differs from `previous`; all of them if there is none.
    pub(crate) fn emit(&self, list: &mut RecordList, previous: Option<&Self>) {
        let changed = |differs: fn(&Self, &Self) -> bool| previous.is_none_or(|previous| differs(self, previous));
        let Self { center_x, center_y, half_width, half_height, z_scale, z_offset } = *self;
        if changed(|a, b| (a.half_width, a.half_height) != (b.half_width, b.half_height)) {
            list.push(ClipperXyScaling { half_height, half_width });
        }
        if changed(|a, b| (a.z_scale, a.z_offset) != (b.z_scale, b.z_offset)) {
            list.push(ClipperZScaleOffset { offset: z_offset, scale: z_scale });
        }
        if changed(|a, b| (a.center_x, a.center_y) != (b.center_x, b.center_y)) {
            list.push(ViewportOffset { y: center_y, x: center_x });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use v3d_hw::control_list::Float187;

    /// The records are compared and appended as words.
    #[test]
    fn fixed_state_is_its_records() {
        let state = DrawState {
            depth_offset: DepthOffset { units: Float187::truncate(2.5), factor: Float187::truncate(-3.0) },
            point_size_px: 7.5,
            line_width_px: 3.25,
            flat_varyings: 0x8765_4321,
            ..DrawState::display(64, 64).with_depth_test()
        };
        let mut list = RecordList::new();
        state.fixed().unwrap().emit(&mut list, None);
        let mut expected = RecordList::new();
        expected.push(state.configuration);
        expected.push(state.depth_offset);
        expected.push(PointSize { size: 7.5 });
        expected.push(LineWidth { width: 3.25 });
        expected.push(FlatShadeFlags { flags: 0x8765_4321 });
        assert_eq!(list, expected);

        let wider = DrawState { line_width_px: 4.0, ..state };
        let (mut list, mut expected) = (RecordList::new(), RecordList::new());
        wider.fixed().unwrap().emit(&mut list, Some(&state.fixed().unwrap()));
        expected.push(LineWidth { width: 4.0 });
        assert_eq!(list, expected);
    }
}
