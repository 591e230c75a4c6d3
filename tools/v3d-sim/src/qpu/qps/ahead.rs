//! User programs on several host threads, with the results of one thread.
//!
//! The programs of requests that would follow each other, or QPUs that would take turns, are tried at once: each has a copy of its QPU and of the state that
//! QPUs share, and accesses memory in a [transaction](crate::memory::transaction). Then they are looked at in their order. Each that has caused no error, has
//! not met another in memory, and has seen what those before it have left in the VPM and in the semaphores, has done what it would have done after them, and
//! its copy is taken over. The first that has not is undone, with all that follow, and these run in turn. So what is computed never depends on threads.

use super::user_io::{SEMAPHORES, Setup, Shared, UserIo};
use super::{Activity, Environment, TURN_INSTRUCTIONS, Unit};
pub(super) use crate::memory::transaction::MOST;
use crate::memory::transaction::{Lines, Log, Transaction};
use crate::memory::{Limits, Memory};
use crate::qpu::{Exit, Launch, Qpu};
use crate::threads::map_all;
use std::sync::atomic::{AtomicBool, Ordering};

/// The most tries that are left out after some that were in vain.
const MOST_LEFT_OUT: u32 = 64;

/// A program on a QPU of its own.
#[derive(Debug)]
pub(super) struct Apart {
    pub(super) number: u8,
    pub(super) unit: Unit,
    pub(super) shared: Shared,
    /// How its turn has ended.
    pub(super) exit: Exit,
    log: Log,
}

/// Whether tries are worthwhile.
#[derive(Debug, Default)]
pub(super) struct Prospect {
    /// Tries to be left out.
    left_out: u32,
    last: u32,
}

impl Prospect {
    /// Whether to try, unless it was in vain lately.
    pub(super) fn is_good(&mut self) -> bool {
        let is_good = self.left_out == 0;
        self.left_out = self.left_out.saturating_sub(1);
        is_good
    }

    /// Notes how much of a try was of use.
    fn learn(&mut self, instructions: [u64; 2]) {
        let [taken_over, undone] = instructions;
        self.last = if undone > taken_over { (2 * self.last).clamp(1, MOST_LEFT_OUT) } else { 0 };
        self.left_out = self.last;
    }
}

/// What is kept between tries. A clone begins without it.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    lines: Lines,
    copies: Vec<Apart>,
    /// Of programs that follow each other.
    pub(super) programs: Prospect,
    /// Of turns.
    pub(super) turns: Prospect,
}

impl Clone for Ahead {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Ahead {
    /// Runs programs that would follow each other on one QPU, at most [`MOST`] of them, each to its end. Returns those that have ended as if in turn, from the
    /// first on; the others have left no trace. `setup` is the QPU's, and then as they leave it.
    pub(super) fn run_programs(
        &mut self,
        launches: &[Launch],
        setup: &mut Setup,
        shared: &Shared,
        environment: &Environment<'_>,
    ) -> &mut [Apart] {
        self.make_copies(launches.len(), shared);
        for (copy, launch) in self.copies.iter_mut().zip(launches) {
            (copy.number, copy.unit.setup) = (launch.qpu, setup.clone());
            // Another program may have been undone here.
            copy.unit.qpu.take_faults();
            copy.unit.qpu.take_counters();
            copy.unit.qpu.start(launch);
        }
        // Those that follow one that needs its turn are of no use.
        let needs_turn = AtomicBool::new(false);
        let run = |copy: &mut Apart, transaction: &Transaction<'_>| {
            let mut left = environment.budget;
            while !needs_turn.load(Ordering::Relaxed) && !environment.supervision.all_stopped() {
                let succeeds = copy.take_turn(environment, transaction, &mut left);
                if !succeeds || copy.exit != Exit::OutOfBudget || left == 0 {
                    let ends = succeeds && copy.exit == Exit::Ended;
                    needs_turn.fetch_or(!ends, Ordering::Relaxed);
                    return ends;
                }
            }
            false
        };
        let (before, mut left) = (setup.clone(), setup.clone());
        let follows = |copy: &Apart| {
            let follows = copy.unit.setup.follows(&before, &mut left);
            if follows {
                setup.clone_from(&left);
            }
            follows
        };
        let (ended, instructions) = self.try_all(launches.len(), shared, environment, run, follows);
        self.programs.learn(instructions);
        self.copies.get_mut(..ended).unwrap_or_default()
    }

    /// Has QPUs take a turn. Returns the copies of those that have taken theirs, from the first on; the others have left no trace.
    pub(super) fn take_turns(
        &mut self,
        units: &[(u8, &Unit)],
        shared: &Shared,
        environment: &Environment<'_>,
    ) -> &mut [Apart] {
        let count = units.len().min(MOST);
        self.make_copies(count, shared);
        for (copy, &(number, unit)) in self.copies.iter_mut().zip(units) {
            copy.number = number;
            copy.unit.clone_from(unit);
        }
        let run = |copy: &mut Apart, transaction: &Transaction<'_>| {
            let mut left = environment.budget.saturating_sub(copy.unit.qpu.executed());
            left > 0 && copy.take_turn(environment, transaction, &mut left)
        };
        let (taken, instructions) = self.try_all(count, shared, environment, run, |_| true);
        self.turns.learn(instructions);
        self.copies.get_mut(..taken).unwrap_or_default()
    }

    fn make_copies(&mut self, count: usize, shared: &Shared) {
        while self.copies.len() < count {
            let unit = Unit { qpu: Qpu::new(), setup: Setup::default(), activity: Activity::Running };
            self.copies.push(Apart { number: 0, unit, shared: shared.clone(), exit: Exit::Ended, log: Log::default() });
        }
        self.copies.iter_mut().take(count).for_each(|copy| copy.shared.copy(shared));
    }

    /// Tries the first copies at once. Returns how many have done what they would have done in turn, and the instructions of these and of the others.
    /// These are undone.
    fn try_all(
        &mut self,
        count: usize,
        shared: &Shared,
        environment: &Environment<'_>,
        succeeds: impl Fn(&mut Apart, &Transaction<'_>) -> bool + Sync + Send,
        mut follows: impl FnMut(&Apart) -> bool,
    ) -> (usize, [u64; 2]) {
        let memory = environment.memory;
        let Self { lines, copies, .. } = self;
        lines.cover(memory);
        let lines = &*lines;
        let tries: Vec<_> = copies.iter_mut().take(count).enumerate().collect();
        let tried = map_all(
            tries,
            true,
            || (),
            |(), (number, copy)| {
                let transaction = Transaction::new(lines, number, std::mem::take(&mut copy.log));
                let before = copy.unit.qpu.executed();
                let succeeds = succeeds(copy, &transaction);
                (succeeds, copy.unit.qpu.executed().saturating_sub(before), transaction)
            },
        );
        let (mut semaphores, mut written): ([u8; SEMAPHORES], _) = (shared.semaphores, Vec::new());
        let in_turn = tried.iter().zip(&*copies).take_while(|((succeeds, ..), copy)| {
            *succeeds && copy.shared.follows(&mut semaphores, &mut written) && follows(copy)
        });
        let good = in_turn.count();
        let (mut taken_over, mut undone) = (0, 0);
        let mut code_is_uncertain = false;
        for (number, (copy, (_, executed, transaction))) in copies.iter_mut().zip(tried).enumerate() {
            if number < good {
                taken_over += executed;
            } else {
                undone += executed;
                transaction.undo(memory);
                code_is_uncertain |= transaction.was_denied_code();
            }
            copy.log = transaction.end();
        }
        if code_is_uncertain {
            // A block may have been decoded from part of its code.
            environment.code.forget();
        }
        (good, [taken_over, undone])
    }
}

impl Apart {
    /// Takes a turn, which is taken from the budget; returns whether that has caused no error.
    fn take_turn(&mut self, environment: &Environment<'_>, transaction: &Transaction<'_>, left: &mut u64) -> bool {
        let limits = Limits::watched(environment.memory, transaction);
        let Unit { qpu, setup, .. } = &mut self.unit;
        let mut io = UserIo { qpu: self.number, shared: &mut self.shared, setup };
        let turn = TURN_INSTRUCTIONS.min(*left);
        let mut rest = turn;
        self.exit = qpu.run(&mut io, Memory::limited(&limits), environment.code, &mut rest);
        *left -= turn - rest;
        !qpu.has_faults() && !transaction.has_failed()
    }
}
