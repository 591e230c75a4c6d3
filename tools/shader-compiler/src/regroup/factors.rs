//! Factors of several terms, and constant factors.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use super::trees::{Forest, Item, Node, Term};
use crate::ssa::{Program, Value};

/// Replaces products of two factors by their factors in the sums that are their only users, where fewer products are left when these sums are factored: one for
/// each sum, instead of one for each value.
pub(super) fn unscale_vectors(forest: &mut Forest) {
    loop {
        // The nodes whose terms have a value as a factor, once for each term, if all its uses are such.
        let mut sums: BTreeMap<Value, Vec<usize>> = BTreeMap::new();
        for (number, node) in forest.nodes.iter().enumerate() {
            let Node::Sum(terms) = node else { continue };
            for item in terms.iter().flat_map(|term| &term.factors) {
                if let Item::Value(value) = *item {
                    sums.entry(value).or_default().push(number);
                }
            }
        }
        sums.retain(|value, places| forest.uses.get(value.index()) == Some(&places.len()));
        let mut scaled: BTreeMap<Item, Vec<(Value, Item)>> = BTreeMap::new();
        for &(root, node) in &forest.roots {
            let Node::Product(factors) = &forest.nodes[node] else { continue };
            if let [a, b] = factors[..]
                && a != b
                && sums.contains_key(&root)
            {
                scaled.entry(a).or_default().push((root, b));
                scaled.entry(b).or_default().push((root, a));
            }
        }
        let saved = |members: &Vec<(Value, Item)>| {
            let mut touched: Vec<usize> = members.iter().flat_map(|(value, _)| sums[value].iter().copied()).collect();
            touched.sort_unstable();
            touched.dedup();
            members.len().saturating_sub(touched.len())
        };
        let best = scaled.iter().map(|(&by, members)| (saved(members), by)).max();
        let Some((1.., by)) = best else { return };
        let members = &scaled[&by];
        for (node, changed) in forest.nodes.iter_mut().zip(&mut forest.changed) {
            let Node::Sum(terms) = node else { continue };
            for term in terms {
                for &(member, other) in members {
                    if let Some(at) = term.factors.iter().position(|&item| item == Item::Value(member)) {
                        term.factors[at] = other;
                        term.factors.push(by);
                        *changed = true;
                    }
                }
            }
        }
        let members: Vec<Value> = members.iter().map(|member| member.0).collect();
        forest.roots.retain(|(root, _)| !members.contains(root));
    }
}

/// Factors all sums, and multiplies constants.
pub(super) fn factor(forest: &mut Forest, program: &mut Program) {
    // Parts of nodes come before them, and sums that factoring makes have been factored already.
    for number in 0..forest.nodes.len() {
        let mut changed = false;
        let node = match forest.nodes[number].clone() {
            Node::Product(mut factors) => {
                if !inline_products(forest, &mut factors, &mut changed) {
                    changed |= multiply_constants(&mut factors, program);
                    Node::Product(factors)
                } else {
                    Node::Sum(vec![Term { is_negative: true, factors }])
                }
            }
            Node::Sum(mut terms) => {
                for term in &mut terms {
                    term.is_negative ^= inline_products(forest, &mut term.factors, &mut changed);
                }
                Node::Sum(factored(forest, program, terms, &mut changed))
            }
        };
        if changed {
            forest.nodes[number] = node;
            forest.changed[number] = true;
        }
    }
}

/// Replaces sums of one term by its factors, unless they are values of their own; returns whether the product is negative now.
fn inline_products(forest: &Forest, factors: &mut Vec<Item>, changed: &mut bool) -> bool {
    let mut is_negative = false;
    let inlined = factors.iter().flat_map(|&item| {
        let Item::Node(number) = item else { return vec![item] };
        match &forest.nodes[number] {
            Node::Sum(terms) if terms.len() == 1 && !forest.roots.iter().any(|(_, node)| *node == number) => {
                is_negative ^= terms[0].is_negative;
                terms[0].factors.clone()
            }
            _ => vec![item],
        }
    });
    let inlined: Vec<Item> = inlined.collect();
    *changed |= inlined != *factors;
    *factors = inlined;
    is_negative
}

/// The terms of a sum that has the same value, with as few products as factoring leaves.
fn factored(forest: &mut Forest, program: &mut Program, mut terms: Vec<Term>, changed: &mut bool) -> Vec<Term> {
    for term in &mut terms {
        *changed |= multiply_constants(&mut term.factors, program);
    }
    while let Some(factor) = best_factor(&terms) {
        *changed = true;
        let (with, mut others): (Vec<Term>, Vec<Term>) =
            terms.into_iter().partition(|term| term.factors.len() > 1 && term.factors.contains(&factor));
        let rest = with.into_iter().map(|mut term| {
            if let Some(at) = term.factors.iter().position(|&item| item == factor) {
                term.factors.remove(at);
            }
            term
        });
        let rest = rest.collect();
        let mut inner = factored(forest, program, rest, &mut false);
        add_constants(&mut inner, program);
        let product = match &inner[..] {
            [Term { is_negative, factors }] => {
                let mut factors = factors.clone();
                factors.push(factor);
                multiply_constants(&mut factors, program);
                Term { is_negative: *is_negative, factors }
            }
            _ => {
                let node = forest.node(Node::Sum(inner));
                forest.changed[node] = true;
                Term { is_negative: false, factors: vec![factor, Item::Node(node)] }
            }
        };
        others.push(product);
        terms = others;
    }
    terms
}

/// Adds the constants of a sum that factoring has made.
fn add_constants(terms: &mut Vec<Term>, program: &mut Program) {
    let constant = |term: &Term| match term.factors[..] {
        [Item::Value(value)] => {
            let sign = if term.is_negative { -1.0 } else { 1.0 };
            program.constant(value).map(|bits| sign * f64::from(f32::from_bits(bits)))
        }
        _ => None,
    };
    let constants: Vec<f64> = terms.iter().filter_map(constant).collect();
    let sum = constants.iter().sum::<f64>() as f32;
    if constants.len() < 2 || !(sum.is_normal() || sum == 0.0) {
        return;
    }
    terms.retain(|term| constant(term).is_none());
    if sum != 0.0 || terms.is_empty() {
        terms.push(Term { is_negative: false, factors: vec![Item::Value(program.float(sum))] });
    }
}

/// The factor that saves most products, if any saves one: there is one product instead of one for each term that has other factors.
fn best_factor(terms: &[Term]) -> Option<Item> {
    // For each factor, the number of terms with it and others.
    let mut counts: BTreeMap<Item, usize> = BTreeMap::new();
    for term in terms {
        for (at, &item) in term.factors.iter().enumerate() {
            if term.factors.len() > 1 && !term.factors[..at].contains(&item) {
                *counts.entry(item).or_default() += 1;
            }
        }
    }
    let best = counts.into_iter().filter(|&(_, count)| count >= 2);
    best.max_by_key(|&(item, count)| (count, core::cmp::Reverse(item))).map(|(item, _)| item)
}

/// Multiplies the constants of a product; returns whether there were several. Neither a product that is rounded to 0 nor one that overflows is made.
fn multiply_constants(factors: &mut Vec<Item>, program: &mut Program) -> bool {
    let constant = |item: &Item| match item {
        Item::Value(value) => program.constant(*value).map(f32::from_bits),
        Item::Node(_) => None,
    };
    let constants: Vec<f32> = factors.iter().filter_map(constant).collect();
    let product = constants.iter().map(|&constant| f64::from(constant)).product::<f64>() as f32;
    if constants.len() < 2 || !product.is_normal() {
        return false;
    }
    factors.retain(|item| constant(item).is_none());
    if product != 1.0 || factors.is_empty() {
        factors.push(Item::Value(program.float(product)));
    }
    true
}
