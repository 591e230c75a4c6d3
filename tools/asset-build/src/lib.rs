//! Turns models, pictures and fonts into constants for the renderer, in a build script.
//!
//! The Pi parses nothing: a build script names files, and this crate reads them on the developer's machine and writes a Rust module with constants of the types
//! in `renderer::asset`. Their bytes are in files beside the module, in the layout that the GPU reads.
//!
//! ```no_run
//! use asset_build::{Assets, FontOptions};
//!
//! // build.rs
//! fn main() {
//!     let built = Assets::new()
//!         .model("lighthouse", "assets/lighthouse.glb")
//!         .image("crate_side", "assets/crate.png")
//!         .font("body", "assets/roboto-regular.ttf", FontOptions::coverage(18.0))
//!         .font("title", "assets/roboto-medium.ttf", FontOptions::distance(40.0, 6))
//!         .build();
//!     if let Err(error) = built {
//!         eprintln!("{error}");
//!         std::process::exit(1);
//!     }
//! }
//! ```
//! and in the program:
//! ```text
//! mod assets {
//!     include!(concat!(env!("OUT_DIR"), "/assets.rs"));
//! }
//! let model: &renderer::asset::Model = &assets::LIGHTHOUSE;
//! ```
//! A file that cannot be used fails the build; the error has its name and the reason.
//!
//! A program that is given models while it runs, as a page or an editor is, reads them by [`Model::from_bytes`].
#![forbid(unsafe_code)]

mod accessor;
mod distance_field;
mod document;
mod figure;
mod file;
mod font;
mod model;
mod module;
mod picture;
mod pose;

pub use font::FontOptions;
pub use model::{Model, Part, Vertex};
pub use picture::Picture;

use module::Module;
use std::path::{Path, PathBuf};

/// Why assets could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: std::io::Error,
    },
    /// A file is malformed, or has contents that the renderer does not support.
    #[error("{}: {reason}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The reason, as a sentence without a full stop.
        reason: String,
    },
    /// A name is not usable as the name of a constant, or is used twice.
    #[error("the asset's name {name:?} {reason}")]
    Name {
        /// The name.
        name: String,
        /// The reason.
        reason: &'static str,
    },
    /// An environment variable is missing that cargo sets for build scripts.
    #[error("{0} is not set: this is to be called from a build script")]
    NotInBuildScript(&'static str),
}

impl Error {
    fn content(path: &Path, reason: impl ToString) -> Self {
        Self::Content { path: path.to_owned(), reason: reason.to_string() }
    }
}

/// A file and the constant it becomes.
#[derive(Clone, Debug)]
enum AssetKind {
    Model,
    Figure,
    Image,
    Font(FontOptions),
}

/// The assets of one crate.
#[derive(Clone, Debug, Default)]
pub struct Assets {
    sources: Vec<(String, PathBuf, AssetKind)>,
}

impl Assets {
    /// Creates an empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a glTF 2.0 model (`.glb` or `.gltf`); it becomes the constant `NAME: renderer::asset::Model`.
    ///
    /// It has the triangles of all scenes, with their nodes' transforms applied. Skins and animations are ignored ([`Assets::figure`] has them); primitives
    /// that are not triangles are an error.
    pub fn model(self, name: &str, path: impl Into<PathBuf>) -> Self {
        self.add(name, path.into(), AssetKind::Model)
    }

    /// Adds a glTF 2.0 model with a skin; it becomes the constant `NAME: renderer::asset::Figure`.
    ///
    /// It has the triangles of all nodes with this skin, and all animations, of any interpolation, as 30 poses a second: in each, the matrix of each joint with
    /// the movements of all nodes above it. More than one skin or 32 joints, meshes without the skin, more than four joints of a vertex, and morph targets are
    /// errors.
    pub fn figure(self, name: &str, path: impl Into<PathBuf>) -> Self {
        self.add(name, path.into(), AssetKind::Figure)
    }

    /// Adds a PNG or JPEG picture; it becomes the constant `NAME: renderer::asset::Image`.
    pub fn image(self, name: &str, path: impl Into<PathBuf>) -> Self {
        self.add(name, path.into(), AssetKind::Image)
    }

    /// Adds a TrueType or OpenType font; it becomes the constant `NAME: renderer::asset::Font`.
    pub fn font(self, name: &str, path: impl Into<PathBuf>, options: FontOptions) -> Self {
        self.add(name, path.into(), AssetKind::Font(options))
    }

    fn add(mut self, name: &str, path: PathBuf, source: AssetKind) -> Self {
        self.sources.push((name.to_owned(), path, source));
        self
    }

    /// Builds everything into `$OUT_DIR/assets.rs` from files relative to the crate's folder, and tells cargo to build
    /// again when one of them changes.
    pub fn build(&self) -> Result<(), Error> {
        let variable = |name| std::env::var_os(name).map(PathBuf::from).ok_or(Error::NotInBuildScript(name));
        let (from, to) = (variable("CARGO_MANIFEST_DIR")?, variable("OUT_DIR")?);
        for (_, path, _) in &self.sources {
            println!("cargo::rerun-if-changed={}", from.join(path).display());
        }
        self.write(&from, &to)
    }

    /// Builds everything into `TO/assets.rs` from files relative to `from`.
    pub fn write(&self, from: &Path, to: &Path) -> Result<(), Error> {
        let mut module = Module::new();
        for (name, path, source) in &self.sources {
            let constant = module.claim(name)?;
            let path = from.join(path);
            match source {
                AssetKind::Model => model::load(&path)?.write(&mut module, &constant),
                AssetKind::Figure => figure::load(&path)?.write(&mut module, &constant),
                AssetKind::Image => picture::load(&path)?.write(&mut module, &constant),
                AssetKind::Font(options) => font::load(&path, options)?.write(&mut module, &constant),
            }
        }
        module.save(to)
    }
}
