//! Builds a Rust module from a folder of shaders in assembly and WGSL, for build scripts.
//!
//! ```no_run
//! // build.rs
//! fn main() -> std::process::ExitCode {
//!     shader_build::build("shaders", "shaders.rs")
//! }
//! ```
//! ```text
//! // src/lib.rs, in a crate that depends on `shader-interface`
//! include!(concat!(env!("OUT_DIR"), "/shaders.rs"));
//! ```
//!
//! # The generated module
//! `NAME.STAGE.qasm` is one program; the stage is `coord`, `vert`, `frag` or `user`. All programs of one name become a module `NAME`:
//! - coordinate and vertex shader, which come in pairs: `SHADING`, a structure `Vertex` with the attributes, and one with the `Uniforms` of both;
//! - a fragment shader: `FRAGMENT` and `FragmentUniforms`. With `.output color` its end is the pipeline's: see `shader_interface::Ending`;
//! - a user program: `PROGRAM` and `Uniforms`.
//!
//! `NAME.wgsl` has the stages of a module in one file: a vertex entry point becomes both a coordinate and a vertex shader, and structures have the fields of
//! the uniforms that the stage reads, with matrices in row-major order. A compute entry point becomes `COMPUTE` and `Bindings`, which includes the storage
//! buffers. `shader-compiler` documents the language, and which uniforms are storage buffers. [`build_with`] takes its options: with `fast_math`,
//! exponentials and logarithms are as fast and as exact as those of OpenGL ES drivers, which is enough for colours.
//!
//! A texture that is declared with its kind is a field of type `Texture2d`, `TextureCube` or `TextureChild`, and binding another kind does not compile. A
//! program without uniforms has `NoUniforms`. The float uniforms `viewport_half_width`, `viewport_half_height`, `viewport_z_scale` and `viewport_z_offset` are
//! not fields of these structures: the renderer fills them in.
//!
//! # Without a build script
//! A library for others can keep the generated module in its tree instead: whoever builds it then needs neither the assembler nor the compiler. A test calls
//! [`expect_file`], which compares the module with the file, and writes it on request.
//!
//! # Includes
//! Shaders can include files of their folder, `<vc4.qinc>`, which comes with the assembler, and the operations of the crate `qpu-shaders`, which its
//! `OPERATIONS.md` lists: `.include "operations/integer.qinc"`.
//!
//! An error in a shader is an error of the build, with its line and a caret, and so is a violated rule of the hardware. Warnings are warnings of the build.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use qpu::Assembly;
pub use shader_compiler::Options;

mod c_header;
mod compiled;
mod generate;
mod kept;
mod origin;

pub use c_header::expect_c_header;
pub use kept::expect_file;

/// The folder of the crate `qpu-shaders`, whose `operations/` shaders of any crate can include.
const LIBRARY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../qpu-shaders");

/// The programs of one name, by stage.
#[derive(Default)]
struct Programs {
    coordinate: Option<Assembly>,
    vertex: Option<Assembly>,
    fragment: Option<Assembly>,
    user: Option<Assembly>,
}

/// As [`build_with`], with the compiler's default options.
pub fn build(folder: impl AsRef<Path>, file: &str) -> ExitCode {
    build_with(folder, file, &Options::default())
}

/// Compiles, assembles and checks all shaders of `folder`, a path from the package's root, and writes their module to `file` in
/// `OUT_DIR`. Prints errors, and returns the exit code for a build script's `main`.
pub fn build_with(folder: impl AsRef<Path>, file: &str, options: &Options) -> ExitCode {
    match build_in_cargo(folder.as_ref(), file, options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn build_in_cargo(folder: &Path, file: &str, options: &Options) -> Result<(), String> {
    let folder = PathBuf::from(variable("CARGO_MANIFEST_DIR")?).join(folder);
    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rerun-if-changed={LIBRARY}/operations");
    let (code, warnings) = module(&folder, options)?;
    for warning in warnings {
        println!("cargo::warning={warning}");
    }
    let target = PathBuf::from(variable("OUT_DIR")?).join(file);
    fs::write(&target, code).map_err(|error| format!("{}: {error}", target.display()))
}

fn variable(name: &str) -> Result<String, String> {
    env::var(name).map_err(|error| format!("{name}: {error}"))
}

/// The module's text for a folder of shaders, and its warnings, line by line.
///
/// # Errors
/// The errors of a shader, with line and caret; or an error of the folder.
pub fn module(folder: &Path, options: &Options) -> Result<(String, Vec<String>), String> {
    let mut programs: BTreeMap<String, Programs> = BTreeMap::new();
    let mut warnings = Vec::new();
    let mut modules: BTreeMap<String, compiled::CompiledSource> = BTreeMap::new();
    for path in sources(folder, "wgsl")? {
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        modules.insert(name, compile(&path, options)?);
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
            other => return Err(format!("{}: unknown stage {other:?}", path.display())),
        };
        *slot = Some(assembly);
    }
    let mut code = String::new();
    for (name, programs) in &modules {
        compiled::module(&mut code, name, programs)?;
    }
    for (name, programs) in &programs {
        if modules.contains_key(name) {
            return Err(format!("{name}: this name has sources in both WGSL and assembly"));
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

/// Splits `cube.vert.qasm` into the program `cube` and the stage `vert`.
fn name_and_stage(path: &Path) -> Result<(String, String), String> {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    match stem.split_once('.') {
        Some((name, stage)) => Ok((name.to_owned(), stage.to_owned())),
        None => Err(format!("{}: a shader's file must be named NAME.STAGE.qasm", path.display())),
    }
}

fn compile(path: &Path, options: &Options) -> Result<compiled::CompiledSource, String> {
    let source = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    compiled::CompiledSource::new(&source, &path.display().to_string(), options).map_err(|error| error.to_string())
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

/// Runs the README's examples as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
