//! Variables that no command writes keep their start value: those with only one become constants, the others get the bounds of
//! the start states as their domain. Then everything constant is folded.

use super::{Fate, Reduction};
use crate::enumerate::narrow;
use crate::expr::{BinaryOp, ExprId, Node};
use crate::variable::{VarId, VariableType};

impl Reduction {
    /// Makes constants of never-written variables with one start value, and folds constants.
    #[must_use]
    pub fn fix_constants(mut self) -> Self {
        let Some(start) = self.start_box() else { return self };
        let mut written = vec![false; self.system.variables.len()];
        for command in &self.system.commands {
            for assignment in command.outcomes.iter().flat_map(|o| &o.assignments) {
                written[assignment.variable.index()] = true;
            }
        }
        let (lower, upper) = start;
        for (v, variable) in self.system.variables.iter_mut().enumerate() {
            if let (false, VariableType::Int { .. }) = (written[v], variable.ty) {
                variable.ty = VariableType::Int { lower: lower[v], upper: upper[v] };
            }
        }
        let fates = self.fates(|VarId(v)| {
            let v = v as usize;
            (!written[v] && lower[v] == upper[v]).then_some(Fate::Constant(lower[v]))
        });
        self.rebuild(&fates)
    }

    /// A box that holds every start state; `None` if there is none, or with real variables.
    fn start_box(&self) -> Option<(Vec<i32>, Vec<i32>)> {
        let (lower, upper) = self.bounds()?;
        let conditions = self.start_disjuncts().into_iter();
        let boxes = conditions.filter_map(|condition| narrow(&self.system.exprs, condition, &lower, &upper));
        let listed = self.property.start.listed.iter().map(|state| (state.clone(), state.clone()));
        boxes.chain(listed).reduce(|(mut lower, mut upper), (other_lower, other_upper)| {
            lower.iter_mut().zip(other_lower).for_each(|(a, b)| *a = (*a).min(b));
            upper.iter_mut().zip(other_upper).for_each(|(a, b)| *a = (*a).max(b));
            (lower, upper)
        })
    }

    /// The start condition split at its top-level disjunctions.
    pub(super) fn start_disjuncts(&self) -> Vec<ExprId> {
        let mut disjuncts = Vec::new();
        let mut stack: Vec<ExprId> = self.property.start.condition.into_iter().collect();
        while let Some(id) = stack.pop() {
            match self.system.exprs.node(id) {
                Node::Binary(BinaryOp::Or, a, b) => stack.extend([*b, *a]),
                _ => disjuncts.push(id),
            }
        }
        disjuncts
    }
}
