//! Labels.
//!
//! Labels that start with a digit can be defined many times: `:1` is the last definition (or the next, if there is none yet), `:1f` the next.

use alloc::vec::Vec;
use core::hash::BuildHasherDefault;
use hashbrown::HashMap;

use crate::source::Span;
use crate::symbol::{NameHasher, Symbol};

#[derive(Clone, Copy, Debug)]
struct Label {
    name: Symbol,
    /// Byte offset in this pass.
    address: Option<u32>,
    /// Byte offset in the previous pass.
    predicted: Option<u32>,
    defined: Span,
    used: Option<Span>,
}

/// All labels.
#[derive(Debug, Default)]
pub(super) struct Labels {
    labels: Vec<Label>,
    by_name: HashMap<Symbol, u32, BuildHasherDefault<NameHasher>>,
    /// Number of labels seen in this pass; every pass sees the same ones in the same order.
    met: usize,
    needs_addresses: Option<Span>,
    /// The first place where something depends on the address of a label in a way that relocations do not describe.
    addresses_used: Option<Span>,
    /// The first place where words further down were needed, by `.clone`.
    needs_words: Option<Span>,
    previous_words: Vec<u64>,
}

impl Labels {
    pub(super) fn start_pass(&mut self) {
        self.labels.truncate(self.met);
        for label in &mut self.labels {
            label.predicted = label.address.take();
        }
        self.by_name.clear();
        self.met = 0;
        self.needs_addresses = None;
        self.needs_words = None;
    }

    fn meet(&mut self, name: Symbol) -> u32 {
        let id = self.met;
        self.met += 1;
        let fresh = Label { name, address: None, predicted: None, defined: Span::default(), used: None };
        match self.labels.get_mut(id) {
            Some(label) => {
                let predicted = if label.name == name { label.predicted } else { None };
                *label = Label { predicted, ..fresh };
            }
            None => self.labels.push(fresh),
        }
        self.by_name.insert(name, id as u32);
        id as u32
    }

    /// The label that a name refers to at this place.
    pub(super) fn refer(&mut self, name: Symbol, forward: bool, span: Span) -> u32 {
        let known = self.by_name.get(&name).copied();
        let id = match known {
            Some(id) if !(forward && self.labels[id as usize].address.is_some()) => id,
            _ => self.meet(name),
        };
        self.labels[id as usize].used.get_or_insert(span);
        id
    }

    /// Defines a label. Redefining one that does not start with a digit is an error, which is the place of the first definition.
    pub(super) fn define(&mut self, name: Symbol, repeatable: bool, address: u32, span: Span) -> Result<u32, Span> {
        let id = match self.by_name.get(&name).copied() {
            Some(id) if self.labels[id as usize].address.is_none() => id,
            Some(id) if !repeatable => return Err(self.labels[id as usize].defined),
            _ => self.meet(name),
        };
        let label = &mut self.labels[id as usize];
        label.address = Some(address);
        label.defined = span;
        Ok(id)
    }

    /// The address of a label where a number is needed immediately; from the previous pass if it is defined further down.
    pub(super) fn address_now(&mut self, id: u32, span: Span) -> i64 {
        let Some(label) = self.labels.get(id as usize) else { return 0 };
        label.address.map_or_else(
            || {
                self.needs_addresses.get_or_insert(span);
                i64::from(label.predicted.unwrap_or(0))
            },
            i64::from,
        )
    }

    /// Notes that something depends on the address of a label in a way that relocations do not describe.
    pub(super) fn note_use_of_address(&mut self, span: Span) {
        self.addresses_used.get_or_insert(span);
    }

    /// The first place where something does.
    pub(super) fn addresses_used(&self) -> Option<Span> {
        self.addresses_used
    }

    /// The address of a label, after the pass.
    pub(super) fn final_address(&self, id: u32) -> Option<i64> {
        self.labels.get(id as usize)?.address.map(i64::from)
    }

    /// Labels that are used but not defined.
    pub(super) fn undefined(&self) -> Vec<(Symbol, Span)> {
        let met = self.labels.iter().take(self.met);
        met.filter(|label| label.address.is_none()).filter_map(|label| Some((label.name, label.used?))).collect()
    }

    /// Whether a name is that of a label that is defined so far.
    pub(super) fn is_defined(&self, name: Symbol) -> bool {
        self.by_name
            .get(&name)
            .and_then(|&id| self.labels.get(id as usize))
            .is_some_and(|label| label.address.is_some())
    }

    /// Whether a later label's address was used, and differs from the one of the previous pass.
    pub(super) fn another_pass(&self) -> bool {
        self.needs_words.is_some()
            || self.needs_addresses.is_some()
                && self.labels.iter().take(self.met).any(|label| label.address != label.predicted)
    }

    /// Requests another pass, for words further down that are not assembled yet.
    pub(super) fn need_another_pass(&mut self, span: Span) {
        self.needs_words.get_or_insert(span);
    }

    /// A word of the previous pass.
    pub(super) fn previous_word(&self, at: usize) -> Option<u64> {
        self.previous_words.get(at).copied()
    }

    /// Whether the next pass needs the words of this pass.
    pub(super) fn words_needed(&self) -> bool {
        self.needs_words.is_some() || !self.previous_words.is_empty()
    }

    /// Keeps the words of this pass for the next one.
    pub(super) fn keep_words(&mut self, words: &[u64]) {
        self.previous_words.clear();
        self.previous_words.extend_from_slice(words);
    }

    /// Where the address of a later label was used.
    pub(super) fn unsettled_span(&self) -> Option<Span> {
        self.needs_addresses.or(self.needs_words)
    }

    /// Names and addresses in the order of definition.
    pub(super) fn all(&self) -> impl Iterator<Item = (Symbol, u32)> + '_ {
        let mut all: Vec<(Symbol, u32)> =
            self.labels.iter().take(self.met).filter_map(|label| Some((label.name, label.address?))).collect();
        all.sort_by_key(|&(_, address)| address);
        all.into_iter()
    }

    /// Moves all labels at or above an address by `bytes`, after code was inserted before them.
    pub(super) fn shift(&mut self, from: u32, bytes: u32) {
        for label in self.labels.iter_mut().take(self.met) {
            if let Some(address) = &mut label.address
                && *address > from
            {
                *address += bytes;
            }
        }
    }
}
