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
fn access(semaphores: &mut [u8; SEMAPHORES], number: u8, decrement: bool) -> Wait {
    let count = &mut semaphores[usize::from(number) % SEMAPHORES];
    match (decrement, *count) {
        (true, 0) | (false, SEMAPHORE_LIMIT) => return Wait::Stall,
        (true, _) => *count -= 1,
        (false, _) => *count += 1,
    }
    Wait::Ready
}

/// The VPM and DMA set-up of one QPU.
#[derive(Clone, Debug)]
pub struct Setup {
    reads: ReadQueue,
    write: Option<Cursor>,
    load: Option<LoadSetup>,
    load_stride: LoadStrideSetup,
    store: Option<StoreSetup>,
    store_stride: StoreStrideSetup,
    /// Parts that the program has set up.
    is_set: u8,
    /// Parts that it has used before, as an earlier program has left them.
    is_inherited: u8,
}

/// Bits of the parts of a set-up.
mod part {
    pub(super) const WRITE: u8 = 1;
    pub(super) const LOAD: u8 = 2;
    pub(super) const LOAD_STRIDE: u8 = 4;
    pub(super) const STORE: u8 = 8;
    pub(super) const STORE_STRIDE: u8 = 16;
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            reads: ReadQueue::default(),
            write: None,
            load: None,
            load_stride: LoadStrideSetup::from_word(0),
            store: None,
            store_stride: StoreStrideSetup::from_word(0),
            is_set: 0,
            is_inherited: 0,
        }
    }
}

impl Setup {
    /// Cancels reads, as the end of a program does.
    pub fn end_program(&mut self) {
        self.reads.clear();
        (self.is_set, self.is_inherited) = (0, 0);
    }

    /// Notes that parts are used.
    const fn use_parts(&mut self, parts: u8) {
        self.is_inherited |= parts & !self.is_set;
    }

    /// Whether a program that has begun with the set-up `before`, and left this one, has inherited what it would have inherited from another. The other is then
    /// as the program leaves it.
    #[cfg(feature = "threads")]
    pub(super) fn follows(&self, before: &Self, inherited: &mut Self) -> bool {
        let differs = |part: u8, differs: bool| if differs { part } else { 0 };
        let different = differs(part::WRITE, before.write != inherited.write)
            | differs(part::LOAD, before.load != inherited.load)
            | differs(part::LOAD_STRIDE, before.load_stride != inherited.load_stride)
            | differs(part::STORE, before.store != inherited.store)
            | differs(part::STORE_STRIDE, before.store_stride != inherited.store_stride);
        // A write moves its place on.
        let changed = self.is_set | self.is_inherited & part::WRITE;
        let new = |part: u8| changed & part != 0;
        *inherited = Self {
            write: if new(part::WRITE) { self.write } else { inherited.write },
            load: if new(part::LOAD) { self.load } else { inherited.load },
            load_stride: if new(part::LOAD_STRIDE) { self.load_stride } else { inherited.load_stride },
            store: if new(part::STORE) { self.store } else { inherited.store },
            store_stride: if new(part::STORE_STRIDE) { self.store_stride } else { inherited.store_stride },
            ..Self::default()
        };
        different & self.is_inherited == 0
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
        self.setup.use_parts(part::WRITE);
        let cursor = self.setup.write.as_mut().ok_or(VpmError::NoSetup("VPM write"))?;
        let written = cursor.write(&mut self.shared.vpm, value, mask);
        cursor.advance();
        written.map_err(|error| self.shared.note(error))
    }

    fn vpm_read_setup(&mut self, word: u32) -> Result<(), IoError> {
        match ReadSetupWord::decode(word) {
            ReadSetupWord::Read(setup) => self.setup.reads.push(&setup, word)?,
            ReadSetupWord::Reserved(word) => return Err(VpmError::Setup(word).into()),
            ReadSetupWord::Load(setup) => {
                self.setup.load = Some(setup);
                self.setup.is_set |= part::LOAD;
            }
            ReadSetupWord::LoadStride(setup) => {
                self.setup.load_stride = setup;
                self.setup.is_set |= part::LOAD_STRIDE;
            }
        }
        Ok(())
    }

    fn vpm_write_setup(&mut self, word: u32) -> Result<(), IoError> {
        match WriteSetupWord::decode(word) {
            WriteSetupWord::Write(setup) => {
                self.setup.write = Some(Cursor::to_write(&setup).ok_or(VpmError::Setup(word))?);
                self.setup.is_set |= part::WRITE;
            }
            WriteSetupWord::Reserved(word) => return Err(VpmError::Setup(word).into()),
            WriteSetupWord::Store(setup) => {
                self.setup.store = Some(setup);
                self.setup.is_set |= part::STORE;
            }
            WriteSetupWord::StoreStride(setup) => {
                self.setup.store_stride = setup;
                self.setup.is_set |= part::STORE_STRIDE;
            }
        }
        Ok(())
    }

    fn dma_load(&mut self, address: u32, memory: Memory<'_>) -> Result<(), IoError> {
        self.setup.use_parts(part::LOAD | part::LOAD_STRIDE);
        let setup = self.setup.load.as_ref().ok_or(VpmError::NoSetup("DMA load"))?;
        load::load(&mut self.shared.vpm, setup, &self.setup.load_stride, address, memory)
            .map_err(|error| self.shared.note(error))
    }

    fn dma_store(&mut self, address: u32, memory: Memory<'_>) -> Result<(), IoError> {
        self.setup.use_parts(part::STORE | part::STORE_STRIDE);
        let setup = self.setup.store.as_ref().ok_or(VpmError::NoSetup("DMA store"))?;
        store::store(&self.shared.vpm, setup, &self.setup.store_stride, address, memory).map_err(|error| {
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
