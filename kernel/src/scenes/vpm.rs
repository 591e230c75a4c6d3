//! What a coordinate shader writes for one vertex: a user program
//!
//! A program of JayStation's article "VPM, VCD, and VCM for Vertex Shaders" runs on a QPU on its own: it takes a
//! made-up vertex at pixel (32, 448) of a 640 x 480 picture, computes what a coordinate shader would, writes it to the VPM and has the VPM's DMA
//! store it to memory. The seven words of one lane are printed on the console, and drawn: Xc, Yc, Zc, Wc, Ys:Xs, Zs, 1/Wc.

use alloc::{boxed::Box, format, string::String, vec::Vec};

use qpu_shaders::{
    NoUniforms,
    coordinate_test::{PROGRAM, Uniforms},
    smooth,
};
use renderer::{
    Buffer, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Shading,
    shaded_vertex::ShadedVertex,
    text::{self, Style},
};
use v3d::{
    Fence,
    hw::{Layout, shaded_vertex::ScreenXy},
    user_program::UserProgram,
};

use super::{Scene, SceneContext, SceneEntry, SceneError};
use crate::machine::GpuDevice;

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

const CLEAR: [u8; 4] = [0, 32, 0, 255];
const STYLE: Style = Style { x_px: 64, y_px: 64, dot_px: 4, color: [0.6, 1.0, 0.6] };

#[derive(Debug)]
struct Vpm {
    letters: Pipeline<ShadedVertex<3>, NoUniforms, NoUniforms>,
    code: Buffer,
    uniforms: Buffer,
    result: Buffer,
}

impl Vpm {
    fn new(context: &mut SceneContext<'_>) -> Result<Self, SceneError> {
        let SceneContext { device, .. } = context;
        let result = Buffer::new(device, "result", 4 * LANES * ROWS.len() as u32, 64)?;
        let position = ScreenXy { x: 32 * 16, y: 448 * 16 };
        let uniforms = Uniforms {
            screen_xy: position.to_word().map_err(v3d::Error::from)?,
            screen_z: 1.0,
            reciprocal_w: 1.0,
            result: result.address(),
        };
        let descriptor = PipelineDescriptor::new("letters", Shading::Done, &smooth::FRAGMENT);
        Ok(Self {
            letters: Pipeline::new(device, &descriptor)?,
            code: Buffer::with_program(device, "program", &PROGRAM)?,
            uniforms: Buffer::with_uniforms(device, "uniforms", &uniforms)?,
            result,
        })
    }

    /// Runs the program and gives the words of lane 0.
    fn compute(&self, device: &GpuDevice) -> Result<[u32; ROWS.len()], SceneError> {
        let mut bytes = [0; 4 * LANES as usize * ROWS.len()];
        // What is read was written by this run.
        self.result.write(device, 0, &bytes)?;
        let uniform_count = (self.uniforms.bytes() / 4) as u16;
        let program = UserProgram { code: self.code.address(), uniforms: self.uniforms.address(), uniform_count };
        device.driver()?.run_programs(&[program], LIMIT_US)?;
        self.result.read(device, 0, &mut bytes)?;
        let words = bytes.as_chunks().0;
        Ok(core::array::from_fn(|row| u32::from_le_bytes(words[LANES as usize * row])))
    }
}

impl Scene for Vpm {
    fn frame(&mut self, context: &mut SceneContext<'_>, _number: u64) -> Result<Fence, SceneError> {
        let words = self.compute(context.device)?;
        let line: Vec<String> = words.iter().map(|word| format!("{word:08x}")).collect();
        writeln!(context.output, "{}", line.join(" ")).map_err(|_| SceneError("the console takes no text".into()))?;

        let table: String = ROWS.iter().zip(words).map(|(name, word)| format!("{name:6} {word:08x}\n")).collect();
        let triangles = text::triangles(&table, &STYLE, &context.target.viewport());
        let mut frame = context.device.frame()?;
        let mut pass = frame.pass(&PassDescriptor::to(&context.target).clear(CLEAR))?;
        pass.draw_vertices(&self.letters, Primitive::Triangles, &triangles, &NoUniforms, &NoUniforms)?;
        Ok(frame.submit()?)
    }
}
