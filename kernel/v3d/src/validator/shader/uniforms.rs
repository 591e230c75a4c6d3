//! A program with its uniforms: the memory that it looks up.
//!
//! The program has been followed without its uniforms. Here the same paths are followed with the exact address of the next uniform; a path ends where another
//! one has arrived with the same address.

use super::super::{Checker, Reason, texture};
use super::{Event, Program};
use crate::platform::GpuMemory;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use v3d_hw::BusAddr;

/// Bytes of a uniform, and of a word that is looked up.
const WORD: u32 = 4;

/// Checks all that a program reads if its uniforms start at an address.
pub(super) fn check<M: GpuMemory>(
    checker: &Checker<'_, M>,
    program: &Program,
    uniforms: BusAddr,
) -> Result<(), Reason> {
    let kept = checker.kept();
    let (mut begun, mut waiting) = (BTreeSet::new(), Vec::new());
    let mut words = Vec::new();
    begun.insert((0, uniforms));
    waiting.push((0, uniforms));
    while let Some((number, start)) = waiting.pop() {
        let Some(block) = program.blocks.get(number) else { continue };
        checker.spend(1 + block.events.len() as u32)?;
        words.clear();
        let mut stream = Stream { checker, next: start, words: &mut words };
        for (address, event) in &block.events {
            stream.follow(*address, *event).map_err(|refused| match refused {
                Refused::Because(why) => Reason::Instruction { address: *address, why },
                Refused::For(reason) => reason,
            })?;
        }
        let next = stream.next;
        for exit in block.exits.iter().flatten() {
            if begun.insert((*exit, next)) {
                checker.keep::<[(usize, BusAddr); 2]>(1)?;
                waiting.push((*exit, next));
            }
        }
    }
    checker.release(kept);
    Ok(())
}

/// Why an instruction is rejected.
enum Refused {
    /// Because of the instruction itself.
    Because(&'static str),
    /// Because of the memory that it accesses.
    For(Reason),
}

impl From<&'static str> for Refused {
    fn from(why: &'static str) -> Self {
        Self::Because(why)
    }
}

impl From<Reason> for Refused {
    fn from(reason: Reason) -> Self {
        Self::For(reason)
    }
}

/// The uniforms of a block.
struct Stream<'a, M> {
    checker: &'a Checker<'a, M>,
    /// Address of the next one.
    next: BusAddr,
    /// Uniforms that were read in this block, and their addresses.
    words: &'a mut Vec<(BusAddr, u32)>,
}

impl<M: GpuMemory> Stream<'_, M> {
    /// A uniform by its number, which must have been read before.
    fn word(&self, number: u32) -> u32 {
        self.words.get(number as usize).map_or(0, |&(_, word)| word)
    }

    /// Records that a uniform is an address.
    fn point(&self, number: u32, target: BusAddr) {
        if let Some(&(place, _)) = self.words.get(number as usize) {
            self.checker.note(|survey| survey.note_pointer(place, target));
        }
    }

    fn follow(&mut self, instruction: BusAddr, event: Event) -> Result<(), Refused> {
        match event {
            Event::Read => {
                if !self.next.is_aligned(WORD) {
                    return Err("reads a uniform between words".into());
                }
                self.words.push((self.next, self.checker.word(self.next)?));
                self.next = self.next + WORD;
            }
            Event::Move { uniform, plus } => {
                let address = BusAddr(uniform.map_or(0, |number| self.word(number)).wrapping_add(plus));
                if !address.is_aligned(WORD) {
                    return Err("moves the address of the uniforms between words".into());
                }
                match uniform {
                    Some(number) => self.point(number, address),
                    None => self.checker.note(|survey| survey.note_fixed(instruction)),
                }
                self.next = address;
            }
            Event::LookUpWord { base, limit } => {
                let (number, base, limit) = (base, BusAddr(self.word(base)), self.word(limit));
                if !base.is_aligned(WORD) || limit > i32::MAX as u32 {
                    return Err("looks memory up between words, or without a limit".into());
                }
                self.checker.may_read(base, u64::from(limit) + u64::from(WORD))?;
                self.point(number, base);
            }
            Event::LookUp(parameters) => {
                let mut words = [0; 4];
                for (word, number) in words.iter_mut().zip(parameters.uniforms()) {
                    *word = self.word(*number);
                }
                let words = words.get(..parameters.uniforms().len()).unwrap_or_default();
                let (start, bytes) = texture::extent(words)?;
                self.checker.may_read(start, bytes)?;
                if let Some(&number) = parameters.uniforms().first() {
                    self.point(number, start);
                }
            }
        }
        Ok(())
    }
}
