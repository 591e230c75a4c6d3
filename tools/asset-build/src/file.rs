//! Files: regular ones of a limited size; those that a document refers to, below its folder only.

use crate::Error;
use std::io::Read;
use std::path::{Component, Path};

/// Bytes that may still be read.
#[derive(Debug)]
pub(crate) struct Budget {
    left: usize,
    most: usize,
}

impl Budget {
    pub(crate) const fn new(most: usize) -> Self {
        Self { left: most, most }
    }

    /// Reads a file, if it is one with an end and within the budget.
    pub(crate) fn read(&mut self, path: &Path) -> Result<Vec<u8>, Error> {
        let failed = |error| Error::File { path: path.to_owned(), error };
        // Devices and pipes have no end, or none in sight.
        if !std::fs::metadata(path).map_err(failed)?.is_file() {
            return Err(Error::content(path, "it is not a file"));
        }
        let mut bytes = Vec::new();
        let file = std::fs::File::open(path).map_err(failed)?;
        file.take(self.left as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
        match self.left.checked_sub(bytes.len()) {
            Some(left) => self.left = left,
            None => {
                let most = self.most >> 20;
                return Err(Error::content(path, format!("more than {most} MiB are to be read")));
            }
        }
        Ok(bytes)
    }
}

/// Reads a file that a document names by a path relative to its own folder. It must be below that folder, also when links are followed: a document from
/// elsewhere reads nothing else.
pub(crate) fn read_beside(document: &Path, name: &str, budget: &mut Budget) -> Result<Vec<u8>, Error> {
    let refused = |why: &str| Err(Error::content(document, format!("{name:?} {why}")));
    if name.contains(['%', ':', '\\']) {
        return refused("is not the plain name of a file");
    }
    let path = Path::new(name);
    let is_below = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if name.is_empty() || !path.components().all(is_below) {
        return refused("is not a file below the document's folder");
    }
    let folder = match document.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let path = folder.join(path);
    let real = |path: &Path| path.canonicalize().map_err(|error| Error::File { path: path.to_owned(), error });
    let (real_folder, real_path) = (real(folder)?, real(&path)?);
    if !real_path.starts_with(&real_folder) {
        return refused("is a link to something that is not below the document's folder");
    }
    budget.read(&real_path)
}
