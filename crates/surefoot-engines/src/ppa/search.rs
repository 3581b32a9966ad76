//! The search for a way to a bad abstract state.
//!
//! Breadth first by default: the path that is found is a shortest one, which has the fewest places where it can be spurious. What was found with fewer predicates is kept where the new
//! ones tell nothing apart.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use surefoot_solve::Step;

use super::Run;
use super::coarse::Coarse;
use super::options::Search;
use crate::pa::abstraction::{Expansion, Witness};
use crate::pa::ancestor::Ancestor;
use crate::pa::cell::Cell;
use crate::symbolic::Stop;

/// What is known of abstract states, whether or not they are reachable.
#[derive(Default)]
pub struct Known {
    cells: FxHashMap<Cell, Facts>,
    bytes: u64,
}

/// What is known of an abstract state.
#[derive(Default)]
struct Facts {
    end: Option<End>,
    expansion: Option<Expansion>,
}

/// Whether an abstract state is bad by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// None of its states is.
    Good,
    /// It holds an unsafe state.
    Unsafe,
    /// It holds a state at which the model is wrong, or one in which a step of the policy is.
    Error,
}

/// A way to a bad abstract state.
#[derive(Debug)]
pub struct AbstractPath {
    /// The steps.
    pub steps: Vec<Step>,
    /// For each step, a state in which the policy takes it between the abstract states.
    pub witnesses: Vec<Vec<i32>>,
    /// Why the last abstract state is bad.
    pub end: End,
}

impl Known {
    /// Bytes, roughly.
    pub fn memory(&self) -> u64 {
        self.bytes
    }

    /// How far bad abstract states are, with so many predicates.
    fn distances(&self, count: usize) -> Coarse {
        let is_bad = |facts: &Facts| {
            facts.end.is_some_and(|end| end != End::Good)
                || facts.expansion.as_ref().is_some_and(|expansion| expansion.error.is_some())
        };
        let bad = self.cells.iter().filter(|(_, facts)| is_bad(facts)).map(|(cell, _)| cell);
        let transitions = self.cells.iter().flat_map(|(cell, facts)| {
            let expansion = facts.expansion.iter();
            expansion.flat_map(move |expansion| expansion.successors.keys().map(move |target| (cell, target)))
        });
        Coarse::new(count, bad, transitions)
    }

    fn count(&mut self, states: usize, expansion: &Expansion) {
        let witness = |(cell, witness): (&Cell, &Witness)| {
            cell.memory() + (size_of::<Witness>() + 8 * witness.from.len()) as u64
        };
        self.bytes += expansion.successors.iter().map(witness).sum::<u64>() + 8 * states as u64;
    }
}

impl Run<'_> {
    /// A shortest way to a bad abstract state; all reachable abstract states if there is none.
    pub(super) fn find_path(&mut self) -> Result<Result<AbstractPath, Vec<Cell>>, Stop> {
        self.search_bytes = 0;
        let starts = self.start_cells()?;
        self.statistics.start_states = starts.len() as u64;
        let mut parents: Vec<Option<(usize, Step)>> = vec![None; starts.len()];
        let mut seen: FxHashSet<Cell> = starts.iter().cloned().collect();
        let mut cells = starts;
        let mut queue = BinaryHeap::new();
        for (number, cell) in cells.iter().enumerate() {
            queue.push(self.priority(cell, number));
        }
        self.statistics.transitions = 0;
        self.statistics.expanded = 0;
        while let Some(Reverse((_, _, next))) = queue.pop() {
            self.statistics.states = cells.len() as u64;
            self.look_around()?;
            let cell = cells[next].clone();
            let mut end = self.end(&cell)?;
            let mut found = Vec::new();
            if end == End::Good {
                let expansion = self.expansion(&cell)?;
                if expansion.error.is_some() {
                    end = End::Error;
                }
                let successors = expansion.successors.iter();
                found.extend(successors.map(|(target, witness)| (target.clone(), witness.step)));
            }
            if end != End::Good {
                let (mut steps, mut witnesses) = (Vec::new(), Vec::new());
                let mut at = next;
                while let Some((parent, step)) = parents[at] {
                    let expansion = self.known.cells[&cells[parent]].expansion.as_ref();
                    let witness = &expansion.expect("it was expanded").successors[&cells[at]];
                    witnesses.push(witness.from.clone());
                    steps.push(step);
                    at = parent;
                }
                steps.reverse();
                witnesses.reverse();
                return Ok(Ok(AbstractPath { steps, witnesses, end }));
            }
            self.statistics.transitions += found.len() as u64;
            for (target, step) in found {
                if seen.insert(target.clone()) {
                    self.search_bytes += 3 * target.memory() + 64;
                    queue.push(self.priority(&target, cells.len()));
                    cells.push(target);
                    parents.push(Some((next, step)));
                }
            }
            self.statistics.expanded += 1;
        }
        Ok(Err(cells))
    }

    /// When an abstract state is expanded, the least first: by its distance, by chance or in order, and its number.
    fn priority(&mut self, cell: &Cell, number: usize) -> Reverse<(u32, u64, usize)> {
        match self.options.search {
            Search::Breadth => Reverse((0, 0, number)),
            Search::Coarse if self.statistics.iterations.is_empty() => self.by_hamming(cell, number),
            Search::Coarse => {
                let distance = self.coarse.of(cell).unwrap_or(u32::MAX);
                Reverse((distance, self.random.below(u64::MAX), number))
            }
            Search::Hamming => self.by_hamming(cell, number),
        }
    }

    fn by_hamming(&mut self, cell: &Cell, number: usize) -> Reverse<(u32, u64, usize)> {
        let states = self.abstraction.predicates.region(cell).states;
        Reverse((self.distance.of(&states), self.random.below(u64::MAX), number))
    }

    /// The abstract states that hold start states.
    fn start_cells(&mut self) -> Result<Vec<Cell>, Stop> {
        let mut cells = Vec::new();
        let mut seen = FxHashSet::default();
        let listed = self.abstraction.states.list_nothing();
        let given = self.problem.task.property.start.listed.len();
        let mut next = 0;
        loop {
            self.look_around()?;
            // One start state of each abstract state was found with the predicates of before.
            let state = if next < given {
                self.problem.task.property.start.listed[next].clone()
            } else if let Some(state) = self.starts.get(next - given) {
                state.clone()
            } else if let Some(state) = self.abstraction.states.start(listed)? {
                self.starts.push(state.clone());
                state
            } else {
                break;
            };
            next += 1;
            let cell = self.abstraction.predicates.cell(&state);
            if seen.insert(cell.clone()) {
                self.search_bytes += 3 * cell.memory() + 64 + 4 * state.len() as u64;
                self.abstraction.plant(&cell, &state);
                self.abstraction.states.list(listed, &cell);
                cells.push(cell);
            }
        }
        self.abstraction.states.forget(listed);
        Ok(cells)
    }

    fn end(&mut self, cell: &Cell) -> Result<End, Stop> {
        if let Some(end) = self.known.cells.get(cell).and_then(|facts| facts.end) {
            return Ok(end);
        }
        let end = if self.abstraction.ancestors.of(cell).is_some() {
            End::Good
        } else if self.abstraction.states.unsafe_state(cell)?.is_some() {
            End::Unsafe
        } else if self.abstraction.states.undefined(cell)?.is_some() {
            End::Error
        } else {
            End::Good
        };
        self.known.bytes += cell.memory() + size_of::<Facts>() as u64;
        self.known.cells.entry(cell.clone()).or_default().end = Some(end);
        Ok(end)
    }

    fn expansion(&mut self, cell: &Cell) -> Result<&Expansion, Stop> {
        let is_known = self.known.cells.get(cell).is_some_and(|facts| facts.expansion.is_some());
        if !is_known {
            let expansion = self.abstraction.expand(cell)?;
            self.known.count(self.problem.domain.lower.len(), &expansion);
            self.known.cells.entry(cell.clone()).or_default().expansion = Some(expansion);
            self.statistics.computed += 1;
        }
        let facts = &self.known.cells[cell];
        Ok(facts.expansion.as_ref().expect("it was computed"))
    }

    /// Takes over what is known, where the predicates from `first` on, which are new, tell nothing apart. States that were found become seeds.
    pub(super) fn carry_over(&mut self, first: usize) {
        let old = std::mem::take(&mut self.known);
        if self.options.search == Search::Coarse {
            self.coarse = old.distances(first);
        }
        let mut extended: FxHashMap<Cell, Option<Cell>> = FxHashMap::default();
        let predicates = &self.abstraction.predicates;
        let mut extend = |cell: &Cell| -> Option<Cell> {
            if let Some(known) = extended.get(cell) {
                return known.clone();
            }
            let result = predicates.extend(cell, first);
            extended.insert(cell.clone(), result.clone());
            result
        };
        let mut seeds = Vec::new();
        let mut known = Known::default();
        let mut ancestors: FxHashMap<Cell, Rc<Ancestor>> = FxHashMap::default();
        for (cell, Facts { end, expansion }) in old.cells {
            if end == Some(End::Good) {
                ancestors.insert(cell.clone(), Rc::new(Ancestor::new(first, expansion.as_ref())));
            }
            let Some(new) = extend(&cell) else {
                seeds.extend(expansion.into_iter().flat_map(|expansion| expansion.successors.into_values()));
                continue;
            };
            let expansion = expansion.and_then(|Expansion { successors, error, never }| {
                let targets: Vec<Option<Cell>> = successors.keys().map(&mut extend).collect();
                if targets.iter().any(Option::is_none) {
                    seeds.extend(successors.into_values());
                    return None;
                }
                let targets = targets.into_iter().flatten();
                let successors: BTreeMap<Cell, Witness> = targets.zip(successors.into_values()).collect();
                ancestors.remove(&cell);
                Some(Expansion { successors, error, never })
            });
            if let Some(expansion) = &expansion {
                known.count(self.problem.domain.lower.len(), expansion);
            }
            known.cells.insert(new, Facts { end, expansion });
        }
        self.known = known;
        self.abstraction.ancestors.add(first, ancestors);
        for Witness { from, to, .. } in seeds {
            for state in [from, to] {
                let cell = self.abstraction.predicates.cell(&state);
                self.abstraction.plant(&cell, &state);
            }
        }
    }
}
