//! Computes the expressions that have changed.

use alloc::vec;
use alloc::vec::Vec;

use hashbrown::{HashMap, HashSet};
use v3d_hw::qpu::{AddOp, MulOp};

use super::trees::{Forest, Item, Node, Term};
use crate::ssa::{Op, Program, Step, Value};

/// The state of a rebuild.
struct Rebuild<'p> {
    program: &'p mut Program,
    forest: Forest,
    /// Whether a node differs from what its root computes, itself or in a part.
    differs: Vec<bool>,
    /// The roots that compute a node.
    owners: HashMap<usize, Value>,
    /// The values of nodes that have been computed.
    computed: HashMap<usize, Value>,
    /// Roots that were computed before their place, as parts of others.
    early: HashSet<Value>,
    /// Roots that are the same as another value.
    same: HashMap<Value, Value>,
    steps: Vec<Step>,
}

/// Computes the roots of a region with their new operations.
pub(super) fn rebuild(program: &mut Program, forest: Forest, region: u32) {
    let mut differs = vec![None; forest.nodes.len()];
    for number in 0..forest.nodes.len() {
        differs_from_root(&forest, number, &mut differs);
    }
    let roots: HashMap<Value, usize> = forest.roots.iter().copied().collect();
    let mut owners = HashMap::new();
    for &(root, node) in &forest.roots {
        owners.entry(node).or_insert(root);
    }
    let old = core::mem::take(&mut program.steps);
    // Values are not shared with those of other regions.
    (program.known, program.log) = Default::default();
    let differs = differs.into_iter().map(|differs| differs == Some(true)).collect();
    let mut state = Rebuild {
        steps: Vec::with_capacity(old.len()),
        computed: HashMap::new(),
        early: HashSet::new(),
        same: HashMap::new(),
        program,
        forest,
        differs,
        owners,
    };
    let mut open = Vec::new();
    for step in old {
        match step {
            Step::Begin(number) => open.push(number),
            Step::End(_) => {
                open.pop();
            }
            Step::Compute(value) => {
                let is_here = open.last().map_or(0, |number| number + 1) == region;
                if let Some(&node) = roots.get(&value).filter(|_| is_here) {
                    if !state.early.contains(&value) {
                        state.root(value, node);
                    }
                    continue;
                }
            }
        }
        state.steps.push(step);
    }
    let Rebuild { steps, same, .. } = state;
    program.steps = steps;
    program.replace_uses(&same);
}

/// Whether a node, or a node that it consists of, has changed.
fn differs_from_root(forest: &Forest, number: usize, known: &mut [Option<bool>]) -> bool {
    if let Some(known) = known[number] {
        return known;
    }
    let mut differs = forest.changed[number];
    for item in forest.nodes[number].items() {
        if let Item::Node(node) = item {
            differs |= differs_from_root(forest, node, known);
        }
    }
    known[number] = Some(differs);
    differs
}

impl Rebuild<'_> {
    /// Computes a root at its place.
    fn root(&mut self, root: Value, node: usize) {
        if self.differs[node] {
            let value = self.node(node, Some(root));
            if value != root {
                self.same.insert(root, value);
            }
        } else {
            self.steps.push(Step::Compute(root));
            self.computed.entry(node).or_insert(root);
        }
    }

    /// The value of an item, which is computed if it has not been yet.
    fn item(&mut self, item: Item) -> Value {
        let number = match item {
            Item::Value(value) => return value,
            Item::Node(number) => number,
        };
        if let Some(&value) = self.computed.get(&number) {
            return value;
        }
        let owner = self.owners.get(&number).copied();
        if let Some(owner) = owner {
            self.early.insert(owner);
        }
        self.node(number, owner)
    }

    /// Computes a node, as this value if there is one and the node is not the same as another.
    fn node(&mut self, number: usize, result: Option<Value>) -> Value {
        if let Some(item) = only_item(&self.forest.nodes[number]) {
            let value = self.item(item);
            self.computed.entry(number).or_insert(value);
            return value;
        }
        let op = match self.forest.nodes[number].clone() {
            Node::Product(factors) => self.product(factors),
            Node::Sum(terms) => match <[Term; 1]>::try_from(terms) {
                Ok([Term { is_negative: false, factors }]) => self.product(factors),
                Ok(negative) => self.sum(negative.into()),
                Err(terms) => self.sum(terms),
            },
        };
        let value = self.compute(op, result);
        self.computed.entry(number).or_insert(value);
        value
    }

    /// The last operation of a product, after the others.
    fn product(&mut self, factors: Vec<Item>) -> Op {
        let factors: Vec<Value> = self.in_order(factors).into_iter().map(|item| self.item(item)).collect();
        let one = self.program.float(1.0);
        let (first, last, between) = match factors[..] {
            [] => (one, one, &[][..]),
            [only] => (only, one, &[][..]),
            [first, ref between @ .., last] => (first, last, between),
        };
        let product = between.iter().fold(first, |product, &factor| self.compute(multiplied(product, factor), None));
        multiplied(product, last)
    }

    /// The last operation of a sum, after the others.
    fn sum(&mut self, terms: Vec<Term>) -> Op {
        let mut terms: Vec<(usize, bool, Vec<Item>)> = terms
            .into_iter()
            .map(|term| {
                let ready = term.factors.iter().map(|&item| self.forest.ready(item)).max().unwrap_or(0);
                (ready, term.is_negative, term.factors)
            })
            .collect();
        terms.sort_by_key(|term| term.0);
        // A sum begins with a positive term.
        if let Some(first) = terms.iter().position(|term| !term.1) {
            terms[..=first].rotate_right(1);
        }
        let mut terms = terms.into_iter();
        let zero = self.program.bits(0);
        let (mut sum, mut last) = match terms.next() {
            Some((_, false, factors)) => (self.term(factors), None),
            Some((_, true, factors)) => (zero, Some((AddOp::Fsub, self.term(factors)))),
            None => (zero, None),
        };
        for (_, is_negative, factors) in terms {
            let term = self.term(factors);
            if let Some((op, before)) = last.replace((if is_negative { AddOp::Fsub } else { AddOp::Fadd }, term)) {
                sum = self.compute(Op::Add(op, sum, before), None);
            }
        }
        let (op, term) = last.unwrap_or((AddOp::Fadd, zero));
        Op::Add(op, sum, term)
    }

    /// The value of a term without its sign.
    fn term(&mut self, factors: Vec<Item>) -> Value {
        if let [item] = factors[..] {
            return self.item(item);
        }
        let op = self.product(factors);
        self.compute(op, None)
    }

    fn in_order(&self, mut factors: Vec<Item>) -> Vec<Item> {
        factors.sort_by_key(|&item| (self.forest.ready(item), item));
        factors
    }

    /// Computes an operation at the end of the steps.
    fn compute(&mut self, op: Op, result: Option<Value>) -> Value {
        let value = match result {
            Some(value) => {
                self.program.values[value.index()].op = op;
                self.program.here = self.program.values[value.index()].span;
                value
            }
            None => self.program.freely(|program| program.push(op)),
        };
        self.steps.push(Step::Compute(value));
        value
    }
}

/// The item that a node is equal to, if it consists of one only.
fn only_item(node: &Node) -> Option<Item> {
    let factors = match node {
        Node::Product(factors) => factors,
        Node::Sum(terms) => match &terms[..] {
            [Term { is_negative: false, factors }] => factors,
            _ => return None,
        },
    };
    match factors[..] {
        [item] => Some(item),
        _ => None,
    }
}

/// A product, with its operands in the order that all products have.
fn multiplied(a: Value, b: Value) -> Op {
    Op::Mul(MulOp::Fmul, a.min(b), a.max(b))
}
