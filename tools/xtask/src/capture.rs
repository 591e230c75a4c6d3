//! `cargo xtask capture`: saves a job of a running kernel as a folder that `v3d replay` can run.
//!
//! The kernel's command `capture` prints its last job, or the one that hung, as text lines:
//!
//! ```text
//! capture job {"name":"cube","has_bin":true,"bin_ct0ca":...}
//! capture memory 08001000 5a0c93f1 AAECAwSCAAAA...
//! capture end 524288
//! ok capture
//! ```
//!
//! * `capture job` has a JSON object on one line, with the members of a job in the job folder's description (`bin_ct0ca`, `color_buffer`, ...). Addresses are
//!   bus addresses without their alias bits, that is, offsets into RAM.
//! * `capture memory` has the offset of a block in RAM and the CRC-32 of its bytes, both in hexadecimal, and the bytes,
//!   [run-length encoded](crate::far_end::packed) in base64.
//!   Blocks come in any order and do not overlap. Memory without a block is zero.
//! * `capture end` has the total number of bytes of all blocks before encoding.
//!
//! The result is `job.json` and `mem0.bin.zst`: the memory from the first block's page to the end of the last block.

pub(crate) mod span;

use crate::capture::span::Span;
use crate::far_end::FarEnd;
use crate::far_end::console::Console;
use crate::far_end::packed;
use crate::interrupt;
use crate::run::run_scene;
use crate::whole_file;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail, ensure};
use data_encoding::BASE64;
use lexopt::prelude::*;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const HELP: &str = "\
cargo xtask capture -o DIR --board DEVICE
cargo xtask capture -o DIR --log FILE
cargo xtask capture -o DIR SCENE [--frame NUMBER]

Saves a job of the kernel, the last one unless --before is given, as the folder DIR, which `cargo run -p v3d-sim --bin v3d -- replay DIR` runs:
  --board DEVICE   from a kernel on a board that is connected by a serial line, such as /dev/ttyUSB0
  --log FILE       from a recording of the console that contains the output of `capture`
  SCENE            from a kernel in QEMU, after drawing one frame of SCENE: the first, number 0, unless --frame gives its number

Each pass of a frame is a job. With a scene or a board,
  --before N       saves the job that was followed by N others: --before 1 is the pass before the last. The last 16 are known

A DIR that already contains a job is not overwritten, unless --force is given. A capture of a scene in QEMU carries the names of draws, programs, source
lines and uniforms, which `v3d dump`, `v3d stats` and `v3d debug` print. For a capture from a board, have the kernel keep them before the scene is drawn:
`names on`.
";

/// Time limit: a job's memory has some hundred KiB, and a serial line transmits 11 KiB per second.
const PATIENCE: Duration = Duration::from_secs(1800);
/// Time limit for drawing a frame in QEMU.
const DRAW_PATIENCE: Duration = Duration::from_secs(300);

/// Start and end of the image are multiples of this.
const PAGE_BYTES: usize = 4096;

/// Names of the files in a folder.
const DESCRIPTION: &str = "job.json";
const MEMORY: &str = "mem0.bin.zst";

/// The largest image; a longer one means damaged data, since the GPU addresses 1 GiB.
const MAX_IMAGE_BYTES: usize = 1 << 30;

#[derive(Debug, PartialEq, Eq)]
enum CaptureSource {
    Board(PathBuf),
    Log(PathBuf),
    /// A scene, and the number of its frame.
    Scene(String, u64),
}

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
struct Options {
    output: PathBuf,
    source: CaptureSource,
    /// How many jobs were drawn after the one that is meant.
    before: u32,
    force: bool,
}

impl Options {
    /// `None` if help is asked for.
    fn parse(mut arguments: lexopt::Parser) -> Result<Option<Self>> {
        let (mut output, mut sources, mut frame, mut before, mut force) = (None, Vec::new(), None, 0, false);
        while let Some(argument) = arguments.next()? {
            match argument {
                Long("help") | Short('h') => return Ok(None),
                Long("force") => force = true,
                Short('o') | Long("output") => output = Some(PathBuf::from(arguments.value()?)),
                Long("board") => sources.push(CaptureSource::Board(arguments.value()?.into())),
                Long("log") => sources.push(CaptureSource::Log(arguments.value()?.into())),
                Long("frame") => frame = Some(arguments.value()?.parse()?),
                Long("before") => before = arguments.value()?.parse()?,
                Value(scene) => sources.push(CaptureSource::Scene(scene.string()?, 0)),
                other => return Err(other.unexpected().into()),
            }
        }
        let (Some(output), Ok([source])) = (output, <[CaptureSource; 1]>::try_from(sources)) else {
            bail!("an output folder and the source of the job are needed; see `cargo xtask capture --help`");
        };
        let source = match (source, frame) {
            (CaptureSource::Scene(_, _), Some(u64::MAX)) => bail!("--frame: there is no frame of this number"),
            (CaptureSource::Scene(scene, _), Some(frame)) => CaptureSource::Scene(scene, frame),
            (_, Some(_)) => {
                bail!("--frame is for a scene: a board or a recording has only the frame that was drawn last")
            }
            (source, None) => source,
        };
        if before > 0 && matches!(source, CaptureSource::Log(_)) {
            bail!("--before is for a scene or a board: a recording has the job that was sent");
        }
        Ok(Some(Self { output, source, before, force }))
    }
}

/// Runs the task.
pub(crate) fn task(arguments: lexopt::Parser) -> Result<()> {
    let Some(Options { output, source, before, force }) = Options::parse(arguments)? else {
        eprint!("{HELP}");
        return Ok(());
    };
    if !force {
        refuse_replacement(&output)?;
    }
    let existing = output.ancestors().find(|folder| folder.exists()).map(Path::to_owned);
    std::fs::create_dir_all(&output).with_context(|| format!("cannot create {}", output.display()))?;
    let saved = save(&source, before, &output);
    if saved.is_err() {
        remove_empty(&output, existing.as_deref());
    }
    saved
}

/// Removes a folder and those around it, up to one that was there before, as far as they are empty.
fn remove_empty(folder: &Path, existing: Option<&Path>) {
    for folder in folder.ancestors().take_while(|folder| Some(*folder) != existing) {
        if std::fs::remove_dir(folder).is_err() {
            // The error of the capture says more.
            break;
        }
    }
}

/// Saves the job of a source to a folder.
fn save(source: &CaptureSource, before: u32, output: &Path) -> Result<()> {
    whole_file::check(&output.join(DESCRIPTION))?;
    interrupt::watch()?;
    let lines = match source {
        CaptureSource::Board(device) => ask(FarEnd::connect(&Workspace::find()?, Some(device))?.console(), before)?,
        CaptureSource::Log(path) => {
            let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
            String::from_utf8_lossy(&bytes).lines().map(|line| line.trim_end().to_owned()).collect()
        }
        CaptureSource::Scene(scene, frame) => {
            let far_end = FarEnd::connect(&Workspace::find()?, None)?;
            far_end.console().command("names", " on", Instant::now() + DRAW_PATIENCE, |_| {})?.lines()?;
            run_scene(far_end.console(), scene, *frame..frame + 1, Instant::now() + DRAW_PATIENCE)?;
            ask(far_end.console(), before)?
        }
    };
    let remark = write_folder(lines.iter().map(String::as_str), output)?;
    eprintln!("{}: {remark}", output.display());
    Ok(())
}

/// Fails if the folder contains files that a capture would overwrite.
fn refuse_replacement(folder: &Path) -> Result<()> {
    for name in [DESCRIPTION, MEMORY] {
        let path = folder.join(name);
        ensure!(!path.exists(), "{} exists; --force overwrites it", path.display());
    }
    Ok(())
}

/// Creates a job folder from the output of `capture`. Returns a remark about its memory.
pub(crate) fn write_folder<'a>(lines: impl Iterator<Item = &'a str>, folder: &Path) -> Result<String> {
    write_changed_folder(lines, folder, |_| Ok(()))
}

/// The same, after `change` has examined and changed the memory.
pub(crate) fn write_changed_folder<'a>(
    lines: impl Iterator<Item = &'a str>,
    folder: &Path,
    change: impl FnOnce(&mut [u8]) -> Result<()>,
) -> Result<String> {
    let mut job = Job::from_lines(lines)?;
    change(&mut job.memory)?;
    job.write(folder)?;
    Ok(format!("{} bytes of memory from {:#x} on", job.memory.len(), job.base))
}

/// Requests the job, and shows the progress of the transfer.
fn ask(console: &Console, before: u32) -> Result<Vec<String>> {
    let mut bytes = 0;
    let mut shown = 0;
    let words = if before > 0 { format!(" before {before}") } else { String::new() };
    let reply = console.command("capture", &words, Instant::now() + PATIENCE, |line| {
        bytes += line.len();
        if bytes >= shown + 64 * 1024 {
            shown = bytes;
            eprintln!("{} KiB of text ...", bytes / 1024);
        }
    })?;
    reply.lines()
}

/// A job with its memory.
#[derive(Debug)]
struct Job {
    description: Map<String, Json>,
    /// Offset of the memory's first byte in RAM.
    base: usize,
    memory: Vec<u8>,
}

impl Job {
    /// Parses the output of `capture`; if there are several, the last one.
    fn from_lines<'a>(lines: impl Iterator<Item = &'a str>) -> Result<Self> {
        let mut description = None;
        let mut blocks = BTreeMap::new();
        let mut end = None;
        for line in lines {
            let Some(line) = line.strip_prefix("capture ") else {
                continue;
            };
            if let Some(text) = line.strip_prefix("job ") {
                let parsed = serde_json::from_str(text).context("the line `capture job` has no JSON object")?;
                description = Some(parsed);
                blocks.clear();
                end = None;
            } else if let Some(text) = line.strip_prefix("memory ") {
                let (address, bytes) = memory_block(text)?;
                if blocks.insert(address, bytes).is_some() {
                    bail!("the block at {address:#x} was received twice");
                }
            } else if let Some(text) = line.strip_prefix("end ") {
                end = Some(text.parse::<usize>().context("the line `capture end` has no number")?);
            }
        }
        let description = description.context("there is no line `capture job`")?;
        let end = end.context("there is no line `capture end`: the capture is cut off")?;
        let sum: usize = blocks.values().map(Vec::len).sum();
        ensure!(sum == end, "{sum} bytes of memory were received, and the kernel sent {end}: lines were lost");
        let (base, memory) = lay_out(&blocks)?;
        Ok(Self { description, base, memory })
    }

    /// End of the last region in the description: the colour buffer may be far beyond the lists.
    fn end_of_regions(&self) -> usize {
        let lists = self.description.values().filter_map(Json::as_array).flatten();
        let regions = self.description.values().chain(lists).filter_map(Span::of_region);
        regions.map(|region| usize::try_from(region.end()).unwrap_or(usize::MAX)).max().unwrap_or(0)
    }

    /// Writes the folder.
    fn write(&self, folder: &Path) -> Result<()> {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let mut job = self.description.clone();
        job.insert("mem".to_owned(), json!(MEMORY));
        job.insert("mem_bytes".to_owned(), json!(self.memory.len()));
        job.insert("arena_base".to_owned(), json!(self.base));
        let size = self.end_of_regions().saturating_sub(self.base).max(self.memory.len());
        job.entry("arena_size").or_insert(json!(size));
        job.entry("carry").or_insert(json!([]));
        let name = job.remove("name").unwrap_or(json!("capture"));
        let all = json!({
            "name": name,
            "description": "captured from a running kernel by `cargo xtask capture`",
            "jobs": [job],
            "result": { "job": 0 },
        });
        // The description is written last: a folder that contains it is complete.
        whole_file::write(&folder.join(MEMORY), &compress_to_vec(self.memory.as_slice(), CompressionLevel::Fastest))?;
        whole_file::write(&folder.join(DESCRIPTION), (serde_json::to_string_pretty(&all)? + "\n").as_bytes())
    }
}

/// Parses `ADDRESS CRC BASE64`.
pub(crate) fn memory_block(text: &str) -> Result<(usize, Vec<u8>)> {
    let mut words = text.split(' ');
    let (Some(address), Some(crc), Some(data), None) = (words.next(), words.next(), words.next(), words.next()) else {
        bail!("a line `capture memory` has not three words: {text:.40}");
    };
    let number = |word| u32::from_str_radix(word, 16).with_context(|| format!("{word:.20} is no hexadecimal number"));
    let (address, crc) = (number(address)?, number(crc)?);
    let damaged = || format!("the block at {address:#x} is damaged");
    let bytes = packed::unpack(&BASE64.decode(data.as_bytes()).with_context(damaged)?).with_context(damaged)?;
    let actual = crc32fast::hash(&bytes);
    ensure!(actual == crc, "the block at {address:#x} is damaged: its CRC is {actual:08x} instead of {crc:08x}");
    Ok((usize::try_from(address)?, bytes))
}

/// A single image of all blocks, in whole pages, and the offset of its first byte.
fn lay_out(blocks: &BTreeMap<usize, Vec<u8>>) -> Result<(usize, Vec<u8>)> {
    let first = blocks.keys().next().context("the job has no memory")?;
    let base = first / PAGE_BYTES * PAGE_BYTES;
    let mut memory = Vec::new();
    for (address, bytes) in blocks {
        let start = address - base;
        ensure!(start >= memory.len(), "the block at {address:#x} overlaps the one before");
        ensure!(
            start + bytes.len() <= MAX_IMAGE_BYTES,
            "the block at {address:#x} is too far from the first at {first:#x}"
        );
        memory.resize(start, 0);
        memory.extend_from_slice(bytes);
    }
    memory.resize(memory.len().next_multiple_of(PAGE_BYTES), 0);
    Ok((base, memory))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    /// Two hand-made blocks: "abc" as literals, and the word 0x04030201 five times; the CRCs are from another implementation.
    const LINES: [&str; 6] = [
        "v3d> capture",
        "capture job {\"name\":\"t\",\"has_bin\":false,\"render_ct1ca\":8192,\
            \"buffers\":[{\"address\":65536,\"size\":4096}],\
            \"color_buffer\":{\"address\":1048576,\"stride_bytes\":128,\"height\":4}}",
        "capture memory 00002004 352441c2 AmFiYw==",
        "capture memory 00003000 f7f5cd73 gwECAwQ=",
        "capture end 23",
        "ok capture",
    ];

    #[test]
    fn a_folder_is_written_that_reads_back() {
        let job = Job::from_lines(LINES.into_iter()).unwrap();
        assert_eq!((job.base, job.memory.len()), (0x2000, 0x2000));
        assert_eq!(&job.memory[4..8], b"abc\0");
        assert_eq!(job.memory[0x1000..0x1014], [1, 2, 3, 4].repeat(5));
        let folder = std::env::temp_dir().join(format!("xtask-capture-test-{}", std::process::id()));
        job.write(&folder).unwrap();
        let description: Json = serde_json::from_slice(&std::fs::read(folder.join("job.json")).unwrap()).unwrap();
        assert_eq!(description["name"], "t");
        assert_eq!(description["jobs"][0]["arena_base"], 0x2000);
        assert_eq!(description["jobs"][0]["render_ct1ca"], 8192);
        assert_eq!(description["jobs"][0]["arena_size"], 0x10_0000 + 4 * 128 - 0x2000);
        let packed = std::fs::read(folder.join("mem0.bin.zst")).unwrap();
        let mut memory = Vec::new();
        ruzstd::decoding::StreamingDecoder::new(packed.as_slice()).unwrap().read_to_end(&mut memory).unwrap();
        assert_eq!(memory, job.memory);
        let refusal = refuse_replacement(&folder).unwrap_err().to_string();
        assert!(refusal.contains("--force"), "{refusal}");
        std::fs::remove_file(folder.join(DESCRIPTION)).unwrap();
        assert!(refuse_replacement(&folder).is_err(), "its memory is worth keeping, too");
        assert!(refuse_replacement(&folder.join("new")).is_ok());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn any_frame_of_a_scene_can_be_asked_for() {
        let parse = |arguments: &[&str]| Options::parse(lexopt::Parser::from_args(arguments));
        let source = |arguments: &[&str]| parse(arguments).unwrap().unwrap().source;
        assert_eq!(source(&["-o", "job", "cube"]), CaptureSource::Scene("cube".to_owned(), 0));
        assert_eq!(source(&["-o", "job", "--frame", "30", "cube"]), CaptureSource::Scene("cube".to_owned(), 30));
        assert_eq!(
            source(&["cube", "--frame=7", "--output=job", "--force"]),
            CaptureSource::Scene("cube".to_owned(), 7)
        );
        let before = |arguments: &[&str]| parse(arguments).unwrap().unwrap().before;
        assert_eq!(before(&["-o", "job", "mirror"]), 0);
        assert_eq!(before(&["-o", "job", "mirror", "--before", "1"]), 1);
        assert_eq!(before(&["-o", "job", "--board", "x", "--before", "2"]), 2);
        for (arguments, part) in [
            (&["-o", "job", "--log", "a", "--frame", "3"][..], "is for a scene"),
            (&["-o", "job", "--log", "a", "--before", "1"], "is for a scene or a board"),
            (&["-o", "job", "cube", "--frame", "x"], "x"),
            (&["-o", "job", "cube", "--frame", "18446744073709551615"], "no frame"),
            (&["-o", "job", "cube", "glow"], "are needed"),
            (&["cube"], "are needed"),
        ] {
            let error = format!("{:#}", parse(arguments).unwrap_err());
            assert!(error.contains(part), "{arguments:?}: {error}");
        }
        assert_eq!(parse(&["--help"]).unwrap(), None);
    }

    #[test]
    fn losses_and_damage_are_told() {
        let error = |lines: Vec<&str>| format!("{:#}", Job::from_lines(lines.into_iter()).unwrap_err());
        assert!(error(vec![]).contains("capture job"));
        assert!(error(LINES[..4].to_vec()).contains("cut off"));
        let without = |n: usize| LINES.iter().enumerate().filter(|(at, _)| *at != n).map(|(_, line)| *line).collect();
        assert!(error(without(3)).contains("lines were lost"));
        let with = |line| vec![LINES[1], line, LINES[4]];
        assert!(error(with("capture memory 2004 352441c3 AmFiYw==")).contains("CRC is 352441c2"));
        assert!(error(with("capture memory 2004 352441c2 AmFi")).contains("damaged"));
        assert!(error(with("capture memory 2004 352441c2 ?")).contains("damaged"));
        assert!(error(with("capture memory 2004")).contains("three words"));
    }

    #[test]
    fn a_capture_that_fails_leaves_no_folder() {
        let folder = std::env::temp_dir().join(format!("xtask-failed-capture-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let log = folder.join("log.txt");
        std::fs::write(&log, "there is no job in it\n").unwrap();
        let output = folder.join("jobs/first");
        let capture = || {
            let arguments = [Path::new("-o"), &output, Path::new("--log"), &log];
            task(lexopt::Parser::from_args(arguments)).unwrap_err().to_string()
        };
        assert_eq!(capture(), "there is no line `capture job`");
        assert!(!folder.join("jobs").exists());
        // What was there stays.
        std::fs::create_dir_all(&output).unwrap();
        capture();
        assert!(output.is_dir());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
