//! Comparisons, by the OpenGL ES 2.0 specification, sections 4.1.4 and 4.1.5.

use renderer::Compare;

/// Whether a new value passes a test against a stored one.
pub(crate) fn passes<T: PartialOrd>(test: Compare, new: T, stored: T) -> bool {
    match test {
        Compare::Never => false,
        Compare::Less => new < stored,
        Compare::Equal => new == stored,
        Compare::LessOrEqual => new <= stored,
        Compare::Greater => new > stored,
        Compare::NotEqual => new != stored,
        Compare::GreaterOrEqual => new >= stored,
        Compare::Always => true,
    }
}
