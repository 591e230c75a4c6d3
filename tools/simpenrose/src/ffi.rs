//! The C interface, and the memory that belongs to its caller.
//!
//! The header `include/simpenrose/simpenrose.h` describes the functions. One V3D serves the process, behind a lock; the caller's block is only accessed while
//! a function runs.
//!
//! # Source
//! The calls in Mesa's `src/gallium/drivers/vc4/vc4_simulator.c`, the same in 22.3.6 and 25.0.7.

use crate::options::Options;
use crate::simulator::{Report, Simulator};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use std::slice;
use std::sync::atomic::AtomicU32;
use std::sync::{Mutex, MutexGuard, PoisonError};
use v3d_sim::Memory;

/// Most faults of a list that are written as lines.
const MOST_LINES: usize = 8;

/// A function of the caller for faults.
type FaultFunction = unsafe extern "C" fn(context: *mut c_void, job: u32, text: *const c_char);

/// The function for faults, and its first argument.
#[derive(Clone, Copy)]
struct Callback {
    function: FaultFunction,
    context: *mut c_void,
}

// SAFETY: the context is never dereferenced here. The header says that the function is called in the thread that runs a list, so that the caller passes a
// context that can be used there.
unsafe impl Send for Callback {}

/// The caller's block of memory.
#[derive(Clone, Copy)]
struct Block {
    words: *mut AtomicU32,
    bytes: u32,
}

// SAFETY: the block is plain memory that the caller keeps, by the contract of `simpenrose_init_hardware_supply_mem`; it has no affinity to a thread.
unsafe impl Send for Block {}

impl Block {
    /// The address of a pointer into the block; `None` for others.
    fn address(self, place: *const c_void) -> Option<u32> {
        let offset = place.addr().checked_sub(self.words.addr())?;
        u32::try_from(offset).ok().filter(|&offset| offset < self.bytes)
    }

    /// The block as the model's memory.
    ///
    /// # Safety
    /// The block exists, and the lock is held, as long as the view is used.
    unsafe fn memory(&self) -> Memory<'_> {
        // SAFETY: the words are aligned and valid for reads and writes, as the caller has promised, and the promise holds until the block is replaced, which
        // needs the lock. Other threads of the caller may write to other buffers at the same time: all accesses here are atomic.
        Memory::new(unsafe { slice::from_raw_parts(self.words, self.bytes as usize / 4) })
    }
}

/// What the functions share.
struct State {
    simulator: Simulator,
    block: Option<Block>,
    callback: Option<Callback>,
    faults: Lines,
    costs: Option<Lines>,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

/// A file for lines, or standard error.
struct Lines(Option<File>);

impl Lines {
    /// Opens a file to add lines to. Standard error takes them if it cannot be opened.
    fn open(path: Option<&Path>) -> Self {
        let file = path.and_then(|path| {
            let opened = File::options().create(true).append(true).open(path);
            if let Err(error) = &opened {
                eprintln!("simpenrose: {}: {error}", path.display());
            }
            opened.ok()
        });
        Self(file)
    }

    fn write(&mut self, line: &str) {
        // A full disk must not end the program that draws.
        let _ = match &mut self.0 {
            Some(file) => file.write_all(format!("{line}\n").as_bytes()),
            None => writeln!(io::stderr(), "{line}"),
        };
    }
}

impl State {
    fn new() -> Self {
        let (options, bad) = Options::read(|variable| std::env::var(variable).ok());
        let mut faults = Lines::open(options.faults.as_deref());
        for bad in bad {
            faults.write(&format!("simpenrose: {} is \"{}\"; it takes {}", bad.variable, bad.value, bad.takes));
        }
        let costs = options.costs.as_deref().map(|path| Lines::open(Some(path)));
        Self { simulator: Simulator::new(options), block: None, callback: None, faults, costs }
    }

    /// Writes what a list has reported, or returns the function that takes it.
    fn tell(&mut self, report: &Report) -> Option<Callback> {
        if let (Some(costs), Some(line)) = (&mut self.costs, &report.costs) {
            costs.write(line);
        }
        if self.callback.is_some() {
            return self.callback;
        }
        for text in report.faults.iter().chain(&report.remarks).take(MOST_LINES) {
            self.faults.write(&format!("simpenrose: job {}, {text}", report.job));
        }
        let more = (report.faults.len() + report.remarks.len()).saturating_sub(MOST_LINES);
        if more > 0 {
            self.faults.write(&format!("simpenrose: job {}, and {more} more", report.job));
        }
        None
    }
}

/// The state, which the first call creates. A panic of another thread leaves a V3D that can be used.
fn with<T>(use_state: impl FnOnce(&mut State) -> T) -> T {
    let mut guard: MutexGuard<'_, Option<State>> = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    use_state(guard.get_or_insert_with(State::new))
}

/// Sets the block of memory.
///
/// # Safety
/// `mem` points to `size` bytes, aligned to 4, that are valid for reads and writes until the next call of this function, or until the last call of any. While
/// a list runs, no other thread changes the buffers that it accesses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simpenrose_init_hardware_supply_mem(mem: *mut c_void, size: u32) {
    with(|state| {
        let words = mem.cast::<AtomicU32>();
        let is_usable = !words.is_null() && words.is_aligned() && size >= 4;
        if !is_usable {
            state.faults.write("simpenrose: the memory is no block of words, so that there is no memory");
        }
        let callback = state.callback;
        *state = State::new();
        state.callback = callback;
        state.block = is_usable.then_some(Block { words, bytes: size & !3 });
    });
}

/// Sets what the binner gets when it runs out of memory.
#[unsafe(no_mangle)]
pub extern "C" fn simpenrose_supply_overflow_mem(addr: u32, size: u32) {
    with(|state| state.simulator.set_overflow(addr..addr.saturating_add(size)));
}

/// The address of a place in the block; 0 for other places. The pointer is only compared.
#[unsafe(no_mangle)]
pub extern "C" fn simpenrose_hw_addr(p: *mut c_void) -> u32 {
    with(|state| state.block.and_then(|block| block.address(p)).unwrap_or(0))
}

/// The same, and tells the size of the buffer that starts there.
#[unsafe(no_mangle)]
pub extern "C" fn simpenrose_buffer(p: *mut c_void, size: u32) -> u32 {
    with(|state| match state.block.and_then(|block| block.address(p)) {
        Some(start) => {
            state.simulator.buffers.add(start, size);
            start
        }
        None => 0,
    })
}

/// Makes accesses outside of the buffers faults, or no longer.
#[unsafe(no_mangle)]
pub extern "C" fn simpenrose_limit(enabled: c_int) {
    with(|state| state.simulator.is_limited = enabled != 0);
}

/// The number of the job that was started last.
#[unsafe(no_mangle)]
pub extern "C" fn simpenrose_job() -> u32 {
    with(|state| state.simulator.job())
}

/// Captures the next job.
///
/// # Safety
/// `folder` is null or a string that ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simpenrose_capture(folder: *const c_char) {
    if folder.is_null() {
        return;
    }
    // SAFETY: it is not null, and the caller has promised a zero byte at its end; it is not kept.
    let folder = PathBuf::from(unsafe { CStr::from_ptr(folder) }.to_string_lossy().into_owned());
    with(|state| state.simulator.capture_next(folder));
}

/// Sets the function for faults; none for lines.
///
/// # Safety
/// `function` can be called from any thread that runs a list, with `context`, until another one is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simpenrose_on_fault(function: Option<FaultFunction>, context: *mut c_void) {
    with(|state| state.callback = function.map(|function| Callback { function, context }));
}

/// Runs a binning list. Returns 1 if it has been flushed, otherwise 0.
#[unsafe(no_mangle)]
pub extern "C" fn simpenrose_do_binning(ct0ca: u32, ct0ea: u32) -> c_int {
    run(ct0ca..ct0ea, Simulator::bin)
}

/// Runs a rendering list. Returns 1 if a frame has been rendered, otherwise 0.
#[unsafe(no_mangle)]
pub extern "C" fn simpenrose_do_rendering(ct1ca: u32, ct1ea: u32) -> c_int {
    run(ct1ca..ct1ea, Simulator::render)
}

fn run(list: Range<u32>, run: fn(&mut Simulator, Memory<'_>, Range<u32>) -> Report) -> c_int {
    let (report, callback) = with(|state| {
        let Some(block) = state.block else {
            state
                .faults
                .write("simpenrose: a list is run, and there is no memory: call simpenrose_init_hardware_supply_mem");
            return (Report::default(), None);
        };
        // SAFETY: the caller keeps the block until it sets another one, and the lock is held.
        let memory = unsafe { block.memory() };
        let report = run(&mut state.simulator, memory, list);
        let callback = state.tell(&report);
        (report, callback)
    });
    // Without the lock, so that the function may call others.
    if let Some(Callback { function, context }) = callback {
        for text in report.faults.iter().chain(&report.remarks) {
            let text = CString::new(text.as_str()).unwrap_or_default();
            // SAFETY: the caller has promised that it can be called so; the text lives until it returns.
            unsafe { function(context, report.job, text.as_ptr()) };
        }
    }
    c_int::from(report.is_done)
}
