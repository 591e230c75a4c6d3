//! Files that are there whole or not at all.
//!
//! Contents are written beside the file and then take its name, so that a full disk or an interruption leaves what was there before. What is
//! no ordinary file (a terminal, a pipe, `/dev/null`) is written to as it is.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes a file with what `fill` gives.
pub fn write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let Some((part, file)) = beside(path)? else {
        return fill_file(File::create(path)?, fill).map(drop);
    };
    let written = File::create(&part)
        .and_then(|new| fill_file(new, fill))
        // Not every file system tells before this that it is full.
        .and_then(|new| new.sync_all())
        .and_then(|()| fs::rename(&part, file));
    if written.is_err() {
        // The first error says more than that this one was not there either.
        let _ = fs::remove_file(&part);
    }
    written
}

fn fill_file(file: File, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<File> {
    let mut file = BufWriter::new(file);
    fill(&mut file)?;
    file.into_inner().map_err(io::IntoInnerError::into_error)
}

/// An error if [`write`] could not write here, as far as one can know before there is something to write.
pub fn check(path: &Path) -> io::Result<()> {
    match beside(path)? {
        Some((part, _)) => File::create(&part).and_then(|_| fs::remove_file(part)),
        None => Ok(()),
    }
}

/// Where the contents go until they are whole, and the file that they are to be. `None` if `path` is there and no ordinary file.
fn beside(path: &Path) -> io::Result<Option<(PathBuf, PathBuf)>> {
    let file = match fs::canonicalize(path) {
        Ok(file) if file.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(file) if !file.is_file() => return Ok(None),
        Ok(file) => file,
        Err(_) => path.to_owned(),
    };
    let Some(name) = file.file_name() else { return Err(io::ErrorKind::InvalidFilename.into()) };
    let mut name = name.to_owned();
    name.push(format!(".{}.part", std::process::id()));
    Ok(Some((file.with_file_name(name), file)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_leaves_what_was_there() {
        let folder = std::env::temp_dir().join(format!("v3d-whole-file-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a.png");
        check(&path).unwrap();
        assert!(!path.exists());
        write(&path, |file| file.write_all(b"whole")).unwrap();
        let full = |file: &mut dyn Write| {
            file.write_all(b"half of")?;
            Err(io::ErrorKind::StorageFull.into())
        };
        assert_eq!(write(&path, full).unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing is left beside");
        assert!(check(&folder).is_err() && check(&folder.join("no/such")).is_err());
        fs::remove_dir_all(folder).unwrap();
    }
}
