//! Reads and writes of memory.

use shader_interface::f16;

use crate::machine::{floats, program, run};

#[test]
fn saxpy_is_what_rust_says_at_every_length() {
    let program = program(
        "struct Parameters { factor: f32 }
        @group(0) @binding(0) var<uniform> parameters: Parameters;
        @group(0) @binding(1) var<storage, read> x: array<f32>;
        @group(0) @binding(2) var<storage, read_write> y: array<f32>;
        @compute @workgroup_size(64) fn cs_main(@builtin(global_invocation_id) id: vec3<u32>) {
            if (id.x < arrayLength(&y)) { y[id.x] = parameters.factor * x[id.x] + y[id.x]; }
        }",
    );
    for length in [1usize, 15, 16, 17, 64, 100, 1000] {
        let x = (0..length).map(|at| at as f32 * 0.5);
        let y = (0..length).map(|at| 100.0 - at as f32);
        let expected = floats(x.clone().zip(y.clone()).map(|(x, y)| 2.5 * x + y));
        let groups = [length.div_ceil(64) as u32, 1, 1];
        let found = run(&program, groups, &[floats([2.5])], &[floats(x), floats(y)]);
        assert_eq!(found.buffers[1], expected, "{length} elements");
    }
}

/// Runs a program with a buffer `out` of `length` words, initially 7777, and other buffers; returns its words afterwards.
fn written(source: &str, groups: [u32; 3], length: usize, others: &[Vec<u32>]) -> Vec<u32> {
    let program = program(source);
    let mut buffers = vec![vec![7777; length]];
    buffers.extend_from_slice(others);
    run(&program, groups, &[], &buffers).buffers.swap_remove(0)
}

#[test]
fn numbers_of_invocations_are_right_along_three_axes() {
    for (size, groups) in
        [([4, 3, 2], [3u32, 2, 2]), ([5, 1, 1], [7, 1, 1]), ([8, 8, 1], [2, 3, 1]), ([1, 1, 20], [1, 2, 3])]
    {
        let source = format!(
            "@group(0) @binding(0) var<storage, read_write> out: array<vec4<u32>>;
            @compute @workgroup_size({}, {}, {}) fn cs_main(
                @builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>,
                @builtin(local_invocation_index) index: u32, @builtin(workgroup_id) group: vec3<u32>,
                @builtin(num_workgroups) count: vec3<u32>,
            ) {{
                let width = {}u * count.x; let height = {}u * count.y;
                let numbers = (local.x * 100u + local.y) * 100u + local.z;
                let groups = (group.x * 100u + group.y) * 100u + group.z;
                out[(id.z * height + id.y) * width + id.x] = vec4(numbers, index, groups, id.x + id.y * 100u + id.z * 10000u);
            }}",
            size[0], size[1], size[2], size[0], size[1]
        );
        let [width, height, depth] = std::array::from_fn(|axis| size[axis] * groups[axis]);
        let mut expected = Vec::new();
        for z in 0..depth {
            for y in 0..height {
                for x in 0..width {
                    let local = [x % size[0], y % size[1], z % size[2]];
                    expected.push((local[0] * 100 + local[1]) * 100 + local[2]);
                    expected.push((local[2] * size[1] + local[1]) * size[0] + local[0]);
                    expected.push((x / size[0] * 100 + y / size[1]) * 100 + z / size[2]);
                    expected.push(x + y * 100 + z * 10000);
                }
            }
        }
        assert_eq!(written(&source, groups, expected.len(), &[]), expected, "{size:?} {groups:?}");
    }
}

#[test]
fn elements_that_take_no_part_write_nothing() {
    let source = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(48) fn cs_main(@builtin(global_invocation_id) id: vec3<u32>) {
            if (id.x % 3u == 1u) { return; }
            if (id.x % 5u == 2u) { out[id.x] = 1u; } else { out[(id.x * 7u) % 96u] = id.x; }
        }";
    let mut expected = vec![7777; 96];
    for x in 0..96u32 {
        match (x % 3, x % 5) {
            (1, _) => {}
            // Several invocations write the same value there, so the order does not matter.
            (_, 2) => expected[x as usize] = 1,
            _ => expected[(x * 7 % 96) as usize] = x,
        }
    }
    let writers = |place: u32| {
        (0..96u32).filter(|x| x % 3 != 1).filter(|x| if x % 5 == 2 { *x == place } else { x * 7 % 96 == place }).count()
    };
    let found = written(source, [2, 1, 1], 96, &[]);
    for place in 0..96u32 {
        if writers(place) < 2 {
            assert_eq!(found[place as usize], expected[place as usize], "word {place}");
        }
    }
}

#[test]
fn structures_have_their_places_in_memory() {
    let source = "struct Item { kind: u32, at: vec3<f32>, sides: array<i32, 3>, turn: mat2x3<f32> }
        struct All { count: u32, scale: f32, items: array<Item> }
        @group(0) @binding(0) var<storage, read_write> out: All;
        @group(0) @binding(1) var<storage, read> given: All;
        @compute @workgroup_size(16) fn cs_main(@builtin(global_invocation_id) id: vec3<u32>) {
            if (id.x == 0u) { out.count = arrayLength(&given.items); }
            let item = given.items[id.x];
            out.items[id.x].kind = item.kind + given.count;
            out.items[id.x].at = item.at * given.scale;
            out.items[id.x].sides = item.sides;
            out.items[id.x].sides[id.x % 3u] = -1;
            out.items[id.x].turn = item.turn * 2.0;
        }";
    // count, scale, two words of padding; kind, 3 of padding, at, sides behind it (offset 28), turn at 48 with columns of 16 bytes: 80 bytes.
    let (first, words, items) = (4usize, 20usize, 40usize);
    let mut from: Vec<u32> = vec![5, 3f32.to_bits(), 0, 0];
    for item in 0..items as u32 {
        for word in 0..words as u32 {
            from.push(match word {
                0 | 7..10 => item * 100 + word,
                _ => ((item * 100 + word) as f32).to_bits(),
            });
        }
    }
    let mut expected = vec![7777; first + words * 32];
    expected[0] = items as u32;
    for item in 0..32usize {
        let (out, from) = (&mut expected[first + words * item..], &from[first + words * item..]);
        let scaled = |word: u32, factor: f32| (f32::from_bits(word) * factor).to_bits();
        out[0] = from[0] + 5;
        (4..7).for_each(|at| out[at] = scaled(from[at], 3.0));
        out[7..10].copy_from_slice(&from[7..10]);
        out[7 + item % 3] = u32::MAX;
        for at in [12, 13, 14, 16, 17, 18] {
            out[at] = scaled(from[at], 2.0);
        }
    }
    assert_eq!(written(source, [2, 1, 1], expected.len(), &[from]), expected);
}

#[test]
fn indices_outside_stay_inside_when_read_and_write_nothing() {
    let source = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @group(0) @binding(1) var<storage, read> given: array<u32>;
        @group(0) @binding(2) var<storage, read> places: array<u32>;
        @compute @workgroup_size(16) fn cs_main(@builtin(local_invocation_index) i: u32) {
            out[i] = given[places[i]];
            out[places[i] + 16u] = 1u;
        }";
    let places: Vec<u32> =
        vec![0, 1, 4, 5, 6, 1000, 0x4000_0000, 0x8000_0000, 0xffff_ff00, 2, 3, 4, 7, 8, 0x3fff_ffff, 9];
    let from: Vec<u32> = (100..105).collect();
    let found = written(source, [1, 1, 1], 20, &[from.clone(), places.clone()]);
    for (at, place) in places.iter().enumerate() {
        match from.get(*place as usize) {
            Some(word) => assert_eq!(found[at], *word),
            None => assert!(from.contains(&found[at]), "{place} reads {}", found[at]),
        }
    }
    assert_eq!(found[16..], [1, 1, 1, 1]);
}

#[test]
fn what_an_invocation_has_written_it_reads() {
    let source = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(16) fn cs_main(@builtin(global_invocation_id) id: vec3<u32>) {
            var sum = out[id.x] - 7777u;
            for (var turn = 0u; turn < 70u + id.x % 7u; turn++) {
                let at = (id.x * 5u + turn * 16u) % 80u;
                out[id.x] = sum + turn;
                sum = out[id.x] ^ 1u;
            }
            out[id.x] += 3u;
        }";
    let expected: Vec<u32> = (0..80u32)
        .map(|x| (0..70 + x % 7).fold(0, |sum: u32, turn| (sum + turn) ^ 1).wrapping_add(0))
        .zip(0..80u32)
        .map(|(sum, _)| (sum ^ 1) + 3)
        .collect();
    assert_eq!(written(source, [5, 1, 1], 80, &[]), expected);
}

/// 16-bit floats as words, the first of two in the lower half.
fn halves(numbers: &[f32]) -> Vec<u32> {
    let bits = |number: f32| u32::from(f16::from_f32(number).to_bits());
    numbers.chunks(2).map(|pair| bits(pair[0]) | bits(pair[1]) << 16).collect()
}

#[test]
fn halves_are_stored_two_in_a_word() {
    let source = "enable f16;
        struct Item { a: vec4<f16>, b: f32, c: f16, d: f16 }
        @group(0) @binding(0) var<storage, read_write> out: array<Item>;
        @group(0) @binding(1) var<storage, read> given: array<f16>;
        @compute @workgroup_size(16) fn cs_main(@builtin(global_invocation_id) id: vec3<u32>) {
            let at = id.x * 3u;
            out[id.x] = Item(vec4(given[at], given[at + 1u], given[at + 2u], 0.5h), f32(given[at]), given[at] + 1.0h, -1.0h);
            out[id.x].a = out[id.x].a * 2.0h;
        }";
    let numbers: Vec<f32> = (0..96).map(|at| at as f32 * 0.5 - 10.0).collect();
    let expected: Vec<u32> = numbers
        .chunks(3)
        .flat_map(|n| {
            let mut words = halves(&[2.0 * n[0], 2.0 * n[1], 2.0 * n[2], 1.0]);
            words.push((n[0] + 0.0).to_bits());
            words.extend(halves(&[n[0] + 1.0, -1.0]));
            words
        })
        .collect();
    let found = written(source, [2, 1, 1], expected.len(), &[halves(&numbers)]);
    assert_eq!(found, expected);
}
