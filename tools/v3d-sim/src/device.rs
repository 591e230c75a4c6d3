//! The register block: what software reads and writes [AG section 10].
//!
//! A write that starts something (a control list thread, a user program) executes it at once, as far as possible: to its end, to a wait for the other
//! thread or for memory, or to an error. Reads afterwards show what the hardware would show when it is done.
//!
//! # Surprises
//! - OUTOMEM comes back as long as the binner lacks memory, however often it is acknowledged [AG p.95].
//! - BFC and RFC have 8 bits, and are cleared by writing 1, not 0 [AG p.88].
//! - Performance counters need bit 31 of PCTRE, which the guide does not show [linux vc4_perfmon.c].
//! - QPU interrupts need DBCFG too, which is not in the guide [asurati] [vc4asm].
//!
//! - BMOOM is set from reset until the binner first gets memory: a job that only renders shows PCS 0x104 [bm docs/DRIVERS.md]. Here the first memory is
//!   that of a Tile Binning Mode Configuration, or what BPOS offers. Whether INTCTL shows OUTOMEM then is open; here it does not.
//!
//! # Diagnostics
//! ERRSTAT's bits are latched until reset. The guide gives only their names. Known is that a coordinate shader that writes more rows than its batch has
//! raises VPMEWR [bm docs/DRIVERS.md]; the other causes are inferred: VPMERR that it reads more, both of them also a user program that leaves the reserved
//! rows, VCMBE and VCMRE an index beyond its list's maximum, VDWE a store from beyond row 63. What raises VPMERNA and VPMEWNA is not known, and L2CARE,
//! VCDE, VPMEAS and VPMEFNA are faults within the hardware: the model raises none of them. VCDI reads 1, since the VCD is idle whenever a register can be
//! read.
//!
//! On boards VCMRE is also raised by NV jobs that draw right. It was seen with 60,000 vertices in one array and with a shader that reads two of three
//! varyings; which of them raises it was not found out [bm reports], so that neither does here.
//!
//! DBGE, FDBGO, FDBGB, FDBGR and FDBGS read 0 until a frame is rendered, as by the guide. Once a frame has drawn something they keep what boards read
//! while idle: FIFOs that are "full", an `edges_ctrlid` of 3 and some signals of the early Z test, none of which is an error [bm reports]. Boards read
//! FDBGO as 4 or as 6; why is not known, and here it is 4. After frames in which nothing was drawn FDBGS has another value, measured for draws that were
//! lost with their vertices [bm reports]; that frames without primitives read the same is a guess. FWDDISA of BXCF can be written and read; forwarding in
//! the state cache only changes how long binning takes.

pub mod beside;
pub mod coherence;
pub mod supervision;

pub use crate::fault::register::RegisterFault;

use crate::binning::ptb::pool::Overspill;
use crate::binning::vcm::UndefinedElements;
use crate::cle::{self, Budget, Cle};
use crate::counters::{Counters, needs_timing};
use crate::device::coherence::Coherence;
use crate::device::supervision::Supervision;
use crate::fault::{Fault, FaultLog, Signals};
use crate::memory::{Limits, Memory};
use crate::qpu::qps::{Environment, Qps};
use crate::qpu::{CodeCache, CodeSize, EngineKind};
use crate::render::pixel_trace::PixelTrace;
use crate::render::{self, fep::SamplePositions};
use crate::timing::Machine;
use crate::timing::caches::{Caches, Level1};
use crate::vpm::allocator::{AllocationError, Allocator};
use beside::Beside;
use std::ops::Range;
use v3d_hw::registers::cache::{L2cactl, Slcactl};
use v3d_hw::registers::cle::{Ctncs, Ctnlc};
use v3d_hw::registers::diagnostic::{Bxcf, Errstat, Fdbgb, Fdbgo, Fdbgs};
use v3d_hw::registers::identity::{Ident1, Ident2};
use v3d_hw::registers::interrupt::{Dbcfg, Intctl};
use v3d_hw::registers::performance::{CounterSource, Pctre};
use v3d_hw::registers::pipeline::Pcs;
use v3d_hw::registers::vpm::Vpacntl;
use v3d_hw::registers::{IDENT0_VALUE, Register, Thread};
use v3d_hw::{BusAddr, Layout};

/// Configuration of a V3D and of its model; the default is the Pi's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Slices.
    pub slices: u8,
    /// QPUs in each slice.
    pub qpus_per_slice: u8,
    /// VPM size in KiB.
    pub vpm_kib: u8,
    /// Maximum number of instructions that one start of a list or program executes before it counts as hung.
    pub instruction_budget: u64,
    /// Maximum number of control records, list items and vertices of one start of a list before it counts as hung.
    pub record_budget: u64,
    /// Render tiles, shade vertices and execute user programs on several host threads.
    pub parallel: bool,
    /// Positions of the samples in multisample mode.
    pub sample_positions: SamplePositions,
    /// A pixel to trace, by column and row in memory.
    pub watched_pixel: Option<(u32, u32)>,
    /// Estimates cycles, stalls and cache hits even while no performance counter asks for them.
    pub estimate: bool,
    /// With [`Config::estimate`], counts executions and stalls for each instruction.
    pub estimate_instructions: bool,
    /// Reports reads of data that a cache may hold in an older state, and accesses to what the CPU caches, see [`coherence`]. The
    /// model then executes several times more slowly.
    pub check_coherence: bool,
    /// What elements of a batch without a vertex contain.
    pub undefined_elements: UndefinedElements,
    /// Clock in MHz: how many of its cycles an access to memory takes in the estimate.
    pub clock_mhz: u32,
    /// What executes QPU programs; results do not depend on it. One that the host lacks is replaced by the best that it has.
    pub engine: EngineKind,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            slices: 3,
            qpus_per_slice: 4,
            vpm_kib: 12,
            instruction_budget: 5_000_000_000,
            record_budget: 100_000_000,
            parallel: true,
            sample_positions: SamplePositions::Silicon,
            watched_pixel: None,
            estimate: false,
            estimate_instructions: false,
            check_coherence: false,
            undefined_elements: UndefinedElements::default(),
            clock_mhz: Machine::default().clock_mhz,
            engine: EngineKind::best(),
        }
    }
}

/// Maximum number of instructions of a user program: 16 seconds on silicon. A list has more, shared among its tiles.
const PROGRAM_BUDGET: u64 = 1_000_000_000;
/// Number of performance counters.
const PERFORMANCE_COUNTERS: usize = 16;
/// TMUs of a slice.
const TMUS_PER_SLICE: u8 = 2;
/// Semaphores.
const SEMAPHORES: u8 = 16;
/// The defined bits of INTCTL, INTENA and INTDIS.
const PIPELINE_INTERRUPTS: u32 = 0xf;

/// The registers of the performance counters, as a pattern.
#[rustfmt::skip]
macro_rules! performance_counters {
    () => {
        Register::PCTR0 | Register::PCTRS0 | Register::PCTR1 | Register::PCTRS1 | Register::PCTR2 | Register::PCTRS2
        | Register::PCTR3 | Register::PCTRS3 | Register::PCTR4 | Register::PCTRS4 | Register::PCTR5 | Register::PCTRS5
        | Register::PCTR6 | Register::PCTRS6 | Register::PCTR7 | Register::PCTRS7 | Register::PCTR8 | Register::PCTRS8
        | Register::PCTR9 | Register::PCTRS9 | Register::PCTR10 | Register::PCTRS10 | Register::PCTR11 | Register::PCTRS11
        | Register::PCTR12 | Register::PCTRS12 | Register::PCTR13 | Register::PCTRS13 | Register::PCTR14 | Register::PCTRS14
        | Register::PCTR15 | Register::PCTRS15
    };
}

/// Whether the last frame drew anything, which the FEP's debug registers show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrameTraces {
    /// Quads went through the FEP.
    Quads,
    /// None did.
    Nothing,
}

impl FrameTraces {
    /// FDBGS as boards read it while idle.
    fn signals(self) -> Fdbgs {
        let idle = Fdbgs {
            ezreq_fifo_op_valid: true,
            eztest_anyqf: true,
            eztest_ip_vlfstall: true,
            eztest_ip_prstall: true,
            eztest_ip_qstall: true,
            ..Fdbgs::default()
        };
        match self {
            Self::Quads => Fdbgs { qxyf_fifo_op_valid: true, qxyf_fifo_op1_valid: true, ..idle },
            Self::Nothing => Fdbgs { qxyf_fifo_op1_dummy: true, ..idle },
        }
    }
}

/// A performance counter: PCTRn and PCTRSn.
#[derive(Clone, Copy, Debug, Default)]
struct PerformanceCounter {
    source: u32,
    count: u32,
    /// The part of the source's count that `count` already contains.
    seen: u64,
}

/// The V3D as software sees it.
#[derive(Debug)]
pub struct V3d {
    config: Config,
    /// Replaced by others, and not to be used, while a job runs beside software.
    units: Units,
    /// The job that runs beside software.
    beside: Option<Beside>,
    /// Latched interrupts of the pipeline: INTCTL.
    interrupts: Intctl,
    /// INTENA and INTDIS.
    interrupt_enables: u32,
    flushes: u8,
    frames: u8,
    scratch: u32,
    l2_enabled: bool,
    bxcf: Bxcf,
    vpacntl: u32,
    errors: Errstat,
    /// What the last frame has left in the FEP; `None` before the first.
    last_frame: Option<FrameTraces>,
    /// Quads of all frames so far.
    quads: u64,
    performance_enables: Pctre,
    performance: [PerformanceCounter; PERFORMANCE_COUNTERS],
    debug_configuration: Dbcfg,
    qpu_interrupt_enables: u16,
    scheduler_control: u32,
    vpm_base: u8,
    /// Latched interrupts of QPUs: DBQITC.
    qpu_interrupts: u16,
}

/// The units that execute lists and programs, with what they report.
#[derive(Debug)]
struct Units {
    cle: Cle,
    qps: Qps,
    /// Decoded user programs.
    code: CodeCache,
    counters: Counters,
    faults: FaultLog,
    /// Absent while memory is accessed, and if there is no check.
    coherence: Option<Box<Coherence>>,
    /// Maximum number of instructions of a user program.
    program_budget: u64,
}

impl Units {
    /// The units just after reset.
    fn new(config: &Config) -> Self {
        let budget = Budget { records: config.record_budget, instructions: config.instruction_budget };
        let render = render::Config {
            parallel: config.parallel,
            sample_positions: config.sample_positions,
            watched: config.watched_pixel,
            undefined: config.undefined_elements,
            engine: config.engine,
        };
        let mut cle = Cle::new(budget, render);
        cle.allocator = Allocator { kib: config.vpm_kib, ..Allocator::default() };
        let mut qps = Qps::new(config.slices.saturating_mul(config.qpus_per_slice), config.vpm_kib);
        qps.parallel = config.parallel;
        Self {
            cle,
            qps,
            code: CodeCache::for_engine(config.engine),
            counters: Counters::default(),
            faults: FaultLog::default(),
            coherence: config.check_coherence.then(|| Box::new(Coherence::new(config.slices))),
            program_budget: config.instruction_budget.min(PROGRAM_BUDGET),
        }
    }

    /// Whether there is something to execute, at this moment.
    fn are_runnable(&self) -> bool {
        self.qps.is_waiting() || self.cle.is_runnable()
    }

    /// Runs everything as far as possible.
    fn run(&mut self, memory: Memory<'_>, supervision: &Supervision) {
        if self.qps.is_waiting() {
            self.qps.record = self.counters.has_timing();
            let environment = Environment { memory, code: &self.code, budget: self.program_budget, supervision };
            self.qps.run(&environment, &mut self.faults, &mut self.counters);
        }
        let (counters, faults) = (&mut self.counters, &mut self.faults);
        self.cle.run(&mut cle::Context { memory, counters, faults, supervision });
    }
}

impl V3d {
    /// A V3D just after reset.
    pub fn new(config: Config) -> Self {
        let mut device = Self {
            config,
            units: Units::new(&config),
            beside: None,
            interrupts: Intctl::default(),
            interrupt_enables: 0,
            flushes: 0,
            frames: 0,
            scratch: 0,
            l2_enabled: true,
            bxcf: Bxcf::default(),
            vpacntl: 0,
            errors: Errstat { vcdi: true, ..Errstat::default() },
            last_frame: None,
            quads: 0,
            performance_enables: Pctre::default(),
            performance: Default::default(),
            debug_configuration: Dbcfg::default(),
            qpu_interrupt_enables: 0,
            scheduler_control: 0,
            vpm_base: 0,
            qpu_interrupts: 0,
        };
        device.set_timing();
        device
    }

    /// Resets the V3D, as a power cycle does. Faults that were not taken remain.
    pub fn reset(&mut self) {
        let mut faults = std::mem::take(&mut self.units.faults);
        faults.signals = Signals::default();
        *self = Self::new(self.config);
        self.units.faults = faults;
    }

    /// Reads the register at a byte offset; offsets without a register read 0. Memory is only read to report what user programs wait for, once
    /// software has read their status so often that they count as hung.
    pub fn read(&mut self, memory: &Memory<'_>, offset: u32) -> u32 {
        let Some(register) = Register::from_offset(offset) else { return 0 };
        if let Some(value) = self.read_beside(register) {
            return value;
        }
        if register == Register::SRQCS {
            return self.units.qps.read_status(*memory, &mut self.units.faults);
        }
        self.read_register(register)
    }

    /// Writes the register at a byte offset and executes what the write starts. While a job runs [beside], this is [`Self::post`].
    pub fn write(&mut self, memory: &Memory<'_>, offset: u32, value: u32) {
        let Some(register) = Register::from_offset(offset) else { return };
        if self.beside.is_some() {
            self.post(memory, offset, value);
            return;
        }
        let Some(mut coherence) = self.units.coherence.take() else {
            return self.write_register(*memory, register, value);
        };
        coherence.register_written(register, value);
        self.write_register(Memory::limited(&Limits::watched(*memory, &*coherence)), register, value);
        coherence.report(&mut self.units.faults);
        self.units.coherence = Some(coherence);
    }

    /// Sets the physical address ranges that the CPU caches, for [`Config::check_coherence`].
    pub fn set_cpu_cached(&mut self, ranges: impl IntoIterator<Item = Range<u64>>) {
        if let Some(coherence) = &mut self.units.coherence {
            coherence.set_cpu_cached(ranges);
        }
    }

    /// The level of the interrupt line.
    pub fn interrupt(&self) -> bool {
        let pipeline = word(&self.interrupts) & self.interrupt_enables != 0;
        let programs = self.qpu_interrupts & self.qpu_interrupt_enables != 0;
        pipeline || (programs && self.debug_configuration.qpu_interrupts)
    }

    /// What has been started and makes no supervision, in words: threads of the control list executor and QPUs with user programs, each with its address
    /// and what it waits for.
    pub fn stalls(&self, memory: &Memory<'_>) -> Vec<String> {
        let threads =
            [Thread::Binning, Thread::Rendering].into_iter().filter_map(|thread| self.units.cle.stall(thread));
        threads.chain(self.units.qps.stalls(*memory)).collect()
    }

    /// Takes the trace of the watched pixel since the last call.
    pub fn take_pixel_trace(&mut self) -> PixelTrace {
        std::mem::take(&mut self.units.cle.pixel_trace)
    }

    /// Takes the faults that have been reported since the last call.
    pub fn take_faults(&mut self) -> Vec<Fault> {
        self.units.faults.take()
    }

    /// All counts since reset, whether or not a performance counter is mapped to them. Cycles, stalls and cache hits are counted while an enabled
    /// performance counter is mapped to one of them, or if [`Config::estimate`] is set.
    pub fn counters(&mut self) -> &Counters {
        self.units.counters.settle();
        &self.units.counters
    }

    /// How much host code QPU programs have been translated to.
    pub fn code_size(&self) -> CodeSize {
        self.units.cle.code_size() + self.units.code.code_size()
    }

    /// Starts or stops the timing model, depending on what is counted.
    fn set_timing(&mut self) {
        let Pctre { enable, cten } = self.performance_enables;
        let asks = |(n, counter): (usize, &PerformanceCounter)| {
            enable && cten >> n & 1 == 1 && needs_timing(CounterSource::from_code(counter.source as u8))
        };
        let needed = self.config.estimate || self.performance.iter().enumerate().any(asks);
        if needed && !self.units.counters.has_timing() {
            let Config { slices, qpus_per_slice, clock_mhz, .. } = self.config;
            self.units.counters.start_timing(Machine { slices, qpus_per_slice, clock_mhz });
            if self.config.estimate_instructions
                && let Some(timing) = self.units.counters.timing_mut()
            {
                timing.count_instructions();
            }
            self.with_caches(|caches, enabled| caches.l2_enabled = enabled);
        } else if !needed {
            self.units.counters.stop_timing();
        }
    }

    /// Applies a function to the timing model's caches, if it runs.
    fn with_caches(&mut self, f: impl FnOnce(&mut Caches, bool)) {
        let enabled = self.l2_enabled;
        if let Some(timing) = self.units.counters.timing_mut() {
            f(timing.caches_mut(), enabled);
        }
    }

    /// Reads a register, and does not count software's fruitless reads.
    fn read_register(&mut self, register: Register) -> u32 {
        match register {
            Register::IDENT0 => IDENT0_VALUE,
            Register::IDENT1 => word(&self.ident1()),
            Register::IDENT2 => word(&Ident2 { tlbdb: 1, tlbsz: 2, vrisz: 1 }),
            Register::SCRATCH => self.scratch,
            Register::L2CACTL => word(&L2cactl { l2cena: self.l2_enabled, ..L2cactl::default() }),
            Register::INTCTL => word(&self.interrupts),
            Register::INTENA | Register::INTDIS => self.interrupt_enables,
            Register::CT0CS => word(&self.units.cle.status(Thread::Binning)),
            Register::CT1CS => word(&self.units.cle.status(Thread::Rendering)),
            Register::CT0EA => self.units.cle.end(Thread::Binning).0,
            Register::CT1EA => self.units.cle.end(Thread::Rendering).0,
            Register::CT0CA => self.units.cle.current(Thread::Binning).0,
            Register::CT1CA => self.units.cle.current(Thread::Rendering).0,
            Register::CT00RA0 => self.units.cle.return_address(Thread::Binning).0,
            Register::CT01RA0 => self.units.cle.return_address(Thread::Rendering).0,
            Register::CT0LC => self.list_counters(Thread::Binning),
            Register::CT1LC => self.list_counters(Thread::Rendering),
            Register::CT0PC => self.units.cle.primitives_left(Thread::Binning),
            Register::CT1PC => self.units.cle.primitives_left(Thread::Rendering),
            Register::PCS => word(&self.pipeline_status()),
            Register::BFC => u32::from(self.flushes),
            Register::RFC => u32::from(self.frames),
            Register::BPCA => self.units.cle.ptb.pool_address(),
            Register::BPCS => self.units.cle.ptb.pool_remaining(),
            Register::BPOA => self.units.cle.ptb.overspill.address,
            Register::BPOS => self.units.cle.ptb.overspill.bytes,
            Register::BXCF => word(&self.bxcf),
            Register::SQRSV0 => self.units.qps.reservations(0),
            Register::SQRSV1 => self.units.qps.reservations(1),
            Register::SQCNTL => self.scheduler_control,
            Register::SRQUA => self.units.qps.uniforms().0,
            Register::SRQUL => self.units.qps.length(),
            Register::SRQCS => self.units.qps.status(),
            Register::VPACNTL => self.vpacntl,
            Register::VPMBASE => u32::from(self.vpm_base),
            Register::PCTRE => word(&self.performance_enables),
            Register::DBCFG => word(&self.debug_configuration),
            Register::DBQITE => u32::from(self.qpu_interrupt_enables),
            Register::DBQITC => u32::from(self.qpu_interrupts),
            Register::ERRSTAT => word(&self.error_status()),
            Register::FDBGO => word(&Fdbgo { xyrelz_fifo_full: self.last_frame.is_some(), ..Fdbgo::default() }),
            Register::FDBGB => word(&Fdbgb { edges_ctrlid: self.last_frame.map_or(0, |_| 3), ..Fdbgb::default() }),
            Register::FDBGS => self.last_frame.map_or(0, |left| word(&left.signals())),
            // The model has none of the signals that these show, and the others are write only.
            Register::DBGE | Register::FDBGR | Register::SLCACTL | Register::SRQPC | Register::PCTRC => 0,
            performance_counters!() => {
                self.update_performance();
                let (n, is_source) = performance_register(register);
                let counter = self.performance.get(n).copied().unwrap_or_default();
                if is_source { counter.source } else { counter.count }
            }
        }
    }

    /// Writes registers in succession. User programs that they request may be executed at once; what is computed is the same as by [`Self::write`].
    pub fn write_all(&mut self, memory: &Memory<'_>, writes: &[(Register, u32)]) {
        let mut requested = false;
        for &(register, value) in writes {
            let requests = matches!(register, Register::SRQUA | Register::SRQUL | Register::SRQPC);
            if self.beside.is_some() || self.units.coherence.is_some() {
                self.write(memory, register.offset(), value);
                continue;
            }
            if requested && !requests {
                self.run(*memory);
            }
            self.store_register(register, value);
            requested = requests;
            if !requests {
                self.run(*memory);
            }
        }
        if requested {
            self.run(*memory);
        }
    }

    fn write_register(&mut self, memory: Memory<'_>, register: Register, value: u32) {
        self.store_register(register, value);
        self.run(memory);
    }

    /// Does what a write does to the registers, and executes nothing.
    fn store_register(&mut self, register: Register, value: u32) {
        match register {
            Register::SCRATCH => self.scratch = value,
            Register::L2CACTL => self.write_l2_control(L2cactl::from_word(value)),
            Register::SLCACTL => self.clear_slices(Slcactl::from_word(value)),
            Register::INTCTL => self.acknowledge(value),
            Register::INTENA => self.interrupt_enables |= value & PIPELINE_INTERRUPTS,
            Register::INTDIS => self.interrupt_enables &= !value,
            Register::CT0CS => self.units.cle.control(Thread::Binning, Ctncs::from_word(value)),
            Register::CT1CS => self.units.cle.control(Thread::Rendering, Ctncs::from_word(value)),
            Register::CT0EA => self.units.cle.set_end(Thread::Binning, BusAddr(value)),
            Register::CT1EA => self.units.cle.set_end(Thread::Rendering, BusAddr(value)),
            Register::CT0CA => self.set_current(Thread::Binning, register, value),
            Register::CT1CA => self.set_current(Thread::Rendering, register, value),
            Register::CT0LC => self.clear_list_counters(Thread::Binning, value),
            Register::CT1LC => self.clear_list_counters(Thread::Rendering, value),
            Register::BFC => self.flushes = if value & 1 == 1 { 0 } else { self.flushes },
            Register::RFC => self.frames = if value & 1 == 1 { 0 } else { self.frames },
            Register::BPOA => self.units.cle.ptb.overspill.address = value,
            Register::BPOS => {
                let address = self.units.cle.ptb.overspill.address;
                self.units.cle.ptb.overspill = Overspill { address, bytes: value };
                self.units.cle.memory_offered();
                self.units.cle.ptb.note_memory(value);
            }
            Register::BXCF => {
                self.bxcf = Bxcf::from_word(value);
                self.units.cle.ptb.clipping_disabled = self.bxcf.clipdisa;
            }
            Register::VPACNTL => {
                self.vpacntl = value;
                self.units.cle.allocator.control = Vpacntl::from_word(value);
                if value == 0 {
                    self.errors.vpaerrgl = true;
                    self.units.faults.report(RegisterFault::VpmLimit);
                }
            }
            Register::VPMBASE => self.write_vpm_base(value),
            Register::SQRSV0 => self.units.qps.set_reservations(0, value),
            Register::SQRSV1 => self.units.qps.set_reservations(1, value),
            Register::SQCNTL => self.scheduler_control = value & 0xf,
            Register::SRQUA => self.units.qps.set_uniforms(BusAddr(value)),
            Register::SRQUL => self.units.qps.set_length(value),
            Register::SRQPC => self.units.qps.request(BusAddr(value)),
            Register::SRQCS => self.units.qps.write_status(value),
            Register::DBQITE => self.qpu_interrupt_enables = value as u16,
            Register::DBQITC => self.qpu_interrupts &= !(value as u16),
            Register::PCTRC => {
                self.update_performance();
                for (n, counter) in self.performance.iter_mut().enumerate() {
                    if value >> n & 1 == 1 {
                        counter.count = 0;
                    }
                }
            }
            Register::PCTRE => {
                self.update_performance();
                self.performance_enables = Pctre::from_word(value);
                self.set_timing();
            }
            Register::DBCFG => self.debug_configuration = Dbcfg::from_word(value),
            performance_counters!() => self.write_performance(register, value),
            // They are read only.
            Register::IDENT0
            | Register::IDENT1
            | Register::IDENT2
            | Register::CT00RA0
            | Register::CT01RA0
            | Register::CT0PC
            | Register::CT1PC
            | Register::PCS
            | Register::BPCA
            | Register::BPCS
            | Register::DBGE
            | Register::FDBGO
            | Register::FDBGB
            | Register::FDBGR
            | Register::FDBGS
            | Register::ERRSTAT => {}
        }
    }

    /// Writes the count or the source of a performance counter.
    fn write_performance(&mut self, register: Register, value: u32) {
        self.update_performance();
        let (n, is_source) = performance_register(register);
        if let Some(counter) = self.performance.get_mut(n) {
            if is_source {
                counter.source = value & 0x1f;
                counter.seen = self.units.counters.get(CounterSource::from_code(counter.source as u8));
            } else {
                counter.count = value;
            }
        }
        self.set_timing();
    }

    /// Runs everything as far as possible, and latches the events.
    fn run(&mut self, memory: Memory<'_>) {
        self.units.run(memory, &Supervision::default());
        self.latch_events();
    }

    /// Latches the events that the units have reported.
    fn latch_events(&mut self) {
        self.qpu_interrupts |= std::mem::take(&mut self.units.qps.shared.interrupts);
        let events = self.units.cle.take_events();
        self.flushes = self.flushes.wrapping_add(events.flushes as u8);
        self.frames = self.frames.wrapping_add(events.frames as u8);
        if events.frames > 0 {
            let quads = self.units.counters.get(CounterSource::FepQuads);
            let drew = std::mem::replace(&mut self.quads, quads) != quads;
            self.last_frame = Some(if drew { FrameTraces::Quads } else { FrameTraces::Nothing });
        }
        self.interrupts.int_fldone |= events.flushes > 0;
        self.interrupts.int_frdone |= events.frames > 0;
        self.interrupts.int_spilluse |= events.spill_used;
        self.interrupts.int_outomem |= self.units.cle.is_out_of_memory();
        match events.refused {
            Some(AllocationError::TooBig { .. }) => self.errors.vpaergs = true,
            Some(AllocationError::BinningLimit { .. }) => self.errors.vpaebrgl = true,
            Some(AllocationError::RenderingLimit { .. }) => self.errors.vpaerrgl = true,
            None => {}
        }
    }

    fn ident1(&self) -> Ident1 {
        Ident1 {
            // 16 KiB read as 0.
            vpmsz: self.config.vpm_kib % 16,
            hdrt: 1,
            nsem: SEMAPHORES,
            tups: TMUS_PER_SLICE,
            qups: self.config.qpus_per_slice % 16,
            nslc: self.config.slices % 16,
            rev: 1,
        }
    }

    fn list_counters(&self, thread: Thread) -> u32 {
        let (ctllcm, ctlslcs) = self.units.cle.list_counters(thread);
        word(&Ctnlc { ctllcm, ctlslcs })
    }

    fn clear_list_counters(&mut self, thread: Thread, value: u32) {
        self.units.cle.clear_list_counters(thread, value >> 16 & 1 == 1, value & 1 == 1);
    }

    fn set_current(&mut self, thread: Thread, register: Register, value: u32) {
        if !self.units.cle.set_current(thread, BusAddr(value)) {
            self.units.faults.report(RegisterFault::ThreadRunning(register));
        }
    }

    /// Writes VPMBASE. While lists run the allocator refuses, and the write is lost.
    fn write_vpm_base(&mut self, value: u32) {
        let running =
            [Thread::Binning, Thread::Rendering].into_iter().any(|thread| self.units.cle.status(thread).ctrun);
        if running {
            self.errors.vpaeabb = true;
            return;
        }
        let base = (value & 0x1f) as u8;
        // Linux writes its value again whenever it resumes the V3D, whether or not that was without power.
        if base != self.vpm_base && self.units.counters.get(CounterSource::QpuVertexCycles) > 0 {
            self.units.faults.report(RegisterFault::VpmBaseAfterShading);
        }
        self.vpm_base = base;
        self.units.cle.allocator.reserved_units = self.vpm_base;
        self.units.qps.reserve_vpm(self.vpm_base);
    }

    fn clear_code(&mut self) {
        self.units.cle.clear_code();
        self.units.code.clear();
    }

    fn clear_slices(&mut self, word: Slcactl) {
        self.clear_code();
        let Slcactl { t1ccs, t0ccs, uccs, iccs } = word;
        self.with_caches(|caches, _| {
            caches.clear(Level1::Texture(1), t1ccs);
            caches.clear(Level1::Texture(0), t0ccs);
            caches.clear(Level1::Uniforms, uccs);
            caches.clear(Level1::Instructions, iccs);
        });
    }

    fn error_status(&self) -> Errstat {
        let shared = &self.units.qps.shared;
        let signals = self.units.faults.signals;
        Errstat {
            vcmbe: signals.vcm_binner,
            vcmre: signals.vcm_renderer,
            vdwe: shared.store_address,
            vpmerr: signals.vpm_read_range || shared.read_range,
            vpmewr: signals.vpm_write_range || shared.write_range,
            ..self.errors
        }
    }

    fn pipeline_status(&self) -> Pcs {
        let (bmactive, bmbusy) = self.units.cle.activity(Thread::Binning);
        let (rmactive, rmbusy) = self.units.cle.activity(Thread::Rendering);
        let bmoom = self.units.cle.is_out_of_memory() || !self.units.cle.ptb.has_had_memory();
        Pcs { bmoom, rmbusy, rmactive, bmbusy, bmactive }
    }

    fn write_l2_control(&mut self, word: L2cactl) {
        if word.l2cclr {
            self.clear_code();
        }
        if word.l2cdis {
            self.l2_enabled = false;
        }
        if word.l2cena {
            self.l2_enabled = true;
        }
        self.with_caches(|caches, enabled| {
            caches.l2_enabled = enabled;
            if word.l2cclr {
                caches.clear_l2();
            }
        });
    }

    /// Clears interrupts; one whose cause persists is set again when everything has run.
    fn acknowledge(&mut self, value: u32) {
        self.interrupts = Intctl::from_word(word(&self.interrupts) & !value);
    }

    /// Adds the new counts of its source to each enabled performance counter.
    fn update_performance(&mut self) {
        let Pctre { enable, cten } = self.performance_enables;
        self.units.counters.settle();
        for (n, counter) in self.performance.iter_mut().enumerate() {
            let total = self.units.counters.get(CounterSource::from_code(counter.source as u8));
            if enable && cten >> n & 1 == 1 {
                counter.count = counter.count.wrapping_add(total.wrapping_sub(counter.seen) as u32);
            }
            counter.seen = total;
        }
    }
}

/// The number of the performance counter that a register belongs to, and whether it selects the source.
const fn performance_register(register: Register) -> (usize, bool) {
    let offset = register.offset().wrapping_sub(Register::PCTR0.offset());
    (offset as usize / 8, offset % 8 == 4)
}

/// A register's structure as a word. All values that the model puts into registers fit their fields.
fn word(value: &impl Layout) -> u32 {
    value.to_word().unwrap_or(0)
}
