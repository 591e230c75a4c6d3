//! Accesses of workgroup memory in the VPM by whole rows.
//!
//! They are those of which it is known at compile time which words of which rows the elements access.
//! A row is read once, whatever the elements want of it, and each of them gets its word by rotations of the row, by its copies in all elements or in those of a
//! quad, and by selects. So an access of `tile[y * 8 + k]` or `tile[k * 8 + x]` with a constant k is one row. Accesses of other shapes are calls.
//!
//! A row is stored if the elements' words are a row in their order.

use alloc::vec::Vec;

use v3d_hw::Layout;
use v3d_hw::qpu::{AddOp, LANES};
use v3d_hw::vpm::{ElementSize, ReadSetup};

use super::element_pattern::ElementPattern;
use super::memory::Place;
use super::{Lowering, State};
use crate::ssa::{Access, Given, Op, StreamWord, Value};

/// Bytes of a row, and of a word.
const ROW_BYTES: u32 = 64;
const WORD_BYTES: u32 = 4;
/// Elements of a quad.
const QUAD: usize = 4;
/// The most that an access may cost in instructions, before it is a call: such a call executes about 80.
const MAX_COST: usize = 40;
/// What reading a row costs.
const READ_COST: usize = 2;
/// What a copy of words in several elements costs.
const COPY_COST: usize = 2;
/// What a select by a known mask costs.
const SELECT_COST: usize = 2;

/// An access: the rows are so far behind an offset that all elements share.
struct Rows {
    /// The elements' dynamic offset in bytes, if it is not known, and how far the first element's is behind what they share.
    offset: Option<(Value, u32)>,
    /// For each element the bytes from there.
    bytes: [u32; LANES],
}

/// What elements get their words from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// The row.
    Row,
    /// A row of copies of one word.
    Copies(u8),
    /// In each quad, copies of its first word, after the row was moved by so many places.
    QuadCopies(u8),
}

/// A source moved by so many places, and the elements that get their words there.
type Move = (u8, u16);

impl Source {
    /// How the elements, each with the column that it wants, get their words; `None` if they cannot.
    fn moves(self, wanted: &[(usize, usize)]) -> Option<Vec<Move>> {
        let mut moves: Vec<Move> = Vec::new();
        for &(element, column) in wanted {
            let places = match self {
                Self::Row => (column + LANES - element) % LANES,
                Self::Copies(copied) if usize::from(copied) == column => 0,
                Self::Copies(_) => return None,
                Self::QuadCopies(by) => {
                    let first = |quad: &usize| (quad * QUAD + usize::from(by)) % LANES == column;
                    let quad = (0..LANES / QUAD).find(first)?;
                    (quad * QUAD + LANES - element / QUAD * QUAD) % LANES
                }
            };
            match moves.iter_mut().find(|(other, _)| usize::from(*other) == places) {
                Some((_, elements)) => *elements |= 1 << element,
                None => moves.push((places as u8, 1 << element)),
            }
        }
        Some(moves)
    }

    /// The cheapest way to get words of one row.
    fn cheapest(wanted: &[(usize, usize)]) -> Option<(usize, Self, Vec<Move>)> {
        let all = (0..LANES as u8).flat_map(|column| [Self::Copies(column), Self::QuadCopies(column)]);
        let ways = core::iter::once(Self::Row).chain(all).filter_map(|source| {
            let moves = source.moves(wanted)?;
            let copies = if source == Self::Row { 0 } else { COPY_COST };
            let rotations = moves.iter().filter(|(places, _)| *places != 0).count();
            Some((copies + rotations + SELECT_COST * (moves.len() - 1), source, moves))
        });
        ways.min_by_key(|(cost, ..)| *cost)
    }
}

impl Lowering<'_> {
    /// The rows that an access is of, if they are known.
    fn rows(&mut self, place: &Place, bytes: u32) -> Option<Rows> {
        let at = place.first.wrapping_add(bytes);
        let Some((_, offset)) = place.offset else { return Some(Rows { offset: None, bytes: [at; LANES] }) };
        // The pattern of all of it says that no sum is too great. What accesses of the same rows differ in is taken out, so that they share the rest.
        self.program.element_pattern(offset, self.workgroups.parts)?;
        let (offset, further) = self.program.without_constant(offset);
        let at = at.wrapping_add(further);
        let ElementPattern { common_log2, own, .. } = self.program.element_pattern(offset, self.workgroups.parts)?;
        if 1u64 << common_log2 < u64::from(ROW_BYTES) {
            return None;
        }
        let is_known = common_log2 == u32::BITS;
        let offset = (!is_known).then_some((offset, own[0] / ROW_BYTES));
        Some(Rows { offset, bytes: own.map(|own| own + at) })
    }

    /// The word that sets up a read, or a write, of a row.
    fn row_setup(&mut self, rows: &Rows, row: u32) -> Value {
        let row_word = ReadSetup {
            id: 0,
            count: 1,
            stride: 1,
            horizontal: true,
            laned: false,
            size: ElementSize::Bits32,
            address: 0,
        };
        let program = &mut self.program;
        let memory = program.uniform(StreamWord::VpmMemory(0));
        let (six, word) =
            (program.bits(ROW_BYTES.trailing_zeros()), program.bits(row_word.to_bits().unwrap_or(0) as u32));
        let memory = program.alu(AddOp::Shr, memory, six);
        let mut setup = program.alu(AddOp::Add, memory, word);
        let mut further = row;
        if let Some((offset, first)) = rows.offset {
            let offset = program.alu(AddOp::Shr, offset, six);
            setup = program.alu(AddOp::Add, setup, offset);
            further = row.wrapping_sub(first);
        }
        let further = program.bits(further);
        program.alu(AddOp::Add, setup, further)
    }

    /// Loads a word for each element; `None` if a call does so with fewer instructions, or it is not known where the words are.
    pub(super) fn load_rows(&mut self, place: &Place, bytes: u32) -> Option<Value> {
        let rows = self.rows(place, bytes)?;
        let mut plans: Vec<(u32, Source, Vec<Move>)> = Vec::new();
        let mut cost = 0;
        for at in rows.bytes {
            let row = at / ROW_BYTES;
            if plans.iter().any(|(other, ..)| *other == row) {
                continue;
            }
            let of_row = |(_, at): &(usize, &u32)| **at / ROW_BYTES == row;
            let column = |at: u32| (at % ROW_BYTES / WORD_BYTES) as usize;
            let wanted: Vec<(usize, usize)> =
                rows.bytes.iter().enumerate().filter(of_row).map(|(element, at)| (element, column(*at))).collect();
            let (of_row, source, moves) = Source::cheapest(&wanted)?;
            let joins = if plans.is_empty() { 0 } else { SELECT_COST };
            cost += READ_COST + of_row + joins;
            plans.push((row, source, moves));
        }
        if cost > MAX_COST {
            return None;
        }
        let mut result = None;
        for (row, source, moves) in plans {
            let setup = self.row_setup(&rows, row);
            let row = self.program.vpm_row(setup);
            let source = match source {
                Source::Row => row,
                Source::Copies(column) => {
                    self.program.value(Op::Copies { by_quad: false, places: back(column), from: row })
                }
                Source::QuadCopies(by) => self.program.value(Op::Copies { by_quad: true, places: back(by), from: row }),
            };
            for (places, elements) in moves {
                let moved = if places == 0 { source } else { self.program.value(Op::Rotate(back(places), source)) };
                result = Some(match result {
                    None => moved,
                    Some(others) => self.where_known(elements, moved, others),
                });
            }
        }
        result
    }

    /// The first value in some elements, and the second in the others.
    fn where_known(&mut self, elements: u16, first: Value, second: Value) -> Value {
        let program = &mut self.program;
        let element = program.value(Op::Given(Given::Element));
        let with_bit = |bit: u32| {
            (0..LANES as u32).filter(|element| element & bit != 0).fold(0, |all, element| all | 1u16 << element)
        };
        for bit in [1, 2, 4, 8] {
            if elements == with_bit(bit) || elements == !with_bit(bit) {
                let bits = program.bits(bit);
                let condition = program.and(element, bits);
                let (accept, reject) = if elements == with_bit(bit) { (first, second) } else { (second, first) };
                return program.select(condition, accept, reject);
            }
        }
        let (elements, one) = (program.bits(elements.into()), program.bits(1));
        let bit = program.alu(AddOp::Shr, elements, element);
        let condition = program.and(bit, one);
        program.select(condition, first, second)
    }

    /// Stores a word of each element, if these are a row in its order; whether that is so.
    pub(super) fn store_row(&mut self, place: &Place, bytes: u32, word: Value, state: &State) -> bool {
        let Some(rows) = self.rows(place, bytes) else { return false };
        let first = rows.bytes[0];
        let is_row = (first..).step_by(WORD_BYTES as usize).zip(rows.bytes).all(|(expected, at)| at == expected);
        if place.inside.is_some() || !first.is_multiple_of(ROW_BYTES) || !is_row {
            return false;
        }
        let setup = self.row_setup(&rows, first / ROW_BYTES);
        let mask = (self.program.constant(state.live) != Some(u32::MAX)).then_some(state.live);
        self.program.access(Access::StoreRow { setup, word, mask });
        true
    }
}

/// The rotation by which each element gets the word that is so many places behind it.
const fn back(places: u8) -> u8 {
    (LANES as u8 - places) % LANES as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(column: impl Fn(usize) -> usize, source: Source, moves: &[Move]) {
        let wanted: Vec<(usize, usize)> = (0..LANES).map(|element| (element, column(element))).collect();
        let (_, found, found_moves) = Source::cheapest(&wanted).unwrap();
        assert_eq!((found, found_moves.as_slice()), (source, moves));
    }

    #[test]
    fn the_shapes_of_tiles_take_few_moves() {
        check(|element| element, Source::Row, &[(0, 0xffff)]);
        // Column 5 of two rows of 8, and of four rows of 4; the second row of 8 for both halves; one word.
        check(|element| element & 8 | 5, Source::QuadCopies(1), &[(4, 0x0f0f), (0, 0xf0f0)]);
        check(|element| element & 12 | 3, Source::QuadCopies(3), &[(0, 0xffff)]);
        check(|element| element & 7 | 8, Source::Row, &[(8, 0x00ff), (0, 0xff00)]);
        check(|_| 11, Source::Copies(11), &[(0, 0xffff)]);
    }
}
