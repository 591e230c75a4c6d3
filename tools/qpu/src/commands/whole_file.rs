//! Files that are there whole or not at all.
//!
//! Contents are written beside the file and then take its name, so that a full disk or an interruption leaves what was there
//! before. What is no ordinary file (a terminal, a pipe, `/dev/null`) is written to as it is.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Writes a file.
pub(super) fn write(path: &Path, contents: &[u8]) -> io::Result<()> {
    let file = match fs::canonicalize(path) {
        Ok(file) if !file.is_file() => return fs::write(file, contents),
        Ok(file) => file,
        Err(_) => path.to_owned(),
    };
    let mut name = file.file_name().ok_or(io::ErrorKind::InvalidFilename)?.to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = file.with_file_name(name);
    let written = File::create(&part)
        .and_then(|mut new| {
            new.write_all(contents)?;
            // Not every file system tells before this that it is full.
            new.sync_all()
        })
        .and_then(|()| fs::rename(&part, file));
    if written.is_err() {
        // The first error says more than that this one was not there either.
        let _ = fs::remove_file(&part);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole_and_a_device_is_not() {
        let folder = std::env::temp_dir().join(format!("qpu-whole-file-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("shader.bin");
        write(&path, b"one").unwrap();
        // Who has the old file open keeps it: it is replaced, not written over.
        let mut before = File::open(&path).unwrap();
        write(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(io::read_to_string(&mut before).unwrap(), "one");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing is left beside");
        assert!(write(&folder, b"three").is_err() && write(&folder.join("no/such"), b"three").is_err());
        fs::remove_dir_all(&folder).unwrap();
        let full = Path::new("/dev/full");
        if full.exists() {
            assert_eq!(write(full, b"words").unwrap_err().kind(), io::ErrorKind::StorageFull);
            assert!(!fs::metadata(full).unwrap().is_file());
        }
    }
}
