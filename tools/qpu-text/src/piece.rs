//! Pieces that the text of an instruction is put together from.

/// A text of up to 15 bytes in a block of 16, which can be copied without a look at the length of the text.
#[derive(Clone, Copy)]
pub(super) struct Piece([u8; Piece::BLOCK]);

impl Piece {
    /// Size of the block in bytes. The last one is the length of the text.
    pub(super) const BLOCK: usize = 16;

    pub(super) const EMPTY: Self = Self([0; Self::BLOCK]);

    /// A text; in a constant, one that is too long does not compile.
    pub(super) const fn new(text: &str) -> Self {
        Self::EMPTY.followed_by(text)
    }

    /// This text and another one behind it.
    pub(super) const fn followed_by(mut self, text: &str) -> Self {
        let text = text.as_bytes();
        let mut at = 0;
        while at < text.len() {
            self = self.followed_by_byte(text[at]);
            at += 1;
        }
        self
    }

    const fn followed_by_byte(mut self, byte: u8) -> Self {
        let length = self.len();
        assert!(length < Self::BLOCK - 1, "a piece has up to 15 bytes");
        self.0[length] = byte;
        self.0[Self::BLOCK - 1] += 1;
        self
    }

    /// This text and a decimal number behind it.
    pub(super) const fn followed_by_decimal(self, value: u32) -> Self {
        let more = if value < 10 { self } else { self.followed_by_decimal(value / 10) };
        more.followed_by_byte(b'0' + (value % 10) as u8)
    }

    /// This text and a hexadecimal number behind it, with `0x`.
    pub(super) const fn followed_by_hexadecimal(self, value: u32) -> Self {
        let mut digits = (32 - (value | 1).leading_zeros()).div_ceil(4);
        let mut more = self.followed_by("0x");
        while digits > 0 {
            digits -= 1;
            more = more.followed_by_byte(b"0123456789abcdef"[(value >> (4 * digits) & 15) as usize]);
        }
        more
    }

    /// Length of the text in bytes.
    pub(super) const fn len(&self) -> usize {
        self.0[Self::BLOCK - 1] as usize
    }

    /// The text, followed by bytes that mean nothing.
    pub(super) const fn block(&self) -> &[u8; Self::BLOCK] {
        &self.0
    }
}
