//! Matrices and their product.

use alloc::vec::Vec;

use v3d::Platform;

use crate::division::Share;
use crate::programs::sgemm;
use crate::rows;
use crate::{Array, Error, Session, Work};

/// Rows of a tile.
const TILE_ROWS: usize = 16;
/// Columns of a tile.
const TILE_COLUMNS: usize = 48;
/// Words per tile in a QPU's list.
const LIST_WORDS: usize = 3;
/// Maximum number of columns: the stride of stores has 16 bits.
const MAX_COLUMNS: usize = 16_384;

/// A matrix in GPU-visible memory, row by row, padded with zeros to whole tiles of 16 rows and 48 columns.
#[derive(Debug)]
pub struct Matrix {
    elements: Array<f32>,
    rows: usize,
    columns: usize,
}

impl Matrix {
    /// Number of rows.
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub const fn columns(&self) -> usize {
        self.columns
    }

    /// Distance of two rows in elements.
    const fn pitch(&self) -> usize {
        self.columns.next_multiple_of(TILE_COLUMNS)
    }

    const fn pitch_bytes(&self) -> u32 {
        4 * self.pitch() as u32
    }
}

impl<P: Platform> Session<'_, '_, '_, P> {
    /// Creates a matrix from these elements, row by row.
    ///
    /// # Errors
    /// When a side is 0, or there are more than 16,384 columns; when the number of elements is not rows times columns; when the pool has not enough memory.
    pub fn matrix(&mut self, elements: &[f32], rows: usize, columns: usize) -> Result<Matrix, Error> {
        let size = |given, allowed| Error::Size { operation: "matrix", given, allowed };
        if rows == 0 {
            return Err(size(rows, "at least one row"));
        }
        if columns == 0 || columns > MAX_COLUMNS {
            return Err(size(columns, "1 to 16384 columns"));
        }
        Error::expect_length("matrix", elements.len(), rows.saturating_mul(columns))?;
        let pitch = columns.next_multiple_of(TILE_COLUMNS);
        // The program loads one column ahead, so it reads one element after the last.
        let padded = rows::padded(elements, columns, pitch, rows.next_multiple_of(TILE_ROWS) * pitch + 1);
        Ok(Matrix { elements: self.array(&padded)?, rows, columns })
    }

    /// Reads the elements of a matrix, row by row.
    ///
    /// # Errors
    /// When it belongs to another driver.
    pub fn read_matrix(&self, matrix: &Matrix) -> Result<Vec<f32>, Error> {
        Ok(rows::cropped(&self.read(&matrix.elements)?, matrix.pitch(), matrix.columns, matrix.rows))
    }

    /// C = alpha * A * B + beta * C, with sums in single precision in the order of A's columns.
    ///
    /// # Errors
    /// When the sides do not match, or a matrix belongs to another driver; the driver's.
    pub fn sgemm(&mut self, alpha: f32, a: &Matrix, b: &Matrix, beta: f32, c: &mut Matrix) -> Result<(), Error> {
        for matrix in [a, b, c] {
            self.expect_own(&matrix.elements)?;
        }
        for (given, needed) in [(b.rows, a.columns), (c.rows, a.rows), (c.columns, b.columns)] {
            Error::expect_length("sgemm", given, needed)?;
        }
        let across = c.pitch() / TILE_COLUMNS;
        let tiles = c.rows.div_ceil(TILE_ROWS) * across;
        let shares: Vec<Share> = Share::of(tiles as u32).collect();
        let (mut words, mut starts) = (Vec::new(), Vec::new());
        for share in &shares {
            starts.push(4 * words.len() as u32);
            for tile in (share.number as usize..tiles).step_by(share.qpus as usize) {
                let (row, column) = (TILE_ROWS * (tile / across), TILE_COLUMNS * (tile % across));
                let first_row = |matrix: &Matrix| matrix.elements.address() + row as u32 * matrix.pitch_bytes();
                let column_bytes = 4 * column as u32;
                let tile: [u32; LIST_WORDS] =
                    [first_row(a).0, (b.elements.address() + column_bytes).0, (first_row(c) + column_bytes).0];
                words.extend(tile);
            }
        }
        let lists = self.array(&words)?;
        let jobs: Vec<sgemm::Uniforms> = shares
            .iter()
            .zip(starts)
            .map(|(share, start)| sgemm::Uniforms {
                quarter: share.quarter(),
                others: share.others(),
                tiles: lists.address() + start,
                count: share.blocks,
                depth: a.columns as u32,
                a_pitch: a.pitch_bytes(),
                b_pitch: b.pitch_bytes(),
                c_pitch: c.pitch_bytes(),
                alpha,
                beta,
            })
            .collect();
        self.launch(&sgemm::PROGRAM, &jobs)?;
        let [rows, depth, columns] = [a.rows, a.columns, b.columns].map(|side| side as u64);
        self.account(Work {
            operations: 2 * rows * depth * columns + 3 * rows * columns,
            lookups: (rows * depth + rows * columns) / 16,
            looked_up_bytes: 4 * (rows * depth + depth * columns + rows * columns),
            stored_bytes: 4 * rows * columns,
        });
        Ok(())
    }
}
