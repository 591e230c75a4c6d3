//! `cargo xtask capture`: a job from a running kernel, as a folder that `v3d replay` runs.
//!
//! The kernel's command `capture` prints its last job, or the one that hangs, as lines that survive a serial terminal:
//!
//! ```text
//! capture job {"name":"cube","has_bin":true,"bin_ct0ca":...}
//! capture memory 08001000 5a0c93f1 AAECAwSCAAAA...
//! capture end 524288
//! ok capture
//! ```
//!
//! * `capture job` has a JSON object on one line, with the members of a job in the job folder's description
//!   (`bin_ct0ca`, `color_buffer`, ...). Addresses are bus addresses without their alias bits, as offsets into RAM.
//! * `capture memory` has the offset of a block in RAM and the CRC-32 of its bytes, both in hexadecimal, and the bytes,
//!   [packed](packed) and in base64. Blocks come in any order and do not overlap. What no block covers is zero.
//! * `capture end` has the number of bytes of all blocks together, unpacked.
//!
//! The result is `job.json` and `mem0.bin.zst`: the memory from the first block's page to the last block's end.

pub(crate) mod packed;

use crate::console::Console;
use crate::far_end::FarEnd;
use crate::interrupt;
use crate::run::run_scene;
use crate::span::Span;
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
cargo xtask capture -o DIR SCENE

A DIR that has a job already is left as it is, unless --force is given.

Turns the kernel's last job into the folder DIR, which `cargo run -p v3d-sim --bin v3d -- replay DIR` runs:
  --board DEVICE   ask a kernel on a board at the end of a serial line, such as /dev/ttyUSB0
  --log FILE       take it from a recording of the console in which `capture` was typed
  SCENE            boot QEMU, draw one frame of SCENE, and ask that kernel
";

/// A job's memory is some hundred KiB, and a serial line carries 11 KiB a second.
const PATIENCE: Duration = Duration::from_secs(1800);
/// How long QEMU may take to draw a frame.
const DRAW_PATIENCE: Duration = Duration::from_secs(300);

/// The image begins and ends at multiples of this.
const PAGE_BYTES: usize = 4096;

/// The files of a folder.
const DESCRIPTION: &str = "job.json";
const MEMORY: &str = "mem0.bin.zst";

/// A job that spans more than this is a damaged one: the GPU's window on memory is 1 GiB.
const MAX_IMAGE_BYTES: usize = 1 << 30;

enum Source {
    Board(PathBuf),
    Log(PathBuf),
    Scene(String),
}

/// Runs the task.
pub(crate) fn task(mut arguments: lexopt::Parser) -> Result<()> {
    let (mut output, mut sources, mut force): (Option<PathBuf>, Vec<Source>, bool) = Default::default();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("help") | Short('h') => {
                eprint!("{HELP}");
                return Ok(());
            }
            Long("force") => force = true,
            Short('o') | Long("output") => output = Some(arguments.value()?.into()),
            Long("board") => sources.push(Source::Board(arguments.value()?.into())),
            Long("log") => sources.push(Source::Log(arguments.value()?.into())),
            Value(scene) => sources.push(Source::Scene(scene.string()?)),
            other => return Err(other.unexpected().into()),
        }
    }
    let (Some(output), [source]) = (output, sources.as_slice()) else {
        bail!("say where the folder goes, and from where the job comes; see `cargo xtask capture --help`");
    };
    if !force {
        refuse_replacement(&output)?;
    }
    std::fs::create_dir_all(&output).with_context(|| format!("cannot create {}", output.display()))?;
    whole_file::check(&output.join(DESCRIPTION))?;
    interrupt::watch()?;
    let lines = match source {
        Source::Board(device) => ask(FarEnd::connect(&Workspace::find()?, Some(device))?.console())?,
        Source::Log(path) => {
            let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
            String::from_utf8_lossy(&bytes).lines().map(|line| line.trim_end().to_owned()).collect()
        }
        Source::Scene(scene) => {
            let far_end = FarEnd::connect(&Workspace::find()?, None)?;
            run_scene(far_end.console(), scene, 0..1, Instant::now() + DRAW_PATIENCE)?;
            ask(far_end.console())?
        }
    };
    let remark = write_folder(lines.iter().map(String::as_str), &output)?;
    eprintln!("{}: {remark}", output.display());
    Ok(())
}

/// An error if a folder has files that a capture would replace.
fn refuse_replacement(folder: &Path) -> Result<()> {
    for name in [DESCRIPTION, MEMORY] {
        let path = folder.join(name);
        ensure!(!path.exists(), "{} is there already; --force replaces it", path.display());
    }
    Ok(())
}

/// Makes a job folder of what `capture` printed. Returns a remark on its memory.
pub(crate) fn write_folder<'a>(lines: impl Iterator<Item = &'a str>, folder: &Path) -> Result<String> {
    write_changed_folder(lines, folder, |_| Ok(()))
}

/// The same, of memory that `change` may look at and change first.
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

/// Asks for the job, and shows that it comes.
fn ask(console: &Console) -> Result<Vec<String>> {
    let mut bytes = 0;
    let mut shown = 0;
    let reply = console.command("capture", "", Instant::now() + PATIENCE, |line| {
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
    /// Reads the lines of one `capture`; of several, the last.
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
                    bail!("the block at {address:#x} came twice");
                }
            } else if let Some(text) = line.strip_prefix("end ") {
                end = Some(text.parse::<usize>().context("the line `capture end` has no number")?);
            }
        }
        let description = description.context("there is no line `capture job`")?;
        let end = end.context("there is no line `capture end`: the capture is cut off")?;
        let sum: usize = blocks.values().map(Vec::len).sum();
        ensure!(sum == end, "{sum} bytes of memory came, and the kernel sent {end}: lines were lost");
        let (base, memory) = lay_out(&blocks)?;
        Ok(Self { description, base, memory })
    }

    /// Where the last region ends that the description names: the colour buffer may lie far beyond the lists.
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
        // The description comes last: a folder that has one is whole.
        whole_file::write(&folder.join(MEMORY), &compress_to_vec(self.memory.as_slice(), CompressionLevel::Fastest))?;
        whole_file::write(&folder.join(DESCRIPTION), (serde_json::to_string_pretty(&all)? + "\n").as_bytes())
    }
}

/// Reads `ADDRESS CRC BASE64`.
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

/// One image of all blocks, whole pages, and the offset of its first byte.
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

    /// Two blocks by hand: "abc" literally, and the word 0x04030201 five times; CRCs from another implementation.
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
}
