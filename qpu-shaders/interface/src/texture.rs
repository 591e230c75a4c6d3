//! Textures among the uniforms: their parameter words, and what kind of lookups may have them.

use alloc::rc::Rc;
use core::fmt;
use core::marker::PhantomData;

use crate::uniform::{Owner, UniformStream};

/// Looked up by s and t.
#[derive(Debug)]
pub enum TwoDimensional {}

/// Six faces, looked up by a direction s, t, r.
#[derive(Debug)]
pub enum CubeMap {}

/// Part of a two-dimensional texture, looked up by s and t.
#[derive(Debug)]
pub enum Child {}

/// The parameter words of a texture for lookups of one kind, and what keeps its memory.
pub struct TextureBinding<Kind> {
    words: [u32; 4],
    owner: Owner,
    kind: PhantomData<fn(Kind)>,
}

/// A texture that a program declares as `2d`.
pub type Texture2d = TextureBinding<TwoDimensional>;
/// A texture that a program declares as `cube`.
pub type TextureCube = TextureBinding<CubeMap>;
/// A texture that a program declares as `child`.
pub type TextureChild = TextureBinding<Child>;

impl<Kind> TextureBinding<Kind> {
    /// Parameters 0 to 3 of a texture [AG p.41-42] and an owner of its memory. That they are of this kind is the caller's word.
    pub const fn new(words: [u32; 4], owner: Owner) -> Self {
        Self { words, owner, kind: PhantomData }
    }

    /// The parameter words.
    pub const fn words(&self) -> [u32; 4] {
        self.words
    }

    /// Appends the words of so many lookups, each of which takes the first `words_per_lookup`, and keeps the texture.
    pub fn push(&self, stream: &mut UniformStream<'_>, lookups: u32, words_per_lookup: usize) {
        for _ in 0..lookups {
            self.words.iter().take(words_per_lookup).for_each(|&word| stream.word(word));
        }
        stream.keep(self.owner.clone());
    }
}

impl<Kind> Clone for TextureBinding<Kind> {
    fn clone(&self) -> Self {
        Self { words: self.words, owner: Rc::clone(&self.owner), kind: PhantomData }
    }
}

impl<Kind> fmt::Debug for TextureBinding<Kind> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TextureBinding({:#010x?})", self.words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uniform::ViewportUniforms;
    use alloc::vec::Vec;

    #[test]
    fn each_lookup_has_its_words_and_the_texture_is_kept() {
        let owner: Owner = Rc::new(1u8);
        let binding = Texture2d::new([1, 2, 3, 4], owner.clone());
        let (mut words, mut owners) = (Vec::new(), Vec::new());
        let mut stream = UniformStream::new(&mut words, &mut owners, ViewportUniforms::NONE);
        binding.push(&mut stream, 2, 3);
        assert_eq!((words, owners.len()), (Vec::from([1, 2, 3, 1, 2, 3]), 1));
        drop(binding);
        assert_eq!(Rc::strong_count(&owner), 2, "the stream keeps it");
    }
}
