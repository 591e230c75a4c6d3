//! The layout of the card: a master boot record and one FAT32 partition.
//!
//! The boot ROM needs a partition table whose first entry is FAT (type 0x0C, FAT32 with LBA). The partition starts at 1 MiB, a boundary that suits flash
//! memory. FAT32 needs at least 65,525 clusters; with clusters of 512 bytes, 64 MiB would suffice. The image has 128 MiB, so that it has room for what the
//! kernel writes, and QEMU takes it: it wants cards whose size is a power of two.
//!
//! # Sources
//! Microsoft's "FAT32 File System Specification" 1.03 (cluster count); the classic MBR layout (entry at 446, 0x55AA).

use anyhow::{Context, Result};
use axfatfs::{FatType, FileSystem, FormatVolumeOptions, FsOptions, NullTimeProvider, StdIoWrapper};
use std::io::{Cursor, Read, Write};
use std::path::Path;

const SECTOR_BYTES: usize = 512;
/// First sector of the partition: 1 MiB.
const PARTITION_SECTOR: usize = 2048;
/// Bytes of an image.
pub(crate) const IMAGE_BYTES: usize = 128 << 20;
/// Sectors in the partition: all behind its start.
const PARTITION_SECTORS: usize = IMAGE_BYTES / SECTOR_BYTES - PARTITION_SECTOR;
/// FAT32, addressed by sector number.
const TYPE_FAT32_LBA: u8 = 0x0c;
/// Identifies the disk and its volume. A fixed number keeps images reproducible.
const SERIAL: u32 = 0x5643_3444;

/// Bytes that [`is_head`] takes.
pub(crate) const HEAD_BYTES: u64 = SECTOR_BYTES as u64;

/// Whether a file that begins with these bytes is an image of this module: it has its partition table, with its number.
pub(crate) fn is_head(head: &[u8]) -> bool {
    let mut ours = [0; SECTOR_BYTES];
    write_partition_table(&mut ours);
    head == ours
}

/// A file on the card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CardFile {
    /// Its path on the card, with `/` after each folder.
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

impl CardFile {
    /// Reads the file at `path` as a file of the card.
    pub(crate) fn read(name: &str, path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Self { name: name.to_owned(), bytes })
    }
}

/// Builds an image with these files.
pub(crate) fn build(files: &[CardFile]) -> Result<Vec<u8>> {
    let mut image = vec![0; (PARTITION_SECTOR + PARTITION_SECTORS) * SECTOR_BYTES];
    let (head, partition) = image.split_at_mut(PARTITION_SECTOR * SECTOR_BYTES);
    write_partition_table(head);
    let options = FormatVolumeOptions::new()
        .fat_type(FatType::Fat32)
        .bytes_per_cluster(SECTOR_BYTES as u32)
        .volume_id(SERIAL)
        .volume_label(*b"V3D        ");
    let mut storage = StdIoWrapper::from(Cursor::new(&mut *partition));
    axfatfs::format_volume(&mut storage, options).context("cannot format the card")?;
    // All files have the oldest time that FAT can express, so that images are reproducible.
    let options = FsOptions::new().time_provider(NullTimeProvider::new());
    let volume = FileSystem::new(Cursor::new(partition), options).context("cannot open the card")?;
    for CardFile { name, bytes } in files {
        for (end, _) in name.match_indices('/') {
            // `create_dir` opens an existing folder.
            let folder = &name[..end];
            volume.root_dir().create_dir(folder).with_context(|| format!("{folder} does not fit on the card"))?;
        }
        let too_much = || format!("{name} does not fit on the card");
        let mut file = volume.root_dir().create_file(name).with_context(too_much)?;
        file.write_all(bytes).and_then(|()| file.flush()).with_context(too_much)?;
    }
    volume.unmount().context("cannot finish the card")?;
    Ok(image)
}

/// The partition of a card's image.
pub(crate) fn partition(image: &[u8]) -> Result<&[u8]> {
    image.get(PARTITION_SECTOR * SECTOR_BYTES..).context("the image is too short")
}

/// The file system of a copy of a card's image.
fn open(image: &[u8]) -> Result<FileSystem<StdIoWrapper<Cursor<Vec<u8>>>>> {
    let partition = Cursor::new(partition(image)?.to_vec());
    FileSystem::new(partition, FsOptions::new()).context("cannot open the card")
}

/// Reads a file from a card's image.
pub(crate) fn read(image: &[u8], name: &str) -> Result<Vec<u8>> {
    let volume = open(image)?;
    let cannot = || format!("cannot read {name} from the card");
    let mut bytes = Vec::new();
    volume.root_dir().open_file(name).with_context(cannot)?.read_to_end(&mut bytes).with_context(cannot)?;
    Ok(bytes)
}

/// Reads all files of a card's image.
pub(crate) fn read_all(image: &[u8]) -> Result<Vec<CardFile>> {
    let volume = open(image)?;
    let (mut folders, mut files) = (vec![String::new()], Vec::new());
    while let Some(folder) = folders.pop() {
        let root = volume.root_dir();
        let entries = if folder.is_empty() { root } else { root.open_dir(&folder)? };
        for entry in entries.iter() {
            let entry = entry.with_context(|| format!("cannot read the folder \"{folder}\" of the card"))?;
            let name = entry.file_name();
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            if entry.is_file() {
                let mut bytes = Vec::new();
                entry.to_file().read_to_end(&mut bytes).with_context(|| format!("cannot read {path} from the card"))?;
                files.push(CardFile { name: path, bytes });
            } else if name != "." && name != ".." {
                folders.push(path);
            }
        }
    }
    Ok(files)
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
            CardFile { name: "assets/deep/below".to_owned(), bytes: b"three".to_vec() },
        ];
        let image = build(&files).unwrap();
        assert_eq!(read(&image, "KERNEL8.IMG").unwrap(), kernel);
        assert_eq!(read(&image, "config.txt").unwrap(), b"arm_64bit=1\n");
        assert_eq!(read(&image, "overlays/two.dtbo").unwrap(), b"two");
        assert_eq!(read(&image, "assets/deep/below").unwrap(), b"three");
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
        let files = [CardFile { name: "start.elf".to_owned(), bytes: vec![1; 128 << 20] }];
        assert!(build(&files).unwrap_err().to_string().contains("start.elf"));
    }
}
