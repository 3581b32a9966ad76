//! The predicates of an abstraction, and what its abstract states are as sets of states.

use rustc_hash::FxHashSet;
use surefoot_model::enumerate::narrow;
use surefoot_model::expr::{Enclosure, Truth};
use surefoot_model::{ExprId, Inequality, PointValue, Predicate, Program, VarId};
use surefoot_policy::certify::Fact;

use super::cell::Cell;
use super::statistics::{Described, PredicateCounts, Source};
use crate::symbolic::{Problem, StateBox, Stop, cut, middle};

/// A set of predicates, which can grow.
pub struct Predicates<'p> {
    problem: &'p Problem,
    list: Vec<Entry>,
    known: FxHashSet<Predicate>,
    slots: Vec<PointValue>,
}

struct Entry {
    predicate: Prepared,
    source: Source,
}

enum Prepared {
    Linear(Inequality),
    Condition(ExprId, Program),
}

/// The states of an abstract state: those of a box in which facts hold and conditions have values.
#[derive(Debug, Clone)]
pub struct Region {
    /// A box around them.
    pub states: StateBox,
    /// The laws, and facts of predicates over several variables.
    pub facts: Vec<Fact>,
}

impl<'p> Predicates<'p> {
    /// No predicates but those that tell locations of automata apart: abstract states have the same locations.
    pub fn of_locations(problem: &'p Problem) -> Predicates<'p> {
        let mut predicates =
            Predicates { problem, list: Vec::new(), known: FxHashSet::default(), slots: Vec::new() };
        for (index, variable) in problem.task.system.variables.iter().enumerate() {
            if !variable.value_names.is_empty() {
                let StateBox { lower, upper } = &problem.domain;
                for location in lower[index] + 1..=upper[index] {
                    let location = Inequality::bound(VarId(index as u32), location.into(), lower, upper);
                    predicates.add(Predicate::Linear(location.expect("within the domain")), Source::Location);
                }
            }
        }
        predicates
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Adds a predicate; false if it is there already.
    pub fn add(&mut self, predicate: Predicate, source: Source) -> bool {
        if !self.known.insert(predicate.clone()) {
            return false;
        }
        let predicate = match predicate {
            Predicate::Linear(inequality) => Prepared::Linear(inequality),
            Predicate::Condition(condition) => {
                let program = Program::new(&self.problem.task.system.exprs, &[condition]);
                Prepared::Condition(condition, program)
            }
        };
        self.list.push(Entry { predicate, source });
        true
    }

    /// Whether `variable ≥ bound` is one of them, or the same in all states.
    pub fn has_bound(&self, variable: VarId, bound: i64) -> bool {
        let StateBox { lower, upper } = &self.problem.domain;
        Inequality::bound(variable, bound, lower, upper)
            .is_none_or(|inequality| self.known.contains(&Predicate::Linear(inequality)))
    }

    /// A predicate.
    pub fn get(&self, index: usize) -> Predicate {
        match &self.list[index].predicate {
            Prepared::Linear(inequality) => Predicate::Linear(inequality.clone()),
            Prepared::Condition(condition, _) => Predicate::Condition(*condition),
        }
    }

    /// All that are counted, as text.
    pub fn describe(&self) -> Vec<Described> {
        let system = &self.problem.task.system;
        let counted = self.list.iter().filter(|entry| entry.source != Source::Location);
        let describe = |Entry { predicate, source }: &Entry| Described {
            text: match predicate {
                Prepared::Linear(inequality) => inequality.display(&system.variables),
                Prepared::Condition(condition, _) => system.exprs.display(*condition, &system.variables),
            },
            source: *source,
        };
        counted.map(describe).collect()
    }

    /// How many there are, by source.
    pub fn counts(&self) -> PredicateCounts {
        PredicateCounts::of(self.list.iter().map(|entry| entry.source))
    }

    /// The abstract state of a state.
    pub fn cell(&mut self, state: &[i32]) -> Cell {
        let slots = &mut self.slots;
        Cell::of_values(self.list.iter().map(|entry| match &entry.predicate {
            Prepared::Linear(inequality) => inequality.holds(state),
            Prepared::Condition(_, program) => program.holds(state, slots) == Ok(true),
        }))
    }

    /// A box around an abstract state, and facts that hold in it.
    pub fn region(&self, cell: &Cell) -> Region {
        self.region_by(cell, self.list.len())
    }

    /// The same, going by the first predicates alone.
    fn region_by(&self, cell: &Cell, count: usize) -> Region {
        let mut states = self.problem.domain.clone();
        let mut facts = self.problem.facts.clone();
        for (index, entry) in self.list[..count].iter().enumerate() {
            let value = cell.value(index);
            match &entry.predicate {
                Prepared::Linear(inequality) => {
                    let has_states = inequality.narrow(value, &mut states.lower, &mut states.upper);
                    debug_assert!(has_states, "abstract states have states");
                    if inequality.as_bound().is_none() {
                        facts.push(fact(inequality, value));
                    }
                }
                Prepared::Condition(condition, _) if value => {
                    let pool = &self.problem.task.system.exprs;
                    if let Some((lower, upper)) = narrow(pool, *condition, &states.lower, &states.upper) {
                        states = StateBox { lower, upper };
                    }
                }
                Prepared::Condition(..) => {}
            }
        }
        let states = self.problem.lawful(states).expect("abstract states have states that obey the laws");
        Region { states, facts }
    }

    /// The abstract state that an abstract state of the first predicates is now, if further ones tell none of its states apart, as far as bounds tell.
    pub fn extend(&self, cell: &Cell, count: usize) -> Option<Cell> {
        let StateBox { lower, upper } = self.region_by(cell, count).states;
        let mut slots = Vec::new();
        let value = |entry: &Entry| {
            let truth = match &entry.predicate {
                Prepared::Linear(inequality) => inequality.over_box(&lower, &upper),
                Prepared::Condition(_, program) => program.over_box(&lower, &upper, &mut slots).truth(),
            };
            match truth {
                Truth::True => Some(true),
                Truth::False => Some(false),
                Truth::Unknown => None,
            }
        };
        let values: Vec<bool> = self.list[count..].iter().map(value).collect::<Option<_>>()?;
        Some(cell.extended(count, &values))
    }

    /// The same without conditions: disjoint regions that together hold exactly the states of the abstract state. There may be many: `look_around` is told how many
    /// there are now and then.
    pub fn exact_regions(
        &self,
        cell: &Cell,
        mut look_around: impl FnMut(usize) -> Result<(), Stop>,
    ) -> Result<Vec<Region>, Stop> {
        let region = self.region(cell);
        let conditions: Vec<(&Program, Truth)> = self
            .list
            .iter()
            .enumerate()
            .filter_map(|(index, entry)| match &entry.predicate {
                Prepared::Linear(_) => None,
                Prepared::Condition(_, program) => {
                    Some((program, if cell.value(index) { Truth::True } else { Truth::False }))
                }
            })
            .collect();
        let mut regions = Vec::new();
        let mut parts = vec![region.states];
        let mut slots: Vec<Enclosure> = Vec::new();
        let mut points = Vec::new();
        while let Some(part) = parts.pop() {
            look_around(regions.len())?;
            let truth = |(program, _): &(&Program, Truth), slots: &mut Vec<Enclosure>| {
                program.over_box(&part.lower, &part.upper, slots).truth()
            };
            let (open, decided): (Vec<_>, Vec<_>) = conditions
                .iter()
                .map(|condition| (condition, truth(condition, &mut slots)))
                .partition(|(_, truth)| *truth == Truth::Unknown);
            if decided.iter().any(|((_, value), truth)| truth != value) {
                continue;
            }
            let variables = open.iter().flat_map(|((program, _), _)| program.variables());
            let width = |index: &usize| part.upper[*index].abs_diff(part.lower[*index]);
            match variables.map(VarId::index).max_by_key(width) {
                None => regions.push(Region { states: part, facts: region.facts.clone() }),
                Some(index) if width(&index) == 0 => {
                    // All variables of the open conditions have their values: any state of the part tells. What is undefined is false.
                    let is_inside = |&((program, value), _): &(&(&Program, Truth), Truth)| {
                        (program.holds(&part.lower, &mut points) == Ok(true)) == (*value == Truth::True)
                    };
                    if open.iter().all(is_inside) {
                        regions.push(Region { states: part, facts: region.facts.clone() });
                    }
                }
                Some(index) => {
                    let (_, low, high) = cut(&part, index, middle(part.lower[index], part.upper[index]));
                    parts.extend([high, low]);
                }
            }
        }
        Ok(regions)
    }
}

/// That an inequality has a value.
fn fact(inequality: &Inequality, value: bool) -> Fact {
    let sign = if value { -1 } else { 1 };
    let terms = inequality.terms().iter().map(|&(v, factor)| (v, sign * factor)).collect();
    let at_most = if value { -inequality.at_least() } else { inequality.at_least() - 1 };
    Fact { terms, at_most }
}
