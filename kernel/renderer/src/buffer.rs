//! Bytes in GPU memory, for programs that read or write them by address.

use alloc::vec::Vec;
use shader_interface::{Storage, UniformData, UniformStream, UserProgram, ViewportUniforms};
use v3d::hw::BusAddr;
use v3d::pool::Owner;
use v3d::{Platform, pool};

use crate::device::Device;
use crate::error::{Error, Stage};

/// Alignment of a program. Records need a multiple of 8; 64 keeps a program's first instructions in one line of the
/// instruction cache.
pub(crate) const CODE_ALIGNMENT: u32 = 64;

/// A buffer in GPU memory.
#[derive(Clone, Debug)]
pub struct Buffer {
    label: &'static str,
    memory: pool::Buffer,
}

impl Buffer {
    /// Allocates memory without initialising it.
    ///
    /// # Errors
    /// When the pool has not enough memory.
    pub fn new<P: Platform>(
        device: &Device<'_, P>,
        label: &'static str,
        bytes: u32,
        alignment: u32,
    ) -> Result<Self, Error> {
        let memory = device.driver()?.allocate(bytes, alignment)?;
        device.name(&memory, label, "buffer")?;
        Ok(Self { label, memory })
    }

    /// Allocates memory and copies these bytes there.
    ///
    /// # Errors
    /// When the pool has not enough memory.
    pub fn with_bytes<P: Platform>(
        device: &Device<'_, P>,
        label: &'static str,
        bytes: &[u8],
        alignment: u32,
    ) -> Result<Self, Error> {
        let memory = device.driver()?.upload(bytes, alignment)?;
        device.name(&memory, label, "buffer")?;
        Ok(Self { label, memory })
    }

    /// Allocates memory for a user program and copies it there.
    ///
    /// # Errors
    /// When the pool has not enough memory.
    pub fn with_program<P: Platform, U>(
        device: &Device<'_, P>,
        label: &'static str,
        program: &UserProgram<U>,
    ) -> Result<Self, Error> {
        let bytes: Vec<u8> = program.code().iter().flat_map(|word| word.to_le_bytes()).collect();
        Self::with_bytes(device, label, &bytes, CODE_ALIGNMENT)
    }

    /// Allocates memory for a user program's uniforms and writes them there.
    ///
    /// # Errors
    /// When a uniform is NaN, or the pool has not enough memory.
    pub fn with_uniforms<P: Platform>(
        device: &Device<'_, P>,
        label: &'static str,
        uniforms: &impl UniformData,
    ) -> Result<Self, Error> {
        let (mut words, mut owners) = (Vec::new(), Vec::new());
        let mut stream = UniformStream::new(&mut words, &mut owners, ViewportUniforms::NONE);
        uniforms.push(&mut stream);
        if let Some(word) = stream.not_a_number() {
            return Err(Error::NotANumber { label, stage: Stage::User, word });
        }
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        Self::with_bytes(device, label, &bytes, 16)
    }

    /// Writes bytes from offset `at` on. The GPU must not be using them.
    ///
    /// # Errors
    /// When they reach beyond the buffer, or it belongs to another device.
    pub fn write<P: Platform>(&self, device: &Device<'_, P>, at: u32, bytes: &[u8]) -> Result<(), Error> {
        device.expect_own(self.label, &self.memory)?;
        Ok(self.memory.region().store(device.driver_ref()?.platform(), at, bytes)?)
    }

    /// Reads bytes from offset `at` on. Results of the GPU are visible once its job is known to be done.
    ///
    /// # Errors
    /// When they reach beyond the buffer, or it belongs to another device.
    pub fn read<P: Platform>(&self, device: &Device<'_, P>, at: u32, bytes: &mut [u8]) -> Result<(), Error> {
        device.expect_own(self.label, &self.memory)?;
        Ok(self.memory.region().load(device.driver_ref()?.platform(), at, bytes)?)
    }

    /// Address of the first byte, as the GPU sees it.
    pub fn address(&self) -> BusAddr {
        self.memory.address()
    }

    /// The words of the buffer as a storage buffer of elements `T`, for a vertex or fragment shader.
    pub fn storage<T>(&self) -> Storage<T> {
        Storage::new(self.address(), self.bytes() / 4, self.owner())
    }

    /// Length in bytes.
    pub fn bytes(&self) -> u32 {
        self.memory.region().bytes()
    }

    /// Another reference to the memory, which keeps it allocated for a job.
    pub fn owner(&self) -> Owner {
        self.memory.owner()
    }
}
