//! Explanations of words of the language, of instructions field by field, and of programs instruction by instruction.

mod comment;
mod dictionary;
mod program;

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;

use qpu_text::Text;
use v3d_hw::Layout;
use v3d_hw::layout::Field;
use v3d_hw::qpu::accesses::{self, FlagSource};
use v3d_hw::qpu::{
    Alu, Branch, Condition, File, ImmediateKind, Instruction, LoadImmediate, PackA, PackMul, ReadSource, Semaphore,
    Signal, SmallImmediate, Unpack, WriteTarget,
};
use v3d_hw::vpm::{
    LoadSetup, LoadStrideSetup, Location, ReadSetup, ReadSetupWord, StoreSetup, StoreStrideSetup, WriteSetup,
    WriteSetupWord,
};

pub use dictionary::{explain_word, list_words, nearest_word, vocabulary};
pub use program::explain_program;

/// Two tables for an instruction word: its bits under the names of their fields, and a row for each field with bits, name, value and meaning. The word and
/// its text come first. A constant that sets up the VPM or its DMA is decoded as well.
pub fn explain(word: u64) -> String {
    let instruction = Instruction::decode(word);
    let bits = u128::from(word);
    let mut text = format!("{:#010x}, {:#010x}    {}\n", word as u32, word >> 32, Text(word));
    let kind = match instruction {
        Instruction::Alu(alu) if alu.sig == Signal::SmallImmediate => "ALU instruction with small immediate",
        Instruction::Alu(_) => Alu::TITLE,
        Instruction::LoadImmediate(_) => LoadImmediate::TITLE,
        Instruction::Semaphore(_) => Semaphore::TITLE,
        Instruction::Branch(_) => Branch::TITLE,
    };
    let _ = writeln!(text, "{kind}, word {word:#018x}");
    for half in [32..64, 0..32] {
        let fields: Vec<&Field> = instruction.fields().iter().filter(|field| half.contains(&field.lo)).collect();
        bit_rows(&mut text, &fields, bits);
    }
    field_table(&mut text, instruction.fields(), bits, |field, value| {
        let meaning = meaning(&instruction, field.name, value);
        let meaning = meaning.unwrap_or_else(|| field.meaning(bits).to_string());
        Some(match comment_on(&instruction, field.name, value as u8) {
            Some(comment) => format!("{meaning}: {comment}"),
            None => meaning,
        })
    });
    if let Instruction::LoadImmediate(load) = instruction {
        explain_setup(&mut text, &load);
    }
    text
}

/// The names of the fields, with the bits of each below in groups of four.
fn bit_rows(text: &mut String, fields: &[&Field], bits: u128) {
    let (mut names, mut values) = (String::new(), String::new());
    for field in fields {
        let mut value = String::new();
        for place in (0..field.width()).rev() {
            value.push(if bits >> (field.lo + place) & 1 == 1 { '1' } else { '0' });
            if place > 0 && place % 4 == 0 {
                value.push(' ');
            }
        }
        let width = value.len().max(field.name.len());
        let _ = write!(names, "  {:>width$}|", field.name);
        let _ = write!(values, "  {value:>width$}|");
    }
    let _ = writeln!(text, "{names}\n{values}");
}

/// A line for each field: bits, name, value, meaning.
fn field_table(text: &mut String, fields: &[Field], bits: u128, meaning: impl Fn(&Field, u64) -> Option<String>) {
    let _ = writeln!(text, "  {:<7} {:<10} {:>34}  meaning", "bits", "field", "value");
    for field in fields {
        let value = field.extract(bits);
        let width = field.width() as usize;
        let range = if field.hi == field.lo { format!("{}", field.hi) } else { format!("{}:{}", field.hi, field.lo) };
        let shown = if width > 8 { format!("{value:#x}") } else { format!("{value:0width$b}") };
        let decimal = if width > 1 { format!("{shown} = {value}") } else { shown };
        let meaning = meaning(field, value).unwrap_or_else(|| field.meaning(bits).to_string());
        let _ = writeln!(text, "  {range:<7} {:<10} {decimal:>34}  {meaning}", field.name);
    }
}

/// Decodes the constant of a load immediate whose target is one of the VPM's set-up registers.
fn explain_setup(text: &mut String, load: &LoadImmediate) {
    if load.kind != ImmediateKind::Word {
        return;
    }
    let word = load.immediate;
    let targets = Instruction::LoadImmediate(*load).accesses().writes.map(|write| write.target);
    let [read, write] = [WriteTarget::VpmVcdRdSetup, WriteTarget::VpmVcdWrSetup].map(|setup| targets.contains(&setup));
    let mut place = None;
    let found = match (read, write) {
        (true, _) => match ReadSetupWord::decode(word) {
            ReadSetupWord::Read(setup) => {
                place = Location::unpack(setup.address, setup.horizontal, setup.size);
                Some((ReadSetup::TITLE, ReadSetup::FIELDS))
            }
            ReadSetupWord::Load(_) => Some((LoadSetup::TITLE, LoadSetup::FIELDS)),
            ReadSetupWord::LoadStride(_) => Some((LoadStrideSetup::TITLE, LoadStrideSetup::FIELDS)),
            ReadSetupWord::Reserved(_) => None,
        },
        (false, true) => match WriteSetupWord::decode(word) {
            WriteSetupWord::Write(setup) => {
                place = Location::unpack(setup.address, setup.horizontal, setup.size);
                Some((WriteSetup::TITLE, WriteSetup::FIELDS))
            }
            WriteSetupWord::Store(_) => Some((StoreSetup::TITLE, StoreSetup::FIELDS)),
            WriteSetupWord::StoreStride(_) => Some((StoreStrideSetup::TITLE, StoreStrideSetup::FIELDS)),
            WriteSetupWord::Reserved(_) => None,
        },
        (false, false) => return,
    };
    match found {
        Some((title, fields)) => {
            let _ = writeln!(text, "{title}, word {word:#010x}");
            let place = place.map(|Location { y, x, part }| format!("row {y}, column {x}, part {part}"));
            field_table(text, fields, u128::from(word), |field, _| {
                let own = place.clone().filter(|_| field.name == "address");
                let what = field.doc.trim().trim_end_matches('.');
                Some(format!("{} ({what})", own.unwrap_or_else(|| field.meaning(u128::from(word)).to_string())))
            });
        }
        None => {
            let _ = writeln!(text, "{word:#010x} sets up nothing: its ID has no meaning");
        }
    }
}

/// The meaning of a field in this instruction, where it differs from the table of the field's values.
fn meaning(instruction: &Instruction, name: &str, value: u64) -> Option<String> {
    let value = value as u8;
    let immediate = |instruction: &Instruction| match instruction {
        Instruction::LoadImmediate(load) if load.kind == ImmediateKind::Word => {
            Some(format!("{} or {:?}", load.immediate as i32, f32::from_bits(load.immediate)))
        }
        _ => None,
    };
    let pm = match instruction {
        Instruction::Alu(alu) => alu.pm,
        Instruction::LoadImmediate(load) => load.pm,
        Instruction::Semaphore(semaphore) => semaphore.pm,
        Instruction::Branch(_) => false,
    };
    let [add, mul] = instruction.accesses().writes;
    let ws = add.file == File::B;
    Some(match name {
        "immediate" => return immediate(instruction),
        "waddr_add" => target(&add),
        "waddr_mul" => target(&mul),
        "ws" if ws => "add ALU writes to file B, mul ALU to file A".to_owned(),
        "ws" => "add ALU writes to file A, mul ALU to file B".to_owned(),
        "pm" if pm => "pack the mul result, unpack r4".to_owned(),
        "pm" => "pack and unpack register file A".to_owned(),
        "pack" if pm && value & PackMul::IGNORED != 0 => format!("{}; bit 3 is ignored", PackMul::of_field(value)),
        "pack" if pm => PackMul::of_field(value).to_string(),
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

/// What a field's value does, as a sentence.
fn comment_on(instruction: &Instruction, name: &str, value: u8) -> Option<&'static str> {
    let [add, mul] = instruction.accesses().writes;
    match name {
        "sig" => return Some(comment::signal(instruction.signal())),
        "waddr_add" => return comment::write(add.target),
        "waddr_mul" => return comment::write(mul.target),
        "cond_add" | "cond_mul" => return Some(comment::condition(Condition::from_code(value))),
        _ => {}
    }
    let Instruction::Alu(alu) = instruction else { return None };
    let is_immediate = alu.sig == Signal::SmallImmediate;
    match name {
        "op_add" => Some(comment::add_operation(alu.op_add)),
        "op_mul" => Some(comment::mul_operation(alu.op_mul)),
        "add_a" | "add_b" if !alu.op_add.acts() => Some("of no operation"),
        "add_b" if alu.op_add.is_unary() => Some("ignored, the operation has one operand"),
        "mul_a" | "mul_b" if !alu.op_mul.acts() => Some("of no operation"),
        "add_a" => comment::operand(alu.add_a, is_immediate),
        "add_b" => comment::operand(alu.add_b, is_immediate),
        "mul_a" => comment::operand(alu.mul_a, is_immediate),
        "mul_b" => comment::operand(alu.mul_b, is_immediate),
        "sf" if !alu.sf => Some("the flags stay as they are"),
        "sf" if instruction.accesses().flags == Some(FlagSource::Mul) => {
            Some("the mul ALU's result sets the flags Z, N and C of each element")
        }
        "sf" => Some("the add ALU's result sets the flags Z, N and C of each element"),
        "unpack" => Some(comment::unpack(Unpack::from_code(value))),
        "pack" if alu.pm => Some(comment::pack_mul(PackMul::of_field(value))),
        "raddr_a" => comment::read(ReadSource::of(File::A, value)),
        "raddr_b" if !is_immediate => comment::read(ReadSource::of(File::B, value)),
        _ => None,
    }
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

fn target(write: &accesses::Write) -> String {
    match write.target {
        WriteTarget::Register(number) => format!("r{}{number}", file_name(write.file)),
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
