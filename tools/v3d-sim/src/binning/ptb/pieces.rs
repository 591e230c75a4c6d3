//! Pieces: what of a primitive goes to tile lists, and to those of which tiles.
//!
//! Whether a primitive is clipped, into how many pieces, and which tiles each of them overlaps depends on nothing but its own vertices and the state of its
//! draw. So primitives are prepared in any order, on any host thread; only reports, and writing to the lists, have an order.

use super::clip::{self, Clipped, CutVertex, Viewport};
use super::draw::{Coordinates, Draw};
use super::overlap::{Grid, PixelRect, Point};
use super::watch;
use crate::binning::primitive_list::vertices_of;
use crate::render::pixel_trace::Event;
use crate::state::{PipelineState, point_size_px};
use crate::threads::map_all;
use std::ops::Range;
use v3d_hw::control_list::ClippedPrimitive;
use v3d_hw::primitive_list::{ClippedVertex, ClippedVertexCoefficients, ListPrimitive};
use v3d_hw::shaded_vertex::ScreenXy;

/// Primitives that a host thread takes at a time.
const PRIMITIVES_AT_ONCE: usize = 256;
/// Primitives from which on several host threads are worth their start.
const PARALLEL_PRIMITIVES: usize = 1024;
/// Tiles that are found ahead for the primitives of a part: large primitives overlap so many that keeping them would take more time than to find them.
const TILES_AHEAD: usize = 16 * PRIMITIVES_AT_ONCE;
/// Minimum size of points that silicon can bin [AG p.108, HW-2726].
const MIN_POINT_PX: f32 = 0.125;

/// A primitive, or a part of a clipped one, to be written to tile lists.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) vertices: [u32; 3],
    outline: [Point; 4],
    corners: usize,
    /// Its tiles among those of its part, if they were found ahead.
    pub(super) tiles: Option<Range<usize>>,
    pub(super) cut: Option<Box<[CutVertex; 3]>>,
    /// Address of the clipped vertices, once a tile has needed them.
    pub(super) clipped: Option<ClippedPrimitive>,
}

impl Piece {
    /// Its convex outline.
    pub(super) fn outline(&self) -> &[Point] {
        &self.outline[..self.corners]
    }
}

/// What becomes of a primitive.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    /// Number of its pieces.
    pub(super) pieces: usize,
    /// It has been cut.
    pub(super) is_cut: bool,
    /// No tile can have any of it.
    pub(super) is_outside: bool,
    /// It was to be clipped, and its vertices have no clip coordinates.
    pub(super) lacks_clip_coordinates: bool,
    /// A point too small for silicon.
    pub(super) is_tiny: bool,
    /// What keeps it from the watched pixel.
    pub(super) event: Option<Box<Event>>,
}

/// Prepared primitives of a chunk, one after the other.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) outcomes: Vec<Outcome>,
    pub(super) pieces: Vec<Piece>,
    pub(super) tiles: Vec<u32>,
}

/// What the primitives of a draw are prepared with.
#[derive(Debug)]
pub(super) struct Preparation<'a> {
    pub(super) draw: &'a Draw,
    pub(super) grid: Grid,
    /// Nothing is clipped.
    pub(super) clipping_disabled: bool,
    /// The watched pixel, if there is one.
    pub(super) watched: Option<(u32, u32)>,
    /// On several host threads.
    pub(super) parallel: bool,
}

impl Preparation<'_> {
    /// Prepares the primitives of the draw's chunk.
    pub(super) fn chunk(&self) -> Vec<Part> {
        let all = self.draw.primitives.len();
        let part = |start: usize| start..all.min(start + PRIMITIVES_AT_ONCE);
        let parts = (0..all).step_by(PRIMITIVES_AT_ONCE).map(part).collect();
        map_all(parts, self.parallel && all >= PARALLEL_PRIMITIVES, || (), |(), places| self.part(places))
    }

    fn part(&self, places: Range<usize>) -> Part {
        let mut part = Part::default();
        part.outcomes.reserve(places.len());
        part.pieces.reserve(places.len());
        for place in places {
            let outcome = self.primitive(place, &mut part);
            part.outcomes.push(outcome);
        }
        part
    }

    /// Prepares a primitive: its pieces are appended to the part's.
    fn primitive(&self, place: usize, part: &mut Part) -> Outcome {
        let draw = self.draw;
        let Some(&vertices) = draw.primitives.get(place) else { return Outcome::default() };
        let coordinates = draw.coordinates(place);
        let clipped = if self.clipping_disabled { Some(Clipped::Whole) } else { draw.clip(&coordinates) };
        let first = part.pieces.len();
        let mut outcome = Outcome { lacks_clip_coordinates: clipped.is_none(), ..Outcome::default() };
        let is_clipped = match clipped {
            None | Some(Clipped::Whole) => {
                part.pieces.extend(draw.whole(vertices, &coordinates));
                false
            }
            Some(Clipped::Nothing) => {
                outcome.is_outside = true;
                true
            }
            Some(Clipped::Cut(corners)) => {
                outcome.is_cut = true;
                let middle = corners.len().saturating_sub(1).max(2);
                for i in 1..middle {
                    let corner = |n: usize| corners.get(n).copied();
                    if let (Some(a), Some(b)) = (corner(0), corner(i)) {
                        part.pieces.extend(draw.part(vertices, &coordinates, [a, b, corner(i + 1).unwrap_or(b)]));
                    }
                }
                true
            }
        };
        let Part { pieces, tiles, .. } = part;
        let pieces = pieces.get_mut(first..).unwrap_or_default();
        outcome.pieces = pieces.len();
        outcome.event = self.watched.and_then(|pixel| {
            let pieces = &*pieces;
            let seen = watch::Seen { number: draw.number + place, coordinates: &coordinates, pieces, is_clipped };
            seen.event(draw, vertices, pixel).map(Box::new)
        });
        if outcome.is_outside {
            return outcome;
        }
        let is_point = draw.assembly.primitive() == ListPrimitive::Points;
        outcome.is_tiny = is_point && draw.point_size(&coordinates[0]) < MIN_POINT_PX;
        let window = clip_window(&draw.state);
        for piece in pieces.iter_mut() {
            let before = tiles.len();
            outcome.is_outside = !self.grid.overlapped(piece.outline(), window, tiles);
            if tiles.len() > TILES_AHEAD {
                tiles.truncate(before);
            } else {
                piece.tiles = Some(before..tiles.len());
            }
        }
        // Of a cut primitive some piece may be inside.
        outcome.is_outside &= pieces.len() == 1;
        outcome
    }
}

/// The clip window as a rectangle.
pub(super) fn clip_window(state: &PipelineState) -> PixelRect {
    let window = state.clip_window;
    let (x, y) = (i64::from(window.left), i64::from(window.bottom));
    PixelRect { x, y, x_end: x + i64::from(window.width), y_end: y + i64::from(window.height) }
}

impl Draw {
    /// Number of vertices of a primitive.
    pub(super) fn corners(&self) -> usize {
        vertices_of(self.assembly.primitive())
    }

    pub(super) fn viewport(&self) -> Viewport {
        Viewport { xy: self.state.clipper_xy, z: self.state.clipper_z }
    }

    /// Clips a primitive if clipping is enabled. `None` if its vertices have no clip coordinates.
    fn clip(&self, coordinates: &[Coordinates; 3]) -> Option<Clipped> {
        if !self.state.shader.as_ref().is_some_and(|shader| shader.clipping()) {
            return Some(Clipped::Whole);
        }
        if !self.vertices.format.clip_header {
            return None;
        }
        let corners = &coordinates[..self.corners()];
        // Nearly all primitives are.
        if corners.len() != 2 && corners.iter().all(|corner| corner.is_inside) {
            return Some(Clipped::Whole);
        }
        Some(clip::clip(&coordinates.map(|corner| corner.clip)[..corners.len()], &self.viewport()))
    }

    /// The size of a point in pixels.
    fn point_size(&self, vertex: &Coordinates) -> f32 {
        let of_vertex = self.vertices.format.point_size;
        point_size_px(if of_vertex { vertex.point_size } else { self.state.point_size })
    }

    fn point(&self, xy: ScreenXy) -> Point {
        let offset = self.state.viewport_offset;
        (i64::from(xy.x) + i64::from(offset.x), i64::from(xy.y) + i64::from(offset.y))
    }

    /// An unclipped primitive.
    pub(super) fn whole(&self, vertices: [u32; 3], coordinates: &[Coordinates; 3]) -> Option<Piece> {
        let points = coordinates.each_ref().map(|vertex| self.point(vertex.xy));
        let (outline, corners) = self.outline(points, self.point_size(&coordinates[0]))?;
        Some(Piece { vertices, outline, corners, tiles: None, cut: None, clipped: None })
    }

    /// A part of a clipped primitive. An original vertex in another's position counts as a new one.
    fn part(&self, vertices: [u32; 3], coordinates: &[Coordinates; 3], mut cut: [CutVertex; 3]) -> Option<Piece> {
        let original = |i: usize| coordinates.get(i).copied().unwrap_or_default();
        for (place, corner) in cut.iter_mut().enumerate() {
            if let CutVertex::Original(i) = *corner
                && i != place
            {
                let Coordinates { xy: ScreenXy { x, y }, z, reciprocal_w, .. } = original(i);
                let weight = |n| if n == i { 1.0 } else { 0.0 };
                *corner = CutVertex::New {
                    vertex: ClippedVertex { x, y, z, reciprocal_w, coefficient0: weight(0) },
                    coefficients: ClippedVertexCoefficients { coefficient1: weight(1), coefficient2: weight(2) },
                };
            }
        }
        let points = cut.map(|corner| match corner {
            CutVertex::Original(i) => self.point(original(i).xy),
            CutVertex::New { vertex, .. } => self.point(ScreenXy { x: vertex.x, y: vertex.y }),
        });
        let (outline, corners) = self.outline(points, 0.0)?;
        Some(Piece { vertices, outline, corners, tiles: None, cut: Some(Box::new(cut)), clipped: None })
    }

    /// The convex outline of a primitive, and its number of corners.
    fn outline(&self, [a, b, c]: [Point; 3], point_size: f32) -> Option<([Point; 4], usize)> {
        // Half of a size in pixels, in 1/16 pixel.
        let half = |size: f32| (f64::from(size) * 8.0).ceil().clamp(0.0, 1e6) as i64;
        Some(match self.assembly.primitive() {
            ListPrimitive::Triangles => ([a, b, c, c], 3),
            ListPrimitive::Points => {
                let h = half(point_size);
                ([(a.0 - h, a.1 - h), (a.0 + h, a.1 - h), (a.0 + h, a.1 + h), (a.0 - h, a.1 + h)], 4)
            }
            ListPrimitive::Lines => {
                let h = half(self.state.line_width);
                // Widened as by the PSE.
                let (dx, dy) = if (b.0 - a.0).abs() >= (b.1 - a.1).abs() { (0, h) } else { (h, 0) };
                ([(a.0 - dx, a.1 - dy), (b.0 - dx, b.1 - dy), (b.0 + dx, b.1 + dy), (a.0 + dx, a.1 + dy)], 4)
            }
            ListPrimitive::Rht => {
                let boundary = i64::from(self.state.rht_x_boundary) + i64::from(self.state.viewport_offset.x);
                let x = [a.0, b.0, boundary];
                let (left, right) = (x.into_iter().min()?, x.into_iter().max()?);
                ([(left, a.1), (right, a.1), (right, b.1), (left, b.1)], 4)
            }
            ListPrimitive::Reserved(_) => return None,
        })
    }
}
