//! Division of an operation's blocks between QPUs.

use alloc::vec::Vec;

/// Number of QPUs of the V3D: three slices of four [AG p.13].
pub const QPUS: u32 = 12;

/// A QPU's part of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    /// The QPU, counted from 0; 0 is the leader.
    pub(crate) number: u32,
    /// Number of QPUs that share the work.
    pub(crate) qpus: u32,
    /// Number of blocks of this QPU.
    pub(crate) blocks: u32,
}

impl Share {
    /// Divides blocks such that each QPU processes block `number` and every `qpus`-th after it. No share is empty.
    pub(crate) fn of(blocks: u32) -> impl Iterator<Item = Self> {
        let qpus = blocks.min(QPUS);
        (0..qpus).map(move |number| Self { number, qpus, blocks: (blocks - number).div_ceil(qpus) })
    }

    /// The quarter of the VPM that it stores from; see `quarters.qinc`.
    pub(crate) const fn quarter(&self) -> u32 {
        self.number % 4
    }

    /// For the leader the number of other QPUs, for all others -1; see `together.qinc`.
    pub(crate) const fn others(&self) -> i32 {
        if self.number == 0 { self.qpus as i32 - 1 } else { -1 }
    }
}

/// The blocks of an array that one QPU processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// The QPU and its number of blocks.
    pub(crate) share: Share,
    /// The first block.
    pub(crate) first: u32,
    /// Distance of two blocks, in blocks.
    pub(crate) stride: u32,
}

impl Span {
    /// Divides blocks such that each QPU processes every `qpus`-th one.
    pub(crate) fn interleaved(blocks: u32) -> Vec<Self> {
        Share::of(blocks).map(|share| Self { share, first: share.number, stride: share.qpus }).collect()
    }

    /// Divides blocks into contiguous spans of nearly the same length.
    pub(crate) fn contiguous(blocks: u32) -> Vec<Self> {
        let start = |number, qpus| (u64::from(blocks) * u64::from(number) / u64::from(qpus)) as u32;
        let span = |share: Share| {
            let (first, end) = (start(share.number, share.qpus), start(share.number + 1, share.qpus));
            Self { share: Share { blocks: end - first, ..share }, first, stride: 1 }
        };
        Share::of(blocks).map(span).collect()
    }
}

/// The blocks of a grid that one QPU processes: every `step`-th, row by row; see `grid.qinc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    /// The QPU, counted from 0.
    pub(crate) number: u32,
    /// For the leader the number of other QPUs, for all others -1.
    pub(crate) others: i32,
    /// Column of its first block.
    pub(crate) column: u32,
    /// Row of its first block.
    pub(crate) row: u32,
    /// Distance of two blocks, in blocks.
    pub(crate) step: u32,
    /// Blocks per row.
    pub(crate) across: u32,
    /// Number of blocks of this QPU.
    pub(crate) blocks: u32,
}

impl Grid {
    /// Divides a grid of `across` columns and `down` rows.
    pub(crate) fn of(across: u32, down: u32) -> impl Iterator<Item = Self> {
        Share::of(across * down).map(move |share| Self {
            number: share.number,
            others: share.others(),
            column: share.number % across,
            row: share.number / across,
            step: share.qpus,
            across,
            blocks: share.blocks,
        })
    }
}

/// The uniforms of a program for each part of a grid: those of `grid_begin`, and the fields that follow.
macro_rules! grid_jobs {
    ($program:ident, $grid:expr, { $($field:ident: $value:expr,)* }) => {
        $grid
            .map(|$crate::division::Grid { number, others, column, row, step, across, blocks }| $program::Uniforms {
                number,
                others,
                column,
                row,
                step,
                across,
                blocks,
                $($field: $value,)*
            })
            .collect::<alloc::vec::Vec<_>>()
    };
}
pub(crate) use grid_jobs;

#[cfg(test)]
mod tests {
    use super::*;

    fn check(blocks: u32, expected: &[u32]) {
        let shares: Vec<u32> = Share::of(blocks).map(|share| share.blocks).collect();
        assert_eq!(shares, expected, "{blocks} blocks");
    }

    #[test]
    fn blocks_are_divided_between_qpus() {
        check(0, &[]);
        check(1, &[1]);
        check(12, &[1; 12]);
        check(14, &[2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
    }

    #[test]
    fn spans_are_contiguous_and_have_nearly_the_same_length() {
        for blocks in [0, 1, 11, 12, 13, 100] {
            let spans = Span::contiguous(blocks);
            assert_eq!(spans.iter().map(|span| span.share.blocks).sum::<u32>(), blocks);
            assert!(spans.windows(2).all(|pair| pair[0].first + pair[0].share.blocks == pair[1].first));
            assert!(spans.iter().all(|span| (1..=blocks.div_ceil(QPUS)).contains(&span.share.blocks)));
        }
    }
}
