//! Vertex data: every type of attribute, models in the layout of build scripts, long meshes.

mod instances;
mod kinds;
mod models;
mod primitives;
mod scene;
