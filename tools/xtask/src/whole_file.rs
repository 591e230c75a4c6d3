//! Files that are written completely or not at all, with errors that name them.

use anyhow::{Context, Result};
use std::path::Path;

/// Writes a file.
pub(crate) fn write(path: &Path, contents: &[u8]) -> Result<()> {
    whole_file::write(path, contents).with_context(|| cannot_write(path))
}

/// Fails if [`write`] could not write here, as far as that is known in advance.
pub(crate) fn check(path: &Path) -> Result<()> {
    whole_file::check(path).with_context(|| cannot_write(path))
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}
