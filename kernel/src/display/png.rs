//! Pictures as PNG files
//!
//! # Sources
//! Portable Network Graphics (PNG) Specification, third edition: 5.3 for chunks, 11.2 for their contents, 9.2 for the filter.

use alloc::vec::Vec;

use miniz_oxide::deflate::compress_to_vec_zlib;

use crate::crc32;

/// How hard to compress, from 0 to 10: little, since pictures of text and flat areas become small anyway.
const EFFORT: u8 = 3;
/// Each row is the difference to the one above it.
const FILTER_UP: u8 = 2;

/// A file with a picture of opaque pixels, whose bytes are red, green, blue and one that is left out; rows from the top.
#[must_use]
pub fn encode(width: u32, height: u32, pixels: impl Iterator<Item = [u8; 4]>) -> Vec<u8> {
    let mut filtered = Vec::with_capacity((3 * width as usize + 1) * height as usize);
    let mut above = alloc::vec![[0; 3]; width as usize];
    let mut pixels = pixels;
    for _ in 0..height {
        filtered.extend([FILTER_UP]);
        for above in &mut above {
            let [red, green, blue, _] = pixels.next().unwrap_or([0; 4]);
            let pixel = [red, green, blue];
            filtered.extend(pixel.iter().zip(&*above).map(|(now, before): (&u8, &u8)| now.wrapping_sub(*before)));
            *above = pixel;
        }
    }
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    // Eight bits each of red, green and blue; no interlacing.
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 2, 0, 0, 0]].concat();
    chunk(&mut file, b"IHDR", &header);
    chunk(&mut file, b"IDAT", &compress_to_vec_zlib(&filtered, EFFORT));
    chunk(&mut file, b"IEND", &[]);
    file
}

/// Appends a chunk: its length, its name and its data, and the CRC-32 of both.
fn chunk(file: &mut Vec<u8>, name: &[u8; 4], data: &[u8]) {
    file.extend((data.len() as u32).to_be_bytes());
    let start = file.len();
    file.extend(name);
    file.extend(data);
    let crc = crc32::of_bytes(&file[start..]);
    file.extend(crc.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// Another implementation reads what was written.
    #[test]
    fn pixels_come_back() {
        for (width, height) in [(1, 1), (3, 2), (200, 77)] {
            let pixel = |n: u32| [(n % 251) as u8, (n / 7) as u8, (n * n) as u8, 99];
            let file = encode(width, height, (0..width * height).map(pixel));
            let mut reader = png::Decoder::new(Cursor::new(file)).read_info().unwrap();
            let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
            let info = reader.next_frame(&mut bytes).unwrap();
            assert_eq!((info.width, info.height, info.color_type), (width, height, png::ColorType::Rgb));
            let expected: Vec<u8> = (0..width * height).flat_map(|n| pixel(n)[..3].to_vec()).collect();
            assert_eq!(bytes, expected);
        }
    }
}
