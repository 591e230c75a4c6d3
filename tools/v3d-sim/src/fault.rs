//! Faults: what the hardware leaves undefined or answers with an error, with its place.
//!
//! Each unit has its own type of fault, in a file here, with what happened and where. The units depend on their faults, not vice versa. A fault never stops the
//! model; whether it stops the unit is visible in the unit's registers.

pub mod binning;
pub mod coherence;
pub mod list;
pub mod qpu;
pub mod register;
pub mod rendering;
pub mod rule;
pub mod tmu;
pub mod vertex;
pub mod vpm;

use crate::memory::OutOfMemory;
use binning::{PtbError, PtbFault};
use coherence::CoherenceFault;
use list::{AssemblyFault, CleError, CleFault};
use qpu::{QpsFault, QpuFault};
use register::RegisterFault;
use rendering::{RenderError, RenderFault};
use vertex::VcdFault;

/// Something that software must not do, or that the hardware reports as an error.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// A quad processor's program.
    #[error("QPU: {0}")]
    Qpu(#[from] QpuFault),
    /// The scheduler of user programs.
    #[error("QPS: {0}")]
    Qps(#[from] QpsFault),
    /// A register access.
    #[error("register: {0}")]
    Register(#[from] RegisterFault),
    /// The control list executor.
    #[error("CLE: {0}")]
    Cle(#[from] CleFault),
    /// Vertex cache manager and DMA.
    #[error("VCD: {0}")]
    Vcd(#[from] VcdFault),
    /// The primitive tile binner.
    #[error("PTB: {0}")]
    Ptb(#[from] PtbFault),
    /// Rendering.
    #[error("render: {0}")]
    Render(#[from] RenderFault),
    /// Caches that hold something else than memory.
    #[error("coherence: {0}")]
    Coherence(#[from] CoherenceFault),
    /// An access outside of memory by a unit that has no type of fault of its own.
    #[error("memory: {0}")]
    Memory(#[from] OutOfMemory),
}

impl Fault {
    /// Whether it is only a remark: software does nothing wrong, but boards do something that the model cannot do like them.
    pub const fn is_remark(&self) -> bool {
        matches!(
            self,
            Self::Ptb(PtbFault { error: PtbError::FarVertex(_), .. })
                | Self::Render(RenderFault { error: RenderError::Dithered, .. })
        )
    }

    /// What it is called in front of its text: "fault" or "remark".
    pub const fn kind(&self) -> &'static str {
        if self.is_remark() { "remark" } else { "fault" }
    }
}

/// Error signals of units, which end up in ERRSTAT [AG p.100].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signals {
    /// VCMBE: an index of the binner is greater than its list's maximum.
    pub vcm_binner: bool,
    /// VCMRE: an index of the renderer is.
    pub vcm_renderer: bool,
    /// VPMERR: a vertex or coordinate shader has read rows outside of its batch.
    pub vpm_read_range: bool,
    /// VPMEWR: it has written such rows.
    pub vpm_write_range: bool,
}

impl Signals {
    /// The signals that a fault raises by itself.
    fn of(fault: &Fault) -> Self {
        let beyond = |error: &AssemblyFault| matches!(error, AssemblyFault::MaximumIndex { .. });
        Self {
            vcm_binner: matches!(fault, Fault::Ptb(PtbFault { error: PtbError::Assembly(error), .. }) if beyond(error)),
            vcm_renderer: matches!(fault, Fault::Cle(CleFault { error: CleError::Assembly(error), .. }) if beyond(error)),
            ..Self::default()
        }
    }

    /// Adds other signals.
    pub const fn raise(&mut self, other: Self) {
        self.vcm_binner |= other.vcm_binner;
        self.vcm_renderer |= other.vcm_renderer;
        self.vpm_read_range |= other.vpm_read_range;
        self.vpm_write_range |= other.vpm_write_range;
    }
}

/// The faults of a run: the first [`FaultLog::KEPT`] different ones, and their total number.
#[derive(Clone, Debug, Default)]
pub struct FaultLog {
    kept: Vec<Fault>,
    /// Which of them was reported last.
    last: usize,
    total: u64,
    /// Error signals raised so far.
    pub signals: Signals,
}

impl PartialEq for FaultLog {
    fn eq(&self, other: &Self) -> bool {
        (&self.kept, self.total, self.signals) == (&other.kept, other.total, other.signals)
    }
}

impl FaultLog {
    /// Maximum number of different faults that are kept.
    pub const KEPT: usize = 64;

    /// Adds a fault.
    pub fn report(&mut self, fault: impl Into<Fault>) {
        let fault = fault.into();
        self.total += 1;
        self.signals.raise(Signals::of(&fault));
        if self.kept.len() >= Self::KEPT {
            return;
        }
        // A loop reports the same faults in the same order, again and again.
        let next = if self.last + 1 < self.kept.len() { self.last + 1 } else { 0 };
        if self.kept.get(next) == Some(&fault) {
            self.last = next;
            return;
        }
        self.last = self.kept.iter().position(|kept| *kept == fault).unwrap_or(self.kept.len());
        if self.last == self.kept.len() {
            self.kept.push(fault);
        }
    }

    /// Adds another log's faults, in their order.
    pub fn merge(&mut self, other: Self) {
        self.signals.raise(other.signals);
        if other.total == 0 {
            return;
        }
        let repeated = other.total - other.kept.len() as u64;
        for fault in other.kept {
            self.report(fault);
        }
        self.total += repeated;
    }

    /// The faults kept.
    pub fn faults(&self) -> &[Fault] {
        &self.kept
    }

    /// Total number of faults, repeated ones included.
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// Takes the faults, and empties the log.
    pub fn take(&mut self) -> Vec<Fault> {
        self.total = 0;
        std::mem::take(&mut self.kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use v3d_hw::BusAddr;

    /// Repeated faults, in any order, are kept once, in the order of their first report.
    #[test]
    fn different_faults_are_kept_once_in_their_order() {
        let fault = |address| Fault::from(OutOfMemory { address: BusAddr(address), bytes: 4 });
        let mut log = FaultLog::default();
        let reports = [1, 2, 3, 1, 2, 3, 2, 1, 4, 4, 3, 1, 2, 3, 4, 5, 1];
        reports.iter().for_each(|address| log.report(fault(*address)));
        assert_eq!((log.faults(), log.total()), ([1, 2, 3, 4, 5].map(fault).as_slice(), reports.len() as u64));
        assert_eq!(log.take().len(), 5);
        reports.iter().for_each(|address| log.report(fault(2 * address)));
        assert_eq!(log.faults(), [2, 4, 6, 8, 10].map(fault));
        (100..300).for_each(|address| log.report(fault(address)));
        assert_eq!((log.faults().len(), log.total()), (FaultLog::KEPT, reports.len() as u64 + 200));
    }
}
