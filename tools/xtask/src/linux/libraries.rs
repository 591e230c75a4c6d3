//! The libraries that a program for arm64 needs, among those of Debian's packages.

use super::archive::Archive;
use crate::whole_file;
use anyhow::{Context, Result};
use object::Endianness;
use object::elf::{DT_NEEDED, FileHeader64, PT_INTERP};
use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Where Debian has libraries for arm64: the first place is the one in the archive. The last one has a library that only Weston needs.
pub(super) const FOLDERS: [&str; 3] =
    ["usr/lib/aarch64-linux-gnu", "lib/aarch64-linux-gnu", "usr/lib/aarch64-linux-gnu/weston"];
/// The program that loads others.
pub(super) const LOADER: &str = "ld-linux-aarch64.so.1";

/// Libraries that are in an archive.
#[derive(Debug, Default)]
pub(super) struct Libraries(BTreeSet<String>);

impl Libraries {
    /// The file with their names, in the folder of the system's archive.
    const FILE: &'static str = "libraries";

    /// Those of the system's archive.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let file = folder.join(Self::FILE);
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        Ok(Self(text.lines().map(str::to_owned).collect()))
    }

    /// Writes their names down.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        let lines: String = self.0.iter().map(|name| format!("{name}\n")).collect();
        whole_file::write(&folder.join(Self::FILE), lines.as_bytes())
    }

    /// Adds a library of the system, and what it needs, unless it is there.
    pub(super) fn add(&mut self, root: &Path, name: &str, archive: &mut Archive) -> Result<()> {
        if !self.0.insert(name.to_owned()) {
            return Ok(());
        }
        let file =
            find(root, name).with_context(|| format!("Debian's packages in {} have no {name}", root.display()))?;
        let contents = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        archive.file(&format!("{}/{name}", FOLDERS[0]), &contents);
        self.needed_by(root, &contents, archive)
    }

    /// Adds what a program or library needs.
    pub(super) fn needed_by(&mut self, root: &Path, elf: &[u8], archive: &mut Archive) -> Result<()> {
        for name in needed(elf)? {
            self.add(root, &name, archive)?;
        }
        Ok(())
    }
}

/// A library of the system.
fn find(root: &Path, name: &str) -> Option<PathBuf> {
    FOLDERS.iter().map(|folder| root.join(folder).join(name)).find(|path| path.is_file())
}

/// The names of the libraries that an ELF file needs.
pub(super) fn needed(elf: &[u8]) -> Result<Vec<String>> {
    let header = FileHeader64::<Endianness>::parse(elf)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, elf)?;
    let Some((entries, strings)) = sections.dynamic(endian, elf)? else { return Ok(Vec::new()) };
    let strings = sections.strings(endian, elf, strings)?;
    let names = entries.iter().filter(|entry| entry.d_tag(endian) == DT_NEEDED);
    names.map(|entry| Ok(String::from_utf8_lossy(entry.string(endian, strings)?).into_owned())).collect()
}

/// Whether a file is a program for arm64; one that is linked statically has no loader.
pub(super) fn is_program(elf: &[u8]) -> Result<bool> {
    let header = FileHeader64::<Endianness>::parse(elf)?;
    let endian = header.endian()?;
    let segments = header.program_headers(endian, elf)?;
    let is_dynamic = segments.iter().any(|segment| segment.p_type(endian) == PT_INTERP);
    Ok(header.e_machine(endian) == object::elf::EM_AARCH64 && (is_dynamic || needed(elf)?.is_empty()))
}
