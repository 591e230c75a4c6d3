//! Tests with cards that another implementation of FAT has made, and reads afterwards

use std::{
    collections::BTreeMap,
    io::{Cursor, Read, Write},
    sync::OnceLock,
};

use bcm283x::sd_card::CardError;
use fatfs::{FatType, FileSystem, FormatVolumeOptions, FsOptions};
use oorandom::Rand32;

use super::{
    blocks::{BLOCK_BYTES, Blocks},
    cache::CacheError,
    partition::PartitionError,
    *,
};

/// The first block of the partition.
const FIRST: u32 = 2048;

/// A card in memory, which has the blocks that are not zero.
#[derive(Clone, Default)]
struct Card {
    count: u32,
    blocks: BTreeMap<u32, [u8; BLOCK_BYTES]>,
    is_write_protected: bool,
    /// Writes until the card is removed.
    writes_left: Option<u32>,
}

impl Blocks for &mut Card {
    fn count(&mut self) -> Result<u32, CardError> {
        if self.count == 0 { Err(CardError::NoCard) } else { Ok(self.count) }
    }

    fn is_write_protected(&mut self) -> Result<bool, CardError> {
        Ok(self.is_write_protected)
    }

    fn read(&mut self, first: u32, bytes: &mut [u8]) -> Result<(), CardError> {
        for (number, block) in (first..).zip(bytes.as_chunks_mut::<BLOCK_BYTES>().0) {
            assert!(number < self.count, "block {number} is read");
            *block = self.blocks.get(&number).copied().unwrap_or([0; BLOCK_BYTES]);
        }
        Ok(())
    }

    fn write(&mut self, first: u32, bytes: &[u8]) -> Result<(), CardError> {
        assert!(!self.is_write_protected);
        for (number, block) in (first..).zip(bytes.as_chunks::<BLOCK_BYTES>().0) {
            assert!((FIRST..self.count).contains(&number), "block {number} is written");
            if let Some(left) = &mut self.writes_left {
                *left = left.checked_sub(1).ok_or(CardError::NoAnswer { command: 25 })?;
            }
            self.blocks.insert(number, *block);
        }
        Ok(())
    }
}

impl Card {
    /// A card with a partition of FAT of this kind and these files.
    fn new(kind: FatType, sectors: u32, files: &[(&str, &[u8])]) -> Self {
        let mut partition = vec![0; sectors as usize * BLOCK_BYTES];
        let options = FormatVolumeOptions::new().fat_type(kind).bytes_per_cluster(512);
        fatfs::format_volume(Cursor::new(&mut partition), options).unwrap();
        let volume = FileSystem::new(Cursor::new(&mut partition), FsOptions::new()).unwrap();
        for (name, bytes) in files {
            if let Some((folder, _)) = name.rsplit_once('/') {
                volume.root_dir().create_dir(folder).unwrap();
            }
            volume.root_dir().create_file(name).unwrap().write_all(bytes).unwrap();
        }
        volume.unmount().unwrap();
        let mut table = [0; BLOCK_BYTES];
        table[446 + 4] = 0x0c;
        table[446 + 8..446 + 12].copy_from_slice(&FIRST.to_le_bytes());
        table[446 + 12..446 + 16].copy_from_slice(&sectors.to_le_bytes());
        table[510..].copy_from_slice(&[0x55, 0xaa]);
        let blocks = (FIRST..).zip(partition.as_chunks::<BLOCK_BYTES>().0.iter().copied());
        let blocks = blocks.filter(|(_, block)| block.iter().any(|&byte| byte != 0)).chain([(0, table)]);
        Self { count: FIRST + sectors, blocks: blocks.collect(), ..Self::default() }
    }

    /// The smallest FAT32, with files.
    fn fat32() -> Self {
        static CARD: OnceLock<Card> = OnceLock::new();
        CARD.get_or_init(|| Self::new(FatType::Fat32, 67_000, &FILES)).clone()
    }

    /// What the other implementation reads of the card.
    fn partition(&self) -> Vec<u8> {
        let block = |number: u32| self.blocks.get(&number).copied().unwrap_or([0; BLOCK_BYTES]);
        (FIRST..self.count).flat_map(block).collect()
    }

    /// A file, and the number of free clusters, as the other implementation finds them.
    fn other_read(&self, name: &str) -> (Option<Vec<u8>>, u32) {
        let mut partition = self.partition();
        // The number in the information sector is not believed but counted.
        let information = BLOCK_BYTES + 488;
        partition[information..information + 4].fill(0xff);
        let volume = FileSystem::new(Cursor::new(partition), FsOptions::new()).unwrap();
        let file = volume.root_dir().open_file(name).ok().map(|mut file| {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).unwrap();
            bytes
        });
        (file, volume.stats().unwrap().free_clusters())
    }

    fn list(&mut self, path: &str) -> Result<Vec<(String, Option<u64>)>, StorageError> {
        let entries = with_volume(self, |volume| volume.list(path))?;
        Ok(entries.into_iter().map(|entry| (entry.name, entry.bytes)).collect())
    }

    fn read_file(&mut self, path: &str) -> Result<Vec<u8>, StorageError> {
        with_volume(self, |volume| volume.read(path, 1 << 20))
    }

    fn create(&mut self, path: &str, bytes: &[u8]) -> Result<(), StorageError> {
        with_volume(self, |volume| volume.create(path, bytes))
    }
}

const LONG: &[u8] = &[7; 3000];
const FILES: [(&str, &[u8]); 4] = [
    ("config.txt", b"arm_64bit=1\n"),
    ("A longer name than DOS has.wgsl", b"fn main() {}"),
    ("assets/shaders.wgsl", LONG),
    ("assets/empty", b""),
];

#[test]
fn folders_and_files_are_read() {
    for (kind, sectors) in [(FatType::Fat32, 67_000), (FatType::Fat16, 20_000), (FatType::Fat12, 2000)] {
        let mut card = Card::new(kind, sectors, &FILES);
        let root = card.list("").unwrap();
        let names: Vec<&str> = root.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["assets", "A longer name than DOS has.wgsl", "config.txt"], "{kind:?}");
        assert_eq!(root.iter().map(|(_, bytes)| *bytes).collect::<Vec<_>>(), [None, Some(12), Some(12)]);
        let assets = [("empty".to_string(), Some(0)), ("shaders.wgsl".to_string(), Some(3000))];
        assert_eq!(card.list("/assets/").unwrap(), assets);
        for (name, bytes) in FILES {
            assert_eq!(card.read_file(name).unwrap(), bytes);
        }
        assert_eq!(card.read_file("/ASSETS/Shaders.WGSL").unwrap(), LONG);
    }
}

#[test]
fn what_is_wrong_with_a_name_is_said() {
    let mut card = Card::fat32();
    let mut said = |path: &str| card.read_file(path).unwrap_err().to_string();
    assert_eq!(said("lost.wgsl"), "the card has no lost.wgsl; `ls` lists its files");
    assert_eq!(said("lost/x"), "the card has no lost/x; `ls` lists its files");
    assert_eq!(said("assets"), "assets is a folder, or the path leads through a file");
    assert_eq!(said("config.txt/x"), "config.txt/x is a folder, or the path leads through a file");
    assert!(card.list("config.txt").is_err());
    let short = with_volume(&mut card, |volume| volume.read("assets/shaders.wgsl", 2999)).unwrap_err();
    assert_eq!(short.to_string(), "assets/shaders.wgsl has 3000 bytes, and at most 2999 are read");
    for name in ["a?b", "", "a:b"] {
        assert!(card.create(name, b"x").is_err(), "{name}");
    }
}

#[test]
fn what_is_written_is_read_by_another_implementation() {
    let mut card = Card::fat32();
    let (_, free) = card.other_read("x");
    let bytes: Vec<u8> = (0..100_000u32).map(|n| (n * 7 % 251) as u8).collect();
    card.create("Screen of today.png", &bytes).unwrap();
    card.create("assets/report-1.txt", b"passed").unwrap();
    card.create("nothing", b"").unwrap();
    assert_eq!(card.other_read("Screen of today.png").0.unwrap(), bytes);
    let (report, left) = card.other_read("assets/report-1.txt");
    assert_eq!(report.unwrap(), b"passed");
    // 196 clusters of 512 bytes and one, and none for a directory whose cluster has room.
    assert_eq!(free - left, 197);
    assert_eq!(card.other_read("nothing").0.unwrap(), b"");
    assert_eq!(card.create("SCREEN OF TODAY.PNG", b""), Err(StorageError::Exists("SCREEN OF TODAY.PNG".into())));
    assert_eq!(card.create("assets", b""), Err(StorageError::Exists("assets".into())));
    let name = with_volume(&mut card, |volume| volume.free_name("report", "txt")).unwrap();
    assert_eq!(name, "report-1.txt");
    card.create("REPORT-1.TXT", b"").unwrap();
    let name = with_volume(&mut card, |volume| volume.free_name("report", "txt")).unwrap();
    assert_eq!(name, "report-2.txt");
}

#[test]
fn a_full_card_keeps_nothing_of_a_file() {
    let mut card = Card::fat32();
    let free = with_volume(&mut card, |volume| volume.free_bytes()).unwrap();
    assert_eq!(free, 512 * u64::from(card.other_read("x").1));
    let too_much = vec![1; free as usize + 1];
    let full = StorageError::Full { needed: free + 1, free };
    assert_eq!(card.create("big", &too_much), Err(full));
    card.create("big", &too_much[..free as usize - 512]).unwrap();
    // A cluster is left, which the directory needs for a long name: nothing is left of the file.
    let free = with_volume(&mut card, |volume| volume.free_bytes()).unwrap();
    assert_eq!(free, 512);
    let mut created = 0;
    let error = loop {
        let name = format!("a name that takes three entries {created}");
        match card.create(&name, if created == 0 { b"" } else { b"x" }) {
            Ok(()) => created += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, StorageError::Full { .. }), "{error}");
    let listed = card.list("").unwrap();
    let (_, left) = card.other_read("x");
    assert!(listed.iter().all(|(name, _)| *name != format!("a name that takes three entries {created}")));
    assert_eq!(512 * u64::from(left), with_volume(&mut card, |volume| volume.free_bytes()).unwrap());
}

#[test]
fn a_protected_card_is_read_and_not_written() {
    let mut card = Card::fat32();
    card.is_write_protected = true;
    assert_eq!(card.read_file("config.txt").unwrap(), b"arm_64bit=1\n");
    assert_eq!(card.create("x", b"x").unwrap_err().to_string(), "the SD card is write protected");
}

#[test]
fn what_is_no_file_system_is_said() {
    let mut empty = Card { count: 0, ..Card::default() };
    assert_eq!(empty.list("").unwrap_err().to_string(), "there is no SD card, or it does not answer");
    let mut blank = Card { count: 100, ..Card::default() };
    let no_table = StorageError::Card(CacheError::Partition(PartitionError::NoTable));
    assert_eq!(blank.list(""), Err(no_table));
    let mut card = Card::fat32();
    card.blocks.insert(FIRST, [0; BLOCK_BYTES]);
    assert_eq!(card.list("").unwrap_err().to_string(), "the file system on the card is damaged");
}

/// A card that is pulled out after each number of writes: an error, and no panic; what is on it can still be listed.
#[test]
fn a_card_may_be_removed_while_it_is_written() {
    let written = {
        let mut card = Card::fat32();
        card.writes_left = Some(u32::MAX);
        card.create("report.txt", LONG).unwrap();
        u32::MAX - card.writes_left.unwrap()
    };
    assert!(written > 8, "{written} blocks are written for a file of six");
    for writes in 0..written {
        let mut card = Card::fat32();
        card.writes_left = Some(writes);
        assert!(card.create("report.txt", LONG).is_err(), "{writes}");
        card.writes_left = None;
        card.list("").unwrap();
        assert_eq!(card.read_file("assets/shaders.wgsl").unwrap(), LONG);
    }
}

/// Reads and writes as much as there is; errors are ignored.
fn use_everything(card: &mut Card) {
    let _ = with_volume(&mut *card, |volume| {
        let mut folders = vec![String::new()];
        for _ in 0..20 {
            let Some(folder) = folders.pop() else { break };
            for entry in volume.list(&folder)?.into_iter().take(20) {
                let path = format!("{folder}/{}", entry.name);
                match entry.bytes {
                    Some(_) => drop(volume.read(&path, 1 << 20)),
                    None => folders.push(path),
                }
            }
        }
        Ok(())
    });
    let _ = card.create("assets/a new file of a long name", LONG);
    let _ = with_volume(card, |volume| volume.free_name("screen", "png"));
}

/// Bytes of boot sector, tables and directories are changed at random: errors, no panic, no access outside the partition, and no endless loop.
#[test]
fn a_damaged_card_is_no_panic() {
    let (fat32, fat16) = (Card::fat32(), Card::new(FatType::Fat16, 20_000, &FILES));
    let mut random = Rand32::new(7);
    for round in 0..120 {
        let mut card = if round % 3 == 0 { fat16.clone() } else { fat32.clone() };
        let numbers: Vec<u32> = card.blocks.keys().copied().filter(|&number| number >= FIRST).collect();
        for _ in 0..random.rand_range(1..6) {
            let number = numbers[random.rand_range(0..numbers.len() as u32) as usize];
            let Some(block) = card.blocks.get_mut(&number) else { continue };
            // Most changes go where something is.
            let at = match random.rand_range(0..4) {
                0 => random.rand_range(0..BLOCK_BYTES as u32) as usize,
                _ => random.rand_range(0..96) as usize,
            };
            let value = [0, 1, 0xff, 0xf7, random.rand_u32() as u8][random.rand_range(0..5) as usize];
            for byte in &mut block[at..(at + random.rand_range(1..5) as usize).min(BLOCK_BYTES)] {
                *byte = value;
            }
        }
        use_everything(&mut card);
    }
}

/// The root's cluster has no free entry, and leads to itself.
#[test]
fn a_chain_that_leads_in_a_circle_ends() {
    let mut card = Card::fat32();
    let number = |at: usize, bytes: usize| {
        let bytes = &card.blocks[&FIRST][at..at + bytes];
        bytes.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte))
    };
    // Reserved sectors and sectors of a table; the root is cluster 2, the first of the data [FAT32 File System Specification 1.03].
    let (reserved, sectors) = (number(14, 2), number(36, 4));
    assert_eq!((number(16, 1), number(44, 4)), (2, 2));
    if let Some(table) = card.blocks.get_mut(&(FIRST + reserved)) {
        table[8..12].copy_from_slice(&2u32.to_le_bytes());
    }
    card.blocks.insert(FIRST + reserved + 2 * sectors, [b'a'; BLOCK_BYTES]);
    for error in [card.list("").unwrap_err(), card.create("x", b"x").unwrap_err()] {
        assert!(matches!(error, StorageError::Card(CacheError::Endless) | StorageError::Damaged), "{error}");
    }
}
