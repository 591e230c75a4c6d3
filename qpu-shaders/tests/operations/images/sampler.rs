//! A sampler in double precision, for samples and gathers of images with wrap mode repeat.
//!
//! Levels of detail, interpolation and comparisons follow the OpenGL specification, version 4.5, section 8.14.

use super::image::{Image, Level};

/// The positions of the four texels that are interpolated, and the weights of the second column and row.
pub(super) struct Footprint {
    columns: [i64; 2],
    rows: [i64; 2],
    shares: [f64; 2],
}

/// Level of detail for derivatives of s and t along x and y: the greater one decides.
pub(super) fn level_of_detail(image: &Image, along_x: [f32; 2], along_y: [f32; 2]) -> f64 {
    let length = |[s, t]: [f32; 2]| {
        (f64::from(s) * f64::from(image.levels[0].width)).hypot(f64::from(t) * f64::from(image.levels[0].height))
    };
    length(along_x).max(length(along_y)).log2()
}

/// The nearest existing level; `None` if the level of detail is so close to the middle between two that rounding decides.
pub(super) fn nearest_level(image: &Image, detail: f64) -> Option<&Level> {
    let last = image.levels.len() as f64 - 1.0;
    let detail = detail.clamp(0.0, last);
    let between = (detail.fract() - 0.5).abs() < 0.02;
    (!between).then(|| &image.levels[(detail + 0.5).floor().min(last) as usize])
}

/// The footprint of a position with an offset in texels; `None` so close to the middle of a texel that rounding decides which texels it has.
pub(super) fn footprint(level: &Level, [s, t]: [f32; 2], moved: [i32; 2]) -> Option<Footprint> {
    let u = f64::from(s) * f64::from(level.width) - 0.5 + f64::from(moved[0]);
    let v = f64::from(t) * f64::from(level.height) - 0.5 + f64::from(moved[1]);
    let near = |at: f64| (at - at.round()).abs() < 1.0 / 256.0;
    if near(u) || near(v) {
        return None;
    }
    let (i, j) = (u.floor(), v.floor());
    Some(Footprint { columns: [i as i64, i as i64 + 1], rows: [j as i64, j as i64 + 1], shares: [u - i, v - j] })
}

impl Footprint {
    /// The texels (0, 1), (1, 1), (1, 0), (0, 0).
    pub(super) fn gather(&self, level: &Level) -> [u64; 4] {
        let wrapped = |at: i64, size: u32| at.rem_euclid(i64::from(size)) as u32;
        [(0, 1), (1, 1), (1, 0), (0, 0)].map(|(column, row): (usize, usize)| {
            level.texel(wrapped(self.columns[column], level.width), wrapped(self.rows[row], level.height))
        })
    }

    /// Interpolates four values in the order of [`Footprint::gather`].
    pub(super) fn blend(&self, [upper_left, upper_right, lower_right, lower_left]: [f64; 4]) -> f64 {
        let [x, y] = self.shares;
        let lower = lower_left * (1.0 - x) + lower_right * x;
        let upper = upper_left * (1.0 - x) + upper_right * x;
        lower * (1.0 - y) + upper * y
    }
}

/// A channel of a packed texel, 0 to 1.
pub(super) fn channel(texel: u64, number: usize) -> f64 {
    f64::from(texel.to_le_bytes()[number]) / 255.0
}

/// The depth in a texel of 24 bits of depth and 8 of stencil.
pub(super) fn depth(texel: u64) -> f64 {
    f64::from((texel >> 8) as u32) / 16_777_215.0
}

/// The four channels at a position, interpolated within a level.
pub(super) fn linear(level: &Level, place: [f32; 2], moved: [i32; 2]) -> Option<[f64; 4]> {
    let footprint = footprint(level, place, moved)?;
    let texels = footprint.gather(level);
    Some(std::array::from_fn(|number| footprint.blend(texels.map(|texel| channel(texel, number)))))
}

/// The same, interpolated between the two levels around a level of detail.
pub(super) fn trilinear(image: &Image, place: [f32; 2], detail: f64) -> Option<[f64; 4]> {
    let last = image.levels.len() - 1;
    let detail = detail.clamp(0.0, last as f64);
    let first = (detail.floor() as usize).min(last);
    let near = linear(&image.levels[first], place, [0, 0])?;
    let far = linear(&image.levels[(first + 1).min(last)], place, [0, 0])?;
    Some(std::array::from_fn(|number| near[number] + (far[number] - near[number]) * detail.fract()))
}
