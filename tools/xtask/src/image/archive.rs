//! The card's files as a ZIP archive, to be copied over the boot partition of a card that already boots a Pi.
//!
//! The archive is reproducible: its files have the oldest time that FAT and ZIP can express.

use crate::far_end::card::image::CardFile;
use anyhow::{Context, Result};
use flate2::Compression;
use flate2::bufread::DeflateDecoder;
use flate2::write::DeflateEncoder;
use rawzip::time::UtcDateTime;
use rawzip::{CompressionMethod, ZipArchive, ZipArchiveWriter};
use std::io::{Read, Write};

/// Permissions of the files where they are unpacked: everyone reads, the owner writes.
const PERMISSIONS: u32 = 0o644;

/// More than an archive has.
pub(super) const MOST_BYTES: u64 = 64 << 20;

/// Builds an archive with these files.
pub(super) fn build(files: &[CardFile]) -> Result<Vec<u8>> {
    let oldest = UtcDateTime::from_components(1980, 1, 1, 0, 0, 0, 0).context("the first of January 1980")?;
    let mut bytes = Vec::new();
    let mut archive = ZipArchiveWriter::new(&mut bytes);
    for CardFile { name, bytes } in files {
        let failed = || format!("cannot pack {name}");
        let (mut entry, data) = archive
            .new_file(name.as_str())
            .compression_method(CompressionMethod::DEFLATE)
            .last_modified(oldest)
            .unix_permissions(PERMISSIONS)
            .start()
            .with_context(failed)?;
        let mut packed = data.wrap(DeflateEncoder::new(&mut entry, Compression::best()));
        packed.write_all(bytes).with_context(failed)?;
        let (encoder, sums) = packed.finish().with_context(failed)?;
        encoder.finish().with_context(failed)?;
        entry.finish(sums).with_context(failed)?;
    }
    archive.finish().context("cannot finish the archive")?;
    Ok(bytes)
}

/// Reads all files of an archive, whose CRCs must be right.
pub(super) fn read(archive: &[u8]) -> Result<Vec<CardFile>> {
    let archive = ZipArchive::from_slice(archive).context("this is no ZIP archive")?;
    let mut entries = archive.entries();
    let mut files = Vec::new();
    while let Some(entry) = entries.next_entry().context("the archive's directory")? {
        let name = entry.file_path().try_normalize().context("the name of a file")?.as_ref().to_owned();
        let failed = || format!("cannot unpack {name}");
        let packed = archive.get_entry(entry.wayfinder()).with_context(failed)?;
        let mut bytes = Vec::new();
        let mut unpacked = packed.verifying_reader(DeflateDecoder::new(packed.data()));
        unpacked.read_to_end(&mut bytes).with_context(failed)?;
        files.push(CardFile { name, bytes });
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> Vec<CardFile> {
        let kernel: Vec<u8> = (0..300_000u32).map(|n| (n * 7 % 251) as u8).collect();
        vec![
            CardFile { name: "kernel8.img".to_owned(), bytes: kernel },
            CardFile { name: "cmdline.txt".to_owned(), bytes: b"selftest=auto\n".to_vec() },
        ]
    }

    #[test]
    fn what_is_packed_is_unpacked_and_every_archive_is_the_same() {
        let archive = build(&files()).unwrap();
        assert_eq!(read(&archive).unwrap(), files());
        assert!(build(&files()).unwrap() == archive, "two archives of the same files differ");
        assert!(archive.len() < 30_000, "{} bytes are not compressed", archive.len());
    }

    /// The fields of the last file in the central directory, found as the format's specification describes it (PKWARE's APPNOTE.TXT, 4.3.12 and 4.3.16), and
    /// its data in the local file.
    #[test]
    fn the_directory_has_the_fields_of_the_format() {
        let archive = build(&files()).unwrap();
        let word = |at: usize| u32::from_le_bytes(archive[at..at + 4].try_into().unwrap());
        let half = |at: usize| u16::from_le_bytes(archive[at..at + 2].try_into().unwrap());
        let end = archive.len() - 22;
        assert_eq!((&archive[end..end + 4], half(end + 10)), (b"PK\x05\x06".as_slice(), 2));
        let first = word(end + 16) as usize;
        let second = first + 46 + usize::from(half(first + 28) + half(first + 30) + half(first + 32));
        let last = &files()[1];
        assert_eq!(&archive[second..second + 4], b"PK\x01\x02");
        assert_eq!((half(second + 10), half(second + 14)), (8, 1 << 5 | 1), "deflated, on 1980-01-01");
        assert_eq!(word(second + 16), crc32fast::hash(&last.bytes));
        assert_eq!(word(second + 24) as usize, last.bytes.len());
        assert_eq!(&archive[second + 46..][..last.name.len()], last.name.as_bytes());
        let local = word(second + 42) as usize;
        assert_eq!(&archive[local..local + 4], b"PK\x03\x04");
        let data = local + 30 + usize::from(half(local + 26) + half(local + 28));
        let mut unpacked = Vec::new();
        DeflateDecoder::new(&archive[data..data + word(second + 20) as usize]).read_to_end(&mut unpacked).unwrap();
        assert_eq!(unpacked, last.bytes);
    }

    #[test]
    fn a_damaged_archive_is_refused() {
        let mut archive = build(&files()).unwrap();
        let middle = archive.len() / 2;
        archive[middle] ^= 1;
        assert!(read(&archive).is_err());
        assert!(read(b"PK").unwrap_err().to_string().contains("no ZIP archive"));
    }
}
