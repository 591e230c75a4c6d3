//! The sums and products of one region: a loop's own computations, or those outside of loops.

use alloc::vec;
use alloc::vec::Vec;

use hashbrown::HashMap;
use v3d_hw::qpu::{AddOp, MulOp};

use crate::ssa::{Op, Program, Step, Value};

/// Maximum number of factors of a product, and of terms of a sum. What has more is left as it is.
const MAX_ITEMS: usize = 24;

/// Where a value is computed, and by what it is used.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    /// Number of its step, from 1; 0 for what is no step.
    pub(super) step: usize,
    /// The loop around it by its number and 1 more, or 0.
    pub(super) region: u32,
    /// Number of times that it is an operand.
    uses: usize,
    /// The last computation that it is an operand of.
    user: Option<Value>,
}

/// The places of all values.
pub(super) fn places(program: &Program) -> Vec<Place> {
    let mut places = vec![Place::default(); program.values.len()];
    let mut open: Vec<u32> = Vec::new();
    for (number, step) in program.steps.iter().enumerate() {
        match *step {
            Step::Compute(value) => {
                let region = open.last().map_or(0, |number| number + 1);
                let place = &mut places[value.index()];
                (place.step, place.region) = (number + 1, region);
                program.each_operand(value, |operand| {
                    let place = &mut places[operand.index()];
                    (place.uses, place.user) = (place.uses + 1, Some(value));
                });
            }
            Step::Begin(number) => open.push(number),
            Step::End(_) => {
                open.pop();
            }
        }
    }
    // What a loop takes or leaves has a use that is no operand.
    for data in &program.loops {
        let carried = data.carried.iter().flat_map(|carried| [carried.init, carried.next, carried.next_inside]);
        for value in carried.chain(data.again) {
            places[value.index()].uses += 2;
        }
    }
    places
}

/// A factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Item {
    /// A value that is computed as before.
    Value(Value),
    /// A sum or product, by its number.
    Node(usize),
}

/// A term of a sum.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Term {
    pub(super) is_negative: bool,
    pub(super) factors: Vec<Item>,
}

/// A sum or product.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    Product(Vec<Item>),
    Sum(Vec<Term>),
}

/// The sums and products of a region.
#[derive(Debug, Default)]
pub(super) struct Forest {
    pub(super) nodes: Vec<Node>,
    /// For each of them, whether a rule has been applied to it.
    pub(super) changed: Vec<bool>,
    /// The step after which it can be computed.
    pub(super) ready: Vec<usize>,
    /// The values that are not part of another tree, in the order of steps, with their nodes.
    pub(super) roots: Vec<(Value, usize)>,
    /// Steps of values.
    steps: Vec<usize>,
    /// Uses of values.
    pub(super) uses: Vec<usize>,
    numbers: HashMap<Node, usize>,
}

/// The operation of a tree's node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Product,
    Sum,
}

/// The kind of a free sum or product.
fn kind(program: &Program, value: Value) -> Option<Kind> {
    let computation = program.values.get(value.index())?;
    match computation.op {
        _ if !computation.is_free => None,
        Op::Mul(MulOp::Fmul, ..) => Some(Kind::Product),
        Op::Add(AddOp::Fadd | AddOp::Fsub, ..) => Some(Kind::Sum),
        _ => None,
    }
}

/// Finds trees.
struct Finder<'p> {
    program: &'p Program,
    places: &'p [Place],
    region: u32,
    forest: Forest,
}

impl Finder<'_> {
    /// Whether a value is part of the tree of its only user.
    fn is_inner(&self, value: Value) -> bool {
        let place = self.places[value.index()];
        let is_here = |value: Value| self.places[value.index()].region == self.region;
        place.uses == 1
            && place.step != 0
            && is_here(value)
            && kind(self.program, value).is_some()
            && place.user.is_some_and(|user| is_here(user) && kind(self.program, user).is_some())
    }

    /// The factors of a value, as part of a product; whether the product is negative.
    fn factors(&mut self, value: Value, factors: &mut Vec<Item>) -> bool {
        let program = self.program;
        if factors.len() < MAX_ITEMS && self.is_inner(value) {
            match program.op(value) {
                Op::Mul(MulOp::Fmul, a, b) => return self.factors(a, factors) ^ self.factors(b, factors),
                Op::Add(AddOp::Fsub, zero, a) if program.constant(zero) == Some(0) => {
                    return !self.factors(a, factors);
                }
                Op::Add(AddOp::Fadd | AddOp::Fsub, ..) => {
                    let node = self.sum(value);
                    factors.push(Item::Node(node));
                    return false;
                }
                _ => {}
            }
        }
        factors.push(Item::Value(value));
        false
    }

    /// The terms of a value, as part of a sum.
    fn terms(&mut self, value: Value, is_negative: bool, is_root: bool, terms: &mut Vec<Term>) {
        let program = self.program;
        if program.constant(value) == Some(0) {
            return;
        }
        if is_root || terms.len() < MAX_ITEMS && self.is_inner(value) {
            match program.op(value) {
                Op::Add(AddOp::Fadd, a, b) => {
                    self.terms(a, is_negative, false, terms);
                    self.terms(b, is_negative, false, terms);
                    return;
                }
                Op::Add(AddOp::Fsub, a, b) => {
                    self.terms(a, is_negative, false, terms);
                    self.terms(b, !is_negative, false, terms);
                    return;
                }
                _ => {}
            }
        }
        let mut factors = Vec::new();
        let is_negative = is_negative ^ self.factors(value, &mut factors);
        terms.push(Term { is_negative, factors });
    }

    fn sum(&mut self, value: Value) -> usize {
        let mut terms = Vec::new();
        self.terms(value, false, true, &mut terms);
        self.forest.node(Node::Sum(terms))
    }

    fn root(&mut self, value: Value) -> usize {
        match self.program.op(value) {
            Op::Mul(MulOp::Fmul, a, b) => {
                let mut factors = Vec::new();
                let is_negative = self.factors(a, &mut factors) ^ self.factors(b, &mut factors);
                if is_negative {
                    self.forest.node(Node::Sum(vec![Term { is_negative, factors }]))
                } else {
                    self.forest.node(Node::Product(factors))
                }
            }
            _ => self.sum(value),
        }
    }
}

impl Forest {
    /// The trees of a region.
    pub(super) fn of(program: &Program, places: &[Place], region: u32) -> Self {
        let steps = places.iter().map(|place| place.step).collect();
        let forest = Self { steps, uses: places.iter().map(|place| place.uses).collect(), ..Self::default() };
        let mut finder = Finder { program, places, region, forest };
        for step in &program.steps {
            let Step::Compute(value) = *step else { continue };
            let is_here = places[value.index()].region == region;
            if is_here && kind(program, value).is_some() && !finder.is_inner(value) {
                let node = finder.root(value);
                finder.forest.roots.push((value, node));
            }
        }
        finder.forest
    }

    /// The number of a node, an existing one if there is an equal one. Its items are sorted by the step after which they can be computed.
    pub(super) fn node(&mut self, mut node: Node) -> usize {
        match &mut node {
            Node::Product(factors) => factors.sort_by_key(|&item| (self.ready(item), item)),
            Node::Sum(terms) => {
                for term in terms.iter_mut() {
                    term.factors.sort_by_key(|&item| (self.ready(item), item));
                }
                terms.sort_by_key(|term| term.factors.iter().map(|&item| (self.ready(item), item)).max());
            }
        }
        if let Some(&number) = self.numbers.get(&node) {
            return number;
        }
        let items = match &node {
            Node::Product(factors) => factors.clone(),
            Node::Sum(terms) => terms.iter().flat_map(|term| term.factors.iter().copied()).collect(),
        };
        self.ready.push(items.into_iter().map(|item| self.ready(item)).max().unwrap_or(0));
        self.changed.push(false);
        self.nodes.push(node.clone());
        self.numbers.insert(node, self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    /// The step after which an item can be computed.
    pub(super) fn ready(&self, item: Item) -> usize {
        match item {
            Item::Value(value) => self.steps.get(value.index()).copied().unwrap_or(0),
            Item::Node(node) => self.ready[node],
        }
    }

    /// Whether a rule was applied.
    pub(super) fn has_changed(&self) -> bool {
        self.changed.contains(&true)
    }
}
