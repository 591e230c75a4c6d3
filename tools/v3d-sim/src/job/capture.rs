//! Captures: jobs written as a folder, each with its memory as it was when it started.

use super::{BufferTiling, ColorBuffer, DESCRIPTION, Job, JobError, PixelFormat, Region, RenderConfig, UserProgram};
use crate::lists::Lists;
use crate::memory::Memory;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::{Value as Json, json};
use std::path::Path;
use v3d_hw::BusAddr;
use v3d_hw::control_list::{FrameBufferFormat, MAX_RECORD_BYTES, MemoryFormat, Record, TileRenderingMode};
use v3d_hw::tiling::{micro_tile_px, tile_px};

/// Images start and end at pages.
const PAGE_BYTES: u32 = 4096;
/// Most records of a rendering list that are looked through for its mode.
const MOST_RECORDS: usize = 1 << 16;

/// A copy of memory: from the first page to the last that is not all zero.
#[derive(Clone, Debug, Default)]
pub struct MemoryImage {
    first_page: u32,
    /// Pages of the memory, from the first of the image on.
    pages: u32,
    bytes: Vec<u8>,
}

impl MemoryImage {
    /// Copies memory, as it is now. What cannot be read of a limited view counts as zero.
    pub fn new(memory: Memory<'_>) -> Self {
        let pages = u32::try_from(memory.bytes().div_ceil(u64::from(PAGE_BYTES))).unwrap_or(u32::MAX);
        let mut page = [0; PAGE_BYTES as usize];
        let mut is_used = |number: &u32| {
            read_page(memory, *number, &mut page);
            page.iter().any(|&byte| byte != 0)
        };
        let first = (0..pages).find(&mut is_used).unwrap_or(0);
        let last = (first..pages).rfind(&mut is_used).unwrap_or(first);
        let mut bytes = Vec::with_capacity((last - first + 1) as usize * PAGE_BYTES as usize);
        for number in first..=last {
            read_page(memory, number, &mut page);
            bytes.extend_from_slice(&page);
        }
        Self { first_page: first, pages: pages - first, bytes }
    }

    /// An image of single pages, by their numbers; the others between them are zero.
    pub fn of_pages<'p>(pages: impl IntoIterator<Item = (u32, &'p [u8; PAGE_BYTES as usize])>) -> Self {
        let (mut first, mut bytes) = (None, Vec::new());
        for (number, page) in pages {
            let first = *first.get_or_insert(number);
            let start = number.saturating_sub(first) as usize * PAGE_BYTES as usize;
            bytes.resize(bytes.len().max(start + page.len()), 0);
            if let Some(place) = bytes.get_mut(start..start + page.len()) {
                place.copy_from_slice(page);
            }
        }
        let pages = (bytes.len() / PAGE_BYTES as usize) as u32;
        Self { first_page: first.unwrap_or(0), pages, bytes }
    }
}

/// A job, and the memory from which it starts.
#[derive(Clone, Debug)]
pub struct CapturedJob {
    job: Job,
    image: Vec<u8>,
}

impl CapturedJob {
    /// A job with its memory, which is compressed. What the job says of its memory is replaced. Overflow memory may lie behind the memory of the image.
    pub fn new(job: Job, image: &MemoryImage) -> Self {
        let arena_base = image.first_page * PAGE_BYTES;
        let memory = image.pages.saturating_mul(PAGE_BYTES);
        let overflow_end = job.overflow_memory.map_or(0, |region| region.address.saturating_add(region.size));
        let arena_size = memory.max(overflow_end.saturating_sub(arena_base));
        let mem_bytes = Some(image.bytes.len() as u64);
        Self {
            job: Job { arena_base, arena_size, mem_bytes, ..job },
            image: compress_to_vec(image.bytes.as_slice(), CompressionLevel::Fastest),
        }
    }

    /// Adds a user program, which runs behind those that the job has.
    pub fn add_program(&mut self, program: UserProgram) {
        self.job.user_programs.push(program);
    }
}

/// Copies what can be read of a page; the rest is zero.
fn read_page(memory: Memory<'_>, number: u32, page: &mut [u8; PAGE_BYTES as usize]) {
    page.fill(0);
    let start = number * PAGE_BYTES;
    if memory.read(BusAddr(start), page).is_ok() {
        return;
    }
    for (word, at) in page.as_chunks_mut::<4>().0.iter_mut().zip((start..).step_by(4)) {
        if let Ok(value) = memory.word(BusAddr(at)) {
            *word = value.to_le_bytes();
        }
    }
}

/// The job that consists of these lists, with what its rendering list tells of the picture.
pub fn job_of_lists(lists: &Lists, memory: Memory<'_>) -> Job {
    let (binning, rendering) = (lists.binning.clone().unwrap_or(0..0), lists.rendering.clone().unwrap_or(0..0));
    let mode = rendering_mode(rendering.start, rendering.end, memory);
    Job {
        has_bin: lists.binning.is_some(),
        bin_ct0ca: binning.start,
        bin_ct0ea: binning.end,
        render_ct1ca: rendering.start,
        render_ct1ea: rendering.end,
        overflow_memory: lists
            .overflow
            .as_ref()
            .map(|region| Region { address: region.start, size: region.end.wrapping_sub(region.start) }),
        render_config: RenderConfig { msaa4x: mode.as_ref().map_or(0, |mode| u32::from(mode.multisample)) },
        color_buffer: mode.as_ref().and_then(color_buffer),
        ..Job::default()
    }
}

/// The rendering mode that a list sets before it waits for the binner.
pub fn rendering_mode(start: u32, end: u32, memory: Memory<'_>) -> Option<TileRenderingMode> {
    records(start, end, memory).take_while(|record| !matches!(record, Record::WaitOnSemaphore)).find_map(|record| {
        match record {
            Record::TileRenderingMode(mode) => Some(mode),
            _ => None,
        }
    })
}

/// Whether a rendering list waits for a binning list.
pub fn waits_for_binner(start: u32, end: u32, memory: Memory<'_>) -> bool {
    records(start, end, memory).any(|record| matches!(record, Record::WaitOnSemaphore))
}

/// The records of a list, without those of lists to which it branches.
fn records(start: u32, end: u32, memory: Memory<'_>) -> impl Iterator<Item = Record> + '_ {
    let mut at = BusAddr(start);
    let next = move || {
        let mut bytes = [0; MAX_RECORD_BYTES];
        for (byte, place) in bytes.iter_mut().zip(at.0..end) {
            *byte = memory.byte(BusAddr(place)).ok()?;
        }
        let record = (at.0 < end).then(|| Record::decode(&bytes).ok()).flatten()?;
        at = at + record.bytes() as u32;
        Some(record)
    };
    std::iter::from_fn(next).take(MOST_RECORDS)
}

/// The colour buffer of a rendering mode; `None` without an address, and for pixels that the description has no words for.
pub fn color_buffer(mode: &TileRenderingMode) -> Option<ColorBuffer> {
    let (format, bits) = match mode.color_format {
        _ if mode.color_64_bit || mode.address.offset() == 0 => return None,
        FrameBufferFormat::Rgba8888 => (PixelFormat::Rgba8888, 32),
        FrameBufferFormat::Bgr565 | FrameBufferFormat::Bgr565Dithered => (PixelFormat::Rgb565, 16),
        _ => return None,
    };
    let (tiling, unit) = match mode.memory_format {
        MemoryFormat::Raster => (BufferTiling::Raster, micro_tile_px(bits)?.0),
        MemoryFormat::TFormat => (BufferTiling::TFormat, tile_px(bits)?.0),
        MemoryFormat::LtFormat => (BufferTiling::LtFormat, micro_tile_px(bits)?.0),
        _ => return None,
    };
    let (width, height) = (u32::from(mode.width), u32::from(mode.height));
    let stride_bytes = width.next_multiple_of(unit) * bits / 8;
    Some(ColorBuffer { address: mode.address.offset(), stride_bytes, format, tiling, width, height })
}

/// Writes jobs to a new folder: all of it, or nothing. The result is the last job with a picture.
pub fn write_folder(folder: &Path, name: &str, description: &str, jobs: &[CapturedJob]) -> Result<(), JobError> {
    if jobs.is_empty() {
        return Err(JobError::NoJobs(folder.to_owned()));
    }
    refuse_existing(folder)?;
    let mut part = folder.file_name().unwrap_or_default().to_owned();
    part.push(format!(".{}.part", std::process::id()));
    let part = folder.with_file_name(part);
    let at = |path: &Path| {
        let path = path.to_owned();
        move |error| JobError::File { path, error }
    };
    let written =
        write_files(&part, name, description, jobs).and_then(|()| std::fs::rename(&part, folder).map_err(at(folder)));
    if written.is_err() {
        // The first error is the cause, not this one.
        let _ = std::fs::remove_dir_all(&part);
    }
    written
}

/// Returns an error if there is something of this name.
pub fn refuse_existing(folder: &Path) -> Result<(), JobError> {
    // A link that leads nowhere is something, too.
    match std::fs::symlink_metadata(folder) {
        Ok(_) => Err(JobError::Exists(folder.to_owned())),
        Err(_) => Ok(()),
    }
}

fn write_files(folder: &Path, name: &str, description: &str, jobs: &[CapturedJob]) -> Result<(), JobError> {
    std::fs::create_dir_all(folder).map_err(|error| JobError::File { path: folder.to_owned(), error })?;
    folder_files(name, description, jobs).iter().try_for_each(|(name, contents)| {
        let path = folder.join(name);
        std::fs::write(&path, contents).map_err(|error| JobError::File { path, error })
    })
}

/// The files of a folder with these jobs, with their names.
pub fn folder_files(name: &str, description: &str, jobs: &[CapturedJob]) -> Vec<(String, Vec<u8>)> {
    let (mut files, mut list) = (Vec::new(), Vec::new());
    for (number, CapturedJob { job, image }) in jobs.iter().enumerate() {
        let mem = format!("mem{number}.bin.zst");
        files.push((mem.clone(), image.clone()));
        list.push(json!(Job { mem, ..job.clone() }));
    }
    let mut all = json!({ "name": name, "description": description, "jobs": list });
    if let Some(job) = jobs.iter().rposition(|captured| captured.job.color_buffer.is_some())
        && let Json::Object(all) = &mut all
    {
        all.insert("result".to_owned(), json!({ "job": job }));
    }
    files.push((DESCRIPTION.to_owned(), format!("{all:#}\n").into_bytes()));
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Config, V3d};
    use crate::job::JobFolder;
    use crate::job::run::{End, run_job};

    fn captures() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures")
    }

    /// A captured frame of Mesa's, whose description was written by another program.
    fn check(name: &str) {
        let original = JobFolder::open(&captures().join(name)).unwrap();
        let job = original.jobs().first().unwrap();
        let memory = original.image(job).unwrap();
        let found = job_of_lists(&job.lists(), memory.view());
        assert_eq!(found.color_buffer, job.color_buffer, "{name}");
        assert_eq!(found.render_config.msaa4x, job.render_config.msaa4x, "{name}");
        let folder = std::env::temp_dir().join(format!("v3d-capture-{name}-{}", std::process::id()));
        let captured = CapturedJob::new(found, &MemoryImage::new(memory.view()));
        write_folder(&folder, name, "a copy", std::slice::from_ref(&captured)).unwrap();
        assert!(matches!(write_folder(&folder, name, "", &[captured]), Err(JobError::Exists(_))));
        let copy = JobFolder::open(&folder).unwrap();
        let copied = copy.jobs().first().unwrap();
        assert_eq!(copied.lists(), job.lists(), "{name}");
        let copied_memory = copy.image(copied).unwrap();
        let [mut one, mut other] = [V3d::new(Config::default()), V3d::new(Config::default())];
        assert_eq!(run_job(&mut one, memory.view(), job), End::Done);
        assert_eq!(run_job(&mut other, copied_memory.view(), copied), End::Done);
        let picture = copy.picture(copied_memory.view()).unwrap();
        assert!(picture.rgba.iter().any(|&byte| byte != 0 && byte != 255), "{name} shows nothing");
        assert_eq!(Some(picture), original.picture(memory.view()).ok(), "{name}");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_copy_of_a_capture_draws_the_same_picture() {
        check("tri_rgb");
        check("tri_rgb_565");
        check("tri_rgb_lt");
        check("overflow_bin_mem");
    }

    #[test]
    fn pages_lie_where_their_numbers_say() {
        let (one, other) = ([1; PAGE_BYTES as usize], [2; PAGE_BYTES as usize]);
        let image = MemoryImage::of_pages([(5, &one), (7, &other)]);
        assert_eq!((image.first_page, image.pages, image.bytes.len()), (5, 3, 3 * 4096));
        assert_eq!([0, 4096, 8191, 8192].map(|at| image.bytes[at]), [1, 0, 0, 2]);
    }

    #[test]
    fn nothing_is_no_capture() {
        assert!(matches!(write_folder(Path::new("nowhere"), "", "", &[]), Err(JobError::NoJobs(_))));
    }
}
