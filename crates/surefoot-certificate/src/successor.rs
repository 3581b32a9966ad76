//! Obligation 4: the successors of a leaf's states, by commands that may be taken there, are in regions.
//!
//! For a part of a leaf and an outcome of a command, the values of the assignments are bounded. That gives a box which
//! contains all successors, the *image*. If the image lies in one region, all is well, whether the guard holds
//! everywhere or not. If not, a state of the part is evaluated, and the part is split where its image leaves the region
//! of that state's successor.

use crate::certificate::Fact;
use crate::check::{Checker, Obligation, Rejection, split};
use crate::expression::Expression;
use crate::part::{Cut, Part};
use crate::point::{Outcome, is_distribution};

const SUCCESSOR: Obligation = Obligation::Successor;

/// What keeps a part from being done.
enum Doubt {
    /// Probabilities, or the first one that is not known.
    Probability(usize),
    /// A requirement of an outcome may fail.
    Requirement(usize, usize),
    /// An assignment of an outcome may leave the domain or be undefined.
    Value(usize, usize),
    /// The image of an outcome lies in no region.
    Image(usize, Part),
}

impl Checker<'_, '_> {
    /// `listed`: the outputs that may be chosen; `None` if there is no policy.
    pub fn check_successors(
        &mut self,
        region: usize,
        leaf: &Part,
        listed: Option<&Vec<u32>>,
    ) -> Result<(), Rejection> {
        for command in 0..self.task.commands.len() {
            let output = self.task.commands[command].output;
            let taken = output.zip(listed).is_none_or(|(output, listed)| listed.contains(&(output as u32)));
            if taken {
                self.check_command(region, leaf, command)?;
            }
        }
        Ok(())
    }

    fn check_command(&mut self, region: usize, leaf: &Part, command: usize) -> Result<(), Rejection> {
        let mut open = vec![leaf.clone()];
        while let Some(part) = open.pop() {
            self.count(SUCCESSOR)?;
            if self.is_excluded(region, &part) || self.task.ends_over(&part, &mut self.slots) {
                continue;
            }
            let Some(doubt) = self.doubt(region, &part, command) else { continue };
            let state = part.corner();
            let mut cut = self.fact_cut(region, &part, &state);
            if cut.is_none() {
                let successors = self.successors_at(region, &state, command)?;
                cut = self.cut(&part, command, &doubt, &successors);
            }
            open.extend(split(part, cut));
        }
        Ok(())
    }

    /// Why not all successors of a part by a command are in regions, as far as we know.
    fn doubt(&mut self, region: usize, part: &Part, command: usize) -> Option<Doubt> {
        let (task, slots) = (&self.task, &mut self.slots);
        let command = &task.commands[command];
        if !command.guard.over(part, slots).yes() {
            return None;
        }
        let mut probabilities = Vec::with_capacity(command.outcomes.len());
        for (index, outcome) in command.outcomes.iter().enumerate() {
            match outcome.probability.over(part, slots).number() {
                Some(probability) => probabilities.push(probability),
                None => return Some(Doubt::Probability(index)),
            }
        }
        if !is_distribution(&probabilities) {
            return Some(Doubt::Probability(0));
        }
        'outcomes: for (index, outcome) in command.outcomes.iter().enumerate() {
            if probabilities[index] == 0.0 {
                continue;
            }
            for (number, requirement) in outcome.requirements.iter().enumerate() {
                let holds = requirement.over(part, slots);
                match task.blocks() {
                    true if !holds.yes() => continue 'outcomes,
                    false if holds.no() || holds.undefined => return Some(Doubt::Requirement(index, number)),
                    _ => {}
                }
            }
            let mut image = part.clone();
            for (number, assignment) in outcome.assignments.iter().enumerate() {
                let values = assignment.value.over(part, slots);
                let (lower, upper) = task.domain(assignment.variable);
                let range = values.integers();
                let inside = range.filter(|range| range.0 <= upper && range.1 >= lower);
                let fits =
                    !values.undefined && range.is_some_and(|range| lower <= range.0 && range.1 <= upper);
                match inside {
                    _ if !task.blocks() && !fits => return Some(Doubt::Value(index, number)),
                    None => continue 'outcomes,
                    Some((least, most)) => {
                        image.0[assignment.variable] = (least.max(lower) as i32, most.min(upper) as i32);
                    }
                }
            }
            let known = &self.certificate.regions[region].facts;
            let entails = |fact: &Fact| entails(fact, outcome, part, &image, known);
            if self.cover.containing(&image, entails).is_none() {
                return Some(Doubt::Image(index, image));
            }
        }
        None
    }

    /// The successors of a state of a region by a command; fails if one of them is in no region.
    fn successors_at(
        &mut self,
        region: usize,
        state: &[i32],
        command: usize,
    ) -> Result<Vec<(usize, Vec<i32>)>, Rejection> {
        self.report.points += 1;
        let (task, slots) = (&self.task, &mut self.slots);
        let mut taken = || {
            if task.status(state, slots)?.ends_run || !task.enabled(command, state, slots)? {
                return Ok(Vec::new());
            }
            task.successors(command, state, slots)
        };
        let successors = match taken() {
            Ok(successors) => successors,
            Err(crate::point::Wrong(text)) => {
                return self.failed(
                    SUCCESSOR,
                    Some(region),
                    state,
                    &format!("is wrong in the model: {text}"),
                );
            }
        };
        for (_, after) in &successors {
            if self.cover.of_state(after).is_none() {
                let name = &self.task.commands[command].name;
                let what = format!("leads by {name} into no region, to {}", self.describe(after));
                return self.failed(SUCCESSOR, Some(region), state, &what);
            }
        }
        Ok(successors)
    }

    /// Where to split a part that is in doubt, given the successors of its corner.
    fn cut(
        &mut self,
        part: &Part,
        command: usize,
        doubt: &Doubt,
        successors: &[(usize, Vec<i32>)],
    ) -> Option<Cut> {
        let outcomes = &self.task.commands[command].outcomes;
        let expression: Option<&Expression> = match *doubt {
            Doubt::Probability(outcome) => Some(&outcomes[outcome].probability),
            Doubt::Requirement(outcome, number) => Some(&outcomes[outcome].requirements[number]),
            Doubt::Value(outcome, number) => Some(&outcomes[outcome].assignments[number].value),
            Doubt::Image(outcome, ref image) => {
                if let Some((_, after)) = successors.iter().find(|successor| successor.0 == outcome) {
                    let region = self.cover.of_state(after)?;
                    return self.peel(part, command, outcome, image, region);
                }
                None
            }
        };
        let others =
            [Some(&self.task.commands[command].guard), self.task.goal.as_ref(), self.task.hold.as_ref()];
        let values = outcomes.iter().flat_map(|outcome| {
            let values = outcome.assignments.iter().map(|assignment| &assignment.value);
            outcome.requirements.iter().chain(values)
        });
        let slots = &mut self.slots;
        let all = others.into_iter().flatten().chain(expression).chain(values);
        let mut variables = all.filter_map(|expression| expression.open_variable(part, slots));
        variables.next().map(|variable| part.half(variable))
    }

    /// A cut that separates the states whose successors are within the bounds of a region from others.
    fn peel(
        &mut self,
        part: &Part,
        command: usize,
        outcome: usize,
        image: &Part,
        region: usize,
    ) -> Option<Cut> {
        let assignments = &self.task.commands[command].outcomes[outcome].assignments;
        let mut best: Option<(Cut, f64)> = None;
        for (face, inside) in self.cover.faces(region, image) {
            let assignment = assignments.iter().find(|assignment| assignment.variable == face.variable);
            let cut = match assignment.map(|assignment| (assignment.shift, &assignment.value)) {
                None => Some(face),
                Some((Some((variable, by)), _)) => {
                    i32::try_from(i64::from(face.at) - by).ok().map(|at| Cut { variable, at })
                }
                Some((None, value)) => {
                    value.open_variable(part, &mut self.slots).map(|variable| part.half(variable))
                }
            };
            let cut = cut.filter(|&cut| part.is_cut(cut));
            if let Some(cut) = cut.filter(|_| best.is_none_or(|(_, most)| inside > most)) {
                best = Some((cut, inside));
            }
        }
        let facts = self.certificate.regions[region].facts.iter();
        let terms = facts.flat_map(|fact| fact.terms.iter().map(|term| term.0 as usize));
        best.map(|(cut, _)| cut).or_else(|| part.widest(terms).map(|variable| part.half(variable)))
    }
}

/// Whether a fact holds after an outcome for all states of a part that satisfy the facts that are `known` there.
///
/// The sum of the fact is rewritten into one over the state before the step, where values are variables plus numbers;
/// other values are anything in the image. It is bounded over the part, or by a known fact with the same sum.
fn entails(fact: &Fact, outcome: &Outcome, part: &Part, image: &Part, known: &[Fact]) -> bool {
    let mut terms: Vec<(u32, i32)> = Vec::new();
    let mut constant = 0_i128;
    for &(variable, factor) in &fact.terms {
        let assignment =
            outcome.assignments.iter().find(|assignment| assignment.variable == variable as usize);
        match assignment.map(|assignment| assignment.shift) {
            None => terms.push((variable, factor)),
            Some(Some((from, by))) => {
                terms.push((from as u32, factor));
                constant += i128::from(factor) * i128::from(by);
            }
            Some(None) => constant += image.largest(&[(variable, factor)]),
        }
    }
    let largest = constant + part.largest(&terms);
    terms.sort_unstable();
    let implied =
        known.iter().filter(|known| known.terms == terms).map(|known| constant + i128::from(known.limit));
    implied.fold(largest, i128::min) <= i128::from(fact.limit)
}
