//! The table of workloads: every row of [bm] that can be rebuilt.
//!
//! Which rows calibrate a cost was decided before any cost was changed, with the exception of rows 7 and 8: what loads wait for was not known then.
//!
//! | row | determines |
//! |---|---|
//! | 1 | what storing a tile takes: nothing is drawn |
//! | 3, binning | what a vertex takes that is fetched: there are 60,000, and only their coordinates count |
//! | 15 | the latency of the TMU: its shader waits seven instructions after a request, and stalls in each batch |
//! | 7 and 8, their mean | what loading a tile waits for memory: no other row loads its page. Why row 7 takes 64,000 cycles more than row 8 is not known |
//! | 18 | the start of a batch in a record of one thread: it is row 12, except for that bit |
//!
//! Everything else is unseen: no cost was changed for it.

use super::geometry::{fan, floor, grids, nothing, one_quad, quads, screens, small, triangle};
use super::scene::{Depth, Scene, Target, Texture};
use super::{Mark, Measured, TimedPart, Workload, words};
use v3d_hw::control_list::{CompareFunction, FrameBufferFormat, Threading};
use v3d_hw::texture::TextureType;

/// All rows.
pub const ROWS: &[Workload] = &[
    Workload { row: 1, name: "clear and store", scene: ONE, measured: &rendering(210.0, 211.0, Mark::Calibrated) },
    Workload {
        row: 2,
        name: "one triangle of 67,200 pixels",
        scene: Scene { vertices: triangle, ..ONE },
        measured: &rendering(293.0, 296.0, Mark::Unseen),
    },
    Workload {
        row: 3,
        name: "20,000 triangles of 63 pixels",
        scene: Scene { vertices: small, depth: NEARER_OR_EQUAL, ..ONE },
        measured: &[
            Measured { part: TimedPart::Binning, us: (2_640.0, 2_669.0), mark: Mark::Calibrated },
            Measured { part: TimedPart::Rendering, us: (4_043.0, 4_073.0), mark: Mark::Unseen },
        ],
    },
    Workload {
        row: 4,
        name: "20 screens",
        scene: Scene { vertices: screens, depth: NEARER_OR_EQUAL, ..ONE },
        measured: &rendering(5_676.0, 5_677.0, Mark::Unseen),
    },
    Workload {
        row: 5,
        name: "textured quad, RGBA32R",
        scene: Scene { vertices: one_quad, shader: words::TEXTURED, varyings: 2, texture: Some(RASTER_64), ..ONE },
        measured: &rendering(421.0, 423.0, Mark::Unseen),
    },
    Workload {
        row: 6,
        name: "fan of 48 triangles, RGBA8888",
        scene: Scene { vertices: fan, target: Target { format: FrameBufferFormat::Rgba8888, ..ONE.target }, ..ONE },
        measured: &rendering(442.0, 447.0, Mark::Unseen),
    },
    Workload {
        row: 7,
        name: "floor, RGBA32R 256x256",
        scene: Scene { texture: Some(Texture { size_px: 256, ..RASTER_64 }), ..FLOOR },
        measured: &rendering(1_506.0, 1_533.0, Mark::Calibrated),
    },
    Workload {
        row: 8,
        name: "floor, T-format 256x256",
        scene: FLOOR,
        measured: &rendering(1_284.0, 1_329.0, Mark::Calibrated),
    },
    Workload { row: 12, name: "156 quads, record of 2 threads", scene: QUADS, measured: &both(10.9, Mark::Unseen) },
    Workload { row: 13, name: "the same, smooth colours", scene: QUADS, measured: &both(10.9, Mark::Unseen) },
    Workload {
        row: 14,
        name: "the same, 4x multisampling",
        scene: Scene { target: Target { multisample: true, ..QUADS.target }, ..QUADS },
        measured: &both(11.2, Mark::Unseen),
    },
    Workload {
        row: 15,
        name: "117 textured quads, record of 2 threads",
        scene: Scene { vertices: quads::<117>, threading: Threading::Dual, ..TEXTURED_QUADS },
        measured: &both(14.1, Mark::Calibrated),
    },
    Workload {
        row: 18,
        name: "156 quads, record of 1 thread",
        scene: Scene { threading: Threading::Single, ..QUADS },
        measured: &both(12.8, Mark::Calibrated),
    },
    Workload {
        row: 20,
        name: "88 textured quads, record of 1 thread",
        scene: TEXTURED_QUADS,
        measured: &both(11.6, Mark::Unseen),
    },
    Workload {
        row: 21,
        name: "the same, RGB565",
        scene: Scene { texture: Some(Texture { kind: TextureType::Rgb565, ..TILED_128 }), ..TEXTURED_QUADS },
        measured: &both(11.5, Mark::Unseen),
    },
    Workload {
        row: 22,
        name: "the same, bilinear",
        scene: Scene { texture: Some(Texture { linear: true, ..TILED_128 }), ..TEXTURED_QUADS },
        measured: &both(11.8, Mark::Unseen),
    },
    Workload {
        row: 35,
        name: "17 grids of 512 triangles of 4 pixels",
        scene: Scene { vertices: grids::<17>, ..QUADS },
        measured: &both(2.6, Mark::Near),
    },
];

/// Nothing drawn; what most rows of the first test have in common.
const ONE: Scene = Scene {
    vertices: nothing,
    shader: words::COLOUR,
    threading: Threading::Dual,
    varyings: 3,
    depth: Depth { test: CompareFunction::Always, updates: false },
    texture: None,
    target: Target { multisample: false, format: FrameBufferFormat::Bgr565, loads: false },
};

const NEARER_OR_EQUAL: Depth = Depth { test: CompareFunction::LessOrEqual, updates: true };

const RASTER_64: Texture = Texture { kind: TextureType::Rgba32R, size_px: 64, linear: false };
const TILED_128: Texture = Texture { kind: TextureType::Rgba8888, size_px: 128, linear: false };

/// Of the three varyings of the record, the shader reads two.
const FLOOR: Scene = Scene {
    vertices: floor,
    shader: words::TEXTURED,
    depth: Depth { test: CompareFunction::Less, updates: true },
    texture: Some(Texture { size_px: 256, ..TILED_128 }),
    target: Target { loads: true, ..ONE.target },
    ..ONE
};

const QUADS: Scene =
    Scene { vertices: quads::<156>, depth: Depth { test: CompareFunction::Less, updates: true }, ..ONE };

const TEXTURED_QUADS: Scene = Scene {
    vertices: quads::<88>,
    shader: words::LIT,
    threading: Threading::Single,
    texture: Some(TILED_128),
    ..QUADS
};

/// A time of rendering in microseconds.
const fn rendering(from: f64, to: f64, mark: Mark) -> [Measured; 1] {
    [Measured { part: TimedPart::Rendering, us: (from, to), mark }]
}

/// A sum in milliseconds, of which one decimal is known.
const fn both(ms: f64, mark: Mark) -> [Measured; 1] {
    [Measured { part: TimedPart::Both, us: (1000.0 * ms - 50.0, 1000.0 * ms + 50.0), mark }]
}
