//! The shader that is written while the kernel runs: its source, its programs, and what is wrong with a later attempt
//!
//! The command `shader` compiles what it receives, and leaves programs or a diagnostic here; the scene `live` draws with the last programs there were, and
//! shows the diagnostic. The compiler's budget is the small one: hostile sources are refused before they take more time, memory or stack than there is.
//! Pictures ([`picture`]) and models ([`model`]) for it come over the serial line or from the SD card.

pub mod model;
pub mod picture;

use alloc::{
    format,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};

use renderer::wgsl::{
    self,
    shader_compiler::{Budget, Compiler, Error, Options, Shader, interface::Stage},
};
use spin::{Mutex, Once};

use model::Model;
use picture::{Cube, Picture};

/// What is drawn before a shader was sent.
const FIRST: &str = include_str!("live/first.wgsl");
/// Covers the screen for sources without a vertex shader.
const SCREEN: &str = "
@vertex fn vs_of_the_screen(@location(0) place: vec2<f32>) -> @builtin(position) vec4<f32> { return vec4(place, 0.0, 1.0); }
";
/// The same, compiled when it is needed first.
static SCREEN_SHADER: Once<Shader> = Once::new();
/// Most characters of a line of a diagnostic on the screen.
const LINE_CHARACTERS: usize = 120;

/// A shader that compiles.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its file's name.
    pub name: String,
    /// The source as it was sent.
    pub source: String,
    /// The programs of the source.
    pub shader: Shader,
}

impl Program {
    /// What the scene draws with: the shader, or a fragment shader alone with a vertex shader that covers the screen.
    ///
    /// # Errors
    /// When there is no fragment shader, or it reads varyings that nobody writes.
    pub fn drawable(&self) -> Result<wgsl::Shader, wgsl::Error> {
        if self.shader.stage(Stage::Vertex).is_some() {
            return wgsl::Shader::of(&self.name, &self.shader);
        }
        let screen = SCREEN_SHADER.try_call_once(|| compile("screen.wgsl", SCREEN))?;
        wgsl::Shader::of_screen(&self.name, screen, &self.shader)
    }
}

/// The state of writing.
#[derive(Clone, Debug, Default)]
struct State {
    /// Grows with each change.
    version: u64,
    program: Option<Program>,
    /// What is wrong with the source that was sent last.
    diagnostic: Option<Vec<String>>,
    things: Things,
}

/// What is drawn with the program.
#[derive(Clone, Debug, Default)]
pub struct Things {
    /// What textures show.
    pub picture: Option<Arc<Picture>>,
    /// What cube maps show.
    pub cube: Option<Arc<Cube>>,
    /// What is drawn instead of a sphere. Textures show its picture unless another was given.
    pub model: Option<Arc<Model>>,
}

static STATE: Mutex<State> = Mutex::new(State {
    version: 0,
    program: None,
    diagnostic: None,
    things: Things { picture: None, cube: None, model: None },
});

/// The compiler's options, with the bounds of a small machine.
#[must_use]
pub fn options() -> Options {
    Options { budget: Budget::SMALL, ..Options::default() }
}

/// A compiler with these options.
#[must_use]
pub fn compiler() -> Compiler {
    Compiler::new(options())
}

/// Compiles a source.
///
/// # Errors
/// What is wrong with the source.
pub fn compile(name: &str, source: &str) -> Result<Shader, Error> {
    compiler().compile(name, source)
}

/// Has the scene draw with a program from now on.
pub fn put(program: Program) {
    let mut state = STATE.lock();
    (state.version, state.program, state.diagnostic) = (state.version + 1, Some(program), None);
}

/// Has the scene draw with a program, and draw these things with it, from now on.
pub fn put_all(program: Program, things: Things) {
    let mut state = STATE.lock();
    *state = State { version: state.version + 1, program: Some(program), diagnostic: None, things };
}

/// Has the scene show what is wrong with a source that was sent.
pub fn refuse(source: &str, name: &str, error: &Error) {
    let lines = lines_for_the_screen(source, name, error);
    let mut state = STATE.lock();
    (state.version, state.diagnostic) = (state.version + 1, Some(lines));
}

/// Changes what is drawn with the program.
pub fn change(change: impl FnOnce(&mut Things)) {
    let mut state = STATE.lock();
    change(&mut state.things);
    state.version += 1;
}

/// What is drawn with the program.
#[must_use]
pub fn things() -> Things {
    STATE.lock().things.clone()
}

/// The version of what is to be drawn and shown.
#[must_use]
pub fn version() -> u64 {
    STATE.lock().version
}

/// The program to draw with, and what is wrong with the source that was sent later. Before anything was sent, it is the kernel's own.
///
/// # Errors
/// When the kernel's own source does not compile.
pub fn current() -> Result<(Program, Option<Vec<String>>), Error> {
    let State { program, diagnostic, .. } = STATE.lock().clone();
    let program = match program {
        Some(program) => program,
        None => {
            let (name, source) = ("first.wgsl".to_string(), FIRST.to_string());
            Program { shader: compile(&name, &source)?, name, source }
        }
    };
    Ok((program, diagnostic))
}

/// The source that compiled last.
#[must_use]
pub fn source() -> Option<(String, String)> {
    STATE.lock().program.as_ref().map(|program| (program.name.clone(), program.source.clone()))
}

/// A diagnostic in three lines: what is wrong, the place, and the source's line.
fn lines_for_the_screen(source: &str, name: &str, error: &Error) -> Vec<String> {
    let mut lines = Vec::from([shortened(&error.message)]);
    match error.line_and_column(source) {
        Some((line, column)) => {
            lines.push(format!("{name}:{line}:{column}"));
            lines.extend(source.lines().nth(line - 1).map(|text| shortened(text.trim())));
        }
        None => lines.push(name.to_string()),
    }
    lines
}

/// The characters that a line of the screen has room for.
fn shortened(text: &str) -> String {
    text.chars().take(LINE_CHARACTERS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_first_compiles_and_can_be_drawn() {
        let (program, diagnostic) = current().unwrap();
        assert!(program.drawable().is_ok() && diagnostic.is_none());
    }

    #[test]
    fn a_fragment_shader_alone_covers_the_screen() {
        let check = |source: &str, expected: Result<(), &str>| {
            let program = Program { name: "a".into(), source: source.into(), shader: compile("a", source).unwrap() };
            let found = program.drawable().map(|_| ()).map_err(|error| error.to_string());
            assert_eq!(found, expected.map_err(str::to_string), "{source}");
        };
        check("@fragment fn fs_main() -> @location(0) vec4<f32> { return vec4(1.0); }", Ok(()));
        let varyings = "a: the fragment shader reads varyings, which a vertex shader of its own must write";
        let reader = "@fragment fn fs_main(@location(0) x: f32) -> @location(0) vec4<f32> { return vec4(x); }";
        check(reader, Err(varyings));
        let compute = "@group(0) @binding(0) var<storage, read_write> all: array<u32>;
            @compute @workgroup_size(16) fn cs_main(@builtin(global_invocation_id) at: vec3<u32>) { all[at.x] = at.x; }";
        check(compute, Err("a: there is no fragment shader"));
    }

    #[test]
    fn a_diagnostic_has_its_place_and_its_line() {
        let source = "// a comment\n@fragment fn fs_main() -> @location(0) vec4<f32> {\n    return vec4(lost);\n}\n";
        let error = compile("lost.wgsl", source).unwrap_err();
        let lines = lines_for_the_screen(source, "lost.wgsl", &error);
        assert_eq!(lines[1..], ["lost.wgsl:3:17", "return vec4(lost);"]);
        assert!(lines[0].contains("lost"), "{lines:?}");
    }

    /// A hundred brackets are the small budget's bound; a thousand are the large one's.
    #[test]
    fn the_budget_is_the_small_one() {
        let nested = |depth| {
            let (open, close) = ("(".repeat(depth), ")".repeat(depth));
            format!("@fragment fn fs_main() -> @location(0) vec4<f32> {{ return vec4({open}1.0{close}); }}")
        };
        assert!(compile("few.wgsl", &nested(80)).is_ok());
        let error = compile("many.wgsl", &nested(200)).unwrap_err();
        assert_eq!(error.limit.map(|limit| limit.name), Some("nesting"));
        assert!(error.message.ends_with("here at most 100"), "{}", error.message);
    }
}
