//! Shaders of Mesa's driver: their disassembly assembles to the same words, and they break no rule.

use std::collections::HashSet;

use qpu::check::check_words;
use qpu::disassembler::Style;
use qpu::interface::{Interface, Stage};
use qpu::{Options, Source, assemble, disassemble};

struct Shader {
    name: String,
    stage: Stage,
    threads: u8,
    words: Vec<u64>,
}

fn shaders() -> Vec<Shader> {
    let mut shaders: Vec<Shader> = Vec::new();
    for line in include_str!("captured/shaders.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(words) = line.strip_prefix("  ") {
            let shader = shaders.last_mut().expect("a heading comes first");
            shader.words.extend(words.split(' ').map(|word| u64::from_str_radix(word, 16).expect("a word")));
            continue;
        }
        let mut parts = line.split(' ');
        let (name, stage, threads) = (parts.next(), parts.next(), parts.next());
        let (_, stage) = Stage::NAMED.iter().find(|(name, _)| Some(*name) == stage).expect("a stage");
        shaders.push(Shader {
            name: name.expect("a name").to_owned(),
            stage: *stage,
            threads: threads.and_then(|threads| threads.parse().ok()).expect("a number of threads"),
            words: Vec::new(),
        });
    }
    shaders
}

#[test]
fn all_of_them_are_there() {
    let shaders = shaders();
    assert_eq!(shaders.len(), 48);
    assert_eq!(shaders.iter().map(|shader| shader.words.len()).sum::<usize>(), 1944);
    let operations: HashSet<u64> =
        shaders.iter().flat_map(|shader| &shader.words).map(|word| word >> 24 & 0xff).collect();
    assert!(operations.len() > 25, "only {} different operations", operations.len());
}

#[test]
fn every_word_has_an_exact_text() {
    for shader in shaders() {
        for word in shader.words {
            assert!(qpu_text::has_exact_text(word), "{}: {word:016x}: {}", shader.name, qpu_text::Text(word));
        }
    }
}

#[test]
fn they_assemble_to_the_same_words_again() {
    for shader in shaders() {
        let text = disassemble(&shader.words, Style::default());
        let assembly = assemble(&[Source::new(&shader.name, text)], &Options::default());
        let assembly = assembly.unwrap_or_else(|diagnostics| panic!("{}: {diagnostics}", shader.name));
        assert_eq!(assembly.words, shader.words, "{}", shader.name);
    }
}

#[test]
fn they_break_no_rule() {
    for shader in shaders() {
        let interface = Interface { stage: shader.stage, threads: Some(shader.threads), ..Interface::default() };
        let mut found = check_words(&shader.words, &interface);
        // The number of varyings is in the shader record, not here.
        found.list.retain(|diagnostic| diagnostic.code != qpu::Code::VaryingCount);
        assert!(found.list.is_empty(), "{}: {found}", shader.name);
    }
}
