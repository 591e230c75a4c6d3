//! Computation on the QPUs: every operation of the crate `compute`, and a picture without triangles
//!
//! Before the first frame each operation runs once, its result is checked by the CPU, and a line about it is printed: the number of executed instructions from
//! the V3D's counters, and the time in the model, which was measured on a host (`cargo bench -p compute`) because a kernel cannot read the model's clock. The
//! picture behind the list is the Mandelbrot set, computed by user programs into the display's page; the frame that draws the list on it does not clear the
//! page.

use alloc::{boxed::Box, format, string::String, vec::Vec};

use compute::{Array, Compute, Image, View, Work};
use compute_workloads::Modelled;
use renderer::{
    PassDescriptor,
    canvas::{Canvas, FontAtlas, Shape, TextStyle},
};
use v3d::{Fence, hw::registers::performance::CounterSource, performance};

use super::{Scene, SceneContext, SceneEntry, SceneError};
use crate::scene_parts::assets::{BODY_FONT, TITLE_FONT};
use crate::scene_parts::moment::Moment;

/// The entry in the table of scenes.
pub(super) const ENTRY: SceneEntry = SceneEntry {
    name: "compute",
    description: "user programs: every operation of the crate `compute`, checked and printed, and the Mandelbrot set",
    start: |context| Ok(Box::new(Computation::new(context)?)),
};

/// Most iterations of a pixel.
const MAX_ITERATIONS: u32 = 128;
/// The point that the picture zooms in on: a spiral at the set's border.
const CENTER: [f32; 2] = [-0.743_64, 0.131_83];
/// Where that point is, as a fraction of the picture's width: in the middle of what the list leaves free.
const ACROSS: f32 = 0.762;
/// Height of the first picture in the complex plane: the whole set is beside the list.
const FIRST_HEIGHT: f32 = 3.2;
/// Frames after which the picture repeats.
const ROUND_TRIP: u64 = 400;
/// Clock cycles per instruction; the counter counts cycles.
const INSTRUCTION_CYCLES: u32 = 4;

const PANEL: [u8; 4] = [16, 20, 28, 216];
const INK: [u8; 4] = [222, 227, 235, 255];
const FAINT: [u8; 4] = [150, 160, 175, 255];
const RIGHT: [u8; 4] = [126, 211, 150, 255];
const WRONG: [u8; 4] = [240, 120, 110, 255];

#[derive(Debug)]
struct Computation {
    compute: Compute,
    palette: Array<u32>,
    titles: FontAtlas,
    letters: FontAtlas,
    list: Canvas,
    results: Vec<Outcome>,
}

/// The result of an operation.
#[derive(Debug)]
struct Outcome {
    name: &'static str,
    correct: bool,
    cost: String,
}

impl Computation {
    fn new(context: &mut SceneContext<'_>) -> Result<Self, SceneError> {
        let SceneContext { device, target, .. } = context;
        let mut compute = Compute::new();
        let colors: Vec<u32> = (0..=MAX_ITERATIONS).map(color).collect();
        let palette = {
            let mut driver = device.driver()?;
            compute.on(&mut driver).array(&colors)?
        };
        Ok(Self {
            compute,
            palette,
            titles: FontAtlas::new(device, "titles", &TITLE_FONT)?,
            letters: FontAtlas::new(device, "letters", &BODY_FONT)?,
            list: Canvas::new(device, "list", target.width_px(), target.height_px())?,
            results: Vec::new(),
        })
    }

    /// Runs all operations, and prints a line for each.
    fn run(&mut self, context: &mut SceneContext<'_>) -> Result<(), SceneError> {
        for workload in compute_workloads::all() {
            let driver = &mut *context.device.driver()?;
            let platform = driver.platform();
            let before = performance::count_of(platform, CounterSource::QpuInstructionCycles);
            let mut gpu = self.compute.on(driver);
            let answer = (workload.run)(&mut gpu);
            let (bound, at_least) = gpu.take_work().bound();
            let after = performance::count_of(platform, CounterSource::QpuInstructionCycles);
            let executed = match (before, after) {
                (Some(before), Some(after)) => {
                    format!("{} instructions, ", after.wrapping_sub(before) / INSTRUCTION_CYCLES)
                }
                _ => String::new(),
            };
            let verdict = match &answer {
                Ok(()) => "correct".into(),
                Err(problem) => format!("WRONG: {problem}"),
            };
            let cost = match compute_workloads::modelled(workload.name) {
                Some(Modelled { cycles, .. }) => format!(
                    "modelled {} us, {} % of what {bound} allows",
                    Work::microseconds(cycles),
                    (100 * at_least).checked_div(cycles).unwrap_or(0)
                ),
                None => "not modelled".into(),
            };
            writeln!(context.output, "{:32} {verdict}; {executed}{cost}", workload.name)
                .map_err(|_| SceneError("the console's output failed".into()))?;
            self.results.push(Outcome { name: workload.name, correct: answer.is_ok(), cost });
        }
        self.write()
    }

    /// Draws the list of operations.
    fn write(&mut self) -> Result<(), SceneError> {
        let canvas = &mut self.list;
        canvas.reset();
        let [_, height] = canvas.size_px().map(|side| side as f32);
        // The unit of the layout is a fraction of the display's height.
        let unit = height / 30.0;
        let panel = Shape::rectangle(unit, unit, 27.0 * unit, (3.2 + 1.2 * self.results.len() as f32) * unit);
        canvas.shape(&panel.rounded(0.4 * unit), PANEL)?;
        let title = TextStyle::new(1.1 * unit, INK);
        canvas.text(&self.titles, 1.6 * unit, 2.6 * unit, &title, "Computed by 12 QPUs")?;
        for (row, outcome) in self.results.iter().enumerate() {
            let y = (4.2 + 1.2 * row as f32) * unit;
            let (verdict, color) = if outcome.correct { ("ok", RIGHT) } else { ("wrong", WRONG) };
            canvas.text(&self.titles, 1.6 * unit, y, &TextStyle::new(0.7 * unit, color), verdict)?;
            canvas.text(&self.letters, 3.6 * unit, y, &TextStyle::new(0.7 * unit, INK), outcome.name)?;
            canvas.text(&self.letters, 14.4 * unit, y, &TextStyle::new(0.55 * unit, FAINT), &outcome.cost)?;
        }
        Ok(())
    }
}

/// The colour for a number of iterations; the set itself is dark.
fn color(iterations: u32) -> u32 {
    if iterations == MAX_ITERATIONS {
        return u32::from_le_bytes([10, 12, 20, 255]);
    }
    // Three triangle waves, one for each channel, since there is no table of sines.
    let wave = |speed: u32, phase: u32| {
        let at = (iterations * speed + phase) % 512;
        (if at < 256 { at } else { 511 - at }) as u8
    };
    u32::from_le_bytes([wave(9, 20), wave(6, 40), wave(4, 110), 255])
}

impl Scene for Computation {
    fn frame(&mut self, context: &mut SceneContext<'_>, moment: &Moment) -> Result<Fence, SceneError> {
        if self.results.is_empty() {
            self.run(context)?;
        }
        let surface = *context.target.surface();
        let [width, height] = [context.target.width_px(), context.target.height_px()].map(|side| side as usize);
        let mut page = Image::page(surface.address, width, height, 4 * surface.width_px)?;
        // Zooms in, and out again.
        let step = moment.ticks(ROUND_TRIP);
        let nearer = step.min(ROUND_TRIP as f32 - step);
        let pixel = FIRST_HEIGHT / height as f32 / (1.0 + 0.02 * nearer * nearer);
        let [left, top] = [CENTER[0] - ACROSS * pixel * width as f32, CENTER[1] - 0.5 * pixel * height as f32];
        // The driver is released before the frame begins.
        {
            let mut driver = context.device.driver()?;
            self.compute.on(&mut driver).mandelbrot(View { left, top, pixel }, &self.palette, &mut page)?;
        }
        let mut frame = context.device.frame()?;
        // The pass loads the page instead of clearing it.
        let mut pass = frame.pass(&PassDescriptor::to(&context.target))?;
        self.list.draw_to(&mut pass)?;
        Ok(frame.submit()?)
    }
}
