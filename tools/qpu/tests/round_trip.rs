//! Words -> text -> words.
//!
//! The text of an instruction, where it is said to be exact, must assemble to the same 64 bits; the disassembly of any words must too.
#![cfg(feature = "model")]

use qpu::disassembler::Style;
use qpu::{Options, Source, assemble, disassemble};
use v3d_hw::qpu::Instruction;
use v3d_sim::random::Random;

fn check(words: &[u64]) {
    let text = disassemble(words, Style::default());
    let result = assemble(&[Source::new("words", text.clone())], &Options::default());
    let assembly = result.unwrap_or_else(|diagnostics| {
        let shown: String = diagnostics.to_string().chars().take(3000).collect();
        panic!("the disassembly does not assemble:\n{shown}")
    });
    assert_eq!(assembly.words.len(), words.len());
    let mut failures = 0;
    for (at, (&word, &again)) in words.iter().zip(&assembly.words).enumerate() {
        if word != again {
            eprintln!("{at}: {word:016x} -> {again:016x}: {}", qpu_text::Text(word));
            failures += 1;
        }
    }
    assert_eq!(failures, 0, "words changed");
}

/// Share of the words that have an exact text; a test without any would say nothing.
fn exact(words: &[u64]) -> usize {
    words.iter().filter(|&&word| qpu_text::has_exact_text(word)).count()
}

#[test]
fn random_words() {
    let words: Vec<u64> = (0..50_000).map(|seed| Random::new(0, seed).next_u64()).collect();
    check(&words);
}

/// Random values in all fields, but unused ones at their default: most of these have a text.
fn plausible(seed: u64) -> u64 {
    let mut random = Random::new(1, seed);
    let (r, s) = (random.next_u64(), random.next_u64());
    let field = |hi: u32, lo: u32, value: u64| (value & ((1 << (hi - lo + 1)) - 1)) << lo;
    let pick = |n: u32| s >> n & 1 != 0;
    let sig = match s & 7 {
        0..3 => 1,
        3 => 13,
        4 => r >> 3 & 15,
        5 => 14,
        6 => 13,
        _ => 1,
    };
    let mut word = field(63, 60, sig);
    let waddr = |nop: bool, bits: u64| if nop { 39 } else { bits & 63 };
    let (nop_add, nop_mul) = (pick(8), pick(9));
    let (add_op, mul_op) = (if nop_add { 0 } else { r >> 8 & 31 }, if nop_mul { 0 } else { r >> 13 & 7 });
    let cond = |never: bool, bits: u64| {
        if never {
            0
        } else if bits & 8 != 0 {
            1
        } else {
            bits & 7
        }
    };
    let (waddr_add, waddr_mul) = (waddr(nop_add || pick(10), r >> 16), waddr(nop_mul || pick(11), r >> 22));
    word |= field(51, 49, cond(waddr_add == 39, r >> 28)) | field(48, 46, cond(waddr_mul == 39, r >> 32));
    word |= field(45, 45, u64::from(pick(12) && pick(13))) | field(44, 44, s >> 14);
    word |= field(43, 38, waddr_add) | field(37, 32, waddr_mul);
    if pick(15) && pick(16) {
        word |= field(59, 57, r >> 36) | field(56, 56, r >> 39) | field(55, 52, r >> 40);
    }
    if sig == 14 {
        return word | (r >> 20 & 0xffff_ffff);
    }
    word |= field(31, 29, mul_op) | field(28, 24, add_op);
    let mux = |nop: bool, bits: u64| if nop { 0 } else { bits & 7 };
    word |= field(11, 9, mux(nop_add, r >> 44)) | field(8, 6, mux(nop_add, r >> 47));
    word |= field(5, 3, mux(nop_mul, r >> 50)) | field(2, 0, mux(nop_mul, r >> 53));
    let raddr_a = if pick(17) { 39 } else { r >> 56 & 63 };
    let raddr_b = if pick(18) && sig != 13 { 39 } else { s >> 20 & 63 };
    word | field(23, 18, raddr_a) | field(17, 12, raddr_b)
}

#[test]
fn plausible_words() {
    let words: Vec<u64> = (0..200_000).map(plausible).collect();
    let exact = exact(&words);
    assert!(exact > words.len() / 3, "only {exact} of {} have an exact text", words.len());
    check(&words);
}

#[test]
fn every_value_of_every_field() {
    // A word of each kind in which nothing is unusual; each field takes all its values, the wide ones every bit.
    let bases = [
        0x1000_09e7_009e_7000, // nop
        0x1002_4821_049e_7089, // add and mul operation on accumulators
        0x1002_4821_a115_1c37, // register operands
        0xd002_0827_0c9c_51c0, // small immediate
        0xe002_0827_3f80_0000, // load immediate
        0xe200_09e7_0000_0000,
        0xe800_09e7_0000_0013, // semaphore
        0xf0f8_09e7_0000_0010, // branch
    ];
    let mut words = Vec::new();
    for base in bases {
        for field in Instruction::decode(base).fields() {
            for value in 0..1u64 << field.width().min(8) {
                for shift in [0, field.width().saturating_sub(8)] {
                    let mask = ((1u128 << field.width()) - 1) as u64;
                    words.push(base & !(mask << field.lo) | (value << shift & mask) << field.lo);
                }
            }
        }
    }
    words.dedup();
    check(&words);
}
