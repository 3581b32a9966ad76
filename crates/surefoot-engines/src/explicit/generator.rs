//! Which commands are enabled in a packed state: a decision tree per group of commands.
//!
//! As in the successor generators of planners: each inner node looks at one variable and goes to the commands that allow its value, and
//! besides to the commands that do not test it. Commands meet only the tests that they have, and most are never looked at.

use rustc_hash::FxHashMap;
use surefoot_model::pack::Field;

use super::condition::{Condition, MAX_TABLE, Test};

/// No node.
const NONE: u32 = u32::MAX;

/// A decision tree over the guards of some commands.
#[derive(Debug)]
pub struct Generator {
    nodes: Vec<Node>,
    root: u32,
}

#[derive(Debug)]
enum Node {
    Switch {
        field: Field,
        /// By offset of the field.
        children: Box<[u32]>,
        /// Commands that do not test this variable.
        otherwise: u32,
    },
    Leaf(Box<[Candidate]>),
}

/// A command at a leaf, with the tests that are still to be made.
#[derive(Debug, Clone)]
struct Candidate {
    command: u32,
    tests: Vec<Test>,
}

impl Generator {
    /// A tree for the commands with these numbers and guards.
    pub fn new<'g>(guards: impl Iterator<Item = (u32, &'g Condition)>) -> Self {
        let candidates: Vec<Candidate> =
            guards.map(|(command, guard)| Candidate { command, tests: guard.tests.clone() }).collect();
        let budget = 1024 + 16 * candidates.len();
        let mut builder = Builder { nodes: Vec::new(), budget };
        let root = builder.build(candidates);
        Generator { nodes: builder.nodes, root }
    }

    /// Calls `found` with each command whose tests hold. General parts of guards are left to the caller.
    #[inline]
    pub fn visit(&self, packed: &[u64], found: &mut impl FnMut(u32)) {
        self.visit_node(self.root, packed, found);
    }

    fn visit_node(&self, mut node: u32, packed: &[u64], found: &mut impl FnMut(u32)) {
        while node != NONE {
            match &self.nodes[node as usize] {
                Node::Switch { field, children, otherwise } => {
                    let child = children[field.offset(packed) as usize];
                    if *otherwise == NONE {
                        node = child;
                    } else {
                        self.visit_node(child, packed, found);
                        node = *otherwise;
                    }
                }
                Node::Leaf(candidates) => {
                    for candidate in candidates {
                        if candidate.tests.iter().all(|test| test.holds(packed)) {
                            found(candidate.command);
                        }
                    }
                    return;
                }
            }
        }
    }
}

struct Builder {
    nodes: Vec<Node>,
    /// How many more nodes may be made; then leaves make the remaining tests.
    budget: usize,
}

impl Builder {
    fn build(&mut self, candidates: Vec<Candidate>) -> u32 {
        if candidates.is_empty() {
            return NONE;
        }
        let Some(variable) = most_tested(&candidates).filter(|_| self.budget > 0) else {
            return self.push(Node::Leaf(candidates.into()));
        };
        let (tested, untested): (Vec<_>, Vec<_>) =
            candidates.into_iter().partition(|c| c.tests.iter().any(|t| t.variable == variable));
        let mut tests = Vec::new();
        let mut rest = Vec::new();
        for mut candidate in tested {
            let position = candidate.tests.iter().position(|t| t.variable == variable).expect("it tests it");
            tests.push(candidate.tests.swap_remove(position));
            rest.push(candidate);
        }
        let mut built: FxHashMap<Vec<usize>, u32> = FxHashMap::default();
        let children = (0..tests[0].size() as u64).map(|offset| {
            let allowed: Vec<usize> = (0..tests.len()).filter(|&i| tests[i].allows(offset)).collect();
            if let Some(&node) = built.get(&allowed) {
                return node;
            }
            let node = self.build(allowed.iter().map(|&i| rest[i].clone()).collect());
            built.insert(allowed, node);
            node
        });
        let children = children.collect();
        let otherwise = self.build(untested);
        self.push(Node::Switch { field: tests[0].field, children, otherwise })
    }

    fn push(&mut self, node: Node) -> u32 {
        self.budget = self.budget.saturating_sub(1);
        self.nodes.push(node);
        self.nodes.len() as u32 - 1
    }
}

/// The variable that most candidates test; the first of several.
fn most_tested(candidates: &[Candidate]) -> Option<surefoot_model::VarId> {
    let mut counts: FxHashMap<surefoot_model::VarId, usize> = FxHashMap::default();
    for test in candidates.iter().flat_map(|c| &c.tests) {
        debug_assert!(test.size() <= MAX_TABLE, "tests are tabulated");
        *counts.entry(test.variable).or_default() += 1;
    }
    counts.into_iter().max_by_key(|&(variable, count)| (count, std::cmp::Reverse(variable))).map(|(v, _)| v)
}
