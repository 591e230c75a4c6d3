//! Jobs that the guest starts, as folders for the command `v3d`.
//!
//! Memory is not copied as a whole, since a guest may have a gigabyte of it: of each page that a job accesses, the contents before are kept, and the folder has
//! these pages. A binning list and the rendering list that waits for it make one job; a rendering list that does not wait is a job of its own.
//!
//! A job is written when its rendering list has ended, or when the V3D is reset while it runs: then it is one that hung.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use v3d_sim::job::capture::{CapturedJob, MemoryImage, job_of_lists, waits_for_binner, write_folder};
use v3d_sim::lists::Lists;
use v3d_sim::memory::{Access, Memory, Path, Watcher};

/// Bytes of a page, and pages of the V3D's address space.
const PAGE_BYTES: usize = 4096;
const PAGES: usize = 1 << 18;

/// Pages as they were before a job accessed them.
#[derive(Debug)]
pub(crate) struct Pages {
    /// A bit for each page that is kept.
    kept: Vec<AtomicU64>,
    contents: Mutex<BTreeMap<u32, Box<[u8; PAGE_BYTES]>>>,
}

impl Pages {
    fn new() -> Self {
        Self { kept: (0..PAGES / 64).map(|_| AtomicU64::new(0)).collect(), contents: Mutex::default() }
    }

    fn keep(&self, memory: &[AtomicU32], number: u32) {
        let mut contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        contents.entry(number).or_insert_with(|| {
            let mut page = Box::new([0; PAGE_BYTES]);
            let first = number as usize * PAGE_BYTES / 4;
            for (bytes, word) in page.as_chunks_mut::<4>().0.iter_mut().zip(memory.get(first..).unwrap_or_default()) {
                *bytes = word.load(Ordering::Relaxed).to_le_bytes();
            }
            page
        });
    }
}

impl Watcher for Pages {
    fn note(&self, memory: &[AtomicU32], bytes: Range<u64>, _access: Access, _path: Path) -> bool {
        let pages = bytes.start / PAGE_BYTES as u64..bytes.end.div_ceil(PAGE_BYTES as u64);
        for number in pages {
            let Some(word) = self.kept.get(number as usize / 64) else { break };
            let bit = 1 << (number % 64);
            if word.load(Ordering::Acquire) & bit == 0 {
                self.keep(memory, number as u32);
                word.fetch_or(bit, Ordering::Release);
            }
        }
        true
    }
}

/// A job in the making.
#[derive(Debug)]
struct Recording {
    lists: Lists,
    pages: Arc<Pages>,
    has_faults: bool,
}

/// The jobs that are being recorded, and where they go.
#[derive(Debug)]
pub(crate) struct Capture {
    folder: PathBuf,
    faulty_alone: bool,
    /// Jobs so far.
    count: u32,
    /// Started lists, in their order: the first one runs, or is the next to.
    started: VecDeque<Recording>,
    /// Jobs that are binned, and whose rendering list has not come.
    binned: VecDeque<Recording>,
}

impl Capture {
    /// Captures into this folder.
    pub(crate) fn new(folder: PathBuf, faulty_alone: bool) -> Self {
        Self { folder, faulty_alone, count: 0, started: VecDeque::new(), binned: VecDeque::new() }
    }

    /// A binning list is started.
    pub(crate) fn binning(&mut self, list: Range<u32>) {
        let lists = Lists { binning: Some(list), ..Lists::default() };
        self.started.push_back(Recording { lists, pages: Arc::new(Pages::new()), has_faults: false });
    }

    /// A rendering list is started.
    pub(crate) fn rendering(&mut self, list: Range<u32>, memory: Memory<'_>) {
        let waits = waits_for_binner(list.start, list.end, memory);
        let is_open = |recording: &&mut Recording| recording.lists.rendering.is_none();
        // Its binning list may still run; then both are one job that is in the queue already.
        if waits
            && self.binned.is_empty()
            && let Some(recording) = self.started.iter_mut().find(is_open)
        {
            recording.lists.rendering = Some(list);
            return;
        }
        let binned = if waits { self.binned.pop_front() } else { None };
        let new = || Recording { lists: Lists::default(), pages: Arc::new(Pages::new()), has_faults: false };
        let mut recording = binned.unwrap_or_else(new);
        recording.lists.rendering = Some(list);
        self.started.push_back(recording);
    }

    /// The binner is offered memory.
    pub(crate) fn overflow(&mut self, region: Range<u32>) {
        let Some(recording) = self.started.front_mut() else { return };
        match &mut recording.lists.overflow {
            // A folder has one region.
            Some(before) if before.end == region.start => before.end = region.end,
            Some(_) => {}
            none => *none = Some(region),
        }
    }

    /// The pages of the job that runs.
    pub(crate) fn pages(&self) -> Option<Arc<Pages>> {
        self.started.front().map(|recording| Arc::clone(&recording.pages))
    }

    /// The model has found faults in the job that runs.
    pub(crate) fn found_faults(&mut self) {
        if let Some(recording) = self.started.front_mut() {
            recording.has_faults = true;
        }
    }

    /// What ran has come to its end, or to a wait: the threads are at rest, or not.
    pub(crate) fn has_run(&mut self, bins: bool, renders: bool, memory: Memory<'_>) {
        let Some(recording) = self.started.front() else { return };
        if bins || renders {
            return;
        }
        let is_binning = recording.lists.rendering.is_none();
        let Some(recording) = self.started.pop_front() else { return };
        if is_binning {
            self.binned.push_back(recording);
        } else {
            self.write(&recording, memory);
        }
    }

    /// The V3D is reset: the job that runs hung.
    pub(crate) fn reset(&mut self, memory: Memory<'_>) {
        if let Some(recording) = self.started.pop_front() {
            self.write(&Recording { has_faults: true, ..recording }, memory);
        }
        self.started.clear();
        self.binned.clear();
    }

    fn write(&mut self, recording: &Recording, memory: Memory<'_>) {
        self.count += 1;
        if self.faulty_alone && !recording.has_faults {
            return;
        }
        let name = format!("job-{:06}", self.count);
        let contents = recording.pages.contents.lock().unwrap_or_else(PoisonError::into_inner);
        let image = MemoryImage::of_pages(contents.iter().map(|(&number, page)| (number, &**page)));
        let job = CapturedJob::new(job_of_lists(&recording.lists, memory), &image);
        let written = std::fs::create_dir_all(&self.folder).map_err(|error| error.to_string()).and_then(|()| {
            let description = "captured by QEMU's V3D";
            write_folder(&self.folder.join(&name), &name, description, &[job]).map_err(|error| error.to_string())
        });
        if let Err(error) = written {
            eprintln!("the V3D plugin cannot write {name}: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_kept_as_it_was_before() {
        let memory: Vec<AtomicU32> = (0..4096).map(AtomicU32::new).collect();
        let pages = Pages::new();
        pages.note(&memory, 4092..4100, Access::Read, Path::Direct);
        memory[1].store(9, Ordering::Relaxed);
        pages.note(&memory, 4..8, Access::Write, Path::Direct);
        let contents = pages.contents.lock().unwrap();
        assert_eq!(contents.keys().copied().collect::<Vec<_>>(), [0, 1]);
        assert_eq!((contents[&0][4], contents[&1][0..4].to_vec()), (1, 1024_u32.to_le_bytes().to_vec()));
    }

    /// Two jobs, the second of which is binned while the first renders.
    #[test]
    fn lists_of_a_job_are_found_together() {
        // Wait On Semaphore [AG p.65: 8] at address 0.
        let words = [AtomicU32::new(8)];
        let memory = Memory::new(&words);
        let folder = std::env::temp_dir().join(format!("qemu-v3d-capture-{}", std::process::id()));
        let mut capture = Capture::new(folder, true);
        capture.binning(0x100..0x200);
        capture.has_run(false, false, memory);
        capture.rendering(0..1, memory);
        capture.binning(0x300..0x400);
        assert_eq!(capture.started.front().map(|job| job.lists.binning.clone()), Some(Some(0x100..0x200)));
        capture.has_run(false, false, memory);
        assert_eq!((capture.count, capture.started.len()), (1, 1));
        capture.has_run(true, false, memory);
        assert_eq!(capture.started.len(), 1, "it waits for memory");
        capture.overflow(0x1000..0x2000);
        capture.overflow(0x2000..0x3000);
        assert_eq!(capture.started[0].lists.overflow, Some(0x1000..0x3000));
        capture.has_run(false, false, memory);
        assert_eq!((capture.started.len(), capture.binned.len()), (0, 1));
    }
}
