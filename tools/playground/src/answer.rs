//! Questions and answers in JSON: the seam between the page and this crate.
//!
//! A question is an object whose member `ask` says what is asked for; [`Playground::answer`] lists them. The answer is an object too; if the question could
//! not be answered, its only member is `error`. Pictures go beside it, as bytes.

use crate::frame::{self, Drawn, Image, Settings, Wanted};
use crate::source::{self, Language, Looked};
use crate::steps::Steps;
use crate::wgsl_words;
use crate::words;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use v3d_sim::render::pixel_trace::{Event, PixelTrace};

/// What the page has said so far: its source, an image, a stepper.
#[derive(Debug, Default)]
pub struct Playground {
    looked: Looked,
    image: Image,
    trace: PixelTrace,
    steps: Option<Steps>,
    /// The last picture, or the file that was asked for.
    bytes: Vec<u8>,
}

/// A question.
#[derive(Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "lowercase")]
enum Question {
    /// Diagnostics and programs of a source, which is the one that later questions are about.
    Look { language: String, source: String },
    /// A frame; the picture is in [`Playground::bytes`].
    Draw {
        settings: Settings,
        #[serde(default)]
        costs: bool,
    },
    /// What happened at a pixel: column, and row from the top.
    Pixel { settings: Settings, x: u32, y: u32 },
    /// A stepper through a run of the program of the pixel that was asked for last.
    Steprun { run: usize },
    /// A stepper through the user program, with these words as uniforms.
    Stepprogram { uniforms: Vec<u32> },
    /// A command of the stepper.
    Step { command: String },
    /// What a word means.
    Explain { language: String, word: String },
    /// All words of the assembly language.
    Words,
    /// The files of a job folder: their names and lengths; their bytes follow each other in [`Playground::bytes`].
    Job { settings: Settings },
}

impl Playground {
    /// A playground without a source.
    pub fn new() -> Self {
        Self::default()
    }

    /// The bytes that belong to the last answer.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Takes the picture for textures; its bytes are red, green, blue, alpha from the top left corner on.
    ///
    /// # Errors
    /// When it has no pixels, more than 512 a side, or another number of bytes.
    pub fn set_image(&mut self, width: u32, height: u32, rgba: Vec<u8>) -> Result<(), String> {
        let is_possible = (1..=512).contains(&width) && (1..=512).contains(&height);
        if !is_possible || rgba.len() as u32 != 4 * width * height {
            return Err("a texture has 1 to 512 pixels in width and height".to_owned());
        }
        self.image = Image { size_px: [width, height], rgba };
        Ok(())
    }

    /// Answers a question.
    pub fn answer(&mut self, question: &str) -> String {
        let question = serde_json::from_str::<Question>(question).map_err(|error| error.to_string());
        let answer = question.and_then(|question| self.answer_to(question));
        answer.unwrap_or_else(|error| json!({ "error": error })).to_string()
    }

    fn answer_to(&mut self, question: Question) -> Result<Json, String> {
        match question {
            Question::Look { language, source } => {
                self.looked = source::look(language_named(&language)?, &source);
                self.steps = None;
                Ok(json!({
                    "diagnostics": self.looked.diagnostics,
                    "programs": self.looked.programs,
                    "settings": self.looked.settings,
                    "textures": self.looked.textures,
                    "drawable": self.looked.drawable.is_some(),
                    "user": self.looked.user_program.is_some(),
                }))
            }
            Question::Draw { settings, costs } => {
                let Drawn { picture, faults, costs, .. } =
                    self.draw(&settings, Wanted { costs, ..Wanted::default() })?;
                let (width, height) = (picture.width_px, picture.height_px);
                self.bytes = picture.pixels.into_iter().flatten().collect();
                Ok(json!({ "width": width, "height": height, "faults": faults, "costs": costs }))
            }
            Question::Pixel { settings, x, y } => {
                let drawn = self.draw(&settings, Wanted { pixel: Some((x, y)), ..Wanted::default() })?;
                self.trace = drawn.trace;
                Ok(json!({ "events": events(&self.trace), "runs": self.trace.runs().len(), "faults": drawn.faults }))
            }
            Question::Steprun { run } => {
                let run = self.trace.runs().get(run).ok_or("no program of this number has shaded the pixel")?;
                let program = self.looked.programs.iter().find(|program| program.stage == "fragment");
                self.shown(Steps::of_run(run, program))
            }
            Question::Stepprogram { uniforms } => self.shown(Steps::of_program(&self.looked, &uniforms)?),
            Question::Step { command } => {
                let steps = self.steps.as_mut().ok_or("there is nothing to step through")?;
                to_json(&steps.command(&command))
            }
            Question::Explain { language, word } => {
                let text = match language_named(&language)? {
                    Language::Wgsl => wgsl_words::explain(&word),
                    Language::Qasm => words::explain(&word),
                };
                Ok(json!({ "text": text }))
            }
            Question::Words => Ok(json!({ "words": words::qasm() })),
            Question::Job { settings } => {
                let drawn = self.draw(&settings, Wanted { job: true, ..Wanted::default() })?;
                let files: Vec<Json> = drawn.job.iter().map(|(name, bytes)| json!([name, bytes.len()])).collect();
                self.bytes = drawn.job.into_iter().flat_map(|(_, bytes)| bytes).collect();
                Ok(json!({ "files": files }))
            }
        }
    }

    fn draw(&self, settings: &Settings, wanted: Wanted) -> Result<Drawn, String> {
        let drawable = self.looked.drawable.as_ref().ok_or("this source draws nothing: it needs a fragment shader")?;
        frame::draw(drawable, settings, &self.image, wanted)
    }

    fn shown(&mut self, steps: Steps) -> Result<Json, String> {
        to_json(&self.steps.insert(steps).view())
    }
}

fn language_named(name: &str) -> Result<Language, String> {
    Language::named(name).ok_or_else(|| "there are the languages wgsl and qasm".to_owned())
}

fn to_json(value: &impl serde::Serialize) -> Result<Json, String> {
    serde_json::to_value(value).map_err(|error| error.to_string())
}

/// The history of a pixel, without the instructions of its programs.
fn events(trace: &PixelTrace) -> Vec<Json> {
    let mut run = 0;
    let mut shown = Vec::new();
    for entry in trace.entries() {
        let own = match entry.event {
            Event::Instruction { .. } | Event::LeftOut(_) => continue,
            Event::Program { .. } => {
                run += 1;
                Some(run - 1)
            }
            _ => None,
        };
        shown.push(json!({ "text": entry.event.to_string(), "run": own }));
    }
    shown
}
