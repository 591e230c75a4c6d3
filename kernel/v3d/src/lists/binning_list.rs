//! The binning list: what thread 0 executes.
//!
//! It begins with the binner's configuration and the start of binning, holds state, shader records and primitives in the order in which they are
//! drawn, and ends with a signal to the other thread that the tile lists are complete: Increment Semaphore, then Flush. (The increment takes effect after
//! the flush.)
//!
//! A draw that leaves the depth of early Z behind ([`DrawState::leaves_early_z_behind`]) turns early Z off for all draws after it: the tile's early depth is
//! right again only when the tile is cleared, which happens between lists.
//!
//! # Errata
//! - HW-2116: the counter of state changes overflows; a list must be flushed before 0x1ef0 of them [mesa vc4_context.h: "VC4_HW_2116_COUNT"].
//!
//! # Sources
//! [AG p.62-65], [linux vc4_validate.c] for the order.

use crate::errata::Erratum;
use crate::error::Error;
use crate::lists::draw_state::{DrawState, FixedState, Viewport};
use crate::lists::primitives::Primitives;
use crate::lists::record_list::{EncodedRecord, RecordList};
use crate::lists::shader_record::ShaderState;
use v3d_hw::BusAddr;
use v3d_hw::control_list::{ClipWindow, PrimitiveListFormat, Record, TileBinningMode};
use v3d_hw::primitive_list::{ListDataType, ListPrimitive};

/// Most shader records in one list, HW-2116.
pub const MAX_STATE_CHANGES: u32 = 0x1ef0;

/// Whether a clip window has no area. On boards it does not keep away what is drawn in it [piegpu].
pub const fn is_empty(window: &ClipWindow) -> bool {
    window.width == 0 || window.height == 0
}

/// A binning list under construction.
#[derive(Clone, Debug)]
pub struct BinningList {
    list: RecordList,
    window: Option<ClipWindow>,
    viewport: Option<Viewport>,
    fixed: Option<FixedState>,
    shader: Option<Record>,
    /// Early Z may compare with a depth that was moved away without it.
    early_z_is_behind: bool,
    state_changes: u32,
}

/// A shader record without its address, and primitives, with no-operations behind them up to a whole word: they are appended by words, without shifts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreparedRecords {
    /// The records, followed by zeros.
    words: [u32; Self::WORDS],
    /// Number of their words.
    count: usize,
}

impl PreparedRecords {
    /// Words of the longest: 5 bytes of a shader record, 14 of indexed primitives, and a no-operation.
    const WORDS: usize = 5;

    /// Encodes both. An error if they are too long, which no records of primitives are.
    pub fn new(shader: ShaderState, primitives: EncodedRecord) -> Result<Self, Error> {
        let mut list = RecordList::new();
        list.push_encoded(shader.record(BusAddr(0)));
        list.push_encoded(primitives);
        list.fill_word();
        let used = list.words()?;
        let mut words = [0; Self::WORDS];
        words.get_mut(..used.len()).ok_or(Error::ShaderRecord("primitives are too long"))?.copy_from_slice(used);
        Ok(Self { words, count: used.len() })
    }
}

impl BinningList {
    /// Starts a list with binner memory that `mode` describes.
    pub fn new(mode: TileBinningMode) -> Self {
        let mut list = RecordList::new();
        list.push(mode);
        list.push(Record::StartTileBinning);
        list.push(PrimitiveListFormat { data_type: ListDataType::Index16, primitive: ListPrimitive::Triangles });
        let (window, viewport, fixed, shader) = (None, None, None, None);
        Self { list, window, viewport, fixed, shader, early_z_is_behind: false, state_changes: 0 }
    }

    /// Appends a draw: changed state, the shader record if it differs from the previous one, and the primitives. Nothing is appended for a clip window
    /// without an area: boards draw in it nevertheless [piegpu].
    pub fn draw(&mut self, state: &DrawState, shader: impl Into<Record>, primitives: &Primitives) -> Result<(), Error> {
        if is_empty(&state.clip_window) {
            return Ok(());
        }
        let fixed = self.with_right_early_z(&state.fixed()?);
        self.set_window(state.clip_window);
        fixed.emit_first(&mut self.list, self.fixed.as_ref());
        self.set_viewport(&state.viewport);
        fixed.emit_last(&mut self.list, self.fixed.as_ref());
        self.fixed = Some(fixed);
        self.set_shader(shader)?;
        primitives.emit(&mut self.list)
    }

    /// Appends the clip window if it has changed. What would be drawn in one that [has no area](is_empty) must be left out.
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

    /// Appends the changed parts of all other state, for draws that follow. Early Z is off in it after a state that leaves the depth of early Z behind.
    #[inline]
    pub fn set_fixed(&mut self, fixed: &FixedState) {
        let fixed = self.with_right_early_z(fixed);
        fixed.emit(&mut self.list, self.fixed.as_ref());
        self.fixed = Some(fixed);
    }

    /// The state as it may be drawn with now.
    #[inline]
    fn with_right_early_z(&mut self, fixed: &FixedState) -> FixedState {
        self.early_z_is_behind |= fixed.leaves_early_z_behind();
        if self.early_z_is_behind { fixed.without_early_z() } else { *fixed }
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

    /// The same for records that were prepared; the address of the shader record is added. They begin and end at whole words of the list.
    #[inline(always)]
    pub fn draw_prepared(&mut self, records: &PreparedRecords, record: BusAddr) {
        self.state_changes += 1;
        self.shader = None;
        let [first, second, rest @ ..] = records.words;
        let address = ShaderState::address_bits(record);
        let words = [first | address as u32, second | (address >> 32) as u32, rest[0], rest[1], rest[2]];
        self.list.push_words(words, records.count);
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

#[cfg(test)]
mod tests {
    use super::*;
    use v3d_hw::control_list::{GlShaderState, LineWidth, PrimitiveMode, VertexArrayPrimitives};

    #[test]
    fn prepared_records_are_filled_with_no_operations() {
        let record = BusAddr(0xc123_4560);
        let state = |address: BusAddr| GlShaderState { address: address.into(), extended: false, attribute_arrays: 2 };
        let primitives = VertexArrayPrimitives { first_vertex: 0, length: 9, mode: PrimitiveMode::Triangles };
        let shader = ShaderState::new(state(BusAddr(0)).into()).unwrap();
        let records = PreparedRecords::new(shader, EncodedRecord::new(primitives).unwrap()).unwrap();
        let mode = TileBinningMode::default();
        let mut list = BinningList::new(mode);
        list.list.push(LineWidth { width: 2.0 });
        list.draw_prepared(&records, record);
        list.draw_prepared(&records, record + 32);
        assert_eq!(list.state_changes(), 2);

        let mut expected = BinningList::new(mode).list;
        expected.push(LineWidth { width: 2.0 });
        while !expected.bytes().is_multiple_of(4) {
            expected.push(Record::Nop);
        }
        for record in [record, record + 32] {
            expected.push(state(record));
            expected.push(primitives);
            // Five bytes and ten.
            expected.push(Record::Nop);
        }
        assert_eq!(list.list, expected);
    }
}
