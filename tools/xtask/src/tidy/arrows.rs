//! Allowed dependencies between the crates of the workspace.
//!
//! The model must not share behaviour with the driver or the assembler, since a mistake in shared code would pass every test; and the kernel must access the
//! hardware only through its driver. That no crate of the kernel needs `std` is proven by compiling it for a target without it; here it is only checked that
//! each of them declares `no_std`.

use super::none;
use crate::workspace::{Workspace, metadata};
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeSet;

/// A crate, and the crates of the workspace that it may depend on: always, for an optional feature, at build time, in tests.
struct Arrows {
    from: &'static str,
    normal: &'static [&'static str],
    optional: &'static [&'static str],
    build: &'static [&'static str],
    dev: &'static [&'static str],
}

const ARROWS: &[Arrows] = &[
    Arrows {
        from: "kernel",
        normal: &["bcm283x", "renderer", "compute", "compute-workloads", "v3d", "qpu-shaders"],
        optional: &[],
        build: &["asset-build"],
        dev: &[],
    },
    // The board around the V3D, for any kernel.
    Arrows { from: "bcm283x", normal: &["v3d"], optional: &[], build: &[], dev: &[] },
    // It contains the words of its own programs, for drawing in two dimensions and mipmaps; a pipeline knows a program only by its interface.
    Arrows {
        from: "renderer",
        normal: &["v3d", "shader-interface"],
        // Pipelines from WGSL at run time.
        optional: &["shader-compiler"],
        build: &[],
        dev: &[
            "renderer",
            "v3d-sim",
            "v3d-host",
            "qpu",
            "qpu-shaders",
            "shader-build",
            "guide-shaders",
            "own-kernel",
            "bcm283x",
        ],
    },
    // The same for kernels in C.
    Arrows {
        from: "v3d-c",
        normal: &["bcm283x", "v3d", "renderer", "shader-interface"],
        optional: &[],
        build: &[],
        dev: &["shader-build"],
    },
    // The kernel of the guide's tenth step, as others would write it.
    Arrows {
        from: "own-kernel",
        normal: &["bcm283x", "v3d", "renderer", "shader-interface"],
        optional: &[],
        build: &[],
        dev: &["shader-build"],
    },
    // The shader of the guide's last step, in a crate as users would write it.
    Arrows { from: "guide-shaders", normal: &["shader-interface"], optional: &[], build: &["shader-build"], dev: &[] },
    // It contains the words of its own programs.
    Arrows {
        from: "compute",
        normal: &["v3d", "shader-interface"],
        optional: &[],
        build: &[],
        dev: &["v3d-sim", "v3d-host", "renderer", "shader-build", "compute-workloads"],
    },
    Arrows { from: "compute-workloads", normal: &["compute", "v3d"], optional: &[], build: &[], dev: &[] },
    Arrows { from: "v3d", normal: &["v3d-hw"], optional: &[], build: &[], dev: &["v3d-sim", "v3d-host", "qpu"] },
    Arrows { from: "v3d-hw", normal: &[], optional: &[], build: &[], dev: &[] },
    Arrows {
        from: "qpu-shaders",
        normal: &["shader-interface"],
        optional: &[],
        build: &["shader-build"],
        dev: &["v3d-sim", "qpu", "v3d-hw"],
    },
    Arrows { from: "shader-interface", normal: &["v3d-hw"], optional: &[], build: &[], dev: &["qpu"] },
    Arrows { from: "shader-build", normal: &["qpu", "shader-compiler"], optional: &[], build: &[], dev: &[] },
    // Tests append a pipeline's tail, which the interface defines, to a fragment program.
    Arrows {
        from: "shader-compiler",
        normal: &["v3d-hw", "qpu", "shader-interface"],
        optional: &[],
        build: &[],
        dev: &["v3d-sim"],
    },
    // Text of instructions, for the assembler and for the model, which must not depend on each other.
    Arrows { from: "qpu-text", normal: &["v3d-hw"], optional: &[], build: &[], dev: &[] },
    // The command `qpu run` executes programs in the model; the library, which build scripts use, does not depend on it.
    Arrows { from: "qpu", normal: &["v3d-hw", "qpu-text"], optional: &["v3d-sim", "whole-file"], build: &[], dev: &[] },
    Arrows { from: "v3d-sim", normal: &["v3d-hw", "qpu-text"], optional: &["whole-file"], build: &[], dev: &["qpu"] },
    // Crates of others only.
    Arrows { from: "shared-features", normal: &[], optional: &[], build: &[], dev: &[] },
    Arrows { from: "whole-file", normal: &[], optional: &[], build: &[], dev: &[] },
    // The model behind the driver's registers, for tests on the host; for examples also devices and pictures of the renderer.
    Arrows { from: "v3d-host", normal: &["v3d", "v3d-sim"], optional: &["renderer"], build: &[], dev: &[] },
    // The page in which people write shaders: the compiler, the assembler, the renderer and the model, as a program of the renderer uses them.
    Arrows {
        from: "playground",
        normal: &[
            "asset-build",
            "qpu",
            "qpu-text",
            "renderer",
            "shader-compiler",
            "shader-interface",
            "v3d",
            "v3d-host",
            "v3d-hw",
            "v3d-sim",
        ],
        optional: &[],
        build: &[],
        dev: &[],
    },
    // The library behind the seam for a simulator in Mesa's vc4 driver.
    Arrows { from: "simpenrose", normal: &["v3d-hw", "v3d-sim"], optional: &[], build: &[], dev: &["v3d-sim"] },
    Arrows { from: "qemu-v3d", normal: &["v3d-sim"], optional: &[], build: &[], dev: &[] },
    // What `cargo xtask new` copies, as a user's crate would be.
    Arrows {
        from: "scene-template",
        normal: &["renderer", "shader-interface", "v3d", "v3d-host"],
        optional: &[],
        build: &["asset-build", "shader-build"],
        dev: &[],
    },
    // Reads files for build scripts; its output refers to the renderer's types, but it does not depend on them.
    Arrows { from: "asset-build", normal: &[], optional: &[], build: &[], dev: &[] },
    Arrows { from: "xtask", normal: &["whole-file"], optional: &[], build: &[], dev: &[] },
];

/// The crates that run on the Pi.
const NO_STD: [(&str, &str); 11] = [
    ("kernel", "kernel/src/lib.rs"),
    ("v3d-hw", "kernel/v3d-hw/src/lib.rs"),
    ("v3d", "kernel/v3d/src/lib.rs"),
    ("renderer", "kernel/renderer/src/lib.rs"),
    ("compute", "kernel/compute/src/lib.rs"),
    ("compute-workloads", "kernel/compute/workloads/src/lib.rs"),
    ("qpu-shaders", "qpu-shaders/src/lib.rs"),
    ("shader-interface", "qpu-shaders/interface/src/lib.rs"),
    ("qpu-text", "tools/qpu-text/src/lib.rs"),
    ("qpu", "tools/qpu/src/lib.rs"),
    ("shader-compiler", "tools/shader-compiler/src/lib.rs"),
];

/// Checks the workspace.
pub(super) fn rule(workspace: &Workspace) -> Result<()> {
    let mut breaches = against_table(&metadata(&["--no-deps"])?)?;
    for (name, path) in NO_STD {
        let text = std::fs::read_to_string(workspace.root.join(path)).with_context(|| format!("cannot read {path}"))?;
        let says_so = text.lines().any(|line| line.starts_with("#![") && line.contains("no_std"));
        if !says_so {
            breaches.push(format!("{path}: {name} runs on the Pi and does not say #![no_std]"));
        }
    }
    none(breaches)
}

/// Compares the output of `cargo metadata` with the table.
fn against_table(metadata: &Value) -> Result<Vec<String>> {
    let packages = metadata["packages"].as_array().context("`cargo metadata` names no packages")?;
    let name = |value: &Value| value["name"].as_str().unwrap_or_default().to_owned();
    let members: BTreeSet<String> = packages.iter().map(name).collect();
    let mut breaches = Vec::new();
    for package in packages {
        let from = name(package);
        let Some(arrows) = ARROWS.iter().find(|arrows| arrows.from == from) else {
            breaches.push(format!("{from}: a crate that is not in the table of dependency arrows"));
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let to = name(dependency);
            let (kind, allowed) = match dependency["kind"].as_str() {
                None if dependency["optional"] == true => (" for a feature", arrows.optional),
                None => ("", arrows.normal),
                Some("build") => (" at build time", arrows.build),
                Some(_) => (" in tests", arrows.dev),
            };
            // `v3d-hw` depends on nothing, since it only contains definitions.
            let alone = from == "v3d-hw" && kind != " in tests";
            if alone || members.contains(&to) && !allowed.contains(&to.as_str()) {
                breaches.push(format!("{from} must not depend on {to}{kind}"));
            }
        }
    }
    Ok(breaches)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_wrong_arrow_is_named() {
        let metadata = json!({ "packages": [
            { "name": "v3d-sim", "dependencies": [
                { "name": "v3d-hw", "kind": null },
                { "name": "qpu", "kind": "dev" },
                { "name": "v3d", "kind": "dev" },
                { "name": "png", "kind": null },
            ] },
            { "name": "v3d-hw", "dependencies": [ { "name": "log", "kind": null }, { "name": "arbtest", "kind": "dev" } ] },
            { "name": "v3d", "dependencies": [ { "name": "v3d-sim", "kind": null, "optional": true } ] },
            { "name": "qpu", "dependencies": [] },
            { "name": "utils", "dependencies": [] },
        ] });
        assert_eq!(
            against_table(&metadata).unwrap(),
            [
                "v3d-sim must not depend on v3d in tests",
                "v3d-hw must not depend on log",
                "v3d must not depend on v3d-sim for a feature",
                "utils: a crate that is not in the table of dependency arrows",
            ]
        );
    }
}
