//! Models, pictures and fonts that scenes show, made of the files in `assets/` by the build script

include!(concat!(env!("OUT_DIR"), "/assets.rs"));
