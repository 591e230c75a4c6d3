//! Job folders: complete jobs for the hardware, with their expected pictures.
//!
//! A folder holds `job.json`, a memory image for each job, and usually a reference picture. The jobs of a folder are run in turn, each from its own
//! image; regions that an earlier job produced are carried over. The kernel's captures and captures of other drivers have the same format.

pub mod capture;
mod files;
mod image;
pub mod names;
pub mod picture;
pub mod run;

use crate::lists::Lists;
use crate::memory::{Memory, OutOfMemory, OwnedMemory};
use crate::render::fep::SamplePositions;
use files::Files;
use names::Name;
use picture::Picture;
use serde::{Deserialize, Deserializer, Serialize};
use std::path::{Path, PathBuf};
use v3d_hw::BusAddr;

/// Maximum memory of a job: what the V3D can address.
const MAX_MEMORY_BYTES: u64 = 1 << 30;

/// The error of a job folder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JobError {
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The description is malformed.
    #[error("{}: {error}", path.display())]
    Description {
        /// The file.
        path: PathBuf,
        /// Where and why.
        error: serde_json::Error,
    },
    /// A file that is larger than any of its kind.
    #[error("{}: it has {bytes} bytes; at most {limit} are read", path.display())]
    FileTooLarge {
        /// Which.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// The maximum.
        limit: u64,
    },
    /// The description names a file that is not in the folder.
    #[error("{}: the description names the file \"{name}\", which lies outside of the folder", folder.display())]
    Outside {
        /// The folder.
        folder: PathBuf,
        /// Name of the file.
        name: String,
    },
    /// The description names a result among the jobs that is not there.
    #[error("{}: the result is that of job {job}, and there is none: the last is job {last}", path.display())]
    NoResult {
        /// The description.
        path: PathBuf,
        /// The job that is named.
        job: usize,
        /// The last job.
        last: usize,
    },
    /// A description without jobs.
    #[error("{}: there are no jobs in it", .0.display())]
    NoJobs(PathBuf),
    /// A memory image is unusable.
    #[error("{}: {reason}", path.display())]
    Image {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A picture is no usable PNG file, or cannot be written as one.
    #[error("{}: {reason}", path.display())]
    Png {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// There is something where a folder is to be written.
    #[error("{} exists, and nothing is overwritten: give another name", .0.display())]
    Exists(PathBuf),
    /// The description asks for more memory than the V3D can address.
    #[error("the job wants {0} bytes of memory; the V3D addresses 1 GiB")]
    TooLarge(u64),
    /// The description names an address outside of the job's memory.
    #[error("{what}: {place}")]
    Memory {
        /// What is outside.
        what: &'static str,
        /// Its address.
        place: OutOfMemory,
    },
    /// A job refers to a job that does not exist, or is not before it.
    #[error("job {job} needs the memory of job {from}, which does not come before it")]
    Carry {
        /// The job.
        job: usize,
        /// The one it refers to.
        from: usize,
    },
    /// The description names a result that is not there.
    #[error("there is no picture: {0}")]
    NoPicture(&'static str),
    /// A colour buffer with an unknown pixel format.
    #[error("colour buffers are R8G8B8A8_UNORM, B8G8R8A8_UNORM or B5G6R5_UNORM; {0} is not known")]
    UnknownFormat(String),
    /// A colour buffer with an unknown arrangement.
    #[error("colour buffers are arranged as raster, T or LT; {0} is not known")]
    UnknownTiling(String),
}

/// A region of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "a region: an object with `address` and `size`")]
pub struct Region {
    /// First byte.
    pub address: u32,
    /// Bytes.
    pub size: u32,
}

/// A region that comes from the memory that an earlier job left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "a carried region: an object with `address`, `size` and `from_job`")]
pub struct Carry {
    /// First byte.
    pub address: u32,
    /// Bytes.
    pub size: u32,
    /// The earlier job.
    pub from_job: usize,
}

/// Pixel formats of colour buffers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[non_exhaustive]
#[serde(expecting = "the name of a pixel format is expected")]
pub enum PixelFormat {
    /// Bytes red, green, blue, alpha.
    #[serde(rename = "R8G8B8A8_UNORM")]
    Rgba8888,
    /// Bytes blue, green, red, alpha.
    #[serde(rename = "B8G8R8A8_UNORM")]
    Bgra8888,
    /// 16 bits: red 15:11, green 10:5, blue 4:0.
    #[serde(rename = "B5G6R5_UNORM")]
    Rgb565,
    /// Unknown, with its name.
    #[serde(untagged)]
    Unknown(String),
}

/// Arrangements of colour buffers, by the names of the description.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[non_exhaustive]
#[serde(expecting = "the name of an arrangement of pixels is expected")]
pub enum BufferTiling {
    /// Rows of pixels.
    #[serde(rename = "raster")]
    Raster,
    /// T-format.
    #[serde(rename = "T")]
    TFormat,
    /// LT-format.
    #[serde(rename = "LT")]
    LtFormat,
    /// Unknown, with its name.
    #[serde(untagged)]
    Unknown(String),
}

/// A colour buffer in memory.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(
    expecting = "a colour buffer: an object with `address`, `stride_bytes`, `format`, `tiling`, `width` and `height`"
)]
pub struct ColorBuffer {
    /// First byte.
    pub address: u32,
    /// Bytes from row to row.
    pub stride_bytes: u32,
    /// Pixels.
    pub format: PixelFormat,
    /// Arrangement.
    pub tiling: BufferTiling,
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
}

/// A user program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "a user program: an object with `pc`, `uniforms` and `uniforms_length`")]
pub struct UserProgram {
    /// First instruction.
    pub pc: u32,
    /// First uniform.
    pub uniforms: u32,
    /// Words of uniforms.
    pub uniforms_length: u32,
}

/// An allocation of the job, to explain addresses.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "a buffer: an object with `address`, `size` and `kind`")]
pub struct Buffer {
    /// First byte.
    pub address: u32,
    /// Bytes.
    pub size: u32,
    /// Its purpose.
    pub kind: String,
}

/// Treats null as absent.
fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// One job of a folder: one start of both threads.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(expecting = "a job: an object with at least `mem` and `arena_size`")]
pub struct Job {
    /// File of the memory image.
    pub mem: String,
    /// Bytes of the memory image.
    #[serde(default, deserialize_with = "or_default")]
    pub mem_bytes: Option<u64>,
    /// Whether thread 0 runs.
    #[serde(default, deserialize_with = "or_default")]
    pub has_bin: bool,
    /// First record of thread 0.
    #[serde(default, deserialize_with = "or_default")]
    pub bin_ct0ca: u32,
    /// End of the records of thread 0.
    #[serde(default, deserialize_with = "or_default")]
    pub bin_ct0ea: u32,
    /// First record of thread 1.
    #[serde(default, deserialize_with = "or_default")]
    pub render_ct1ca: u32,
    /// End of the records of thread 1.
    #[serde(default, deserialize_with = "or_default")]
    pub render_ct1ea: u32,
    /// Address of the first byte of the image.
    #[serde(default, deserialize_with = "or_default")]
    pub arena_base: u32,
    /// Bytes of memory from there on.
    pub arena_size: u32,
    /// Memory for the binner when it runs out.
    #[serde(default, deserialize_with = "or_default")]
    pub overflow_memory: Option<Region>,
    /// How thread 1 renders.
    #[serde(default, deserialize_with = "or_default")]
    pub render_config: RenderConfig,
    /// What thread 1 draws to.
    #[serde(default, deserialize_with = "or_default")]
    pub color_buffer: Option<ColorBuffer>,
    /// Regions that come from earlier jobs.
    #[serde(default, deserialize_with = "or_default")]
    pub carry: Vec<Carry>,
    /// Allocations.
    #[serde(default, deserialize_with = "or_default")]
    pub buffers: Vec<Buffer>,
    /// Names of its pass, draws, programs and uniforms.
    #[serde(default, deserialize_with = "or_default")]
    pub names: Vec<Name>,
    /// User programs to run before the lists.
    #[serde(default, deserialize_with = "or_default")]
    pub user_programs: Vec<UserProgram>,
    /// QPU interrupts to wait for.
    #[serde(default, deserialize_with = "or_default")]
    pub host_interrupts: Option<u32>,
}

impl Job {
    /// Its control lists, and the memory for the binner when it runs out.
    pub fn lists(&self) -> Lists {
        let region = |Region { address, size }: Region| address..address.wrapping_add(size);
        Lists {
            binning: self.has_bin.then_some(self.bin_ct0ca..self.bin_ct0ea),
            rendering: (self.render_ct1ca != self.render_ct1ea).then_some(self.render_ct1ca..self.render_ct1ea),
            overflow: self.overflow_memory.map(region),
        }
    }
}

/// The parts of the rendering mode that a description repeats.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(expecting = "how is rendered: an object with `msaa4x`")]
pub struct RenderConfig {
    /// Not 0 with 4x multisampling.
    #[serde(default)]
    pub msaa4x: u32,
}

/// Which job's picture is the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "a result: an object with `job`")]
pub struct JobResult {
    /// Number of the job.
    pub job: usize,
}

/// Shares of pixels, in percent, whose largest channel difference exceeds a threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[serde(expecting = "differences: an object with percentages")]
pub struct ExpectedDifference {
    /// More than 2.
    pub pct_pixels_differ_gt_2: f64,
    /// More than 8.
    pub pct_pixels_differ_gt_8: f64,
    /// More than 32.
    pub pct_pixels_differ_gt_32: f64,
}

/// `job.json`.
#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "a description: an object with `jobs`")]
struct Description {
    #[serde(default, deserialize_with = "or_default")]
    name: String,
    #[serde(default, deserialize_with = "or_default")]
    description: String,
    jobs: Vec<Job>,
    #[serde(default)]
    result: Option<JobResult>,
    #[serde(default)]
    reference: Option<String>,
    #[serde(default)]
    gl_renderer_reference: Option<String>,
    #[serde(default)]
    expected_difference: Option<ExpectedDifference>,
}

/// A job folder.
#[derive(Clone, Debug)]
pub struct JobFolder {
    files: Files,
    description: Description,
}

/// Name of the description in a folder.
const DESCRIPTION: &str = "job.json";

impl JobFolder {
    /// Reads the description of a folder.
    pub fn open(path: &Path) -> Result<Self, JobError> {
        Self::from_files(Files::Folder(path.to_owned()))
    }

    /// A folder whose files are part of the program; `files` are their names and contents.
    pub fn embedded(files: &'static [(&'static str, &'static [u8])]) -> Result<Self, JobError> {
        Self::from_files(Files::Embedded(files))
    }

    fn from_files(files: Files) -> Result<Self, JobError> {
        let mut description: Description = serde_json::from_slice(&files.read(DESCRIPTION)?)
            .map_err(|error| JobError::Description { path: files.path(DESCRIPTION), error })?;
        if description.jobs.is_empty() {
            return Err(JobError::NoJobs(files.path(DESCRIPTION)));
        }
        let last = description.jobs.len() - 1;
        if let Some(JobResult { job }) = description.result
            && job > last
        {
            return Err(JobError::NoResult { path: files.path(DESCRIPTION), job, last });
        }
        for name in description.jobs.iter().map(|job| &job.mem).chain(&description.reference) {
            files.check_name(name)?;
        }
        if let Files::Folder(folder) = &files
            && description.name.is_empty()
        {
            let folder = folder.canonicalize().unwrap_or_else(|_| folder.clone());
            description.name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        }
        Ok(Self { files, description })
    }

    /// Name of the scene, or of its folder if the description gives none.
    pub fn name(&self) -> &str {
        &self.description.name
    }

    /// What it shows.
    pub fn description(&self) -> &str {
        &self.description.description
    }

    /// The jobs, in order of execution.
    pub fn jobs(&self) -> &[Job] {
        &self.description.jobs
    }

    /// Maximum difference of a faithful result from the reference.
    pub fn expected_difference(&self) -> Option<ExpectedDifference> {
        self.description.expected_difference
    }

    /// Number of the job whose picture is the result: the last one, unless the description says otherwise.
    pub fn result_job(&self) -> usize {
        match self.description.result {
            Some(result) => result.job,
            None => self.jobs().len().saturating_sub(1),
        }
    }

    /// The memory at the start of a job, without what is carried over.
    pub fn image(&self, job: &Job) -> Result<OwnedMemory, JobError> {
        let bytes = u64::from(job.arena_base) + u64::from(job.arena_size);
        if bytes > MAX_MEMORY_BYTES {
            return Err(JobError::TooLarge(bytes));
        }
        let bad_image = |reason| JobError::Image { path: self.files.path(&job.mem), reason };
        let memory = OwnedMemory::new(bytes as usize);
        let mut outside = Ok(());
        let length =
            image::unpack(&job.mem, &mut *self.files.open_image(&job.mem)?, job.arena_size, &mut |at, bytes| {
                let written = write_words(memory.view(), job.arena_base.wrapping_add(at), bytes);
                outside = std::mem::replace(&mut outside, Ok(())).and(written);
            })
            .map_err(bad_image)?;
        outside.map_err(|place| JobError::Memory { what: "memory image", place })?;
        if let Some(expected) = job.mem_bytes
            && length != expected
        {
            return Err(bad_image(format!("it has {length} bytes, and not {expected} as the description says")));
        }
        Ok(memory)
    }

    /// Copies the regions that job number `number` takes from the final memories of earlier jobs.
    pub fn carry_over(&self, number: usize, memory: Memory<'_>, earlier: &[OwnedMemory]) -> Result<(), JobError> {
        let Some(job) = self.jobs().get(number) else { return Ok(()) };
        for carry in &job.carry {
            let Some(from) = earlier.get(carry.from_job) else {
                return Err(JobError::Carry { job: number, from: carry.from_job });
            };
            let outside = |place| JobError::Memory { what: "carried region", place };
            from.view().check(BusAddr(carry.address), carry.size as usize).map_err(outside)?;
            let mut chunk = [0; 4096];
            for at in (0..carry.size).step_by(chunk.len()) {
                let chunk = &mut chunk[..((carry.size - at) as usize).min(4096)];
                let address = carry.address.wrapping_add(at);
                from.view().read(BusAddr(address), chunk).map_err(outside)?;
                write_words(memory, address, chunk).map_err(outside)?;
            }
        }
        Ok(())
    }

    /// The reference picture.
    #[cfg(feature = "png")]
    pub fn reference(&self) -> Result<Picture, JobError> {
        let Some(name) = &self.description.reference else {
            return Err(JobError::NoPicture("the description names no reference"));
        };
        Picture::from_png(&self.files.read(name)?).map_err(|reason| JobError::Png {
            path: self.files.path(name),
            reason: format!("not a PNG picture that can be used: {reason}"),
        })
    }

    /// Whether a job renders with multisampling.
    pub fn is_multisampled(&self) -> bool {
        self.jobs().iter().any(|job| job.render_config.msaa4x != 0)
    }

    /// Positions of the samples in the reference: Mesa's software rasterisers place them mirrored to silicon.
    pub fn reference_sample_positions(&self) -> SamplePositions {
        match &self.description.gl_renderer_reference {
            Some(name) if name.contains("softpipe") || name.contains("llvmpipe") => SamplePositions::Mirrored,
            _ => SamplePositions::Silicon,
        }
    }

    /// The picture in the final memory of the job that makes the result.
    pub fn picture(&self, memory: Memory<'_>) -> Result<Picture, JobError> {
        let Some(job) = self.jobs().get(self.result_job()) else {
            return Err(JobError::NoPicture("the description names a job that is not there"));
        };
        let Some(buffer) = &job.color_buffer else {
            return Err(JobError::NoPicture("the job has no colour buffer"));
        };
        Picture::from_memory(memory, buffer)
    }
}

/// Writes whole words where possible.
fn write_words(memory: Memory<'_>, address: u32, bytes: &[u8]) -> Result<(), OutOfMemory> {
    if !address.is_multiple_of(4) {
        return memory.write(BusAddr(address), bytes);
    }
    let (words, rest) = bytes.as_chunks::<4>();
    memory.check(BusAddr(address), bytes.len())?;
    for (i, word) in words.iter().enumerate() {
        // Fresh memory is zero; leaving zeros alone keeps its pages untouched.
        let at = BusAddr(address.wrapping_add(4 * i as u32));
        let word = u32::from_le_bytes(*word);
        if memory.word(at)? != word {
            memory.set_word(at, word)?;
        }
    }
    memory.write(BusAddr(address.wrapping_add(4 * words.len() as u32)), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_null_or_missing_has_a_default() {
        let text = r#"{ "jobs": [ {
            "mem": "m", "arena_size": 4096, "color_buffer": null, "carry": null, "render_config": null, "bin_ct0ca": null,
            "user_programs": [ { "pc": 16, "uniforms": 32, "uniforms_length": 2 } ]
        } ], "result": null, "something": "else" }"#;
        let description: Description = serde_json::from_str(text).unwrap();
        let job = &description.jobs[0];
        assert!(!job.has_bin && job.carry.is_empty() && job.color_buffer.is_none());
        assert_eq!(job.user_programs, [UserProgram { pc: 16, uniforms: 32, uniforms_length: 2 }]);
        assert_eq!((job.bin_ct0ca, job.host_interrupts), (0, None));
    }

    #[test]
    fn errors_say_what_is_expected() {
        let check = |text: &'static str, expected: &str| {
            let error = serde_json::from_str::<Description>(text).expect_err(text).to_string();
            assert!(error.starts_with(expected), "{error}");
        };
        check("[]", "invalid length 2, expected a description: an object with `jobs`");
        check("7", "invalid type: integer `7`, expected a description: an object with `jobs`");
        check(
            r#"{ "jobs": [[]] }"#,
            "invalid length 0, expected a job: an object with at least `mem` and `arena_size`",
        );
        let with_format = r#"{ "jobs": [ { "mem": "", "arena_size": 0, "color_buffer": { "format": 7 } } ] }"#;
        check(with_format, "the name of a pixel format is expected");
    }

    #[test]
    fn only_the_v3ds_memory_can_be_had() {
        let job = r#"{ "mem": "m", "arena_size": 4294967295, "arena_base": 4294967295 }"#;
        let job: Job = serde_json::from_str(job).unwrap();
        let folder =
            JobFolder::embedded(&[("job.json", br#"{ "jobs": [ { "mem": "m", "arena_size": 4096 } ] }"#)]).unwrap();
        assert!(matches!(folder.image(&job), Err(JobError::TooLarge(_))));
        assert!(matches!(folder.picture(OwnedMemory::new(4).view()), Err(JobError::NoPicture(_))));
        #[cfg(feature = "png")]
        assert!(matches!(folder.reference(), Err(JobError::NoPicture(_))));
    }

    #[test]
    fn results_and_files_that_are_not_there_are_refused() {
        for (description, sentence) in [
            (
                r#""jobs": [ { "mem": "m", "arena_size": 4096 } ], "result": { "job": 1 }"#,
                "job 1, and there is none: the last is job 0",
            ),
            (r#""jobs": [ { "mem": "../m", "arena_size": 4096 } ]"#, "\"../m\", which lies outside"),
            (
                r#""jobs": [ { "mem": "m", "arena_size": 4096 } ], "reference": "/etc/x.png""#,
                "\"/etc/x.png\", which lies outside",
            ),
        ] {
            // The files of a folder that is part of the program are part of it for good, as this one's are.
            let file: &'static [u8] = Box::leak(format!("{{ {description} }}").into_boxed_str().into_boxed_bytes());
            let error = JobFolder::embedded(Box::leak(Box::new([(DESCRIPTION, file)]))).unwrap_err().to_string();
            assert!(error.contains(sentence), "{error}");
        }
    }
}
