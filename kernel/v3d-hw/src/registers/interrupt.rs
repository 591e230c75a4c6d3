//! Interrupt registers of the pipeline and of the QPUs [AG p.94-96].

use crate::layout;

layout! {
    /// Interrupt status; write 1 to clear [AG p.95].
    ///
    /// OUTOMEM is level triggered: it comes back until its cause is gone.
    pub struct Intctl: 32 bits "V3D_INTCTL" {
        /// Binner used overspill memory.
        3:3 int_spilluse: bool,
        /// Binner out of memory.
        2:2 int_outomem: bool,
        /// Binning flush done.
        1:1 int_fldone: bool,
        /// Frame rendered.
        0:0 int_frdone: bool,
    }
}

layout! {
    /// Interrupt enables; write 1 to enable [AG p.95].
    pub struct Intena: 32 bits "V3D_INTENA" {
        /// Binner used overspill memory: enabled.
        3:3 ei_spilluse: bool,
        /// Binner out of memory: enabled.
        2:2 ei_outomem: bool,
        /// Binning flush done: enabled.
        1:1 ei_fldone: bool,
        /// Frame rendered: enabled.
        0:0 ei_frdone: bool,
    }
}

layout! {
    /// Interrupt disables; write 1 to disable, reads as the enables [AG p.96].
    pub struct Intdis: 32 bits "V3D_INTDIS" {
        /// Binner used overspill memory: disable.
        3:3 di_spilluse: bool,
        /// Binner out of memory: disable.
        2:2 di_outomem: bool,
        /// Binning flush done: disable.
        1:1 di_fldone: bool,
        /// Frame rendered: disable.
        0:0 di_frdone: bool,
    }
}

layout! {
    /// QPU interrupts latched; write 1 to clear [AG p.94].
    pub struct Dbqitc: 32 bits "V3D_DBQITC" {
        /// One bit per QPU.
        15:0 ic_qpu: u16,
    }
}

layout! {
    /// QPU interrupt enables [AG p.94].
    pub struct Dbqite: 32 bits "V3D_DBQITE" {
        /// One bit per QPU.
        15:0 ie_qpu: u16,
    }
}

layout! {
    /// QPU debug configuration; in no table of the guide [brcm].
    pub struct Dbcfg: 32 bits "V3D_DBCFG" {
        /// QPU interrupts are delivered at all.
        0:0 qpu_interrupts: bool,
    }
}
