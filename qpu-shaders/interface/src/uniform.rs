//! Uniforms: structures that can be written to the stream of words that a program reads.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::any::Any;
use v3d_hw::BusAddr;

/// Keeps memory allocated that a program accesses through an address among its uniforms.
pub type Owner = Rc<dyn Any>;

/// The transformation from normalised device coordinates to screen coordinates. A program declares these uniforms with
/// the prefix `viewport_`, and the renderer fills them in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ViewportUniforms {
    /// `viewport_half_width`: half of the width in 1/16 pixel.
    pub half_width: f32,
    /// `viewport_half_height`: half of the height in 1/16 pixel; negative if the picture's top is its first row in memory.
    pub half_height: f32,
    /// `viewport_z_scale`: Zs = Zc / Wc * scale + offset.
    pub z_scale: f32,
    /// `viewport_z_offset`: Zs = Zc / Wc * scale + offset.
    pub z_offset: f32,
}

impl ViewportUniforms {
    /// All zeros, for user programs.
    pub const NONE: Self = Self { half_width: 0.0, half_height: 0.0, z_scale: 0.0, z_offset: 0.0 };
}

/// A program's stream of uniforms under construction.
#[derive(Debug)]
pub struct UniformStream<'a> {
    words: &'a mut Vec<u32>,
    owners: &'a mut Vec<Owner>,
    viewport: ViewportUniforms,
    instance: u32,
    not_a_number: Option<usize>,
    too_short: Option<(u32, u32)>,
    /// Indices in `words` of offsets from the stream's start, which are replaced by addresses when the stream's address is known.
    own_addresses: Vec<usize>,
    start: usize,
}

impl<'a> UniformStream<'a> {
    /// Creates a stream that appends words to `words`, and owners of memory to `owners`.
    #[inline]
    pub fn new(words: &'a mut Vec<u32>, owners: &'a mut Vec<Owner>, viewport: ViewportUniforms) -> Self {
        let start = words.len();
        Self {
            words,
            owners,
            viewport,
            instance: 0,
            not_a_number: None,
            too_short: None,
            own_addresses: Vec::new(),
            start,
        }
    }

    /// The same for the instance with this number.
    #[inline]
    #[must_use]
    pub const fn of_instance(mut self, number: u32) -> Self {
        self.instance = number;
        self
    }

    /// Appends a word.
    #[inline]
    pub fn word(&mut self, word: u32) {
        self.words.push(word);
    }

    /// Appends a float, and records if it is NaN.
    #[inline]
    pub fn float(&mut self, value: f32) {
        if value.is_nan() && self.not_a_number.is_none() {
            self.not_a_number = Some(self.words.len() - self.start);
        }
        self.words.push(value.to_bits());
    }

    /// Appends words.
    #[inline(always)]
    pub fn words(&mut self, words: &[u32]) {
        self.words.extend_from_slice(words);
    }

    /// Appends floats, and records if one is NaN.
    #[inline(always)]
    pub fn floats<const N: usize>(&mut self, values: &[f32; N]) {
        self.floats_of(values, values);
    }

    /// The same for floats of which some are certainly numbers, as the viewport's are; `unsure` are the others.
    #[inline(always)]
    pub fn floats_of<const N: usize, const M: usize>(&mut self, values: &[f32; N], unsure: &[f32; M]) {
        let first = self.words.len();
        let mut words = [0; N];
        for at in 0..N {
            words[at] = values[at].to_bits();
        }
        // Without a branch per float, and with one comparison for two of them: a comparison of two floats shows whether either is NaN.
        let mut are_numbers = true;
        for value in unsure {
            are_numbers &= !value.is_nan();
        }
        self.words.extend_from_slice(&words);
        if !are_numbers && self.not_a_number.is_none() {
            self.not_a_number = first_nan(self.words, first).map(|at| at - self.start);
        }
    }

    /// Appends the address of one of the stream's own words, given by its index: a loop with texture lookups rereads its uniforms from there in each
    /// iteration. It is an offset until [`place_at`](Self::place_at) adds the stream's address.
    #[inline]
    pub fn own_address(&mut self, index: u32) {
        self.own_addresses.push(self.words.len());
        self.words.push(4 * index);
    }

    /// Replaces the offsets that [`own_address`](Self::own_address) has appended by addresses: the stream will be at `address`.
    #[inline]
    pub fn place_at(&mut self, address: BusAddr) {
        place_own_addresses(self.words, &self.own_addresses, address);
        self.own_addresses.clear();
    }

    /// The indices, in the vector of words, of offsets that are to be replaced by addresses, for a stream whose address is not known yet.
    #[inline]
    pub fn take_own_addresses(&mut self) -> Vec<usize> {
        core::mem::take(&mut self.own_addresses)
    }

    /// Keeps `owner` alive while the program may run.
    pub fn keep(&mut self, owner: Owner) {
        self.owners.push(owner);
    }

    /// Records if a buffer has fewer bytes than the program requires.
    pub fn expect_bytes(&mut self, given: u32, needed: u32) {
        if given < needed && self.too_short.is_none() {
            self.too_short = Some((given, needed));
        }
    }

    /// The length of the first buffer that is too short, and the length that is needed, in bytes.
    pub const fn too_short(&self) -> Option<(u32, u32)> {
        self.too_short
    }

    /// The viewport of the draw.
    #[inline]
    pub const fn viewport(&self) -> &ViewportUniforms {
        &self.viewport
    }

    /// The number of the instance in its draw.
    #[inline]
    pub const fn instance(&self) -> u32 {
        self.instance
    }

    /// Index of the first word that is NaN.
    #[inline]
    pub const fn not_a_number(&self) -> Option<usize> {
        self.not_a_number
    }
}

/// Replaces the words with these indices, which are offsets from the start of a stream, by addresses; the stream will be at `address`.
#[inline]
pub fn place_own_addresses(words: &mut [u32], own_addresses: &[usize], address: BusAddr) {
    for &at in own_addresses {
        if let Some(word) = words.get_mut(at) {
            *word = word.wrapping_add(address.0);
        }
    }
}

/// Finds the first of the floats from `first` on that is NaN.
#[cold]
#[inline(never)]
fn first_nan(words: &[u32], first: usize) -> Option<usize> {
    (first..words.len()).find(|&at| f32::from_bits(words[at]).is_nan())
}

/// The uniforms of one program.
pub trait UniformData {
    /// Maximum number of words that the program reads.
    const WORDS: usize;

    /// The same for uniforms whose program is known only at run time.
    #[inline(always)]
    fn most_words(&self) -> usize {
        Self::WORDS
    }

    /// Appends the words in the order in which the program reads them.
    fn push(&self, stream: &mut UniformStream<'_>);

    /// The same for the program's variant for half floats, if it has one.
    #[inline(always)]
    fn push_half(&self, stream: &mut UniformStream<'_>) {
        self.push(stream);
    }
}

/// The uniforms of a vertex shader and its coordinate shader.
pub trait VertexUniforms {
    /// Whether the coordinate shader's words are the first words of the vertex shader's stream, so that both can share
    /// it.
    const COORDINATE_READS_THE_SAME: bool = false;
    /// Number of words: those of the vertex shader, and of the coordinate shader if it has its own.
    const WORDS: usize;

    /// [`COORDINATE_READS_THE_SAME`](Self::COORDINATE_READS_THE_SAME) for uniforms whose programs are known only at run time.
    #[inline(always)]
    fn coordinate_reads_the_same(&self) -> bool {
        Self::COORDINATE_READS_THE_SAME
    }

    /// [`WORDS`](Self::WORDS) for uniforms whose programs are known only at run time.
    #[inline(always)]
    fn most_words(&self) -> usize {
        Self::WORDS
    }

    /// Appends the words in the order in which the vertex shader reads them.
    fn push_vertex(&self, stream: &mut UniformStream<'_>);

    /// Appends the words in the order in which the coordinate shader reads them.
    fn push_coordinate(&self, stream: &mut UniformStream<'_>);
}

/// The uniforms of a program that reads none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoUniforms;

impl UniformData for NoUniforms {
    const WORDS: usize = 0;

    #[inline]
    fn push(&self, _stream: &mut UniformStream<'_>) {}
}

impl VertexUniforms for NoUniforms {
    const COORDINATE_READS_THE_SAME: bool = true;
    const WORDS: usize = 0;

    #[inline]
    fn push_vertex(&self, _stream: &mut UniformStream<'_>) {}

    #[inline]
    fn push_coordinate(&self, _stream: &mut UniformStream<'_>) {}
}

/// A value that can be a uniform.
pub trait UniformValue {
    /// Appends the value's words.
    fn push(&self, stream: &mut UniformStream<'_>);
}

impl UniformValue for f32 {
    #[inline]
    fn push(&self, stream: &mut UniformStream<'_>) {
        stream.float(*self);
    }
}

impl UniformValue for u32 {
    #[inline]
    fn push(&self, stream: &mut UniformStream<'_>) {
        stream.word(*self);
    }
}

impl UniformValue for i32 {
    #[inline]
    fn push(&self, stream: &mut UniformStream<'_>) {
        stream.word(*self as u32);
    }
}

impl UniformValue for BusAddr {
    #[inline]
    fn push(&self, stream: &mut UniformStream<'_>) {
        stream.word(self.0);
    }
}

/// A colour: red in the lowest byte.
impl UniformValue for [u8; 4] {
    #[inline]
    fn push(&self, stream: &mut UniformStream<'_>) {
        stream.word(u32::from_le_bytes(*self));
    }
}

/// A vector, or a matrix in row-major order.
impl<const N: usize> UniformValue for [f32; N] {
    #[inline]
    fn push(&self, stream: &mut UniformStream<'_>) {
        stream.floats(self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIEWPORT: ViewportUniforms =
        ViewportUniforms { half_width: 8.0, half_height: -8.0, z_scale: 0.5, z_offset: 0.5 };

    #[test]
    fn values_are_words_in_their_order() {
        let (mut words, mut owners) = (Vec::from([7]), Vec::new());
        let mut stream = UniformStream::new(&mut words, &mut owners, VIEWPORT);
        1.0f32.push(&mut stream);
        (-1i32).push(&mut stream);
        [1, 2, 3, 4].push(&mut stream);
        [2.0, 3.0].push(&mut stream);
        assert_eq!(stream.not_a_number(), None);
        assert_eq!(words, [7, 0x3f80_0000, 0xffff_ffff, 0x0403_0201, 0x4000_0000, 0x4040_0000]);
    }

    #[test]
    fn a_stream_holds_addresses_of_its_own_words() {
        let (mut words, mut owners) = (Vec::from([7]), Vec::new());
        let mut stream = UniformStream::new(&mut words, &mut owners, VIEWPORT);
        stream.word(9);
        stream.own_address(2);
        stream.word(8);
        stream.own_address(2);
        stream.place_at(BusAddr(0x1000));
        assert_eq!(stream.take_own_addresses(), [0usize; 0]);
        assert_eq!(words, [7, 9, 0x1008, 8, 0x1008]);
    }

    #[test]
    fn the_first_word_that_is_no_number_is_noted() {
        let (mut words, mut owners) = (Vec::from([7, 7]), Vec::new());
        let mut stream = UniformStream::new(&mut words, &mut owners, VIEWPORT);
        [0.0, f32::INFINITY, f32::NEG_INFINITY].push(&mut stream);
        assert_eq!(stream.not_a_number(), None);
        [0.0, f32::INFINITY, f32::NAN, f32::NAN].push(&mut stream);
        assert_eq!(stream.not_a_number(), Some(5));
    }
}
