//! Primitive assembly: from vertex numbers to points, lines, triangles and RHTs.
//!
//! Primitive records refer to their vertices by an index list in memory, by a range, or (in VG mode) by screen coordinates in memory or in the list
//! itself. Strips, fans and loops are decomposed into single primitives, as in compressed lists. Strips reverse every other triangle, so that all
//! face the same way: the third triangle's vertices are 2, 3, 4, the second's 2, 1, 3.
//!
//! VG lists may end early with a code in place of a vertex, may contain dummy primitives, and fans may continue in the next list.
//!
//! The length of a coordinate array counts coordinates: Broadcom's driver for the first stepping of the chip writes their number there [brcm vg_tess_4.c],
//! and five published demos do [PeterLemon], though the guide says primitives [AG p.68].
//!
//! # Sources
//! [AG p.68], [AG p.72]. The order of vertices is OpenGL ES 2.0's, section 2.6.1; the codings of compressed strips and fans [AG p.73] fit it.

pub use crate::fault::list::AssemblyFault;

use crate::memory::{Memory, OutOfMemory};
use v3d_hw::BusAddr;
use v3d_hw::control_list::{
    IndexType, IndexedPrimitiveList, PrimitiveMode, VertexArrayPrimitives, VgCoordinateArray, VgInline, VgPrimitiveType,
};
use v3d_hw::primitive_list::{ListPrimitive, vg};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Points,
    Lines,
    LineLoop,
    LineStrip,
    Triangles,
    TriangleStrip,
    TriangleFan,
    Rhts,
    RhtStrip,
}

impl Mode {
    const fn gl(mode: PrimitiveMode) -> Result<Self, AssemblyFault> {
        Ok(match mode {
            PrimitiveMode::Points => Self::Points,
            PrimitiveMode::Lines => Self::Lines,
            PrimitiveMode::LineLoop => Self::LineLoop,
            PrimitiveMode::LineStrip => Self::LineStrip,
            PrimitiveMode::Triangles => Self::Triangles,
            PrimitiveMode::TriangleStrip => Self::TriangleStrip,
            PrimitiveMode::TriangleFan => Self::TriangleFan,
            PrimitiveMode::Reserved(code) => return Err(AssemblyFault::Mode(code)),
        })
    }

    const fn vg(primitive: VgPrimitiveType) -> Result<Self, AssemblyFault> {
        Ok(match primitive {
            VgPrimitiveType::Rhts => Self::Rhts,
            VgPrimitiveType::RhtStrip => Self::RhtStrip,
            VgPrimitiveType::Triangles => Self::Triangles,
            VgPrimitiveType::TriangleStrip => Self::TriangleStrip,
            VgPrimitiveType::TriangleFan => Self::TriangleFan,
            VgPrimitiveType::Reserved(code) => return Err(AssemblyFault::Mode(code)),
        })
    }

    const fn primitive(self) -> ListPrimitive {
        match self {
            Self::Points => ListPrimitive::Points,
            Self::Lines | Self::LineLoop | Self::LineStrip => ListPrimitive::Lines,
            Self::Triangles | Self::TriangleStrip | Self::TriangleFan => ListPrimitive::Triangles,
            Self::Rhts | Self::RhtStrip => ListPrimitive::Rht,
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum VertexSource {
    Indices { address: BusAddr, bytes: u32, maximum: u32 },
    Range { first: u32 },
    Coordinates { address: BusAddr },
}

/// Vertices that are searched for an end at a time.
const AHEAD_VERTICES: u64 = 4096;

/// The last vertices of a VG fan, which the next list may continue: the first, and the second unless the fan ended on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fan {
    first: Option<u32>,
    second: Option<u32>,
}

/// A primitive record whose primitives are being assembled.
#[derive(Clone, Debug)]
pub struct Assembly {
    mode: Mode,
    source: VertexSource,
    /// Number of vertices; in an inline list those before its end.
    vertices: u64,
    /// Vertices taken so far.
    taken: u64,
    /// Vertices kept for the next primitive.
    held: [u32; 2],
    /// Vertices of the current primitive so far, or of the strip.
    count: u64,
    /// The first vertex, to which loops and fans return.
    first: u32,
    /// The next triangle of a strip is reversed.
    odd: bool,
    continued: Fan,
}

impl Assembly {
    const fn new(mode: Mode, source: VertexSource, vertices: u64) -> Self {
        let continued = Fan { first: None, second: None };
        Self { mode, source, vertices, taken: 0, held: [0; 2], count: 0, first: 0, odd: false, continued }
    }

    /// Indexed Primitive List.
    pub fn indexed(record: &IndexedPrimitiveList) -> Result<Self, AssemblyFault> {
        let bytes = match record.index_type {
            IndexType::Bits8 => 1,
            IndexType::Bits16 => 2,
            IndexType::Reserved(code) => return Err(AssemblyFault::IndexType(code)),
        };
        let source = VertexSource::Indices { address: record.address, bytes, maximum: record.maximum_index };
        Ok(Self::new(Mode::gl(record.mode)?, source, u64::from(record.length)))
    }

    /// Vertex Array Primitives.
    pub fn array(record: &VertexArrayPrimitives) -> Result<Self, AssemblyFault> {
        let source = VertexSource::Range { first: record.first_vertex };
        Ok(Self::new(Mode::gl(record.mode)?, source, u64::from(record.length)))
    }

    /// VG Coordinate Array Primitives, which may continue `fan`.
    pub fn coordinates(record: &VgCoordinateArray, fan: Fan) -> Result<Self, AssemblyFault> {
        let mode = Mode::vg(record.primitive)?;
        let source = VertexSource::Coordinates { address: record.address };
        Self::new(mode, source, u64::from(record.length)).continue_fan(record.continuation, fan)
    }

    /// VG Inline Primitives, whose coordinates begin at `address`.
    pub fn inline(record: &VgInline, address: BusAddr, fan: Fan) -> Result<Self, AssemblyFault> {
        let source = VertexSource::Coordinates { address };
        Self::new(Mode::vg(record.primitive)?, source, u64::MAX).continue_fan(record.continuation, fan)
    }

    fn continue_fan(mut self, continuation: u8, fan: Fan) -> Result<Self, AssemblyFault> {
        if continuation != 0 && self.mode == Mode::TriangleFan {
            if fan.first.is_none() {
                return Err(AssemblyFault::NoFan);
            }
            self.continued = fan;
        }
        Ok(self)
    }

    /// Kind of primitives.
    pub const fn primitive(&self) -> ListPrimitive {
        self.mode.primitive()
    }

    /// Whether vertices are coordinates.
    pub const fn is_coordinates(&self) -> bool {
        matches!(self.source, VertexSource::Coordinates { .. })
    }

    /// Whether all vertices are taken.
    pub const fn is_done(&self) -> bool {
        self.taken >= self.vertices
    }

    /// Vertices that have not been taken yet.
    pub const fn remaining(&self) -> u64 {
        self.vertices.saturating_sub(self.taken)
    }

    /// Number of primitives of the remaining vertices.
    pub const fn remaining_primitives(&self) -> u64 {
        let left = self.remaining();
        match self.mode {
            Mode::Points | Mode::LineLoop => left,
            Mode::Lines | Mode::Rhts => left / 2,
            Mode::Triangles => left / 3,
            Mode::LineStrip | Mode::RhtStrip if self.count == 0 => left.saturating_sub(1),
            Mode::TriangleStrip | Mode::TriangleFan => left.saturating_sub(2u64.saturating_sub(self.count)),
            Mode::LineStrip | Mode::RhtStrip => left,
        }
    }

    /// The address behind an inline list whose end is found.
    pub fn end_of_inline(&self) -> BusAddr {
        match self.source {
            VertexSource::Coordinates { address } => address + 4 * self.taken as u32,
            _ => BusAddr(0),
        }
    }

    /// The fan that the next list may continue.
    pub const fn fan(&self) -> Fan {
        if !matches!(self.mode, Mode::TriangleFan) || self.count == 0 {
            return Fan { first: None, second: None };
        }
        Fan { first: Some(self.first), second: if self.count > 1 { Some(self.held[1]) } else { None } }
    }

    /// Finds the end of an inline list, without taking anything. `None` if it is not within `limit` vertices.
    pub fn measure_inline(&mut self, memory: Memory<'_>, limit: u64) -> Result<Option<BusAddr>, AssemblyFault> {
        let Some(end) = self.scan_to_end(memory, limit)? else { return Ok(None) };
        self.vertices = end.taken;
        Ok(Some(end.end_of_inline()))
    }

    /// The fan that the next list may continue once this one is drawn. `None` if it has more than `limit` vertices.
    pub fn fan_at_end(&self, memory: Memory<'_>, limit: u64) -> Result<Option<Fan>, AssemblyFault> {
        if !self.is_coordinates() || self.mode != Mode::TriangleFan {
            return Ok(Some(Fan::default()));
        }
        Ok(self.scan_to_end(memory, limit)?.map(|end| end.fan()))
    }

    /// The record after all its vertices are taken.
    fn scan_to_end(&self, memory: Memory<'_>, limit: u64) -> Result<Option<Self>, AssemblyFault> {
        let mut ahead = self.clone();
        let (mut primitives, mut left) = (Vec::new(), limit);
        while !ahead.is_done() {
            let chunk = left.min(AHEAD_VERTICES);
            if chunk == 0 {
                return Ok(None);
            }
            left -= chunk;
            primitives.clear();
            ahead.take(memory, chunk, &mut primitives, |_| ())?;
        }
        Ok(Some(ahead))
    }

    /// Takes the next vertices, at most `vertices`, and appends the primitives that they complete. A fault ends the record; an index that is too
    /// great only ends its primitive.
    pub fn take(
        &mut self,
        memory: Memory<'_>,
        vertices: u64,
        primitives: &mut Vec<[u32; 3]>,
        mut report: impl FnMut(AssemblyFault),
    ) -> Result<(), AssemblyFault> {
        let end = self.taken.saturating_add(vertices);
        let read_ahead = self.read_indices(memory, end.min(self.vertices));
        let mut read_ahead = read_ahead.iter();
        // The end of an inline list shows only when it is reached.
        while self.taken < end.min(self.vertices) {
            let vertex = match read_ahead.next() {
                Some(vertex) => *vertex,
                None => self.vertex(memory).inspect_err(|_| self.vertices = self.taken)?,
            };
            self.taken += 1;
            let made = if self.is_coordinates() { self.push_coordinate(vertex) } else { self.push(vertex) };
            if let Some(primitive) = made {
                self.emit(primitive, primitives, &mut report);
            }
        }
        if self.is_done() && self.mode == Mode::LineLoop && self.count > 1 {
            self.count = 0;
            self.emit([self.held[1], self.first, 0], primitives, &mut report);
        }
        Ok(())
    }

    fn emit(&self, primitive: [u32; 3], primitives: &mut Vec<[u32; 3]>, report: &mut impl FnMut(AssemblyFault)) {
        if let VertexSource::Indices { maximum, .. } = self.source
            && let Some(&index) = primitive.iter().find(|&&index| index > maximum)
        {
            report(AssemblyFault::MaximumIndex { index, maximum });
            return;
        }
        primitives.push(primitive);
    }

    /// The indices from the next one to that before `end`, at once; none if some are outside of memory, or if there are no indices.
    fn read_indices(&self, memory: Memory<'_>, end: u64) -> Vec<u32> {
        let VertexSource::Indices { address, bytes, .. } = self.source else { return Vec::new() };
        let mut read = vec![0; end.saturating_sub(self.taken) as usize * bytes as usize];
        if memory.read(address + (self.taken as u32).wrapping_mul(bytes), &mut read).is_err() {
            return Vec::new();
        }
        match bytes {
            1 => read.into_iter().map(u32::from).collect(),
            _ => read.as_chunks().0.iter().map(|&index| u32::from(u16::from_le_bytes(index))).collect(),
        }
    }

    fn vertex(&self, memory: Memory<'_>) -> Result<u32, OutOfMemory> {
        let n = self.taken as u32;
        match self.source {
            VertexSource::Indices { address, bytes: 1, .. } => Ok(u32::from(memory.byte(address + n)?)),
            VertexSource::Indices { address, .. } => {
                let at = address + n.wrapping_mul(2);
                // Indices need not be aligned.
                Ok(u32::from(memory.byte(at)?) | u32::from(memory.byte(at + 1)?) << 8)
            }
            VertexSource::Range { first } => Ok(first.wrapping_add(n)),
            VertexSource::Coordinates { address } => {
                let mut bytes = [0; 4];
                memory.read(address + n.wrapping_mul(4), &mut bytes)?;
                Ok(u32::from_le_bytes(bytes))
            }
        }
    }

    /// A VG vertex, or one of the codes that may stand in its place.
    fn push_coordinate(&mut self, word: u32) -> Option<[u32; 3]> {
        let triangles = self.primitive() == ListPrimitive::Triangles;
        // Codes may stand for the vertex that completes a primitive, or for the second of a fan's first triangle.
        let completes = match self.mode {
            Mode::TriangleStrip | Mode::TriangleFan => self.count >= 2,
            Mode::RhtStrip => self.count >= 1,
            _ => self.count == if triangles { 2 } else { 1 },
        };
        let fan_second = self.mode == Mode::TriangleFan && self.count == 1;
        if word == vg::TERMINATOR && (completes || fan_second) {
            if fan_second {
                // All three vertices of the triangle are there nevertheless.
                self.taken += 1;
            }
            self.vertices = self.taken;
            return None;
        }
        if word == vg::DUMMY && completes {
            if matches!(self.mode, Mode::Triangles | Mode::Rhts) {
                self.count = 0;
            }
            return None;
        }
        let word = match (self.count, self.continued) {
            (0, Fan { first: Some(first), .. }) => first,
            (1, Fan { second: Some(second), .. }) => second,
            _ => word,
        };
        self.push(word)
    }

    fn push(&mut self, vertex: u32) -> Option<[u32; 3]> {
        if self.count == 0 {
            self.first = vertex;
        }
        let before = self.count;
        self.count += 1;
        let [older, newer] = self.held;
        self.held = [newer, vertex];
        match self.mode {
            Mode::Points => Some([vertex, 0, 0]),
            Mode::Lines | Mode::Rhts if before == 1 => {
                self.count = 0;
                Some([newer, vertex, 0])
            }
            Mode::LineStrip | Mode::LineLoop | Mode::RhtStrip if before >= 1 => Some([newer, vertex, 0]),
            Mode::Triangles if before == 2 => {
                self.count = 0;
                Some([older, newer, vertex])
            }
            Mode::TriangleStrip if before >= 2 => {
                self.odd = !self.odd;
                Some(if !self.odd { [newer, older, vertex] } else { [older, newer, vertex] })
            }
            Mode::TriangleFan if before >= 2 => Some([self.first, newer, vertex]),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::OwnedMemory;

    fn all(assembly: &mut Assembly, memory: Memory<'_>) -> Vec<[u32; 3]> {
        let mut primitives = Vec::new();
        // In small chunks: their borders must not show.
        while !assembly.is_done() {
            assembly.take(memory, 2, &mut primitives, |fault| panic!("{fault}")).unwrap();
        }
        primitives
    }

    fn array(mode: PrimitiveMode, length: u32) -> Vec<[u32; 3]> {
        let record = VertexArrayPrimitives { first_vertex: 10, length, mode };
        all(&mut Assembly::array(&record).unwrap(), OwnedMemory::new(4).view())
    }

    #[test]
    fn every_mode_takes_its_vertices_in_order() {
        assert_eq!(array(PrimitiveMode::Points, 2), [[10, 0, 0], [11, 0, 0]]);
        assert_eq!(array(PrimitiveMode::Lines, 5), [[10, 11, 0], [12, 13, 0]]);
        assert_eq!(array(PrimitiveMode::LineStrip, 3), [[10, 11, 0], [11, 12, 0]]);
        assert_eq!(array(PrimitiveMode::LineLoop, 3), [[10, 11, 0], [11, 12, 0], [12, 10, 0]]);
        assert_eq!(array(PrimitiveMode::LineLoop, 1), [[0; 3]; 0]);
        assert_eq!(array(PrimitiveMode::Triangles, 7), [[10, 11, 12], [13, 14, 15]]);
        assert_eq!(array(PrimitiveMode::TriangleStrip, 5), [[10, 11, 12], [12, 11, 13], [12, 13, 14]]);
        assert_eq!(array(PrimitiveMode::TriangleFan, 5), [[10, 11, 12], [10, 12, 13], [10, 13, 14]]);
    }

    #[test]
    fn indices_of_both_widths_and_their_maximum() {
        let owned = OwnedMemory::new(0x40);
        owned.view().write(BusAddr(0x11), &[1, 2, 3, 200, 1, 0]).unwrap();
        let mut record = IndexedPrimitiveList {
            address: BusAddr(0x11),
            length: 6,
            maximum_index: 0xffff,
            index_type: IndexType::Bits8,
            mode: PrimitiveMode::Triangles,
        };
        assert_eq!(all(&mut Assembly::indexed(&record).unwrap(), owned.view()), [[1, 2, 3], [200, 1, 0]]);
        record = IndexedPrimitiveList { index_type: IndexType::Bits16, length: 3, ..record };
        assert_eq!(all(&mut Assembly::indexed(&record).unwrap(), owned.view()), [[0x201, 0xc803, 1]]);
        record = IndexedPrimitiveList { index_type: IndexType::Bits8, length: 6, maximum_index: 100, ..record };
        let (mut primitives, mut faults) = (Vec::new(), Vec::new());
        let mut assembly = Assembly::indexed(&record).unwrap();
        assembly.take(owned.view(), 100, &mut primitives, |fault| faults.push(fault)).unwrap();
        assert_eq!(primitives, [[1, 2, 3]]);
        assert_eq!(faults, [AssemblyFault::MaximumIndex { index: 200, maximum: 100 }]);
    }

    fn inline(primitive: VgPrimitiveType, words: &[u32]) -> (Vec<[u32; 3]>, BusAddr) {
        let owned = OwnedMemory::new(0x100);
        for (i, word) in words.iter().enumerate() {
            owned.view().write(BusAddr(0x13 + 4 * i as u32), &word.to_le_bytes()).unwrap();
        }
        let record = VgInline { continuation: 0, primitive };
        let mut assembly = Assembly::inline(&record, BusAddr(0x13), Fan::default()).unwrap();
        (all(&mut assembly, owned.view()), assembly.end_of_inline())
    }

    #[test]
    fn inline_lists_end_at_their_code() {
        let end = vg::TERMINATOR;
        let dummy = vg::DUMMY;
        let at = |words: u32| BusAddr(0x13 + 4 * words);
        assert_eq!(inline(VgPrimitiveType::Triangles, &[1, 2, 3, 4, 5, dummy, 6, 7, end]), (vec![[1, 2, 3]], at(9)));
        assert_eq!(inline(VgPrimitiveType::Rhts, &[1, 2, 3, dummy, 4, 5, 6, end]), (vec![[1, 2, 0], [4, 5, 0]], at(8)));
        assert_eq!(inline(VgPrimitiveType::RhtStrip, &[1, 2, 3, end]), (vec![[1, 2, 0], [2, 3, 0]], at(4)));
        assert_eq!(inline(VgPrimitiveType::TriangleFan, &[1, 2, 3, 4, end]), (vec![[1, 2, 3], [1, 3, 4]], at(5)));
        // On the second vertex of a fan; the third is there all the same.
        assert_eq!(inline(VgPrimitiveType::TriangleFan, &[1, end, 9]), (vec![], at(3)));
    }

    #[test]
    fn a_fan_goes_on_in_the_next_list() {
        let owned = OwnedMemory::new(0x100);
        let words = [1u32, 2, 3, vg::TERMINATOR, 77, 78, 4, 5];
        for (i, word) in words.iter().enumerate() {
            owned.view().set_word(BusAddr(4 * i as u32), *word).unwrap();
        }
        let record = VgInline { continuation: 0, primitive: VgPrimitiveType::TriangleFan };
        let mut first = Assembly::inline(&record, BusAddr(0), Fan::default()).unwrap();
        assert_eq!(all(&mut first, owned.view()), [[1, 2, 3]]);
        let next = VgCoordinateArray {
            address: first.end_of_inline(),
            length: 4,
            continuation: 1,
            primitive: VgPrimitiveType::TriangleFan,
        };
        let mut second = Assembly::coordinates(&next, first.fan()).unwrap();
        assert_eq!(all(&mut second, owned.view()), [[1, 3, 4], [1, 4, 5]]);
        assert_eq!(Assembly::coordinates(&next, Fan::default()).map(|_| ()), Err(AssemblyFault::NoFan));
    }

    /// As counted by Broadcom's driver and published demos: 4 vertices are two triangles of a strip, 6 are two triangles or three RHTs.
    #[test]
    fn the_length_of_coordinate_arrays_counts_vertices() {
        let owned = OwnedMemory::new(0x100);
        for n in 0..16 {
            owned.view().set_word(BusAddr(4 * n), n).unwrap();
        }
        let drawn = |primitive, length| {
            let record = VgCoordinateArray { address: BusAddr(0), length, continuation: 0, primitive };
            all(&mut Assembly::coordinates(&record, Fan::default()).unwrap(), owned.view())
        };
        assert_eq!(drawn(VgPrimitiveType::Triangles, 6), [[0, 1, 2], [3, 4, 5]]);
        assert_eq!(drawn(VgPrimitiveType::TriangleStrip, 4), [[0, 1, 2], [2, 1, 3]]);
        assert_eq!(drawn(VgPrimitiveType::TriangleFan, 5), [[0, 1, 2], [0, 2, 3], [0, 3, 4]]);
        assert_eq!(drawn(VgPrimitiveType::Rhts, 6), [[0, 1, 0], [2, 3, 0], [4, 5, 0]]);
        assert_eq!(drawn(VgPrimitiveType::RhtStrip, 3), [[0, 1, 0], [1, 2, 0]]);
        assert_eq!(drawn(VgPrimitiveType::Triangles, 2), [[0; 3]; 0]);
    }

    #[test]
    fn indices_outside_of_memory_end_the_record() {
        let owned = OwnedMemory::new(0x10);
        let record = IndexedPrimitiveList { address: BusAddr(0x0e), length: 6, maximum_index: 9, ..Default::default() };
        let mut assembly = Assembly::indexed(&record).unwrap();
        let mut primitives = Vec::new();
        assert!(matches!(assembly.take(owned.view(), 9, &mut primitives, |_| ()), Err(AssemblyFault::Memory(_))));
        assert!(assembly.is_done());
        assert_eq!(primitives.len(), 2);
    }
}
