//! The model behind the registers of a platform, with its own memory and clock.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

#[cfg(feature = "renderer")]
use renderer::Device;
use v3d::Interrupts;
use v3d::hw::BusAddr;
use v3d::hw::registers::Register;
use v3d::platform::{GpuMemory, Named, Power, PowerError, RegisterAccess, Time};
#[cfg(feature = "renderer")]
use v3d::{Driver, Limits};
use v3d_sim::counters::Counters;
use v3d_sim::dump::{self, Survey};
use v3d_sim::job::{Job, RenderConfig};
use v3d_sim::memory::Limits as MemoryLimits;
use v3d_sim::render::pixel_trace::PixelTrace;
use v3d_sim::{Config, Fault, Memory, V3d};

use crate::capture::{CaptureError, Recorder};

/// A platform of the driver whose V3D is the model.
///
/// The model executes a list as soon as its start register is written, unless lists are held back. Time advances only when the clock is read or waited for, so
/// results do not depend on the host's speed. The public fields are for tests of a driver's error handling.
#[derive(Debug)]
pub struct Model {
    v3d: RefCell<V3d>,
    config: Config,
    words: Vec<AtomicU32>,
    now_us: Cell<u64>,
    started: Cell<Started>,
    /// The jobs so far, if they are recorded.
    recorder: RefCell<Option<Recorder>>,
    /// State that the machine's interrupt handler shares with the driver.
    pub interrupts: Interrupts,
    /// Whether the interrupt line is connected.
    pub line: Cell<bool>,
    /// The V3D is reset once, before the next write to this register.
    pub reset_before: Cell<Option<Register>>,
    /// Whether the machine can reset the V3D.
    pub resettable: Cell<bool>,
    /// Starts of lists that are held back until the driver waits; `None` if lists are executed when they are started.
    pub held: RefCell<Option<Vec<(Register, u32)>>>,
    /// Ranges that the GPU may read, and ranges that it may read and write, in bytes from address 0 on; `None` if it may access all of memory.
    pub within: RefCell<Option<[Vec<Range<u64>>; 2]>>,
}

/// The last values of the registers that start control list threads: start and end of each list.
#[derive(Clone, Copy, Debug, Default)]
struct Started {
    binning: (u32, u32),
    rendering: (u32, u32),
    /// Address and number of the next user program's uniforms.
    uniforms: (u32, u32),
}

impl Model {
    /// A platform with `bytes` bytes of GPU memory.
    pub fn new(bytes: u32, config: Config) -> Self {
        let words = (0..(Self::OFFSET + bytes) / 4).map(|_| AtomicU32::new(0)).collect();
        Self {
            v3d: RefCell::new(V3d::new(config)),
            config,
            words,
            now_us: Cell::new(1),
            started: Cell::default(),
            recorder: RefCell::new(None),
            interrupts: Interrupts::new(),
            line: Cell::new(true),
            reset_before: Cell::new(None),
            resettable: Cell::new(true),
            held: RefCell::new(None),
            within: RefCell::new(None),
        }
    }

    /// Address of GPU memory: not 0, so that a null address is invalid.
    const OFFSET: u32 = 0x10_0000;

    /// A device of the renderer, with the driver's default limits.
    ///
    /// # Errors
    /// When there is less memory than the driver allocates for the binner.
    #[cfg(feature = "renderer")]
    pub fn device(&self) -> Result<Device<'_, Self>, v3d::Error> {
        Ok(Device::new(Driver::bring_up(self, &self.interrupts, Limits::default())?))
    }

    /// The faults that the model has reported since the last call.
    pub fn take_faults(&self) -> Vec<Fault> {
        self.v3d.borrow_mut().take_faults()
    }

    /// Number of instructions that all programs have executed, and of clock cycles in which QPUs were busy, as the model estimates them if `estimate` of
    /// [`Config`] is set.
    pub fn programs_cost(&self) -> (u64, u64) {
        let mut v3d = self.v3d.borrow_mut();
        let counters = v3d.counters();
        (counters.programs().map(|(_, events)| events.instructions).sum(), counters.elapsed_cycles())
    }

    /// The last job that was started, in the format of `v3d dump`: both lists, and everything that they refer to.
    ///
    /// A frame has a job for each pass. The dump shows the present contents of memory: call it when the frame is done, and before memory is used for anything
    /// else.
    pub fn dump(&self) -> String {
        dump::job(&self.last_job(), self.memory())
    }

    /// What the lists of the last job contain, in numbers.
    pub fn survey(&self) -> Survey {
        dump::survey(&self.last_job(), self.memory())
    }

    /// The last job that was started.
    fn last_job(&self) -> Job {
        let Started { binning, rendering, .. } = self.started.get();
        Job {
            mem: String::new(),
            mem_bytes: None,
            has_bin: binning.0 != binning.1,
            bin_ct0ca: binning.0,
            bin_ct0ea: binning.1,
            render_ct1ca: rendering.0,
            render_ct1ea: rendering.1,
            arena_base: self.base().0,
            arena_size: self.bytes(),
            overflow_memory: None,
            render_config: RenderConfig::default(),
            color_buffer: None,
            carry: Vec::new(),
            buffers: Vec::new(),
            names: Vec::new(),
            user_programs: Vec::new(),
            host_interrupts: None,
        }
    }

    /// The counts of the model so far, as `read` takes them.
    pub fn counted<R>(&self, read: impl FnOnce(&Counters) -> R) -> R {
        read(self.v3d.borrow_mut().counters())
    }

    /// Takes the trace of the watched pixel, if `watched_pixel` of [`Config`] names one.
    pub fn take_pixel_trace(&self) -> PixelTrace {
        self.v3d.borrow_mut().take_pixel_trace()
    }

    /// From now on keeps all jobs, with the memory that they find, for [`Model::capture`].
    pub fn record(&self) {
        self.recorder.borrow_mut().get_or_insert_default();
    }

    /// Writes the recorded jobs to a new job folder, which `v3d` runs and explains; `name` is its title. At most the last 256 jobs are kept.
    ///
    /// # Errors
    /// When the folder exists or cannot be written, or no job was recorded. Then there is no new folder.
    pub fn capture(&self, name: &str, folder: &Path) -> Result<(), CaptureError> {
        self.recorder.borrow_mut().as_mut().ok_or(CaptureError::Nothing)?.write(name, folder)
    }

    /// The files of the job folder that [`Model::capture`] would write, with their names.
    ///
    /// # Errors
    /// When no job was recorded.
    pub fn captured(&self, name: &str) -> Result<Vec<(String, Vec<u8>)>, CaptureError> {
        self.recorder.borrow_mut().as_mut().ok_or(CaptureError::Nothing)?.files(name)
    }

    /// Tells the recorder, if there is one, that the CPU has written to memory.
    fn note_store(&self) {
        if let Some(recorder) = &mut *self.recorder.borrow_mut() {
            recorder.stored();
        }
    }

    /// Tells the recorder, if there is one, of what a write to a register starts.
    fn note_start(&self, register: Register, value: u32) {
        let Some(recorder) = &mut *self.recorder.borrow_mut() else { return };
        let Started { binning, rendering, uniforms } = self.started.get();
        match register {
            Register::CT0EA => recorder.binning((binning.0, value)),
            Register::CT1EA => recorder.rendering((rendering.0, value), self.memory()),
            Register::SRQPC => recorder.program([value, uniforms.0, uniforms.1], self.memory()),
            _ => {}
        }
    }

    /// Replaces the V3D by a new one.
    fn replace(&self) {
        *self.v3d.borrow_mut() = V3d::new(self.config);
        if let Some(recorder) = &mut *self.recorder.borrow_mut() {
            recorder.reset();
        }
    }

    /// Starts the lists that were held back; returns whether there were any.
    fn start_held(&self) -> bool {
        let held = self.held.borrow_mut().as_mut().map(std::mem::take).unwrap_or_default();
        held.iter().for_each(|&(register, value)| self.carry_out(register, value));
        !held.is_empty()
    }

    /// Performs a write to a register of the V3D.
    fn carry_out(&self, register: Register, value: u32) {
        self.note_start(register, value);
        let mut v3d = self.v3d.borrow_mut();
        match &*self.within.borrow() {
            None => v3d.write(&self.memory(), register.offset(), value),
            Some([readable, writable]) => {
                let limits = MemoryLimits::new(self.memory(), readable, writable);
                v3d.write(&Memory::limited(&limits), register.offset(), value);
            }
        }
    }

    fn memory(&self) -> Memory<'_> {
        Memory::new(&self.words)
    }

    /// Notes where lists start and end, and where uniforms are.
    fn note(&self, register: Register, value: u32) {
        let mut started = self.started.get();
        match register {
            Register::CT0CA => started.binning.0 = value,
            Register::CT0EA => started.binning.1 = value,
            Register::CT1CA => started.rendering.0 = value,
            Register::CT1EA => started.rendering.1 = value,
            Register::SRQUA => started.uniforms.0 = value,
            Register::SRQUL => started.uniforms.1 = value,
            _ => return,
        }
        self.started.set(started);
    }
}

impl RegisterAccess for Model {
    fn read(&self, register: Register) -> u32 {
        self.v3d.borrow_mut().read(&self.memory(), register.offset())
    }

    fn write(&self, register: Register, value: u32) {
        if self.reset_before.get() == Some(register) {
            self.reset_before.set(None);
            self.replace();
        }
        self.note(register, value);
        if let Some(held) = &mut *self.held.borrow_mut()
            && matches!(register, Register::CT0EA | Register::CT1EA)
        {
            held.push((register, value));
            return;
        }
        self.carry_out(register, value);
    }
}

impl GpuMemory for Model {
    fn base(&self) -> BusAddr {
        BusAddr(BusAddr::UNCACHED | Self::OFFSET)
    }

    fn bytes(&self) -> u32 {
        self.words.len() as u32 * 4 - Self::OFFSET
    }

    fn store(&self, offset: u32, bytes: &[u8]) {
        // Bytes outside of memory are ignored.
        let _ = self.memory().write(self.base() + offset, bytes);
        self.note_store();
    }

    fn load(&self, offset: u32, bytes: &mut [u8]) {
        if self.memory().read(self.base() + offset, bytes).is_err() {
            bytes.fill(0);
        }
    }

    fn name(&self, address: BusAddr, what: Named, name: fmt::Arguments<'_>) {
        if let Some(recorder) = &mut *self.recorder.borrow_mut() {
            recorder.names.set(address, what, name);
        }
    }

    fn keeps_names(&self) -> bool {
        self.recorder.borrow().is_some()
    }

    fn store_word(&self, offset: u32, word: u32) {
        if let Some(place) = self.words.get(((Self::OFFSET + offset) / 4) as usize) {
            place.store(word, Ordering::Relaxed);
        }
        self.note_store();
    }

    fn load_word(&self, offset: u32) -> u32 {
        self.words.get(((Self::OFFSET + offset) / 4) as usize).map_or(0, |place| place.load(Ordering::Relaxed))
    }
}

impl Time for Model {
    fn now_us(&self) -> u64 {
        self.now_us.set(self.now_us.get() + 1);
        self.now_us.get()
    }

    fn wait_until(&self, deadline_us: u64) {
        let started = self.start_held();
        if self.line.get() && self.v3d.borrow().interrupt() {
            self.interrupts.service(self);
        } else if !started {
            self.now_us.set(deadline_us.max(self.now_us.get()));
        }
    }
}

impl Power for Model {
    fn reset(&self) -> Result<(), PowerError> {
        if !self.resettable.get() {
            return Err(PowerError("there is nothing to reset it with"));
        }
        self.replace();
        Ok(())
    }
}
