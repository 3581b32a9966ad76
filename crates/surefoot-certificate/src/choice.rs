//! Obligation 3: in a leaf the policy chooses nothing else than what the leaf lists.
//!
//! An output is never chosen in a part if one that competes everywhere in the part beats it everywhere. Without filter
//! all outputs compete. With it, an output competes everywhere if one of its commands is enabled everywhere, and an
//! output is never chosen if none of its commands is enabled anywhere. What the policy would do where runs end does not
//! matter.

use surefoot_model::VarId;
use surefoot_policy::{Policy, Scorer};

use crate::certificate::Fact;
use crate::check::{Checker, Tried};
use crate::part::{Cut, Part};
use crate::verdict::{Obligation, Rejection, Subject};
use crate::{forest, network};

/// What bounds the policy.
pub(crate) enum Scores<'a> {
    None,
    Network(network::Bounds<'a>),
    Forest(forest::Bounds<'a>),
}

impl<'a> Scores<'a> {
    pub fn new(subject: &Subject<'a>) -> Scores<'a> {
        let arithmetic = subject.semantics.arithmetic;
        match subject.policy.map(|policy| (policy, &policy.scorer)) {
            None => Scores::None,
            Some((policy, Scorer::Network(network))) => {
                Scores::Network(network::Bounds::new(policy, network, arithmetic))
            }
            Some((policy, Scorer::Ensemble(ensemble))) => {
                Scores::Forest(forest::Bounds::new(policy, ensemble, arithmetic))
            }
        }
    }
}

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
        let relevant = self.relevant(policy, region);
        let facts = &self.certificate.regions[region].facts;
        let attempt = |checker: &mut Self, part: &Part, outputs: &mut Vec<usize>| {
            checker.choice(policy, part, facts, outputs, &relevant)
        };
        self.everywhere(Obligation::Choice, Some(region), leaf.clone(), unlisted.collect(), attempt)
    }

    /// That none of some outputs is chosen in a part where facts hold. Those that are surely not are removed.
    fn choice(
        &mut self,
        policy: &Policy,
        part: &Part,
        facts: &[Fact],
        outputs: &mut Vec<usize>,
        relevant: &[usize],
    ) -> Tried {
        if outputs.is_empty() || self.task.ends(part, &mut self.slots) {
            return Tried::Done;
        }
        let competition = self.competition(policy, part);
        outputs.retain(|&output| competition.somewhere[output]);
        let (arithmetic, state) = (self.subject.semantics.arithmetic, part.state());
        let Some(half) = part.halves(relevant.iter().copied()) else {
            // Nothing varies that choices depend on: one state speaks for all.
            let possible = policy.possible(arithmetic, &state, |output| competition.somewhere[output]);
            let Some(&output) = possible.iter().find(|output| outputs.contains(output)) else {
                return Tried::Done;
            };
            let label = &self.subject.system.labels[policy.outputs[output].index()].name;
            return Tried::Open(None, format!("may choose `{label}`, which its leaf does not list"));
        };
        let scores: Vec<f64> = policy.scores(arithmetic, &state).iter().map(|score| score.lower).collect();
        let cut = match &self.scores {
            _ if outputs.is_empty() => None,
            Scores::None => None,
            Scores::Network(bounds) => bounds.beaten(part, facts, outputs, &competition.everywhere, &scores),
            Scores::Forest(bounds) => bounds.beaten(part, outputs, &competition.everywhere),
        };
        if outputs.is_empty() {
            return Tried::Done;
        }
        let cut = self.guard_cut(policy, part, &competition, &scores).or(cut);
        Tried::Open(cut.filter(|&cut| part.is_cut(cut)).or(Some(half)), String::new())
    }

    /// The variables on which choices in a region can depend, and whether they matter.
    fn relevant(&self, policy: &Policy, region: usize) -> Vec<usize> {
        let mut relevant: Vec<usize> = policy.variables().into_iter().map(VarId::index).collect();
        for fact in &self.certificate.regions[region].facts {
            relevant.extend(fact.variables());
        }
        for condition in [&self.task.goal, &self.task.hold].into_iter().flatten() {
            relevant.extend(&condition.variables);
        }
        if self.task.filter {
            let controlled = self.task.commands.iter().filter(|command| command.output.is_some());
            relevant.extend(controlled.flat_map(|command| &command.guard.variables));
        }
        relevant.sort_unstable();
        relevant.dedup();
        relevant
    }

    fn competition(&mut self, policy: &Policy, part: &Part) -> Competition {
        let all = vec![!self.task.filter; policy.outputs.len()];
        let mut competition = Competition { everywhere: all.clone(), somewhere: all };
        if self.task.filter {
            for command in &self.task.commands {
                let Some(output) = command.output else { continue };
                let guard = command.guard.over(part, &mut self.slots);
                competition.somewhere[output] |= guard.yes();
                competition.everywhere[output] |= guard.always();
            }
        }
        competition
    }

    /// A cut that may decide whether the best output of a part's corner competes everywhere.
    fn guard_cut(
        &mut self,
        policy: &Policy,
        part: &Part,
        competition: &Competition,
        scores: &[f64],
    ) -> Option<Cut> {
        let here = self.competition(policy, &part.corner()).somewhere;
        let best = (0..scores.len()).filter(|&output| here[output]);
        let best = best.max_by(|&a, &b| scores[a].total_cmp(&scores[b]).then(b.cmp(&a)))?;
        if competition.everywhere[best] {
            return None;
        }
        let mut commands = self.task.commands.iter().filter(|command| command.output == Some(best));
        commands.find_map(|command| command.guard.cut(part, &mut self.slots))
    }
}
