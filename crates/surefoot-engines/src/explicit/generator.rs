//! Which commands are enabled in a packed state: a decision tree per group of commands.
//!
//! As in the successor generators of planners: each inner node looks at one variable and goes to the commands that allow its value, and
//! besides to the commands that do not test it. Commands meet only the tests that they have, and most are never looked at.

use rustc_hash::FxHashMap;

use super::condition::{Condition, MAX_TABLE, Test};

/// A decision tree over the guards of some commands.
///
/// An inner node is a stretch of `code`: word and shift of the field, its mask, the reference of the commands that do not
/// test it, then one reference per offset. A reference is a position in `code`, a leaf, or [`NONE`].
#[derive(Debug)]
pub struct Generator {
    code: Vec<u32>,
    leaves: Vec<Box<[Candidate]>>,
    root: u32,
}

/// No node.
const NONE: u32 = u32::MAX;
/// Added to the number of a leaf.
const LEAF: u32 = 1 << 31;

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
        let mut builder = Builder { code: Vec::new(), leaves: Vec::new(), budget };
        let root = builder.build(candidates);
        Generator { code: builder.code, leaves: builder.leaves, root }
    }

    /// Calls `found` with each command whose tests hold. General parts of guards are left to the caller.
    #[inline]
    pub fn visit(&self, packed: &[u64], found: &mut impl FnMut(u32)) {
        self.visit_node(self.root, packed, found);
    }

    fn visit_node(&self, mut node: u32, packed: &[u64], found: &mut impl FnMut(u32)) {
        while node < LEAF {
            let [place, mask, otherwise] = self.code[node as usize..][..3] else {
                unreachable!("three numbers")
            };
            let offset = (packed[(place >> 6) as usize] >> (place & 63)) as u32 & mask;
            let child = self.code[node as usize + 3 + offset as usize];
            if otherwise == NONE {
                node = child;
            } else {
                if child != NONE {
                    self.visit_node(child, packed, found);
                }
                node = otherwise;
            }
        }
        if node != NONE {
            for candidate in &self.leaves[(node - LEAF) as usize] {
                if candidate.tests.iter().all(|test| test.holds(packed)) {
                    found(candidate.command);
                }
            }
        }
    }
}

struct Builder {
    code: Vec<u32>,
    leaves: Vec<Box<[Candidate]>>,
    /// How many more nodes may be made; then leaves make the remaining tests.
    budget: usize,
}

impl Builder {
    fn build(&mut self, candidates: Vec<Candidate>) -> u32 {
        if candidates.is_empty() {
            return NONE;
        }
        let Some(variable) = most_tested(&candidates).filter(|_| self.budget > 0) else {
            self.leaves.push(candidates.into());
            return LEAF + self.leaves.len() as u32 - 1;
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
        self.budget -= 1;
        let children = (0..tests[0].size() as u64).map(|offset| {
            let allowed: Vec<usize> = (0..tests.len()).filter(|&i| tests[i].allows(offset)).collect();
            if let Some(&node) = built.get(&allowed) {
                return node;
            }
            let node = self.build(allowed.iter().map(|&i| rest[i].clone()).collect());
            built.insert(allowed, node);
            node
        });
        let children: Vec<u32> = children.collect();
        let otherwise = self.build(untested);
        let node = self.code.len() as u32;
        let field = tests[0].field;
        self.code.extend([field.word << 6 | field.shift, field.mask as u32, otherwise]);
        self.code.extend(children);
        node
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
