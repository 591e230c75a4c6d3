//! Stencil test.

use alloc::vec::Vec;
use v3d_hw::Layout;
use v3d_hw::tile_buffer::{StencilConfiguration, StencilOp, StencilSelect, StencilWriteMask, StencilWriteMasks};

use super::depth::Compare;

/// An operation on a pixel's stencil.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StencilChange {
    /// Sets it to 0.
    Zero,
    /// Leaves it unchanged.
    Keep,
    /// Sets it to the reference.
    Replace,
    /// Increments it, clamped to 255.
    Increment,
    /// Decrements it, clamped to 0.
    Decrement,
    /// Inverts all bits.
    Invert,
    /// Increments it, wrapping from 255 to 0.
    IncrementWrap,
    /// Decrements it, wrapping from 0 to 255.
    DecrementWrap,
}

impl StencilChange {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Zero,
        Self::Keep,
        Self::Replace,
        Self::Increment,
        Self::Decrement,
        Self::Invert,
        Self::IncrementWrap,
        Self::DecrementWrap,
    ];

    const fn operation(self) -> StencilOp {
        match self {
            Self::Zero => StencilOp::Zero,
            Self::Keep => StencilOp::Keep,
            Self::Replace => StencilOp::Replace,
            Self::Increment => StencilOp::IncrementSaturated,
            Self::Decrement => StencilOp::DecrementSaturated,
            Self::Invert => StencilOp::Invert,
            Self::IncrementWrap => StencilOp::Increment,
            Self::DecrementWrap => StencilOp::Decrement,
        }
    }
}

/// The stencil test of one side of triangles: compares (reference & mask) with (stencil & mask).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StencilSide {
    /// The comparison of the reference with the stored stencil.
    pub test: Compare,
    /// The reference.
    pub reference: u8,
    /// The bits that are compared.
    pub mask: u8,
    /// The bits that are written.
    pub write_mask: u8,
    /// Operation where the stencil test fails.
    pub fail: StencilChange,
    /// Operation where only the depth test fails.
    pub depth_fail: StencilChange,
    /// Operation where both tests pass.
    pub pass: StencilChange,
}

impl StencilSide {
    /// Passes everywhere and changes nothing.
    pub const KEEP: Self = Self {
        test: Compare::Always,
        reference: 0,
        mask: 0xff,
        write_mask: 0xff,
        fail: StencilChange::Keep,
        depth_fail: StencilChange::Keep,
        pass: StencilChange::Keep,
    };

    fn configuration(&self, select: StencilSelect, write_mask: StencilWriteMask) -> StencilConfiguration {
        StencilConfiguration {
            select,
            write_mask,
            z_fail: self.depth_fail.operation(),
            z_pass: self.pass.operation(),
            stencil_fail: self.fail.operation(),
            function: self.test.function(),
            reference: self.reference,
            mask: self.mask,
        }
    }
}

/// The stencil tests of both sides of triangles. Points and lines use the front only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stencil {
    /// For front faces.
    pub front: StencilSide,
    /// For back faces.
    pub back: StencilSide,
}

impl Stencil {
    /// The same for both sides.
    pub const fn both(side: StencilSide) -> Self {
        Self { front: side, back: side }
    }

    /// The words that a fragment program writes to the stencil set-up register, in order [AG p.49-50].
    pub(super) fn words(&self) -> Option<Vec<u32>> {
        let (front, back) = (self.front.write_mask, self.back.write_mask);
        let short = if front == back { short_mask(front) } else { None };
        let code = short.unwrap_or(StencilWriteMask::Bits8);
        let mut words = Vec::with_capacity(3);
        if self.front == self.back {
            words.push(self.front.configuration(StencilSelect::Both, code).to_word().ok()?);
        } else {
            words.push(self.front.configuration(StencilSelect::Front, code).to_word().ok()?);
            words.push(self.back.configuration(StencilSelect::Back, code).to_word().ok()?);
        }
        if short.is_none() {
            words.push(StencilWriteMasks { select: StencilSelect::WriteMasks, back, front }.to_word().ok()?);
        }
        Some(words)
    }

    /// Whether fragments that fail the depth test leave the stencil unchanged, whatever the result of the stencil test: early Z, which precedes both tests,
    /// may then reject them.
    pub fn keeps_where_hidden(&self) -> bool {
        [self.front, self.back]
            .iter()
            .all(|side| side.fail == StencilChange::Keep && side.depth_fail == StencilChange::Keep)
    }
}

/// The code of a write mask that can be encoded in a set-up word.
fn short_mask(mask: u8) -> Option<StencilWriteMask> {
    [StencilWriteMask::Bits1, StencilWriteMask::Bits2, StencilWriteMask::Bits4, StencilWriteMask::Bits8]
        .into_iter()
        .find(|code| code.mask() == mask)
}
