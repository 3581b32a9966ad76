//! Questions of a pass that are answered by search, within a budget: a pass must not take longer than what it saves.

use std::cell::Cell;
use std::ops::ControlFlow;

use crate::enumerate::{Enumerated, solutions};
use crate::expr::{ExprId, ExprPool};

/// Search nodes for one question, and for all questions of a pass.
const ONE: u32 = 10_000;
const ALL: u32 = 100_000;

/// What is left for questions.
#[derive(Debug)]
pub(super) struct Questions {
    nodes: Cell<u32>,
}

impl Default for Questions {
    fn default() -> Self {
        Questions { nodes: Cell::new(ALL) }
    }
}

impl Questions {
    /// Whether a condition is true at some state; `None` if that is not known, also if it is undefined before one is found.
    pub fn is_possible(
        &self,
        exprs: &ExprPool,
        condition: ExprId,
        lower: &[i32],
        upper: &[i32],
    ) -> Option<bool> {
        let least = self.nodes.get().saturating_sub(ONE);
        let mut found = false;
        let poll = || {
            if self.nodes.get() == least {
                return ControlFlow::Break(());
            }
            self.nodes.set(self.nodes.get() - 1);
            ControlFlow::Continue(())
        };
        let visit = |_: &[i32]| {
            found = true;
            ControlFlow::Break(())
        };
        let end = solutions(exprs, condition, lower, upper, poll, visit);
        match end {
            _ if found => Some(true),
            Enumerated::All => Some(false),
            Enumerated::Stopped | Enumerated::Undefined(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Type;
    use crate::variable::VarId;

    /// More variables than values, all different: no state, but that takes long to find out.
    #[test]
    fn hard_questions_are_left_open() {
        let mut exprs = ExprPool::new();
        let variables: Vec<ExprId> =
            (0..12).map(|variable| exprs.variable_of_type(VarId(variable), Type::Int)).collect();
        let mut different = |count: usize| {
            let pairs = (0..count).flat_map(|a| (0..a).map(move |b| (a, b)));
            let pairs = pairs.map(|(a, b)| {
                let same = exprs.eq(variables[a], variables[b]).expect("integers");
                exprs.not(same).expect("a truth value")
            });
            let pairs: Vec<ExprId> = pairs.collect();
            exprs.all(pairs).expect("truth values")
        };
        let (easy, hard) = (different(3), different(12));
        let (lower, upper) = (vec![0; 12], vec![10; 12]);
        let questions = Questions::default();
        assert_eq!(questions.is_possible(&exprs, easy, &lower, &upper), Some(true));
        assert_eq!(questions.is_possible(&exprs, easy, &lower, &[1; 12]), Some(false));
        for _ in 0..ALL / ONE {
            assert_eq!(questions.is_possible(&exprs, hard, &lower, &upper), None);
        }
        assert_eq!(questions.nodes.get(), 0, "nothing is left");
        assert_eq!(questions.is_possible(&exprs, easy, &lower, &[1; 12]), None);
    }
}
