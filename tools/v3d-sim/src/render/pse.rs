//! Primitive setup engine (PSE): from shaded vertices to edges and planes [AG p.14].
//!
//! The PSE turns the vertices of a primitive into what the rasteriser needs (edge functions, planes of Z and 1/W) and into the coefficients of its
//! varyings. Positions are integers in 1/16 pixel, so edges are exact: coverage is not subject to rounding.
//!
//! # Varyings
//! The interpolator computes `VP = A*(x - x0) + B*(y - y0)`, and the shader `VP*W + C` [AG p.51]. A varying v is linear over the screen after
//! division by Wc, and the formula has only one constant outside of the product with W. So (x0, y0) is vertex 0, C the varying's value there, and A,
//! B the gradient of (v - C)/Wc: it vanishes at vertex 0, and the formula is exact for perspective.
//!
//! # Inferences
//! - A pixel or sample exactly on an edge belongs to the primitive on whose left or low-row side the edge is (a top-left rule with the lowest row as
//!   top). Silicon's rule is not known; no recorded picture has such a pixel.
//! - A flat varying takes the value of the last vertex, as in OpenGL.
//! - An RHT is the area between its edge and the vertical line at the RHT X boundary, which is in 1/16 pixel. The guide explains neither the letters
//!   nor the boundary; demos that are published as working have a boundary to the left of all edges, and names for the vertices that fit no other area
//!   [PeterLemon RHT]. To the right of the edges, the boundary works in the same way here. What an edge gives that crosses it is not known: nothing is
//!   drawn, and the model reports it.
//! - The implicit varyings of points and lines precede the shader's own for NV shaders as well. For GL shaders Mesa's driver says so. Eight published demos
//!   give the vertices of lines and points colours, declare three varyings and read three [PeterLemon VertexColor]: here these are implicit ones first, so
//!   that the colours are not those which the sources name. What boards show of them is not known.
//! - A line is widened along y if it is longer in x than in y, otherwise along x, as in OpenGL. Its one implicit varying runs from 0 to 1 across the
//!   width.
//! - Depth offset is OpenGL's: factor times the greater slope of Z in x and y, plus units of 2^-24.
//!
//! # Sources
//! Implicit varyings of points and lines, direction of a point's y: [mesa vc4_program.c]. Which orientation is clockwise: [mesa vc4_state.c].

use v3d_hw::control_list::{ConfigurationBits, DepthOffset};
use v3d_hw::qpu::LANES;

/// Steps of a pixel: positions are in 1/16 pixel.
pub const STEPS: i32 = 16;

/// A shaded vertex on the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vertex<'a> {
    /// x in 1/16 pixel from the left edge of the frame.
    pub x: i32,
    /// y in 1/16 pixel from the row that is lowest in memory.
    pub y: i32,
    /// Depth, 0 to 1.
    pub z: f32,
    /// 1/Wc.
    pub reciprocal_w: f32,
    /// Varyings.
    pub varyings: &'a [f32],
}

/// A linear function over the screen: `c + a * (x - x0) + b * (y - y0)` in 1/16 pixel, where (x0, y0) is the primitive's origin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Plane {
    /// Change per 1/16 pixel in x.
    pub a: f64,
    /// Change per 1/16 pixel in y.
    pub b: f64,
    /// Value at the origin.
    pub c: f64,
}

impl Plane {
    /// The value at an offset from the origin, in 1/16 pixel.
    #[inline(always)]
    pub fn at(&self, dx: f64, dy: f64) -> f64 {
        self.c + (self.a * dx + self.b * dy)
    }

    /// The values at the pixels of a block's four quads; `distance` is the offset of the first.
    #[inline(always)]
    pub fn over_block(&self, dx: f64, dy: f64) -> [f64; LANES] {
        let steps = PixelSteps::new(self.a, self.b);
        let mut values = [0.0; LANES];
        for lane in 0..LANES {
            let first = self.at(dx + QUAD_COLUMN[lane], dy + QUAD_ROW[lane]);
            values[lane] = steps.from_first(first, lane);
        }
        values
    }
}

/// Two pixels, in sixteenths.
const TWO: f64 = 2.0 * STEPS as f64;
/// Offset of each element's quad from the block's first pixel, in 1/16 pixel.
const QUAD_COLUMN: [f64; LANES] = [0.0, 0.0, 0.0, 0.0, TWO, TWO, TWO, TWO, 0.0, 0.0, 0.0, 0.0, TWO, TWO, TWO, TWO];
const QUAD_ROW: [f64; LANES] = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, TWO, TWO, TWO, TWO, TWO, TWO, TWO, TWO];

/// Differences of a linear function from one pixel of a quad to the next.
#[derive(Clone, Copy, Debug, Default)]
pub struct PixelSteps {
    /// Along x.
    pub right: f64,
    /// Along y.
    pub up: f64,
}

impl PixelSteps {
    /// From the differences per 1/16 pixel in x and y.
    #[inline(always)]
    pub fn new(a: f64, b: f64) -> Self {
        Self { right: a * f64::from(STEPS), up: b * f64::from(STEPS) }
    }

    /// The value at an element of a quad, from that at its first pixel.
    #[inline(always)]
    pub fn from_first(self, first: f64, element: usize) -> f64 {
        // Adding -0 changes nothing, not even a zero's sign, so that vectors treat all elements alike.
        let right = if element & 1 == 0 { -0.0 } else { self.right };
        let up = if element & 2 == 0 { -0.0 } else { self.up };
        first + right + up
    }
}

/// Coefficients of one varying.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Coefficients {
    /// A, per 1/16 pixel.
    pub a: f64,
    /// B, per 1/16 pixel.
    pub b: f64,
    /// C, the bits of a float.
    pub c: u32,
}

/// One edge: a point is inside if `a*x + b*y + c >= 0`, in 1/16 pixel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edge {
    /// Factor of x.
    pub a: i64,
    /// Factor of y.
    pub b: i64,
    /// Constant; includes -1 where points on the edge are outside.
    pub c: i64,
}

impl Edge {
    /// The edge from one point to another, with the inside on its left (y pointing up).
    fn through(from: (i32, i32), to: (i32, i32)) -> Self {
        let a = i64::from(from.1) - i64::from(to.1);
        let b = i64::from(to.0) - i64::from(from.0);
        let owns_its_points = a > 0 || (a == 0 && b > 0);
        let c = -(a * i64::from(from.0) + b * i64::from(from.1)) - i64::from(!owns_its_points);
        Self { a, b, c }
    }
}

/// A rectangle of pixels; the ends are exclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PixelRect {
    /// First column.
    pub x0: i32,
    /// First row.
    pub y0: i32,
    /// Column after the last.
    pub x1: i32,
    /// Row after the last.
    pub y1: i32,
}

impl PixelRect {
    /// The intersection of two rectangles.
    pub fn intersect(self, other: Self) -> Self {
        Self {
            x0: self.x0.max(other.x0),
            y0: self.y0.max(other.y0),
            x1: self.x1.min(other.x1),
            y1: self.y1.min(other.y1),
        }
    }

    /// Whether it has no pixel.
    pub fn is_empty(self) -> bool {
        self.x0 >= self.x1 || self.y0 >= self.y1
    }
}

/// Maximum number of edges of a primitive.
pub const MAX_EDGES: usize = 4;

/// A primitive ready for the rasteriser: a convex area with planes over it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Primitive {
    edges: [Edge; MAX_EDGES],
    edge_count: usize,
    /// Pixels outside of this are not covered.
    pub bounds: PixelRect,
    /// Origin of all planes, in 1/16 pixel.
    pub origin: (i32, i32),
    /// Depth, with the depth offset.
    pub z: Plane,
    /// What the depth offset has added to it.
    pub depth_offset: f64,
    /// 1/Wc.
    pub reciprocal_w: Plane,
    /// The primitive faces away.
    pub reverse: bool,
}

impl Primitive {
    /// The edges: a point is inside if it is inside of all of them.
    pub fn edges(&self) -> &[Edge] {
        &self.edges[..self.edge_count]
    }

    /// Offset of a pixel's centre from the origin of the planes, in 1/16 pixel.
    #[inline(always)]
    pub fn centre_distance(&self, (x, y): (i32, i32)) -> (f64, f64) {
        let distance = |pixel: i32, origin: i32| (i64::from(pixel) * i64::from(STEPS) + 8 - i64::from(origin)) as f64;
        (distance(x, self.origin.0), distance(y, self.origin.1))
    }

    /// W at the pixels of a block's four quads; `distance` is the offset of the first from the origin.
    #[inline(always)]
    pub fn w_over_block(&self, dx: f64, dy: f64) -> [f32; LANES] {
        let plane = &self.reciprocal_w;
        if (plane.a, plane.b) == (0.0, 0.0) {
            return [(1.0 / plane.c) as f32; LANES];
        }
        let reciprocals = plane.over_block(dx, dy);
        let mut w = [0.0; LANES];
        for (w, reciprocal) in w.iter_mut().zip(reciprocals) {
            *w = (1.0 / reciprocal) as f32;
        }
        w
    }

    /// A convex area whose corners run counter-clockwise (y pointing up).
    fn convex(corners: &[(i32, i32)]) -> Self {
        let mut primitive = Self { edge_count: corners.len().min(MAX_EDGES), ..Self::default() };
        for (i, edge) in primitive.edges.iter_mut().enumerate().take(corners.len()) {
            *edge = Edge::through(corners[i], corners[(i + 1) % corners.len()]);
        }
        let range = |of: fn(&(i32, i32)) -> i32| {
            let values = corners.iter().map(of);
            let low = values.clone().min().unwrap_or(0).div_euclid(STEPS);
            (low, values.max().unwrap_or(0).div_euclid(STEPS) + 1)
        };
        let ((x0, x1), (y0, y1)) = (range(|corner| corner.0), range(|corner| corner.1));
        primitive.bounds = PixelRect { x0, y0, x1, y1 };
        primitive
    }
}

/// The control list's state for primitives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SetupState {
    /// Facing, culling and whether there is a depth offset.
    pub configuration: ConfigurationBits,
    /// Depth offset.
    pub depth_offset: DepthOffset,
    /// One bit for each flat varying.
    pub flat: u32,
    /// Width of lines in pixels.
    pub line_width: f32,
    /// X boundary of RHTs in 1/16 pixel from the left edge of the frame.
    pub rht_boundary: i32,
}

/// Whether a varying is flat, by the flags of record 97.
pub fn is_flat(flags: u32, varying: usize) -> bool {
    varying < 32 && flags >> varying & 1 == 1
}

/// Differences along the two sides of a triangle from vertex 0, and the reciprocal of twice its area.
struct Gradient {
    d1: (f64, f64),
    d2: (f64, f64),
    reciprocal_area: f64,
}

impl Gradient {
    /// A and B of the plane that changes by `v1` and `v2` from vertex 0 to vertices 1 and 2.
    #[inline]
    fn of(&self, v1: f64, v2: f64) -> (f64, f64) {
        let a = (v1 * self.d2.1 - v2 * self.d1.1) * self.reciprocal_area;
        let b = (v2 * self.d1.0 - v1 * self.d2.0) * self.reciprocal_area;
        (a, b)
    }
}

/// Whether a triangle is discarded because of its facing or because it has no area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discarded {
    /// It has no area.
    Degenerate,
    /// Its facing is not drawn.
    Culled,
    /// The edge of an RHT crosses the X boundary.
    CrossesBoundary,
}

impl SetupState {
    /// Sets up a triangle and appends the coefficients of its varyings.
    pub fn triangle(
        &self,
        vertices: [Vertex<'_>; 3],
        coefficients: &mut Vec<Coefficients>,
    ) -> Result<Primitive, Discarded> {
        let [v0, v1, v2] = vertices;
        let side = |v: Vertex<'_>| (i64::from(v.x) - i64::from(v0.x), i64::from(v.y) - i64::from(v0.y));
        let ((dx1, dy1), (dx2, dy2)) = (side(v1), side(v2));
        let area = dx1 * dy2 - dx2 * dy1;
        if area == 0 {
            return Err(Discarded::Degenerate);
        }
        let counter_clockwise = area > 0;
        let forward = counter_clockwise != self.configuration.clockwise;
        if !(if forward { self.configuration.forward_facing } else { self.configuration.reverse_facing }) {
            return Err(Discarded::Culled);
        }
        let corners = [(v0.x, v0.y), (v1.x, v1.y), (v2.x, v2.y)];
        let mut primitive =
            Primitive::convex(&if counter_clockwise { corners } else { [corners[0], corners[2], corners[1]] });
        let gradient =
            Gradient { d1: (dx1 as f64, dy1 as f64), d2: (dx2 as f64, dy2 as f64), reciprocal_area: 1.0 / area as f64 };
        let plane = |values: [f32; 3]| {
            let [c, v1, v2] = values.map(f64::from);
            let (a, b) = gradient.of(v1 - c, v2 - c);
            Plane { a, b, c }
        };
        primitive.origin = corners[0];
        primitive.reverse = !forward;
        primitive.z = plane(vertices.map(|v| v.z));
        primitive.depth_offset = self.depth_offset_of(primitive.z);
        primitive.z.c += primitive.depth_offset;
        primitive.reciprocal_w = plane(vertices.map(|v| v.reciprocal_w));
        let (w1, w2) = (f64::from(v1.reciprocal_w), f64::from(v2.reciprocal_w));
        for (i, ((&c0, &c1), &c2)) in v0.varyings.iter().zip(v1.varyings).zip(v2.varyings).enumerate() {
            coefficients.push(if is_flat(self.flat, i) {
                Coefficients { a: 0.0, b: 0.0, c: c2.to_bits() }
            } else {
                let c = f64::from(c0);
                let (a, b) = gradient.of((f64::from(c1) - c) * w1, (f64::from(c2) - c) * w2);
                Coefficients { a, b, c: c0.to_bits() }
            });
        }
        Ok(primitive)
    }

    /// Sets up a line and appends the coefficients of its implicit varying and of its own.
    pub fn line(
        &self,
        vertices: [Vertex<'_>; 2],
        coefficients: &mut Vec<Coefficients>,
    ) -> Result<Primitive, Discarded> {
        let [v0, v1] = vertices;
        let (dx, dy) = (i64::from(v1.x) - i64::from(v0.x), i64::from(v1.y) - i64::from(v0.y));
        if (dx, dy) == (0, 0) {
            return Err(Discarded::Degenerate);
        }
        let steps = (f64::from(self.line_width) * f64::from(STEPS)).clamp(1.0, 65536.0) as i32;
        // An odd number of steps is wider by one on the side of lower coordinates.
        let (before, after) = (steps - steps / 2, steps / 2);
        let x_major = dx.abs() >= dy.abs();
        let widen = |v: Vertex<'_>, by: i32| if x_major { (v.x, v.y + by) } else { (v.x + by, v.y) };
        let mut corners = [widen(v0, -before), widen(v1, -before), widen(v1, after), widen(v0, after)];
        // Widening along y turns lines to the right counter-clockwise, widening along x those that go down.
        if (x_major && dx < 0) || (!x_major && dy > 0) {
            corners.reverse();
        }
        let mut primitive = Primitive::convex(&corners);
        let (dx, dy) = (dx as f64, dy as f64);
        let reciprocal_length = 1.0 / (dx * dx + dy * dy);
        let along = |change: f64| (change * dx * reciprocal_length, change * dy * reciprocal_length);
        let plane = |from: f32, to: f32| {
            let (a, b) = along(f64::from(to) - f64::from(from));
            Plane { a, b, c: f64::from(from) }
        };
        primitive.origin = (v0.x, v0.y);
        primitive.z = plane(v0.z, v1.z);
        primitive.reciprocal_w = plane(v0.reciprocal_w, v1.reciprocal_w);
        let across = f64::from(v0.reciprocal_w) / f64::from(steps);
        let half = 0.5_f32.to_bits();
        coefficients.push(if x_major {
            Coefficients { a: -across * dy / dx, b: across, c: half }
        } else {
            Coefficients { a: across, b: -across * dx / dy, c: half }
        });
        let w1 = f64::from(v1.reciprocal_w);
        for (i, (&c0, &c1)) in v0.varyings.iter().zip(v1.varyings).enumerate() {
            coefficients.push(if is_flat(self.flat, i) {
                Coefficients { a: 0.0, b: 0.0, c: c1.to_bits() }
            } else {
                let (a, b) = along((f64::from(c1) - f64::from(c0)) * w1);
                Coefficients { a, b, c: c0.to_bits() }
            });
        }
        Ok(primitive)
    }

    /// Sets up a point of `size` pixels and appends the coefficients of its two implicit varyings and of its own.
    pub fn point(
        &self,
        vertex: Vertex<'_>,
        size: f32,
        coefficients: &mut Vec<Coefficients>,
    ) -> Result<Primitive, Discarded> {
        let steps = f64::from(size) * f64::from(STEPS);
        if steps.is_nan() || steps < 1.0 {
            return Err(Discarded::Degenerate);
        }
        let steps = steps.min(65536.0) as i32;
        let (x0, y0) = (vertex.x - steps / 2, vertex.y - steps / 2);
        let (x1, y1) = (x0 + steps, y0 + steps);
        let mut primitive = Primitive::convex(&[(x0, y0), (x1, y0), (x1, y1), (x0, y1)]);
        primitive.origin = (x0, y0);
        primitive.z = Plane { a: 0.0, b: 0.0, c: f64::from(vertex.z) };
        primitive.reciprocal_w = Plane { a: 0.0, b: 0.0, c: f64::from(vertex.reciprocal_w) };
        let step = f64::from(vertex.reciprocal_w) / f64::from(steps);
        coefficients.push(Coefficients { a: step, b: 0.0, c: 0.0_f32.to_bits() });
        coefficients.push(Coefficients { a: 0.0, b: -step, c: 1.0_f32.to_bits() });
        coefficients.extend(vertex.varyings.iter().map(|&c| Coefficients { a: 0.0, b: 0.0, c: c.to_bits() }));
        Ok(primitive)
    }

    /// Sets up an RHT. Its edge faces forward if the area is on its left-hand side: if it runs down with the boundary to its right, or up with the boundary to
    /// its left.
    pub fn rht(&self, vertices: [Vertex<'_>; 2]) -> Result<Primitive, Discarded> {
        let [v0, v1] = vertices;
        let (low, high) = if v0.y <= v1.y { (v0, v1) } else { (v1, v0) };
        let (left, right) = (low.x.min(high.x), low.x.max(high.x));
        let boundary = self.rht_boundary;
        if low.y == high.y || (left == right && left == boundary) {
            return Err(Discarded::Degenerate);
        }
        if left < boundary && boundary < right {
            return Err(Discarded::CrossesBoundary);
        }
        let to_the_right = boundary >= right;
        let (start, end) = ((low.x, low.y), (high.x, high.y));
        let mut primitive = Primitive::convex(&if to_the_right {
            [start, (boundary, low.y), (boundary, high.y), end]
        } else {
            [(boundary, low.y), start, end, (boundary, high.y)]
        });
        let forward = ((v0.y > v1.y) == to_the_right) != self.configuration.clockwise;
        if !(if forward { self.configuration.forward_facing } else { self.configuration.reverse_facing }) {
            return Err(Discarded::Culled);
        }
        primitive.reverse = !forward;
        primitive.origin = (v0.x, v0.y);
        primitive.z.c = f64::from(v0.z);
        primitive.reciprocal_w.c = f64::from(v0.reciprocal_w);
        Ok(primitive)
    }

    /// The depth offset of a primitive with this depth.
    fn depth_offset_of(&self, depth: Plane) -> f64 {
        if !self.configuration.depth_offset {
            return 0.0;
        }
        let slope = depth.a.abs().max(depth.b.abs()) * f64::from(STEPS);
        let units = f64::from(self.depth_offset.units.to_f32()) / f64::from(1 << 24);
        f64::from(self.depth_offset.factor.to_f32()) * slope + units
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use v3d_hw::control_list::Float187;
    use v3d_hw::layout::Layout;

    impl SetupState {
        /// Draws both faces; everything else is off.
        pub(in crate::render) fn plain() -> Self {
            Self {
                configuration: ConfigurationBits {
                    forward_facing: true,
                    reverse_facing: true,
                    ..ConfigurationBits::from_bits(0)
                },
                depth_offset: DepthOffset { units: Float187(0), factor: Float187(0) },
                flat: 0,
                line_width: 1.0,
                rht_boundary: 0,
            }
        }
    }

    fn vertex(x: i32, y: i32, z: f32, reciprocal_w: f32, varyings: &[f32]) -> Vertex<'_> {
        Vertex { x, y, z, reciprocal_w, varyings }
    }

    /// The value that the shader computes from the coefficients at a position in 1/16 pixel.
    fn shaded(primitive: &Primitive, coefficients: Coefficients, x: i32, y: i32) -> f64 {
        let (dx, dy) = (f64::from(x - primitive.origin.0), f64::from(y - primitive.origin.1));
        let w = 1.0 / primitive.reciprocal_w.at(dx, dy);
        (coefficients.a * dx + coefficients.b * dy) * w + f64::from(f32::from_bits(coefficients.c))
    }

    #[test]
    fn planes_pass_through_the_vertices_with_perspective() {
        let varyings = [[1.0f32, 7.0], [2.0, -3.0], [5.0, 11.0]];
        let corners = [(16, 16, 0.25, 1.0), (320, 48, 0.5, 0.5), (64, 400, 0.75, 0.125)];
        let vertices: [Vertex<'_>; 3] =
            std::array::from_fn(|i| vertex(corners[i].0, corners[i].1, corners[i].2, corners[i].3, &varyings[i]));
        let mut coefficients = Vec::new();
        let primitive = SetupState::plain().triangle(vertices, &mut coefficients).unwrap();
        for (i, corner) in corners.iter().enumerate() {
            let (dx, dy) = (f64::from(corner.0 - 16), f64::from(corner.1 - 16));
            assert!((primitive.z.at(dx, dy) - f64::from(corner.2)).abs() < 1e-12);
            for (k, &coefficient) in coefficients.iter().enumerate() {
                let value = shaded(&primitive, coefficient, corner.0, corner.1);
                assert!((value - f64::from(varyings[i][k])).abs() < 1e-9, "vertex {i}, varying {k}: {value}");
            }
        }
        // Half-way between vertices 0 and 1 on the screen, the nearer vertex counts twice as much.
        let middle = shaded(&primitive, coefficients[0], 168, 32);
        assert!((middle - (1.0 * 1.0 + 2.0 * 0.5) / 1.5).abs() < 1e-9, "{middle}");
    }

    #[test]
    fn facing_is_counter_clockwise_unless_the_state_says_clockwise() {
        let corners = [vertex(0, 0, 0.0, 1.0, &[]), vertex(160, 0, 0.0, 1.0, &[]), vertex(0, 160, 0.0, 1.0, &[])];
        let turned = [corners[0], corners[2], corners[1]];
        let mut forward_only = SetupState::plain();
        forward_only.configuration.reverse_facing = false;
        let mut none = Vec::new();
        assert!(!forward_only.triangle(corners, &mut none).unwrap().reverse);
        assert_eq!(forward_only.triangle(turned, &mut none), Err(Discarded::Culled));
        forward_only.configuration.clockwise = true;
        assert_eq!(forward_only.triangle(corners, &mut none), Err(Discarded::Culled));
        assert!(!forward_only.triangle(turned, &mut none).unwrap().reverse);
        assert!(SetupState::plain().triangle(turned, &mut none).unwrap().reverse);
        assert_eq!(SetupState::plain().triangle([corners[0]; 3], &mut none), Err(Discarded::Degenerate));
    }

    #[test]
    fn flat_varyings_take_the_last_vertex() {
        let varyings = [[1.0f32, 1.0], [2.0, 2.0], [3.0, 3.0]];
        let at = [(0, 0), (160, 0), (0, 160)];
        let vertices: [Vertex<'_>; 3] = std::array::from_fn(|i| vertex(at[i].0, at[i].1, 0.0, 1.0, &varyings[i]));
        let mut coefficients = Vec::new();
        SetupState { flat: 0b10, ..SetupState::plain() }.triangle(vertices, &mut coefficients).unwrap();
        assert_ne!(coefficients[0].a, 0.0);
        assert_eq!(coefficients[1], Coefficients { a: 0.0, b: 0.0, c: 3.0f32.to_bits() });
    }

    #[test]
    fn depth_offset_follows_the_steeper_slope() {
        let vertices = [vertex(0, 0, 0.0, 1.0, &[]), vertex(1600, 0, 0.5, 1.0, &[]), vertex(0, 1600, 0.25, 1.0, &[])];
        let mut offset = SetupState::plain();
        offset.configuration.depth_offset = true;
        offset.depth_offset = DepthOffset { units: Float187::truncate(4.0), factor: Float187::truncate(2.0) };
        let primitive = offset.triangle(vertices, &mut Vec::new()).unwrap();
        let expected = 2.0 * 0.5 / 100.0 + 4.0 / 16_777_216.0;
        assert!((primitive.z.c - expected).abs() < 1e-12);
    }

    #[test]
    fn points_carry_their_own_coordinates() {
        let mut coefficients = Vec::new();
        let primitive =
            SetupState::plain().point(vertex(160, 160, 0.5, 0.25, &[9.0]), 10.0, &mut coefficients).unwrap();
        assert_eq!(primitive.bounds, PixelRect { x0: 5, y0: 5, x1: 16, y1: 16 });
        let at = |k: usize, x, y| shaded(&primitive, coefficients[k], x, y);
        assert_eq!((at(0, 80, 80), at(0, 240, 80)), (0.0, 1.0));
        assert_eq!((at(1, 80, 80), at(1, 80, 240)), (1.0, 0.0));
        assert_eq!(at(2, 100, 200), 9.0);
    }

    #[test]
    fn an_rht_lies_between_its_edge_and_the_boundary() {
        let setup = SetupState { rht_boundary: 480, ..SetupState::plain() };
        let (low, high) = (vertex(160, 160, 0.5, 1.0, &[]), vertex(320, 320, 0.5, 1.0, &[]));
        let up = setup.rht([low, high]).unwrap();
        let down = setup.rht([high, low]).unwrap();
        assert!(up.reverse && !down.reverse, "an edge that runs down has the area on its left-hand side");
        for (x, y, expected) in
            [(400, 240, true), (250, 240, true), (230, 240, false), (490, 240, false), (400, 330, false)]
        {
            for primitive in [&up, &down] {
                let inside = primitive.edges().iter().all(|e| e.a * x + e.b * y + e.c >= 0);
                assert_eq!(inside, expected, "({x}, {y})");
            }
        }
        assert_eq!(setup.rht([low, low]), Err(Discarded::Degenerate));
    }

    /// As in [PeterLemon RHT]: the boundary is the left side of the area, and the edge its right one.
    #[test]
    fn an_rht_may_lie_to_the_left_of_its_edge() {
        let setup = SetupState { rht_boundary: 80, ..SetupState::plain() };
        let (low, high) = (vertex(160, 160, 0.5, 1.0, &[]), vertex(320, 320, 0.5, 1.0, &[]));
        let up = setup.rht([low, high]).unwrap();
        let down = setup.rht([high, low]).unwrap();
        assert!(!up.reverse && down.reverse, "an edge that runs up has the area on its left-hand side");
        for (x, y, expected) in
            [(90, 240, true), (230, 240, true), (250, 240, false), (70, 240, false), (90, 330, false)]
        {
            for primitive in [&up, &down] {
                let inside = primitive.edges().iter().all(|e| e.a * x + e.b * y + e.c >= 0);
                assert_eq!(inside, expected, "({x}, {y})");
            }
        }
        let at = |boundary| SetupState { rht_boundary: boundary, ..SetupState::plain() }.rht([low, high]);
        assert_eq!(at(161), Err(Discarded::CrossesBoundary));
        assert_eq!(at(319), Err(Discarded::CrossesBoundary));
        assert!(at(160).is_ok() && at(320).is_ok());
        let vertical = vertex(160, 320, 0.5, 1.0, &[]);
        let on = SetupState { rht_boundary: 160, ..SetupState::plain() };
        assert_eq!(on.rht([low, vertical]), Err(Discarded::Degenerate));
    }

    /// All four directions of a line have their area inside.
    #[test]
    fn lines_cover_their_middle_in_every_direction() {
        for (dx, dy) in [(320, 16), (-320, 16), (16, 320), (16, -320), (-320, -16), (-16, -320), (320, 0), (0, -320)] {
            let vertices = [vertex(1000, 1000, 0.0, 1.0, &[0.0]), vertex(1000 + dx, 1000 + dy, 0.0, 1.0, &[1.0])];
            let mut coefficients = Vec::new();
            let primitive = SetupState::plain().line(vertices, &mut coefficients).unwrap();
            let (x, y) = (1000 + dx / 2, 1000 + dy / 2);
            let inside =
                |x: i32, y: i32| primitive.edges().iter().all(|e| e.a * i64::from(x) + e.b * i64::from(y) + e.c >= 0);
            assert!(inside(x, y), "({dx}, {dy})");
            assert!(!inside(x + 40, y - 40) && !inside(1000 + dx + dx, 1000 + dy + dy), "({dx}, {dy})");
            assert!((shaded(&primitive, coefficients[0], x, y) - 0.5).abs() < 1e-9);
            assert!((shaded(&primitive, coefficients[1], x, y) - 0.5).abs() < 1e-9);
        }
    }
}
