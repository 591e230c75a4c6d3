//! Nothing: the manifest of this package is all that there is to it.
#![no_std]
#![forbid(unsafe_code)]
