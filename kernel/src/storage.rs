//! Files on the SD card: the FAT file system of its first FAT partition
//!
//! [`with_volume`] opens the file system, has something done with its files, and closes it: nothing stays in memory between two commands, so that the card
//! may be removed whenever no command is running.
//!
//! # Layers
//! [`blocks`]: a device of blocks, which the card's driver is. [`partition`]: where the file system is on it. [`cache`]: a stream of bytes within the
//! partition, with the blocks that were used last. The crate `axfatfs` on top of it knows FAT; [`volume`] says in sentences what it answers.
//!
//! # Damaged cards
//! What a card says is never trusted. No access leaves the partition. Chains of clusters that end in themselves are found by the number of accesses, which is
//! limited for each command; sizes are compared with a limit before there is memory for them.
//!
//! # Writing
//! Only new files are written. Their blocks go to the card when the cache needs room, and at the end, file allocation tables and directory among them: a card
//! that is removed in the middle of it may have clusters that belong to no file, and the file system's own mark that it was not closed.

pub mod blocks;
pub mod cache;
pub mod partition;
pub mod volume;

use core::cell::RefCell;

use blocks::Blocks;
use cache::Cache;
pub use volume::{Entry, StorageError, Volume};

/// Opens the file system on a device, calls `work`, and closes it, also after a failure.
///
/// # Errors
/// When there is no file system, `work` fails, or what it wrote cannot be stored.
pub fn with_volume<D: Blocks, T>(
    device: D,
    work: impl FnOnce(&Volume<'_, D>) -> Result<T, StorageError>,
) -> Result<T, StorageError> {
    let cache = RefCell::new(Cache::new(device)?);
    let volume = Volume::open(&cache)?;
    let result = work(&volume);
    let closed = volume.close();
    result.and_then(|value| closed.map(|()| value))
}

#[cfg(test)]
mod tests;
