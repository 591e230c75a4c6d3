//! The packages that another kernel needs: packed, unpacked elsewhere, and built without this repository around them.

use crate::setup;
use crate::workspace::{KERNEL_TARGET, Workspace, cargo};
use anyhow::{Context, Result, ensure};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// The packages, each after those that it depends on.
const PACKAGES: [&str; 7] = ["v3d-hw", "v3d", "shader-interface", "renderer", "compute", "bcm283x", "v3d-c"];

/// The version of every package.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Packs the packages, and builds a crate that depends on the unpacked ones.
///
/// The crate is outside of their folder, so that cargo takes them as packages of others: their tests and what these need are left out. Other crates come from
/// where cargo has put them, in the versions of this repository.
pub(super) fn build_alone(workspace: &Workspace) -> Result<String> {
    setup::kernel_target()?;
    let mut pack = vec!["package", "--quiet", "--no-verify", "--allow-dirty", "--exclude-lockfile"];
    pack.extend(PACKAGES.iter().flat_map(|name| ["--package", name]));
    run(Command::new(cargo()).args(&pack).current_dir(&workspace.root))?;
    let scratch = workspace.scratch()?;
    let (packages, user) = (scratch.path().join("packages"), scratch.path().join("user"));
    fs::create_dir_all(&packages)?;
    fs::create_dir_all(user.join("src"))?;
    for name in PACKAGES {
        let file = workspace.target.join("package").join(format!("{name}-{VERSION}.crate"));
        run(Command::new("tar").arg("xzf").arg(&file).arg("-C").arg(&packages))?;
        no_path_leads_out(&packages.join(format!("{name}-{VERSION}")))?;
    }
    fs::write(user.join("Cargo.toml"), manifest())?;
    fs::write(user.join("src/lib.rs"), "//! Depends on the unpacked packages.\n#![no_std]\n")?;
    fs::copy(workspace.root.join("Cargo.lock"), user.join("Cargo.lock"))?;
    let arguments = ["build", "--quiet", "--offline", "--target", KERNEL_TARGET];
    run(Command::new(cargo()).args(arguments).current_dir(&user).env("CARGO_TARGET_DIR", &workspace.target))?;
    Ok(PACKAGES.join(", "))
}

/// The manifest of a crate that depends on all packages, which find each other in their folder instead of in a registry.
fn manifest() -> String {
    let mut text = String::from(
        "[package]\nname = \"another-kernel\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\nresolver = \"3\"\n\n[dependencies]\n",
    );
    let mut places = String::from("\n[patch.crates-io]\n");
    for name in PACKAGES {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name} = \"{VERSION}\"");
        let _ = writeln!(places, "{name} = {{ path = \"../packages/{name}-{VERSION}\" }}");
    }
    text + &places
}

/// Fails if the package's manifest refers to a folder outside of it.
fn no_path_leads_out(package: &Path) -> Result<()> {
    let file = package.join("Cargo.toml");
    let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let out = text.lines().find(|line| line.contains("\"../"));
    ensure!(out.is_none(), "{}: {}", package.display(), out.unwrap_or_default());
    Ok(())
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("{command:?} cannot be started"))?;
    ensure!(output.status.success(), "{command:?} failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_package_is_a_dependency_and_has_a_place() {
        let text = manifest();
        for name in PACKAGES {
            assert_eq!(text.lines().filter(|line| line.starts_with(&format!("{name} = "))).count(), 2, "{name}");
        }
    }
}
