//! Arrays in GPU-visible memory.

use alloc::rc::Rc;
use core::marker::PhantomData;

use shader_interface::{Storage, StorageMut};
use v3d::hw::BusAddr;
use v3d::pool::Buffer;

/// Words of a block: 16 rows of 16 words, which a QPU stores at once.
pub(crate) const BLOCK_WORDS: usize = 256;
/// Bytes of a block.
pub(crate) const BLOCK_BYTES: u32 = 4 * BLOCK_WORDS as u32;
/// Maximum number of elements of an array: 1 GiB.
pub(crate) const MAX_ELEMENTS: usize = 1 << 28;

/// An element of an array: a word of 32 bits.
pub trait Element: Copy {
    /// Its bits.
    fn to_word(self) -> u32;

    /// The element with these bits.
    fn from_word(word: u32) -> Self;
}

impl Element for u32 {
    fn to_word(self) -> u32 {
        self
    }

    fn from_word(word: u32) -> Self {
        word
    }
}

impl Element for i32 {
    fn to_word(self) -> u32 {
        self as u32
    }

    fn from_word(word: u32) -> Self {
        word as Self
    }
}

impl Element for f32 {
    fn to_word(self) -> u32 {
        self.to_bits()
    }

    fn from_word(word: u32) -> Self {
        Self::from_bits(word)
    }
}

/// Adjacent elements in GPU-visible memory, aligned to 1024 bytes and padded to a multiple of 1024 bytes.
///
/// The padding is undefined: operations store whole blocks.
#[derive(Debug)]
pub struct Array<T> {
    pub(crate) buffer: Buffer,
    pub(crate) length: usize,
    element: PhantomData<T>,
}

impl<T> Array<T> {
    pub(crate) fn new(buffer: Buffer, length: usize) -> Self {
        Self { buffer, length, element: PhantomData }
    }

    /// Number of elements.
    pub const fn len(&self) -> usize {
        self.length
    }

    /// Whether there are no elements.
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Address of the first element, as the GPU sees it.
    pub fn address(&self) -> BusAddr {
        self.buffer.address()
    }

    /// The memory, for what reads the elements in other ways, such as a mesh whose vertices they are. It is longer than they are.
    pub const fn memory(&self) -> &Buffer {
        &self.buffer
    }

    /// The elements as a storage buffer that a program reads.
    pub fn storage(&self) -> Storage<T> {
        Storage::new(self.address(), self.length as u32, Rc::new(self.buffer.clone()))
    }

    /// The elements as a storage buffer that a program writes.
    pub fn storage_mut(&mut self) -> StorageMut<T> {
        StorageMut::new(self.address(), self.length as u32, Rc::new(self.buffer.clone()))
    }

    /// Number of blocks, including the last one if it is incomplete.
    pub(crate) fn blocks(&self) -> u32 {
        self.length.div_ceil(BLOCK_WORDS) as u32
    }
}
