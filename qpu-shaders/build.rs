//! Assembles `shaders/` into Rust: words, and types for what feeds them
//!
//! `NAME.STAGE.qasm` is one program; the stage is `coord`, `vert`, `frag` or `user`. Coordinate and vertex shader of one name become one vertex shading. An
//! error in a shader is an error of the build, with its line and a caret, and so is a broken rule of the hardware. Warnings are warnings of the build.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use qpu::Assembly;

#[path = "build/generate.rs"]
mod generate;

/// The programs of one name, by stage.
#[derive(Default)]
struct Programs {
    coordinate: Option<Assembly>,
    vertex: Option<Assembly>,
    fragment: Option<Assembly>,
    user: Option<Assembly>,
}

fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), String> {
    let folder = PathBuf::from(variable("CARGO_MANIFEST_DIR")?).join("shaders");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut programs: BTreeMap<String, Programs> = BTreeMap::new();
    for path in sources(&folder)? {
        let (name, stage) = name_and_stage(&path)?;
        let assembly = assemble(&folder, &path)?;
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
    for (name, programs) in &programs {
        generate::module(&mut code, name, programs)?;
    }
    let target = PathBuf::from(variable("OUT_DIR")?).join("shaders.rs");
    fs::write(&target, code).map_err(|error| format!("{}: {error}", target.display()))
}

fn variable(name: &str) -> Result<String, String> {
    env::var(name).map_err(|error| format!("{name}: {error}"))
}

/// The `.qasm` files of a folder, sorted by name.
fn sources(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| format!("{}: {error}", folder.display()))?.path();
        if path.extension().is_some_and(|extension| extension == "qasm") {
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

fn assemble(folder: &Path, path: &Path) -> Result<Assembly, String> {
    let source = qpu::Source::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let options = qpu::Options { include_dirs: vec![folder.to_owned()], ..qpu::Options::default() };
    let assembly = qpu::assemble(&[source], &options).map_err(|diagnostics| diagnostics.to_string())?;
    let found = qpu::check::check_assembly(&assembly);
    if found.has_errors() {
        return Err(found.to_string());
    }
    for line in assembly.warnings.to_string().lines().chain(found.to_string().lines()) {
        println!("cargo::warning={line}");
    }
    Ok(assembly)
}
