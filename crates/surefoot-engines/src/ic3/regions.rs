//! The proof as a certificate has it: regions, and for each a tree that says what the policy may choose where.
//!
//! A region is split where the tests of the engine had to be made exact by splitting, until no part lists an output that leads out of the
//! invariant: the checker goes by what is listed.

use surefoot_certificate::{Fact, Region, TreeNode};
use surefoot_policy::certify;

use super::reason::Reason;
use super::steps::Target;
use super::{Run, Stop};
use crate::symbolic::Images;

impl Run<'_> {
    /// The regions of an invariant: the reasons above a level that are needed.
    pub(super) fn regions(&mut self, level: usize) -> Result<Vec<Region>, Stop> {
        let entries = self.frames.entries().iter().filter(|entry| entry.level > level);
        let reasons: Vec<Reason> = entries.map(|entry| entry.reason.clone()).collect();
        let reasons = self.needed(reasons)?;
        let fact = |fact: &certify::Fact| Fact {
            terms: fact.terms.iter().map(|&(variable, factor)| (variable.0, factor)).collect(),
            limit: fact.at_most,
        };
        let facts: Vec<Fact> = self.problem.facts.iter().map(fact).collect();
        let mut regions = Vec::new();
        for reason in reasons {
            self.look_around()?;
            let tree =
                if self.problem.task.policy.is_some() { self.tree(&reason, level)? } else { Vec::new() };
            regions.push(Region {
                bounds: reason.certificate_bounds(&self.problem.domain),
                facts: facts.clone(),
                tree,
            });
        }
        Ok(regions)
    }

    /// The reasons of an invariant that hold start states or successors of states of other such reasons. The others are no loss.
    ///
    /// Steps are those of every output that is possible anywhere in a reason: at least the ones that its tree lists.
    fn needed(&mut self, reasons: Vec<Reason>) -> Result<Vec<Reason>, Stop> {
        let mut images = Images::new(self.problem);
        let mut needed = Needed { chosen: vec![false; reasons.len()], queue: Vec::new(), reasons };
        let frame = self.states.scratch();
        let mut listed = self.problem.task.property.start.listed.iter().cloned();
        while let Some(state) =
            listed.next().map_or_else(|| self.states.start_outside(frame), |state| Ok(Some(state)))?
        {
            for index in needed.add(&Reason::of_state(&state)) {
                self.states.add_to(frame, &needed.reasons[index]);
            }
        }
        while let Some(index) = needed.queue.pop() {
            let states = needed.reasons[index].clone();
            if images.end(&states) {
                continue;
            }
            let outputs = self.steps.policy.choices(&states)?;
            for command in 0..self.problem.commands.len() {
                if self.problem.commands[command].output.is_some_and(|output| !outputs.contains(output)) {
                    continue;
                }
                let Some(part) = images.enabled(command, &states) else { continue };
                for image in images.successors(command, &part) {
                    needed.add(&image);
                }
            }
        }
        let Needed { chosen, reasons, .. } = needed;
        Ok(reasons
            .into_iter()
            .zip(chosen)
            .filter_map(|(reason, is_needed)| is_needed.then_some(reason))
            .collect())
    }

    /// What the policy may choose in the parts of a reason, split until no part leads out of the invariant.
    fn tree(&mut self, reason: &Reason, level: usize) -> Result<Vec<TreeNode>, Stop> {
        let mut tree = Vec::new();
        let mut parts = vec![reason.clone()];
        while let Some(part) = parts.pop() {
            let target = Target { level: level + 1, except: Some(reason) };
            if let Some((variable, low, high)) = self.steps.split(&mut self.states, &part, target)? {
                tree.push(TreeNode::Split { variable: variable as u32, at: high.lower[variable] });
                parts.extend([high, low]);
            } else {
                let outputs = self.steps.policy.choices(&part)?;
                tree.push(TreeNode::Leaf(outputs.iter().map(|output| output as u32).collect()));
            }
        }
        Ok(tree)
    }
}

/// Which reasons of an invariant are needed.
struct Needed {
    reasons: Vec<Reason>,
    chosen: Vec<bool>,
    /// Reasons whose steps were not looked at yet.
    queue: Vec<usize>,
}

impl Needed {
    /// Adds reasons that hold what the invariant holds of a box: one that is there already, another one, or else all that hold some of it.
    fn add(&mut self, states: &Reason) -> Vec<usize> {
        let all = 0..self.reasons.len();
        let holds = |&index: &usize| self.reasons[index].includes(states);
        if all.clone().any(|index| self.chosen[index] && holds(&index)) {
            return Vec::new();
        }
        let added: Vec<usize> = match all.clone().find(holds) {
            Some(index) => vec![index],
            None => all
                .filter(|&index| !self.chosen[index] && self.reasons[index].intersection(states).is_some())
                .collect(),
        };
        for &index in &added {
            self.chosen[index] = true;
        }
        self.queue.extend(&added);
        added
    }
}
