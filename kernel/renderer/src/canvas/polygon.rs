//! Convex polygons: clipped to a guard band, snapped to sixteenths of a pixel, with varyings at their corners.

use alloc::vec::Vec;
use glam::Vec2;
use v3d::draw_state::Viewport;
use v3d::hw::shaded_vertex::ScreenXy;

use crate::error::Error;
use crate::shaded_vertex::ShadedVertex;

/// Width of the guard band around the canvas, in pixels: screen coordinates have 16 bits, in sixteenths of a pixel.
const MARGIN_PX: f32 = 64.0;

/// Maximum width of the guard band in widths of the canvas: boards do not draw triangles with vertices more than seven half widths from the middle [piegpu].
/// The target that the canvas is drawn to is not smaller than the canvas.
const MARGIN_WIDTHS: f32 = 3.0;

/// The guard band that polygons are clipped to, and the centre that coordinates are relative to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    low: Vec2,
    high: Vec2,
    /// Width and height of the guard band.
    margin: Vec2,
    /// The centre in sixteenths of a pixel.
    center: [i16; 2],
}

impl Window {
    /// For a canvas of at most 2048 pixels on each side.
    pub(super) fn new(size_px: [u32; 2]) -> Self {
        let size = Vec2::new(size_px[0] as f32, size_px[1] as f32);
        let margin = (MARGIN_WIDTHS * size).min(Vec2::splat(MARGIN_PX));
        Self { low: -margin, high: size + margin, margin, center: size_px.map(|side| (8 * side.min(2048)) as i16) }
    }

    /// Offset from the coordinates of this canvas to those of a target with this viewport, which is not smaller.
    pub(super) const fn shift_to(&self, viewport: &Viewport) -> [i16; 2] {
        [self.center[0] - viewport.center_x, self.center[1] - viewport.center_y]
    }

    /// Whether a polygon may overlap the canvas.
    fn is_touched(&self, corners: &[Vec2]) -> bool {
        let (mut low, mut high) = (Vec2::INFINITY, Vec2::NEG_INFINITY);
        for &corner in corners {
            (low, high) = (low.min(corner), high.max(corner));
        }
        low.cmple(self.high - self.margin).all() && high.cmpge(self.low + self.margin).all()
    }

    /// Clips a convex polygon and returns its corners, each with the values of `varyings`.
    ///
    /// Corners are rounded to the nearest sixteenth of a pixel, and the varyings are computed at the rounded position.
    pub(super) fn shade<const N: usize>(
        &self,
        label: &'static str,
        corners: &[Vec2; 4],
        varyings: impl Fn(Vec2) -> [f32; N],
    ) -> Result<Polygon<N>, Error> {
        if let Some(value) = corners.iter().flat_map(|corner| corner.to_array()).find(|value| !value.is_finite()) {
            return Err(Error::NotFinite { label, value });
        }
        let mut polygon = Polygon { vertices: [Polygon::NOWHERE; MAX_CORNERS], count: 0 };
        if !self.is_touched(corners) {
            return Ok(polygon);
        }
        let inside = |corner: &Vec2| corner.cmpge(self.low).all() && corner.cmple(self.high).all();
        if corners.iter().all(inside) {
            polygon.take(corners, |corner| self.vertex(corner, &varyings));
        } else {
            let mut left = corners.to_vec();
            for axis in [0, 1] {
                left = cut(&left, |corner| corner[axis] - self.low[axis]);
                left = cut(&left, |corner| self.high[axis] - corner[axis]);
            }
            // Rounding errors of clipping are large if corners are very far away.
            polygon.take(&left, |corner| self.vertex(corner.clamp(self.low, self.high), &varyings));
        }
        let values = polygon.vertices().iter().flat_map(|vertex| vertex.varyings);
        match values.into_iter().find(|value| !value.is_finite()) {
            Some(value) => Err(Error::NotFinite { label, value }),
            None => Ok(polygon),
        }
    }

    /// A corner as a vertex, in fixed-point screen coordinates.
    fn vertex<const N: usize>(&self, corner: Vec2, varyings: impl Fn(Vec2) -> [f32; N]) -> ShadedVertex<N> {
        // The guard band is within the range of 16 bits around the centre.
        let sixteenths = (16.0 * corner + 0.5).floor();
        let from_center = |at: f32, center: i16| (at as i32 - i32::from(center)) as i16;
        let (x, y) = (from_center(sixteenths.x, self.center[0]), from_center(sixteenths.y, self.center[1]));
        ShadedVertex {
            position: ScreenXy { x, y },
            depth: 0.0,
            reciprocal_w: 1.0,
            varyings: varyings(sixteenths / 16.0),
        }
    }
}

/// Maximum number of corners of a clipped polygon: four, and one more for each of the four edges of the guard band.
const MAX_CORNERS: usize = 8;

/// The shaded corners of a clipped convex polygon.
#[derive(Clone, Copy, Debug)]
pub(super) struct Polygon<const N: usize> {
    vertices: [ShadedVertex<N>; MAX_CORNERS],
    count: usize,
}

impl<const N: usize> Polygon<N> {
    /// Value of unused elements.
    const NOWHERE: ShadedVertex<N> =
        ShadedVertex { position: ScreenXy { x: 0, y: 0 }, depth: 0.0, reciprocal_w: 1.0, varyings: [0.0; N] };

    fn take(&mut self, corners: &[Vec2], vertex: impl Fn(Vec2) -> ShadedVertex<N>) {
        for (place, &corner) in self.vertices.iter_mut().zip(corners) {
            *place = vertex(corner);
            self.count += 1;
        }
    }

    pub(super) fn vertices(&self) -> &[ShadedVertex<N>] {
        &self.vertices[..self.count]
    }
}

/// The part of a convex polygon on the side of a line where `distance` is not negative.
fn cut(polygon: &[Vec2], distance: impl Fn(Vec2) -> f32) -> Vec<Vec2> {
    let mut left = Vec::with_capacity(polygon.len() + 1);
    for (index, &corner) in polygon.iter().enumerate() {
        let next = polygon[(index + 1) % polygon.len()];
        let (here, there) = (distance(corner), distance(next));
        if here >= 0.0 {
            left.push(corner);
        }
        if (here >= 0.0) != (there >= 0.0) {
            left.push(corner.lerp(next, here / (here - there)));
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: [u32; 2] = [100, 50];

    fn shade(corners: [[f32; 2]; 4]) -> Result<Vec<ShadedVertex<2>>, Error> {
        Window::new(WINDOW)
            .shade("polygon", &corners.map(Vec2::from), |place| place.to_array())
            .map(|polygon| polygon.vertices().to_vec())
    }

    #[test]
    fn corners_are_snapped_and_know_where() {
        let vertices = shade([[10.0, 20.0], [30.03, 20.0], [30.0, 40.0], [10.0, 40.04]]).unwrap();
        let found: Vec<_> = vertices.iter().map(|v| (v.position.x, v.position.y, v.varyings)).collect();
        // The centre is at (50, 25).
        let expected = [
            (-640, -80, [10.0, 20.0]),
            (-320, -80, [30.0, 20.0]),
            (-320, 240, [30.0, 40.0]),
            (-640, 241, [10.0, 40.0625]),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_far_away_is_cut_off_or_left_out() {
        assert_eq!(shade([[200.0, 0.0], [300.0, 0.0], [300.0, 9.0], [200.0, 9.0]]).unwrap(), []);
        // A band across the canvas, a million pixels long: 64 pixels are left on each side.
        let vertices = shade([[-1e6, 10.0], [1e6, 10.0], [1e6, 20.0], [-1e6, 20.0]]).unwrap();
        let mut places: Vec<_> = vertices.iter().map(|v| v.varyings).collect();
        places.sort_by(|a, b| a.partial_cmp(b).unwrap());
        assert_eq!(places, [[-64.0, 10.0], [-64.0, 20.0], [164.0, 10.0], [164.0, 20.0]]);
    }

    /// Boards draw what is at most seven half widths from the middle, and lose it from eight on [piegpu].
    #[test]
    fn nothing_is_left_that_boards_would_lose() {
        let far = [[-1e4, -1e4], [1e4, -1e4], [1e4, 1e4], [-1e4, 1e4]].map(Vec2::from);
        for size_px in [[1, 1], [4, 2000], [20, 8], [22, 21], [320, 240], [2048, 1]] {
            let polygon = Window::new(size_px).shade("polygon", &far, |place| place.to_array()).unwrap();
            assert_eq!(polygon.vertices().len(), 4, "{size_px:?}");
            for vertex in polygon.vertices() {
                let within = |at: i16, side: u32| i32::from(at).unsigned_abs() <= 7 * 8 * side;
                assert!(within(vertex.position.x, size_px[0]) && within(vertex.position.y, size_px[1]), "{size_px:?}");
                // All of the canvas is covered.
                assert!(i32::from(vertex.position.x).unsigned_abs() >= 8 * size_px[0], "{size_px:?}");
            }
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        let error = shade([[0.0, 0.0], [f32::NAN, 0.0], [1.0, 1.0], [0.0, 1.0]]).unwrap_err();
        assert!(matches!(error, Error::NotFinite { label: "polygon", value } if value.is_nan()), "{error}");
    }
}
