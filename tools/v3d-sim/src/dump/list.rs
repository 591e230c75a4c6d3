//! Dumps of control lists.

use super::{Dump, SubList, shader};
use crate::binning::primitive_list::{branch_target, vertices_of};
use crate::state::{PipelineState, ShaderRecords};
use v3d_hw::control_list::{
    ControlRecord, DrawRecord, IndexType, MAX_RECORD_BYTES, PrimitiveListFormat, Record, RecordGroup, StateRecord,
    TileCoordinates, TileRecord,
};
use v3d_hw::primitive_list::{
    CLIPPED_VERTEX_BYTES, ClippedVertex, ClippedVertexCoefficients, Item, MAX_ITEM_BYTES, vg,
};
use v3d_hw::{BusAddr, Layout};

/// Maximum number of indices of a draw that are shown.
const SHOWN_INDICES: u32 = 24;

/// What the records of a list so far have set.
struct Reader {
    state: PipelineState,
    tile: Option<TileCoordinates>,
    /// Address of the GL shader record in use.
    shader: Option<u32>,
    /// Bytes of the list.
    length: u64,
    /// It ends with Return from Sub-list.
    is_sub_list: bool,
}

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
    pub(super) fn list(&mut self, start: BusAddr, end: Option<BusAddr>, state: PipelineState) -> u64 {
        let mut reader = Reader { state, tile: None, shader: None, length: 0, is_sub_list: end.is_none() };
        let mut at = start;
        while end != Some(at) {
            let Some(budget) = self.budget.checked_sub(1) else {
                self.line(format_args!("{at}  ... the dump ends here: too many records"));
                return reader.length;
            };
            self.budget = budget;
            let (bytes, available) = self.bytes::<MAX_RECORD_BYTES>(at);
            let record = match Record::decode(&bytes[..available]) {
                Ok(record) => record,
                Err(error) => {
                    self.line(format_args!("{at}  {error}"));
                    return reader.length;
                }
            };
            self.record(at, &record, &bytes);
            reader.length += record.bytes() as u64;
            let behind = at + record.bytes() as u32;
            let next = match record.group() {
                RecordGroup::Control(control) => self.control(control, behind, &reader),
                RecordGroup::State(state) => {
                    self.state(state, &mut reader);
                    Some(behind)
                }
                RecordGroup::Draw(draw) => self.draw(draw, behind, &mut reader),
                RecordGroup::Tile(tile) => {
                    self.tile(tile, &mut reader);
                    Some(behind)
                }
            };
            match next {
                Some(next) => at = next,
                None => return reader.length,
            }
        }
        self.line(format_args!("{at}  (end)"));
        reader.length
    }

    /// Where the list goes on; `None` if it ends.
    fn control(&mut self, record: ControlRecord, behind: BusAddr, reader: &Reader) -> Option<BusAddr> {
        match record {
            ControlRecord::Branch(branch) if self.seen_lists.insert(branch.address.0) => Some(branch.address),
            ControlRecord::Branch(_) => {
                self.line(format_args!("                (shown above)"));
                None
            }
            ControlRecord::BranchToSubList(branch) => {
                self.call(branch.address, reader.tile, reader.state.list_format);
                Some(behind)
            }
            ControlRecord::ReturnFromSubList if reader.is_sub_list => None,
            ControlRecord::Halt => None,
            ControlRecord::ReturnFromSubList
            | ControlRecord::Nop
            | ControlRecord::Flush
            | ControlRecord::FlushAllState
            | ControlRecord::StartTileBinning
            | ControlRecord::IncrementSemaphore
            | ControlRecord::WaitOnSemaphore
            | ControlRecord::TileBinningMode(_) => Some(behind),
        }
    }

    fn state(&mut self, record: StateRecord, reader: &mut Reader) {
        if let Err(fault) = reader.state.apply(record, self.memory, &mut ShaderRecords::default()) {
            self.line(format_args!("                {fault}"));
        }
        reader.shader = match record {
            StateRecord::GlShaderState(data) => {
                self.shader_records.entry(data.address.0.0).or_insert(shader::Mode::Gl(data));
                Some(data.address.0.0)
            }
            StateRecord::NvShaderState(data) => {
                self.shader_records.entry(data.address.0).or_insert(shader::Mode::Nv);
                None
            }
            StateRecord::VgShaderState(data) => {
                self.shader_records.entry(data.address.0).or_insert(shader::Mode::Vg);
                None
            }
            StateRecord::VgInlineShader(data) => {
                let uses = self.programs.entry(data.code.0.0).or_default();
                uses.add("fragment shader", data.uniforms.0);
                None
            }
            StateRecord::PrimitiveListFormat(_)
            | StateRecord::ConfigurationBits(_)
            | StateRecord::FlatShadeFlags(_)
            | StateRecord::PointSize(_)
            | StateRecord::LineWidth(_)
            | StateRecord::RhtXBoundary(_)
            | StateRecord::DepthOffset(_)
            | StateRecord::ClipWindow(_)
            | StateRecord::ViewportOffset(_)
            | StateRecord::ZClippingPlanes(_)
            | StateRecord::ClipperXyScaling(_)
            | StateRecord::ClipperZScaleOffset(_) => reader.shader,
        };
    }

    /// Primitives; returns where the list goes on, `None` if that cannot be found.
    fn draw(&mut self, record: DrawRecord, behind: BusAddr, reader: &mut Reader) -> Option<BusAddr> {
        match record {
            DrawRecord::IndexedPrimitiveList(list) => {
                self.count_draw(list.length);
                self.count_vertices(reader.shader, list.maximum_index.saturating_add(1));
                self.indices(list.address, list.length, list.index_type == IndexType::Bits16);
            }
            DrawRecord::VertexArrayPrimitives(list) => {
                self.count_draw(list.length);
                self.count_vertices(reader.shader, list.first_vertex.saturating_add(list.length));
            }
            DrawRecord::VgCoordinateArray(list) => self.count_draw(list.length),
            DrawRecord::VgInline(_) => {
                self.count_draw(0);
                return self.vg_inline(behind);
            }
            DrawRecord::CompressedPrimitiveList => return self.compressed(behind, reader),
            DrawRecord::ClippedPrimitive(clipped) => {
                self.clipped(clipped.address.0, clipped.vertices);
                return self.compressed(behind, reader);
            }
        }
        Some(behind)
    }

    fn tile(&mut self, record: TileRecord, reader: &mut Reader) {
        match record {
            TileRecord::TileRenderingMode(mode) => self.survey.rendering_mode = Some(mode),
            TileRecord::TileCoordinates(coordinates) => reader.tile = Some(coordinates),
            TileRecord::ClearColors(_)
            | TileRecord::StoreResolved
            | TileRecord::StoreResolvedEndOfFrame
            | TileRecord::StoreFullResolution(_)
            | TileRecord::LoadFullResolution(_)
            | TileRecord::StoreGeneral(_)
            | TileRecord::LoadGeneral(_) => {}
        }
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
    fn compressed(&mut self, start: BusAddr, reader: &mut Reader) -> Option<BusAddr> {
        let format = reader.state.list_format;
        let mut at = start;
        loop {
            self.budget = self.budget.checked_sub(1)?;
            let (bytes, available) = self.bytes::<MAX_ITEM_BYTES>(at);
            match Item::decode(format.data_type, format.primitive, &bytes[..available]) {
                Ok(item) => {
                    let hex: Vec<_> = bytes[..item.bytes()].iter().map(|byte| format!("{byte:02x}")).collect();
                    self.line(format_args!("  {at}      {item}  [{}]", hex.join(" ")));
                    reader.length += item.bytes() as u64;
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
