//! The files of a job folder: only inside of it, and of limited size.
//!
//! A folder may come from an untrusted source. Its description names its other files, and all of them must be inside of the folder, by their names and by the
//! targets of links.

use super::JobError;
use std::io::{BufRead, BufReader, Read};
use std::path::{Component, Path, PathBuf};

/// Maximum size of a description or picture. The largest possible picture has 64 MiB of pixels.
const MAX_WHOLE_FILE_BYTES: u64 = 64 << 20;
/// Maximum size of a memory image: what the V3D can address, and what compression may add to it.
const MAX_IMAGE_BYTES: u64 = (1 << 30) + (1 << 20);

/// Source of the files.
#[derive(Clone, Debug)]
pub(super) enum Files {
    /// On disk.
    Folder(PathBuf),
    /// In the program: names and contents.
    Embedded(&'static [(&'static str, &'static [u8])]),
}

impl Files {
    /// Fails if a name leads out of the folder.
    pub(super) fn check_name(&self, name: &str) -> Result<(), JobError> {
        let stays = Path::new(name).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if stays { Ok(()) } else { Err(self.outside(name)) }
    }

    fn outside(&self, name: &str) -> JobError {
        JobError::Outside { folder: self.path(""), name: name.to_owned() }
    }

    /// A memory image.
    pub(super) fn open_image(&self, name: &str) -> Result<Box<dyn BufRead + '_>, JobError> {
        self.open(name, MAX_IMAGE_BYTES)
    }

    /// Opens a file of limited size: larger ones are rejected, and a file without a size (a pipe, a device) is read up to the limit.
    fn open(&self, name: &str, limit: u64) -> Result<Box<dyn BufRead + '_>, JobError> {
        self.check_name(name)?;
        let failed = |error| JobError::File { path: self.path(name), error };
        match self {
            Self::Folder(folder) => {
                let path = folder.join(name).canonicalize().map_err(failed)?;
                if !path.starts_with(folder.canonicalize().map_err(failed)?) {
                    return Err(self.outside(name));
                }
                let file = std::fs::File::open(path).map_err(failed)?;
                let bytes = file.metadata().map_err(failed)?.len();
                if bytes > limit {
                    return Err(JobError::FileTooLarge { path: self.path(name), bytes, limit });
                }
                Ok(Box::new(BufReader::new(file.take(limit))))
            }
            Self::Embedded(files) => match files.iter().find(|(file, _)| *file == name) {
                Some((_, contents)) => Ok(Box::new(*contents)),
                None => Err(failed(std::io::ErrorKind::NotFound.into())),
            },
        }
    }

    /// Reads a description or picture.
    pub(super) fn read(&self, name: &str) -> Result<Vec<u8>, JobError> {
        let mut contents = Vec::new();
        let read = self.open(name, MAX_WHOLE_FILE_BYTES)?.read_to_end(&mut contents);
        read.map_err(|error| JobError::File { path: self.path(name), error })?;
        Ok(contents)
    }

    /// The name of a file in messages.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        match self {
            Self::Folder(folder) => folder.join(name),
            Self::Embedded(_) => name.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_the_folder() {
        let files = Files::Embedded(&[]);
        for (name, stays) in [
            ("mem0.bin", true),
            ("./images/mem0.bin", true),
            ("mem..bin", true),
            ("../mem0.bin", false),
            ("images/../../mem0.bin", false),
            ("/dev/zero", false),
        ] {
            assert_eq!(files.check_name(name).is_ok(), stays, "{name}");
        }
    }

    #[test]
    fn large_files_and_links_that_lead_out_are_refused() {
        let folder = std::env::temp_dir().join(format!("v3d-job-files-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        // A sparse file has a size and occupies no disk space.
        std::fs::File::create(folder.join("job.json")).unwrap().set_len(4 << 30).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("/dev/zero", folder.join("mem0.bin")).unwrap();
        let files = Files::Folder(folder.clone());
        assert!(matches!(files.read("job.json"), Err(JobError::FileTooLarge { bytes: 0x1_0000_0000, .. })));
        #[cfg(unix)]
        assert!(matches!(files.open_image("mem0.bin").err(), Some(JobError::Outside { .. })));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
