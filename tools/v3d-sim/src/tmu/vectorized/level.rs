//! The level that each element is sampled from, by the rules of [`lod`].

use crate::qpu::lanes::{ALL, Mask};
use crate::simd::vectors::SIGN;
use crate::simd::words::Words;
use crate::tmu::lod;
use crate::tmu::texture::Texture;
use v3d_hw::texture::{MagFilter, MinFilter};

/// The filters of a texture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filters {
    pub(super) mag: MagFilter,
    min: MinFilter,
    last_level: u32,
    pub(super) bias_only: bool,
    /// All elements are treated alike, magnified or not.
    pub(super) always_magnified: bool,
}

/// Levels and filters of the elements.
pub(super) struct Choice<W> {
    /// The finer level.
    pub(super) level: W,
    /// Share of the next level, in 1/256.
    pub(super) next_share: W,
    /// Not 0: 2x2 texels are blended.
    pub(super) linear: W,
    /// Elements with a share of the next level.
    pub(super) shared: Mask,
    /// The level and filter, if all elements have the same ones.
    pub(super) uniform: Option<(u32, bool)>,
}

impl<W: Words> Choice<W> {
    #[inline(always)]
    pub(super) fn magnified(filter: MagFilter) -> Self {
        let zero = W::splat(0);
        let linear = filter == MagFilter::Linear;
        let uniform = Some((0, linear));
        Self { level: zero, next_share: zero, linear: W::splat(u32::from(linear)), shared: 0, uniform }
    }

    /// The level and filter of an element.
    #[inline(always)]
    pub(super) fn of(&self, element: usize) -> (u32, bool) {
        self.uniform.unwrap_or_else(|| (W::store(self.level).0[element], W::store(self.linear).0[element] != 0))
    }

    /// The elements with a level and filter.
    #[inline(always)]
    pub(super) fn like(&self, level: u32, linear: bool) -> Mask {
        let linear = u32::from(linear);
        W::bits(W::equal(self.level, W::splat(level))) & W::bits(W::equal(self.linear, W::splat(linear)))
    }
}

/// The changes along x and y in each quad, from which the level of detail follows.
#[derive(Clone, Copy)]
pub(super) enum Changes<W> {
    /// The first two elements of each quad have the squares of their lengths.
    Squares(W),
    /// They have the sums.
    Sums(W),
}

/// The derivatives of coordinates along x and y, in the first two elements of each quad; at most `texels`.
#[inline(always)]
pub(super) fn derivatives<W: Words>(coordinates: W, texels: f32) -> W {
    let difference = W::float_subtract(W::neighbours(coordinates), W::firsts(coordinates));
    // NaN stays.
    W::float_min(W::splat_float(texels), W::and(difference, W::splat(!SIGN)))
}

impl Filters {
    pub(super) fn new(texture: &Texture) -> Self {
        let Texture { mag, min, last_level, bias_only, .. } = *texture;
        let always_magnified = !lod::matters(mag, min);
        Self { mag, min, last_level, bias_only, always_magnified }
    }

    /// Selects levels by the bias and the quads' derivatives.
    #[inline(always)]
    pub(super) fn choose<W: Words>(&self, bias: W, changes: Changes<W>) -> Choice<W> {
        let (changes, is_square) = match changes {
            Changes::Squares(squares) => (squares, true),
            Changes::Sums(sums) => (sums, false),
        };
        /// The elements that have changes.
        const FIRST_TWO: Mask = 0x3333;
        let unbiased = W::bits(W::equal(W::shift_left(bias, 1), W::splat(0))) == ALL;
        if unbiased && W::bits(W::float_greater(changes, W::splat_float(1.0))) & FIRST_TWO == 0 {
            return Choice::magnified(self.mag);
        }
        // The greater one of both in element 0; the other if one of them is NaN.
        let others = W::neighbours(changes);
        let greater = W::select(changes, W::float_max(changes, others), W::float_at_least(others, others));
        let no_change = W::splat_float(lod::NO_CHANGE);
        let positive = W::float_greater(W::firsts(greater), W::splat(0));
        let greater = if is_square { W::float_square_root(greater) } else { greater };
        self.minified(bias, W::select(no_change, W::logarithms_of_firsts(greater), positive))
    }

    /// The same by the rules of [`lod::select`].
    #[inline(always)]
    fn minified<W: Words>(&self, bias: W, automatic: W) -> Choice<W> {
        let detail = W::float_add(automatic, bias);
        let last = W::splat_float(self.last_level as f32);
        let zero = W::splat(0);
        let (level, share) = match self.min {
            MinFilter::Linear | MinFilter::Nearest | MinFilter::Reserved(_) => (zero, zero),
            MinFilter::NearMipNear | MinFilter::LinMipNear => {
                (floor(W::float_min(W::float_add(detail, W::splat_float(0.5)), last)), zero)
            }
            MinFilter::NearMipLin | MinFilter::LinMipLin => {
                let fixed = floor(W::float_multiply(W::float_min(detail, last), W::splat_float(256.0)));
                (W::shift_right(fixed, 8), W::and(fixed, W::splat(255)))
            }
        };
        // NaN is magnified, too.
        let minified = W::float_greater(detail, W::splat_float(lod::magnified_up_to(self.mag, self.min)));
        let linear = matches!(self.min, MinFilter::Linear | MinFilter::LinMipNear | MinFilter::LinMipLin);
        let (linear, magnified) = (u32::from(linear), u32::from(self.mag == MagFilter::Linear));
        let mut choice = Choice {
            level: W::keep(level, minified),
            next_share: W::keep(share, minified),
            linear: W::select(W::splat(magnified), W::splat(linear), minified),
            shared: 0,
            uniform: None,
        };
        let (level, linear) = choice.of(0);
        choice.uniform = (choice.like(level, linear) == ALL).then_some((level, linear));
        choice.shared = !W::bits(W::equal(choice.next_share, zero));
        choice
    }
}

/// The integers below.
#[inline(always)]
fn floor<W: Words>(x: W) -> W {
    W::to_integer(W::float_floor(x))
}
