//! The order of a block.
//!
//! A list scheduler: of all instructions that nothing before them holds back, the one with the longest chain of others behind it comes first, and
//! another that fits into the same word goes with it.

use super::effects::Effects;
use super::merge::merge;
use super::{Line, NOP};

/// Longest block that is scheduled; the work grows with the square.
const MAX_LENGTH: usize = 1024;

/// An instruction with what holds it back.
struct Task {
    line: Line,
    effects: Effects,
    /// Earlier instructions with the distance that must be kept.
    needs: Vec<(usize, usize)>,
    /// Instructions that must follow it at least, one after the other.
    urgency: usize,
}

/// The lines in their new order.
pub(super) fn schedule(lines: &[Line], at_start: bool) -> Vec<Line> {
    if lines.len() > MAX_LENGTH {
        return lines.to_vec();
    }
    let mut tasks: Vec<Task> = lines
        .iter()
        .map(|&line| Task { line, effects: Effects::of(line.word), needs: Vec::new(), urgency: 0 })
        .filter(|task| !task.effects.is_nothing())
        .collect();
    for later in 0..tasks.len() {
        for earlier in 0..later {
            if let Some(distance) = tasks[earlier].effects.distance_to(&tasks[later].effects) {
                tasks[later].needs.push((earlier, distance));
            }
        }
    }
    for later in (0..tasks.len()).rev() {
        for (earlier, distance) in tasks[later].needs.clone() {
            tasks[earlier].urgency = tasks[earlier].urgency.max(tasks[later].urgency + distance);
        }
    }

    let mut placed: Vec<Option<usize>> = vec![None; tasks.len()];
    let mut order: Vec<Line> = Vec::new();
    let mut left = tasks.len();
    while left > 0 {
        let now = order.len();
        let Some(first) = best(&tasks, &placed, now, at_start, |_| true) else {
            // Everything waits. The place of a nop is that of what was there.
            let last = order.last().or(lines.first()).copied();
            order.extend(last.map(|line| Line { word: NOP, ..line }));
            continue;
        };
        placed[first] = Some(now);
        left -= 1;
        let mut line = tasks[first].line;
        let second = best(&tasks, &placed, now, at_start, |task: &Task| merge(line.word, task.line.word).is_some());
        if let Some(second) = second
            && let Some(word) = merge(line.word, tasks[second].line.word)
        {
            placed[second] = Some(now);
            left -= 1;
            line = Line { word, ..line };
        }
        order.push(line);
    }
    order
}

/// The most urgent task that can be placed now.
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
        let more_urgent = best.is_none_or(|best| task.urgency > tasks[best].urgency);
        if placed[at].is_none() && more_urgent && ready(task) && fits(task) {
            best = Some(at);
        }
    }
    best
}
