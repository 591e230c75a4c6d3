//! Memory images of a job folder: compressed by zstd, or raw.
//!
//! A compressed image is one zstd frame or several one after the other, as parallel compressors write them [RFC 8878 3]; frames without content are
//! skipped. A raw image is recognised by its name.

use ruzstd::decoding::StreamingDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use std::io::{BufRead, Read};

/// The end of the name of a raw image.
const PLAIN_SUFFIX: &str = ".bin";
/// Bytes that are decompressed at a time: an image may be as large as memory, and is not to be held twice.
const CHUNK_BYTES: usize = 1 << 16;

/// Decompresses an image chunk by chunk into `place`, which gets the position of each; returns its length. More than `limit` bytes are an error.
/// Errors are reasons in words.
pub(super) fn unpack(
    name: &str,
    file: &mut dyn BufRead,
    limit: u32,
    place: &mut dyn FnMut(u32, &[u8]),
) -> Result<u64, String> {
    let mut length = 0;
    let mut take = |image: &mut dyn Read| copy(image, limit, &mut length, place);
    if name.ends_with(PLAIN_SUFFIX) {
        take(file)?;
        return Ok(length);
    }
    let damaged = |error: &dyn std::error::Error| format!("not a zstd file, or a damaged one: {error}");
    if file.fill_buf().map_err(|error| format!("it cannot be read: {error}"))?.is_empty() {
        return Err("not a zstd file: it is empty".into());
    }
    loop {
        match StreamingDecoder::new(&mut *file) {
            Ok(mut frame) => {
                take(&mut frame)?;
                let frame = frame.into_frame_decoder();
                let sum = frame.get_checksum_from_data();
                if sum.is_some() && sum != frame.get_calculated_checksum() {
                    return Err("its contents do not match its checksum".into());
                }
            }
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                let skipped = std::io::copy(&mut (&mut *file).take(length.into()), &mut std::io::sink());
                if skipped.map_err(|error| damaged(&error))? < length.into() {
                    return Err("the file ends within a frame".into());
                }
            }
            // The decoder's message for this error is not meant for people.
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::MagicNumberReadError(error))) => {
                return Err(damaged(&error));
            }
            Err(error) => return Err(damaged(&error)),
        }
        if file.fill_buf().map_err(|error| damaged(&error))?.is_empty() {
            return Ok(length);
        }
    }
}

/// Copies the rest, behind what has been copied.
fn copy(image: &mut dyn Read, limit: u32, length: &mut u64, place: &mut dyn FnMut(u32, &[u8])) -> Result<(), String> {
    let mut chunk = Vec::with_capacity(CHUNK_BYTES);
    loop {
        chunk.clear();
        let read = (&mut *image).take(CHUNK_BYTES as u64).read_to_end(&mut chunk);
        if read.map_err(|error| format!("damaged: {error}"))? == 0 {
            return Ok(());
        }
        let at = *length;
        *length += chunk.len() as u64;
        match u32::try_from(at) {
            Ok(at) if *length <= u64::from(limit) => place(at, &chunk),
            _ => return Err(format!("it is longer than the job's memory of {limit} bytes")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // What zstd 1.5.4 makes of the two words.
    const HELLO: &[u8] = b"\x28\xb5\x2f\xfd\x04\x58\x31\0\0hello \xd2\x3b\xe1\xa9";
    const WORLD: &[u8] = b"\x28\xb5\x2f\xfd\x04\x58\x29\0\0world\xef\x51\xee\x66";
    /// A frame without content [RFC 8878 3.1.2].
    const SKIPPED: &[u8] = b"\x50\x2a\x4d\x18\x03\0\0\0abc";

    fn check(name: &str, parts: &[&[u8]], expected: Result<&str, &str>) {
        let mut image = [b'-'; 11];
        let mut place = |at: u32, bytes: &[u8]| image[at as usize..][..bytes.len()].copy_from_slice(bytes);
        match (unpack(name, &mut parts.concat().as_slice(), 11, &mut place), expected) {
            (Ok(length), Ok(expected)) => assert_eq!(&image[..length as usize], expected.as_bytes()),
            (Err(reason), Err(expected)) => assert!(reason.contains(expected), "{reason}"),
            (found, expected) => panic!("{found:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn all_frames_are_unpacked() {
        check("mem0.bin.zst", &[HELLO], Ok("hello "));
        check("mem0.bin.zst", &[HELLO, WORLD], Ok("hello world"));
        check("mem0.bin.zst", &[SKIPPED, HELLO, SKIPPED, WORLD, SKIPPED], Ok("hello world"));
        check("mem0.bin", &[b"as it is"], Ok("as it is"));
    }

    #[test]
    fn damage_is_noticed() {
        check("mem0.bin.zst", &[], Err("not a zstd file: it is empty"));
        check("mem0.bin.zst", &[b"x"], Err("not a zstd file, or a damaged one: failed to fill whole buffer"));
        check("mem0.bin.zst", &[HELLO, b"x"], Err("not a zstd file"));
        check("mem0.bin.zst", &[&HELLO[..12]], Err("damaged"));
        check("mem0.bin.zst", &[&HELLO[..10], b"y", &HELLO[11..]], Err("checksum"));
        check("mem0.bin.zst", &[&SKIPPED[..9]], Err("ends within"));
        check("mem0.bin.gz", &[b"\x1f\x8b"], Err("not a zstd file"));
        check("mem0.bin.zst", &[HELLO, HELLO], Err("longer than the job's memory of 11 bytes"));
        check("mem0.bin", &[b"twelve bytes"], Err("longer"));
    }
}
