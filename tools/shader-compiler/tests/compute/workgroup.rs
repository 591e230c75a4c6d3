//! Invocations that wait for each other, share memory, and change words one at a time.

use crate::machine::{floats, program, run};

/// Sums of the halves of workgroups of so many invocations.
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

/// The work-efficient scan of GPU Gems 3, chapter 39: every element becomes the sum of those before it.
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

/// Each invocation has an array of its own, and an index that is not constant chooses between its elements.
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
