//! Compares the guide's pages with its programs: excerpts of code, decoded excerpts of jobs, pictures.
//!
//! A page has markers, each followed by the block that it selects:
//! ```text
//! <!-- code STEP: START -->           from the line that begins with START to the line that ends it
//! <!-- dump STEP: TITLE -->           the first section of the job that has TITLE in its title
//! <!-- dump STEP: TITLE, records -->  the same without the records' fields
//! <!-- dump STEP: TITLE, NAME -->     the section's last record with this name, and its fields
//! <!-- source PATH: START -->         the same of a file, by its path from the guide's folder, without the indentation
//! <!-- file STEP: PATH -->            a file, by its path from the guide's folder
//! <!-- explain STEP: TITLE, FILE -->  the program in the section, instruction by instruction, with the names of the source file
//! ```
//! `UPDATE_GUIDE=1 cargo test -p renderer --test guide` updates blocks and pictures.

use std::path::{Path, PathBuf};

use qpu::explain::explain_program;
use qpu::interface::Output;
use qpu::{Assembly, Options, Source, assemble};
use v3d_sim::job::picture;

use crate::steps::{STEPS, Step};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("guide")
}

fn is_update() -> bool {
    std::env::var_os("UPDATE_GUIDE").is_some()
}

/// The item of a program's file whose first line begins with `start`, ignoring indentation.
fn code(path: &Path, start: &str) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let indentation = &start[..start.len() - start.trim_start().len()];
    let lines = text.lines().skip_while(|line| !line.starts_with(start));
    let mut excerpt = Vec::new();
    for line in lines {
        let line = line.strip_prefix(indentation).unwrap_or(line);
        excerpt.push(line);
        if ["}", "};", "];"].contains(&line) || excerpt.len() == 1 && line.ends_with(';') {
            return excerpt.join("\n");
        }
    }
    panic!("{}: nothing begins with {start:?}", path.display());
}

/// A part of a decoded job.
fn dump(step: &Step, selection: &str) -> String {
    let (title, part) = selection.split_once(", ").unwrap_or((selection, ""));
    let section: Vec<&str> = step
        .dump
        .lines()
        .skip_while(|line| !(line.starts_with("== ") && line.contains(title)))
        .enumerate()
        .take_while(|(n, line)| *n == 0 || !line.is_empty())
        .map(|(_, line)| line.trim_end())
        .collect();
    assert!(!section.is_empty(), "{}: its job has no section {title:?}", step.name);
    // Fields follow their record, with more indentation.
    let is_field = |line: &&str| line.starts_with("        ");
    match part {
        "" => section.join("\n"),
        "records" => section.into_iter().filter(|line| !is_field(line)).collect::<Vec<_>>().join("\n"),
        name => {
            let record = section.iter().rposition(|line| !is_field(line) && line.contains(name));
            let record = record.unwrap_or_else(|| panic!("{}: {title} has no record {name:?}", step.name));
            let fields = section[record + 1..].iter().take_while(|line| is_field(line));
            [section[record]].into_iter().chain(fields.copied()).collect::<Vec<_>>().join("\n")
        }
    }
}

/// A program's source, assembled.
fn assembled(file: &str) -> Assembly {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../qpu-shaders/shaders").join(file);
    assemble(&[Source::read(&path).unwrap()], &Options::default()).unwrap_or_else(|errors| panic!("{file}: {errors:?}"))
}

/// A program of a job, as `qpu explain` prints programs.
fn explanation(step: &Step, selection: &str) -> String {
    let (title, file) = selection.split_once(", ").unwrap_or_else(|| panic!("{selection}: it names no source file"));
    let section = dump(step, title);
    let word = |line: &str| line.split_whitespace().nth(1).and_then(|word| u64::from_str_radix(word, 16).ok());
    let words: Vec<u64> = section.lines().skip(1).map(|line| word(line).unwrap_or_else(|| panic!("{line}"))).collect();
    let source = assembled(file);
    // The pipeline appends code to a fragment shader, and may change its last instruction.
    let own = source.words.len() - usize::from(source.interface.output != Output::Own);
    assert_eq!(words[..own], source.words[..own], "{title}: the job's words are not those of {file}");
    explain_program(&words, &source.interface).trim_end().to_owned()
}

/// A page with updated blocks.
fn rewritten(page: &str, steps: &[Step]) -> String {
    let mut lines = page.lines();
    let mut out = String::new();
    while let Some(line) = lines.next() {
        out += line;
        out.push('\n');
        let Some(marker) = line.strip_prefix("<!-- ").and_then(|line| line.strip_suffix(" -->")) else { continue };
        let (what, selection) = marker.split_once(": ").unwrap_or_else(|| panic!("{line}: it selects nothing"));
        let (kind, name) = what.split_once(' ').unwrap_or_else(|| panic!("{line}: it names no step"));
        let step = || steps.iter().find(|step| step.name == name).unwrap_or_else(|| panic!("{line}: no such step"));
        let (language, text) = match kind {
            "code" => {
                let example = folder().with_file_name("examples").join(step().name).with_extension("rs");
                ("rust", code(&example, selection))
            }
            "source" => ("rust", code(&folder().join(name), selection)),
            "dump" => ("text", dump(step(), selection)),
            "explain" => ("text", explanation(step(), selection)),
            "file" => {
                let text = std::fs::read_to_string(folder().join(selection))
                    .unwrap_or_else(|error| panic!("{selection}: {error}"));
                (if selection.ends_with(".rs") { "rust" } else { "wgsl" }, text.trim_end().to_owned())
            }
            _ => panic!("{line}: blocks are of code, source, dump, explain or file"),
        };
        out += &format!("```{language}\n{text}\n```\n");
        // Skips the existing block.
        let mut rest = lines.clone();
        if rest.next().is_some_and(|line| line.starts_with("```")) {
            let _ = rest.find(|line| *line == "```");
            lines = rest;
        }
    }
    out
}

/// A page's text, after checking or updating its blocks.
fn checked(name: &str) -> String {
    let path = folder().join(name);
    let page = std::fs::read_to_string(&path).unwrap();
    let expected = rewritten(&page, &*STEPS);
    if is_update() {
        std::fs::write(&path, &expected).unwrap();
    } else {
        let differs = page.lines().zip(expected.lines()).zip(1..).find(|((has, should), _)| has != should);
        assert_eq!(differs, None, "{}: UPDATE_GUIDE=1 writes it anew", path.display());
        assert_eq!(page.len(), expected.len());
    }
    expected
}

#[test]
fn the_triangle_is_explained_field_by_field() {
    let page = checked("triangle.md");
    // Every word of the three programs has its own table.
    let tables = page.lines().filter(|line| line.contains("instruction") && line.contains(", word 0x")).count();
    let files = ["triangle.coord.qasm", "triangle.vert.qasm", "smooth.frag.qasm"];
    let own: usize = files.map(|file| assembled(file).words.len()).iter().sum();
    assert!(tables >= own, "{tables} tables for {own} instructions");
}

#[test]
fn pages_show_what_the_programs_have() {
    let page = checked("README.md");
    for step in &*STEPS {
        assert!(page.contains(&format!("({}.png)", step.name)), "the guide has no picture of {}", step.name);
    }
}

#[test]
fn each_step_ends_with_exercises() {
    let page = std::fs::read_to_string(folder().join("README.md")).unwrap();
    let steps: Vec<&str> =
        page.split("\n## ").skip(1).filter(|part| part.starts_with(|c: char| c.is_ascii_digit())).collect();
    assert_eq!(steps.len(), 18, "the title counts eighteen steps");
    for step in steps {
        let title = step.lines().next().unwrap();
        let (_, exercises) = step.split_once("\n**Exercises**\n").unwrap_or_else(|| panic!("{title}: no exercises"));
        assert!(
            exercises.lines().filter(|line| line.starts_with("- ")).count() >= 2,
            "{title}: fewer than two exercises"
        );
        assert!(!exercises.contains("```"), "{title}: the step goes on behind its exercises");
    }
}

#[test]
fn pictures_are_what_the_programs_draw() {
    for step in &*STEPS {
        let path = folder().join(step.name).with_extension("png");
        if is_update() {
            step.picture.save_png(&path).unwrap();
        }
        let kept = picture::Picture::from_png(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!((kept.width, kept.height), (step.picture.width_px, step.picture.height_px), "{}", step.name);
        // The PNG file has no alpha.
        let differs = kept.rgba.as_chunks::<4>().0.iter().zip(&step.picture.pixels).filter(|(a, b)| a[..3] != b[..3]);
        assert_eq!(differs.count(), 0, "{}: UPDATE_GUIDE=1 writes it anew", path.display());
    }
}
