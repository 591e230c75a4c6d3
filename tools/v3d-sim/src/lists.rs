//! Control lists, run through the registers alone, as by a driver.
//!
//! A driver clears the caches, offers no overflow memory, and then writes the threads' current and end addresses. When the binner runs out of memory it
//! interrupts, and continues once it has received an address and a size. A list is done when the counter of flushes or frames has increased by one
//! [linux vc4_gem.c].
//!
//! Both threads can be started at once, by [`run_lists`], or one after the other, by [`run_binning_list`] and [`run_rendering_list`]: the semaphore that the
//! binner raises is kept until the rendering list takes it.

use crate::device::V3d;
use crate::memory::Memory;
use std::fmt;
use std::ops::Range;
use v3d_hw::Layout;
use v3d_hw::registers::Register;
use v3d_hw::registers::cache::{L2cactl, Slcactl};
use v3d_hw::registers::cle::Ctncs;
use v3d_hw::registers::interrupt::Intctl;
use v3d_hw::registers::pipeline::{Bfc, Rfc};

/// The registers that show the progress of the threads of the control list executor.
const LIST_REGISTERS: [Register; 11] = [
    Register::CT0CS,
    Register::CT0CA,
    Register::CT1CS,
    Register::CT1CA,
    Register::PCS,
    Register::BFC,
    Register::RFC,
    Register::INTCTL,
    Register::BPCA,
    Register::BPCS,
    Register::ERRSTAT,
];

/// How lists or programs ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// They are done.
    Done,
    /// The binner needs more memory than it was given.
    OutOfMemory,
    /// There is no progress; a line each for what has not happened, what waits for what, and the registers that show it, with their values and
    /// fields.
    Stuck(String),
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done => f.write_str("done"),
            Self::OutOfMemory => f.write_str("the binner needs more memory than the job has for it"),
            Self::Stuck(why) => write!(f, "stands still\n{why}"),
        }
    }
}

/// Lists to run, and memory for them: ranges of bus addresses, from the first byte to the one behind the last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lists {
    /// Records of thread 0.
    pub binning: Option<Range<u32>>,
    /// Records of thread 1.
    pub rendering: Option<Range<u32>>,
    /// What the binner gets when it runs out of memory, once.
    pub overflow: Option<Range<u32>>,
}

/// Resets both threads, clears the caches and counters, and takes back overflow memory, as a driver does before each job.
pub fn prepare(device: &mut V3d, memory: Memory<'_>) {
    let mut v3d = Registers { device, memory };
    for register in [Register::CT0CS, Register::CT1CS] {
        v3d.write(register, word(Ctncs { ctrsta: true, ..Ctncs::from_word(0) }));
    }
    v3d.clear_caches_and_counters();
    v3d.write(Register::BPOA, 0);
    v3d.write(Register::BPOS, 0);
    v3d.write(Register::INTCTL, 15);
}

/// Runs a binning list to its flush, after [`prepare`]. The binner gets `overflow` when it runs out of memory.
pub fn run_binning_list(device: &mut V3d, memory: Memory<'_>, list: Range<u32>, overflow: Option<Range<u32>>) -> End {
    prepare(device, memory);
    run_lists(device, memory, &Lists { binning: Some(list), rendering: None, overflow })
}

/// Runs a rendering list to the end of its frame. The binning list whose tile lists it draws, if any, has run before on the same device.
pub fn run_rendering_list(device: &mut V3d, memory: Memory<'_>, list: Range<u32>) -> End {
    Registers { device, memory }.clear_caches_and_counters();
    run_lists(device, memory, &Lists { rendering: Some(list), ..Lists::default() })
}

/// Starts the lists, and supplies memory until they are done or nothing happens any more. [`prepare`] comes before it.
pub fn run_lists(device: &mut V3d, memory: Memory<'_>, lists: &Lists) -> End {
    let mut v3d = Registers { device, memory };
    if let Some(list) = &lists.binning {
        v3d.write(Register::CT0CA, list.start);
        v3d.write(Register::CT0EA, list.end);
    }
    if let Some(list) = &lists.rendering {
        v3d.write(Register::CT1CA, list.start);
        v3d.write(Register::CT1EA, list.end);
    }
    let (expected_flushes, expected_frames) = (u8::from(lists.binning.is_some()), u8::from(lists.rendering.is_some()));
    let mut overflow = lists.overflow.clone();
    loop {
        if Intctl::from_word(v3d.read(Register::INTCTL)).int_outomem {
            let Some(region) = overflow.take() else { return End::OutOfMemory };
            v3d.write(Register::BPOA, region.start);
            v3d.write(Register::BPOS, region.end.wrapping_sub(region.start));
            v3d.write(Register::INTCTL, word(Intctl { int_outomem: true, ..Intctl::from_word(0) }));
            continue;
        }
        let flushes = Bfc::from_word(v3d.read(Register::BFC)).bmfct;
        let frames = Rfc::from_word(v3d.read(Register::RFC)).rmfct;
        if flushes == expected_flushes && frames == expected_frames {
            return End::Done;
        }
        let mut missing = Vec::new();
        let counts = [
            (flushes, expected_flushes, "binning has been flushed"),
            (frames, expected_frames, "a frame has been rendered"),
        ];
        for (count, expected, what) in counts {
            if count != expected {
                missing.push(format!("{what} {count} times, and not {expected}"));
            }
        }
        return v3d.stuck(missing, &LIST_REGISTERS);
    }
}

pub(crate) fn word(layout: impl Layout) -> u32 {
    // Constants: they fit their fields.
    layout.to_word().unwrap_or(0)
}

/// The register block and the memory behind it.
pub(crate) struct Registers<'a> {
    pub(crate) device: &'a mut V3d,
    pub(crate) memory: Memory<'a>,
}

impl Registers<'_> {
    pub(crate) fn read(&mut self, register: Register) -> u32 {
        self.device.read(&self.memory, register.offset())
    }

    pub(crate) fn write(&mut self, register: Register, value: u32) {
        self.device.write(&self.memory, register.offset(), value);
    }

    fn clear_caches_and_counters(&mut self) {
        self.write(Register::L2CACTL, word(L2cactl { l2cclr: true, l2cdis: false, l2cena: false }));
        self.write(Register::SLCACTL, word(Slcactl { t1ccs: 15, t0ccs: 15, uccs: 15, iccs: 15 }));
        self.write(Register::BFC, 1);
        self.write(Register::RFC, 1);
    }

    /// The end without progress: what has not happened, and the registers that show it.
    pub(crate) fn stuck(&mut self, missing: Vec<String>, registers: &[Register]) -> End {
        let why = missing.into_iter().chain(self.device.stalls(&self.memory));
        let why: String = why.map(|line| format!("  {line}\n")).collect();
        End::Stuck(why + &self.describe(registers))
    }

    /// Registers with their fields, a line each.
    fn describe(&mut self, registers: &[Register]) -> String {
        let lines = registers.iter().map(|&register| {
            let value = self.read(register);
            format!("  {register} = {value:#010x} {}", register.explain(value))
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}
