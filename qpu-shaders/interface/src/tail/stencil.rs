//! Stencil test: a number for each pixel that says where is drawn, and that drawing changes.

use alloc::vec::Vec;
use v3d_hw::Layout;
use v3d_hw::tile_buffer::{StencilConfiguration, StencilOp, StencilSelect, StencilWriteMask, StencilWriteMasks};

use super::depth::Compare;

/// What becomes of a pixel's stencil.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StencilChange {
    /// It is 0.
    Zero,
    /// It stays.
    Keep,
    /// It is the reference.
    Replace,
    /// One more, at most 255.
    Increment,
    /// One less, at least 0.
    Decrement,
    /// All bits are inverted.
    Invert,
    /// One more, and after 255 comes 0.
    IncrementWrap,
    /// One less, and after 0 comes 255.
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

/// The stencil test of one side of triangles: passes if (reference & mask) compares so with (stencil & mask).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StencilSide {
    /// When the reference passes, compared with the stencil that is there.
    pub test: Compare,
    /// The reference.
    pub reference: u8,
    /// The bits that are compared.
    pub mask: u8,
    /// The bits that are changed.
    pub write_mask: u8,
    /// What becomes of the stencil where its test fails.
    pub fail: StencilChange,
    /// What becomes of it where only the depth test fails.
    pub depth_fail: StencilChange,
    /// What becomes of it where both tests pass.
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

/// The stencil tests of both sides of triangles. Points and lines have a front only.
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

    /// The words that a fragment program writes to the set-up register, in their order [AG p.49-50].
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

    /// Whether fragments that the depth test refuses change nothing, so that they may be left out early.
    pub fn keeps_on_depth_fail(&self) -> bool {
        [self.front, self.back].iter().all(|side| side.depth_fail == StencilChange::Keep)
    }
}

/// The code of a write mask that fits into a configuration word.
fn short_mask(mask: u8) -> Option<StencilWriteMask> {
    [StencilWriteMask::Bits1, StencilWriteMask::Bits2, StencilWriteMask::Bits4, StencilWriteMask::Bits8]
        .into_iter()
        .find(|code| code.mask() == mask)
}
