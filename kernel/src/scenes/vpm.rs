//! What a coordinate shader writes for one vertex: a user program
//!
//! Nothing is drawn but a plain picture. A program of JayStation's article "VPM, VCD, and VCM for Vertex Shaders" runs on a QPU on its own: it takes a
//! made-up vertex at pixel (32, 448) of a 640 x 480 picture, computes what a coordinate shader would, writes it to the VPM and has the VPM's DMA store it to memory. The
//! seven words of one lane are printed: Xc, Yc, Zc, Wc, Ys:Xs, Zs, 1/Wc.

use alloc::{boxed::Box, vec::Vec};

use qpu_shaders::{
    UniformData,
    coordinate_test::{PROGRAM, Uniforms},
};
use renderer::frame::{Renderer, Sizes};
use v3d::{
    hw::{Layout, shaded_vertex::ScreenXy},
    pool::Buffer,
    rendering_list::ClearValues,
    user_program::UserProgram,
};

use super::{Scene, SceneContext, SceneEntry, SceneError};
use crate::machine::Gpu;

/// This scene in the table.
pub(super) const ENTRY: SceneEntry = SceneEntry {
    name: "vpm",
    description: "a user program: the words that a coordinate shader writes for one vertex, printed",
    start: |context| Ok(Box::new(Vpm::new(context)?)),
};

/// Words that the program writes for each of its 16 lanes.
const ROWS: u32 = 7;
/// Words of a row.
const LANES: u32 = 16;
/// How long the program may take, in microseconds.
const LIMIT_US: u64 = 100_000;

const CLEAR: ClearValues = ClearValues::color([0, 48, 0, 255]);

#[derive(Debug)]
struct Vpm {
    renderer: Renderer,
    code: Buffer,
    uniforms: Buffer,
    result: Buffer,
}

impl Vpm {
    fn new(context: &mut SceneContext<'_>) -> Result<Self, SceneError> {
        let SceneContext { gpu, target, .. } = context;
        let result = gpu.allocate(4 * ROWS * LANES, 64)?;
        let position = ScreenXy { x: 32 * 16, y: 448 * 16 };
        let uniforms = Uniforms {
            screen_xy: position.to_word().map_err(v3d::Error::from)?,
            screen_z: 1.0,
            reciprocal_w: 1.0,
            result: result.address(),
        };
        let mut words = Vec::new();
        uniforms.push(&mut words);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let code: Vec<u8> = PROGRAM.code().iter().flat_map(|word| word.to_le_bytes()).collect();
        Ok(Self {
            renderer: Renderer::new(gpu, target.width, target.height, Sizes::default())?,
            code: gpu.upload(&code, 64)?,
            uniforms: gpu.upload(&bytes, 16)?,
            result,
        })
    }
}

impl Scene for Vpm {
    fn frame(&mut self, context: &mut SceneContext<'_>, _number: u64) -> Result<(), SceneError> {
        let surface = context.target.surface()?;
        let fence = self.renderer.begin(context.gpu, surface, CLEAR)?.submit()?;
        context.gpu.wait(fence)?;

        // What is printed was written by this run.
        self.result.region().zero(context.gpu.platform());
        let uniform_count = (self.uniforms.region().bytes() / 4) as u16;
        let program = UserProgram { code: self.code.address(), uniforms: self.uniforms.address(), uniform_count };
        context.gpu.run_programs(&[program], LIMIT_US)?;
        for row in 0..ROWS {
            let word = self.result.region().load_word(context.gpu.platform(), 4 * LANES * row)?;
            let end = if row + 1 == ROWS { "\n" } else { " " };
            write!(context.output, "{word:08x}{end}").map_err(|_| SceneError("the console takes no text".into()))?;
        }
        Ok(())
    }

    fn end(self: Box<Self>, gpu: &mut Gpu) {
        gpu.free(self.code);
        gpu.free(self.uniforms);
        gpu.free(self.result);
        self.renderer.free(gpu);
    }
}
