//! Where a user program, its uniforms and files stand in memory, before it runs.
//!
//! The program is placed at the end of memory, or at the address given by `--code`, followed by the uniforms of each QPU. All other memory is zero, except
//! for files loaded by `--memory`.

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use qpu::Assembly;
use qpu::source::read_bytes;
use v3d_hw::BusAddr;
use v3d_sim::memory::{Memory, OwnedMemory};
use v3d_sim::qpu::Launch;
use v3d_sim::timing::trace::Invocation;

use super::super::{Input, is_source, read_words, show};

/// Alignment of the program; the lists of uniforms behind it have a smaller alignment, which divides this one.
const PAGE: u32 = 0x1000;
/// Alignment of each list of uniforms.
const LINE: u32 = 64;
/// Memory before the start.
#[derive(Args)]
pub(crate) struct Placement {
    /// The uniforms: integers, floats (with a decimal point), separated by commas; given once for each QPU, or once for all
    #[arg(long, value_parser = uniforms, allow_hyphen_values = true)]
    pub(crate) uniforms: Vec<Uniforms>,
    /// Loads a file into memory: FILE@ADDRESS
    #[arg(long, value_parser = placed, value_name = "FILE@ADDRESS")]
    memory: Vec<(PathBuf, u32)>,
    /// Where the program and its uniforms stand, if not at the end of memory
    #[arg(long, value_parser = number, value_name = "ADDRESS")]
    code: Option<u32>,
    /// Bytes of memory
    #[arg(long, value_parser = number, default_value = "0x100000")]
    memory_size: u32,
}

/// The uniforms of a QPU.
#[derive(Clone, Default)]
pub(crate) struct Uniforms(Vec<u32>);

fn uniforms(text: &str) -> Result<Uniforms, String> {
    text.split(',').map(uniform).collect::<Result<_, _>>().map(Uniforms)
}

/// An integer, decimal or hexadecimal.
pub(crate) fn number(text: &str) -> Result<u32, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|error| format!("{text}: {error}"))
}

fn uniform(text: &str) -> Result<u32, String> {
    let text = text.trim();
    if text.contains('.') {
        return text.parse::<f32>().map(f32::to_bits).map_err(|error| format!("{text}: {error}"));
    }
    match text.strip_prefix('-') {
        Some(positive) => number(positive).map(u32::wrapping_neg),
        None => number(text),
    }
}

fn placed(text: &str) -> Result<(PathBuf, u32), String> {
    let (file, address) = text.rsplit_once('@').ok_or("expected FILE@ADDRESS")?;
    Ok((file.into(), number(address)?))
}

/// The program of a command line: assembled and checked, or words as they are. None if it does not assemble.
pub(crate) fn program(input: &Input) -> Result<Option<Assembly>> {
    if input.sources.iter().all(|path| is_source(path)) {
        let assembly = input.assemble()?;
        if let Some(assembly) = &assembly {
            show(&qpu::check::check_assembly(assembly));
        }
        return Ok(assembly);
    }
    let [path] = input.sources.as_slice() else { bail!("one file of words, or sources") };
    Ok(Some(Assembly { words: read_words(path)?, ..Assembly::default() }))
}

impl Placement {
    /// Puts the program and the uniforms of all QPUs into memory.
    pub(crate) fn load(&self, assembly: &Assembly, qpus: u8) -> Result<(OwnedMemory, Vec<Launch>)> {
        let owned = OwnedMemory::new(self.memory_size as usize);
        let mut image = Image { memory: owned.view(), parts: Vec::new() };
        for (path, address) in &self.memory {
            let bytes = read_bytes(path, u64::from(self.memory_size)).with_context(|| path.display().to_string())?;
            image.put(&path.display().to_string(), *address, &bytes)?;
        }
        let lists = self.uniforms.len();
        ensure!(
            lists <= 1 || lists == usize::from(qpus),
            "{lists} lists of uniforms for {} QPUs: give one for each, or one for all",
            qpus
        );
        let none = Uniforms::default();
        let list = |qpu: u8| self.uniforms.get(usize::from(qpu).min(lists.saturating_sub(1))).unwrap_or(&none);
        let mut bytes: Vec<u8> = assembly.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut offsets = Vec::new();
        for Uniforms(words) in (0..qpus).map(list) {
            bytes.resize(bytes.len().next_multiple_of(LINE as usize), 0);
            offsets.push(bytes.len() as u32);
            bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        }
        let code = match self.code {
            Some(code) => code,
            None => {
                let room = u32::try_from(bytes.len()).ok().and_then(|bytes| self.memory_size.checked_sub(bytes));
                let room = room.with_context(|| {
                    format!(
                        "{} bytes of memory have no room for {} of program and uniforms",
                        self.memory_size,
                        bytes.len()
                    )
                })?;
                room / PAGE * PAGE
            }
        };
        ensure!(code % 8 == 0, "--code {code:#x}: instructions stand at multiples of 8 bytes");
        image.put("the program with its uniforms", code, &bytes)?;
        let mut launches = Vec::new();
        for (qpu, offset) in (0..qpus).zip(offsets) {
            let Uniforms(words) = list(qpu);
            launches.push(Launch {
                pc: BusAddr(code),
                uniforms: BusAddr(code + offset),
                uniforms_limit: Some(words.len() as u32),
                qpu,
                record: Some(Invocation::UserProgram { qpu }),
                ..Launch::default()
            });
        }
        Ok((owned, launches))
    }
}

/// Initial contents of memory.
struct Image<'m> {
    memory: Memory<'m>,
    /// Memory map: first address, end address, name.
    parts: Vec<(u64, u64, String)>,
}

impl Image<'_> {
    /// Writes bytes to memory; overlapping an earlier part is an error.
    fn put(&mut self, name: &str, address: u32, bytes: &[u8]) -> Result<()> {
        let (start, end) = (u64::from(address), u64::from(address) + bytes.len() as u64);
        if let Some((from, to, other)) = self.parts.iter().find(|&&(from, to, _)| start < to && from < end) {
            bail!(
                "{name} at {start:#x} to {end:#x} overlaps {other} at {from:#x} to {to:#x}: \
                 --code places the program elsewhere, --memory-size makes more room"
            );
        }
        self.memory.write(BusAddr(address), bytes).with_context(|| name.to_owned())?;
        self.parts.push((start, end, name.to_owned()));
        Ok(())
    }
}
