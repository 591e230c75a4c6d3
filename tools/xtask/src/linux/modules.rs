//! The kernel's modules that a guest loads, in the order of what they need.

use super::archive::Archive;
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// The V3D's driver, and two that its display part waits for: the bus on which a display describes itself, and HDMI's sound.
const WANTED: [&str; 3] = ["i2c-bcm2835", "snd-soc-hdmi-codec", "vc4"];

/// Adds the modules and a list of them to an archive, uncompressed.
pub(super) fn add(root: &Path, archive: &mut Archive) -> Result<()> {
    // Debian 13 has them in /usr/lib, to which its package base-files, which is not unpacked, makes /lib a link.
    if !root.join("lib").exists() {
        std::os::unix::fs::symlink("usr/lib", root.join("lib")).context("cannot make the link to usr/lib")?;
    }
    let folder = root.join("lib/modules");
    let versions = fs::read_dir(&folder).with_context(|| format!("there is no {}", folder.display()))?;
    let version = versions.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).max();
    let version = version.with_context(|| format!("there is no kernel in {}", folder.display()))?;
    let status = Command::new("depmod").arg("-b").arg(root).arg(&version).status();
    let status = match status {
        // Users other than root often lack the folder in their PATH.
        Err(_) => Command::new("/usr/sbin/depmod").arg("-b").arg(root).arg(&version).status(),
        status => status,
    };
    ensure!(status.context("depmod cannot be started")?.success(), "depmod could not read the kernel's modules");
    let folder = folder.join(version);
    let table = fs::read_to_string(folder.join("modules.dep")).context("depmod has written no modules.dep")?;
    let order = order(&table, &WANTED)?;
    archive.folder("modules");
    let mut names = String::new();
    for path in order {
        let (name, contents) = read(&folder.join(path))?;
        archive.file(&format!("modules/{name}"), &contents);
        names += &format!("{name}\n");
    }
    archive.file("modules/order", names.as_bytes());
    Ok(())
}

/// A module's name and contents.
fn read(path: &Path) -> Result<(String, Vec<u8>)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Some(name) = name.strip_suffix(".xz") else {
        return Ok((name, fs::read(path).with_context(|| format!("cannot read {}", path.display()))?));
    };
    let output =
        Command::new("xz").arg("-dc").arg(path).stdin(Stdio::null()).output().context("xz cannot be started")?;
    ensure!(output.status.success(), "xz could not decompress {}", path.display());
    Ok((name.to_owned(), output.stdout))
}

/// The modules in the order in which they are to be loaded, from a table with what each needs: nearest first, in the kernel's format.
fn order<'t>(table: &'t str, wanted: &[&str]) -> Result<Vec<&'t str>> {
    let rows: Vec<(&str, &str)> = table.lines().filter_map(|line| line.split_once(':')).collect();
    let mut order: Vec<&str> = Vec::new();
    for name in wanted {
        let is_it = |path: &str| path.rsplit('/').next().and_then(|file| file.split('.').next()) == Some(*name);
        let Some((path, needs)) = rows.iter().find(|(path, _)| is_it(path)) else {
            bail!("this kernel has no module {name}");
        };
        for path in needs.split_whitespace().rev().chain([*path]) {
            if !order.contains(&path) {
                order.push(path);
            }
        }
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows as depmod writes them.
    #[test]
    fn what_a_module_needs_is_loaded_before_it() {
        let table = "kernel/a/vc4.ko: kernel/b/drm.ko kernel/c/cec.ko\nkernel/c/cec.ko:\nkernel/b/drm.ko: kernel/c/cec.ko\nkernel/i2c-bcm2835.ko.xz:\n\
            kernel/snd-soc-hdmi-codec.ko:\n";
        assert_eq!(order(table, &["vc4"]).unwrap(), ["kernel/c/cec.ko", "kernel/b/drm.ko", "kernel/a/vc4.ko"]);
        let both = order(table, &WANTED).unwrap();
        assert_eq!(both.first(), Some(&"kernel/i2c-bcm2835.ko.xz"));
        assert_eq!(both.len(), 5);
        assert!(order(table, &["vc"]).unwrap_err().to_string().contains("no module vc"));
    }
}
