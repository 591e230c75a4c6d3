//! Interned names.
//!
//! Each word of the source is interned once, when it is read. The words of the language have the lowest numbers, so that the meaning of a word is an array
//! access.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::hash::{BuildHasherDefault, Hasher};
use hashbrown::HashMap;

use crate::language::{Directive, Mnemonic, Suffix, Unary, directive, mnemonic, register, suffix};
use crate::value::Register;

/// Number of an interned name.
pub(crate) type Symbol = u32;

/// The meanings of a word in the language, by the place at which it occurs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Meaning {
    pub(crate) mnemonic: Option<Mnemonic>,
    pub(crate) register: Option<Register>,
    pub(crate) operator: Option<Unary>,
    pub(crate) suffix: Option<Suffix>,
    pub(crate) directive: Option<Directive>,
}

/// The entry for names that are not words of the language.
static NO_MEANING: Meaning = Meaning { mnemonic: None, register: None, operator: None, suffix: None, directive: None };

/// A short multiplicative hash; names are a few bytes long, and collisions are not provoked on purpose.
#[derive(Default)]
pub(crate) struct NameHasher(u64);

impl Hasher for NameHasher {
    #[inline]
    fn finish(&self) -> u64 {
        // The low bits of a product depend only on the low bits of its factors, and the hash table uses the low bits first.
        self.0.rotate_left(26)
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let mut mix = |word: u64| self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            mix(u64::from_le_bytes(*word));
        }
        // Most names are shorter than 8 bytes: reading them byte by byte is faster than a copy of variable length.
        let mut last = 0;
        for &byte in rest {
            last = last << 8 | u64::from(byte);
        }
        mix(last);
    }

    #[inline]
    fn write_u8(&mut self, byte: u8) {
        // The terminator of a string; the chunks include the length already, so it is not needed.
        self.0 ^= u64::from(byte) << 56;
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

/// The bytes of a name of up to seven, with its length in the highest byte.
#[inline]
fn packed(text: &[u8], start: usize, end: usize) -> Option<u64> {
    let length = end - start;
    if length > 7 {
        return None;
    }
    let bytes = match text.get(start..).and_then(<[u8]>::first_chunk) {
        // One load, if the text has eight more bytes.
        Some(eight) => u64::from_le_bytes(*eight) & ((1 << (8 * length)) - 1),
        None => text[start..end].iter().rev().fold(0, |bytes, &byte| bytes << 8 | u64::from(byte)),
    };
    Some(bytes | (length as u64) << 56)
}

/// All interned names.
#[derive(Debug)]
pub(crate) struct Symbols {
    /// Names of up to seven bytes, packed; nearly all names are.
    short: HashMap<u64, Symbol, BuildHasherDefault<NameHasher>>,
    long: HashMap<Box<str>, Symbol, BuildHasherDefault<NameHasher>>,
    names: Vec<Box<str>>,
    meanings: Vec<Meaning>,
}

impl Symbols {
    /// The words of the language.
    pub(crate) fn new() -> Self {
        let mut symbols =
            Self { short: HashMap::default(), long: HashMap::default(), names: Vec::new(), meanings: Vec::new() };
        for (name, mnemonic) in mnemonic::Mnemonic::named() {
            symbols.keyword(name).mnemonic.get_or_insert(mnemonic);
        }
        for (name, register) in register::all() {
            symbols.keyword(&name).register.get_or_insert(register);
        }
        for &(name, operator) in Unary::NAMED {
            symbols.keyword(name).operator.get_or_insert(operator);
        }
        for (name, suffix) in suffix::all() {
            symbols.keyword(&name).suffix.get_or_insert(suffix);
        }
        for &(name, directive) in directive::Directive::NAMED {
            symbols.keyword(name).directive.get_or_insert(directive);
        }
        symbols
    }

    fn keyword(&mut self, name: &str) -> &mut Meaning {
        let symbol = self.intern(name) as usize;
        if self.meanings.len() <= symbol {
            self.meanings.resize(symbol + 1, Meaning::default());
        }
        &mut self.meanings[symbol]
    }

    /// The number of a name.
    pub(crate) fn intern(&mut self, name: &str) -> Symbol {
        self.intern_at(name, 0, name.len())
    }

    /// The number of the name at the bytes `start..end` of a text.
    #[inline]
    pub(crate) fn intern_at(&mut self, text: &str, start: usize, end: usize) -> Symbol {
        match packed(text.as_bytes(), start, end).and_then(|packed| self.short.get(&packed)) {
            Some(&symbol) => symbol,
            None => self.intern_rare(text, start, end),
        }
    }

    /// Interns a name that is long or new.
    #[cold]
    fn intern_rare(&mut self, text: &str, start: usize, end: usize) -> Symbol {
        let name = text.get(start..end).unwrap_or_default();
        if let Some(&symbol) = self.long.get(name) {
            return symbol;
        }
        let symbol = self.names.len() as Symbol;
        self.names.push(name.into());
        match packed(text.as_bytes(), start, end) {
            Some(packed) => self.short.insert(packed, symbol),
            None => self.long.insert(name.into(), symbol),
        };
        symbol
    }

    /// Number of interned names: the symbols are all numbers below it.
    pub(crate) fn count(&self) -> Symbol {
        self.names.len() as Symbol
    }

    /// The name of a number.
    pub(crate) fn name(&self, symbol: Symbol) -> &str {
        self.names.get(symbol as usize).map_or("", |name| name)
    }

    /// Its meaning in the language.
    #[inline]
    pub(crate) fn meaning(&self, symbol: Symbol) -> &Meaning {
        self.meanings.get(symbol as usize).unwrap_or(&NO_MEANING)
    }
}
