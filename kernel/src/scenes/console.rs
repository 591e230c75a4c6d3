//! The shell on the display, drawn by the GPU with smooth scrolling
//!
//! All letters come from one glyph atlas, so a screen of text is one draw, which is built anew for each frame. While the scene runs, it collects the console's
//! output ([`crate::terminal::console::listen`], [`Transcript`]), and keys are commands as usual; `scene stop` or control-C end it. The console that is used
//! during boot and panics is drawn by the CPU (`screen`), because it has to work without the GPU.

use alloc::{boxed::Box, format};

use renderer::{
    Canvas, Error, PassDescriptor,
    canvas::{Fill, FontAtlas, Shape, TextStyle},
    unorm,
};
use v3d::Fence;

use super::{Keys, Scene, SceneContext, SceneEntry, SceneError};
use crate::{
    scene_parts::{
        assets::{BODY_FONT, TITLE_FONT},
        moment::Moment,
        transcript::{self, Role, Transcript},
    },
    shell::command::{self, PROMPT},
    terminal::console::{self, Listening},
};

/// The entry in the table of scenes.
pub(super) const ENTRY: SceneEntry = SceneEntry {
    name: "console",
    description: "the shell, live: type commands while it shows; scene stop ends it",
    start: |context| Ok(Box::new(Console::new(context)?)),
};

const PAPER: [u8; 4] = [13, 17, 25, 255];
const INK: [u8; 4] = [222, 228, 238, 255];
const FAINT: [u8; 4] = [124, 138, 160, 255];
const ACCENT: [u8; 4] = [56, 208, 190, 255];
const WARM: [u8; 4] = [255, 170, 76, 255];

const MARGIN: f32 = 48.0;
/// Height of the title bar.
const BAR: f32 = 92.0;
const LINE: f32 = 25.0;
/// Least distance from the last line's baseline to the bottom.
const DESCENT: f32 = 6.0;
const SIZE: f32 = 18.0;
/// Width of a column of text; nearly all characters are narrower.
const COLUMN: f32 = 9.0;

#[derive(Debug)]
struct Console {
    body: FontAtlas,
    title: FontAtlas,
    canvas: Canvas,
    transcript: Transcript,
    /// How far the text has scrolled, in pixels.
    up: f32,
    listening: Listening,
}

impl Console {
    fn new(context: &mut SceneContext<'_>) -> Result<Self, SceneError> {
        let SceneContext { device, target, .. } = context;
        let mut transcript = Transcript::default();
        transcript.write(&format!("{PROMPT}help\n{}ok help\n", command::help()));
        Ok(Self {
            body: FontAtlas::new(device, "body font", &BODY_FONT)?,
            title: FontAtlas::new(device, "title font", &TITLE_FONT)?,
            canvas: Canvas::new(device, "console", target.width_px(), target.height_px())?,
            transcript,
            up: 0.0,
            listening: console::listen(),
        })
    }

    /// Draws the visible lines, the cursor after the last one, and the title bar above them.
    fn write(&mut self, is_cursor_on: bool) -> Result<(), Error> {
        let Self { body, title, canvas, transcript, up, .. } = self;
        let [width, height] = canvas.size_px().map(|side| side as f32);
        canvas.reset();
        let style = |color| TextStyle::new(SIZE, color);
        // Letters are aligned to whole pixels.
        let above = LINE * transcript.gone() as f32 - *up as u32 as f32;
        let (mut baseline, mut end) = (BAR + above, MARGIN);
        for line in transcript.lines() {
            (baseline, end) = (baseline + LINE, MARGIN);
            // Of a line that ends at the bar, only what letters have below the baseline would be seen.
            if baseline > BAR && baseline < height + LINE {
                for piece in transcript::pieces(line) {
                    let left = MARGIN + COLUMN * piece.column as f32;
                    canvas.text(body, left, baseline, &style(color(piece.role)), piece.text)?;
                    end = left + body.width_px(piece.text, SIZE);
                }
            }
        }
        if is_cursor_on {
            canvas.shape(&Shape::rectangle(end + 2.0, baseline - 14.0, 9.0, 18.0), ACCENT)?;
        }
        // The bar covers lines that have scrolled out.
        let bar = Fill::vertical([30, 39, 58, 255], [21, 27, 41, 255]);
        canvas.shape(&Shape::rectangle(0.0, -2.0, width, BAR - 2.0), bar)?;
        canvas.shape(&Shape::rectangle(0.0, BAR - 4.0, width, 1.0), [255, 255, 255, 26])?;
        canvas.text(title, MARGIN, 58.0, &TextStyle::new(36.0, INK), "Console")?;
        let hint = "type commands; scene stop ends it";
        canvas.text(body, width - MARGIN, 56.0, &style(FAINT).to_the_left(), hint)
    }
}

fn color(role: Role) -> [u8; 4] {
    match role {
        Role::Accent => ACCENT,
        Role::Plain => INK,
        Role::Faint => FAINT,
        Role::Warning => WARM,
    }
}

impl Scene for Console {
    fn keys(&self) -> Keys {
        Keys::Commands
    }

    fn frame(&mut self, context: &mut SceneContext<'_>, moment: &Moment) -> Result<Fence, SceneError> {
        self.transcript.write(&self.listening.heard());
        // Scrolls towards the last line: by an eighth of the remaining distance in each frame.
        let (gone, left) = (self.transcript.gone() as f32, self.transcript.lines().len() as f32);
        // Whole lines: the first one is not cut by the bar.
        let room = ((context.target.height_px() as f32 - BAR - DESCENT) / LINE) as u32 as f32 * LINE;
        let all = (LINE * (gone + left) - room).max(0.0);
        let next = self.up + ((all - self.up) / 8.0).max(1.0);
        self.up = if self.up == 0.0 { all } else { next.clamp(LINE * gone, all) };
        self.write(moment.ticks(60) < 30.0)?;

        let mut frame = context.device.frame()?;
        let mut pass = frame.pass(&PassDescriptor::to(&context.target).clear(unorm(PAPER)))?;
        self.canvas.draw_to(&mut pass)?;
        Ok(frame.submit()?)
    }
}
