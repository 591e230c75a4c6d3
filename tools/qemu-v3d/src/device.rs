//! The register block as the guest sees it: the model, its faults and its trace.
//!
//! What a register write starts is executed by the [worker](crate::worker). The write waits for it, but only for a moment: a job that takes longer goes on
//! beside the guest, whose loads then show how far it is. So the interrupt line can change at a register access, and when a job has ended. After the request of
//! a user program, which others may follow, the next load waits instead.
//!
//! If the guest [polls](crate::polling), its loads wait as well, for a shorter time.

use crate::capture::Capture;
use crate::options::{Options, Pause};
use crate::polling::{self, Polling};
use crate::worker::Worker;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};
use v3d_sim::device::beside::Work;
use v3d_sim::memory::Memory;
use v3d_sim::{Config, Fault, Register, V3d};

/// BMACTIVE and RMACTIVE of PCS: a list has begun, and has not ended [AG p.89].
const BINNING_ACTIVE: u32 = 1 << 0;
const RENDERING_ACTIVE: u32 = 1 << 2;

/// The model, and the outputs of its faults and trace.
pub(crate) struct Device {
    v3d: V3d,
    worker: Arc<Worker>,
    pause: Pause,
    polling: Polling,
    /// The guest has requested user programs, and not loaded any register since.
    requests_programs: bool,
    capture: Option<Capture>,
    /// Faults that are not written to their file yet.
    found: Vec<Fault>,
    start: Instant,
    faults: Box<dyn Write + Send>,
    trace: Option<Box<dyn Write + Send>>,
}

impl Device {
    /// A V3D after power-on. Fails if a file of `options` cannot be created.
    pub(crate) fn new(options: &Options) -> io::Result<Self> {
        let default = Config::default();
        let instruction_budget = options.budget.unwrap_or(default.instruction_budget);
        let engine = options.engine.unwrap_or(default.engine);
        let config = Config { check_coherence: options.coherence, instruction_budget, engine, ..default };
        Ok(Self {
            v3d: V3d::new(config),
            worker: Arc::new(Worker::default()),
            pause: options.pause,
            polling: Polling::default(),
            requests_programs: false,
            capture: options.capture.clone().map(|folder| Capture::new(folder, options.faulty_alone)),
            found: Vec::new(),
            start: Instant::now(),
            faults: match &options.faults {
                Some(path) => Box::new(File::create(path)?),
                None => Box::new(io::stderr()),
            },
            trace: match &options.trace {
                Some(path) => Some(Box::new(File::create(path)?)),
                None => None,
            },
        })
    }

    /// A guest load of the register at byte `offset` of the block, when vCPU 0 has executed `instructions`.
    pub(crate) fn read(&mut self, memory: &Memory<'_>, instructions: u64, offset: u32) -> u32 {
        let polls = self.polling.load(instructions);
        // Never longer than a write waits: the option sets that limit.
        let limit = match std::mem::take(&mut self.requests_programs) {
            true => self.pause.limit(),
            false if polls => self.pause.limit().min(polling::PAUSE),
            false => Duration::ZERO,
        };
        self.wait(memory, limit);
        let value = self.v3d.read(memory, offset);
        self.record(instructions, offset, "->", value);
        value
    }

    /// A guest store to the register at byte `offset` of the block, when vCPU 0 has executed `instructions`.
    pub(crate) fn write(&mut self, memory: &Memory<'_>, instructions: u64, offset: u32, value: u32) {
        self.record(instructions, offset, "<-", value);
        let register = Register::from_offset(offset);
        let resets_thread = matches!(register, Some(Register::CT0CS | Register::CT1CS));
        self.note_list(memory, offset, value);
        let work = self.v3d.post(memory, offset, value);
        let starts = work.is_some();
        if let Some(work) = work {
            self.submit(work);
            self.polling.job_begins();
        }
        // More requests may follow, and their programs can be executed at once. The guest's next load waits.
        let requests_program = register == Some(Register::SRQPC) && self.pause != Pause::FOREVER;
        self.requests_programs |= starts && requests_program;
        if starts && !requests_program || resets_thread {
            self.wait(memory, self.pause.limit());
        }
    }

    /// Waits for the jobs that run beside the guest, for this time at most.
    fn wait(&mut self, memory: &Memory<'_>, limit: Duration) {
        let deadline = Instant::now() + limit;
        while self.v3d.is_beside() {
            let Some(work) = self.worker.wait(deadline) else { return };
            self.take_back(memory, work);
        }
    }

    /// Takes jobs back that have ended beside the guest.
    pub(crate) fn collect(&mut self, memory: &Memory<'_>) {
        self.wait(memory, Duration::ZERO);
    }

    /// Takes a job back, and starts what has waited for its end.
    fn take_back(&mut self, memory: &Memory<'_>, work: Work) {
        let next = self.v3d.finish(memory, work);
        if let Some(capture) = &mut self.capture {
            let faults = self.v3d.take_faults();
            if !faults.is_empty() {
                capture.found_faults();
                self.found.extend(faults);
            }
            // With work that goes on, the registers show the state at its start: this work has ended.
            let status = if next.is_none() { self.v3d.read(memory, Register::PCS.offset()) } else { 0 };
            capture.has_run(status & BINNING_ACTIVE != 0, status & RENDERING_ACTIVE != 0, *memory);
        }
        if let Some(next) = next {
            self.submit(next);
        }
    }

    fn submit(&self, work: Work) {
        self.worker.submit(work, self.capture.as_ref().and_then(Capture::pages));
    }

    /// Tells the capture of lists and of overflow memory, before the register is written.
    fn note_list(&mut self, memory: &Memory<'_>, offset: u32, value: u32) {
        let Some(capture) = &mut self.capture else { return };
        let mut read = |register: Register| self.v3d.read(memory, register.offset());
        match Register::from_offset(offset) {
            Some(Register::CT0EA) => capture.binning(read(Register::CT0CA)..value),
            Some(Register::CT1EA) => capture.rendering(read(Register::CT1CA)..value, *memory),
            Some(Register::BPOS) => {
                let start = read(Register::BPOA);
                capture.overflow(start..start.wrapping_add(value));
            }
            _ => {}
        }
    }

    /// Who executes this device's jobs: a thread has to serve it.
    pub(crate) fn worker(&self) -> Arc<Worker> {
        Arc::clone(&self.worker)
    }

    /// Sets what the CPU caches: its tables may have changed since the last start.
    pub(crate) fn set_cpu_cached(&mut self, cached: Vec<Range<u64>>) {
        self.v3d.set_cpu_cached(cached);
    }

    /// The current level of the V3D's interrupt line.
    pub(crate) fn interrupt(&self) -> bool {
        self.v3d.interrupt()
    }

    /// Returns the V3D to its state after power-on. A job that runs is ended first, as it must not write to memory any more.
    pub(crate) fn reset(&mut self, memory: &Memory<'_>) {
        if let Some(capture) = &mut self.capture {
            capture.reset(*memory);
        }
        if self.v3d.is_beside() {
            self.v3d.stop();
            self.worker.drain();
        }
        self.v3d.reset();
    }

    fn record(&mut self, instructions: u64, offset: u32, direction: &str, value: u32) {
        if let Some(trace) = &mut self.trace {
            let name = Register::from_offset(offset).map_or_else(|| format!("+{offset:#x}"), |it| it.name().to_owned());
            // A full disk must not stop the guest: the trace is then incomplete.
            let seconds = self.start.elapsed().as_secs_f64();
            let _ = writeln!(trace, "{seconds:.6} {instructions} {name} {direction} {value:#010x}");
        }
    }

    /// Writes the faults that the model has reported since the last call to the faults' file.
    pub(crate) fn report_faults(&mut self) {
        let mut found = std::mem::take(&mut self.found);
        found.extend(self.v3d.take_faults());
        for fault in found {
            self.write_line(&format!("v3d {}", fault.kind()), &fault);
        }
    }

    /// Writes a fault that the model does not know of to the faults' file.
    pub(crate) fn tell(&mut self, fault: &dyn Display) {
        self.write_line("v3d fault", fault);
    }

    /// Writes what the display does not show to the faults' file.
    pub(crate) fn tell_of_display(&mut self, sentence: &str) {
        self.write_line("display", &sentence);
    }

    fn write_line(&mut self, unit: &str, fault: &dyn Display) {
        if let Err(error) = writeln!(self.faults, "{unit}: {fault}") {
            eprintln!("{unit}: {fault} (and its file cannot be written: {error})");
        }
    }
}
