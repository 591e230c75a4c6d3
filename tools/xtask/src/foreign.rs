//! `cargo xtask foreign`: runs other projects' kernels in QEMU with the model's V3D, and shows what they draw.

mod images;
mod page;

use crate::build;
use crate::far_end::machine::{MACHINES, Machine, RASPI3B, Start};
use crate::far_end::qemu::{self, Qemu};
use crate::interrupt;
use crate::picture::Picture;
use crate::setup;
use crate::whole_file;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail, ensure};
use images::Image;
use lexopt::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const HELP: &str = "\
cargo xtask foreign FOLDER [-o DIR] [--machine NAME]... [--load ADDRESS|kernel] [--seconds N]

Runs other people's kernels for the Raspberry Pi in QEMU, with the V3D model behind its registers, and shows what they draw.
FOLDER is a checkout of such a project. In it and in all folders below, each file that is named as the firmware of a board names
its kernel is started in a machine of its own; nothing in FOLDER is built or changed. FOLDER may also be one such file.

  --machine NAME     the machine, and the files for it; `all` is all of them (default raspi3b):
                       raspi3b, raspi3ap   kernel8.img
                       raspi2b             kernel7.img
                       raspi0, raspi1ap    kernel.img
  --load ADDRESS     the address at which a file is loaded and started, such as 0x80000; `kernel` starts it as QEMU's -kernel does.
                     Without this option a config.txt beside the file, or in a folder above it or its subfolder boot, tells it
                     (kernel_old=1, kernel_address=); without one it is `kernel` for kernel8.img and 0x8000 for the others
  --seconds N        how long each runs before its picture is taken (default 3)
  -o DIR             the folder for the results (default target/foreign)

For each file it prints a line: its folder, machine, size of the screen, how many of its pixels differ from the most frequent
colour, a CRC-32 of all pixels, and the number of faults that the model reports. In DIR there are then:

  NAME.png           the screen
  NAME.txt           what the kernel sent to the serial port, if it sent anything
  NAME.faults        the faults, if there are any
  index.html         a page that shows all of them

Fails if a machine cannot be started, or if the model reports a fault. Whether a picture is right, a person has to see:
compare the pictures with what the sources describe.

A project to try is https://github.com/PeterLemon/RaspberryPi with 39 demos, whose images stand beside their sources in V3D:

  git clone https://github.com/PeterLemon/RaspberryPi ../RaspberryPi
  cargo xtask foreign ../RaspberryPi/V3D
";

/// Default time for an image.
const DEFAULT_SECONDS: f64 = 3.0;
/// The longest time for an image.
const MAX_SECONDS: f64 = 3600.0;
/// How often a running machine is looked after.
const STEP: Duration = Duration::from_millis(100);

#[derive(Debug, PartialEq)]
struct Options {
    folder: PathBuf,
    results: Option<PathBuf>,
    machines: Vec<Machine>,
    start: Option<Start>,
    time: Duration,
}

impl Options {
    /// `None` if the arguments only request help.
    fn parse(mut arguments: lexopt::Parser) -> Result<Option<Self>> {
        let (mut folder, mut results, mut machines, mut start) = (None, None, Vec::new(), None);
        let mut seconds = DEFAULT_SECONDS;
        while let Some(argument) = arguments.next()? {
            match argument {
                Long("help") | Short('h') => return Ok(None),
                Short('o') => results = Some(arguments.value()?.into()),
                Long("machine") => match arguments.value()?.string()?.as_str() {
                    "all" => machines.extend(MACHINES),
                    name => machines.push(Machine::named(name)?),
                },
                Long("load") => start = Some(parse_start(&arguments.value()?.string()?)?),
                Long("seconds") => seconds = arguments.value()?.parse()?,
                Value(path) if folder.is_none() => folder = Some(PathBuf::from(path)),
                other => return Err(other.unexpected().into()),
            }
        }
        let folder = folder.context("a folder with kernels is missing; see `cargo xtask foreign --help`")?;
        ensure!((0.1..=MAX_SECONDS).contains(&seconds), "--seconds must be from 0.1 to {MAX_SECONDS}");
        if machines.is_empty() {
            machines.push(RASPI3B);
        }
        Ok(Some(Self { folder, results, machines, start, time: Duration::from_secs_f64(seconds) }))
    }
}

/// Parses the value of `--load`.
fn parse_start(text: &str) -> Result<Start> {
    match text {
        "kernel" => Ok(Start::Kernel),
        address => images::number(address).map(Start::At).with_context(|| {
            format!("--load takes `kernel` or an address such as 0x80000, which \"{address}\" is not")
        }),
    }
}

/// What became of an image.
#[derive(Debug)]
struct Outcome {
    image: Image,
    picture: Picture,
    faults: Vec<String>,
    /// Whether it has sent anything to the serial port.
    has_spoken: bool,
}

impl Outcome {
    /// The share of pixels that do not have the most frequent colour, in percent.
    fn drawn(&self) -> f64 {
        let mut counts: HashMap<[u8; 3], usize> = HashMap::new();
        for &pixel in &self.picture.pixels {
            *counts.entry(pixel).or_default() += 1;
        }
        let most = counts.values().max().copied().unwrap_or(0);
        100.0 * (1.0 - most as f64 / self.picture.pixels.len().max(1) as f64)
    }

    fn crc(&self) -> u32 {
        crc32fast::hash(self.picture.pixels.as_flattened())
    }

    /// The distinct sentences of the faults, and how often each was reported. The addresses in a sentence are not part of it: a shader's fault
    /// is reported for each tile's list.
    fn kinds_of_faults(&self) -> BTreeMap<&str, usize> {
        let mut kinds = BTreeMap::new();
        for fault in &self.faults {
            let behind_address = fault.split_once(" at 0x").and_then(|(_, rest)| rest.split_once(": "));
            let sentence = behind_address.map_or(fault.as_str(), |(_, sentence)| sentence);
            *kinds.entry(sentence.strip_prefix("v3d fault: ").unwrap_or(sentence)).or_default() += 1;
        }
        kinds
    }
}

/// Runs the task.
pub(crate) fn task(arguments: lexopt::Parser) -> Result<()> {
    let Some(options) = Options::parse(arguments)? else {
        eprint!("{HELP}");
        return Ok(());
    };
    let images = images::find(&options.folder, &options.machines, options.start)?;
    interrupt::watch()?;
    setup::qemu()?.check_plugin()?;
    let workspace = Workspace::find()?;
    let folder = options.results.clone().unwrap_or_else(|| workspace.target.join("foreign"));
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let plugin = build::plugin(&workspace)?;
    let width = images.iter().map(|image| image.label.chars().count()).max().unwrap_or(0);
    let count = images.len();
    eprintln!("==> {count} images, {:.1} s each", options.time.as_secs_f64());
    println!("{:width$}  machine   screen       drawn  CRC-32    faults", "image");
    let mut outcomes = Vec::with_capacity(count);
    for image in images {
        let label = image.label.clone();
        let outcome = run(&workspace, &plugin, image, &folder, options.time).with_context(|| label.clone())?;
        let screen = format!("{}x{}", outcome.picture.width, outcome.picture.height);
        let (machine, drawn, crc) = (outcome.image.machine.name, outcome.drawn(), outcome.crc());
        println!("{label:width$}  {machine:8}  {screen:9}  {drawn:6.1} %  {crc:08x}  {}", outcome.faults.len());
        outcomes.push(outcome);
    }
    let index = folder.join("index.html");
    whole_file::write(&index, page::html(&outcomes).as_bytes())?;
    let blank = outcomes.iter().filter(|outcome| outcome.drawn() == 0.0).count();
    eprintln!("{count} images, {blank} of them with a screen of one colour: {}", index.display());
    let faulty: Vec<&Outcome> = outcomes.iter().filter(|outcome| !outcome.faults.is_empty()).collect();
    if let Some(first) = faulty.first() {
        let sentence = first.kinds_of_faults().into_keys().next().unwrap_or_default();
        bail!("the model reports faults for {} of {count} images; {}: {sentence}", faulty.len(), first.image.label);
    }
    Ok(())
}

/// Runs an image for some time, and saves what it has shown and sent.
fn run(workspace: &Workspace, plugin: &Path, image: Image, folder: &Path, time: Duration) -> Result<Outcome> {
    let scratch = workspace.scratch()?;
    let serial = scratch.path().join("serial");
    let options = qemu::Options {
        machine: image.machine,
        start: image.start,
        copies: vec![Box::new(File::create(&serial)?)],
        ..qemu::Options::with_v3d(&image.file, plugin)
    };
    let mut machine = Qemu::start(options, scratch)?;
    let end = Instant::now() + time;
    while Instant::now() < end {
        interrupt::check()?;
        machine.check_running()?;
        std::thread::sleep(STEP.min(end.saturating_duration_since(Instant::now())));
    }
    let picture = machine.screenshot()?;
    let faults: Vec<String> = machine.faults()?.lines().map(str::to_owned).collect();
    picture.write_png(&folder.join(format!("{}.png", image.name)))?;
    let sent = std::fs::read(&serial)?;
    save(&folder.join(format!("{}.txt", image.name)), &sent)?;
    save(&folder.join(format!("{}.faults", image.name)), faults.join("\n").as_bytes())?;
    Ok(Outcome { image, picture, faults, has_spoken: !sent.is_empty() })
}

/// Writes a file, or removes what an earlier run has left there if there is nothing to write.
fn save(file: &Path, contents: &[u8]) -> Result<()> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("cannot replace {}", file.display()));
        }
        _ => {}
    }
    if contents.is_empty() { Ok(()) } else { whole_file::write(file, contents) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Option<Options>> {
        Options::parse(lexopt::Parser::from_args(arguments))
    }

    #[test]
    fn arguments() {
        let options = parse(&["demos"]).unwrap().unwrap();
        assert_eq!(
            options,
            Options {
                folder: "demos".into(),
                results: None,
                machines: vec![RASPI3B],
                start: None,
                time: Duration::from_secs(3),
            }
        );
        let options = parse(&["--machine=raspi0", "--machine", "raspi2b", "--load", "0x8000", "a", "--seconds=0.5"]);
        let options = options.unwrap().unwrap();
        assert_eq!(options.machines.iter().map(|machine| machine.name).collect::<Vec<_>>(), ["raspi0", "raspi2b"]);
        assert_eq!((options.start, options.time), (Some(Start::At(0x8000)), Duration::from_millis(500)));
        assert_eq!(parse(&["a", "--load", "kernel", "--machine", "all"]).unwrap().unwrap().machines, MACHINES);
        assert_eq!(parse(&["--help"]).unwrap(), None);
    }

    #[test]
    fn what_is_wrong_with_an_argument_is_told() {
        for (arguments, part) in [
            (&[][..], "a folder with kernels is missing"),
            (&["a", "--machine", "raspi4b"], "there is no machine raspi4b; there are: raspi3b, raspi3ap,"),
            (&["a", "--load", "there"], "which \"there\" is not"),
            (&["a", "--seconds", "0"], "--seconds must be from 0.1 to 3600"),
            (&["a", "b"], "unexpected argument"),
        ] {
            let message = format!("{:#}", parse(arguments).unwrap_err());
            assert!(message.contains(part), "{arguments:?}: {message}");
        }
    }

    #[test]
    fn pixels_other_than_the_most_frequent_colour_are_drawn() {
        let mut picture = Picture::filled(10, 10, [255, 255, 0]);
        picture.paste(&Picture::filled(5, 2, [9; 3]), 0, 0);
        let outcome = images::tests::outcome(picture, &[]);
        assert!((outcome.drawn() - 10.0).abs() < 1e-9);
        assert_eq!(images::tests::outcome(Picture::filled(3, 3, [0; 3]), &[]).drawn(), 0.0);
    }

    #[test]
    fn faults_that_differ_by_their_address_are_one_kind() {
        let lines = [
            "v3d fault: record at 0x00400a05: the tile is in a bad mood",
            "v3d fault: record at 0x00400a25: the tile is in a bad mood",
            "v3d fault: QPU: instruction at 0xc00004b8: something else",
            "v3d fault: without an address",
        ];
        let outcome = images::tests::outcome(Picture::filled(1, 1, [0; 3]), &lines);
        let kinds: Vec<(&str, usize)> = outcome.kinds_of_faults().into_iter().collect();
        assert_eq!(kinds, [("something else", 1), ("the tile is in a bad mood", 2), ("without an address", 1)]);
    }
}
