//! `cargo xtask gallery`: pictures and short films of all scenes, a contact sheet, and a page that shows them.

mod film;
pub(crate) mod page;
mod sheet;

use crate::build;
use crate::far_end::console::Console;
use crate::far_end::qemu::{self, Qemu};
use crate::interrupt;
use crate::picture::Picture;
use crate::run::{SceneLine, list_scenes, run_scene};
use crate::setup;
use crate::whole_file;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail, ensure};
use film::Film;
use lexopt::prelude::*;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const HELP: &str = "\
cargo xtask gallery [-o DIR] [--frames N] [SCENE...]

Boots the kernel in QEMU and saves pictures of its scenes, of all or of those given as arguments:

  DIR/SCENE.png     the first frame, as QEMU displays it
  DIR/SCENE.apng    a short film, 480 pixels wide, at a quarter of the scene's 60 frames per second
  DIR/gallery.png   a contact sheet of all scenes
  DIR/index.html    a page that shows them

  -o DIR            the folder (default target/gallery)
  --frames N        pictures per film (default 24); 0 makes no films

Fails when a scene fails, when the V3D model reports a fault, or when a picture has only one colour.
";

/// Default number of pictures in a film.
const DEFAULT_FRAMES: u64 = 24;
/// Frames of the scene per picture of its film.
const STEP: u64 = 4;
/// Width of films in pixels.
const FILM_PX: usize = 480;
/// Time limit for boot, and for each picture.
const PATIENCE: Duration = Duration::from_secs(300);

#[derive(Debug, PartialEq, Eq)]
struct Options {
    folder: Option<PathBuf>,
    frames: u64,
    scenes: Vec<String>,
}

impl Options {
    /// `None` if the arguments only request help.
    fn parse(mut arguments: lexopt::Parser) -> Result<Option<Self>> {
        let mut options = Self { folder: None, frames: DEFAULT_FRAMES, scenes: Vec::new() };
        while let Some(argument) = arguments.next()? {
            match argument {
                Long("help") | Short('h') => return Ok(None),
                Short('o') => options.folder = Some(arguments.value()?.into()),
                Long("frames") => options.frames = arguments.value()?.parse()?,
                Value(scene) => options.scenes.push(scene.string()?),
                other => return Err(other.unexpected().into()),
            }
        }
        Ok(Some(options))
    }

    /// The scenes that were given as arguments, or all.
    fn chosen(&self, all: Vec<SceneLine>) -> Result<Vec<SceneLine>> {
        if let Some(unknown) = self.scenes.iter().find(|name| !all.iter().any(|scene| scene.name == **name)) {
            let names: Vec<&str> = all.iter().map(|scene| scene.name.as_str()).collect();
            bail!("the kernel has no scene {unknown}; there are: {}", names.join(", "));
        }
        Ok(all.into_iter().filter(|scene| self.scenes.is_empty() || self.scenes.contains(&scene.name)).collect())
    }
}

/// A scene on the contact sheet and the page.
#[derive(Debug)]
pub(crate) struct Exhibit {
    /// Name and description.
    pub(crate) scene: SceneLine,
    /// Its first frame.
    pub(crate) picture: Picture,
    /// Whether there is a film.
    pub(crate) has_film: bool,
}

/// Runs the task.
pub(crate) fn task(arguments: lexopt::Parser) -> Result<()> {
    let Some(options) = Options::parse(arguments)? else {
        eprint!("{HELP}");
        return Ok(());
    };
    interrupt::watch()?;
    setup::qemu()?.check_plugin()?;
    let workspace = Workspace::find()?;
    let folder = options.folder.clone().unwrap_or_else(|| workspace.target.join("gallery"));
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let (kernel, plugin) = build::kernel_and_plugin(&workspace, build::ShaderCompiler::Included)?;
    eprintln!("==> starting QEMU");
    let machine = Qemu::start(qemu::Options::with_v3d(&kernel.image, &plugin), workspace.scratch()?)?;
    machine.console.wait_ready(Instant::now() + PATIENCE)?;
    let scenes = options.chosen(list_scenes(&machine.console, Instant::now() + PATIENCE)?)?;

    let count = scenes.len();
    let mut exhibits = Vec::with_capacity(count);
    for (number, scene) in scenes.into_iter().enumerate() {
        eprintln!("==> {} ({} of {count})", scene.name, number + 1);
        let name = scene.name.clone();
        exhibits.push(exhibit(&machine, &options, &folder, scene).with_context(|| format!("scene {name}"))?);
    }
    sheet::contact_sheet(&exhibits)?.write_png(&folder.join("gallery.png"))?;
    whole_file::write(&folder.join("index.html"), page::html(&exhibits).as_bytes())?;
    eprintln!("{count} scenes: {}", folder.join("index.html").display());
    Ok(())
}

/// Takes one scene's picture and film.
fn exhibit(machine: &Qemu, options: &Options, folder: &Path, scene: SceneLine) -> Result<Exhibit> {
    let start = Instant::now();
    let picture = frame(machine, &scene.name, 0)?;
    let colors = picture.pixels.iter().collect::<HashSet<_>>().len();
    ensure!(colors > 1, "its picture has only one colour");
    picture.write_png(&folder.join(format!("{}.png", scene.name)))?;
    let has_film = options.frames > 0;
    if has_film {
        let mut film = Film::starting_with(&picture.scaled_to_width(FILM_PX));
        for number in 1..options.frames {
            film.append(&frame(machine, &scene.name, number * STEP)?.scaled_to_width(FILM_PX))?;
        }
        film.write(&folder.join(format!("{}.apng", scene.name)))?;
    }
    eprintln!("ok      {} ({:.1} s): {colors} colours", scene.name, start.elapsed().as_secs_f64());
    Ok(Exhibit { scene, picture, has_film })
}

/// The screen with one frame of a scene.
fn frame(machine: &Qemu, scene: &str, number: u64) -> Result<Picture> {
    let console: &Console = &machine.console;
    run_scene(console, scene, number..number + 1, Instant::now() + PATIENCE)?;
    machine.check_faults()?;
    machine.screenshot()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Option<Options>> {
        Options::parse(lexopt::Parser::from_args(arguments))
    }

    fn scene(name: &str) -> SceneLine {
        SceneLine { name: name.to_owned(), description: String::new() }
    }

    #[test]
    fn arguments() {
        let options = parse(&["-o", "out", "cube", "--frames=3", "ui"]).unwrap().unwrap();
        let scenes = vec!["cube".to_owned(), "ui".to_owned()];
        assert_eq!(options, Options { folder: Some("out".into()), frames: 3, scenes });
        assert_eq!(parse(&["--help"]).unwrap(), None);
        assert!(parse(&["--frames", "some"]).is_err());
        assert!(parse(&["--film"]).is_err());
    }

    #[test]
    fn named_scenes_are_shown_in_the_kernels_order() {
        let chosen = |names: &[&str]| {
            let all = ["triangle", "cube", "ui"].map(scene).to_vec();
            let options = Options { folder: None, frames: 0, scenes: names.iter().map(|&name| name.into()).collect() };
            options.chosen(all).map(|scenes| scenes.into_iter().map(|scene| scene.name).collect::<Vec<_>>())
        };
        assert_eq!(chosen(&[]).unwrap(), ["triangle", "cube", "ui"]);
        assert_eq!(chosen(&["ui", "triangle"]).unwrap(), ["triangle", "ui"]);
        let error = chosen(&["sphere"]).unwrap_err().to_string();
        assert_eq!(error, "the kernel has no scene sphere; there are: triangle, cube, ui");
    }
}
