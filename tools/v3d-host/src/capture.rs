//! Captures: the jobs that a model has run, as a job folder, which `v3d` replays and explains.
//!
//! A job's memory is kept as it was when its rendering list began, which is after everything before it in the frame: the binning list, which the folder's
//! reader runs again, has only written tile lists by then. User programs are jobs of their own; those that are requested one after the other, without a store
//! by the CPU in between, are one job.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::{Map, Value as Json, json};
use v3d::hw::BusAddr;
use v3d::hw::control_list::{FrameBufferFormat, MAX_RECORD_BYTES, MemoryFormat, Record, TileRenderingMode};
use v3d::hw::tiling::{micro_tile_px, tile_px};
use v3d::platform::Names;
use v3d_sim::Memory;

use crate::names;

/// Most jobs that are kept; then the oldest ones are dropped.
const MOST_JOBS: usize = 256;
/// Memory behind the model's, for a binner that runs out of memory in a replay.
const OVERFLOW_BYTES: u32 = 16 << 20;
const PAGE_BYTES: usize = 4096;
/// Most records of a rendering list that are looked through for the semaphore.
const MOST_RECORDS: usize = 1 << 16;

const DESCRIPTION: &str = "job.json";

/// Why jobs were not saved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// There is something of this name.
    #[error("{} exists, and a capture overwrites nothing: give another name", .0.display())]
    Exists(PathBuf),
    /// The model does not record jobs, or has run none.
    #[error("nothing has been run that could be captured")]
    Nothing,
    /// A file cannot be written.
    #[error("{}: {error}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// The jobs that have been run, oldest first.
#[derive(Debug)]
pub(crate) struct Recorder {
    jobs: VecDeque<Recorded>,
    /// Number of jobs that were dropped.
    dropped: usize,
    /// Start and end of binning lists that no rendering list has waited for.
    binned: VecDeque<(u32, u32)>,
    /// User programs join the last job.
    programs_go_on: bool,
    /// What is at addresses.
    pub(crate) names: Names,
}

/// A job, as the description has it, and its memory.
#[derive(Debug)]
struct Recorded {
    description: Map<String, Json>,
    image: Vec<u8>,
}

/// What a rendering list says of its job.
#[derive(Debug, Default)]
struct RenderingList {
    waits_for_binner: bool,
    mode: Option<TileRenderingMode>,
}

impl Default for Recorder {
    fn default() -> Self {
        let names = Names::new(usize::MAX);
        Self { jobs: VecDeque::new(), dropped: 0, binned: VecDeque::new(), programs_go_on: false, names }
    }
}

impl Recorder {
    /// A binning list starts.
    pub(crate) fn binning(&mut self, list: (u32, u32)) {
        self.programs_go_on = false;
        self.binned.push_back(list);
    }

    /// A rendering list starts.
    pub(crate) fn rendering(&mut self, (start, end): (u32, u32), memory: Memory<'_>, base: u32) {
        self.programs_go_on = false;
        let list = RenderingList::read(start, end, memory);
        let binning = if list.waits_for_binner { self.binned.pop_front() } else { None };
        let mut job = description(memory, base);
        if let Some((start, end)) = binning {
            job.insert("bin_ct0ca".to_owned(), json!(BusAddr(start).offset()));
            job.insert("bin_ct0ea".to_owned(), json!(BusAddr(end).offset()));
        }
        job.insert("has_bin".to_owned(), json!(binning.is_some()));
        job.insert("render_ct1ca".to_owned(), json!(BusAddr(start).offset()));
        job.insert("render_ct1ea".to_owned(), json!(BusAddr(end).offset()));
        if let Some(buffer) = list.mode.as_ref().and_then(color_buffer) {
            job.insert("color_buffer".to_owned(), buffer);
        }
        self.add(job, memory, base);
    }

    /// A user program is requested: its address, and the address and number of its uniforms.
    pub(crate) fn program(&mut self, [pc, uniforms, uniforms_length]: [u32; 3], memory: Memory<'_>, base: u32) {
        let (pc, uniforms) = (BusAddr(pc).offset(), BusAddr(uniforms).offset());
        let program = json!({ "pc": pc, "uniforms": uniforms, "uniforms_length": uniforms_length });
        if self.programs_go_on
            && let Some(last) = self.jobs.back_mut()
            && let Some(programs) = last.description.get_mut("user_programs").and_then(Json::as_array_mut)
        {
            programs.push(program);
            return;
        }
        let mut job = description(memory, base);
        job.insert("user_programs".to_owned(), json!([program]));
        self.add(job, memory, base);
        self.programs_go_on = true;
    }

    /// The CPU has written to memory.
    pub(crate) fn stored(&mut self) {
        self.programs_go_on = false;
    }

    /// The V3D was reset: what it was doing is started again.
    pub(crate) fn reset(&mut self) {
        self.programs_go_on = false;
        self.binned.clear();
    }

    fn add(&mut self, mut description: Map<String, Json>, memory: Memory<'_>, base: u32) {
        let mut image = vec![0; memory.bytes() as usize - base as usize];
        // All of these bytes are in memory.
        let _ = memory.read(BusAddr(base), &mut image);
        let used = image.iter().rposition(|&byte| byte != 0).map_or(1, |last| last + 1);
        image.truncate(used.next_multiple_of(PAGE_BYTES).min(image.len()));
        description.insert("mem_bytes".to_owned(), json!(image.len()));
        description.insert("buffers".to_owned(), names::buffers(&self.names));
        description.insert("names".to_owned(), names::others(&self.names));
        if self.jobs.len() == MOST_JOBS {
            self.jobs.pop_front();
            self.dropped += 1;
        }
        let image = compress_to_vec(image.as_slice(), CompressionLevel::Fastest);
        self.jobs.push_back(Recorded { description, image });
    }

    /// Writes the jobs to a new folder: all of it, or nothing.
    pub(crate) fn write(&self, name: &str, folder: &Path) -> Result<(), CaptureError> {
        if self.jobs.is_empty() {
            return Err(CaptureError::Nothing);
        }
        refuse_existing(folder)?;
        let mut part = folder.file_name().unwrap_or_default().to_owned();
        part.push(format!(".{}.part", std::process::id()));
        let part = folder.with_file_name(part);
        let written = self
            .write_files(name, &part)
            .and_then(|()| fs::rename(&part, folder).map_err(|error| file_error(folder, error)));
        if written.is_err() {
            // The first error is the cause, not this one.
            let _ = fs::remove_dir_all(&part);
        }
        written
    }

    fn write_files(&self, name: &str, folder: &Path) -> Result<(), CaptureError> {
        fs::create_dir(folder).map_err(|error| file_error(folder, error))?;
        let write = |name: &str, contents: &[u8]| {
            let path = folder.join(name);
            fs::write(&path, contents).map_err(|error| file_error(&path, error))
        };
        let mut jobs = Vec::new();
        for (number, Recorded { description, image }) in self.jobs.iter().enumerate() {
            let file = format!("mem{number}.bin.zst");
            write(&file, image)?;
            let mut job = description.clone();
            job.insert("mem".to_owned(), json!(file));
            jobs.push(Json::Object(job));
        }
        let mut text = "captured by v3d-host while the model ran it".to_owned();
        if self.dropped > 0 {
            text += &format!("; the first {} jobs are left out", self.dropped);
        }
        let mut all = json!({ "name": name, "description": text, "jobs": jobs });
        let has_picture = |job: &Recorded| job.description.contains_key("color_buffer");
        if let Some(result) = self.jobs.iter().rposition(has_picture) {
            all["result"] = json!({ "job": result });
        }
        write(DESCRIPTION, format!("{all:#}\n").as_bytes())
    }
}

/// Returns an error if there is something of this name.
pub(crate) fn refuse_existing(folder: &Path) -> Result<(), CaptureError> {
    // A link that leads nowhere is something, too.
    match fs::symlink_metadata(folder) {
        Ok(_) => Err(CaptureError::Exists(folder.to_owned())),
        Err(_) => Ok(()),
    }
}

fn file_error(path: &Path, error: io::Error) -> CaptureError {
    CaptureError::File { path: path.to_owned(), error }
}

/// The members of a job that all jobs have.
fn description(memory: Memory<'_>, base: u32) -> Map<String, Json> {
    // Memory of the model ends below 1 GiB.
    let end = (memory.bytes() as u32).next_multiple_of(PAGE_BYTES as u32);
    let mut job = Map::new();
    job.insert("arena_base".to_owned(), json!(base));
    job.insert("arena_size".to_owned(), json!(end - base + OVERFLOW_BYTES));
    job.insert("overflow_memory".to_owned(), json!({ "address": end, "size": OVERFLOW_BYTES }));
    job
}

impl RenderingList {
    fn read(start: u32, end: u32, memory: Memory<'_>) -> Self {
        let mut list = Self::default();
        let mut at = BusAddr(start);
        for _ in 0..MOST_RECORDS {
            let mut bytes = [0; MAX_RECORD_BYTES];
            if at == BusAddr(end) || memory.read(at, &mut bytes).is_err() {
                break;
            }
            let Ok(record) = Record::decode(&bytes) else { break };
            match record {
                Record::TileRenderingMode(mode) => list.mode = Some(mode),
                Record::WaitOnSemaphore => {
                    list.waits_for_binner = true;
                    break;
                }
                _ => {}
            }
            at = at + record.bytes() as u32;
        }
        list
    }
}

/// What a job draws to, in the description's words; `None` for pixels that it has no words for.
fn color_buffer(mode: &TileRenderingMode) -> Option<Json> {
    let (format, bits) = match mode.color_format {
        _ if mode.color_64_bit => return None,
        FrameBufferFormat::Rgba8888 => ("R8G8B8A8_UNORM", 32),
        FrameBufferFormat::Bgr565 | FrameBufferFormat::Bgr565Dithered => ("B5G6R5_UNORM", 16),
        _ => return None,
    };
    let width = u32::from(mode.width);
    let (tiling, unit) = match mode.memory_format {
        MemoryFormat::Raster => ("raster", 1),
        MemoryFormat::TFormat => ("T", tile_px(bits)?.0),
        MemoryFormat::LtFormat => ("LT", micro_tile_px(bits)?.0),
        _ => return None,
    };
    Some(json!({
        "address": mode.address.offset(),
        "stride_bytes": width.next_multiple_of(unit) * bits / 8,
        "format": format,
        "tiling": tiling,
        "width": width,
        "height": mode.height,
        "y_flipped": false,
    }))
}
