//! A job folder, as far as it can be replayed by a kernel.

use crate::capture::span::{Span, pages};
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value as Json;
use std::io::Read;
use std::path::Path;

/// A job and its memory.
#[derive(Debug)]
pub(crate) struct Job {
    /// The binning list; empty if there is none.
    pub(crate) binning: std::ops::Range<u32>,
    /// The rendering list.
    pub(crate) rendering: std::ops::Range<u32>,
    /// Address of the memory's first byte.
    pub(crate) base: u32,
    memory: Vec<u8>,
    places: Vec<Span>,
}

impl Job {
    /// Reads a folder that contains one job.
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let read = |name: &str| {
            let path = folder.join(name);
            std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))
        };
        let description: Json = serde_json::from_slice(&read("job.json")?)
            .with_context(|| format!("{} is not the description of a job", folder.join("job.json").display()))?;
        let jobs = description["jobs"].as_array().map_or(&[][..], Vec::as_slice);
        let [job] = jobs else {
            bail!("{} contains {} jobs; only a folder with one can be run", folder.display(), jobs.len());
        };
        let name = job["mem"].as_str().context("the job names no memory image")?;
        ensure!(Path::new(name).components().count() == 1, "the memory image \"{name}\" is not in the folder");
        let file = read(name)?;
        let mut memory = Vec::new();
        if name.ends_with(".zst") {
            ruzstd::decoding::StreamingDecoder::new(file.as_slice())
                .map_err(|error| anyhow::anyhow!("{name}: {error}"))?
                .read_to_end(&mut memory)
                .with_context(|| format!("{name} cannot be unpacked"))?;
        } else {
            memory = file;
        }
        Self::new(job, memory)
    }

    fn new(job: &Json, memory: Vec<u8>) -> Result<Self> {
        let number = |name: &str| job[name].as_u64().and_then(|number| u32::try_from(number).ok()).unwrap_or(0);
        let programs = job["user_programs"].as_array().map_or(0, Vec::len);
        ensure!(programs == 0, "the job has {programs} user programs, which the kernel's validator does not support");
        let binning =
            if job["has_bin"].as_bool().unwrap_or(false) { number("bin_ct0ca")..number("bin_ct0ea") } else { 0..0 };
        let rendering = number("render_ct1ca")..number("render_ct1ea");
        ensure!(!rendering.is_empty(), "the job has no rendering list");
        let base = number("arena_base");
        let buffers = job["buffers"].as_array().map_or(&[][..], Vec::as_slice);
        let mut spans: Vec<Span> = buffers.iter().chain([&job["color_buffer"]]).filter_map(Span::of_region).collect();
        if buffers.is_empty() {
            spans.push(Span { address: base, bytes: u32::try_from(memory.len())? });
        }
        Ok(Self { binning, rendering, base, memory, places: pages(spans) })
    }

    /// The memory that the job needs: disjoint ranges of whole pages, in ascending order.
    pub(crate) fn places(&self) -> &[Span] {
        &self.places
    }

    /// The blocks of its memory that are not zero.
    pub(crate) fn blocks(&self, block_bytes: usize) -> impl Iterator<Item = (u32, &[u8])> {
        let starts =
            self.places.iter().flat_map(move |place| (u64::from(place.address)..place.end()).step_by(block_bytes));
        let blocks = starts.filter_map(move |address| {
            let start = usize::try_from(address.checked_sub(u64::from(self.base))?).ok()?;
            let end = self.memory.len().min(start + block_bytes);
            Some((address as u32, self.memory.get(start..end)?))
        });
        blocks.filter(|(_, bytes)| bytes.iter().any(|&byte| byte != 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn job(more: Json) -> Result<Job> {
        let mut all = json!({ "has_bin": true, "bin_ct0ca": 4096, "bin_ct0ea": 4100, "render_ct1ca": 8192, "render_ct1ea": 8200, "arena_base": 4096 });
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let mut memory = vec![0; 0x3000];
        memory[0x1404] = 7;
        Job::new(&all, memory)
    }

    #[test]
    fn buffers_become_pages() {
        let buffers = json!([{ "address": 0x2000, "size": 0x800 }, { "address": 0x3010, "size": 1 }, { "address": 0x9000, "size": 1 }]);
        let job =
            job(json!({ "buffers": buffers, "color_buffer": { "address": 0x8000, "stride_bytes": 256, "height": 4 } }))
                .unwrap();
        let span = |address, bytes| Span { address, bytes };
        assert_eq!(job.places(), [span(0x2000, 0x2000), span(0x8000, 0x2000)]);
        let blocks: Vec<_> = job.blocks(1024).map(|(address, bytes)| (address, bytes.len(), bytes[4])).collect();
        assert_eq!(blocks, [(0x2400, 1024, 7)]);
    }

    #[test]
    fn a_job_without_buffers_needs_its_image() {
        let job = job(json!({})).unwrap();
        assert_eq!(job.places(), [Span { address: 0x1000, bytes: 0x3000 }]);
        assert_eq!((job.binning.clone(), job.rendering.clone()), (4096..4100, 8192..8200));
    }

    #[test]
    fn what_cannot_be_run_is_said_by_name() {
        let error = |more| job(more).unwrap_err().to_string();
        assert!(error(json!({ "user_programs": [{ "pc": 0 }] })).contains("1 user programs"));
        assert!(error(json!({ "render_ct1ea": 8192 })).contains("no rendering list"));
    }
}
