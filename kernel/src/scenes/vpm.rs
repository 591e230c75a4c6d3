//! What a coordinate shader writes for one vertex: a user program
//!
//! A program of JayStation's article "VPM, VCD, and VCM for Vertex Shaders" runs on a QPU on its own: it takes a
//! made-up vertex at pixel (32, 448) of a 640 x 480 picture, computes what a coordinate shader would, writes it to the VPM and has the VPM's DMA
//! store it to memory. The seven words of one lane are printed on the console, and drawn: Xc, Yc, Zc, Wc, Ys:Xs, Zs, 1/Wc.

use alloc::{boxed::Box, format, string::String, vec::Vec};

use qpu_shaders::{
    NoUniforms, UniformData,
    coordinate_test::{PROGRAM, Uniforms},
    smooth,
};
use renderer::{
    frame::{Renderer, Sizes},
    material::FragmentMaterial,
    text::{self, Style},
};
use v3d::{
    Fence,
    hw::{Layout, control_list::PrimitiveMode, shaded_vertex::ScreenXy},
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

/// What the program writes for each of its 16 lanes: one word a row.
const ROWS: [&str; 7] = ["Xc", "Yc", "Zc", "Wc", "Ys:Xs", "Zs", "1/Wc"];
/// Words of a row.
const LANES: u32 = 16;
/// How long the program may take, in microseconds.
const LIMIT_US: u64 = 100_000;

const CLEAR: ClearValues = ClearValues::color([0, 32, 0, 255]);
/// The letters' vertices are a part of the frame.
const SIZES: Sizes = Sizes { arena_bytes: 256 * 1024, tile_growth_bytes: 128 * 1024 };
const STYLE: Style = Style { x_px: 64, y_px: 64, dot_px: 4, color: [0.6, 1.0, 0.6] };

#[derive(Debug)]
struct Vpm {
    renderer: Renderer,
    letters: FragmentMaterial<NoUniforms, 3>,
    code: Buffer,
    uniforms: Buffer,
    result: Buffer,
}

impl Vpm {
    fn new(context: &mut SceneContext<'_>) -> Result<Self, SceneError> {
        let SceneContext { gpu, target, .. } = context;
        let result = gpu.allocate(4 * LANES * ROWS.len() as u32, 64)?;
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
            renderer: Renderer::new(gpu, target.width, target.height, SIZES)?,
            letters: FragmentMaterial::new(gpu, &smooth::FRAGMENT)?,
            code: gpu.upload(&code, 64)?,
            uniforms: gpu.upload(&bytes, 16)?,
            result,
        })
    }
}

impl Vpm {
    /// Runs the program and gives the words of lane 0.
    fn compute(&self, gpu: &mut Gpu) -> Result<[u32; ROWS.len()], SceneError> {
        // What is read was written by this run.
        self.result.region().zero(gpu.platform());
        let uniform_count = (self.uniforms.region().bytes() / 4) as u16;
        let program = UserProgram { code: self.code.address(), uniforms: self.uniforms.address(), uniform_count };
        gpu.run_programs(&[program], LIMIT_US)?;
        let mut words = [0; ROWS.len()];
        for (row, word) in (0..).zip(&mut words) {
            *word = self.result.region().load_word(gpu.platform(), 4 * LANES * row)?;
        }
        Ok(words)
    }
}

impl Scene for Vpm {
    fn frame(&mut self, context: &mut SceneContext<'_>, _number: u64) -> Result<Fence, SceneError> {
        let words = self.compute(context.gpu)?;
        let line: Vec<String> = words.iter().map(|word| format!("{word:08x}")).collect();
        writeln!(context.output, "{}", line.join(" ")).map_err(|_| SceneError("the console takes no text".into()))?;

        let table: String = ROWS.iter().zip(words).map(|(name, word)| format!("{name:6} {word:08x}\n")).collect();
        let surface = context.target.surface()?;
        let state = self.renderer.state();
        let triangles = text::triangles(&table, &STYLE, &state.viewport);
        let mut frame = self.renderer.begin(context.gpu, surface, CLEAR)?;
        frame.draw_once(&state, &self.letters, PrimitiveMode::Triangles, &triangles, &NoUniforms)?;
        Ok(frame.submit()?)
    }

    fn end(self: Box<Self>, gpu: &mut Gpu) {
        gpu.free(self.code);
        gpu.free(self.uniforms);
        gpu.free(self.result);
        self.letters.free(gpu);
        self.renderer.free(gpu);
    }
}
