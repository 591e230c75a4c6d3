//! Control list executor registers, one set per thread [AG p.85-87].
//!
//! Thread 0 executes binning lists, thread 1 rendering lists.

use crate::{BusAddr, layout};

layout! {
    /// Control and status of thread n [AG p.85].
    ///
    /// A write acts on the bits that are 1: CTRSTA resets the thread, CTRUN stops it as at a Halt record, CTSUBS lets it go on.
    pub struct Ctncs: 32 bits "V3D_CTnCS" {
        /// Writing 1 stops the thread and resets all bits of this register.
        15:15 ctrsta: bool,
        /// Counting semaphore of this thread.
        14:12 ctsema: u8,
        /// Return stack depth: levels of list nesting.
        9:8 ctrtsd: u8,
        /// Running. Writing 1 stops the thread: "stopped at halt".
        5:5 ctrun: bool,
        /// If stopped: 0 at the end, 1 at a halt. If running: 1 stalled, waiting for the other thread. Writing 1 clears "stopped at halt" and runs on.
        4:4 ctsubs: bool,
        /// Stopped with an error; cleared on restarting.
        3:3 cterr: bool,
        /// Thread 0 only: 1 while prefix state is read, 0 once tile lists are started.
        0:0 ctmode: bool,
    }
}

layout! {
    /// End address of thread n [AG p.86].
    ///
    /// A write starts the thread if it is "stopped at end" and its current address differs.
    pub struct Ctnea: 32 bits "V3D_CTnEA" {
        /// The byte after the last record.
        31:0 ctlea: BusAddr,
    }
}

layout! {
    /// Current address of thread n [AG p.86].
    ///
    /// Writable only while the thread is stopped; a write makes it "stopped at end".
    pub struct Ctnca: 32 bits "V3D_CTnCA" {
        /// The current record, or the first to be processed.
        31:0 ctlca: BusAddr,
    }
}

layout! {
    /// Return address of thread n [AG p.86].
    pub struct Ctnra0: 32 bits "V3D_CTnRA0" {
        /// Address on the return stack.
        31:0 ctlra: BusAddr,
    }
}

layout! {
    /// List counters of thread n [AG p.86].
    ///
    /// A write of 1 to bit 16 or bit 0 clears the counter that starts there.
    pub struct Ctnlc: 32 bits "V3D_CTnLC" {
        /// Major list counter: Flush records met.
        31:16 ctllcm: u16,
        /// Sub-list counter: Return records met.
        15:0 ctlslcs: u16,
    }
}

layout! {
    /// Primitive list counter of thread n [AG p.87].
    pub struct Ctnpc: 32 bits "V3D_CTnPC" {
        /// Primitives that remain of the list being processed.
        31:0 ctlpc: u32,
    }
}
