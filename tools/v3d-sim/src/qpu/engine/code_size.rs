//! How much host code translations have: what engines are compared by where they cannot be timed.

use std::fmt;
use std::iter::Sum;
use std::ops::Add;

/// The size of translated code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodeSize {
    /// Instructions of the QPU that are translated; one in several segments counts several times.
    pub translated: u64,
    /// Instructions of the host that execute them while nothing happens that is rare.
    pub usual: u64,
    /// All of them: also for floats that may overflow, for calls in rare cases, and what is shared.
    pub all: u64,
    /// Bytes of these.
    pub bytes: u64,
}

impl Add for CodeSize {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            translated: self.translated + other.translated,
            usual: self.usual + other.usual,
            all: self.all + other.all,
            bytes: self.bytes + other.bytes,
        }
    }
}

impl Sum for CodeSize {
    fn sum<I: Iterator<Item = Self>>(sizes: I) -> Self {
        sizes.fold(Self::default(), Add::add)
    }
}

impl fmt::Display for CodeSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { translated, usual, all, bytes } = self;
        let each = *usual as f64 / (*translated).max(1) as f64;
        write!(
            f,
            "{translated} QPU instructions: {usual} host instructions ({each:.1} each), {all} with rare ones, in {bytes} bytes"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_add_up() {
        let one = CodeSize { translated: 2, usual: 9, all: 20, bytes: 80 };
        let sum: CodeSize = [one, one, CodeSize::default()].into_iter().sum();
        assert_eq!(sum, CodeSize { translated: 4, usual: 18, all: 40, bytes: 160 });
        let text = "4 QPU instructions: 18 host instructions (4.5 each), 40 with rare ones, in 160 bytes";
        assert_eq!(sum.to_string(), text);
    }
}
