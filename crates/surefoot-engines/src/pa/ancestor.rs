//! What was learnt of abstract states with fewer predicates. It holds for the abstract states that they have become: these have fewer states, so what the
//! policy never does in the larger one, it does not do in them.
//!
//! Only what is *not* there is inherited: bad states, commands that are taken, transitions. What is there is found again by executing states.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::abstraction::Expansion;
use super::cell::Cell;

/// Bytes that ancestors may take; the oldest are given up first.
const BYTES: u64 = 64 << 20;

/// Abstract states of earlier iterations, none of which holds a bad state.
#[derive(Default)]
pub struct Ancestors {
    /// The oldest first.
    generations: Vec<Generation>,
}

/// Abstract states of one iteration.
struct Generation {
    cells: FxHashMap<Cell, Rc<Ancestor>>,
    /// How many predicates there were.
    count: usize,
    bytes: u64,
}

/// An abstract state with fewer predicates, in which no state is bad.
#[derive(Debug)]
pub struct Ancestor {
    count: usize,
    /// What it leads to, if that is known.
    leads: Option<Leads>,
}

/// Where an abstract state leads.
#[derive(Debug)]
struct Leads {
    targets: FxHashSet<Cell>,
    never: Vec<u32>,
    has_error: bool,
}

impl Ancestor {
    /// An abstract state of the first predicates, so many of them. None of its states is bad.
    pub fn new(count: usize, expansion: Option<&Expansion>) -> Ancestor {
        let leads = expansion.map(|expansion| Leads {
            targets: expansion.successors.keys().cloned().collect(),
            never: expansion.never.clone(),
            has_error: expansion.error.is_some(),
        });
        Ancestor { count, leads }
    }

    /// Whether the policy takes a command in none of its states.
    pub fn never_takes(&self, command: usize) -> bool {
        self.leads.as_ref().is_some_and(|leads| leads.never.binary_search(&(command as u32)).is_ok())
    }

    /// Whether the policy may lead from there to an abstract state of now.
    pub fn may_lead_to(&self, target: &Cell) -> bool {
        self.leads.as_ref().is_none_or(|leads| leads.targets.contains(&target.truncated(self.count)))
    }

    /// Whether a step of the policy may be an error of the model.
    pub fn may_have_error(&self) -> bool {
        self.leads.as_ref().is_none_or(|leads| leads.has_error)
    }

    fn memory(&self) -> u64 {
        let leads = self.leads.as_ref().map_or(0, |leads| {
            leads.targets.iter().map(|target| 2 * target.memory()).sum::<u64>() + 4 * leads.never.len() as u64
        });
        size_of::<Ancestor>() as u64 + leads
    }
}

impl Ancestors {
    /// Adds the abstract states of an iteration with so many predicates.
    pub fn add(&mut self, count: usize, cells: FxHashMap<Cell, Rc<Ancestor>>) {
        let bytes = cells.iter().map(|(cell, ancestor)| 2 * cell.memory() + ancestor.memory()).sum();
        self.generations.push(Generation { cells, count, bytes });
        while self.generations.len() > 1 && self.memory() > BYTES {
            self.generations.remove(0);
        }
    }

    /// The youngest known one of an abstract state.
    pub fn of(&self, cell: &Cell) -> Option<Rc<Ancestor>> {
        let find = |generation: &Generation| generation.cells.get(&cell.truncated(generation.count)).cloned();
        self.generations.iter().rev().find_map(find)
    }

    /// Bytes, roughly.
    pub fn memory(&self) -> u64 {
        self.generations.iter().map(|generation| generation.bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(values: &[bool]) -> Cell {
        Cell::of_values(values.iter().copied())
    }

    fn expansion(never: &[u32]) -> Expansion {
        Expansion { never: never.to_vec(), ..Expansion::default() }
    }

    #[test]
    fn the_youngest_ancestor_counts() {
        let mut ancestors = Ancestors::default();
        assert!(ancestors.of(&cell(&[true, false])).is_none());
        let generation = |count, values: &[bool], never: &[u32]| {
            let ancestor = Ancestor::new(count, Some(&expansion(never)));
            FxHashMap::from_iter([(cell(values), Rc::new(ancestor))])
        };
        ancestors.add(1, generation(1, &[true], &[3]));
        ancestors.add(2, generation(2, &[true, false], &[3, 5]));
        let never = |values: &[bool], command| {
            ancestors.of(&cell(values)).map(|ancestor| ancestor.never_takes(command))
        };
        assert_eq!(never(&[true, false, true], 5), Some(true));
        assert_eq!(never(&[true, true, true], 5), Some(false));
        assert_eq!(never(&[true, true, true], 3), Some(true));
        assert_eq!(never(&[false, false, true], 3), None);
        assert!(ancestors.memory() > 0);
    }

    /// An abstract state that is known to be good, but was not expanded, excludes no step.
    #[test]
    fn nothing_is_excluded_where_nothing_was_looked_for() {
        let ancestor = Ancestor::new(1, None);
        assert!(ancestor.may_lead_to(&cell(&[true, true])) && ancestor.may_have_error());
        assert!(!ancestor.never_takes(0));
        let leads_nowhere = Ancestor::new(1, Some(&expansion(&[0])));
        assert!(!leads_nowhere.may_lead_to(&cell(&[true, true])) && !leads_nowhere.may_have_error());
    }
}
