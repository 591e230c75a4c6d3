//! Models, pictures and fonts of scenes, generated from the files in `assets/` by the build script

include!(concat!(env!("OUT_DIR"), "/assets.rs"));
