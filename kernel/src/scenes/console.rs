//! The shell's text, drawn by the GPU: what `help`, `scene list` and `log` answer, scrolling smoothly
//!
//! All letters come from one glyph atlas, so a screen of text is one draw. The text is written anew for each frame, a few pixels higher: only the lines
//! that are to be seen. The console that the kernel boots and dies with is drawn by the CPU (`screen`), because it has to work when the GPU does not.

use alloc::{
    boxed::Box,
    string::{String, ToString},
    vec::Vec,
};

use renderer::{
    Canvas, Error, PassDescriptor,
    canvas::{Fill, FontAtlas, Shape, TextStyle},
};
use v3d::Fence;

use super::{SCENES, Scene, SceneContext, SceneEntry, SceneError};
use crate::{
    assets::{BODY_FONT, TITLE_FONT},
    logger,
    shell::command::TABLE,
};

/// This scene in the table.
pub(super) const ENTRY: SceneEntry = SceneEntry {
    name: "console",
    description: "the shell's text, from a glyph atlas, scrolling smoothly",
    start: |context| Ok(Box::new(Console::new(context)?)),
};

const PAPER: [u8; 4] = [13, 17, 25, 255];
const INK: [u8; 4] = [222, 228, 238, 255];
const FAINT: [u8; 4] = [124, 138, 160, 255];
const ACCENT: [u8; 4] = [56, 208, 190, 255];
const WARM: [u8; 4] = [255, 170, 76, 255];

const MARGIN: f32 = 48.0;
/// Height of the bar with the title.
const BAR: f32 = 92.0;
const LINE: f32 = 25.0;
const SIZE: f32 = 18.0;
/// Pixels that the text goes up from frame to frame.
const STEP: u64 = 2;
/// Frames that the end of the text is shown for.
const PAUSE: u64 = 240;

/// Pieces of text: where each begins, in pixels from the left margin, and its colour.
type Line = Vec<(f32, [u8; 4], String)>;

#[derive(Debug)]
struct Console {
    body: FontAtlas,
    title: FontAtlas,
    canvas: Canvas,
    lines: Vec<Line>,
}

impl Console {
    fn new(context: &mut SceneContext<'_>) -> Result<Self, SceneError> {
        let SceneContext { device, target, .. } = context;
        Ok(Self {
            body: FontAtlas::new(device, "body font", &BODY_FONT)?,
            title: FontAtlas::new(device, "title font", &TITLE_FONT)?,
            canvas: Canvas::new(device, "console", target.width_px(), target.height_px())?,
            lines: lines(),
        })
    }

    /// Writes what is to be seen when the text has gone up by so many pixels.
    fn write(&mut self, up: f32) -> Result<(), Error> {
        let Self { body, title, canvas, lines } = self;
        let [width, height] = canvas.size_px().map(|side| side as f32);
        canvas.reset();
        let style = |color| TextStyle::new(SIZE, color);
        for (number, line) in lines.iter().enumerate() {
            let baseline = BAR + LINE * (number + 1) as f32 - up;
            if baseline > BAR - LINE && baseline < height + LINE {
                for (left, color, text) in line {
                    canvas.text(body, MARGIN + left, baseline, &style(*color), text)?;
                }
            }
        }
        canvas.shape(
            &Shape::rectangle(0.0, -2.0, width, BAR - 2.0),
            Fill::vertical([30, 39, 58, 255], [21, 27, 41, 255]),
        )?;
        canvas.shape(&Shape::rectangle(0.0, BAR - 4.0, width, 1.0), [255, 255, 255, 26])?;
        canvas.text(title, MARGIN, 58.0, &TextStyle::new(36.0, INK), "Console")?;
        canvas.text(body, width - MARGIN, 56.0, &style(FAINT).to_the_left(), "text of the shell, drawn by the V3D")?;
        if up == 0.0 {
            return Ok(());
        }
        // Where in the text the screen is.
        let (track, all) = (height - BAR - 24.0, LINE * (lines.len() + 1) as f32);
        let bar = Shape::rectangle(width - 18.0, BAR + 12.0 + track * up / all, 6.0, track * (height - BAR) / all);
        canvas.shape(&bar.rounded(3.0), [255, 255, 255, 60])
    }
}

/// What is typed, and what is answered.
fn lines() -> Vec<Line> {
    let mut lines = Vec::new();
    let say = |lines: &mut Vec<Line>, command: &str, answer: Vec<Line>| {
        lines.push([(0.0, ACCENT, "v3d>".to_string()), (50.0, INK, command.to_string())].into());
        lines.extend(answer);
        lines.push([(0.0, ACCENT, "ok".to_string()), (28.0, FAINT, command.to_string())].into());
    };
    let commands = TABLE.iter().map(|row| {
        let name = (24.0, INK, row.name.to_string());
        let left = 24.0 + BODY_FONT.width_px(row.name) + 8.0;
        let help = (left + BODY_FONT.width_px(row.arguments) + 16.0).max(340.0);
        [name, (left, WARM, row.arguments.to_string()), (help, FAINT, row.help.to_string())].into()
    });
    say(&mut lines, "help", commands.collect());
    let scenes = SCENES
        .iter()
        .map(|scene| [(24.0, INK, scene.name.to_string()), (340.0, FAINT, scene.description.to_string())].into());
    say(&mut lines, "scene list", scenes.collect());
    say(&mut lines, "log", logger::text().lines().map(log_line).collect());
    lines
}

/// A line of the log: time, level, who, what.
fn log_line(line: &str) -> Line {
    let parts = line.trim_start_matches('[').split_once("] ").and_then(|(time, rest)| {
        let (level, rest) = rest.split_once(' ')?;
        let (target, text) = rest.trim_start().split_once(": ")?;
        Some((time, level, target.rsplit("::").next()?, text))
    });
    let Some((time, level, target, text)) = parts else { return [(24.0, INK, line.to_string())].into() };
    let color = if level == "INFO" { ACCENT } else { WARM };
    [
        (24.0, FAINT, time.to_string()),
        (116.0, color, level.to_string()),
        (182.0, FAINT, target.to_string()),
        (330.0, INK, text.to_string()),
    ]
    .into()
}

impl Scene for Console {
    fn frame(&mut self, context: &mut SceneContext<'_>, number: u64) -> Result<Fence, SceneError> {
        let room = context.target.height_px() as f32 - BAR;
        let most = (LINE * (self.lines.len() + 1) as f32 - room).max(0.0) as u64;
        let up = (STEP * (number % (most / STEP + PAUSE))).min(most);
        self.write(up as f32)?;

        let mut frame = context.device.frame()?;
        let mut pass = frame.pass(&PassDescriptor::to(&context.target).clear(PAPER))?;
        self.canvas.draw_to(&mut pass)?;
        Ok(frame.submit()?)
    }
}
