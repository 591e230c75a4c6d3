//! General computation on the QPUs: user programs with Rust entry points.
//!
//! A [`Compute`] keeps programs in GPU memory; [`Compute::on`] creates a [`Session`] for a driver, whose methods are the operations. They take [`Array`]s in
//! GPU-visible memory, divide the work among up to 12 QPUs, and return when the results are in memory.
//!
//! ```
//! use compute::Compute;
//! use v3d::{Driver, Limits};
//! use v3d_host::{Config, Model};
//!
//! let model = Model::new(4 << 20, Config::default());
//! let mut driver = Driver::bring_up(&model, &model.interrupts, Limits::default())?;
//! let mut compute = Compute::new();
//! let mut gpu = compute.on(&mut driver);
//! let source = gpu.array(&[1.0f32, 2.0, 3.0])?;
//! let mut target = gpu.array(&[0.0f32; 3])?;
//! gpu.copy(&source, &mut target)?;
//! assert_eq!(gpu.read(&target)?, [1.0, 2.0, 3.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Memory and caches
//! Arrays are in the driver's pool, which the CPU does not cache. QPUs read them through their TMUs, and neither the TMUs' caches nor the L2 cache see the
//! stores of the VPM's DMA; [`Driver::run_programs`](v3d::Driver::run_programs) clears the L2, TMU, uniform and instruction caches before and after each run
//! of programs. So a program cannot read what another one has stored in the same run; operations that need this consist of several runs.
//!
//! # Together with frames
//! User programs and the 3D pipeline must not be active at the same time (HW-2959): an operation waits until all frames are done that were submitted before
//! it, and frames that are submitted later wait for it.
//!
//! # Sources
//! [AG p.37-59] for TMUs as memory access, the VPM and its DMA; programs are in `shaders/`, with their descriptions.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod array;
mod dispatch;
mod division;
mod error;
mod filter;
mod fourier;
mod histogram;
mod image;
mod life;
mod mandelbrot;
mod matrix;
mod reduce;
mod rows;
mod scan;
mod session;
mod sort;
mod transfer;
mod twiddle_factors;
mod work;
mod yuv;

pub use array::{Array, Element};
pub use division::QPUS;
pub use error::Error;
pub use filter::Neighbour;
pub use fourier::Signal;
pub use image::Image;
pub use life::Life;
pub use mandelbrot::View;
pub use matrix::Matrix;
pub use reduce::Number;
pub use scan::Integer;
pub use session::{Compute, Session};
pub use work::{Bound, Work};
pub use yuv::Planes;

#[rustfmt::skip]
pub mod programs;
