//! Metadata of packages, and versions of their dependencies: without them `cargo package` warns or fails.

use super::none;
use crate::workspace::{Workspace, metadata};
use anyhow::{Context, Result};
use serde_json::Value;
use std::path::Path;

/// Checks every package of the workspace.
pub(super) fn rule(_workspace: &Workspace) -> Result<()> {
    let metadata = metadata(&["--no-deps"])?;
    let packages = metadata["packages"].as_array().context("`cargo metadata` names no packages")?;
    none(packages.iter().flat_map(|package| breaches(package, Path::exists)).collect())
}

fn breaches(package: &Value, exists: impl Fn(&Path) -> bool) -> Vec<String> {
    let name = package["name"].as_str().unwrap_or_default();
    let is_said = |member: &str| match &package[member] {
        Value::String(text) => !text.is_empty(),
        Value::Array(words) => !words.is_empty(),
        _ => false,
    };
    let members = ["description", "license", "readme", "keywords", "categories"];
    // A package that is not published has no page on docs.rs.
    let is_published = package["publish"].as_array().is_none_or(|registries| !registries.is_empty());
    let documentation = is_published.then_some("documentation");
    let missing = members.into_iter().chain(documentation).filter(|member| !is_said(member));
    let mut breaches: Vec<String> = missing.map(|member| format!("{name}: its Cargo.toml has no {member}")).collect();
    let manifest = Path::new(package["manifest_path"].as_str().unwrap_or_default());
    if let (Some(folder), Some(readme)) = (manifest.parent(), package["readme"].as_str())
        && !exists(&folder.join(readme))
    {
        breaches.push(format!("{name}: there is no {readme}"));
    }
    let versionless = |dependency: &&Value| {
        // cargo removes test dependencies without a version from a package.
        dependency["path"].is_string() && dependency["req"] == "*" && dependency["kind"] != "dev"
    };
    for dependency in package["dependencies"].as_array().into_iter().flatten().filter(versionless) {
        breaches.push(format!("{name}: {} has a path and no version", dependency["name"].as_str().unwrap_or_default()));
    }
    breaches
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_missing_is_named() {
        let package = json!({
            "name": "model", "description": "A model", "license": "MIT", "documentation": null, "readme": "README.md", "keywords": [],
            "categories": ["simulation"], "manifest_path": "/there/Cargo.toml",
            "dependencies": [
                { "name": "layouts", "path": "/layouts", "req": "*", "kind": null },
                { "name": "driver", "path": "/driver", "req": "^0.1.0", "kind": null },
                { "name": "tests", "path": "/tests", "req": "*", "kind": "dev" },
                { "name": "png", "req": "*", "kind": null },
            ],
        });
        let expected = [
            "model: its Cargo.toml has no keywords",
            "model: its Cargo.toml has no documentation",
            "model: there is no README.md",
            "model: layouts has a path and no version",
        ];
        assert_eq!(breaches(&package, |_| false), expected);
        let unpublished = json!({
            "name": "task", "description": "A task", "license": "MIT", "documentation": null, "readme": "README.md", "keywords": ["task"],
            "categories": ["development-tools"], "manifest_path": "/there/Cargo.toml", "publish": [],
        });
        assert!(breaches(&unpublished, |_| true).is_empty());
    }
}
