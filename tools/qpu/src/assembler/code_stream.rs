//! The assembled words, with their origins.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::assembler::label::Labels;
use crate::assembler::relocation::Relocation;
use crate::slot::Slot;
use crate::source::Span;
use crate::value::Distance;

/// Origin and kind of a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WordInfo {
    /// The source line that emitted it.
    pub span: Span,
    /// It is data, not an instruction.
    pub data: bool,
    /// A label is defined at this word.
    pub target: bool,
    /// The source marks it as intended for a delay slot (`.slots`).
    pub in_slot: bool,
}

/// Number of instructions that `.slots` marks.
const SLOTS: u32 = 3;

/// A branch whose target is a label.
#[derive(Clone, Copy, Debug)]
struct Fixup {
    word: usize,
    /// The branch that the distance is relative to: the same word, except for copies made by `.clone`.
    base: usize,
    label: u32,
    addend: i64,
    relative: bool,
    /// A register is added to the target.
    by_register: bool,
    span: Span,
}

/// A word that contains a distance between labels, in its low half.
#[derive(Clone, Copy, Debug)]
struct Measure {
    word: usize,
    distance: Distance,
    span: Span,
}

/// A word that `.clone` has copied from further down.
#[derive(Clone, Copy, Debug)]
struct ForwardCopy {
    word: usize,
    from: usize,
}

/// The output.
#[derive(Debug, Default)]
pub(super) struct CodeStream {
    words: Vec<u64>,
    info: Vec<WordInfo>,
    fixups: Vec<Fixup>,
    measures: Vec<Measure>,
    forward_copies: Vec<ForwardCopy>,
    /// Instructions whose line ended with a semicolon, so that the next line may be merged into them.
    joinable: Vec<(usize, Slot)>,
    /// Number of bits that are filled in the last data word.
    bit_offset: u32,
    /// A label was defined since the last word.
    pending_target: bool,
    /// Number of words after the insertion point of `.back`.
    back: usize,
    back_span: Option<Span>,
    /// Number of following instructions that `.slots` marks as intended for delay slots.
    slots: u32,
}

impl CodeStream {
    /// Index of the next word.
    pub(super) fn position(&self) -> usize {
        self.words.len() - self.back.min(self.words.len()) - usize::from(self.bit_offset != 0)
    }

    /// Byte offset of the next datum or instruction; `None` inside a byte.
    pub(super) fn address(&self) -> Option<u32> {
        let address = self.position() as u32 * 8;
        self.bit_offset.is_multiple_of(8).then_some(address + self.bit_offset / 8)
    }

    pub(super) fn is_full(&self) -> bool {
        self.words.len() >= super::budget::MAX_WORDS
    }

    pub(super) fn bit_offset(&self) -> u32 {
        self.bit_offset
    }

    pub(super) fn mark_target(&mut self) {
        self.pending_target = true;
    }

    fn insert(&mut self, word: u64, mut info: WordInfo) -> usize {
        let at = self.words.len() - self.back.min(self.words.len());
        if self.back == 0 {
            self.words.push(word);
            self.info.push(info);
        } else {
            // A label at the insertion point stays there, before what is inserted.
            if let Some(behind) = self.info.get_mut(at) {
                info.target |= core::mem::take(&mut behind.target);
            }
            self.words.insert(at, word);
            self.info.insert(at, info);
            for fixup in &mut self.fixups {
                fixup.word += usize::from(fixup.word >= at);
                fixup.base += usize::from(fixup.base >= at);
            }
            for measure in &mut self.measures {
                measure.word += usize::from(measure.word >= at);
            }
            for copy in &mut self.forward_copies {
                copy.word += usize::from(copy.word >= at);
            }
        }
        at
    }

    /// Adds an instruction.
    pub(super) fn push(&mut self, word: u64, span: Span, slot: &Slot) -> usize {
        let target = core::mem::take(&mut self.pending_target);
        let in_slot = self.next_is_in_slot();
        let at = self.insert(word, WordInfo { span, data: false, target, in_slot });
        self.fix(at, slot, span);
        at
    }

    fn fix(&mut self, word: usize, slot: &Slot, span: Span) {
        if let Some((label, addend)) = slot.label {
            let (relative, by_register) = (slot.relative, slot.register_target);
            self.fixups.push(Fixup { word, base: word, label, addend, relative, by_register, span });
        }
        if let Some(distance) = slot.distance() {
            self.measures.push(Measure { word, distance, span });
        }
    }

    /// Marks the next three instructions as intended for the delay slots of the last instruction; returns whether that is a branch.
    pub(super) fn mark_slots(&mut self) -> bool {
        let last = self.position().checked_sub(1).and_then(|last| self.word(last));
        let branch = last.is_some_and(|(word, info)| word >> 60 == 15 && !info.data);
        if branch {
            self.slots = SLOTS;
        }
        branch
    }

    fn next_is_in_slot(&mut self) -> bool {
        let in_slot = self.slots > 0;
        self.slots = self.slots.saturating_sub(1);
        in_slot
    }

    /// Keeps an instruction open, so that the next line can be merged into it.
    pub(super) fn keep_open(&mut self, at: usize, slot: Slot) {
        self.joinable.retain(|(other, _)| *other != at && other + 16 > at);
        self.joinable.push((at, slot));
    }

    /// The last instruction, if it is open for merging.
    pub(super) fn open(&self) -> Option<(usize, &Slot)> {
        let before = self.position().checked_sub(1)?;
        if self.pending_target || self.bit_offset != 0 {
            return None;
        }
        self.joinable.iter().find(|(at, _)| *at == before).map(|(at, slot)| (*at, slot))
    }

    /// Replaces an instruction by one with further operations merged into it.
    pub(super) fn replace(&mut self, at: usize, word: u64, span: Span, slot: &Slot) {
        if let Some(old) = self.words.get_mut(at) {
            *old = word;
        }
        self.measures.retain(|measure| measure.word != at);
        if let Some(distance) = slot.distance() {
            self.measures.push(Measure { word: at, distance, span });
        }
        self.joinable.retain(|(other, _)| *other != at);
    }

    /// Adds a padding word, to which no instruction of the source corresponds.
    pub(super) fn pad(&mut self, word: u64, span: Span) {
        self.insert(word, WordInfo { span, data: true, ..WordInfo::default() });
    }

    /// Adds `bits` bits of data.
    pub(super) fn push_bits(&mut self, value: u64, bits: u32, span: Span) {
        let target = core::mem::take(&mut self.pending_target);
        let info = WordInfo { span, data: true, target, in_slot: false };
        if self.bit_offset == 0 {
            self.insert(0, info);
        }
        let at = self.words.len() - self.back.min(self.words.len());
        if let Some(last) = at.checked_sub(1).and_then(|at| self.words.get_mut(at)) {
            *last |= value << self.bit_offset;
        }
        self.bit_offset += bits;
        if self.bit_offset >= 64 {
            self.bit_offset -= 64;
            if self.bit_offset != 0 {
                self.insert(value >> (bits - self.bit_offset), info);
            }
        }
    }

    /// Skips to the next multiple of `bits` inside the current word, relative to `offset`.
    pub(super) fn skip_bits(&mut self, bits: u32) {
        self.bit_offset += bits;
        if self.bit_offset >= 64 {
            self.bit_offset = 0;
        }
    }

    /// All words so far.
    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }

    pub(super) fn word(&self, at: usize) -> Option<(u64, WordInfo)> {
        Some((*self.words.get(at)?, *self.info.get(at)?))
    }

    /// Copies a word to the end. A branch keeps the distance of the original.
    pub(super) fn copy(&mut self, from: usize, word: u64, info: WordInfo) {
        let target = core::mem::take(&mut self.pending_target);
        let in_slot = self.next_is_in_slot();
        let at = self.insert(word, WordInfo { target, in_slot, ..info });
        if let Some(&fixup) = self.fixups.iter().find(|fixup| fixup.word == from) {
            self.fixups.push(Fixup { word: at, ..fixup });
        }
        if let Some(&measure) = self.measures.iter().find(|measure| measure.word == from) {
            self.measures.push(Measure { word: at, ..measure });
        }
        if from >= at {
            self.forward_copies.push(ForwardCopy { word: at, from });
        }
    }

    /// Starts inserting `count` words before the end; returns whether the insertion point is before a branch target.
    pub(super) fn start_back(&mut self, count: usize, span: Span) -> Option<bool> {
        if count > self.words.len() || self.back != 0 || self.bit_offset != 0 {
            return None;
        }
        self.back = count;
        self.back_span = Some(span);
        let skipped = &self.info[self.words.len() - count..];
        Some(skipped.iter().skip(1).any(|info| info.target))
    }

    pub(super) fn end_back(&mut self) -> bool {
        self.back = 0;
        self.back_span.take().is_some()
    }

    pub(super) fn open_back(&self) -> Option<Span> {
        self.back_span
    }

    /// Patches the targets of branches; returns the branches whose target is out of range.
    pub(super) fn resolve_branches(&mut self, labels: &Labels) -> Vec<(Span, String)> {
        let mut errors = Vec::new();
        for fixup in &self.fixups {
            let Some(address) = labels.final_address(fixup.label) else { continue };
            let base = if fixup.relative { (fixup.base as i64 + 4) * 8 } else { 0 };
            let target = address.wrapping_add(fixup.addend).wrapping_sub(base);
            let Ok(target) = i32::try_from(target) else {
                errors.push((fixup.span, format!("the branch distance {target} does not fit 32 bits")));
                continue;
            };
            if let Some(word) = self.words.get_mut(fixup.word) {
                *word = *word & !0xffff_ffff | u64::from(target as u32);
            }
        }
        errors
    }

    /// The relocations of the program, by the final addresses of labels; the error is the place of a word that has another value than its labels say, because
    /// a label has moved after it was used.
    pub(super) fn relocations(&self, labels: &Labels) -> Result<Vec<Relocation>, Span> {
        let address = |label: u32| labels.final_address(label).and_then(|address| u32::try_from(address).ok());
        let mut found = Vec::new();
        for fixup in self.fixups.iter().filter(|fixup| fixup.relative && fixup.by_register) {
            let from = (fixup.base as u32 + 4) * 8;
            let to = address(fixup.label).ok_or(fixup.span)?;
            found.push(Relocation { word: fixup.word, to, from, addend: fixup.addend });
        }
        for &Measure { word, distance, span } in &self.measures {
            let to = address(distance.to).ok_or(span)?;
            let from = address(distance.from).ok_or(span)?;
            let relocation = Relocation { word, to, from, addend: distance.addend };
            if self.words.get(word).is_none_or(|&word| relocation.value() != i64::from(word as u32 as i32)) {
                return Err(span);
            }
            found.push(relocation);
        }
        // What is copied from further down was not known when it was copied.
        for copy in &self.forward_copies {
            if let Some(&original) = found.iter().find(|relocation| relocation.word == copy.from) {
                found.push(Relocation { word: copy.word, ..original });
            }
        }
        found.sort_by_key(|relocation| relocation.word);
        Ok(found)
    }

    pub(super) fn into_words(self) -> (Vec<u64>, Vec<WordInfo>) {
        (self.words, self.info)
    }
}
