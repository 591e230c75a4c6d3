//! Piglit's lists of tests: which there are, how each is started, and which are of OpenGL 2.1 or OpenGL ES 2.0.
//!
//! A list is a packed XML file with an element for each test: its name, its kind, and options whose values are literals of Python.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::io::Read;
use std::path::Path;

/// The lists that Mesa's tests on boards use: programs of their own, and files for the program that runs shaders. (Piglit's other lists have the same
/// tests with more variants of each, and files that are only compiled.)
const LISTS: [&str; 2] = ["quick_gl", "quick_shader"];

/// What the names of programs' tests start with that need a later version. The extensions of later versions are left in: their tests skip themselves.
const LATER: [&str; 10] = [
    "spec@!opengl 3.",
    "spec@!opengl 4.",
    "spec@!opengl es 3.",
    "spec@glsl-1.3",
    "spec@glsl-1.4",
    "spec@glsl-1.5",
    "spec@glsl-3.",
    "spec@glsl-4.",
    "spec@glsl-es-3.",
    "spec@oes_viewport_array@",
];

/// A test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Test {
    pub(super) name: String,
    /// The program's name in the folder `bin`, and its arguments.
    pub(super) words: Vec<String>,
    /// Variables of its environment.
    pub(super) variables: Vec<(String, String)>,
}

/// Reads the lists in piglit's folder.
pub(super) fn read(folder: &Path) -> Result<Vec<Test>> {
    let mut all = Vec::new();
    for list in LISTS {
        let file = folder.join(format!("tests/{list}.xml.gz"));
        let packed = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let mut text = String::new();
        let unpacked = flate2::read::GzDecoder::new(packed.as_slice()).read_to_string(&mut text);
        unpacked.with_context(|| format!("{} is damaged", file.display()))?;
        let tests = tests(&text, folder);
        ensure!(!tests.is_empty(), "{} names no test of OpenGL 2.1 or OpenGL ES 2.0", file.display());
        all.extend(tests);
    }
    Ok(all)
}

/// The tests of OpenGL 2.1 or OpenGL ES 2.0 in a list.
fn tests(text: &str, folder: &Path) -> Vec<Test> {
    text.split("<Test").skip(1).filter_map(|element| test(element, folder)).collect()
}

/// A test from its element, if it is one of those.
fn test(element: &str, folder: &Path) -> Option<Test> {
    let (head, rest) = element.split_once('>')?;
    let (kind, name) = (attribute(head, "type")?, attribute(head, "name")?);
    let pairs = |kind: &str| -> Vec<(String, String)> {
        let elements = rest.split(kind).skip(1);
        elements.filter_map(|part| Some((attribute(part, "name")?, attribute(part, "value")?))).collect()
    };
    let options = pairs("<option");
    let option = |name: &str| options.iter().find(|(option, _)| option == name).map(|(_, value)| value.as_str());
    let mut words = strings(option("command")?);
    let file = words.get(1).cloned();
    let path = |parts: &[&str]| {
        let path = parts.iter().fold(folder.to_owned(), |path, part| path.join(part));
        path.to_string_lossy().into_owned()
    };
    let is_asked_for = match kind.as_str() {
        "gl" => {
            words.push("-auto".to_owned());
            if option("run_concurrent") == Some("True") {
                words.push("-fbo".to_owned());
            }
            true
        }
        "gl_builtin" => {
            *words.get_mut(1)? = path(&["tests", &file?]);
            true
        }
        "shader" => {
            *words.get_mut(1)? = path(&[&file?]);
            words.extend(["-auto", "-fbo"].map(str::to_owned));
            let version = |name: &str| option(name).and_then(|version| version.parse::<f32>().ok()).unwrap_or(0.0);
            let (gl, glsl) = if option("api") == Some("'gles2'") { (2.0, 1.0) } else { (2.1, 1.2) };
            version("api_version") <= gl && version("shader_version") <= glsl
        }
        _ => false,
    };
    let has_platform = option("require_platforms").is_none_or(|names| strings(names).iter().any(|name| name == "gbm"))
        && !option("exclude_platforms").is_some_and(|names| strings(names).iter().any(|name| name == "gbm"));
    let is_later = LATER.iter().any(|start| name.starts_with(start));
    (is_asked_for && has_platform && !is_later).then(|| Test { name, words, variables: pairs("<env") })
}

/// The value of an attribute of the element that the text begins with.
fn attribute(text: &str, name: &str) -> Option<String> {
    let head = text.split_once('>').map_or(text, |(head, _)| head);
    let (_, rest) = head.split_once(&format!("{name}=\""))?;
    let (value, _) = rest.split_once('"')?;
    let escapes = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")];
    Some(escapes.iter().fold(value.to_owned(), |value, (escape, character)| value.replace(escape, character)))
}

/// The strings in a literal of Python: `['a', "b"]`.
fn strings(literal: &str) -> Vec<String> {
    let (mut all, mut characters) = (Vec::new(), literal.chars());
    while let Some(quote) = characters.find(|character| matches!(character, '\'' | '"')) {
        let mut string = String::new();
        while let Some(character) = characters.next().filter(|character| *character != quote) {
            string.extend(if character == '\\' { characters.next() } else { Some(character) });
        }
        all.push(string);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Elements as piglit's lists have them.
    const LIST: &str = r#"<?xml version='1.0' encoding='utf-8'?>
<PiglitTestList count="9" name="x"><Test type="gl" name="spec@!opengl 1.1@texwrap 1d proj"><option name="command"
value="['texwrap', '1D', 'GL RGBA8']" /><option name="run_concurrent" value="True" /></Test><Test type="gl"
name="shaders@&gt;all &amp; &quot;one&quot;"><option name="command" value="['glsl-max', &quot;it's&quot;]" /><option
name="run_concurrent" value="False" /><environment><env name="vblank_mode" value="0" /></environment></Test><Test type="gl" name="glx@a"><option
name="require_platforms" value="['glx', 'mixed_glx_egl']" /><option name="command" value="['glx-a']" /></Test><Test type="gl" name="spec@b"><option
name="exclude_platforms" value="['glx']" /><option name="command" value="['b']" /></Test><Test type="gl" name="spec@glsl-1.30@c"><option
name="command" value="['c']" /></Test><Test type="gl_builtin" name="spec@glsl-1.10@built-in constants"><option name="command"
value="['built-in-constants', 'spec/d.txt']" /><option name="run_concurrent" value="True" /></Test><Test type="shader" name="spec@e"><option
name="shader_version" value="1.2" /><option name="api" value="'compat'" /><option name="extensions" value="{'GL_E'}" /><option
name="command" value="['shader_runner', 'tests/e.shader_test']" /></Test><Test type="shader" name="spec@f"><option
name="shader_version" value="1.3" /><option name="api" value="'compat'" /><option name="command" value="['shader_runner', 'tests/f']" /></Test><Test
type="shader" name="spec@g"><option name="api" value="'gles2'" /><option name="api_version" value="3.0" /><option
name="command" value="['shader_runner_gles3', 'tests/g']" /></Test><Test type="vkrunner" name="h"><option name="filename"
value="'h'" /></Test></PiglitTestList>"#;

    #[test]
    fn tests_of_the_versions_are_read_with_their_commands() {
        let tests = tests(LIST, Path::new("/p"));
        let found: Vec<(&str, String)> = tests.iter().map(|test| (&*test.name, test.words.join("|"))).collect();
        let expected = [
            ("spec@!opengl 1.1@texwrap 1d proj", "texwrap|1D|GL RGBA8|-auto|-fbo"),
            ("shaders@>all & \"one\"", "glsl-max|it's|-auto"),
            ("spec@b", "b|-auto"),
            ("spec@glsl-1.10@built-in constants", "built-in-constants|/p/tests/spec/d.txt"),
            ("spec@e", "shader_runner|/p/tests/e.shader_test|-auto|-fbo"),
        ];
        assert_eq!(found, expected.map(|(name, words)| (name, words.to_owned())));
        assert_eq!(tests[1].variables, [("vblank_mode".to_owned(), "0".to_owned())]);
        assert!(tests[0].variables.is_empty());
    }

    #[test]
    fn what_is_not_a_list_has_no_tests() {
        for text in [
            "",
            "<Test ",
            "<Test type=\"gl\" name=\"a\">",
            "<Test name=\"a\"><option name=\"command\" value=\"['",
            "\u{0}",
        ] {
            assert_eq!(tests(text, Path::new("/p")), [], "{text}");
        }
        assert_eq!(strings("['a\\'b', 'cut"), ["a'b", "cut"]);
    }
}
