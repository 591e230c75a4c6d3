//! `v3d explain-registers`: what the registers in a report mean, and what they suggest.
//!
//! People post the text of Linux' debugfs file `v3d_regs`, its hang state, or their own prints. Every line with a register's name, with or without `V3D_`
//! before it, and a hexadecimal number behind it counts; of a register that occurs twice, the last one.

use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use v3d_hw::Layout;
use v3d_hw::registers::cle::Ctncs;
use v3d_hw::registers::diagnostic::Errstat;
use v3d_hw::registers::interrupt::Intctl;
use v3d_hw::registers::pipeline::Pcs;
use v3d_hw::registers::{IDENT0_VALUE, Register, Thread};

/// What registers read while the V3D has no power [asurati] [zephyr].
const UNPOWERED: u32 = 0xdead_beef;

/// Options of the command.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// File with registers, such as Linux' /sys/kernel/debug/dri/0/v3d_regs or a part of its log; `-` is the standard input
    file: PathBuf,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let text = if arguments.file.as_os_str() == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes)?;
        bytes
    } else {
        std::fs::read(&arguments.file).with_context(|| format!("cannot read {}", arguments.file.display()))?
    };
    let values = parse(&String::from_utf8_lossy(&text));
    ensure!(
        !values.is_empty(),
        "{} has no line with a register of the V3D and its value, such as `V3D_CT0CS = 0x00000020`",
        arguments.file.display()
    );
    let mut out = std::io::stdout().lock();
    for (offset, value) in &values {
        let Some(register) = Register::from_offset(*offset) else { continue };
        writeln!(out, "{:<8} {value:#010x} {}", register.name(), register.explain(*value))?;
    }
    writeln!(out)?;
    for sentence in suggestions(&values) {
        writeln!(out, "- {sentence}")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The values in a text, by the registers' offsets.
fn parse(text: &str) -> BTreeMap<u32, u32> {
    let mut values = BTreeMap::new();
    let is_separator = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    for line in text.lines() {
        let mut register: Option<Register> = None;
        for word in line.split(is_separator).filter(|word| !word.is_empty()) {
            let number = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X"));
            if let (Some(register), Some(value)) = (register, number.and_then(|it| u32::from_str_radix(it, 16).ok())) {
                values.insert(register.offset(), value);
            }
            register = named(word).or(register.filter(|_| number.is_none()));
        }
    }
    values
}

/// The register of a name, as reports have it.
fn named(word: &str) -> Option<Register> {
    let upper = word.to_ascii_uppercase();
    let name = upper.strip_prefix("V3D_").unwrap_or(&upper);
    Register::ALL.iter().copied().find(|register| register.name() == name)
}

/// Sentences about what the values suggest, the most certain first.
fn suggestions(values: &BTreeMap<u32, u32>) -> Vec<String> {
    let get = |register: Register| values.get(&register.offset()).copied();
    let mut found = Vec::new();
    if values.values().all(|&value| value == UNPOWERED) {
        return vec![format!("every register reads {UNPOWERED:#x}: the V3D has no power, so nothing else can be told")];
    }
    match get(Register::IDENT0) {
        Some(UNPOWERED) => found.push("IDENT0 reads 0xdeadbeef: the V3D has no power".to_owned()),
        Some(value) if value != IDENT0_VALUE => {
            found.push(format!(
                "IDENT0 is {value:#010x}, and {IDENT0_VALUE:#010x} on every VideoCore IV: this is no V3D that answers"
            ));
        }
        _ => {}
    }
    let status = |thread| get(Register::ctncs(thread)).map(Ctncs::from_word);
    for (thread, what) in [(Thread::Binning, "binning"), (Thread::Rendering, "rendering")] {
        let (Some(control), current, end) =
            (status(thread), get(Register::ctnca(thread)), get(Register::ctnea(thread)))
        else {
            continue;
        };
        let place = match (current, end) {
            (Some(current), Some(end)) => {
                format!(" at {current:#010x}, {} bytes before its end", end.wrapping_sub(current) as i32)
            }
            _ => String::new(),
        };
        if control.cterr {
            found.push(format!(
                "the {what} list has ended with an error{place}: the record there, or the one before, is not valid"
            ));
        } else if control.ctrun && control.ctsubs {
            found.push(format!("the {what} list waits for the other thread{place}"));
        } else if control.ctrun {
            found.push(format!("the {what} list runs{place}"));
        } else if control.ctsubs {
            found.push(format!("the {what} list has stopped at a halt{place}"));
        } else if current.is_some() && current == end && current != Some(0) {
            found.push(format!("the {what} list has come to its end"));
        }
    }
    let is_running = |thread| status(thread).is_some_and(|control| control.ctrun);
    let interrupts = get(Register::INTCTL).map(Intctl::from_word);
    let out_of_memory = get(Register::PCS).is_some_and(|value| Pcs::from_word(value).bmoom);
    if out_of_memory && is_running(Thread::Binning) {
        let enabled = get(Register::INTENA).map(|value| Intctl::from_word(value).int_outomem);
        found.push(match enabled {
            Some(false) => {
                "the binner is out of memory, and that interrupt is disabled: nobody gives it more, by BPOA and BPOS"
                    .to_owned()
            }
            _ => "the binner is out of memory, and waits for BPOA and BPOS".to_owned(),
        });
    } else if out_of_memory {
        found.push(
            "PCS shows BMOOM while nothing is binned: so it does from reset until the binner first gets memory"
                .to_owned(),
        );
    }
    let waits = status(Thread::Rendering).is_some_and(|control| control.ctrun && control.ctsubs && control.ctsema == 0);
    if waits && status(Thread::Binning).is_some_and(|control| !control.ctrun) && !out_of_memory {
        found.push("rendering waits for a semaphore, and nothing is binned: the binning list has no Increment Semaphore, or has not run".to_owned());
    }
    if let Some(interrupts) = interrupts {
        let enabled = get(Register::INTENA).unwrap_or(0);
        if (interrupts.int_fldone || interrupts.int_frdone) && enabled & 3 == 0 {
            found.push(
                "an interrupt for a done list is latched, and not enabled: software has missed it, or polls".to_owned(),
            );
        }
    }
    if let Some(errors) = get(Register::ERRSTAT) {
        // VCDI is no error.
        let errors = errors & !Errstat { vcdi: true, ..Errstat::default() }.to_word().unwrap_or(0);
        for field in Register::ERRSTAT.fields().iter().filter(|field| field.extract(errors.into()) != 0) {
            found.push(format!("ERRSTAT has {}: {}", field.name, field.doc.trim()));
        }
        if errors & 1 << 13 != 0 {
            found.push("VCMRE is also set by jobs that draw right, on boards: alone it tells nothing".to_owned());
        }
    }
    if [Thread::Binning, Thread::Rendering].into_iter().any(is_running) && !out_of_memory {
        found.push(
            "if CT0CA and CT1CA read the same a while later, the V3D hangs: a program without an end, or one that waits for a unit that never answers"
                .to_owned(),
        );
    }
    if found.is_empty() {
        found.push("nothing is running, and no register shows an error".to_owned());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the sentences about a text are these, of which the beginnings are given.
    fn check(text: &str, expected: &[&str]) {
        let found = suggestions(&parse(text));
        assert_eq!(found.len(), expected.len(), "{text}: {found:#?}");
        for (sentence, start) in found.iter().zip(expected) {
            assert!(sentence.starts_with(start), "{sentence} does not start with {start}");
        }
    }

    #[test]
    fn registers_are_found_in_all_kinds_of_text() {
        let text = "[  12.5]    V3D_CT0CS = 0x00000020\nCT1CA: 0x1f00 CT1EA: 0x2000\nV3D_IDENT0 0x02443356\nnothing 0x5\nct0ca=0xZ\n";
        let values = parse(text);
        let expected = [(0x000, 0x0244_3356), (0x100, 0x20), (0x10c, 0x2000), (0x114, 0x1f00)];
        assert_eq!(values.into_iter().collect::<Vec<_>>(), expected);
    }

    /// The values of states as the guide describes them [AG p.85, p.89, p.95, p.99].
    #[test]
    fn what_the_values_suggest() {
        check("CT0CS 0xdeadbeef\nPCS 0xdeadbeef\n", &["every register reads 0xdeadbeef"]);
        check("CT0CS 0x0\nCT1CS 0x0\nPCS 0x0\n", &["nothing is running"]);
        check(
            "CT0CS 0x28 CT0CA 0x100 CT0EA 0x110",
            &["the binning list has ended with an error at 0x00000100, 16 bytes", "if CT0CA"],
        );
        check(
            "CT0CS 0x20\nPCS 0x103\nINTENA 0x3\n",
            &["the binning list runs", "the binner is out of memory, and that interrupt is disabled"],
        );
        check("CT0CS 0x0\nPCS 0x100\n", &["PCS shows BMOOM while nothing"]);
        let waits = ["the rendering list waits for the other thread", "rendering waits for a semaphore", "if CT0CA"];
        check("CT0CS 0x0\nCT1CS 0x30\nPCS 0x0\n", &waits);
        check("INTCTL 0x2\nINTENA 0x0\nERRSTAT 0x1010\n", &["an interrupt for a done list", "ERRSTAT has vpmewr"]);
        check("IDENT0 0x0\n", &["IDENT0 is 0x00000000"]);
    }
}
