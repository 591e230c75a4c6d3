//! Parts of scenes that need no hardware: assets, shapes, rules, texts and clocks

pub mod assets;
pub mod breakout;
pub mod dashboard;
pub mod foliage;
pub mod moment;
pub mod noise;
pub mod shapes;
pub mod transcript;
