//! The model as the driver's machine, by the name that the tests have for it.

pub(crate) use v3d_host::Machine as Model;
