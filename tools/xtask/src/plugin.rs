//! `cargo xtask plugin`: the QEMU plugin for those who have neither this repository nor Rust.

use crate::build;
use crate::workspace::Workspace;
use anyhow::{Context, Result};
use lexopt::prelude::*;
use std::fs;
use std::path::PathBuf;

const HELP: &str = "\
cargo xtask plugin -o DIR

Builds QEMU's plugin with the V3D in it and puts it into DIR, with a README that says how to start each kind of kernel with it, and its
licence. The library needs nothing else of this repository.

  -o DIR   the folder, which is created; files of the same names are replaced
";

/// The files, where they are in the repository, and what they are called in the folder.
const BESIDE: [(&str, &str); 2] =
    [("tools/qemu-v3d/README-of-a-release.md", "README.md"), ("tools/qemu-v3d/LICENSE", "LICENSE")];

/// Runs the task.
pub(crate) fn task(mut arguments: lexopt::Parser) -> Result<()> {
    let mut folder = None;
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("help") | Short('h') => {
                eprint!("{HELP}");
                return Ok(());
            }
            Short('o') => folder = Some(PathBuf::from(arguments.value()?)),
            other => return Err(other.unexpected().into()),
        }
    }
    let folder = folder.context("-o DIR is missing, see `cargo xtask plugin --help`")?;
    let workspace = Workspace::find()?;
    let library = build::plugin(&workspace)?;
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let copy = |from: PathBuf, name: &str| {
        let to = folder.join(name);
        fs::copy(&from, &to).with_context(|| format!("cannot write {}", to.display()))
    };
    copy(library, "libqemu_v3d.so")?;
    for (from, name) in BESIDE {
        copy(workspace.root.join(from), name)?;
    }
    println!("{}", folder.join("libqemu_v3d.so").display());
    Ok(())
}
