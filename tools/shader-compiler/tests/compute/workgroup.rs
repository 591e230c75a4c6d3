//! Barriers, workgroup memory, and atomic operations.

use v3d_sim::random::Random;

use crate::machine::{floats, program, run};

/// Parallel sums in workgroups of `size` invocations.
fn check_sum(size: u32, groups: u32) {
    let source = format!(
        "var<workgroup> sums: array<u32, {size}>;
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @group(0) @binding(1) var<storage, read> given: array<u32>;
        @compute @workgroup_size({size}) fn cs_main(
            @builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3<u32>,
        ) {{
            sums[i] += given[id.x];
            workgroupBarrier();
            for (var half = {size}u / 2u; half > 0u; half /= 2u) {{
                if (i < half) {{ sums[i] += sums[i + half]; }}
                workgroupBarrier();
            }}
            if (i == 0u) {{ out[group.x] = sums[0]; }}
        }}"
    );
    let from: Vec<u32> = (0..size * groups).map(|at| at * at % 1009).collect();
    let expected: Vec<u32> = from.chunks(size as usize).map(|chunk| chunk.iter().sum()).collect();
    let program = program(&source);
    let found = run(&program, [groups, 1, 1], &[], &[vec![0; groups as usize], from]);
    assert_eq!(found.buffers[0], expected, "{size} invocations");
}

#[test]
fn workgroups_add_up_in_shared_memory() {
    check_sum(16, 30);
    check_sum(8, 5);
    check_sum(64, 7);
    check_sum(128, 3);
}

#[test]
fn twelve_programs_wait_for_each_other() {
    let source = "var<workgroup> turns: array<u32, 192>;
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(192) fn cs_main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3<u32>) {
            turns[i] = i + group.x;
            for (var turn = 0u; turn < 20u; turn++) {
                workgroupBarrier();
                let neighbour = turns[(i + 17u) % 192u];
                workgroupBarrier();
                turns[i] = neighbour + 1u;
            }
            out[group.x * 192u + i] = turns[i];
        }";
    let expected: Vec<u32> = (0..3).flat_map(|group| (0..192).map(move |i| (i + 340) % 192 + group + 20)).collect();
    let found = run(&program(source), [3, 1, 1], &[], &[vec![0; 576]]);
    assert_eq!(found.buffers[0], expected);
}

#[test]
fn atomic_operations_lose_nothing() {
    let source = "struct Counts {
            all: atomic<u32>, least: atomic<i32>, most: atomic<u32>, bits: atomic<u32>,
            both: atomic<u32>, odd: atomic<u32>, down: atomic<i32>,
        }
        @group(0) @binding(0) var<storage, read_write> counts: Counts;
        @group(0) @binding(1) var<storage, read_write> seen: array<atomic<u32>>;
        @compute @workgroup_size(40) fn cs_main(@builtin(global_invocation_id) id: vec3<u32>) {
            let number = atomicAdd(&counts.all, 1u);
            atomicAdd(&seen[number], 1u);
            atomicMin(&counts.least, 50 - i32(id.x));
            atomicMax(&counts.most, id.x * 0x1000000u);
            atomicOr(&counts.bits, 1u << (id.x % 20u));
            atomicAnd(&counts.both, ~(1u << (id.x % 9u)));
            if (id.x % 2u == 1u) { atomicXor(&counts.odd, id.x); atomicSub(&counts.down, i32(id.x)); }
        }";
    let (groups, all) = (5, 200u32);
    let start = vec![0, 1000, 0, 0, u32::MAX, 0, 0];
    let found = run(&program(source), [groups, 1, 1], &[], &[start, vec![0; 200]]);
    let odd = (0..all).filter(|id| id % 2 == 1);
    let (xor, down) = (odd.clone().fold(0, |sum, id| sum ^ id), -(odd.map(|id| id as i32).sum::<i32>()));
    let most = (0..all).map(|id| id * 0x100_0000).max().unwrap();
    let expected = [all, (50 - 199i32) as u32, most, (1 << 20) - 1, !0x1ff, xor, down as u32];
    assert_eq!(found.buffers[0], expected);
    assert_eq!(found.buffers[1], [1; 200], "each number is given once");
}

#[test]
fn one_invocation_wins_an_exchange() {
    let source = "@group(0) @binding(0) var<storage, read_write> lock: atomic<u32>;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(32) fn cs_main(@builtin(global_invocation_id) id: vec3<u32>) {
            let result = atomicCompareExchangeWeak(&lock, 5u, 100u + id.x);
            out[id.x] = select(0u, 1u, result.exchanged) + 2u * u32(result.old_value == 5u);
            if (id.x == 70u) { atomicStore(&lock, 5u); }
            out[id.x + 96u] = atomicExchange(&lock, atomicLoad(&lock));
        }";
    let found = run(&program(source), [3, 1, 1], &[], &[vec![5], vec![9; 192]]);
    let winners = found.buffers[1][..96].iter().filter(|word| **word == 3).count();
    assert!((1..=2).contains(&winners), "{:?}", found.buffers[1]);
    assert!(found.buffers[1][..96].iter().all(|word| [0, 3].contains(word)));
    assert!(found.buffers[1][96..].iter().all(|word| *word == 5 || (100..196).contains(word)));
}

/// The work-efficient scan of GPU Gems 3, chapter 39: every element becomes the sum of its predecessors.
#[test]
fn a_prefix_sum_is_in_shared_memory() {
    let from: Vec<u32> = (0..128 * 3).map(|at| at * at % 1009).collect();
    let before = |chunk: &[u32]| -> Vec<u32> {
        chunk.iter().scan(0, |sum, word| Some(std::mem::replace(sum, *sum + word))).collect()
    };
    let expected: Vec<u32> = from.chunks(128).flat_map(before).collect();
    let program = program(include_str!("workgroup/prefix_sum.wgsl"));
    let found = run(&program, [3, 1, 1], &[], &[from, vec![0; 384]]);
    assert_eq!(found.buffers[1], expected);
}

/// Each invocation has a private array with a dynamic index.
#[test]
fn invocations_have_prefix_sums_of_their_own() {
    let source = "@group(0) @binding(0) var<storage, read> given: array<f32>;
        @group(0) @binding(1) var<storage, read_write> out: array<f32>;
        @compute @workgroup_size(16) fn cs_main(@builtin(global_invocation_id) id: vec3<u32>) {
            var own: array<f32, 16>;
            var sum = 0.0;
            for (var i = 0u; i < 16u; i++) { sum += given[id.x * 16u + i]; own[i] = sum; }
            for (var i = 0u; i < 16u; i++) { out[id.x * 16u + i] = own[15u - i] + sum; }
        }";
    let from: Vec<f32> = (0..512).map(|at| (at * at % 101) as f32).collect();
    let sums = |chunk: &[f32]| -> Vec<f32> {
        let sums: Vec<f32> = (1..=16).map(|count| chunk[..count].iter().sum()).collect();
        sums.iter().rev().map(|sum| sum + sums[15]).collect()
    };
    let expected = floats(from.chunks(16).flat_map(sums));
    let found = run(&program(source), [2, 1, 1], &[], &[floats(from), vec![0; 512]]);
    assert_eq!(found.buffers[1], expected);
}

/// Products of the same matrices by tiles, in the VPM and, with an array too long for it, in main memory, and without tiles: equal, and the instructions that
/// each executes, printed by `cargo test -p shader-compiler --test compute products -- --nocapture`.
#[test]
fn products_of_matrices_by_tiles_are_those_by_elements() {
    const SIDE: usize = 64;
    let left: Vec<f32> = (0..SIDE * SIDE).map(|at| (at * 7 % 13) as f32 - 6.0).collect();
    let right: Vec<f32> = (0..SIDE * SIDE).map(|at| (at * 5 % 11) as f32 - 5.0).collect();
    let element = |at: usize| (0..SIDE).map(|k| left[at / SIDE * SIDE + k] * right[k * SIDE + at % SIDE]).sum();
    let expected = floats((0..SIDE * SIDE).map(element));
    let tiled = include_str!("workgroup/tiled_product.wgsl");
    let in_memory = tiled.replace("right_tile: array<f32, 64>", "right_tile: array<f32, 1024>");
    for (name, source, in_vpm) in [
        ("tiled", tiled, true),
        ("tiled, in main memory,", &in_memory, false),
        ("plain", include_str!("workgroup/plain_product.wgsl"), false),
    ] {
        let program = program(source);
        assert_eq!(program.interface.workgroups.vpm_rows > 0, in_vpm, "{name}");
        let buffers = [floats(left.clone()), floats(right.clone()), vec![0; SIDE * SIDE]];
        let found = run(&program, [8, 8, 1], &[vec![8]], &buffers);
        assert_eq!(found.buffers[2], expected, "{name}");
        println!("{name} product: {} instructions, {} executed", program.words.len(), found.instructions);
    }
}

/// Random programs with workgroup memory; the variable `SHAPES` may name another range, as in `SHAPES=60..500`.
const SHAPES: std::ops::Range<u64> = 0..240;
const SHAPES_SUITE: u64 = 0x7690;

/// An index into a workgroup's memory: its text in WGSL, and what it is for an invocation in a turn.
struct Index {
    text: String,
    value: Box<dyn Fn(u32, u32) -> u32>,
}

/// An index of a workgroup of so many invocations, in tiles of a width, below a length.
fn index(random: &mut Random, size: u32, width: u32, length: u32) -> Index {
    let (add, factor) = (random.below(length), 1 + random.below(7));
    let make = |text: String, value: Box<dyn Fn(u32, u32) -> u32>| Index { text, value };
    let index = match random.below(9) {
        0 => make("i".to_owned(), Box::new(|i, _| i)),
        1 => {
            let text = format!("i / {width}u * {width}u + {}u", add % width);
            make(text, Box::new(move |i, _| i / width * width + add % width))
        }
        2 => {
            let row = add % (size / width);
            make(format!("{}u + i % {width}u", row * width), Box::new(move |i, _| row * width + i % width))
        }
        3 => {
            let text = format!("i / {width}u * {width}u + turn % {width}u");
            make(text, Box::new(move |i, turn| i / width * width + turn % width))
        }
        4 => {
            let text = format!("turn % {}u * {width}u + i % {width}u", size / width);
            make(text, Box::new(move |i, turn| turn % (size / width) * width + i % width))
        }
        5 => make(format!("(i + {add}u) % {length}u"), Box::new(move |i, _| (i + add) % length)),
        6 => make(format!("(i * {factor}u + turn) % {length}u"), Box::new(move |i, turn| (i * factor + turn) % length)),
        7 => make(format!("{add}u"), Box::new(move |_, _| add)),
        _ => make(format!("({} - i)", size - 1), Box::new(move |i, _| size - 1 - i)),
    };
    let Index { text, value } = index;
    Index { text: format!("({text})"), value: Box::new(move |i, turn| value(i, turn) % length) }
}

/// Stores to, loads from and changes of words of many shapes, in turns with barriers between, are what plain Rust makes of them: of the VPM where all of the
/// memory fits, and of main memory where it does not.
#[test]
fn shapes_of_accesses_are_what_rust_says() {
    let own = std::env::var("SHAPES").ok();
    let bounds = own.as_deref().and_then(|range| range.split_once(".."));
    let range = bounds.map_or(SHAPES, |(least, end)| least.parse().unwrap()..end.parse().unwrap());
    let (mut in_vpm, mut in_memory) = (0, 0);
    for number in range {
        let random = &mut Random::new(SHAPES_SUITE, number);
        let sizes = [(16, 4), (16, 8), (12, 4), (64, 8), (128, 16), (40, 8), (192, 16), (96, 32)];
        let (size, width) = random.pick(&sizes);
        let length = size + random.below(3) * 16;
        // A second array that fits, or does not.
        let spare = if random.one_in(4) { 1024 } else { 16 };
        let turns = 1 + random.below(3);
        let known = random.one_in(2);
        let (to, from, other) = (
            index(random, size, width, length),
            index(random, size, width, length),
            index(random, size, width, length),
        );
        let least = random.below(size);
        let condition = random.pick(&["true", "i >= least", "(i & 1u) == turn % 2u"]);
        let takes_part = |i: u32, turn: u32| match condition {
            "true" => true,
            "i >= least" => i >= least,
            _ => i & 1 == turn % 2,
        };
        let bound = if known { format!("{turns}u") } else { "parameters.turns".to_owned() };
        let (to_text, from_text, other_text) = (&to.text, &from.text, &other.text);
        let source = format!(
            "struct Parameters {{ turns: u32 }}
            @group(0) @binding(0) var<uniform> parameters: Parameters;
            @group(0) @binding(1) var<storage, read_write> out: array<u32>;
            var<workgroup> words: array<u32, {length}>;
            var<workgroup> spare: array<u32, {spare}>;
            var<workgroup> counts: array<atomic<u32>, {length}>;
            @compute @workgroup_size({size}) fn cs_main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3<u32>) {{
                let least = {least}u;
                words[i] = i * 3u + group.x;
                if (i < {spare}u) {{ spare[i] = i ^ 5u; }}
                workgroupBarrier();
                var sum = 0u;
                for (var turn = 0u; turn < {bound}; turn++) {{
                    let a = words[{from_text}] + spare[i % {spare}u];
                    let b = words[{other_text}];
                    workgroupBarrier();
                    if ({condition}) {{
                        // Several invocations may store to the same word: each the same.
                        words[{to_text}] = {to_text} * 5u + turn;
                        atomicAdd(&counts[{other_text}], a);
                    }}
                    workgroupBarrier();
                    sum = sum * 31u + a + b * 7u + atomicLoad(&counts[{from_text}]);
                }}
                workgroupBarrier();
                out[group.x * {size}u + i] = sum ^ words[i];
            }}"
        );
        let program = program(&source);
        let is_in_vpm = program.interface.workgroups.vpm_rows > 0;
        if is_in_vpm {
            in_vpm += 1
        } else {
            in_memory += 1
        }
        let groups = 5;
        let mut expected = Vec::new();
        for group in 0..groups {
            let (mut words, mut counts) = (vec![0u32; length as usize], vec![0u32; length as usize]);
            let mut sums = vec![0u32; size as usize];
            (0..size).for_each(|i| words[i as usize] = i * 3 + group);
            for turn in 0..turns {
                let spares = |i: u32| if i % spare < size.min(spare) { (i % spare) ^ 5 } else { 0 };
                let at = |index: &Index, i: u32| (index.value)(i, turn) as usize;
                let read: Vec<(u32, u32)> =
                    (0..size).map(|i| (words[at(&from, i)].wrapping_add(spares(i)), words[at(&other, i)])).collect();
                for i in (0..size).filter(|i| takes_part(*i, turn)) {
                    words[at(&to, i)] = at(&to, i) as u32 * 5 + turn;
                    counts[at(&other, i)] = counts[at(&other, i)].wrapping_add(read[i as usize].0);
                }
                for i in 0..size {
                    let (a, b) = read[i as usize];
                    let sum = &mut sums[i as usize];
                    *sum = sum.wrapping_mul(31).wrapping_add(a).wrapping_add(b.wrapping_mul(7));
                    *sum = sum.wrapping_add(counts[at(&from, i)]);
                }
            }
            expected.extend((0..size as usize).map(|i| sums[i] ^ words[i]));
        }
        let found = run(&program, [groups, 1, 1], &[vec![turns]], &[vec![0; expected.len()]]);
        assert_eq!(
            found.buffers[0], expected,
            "shape {number} of {size} invocations, in the VPM: {is_in_vpm}\n{source}"
        );
    }
    assert!(own.is_some() || in_vpm > 10 && in_memory > 10, "{in_vpm} in the VPM, {in_memory} in memory");
}
