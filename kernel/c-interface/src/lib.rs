//! The driver and the renderer for kernels in C.
//!
//! A kernel hands over loads, stores, a barrier and an allocator as functions ([`v3d_board`]), and gets a device, with which it creates meshes, textures,
//! pipelines and targets, and draws frames. `include/v3d.h` is made of these files; a test compares it with them.
//!
//! # Rules for all functions
//! - A function that fails returns `NULL` or 0, and [`v3d_error`] then has a sentence.
//! - Pointers are valid, or `NULL` where the function says so. What a function returns belongs to the caller, who gives it to the function named `…_free`;
//!   frames that use it keep what they need.
//! - One core calls all functions, and never from an interrupt handler. They are not reentrant.
//! - Programs, slots and attributes are kept as pointers: they stay as they are while a pipeline exists that was made of them.
//!
//! # unsafe
//! Only in the files that take pointers from C, each with the rule of these on which it relies.
// On the host the static library would lack an allocator and a panic handler.
#![cfg_attr(target_os = "none", no_std)]
#![deny(unsafe_code)]
#![allow(non_camel_case_types, reason = "names of C")]

extern crate alloc;

#[allow(unsafe_code, reason = "functions and pointers of C")]
pub mod board;
#[allow(unsafe_code, reason = "functions and pointers of C")]
pub mod device;
#[allow(unsafe_code, reason = "the last error's text, which C reads")]
pub mod failure;
#[allow(unsafe_code, reason = "functions and pointers of C")]
pub mod frame;
#[allow(unsafe_code, reason = "functions and pointers of C")]
pub mod pipeline;
#[allow(unsafe_code, reason = "functions and pointers of C")]
pub mod resource;
#[cfg(target_os = "none")]
#[allow(unsafe_code, reason = "an allocator of functions of C")]
mod standalone;

/// Runs the README's examples as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
