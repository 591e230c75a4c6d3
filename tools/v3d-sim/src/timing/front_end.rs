//! The units between vertices and QPUs: VCD, PSE and FEP, which pass primitives and quads on to each other.

use super::costs;
use super::estimate::UnitCycles;
use super::trace::FrontWork;

/// Times of the units; each takes its work in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FrontEnd {
    /// Time at which the PSE is free.
    pse: u64,
    /// Time at which the rasteriser is free.
    rasteriser: u64,
    /// Time at which the last batch has gone to a QPU: until then the rasteriser has no room for the next.
    handed_over: u64,
    /// Time at which the last vertices have been shaded.
    shaded: u64,
}

impl FrontEnd {
    /// All units are free from a time on.
    pub(super) const fn at(start: u64) -> Self {
        Self { pse: start, rasteriser: start, handed_over: start, shaded: start }
    }

    /// Lets the units work up to a batch whose vertices are there at a time; returns the time at which the batch is complete.
    pub(super) fn pass(&mut self, work: FrontWork, fetched: u64, units: &mut UnitCycles) -> u64 {
        let set_up = u64::from(work.primitives) * costs::PSE_PRIMITIVE;
        units.pse += set_up;
        self.pse = (self.pse + set_up).max(fetched).max(self.shaded);
        self.rasteriser = self.rasteriser.max(self.pse).max(self.handed_over) + u64::from(work.quads) * costs::FEP_QUAD;
        self.rasteriser
    }

    /// A batch has gone to a QPU.
    pub(super) const fn hand_over(&mut self, time: u64) {
        self.handed_over = time;
    }

    /// A batch of vertices has been shaded.
    pub(super) fn shade(&mut self, time: u64) {
        self.shaded = self.shaded.max(time);
    }

    /// The time at which all that has been passed is done.
    pub(super) const fn end(&self) -> u64 {
        self.rasteriser
    }
}
