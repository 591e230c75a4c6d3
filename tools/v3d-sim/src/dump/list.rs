//! Dumps of control lists.

use super::{Dump, SubList, shader};
use crate::primitive_list::{branch_target, vertices_of};
use crate::state::PipelineState;
use v3d_hw::control_list::{IndexType, MAX_RECORD_BYTES, PrimitiveListFormat, Record, TileCoordinates};
use v3d_hw::primitive_list::{
    CLIPPED_VERTEX_BYTES, ClippedVertex, ClippedVertexCoefficients, Item, MAX_ITEM_BYTES, vg,
};
use v3d_hw::{BusAddr, Layout};

/// Maximum number of indices of a draw that are shown.
const SHOWN_INDICES: u32 = 24;

impl Dump<'_> {
    /// Up to `N` bytes, and how many of them are in memory.
    fn bytes<const N: usize>(&self, at: BusAddr) -> ([u8; N], usize) {
        let mut bytes = [0; N];
        let left = self.memory.bytes().saturating_sub(u64::from(at.offset()));
        let available = left.min(N as u64) as usize;
        if self.memory.read(at, &mut bytes[..available]).is_err() {
            return (bytes, 0);
        }
        (bytes, available)
    }

    /// A list, to its end address, or to the record that ends it; returns its length in bytes.
    pub(super) fn list(&mut self, start: BusAddr, end: Option<BusAddr>, mut state: PipelineState) -> u64 {
        let mut at = start;
        let mut length = 0;
        let mut tile: Option<TileCoordinates> = None;
        let mut shader: Option<u32> = None;
        while end != Some(at) {
            let Some(budget) = self.budget.checked_sub(1) else {
                self.line(format_args!("{at}  ... the dump ends here: too many records"));
                return length;
            };
            self.budget = budget;
            let (bytes, available) = self.bytes::<MAX_RECORD_BYTES>(at);
            let record = match Record::decode(&bytes[..available]) {
                Ok(record) => record,
                Err(error) => {
                    self.line(format_args!("{at}  {error}"));
                    return length;
                }
            };
            self.record(at, &record, &bytes);
            if let Err(fault) = state.apply(&record, self.memory) {
                self.line(format_args!("                {fault}"));
            }
            length += record.bytes() as u64;
            let next = at + record.bytes() as u32;
            match record {
                Record::IndexedPrimitiveList(list) => {
                    self.count_draw(list.length);
                    self.count_vertices(shader, list.maximum_index.saturating_add(1));
                }
                Record::VertexArrayPrimitives(list) => {
                    self.count_draw(list.length);
                    self.count_vertices(shader, list.first_vertex.saturating_add(list.length));
                }
                Record::GlShaderState(data) => shader = Some(data.address.0.0),
                Record::NvShaderState(_) | Record::VgShaderState(_) | Record::VgInlineShader(_) => shader = None,
                Record::VgCoordinateArray(list) => self.count_draw(list.length),
                Record::VgInline(_) => self.count_draw(0),
                Record::TileRenderingMode(mode) => self.survey.rendering_mode = Some(mode),
                Record::Halt
                | Record::Nop
                | Record::Flush
                | Record::FlushAllState
                | Record::StartTileBinning
                | Record::IncrementSemaphore
                | Record::WaitOnSemaphore
                | Record::Branch(_)
                | Record::BranchToSubList(_)
                | Record::ReturnFromSubList
                | Record::TileBinningMode(_)
                | Record::CompressedPrimitiveList
                | Record::ClippedPrimitive(_)
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
                | Record::StoreResolved
                | Record::StoreResolvedEndOfFrame
                | Record::StoreFullResolution(_)
                | Record::LoadFullResolution(_)
                | Record::StoreGeneral(_)
                | Record::LoadGeneral(_)
                | Record::ClearColors(_)
                | Record::TileCoordinates(_) => {}
            }
            at = match record {
                Record::Branch(branch) => {
                    if !self.seen_lists.insert(branch.address.0) {
                        self.line(format_args!("                (shown above)"));
                        return length;
                    }
                    branch.address
                }
                Record::BranchToSubList(branch) => {
                    self.call(branch.address, tile, state.list_format);
                    next
                }
                Record::ReturnFromSubList if end.is_none() => return length,
                Record::Halt => return length,
                Record::TileCoordinates(coordinates) => {
                    tile = Some(coordinates);
                    next
                }
                Record::CompressedPrimitiveList => match self.compressed(next, &state, &mut length) {
                    Some(next) => next,
                    None => return length,
                },
                Record::ClippedPrimitive(clipped) => {
                    self.clipped(clipped.address.0, clipped.vertices);
                    match self.compressed(next, &state, &mut length) {
                        Some(next) => next,
                        None => return length,
                    }
                }
                Record::VgInline(_) => match self.vg_inline(next) {
                    Some(next) => next,
                    None => return length,
                },
                Record::IndexedPrimitiveList(list) => {
                    self.indices(list.address, list.length, list.index_type == IndexType::Bits16);
                    next
                }
                Record::GlShaderState(data) => {
                    self.shader_records.entry(data.address.0.0).or_insert(shader::Record::Gl(data));
                    next
                }
                Record::NvShaderState(data) => {
                    self.shader_records.entry(data.address.0).or_insert(shader::Record::Nv);
                    next
                }
                Record::VgShaderState(data) => {
                    self.shader_records.entry(data.address.0).or_insert(shader::Record::Vg);
                    next
                }
                Record::VgInlineShader(data) => {
                    let uses = self.programs.entry(data.code.0.0).or_default();
                    uses.add("fragment shader", data.uniforms.0);
                    next
                }
                _ => next,
            };
        }
        self.line(format_args!("{at}  (end)"));
        length
    }

    fn count_draw(&mut self, vertices: u32) {
        self.survey.draws += 1;
        self.survey.vertices += u64::from(vertices);
    }

    /// Counts the vertices that the draws with a GL shader record read.
    fn count_vertices(&mut self, shader: Option<u32>, vertices: u32) {
        if let Some(shader) = shader {
            let most = self.vertices.entry(shader).or_default();
            *most = vertices.max(*most);
        }
    }

    fn record(&mut self, at: BusAddr, record: &Record, bytes: &[u8; MAX_RECORD_BYTES]) {
        let info = record.info();
        let hex: Vec<_> = bytes[..info.bytes].iter().map(|byte| format!("{byte:02x}")).collect();
        self.line(format_args!("{at}  {:3} {}  [{}]", info.code, info.name, hex.join(" ")));
        let mut data = [0; 16];
        data[..info.bytes - 1].copy_from_slice(&bytes[1..info.bytes]);
        self.fields(info.fields, u128::from_le_bytes(data));
    }

    /// Queues a sub-list.
    fn call(&mut self, address: BusAddr, tile: Option<TileCoordinates>, format: PrimitiveListFormat) {
        if !self.seen_lists.insert(address.0) {
            return;
        }
        let tile = tile.map(|TileCoordinates { row, column }| (column, row));
        self.sub_lists.push_back(SubList { at: address.0, tile, format });
    }

    /// The items of a compressed list; returns the address behind it.
    fn compressed(&mut self, start: BusAddr, state: &PipelineState, length: &mut u64) -> Option<BusAddr> {
        let format = state.list_format;
        let mut at = start;
        loop {
            self.budget = self.budget.checked_sub(1)?;
            let (bytes, available) = self.bytes::<MAX_ITEM_BYTES>(at);
            match Item::decode(format.data_type, format.primitive, &bytes[..available]) {
                Ok(item) => {
                    let hex: Vec<_> = bytes[..item.bytes()].iter().map(|byte| format!("{byte:02x}")).collect();
                    self.line(format_args!("  {at}      {item}  [{}]", hex.join(" ")));
                    *length += item.bytes() as u64;
                    match item {
                        Item::Escape => return Some(at + 1),
                        Item::Branch(branch) => at = branch_target(at, branch),
                        _ => at = at + item.bytes() as u32,
                    }
                }
                Err(error) => {
                    self.line(format_args!("  {at}      {error} ({} vertices each)", vertices_of(format.primitive)));
                    return None;
                }
            }
        }
    }

    /// The vertices of a clipped primitive.
    fn clipped(&mut self, address: BusAddr, vertices: u8) {
        for vertex in 0..vertices.count_ones() {
            let at = address + vertex * CLIPPED_VERTEX_BYTES;
            let (bytes, _) = self.bytes::<16>(at);
            self.line(format_args!("  {at}      {}", ClippedVertex::from_bits(u128::from_le_bytes(bytes))));
            let at = at + 16;
            let (bytes, _) = self.bytes::<16>(at);
            self.line(format_args!("  {at}      {}", ClippedVertexCoefficients::from_bits(u128::from_le_bytes(bytes))));
        }
    }

    /// Words of a VG inline list; returns the address behind it.
    fn vg_inline(&mut self, start: BusAddr) -> Option<BusAddr> {
        let mut at = start;
        loop {
            self.budget = self.budget.checked_sub(1)?;
            let (bytes, _) = self.bytes::<4>(at);
            let word = u32::from_le_bytes(bytes);
            self.line(format_args!("  {at}      x {} y {} [{word:#010x}]", word as i16, (word >> 16) as i16));
            at = at + 4;
            if word == vg::TERMINATOR {
                return Some(at);
            }
        }
    }

    fn indices(&mut self, address: BusAddr, length: u32, wide: bool) {
        let shown = (0..length.min(SHOWN_INDICES)).map(|i| {
            let index = if wide {
                self.memory.half(address + 2 * i).map(u32::from)
            } else {
                self.memory.byte(address + i).map(u32::from)
            };
            index.map_or_else(|_| "?".to_owned(), |index| index.to_string())
        });
        let shown: Vec<_> = shown.collect();
        let more = if length > SHOWN_INDICES { " ..." } else { "" };
        self.line(format_args!("  {address}      indices {}{more}", shown.join(" ")));
    }
}
