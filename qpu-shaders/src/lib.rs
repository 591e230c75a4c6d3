//! QPU shaders, assembled and checked at build time into typed constants
#![no_std]
#![forbid(unsafe_code)]
