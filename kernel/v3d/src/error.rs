//! Errors of the driver.

use crate::errata::Erratum;
use crate::identity::IdentityError;
use crate::jobs::fence::Fence;
use crate::lists::tile_area::TileArea;
use crate::platform::PowerError;
use core::fmt;
use v3d_hw::FieldError;
use v3d_hw::registers::Thread;

/// Why a request to the driver failed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// There is no usable V3D.
    Identity(IdentityError),
    /// The V3D could not be reset.
    Power(PowerError),
    /// A value does not fit its field.
    Field(FieldError),
    /// The pool has no free block that is long enough.
    PoolExhausted {
        /// Requested size in bytes.
        bytes: u32,
        /// Requested alignment.
        alignment: u32,
        /// Size of the longest free block in bytes.
        largest: u32,
    },
    /// An access exceeds its region.
    OutOfBounds {
        /// First byte of the access, from the region's start.
        at: u32,
        /// Bytes of the access.
        bytes: u32,
        /// Bytes of the region.
        region: u32,
    },
    /// An alignment is not a power of two.
    Alignment(u32),
    /// No tiles, or tiles outside of the picture, were to be rendered.
    TileArea {
        /// The tiles.
        area: TileArea,
        /// Columns of tiles in the picture.
        columns: u8,
        /// Rows of tiles in the picture.
        rows: u8,
    },
    /// The picture's pixels and the tile buffer's colours do not match: a picture with 64 bits per pixel needs a tile buffer with 64-bit colours, and vice
    /// versa.
    ColorBits {
        /// Bits of the picture's pixels.
        picture: u32,
    },
    /// A picture without pixels, or larger than the hardware supports.
    PictureSize {
        /// Width in pixels.
        width_px: u32,
        /// Height in pixels.
        height_px: u32,
    },
    /// The shader record is invalid.
    ShaderRecord(&'static str),
    /// The draw is invalid.
    Draw(&'static str),
    /// An erratum of the hardware forbids this.
    Erratum(Erratum),
    /// The job of this fence was dropped.
    JobFailed {
        /// The job's fence.
        fence: Fence,
        /// Why.
        failure: Failure,
    },
    /// The fence belongs to no job that was submitted.
    UnknownFence(Fence),
    /// Waiting took longer than the caller allowed; the job continues.
    WaitTimedOut(Fence),
    /// User programs did not end in time; the V3D was reset.
    ProgramsTimedOut {
        /// Programs that had ended.
        completed: u32,
        /// Programs that were started.
        requested: u32,
    },
    /// More sources than there are performance counters.
    PerformanceCounters {
        /// Sources that were asked for.
        sources: usize,
        /// Counters that there are.
        counters: usize,
    },
    /// More user programs at once than the request queue has places.
    TooManyPrograms(usize),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Identity(error) => error.fmt(f),
            Self::Power(error) => error.fmt(f),
            Self::Field(error) => error.fmt(f),
            Self::PoolExhausted { bytes, alignment, largest } => write!(
                f,
                "the GPU memory pool has no {bytes} bytes aligned to {alignment}: its longest free block has {largest} bytes"
            ),
            Self::OutOfBounds { at, bytes, region } => {
                write!(f, "{bytes} bytes at {at:#x} exceed a region of {region} bytes")
            }
            Self::Alignment(alignment) => write!(f, "an alignment of {alignment} is not a power of two"),
            Self::TileArea { area: TileArea { column, row, columns: wide, rows: high }, columns, rows } => {
                write!(
                    f,
                    "{wide} x {high} tiles from column {column}, row {row} on, of a picture with {columns} x {rows}"
                )
            }
            Self::ColorBits { picture } => {
                let buffer = if *picture == 64 { 32 } else { 64 };
                write!(
                    f,
                    "a picture of {picture} bits a pixel cannot be drawn with a tile buffer of {buffer}-bit colours"
                )
            }
            Self::PictureSize { width_px, height_px } => {
                write!(f, "a picture of {width_px} x {height_px} pixels cannot be rendered")
            }
            Self::ShaderRecord(what) => write!(f, "shader record: {what}"),
            Self::Draw(what) => write!(f, "draw: {what}"),
            Self::Erratum(erratum) => write!(f, "hardware erratum {erratum}"),
            Self::JobFailed { fence, failure } => write!(f, "job {fence} was dropped: {failure}"),
            Self::UnknownFence(fence) => write!(f, "no job has the fence {fence}"),
            Self::WaitTimedOut(fence) => write!(f, "job {fence} is not done in the time that the caller allowed"),
            Self::ProgramsTimedOut { completed, requested } => {
                write!(f, "{completed} of {requested} user programs ended in time")
            }
            Self::PerformanceCounters { sources, counters } => {
                write!(f, "{sources} sources for {counters} performance counters")
            }
            Self::TooManyPrograms(count) => {
                write!(
                    f,
                    "{count} user programs do not fit the request queue of {} places",
                    crate::jobs::user_program::QUEUE_DEPTH
                )
            }
        }
    }
}

impl core::error::Error for Error {}

impl From<FieldError> for Error {
    fn from(error: FieldError) -> Self {
        Self::Field(error)
    }
}

impl From<PowerError> for Error {
    fn from(error: PowerError) -> Self {
        Self::Power(error)
    }
}

impl From<IdentityError> for Error {
    fn from(error: IdentityError) -> Self {
        Self::Identity(error)
    }
}

/// Why a job did not finish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Nothing moved for longer than [`Limits::hang_us`](crate::driver::Limits::hang_us).
    Hang,
    /// The job made progress, but took longer than [`Limits::job_us`](crate::driver::Limits::job_us).
    TooLong,
    /// A thread stopped at a record that it could not execute (CTERR).
    ControlListError(Thread),
    /// The binner needs more memory than the pool has.
    OutOfBinnerMemory,
    /// Its binning list raises the semaphore more than once.
    Semaphore,
    /// Something other than the driver reset the V3D.
    UnexpectedReset,
    /// User programs did not end within the caller's time limit.
    ProgramsTooLong,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hang => f.write_str("the V3D made no progress"),
            Self::TooLong => f.write_str("it took longer than a job may take"),
            Self::ControlListError(Thread::Binning) => {
                f.write_str("thread 0 stopped with an error in the binning list")
            }
            Self::ControlListError(Thread::Rendering) => {
                f.write_str("thread 1 stopped with an error in the rendering list")
            }
            Self::Semaphore => f.write_str("its binning list raises the semaphore more than once"),
            Self::UnexpectedReset => f.write_str("something reset the V3D while it was working"),
            Self::ProgramsTooLong => f.write_str("they took longer than their caller allowed"),
            Self::OutOfBinnerMemory => f.write_str("the binner needs more memory than there is"),
        }
    }
}
