//! The functions of the fuzz targets; `cargo test` runs them for a second.

#![forbid(unsafe_code)]

use qpu::check::{Rules, check_assembly_by, check_words_by};
use qpu::disassembler::Style;
use qpu::{Diagnostics, Interface, Options, Source, assemble, disassemble};

/// Fragments of source text: random bytes are converted to them, so that more than the first token is valid.
const PIECES: &[&str] = &[
    "\n",
    "\n",
    "\n",
    " ",
    ", ",
    ", ",
    "; ",
    ";",
    "#",
    "\"",
    "-",
    "(",
    ")",
    "[",
    "]",
    ":",
    "::",
    "r:",
    ".",
    "+",
    "*",
    "/",
    "%",
    "<<",
    ">>",
    "**",
    "<=>",
    "!",
    "~",
    "&",
    "|",
    "^",
    "mov ",
    "add ",
    "fmul ",
    "sub ",
    "or ",
    "v8min ",
    "nop",
    "anop ",
    "mnop ",
    "read ",
    "ldi ",
    "ldipeu ",
    "sacq ",
    "brr ",
    "bra ",
    "thrend",
    "thrsw",
    "lthrsw",
    "sbdone",
    "mutex_acq",
    "mutex_rel",
    "vr_setup",
    "t1t",
    "tlbc",
    "ldtmu0",
    "shl ",
    "not ",
    "xor ",
    "r0",
    "r1",
    "r4",
    "r5",
    "r5rep",
    "ra0",
    "ra15",
    "rb3",
    "ra39",
    "rb39",
    "unif",
    "vary",
    "vpm",
    "vw_setup",
    "t0s",
    "recip",
    "exp",
    "sin ",
    "floor ",
    "0",
    "1",
    "5",
    "-16",
    "16",
    "64",
    "0x80000000",
    "1.0",
    "0.5",
    "1e9",
    "1f",
    "0x",
    "9223372036854775807",
    ".setf",
    ".ifz",
    ".ifcc",
    ".never",
    ".always",
    ".allz",
    ".8a",
    ".16bf",
    ".8abcdsf",
    ".pm",
    ".rot ",
    ".unpack8a",
    ".set ",
    ".lset ",
    ".const ",
    ".unset ",
    ".macro ",
    ".endm",
    ".func ",
    ".endf",
    ".rep ",
    ".endr",
    ".foreach ",
    ".endfor",
    ".if ",
    ".else",
    ".elseif ",
    ".endif",
    ".ifset ",
    ".local",
    ".endloc",
    ".back ",
    ".endb",
    ".clone ",
    ".align ",
    ".assert ",
    ".byte ",
    ".int ",
    ".long ",
    ".bit ",
    ".half ",
    ".global ",
    ".include ",
    ".uniform ",
    ".varying ",
    ".stage ",
    ".threads ",
    ".attribute ",
    ".texture ",
    ".semaphore ",
    ".allow ",
    "user",
    "fragment",
    "vec4",
    "a",
    "b",
    "f",
    "m",
    "i",
    "a(",
    "m 1",
    "a, b",
];

/// Converts bytes to source text: each byte selects a fragment, or stands for itself after an escape.
fn source_of(bytes: &[u8]) -> String {
    let mut text = String::new();
    let mut rest = bytes.iter();
    while let Some(&byte) = rest.next() {
        match byte {
            255 => text.extend(rest.next().map(|&raw| char::from(raw))),
            piece => text.push_str(PIECES[usize::from(piece) % PIECES.len()]),
        }
    }
    text
}

/// Renders diagnostics. Only a few: rendering all takes longer than finding them.
fn show(mut diagnostics: Diagnostics) {
    diagnostics.list.truncate(4);
    let _ = diagnostics.to_string();
}

/// From text to words: the result is words or diagnostics, and both can be rendered.
pub fn assemble_anything(bytes: &[u8]) {
    for text in [source_of(bytes), String::from_utf8_lossy(bytes).into_owned()] {
        match assemble(&[Source::new("fuzz", text)], &Options::default()) {
            Ok(assembly) if assembly.words.len() <= 4096 => {
                show(check_assembly_by(Rules::All, &assembly));
                let _ = assembly.listing();
            }
            Ok(_) => {}
            Err(diagnostics) => {
                assert!(diagnostics.has_errors());
                show(diagnostics);
            }
        }
    }
}

/// Any words are disassembled to text that assembles to the same words.
pub fn disassemble_anything(bytes: &[u8]) {
    let words: Vec<u64> =
        bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default())).collect();
    let text = disassemble(&words, Style::default());
    match assemble(&[Source::new("fuzz", text)], &Options::default()) {
        Ok(assembly) => assert_eq!(assembly.words, words),
        Err(diagnostics) => panic!("{diagnostics}"),
    }
    show(check_words_by(Rules::All, &words, &Interface::default()));
}
