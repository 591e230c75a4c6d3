//! A turning cube: indices, perspective, depth test
//!
//! Eight corners, coloured by their place, and twelve triangles that name them by index. The vertex shaders multiply each corner with a matrix that comes
//! as uniforms and differs from frame to frame; the depth test in the tile buffer sees to what is in front.

use alloc::boxed::Box;
use core::f32::consts::{FRAC_PI_4, TAU};

use qpu_shaders::{
    NoUniforms, smooth_depth,
    transformed::{SHADING, Uniforms, Vertex},
};
use renderer::{
    frame::{Renderer, Sizes},
    material::Material,
    matrix::Matrix,
    mesh::Mesh,
};
use v3d::{Fence, hw::control_list::PrimitiveMode, rendering_list::ClearValues};

use super::{
    Scene, SceneContext, SceneEntry, SceneError,
    parts::{Parts, transformed_uniforms},
};
use crate::machine::Gpu;

/// This scene in the table.
pub(super) const ENTRY: SceneEntry = SceneEntry {
    name: "cube",
    description: "a turning cube: indexed, in perspective, depth-tested",
    start: |context| Ok(Box::new(Cube::new(context)?)),
};

/// Frames of one turn around the vertical axis.
const TURN: u64 = 360;
/// Frames of one turn around the horizontal axis; the whole motion repeats after their least common multiple.
const TILT: u64 = 1000;

/// The corners of a cube around the origin, sides 2 long, each coloured by its place: corner `n` is at the high end of x, y, z where bits 0, 1, 2 of
/// `n` are set.
fn corners() -> [Vertex; 8] {
    core::array::from_fn(|n| {
        let high = [n & 1 != 0, n & 2 != 0, n & 4 != 0];
        Vertex {
            position: high.map(|high| if high { 1.0 } else { -1.0 }),
            color: high.map(|high| if high { 1.0 } else { 0.1 }),
        }
    })
}

/// Two triangles for each side.
const INDICES: [u16; 36] = [
    0, 2, 1, 1, 2, 3, // z = -1
    4, 5, 6, 5, 7, 6, // z = 1
    0, 1, 4, 1, 5, 4, // y = -1
    2, 6, 3, 3, 6, 7, // y = 1
    0, 4, 2, 2, 4, 6, // x = -1
    1, 3, 5, 3, 7, 5, // x = 1
];

const CLEAR: ClearValues = ClearValues::color([16, 24, 48, 255]);

#[derive(Debug)]
struct Cube(Parts<Vertex, Material<Vertex, Uniforms, Uniforms, NoUniforms, 3>>);

impl Cube {
    fn new(context: &mut SceneContext<'_>) -> Result<Self, SceneError> {
        let SceneContext { gpu, target, .. } = context;
        let renderer = Renderer::new(gpu, target.width, target.height, Sizes::default())?;
        let mesh = |gpu: &mut Gpu| Mesh::indexed(gpu, PrimitiveMode::Triangles, &corners(), &INDICES);
        let material = |gpu: &mut Gpu| Material::new(gpu, &SHADING, &smooth_depth::FRAGMENT);
        Parts::new(gpu, renderer, mesh, material).map(Self)
    }
}

/// From the cube's coordinates to clip coordinates, in frame `number`.
fn matrix(number: u64, aspect: f32) -> Matrix {
    let angle = |period: u64| (number % period) as f32 / period as f32 * TAU;
    let turned = Matrix::rotation_x(0.5 + angle(TILT)) * Matrix::rotation_y(angle(TURN));
    Matrix::perspective(FRAC_PI_4, aspect, 1.0, 10.0) * Matrix::translation(0.0, 0.0, -5.0) * turned
}

impl Scene for Cube {
    fn frame(&mut self, context: &mut SceneContext<'_>, number: u64) -> Result<Fence, SceneError> {
        let Parts { renderer, mesh, material } = &mut self.0;
        let surface = context.target.surface()?;
        let state = renderer.state().with_depth_test();
        let aspect = context.target.width as f32 / context.target.height as f32;
        let uniforms = transformed_uniforms(&matrix(number, aspect), &state.viewport);
        let mut frame = renderer.begin(context.gpu, surface, CLEAR)?;
        frame.draw(&state, material, mesh, &uniforms, &uniforms, &NoUniforms)?;
        Ok(frame.submit()?)
    }

    fn end(self: Box<Self>, gpu: &mut Gpu) {
        self.0.free(gpu);
    }
}
