//! Pictures: PNG and QOI files as texels
//!
//! A file says how large its picture is before anything is decoded; a picture that no texture can hold is refused then.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use zune_png::{
    PngDecoder,
    zune_core::{bytestream::ZCursor, options::DecoderOptions},
};
use zune_qoi::QoiDecoder;

/// Greatest width and height of a picture, in texels. The TMU addresses 2048 [AG p.41]; decoding that would take 50 MiB of a heap of 64.
pub const MOST_SIDE_PX: u32 = 1024;

/// A picture that textures show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Width and height in texels.
    pub size_px: [u32; 2],
    /// Four bytes a texel: red, green, blue, alpha; from the upper left on.
    pub rgba: Vec<u8>,
}

impl Picture {
    /// Decodes a PNG or QOI file.
    ///
    /// # Errors
    /// When it is neither, is damaged, or has more than [`MOST_SIDE_PX`] texels on a side.
    pub fn decode(file: &[u8]) -> Result<Self, String> {
        let most = MOST_SIDE_PX as usize;
        let options = DecoderOptions::new_safe()
            .set_max_width(most)
            .set_max_height(most)
            .png_set_strip_to_8bit(true)
            .inflate_set_limit(5 * most * most);
        let damaged = |why: &dyn core::fmt::Debug| format!("the picture cannot be decoded: {}", first_line(why));
        if file.starts_with(b"\x89PNG") {
            let mut decoder = PngDecoder::new_with_options(ZCursor::new(file), options);
            decoder.decode_headers().map_err(|error| damaged(&error))?;
            let size = decoder.dimensions().ok_or("the picture has no size")?;
            let samples = decoder.decode_raw().map_err(|error| damaged(&error))?;
            Self::of_samples(size, samples)
        } else if file.starts_with(b"qoif") {
            let mut decoder = QoiDecoder::new_with_options(ZCursor::new(file), options);
            decoder.decode_headers().map_err(|error| damaged(&error))?;
            let size = decoder.dimensions().ok_or("the picture has no size")?;
            let samples = decoder.decode().map_err(|error| damaged(&error))?;
            Self::of_samples(size, samples)
        } else {
            Err("the file is neither a PNG nor a QOI picture".to_string())
        }
    }

    /// A picture of samples of eight bits: grey, grey and alpha, three colours, or three colours and alpha.
    fn of_samples((width, height): (usize, usize), samples: Vec<u8>) -> Result<Self, String> {
        let most = MOST_SIDE_PX as usize;
        if !(1..=most).contains(&width) || !(1..=most).contains(&height) {
            return Err(format!("the picture has {width} x {height} pixels, and at most {most} on each side are read"));
        }
        let rgba = match samples.len() / (width * height) {
            1 => samples.iter().flat_map(|&grey| [grey, grey, grey, 255]).collect(),
            2 => samples.as_chunks().0.iter().flat_map(|&[grey, alpha]| [grey, grey, grey, alpha]).collect(),
            3 => samples.as_chunks().0.iter().flat_map(|&[red, green, blue]| [red, green, blue, 255]).collect(),
            _ => samples,
        };
        let texels: &[[u8; 4]] = rgba.as_chunks().0;
        if texels.len() != width * height {
            return Err(format!("the picture has {} pixels instead of {width} x {height}", texels.len()));
        }
        Ok(Self { size_px: [width as u32, height as u32], rgba })
    }

    /// Six pictures for the faces of a cube map.
    ///
    /// # Errors
    /// When they are not squares of one size.
    pub fn cube(faces: &[Self; 6]) -> Result<Cube, String> {
        let [side_px, height] = faces[0].size_px;
        if side_px != height || faces.iter().any(|face| face.size_px != faces[0].size_px) {
            let sizes = faces.each_ref().map(|face| format!("{} x {}", face.size_px[0], face.size_px[1])).join(", ");
            return Err(format!("the faces of a cube map are squares of one size, and these are {sizes}"));
        }
        Ok(Cube { side_px, faces: faces.each_ref().map(|face| face.rgba.clone()) })
    }
}

/// Six pictures that cube maps show, to the right, left, top, bottom, front and back: the directions of +X, -X, +Y, -Y, +Z and -Z.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cube {
    /// Texels of a side.
    pub side_px: u32,
    /// Four bytes a texel.
    pub faces: [Vec<u8>; 6],
}

/// What is wrong, on one line.
fn first_line(error: &dyn core::fmt::Debug) -> String {
    format!("{error:?}").lines().next().unwrap_or_default().chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use oorandom::Rand32;

    use super::*;

    /// A PNG file by another implementation.
    fn png(color: png::ColorType, depth: png::BitDepth, size: [u32; 2], bytes: &[u8]) -> Vec<u8> {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, size[0], size[1]);
        encoder.set_color(color);
        encoder.set_depth(depth);
        if color == png::ColorType::Indexed {
            encoder.set_palette(vec![9, 8, 7, 1, 2, 3]);
        }
        encoder.write_header().unwrap().write_image_data(bytes).unwrap();
        file
    }

    #[test]
    fn all_kinds_of_png_become_texels() {
        use png::{BitDepth, ColorType};
        let check = |color, depth, bytes: &[u8], expected: [[u8; 4]; 2]| {
            let picture = Picture::decode(&png(color, depth, [2, 1], bytes)).unwrap();
            assert_eq!((picture.size_px, picture.rgba), ([2, 1], expected.concat()), "{color:?} {depth:?}");
        };
        check(ColorType::Rgb, BitDepth::Eight, &[1, 2, 3, 4, 5, 6], [[1, 2, 3, 255], [4, 5, 6, 255]]);
        check(ColorType::Rgba, BitDepth::Eight, &[1, 2, 3, 4, 5, 6, 7, 8], [[1, 2, 3, 4], [5, 6, 7, 8]]);
        check(ColorType::Grayscale, BitDepth::Eight, &[9, 8], [[9, 9, 9, 255], [8, 8, 8, 255]]);
        check(ColorType::Grayscale, BitDepth::One, &[0b0100_0000], [[0, 0, 0, 255], [255; 4]]);
        check(ColorType::GrayscaleAlpha, BitDepth::Eight, &[9, 1, 8, 2], [[9, 9, 9, 1], [8, 8, 8, 2]]);
        check(ColorType::Indexed, BitDepth::Eight, &[1, 0], [[1, 2, 3, 255], [9, 8, 7, 255]]);
        let sixteen = [1, 99, 2, 99, 3, 99, 4, 99, 5, 99, 6, 99];
        check(ColorType::Rgb, BitDepth::Sixteen, &sixteen, [[1, 2, 3, 255], [4, 5, 6, 255]]);
    }

    /// Bytes as the format's document has them: a header, QOI_OP_RGB, QOI_OP_RGBA, QOI_OP_RUN, and the end mark.
    #[test]
    fn qoi_becomes_texels() {
        let mut file = b"qoif\0\0\0\x04\0\0\0\x01\x04\0".to_vec();
        file.extend([0xfe, 10, 20, 30, 0xff, 1, 2, 3, 4, 0xc1, 0, 0, 0, 0, 0, 0, 0, 1]);
        let picture = Picture::decode(&file).unwrap();
        assert_eq!(picture.rgba, [10, 20, 30, 255, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4]);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let said = |file: &[u8]| Picture::decode(file).unwrap_err();
        assert_eq!(said(b"\xff\xd8"), "the file is neither a PNG nor a QOI picture");
        assert_eq!(said(b""), "the file is neither a PNG nor a QOI picture");
        let large = png(png::ColorType::Grayscale, png::BitDepth::Eight, [1025, 1], &[0; 1025]);
        assert!(said(&large).contains("1024"), "{}", said(&large));
        let good = png(png::ColorType::Rgb, png::BitDepth::Eight, [2, 1], &[1; 6]);
        assert!(said(&good[..50]).starts_with("the picture cannot be decoded: "));
    }

    #[test]
    fn damaged_files_are_no_panic() {
        let mut random = Rand32::new(3);
        let noise: Vec<u8> = (0..48 * 48 * 4).map(|_| random.rand_u32() as u8).collect();
        let good = png(png::ColorType::Rgba, png::BitDepth::Eight, [48, 48], &noise);
        let mut qoi = b"qoif\0\0\0\x30\0\0\0\x30\x04\0".to_vec();
        qoi.extend(&noise);
        let mut refused = 0;
        for round in 0..3000 {
            let mut file = if round % 2 == 0 { good.clone() } else { qoi.clone() };
            for _ in 0..random.rand_range(1..5) {
                let at = random.rand_range(0..if round % 3 == 0 { 60 } else { file.len() as u32 }) as usize;
                file[at] = random.rand_u32() as u8;
            }
            file.truncate(random.rand_range(0..2 * file.len() as u32) as usize);
            refused += usize::from(Picture::decode(&file).is_err());
        }
        assert!(refused > 500, "{refused}");
    }

    #[test]
    fn the_faces_of_a_cube_have_one_size() {
        let face =
            |side, height| Picture { size_px: [side, height], rgba: vec![side as u8; 4 * (side * height) as usize] };
        let cube = Picture::cube(&core::array::from_fn(|_| face(2, 2))).unwrap();
        assert_eq!((cube.side_px, cube.faces[5].len()), (2, 16));
        assert!(Picture::cube(&core::array::from_fn(|_| face(2, 3))).unwrap_err().contains("2 x 3"));
        assert!(Picture::cube(&core::array::from_fn(|n| face(1 + n as u32 / 5, 1 + n as u32 / 5))).is_err());
    }
}
