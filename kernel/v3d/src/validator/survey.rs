//! The survey of a job: the memory that it reads and writes, and its words that contain addresses.
//!
//! Validation finds all of this, and a survey stores it: a capture then contains just this memory, and a replay can relocate the job
//! ([`relocation`](crate::jobs::relocation)).

use super::span::{Span, merged};
use super::{Checker, Refusal, Rights};
use crate::jobs::job::Job;
use crate::platform::GpuMemory;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};
use v3d_hw::BusAddr;
use v3d_hw::control_list::{Record, TileBufferSelect};
use v3d_hw::layout::Field;

/// A word of a job that contains an address, perhaps with other fields in its lowest bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// Address of the word in a list, a shader record or uniforms. It need not be aligned, since records are not.
    pub word: BusAddr,
    /// The address in it.
    pub target: BusAddr,
}

/// Lengths of ranges by their offsets.
type Lengths = BTreeMap<u32, u32>;

/// The memory that a job accesses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    reads: Lengths,
    stores: Lengths,
    tile_memory: Lengths,
    /// Targets by the addresses of the words.
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

    /// What the binner writes: tile state and tile lists. The binner's use of that memory is not specified.
    pub fn tile_memory(&self) -> Vec<Span> {
        spans(&self.tile_memory)
    }

    /// The words that contain addresses, in ascending order.
    pub fn pointers(&self) -> impl Iterator<Item = Pointer> {
        self.pointers.iter().map(|(&word, &target)| Pointer { word: BusAddr(word), target })
    }

    /// An instruction that contains an address, if there is one: such a job works at its original addresses only.
    pub const fn fixed(&self) -> Option<BusAddr> {
        self.fixed
    }

    /// Bytes of heap that it takes, with the nodes of its collections.
    pub(super) fn heap_bytes(&self) -> usize {
        let entries = self.reads.len() + self.stores.len() + self.tile_memory.len() + self.pointers.len();
        2 * size_of::<(u32, u32)>() * entries
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

    /// Records the addresses in a record of a list at `place`.
    pub(super) fn note_record(&mut self, place: BusAddr, record: &Record, bytes: &[u8]) {
        // The address of an empty general store or load is not used.
        let buffer = match record {
            Record::StoreGeneral(store) => Some(store.buffer),
            Record::LoadGeneral(load) => Some(load.buffer),
            _ => None,
        };
        if buffer != Some(TileBufferSelect::None) {
            let data = bytes.get(1..).unwrap_or_default();
            self.note_addresses(place + 1, record.info().fields, data);
        }
    }

    /// Records the addresses in fields of data at `place`, from its bytes.
    pub(super) fn note_addresses(&mut self, place: BusAddr, fields: &[Field], bytes: &[u8]) {
        for field in fields.iter().filter(|field| field.is_address) {
            // An address is in the highest bits of its word; the lowest are other fields', or zero because of its alignment.
            let Some(at) = (field.hi + 1).checked_sub(u32::BITS).map(|bits| bits / 8) else { continue };
            let Some(&word) = bytes.get(at as usize..).and_then(<[u8]>::first_chunk) else { continue };
            let low = u32::BITS - field.width();
            self.note_pointer(place + at, BusAddr(u32::from_le_bytes(word) >> low << low));
        }
    }
}

/// Adds a range, or extends the one before it if they touch: so programs, lists and uniforms take one entry each, not one a word.
fn note(lengths: &mut Lengths, address: BusAddr, bytes: u64) {
    let start = address.offset();
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    if let Some((&before, length)) = lengths.range_mut(..=start).next_back()
        && start - before <= *length
    {
        *length = (*length).max((start - before).saturating_add(bytes));
        return;
    }
    lengths.insert(start, bytes);
}

fn spans(lengths: &Lengths) -> Vec<Span> {
    merged(lengths.iter().map(|(&start, &bytes)| Span { address: BusAddr(start), bytes }))
}

/// What a job accesses, if it may be executed with the right to read and write all of `within`.
///
/// # Errors
/// Why it may not be executed; nothing is then known about the rest.
pub fn survey(memory: &impl GpuMemory, within: &[Span], job: &Job) -> Result<Survey, Refusal> {
    let survey = RefCell::new(Survey::default());
    let rights = Rights::to_all(within);
    let (work, heap) = (Cell::new(super::MAX_WORK), Cell::new((0, 0)));
    let checker = Checker { memory, rights: &rights, work, heap, survey: Some(&survey) };
    super::check_job(&checker, job)?;
    Ok(survey.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use v3d_hw::Aligned;
    use v3d_hw::control_list::{StoreGeneral, TileBinningMode};

    /// The encoded record contains the address at the recorded place, whatever else the word contains.
    fn check(record: Record, expected: &[(u32, u32)]) {
        let mut survey = Survey::default();
        let bytes = record.encode().unwrap();
        survey.note_record(BusAddr(0x1000), &record, &bytes);
        let found: Vec<_> = survey.pointers().map(|pointer| (pointer.word.0, pointer.target.0)).collect();
        assert_eq!(found, expected);
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
}
