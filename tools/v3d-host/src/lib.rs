//! The model as a platform of the driver, so that programs for it run on the host.
//!
//! A [`Model`] has registers, memory, a clock and a reset line, as a board has; `v3d-sim` implements the registers. It executes the same bytes that a Pi's V3D
//! would execute, and [`Model::dump`] prints them, decoded. [`Model::capture`] saves them as a job folder for `v3d`.
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
//! With the feature `renderer` there are devices and targets of the renderer, and a window that shows them:
#![cfg_attr(
    feature = "renderer",
    doc = r#"
```
use renderer::{Format, PassDescriptor, Target, TargetDescriptor, unorm};
use v3d::hw::tiling::Tiling;
use v3d_host::{Config, Model, Picture};

let model = Model::new(4 << 20, Config::default());
let device = model.device()?;
let (format, tiling) = (Format::Rgba8888, Tiling::Raster);
let target = Target::new(&device, &TargetDescriptor { label: "picture", width_px: 2, height_px: 1, format, tiling })?;
let mut frame = device.frame()?;
frame.pass(&PassDescriptor::to(&target).clear(unorm([1, 2, 3, 255])))?;
let fence = frame.submit()?;
device.wait(fence)?;
assert_eq!(Picture::of_target(&device, &target)?.pixels, [[1, 2, 3, 255]; 2]);
# Ok::<(), Box<dyn std::error::Error>>(())
```
"#
)]
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
