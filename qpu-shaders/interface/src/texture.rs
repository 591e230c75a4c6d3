//! Texture uniforms: their parameter words, typed by the kind of lookup.

use alloc::rc::Rc;
use core::fmt;
use core::marker::PhantomData;

use v3d_hw::Layout;
use v3d_hw::texture::{MAX_SIZE, MagFilter, MinFilter, Parameter0, Parameter1};

use crate::uniform::{Owner, UniformStream};

/// Looked up by s and t.
#[derive(Debug)]
pub enum TwoDimensional {}

/// Looked up by s and t, with two results: texels of 64 bits.
#[derive(Debug)]
pub enum TwoDimensional64 {}

/// Six faces, looked up by a direction s, t, r.
#[derive(Debug)]
pub enum CubeMap {}

/// Part of a two-dimensional texture, looked up by s and t.
#[derive(Debug)]
pub enum Child {}

/// Parameter 2 of type "cube map stride", with its bit that disables the automatic level of detail [AG p.42]; the
/// distance of a cube map's faces is kept.
const LEVEL_BY_B: u32 = 1 << 30 | 1;

/// The parameter words of a texture for one kind of lookup, and a reference to its memory.
pub struct TextureBinding<Kind> {
    words: [u32; 4],
    owner: Owner,
    kind: PhantomData<fn(Kind)>,
}

/// A kind that is known only at run time, from a shader's declaration.
#[derive(Debug)]
pub enum AnyKind {}

/// A texture that a program declares as `2d`.
pub type Texture2d = TextureBinding<TwoDimensional>;
/// A texture that a program declares as `2d64`.
pub type Texture2d64 = TextureBinding<TwoDimensional64>;
/// A texture that a program declares as `cube`.
pub type TextureCube = TextureBinding<CubeMap>;
/// A texture that a program declares as `child`.
pub type TextureChild = TextureBinding<Child>;

impl<Kind> TextureBinding<Kind> {
    /// Parameters 0 to 3 of a texture [AG p.41-42] and a reference to its memory. The caller guarantees that they are
    /// of this kind.
    pub const fn new(words: [u32; 4], owner: Owner) -> Self {
        Self { words, owner, kind: PhantomData }
    }

    /// The same without its kind.
    pub fn of_any_kind(self) -> TextureBinding<AnyKind> {
        TextureBinding::new(self.words, self.owner)
    }

    /// The parameter words.
    pub const fn words(&self) -> [u32; 4] {
        self.words
    }

    /// The parameter words of lookups whose b is the level of detail itself, not a bias.
    pub const fn level_words(&self) -> [u32; 4] {
        let [word0, word1, word2, word3] = self.words;
        [word0, word1, word2 | LEVEL_BY_B, word3]
    }

    /// The parameter words of lookups with nearest filtering.
    pub fn nearest_words(&self) -> [u32; 4] {
        let [word0, word1, word2, word3] = self.words;
        let min_filter = if self.levels() == 1 { MinFilter::Nearest } else { MinFilter::NearMipNear };
        let nearest = Parameter1 { mag_filter: MagFilter::Nearest, min_filter, ..Parameter1::from_word(word1) };
        // This word has all of its fields from the other one, with other filters.
        [word0, nearest.to_word().unwrap_or(word1), word2, word3]
    }

    /// The parameter words of lookups with nearest filtering, at the mip level in b.
    pub fn texel_words(&self) -> [u32; 4] {
        let [word0, word1, word2, word3] = self.nearest_words();
        [word0, word1, word2 | LEVEL_BY_B, word3]
    }

    /// Number of mip levels.
    pub fn levels(&self) -> u32 {
        u32::from(Parameter0::from_word(self.words[0]).mip_levels_minus_1) + 1
    }

    /// Width and height of a mip level in texels; of the last level if there are fewer.
    pub fn size_px(&self, level: u32) -> [u32; 2] {
        let Parameter1 { width, height, .. } = Parameter1::from_word(self.words[1]);
        let level = level.min(self.levels() - 1);
        [width, height].map(|side| {
            let side = if side == 0 { MAX_SIZE } else { u32::from(side) };
            (side >> level).max(1)
        })
    }

    /// Appends the words of `lookups` lookups, each with the first `words_per_lookup` words, and keeps the texture
    /// alive.
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
    fn lookups_of_levels_and_texels_have_words_of_their_own() {
        use v3d_hw::texture::{CubeMapStride, ParameterType, Wrap};
        let word1 = Parameter1 {
            type_high: false,
            height: 0,
            etc_flip: true,
            width: 100,
            mag_filter: MagFilter::Linear,
            min_filter: MinFilter::LinMipLin,
            wrap_t: Wrap::Mirror,
            wrap_s: Wrap::Clamp,
        };
        let binding = Texture2d::new([7 << 12 | 6, word1.to_word().unwrap(), 0, 0], Rc::new(()));
        assert_eq!((binding.levels(), binding.size_px(0), binding.size_px(3)), (7, [100, 2048], [12, 256]));
        assert_eq!(binding.size_px(9), [1, 32], "level 6 is the last one");
        let nearest = Parameter1 { mag_filter: MagFilter::Nearest, min_filter: MinFilter::NearMipNear, ..word1 };
        assert_eq!(Parameter1::from_word(binding.nearest_words()[1]), nearest);
        let [.., word2, _] = binding.texel_words();
        let CubeMapStride { ptype, disable_lod, .. } = CubeMapStride::from_word(word2);
        assert_eq!((ptype, disable_lod), (ParameterType::CubeMapStride, true));
        assert_eq!(binding.level_words(), [binding.words()[0], binding.words()[1], word2, 0]);
    }

    #[test]
    fn each_lookup_has_its_words_and_the_texture_is_kept() {
        let owner: Owner = Rc::new(1u8);
        let binding = Texture2d::new([1, 2, 3, 4], owner.clone());
        let (mut words, mut owners) = (Vec::new(), Vec::new());
        let mut stream = UniformStream::new(&mut words, &mut owners, ViewportUniforms::NONE);
        binding.push(&mut stream, 2, 3);
        assert_eq!((words, owners.len()), (Vec::from([1, 2, 3, 1, 2, 3]), 1));
        drop(binding);
        assert_eq!(Rc::strong_count(&owner), 2, "the stream holds a reference");
    }
}
