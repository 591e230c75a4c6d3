//! What the playground computes: the page in `site` asks for it, in a web worker; tests ask for it on the host.
//!
//! - [`source`]: a source in WGSL or assembly to diagnostics and programs;
//! - [`frame`]: a frame, through renderer, driver, control lists, binner and tiles, with what it costs;
//! - [`compute`]: a run of a compute shader, by the driver on the model;
//! - [`costs`]: what a frame or a run costs, by the timing model;
//! - [`assets`], [`model`], [`mesh`]: pictures, models and shapes;
//! - [`live`]: registers whose values are still read; [`threads`]: what lies between thread switches;
//! - [`words`]: what a word of the assembly language means, and which words there are; [`wgsl_words`]: the same of WGSL;
//! - [`steps`]: the stepper, for the program of a pixel or a user program;
//! - [`answer`]: all of these behind one function from a question to an answer, both in JSON: the seam between the page and this crate.
//!
//! A frame is a function of its source and its settings: each one has a model and a driver of its own, so that nothing of an earlier one can be in it.
#![forbid(unsafe_code)]

pub mod answer;
pub mod assets;
pub mod compute;
pub mod costs;
pub mod frame;
pub mod live;
pub mod mesh;
pub mod model;
pub mod source;
pub mod steps;
pub mod threads;
#[cfg(target_arch = "wasm32")]
mod web;
pub mod wgsl_words;
pub mod words;

/// Makes the examples of the README documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
