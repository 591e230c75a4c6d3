//! Overlap: which tiles a primitive goes to.
//!
//! A tile gets every primitive whose outline overlaps it, but none outside of the primitive's bounding box or of the clip window. Outlines are convex
//! polygons of points in 1/16 pixel: a tile is left out if it lies wholly on the outer side of an edge.

/// Steps of a pixel.
const STEPS: i64 = 16;

/// A point in 1/16 pixel from the left edge and the lowest row of the frame.
pub type Point = (i64, i64);

/// A rectangle of pixels; the ends are exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PixelRect {
    /// First column.
    pub x: i64,
    /// First row.
    pub y: i64,
    /// Column behind the last.
    pub x_end: i64,
    /// Row behind the last.
    pub y_end: i64,
}

impl PixelRect {
    /// The intersection of two rectangles; it may be empty.
    pub fn intersection(self, other: Self) -> Self {
        Self {
            x: self.x.max(other.x),
            y: self.y.max(other.y),
            x_end: self.x_end.min(other.x_end),
            y_end: self.y_end.min(other.y_end),
        }
    }

    /// Whether it has no pixel.
    pub const fn is_empty(self) -> bool {
        self.x >= self.x_end || self.y >= self.y_end
    }
}

/// The frame in tiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grid {
    /// Tiles in a row.
    pub width_tiles: u32,
    /// Rows of tiles.
    pub height_tiles: u32,
    /// Width of a tile in pixels: a power of two.
    pub tile_width_px: u32,
    /// Height of a tile in pixels: a power of two.
    pub tile_height_px: u32,
}

impl Grid {
    /// Number of tiles.
    pub const fn tiles(self) -> u32 {
        self.width_tiles * self.height_tiles
    }

    /// All pixels of the frame.
    pub fn pixels(self) -> PixelRect {
        let (width, height) = (self.width_tiles * self.tile_width_px, self.height_tiles * self.tile_height_px);
        PixelRect { x: 0, y: 0, x_end: i64::from(width), y_end: i64::from(height) }
    }

    /// Appends the numbers of the tiles, row by row, that the convex polygon of `outline` overlaps within `window`. Returns whether the polygon's
    /// bounding box overlaps the window at all.
    pub fn overlapped(self, outline: &[Point], window: PixelRect, tiles: &mut Vec<u32>) -> bool {
        let bounds = bounding_box(outline).intersection(window).intersection(self.pixels());
        if bounds.is_empty() {
            return false;
        }
        let (width, height) = (i64::from(self.tile_width_px), i64::from(self.tile_height_px));
        let column = |x: i64| x >> self.tile_width_px.trailing_zeros();
        let row = |y: i64| y >> self.tile_height_px.trailing_zeros();
        let (first_column, last_column) = (column(bounds.x), column(bounds.x_end - 1));
        let (first_row, last_row) = (row(bounds.y), row(bounds.y_end - 1));
        let area = twice_area(outline);
        if area == 0 {
            return true;
        }
        let single = first_column == last_column && first_row == last_row;
        for row in first_row..=last_row {
            for column in first_column..=last_column {
                let tile = PixelRect {
                    x: column * width,
                    y: row * height,
                    x_end: (column + 1) * width,
                    y_end: (row + 1) * height,
                };
                if single || !outside(outline, area > 0, tile) {
                    tiles.push(row as u32 * self.width_tiles + column as u32);
                }
            }
        }
        true
    }
}

/// The pixels that an outline may touch.
fn bounding_box(outline: &[Point]) -> PixelRect {
    let xs = || outline.iter().map(|&(x, _)| x);
    let ys = || outline.iter().map(|&(_, y)| y);
    let first = |low: Option<i64>| low.unwrap_or(0).div_euclid(STEPS);
    let end = |high: Option<i64>| -(-high.unwrap_or(0)).div_euclid(STEPS);
    PixelRect { x: first(xs().min()), y: first(ys().min()), x_end: end(xs().max()), y_end: end(ys().max()) }
}

/// Twice the area, positive if the outline turns from x towards y.
fn twice_area(outline: &[Point]) -> i64 {
    edges(outline).map(|((x0, y0), (x1, y1))| x0 * y1 - x1 * y0).sum()
}

fn edges(outline: &[Point]) -> impl Iterator<Item = (Point, Point)> {
    let next = outline.iter().skip(1).chain(outline.first());
    outline.iter().copied().zip(next.copied())
}

/// Whether a rectangle lies wholly on the outer side of an edge.
fn outside(outline: &[Point], positive: bool, rect: PixelRect) -> bool {
    edges(outline).any(|((x0, y0), (x1, y1))| {
        let sign = if positive { 1 } else { -1 };
        // A point is inside where a*(x - x0) + b*(y - y0) is not negative.
        let (a, b) = (-(y1 - y0) * sign, (x1 - x0) * sign);
        let x = STEPS * if a > 0 { rect.x_end } else { rect.x };
        let y = STEPS * if b > 0 { rect.y_end } else { rect.y };
        a * (x - x0) + b * (y - y0) < 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    const GRID: Grid = Grid { width_tiles: 7, height_tiles: 5, tile_width_px: 64, tile_height_px: 32 };

    /// Whether the triangle covers the point, edges included.
    fn covers(triangle: &[Point; 3], (x, y): Point) -> bool {
        let positive = twice_area(triangle) > 0;
        edges(triangle).all(|((x0, y0), (x1, y1))| {
            let side = (x1 - x0) * (y - y0) - (y1 - y0) * (x - x0);
            if positive { side >= 0 } else { side <= 0 }
        })
    }

    /// Every tile with a covered pixel centre gets the triangle, and none outside of its bounding box does.
    #[test]
    fn random_triangles_reach_all_tiles_that_they_cover() {
        let mut generator = Random::new(0, 1);
        let mut random = |limit: i64| i64::from(generator.below(limit as u32));
        let window = PixelRect { x: 10, y: 3, x_end: 401, y_end: 150 };
        let (mut covered_tiles, mut given_tiles) = (0, 0);
        for _ in 0..800 {
            let size = [200, 1000, 9000][random(3) as usize];
            let (x, y) = (random(7 * 64 * 16) - 500, random(5 * 32 * 16) - 500);
            let triangle = [(); 3].map(|()| (x + random(size), y + random(size)));
            let mut tiles = Vec::new();
            GRID.overlapped(&triangle, window, &mut tiles);
            given_tiles += tiles.len();
            let bounds = bounding_box(&triangle).intersection(window);
            for tile in 0..GRID.tiles() {
                let (column, row) = (i64::from(tile % 7), i64::from(tile / 7));
                let rect = PixelRect { x: column * 64, y: row * 32, x_end: column * 64 + 64, y_end: row * 32 + 32 };
                let visible = rect.intersection(bounds);
                let pixels = (visible.y..visible.y_end).flat_map(|y| (visible.x..visible.x_end).map(move |x| (x, y)));
                let covered = !visible.is_empty()
                    && twice_area(&triangle) != 0
                    && pixels.clone().any(|(x, y)| covers(&triangle, (16 * x + 8, 16 * y + 8)));
                if covered {
                    covered_tiles += 1;
                    assert!(tiles.contains(&tile), "{triangle:?} covers tile {tile}");
                }
                if visible.is_empty() {
                    assert!(!tiles.contains(&tile), "{triangle:?} is not near tile {tile}");
                }
            }
        }
        assert!(covered_tiles > 500);
        // Few tiles get a triangle in vain.
        assert!(given_tiles < covered_tiles * 5 / 4, "{given_tiles} given, {covered_tiles} covered");
    }

    #[test]
    fn a_large_diagonal_triangle_leaves_out_the_other_half() {
        let triangle = [(0, 0), (7 * 64 * 16, 0), (0, 5 * 32 * 16)];
        let mut tiles = Vec::new();
        assert!(GRID.overlapped(&triangle, GRID.pixels(), &mut tiles));
        assert!(tiles.contains(&0) && tiles.contains(&6) && tiles.contains(&28));
        assert!(!tiles.contains(&34) && !tiles.contains(&33));
    }

    #[test]
    fn nothing_outside_of_the_window() {
        let window = PixelRect { x: 64, y: 0, x_end: 128, y_end: 32 };
        let mut tiles = Vec::new();
        assert!(!GRID.overlapped(&[(0, 0), (1000, 0), (0, 300)], window, &mut tiles));
        assert!(GRID.overlapped(&[(0, 0), (10000, 0), (0, 10000)], window, &mut tiles));
        assert_eq!(tiles, [1]);
    }
}
