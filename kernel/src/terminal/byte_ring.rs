//! A ring buffer of bytes between an interrupt handler and its reader
//!
//! When it is full, new bytes are dropped, so the reader gets the beginning of the input rather than its end.

/// A ring for `N` bytes.
#[derive(Clone, Debug)]
pub struct ByteRing<const N: usize> {
    bytes: [u8; N],
    first: usize,
    len: usize,
}

impl<const N: usize> Default for ByteRing<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> ByteRing<N> {
    /// An empty ring.
    #[must_use]
    pub const fn new() -> Self {
        Self { bytes: [0; N], first: 0, len: 0 }
    }

    /// Appends a byte; returns whether there was room.
    pub fn push(&mut self, byte: u8) -> bool {
        if self.len == N {
            return false;
        }
        self.bytes[(self.first + self.len) % N] = byte;
        self.len += 1;
        true
    }

    /// Number of bytes.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The oldest byte, without removing it.
    #[must_use]
    pub fn first(&self) -> Option<u8> {
        (self.len > 0).then(|| self.bytes[self.first])
    }

    /// Removes the oldest byte.
    pub fn pop(&mut self) -> Option<u8> {
        if self.len == 0 {
            return None;
        }
        let byte = self.bytes[self.first];
        self.first = (self.first + 1) % N;
        self.len -= 1;
        Some(byte)
    }
}

#[cfg(test)]
mod tests {
    use super::ByteRing;

    #[test]
    fn bytes_come_out_in_order_and_late_ones_are_dropped() {
        let mut ring = ByteRing::<3>::new();
        assert!(ring.push(1) && ring.push(2));
        assert_eq!((ring.first(), ring.len(), ring.is_empty()), (Some(1), 2, false));
        assert_eq!(ring.pop(), Some(1));
        assert!(ring.push(3) && ring.push(4));
        assert!(!ring.push(5));
        assert_eq!([ring.pop(), ring.pop(), ring.pop(), ring.pop()], [Some(2), Some(3), Some(4), None]);
    }
}
