//! Matrix products.

use compute::Error;

use crate::machine::{Random, with_gpu};

/// Compares a product with sums in double precision: the tolerance is one rounding error per addition, relative to the
/// sum of absolute values.
fn check(rows: usize, depth: usize, columns: usize, alpha: f32, beta: f32) {
    with_gpu(|gpu| {
        let mut random = Random::new((rows * depth + columns) as u32);
        let (a, b, c) = (random.floats(rows * depth), random.floats(depth * columns), random.floats(rows * columns));
        let (left, right) = (gpu.matrix(&a, rows, depth).unwrap(), gpu.matrix(&b, depth, columns).unwrap());
        let mut product = gpu.matrix(&c, rows, columns).unwrap();
        gpu.sgemm(alpha, &left, &right, beta, &mut product).unwrap();
        for (at, found) in gpu.read_matrix(&product).unwrap().into_iter().enumerate() {
            let (row, column) = (at / columns, at % columns);
            let terms = (0..depth).map(|k| f64::from(a[row * depth + k]) * f64::from(b[k * columns + column]));
            let own = f64::from(beta) * f64::from(c[at]);
            let expected = f64::from(alpha) * terms.clone().sum::<f64>() + own;
            let sizes = f64::from(alpha.abs()) * terms.map(f64::abs).sum::<f64>() + own.abs();
            let bound = (depth + 3) as f64 * f64::from(f32::EPSILON) * sizes;
            let off = (f64::from(found) - expected).abs();
            assert!(off <= bound, "{rows} x {depth} x {columns}, row {row}, column {column}: {off:e} of {bound:e}");
        }
    });
}

#[test]
fn products_are_sums_of_products() {
    check(1, 1, 1, 1.0, 0.0);
    check(16, 3, 48, -2.0, 0.5);
    check(17, 40, 49, 1.0, 1.0);
    check(100, 96, 200, 0.25, -1.0);
}

#[test]
fn matrices_that_do_not_fit_are_refused() {
    with_gpu(|gpu| {
        let size = |given, allowed| Error::Size { operation: "matrix", given, allowed };
        assert_eq!(gpu.matrix(&[], 0, 4).unwrap_err(), size(0, "at least one row"));
        assert_eq!(gpu.matrix(&[], 1, 20_000).unwrap_err(), size(20_000, "1 to 16384 columns"));
        let lengths = Error::Lengths { operation: "matrix", given: 5, needed: 6 };
        assert_eq!(gpu.matrix(&[0.0; 5], 2, 3).unwrap_err(), lengths);
        let (a, b) = (gpu.matrix(&[1.0; 6], 2, 3).unwrap(), gpu.matrix(&[1.0; 8], 4, 2).unwrap());
        let mut c = gpu.matrix(&[7.0; 4], 2, 2).unwrap();
        let lengths = Error::Lengths { operation: "sgemm", given: 4, needed: 3 };
        assert_eq!(gpu.sgemm(1.0, &a, &b, 0.0, &mut c), Err(lengths));
        assert_eq!(gpu.read_matrix(&c).unwrap(), [7.0; 4]);
    });
}
