//! Mesa with the model: sources, packages, the build.

use crate::build;
use crate::setup;
use crate::workspace::{Workspace, run};
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value as Json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Debian's packages that the build needs.
const PACKAGES: [&str; 17] = [
    "dpkg-dev",
    "gcc",
    "g++",
    "meson",
    "ninja-build",
    "pkg-config",
    "bison",
    "flex",
    "python3-mako",
    "python3-yaml",
    "python3-packaging",
    "libdrm-dev",
    "libexpat1-dev",
    "zlib1g-dev",
    "libglvnd-dev",
    "libegl-dev",
    "libgles-dev",
];

/// Options of Mesa's build: the driver, EGL without windows, OpenGL and OpenGL ES, and the shim that pretends to be a device. Mesa's assertions stay on,
/// since they check what the jobs leave in memory.
const OPTIONS: [&str; 18] = [
    "--libdir=lib",
    "-Dbuildtype=plain",
    "-Doptimization=2",
    "-Db_ndebug=false",
    "-Dgallium-drivers=vc4",
    "-Dvulkan-drivers=",
    "-Dplatforms=",
    "-Degl=enabled",
    "-Dgles1=disabled",
    "-Dgles2=enabled",
    "-Dopengl=true",
    "-Dgbm=enabled",
    "-Dglx=disabled",
    "-Dllvm=disabled",
    "-Dshader-cache=disabled",
    "-Dvalgrind=disabled",
    "-Dlibunwind=disabled",
    "-Dtools=drm-shim",
];

/// Debian's name of release 13.
const DEBIAN_13: &str = "trixie";

/// Which Mesa.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Release {
    /// 22.3.6.
    Debian12,
    /// 25.0.7.
    Debian13,
    /// The user's.
    Own,
}

impl Release {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        match text {
            "12" => Ok(Self::Debian12),
            "13" => Ok(Self::Debian13),
            other => bail!("the releases are those of Debian 12 and 13; --release {other} is neither"),
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Debian12 => "12",
            Self::Debian13 => "13",
            Self::Own => "own",
        }
    }

    /// The options that select it for `setup`.
    pub(super) const fn option(self) -> &'static str {
        match self {
            Self::Debian12 => "",
            Self::Debian13 => " --release 13",
            Self::Own => " --mesa DIR",
        }
    }

    /// Debian's name of the release.
    const fn suite(self) -> Option<&'static str> {
        match self {
            Self::Debian12 => Some("bookworm"),
            Self::Debian13 => Some(DEBIAN_13),
            Self::Own => None,
        }
    }

    /// Newer versions have another type of option for the dispatch library.
    fn glvnd(sources: &Path) -> &'static str {
        let files = ["meson.options", "meson_options.txt"];
        let options = files.iter().find_map(|file| fs::read_to_string(sources.join(file)).ok()).unwrap_or_default();
        let behind = options.split_once("'glvnd'").map_or("", |(_, behind)| behind);
        let is_feature = behind.split(')').next().is_some_and(|option| option.contains("feature"));
        if is_feature { "-Dglvnd=enabled" } else { "-Dglvnd=true" }
    }

    /// The folder for sources, build and result.
    pub(super) fn folder(self, workspace: &Workspace) -> PathBuf {
        workspace.target.join("mesa").join(self.name())
    }
}

/// Builds Mesa, as far as it is not built yet.
pub(super) fn setup(workspace: &Workspace, release: Release, own: Option<&Path>) -> Result<()> {
    let folder = release.folder(workspace);
    let prefix = folder.join("prefix");
    eprintln!("Mesa's vc4 driver with the model, in {}", folder.display());
    eprintln!(
        "  its sources are 27 to 45 MB; their build takes half an hour on two cores and 500 MB; it needs {}",
        PACKAGES.join(", ")
    );
    setup::apt_install_missing(&PACKAGES)?;
    let library = build::simpenrose(workspace)?;
    library_files(workspace, &prefix, &library)?;
    let sources = match own {
        Some(sources) => sources.canonicalize().with_context(|| format!("there is no {}", sources.display()))?,
        None => debian_sources(&folder, release.suite().context("--mesa DIR names the sources")?)?,
    };
    ensure!(
        sources.join("src/gallium/drivers/vc4/vc4_simulator.c").is_file(),
        "{} are no sources of Mesa with the simulator of its vc4 driver",
        sources.display()
    );
    let meson = Meson::for_sources(&sources, &folder)?;
    let build = folder.join("build");
    if !build.join("build.ninja").is_file() {
        step("configuring");
        let mut meson = meson.command();
        meson.arg("setup").arg(&build).arg(&sources).args(OPTIONS).arg(Release::glvnd(&sources));
        meson.arg(format!("--prefix={}", prefix.display()));
        meson.arg(format!("--pkg-config-path={}", prefix.join("lib/pkgconfig").display()));
        run(meson.stdout(Stdio::null()), "meson could not configure Mesa")?;
    }
    step("building; after an interruption the same command goes on");
    run(tool("ninja").arg("-C").arg(&build).args(products(&build)?), "Mesa could not be built")?;
    step("installing");
    run(meson.command().args(["install", "--no-rebuild", "--quiet", "-C"]).arg(&build), "Mesa could not be installed")?;
    compile_library(
        &workspace.root.join("tools/simpenrose/preload/dumb_buffers.c"),
        &prefix.join("lib/libdumb_buffers.so"),
    )?;
    eprintln!(
        "done: cargo xtask mesa run {}tools/v3d-sim/peer/frames gears_640 5",
        if own.is_some() { "--own " } else { "" }
    );
    Ok(())
}

/// The build system that Mesa uses.
#[derive(Debug, PartialEq)]
enum Meson {
    /// The system's.
    Installed,
    /// A program in Python.
    Unpacked(PathBuf),
}

impl Meson {
    /// The system's, or that of Debian 13 if the sources demand a newer one: Mesa 25 demands 1.1, and Debian 12 has 1.0.
    fn for_sources(sources: &Path, folder: &Path) -> Result<Self> {
        let file = sources.join("meson.build");
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let output = tool("meson").arg("--version").output().context("meson cannot be started")?;
        if is_new_enough(&String::from_utf8_lossy(&output.stdout), &text) {
            return Ok(Self::Installed);
        }
        Ok(Self::Unpacked(debian_meson(folder)?))
    }

    fn command(&self) -> Command {
        match self {
            Self::Installed => tool("meson"),
            Self::Unpacked(program) => {
                let mut command = tool("python3");
                command.arg(program);
                command
            }
        }
    }
}

/// Whether a version of meson is one that a `meson.build` accepts.
fn is_new_enough(installed: &str, file: &str) -> bool {
    let numbers = |version: &str| version.trim().split('.').map_while(|part| part.parse().ok()).collect::<Vec<u32>>();
    let behind = file.split_once("meson_version").and_then(|(_, behind)| behind.split_once(">="));
    let needed = behind.and_then(|(_, version)| version.split('\'').next()).map(numbers).unwrap_or_default();
    numbers(installed) >= needed
}

/// Puts the library, its header and its pkg-config file where Mesa's build looks for them.
fn library_files(workspace: &Workspace, prefix: &Path, library: &Path) -> Result<()> {
    let package = workspace.root.join("tools/simpenrose");
    let [include, pkgconfig] = [prefix.join("include/simpenrose"), prefix.join("lib/pkgconfig")];
    for folder in [&include, &pkgconfig] {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    copy_library(library, &prefix.join("lib"))?;
    let header = fs::read(package.join("include/simpenrose/simpenrose.h"))?;
    let template = fs::read_to_string(package.join("simpenrose.pc.in"))?;
    // At Mesa's only call of simpenrose_hw_addr the variable `size` has the size of the buffer.
    let text =
        template.replace("@VERSION@", env!("CARGO_PKG_VERSION")).replace("@CFLAGS@", "-DSIMPENROSE_BUFFER_SIZE=size");
    for (file, contents) in
        [(include.join("simpenrose.h"), &header[..]), (pkgconfig.join("simpenrose.pc"), text.as_bytes())]
    {
        // An unchanged file does not cause a build.
        if fs::read(&file).ok().as_deref() != Some(contents) {
            crate::whole_file::write(&file, contents)?;
        }
    }
    Ok(())
}

/// Copies the model's library into a folder, if it is another one. Programs that run at the same time keep the one that they have: a file that changes under
/// them would end them.
pub(super) fn copy_library(library: &Path, folder: &Path) -> Result<()> {
    let copy = folder.join("libsimpenrose.so");
    let contents = fs::read(library).with_context(|| format!("cannot read {}", library.display()))?;
    if fs::read(&copy).ok().as_deref() != Some(&contents[..]) {
        crate::whole_file::write(&copy, &contents)?;
    }
    Ok(())
}

/// Debian's source package, unpacked.
fn debian_sources(folder: &Path, suite: &str) -> Result<PathBuf> {
    let unpacked = folder.join("source/mesa");
    if unpacked.join("meson.build").is_file() {
        return Ok(unpacked);
    }
    let description = fetched(folder, suite, "deb-src", &["source", "--download-only", "mesa"], ".dsc")?;
    let part = folder.join("source/mesa.part");
    // What an interruption has left.
    let _ = fs::remove_dir_all(&part);
    fs::create_dir_all(folder.join("source"))?;
    step("unpacking");
    let mut unpack = Command::new("dpkg-source");
    run(unpack.arg("-x").arg(&description).arg(&part).stdout(Stdio::null()), "dpkg-source could not unpack Mesa")?;
    fs::rename(&part, &unpacked)?;
    Ok(unpacked)
}

/// Debian 13's package of meson, unpacked: its program. It is written in Python alone, and nothing of the system is replaced by it.
fn debian_meson(folder: &Path) -> Result<PathBuf> {
    let unpacked = folder.join("meson");
    let modules = "usr/lib/python3/dist-packages";
    let program = Path::new(modules).join("meson.py");
    if unpacked.join(&program).is_file() {
        return Ok(unpacked.join(program));
    }
    let package = fetched(folder, DEBIAN_13, "deb", &["download", "meson"], ".deb")?;
    let part = folder.join("meson.part");
    let _ = fs::remove_dir_all(&part);
    let mut unpack = Command::new("dpkg-deb");
    run(unpack.arg("-x").arg(&package).arg(&part), "dpkg-deb could not unpack meson")?;
    // Beside its modules it takes these, and not those of the system's meson.
    fs::rename(part.join("usr/bin/meson"), part.join(&program))
        .with_context(|| format!("{} is no package of meson", package.display()))?;
    fs::rename(&part, &unpacked)?;
    Ok(unpacked.join(program))
}

/// What apt has fetched: the file with this end to its name. Apt has a configuration of its own, so that the system's stays as it is.
fn fetched(folder: &Path, suite: &str, kind: &str, words: &[&str], end: &str) -> Result<PathBuf> {
    let archive = archive()?;
    let apt = folder.join("apt");
    for part in ["parts", "lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(apt.join(part))?;
    }
    let keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";
    let text = format!(
        "Types: {kind}\nURIs: {archive}\nSuites: {suite} {suite}-updates\nComponents: main\nSigned-By: {keyring}\n"
    );
    crate::whole_file::write(&apt.join("parts/mesa.sources"), text.as_bytes())?;
    let apt_get = || {
        let mut command = Command::new("apt-get");
        command.args(["-o", "Dir::Etc::sourcelist=/dev/null", "-o", "APT::Sandbox::User=root", "-q"]);
        for (option, place) in
            [("Dir::Etc::sourceparts", "parts"), ("Dir::State::lists", "lists"), ("Dir::Cache", "cache")]
        {
            command.arg("-o").arg(format!("{option}={}", apt.join(place).display()));
        }
        command
    };
    let package = words.last().copied().unwrap_or_default();
    step(&format!("fetching {package} of Debian's release {suite}"));
    run(apt_get().arg("update").stdout(Stdio::null()), "apt-get could not read the archive's list of packages")?;
    let failed = format!("apt-get could not fetch {package}");
    run(apt_get().args(words).current_dir(&apt).stdout(Stdio::null()), &failed)?;
    let files = fs::read_dir(&apt)?.filter_map(|entry| Some(entry.ok()?.path()));
    let found = files.filter(|path| path.to_str().is_some_and(|name| name.ends_with(end))).max();
    found.with_context(|| format!("there is no {end} among what apt-get has fetched"))
}

/// The address of Debian's archive that this system uses.
fn archive() -> Result<String> {
    let words = ["indextargets", "--format", "$(ORIGIN)|$(LABEL)|$(REPO_URI)", "Identifier: Packages"];
    let output = Command::new("apt-get").args(words).output();
    let none = "this system's apt knows no archive of Debian: give unpacked sources of Mesa with --mesa DIR";
    let output = output.context(none)?;
    archive_in(&String::from_utf8_lossy(&output.stdout)).context(none)
}

fn archive_in(targets: &str) -> Option<String> {
    targets.lines().find_map(|line| line.strip_prefix("Debian|Debian|")).map(str::to_owned)
}

/// The files that Mesa installs, relative to the build.
fn products(build: &Path) -> Result<Vec<String>> {
    let file = build.join("meson-info/intro-targets.json");
    let targets: Json =
        serde_json::from_slice(&fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?)?;
    products_of(&targets, build).with_context(|| format!("{} names no libraries", file.display()))
}

fn products_of(targets: &Json, build: &Path) -> Option<Vec<String>> {
    let installed = targets.as_array()?.iter().filter(|target| target["installed"] == true);
    let files = installed.filter_map(|target| target["filename"].as_array()).flatten().filter_map(Json::as_str);
    let files: Vec<String> = files
        .map(|file| Path::new(file).strip_prefix(build).unwrap_or(Path::new(file)).display().to_string())
        .collect();
    (!files.is_empty()).then_some(files)
}

/// A program of the build. Mesa's generators need the system's Python, which has Debian's modules, and not another one in the PATH.
fn tool(name: &str) -> Command {
    let mut command = Command::new(name);
    let others = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("/usr/bin:/bin:{others}"));
    command
}

fn step(what: &str) {
    eprintln!("==> {what}");
}

/// Compiles a C program, if it is older than its source.
pub(super) fn compile_c(source: &Path, program: &Path, libraries: &[&str]) -> Result<()> {
    let time = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    if time(program) > time(source) {
        return Ok(());
    }
    if let Some(folder) = program.parent() {
        fs::create_dir_all(folder)?;
    }
    step(&format!("compiling {}", source.display()));
    let mut cc = Command::new("cc");
    cc.arg("-O2").arg(source).arg("-o").arg(program).args(libraries);
    run(&mut cc, "it could not be compiled; Debian's packages libegl-dev and libgles-dev are needed")
}

fn compile_library(source: &Path, library: &Path) -> Result<()> {
    let flags =
        Command::new("pkg-config").args(["--cflags", "libdrm"]).output().context("pkg-config cannot be started")?;
    let flags = String::from_utf8_lossy(&flags.stdout).trim().to_owned();
    let flags: Vec<&str> = flags.split_whitespace().collect();
    compile_c(source, library, &[&["-shared", "-fPIC", "-ldl"][..], &flags].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn debians_archive_is_found_among_others() {
        let targets =
            "Else|Else|http://there/\nDebian|Debian-Security|http://security/\nDebian|Debian|http://mirror/debian/\n";
        assert_eq!(archive_in(targets).as_deref(), Some("http://mirror/debian/"));
        assert_eq!(archive_in("Ubuntu|Ubuntu|http://there/\n"), None);
    }

    #[test]
    fn an_older_meson_than_mesa_demands_is_not_used() {
        let file = "project(\n  'mesa',\n  meson_version : '>= 1.1.0',\n  license : ['MIT'])";
        assert!(!is_new_enough("1.0.1\n", file));
        assert!(is_new_enough("1.1.0\n", file));
        assert!(is_new_enough("1.10.0\n", file));
        assert!(is_new_enough("0.60", "project('mesa')"));
    }

    #[test]
    fn a_library_in_use_is_not_changed() {
        let folder = std::env::temp_dir().join(format!("mesa-library-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (library, copy) = (folder.join("built"), folder.join("libsimpenrose.so"));
        fs::write(&library, "old").unwrap();
        copy_library(&library, &folder).unwrap();
        let in_use = fs::File::open(&copy).unwrap();
        fs::write(&library, "new").unwrap();
        copy_library(&library, &folder).unwrap();
        assert_eq!(std::io::read_to_string(in_use).unwrap(), "old");
        assert_eq!(fs::read_to_string(&copy).unwrap(), "new");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn only_what_is_installed_is_built() {
        let targets = json!([
            { "filename": ["/build/src/libx.so"], "installed": true },
            { "filename": ["/build/src/test"], "installed": false },
            { "filename": ["/build/a.so", "/build/b.so"], "installed": true },
        ]);
        assert_eq!(products_of(&targets, Path::new("/build")).unwrap(), ["src/libx.so", "a.so", "b.so"]);
        assert_eq!(products_of(&json!([]), Path::new("/build")), None);
    }
}
