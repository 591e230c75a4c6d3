//! From a folder of shaders, in assembly and in WGSL, to a Rust module, for build scripts.
//!
//! ```no_run
//! // build.rs
//! fn main() -> std::process::ExitCode {
//!     shader_build::build("shaders", "shaders.rs")
//! }
//! ```
//! ```text
//! // src/lib.rs, in a crate that depends on `shader-interface` and `v3d-hw`
//! extern crate alloc;
//! include!(concat!(env!("OUT_DIR"), "/shaders.rs"));
//! ```
//!
//! # What becomes of a folder
//! `NAME.STAGE.qasm` is one program; the stage is `coord`, `vert`, `frag` or `user`. Everything of one name becomes a module `NAME`:
//! - coordinate and vertex shader, which come in pairs: `SHADING`, a structure `Vertex` with the attributes, and one with the `Uniforms` of both;
//! - a fragment shader: `FRAGMENT` and `FragmentUniforms`. One with `.output color` leaves its end to the pipeline: see `shader_interface::Ending`;
//! - a user program: `PROGRAM` and `Uniforms`.
//!
//! `NAME.wgsl` has the stages of a module in one file: a vertex entry point becomes both of coordinate and vertex shader, and structures have the fields of
//! the uniforms that the stage reads, with matrices row by row. A compute entry point becomes `COMPUTE` and `Bindings`, which has the storage buffers, too. See
//! `shader-compiler` for the language.
//!
//! A texture that is declared with its kind is a field of type `Texture2d`, `TextureCube` or `TextureChild`, and another kind does not compile.
//! A program without uniforms has `NoUniforms`. Float uniforms by the names `viewport_half_width`, `viewport_half_height`, `viewport_z_scale` and
//! `viewport_z_offset` are no fields of these structures: whoever draws fills them in.
//!
//! # What shaders can include
//! Files of the folder itself, `<vc4.qinc>`, which comes with the assembler, and the operations of the crate `qpu-shaders`, which its `OPERATIONS.md` lists:
//! `.include "operations/integer.qinc"`.
//!
//! An error in a shader is an error of the build, with its line and a caret, and so is a broken rule of the hardware. Warnings are warnings of the build.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use qpu::Assembly;
use shader_compiler::Compiled;

mod compiled;
mod generate;

/// Where `operations/` of the crate `qpu-shaders` stands, for shaders of any crate.
const LIBRARY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../qpu-shaders");

/// The programs of one name, by stage.
#[derive(Default)]
struct Programs {
    coordinate: Option<Assembly>,
    vertex: Option<Assembly>,
    fragment: Option<Assembly>,
    user: Option<Assembly>,
}

/// Assembles and checks all shaders of `folder`, a path from the package's root, and writes their module to `file` in `OUT_DIR`. What is wrong is printed;
/// the answer is what a build script's `main` returns.
pub fn build(folder: impl AsRef<Path>, file: &str) -> ExitCode {
    match build_in_cargo(folder.as_ref(), file) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn build_in_cargo(folder: &Path, file: &str) -> Result<(), String> {
    let folder = PathBuf::from(variable("CARGO_MANIFEST_DIR")?).join(folder);
    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rerun-if-changed={LIBRARY}/operations");
    let (code, warnings) = module(&folder)?;
    for warning in warnings {
        println!("cargo::warning={warning}");
    }
    let target = PathBuf::from(variable("OUT_DIR")?).join(file);
    fs::write(&target, code).map_err(|error| format!("{}: {error}", target.display()))
}

fn variable(name: &str) -> Result<String, String> {
    env::var(name).map_err(|error| format!("{name}: {error}"))
}

/// The text of the module that a folder of shaders becomes, and what is to be said about them, line by line.
///
/// # Errors
/// What is wrong with a shader, with its line and a caret; or with the folder, in a sentence.
pub fn module(folder: &Path) -> Result<(String, Vec<String>), String> {
    let mut programs: BTreeMap<String, Programs> = BTreeMap::new();
    let mut warnings = Vec::new();
    let mut modules: BTreeMap<String, Vec<Compiled>> = BTreeMap::new();
    for path in sources(folder, "wgsl")? {
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        modules.insert(name, compile(&path)?);
    }
    for path in sources(folder, "qasm")? {
        let (name, stage) = name_and_stage(&path)?;
        let assembly = assemble(folder, &path, &mut warnings)?;
        let place = programs.entry(name).or_default();
        let slot = match stage.as_str() {
            "coord" => &mut place.coordinate,
            "vert" => &mut place.vertex,
            "frag" => &mut place.fragment,
            "user" => &mut place.user,
            other => return Err(format!("{}: there is no stage {other:?}", path.display())),
        };
        *slot = Some(assembly);
    }
    let mut code = String::new();
    for (name, programs) in &modules {
        compiled::module(&mut code, name, programs)?;
    }
    for (name, programs) in &programs {
        if modules.contains_key(name) {
            return Err(format!("{name}: there are sources in WGSL and in assembly of this name"));
        }
        generate::module(&mut code, name, programs)?;
    }
    Ok((code, warnings))
}

/// The files of a folder with an extension, sorted by name.
fn sources(folder: &Path, wanted: &str) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| format!("{}: {error}", folder.display()))?.path();
        if path.extension().is_some_and(|extension| extension == wanted) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// `cube.vert.qasm` is program `cube`, stage `vert`.
fn name_and_stage(path: &Path) -> Result<(String, String), String> {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    match stem.split_once('.') {
        Some((name, stage)) => Ok((name.to_owned(), stage.to_owned())),
        None => Err(format!("{}: a shader's file is named NAME.STAGE.qasm", path.display())),
    }
}

fn compile(path: &Path) -> Result<Vec<Compiled>, String> {
    let source = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let options = shader_compiler::Options::default();
    shader_compiler::compile(&source, &path.display().to_string(), &options).map_err(|error| error.to_string())
}

fn assemble(folder: &Path, path: &Path, warnings: &mut Vec<String>) -> Result<Assembly, String> {
    let source = qpu::Source::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let options = qpu::Options { include_dirs: vec![folder.to_owned(), LIBRARY.into()], ..qpu::Options::default() };
    let assembly = qpu::assemble(&[source], &options).map_err(|diagnostics| diagnostics.to_string())?;
    let found = qpu::check::check_assembly(&assembly);
    if found.has_errors() {
        return Err(found.to_string());
    }
    let texts = [assembly.warnings.to_string(), found.to_string()];
    warnings.extend(texts.iter().flat_map(|text| text.lines()).map(str::to_owned));
    Ok(assembly)
}

/// Has the examples of the README tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
