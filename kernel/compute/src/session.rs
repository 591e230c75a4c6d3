//! Programs in GPU memory, and running them on all QPUs.

use alloc::vec::Vec;

use shader_interface::{UniformData, UniformStream, UserProgram, ViewportUniforms};
use v3d::pool::Buffer;
use v3d::{Driver, Platform, user_program};

use crate::array::{Array, BLOCK_BYTES, BLOCK_WORDS, Element, MAX_ELEMENTS};
use crate::twiddle_factors::TwiddleFactors;
use crate::{Error, Work};

/// Alignment of programs and of uniforms in bytes: a cache line.
pub(crate) const LINE_BYTES: u32 = 64;
/// Disables the limit of the number of uniforms: programs change the uniforms' address themselves.
pub(crate) const NO_LIMIT: u16 = 1024;

/// Programs and tables in GPU memory; each is uploaded at its first use.
#[derive(Debug, Default)]
pub struct Compute {
    /// Programs, identified by the address of their words in the image.
    programs: Vec<(usize, Buffer)>,
    /// Twiddle factors of Fourier transforms.
    pub(crate) twiddle_factors: Vec<TwiddleFactors>,
}

impl Compute {
    /// A cache without programs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts a session on the V3D of this driver.
    pub const fn on<'c, 'd, 'p, P>(&'c mut self, driver: &'d mut Driver<'p, P>) -> Session<'c, 'd, 'p, P> {
        Session { compute: self, driver, work: Work::NONE }
    }

    pub(crate) fn program<P: Platform>(
        &mut self,
        driver: &mut Driver<'_, P>,
        code: &'static [u64],
    ) -> Result<Buffer, Error> {
        let pool = driver.pool().clone();
        let known = self.programs.iter().find(|(start, buffer)| *start == code.as_ptr().addr() && buffer.is_of(&pool));
        if let Some((_, buffer)) = known {
            return Ok(buffer.clone());
        }
        let words: Vec<u32> = code.iter().flat_map(|&word| [word as u32, (word >> 32) as u32]).collect();
        let buffer = driver.allocate(4 * words.len() as u32, LINE_BYTES)?;
        buffer.region().store_words(driver.platform(), &words)?;
        self.programs.push((code.as_ptr().addr(), buffer.clone()));
        Ok(buffer)
    }
}

/// Operations on the V3D of one driver.
#[derive(Debug)]
pub struct Session<'c, 'd, 'p, P> {
    pub(crate) compute: &'c mut Compute,
    pub(crate) driver: &'d mut Driver<'p, P>,
    work: Work,
}

impl<P: Platform> Session<'_, '_, '_, P> {
    /// Allocates an array of undefined elements.
    ///
    /// # Errors
    /// When the pool has not enough memory, or there are more than 2^28 elements.
    pub fn undefined<T: Element>(&mut self, length: usize) -> Result<Array<T>, Error> {
        if length > MAX_ELEMENTS {
            return Err(Error::TooLong(length));
        }
        let bytes = length.div_ceil(BLOCK_WORDS).max(1) as u32 * BLOCK_BYTES;
        Ok(Array::new(self.driver.allocate(bytes, BLOCK_BYTES)?, length))
    }

    /// Creates an array from these elements.
    ///
    /// # Errors
    /// As [`Session::undefined`].
    pub fn array<T: Element>(&mut self, elements: &[T]) -> Result<Array<T>, Error> {
        let mut array = self.undefined(elements.len())?;
        self.write(&mut array, elements)?;
        Ok(array)
    }

    /// Copies elements from the CPU to an array.
    ///
    /// # Errors
    /// When their number is not the array's length, or the array belongs to another driver.
    pub fn write<T: Element>(&mut self, array: &mut Array<T>, elements: &[T]) -> Result<(), Error> {
        self.expect_own(array)?;
        Error::expect_length("write", elements.len(), array.length)?;
        let words: Vec<u32> = elements.iter().map(|element| element.to_word()).collect();
        Ok(array.buffer.region().store_words(self.driver.platform(), &words)?)
    }

    /// Reads the elements of an array.
    ///
    /// # Errors
    /// When it belongs to another driver.
    pub fn read<T: Element>(&self, array: &Array<T>) -> Result<Vec<T>, Error> {
        self.expect_own(array)?;
        let mut bytes = alloc::vec![0; 4 * array.length];
        array.buffer.region().load(self.driver.platform(), 0, &mut bytes)?;
        Ok(bytes.as_chunks().0.iter().map(|&word| T::from_word(u32::from_le_bytes(word))).collect())
    }

    /// The lower bound of the work of all operations since the last call; see [`Work`].
    pub const fn take_work(&mut self) -> Work {
        core::mem::replace(&mut self.work, Work::NONE)
    }

    /// Checks that the array is in this driver's memory.
    pub(crate) fn expect_own<T>(&self, array: &Array<T>) -> Result<(), Error> {
        if array.buffer.is_of(self.driver.pool()) { Ok(()) } else { Err(Error::ForeignArray) }
    }

    /// Fills the padding of an array with a word, by the CPU.
    pub(crate) fn fill_up<T>(&mut self, array: &Array<T>, word: u32) -> Result<(), Error> {
        let end = array.blocks() as usize * BLOCK_WORDS;
        let rest = alloc::vec![word; end - array.length];
        let region = array.buffer.region();
        let part = region.part(4 * array.length as u32, 4 * rest.len() as u32)?;
        Ok(part.store_words(self.driver.platform(), &rest)?)
    }

    /// Runs a program once for each of these uniforms, at most one per QPU, and waits for all to end. Without uniforms it does nothing.
    pub(crate) fn launch<U: UniformData>(&mut self, program: &UserProgram<U>, jobs: &[U]) -> Result<(), Error> {
        if jobs.is_empty() {
            return Ok(());
        }
        let code = self.compute.program(self.driver, program.code())?;
        let (mut words, mut owners, mut starts) = (Vec::new(), Vec::new(), Vec::new());
        for job in jobs {
            words.resize(words.len().next_multiple_of(LINE_BYTES as usize / 4), 0);
            starts.push(4 * words.len() as u32);
            job.push(&mut UniformStream::new(&mut words, &mut owners, ViewportUniforms::NONE));
        }
        let uniforms = self.driver.allocate(4 * words.len() as u32, LINE_BYTES)?;
        uniforms.region().store_words(self.driver.platform(), &words)?;
        // The leader is the first job, and is queued last; see `together.qinc`.
        let programs: Vec<user_program::UserProgram> = starts
            .iter()
            .rev()
            .map(|&start| user_program::UserProgram {
                code: code.address(),
                uniforms: uniforms.address() + start,
                uniform_count: NO_LIMIT,
            })
            .collect();
        let limit_us = self.driver.limits().programs_us;
        Ok(self.driver.run_programs_with(&programs, alloc::vec![uniforms.owner()], limit_us)?)
    }

    /// Adds an operation's lower bound of work. That of [`Session::mandelbrot`] depends on its result, so its caller adds it.
    pub fn account(&mut self, work: Work) {
        self.work += work;
    }
}
