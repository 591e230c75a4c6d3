//! Meshes, materials, text and frames on top of the V3D driver
#![no_std]
#![forbid(unsafe_code)]
