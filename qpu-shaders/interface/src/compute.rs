//! Compute programs: user programs for a grid of invocations, with storage buffers.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::any::Any;
use core::marker::PhantomData;
use v3d_hw::BusAddr;

use crate::uniform::{Owner, UniformStream};

/// Rows of the VPM that each program has for what DMA transfers.
const TRANSFER_ROWS: u32 = 4;
/// Rows of the VPM that user programs can address [AG p.108 HW-2253].
const ROWS: u32 = 64;
/// Bytes of a row.
const ROW_BYTES: u32 = 64;

/// A compute program with bindings `U`: uniforms and storage buffers.
#[derive(Clone, Copy, Debug)]
pub struct ComputeProgram<U> {
    code: &'static [u64],
    workgroups: Workgroups,
    feeds: PhantomData<fn(U)>,
}

impl<U> ComputeProgram<U> {
    /// Creates a program. The caller guarantees that the types match its code.
    pub const fn new(code: &'static [u64], workgroups: Workgroups) -> Self {
        Self { code, workgroups, feeds: PhantomData }
    }

    /// The instructions.
    pub const fn code(&self) -> &'static [u64] {
        self.code
    }

    /// The division of its work.
    pub const fn workgroups(&self) -> &Workgroups {
        &self.workgroups
    }
}

/// The division of a compute program's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workgroups {
    /// Number of invocations of a workgroup along three axes.
    pub size: [u32; 3],
    /// Number of groups of 16 invocations in a workgroup.
    pub parts: u32,
    /// Whether the program has barriers, so that all parts of a workgroup must run at the same time, each on a QPU.
    pub together: bool,
    /// Bytes of main memory that the invocations of a workgroup share.
    pub memory_bytes: u32,
    /// Rows of the VPM that they share.
    pub vpm_rows: u32,
}

impl Workgroups {
    /// Divides the workgroups of a grid among up to `qpus` programs. `None` if there are more than 2^32 iterations in total.
    pub fn shares(&self, count: [u32; 3], qpus: u32) -> Option<Vec<Share>> {
        let all = count.iter().try_fold(1u32, |product, side| product.checked_mul(*side))?;
        let iterations = all.checked_mul(self.parts)?;
        // Programs that form one workgroup share its rows of the VPM; otherwise each program has rows of its own behind those for DMA.
        let own_rows = TRANSFER_ROWS + if self.together { 0 } else { self.vpm_rows };
        let programs =
            if self.together { self.parts.min(iterations) } else { iterations.min(qpus).min(ROWS / own_rows) };
        let share = |number: u32| {
            let at = |number: u32| (u64::from(number) * u64::from(iterations) / u64::from(programs)) as u32;
            let (iteration, end) = if self.together { (number, number + all) } else { (at(number), at(number + 1)) };
            let group = iteration / self.parts;
            Share {
                first: [group % count[0], group / count[0] % count[1], group / count[0] / count[1]],
                part: iteration % self.parts,
                iterations: end - iteration,
                row: own_rows * number,
                count,
                stream: BusAddr(0),
                workgroup_memory: BusAddr(0),
                vpm_memory: ROW_BYTES
                    * if self.together { own_rows * programs } else { own_rows * number + TRANSFER_ROWS },
            }
        };
        Some((0..programs).map(share).collect())
    }
}

/// The work of one run of a compute program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Position of the first workgroup along three axes.
    pub first: [u32; 3],
    /// The part of that workgroup to begin with.
    pub part: u32,
    /// Number of iterations.
    pub iterations: u32,
    /// The first of the program's rows of the VPM.
    pub row: u32,
    /// Number of workgroups along three axes.
    pub count: [u32; 3],
    /// Address of the program's uniforms, filled in when the program is started.
    pub stream: BusAddr,
    /// Address of the workgroup's memory in main memory, filled in when the program is started.
    pub workgroup_memory: BusAddr,
    /// First byte of the workgroup's memory in the VPM.
    pub vpm_memory: u32,
}

/// The bindings of a compute program.
pub trait ComputeUniforms {
    /// Number of words that the program reads.
    const WORDS: usize;

    /// Appends the words in the order in which the program reads them.
    fn push(&self, share: &Share, stream: &mut UniformStream<'_>);
}

/// A read-only storage buffer of elements `T`.
#[derive(Clone, Debug)]
pub struct Storage<T> {
    address: BusAddr,
    words: u32,
    owner: Owner,
    number: PhantomData<T>,
}

impl<T> Storage<T> {
    /// A buffer of `words` words at an address; `owner` keeps the memory alive.
    pub fn new(address: BusAddr, words: u32, owner: Rc<dyn Any>) -> Self {
        Self { address, words, owner, number: PhantomData }
    }

    /// Address of the first word.
    pub const fn address(&self) -> BusAddr {
        self.address
    }

    /// Number of elements of `stride` bytes after the first `fixed` bytes.
    pub const fn elements(&self, fixed: u32, stride: u32) -> u32 {
        self.words.saturating_mul(4).saturating_sub(fixed) / stride
    }

    /// Checks the length, and keeps the memory allocated while the program may run. The buffer must have `fixed` bytes and at least one element after them.
    pub fn keep(&self, fixed: u32, stride: u32, stream: &mut UniformStream<'_>) {
        stream.keep(self.owner.clone());
        stream.expect_bytes(self.words.saturating_mul(4), fixed.saturating_add(stride));
    }
}

/// A storage buffer that a program reads and writes.
#[derive(Clone, Debug)]
pub struct StorageMut<T>(Storage<T>);

impl<T> StorageMut<T> {
    /// As [`Storage::new`].
    pub fn new(address: BusAddr, words: u32, owner: Rc<dyn Any>) -> Self {
        Self(Storage::new(address, words, owner))
    }
}

impl<T> core::ops::Deref for StorageMut<T> {
    type Target = Storage<T>;

    fn deref(&self) -> &Storage<T> {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(parts: u32, together: bool, count: [u32; 3], expected: &[([u32; 3], u32, u32)]) {
        let workgroups = Workgroups { size: [16 * parts, 1, 1], parts, together, memory_bytes: 0, vpm_rows: 0 };
        let shares = workgroups.shares(count, 3).unwrap();
        let found: Vec<_> = shares.iter().map(|share| (share.first, share.part, share.iterations)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn all_iterations_are_somebodys() {
        check(1, false, [0, 4, 4], &[]);
        check(1, false, [2, 1, 1], &[([0, 0, 0], 0, 1), ([1, 0, 0], 0, 1)]);
        check(2, false, [2, 2, 1], &[([0, 0, 0], 0, 2), ([1, 0, 0], 0, 3), ([0, 1, 0], 1, 3)]);
        check(4, true, [2, 1, 3], &[([0; 3], 0, 6), ([0; 3], 1, 6), ([0; 3], 2, 6), ([0; 3], 3, 6)]);
    }

    /// Programs of a grid of 40 workgroups on 12 QPUs, with their rows for DMA and those of the workgroup's memory.
    fn check_rows(parts: u32, vpm_rows: u32, programs: usize, expected: [(u32, u32); 2]) {
        let workgroups = Workgroups { size: [16 * parts, 1, 1], parts, together: parts > 1, memory_bytes: 0, vpm_rows };
        let shares = workgroups.shares([40, 1, 1], 12).unwrap();
        let rows: Vec<_> = shares.iter().map(|share| (share.row, share.vpm_memory / 64)).collect();
        assert_eq!(rows.len(), programs);
        assert_eq!(rows[..2], expected);
        let ends = |&(row, memory): &(u32, u32)| row + 4 <= 64 && memory + vpm_rows <= 64;
        assert!(rows.iter().all(ends), "{rows:?}");
    }

    #[test]
    fn rows_of_the_vpm_are_one_programs_or_one_workgroups() {
        check_rows(1, 0, 12, [(0, 4), (4, 8)]);
        check_rows(1, 1, 12, [(0, 4), (5, 9)]);
        check_rows(1, 2, 10, [(0, 4), (6, 10)]);
        check_rows(1, 17, 3, [(0, 4), (21, 25)]);
        check_rows(4, 48, 4, [(0, 16), (4, 16)]);
        check_rows(12, 16, 12, [(0, 48), (4, 48)]);
    }

    #[test]
    fn more_iterations_than_can_be_counted_are_refused() {
        let workgroups = Workgroups { size: [64, 1, 1], parts: 4, together: false, memory_bytes: 0, vpm_rows: 0 };
        assert_eq!(workgroups.shares([1 << 16, 1 << 15, 1], 12), None);
    }
}
