//! The bytes of the partition, with the blocks that were used last
//!
//! The file system reads and writes a few bytes at a time, in places far from each other: tables, directories, files. A page of the cache has several blocks,
//! which are read at once. What was written goes to the card when the page makes room for another, and at the end.

use alloc::{boxed::Box, vec::Vec};
use core::{cell::RefCell, fmt};

use axfatfs::{IoBase, IoError, Read, Seek, SeekFrom, Write};
use bcm283x::sd_card::CardError;

use super::{
    blocks::{BLOCK_BYTES, Blocks},
    partition::{Partition, PartitionError},
};

/// Blocks of a page.
const PAGE_BLOCKS: u32 = 8;
const PAGE_BYTES: usize = PAGE_BLOCKS as usize * BLOCK_BYTES;
/// Pages: 256 KiB.
const PAGES: usize = 64;
/// Accesses during a command. A file of 16 MiB in clusters of 512 bytes takes a hundred thousand, and a search for a free cluster through a table of 32 GB in
/// clusters of 32 KiB a million.
const MOST_ACCESSES: u32 = 4_000_000;

/// Why bytes of the partition cannot be read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheError {
    /// The card cannot be used.
    Card(CardError),
    /// There is no partition.
    Partition(PartitionError),
    /// The file system refers to what is not in its partition.
    Outside,
    /// More accesses than a command needs: the file system leads in a circle.
    Endless,
    /// A read or a write of several bytes ended early.
    Short,
}

impl fmt::Display for CacheError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Card(error) => error.fmt(f),
            Self::Partition(error) => error.fmt(f),
            Self::Outside => f.write_str("the file system is damaged: it refers to what is not in its partition"),
            Self::Endless => f.write_str("the file system is damaged: it leads in a circle"),
            Self::Short => f.write_str("the file system is damaged: it ends early"),
        }
    }
}

impl core::error::Error for CacheError {}

impl From<CardError> for CacheError {
    fn from(error: CardError) -> Self {
        Self::Card(error)
    }
}

impl IoError for CacheError {
    fn is_interrupted(&self) -> bool {
        false
    }

    fn new_unexpected_eof_error() -> Self {
        Self::Short
    }

    fn new_write_zero_error() -> Self {
        Self::Short
    }
}

/// Blocks in memory.
struct Page {
    /// Number of the page in the partition.
    number: u32,
    /// The blocks that differ from the card's, a bit each.
    changed: u8,
    /// When it was used last.
    used: u32,
    bytes: Box<[u8]>,
}

/// A partition's blocks.
pub struct Cache<D> {
    device: D,
    partition: Partition,
    pages: Vec<Page>,
    accesses: u32,
    /// The page that was used last.
    last: usize,
}

impl<D: Blocks> Cache<D> {
    /// The first FAT partition of a device.
    ///
    /// # Errors
    /// When there is no device, or no such partition.
    pub fn new(mut device: D) -> Result<Self, CacheError> {
        let blocks = device.count()?;
        let mut first = [0; BLOCK_BYTES];
        device.read(0, &mut first)?;
        let partition = Partition::find(&first, blocks).map_err(CacheError::Partition)?;
        Ok(Self { device, partition, pages: Vec::new(), accesses: 0, last: 0 })
    }

    /// Whether nothing can be written.
    ///
    /// # Errors
    /// When the card can no longer be used.
    pub fn is_write_protected(&mut self) -> Result<bool, CacheError> {
        Ok(self.device.is_write_protected()?)
    }

    /// Bytes of the partition.
    fn bytes(&self) -> u64 {
        u64::from(self.partition.count) * BLOCK_BYTES as u64
    }

    /// Blocks of a page, the last of which may have less.
    fn blocks_of(&self, number: u32) -> u32 {
        self.partition.count.saturating_sub(number * PAGE_BLOCKS).min(PAGE_BLOCKS)
    }

    /// Writes the blocks of a page that were changed.
    fn store(&mut self, index: usize) -> Result<(), CacheError> {
        let Self { device, partition, pages, .. } = self;
        let page = &mut pages[index];
        let mut block = 0;
        while page.changed != 0 && block < PAGE_BLOCKS {
            let run = (page.changed >> block).trailing_ones();
            if run == 0 {
                block += 1;
                continue;
            }
            let bytes = &page.bytes[block as usize * BLOCK_BYTES..(block + run) as usize * BLOCK_BYTES];
            device.write(partition.first + page.number * PAGE_BLOCKS + block, bytes)?;
            block += run;
        }
        page.changed = 0;
        Ok(())
    }

    /// Writes all that was changed to the device.
    ///
    /// # Errors
    /// When the device does not take it.
    pub fn store_all(&mut self) -> Result<(), CacheError> {
        (0..self.pages.len()).try_for_each(|index| self.store(index))
    }

    /// The index of a page in memory, which is read if it is not there.
    fn page(&mut self, number: u32) -> Result<usize, CacheError> {
        if self.accesses >= MOST_ACCESSES {
            return Err(CacheError::Endless);
        }
        self.accesses += 1;
        let is_it = |page: &Page| page.number == number;
        let index = if self.pages.get(self.last).is_some_and(is_it) {
            self.last
        } else if let Some(index) = self.pages.iter().position(is_it) {
            index
        } else {
            self.load(number)?
        };
        self.pages[index].used = self.accesses;
        self.last = index;
        Ok(index)
    }

    /// Reads a page into the place of the one that was not used for the longest time.
    fn load(&mut self, number: u32) -> Result<usize, CacheError> {
        let index = if self.pages.len() < PAGES {
            self.pages.push(Page { number: u32::MAX, changed: 0, used: 0, bytes: alloc::vec![0; PAGE_BYTES].into() });
            self.pages.len() - 1
        } else {
            let oldest = self.pages.iter().enumerate().min_by_key(|(_, page)| page.used);
            let index = oldest.map_or(0, |(index, _)| index);
            self.store(index)?;
            index
        };
        let count = self.blocks_of(number) as usize;
        let Self { device, partition, pages, .. } = self;
        let page = &mut pages[index];
        // If the transfer fails, the page has no number.
        page.number = u32::MAX;
        device.read(partition.first + number * PAGE_BLOCKS, &mut page.bytes[..count * BLOCK_BYTES])?;
        page.number = number;
        Ok(index)
    }
}

impl<D> fmt::Debug for Cache<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}, {} pages in memory", self.partition, self.pages.len())
    }
}

/// The partition as a stream of bytes.
#[derive(Debug)]
pub struct Stream<'c, D> {
    cache: &'c RefCell<Cache<D>>,
    position: u64,
}

impl<'c, D> Stream<'c, D> {
    /// The stream from the partition's first byte on.
    pub const fn new(cache: &'c RefCell<Cache<D>>) -> Self {
        Self { cache, position: 0 }
    }
}

impl<D: Blocks> Stream<'_, D> {
    /// Calls `work` with the bytes from the position to the end of its page, at most `most`, and goes on behind them; `is_change` if it changes them. Returns
    /// how many they were.
    fn step(&mut self, most: usize, is_change: bool, work: impl FnOnce(&mut [u8])) -> Result<usize, CacheError> {
        if most == 0 {
            return Ok(0);
        }
        let mut cache = self.cache.borrow_mut();
        if self.position >= cache.bytes() {
            return Err(CacheError::Outside);
        }
        let number = (self.position / PAGE_BYTES as u64) as u32;
        let at = (self.position % PAGE_BYTES as u64) as usize;
        let end = PAGE_BYTES.min(cache.blocks_of(number) as usize * BLOCK_BYTES);
        let count = most.min(end - at);
        let index = cache.page(number)?;
        let page = &mut cache.pages[index];
        work(&mut page.bytes[at..at + count]);
        if is_change {
            (at / BLOCK_BYTES..=(at + count - 1) / BLOCK_BYTES).for_each(|block| page.changed |= 1 << block);
        }
        self.position += count as u64;
        Ok(count)
    }
}

impl<D> IoBase for Stream<'_, D> {
    type Error = CacheError;
}

impl<D: Blocks> Read for Stream<'_, D> {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize, CacheError> {
        self.step(bytes.len(), false, |page| bytes[..page.len()].copy_from_slice(page))
    }
}

impl<D: Blocks> Write for Stream<'_, D> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, CacheError> {
        self.step(bytes.len(), true, |page| page.copy_from_slice(&bytes[..page.len()]))
    }

    /// Does nothing: [`Cache::store_all`] writes everything at once, at the end.
    fn flush(&mut self) -> Result<(), CacheError> {
        Ok(())
    }
}

impl<D: Blocks> Seek for Stream<'_, D> {
    fn seek(&mut self, target: SeekFrom) -> Result<u64, CacheError> {
        let target = match target {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::Current(distance) => self.position.checked_add_signed(distance),
            SeekFrom::End(distance) => self.cache.borrow().bytes().checked_add_signed(distance),
        };
        self.position = target.ok_or(CacheError::Outside)?;
        Ok(self.position)
    }
}
