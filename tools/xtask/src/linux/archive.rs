//! Archives from which Linux fills its first file system.
//!
//! Linux takes several of them behind each other: one with what Debian's packages have, and one with a job.
//!
//! # Sources
//! Linux' `Documentation/driver-api/early-userspace/buffer-format.rst`: "newc" headers, 4-byte alignment, the last entry's name.

use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Types and permissions of entries.
const FOLDER: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;
const LINK: u32 = 0o120_777;

/// An archive that is being written.
#[derive(Debug, Default)]
pub(super) struct Archive {
    bytes: Vec<u8>,
    entries: u32,
}

impl Archive {
    fn entry(&mut self, name: &str, mode: u32, contents: &[u8]) {
        self.entries += 1;
        let links = if mode == FOLDER { 2 } else { 1 };
        let (size, name_size) = (contents.len() as u32, name.len() as u32 + 1);
        let fields = [self.entries, mode, 0, 0, links, 0, size, 0, 0, 0, 0, name_size, 0];
        self.bytes.extend_from_slice(b"070701");
        self.bytes.extend(fields.into_iter().flat_map(|field| format!("{field:08x}").into_bytes()));
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.push(0);
        self.align();
        self.bytes.extend_from_slice(contents);
        self.align();
    }

    fn align(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    /// Adds a folder, whose parent must be there already.
    pub(super) fn folder(&mut self, name: &str) {
        self.entry(name, FOLDER, &[]);
    }

    /// Adds a file that may be executed.
    pub(super) fn file(&mut self, name: &str, contents: &[u8]) {
        self.entry(name, PROGRAM, contents);
    }

    /// Adds a copy of a file.
    pub(super) fn copy(&mut self, name: &str, from: &Path) -> Result<()> {
        self.file(name, &fs::read(from).with_context(|| format!("cannot read {}", from.display()))?);
        Ok(())
    }

    /// Adds a folder of a system with all that is in it.
    pub(super) fn tree(&mut self, root: &Path, folder: &Path) -> Result<()> {
        self.folder(&folder.to_string_lossy());
        let entries =
            fs::read_dir(root.join(folder)).with_context(|| format!("cannot read {}", root.join(folder).display()))?;
        let mut paths: Vec<PathBuf> =
            entries.map(|entry| Ok(folder.join(entry?.file_name()))).collect::<Result<_>>()?;
        paths.sort();
        for path in paths {
            if root.join(&path).is_dir() {
                self.tree(root, &path)?;
            } else {
                self.copy(&path.to_string_lossy(), &root.join(&path))?;
            }
        }
        Ok(())
    }

    /// Adds a symbolic link.
    pub(super) fn link(&mut self, name: &str, to: &str) {
        self.entry(name, LINK, to.as_bytes());
    }

    /// The bytes of the whole archive.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, &[]);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::process::{Command, Stdio};

    /// The program `cpio`, where there is one, lists what was added.
    #[test]
    fn cpio_reads_it() {
        let mut archive = Archive::default();
        archive.folder("bin");
        archive.file("bin/odd", b"three");
        archive.link("sh", "bin/odd");
        let bytes = archive.finish();
        assert_eq!(bytes.len() % 4, 0);
        assert_eq!(&bytes[..6], b"070701");
        let mut cpio = Command::new("cpio");
        cpio.arg("-tv").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let Ok(mut child) = cpio.spawn() else { return };
        child.stdin.take().unwrap().write_all(&bytes).unwrap();
        let text = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(lines[0].starts_with("drwxr-xr-x") && lines[0].ends_with(" bin"), "{text}");
        assert!(lines[1].starts_with("-rwxr-xr-x") && lines[1].contains(" 5 "), "{text}");
        assert!(lines[2].ends_with(" sh -> bin/odd"), "{text}");
    }
}
