//! What vertices may be made of: every kind of attribute, models as build scripts lay them out, long meshes.

#[path = "../../../v3d/tests/double/model.rs"]
mod model;

mod kinds;
mod models;
mod primitives;
mod scene;
