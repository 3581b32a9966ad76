//! Obligation 3: in a leaf the policy chooses nothing else than what the leaf lists.
//!
//! An output is never chosen in a part if one that competes everywhere in the part beats it everywhere. Without filter
//! all outputs compete. With it, an output competes everywhere if one of its commands is enabled everywhere, and an
//! output is never chosen if none of its commands is enabled anywhere. What the policy would do where runs end does not
//! matter.

use crate::check::{Checker, Obligation, Rejection, Scores, split};
use crate::forest::Answer;
use crate::part::{Cut, Part};

const CHOICE: Obligation = Obligation::Choice;

/// Whether outputs compete in a part.
struct Competition {
    /// By output: everywhere.
    everywhere: Vec<bool>,
    /// By output: somewhere, as far as we know.
    somewhere: Vec<bool>,
}

impl Checker<'_, '_> {
    pub fn check_choices(&mut self, region: usize, leaf: &Part, listed: &[u32]) -> Result<(), Rejection> {
        let Some(policy) = self.subject.policy else { return Ok(()) };
        let unlisted = (0..policy.outputs.len()).filter(|&output| !listed.contains(&(output as u32)));
        let relevant = self.relevant(region);
        let mut open = vec![(leaf.clone(), unlisted.collect::<Vec<_>>())];
        while let Some((part, mut outputs)) = open.pop() {
            self.count(CHOICE)?;
            if outputs.is_empty()
                || self.is_excluded(region, &part)
                || self.task.ends_over(&part, &mut self.slots)
            {
                continue;
            }
            let competition = self.competition(&part);
            outputs.retain(|&output| competition.somewhere[output]);
            let state = part.corner();
            // If nothing varies that choices depend on, one state speaks for all.
            let widest = part.widest(relevant.iter().copied());
            let cut = widest.and_then(|_| self.drop_beaten(&part, &competition, &state, &mut outputs));
            if outputs.is_empty() {
                continue;
            }
            let mut better = self.fact_cut(region, &part, &state);
            if better.is_none()
                && let Some(best) = self.choice_at(region, &state, &outputs)?
                && !competition.everywhere[best]
            {
                better = self.guard_cut(&part, best);
            }
            if let Some(widest) = widest {
                let cut = better.or(cut).filter(|&cut| part.is_cut(cut)).unwrap_or(part.half(widest));
                open.extend(split(part, Some(cut)).map(|side| (side, outputs.clone())));
            }
        }
        Ok(())
    }

    /// Removes the outputs that are beaten everywhere in a part. Says where splitting it helps the others most.
    fn drop_beaten(
        &self,
        part: &Part,
        competition: &Competition,
        state: &[i32],
        outputs: &mut Vec<usize>,
    ) -> Option<Cut> {
        let (policy, arithmetic) = (self.subject.policy?, self.subject.semantics.arithmetic);
        match &self.scores {
            _ if outputs.is_empty() => None,
            Scores::None => None,
            Scores::Network(bounds) => {
                let scores = policy.scores(arithmetic, state);
                let scores: Vec<f64> = scores.iter().map(|score| score.lower).collect();
                bounds.beaten(part, outputs, &competition.everywhere, &scores)
            }
            Scores::Forest(bounds) => match bounds.beaten(part, outputs, &competition.everywhere) {
                Answer::Split(cut) => Some(cut),
                Answer::Same => {
                    outputs.retain(|&output| {
                        let competes = |other: usize| other == output || competition.everywhere[other];
                        policy.possible(arithmetic, state, competes).contains(&output)
                    });
                    None
                }
            },
        }
    }

    /// The variables on which choices in a region can depend, and whether they matter.
    fn relevant(&self, region: usize) -> Vec<usize> {
        let policy = self.subject.policy.into_iter().flat_map(surefoot_policy::Policy::variables);
        let mut relevant: Vec<usize> = policy.map(surefoot_model::VarId::index).collect();
        for fact in &self.certificate.regions[region].facts {
            relevant.extend(fact.terms.iter().map(|term| term.0 as usize));
        }
        for condition in [&self.task.goal, &self.task.hold].into_iter().flatten() {
            relevant.extend(&condition.variables);
        }
        if self.task.semantics.filter {
            let controlled = self.task.commands.iter().filter(|command| command.output.is_some());
            relevant.extend(controlled.flat_map(|command| &command.guard.variables));
        }
        relevant.sort_unstable();
        relevant.dedup();
        relevant
    }

    fn competition(&mut self, part: &Part) -> Competition {
        let outputs = self.subject.policy.map_or(0, |policy| policy.outputs.len());
        let without = !self.task.semantics.filter;
        let mut competition =
            Competition { everywhere: vec![without; outputs], somewhere: vec![without; outputs] };
        if !without {
            for command in &self.task.commands {
                let Some(output) = command.output else { continue };
                let guard = command.guard.over(part, &mut self.slots);
                competition.somewhere[output] |= guard.yes();
                competition.everywhere[output] |= guard.yes() && !guard.no() && !guard.undefined;
            }
        }
        competition
    }

    /// Evaluates the policy at a state; what it chooses there, if anything, and fails if that is one of `outputs`.
    fn choice_at(
        &mut self,
        region: usize,
        state: &[i32],
        outputs: &[usize],
    ) -> Result<Option<usize>, Rejection> {
        let Some(policy) = self.subject.policy else { return Ok(None) };
        self.report.points += 1;
        let (task, slots) = (&self.task, &mut self.slots);
        // Model errors are another obligation's.
        if task.status(state, slots).is_ok_and(|status| status.ends_run) {
            return Ok(None);
        }
        let competes: Vec<bool> =
            (0..policy.outputs.len()).map(|output| task.competes(output, state, slots)).collect();
        let possible = policy.possible(task.semantics.arithmetic, state, |output| competes[output]);
        match possible.iter().find(|output| outputs.contains(output)) {
            Some(&output) => {
                let label = &self.subject.system.labels[policy.outputs[output].index()].name;
                let what = format!("may choose `{label}`, which its leaf does not list");
                self.failed(CHOICE, Some(region), state, &what)
            }
            None => Ok(possible.first().copied()),
        }
    }

    /// A cut that may decide whether an output competes.
    fn guard_cut(&mut self, part: &Part, output: usize) -> Option<Cut> {
        let commands = self.task.commands.iter().filter(|command| command.output == Some(output));
        let slots = &mut self.slots;
        let variables = commands.filter_map(|command| command.guard.open_variable(part, slots));
        let variables: Vec<usize> = variables.collect();
        part.widest(variables).map(|variable| part.half(variable))
    }
}
