//! The SD card of a machine in QEMU.
//!
//! QEMU takes images whose size is a power of two [qemu hw/sd/sd.c].

pub(crate) mod image;

use self::image::CardFile;
use crate::whole_file;
use anyhow::{Context, Result, ensure};
use std::path::{Component, Path, PathBuf};

/// Most folders within each other: a link may lead in a circle.
const MOST_DEPTH: usize = 16;

/// A card.
pub(crate) struct Card {
    image: PathBuf,
    /// The folder that it was made of, and its files.
    folder: Option<(PathBuf, Vec<CardFile>)>,
}

impl Card {
    /// The image `path`, or an image of the files in the folder `path`, which is written to the folder `scratch`.
    pub(crate) fn insert(path: &Path, scratch: &Path) -> Result<Self> {
        if !path.is_dir() {
            let bytes = std::fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?.len();
            ensure!(
                bytes.is_power_of_two(),
                "{} has {bytes} bytes, and QEMU takes cards whose size is a power of two: `truncate -s {} {0}`",
                path.display(),
                bytes.next_power_of_two()
            );
            return Ok(Self { image: std::path::absolute(path)?, folder: None });
        }
        let mut files = Vec::new();
        collect(path, "", 0, &mut files)?;
        let image = scratch.join("card.img");
        std::fs::write(&image, image::build(&files)?)?;
        Ok(Self { image, folder: Some((path.to_owned(), files)) })
    }

    /// The image.
    pub(crate) fn image(&self) -> &Path {
        &self.image
    }

    /// Writes the files that are new on the card to the folder that it was made of; returns their paths.
    pub(crate) fn take_back(&self) -> Result<Vec<PathBuf>> {
        let Some((folder, known)) = &self.folder else { return Ok(Vec::new()) };
        let image = std::fs::read(&self.image)?;
        let mut written = Vec::new();
        for file in image::read_all(&image)? {
            if known.iter().any(|known| known.name == file.name) {
                continue;
            }
            // The guest chooses names.
            let is_below = Path::new(&file.name).components().all(|part| matches!(part, Component::Normal(_)));
            ensure!(is_below, "the card has the file {:?}, which is not below a folder", file.name);
            let path = folder.join(&file.name);
            whole_file::write(&path, &file.bytes)?;
            written.push(path);
        }
        Ok(written)
    }
}

/// Adds the files in a folder, whose path on the card is `name`.
fn collect(folder: &Path, name: &str, depth: usize, files: &mut Vec<CardFile>) -> Result<()> {
    ensure!(depth < MOST_DEPTH, "{} is too deep for a card", folder.display());
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut entries = entries.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let own = entry.file_name().into_string().ok().with_context(|| format!("{} is not UTF-8", path.display()))?;
        let name = if name.is_empty() { own } else { format!("{name}/{own}") };
        if path.is_dir() {
            collect(&path, &name, depth + 1, files)?;
        } else {
            files.push(CardFile::read(&name, &path)?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_becomes_a_card_and_gets_what_is_new_on_it() {
        let folder = std::env::temp_dir().join(format!("xtask-card-{}", std::process::id()));
        let (source, scratch) = (folder.join("source"), folder.join("scratch"));
        std::fs::create_dir_all(source.join("a/b")).unwrap();
        std::fs::create_dir_all(&scratch).unwrap();
        std::fs::write(source.join("a/b/deep.txt"), "deep").unwrap();
        std::fs::write(source.join("one"), "1").unwrap();
        let card = Card::insert(&source, &scratch).unwrap();
        let mut files = image::read_all(&std::fs::read(card.image()).unwrap()).unwrap();
        files.sort_by(|a, b| a.name.cmp(&b.name));
        assert_eq!(files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(), ["a/b/deep.txt", "one"]);
        assert!(card.take_back().unwrap().is_empty());
        files.push(CardFile { name: "screen-1.png".to_owned(), bytes: b"PNG".to_vec() });
        std::fs::write(card.image(), image::build(&files).unwrap()).unwrap();
        assert_eq!(card.take_back().unwrap(), [source.join("screen-1.png")]);
        assert_eq!(std::fs::read(source.join("screen-1.png")).unwrap(), b"PNG");

        let odd = folder.join("odd.img");
        std::fs::write(&odd, [0; 1000]).unwrap();
        let error = Card::insert(&odd, &scratch).err().unwrap().to_string();
        assert!(error.contains("truncate -s 1024"), "{error}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
