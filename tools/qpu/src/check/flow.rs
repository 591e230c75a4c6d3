//! The control-flow graph of a program.
//!
//! A branch takes effect after three more instructions, a program end after two. The same instruction can therefore have different successors, depending on
//! which branch or end is pending when it is executed. A [`Node`] of the graph is an instruction together with what is pending.

use alloc::vec;
use alloc::vec::Vec;

use super::facts::Facts;

/// A node of the graph: an instruction with what is pending when it is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node(u32);

/// A branch or program end that has not taken effect yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pending {
    /// Nothing.
    None,
    /// The branch at a word; this is its delay slot 1, 2 or 3.
    Branch(usize, u32),
    /// The end signalled at a word; this is its delay slot 1 or 2.
    End(usize, u32),
}

/// Successors of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Successors {
    nodes: [Option<Node>; 2],
    /// Execution runs past the end of the program.
    pub falls_off: bool,
}

impl Successors {
    /// The nodes.
    pub fn iter(&self) -> impl Iterator<Item = Node> + use<> {
        self.nodes.into_iter().flatten()
    }
}

/// The control-flow graph of a program.
///
/// Nodes are numbered: one for each word with nothing pending, then three for each branch, then two for each signal that ends the program.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Words of the program.
    length: usize,
    /// Words that are branches, and words that end the program, in order.
    branches: Vec<u32>,
    ends: Vec<u32>,
    /// Indexed by node.
    successors: Vec<Successors>,
    /// Reachable nodes, in order.
    reached: Vec<Node>,
    /// Entry points: the first instruction, those that were given, and the instructions after calls.
    entries: Vec<Node>,
}

impl Flow {
    /// Builds the graph.
    pub fn of(facts: &[Facts]) -> Self {
        Self::with_entries(facts, &[])
    }

    /// Builds the graph of a program that can also be entered at further words, such as the targets of branches to computed addresses.
    pub fn with_entries(facts: &[Facts], entries: &[usize]) -> Self {
        let length = facts.len();
        let (mut branches, mut ends) = (Vec::new(), Vec::new());
        for (at, fact) in facts.iter().enumerate() {
            if fact.branch.is_some() {
                branches.push(at as u32);
            }
            if fact.signal().ends_program() {
                ends.push(at as u32);
            }
        }
        let nodes = length + branches.len() * 3 + ends.len() * 2;
        let mut flow = Self {
            length,
            branches,
            ends,
            successors: vec![Successors::default(); nodes],
            reached: Vec::with_capacity(nodes),
            entries: Vec::new(),
        };
        let mut reached = vec![false; nodes];
        let mut work = Vec::new();
        // Data before the code is not executed.
        if let Some(first) = facts.iter().position(|facts| !facts.data) {
            flow.entries.push(Node(first as u32));
            work.push(Node(first as u32));
        }
        for entry in entries.iter().filter(|&&entry| entry < length).map(|&entry| Node(entry as u32)) {
            if !flow.entries.contains(&entry) {
                flow.entries.push(entry);
                work.push(entry);
            }
        }
        while let Some(node) = work.pop() {
            if core::mem::replace(&mut reached[node.0 as usize], true) {
                continue;
            }
            let (successors, call) = flow.find(facts, node);
            flow.successors[node.0 as usize] = successors;
            work.extend(successors.iter());
            if let Some(back) = call.filter(|back| !flow.entries.contains(back)) {
                flow.entries.push(back);
                work.push(back);
            }
        }
        flow.reached.extend((0..nodes as u32).map(Node).filter(|node| reached[node.0 as usize]));
        flow
    }

    /// The node of the first delay slot of a branch or end.
    fn first_slot(&self, word: usize, is_branch: bool) -> Node {
        let rank = |words: &[u32]| words.partition_point(|&other| (other as usize) < word);
        Node(match is_branch {
            true => self.length + rank(&self.branches) * 3,
            false => self.length + self.branches.len() * 3 + rank(&self.ends) * 2,
        } as u32)
    }

    /// The word of a node.
    #[inline]
    pub fn at(&self, node: Node) -> usize {
        match self.pending(node) {
            Pending::None => node.0 as usize,
            Pending::Branch(at, slot) | Pending::End(at, slot) => at + slot as usize,
        }
    }

    /// What is pending at a node.
    #[inline]
    pub fn pending(&self, node: Node) -> Pending {
        let Some(slot) = (node.0 as usize).checked_sub(self.length) else { return Pending::None };
        match slot.checked_sub(self.branches.len() * 3) {
            None => Pending::Branch(self.branches[slot / 3] as usize, (slot % 3 + 1) as u32),
            Some(slot) => Pending::End(self.ends[slot / 2] as usize, (slot % 2 + 1) as u32),
        }
    }

    /// Successors, and the node that a call returns to.
    fn find(&self, facts: &[Facts], node: Node) -> (Successors, Option<Node>) {
        let at = self.at(node);
        let fact = &facts[at];
        // The next delay slot is the next node.
        let next_slot = Node(node.0 + 1);
        let next = match self.pending(node) {
            Pending::End(_, 2) => return (Successors::default(), None),
            Pending::End(..) => next_slot,
            _ if fact.signal().ends_program() => self.first_slot(at, false),
            Pending::None if fact.branch.is_some() => self.first_slot(at, true),
            Pending::None => Node(at as u32 + 1),
            Pending::Branch(_, 1..=2) => next_slot,
            Pending::Branch(branch, _) => return self.behind_slots(facts, branch),
        };
        let found = (at + 1 < self.length).then_some(next);
        (Successors { nodes: [found, None], falls_off: found.is_none() }, None)
    }

    /// Successors of the last delay slot of a branch, and the node that a call returns to.
    fn behind_slots(&self, facts: &[Facts], branch: usize) -> (Successors, Option<Node>) {
        let Some(what) = facts[branch].branch else { return (Successors::default(), None) };
        let (last, behind) = (branch + 3, branch + 4);
        // A second branch in the last delay slot is pending afterwards. Its delay slots are taken to be the instructions that follow it in memory; the case
        // that they are at the target of the first branch is not followed.
        let is_second = facts[last].branch.is_some();
        let node_behind = if is_second { self.first_slot(last, true) } else { Node(behind as u32) };
        let found_behind = (behind < self.length).then_some(node_behind);
        let mut successors = Successors::default();
        if let (Some(distance), false) = (what.distance, is_second) {
            let target = usize::try_from((behind as i64).saturating_add(distance)).ok().filter(|&at| at < self.length);
            successors.nodes[0] = target.map(|at| Node(at as u32));
            successors.falls_off |= target.is_none();
        }
        if !what.always {
            successors.nodes[1] = found_behind;
            successors.falls_off |= found_behind.is_none();
        }
        let call = found_behind.filter(|_| what.links && what.always && !is_second);
        (successors, call)
    }

    /// All reachable nodes.
    pub fn nodes(&self) -> impl Iterator<Item = Node> + '_ {
        self.reached.iter().copied()
    }

    /// Index of a node in tables.
    pub fn index(&self, node: Node) -> usize {
        node.0 as usize
    }

    /// Size of a table of nodes.
    pub fn table_len(&self) -> usize {
        self.successors.len()
    }

    /// Successors of a node.
    pub fn successors(&self, node: Node) -> Successors {
        self.successors[node.0 as usize]
    }

    /// Entry points: the first is the start of the program, the others are returns from calls and what was given as such.
    pub fn entries(&self) -> &[Node] {
        &self.entries
    }

    /// Calls `visit` for every node that can be executed within `steps` instructions after `node`, with its distance. A path is not followed further if
    /// `visit` returns `false`.
    pub fn ahead(&self, node: Node, steps: u32, visit: &mut impl FnMut(Node, u32) -> bool) {
        self.ahead_from(node, 1, steps, visit);
    }

    fn ahead_from(&self, node: Node, distance: u32, steps: u32, visit: &mut impl FnMut(Node, u32) -> bool) {
        if distance > steps {
            return;
        }
        for next in self.successors(node).iter() {
            if visit(next, distance) {
                self.ahead_from(next, distance + 1, steps, visit);
            }
        }
    }
}
