//! Dead code elimination.

use alloc::vec;
use alloc::vec::Vec;

use crate::ssa::{Op, Program, Step, Value};

/// Removes unused computations and loops, and the masking of loop-carried values that are not used after their loop.
pub(crate) fn eliminate_dead(program: &mut Program) {
    let mut used = vec![false; program.values.len()];
    let mut live_loops = vec![false; program.loops.len()];
    let mut work: Vec<Value> = Vec::new();
    for step in &program.steps {
        if let Step::Compute(value) = *step
            && program.has_effect(value)
        {
            work.push(value);
        }
    }
    // For each value, the loops that it is in.
    let mut around: Vec<Vec<u32>> = vec![Vec::new(); program.values.len()];
    let mut open = Vec::new();
    for step in &program.steps {
        match *step {
            Step::Begin(number) => open.push(number),
            Step::End(_) => {
                open.pop();
            }
            Step::Compute(value) => around[value.index()].clone_from(&open),
        }
    }
    // For each loop-carried value, whether it is used after the loop.
    let mut left: Vec<Vec<bool>> = program.loops.iter().map(|data| vec![false; data.carried.len()]).collect();
    while let Some(value) = work.pop() {
        if core::mem::replace(&mut used[value.index()], true) {
            continue;
        }
        let op = program.op(value);
        work.extend(program.operands(&op));
        let mut loops = around[value.index()].clone();
        match op {
            Op::Carried(number, index) => {
                loops.push(number);
                let carried = program.loops[number as usize].carried[index as usize];
                let kept = index == 0 || left[number as usize][index as usize];
                work.extend([carried.init, if kept { carried.next } else { carried.next_inside }]);
            }
            Op::Left(number, index) => {
                loops.push(number);
                let carried = program.loops[number as usize].carried[index as usize];
                if !core::mem::replace(&mut left[number as usize][index as usize], true) {
                    work.extend([carried.value, carried.init, carried.next]);
                }
            }
            _ => {}
        }
        for number in loops {
            if !core::mem::replace(&mut live_loops[number as usize], true) {
                work.extend(program.loops[number as usize].again);
            }
        }
    }
    program.steps.retain(|step| match *step {
        Step::Compute(value) => used[value.index()],
        Step::Begin(number) | Step::End(number) => live_loops[number as usize],
    });
    for (data, left) in program.loops.iter_mut().zip(left) {
        for (index, carried) in data.carried.iter_mut().enumerate() {
            if index != 0 && !left[index] {
                carried.next = carried.next_inside;
            }
        }
        // An unused value is not carried; its entry remains, so that indices are unchanged.
        for carried in &mut data.carried {
            if !used[carried.value.index()] {
                carried.next = carried.value;
                carried.init = carried.value;
            }
        }
    }
}
