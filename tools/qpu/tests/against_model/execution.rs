//! Execution of a program in the model: the executed instructions, and the faults.

use crate::case::Case;
use v3d_hw::BusAddr;
use v3d_hw::qpu::INSTRUCTION_BYTES;
use v3d_sim::fault::Fault;
use v3d_sim::memory::{Memory, OwnedMemory};
use v3d_sim::qpu::io::{Io, IoError, Varying, Wait};
use v3d_sim::qpu::lanes::{Lanes, Mask};
use v3d_sim::qpu::qps::user_io::{Setup, Shared, UserIo};
use v3d_sim::qpu::{CodeCache, Exit, Launch, Qpu, QpuError, Threading};

const CODE: u32 = 0x1000;
const UNIFORMS: u32 = 0x4000;
const MEMORY_BYTES: usize = 0x8000;
/// Maximum number of executed instructions: more than a program has, so that loops are left.
const MAX_STEPS: usize = 200;
/// Rows of the VPM that can be accessed.
const VPM_ROWS: u32 = 64;

/// A fault of the model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Complaint {
    /// An error of the model.
    Error(QpuError),
    /// Execution left the program.
    LeftProgram,
}

/// A fault with its instruction.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    pub(crate) what: Complaint,
    pub(crate) at: usize,
    pub(crate) message: String,
}

/// The executions of all runs of a case.
#[derive(Debug, Default)]
pub(crate) struct Executed {
    /// The instructions of each run, in order.
    runs: Vec<Vec<usize>>,
    pub(crate) reports: Vec<Report>,
}

impl Executed {
    /// Executes a case with each of its sets of uniforms.
    pub(crate) fn of(case: &Case) -> Self {
        let mut executed = Self::default();
        for &decisions in &case.decisions {
            executed.run(case, decisions);
        }
        executed
    }

    /// Whether any run has executed an instruction.
    pub(crate) fn was_executed(&self, at: usize) -> bool {
        self.runs.iter().any(|run| run.contains(&at))
    }

    /// Whether any run has executed an instruction within `steps` instructions after another.
    pub(crate) fn was_executed_after(&self, first: usize, at: usize, steps: usize) -> bool {
        let near = |run: &Vec<usize>| {
            let places = run.iter().enumerate().filter(|(_, other)| **other == first).map(|(step, _)| step);
            places.into_iter().any(|step| run[step + 1..].iter().take(steps).any(|other| *other == at))
        };
        self.runs.iter().any(near)
    }

    /// The instructions that any run has executed directly before one, the nearest first.
    pub(crate) fn before(&self, at: usize) -> Vec<usize> {
        let Some(run) = self.runs.iter().find(|run| run.contains(&at)) else { return Vec::new() };
        run.iter().take_while(|&&other| other != at).copied().collect::<Vec<_>>().into_iter().rev().collect()
    }

    /// For each run the instructions that it executed before the last execution of one.
    pub(crate) fn runs_before(&self, at: usize) -> impl Iterator<Item = &[usize]> {
        self.runs.iter().filter_map(move |run| Some(&run[..run.iter().rposition(|&other| other == at)?]))
    }

    fn run(&mut self, case: &Case, decisions: [u32; 2]) {
        let owned = OwnedMemory::new(MEMORY_BYTES);
        let memory = owned.view();
        let code: Vec<u8> = case.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        memory.write(BusAddr(CODE), &code).expect("the code fits");
        for (at, decision) in (UNIFORMS..).step_by(4).zip(decisions) {
            memory.set_word(BusAddr(at), decision).expect("the uniforms fit");
        }
        let mut qpu = Qpu::new();
        qpu.start(&Launch {
            pc: BusAddr(CODE),
            uniforms: BusAddr(UNIFORMS),
            threading: if case.threads == 2 { Threading::Threaded } else { Threading::Single },
            ..Launch::default()
        });
        let mut shared = Shared::new(12);
        shared.vpm.set_window(VPM_ROWS);
        shared.semaphores = [7; 16];
        let mut setup = Setup::default();
        let cache = CodeCache::new();
        let mut run = Vec::new();
        while run.len() < MAX_STEPS {
            let at = (qpu.pc().0.wrapping_sub(CODE) / INSTRUCTION_BYTES) as usize;
            if at >= case.words.len() {
                self.note(
                    Complaint::LeftProgram,
                    run.last().copied().unwrap_or_default(),
                    "leaves the program".to_owned(),
                );
                break;
            }
            let mut units = Units(UserIo { qpu: 0, shared: &mut shared, setup: &mut setup });
            let (exit, is_executed) = qpu.run_one(&mut units, memory, &cache);
            for fault in qpu.take_faults().take() {
                let message = fault.to_string();
                if let Fault::Qpu(fault) = fault {
                    self.note(Complaint::Error(fault.error), at, message);
                }
            }
            if is_executed {
                run.push(at);
            }
            if exit != Exit::OutOfBudget {
                break;
            }
        }
        self.runs.push(run);
    }

    fn note(&mut self, what: Complaint, at: usize, message: String) {
        if !self.reports.iter().any(|report| report.what == what && report.at == at) {
            self.reports.push(Report { what, at, message });
        }
    }
}

/// All units for programs of all stages: those of user programs, and a tile buffer that accepts everything.
struct Units<'a>(UserIo<'a>);

impl Io for Units<'_> {
    fn varying(&mut self) -> Result<Varying, IoError> {
        Ok(Varying::default())
    }
    fn pixel_x(&mut self) -> Result<Lanes, IoError> {
        Ok(Lanes::default())
    }
    fn pixel_y(&mut self) -> Result<Lanes, IoError> {
        Ok(Lanes::default())
    }
    fn ms_flags(&mut self) -> Result<Lanes, IoError> {
        Ok(Lanes::default())
    }
    fn rev_flag(&mut self) -> Result<Lanes, IoError> {
        Ok(Lanes::default())
    }
    fn scoreboard_wait(&mut self) -> Result<Wait, IoError> {
        Ok(Wait::Ready)
    }
    fn scoreboard_unlock(&mut self) -> Result<(), IoError> {
        Ok(())
    }
    fn vpm_read(&mut self) -> Result<Lanes, IoError> {
        self.0.vpm_read()
    }
    fn vpm_write(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        self.0.vpm_write(value, mask)
    }
    fn vpm_read_setup(&mut self, word: u32) -> Result<(), IoError> {
        self.0.vpm_read_setup(word)
    }
    fn vpm_write_setup(&mut self, word: u32) -> Result<(), IoError> {
        self.0.vpm_write_setup(word)
    }
    fn dma_load(&mut self, _address: u32, _memory: Memory<'_>) -> Result<(), IoError> {
        Ok(())
    }
    fn dma_store(&mut self, _address: u32, _memory: Memory<'_>) -> Result<(), IoError> {
        Ok(())
    }
    fn mutex_acquire(&mut self) -> Result<Wait, IoError> {
        self.0.mutex_acquire()
    }
    fn mutex_release(&mut self) -> Result<(), IoError> {
        self.0.mutex_release()
    }
    fn semaphore(&mut self, _number: u8, _decrement: bool) -> Result<Wait, IoError> {
        Ok(Wait::Ready)
    }
}
