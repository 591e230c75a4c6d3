//! The generated module: constants as text, and their bytes as files beside it.

use crate::Error;
use std::fmt::Write as _;
use std::path::Path;

/// A module under construction.
#[derive(Debug, Default)]
pub(crate) struct Module {
    text: String,
    names: Vec<String>,
    blobs: Vec<(String, Vec<u8>)>,
}

impl Module {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Reserves a name for an asset and returns the name of its constant: `crate_side` becomes `CRATE_SIDE`.
    pub(crate) fn claim(&mut self, name: &str) -> Result<String, Error> {
        let error = |reason| Err(Error::Name { name: name.to_owned(), reason });
        let well_formed = name.starts_with(|first: char| first.is_ascii_lowercase())
            && name.chars().all(|each| each.is_ascii_lowercase() || each.is_ascii_digit() || each == '_');
        if !well_formed {
            return error("is not of the form a_name_1: lower case letters, digits and underscores, a letter first");
        }
        if self.names.iter().any(|taken| taken == name) {
            return error("is used twice");
        }
        self.names.push(name.to_owned());
        Ok(name.to_ascii_uppercase())
    }

    /// Adds a constant with a line of documentation.
    pub(crate) fn constant(&mut self, documentation: &str, name: &str, kind: &str, value: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "/// {documentation}\npub const {name}: renderer::asset::{kind} = {value};");
    }

    /// Adds bytes and returns the expression that refers to them.
    pub(crate) fn bytes(&mut self, name: &str, bytes: Vec<u8>) -> String {
        let file = format!("{}.bin", name.to_ascii_lowercase());
        let expression = format!("include_bytes!({file:?})");
        self.blobs.push((file, bytes));
        expression
    }

    /// Writes `assets.rs` and its bytes into a folder.
    pub(crate) fn save(&self, folder: &Path) -> Result<(), Error> {
        let text = (String::from("assets.rs"), self.text.clone().into_bytes());
        for (name, bytes) in self.blobs.iter().chain([&text]) {
            let path = folder.join(name);
            std::fs::write(&path, bytes).map_err(|error| Error::File { path, error })?;
        }
        Ok(())
    }
}
