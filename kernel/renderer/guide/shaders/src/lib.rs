//! The guide's own shaders, compiled from WGSL: a module for each file of `shaders/`.
#![no_std]
#![forbid(unsafe_code)]

include!(concat!(env!("OUT_DIR"), "/shaders.rs"));
