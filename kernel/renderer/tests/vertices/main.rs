//! What vertices may be made of: every kind of attribute, models as build scripts lay them out, long meshes.

mod instances;
mod kinds;
mod models;
mod primitives;
mod scene;
