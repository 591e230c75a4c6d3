//! Which instruction follows which.
//!
//! A branch takes effect after three more instructions, a program end after two. The same instruction can therefore have different successors,
//! depending on what is pending when it is reached: a [`Node`] is an instruction together with that.

use super::facts::Facts;

/// An instruction with what is pending when it is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node(u32);

/// What is pending.
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
    /// Execution leaves the program here.
    pub falls_off: bool,
}

impl Successors {
    /// The nodes.
    pub fn iter(&self) -> impl Iterator<Item = Node> + use<> {
        self.nodes.into_iter().flatten()
    }
}

/// The flow of a program.
#[derive(Clone, Debug)]
pub struct Flow {
    length: usize,
    successors: Vec<Successors>,
    reached: Vec<bool>,
    /// Places where execution starts: the first instruction, and those after calls.
    entries: Vec<Node>,
}

impl Flow {
    /// Finds all paths.
    pub fn of(facts: &[Facts]) -> Self {
        let length = facts.len();
        let mut flow = Self {
            length,
            successors: vec![Successors::default(); length * 6],
            reached: vec![false; length * 6],
            entries: Vec::new(),
        };
        let mut work = Vec::new();
        // Data before the code are no instructions.
        if let Some(first) = facts.iter().position(|facts| !facts.data) {
            flow.entries.push(Node(first as u32));
            work.push(Node(first as u32));
        }
        while let Some(node) = work.pop() {
            if std::mem::replace(&mut flow.reached[node.0 as usize], true) {
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
        flow
    }

    fn node(&self, at: usize, pending: Pending) -> Node {
        let length = self.length;
        Node(match pending {
            Pending::None => at,
            Pending::Branch(branch, slot) => length + branch * 3 + slot as usize - 1,
            Pending::End(end, slot) => length * 4 + end * 2 + slot as usize - 1,
        } as u32)
    }

    /// The word of a node.
    pub fn at(&self, node: Node) -> usize {
        match self.pending(node) {
            Pending::None => node.0 as usize,
            Pending::Branch(at, slot) | Pending::End(at, slot) => at + slot as usize,
        }
    }

    /// What is pending at a node.
    pub fn pending(&self, node: Node) -> Pending {
        let (index, length) = (node.0 as usize, self.length);
        if index < length {
            Pending::None
        } else if index < length * 4 {
            Pending::Branch((index - length) / 3, ((index - length) % 3 + 1) as u32)
        } else {
            Pending::End((index - length * 4) / 2, ((index - length * 4) % 2 + 1) as u32)
        }
    }

    /// Successors, and the node that a call made here comes back to.
    fn find(&self, facts: &[Facts], node: Node) -> (Successors, Option<Node>) {
        let at = self.at(node);
        let fact = &facts[at];
        let to = |target: i64, pending: Pending| {
            let inside = usize::try_from(target).ok().filter(|&at| at < facts.len());
            inside.map(|at| self.node(at, pending))
        };
        let next = at as i64 + 1;
        let single = |found: Option<Node>| Successors { nodes: [found, None], falls_off: found.is_none() };
        match self.pending(node) {
            Pending::End(_, 2) => (Successors::default(), None),
            Pending::End(end, _) => (single(to(next, Pending::End(end, 2))), None),
            _ if fact.signal().ends_program() => (single(to(next, Pending::End(at, 1))), None),
            Pending::None if fact.branch.is_some() => (single(to(next, Pending::Branch(at, 1))), None),
            Pending::None => (single(to(next, Pending::None)), None),
            Pending::Branch(branch, slot @ 1..=2) => (single(to(next, Pending::Branch(branch, slot + 1))), None),
            Pending::Branch(branch, _) => {
                // A second branch in the last delay slot becomes pending when the first takes effect.
                let second = fact.branch.is_some();
                let after = |target: i64| {
                    if second { None } else { to(target, Pending::None) }
                };
                let Some(what) = facts[branch].branch else { return (Successors::default(), None) };
                let behind = branch as i64 + 4;
                let mut successors = Successors::default();
                if let Some(distance) = what.distance {
                    successors.nodes[0] = after(behind.saturating_add(distance));
                    successors.falls_off |= successors.nodes[0].is_none() && !second;
                }
                if !what.always {
                    successors.nodes[1] = after(behind);
                    successors.falls_off |= successors.nodes[1].is_none() && !second;
                }
                let call = (what.links && what.always).then(|| after(behind)).flatten();
                (successors, call)
            }
        }
    }

    /// All nodes that are reached.
    pub fn nodes(&self) -> impl Iterator<Item = Node> + '_ {
        self.reached.iter().enumerate().filter(|(_, reached)| **reached).map(|(index, _)| Node(index as u32))
    }

    /// Number of a node, for tables.
    pub fn index(&self, node: Node) -> usize {
        node.0 as usize
    }

    /// Size of a table of nodes.
    pub fn table_len(&self) -> usize {
        self.reached.len()
    }

    /// Successors of a node.
    pub fn successors(&self, node: Node) -> Successors {
        self.successors[node.0 as usize]
    }

    /// Where execution starts: the first is the program's start, the others are returns from calls.
    pub fn entries(&self) -> &[Node] {
        &self.entries
    }

    /// Calls `visit` for everything that can be executed within `steps` instructions after `node`, with the distance; a path is left when `visit`
    /// answers `false`.
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
