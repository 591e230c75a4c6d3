//! The model as a platform of the driver, so that programs for it run on the host.
//!
//! A [`Model`] has registers, memory, a clock and a reset line, as a board has; `v3d-sim` implements the registers. It executes the same bytes that a Pi's V3D
//! would execute, and [`Model::dump`] prints them in words. [`Model::capture`] saves them as a job folder for `v3d`.
//!
//! ```
//! use v3d::{Driver, Limits};
//! use v3d_host::{Config, Model};
//!
//! let model = Model::new(4 << 20, Config::default());
//! let driver = Driver::bring_up(&model, &model.interrupts, Limits::default())?;
//! assert_eq!(model.take_faults(), []);
//! # drop(driver);
//! # Ok::<(), v3d::Error>(())
//! ```
//!
//! With the feature `renderer`, which is a default, the model also has devices of the renderer, and targets are read as pictures.
#![forbid(unsafe_code)]

#[cfg(feature = "programs")]
mod animation;
mod capture;
#[cfg(feature = "programs")]
mod example;
mod model;
mod names;
mod picture;

#[cfg(feature = "programs")]
pub use animation::{AnimationError, Moment, animate};
pub use capture::CaptureError;
#[cfg(feature = "programs")]
pub use example::{ExampleError, begin, finish, screen, show, show_picture};
/// A key of the window.
#[cfg(feature = "programs")]
pub use minifb::Key;
pub use model::Model;
#[cfg(feature = "programs")]
pub use picture::save_png;
pub use picture::{Picture, PictureError};
pub use v3d_sim::{Config, Fault};

/// Makes the examples of the README documentation tests.
#[cfg(all(doctest, feature = "renderer"))]
#[doc = include_str!("../README.md")]
mod readme {}
