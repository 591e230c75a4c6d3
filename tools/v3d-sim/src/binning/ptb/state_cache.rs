//! State cache: which state records the list of a tile still lacks.
//!
//! A state record is written to a tile's list only before a primitive that uses it. A state counter tells what a tile has: each kind of record
//! remembers the count at which it was last set, each tile the count up to which it has all. The counter begins at 0, where records count as known to
//! all tiles: that is the prefix of a binning list. Start Tile Binning advances it [AG p.64, p.66, p.85].
//!
//! The list format of the binning list does not determine the kind of primitives: the PTB knows what it writes. When the kind changes, it writes a
//! list format of its own, and the shader state behind it, without which the format would have no effect. Drivers rely on that: they announce
//! triangles and draw lines [mesa vc4_draw.c].
//!
//! Silicon's counter must not wrap around: software flushes before [`STATE_CHANGES`] state changes [AG p.108, HW-2116].

use v3d_hw::FieldError;
use v3d_hw::control_list::{MAX_RECORD_BYTES, PrimitiveListFormat, Record, StateRecord};

/// Maximum number of state changes of a frame that silicon can count [brcm HW-2116].
pub const STATE_CHANGES: u32 = 0x1ef0;

/// Kinds of state records that tile lists contain, in the order in which they are written: the list format stands before the shader
/// state, without which it has no effect.
const SLOTS: usize = 11;
/// The list format.
const FORMAT: usize = 0;
/// Shader state of any kind.
const SHADER: usize = 1;

/// The kind of a state record; `None` for records that do not go into tile lists.
const fn slot(record: StateRecord) -> Option<usize> {
    Some(match record {
        StateRecord::GlShaderState(_)
        | StateRecord::NvShaderState(_)
        | StateRecord::VgShaderState(_)
        | StateRecord::VgInlineShader(_) => SHADER,
        StateRecord::ConfigurationBits(_) => 2,
        StateRecord::FlatShadeFlags(_) => 3,
        StateRecord::PointSize(_) => 4,
        StateRecord::LineWidth(_) => 5,
        StateRecord::RhtXBoundary(_) => 6,
        StateRecord::DepthOffset(_) => 7,
        StateRecord::ClipWindow(_) => 8,
        StateRecord::ViewportOffset(_) => 9,
        StateRecord::ZClippingPlanes(_) => 10,
        // The PTB writes list formats of its own; the clipper has done its work.
        StateRecord::PrimitiveListFormat(_)
        | StateRecord::ClipperXyScaling(_)
        | StateRecord::ClipperZScaleOffset(_) => return None,
    })
}

/// One kind of state record: its last bytes and when they were set.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    bytes: [u8; MAX_RECORD_BYTES],
    length: usize,
    set_at: u32,
}

/// The state records last set.
#[derive(Clone, Debug, Default)]
pub struct StateCache {
    entries: [Entry; SLOTS],
    counter: u32,
    drawn: bool,
    format: PrimitiveListFormat,
}

impl StateCache {
    /// The state counter.
    pub const fn counter(&self) -> u32 {
        self.counter
    }

    /// Start Tile Binning: records from now on are written to tile lists.
    pub fn start(&mut self) {
        self.counter += 1;
        self.drawn = false;
    }

    /// A new binning list: all tiles know all records.
    pub fn reset(&mut self) {
        for entry in &mut self.entries {
            entry.set_at = 0;
        }
        // Tiles have no format from an earlier frame.
        self.entries[FORMAT].length = 0;
        self.counter = 0;
        self.drawn = false;
    }

    /// Takes a state record as it stands in the list.
    pub fn set(&mut self, record: StateRecord, bytes: [u8; MAX_RECORD_BYTES]) {
        if let Some(slot) = slot(record) {
            self.enter(slot, Entry { bytes, length: Record::from(record).bytes(), set_at: 0 });
        }
    }

    fn enter(&mut self, slot: usize, entry: Entry) {
        if self.drawn {
            self.counter += 1;
            self.drawn = false;
        }
        if let Some(place) = self.entries.get_mut(slot) {
            *place = Entry { set_at: self.counter, ..entry };
        }
    }

    /// Takes the format of the following lists.
    pub fn set_format(&mut self, format: PrimitiveListFormat) -> Result<(), FieldError> {
        if format != self.format || self.entries[FORMAT].length == 0 {
            let record = Record::from(format);
            self.enter(FORMAT, Entry { bytes: record.encode()?, length: record.bytes(), set_at: 0 });
            self.enter(SHADER, self.entries[SHADER]);
            self.format = format;
        }
        Ok(())
    }

    /// Records that primitives were drawn with the current state: the next record increments the counter.
    pub fn draw(&mut self) {
        // In the prefix, all tiles have all state.
        self.drawn = self.counter > 0;
    }

    /// The records that a tile with the state up to `known` lacks.
    pub fn missing(&self, known: u32) -> impl Iterator<Item = &[u8]> {
        let lacks = move |entry: &&Entry| entry.set_at > known && entry.length > 0;
        self.entries.iter().filter(lacks).map(|entry| &entry.bytes[..entry.length])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use v3d_hw::control_list::{FlatShadeFlags, LineWidth, RecordGroup, VgInlineShader};
    use v3d_hw::primitive_list::{ListDataType, ListPrimitive};

    fn set(cache: &mut StateCache, record: impl Into<Record>) {
        let record = record.into();
        let RecordGroup::State(state) = record.group() else { panic!("a state record") };
        cache.set(state, record.encode().unwrap());
    }

    fn codes(cache: &StateCache, known: u32) -> Vec<u8> {
        cache.missing(known).map(|bytes| bytes[0]).collect()
    }

    #[test]
    fn the_prefix_stays_out_of_tile_lists() {
        let mut cache = StateCache::default();
        set(&mut cache, LineWidth { width: 2.0 });
        cache.start();
        set(&mut cache, VgInlineShader::default());
        cache.set_format(PrimitiveListFormat::default()).unwrap();
        assert_eq!(codes(&cache, 0), [56, 67]);
        cache.draw();
        assert_eq!(codes(&cache, cache.counter()), [0; 0]);
    }

    #[test]
    fn another_kind_of_primitives_brings_the_shader_state_again() {
        let format = |primitive| PrimitiveListFormat { data_type: ListDataType::Index16, primitive };
        let mut cache = StateCache::default();
        cache.start();
        set(&mut cache, VgInlineShader::default());
        cache.set_format(format(ListPrimitive::Triangles)).unwrap();
        cache.draw();
        let first = cache.counter();
        cache.set_format(format(ListPrimitive::Triangles)).unwrap();
        assert_eq!(codes(&cache, first), [0; 0]);
        cache.set_format(format(ListPrimitive::Lines)).unwrap();
        assert_eq!(codes(&cache, first), [56, 67]);
        assert_eq!(cache.missing(first).next(), Some(&[56, 0x11][..]));
    }

    #[test]
    fn only_what_changed_since_a_tile_was_drawn_to_is_missing() {
        let mut cache = StateCache::default();
        cache.start();
        set(&mut cache, LineWidth { width: 2.0 });
        set(&mut cache, VgInlineShader::default());
        cache.draw();
        let first = cache.counter();
        set(&mut cache, FlatShadeFlags { flags: 1 });
        assert_eq!(codes(&cache, first), [97]);
        assert_eq!(codes(&cache, 0), [67, 97, 99]);
        let bytes: Vec<_> = cache.missing(first).collect();
        assert_eq!(bytes, [&[97, 1, 0, 0, 0]]);
    }
}
