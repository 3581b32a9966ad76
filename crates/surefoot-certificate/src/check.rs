//! The checker: from a certificate and a task to acceptance or the first obligation that fails.
//!
//! Each obligation is a statement about all states of some box. [`Checker::everywhere`] tries it for the box as a
//! whole, with bounds. Where they do not decide it, one state of the box is tried alone, which may refute it, and the
//! box is split. Bounds are exact at boxes of one state. So the checker is complete, up to its limit, and the trees of a
//! certificate are only hints: they decide how much is to be split, not what is believed.

use crate::certificate::{Certificate, Fact, Region, TreeNode};
use crate::choice::Scores;
use crate::cover::Cover;
use crate::expression::Slots;
use crate::part::{Cut, Part};
use crate::task::Task;
use crate::verdict::{Limits, Obligation, Rejection, Report, Subject, bind};

/// What obligations share.
pub(crate) struct Checker<'a, 's> {
    pub subject: Subject<'a>,
    pub certificate: &'a Certificate,
    pub task: Task,
    pub cover: Cover<'a>,
    pub scores: Scores<'a>,
    pub slots: Slots,
    pub report: Report,
    limits: &'a mut Limits<'s>,
}

/// What is known of a statement about a part.
pub(crate) enum Tried {
    /// It holds at all states.
    Done,
    /// It may fail somewhere. The part is to be split, best like this. If it has only one state, this is wrong there.
    Open(Option<Cut>, String),
}

/// Checks that a certificate proves that a task is safe.
pub fn check(
    certificate: &Certificate,
    subject: &Subject<'_>,
    limits: &mut Limits<'_>,
) -> Result<Report, Rejection> {
    certificate.validate()?;
    bind(certificate, subject)?;
    let mut checker = Checker {
        subject: *subject,
        certificate,
        task: Task::new(subject),
        cover: Cover::new(&certificate.variables, &certificate.regions),
        scores: Scores::new(subject),
        slots: Slots::default(),
        report: Report { regions: certificate.regions.len() as u64, ..Report::default() },
        limits,
    };
    checker.check_start()?;
    for region in 0..certificate.regions.len() {
        checker.check_status(region)?;
    }
    for region in 0..certificate.regions.len() {
        checker.check_leaves(region)?;
    }
    Ok(checker.report)
}

impl<'a> Checker<'a, '_> {
    /// Shows a statement for all states of a part that are in a region, or for all of them if there is no region. What
    /// `rest` carries is passed on from a part to its sides.
    pub fn everywhere<T: Clone>(
        &mut self,
        obligation: Obligation,
        region: Option<usize>,
        all: Part,
        rest: T,
        mut attempt: impl FnMut(&mut Self, &Part, &mut T) -> Tried,
    ) -> Result<(), Rejection> {
        let facts = region.map_or(&[][..], |region| &self.certificate.regions[region].facts);
        let mut open = vec![(all, rest)];
        while let Some((part, mut rest)) = open.pop() {
            self.count(obligation)?;
            let Some(part) = part.clip(facts) else { continue };
            let Tried::Open(cut, what) = attempt(self, &part, &mut rest) else { continue };
            if let Some(corner) = part.corner_with(facts) {
                self.report.points += 1;
                if let Tried::Open(_, what) = attempt(self, &corner, &mut rest.clone()) {
                    return self.failed(obligation, region, &corner, &what);
                }
            }
            let cut = cut.filter(|&cut| part.is_cut(cut));
            let cut = cut.or_else(|| part.halves(facts.iter().flat_map(Fact::variables)));
            let Some(cut) = cut.or_else(|| part.halves(0..part.0.len())) else {
                // One state is left. It is of the region unless a fact excludes it that was looked at before others narrowed the part.
                if part.clone().clip(facts).is_some() {
                    return self.failed(obligation, region, &part, &what);
                }
                continue;
            };
            let sides = part.split(cut).into_iter().flatten();
            open.extend(sides.map(|side| (side, rest.clone())));
        }
        Ok(())
    }

    /// Counts a part; the check ends here if a limit is reached.
    pub fn count(&mut self, obligation: Obligation) -> Result<(), Rejection> {
        self.report.parts[obligation as usize] += 1;
        let all: u64 = self.report.parts.iter().sum();
        if all > self.limits.parts {
            return Err(Rejection::NotChecked(format!("{} parts were not enough", self.limits.parts)));
        }
        if (self.limits.stop)() {
            return Err(Rejection::NotChecked("the check was stopped".into()));
        }
        Ok(())
    }

    /// The rejection of a certificate because of a state.
    pub fn failed(
        &self,
        obligation: Obligation,
        region: Option<usize>,
        corner: &Part,
        what: &str,
    ) -> Result<(), Rejection> {
        let place = region.map_or(String::new(), |region| format!(" of region {region}"));
        let message = format!("the state {}{place} {what}", self.describe(corner));
        Err(Rejection::Failed { obligation, region, state: corner.state(), message })
    }

    /// A state as text: `x = 1, y = 2`.
    pub fn describe(&self, corner: &Part) -> String {
        let pairs = self.subject.system.variables.iter().zip(corner.state());
        let pairs: Vec<String> =
            pairs.map(|(v, value)| format!("{} = {}", v.name, v.display(value))).collect();
        pairs.join(", ")
    }

    /// The bounds of a region.
    pub fn region(&self, region: usize) -> (&'a Region, Part) {
        let region = &self.certificate.regions[region];
        (region, Part::of_region(&self.certificate.variables, region))
    }

    /// Obligations 3 and 4 for a region, leaf by leaf. A leaf without states needs nothing.
    fn check_leaves(&mut self, number: usize) -> Result<(), Rejection> {
        let (region, all) = self.region(number);
        if self.subject.policy.is_none() {
            return self.check_successors(number, &all, None);
        }
        let mut open = vec![Some(all)];
        for node in &region.tree {
            let part = open.pop().expect("the tree is complete");
            match (node, part) {
                (TreeNode::Split { variable, at }, Some(part)) => {
                    let [left, right] = part.split(Cut { variable: *variable as usize, at: *at });
                    open.extend([right, left]);
                }
                (TreeNode::Split { .. }, None) => open.extend([None, None]),
                (TreeNode::Leaf(outputs), Some(part)) => {
                    self.report.leaves += 1;
                    self.check_choices(number, &part, outputs)?;
                    self.check_successors(number, &part, Some(outputs))?;
                }
                (TreeNode::Leaf(_), None) => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use surefoot_model::{Property, Start, TransitionSystem, Variable, VariableType};
    use surefoot_policy::{Arithmetic, Goal, OutOfDomain, Semantics};

    use super::*;
    use crate::certificate::Domain;

    /// Runs `everywhere` over all of `x, y ∈ 0..9` with an attempt that is told how often it was made.
    fn everywhere(facts: Vec<Fact>, mut attempt: impl FnMut(u64, &Part) -> Tried) -> Result<(), Rejection> {
        let mut system = TransitionSystem::default();
        for name in ["x", "y"] {
            system.variables.push(Variable::new(name, VariableType::Int { lower: 0, upper: 9 }));
        }
        let unsafe_states = system.exprs.bool(false);
        let property = Property {
            name: "p".into(),
            start: Start { condition: None, listed: Vec::new() },
            unsafe_states,
            hold: None,
            goal: None,
            predicates: Vec::new(),
            policy_file: None,
        };
        let semantics = Semantics {
            filter: false,
            goal: Goal::Ignore,
            out_of_domain: OutOfDomain::Block,
            arithmetic: Arithmetic::F64,
        };
        let subject = Subject { system: &system, property: &property, policy: None, semantics, inputs: &[] };
        let domain = |name: &str| Domain { name: name.into(), lower: 0, upper: 9 };
        let certificate = Certificate {
            inputs: Vec::new(),
            variables: ["x", "y"].map(domain).to_vec(),
            labels: Vec::new(),
            outputs: None,
            semantics,
            regions: vec![Region { bounds: Vec::new(), facts, tree: vec![TreeNode::Leaf(Vec::new())] }],
        };
        let mut checker = Checker {
            subject,
            certificate: &certificate,
            task: Task::new(&subject),
            cover: Cover::new(&certificate.variables, &certificate.regions),
            scores: Scores::new(&subject),
            slots: Slots::default(),
            report: Report::default(),
            limits: &mut Limits { parts: 10_000, stop: &mut || false },
        };
        let all = checker.region(0).1;
        let mut count = 0;
        checker.everywhere(Obligation::Safe, Some(0), all, (), |_, part, ()| {
            count += 1;
            attempt(count, part)
        })
    }

    fn open() -> Tried {
        Tried::Open(None, "is wrong".into())
    }

    /// One try of a single state that fails is enough, even if another try says otherwise.
    #[test]
    fn a_state_that_stays_open_is_a_failure() {
        let result = everywhere(Vec::new(), |count, _| if count % 2 == 1 { open() } else { Tried::Done });
        assert!(matches!(result, Err(Rejection::Failed { .. })), "{result:?}");
        everywhere(Vec::new(), |_, _| Tried::Done).expect("nothing is open");
    }

    /// The last fact narrows parts to states at which the first one, which was looked at before, fails.
    #[test]
    fn a_state_that_facts_exclude_needs_nothing() {
        let fact = |terms: &[(u32, i32)], limit| Fact { terms: terms.to_vec(), limit };
        // x ≤ y, x ≥ 9 and y ≤ 0: the first leaves every value, then the others leave (9, 0).
        let facts = vec![fact(&[(0, 1), (1, -1)], 0), fact(&[(0, -1)], -9), fact(&[(1, 1)], 0)];
        everywhere(facts, |_, _| open()).expect("there is no state");
    }
}
