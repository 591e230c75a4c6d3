//! Files that are written whole or not at all.
//!
//! Contents are written to a temporary file, which then takes the file's name, so that a full disk or an interruption leaves the old contents.
//! Anything but an ordinary file (a terminal, a pipe, `/dev/null`) is written directly.

#![forbid(unsafe_code)]

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes a file.
///
/// # Errors
/// Those of the file system; the file is then as it was.
pub fn write(path: &Path, contents: &[u8]) -> io::Result<()> {
    write_with(path, |file| file.write_all(contents))
}

/// Writes a file with the output of `fill`.
///
/// # Errors
/// Those of `fill` and of the file system; the file is then as it was.
pub fn write_with(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let Some((part, file)) = beside(path)? else {
        return fill_file(File::create(path)?, fill).map(drop);
    };
    let written = File::create(&part)
        .and_then(|new| fill_file(new, fill))
        // Some file systems report only now that they are full.
        .and_then(|new| new.sync_all())
        .and_then(|()| fs::rename(&part, file));
    if written.is_err() {
        // The first error is the cause, not this one.
        let _ = fs::remove_file(&part);
    }
    written
}

fn fill_file(file: File, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<File> {
    let mut file = BufWriter::new(file);
    fill(&mut file)?;
    file.into_inner().map_err(io::IntoInnerError::into_error)
}

/// Checks that [`write`] can write here, as far as that can be known in advance.
///
/// # Errors
/// Those that writing would have now.
pub fn check(path: &Path) -> io::Result<()> {
    match beside(path)? {
        Some((part, _)) => File::create(&part).and_then(|_| fs::remove_file(part)),
        None => Ok(()),
    }
}

/// The temporary file, and the file that it becomes. `None` if `path` exists and is no ordinary file.
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

    /// A folder of this test's own.
    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("whole-file-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn a_failure_leaves_what_was_there() {
        let folder = folder("failure");
        let path = folder.join("a.png");
        check(&path).unwrap();
        assert!(!path.exists());
        write(&path, b"whole").unwrap();
        let full = |file: &mut dyn Write| {
            file.write_all(b"half of")?;
            Err(io::ErrorKind::StorageFull.into())
        };
        assert_eq!(write_with(&path, full).unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing is left beside");
        for impossible in [folder.clone(), folder.join("no/such")] {
            assert!(check(&impossible).is_err() && write(&impossible, b"contents").is_err());
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_is_replaced_and_not_written_over() {
        let folder = folder("replaced");
        let path = folder.join("shader.bin");
        write(&path, b"one").unwrap();
        // Whoever has the old file open keeps it.
        let mut before = File::open(&path).unwrap();
        write(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(io::read_to_string(&mut before).unwrap(), "one");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_full_device_is_an_error_and_stays_a_device() {
        let full = Path::new("/dev/full");
        if full.exists() {
            check(full).unwrap();
            assert_eq!(write(full, b"contents").unwrap_err().kind(), io::ErrorKind::StorageFull);
            assert!(!fs::metadata(full).unwrap().is_file());
        }
    }
}
