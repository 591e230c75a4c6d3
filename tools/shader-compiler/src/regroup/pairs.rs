//! Pairs of factors, and pairs of terms, that occur in several products or sums.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use super::trees::{Forest, Item, Node, Term};

/// Maximum number of pairs that are shared in one region, to bound the time.
const MAX_PAIRS: usize = 100;

/// Computes pairs that occur several times once, those first that occur most often.
pub(super) fn share(forest: &mut Forest) {
    for _ in 0..MAX_PAIRS {
        let Some(pair) = most_frequent(forest, factor_pairs) else { break };
        replace_factors(forest, pair);
    }
    for _ in 0..MAX_PAIRS {
        let Some(pair) = most_frequent(forest, term_pairs) else { break };
        replace_terms(forest, pair);
    }
}

/// The pair with the most occurrences, if it has several.
fn most_frequent<P: Ord + Copy>(forest: &Forest, pairs: fn(&Forest, &Node, &mut dyn FnMut(P, usize))) -> Option<P> {
    let mut counts: BTreeMap<P, (usize, usize)> = BTreeMap::new();
    let live = live_nodes(forest);
    for (node, _) in forest.nodes.iter().zip(live).filter(|(_, is_live)| *is_live) {
        pairs(forest, node, &mut |pair, ready| {
            let (count, _) = counts.entry(pair).or_insert((0, ready));
            *count += 1;
        });
    }
    let several = counts.into_iter().filter(|(_, (count, _))| *count >= 2);
    several.max_by_key(|&(pair, (count, ready))| (count, core::cmp::Reverse((ready, pair)))).map(|(pair, _)| pair)
}

/// The nodes that roots consist of.
fn live_nodes(forest: &Forest) -> Vec<bool> {
    let mut live = vec![false; forest.nodes.len()];
    let mut work: Vec<usize> = forest.roots.iter().map(|(_, node)| *node).collect();
    while let Some(number) = work.pop() {
        if core::mem::replace(&mut live[number], true) {
            continue;
        }
        forest.nodes[number].each_product(|factors| {
            work.extend(factors.iter().filter_map(|item| match *item {
                Item::Node(node) => Some(node),
                Item::Value(_) => None,
            }));
        });
    }
    live
}

impl Node {
    /// All factors.
    pub(super) fn items(&self) -> Vec<Item> {
        match self {
            Self::Product(factors) => factors.clone(),
            Self::Sum(terms) => terms.iter().flat_map(|term| term.factors.iter().copied()).collect(),
        }
    }

    /// Calls for the factors of each of its products.
    fn each_product(&self, mut call: impl FnMut(&[Item])) {
        match self {
            Self::Product(factors) => call(factors),
            Self::Sum(terms) => terms.iter().for_each(|term| call(&term.factors)),
        }
    }

    fn products_mut(&mut self) -> Vec<&mut Vec<Item>> {
        match self {
            Self::Product(factors) => vec![factors],
            Self::Sum(terms) => terms.iter_mut().map(|term| &mut term.factors).collect(),
        }
    }
}

/// Calls for each pair of factors of a node, once for each product, with the step after which it can be computed.
fn factor_pairs(forest: &Forest, node: &Node, note: &mut dyn FnMut([Item; 2], usize)) {
    node.each_product(|factors| {
        let mut noted: Vec<[Item; 2]> = Vec::new();
        for (at, &a) in factors.iter().enumerate() {
            for &b in &factors[at + 1..] {
                let pair = [a.min(b), a.max(b)];
                if !noted.contains(&pair) {
                    // Of two factors there is only one pair.
                    if factors.len() > 2 {
                        noted.push(pair);
                    }
                    note(pair, forest.ready(a).max(forest.ready(b)));
                }
            }
        }
    });
}

/// Removes a pair of factors; returns whether it was there.
fn take(factors: &mut Vec<Item>, [a, b]: [Item; 2]) -> bool {
    let Some(first) = factors.iter().position(|&item| item == a) else { return false };
    let Some(second) = factors.iter().enumerate().position(|(at, &item)| at != first && item == b) else {
        return false;
    };
    factors.remove(first.max(second));
    factors.remove(first.min(second));
    true
}

fn replace_factors(forest: &mut Forest, pair: [Item; 2]) {
    // A product that is the pair already serves the others.
    let is_pair =
        |node: &Node| matches!(node, Node::Product(factors) if factors.len() == 2 && take(&mut factors.clone(), pair));
    let live = live_nodes(forest);
    let found = forest.nodes.iter().zip(live).position(|(node, live)| live && is_pair(node));
    let number = found.unwrap_or_else(|| forest.node(Node::Product(pair.to_vec())));
    for (at, node) in forest.nodes.iter_mut().enumerate() {
        if at == number {
            continue;
        }
        for factors in node.products_mut() {
            if take(factors, pair) {
                factors.push(Item::Node(number));
                forest.changed[at] = true;
            }
        }
    }
}

/// Two terms of one factor each, and whether their signs differ.
type TermPair = ([Item; 2], bool);

/// The only factor of a term, if it has one only and that is no constant or uniform: sums of those are left as the source has them.
fn single(forest: &Forest, term: &Term) -> Option<Item> {
    match term.factors[..] {
        [item] if forest.ready(item) != 0 => Some(item),
        _ => None,
    }
}

fn term_pairs(forest: &Forest, node: &Node, note: &mut dyn FnMut(TermPair, usize)) {
    let Node::Sum(terms) = node else { return };
    let mut noted: Vec<TermPair> = Vec::new();
    for (at, one) in terms.iter().enumerate() {
        for other in &terms[at + 1..] {
            let (Some(a), Some(b)) = (single(forest, one), single(forest, other)) else { continue };
            let pair = ([a.min(b), a.max(b)], one.is_negative != other.is_negative);
            if a != b && !noted.contains(&pair) {
                noted.push(pair);
                note(pair, forest.ready(a).max(forest.ready(b)));
            }
        }
    }
}

fn replace_terms(forest: &mut Forest, ([a, b], differ): TermPair) {
    let of = |item, is_negative| Term { is_negative, factors: vec![item] };
    // A sum that is the pair already serves the others.
    let is_pair = |node: &Node, negative: bool| match node {
        Node::Sum(terms) if terms.len() == 2 => {
            terms.contains(&of(a, negative)) && terms.contains(&of(b, negative != differ))
        }
        _ => false,
    };
    let live = live_nodes(forest);
    let found = |negative| forest.nodes.iter().zip(&live).position(|(node, live)| *live && is_pair(node, negative));
    let (number, first_is_negative) = match (found(false), found(true)) {
        (Some(number), _) => (number, false),
        (None, Some(number)) => (number, true),
        (None, None) => (forest.node(Node::Sum(vec![of(a, false), of(b, differ)])), false),
    };
    for (at, node) in forest.nodes.iter_mut().enumerate() {
        let Node::Sum(terms) = node else { continue };
        if at == number {
            continue;
        }
        for negative in [false, true] {
            let first = terms.iter().position(|term| *term == of(a, negative));
            let second = terms.iter().position(|term| *term == of(b, negative != differ));
            if let (Some(first), Some(second)) = (first, second) {
                terms.remove(first.max(second));
                terms.remove(first.min(second));
                terms.push(of(Item::Node(number), negative != first_is_negative));
                forest.changed[at] = true;
            }
        }
    }
}
