//! Files that are written completely or not at all.
//!
//! The contents are written to a temporary file that is then renamed, so that a full disk or an interruption leaves the previous file unchanged. If the path is
//! not an ordinary file (a terminal, a pipe, `/dev/null`), it is written directly.

use anyhow::{Context, Result, bail};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Writes a file.
pub(crate) fn write(path: &Path, contents: &[u8]) -> Result<()> {
    let failed = || format!("cannot write {}", path.display());
    let Some(beside) = beside(path).with_context(failed)? else {
        return fs::write(path, contents).with_context(failed);
    };
    let written = write_through(&beside.part, contents).and_then(|()| fs::rename(&beside.part, &beside.file));
    if written.is_err() {
        // The first error is more useful than a failure to remove the file.
        let _ = fs::remove_file(&beside.part);
    }
    written.with_context(failed)
}

/// Fails if [`write`] could not write here, as far as that is known in advance.
pub(crate) fn check(path: &Path) -> Result<()> {
    let failed = || format!("cannot write {}", path.display());
    if let Some(beside) = beside(path).with_context(failed)? {
        fs::File::create(&beside.part).and_then(|_| fs::remove_file(&beside.part)).with_context(failed)?;
    }
    Ok(())
}

/// The temporary file, and its final name.
struct Beside {
    part: PathBuf,
    file: PathBuf,
}

/// `None` if `path` exists and is not an ordinary file.
fn beside(path: &Path) -> Result<Option<Beside>> {
    let file = match fs::canonicalize(path) {
        Ok(file) if file.is_dir() => bail!("it is a folder"),
        Ok(file) if !file.is_file() => return Ok(None),
        Ok(file) => file,
        Err(_) => path.to_owned(),
    };
    let mut name = file.file_name().context("a path without a file name")?.to_owned();
    name.push(format!(".{}.part", std::process::id()));
    Ok(Some(Beside { part: file.with_file_name(name), file }))
}

/// Writes everything to the disk: some file systems report only then that it is full.
fn write_through(path: &Path, contents: &[u8]) -> std::io::Result<()> {
    let mut file = fs::File::create(path)?;
    file.write_all(contents)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of this test's own.
    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("xtask-whole-file-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn contents_are_replaced_and_nothing_is_left_beside() {
        let folder = folder("replaced");
        let path = folder.join("a.png");
        check(&path).unwrap();
        assert!(names(&folder).is_empty());
        write(&path, b"one").unwrap();
        write(&path, b"two").unwrap();
        assert_eq!((fs::read(&path).unwrap(), names(&folder)), (b"two".to_vec(), vec!["a.png".to_owned()]));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn where_nothing_can_be_written_is_told_first() {
        let folder = folder("told");
        for (path, part) in [(folder.join("no/such/a.png"), "cannot write"), (folder.clone(), "it is a folder")] {
            let message = format!("{:#}", check(&path).unwrap_err());
            assert!(message.contains(part), "{message}");
        }
        assert!(names(&folder).is_empty());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_full_device_is_an_error_and_stays_a_device() {
        let full = Path::new("/dev/full");
        if full.exists() {
            check(full).unwrap();
            assert!(write(full, b"contents").is_err());
            assert!(!fs::metadata(full).unwrap().is_file());
        }
    }
}
