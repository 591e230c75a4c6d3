//! The layout of the card: a master boot record and one FAT32 partition.
//!
//! The boot ROM needs a partition table whose first entry is FAT (type 0x0C, FAT32 with LBA). The partition starts at 1 MiB, a boundary that suits flash
//! memory. FAT32 needs at least 65,525 clusters; with clusters of 512 bytes, 64 MiB suffice and the image stays small.
//!
//! # Sources
//! Microsoft's "FAT32 File System Specification" 1.03 (cluster count); the classic MBR layout (entry at 446, 0x55AA).

use anyhow::{Context, Result};
use fatfs::{Date, DateTime, FatType, FileSystem, FormatVolumeOptions, FsOptions, Time, TimeProvider};
use std::io::{Cursor, Read, Write};
use std::path::Path;

const SECTOR_BYTES: usize = 512;
/// First sector of the partition: 1 MiB.
const PARTITION_SECTOR: usize = 2048;
/// Sectors in the partition: 64 MiB.
const PARTITION_SECTORS: usize = 131_072;
/// FAT32, addressed by sector number.
const TYPE_FAT32_LBA: u8 = 0x0c;
/// Identifies the disk and its volume. A fixed number keeps images reproducible.
const SERIAL: u32 = 0x5643_3444;

/// Bytes that [`is_head`] takes.
pub(super) const HEAD_BYTES: u64 = SECTOR_BYTES as u64;

/// Whether a file that begins with these bytes is an image of this module: it has its partition table, with its number.
pub(super) fn is_head(head: &[u8]) -> bool {
    let mut ours = [0; SECTOR_BYTES];
    write_partition_table(&mut ours);
    head == ours
}

/// A file on the card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CardFile {
    /// Its path on the card, with `/` after the folder.
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
}

impl CardFile {
    /// Reads the file at `path` as a file of the card.
    pub(super) fn read(name: &str, path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Self { name: name.to_owned(), bytes })
    }
}

/// All files have the oldest time that FAT can express, so that images are reproducible.
#[derive(Debug)]
struct BeginningOfTime;

impl TimeProvider for BeginningOfTime {
    fn get_current_date(&self) -> Date {
        Date { year: 1980, month: 1, day: 1 }
    }

    fn get_current_date_time(&self) -> DateTime {
        DateTime { date: self.get_current_date(), time: Time { hour: 0, min: 0, sec: 0, millis: 0 } }
    }
}

/// Builds an image with these files.
pub(super) fn build(files: &[CardFile]) -> Result<Vec<u8>> {
    let mut image = vec![0; (PARTITION_SECTOR + PARTITION_SECTORS) * SECTOR_BYTES];
    let (head, partition) = image.split_at_mut(PARTITION_SECTOR * SECTOR_BYTES);
    write_partition_table(head);
    let options = FormatVolumeOptions::new()
        .fat_type(FatType::Fat32)
        .bytes_per_cluster(SECTOR_BYTES as u32)
        .volume_id(SERIAL)
        .volume_label(*b"V3D        ");
    fatfs::format_volume(Cursor::new(&mut *partition), options).context("cannot format the card")?;
    let options = FsOptions::new().time_provider(&BeginningOfTime);
    let volume = FileSystem::new(Cursor::new(partition), options).context("cannot open the card")?;
    for CardFile { name, bytes } in files {
        if let Some((folder, _)) = name.split_once('/') {
            // `create_dir` opens an existing folder.
            volume.root_dir().create_dir(folder).with_context(|| format!("{folder} does not fit on the card"))?;
        }
        let written = volume.root_dir().create_file(name).and_then(|mut file| file.write_all(bytes));
        written.with_context(|| format!("{name} does not fit on the card"))?;
    }
    volume.unmount().context("cannot finish the card")?;
    Ok(image)
}

/// The partition of a card's image.
pub(super) fn partition(image: &[u8]) -> Result<&[u8]> {
    image.get(PARTITION_SECTOR * SECTOR_BYTES..).context("the image is too short")
}

/// Reads a file from a card's image.
pub(super) fn read(image: &[u8], name: &str) -> Result<Vec<u8>> {
    let partition = partition(image)?.to_vec();
    let volume = FileSystem::new(Cursor::new(partition), FsOptions::new()).context("cannot open the card")?;
    let mut bytes = Vec::new();
    let read = volume.root_dir().open_file(name).and_then(|mut file| file.read_to_end(&mut bytes));
    read.with_context(|| format!("cannot read {name} from the card"))?;
    Ok(bytes)
}

/// Writes sector 0: one partition, no boot code, which the Pi does not run.
///
/// The eight fields take fewer lines than calls of a partition table crate.
fn write_partition_table(sector: &mut [u8]) {
    sector[440..444].copy_from_slice(&SERIAL.to_le_bytes());
    let entry = &mut sector[446..462];
    // The start cannot be expressed as cylinder, head and sector; 0xFE 0xFF 0xFF refers to the sector numbers.
    entry[1..4].copy_from_slice(&[0xfe, 0xff, 0xff]);
    entry[4] = TYPE_FAT32_LBA;
    entry[5..8].copy_from_slice(&[0xfe, 0xff, 0xff]);
    entry[8..12].copy_from_slice(&(PARTITION_SECTOR as u32).to_le_bytes());
    entry[12..16].copy_from_slice(&(PARTITION_SECTORS as u32).to_le_bytes());
    sector[510..512].copy_from_slice(&[0x55, 0xaa]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_every_image_is_the_same() {
        let kernel: Vec<u8> = (0..300_000u32).map(|n| (n * 7 % 251) as u8).collect();
        let files = [
            CardFile { name: "kernel8.img".to_owned(), bytes: kernel.clone() },
            CardFile { name: "config.txt".to_owned(), bytes: b"arm_64bit=1\n".to_vec() },
            CardFile { name: "overlays/one.dtbo".to_owned(), bytes: b"one".to_vec() },
            CardFile { name: "overlays/two.dtbo".to_owned(), bytes: b"two".to_vec() },
        ];
        let image = build(&files).unwrap();
        assert_eq!(read(&image, "KERNEL8.IMG").unwrap(), kernel);
        assert_eq!(read(&image, "config.txt").unwrap(), b"arm_64bit=1\n");
        assert_eq!(read(&image, "overlays/two.dtbo").unwrap(), b"two");
        assert!(read(&image, "start.elf").is_err());
        assert!(build(&files).unwrap() == image, "two images of the same files differ");
        assert_eq!(image[510..512], [0x55, 0xaa]);
        // The partition's boot sector: sectors of 512 bytes, one sector per cluster, and "FAT32   ".
        let boot = &image[1 << 20..][..512];
        assert_eq!(boot[11..14], [0, 2, 1]);
        assert_eq!(&boot[82..90], b"FAT32   ");
    }

    #[test]
    fn a_file_that_is_too_large_is_named() {
        let files = [CardFile { name: "start.elf".to_owned(), bytes: vec![1; 65 << 20] }];
        assert!(build(&files).unwrap_err().to_string().contains("start.elf"));
    }
}
