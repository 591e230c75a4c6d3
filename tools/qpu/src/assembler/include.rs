//! Resolves the name in `.include`: a text among the options, a file, or the include file that is built in.

use alloc::string::String;
#[cfg(feature = "std")]
use alloc::string::ToString;
#[cfg(feature = "std")]
use alloc::vec::Vec;
#[cfg(feature = "std")]
use std::path::{Path, PathBuf};

use super::Assembler;
use crate::source::Source;

/// The built-in include file: set-up words of the VPM and its DMA.
pub(super) const STANDARD_INCLUDE: &str = "vc4.qinc";
pub(super) const STANDARD_INCLUDE_TEXT: &str = include_str!("../../include/vc4.qinc");

impl Assembler<'_> {
    /// The file number of an included name, or why no such file was found.
    pub(super) fn included(&mut self, name: &str, in_dirs: bool) -> Result<u32, String> {
        match self.options.includes.iter().find(|source| source.name == name) {
            Some(source) => Ok(self.file_number(source)),
            None => self.included_file(name, in_dirs),
        }
    }

    #[cfg(feature = "std")]
    fn included_file(&mut self, name: &str, in_dirs: bool) -> Result<u32, String> {
        let beside = self.files.get(self.cursor.file as usize).map(|file| PathBuf::from(&file.source.name));
        let beside = beside.as_deref().and_then(Path::parent).unwrap_or(Path::new("")).join(name);
        let mut candidates: Vec<PathBuf> = Vec::new();
        if in_dirs {
            candidates.extend(self.options.include_dirs.iter().map(|dir| dir.join(name)));
        }
        candidates.push(beside);
        if !in_dirs {
            candidates.extend(self.options.include_dirs.iter().map(|dir| dir.join(name)));
        }
        let path = candidates.iter().find(|path| path.is_file()).or(candidates.first());
        let path = path.map_or(PathBuf::from(name), Clone::clone);
        if let Some(&number) = self.file_numbers.get(&path.display().to_string()) {
            return Ok(number);
        }
        let source = match Source::read(path) {
            Err(_) if name == STANDARD_INCLUDE => Source::new(STANDARD_INCLUDE, STANDARD_INCLUDE_TEXT),
            other => other.map_err(|error| error.to_string())?,
        };
        Ok(self.file_number(&source))
    }

    #[cfg(not(feature = "std"))]
    fn included_file(&mut self, name: &str, _in_dirs: bool) -> Result<u32, String> {
        if name != STANDARD_INCLUDE {
            return Err(String::from("the assembler was built without files"));
        }
        if let Some(&number) = self.file_numbers.get(STANDARD_INCLUDE) {
            return Ok(number);
        }
        Ok(self.file_number(&Source::new(STANDARD_INCLUDE, STANDARD_INCLUDE_TEXT)))
    }
}
