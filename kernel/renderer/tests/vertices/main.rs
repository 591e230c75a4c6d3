//! Vertex data of every type, models of build scripts, long meshes, prepared draws.

mod in_memory;
mod instances;
mod kinds;
mod models;
mod prepared;
mod primitives;
mod scene;
