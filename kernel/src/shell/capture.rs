//! The command `capture`: sends a job with its user programs over the serial line, or writes it to the SD card
//!
//! The job is the last one, or the one that hung, or one before the last.
//!
//! Memory is sent with its present contents. A job's lists, shaders, vertices and uniforms are unchanged after it has run; its tile lists are generated again
//! when the capture is replayed; the previous contents of its own target, if it loads them, are not part of the capture. The validator's survey determines
//! which memory the job needs.

use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};
use core::fmt::{self, Write};

use v3d::{
    Submission,
    driver::RECENT_JOBS,
    platform::GpuMemory,
    record_list::ControlList,
    user_program::UserProgram,
    validator::{self, Span},
};

use super::{
    card,
    session::{CommandResult, LastPicture, NO_V3D, Session},
};
use crate::{
    board::watchdog::Watchdog,
    capture::{BLOCK_BYTES, names_in_json::NamesInJson, write_block},
    gpu::Gpu,
    mm::layout::PAGE_BYTES,
    println,
    shell::command::Destination,
    terminal::console::Terminal,
};

/// Bytes at the end of the pool that a replay may give to the binner when its memory runs out.
const OVERFLOW_BYTES: u32 = 16 << 20;

/// `later`: how many jobs were submitted after the one that is meant. The passes of a frame are jobs one after the other.
pub(super) fn capture(session: &mut Session, later: usize, destination: Destination) -> CommandResult {
    match destination {
        Destination::SerialLine => write_job(session, later, &mut Terminal),
        Destination::Card(file) => {
            let mut lines = Lines { text: String::with_capacity(MOST_SAVED), is_full: false };
            let written = write_job(session, later, &mut lines);
            if lines.is_full {
                return Err(format!("the job has more than {} MiB; send it over the serial line", MOST_SAVED >> 20));
            }
            written?;
            card::save(session, file, ["capture", "txt"], lines.text.as_bytes())
        }
    }
}

/// Bytes of a capture that is written to the card: it is in the heap before.
const MOST_SAVED: usize = 12 << 20;

/// Text of limited length.
struct Lines {
    text: String,
    is_full: bool,
}

impl Write for Lines {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.is_full |= self.text.len() + text.len() > MOST_SAVED;
        if self.is_full {
            return Err(fmt::Error);
        }
        self.text.push_str(text);
        Ok(())
    }
}

/// Writes the lines of a job.
fn write_job(session: &mut Session, later: usize, output: &mut dyn Write) -> CommandResult {
    let Session { gpu, last_picture, failed_submission, watchdog, .. } = session;
    let device = gpu.as_ref().map_err(|_| NO_V3D)?;
    let gpu = &mut *device.driver().map_err(|error| error.to_string())?;
    gpu.wait_until_idle();
    let submission = if later > 0 {
        let job = gpu.recent_job(later).ok_or_else(|| {
            format!("no job is known after which {later} were drawn; of the last {RECENT_JOBS} the lists are known")
        })?;
        Submission { programs: Vec::new(), job: Some(job) }
    } else {
        failed_submission.clone().unwrap_or_else(|| gpu.last_submission().clone())
    };
    if submission == Submission::default() {
        return Err("nothing has been drawn or run yet".into());
    }
    let picture = last_picture.as_ref().filter(|_| submission.job.is_some() && later == 0);
    let output = &mut Attended { watchdog, output };
    describe(gpu, &submission, picture, output)
        .and_then(|()| write_memory(gpu, output))
        .and_then(|sent| writeln!(output, "capture end {sent}"))
        .map_err(|error| error.to_string())
}

/// Shows whether names are kept, or has them kept or not from now on.
pub(super) fn names(session: &mut Session, wanted: Option<bool>) -> CommandResult {
    let gpu = session.gpu()?;
    let platform = gpu.platform();
    if let Some(keep) = wanted {
        platform.keep_names(keep);
    }
    let (memory, others) = {
        let names = platform.names();
        (names.memory().count(), names.others().count())
    };
    if platform.keeps_names() {
        println!("names are kept, from the next scene on: {memory} of allocations and {others} of what is in them");
    } else {
        println!("names are not kept");
    }
    Ok(())
}

/// Writes the line that describes programs, lists and results.
fn describe(
    gpu: &Gpu,
    submission: &Submission,
    picture: Option<&LastPicture>,
    output: &mut Attended<'_>,
) -> fmt::Result {
    let member = |list: Option<ControlList>, start: &str, end: &str| match list {
        Some(list) => format!("\"{start}\":{},\"{end}\":{},", list.start.offset(), list.end_exclusive.offset()),
        None => "".to_string(),
    };
    let (binning, rendering) = (submission.job.and_then(|job| job.binning), submission.job.map(|job| job.rendering));
    let program = |program: &UserProgram| {
        let UserProgram { code, uniforms, uniform_count } = program;
        let (pc, uniforms) = (code.offset(), uniforms.offset());
        format!("{{\"pc\":{pc},\"uniforms\":{uniforms},\"uniforms_length\":{uniform_count}}}")
    };
    let programs: Vec<String> = submission.programs.iter().map(program).collect();
    let platform = gpu.platform();
    let pool_end = platform.base().offset() + platform.bytes();
    // The image of memory starts with the page of the first block.
    let pool = platform.pool();
    let first_word = pool.iter(0..pool.len()).position(|word| word != 0).unwrap_or(0);
    let first_page = platform.base().offset() + (first_word * 4 / PAGE_BYTES * PAGE_BYTES) as u32;
    let name = match (picture, submission.job) {
        (Some(picture), _) => picture.scene,
        (None, Some(_)) => "a job before the last",
        (None, None) => "user programs",
    };
    let picture_end =
        picture.map_or(0, |LastPicture { target, .. }| target.address.offset() + target.pitch_bytes * target.height);
    write!(
        output,
        "capture job {{\"name\":\"{}\",\"has_bin\":{},{}{}\"user_programs\":[{}],\"arena_size\":{},\
         \"overflow_memory\":{{\"address\":{},\"size\":{OVERFLOW_BYTES}}}",
        name,
        binning.is_some(),
        member(binning, "bin_ct0ca", "bin_ct0ea"),
        member(rendering, "render_ct1ca", "render_ct1ea"),
        programs.join(","),
        pool_end.max(picture_end) - first_page,
        pool_end - OVERFLOW_BYTES,
    )?;
    let pages = pages(gpu, submission);
    write!(output, ",{}", NamesInJson { pages: &pages, names: &platform.names() })?;
    if let Some(LastPicture { target, .. }) = picture {
        write!(
            output,
            ",\"color_buffer\":{{\"address\":{},\"stride_bytes\":{},\"format\":\"R8G8B8A8_UNORM\",\
             \"tiling\":\"raster\",\"width\":{},\"height\":{},\"y_flipped\":false}}",
            target.address.offset(),
            target.pitch_bytes,
            target.width,
            target.height,
        )?;
    }
    writeln!(output, "}}")
}

/// An output whose every piece is a sign of life: thousands of names take half a minute at the console's rate, longer than the watchdog waits.
struct Attended<'o> {
    watchdog: &'o mut Watchdog,
    output: &'o mut dyn Write,
}

impl Write for Attended<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.watchdog.sign_of_life();
        self.output.write_str(text)
    }
}

/// The pages of memory that the job reads or writes; none if the validator rejects it.
fn pages(gpu: &Gpu, submission: &Submission) -> Vec<Span> {
    let survey = submission.job.and_then(|job| validator::survey(gpu.platform(), &[Span::MEMORY], &job).ok());
    let Some(survey) = survey else { return Vec::new() };
    let spans = [survey.reads(), survey.stores(), survey.tile_memory()].concat();
    validator::merged(spans.iter().map(|span| span.aligned_out(PAGE_BYTES as u32)))
}

/// Writes all blocks of the pool that are not zero; returns their total size.
fn write_memory(gpu: &Gpu, output: &mut Attended<'_>) -> Result<usize, fmt::Error> {
    let platform = gpu.platform();
    let pool = platform.pool();
    let mut block = vec![0; BLOCK_BYTES];
    let mut sent = 0;
    for start in (0..pool.len() * 4).step_by(BLOCK_BYTES) {
        // Most of the pool is zero, so blocks are checked before they are copied.
        let words = start / 4..(start + BLOCK_BYTES) / 4;
        if pool.iter(words).all(|word| word == 0) {
            continue;
        }
        pool.load_bytes(start, &mut block);
        let offset = platform.base().offset() as usize + start;
        sent += write_block(output, offset, &block)?;
    }
    Ok(sent)
}
