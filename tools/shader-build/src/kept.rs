//! A generated module that is kept in a crate's tree, and the test that it is current.

use std::path::Path;
use std::{env, fs};

use super::{Options, module};

/// Longest line of a kept file.
const LINE_CHARACTERS: usize = 150;

/// The environment variable with which [`expect_file`] writes the file.
const UPDATE: &str = "UPDATE_WORDS";

/// Compares the module of the shaders in `folder` with `file`, whose first line is `//! ` and `about`. With UPDATE_WORDS in the environment, the file is
/// written first. For tests; the crate declares the module with `#[rustfmt::skip]`.
///
/// # Errors
/// When the file is not what the shaders become, or a shader has errors.
pub fn expect_file(folder: &Path, file: &Path, about: &str) -> Result<(), String> {
    let (code, _) = module(folder, &Options::default())?;
    let made = format!("//! {about}\n\n{}", wrapped(&code));
    let io = |error: std::io::Error| format!("{}: {error}", file.display());
    if env::var_os(UPDATE).is_some() {
        fs::write(file, &made).map_err(io)?;
    }
    if fs::read_to_string(file).map_err(io)? == made {
        Ok(())
    } else {
        Err(format!("{} is not made of the shaders in {}: {UPDATE}=1 writes it", file.display(), folder.display()))
    }
}

/// The code with long lines broken after commas and equals signs.
fn wrapped(code: &str) -> String {
    let mut out = String::with_capacity(code.len());
    for mut line in code.lines() {
        while line.len() > LINE_CHARACTERS && !line.starts_with("///") {
            let whole =
                line.char_indices().map(|(at, _)| at).take_while(|&at| at <= LINE_CHARACTERS).last().unwrap_or(0);
            let Some(at) = line[..whole].rfind(", ").into_iter().chain(line[..whole].rfind("= ")).max() else { break };
            out += &line[..=at];
            out.push('\n');
            line = &line[at + 2..];
        }
        out += line;
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(code: &str, expected: &str) {
        assert_eq!(wrapped(code), expected);
    }

    #[test]
    fn long_lines_are_broken_at_commas() {
        check("short, line\n", "short, line\n");
        let words = ["0x0123456789abcdef"; 10].join(", ");
        let lines = [["0x0123456789abcdef"; 7].join(", "), ["0x0123456789abcdef"; 3].join(", ")].join(",\n");
        check(&words, &format!("{lines}\n"));
        let long = "a".repeat(200);
        check(&long, &format!("{long}\n"));
        check(&format!("/// {}", words.repeat(2)), &format!("/// {}\n", words.repeat(2)));
    }

    #[test]
    fn a_file_that_is_not_current_is_an_error() {
        let folder = env::temp_dir().join(format!("shader-build-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(
            folder.join("one.frag.qasm"),
            ".stage fragment\n.threads 1\n.output color\n    nop\n    nop\n    mov r0, 0\n",
        )
        .unwrap();
        let file = folder.join("one.rs");
        fs::write(&file, "//! Another.\n").unwrap();
        let error = expect_file(&folder, &file, "One.").unwrap_err();
        assert!(error.contains("one.rs is not made of the shaders in"), "{error}");
        fs::remove_dir_all(&folder).unwrap();
    }
}
