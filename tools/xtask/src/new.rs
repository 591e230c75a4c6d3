//! `cargo xtask new`: writes a crate outside of this repository that draws a scene.
//!
//! The crate is a copy of `tools/scene-template`, which is built and tested with the workspace. Its manifest refers to this repository by a relative path where
//! possible, and takes the versions of other crates from the workspace's manifest.

use crate::workspace::Workspace;
use anyhow::{Context, Result, bail, ensure};
use lexopt::prelude::*;
use std::fs;
use std::path::{Component, Path, PathBuf};

const HELP: &str = "\
cargo xtask new NAME

Writes a crate that draws a scene: a shader in WGSL, a glTF model, a camera, a line of text. NAME is its name, and its folder beside this
repository; or a path, whose last part is the name.

  cargo xtask new my-scene && cd ../my-scene && cargo run

shows the scene in a window, or saves a film where there is no display.
";

/// The files that are copied as they are.
const FILES: [(&str, &[u8]); 5] = [
    ("build.rs", include_bytes!("../../scene-template/build.rs")),
    ("src/main.rs", include_bytes!("../../scene-template/src/main.rs")),
    ("shaders/scene.wgsl", include_bytes!("../../scene-template/shaders/scene.wgsl")),
    ("assets/pawns.glb", include_bytes!("../../scene-template/assets/pawns.glb")),
    ("assets/roboto-regular.ttf", include_bytes!("../../scene-template/assets/roboto-regular.ttf")),
];
/// The template's manifest.
const MANIFEST: &str = include_str!("../../scene-template/Cargo.toml");

/// Runs the task.
pub(crate) fn task(mut arguments: lexopt::Parser) -> Result<()> {
    let mut path: Option<PathBuf> = None;
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("help") | Short('h') => {
                eprint!("{HELP}");
                return Ok(());
            }
            Value(name) if path.is_none() => path = Some(name.into()),
            other => return Err(other.unexpected().into()),
        }
    }
    let path = path.context("the crate needs a name: cargo xtask new NAME")?;
    let workspace = Workspace::find()?;
    let folder = match path.components().collect::<Vec<_>>()[..] {
        // A name alone is a folder beside the repository.
        [Component::Normal(name)] => {
            workspace.root.parent().context("the repository is at the root of the file system")?.join(name)
        }
        _ => std::path::absolute(&path)?,
    };
    write(&workspace.root, &folder)?;
    eprintln!("{} is ready:", folder.display());
    eprintln!("  cd {} && cargo run", folder.display());
    eprintln!(
        "The first build compiles the simulated GPU, which takes minutes. Steps 15 to 17 of kernel/renderer/guide/README.md explain the crate."
    );
    Ok(())
}

/// Writes the crate to a new folder.
fn write(root: &Path, folder: &Path) -> Result<()> {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|one| one.is_ascii_alphanumeric() || "-_".contains(one));
    ensure!(
        is_name,
        "\"{name}\" cannot be the name of a crate: it has letters, digits, - and _, and begins with a letter"
    );
    if folder.exists() {
        bail!("{} exists already", folder.display());
    }
    let parent = folder.parent().context("the folder has no parent")?;
    let parent = parent.canonicalize().with_context(|| format!("{} cannot be reached", parent.display()))?;
    let root = root.canonicalize()?;
    ensure!(!parent.starts_with(&root), "the crate must be outside of this repository, whose workspace would claim it");
    let workspace = fs::read_to_string(root.join("Cargo.toml"))?;
    let manifest = manifest(name, &workspace, &way(&parent.join(name), &root))?;
    let copied = ["rust-toolchain.toml", "Cargo.lock"].map(|name| Ok((name, fs::read(root.join(name))?)));
    let mut files: Vec<(&str, Vec<u8>)> = copied.into_iter().collect::<Result<_>>()?;
    files.extend(FILES.map(|(name, bytes)| (name, bytes.to_vec())));
    files.push(("Cargo.toml", manifest.into_bytes()));
    files.push((".gitignore", b"/target\n*.apng\n".to_vec()));
    for (name, bytes) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(&path, bytes).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

/// The way from a folder to another: relative if they have more in common than the root of the file system.
fn way(from: &Path, to: &Path) -> PathBuf {
    let common = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    if common < 2 {
        return to.to_owned();
    }
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    up.chain(to.components().skip(common)).collect()
}

/// The template's manifest for a crate outside of the workspace.
fn manifest(name: &str, workspace: &str, root: &Path) -> Result<String> {
    let table = |line: &str| line.strip_prefix('[').and_then(|line| line.strip_suffix(']')).map(str::to_owned);
    // What the workspace says about a key: `key = value` in one of its tables.
    let inherited = |of: &str, key: &str| {
        let mut current = String::new();
        workspace.lines().find_map(|line| {
            if let Some(table) = table(line) {
                current = table;
            }
            let value = line.strip_prefix(key)?.strip_prefix(" = ")?;
            (current == of).then(|| value.to_owned())
        })
    };
    let mut lines = Vec::new();
    let mut current = String::new();
    for line in MANIFEST.lines() {
        if let Some(table) = table(line) {
            current = table;
        }
        // Lints and tests are the workspace's own.
        if matches!(current.as_str(), "lints" | "dev-dependencies") {
            continue;
        }
        let line = match (line.strip_suffix(".workspace = true"), line.split_once(" = ")) {
            (Some(key), _) if current == "package" => {
                let Some(value) = inherited("workspace.package", key) else { bail!("the workspace has no {key}") };
                format!("{key} = {value}")
            }
            (Some(key), _) => {
                let Some(value) = inherited("workspace.dependencies", key) else { bail!("the workspace has no {key}") };
                match value.split_once("path = \"") {
                    Some((before, rest)) => format!("{key} = {before}path = \"{}/{rest}", root.display()),
                    None => format!("{key} = {value}"),
                }
            }
            (None, Some(("name", _))) => format!("name = \"{name}\""),
            (None, Some(("description", _))) => "description = \"A scene for the VideoCore IV\"".to_owned(),
            // What the workspace's rules want of each of its packages.
            (None, Some(("readme" | "keywords" | "categories", _))) => continue,
            _ => line.to_owned(),
        };
        lines.push(line);
    }
    // The optimisation of the model, and of what build scripts run.
    let profiles = workspace.split_once("[profile.dev]").context("the workspace has no profile")?.1;
    let profiles = format!("[profile.dev]{profiles}");
    Ok(format!("{}\n\n{}\n\n[workspace]\n", lines.join("\n").trim_end(), profiles.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn the_way_between_folders() {
        let check = |from: &str, to: &str, expected: &str| {
            assert_eq!(way(Path::new(from), Path::new(to)), Path::new(expected), "{from} {to}");
        };
        check("/users/me/my-scene", "/users/me/tree", "../tree");
        check("/users/me/a/b/my-scene", "/users/me/tree", "../../../tree");
        check("/elsewhere/my-scene", "/users/me/tree", "/users/me/tree");
    }

    #[test]
    fn what_cannot_be_created_is_refused() {
        let root = Workspace::find().unwrap().root;
        let check = |folder: &Path, part: &str| {
            let message = format!("{:#}", write(&root, folder).unwrap_err());
            assert!(message.contains(part), "{}: {message}", folder.display());
        };
        check(&std::env::temp_dir().join("1st"), "begins with a letter");
        check(&std::env::temp_dir().join("my scene"), "name of a crate");
        check(&root.join("tools/mine"), "outside of this repository");
        check(&root.join("tools"), "exists");
        check(&std::env::temp_dir().join("no-such-folder/mine"), "cannot be reached");
    }

    /// Cargo understands the manifest, and finds the crates that it names at their versions of this repository.
    #[test]
    fn a_new_crate_is_one_that_cargo_understands() {
        let root = Workspace::find().unwrap().root;
        let parent = std::env::temp_dir().join(format!("xtask-new-{}", std::process::id()));
        fs::create_dir_all(&parent).unwrap();
        let folder = parent.join("my-scene");
        write(&root, &folder).unwrap();
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo)
            .args(["tree", "--offline", "--prefix", "none", "--manifest-path"])
            .arg(folder.join("Cargo.toml"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8_lossy(&output.stdout);
        for name in ["my-scene v0.1.0", "renderer v0.1.0", "v3d-host v0.1.0", "minifb v", "naga v"] {
            assert!(text.lines().any(|line| line.starts_with(name)), "{name}: {text}");
        }
        fs::remove_dir_all(&parent).unwrap();
    }
}
