//! What a job reads, what it writes, and which words of it hold addresses.
//!
//! All of that the check of a job finds out on its way. A survey keeps it: a captured job can then be said to need just this memory, and can be moved to
//! other addresses ([`relocation`](crate::relocation)).

use super::{Checker, Refusal, Rights, Span};
use crate::driver::Job;
use crate::platform::GpuMemory;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};
use v3d_hw::BusAddr;
use v3d_hw::control_list::{Record, TileBufferSelect};
use v3d_hw::layout::Field;

/// A word of a job that holds an address, perhaps with other fields in its lowest bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// Where the word is: in a list, a shader record or among uniforms. Records are not aligned, and neither is this.
    pub word: BusAddr,
    /// The first byte that is reached by it.
    pub target: BusAddr,
}

/// Stretches of memory by their first byte, without the alias, and where each ends.
type Stretches = BTreeMap<u32, u64>;

/// What a job reaches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    reads: Stretches,
    stores: Stretches,
    tile_memory: Stretches,
    /// Targets by the places of the words.
    pointers: BTreeMap<u32, BusAddr>,
    fixed: Option<BusAddr>,
}

impl Survey {
    /// What it reads: lists, records, programs, uniforms, vertices, indices, textures and loaded pictures.
    pub fn reads(&self) -> Vec<Span> {
        spans(&self.reads)
    }

    /// What the rendering list stores: pictures and dumps of the tile buffer.
    pub fn stores(&self) -> Vec<Span> {
        spans(&self.stores)
    }

    /// What the binner writes: tile state and tile lists. How it divides that memory is its own business.
    pub fn tile_memory(&self) -> Vec<Span> {
        spans(&self.tile_memory)
    }

    /// The words that hold addresses, in the order of their places.
    pub fn pointers(&self) -> impl Iterator<Item = Pointer> {
        self.pointers.iter().map(|(&word, &target)| Pointer { word: BusAddr(word), target })
    }

    /// An instruction that names an address itself, if a program has one: such a job works at its own place only.
    pub const fn fixed(&self) -> Option<BusAddr> {
        self.fixed
    }

    pub(super) fn note_read(&mut self, address: BusAddr, bytes: u64) {
        note(&mut self.reads, address, bytes);
    }

    pub(super) fn note_store(&mut self, address: BusAddr, bytes: u64) {
        note(&mut self.stores, address, bytes);
    }

    pub(super) fn note_tile_memory(&mut self, span: Span) {
        note(&mut self.tile_memory, span.address, u64::from(span.bytes));
    }

    pub(super) fn note_pointer(&mut self, word: BusAddr, target: BusAddr) {
        self.pointers.insert(word.offset(), target);
    }

    pub(super) fn note_fixed(&mut self, instruction: BusAddr) {
        self.fixed.get_or_insert(instruction);
    }

    /// Notes the addresses in a record of a list, which stands at `place`.
    pub(super) fn note_record(&mut self, place: BusAddr, record: &Record) {
        let addresses: [Option<(&str, BusAddr)>; 2] = match record {
            Record::Branch(to) => [Some(("address", to.address)), None],
            Record::BranchToSubList(to) => [Some(("address", to.address)), None],
            Record::StoreFullResolution(store) => [Some(("address", store.address.0)), None],
            Record::LoadFullResolution(load) => [Some(("address", load.address.0)), None],
            Record::StoreGeneral(store) if store.buffer == TileBufferSelect::None => [None; 2],
            Record::StoreGeneral(store) => [Some(("address", store.address.0)), None],
            Record::LoadGeneral(load) if load.buffer == TileBufferSelect::None => [None; 2],
            Record::LoadGeneral(load) => [Some(("address", load.address.0)), None],
            Record::IndexedPrimitiveList(draw) => [Some(("address", draw.address)), None],
            Record::VgCoordinateArray(draw) => [Some(("address", draw.address)), None],
            Record::ClippedPrimitive(clipped) => [Some(("address", clipped.address.0)), None],
            Record::GlShaderState(state) => [Some(("address", state.address.0)), None],
            Record::NvShaderState(state) => [Some(("address", state.address)), None],
            Record::VgShaderState(state) => [Some(("address", state.address)), None],
            Record::VgInlineShader(state) => [Some(("code", state.code.0)), Some(("uniforms", state.uniforms))],
            Record::TileBinningMode(mode) => {
                [Some(("tile_state", mode.tile_state)), Some(("tile_allocation", mode.tile_allocation))]
            }
            Record::TileRenderingMode(mode) => [Some(("address", mode.address)), None],
            Record::Halt
            | Record::Nop
            | Record::Flush
            | Record::FlushAllState
            | Record::StartTileBinning
            | Record::IncrementSemaphore
            | Record::WaitOnSemaphore
            | Record::ReturnFromSubList
            | Record::StoreResolved
            | Record::StoreResolvedEndOfFrame
            | Record::VertexArrayPrimitives(_)
            | Record::VgInline(_)
            | Record::CompressedPrimitiveList
            | Record::PrimitiveListFormat(_)
            | Record::ConfigurationBits(_)
            | Record::FlatShadeFlags(_)
            | Record::PointSize(_)
            | Record::LineWidth(_)
            | Record::RhtXBoundary(_)
            | Record::DepthOffset(_)
            | Record::ClipWindow(_)
            | Record::ViewportOffset(_)
            | Record::ZClippingPlanes(_)
            | Record::ClipperXyScaling(_)
            | Record::ClipperZScaleOffset(_)
            | Record::ClearColors(_)
            | Record::TileCoordinates(_) => [None; 2],
        };
        for (name, target) in addresses.into_iter().flatten() {
            if let Some(at) = word_of(record.info().fields, name) {
                self.note_pointer(place + 1 + at, target);
            }
        }
    }
}

/// Where the 32-bit word of an address field begins, in bytes: an address has the highest bits of its word.
pub(super) fn word_of(fields: &[Field], name: &str) -> Option<u32> {
    let field = fields.iter().find(|field| field.name == name)?;
    (field.hi + 1).checked_sub(u32::BITS).map(|bits| bits / 8)
}

fn note(stretches: &mut Stretches, address: BusAddr, bytes: u64) {
    let end = stretches.entry(address.offset()).or_default();
    *end = (*end).max(u64::from(address.offset()) + bytes);
}

/// The same bytes in order and in as few spans as possible.
fn spans(stretches: &Stretches) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for (&start, &end) in stretches {
        let bytes = (end - u64::from(start)) as u32;
        match spans.last_mut() {
            Some(last) if start <= last.address.0 + last.bytes => {
                last.bytes = last.bytes.max(start + bytes - last.address.0);
            }
            _ => spans.push(Span { address: BusAddr(start), bytes }),
        }
    }
    spans.retain(|span| span.bytes > 0);
    spans
}

/// What a job reaches, if it is one that may be executed where it may both read and write all of `within`.
///
/// # Errors
/// Why it may not; and then nothing is known of the rest.
pub fn survey(memory: &impl GpuMemory, within: &[Span], job: &Job) -> Result<Survey, Refusal> {
    let survey = RefCell::new(Survey::default());
    let rights = Rights::to_all(within);
    let checker = Checker { memory, rights: &rights, work: Cell::new(super::MOST_WORK), survey: Some(&survey) };
    super::check_job(&checker, job)?;
    Ok(survey.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use v3d_hw::Aligned;
    use v3d_hw::control_list::{StoreGeneral, TileBinningMode};

    /// The encoded record has the address at the noted place, whatever else the word holds.
    fn check(record: Record, expected: &[(u32, u32)]) {
        let mut survey = Survey::default();
        survey.note_record(BusAddr(0x1000), &record);
        let found: Vec<_> = survey.pointers().map(|pointer| (pointer.word.0, pointer.target.0)).collect();
        assert_eq!(found, expected);
        let bytes = record.encode().unwrap();
        for &(word, target) in expected {
            let at = (word - 0x1000) as usize;
            let word = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
            assert_eq!(word & !0xfff, target, "{record}");
        }
    }

    #[test]
    fn addresses_are_where_the_record_has_them() {
        let mode = TileBinningMode {
            tile_allocation: BusAddr(0x1_2000),
            tile_state: BusAddr(0x3_4000),
            width_tiles: 3,
            ..TileBinningMode::default()
        };
        check(mode.into(), &[(0x1001, 0x1_2000), (0x1009, 0x3_4000)]);
        let store = StoreGeneral {
            address: Aligned(BusAddr(0x5_6000)),
            last_tile: true,
            buffer: TileBufferSelect::Color,
            ..StoreGeneral::default()
        };
        check(store.into(), &[(0x1003, 0x5_6000)]);
        check(StoreGeneral { buffer: TileBufferSelect::None, ..store }.into(), &[]);
        check(Record::Nop, &[]);
    }

    #[test]
    fn stretches_that_meet_are_one_span() {
        let mut survey = Survey::default();
        for (address, bytes) in [(0x20, 4), (0x10, 8), (0x18, 8), (0x40, 0), (0x10, 2), (0x30, 1)] {
            survey.note_read(BusAddr(BusAddr::UNCACHED | address), bytes);
        }
        let expected = [(0x10, 0x14), (0x30, 1)].map(|(start, bytes)| Span { address: BusAddr(start), bytes });
        assert_eq!(survey.reads(), expected);
    }
}
