//! Questions and answers in JSON: the seam between the page and this crate.
//!
//! A question is an object whose member `ask` says what is asked for; [`Playground::answer`] lists them. The answer is an object too; if the question could
//! not be answered, its only member is `error`. Pictures go beside it, as bytes.

use crate::assets::{Assets, Cube, Image};
use crate::compute::{ComputeShader, Given, Ran};
use crate::frame::{self, Drawn, Settings, Wanted};
use crate::model::Model;
use crate::source::{self, Language, Looked};
use crate::steps::Steps;
use crate::wgsl_words;
use crate::words;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use v3d_sim::render::pixel_trace::{Event, PixelTrace};

/// What the page has said so far: its source, pictures and a model, a stepper.
#[derive(Debug, Default)]
pub struct Playground {
    looked: Looked,
    assets: Assets,
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
    /// A run of the compute shader on this memory.
    Compute {
        settings: Settings,
        given: Given,
        #[serde(default)]
        costs: bool,
    },
    /// A stepper through one of the programs of such a run.
    Stepcompute { settings: Settings, given: Given, number: usize },
    /// The files of a job folder: their names and lengths; their bytes follow each other in [`Playground::bytes`].
    Job {
        settings: Settings,
        /// For a compute shader.
        #[serde(default)]
        given: Given,
    },
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
    /// As [`Image::new`].
    pub fn set_image(&mut self, width: u32, height: u32, rgba: Vec<u8>) -> Result<(), String> {
        self.assets.image = Some(Image::new([width, height], rgba)?);
        Ok(())
    }

    /// Takes the six pictures of a cube map, one after the other.
    ///
    /// # Errors
    /// As [`Cube::new`].
    pub fn set_cube(&mut self, side_px: u32, rgba: &[u8]) -> Result<(), String> {
        self.assets.cube = Cube::new(side_px, rgba)?;
        Ok(())
    }

    /// Takes a model, which the shape `model` is then: the bytes of a file.
    ///
    /// # Errors
    /// As [`Model::read`].
    pub fn set_model(&mut self, name: &str, bytes: Vec<u8>) -> Result<(), String> {
        self.assets.model = Some(Model::read(name, bytes)?);
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
                    "solid": self.looked.solid,
                    "user": self.looked.user_program.is_some(),
                    "compute": self.looked.compute.as_ref().map(ComputeShader::described),
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
            Question::Compute { settings, given, costs } => {
                let Ran { buffers, programs, faults, costs, .. } =
                    self.compute()?.run(&given, &settings, costs, false)?;
                Ok(json!({ "buffers": buffers, "programs": programs, "faults": faults, "costs": costs }))
            }
            Question::Stepcompute { settings, given, number } => {
                self.shown(Steps::of_compute(&self.looked, &given, &settings, number)?)
            }
            Question::Job { settings, given } => {
                let job = if self.looked.drawable.is_none() && self.looked.compute.is_some() {
                    self.compute()?.run(&given, &settings, false, true)?.job
                } else {
                    self.draw(&settings, Wanted { job: true, ..Wanted::default() })?.job
                };
                let files: Vec<Json> = job.iter().map(|(name, bytes)| json!([name, bytes.len()])).collect();
                self.bytes = job.into_iter().flat_map(|(_, bytes)| bytes).collect();
                Ok(json!({ "files": files }))
            }
        }
    }

    fn draw(&self, settings: &Settings, wanted: Wanted) -> Result<Drawn, String> {
        let drawable = self.looked.drawable.as_ref().ok_or("this source draws nothing: it needs a fragment shader")?;
        frame::draw(drawable, settings, &self.assets, wanted)
    }

    fn compute(&self) -> Result<&ComputeShader, String> {
        self.looked.compute.as_ref().ok_or_else(|| "this source is no compute shader".to_owned())
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
