//! The binning list: what thread 0 executes.
//!
//! It begins with the binner's configuration and the start of binning, holds state, shader records and primitives in the order in which they are
//! drawn, and ends with a signal to the other thread that the tile lists are complete: Increment Semaphore, then Flush. (The increment takes effect after
//! the flush.)
//!
//! # Errata
//! - HW-2116: the counter of state changes overflows; a list must be flushed before 0x1ef0 of them [mesa vc4_context.h: "VC4_HW_2116_COUNT"].
//!
//! # Sources
//! [AG p.62-65], [linux vc4_validate.c] for the order.

use crate::draw_state::{DrawState, FixedState, Viewport};
use crate::errata::Erratum;
use crate::error::Error;
use crate::primitives::Primitives;
use crate::record_list::{EncodedRecord, RecordList};
use crate::shader_record::ShaderState;
use v3d_hw::BusAddr;
use v3d_hw::control_list::{ClipWindow, PrimitiveListFormat, Record, TileBinningMode};
use v3d_hw::primitive_list::{ListDataType, ListPrimitive};

/// Most shader records in one list, HW-2116.
pub const MAX_STATE_CHANGES: u32 = 0x1ef0;

/// A binning list under construction.
#[derive(Clone, Debug)]
pub struct BinningList {
    list: RecordList,
    window: Option<ClipWindow>,
    viewport: Option<Viewport>,
    fixed: Option<FixedState>,
    shader: Option<Record>,
    state_changes: u32,
}

impl BinningList {
    /// Starts a list with binner memory that `mode` describes.
    pub fn new(mode: TileBinningMode) -> Self {
        let mut list = RecordList::new();
        list.push(mode);
        list.push(Record::StartTileBinning);
        list.push(PrimitiveListFormat { data_type: ListDataType::Index16, primitive: ListPrimitive::Triangles });
        Self { list, window: None, viewport: None, fixed: None, shader: None, state_changes: 0 }
    }

    /// Appends a draw: changed state, the shader record if it differs from the previous one, and the primitives.
    pub fn draw(&mut self, state: &DrawState, shader: impl Into<Record>, primitives: &Primitives) -> Result<(), Error> {
        let fixed = state.fixed()?;
        self.set_window(state.clip_window);
        fixed.emit_first(&mut self.list, self.fixed.as_ref());
        self.set_viewport(&state.viewport);
        fixed.emit_last(&mut self.list, self.fixed.as_ref());
        self.fixed = Some(fixed);
        self.set_shader(shader)?;
        primitives.emit(&mut self.list)
    }

    /// Appends the clip window if it has changed.
    pub fn set_window(&mut self, window: ClipWindow) {
        if self.window != Some(window) {
            self.list.push(window);
            self.window = Some(window);
        }
    }

    /// Appends the changed parts of the viewport.
    pub fn set_viewport(&mut self, viewport: &Viewport) {
        viewport.emit(&mut self.list, self.viewport.as_ref());
        self.viewport = Some(*viewport);
    }

    /// Appends the changed parts of all other state.
    #[inline]
    pub fn set_fixed(&mut self, fixed: &FixedState) {
        fixed.emit(&mut self.list, self.fixed.as_ref());
        self.fixed = Some(*fixed);
    }

    /// Appends the shader record if it differs from the previous one.
    fn set_shader(&mut self, shader: impl Into<Record>) -> Result<(), Error> {
        let shader = shader.into();
        if self.shader != Some(shader) {
            self.reserve(1)?;
            self.state_changes += 1;
            self.list.push(shader);
            self.shader = Some(shader);
        }
        Ok(())
    }

    /// Appends a shader record, for which [`BinningList::reserve`] has found room, and primitives that are drawn with it and have no more vertices than
    /// GFXH-515 allows. Most of a long list consists of such records, so nothing is compared.
    #[inline(always)]
    pub fn draw_encoded(&mut self, shader: ShaderState, record: BusAddr, primitives: EncodedRecord) {
        self.state_changes += 1;
        self.shader = None;
        let shader = shader.record(record);
        match shader.followed_by(primitives) {
            Some(both) => self.list.push_encoded(both),
            None => {
                self.list.push_encoded(shader);
                self.list.push_encoded(primitives);
            }
        }
    }

    /// Whether this number of shader records can still be appended.
    #[inline]
    pub fn reserve(&self, shaders: usize) -> Result<(), Error> {
        if shaders > MAX_STATE_CHANGES.saturating_sub(self.state_changes) as usize {
            return Err(Error::Erratum(Erratum::Hw2116));
        }
        Ok(())
    }

    /// Number of shader records in the list; the limit is [`MAX_STATE_CHANGES`].
    pub const fn state_changes(&self) -> u32 {
        self.state_changes
    }

    /// Ends the list.
    pub fn finish(mut self) -> RecordList {
        self.list.push(Record::IncrementSemaphore);
        self.list.push(Record::Flush);
        self.list
    }
}
