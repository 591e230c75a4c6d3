//! Programs in GPU memory, and running them on all QPUs.

use alloc::vec::Vec;

use shader_interface::{UniformData, UniformStream, UserProgram, ViewportUniforms};
use v3d::pool::Buffer;
use v3d::{Driver, Platform, user_program};

use crate::array::{Array, BLOCK_BYTES, BLOCK_WORDS, Element, MAX_ELEMENTS};
use crate::fourier::Turns;
use crate::{Error, Work};

/// QPUs of the V3D: three slices of four [AG p.13].
pub const QPUS: u32 = 12;
/// Alignment of programs and of uniforms in bytes: a line of the caches.
pub(crate) const LINE_BYTES: u32 = 64;
/// Uniforms without a limit: programs lead their QPU to further ones.
pub(crate) const NO_LIMIT: u16 = 1024;
/// How long the programs of an operation may run, in microseconds.
pub(crate) const LIMIT_US: u64 = 10_000_000;

/// Programs and tables that are in GPU memory; each comes there when it is first needed.
#[derive(Debug, Default)]
pub struct Compute {
    /// Programs by the address of their words in the image.
    programs: Vec<(usize, Buffer)>,
    /// Turns of Fourier transforms.
    pub(crate) turns: Vec<Turns>,
}

impl Compute {
    /// Without a program as yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Computes on the V3D of this driver.
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
    /// Memory for so many elements, of undefined value.
    ///
    /// # Errors
    /// When the pool has no room for them, or they are more than 2^28.
    pub fn undefined<T: Element>(&mut self, length: usize) -> Result<Array<T>, Error> {
        if length > MAX_ELEMENTS {
            return Err(Error::TooLong(length));
        }
        let bytes = length.div_ceil(BLOCK_WORDS).max(1) as u32 * BLOCK_BYTES;
        Ok(Array::new(self.driver.allocate(bytes, BLOCK_BYTES)?, length))
    }

    /// An array of these elements.
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
    /// When they are not as many as the array has, or it is another driver's.
    pub fn write<T: Element>(&mut self, array: &mut Array<T>, elements: &[T]) -> Result<(), Error> {
        self.expect_own(array)?;
        if elements.len() != array.length {
            return Err(Error::Lengths { operation: "write", given: elements.len(), needed: array.length });
        }
        let words: Vec<u32> = elements.iter().map(|element| element.to_word()).collect();
        Ok(array.buffer.region().store_words(self.driver.platform(), &words)?)
    }

    /// The elements of an array.
    ///
    /// # Errors
    /// When it is another driver's.
    pub fn read<T: Element>(&self, array: &Array<T>) -> Result<Vec<T>, Error> {
        self.expect_own(array)?;
        let mut bytes = alloc::vec![0; 4 * array.length];
        array.buffer.region().load(self.driver.platform(), 0, &mut bytes)?;
        Ok(bytes.as_chunks().0.iter().map(|&word| T::from_word(u32::from_le_bytes(word))).collect())
    }

    /// What the operations since the last call had to do at least; see [`Work`].
    pub const fn take_work(&mut self) -> Work {
        core::mem::replace(&mut self.work, Work::NONE)
    }

    /// Checks that the array is in this driver's memory.
    pub(crate) fn expect_own<T>(&self, array: &Array<T>) -> Result<(), Error> {
        if array.buffer.is_of(self.driver.pool()) { Ok(()) } else { Err(Error::ForeignArray) }
    }

    /// Fills the last block of an array up with a word, by the CPU.
    pub(crate) fn fill_up<T>(&mut self, array: &Array<T>, word: u32) -> Result<(), Error> {
        let end = array.blocks() as usize * BLOCK_WORDS;
        let rest = alloc::vec![word; end - array.length];
        let region = array.buffer.region();
        let part = region.part(4 * array.length as u32, 4 * rest.len() as u32)?;
        Ok(part.store_words(self.driver.platform(), &rest)?)
    }

    /// Runs a program once for each of these uniforms, at most one a QPU, and waits for their end.
    pub(crate) fn launch<U: UniformData>(&mut self, program: &UserProgram<U>, jobs: &[U]) -> Result<(), Error> {
        let code = self.compute.program(self.driver, program.code())?;
        let (mut words, mut owners, mut starts) = (Vec::new(), Vec::new(), Vec::new());
        for job in jobs {
            words.resize(words.len().next_multiple_of(LINE_BYTES as usize / 4), 0);
            starts.push(4 * words.len() as u32);
            job.push(&mut UniformStream::new(&mut words, &mut owners, ViewportUniforms::NONE));
        }
        let uniforms = self.driver.allocate(4 * words.len() as u32, LINE_BYTES)?;
        uniforms.region().store_words(self.driver.platform(), &words)?;
        // The first is the leader of all, and comes last.
        let programs: Vec<user_program::UserProgram> = starts
            .iter()
            .rev()
            .map(|&start| user_program::UserProgram {
                code: code.address(),
                uniforms: uniforms.address() + start,
                uniform_count: NO_LIMIT,
            })
            .collect();
        Ok(self.driver.run_programs(&programs, LIMIT_US)?)
    }

    /// Notes what an operation had to do.
    pub(crate) fn account(&mut self, work: Work) {
        self.work += work;
    }
}

/// How a QPU takes part in work that is divided into blocks: block `number`, and each `QPUS`-th after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    /// Which QPU, counted from 0.
    pub(crate) number: u32,
    /// How many take part.
    pub(crate) qpus: u32,
    /// Blocks of this one.
    pub(crate) blocks: u32,
}

impl Share {
    /// The shares of so many blocks, none of them empty.
    pub(crate) fn of(blocks: u32) -> impl Iterator<Item = Self> {
        let qpus = blocks.min(QPUS);
        (0..qpus).map(move |number| Self { number, qpus, blocks: (blocks - number).div_ceil(qpus) })
    }

    /// The quarter of the VPM that it stores from; see `quarters.qinc`.
    pub(crate) const fn quarter(&self) -> u32 {
        self.number % 4
    }

    /// For the leader how many others there are, for the others -1; see `quarters.qinc`.
    pub(crate) const fn others(&self) -> i32 {
        if self.number == 0 { self.qpus as i32 - 1 } else { -1 }
    }
}

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
}
