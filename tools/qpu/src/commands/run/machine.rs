//! The QPUs of `qpu run`: one program on each, executed in time slices.

use v3d_hw::BusAddr;
use v3d_sim::memory::Memory;
use v3d_sim::qpu::lanes::Lanes;
use v3d_sim::qpu::qps::user_io::{Setup, Shared, UserIo};
use v3d_sim::qpu::{CodeCache, Exit, Launch, Qpu};
use v3d_sim::timing::{self, Estimate, TimingModel};

/// The VPM of the boards [asurati].
const VPM_KIB: u8 = 12;
/// Number of VPM rows reserved for user programs: the maximum.
const VPM_WINDOW: u32 = 64;
/// Instructions per time slice, if execution is not traced.
const TIME_SLICE: u64 = 256;

/// A QPU with its program.
pub(super) struct Unit {
    pub(super) qpu: Qpu,
    setup: Setup,
    /// Why the program stopped; `OutOfBudget` while it is running.
    pub(super) exit: Exit,
}

/// One instruction of a QPU, with its registers before and after.
pub(super) struct Watched<'w> {
    pub(super) number: usize,
    pub(super) pc: BusAddr,
    pub(super) before: &'w [Lanes],
    pub(super) after: &'w [Lanes],
}

/// The QPUs and the units that they share.
pub(super) struct Machine<'m> {
    pub(super) units: Vec<Unit>,
    pub(super) shared: Shared,
    memory: Memory<'m>,
    code: CodeCache,
}

impl<'m> Machine<'m> {
    /// A QPU for each launch, numbered from 0.
    pub(super) fn new(memory: Memory<'m>, launches: impl Iterator<Item = Launch>) -> Self {
        let mut shared = Shared::new(VPM_KIB);
        shared.vpm.set_window(VPM_WINDOW);
        let units = launches.map(|launch| {
            let mut qpu = Qpu::new();
            qpu.start(&launch);
            Unit { qpu, setup: Setup::default(), exit: Exit::OutOfBudget }
        });
        Self { units: units.collect(), shared, memory, code: CodeCache::new() }
    }

    /// Runs until all programs have ended, or each of the rest is blocked or has executed `budget` instructions.
    pub(super) fn run(&mut self, budget: u64) {
        let mut progress = true;
        while progress {
            progress = false;
            for number in 0..self.units.len() {
                progress |= self.run_slice(number, budget, TIME_SLICE);
            }
        }
    }

    /// The same, calling `watch` after each instruction.
    pub(super) fn run_watched(&mut self, budget: u64, watch: &mut impl FnMut(&Watched<'_>)) {
        loop {
            let mut progress = false;
            for number in 0..self.units.len() {
                let qpu = &self.units[number].qpu;
                let (pc, before) = (qpu.pc(), qpu.registers().visible().to_vec());
                if self.run_slice(number, budget, 1) {
                    let after = self.units[number].qpu.registers().visible();
                    watch(&Watched { number, pc, before: &before, after });
                    progress = true;
                }
            }
            if !progress {
                return;
            }
        }
    }

    /// Estimated cycles of the programs, and their stalls.
    pub(super) fn estimate(&mut self) -> Estimate {
        let mut timing_model = TimingModel::new(timing::Machine::default());
        for unit in &mut self.units {
            unit.qpu.counters.take_traces().into_iter().for_each(|trace| timing_model.submit(trace));
        }
        timing_model.take_estimate()
    }

    /// Executes a time slice of a QPU; returns whether it has executed any instruction.
    fn run_slice(&mut self, number: usize, budget: u64, instructions: u64) -> bool {
        let Unit { qpu, setup, exit } = &mut self.units[number];
        let before = qpu.executed();
        let mut left = instructions.min(budget.saturating_sub(before));
        if *exit == Exit::Ended || left == 0 {
            return false;
        }
        let mut io = UserIo { qpu: number as u8, shared: &mut self.shared, setup };
        *exit = qpu.run(&mut io, self.memory, &self.code, &mut left);
        if *exit == Exit::Ended {
            setup.end_program();
        }
        qpu.executed() > before
    }
}
