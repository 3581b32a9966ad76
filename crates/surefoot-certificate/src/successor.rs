//! Obligation 4: the successors of a leaf's states, by commands that may be taken there, are in regions.
//!
//! For a part of a leaf and an outcome of a command, the values of the assignments are bounded. That gives a box which
//! contains all successors, the *image*. If the image lies in one region, all is well, whether the guard holds
//! everywhere or not. If not, the part is split where its image leaves the region of one of the successors.

use crate::certificate::Fact;
use crate::check::{Checker, Tried};
use crate::cover::Cover;
use crate::expression::{Expression, Slots};
use crate::part::{Cut, Part};
use crate::task::{Assignment, Command, Image, Outcome, Task, is_distribution};
use crate::verdict::{Obligation, Rejection};

impl Checker<'_, '_> {
    /// `listed`: the outputs that may be chosen; `None` if there is no policy.
    pub fn check_successors(
        &mut self,
        region: usize,
        leaf: &Part,
        listed: Option<&[u32]>,
    ) -> Result<(), Rejection> {
        for command in 0..self.task.commands.len() {
            let output = self.task.commands[command].output;
            let taken = output.zip(listed).is_none_or(|(output, listed)| listed.contains(&(output as u32)));
            if taken {
                let attempt =
                    |checker: &mut Self, part: &Part, (): &mut ()| checker.successors(region, part, command);
                self.everywhere(Obligation::Successor, Some(region), leaf.clone(), (), attempt)?;
            }
        }
        Ok(())
    }

    /// That a command leads from all states of a part into regions.
    fn successors(&mut self, region: usize, part: &Part, command: usize) -> Tried {
        let (task, slots) = (&self.task, &mut self.slots);
        let command = &task.commands[command];
        if task.ends(part, slots) {
            return Tried::Done;
        }
        let Some(part) = &command.guard.narrow(part, slots) else { return Tried::Done };
        let wrong = |expression: &Expression, what: &str, slots: &mut Slots| {
            let what = format!("is wrong in the model: {}: {what}", command.name);
            Tried::Open(cut(task, command, Some(expression), part, slots), what)
        };
        let mut probabilities = Vec::with_capacity(command.outcomes.len());
        for outcome in &command.outcomes {
            match outcome.probability.over(part, slots).number() {
                Some(probability) => probabilities.push(probability),
                None => return wrong(&outcome.probability, "a probability has no value", slots),
            }
        }
        if !is_distribution(&probabilities) {
            return wrong(&command.guard, "its probabilities are no distribution", slots);
        }
        let known = &self.certificate.regions[region].facts;
        for (outcome, probability) in command.outcomes.iter().zip(probabilities) {
            if probability == 0.0 {
                continue;
            }
            let image = match task.image(outcome, part, slots) {
                Image::Nothing => continue,
                Image::Within(image) => image,
                Image::Doubt(expression, what) => return wrong(expression, what, slots),
            };
            let entails = |fact: &Fact| entails(fact, outcome, part, &image, known);
            if self.cover.containing(&image, entails).is_some() {
                continue;
            }
            // Peel off what leads into the region of a successor, or decide what is open.
            let corner = part.corner_with(known).unwrap_or_else(|| part.corner());
            let after = match task.image(outcome, &corner, slots) {
                Image::Within(after) if command.guard.over(&corner, slots).yes() => Some(after),
                _ => None,
            };
            let inside = after.and_then(|after| self.cover.of_part(&after, &[]));
            let peeled = inside.and_then(|inside| peel(&self.cover, inside, outcome, &image, part, slots));
            let cut = peeled.or_else(|| cut(task, command, None, part, slots));
            let cut = cut.or_else(|| part.halves(self.cover.fact_variables(inside?)));
            let mut what = String::new();
            if image.is_point() {
                what = format!("leads by {} into no region, to {}", command.name, self.describe(&image));
            }
            return Tried::Open(cut, what);
        }
        Tried::Done
    }
}

/// A cut by the first expression of a command that is not decided in a part.
fn cut(
    task: &Task,
    command: &Command,
    doubtful: Option<&Expression>,
    part: &Part,
    slots: &mut Slots,
) -> Option<Cut> {
    let conditions = [Some(&command.guard), task.goal.as_ref(), task.hold.as_ref(), doubtful];
    let updates = command.outcomes.iter().flat_map(|outcome| {
        let values = outcome.assignments.iter().map(|assignment| &assignment.value);
        outcome.requirements.iter().chain(values)
    });
    conditions.into_iter().flatten().chain(updates).find_map(|expression| expression.cut(part, slots))
}

/// A cut that separates the states whose successors are within the bounds of a region from others.
fn peel(
    cover: &Cover<'_>,
    region: usize,
    outcome: &Outcome,
    image: &Part,
    part: &Part,
    slots: &mut Slots,
) -> Option<Cut> {
    let mut best: Option<(Cut, f64)> = None;
    for (face, inside) in cover.faces(region, image) {
        let cut = match outcome.assignment(face.variable) {
            None => Some(face),
            Some(Assignment { linear: Some((terms, by)), .. }) if matches!(terms[..], [(_, 1)]) => {
                let at = i32::try_from(i64::from(face.at) - by).ok();
                at.map(|at| Cut { variable: terms[0].0 as usize, at })
            }
            Some(Assignment { value, .. }) => value.cut(part, slots),
        };
        let cut = cut.filter(|&cut| part.is_cut(cut) && best.is_none_or(|(_, most)| inside > most));
        best = cut.map(|cut| (cut, inside)).or(best);
    }
    best.map(|(cut, _)| cut)
}

/// Whether a fact holds after an outcome for all states of a part that satisfy the facts that are `known` there.
///
/// The sum of the fact is rewritten into one over the state before the step, where values are linear; other values are
/// anything in the image.
fn entails(fact: &Fact, outcome: &Outcome, part: &Part, image: &Part, known: &[Fact]) -> bool {
    let mut terms: Vec<(u32, i128)> = Vec::new();
    let mut constant = 0_i128;
    for &(variable, factor) in &fact.terms {
        match outcome.assignment(variable as usize).map(|assignment| &assignment.linear) {
            None => terms.push((variable, factor.into())),
            Some(Some((sum, number))) => {
                terms.extend(sum.iter().map(|&(from, by)| (from, i128::from(factor) * i128::from(by))));
                constant += i128::from(factor) * i128::from(*number);
            }
            Some(None) => constant += image.largest(&[(variable, factor)]),
        }
    }
    part.bounds_sum(terms, i128::from(fact.limit) - constant, known)
}
