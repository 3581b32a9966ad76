//! Projection: variables that only guards read are left out, and what guards ask of them is not asked.
//!
//! Unlike the other passes this one adds runs. It takes none away: every run of the original is one of the projection, so a policy that
//! is safe there is safe. An unsafe run of the projection need not be one of the original.
//!
//! - A guard loses the conjuncts that read such a variable. If one of its conjuncts may be undefined, it keeps them all: whether
//!   the model is wrong must not change either.
//! - What a policy may choose with a filter must not change: where commands of a label differ in the lost parts only, one of them is
//!   enabled whatever the values of the variables that go. Else these variables stay.
//! - Updates and start conditions are treated as in slicing.

use std::collections::BTreeMap;

use super::Reduction;
use super::question::Questions;
use super::slice::mark;
use crate::expr::{ExprId, Program};
use crate::variable::VarId;

impl Reduction {
    /// Leaves out variables that only guards read, and those that [`Reduction::slice`] would leave out; `None` if there are none.
    /// `inputs` are the original variables that a policy reads, `filter` says whether it chooses among applicable labels.
    #[must_use]
    pub fn project(mut self, inputs: &[VarId], filter: bool) -> Option<Self> {
        let (lower, upper) = self.bounds()?;
        let mut relevant = self.of_policy(inputs);
        self.mark_read(&mut relevant, false);
        self.mark_sources(&mut relevant);
        if relevant.iter().all(|&relevant| relevant) {
            return None;
        }
        self.mark_partial_start(&mut relevant, &lower, &upper);
        self.mark_partial_guards(&mut relevant, &lower, &upper);
        self.mark_unproven_updates(&mut relevant, &lower, &upper);
        let questions = Questions::default();
        loop {
            self.mark_sources(&mut relevant);
            let is_exact = !filter || self.mark_labels(&mut relevant, &lower, &upper, &questions);
            if is_exact && self.project_start(&mut relevant, &lower, &upper, &questions) {
                break;
            }
        }
        if relevant.iter().all(|&relevant| relevant) {
            return None;
        }
        for index in 0..self.system.commands.len() {
            let (kept, _) = self.parts(self.system.commands[index].guard, &relevant);
            self.system.commands[index].guard = self.system.exprs.all(kept).expect("conjuncts are Boolean");
        }
        self.drop_predicates(&relevant);
        let fates = self.fates_of(&relevant);
        Some(self.rebuild(&fates))
    }

    /// The variables of guards that may be undefined.
    fn mark_partial_guards(&self, relevant: &mut [bool], lower: &[i32], upper: &[i32]) {
        let mut slots = Vec::new();
        for command in &self.system.commands {
            let conjuncts = self.conjuncts(command.guard);
            let program = |conjunct| Program::new(&self.system.exprs, &[conjunct]);
            if conjuncts
                .into_iter()
                .any(|conjunct| program(conjunct).over_box(lower, upper, &mut slots).undefined)
            {
                mark(relevant, &self.system.exprs.variables_of([command.guard]));
            }
        }
    }

    /// Whether labels are applicable in the same states without the lost parts of guards; false after marking variables for which
    /// that is not so, or not known.
    fn mark_labels(
        &mut self,
        relevant: &mut [bool],
        lower: &[i32],
        upper: &[i32],
        questions: &Questions,
    ) -> bool {
        // By label and kept conjuncts: what else the guards ask. Silent steps are none that a policy could choose.
        let mut lost: BTreeMap<_, Vec<Vec<ExprId>>> = BTreeMap::new();
        for command in self.system.commands.iter().filter(|command| command.label.is_some()) {
            let (mut kept, dropped) = self.parts(command.guard, relevant);
            kept.sort_unstable();
            lost.entry((command.label, kept)).or_default().push(dropped);
        }
        lost.retain(|_, lost| !lost.iter().any(Vec::is_empty));
        let before = relevant.to_vec();
        for lost in lost.into_values() {
            let exprs = &mut self.system.exprs;
            let variables = exprs.variables_of(lost.iter().flatten().copied());
            if variables.iter().any(|v| relevant[v.index()] != before[v.index()]) {
                // Marked because of another label: this is looked at again.
                continue;
            }
            let each: Vec<ExprId> =
                lost.into_iter().map(|lost| exprs.all(lost).expect("conjuncts are Boolean")).collect();
            let some = exprs.any(each).expect("conjunctions are Boolean");
            let none = exprs.not(some).expect("a disjunction is Boolean");
            if questions.is_possible(exprs, none, lower, upper) != Some(false) {
                mark(relevant, &variables);
            }
        }
        relevant == before
    }

    /// The conjuncts of a guard that stay, and those that go.
    fn parts(&self, guard: ExprId, relevant: &[bool]) -> (Vec<ExprId>, Vec<ExprId>) {
        let stays = |conjunct: &ExprId| {
            self.system.exprs.variables_of([*conjunct]).iter().all(|v| relevant[v.index()])
        };
        self.conjuncts(guard).into_iter().partition(stays)
    }
}
