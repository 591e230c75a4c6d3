//! Atomic operations, compared with sequential execution on a table of words.

use std::cmp::Ordering;

use v3d_hw::BusAddr;
use v3d_sim::memory::OwnedMemory;

use super::machine::{Elements, MEMORY_BYTES, Operation};
use crate::machine;
use crate::samples::Random;
use crate::table::{Cost, LargestError};

/// The new value in memory, as a function of the old value, the data, and the value to compare with.
type Meaning = fn(u32, u32, u32) -> u32;

/// The ALU's order of floats: zeros are equal, and NaN is beyond the infinity of its sign [silicon].
fn order(memory: u32, data: u32) -> Ordering {
    if (memory | data) << 1 == 0 {
        return Ordering::Equal;
    }
    f32::from_bits(memory).total_cmp(&f32::from_bits(data))
}

/// The document's names, the macros, and their meanings: the document has no pseudo-code for them, but AMD's manuals of the instruction set have.
pub(super) const ATOMICS: [(&str, &str, Meaning); 17] = [
    ("IMAGE_ATOMIC_SWAP", "swap", |_, data, _| data),
    ("IMAGE_ATOMIC_CMPSWAP", "compare_swap", |memory, data, compared| if memory == compared { data } else { memory }),
    ("IMAGE_ATOMIC_ADD", "add", |memory, data, _| memory.wrapping_add(data)),
    ("IMAGE_ATOMIC_SUB", "sub", |memory, data, _| memory.wrapping_sub(data)),
    ("IMAGE_ATOMIC_RSUB", "reverse_sub", |memory, data, _| data.wrapping_sub(memory)),
    ("IMAGE_ATOMIC_SMIN", "signed_min", |memory, data, _| (memory as i32).min(data as i32) as u32),
    ("IMAGE_ATOMIC_UMIN", "unsigned_min", |memory, data, _| memory.min(data)),
    ("IMAGE_ATOMIC_SMAX", "signed_max", |memory, data, _| (memory as i32).max(data as i32) as u32),
    ("IMAGE_ATOMIC_UMAX", "unsigned_max", |memory, data, _| memory.max(data)),
    ("IMAGE_ATOMIC_AND", "and", |memory, data, _| memory & data),
    ("IMAGE_ATOMIC_OR", "or", |memory, data, _| memory | data),
    ("IMAGE_ATOMIC_XOR", "xor", |memory, data, _| memory ^ data),
    ("IMAGE_ATOMIC_INC", "increment", |memory, data, _| if memory >= data { 0 } else { memory + 1 }),
    ("IMAGE_ATOMIC_DEC", "decrement", |memory, data, _| if memory == 0 || memory > data { data } else { memory - 1 }),
    ("IMAGE_ATOMIC_FCMPSWAP", "float_compare_swap", |memory, data, compared| {
        if f32::from_bits(memory) == f32::from_bits(compared) { data } else { memory }
    }),
    ("IMAGE_ATOMIC_FMIN", "float_min", |memory, data, _| if order(memory, data).is_gt() { data } else { memory }),
    ("IMAGE_ATOMIC_FMAX", "float_max", |memory, data, _| if order(memory, data).is_gt() { memory } else { data }),
];

/// Neighbouring floats whose difference is denormal, denormals, zeros, infinities, NaN.
const UNUSUAL_FLOATS: [u32; 10] =
    [0x0080_0000, 0x0080_0001, 1, 0x8000_0001, 0, 0x8000_0000, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0xffc0_0000];
const WORDS: u32 = 0x4000;
/// Fewer than elements, so that several elements share a word.
const WORD_COUNT: u32 = 12;

/// Checks an operation, and measures it.
pub(super) fn check(name: &str, macro_name: &str, meaning: Meaning) -> (Cost, LargestError) {
    let definition = format!(".macro image_operation\nimage_atomic_{macro_name}\n.endm\n");
    let operation = Operation::new(name, &[26, 16, 17, 18], &definition, "", "image_atomic 3");
    let is_float = name.contains("_F");
    let mut random = Random::named(name);
    let mut cost = None;
    for run in 0..8 {
        let memory = OwnedMemory::new(MEMORY_BYTES);
        // Few different values, so that some are equal; or many, including those at the ends of the ranges.
        let mut value = || match (is_float, run % 2) {
            (true, 1) => UNUSUAL_FLOATS[random.below(10) as usize],
            (true, _) => [0.0f32, 1.5, -2.25, 1e30, -1e-30, 7.0][random.below(6) as usize].to_bits(),
            (false, 0) => random.below(3),
            (false, _) => match random.below(6) {
                0 => 0,
                1 => u32::MAX,
                2 => 0x8000_0000,
                3 => 0x7fff_ffff,
                _ => random.next(),
            },
        };
        let mut words: Vec<u32> = (0..WORD_COUNT).map(|_| value()).collect();
        let data: Elements = std::array::from_fn(|_| value());
        let compared: Elements = std::array::from_fn(|_| value());
        let places: Elements = std::array::from_fn(|_| random.below(WORD_COUNT));
        let at = |place: u32| WORDS + 4 * place;
        (0..).zip(&words).for_each(|(place, &word)| memory.view().set_word(BusAddr(at(place)), word).unwrap());
        let inputs = [places.map(at), data, compared, [0; 16]];
        let outcome = operation.run(&memory, &inputs, &[]);
        for n in 0..16 {
            let word = &mut words[places[n] as usize];
            assert_eq!(outcome.out[2][n], *word, "{name}: what element {n} found");
            *word = meaning(*word, data[n], compared[n]);
        }
        for (place, &word) in (0..).zip(&words) {
            assert_eq!(memory.view().word(BusAddr(at(place))).unwrap(), word, "{name}: word {place}");
        }
        assert_eq!([outcome.out[0], outcome.out[1]], [data, compared], "{name}: data stay");
        cost = Some(operation.cost(&memory, &inputs, &[]));
    }
    (cost.unwrap_or_else(|| panic!("{name} has not run")), LargestError::Exact)
}

/// Four QPUs add repeatedly to the same four words, in all of their elements: no addition is lost.
#[test]
fn qpus_share_words() {
    const QPUS: usize = 4;
    const TIMES: u32 = 5;
    let text = ".include <vc4.qinc>
        .include \"operations/image_atomic.qinc\"
        .macro image_operation
        image_atomic_add
        .endm
        and r0, elem_num, 3
        shl r0, r0, 2
        add ra26, r0, unif
        mov ra16, unif
        mov ra17, 0
        mov ra18, 0
        mov ra31, unif
        nop
        :again
        image_atomic 3
        mov r0, ra31
        sub.setf ra31, r0, 1
        brr.anynz -, r:again
        nop
        nop
        nop
        thrend
        nop
        nop
";
    let assembly = machine::assemble("several QPUs", text).unwrap();
    machine::check(&assembly).unwrap();
    let start = [5, 0, u32::MAX, 1 << 31];
    let uniforms: Vec<Vec<u32>> = (0..QPUS as u32).map(|qpu| vec![machine::DATA, 1 + qpu, TIMES]).collect();
    let run = machine::run(&assembly.words, &start, 0, &uniforms).unwrap();
    let added = (1..=QPUS as u32).sum::<u32>() * TIMES * 4;
    for (n, start) in (0..).zip(start) {
        let word = run.memory.view().word(BusAddr(machine::DATA + 4 * n)).unwrap();
        assert_eq!(word, start.wrapping_add(added), "word {n}");
    }
}
