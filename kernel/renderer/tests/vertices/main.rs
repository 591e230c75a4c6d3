//! Vertex data of every type, models of build scripts, long meshes, prepared draws.

mod in_memory;
mod instances;
mod kinds;
mod models;
mod prepared;
mod prepared_at_run_time;
mod primitives;
mod scene;
