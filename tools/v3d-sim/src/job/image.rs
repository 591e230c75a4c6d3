//! Memory images of a job folder: packed by zstd, or as they are.
//!
//! A packed image is one zstd frame or several one after the other, as parallel packers write them [RFC 8878 3]; frames without content are
//! skipped. An image that is not packed says so by its name.

use ruzstd::decoding::StreamingDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use std::io::Read;

/// What the name of an image ends with that is not packed.
const PLAIN_SUFFIX: &str = ".bin";

/// The bytes of an image; an error is the reason in words. More than `limit` bytes are an error.
pub(super) fn unpack(name: &str, file: Vec<u8>, limit: u32) -> Result<Vec<u8>, String> {
    let image = if name.ends_with(PLAIN_SUFFIX) { file } else { frames(&file, limit)? };
    if image.len() as u64 > u64::from(limit) {
        return Err(format!("it is longer than the job's memory of {limit} bytes"));
    }
    Ok(image)
}

/// The contents of all frames, up to one byte more than `limit`.
fn frames(mut file: &[u8], limit: u32) -> Result<Vec<u8>, String> {
    let no_frame = |error: &dyn std::error::Error| format!("not a zstd file, or a damaged one: {error}");
    let mut image = Vec::new();
    loop {
        if let Some(rest) = skipped(file) {
            file = rest;
        } else {
            let mut decoder = StreamingDecoder::new(&mut file).map_err(|error| no_frame(&error))?;
            let left = (u64::from(limit) + 1).saturating_sub(image.len() as u64);
            let read = (&mut decoder).take(left).read_to_end(&mut image).map_err(|error| no_frame(&error))?;
            let decoder = decoder.into_frame_decoder();
            if read as u64 == left {
                return Ok(image);
            }
            if let Some(sum) = decoder.get_checksum_from_data()
                && decoder.get_calculated_checksum() != Some(sum)
            {
                return Err("its contents do not match its checksum".into());
            }
        }
        if file.is_empty() {
            return Ok(image);
        }
    }
}

/// What stands behind a frame without content, if there is one.
fn skipped(mut file: &[u8]) -> Option<&[u8]> {
    match StreamingDecoder::new(&mut file) {
        Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
            file.get(length as usize..)
        }
        _ => None,
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
        match (unpack(name, parts.concat(), 11), expected) {
            (Ok(image), Ok(expected)) => assert_eq!(image, expected.as_bytes()),
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
        check("mem0.bin.zst", &[], Err("not a zstd file"));
        check("mem0.bin.zst", &[HELLO, b"x"], Err("not a zstd file"));
        check("mem0.bin.zst", &[&HELLO[..12]], Err("not a zstd file"));
        check("mem0.bin.zst", &[&HELLO[..10], b"y", &HELLO[11..]], Err("checksum"));
        check("mem0.bin.zst", &[&SKIPPED[..9]], Err("not a zstd file"));
        check("mem0.bin.gz", &[b"\x1f\x8b"], Err("not a zstd file"));
        check("mem0.bin.zst", &[HELLO, HELLO], Err("longer than the job's memory of 11 bytes"));
        check("mem0.bin", &[b"twelve bytes"], Err("longer"));
    }
}
