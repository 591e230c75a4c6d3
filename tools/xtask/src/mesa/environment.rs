//! The environment in which a program finds Mesa's vc4 driver and the model.

use super::install::{self, Release};
use crate::build;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::{Command, ExitStatus};

/// Variables for a program.
#[derive(Debug, Clone)]
pub(crate) struct Environment {
    variables: Vec<(&'static str, OsString)>,
}

impl Environment {
    /// That of a build of Mesa, with the library as it is now in this repository.
    pub(crate) fn of(workspace: &Workspace, release: Release) -> Result<Self> {
        let prefix = release.folder(workspace).join("prefix");
        let lib = prefix.join("lib");
        let shim = lib.join("libvc4_noop_drm_shim.so");
        if !shim.is_file() {
            bail!(
                "there is no Mesa with the model in {}: `cargo xtask mesa setup{}` builds it",
                prefix.display(),
                release.option()
            );
        }
        let library = build::simpenrose(workspace)?;
        install::copy_library(&library, &lib)?;
        let mut preload = lib.join("libdumb_buffers.so").into_os_string();
        preload.push(":");
        preload.push(shim);
        Ok(Self {
            variables: vec![
                ("LD_LIBRARY_PATH", lib.clone().into()),
                ("LD_PRELOAD", preload),
                ("LIBGL_DRIVERS_PATH", lib.join("dri").into()),
                ("__EGL_VENDOR_LIBRARY_FILENAMES", prefix.join("share/glvnd/egl_vendor.d/50_mesa.json").into()),
                ("EGL_PLATFORM", "surfaceless".into()),
            ],
        })
    }

    /// No variables.
    #[cfg(test)]
    pub(crate) const fn none() -> Self {
        Self { variables: Vec::new() }
    }

    /// Sets another variable.
    pub(crate) fn set(&mut self, variable: &'static str, value: impl AsRef<OsStr>) {
        self.variables.push((variable, value.as_ref().to_owned()));
    }

    /// A command with these variables.
    pub(crate) fn command(&self, program: &OsStr) -> Command {
        let mut command = Command::new(program);
        command.envs(self.variables.iter().map(|(variable, value)| (variable, value)));
        command
    }

    /// Runs a program to its end.
    pub(crate) fn run(&self, words: &[OsString]) -> Result<ExitStatus> {
        let Some((program, arguments)) = words.split_first() else { bail!("there is no program to run") };
        let status = self.command(program).args(arguments).status();
        status.with_context(|| format!("{} cannot be started", PathBuf::from(program).display()))
    }
}
