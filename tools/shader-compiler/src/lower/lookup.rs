//! Lookups: one TMU request each.

use naga::Span;
use v3d_hw::qpu::AddOp;

use super::Lowering;
use crate::diagnostic::{Result, fault};
use crate::ssa::{Lookup, Sampling, Value};

/// A texture that is looked up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Image {
    pub(super) number: u32,
    pub(super) cube: bool,
    pub(super) depth: bool,
}

/// The source of a lookup's level of detail.
#[derive(Clone, Copy, Debug)]
pub(super) enum Detail {
    /// The quad's derivatives.
    Automatic,
    /// The quad's derivatives, plus a bias.
    Biased(Value),
    /// An explicit level of detail.
    Exactly(Value),
}

/// A lookup.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request<'p> {
    pub(super) texture: Image,
    /// s and t between 0 and 1, or a direction.
    pub(super) place: &'p [Value],
    pub(super) detail: Detail,
    /// Looks up one texel, without filtering.
    pub(super) one_texel: bool,
}

impl Lowering<'_> {
    /// The word that a lookup returns.
    pub(super) fn look_up(&mut self, request: Request<'_>, span: Span) -> Result<Value> {
        let Request { texture, place, detail, one_texel } = request;
        let (place, r) = match (texture.cube, place) {
            (false, [s, t]) => ([*s, *t], None),
            (true, [s, t, r]) => {
                let [s, t, r] = self.on_cube([*s, *t, *r]);
                ([s, t], Some(r))
            }
            _ => return fault(span, "coordinates of another number than the texture has"),
        };
        let (sampling, bias) = match (detail, one_texel) {
            (Detail::Automatic, false) => (Sampling::Automatic, None),
            (Detail::Biased(bias), false) => (Sampling::Automatic, Some(bias)),
            (Detail::Exactly(level), false) => (Sampling::Level, Some(level)),
            (Detail::Automatic, true) => (Sampling::Nearest, None),
            (Detail::Biased(bias), true) => (Sampling::Nearest, Some(bias)),
            (Detail::Exactly(level), true) => (Sampling::Texel, Some(level)),
        };
        Ok(self.program.lookup(Lookup { texture: texture.number, sampling, place, r, bias }))
    }

    /// A direction divided by its largest component, as the TMU expects it [AG p.44].
    pub(super) fn on_cube(&mut self, direction: [Value; 3]) -> [Value; 3] {
        let largest = self.largest(&direction);
        let inverse = self.program.recip(largest);
        direction.map(|value| self.program.fmul(value, inverse))
    }

    /// The greatest magnitude.
    pub(super) fn largest(&mut self, values: &[Value; 3]) -> Value {
        let largest = self.program.alu(AddOp::Fmaxabs, values[0], values[1]);
        self.program.alu(AddOp::Fmaxabs, largest, values[2])
    }
}
