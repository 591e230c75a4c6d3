//! Determinants of matrices in column-major order.

use alloc::vec::Vec;

use super::Lowering;
use crate::ssa::Value;

impl Lowering<'_> {
    /// The determinant of a square matrix, by expansion along the first column.
    pub(super) fn determinant(&mut self, matrix: &[Value], size: usize) -> Value {
        if size == 1 {
            return matrix[0];
        }
        let mut sum = self.program.bits(0);
        for row in 0..size {
            let minor = self.minor(matrix, size, 0, row);
            let product = self.program.fmul(matrix[row], minor);
            sum = if row % 2 == 0 { self.program.fadd(sum, product) } else { self.program.fsub(sum, product) };
        }
        sum
    }

    /// The minor: the determinant without a column and a row.
    fn minor(&mut self, matrix: &[Value], size: usize, column: usize, row: usize) -> Value {
        let left = (0..size * size).filter(|at| at / size != column && at % size != row);
        let left: Vec<Value> = left.map(|at| matrix[at]).collect();
        self.determinant(&left, size - 1)
    }
}
