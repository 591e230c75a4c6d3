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
        }
    }

    fn note(&mut self, error: VpmError) -> IoError {
        self.read_range |= matches!(error, VpmError::ReadOutside { .. });
        self.write_range |= matches!(error, VpmError::WriteOutside { .. });
        error.into()
    }
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
        }
    }
}

impl Setup {
    /// Cancels reads, as the end of a program does.
    pub fn end_program(&mut self) {
        self.reads.clear();
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
        let cursor = self.setup.write.as_mut().ok_or(VpmError::NoSetup("VPM write"))?;
        let written = cursor.write(&mut self.shared.vpm, value, mask);
        cursor.advance();
        written.map_err(|error| self.shared.note(error))
    }

    fn vpm_read_setup(&mut self, word: u32) -> Result<(), IoError> {
        match ReadSetupWord::decode(word) {
            ReadSetupWord::Read(setup) => self.setup.reads.push(&setup, word)?,
            ReadSetupWord::Reserved(word) => return Err(VpmError::Setup(word).into()),
            ReadSetupWord::Load(setup) => self.setup.load = Some(setup),
            ReadSetupWord::LoadStride(setup) => self.setup.load_stride = setup,
        }
        Ok(())
    }

    fn vpm_write_setup(&mut self, word: u32) -> Result<(), IoError> {
        match WriteSetupWord::decode(word) {
            WriteSetupWord::Write(setup) => {
                self.setup.write = Some(Cursor::to_write(&setup).ok_or(VpmError::Setup(word))?);
            }
            WriteSetupWord::Reserved(word) => return Err(VpmError::Setup(word).into()),
            WriteSetupWord::Store(setup) => self.setup.store = Some(setup),
            WriteSetupWord::StoreStride(setup) => self.setup.store_stride = setup,
        }
        Ok(())
    }

    fn dma_load(&mut self, address: u32, memory: Memory<'_>) -> Result<(), IoError> {
        let setup = self.setup.load.as_ref().ok_or(VpmError::NoSetup("DMA load"))?;
        load::load(&mut self.shared.vpm, setup, &self.setup.load_stride, address, memory)
            .map_err(|error| self.shared.note(error))
    }

    fn dma_store(&mut self, address: u32, memory: Memory<'_>) -> Result<(), IoError> {
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
        let count = &mut self.shared.semaphores[usize::from(number) % SEMAPHORES];
        match (decrement, *count) {
            (true, 0) | (false, SEMAPHORE_LIMIT) => return Ok(Wait::Stall),
            (true, _) => *count -= 1,
            (false, _) => *count += 1,
        }
        Ok(Wait::Ready)
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
