//! The units around a user program: VPM, DMA, mutex, semaphores, host interrupt.

use crate::memory::Memory;
use crate::qpu::io::{Io, IoError, Wait};
use crate::qpu::lanes::{Lanes, Mask};
use crate::vpm::block::Cursor;
use crate::vpm::{ReadQueue, Vpm, VpmError, load, store};
use v3d_hw::Layout;
use v3d_hw::vpm::{
    LoadSetup, LoadStrideSetup, ReadSetupWord, StoreSetup, StoreStrideSetup, WINDOW_ROWS, WriteSetupWord,
};

/// Number of counting semaphores [AG p.22].
pub const SEMAPHORES: usize = 16;
/// Accesses to semaphores that are remembered of a program that runs apart.
const MOST_REMEMBERED: usize = 1 << 12;
/// Maximum count of a semaphore.
pub const SEMAPHORE_LIMIT: u8 = 15;

/// The state that all QPUs share.
#[derive(Clone, Debug)]
pub struct Shared {
    /// The vertex pipeline memory, of which the reserved part can be accessed.
    pub vpm: Vpm,
    /// The semaphores' counts.
    pub semaphores: [u8; SEMAPHORES],
    /// The QPU that holds the mutex.
    pub mutex: Option<u8>,
    /// QPUs that have interrupted the host: one bit each.
    pub interrupts: u16,
    /// A vector was read outside of the reserved part: VPMERR.
    pub read_range: bool,
    /// A vector was written outside of the reserved part: VPMEWR.
    pub write_range: bool,
    /// A DMA store goes beyond the rows that its address can name: VDWE.
    pub store_address: bool,
    /// For a program that runs apart: how it synchronises with others.
    apart: Option<Synchronisation>,
}

/// What a program does that runs apart from those that it synchronises with. The semaphores are those of the start.
#[derive(Clone, Debug, Default)]
struct Synchronisation {
    /// Its accesses to semaphores, in their order: the number, whether it decrements, and whether it stalls.
    semaphores: Vec<(u8, bool, Wait)>,
    /// It has accessed the mutex, which has only one holder, or semaphores too often to remember.
    needs_turn: bool,
}

impl Shared {
    /// Free mutex and semaphores at 0, with a VPM of `kib` KiB, none of it reserved.
    pub fn new(kib: u8) -> Self {
        Self {
            vpm: Vpm::new(kib, 0),
            semaphores: [0; SEMAPHORES],
            mutex: None,
            interrupts: 0,
            read_range: false,
            write_range: false,
            store_address: false,
            apart: None,
        }
    }

    /// Becomes a copy of another state, for a program that runs apart from those that share that one.
    #[cfg(feature = "threads")]
    pub(super) fn copy(&mut self, other: &Self) {
        self.vpm.copy(&other.vpm);
        (self.semaphores, self.interrupts) = (other.semaphores, 0);
        let Synchronisation { semaphores, needs_turn } = self.apart.get_or_insert_default();
        semaphores.clear();
        *needs_turn = false;
    }

    /// Whether the program of this copy would have done the same after others, who have left the semaphores so and have `written` these bytes of the VPM. Both
    /// are then as it leaves them.
    #[cfg(feature = "threads")]
    pub(super) fn follows(&self, semaphores: &mut [u8; SEMAPHORES], written: &mut Vec<u64>) -> bool {
        let Some(apart) = &self.apart else { return false };
        let same = |&(number, decrement, wait): &(u8, bool, Wait)| access(semaphores, number, decrement) == wait;
        self.vpm.follows(written) && !apart.needs_turn && apart.semaphores.iter().all(same)
    }

    /// Takes over what the program of a copy has done, which has caused no error.
    #[cfg(feature = "threads")]
    pub(super) fn merge(&mut self, copy: &Self) {
        self.vpm.merge(&copy.vpm);
        self.interrupts |= copy.interrupts;
        for &(number, decrement, _) in copy.apart.iter().flat_map(|apart| &apart.semaphores) {
            access(&mut self.semaphores, number, decrement);
        }
    }

    fn note(&mut self, error: VpmError) -> IoError {
        self.read_range |= matches!(error, VpmError::ReadOutside { .. });
        self.write_range |= matches!(error, VpmError::WriteOutside { .. });
        error.into()
    }
}

/// Accesses a semaphore, unless that stalls.
pub(super) fn access(semaphores: &mut [u8; SEMAPHORES], number: u8, decrement: bool) -> Wait {
    let count = &mut semaphores[usize::from(number) % SEMAPHORES];
    match (decrement, *count) {
        (true, 0) | (false, SEMAPHORE_LIMIT) => return Wait::Stall,
        (true, _) => *count -= 1,
        (false, _) => *count += 1,
    }
    Wait::Ready
}

/// A part of a set-up.
#[derive(Clone, Copy, Debug, Default)]
struct Part<T> {
    value: T,
    /// The program has set it.
    is_set: bool,
    /// The program has used it before, as an earlier one had left it.
    is_inherited: bool,
}

impl<T: Copy + PartialEq> Part<T> {
    const fn new(value: T) -> Self {
        Self { value, is_set: false, is_inherited: false }
    }

    fn set(&mut self, value: T) {
        (self.value, self.is_set) = (value, true);
    }

    /// The part, as the program uses it.
    const fn in_use(&mut self) -> &mut T {
        self.is_inherited |= !self.is_set;
        &mut self.value
    }

    /// Begins another program.
    fn pass_on(&mut self) {
        *self = Self::new(self.value);
    }

    /// [`Setup::follows`] for one part.
    #[cfg(feature = "threads")]
    fn follows(&self, before: &Self, inherited: &mut Self) -> bool {
        let follows = !self.is_inherited || before.value == inherited.value;
        if self.is_set || self.is_inherited {
            inherited.value = self.value;
        }
        follows
    }
}

/// The VPM and DMA set-up of one QPU.
#[derive(Clone, Debug)]
pub struct Setup {
    reads: ReadQueue,
    write: Part<Option<Cursor>>,
    load: Part<Option<LoadSetup>>,
    load_stride: Part<LoadStrideSetup>,
    store: Part<Option<StoreSetup>>,
    store_stride: Part<StoreStrideSetup>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            reads: ReadQueue::default(),
            write: Part::default(),
            load: Part::default(),
            load_stride: Part::new(LoadStrideSetup::from_word(0)),
            store: Part::default(),
            store_stride: Part::new(StoreStrideSetup::from_word(0)),
        }
    }
}

impl Setup {
    /// Cancels reads, as the end of a program does.
    pub fn end_program(&mut self) {
        self.reads.clear();
        self.write.pass_on();
        self.load.pass_on();
        self.load_stride.pass_on();
        self.store.pass_on();
        self.store_stride.pass_on();
    }

    /// Whether a program that has begun with the set-up `before`, and left this one, has inherited what it would have inherited from another. The other is then
    /// as the program leaves it.
    #[cfg(feature = "threads")]
    pub(super) fn follows(&self, before: &Self, inherited: &mut Self) -> bool {
        self.write.follows(&before.write, &mut inherited.write)
            & self.load.follows(&before.load, &mut inherited.load)
            & self.load_stride.follows(&before.load_stride, &mut inherited.load_stride)
            & self.store.follows(&before.store, &mut inherited.store)
            & self.store_stride.follows(&before.store_stride, &mut inherited.store_stride)
    }
}

/// The units as one QPU accesses them.
#[derive(Debug)]
pub struct UserIo<'a> {
    /// Number of the QPU.
    pub qpu: u8,
    /// What it shares with the others.
    pub shared: &'a mut Shared,
    /// Its own set-up.
    pub setup: &'a mut Setup,
}

impl Io for UserIo<'_> {
    fn vpm_read(&mut self) -> Result<Lanes, IoError> {
        self.setup.reads.pop(&self.shared.vpm).map_err(|error| self.shared.note(error))
    }

    fn vpm_write(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        let cursor = self.setup.write.in_use().as_mut().ok_or(VpmError::NoSetup("VPM write"))?;
        let written = cursor.write(&mut self.shared.vpm, value, mask);
        cursor.advance();
        written.map_err(|error| self.shared.note(error))
    }

    fn vpm_read_setup(&mut self, word: u32) -> Result<(), IoError> {
        match ReadSetupWord::decode(word) {
            ReadSetupWord::Read(setup) => self.setup.reads.push(&setup, word)?,
            ReadSetupWord::Reserved(word) => return Err(VpmError::Setup(word).into()),
            ReadSetupWord::Load(setup) => self.setup.load.set(Some(setup)),
            ReadSetupWord::LoadStride(setup) => self.setup.load_stride.set(setup),
        }
        Ok(())
    }

    fn vpm_write_setup(&mut self, word: u32) -> Result<(), IoError> {
        match WriteSetupWord::decode(word) {
            WriteSetupWord::Write(setup) => {
                self.setup.write.set(Some(Cursor::to_write(&setup).ok_or(VpmError::Setup(word))?));
            }
            WriteSetupWord::Reserved(word) => return Err(VpmError::Setup(word).into()),
            WriteSetupWord::Store(setup) => self.setup.store.set(Some(setup)),
            WriteSetupWord::StoreStride(setup) => self.setup.store_stride.set(setup),
        }
        Ok(())
    }

    fn dma_load(&mut self, address: u32, memory: Memory<'_>) -> Result<(), IoError> {
        let setup = self.setup.load.in_use().as_ref().ok_or(VpmError::NoSetup("DMA load"))?;
        load::load(&mut self.shared.vpm, setup, self.setup.load_stride.in_use(), address, memory)
            .map_err(|error| self.shared.note(error))
    }

    fn dma_store(&mut self, address: u32, memory: Memory<'_>) -> Result<(), IoError> {
        let setup = self.setup.store.in_use().as_ref().ok_or(VpmError::NoSetup("DMA store"))?;
        store::store(&self.shared.vpm, setup, self.setup.store_stride.in_use(), address, memory).map_err(|error| {
            self.shared.store_address |= matches!(error, VpmError::ReadOutside { row, .. } if row >= WINDOW_ROWS);
            self.shared.note(error)
        })
    }

    fn dma_poll(&mut self) -> Result<(), IoError> {
        Ok(())
    }

    fn mutex_acquire(&mut self) -> Result<Wait, IoError> {
        if let Some(apart) = &mut self.shared.apart {
            apart.needs_turn = true;
            return Ok(Wait::Stall);
        }
        match self.shared.mutex {
            None => {
                self.shared.mutex = Some(self.qpu);
                Ok(Wait::Ready)
            }
            Some(holder) if holder == self.qpu => Err(IoError::MutexHeld),
            Some(_) => Ok(Wait::Stall),
        }
    }

    fn mutex_release(&mut self) -> Result<(), IoError> {
        if self.shared.mutex != Some(self.qpu) {
            return Err(IoError::MutexNotHeld);
        }
        self.shared.mutex = None;
        Ok(())
    }

    fn semaphore(&mut self, number: u8, decrement: bool) -> Result<Wait, IoError> {
        let wait = access(&mut self.shared.semaphores, number, decrement);
        match &mut self.shared.apart {
            Some(apart) if apart.semaphores.len() >= MOST_REMEMBERED => {
                apart.needs_turn = true;
                return Ok(Wait::Stall);
            }
            Some(apart) => apart.semaphores.push((number, decrement, wait)),
            None => {}
        }
        Ok(wait)
    }

    fn host_interrupt(&mut self, _value: &Lanes, _mask: Mask) -> Result<(), IoError> {
        self.shared.interrupts |= 1 << (self.qpu & 15);
        Ok(())
    }

    fn scoreboard_unlock(&mut self) -> Result<(), IoError> {
        // The scoreboard is not used outside of fragment shaders; unlocking it has no effect.
        Ok(())
    }
}
