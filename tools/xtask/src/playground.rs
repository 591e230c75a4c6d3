//! `cargo xtask playground`: the page in which people write shaders, as a folder of files.
//!
//! The model, the compiler and the assembler become a module for WebAssembly; wasm-bindgen's generator is built from source with the version that the lock file
//! names, so that nothing is to be installed for it. The editor is CodeMirror, from npm with a lock file, and esbuild bundles it with the page's modules:
//! both come from `npm ci`, which needs Node alone. Nothing is loaded from elsewhere when the page runs.

mod bundle;
pub(crate) mod check;

use crate::setup::{self, WEB_TARGET};
use crate::workspace::{Workspace, cargo, run};
use anyhow::{Context, Result};
use lexopt::prelude::*;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use bundle::node;

const HELP: &str = "\
cargo xtask playground (-o DIR | --serve [PORT]) [-o DIR]

Builds the page in which one writes shaders and sees their instructions, costs and pictures, as a folder of files. Any file host serves it, below any
path; it needs no program on the server. It is built with npm, for the editor and the bundler: install Node 18 or newer.

  -o DIR          the folder, which is created; files of the same names are replaced
  --serve [PORT]  build, and serve the page at http://localhost:PORT (8000) until Ctrl-C; it reloads when a file of tools/playground/site changes
";

/// The page's sources.
const SITE: &str = "tools/playground/site";
/// What a browser of the last years has, beside WebAssembly's first version: vectors of 128 bits, and moves of blocks of memory. The compiler's recursion
/// needs more stack than the usual MiB.
const RUST_FLAGS: &str = "-C target-feature=+simd128,+bulk-memory -C link-arg=-zstack-size=8388608";
/// The files that are copied as they are.
const COPIED: [&str; 2] = ["index.html", "style.css"];
/// The model that is built in; it is loaded when it is chosen.
const LIGHTHOUSE: &str = "kernel/assets/lighthouse.glb";

/// Runs the task.
pub(crate) fn task(mut arguments: lexopt::Parser) -> Result<()> {
    let (mut folder, mut port) = (None, None);
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("help") | Short('h') => {
                eprint!("{HELP}");
                return Ok(());
            }
            Short('o') => folder = Some(PathBuf::from(arguments.value()?)),
            Long("serve") => {
                let mut rest = arguments.raw_args()?;
                let number = rest.next_if(is_number);
                port = Some(number.map_or(Ok(8000), |number| number.parse())?);
            }
            other => return Err(other.unexpected().into()),
        }
    }
    let workspace = Workspace::find()?;
    let folder = match (folder, port) {
        (Some(folder), _) => folder,
        (None, Some(_)) => workspace.target.join("playground/served"),
        (None, None) => anyhow::bail!("-o DIR is missing, see `cargo xtask playground --help`"),
    };
    build(&workspace, &folder)?;
    println!("{}", folder.join("index.html").display());
    match port {
        Some(port) => bundle::serve(&workspace, &folder, port),
        None => Ok(()),
    }
}

fn is_number(word: &OsStr) -> bool {
    word.to_str().is_some_and(|word| word.parse::<u16>().is_ok())
}

/// Builds the page into a folder.
pub(crate) fn build(workspace: &Workspace, folder: &Path) -> Result<()> {
    bundle::npm_packages(workspace)?;
    module(workspace)?;
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    bundle::bundle(workspace, folder)?;
    let copy = |from: PathBuf, name: &str| {
        let to = folder.join(name);
        fs::copy(&from, &to).with_context(|| format!("cannot write {}", to.display()))
    };
    copy(generated(workspace).join("playground_bg.wasm"), "playground_bg.wasm")?;
    copy(workspace.root.join(LIGHTHOUSE), "lighthouse.glb")?;
    for name in COPIED {
        copy(workspace.root.join(SITE).join(name), name)?;
    }
    Ok(())
}

/// The folder with what wasm-bindgen generates.
fn generated(workspace: &Workspace) -> PathBuf {
    workspace.target.join("playground/generated")
}

/// Builds the module, and generates the JavaScript around it.
fn module(workspace: &Workspace) -> Result<()> {
    setup::rust_target(WEB_TARGET)?;
    let module = workspace.target.join(WEB_TARGET).join("web/playground.wasm");
    let mut build = Command::new(cargo());
    build.args(["build", "--profile", "web", "--target", WEB_TARGET, "--package", "playground", "--lib"]);
    run(build.env("RUSTFLAGS", RUST_FLAGS).current_dir(&workspace.root), "the module could not be built")?;
    let mut generate = Command::new(cargo());
    let manifest = workspace.root.join("tools/playground/bindings/Cargo.toml");
    generate.args(["run", "--quiet", "--release", "--locked", "--manifest-path"]).arg(manifest);
    generate.arg("--target-dir").arg(workspace.target.join("playground/bindings"));
    generate.arg("--").args([&module, &generated(workspace)]);
    run(&mut generate, "wasm-bindgen's generator could not be built or failed")
}
