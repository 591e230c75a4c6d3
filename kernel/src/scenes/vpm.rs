//! The output of a coordinate shader for one vertex: a user program
//!
//! A program of JayStation's article "VPM, VCD, and VCM for Vertex Shaders" runs on one QPU: it takes an example vertex at pixel (32, 448) of a 640 x 480
//! picture, computes what a coordinate shader computes, writes it to the VPM and has the VPM's DMA store it to memory. The seven words of one lane are printed
//! on the console and drawn: Xc, Yc, Zc, Wc, Ys:Xs, Zs, 1/Wc.

use alloc::{boxed::Box, format, string::String, vec::Vec};

use qpu_shaders::coordinate_test::{PROGRAM, Uniforms};
use renderer::{
    Buffer, PassDescriptor,
    canvas::{Canvas, FontAtlas, Shape, TextStyle},
    unorm,
};
use v3d::{
    Fence,
    hw::{Layout, shaded_vertex::ScreenXy},
    user_program::UserProgram,
};

use super::{Scene, SceneContext, SceneEntry, SceneError};
use crate::{
    gpu::GpuDevice,
    scene_parts::{
        assets::{BODY_FONT, TITLE_FONT},
        moment::Moment,
    },
};

/// The entry in the table of scenes.
pub(super) const ENTRY: SceneEntry = SceneEntry {
    name: "vpm",
    description: "a user program: the words that a coordinate shader writes for one vertex, printed",
    start: |context| Ok(Box::new(Vpm::new(context)?)),
};

/// The program's output for each of its 16 lanes: a word per row, with its name and meaning.
const ROWS: [(&str, &str); 7] = [
    ("Xc", "clip coordinate x"),
    ("Yc", "clip coordinate y"),
    ("Zc", "clip coordinate z"),
    ("Wc", "clip coordinate w"),
    ("Ys:Xs", "pixel, in sixteenths"),
    ("Zs", "depth"),
    ("1/Wc", "reciprocal of w"),
];
/// The row whose word is not a float.
const SCREEN_ROW: usize = 4;
/// Words of a row.
const LANES: u32 = 16;
/// Time limit of the program, in microseconds.
const LIMIT_US: u64 = 100_000;

const GROUND: [u8; 4] = [22, 27, 34, 255];
const PANEL: [u8; 4] = [34, 41, 52, 255];
const INK: [u8; 4] = [222, 227, 235, 255];
const FAINT: [u8; 4] = [150, 160, 175, 255];
const WORD: [u8; 4] = [126, 211, 150, 255];

#[derive(Debug)]
struct Vpm {
    code: Buffer,
    uniforms: Buffer,
    result: Buffer,
    titles: FontAtlas,
    letters: FontAtlas,
    table: Canvas,
}

impl Vpm {
    fn new(context: &mut SceneContext<'_>) -> Result<Self, SceneError> {
        let SceneContext { device, target, .. } = context;
        let result = Buffer::new(device, "result", 4 * LANES * ROWS.len() as u32, 64)?;
        let position = ScreenXy { x: 32 * 16, y: 448 * 16 };
        let uniforms = Uniforms {
            screen_xy: position.to_word().map_err(v3d::Error::from)?,
            screen_z: 1.0,
            reciprocal_w: 1.0,
            result: result.address(),
        };
        Ok(Self {
            code: Buffer::with_program(device, "program", &PROGRAM)?,
            uniforms: Buffer::with_uniforms(device, "uniforms", &uniforms)?,
            result,
            titles: FontAtlas::new(device, "titles", &TITLE_FONT)?,
            letters: FontAtlas::new(device, "letters", &BODY_FONT)?,
            table: Canvas::new(device, "table", target.width_px(), target.height_px())?,
        })
    }

    /// Runs the program; returns the words of lane 0.
    fn compute(&self, device: &GpuDevice) -> Result<[u32; ROWS.len()], SceneError> {
        let mut bytes = [0; 4 * LANES as usize * ROWS.len()];
        // Clears the result, so that a word of an earlier run cannot be mistaken for this one's.
        self.result.write(device, 0, &bytes)?;
        let uniform_count = (self.uniforms.bytes() / 4) as u16;
        let program = UserProgram { code: self.code.address(), uniforms: self.uniforms.address(), uniform_count };
        device.driver()?.run_programs(&[program], LIMIT_US)?;
        self.result.read(device, 0, &mut bytes)?;
        let words = bytes.as_chunks().0;
        Ok(core::array::from_fn(|row| u32::from_le_bytes(words[LANES as usize * row])))
    }
}

impl Vpm {
    /// Draws the words into the table.
    fn write(&mut self, words: &[u32; ROWS.len()]) -> Result<(), SceneError> {
        let canvas = &mut self.table;
        canvas.reset();
        let [width, height] = canvas.size_px().map(|side| side as f32);
        // The unit of the layout is a fraction of the display's height.
        let unit = height / 24.0;
        let left = 0.5 * width - 12.0 * unit;
        let at = |column: f32, row: f32| (left + column * unit, row * unit);
        let title = TextStyle::new(1.4 * unit, INK);
        let (x, y) = at(0.0, 3.0);
        canvas.text(&self.titles, x, y, &title, "What a coordinate shader writes")?;
        let (x, y) = at(0.0, 4.3);
        let under = TextStyle::new(0.75 * unit, FAINT);
        canvas.text(&self.titles, x, y, &under, "a user program on one QPU, stored by the VPM's DMA; lane 0 of 16")?;
        for (row, ((name, meaning), &word)) in ROWS.iter().zip(words).enumerate() {
            let (x, y) = at(0.0, 5.6 + 2.4 * row as f32);
            let panel = Shape::rectangle(x, y, 24.0 * unit, 2.0 * unit).rounded(0.4 * unit);
            canvas.shape(&panel, PANEL)?;
            let value = match row {
                SCREEN_ROW => format!("{}, {}", f32::from(word as i16) / 16.0, f32::from((word >> 16) as i16) / 16.0),
                _ => format!("{}", f32::from_bits(word)),
            };
            let baseline = y + 1.35 * unit;
            let line = |size: f32, color, anchor| TextStyle { anchor, ..TextStyle::new(size * unit, color) };
            canvas.text(&self.titles, x + 0.8 * unit, baseline, &line(1.0, INK, 0.0), name)?;
            canvas.text(&self.letters, x + 4.6 * unit, baseline, &line(0.6, FAINT, 0.0), meaning)?;
            canvas.text(&self.titles, x + 16.4 * unit, baseline, &line(0.8, INK, 1.0), &value)?;
            let hex = format!("{word:08x}");
            canvas.text(&self.titles, x + 23.2 * unit, baseline, &line(1.0, WORD, 1.0), &hex)?;
        }
        Ok(())
    }
}

impl Scene for Vpm {
    fn frame(&mut self, context: &mut SceneContext<'_>, _: &Moment) -> Result<Fence, SceneError> {
        let words = self.compute(context.device)?;
        let line: Vec<String> = words.iter().map(|word| format!("{word:08x}")).collect();
        writeln!(context.output, "{}", line.join(" ")).map_err(|_| SceneError("the console's output failed".into()))?;

        self.write(&words)?;
        let mut frame = context.device.frame()?;
        let mut pass = frame.pass(&PassDescriptor::to(&context.target).clear(unorm(GROUND)))?;
        self.table.draw_to(&mut pass)?;
        Ok(frame.submit()?)
    }
}
