//! Tile lists as the PTB writes them: state records, compressed primitive lists, branches.
//!
//! A list begins in the tile's initial block and continues in blocks of the pool. Within a compressed list a relative branch leads to the next block;
//! where that is out of reach, and between records, it is a Branch record. Every block keeps room for leaving it, and so for the Return from Sub-list
//! that ends the list.

use super::pool::{Exhausted, Overspill, Pool};
use crate::binning::primitive_list::{self, Coded, EncodeError, Encoder};
use crate::memory::{Memory, OutOfMemory};
use v3d_hw::control_list::{Branch, ClippedPrimitive, PrimitiveListFormat, Record};
use v3d_hw::primitive_list::{ESCAPE, Item};
use v3d_hw::{BusAddr, FieldError};

/// Bytes of a Branch record.
const BRANCH_BYTES: u32 = 5;
/// Bytes of an escape code.
const ESCAPE_BYTES: u32 = 1;

/// The error of writing to a tile's list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WriteError {
    /// No memory for another block; nothing has been written.
    Exhausted,
    /// The list leaves memory.
    Memory(OutOfMemory),
    /// The primitive has no coding.
    Encode(EncodeError),
    /// A value of a record does not fit.
    Field(FieldError),
}

impl From<Exhausted> for WriteError {
    fn from(_: Exhausted) -> Self {
        Self::Exhausted
    }
}

impl From<OutOfMemory> for WriteError {
    fn from(error: OutOfMemory) -> Self {
        Self::Memory(error)
    }
}

impl From<EncodeError> for WriteError {
    fn from(error: EncodeError) -> Self {
        Self::Encode(error)
    }
}

impl From<FieldError> for WriteError {
    fn from(error: FieldError) -> Self {
        Self::Field(error)
    }
}

/// The source of blocks, and their size.
#[derive(Debug)]
pub struct Blocks<'a> {
    /// The pool.
    pub pool: &'a mut Pool,
    /// What follows it.
    pub overspill: &'a mut Overspill,
    /// Size of a block in bytes.
    pub block_bytes: u32,
}

/// The end of a tile's list.
#[derive(Clone, Copy, Debug)]
pub struct TileList {
    /// Address of the next byte.
    cursor: BusAddr,
    /// Bytes left of the block.
    left: u32,
    /// The compressed list that is open, if one is.
    open: Option<Encoder>,
    /// State counter up to which the list has all state.
    pub known_state: u32,
}

impl TileList {
    /// A list that begins in a block of `bytes` bytes; a tile without an initial block has 0.
    pub const fn new(block: BusAddr, bytes: u32) -> Self {
        Self { cursor: block, left: bytes, open: None, known_state: 0 }
    }

    /// Address of the next byte.
    pub const fn cursor(&self) -> BusAddr {
        self.cursor
    }

    /// Writes a record as it is.
    pub fn record(&mut self, memory: Memory<'_>, blocks: &mut Blocks<'_>, bytes: &[u8]) -> Result<(), WriteError> {
        self.close(memory)?;
        self.reserve(memory, blocks, bytes.len() as u32)?;
        Ok(self.write(memory, bytes)?)
    }

    /// Writes a primitive, to the open compressed list or to a new one.
    pub fn primitive(
        &mut self,
        memory: Memory<'_>,
        blocks: &mut Blocks<'_>,
        format: PrimitiveListFormat,
        vertices: [u32; 3],
        clipped: Option<ClippedPrimitive>,
    ) -> Result<(), WriteError> {
        if clipped.is_none()
            && let Some(mut encoder) = self.open
        {
            let item = encoder.encode(vertices)?;
            if self.left < item.bytes as u32 + ESCAPE_BYTES + BRANCH_BYTES {
                self.chain(memory, blocks)?;
            }
            // An absolute branch has closed the list.
            if self.open.is_some() {
                self.open = Some(encoder);
                return Ok(self.write_item(memory, item)?);
            }
        }
        let mut encoder = Encoder::new(format);
        let item = encoder.encode(vertices)?;
        let header = clipped.map_or(Record::CompressedPrimitiveList, Record::ClippedPrimitive);
        self.close(memory)?;
        self.reserve(memory, blocks, (header.bytes() + item.bytes) as u32 + ESCAPE_BYTES)?;
        self.write(memory, &header.encode()?[..header.bytes()])?;
        self.write_item(memory, item)?;
        self.open = Some(encoder);
        Ok(())
    }

    /// Ends the list. There is always room for that, except in a tile that never got a block.
    pub fn finish(&mut self, memory: Memory<'_>, blocks: &mut Blocks<'_>) -> Result<(), WriteError> {
        self.close(memory)?;
        if self.left == 0 {
            self.reserve(memory, blocks, 1)?;
        }
        Ok(self.write(memory, &[Record::ReturnFromSubList.code()])?)
    }

    /// Ends the compressed list if one is open.
    fn close(&mut self, memory: Memory<'_>) -> Result<(), OutOfMemory> {
        if self.open.take().is_some() {
            self.write_item(memory, Coded { bits: ESCAPE.into(), bytes: 1 })?;
        }
        Ok(())
    }

    /// Makes room for `bytes` bytes and a Branch record behind them.
    fn reserve(&mut self, memory: Memory<'_>, blocks: &mut Blocks<'_>, bytes: u32) -> Result<(), WriteError> {
        if self.left < bytes + BRANCH_BYTES { self.chain(memory, blocks) } else { Ok(()) }
    }

    /// Continues in a new block.
    fn chain(&mut self, memory: Memory<'_>, blocks: &mut Blocks<'_>) -> Result<(), WriteError> {
        let block = blocks.pool.take(blocks.block_bytes, blocks.overspill)?;
        match (self.open, primitive_list::branch_to(self.cursor, block)) {
            (Some(_), Some(branch)) => {
                self.write_item(memory, Coded::new(Item::Branch(branch))?)?;
            }
            // A tile without an initial block: nothing leads to its list.
            (None, _) if self.left == 0 => {}
            _ => {
                self.close(memory)?;
                let branch = Record::Branch(Branch { address: block });
                self.write(memory, &branch.encode()?[..branch.bytes()])?;
            }
        }
        self.cursor = block;
        self.left = blocks.block_bytes;
        Ok(())
    }

    /// Blocks are the PTB's alone.
    fn write_item(&mut self, memory: Memory<'_>, item: Coded) -> Result<(), OutOfMemory> {
        memory.write_alone(self.cursor, item.bits, item.bytes)?;
        self.advance(item.bytes as u32);
        Ok(())
    }

    fn write(&mut self, memory: Memory<'_>, bytes: &[u8]) -> Result<(), OutOfMemory> {
        memory.write(self.cursor, bytes)?;
        self.advance(bytes.len() as u32);
        Ok(())
    }

    fn advance(&mut self, bytes: u32) {
        self.cursor = self.cursor + bytes;
        self.left = self.left.saturating_sub(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::OwnedMemory;
    use v3d_hw::primitive_list::{ListDataType, ListPrimitive};

    const TRIANGLES: PrimitiveListFormat =
        PrimitiveListFormat { data_type: ListDataType::Index16, primitive: ListPrimitive::Triangles };

    /// The contents of a list, followed from its first byte to its Return.
    #[derive(Debug, PartialEq)]
    enum Said {
        Record(u8),
        Primitives(Vec<[u32; 3]>),
        Clipped(u8, Vec<[u32; 3]>),
    }

    fn follow(memory: Memory<'_>, start: u32) -> Vec<Said> {
        let mut said = Vec::new();
        let mut at = BusAddr(start);
        loop {
            let mut bytes = [0; 16];
            memory.read(at, &mut bytes).unwrap();
            let record = Record::decode(&bytes).unwrap();
            let next = at + record.bytes() as u32;
            at = match record {
                Record::Branch(branch) => branch.address,
                Record::ReturnFromSubList => return said,
                Record::CompressedPrimitiveList | Record::ClippedPrimitive(_) => {
                    let clipped = if let Record::ClippedPrimitive(clipped) = record { Some(clipped) } else { None };
                    let mut list = Vec::new();
                    let next = primitive_list::read(memory, next, TRIANGLES, clipped, &mut 100_000, &mut list).unwrap();
                    let vertices = list.iter().map(|primitive| primitive.vertices).collect();
                    said.push(match clipped {
                        Some(clipped) => Said::Clipped(clipped.vertices, vertices),
                        None => Said::Primitives(vertices),
                    });
                    next
                }
                other => {
                    said.push(Said::Record(other.code()));
                    next
                }
            };
        }
    }

    #[test]
    fn lists_of_every_block_size_read_back_as_written() {
        for block_bytes in [32, 64, 128, 256] {
            let owned = OwnedMemory::new(0x40_0000);
            let memory = owned.view();
            // Overspill memory out of reach of relative branches.
            let mut pool = Pool::configured(0x1100, 0x800, 0);
            let mut overspill = Overspill { address: 0x30_0000, bytes: 0x8000 };
            let mut blocks = Blocks { pool: &mut pool, overspill: &mut overspill, block_bytes };
            let mut list = TileList::new(BusAddr(0x1020), 32);
            let mut expected = Vec::new();
            for round in 0..20u32 {
                list.record(memory, &mut blocks, &[97, 1, 2, 3, 4]).unwrap();
                expected.push(Said::Record(97));
                let mut triangles = Vec::new();
                for i in 0..100 {
                    let triangle = [i * 7 * round % 5000, (i + round) % 6000, i * i % 65536];
                    list.primitive(memory, &mut blocks, TRIANGLES, triangle, None).unwrap();
                    triangles.push(triangle);
                }
                expected.push(Said::Primitives(triangles));
                let clipped = ClippedPrimitive { address: BusAddr(0x40).into(), vertices: 5 };
                list.primitive(memory, &mut blocks, TRIANGLES, [1, 2, 3], Some(clipped)).unwrap();
                list.primitive(memory, &mut blocks, TRIANGLES, [3, 2, 4], None).unwrap();
                expected.push(Said::Clipped(5, vec![[1, 2, 3], [3, 2, 4]]));
            }
            list.finish(memory, &mut blocks).unwrap();
            assert!(blocks.pool.spill_used);
            // An absolute branch splits one list of primitives into two.
            let mut said: Vec<Said> = Vec::new();
            for item in follow(memory, 0x1020) {
                match (said.last_mut(), item) {
                    (Some(Said::Primitives(before) | Said::Clipped(_, before)), Said::Primitives(more)) => {
                        before.extend(more)
                    }
                    (_, item) => said.push(item),
                }
            }
            assert_eq!(said, expected, "blocks of {block_bytes} bytes");
        }
    }

    #[test]
    fn without_memory_a_list_still_ends() {
        let owned = OwnedMemory::new(0x2000);
        let memory = owned.view();
        let (mut pool, mut overspill) = (Pool::configured(0x1100, 0, 0), Overspill::default());
        let mut blocks = Blocks { pool: &mut pool, overspill: &mut overspill, block_bytes: 128 };
        let mut list = TileList::new(BusAddr(0x1020), 32);
        let mut written = Vec::new();
        let refused = (0..100).find(|&i| {
            let triangle = [i * 100, 5, 70];
            let result = list.primitive(memory, &mut blocks, TRIANGLES, triangle, None);
            if result.is_ok() {
                written.push(triangle);
            }
            result == Err(WriteError::Exhausted)
        });
        assert!(refused.is_some());
        list.finish(memory, &mut blocks).unwrap();
        assert_eq!(follow(memory, 0x1020), [Said::Primitives(written)]);
        assert!(list.cursor().0 <= 0x1040);
        assert_eq!(memory.word(BusAddr(0x1040)), Ok(0));
    }
}
