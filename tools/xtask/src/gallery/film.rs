//! Films: animated PNG files, which browsers play and other programs show as a still picture.

use crate::picture::Picture;
use crate::whole_file;
use anyhow::{Result, ensure};
use std::path::Path;

/// Duration of a picture in seconds, as a fraction.
const DELAY_S: (u16, u16) = (1, 15);

/// Pictures of the same size.
pub(super) struct Film {
    width: usize,
    height: usize,
    pictures: Vec<Vec<[u8; 3]>>,
}

impl Film {
    /// A film that starts with this picture.
    pub(super) fn starting_with(picture: &Picture) -> Self {
        Self { width: picture.width, height: picture.height, pictures: vec![picture.pixels.clone()] }
    }

    /// Appends a picture.
    ///
    /// # Errors
    /// When its size differs.
    pub(super) fn append(&mut self, picture: &Picture) -> Result<()> {
        let (width, height) = (picture.width, picture.height);
        ensure!(
            (width, height) == (self.width, self.height),
            "a picture of {width} x {height} follows one of {} x {}",
            self.width,
            self.height
        );
        self.pictures.push(picture.pixels.clone());
        Ok(())
    }

    /// Writes the film, which repeats for ever.
    pub(super) fn write(&self, path: &Path) -> Result<()> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, u32::try_from(self.width)?, u32::try_from(self.height)?);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_animated(u32::try_from(self.pictures.len())?, 0)?;
        encoder.set_frame_delay(DELAY_S.0, DELAY_S.1)?;
        let mut writer = encoder.write_header()?;
        for picture in &self.pictures {
            writer.write_image_data(picture.as_flattened())?;
        }
        writer.finish()?;
        whole_file::write(path, &bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::BufReader;

    #[test]
    fn a_film_has_its_pictures_in_their_order() {
        let gray = |level: u8| Picture { width: 3, height: 2, pixels: vec![[level; 3]; 6] };
        let mut film = Film::starting_with(&gray(10));
        film.append(&gray(20)).unwrap();
        film.append(&gray(30)).unwrap();
        assert!(film.append(&Picture { width: 1, height: 1, pixels: vec![[0; 3]] }).is_err());
        let path = std::env::temp_dir().join(format!("xtask-film-test-{}.apng", std::process::id()));
        film.write(&path).unwrap();
        let mut reader = png::Decoder::new(BufReader::new(File::open(&path).unwrap())).read_info().unwrap();
        assert_eq!(reader.info().animation_control().map(|control| control.num_frames), Some(3));
        for level in [10, 20, 30] {
            let mut bytes = vec![0; 18];
            reader.next_frame(&mut bytes).unwrap();
            assert_eq!(bytes, [level; 18]);
        }
        std::fs::remove_file(path).unwrap();
    }
}
