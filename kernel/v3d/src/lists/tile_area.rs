//! A rectangle of tiles.

/// A rectangle of tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileArea {
    /// The first column.
    pub column: u8,
    /// The first row.
    pub row: u8,
    /// Columns, at least one.
    pub columns: u8,
    /// Rows, at least one.
    pub rows: u8,
}
