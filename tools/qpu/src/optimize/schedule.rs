//! Schedules a basic block.
//!
//! A list scheduler: of all ready instructions, it places the one with the longest critical path, together with another that can be merged into the same
//! word. A variant prefers instructions that do not wait for a TMU.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use super::Line;
use super::effects::Effects;
use super::merge::merge_words;
use crate::check::facts::Facts;

/// Longest block that is scheduled; scheduling takes quadratic time.
const MAX_LENGTH: usize = 1024;

/// Latency of a TMU request in instructions, on a cache hit [vc4cl].
const TMU_LATENCY: usize = 9;

/// An instruction with its dependences.
struct Task {
    line: Line,
    effects: Effects,
    /// Predecessors in the dependence graph, with the minimum distance to each.
    needs: Vec<(usize, usize)>,
    /// The TMU request whose result it loads.
    request: Option<usize>,
    /// Length of the critical path from it to the end of the block.
    urgency: usize,
}

impl Task {
    /// Whether it can be executed without waiting for a TMU.
    fn comes_at_once(&self, placed: &[Option<usize>], now: usize) -> bool {
        self.request.and_then(|request| placed[request]).is_none_or(|asked| asked + TMU_LATENCY <= now)
    }
}

/// For each word, the index of the request whose result it loads, if that request is one of the words.
fn requests(words: impl Iterator<Item = u64>) -> Vec<Option<usize>> {
    let mut under_way = [VecDeque::new(), VecDeque::new()];
    let mut found = Vec::new();
    for (at, word) in words.enumerate() {
        let facts = Facts::of(word);
        let loads = facts.signal().loads_tmu();
        found.push(loads.and_then(|unit| under_way[usize::from(unit)].pop_front()));
        for (unit, queue) in (0..).zip(&mut under_way) {
            if facts.starts_lookup(unit) {
                queue.push_back(at);
            }
        }
    }
    found
}

/// Estimated execution time of words, in instructions: one for each, plus stalls for TMUs.
pub(super) fn time(lines: &[Line]) -> usize {
    let requests = requests(lines.iter().map(|line| line.word));
    let mut starts = Vec::with_capacity(lines.len());
    let mut now = 0;
    for request in requests {
        if let Some(&asked) = request.and_then(|at| starts.get(at)) {
            now = now.max(asked + TMU_LATENCY);
        }
        starts.push(now);
        now += 1;
    }
    now
}

/// The scheduled order.
pub(super) fn schedule(lines: &[Line], at_start: bool, patient: bool) -> Vec<Line> {
    if lines.len() > MAX_LENGTH {
        return lines.to_vec();
    }
    let mut tasks: Vec<Task> = lines
        .iter()
        .map(|&line| Task { line, effects: Effects::of(line.word), needs: Vec::new(), request: None, urgency: 0 })
        .filter(|task| !task.effects.is_nothing())
        .collect();
    if patient {
        let requests = requests(tasks.iter().map(|task| task.line.word));
        tasks.iter_mut().zip(requests).for_each(|(task, request)| task.request = request);
    }
    for later in 0..tasks.len() {
        for earlier in 0..later {
            if let Some(distance) = tasks[earlier].effects.distance_to(&tasks[later].effects) {
                tasks[later].needs.push((earlier, distance));
            }
        }
    }
    for later in (0..tasks.len()).rev() {
        for (earlier, distance) in tasks[later].needs.clone() {
            let distance = if tasks[later].request == Some(earlier) { TMU_LATENCY } else { distance };
            tasks[earlier].urgency = tasks[earlier].urgency.max(tasks[later].urgency + distance);
        }
    }

    let mut placed: Vec<Option<usize>> = vec![None; tasks.len()];
    let mut order: Vec<Line> = Vec::new();
    let mut left = tasks.len();
    while left > 0 {
        let now = order.len();
        let Some(first) = best(&tasks, &placed, now, at_start, |_| true) else {
            // No instruction is ready: insert a nop, with the source location of the previous word.
            let last = order.last().or(lines.first()).copied();
            order.extend(last.map(|line| line.as_nop()));
            continue;
        };
        placed[first] = Some(now);
        left -= 1;
        let mut line = tasks[first].line;
        let second = best(&tasks, &placed, now, at_start, |task: &Task| {
            task.comes_at_once(&placed, now) && merge_words(line.word, task.line.word).is_some()
        });
        if let Some(second) = second
            && let Some(word) = merge_words(line.word, tasks[second].line.word)
        {
            placed[second] = Some(now);
            left -= 1;
            line = Line { word, ..line };
        }
        order.push(line);
    }
    order
}

/// The ready task with the longest critical path. One that would stall for a TMU is chosen only if there is no other.
fn best(
    tasks: &[Task],
    placed: &[Option<usize>],
    now: usize,
    at_start: bool,
    fits: impl Fn(&Task) -> bool,
) -> Option<usize> {
    let ready = |task: &Task| {
        let early = at_start && now < 2 && task.effects.waits_for_scoreboard();
        !early && task.needs.iter().all(|&(earlier, distance)| placed[earlier].is_some_and(|at| at + distance <= now))
    };
    let mut best: Option<usize> = None;
    for (at, task) in tasks.iter().enumerate() {
        let rank = |task: &Task| (task.comes_at_once(placed, now), task.urgency);
        let better = best.is_none_or(|best| rank(task) > rank(&tasks[best]));
        if placed[at].is_none() && better && ready(task) && fits(task) {
            best = Some(at);
        }
    }
    best
}
