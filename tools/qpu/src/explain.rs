//! Instructions field by field.

use std::fmt::Write;

use v3d_hw::Layout;
use v3d_hw::qpu::{Alu, File, Instruction, PackA, PackMul, ReadSource, Signal, SmallImmediate, WriteTarget};

/// A table of the fields of a word: bits, name, value, meaning; above it the word and its text.
pub fn explain(word: u64) -> String {
    let instruction = Instruction::decode(word);
    let bits = u128::from(word);
    let mut text = format!("{:#010x}, {:#010x}    {instruction}\n", word as u32, word >> 32);
    let kind = match instruction {
        Instruction::Alu(alu) if alu.sig == Signal::SmallImmediate => "ALU instruction with small immediate",
        Instruction::Alu(_) => Alu::TITLE,
        Instruction::LoadImmediate(_) => v3d_hw::qpu::LoadImmediate::TITLE,
        Instruction::Semaphore(_) => v3d_hw::qpu::Semaphore::TITLE,
        Instruction::Branch(_) => v3d_hw::qpu::Branch::TITLE,
    };
    let _ = writeln!(text, "{kind}, word {word:#018x}");
    let _ = writeln!(text, "  {:<7} {:<10} {:>34}  meaning", "bits", "field", "value");
    for field in instruction.fields() {
        let value = field.extract(bits);
        let width = field.width() as usize;
        let range = if field.hi == field.lo { format!("{}", field.hi) } else { format!("{}:{}", field.hi, field.lo) };
        let shown = if width > 8 { format!("{value:#x}") } else { format!("{value:0width$b}") };
        let decimal = if width > 1 { format!("{shown} = {value}") } else { shown };
        let meaning = meaning(&instruction, field.name, value).unwrap_or_else(|| field.meaning(bits).to_string());
        let _ = writeln!(text, "  {range:<7} {:<10} {decimal:>34}  {meaning}", field.name);
    }
    text
}

/// What a field means in this instruction, where that is more than its own table says.
fn meaning(instruction: &Instruction, name: &str, value: u64) -> Option<String> {
    let value = value as u8;
    let (pm, ws) = match instruction {
        Instruction::Alu(alu) => (alu.pm, alu.ws),
        Instruction::LoadImmediate(load) => (load.pm, load.ws),
        Instruction::Semaphore(semaphore) => (semaphore.pm, semaphore.ws),
        Instruction::Branch(branch) => (false, branch.ws),
    };
    let (add_file, mul_file) = if ws { (File::B, File::A) } else { (File::A, File::B) };
    Some(match name {
        "waddr_add" => target(add_file, value),
        "waddr_mul" => target(mul_file, value),
        "ws" if ws => "add ALU writes to file B, mul ALU to file A".to_owned(),
        "ws" => "add ALU writes to file A, mul ALU to file B".to_owned(),
        "pm" if pm => "pack the mul result, unpack r4".to_owned(),
        "pm" => "pack and unpack register file A".to_owned(),
        "pack" if pm => PackMul::from_code(value).to_string(),
        "pack" => PackA::from_code(value).to_string(),
        "raddr_a" => match instruction {
            Instruction::Branch(branch) if !branch.reg => "no register".to_owned(),
            Instruction::Branch(_) => {
                format!("ra{value}{}", if value & 1 != 0 { ", and the flags are set" } else { "" })
            }
            _ => source(File::A, value),
        },
        "raddr_b" => match instruction {
            Instruction::Alu(alu) if alu.sig == Signal::SmallImmediate => {
                let immediate = SmallImmediate::from_code(value);
                match immediate.value() {
                    Some(bits) => format!("small immediate {immediate} ({bits:#010x})"),
                    None => format!("small immediate: {immediate}"),
                }
            }
            _ => source(File::B, value),
        },
        _ => return None,
    })
}

fn file_name(file: File) -> char {
    match file {
        File::A => 'a',
        File::B => 'b',
    }
}

/// `RecipSqrt` as `recip sqrt`.
fn words(name: &str) -> String {
    let mut text = String::new();
    for (at, character) in name.chars().enumerate() {
        if at > 0 && character.is_ascii_uppercase() {
            text.push(' ');
        }
        text.push(character.to_ascii_lowercase());
    }
    text
}

fn target(file: File, address: u8) -> String {
    match WriteTarget::of(file, address) {
        WriteTarget::Register(number) => format!("r{}{number}", file_name(file)),
        WriteTarget::Accumulator(number) => format!("r{number}"),
        WriteTarget::Nop => "no register".to_owned(),
        WriteTarget::Tmu { unit, coordinate } => format!("TMU {unit}, {coordinate:?}"),
        other => words(&format!("{other:?}")),
    }
}

fn source(file: File, address: u8) -> String {
    match ReadSource::of(file, address) {
        ReadSource::Register(number) => format!("r{}{number}", file_name(file)),
        ReadSource::Nop => "no register".to_owned(),
        ReadSource::Unmapped(address) => format!("address {address}, where nothing is"),
        other => words(&format!("{other:?}")),
    }
}
