//! Every way to combine a fragment's colour with the target's: blending, logic operations, colour masks
//!
//! The chart on the left shows all pairs of factors with the equation "add": source factors across, destination factors down. On the right are the five
//! equations, the sixteen logic operations and some masks. In each cell a diamond that fades from transparent to opaque is drawn over a field whose colour and
//! alpha change from top to bottom.
//!
//! The chip has no blend unit: a fragment program loads the target's colour and computes the result. The renderer appends the code for a pipeline's blend state
//! to its fragment shader, so the same shader draws all cells.

use alloc::{boxed::Box, vec::Vec};
use core::f32::consts::TAU;

use qpu_shaders::{NoUniforms, smooth_alpha};
use renderer::{
    Blend, BlendPart, Equation, Factor, Logic, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Shading,
    canvas::{Canvas, FontAtlas, TextStyle},
    glam::Vec2,
    shaded_vertex::ShadedVertex,
    unorm,
};
use v3d::{Fence, draw_state::Viewport};

use super::{Scene, SceneContext, SceneEntry, SceneError};
use crate::scene_parts::assets::{BODY_FONT, TITLE_FONT};
use crate::scene_parts::moment::Moment;

/// The entry in the table of scenes.
pub(super) const ENTRY: SceneEntry = SceneEntry {
    name: "layers",
    description: "a chart of all blend states: factors, equations, logic operations, colour masks",
    start: |context| Ok(Box::new(Layers::new(context)?)),
};

type Vertex = ShadedVertex<4>;
type Descriptor = PipelineDescriptor<'static, Vertex, NoUniforms, NoUniforms, 4>;

/// Frames in which the diamonds circle once in their cells.
const ROUND: u64 = 240;
const GROUND: [u8; 4] = [26, 30, 38, 255];
const INK: [u8; 4] = [222, 227, 235, 255];
const FAINT: [u8; 4] = [150, 160, 175, 255];
/// The size of the chart's layout, which is scaled to the display.
const SIZE: Vec2 = Vec2::new(1280.0, 720.0);

/// Factors and their labels in the chart: s is the source, d the destination, c the constant.
const FACTORS: [(Factor, &str); 15] = [
    (Factor::Zero, "0"),
    (Factor::One, "1"),
    (Factor::SourceColor, "Cs"),
    (Factor::OneMinusSourceColor, "1-Cs"),
    (Factor::TargetColor, "Cd"),
    (Factor::OneMinusTargetColor, "1-Cd"),
    (Factor::SourceAlpha, "As"),
    (Factor::OneMinusSourceAlpha, "1-As"),
    (Factor::TargetAlpha, "Ad"),
    (Factor::OneMinusTargetAlpha, "1-Ad"),
    (Factor::Constant, "Cc"),
    (Factor::OneMinusConstant, "1-Cc"),
    (Factor::ConstantAlpha, "Ac"),
    (Factor::OneMinusConstantAlpha, "1-Ac"),
    (Factor::SourceAlphaSaturate, "sat"),
];
const EQUATIONS: [(Equation, &str); 5] = [
    (Equation::Add, "s + d"),
    (Equation::Subtract, "s - d"),
    (Equation::ReverseSubtract, "d - s"),
    (Equation::Min, "min"),
    (Equation::Max, "max"),
];
const LOGIC: [(Logic, &str); 16] = [
    (Logic::Clear, "clear"),
    (Logic::And, "and"),
    (Logic::AndReverse, "and reverse"),
    (Logic::Copy, "copy"),
    (Logic::AndInverted, "and inverted"),
    (Logic::Noop, "noop"),
    (Logic::Xor, "xor"),
    (Logic::Or, "or"),
    (Logic::Nor, "nor"),
    (Logic::Equivalent, "equivalent"),
    (Logic::Invert, "invert"),
    (Logic::OrReverse, "or reverse"),
    (Logic::CopyInverted, "copy inv."),
    (Logic::OrInverted, "or inverted"),
    (Logic::Nand, "nand"),
    (Logic::Set, "set"),
];
const MASKS: [([u8; 4], &str); 4] = [
    ([0xff, 0, 0, 0], "red only"),
    ([0, 0xff, 0, 0], "green only"),
    ([0, 0, 0xff, 0], "blue only"),
    ([0xf0, 0xf0, 0xf0, 0], "upper bits"),
];
/// The blend constant.
const CONSTANT: [u8; 4] = [255, 160, 64, 128];

/// A cell of the chart: its position in pixels of [`SIZE`], and the pipeline of its diamond.
#[derive(Debug)]
struct Cell {
    corner: Vec2,
    extent: Vec2,
    pipeline: Pipeline<Vertex, NoUniforms, NoUniforms>,
}

#[derive(Debug)]
struct Layers {
    field: Pipeline<Vertex, NoUniforms, NoUniforms>,
    cells: Vec<Cell>,
    text: Canvas,
}

/// Cells and labels during layout.
struct Chart<'c, 's> {
    context: &'c SceneContext<'s>,
    font: FontAtlas,
    scale: f32,
    cells: Vec<Cell>,
    text: Canvas,
}

impl Chart<'_, '_> {
    fn cell(&mut self, corner: Vec2, extent: Vec2, descriptor: Descriptor) -> Result<(), SceneError> {
        let pipeline = Pipeline::new(self.context.device, &descriptor)?;
        self.cells.push(Cell { corner, extent, pipeline });
        Ok(())
    }

    fn label(&mut self, at: Vec2, size: f32, text: &str) -> Result<(), SceneError> {
        let (at, style) = (at * self.scale, TextStyle::new(size * self.scale, INK));
        Ok(self.text.text(&self.font, at.x, at.y, &style, text)?)
    }

    /// All pairs of factors.
    fn factors(&mut self) -> Result<(), SceneError> {
        let (origin, pitch, extent) = (Vec2::new(92.0, 112.0), Vec2::new(44.0, 39.0), Vec2::new(41.0, 36.0));
        for (column, (source, name)) in FACTORS.into_iter().enumerate() {
            let x = origin.x + column as f32 * pitch.x;
            self.label(Vec2::new(x + 2.0, origin.y - 8.0), 15.0, name)?;
            for (row, (target, _)) in FACTORS.into_iter().enumerate() {
                let blend = Blend { constant: CONSTANT, ..Blend::both(BlendPart::sum(source, target)) };
                let corner = Vec2::new(x, origin.y + row as f32 * pitch.y);
                self.cell(corner, extent, Descriptor { blend, ..plain("factors") })?;
            }
        }
        for (row, (_, name)) in FACTORS.into_iter().enumerate() {
            self.label(Vec2::new(48.0, origin.y + row as f32 * pitch.y + 24.0), 15.0, name)?;
        }
        Ok(())
    }

    /// Equations, logic operations and masks.
    fn others(&mut self) -> Result<(), SceneError> {
        let sum = |equation| Blend::both(BlendPart { equation, source: Factor::One, target: Factor::One });
        let equations =
            EQUATIONS.map(|(equation, name)| (Descriptor { blend: sum(equation), ..plain("equations") }, name));
        self.row_by_row(Vec2::new(800.0, 112.0), &equations)?;
        let logic = LOGIC.map(|(logic, name)| (Descriptor { logic, ..plain("logic") }, name));
        let masks = MASKS.map(|(color_mask, name)| (Descriptor { color_mask, ..plain("masks") }, name));
        self.row_by_row(Vec2::new(800.0, 254.0), &[&logic[..], &masks[..]].concat())
    }

    /// Larger cells, five per row, each with a label below.
    fn row_by_row(&mut self, origin: Vec2, cells: &[(Descriptor, &str)]) -> Result<(), SceneError> {
        for (number, (descriptor, name)) in cells.iter().enumerate() {
            let corner = origin + Vec2::new((number % 5) as f32 * 92.0, (number / 5) as f32 * 114.0);
            self.cell(corner, Vec2::new(84.0, 76.0), *descriptor)?;
            self.label(corner + Vec2::new(1.0, 93.0), 15.0, name)?;
        }
        Ok(())
    }
}

/// A pipeline descriptor without blending.
fn plain(label: &'static str) -> Descriptor {
    PipelineDescriptor::new(label, Shading::PreShaded, &smooth_alpha::FRAGMENT)
}

impl Layers {
    fn new(context: &SceneContext<'_>) -> Result<Self, SceneError> {
        let (device, target) = (context.device, &context.target);
        let mut text = Canvas::new(device, "labels", target.width_px(), target.height_px())?;
        let scale = scale(target.width_px(), target.height_px());
        let title = FontAtlas::new(device, "titles", &TITLE_FONT)?;
        for (x, y, size, color, line) in [
            (48.0, 48.0, 30.0, INK, "Layers"),
            (48.0, 78.0, 16.0, FAINT, "factor of the fragment's colour across, of the colour that is there down"),
            (800.0, 78.0, 16.0, FAINT, "equations, logic operations, colour masks"),
        ] {
            text.text(&title, x * scale, y * scale, &TextStyle::new(size * scale, color), line)?;
        }
        let font = FontAtlas::new(device, "labels", &BODY_FONT)?;
        let mut chart = Chart { context, font, scale, cells: Vec::new(), text };
        chart.factors()?;
        chart.others()?;
        let Chart { cells, text, .. } = chart;
        Ok(Self { field: Pipeline::new(device, &plain("field"))?, cells, text })
    }
}

/// Pixels of the display per pixel of [`SIZE`].
fn scale(width_px: u32, height_px: u32) -> f32 {
    (width_px as f32 / SIZE.x).min(height_px as f32 / SIZE.y)
}

/// A vertex at a position in pixels of the display.
fn corner(viewport: &Viewport, place: Vec2, color: [f32; 4]) -> Vertex {
    let half = Vec2::new(viewport.half_width, viewport.half_height);
    // The scale is half the display's width and height in 1/16 pixel; the display's y points down.
    let place = place * 16.0 / half.abs() - Vec2::ONE;
    ShadedVertex::flat(place.x, -place.y, 0.5, viewport.half_width, viewport.half_height, color)
}

impl Scene for Layers {
    fn frame(&mut self, context: &mut SceneContext<'_>, moment: &Moment) -> Result<Fence, SceneError> {
        let target = &context.target;
        let (viewport, scale) = (target.viewport(), scale(target.width_px(), target.height_px()));
        let around = Vec2::from_angle(moment.ticks(ROUND) / ROUND as f32 * TAU);
        let mut frame = context.device.frame()?;
        let mut pass = frame.pass(&PassDescriptor::to(target).clear(unorm(GROUND)))?;

        let (above, below) = ([0.05, 0.35, 0.75, 1.0], [1.0, 0.75, 0.25, 0.2]);
        let mut fields = Vec::with_capacity(6 * self.cells.len());
        for Cell { corner: at, extent, .. } in &self.cells {
            let place = |x, y, color| corner(&viewport, (*at + *extent * Vec2::new(x, y)) * scale, color);
            let [a, b, c, d] =
                [place(0.0, 0.0, above), place(1.0, 0.0, above), place(0.0, 1.0, below), place(1.0, 1.0, below)];
            fields.extend([a, c, b, b, c, d]);
        }
        pass.draw_vertices(&self.field, Primitive::Triangles, &fields, &NoUniforms, &NoUniforms)?;

        for Cell { corner: at, extent, pipeline } in &self.cells {
            let middle = *at + *extent * (Vec2::splat(0.5) + 0.06 * around);
            let place = |x, y, color| corner(&viewport, (middle + *extent * 0.42 * Vec2::new(x, y)) * scale, color);
            let (clear, opaque, half) = ([0.2, 0.9, 0.3, 0.0], [0.95, 0.25, 0.55, 1.0], [0.8, 0.8, 0.9, 0.5]);
            let diamond =
                [place(-1.0, 0.0, clear), place(0.0, 1.0, half), place(0.0, -1.0, half), place(1.0, 0.0, opaque)];
            pass.draw_vertices(pipeline, Primitive::TriangleStrip, &diamond, &NoUniforms, &NoUniforms)?;
        }
        self.text.draw_to(&mut pass)?;
        Ok(frame.submit()?)
    }
}
