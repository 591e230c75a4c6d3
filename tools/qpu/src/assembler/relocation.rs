//! Relocations: words that depend on where labels are.

/// A word whose low half depends on where labels are: it is the distance from one place to another, plus an addend.
///
/// Branches straight to a label have none: their target can be read from the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Index of the word.
    pub word: usize,
    /// Byte offset of the label at the end of the distance.
    pub to: u32,
    /// Byte offset of its start: a label, or in a branch the instruction after its delay slots.
    pub from: u32,
    /// Bytes added to the distance.
    pub addend: i64,
}

impl Relocation {
    /// The value of the word's low half, as a signed number.
    pub const fn value(&self) -> i64 {
        (self.to as i64 - self.from as i64).wrapping_add(self.addend)
    }
}
